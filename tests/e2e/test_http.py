"""The watching port: metrics, health, status, page, and clients that mean no good."""

import contextlib
import http.client
import json
import re
import signal
import socket
import subprocess
import time

import pytest

from joind import PATIENCE, SANITIZED, Feeder, Metrics, readable, wait_until

# Names, types and labels of interface.md, section 5.
FAMILIES = {
    "joind_records_received_total": ("counter", {"side"}),
    "joind_records_total": ("counter", {"side", "fate"}),
    "joind_records_held": ("gauge", {"side"}),
    "joind_results_total": ("counter", {"kind"}),
    "joind_results_rejected_total": ("counter", set()),
    "joind_results_discarded_total": ("counter", {"output"}),
    "joind_input_bytes_total": ("counter", {"side"}),
    "joind_output_bytes_total": ("counter", {"output"}),
    "joind_connections": ("gauge", {"endpoint"}),
    "joind_state_bytes": ("gauge", set()),
    "joind_state_limit_bytes": ("gauge", set()),
    "joind_input_paused": ("gauge", {"side"}),
    "joind_near_misses_total": ("counter", set()),
    "joind_wrong_protocol_total": ("counter", {"side"}),
}
# Of parts that come later, or that only some joins have: right where they are there.
FAMILIES_LATER = {
    "joind_pair_lag_seconds": ("histogram", set()),
    "joind_late_windows_total": ("counter", {"side"}),
    "joind_lookup_reloads_total": ("counter", {"result"}),
    "joind_watermark_timestamp_seconds": ("gauge", {"side"}),
    "joind_late_seconds": ("histogram", {"side"}),
}
LABEL_VALUES = {
    "side": {"left", "right"},
    "fate": {"rejected", "filtered", "late", "matched", "unmatched"},
    "kind": {"pair", "left", "right", "semi", "anti"},
    "output": {"output", "late", "rejects"},
    "endpoint": {"left", "right", "output", "late", "rejects", "http"},
}
PROCESS = {
    "process_cpu_seconds_total": "counter", "process_resident_memory_bytes": "gauge",
    "process_virtual_memory_bytes": "gauge", "process_open_fds": "gauge",
    "process_max_fds": "gauge", "process_start_time_seconds": "gauge",
}


def families(text):
    """The exposition by family: {name: (type, help, [(sample name, labels)])}; checks its form."""
    found = {}
    name = None
    for line in text.splitlines():
        if match := re.fullmatch(r"# HELP (\w+) (\S.*)", line):
            name = match[1]
            assert name not in found, f"{name} is there twice"
            found[name] = [None, match[2], []]
        elif match := re.fullmatch(r"# TYPE (\w+) (counter|gauge|histogram|summary|untyped)", line):
            assert match[1] == name, f"no HELP before {line!r}"
            found[name][0] = match[2]
        else:
            match = Metrics.SAMPLE.match(line)
            assert match, f"not a line of the exposition format: {line!r}"
            assert match[1].startswith(name or "?"), f"{line!r} stands under {name}"
            assert found[name][0], f"no TYPE before {line!r}"
            labels = dict(Metrics.LABEL.findall(match[2] or ""))
            found[name][2].append((match[1], labels))
    assert text.endswith("\n")
    return found


# /metrics

def test_metrics_have_the_names_types_and_labels_of_the_contract(joind):
    status, headers, body = joind().http("/metrics")
    assert status == 200
    assert headers["Content-Type"].replace(" ", "").lower().startswith(
        "text/plain;version=0.0.4")
    found = families(body.decode())
    for name, (kind, labels) in FAMILIES.items():
        assert name in found, f"no {name}"
        assert found[name][0] == kind, name
        assert found[name][2], f"{name} has no sample"
        for _, given in found[name][2]:
            assert set(given) == labels, f"{name} {given}"
        for label in labels:
            values = {given[label] for _, given in found[name][2]}
            assert values <= LABEL_VALUES[label], f"{name} {values}"
            if label in ("side", "fate"):
                assert values == LABEL_VALUES[label], f"{name} {values}"


def test_no_metric_has_a_name_that_the_contract_does_not_know(joind):
    found = families(joind().http("/metrics")[2].decode())
    for name, (kind, _, samples) in found.items():
        if not name.startswith("joind_"):
            assert name.startswith("process_"), name
            continue
        expected = {**FAMILIES, **FAMILIES_LATER}.get(name)
        assert expected, f"{name} is not in interface.md"
        assert kind == expected[0]
        for sample, labels in samples:
            extra = {"le"} if sample.endswith("_bucket") else set()
            assert set(labels) == expected[1] | extra, f"{sample} {labels}"


