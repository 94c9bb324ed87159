"""Bad input costs only itself: the next line of the same connection joins, the counters and the
row in [rejects] say why, and the books balance. Rules: interface.md, section 4."""

import datetime
import random
import re

import pytest

from joind import wait_until

TELNET_INTERRUPT = b"\xff\xf4\xff\xfd\x06"


def check_reject(row, side, line):
    """One row of [rejects] is as it should be."""
    assert len(row) == 5, row
    assert row[0] == side.encode()
    assert re.fullmatch(rb"[a-z][a-z_ -]*", row[1]), f"no reason in {row}"
    assert b"127.0.0.1" in row[2], f"no peer in {row}"
    time = datetime.datetime.fromisoformat(row[3].decode().replace("Z", "+00:00"))
    age = datetime.datetime.now(datetime.timezone.utc) - time
    assert abs(age.total_seconds()) < 600, f"no time of arrival in {row}"
    assert row[4] == line, f"not the line as it was received: {row}"


def wait_rejects(daemon, count):
    wait_until(lambda: len(daemon.rejects()) >= count, 10, f"{count} rows of rejects",
               daemon.log_text)
    rows = daemon.rejects()
    assert len(rows) == count, rows
    return rows


# Broken lines.

BROKEN = {
    "a NUL byte": b"good,a\0b",
    "a NUL byte first": b"\0good,a",
    "a telnet command": TELNET_INTERRUPT + b"good,a",
    "a byte 0xFF": b"good,a\xff",
    "too few fields": b"good",
    "too many fields": b"good,a,b",
    "only spaces": b"   ",
    "only a delimiter too many": b",,",
    "a lone quote": b'good,a"b',
    "a quote at the end": b'good,ab"',
    "an unclosed quote": b'good,"ab',
    "an unclosed quote and a delimiter": b'good,"a,b',
    "text after a closing quote": b'good,"a"b',
    "a space after a closing quote": b'good,"a" ',
    "a space before a quote": b'good, "a"',
    "a quote and too few fields": b'"good"',
    "a quote and too many fields": b'"good",a,b',
    "a NUL byte in quotes": b'good,"a\0b"',
    "a byte 0xFF in quotes": b'good,"a\xffb"',
    "a line too long": b"good," + b"a" * 1020,
    "a line too long in quotes": b'good,"' + b"a" * 1020 + b'"',
}


@pytest.mark.parametrize("bad", BROKEN.values(), ids=BROKEN.keys())
@pytest.mark.parametrize("side", ["left", "right"])
def test_a_broken_line_costs_only_itself(joind, side, bad):
    other = "right" if side == "left" else "left"
    daemon = joind(left={"max_line": "1024"}, right={"max_line": "1024"},
                   output={"select": "v, w"})
    subscriber = daemon.subscribe()
    daemon.send(side, b"good,before\n" + bad + b"\ngood,after\n")
    books = daemon.assert_books_balance().books(side)
    assert (books["received"], books["rejected"], books["held"]) == (3, 1, 2), daemon.log_text()
    daemon.send(other, b"good,other\n")
    check_reject(wait_rejects(daemon, 1)[0], side, bad[:1024])
    daemon.stop(expect=0)
    pairs = {"left": ["before,other", "after,other"], "right": ["other,before", "other,after"]}
    assert subscriber.wait_end() == pairs[side]


