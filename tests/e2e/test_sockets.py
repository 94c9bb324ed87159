"""Where joind listens and reads: unix sockets with their files, TCP addresses, FIFOs; and what it says
where it cannot."""

import os
import pathlib
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import threading
import time

import pytest

from joind import BINARY, ENDLESS, PATIENCE, clean_env, config, connect_to, wait_until

UNIX = {
    "left": {"listen": "unix:left.sock"},
    "right": {"listen": "unix:right.sock"},
    "output": {"listen": "unix:output.sock"},
    "http": {"listen": "unix:http.sock"},
}


def refuses(joind, expect=1, **changes):
    """A start that fails: what the log says of it."""
    daemon = joind(wait=False, **changes)
    daemon.wait_exit(expect=expect)
    assert not daemon.log_matches("ready: ")
    return daemon.log_text()


def refuses_without_rights(prepare=lambda folder: None, **changes):
    """A start by a user who may read a folder and write nothing: what the log says of it."""
    with tempfile.TemporaryDirectory() as name:     # pytest's folders are closed to others
        folder = pathlib.Path(name)
        shutil.copy(BINARY, folder / "joind")
        (folder / "t.ini").write_text(config(rejects=None, **changes))
        made = prepare(folder)
        folder.chmod(0o555)
        other = []
        if os.geteuid() == 0:
            other = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        done = subprocess.run([*other, folder / "joind", folder / "t.ini"], capture_output=True,
                              env=clean_env(), timeout=20 * PATIENCE)
        folder.chmod(0o755)
        del made
    assert done.returncode == 1
    return done.stderr.decode()


def rights(path):
    return stat.S_IMODE(os.stat(path).st_mode)


# Unix sockets.

def test_every_endpoint_can_be_a_unix_socket(joind, tmp_path):
    daemon = joind(**UNIX, rejects={"listen": "unix:rejects.sock"})
    assert daemon.log_matches(
        r"ready: left=unix:left\.sock right=unix:right\.sock output=unix:output\.sock "
        r"rejects=unix:rejects\.sock http=unix:http\.sock$")
    results, rejects = daemon.subscribe(), daemon.subscribe("rejects")
    daemon.send("left", b"1,a\nbad\n2,b")
    daemon.send("right", b"1,x\n")
    daemon.stop(expect=0)
    assert results.wait_end() == ["1,a,1,x"]
    assert len(rejects.wait_end()) == 1
    assert not list(tmp_path.glob("*.sock")), "their files go with it"


def test_a_peer_on_a_unix_socket_is_named_by_its_process_and_user(joind, tmp_path):
    daemon = joind(**UNIX)
    daemon.send("left", b"bad\n")
    daemon.wait_books("left", rejected=1)
    detail = daemon.rejects()[0][2].decode()
    assert detail.endswith(f"(from unix:{tmp_path}/left.sock (pid {os.getpid()}, uid "
                           f"{os.getuid()}))")


@pytest.mark.parametrize("umask", [0, 0o077, 0o777])
def test_a_socket_file_has_the_rights_of_mode_whatever_the_umask(joind, tmp_path, umask):
    daemon = joind(left=UNIX["left"], right={"listen": "unix:right.sock", "mode": "0604"},
                   output={"listen": "unix:output.sock", "mode": "0777"},
                   preexec=lambda: os.umask(umask))
    assert [rights(tmp_path / f"{name}.sock") for name in ("left", "right", "output")] == \
        [0o660, 0o604, 0o777]
    status = pathlib.Path(f"/proc/{daemon.process.pid}/status").read_text()
    assert f"Umask:\t{umask:04o}\n" in status, "it is not changed for good"


def test_a_socket_that_a_killed_daemon_left_behind_is_replaced(joind, tmp_path):
    daemon = joind(**UNIX)
    daemon.signal(signal.SIGKILL)
    daemon.wait_exit()
    assert (tmp_path / "left.sock").is_socket()
    again = joind(**UNIX, folder=tmp_path)
    again.send("left", b"1,a\n")
    again.wait_books("left", received=1)


def test_a_socket_that_somebody_listens_on_is_left_alone(joind, tmp_path):
    first = joind(**UNIX)
    before = os.stat(tmp_path / "left.sock").st_ino
    log = refuses(joind, **UNIX, folder=tmp_path)
    assert "left: cannot listen on unix:left.sock: Address already in use" in log
    assert os.stat(tmp_path / "left.sock").st_ino == before
    first.send("left", b"1,a\n")
    first.wait_books("left", received=1)


def test_the_look_for_a_listener_is_no_connection_to_it(joind, tmp_path):
    """One that came and went would end a side of a batch."""
    first = joind(left={"listen": "unix:left.sock"}, right={"listen": "unix:right.sock"},
                  join={"match": "batch", "size": None}, output={"listen": "unix:output.sock"})
    refuses(joind, **UNIX, folder=tmp_path)
    time.sleep(0.3)
    assert not first.log_matches("ended")
    first.send("right", b"1,x\n")
    first.wait_log("right: the last connection")


