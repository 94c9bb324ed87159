"""Lines of JSON as input, through the whole program: over TCP and from files, as shippers send
them. Rules: interface.md, sections 2 (fields) and 4."""

import json

import pytest

from joind import ENDLESS, config, parse_csv, run, wait_until

FIELDS = "k, user.id bigint as uid, user.name, at timestamp, d double, ok boolean, rest"


def lines(*records):
    return b"".join(json.dumps(record, ensure_ascii=False).encode() + b"\n" for record in records)


def test_json_over_tcp_meets_csv(joind):
    daemon = joind(left={"format": "json", "fields": FIELDS},
                   output={"format": "json"})
    subscriber = daemon.subscribe()
    daemon.send("right", b"a,1\nb,2\n")
    daemon.send("left", lines(
        {"k": "a", "user": {"id": 7, "name": "\u017dofie \"Z\""}, "at": "2026-01-02 03:04:05+02:00",
         "d": 2.50, "ok": True, "rest": {"x": [1, 2]}},
        {"ok": "FALSE", "k": "b", "user": {"id": "0012"}, "d": "1E+2", "extra": [{"k": 1}]}))
    daemon.stop(expect=0)
    rows = sorted(map(json.loads, subscriber.wait_end()), key=lambda row: row["k"])
    assert [list(row.values()) for row in rows] == [
        ["a", 7, "\u017dofie \"Z\"", "2026-01-02T01:04:05.000Z", 2.5, True, '{"x": [1, 2]}', "a",
         "1"],
        ["b", 12, None, None, 100, False, None, "b", "2"],
    ]
    assert list(rows[0]) == ["k", "uid", "user.name", "at", "d", "ok", "rest", "right.k", "w"]


def test_files_of_json_end_the_join(tmp_path):
    (tmp_path / "left.jsonl").write_bytes(
        b'\xef\xbb\xbf{"k":1,"v":"a,\\"b\\""}\r\n\r\n{"k":9007199254740993,"v":null}\n{"v":"x"}')
    (tmp_path / "right.jsonl").write_bytes(b'{"k":"01","w":[1]}\n{"k":"9007199254740993","w":""}')
    (tmp_path / "t.ini").write_text(f"""
[left]
file = left.jsonl
format = json
fields = k bigint, v
key = k
[right]
file = right.jsonl
format = json
fields = k bigint, w
key = k
[join]
type = left
size = {ENDLESS}
[output]
file = -
null = NULL
""")
    process = run("t.ini", cwd=tmp_path)
    assert process.returncode == 0, process.log
    assert sorted(parse_csv(process.stdout)) == [
        [b"1", b'a,"b"', b"1", b"[1]"],
        [b"9007199254740993", b"NULL", b"9007199254740993", b""],
        [b"NULL", b"x", b"NULL", b"NULL"],
    ]


BROKEN = {
    "single quotes": (b"{'k':'x'}", b"json"),
    "a comma too many": (b'{"k":"x",}', b"json"),
    "NaN": (b'{"k":NaN}', b"json"),
    "a leading zero": (b'{"k":007}', b"json"),
    "text behind": (b'{"k":"x"} x', b"json"),
    "two objects": (b'{"k":"x"}{"k":"y"}', b"json"),
    "an array": (b'[{"k":"x"}]', b"json"),
    "a lone surrogate": (b'{"k":"\\ud800"}', b"json"),
    "an escaped NUL": (b'{"k":"\\u0000"}', b"json"),
    "too deep": (b'{"k":' + b"[" * 64 + b"]" * 64 + b"}", b"json"),
    "very deep": (b'{"k":' + b"[" * 900, b"json"),
    "invalid UTF-8": (b'{"k":"\xc3("}', b"utf8"),
    "a byte 0xFF": (b'{"k":"\xff"}', b"telnet"),
    "a NUL byte": (b'{"k":"x"}\0', b"nul"),
    "a member twice": (b'{"k":"x","k":"x"}', b"duplicate"),
    "a path through a number": (b'{"k":"x","o":{"p":1}}', b"path"),
    "a fraction": (b'{"k":"x","n":1.5}', b"type"),
    "an exponent": (b'{"k":"x","n":1e2}', b"type"),
    "a wrong kind": (b'{"k":"x","n":true}', b"type"),
    "too long": (b'{"k":"' + b"x" * 1020 + b'"}', b"too_long"),
}


@pytest.mark.parametrize("bad, reason", BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_line_costs_only_itself(joind, bad, reason):
    daemon = joind(left={"format": "json", "fields": "k, n bigint, o.p.q", "max_line": "1024"},
                   output={"select": "n, w"})
    subscriber = daemon.subscribe()
    daemon.send("left", b'{"k":"good","n":1}\n' + bad + b'\n{"k":"good","n":2}\n')
    books = daemon.assert_books_balance().books("left")
    assert (books["received"], books["rejected"], books["held"]) == (3, 1, 2), daemon.log_text()
    wait_until(lambda: len(daemon.rejects()) == 1, 10, "a row of rejects", daemon.log_text)
    row = daemon.rejects()[0]
    assert (row[0], row[1], row[4]) == (b"left", reason, bad[:1024])
    daemon.send("right", b"good,w\n")
    daemon.stop(expect=0)
    assert subscriber.wait_end() == ["1,w", "2,w"]


def test_any_cut_of_the_bytes_joins_the_same(joind):
    data = lines(*({"k": f"k{i}", "v": "\u00e4\n\"\\" * (i % 5)} for i in range(50)))
    daemon = joind(left={"format": "json"}, output={"select": "left.k, v"})
    subscriber = daemon.subscribe()
    daemon.send("right", "".join(f"k{i},w\n" for i in range(50)))
    for step in (1, 7, 4096):
        feeder = daemon.connect("left")
        for at in range(0, len(data), step):
            feeder.send(data[at:at + step])
        feeder.finish()
    daemon.wait_books("left", received=150, rejected=0)
    daemon.stop(expect=0)
    subscriber.wait_end()
    rows = sorted(parse_csv(bytes(subscriber.data)))
    expected = [[f"k{i}".encode(), "\u00e4\n\"\\".encode() * (i % 5)] for i in range(50)]
    assert rows == sorted(expected * 3)


def test_check_prints_paths_that_read_back(tmp_path):
    fields = 'user.id bigint as uid, "@timestamp" timestamp, "a.b" string as dotted, k string'
    (tmp_path / "t.ini").write_text(config(left={"format": "json", "fields": fields}))
    first = run("--check", "t.ini", cwd=tmp_path)
    assert first.returncode == 0, first.log
    assert f"fields = {fields}\n".encode() in first.stdout
    (tmp_path / "again.ini").write_bytes(first.stdout)
    assert run("--check", "again.ini", cwd=tmp_path).stdout == first.stdout


@pytest.mark.parametrize("key", ["header = yes", "delimiter = ;", "null = x", "multiline = no"])
def test_keys_of_csv_are_refused(tmp_path, key):
    name, _, value = key.partition(" = ")
    (tmp_path / "t.ini").write_text(config(left={"format": "json", name: value}))
    process = run("--check", "t.ini", cwd=tmp_path)
    assert process.returncode == 78
    assert f"[left] {name}: not used with format = json" in process.log