BAD_VALUES = {
    "bigint": ["+1", "1.0", "1e3", "0x10", " 1", "1 ", "abc", "-", "--1", "1_000", "1,", "''",
               "9223372036854775808", "-9223372036854775809", "99999999999999999999999"],
    "double": [".5", "5.", "+1", " 1", "1 ", "0x1p3", "inf", "Infinity", "nan", "NaN", "1e400",
               "-1e400", "1e", "1e+", "e5", "-", "1d", "."],
    "boolean": ["maybe", "tru", "truee", " true", "2"],
    "timestamp": ["yesterday", "2026-01-01", "2026-13-01T00:00:00Z", "2026-02-29T00:00:00Z",
                  "2026-01-01T24:00:01Z", "2026-01-01T00:60:00Z", "2026-01-01T00:00Z",
                  "2026-1-1T00:00:00Z", "0000-01-01T00:00:00Z", "10000-01-01T00:00:00Z",
                  "2026-01-01T00:00:00+25:00", "2026-01-01T00:00:00.Z", "1767323045"],
    "timestamp_s": ["253402300800", "-62135596801", "1.", "1e3", "2026-01-01T00:00:00Z", " 1"],
    "timestamp_ms": ["253402300800000", "-62135596800001", "1.5", "1e3", """ 1"""],
    "timestamp_us": ["253402300800000000", "-62135596800000001", "1.5"],
    "timestamp_ns": ["9223372036854775808", "1.5"],
}


@pytest.mark.parametrize("kind", BAD_VALUES)
def test_a_value_that_is_not_of_its_type_costs_only_its_line(joind, kind):
    daemon = joind(left={"fields": f"k, x {kind}"}, join={"type": "anti"})
    subscriber = daemon.subscribe()
    bad = [f'k,"{value}"' for value in BAD_VALUES[kind]] + ['k,""']
    bad += [f"k,{value}" for value in BAD_VALUES[kind] if "," not in value]
    daemon.send("left", "".join(f"{line}\nnext,\n" for line in bad))
    books = daemon.assert_books_balance().books("left")
    rows = wait_until(daemon.rejects, 10, "rejects")
    taken = set(bad) - {row[4].decode() for row in daemon.rejects()}
    assert not taken, f"taken for a {kind}: {taken}"
    assert (books["rejected"], books["held"]) == (len(bad), len(bad))
    for row, line in zip(daemon.rejects(), bad):
        check_reject(row, "left", line.encode())
        assert b"x" in row[2], f"the field is not named in {row}"
    assert len({row[1] for row in rows}) == 1, "one reason for one kind of fault"
    daemon.stop(expect=0)
    assert subscriber.wait_end() == ["next,"] * len(bad)


GOOD_VALUES = {
    "bigint": [("007", "7"), ("-0", "0"), ("9223372036854775807",) * 2,
               ("-9223372036854775808",) * 2, ("", ""), ('"12"', "12")],
    "double": [("007.5", "7.5"), ("-1.5", "-1.5"), ("1e+21", "1e+21"), ("1e-7", "1e-7"), ("", ""),
               ('"1"', "1")],
    "boolean": [("true", "true"), ("false", "false"), ("", "")],
    "timestamp": [("2026-01-02T03:04:05Z", "2026-01-02T03:04:05.000Z"),
                  ("2026-01-02 03:04:05", "2026-01-02T03:04:05.000Z"),
                  ("2024-02-29T23:59:59.9999-01:30", "2024-03-01T01:29:59.999Z"),
                  ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"),
                  ("9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z")],
    "timestamp_s": [("1.5", "1.5"), ("-62135596800", "-62135596800"), ("253402300799",) * 2],
    "timestamp_ms": [("-62135596800000",) * 2, ("253402300799999",) * 2, ("0", "0")],
    "timestamp_us": [("253402300799999999",) * 2],
    "timestamp_ns": [("9223372036854775807",) * 2, ("-9223372036854775808",) * 2],
}


@pytest.mark.parametrize("kind", GOOD_VALUES)
def test_values_at_the_edge_of_their_type_are_taken(joind, kind):
    daemon = joind(left={"fields": f"k, x {kind}"}, join={"type": "anti"},
                   output={"select": "x, k"})
    subscriber = daemon.subscribe()
    daemon.send("left", "".join(f"k,{value}\n" for value, _ in GOOD_VALUES[kind]))
    assert daemon.books("left")["rejected"] == 0, daemon.rejects()
    daemon.stop(expect=0)
    assert subscriber.wait_end() == [f"{written},k" for _, written in GOOD_VALUES[kind]]


# What is not bad at all.

