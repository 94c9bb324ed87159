"""At state.memory inputs are held back, never dropped."""

import resource
import signal
import threading
import time

from joind import PATIENCE, wait_until


def paused(daemon, side):
    return daemon.metric("joind_input_paused", side=side)


class Sender(threading.Thread):
    """Sends numbered lines, ends in order and waits for joind to have read them."""

    def __init__(self, daemon, side, lines):
        super().__init__(daemon=True)
        self.feeder = daemon.connect(side)
        self.data = "".join(f"{n},{side} {n:050}\n" for n in range(lines)).encode()
        self.fault = None
        self.start()

    def run(self):
        try:
            self.feeder.send(self.data).finish(seconds=60)
        except (OSError, AssertionError) as fault:
            self.fault = fault

    def wait(self):
        self.join(60 * PATIENCE)
        assert not self.is_alive(), "the sender is still held back"
        assert self.fault is None, f"the sender could not end: {self.fault}"


def test_a_full_state_holds_inputs_back_and_drops_nothing(joind):
    """Nobody takes results, so windows that are over cannot leave until somebody comes."""
    count = 25000
    daemon = joind(join={"size": "1s", "type": "full"}, state={"memory": "1M"},
                   left={"max_line": "1K"}, right={"max_line": "1K"}, output={"select": "v, w"})
    assert daemon.metric("joind_state_limit_bytes") == 1 << 20
    senders = [Sender(daemon, side, count) for side in ("left", "right")]
    wait_until(lambda: paused(daemon, "left") and paused(daemon, "right"), 10,
               "both inputs held back", daemon.log_text)
    full = time.monotonic()
    assert daemon.healthz()[0] == 200, "full for a moment only"

    wait_until(lambda: daemon.healthz()[0] == 503, 15, "/healthz to say 503")
    assert time.monotonic() - full > 8, "/healthz says 503 too early"
    reason = daemon.healthz()[1].splitlines()[0]
    assert "state" in reason or "memory" in reason
    metrics = daemon.assert_books_balance()
    held = sum(metrics.books(side)["held"] for side in ("left", "right"))
    assert 1000 < held < 2 * count, metrics.text
    assert metrics.value("joind_state_bytes") < 1.5 * (1 << 20)
    for side in ("left", "right"):
        books = metrics.books(side)
        assert books["rejected"] + books["filtered"] + books["late"] == 0

    subscriber = daemon.subscribe()
    for sender in senders:
        sender.wait()
    for side in ("left", "right"):
        daemon.wait_books(side, received=count)
    wait_until(lambda: daemon.healthz()[0] == 200, 10, "/healthz to be well again")
    assert paused(daemon, "left") == 0 and paused(daemon, "right") == 0
    daemon.wait_books("left", held=0)
    daemon.wait_books("right", held=0)
    daemon.stop(expect=0)
    rows = subscriber.wait_end()
    for column, side in enumerate(("left", "right")):
        seen = {row.split(",")[column] for row in rows}
        assert {f"{side} {n:050}" for n in range(count)} <= seen


def test_a_full_state_goes_on_by_itself_when_its_window_fires(joind):
    daemon = joind(join={"size": "1s"}, state={"memory": "256K"}, left={"max_line": "1K"},
                   right={"max_line": "1K"})
    subscriber = daemon.subscribe()
    sender = Sender(daemon, "left", 8000)
    wait_until(lambda: paused(daemon, "left"), 10, "the left input held back")
    daemon.assert_books_balance()
    sender.wait()
    daemon.wait_books("left", seconds=20, received=8000, rejected=0, held=0, unmatched=8000)
    assert paused(daemon, "left") == 0
    daemon.stop(expect=0)
    assert subscriber.wait_end() == []


def test_a_stop_while_held_back_still_takes_what_was_sent(joind):
    """No window ends here, so only the stop can make room; the sender ends by itself."""
    count = 20000
    daemon = joind(join={"type": "left"}, state={"memory": "256K"}, left={"max_line": "1K"},
                   right={"max_line": "1K"}, output={"file": "out.csv", "select": "v"})
    sender = Sender(daemon, "left", count)
    wait_until(lambda: paused(daemon, "left"), 10, "the left input held back")
    daemon.signal(signal.SIGTERM)
    sender.wait()
    daemon.wait_exit(seconds=20, expect=0)
    rows = (daemon.folder / "out.csv").read_text().splitlines()
    assert len(rows) == len(set(rows)) == count


def test_a_file_that_takes_no_more_is_waited_for_and_nothing_is_lost(joind):
    """A limit on the size of files stands for a full disk: the write fails, later it does not."""
    count, limit = 3000, 40000

    def small_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))

    daemon = joind(join={"size": "1s", "type": "left"}, output={"file": "out.csv", "select": "v"},
                   preexec=small_files)
    sender = Sender(daemon, "left", count)
    sender.wait()
    wait_until(lambda: daemon.healthz()[0] == 503, 10, "health 503", daemon.log_text)
    assert "out.csv" in daemon.healthz()[1]
    daemon.wait_log("out.csv.*(too large|No space)")
    assert (daemon.folder / "out.csv").stat().st_size == limit
    resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE,
                     (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    wait_until(lambda: daemon.healthz()[0] == 200, 10, "health 200", daemon.log_text)
    daemon.stop(expect=0)
    rows = (daemon.folder / "out.csv").read_text().splitlines()
    assert len(rows) == len(set(rows)) == count
