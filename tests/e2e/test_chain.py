"""joind between shippers and other joinds: what goes in comes out, each once, and the books of all
of them balance. Also over restarts, where a service manager keeps the sockets."""

import pytest

from joind import ENDLESS, SocketUnits, wait_until
from shippers import RECIPES, Logging, assert_each_once, free_port, numbered, received, shipped, \
    shippers

EACH = 100000


def start_chain(joind, shippers, first=None, **second):
    """Two joinds as shipped: the first connects its output to the second's left."""
    table = {"file": RECIPES / "machines.csv"}
    last = shipped(joind, "chain-second.ini", right=table, **second)
    target = f"127.0.0.1:{last.port('left')}"
    return shipped(joind, "chain-first.ini", output={"connect": target}, **(first or {})), last


def assert_requests_each_once(rows, expected):
    assert_each_once([row["request"] for row in rows], expected)
    assert {(row["front"], row["back"], row["owner"]) for row in rows} == {
        ("web1", "store2", "shop")}


@pytest.mark.parametrize("end", ["syslog-ng", "file"])
def test_a_chain_of_joinds_loses_nothing_and_doubles_nothing(end, joind, shippers):
    """rsyslog and syslog-ng -> joind -> joind -> syslog-ng, or a file; 200,000 records."""
    results = shippers.folder / "results"
    output = {"connect": "", "file": results}
    if end == "syslog-ng":
        port = free_port()
        shippers.syslog_ng("joind-to-syslog-ng.conf", p7003=port, results=results)
        output = {"connect": f"127.0.0.1:{port}"}
    first, last = start_chain(joind, shippers, output=output)
    front = shippers.rsyslog("rsyslog-to-joind.conf", p8000=first.port("left"))
    back = shippers.syslog_ng("syslog-ng-to-joind.conf", p8000=first.port("right"))

    texts = numbered(EACH)
    logging = [Logging(front, texts), Logging(back, texts)]
    for thread in logging:
        thread.join()
    wait_until(lambda: last.books("left")["matched"] >= EACH, 60, "the results", last.log_text)
    for side in ("left", "right"):
        first.wait_books(side, received=EACH, matched=EACH, held=0, rejected=0, late=0)
    last.wait_books("left", received=EACH, matched=EACH, rejected=0)
    assert first.metric("joind_results_total", kind="pair") == EACH
    for shipper in (front, back):
        shipper.stop()
    first.stop(expect=0)
    last.stop(expect=0)
    wait_until(lambda: len(received(results)) >= EACH, 20, "the results to be written")
    assert_requests_each_once(received(results), texts)


def test_the_second_of_a_chain_may_be_restarted(joind, shippers):
    """What the first has written is read, what it has not is sent again to the next."""
    results = shippers.folder / "results"
    port = free_port()
    first, last = start_chain(joind, shippers, port=port, output={"connect": "", "file": results})
    front = shippers.rsyslog("rsyslog-to-joind.conf", p8000=first.port("left"))
    back = shippers.syslog_ng("syslog-ng-to-joind.conf", p8000=first.port("right"))

    texts = numbered(EACH // 2)
    logging = [Logging(shipper, texts, pause_s=0.02) for shipper in (front, back)]
    for _ in range(5):
        wait_until(lambda: last.books("left")["received"] > 1000, 20, "load", last.log_text)
        last.restart()
    for thread in logging:
        thread.hurry()
    wait_until(lambda: first.metric("joind_results_total", kind="pair") >= len(texts), 60, "pairs")
    for shipper in (front, back):
        shipper.stop()
    first.stop(expect=0)
    last.stop(expect=0)
    assert_requests_each_once(received(results), texts)


RESTARTED = {
    "right": {"listen": "systemd:right", "timestamp": "", "delay": ""},
    "left": {"listen": "systemd:left", "timestamp": "", "delay": "",
             # not what rsyslog says about itself
             "where": "program = 'shop'"},
    "join": {"match": "tumbling", "size": ENDLESS, "lower": "", "upper": "", "time": "processing"},
    "output": {"listen": "", "file": "out"},
}


def test_twenty_restarts_lose_nothing(joind, shippers):
    """joind is restarted, as by a service manager that keeps its sockets, whenever both shippers
    have found it again. A full join without pairs shows each record once."""
    units = SocketUnits(left=("127.0.0.1", 0), right=("127.0.0.1", 0))
    daemon = shipped(joind, "events.ini", passed=units, **RESTARTED)
    front = shippers.rsyslog("rsyslog-to-joind.conf", p8000=units.address("left")[1])
    back = shippers.syslog_ng("syslog-ng-to-joind.conf", p8000=units.address("right")[1])
    logging = [Logging(front, numbered(5 * EACH, "left"), pause_s=0.02),
               Logging(back, numbered(5 * EACH, "right"), pause_s=0.02)]
    for _ in range(20):
        wait_until(lambda: all(daemon.books(side)["received"] > 0 for side in ("left", "right")),
                   20, "load", daemon.log_text)
        assert all(thread.is_alive() for thread in logging), "this restart comes after the load"
        daemon.restart()
    expected = [text for thread in logging for text in thread.hurry(enough=EACH)]
    assert len(expected) >= 2 * EACH

    def rows():
        return (daemon.folder / "out").read_bytes().count(b"\n")
    wait_until(lambda: rows() + sum(daemon.books(side)["held"] for side in ("left", "right")) >=
               len(expected), 30, "the rest", daemon.log_text)
    daemon.assert_books_balance()
    for shipper in (front, back):
        shipper.stop()
    daemon.stop(expect=0)
    units.close()
    assert_each_once([row["request"] for row in received(daemon.folder / "out")], expected)
