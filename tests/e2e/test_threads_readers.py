"""A second thread that writes its rows itself: whatever readers do, they get the same bytes.

Each window has one key, so the order of all pairs is known without asking another daemon.
"""

import pathlib
import re
import signal
import threading
import time

import pytest

from joind import PATIENCE, Subscriber, wait_until
from test_connect import peer  # noqa: F401 pylint: disable=unused-import
from test_output import SMALL, discarded, written

# Records of each window, on each side. Windows of 400 are worth the way to the second thread.
WINDOWS = (400, 5, 400, 400, 5, 5, 400, 400, 5, 400)
PAD = "x" * 100
TIMED = {"fields": "k, n bigint, t timestamp_ms, pad", "key": "k", "timestamp": "t", "idle": "off"}
EXPECTED = "".join(f"{window * 1000 + left},{window * 1000 + right}\n"
                   for window, size in enumerate(WINDOWS)
                   for left in range(size) for right in range(size)).encode()
COUNT = EXPECTED.count(b"\n")

each_place = pytest.mark.parametrize("place", ["127.0.0.1:0", "unix:out.sock"])


def window_records(window):
    """The same on both sides."""
    return "".join(f"hot,{window * 1000 + n},{window * 1000 + n},{PAD}\n"
                   for n in range(WINDOWS[window])).encode()


def end_record(side):
    return f"{side},0,99999,\n".encode()


def records(side):
    return b"".join(map(window_records, range(len(WINDOWS)))) + end_record(side)


def start(joind, **output):
    output = {"listen": "127.0.0.1:0", "select": "left.n, right.n", **output}
    if "connect" in output:
        del output["listen"]
    daemon = joind(left=dict(TIMED), right=dict(TIMED), join={"size": "1s", "time": "event"},
                   output=output, process={"threads": "2"})
    assert daemon.status()["loop"]["threads"] == 2
    return daemon


def send_all(daemon):
    for side in ("left", "right"):
        daemon.send(side, records(side))


def written_aside(daemon):
    """How many bytes the second thread has written itself."""
    for task in pathlib.Path(f"/proc/{daemon.process.pid}/task").iterdir():
        if (task / "comm").read_text() == "joind-fires\n":
            return int(re.search(r"wchar: (\d+)", (task / "io").read_text()).group(1))
    raise AssertionError("there is no second thread")


def assert_same(data, expected=EXPECTED):
    """As ==, but what a failure shows can be read."""
    data, expected = bytes(data), bytes(expected)
    if data == expected:
        return
    at = next((n for n, (a, b) in enumerate(zip(data, expected)) if a != b),
              min(len(data), len(expected)))
    raise AssertionError(f"{len(data)} bytes for {len(expected)}; from {at} on "
                         f"{data[at - 30:at + 30]!r} for {expected[at - 30:at + 30]!r}")


def some(subscriber, least=1000):
    wait_until(lambda: subscriber.count() > least, 10, "some rows")
    return subscriber


def all_of(subscriber, seconds=30):
    subscriber.wait_lines(COUNT, seconds)
    return subscriber.data


# One reader.

@each_place
def test_a_reader_that_reads_is_written_to_by_the_second_thread(joind, place):
    daemon = start(joind, listen=place)
    subscriber = daemon.subscribe()
    time.sleep(0.3)  # until it has settled
    send_all(daemon)
    assert_same(all_of(subscriber))
    assert written_aside(daemon) > len(EXPECTED) / 2
    daemon.stop(expect=0)


def test_windows_that_the_first_thread_fires_come_in_between(joind):
    daemon = start(joind)
    subscriber = daemon.subscribe()
    time.sleep(0.3)
    feeders = [daemon.connect(side) for side in ("left", "right")]
    rows = 0
    for window, size in enumerate(WINDOWS):
        for feeder in feeders:
            feeder.send(window_records(window))
        subscriber.wait_lines(rows)  # of the window before, which is over now
        rows += size * size
    for feeder, side in zip(feeders, ("left", "right")):
        feeder.send(end_record(side)).finish()
    assert_same(all_of(subscriber))
    assert written_aside(daemon) > len(EXPECTED) / 2
    daemon.stop(expect=0)


def lonely_window(side, window):
    """Records without partners, so large that it goes to the second thread; each other time the
    last one has one."""
    key = "hot" if window % 2 else side
    return "".join(f"{side}{n},{window},{window * 1000 + n},{PAD}\n" for n in range(600)).encode() \
        + f"{key},{window},{window * 1000 + 999},\n".encode()


def test_deliveries_without_rows_lie_between_those_that_are_written(joind):
    windows = 600
    daemon = start(joind)
    subscriber = daemon.subscribe()
    time.sleep(0.3)
    feeding = [threading.Thread(target=daemon.send, args=(side, b"".join(
        lonely_window(side, n) for n in range(windows)) + end_record(side).replace(
            b"99999", b"999999"))) for side in ("left", "right")]
    for thread in feeding:
        thread.start()
    deadline = time.monotonic() + PATIENCE
    while subscriber.count() < windows // 2:  # each question takes the line back
        daemon.assert_books_balance()
        assert time.monotonic() < deadline
    for thread in feeding:
        thread.join()
    assert_same(subscriber.data, "".join(f"{n},{n}\n" for n in range(1, windows, 2)).encode())
    daemon.stop(expect=0)


