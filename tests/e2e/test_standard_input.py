"""Standard input, whatever it is and whoever holds its other end: it never stops the loop, and it
is left as it was found, for it is shared with other processes."""

import os
import pty
import signal
import socket
import time
import tty

import pytest

from joind import PATIENCE, readable

TIME = 1700000000000
SIDES_FIELDS = {"left": "k, v, t timestamp_ms", "right": "k, w, t timestamp_ms"}

# How it is read: which key changes make it so, and whether the right side is a file.
MODES = {
    "stream": (dict(), False),
    "event time": (dict(time="event", size="1s"), False),
    "replay": (dict(time="event", size="1s"), True),
    "batch": (dict(match="batch", size=None), True),
    "lookup": (dict(match="lookup", size=None), True),
}
KINDS = ["pipe", "socket", "terminal"]


class Input:
    """What is standard input, and its other end."""

    def __init__(self, kind):
        self.kind = kind
        if kind == "pipe":
            self.reader, self.writer = os.pipe()
        elif kind == "socket":
            self.reader, self.writer = (end.detach() for end in socket.socketpair())
        else:
            self.writer, self.reader = pty.openpty()
            tty.setraw(self.reader)

    def write(self, data):
        assert os.write(self.writer, data) == len(data)

    def end(self):
        if self.writer is not None:
            os.close(self.writer)
        self.writer = None

    def close(self):
        self.end()
        os.close(self.reader)


@pytest.fixture
def start(joind, tmp_path):
    """A daemon that reads its left side from standard input."""
    inputs = []

    def make(kind, mode="stream", **kw):
        keys, right_is_file = MODES[mode]
        sides = {}
        for side, fields in SIDES_FIELDS.items():
            sides[side] = {"fields": fields, "timestamp": "t" if "time" in keys else None}
        sides["left"]["file"] = "-"
        if right_is_file:
            (tmp_path / "right.csv").write_text(f"1,w,{TIME}\n")
            sides["right"]["file"] = "right.csv"
        inputs.append(Input(kind))
        daemon = joind(**{**sides, "join": {"type": "left", **keys}, "output": {"file": "out.csv"},
                          "stdin": inputs[-1].reader, **kw})
        return daemon, inputs[-1]

    yield make
    for one in inputs:
        one.close()


def row(key):
    return b"%d,v,%d\n" % (key, TIME)


def keys_out(daemon):
    return sorted(line.split(b",")[0] for line in
                  (daemon.folder / "out.csv").read_bytes().splitlines())


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_silent_writer_holds_nothing_up(start, kind, mode):
    """Neither before its first row, nor between rows, nor during a stop."""
    daemon, given = start(kind, mode)
    assert daemon.healthz()[0] == 200
    given.write(row(1))
    daemon.wait_books("left", received=1)
    time.sleep(0.1)
    assert daemon.healthz()[0] == 200
    assert os.get_blocking(given.reader), "it is shared: others rely on it"
    daemon.signal(signal.SIGTERM)
    daemon.wait_log("stopping")
    if kind != "terminal":      # nobody waits for the end of a terminal
        assert daemon.healthz()[1].startswith("stopping")
        given.write(row(2).rstrip())
        given.end()
    started = time.monotonic()
    daemon.wait_exit(expect=0)
    assert time.monotonic() - started < 4 * PATIENCE
    assert keys_out(daemon) == ([b"1"] if kind == "terminal" else [b"1", b"2"])


@pytest.mark.parametrize("mode", ["stream", "replay"])
@pytest.mark.parametrize("kind", ["pipe", "socket"])
def test_a_writer_that_never_ends_is_cut_off(start, kind, mode):
    daemon, given = start(kind, mode)
    given.write(row(1) + b"2,unfini")
    daemon.wait_books("left", received=1)
    daemon.signal(signal.SIGTERM)
    daemon.wait_log("standard input did not end within the time", seconds=7)
    daemon.wait_exit(expect=0)
    assert keys_out(daemon) == [b"1"]
    assert [rejected[4] for rejected in daemon.rejects()] == [b"2,unfini"]


@pytest.mark.parametrize("mode", ["stream", "replay"])
@pytest.mark.parametrize("kind", ["pipe", "socket"])
def test_a_second_signal_is_heard_while_a_writer_does_not_end(start, kind, mode):
    daemon, given = start(kind, mode)
    given.write(row(1))
    daemon.wait_books("left", received=1)
    daemon.stop_at_once()


def test_a_socket_s_other_way_is_left_alone_at_a_stop(start):
    """Another process may write to it still, such as one that has it as its output."""
    daemon, given = start("socket")
    given.write(row(1))
    daemon.wait_books("left", received=1)
    daemon.signal(signal.SIGTERM)
    daemon.wait_log("stopping")
    assert not readable(given.writer, 0.3), "joind half-closed what is not its own"
    os.write(given.reader, b"another's")
    assert os.read(given.writer, 100) == b"another's"
    given.end()
    daemon.wait_exit(expect=0)
    assert keys_out(daemon) == [b"1"]
