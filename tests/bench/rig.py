"""The rig of the benchmark: the programs that run, and the ways to run them.

A run starts one contender, one sink and two senders, and returns what the contender used. It
raises Spoiled when the machine was too slow for the run to mean anything, Failure when
something is wrong.
"""

import contextlib
import ctypes
import dataclasses
import fcntl
import json
import os
import pathlib
import platform
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import time
import urllib.request

CONGESTION = "reno"
START_SECONDS = 10  # a contender has this long to open its ports
END_SECONDS = 60  # and this long to end when it is asked to
ATTEMPTS = 3  # of a run that the machine spoiled
ONE_WINDOW = "36500d"  # counted from the epoch: no clock will see its end


class Failure(Exception):
    """A program failed or an output is wrong: the benchmark ends with 1."""


class Spoiled(Exception):
    """The machine was too slow to keep a block within its window; the run is done again."""


@dataclasses.dataclass
class Data:
    """Two input files: `blocks` blocks of `keys` lines of `line_bytes` each (generate.c)."""

    left: pathlib.Path
    right: pathlib.Path
    line_bytes: int
    keys: int
    blocks: int

    @property
    def lines(self):
        return 2 * self.keys * self.blocks

    @property
    def bytes(self):
        """Of both inputs together; the output has exactly as many."""
        return self.lines * self.line_bytes


@dataclasses.dataclass
class Usage:
    """What a process had used at one moment."""

    cpu_ns: int
    faults: int
    anonymous_bytes: int


@dataclasses.dataclass
class Sample:
    """What one run showed. Absent figures are None."""

    cpu_ns: int = None
    wall_ns: int = None
    faults: int = None
    lines: int = None
    mebibytes: float = None  # in and out
    syscalls: int = None
    held_bytes: int = None
    turn_cpu_us: int = None


def say(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


# The machine


def private_network():
    """Moves this process into a network of its own, so that its settings touch nobody else."""
    libc = ctypes.CDLL(None, use_errno=True)
    new_user, new_net = 0x10000000, 0x40000000
    user, group = os.geteuid(), os.getegid()
    if libc.unshare(new_net) != 0:
        if libc.unshare(new_net | new_user) != 0:
            return False
        pathlib.Path("/proc/self/setgroups").write_text("deny")
        pathlib.Path("/proc/self/uid_map").write_text(f"0 {user} 1")
        pathlib.Path("/proc/self/gid_map").write_text(f"0 {group} 1")
    set_flags, up_and_running = 0x8914, 0x41
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, set_flags, struct.pack("16sh22x", b"lo", up_and_running))
    return True


def settle_congestion():
    """Takes CONGESTION for all sockets where that needs no change to the machine.

    Returns what is in force, which is the same for all contenders either way."""
    setting = pathlib.Path("/proc/sys/net/ipv4/tcp_congestion_control")
    with contextlib.suppress(OSError):
        if private_network():
            setting.write_text(CONGESTION)
    with contextlib.suppress(OSError):
        return setting.read_text().strip()
    return "unknown"


def describe_machine(congestion, directory):
    model = "unknown"
    with contextlib.suppress(OSError):
        found = re.search(r"model name\s*:\s*(.*)", pathlib.Path("/proc/cpuinfo").read_text())
        model = found.group(1) if found else model
    return {
        "cpu": model,
        "cores": len(os.sched_getaffinity(0)),
        "kernel": platform.release(),
        "congestion": congestion,
        "data": str(directory),
    }


# Processes


class Daemon:
    """A contender while it runs."""

    def __init__(self, argv, log):
        self.log = log
        env = {k: v for k, v in os.environ.items() if k not in ("JOURNAL_STREAM", "NOTIFY_SOCKET")}
        with open(log, "wb") as out:
            self.process = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=out, env=env
            )
        self.ports = self._wait_until_ready()

    def _wait_until_ready(self):
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and self.process.poll() is None:
            ready = re.search(r"ready: (.*)\n", self.log.read_text())
            if ready:
                pairs = (word.split("=", 1) for word in ready.group(1).split())
                return {name: address.rsplit(":", 1) for name, address in pairs}
            time.sleep(0.01)
        self.process.kill()
        self.process.wait()
        raise Failure(f"{self.process.args[0]} did not become ready")

    def usage(self):
        pid = self.process.pid
        cpu_clock = (~pid << 3) | 2  # clock_getcpuclockid(3): all threads, in nanoseconds
        proc = pathlib.Path(f"/proc/{pid}")
        after_name = (proc / "stat").read_text().rpartition(")")[2].split()
        anonymous = re.search(r"RssAnon:\s+(\d+) kB", (proc / "status").read_text())
        return Usage(
            cpu_ns=time.clock_gettime_ns(cpu_clock),
            faults=int(after_name[7]),
            anonymous_bytes=int(anonymous.group(1)) * 1024 if anonymous else 0,
        )

    def status(self):
        url = "http://{}:{}/status".format(*self.ports["http"])
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                return json.load(answer)
        except (OSError, ValueError) as reason:
            raise Failure(f"{url}: {reason}") from None

    def end(self):
        """Waits for its end and returns the CPU of its whole life, in nanoseconds."""
        deadline = time.monotonic() + END_SECONDS
        while time.monotonic() < deadline:
            pid, status, used = os.wait4(self.process.pid, os.WNOHANG)
            if pid == 0:
                time.sleep(0.001)
                continue
            self.process.returncode = os.waitstatus_to_exitcode(status)
            if self.process.returncode != 0:
                raise Failure(f"{self.process.args[0]} ended with {self.process.returncode}")
            return round((used.ru_utime + used.ru_stime) * 1e9)
        raise Failure(f"{self.process.args[0]} did not end")


