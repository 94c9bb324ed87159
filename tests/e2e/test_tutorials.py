"""The tables and constants of conf/: the walks of conf/README.md, step by step."""

import re
import shutil
import time

import pytest

from joind import PROJECT, run
from test_shipped import CONF, SAMPLES, TUTORIALS, expected_rows, options, readme_part, sample

NULL = "NULL"
DEPARTMENTS, CACHED, BROADCAST, COMPANIES, LIMITS = TUTORIALS


def tutorial(joind, tmp_path, name, **sections):
    """The daemon on free ports, with its subscriber; what is rejected goes to a file."""
    for end in ("left", "right"):
        if name != DEPARTMENTS or end == "left":
            sections[end] = {"listen": "127.0.0.1:0", **sections.get(end, {})}
    ends = {"output": {"listen": "127.0.0.1:0"}, "http": {"listen": "127.0.0.1:0"},
            "rejects": {"listen": "", "file": tmp_path / "rejects.csv"}}
    daemon = joind(text=(CONF / f"{name}.ini").read_text(), args=options(**ends, **sections))
    return daemon, daemon.subscribe()


def sorted_rows(lines):
    return sorted(lines, key=str.encode)


def table_in(tmp_path):
    """A copy of the table, which a test may change; and the option that says so."""
    table = tmp_path / "departments.csv"
    shutil.copy(sample("departments"), table)
    return table, {"right": {"file": table}}


def assert_readme_shows(name, rows):
    """Each of these rows stands in the part of conf/README.md about it."""
    shown = re.findall(r"^    (.*)$", readme_part(name), re.M)
    assert [row for row in rows if row not in shown] == []


# Employees and the names of their departments.

def test_staff_gets_the_last_name_of_the_department(joind, tmp_path):
    _, sections = table_in(tmp_path)
    daemon, subscriber = tutorial(joind, tmp_path, DEPARTMENTS, **sections)
    daemon.send("left", sample("departments-staff").read_bytes())
    rows = subscriber.wait_lines(8)
    assert sorted_rows(rows) == expected_rows(DEPARTMENTS)
    assert_readme_shows(DEPARTMENTS, rows)
    daemon.wait_books("left", received=9, rejected=1, matched=6, unmatched=2, held=0)
    daemon.wait_books("right", received=5, matched=4, unmatched=1, held=0)
    assert [reject[4] for reject in daemon.rejects()] == [b"4oo8,Hana Sato,30"]
    daemon.stop()


def test_a_line_added_to_the_table_counts_for_who_comes_next(joind, tmp_path):
    table, sections = table_in(tmp_path)
    daemon, subscriber = tutorial(joind, tmp_path, DEPARTMENTS, **sections)
    daemon.send("left", "4005,Emil Brandt,50\n")
    subscriber.wait_lines(1)
    with table.open("a") as file:
        file.write("50,Logistics,4\n")
    daemon.wait_books("right", received=11, held=5)
    daemon.send("left", "4005,Emil Brandt,50\n")
    rows = subscriber.wait_lines(2)
    assert rows == ["4005,Emil Brandt,unknown,", "4005,Emil Brandt,Logistics,4"]
    assert_readme_shows(DEPARTMENTS, rows)
    assert daemon.metric("joind_lookup_reloads_total", result="ok") == 1
    daemon.stop()


def test_a_table_with_a_broken_line_is_not_taken(joind, tmp_path):
    table, sections = table_in(tmp_path)
    daemon, subscriber = tutorial(joind, tmp_path, DEPARTMENTS, **sections)
    with table.open("a") as file:
        file.write("5o,Logistics,4\n")
    daemon.wait_log('"5o" is not a bigint')
    daemon.send("left", "4001,Ada Lindholm,10\n")
    assert subscriber.wait_lines(1) == ["4001,Ada Lindholm,Finance and Controlling,3"]
    daemon.wait_books("right", received=5, matched=1)
    assert daemon.metric("joind_lookup_reloads_total", result="failed") == 1
    daemon.stop()


# A stream divided by a constant from another.

def test_numbers_before_the_first_constant_are_dropped(joind, tmp_path):
    daemon, subscriber = tutorial(joind, tmp_path, CACHED)
    numbers = sample("divide-numbers").read_bytes()
    daemon.send("left", numbers)
    daemon.wait_books("left", received=6, rejected=1, filtered=1, unmatched=4, held=0)
    daemon.send("right", sample("divide-constants").read_bytes())
    daemon.wait_books("right", received=3, filtered=2, held=1)
    daemon.send("left", numbers)
    rows = subscriber.wait_lines(4)
    assert sorted_rows(rows) == expected_rows(CACHED)
    assert_readme_shows(CACHED, rows)
    daemon.wait_books("left", received=12, rejected=2, filtered=2, matched=4, unmatched=4)
    daemon.stop()
    assert len(subscriber.wait_end()) == 4


