#!/usr/bin/env python3
"""The benchmark of joind: what a join costs, measured against the least it could cost.

Two contenders move the same bytes in turn: joind, and the pump, which only copies (pump.c).
README.md says what is measured and why so; the names P1 ... P8 and E1 ... E9 of the figures
stand there too.

The exit status is 1 when an output is wrong or a program fails, and 0 otherwise: a figure
behind its gate is printed as a miss, but it fails nothing.
"""

import argparse
import functools
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

# ruff: noqa: E402
sys.dont_write_bytecode = True  # the source tree stays as it is
import figures
import matches
from machine import describe_machine, settle_congestion
from outputs import check_copy, check_pairs
from programs import Failure, say
from rig import Rig

EVENT_LINE_BYTES = 40
PARTS = ["processing", "event", "held"]


def in_turn(rig, run, data, pairs, **named):
    samples = {"pump": [], "joind": []}
    for _ in range(pairs):
        for contender, taken in samples.items():
            taken.append(rig.attempt(run, contender, data, **named))
    return samples


def check_outputs(rig, short, large, kept):
    """No figure counts before this. Returns the run that held a large window."""
    rig.attempt(rig.run_bursts, "pump", short, keep=kept)
    check_copy(short, kept)
    rig.attempt(rig.run_bursts, "joind", short, keep=kept)
    check_pairs(short, kept)
    hold = rig.attempt(rig.run_hold, large, keep=kept)
    check_pairs(large, kept)
    return hold


def measure(rig, size):
    """All figures of one length of lines in processing time, and the samples behind them."""
    options = rig.options
    short = rig.generate(size, options.keys, options.warm + options.blocks)
    large = rig.generate(size, options.hold_keys, 1)

    say(f"{size} B: are the outputs right?")
    hold = [check_outputs(rig, short, large, rig.directory / "kept")]
    hold.append(rig.attempt(rig.run_hold, large))
    say(f"{size} B: {options.pairs} pairs in bursts")
    bursts = in_turn(rig, rig.run_bursts, short, options.pairs)
    say(f"{size} B: {options.pairs} pairs in one window")
    stream = in_turn(rig, rig.run_stream, large, options.pairs)
    say(f"{size} B: system calls")
    traced = dict.fromkeys(bursts)
    if shutil.which("strace"):
        for contender in traced:
            traced[contender] = rig.attempt(rig.run_bursts, contender, short, trace=True)
    short.remove()
    large.remove()

    in_bursts = f"{options.keys} keys a window"
    at_once = f"{options.hold_keys} keys at once, cold"
    rows = [
        *figures.cpu_figures("P1", size, in_bursts, bursts, figures.CPU_MARKS[size]),
        *figures.cpu_figures("", size, at_once, stream),
        *figures.wall_figures(size, at_once, stream),
        *figures.hold_figures(size, large, hold),
        *figures.steady_figures(size, bursts, traced),
    ]
    return rows, {"bursts": bursts, "stream": stream, "hold": hold, "traced": traced}


def check_match(rig, match):
    """Not with fresh keys: windows, gaps and bounds must have something to decide."""
    data = rig.generate(EVENT_LINE_BYTES, matches.CHECK_LINES, matches.CHECK_BLOCKS,
                        match.input_options, match.repeats)
    expected = list(matches.expected_rows(match, data))
    data.joined_bytes = sum(map(len, expected))
    kept = rig.directory / "kept"
    rig.attempt(rig.run_stream, "joind", data, config=match.config, keep=kept)
    matches.check_rows(match, kept, expected)
    data.remove()


def measure_matches(rig):
    """All joins in event time; those whose inputs have the same shape share them."""
    options = rig.options
    rows, samples, inputs = [], {}, {}
    for number, match in enumerate(matches.MATCHES, 1):
        if options.match and options.match not in match.title:
            continue
        say(f"{match.title}: is the output right?")
        check_match(rig, match)
        shape = (*match.input_options, "-f")
        if shape not in inputs:
            inputs[shape] = rig.generate(EVENT_LINE_BYTES, options.keys, options.event_blocks,
                                         shape, match.repeats)
        data = match.measured(inputs[shape])
        say(f"{match.title}: {options.event_pairs} pairs")
        taken = in_turn(rig, rig.run_stream, data, options.event_pairs, config=match.config)
        rows += figures.match_figures(number, match, taken)
        samples[match.title] = taken
    for data in inputs.values():
        data.remove()
    return rows, samples


