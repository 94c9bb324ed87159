"""The joins in event time that are measured, and what each of them has to give.

Times of the inputs go on by BLOCK_MS in each block of lines (generate.c). In the measured
inputs a key belongs to one block, so that the number of results is known; in the small ones
that are compared line by line it comes again in every block, so that windows, gaps and bounds
have something to decide.
"""

import collections
import dataclasses
import itertools
import json
import re

from programs import Failure

BLOCK_MS = 10_000
CHECK_LINES = 1000  # of a block of the inputs that are compared line by line
CHECK_BLOCKS = 12

# TABLE is where the right input's file is put in, when it is known.
CONFIG = """\
[left]
listen = 127.0.0.1:0
{side}

[right]
{right} = {where}
{side}

[join]
type = inner
{join}

[output]
listen = 127.0.0.1:0
{output}

[state]
memory = 16G

[http]
listen = 127.0.0.1:0
"""

PLAIN_SIDE = ["fields = k, t timestamp_ms, v", "key = k"]
EVENT_SIDE = ["timestamp = t", "max_ahead = off"]

# All are true and none is cheap to see through, so that the number of results stays known.
EXPRESSION_SIDE = [
    "fields = k bigint, t timestamp_ms, v",
    "key = k + 1",
    "where = char_length(v) >= 10 and k >= 0",
]
EXPRESSION_ON = "on = left.t - right.t between -1000000000 and 1000000000"
EXPRESSION_SELECT = "select = left.v, right.v, left.k % 10 as shard"

TABLE_KINDS = ["lookup", "batch"]
JSON_LINE_BYTES = 58  # with the same key, time and value as a line of 40 bytes of CSV


@dataclasses.dataclass(frozen=True)
class Match:
    """A join, and the shape of the inputs that it is measured with."""

    title: str
    kind: str
    ms: dict = dataclasses.field(default_factory=dict)  # keys of [join] that are durations
    time: str = "event"
    delay: int = 1000
    copies: int = 1  # how often a pair of the measured inputs comes out
    repeats: int = 1  # how often a key comes in a block, on each side
    percent: int = 100  # of the lines of a side that have partners
    late_every: int = 0  # 0: no line is late
    fresh: bool = True  # no key of the measured inputs comes in two blocks
    zipf: bool = False  # so are the keys of the left side drawn
    csv_bytes: int = 40  # a line
    blocks: int = None  # of the measured inputs, if not as many as usual
    expressions: bool = False
    json: bool = False

    @property
    def input_options(self):
        """Of generate, but for fresh keys."""
        late = ("-l", self.late_every) if self.late_every else ()
        rate = ("-m", self.percent) if self.percent != 100 else ()
        return ("-t", BLOCK_MS, "-r", self.repeats, *late, *rate, *(["-z"] * self.zipf),
                *(["-j"] * self.json))

    @property
    def line_bytes(self):
        return JSON_LINE_BYTES if self.json else self.csv_bytes

    @property
    def right(self):
        """How the right side comes: see Rig.run_stream()."""
        if self.kind == "lookup":
            return "table"
        return "first" if self.kind == "latest" and self.time == "processing" else "both"

    @property
    def config(self):
        side, join, output = [*PLAIN_SIDE], [f"match = {self.kind}"], []
        if self.expressions:
            side, join, output = [*EXPRESSION_SIDE], [*join, EXPRESSION_ON], [EXPRESSION_SELECT]
        if self.json:
            side.append("format = json")
            output.append("format = json")
        if self.kind not in TABLE_KINDS:
            join.append(f"time = {self.time}")
            if self.time == "event":
                side += [*EVENT_SIDE, f"delay = {self.delay}ms"]
        join += [f"{name} = {value}ms" for name, value in self.ms.items()]
        return CONFIG.format(
            side="\n".join(side),
            right="file" if self.right == "table" else "listen",
            where="TABLE" if self.right == "table" else "127.0.0.1:0",
            join="\n".join(join),
            output="\n".join(output),
        )

    def row(self, left, right):
        """The result of a pair of lines, line end included."""
        if self.json:
            return b"%b,%b\n" % (left[:-1], re.sub(rb'"([ktv])":', rb'"right.\1":', right[1:]))
        if not self.expressions:
            return left + b"," + right + b"\n"
        key, _, left_value = left.split(b",")
        return b"%b,%b,%d\n" % (left_value, right.split(b",")[2], int(key) % 10)

    def results(self, data):
        """Of measured inputs."""
        lines = data.lines // 2
        if self.kind == "latest" and self.time == "event":
            return lines - lefts_without_version(data)
        return lines * self.percent // 100 * self.repeats * self.copies

    def measured(self, data):
        """The inputs, together with what this join has to make of them; its rows are all of
        one length."""
        with open(data.left, "rb") as left, open(data.right, "rb") as right:
            row = self.row(left.readline().rstrip(), right.readline().rstrip())
        results = self.results(data)
        return dataclasses.replace(data, results=results, joined_bytes=results * len(row))


