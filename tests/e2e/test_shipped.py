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

from joind import BINARY, ENDLESS, PATIENCE, PROJECT, clean_env, run, wait_until
from tools import WINDOW, assert_check_says_what_reads_the_same

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

# The three answers to lost pairs join the same samples: name: pairs over TCP, pairs from files.
LOST_PAIRS = {
    "lost-pairs-tumbling": (12, 19),
    "lost-pairs-grace": (16, 16),
    "lost-pairs-interval": (19, 19),
}

# Tables and constants: test_tutorials.py walks through them.
TUTORIALS = ("departments", "divide-cached", "divide-broadcast", "companies", "limits")

ALL = (*SHIPPED, *LOST_PAIRS, *TUTORIALS)


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
    assert {path.stem for path in CONF.glob("*.ini")} == set(ALL)
    for name in ALL:
        rows = expected_rows(name)
        assert rows and rows == sorted(rows, key=str.encode)


@pytest.mark.parametrize("name", ALL)
def test_check_finds_nothing_wrong_and_prints_what_reads_the_same(name, tmp_path):
    assert_check_says_what_reads_the_same(CONF / f"{name}.ini", tmp_path)


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
def test_samples_sent_over_tcp_give_the_expected_rows_and_books(name, joind, clock, tmp_path):
    left, right, _, left_books, right_books = SHIPPED[name]
    ends = ("left", "right", "output", "http")
    daemon = joind(text=(CONF / f"{name}.ini").read_text(), env=clock.env,
                   args=options(join={"size": WINDOW},
                                rejects={"listen": "", "file": tmp_path / "rejects"},
                                **{end: {"listen": "127.0.0.1:0"} for end in ends}))
    subscriber = daemon.subscribe()
    daemon.send("left", sample(left).read_bytes())
    daemon.send("right", sample(right).read_bytes())
    clock.end_window()
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


# The three answers to lost pairs, as conf/README.md walks through them.

ORDERS, SHIPMENTS, DELAYED = (sample(f"lost-pairs-{part}")
                              for part in ("orders", "shipments", "delayed"))
# Lines of both sides from much later: all windows before are over.
MUCH_LATER = {"left": b"9001,Later,2024-11-29T11:00:00Z\n",
              "right": b"P-901,9002,2024-11-29T11:00:00Z\n"}


def lost_pairs(joind, name, tmp_path, env=None, **sections):
    """The daemon on free ports, with its subscriber; what is late and rejected goes to files."""
    text = (CONF / f"{name}.ini").read_text()
    for end in ("late", "rejects"):
        if f"[{end}]" in text:
            sections[end] = {"listen": "", "file": tmp_path / end}
    ends = {end: {"listen": "127.0.0.1:0", **sections.pop(end, {})}
            for end in ("left", "right", "output", "http")}
    daemon = joind(text=text, args=options(**ends, **sections), env=env)
    return daemon, daemon.subscribe()


def send_orders_and_parcels(daemon):
    daemon.send("left", ORDERS.read_bytes())
    daemon.send("right", SHIPMENTS.read_bytes())


def readme_part(heading):
    """The part of conf/README.md under the heading that names it."""
    text = (CONF / "README.md").read_text()
    parts = re.findall(rf"^(#+) [^\n]*`{heading}\.ini`[^\n]*\n(.*?)(?=^##|\Z)", text, re.M | re.S)
    assert len(parts) == 1, f"{len(parts)} headings name {heading}.ini"
    return parts[0][1]


def assert_readme_prints_these_books(name, metrics):
    printed = re.findall(r"^    (joind_\S+ \d+)$", readme_part(name), re.M)
    assert len(printed) >= 6
    metrics.assert_books_balance()
    lines = metrics.text.splitlines()
    assert [line for line in printed if line not in lines] == []


def test_three_answers_give_three_counts_of_pairs_in_the_readme_s_table():
    text = (CONF / "README.md").read_text()
    for name, (pairs, _) in LOST_PAIRS.items():
        assert len(expected_rows(name)) == pairs
        assert re.search(rf"^\| `{name}\.ini` \| {pairs} \|", text, re.M), name
        short = rf"^\| `conf/{name}\.ini` [^|]+ \| {pairs} \| {19 - pairs}\b"
        assert re.search(short, (PROJECT / "README.md").read_text(), re.M), name
    more = [set(expected_rows(name)) for name in LOST_PAIRS]
    assert more[0] < more[2] and more[1] < more[2] and not more[0] <= more[1]


def test_the_tumbling_join_loses_what_comes_in_the_next_window(joind, clock, tmp_path):
    name = "lost-pairs-tumbling"
    daemon, subscriber = lost_pairs(joind, name, tmp_path, env=clock.env, join={"size": WINDOW})
    send_orders_and_parcels(daemon)
    clock.end_window()
    subscriber.wait_lines(12, seconds=4)
    daemon.send("right", DELAYED.read_bytes())
    clock.end_window()
    daemon.wait_books("right", received=20, rejected=1, matched=11, unmatched=8, held=0)
    daemon.wait_books("left", received=20, matched=12, unmatched=8, held=0)
    assert_readme_prints_these_books(name, daemon.metrics())
    daemon.stop(expect=0)
    assert sorted(subscriber.wait_end(), key=str.encode) == expected_rows(name)


