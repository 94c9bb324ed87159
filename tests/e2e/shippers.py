"""Runs what stands in conf/shippers/: log shippers and small clients, with the files as shipped.

A recipe says in a line `Yours to change: 127.0.0.1 8000 ...` what its users have to fit to their
machine. A test puts its own ports and paths there (recipe()), and changes nothing else.

    JOIND_SHIPPERS   the folder of rsyslogd, syslog-ng, ncat and socat, as packaging/shippers prints
                     it (default: build-shippers/bin in the project)

Where it is not set, and they are not there, the tests that need them are skipped.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

import pytest

from joind import PATIENCE, PROJECT, clean_env, wait_until
from tools import Terminal

RECIPES = PROJECT / "conf" / "shippers"
PROGRAMS = pathlib.Path(os.environ.get("JOIND_SHIPPERS", PROJECT / "build-shippers" / "bin"))

YOURS = re.compile(r"^\W*Yours to change: (.+)$", re.MULTILINE)
PORT = re.compile(r"[0-9]{4,5}")


def program(name):
    """The path of a program that packaging/shippers has unpacked, or that is installed anyway."""
    path = PROGRAMS / name
    if path.exists():
        return str(path)
    if "JOIND_SHIPPERS" in os.environ:
        pytest.fail(f"JOIND_SHIPPERS is {PROGRAMS}, and {name} is not there")
    installed = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
    if not installed or name in ("rsyslogd", "syslog-ng"):
        pytest.skip(f"no {name}: packaging/shippers fetches it")
    return installed


def free_port():
    """A port that nobody has now, and that the kernel will not give away soon."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def yours(name):
    """What users of a recipe may change."""
    lines = YOURS.findall((RECIPES / name).read_text())
    assert len(lines) == 1, f"{name} has to say once what its users may change"
    return lines[0].split()


def recipe(name, folder, **changes):
    """A copy of a shipped file with other ports and paths: recipe(..., p8000=port, results=path).

    p8000 stands for port 8000; any other word for the path that ends in it.
    """
    text = (RECIPES / name).read_text()
    may_change = yours(name)
    for word, value in changes.items():
        old = word[1:] if PORT.fullmatch(word[1:]) else next(
            (item for item in may_change if item.startswith("/") and word in item), None)
        assert old in may_change, f"{name} does not say that {word} is to be changed"
        before = r"(?<![\w.])" if PORT.fullmatch(old) else r"(?<![\w./-])"
        text, count = re.subn(rf"{before}{re.escape(old)}(?![\w-])", str(value), text)
        assert count >= 2, f"{name} says that {old} may be changed, and has it nowhere"
        may_change.remove(old)
    left = [item for item in may_change if PORT.fullmatch(item) or item.startswith("/")]
    assert not left, f"{name}: a test has to put its own for {left}"
    copy = pathlib.Path(folder) / name
    copy.write_text(text)
    copy.chmod(0o700)
    return copy