def test_with_wait_they_are_held_until_the_first_constant_comes(joind, tmp_path):
    daemon, subscriber = tutorial(joind, tmp_path, CACHED, join={"wait": "10s"})
    daemon.send("left", sample("divide-numbers").read_bytes())
    daemon.wait_books("left", received=6, rejected=1, filtered=1, held=4)
    daemon.send("right", "4\n")
    assert sorted_rows(subscriber.wait_lines(4)) == expected_rows(CACHED)
    daemon.send("right", "5\n")
    daemon.send("left", "10\n")
    assert subscriber.wait_lines(5)[4] == "10,5,2"
    daemon.stop()


def test_a_constant_is_broadcast_to_all_that_comes_after_it(joind, tmp_path):
    daemon, subscriber = tutorial(joind, tmp_path, BROADCAST)
    numbers = sample("divide-numbers").read_bytes()
    daemon.send("left", numbers)
    daemon.wait_books("left", received=6, rejected=1, held=5)
    daemon.send("right", "4\n")
    first = subscriber.wait_lines(5)
    assert first == [f"{number},4,{quotient}" for number, quotient in
                     (("10", "2.5"), ("20", "5"), (NULL, NULL), ("30", "7.5"), ("0", "0"))]
    daemon.send("right", "0\n")
    daemon.wait_books("right", received=2)
    daemon.send("left", numbers)
    rows = subscriber.wait_lines(10)
    assert sorted_rows(rows) == expected_rows(BROADCAST)
    assert_readme_shows(BROADCAST, rows)
    daemon.send("right", "5\n")
    daemon.wait_books("right", received=3)
    daemon.send("left", "10\n")
    assert subscriber.wait_lines(11)[10] == "10,5,2"
    assert daemon.metric("joind_results_rejected_total") == 0
    daemon.stop()


def test_a_number_that_has_waited_long_enough_comes_alone(joind, tmp_path):
    daemon, subscriber = tutorial(joind, tmp_path, BROADCAST, join={"wait": "1s"})
    started = time.monotonic()
    daemon.send("left", "10\n")
    assert subscriber.wait_lines(1) == ["10,NULL,NULL"]
    assert time.monotonic() - started >= 0.9
    daemon.stop()


# People and companies, once.

def test_the_batch_writes_its_rows_and_ends():
    ended = run("-q", CONF / f"{COMPANIES}.ini")
    rows = ended.stdout.decode().splitlines()
    assert ended.returncode == 0, ended.log
    assert sorted_rows(rows) == expected_rows(COMPANIES)
    assert_readme_shows(COMPANIES, rows)
    assert [row.split(",")[0] for row in rows] == [  # in the order of the left side
        line.split(",")[0] for line in sample("people").read_text().splitlines()[1:-1]]


@pytest.mark.parametrize("kind, count", [("inner", 4), ("full", 6), ("anti", 1)])
def test_other_types_give_other_rows(kind, count):
    select = ["--set", "output.select=person"] if kind == "anti" else []
    ended = run("-q", "--set", f"join.type={kind}", *select, CONF / f"{COMPANIES}.ini")
    assert ended.returncode == 0, ended.log
    assert len(ended.stdout.splitlines()) == count


# Readings and the limits of their device.

def test_readings_wait_for_the_limits_of_their_device(joind, tmp_path):
    daemon, subscriber = tutorial(joind, tmp_path, LIMITS, join={"wait": "2s"})
    daemon.send("left", sample("limits-readings").read_bytes())
    daemon.wait_books("left", received=4, held=4)
    daemon.send("right", sample("limits").read_bytes())
    rows = subscriber.wait_lines(3)
    assert [row for row in rows if "valve-9" in row] == []
    rows = subscriber.wait_lines(4)
    assert "valve-9" in rows[3]
    assert sorted_rows(rows) == expected_rows(LIMITS)
    assert_readme_shows(LIMITS, rows)
    daemon.wait_books("left", matched=3, unmatched=1, held=0)
    daemon.wait_books("right", received=3, filtered=1, matched=2)
    daemon.send("right", "pump-1,5,20\n")
    daemon.wait_books("right", received=4, held=1)
    daemon.send("left", "pump-1,12\n")
    again = subscriber.wait_lines(5)[4]
    assert again == '{"device":"pump-1","value":12,"low":5,"high":20,"ok":true}'
    assert_readme_shows(LIMITS, [again])
    daemon.stop()


def test_the_readme_names_every_one_of_them():
    text = (CONF / "README.md").read_text()
    for name in TUTORIALS:
        assert re.search(rf"^\| `{name}\.ini` \|", text, re.M), name
    assert SAMPLES.is_dir() and (PROJECT / "conf") == CONF
