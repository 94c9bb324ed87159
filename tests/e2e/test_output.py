"""Subscribers: many, late, absent, slow, gone. Results are pulled by them; reading goes on."""

import contextlib
import json
import resource
import signal
import subprocess
import threading
import time

import pytest

from joind import PATIENCE, SANITIZED, at_window_start, wait_until
from tools import WINDOW

HOT_LEFT = [f"hot,left-value-{n:06}" for n in range(1000)]
HOT_RIGHT = [f"hot,right-value-{n:06}" for n in range(1000)]
HOT_COUNT = len(HOT_LEFT) * len(HOT_RIGHT)
# Every left record gives its result at once.
AT_ONCE = {"match": "latest", "type": "left", "size": None}
SMALL = 4096        # a receive buffer that leaves the waiting to joind


def hot_pairs():
    """What a window with the hot key gives: left-major, in order of arrival. About 40 MB."""
    return "".join(f"{left},{right}\n" for left in HOT_LEFT for right in HOT_RIGHT).encode()


def hot(joind, clock, **output):
    """A daemon for send_hot()."""
    return joind(env=clock.env, join={"size": WINDOW}, output={"buffer": "64K", **output})


def send_hot(daemon, clock):
    """Puts 1,000 x 1,000 records of one key into one window, and ends it."""
    daemon.send("left", "\n".join(HOT_LEFT) + "\n")
    daemon.send("right", "\n".join(HOT_RIGHT) + "\n")
    assert daemon.books("left")["held"] == 1000
    clock.end_window()


def written(daemon, output="output"):
    return int(daemon.metric("joind_output_bytes_total", output=output))


def discarded(daemon):
    return int(daemon.metric("joind_results_discarded_total", output="output"))


def wait_stuck(daemon, seconds=10):
    """Returns when output was written and no more of it goes out for half a second."""
    seen = [-1, time.monotonic()]

    def stuck():
        now = written(daemon)
        if now != seen[0]:
            seen[:] = now, time.monotonic()
        return now > 0 and time.monotonic() - seen[1] > 0.5
    wait_until(stuck, seconds, "output that stands still", daemon.log_text)


def send_what_goes(feeder, data):
    """For a sender that a stop cuts off."""
    with contextlib.suppress(OSError):
        feeder.send(data)


# Who gets what.

def test_each_subscriber_gets_every_result_from_when_it_connects(joind):
    daemon = joind(join={"size": "1s", "type": "left"}, output={"header": "yes"})
    first, second = daemon.subscribe(), daemon.subscribe()
    daemon.send("left", b"1,a\n")
    first.wait_lines(2, seconds=4)
    late = daemon.subscribe()
    daemon.send("left", b"2,b\n")
    head = "k,v,right.k,w"
    for subscriber in (first, second):
        assert subscriber.wait_lines(3, seconds=4) == [head, "1,a,,", "2,b,,"]
    assert late.wait_lines(2, seconds=4) == [head, "2,b,,"]
    second.reset()
    wait_until(lambda: daemon.connections("output") == 2, 10, "the subscriber's end")
    daemon.send("left", b"3,c\n")
    assert first.wait_lines(4, seconds=4)[-1] == "3,c,,"
    daemon.stop(expect=0)
    assert late.wait_end() == [head, "2,b,,", "3,c,,"]


def test_what_a_subscriber_that_has_ended_did_not_take_goes_to_the_next(joind):
    """Its end (Ctrl-C on nc) looks as if it only sent nothing any more, until what is written to it
    is answered with a RST."""
    daemon = joind(join=AT_ONCE)
    gone = daemon.subscribe()
    daemon.send("left", b"0,a\n")
    assert gone.wait_lines(1) == ["0,a,,"]
    gone.close()
    daemon.send("left", b"1,a\n2,a\n")
    wait_until(lambda: daemon.connections("output") == 0, 10, "the subscriber's end")
    daemon.send("left", b"3,a\n")
    following = daemon.subscribe()
    assert following.wait_lines(3) == ["1,a,,", "2,a,,", "3,a,,"]
    daemon.stop(expect=0)
    assert len(following.wait_end()) == 3


