"""What people report about daemons like this one, each as a test under its number.

The numbers are of the list of real complaints that joind was designed against. Elsewhere are 10
(test_lookup.py, test_batch.py), 13 and 14 (test_connections.py: peers that vanish, CLOSE_WAIT, no
descriptors left), 17 (test_clock.py) and 23 (test_event_time.py).
"""

import signal
import time

import pytest

from joind import config, run, wait_until

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


# Results come at once, in the order of their causes.
AT_ONCE = {"match": "interval", "size": None, "lower": "-1h", "upper": "1h"}


@pytest.mark.parametrize("end, whole", [("FIN", True), ("RST", False), ("our own stop", False)])
def test_1_a_last_line_without_its_end_is_whole_only_if_its_sender_said_so(joind, end, whole):
    daemon = joind(join={"type": "left"}, output={"file": "out.csv"})
    feeder = daemon.connect("left").send(b"1,a\n2,b")
    daemon.wait_books("left", received=1)
    if end == "FIN":
        feeder.finish()
    elif end == "RST":
        feeder.reset()
        daemon.wait_books("left", received=2)
    daemon.stop(expect=0)       # the third sender goes on for ever: it is cut off after 5 s
    rows = (daemon.folder / "out.csv").read_text().splitlines()
    assert rows == (["1,a,,", "2,b,,"] if whole else ["1,a,,"])
    assert [(row[1], row[4]) for row in daemon.rejects()] == \
        ([] if whole else [(b"unfinished", b"2,b")]), "and what is not whole is not lost silently"


def test_2_a_cr_before_a_line_s_end_is_no_part_of_the_last_column(joind):
    daemon = joind(left={"fields": "v, k"}, right={"fields": "w, k"}, join=AT_ONCE)
    subscriber = daemon.subscribe()
    daemon.send("left", b"a,1\r\nb,2\r\n")
    daemon.send("right", b"x,1\ny,2\r")
    assert subscriber.wait_lines(2) == ["a,1,x,1", "b,2,y,2"]


@pytest.mark.parametrize("side, sent", [
    ({}, b"\xef\xbb\xbf1,a\n"),
    ({"header": "yes"}, b"\xef\xbb\xbfk,v\n1,a\n"),
    ({"format": "json"}, b'\xef\xbb\xbf{"k":1,"v":"a"}\n'),
], ids=["csv", "header", "json"])
def test_3_a_byte_order_mark_is_no_part_of_the_first_column(joind, side, sent):
    daemon = joind(left=side, join=AT_ONCE)
    subscriber = daemon.subscribe()
    daemon.send("right", b"1,x\n")
    for number in range(2):     # at the start of each connection
        daemon.send("left", sent)
        assert subscriber.wait_lines(number + 1)[-1] == "1,a,1,x"


@pytest.mark.parametrize("piece", [1 << 20, 4096, 999])
def test_4_a_line_that_is_too_long_is_one_rejected_record_and_its_connection_goes_on(joind, piece):
    daemon = joind(left={"max_line": "64K"}, join=AT_ONCE)
    subscriber = daemon.subscribe()
    daemon.send("right", b"1,x\n")
    feeder = daemon.connect("left")
    sent = b"1,before\n" + b"1," + b",1,tail" * 60000 + b"\n1,after\n"
    for at in range(0, len(sent), piece):
        feeder.send(sent[at:at + piece])
    assert subscriber.wait_lines(2) == ["1,before,1,x", "1,after,1,x"]
    daemon.wait_books("left", received=3, rejected=1)
    cpu, until = daemon.cpu_seconds(), time.monotonic() + 0.5
    wait_until(lambda: time.monotonic() > until)
    assert daemon.cpu_seconds() - cpu < 0.2, "it spins"


@pytest.mark.parametrize("kind, bad, reason", [
    ("csv", b"1,\0", b"nul"),
    ("csv", b"1,\xff\xf4", b"telnet"),
    ("json", b'{"k":"1","v":"\xc3("}', b"utf8"),
    ("json", b'{"k":"1","v":"\\u0000"}', b"json"),
])
def test_5_a_nul_or_bytes_that_are_no_text_cost_their_record_alone(joind, kind, bad, reason):
    good = b"1,a" if kind == "csv" else b'{"k":"1","v":"a"}'
    daemon = joind(left={"format": kind})
    daemon.send("left", good + b"\n" + bad + b"\n" + good + b"\n")
    daemon.wait_books("left", received=3, rejected=1, held=2)
    assert [row[1] for row in daemon.rejects()] == [reason]


def test_5_csv_bytes_that_are_not_utf_8_are_carried_as_they_are(joind):
    daemon = joind(join=AT_ONCE)
    subscriber = daemon.subscribe()
    daemon.send("left", b"caf\xe9,a\n")
    daemon.send("right", b"caf\xe9,x\n")
    assert subscriber.wait_lines(1) == ["caf\udce9,a,caf\udce9,x"]


