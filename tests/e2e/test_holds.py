"""Inputs that are held back by results that nobody takes: it is said wherever one would look."""

import contextlib
import os
import threading
import time

import pytest

from joind import SANITIZED, Subscriber, wait_until
from test_connect import AT_ONCE, peer  # noqa: F401 pylint: disable=unused-import

INTERVAL = {"match": "interval", "type": "left", "size": None, "lower": "0s", "upper": "0s"}
REASON = "results wait for a reader: inputs are held back"


class Flood(threading.Thread):
    """Sends without end, as fast as it is read."""

    def __init__(self, daemon):
        super().__init__(daemon=True)
        self.feeder = daemon.connect("left")
        self.stopping = threading.Event()
        self.start()

    def run(self):
        rows = b"".join(b"%d,%090d\n" % (n, n) for n in range(1000))
        with contextlib.suppress(OSError):
            while not self.stopping.is_set():
                self.feeder.send(rows)

    def stop(self):
        self.stopping.set()


def paused(daemon):
    return daemon.metric("joind_input_paused", side="left")


# What is there of a reader; how one that reads comes.

def nobody(joind, make_peer, join):
    daemon = joind(join=join)
    return daemon, lambda: Subscriber(daemon.address("output"))


def one_who_does_not_read(joind, make_peer, join):
    daemon = joind(join=join)
    subscriber = daemon.subscribe(paused=True)
    return daemon, lambda: subscriber.resume()


def a_peer_that_is_down(joind, make_peer, join):
    absent = make_peer(listens=False)
    daemon = joind(join=join, output={"connect": absent.text})
    return daemon, lambda: read_all(absent.open().accept())


def a_peer_that_does_not_read(joind, make_peer, join):
    other = make_peer()
    daemon = joind(join=join, output={"connect": other.text})
    connection = other.accept()
    return daemon, lambda: read_all(connection)


def a_pipe_that_is_not_read(joind, make_peer, join):
    reader, writer = os.pipe()
    daemon = joind(join=join, output={"file": "-"}, stdout=writer)
    os.close(writer)
    return daemon, lambda: read_all(reader)


def read_all(source):
    def run():
        with contextlib.suppress(OSError):
            while os.read(source, 1 << 16) if isinstance(source, int) else source.read(1):
                pass
    threading.Thread(target=run, daemon=True).start()


@pytest.mark.parametrize("join", [AT_ONCE, INTERVAL], ids=["latest", "interval"])
@pytest.mark.parametrize("reader", [nobody, one_who_does_not_read, a_peer_that_is_down,
                                    a_peer_that_does_not_read, a_pipe_that_is_not_read],
                         ids=lambda one: one.__name__)
def test_results_that_nobody_takes_hold_inputs_back_and_say_so(
        joind, peer, reader, join):  # noqa: F811
    daemon, read_on = reader(joind, peer, join)
    flood = Flood(daemon)
    wait_until(lambda: paused(daemon), 10, "the input held back", daemon.log_text)
    before = time.monotonic()
    assert daemon.healthz()[0] == 200, "held back for a moment only"
    daemon.wait_log(REASON, seconds=5)
    wait_until(lambda: daemon.healthz()[0] == 503, 15, "/healthz to say 503")
    assert time.monotonic() - before > 8, "/healthz says 503 too early"
    assert daemon.healthz()[1] == REASON + "\n"
    assert paused(daemon)

    flood.stop()
    read_on()
    wait_until(lambda: not paused(daemon), 20, "the input to be read again", daemon.log_text)
    wait_until(lambda: daemon.healthz()[0] == 200, 20, "/healthz to be well again")
    daemon.wait_log("inputs are read again")
    assert len(daemon.log_matches(REASON)) == 1


@pytest.mark.skipif(SANITIZED, reason="needs a daemon that is faster than its reader")
def test_a_reader_that_reads_slowly_is_no_trouble(joind):
    """Senders are held to its pace, which is what is meant to happen."""
    daemon = joind(join=AT_ONCE, output={"buffer": "64K"})
    daemon.subscribe(receive_buffer=4096, bytes_per_second=2 << 20)
    flood = Flood(daemon)
    seen, end = 0, time.monotonic() + 6
    while time.monotonic() < end:
        seen += paused(daemon)
        time.sleep(0.02)
    assert seen > 10, "the reader was not slow"
    assert not daemon.log_matches(REASON)
    flood.stop()


def test_few_results_that_wait_hold_nobody_back(joind):
    daemon = joind(join=AT_ONCE)
    daemon.send("left", b"1,a\n2,b\n")
    daemon.wait_log("results wait, and nobody is connected")
    time.sleep(2)
    assert not paused(daemon) and not daemon.log_matches(REASON)
