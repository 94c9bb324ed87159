"""Sliding, session and interval joins through the whole program, in both kinds of time; and what
becomes of pairs for which an expression fails. Rules: semantics.md, sections 2 and 3; interface.md,
section 3."""

import json
import time

import pytest

from joind import ENDLESS, PATIENCE, wait_until
from tools import DAY, WINDOW

HOUR = 3600


def processing(joind, join, **sections):
    return joind(join={"size": None, **join}, output={"select": "left.k, v, w"}, **sections)


def event(joind, join, **sections):
    sides = {side: {"fields": f"k, {value}, t timestamp_ms", "timestamp": "t"}
             for side, value in (("left", "v"), ("right", "w"))}
    return joind(join={"size": None, "time": "event", **join},
                 output={"select": "left.k, v, w, " + sections.pop("more", "left.t")},
                 **sides, **sections)


# Processing time

def test_sliding_gives_a_pair_once_for_each_window_that_holds_it(joind, clock):
    daemon = processing(joind, {"match": "sliding", "size": "100d", "slide": "50d"}, env=clock.env)
    subscriber = daemon.subscribe()
    daemon.send("left", b"1,a\n2,b\n")
    daemon.send("right", b"1,x\n")
    for count in (1, 2):
        clock.step_by(50 * DAY)
        assert subscriber.wait_lines(count) == ["1,a,x"] * count
    daemon.wait_books("left", matched=1, unmatched=1, held=0)
    daemon.stop(expect=0)
    assert subscriber.wait_end() == ["1,a,x"] * 2


def test_a_session_comes_when_its_key_has_been_silent_for_the_gap(joind):
    daemon = processing(joind, {"match": "session", "gap": "1s", "type": "left"})
    subscriber = daemon.subscribe()
    left, right = daemon.connect("left"), daemon.connect("right")
    left.send(b"1,a\n2,b\n")
    started = time.monotonic()
    for _ in range(4):
        time.sleep(0.4)     # each goes on with the session, whose first is long ago in the end
        right.send(b"1,x\n")
    assert subscriber.wait_lines(1, seconds=3) == ["2,b,"]
    assert subscriber.wait_lines(5, seconds=5) == ["2,b,"] + ["1,a,x"] * 4
    assert 2.4 < time.monotonic() - started < 3 + PATIENCE
    daemon.wait_books("left", matched=1, unmatched=1, held=0)
    daemon.wait_books("right", matched=4, held=0)


def test_an_interval_pair_comes_at_once_and_a_padded_row_when_no_partner_can_come(joind):
    daemon = processing(joind, {"match": "interval", "lower": "-1s", "upper": "1s",
                                "type": "full"})
    subscriber = daemon.subscribe()
    started = time.monotonic()
    daemon.send("left", b"1,a\n2,b\n")
    daemon.send("right", b"1,x\n")
    assert subscriber.wait_lines(1, seconds=3) == ["1,a,x"]
    assert time.monotonic() - started < 0.9
    assert subscriber.wait_lines(2, seconds=3) == ["1,a,x", "2,b,"]
    assert time.monotonic() - started > 1
    daemon.wait_books("right", matched=1, held=0)
    daemon.send("right", b"1,y\n")
    assert subscriber.wait_lines(3, seconds=3)[2] == ",,y", "its partner is too long ago"


# Event time

def test_sliding_in_event_time(joind):
    daemon = event(joind, {"match": "sliding", "size": "10s", "slide": "5s"},
                   more="window_start, window_end")
    subscriber = daemon.subscribe()
    daemon.send("left", b"k,a,4000\nk,b,9000\nz,0,30000\n")
    daemon.send("right", b"k,x,6000\nz,0,30000\n")
    at = [f"1970-01-01T00:00:{second:02}.000Z" for second in (0, 5, 10, 15)]
    assert subscriber.wait_lines(3) == [f"k,a,x,{at[0]},{at[2]}", f"k,b,x,{at[0]},{at[2]}",
                                        f"k,b,x,{at[1]},{at[3]}"]