class Logger:
    """The system log's socket, as programs write to it (/dev/log is one)."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.settimeout(60 * PATIENCE)
        self.socket.connect(path)

    def write(self, texts, program="shop"):
        start = f"<14>{time.strftime('%b %e %H:%M:%S')} {program}[811]: "
        for text in texts:
            self.socket.send((start + text).encode())

    def close(self):
        self.socket.close()


class Logging(threading.Thread):
    """Logs texts in the background, a hundred at a time with a pause after them."""

    AT_A_TIME = 100

    def __init__(self, shipper, texts, pause_s=0):
        super().__init__(daemon=True)
        self.shipper, self.texts, self.pause_s = shipper, texts, pause_s
        self.written = 0
        self.enough = len(texts)
        self.start()

    def run(self):
        while self.written < self.enough:
            some = self.texts[self.written:self.written + self.AT_A_TIME]
            self.shipper.log(*some)
            self.written += len(some)
            time.sleep(self.pause_s)

    def hurry(self, enough=None):
        """No more pauses; and the end as soon as so many are written. Returns those written."""
        self.pause_s = 0
        self.enough = enough or self.enough
        self.join()
        return self.texts[:self.written]

    def join(self, seconds=60):
        super().join(seconds * PATIENCE)
        assert self.written >= self.enough, f"{self.shipper.said()}\nstopped reading its log"


class Shipper:
    """A log shipper that runs in the foreground with one recipe."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.socket_path = str(self.folder / "log")
        self.output = self.folder / "output"
        self.process = None
        self.logger = None

    def start(self, command):
        with open(self.output, "ab") as output:
            self.process = subprocess.Popen(command, cwd=self.folder, env=clean_env(),
                                            stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        wait_until(self._takes_messages, 20, f"{command[0]} to take messages", self.said)
        return self

    def _takes_messages(self):
        assert self.process.poll() is None, f"it ended at once: {self.said()}"
        try:
            self.logger = Logger(self.socket_path)
        except OSError:
            return False
        return True

    def said(self):
        return self.output.read_text(errors="backslashreplace")[-4000:]

    def log(self, *texts, program="shop"):
        self.logger.write(texts, program)

    def stop(self, seconds=20):
        if self.logger:
            self.logger.close()
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(seconds * PATIENCE)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(10)


class Shippers:
    """Starts shippers and ends all of them. Their folders have short names, for their sockets."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="joind-"))
        self.running = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for shipper in self.running:
            shipper.stop(2)
        shutil.rmtree(self.folder, ignore_errors=True)

    def make(self):
        folder = self.folder / str(len(self.running))
        folder.mkdir()
        shipper = Shipper(folder)
        self.running.append(shipper)
        return shipper

    def rsyslog(self, name, host="web1", first="", **changes):
        """rsyslogd with one recipe. `first` is what stands before its input."""
        daemon = program("rsyslogd")
        shipper = self.make()
        main = shipper.folder / "rsyslog.conf"
        main.write_text(f"""
            global(workDirectory="{shipper.folder}" localHostname="{host}" maxMessageSize="64k")
            {first}
            module(load="imuxsock" SysSock.Name="{shipper.socket_path}")
            include(file="{recipe(name, shipper.folder, **changes)}")
        """)
        return shipper.start([daemon, "-n", "-iNONE", "-f", main])

    def syslog_ng(self, name, host="store2", **changes):
        """syslog-ng with one recipe."""
        daemon = program("syslog-ng")
        shipper = self.make()
        main = shipper.folder / "syslog-ng.conf"
        main.write_text(f"""@version: 3.38
            options {{ use-dns(no); stats-freq(0); }};
            source s_src {{
                unix-dgram("{shipper.socket_path}" host-override("{host}") log-msg-size(65536));
            }};
            log {{ source(s_src); }};
            @include "{recipe(name, shipper.folder, **changes)}"
        """.replace("\n            ", "\n"))
        return shipper.start([daemon, "--foreground", "--no-caps", "--cfgfile", main,
                              "--persist-file", shipper.folder / "persist",
                              "--control", shipper.folder / "control",
                              "--pidfile", shipper.folder / "pid"])


    def start(self, name, **kw):
        """The shipper that a recipe is for, with it."""
        return (self.syslog_ng if "syslog-ng" in name else self.rsyslog)(name, **kw)


@pytest.fixture
def shippers():
    with Shippers() as started:
        yield started


def client_env():
    """The environment of a recipe that is a shell script: it finds the unpacked programs."""
    return clean_env({"PATH": f"{PROGRAMS}:{os.environ['PATH']}", "TERM": "dumb"})


def client(folder, name, *options, port, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **kw):
    """Starts a recipe that is a script, with another port in place of its own."""
    old = next(item for item in re.split(r"[ :]", " ".join(yours(name))) if PORT.fullmatch(item))
    script = recipe(name, folder, **{f"p{old}": port})
    return subprocess.Popen([script, *options], stdin=stdin, stdout=stdout,
                            stderr=subprocess.STDOUT, env=client_env(), **kw)


def feed(folder, name, data, *options, port, seconds=20):
    """Runs a client with this input to its end; returns its exit status."""
    process = client(folder, name, *options, port=port)
    try:
        said, _ = process.communicate(data, timeout=seconds * PATIENCE)
    finally:
        process.kill()
    assert said == b"" or process.returncode != 0, said
    return process.returncode


def on_terminal(folder, name, port):
    """A client that is a script, on a terminal."""
    return Terminal(lambda inner, owns: client(folder, name, port=port, stdin=inner, stdout=inner,
                                               start_new_session=True, preexec_fn=owns))


# joind beside them.

ENDS = ("left", "right", "output", "late", "rejects", "http")


def shipped(joind, name, port=None, folder=None, passed=None, **sections):
    """Starts a shipped INI with some keys changed. Its ports become free ones; left listens on
    `port`, where given."""
    text = (RECIPES / name).read_text()
    changes = {"rejects": {"listen": "", "file": "rejects.csv"}}
    for end in ENDS:
        section = text.partition(f"\n[{end}]")[2].partition("\n[")[0]
        if "\nlisten = " in section and end != "rejects":
            changes[end] = {"listen": "127.0.0.1:0"}
    if port:
        changes["left"]["listen"] = f"127.0.0.1:{port}"
    for end, keys in sections.items():
        changes.setdefault(end, {}).update(keys)
    args = [word for end, keys in changes.items() for key, value in keys.items()
            for word in ("--set", f"{end}.{key}={value}")]
    more = {"folder": folder} if folder else {}
    return joind(text=text, args=args, passed=passed, **more)


def numbered(count, name="r"):
    return [f"{name}-{number}" for number in range(count)]


def received(path):
    """The objects of the whole lines in a file."""
    data = path.read_bytes() if path.exists() else b""
    return [json.loads(line) for line in data[:data.rfind(b"\n") + 1].splitlines()]


def assert_each_once(found, expected):
    missing = set(expected) - set(found)
    assert not missing, f"{len(missing)} of {len(expected)} lost, such as {sorted(missing)[:3]}"
    assert len(found) == len(expected), f"{len(found) - len(expected)} came twice"
