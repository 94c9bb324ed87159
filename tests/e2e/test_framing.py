"""Counted frames and syslog envelopes over real sockets: framing = octet and auto, envelope =
syslog. Rules: interface.md, sections 2 and 4; what senders write: shippers.md."""

import random
import shutil
import subprocess

import pytest

from joind import PATIENCE, run, wait_until
from test_bad_input import check_reject, wait_rejects

HEAD = b"<13>1 2026-11-29T17:41:27.123456+01:00 host app 42 - [a b=\"\\\"]\"] "
HEAD3 = b"<13>Nov 29 17:41:27 host app[42]: "


def octets(*records):
    return b"".join(b"%d %s" % (len(record), record) for record in records)


def joined(daemon, subscriber, left_rows, right=b"k,w\n"):
    """What of the left rows, all of key k, comes out behind one right record."""
    daemon.send("right", right)
    daemon.wait_books("left", received=left_rows)
    daemon.stop(expect=0)
    return sorted(subscriber.wait_end())


def start(joind, framing="line", envelope="none", **left):
    return joind(left={"framing": framing, "envelope": envelope, **left})


def named(daemon):
    return daemon.metric("joind_wrong_protocol_total", side="left")


# Frames.

def test_counted_frames_join_however_they_are_cut(joind):
    dice = random.Random(1)
    daemon = start(joind, "octet")
    subscriber = daemon.subscribe()
    values = [f"v{n}" * dice.randrange(1, 30) for n in range(3000)]
    data = b""
    for value in values:
        record = f"k,{value}".encode() + dice.choice([b"", b"\n", b"\r\n"])
        data += octets(record) + dice.choice([b"", b"", b"\n", b"\r\n\n"])
    feeder = daemon.connect("left")
    while data:
        size = dice.choice([1, 2, 7, 100, 5000])
        feeder.send(data[:size])
        data = data[size:]
    feeder.finish()
    assert joined(daemon, subscriber, 3000) == sorted(f"k,{value},k,w" for value in values)


def test_what_has_no_count_is_rejected_up_to_the_next_line_end(joind):
    daemon = start(joind, "octet")
    subscriber = daemon.subscribe()
    daemon.send("left", octets(b"k,1") + b"k,2\r\n" + octets(b"k,3") + b"12345678901 k,4\n" +
                b"\n" + octets(b"k,5") + b"3k,6")
    rows = wait_rejects(daemon, 3)
    for row, line in zip(rows, (b"k,2", b"12345678901 k,4", b"3k,6")):
        check_reject(row, "left", line)
        assert row[1] == b"framing"
    assert joined(daemon, subscriber, 6) == ["k,1,k,w", "k,3,k,w", "k,5,k,w"]


def test_a_line_end_within_a_frame_is_good_in_quotes_only(joind):
    daemon = start(joind, "octet")
    subscriber = daemon.subscribe()
    daemon.send("left", octets(b'k,"a\nb"\n', b"k,c\nd"))
    row, = wait_rejects(daemon, 1)
    check_reject(row, "left", b"k,c\nd")
    assert row[1] == b"quote"
    daemon.send("right", b"k,w\n")
    daemon.wait_books("left", received=2)
    daemon.stop(expect=0)
    subscriber.wait_end()
    assert subscriber.data == b'k,"a\nb",k,w\n'


def test_an_over_long_frame_is_skipped_in_the_memory_that_was_there(joind):
    daemon = start(joind, "octet", max_line="1K")
    subscriber = daemon.subscribe()
    feeder = daemon.connect("left").send(octets(b"k,1"))
    daemon.wait_books("left", received=1)
    before = daemon.memory()
    piece = b"3 k,x" * (1 << 16)       # what is skipped looks like frames
    feeder.send(b"%d k," % (1002 + 300 * len(piece)) + b"x" * 1000)
    for _ in range(300):
        feeder.send(piece)
    feeder.send(octets(b"k,2"))
    feeder.finish()
    row, = wait_rejects(daemon, 1)
    check_reject(row, "left", b"k," + b"x" * 1000 + piece[:22])
    assert row[1] == b"too_long"
    assert daemon.memory() - before < 8 << 20
    assert joined(daemon, subscriber, 3) == ["k,1,k,w", "k,2,k,w"]


