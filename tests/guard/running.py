#!/usr/bin/env python3
"""Figures of the running daemon that hardly depend on load from elsewhere, against their gates.

Page faults, system calls, memory a held byte, the longest turn of the loop in CPU time: as the
benchmark measures them (tests/bench), with less data, and only in event time, so that no clock
decides what happens. With --sanitized only the turn is looked at, and generously.
"""

import argparse
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "bench"))
# ruff: noqa: E402
import figures
import matches
from machine import settle_congestion
from programs import Failure
from rig import Rig

KEYS = 50_000  # a window
WARM, BLOCKS = 4, 10
BUFFER_PAGES = 128  # what is read into and written from: touched once, when that may be
HELD = 300_000  # lines a side
SANITIZED_HELD = 30_000
SANITIZED_TURN_MS = 50
ATTEMPTS = 3  # another program can only make a figure worse


def flow(rig):
    """Page faults and system calls, steady."""
    match = matches.Shape("", KEYS, BLOCKS).matches()["window"]
    data = match.measured(rig.generate(match.line_bytes, KEYS, WARM + BLOCKS,
                                       (*match.input_options, "-f", "-x"), warm=WARM))
    sample = rig.attempt(rig.run_warm, "joind", data, match.config, steps=True)
    traced = rig.attempt(rig.run_warm, "joind", data, match.config, steps=True, trace=True)
    data.remove()
    calls = traced.syscalls and traced.syscalls / traced.mebibytes
    faults = max(sample.faults - BUFFER_PAGES, 0) / sample.lines * 1e6
    return [
        ("page faults a million records, steady", faults, figures.FAULT_MARKS[0]),
        ("system calls a MiB in and out", calls, figures.SYSCALL_MARKS[0]),
    ]


def held(rig, match, gate, lines=HELD, turn_ms=figures.TURN_MARKS["1M"][0]):
    """Memory while all is held (without a gate: not looked at), and what it takes to let go."""
    data = match.measured(rig.generate(match.line_bytes, lines, 1, match.input_options,
                                       match.repeats))
    later = rig.write_inputs(*matches.LATER_LINES)
    sample = rig.attempt(rig.run_hold_event, data, later, match.config)
    data.remove()
    later.remove()
    turn = (f"longest turn of the loop, ms of CPU, {match.title}", sample.turn_cpu_us / 1000,
            turn_ms)
    memory = (f"memory a held byte, {match.title}", sample.held_bytes / data.bytes, gate)
    return [memory, turn] if gate else [turn]


def checks(sanitized):
    """Functions that measure: each gives rows of what it is, how much, and how much it may be."""
    window = matches.Match("window", "tumbling", matches.TUMBLING)
    long_lines = matches.Match("window, 120 B", "tumbling", matches.TUMBLING, csv_bytes=120)
    one = matches.Match("interval, 1 record a key", "interval", matches.INTERVAL, percent=0)
    four = matches.Match("interval, 4 records a key", "interval", matches.INTERVAL, repeats=2)
    gap = {"gap": matches.BLOCK_MS}
    lone = matches.Match("session, 1 record a key", "session", gap, percent=0)
    pairs = matches.Match("session, 4 records a key", "session", gap, repeats=2)
    if sanitized:
        return [lambda rig, match=match: held(rig, match, None, SANITIZED_HELD, SANITIZED_TURN_MS)
                for match in (window, four)]
    return [
        flow,
        lambda rig: held(rig, window, figures.MEMORY_MARKS[40][0]),
        lambda rig: held(rig, long_lines, figures.MEMORY_MARKS[120][0]),
        lambda rig: held(rig, one, figures.HELD_MARKS["keyed 1"][0]),
        lambda rig: held(rig, four, figures.HELD_MARKS["keyed 4"][0]),
        lambda rig: held(rig, lone, figures.HELD_MARKS["keyed 1"][0]),
        lambda rig: held(rig, pairs, figures.HELD_MARKS["keyed 4"][0]),
    ]


def is_good(row):
    _, value, gate = row
    return value is None or value <= gate


def report(rows):
    for what, value, gate in rows:
        number = "n/a" if value is None else f"{value:.2f}"
        verdict = "" if is_good((what, value, gate)) else "TOO MUCH"
        print(f"{what:58} {number:>8}  at most {gate:6.2f}  {verdict}".rstrip(), flush=True)


def measure(rig, sanitized):
    good = True
    for check in checks(sanitized):
        for _ in range(ATTEMPTS):
            rows = check(rig)
            report(rows)
            if all(map(is_good, rows)):
                break
        else:
            good = False
    return good


def absolute(path):
    return pathlib.Path(path).absolute()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--joind", type=absolute, required=True)
    parser.add_argument("--tools", type=absolute, required=True, help="those of tests/bench")
    parser.add_argument("--sanitized", action="store_true")
    options = parser.parse_args()
    options.set = []
    settle_congestion()
    folder = "/dev/shm" if pathlib.Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(prefix="joind-guard-", dir=folder) as directory:
        rig = Rig(options, pathlib.Path(directory))
        try:
            return 0 if measure(rig, options.sanitized) else 1
        except (Failure, OSError) as reason:
            print(f"failed: {reason}")
            return 1
        finally:
            rig.clean_up()


if __name__ == "__main__":
    sys.exit(main())
