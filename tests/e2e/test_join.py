"""What comes in over real sockets and files comes out joined. The fine points of windows are the
scenarios' and the model test's; here the whole daemon is looked at from outside."""

import json
import os
import random
import socket
import threading

import pytest

from joind import PATIENCE, config, run, wait_until
from tools import WINDOW

LEFT = b"1,a\n1,b\n2,c\n,d\n"
RIGHT = b"1,x\n1,y\n3,z\n,w\n"
PAIRS = ["1,a,1,x", "1,a,1,y", "1,b,1,x", "1,b,1,y"]
LEFT_ALONE = ["2,c,,", ",d,,"]
RIGHT_ALONE = [",,3,z", ",,,w"]


def joined(joind, left=LEFT, right=RIGHT, /, **sections):
    """The rows that come when the daemon is stopped after it has read both."""
    daemon = joind(**sections)
    subscriber = daemon.subscribe()
    daemon.send("left", left)
    daemon.send("right", right)
    daemon.assert_books_balance()
    daemon.stop(expect=0)
    return subscriber.wait_end()


# The six types.

@pytest.mark.parametrize("kind, expected", [
    ("inner", PAIRS),
    ("left", PAIRS + LEFT_ALONE),
    ("right", PAIRS + RIGHT_ALONE),
    ("full", PAIRS + LEFT_ALONE + RIGHT_ALONE),
    ("semi", ["1,a", "1,b"]),
    ("anti", ["2,c", ",d"]),
])
def test_each_type_gives_its_rows(joind, kind, expected):
    rows = joined(joind, join={"type": kind})
    assert sorted(rows) == sorted(expected)
    key_one = [row for row in rows if row.startswith("1,")]
    assert key_one == [row for row in expected if row.startswith("1,")], "left-major, by arrival"


@pytest.mark.parametrize("kind, padded", [
    ("inner", ()), ("left", ("left",)), ("right", ("right",)), ("full", ("left", "right")),
    ("semi", ()), ("anti", ("left",)),
])
def test_null_keys_are_held_only_where_they_will_be_padded(joind, kind, padded):
    daemon = joind(join={"type": kind})
    daemon.send("left", LEFT)
    daemon.send("right", RIGHT)
    for side in ("left", "right"):
        books = daemon.assert_books_balance().books(side)
        assert books["received"] == 4
        assert books["unmatched"] == (0 if side in padded else 1), f"{side} {books}"


# Windows and ticks.

def test_a_window_s_results_come_at_its_end_and_not_before(joind, clock):
    daemon = joind(env=clock.env, join={"size": WINDOW})
    subscriber = daemon.subscribe()
    daemon.send("left", "1,a\n")
    daemon.send("right", "1,x\n")
    assert subscriber.count() == 0
    daemon.wait_books("left", received=1)
    assert daemon.books("left")["matched"] == subscriber.count()
    clock.end_window()
    assert subscriber.wait_lines(1, seconds=4) == ["1,a,1,x"]
    daemon.wait_books("left", matched=1, held=0)
    daemon.wait_books("right", matched=1, held=0)


def test_windows_part_records(joind):
    daemon = joind(join={"size": "1s", "type": "full"})
    subscriber = daemon.subscribe()
    daemon.send("left", "1,a\n")
    assert subscriber.wait_lines(1, seconds=4) == ["1,a,,"]
    daemon.send("right", "1,x\n")
    assert subscriber.wait_lines(2, seconds=4) == ["1,a,,", ",,1,x"]


def test_windows_follow_each_other_in_order(joind):
    daemon = joind(join={"size": "1s", "type": "left"})
    subscriber = daemon.subscribe()
    for number in range(2):
        daemon.send("left", f"{number},a\n")
        subscriber.wait_lines(number + 1, seconds=4)
    assert subscriber.lines() == ["0,a,,", "1,a,,"]


# Keys and conditions.

