"""Stops, holds and handovers at their worst moments: each was found by somebody who tried to break it."""

import os
import resource
import signal
import socket
import subprocess

import pytest
from joind import BINARY, config, wait_until
from tools import catches


def pause_while(daemon, work):
    """Does the work while the daemon stands still, so that all of it is there at once."""
    daemon.signal(signal.SIGSTOP)
    try:
        return work()
    finally:
        daemon.signal(signal.SIGCONT)


def test_a_stop_takes_all_that_wait_to_be_accepted(joind):
    count = 200
    daemon = joind(join={"type": "left"}, output={"file": "out.csv"})

    def crowd():
        for number in range(count):
            with socket.create_connection(daemon.address("left")) as feeder:
                feeder.sendall(b"k%d,v\n" % number)
        daemon.signal(signal.SIGTERM)

    pause_while(daemon, crowd)
    daemon.wait_exit(expect=0)
    assert len((daemon.folder / "out.csv").read_text().splitlines()) == count


def test_a_stop_reads_what_ended_senders_had_written_while_they_were_held_back(joind):
    """The reader is slow, so state stays full until the 5 s for senders are over."""
    count = 30000
    daemon = joind(join={"size": "1s", "type": "left"}, state={"memory": "1M"},
                   left={"max_line": "1K"}, right={"max_line": "1K"}, output={"buffer": "64K"})
    subscriber = daemon.subscribe(receive_buffer=4096, bytes_per_second=60000)
    feeder = daemon.connect("left")
    feeder.send(b"".join(b"k%d,%s\n" % (number, b"x" * 60) for number in range(count)))
    feeder.close()
    daemon.signal(signal.SIGTERM)
    daemon.wait_log("stopping")
    subscriber.resume()
    daemon.wait_exit(seconds=60, expect=0)
    assert len(subscriber.wait_end()) == count


def test_a_walk_without_results_is_no_reader_that_does_not_read(joind):
    """More than the 10 s for readers would pass with nothing to write, were they counted so."""
    count = 20000
    daemon = joind(left={"fields": "k, g boolean, v"}, join={"on": "g"})
    subscriber = daemon.subscribe()
    daemon.send("left", "hot,false,v\n" * count + "".join(f"k{n},true,v\n" for n in range(500)))
    daemon.send("right", "hot,w\n" * count + "".join(f"k{n},w\n" for n in range(500)))
    daemon.wait_books("right", received=count + 500)
    daemon.signal(signal.SIGTERM)
    daemon.wait_exit(seconds=120, expect=0)
    assert len(subscriber.wait_end()) == 500


def test_full_rejects_do_not_keep_a_stop_from_joining_what_is_held(joind):
    daemon = joind(output={"file": "out.csv", "select": "v, w"},
                   rejects={"listen": "127.0.0.1:0", "absent": "wait", "buffer": "1K"})
    daemon.send("left", b"k1,v1\n")
    daemon.send("right", b"k1,w1\n")
    feeder = daemon.connect("left")
    feeder.send(b"bad\n" * 2000 + b"k2,v2\n")
    feeder.close()
    wait_until(lambda: daemon.metric("joind_input_paused", side="left"), 10, "inputs held back")
    late = daemon.connect("right")
    late.send(b"k2,w2\n")
    late.close()
    daemon.signal(signal.SIGTERM)
    daemon.wait_exit(seconds=30, expect=1)  # the rejects, which nobody took
    assert sorted((daemon.folder / "out.csv").read_text().splitlines()) == ["v1,w1", "v2,w2"]
    daemon.wait_log("rejects.*2000 rows")


@pytest.mark.parametrize("left, stdin", [("-", "/dev/null"), ("/dev/null", "/dev/null")])
def test_dev_null_is_an_input_that_has_ended(joind, tmp_path, left, stdin):
    right = tmp_path / "right.csv"
    right.write_text("k,w\n")
    with open(stdin, "rb") as nothing:
        daemon = joind(left={"listen": None, "file": left}, join={"type": "full"},
                       right={"listen": None, "file": str(right)}, output={"file": "out.csv"},
                       stdin=nothing, wait=False)
        daemon.wait_exit(expect=0)
    assert (daemon.folder / "out.csv").read_text() == ",,k,w\n"


def test_closed_standard_descriptors_are_filled(tmp_path):
    """Or the log would go into whatever is opened next."""
    (tmp_path / "t.ini").write_text(config(rejects=None))
    shell = subprocess.Popen(["sh", "-c", f"exec '{BINARY}' t.ini <&- >&- 2>&-"], cwd=tmp_path)

    def links():
        try:
            return [os.readlink(f"/proc/{shell.pid}/fd/{n}")
                    for n in os.listdir(f"/proc/{shell.pid}/fd") if int(n) < 3]
        except FileNotFoundError:  # the shell closed one meanwhile
            return []
    try:
        wait_until(lambda: links() == ["/dev/null"] * 3, 10, "descriptors 0 to 2 at /dev/null")
        wait_until(lambda: catches(shell.pid, signal.SIGTERM), 10, "a start")
    finally:
        shell.terminate()
        assert shell.wait(20) == 0


