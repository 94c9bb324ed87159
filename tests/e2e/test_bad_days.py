"""Hours on a bad day: senders that come and go in all ways, mutated lines in every framing, readers
that are slow, stop, vanish. Memory stays flat, the books balance all the while, and a fresh pair
still joins at the end. It prints its seed; JOIND_SOAK_SEED repeats the dice, not the timing.

The hour is for `packaging/test --all`; JOIND_SOAK_MINUTES sets another length.
"""

import contextlib
import os
import random
import socket
import threading
import time

import pytest

from joind import PATIENCE, SANITIZED, reset_at_close
from test_fuzz import line, mutated

SENDERS = 50
READERS = 6
PAUSE = 0.02        # of a sender, between two writes

LEFT = {"fields": "k, n bigint, d double, b boolean, t", "where": "b", "max_line": "2K",
        "framing": "auto"}
RIGHT = {"listen": "unix:right.sock", "format": "json", "fields": "k, n bigint, t", "key": "k",
         "max_line": "2K", "framing": "auto"}


def json_line(dice):
    key = f"key {dice.randrange(2000)}"
    return b'{"k":"%s","n":%d,"t":"%s"}\n' % (key.encode(), dice.randint(-9, 99),
                                              dice.choice(["x", "\\u00e9", "a b", ""]).encode())


def framed(dice, record):
    """As lines, or counted as RFC 6587 has it: now and then with a wrong count."""
    if dice.random() < 0.7:
        return record
    count = len(record) if dice.random() < 0.95 else dice.randrange(5000)
    return b"%d " % count + record


class Crowd:
    """Threads that go on until they are told to end; the first exception of any is kept."""

    def __init__(self):
        self.ends = threading.Event()
        self.fault = None
        self._threads = []

    def add(self, work, *args):
        thread = threading.Thread(target=self._run, args=(work, *args), daemon=True)
        self._threads.append(thread)
        thread.start()

    def _run(self, work, *args):
        try:
            while not self.ends.is_set():
                work(*args)
        except Exception as fault:      # shown by check(), in the test's own thread
            self.fault = self.fault or fault

    def check(self):
        if self.fault is not None:
            raise AssertionError(f"a client failed: {self.fault!r}") from self.fault

    def end(self):
        self.ends.set()
        for thread in self._threads:
            thread.join(30 * PATIENCE)
            assert not thread.is_alive(), "a client does not end"
        self.check()


def open_left(daemon):
    return socket.create_connection(daemon.address("left"), timeout=20 * PATIENCE)


def open_right(daemon):
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(20 * PATIENCE)
    connection.connect(str(daemon.folder / "right.sock"))
    return connection


def send_for_a_while(crowd, daemon, side, dice):
    """One connection of a sender, from its start to one of the ends that connections have."""
    make = line if side == "left" else json_line
    with contextlib.closing((open_left if side == "left" else open_right)(daemon)) as connection:
        for _ in range(dice.choice([0, 1, 5, 50, 400])):
            if crowd.ends.is_set():
                break
            records = [framed(dice, mutated(dice, make(dice))) for _ in range(dice.choice([1, 9]))]
            data = b"".join(records)
            if dice.random() < 0.02:
                data = dice.randbytes(dice.choice([1, 100, 9000]))
            if dice.random() < 0.1:
                data = data[:dice.randrange(len(data) + 1)]
            connection.sendall(data)
            crowd.ends.wait(PAUSE)
        how = dice.random()
        if how < 0.3:
            reset_at_close(connection)
        elif how < 0.6:
            connection.shutdown(socket.SHUT_WR)
            with contextlib.suppress(TimeoutError):
                assert connection.recv(1) == b"", "joind wrote on an input connection"