@pytest.mark.parametrize("end", ["finish", "reset"])
@pytest.mark.parametrize("framing, data, shown", [
    ("octet", b"9 k,2\n", b"k,2\n"),
    ("octet", b"9 ", b"9 "),
    ("octet", b"9", b"9"),
    ("auto", b"9 <13>", b"<13>"),
], ids=["within it", "behind its count", "within its count", "auto"])
def test_a_connection_that_ends_within_a_frame_leaves_it_unfinished(joind, framing, data, shown,
                                                                    end):
    daemon = start(joind, framing)
    good = octets(b"k,1") if framing == "octet" else b"k,1\n"
    feeder = daemon.connect("left").send(good + data)
    daemon.wait_books("left", received=1)
    getattr(feeder, end)()
    row, = wait_rejects(daemon, 1)
    check_reject(row, "left", shown)
    assert row[1] == b"unfinished"
    daemon.wait_books("left", received=2, rejected=1)


def test_a_stop_that_cuts_a_frame_off_rejects_it(joind):
    daemon = start(joind, "octet")
    subscriber = daemon.subscribe()
    daemon.send("right", b"k,w\n")
    daemon.connect("left").send(octets(b"k,1") + b"9 k,2\n")
    daemon.wait_books("left", received=1)
    daemon.stop(expect=0)       # the sender does not close
    assert subscriber.wait_end() == ["k,1,k,w"]
    row, = daemon.rejects()
    assert row[1] == b"unfinished" and row[4] == b"k,2\n"


def test_auto_tells_counted_messages_from_lines(joind):
    daemon = start(joind, "auto", "syslog")
    subscriber = daemon.subscribe()
    daemon.send("left", octets(HEAD + b"k,1", HEAD3 + b"k,2\n") + HEAD + b"k,3\r\n" +
                octets(HEAD3 + b"k,4") + HEAD3 + b"k,5")
    assert joined(daemon, subscriber, 5) == [f"k,{n},k,w" for n in range(1, 6)]
    assert daemon.rejects() == []


def test_objects_are_counted_too(joind):
    daemon = joind(left={"framing": "auto", "format": "json", "fields": "k, v bigint"})
    subscriber = daemon.subscribe()
    daemon.send("left", octets(b'{"k":"k",\n"v":1}', b'{"k":"k","v":2}\n') +
                b'{"k":"k","v":3}\n')
    assert joined(daemon, subscriber, 3) == ["k,1,k,w", "k,2,k,w", "k,3,k,w"]


def test_a_file_of_frames_is_read_to_its_end(joind, tmp_path):
    (tmp_path / "in").write_bytes(octets(b"k,1\n", b"k,2\n") + b"7 k,3\n")
    daemon = joind(left={"file": "in", "framing": "octet"})
    daemon.wait_books("left", received=3, rejected=1)
    row, = wait_rejects(daemon, 1)
    assert row[1] == b"unfinished" and row[4] == b"k,3\n"


# Envelopes.

def test_the_record_is_the_message(joind):
    daemon = start(joind, envelope="syslog")
    subscriber = daemon.subscribe()
    daemon.send("left", HEAD + b"\xef\xbb\xbfk,1\n" + HEAD3 + b"k,2\r\n" +
                b"<13>Nov  9 17:41:27 app: k,3\n" +
                b"<13>2026-11-29T17:41:27.123456+01:00 host app: k, 4\n" +
                HEAD + b"\n" + HEAD3 + b"k,5")
    assert joined(daemon, subscriber, 5) == ["k, 4,k,w", "k,1,k,w", "k,2,k,w", "k,3,k,w",
                                            "k,5,k,w"]


def test_a_line_without_an_envelope_is_rejected_whole_and_a_bad_message_alone(joind):
    daemon = start(joind, envelope="syslog")
    subscriber = daemon.subscribe()
    daemon.send("left", b"k,1\n<192>1 - - - - - - k,2\n" + HEAD3 + b"k\n" + HEAD3 + b"k,3\n")
    rows = wait_rejects(daemon, 3)
    for row, line, reason in zip(rows, (b"k,1", b"<192>1 - - - - - - k,2", b"k"),
                                 (b"envelope", b"envelope", b"fields")):
        check_reject(row, "left", line)
        assert row[1] == reason
    assert joined(daemon, subscriber, 4) == ["k,3,k,w"]


