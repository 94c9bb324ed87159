"""Ends that connect: peers that are not there yet, that go, that come back, that have no address.

The peers of an output are plain sockets of the test's own, so that it can say exactly how they go.
"""

import pathlib
import random
import re
import signal
import socket
import threading
import time

import pytest

from joind import PATIENCE, new_socket, readable, reset_at_close, wait_until
from test_output import AT_ONCE, SMALL, wait_stuck, written
from tools import WINDOW


class Peer:
    """Somebody who listens, or does not."""

    def __init__(self, address=("127.0.0.1", 0), receive_buffer=None, listens=True):
        self.receive_buffer = receive_buffer
        self.listener = None
        self.open(address)
        self.address = self.listener.getsockname()
        if not listens:
            self.close()

    def open(self, address=None):
        """Listens (again)."""
        address = address or self.address
        self.listener = new_socket(address)
        if self.listener.family != socket.AF_UNIX:
            self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if self.receive_buffer:
            self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self.receive_buffer)
        self.listener.bind(address)
        self.listener.listen(8)
        return self

    def close(self):
        """Nobody listens, and who waits in the queue is turned away."""
        if self.listener:
            self.listener.close()
        self.listener = None
        if isinstance(self.address, str):
            pathlib.Path(self.address).unlink(missing_ok=True)

    @property
    def text(self):
        if isinstance(self.address, str):
            return f"unix:{self.address}"
        return f"{self.address[0]}:{self.address[1]}"

    def accept(self, seconds=10):
        self.listener.settimeout(seconds * PATIENCE)
        return Connection(self.listener.accept()[0])


class Connection:
    """One connection that joind made."""

    def __init__(self, connection):
        self.socket = connection
        self.socket.settimeout(10 * PATIENCE)
        self.data = b""

    def read(self, seconds=0.05):
        """What has come, waiting a little for it. False: it has ended."""
        if not readable(self.socket, seconds):
            return True
        try:
            more = self.socket.recv(1 << 18)
        except ConnectionResetError:
            return False
        self.data += more
        return more != b""

    def read_lines(self, count, seconds=10):
        deadline = time.monotonic() + seconds * PATIENCE
        while self.data.count(b"\n") < count and self.read():
            assert time.monotonic() < deadline, f"{count} lines expected: {self.data[-200:]!r}"
        return self.data.decode().split("\n")[:-1]

    def read_end(self, seconds=10):
        deadline = time.monotonic() + seconds * PATIENCE
        while self.read():
            assert time.monotonic() < deadline, f"no end: {self.data[-200:]!r}"
        self.socket.close()
        return self.data

    def half_close(self):
        self.socket.shutdown(socket.SHUT_WR)

    def close(self):
        self.socket.close()

    def reset(self):
        reset_at_close(self.socket)
        self.socket.close()


@pytest.fixture
def peer():
    """A function that makes a peer: peer(address=..., receive_buffer=..., listens=...)."""
    made = []

    def make(*args, **kw):
        made.append(Peer(*args, **kw))
        return made[-1]

    yield make
    for one in made:
        one.close()


class Counting(threading.Thread):
    """Sends the lines `0,v`, `1,v`, ... for as long as it is let."""

    def __init__(self, daemon, pause_s=0.002, batch=20):
        super().__init__(daemon=True)
        self.feeder = daemon.connect("left")
        self.pause_s, self.batch = pause_s, batch
        self.sent = 0
        self.stopping = False
        self.start()

    def run(self):
        while not self.stopping:
            numbers = range(self.sent, self.sent + self.batch)
            self.feeder.send("".join(f"{n},v\n" for n in numbers).encode())
            self.sent += self.batch
            time.sleep(self.pause_s)

    def finish(self):
        """Returns how many lines joind has read."""
        self.stopping = True
        self.join(30 * PATIENCE)
        assert not self.is_alive(), "the sender is held back"
        self.feeder.finish()
        return self.sent


def rows(count, start=0):
    return [f"{n},v,," for n in range(start, count)]


