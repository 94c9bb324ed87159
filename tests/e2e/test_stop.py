"""An orderly stop loses nothing that a sender wrote before its end; signals do what they say."""

import os
import re
import signal
import socket
import subprocess
import threading
import time

import pytest

from joind import PATIENCE, Joind, Subscriber, config, readable, wait_until
from test_connect import peer  # noqa: F401 pylint: disable=unused-import
from tools import build_library, preloading


class Pressing(threading.Thread):
    """Sends numbered lines until joind half-closes; then ends in order, as shippers do."""

    def __init__(self, address, name, pause_s=0.001, batch=40):
        super().__init__(daemon=True)
        self.name, self.pause_s, self.batch = name, pause_s, batch
        self.lines = 0
        self.fault = None
        self.socket = socket.create_connection(address, timeout=30 * PATIENCE)
        self.start()

    def run(self):
        try:
            while not readable(self.socket, self.pause_s):
                numbers = range(self.lines, self.lines + self.batch)
                self.socket.sendall("".join(f"{self.name}-{n},v\n" for n in numbers).encode())
                self.lines += self.batch
            assert self.socket.recv(1) == b""
            # What still lay in this program's own queue when it saw the end.
            self.socket.sendall(f"{self.name}-{self.lines},v".encode())
            self.lines += 1
            self.socket.close()
        except (OSError, AssertionError) as fault:
            self.fault = fault


def output(daemon):
    return (daemon.folder / "out.csv").read_bytes().splitlines()


def assert_all_there(daemon, senders):
    for sender in senders:
        sender.join(10 * PATIENCE)
        assert not sender.is_alive() and sender.fault is None, f"{sender.name}: {sender.fault}"
    rows = output(daemon)
    expected = {f"{sender.name}-{n},v,,".encode() for sender in senders
                for n in range(sender.lines)}
    missing = expected - set(rows)
    assert not missing, f"{len(missing)} of {len(expected)} lost, such as {sorted(missing)[:3]}"
    assert len(rows) == len(expected)


# Nothing lost.

@pytest.mark.parametrize("attempt", range(4))
def test_a_stop_under_load_of_twenty_senders_loses_nothing(joind, attempt):
    daemon = joind(join={"type": "left"}, output={"file": "out.csv"})
    senders = [Pressing(daemon.address("left"), f"s{n}") for n in range(20)]
    wait_until(lambda: min(sender.lines for sender in senders) > 100 + 100 * attempt, 10, "load")
    daemon.stop(expect=0)
    assert sum(sender.lines for sender in senders) > 2000
    assert_all_there(daemon, senders)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["TERM", "INT"])
def test_nc_n_loses_nothing_when_its_input_ends_after_the_stop(joind, number):
    daemon = joind(join={"type": "left"}, output={"file": "out.csv"})
    host, port = daemon.address("left")
    with subprocess.Popen(["nc", "-N", host, str(port)], stdin=subprocess.PIPE) as nc:
        lines = 0

        def write(count):
            nonlocal lines
            nc.stdin.write("".join(f"{n},v\n" for n in range(lines, lines + count)).encode())
            nc.stdin.flush()
            lines += count

        write(20000)
        daemon.wait_books("left", received=20000)
        write(20000)
        daemon.signal(number)
        daemon.wait_log("stop")
        write(20000)
        nc.stdin.write(b"last,v")
        nc.stdin.close()
        assert nc.wait(10 * PATIENCE) == 0
    daemon.wait_exit(expect=0)
    assert set(output(daemon)) == {b"%d,v,," % n for n in range(lines)} | {b"last,v,,"}
    assert len(output(daemon)) == lines + 1


def test_each_input_connection_sees_a_half_close_and_may_go_on_sending(joind):
    daemon = joind(join={"type": "left"}, output={"file": "out.csv"})
    feeders = [daemon.connect("left"), daemon.connect("left")]
    for number, feeder in enumerate(feeders):
        feeder.send(f"{number},before\n".encode())
    daemon.wait_books("left", received=2)
    started = time.monotonic()
    daemon.signal(signal.SIGTERM)
    for number, feeder in enumerate(feeders):
        feeder.read_end()
        feeder.send(f"{number},after\n{number},unended".encode())
        feeder.socket.shutdown(socket.SHUT_WR)
    daemon.wait_exit(expect=0)
    assert time.monotonic() - started < 4 * PATIENCE, "it waited for senders that had ended"
    assert sorted(output(daemon)) == sorted(
        b"%d,%s,," % (n, word) for n in (0, 1) for word in (b"before", b"after", b"unended"))