@pytest.mark.parametrize("framing", ["line", "octet"])
def test_a_header_comes_in_an_envelope(joind, framing):
    daemon = start(joind, framing, "syslog", header="yes")
    subscriber = daemon.subscribe()
    lines = [HEAD3 + b"v,other,k", HEAD3 + b"1,x,k", HEAD3 + b"2,y,k"]
    daemon.send("left", octets(*lines) if framing == "octet" else b"\n".join(lines))
    assert joined(daemon, subscriber, 2) == ["k,1,k,w", "k,2,k,w"]


@pytest.mark.skipif(not shutil.which("logger"), reason="no logger here")
@pytest.mark.parametrize("options", [
    ["--rfc3164"], ["--rfc3164", "-i"], ["--rfc5424"], ["--rfc5424=notime"],
    ["--rfc5424=notq,nohost"], ["--rfc5424", "--octet-count"], ["--rfc3164", "--octet-count"],
    ["--rfc5424", "--msgid", "m", "--sd-id", "a@1", "--sd-param", 'x="1"'],
], ids=" ".join)
def test_loggers_messages_are_records(joind, options):
    daemon = start(joind, "auto", "syslog")
    subscriber = daemon.subscribe()
    host, port = daemon.address("left")
    # It ends a message by a line end only where it does not count: one connection each.
    for value in ("1", "two words: x"):
        subprocess.run(["logger", "-n", host, "-P", str(port), "-T", "-t", "app", *options,
                        f"k,{value}"], check=True, timeout=10 * PATIENCE)
    assert joined(daemon, subscriber, 2) == ["k,1,k,w", "k,two words: x,k,w"]
    assert daemon.rejects() == []


# Settings.

@pytest.mark.parametrize("framing, envelope, data, said", [
    ("line", "none", octets(HEAD + b"k,1"), "framing = octet and envelope = syslog"),
    ("line", "syslog", octets(HEAD + b"k,1"), "framing = octet"),
    ("line", "none", octets(b'{"k":1}'), "framing = octet"),
    ("line", "none", HEAD + b"k,1\n", "envelope = syslog"),
    ("line", "none", HEAD3 + b"k,1\n", "envelope = syslog"),
    ("octet", "none", octets(HEAD + b"k,1"), "envelope = syslog"),
    ("octet", "syslog", HEAD + b"k,1\n", "framing = line"),
], ids=["both", "counts", "objects", "5424", "3164", "in frames", "no counts"])
def test_what_the_settings_lack_is_named_once_a_connection_and_counted(joind, framing, envelope, data, said):
    daemon = start(joind, framing, envelope)
    daemon.send("left", data * 3)
    assert said in daemon.wait_log("set framing|set envelope")
    assert named(daemon) == 1
    daemon.send("left", data)
    assert named(daemon) == 2
    daemon.stop(expect=0)
    assert len(daemon.log_matches("set framing|set envelope")) == 2, daemon.log_text()


def test_what_the_settings_ask_for_is_not_named(joind):
    daemon = start(joind, "octet", "syslog")
    daemon.send("left", octets(HEAD + b"k,1", HEAD3 + b"k,2"))
    daemon.wait_books("left", received=2, rejected=0)
    assert named(daemon) == 0
    daemon.stop(expect=0)
    assert not daemon.log_matches("set framing|set envelope")


def test_an_array_a_write_is_named_with_json(joind):
    daemon = joind(left={"format": "json", "fields": "k, v"})
    daemon.send("left", b'[ {"k":"1","v":"a"},{"k":"2","v":"b"}]')
    wait_until(lambda: daemon.log_matches("JSON array"), 5, "a line about it", daemon.log_text)
    assert named(daemon) == 1


def test_check_prints_the_settings_and_refuses_line_ends_in_envelopes(tmp_path):
    ini = tmp_path / "t.ini"
    ini.write_text("[left]\nlisten = 127.0.0.1:0\nfields = k\nframing = octet\n"
                   "envelope = syslog\n[right]\nlisten = 127.0.0.1:0\nfields = k\n"
                   "framing = auto\n[join]\nsize = 1s\n[output]\nfile = -\n")
    checked = run("--check", ini)
    assert checked.returncode == 0, checked.log
    for line in (b"framing = octet", b"envelope = syslog", b"framing = auto"):
        assert line in checked.stdout.split(b"\n")
    refused = run("--check", "--set", "left.multiline=yes", ini)
    assert refused.returncode == 78 and "multiline" in refused.log
