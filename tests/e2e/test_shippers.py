"""The recipes of conf/shippers/ do what they say, run by the real programs, as they are shipped."""

import collections
import json
import os
import random
import re
import socket
import subprocess
import threading
import time

import pytest

from joind import ENDLESS, PATIENCE, SocketUnits, run, wait_until
from shippers import RECIPES, Logging, assert_each_once, client, feed, free_port, \
    numbered, on_terminal, received, shipped, shippers, yours
from tools import assert_check_says_what_reads_the_same

INIS = sorted(path.name for path in RECIPES.glob("*.ini"))
SCRIPTS = sorted(path.name for path in RECIPES.glob("*.sh"))
FILES = sorted(path.name for path in RECIPES.iterdir()
               if path.suffix in (".conf", ".yaml", ".sh", ".ps1", ".ini"))


def rows(subscriber, count, seconds=20):
    return sorted(subscriber.wait_lines(count, seconds))


def objects(subscriber, count, seconds=20):
    return sorted((json.loads(line) for line in subscriber.wait_lines(count, seconds)),
                  key=lambda row: str(row))


# The files themselves.

@pytest.mark.parametrize("name", INIS)
def test_check_finds_nothing_wrong(name, tmp_path):
    assert_check_says_what_reads_the_same(RECIPES / name, tmp_path)


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_are_ready_to_run(name):
    path = RECIPES / name
    assert os.access(path, os.X_OK)
    shell = path.read_text().partition("\n")[0].rpartition("/")[2]
    subprocess.run([shell, "-n", path], check=True)


def test_the_index_names_every_file_and_no_others():
    index = (RECIPES / "README.md").read_text()
    for name in FILES:
        assert f"`{name}`" in index, f"{name} is not in the index"
    for word in index.split("`")[1::2]:
        if word.startswith(("joind-to-", "rsyslog-", "syslog-ng-")) or "-to-joind" in word:
            assert (RECIPES / word).exists(), f"the index speaks of {word}"


@pytest.mark.parametrize("name", [name for name in FILES if not name.endswith(".ini")])
def test_every_recipe_names_the_ini_that_goes_with_it_and_its_port(name):
    text = (RECIPES / name).read_text()
    fits = [ini for ini in INIS if ini in text]
    assert fits, f"{name} names no INI"
    ports = [word.rpartition(":")[2] for word in yours(name)]
    if "collector" not in fits[0]:
        assert any(f":{port}\n" in (RECIPES / fits[0]).read_text() for port in ports)


def examples(name):
    """What a recipe shows of what it sends: bytes, as its first comment has them."""
    head = (RECIPES / name).read_text().partition("\n\n")[0]
    lines = re.findall(r"^#   (.*)$", head, re.MULTILINE)
    return ("\n".join(lines) + "\n").encode() if lines and re.match(r"[{<0-9]", lines[0]) else None


@pytest.mark.parametrize("name", [name for name in FILES if "-to-joind" in name and examples(name)])
def test_what_a_recipe_shows_is_taken_by_the_ini_that_goes_with_it(name, tmp_path):
    ini = next(ini for ini in INIS if ini in (RECIPES / name).read_text())
    (tmp_path / "left").write_bytes(examples(name))
    (tmp_path / "right").write_bytes(b"")
    changes = {"left.listen": "", "left.file": tmp_path / "left", "right.listen": "",
               "right.file": tmp_path / "right", "join.type": "left", "output.listen": "",
               "output.file": "-", "rejects.listen": "", "rejects.file": tmp_path / "rejects",
               "http.listen": ""}
    if "\n[late]" in (RECIPES / ini).read_text():
        changes["late.listen"], changes["late.file"] = "", tmp_path / "late"
    ended = run(*(word for item in changes.items() for word in ("--set", "%s=%s" % item)),
                RECIPES / ini)
    assert ended.returncode == 0, ended.log
    assert (tmp_path / "rejects").read_bytes() == b""
    assert ended.stdout.startswith((b"o-17,4211,12.5,", b'"o-17\nb",4211,12.5,',
                                    b'{"request":"o-17,4211,12.50","front":"web1"'))


# Log shippers into joind.

TEXTS = ["r-1", 'r "2" \\ and {3}', "grün", "a,b;c", "x" * 5000]