def test_a_sender_that_never_ends_is_cut_off_after_five_seconds(joind):
    daemon = joind(join={"type": "left"}, output={"file": "out.csv"})
    feeder = daemon.connect("left")
    feeder.send(b"1,a\n2,unfinished")
    daemon.wait_books("left", received=1)
    started = time.monotonic()
    daemon.signal(signal.SIGTERM)
    feeder.read_end()
    feeder.send(b"-still\n3,c\n4,unfin")
    daemon.wait_exit(expect=0)
    assert 4 < time.monotonic() - started < 5 + 3 * PATIENCE
    assert sorted(output(daemon)) == [b"1,a,,", b"2,unfinished-still,,", b"3,c,,"]
    rows = daemon.rejects()
    assert [row[4] for row in rows] == [b"4,unfin"], "what joind cuts off itself is no whole line"


def test_listening_ports_are_closed_at_the_stop(joind):
    daemon = joind(output={"file": "out.csv"})
    feeder = daemon.connect("left")
    feeder.send(b"1,a\n")
    daemon.wait_books("left", received=1)
    daemon.signal(signal.SIGTERM)
    feeder.read_end()
    for side in ("left", "right"):
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(daemon.address(side), timeout=5)
    feeder.close()
    daemon.wait_exit(expect=0)


def test_a_connection_that_waits_to_be_accepted_is_not_lost(joind):
    """Those in the listen queue when TERM comes have been told that they are connected."""
    daemon = joind(join={"type": "left"}, output={"file": "out.csv"})
    daemon.signal(signal.SIGSTOP)
    feeders = [daemon.connect("left") for _ in range(10)]
    for number, feeder in enumerate(feeders):
        feeder.send(f"{number},a".encode())
        feeder.socket.shutdown(socket.SHUT_WR)
    daemon.signal(signal.SIGTERM)
    daemon.signal(signal.SIGCONT)
    daemon.wait_exit(expect=0)
    assert sorted(output(daemon)) == [b"%d,a,," % n for n in range(10)]


def test_a_second_signal_ends_it_at_once_with_1(joind):
    daemon = joind()
    feeder = daemon.connect("left")
    feeder.send(b"1,a\n")
    daemon.wait_books("left", received=1)
    daemon.signal(signal.SIGTERM)
    feeder.read_end()
    started = time.monotonic()
    daemon.signal(signal.SIGINT)
    daemon.wait_exit(expect=1)
    assert time.monotonic() - started < 1 * PATIENCE


def given_up(daemon):
    """What the log says was lost: results, held records of both sides, rows in buffers."""
    patterns = (r"output: stopped with (\d+) results unwritten",
                r"output: stopped with (\d+) left and (\d+) right records undecided",
                r"(?:output|late|rejects): stopped with (\d+) rows in its buffers")
    found = [[int(number) for match in map(re.compile(pattern).search, daemon.log) if match
              for number in match.groups()] for pattern in patterns]
    return tuple(found)


def test_a_second_signal_counts_what_is_held_and_what_was_not_taken(joind):
    daemon = joind(rejects={"listen": "127.0.0.1:0", "absent": "wait"}, join={"type": "inner"})
    daemon.send("right", b"1,x\n")
    feeder = daemon.connect("left")
    feeder.send(b"2,a\n3,b\n4,c\nbad\nworse\n")
    daemon.wait_books("left", received=5)
    daemon.signal(signal.SIGTERM)
    feeder.read_end()
    daemon.signal(signal.SIGTERM)
    daemon.wait_exit(expect=1)
    assert given_up(daemon) == ([], [3, 1], [2])
    assert daemon.log_matches(r"left: received 5 = rejected 2 .* \+ held 3$")


def test_a_second_signal_counts_the_results_that_nobody_takes(joind):
    daemon = joind(join={"type": "left"})
    daemon.send("left", b"".join(b"%d,a\n" % n for n in range(1000)))
    daemon.signal(signal.SIGTERM)
    daemon.wait_log("stopping")
    daemon.signal(signal.SIGTERM)
    daemon.wait_exit(expect=1)
    assert given_up(daemon) == ([1000], [], [])


