"""The rig of the benchmark: the ways to run a contender.

A run starts one contender, one sink and two senders, and returns what the contender used. It
raises Spoiled when the machine was too slow for the run to mean anything, Failure when
something is wrong.
"""

import contextlib
import dataclasses
import pathlib
import socket
import subprocess
import time

from programs import END_SECONDS, Daemon, Failure, Tool, Tracer, say

ATTEMPTS = 8  # of a run that the machine spoiled

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
    results: int = None  # of joind
    warm: int = 0  # of the blocks: they come before what is measured

    @property
    def lines(self):
        return 2 * self.block_lines * self.blocks

    @property
    def measured(self):
        """What part of it is: in blocks, and so in lines and bytes."""
        return (self.blocks - self.warm) / self.blocks

    @property
    def bytes(self):
        """Of all blocks of both inputs."""
        return self.lines * self.line_bytes

    def output_bytes(self, contender):
        """The pump copies all there is, also lines that are behind the last block."""
        if contender == "joind":
            return self.bytes if self.joined_bytes is None else self.joined_bytes
        return self.left.stat().st_size + self.right.stat().st_size

    def warm_output_bytes(self, contender):
        all_bytes = self.output_bytes(contender) if contender == "joind" else self.bytes
        return all_bytes * self.warm // self.blocks

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
    load_ns: int = None  # CPU until it was ready
    p50_ns: int = None
    p99_ns: int = None


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

    def inside(self, data, event=False):
        """Nanoseconds a line in each stage of the pure layers (inside.c)."""
        return self.run_inside([*(["-e"] if event else []), data.left, data.right, data.blocks])

    def inside_shape(self, shape, keys, blocks):
        """The same of lines that inside.c makes."""
        return self.run_inside(["-s", shape, keys, blocks])

    def run_inside(self, arguments):
        argv = [self.tool("inside"), *arguments]
        told = subprocess.run([str(word) for word in argv], check=True, capture_output=True,
                              text=True).stdout
        return {name: float(ns) for name, ns in (word.split("=") for word in told.split())}

    def new_files(self):
        self.generated += 1
        return [self.directory / f"{side}-{self.generated}" for side in ("left", "right")]

    def generate(self, line_bytes, block_lines, blocks, options=(), repeats=1, warm=0):
        files = self.new_files()
        argv = [self.tool("generate"), *options, line_bytes, block_lines // repeats, blocks, *files]
        subprocess.run([str(word) for word in argv], check=True)
        return Data(*files, line_bytes, block_lines, blocks, warm=warm)

    def write_inputs(self, left, right):
        """Of one line each."""
        files = self.new_files()
        for file, line in zip(files, (left, right)):
            file.write_bytes(line)
        return Data(*files, len(left), 1, 1)

    def start(self, contender, config_text, threads=None):
        """`threads` of joind's; None: as --set says, or else as it takes by itself."""
        if contender == "pump":
            argv = [self.tool("pump")]
        else:
            config = self.directory / "bench.ini"
            config.write_text(config_text)
            argv = [self.options.joind, config]
            threads_set = [f"process.threads={threads}"] if threads else []
            for override in [*self.options.set, *threads_set]:
                argv += ["--set", override]
        daemon = Daemon([str(word) for word in argv], self.log)
        self.running.append(daemon.process)
        return daemon

    def takes(self, override, config_text):
        """Does joind know this in this version?"""
        config = self.directory / "check.ini"
        config.write_text(config_text)
        argv = [str(self.options.joind), "--check", "--set", override, str(config)]
        return subprocess.run(argv, capture_output=True).returncode == 0

    def last_block(self, data):
        """The two files of it alone."""
        files = self.new_files()
        begin = data.block_lines * data.line_bytes * (data.blocks - 1)
        for whole, part in zip((data.left, data.right), files):
            with open(whole, "rb") as file:
                file.seek(begin)
                part.write_bytes(file.read(data.block_lines * data.line_bytes))
        return Data(*files, data.line_bytes, data.block_lines, 1)

    def start_tool(self, name, *argv):
        tool = Tool(self.tool(name), *argv)
        self.running.append(tool.process)
        return tool

    def start_sink(self, daemon, *bytes_to_come, keep=None):
        """It says so when they have come. (Of none, nothing.)"""
        writing = ["-w", keep] if keep else []
        marks = [word for count in bytes_to_come if count for word in ("-n", count)]
        return self.start_tool("sink", *marks, *writing, *daemon.ports["output"])

    def start_sender(self, daemon, side, file, *argv):
        return self.start_tool("sender", *argv, *daemon.ports[side], file)

    def start_senders(self, daemon, data, *argv):
        return [
            self.start_sender(daemon, "left", data.left, *argv),
            self.start_sender(daemon, "right", data.right, *argv),
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

    def finish(self, contender, daemon, sink, data, too_few=Failure, stop=True):
        """All inputs have ended: lets the contender end too and looks at what came out.

        `stop`: it does not end by itself. Too few bytes may mean that the clock parted a block:
        the caller says what to raise."""
        if contender == "joind" and stop:
            daemon.stop()
        cpu_ns = daemon.end()
        received = sink.result()
        expected = data.output_bytes(contender)
        if received["bytes"] != expected:
            error = too_few if received["bytes"] < expected else Failure
            raise error(f"{contender} wrote {received['bytes']} bytes instead of {expected}")
        return cpu_ns, received

    def run_bursts(self, contender, data, threads=None, keep=None, trace=False):
        """One block to a window. Measured from when the first blocks have warmed it up."""
        every, warm = self.options.window_ms, self.options.warm
        daemon = self.start(contender, CONFIG.format(window=f"{every}ms"), threads)
        sink = self.start_sink(daemon, data.bytes, keep=keep)
        # A block begins in the middle of a window; the quiet moment is between the windows'
        # results, which begin with the window's end, and that.
        start = (milliseconds_now() // every + 1) * every + every // 2
        senders = self.start_senders(
            daemon, data, "-w", "-b", data.block_lines * data.line_bytes, "-e", every, "-s", start
        )
        # The reader is behind once: what is kept for it has its memory before that counts.
        sleep_until(start + every // 2)
        sink.stand_still(every / 8000)
        sleep_until(start + warm * every - every // 4)
        before = daemon.usage()
        tracer = Tracer(daemon, self.directory / "calls") if trace else None
        end = start + (data.blocks + 1) * every
        sink.wait_for_line((end - milliseconds_now()) / 1000 + 1)
        time.sleep(0.05)
        syscalls = tracer.count() if tracer else None
        after = daemon.usage()
        late_us = max(sender.result()["late_us"] for sender in senders)
        if late_us > every * 500:
            raise Spoiled(f"a block took {late_us} us to send")
        self.finish(contender, daemon, sink, data, too_few=Spoiled)
        measured = (data.blocks - warm) / data.blocks
        return Sample(
            cpu_ns=after.cpu_ns - before.cpu_ns,
            faults=after.faults - before.faults,
            lines=round(data.lines * measured),
            mebibytes=2 * data.bytes * measured / 2**20,
            syscalls=syscalls,
        )

    def run_stream(self, contender, data, config=ONE_WINDOW, threads=None, right="both",
                   keep=None):
        """All without a pause; what is still held then gives its results with the stop.

        `right`: both sides together, or "first" the right one, or it comes as a "table"."""
        ends_by_itself = "match = batch" in config
        right = right if contender == "joind" else "both"
        daemon = self.start(contender, config.replace("TABLE", str(data.right)), threads)
        sink = self.start_sink(daemon, keep=keep)
        before = daemon.usage()
        if right == "first":
            self.start_sender(daemon, "right", data.right).result()
        soon = ("-s", milliseconds_now() + 100)
        senders = [self.start_sender(daemon, "left", data.left, *soon)]
        if right == "both":
            senders.append(self.start_sender(daemon, "right", data.right, *soon))
        for sender in senders:
            sender.result()
        cpu_ns, _ = self.finish(contender, daemon, sink, data, stop=not ends_by_itself)
        return Sample(
            cpu_ns=cpu_ns - before.cpu_ns,
            lines=data.lines // 2 if right == "table" else data.lines,
            load_ns=before.cpu_ns,
        )

    def run_warm(self, contender, data, config, threads=None, trace=False, steps=False):
        """Event time, as fast as it goes, with one pause: when the warm blocks are through. The
        rest is measured. (The line behind the last block lets go of that one: generate -x.)
        With `steps` no side gets ahead of the other: each waits for each block to be through."""
        pause = (data.warm * data.block_lines + 1) * data.line_bytes
        all_bytes, warm_bytes = data.output_bytes(contender), data.warm_output_bytes(contender)
        results = all_bytes != 0
        daemon = self.start(contender, config, threads)
        each = (all_bytes - warm_bytes) // (data.blocks - data.warm)
        middle = range(warm_bytes + each, all_bytes, each) if steps else ()
        sink = self.start_sink(daemon, warm_bytes, *middle, all_bytes)
        block = ("-b", data.block_lines * data.line_bytes) if steps else ()
        senders = self.start_senders(daemon, data, "-w", "-p", pause, *block)
        before = self.wait_for_part(daemon, senders, sink, results)
        tracer = Tracer(daemon, self.directory / "calls") if trace else None
        for _ in middle:
            self.go_on(senders)
            self.wait_for_part(daemon, senders, sink, results)
        self.go_on(senders)
        after = self.wait_for_part(daemon, senders, sink, results)
        syscalls = tracer.count() if tracer else None
        start_ns = min(sender.result()["start_ns"] for sender in senders)
        _, received = self.finish(contender, daemon, sink, data)
        return Sample(
            cpu_ns=after.cpu_ns - before.cpu_ns,
            wall_ns=received["last_ns"] - start_ns,
            faults=after.faults - before.faults,
            lines=round(data.lines * data.measured),
            mebibytes=(data.bytes + all_bytes) * data.measured / 2**20,
            syscalls=syscalls,
        )

    def go_on(self, senders):
        for sender in senders:
            sender.go_on()

    def wait_for_part(self, daemon, senders, sink, results):
        """All that was sent so far is through; what has been used by then."""
        for sender in senders:
            sender.wait_for_line()
        if results:
            sink.wait_for_line()
            time.sleep(0.05)
        else:
            daemon.wait_until_quiet()
        return daemon.usage()

    def run_latency(self, contender, config, rate, seconds):
        """The pump may part a line when it cannot keep up; that is the machine then."""
        daemon = self.start(contender, config)
        ports = [*daemon.ports["left"], *daemon.ports["right"], *daemon.ports["output"]]
        try:
            said = self.start_tool("latency", "-r", rate, "-s", seconds, *ports).result()
        except Failure as reason:
            raise (Spoiled if contender == "pump" else Failure)(str(reason)) from None
        daemon.stop()
        if contender == "joind":
            daemon.end()
        return Sample(p50_ns=said["p50_ns"], p99_ns=said["p99_ns"], lines=said["answers"])

    def run_idle(self, config, connections):
        """Memory of a daemon that has so many senders who send nothing."""
        daemon = self.start("joind", config)
        address, port = daemon.ports["left"]
        with contextlib.ExitStack() as stack:
            for _ in range(connections):
                stack.enter_context(socket.create_connection((address, int(port))))
            daemon.wait_until_quiet()
            used = daemon.usage()
        daemon.stop()
        daemon.end()
        return Sample(held_bytes=used.anonymous_bytes)

    def run_hold(self, data, keep=None):
        """All at once into one window that is looked at when it is full, and again when empty."""
        every = self.options.hold_ms
        daemon = self.start("joind", CONFIG.format(window=f"{every}ms"))
        sink = self.start_sink(daemon, data.bytes, keep=keep)
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
        if data.output_bytes("joind"):
            sink.wait_for_line()
        daemon.wait_until_quiet()
        turn = daemon.longest_turn_us()
        self.finish("joind", daemon, sink, data)
        return Sample(
            held_bytes=full.anonymous_bytes - before.anonymous_bytes, turn_cpu_us=turn
        )