@pytest.mark.parametrize("sent, taken", [
    (b"k,a\r\nk,b\n", [b"k,a", b"k,b"]),
    (b"k,a\rb\n", [b'k,"a\rb"']),
    (b"k,a\r\r\n", [b'k,"a\r"']),
    (b"\n\r\n\nk,a\n\n", [b"k,a"]),
    (b"\xef\xbb\xbfk,a\n", [b"k,a"]),
    (b"k,a\n\xef\xbb\xbfk,b\n", [b"k,a", b"\xef\xbb\xbfk,b"]),
    (b"k,a", [b"k,a"]),
    (b"k,a\r", [b"k,a"]),
    (b"k,", [b"k,"]),
    (b"\xef\xbb\xbf", []),
    (b"", []),
    (b"\r", []),
    (b" k , a \n", [b" k , a "]),
    (b'"k","a,""b"""\n', [b'k,"a,""b"""']),
    (b'"k","a\rb"\n', [b'k,"a\rb"']),
    (b"k,\x80\xfe\xc3\x28\x01\x7f\n", [b"k,\x80\xfe\xc3\x28\x01\x7f"]),
    ("k,Zoë ☃\n".encode(), ["k,Zoë ☃".encode()]),
    (b"k,\xc2\x85\xe2\x80\xa8\x0b\x0c\n", [b"k,\xc2\x85\xe2\x80\xa8\x0b\x0c"]),
], ids=repr)
@pytest.mark.parametrize("whole", [True, False], ids=["in one piece", "byte by byte"])
def test_odd_but_right_lines_are_taken_as_they_are(joind, sent, taken, whole):
    daemon = joind(join={"type": "anti"})
    subscriber = daemon.subscribe()
    feeder = daemon.connect("left")
    for piece in [sent] if whole else [sent[i:i + 1] for i in range(len(sent))]:
        feeder.send(piece)
    feeder.finish()
    books = daemon.assert_books_balance().books("left")
    assert (books["received"], books["rejected"]) == (len(taken), 0), daemon.rejects()
    daemon.stop(expect=0)
    assert [row.encode(errors="surrogateescape") for row in subscriber.wait_end()] == taken


def test_a_quote_over_two_lines_is_two_bad_lines(joind):
    daemon = joind()
    daemon.send("left", b'k,"a\nb"\nk,c\n')
    books = daemon.assert_books_balance().books("left")
    assert (books["received"], books["rejected"], books["held"]) == (3, 2, 1)
    assert [row[4] for row in wait_rejects(daemon, 2)] == [b'k,"a', b'b"']


# Ends of connections.

def test_an_end_in_order_ends_the_last_line(joind):
    daemon = joind()
    daemon.send("left", b"1,a\n2,b")
    books = daemon.assert_books_balance().books("left")
    assert (books["received"], books["rejected"]) == (2, 0)


def test_a_broken_connection_does_not_end_its_last_line(joind):
    daemon = joind()
    feeder = daemon.connect("left")
    feeder.send(b"1,a\n2,whole-or-not")
    wait_until(lambda: daemon.metric("joind_input_bytes_total", side="left") >= 18, 10,
               "joind to have read it")
    feeder.reset()
    daemon.wait_books("left", received=2, rejected=1, held=1)
    check_reject(wait_rejects(daemon, 1)[0], "left", b"2,whole-or-not")
    daemon.send("left", b"3,c\n")
    daemon.wait_books("left", received=3, held=2)


def test_a_connection_broken_between_lines_costs_nothing(joind):
    daemon = joind()
    feeder = daemon.connect("left")
    feeder.send(b"1,a\n")
    daemon.wait_books("left", received=1)
    feeder.reset()
    wait_until(lambda: daemon.connections("left") == 0, 10, "the connection's end")
    daemon.wait_books("left", received=1, rejected=0, held=1)


def test_a_line_without_end_of_many_megabytes_is_one_rejected_record(joind):
    daemon = joind()
    feeder = daemon.connect("left")
    before = daemon.anonymous_memory()
    for _ in range(64):
        feeder.send(b"x" * (1 << 20))
    feeder.send(b"\n1,a\n")
    daemon.wait_books("left", received=2, rejected=1, held=1)
    assert daemon.anonymous_memory() - before < 8 << 20
    assert wait_rejects(daemon, 1)[0][4] == b"x" * 1024
    feeder.send(b"y" * 100000)
    feeder.finish()
    daemon.wait_books("left", received=3, rejected=2)


