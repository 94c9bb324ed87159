"""What people report about daemons like this one, each as a test under its number.

The numbers are of the list of real complaints that joind was designed against. 17 (a step of the
clock) is test_clock.py; those about tables are in test_lookup.py and test_batch.py.
"""

import time

import pytest

from joind import run

FILES = """\
[left]
file = left.csv
fields = k, v, {left}
key = k
timestamp = t
[right]
file = right.csv
fields = k, w, {right}
key = k
timestamp = t
[join]
time = event
{join}
[output]
file = -
select = {select}
"""


def replay(folder, left, right, join, types=("t timestamp_ms", "t timestamp_ms"),
           select="left.v, right.w", env=None, sets=()):
    """The rows that two files give, sorted, and the log."""
    (folder / "left.csv").write_text(left)
    (folder / "right.csv").write_text(right)
    ini = folder / "join.ini"
    ini.write_text(FILES.format(left=types[0], right=types[1], join=join, select=select))
    done = run(*sum((["--set", one] for one in sets), []), ini, env=env)
    assert done.returncode == 0, done.log
    return sorted(done.stdout.decode().splitlines()), done.log


def test_15_an_idle_input_does_not_stop_the_join_and_an_ended_one_does_not_end_time(joind, tmp_path):
    (tmp_path / "left.csv").write_text("k,a,1000\n")
    daemon = joind(left={"fields": "k, v, t timestamp_ms", "timestamp": "t", "listen": None,
                         "file": "left.csv"},
                   right={"fields": "k, w, t timestamp_ms", "timestamp": "t", "idle": "300ms"},
                   join={"type": "left", "match": "interval", "time": "event", "size": None,
                         "lower": "-3s", "upper": "3s"},
                   output={"select": "v, w"})
    subscriber = daemon.subscribe()
    daemon.wait_books("left", received=1)
    time.sleep(0.6)  # the left side has ended, the right one is idle: time goes on with the clock
    assert subscriber.count() == 0
    daemon.send("right", b"k,x,1500\n")
    assert subscriber.wait_lines(1) == ["a,x"]


@pytest.mark.parametrize("left, right, rows", [
    (9999, 10000, [",x", "a,"]),
    (10000, 10000, ["a,x"]),
    (9999, 0, ["a,x"]),
    (-1, 0, [",x", "a,"]),
    (-1, -10000, ["a,x"]),
])
def test_16_a_window_begins_with_its_start_and_ends_before_its_end(tmp_path, left, right, rows):
    found, _ = replay(tmp_path, f"k,a,{left}\n", f"k,x,{right}\n", "type = full\nsize = 10s")
    assert found == rows


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "America/New_York"])
def test_18_the_machine_s_zone_means_nothing_and_written_zones_all(tmp_path, zone):
    # Clocks went forward in Berlin between these two, which are a second apart.
    found, _ = replay(
        tmp_path, "k,a,2026-03-29T01:59:59+01:00\n", "k,x,2026-03-29T03:00:00+02:00\n",
        "match = interval\nlower = 1s\nupper = 1s", types=("t timestamp", "t timestamp"),
        select="left.t, right.t, left_time", env={"TZ": zone})
    assert found == ["2026-03-29T00:59:59.000Z,2026-03-29T01:00:00.000Z,2026-03-29T00:59:59.000Z"]


def test_19_units_that_are_mixed_up_are_rejected_where_they_make_no_time(tmp_path):
    found, log = replay(
        tmp_path,
        "k,a,1700000000000\nk,micro,1700000000000000\nk,nano,1700000000000000000\nk,b,1700000001000\n",
        "k,x,1700000000500\nk,y,1700000001500\n", "size = 10s")
    assert found == ["a,x", "a,y", "b,x", "b,y"], "the others are not late for the two"
    assert log.count("record rejected") == 2


def test_19_one_stamp_far_in_the_future_does_not_make_all_others_late(joind):
    now = int(time.time() * 1000)
    daemon = joind(left={"fields": "k, v, t timestamp_ms", "timestamp": "t"},
                   right={"fields": "k, w, t timestamp_ms", "timestamp": "t"},
                   join={"time": "event"}, output={"select": "v, w"})
    day = 86400000
    for side, name in (("left", "a"), ("right", "x")):
        daemon.send(side, f"k,{name}1,{now}\nk,far,{now + day}\nk,{name}2,{now}\n")
        daemon.wait_books(side, received=3, rejected=1, late=0)
    assert [row[1] for row in daemon.rejects()] == [b"timestamp", b"timestamp"]


def test_20_a_padded_row_is_never_contradicted_by_a_pair(joind):
    daemon = joind(left={"fields": "k, v, t timestamp_ms", "timestamp": "t", "idle": "off"},
                   right={"fields": "k, w, t timestamp_ms", "timestamp": "t", "idle": "off"},
                   join={"type": "left", "time": "event", "size": "10s", "grace": "5s"},
                   output={"select": "v, w"})
    subscriber = daemon.subscribe()
    daemon.send("left", b"k,a,1000\nm,b,1000\nz,z,12000\n")
    daemon.send("right", b"z,z,12000\n")  # the window [0, 10 s) has fired
    daemon.send("right", b"k,x,3000\n")  # late, within grace
    assert subscriber.wait_lines(1) == ["a,x"]
    daemon.send("left", b"z,z,30000\n")
    daemon.send("right", b"z,z,30000\n")
    assert sorted(subscriber.wait_lines(3)) == ["a,x", "b,", "z,z"]
