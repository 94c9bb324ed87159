"""Event time over real connections: watermarks, what is late, idle sides, a full state, a stop.

Rules: semantics.md, section 1; interface.md, sections 2 and 5. Times in records are milliseconds,
small ones, so that no clock comes near them but where a test says so.
"""

import json
import re
import signal
import threading
import time

import pytest

from joind import PATIENCE, SIDES, parse_csv, wait_until


def event(joind, left=None, right=None, join=None, **sections):
    """A daemon in event time: fields k, v (left) or w (right), t; windows of 10 s; nobody idle."""
    side = {"timestamp": "t", "idle": "off"}
    return joind(left={"fields": "k, v, t timestamp_ms", **side, **(left or {})},
                 right={"fields": "k, w, t timestamp_ms", **side, **(right or {})},
                 join={"time": "event", "size": "10s", **(join or {})},
                 **{"output": {"select": "left.k, v, w"}, **sections})


def watermark(daemon, side):
    """In ms, from /metrics; None: no record has come."""
    samples = daemon.metrics().samples
    found = samples.get(("joind_watermark_timestamp_seconds", frozenset({("side", side)})))
    return None if found is None else round(found * 1000)


def quiet_for(seconds, subscriber, count):
    """Nothing more comes."""
    time.sleep(seconds)
    assert subscriber.count() == count, subscriber.lines()


# Watermarks

def test_a_side_s_watermark_is_its_highest_time_less_the_delay(joind):
    daemon = event(joind, left={"delay": "1s"})
    assert watermark(daemon, "left") is None and watermark(daemon, "right") is None
    daemon.send("left", b"k,a,5000\nk,b,4000\n")
    assert watermark(daemon, "left") == 3999 and watermark(daemon, "right") is None
    daemon.send("right", b"k,x,20000\n")
    assert watermark(daemon, "left") == 3999 and watermark(daemon, "right") == 19999


def test_the_status_shows_the_watermark_and_who_is_idle(joind):
    daemon = event(joind, left={"idle": "1s"})
    status = daemon.status()
    for side in SIDES:
        assert status[side]["watermark"] is None
        assert status[side]["idle"] is False and status[side]["late_windows"] == 0
    daemon.send("right", b"k,x,1767225600000\n")
    assert daemon.status()["right"]["watermark"] == "2025-12-31T23:59:59.999Z"
    wait_until(lambda: daemon.status()["left"]["idle"] is True, 5, "the left side to be idle")
    assert daemon.status()["right"]["idle"] is False
    daemon.send("left", b"k,a,1767225600000\n")
    assert daemon.status()["left"]["idle"] is False


def test_processing_time_knows_no_idleness(joind):
    daemon = joind()
    assert "idle" not in daemon.status()["left"]
    assert daemon.status()["left"]["watermark"] is not None


def test_a_slow_connection_holds_time_back_and_its_close_lets_go(joind):
    daemon = event(joind)
    subscriber = daemon.subscribe()
    slow, fast = daemon.connect("left"), daemon.connect("left")
    slow.send(b"k,a,1000\n")
    daemon.wait_books("left", received=1)
    fast.send(b"k,b,30000\n")
    daemon.send("right", b"k,x,30000\n")
    daemon.send("right", b"k,y,2000\n")
    daemon.wait_books("left", received=2)
    assert watermark(daemon, "left") == 999
    assert daemon.books("right")["late"] == 0, "time waits for the slow one"
    assert subscriber.count() == 0
    slow.finish()
    assert subscriber.wait_lines(1) == ["k,a,y"]
    assert watermark(daemon, "left") == 29999


def test_a_slow_connection_that_breaks_lets_go_too(joind):
    daemon = event(joind, join={"type": "left"})
    subscriber = daemon.subscribe()
    slow, fast = daemon.connect("left"), daemon.connect("left")
    slow.send(b"k,a,1000\n")
    daemon.wait_books("left", received=1)
    fast.send(b"k,b,30000\n")
    daemon.wait_books("left", received=2)
    daemon.send("right", b"k,x,30000\n")
    assert subscriber.count() == 0
    slow.reset()
    assert subscriber.wait_lines(1) == ["k,a,"]


def test_a_connection_that_is_open_and_has_sent_nothing_does_not_hold_time_back(joind):
    daemon = event(joind)
    subscriber = daemon.subscribe()
    daemon.connect("left"), daemon.connect("right")
    wait_until(lambda: daemon.connections("left") == 1 == daemon.connections("right"), 5,
               "two silent connections")
    daemon.send("left", b"k,a,1000\nk,b,10000\n")
    daemon.send("right", b"k,x,2000\nk,y,10000\n")
    assert subscriber.wait_lines(1) == ["k,a,x"]


