"""Many connections, at once and one after the other, more than allowed, more than there can be."""

import http.client
import resource
import socket
import struct
import time

from joind import SANITIZED, Feeder, at_window_start, readable, wait_until


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


def test_out_of_descriptors_it_waits_and_recovers(joind):
    def few():
        resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))
    daemon = joind(preexec=few)
    daemon.send("left", b"1,a\n")
    lines = len(daemon.log)
    feeders = [Feeder(daemon.address("left")) for _ in range(100)]
    daemon.wait_log("descriptor|too many open|open files")
    # Neither a busy loop nor a full disk while it lasts.
    cpu, until = daemon.cpu_seconds(), time.monotonic() + 2
    wait_until(lambda: time.monotonic() > until, 5)
    assert daemon.cpu_seconds() - cpu < 0.5
    assert len(daemon.log) - lines < 10, daemon.log_text()
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


def test_a_busy_connection_does_not_starve_a_quiet_one(joind):
    """A stream without an end beside one line now and then, and a tick."""
    daemon = joind(join={"size": "1s"}, output={"select": "v, w"}, left={"where": "ok",
                   "fields": "k, v, ok boolean"})
    subscriber = daemon.subscribe()
    busy, quiet = daemon.connect("left"), daemon.connect("left")
    busy.socket.settimeout(0.05)
    block = b"busy,value,false\n" * 4000
    for number in range(2):
        at_window_start(1)
        quiet.send(b"%d,a,true\n" % number)
        daemon.connect("right").send(b"%d,x\n" % number)
        until = time.monotonic() + 3
        while subscriber.count() <= number:
            assert time.monotonic() < until, "the quiet connection's row does not come"
            try:
                busy.socket.send(block)
            except TimeoutError:
                pass
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
