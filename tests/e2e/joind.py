"""Runs the whole daemon for a test: starts it, feeds it, listens to it, watches it, stops it.

Every wait has an end, and every failure shows the daemon's log. Ports are the kernel's choice
(`127.0.0.1:0`) and are read from the ready line, so tests never meet on a port.

    JOIND            the daemon's path (default: build/joind in the project)
    JOIND_SANITIZED  set when it was built with sanitizers (also found out from the binary)
"""

import contextlib
import csv
import http.client
import io
import json
import os
import pathlib
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

from daemon_log import DaemonLog
from metrics import SIDES, Metrics  # tests take both from here

PROJECT = pathlib.Path(__file__).resolve().parents[2]
BINARY = pathlib.Path(os.environ.get("JOIND", PROJECT / "build" / "joind")).absolute()


def _is_sanitized():
    if "JOIND_SANITIZED" in os.environ:
        return os.environ["JOIND_SANITIZED"] not in ("", "0")
    return BINARY.exists() and b"__asan_init" in BINARY.read_bytes()


SANITIZED = _is_sanitized()

# Deadlines are for a machine that is busy with other things too; sanitizers take their share.
PATIENCE = 3 if SANITIZED else 1

# Aligned to the epoch, this window lasts from 1970 to 2069: only the end of the inputs or an
# orderly stop decides it, so no test that uses it can meet a window's edge.
ENDLESS = "36500d"

BASE = {
    "left": {"listen": "127.0.0.1:0", "fields": "k, v", "key": "k"},
    "right": {"listen": "127.0.0.1:0", "fields": "k, w", "key": "k"},
    "join": {"size": ENDLESS},
    "output": {"listen": "127.0.0.1:0"},
    "rejects": {"file": "rejects.csv"},
    "http": {"listen": "127.0.0.1:0"},
}

PLACES = ("listen", "connect", "file")
SANITIZER_REPORT = re.compile(r"Sanitizer|runtime error:|[Aa]ssertion .* failed")


def config(**changes):
    """The base configuration as INI text with some keys changed. None takes a key or section away.

    A side that is given `file` or `connect` loses its `listen`, and so does the output.
    """
    sections = {name: dict(keys) for name, keys in BASE.items()}
    for name, keys in changes.items():
        if keys is None:
            sections.pop(name, None)
            continue
        section = sections.setdefault(name, {})
        for place in PLACES:
            if place in keys:
                for other in PLACES:
                    section.pop(other, None)
        section.update(keys)
    lines = []
    for name, keys in sections.items():
        lines.append(f"[{name}]")
        lines += [f"{key} = {value}" for key, value in keys.items() if value is not None]
        lines.append("")
    return "\n".join(lines)


def wait_until(predicate, seconds=10, what="the condition", log=None):
    """Polls until the predicate is true and returns what it said; fails after the deadline."""
    deadline = time.monotonic() + seconds * PATIENCE
    while True:
        value = predicate()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"after {seconds * PATIENCE} s still not: {what} (last seen: "
                                 f"{value!r})" + (f"\n--- log:\n{log()}" if log else ""))
        time.sleep(0.01)


def readable(connection, seconds=0):
    """Whether a read would not block, now or within so many seconds. (Not by select.select, which
    knows no descriptor above 1023.)"""
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


def at_window_start(seconds):
    """Returns early in a window of so many seconds: what is sent next falls into it whole."""
    wait_until(lambda: time.time() % seconds < seconds * 0.25, seconds + 1, "a window's start")


def parse_csv(data):
    """CSV bytes as rows of bytes."""
    text = io.StringIO(data.decode("latin-1"), newline="")
    return [[field.encode("latin-1") for field in row] for row in csv.reader(text, strict=True)]


def run(*args, cwd=None, stdin=b"", env=None, seconds=20, **kw):
    """Runs joind to its own end."""
    process = subprocess.run([str(BINARY), *map(str, args)], input=stdin, cwd=cwd, timeout=seconds
                             * PATIENCE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             env=clean_env(env), **kw)
    process.log = process.stderr.decode(errors="backslashreplace")
    assert not SANITIZER_REPORT.search(process.log), process.log
    return process


def clean_env(more=None):
    """The environment without what a service manager round the tests may have set."""
    drop = ("JOURNAL_STREAM", "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS",
            "LISTEN_PID", "LISTEN_FDNAMES", "STATE_DIRECTORY")
    env = {key: value for key, value in os.environ.items() if key not in drop}
    env.update(more or {})
    return env