@pytest.mark.parametrize("renamed", [True, False])
def test_a_file_opened_anew_while_it_refused_starts_as_any_other(joind, renamed):
    def small_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
    daemon = joind(join={"size": "500ms", "type": "left"}, preexec=small_files,
                   output={"file": "out.csv", "header": "yes", "select": "v"})
    daemon.send("left", "".join(f"k{n:02},{n:040}\n" for n in range(60)))
    wait_until(lambda: daemon.healthz()[0] == 503, 10, "health 503", daemon.log_text)
    path = daemon.folder / "out.csv"
    if renamed:
        path.rename(daemon.folder / "old.csv")
    unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE, unlimited)
    daemon.signal(signal.SIGHUP)
    wait_until(lambda: daemon.healthz()[0] == 200, 10, "health 200", daemon.log_text)
    daemon.stop(expect=0)
    lines = path.read_text().splitlines()
    whole = {f"{n:040}" for n in range(60)}
    assert lines[0] == "v" and lines.count("v") == 1
    assert "" not in lines
    torn = [line for line in lines[1:] if line not in whole]
    assert len(torn) <= (0 if renamed else 1), "only the end of the line that the limit cut"
    if renamed:
        lines += (daemon.folder / "old.csv").read_text().splitlines()
    assert whole <= set(lines)


def test_a_row_of_several_lines_is_whole_for_the_next_subscriber(joind):
    daemon = joind(left={"multiline": "yes"}, join={"size": "1s", "type": "left"},
                   output={"select": "left.k, v"})
    value = "\n".join(f"line{n}-" + "y" * 300 for n in range(40))
    first = daemon.subscribe(receive_buffer=4096, paused=True)
    daemon.send("left", "".join(f'k{n},"{value}"\n' for n in range(400)))
    wait_until(lambda: daemon.metric("joind_results_total", kind="left") > 100, 10, "results")
    first.reset()
    wait_until(lambda: daemon.connections("output") == 0, 10, "the first one gone",
               daemon.log_text)
    second = daemon.subscribe()
    second.wait_lines(40 * 100)
    text = second.data.decode()
    assert text.startswith("k") and text.split("\n", 1)[0].endswith('"line0-' + "y" * 300)
    daemon.signal(signal.SIGTERM)
    daemon.wait_exit(expect=0)
    second.wait_end()
    assert second.data.count(b'"') % 2 == 0


@pytest.mark.slow
def test_subscribers_that_closed_while_nothing_came_make_room_for_others(joind):
    """The peer's kernel answers keepalive for a minute after its program has gone."""
    daemon = joind(output={"keepalive": "1s", "max_connections": "5"})
    for _ in range(5):
        daemon.subscribe().close()
    wait_until(lambda: daemon.connections("output") == 0, 90, "the closed ones to be noticed",
               daemon.log_text)


def test_rows_kept_for_nobody_do_not_keep_it_from_ending(joind, tmp_path):
    """[rejects] discards by default; its last reader leaves rows that it did not read."""
    daemon = joind(rejects={"listen": "127.0.0.1:0"}, output={"file": "out.csv"})
    reader = daemon.subscribe("rejects", receive_buffer=4096, paused=True)
    daemon.send("left", b"bad\n" * 30000)
    daemon.wait_books("left", rejected=30000)
    reader.reset()
    daemon.signal(signal.SIGTERM)
    daemon.wait_exit(seconds=8, expect=0)


def test_standard_output_is_left_as_it_was(tmp_path):
    """What else writes to the same pipe does not find it non-blocking afterwards."""
    (tmp_path / "left.csv").write_text("1,a\n")
    (tmp_path / "right.csv").write_text("1,x\n")
    (tmp_path / "t.ini").write_text(
        "[left]\nfile = left.csv\nfields = k, v\nkey = k\n"
        "[right]\nfile = right.csv\nfields = k, w\nkey = k\n"
        "[join]\nsize = 1h\n[output]\nfile = -\n")
    script = f"'{BINARY}' -q t.ini 2>/dev/null; head -c 3000000 /dev/zero"
    shell = subprocess.Popen(["sh", "-c", script], cwd=tmp_path, stdout=subprocess.PIPE)
    output = shell.stdout.read()
    assert shell.wait() == 0
    assert output.startswith(b"1,a,1,x\n")
    assert len(output) == len(b"1,a,1,x\n") + 3000000


def test_an_input_that_cannot_be_read_ends_the_run_with_1(joind, tmp_path):
    right = tmp_path / "right.csv"
    right.write_text("k,w\n")
    daemon = joind(left={"listen": None, "file": "/proc/self/mem"}, join={"type": "full"},
                   right={"listen": None, "file": str(right)}, output={"file": "out.csv"},
                   wait=False)
    daemon.wait_exit(expect=1)
    daemon.wait_log("cannot read /proc/self/mem")


def test_a_start_that_fails_leaves_no_file_behind(joind):
    daemon = joind(left={"listen": None, "file": "nope.csv"},
                   output={"file": "out.csv", "header": "yes"}, wait=False)
    daemon.wait_exit(expect=1)
    assert not (daemon.folder / "out.csv").exists()




def test_results_that_wait_for_a_subscriber_are_told(joind):
    daemon = joind(join={"size": "1s"})
    daemon.send("left", b"1,a\n")
    daemon.send("right", b"1,x\n")
    daemon.wait_log("nobody is connected")
    assert daemon.subscribe().wait_lines(1)