def test_a_side_without_connections_keeps_its_watermark(joind):
    """A shipper that reconnects must not make everything late."""
    daemon = event(joind)
    subscriber = daemon.subscribe()
    daemon.send("left", b"k,a,5000\n")
    for number in range(10, 60):
        daemon.send("right", f"q,x,{number}000\n")
    assert watermark(daemon, "left") == 4999
    daemon.send("left", b"k,b,6000\n")
    daemon.send("right", b"k,y,7000\n")
    daemon.send("left", b"k,c,10000\n")
    assert sorted(subscriber.wait_lines(2)) == ["k,a,y", "k,b,y"]
    assert daemon.books("left")["late"] == daemon.books("right")["late"] == 0


# Records that are refused for their time

@pytest.mark.parametrize("line, reason, detail", [
    (b"k,a,", b"timestamp", b"NULL"),
    (b"k,a,soon", b"type", b"soon"),
    (b"k,a,{ahead}", b"timestamp", b"max_ahead"),
], ids=["NULL", "unreadable", "too far ahead"])
def test_a_record_without_a_usable_time_costs_only_itself(joind, line, reason, detail):
    """D3: one wrong clock alone would make all that follow late."""
    now = int(time.time() * 1000)
    line = line.replace(b"{ahead}", str(now + 25 * 3600 * 1000).encode())
    daemon = event(joind, left={"max_ahead": "1d"})
    subscriber = daemon.subscribe()
    daemon.send("left", b"k,a,1000\n" + line + b"\nk,b,3000\n")
    daemon.send("right", b"k,x,2000\n")
    assert watermark(daemon, "left") == 2999
    wait_until(lambda: len(daemon.rejects()) == 1, 5, "a row of rejects")
    row = daemon.rejects()[0]
    assert row[:2] == [b"left", reason] and detail in row[2] and row[4] == line
    daemon.stop(expect=0)
    assert subscriber.wait_end() == ["k,a,x", "k,b,x"]


def test_a_time_within_max_ahead_is_believed(joind):
    daemon = event(joind, left={"max_ahead": "1d"})
    t = int(time.time() * 1000) + 23 * 3600 * 1000
    daemon.send("left", f"k,a,{t}\n")
    assert watermark(daemon, "left") == t - 1
    assert daemon.books("left")["rejected"] == 0


# Late records

def late_scene(joind, **sections):
    """A daemon that has come to 15.999 s, with windows up to 10 s over."""
    daemon = event(joind, **sections)
    for side in SIDES:
        daemon.send(side, b"z,0,16000\n")
    return daemon


def buckets(metrics, side):
    """The histogram of lateness as [(le, count)], checked to be one."""
    name = "joind_late_seconds"
    found = [(dict(labels)["le"], count) for (sample, labels), count in metrics.samples.items()
             if sample == f"{name}_bucket" and ("side", side) in labels]
    bounds = [float(le) for le, _ in found]
    assert bounds == sorted(set(bounds)) and bounds[-1] == float("inf") and found[-1][0] == "+Inf"
    counts = [count for _, count in found]
    assert counts == sorted(counts), "buckets are cumulative"
    assert counts[-1] == metrics.value(f"{name}_count", side=side)
    return list(zip(bounds, counts))


def test_late_records_are_counted_with_how_late_they_were(joind):
    daemon = late_scene(joind)
    metrics = daemon.metrics()
    for side in SIDES:
        assert buckets(metrics, side)[-1][1] == 0
        assert metrics.value("joind_late_seconds_sum", side=side) == 0
    daemon.send("left", b"k,a,3000\nk,b,9999\nk,c,10000\n")
    metrics = daemon.assert_books_balance()
    assert metrics.books("left")["late"] == 2 and metrics.books("right")["late"] == 0
    assert metrics.value("joind_late_windows_total", side="left") == 2
    assert metrics.value("joind_late_windows_total", side="right") == 0
    found = buckets(metrics, "left")
    for bound, count in found:
        assert count == (bound >= 6) + (bound >= 12.999), found
    assert metrics.value("joind_late_seconds_sum", side="left") == pytest.approx(18.999, abs=0.002)
    assert buckets(metrics, "right")[-1][1] == 0
    assert daemon.status()["left"]["late_windows"] == 2