def test_a_session_in_event_time(joind):
    """S2: a third record makes one session of two."""
    daemon = event(joind, {"match": "session", "gap": "1500ms"}, more="window_start, window_end")
    subscriber = daemon.subscribe()
    left, right = daemon.connect("left"), daemon.connect("right")
    right.send(b"z,0,1\n")
    left.send(b"k,a,1000\nk,b,4000\n")
    daemon.wait_books("left", received=2)
    right.send(b"k,x,2500\nz,0,90000\n")
    left.send(b"z,0,90000\n")
    rows = subscriber.wait_lines(2)
    tail = "x,1970-01-01T00:00:01.000Z,1970-01-01T00:00:05.500Z"
    assert rows == [f"k,a,{tail}", f"k,b,{tail}"]


def test_an_interval_join_in_event_time(joind):
    """I1."""
    daemon = event(joind, {"match": "interval", "lower": "-1s", "upper": "2s", "type": "full"})
    subscriber = daemon.subscribe()
    daemon.send("right", b"k,x,10000\n")
    daemon.send("left", b"k,a,7999\nk,b,8000\nk,c,11000\nk,d,11001\n")
    assert subscriber.wait_lines(2) == ["k,b,x,8000", "k,c,x,11000"]
    daemon.stop(expect=0)
    assert sorted(subscriber.wait_end()[2:]) == ["k,a,,7999", "k,d,,11001"]


def test_a_late_record_of_an_interval_join_still_finds_who_is_there(joind):
    """I3, and what has no partner any more goes to [late]."""
    daemon = event(joind, {"match": "interval", "lower": "-5s", "upper": "5s"},
                   late={"file": "late.csv"})
    subscriber = daemon.subscribe()
    daemon.send("right", b"k,x,10000\nz,0,14000\n")
    daemon.send("left", b"z,0,14000\nk,a,9000\nk,b,4000\n")
    assert "k,a,x,9000" in subscriber.wait_lines(2)
    daemon.wait_books("left", late=1)
    assert [row[4] for row in daemon.rejects("late.csv")] == [b"k,b,4000"]


@pytest.mark.parametrize("match", ["tumbling", "sliding", "session", "interval"])
@pytest.mark.parametrize("kind, expected", {
    "inner": ["k,a,x"], "left": ["k,a,x", "p,b,"], "right": [",,y", "k,a,x"],
    "full": [",,y", "k,a,x", "p,b,"], "semi": ["k,a"], "anti": ["p,b"]}.items())
def test_every_type_goes_with_every_match(joind, match, kind, expected):
    keys = {"tumbling": {"size": "10s"}, "sliding": {"size": "10s", "slide": "10s"},
            "session": {"gap": "1s"}, "interval": {"lower": "-1s", "upper": "1s"}}[match]
    sides = {side: {"fields": f"k, {value}, t timestamp_ms", "timestamp": "t"}
             for side, value in (("left", "v"), ("right", "w"))}
    daemon = joind(join={"size": None, "time": "event", "match": match, "type": kind, **keys},
                   output={"select": "left.k, v" + ("" if kind in ("semi", "anti") else ", w")},
                   **sides)
    subscriber = daemon.subscribe()
    daemon.send("left", b"k,a,1000\np,b,1000\n")
    daemon.send("right", b"k,x,1500\nq,y,1500\n")
    for side in ("left", "right"):
        daemon.wait_books(side, received=2)
    daemon.stop(expect=0)
    assert sorted(subscriber.wait_end()) == expected


# A clock that is set

@pytest.fixture(name="stepped")
def stepped_clock(clock):  # noqa: F811 pylint: disable=redefined-outer-name
    return clock