def test_what_a_half_closed_subscriber_did_take_goes_to_nobody_else(joind):
    daemon = joind(join=AT_ONCE)
    first = daemon.subscribe()
    first.half_close()
    for number in range(3):
        daemon.send("left", f"{number},a\n")
        first.wait_lines(number + 1)
    first.reset()
    wait_until(lambda: daemon.connections("output") == 0, 10, "the subscriber's end")
    daemon.send("left", b"3,a\n")
    assert daemon.subscribe().wait_lines(1) == ["3,a,,"]
    assert first.lines() == ["0,a,,", "1,a,,", "2,a,,"]


def test_a_half_closed_subscriber_that_is_slow_gets_every_byte_once(joind, clock):
    daemon = hot(joind, clock)
    first = daemon.subscribe(receive_buffer=SMALL, bytes_per_second=4 << 20)
    first.half_close()
    send_hot(daemon, clock)
    wait_until(lambda: first.count() > 10000, 10, "some lines")
    first.resume()
    first.wait_lines(HOT_COUNT, seconds=60)
    daemon.stop(expect=0)
    first.wait_end()
    assert first.data == hot_pairs()


@pytest.mark.parametrize("end", ["close", "reset"])
def test_a_unix_subscriber_is_as_any_other(joind, end):
    daemon = joind(join=AT_ONCE, output={"listen": "unix:out.sock", "header": "yes"})
    first = daemon.subscribe()
    daemon.send("left", b"1,a\n")
    first.wait_lines(2)
    first.reset() if end == "reset" else first.close()
    wait_until(lambda: daemon.connections("output") == 0, 10, "the subscriber's end")
    daemon.send("left", b"2,a\n")
    following = daemon.subscribe()
    following.half_close()
    daemon.send("left", b"3,a\n")
    assert following.wait_lines(3) == ["k,v,right.k,w", "2,a,,", "3,a,,"]
    daemon.stop(expect=0)
    following.wait_end()


