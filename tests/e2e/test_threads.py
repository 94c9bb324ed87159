"""Two threads give what one gives, and a second one is no reason to lose, to wait or to hang.

The windows here are large enough for the second thread: smaller ones it leaves to the first.
"""

import collections
import random
import signal
import time

import pytest

from joind import config, wait_until
from joind import run as joind_run

KEYS = 3000
WINDOWS = 4
TIMED = {"fields": "k, n bigint, t timestamp_ms", "key": "k", "timestamp": "t", "idle": "off"}
SEED = {"hash_seed": "1"}


def lines(side, windows=WINDOWS, keys=KEYS):
    """A record of each key in each window of a second, but for a few that are missing, twice
    there, or without a key."""
    chance = random.Random(f"{side}{windows}{keys}")
    rows = []
    for window in range(windows):
        some = [key for key in range(keys) if chance.random() > 0.1]
        some += chance.sample(some, 100) + [1] * 20 + [""] * 10
        chance.shuffle(some)
        rows += [f"{key},{len(rows) + i},{window * 1000 + chance.randrange(1000)}"
                 for i, key in enumerate(some)]
    rows = [row.split(",") for row in rows]
    rows.sort(key=lambda row: int(row[2]))
    return "".join(",".join(row) + "\n" for row in rows).encode()