# Absent.

@pytest.mark.parametrize("kind", ["tcp", "unix"])
def test_results_wait_for_a_peer_that_comes_later(joind, peer, tmp_path, kind):
    address = ("127.0.0.1", 0) if kind == "tcp" else str(tmp_path / "sock")
    late = peer(address, listens=False)
    daemon = joind(join=AT_ONCE, output={"connect": late.text, "header": "yes"})
    assert daemon.endpoints["output"] == late.text
    daemon.send("left", b"1,a\n2,b\n")
    daemon.wait_log("output: cannot connect to .*: (Connection refused|No such file)")
    status = daemon.status()["outputs"]["output"]
    assert status["connected"] is False and status["trouble"], status
    assert daemon.connections("output") == 0
    late.open()
    connection = late.accept()
    assert connection.read_lines(3) == ["k,v,right.k,w", "1,a,,", "2,b,,"]
    daemon.wait_log("output: connected to ")
    status = daemon.status()["outputs"]["output"]
    assert status["connected"] is True and "trouble" not in status, status
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]{12}Z", status["since"])
    assert daemon.connections("output") == 1
    daemon.send("left", b"3,c\n")
    daemon.stop(expect=0)
    assert connection.read_end().endswith(b"3,c,,\n")


def test_attempts_are_not_logged_one_by_one(joind, peer):
    absent = peer(listens=False)
    daemon = joind(join=AT_ONCE, output={"connect": absent.text})
    daemon.wait_log("output: cannot connect")
    time.sleep(2.5)         # three more attempts
    assert len(daemon.log_matches("connect")) == 1, daemon.log_text()
    assert daemon.cpu_seconds() < 0.5 * PATIENCE
    daemon.stop(expect=0)


def test_rejects_pile_up_to_their_buffer_then_inputs_are_held_back(joind, peer):
    absent = peer(listens=False)
    daemon = joind(rejects={"connect": absent.text, "buffer": "64K"})
    feeder = daemon.connect("left")
    feeder.socket.setblocking(False)
    line = b"bad " + b"x" * 1000 + b"\n"
    sent = 0

    def held():
        nonlocal sent
        try:
            while True:
                sent += feeder.socket.send(line * 64)
        except BlockingIOError:
            return daemon.metric("joind_input_paused", side="left") == 1
    wait_until(held, 20, "the side to be held back", daemon.log_text)
    assert daemon.books("left")["received"] < 200
    absent.open()
    connection = absent.accept()
    feeder.socket.setblocking(True)
    feeder.send(line[-(len(line) - sent % len(line)):])
    count = sent // len(line) + 1
    got = connection.read_lines(count, seconds=30)
    assert len(got) == count
    assert all(row.startswith("left,fields,") and row.count("x" * 1000) == 1 for row in got)
    daemon.assert_books_balance()


def test_a_stop_waits_ten_seconds_for_an_absent_peer_then_counts(joind, peer):
    absent = peer(listens=False)
    daemon = joind(join=AT_ONCE, output={"connect": absent.text})
    daemon.send("left", b"1,a\n2,b\n3,c\n")
    started = time.monotonic()
    daemon.signal(signal.SIGTERM)
    daemon.wait_exit(expect=1)
    assert 8 < time.monotonic() - started < 10 + 3 * PATIENCE
    daemon.wait_log(r"output: stopped with 3 results unwritten")


def test_a_peer_that_comes_during_the_stop_gets_the_results(joind, peer):
    """However long the daemon had rested between its attempts before."""
    absent = peer(listens=False)
    daemon = joind(join=AT_ONCE, output={"connect": absent.text})
    daemon.send("left", b"1,a\n")
    time.sleep(6.5)
    daemon.signal(signal.SIGTERM)
    daemon.wait_log("stopping")
    time.sleep(1)
    absent.open()
    connection = absent.accept(2.5)
    assert connection.read_end() == b"1,a,,\n"
    daemon.wait_exit(expect=0)


