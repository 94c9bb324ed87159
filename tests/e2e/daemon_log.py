"""What a daemon says on its standard error, while it runs."""

import os
import select
import threading


class DaemonLog:
    """Lines from a pipe. A thread empties it, so that nobody who writes is held up; but who asks
    for the lines empties it as well: what a daemon said before it did a thing that the test has
    seen is there, however long that thread has not had a turn."""

    def __init__(self, fd):
        os.set_blocking(fd, False)
        self._fd = fd
        self._lock = threading.Lock()
        self._lines = []
        self._rest = b""
        self._ended = False
        self._thread = threading.Thread(target=self._read_on, daemon=True)
        self._thread.start()

    def lines(self):
        """All whole lines so far; once the pipe has ended, a last one without an end too."""
        with self._lock:
            while not self._ended:
                try:
                    data = os.read(self._fd, 1 << 16)
                except BlockingIOError:
                    break
                self._take(data)
            return list(self._lines)

    def wait_end(self, seconds):
        self._thread.join(seconds)

    def _take(self, data):
        *whole, self._rest = (self._rest + data).split(b"\n")
        if not data:
            self._ended = True
            whole += [self._rest] if self._rest else []
        self._lines += [line.decode(errors="backslashreplace") for line in whole]

    def _read_on(self):
        poll = select.poll()
        poll.register(self._fd, select.POLLIN)
        while not self._ended:
            poll.poll()
            self.lines()
        os.close(self._fd)
