#!/usr/bin/env python3
"""The benchmark of joind: what a join costs, measured against the least it could cost.

Two contenders move the same bytes in turn: joind, and the pump, which only copies (pump.c).
README.md says what is measured and why so; the names P1 ... P8 of the figures stand there too.

The exit status is 1 when an output is wrong or a program fails, and 0 otherwise: a figure
behind its gate is printed as a miss, but it fails nothing.
"""

import argparse
import dataclasses
import json
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the source tree stays as it is
from rig import Failure, Rig, describe_machine, say, settle_congestion  # noqa: E402


# Outputs


def expected_pairs(data):
    """The join, computed in the plainest way there is."""
    left, right = (path.read_bytes().splitlines() for path in (data.left, data.right))
    pairs = []
    for begin in range(0, len(left), data.keys):
        of_key = {line[:10]: line for line in right[begin : begin + data.keys]}
        pairs += (line + b"," + of_key[line[:10]] for line in left[begin : begin + data.keys])
    return pairs


def check_pairs(data, output):
    """The joind's output, as a multiset of lines."""
    if sorted(output.read_bytes().splitlines()) != sorted(expected_pairs(data)):
        raise Failure(f"joind's output of {data.line_bytes}-byte lines is wrong")
    output.unlink()


def check_copy(data, output):
    """The pump's output, which mixes the two sides anywhere within lines."""
    copied, left, right = (p.read_bytes() for p in (output, data.left, data.right))
    for byte in (b"\n", b",", b"L", b"R", b"7", b"a"):
        if copied.count(byte) != left.count(byte) + right.count(byte):
            raise Failure(f"the pump's output of {data.line_bytes}-byte lines is wrong")
    output.unlink()


# Figures


@dataclasses.dataclass
class Figure:
    """One row of the table."""

    name: str
    what: str
    value: float
    unit: str
    gate: float = None
    goal: float = None
    more_is_better: bool = False
    digits: int = 2

    def reaches(self, mark):
        return self.value >= mark if self.more_is_better else self.value <= mark

    @property
    def verdict(self):
        if self.value is None:
            return "n/a"
        if self.goal is not None and self.reaches(self.goal):
            return "goal"
        if self.gate is None:
            return ""
        return "gate" if self.reaches(self.gate) else "MISS"

    def row(self):
        def text(number):
            return "-" if number is None else f"{number:.{self.digits}f}"

        value = "n/a" if self.value is None else text(self.value)
        return (self.name, self.what, value, self.unit, text(self.gate), text(self.goal),
                self.verdict)


# By bytes a line: what may be merged now, and what is aimed at.
CPU_MARKS = {40: (0.15, 0.30), 120: (0.20, 0.38)}
WALL_MARKS = {40: (None, 0.50), 120: (None, 0.60)}
MEMORY_MARKS = {40: (1.45, 1.28), 120: (1.20, 1.10)}
TURN_MARKS = (5.0, 2.0)
FAULT_MARKS = (10, 0)
SYSCALL_MARKS = (16, 12)


def least(samples, field):
    return min(getattr(sample, field) for sample in samples)


def cpu_figures(name, size, what, samples, marks=(None, None)):
    """The best of each contender: load from elsewhere only ever adds to it."""
    cpu_ns = {who: least(taken, "cpu_ns") for who, taken in samples.items()}
    lines = samples["joind"][0].lines
    return [
        Figure(name, f"CPU pump / joind, {size} B, {what}", cpu_ns["pump"] / cpu_ns["joind"], "",
               *marks, more_is_better=True, digits=3),
        Figure("", "  pump, a line", cpu_ns["pump"] / lines, "ns", digits=1),
        Figure("", "  joind, a line", cpu_ns["joind"] / lines, "ns", digits=1),
    ]


def wall_figures(size, what, samples):
    """The two runs of a pair met the same load, if any: their ratios are what is compared."""
    ratios = [p.wall_ns / j.wall_ns for p, j in zip(samples["pump"], samples["joind"])]
    lines_a_second = samples["joind"][0].lines / least(samples["joind"], "wall_ns") * 1e9
    return [
        Figure("P2", f"wall pump / joind, {size} B, {what}", statistics.median(ratios), "",
               *WALL_MARKS[size], more_is_better=True, digits=3),
        Figure("", "  joind, lines a second", lines_a_second / 1e6, "M", digits=1),
    ]


def hold_figures(size, data, samples):
    """These do not depend on load: the worst counts."""
    held_bytes = max(sample.held_bytes for sample in samples)
    turns = [sample.turn_cpu_us for sample in samples]
    return [
        Figure("P4", f"memory a held byte, {size} B", held_bytes / data.bytes, "",
               *MEMORY_MARKS[size], digits=3),
        Figure("P5", f"longest turn of the loop in CPU time, {size} B",
               None if None in turns else max(turns) / 1000, "ms", *TURN_MARKS),
    ]