@pytest.mark.parametrize("place", ["unix:out.sock", "127.0.0.1:0"])
def test_a_subscriber_that_takes_nothing_is_gone_after_a_time(joind, clock, place):
    """And what it left is the next one's."""
    daemon = hot(joind, clock, listen=place, dead_after="2s")
    deaf = daemon.subscribe(paused=True)
    send_hot(daemon, clock)
    wait_stuck(daemon)
    delivered = written(daemon)
    daemon.wait_log("output: .* has gone: it took nothing")
    expected = hot_pairs()
    line = len(expected) // HOT_COUNT
    rest = expected[delivered // line * line:]
    following = daemon.subscribe()
    following.wait_lines(len(rest) // line, seconds=60)
    assert following.data == rest
    deaf.resume()
    wait_until(lambda: deaf.ended, 10, "the end")
    assert deaf.data == expected[:delivered]
    daemon.stop(expect=0)


def test_results_wait_for_an_absent_subscriber(joind):
    daemon = joind(join={"size": "1s", "type": "left"})
    started = time.time()
    for number in range(2):
        at_window_start(1)
        daemon.send("left", f"{number},a\n")
        wait_until(lambda: time.time() % 1 > 0.9, 2, "the window's end")
    wait_until(lambda: time.time() > started + 2.5, 4, "both windows to be over")
    assert daemon.is_running()
    daemon.assert_books_balance()
    assert daemon.subscribe().wait_lines(2) == ["0,a,,", "1,a,,"]
    daemon.wait_books("left", unmatched=2, held=0)


def test_results_are_counted_when_absent_is_discard(joind):
    daemon = joind(join={"size": "1s", "type": "left"}, output={"absent": "discard"})
    daemon.send("left", b"1,a\n2,b\n")
    wait_until(lambda: discarded(daemon) == 2, 4, "two discarded results")
    daemon.wait_books("left", unmatched=2, held=0)
    subscriber = daemon.subscribe()
    daemon.send("left", b"3,c\n")
    assert subscriber.wait_lines(1, seconds=4) == ["3,c,,"]
    daemon.stop(expect=0)


def test_what_the_last_subscriber_left_is_counted_at_the_stop(joind, clock):
    """Also where absent = discard, though nobody is waited for then."""
    daemon = hot(joind, clock, absent="discard")
    deaf = daemon.subscribe(paused=True)
    send_hot(daemon, clock)
    wait_stuck(daemon)
    deaf.reset()
    wait_until(lambda: discarded(daemon) > 0, 10, "the rest to be discarded", daemon.log_text)
    daemon.stop(expect=0)
    assert daemon.log_matches(r"output: stopped with [1-9]\d* rows in its buffers")


def test_rejects_are_discarded_when_nobody_listens(joind):
    daemon = joind(rejects={"listen": "127.0.0.1:0"})
    daemon.send("left", b"bad\n")
    assert daemon.metric("joind_results_discarded_total", output="rejects") == 1
    subscriber = daemon.subscribe("rejects")
    daemon.send("left", b"worse\n")
    assert subscriber.wait_lines(1)[0].endswith(",worse")
    daemon.stop(expect=0)


def test_rejects_may_be_json_lines_on_a_port(joind):
    daemon = joind(rejects={"listen": "127.0.0.1:0", "format": "json"})
    subscriber = daemon.subscribe("rejects")
    daemon.send("right", b'bad "line"\n')
    row = json.loads(subscriber.wait_lines(1)[0])
    assert list(row) == ["side", "reason", "detail", "time", "line"]
    assert (row["side"], row["line"]) == ("right", 'bad "line"')


@pytest.mark.parametrize("section", ["rejects", "late"])
def test_fate_rows_wait_for_a_subscriber_if_so_configured(joind, section):
    """Up to their buffer: then senders are held back, and nothing is lost."""
    daemon = joind(**{section: {"listen": "127.0.0.1:0", "absent": "wait", "buffer": "64K"}},
                   left={"fields": "k, v, at timestamp_ms", "timestamp": "at"},
                   right={"fields": "k, w, at timestamp_ms", "timestamp": "at"},
                   join={"time": "event", "size": "1s"})
    now = int(time.time() * 1000)
    good = f"k,v,{now}\n".encode()
    line = b"bad\n" if section == "rejects" else b"k,v," + str(now - 100000).encode() + b"\n"
    for side in ("left", "right"):
        daemon.send(side, good)
    feeder = daemon.connect("left")
    thread = threading.Thread(target=feeder.send, args=(line * 200000,), daemon=True)
    thread.start()
    wait_until(lambda: daemon.metric("joind_input_paused", side="left") == 1, 10, "a hold",
               daemon.log_text)
    assert daemon.books("left")["received"] < 20000
    subscriber = daemon.subscribe(section)
    subscriber.wait_lines(200000, seconds=30)
    thread.join(10)
    daemon.assert_books_balance()
    assert daemon.metric("joind_results_discarded_total", output=section) == 0


def test_rejects_whose_disk_is_full_hold_senders_back(joind, tmp_path):
    """A limit on the size of files stands for a full disk. A torn line that was there is ended."""
    (tmp_path / "rejects.csv").write_bytes(b"old row\ntorn")
    unlimited = resource.RLIM_INFINITY

    def small_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000000, unlimited))

    daemon = joind(preexec=small_files)
    count = 60000
    feeder = daemon.connect("left")
    thread = threading.Thread(target=feeder.send, args=(b"bad\n" * count,), daemon=True)
    thread.start()
    wait_until(lambda: "rejects.csv: File too large" in daemon.healthz()[1], 20, "a full disk",
               daemon.log_text)
    assert daemon.healthz()[0] == 503
    wait_until(lambda: daemon.metric("joind_input_paused", side="left") == 1, 20, "a hold",
               daemon.log_text)
    daemon.wait_log("rejects: cannot write to .*; waiting for room, nothing is lost")
    resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE, (unlimited, unlimited))
    thread.join(20 * PATIENCE)
    feeder.finish()
    daemon.wait_books("left", rejected=count)
    assert daemon.healthz()[0] == 200
    daemon.wait_log("rejects: written again")
    daemon.stop(expect=0)
    rows = (tmp_path / "rejects.csv").read_bytes().split(b"\n")
    assert rows[:2] == [b"old row", b"torn"]
    assert len(rows) == 2 + count + 1 and all(row.endswith(b",bad") for row in rows[2:-1])


