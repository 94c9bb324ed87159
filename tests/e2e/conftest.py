"""Fixtures of the end-to-end tests. See joind.py for what a test can do with a daemon."""

import itertools
import resource

import pytest

from joind import BINARY, Joind, config
from tools import Clock, build_library


def pytest_addoption(parser):
    parser.addoption("--slow", action="store_true", help="also run the tests that take minutes")


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: takes minutes; runs with --slow only")
    # Some tests hold a thousand connections open.
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def pytest_collection_modifyitems(config, items):
    if config.getoption("--slow"):
        return
    slow = [item for item in items if item.get_closest_marker("slow")]
    if slow:
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if item not in slow]


def pytest_sessionstart(session):
    if not BINARY.exists():
        pytest.exit(f"no daemon at {BINARY}: build it first, or set JOIND", returncode=2)


@pytest.fixture(scope="session")
def clockstep(tmp_path_factory):
    return build_library(tmp_path_factory.mktemp("clockstep"), "clockstep")


@pytest.fixture
def clock(tmp_path, clockstep):
    """The wall clock that daemons see which are started with clock.env."""
    return Clock(tmp_path / "offset", clockstep)


@pytest.fixture
def joind(tmp_path):
    """A function that starts a daemon: joind(left={...}, join={...}, ...), or joind(text=INI).

    What config() does not take (args, env, journal, ...) goes to Joind.start().
    """
    started = []
    numbers = itertools.count()
    sections = ("left", "right", "join", "output", "late", "rejects", "state", "http", "process")

    def start(text=None, **kw):
        changes = {name: kw.pop(name) for name in sections if name in kw}
        number = next(numbers)
        folder = kw.pop("folder", tmp_path if number == 0 else tmp_path / str(number))
        daemon = Joind(folder, text if text is not None else config(**changes))
        started.append(daemon)
        return daemon.start(**kw)

    yield start
    faults = []
    for daemon in started:
        try:
            daemon.clean_up()
        except AssertionError as fault:
            faults.append(str(fault))
    assert not faults, "\n".join(faults)