def test_process_metrics_are_those_of_every_client_library(joind):
    daemon = joind()
    found = families(daemon.http("/metrics")[2].decode())
    for name, kind in PROCESS.items():
        assert found[name][0] == kind
    metrics = daemon.metrics()
    assert abs(metrics.value("process_start_time_seconds") - time.time()) < 60
    assert 1 << 20 < metrics.value("process_resident_memory_bytes")
    assert 5 < metrics.value("process_open_fds") < 50


def test_counters_count(joind):
    daemon = joind(join={"size": "1s", "type": "full"})
    subscriber = daemon.subscribe()
    daemon.send("left", b"1,a\nbad\n")
    subscriber.wait_lines(1, seconds=4)
    metrics = daemon.assert_books_balance()
    assert metrics.value("joind_input_bytes_total", side="left") == 8
    assert metrics.value("joind_input_bytes_total", side="right") == 0
    assert metrics.value("joind_output_bytes_total", output="output") == 6
    assert metrics.value("joind_results_total", kind="left") == 1
    assert metrics.value("joind_results_total", kind="pair") == 0
    assert metrics.value("joind_connections", endpoint="output") == 1
    assert metrics.value("joind_connections", endpoint="left") == 0
    assert metrics.value("joind_connections", endpoint="http") >= 1
    assert metrics.value("joind_state_limit_bytes") == 1 << 30
    assert metrics.books("left") == dict(received=2, rejected=1, filtered=0, late=0, matched=0,
                                         unmatched=1, held=0)


def test_labels_say_left_and_right_whatever_the_names_are(joind):
    daemon = joind(left={"name": "orders"}, right={"name": "shipments"})
    assert daemon.books("left")["received"] == 0
    assert "orders" not in daemon.metrics().text


# /healthz, /status, /

def test_healthz_says_ok(joind):
    code, body = joind().healthz()
    assert (code, body.strip()) == (200, "ok")


def test_healthz_says_503_and_why_while_stopping(joind):
    daemon = joind(output={"file": "out.csv"})
    feeder = daemon.connect("left")
    feeder.send(b"1,a\n")
    daemon.wait_books("left", received=1)
    daemon.signal(signal.SIGTERM)
    feeder.read_end()
    code, body = daemon.healthz()
    assert code == 503
    assert "stopping" in body.splitlines()[0]
    daemon.assert_books_balance()
    feeder.close()
    daemon.wait_exit(expect=0)