def test_only_late_records_are_told_of_whatever_came_before_them(joind):
    """Read by read, late ones and others in changing places."""
    daemon = late_scene(joind, late={"file": "late.csv"})
    left = daemon.connect("left")
    late = []
    for number in range(1, 30):
        lines = [f"k,{number}-{place},{20000 if number >> place & 1 else 3000}"
                 for place in range(5)]
        late += [line.encode() for line in lines if line.endswith(",3000")]
        left.send("".join(line + "\n" for line in lines).encode())
        daemon.wait_books("left", received=1 + 5 * number, late=len(late))
    wait_until(lambda: len(daemon.rejects("late.csv")) >= len(late), 5, "rows of late")
    assert [row[4] for row in daemon.rejects("late.csv")] == late


def test_the_histogram_is_one_family_of_the_exposition_format(joind):
    text = late_scene(joind).metrics().text
    lines = text.splitlines()
    assert lines.count("# TYPE joind_late_seconds histogram") == 1
    at = lines.index("# TYPE joind_late_seconds histogram") + 1
    for side in SIDES:
        bucket = re.compile(rf'joind_late_seconds_bucket{{side="{side}",le="(?:[0-9.]+|\+Inf)"}} \d+$')
        while bucket.match(lines[at]):
            at += 1
        assert lines[at].startswith(f'joind_late_seconds_sum{{side="{side}"}} ')
        assert lines[at + 1].startswith(f'joind_late_seconds_count{{side="{side}"}} ')
        at += 2
    assert lines[at].startswith("# HELP ")


def test_a_record_that_is_late_for_one_of_its_windows_is_taken_by_the_other(joind):
    """W5: sliding windows of 10 s, a new one every 5 s."""
    daemon = event(joind, join={"match": "sliding", "slide": "5s"})
    subscriber = daemon.subscribe()
    daemon.send("right", b"k,x,7000\nz,0,10000\n")
    daemon.send("left", b"z,0,10000\nk,a,8000\n")
    metrics = daemon.metrics()
    assert metrics.books("left")["late"] == 0
    assert metrics.value("joind_late_windows_total", side="left") == 1
    daemon.stop(expect=0)
    assert [row for row in subscriber.wait_end() if row[0] == "k"] == ["k,a,x"]


def test_within_grace_a_late_record_gives_its_new_pairs_at_once(joind):
    """G2."""
    daemon = event(joind, join={"grace": "5s"}, late={"file": "late.csv"})
    subscriber = daemon.subscribe()
    left, right = daemon.connect("left"), daemon.connect("right")
    left.send(b"k,a,1000\nz,0,10000\n")
    right.send(b"k,x,2000\nz,0,10000\n")
    assert subscriber.wait_lines(1) == ["k,a,x"]
    right.send(b"k,y,3000\n")
    assert subscriber.wait_lines(2) == ["k,a,x", "k,a,y"]
    left.send(b"z,0,15000\n")
    daemon.wait_books("left", received=3)
    right.send(b"z,0,15000\nk,q,4000\n")
    daemon.wait_books("right", late=1, received=5)
    assert [row[4] for row in daemon.rejects("late.csv")] == [b"k,q,4000"]
    assert subscriber.lines() == ["k,a,x", "k,a,y"]


def is_now(text, started):
    """The time column is that of arrival."""
    minutes = [time.strftime("%Y-%m-%dT%H:%M", time.gmtime(started + s)) for s in (0, 60)]
    return re.fullmatch(r"\S{16}:\d\d\.\d{3}Z", text) and text[:16] in minutes


def test_late_rows_go_to_a_file_with_names_and_the_line_as_it_came(joind):
    started = time.time()
    daemon = late_scene(joind, late={"file": "late.csv", "header": "yes"})
    feeder = daemon.connect("left")
    feeder.send(b'k,"a, ""b""",3000\r\n')
    wait_until(lambda: len(daemon.rejects("late.csv")) == 2, 5, "a row of late", daemon.log_text)
    names, row = daemon.rejects("late.csv")
    assert names == [b"side", b"reason", b"detail", b"time", b"line"]
    assert row[:2] == [b"left", b"late"] and row[4] == b'k,"a, ""b""",3000'
    assert is_now(row[3].decode(), started)
    port = feeder.socket.getsockname()[1]
    assert f"(from 127.0.0.1:{port})".encode() in row[2], "the detail says from which peer"