@pytest.mark.parametrize("changes, where", [
    ({"left": {"fields": "k, v, k"}}, "[left] fields"),
    ({"output": {"select": "v as x, w as x"}}, "[output] select"),
])
def test_6_two_columns_of_one_name_are_an_error_of_the_configuration(tmp_path, changes, where):
    (tmp_path / "t.ini").write_text(config(**changes))
    done = run("--check", "t.ini", cwd=tmp_path)
    assert done.returncode == 78
    assert where in done.log


def test_6_two_columns_of_one_name_in_a_header_are_no_usable_header(joind):
    daemon = joind(left={"header": "yes"})
    daemon.send("left", b"k,v,k\n1,a,2\n")
    daemon.wait_books("left", received=2, rejected=2)


def test_7_empty_keys_do_not_match_each_other(tmp_path):
    found, _ = replay(tmp_path, ",a,1\n", ",x,1\n", "type = full\nsize = 10s")
    assert found == [",x", "a,"]


@pytest.mark.parametrize("kind, rows", [("", [",ten", "seven,", "zeros,"]),
                                        (" bigint", ["seven,seven", "zeros,ten"])])
def test_8_keys_are_text_unless_typed_and_numbers_are_never_octal(tmp_path, kind, rows):
    sets = [f"{side}.fields=k{kind}, {value}, t timestamp_ms"
            for side, value in (("left", "v"), ("right", "w"))]
    found, _ = replay(tmp_path, "007,seven,1\n0000010,zeros,1\n",
                      "10,ten,1\n" + ("7,seven,1\n" if kind else ""), "type = full\nsize = 10s",
                      sets=sets)
    assert found == rows


def test_9_a_space_after_a_comma_is_kept_and_can_be_seen_in_messages(joind):
    daemon = joind(left={"fields": "k, v, n bigint"}, join=AT_ONCE, output={"select": "v, w"})
    subscriber = daemon.subscribe()
    daemon.send("left", b"1, a,5\n1,b, 7\n")
    daemon.send("right", b"1,x\n 1,y\n")
    assert subscriber.wait_lines(1) == [" a,x"]
    daemon.wait_books("right", received=2, held=1)      # " 1" is another key
    assert b'" 7"' in daemon.rejects()[0][2]
    daemon.wait_log('" 7"')


@pytest.mark.parametrize("output", ["rejects", "output"])
def test_11_a_dead_output_that_may_be_dropped_stops_nothing(joind, output):
    settings = {"listen": "127.0.0.1:0", "buffer": "64K", "slow": "disconnect"}
    daemon = joind(join=AT_ONCE, **{"rejects": settings, output: settings})
    dead = daemon.subscribe(output, receive_buffer=4096, paused=True)
    alive = daemon.subscribe()
    feeder = daemon.connect("left")
    daemon.send("right", b"1,%s\n" % (b"x" * 1000))
    for _ in range(4):
        feeder.send((b"1,a,%s\n" if output == "rejects" else b"1,%s\n") % (b"b" * 1000) * 2000)
    feeder.send(b"1,last\n")
    wait_until(lambda: alive.data.endswith(b"1,last,1," + b"x" * 1000 + b"\n"), 20, "the last row",
               daemon.log_text)
    daemon.wait_log(f"{output}: .*disconnected")
    assert daemon.metric("joind_results_discarded_total", output=output) > 0
    dead.close()


def test_12_connections_that_stop_within_a_line_stall_no_other(joind):
    daemon = joind(join=AT_ONCE, state={"memory": "2M"})
    subscriber = daemon.subscribe()
    idle = [daemon.connect(side).send(b"1," + b"x" * 10000) for side in ("left", "right")
            for _ in range(300)]
    wait_until(lambda: daemon.metric("joind_input_bytes_total", side="right") == 300 * 10002, 10,
               "all that they sent")
    daemon.send("left", b"1,a\n")
    daemon.send("right", b"1,x\n")
    assert subscriber.wait_lines(1) == ["1,a,1,x"]
    daemon.signal(signal.SIGTERM)
    for one in idle:
        one.reset()
    daemon.wait_exit(expect=0)


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


def test_21_a_row_without_a_partner_comes_though_nothing_more_is_sent(joind):
    daemon = joind(join={"type": "left", "size": "1s"})
    subscriber = daemon.subscribe()
    daemon.send("left", b"1,a\n")
    assert subscriber.wait_lines(1, seconds=4) == ["1,a,,"]


def test_22_every_partner_of_several_is_joined(tmp_path):
    found, _ = replay(tmp_path, "k,a,1\nk,b,2\n", "k,x,1\nk,y,2\nk,z,3\n", "size = 10s")
    assert found == ["a,x", "a,y", "a,z", "b,x", "b,y", "b,z"]
