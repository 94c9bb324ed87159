"""What a service manager is told, and the sockets that it passes. NOTIFY_SOCKET is a socket of the
test's own, and so are those that are passed (SocketUnits in joind.py)."""

import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

import pytest

from joind import PATIENCE, SocketUnits, Subscriber, at_window_start, connect_to, readable
from joind import wait_until

PROJECT = pathlib.Path(__file__).resolve().parents[2]
ANY = ("127.0.0.1", 0)


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


# Passed sockets.

@pytest.fixture
def units():
    made = []

    def make(**addresses):
        made.append(SocketUnits(**addresses))
        return made[-1]
    yield make
    for one in made:
        one.close()


def passed(*names):
    return {name: {"listen": f"systemd:{name}"} for name in names}


def refuses(joind, units, **changes):
    """A start that fails with 1: what the log says of it."""
    daemon = joind(wait=False, passed=units, **changes)
    daemon.wait_exit(expect=1)
    return daemon.log_text()


def test_sockets_are_taken_by_name_whatever_their_order(joind, units):
    names = ("left", "right", "output", "rejects", "http")
    daemon = joind(**passed(*names), passed=units(http=ANY, output=ANY, right=("::1", 0, 0, 0),
                                                  rejects=ANY, left=ANY))
    assert daemon.log_matches("ready: left=systemd:left right=systemd:right output=systemd:output "
                              "rejects=systemd:rejects http=systemd:http$")
    results, rejects = daemon.subscribe(), daemon.subscribe("rejects")
    daemon.send("left", b"1,a\nbad\n")
    daemon.send("right", b"1,x\n")
    daemon.stop(expect=0)
    assert results.wait_end() == ["1,a,1,x"]
    assert len(rejects.wait_end()) == 1


def test_a_unix_socket_can_be_passed_and_its_file_stays(joind, units, tmp_path):
    path = str(tmp_path / "left.sock")
    daemon = joind(**passed("left"), passed=units(left=path))
    daemon.send("left", b"bad\n")
    daemon.wait_books("left", rejected=1)
    assert f"(from unix:{path} (pid {os.getpid()}, uid" in daemon.rejects()[0][2].decode()
    daemon.stop(expect=0)
    assert os.path.exists(path)


def test_a_passed_socket_is_made_non_blocking_and_closed_on_exec(joind, units):
    """As they come they block: one accept() for a peer that has gone again stops the loop."""
    made = units(left=ANY)
    made.sockets[0][1].setblocking(True)
    daemon = joind(**passed("left"), passed=made)
    flags = next(line for line in pathlib.Path(f"/proc/{daemon.process.pid}/fdinfo/3").read_text()
                 .splitlines() if line.startswith("flags"))
    assert int(flags.split()[1], 8) & os.O_NONBLOCK
    assert int(flags.split()[1], 8) & os.O_CLOEXEC
    for _ in range(50):
        with connect_to(made.address("left")) as gone:
            gone.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    assert daemon.healthz()[0] == 200


def test_a_name_that_was_not_passed_ends_the_start_and_says_which_were(joind, units):
    log = refuses(joind, units(orders=ANY, other=ANY), left={"listen": "systemd:left"})
    assert "left: no socket was passed by the name left (passed: orders, other)" in log
    assert "FileDescriptorName" in log


def test_no_passed_socket_at_all_ends_the_start(joind, units):
    daemon = joind(wait=False, **passed("left"))
    daemon.wait_exit(expect=1)
    assert daemon.log_matches("left: no socket was passed, so systemd:left cannot be had")


def test_sockets_for_another_process_are_not_ours(joind):
    daemon = joind(wait=False, env={"LISTEN_FDS": "1", "LISTEN_PID": "1",
                                    "LISTEN_FDNAMES": "left"}, **passed("left"))
    daemon.wait_exit(expect=1)
    assert daemon.log_matches("no socket was passed")


def test_two_sockets_of_one_name_end_the_start(joind, units):
    made = units(left=ANY, other=ANY)
    made.sockets[1] = ("left", made.sockets[1][1])
    assert "2 sockets were passed by the name left" in refuses(joind, made, **passed("left"))


@pytest.mark.parametrize("ends", [("left", "right"), ("left", "output"), ("left", "http"),
                                  ("output", "rejects")], ids="-".join)
def test_one_socket_under_two_names_ends_the_start(joind, units, ends):
    """Each of the two would get some of the connections."""
    made = units(one=ANY, between=ANY)
    made.sockets.append(("other", made.sockets[0][1]))
    sections = {ends[0]: {"listen": "systemd:one"}, ends[1]: {"listen": "systemd:other"}}
    log = refuses(joind, made, **sections)
    assert re.search("names (one and other|other and one) is one and the same socket", log), log


@pytest.mark.parametrize("kind", ["datagrams", "connected"])
def test_what_is_no_listening_stream_socket_ends_the_start(joind, units, kind):
    made = units()
    if kind == "datagrams":
        made.sockets.append(("left", socket.socket(socket.AF_INET, socket.SOCK_DGRAM)))
    else:
        made.sockets += [("left", one) for one in socket.socketpair()][:1]
    log = refuses(joind, made, **passed("left"))
    assert "by the name left is no listening stream socket" in log and "Accept=no" in log


def test_a_passed_socket_that_nobody_takes_is_warned_of(joind, units):
    daemon = joind(**passed("left"), passed=units(left=ANY, rigth=ANY))
    assert len(daemon.log_matches("passed by the name rigth, and nobody takes it")) == 1
    assert len(daemon.log_matches("nobody takes it")) == 1