class Tool:
    """A sender or a sink: says `name=number` words at its end."""

    def __init__(self, *argv):
        self.said = ""
        self.process = subprocess.Popen(
            [str(word) for word in argv], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def wait_for_line(self, seconds):
        """Until it says something, but no longer than that."""
        readable, _, _ = select.select([self.process.stdout], [], [], max(seconds, 0))
        if readable:
            self.said += self.process.stdout.readline()

    def result(self):
        """Lets go of its standard input, waits for its end and returns what it said."""
        try:
            out, _ = self.process.communicate(timeout=END_SECONDS)
        except subprocess.TimeoutExpired:
            raise Failure(f"{self.process.args[0]} did not end") from None
        if self.process.returncode != 0:
            raise Failure(f"{self.process.args[0]} ended with {self.process.returncode}")
        return {k: int(v) for k, v in re.findall(r"(\w+)=(\d+)", self.said + out)}


class Tracer:
    """Counts the system calls of a daemon from now on until count() is called."""

    def __init__(self, daemon, report):
        self.report = report
        self.process = subprocess.Popen(
            ["strace", "-f", "-c", "-p", str(daemon.process.pid), "-o", str(report)],
            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )
        self.attached = "attached" in self.process.stderr.readline()

    def count(self):
        """Nothing where the machine does not let one process trace another."""
        self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=END_SECONDS)
        if not self.attached:
            return None
        _, _, _, calls, *_ = self.report.read_text().splitlines()[-1].split()
        return int(calls)


def milliseconds_now():
    return time.time_ns() // 1_000_000


def sleep_until(ms):
    time.sleep(max(ms - milliseconds_now(), 0) / 1000)


# Runs