def test_events_of_rsyslog_and_syslog_ng_meet(joind, shippers):
    daemon = shipped(joind, "events.ini")
    subscriber = daemon.subscribe()
    front = shippers.rsyslog("rsyslog-to-joind.conf", p8000=daemon.port("left"))
    back = shippers.syslog_ng("syslog-ng-to-joind.conf", p8000=daemon.port("right"))
    front.log(*TEXTS)
    back.log(*TEXTS)
    found = objects(subscriber, len(TEXTS))
    assert sorted(row["request"] for row in found) == sorted(TEXTS)
    assert {(row["front"], row["back"]) for row in found} == {("web1", "store2")}
    for row in found:
        assert row["asked"][:10] == time.strftime("%Y-%m-%d", time.gmtime())
    daemon.wait_books("left", received=len(TEXTS), matched=len(TEXTS))
    daemon.wait_books("right", received=len(TEXTS), matched=len(TEXTS))


def test_control_characters_are_escaped_by_rsyslog_and_kept_by_syslog_ng(joind, shippers):
    daemon = shipped(joind, "events.ini", join={"lower": "-1s", "upper": "1s", "type": "inner"},
                     left={"key": ""}, right={"key": ""},
                     output={"select": "front.msg, back.msg as other"})
    subscriber = daemon.subscribe()
    front = shippers.rsyslog("rsyslog-to-joind.conf", p8000=daemon.port("left"))
    back = shippers.syslog_ng("syslog-ng-to-joind.conf", p8000=daemon.port("right"))
    front.log("one\ntwo\tthree")
    back.log("one\ntwo\tthree")
    assert objects(subscriber, 1) == [{"msg": "one#012two#011three", "other": "one\ntwo\tthree"}]


SYSLOG_RECIPES = ("rsyslog-syslog-to-joind.conf", "rsyslog-octet-to-joind.conf",
                  "syslog-ng-syslog-to-joind.conf")


@pytest.mark.parametrize("name", SYSLOG_RECIPES)
def test_records_in_an_envelope_come_out_without_it(name, joind, shippers):
    daemon = shipped(joind, "syslog.ini")
    subscriber = daemon.subscribe()
    shipper = shippers.start(name, p8000=daemon.port("left"))
    shipper.log("o-17,4211,12.50", "grün,1,2", '"o,18",4212,7')
    feed(shippers.folder, "logger-to-joind.sh", b'P-1,o-17\nP-2,"o,18"\nP-3,gr\xc3\xbcn\n',
         port=daemon.port("right"))
    assert rows(subscriber, 3) == ['"o,18",4212,7,P-2', "grün,1,2,P-3", "o-17,4211,12.5,P-1"]
    assert daemon.books("left")["rejected"] == 0


def test_a_counted_record_may_hold_line_ends(joind, shippers):
    daemon = shipped(joind, "syslog.ini", left={"fields": "id, note"},
                     output={"select": "orders.id, note, parcel"})
    subscriber = daemon.subscribe()
    rsyslog = shippers.rsyslog("rsyslog-octet-to-joind.conf", p8000=daemon.port("left"),
                               first="$EscapeControlCharactersOnReceive off")
    syslog_ng = shippers.syslog_ng("syslog-ng-syslog-to-joind.conf", p8000=daemon.port("left"))
    rsyslog.log('a,"two\nlines"')
    syslog_ng.log('b,"zwei\nZeilen, ä"')
    daemon.send("right", b"<13>1 - - - - - - P-1,a\n<13>1 - - - - - - P-2,b\n")
    subscriber.wait_lines(4)
    found = sorted(subscriber.data.decode().replace("\nb", "\0b").replace("\na", "\0a")
                   .rstrip("\n").split("\0"))
    assert found == ['a,"two\nlines",P-1', 'b,"zwei\nZeilen, ä",P-2']


def written(daemon, key):
    lines = (daemon.folder / "out").read_bytes().splitlines()
    return [json.loads(line)[key] for line in lines]


@pytest.mark.parametrize("name", ["rsyslog-to-joind.conf", "syslog-ng-to-joind.conf"])
def test_nothing_is_lost_while_joind_is_away(name, joind, shippers, tmp_path):
    """Some while it is there, some while it stops, some while it is away, some when it is back."""
    port = free_port()
    def once():
        return shipped(joind, "events.ini", port=port, folder=tmp_path / "same",
                       join={"match": "tumbling", "size": ENDLESS, "type": "left", "lower": "",
                             "upper": "", "time": "processing"},
                       left={"timestamp": "", "delay": "", "where": "program = 'shop'"},
                       right={"timestamp": "", "delay": ""},
                       output={"listen": "", "file": "out", "select": "front.msg"})

    first = once()
    shipper = shippers.start(name, p8000=port)
    texts = numbered(20000)
    logging = Logging(shipper, texts, pause_s=0.01)
    wait_until(lambda: first.books("left")["received"] > 4000, 20, "load", shipper.said)
    first.stop(expect=0)
    away_from = logging.written
    wait_until(lambda: logging.written > away_from + 4000, 20, "load", shipper.said)
    second = once()
    logging.join()
    count = len(texts) - len(written(first, "msg"))
    wait_until(lambda: second.books("left")["held"] >= count, 30, "the rest", shipper.said)
    shipper.stop()
    second.stop(expect=0)
    assert_each_once(written(second, "msg"), texts)


