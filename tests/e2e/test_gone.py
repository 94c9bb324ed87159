"""Subscribers that only look in, and those that say FIN: what is theirs, what is the next one's."""

import re
import signal
import threading
import time

import pytest

from joind import PATIENCE, Subscriber, connect_to, reset_at_close, wait_until
from test_output import SMALL, AT_ONCE, discarded, send_what_goes, wait_stuck


# Health checks.

@pytest.mark.parametrize("place", ["127.0.0.1:0", "unix:out.sock"])
@pytest.mark.parametrize("how", ["close", "reset", "close before it is accepted"])
def test_a_health_check_of_the_port_eats_no_row(joind, place, how):
    """Many, some of them at the same time; and then the reader comes, and they go on."""
    daemon = joind(join=AT_ONCE, output={"listen": place, "header": "yes"})
    count = 20000
    feeder = daemon.connect("left")
    line = "v" * 100
    lefts = "".join(f"{n},{line}\n" for n in range(count)).encode()
    thread = threading.Thread(target=feeder.send, args=(lefts,), daemon=True)
    thread.start()

    def check():
        if "before" in how:
            daemon.signal(signal.SIGSTOP)
            time.sleep(0.02)
        made = connect_to(daemon.address("output"))
        if how == "reset":
            reset_at_close(made)
        made.close()
        if "before" in how:
            daemon.signal(signal.SIGCONT)

    for number in range(20):
        check()
        time.sleep((0.01, 0.05, 0.15)[number % 3])
    assert not daemon.log_matches("discard")
    reader = daemon.subscribe()
    check()
    rows = reader.wait_lines(count + 1, seconds=30)
    assert rows == ["k,v,right.k,w"] + [f"{n},{line},," for n in range(count)]
    thread.join(10)
    assert discarded(daemon) == 0
    daemon.stop(expect=0)
    assert reader.wait_end() == rows


def test_a_health_check_while_it_stops_eats_no_row(joind):
    daemon = joind(join=AT_ONCE)
    daemon.send("left", b"0,a\n1,a\n")
    daemon.signal(signal.SIGTERM)
    daemon.wait_log("stopping")
    for _ in range(10):
        connect_to(daemon.address("output")).close()
        time.sleep(0.05)
    reader = Subscriber(daemon.address("output"))
    daemon.wait_exit(expect=0)
    assert reader.wait_end() == ["0,a,,", "1,a,,"]


def test_a_new_subscriber_waits_for_its_rows_for_less_than_a_moment(joind):
    daemon = joind(join=AT_ONCE)
    daemon.send("left", b"0,a\n")
    for _ in range(3):
        started = time.monotonic()
        reader = Subscriber(daemon.address("output"))
        assert reader.wait_lines(1) == ["0,a,,"]
        assert time.monotonic() - started < 0.5 * PATIENCE
        reader.reset()
        wait_until(lambda: daemon.connections("output") == 0, 10, "its end")
        daemon.send("left", b"0,a\n")


# Said FIN, and reads no more.

def test_what_a_half_closed_subscriber_has_in_its_socket_is_not_counted_as_discarded(joind):
    """Nor as left unwritten by a stop: the kernel goes on giving it to the reader."""
    daemon = joind(join=AT_ONCE, output={"slow": "disconnect", "buffer": "256K"})
    deaf = daemon.subscribe(paused=True)
    deaf.half_close()
    count = 60000
    feeder = daemon.connect("left")
    line = "v" * 100
    lefts = "".join(f"{n},{line}\n" for n in range(count)).encode()
    thread = threading.Thread(target=feeder.send, args=(lefts,), daemon=True)
    thread.start()
    daemon.wait_log("takes nothing: disconnected, its .* results are discarded", seconds=20)
    lost = discarded(daemon)
    reader = daemon.subscribe()
    deaf.resume()
    wait_until(lambda: deaf.ended, 10, "its end")
    wait_until(lambda: deaf.count() + reader.count() + lost >= count, 20, "all rows")
    time.sleep(0.2)
    assert deaf.count() + reader.count() + lost == count
    thread.join(10)
    daemon.stop(expect=0)


def test_what_a_half_closed_subscriber_has_in_its_socket_is_no_loss_of_a_stop(joind):
    daemon = joind(join=AT_ONCE)
    deaf = daemon.subscribe(paused=True)
    deaf.half_close()
    count = 100000
    feeder = daemon.connect("left")
    line = "v" * 100
    lefts = "".join(f"{n},{line}\n" for n in range(count)).encode()
    thread = threading.Thread(target=send_what_goes, args=(feeder, lefts), daemon=True)
    thread.start()
    wait_stuck(daemon)
    daemon.signal(signal.SIGTERM)
    daemon.wait_exit(seconds=30, expect=1)
    lost = sum(int(n) for line in daemon.log_matches("stopped with")
               for n in re.findall(r"with (\d+) r", line))
    deaf.resume()
    wait_until(lambda: deaf.ended, 10, "its end")
    numbers = [int(line.split(b",")[0]) for line in bytes(deaf.data).split(b"\n")[:-1]]
    assert numbers == list(range(len(numbers)))
    assert 0 < lost and len(numbers) + lost < count
    assert lost < 20000, f"{len(numbers)} were read, and {lost} are said to be lost"


def test_what_the_next_one_gets_a_half_closed_dead_subscriber_gets_no_more(joind):
    daemon = joind(join=AT_ONCE, output={"dead_after": "2s"})
    deaf = daemon.subscribe(receive_buffer=SMALL, paused=True)
    deaf.half_close()
    feeder = daemon.connect("left")
    count = 60000
    line = "v" * 100
    lefts = "".join(f"{n},{line}\n" for n in range(count)).encode()
    thread = threading.Thread(target=feeder.send, args=(lefts,), daemon=True)
    thread.start()
    daemon.wait_log("has gone: it took nothing", 20)
    deaf.resume()
    wait_until(lambda: deaf.ended, 10, "its end")
    taken = deaf.count()
    rows = daemon.subscribe().wait_lines(count - taken, seconds=20)
    assert rows == [f"{n},{line},," for n in range(taken, count)]
    thread.join(10)
    daemon.stop(expect=0)
