"""The programs people really feed joind with: nc, telnet and the shell."""

import os
import subprocess
import time

from joind import PATIENCE, wait_until
from tools import Terminal


class Program:
    """A client program with its standard input at hand."""

    def __init__(self, *command, stdout=subprocess.DEVNULL):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=stdout,
                                        stderr=subprocess.DEVNULL)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(10)

    def type(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def end_input(self):
        self.process.stdin.close()

    def wait(self, seconds=10):
        return self.process.wait(seconds * PATIENCE)


def nc(daemon, side, *options):
    host, port = daemon.address(side)
    return Program("nc", *options, host, str(port))


def test_nc_with_n_ends_its_last_line(joind):
    daemon = joind()
    subscriber = daemon.subscribe()
    with nc(daemon, "left", "-N") as sender:
        sender.type(b"1,a\n2,b")
        sender.end_input()
        assert sender.wait() == 0
    daemon.wait_books("left", received=2, rejected=0)
    daemon.send("right", b"1,x\n2,y\n")
    daemon.stop(expect=0)
    assert sorted(subscriber.wait_end()) == ["1,a,1,x", "2,b,2,y"]


def test_nc_without_n_stays_and_its_last_line_counts_when_joind_stops(joind):
    """It sends no FIN at its input's end, but closes when joind half-closes."""
    daemon = joind(join={"type": "anti"})
    subscriber = daemon.subscribe()
    with nc(daemon, "left") as sender:
        sender.type(b"1,a\n2,b")
        sender.end_input()
        daemon.wait_books("left", received=1)
        assert daemon.connections("left") == 1
        started = time.monotonic()
        daemon.stop(expect=0)
        assert time.monotonic() - started < 4 * PATIENCE, "nc was not told to end"
        assert sender.wait() == 0
    assert sorted(subscriber.wait_end()) == ["1,a", "2,b"]


def test_nc_with_c_sends_crlf_and_keys_still_meet(joind):
    daemon = joind(left={"fields": "v, k"}, output={"select": "v, left.k, w"})
    subscriber = daemon.subscribe()
    with nc(daemon, "left", "-C", "-N") as sender:
        sender.type(b"a,1\nb,2\n")
        sender.end_input()
        sender.wait()
    daemon.send("right", b"1,x\n2,y\n")
    daemon.stop(expect=0)
    assert sorted(subscriber.wait_end()) == ["a,1,x", "b,2,y"]


def test_lines_typed_into_nc_join_while_it_stays_connected(joind):
    daemon = joind(join={"size": "1s", "type": "left"})
    subscriber = daemon.subscribe()
    with nc(daemon, "left") as sender:
        for number, line in enumerate((b"1,a\n", b"bad\n2,b\n"), 1):
            sender.type(line)
            subscriber.wait_lines(number, seconds=4)
        assert subscriber.lines() == ["1,a,,", "2,b,,"]
        assert daemon.books("left")["rejected"] == 1


def test_a_shell_s_dev_tcp_is_a_sender(joind):
    daemon = joind(join={"type": "anti"})
    subscriber = daemon.subscribe()
    host, port = daemon.address("left")
    script = (f"exec 3>/dev/tcp/{host}/{port}; echo 1,a >&3; printf '2,' >&3; printf b >&3; "
              "exec 3>&-")
    subprocess.run(["bash", "-c", script], check=True, timeout=10 * PATIENCE)
    daemon.wait_books("left", received=2, rejected=0)
    daemon.stop(expect=0)
    assert sorted(subscriber.wait_end()) == ["1,a", "2,b"]


class Telnet(Terminal):
    """telnet on a terminal of its own."""

    INTERRUPT = b"\x03"
    ESCAPE = b"\x1d"

    def __init__(self, address):
        super().__init__(lambda inner, owns: subprocess.Popen(
            ["telnet", address[0], str(address[1])], stdin=inner, stdout=inner, stderr=inner,
            close_fds=True, env={**os.environ, "TERM": "dumb"}, start_new_session=True,
            preexec_fn=owns))

    def __enter__(self):
        self.wait_screen(b"Escape character")
        return self


def test_telnet_sends_crlf_and_its_lines_join(joind):
    daemon = joind()
    subscriber = daemon.subscribe()
    with Telnet(daemon.address("left")) as left, Telnet(daemon.address("right")) as right:
        left.type(b"1,a\r")
        right.type(b"1,x\r")
        daemon.wait_books("left", received=1, held=1)
        daemon.wait_books("right", received=1, held=1)
        left.type(Telnet.ESCAPE)
        left.wait_screen(b"telnet> ")
        left.type(b"quit\r")
        assert left.process.wait(10 * PATIENCE) == 0
        wait_until(lambda: daemon.connections("left") == 0, 10, "the connection's end")
    daemon.stop(expect=0)
    assert subscriber.wait_end() == ["1,a,1,x"]


def test_an_interrupt_typed_into_telnet_costs_one_line(joind):
    daemon = joind(join={"type": "anti"})
    subscriber = daemon.subscribe()
    with Telnet(daemon.address("left")) as person:
        person.type(b"1,a\r")
        daemon.wait_books("left", received=1)
        person.type(Telnet.INTERRUPT)
        wait_until(lambda: daemon.metric("joind_input_bytes_total", side="left") > 5, 10,
                   "the interrupt's bytes")
        person.type(b"2,b\r")
        daemon.wait_books("left", received=2, rejected=1, held=1)
        person.type(b"3,c\r")
        daemon.wait_books("left", received=3, rejected=1, held=2)
        assert b"\xff\xf4\xff\xfd\x06" in wait_until(daemon.rejects, 10, "the reject")[0][4]
    daemon.stop(expect=0)
    assert sorted(subscriber.wait_end()) == ["1,a", "3,c"]
