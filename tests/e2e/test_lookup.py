"""Lookup joins through the whole program: a file that answers, and is read anew. Rules:
semantics.md, section 5; interface.md, sections 1, 5 and 6. Names with a number are of shippers.md,
"What people report"."""

import os
import signal
import socket
import threading
import time

import pytest

from joind import SANITIZED, config, run, wait_until
from test_systemd import manager  # noqa: F401 pylint: disable=unused-import

LOOKUP = {"match": "lookup", "size": None, "type": "left"}
MANY = 400000
MILLION = MANY if SANITIZED else 1000000


def lookup(joind, tmp_path, rows, join=None, right=None, **kw):
    """A daemon whose right side is the file r.csv with these rows."""
    (tmp_path / "r.csv").write_text(rows)
    return joind(join={**LOOKUP, **(join or {})}, right={"file": "r.csv", **(right or {})}, **kw)


def start(folder, rows, right=None, join=None, stdin=b"", **sections):
    """Runs one whose left side is standard input, to its end."""
    if rows is not None:
        (folder / "r.csv").write_bytes(rows)
    text = config(left={"file": "-"}, right={"file": "r.csv", **(right or {})},
                  join={**LOOKUP, **(join or {})}, http=None,
                  **{"output": {"file": "-"}, **sections})
    (folder / "lookup.ini").write_text(text)
    return run(folder / "lookup.ini", cwd=folder, stdin=stdin)


def errors_of(process):
    return [line.partition(" error ")[2] for line in process.log.splitlines() if " error " in line]


def reloads(daemon):
    metrics = daemon.metrics()
    return tuple(int(metrics.value("joind_lookup_reloads_total", result=result))
                 for result in ("ok", "failed"))


def wait_reloads(daemon, ok, failed, seconds=15):
    wait_until(lambda: reloads(daemon) == (ok, failed), seconds,
               f"{ok} tables taken, {failed} not", lambda: f"{reloads(daemon)}\n"
               f"{daemon.log_text()}")


def hang_up(daemon, ok, failed, seconds=15):
    daemon.signal(signal.SIGHUP)
    wait_reloads(daemon, ok, failed, seconds)


def replace(path, text):
    """As editors and scripts do who know what they are about."""
    fresh = path.with_suffix(".new")
    fresh.write_text(text)
    os.rename(fresh, path)


def ask(daemon, subscriber, key):
    """The rows that come for one left record of this key."""
    before = subscriber.count()
    daemon.send("left", f"{key},a\n".encode())
    wait_until(lambda: subscriber.count() > before, 10, "an answer", daemon.log_text)
    time.sleep(0.05)
    return [line.split(",", 2)[2] for line in subscriber.lines()[before:]]


# The first reading

def test_rows_of_every_type(tmp_path):
    rows, left = b"1,x\n2,y\n1,z\n,n\n", b"1,a\n3,b\n,c\n2,d\n"
    expected = {
        "inner": ["1,a,1,x", "1,a,1,z", "2,d,2,y"],
        "left": ["1,a,1,x", "1,a,1,z", "3,b,,", ",c,,", "2,d,2,y"],
        "semi": ["1,a", "2,d"],
        "anti": ["3,b", ",c"],
    }
    for kind, lines in expected.items():
        process = start(tmp_path, rows, join={"type": kind}, stdin=left)
        assert process.returncode == 0, process.log
        assert process.stdout.decode().splitlines() == lines, kind


def test_all_rows_of_a_key_or_the_last_one(tmp_path):
    rows = b"1,x\n2,y\n1,z\n"
    process = start(tmp_path, rows, {"duplicates": "last"}, stdin=b"1,a\n2,b\n")
    assert process.stdout == b"1,a,1,z\n2,b,2,y\n"
    process = start(tmp_path, rows, {"duplicates": "error"}, stdin=b"1,a\n")
    assert process.returncode == 1
    (error,) = errors_of(process)
    assert "r.csv:3: a row with this key is there already" in error