def reset_at_close(connection):
    """Its close will break the connection: the peer gets a RST instead of a FIN."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def new_socket(address):
    """A stream socket for an address: a host and port, or a path."""
    family = socket.AF_UNIX if isinstance(address, str) else (
        socket.AF_INET6 if ":" in address[0] else socket.AF_INET)
    return socket.socket(family, socket.SOCK_STREAM)


def connect_to(address, source=None, seconds=30):
    """A connection to a host and port, or to a unix socket's path."""
    made = new_socket(address)
    made.settimeout(seconds * PATIENCE)
    try:
        if source:
            made.bind(source)
        made.connect(address)
    except OSError:
        made.close()
        raise
    if made.family != socket.AF_UNIX:
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made


class Feeder:
    """A connection to one of the inputs."""

    def __init__(self, address, source=None):
        self.socket = connect_to(address, source)

    def send(self, data):
        self.socket.sendall(data)
        return self

    def read_end(self, seconds=10):
        """Waits until joind has closed its sending side. It never writes on an input."""
        self.socket.settimeout(seconds * PATIENCE)
        try:
            data = self.socket.recv(100)
        except TimeoutError:
            raise AssertionError(f"joind did not close within {seconds * PATIENCE} s") from None
        assert data == b"", f"joind wrote {data!r} on an input connection"

    def finish(self, seconds=10):
        """Ends the stream in order; returns when joind has read it to its end and closed."""
        self.socket.shutdown(socket.SHUT_WR)
        self.read_end(seconds)
        self.close()

    def reset(self):
        reset_at_close(self.socket)
        self.close()

    def close(self):
        self.socket.close()