def test_no_keys_on_either_side_pair_everything(joind):
    rows = joined(joind, b"1,a\n2,b\n", b"3,x\n,y\n", left={"key": None}, right={"key": None})
    assert rows == ["1,a,3,x", "1,a,,y", "2,b,3,x", "2,b,,y"]


def test_composite_keys_compare_each_part(joind):
    sides = {"left": {"fields": "a, b bigint, v", "key": "a, b"},
             "right": {"fields": "w, b bigint, a", "key": "a, right.b"}}
    rows = joined(joind, b"p,1,l1\np,2,l2\nq,1,l3\n,1,l4\np,,l5\n",
                  b"r1,01,p\nr2,2,q\nr3,,p\nr4,1,\n", output={"select": "v, w"}, **sides)
    assert rows == ["l1,r1"]


def test_neighbouring_key_parts_are_not_glued(joind):
    sides = {side: {"fields": f"a, b, {name}", "key": "a, b"}
             for side, name in (("left", "v"), ("right", "w"))}
    assert joined(joind, b"ab,c,1\n", b"a,bc,2\n", **sides) == []


def test_text_keys_keep_their_zeros_and_numbers_do_not(joind):
    assert joined(joind, b"007,a\n", b"7,x\n") == []
    number = {"fields": "k bigint, v", "key": "k"}
    assert joined(joind, b"007,a\n0000010,b\n", b"7,x\n8,y\n", left=number,
                  right={"fields": "k bigint, w"}) == ["7,a,7,x"]


def test_a_bigint_key_meets_a_double_one(joind):
    rows = joined(joind, b"7,a\n0,b\n", b"7.0,x\n-0.0,y\n7.5,z\n",
                  left={"fields": "k bigint, v"}, right={"fields": "k double, w"},
                  output={"select": "v, w"})
    assert sorted(rows) == ["a,x", "b,y"]


def test_the_empty_text_is_a_key_and_null_is_none(joind):
    assert joined(joind, b'"",a\n,b\n', b'"",x\n,y\n') == ['"",a,"",x']


def test_keys_of_any_length_meet(joind):
    keys = [b"k" * n for n in (1, 7, 8, 15, 16, 17, 31, 32, 33, 255, 256, 4000)]
    keys += [b"k" * 4000 + b"1", b"k" * 4000 + b"2"]
    rows = joined(joind, b"".join(key + b",l\n" for key in keys),
                  b"".join(key + b",r\n" for key in keys), output={"select": "left.k"})
    assert sorted(rows) == sorted(key.decode() for key in keys)


def test_where_filters_and_null_is_not_true(joind):
    daemon = joind(left={"fields": "k, v, ok boolean", "where": "ok"})
    subscriber = daemon.subscribe()
    daemon.send("left", b"1,a,true\n1,b,false\n1,c,\n")
    daemon.send("right", b"1,x\n")
    books = daemon.assert_books_balance().books("left")
    assert (books["filtered"], books["held"]) == (2, 1)
    daemon.stop(expect=0)
    assert subscriber.wait_end() == ["1,a,true,1,x"]


def test_on_is_part_of_the_match(joind):
    rows = joined(joind, b"1,a\n2,b\n", b"1,x,true\n1,y,false\n1,z,\n2,w,false\n",
                  right={"fields": "k, w, ok boolean"}, join={"type": "full", "on": "right.ok"},
                  output={"select": "v, w"})
    assert sorted(rows) == sorted(["a,x", "b,", ",y", ",z", ",w"])


def test_a_semi_join_takes_a_left_row_once(joind):
    rows = joined(joind, b"1,a\n1,a\n", b"1,x\n1,y\n1,z\n", join={"type": "semi"})
    assert rows == ["1,a", "1,a"]


# What is written.

def test_columns_that_come_twice_carry_their_side_s_name(joind):
    rows = joined(joind, b"1,a\n", b"1,x\n", output={"header": "yes"}, left={"name": "orders"},
                  right={"name": "shipments"})
    assert rows == ["k,v,shipments.k,w", "1,a,1,x"]