def test_healthz_is_fine_at_first(joind, peer):
    daemon = joind(output={"connect": peer(listens=False).text})
    daemon.wait_log("cannot connect")
    assert daemon.healthz() == (200, "ok\n")


@pytest.mark.slow
def test_healthz_is_503_after_a_minute(joind, peer):
    absent = peer(listens=False)
    daemon = joind(output={"connect": absent.text})
    time.sleep(58)
    assert daemon.healthz()[0] == 200
    time.sleep(3)
    status, reason = daemon.healthz()
    assert status == 503
    assert re.match(rf"output: not connected to {absent.text} for 6\d s: Connection refused",
                    reason)
    absent.open()
    absent.accept(20)
    wait_until(lambda: daemon.healthz()[0] == 200, 5, "health")


# Gone.

def hot(daemon, clock, count=400):
    """Results of about 6 MB at once; returns them."""
    lefts = [f"hot,left-value-{n:04}" for n in range(count)]
    rights = [f"hot,right-value-{n:04}" for n in range(count)]
    daemon.send("left", "\n".join(lefts) + "\n")
    daemon.send("right", "\n".join(rights) + "\n")
    assert daemon.books("left")["held"] == count
    clock.end_window()
    return "".join(f"{left},{right}\n" for left in lefts for right in rights).encode()