def steady_figures(size, bursts, traced):
    faults = statistics.median(s.faults / s.lines * 1e6 for s in bursts["joind"])
    calls = {
        who: None if sample is None or sample.syscalls is None
        else sample.syscalls / sample.mebibytes
        for who, sample in traced.items()
    }
    return [
        Figure("P8", f"page faults a million records, {size} B", faults, "", *FAULT_MARKS,
               digits=1),
        Figure("P8", f"system calls a MiB in + out, {size} B", calls["joind"], "",
               *SYSCALL_MARKS, digits=1),
        Figure("", "  pump", calls["pump"], "", digits=1),
    ]


# The whole


def in_turn(rig, run, data, pairs):
    samples = {"pump": [], "joind": []}
    for _ in range(pairs):
        for contender, taken in samples.items():
            taken.append(rig.attempt(run, contender, data))
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
    """All figures of one length of lines, and the samples behind them."""
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
    for data in (short, large):
        data.left.unlink()
        data.right.unlink()

    in_bursts = f"{options.keys} keys a window"
    at_once = f"{options.hold_keys} keys at once, cold"
    figures = [
        *cpu_figures("P1", size, in_bursts, bursts, CPU_MARKS[size]),
        *cpu_figures("", size, at_once, stream),
        *wall_figures(size, at_once, stream),
        *hold_figures(size, large, hold),
        *steady_figures(size, bursts, traced),
    ]
    return figures, {"bursts": bursts, "stream": stream, "hold": hold, "traced": traced}


def print_table(machine, figures):
    rows = [("", "figure", "value", "", "gate", "goal", "")] + [f.row() for f in figures]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    print(", ".join(f"{name} {value}" for name, value in machine.items()))
    for row in rows:
        name, what, value, unit, gate, goal, verdict = (
            cell.rjust(width) if i in (2, 4, 5) else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths))
        )
        print(f"{name}  {what}  {value} {unit}  {gate}  {goal}  {verdict}".rstrip())


def write_json(path, machine, options, figures, samples):
    def plain(thing):
        return dataclasses.asdict(thing) if dataclasses.is_dataclass(thing) else str(thing)

    report = {
        "machine": machine,
        "options": vars(options),
        "figures": [dict(plain(f), verdict=f.verdict) for f in figures],
        "samples": samples,
    }
    path.write_text(json.dumps(report, default=plain, indent=2) + "\n")


def absolute(path):
    return pathlib.Path(path).absolute()


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--joind", type=absolute, required=True, help="the program to be measured")
    parser.add_argument("--tools", type=absolute, required=True,
                        help="the folder with pump, sender, sink and generate")
    parser.add_argument("--json", type=absolute, default="bench.json",
                        help="where the figures go too (bench.json)")
    parser.add_argument("--quick", action="store_true", help="3 pairs and shorter runs")
    parser.add_argument("--pairs", type=int, help="how often each contender runs (10)")
    parser.add_argument("--blocks", type=int, help="measured windows of a run (10)")
    parser.add_argument("--warm", type=int, default=3, help="windows before them (3)")
    parser.add_argument("--keys", type=int, default=100_000, help="keys a window (100000)")
    parser.add_argument("--hold-keys", type=int, default=1_000_000,
                        help="keys of the one large window (1000000)")
    parser.add_argument("--window-ms", type=int, default=400, help="size of a window (400)")
    parser.add_argument("--hold-ms", type=int, default=4000,
                        help="size of the window that memory is measured in (4000)")
    parser.add_argument("--size", type=int, action="append", choices=sorted(CPU_MARKS),
                        help="bytes a line (both)")
    parser.add_argument("--set", action="append", default=[], metavar="SECTION.KEY=VALUE",
                        help="passed on to joind")
    parser.add_argument("--dir", help="a tmpfs for the data (/dev/shm)")
    options = parser.parse_args()
    options.pairs = options.pairs or (3 if options.quick else 10)
    options.blocks = options.blocks or (4 if options.quick else 10)
    options.size = options.size or sorted(CPU_MARKS)
    return options


def data_folder(options):
    """Inputs of both shapes and one kept output must fit into it."""
    keys = options.keys * (options.warm + options.blocks) + options.hold_keys
    needed = 2 * 2 * keys * max(options.size)
    folders = [options.dir] if options.dir else ["/dev/shm", tempfile.gettempdir()]
    for folder in folders:
        if pathlib.Path(folder).is_dir() and shutil.disk_usage(folder).free > needed:
            return folder
    raise Failure(f"needs {needed >> 20} MiB in {' or '.join(folders)} (--dir)")


def run(options, congestion):
    folder = data_folder(options)
    figures, samples = [], {}
    with tempfile.TemporaryDirectory(prefix="joind-bench-", dir=folder) as directory:
        rig = Rig(options, pathlib.Path(directory))
        try:
            for size in options.size:
                new_figures, samples[size] = measure(rig, size)
                figures += new_figures
        finally:
            rig.clean_up()
    machine = describe_machine(congestion, folder)
    machine["spoiled runs"] = rig.spoiled
    print_table(machine, figures)
    write_json(options.json, machine, options, figures, samples)


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