def keys(value, path=""):
    """All paths into a JSON value."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield f"{path}.{key}".lstrip(".")
            yield from keys(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for inner in value:
            yield from keys(inner, path + "[]")


def test_status_is_json_that_says_what_the_metrics_say(joind):
    daemon = joind(left={"name": "orders"})
    daemon.send("left", b"1,a\nbad\n")
    code, headers, body = daemon.http("/status")
    assert code == 200
    assert headers["Content-Type"].startswith("application/json")
    status = json.loads(body)
    paths = list(keys(status))
    for word in ("uptime", "left", "right", "rate", "connections", "rejected", "held", "state",
                 "output", "loop.turn_cpu_max_us"):
        assert any(word in path for path in paths), f"no {word} in {paths}"
    assert daemon.ini.stem in body.decode(), "the configuration's name"
    assert 0 <= status["loop"]["turn_cpu_max_us"]


def test_the_root_is_a_page(joind):
    code, headers, body = joind().http("/")
    assert code == 200
    assert headers["Content-Type"].startswith("text/html")
    assert b"joind" in body and b"<html" in body.lower() and b"/status" in body


# HTTP itself.

def test_unknown_paths_are_404(joind):
    daemon = joind()
    for path in ("/nope", "/metrics/", "/metricsx", "/../etc/passwd", "/%00", "//"):
        assert daemon.http(path)[0] == 404, path
    assert daemon.http("/metrics?name[]=joind_state_bytes")[0] == 200, "a query is no other path"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_other_methods_are_405(joind, method):
    daemon = joind()
    assert daemon.http("/metrics", method=method, body=b"x=1")[0] == 405
    assert daemon.healthz()[0] == 200


def test_curl_gets_pages_and_heads(joind):
    daemon = joind()
    root = "http://%s:%d" % daemon.address("http")

    def curl(*args):
        return subprocess.run(["curl", "-sS", "--max-time", "10", *args], check=True,
                              capture_output=True).stdout.decode()
    assert curl(root + "/healthz").strip() == "ok"
    assert "joind_state_bytes" in curl(root + "/metrics")
    assert "joind_state_bytes" in curl("--http1.0", root + "/metrics")
    for path in ("/metrics", "/healthz", "/status", "/"):
        head = curl("-I", root + path)
        assert head.startswith("HTTP/1.1 200"), head
        assert head.endswith("\r\n\r\n"), "a body after the head"


def test_a_client_that_half_closes_gets_the_whole_answer(joind):
    daemon = joind()
    with socket.create_connection(daemon.address("http"), timeout=10) as client:
        client.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
        client.shutdown(socket.SHUT_WR)
        answer = client.makefile("rb").read()
    head, _, body = answer.partition(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
    assert not length or int(length[1]) == len(body)
    families(body.decode())


def test_a_connection_takes_several_requests(joind):
    daemon = joind()
    connection = http.client.HTTPConnection(*daemon.address("http"), timeout=10)
    with contextlib.closing(connection):
        for _ in range(3):
            connection.request("GET", "/healthz")
            assert connection.getresponse().read().strip() == b"ok"


def test_slow_senders_of_headers_hold_nothing_up(joind):
    daemon = joind(join={"size": "1s", "type": "left"})
    subscriber = daemon.subscribe()
    slow = [Feeder(daemon.address("http")) for _ in range(8)]
    for feeder in slow:
        feeder.send(b"GET /metrics HTTP/1.1\r\nX-")
    for _ in range(20):
        for feeder in slow:
            with contextlib.suppress(OSError):
                feeder.send(b"a")
        started = time.monotonic()
        assert daemon.healthz()[0] == 200
        assert time.monotonic() - started < 1 * PATIENCE
    daemon.send("left", b"1,a\n")
    subscriber.wait_lines(1, seconds=4)
    for feeder in slow:
        feeder.close()


@pytest.mark.slow
def test_a_request_has_a_deadline_and_connections_a_limit(joind):
    """One byte a second would hold a connection for ever; a thousand would hold them all."""
    daemon = joind()
    slow = []
    with contextlib.suppress(OSError):
        for _ in range(500):
            slow.append(Feeder(daemon.address("http")))
            slow[-1].send(b"GET /")
    open_ones = set(slow)

    def all_closed():
        for feeder in list(open_ones):
            try:
                feeder.send(b"a")
                if readable(feeder.socket) and not feeder.socket.recv(4096):
                    open_ones.discard(feeder)
            except OSError:
                open_ones.discard(feeder)
        time.sleep(0.5)
        return not open_ones
    wait_until(all_closed, 90, "the end of all slow requests")
    assert daemon.healthz()[0] == 200
    for feeder in slow:
        feeder.close()


@pytest.mark.parametrize("request_start", [
    b"GET / HTTP/1.1\r\nX: ", b"GET /", b"POST / HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n",
], ids=["header", "path", "body"])
def test_what_is_too_large_is_refused_and_takes_no_memory(joind, request_start):
    daemon = joind()
    daemon.healthz()
    before = daemon.anonymous_memory()
    with socket.create_connection(daemon.address("http"), timeout=10 * PATIENCE) as client:
        answer = b""
        try:
            client.sendall(request_start)
            for _ in range(32):
                client.sendall(b"a" * (1 << 20))
            client.shutdown(socket.SHUT_WR)
        except OSError:
            pass        # closed on us: refused
        with contextlib.suppress(OSError):
            answer = client.recv(4096)
        assert not answer or re.match(rb"HTTP/1\.[01] 4\d\d", answer), answer[:200]
    assert daemon.healthz()[0] == 200
    # Sanitizers keep for a while what is freed; 32 MiB were sent.
    assert daemon.anonymous_memory() - before < (16 << 20 if SANITIZED else 4 << 20)


def test_nonsense_on_the_http_port_is_survived(joind):
    daemon = joind()
    for junk in (b"\0" * 1000, b"\xff" * 100000, b"\r\n" * 1000, b"GET\r\n\r\n", b" \r\n\r\n",
                 b"GET / HTTP/9.9\r\n\r\n", b"GET / HTTP/1.1\r\n: \r\n\r\n",
                 b"\x16\x03\x01\x02\x00",
                 b"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
                 b"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n"):
        with socket.create_connection(daemon.address("http"), timeout=10) as client:
            client.sendall(junk)
            client.shutdown(socket.SHUT_WR)
            with contextlib.suppress(OSError):
                while client.recv(4096):
                    pass
        assert daemon.healthz()[0] == 200, junk[:50]


def test_only_allowed_addresses_may_read(joind):
    daemon = joind(http={"listen": "127.0.0.1:0", "allow": "127.0.0.2, 127.0.1.0/24"})
    assert daemon.http("/healthz", source=("127.0.0.2", 0))[0] == 200
    assert daemon.http("/healthz", source=("127.0.1.77", 0))[0] == 200
    for other in ("127.0.0.1", "127.0.0.3", "127.0.2.1"):
        try:
            status = daemon.http("/healthz", source=(other, 0))[0]
        except (OSError, http.client.HTTPException):
            continue        # not even let in
        assert status == 403, other


def test_loopback_may_read_by_default(joind):
    daemon = joind()
    assert daemon.http("/healthz", source=("127.0.0.77", 0))[0] == 200