def test_late_rows_go_to_subscribers_as_json(joind):
    started = time.time()
    daemon = late_scene(joind, late={"listen": "127.0.0.1:0", "format": "json"})
    subscriber = daemon.subscribe("late")
    daemon.send("left", "k,\u00fc,3000\n".encode())
    row = json.loads(subscriber.wait_lines(1)[0])
    assert list(row) == ["side", "reason", "detail", "time", "line"]
    assert (row["side"], row["reason"], row["line"]) == ("left", "late", "k,\u00fc,3000")
    assert is_now(row["time"], started)
    assert daemon.rejects() == [], "late is not rejected"


def test_late_rows_that_nobody_reads_are_counted_as_discarded(joind):
    daemon = late_scene(joind, late={"listen": "127.0.0.1:0"})
    daemon.send("left", b"k,a,3000\nk,b,3000\n")
    assert daemon.metric("joind_results_discarded_total", output="late") == 2
    assert daemon.books("left")["late"] == 2


def test_late_rows_that_wait_for_a_reader_hold_senders_back(joind):
    """absent = wait: not one is lost, so what makes them has to wait once the buffer is full."""
    count = 20000
    daemon = late_scene(joind, late={"listen": "127.0.0.1:0", "absent": "wait", "buffer": "64K"})
    data = "".join(f"k,{n:050},3000\n" for n in range(count)).encode()
    sender = threading.Thread(target=lambda: daemon.send("left", data), daemon=True)
    sender.start()
    wait_until(lambda: daemon.metric("joind_input_paused", side="left") == 1, 5, "a hold",
               daemon.log_text)
    taken = daemon.assert_books_balance().books("left")["late"]
    assert 0 < taken < count
    time.sleep(0.3)
    assert daemon.books("left")["late"] == taken
    subscriber = daemon.subscribe("late")
    sender.join(20 * PATIENCE)
    assert not sender.is_alive()
    subscriber.wait_lines(count, seconds=20)
    rows = parse_csv(bytes(subscriber.data))
    assert [row[4] for row in rows] == data.splitlines()
    assert daemon.metric("joind_results_discarded_total", output="late") == 0


# Idle sides

def test_an_idle_side_lets_the_other_s_results_come(joind):
    """D1."""
    daemon = event(joind, right={"idle": "1s"})
    subscriber = daemon.subscribe()
    started = time.monotonic()
    daemon.send("right", b"k,x,2000\n")
    daemon.send("left", b"k,a,1000\nk,b,900000\n")
    assert subscriber.wait_lines(1, seconds=5) == ["k,a,x"]
    assert time.monotonic() - started > 0.9
    assert daemon.status()["right"]["idle"] is True
    assert daemon.books("left")["held"] == 1


def test_with_both_sides_idle_time_moves_with_the_clock(joind):
    """D1b: windows of 2 s. The highest watermark is 2999, so the window ends a second later."""
    daemon = event(joind, left={"idle": "1s"}, right={"idle": "1s"},
                   join={"size": "2s", "type": "left"})
    subscriber = daemon.subscribe()
    daemon.send("right", b"k,x,1500\n")
    daemon.send("left", b"k,a,1000\nk,b,3000\n")
    started = time.monotonic()
    assert subscriber.wait_lines(1, seconds=5) == ["k,a,x"]
    first = time.monotonic() - started
    assert subscriber.wait_lines(2, seconds=5) == ["k,a,x", "k,b,"]
    assert 0.8 < first < 1.0 + PATIENCE
    assert 0.9 < time.monotonic() - started - first < 1.0 + PATIENCE


def test_records_of_others_do_not_make_a_silent_connection_busy(joind):
    """Each connection is idle by itself: its side goes on with those that send."""
    daemon = event(joind, left={"idle": "1s"}, join={"type": "left"})
    subscriber = daemon.subscribe()
    silent, busy = daemon.connect("left"), daemon.connect("left")
    silent.send(b"k,a,1000\n")
    daemon.wait_books("left", received=1)
    daemon.send("right", b"k,x,2000\nz,0,90000\n")
    number = 0

    def feed_until_rows_come():
        nonlocal number
        number += 1
        busy.send(f"q,{number},{20000 + number}\n".encode())
        time.sleep(0.1)
        return subscriber.count()
    wait_until(feed_until_rows_come, 5, "the silent connection to be idle")
    assert number > 8 and subscriber.lines()[0] == "k,a,x"
    assert watermark(daemon, "left") > 20000
    assert daemon.status()["left"]["idle"] is False