def lefts_without_version(data):
    """As of their time: all are in the first block, for keys that come again in each."""
    times = []
    for path in (data.left, data.right):
        with open(path, "rb") as file:
            block = [parts(line)[:2] for line in itertools.islice(file, data.block_lines)]
        times.append(dict(block))
    return sum(times[1][key] > time for key, time in times[0].items())


TUMBLING = {"size": BLOCK_MS}
INTERVAL = {"lower": -BLOCK_MS, "upper": BLOCK_MS}


def slides(number):
    return {"size": number * BLOCK_MS, "slide": BLOCK_MS}


MATCHES = [
    Match("tumbling", "tumbling", TUMBLING),
    Match("tumbling, with expressions", "tumbling", TUMBLING, expressions=True),
    Match("tumbling, grace", "tumbling", {"size": BLOCK_MS, "grace": BLOCK_MS}),
    Match("tumbling, grace, 5 % late", "tumbling", {"size": BLOCK_MS, "grace": BLOCK_MS},
          delay=0, late_every=10),
    Match("sliding, size / slide 2", "sliding", slides(2), copies=2),
    Match("sliding, size / slide 10", "sliding", slides(10), copies=10),
    Match("session", "session", {"gap": BLOCK_MS}),
    Match("interval, 1 partner", "interval", INTERVAL),
    Match("interval, 10 partners", "interval", INTERVAL, repeats=10),
    Match("sliding, size / slide 60", "sliding", slides(60), copies=60, blocks=4),
    Match("latest, as of", "latest", fresh=False),
    Match("latest, processing time", "latest", time="processing", fresh=False),
    Match("lookup", "lookup"),
    Match("batch", "batch"),
    Match("sliding 2, with expressions", "sliding", slides(2), copies=2, expressions=True),
    Match("session, with expressions", "session", {"gap": BLOCK_MS}, expressions=True),
    Match("interval, with expressions", "interval", INTERVAL, expressions=True),
    Match("latest as of, with expressions", "latest", fresh=False, expressions=True),
    Match("lookup, with expressions", "lookup", expressions=True),
    Match("batch, with expressions", "batch", expressions=True),
    Match("tumbling, JSON", "tumbling", TUMBLING, json=True),
    Match("sliding 2, JSON", "sliding", slides(2), copies=2, json=True),
    Match("session, JSON", "session", {"gap": BLOCK_MS}, json=True),
    Match("interval, JSON", "interval", INTERVAL, json=True),
    Match("latest as of, JSON", "latest", fresh=False, json=True),
    Match("lookup, JSON", "lookup", json=True),
    Match("batch, JSON", "batch", json=True),
]