def test_who_has_got_a_row_finds_it_in_the_metrics(joind):
    daemon = start(joind)
    subscriber = daemon.subscribe()
    feeding = threading.Thread(target=send_all, args=(daemon,), daemon=True)
    feeding.start()
    before = 0
    while before < len(EXPECTED):
        before = len(subscriber.data)
        rows = subscriber.data[:before].count(b"\n")
        metrics = daemon.assert_books_balance()
        assert metrics.value("joind_output_bytes_total", output="output") >= before
        assert metrics.value("joind_results_total", kind="pair") >= rows
    feeding.join()
    assert_same(subscriber.data)
    assert written(daemon) == len(EXPECTED)
    daemon.stop(expect=0)


@each_place
@pytest.mark.parametrize("buffer", ["64K", "16M"])
def test_a_reader_of_changing_speed_gets_every_byte_once(joind, place, buffer):
    daemon = start(joind, listen=place, buffer=buffer)
    subscriber = daemon.subscribe(receive_buffer=SMALL, bytes_per_second=4 << 20)
    feeding = threading.Thread(target=send_all, args=(daemon,), daemon=True)
    feeding.start()
    for _ in range(5):
        some(subscriber, subscriber.count() + 10000)
        subscriber.pause()
        time.sleep(0.05)
        subscriber.resume()
        subscriber.bytes_per_second = 4 << 20
    subscriber.resume()
    assert_same(all_of(subscriber))
    feeding.join()
    daemon.assert_books_balance()
    assert written(daemon) == len(EXPECTED)
    daemon.stop(expect=0)


def test_a_reader_that_closes_its_sending_side_gets_every_byte_once(joind):
    daemon = start(joind)
    subscriber = daemon.subscribe(bytes_per_second=8 << 20)
    send_all(daemon)
    some(subscriber).half_close()
    assert_same(all_of(subscriber))
    daemon.stop(expect=0)
    assert_same(subscriber.data)


def test_a_reader_that_speaks_is_still_written_to(joind):
    daemon = start(joind)
    subscriber = daemon.subscribe(bytes_per_second=8 << 20)
    feeding = threading.Thread(target=send_all, args=(daemon,), daemon=True)
    feeding.start()
    while subscriber.count() < COUNT:
        subscriber.socket.sendall(b"who is there?\n")
        time.sleep(0.002)
    assert_same(subscriber.data)
    feeding.join()
    daemon.stop(expect=0)


# Readers that come and go.

@pytest.mark.parametrize("how", ["reset", "close"])
def test_the_next_reader_goes_on_where_one_has_gone(joind, how):
    """What the first one's kernel had taken is gone with it, and nothing else."""
    daemon = start(joind, buffer="64K")
    first = daemon.subscribe(receive_buffer=SMALL, bytes_per_second=2 << 20)
    send_all(daemon)
    some(first).pause()
    getattr(first, how)()
    daemon.wait_log("has gone")
    second = daemon.subscribe()
    end = EXPECTED[-100:]
    wait_until(lambda: second.data.endswith(end), 30, "the last row", daemon.log_text)
    assert_same(first.data, EXPECTED[:len(first.data)])
    assert_same(second.data, EXPECTED[-len(second.data):])
    assert EXPECTED[-len(second.data) - 1:-len(second.data)] == b"\n"
    lost = len(EXPECTED) - len(first.data) - len(second.data)
    assert -100 < lost < 8 << 20, "a line that was torn is whole again; no more than sockets hold"
    assert discarded(daemon) == 0
    daemon.stop(expect=0)


def test_who_joins_in_the_middle_gets_what_follows_from_a_row_s_start(joind):
    daemon = start(joind)
    first = daemon.subscribe(bytes_per_second=1 << 20)
    feeding = threading.Thread(target=send_all, args=(daemon,), daemon=True)
    feeding.start()
    others = []
    for _ in range(5):
        some(first, first.count() + 5000)
        others.append(Subscriber(daemon.address("output")))
        time.sleep(0.02)
    first.resume()
    assert_same(all_of(first))
    feeding.join()
    daemon.stop(expect=0)
    for other in others:
        other.wait_end()
        assert_same(other.data, EXPECTED[len(EXPECTED) - len(other.data):])
        assert EXPECTED[len(EXPECTED) - len(other.data) - 1:][:1] == b"\n"
        other.close()
    assert len(others[0].data) > len(others[-1].data) > 0
    assert_same(first.data)


