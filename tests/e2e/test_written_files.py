"""Files that are written: FIFOs whose reader goes and comes, and files that cannot be opened anew."""

import contextlib
import os
import re
import signal
import threading
import time

import pytest

from joind import PATIENCE, wait_until

AT_ONCE = {"match": "latest", "type": "left", "size": None}


# FIFOs.

class FifoReader:
    """Reads a FIFO when it is asked to."""

    def __init__(self, path):
        self.fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        self.data = b""

    def wait_lines(self, count, seconds=10):
        def enough():
            with contextlib.suppress(BlockingIOError):
                self.data += os.read(self.fd, 1 << 16)
            return self.data.count(b"\n") >= count
        wait_until(enough, seconds, f"{count} lines, have {self.data[-200:]!r}")
        return self.data.decode().split("\n")[:-1]

    def close(self):
        os.close(self.fd)


FIFOS = ("output", "late", "rejects")
EVENT_TIME = {
    "left": {"fields": "k, v, at timestamp_ms", "timestamp": "at"},
    "right": {"fields": "k, w, at timestamp_ms", "timestamp": "at"},
    "join": {"time": "event", "size": "1s"},
    "output": {"file": "output.csv"},
}


def fifo_daemon(joind, path, section):
    """One whose rows of the section are made by make_row()."""
    os.mkfifo(path)
    reader = FifoReader(path)
    more = {} if section == "output" else {section: {"file": str(path), "header": "yes"}}
    if section == "output":
        daemon = joind(join=AT_ONCE, output={"file": str(path), "header": "yes"})
    elif section == "late":
        daemon = joind(**EVENT_TIME, **more)
        for side in ("left", "right"):
            daemon.send(side, b"k,v,1790000000000\n")
    else:
        daemon = joind(**more)
    return daemon, reader


def make_rows(daemon, section, numbers):
    line = {"output": "{},v\n", "late": "{},v,1780000000000\n", "rejects": "{}\n"}[section]
    daemon.send("left", "".join(line.format(f"n{n}n") for n in numbers))


def row_numbers(lines):
    return [int(re.search(r"n(\d+)n", line)[1]) for line in lines]


@pytest.mark.parametrize("section", FIFOS)
def test_a_fifo_whose_reader_has_gone_waits_for_another(joind, tmp_path, section):
    path = tmp_path / "fifo"
    daemon, reader = fifo_daemon(joind, path, section)
    make_rows(daemon, section, [0])
    header, *lines = reader.wait_lines(2)
    assert row_numbers(lines) == [0]
    for round_ in (1, 2):
        reader.close()
        make_rows(daemon, section, [10 * round_])
        wait_until(lambda: daemon.healthz()[0] == 503, 10, "trouble", daemon.log_text)
        assert f"{section}: nobody reads the FIFO" in daemon.healthz()[1]
        make_rows(daemon, section, range(10 * round_ + 1, 10 * round_ + 4))
        time.sleep(1.2)
        assert len(daemon.log_matches("nobody reads the FIFO")) == round_, daemon.log_text()
        reader = FifoReader(path)
        again, *lines = reader.wait_lines(5)
        assert again == header
        assert row_numbers(lines) == list(range(10 * round_, 10 * round_ + 4))
        wait_until(lambda: daemon.healthz()[0] == 200, 10, "health", daemon.log_text)
        assert len(daemon.log_matches(f"{section}: written again")) == round_
    daemon.stop(expect=0)
    reader.close()


@pytest.mark.parametrize("section", ["output", "rejects"])
def test_the_line_that_a_reader_of_a_fifo_tore_is_written_whole_to_the_next(joind, tmp_path,
                                                                            section):
    path = tmp_path / "fifo"
    daemon, reader = fifo_daemon(joind, path, section)
    feeder = daemon.connect("left")
    count = 50000
    line = "n{}n,v\n" if section == "output" else "n{}n\n"
    lines = "".join(line.format(n) for n in range(count)).encode()
    thread = threading.Thread(target=feeder.send, args=(lines,), daemon=True)
    thread.start()
    reader.wait_lines(10)
    wait_until(lambda: daemon.metric("joind_output_bytes_total", output=section) > 60000, 10,
               "a full pipe", daemon.log_text)
    reader.close()
    daemon.wait_log("nobody reads the FIFO")
    assert daemon.cpu_seconds() < 5 * PATIENCE
    reader = FifoReader(path)
    reader.wait_lines(1)
    wait_until(lambda: reader.wait_lines(1)[-1:] and f"n{count - 1}n" in
               reader.wait_lines(1)[-1], 20, "the last row", daemon.log_text)
    numbers = row_numbers(reader.wait_lines(1)[1:])
    assert numbers == list(range(numbers[0], count)), "a row is missing, torn, or there twice"
    thread.join(10)
    daemon.stop(expect=0)
    reader.close()