@dataclasses.dataclass(frozen=True)
class Shape:
    """Inputs of one more shape, for the windows and for a keyed join."""

    title: str
    keys: int  # of a block
    blocks: int  # measured
    line_bytes: int = 40
    percent: int = 100
    zipf: bool = False

    @property
    def warm(self):
        """Blocks before the measured ones."""
        return max(self.blocks // 10, 1)

    def matches(self):
        """Without a delay: the line behind a block lets go of it."""
        shape = {"percent": self.percent, "zipf": self.zipf, "csv_bytes": self.line_bytes,
                 "delay": 0}
        return {"window": Match(f"window, {self.title}", "tumbling", TUMBLING, **shape),
                "keyed": Match(f"keyed, {self.title}", "interval", INTERVAL, **shape)}


def shapes(lines, largest):
    """With so many measured lines a side, but where that would be less than one block."""
    growth = [10**n for n in range(3, 8) if 10**n <= largest]
    keys = growth[2] if len(growth) > 2 else growth[-1]
    return [
        *(Shape(f"{n} keys", n, max(lines // n, 1)) for n in growth),
        Shape(f"{keys} keys, Zipf", keys, lines // keys, zipf=True),
        Shape(f"{keys} keys, 10 % match", keys, lines // keys, percent=10),
        Shape(f"{keys} keys, 0 % match", keys, lines // keys, percent=0),
        Shape(f"{keys} keys, 120 B", keys, lines // keys, line_bytes=120),
    ]


# A window, in wall time too.
WALL_TITLES = ["100000 keys", "100000 keys, 120 B"]
LATENCY = Match("interval, 1 s", "interval", {"lower": -1000, "upper": 1000})


@dataclasses.dataclass(frozen=True)
class Held:
    """A join whose state is looked at when one block is in it, and then let go of."""

    match: Match
    lines: int  # of a side
    memory: str = None  # which of the marks, of P4
    turn: str = "1M"  # and of P5


def held_cases(lines, largest):
    """In memory: `lines` a side with a key of their own each, then two a side of each key. Due at
    once: ten windows, one large window, and one key, each record of which meets all of the other
    side."""
    one, four = {"percent": 0}, {"repeats": 2}
    gap = {"gap": BLOCK_MS}
    hot = Match("interval, one key", "interval", INTERVAL, repeats=max(lines // 500, 1))
    cases = [
        Held(Match("interval, 1 record a key", "interval", INTERVAL, **one), lines, "keyed 1"),
        Held(Match("session, 1 record a key", "session", gap, **one), lines, "keyed 1"),
        Held(Match("interval, 4 records a key", "interval", INTERVAL, **four), lines, "keyed 4"),
        Held(Match("session, 4 records a key", "session", gap, **four), lines, "keyed 4"),
        Held(Match("sliding, size / slide 10", "sliding", slides(10), copies=10), lines),
        Held(hot, hot.repeats),
    ]
    if largest > lines:
        window = Match(f"window, {largest} keys", "tumbling", TUMBLING)
        cases.append(Held(window, largest, "window", turn="10M"))
    return cases


# A day after all others, and without a partner.
LATER_LINES = [b"9999999998,1700086400000,L\n", b"9999999999,1700086400000,R\n"]


# Each join in the plainest way there is: the pairs of one key, whose lines are (time, line).


def tumbling(ms, lefts, rights):
    for left, right in itertools.product(lefts, rights):
        if left[0] // ms["size"] == right[0] // ms["size"]:
            yield left, right


def sliding(ms, lefts, rights):
    for left, right in itertools.product(lefts, rights):
        first = max(left[0], right[0]) - ms["size"] + 1
        last = min(left[0], right[0])
        for start in range(-(-first // ms["slide"]) * ms["slide"], last + 1, ms["slide"]):
            assert start <= last < start + ms["size"]
            yield left, right


def session(ms, lefts, rights):
    times = sorted(time for time, _ in lefts + rights)
    number_of, number = {}, 0
    for before, time in zip([times[0], *times], times):
        number += time - before > ms["gap"]
        number_of[time] = number
    for left, right in itertools.product(lefts, rights):
        if number_of[left[0]] == number_of[right[0]]:
            yield left, right


def interval(ms, lefts, rights):
    for left, right in itertools.product(lefts, rights):
        if left[0] + ms["lower"] <= right[0] <= left[0] + ms["upper"]:
            yield left, right


def latest(ms, lefts, rights):
    """As of the left one's time."""
    for left in lefts:
        visible = [right for right in rights if right[0] <= left[0]]
        if visible:
            yield left, max(visible, key=lambda right: right[0])


def last(ms, lefts, rights):
    """The right side came first, in processing time."""
    for left in lefts:
        yield left, rights[-1]


def table(ms, lefts, rights):
    yield from itertools.product(lefts, rights)


PAIRS_OF = {"tumbling": tumbling, "sliding": sliding, "session": session, "interval": interval,
            "latest": latest, "lookup": table, "batch": table}


def parts(line):
    """Key and time of a line, CSV or JSON."""
    if line.startswith(b"{"):
        thing = json.loads(line)
        return thing["k"].encode(), thing["t"]
    key, time, _ = line.split(b",")
    return key, int(time)


def by_key(path):
    lines = collections.defaultdict(list)
    for line in path.read_bytes().splitlines():
        key, time = parts(line)
        lines[key].append((time, line))
    return lines


def expected_rows(match, data):
    left, right = by_key(data.left), by_key(data.right)
    pairs = last if match.right == "first" else PAIRS_OF[match.kind]
    for key in left.keys() & right.keys():
        for one, other in pairs(match.ms, left[key], right[key]):
            yield match.row(one[1], other[1])


def check_rows(match, output, expected):
    """joind's output, as a multiset of lines."""
    wanted = collections.Counter(expected)
    wanted.subtract(collections.Counter(output.read_bytes().splitlines(keepends=True)))
    output.unlink()
    wrong = {row: count for row, count in wanted.items() if count}
    if wrong:
        missing = sum(count for count in wrong.values() if count > 0)
        surplus = missing - sum(wrong.values())
        raise Failure(f"{match.title}: {missing} rows are missing and {surplus} too many, as "
                      f"{next(iter(wrong))!r}")
