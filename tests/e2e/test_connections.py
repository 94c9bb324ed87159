"""Many connections, at once and one after the other, more than allowed, more than there can be; peers
that vanish, and a side that connects by itself."""

import collections
import ctypes
import fcntl
import http.client
import os
import pathlib
import resource
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

import pytest

from joind import PATIENCE, SANITIZED, Feeder, connect_to, readable, reset_at_close, wait_until
from tools import WINDOW

# Results come at once, and nothing is forgotten while a test runs.
AT_ONCE = {"match": "interval", "size": None, "lower": "-1h", "upper": "1h"}


def open_files(daemon):
    return int(daemon.metric("process_open_fds"))


def test_a_thousand_connections_at_once(joind):
    daemon = joind()
    daemon.healthz()
    files, memory = open_files(daemon), daemon.anonymous_memory()
    feeders = [daemon.connect("left") for _ in range(1000)]
    wait_until(lambda: daemon.connections("left") == 1000, 10, "a thousand connections",
               daemon.log_text)
    grown = daemon.anonymous_memory() - memory
    if not SANITIZED:
        assert grown < 4 << 20, f"{grown} bytes for a thousand idle connections"
    for number, feeder in enumerate(feeders):
        feeder.send(b"%d,a\n%d,b" % (number, number))
    daemon.wait_books("left", received=1000, held=1000)
    for feeder in feeders[::2]:
        feeder.finish()
    for feeder in feeders[1::2]:
        feeder.reset()
    daemon.wait_books("left", received=2000, held=1500, rejected=500)
    wait_until(lambda: daemon.connections("left") == 0, 10, "the end of all connections")
    assert open_files(daemon) <= files + 1, "descriptors leak"
    daemon.subscribe()
    daemon.stop(expect=0)


def test_a_thousand_connections_one_after_the_other(joind):
    daemon = joind()
    files = open_files(daemon)
    for number in range(1000):
        with socket.create_connection(daemon.address(("left", "right")[number % 2])) as sender:
            sender.sendall(b"%d,a" % number)
    daemon.wait_books("left", received=500, held=500)
    daemon.wait_books("right", received=500, held=500)
    wait_until(lambda: open_files(daemon) <= files + 1, 10, "the descriptors to be closed")
    daemon.subscribe()
    daemon.stop(expect=0)


def is_open(feeder):
    """False when joind has closed it."""
    if not readable(feeder.socket):
        return True
    try:
        return feeder.socket.recv(1, socket.MSG_PEEK) != b""
    except OSError:
        return False


def test_no_more_connections_than_allowed(joind):
    daemon = joind(left={"max_connections": "5"})
    kept = [daemon.connect("left") for _ in range(5)]
    wait_until(lambda: daemon.connections("left") == 5, 10, "five connections")
    extra = daemon.connect("left")
    wait_until(lambda: not is_open(extra), 5, "the sixth to be closed")
    assert daemon.connections("left") == 5
    daemon.wait_log("max_connections|connections")
    for feeder in kept:
        feeder.send(b"1,a\n")
    daemon.wait_books("left", received=5)
    kept[0].finish()
    wait_until(lambda: daemon.connections("left") == 4, 10, "a free place")
    daemon.send("left", b"2,b\n")
    daemon.wait_books("left", received=6)


def test_a_reconnect_storm_does_not_fill_the_log(joind):
    daemon = joind(left={"max_connections": "1"})
    daemon.connect("left")
    wait_until(lambda: daemon.connections("left") == 1, 10, "the one connection")
    for _ in range(500):
        with socket.create_connection(daemon.address("left")):
            pass
    assert daemon.healthz()[0] == 200
    assert len(daemon.log) < 60, daemon.log_text()


def test_an_address_that_is_not_allowed_is_closed_at_once(joind):
    daemon = joind(left={"allow": "127.0.0.2, 127.0.1.0/24"})
    for source in ("127.0.0.2", "127.0.1.9"):
        daemon.connect("left", source=(source, 0)).send(b"1,a\n").finish()
    daemon.wait_books("left", received=2)
    stranger = daemon.connect("left", source=("127.0.0.3", 0))
    wait_until(lambda: not is_open(stranger), 5, "the stranger to be closed")
    daemon.wait_log(r"127\.0\.0\.3")
    assert daemon.books("left")["received"] == 2


def few_descriptors():
    resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))