def test_after_a_break_in_a_line_that_line_is_sent_again_whole(joind, clock, peer):
    small = peer(receive_buffer=SMALL)
    daemon = joind(env=clock.env, join={"size": WINDOW},
                   output={"connect": small.text, "buffer": "64K"})
    first = small.accept()
    expected = hot(daemon, clock)
    first.read_lines(100)
    wait_stuck(daemon)
    delivered = written(daemon)
    first.reset()
    second = small.accept()
    line = expected.index(b"\n") + 1
    rest = expected[delivered // line * line:]
    second.read_lines(len(rest) // line, seconds=60)
    assert second.data == rest
    assert first.data == expected[:len(first.data)]
    assert delivered % line or not rest, "it did not stop in a line: this shows nothing"
    daemon.stop(expect=0)


def test_a_peer_that_half_closes_gets_the_end_of_its_line_and_the_next_one_the_rest(joind, clock, peer):
    """As joind itself stops: it tells its senders by a half-close, and reads to their end."""
    small = peer(receive_buffer=SMALL)
    daemon = joind(env=clock.env, join={"size": WINDOW},
                   output={"connect": small.text, "buffer": "64K"})
    first = small.accept()
    expected = hot(daemon, clock)
    first.read_lines(100)
    wait_stuck(daemon)
    first.half_close()
    first.read_end()
    assert first.data.endswith(b"\n")
    second = small.accept()
    rest = expected[len(first.data):]
    second.read_lines(rest.count(b"\n"), seconds=60)
    assert first.data + second.data == expected
    daemon.stop(expect=0)


def test_nothing_is_written_to_a_peer_that_has_closed(joind, peer):
    """As syslog daemons stop: they simply close."""
    other = peer()
    daemon = joind(join=AT_ONCE, output={"connect": other.text})
    for number in range(3):
        connection = other.accept()
        daemon.send("left", f"{number},v\n")
        connection.read_lines(1)
        connection.close()
        wait_until(lambda: daemon.connections("output") == 0, 5, "the end", daemon.log_text)
        assert connection.data == f"{number},v,,\n".encode()
    daemon.send("left", b"3,v\n")
    assert other.accept().read_lines(1) == ["3,v,,"]


@pytest.mark.parametrize("how", ["half-close", "half-close or reset"])
def test_a_peer_that_goes_and_comes_thirty_times_under_load(joind, peer, how):
    chance = random.Random(30)
    other = peer()
    daemon = joind(join=AT_ONCE, output={"connect": other.text})
    sender = Counting(daemon)
    seen = []               # the numbers of the whole lines of each connection
    may_lose = []           # whether that connection was reset
    for _ in range(30):
        connection = other.accept()
        until = time.monotonic() + chance.uniform(0.45, 0.6)    # longer than it settles
        while time.monotonic() < until:
            connection.read(0.01)
        if chance.random() < 0.5:
            other.close()
        resets = "reset" in how and chance.random() < 0.5
        if resets:
            connection.reset()
        else:
            connection.half_close()
            connection.read_end()
            assert connection.data[-1:] in (b"\n", b""), "a torn line"
        may_lose.append(resets)
        seen.append(connection.data)
        if not other.listener:
            time.sleep(0.05)
            other.open()
    last = other.accept()
    count = sender.finish()
    last.read_lines(1)
    daemon.stop(expect=0)
    seen.append(last.read_end())

    expected = 0
    lost = 0
    for number, data in enumerate(seen):
        lines = data.decode().split("\n")[:-1]
        if number and may_lose[number - 1] and lines:
            first = int(lines[0].split(",")[0])
            assert first >= expected, f"connection {number} says twice what was read"
            lost += first - expected
            expected = first
        assert lines == rows(expected + len(lines), expected), f"connection {number}"
        expected += len(lines)
    assert expected == count
    assert how != "half-close" or lost == 0
    daemon.wait_log("has gone")


def test_a_peer_that_takes_nothing_is_gone_after_a_time(joind, clock, peer, tmp_path):
    """Of a unix peer the kernel would never say so."""
    deaf = peer(str(tmp_path / "sock"))
    daemon = joind(env=clock.env, join={"size": WINDOW},
                   output={"connect": deaf.text, "buffer": "64K", "dead_after": "2s"})
    first = deaf.accept()
    expected = hot(daemon, clock)
    wait_stuck(daemon)
    delivered = written(daemon)
    second = deaf.accept()
    daemon.wait_log("output: .* has gone: it took nothing for as long as dead_after says")
    line = expected.index(b"\n") + 1
    rest = expected[delivered // line * line:]
    second.read_lines(len(rest) // line, seconds=60)
    assert second.data == rest
    assert first.read_end() == expected[:delivered]
    daemon.stop(expect=0)


def test_a_daemon_that_restarts_behind_another_loses_nothing(joind, peer):
    """The first one connects to the second one's input, and is under load all the time."""
    port = peer(listens=False).address[1]
    second = joind(left={"listen": f"127.0.0.1:{port}"}, join=AT_ONCE, output={"file": "out.csv"})
    first = joind(join=AT_ONCE, output={"connect": f"127.0.0.1:{port}", "select": "left.k, v"})
    sender = Counting(first)
    for round_ in range(5):
        wait_until(lambda: second.books("left")["received"] > 500, 20, "load", second.log_text)
        second.restart()
    count = sender.finish()
    wait_until(lambda: first.metric("joind_results_total", kind="left") == count, 10, "all rows")
    first.stop(expect=0)
    second.stop(expect=0)
    assert (second.folder / "out.csv").read_text().split("\n")[:-1] == rows(count)


# Those who accept, and are nobody.

class Accepting(threading.Thread):
    """Accepts all that comes to a peer, and does with each connection what the test says."""

    def __init__(self, peer, then):
        super().__init__(daemon=True)
        self.peer, self.then = peer, then
        self.connections = []
        self.stopping = False
        self.start()

    def run(self):
        while not self.stopping and self.peer.listener:
            if readable(self.peer.listener, 0.05):
                self.connections.append(self.peer.accept())
                self.then(self.connections[-1])

    def stop(self):
        self.stopping = True
        self.join(10)


@pytest.mark.parametrize("kind", ["tcp", "unix"])
@pytest.mark.parametrize("how", ["close", "reset"])
def test_a_peer_that_accepts_and_closes_at_once_eats_no_row(joind, peer, tmp_path, kind, how):
    """A tunnel, a proxy or a balancer with nothing behind it."""
    address = ("127.0.0.1", 0) if kind == "tcp" else str(tmp_path / "sock")
    other = peer(address)
    daemon = joind(join=AT_ONCE, output={"connect": other.text, "header": "yes"})
    tunnel = Accepting(other, Connection.close if how == "close" else Connection.reset)
    sender = Counting(daemon)
    wait_until(lambda: len(tunnel.connections) >= 4, 20, "some connections", daemon.log_text)
    tunnel.stop()
    connection = other.accept(20)
    # Not two lines for each; a reset that comes while it connects is another reason, told too.
    assert 2 <= len(daemon.log_matches("output: .*connected to|closes the connection")) <= 5
    wait_until(lambda: daemon.log_matches("connected to")[1:], 10, "the end of it is told",
               daemon.log_text)
    count = sender.finish()
    assert connection.read_lines(count + 1, seconds=20) == ["k,v,right.k,w", *rows(count)]
    daemon.stop(expect=0)


def test_a_stop_behind_a_peer_that_accepts_and_closes_ends_and_counts(joind, peer):
    other = peer()
    daemon = joind(join=AT_ONCE, output={"connect": other.text})
    tunnel = Accepting(other, Connection.close)
    daemon.send("left", b"1,a\n2,b\n3,c\n")
    daemon.wait_log("closes the connection at once")
    daemon.signal(signal.SIGTERM)
    daemon.wait_exit(expect=1)
    lost = [int(n) for line in daemon.log_matches("stopped with")
            for n in re.findall(r"with (\d+)", line)]
    assert sum(lost) == 3, daemon.log_text()
    tunnel.stop()


def test_a_connection_that_ends_at_once_is_told_once(joind, peer):
    """Of an input as of an output; and it is no success."""
    right, out = peer(), peer()
    daemon = joind(right={"connect": right.text}, join=AT_ONCE, output={"connect": out.text})
    daemon.send("left", b"1,a\n")
    tunnels = [Accepting(right, Connection.close), Accepting(out, Connection.close)]
    wait_until(lambda: min(len(tunnel.connections) for tunnel in tunnels) >= 5, 20,
               "five connections", daemon.log_text)
    for tunnel in tunnels:
        tunnel.stop()
    for section in ("right", "output"):
        assert len(daemon.log_matches(f"{section}: connected to")) == 1, daemon.log_text()
        assert len(daemon.log_matches(f"{section}: cannot connect to .*: it closes the "
                                      "connection at once; trying on")) == 1, daemon.log_text()
    assert len(daemon.log_matches("has gone")) <= 1, daemon.log_text()
    out.accept(20)
    daemon.stop(expect=0)


@pytest.mark.slow
def test_healthz_is_503_after_a_minute_of_connections_that_end_at_once(joind, peer):
    right, out = peer(), peer()
    daemon = joind(right={"connect": right.text}, join=AT_ONCE, output={"connect": out.text})
    daemon.send("left", b"1,a\n")
    tunnels = [Accepting(right, Connection.close), Accepting(out, Connection.close)]
    time.sleep(57)
    assert daemon.healthz()[0] == 200
    time.sleep(4)
    for _ in range(100):
        status, reason = daemon.healthz()
        assert status == 503
        assert re.match(r"right: not connected to .* it closes the connection at once", reason)
        time.sleep(0.1)
    for tunnel in tunnels:
        tunnel.stop()
    right.accept(20), out.accept(20)
    wait_until(lambda: daemon.healthz()[0] == 200, 5, "health")


@pytest.mark.parametrize("kind", ["tcp", "unix"])
def test_a_peer_that_half_closes_at_once_reads_on(joind, peer, tmp_path, kind):
    """As nc -lN </dev/null, ncat and socat do where their standard input is at its end."""
    other = peer(("127.0.0.1", 0) if kind == "tcp" else str(tmp_path / "sock"))
    daemon = joind(join=AT_ONCE, output={"connect": other.text})
    reader = other.accept()
    reader.half_close()
    sender = Counting(daemon)
    time.sleep(2)
    count = sender.finish()
    assert reader.read_lines(count, seconds=20) == rows(count)
    assert not daemon.log_matches("has gone")
    daemon.stop(expect=0)
    assert reader.read_end().count(b"\n") == count
