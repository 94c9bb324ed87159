"""Names of peers to connect to: unknown, unanswered, of several addresses, one's own."""

import time

import pytest

from joind import PATIENCE
from test_connect import peer     # noqa: F401 (a fixture)
from test_output import AT_ONCE, written
from tools import build_library, preloading


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    return build_library(tmp_path_factory.mktemp("names"), "names")


@pytest.fixture
def names(library):
    """The environment in which the names of names.c are known."""
    return preloading(library)


def test_a_name_that_nobody_knows_is_said(joind, names):
    daemon = joind(env=names, join=AT_ONCE, output={"connect": "nobody.test:9000"})
    daemon.wait_log("output: cannot connect to nobody.test:9000: Name or service not known")
    status = daemon.status()["outputs"]["output"]
    assert (status["connected"], status["trouble"]) == (False, "Name or service not known")
    daemon.stop(expect=0)


def test_name_servers_that_do_not_answer_hold_nothing_up(joind, names):
    daemon = joind(env=names, join={"size": "1s"}, output={"connect": "silent.test:9000"})
    for number in range(10):
        started = time.monotonic()
        assert daemon.healthz()[0] == 200
        daemon.send("left", f"{number},a\n")
        assert time.monotonic() - started < 1 * PATIENCE, "the loop waits for the name"
    daemon.wait_books("left", seconds=4, unmatched=10)
    daemon.wait_log("output: cannot connect to silent.test:9000: no answer", seconds=15)
    started = time.monotonic()
    daemon.stop(expect=0)
    assert time.monotonic() - started < 2 * PATIENCE, "the end waits for the name"


def test_all_addresses_of_a_host_are_tried(joind, peer, names):
    """The first one refuses."""
    other = peer()
    place = f"two.test:{other.address[1]}"
    daemon = joind(env=names, join=AT_ONCE, output={"connect": place})
    daemon.send("left", b"1,a\n")
    connection = other.accept()
    assert connection.read_lines(1) == ["1,a,,"]
    daemon.wait_log(rf"output: connected to {place} \({other.text}\)")
    assert not daemon.log_matches("cannot connect")


def test_localhost_may_be_one_family_alone(joind, peer):
    other = peer()
    daemon = joind(join=AT_ONCE, output={"connect": f"localhost:{other.address[1]}"})
    daemon.send("left", b"1,a\n")
    assert other.accept().read_lines(1) == ["1,a,,"]


def test_a_connection_to_itself_is_none(joind, peer, names):
    """A port on the same machine may be chosen, by chance, for joind's own end of a connection to
    it: TCP then connects it to itself, and it would write its results to nobody for ever."""
    absent = peer(("127.0.0.3", 0), listens=False)
    daemon = joind(env={**names, "NAMES_SELF": "1"}, join=AT_ONCE, output={"connect": absent.text})
    daemon.wait_log("output: cannot connect to .*: Connection refused")
    daemon.send("left", b"1,a\n")
    assert daemon.status()["outputs"]["output"]["connected"] is False
    assert written(daemon) == 0
    absent.open()           # nothing of it is left on the port
    assert absent.accept(15).read_lines(1) == ["1,a,,"]