@pytest.mark.parametrize("rows, right, where", [
    (b"1,x\n2,y,z\n", {}, [":2: 3 fields"]),
    (b"1,x\n\n\"2\"x,y\n", {}, [":3: "]),
    (b"1,x\n2,\"a\nb\"\nthree\n4,y\nfive\n", {}, [":4: ", ":6: "]),
    (b"w,k\n1,x\ntwo,y\n", {"header": "yes", "fields": "k, w bigint"}, [":3: field w"]),
    (b"w,key\nx,1\n", {"header": "yes"}, [":1: "]),
    (b"", {"header": "yes"}, [": it is empty"]),
    (b"1,x\n2," + b"y" * 3000 + b"\n3,z\n", {"max_line": "1K"}, [":2: longer than max_line"]),
    (b"1,x\n2,a\0b\n", {}, [":2: "]),
    (b'{"k": "1"}\n{"k": 2\n', {"format": "json"}, [":2: "]),
    (b"1,x\n2,0\n", {"where": "10 / cast(w as bigint) > 0"}, [":1: where: ", ":2: where: "]),
])
def test_10_a_row_that_is_wrong_ends_the_start_and_says_where(tmp_path, rows, right, where):
    process = start(tmp_path, rows, right, output={"file": "out.csv"})
    assert process.returncode == 1
    errors = errors_of(process)
    assert len(errors) == len(where), process.log
    for error, place in zip(errors, where):
        assert error.startswith("right: ") and f"r.csv{place}" in error, error
    assert not (tmp_path / "out.csv").exists()
    assert "ready" not in process.log


def test_a_file_that_is_wrong_everywhere_says_so_ten_times(tmp_path):
    process = start(tmp_path, b"bad\n" * 1000)
    assert process.returncode == 1
    assert len(errors_of(process)) == 10


def test_what_is_no_regular_file_ends_the_start(tmp_path):
    assert start(tmp_path, None).returncode == 1
    os.mkfifo(tmp_path / "r.csv")
    process = start(tmp_path, None)
    assert process.returncode == 1 and "regular file" in process.log
    os.unlink(tmp_path / "r.csv")
    os.mkdir(tmp_path / "r.csv")
    process = start(tmp_path, None)
    assert process.returncode == 1 and "directory" in process.log