def partners(left, right):
    """(key, window) -> how many on each side."""
    counts = collections.defaultdict(lambda: [0, 0])
    for side, data in enumerate((left, right)):
        for line in data.decode().splitlines():
            key, _, t = line.split(",")
            if key:
                counts[key, int(t) // 1000][side] += 1
    return counts.values()


def pairs(left, right):
    return sum(l * r for l, r in partners(left, right))


def start(joind, threads, **changes):
    sections = {
        "left": dict(TIMED), "right": dict(TIMED),
        "join": {"size": "1s", "time": "event", "type": "inner"},
        "output": {"file": "out.csv"},
    }
    for name, keys in changes.items():
        sections.setdefault(name, {}).update(keys)
    if "listen" in sections["output"]:
        del sections["output"]["file"]
    daemon = joind(**sections, process={"threads": str(threads), **SEED})
    assert daemon.status()["loop"]["threads"] == threads
    return daemon


def run(joind, threads, left, right, /, **changes):
    """Everything in, and a stop."""
    daemon = start(joind, threads, **changes)
    feeders = [daemon.connect("left").send(left), daemon.connect("right").send(right)]
    daemon.wait_books("left", received=left.count(b"\n"))
    daemon.wait_books("right", received=right.count(b"\n"))
    for feeder in feeders:
        feeder.finish()
    daemon.stop(expect=0)
    assert not daemon.log_matches("unwritten|balance")
    return daemon


def output(daemon):
    return (daemon.folder / "out.csv").read_bytes()


# The same bytes.

@pytest.mark.parametrize("kind", ["inner", "left", "right", "full", "semi", "anti"])
def test_two_threads_write_what_one_does(joind, kind):
    left, right = lines("left"), lines("right")
    one, two = (run(joind, threads, left, right, join={"type": kind}) for threads in (1, 2))
    assert output(two) == output(one)
    assert output(one).count(b"\n") > 1000


def test_processing_time_gives_the_same_results(joind):
    left, right = lines("left", 1, 20000), lines("right", 1, 20000)
    timeless = {"timestamp": None, "idle": None}
    changes = {"left": timeless, "right": timeless, "join": {
        "time": None, "size": "36500d", "type": "full", "on": "left.n <> right.n + 1"}}
    one, two = (run(joind, threads, left, right, **changes) for threads in (1, 2))
    assert output(two) == output(one)
    assert output(one).count(b"\n") > 20000


def test_pairs_that_cannot_be_computed_are_told_by_either_thread(joind):
    left, right = lines("left"), lines("right")
    changes = {"join": {"on": "100 / (left.n % 50) >= 0"},
               "output": {"select": "left.k, 100 / (right.n % 50 - 7) as x, window_end"}}
    one, two = (run(joind, threads, left, right, **changes) for threads in (1, 2))
    assert output(two) == output(one)
    told = [[row[:3] + row[4:] for row in daemon.rejects()] for daemon in (one, two)]
    assert told[0] == told[1]
    reasons = " ".join(row[2].decode() for row in told[0])
    assert "on cannot be computed" in reasons and "column 2 x: division by zero" in reasons


def test_small_windows_between_large_ones_keep_their_order(joind):
    """Some are for one thread, some for the other."""
    chance = random.Random(1)
    data = {}
    for side in ("left", "right"):
        rows = []
        for window in range(60):
            for key in range(2500 if window % 10 == 3 else 5):
                rows.append((window * 1000 + chance.randrange(1000), key))
        rows.sort()
        data[side] = "".join(f"{k},{i},{t}\n" for i, (t, k) in enumerate(rows)).encode()
    select = {"select": "window_start, left.k, left.n, right.n"}
    one, two = (run(joind, threads, data["left"], data["right"], output=select)
                for threads in (1, 2))
    starts = [line.split(b",")[0] for line in output(two).splitlines()]
    assert starts == sorted(starts) and len(set(starts)) == 60
    assert collections.Counter(output(two).splitlines()) == \
        collections.Counter(output(one).splitlines())


def test_a_replay_is_the_same_byte_by_byte(tmp_path):
    """Windows of all sizes: in what order their results come depends on how they are parted,
    and that must not depend on who fires them when."""
    chance = random.Random(3)
    sizes = [chance.choice([5, 100, 1500, 3000, 5000]) for _ in range(60)]
    for side in ("left", "right"):
        rows = sorted((window * 1000 + chance.randrange(1000), key)
                      for window, size in enumerate(sizes) for key in range(size))
        (tmp_path / f"{side}.csv").write_text(
            "".join(f"{key},{n},{t}\n" for n, (t, key) in enumerate(rows)))
    written = {}
    for threads in (1, 2):
        folder = tmp_path / str(threads)
        folder.mkdir()
        (folder / "t.ini").write_text(config(
            left={**TIMED, "file": "../left.csv", "idle": None},
            right={**TIMED, "file": "../right.csv", "idle": None},
            join={"size": "1s", "time": "event", "type": "full"}, output={"file": "out.csv"},
            process={"threads": str(threads), **SEED}, http=None, rejects=None))
        process = joind_run("t.ini", cwd=folder, seconds=60)
        assert process.returncode == 0, process.log
        written[threads] = (folder / "out.csv").read_bytes()
    assert written[2] == written[1]
    assert written[1].count(b"\n") == sum(sizes)


# Which of the two it is.

@pytest.mark.parametrize("join, threads", [
    ({"match": "tumbling"}, 2), ({"match": "tumbling", "grace": "1s"}, 1),
    ({"match": "sliding", "slide": "500ms"}, 1)])
def test_what_a_second_thread_is_no_use_to_has_none(joind, join, threads):
    daemon = joind(left=dict(TIMED), right=dict(TIMED), process={"threads": "2"},
                   join={"size": "1s", "time": "event", **join})
    assert daemon.status()["loop"]["threads"] == threads
    daemon.stop(expect=0)


# Readers that do not read.

def fired(joind, threads=2, keys=20000, **changes):
    """A window that is due, of which nobody has read anything."""
    left, right = lines("left", 1, keys), lines("right", 1, keys)
    daemon = start(joind, threads, output={"listen": "127.0.0.1:0", **changes.pop("output", {})},
                   **changes)
    daemon.send("left", left + b"end,1,5000\n")
    daemon.send("right", right + b"end,1,5000\n")
    return daemon, pairs(left, right) + 1


def decided(daemon):
    books = daemon.assert_books_balance().books("left")
    return books["matched"] + books["unmatched"]


@pytest.mark.parametrize("threads", [1, 2])
def test_results_wait_for_a_reader_and_all_come(joind, threads):
    daemon, count = fired(joind, threads)
    daemon.wait_log("results wait, and nobody is connected")
    before = decided(daemon)
    assert before < 15000, "rows that nobody reads stay held"
    time.sleep(0.3)
    assert decided(daemon) == before
    subscriber = daemon.subscribe()
    subscriber.wait_lines(count - 1)
    daemon.assert_books_balance()
    daemon.stop(expect=0)
    assert len(subscriber.wait_end()) == count


def test_a_slow_reader_slows_the_window_down_and_loses_nothing(joind):
    daemon, count = fired(joind, keys=60000, output={"buffer": "64K"})
    subscriber = daemon.subscribe(receive_buffer=4096, bytes_per_second=1 << 20)
    wait_until(lambda: subscriber.count() > 1000, 10, "some rows")
    assert decided(daemon) < 60000
    subscriber.resume()
    rows = subscriber.wait_lines(count - 1)
    assert len(set(rows)) == len(rows)
    daemon.stop(expect=0)
    assert len(subscriber.wait_end()) == count


@pytest.mark.parametrize("threads", [1, 2])
def test_a_reader_that_takes_nothing_is_disconnected(joind, threads):
    wide = {"select": f"left.n, right.n, '{'x' * 500}' as x"}  # more than sockets take
    daemon, _ = fired(joind, threads, 60000, output={"buffer": "64K", "slow": "disconnect", **wide})
    subscriber = daemon.subscribe(receive_buffer=4096, paused=True)
    daemon.wait_log("takes nothing: disconnected", 20)
    subscriber.close()
    daemon.assert_books_balance()
    daemon.signal(signal.SIGTERM)
    daemon.wait_log("stopping")
    daemon.signal(signal.SIGTERM)
    daemon.wait_exit(expect=1)


def test_what_gives_no_row_is_decided_whether_anybody_reads_or_not(joind):
    daemon = start(joind, 2, output={"listen": "127.0.0.1:0"})
    for side in ("left", "right"):
        data = "".join(f"{side}{n},{n},1\n" for n in range(20000)) + f"{side},1,5000\n"
        daemon.send(side, data)
    for side in ("left", "right"):
        daemon.wait_books(side, unmatched=20000, held=1)
    daemon.stop(expect=0)


# Ends.

def test_a_stop_while_a_window_fires_writes_all_of_it(joind):
    daemon, count = fired(joind, keys=60000)
    subscriber = daemon.subscribe(receive_buffer=4096, bytes_per_second=1 << 20)
    wait_until(lambda: subscriber.count() > 1000, 10, "some rows")
    daemon.signal(signal.SIGTERM)
    daemon.wait_log("stopping")
    subscriber.resume()
    assert len(subscriber.wait_end()) == count
    daemon.wait_exit(expect=0)


def test_a_stop_without_a_reader_says_how_much_nobody_took(joind):
    daemon, count = fired(joind)
    daemon.wait_log("results wait, and nobody is connected")
    daemon.stop(expect=1, seconds=30)
    daemon.wait_log(rf"stopped with {count} results unwritten")
    assert not daemon.log_matches("undecided|balance")


def test_a_second_signal_ends_it_at_once_while_a_window_waits(joind):
    daemon, _ = fired(joind)
    daemon.wait_log("results wait, and nobody is connected")
    daemon.stop_at_once()


def test_a_hot_key_is_fired_aside_and_can_be_given_up(joind):
    """9,000,000 pairs, nobody takes one, and the process still ends."""
    daemon = start(joind, 2, output={"listen": "127.0.0.1:0"})
    for side in ("left", "right"):
        daemon.send(side, "".join(f"k,{i},1\n" for i in range(3000)) + "k,1,5000\n")
    daemon.wait_log("results wait, and nobody is connected")
    daemon.assert_books_balance()
    assert daemon.stop(expect=1, seconds=40) == 1


# State.

def test_full_state_is_made_room_in_by_windows_that_are_fired_aside(joind):
    left, right = lines("left", 40, 2500), lines("right", 40, 2500)
    daemon = start(joind, 2, state={"memory": "1M"}, output={"select": "left.n, right.n"},
                   left={"max_line": "1K"}, right={"max_line": "1K"})
    feeders = [daemon.connect("left"), daemon.connect("right")]
    # In turn, so that neither side is far ahead.
    for at in range(0, max(len(left), len(right)), 1 << 16):
        for feeder, data in zip(feeders, (left, right)):
            feeder.send(data[at:at + (1 << 16)])
        assert daemon.assert_books_balance().value("joind_state_bytes") < 1.5 * (1 << 20)
    for feeder in feeders:
        feeder.finish(60)
    daemon.stop(expect=0)
    assert output(daemon).count(b"\n") == pairs(left, right)