# Small clients into joind.

ORDERS = b"o-17,4211,12.50\no-18,4212,7\n"
PARCELS = b"P-1,o-17\nP-2,o-18\nP-3,gr\xc3\xbcn\n"
PAIRS = ["o-17,4211,12.5,P-1", "o-18,4212,7,P-2"]


@pytest.mark.parametrize("options", [(), ("--rfc3164",), ("--octet-count",),
                                     ("--octet-count", "--rfc3164"),
                                     ("--octet-count", "--rfc5424")],
                         ids=lambda options: "".join(options) or "plain")
def test_logger_in_each_of_its_formats(options, joind, shippers):
    daemon = shipped(joind, "syslog.ini")
    subscriber = daemon.subscribe()
    assert feed(shippers.folder, "logger-to-joind.sh", ORDERS, *options,
                port=daemon.port("left")) == 0
    for parcel in PARCELS.splitlines()[:2]:
        assert feed(shippers.folder, "logger-to-joind.sh", b"", *options, "--", parcel,
                    port=daemon.port("right")) == 0
    assert rows(subscriber, 2) == PAIRS
    assert daemon.books("left")["received"] == 2


@pytest.mark.parametrize("name", ["nc", "ncat", "socat", "bash"])
def test_a_client_sends_a_file_whole_with_a_last_line_that_lacks_its_end(name, joind, shippers):
    daemon = shipped(joind, "lines.ini")
    subscriber = daemon.subscribe()
    script = f"{name}-to-joind.sh"
    orders = b"".join(b"x-%d,1,1\n" % n for n in range(20000)) + ORDERS[:-1]
    assert feed(shippers.folder, script, orders, port=daemon.port("left")) == 0
    assert feed(shippers.folder, script, PARCELS[:-1], port=daemon.port("right")) == 0
    assert rows(subscriber, 2) == PAIRS
    daemon.wait_books("left", received=20002, rejected=0)
    daemon.wait_books("right", received=3, rejected=0)


def test_crlf_of_nc_and_ncat_is_taken_off(joind, shippers):
    daemon = shipped(joind, "lines.ini")
    subscriber = daemon.subscribe()
    feed(shippers.folder, "nc-to-joind.sh", ORDERS, "-C", port=daemon.port("left"))
    feed(shippers.folder, "ncat-to-joind.sh", PARCELS, "--crlf", port=daemon.port("right"))
    assert rows(subscriber, 2) == PAIRS


def test_status_0_of_nc_says_that_everything_arrived(joind, shippers):
    """It waits until joind has read everything and closed, also where joind is held back: here by
    results that nobody takes."""
    daemon = shipped(joind, "lines.ini")
    feed(shippers.folder, "nc-to-joind.sh", b"P,o-0\n", port=daemon.port("right"))
    orders = b"o-0,1,1\n" * 100000
    process = client(shippers.folder, "nc-to-joind.sh", port=daemon.port("left"))
    threading.Thread(target=lambda: (process.stdin.write(orders), process.stdin.close())).start()
    wait_until(lambda: daemon.books("left")["received"] > 0, 10, "the first lines")
    assert process.poll() is None and daemon.books("left")["received"] < 100000
    daemon.subscribe()
    assert process.wait(20 * PATIENCE) == 0
    assert daemon.books("left")["received"] == 100000


INTERRUPT = b"\x03"


def test_telnet_s_line_ends_are_taken_and_its_ctrl_c_costs_one_line(joind, shippers):
    daemon = shipped(joind, "lines.ini")
    subscriber = daemon.subscribe()
    daemon.send("right", PARCELS)
    with on_terminal(shippers.folder, "telnet-to-joind.sh", daemon.port("left")) as telnet:
        telnet.wait_screen(b"Escape character")
        telnet.type(b"o-17,4211,12.50\r")
        assert rows(subscriber, 1) == PAIRS[:1]
        telnet.type(b"o-18,42" + INTERRUPT)
        time.sleep(0.1)
        telnet.type(b"\ro-18,4212,7\r")
        assert rows(subscriber, 2) == PAIRS
    assert [row[1] for row in daemon.rejects()] == [b"telnet"]