class Rig:
    """The contenders, the tools, and the shapes of a run."""

    def __init__(self, options, directory):
        self.options = options
        self.directory = directory
        self.log = directory / "log"
        self.running = []
        self.spoiled = 0

    def tool(self, name):
        return self.options.tools / name

    def generate(self, line_bytes, keys, blocks):
        files = [self.directory / f"{side}-{line_bytes}-{keys}" for side in ("left", "right")]
        subprocess.run(
            [self.tool("generate"), str(line_bytes), str(keys), str(blocks), *files], check=True
        )
        return Data(*files, line_bytes, keys, blocks)

    def start(self, contender, window):
        if contender == "pump":
            argv = [self.tool("pump")]
        else:
            config = self.directory / "bench.ini"
            config.write_text(CONFIG.format(window=window))
            argv = [self.options.joind, config]
            for override in self.options.set:
                argv += ["--set", override]
        daemon = Daemon([str(word) for word in argv], self.log)
        self.running.append(daemon.process)
        return daemon

    def start_tool(self, name, *argv):
        tool = Tool(self.tool(name), *argv)
        self.running.append(tool.process)
        return tool

    def start_sink(self, daemon, data, keep):
        writing = ["-w", keep] if keep else []
        return self.start_tool("sink", "-n", data.bytes, *writing, *daemon.ports["output"])

    def start_senders(self, daemon, data, *argv):
        return [
            self.start_tool("sender", *argv, *daemon.ports["left"], data.left),
            self.start_tool("sender", *argv, *daemon.ports["right"], data.right),
        ]

    def clean_up(self):
        """Whatever a run that failed has left behind."""
        for process in self.running:
            if process.returncode is None:
                process.kill()
                process.wait()
        self.running.clear()

    def attempt(self, run, *argv, **named):
        """A run that a slow moment of the machine spoiled is done again, a wrong one is not."""
        for tries_left in reversed(range(ATTEMPTS)):
            try:
                return run(*argv, **named)
            except Spoiled as reason:
                self.spoiled += 1
                if tries_left == 0:
                    raise Failure(str(reason)) from None
                say(f"once more: {reason}")
            except Failure as reason:
                last_words = self.log.read_text().splitlines()[-3:] if self.log.exists() else []
                raise Failure("; ".join([str(reason), *last_words])) from None
            finally:
                self.clean_up()

    def finish(self, contender, daemon, sink, data, too_few=Failure):
        """All inputs have ended: lets the contender end too and looks at what came out.

        Too few bytes may mean that the clock parted a block: the caller says what to raise."""
        if contender == "joind":
            daemon.process.send_signal(signal.SIGTERM)
        cpu_ns = daemon.end()
        received = sink.result()
        if received["bytes"] != data.bytes:
            error = too_few if received["bytes"] < data.bytes else Failure
            raise error(f"{contender} wrote {received['bytes']} bytes instead of {data.bytes}")
        return cpu_ns, received

    def run_bursts(self, contender, data, keep=None, trace=False):
        """One block to a window. Measured from when the first blocks have warmed it up."""
        every, warm = self.options.window_ms, self.options.warm
        daemon = self.start(contender, f"{every}ms")
        sink = self.start_sink(daemon, data, keep)
        # A block begins in the middle of a window; the quiet moment is between the windows'
        # results, which begin with the window's end, and that.
        start = (milliseconds_now() // every + 1) * every + every // 2
        senders = self.start_senders(
            daemon, data, "-w", "-b", data.keys * data.line_bytes, "-e", every, "-s", start
        )
        sleep_until(start + warm * every - every // 4)
        before = daemon.usage()
        tracer = Tracer(daemon, self.directory / "calls") if trace else None
        end = start + (data.blocks + 1) * every
        sink.wait_for_line((end - milliseconds_now()) / 1000 + 1)
        time.sleep(0.05)
        syscalls = tracer.count() if tracer else None
        after = daemon.usage()
        late_us = max(sender.result()["late_us"] for sender in senders)
        self.finish(contender, daemon, sink, data, too_few=Spoiled)
        if late_us > every * 500:
            raise Spoiled(f"a block took {late_us} us to send")
        measured = (data.blocks - warm) / data.blocks
        return Sample(
            cpu_ns=after.cpu_ns - before.cpu_ns,
            faults=after.faults - before.faults,
            lines=round(data.lines * measured),
            mebibytes=2 * data.bytes * measured / 2**20,
            syscalls=syscalls,
        )

    def run_stream(self, contender, data):
        """All at once into one window, whose results come with the stop."""
        daemon = self.start(contender, ONE_WINDOW)
        sink = self.start_sink(daemon, data, None)
        before = daemon.usage()
        senders = self.start_senders(daemon, data, "-s", milliseconds_now() + 100)
        start_ns = min(sender.result()["start_ns"] for sender in senders)
        cpu_ns, received = self.finish(contender, daemon, sink, data)
        return Sample(
            cpu_ns=cpu_ns - before.cpu_ns,
            wall_ns=received["last_ns"] - start_ns,
            lines=data.lines,
        )

    def run_hold(self, data, keep=None):
        """All at once into one window that is looked at when it is full, and again when empty."""
        every = self.options.hold_ms
        daemon = self.start("joind", f"{every}ms")
        sink = self.start_sink(daemon, data, keep)
        start = (milliseconds_now() // every + 1) * every + every // 20
        sleep_until(start - every // 40)
        before = daemon.usage()
        for sender in self.start_senders(daemon, data, "-s", start):
            sender.result()
        time.sleep(0.1)
        full = daemon.usage()
        fires = (start // every + 1) * every
        if milliseconds_now() >= fires:
            raise Spoiled("the window ended before it was full")
        sink.wait_for_line((fires - milliseconds_now()) / 1000 + END_SECONDS)
        time.sleep(0.05)
        turn = daemon.status().get("loop", {}).get("turn_cpu_max_us")
        self.finish("joind", daemon, sink, data, too_few=Spoiled)
        return Sample(
            held_bytes=full.anonymous_bytes - before.anonymous_bytes, turn_cpu_us=turn
        )


CONFIG = """\
[left]
listen = 127.0.0.1:0
fields = k, v
key = k

[right]
listen = 127.0.0.1:0
fields = k, v
key = k

[join]
type = inner
match = tumbling
time = processing
size = {window}

[output]
listen = 127.0.0.1:0

[http]
listen = 127.0.0.1:0
"""