def test_a_second_signal_with_nothing_at_hand_has_nothing_to_tell(joind):
    daemon = joind()
    feeder = daemon.connect("left")
    daemon.signal(signal.SIGTERM)
    feeder.read_end()
    daemon.signal(signal.SIGTERM)
    daemon.wait_exit(expect=1)
    assert given_up(daemon) == ([], [], [])


def test_a_second_signal_is_heard_at_once_however_many_results_are_to_come(joind):
    """36 million pairs: they are not all counted."""
    daemon = joind()
    for side in ("left", "right"):
        daemon.send(side, b"".join(b"hot,%d\n" % n for n in range(6000)))
    daemon.stop_at_once()
    assert daemon.log_matches(r"stopped with more than \d+ results")
    assert 0 < given_up(daemon)[1][0] < 6000


def test_a_stop_that_waits_for_a_reader_says_so(joind):
    daemon = joind(join={"type": "left"})
    daemon.send("left", b"1,a\n")
    daemon.signal(signal.SIGTERM)
    daemon.wait_log("nobody takes what is left: waiting 10 s for it, a second signal stops at once")
    subscriber = daemon.subscribe()
    daemon.wait_exit(expect=0)
    assert subscriber.wait_end() == ["1,a,,"]
    assert len(daemon.log_matches("nobody takes")) == 1


def test_the_last_word_of_the_log_is_what_became_of_all_records(joind):
    daemon = joind(left={"where": "v <> 'no'"}, join={"type": "left"}, output={"file": "out.csv"})
    daemon.send("right", b"1,x\n2,y\n3,z\n")
    daemon.send("left", b"1,a\n4,b\n5,no\nbad\n1,c\n")
    daemon.wait_books("left", received=5)
    daemon.stop(expect=0)
    words = [line.partition(" info ")[2] for line in daemon.log[-3:]]
    assert words == [
        "left: received 5 = rejected 1 + filtered 1 + late 0 + matched 2 + unmatched 1 + held 0",
        "right: received 3 = rejected 0 + filtered 0 + late 0 + matched 1 + unmatched 2 + held 0",
        "stopped"]


def test_a_stop_without_anything_to_do_is_quick(joind):
    daemon = joind()
    subscriber = daemon.subscribe()
    started = time.monotonic()
    daemon.stop(expect=0)
    assert time.monotonic() - started < 1 * PATIENCE
    assert subscriber.wait_end() == []


def test_held_records_that_give_no_result_need_no_subscriber_to_stop(joind):
    daemon = joind()
    daemon.send("left", b"1,a\n")
    daemon.send("right", b"2,x\n")
    started = time.monotonic()
    daemon.stop(expect=0)
    assert time.monotonic() - started < 5


# Who comes while the door is being shut.

@pytest.fixture(scope="session")
def library(tmp_path_factory):
    return build_library(tmp_path_factory.mktemp("lastknock"), "lastknock")


class Slowly:
    """A daemon whose door shuts slowly once begin() was called, and who comes just then."""

    def __init__(self, joind, library, folder, **sections):
        self.file = folder / "knock"
        self.daemon = joind(env={"LASTKNOCK_FILE": str(self.file), **preloading(library)},
                            output={"file": "out.csv"}, **sections)
        self.rows = set()

    def begin(self):
        self.file.touch()

    def knock(self):
        """Who gets in is served; nobody may be reset, for nc would not even tell."""
        wait_until(lambda: not self.file.exists(), 10, "a door that shuts", self.daemon.log_text)
        for number in range(3):
            try:
                feeder = self.daemon.connect("left")
            except (ConnectionRefusedError, FileNotFoundError):
                return
            feeder.send(b"%d,v\n" % number).socket.shutdown(socket.SHUT_WR)
            self.rows.add(b"%d,v,," % number)
            feeder.read_end()

    def assert_all_there(self):
        self.daemon.wait_exit(expect=0)
        assert set(output(self.daemon)) == self.rows


each_door = pytest.mark.parametrize("door", ["127.0.0.1:0", "unix:left.sock"])