def test_a_record_ends_idleness_and_time_waits_again(joind):
    daemon = event(joind, right={"idle": "1s"}, join={"type": "left"})
    subscriber = daemon.subscribe()
    daemon.send("left", b"k,a,1000\nk,b,10000\n")
    assert subscriber.wait_lines(1, seconds=5) == ["k,a,"]
    right = daemon.connect("right")
    right.send(b"k,x,10500\n")
    daemon.wait_books("right", received=1)
    daemon.send("left", b"k,c,60000\n")
    assert watermark(daemon, "left") == 59999
    assert subscriber.count() == 1, "the right side counts again, and is at 10.5 s"
    right.send(b"k,y,20000\n")
    assert subscriber.wait_lines(2) == ["k,a,", "k,b,x"]


def test_a_side_that_never_sent_anything_counts_from_the_start(joind):
    daemon = event(joind, right={"idle": "1s"}, join={"type": "left"})
    subscriber = daemon.subscribe()
    started = time.monotonic()
    daemon.send("left", b"k,a,1000\nz,0,20000\n")
    assert subscriber.count() == 0, "it may still send"
    assert subscriber.wait_lines(1, seconds=5) == ["k,a,"]
    assert time.monotonic() - started < 1 + PATIENCE


def test_idle_off_waits_for_ever(joind):
    daemon = event(joind, left={"idle": "200ms"})
    subscriber = daemon.subscribe()
    daemon.send("left", b"k,a,1000\nz,0,20000\n")
    quiet_for(1.5, subscriber, 0)
    assert daemon.status()["right"]["idle"] is False
    assert daemon.books("left")["held"] == 2


def test_a_daemon_whose_sides_are_idle_sleeps(joind):
    daemon = event(joind, left={"idle": "200ms"}, right={"idle": "200ms"})
    daemon.send("left", b"k,a,1000\n")
    wait_until(lambda: daemon.status()["right"]["idle"], 5, "an idle side")
    before = daemon.cpu_seconds(), daemon.status()["loop"]["turns"]
    time.sleep(1)
    assert daemon.cpu_seconds() - before[0] < 0.1 * PATIENCE
    assert daemon.status()["loop"]["turns"] - before[1] < 50


# A full state

def test_a_full_state_holds_the_fast_side_back_and_reads_the_slow_one_on(joind):
    """Only the side that time waits for can make room: nothing is lost, and it goes on by itself."""
    count = 20000
    daemon = event(joind, state={"memory": "256K"}, left={"max_line": "1K"},
                   right={"max_line": "1K"}, join={"size": "100ms", "type": "full"},
                   output={"file": "out.csv", "select": "v, w"})
    data = "".join(f"{n},{n:040},{n}\n" for n in range(count)).encode()
    fast = threading.Thread(target=lambda: daemon.connect("left").send(data).finish(60),
                            daemon=True)
    fast.start()
    wait_until(lambda: daemon.metric("joind_input_paused", side="left") == 1, 10, "a hold")
    metrics = daemon.assert_books_balance()
    held = metrics.books("left")["held"]
    assert 100 < held < count and metrics.value("joind_state_bytes") < 1.3 * 256 * 1024
    time.sleep(0.3)
    assert daemon.books("left")["received"] == held
    slow = daemon.connect("right")
    for at in range(0, len(data), 40000):
        slow.send(data[at:at + 40000])
        assert daemon.metric("joind_state_bytes") < 1.3 * 256 * 1024
    slow.finish(60)
    fast.join(60 * PATIENCE)
    assert not fast.is_alive(), "the fast side is still held back"
    for side in SIDES:
        daemon.wait_books(side, received=count, late=0, rejected=0)
    daemon.stop(expect=0)
    rows = (daemon.folder / "out.csv").read_text().splitlines()
    assert sorted(rows) == [f"{n:040},{n:040}" for n in range(count)]


def test_a_side_is_shown_as_held_back_only_while_it_is(joind):
    daemon = event(joind, state={"memory": "256K"}, left={"max_line": "1K"},
                   right={"max_line": "1K"})
    data = "".join(f"{n},{n:040},{n}\n" for n in range(20000)).encode()
    left = daemon.connect("left")
    left.socket.settimeout(1)
    with pytest.raises(OSError):
        left.send(data * 100)
    daemon.connect("right").send(b"k,x,1\n")
    daemon.wait_books("right", received=1)
    metrics = daemon.metrics()
    assert metrics.value("joind_input_paused", side="left") == 1
    assert metrics.value("joind_input_paused", side="right") == 0, "it is read"
    assert daemon.status()["left"]["paused"] and not daemon.status()["right"]["paused"]
    left.reset()


