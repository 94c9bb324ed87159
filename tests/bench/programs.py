"""The programs that a run starts: a contender, senders, a sink, strace."""

import dataclasses
import json
import os
import pathlib
import re
import select
import signal
import subprocess
import sys
import time
import urllib.request

START_SECONDS = 10  # a contender has this long to open its ports
END_SECONDS = 60  # and this long to end when it is asked to
QUIET_SECONDS = 0.2
# They change what it says, or (meson sets the last one for tests) how much memory it touches.
NOT_FOR_DAEMONS = ("JOURNAL_STREAM", "NOTIFY_SOCKET", "MALLOC_PERTURB_")
QUIET_CPU_NS = 5_000_000  # what timers take in that time is less


class Failure(Exception):
    """A program failed or an output is wrong: the benchmark ends with 1."""


@dataclasses.dataclass
class Usage:
    """What a process had used at one moment."""

    cpu_ns: int
    faults: int
    anonymous_bytes: int


def say(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


class Daemon:
    """A contender while it runs."""

    def __init__(self, argv, log):
        self.log = log
        env = {k: v for k, v in os.environ.items() if k not in NOT_FOR_DAEMONS}
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

    def stop(self):
        """It may have ended by itself; it is still there until end()."""
        os.kill(self.process.pid, signal.SIGTERM)

    def wait_until_quiet(self):
        """Until it has used no CPU for a while: where no output tells that it is through."""
        deadline = time.monotonic() + END_SECONDS
        before = None
        while before != (now := self.usage().cpu_ns // QUIET_CPU_NS):
            if time.monotonic() > deadline:
                raise Failure(f"{self.process.args[0]} does not come to rest")
            before = now
            time.sleep(QUIET_SECONDS)

    def longest_turn_us(self):
        return self.status().get("loop", {}).get("turn_cpu_max_us")

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
    """A sender, a sink, or both: says `name=number` words at its end."""

    def __init__(self, *argv):
        self.said = ""
        self.process = subprocess.Popen(
            [str(word) for word in argv], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def go_on(self):
        """Ends its pause (sender -p)."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def stand_still(self, seconds):
        self.process.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        self.process.send_signal(signal.SIGCONT)

    def wait_for_line(self, seconds=END_SECONDS):
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
