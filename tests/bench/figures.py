"""The figures of the benchmark: their marks, the table, the JSON file."""

import dataclasses
import json
import statistics


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
    absent: str = "n/a"  # why there is no value

    def reaches(self, mark):
        return self.value >= mark if self.more_is_better else self.value <= mark

    @property
    def verdict(self):
        if self.value is None:
            return self.absent
        if self.goal is not None and self.reaches(self.goal):
            return "goal"
        if self.gate is None:
            return ""
        return "gate" if self.reaches(self.gate) else "MISS"

    def row(self):
        def text(number):
            return "-" if number is None else f"{number:.{self.digits}f}"

        return (self.name, self.what, text(self.value), self.unit, text(self.gate),
                text(self.goal), self.verdict)


TWO_THREADS = "joind, two threads"  # their name in the samples; plain "joind" has one there

# By bytes a line, where it is a table: what may be merged now, and what is aimed at.
CPU_MARKS = {40: (0.22, 0.30), 120: (0.28, 0.38)}
WALL_MARKS = {40: (0.36, 0.50), 120: (0.42, 0.60)}
MEMORY_MARKS = {40: (1.45, 1.28), 120: (1.20, 1.10)}
HELD_MARKS = {"window": (1.45, 1.28), "keyed 1": (2.3, 1.8), "keyed 4": (1.7, 1.5)}  # 40 B
TURN_MARKS = {"1M": (5.0, 2.0), "10M": (10.0, 5.0)}  # records a side that are due at once
GROWTH_MARKS = {"window": (1.6, 1.4), "keyed": (2.6, 2.0)}  # from 10 k to 10 M keys
GROWTH_KEYS = (10_000, 10_000_000)
# In memory, by shape of inside.c: against the plain join.
INSIDE_MARKS = {"readme": (1.33, 1.15), "where": (1.63, 1.3), "quoted": (2.04, 1.4),
                "computed": (2.55, 1.7)}
FAULT_MARKS = (10, 0)
SYSCALL_MARKS = (16, 12)
FILE_MARKS = {"mawk": (20, 30), "join": (2, 3)}
LATENCY_MARKS = {50_000: ("P3c", 89, 30), 200_000: ("P6", 80, 30)}  # Flink has 890 at 50,000
IDLE_MARKS = (4, 2)


def least(samples, field):
    return min(getattr(sample, field) for sample in samples)


def cpu_a_line(samples):
    """The best of all: load from elsewhere only ever adds to it."""
    return least(samples, "cpu_ns") / samples[0].lines


def cpu_figures(name, what, samples, marks=(None, None)):
    ns = {who: cpu_a_line(taken) for who, taken in samples.items()}
    return [
        Figure(name, f"CPU pump / joind, {what}", ns["pump"] / ns["joind"], "", *marks,
               more_is_better=True, digits=3),
        *(Figure("", f"  {who}, a line", value, "ns", digits=1) for who, value in ns.items()),
    ]


def stage_figures(samples, stages):
    """`stages` are in memory; what is left of joind's CPU is that of the kernel and the loop."""
    inside = {name: ns for name, ns in stages.items() if name != "copy"}  # that is the kernel's
    inside["the rest: kernel, loop"] = cpu_a_line(samples["joind"]) - sum(inside.values())
    return [Figure("", f"  joind, of it: {name}", ns, "ns", digits=1)
            for name, ns in inside.items()]


def inside_figures(samples):
    """By shape the stages of each run; the quickest run counts. What is copied is the kernel's."""
    def of_run(stages):
        return sum(ns for name, ns in stages.items() if name != "copy")

    best = {shape: min(of_run(stages) for stages in runs) for shape, runs in samples.items()}
    rows = [Figure("", "in memory, a line: plain", best["plain"], "ns", digits=1)]
    for shape, marks in INSIDE_MARKS.items():
        rows += [Figure("P14b", f"in memory, {shape} / plain", best[shape] / best["plain"], "", *marks),
                 Figure("", f"  {shape}, a line", best[shape], "ns", digits=1)]
    return rows


def wall_ratio(one, other):
    """The two runs of a pair met the same load, if any: their ratios are what is compared."""
    return statistics.median(p.wall_ns / j.wall_ns for p, j in zip(one, other))


def wall_figures(size, what, samples):
    what = f"wall pump / joind, {size} B, {what}"
    one, two = samples["joind"], samples.get(TWO_THREADS)

    def lines_a_second(taken):
        return taken[0].lines / least(taken, "wall_ns") * 1e3

    return [
        Figure("P2", f"{what}, two threads", two and wall_ratio(samples["pump"], two), "",
               *WALL_MARKS[size], more_is_better=True, digits=3, absent="not in this version"),
        Figure("", "  one thread", wall_ratio(samples["pump"], one), "", digits=3),
        Figure("", "  two threads, lines a second", two and lines_a_second(two), "M", digits=1),
        Figure("", "  one thread, lines a second", lines_a_second(one), "M", digits=1),
    ]