def read_for_a_while(crowd, daemon, endpoint, dice):
    """One subscriber, who reads well, badly, or not at all."""
    connection = socket.socket()
    with contextlib.closing(connection):
        if dice.random() < 0.5:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(0.2)
        connection.connect(daemon.address(endpoint))
        pace = dice.choice([0, 0.01, 0.3, None])        # None: reads nothing
        until = time.monotonic() + dice.uniform(0, 12)
        while time.monotonic() < until and not crowd.ends.is_set():
            if pace is None:
                crowd.ends.wait(0.2)
                continue
            with contextlib.suppress(TimeoutError):
                if not connection.recv(65536):
                    return      # slow = disconnect
            crowd.ends.wait(pace)
        if dice.random() < 0.3:
            reset_at_close(connection)


def reader_may_lose_its_connection(crowd, daemon, endpoint, dice):
    with contextlib.suppress(ConnectionError):
        read_for_a_while(crowd, daemon, endpoint, dice)


def watch(daemon, crowd, seconds):
    """Returns what memory was, once a second, while it went on."""
    memory = []
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        assert daemon.is_running(), daemon.log_text()
        daemon.assert_books_balance()
        memory.append(daemon.memory())
        crowd.check()
        crowd.ends.wait(1)
    return memory


def bad_day(joind, seconds):
    seed = int(os.environ.get("JOIND_SOAK_SEED", random.SystemRandom().randrange(1 << 32)))
    print(f"JOIND_SOAK_SEED={seed}")
    # What the address sanitizer keeps of freed memory is not the daemon's.
    asan = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=8"}
    daemon = joind(env=asan, left=LEFT, right=RIGHT, join={"size": "1s", "type": "full"},
                   state={"memory": "8M"},
                   output={"absent": "discard", "slow": "disconnect", "buffer": "64K"},
                   rejects={"listen": "127.0.0.1:0", "slow": "discard", "buffer": "64K"})
    crowd = Crowd()
    for number in range(SENDERS):
        side = "left" if number % 2 else "right"
        crowd.add(send_for_a_while, crowd, daemon, side, random.Random(f"{seed} {number}"))
    for number in range(READERS):
        endpoint = "rejects" if number % 3 == 0 else "output"
        crowd.add(reader_may_lose_its_connection, crowd, daemon, endpoint,
                  random.Random(f"{seed} reader {number}"))
    try:
        first = watch(daemon, crowd, seconds / 3)
        rest = watch(daemon, crowd, seconds * 2 / 3)
    finally:
        crowd.ends.set()
    crowd.end()
    # Flat: what the first third has not needed yet is some buffers of some peers at most.
    bound = (48 if SANITIZED else 8) << 20
    assert max(rest) - max(first) < bound, f"memory grew from {max(first)} to {max(rest)}"

    metrics = daemon.assert_books_balance()
    for side in ("left", "right"):
        books = metrics.books(side)
        assert min(books["rejected"], books["matched"], books["unmatched"]) > 100, books
    daemon.wait_books("left", held=0)
    daemon.wait_books("right", held=0)
    subscriber = daemon.subscribe()
    fresh = b"fresh,1,1,true,left,fresh,1,right\n"
    for _ in range(5):      # a pair may fall on both sides of a window's edge
        daemon.send("left", b"fresh,1,1,true,left\n")
        with contextlib.closing(open_right(daemon)) as connection:
            connection.sendall(b'{"k":"fresh","n":1,"t":"right"}\n')
        daemon.wait_books("left", held=0)
        daemon.wait_books("right", held=0)
        if fresh in subscriber.data:
            break
    else:
        raise AssertionError(f"a fresh pair does not join: {bytes(subscriber.data[-500:])!r}")
    daemon.stop(expect=0)


def test_a_bad_quarter_of_a_minute_leaves_memory_flat_and_the_books_balanced(joind):
    bad_day(joind, 15)


@pytest.mark.slow
def test_a_bad_hour_leaves_memory_flat_and_the_books_balanced(joind):
    bad_day(joind, 60 * float(os.environ.get("JOIND_SOAK_MINUTES", 60)))