def test_select_chooses_orders_and_names_columns(joind):
    rows = joined(joind, b"1,a\n", b"1,x\n",
                  output={"select": "w, left.v as value, right.k", "header": "yes"})
    assert rows == ["w,value,k", "x,a,1"]


def test_json_lines_have_the_names_in_order_and_typed_values(joind):
    rows = joined(joind, b'1,"q""\\\t",-0,true,2026-01-02T03:04:05Z,17\n', b"1,x\n2,y\n",
                  left={"fields": "k bigint, v, d double, b boolean, t timestamp, ms timestamp_ms"},
                  right={"fields": "k bigint, w"}, join={"type": "right"},
                  output={"format": "json"})
    pair, padded = sorted(rows, key=lambda row: json.loads(row)["right.k"])
    assert '"d":-0' in pair.replace(" ", "")
    assert json.loads(pair, object_pairs_hook=list) == [
        ("k", 1), ("v", 'q"\\\t'), ("d", 0), ("b", True), ("t", "2026-01-02T03:04:05.000Z"),
        ("ms", 17), ("right.k", 1), ("w", "x")]
    assert json.loads(padded) == {"k": None, "v": None, "d": None, "b": None, "t": None,
                                  "ms": None, "right.k": 2, "w": "y"}


def test_json_replaces_each_maximal_part_that_is_not_utf_8(joind):
    rows = joined(joind, b"1,\xe2\x82A\xc0\x80\xf0\x9f\x98\x80\xf0\x9f\x98\n", b"1,x\n",
                  output={"format": "json"})
    assert json.loads(rows[0])["v"] == "\ufffdA\ufffd\ufffd\U0001f600\ufffd"


def test_json_numbers_keep_all_their_digits(joind):
    rows = joined(joind, b"9007199254740993,0.30000000000000004\n", b"9007199254740993,x\n",
                  left={"fields": "k bigint, v double"}, right={"fields": "k bigint, w"},
                  output={"format": "json"})
    assert "9007199254740993" in rows[0] and "0.30000000000000004" in rows[0]


def test_csv_quotes_what_needs_it_and_nothing_else(joind):
    values = [b'"a,b"', b'"say ""no"""', b"\"\"", b" spaced ", b"a\rb", b"plain", b"\xc3\xa9",
              b"\xc3\x28"]
    rows = joined(joind, b"".join(b"1," + value + b"\n" for value in values), b"",
                  join={"type": "anti"}, output={"select": "v, k"})
    expected = [b'"a,b"', b'"say ""no"""', b'""', b" spaced ", b'"a\rb"', b"plain", b"\xc3\xa9",
                b"\xc3\x28"]
    assert [row.encode(errors="surrogateescape") for row in rows] == [
        value + b",1" for value in expected]


@pytest.mark.parametrize("word, char", [
    ("comma", ","), ("tab", "\t"), ("semicolon", ";"), ("pipe", "|"), ("space", " "), (";", ";"),
    (":", ":"), ("#", "#"), ("|", "|"),
])
def test_delimiters_are_words_or_characters(joind, word, char):
    rows = joined(joind, f'1{char}"a{char}b"\n'.encode(), f"1{char}x\n".encode(),
                  left={"delimiter": word}, right={"delimiter": word},
                  output={"delimiter": word, "select": "left.k, v, w"})
    assert rows == [f'1{char}"a{char}b"{char}x']


def test_each_end_has_a_delimiter_of_its_own(joind):
    rows = joined(joind, b"1;a|b\n", b"1\tx,y\n", left={"delimiter": "semicolon"},
                  right={"delimiter": "tab"}, output={"delimiter": "pipe"})
    assert rows == ['1|"a|b"|1|x,y']


def test_a_null_text_is_null_only_without_quotes(joind):
    rows = joined(joind, b'1,\\N\n2,"\\N"\n3,\n', b"", join={"type": "anti"},
                  left={"null": "\\N"}, output={"null": "-"})
    assert sorted(rows) == ["1,-", "2,\\N", "3,"]
    rows = joined(joind, b'1,\n2,-\n3,""\n', b"", join={"type": "anti"}, output={"null": "-"})
    assert sorted(rows) == ["1,-", '2,"-"', "3,"]


