"""What is shipped works as it is said to: conf/, the demo, the unit file, the example in README.md.

The expected rows lie beside the samples, sorted bytewise, without the line of names.
"""

import os
import re
import shutil
import signal
import socket
import subprocess
import time

import pytest

from joind import BINARY, ENDLESS, PATIENCE, PROJECT, at_window_start, clean_env, run, \
    wait_until

CONF = PROJECT / "conf"
SAMPLES = CONF / "samples"

# name: left samples, right samples, a line of names comes first, the books of left and of right
# (received, rejected, filtered, matched, unmatched).
SHIPPED = {
    "orders-shipments": ("orders", "shipments", True, (24, 2, 2, 18, 2), (24, 1, 0, 21, 2)),
    "employees": ("employees", "accounts", False, (20, 2, 0, 14, 4), (20, 1, 0, 16, 3)),
    "two-feeds": ("temperatures", "humidities", False, (20, 4, 1, 12, 3), (20, 2, 1, 12, 5)),
}
each_shipped = pytest.mark.parametrize("name", SHIPPED)


def sample(name):
    return SAMPLES / f"{name}.csv"


def expected_rows(name):
    return (SAMPLES / f"{name}.expected").read_text().splitlines()


def rows_of(name, lines):
    """The rows as a sorted list; the line of names, where there is one, has to come first."""
    if SHIPPED[name][2]:
        assert lines[0] == "id,customer,item,amount,parcel,carrier,city"
        lines = lines[1:]
    return sorted(lines, key=str.encode)


def options(**sections):
    """--set options: options(left={"file": "x"}) is --set left.file=x."""
    found = []
    for section, keys in sections.items():
        for key, value in keys.items():
            found += ["--set", f"{section}.{key}={value}"]
    return found


def test_every_shipped_configuration_has_samples_and_expected_rows():
    assert {path.stem for path in CONF.glob("*.ini")} == set(SHIPPED)
    for name in SHIPPED:
        rows = expected_rows(name)
        assert rows and rows == sorted(rows, key=str.encode)


@each_shipped
def test_check_finds_nothing_wrong_and_prints_what_reads_the_same(name, tmp_path):
    first = run("--check", CONF / f"{name}.ini")
    assert first.returncode == 0, first.log
    printed = tmp_path / "printed.ini"
    printed.write_bytes(first.stdout)
    second = run("--check", printed)
    assert second.returncode == 0, second.log
    assert second.stdout == first.stdout


@each_shipped
def test_samples_read_from_files_give_the_expected_rows(name, tmp_path):
    left, right, *_ = SHIPPED[name]
    out = tmp_path / "out"
    ended = run(*options(left={"listen": "", "file": sample(left)},
                         right={"listen": "", "file": sample(right)},
                         join={"size": ENDLESS},
                         output={"listen": "", "file": out},
                         rejects={"listen": "", "file": tmp_path / "rejects"},
                         http={"listen": ""}),
                CONF / f"{name}.ini", cwd=tmp_path)
    assert ended.returncode == 0, ended.log
    assert rows_of(name, out.read_text().splitlines()) == expected_rows(name)


@each_shipped
def test_samples_sent_over_tcp_give_the_expected_rows_and_books(name, joind, tmp_path):
    left, right, _, left_books, right_books = SHIPPED[name]
    ends = ("left", "right", "output", "http")
    daemon = joind(text=(CONF / f"{name}.ini").read_text(),
                   args=options(join={"size": "5s"},
                                rejects={"listen": "", "file": tmp_path / "rejects"},
                                **{end: {"listen": "127.0.0.1:0"} for end in ends}))
    subscriber = daemon.subscribe()
    at_window_start(5)
    daemon.send("left", sample(left).read_bytes())
    daemon.send("right", sample(right).read_bytes())
    rows = expected_rows(name)
    subscriber.wait_lines(len(rows) + SHIPPED[name][2])

    assert rows_of(name, subscriber.lines()) == rows
    for side, books in (("left", left_books), ("right", right_books)):
        names = ("received", "rejected", "filtered", "matched", "unmatched")
        daemon.wait_books(side, held=0, late=0, **dict(zip(names, books)))
    rejected = left_books[1] + right_books[1]
    wait_until(lambda: (tmp_path / "rejects").read_text().count("\n") == rejected, 5,
               f"{rejected} lines of [rejects]", daemon.log_text)
    daemon.stop()


