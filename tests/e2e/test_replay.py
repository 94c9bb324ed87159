"""Two files in event time are one history: its outcome is the same however it is read and written.

Rules: semantics.md, sections 1, 5 (batch) and 7.
"""

import contextlib
import fcntl
import os
import random
import signal
import socket
import subprocess
import threading
import time

import pytest

from joind import BINARY, PATIENCE, Subscriber, clean_env, config, parse_csv, run

RECORDS = 1500
F_SETPIPE_SZ = 1031     # Linux: fcntl.h

MATCHES = {
    "tumbling": {"match": "tumbling", "size": "1s"},
    "sliding": {"match": "sliding", "size": "900ms", "slide": "400ms"},
    "session": {"match": "session", "gap": "60ms", "size": None},
    "interval": {"match": "interval", "lower": "-150ms", "upper": "250ms", "size": None},
}
each_match = pytest.mark.parametrize("match", MATCHES)


def history(seed):
    """Lines with times that run on and jitter; some are far too old, some have no key."""
    chance = random.Random(seed)
    lines, now = [], chance.randrange(-3000, 3000)
    for number in range(RECORDS):
        now += chance.randrange(0, 20)
        t = now - chance.randrange(0, 120) - (2000 if chance.random() < 0.03 else 0)
        key = chance.choice(["a", "b", "c", "d", "e", "f", ""])
        lines.append(f"{key},{number:04},{t}\n")
    return "".join(lines).encode()


def configuration(match, kind="full", **sections):
    side = {"timestamp": "t", "delay": "40ms", "listen": None}
    sections.setdefault("output", {"file": "out.csv"})
    for name, file in (("left", "left.csv"), ("right", "right.csv")):
        value = "v" if name == "left" else "w"
        sections[name] = {"file": file, "fields": f"k, {value}, t timestamp_ms", **side,
                          **sections.get(name, {})}
    return config(join={"type": kind, "time": "event", "grace": "200ms", **MATCHES[match]},
                  late={"file": "late.csv"}, process={"hash_seed": "7"},
                  http=None, **{"rejects": None, **sections})


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "left.csv").write_bytes(history(1))
    (tmp_path / "right.csv").write_bytes(history(2))
    return tmp_path


def late_lines(folder):
    rows = parse_csv((folder / "late.csv").read_bytes())
    return [(row[0], row[4]) for row in rows]


def replay(folder, match, kind="full", stdin=b"", **sections):
    """Runs it to its end in a clean folder; the bytes of the output and the late lines."""
    for name in ("out.csv", "late.csv"):
        (folder / name).unlink(missing_ok=True)
    (folder / "t.ini").write_text(configuration(match, kind, **sections))
    ended = run("t.ini", cwd=folder, stdin=stdin, seconds=60)
    assert ended.returncode == 0, ended.log
    out = (folder / "out.csv").read_bytes() if (folder / "out.csv").exists() else ended.stdout
    return out, late_lines(folder)


@each_match
def test_a_replay_is_the_same_on_every_run(folder, match):
    first = replay(folder, match)
    assert first[0].count(b"\n") > RECORDS
    assert bool(first[1]) == (match != "interval"), "late ones that are padded are not late"
    assert replay(folder, match) == first


