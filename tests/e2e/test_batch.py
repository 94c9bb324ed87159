"""Batch joins through the whole program: files and connections that end. Rules: semantics.md,
section 5; interface.md, section 6. Names with a number are of shippers.md, "What people report"."""

import random
import socket

import pytest

from joind import SANITIZED, config, run, wait_until

BATCH = {"match": "batch", "size": None}


def batch(folder, left, right, kind="inner", args=(), **changes):
    """A batch of two files, to its end: the process."""
    (folder / "l.csv").write_bytes(left)
    (folder / "r.csv").write_bytes(right)
    sections = {
        "left": {"file": "l.csv", **changes.pop("left_keys", {})},
        "right": {"file": "r.csv", **changes.pop("right_keys", {})},
        "join": {**BATCH, "type": kind, **changes.pop("join_keys", {})},
        "output": {"file": "-", **changes.pop("output_keys", {})},
        "http": None,
    }
    (folder / "b.ini").write_text(config(**sections, **changes))
    return run(*args, folder / "b.ini", cwd=folder, seconds=60)


def rows_of(process, expect=0):
    assert process.returncode == expect, process.log
    return process.stdout.decode().splitlines()


ROWS = {
    "inner": ["1,a,1,x", "1,a,1,z", "2,c,2,y"],
    "left": ["1,a,1,x", "1,a,1,z", ",b,,", "2,c,2,y", "4,d,,"],
    "right": ["1,a,1,x", "1,a,1,z", "2,c,2,y", ",,,n", ",,3,w"],
    "full": ["1,a,1,x", "1,a,1,z", ",b,,", "2,c,2,y", "4,d,,", ",,,n", ",,3,w"],
    "semi": ["1,a", "2,c"],
    "anti": [",b", "4,d"],
}


@pytest.mark.parametrize("kind", ROWS)
def test_each_type_gives_its_rows_in_order(tmp_path, kind):
    # 7: the empty keys do not match each other; 22: every partner of 1 is joined.
    process = batch(tmp_path, b"1,a\n,b\n2,c\n4,d\n", b"1,x\n2,y\n,n\n1,z\n3,w\n", kind)
    assert rows_of(process) == ROWS[kind]


def test_b1_a_key_that_stands_for_null(tmp_path):
    process = batch(tmp_path, b"1,\n,\n3,\n", b"1,Ann\n-9999999,None\n", "left",
                    left_keys={"fields": "id bigint, v", "key": "coalesce(id, -9999999)"},
                    right_keys={"fields": "company_id bigint, name", "key": "company_id"},
                    output_keys={"select": "coalesce(right.name, 'Blank')"})
    assert rows_of(process) == ["Ann", "None", "Blank"]


def test_8_strings_meet_as_they_are_and_bigints_as_numbers(tmp_path):
    left, right = b"007,a\n7,b\n", b"7,x\n0000010,y\n10,z\n"
    assert rows_of(batch(tmp_path, left, right)) == ["7,b,7,x"]
    typed = {"fields": "k bigint, v"}
    process = batch(tmp_path, left + b"10,c\n", right, left_keys=typed,
                    right_keys={"fields": "k bigint, w"}, output_keys={"select": "v, w"})
    assert rows_of(process) == ["a,x", "b,x", "c,y", "c,z"]


def test_23_what_does_not_take_part_is_told_and_counted(tmp_path):
    process = batch(tmp_path, b"1,a\nbroken\n2,b,c\n1,d\n", b"1,x\n\"oops,y\n", "full")
    assert rows_of(process) == ["1,a,1,x", "1,d,1,x"]
    rejects = (tmp_path / "rejects.csv").read_text().splitlines()
    assert sorted(line.split(",")[:2] for line in rejects) == [
        ["left", "fields"], ["left", "fields"], ["right", "quote"]]


def test_pairs_for_which_on_fails_are_no_match_and_are_told(tmp_path):
    process = batch(tmp_path, b"1,a\n", b"1,0\n1,5\n", "left",
                    join_keys={"on": "10 / cast(w as bigint) > 0"})
    assert rows_of(process) == ["1,a,1,5"]
    rejects = (tmp_path / "rejects.csv").read_text()
    assert rejects.startswith("pair,expression,") and "1,0" in rejects


def test_the_right_side_is_read_first_however_the_left_one_comes(joind):
    daemon = joind(join={**BATCH, "type": "full"}, output={"file": "out.csv"})
    left = daemon.connect("left").send(b"1,a\n2,b\n")
    left.socket.shutdown(socket.SHUT_WR)
    right = daemon.connect("right").send(b"1,x\n")
    daemon.wait_books("right", received=1, held=1)
    assert daemon.books("left")["received"] == 0
    assert daemon.metric("joind_input_paused", side="left") == 1
    assert daemon.metric("joind_input_paused", side="right") == 0
    right.send(b"3,y\n")
    right.finish()
    daemon.wait_exit(expect=0)
    out = (daemon.folder / "out.csv").read_text().splitlines()
    assert out == ["1,a,1,x", "2,b,,", ",,3,y"]