def test_event_time_with_grace_loses_what_an_edge_parts_and_what_is_too_late(joind, tmp_path):
    name = "lost-pairs-grace"
    daemon, subscriber = lost_pairs(joind, name, tmp_path)
    send_orders_and_parcels(daemon)
    subscriber.wait_lines(9)
    daemon.wait_books("left", matched=9)
    daemon.send("right", DELAYED.read_bytes())
    subscriber.wait_lines(13)
    part = readme_part(name)
    assert "9 rows" in part and "row 13" in part and "16 rows" in part
    for side in ("left", "right"):
        daemon.send(side, MUCH_LATER[side])
    subscriber.wait_lines(16)
    for side in ("left", "right"):
        daemon.wait_books(side, received=21, held=1)
    metrics = daemon.metrics()
    assert_readme_prints_these_books(name, metrics)
    assert metrics.value("joind_late_windows_total", side="right") == 1
    wait_until(lambda: (tmp_path / "late").read_text().count("\n") == 1, 5, "a line of [late]")
    late = (tmp_path / "late").read_text()
    shown = re.search(r'^    (right,late,.*) \(from .*(,"P-303.*")$', part, re.M)
    assert late.startswith(shown[1] + " (from ") and late.endswith(shown[2] + "\n")
    daemon.stop(expect=0)
    assert sorted(subscriber.wait_end(), key=str.encode) == expected_rows(name)


def test_the_last_window_of_a_walk_ends_by_itself_when_both_sides_are_idle(joind, tmp_path):
    daemon, subscriber = lost_pairs(joind, "lost-pairs-grace", tmp_path,
                                    left={"idle": "1s"}, right={"idle": "1s"})
    send_orders_and_parcels(daemon)
    daemon.send("right", DELAYED.read_bytes())
    started = time.monotonic()
    subscriber.wait_lines(16, seconds=8)
    assert time.monotonic() - started > 3, "the clock has not moved time on, something else has"
    daemon.stop(expect=0)


def test_the_interval_join_loses_none(joind, tmp_path):
    name = "lost-pairs-interval"
    daemon, subscriber = lost_pairs(joind, name, tmp_path)
    send_orders_and_parcels(daemon)
    subscriber.wait_lines(12)
    daemon.send("right", DELAYED.read_bytes())
    subscriber.wait_lines(19)
    part = readme_part(name)
    assert "12 rows" in part and "19 rows" in part
    daemon.wait_books("left", matched=19, held=1)
    daemon.wait_books("right", matched=18, unmatched=1, held=0)
    assert_readme_prints_these_books(name, daemon.metrics())
    for side in ("left", "right"):
        daemon.send(side, MUCH_LATER[side])
    daemon.wait_books("left", received=21, matched=19, unmatched=1, held=1)
    daemon.wait_books("right", received=21, rejected=1, matched=18, unmatched=1, held=1)
    daemon.stop(expect=0)
    assert (tmp_path / "late").read_text() == ""
    assert sorted(subscriber.wait_end(), key=str.encode) == expected_rows(name)


@pytest.mark.parametrize("name", LOST_PAIRS)
def test_files_in_processing_time_hide_the_loss_and_in_event_time_show_it(name, tmp_path):
    """All lines of a file are read in one instant; the times in them stay what they were."""
    (tmp_path / "parcels").write_bytes(SHIPMENTS.read_bytes() + DELAYED.read_bytes())
    out = tmp_path / "out"
    sections = {"rejects": {"listen": "", "file": tmp_path / "rejects"}, "http": {"listen": ""}}
    if name == "lost-pairs-tumbling":
        sections["join"] = {"size": ENDLESS}
    else:
        sections["late"] = {"listen": "", "file": tmp_path / "late"}
    ended = run(*options(left={"listen": "", "file": ORDERS},
                         right={"listen": "", "file": tmp_path / "parcels"},
                         output={"listen": "", "file": out}, **sections),
                CONF / f"{name}.ini", cwd=tmp_path)
    assert ended.returncode == 0, ended.log
    pairs, from_files = LOST_PAIRS[name]
    rows = sorted(out.read_text().splitlines(), key=str.encode)
    assert len(rows) == from_files
    if pairs == from_files:
        assert rows == expected_rows(name)


def test_what_the_readme_says_of_the_samples_of_lost_pairs_is_so():
    orders, shipments, delayed = (path.read_text().splitlines()
                                  for path in (ORDERS, SHIPMENTS, DELAYED))
    assert (len(orders), len(shipments), len(delayed)) == (20, 13, 7)
    assert len(set(orders)) == 19 and "21i4" in shipments[8]
    part = readme_part(r"lost-pairs-\*")
    assert "20 orders" in part and "13 parcels" in part and "7 parcels" in part


def test_the_example_in_the_readme_is_a_valid_configuration(tmp_path):
    blocks = re.findall(r"^```ini\n(.*?)^```$", (PROJECT / "README.md").read_text(), re.M | re.S)
    assert blocks
    for number, text in enumerate(blocks):
        path = tmp_path / f"{number}.ini"
        path.write_text(text)
        ended = run("--check", path)
        assert ended.returncode == 0, ended.log


# The demo.

def heed_interrupts():
    """Who was started in the background ignores them, and so would all that it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def quickstart(*arguments):
    return subprocess.Popen([PROJECT / "packaging" / "quickstart", "--joind", BINARY, *arguments],
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, env=clean_env(),
                            start_new_session=True, preexec_fn=heed_interrupts)


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
    ended = subprocess.run(["systemd-analyze", "verify", "--man=no", unit], stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True, check=False)
    assert ended.returncode == 0 and ended.stdout == ""


def test_the_unit_takes_all_rights_away_that_joind_does_not_need(unit):
    ended = subprocess.run(["systemd-analyze", "security", "--offline=yes", "--no-pager",
                            "--threshold=14", unit], stdout=subprocess.PIPE, text=True,
                           stderr=subprocess.STDOUT, check=False)
    assert ended.returncode == 0, ended.stdout