# Headers.

@pytest.mark.parametrize("header, named", [
    (b"k,other", b"v"), (b"k,v,v", b"v"), (b"K,v", b"k"), (b"k", b"v"), (b'k,"v', b""),
    (b"1,a", b"k"), (b"k,v\0", b""),
], ids=repr)
def test_a_header_that_lacks_or_repeats_a_field_rejects_its_connection(joind, header, named):
    daemon = joind(left={"header": "yes"})
    feeder = daemon.connect("left")
    feeder.send(header + b"\n1,a\n2,b\n")
    daemon.wait_books("left", received=3, rejected=3)
    for row, line in zip(wait_rejects(daemon, 3), (header, b"1,a", b"2,b")):
        check_reject(row, "left", line)
        assert row[1] == b"header"
        assert named in row[2]
    daemon.wait_log("header")
    assert len(daemon.log_matches("header")) == 1, daemon.log_text()
    daemon.send("left", b"k,v\n3,c\n")
    daemon.wait_books("left", received=4, rejected=3, held=1)


@pytest.mark.parametrize("header", [
    b"k,v\r\n", b"\xef\xbb\xbfk,v\n", b'\xef\xbb\xbf"k","v"\n', b'"k",v\r\n', b"\n\nk,v\n",
], ids=repr)
def test_a_header_may_be_written_in_many_ways(joind, header):
    daemon = joind(left={"header": "yes"})
    daemon.send("left", header + b"1,a\n")
    assert daemon.books("left") == dict(received=1, rejected=0, filtered=0, late=0, matched=0,
                                        unmatched=0, held=1)


# Much of it.

def test_random_bytes_do_not_stop_it(joind):
    dice = random.Random(7)
    daemon = joind()
    subscriber = daemon.subscribe()
    for side in ("left", "right"):
        feeder = daemon.connect(side)
        for _ in range(4):
            feeder.send(dice.randbytes(1 << 20))
        feeder.send(b"\nfresh,%s\n" % side.encode())
        feeder.finish()
    metrics = daemon.assert_books_balance()
    assert metrics.books("left")["rejected"] > 10000
    daemon.stop(expect=0)
    assert "fresh,left,fresh,right" in subscriber.wait_end()


def test_the_log_of_bad_lines_is_limited_and_says_how_many_more(joind):
    daemon = joind()
    daemon.send("left", b"bad\n" * 30000)
    daemon.wait_books("left", rejected=30000)
    wait_until(lambda: daemon.log_matches(r"\b(29\d{3}|2\d{4}|30000)\b"), 10,
               "a log line that counts the others", daemon.log_text)
    assert len(daemon.log) < 60
    assert len(wait_rejects(daemon, 30000)) == 30000


@pytest.mark.parametrize("start, named", [
    (b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP"),
    (b"POST /in HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP"),
    (bytes.fromhex("16030101000100") + b"\1" * 250 + b"\n", "TLS"),
    (b"96 <13>1 2026-01-02T03:04:05Z host tag - - - text", "octet"),
    (b'[{"k":1,"v":"a"},{"k":2,"v":"b"}]', "JSON"),
    (b"\x92\xd7\x00\x65\x5f\x5e\x10\x00\x00\x00\x00\x81\xa1k\xa1v", "msgpack"),
], ids=["GET", "POST", "TLS", "octet counts", "JSON array", "msgpack"])
def test_plainly_another_protocol_is_named_once(joind, start, named):
    daemon = joind()

    def namings():
        return [line for line in daemon.log[1:] if named in line]
    daemon.send("left", start + b"\n" + start)
    wait_until(namings, 3, f"a log line that says {named}", daemon.log_text)
    daemon.assert_books_balance()
    assert len(namings()) == 1, daemon.log_text()
    daemon.send("left", b"1,a\n")
    daemon.wait_books("left", held=1)