class Subscriber:
    """Reads results in a thread, as fast as they come unless paused or given a rate."""

    def __init__(self, address, receive_buffer=None, paused=False, bytes_per_second=None):
        self.socket = new_socket(address)
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(10 * PATIENCE)
        self.socket.connect(address)
        self.data = bytearray()
        self.ended = None           # None: still open; "end" or "reset"
        self.bytes_per_second = bytes_per_second
        self._reads = threading.Event()
        self._closing = False
        if not paused:
            self._reads.set()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        while not self._closing:
            if not self._reads.wait(0.05):
                continue
            if not readable(self.socket, 0.05) or not self._reads.is_set():
                continue
            rate = self.bytes_per_second
            try:
                data = self.socket.recv(max(1, rate // 20) if rate else 1 << 18)
            except ConnectionResetError:
                self.ended = "reset"
                return
            except OSError:
                return
            if not data:
                self.ended = "end"
                return
            self.data += data
            if rate:
                time.sleep(len(data) / rate)

    def pause(self):
        self._reads.clear()

    def resume(self):
        self.bytes_per_second = None
        self._reads.set()

    def half_close(self):
        self.socket.shutdown(socket.SHUT_WR)

    def reset(self):
        reset_at_close(self.socket)
        self.close()

    def close(self):
        """Where all was read this is a FIN, of which joind sees no more than a half-close."""
        self._closing = True
        self._thread.join(10)
        self.socket.close()

    def count(self):
        return self.data.count(b"\n")

    def lines(self):
        """The whole lines so far, as text; once the stream has ended, nothing may be left."""
        data = bytes(self.data)
        whole, _, rest = data.rpartition(b"\n")
        if self.ended == "end":
            assert rest == b"", f"the last line has no end: {rest!r}"
        return whole.decode(errors="surrogateescape").split("\n") if whole or data else []

    def wait_lines(self, count, seconds=10):
        wait_until(lambda: self.count() >= count, seconds, f"{count} lines of output, have "
                   f"{self.data[-200:]!r}")
        return self.lines()

    def wait_end(self, seconds=10):
        wait_until(lambda: self.ended, seconds, "the end of the output")
        return self.lines()


class UnixHTTPConnection(http.client.HTTPConnection):
    """HTTP over a unix socket."""

    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class SocketUnits:
    """What a service manager's socket units do: they listen before the daemon is there, pass their
    sockets to it by name, and keep them while it restarts.

        units = SocketUnits(left=("127.0.0.1", 0), right="/run/x/right")
        daemon = joind(left={"listen": "systemd:left"}, ..., passed=units)
        daemon.restart()

    Other sockets (datagrams, connected ones, two of one name) can be put into `sockets` by hand:
    it is a list of pairs of a name and a socket, in the order in which they are passed.
    """

    # Runs as the daemon's process before it is the daemon: the process id has to be known.
    LAUNCHER = """
import os, sys
names, *rest = sys.argv[1:]
count = len(names.split(":"))
aside = [os.dup(int(fd)) for fd in rest[:count]]
free = [os.dup2(fd, 200 + n) for n, fd in enumerate(aside)]
for n, fd in enumerate(free):
    os.dup2(fd, 3 + n)
os.closerange(3 + count, 1 << 20)
env = dict(os.environ, LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(count), LISTEN_FDNAMES=names)
os.execve(rest[count], rest[count:], env)
"""

    def __init__(self, backlog=4096, **addresses):
        self.sockets = []
        for name, address in addresses.items():
            made = new_socket(address)
            if made.family != socket.AF_UNIX:
                made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.bind(address)
            made.listen(backlog)
            self.sockets.append((name, made))

    def address(self, name):
        return dict(self.sockets)[name].getsockname()

    def command(self, arguments):
        """The command that passes the sockets to a program, and the descriptors that it needs."""
        fds = [made.fileno() for _, made in self.sockets]
        names = ":".join(name for name, _ in self.sockets)
        return [sys.executable, "-I", "-S", "-c", self.LAUNCHER, names, *map(str, fds),
                *arguments], fds

    def close(self):
        for _, made in self.sockets:
            made.close()


class Joind:
    """A running daemon in its own folder."""

    def __init__(self, folder, text, name="t.ini"):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.ini = self.folder / name
        self.ini.write_text(text)
        self._log = None
        self.endpoints = {}
        self._clients = []
        self._subscribed = 0
        self._status_seen = False
        self.process = None

    def start(self, args=(), env=None, journal=False, wait=True, stdin=subprocess.DEVNULL,
              stdout=subprocess.DEVNULL, preexec=None, passed=None):
        """Starts it; with journal, as a service manager does whose journal takes the log; with
        passed (SocketUnits), as one does that passes sockets. Started again, its log is anew."""
        self._assert_no_fault()
        self._status_seen = False
        self._restart = dict(args=args, env=env, journal=journal, preexec=preexec, passed=passed)
        self.passed = passed
        command, fds = [str(BINARY), *map(str, args), str(self.ini)], ()
        if passed:
            command, fds = passed.command(command)
        read_end, write_end = os.pipe()
        env = clean_env(env)
        if journal:
            stat = os.fstat(write_end)
            env["JOURNAL_STREAM"] = f"{stat.st_dev}:{stat.st_ino}"
        self.process = subprocess.Popen(command, env=env, stdin=stdin, stdout=stdout,
                                        stderr=write_end, cwd=self.folder, preexec_fn=preexec,
                                        pass_fds=fds)
        os.close(write_end)
        self._log = DaemonLog(read_end)
        if wait:
            self.wait_ready()
        return self

    def restart(self, expect=0):
        """Stops it in order and starts it again in the same way."""
        self.stop(expect)
        return self.start(**self._restart)

    # The log.

    @property
    def log(self):
        return self._log.lines() if self._log else []

    def log_text(self):
        return "\n".join(self.log[-100:])

    def log_matches(self, pattern):
        """Lines about it, without regard to case. The ready line and the test's own folder, whose
        name says what is tested, are about nothing but themselves."""
        return [line for line in self.log
                if ("ready: " not in line or "ready" in pattern) and
                re.search(pattern, line.replace(str(self.folder), ""), re.IGNORECASE)]

    def wait_log(self, pattern, seconds=10):
        return wait_until(lambda: self.log_matches(pattern), seconds, f"a log line like "
                          f"{pattern!r}", self.log_text)[0]

    def wait_ready(self, seconds=10):
        def ready_or_gone():
            return self.log_matches(r"\bready: ") or self.process.poll() is not None
        wait_until(ready_or_gone, seconds, "the ready line", self.log_text)
        ready = self.log_matches(r"\bready: ")
        if not ready:
            self._status_seen = True
            self._log.wait_end(5)
            raise AssertionError(f"joind ended with {self.process.returncode} before it was "
                                 f"ready\n--- log:\n{self.log_text()}")
        words = ready[0].partition("ready: ")[2].split(" ")
        self.endpoints = dict(word.split("=", 1) for word in words)

    # Its ends.

    def address(self, endpoint):
        """Where to connect to: host and port, or a unix socket's path."""
        kind, _, name = self.endpoints[endpoint].partition(":")
        if kind == "systemd":
            return self.passed.address(name)
        if kind == "unix":
            return str(self.folder / name)
        host, _, port = self.endpoints[endpoint].rpartition(":")
        return host.strip("[]"), int(port)

    def port(self, endpoint):
        return self.address(endpoint)[1]

    def connect(self, side, source=None):
        feeder = Feeder(self.address(side), source)
        self._clients.append(feeder)
        return feeder

    def send(self, side, data):
        """Sends from a connection of its own; returns when joind has read all of it."""
        if isinstance(data, str):
            data = data.encode()
        self.connect(side).send(data).finish()

    def subscribe(self, endpoint="output", **kw):
        """Returns when joind counts the subscriber."""
        before = self.connections(endpoint)
        subscriber = Subscriber(self.address(endpoint), **kw)
        self._clients.append(subscriber)
        wait_until(lambda: self.connections(endpoint) > before, 10, "a counted subscriber",
                   self.log_text)
        return subscriber

    def connections(self, endpoint):
        return int(self.metrics().value("joind_connections", endpoint=endpoint))

    # Watching it.

    def http(self, path, method="GET", headers=None, body=None, seconds=10, source=None):
        """One request on a connection of its own: (status, headers, body)."""
        address = self.address("http")
        if isinstance(address, str):
            connection = UnixHTTPConnection(address, seconds * PATIENCE)
        else:
            connection = http.client.HTTPConnection(*address, timeout=seconds * PATIENCE,
                                                    source_address=source)
        with contextlib.closing(connection):
            connection.request(method, path, body=body, headers=headers or {})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()

    def metrics(self):
        status, _, body = self.http("/metrics")
        assert status == 200, f"/metrics says {status}: {body[:500]!r}"
        return Metrics(body.decode())

    def metric(self, name, **labels):
        return self.metrics().value(name, **labels)

    def status(self):
        code, _, body = self.http("/status")
        assert code == 200, f"/status says {code}: {body[:500]!r}"
        return json.loads(body)

    def healthz(self):
        code, _, body = self.http("/healthz")
        return code, body.decode()

    def books(self, side):
        return self.metrics().books(side)

    def assert_books_balance(self):
        metrics = self.metrics()
        metrics.assert_books_balance()
        return metrics

    def wait_books(self, side, seconds=10, **expected):
        """Waits until the named entries have the given values; the books balance all the while."""
        def reached():
            books = self.assert_books_balance().books(side)
            return all(books[name] == count for name, count in expected.items())
        wait_until(reached, seconds, f"{side} {expected}",
                   lambda: f"{self.books(side)}\n{self.log_text()}")

    def rejects(self, name="rejects.csv"):
        """The rows of [rejects] so far: side, reason, detail, time, line."""
        path = self.folder / name
        data = path.read_bytes() if path.exists() else b""
        return parse_csv(data[:data.rfind(b"\n") + 1])

    def memory(self, field="Rss"):
        """Bytes from smaps_rollup, which is exact where /proc/PID/status lags behind."""
        text = pathlib.Path(f"/proc/{self.process.pid}/smaps_rollup").read_text()
        return int(re.search(rf"^{field}:\s+(\d+) kB", text, re.MULTILINE).group(1)) * 1024

    def anonymous_memory(self):
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"^RssAnon:\s+(\d+) kB", text, re.MULTILINE).group(1)) * 1024

    def cpu_seconds(self):
        stat = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text()
        fields = stat.rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def is_running(self):
        return self.process.poll() is None

    # Its end.

    def signal(self, number):
        self.process.send_signal(number)

    def wait_exit(self, seconds=20, expect=None):
        try:
            status = self.process.wait(seconds * PATIENCE)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"joind still runs after {seconds * PATIENCE} s\n--- log:\n"
                                 f"{self.log_text()}") from None
        self._status_seen = True
        self._log.wait_end(10)
        if expect is not None:
            assert status == expect, (f"joind ended with {status}, not {expect}\n--- log:\n"
                                      f"{self.log_text()}")
        return status

    def stop(self, expect=0, seconds=20):
        """TERM; returns the exit status."""
        self.signal(signal.SIGTERM)
        return self.wait_exit(seconds, expect)

    def stop_at_once(self, seconds=2):
        """TERM, and again before that stop is over: it ends soon, with status 1."""
        self.signal(signal.SIGTERM)
        self.wait_log("stopping")
        started = time.monotonic()
        self.signal(signal.SIGTERM)
        self.wait_exit(expect=1)
        assert time.monotonic() - started < seconds * PATIENCE

    def clean_up(self):
        """Ends it however it stands; tells of a death that no test asked for."""
        if self.process is None:
            return
        died = self.process.poll() is not None and not self._status_seen
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(10)
        self._log.wait_end(10)
        for client in self._clients:
            with contextlib.suppress(OSError):
                client.close()
        self._assert_no_fault()
        log = "\n".join(self.log)
        assert not died, f"joind ended by itself with {self.process.returncode}:\n{log}"

    def _assert_no_fault(self):
        log = "\n".join(self.log)
        assert not SANITIZER_REPORT.search(log), f"a fault of joind's own:\n{log}"