@pytest.mark.parametrize("slow", ["disconnect", "discard"])
def test_a_subscriber_of_rejects_that_does_not_read_holds_up_for_five_seconds(joind, slow):
    daemon = joind(rejects={"listen": "127.0.0.1:0", "slow": slow, "buffer": "64K"})
    deaf = daemon.subscribe("rejects", receive_buffer=SMALL, paused=True)
    feeder = daemon.connect("left")
    count = 60000
    line = b"bad" + b"x" * 200 + b"\n"
    thread = threading.Thread(target=feeder.send, args=(line * count,), daemon=True)
    started = time.monotonic()
    thread.start()
    thread.join(30 * PATIENCE)
    assert not thread.is_alive() and time.monotonic() - started > 3
    daemon.wait_books("left", rejected=count)
    assert 0 < daemon.metric("joind_results_discarded_total", output="rejects") < count
    assert daemon.connections("rejects") == (1 if slow == "discard" else 0)
    assert deaf.count() == 0


@pytest.mark.parametrize("options", [["-N"], []], ids=["nc -N", "nc"])
def test_a_subscriber_that_closes_its_sending_side_gets_everything(joind, tmp_path, options):
    daemon = joind()
    host, port = daemon.address("output")
    with open(tmp_path / "got", "wb") as got:
        reader = subprocess.Popen(["nc", *options, host, str(port)], stdin=subprocess.DEVNULL,
                                  stdout=got)
        wait_until(lambda: daemon.connections("output") == 1, 10, "nc to be connected")
        daemon.send("left", b"1,a\n")
        daemon.send("right", b"1,x\n")
        daemon.stop(expect=0)
        assert reader.wait(10 * PATIENCE) == 0
    assert (tmp_path / "got").read_bytes() == b"1,a,1,x\n"


def test_what_a_subscriber_sends_is_thrown_away(joind):
    daemon = joind()
    subscriber = daemon.subscribe()
    for _ in range(32):
        subscriber.socket.sendall(b"1,a\n" * (1 << 15))
    daemon.send("left", b"1,a\n")
    daemon.send("right", b"1,x\n")
    assert daemon.books("left")["received"] == 1
    daemon.stop(expect=0)
    assert subscriber.wait_end() == ["1,a,1,x"]


# Slow ones.

def test_reading_goes_on_while_a_slow_reader_holds_a_hot_key(joind, clock):
    daemon = hot(joind, clock)
    subscriber = daemon.subscribe(receive_buffer=SMALL, paused=True)
    send_hot(daemon, clock)
    wait_stuck(daemon)
    daemon.send("left", b"next,a\n" * 100)
    daemon.send("right", b"next,x\n")
    clock.end_window()
    assert daemon.assert_books_balance().books("left")["received"] == 1100
    started = time.monotonic()
    assert daemon.healthz()[0] == 200
    assert time.monotonic() - started < 1 * PATIENCE
    subscriber.resume()
    wait_until(lambda: subscriber.count() >= HOT_COUNT, 60, "all pairs of the hot key")
    subscriber.wait_lines(HOT_COUNT + 100, seconds=20)
    daemon.wait_books("left", matched=1100, held=0)
    daemon.wait_books("right", matched=1001, held=0)
    daemon.stop(expect=0)
    subscriber.wait_end()
    expected = hot_pairs()
    assert subscriber.data[:len(expected)] == expected
    assert subscriber.data[len(expected):] == b"next,a,next,x\n" * 100


