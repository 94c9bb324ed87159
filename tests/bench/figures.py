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


# By bytes a line, where it is a table: what may be merged now, and what is aimed at.
CPU_MARKS = {40: (0.15, 0.30), 120: (0.20, 0.38)}
WALL_MARKS = {40: (None, 0.50), 120: (None, 0.60)}
MEMORY_MARKS = {40: (1.45, 1.28), 120: (1.20, 1.10)}
KEYED_MEMORY_MARKS = (2.3, 1.8)  # 40 B, 4 records a key
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


def match_figures(number, match, samples):
    """The pump only moves the input; a join may write more than that."""
    cpu_ns = {who: least(taken, "cpu_ns") for who, taken in samples.items()}
    lines = samples["joind"][0].lines
    figures = [
        Figure(f"E{number}", f"CPU pump / joind, {match.title}", cpu_ns["pump"] / cpu_ns["joind"],
               "", more_is_better=True, digits=3),
        Figure("", "  joind, a line", cpu_ns["joind"] / lines, "ns", digits=1),
    ]
    if match.results(lines) != lines // 2:
        figures.append(Figure("", "  joind, a result", cpu_ns["joind"] / match.results(lines),
                              "ns", digits=1))
    return figures


def held_match_figures(case, data, samples):
    title = case.match.title
    held_bytes = max(sample.held_bytes for sample in samples)
    turns = [sample.turn_cpu_us for sample in samples]
    memory = Figure("P4", f"memory a held byte, {data.line_bytes} B, {title}",
                    held_bytes / data.bytes, "", *KEYED_MEMORY_MARKS, digits=3)
    turn = Figure("P5", f"longest turn of the loop in CPU time, {title}",
                  None if None in turns else max(turns) / 1000, "ms", *TURN_MARKS)
    return [memory, turn] if case.memory else [turn]


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