def measure_held(rig):
    """Few runs each: what these show hardly depends on load."""
    runs = 1 if rig.options.quick else 2
    rows, samples = [], {}
    later = rig.write_inputs(*matches.LATER_LINES)
    for case in matches.held_cases(rig.options.hold_keys):
        match = case.match
        say(f"{match.title}: held")
        data = match.measured(rig.generate(EVENT_LINE_BYTES, case.lines, 1, match.input_options,
                                           match.repeats))
        taken = [rig.attempt(rig.run_hold_event, data, later, match.config) for _ in range(runs)]
        data.remove()
        rows += figures.held_match_figures(case, data, taken)
        samples[match.title] = taken
    return rows, samples


def absolute(path):
    return pathlib.Path(path).absolute()


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--joind", type=absolute, required=True, help="the program to be measured")
    parser.add_argument("--tools", type=absolute, required=True,
                        help="the folder with pump, sender, sink and generate")
    parser.add_argument("--json", type=absolute, default="bench.json",
                        help="where the figures go too (bench.json)")
    parser.add_argument("--quick", action="store_true", help="fewer and shorter runs")
    parser.add_argument("--part", action="append", choices=PARTS, help="only that one (all)")
    parser.add_argument("--match", metavar="WORD",
                        help="of the joins in event time, only those with this in their title")
    parser.add_argument("--pairs", type=int, help="how often each contender runs (10)")
    parser.add_argument("--blocks", type=int, help="measured windows of a run (10)")
    parser.add_argument("--warm", type=int, default=3, help="windows before them (3)")
    parser.add_argument("--event-pairs", type=int, help="the same for event time (4)")
    parser.add_argument("--event-blocks", type=int, help="blocks of a run in event time (16)")
    parser.add_argument("--keys", type=int, default=100_000, help="keys a window (100000)")
    parser.add_argument("--hold-keys", type=int, default=1_000_000,
                        help="keys of the one large window (1000000)")
    parser.add_argument("--window-ms", type=int, default=400, help="size of a window (400)")
    parser.add_argument("--hold-ms", type=int, default=4000,
                        help="size of the window that memory is measured in (4000)")
    parser.add_argument("--size", type=int, action="append", choices=sorted(figures.CPU_MARKS),
                        help="bytes a line (both)")
    parser.add_argument("--set", action="append", default=[], metavar="SECTION.KEY=VALUE",
                        help="passed on to joind")
    parser.add_argument("--dir", help="a tmpfs for the data (/dev/shm)")
    options = parser.parse_args()
    options.pairs = options.pairs or (3 if options.quick else 10)
    options.blocks = options.blocks or (4 if options.quick else 10)
    options.event_pairs = options.event_pairs or (2 if options.quick else 4)
    options.event_blocks = options.event_blocks or (6 if options.quick else 16)
    options.part = options.part or PARTS
    options.size = options.size or sorted(figures.CPU_MARKS)
    return options


def data_folder(options):
    """Inputs of both shapes and one kept output must fit into it; in event time three inputs."""
    keys = options.keys * (options.warm + options.blocks) + options.hold_keys
    event = options.keys * options.event_blocks
    needed = 2 * max(2 * keys * max(options.size), 3 * event * EVENT_LINE_BYTES)
    folders = [options.dir] if options.dir else ["/dev/shm", tempfile.gettempdir()]
    for folder in folders:
        if pathlib.Path(folder).is_dir() and shutil.disk_usage(folder).free > needed:
            return folder
    raise Failure(f"needs {needed >> 20} MiB in {' or '.join(folders)} (--dir)")


def parts(rig):
    """What is measured, in this order: a function for each name of the samples."""
    options = rig.options
    all_parts = {}
    if "processing" in options.part:
        for size in options.size:
            all_parts[str(size)] = functools.partial(measure, rig, size)
    if "event" in options.part:
        all_parts["event"] = functools.partial(measure_matches, rig)
    if "held" in options.part:
        all_parts["held"] = functools.partial(measure_held, rig)
    return all_parts


def run(options, congestion):
    folder = data_folder(options)
    rows, samples = [], {}
    with tempfile.TemporaryDirectory(prefix="joind-bench-", dir=folder) as directory:
        rig = Rig(options, pathlib.Path(directory))
        try:
            for name, part in parts(rig).items():
                new_rows, samples[name] = part()
                rows += new_rows
        finally:
            rig.clean_up()
    machine = describe_machine(congestion, folder)
    machine["spoiled runs"] = rig.spoiled
    figures.print_table(machine, rows)
    figures.write_json(options.json, machine, options, rows, samples)


def main():
    options = parse_arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        run(options, settle_congestion())
    except (Failure, subprocess.CalledProcessError, OSError) as reason:
        say(f"failed: {reason}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