@each_door
def test_who_gets_in_before_a_stop_shuts_the_door_is_served(joind, library, tmp_path, door):
    slowly = Slowly(joind, library, tmp_path, left={"listen": door}, join={"type": "left"})
    slowly.begin()
    slowly.daemon.signal(signal.SIGTERM)
    slowly.knock()
    slowly.assert_all_there()


@each_door
def test_who_gets_in_before_a_batch_side_s_end_is_served(joind, library, tmp_path, door):
    slowly = Slowly(joind, library, tmp_path, left={"listen": door},
                    join={"match": "batch", "type": "left", "size": None})
    slowly.daemon.send("right", b"none,x\n")
    first = slowly.daemon.connect("left")
    slowly.daemon.wait_log("right: the last connection has closed")
    wait_until(lambda: slowly.daemon.connections("left") == 1, 10, "the connection")
    slowly.begin()
    first.close()
    slowly.knock()
    slowly.assert_all_there()


# Undelivered results.

def test_results_for_nobody_are_counted_after_ten_seconds_and_the_status_is_1(joind):
    daemon = joind()
    daemon.send("left", b"1,a\n1,b\n1,c\n")
    daemon.send("right", b"1,x\n")
    started = time.monotonic()
    daemon.signal(signal.SIGTERM)
    daemon.wait_exit(expect=1)
    assert 8 < time.monotonic() - started < 10 + 3 * PATIENCE
    assert [line for line in daemon.log if re.search(r"\b3\b.*result|result.*\b3\b", line)], \
        f"the three results are not counted:\n{daemon.log_text()}"


def test_a_subscriber_who_comes_during_the_stop_gets_the_results(joind):
    daemon = joind()
    daemon.send("left", b"1,a\n")
    daemon.send("right", b"1,x\n")
    daemon.signal(signal.SIGTERM)
    daemon.wait_log("stop")
    subscriber = Subscriber(daemon.address("output"))
    daemon.wait_exit(expect=0)
    assert subscriber.wait_end() == ["1,a,1,x"]
    subscriber.close()


def test_a_slow_subscriber_gets_all_as_long_as_it_reads(joind):
    daemon = joind(output={"buffer": "64K"})
    subscriber = daemon.subscribe(receive_buffer=4096, bytes_per_second=1 << 20)
    for side in ("left", "right"):
        daemon.send(side, b"".join(b"hot,%s-%06d\n" % (side.encode(), n) for n in range(400)))
    daemon.stop(expect=0, seconds=40)
    assert len(subscriber.wait_end()) == 160000


# The other signals.

def test_hup_opens_written_files_anew(joind, tmp_path):
    daemon = joind(join={"size": "1s", "type": "left"}, output={"file": "out.csv", "header": "yes"})
    out, old = tmp_path / "out.csv", tmp_path / "out.csv.1"
    daemon.send("left", b"1,a\n")
    daemon.send("left", b"bad\n")
    wait_until(lambda: out.read_bytes().count(b"\n") == 2, 4, "the first row", daemon.log_text)
    os.rename(out, old)
    os.rename(tmp_path / "rejects.csv", tmp_path / "rejects.csv.1")
    feeder = daemon.connect("left")
    feeder.send(b"2,b\n")
    daemon.signal(signal.SIGHUP)
    wait_until(out.exists, 5, "a new file", daemon.log_text)
    feeder.send(b"3,c\nworse\n")
    feeder.finish()
    wait_until(lambda: b"3,c,,\n" in out.read_bytes(), 4, "a row in the new file", daemon.log_text)
    assert out.read_bytes().startswith(b"k,v,right.k,w\n")
    assert b"2,b,,\n" in out.read_bytes() + old.read_bytes()
    assert [row[4] for row in daemon.rejects()] == [b"worse"]
    assert [row[4] for row in daemon.rejects("rejects.csv.1")] == [b"bad"]
    daemon.stop(expect=0)


def test_hup_says_when_the_configuration_has_changed(joind):
    daemon = joind()
    daemon.signal(signal.SIGHUP)
    wait_until(lambda: len(daemon.log) > 1, 5, "a word about the reload")
    assert not daemon.log_matches("restart")
    daemon.ini.write_text(daemon.ini.read_text() + "; a word more\n")
    daemon.signal(signal.SIGHUP)
    daemon.wait_log("restart")
    daemon.send("left", b"1,a\n")
    assert daemon.books("left")["held"] == 1


