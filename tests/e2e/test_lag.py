"""How far apart in time pairs are, and what windows part: /metrics, /status and the page.

Rules: semantics.md, section 6; interface.md, section 5. All in event time, with times that no
clock comes near, so that every figure is exact.
"""

import re

from joind import wait_until

LAG = "joind_pair_lag_seconds"
MISSES = "joind_near_misses_total"


def tumbling(joind, **join):
    """A daemon in event time; windows of 10 s; nobody idle."""
    side = {"timestamp": "t", "idle": "off"}
    return joind(left={"fields": "k, v, t timestamp_ms", **side},
                 right={"fields": "k, w, t timestamp_ms", **side},
                 join={"time": "event", "size": "10s", **join},
                 output={"select": "left.k, v, w"})


def lines(records):
    return b"".join(f"{key},v,{ms}\n".encode() for key, ms in records)


def decide(daemon, until=1_000_000):
    """Time goes on: all windows before `until` close."""
    daemon.send("left", lines([("end", until)]))
    daemon.send("right", lines([("end", until)]))


def buckets(metrics):
    found = {}
    for (name, labels), value in metrics.samples.items():
        if name == LAG + "_bucket":
            assert [label for label, _ in labels] == ["le"]
            found[float(dict(labels)["le"])] = int(value)
    return [found[le] for le in sorted(found)], sorted(found)


def test_nothing_seen_is_all_zero_and_advises_nothing(joind):
    daemon = tumbling(joind)
    metrics = daemon.metrics()
    counts, bounds = buckets(metrics)
    assert set(counts) == {0} and bounds[-1] == float("inf") and len(bounds) > 10
    assert metrics.value(LAG + "_sum") == metrics.value(LAG + "_count") == 0
    assert metrics.value(MISSES) == 0
    assert daemon.status()["pairs"] == {"seen": 0, "lost": 0, "keep": None}


def test_the_histogram_counts_pairs_by_their_lag(joind):
    daemon = tumbling(joind)
    subscriber = daemon.subscribe()
    lags = {"a": 0, "b": 1, "c": -2, "d": 500, "e": -501, "f": 5000}
    daemon.send("left", lines((key, 3000) for key in lags))
    daemon.send("right", lines((key, 3000 + ms) for key, ms in lags.items()))
    decide(daemon)
    subscriber.wait_lines(len(lags))
    metrics = daemon.metrics()
    counts, bounds = buckets(metrics)
    expected = [sum(abs(ms) <= le * 1000 for ms in lags.values()) for le in bounds]
    assert counts == expected and counts[-1] == metrics.value(LAG + "_count") == len(lags)
    assert abs(metrics.value(LAG + "_sum") - sum(map(abs, lags.values())) / 1000) < 1e-9
    assert f"# TYPE {LAG} histogram" in metrics.text
    status = daemon.status()["pairs"]
    assert (status["seen"], status["lost"]) == (len(lags), 0)
    assert metrics.value(MISSES) == 0


def test_what_an_edge_parts_is_counted_and_an_interval_advised(joind):
    daemon = tumbling(joind, type="left")
    subscriber = daemon.subscribe()
    pairs = [(f"k{i}", 20000 + 97 * i) for i in range(1000)]
    daemon.send("left", lines(pairs))
    daemon.send("right", lines((key, ms + 200) for key, ms in pairs))
    parted = sum(ms // 10000 != (ms + 200) // 10000 for _, ms in pairs)
    decide(daemon)
    subscriber.wait_lines(1000)
    assert parted > 10
    assert daemon.metric(MISSES) == parted
    status = daemon.status()["pairs"]
    assert status == {
        "seen": 1000 - parted,
        "lost": parted,
        "keep": {share: {"lower": "200ms", "upper": "200ms"} for share in ("50", "90", "99", "99.9")},
    }
    assert daemon.metric(LAG + "_count") == 1000 - parted, "rows alone"
    daemon.assert_books_balance()


def test_the_advice_is_what_an_interval_join_takes(joind):
    lefts = [(f"k{i}", 100_000 + 1000 * i) for i in range(100)]
    rights = sorted(((f"k{i}", ms + (-1200 if i % 2 else 3100))
                     for i, (_, ms) in enumerate(lefts)), key=lambda record: record[1])
    daemon = tumbling(joind)
    subscriber = daemon.subscribe()
    daemon.send("left", lines(lefts))
    daemon.send("right", lines(rights))
    decide(daemon)
    subscriber.wait_lines(1)
    wait_until(lambda: sum(daemon.status()["pairs"][n] for n in ("seen", "lost")) == 100, 5, "pairs")
    keep = daemon.status()["pairs"]["keep"]
    assert list(keep) == ["50", "90", "99", "99.9"]
    for bounds in keep.values():
        for text in bounds.values():
            assert re.fullmatch(r"-?(\d+(ms|s|m|h|d))+", text), text
    interval = tumbling(joind, match="interval", size=None, **keep["99"])
    subscriber = interval.subscribe()
    interval.send("left", lines(lefts))
    interval.send("right", lines(rights))
    subscriber.wait_lines(100)
    assert interval.metric(MISSES) == 0
    assert interval.status()["pairs"] == {"seen": 100, "lost": 0, "keep": keep}


def test_the_page_says_it_in_words(joind):
    status, _, body = tumbling(joind).http("/")
    assert status == 200
    assert b"parted by window edges" in body and b"match = interval" in body