def test_the_buffer_of_a_gone_subscriber_is_kept_for_the_next(joind, clock):
    daemon = hot(joind, clock)
    gone = daemon.subscribe(receive_buffer=SMALL, bytes_per_second=200000)
    send_hot(daemon, clock)
    wait_until(lambda: gone.count() > 500, 10, "some lines")
    gone.pause()
    wait_stuck(daemon)
    gone.close()
    wait_until(lambda: daemon.connections("output") == 0, 10, "the subscriber's end")
    delivered = written(daemon)
    following = daemon.subscribe()
    expected = hot_pairs()
    line = len(expected) // HOT_COUNT
    # Written to the socket counts as delivered, a line not wholly written does not.
    rest = expected[delivered // line * line:]
    following.wait_lines(len(rest) // line, seconds=60)
    assert following.data == rest
    assert bytes(gone.data) == expected[:len(gone.data)]
    daemon.wait_books("left", matched=1000, held=0)
    daemon.stop(expect=0)


def test_all_wait_for_a_slow_subscriber_by_default(joind, clock):
    daemon = hot(joind, clock)
    slow = daemon.subscribe(receive_buffer=SMALL, paused=True)
    quick = daemon.subscribe()
    send_hot(daemon, clock)
    wait_stuck(daemon)
    assert quick.count() < HOT_COUNT / 2
    slow.resume()
    for subscriber in (slow, quick):
        subscriber.wait_lines(HOT_COUNT, seconds=60)
        assert subscriber.data == hot_pairs()
    assert discarded(daemon) == 0
    daemon.stop(expect=0)


def test_a_slow_subscriber_is_disconnected_after_five_seconds_if_so_configured(joind, clock):
    daemon = hot(joind, clock, slow="disconnect")
    slow = daemon.subscribe(receive_buffer=SMALL, paused=True)
    quick = daemon.subscribe()
    send_hot(daemon, clock)
    wait_stuck(daemon)
    stuck = time.monotonic()
    assert daemon.connections("output") == 2, "cut off too early"
    wait_until(lambda: daemon.connections("output") == 1, 10, "the slow one's end")
    assert time.monotonic() - stuck > 3, "cut off too early"
    quick.wait_lines(HOT_COUNT, seconds=60)
    assert quick.data == hot_pairs()
    assert discarded(daemon) > 0
    daemon.wait_log("slow|disconnect|cut")
    slow.resume()
    wait_until(lambda: slow.ended, 10, "the slow one to see its end")
    assert bytes(slow.data) == hot_pairs()[:len(slow.data)]
    daemon.stop(expect=0)


def test_a_subscriber_that_reads_slowly_but_reads_is_not_disconnected(joind, clock):
    """Its socket has room for megabytes: that it reads shows there long before it takes more."""
    daemon = hot(joind, clock, slow="disconnect")
    slow = daemon.subscribe(receive_buffer=SMALL, bytes_per_second=50000)
    send_hot(daemon, clock)
    wait_stuck(daemon, seconds=20)
    time.sleep(9)
    assert daemon.connections("output") == 1, daemon.log_text()
    assert discarded(daemon) == 0
    slow.pause()
    wait_until(lambda: daemon.connections("output") == 0, 12, "the end of who reads no more")


def test_subscribers_of_any_speed_get_the_same(joind, clock):
    daemon = hot(joind, clock, buffer="256K")
    rates = (None, 16 << 20, 8 << 20, 6 << 20)
    subscribers = [daemon.subscribe(receive_buffer=SMALL * 4, bytes_per_second=rate)
                   for rate in rates]
    send_hot(daemon, clock)
    expected = hot_pairs()
    for subscriber in subscribers:
        subscriber.wait_lines(HOT_COUNT, seconds=60)
        assert subscriber.data == expected
    assert discarded(daemon) == 0
    daemon.stop(expect=0)


def test_a_slow_subscriber_s_results_are_discarded_if_so_configured(joind, clock):
    daemon = hot(joind, clock, slow="discard")
    slow = daemon.subscribe(receive_buffer=SMALL, paused=True)
    quick = daemon.subscribe()
    send_hot(daemon, clock)
    quick.wait_lines(HOT_COUNT, seconds=60)
    assert quick.data == hot_pairs()
    daemon.wait_books("left", matched=1000, held=0)
    lost = discarded(daemon)
    assert 0 < lost < HOT_COUNT
    assert daemon.connections("output") == 2
    slow.resume()
    wait_until(lambda: slow.count() == HOT_COUNT - lost, 10, "what was not discarded")
    daemon.send("left", b"k,again\n")
    daemon.send("right", b"k,again\n")
    daemon.stop(expect=0)
    rows = slow.wait_end()
    assert rows[-1] == "k,again,k,again"
    assert set(rows[:-1]) <= set(hot_pairs().decode().split("\n")), "a torn line"


# One key, ten thousand million results.

def test_a_walk_over_a_huge_hot_key_takes_no_memory_and_holds_nothing_up(joind, clock):
    count = 100000
    daemon = joind(env=clock.env, join={"size": WINDOW}, output={"buffer": "256K"},
                   state={"memory": "1G"})
    subscriber = daemon.subscribe(receive_buffer=SMALL, bytes_per_second=2 << 20)
    # Once before: whatever is touched for the first time is not the walk's. Large enough for a
    # second thread, if there is one.
    daemon.send("left", b"warm,up\n" * 200 + b"".join(b"%d,alone\n" % n for n in range(4000)))
    daemon.send("right", b"warm,up\n" * 200)
    clock.end_window()
    subscriber.wait_lines(40000)
    daemon.status(), daemon.healthz()

    before_walk = written(daemon)
    for side in ("left", "right"):
        daemon.send(side, b"".join(b"hot,%s-%06d\n" % (side.encode(), n) for n in range(count)))
    assert daemon.books("left")["held"] == count
    memory = daemon.memory()
    clock.end_window()
    wait_until(lambda: written(daemon) > before_walk, 5, "the walk's start")

    grown = 0
    ticked = daemon.metric("joind_watermark_timestamp_seconds", side="left")
    walk_ends = time.monotonic() + 4
    sent = received = daemon.books("right")["received"]
    while time.monotonic() < walk_ends:
        # Few, since what is held of them is memory too.
        time.sleep(0.1)
        daemon.send("right", b"later,x\n" * 20)
        sent += 20
        started = time.monotonic()
        assert daemon.healthz()[0] == 200
        assert time.monotonic() - started < 1 * PATIENCE, "/healthz is held up"
        received = daemon.assert_books_balance().books("right")["received"]
        assert received == sent, "reading is held up"
        grown = max(grown, daemon.memory() - memory)
    assert written(daemon) > before_walk + (1 << 20), "the walk stands still"
    assert daemon.metric("joind_watermark_timestamp_seconds", side="left") > ticked + 2, "no ticks"
    loop = daemon.status()["loop"]
    if not SANITIZED:
        assert grown <= 1 << 20, f"{grown} bytes more during the walk"
        assert loop["turn_cpu_max_us"] < 5000, loop

    subscriber.close()
    started = time.monotonic()
    daemon.signal(signal.SIGTERM)
    daemon.wait_exit(seconds=20, expect=1)
    assert time.monotonic() - started < 14 * PATIENCE
    daemon.wait_log("result")
