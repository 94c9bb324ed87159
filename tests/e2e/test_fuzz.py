"""Mutated input on both ports. It prints its seed; JOIND_FUZZ_SEED repeats a run."""

import os
import random
import time

import pytest

from joind import SANITIZED, wait_until

KEYS = ["a", "b", "key", '"quoted, key"', "", '""', "0", "é"]
VALUES = ["1", "-7", "9223372036854775807", "2.5", "1e10", "true", "false", "",
          "2026-01-02T03:04:05Z", '"x""y"', "plain text", " spaced "]
CHUNKS = [b"\n", b"\r\n", b"\r", b'"', b",", b"\0", b"\xff\xf4\xff\xfd\x06", b"\xef\xbb\xbf",
          b"\n\n", b'""', b",,", b"-", b"1e999", b"\xc0\x80", b"GET / HTTP/1.1\r\n", b"{",
          b"x" * 300]


def line(dice):
    """A line that is right, or nearly: key, bigint, double, boolean, text."""
    key = dice.choice(KEYS) if dice.random() < 0.1 else f"key {dice.randrange(2000)}"
    return ",".join([key, str(dice.randint(-9, 99)), repr(dice.uniform(-5, 5)),
                     dice.choice(["true", "false", ""]), dice.choice(VALUES)]).encode() + b"\n"


def mutated(dice, data):
    data = bytearray(data)
    for _ in range(dice.choice([0, 0, 0, 1, 2, 5])):
        at = dice.randrange(len(data) + 1)
        how = dice.randrange(5)
        if how == 0 and data:
            data[at % len(data)] = dice.randrange(256)
        elif how == 1:
            data[at:at] = dice.choice(CHUNKS)
        elif how == 2:
            del data[at:at + dice.randint(1, 20)]
        elif how == 3:
            data[at:at] = data[dice.randrange(len(data) + 1):][:40]
        else:
            data[at:at] = dice.randbytes(dice.randint(1, 20))
    return bytes(data)


def throw(daemon, dice, seconds):
    """Random pieces on a few connections a side, which end in all ways; returns bytes thrown."""
    feeders = []
    thrown = 0
    until = time.monotonic() + seconds
    checked = 0
    while time.monotonic() < until:
        if len(feeders) < 8:
            feeders.append(daemon.connect(dice.choice(["left", "right"])))
            if dice.random() < 0.2:
                feeders[-1].send(b"\xef\xbb\xbf")
        feeder = dice.choice(feeders)
        data = b"".join(mutated(dice, line(dice)) for _ in range(dice.choice([1, 5, 200])))
        if dice.random() < 0.05:
            data = dice.randbytes(dice.choice([1, 100, 70000]))
        feeder.send(data[:dice.randint(0, len(data))] if dice.random() < 0.3 else data)
        thrown += len(data)
        if dice.random() < 0.05:
            feeders.remove(feeder)
            dice.choice([feeder.reset, feeder.close, feeder.finish])()
        if time.monotonic() > checked + 0.5:
            checked = time.monotonic()
            daemon.assert_books_balance()
            assert daemon.is_running(), daemon.log_text()
    for feeder in feeders:
        feeder.finish()
    return thrown


def fuzz(joind, seconds):
    seed = int(os.environ.get("JOIND_FUZZ_SEED", random.SystemRandom().randrange(1 << 32)))
    print(f"JOIND_FUZZ_SEED={seed}")
    fields = "k, n bigint, d double, b boolean, t"
    # What the address sanitizer keeps of freed memory is not the daemon's.
    asan = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=8"}
    daemon = joind(env=asan, left={"fields": fields, "max_line": "1K", "where": "b"},
                   right={"fields": fields, "max_line": "1K"}, join={"size": "1s", "type": "full"},
                   state={"memory": "4M"}, output={"absent": "discard", "slow": "discard"},
                   rejects={"listen": "127.0.0.1:0"})
    dice = random.Random(seed)
    throw(daemon, dice, min(2, seconds / 4))
    memory = daemon.memory()
    thrown = throw(daemon, dice, seconds)
    assert thrown > 1 << 18
    metrics = daemon.assert_books_balance()
    for side in ("left", "right"):
        books = metrics.books(side)
        assert books["rejected"] > 100 and books["matched"] > 100, books
    # What the quick run has not touched yet: the state's limit and the outputs' buffers.
    bound = (64 if SANITIZED else 16) << 20
    assert daemon.memory() - memory < bound, f"memory grew from {memory} to {daemon.memory()}"

    daemon.wait_books("left", held=0)
    daemon.wait_books("right", held=0)
    subscriber = daemon.subscribe()
    for _ in range(5):      # a pair may fall on both sides of a window's edge
        daemon.send("left", b"fresh,1,1,true,left\n")
        daemon.send("right", b"fresh,1,1,true,right\n")
        daemon.wait_books("left", held=0)
        if b"fresh,1,1,true,left,fresh,1,1,true,right\n" in subscriber.data:
            break
    else:
        raise AssertionError("a fresh pair does not join")
    wait_until(lambda: daemon.connections("left") + daemon.connections("right") == 0, 10,
               "the end of all connections")
    daemon.stop(expect=0)


def test_some_seconds_of_mutated_input_do_no_harm(joind):
    fuzz(joind, 5)


@pytest.mark.slow
def test_two_minutes_of_mutated_input_do_no_harm(joind):
    fuzz(joind, 120)