def test_a_session_does_not_mind_a_clock_that_is_set_back(joind, stepped):
    daemon = processing(joind, {"match": "session", "gap": "1s"}, env=stepped.env)
    subscriber = daemon.subscribe()
    daemon.send("left", b"1,a\n")
    stepped.step_to(-HOUR)
    started = time.monotonic()
    daemon.send("right", b"1,x\n")
    assert subscriber.wait_lines(1, seconds=5) == ["1,a,x"]
    assert 0.9 < time.monotonic() - started < 1 + PATIENCE
    assert len(daemon.log_matches("clock")) == 1, daemon.log_text()


def test_a_clock_that_is_set_forward_ends_a_session(joind, stepped):
    daemon = processing(joind, {"match": "session", "gap": "30m", "type": "full"},
                        env=stepped.env)
    subscriber = daemon.subscribe()
    daemon.send("left", b"1,a\n")
    stepped.step_to(HOUR)
    assert subscriber.wait_lines(1, seconds=5) == ["1,a,"]
    daemon.send("right", b"1,x\n")
    assert daemon.books("right")["held"] == 1


def test_an_interval_pair_is_found_over_a_step_backward(joind, stepped):
    daemon = processing(joind, {"match": "interval", "lower": "0s", "upper": "2s",
                                "type": "full"}, env=stepped.env)
    subscriber = daemon.subscribe()
    daemon.send("left", b"1,a\n2,b\n")
    stepped.step_to(-HOUR)
    started = time.monotonic()
    daemon.send("right", b"1,x\n")
    assert subscriber.wait_lines(1, seconds=3) == ["1,a,x"]
    assert subscriber.wait_lines(2, seconds=5) == ["1,a,x", "2,b,"]
    assert time.monotonic() - started < 2 + PATIENCE


def test_a_step_forward_is_a_distance_for_an_interval_join(joind, stepped):
    daemon = processing(joind, {"match": "interval", "lower": "-30m", "upper": "30m",
                                "type": "full"}, env=stepped.env)
    subscriber = daemon.subscribe()
    daemon.send("left", b"1,a\n")
    stepped.step_to(HOUR)
    assert subscriber.wait_lines(1, seconds=5) == ["1,a,"]
    daemon.send("right", b"1,x\n")
    daemon.send("left", b"1,b\n")
    assert subscriber.wait_lines(2) == ["1,a,", "1,b,x"]


# Pairs that cannot be made

FAILING = {"left": {"fields": "k, v bigint"}, "right": {"fields": "k, w bigint"}}
KEYS = {"tumbling": {"size": ENDLESS}, "sliding": {"size": ENDLESS, "slide": ENDLESS},
        "session": {"gap": ENDLESS}, "interval": {"lower": "-1d", "upper": "1d"}}
each_match = pytest.mark.parametrize("match", KEYS)


def pairs_of_rejects(daemon, count):
    wait_until(lambda: len(daemon.rejects()) == count, 5, f"{count} rows of rejects",
               lambda: f"{daemon.rejects()}\n{daemon.log_text()}")
    return daemon.rejects()


@each_match
def test_a_row_that_select_cannot_make_is_rejected_and_its_fates_stand(joind, match):
    """C2, and: never replaced by a padded row."""
    daemon = joind(join={"size": None, "match": match, "type": "full", **KEYS[match]},
                   output={"select": "left.k, v / w as ratio"}, **FAILING)
    subscriber = daemon.subscribe()
    feeder = daemon.connect("left")
    feeder.send(b"k,10\n")
    daemon.wait_books("left", received=1)
    daemon.send("right", b"k,0\nk,4\n")
    if match != "interval":
        daemon.stop(expect=0)
        assert subscriber.wait_end() == ["k,2"]
    else:
        assert subscriber.wait_lines(1) == ["k,2"]
        metrics = daemon.assert_books_balance()
        assert metrics.value("joind_results_rejected_total") == 1
        assert metrics.books("left")["matched"] == 1 and metrics.books("right")["matched"] == 2
    row = pairs_of_rejects(daemon, 1)[0]
    assert row[:2] == [b"pair", b"expression"]
    assert b"division by zero" in row[2] and b"k,0" in row[2] and row[4] == b"k,10"