def test_out_of_descriptors_the_open_connections_go_on(joind):
    daemon = joind(join=AT_ONCE, preexec=few_descriptors)
    subscriber = daemon.subscribe()
    left, right = daemon.connect("left"), daemon.connect("right")
    left.send(b"1,a\n")
    right.send(b"1,x\n")
    subscriber.wait_lines(1)
    crowd = [Feeder(daemon.address("left")) for _ in range(100)]
    daemon.wait_log("too many open files")
    for number in range(20):
        right.send(b"1,y%d\n" % number)
        assert subscriber.wait_lines(number + 2)[-1] == f"1,a,1,y{number}"
    for sender in crowd:
        sender.close()


def test_out_of_descriptors_it_waits_and_recovers(joind):
    daemon = joind(preexec=few_descriptors)
    daemon.send("left", b"1,a\n")
    lines = len(daemon.log)
    feeders = [Feeder(daemon.address("left")) for _ in range(100)]
    daemon.wait_log("descriptor|too many open|open files")
    # Neither a busy loop nor a full disk while it lasts.
    cpu, until = daemon.cpu_seconds(), time.monotonic() + 2
    wait_until(lambda: time.monotonic() > until, 5)
    assert daemon.cpu_seconds() - cpu < 0.5
    assert len(daemon.log) - lines < 4, daemon.log_text()
    assert sum(map(is_open, feeders)) > 70, "those that wait are turned away one by one, slowly"
    for feeder in feeders:
        feeder.close()

    def none_left():
        try:
            return daemon.connections("left") == 0
        except (OSError, http.client.HTTPException):
            return False        # the watching port has no descriptor to spare either
    wait_until(none_left, 10, "the end of all connections", daemon.log_text)
    daemon.send("left", b"2,b\n")
    daemon.send("right", b"2,y\n")
    daemon.wait_books("left", received=2)
    daemon.wait_books("right", received=1)


def test_the_soft_limit_of_descriptors_is_raised_to_the_hard_one(joind):
    def low():
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))
    daemon = joind(preexec=low)
    feeders = [daemon.connect("left") for _ in range(200)]
    wait_until(lambda: daemon.connections("left") == 200, 10, "200 connections", daemon.log_text)
    assert all(is_open(feeder) for feeder in feeders)


def test_a_busy_connection_does_not_starve_a_quiet_one(joind, clock):
    """A stream without an end beside one line now and then, and a tick."""
    daemon = joind(env=clock.env, join={"size": WINDOW}, output={"select": "v, w"},
                   left={"where": "ok", "fields": "k, v, ok boolean"})
    subscriber = daemon.subscribe()
    busy, quiet = daemon.connect("left"), daemon.connect("left")
    busy.socket.settimeout(0.05)
    block = b"busy,value,false\n" * 4000

    def keep_busy_until(reached, what):
        until = time.monotonic() + 4 * PATIENCE
        while not reached():
            assert time.monotonic() < until, f"{what} does not come"
            try:
                busy.socket.send(block)
            except TimeoutError:
                pass

    for number in range(2):
        daemon.send("right", b"%d,x\n" % number)
        quiet.send(b"%d,a,true\n" % number)
        keep_busy_until(lambda: daemon.books("left")["held"] == 1, "the quiet connection's line")
        clock.end_window()
        keep_busy_until(lambda: subscriber.count() > number, "the row")
    daemon.assert_books_balance()


def test_connections_that_send_nothing_hold_nothing_up(joind):
    daemon = joind(join={"size": "1s", "type": "left"})
    subscriber = daemon.subscribe()
    for _ in range(200):
        daemon.connect("left")
    daemon.send("left", b"1,a\n")
    assert subscriber.wait_lines(1, seconds=4) == ["1,a,,"]


def test_a_small_window_of_the_sender_s_kernel_is_no_reason_to_write(joind):
    """joind never writes on an input connection, whatever the peer does with its side."""
    daemon = joind()
    feeder = daemon.connect("left")
    feeder.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 0, 0))
    feeder.socket.shutdown(socket.SHUT_RD)
    feeder.send(b"1,a\n" * 1000)
    daemon.wait_books("left", received=1000)
    feeder.socket.shutdown(socket.SHUT_WR)
    wait_until(lambda: daemon.connections("left") == 0, 10, "the connection's end")


