#!/usr/bin/env python3
"""The benchmark of joind: what a join costs, measured against the least it could cost.

Two contenders move the same bytes in turn: joind, and the pump, which only copies (pump.c).
README.md says what is measured and why so; the names P1 ... P10 and E1 ... of the figures stand
there too.

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
import others
from machine import describe_machine, settle_congestion
from outputs import check_copy, check_pairs
from programs import Failure, say
from rig import CONFIG, Rig

PARTS = ["processing", "inside", "shapes", "files", "latency", "idle", "event", "held"]
COLD_PAIRS = 3
# How much of all, and how much with --quick.
AMOUNTS = {
    "pairs": (10, 3),
    "blocks": (10, 4),
    "event_pairs": (3, 1),
    "event_blocks": (16, 4),
    "largest": (10_000_000, 1_000_000),
    "shape_lines": (2_000_000, 1_000_000),
    "shape_runs": (3, 1),
    "file_runs": (3, 1),
    "latency_pairs": (12, 3),
    "latency_seconds": (1, 1),
}
CONNECTIONS = 1000
# By the name in the samples, and what a run of theirs is told.
PAIR = {"pump": {}, "joind": {}}
ONE_THREAD = {"pump": {}, "joind": {"threads": 1}}


def one_and_two(rig, config):
    """With two threads too, where joind has them."""
    if not rig.takes("process.threads=2", config):
        return ONE_THREAD
    return ONE_THREAD | {figures.TWO_THREADS: {"threads": 2}}


def in_turn(rig, run, pairs, *argv, contenders=PAIR, **named):
    samples = {who: [] for who in contenders}
    for _ in range(pairs):
        for who, told in contenders.items():
            samples[who].append(rig.attempt(run, who.split(",")[0], *argv, **named, **told))
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
    contenders = one_and_two(rig, CONFIG.format(window="1s"))
    bursts = in_turn(rig, rig.run_bursts, options.pairs, short, contenders=contenders)
    stages = rig.inside(short)
    say(f"{size} B: some pairs in one window")
    stream = in_turn(rig, rig.run_stream, min(options.pairs, COLD_PAIRS), large,
                     contenders=ONE_THREAD)
    say(f"{size} B: system calls")
    traced = {}
    if shutil.which("strace"):
        traced = in_turn(rig, rig.run_bursts, 1, short, contenders=contenders, trace=True)
    short.remove()
    large.remove()

    name = f"{size} B, window of {options.hold_keys} keys"
    rows = [
        *figures.cpu_figures("P1", f"{size} B, {options.keys} keys a window", bursts,
                             figures.CPU_MARKS[size]),
        *figures.stage_figures(bursts, stages),
        *figures.cpu_figures("", f"{size} B, {options.hold_keys} keys at once, cold", stream),
        *figures.held_figures(name, hold, large, figures.MEMORY_MARKS[size],
                              figures.TURN_MARKS["1M"]),
        *figures.steady_figures(size, bursts, traced),
    ]
    return rows, {"bursts": bursts, "stream": stream, "hold": hold, "traced": traced}


def check_match(rig, match):
    """Not with fresh keys: windows, gaps and bounds must have something to decide."""
    data = rig.generate(match.line_bytes, matches.CHECK_LINES, matches.CHECK_BLOCKS,
                        match.input_options, match.repeats)
    expected = list(matches.expected_rows(match, data))
    data.joined_bytes = sum(map(len, expected))
    kept = rig.directory / "kept"
    rig.attempt(rig.run_stream, "joind", data, config=match.config, right=match.right, keep=kept)
    matches.check_rows(match, kept, expected)
    data.remove()


def generate_warm(rig, shape, match, blocks=None):
    blocks = blocks or shape.blocks
    return rig.generate(shape.line_bytes, shape.keys, shape.warm + blocks,
                        (*match.input_options, "-f", "-x"), warm=shape.warm)


def measure_wall(rig, shape, data, match):
    """The same in wall time, also with two threads where joind has them."""
    say(f"{shape.line_bytes} B: {rig.options.pairs} pairs in wall time")
    samples = in_turn(rig, rig.run_warm, rig.options.pairs, data, match.config,
                      contenders=one_and_two(rig, match.config))
    stages = rig.inside(data, event=True)
    return [*figures.wall_figures(shape.line_bytes, shape.title, samples),
            *figures.stage_figures(samples, stages)], samples


def measure_shapes(rig):
    """Windows and a keyed join over inputs of many shapes, all in turn; memory is warm."""
    options = rig.options
    shapes = matches.shapes(options.shape_lines, options.largest)
    inputs, rows, samples = {}, [], {"window": {}, "keyed": {}, "wall": {}}
    for shape in shapes:
        say(f"{shape.title}: is the output right?")
        both = shape.matches()
        for match in both.values():
            check_match(rig, match)
        data = generate_warm(rig, shape, both["window"])
        inputs[shape] = {kind: match.measured(data) for kind, match in both.items()}
        if shape.title in matches.WALL_TITLES:
            wall, samples["wall"][shape.title] = measure_wall(rig, shape, inputs[shape]["window"],
                                                              both["window"])
            rows += wall
    for n in range(options.shape_runs):
        say(f"all shapes, run {n + 1} of {options.shape_runs}")
        for shape, data_of in inputs.items():
            for kind, match in shape.matches().items():
                sample = rig.attempt(rig.run_warm, "joind", data_of[kind], match.config)
                samples[kind].setdefault(shape.title, []).append(sample)
    for data_of in inputs.values():
        data_of["window"].remove()
    return rows + figures.shape_figures(shapes, samples), samples


def measure_files(rig):
    """What else joins two files: joind gets the same records over sockets."""
    options = rig.options
    shape = matches.Shape(f"{options.hold_keys} keys", options.hold_keys, 1)
    match = shape.matches()["window"]
    check_match(rig, match)
    data = match.measured(generate_warm(rig, shape, match))
    contenders = others.contenders(rig, rig.last_block(data))
    for who, run in contenders.items():
        say(f"{who}: is the output right?")
        run(check=True)
    samples = {who: [] for who in ["joind", *contenders]}
    for n in range(options.file_runs):
        say(f"joind and joins of files, run {n + 1} of {options.file_runs}")
        samples["joind"].append(rig.attempt(rig.run_warm, "joind", data, match.config, threads=1))
        for who, run in contenders.items():
            samples[who].append(run())
    data.remove()
    return figures.file_figures(options.hold_keys, samples), samples


def measure_latency(rig):
    config = matches.LATENCY.config
    rows, samples = [], {}
    for rate in figures.LATENCY_MARKS:
        say(f"{rate} records/s: {rig.options.latency_pairs} pairs")
        taken = in_turn(rig, rig.run_latency, rig.options.latency_pairs, config, rate,
                        rig.options.latency_seconds)
        rows += figures.latency_figures(rate, taken)
        samples[str(rate)] = taken
    return rows, samples


def measure_inside(rig):
    """Joins in memory, in turn. Short blocks: the best of many is what nothing disturbed."""
    keys, blocks, rounds = 5000, 100, 3 if rig.options.quick else 10
    plain = rig.generate(40, keys, blocks)
    samples = {shape: [] for shape in ("plain", *figures.INSIDE_MARKS)}
    say(f"in memory, {rounds} rounds")
    for _ in range(rounds):
        for shape, runs in samples.items():
            runs.append(rig.inside(plain) if shape == "plain"
                        else rig.inside_shape(shape, keys, blocks))
    plain.remove()
    return figures.inside_figures(samples), samples


def measure_idle(rig):
    say(f"{CONNECTIONS} idle connections")
    idle, connected = (rig.attempt(rig.run_idle, matches.LATENCY.config, connections)
                       for connections in (0, CONNECTIONS))
    return figures.idle_figures(CONNECTIONS, idle, connected), [idle, connected]


def measure_matches(rig):
    """All joins; those whose inputs have the same shape share them."""
    options = rig.options
    rows, samples, inputs = [], {}, {}
    for number, match in enumerate(matches.MATCHES, 1):
        if options.match and options.match not in match.title:
            continue
        say(f"{match.title}: is the output right?")
        check_match(rig, match)
        blocks = min(match.blocks or options.event_blocks, options.event_blocks)
        shape = (match.input_options + (("-f",) if match.fresh else ()), blocks)
        if shape not in inputs:
            inputs[shape] = rig.generate(match.line_bytes, options.keys, blocks, shape[0],
                                         match.repeats)
        data = match.measured(inputs[shape])
        say(f"{match.title}: {options.event_pairs} pairs")
        taken = in_turn(rig, rig.run_stream, options.event_pairs, data, config=match.config,
                        right=match.right)
        rows += figures.match_figures(number, match, data, taken)
        samples[match.title] = taken
    for data in inputs.values():
        data.remove()
    return rows, samples


def measure_held(rig):
    """Few runs each: what these show hardly depends on load."""
    runs = 1 if rig.options.quick else 2
    rows, samples = [], {}
    later = rig.write_inputs(*matches.LATER_LINES)
    for case in matches.held_cases(rig.options.hold_keys, rig.options.largest):
        match = case.match
        say(f"{match.title}: held")
        data = match.measured(rig.generate(match.line_bytes, case.lines, 1, match.input_options,
                                           match.repeats))
        taken = [rig.attempt(rig.run_hold_event, data, later, match.config) for _ in range(runs)]
        data.remove()
        rows += figures.held_figures(f"{match.line_bytes} B, {match.title}", taken, data,
                                     figures.HELD_MARKS.get(case.memory),
                                     figures.TURN_MARKS[case.turn])
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
    parser.add_argument("--event-pairs", type=int, help="the same for each kind of join (3)")
    parser.add_argument("--event-blocks", type=int, help="blocks of such a run (16)")
    parser.add_argument("--largest", type=int, help="keys of the largest window (10000000)")
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
    for name, (full, quick) in AMOUNTS.items():
        if getattr(options, name, None) is None:
            setattr(options, name, quick if options.quick else full)
    options.part = options.part or PARTS
    options.size = options.size or sorted(figures.CPU_MARKS)
    return options


def data_folder(options):
    """All inputs of one part must fit into it, with one kept output."""
    keys = options.keys * (options.warm + options.blocks) + options.hold_keys
    event = 2 * options.keys * options.event_blocks
    shapes = 10 * options.shape_lines + 2 * options.largest
    needed = 2 * max(2 * keys * max(options.size), (3 * event + shapes) * 40)
    folders = [options.dir] if options.dir else ["/dev/shm", tempfile.gettempdir()]
    for folder in folders:
        if pathlib.Path(folder).is_dir() and shutil.disk_usage(folder).free > needed:
            return folder
    raise Failure(f"needs {needed >> 20} MiB in {' or '.join(folders)} (--dir)")


def parts(rig):
    """What is measured, in this order: a function for each name of the samples."""
    options = rig.options
    all_parts = {str(size): functools.partial(measure, rig, size) for size in options.size}
    if "processing" not in options.part:
        all_parts.clear()
    others_of = {"inside": measure_inside, "shapes": measure_shapes, "files": measure_files, "latency": measure_latency,
                 "idle": measure_idle, "event": measure_matches, "held": measure_held}
    for name, function in others_of.items():
        if name in options.part:
            all_parts[name] = functools.partial(function, rig)
    return all_parts


def run(options, congestion):
    """False: a part failed. What the others gave is told all the same."""
    folder = data_folder(options)
    rows, samples, good = [], {}, True
    with tempfile.TemporaryDirectory(prefix="joind-bench-", dir=folder) as directory:
        rig = Rig(options, pathlib.Path(directory))
        for name, part in parts(rig).items():
            try:
                new_rows, samples[name] = part()
                rows += new_rows
            except (Failure, subprocess.CalledProcessError, OSError) as reason:
                say(f"failed: {reason}")
                good = False
            finally:
                rig.clean_up()
    machine = describe_machine(congestion, folder)
    machine["spoiled runs"] = rig.spoiled
    figures.print_table(machine, rows)
    figures.write_json(options.json, machine, options, rows, samples)
    return good


def main():
    options = parse_arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        return 0 if run(options, settle_congestion()) else 1
    except (Failure, OSError) as reason:
        say(f"failed: {reason}")
        return 1


if __name__ == "__main__":
    sys.exit(main())