def test_a_side_ends_with_its_last_connection_and_its_port_with_it(joind):
    daemon = joind(join={**BATCH, "type": "left"}, output={"file": "out.csv"})
    first, second = daemon.connect("right"), daemon.connect("right")
    wait_until(lambda: daemon.connections("right") == 2, 5, "both connections")
    first.send(b"1,x\n").finish()
    second.send(b"1,y\n")
    daemon.wait_books("right", received=2)
    assert not daemon.status()["right"]["ended"]
    second.finish()
    daemon.wait_log("right: the last connection has closed")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(daemon.address("right"), timeout=5)
    assert daemon.is_running()
    daemon.send("left", b"1,a\n2,b\n")
    daemon.wait_exit(expect=0)
    assert (daemon.folder / "out.csv").read_text() == "1,a,1,x\n1,a,1,y\n2,b,,\n"


def test_a_file_and_a_connection_end_by_themselves(joind, tmp_path):
    (tmp_path / "r.csv").write_text("1,x\n2,y\n")
    daemon = joind(right={"file": "r.csv"}, join=BATCH, output={"file": "out.csv"})
    daemon.wait_books("right", received=2, held=2)
    daemon.send("left", b"2,a")     # its last line has no end
    daemon.wait_exit(expect=0)
    assert (daemon.folder / "out.csv").read_text() == "2,a,2,y\n"


def test_21_a_stop_gives_the_rows_that_are_certain_then(joind):
    daemon = joind(join={**BATCH, "type": "full"}, output={"file": "out.csv"})
    right = daemon.connect("right").send(b"1,x\n2,y\n")
    left = daemon.connect("left").send(b"1,a\n")
    daemon.wait_books("right", held=2)
    daemon.signal(15)
    right.socket.shutdown(socket.SHUT_WR)
    left.socket.shutdown(socket.SHUT_WR)
    daemon.wait_exit(expect=0)
    assert (daemon.folder / "out.csv").read_text() == "1,a,1,x\n,,2,y\n"


def test_a_table_that_does_not_fit_ends_with_one_error(tmp_path):
    right = b"".join(b"%d,%030d\n" % (i, i) for i in range(20000))
    process = batch(tmp_path, b"1,a\n", right, state={"memory": "1M"}, output_keys={"file": "-"},
                    right_keys={"max_line": "1K"}, left_keys={"max_line": "1K"})
    assert process.returncode == 1
    errors = [line for line in process.log.splitlines() if " error " in line]
    assert len(errors) == 1 and "right: the table does not fit" in errors[0], process.log
    assert process.stdout == b""


def test_the_last_line_of_the_right_side_may_lack_its_end(tmp_path):
    assert rows_of(batch(tmp_path, b"1,a", b"2,y\r\n1,x")) == ["1,a,1,x"]


def test_headers_and_json_are_read_as_of_any_input(tmp_path):
    process = batch(tmp_path, b'{"k": 1, "v": "a"}\n{"v": "b", "k": 2}\n', b"w,more,k\nx,-,1\n",
                    "left", left_keys={"format": "json", "fields": "k bigint, v"},
                    right_keys={"header": "yes", "fields": "k bigint, w"},
                    output_keys={"format": "json", "select": "v, w"})
    assert rows_of(process) == ['{"v":"a","w":"x"}', '{"v":"b","w":null}']


def test_results_that_are_read_slowly_are_all_there(joind):
    """The pull stops, the left side is held back, the order is kept."""
    daemon = joind(join=BATCH, output={"buffer": "64K"})
    subscriber = daemon.subscribe(paused=True, receive_buffer=8192)
    daemon.send("right", b"".join(b"%d,%0100d\n" % (i % 10, i) for i in range(1000)))
    left = daemon.connect("left")
    left.send(b"".join(b"%d,%d\n" % (i % 10, i) for i in range(2000)))
    left.socket.shutdown(socket.SHUT_WR)
    wait_until(lambda: daemon.books("left")["received"] > 0, 10, "rows of the left side")
    assert daemon.books("left")["received"] < 2000
    daemon.assert_books_balance()
    subscriber.resume()
    lines = subscriber.wait_end(seconds=60)
    daemon.wait_exit(expect=0)
    expected = [f"{i % 10},{i},{i % 10},{j:0100d}" for i in range(2000)
                for j in range(i % 10, 1000, 10)]
    assert lines == expected


def test_large_files_are_joined_as_by_hand_within_their_memory(tmp_path):
    count = 50000 if SANITIZED else 300000
    numbers = random.Random(5)
    rights = {}
    right, left, expected = [], [], []
    for i in range(count):
        key = numbers.randrange(count)
        rights.setdefault(key, []).append(i)
        right.append(b"%d,%d\n" % (key, i))
    for i in range(count):
        key = numbers.randrange(count)
        left.append(b"%d,%d\n" % (key, i))
        expected += [f"{i},{j}" for j in rights.get(key, [])]
    process = batch(tmp_path, b"".join(left), b"".join(right), state={"memory": "32M"},
                    output_keys={"select": "v, w"})
    assert rows_of(process) == expected