class Runs(threading.Thread):
    """Runs a client again and again, each with lines that bear the number of the run."""

    LINES = 10000

    def __init__(self, folder, name, port):
        super().__init__(daemon=True)
        self.folder, self.script, self.port = folder, name, port
        self.ran = 0
        self.accepted = []
        self.ends = False
        self.start()

    def run(self):
        while not self.ends:
            self.ran += 1
            data = b"".join(b"%d,%d\n" % (self.ran, n) for n in range(self.LINES))
            if feed(self.folder, self.script, data, port=self.port) == 0:
                self.accepted.append(self.ran)
            else:
                time.sleep(0.02)

    def wait_for_some(self):
        """Until three more are through, and some way into the next."""
        enough = len(self.accepted) + 3
        wait_until(lambda: len(self.accepted) >= enough, 20, f"more runs of {self.script}")
        time.sleep(random.uniform(0, 0.03))

    def end(self):
        self.ends = True
        self.join(30 * PATIENCE)


NUMBERED_RUNS = {
    "left": {"fields": "run bigint, line bigint", "key": "run"},
    "right": {"fields": "run bigint, line bigint", "key": "run"},
    "join": {"match": "tumbling", "size": ENDLESS, "type": "left", "lower": "", "upper": ""},
    "output": {"listen": "", "file": "out", "select": "orders.run, orders.line"},
}


def whole_runs(daemon):
    """The numbers of the runs that came out; each has to be whole, and to come once."""
    lines = (daemon.folder / "out").read_bytes().splitlines()
    assert len(set(lines)) == len(lines), "a line came twice"
    counts = collections.Counter(int(line.split(b",")[0]) for line in lines)
    torn = {run: count for run, count in counts.items() if count != Runs.LINES}
    assert not torn, f"run: lines of it {torn}"
    return set(counts)


each_finite_client = pytest.mark.parametrize("name", ["nc-to-joind.sh", "socat-to-joind.sh"])


@each_finite_client
def test_each_run_of_a_client_that_was_accepted_is_whole(name, joind, shippers, tmp_path):
    """Run after run while joind is stopped and started again: no run leaves a part of itself."""
    port = free_port()
    daemon = shipped(joind, "lines.ini", port=port, **NUMBERED_RUNS)
    runs = Runs(shippers.folder, name, port)
    try:
        for _ in range(6):
            runs.wait_for_some()
            daemon.stop(expect=0)
            time.sleep(0.1)
            daemon = shipped(joind, "lines.ini", port=port, folder=tmp_path, **NUMBERED_RUNS)
        runs.wait_for_some()
    finally:
        runs.end()
    daemon.stop(expect=0)
    found = whole_runs(daemon)
    assert set(runs.accepted) <= found


@each_finite_client
def test_with_sockets_of_a_service_manager_every_run_is_accepted(name, joind, shippers):
    units = SocketUnits(left=("127.0.0.1", 0))
    changes = {**NUMBERED_RUNS, "left": {**NUMBERED_RUNS["left"], "listen": "systemd:left"}}
    daemon = shipped(joind, "lines.ini", passed=units, **changes)
    runs = Runs(shippers.folder, name, units.address("left")[1])
    try:
        for _ in range(6):
            runs.wait_for_some()
            daemon.restart()
        runs.wait_for_some()
    finally:
        runs.end()
    daemon.stop(expect=0)
    units.close()
    assert len(runs.accepted) == runs.ran
    assert whole_runs(daemon) == set(runs.accepted)


# Out of joind.

@pytest.mark.parametrize("name", ["nc", "ncat", "socat"])
def test_a_client_prints_every_result_from_when_it_connects(name, joind, shippers):
    daemon = shipped(joind, "lines.ini")
    process = client(shippers.folder, f"joind-to-{name}.sh", port=daemon.port("output"),
                     stdin=subprocess.DEVNULL)
    wait_until(lambda: daemon.connections("output") == 1, 10, "a subscriber")
    orders = b"".join(b"o-%d,1,1\n" % n for n in range(50000))
    daemon.send("right", PARCELS + b"".join(b"Q,o-%d\n" % n for n in range(50000)))
    reading = threading.Thread(target=lambda: result.append(process.stdout.read()))
    result = []
    reading.start()
    daemon.send("left", orders)
    daemon.stop(expect=0)
    assert process.wait(20 * PATIENCE) == 0
    reading.join(10)
    lines = result[0].splitlines()
    assert len(lines) == 50002 and sum(line.endswith(b",1,1,Q") for line in lines) == 50000


