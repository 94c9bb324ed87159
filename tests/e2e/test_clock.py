"""A wall clock that steps: forward it is followed, backward never. Rules: semantics.md, section 1.

The clock is stepped by a small library that is loaded before all others (clockstep.c): the fixture
`clock`.
"""

import re
import time

import pytest

from joind import PATIENCE, wait_until
from tools import DAY, WINDOW

HOUR = 3600


def pair(daemon, key):
    daemon.send("left", f"{key},a\n")
    daemon.send("right", f"{key},x\n")


def warnings(daemon):
    return daemon.log_matches("clock")


def test_the_library_steps_the_daemon_s_clock(joind, clock):
    """Otherwise the tests below would show nothing."""
    clock.step_to(-1000 * DAY)
    daemon = joind(env=clock.env)
    then = time.strftime("%Y-%m-%d", time.gmtime(time.time() - 1000 * DAY))
    assert daemon.log[0].startswith(then), daemon.log_text()


def test_a_step_backward_does_not_move_records_into_earlier_windows(joind, clock):
    daemon = joind(env=clock.env, join={"size": WINDOW})
    subscriber = daemon.subscribe()
    daemon.send("left", b"1,a\n")
    clock.step_to(-HOUR)
    daemon.send("right", b"1,x\n")
    clock.end_window()
    assert subscriber.wait_lines(1, seconds=5) == ["1,a,1,x"]
    daemon.wait_books("left", matched=1, held=0)


@pytest.mark.parametrize("offset", [-7.5, -HOUR, -400 * DAY], ids=["7.5s", "1h", "400d"])
def test_windows_go_on_firing_in_time_after_a_step_backward(joind, clock, offset):
    daemon = joind(env=clock.env, join={"size": "1s", "type": "left"})
    subscriber = daemon.subscribe()
    clock.step_to(offset)
    for number in range(2):
        started = time.monotonic()
        daemon.send("left", f"{number},a\n")
        subscriber.wait_lines(number + 1, seconds=4)
        assert time.monotonic() - started < 1 + PATIENCE, "a window's end came late"
    assert subscriber.lines() == ["0,a,,", "1,a,,"]
    daemon.stop(expect=0)


def test_a_step_backward_is_warned_of_once_with_the_offset(joind, clock):
    daemon = joind(env=clock.env, join={"size": "1s", "type": "left"})
    subscriber = daemon.subscribe()
    clock.step_to(-HOUR)
    for number in range(2):
        daemon.send("left", f"{number},a\n")
        subscriber.wait_lines(number + 1, seconds=4)
    line = wait_until(lambda: warnings(daemon), 5, "a warning", daemon.log_text)[0]
    assert re.search(r"\b(3600|3599\.?\d|1 ?h|60 ?m)", line), f"no offset in {line!r}"
    assert "warn" in line, line
    assert len(warnings(daemon)) == 1, daemon.log_text()


def test_a_step_forward_fires_what_is_due(joind, clock):
    daemon = joind(env=clock.env, join={"size": "100d"})
    subscriber = daemon.subscribe()
    pair(daemon, 1)
    assert daemon.books("left")["held"] == 1 and subscriber.count() == 0
    clock.step_to(100 * DAY)
    assert subscriber.wait_lines(1, seconds=5) == ["1,a,1,x"]
    pair(daemon, 2)
    assert daemon.books("left")["held"] == 1, "what comes after the step lies in a new window"
    clock.step_to(200 * DAY)
    assert subscriber.wait_lines(2, seconds=5) == ["1,a,1,x", "2,a,2,x"]


def test_records_before_and_after_a_step_forward_are_in_different_windows(joind, clock):
    daemon = joind(env=clock.env, join={"size": "100d", "type": "full"})
    subscriber = daemon.subscribe()
    daemon.send("left", b"1,a\n")
    clock.step_to(100 * DAY)
    assert subscriber.wait_lines(1, seconds=5) == ["1,a,,"]
    daemon.send("right", b"1,x\n")
    daemon.stop(expect=0)
    assert subscriber.wait_end() == ["1,a,,", ",,1,x"]


def test_a_step_back_to_where_a_forward_step_came_from_is_not_followed(joind, clock):
    """As when somebody sets a wrong date and puts it right: time stands at the wrong one."""
    daemon = joind(env=clock.env, join={"size": "1s", "type": "left"})
    subscriber = daemon.subscribe()
    number = 0
    for offset in (HOUR, 0, -HOUR, 2 * HOUR):
        clock.step_to(offset)
        daemon.send("left", f"{number},a\n")
        number += 1
        subscriber.wait_lines(number, seconds=4)
    assert subscriber.lines() == [f"{n},a,," for n in range(4)]
    daemon.assert_books_balance()
    daemon.stop(expect=0)


def test_connections_and_health_do_not_mind_a_step(joind, clock):
    daemon = joind(env=clock.env, join={"size": "1s", "type": "left"},
                   left={"keepalive": "10s"})
    subscriber = daemon.subscribe()
    feeder = daemon.connect("left")
    feeder.send(b"0,a\n")
    subscriber.wait_lines(1, seconds=4)
    cpu = daemon.cpu_seconds()
    for number, offset in enumerate((30 * DAY, -30 * DAY), 1):
        clock.step_to(offset)
        feeder.send(f"{number},a\n".encode())
        subscriber.wait_lines(number + 1, seconds=4)
        assert daemon.healthz()[0] == 200
    assert daemon.connections("left") == 1 and daemon.connections("output") == 1
    assert daemon.cpu_seconds() - cpu < 0.5 * PATIENCE, "all timers fire"
    feeder.finish()
    started = time.monotonic()
    daemon.stop(expect=0)
    assert time.monotonic() - started < 2 * PATIENCE