@each_match
def test_a_replay_does_not_mind_where_its_output_goes(folder, match, joind):
    """Into a file, standard output, a small buffer, and a subscriber that reads slowly."""
    first = replay(folder, match)
    assert replay(folder, match, output={"file": "-"}) == first

    (folder / "late.csv").unlink()
    output = {"listen": "127.0.0.1:0", "buffer": "4K"}
    daemon = joind(text=configuration(match, output=output))
    subscriber = Subscriber(daemon.address("output"), receive_buffer=4096,
                            bytes_per_second=len(first[0]) * 2 // 3)
    daemon.wait_exit(seconds=30, expect=0)
    subscriber.wait_end()
    assert (bytes(subscriber.data), late_lines(folder)) == first
    subscriber.close()


def trickle(path_or_pipe, data, seed):
    """Writes in pieces of any size, some cut within a line, some after a moment."""
    chance = random.Random(seed)
    with open(path_or_pipe, "wb", buffering=0) as stream:
        at = 0
        while at < len(data):
            size = chance.choice([1, 3, 17, 100, 1000, 5000])
            stream.write(data[at:at + size])
            at += size
            if chance.random() < 0.02:
                threading.Event().wait(0.005)


@each_match
def test_standard_input_in_pieces_is_replayed_like_a_file(folder, match):
    first = replay(folder, match)
    assert replay(folder, match, right={"file": "-"}, stdin=history(2)) == first

    (folder / "out.csv").unlink()
    (folder / "late.csv").unlink()
    process = subprocess.Popen([BINARY, "-q", "t.ini"], cwd=folder, stdin=subprocess.PIPE,
                               env=clean_env())
    trickle(os.dup(process.stdin.fileno()), history(2), seed=3)
    process.stdin.close()
    assert process.wait(30 * PATIENCE) == 0
    assert ((folder / "out.csv").read_bytes(), late_lines(folder)) == first


@each_match
def test_a_fifo_on_each_side_is_replayed_like_files(folder, match):
    first = replay(folder, match)
    (folder / "out.csv").unlink()
    (folder / "late.csv").unlink()
    ends = {}
    for side in ("left", "right"):
        os.mkfifo(folder / f"{side}.fifo")
        ends[side] = {"file": f"{side}.fifo"}
    (folder / "t.ini").write_text(configuration(match, **ends))
    writers = [threading.Thread(target=trickle, args=(folder / f"{side}.fifo", history(n), n),
                                daemon=True) for n, side in ((1, "left"), (2, "right"))]
    process = subprocess.Popen([BINARY, "-q", "t.ini"], cwd=folder, env=clean_env())
    for writer in writers:
        writer.start()
    assert process.wait(30 * PATIENCE) == 0
    assert ((folder / "out.csv").read_bytes(), late_lines(folder)) == first


@each_match
@pytest.mark.parametrize("kind", ["inner", "left", "right", "semi", "anti"])
def test_each_type_s_replay_is_the_same_from_standard_input(folder, match, kind):
    first = replay(folder, match, kind)
    assert first[0]
    assert replay(folder, match, kind, left={"file": "-"}, stdin=history(1)) == first


def test_a_replay_that_does_not_fit_into_memory_at_once_is_the_same(folder):
    """Windows leave while others come, so a small state holds a long history."""
    def without_limit(limit):
        return replay(folder, "tumbling", state={"memory": limit},
                      left={"max_line": "256"}, right={"max_line": "256"})
    assert without_limit("64K") == without_limit("1G")


def test_a_replay_of_an_empty_file_ends(folder):
    (folder / "right.csv").write_bytes(b"")
    out, late = replay(folder, "tumbling", kind="left")
    assert out.count(b"\n") + len(late) == RECORDS


# A stop while rows of one side wait for the other: what is read meanwhile must not harm them.

def both_ends(path, size):
    """A FIFO that has a writer from the start: its descriptor."""
    os.mkfifo(path)
    fd = os.open(path, os.O_RDWR)
    fcntl.fcntl(fd, F_SETPIPE_SZ, size)
    return fd


def only_writer(path, both):
    fd = os.open(path, os.O_WRONLY)
    os.close(both)
    return fd


def fill(writer, data):
    """Writes until nothing more goes in for a while. Returns how much did."""
    os.set_blocking(writer, False)
    at, last = 0, time.monotonic()
    while at < len(data) and time.monotonic() < last + 0.3:
        with contextlib.suppress(BlockingIOError):
            at += os.write(writer, data[at:at + 60000])
            last = time.monotonic()
    os.set_blocking(writer, True)
    return at


@pytest.mark.parametrize("ends", [True, False], ids=["ends", "cut"])
@pytest.mark.parametrize("width", [20, 2000])
@pytest.mark.parametrize("kind", ["fifo", "socket"])
def test_a_stop_while_rows_wait_for_the_other_side_keeps_them(joind, tmp_path, kind, width, ends):
    left = b"".join(b"%06d,%s,%d\n" % (n, b"v" * width, 1700000000000 + n)
                    for n in range(8000000 // width // 4))
    paths = {side: tmp_path / f"{side}.fifo" for side in ("left", "right")}
    both = {side: both_ends(path, 1 << 20) for side, path in paths.items()}
    writer, its = (end.detach() for end in socket.socketpair())
    daemon = joind(text=configuration("tumbling", rejects={"file": "rejects.csv"},
                                      left={"file": "left.fifo" if kind == "fifo" else "-"},
                                      right={"file": "right.fifo"}), stdin=its)
    os.close(its)
    if kind == "fifo":
        os.close(writer)
        writer = only_writer(paths["left"], both["left"])
    other = only_writer(paths["right"], both["right"])
    os.write(other, b"1,w,1700000000005\n")
    written = fill(writer, left)
    assert 60000 < written < len(left)

    daemon.signal(signal.SIGTERM)
    daemon.wait_log("stopping")
    if ends:
        os.close(other)
        end = left.index(b"\n", written) + 1
        os.write(writer, left[written:end])
        os.close(writer)
    else:
        end = left.rindex(b"\n", 0, written) + 1
    daemon.wait_exit(expect=0)
    rows = (tmp_path / "out.csv").read_bytes().splitlines()
    assert sorted(rows) == sorted([row + b",,," for row in left[:end].splitlines()] +
                                  [b",,,1,w,1700000000005"])
    torn = left[end:written] if not ends else b""
    assert [row[4] for row in daemon.rejects()] == ([torn] if torn else [])
    if not ends:
        os.close(other)
        os.close(writer)


def test_max_ahead_does_not_look_at_files(folder):
    far = b"k,v,250000000000000\n"      # in the year 9892
    (folder / "left.csv").write_bytes(far)
    (folder / "right.csv").write_bytes(far)
    assert replay(folder, "tumbling")[0] == far.strip() + b"," + far