def test_telnet_shows_results(joind, shippers):
    daemon = shipped(joind, "lines.ini")
    with on_terminal(shippers.folder, "joind-to-telnet.sh", daemon.port("output")) as telnet:
        wait_until(lambda: daemon.connections("output") == 1, 10, "a subscriber")
        daemon.send("right", PARCELS)
        daemon.send("left", ORDERS)
        for pair in PAIRS:
            telnet.wait_screen(pair.encode())


def test_logger_puts_results_into_the_system_s_log(joind, shippers):
    daemon = shipped(joind, "lines.ini")
    path = str(shippers.folder / "log")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as log:
        log.bind(path)
        log.settimeout(10 * PATIENCE)
        process = client(shippers.folder, "joind-to-logger.sh", "--socket", path,
                         port=daemon.port("output"), stdin=subprocess.DEVNULL)
        wait_until(lambda: daemon.connections("output") == 1, 10, "a subscriber")
        daemon.send("right", PARCELS)
        daemon.send("left", ORDERS)
        messages = sorted(log.recv(65536).decode() for _ in PAIRS)
        daemon.stop(expect=0)
        assert process.wait(10 * PATIENCE) == 0
    for message, pair in zip(messages, PAIRS):
        assert re.fullmatch(rf"<13>.* joined: {re.escape(pair)}", message)


each_receiver = pytest.mark.parametrize("name", ["joind-to-rsyslog.conf",
                                                  "joind-to-syslog-ng.conf"])


def receive(shippers, name, port):
    shipper = shippers.start(name, p7003=port, results=shippers.folder / "results")
    return shipper, shippers.folder / "results"


@each_receiver
def test_results_arrive_as_they_are(name, joind, shippers):
    """Digits at a line's start, colons, tabs, quotes, what is not ASCII, and long lines."""
    port = free_port()
    _, results = receive(shippers, name, port)
    daemon = shipped(joind, "to-collector.ini", output={"connect": f"127.0.0.1:{port}"},
                     rejects={"listen": ""})
    ids = ["17", "4 <13>x", "host: a:b", "a\tb", '"', "grün", "<34>1 - - - x", "x" * 20000]
    quoted = ['"' + text.replace('"', '""') + '"' for text in ids]
    daemon.send("left", "".join(f"{text},1,2\n" for text in quoted))
    daemon.send("right", "".join(f"P,{text}\n" for text in quoted))
    wait_until(lambda: len(received(results)) >= len(ids), 20, "the results", daemon.log_text)
    assert sorted(row["id"] for row in received(results)) == sorted(ids)
    daemon.stop(expect=0)


@each_receiver
def test_csv_results_that_start_with_digits_arrive_too(name, joind, shippers):
    port = free_port()
    _, results = receive(shippers, name, port)
    daemon = shipped(joind, "to-collector.ini", rejects={"listen": ""},
                     output={"connect": f"127.0.0.1:{port}", "format": "csv"})
    daemon.send("left", "17 alice,1,2\n4,1,2\n")
    daemon.send("right", "P,17 alice\nP,4\n")
    expected = [b"17 alice,1,2,P", b"4,1,2,P"]
    wait_until(lambda: results.exists() and results.read_bytes().count(b"\n") == 2, 20, "results")
    assert sorted(results.read_bytes().splitlines()) == expected
    daemon.stop(expect=0)


@each_receiver
def test_results_wait_until_their_receiver_is_there(name, joind, shippers):
    port = free_port()
    daemon = shipped(joind, "to-collector.ini", output={"connect": f"127.0.0.1:{port}"},
                     rejects={"listen": ""})
    daemon.send("left", "".join(f"o-{n},1,2\n" for n in range(5000)))
    sender = daemon.connect("right").send("".join(f"P,o-{n}\n" for n in range(5000)).encode())
    _, results = receive(shippers, name, port)
    wait_until(lambda: len(received(results)) >= 5000, 20, "the results", daemon.log_text)
    assert_each_once([row["id"] for row in received(results)], [f"o-{n}" for n in range(5000)])
    sender.finish()
    daemon.stop(expect=0)