def test_the_example_in_the_readme_is_a_valid_configuration(tmp_path):
    blocks = re.findall(r"^```ini\n(.*?)^```$", (PROJECT / "README.md").read_text(), re.M | re.S)
    assert blocks
    for number, text in enumerate(blocks):
        path = tmp_path / f"{number}.ini"
        path.write_text(text)
        ended = run("--check", path)
        assert ended.returncode == 0, ended.log


# The demo.

def quickstart(*arguments):
    return subprocess.Popen([PROJECT / "packaging" / "quickstart", "--joind", BINARY, *arguments],
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, env=clean_env(),
                            start_new_session=True)


def in_session(leader):
    """The processes of a session: what a demo has started and not ended."""
    left = subprocess.run(["ps", "-o", "pid=,args=", "-s", str(leader)], stdout=subprocess.PIPE,
                          text=True, check=False)
    return left.stdout.splitlines()


def test_the_demo_shows_exactly_the_expected_rows_and_ends_clean():
    started = time.monotonic()
    demo = quickstart("--ports", "auto")
    text, _ = demo.communicate(timeout=60 * PATIENCE)
    assert demo.returncode == 0, text
    assert time.monotonic() - started < 30 * PATIENCE
    for row in expected_rows("orders-shipments"):
        assert re.search(rf"^    \d\d:\d\d:\d\d\.\d\d\d  {re.escape(row)}$", text, re.M), (row, text)
    assert re.search(r"^    orders +24 = +2 \+ +2 \+ +0 \+ +18 \+ +2 \+ +0$", text, re.M), text
    assert re.search(r"^    shipments +24 = +1 \+ +0 \+ +0 \+ +21 \+ +2 \+ +0$", text, re.M), text
    assert '"1007,Grace Lin,monitor arm"' in text
    assert "joind ended with status 0" in text
    assert in_session(demo.pid) == []


def test_a_demo_whose_port_is_taken_names_the_port_and_the_way_out():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        demo = quickstart("--ports", "auto", "--right-port", str(port))
        text, _ = demo.communicate(timeout=20 * PATIENCE)
    assert demo.returncode == 1, text
    assert f"Another program has port {port} " in text
    assert "packaging/quickstart --ports auto" in text
    assert in_session(demo.pid) == []


def test_a_demo_that_is_interrupted_leaves_nothing_running():
    demo = quickstart("--ports", "auto")
    seen = []
    for line in demo.stdout:
        seen.append(line)
        if "sending lines" in line:
            break
    else:
        pytest.fail("".join(seen))
    assert any("joind" in process for process in in_session(demo.pid))
    os.kill(demo.pid, signal.SIGINT)
    demo.communicate(timeout=20 * PATIENCE)
    assert demo.returncode == 130
    assert in_session(demo.pid) == []


# The unit.

@pytest.fixture
def unit(tmp_path):
    """The unit file as an instance, with the daemon under test in place of the installed one."""
    if not shutil.which("systemd-analyze"):
        pytest.skip("no systemd-analyze here")
    text = (PROJECT / "packaging" / "joind@.service").read_text()
    assert text.count("ExecStart=joind ") == 1
    path = tmp_path / "joind@test.service"
    path.write_text(text.replace("ExecStart=joind ", f"ExecStart={BINARY} "))
    return path


def test_systemd_finds_nothing_wrong_with_the_unit(unit):
    ended = subprocess.run(["systemd-analyze", "verify", unit], stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True, check=False)
    assert ended.returncode == 0 and ended.stdout == ""


def test_the_unit_takes_all_rights_away_that_joind_does_not_need(unit):
    ended = subprocess.run(["systemd-analyze", "security", "--offline=yes", "--no-pager",
                            "--threshold=14", unit], stdout=subprocess.PIPE, text=True,
                           stderr=subprocess.STDOUT, check=False)
    assert ended.returncode == 0, ended.stdout
