"""What a service manager is told. NOTIFY_SOCKET is a socket of the test's own."""

import pathlib
import re
import shutil
import signal
import socket
import tempfile
import threading
import time

import pytest

from joind import at_window_start, wait_until


class Manager:
    """Collects notifications: each one a dictionary of its assignments, with the time it came."""

    def __init__(self):
        # A socket's path must be short, so not in pytest's folder.
        self.folder = tempfile.mkdtemp()
        self.path = str(pathlib.Path(self.folder) / "notify")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)
        self.socket.settimeout(0.1)
        self.messages = []
        self._closing = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        while not self._closing:
            try:
                data = self.socket.recv(1 << 16)
            except TimeoutError:
                continue
            message = dict(line.split("=", 1) for line in data.decode().splitlines())
            self.messages.append((time.monotonic(), message))

    def close(self):
        self._closing = True
        self._thread.join(5)
        self.socket.close()
        shutil.rmtree(self.folder)

    def having(self, name, value=None):
        return [message for _, message in list(self.messages)
                if name in message and value in (None, message[name])]

    def wait(self, name, value=None, count=1, seconds=5):
        wait_until(lambda: len(self.having(name, value)) >= count, seconds,
                   f"{count} x {name}={value or ''} (got {self.messages})")
        return self.having(name, value)[-1]


@pytest.fixture
def manager():
    made = Manager()
    yield made
    made.close()


def test_ready_is_sent_when_ports_are_open(joind, manager):
    daemon = joind(env={"NOTIFY_SOCKET": manager.path})
    manager.wait("READY", "1")
    daemon.send("left", b"1,a\n")
    assert len(manager.having("READY")) == 1


def test_ready_is_not_sent_when_the_start_fails(joind, manager):
    daemon = joind(env={"NOTIFY_SOCKET": manager.path}, left={"file": "missing"}, wait=False)
    daemon.wait_exit(expect=1)
    assert not manager.having("READY")


def test_status_is_one_line_with_rates(joind, manager):
    daemon = joind(env={"NOTIFY_SOCKET": manager.path})
    daemon.send("left", b"1,a\n" * 1000)
    status = manager.wait("STATUS", seconds=15)["STATUS"]
    wait_until(lambda: re.search(r"\d.*/s", manager.having("STATUS")[-1]["STATUS"]), 15,
               f"rates in the status {status!r}")


def test_the_watchdog_is_fed_at_half_its_time(joind, manager):
    daemon = joind(env={"NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "400000"})
    manager.wait("READY")
    manager.wait("WATCHDOG", "1", count=8, seconds=6)
    times = [when for when, message in manager.messages if "WATCHDOG" in message]
    gaps = [b - a for a, b in zip(times, times[1:])]
    assert max(gaps) < 0.4, f"the manager would have killed it: {gaps}"
    assert len(times) < 12 + 5 * (times[-1] - times[0]), "fed far too often"
    daemon.stop(expect=0)


def test_no_watchdog_is_fed_that_is_for_another_process(joind, manager):
    daemon = joind(env={"NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "100000",
                        "WATCHDOG_PID": "1"}, output={"file": "out.csv"})
    daemon.send("left", b"1,a\n")
    daemon.stop(expect=0)
    assert not manager.having("WATCHDOG")


def test_a_stopped_process_does_not_feed_the_watchdog(joind, manager):
    daemon = joind(env={"NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "200000"})
    manager.wait("WATCHDOG", count=2)
    daemon.signal(signal.SIGSTOP)
    wait_until(lambda: time.monotonic() - manager.messages[-1][0] > 0.5, 5, "silence")
    daemon.signal(signal.SIGCONT)
    fed = len(manager.having("WATCHDOG"))
    manager.wait("WATCHDOG", count=fed + 1)


def test_a_reload_is_told_with_its_time_and_followed_by_ready(joind, manager):
    daemon = joind(env={"NOTIFY_SOCKET": manager.path})
    manager.wait("READY")
    before = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
    daemon.signal(signal.SIGHUP)
    reloading = manager.wait("RELOADING", "1")
    after = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
    assert before <= int(reloading["MONOTONIC_USEC"]) <= after
    manager.wait("READY", count=2)
    order = [name for _, message in manager.messages for name in message
             if name in ("READY", "RELOADING")]
    assert order == ["READY", "RELOADING", "READY"]


def test_stopping_is_told_first(joind, manager):
    daemon = joind(env={"NOTIFY_SOCKET": manager.path}, output={"file": "out.csv"})
    feeder = daemon.connect("left")
    feeder.send(b"1,a\n")
    daemon.wait_books("left", received=1)
    daemon.signal(signal.SIGTERM)
    manager.wait("STOPPING", "1")
    assert daemon.is_running(), "STOPPING came after the stop"
    feeder.finish()
    daemon.wait_exit(expect=0)
    assert len(manager.having("STOPPING")) == 1


def test_a_reload_during_the_stop_does_nothing(joind, manager):
    daemon = joind(env={"NOTIFY_SOCKET": manager.path}, output={"file": "out.csv"})
    feeder = daemon.connect("left")
    feeder.send(b"1,a\n")
    daemon.wait_books("left", received=1)
    daemon.signal(signal.SIGTERM)
    manager.wait("STOPPING", "1")
    daemon.signal(signal.SIGHUP)
    feeder.read_end()
    feeder.finish()
    daemon.wait_exit(expect=0)
    assert not manager.having("RELOADING")


def test_more_time_is_asked_for_while_results_move(joind, manager):
    daemon = joind(env={"NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "1000000"},
                   output={"buffer": "64K"})
    subscriber = daemon.subscribe(receive_buffer=4096, bytes_per_second=1 << 20)
    for side in ("left", "right"):
        daemon.send(side, b"".join(b"hot,%s-%06d\n" % (side.encode(), n) for n in range(1000)))
    daemon.signal(signal.SIGTERM)
    extended = manager.wait("EXTEND_TIMEOUT_USEC", seconds=15)
    assert int(extended["EXTEND_TIMEOUT_USEC"]) >= 5000000
    fed = len(manager.having("WATCHDOG"))
    manager.wait("WATCHDOG", count=fed + 1)
    subscriber.resume()
    daemon.wait_exit(seconds=60, expect=0)
    assert len(subscriber.wait_end(60)) == 1000000


def test_a_gone_manager_is_no_reason_to_end(joind, manager):
    daemon = joind(env={"NOTIFY_SOCKET": manager.path + "-gone", "WATCHDOG_USEC": "200000"},
                   join={"size": "1s", "type": "left"})
    subscriber = daemon.subscribe()
    at_window_start(1)
    daemon.send("left", b"1,a\n")
    assert subscriber.wait_lines(1, seconds=4) == ["1,a,,"]
    assert len(daemon.log) < 20, "a log line at each try"
    daemon.stop(expect=0)