def test_no_port_is_open_before_the_file_is_read(joind, tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        (tmp_path / "r.csv").write_text("bad\n")
        daemon = joind(join=LOOKUP, right={"file": "r.csv"}, left={"listen": f"127.0.0.1:{port}"},
                       wait=False)
        daemon.wait_exit(expect=1)
    assert daemon.log_matches(r"r\.csv:1: ") and not daemon.log_matches("port|listen|address")


def test_a_table_that_does_not_fit_ends_the_start_with_one_error(tmp_path):
    rows = b"".join(b"%d,%030d\n" % (i, i) for i in range(20000))
    process = start(tmp_path, rows, state={"memory": "1M"})
    assert process.returncode == 1
    (error,) = errors_of(process)
    assert "does not fit into state.memory (1048576 bytes)" in error


def test_the_right_time_is_that_of_the_swap(joind, tmp_path):
    before = time.time()
    daemon = lookup(joind, tmp_path, "1,x\n2,y\n", output={
        "select": "cast(left_time as string) as l, cast(right_time as string) as r"})
    loaded = time.time()
    subscriber = daemon.subscribe()
    time.sleep(0.3)
    daemon.send("left", b"1,a\n3,b\n")
    (left, right), (other, nothing) = [line.split(",") for line in subscriber.wait_lines(2)]
    assert stamp(before) <= right <= stamp(loaded + 0.001) < stamp(loaded + 0.3) <= left
    assert other >= left and nothing == ""


def stamp(seconds):
    moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    return f"{moment}.{int(seconds * 1000) % 1000:03d}Z"


# Reading it anew

def test_hup_reads_it_anew_and_says_so_when_it_is_done(joind, tmp_path):
    daemon = lookup(joind, tmp_path, "1,x\n2,y\n2,z\n")
    subscriber = daemon.subscribe()
    assert ask(daemon, subscriber, 2) == ["2,y", "2,z"]
    daemon.wait_books("right", received=3, matched=2, held=1)
    (tmp_path / "r.csv").write_text("2,w\n")
    hang_up(daemon, 1, 0)
    daemon.wait_log("reloaded")
    order = daemon.log_matches("was read anew: 1 rows|reloaded")
    assert len(order) == 2 and "reloaded" in order[1]
    daemon.wait_books("right", received=4, matched=2, unmatched=1, held=1)
    assert ask(daemon, subscriber, 2) == ["2,w"]
    assert ask(daemon, subscriber, 1) == [","]
    daemon.wait_books("right", received=4, matched=3, unmatched=1, held=0)
    daemon.stop(expect=0)


def test_a_replaced_file_is_noticed(joind, tmp_path):
    daemon = lookup(joind, tmp_path, "1,x\n")
    subscriber = daemon.subscribe()
    replace(tmp_path / "r.csv", "1,y\n")
    wait_reloads(daemon, 1, 0)
    assert ask(daemon, subscriber, 1) == ["1,y"]
    assert not daemon.log_matches("reloaded")   # nobody asked


def test_a_file_written_into_is_noticed(joind, tmp_path):
    daemon = lookup(joind, tmp_path, "1,x\n")
    subscriber = daemon.subscribe()
    (tmp_path / "r.csv").write_text("1,y\n")    # as long as it was
    wait_reloads(daemon, 1, 0)
    assert ask(daemon, subscriber, 1) == ["1,y"]


def test_a_file_is_read_when_it_has_been_still_for_a_second(joind, tmp_path):
    daemon = lookup(joind, tmp_path, "1,x\n")
    with open(tmp_path / "r.csv", "a", encoding="ascii") as file:
        for i in range(8):
            file.write(f"2,{i}\n")
            file.flush()
            time.sleep(0.4)
            assert reloads(daemon) == (0, 0)
    wait_reloads(daemon, 1, 0)
    daemon.wait_books("right", received=1 + 9)
    time.sleep(2.5)
    assert reloads(daemon) == (1, 0)


def test_10_a_bad_file_leaves_the_old_table(joind, tmp_path):
    daemon = lookup(joind, tmp_path, "1,x\n2,y\n")
    subscriber = daemon.subscribe()
    before = daemon.books("right")
    replace(tmp_path / "r.csv", "1,new\n2,new,more\n")
    wait_reloads(daemon, 0, 1)
    assert daemon.log_matches(r"error right: .*r\.csv:2: 3 fields")
    assert daemon.log_matches("the table of before stays")
    assert daemon.assert_books_balance().books("right") == before
    assert ask(daemon, subscriber, 1) == ["1,x"]
    time.sleep(2.5)     # it is not tried again as long as it is the same
    assert reloads(daemon) == (0, 1)
    hang_up(daemon, 0, 2)
    daemon.wait_log("reloaded, but for the table")
    replace(tmp_path / "r.csv", "1,good\n")
    wait_reloads(daemon, 1, 2)
    assert ask(daemon, subscriber, 1) == ["1,good"]
    daemon.assert_books_balance()


def test_10_a_file_that_is_gone_or_empty_leaves_the_old_table(joind, tmp_path):
    daemon = lookup(joind, tmp_path, "k,w\n1,x\n", right={"header": "yes"})
    subscriber = daemon.subscribe()
    os.unlink(tmp_path / "r.csv")
    daemon.wait_log("warning right: cannot look at")
    hang_up(daemon, 0, 1)
    assert ask(daemon, subscriber, 1) == ["1,x"]
    (tmp_path / "r.csv").write_text("")
    wait_reloads(daemon, 0, 2)
    assert ask(daemon, subscriber, 1) == ["1,x"]
    assert len(daemon.log_matches("cannot look at")) == 1
    (tmp_path / "r.csv").write_text("k,w\n1,y\n")
    wait_reloads(daemon, 1, 2)
    assert ask(daemon, subscriber, 1) == ["1,y"]


def many_rows(word, count=MANY):
    return "".join(f"{i},{word}{i:030d}\n" for i in range(count))


def test_10_quick_hups_are_read_one_after_the_other(joind, tmp_path):
    """The first one is under way when the others come: they are one more."""
    daemon = lookup(joind, tmp_path, many_rows("x", MILLION))
    daemon.signal(signal.SIGHUP)
    daemon.wait_log("rejects.csv is open anew")
    for _ in range(4):
        daemon.signal(signal.SIGHUP)
        time.sleep(0.005)
    wait_reloads(daemon, 2, 0, seconds=60)
    wait_until(lambda: len(daemon.log_matches(r"reloaded$")) == 2, 10, "both said",
               daemon.log_text)
    time.sleep(1)
    assert reloads(daemon) == (2, 0)
    assert len(daemon.log_matches(r"reloaded$")) == 2


def test_a_file_that_changes_while_it_is_read_is_not_taken(joind, tmp_path):
    daemon = lookup(joind, tmp_path, many_rows("x"))
    daemon.signal(signal.SIGHUP)
    with open(tmp_path / "r.csv", "a", encoding="ascii") as file:
        while reloads(daemon) == (0, 0):
            file.write("0,last\n")
            file.flush()
            time.sleep(0.002)
    assert reloads(daemon) == (0, 1)
    daemon.wait_log("it changed while it was read")
    wait_reloads(daemon, 1, 1, seconds=60)      # once it is still
    subscriber = daemon.subscribe()
    assert ask(daemon, subscriber, 0)[1] == "0,last"


def test_a_table_that_does_not_fit_beside_the_old_one_is_not_taken(joind, tmp_path):
    daemon = lookup(joind, tmp_path, "1,x\n", state={"memory": "1M"})
    subscriber = daemon.subscribe()
    replace(tmp_path / "r.csv", "".join(f"{i},{i:030d}\n" for i in range(20000)))
    hang_up(daemon, 0, 1)
    assert daemon.log_matches("does not fit into state.memory")
    assert ask(daemon, subscriber, 1) == ["1,x"]
    replace(tmp_path / "r.csv", "1,y\n")
    hang_up(daemon, 1, 1)
    assert ask(daemon, subscriber, 1) == ["1,y"]
    wait_until(lambda: daemon.metric("joind_state_bytes") < 100000, 5, "the memory back")


def test_a_stop_does_not_wait_for_a_reading(joind, tmp_path):
    daemon = lookup(joind, tmp_path, many_rows("x"))
    daemon.signal(signal.SIGHUP)
    daemon.stop(expect=0)
    assert not daemon.log_matches("reloaded|was read anew")


def test_the_service_manager_is_told_when_it_is_done(joind, tmp_path, manager):  # noqa: F811
    daemon = lookup(joind, tmp_path, many_rows("x"), env={"NOTIFY_SOCKET": manager.path})
    manager.wait("READY", "1")
    daemon.signal(signal.SIGHUP)
    manager.wait("READY", "1", count=2, seconds=60)
    assert reloads(daemon) == (1, 0)
    times = {name: [at for at, message in manager.messages if name in message]
             for name in ("READY", "RELOADING")}
    assert len(times["RELOADING"]) == 1 and times["RELOADING"][0] < times["READY"][1]


def test_reading_it_anew_under_load_keeps_the_turns_short_and_the_books_right(joind, tmp_path):
    """Every left record meets the old table or the new one, whole; no turn is long."""
    (tmp_path / "x.csv").write_text(many_rows("x", MILLION))
    (tmp_path / "y.csv").write_text(many_rows("y", MILLION))
    os.link(tmp_path / "x.csv", tmp_path / "r.csv")
    daemon = joind(join=LOOKUP, right={"file": "r.csv"}, output={"select": "left.k, w"})
    subscriber = daemon.subscribe()
    feeder = daemon.connect("left")
    stop, sent = threading.Event(), [0]

    def feed():
        while not stop.is_set():
            keys = range(sent[0], sent[0] + 1000)
            feeder.send(b"".join(b"%d,a\n" % (key * 7919 % MILLION) for key in keys))
            sent[0] += 1000
            time.sleep(0.01)

    thread = threading.Thread(target=feed)
    thread.start()
    try:
        for number in range(1, 5):
            os.unlink(tmp_path / "r.csv")
            os.link(tmp_path / ("y.csv" if number % 2 else "x.csv"), tmp_path / "r.csv")
            daemon.signal(signal.SIGHUP)
            wait_until(lambda: daemon.assert_books_balance().value(
                "joind_lookup_reloads_total", result="ok") >= number, 60, f"table {number}",
                       daemon.log_text)
    finally:
        stop.set()
        thread.join()
    feeder.finish()
    daemon.wait_books("left", received=sent[0], matched=sent[0], held=0)
    lines = subscriber.wait_lines(sent[0], seconds=30)
    words = []
    for number, line in enumerate(lines):
        key, value = line.split(",")
        assert int(key) == number * 7919 % MILLION and int(value[1:]) == int(key)
        if not words or words[-1] != value[0]:
            words.append(value[0])
    assert words == ["x", "y"] * (len(words) // 2) + ["x"] * (len(words) % 2)
    assert len(words) >= 2
    books = daemon.books("right")
    assert books["received"] >= 5 * MILLION
    if not SANITIZED:
        assert daemon.status()["loop"]["turn_cpu_max_us"] < 5000
    wait_until(lambda: daemon.status()["state"]["bytes"] < MILLION * 90, 10, "the old tables gone")
    daemon.stop(expect=0)