def held_figures(name, samples, data, memory, turn):
    """These do not depend on load: the worst counts. `memory`, `turn`: their marks, or None."""
    rows = []
    if memory:
        held_bytes = max(sample.held_bytes for sample in samples)
        rows.append(Figure("P4", f"memory a held byte, {name}", held_bytes / data.bytes, "",
                           *memory, digits=3))
    turns = [sample.turn_cpu_us for sample in samples]
    rows.append(Figure("P5", f"longest turn of the loop in CPU time, {name}",
                       None if None in turns else max(turns) / 1000, "ms", *turn))
    return rows


def match_figures(number, match, data, samples):
    """The pump only moves the input; a join may write more than that."""
    figures = cpu_figures(f"E{number}", match.title, samples)[::2]
    joind = samples["joind"]
    cpu_ns, lines = least(joind, "cpu_ns"), joind[0].lines
    if data.results != lines // 2 and match.right != "table":
        figures.append(Figure("", "  joind, a result", cpu_ns / data.results, "ns", digits=1))
    if match.right == "table":
        figures.append(Figure("", "  joind, a row of the table",
                              least(joind, "load_ns") / (data.lines / 2), "ns", digits=1))
    return figures


def steady_figures(size, bursts, traced):
    def faults(who):
        taken = bursts.get(who)
        return taken and statistics.median(s.faults / s.lines * 1e6 for s in taken)

    def calls(who):
        taken = [s for s in traced.get(who, []) if s.syscalls is not None]
        return taken[0].syscalls / taken[0].mebibytes if taken else None

    return [
        Figure("P8", f"page faults a million records, {size} B", faults("joind"), "",
               *FAULT_MARKS, digits=1),
        Figure("", "  two threads", faults(TWO_THREADS), "", digits=1),
        Figure("P8", f"system calls a MiB in + out, {size} B", calls("joind"), "",
               *SYSCALL_MARKS, digits=1),
        Figure("", "  two threads", calls(TWO_THREADS), "", digits=1),
        Figure("", "  pump", calls("pump"), "", digits=1),
    ]


def shape_figures(shapes, samples):
    """How the cost of a record changes with the keys, and with all else about the inputs."""
    rows = []
    for kind, (gate, goal) in GROWTH_MARKS.items():
        ns = {shape: cpu_a_line(samples[kind][shape.title]) for shape in shapes}
        plain = {shape.keys: ns[shape] for shape in reversed(shapes)}
        few, many = GROWTH_KEYS[0], max(plain)
        marks = (gate, goal) if many == GROWTH_KEYS[1] else ()
        rows.append(Figure("P7", f"CPU a record at {many} keys / at {few} keys, {kind}",
                           plain[many] / plain[few], "", *marks))
        rows += [Figure("", f"  {kind}, {shape.title}", ns[shape], "ns", digits=1)
                 for shape in shapes]
    return rows


def file_figures(keys, samples):
    ns = {who: cpu_a_line(taken) for who, taken in samples.items()}
    names = {"mawk": "mawk hash join of files", "join": "GNU join of sorted files"}
    return [
        *(Figure("P9", f"CPU {name} / joind, {keys} keys", ns.get(who) and ns[who] / ns["joind"],
                 "", *FILE_MARKS[who], more_is_better=True, digits=1)
          for who, name in names.items()),
        *(Figure("", f"  {who}, a line", value, "ns", digits=1) for who, value in ns.items()),
    ]


def latency_figures(rate, samples):
    name, gate, goal = LATENCY_MARKS[rate]
    us = {who: least(taken, "p50_ns") / 1000 for who, taken in samples.items()}
    return [
        Figure(name, f"interval join, latency added to the pump's, p50, {rate} records/s",
               us["joind"] - us["pump"], "us", gate, goal, digits=1),
        *(Figure("", f"  {who}, p50", value, "us", digits=1) for who, value in us.items()),
        *(Figure("", f"  {who}, p99", least(taken, "p99_ns") / 1000, "us", digits=1)
          for who, taken in samples.items()),
    ]


def idle_figures(connections, idle, connected):
    return [
        Figure("P10", f"RssAnon with {connections} idle connections", connected.held_bytes / 1e6,
               "MB", *IDLE_MARKS),
        Figure("", "  with none", idle.held_bytes / 1e6, "MB"),
    ]


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