def test_a_configuration_that_came_through_a_pipe_is_not_waited_for_at_hup(tmp_path):
    daemon = Joind(tmp_path, config())
    daemon.ini.unlink()
    os.mkfifo(daemon.ini)
    writer = threading.Thread(target=lambda: daemon.ini.write_text(config()), daemon=True)
    writer.start()
    try:
        daemon.start()
        writer.join(10)
        daemon.signal(signal.SIGHUP)
        daemon.wait_log("reloaded")
        assert daemon.http("/healthz")[0] == 200
        assert not daemon.log_matches("restart")
        daemon.stop(expect=0)
    finally:
        daemon.clean_up()


@pytest.mark.parametrize("kind", ["fifo", "folder", "socket", "nothing"])
def test_what_took_the_configuration_s_place_is_no_trouble_at_hup(joind, kind):
    daemon = joind()
    daemon.ini.unlink()
    with socket.socket(socket.AF_UNIX) as other:
        {"fifo": lambda: os.mkfifo(daemon.ini), "folder": daemon.ini.mkdir, "nothing": int,
         "socket": lambda: other.bind(str(daemon.ini))}[kind]()
        daemon.signal(signal.SIGHUP)
        daemon.wait_log("reloaded")
        assert daemon.healthz()[0] == 200
        daemon.stop(expect=0)


def test_usr1_writes_the_status_to_the_log(joind):
    daemon = joind()
    daemon.send("left", b"1,a\n2,b\n3,c\n")
    before = len(daemon.log)
    daemon.signal(signal.SIGUSR1)
    wait_until(lambda: len(daemon.log) > before, 5, "the status in the log")
    wait_until(lambda: re.search(r"left.*\b3\b", "\n".join(daemon.log[before:])), 5,
               "the count of left records in the status", daemon.log_text)


def test_a_standard_output_that_is_gone_is_said_and_not_a_silent_death(joind):
    reader, writer = os.pipe()
    daemon = joind(join={"size": "1s", "type": "left"}, output={"file": "-"}, stdout=writer)
    os.close(writer)
    os.close(reader)
    daemon.send("left", b"1,a\n")
    daemon.wait_log("output|standard output|EPIPE|[Bb]roken pipe", seconds=5)
    daemon.wait_exit(expect=1)
    assert given_up(daemon) == ([], [], [1])


def test_what_the_end_of_a_pipe_s_reader_costs_is_counted(joind):
    """Without it there is no use in going on, whatever is held and goes elsewhere."""
    reader, writer = os.pipe()
    daemon = joind(join={"type": "left"}, rejects={"file": "-"}, stdout=writer,
                   output={"file": "out.csv"})
    os.close(writer)
    feeder = daemon.connect("left")
    feeder.send(b"".join(b"%d,a\n" % n for n in range(10000)))
    daemon.wait_books("left", received=10000)
    os.close(reader)
    feeder.send(b"bad\n")
    daemon.wait_exit(expect=1)
    assert given_up(daemon) == ([], [10000, 0], [1])


def test_what_a_full_pipe_held_back_is_counted_when_its_reader_ends(joind):
    count = 20000
    reader, writer = os.pipe()
    daemon = joind(join={"match": "latest", "type": "left", "size": None}, output={"file": "-"},
                   stdout=writer)
    os.close(writer)
    feeder = daemon.connect("left")
    feeder.send(b"".join(b"%d,%090d\n" % (n, n) for n in range(count)))
    wait_until(lambda: daemon.metric("joind_input_paused", side="left"), 10, "a full pipe")
    received = daemon.books("left")["received"]
    os.close(reader)
    daemon.wait_exit(expect=1)
    results, _, rows = given_up(daemon)
    assert results[0] > 0 and rows[0] > 1000, "not yet made, and made"
    assert results[0] + rows[0] <= received


def test_an_input_that_fails_ends_it_and_what_was_held_is_counted(joind, peer):  # noqa: F811
    """A batch's connection that breaks: who knows what is missing."""
    sender = peer()
    daemon = joind(right={"connect": sender.text}, join={"match": "batch", "size": None})
    connection = sender.accept()
    connection.socket.sendall(b"1,x\n2,y\n")
    daemon.wait_books("right", received=2)
    connection.reset()
    daemon.wait_exit(expect=1)
    assert given_up(daemon) == ([], [0, 2], [])