def test_a_side_that_is_held_back_is_not_idle(joind):
    daemon = event(joind, state={"memory": "256K"}, left={"max_line": "1K", "idle": "300ms"},
                   right={"max_line": "1K"}, join={"type": "left"})
    subscriber = daemon.subscribe()
    data = "".join(f"{n},{n:040},{n}\n" for n in range(9000)).encode()
    sender = threading.Thread(target=lambda: daemon.connect("left").send(data).finish(60),
                              daemon=True)
    sender.start()
    wait_until(lambda: daemon.metric("joind_input_paused", side="left") == 1, 10, "a hold")
    time.sleep(1)
    assert daemon.status()["left"]["idle"] is False
    assert subscriber.count() == 0
    daemon.signal(signal.SIGTERM)
    sender.join(20 * PATIENCE)
    daemon.wait_exit(expect=0)
    assert len(subscriber.wait_end()) == 9000


def test_after_a_hold_idle_time_counts_anew_and_is_noticed_in_silence(joind):
    daemon = event(joind, left={"idle": "1s"}, right={"idle": "1s"},
                   late={"listen": "127.0.0.1:0", "absent": "wait", "buffer": "64K"})
    results = daemon.subscribe()
    for side in SIDES:
        daemon.send(side, b"z,0,19500\n")
    data = "".join(f"k,{n:050},3000\n" for n in range(5000)).encode()
    sender = threading.Thread(target=lambda: daemon.send("left", data), daemon=True)
    sender.start()
    wait_until(lambda: daemon.metric("joind_input_paused", side="left") == 1, 5, "a hold")
    time.sleep(1.5)
    assert daemon.status()["left"]["idle"] is False
    late = daemon.subscribe("late")
    late.wait_lines(5000)
    sender.join(20 * PATIENCE)
    started = time.monotonic()
    assert results.count() == 0
    assert results.wait_lines(1, seconds=4) == ["z,0,0"]
    assert time.monotonic() - started > 0.9


# A stop

def test_a_stop_decides_all_that_is_held(joind):
    daemon = event(joind, join={"type": "full", "grace": "1h"}, late={"file": "late.csv"})
    subscriber = daemon.subscribe()
    left, right = daemon.connect("left"), daemon.connect("right")
    left.send(b"k,a,1000\nq,b,50000\n")
    right.send(b"k,x,2000\np,y,100000\n")
    daemon.wait_books("left", received=2)
    daemon.wait_books("right", received=2)
    daemon.signal(signal.SIGTERM)
    left.read_end()
    left.send(b"k,c,3000\n")      # what is under way still comes, and is not late
    left.finish()
    right.read_end()
    right.close()
    daemon.wait_exit(expect=0)
    rows = subscriber.wait_end()
    assert sorted(rows) == [",,y", "k,a,x", "k,c,x", "q,b,"]
    assert (daemon.folder / "late.csv").read_bytes() == b""


def test_a_stop_while_a_side_is_waited_for_ends_at_once(joind):
    daemon = event(joind, join={"type": "left"})
    subscriber = daemon.subscribe()
    daemon.send("left", "".join(f"k{n},a,{n}000\n" for n in range(1000)))
    assert subscriber.count() == 0
    started = time.monotonic()
    daemon.stop(expect=0)
    assert time.monotonic() - started < 2 * PATIENCE
    assert len(subscriber.wait_end()) == 1000


def test_books_balance_while_time_goes_on(joind):
    daemon = event(joind, join={"match": "sliding", "slide": "3s", "type": "full", "grace": "2s"},
                   left={"delay": "1s"})
    subscriber = daemon.subscribe()
    feeders = {side: [daemon.connect(side) for _ in range(3)] for side in SIDES}
    for number in range(150):
        for side in SIDES:
            t = number * 700 - (number * 7919 % 15) * 1000
            feeders[side][number % 3].send(f"{number % 11},{number},{t}\n".encode())
        daemon.assert_books_balance()
    for side in SIDES:
        daemon.wait_books(side, received=150)
    metrics = daemon.assert_books_balance()
    assert metrics.books("left")["late"] > 0
    assert metrics.value("joind_late_windows_total", side="left") > metrics.books("left")["late"]
    daemon.stop(expect=0)
    assert subscriber.wait_end()