def test_who_connects_before_the_start_is_read(joind, units):
    made = units(left=ANY)
    with connect_to(made.address("left")) as early:
        early.sendall(b"1,early")
    daemon = joind(**passed("left"), passed=made)
    daemon.wait_books("left", received=1, held=1)


def test_a_subscriber_from_before_the_start_gets_every_result(joind, units):
    made = units(output=ANY)
    subscriber = Subscriber(made.address("output"))
    daemon = joind(**passed("output"), passed=made)
    daemon.send("left", b"1,a\n")
    daemon.send("right", b"1,x\n")
    daemon.stop(expect=0)
    assert subscriber.wait_end() == ["1,a,1,x"]
    subscriber.close()


def test_who_waits_in_the_queue_at_a_stop_waits_for_the_next_start(joind, units):
    made = units(left=ANY)
    daemon = joind(**passed("left"), passed=made, join={"type": "left"},
                   output={"file": "out.csv"})
    daemon.signal(signal.SIGSTOP)
    waiting = [connect_to(made.address("left")) for _ in range(200)]
    for number, sender in enumerate(waiting):
        sender.sendall(b"%d,a\n" % number)
        sender.shutdown(socket.SHUT_WR)
    daemon.signal(signal.SIGTERM)
    daemon.signal(signal.SIGCONT)
    daemon.wait_exit(expect=0)
    first = (daemon.folder / "out.csv").read_bytes().count(b"\n")
    assert first < 200, "the queue was emptied"
    assert not [sender for sender in waiting[first:] if readable(sender)], "one was closed"
    daemon.start(passed=made)
    daemon.wait_books("left", received=200 - first)
    daemon.stop(expect=0)
    assert (daemon.folder / "out.csv").read_bytes().count(b"\n") == 200
    for sender in waiting:
        sender.close()


class Shipper(threading.Thread):
    """Sends numbered lines, and goes on at the next connection when joind says that it stops: the
    half-close is answered with the line's end and our own, then read to the end."""

    def __init__(self, address, name):
        super().__init__(daemon=True)
        self.address, self.name = address, name
        self.lines = self.connections = 0
        self.fault = None
        self.done = threading.Event()
        self.start()

    def run(self):
        try:
            while not self.done.is_set():
                with connect_to(self.address) as connection:
                    self.connections += 1
                    self.ship(connection)
        except OSError as fault:
            self.fault = fault

    def ship(self, connection):
        while not self.done.is_set() and not readable(connection, 0.002):
            lines = range(self.lines, self.lines + 20)
            connection.sendall("".join(f"{self.name}-{n},v\n" for n in lines).encode())
            self.lines += 20
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(1) == b""


def test_twenty_restarts_under_load_lose_nothing(joind, units, tmp_path):
    made = units(left=ANY, right=str(tmp_path / "right.sock"))
    daemon = joind(**passed("left", "right"), passed=made, join={"type": "full"},
                   output={"file": "out.csv"})
    shippers = [Shipper(made.address(side), f"{side}{n}") for n in range(5)
                for side in ("left", "right")]
    for _ in range(20):
        before = {shipper: shipper.lines for shipper in shippers}
        wait_until(lambda: all(shipper.lines > before[shipper] + 100 for shipper in shippers), 10,
                   "load from all", daemon.log_text)
        daemon.restart()
    for shipper in shippers:
        shipper.done.set()
    for shipper in shippers:
        shipper.join(10 * PATIENCE)
        assert not shipper.is_alive() and shipper.fault is None, f"{shipper.name}: {shipper.fault}"
        assert shipper.connections > 20
    daemon.stop(expect=0)
    expected = sorted((f"{one.name}-{n},v,," if one.name < "right" else f",,{one.name}-{n},v")
                      for one in shippers for n in range(one.lines))
    assert sorted((tmp_path / "out.csv").read_text().splitlines()) == expected
    assert not (tmp_path / "rejects.csv").read_bytes()


# The shipped units.

def test_the_shipped_socket_units_name_what_their_configuration_takes(joind, units):
    folder = PROJECT / "conf" / "systemd"
    names = {}
    for unit in sorted(folder.glob("*.socket")):
        text = unit.read_text()
        assert "Service=joind@orders.service" in text
        names[re.search(r"^FileDescriptorName=(\S+)$", text, re.M)[1]] = unit.name
    daemon = joind(text=(folder / "orders.ini").read_text(),
                   passed=units(**{name: ANY for name in names}))
    assert {f"systemd:{name}" for name in names} <= set(daemon.endpoints.values())
    assert not daemon.log_matches("nobody takes it")


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not here")
def test_the_shipped_socket_units_are_valid(tmp_path):
    for unit in (PROJECT / "conf" / "systemd").glob("*.socket"):
        shutil.copy(unit, tmp_path)
    shutil.copy(PROJECT / "packaging" / "joind@.service", tmp_path)
    service = (tmp_path / "joind@.service").read_text().replace("=joind /etc", "=/bin/true /etc")
    (tmp_path / "joind@.service").write_text(service)
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", *tmp_path.glob("*.socket")],
                          capture_output=True, text=True,
                          env={**os.environ, "SYSTEMD_UNIT_PATH": f"{tmp_path}:"})
    mine = [line for line in done.stderr.splitlines() if "orders" in line or "joind" in line]
    assert done.returncode == 0 and not mine, done.stderr