def test_values_are_written_in_their_normal_form(joind):
    names = ["n bigint", "d double", "b boolean", "t timestamp", "s timestamp_s",
             "ms timestamp_ms", "us timestamp_us", "ns timestamp_ns"]
    line = (b"007,1.50,true,2026-01-02 03:04:05.6789+01:00,1767323045.25,1767323045678,"
            b"1767323045678901,1767323045678901234\n")
    rows = joined(joind, line, b"", left={"fields": ", ".join(names), "key": None},
                  right={"key": None}, join={"type": "anti"})
    assert rows == ["7,1.5,true,2026-01-02T02:04:05.678Z,1767323045.25,1767323045678,"
                    "1767323045678901,1767323045678901234"]


@pytest.mark.parametrize("text, written", [
    ("100", "100"), ("2.50", "2.5"), ("-0", "-0"), ("1e+21", "1e+21"),
    ("1e20", "100000000000000000000"), ("0.000001", "0.000001"), ("0.0000001", "1e-7"),
    ("0.1", "0.1"), ("0.30000000000000004", "0.30000000000000004"), ("5e-324", "5e-324"),
    ("1.7976931348623157e308", "1.7976931348623157e+308"), ("123456789.125", "123456789.125"),
    ("00012", "12"), ("9007199254740993", "9007199254740992"),
])
def test_doubles_are_written_as_javascript_does(joind, text, written):
    rows = joined(joind, f"{text}\n".encode(), b"", left={"fields": "d double", "key": None},
                  right={"key": None}, join={"type": "anti"})
    assert rows == [written]


# Inputs.

def test_a_header_finds_the_fields_by_name(joind):
    rows = joined(joind, b'extra,v,"k"\n?,a,1\n!,b,2\n', b"k,w\n1,x\n", left={"header": "yes"},
                  right={"header": "yes"})
    assert rows == ["1,a,1,x"]


def test_each_connection_has_a_header_of_its_own(joind):
    daemon = joind(left={"header": "yes"}, join={"type": "anti"})
    subscriber = daemon.subscribe()
    daemon.send("left", b"k,v\n1,a\n")
    daemon.send("left", b"v,k\nb,2\n")
    daemon.stop(expect=0)
    assert sorted(subscriber.wait_end()) == ["1,a", "2,b"]


def test_a_line_of_exactly_max_line_is_taken(joind):
    daemon = joind(left={"max_line": "64"})
    daemon.send("left", b"1," + b"a" * 62 + b"\n")
    daemon.send("left", b"1," + b"a" * 62 + b"\r\n")
    daemon.send("left", b"1," + b"a" * 63 + b"\n")
    books = daemon.assert_books_balance().books("left")
    assert (books["held"], books["rejected"]) == (2, 1)


def test_many_connections_are_one_side_whatever_the_cuts(joind):
    """40 connections a side, written to in random pieces in random order."""
    dice = random.Random(3)
    daemon = joind()
    subscriber = daemon.subscribe()
    pending = []
    for side, value in (("left", "a"), ("right", "x")):
        for number in range(40):
            lines = [f"{number * 25 + i},{value}{i}\n" for i in range(25)]
            pending.append((daemon.connect(side), "".join(lines).encode()))
    while pending:
        which = dice.randrange(len(pending))
        feeder, rest = pending[which]
        cut = dice.randint(1, 40)
        feeder.send(rest[:cut])
        pending[which] = (feeder, rest[cut:])
        if not rest[cut:]:
            feeder.finish()
            del pending[which]
    assert daemon.assert_books_balance().books("left")["received"] == 1000
    daemon.stop(expect=0)
    expected = [f"{n},a{n % 25},{n},x{n % 25}" for n in range(1000)]
    assert sorted(subscriber.wait_end()) == sorted(expected)


