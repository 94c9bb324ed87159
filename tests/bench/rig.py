"""The rig of the benchmark: the ways to run a contender.

A run starts one contender, one sink and two senders, and returns what the contender used. It
raises Spoiled when the machine was too slow for the run to mean anything, Failure when
something is wrong.
"""

import dataclasses
import pathlib
import signal
import subprocess
import time

from programs import END_SECONDS, Daemon, Failure, Tool, Tracer, say

ATTEMPTS = 3  # of a run that the machine spoiled

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
# Counted from the epoch: no clock will see its end.
ONE_WINDOW = CONFIG.format(window="36500d")


class Spoiled(Exception):
    """The machine was too slow to keep a block within its window; the run is done again."""


@dataclasses.dataclass
class Data:
    """Two input files: `blocks` blocks of lines of `line_bytes` each (generate.c)."""

    left: pathlib.Path
    right: pathlib.Path
    line_bytes: int
    block_lines: int  # of a side
    blocks: int
    joined_bytes: int = None  # of joind's output, where that is not as large as both inputs

    @property
    def lines(self):
        return 2 * self.block_lines * self.blocks

    @property
    def bytes(self):
        """Of both inputs together; the pump's output has exactly as many."""
        return self.lines * self.line_bytes

    def output_bytes(self, contender):
        return self.joined_bytes if contender == "joind" and self.joined_bytes else self.bytes

    def remove(self):
        self.left.unlink()
        self.right.unlink()


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
        self.generated = 0
        self.spoiled = 0

    def tool(self, name):
        return self.options.tools / name

    def new_files(self):
        self.generated += 1
        return [self.directory / f"{side}-{self.generated}" for side in ("left", "right")]

    def generate(self, line_bytes, block_lines, blocks, options=(), repeats=1):
        files = self.new_files()
        argv = [self.tool("generate"), *options, line_bytes, block_lines // repeats, blocks, *files]
        subprocess.run([str(word) for word in argv], check=True)
        return Data(*files, line_bytes, block_lines, blocks)

    def write_inputs(self, left, right):
        """Of one line each."""
        files = self.new_files()
        for file, line in zip(files, (left, right)):
            file.write_bytes(line)
        return Data(*files, len(left), 1, 1)

    def start(self, contender, config_text):
        if contender == "pump":
            argv = [self.tool("pump")]
        else:
            config = self.directory / "bench.ini"
            config.write_text(config_text)
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

    def start_sink(self, daemon, bytes_to_come, keep=None):
        writing = ["-w", keep] if keep else []
        return self.start_tool("sink", "-n", bytes_to_come, *writing, *daemon.ports["output"])

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
        expected = data.output_bytes(contender)
        if received["bytes"] != expected:
            error = too_few if received["bytes"] < expected else Failure
            raise error(f"{contender} wrote {received['bytes']} bytes instead of {expected}")
        return cpu_ns, received

    def run_bursts(self, contender, data, keep=None, trace=False):
        """One block to a window. Measured from when the first blocks have warmed it up."""
        every, warm = self.options.window_ms, self.options.warm
        daemon = self.start(contender, CONFIG.format(window=f"{every}ms"))
        sink = self.start_sink(daemon, data.bytes, keep)
        # A block begins in the middle of a window; the quiet moment is between the windows'
        # results, which begin with the window's end, and that.
        start = (milliseconds_now() // every + 1) * every + every // 2
        senders = self.start_senders(
            daemon, data, "-w", "-b", data.block_lines * data.line_bytes, "-e", every, "-s", start
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

    def run_stream(self, contender, data, config=ONE_WINDOW, keep=None):
        """All without a pause; what is still held then gives its results with the stop."""
        daemon = self.start(contender, config)
        sink = self.start_sink(daemon, data.output_bytes(contender), keep)
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
        daemon = self.start("joind", CONFIG.format(window=f"{every}ms"))
        sink = self.start_sink(daemon, data.bytes, keep)
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
        turn = daemon.longest_turn_us()
        self.finish("joind", daemon, sink, data, too_few=Spoiled)
        return Sample(
            held_bytes=full.anonymous_bytes - before.anonymous_bytes, turn_cpu_us=turn
        )

    def run_hold_event(self, data, later, config):
        """All without a pause, looked at while it is held; then two lines (`later`) that come,
        by new connections, long after: time lets go of everything at once."""
        daemon = self.start("joind", config)
        sink = self.start_sink(daemon, data.output_bytes("joind"))
        before = daemon.usage()
        for sender in self.start_senders(daemon, data):
            sender.result()
        time.sleep(0.1)
        full = daemon.usage()
        if daemon.status()["state"]["bytes"] < data.bytes:
            raise Failure("joind let go of lines too early")
        for sender in self.start_senders(daemon, later):
            sender.result()
        sink.wait_for_line(END_SECONDS)
        time.sleep(0.2)
        turn = daemon.longest_turn_us()
        self.finish("joind", daemon, sink, data)
        return Sample(
            held_bytes=full.anonymous_bytes - before.anonymous_bytes, turn_cpu_us=turn
        )