@pytest.mark.parametrize("section", FIFOS)
def test_a_stop_waits_ten_seconds_for_the_reader_of_a_fifo_then_counts(joind, tmp_path, section):
    daemon, reader = fifo_daemon(joind, tmp_path / "fifo", section)
    make_rows(daemon, section, [0])
    reader.wait_lines(2)
    reader.close()
    make_rows(daemon, section, range(1, 4))
    started = time.monotonic()
    daemon.signal(signal.SIGTERM)
    daemon.wait_exit(expect=1)
    assert 8 < time.monotonic() - started < 10 + 3 * PATIENCE
    lost = sum(int(n) for line in daemon.log_matches(f"{section}: stopped with")
               for n in re.findall(r"with (\d+) r", line))
    assert lost == 3, daemon.log_text()


def test_a_reader_of_a_fifo_that_comes_during_the_stop_gets_the_rows(joind, tmp_path):
    path = tmp_path / "fifo"
    daemon, reader = fifo_daemon(joind, path, "rejects")
    reader.close()
    make_rows(daemon, "rejects", range(3))
    daemon.signal(signal.SIGTERM)
    daemon.wait_log("stopping")
    reader = FifoReader(path)
    assert row_numbers(reader.wait_lines(4)[1:]) == [0, 1, 2]
    daemon.wait_exit(expect=0)
    reader.close()


def test_a_fifo_that_takes_the_place_of_a_file_is_one(joind, tmp_path):
    daemon = joind(join=AT_ONCE, output={"file": "out.csv"})
    path = daemon.folder / "out.csv"
    path.rename(daemon.folder / "old.csv")
    os.mkfifo(path)
    reader = FifoReader(path)
    daemon.signal(signal.SIGHUP)
    daemon.wait_log("reloaded")
    make_rows(daemon, "output", [0])
    reader.wait_lines(1)
    reader.close()
    make_rows(daemon, "output", [1])
    daemon.wait_log("nobody reads the FIFO")
    reader = FifoReader(path)
    assert row_numbers(reader.wait_lines(1)) == [1]
    daemon.stop(expect=0)
    reader.close()


# Files that cannot be opened anew.

@pytest.mark.parametrize("obstacle", ["a FIFO without a reader", "a directory"])
@pytest.mark.parametrize("sections", [["output"], ["output", "late"], ["rejects"]])
def test_a_reload_says_which_file_could_not_be_opened_anew(joind, obstacle, sections):
    files = {"late": {"file": "late.csv"}, "rejects": {"file": "rejects.csv"}}
    daemon = joind(**{**EVENT_TIME, **files})
    for section in sections:
        path = daemon.folder / f"{section}.csv"
        path.rename(daemon.folder / f"{section}.old")
        path.mkdir() if "directory" in obstacle else os.mkfifo(path)
    daemon.send("left", b"bad\n")
    daemon.signal(signal.SIGHUP)
    line = daemon.wait_log("reloaded")
    said = ", ".join(f"the file of [{section}] (it goes on with the old one)"
                     for section in sections)
    assert line.endswith(f"warning reloaded, but for {said}")
    daemon.send("left", b"worse\n")
    name = "rejects.old" if "rejects" in sections else "rejects.csv"
    assert (daemon.folder / name).read_bytes().endswith(b",worse\n")
    for section in sections:
        path = daemon.folder / f"{section}.csv"
        path.rmdir() if "directory" in obstacle else path.unlink()
    daemon.signal(signal.SIGHUP)
    daemon.wait_log("reloaded$")
    for section in sections:
        assert (daemon.folder / f"{section}.csv").is_file()
    daemon.stop(expect=0)