def test_rows_written_by_turns_are_in_order(joind):
    """Others come and go all the while: now one thread writes, now the other."""
    daemon = start(joind)
    first = daemon.subscribe(bytes_per_second=8 << 20)
    feeding = threading.Thread(target=send_all, args=(daemon,), daemon=True)
    feeding.start()
    others = 0
    while first.count() < COUNT:
        other = Subscriber(daemon.address("output"))
        time.sleep(0.25 if others % 2 else 0.01)
        other.reset() if others % 3 else other.close()
        others += 1
    assert_same(first.data)
    assert others > 2 and discarded(daemon) == 0
    feeding.join()
    daemon.stop(expect=0)


def test_a_peer_that_ends_and_listens_on_gets_every_byte_once(joind, peer):  # noqa: F811
    reader = peer(receive_buffer=1 << 16)
    daemon = start(joind, connect=reader.text, buffer="64K")
    feeding = threading.Thread(target=send_all, args=(daemon,), daemon=True)
    connection = reader.accept()
    feeding.start()
    data = b""
    for _ in range(4):
        connection.read_lines(20000, 20)
        connection.half_close()
        data += connection.read_end()
        assert data.endswith(b"\n")
        connection = reader.accept()
    deadline = time.monotonic() + 30 * PATIENCE
    while len(data) + len(connection.data) < len(EXPECTED):
        assert connection.read() and time.monotonic() < deadline
    assert_same(data + connection.data)
    feeding.join()
    assert written(daemon) == len(EXPECTED)
    daemon.stop(expect=0)


# Readers that do not read.

def test_what_a_discarded_reader_did_not_get_is_counted(joind):
    daemon = start(joind, buffer="64K", slow="discard")
    subscriber = daemon.subscribe(receive_buffer=SMALL, bytes_per_second=1 << 20)
    send_all(daemon)
    some(subscriber).pause()
    daemon.wait_log("its results are discarded", 20)
    time.sleep(0.5)
    subscriber.resume()
    wait_until(lambda: subscriber.count() + discarded(daemon) == COUNT, 30, "all of it")
    lines = iter(EXPECTED.splitlines())
    assert all(line in lines for line in bytes(subscriber.data).splitlines()), "in order, once"
    daemon.stop(expect=0)


def test_what_a_disconnected_reader_did_not_get_is_counted(joind):
    daemon = start(joind, buffer="64K", slow="disconnect")
    first = daemon.subscribe(receive_buffer=SMALL, bytes_per_second=1 << 20)
    send_all(daemon)
    some(first).pause()
    daemon.wait_log("takes nothing: disconnected", 20)
    first.resume()
    wait_until(lambda: first.ended, 10, "the end")
    second = daemon.subscribe()
    wait_until(lambda: second.data.endswith(EXPECTED[-100:]), 30, "the last row", daemon.log_text)
    assert first.data.count(b"\n") + discarded(daemon) + second.count() == COUNT
    assert_same(first.data, EXPECTED[:len(first.data)])
    assert_same(second.data, EXPECTED[-len(second.data):])
    daemon.stop(expect=0)


# Stops, and signals.

def test_a_stop_with_a_reader_writes_all(joind):
    daemon = start(joind)
    subscriber = daemon.subscribe(receive_buffer=SMALL, bytes_per_second=2 << 20)
    send_all(daemon)
    some(subscriber)
    daemon.signal(signal.SIGTERM)
    daemon.wait_log("stopping")
    subscriber.resume()
    subscriber.wait_end(30)
    assert_same(subscriber.data)
    daemon.wait_exit(expect=0)


@pytest.mark.parametrize("reads", [True, False])
def test_what_a_second_signal_leaves_is_counted_to_the_row(joind, reads):
    daemon = start(joind, buffer="64K")
    subscriber = daemon.subscribe(receive_buffer=SMALL, bytes_per_second=1 << 20)
    send_all(daemon)
    some(subscriber)
    if not reads:
        subscriber.pause()
        time.sleep(0.3)
    daemon.signal(signal.SIGTERM)
    daemon.wait_log("stopping")
    daemon.signal(signal.SIGTERM)
    daemon.wait_exit(expect=1)
    subscriber.resume()
    wait_until(lambda: subscriber.ended, 10, "the end")
    told = [int(n) for line in daemon.log
            for n in re.findall(r"stopped with (\d+) (?:results|rows)", line)]
    assert told and not daemon.log_matches("balance")
    assert subscriber.data.count(b"\n") + sum(told) == COUNT
    assert_same(subscriber.data, EXPECTED[:len(subscriber.data)])


def test_hup_does_not_come_between_rows(joind):
    daemon = start(joind)
    subscriber = daemon.subscribe(bytes_per_second=8 << 20)
    feeding = threading.Thread(target=send_all, args=(daemon,), daemon=True)
    feeding.start()
    while subscriber.count() < COUNT:
        daemon.signal(signal.SIGHUP)
        time.sleep(0.02)
    assert_same(subscriber.data)
    feeding.join()
    daemon.stop(expect=0)