@each_match
def test_a_pair_whose_on_fails_does_not_match(joind, match):
    daemon = joind(join={"size": None, "match": match, "type": "full", "on": "v / w > 0",
                         **KEYS[match]}, output={"select": "left.k, v, w"}, **FAILING)
    subscriber = daemon.subscribe()
    daemon.send("left", b"k,10\n")
    daemon.send("right", b"k,0\n")
    daemon.wait_books("right", received=1)
    if match == "interval":
        wait_until(lambda: daemon.metric("joind_results_rejected_total") == 1, 5, "the count")
        daemon.assert_books_balance()
    daemon.stop(expect=0)
    assert sorted(subscriber.wait_end()) == [",,0", "k,10,"]
    row = pairs_of_rejects(daemon, 1)[0]
    assert row[:2] == [b"pair", b"expression"] and b"k,0" in row[2] and row[4] == b"k,10"


def test_rejected_pairs_come_as_json_too(joind):
    daemon = joind(join={"size": None, "match": "interval", **KEYS["interval"]},
                   output={"select": "v / w as ratio", "format": "json"},
                   rejects={"listen": "127.0.0.1:0", "format": "json"}, **FAILING)
    daemon.subscribe()
    rejects = daemon.subscribe("rejects")
    daemon.send("left", b"k,10\n")
    daemon.send("right", b"k,0\n")
    row = json.loads(rejects.wait_lines(1)[0])
    assert list(row) == ["side", "reason", "detail", "time", "line"]
    assert row["side"] == "pair" and row["line"] == "k,10" and "k,0" in row["detail"]


def test_a_window_full_of_failing_pairs_goes_by(joind, clock):
    """Many pairs, each rejected: counted, told, and none in the way of the good ones."""
    daemon = joind(env=clock.env, join={"size": WINDOW}, output={"select": "v / w as ratio"},
                   **FAILING)
    subscriber = daemon.subscribe()
    daemon.send("left", "".join(f"k,{n}\n" for n in range(100)))
    daemon.send("right", b"k,0\n" * 50 + b"k,1\n")
    clock.end_window()
    rows = subscriber.wait_lines(100, seconds=6)
    assert rows == [str(n) for n in range(100)]
    wait_until(lambda: daemon.metric("joind_results_rejected_total") == 5000, 5, "the count")
    metrics = daemon.assert_books_balance()
    assert metrics.value("joind_results_total", kind="pair") == 100
    assert len(pairs_of_rejects(daemon, 5000)) == 5000
    assert len(daemon.log) < 50, "log lines are limited"


@pytest.mark.parametrize("key, value", [("where", "10 / v > 1"), ("key", "cast(k as bigint)"),
                                        ("timestamp", "cast(k as timestamp)")])
def test_a_record_for_which_an_expression_fails_is_rejected(joind, key, value):
    join = {"time": "event"} if key == "timestamp" else {}
    right = {"timestamp": "cast(k as timestamp)"} if key == "timestamp" else {}
    if key == "key":
        right = {"key": "w"}
    daemon = joind(left={"fields": "k, v bigint", key: value},
                   right={"fields": "k, w bigint", **right}, join={"size": "10s", **join})
    daemon.send("left", b"2026-01-01 00:00:00,1\n20260101,0\n" if key != "key" else b"1,1\nx,0\n")
    daemon.wait_books("left", received=2, rejected=1, held=1)
    row = pairs_of_rejects(daemon, 1)[0]
    assert row[:2] == [b"left", b"expression"] and row[2].startswith(key.encode())
    assert row[4] in (b"20260101,0", b"x,0")
    assert daemon.metric("joind_results_rejected_total") == 0