def test_a_reconnect_storm_does_not_starve_data(joind):
    daemon = joind(join=AT_ONCE, left={"max_connections": "50"})
    subscriber = daemon.subscribe()
    left, right = daemon.connect("left"), daemon.connect("right")
    left.send(b"1,a\n")
    daemon.wait_books("left", held=1)
    calm, storms = threading.Event(), collections.Counter()

    def storm(name):
        while not calm.is_set():
            try:
                with socket.create_connection(daemon.address("left"), timeout=5) as made:
                    reset_at_close(made)
                storms[name] += 1
            except OSError:
                pass
    threads = [threading.Thread(target=storm, args=(n,), daemon=True) for n in range(4)]
    for thread in threads:
        thread.start()
    slowest = 0
    for number in range(100):
        started = time.monotonic()
        right.send(b"1,%d\n" % number)
        subscriber.wait_lines(number + 1)
        slowest = max(slowest, time.monotonic() - started)
    calm.set()
    for thread in threads:
        thread.join(10)
    assert storms.total() > 200, "that was no storm"
    assert slowest < 1 * PATIENCE
    assert len(daemon.log) < 200, "a few lines a second, no more"
    wait_until(lambda: daemon.connections("left") == 1, 10, "the end of all others")


def cpu_of_rows(joind, idle, rows, left, join):
    """CPU seconds for so many rows that come one by one, each a turn of the loop, beside so many
    connections that have sent a row and nothing more."""
    daemon = joind(left={"fields": "k, t timestamp_ms", "max_connections": "5000", **left},
                   right={"fields": "k, t timestamp_ms", **left}, join={**AT_ONCE, **join})
    subscriber = daemon.subscribe()
    crowd = [daemon.connect("left").send(b"x,1\n") for _ in range(idle)]
    daemon.send("right", b"k,1\n")
    daemon.wait_books("left", received=idle, seconds=30)
    feeder, schedstat = daemon.connect("left"), f"/proc/{daemon.process.pid}/schedstat"
    before = int(pathlib.Path(schedstat).read_text().split()[0])
    for number in range(rows):
        feeder.send(b"k,1\n")
        while subscriber.count() <= number:
            time.sleep(0)
    spent = int(pathlib.Path(schedstat).read_text().split()[0]) - before
    for one in crowd:
        one.close()
    return spent / 1e9


@pytest.mark.parametrize("left, join", [
    ({}, {}),
    ({"timestamp": "t", "idle": "5s"}, {"time": "event"}),
], ids=["processing", "event"])
def test_idle_connections_cost_nothing_to_active_ones(joind, left, join):
    rows = 1000
    alone = min(cpu_of_rows(joind, 0, rows, left, join) for _ in range(2))
    beside = min(cpu_of_rows(joind, 2000, rows, left, join) for _ in range(2))
    assert beside < 2 * alone + 0.02, f"{alone} s alone, {beside} s beside 2,000 idle ones"


def tcp_states(port):
    """How many sockets of ours at this port are in which state."""
    states = collections.Counter()
    for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]:
        _, local, _, state = line.split()[:4]
        if int(local.rpartition(":")[2], 16) == port:
            states[int(state, 16)] += 1
    return states


CLOSE_WAIT = 8


def test_peers_that_end_in_any_way_leave_no_socket_half_closed(joind):
    daemon = joind()
    files = open_files(daemon)
    for number in range(100):
        senders = [daemon.connect("left") for _ in range(4)]
        for sender in senders:
            sender.send(b"%d,a\n%d,unended" % (number, number))
        senders[0].close()
        senders[1].socket.shutdown(socket.SHUT_WR)
        senders[2].reset()
        senders[3].socket.shutdown(socket.SHUT_RDWR)
    wait_until(lambda: daemon.connections("left") == 0, 10, "the end of all")
    assert tcp_states(daemon.port("left"))[CLOSE_WAIT] == 0
    assert open_files(daemon) <= files + 1


def test_peers_that_end_while_inputs_are_held_back_are_closed_afterwards(joind):
    """Nothing is read meanwhile, so their end is not seen; but it is not forgotten."""
    daemon = joind(join=AT_ONCE, state={"memory": "2M"}, left={"max_line": "64K"})
    data = b"".join(b"%d,%0100d\n" % (n, n) for n in range(40000))
    big = daemon.connect("left")
    threading.Thread(target=big.send, args=(data,), daemon=True).start()
    wait_until(lambda: daemon.metric("joind_input_paused", side="left") == 1, 10, "a full state")
    for number in range(50):
        sender = daemon.connect("left")
        sender.send(b"%d,a\n" % number)
        sender.close()
    wait_until(lambda: tcp_states(daemon.port("left"))[CLOSE_WAIT] == 50, 5, "that they wait")
    cpu, until = daemon.cpu_seconds(), time.monotonic() + 1
    wait_until(lambda: time.monotonic() > until, 5)
    assert daemon.cpu_seconds() - cpu < 0.5, "it spins on what it may not read"
    big.close()
    daemon.subscribe()
    daemon.stop(expect=0)
    assert tcp_states(daemon.port("left"))[CLOSE_WAIT] == 0


