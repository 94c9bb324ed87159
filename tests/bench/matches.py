"""The joins in event time that are measured, and what each of them has to give.

Times of the inputs go on by BLOCK_MS in each block of lines (generate.c). In the measured
inputs a key belongs to one block, so that the number of results is known; in the small ones
that are compared line by line it comes again in every block, so that windows, gaps and bounds
have something to decide.
"""

import collections
import dataclasses
import itertools

from programs import Failure

BLOCK_MS = 10_000
CHECK_LINES = 1000  # of a block of the inputs that are compared line by line
CHECK_BLOCKS = 12

CONFIG = """\
[left]
listen = 127.0.0.1:0
{side}

[right]
listen = 127.0.0.1:0
{side}

[join]
type = inner
time = event
{join}

[output]
listen = 127.0.0.1:0
{output}

[http]
listen = 127.0.0.1:0
"""

PLAIN_SIDE = """\
fields = k, t timestamp_ms, v
key = k
timestamp = t
delay = {delay}ms
max_ahead = off"""

# All are true and none is cheap to see through, so that the number of results stays known.
EXPRESSION_SIDE = """\
fields = k bigint, t timestamp_ms, v
key = k + 1
where = char_length(v) >= 10 and k >= 0
timestamp = t
delay = {delay}ms
max_ahead = off"""
EXPRESSION_ON = "on = left.t - right.t between -10000 and 10000"
EXPRESSION_SELECT = "select = left.v, right.v, left.k % 10 as shard"


@dataclasses.dataclass(frozen=True)
class Match:
    """A join, and the shape of the inputs that it is measured with."""

    title: str
    kind: str
    ms: dict  # keys of [join] that are durations
    delay: int = 1000
    copies: int = 1  # how often a pair of the measured inputs comes out
    repeats: int = 1  # how often a key comes in a block, on each side
    late_every: int = 0  # 0: no line is late
    expressions: bool = False

    @property
    def input_options(self):
        """Of generate, but for fresh keys."""
        late = ("-l", self.late_every) if self.late_every else ()
        return ("-t", BLOCK_MS, "-r", self.repeats, *late)

    @property
    def config(self):
        side, on, select = PLAIN_SIDE, [], ""
        if self.expressions:
            side, on, select = EXPRESSION_SIDE, [EXPRESSION_ON], EXPRESSION_SELECT
        durations = [f"{name} = {value}ms" for name, value in self.ms.items()]
        return CONFIG.format(
            side=side.format(delay=self.delay),
            join="\n".join([f"match = {self.kind}", *durations, *on]),
            output=select,
        )

    def row(self, left, right):
        """The result of a pair of lines, line end included."""
        if not self.expressions:
            return left + b"," + right + b"\n"
        key, _, left_value = left.split(b",")
        return b"%b,%b,%d\n" % (left_value, right.split(b",")[2], int(key) % 10)

    def results(self, lines):
        """Of measured inputs of so many lines, both sides together."""
        return lines // 2 * self.repeats * self.copies

    def measured(self, data):
        """The inputs, together with what this join has to make of them; its rows are all of
        one length."""
        with open(data.left, "rb") as left, open(data.right, "rb") as right:
            row = self.row(left.readline().rstrip(), right.readline().rstrip())
        return dataclasses.replace(data, joined_bytes=self.results(data.lines) * len(row))


MATCHES = [
    Match("tumbling", "tumbling", {"size": BLOCK_MS}),
    Match("tumbling, with expressions", "tumbling", {"size": BLOCK_MS}, expressions=True),
    Match("tumbling, grace", "tumbling", {"size": BLOCK_MS, "grace": BLOCK_MS}),
    Match("tumbling, grace, 5 % late", "tumbling", {"size": BLOCK_MS, "grace": BLOCK_MS},
          delay=0, late_every=10),
    Match("sliding, size / slide 2", "sliding", {"size": 2 * BLOCK_MS, "slide": BLOCK_MS},
          copies=2),
    Match("sliding, size / slide 10", "sliding", {"size": 10 * BLOCK_MS, "slide": BLOCK_MS},
          copies=10),
    Match("session", "session", {"gap": BLOCK_MS}),
    Match("interval, 1 partner", "interval", {"lower": -BLOCK_MS, "upper": BLOCK_MS}),
    Match("interval, 10 partners", "interval", {"lower": -BLOCK_MS, "upper": BLOCK_MS},
          repeats=10),
]


@dataclasses.dataclass(frozen=True)
class Held:
    """A join whose state is looked at when one block is in it, and then let go of."""

    match: Match
    lines: int  # of a side
    memory: bool = False


def held_cases(lines):
    """With so many lines a side: four records of a key, two a side, in memory; ten windows
    that are due at once. And one key, each record of which meets all of the other side."""
    session = Match("session", "session", {"gap": BLOCK_MS}, repeats=2)
    interval = Match("interval", "interval", {"lower": -BLOCK_MS, "upper": BLOCK_MS}, repeats=2)
    sliding = Match("sliding, size / slide 10", "sliding",
                    {"size": 10 * BLOCK_MS, "slide": BLOCK_MS}, copies=10)
    hot = Match("interval, one key", "interval", {"lower": -BLOCK_MS, "upper": BLOCK_MS},
                repeats=max(lines // 500, 1))
    return [Held(session, lines, memory=True), Held(interval, lines, memory=True),
            Held(sliding, lines), Held(hot, hot.repeats)]


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


PAIRS_OF = {"tumbling": tumbling, "sliding": sliding, "session": session, "interval": interval}


def by_key(path):
    lines = collections.defaultdict(list)
    for line in path.read_bytes().splitlines():
        key, time, _ = line.split(b",")
        lines[key].append((int(time), line))
    return lines


def expected_rows(match, data):
    left, right = by_key(data.left), by_key(data.right)
    for key in left.keys() & right.keys():
        for one, other in PAIRS_OF[match.kind](match.ms, left[key], right[key]):
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