def test_a_full_queue_is_no_sign_of_a_stale_socket(joind, tmp_path):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(tmp_path / "left.sock"))
    listener.listen(0)
    waiting = [connect_to(str(tmp_path / "left.sock"))]
    assert "in use" in refuses(joind, **UNIX)
    waiting[0].close()
    listener.close()


@pytest.mark.parametrize("kind", ["file", "folder", "link", "fifo"])
def test_what_is_no_socket_is_never_removed(joind, tmp_path, kind):
    path = tmp_path / "left.sock"
    make = {"file": lambda: path.write_text("precious"), "folder": path.mkdir,
            "link": lambda: path.symlink_to("nowhere"), "fifo": lambda: os.mkfifo(path)}
    make[kind]()
    before = os.lstat(path)
    assert "a file that is no socket is there" in refuses(joind, left=UNIX["left"])
    assert os.lstat(path) == before


def test_a_datagram_socket_in_use_is_left_alone(joind, tmp_path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as other:
        other.bind(str(tmp_path / "left.sock"))
        assert "in use" in refuses(joind, left=UNIX["left"])
        assert (tmp_path / "left.sock").is_socket()


def test_a_missing_folder_is_told(joind):
    log = refuses(joind, left={"listen": "unix:missing/left.sock"})
    assert "unix:missing/left.sock: No such file or directory" in log and "folder" in log


def test_a_path_that_is_too_long_is_told(joind):
    log = refuses(joind, 78, left={"listen": "unix:" + "x" * 108})
    assert "107" in log


def test_the_longest_path_can_be_had(joind):
    folder = tempfile.mkdtemp()
    path = folder + "/" + "x" * (107 - len(folder) - 1)
    try:
        daemon = joind(left={"listen": f"unix:{path}"})
        daemon.send("left", b"1,a\nbad\n")
        daemon.wait_books("left", received=2)
        assert f"unix:{path} (pid" in daemon.rejects()[0][2].decode()
        daemon.stop(expect=0)
        assert not os.path.exists(path)
    finally:
        shutil.rmtree(folder)


def test_a_folder_without_the_right_to_write_is_told():
    log = refuses_without_rights(left={"listen": "unix:left.sock"})
    assert "unix:left.sock: Permission denied" in log and "may not make files" in log


@pytest.mark.parametrize("mode, living, says", [
    (0o600, True, "a socket is there that this user may not use"),
    (0o600, False, "a socket is there that this user may not use"),
    (0o666, True, "another program has this socket"),
    (0o666, False, "an old socket is there, and this user may not remove it"),
])
def test_only_what_can_be_told_of_another_user_s_socket_is_told(mode, living, says):
    """Who may not connect cannot know whether somebody listens."""
    if os.geteuid() != 0 and mode == 0o600:
        pytest.skip("needs a second user")

    def prepare(folder):
        other = socket.socket(socket.AF_UNIX)
        other.bind(str(folder / "left.sock"))
        other.listen()
        os.chmod(folder / "left.sock", mode)
        if living:
            return other
        other.close()
        return None

    log = refuses_without_rights(prepare, left={"listen": "unix:left.sock"})
    assert f"left: cannot listen on unix:left.sock: " in log and says in log, log
    assert ("in use" in log) == (mode == 0o666 and living)


def test_a_socket_file_that_is_not_ours_any_more_stays(joind, tmp_path):
    daemon = joind(**UNIX)
    os.unlink(tmp_path / "left.sock")
    os.unlink(tmp_path / "right.sock")
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(tmp_path / "left.sock"))
        daemon.subscribe()
        daemon.stop(expect=0)
        assert (tmp_path / "left.sock").is_socket()
        assert not (tmp_path / "output.sock").exists()


def test_a_start_that_fails_leaves_no_socket_behind(joind, tmp_path):
    refuses(joind, **{**UNIX, "right": {"listen": "unix:missing/right.sock"}})
    assert not list(tmp_path.glob("*.sock"))


def test_a_unix_sender_sees_the_half_close_of_a_stop_and_loses_nothing(joind):
    daemon = joind(**{**UNIX, "output": {"file": "out.csv"}}, join={"type": "left"})
    feeder = daemon.connect("left")
    feeder.send(b"1,before\n")
    daemon.wait_books("left", received=1)
    daemon.signal(signal.SIGTERM)
    feeder.read_end()
    feeder.send(b"2,after\n3,unended")
    feeder.socket.shutdown(socket.SHUT_WR)
    daemon.wait_exit(expect=0)
    assert sorted((daemon.folder / "out.csv").read_bytes().splitlines()) == \
        [b"1,before,,", b"2,after,,", b"3,unended,,"]


def test_who_waits_in_a_unix_socket_s_queue_at_a_stop_is_read(joind):
    daemon = joind(**{**UNIX, "output": {"file": "out.csv"}}, join={"type": "left"})
    daemon.signal(signal.SIGSTOP)
    for number in range(10):
        feeder = daemon.connect("left")
        feeder.send(b"%d,a" % number)
        feeder.close()
    daemon.signal(signal.SIGTERM)
    daemon.signal(signal.SIGCONT)
    daemon.wait_exit(expect=0)
    assert (daemon.folder / "out.csv").read_bytes().count(b"\n") == 10