# Peers that vanish. In a network of its own, whose one interface is then taken down.

def set_loopback(up):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = bytearray(struct.pack("16sH14x", b"lo", 0))
        fcntl.ioctl(any_socket, 0x8913, request)        # SIOCGIFFLAGS
        flags = struct.unpack_from("H", request, 16)[0]
        struct.pack_into("H", request, 16, flags | 1 if up else flags & ~1)
        fcntl.ioctl(any_socket, 0x8914, request)        # SIOCSIFFLAGS


def into_a_network_of_its_own():
    new_user, new_network = 0x10000000, 0x40000000
    wanted = new_network if os.getuid() == 0 else new_network | new_user
    if ctypes.CDLL(None, use_errno=True).unshare(wanted) != 0:
        os._exit(77)
    set_loopback(True)


class Peer:
    """A sender in the daemon's network: there alone can the daemon be reached by TCP."""

    PROGRAM = """
import socket, sys
made = socket.create_connection((sys.argv[1], int(sys.argv[2])))
made.sendall(b"1,whole\\n2,unended")
print("sent", flush=True)
sys.stdin.readline()
"""

    def __init__(self, daemon, endpoint):
        self.enter = ["nsenter", f"--net=/proc/{daemon.process.pid}/ns/net"]
        if os.getuid() != 0:
            self.enter += [f"--user=/proc/{daemon.process.pid}/ns/user", "--preserve-credentials"]
        self.process = subprocess.Popen(
            [*self.enter, sys.executable, "-c", self.PROGRAM, "127.0.0.1",
             daemon.endpoints[endpoint].rpartition(":")[2]],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.process.stdout.readline() == b"sent\n"

    def take_network_down(self):
        down = f"import sys; sys.path.insert(0, {os.path.dirname(__file__)!r}); " \
               "import test_connections as t; t.set_loopback(False)"
        subprocess.run([*self.enter, sys.executable, "-c", down], check=True)

    def close(self):
        self.process.kill()
        self.process.wait(10)
        self.process.stdin.close()
        self.process.stdout.close()


@pytest.mark.skipif(shutil.which("nsenter") is None, reason="nsenter is not here")
@pytest.mark.parametrize("endpoint", ["left", "output"])
def test_an_idle_peer_that_vanished_is_found_out_by_keepalive(joind, endpoint):
    daemon = joind(left={"keepalive": "1s"}, output={"keepalive": "1s"},
                   http={"listen": "unix:http.sock"}, wait=False,
                   preexec=into_a_network_of_its_own)
    wait_until(lambda: daemon.process.poll() is not None or daemon.log_matches("ready: "), 10,
               "a start")
    if daemon.process.poll() == 77:
        daemon.wait_exit()
        pytest.skip("no network of one's own is to be had here")
    daemon.wait_ready()
    peer = Peer(daemon, endpoint)
    try:
        wait_until(lambda: daemon.connections(endpoint) == 1, 10, "its connection")
        if endpoint == "left":
            daemon.wait_books("left", received=1, held=1)
        peer.take_network_down()
        started = time.monotonic()
        wait_until(lambda: daemon.connections(endpoint) == 0, 20, "the end of its connection")
        assert 1 < time.monotonic() - started
        unfinished = [b"unfinished"] if endpoint == "left" else []
        assert [row[1] for row in daemon.rejects()] == unfinished, \
            "what a vanished peer had begun is no whole line"
    finally:
        peer.close()


# A side that connects.

@pytest.fixture
def server():
    """Who is connected to: a listening socket of the test's own."""
    with socket.create_server(("127.0.0.1", 0)) as made:
        made.settimeout(10 * PATIENCE)
        yield made


def connecting(server, **more):
    host, port = server.getsockname()
    return {"connect": f"{host}:{port}", **more}


def test_a_connecting_side_reads_and_comes_back_after_the_end(joind, server):
    daemon = joind(left=connecting(server))
    assert daemon.endpoints["left"] == connecting(server)["connect"]
    for number in range(3):
        peer, _ = server.accept()
        peer.sendall(b"%d,a\n%d,unended" % (number, number))
        peer.close()
        daemon.wait_books("left", received=2 * number + 2, held=2 * number + 2)
    assert daemon.is_running(), "its side does not end"
    peer, _ = server.accept()
    reset_at_close(peer)
    peer.sendall(b"9,a\n9,unended")
    daemon.wait_books("left", received=7)
    peer.close()
    daemon.wait_books("left", received=8, held=7, rejected=1)
    assert f"(from {daemon.endpoints['left']}" in daemon.rejects()[0][2].decode()
    server.accept()[0].close()


def test_each_connection_of_a_connecting_side_has_its_own_header(joind, server):
    daemon = joind(left=connecting(server, header="yes"))
    for number, header in enumerate((b"k,v", b"v,k", b"nothing,of,use", b"k,v")):
        peer, _ = server.accept()
        peer.sendall(header + b"\n1,1\n")
        peer.close()
        daemon.wait_books("left", received=(1, 2, 4, 5)[number], rejected=2 if number > 1 else 0)
    assert daemon.is_running(), "a useless header is no reason to end"


def test_a_connecting_side_waits_for_its_peer_and_says_so_once(joind, tmp_path):
    path = tmp_path / "peer.sock"
    daemon = joind(left={"connect": f"unix:{path}"})
    daemon.wait_log("cannot connect")
    time.sleep(1.5)
    assert len(daemon.log_matches("cannot connect")) == 1
    assert daemon.healthz()[0] == 200, "not before it is down for long"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        listener.settimeout(10 * PATIENCE)
        peer, _ = listener.accept()
        peer.sendall(b"1,a\n")
        daemon.wait_books("left", received=1)
        peer.close()


def test_a_stop_half_closes_the_connection_that_joind_made_and_reads_it_to_its_end(joind, server):
    daemon = joind(left=connecting(server), join={"type": "left"}, output={"file": "out.csv"})
    peer, _ = server.accept()
    peer.settimeout(10 * PATIENCE)
    peer.sendall(b"1,before\n")
    daemon.wait_books("left", received=1)
    daemon.signal(signal.SIGTERM)
    assert peer.recv(10) == b""
    peer.sendall(b"2,after\n3,unended")
    peer.close()
    daemon.wait_exit(expect=0)
    assert sorted((daemon.folder / "out.csv").read_bytes().splitlines()) == \
        [b"1,before,,", b"2,after,,", b"3,unended,,"]
    server.settimeout(1)
    with pytest.raises(TimeoutError):
        server.accept()


def test_a_stop_does_not_wait_for_a_peer_that_is_not_there(joind, tmp_path):
    daemon = joind(left={"connect": f"unix:{tmp_path}/nobody"})
    daemon.wait_log("cannot connect")
    started = time.monotonic()
    daemon.stop(expect=0)
    assert time.monotonic() - started < 1 * PATIENCE


def test_no_connection_is_made_during_a_stop(joind, tmp_path):
    path = str(tmp_path / "late.sock")
    daemon = joind(left={"connect": f"unix:{path}"})
    daemon.wait_log("cannot connect")
    slow = daemon.connect("right")
    wait_until(lambda: daemon.connections("right") == 1, 10, "the one that keeps the stop busy")
    daemon.signal(signal.SIGTERM)
    slow.read_end()
    with socket.socket(socket.AF_UNIX) as late:
        late.bind(path)
        late.listen()
        late.settimeout(2)
        with pytest.raises(TimeoutError):
            late.accept()
    slow.finish()
    daemon.wait_exit(expect=0)


def test_the_end_of_a_batch_s_connection_is_its_side_s(joind, server, tmp_path):
    (tmp_path / "left.csv").write_text("1,a\n")
    daemon = joind(left={"file": "left.csv"}, right=connecting(server),
                   join={"match": "batch", "size": None}, output={"file": "out.csv"})
    peer, _ = server.accept()
    peer.sendall(b"1,x\n1,y")
    peer.close()
    daemon.wait_exit(expect=0)
    assert sorted((tmp_path / "out.csv").read_text().splitlines()) == ["1,a,1,x", "1,a,1,y"]


def test_a_batch_s_connection_that_breaks_ends_it_with_1(joind, server, tmp_path):
    (tmp_path / "left.csv").write_text("1,a\n")
    daemon = joind(left={"file": "left.csv"}, right=connecting(server),
                   join={"match": "batch", "size": None}, output={"file": "out.csv"})
    peer, _ = server.accept()
    peer.sendall(b"1,x\n")
    daemon.wait_books("right", received=1)
    reset_at_close(peer)
    peer.close()
    daemon.wait_exit(expect=1)
    assert daemon.log_matches("broke before its end")
    assert not (tmp_path / "out.csv").read_bytes()