def test_senders_of_both_sides_run_at_the_same_time(joind):
    """Four threads a side send 20,000 lines each; every key has one partner."""
    daemon = joind()
    subscriber = daemon.subscribe()
    threads = []
    for side in ("left", "right"):
        for part in range(4):
            data = b"".join(b"key-%d,value of %d\n" % (n, n)
                            for n in range(part * 20000, part * 20000 + 20000))
            threads.append(threading.Thread(target=daemon.send, args=(side, data)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    for side in ("left", "right"):
        assert daemon.assert_books_balance().books(side)["held"] == 80000
    daemon.stop(expect=0)
    rows = subscriber.wait_end()
    assert len(rows) == len(set(rows)) == 80000
    for row in rows[::100]:
        left, _, right = row.partition(",value of ")
        assert row == f"{left},value of {left[4:]},{left},value of {left[4:]}"


def test_files_on_both_sides_end_the_process_by_themselves(tmp_path):
    (tmp_path / "l.csv").write_bytes(LEFT)
    (tmp_path / "r.csv").write_bytes(RIGHT.rstrip(b"\n"))
    (tmp_path / "t.ini").write_text(config(left={"file": "l.csv"}, right={"file": "r.csv"},
                                           output={"file": "-"}, join={"type": "full"}))
    done = run("t.ini", cwd=tmp_path)
    assert done.returncode == 0, done.log
    assert sorted(done.stdout.decode().splitlines()) == sorted(PAIRS + LEFT_ALONE + RIGHT_ALONE)


def test_empty_files_give_nothing_and_0(tmp_path):
    (tmp_path / "empty.csv").write_bytes(b"")
    (tmp_path / "t.ini").write_text(config(left={"file": "empty.csv"}, right={"file": "empty.csv"},
                                           output={"file": "-"}, join={"type": "full"}))
    done = run("t.ini", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, b""), done.log


def test_large_files_are_joined_whole(tmp_path):
    count = 100000
    (tmp_path / "l.csv").write_bytes(b"".join(b"%d,left %d\n" % (n, n) for n in range(count)))
    (tmp_path / "r.csv").write_bytes(b"".join(b"%d,right %d\n" % (n, n)
                                              for n in reversed(range(count))))
    (tmp_path / "t.ini").write_text(config(left={"file": "l.csv"}, right={"file": "r.csv"},
                                           output={"file": "out.csv"}))
    done = run("t.ini", cwd=tmp_path, seconds=30)
    assert done.returncode == 0, done.log
    rows = (tmp_path / "out.csv").read_bytes().splitlines()
    assert sorted(rows) == sorted(b"%d,left %d,%d,right %d" % (n, n, n, n) for n in range(count))


def test_standard_input_is_a_file(tmp_path):
    (tmp_path / "r.csv").write_bytes(RIGHT)
    (tmp_path / "t.ini").write_text(config(left={"file": "-"}, right={"file": "r.csv"},
                                           output={"file": "-"}))
    done = run("t.ini", cwd=tmp_path, stdin=LEFT.rstrip(b"\n"))
    assert done.returncode == 0, done.log
    assert done.stdout.decode().splitlines() == PAIRS


def test_a_terminal_s_worth_of_standard_input_may_come_slowly(joind):
    (reader, writer) = os.pipe()
    daemon = joind(left={"file": "-"}, stdin=reader)
    os.close(reader)
    os.write(writer, b"1,a\n1,")
    daemon.wait_books("left", received=1, held=1)
    os.write(writer, b"b\n")
    daemon.wait_books("left", received=2, held=2)
    os.close(writer)
    wait_until(lambda: daemon.connections("left") == 0, 10, "the end of the left input")
    assert daemon.is_running(), "the right side can still come"


def test_a_fifo_waits_for_its_writer(joind, tmp_path):
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "r.csv").write_bytes(RIGHT)
    daemon = joind(left={"file": "fifo"}, right={"file": "r.csv"}, output={"file": "out.csv"})
    daemon.wait_books("right", received=4)
    assert daemon.is_running(), "it took a FIFO without a writer for one at its end"
    with open(tmp_path / "fifo", "wb") as fifo:
        fifo.write(LEFT)
    daemon.wait_exit(expect=0)
    assert (tmp_path / "out.csv").read_text().splitlines() == PAIRS


def test_a_file_s_header_that_lacks_a_field_ends_the_start_with_1(tmp_path):
    (tmp_path / "l.csv").write_bytes(b"k,other\n1,a\n")
    (tmp_path / "t.ini").write_text(config(left={"file": "l.csv", "header": "yes"}))
    done = run("t.ini", cwd=tmp_path)
    assert done.returncode == 1
    assert "l.csv" in done.log and "v" in done.log


def test_an_ended_file_leaves_the_other_side_running(joind, tmp_path):
    (tmp_path / "l.csv").write_bytes(LEFT)
    daemon = joind(left={"file": "l.csv"})
    subscriber = daemon.subscribe()
    daemon.wait_books("left", received=4)
    daemon.send("right", RIGHT)
    assert daemon.is_running()
    daemon.stop(expect=0)
    assert subscriber.wait_end() == PAIRS


def test_files_wait_for_a_subscriber_who_comes_late(joind, tmp_path):
    (tmp_path / "l.csv").write_bytes(LEFT)
    (tmp_path / "r.csv").write_bytes(RIGHT)
    daemon = joind(left={"file": "l.csv"}, right={"file": "r.csv"})
    daemon.wait_books("left", received=4)
    daemon.wait_books("right", received=4)
    assert daemon.is_running(), "results that nobody has got yet are not written"
    with socket.create_connection(daemon.address("output"), timeout=10 * PATIENCE) as reader:
        assert reader.makefile("rb").read().decode().splitlines() == PAIRS
    daemon.wait_exit(expect=0)


# Output files.

def test_a_written_file_is_appended_to_and_its_torn_line_ended(joind, tmp_path):
    (tmp_path / "out.csv").write_bytes(b"old,row\ntorn")
    daemon = joind(output={"file": "out.csv", "header": "yes"})
    daemon.send("left", b"1,a\n")
    daemon.send("right", b"1,x\n")
    daemon.stop(expect=0)
    assert (tmp_path / "out.csv").read_bytes() == b"old,row\ntorn\n1,a,1,x\n"


def test_a_header_is_written_only_to_an_empty_file(joind, tmp_path):
    for _ in range(2):
        daemon = joind(output={"file": "out.csv", "header": "yes"}, folder=tmp_path)
        daemon.send("left", b"1,a\n")
        daemon.send("right", b"1,x\n")
        daemon.stop(expect=0)
    rows = (tmp_path / "out.csv").read_bytes()
    assert rows == b"k,v,right.k,w\n1,a,1,x\n1,a,1,x\n"


def test_the_mode_of_a_made_file_is_the_configured_one(joind, tmp_path):
    previous = os.umask(0o077)
    try:
        daemon = joind(output={"file": "out.csv", "mode": "0640"})
    finally:
        os.umask(previous)
    assert (tmp_path / "out.csv").stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "rejects.csv").stat().st_mode & 0o777 == 0o660
    daemon.stop(expect=0)


def test_standard_output_gets_rows_and_nothing_else(joind, clock, tmp_path):
    with open(tmp_path / "stdout", "wb") as out:
        daemon = joind(env=clock.env, output={"file": "-"}, join={"size": WINDOW}, stdout=out)
        daemon.send("left", b"1,a\n")
        daemon.send("right", b"1,x\n")
        clock.end_window()
        wait_until(lambda: (tmp_path / "stdout").read_bytes() == b"1,a,1,x\n", 5,
                   "the row on standard output", daemon.log_text)
        daemon.stop(expect=0)
    assert (tmp_path / "stdout").read_bytes() == b"1,a,1,x\n"
    assert daemon.endpoints["output"] == "-"