def test_a_unix_subscriber_may_close_its_sending_side(joind):
    daemon = joind(**UNIX)
    subscriber = daemon.subscribe()
    subscriber.half_close()
    daemon.send("left", b"1,a\n")
    daemon.send("right", b"1,x\n")
    daemon.stop(expect=0)
    assert subscriber.wait_end() == ["1,a,1,x"]


def test_what_a_gone_unix_subscriber_left_is_for_the_next(joind):
    daemon = joind(**UNIX, join={"match": "interval", "size": None, "lower": "-1h", "upper": "1h"})
    first = daemon.subscribe(paused=True)
    rows = 20000
    daemon.send("left", b"1,a\n")
    sender = threading.Thread(target=daemon.send, daemon=True, args=(
        "right", b"".join(b"1,%060d\n" % n for n in range(rows))))
    sender.start()
    wait_until(lambda: daemon.metric("joind_output_bytes_total", output="output") > 1000, 10,
               "a full socket")
    first.close()
    wait_until(lambda: daemon.connections("output") == 0, 10, "that it has gone")
    second = daemon.subscribe()
    sender.join(10 * PATIENCE)
    daemon.stop(expect=0)
    got = [int(line.rpartition(",")[2]) for line in second.wait_end()]
    assert got == list(range(got[0], rows)), "from the first line that was not wholly written"
    assert got[0] > 0


# TCP.

@pytest.mark.parametrize("text, shown", [
    ("[::1]:0", r"\[::1\]:\d+"),
    ("localhost:0", r"(127\.0\.0\.1|\[::1\]):\d+"),
])
def test_names_and_ipv6_addresses_can_be_listened_on(joind, text, shown):
    daemon = joind(left={"listen": text})
    assert daemon.log_matches(rf"ready: left={shown} ")
    daemon.send("left", b"1,a\n")
    daemon.wait_books("left", received=1)


def test_a_port_in_use_is_told_with_a_way_out(joind):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        log = refuses(joind, left={"listen": f"127.0.0.1:{port}"})
    assert f"left: cannot listen on 127.0.0.1:{port}: Address already in use" in log
    assert "--set left.listen=" in log


def test_an_address_of_another_machine_is_told(joind):
    assert "no interface of this machine" in refuses(joind, left={"listen": "192.0.2.1:8000"})


def test_a_port_without_the_right_to_it_is_told():
    start = pathlib.Path("/proc/sys/net/ipv4/ip_unprivileged_port_start")
    if int(start.read_text()) <= 1:
        pytest.skip("every port is everybody's here")
    log = refuses_without_rights(left={"listen": "127.0.0.1:1"})
    assert "left: cannot listen on 127.0.0.1:1: Permission denied" in log and "right" in log


# FIFOs.

@pytest.fixture
def fifo(joind, tmp_path):
    os.mkfifo(tmp_path / "left.fifo")
    daemon = joind(left={"file": "left.fifo"}, output={"file": "out.csv"},
                   join={"type": "left", "size": ENDLESS})
    daemon.fifo = tmp_path / "left.fifo"
    return daemon


def test_a_fifo_without_a_writer_waits_for_one(fifo):
    cpu = fifo.cpu_seconds()
    time.sleep(1)
    assert fifo.cpu_seconds() - cpu < 0.2, "it does not spin"
    assert not fifo.log_matches("ended")
    with open(fifo.fifo, "wb") as writer:
        writer.write(b"1,a\n")
        writer.flush()
        fifo.wait_books("left", received=1)


def test_a_fifo_ends_with_its_last_writer(fifo):
    first, second = open(fifo.fifo, "wb"), open(fifo.fifo, "wb")
    first.write(b"1,a\n")
    first.close()
    fifo.wait_books("left", received=1)
    second.write(b"2,b")
    second.close()
    fifo.wait_books("left", received=2)
    wait_until(lambda: fifo.connections("left") == 0, 10, "the input's end")
    with pytest.raises(OSError):
        os.open(fifo.fifo, os.O_WRONLY | os.O_NONBLOCK)     # nobody reads it any more


@pytest.mark.parametrize("opened", [False, True], ids=["never", "open"])
def test_a_stop_waits_for_the_writers_of_a_fifo_only_if_it_has_some(fifo, opened):
    writer = open(fifo.fifo, "wb", buffering=0) if opened else None
    started = time.monotonic()
    fifo.signal(signal.SIGTERM)
    if writer:
        fifo.wait_log("stopping")
        writer.write(b"1,after")
        writer.close()
    fifo.wait_exit(expect=0)
    assert time.monotonic() - started < 3 * PATIENCE
    assert (fifo.folder / "out.csv").read_bytes() == (b"1,after,,\n" if opened else b"")
