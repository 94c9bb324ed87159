"""What several test files need beside the daemon: terminals, libraries to be preloaded, a clock."""

import fcntl
import os
import pathlib
import re
import struct
import subprocess
import termios

from joind import SANITIZED, readable, run, wait_until


def catches(pid, number):
    """Does the process have a handler for this signal by now? Before, TERM just ends it. proc(5)."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"^SigCgt:\s*(\w+)", status, re.M)[1], 16) >> (number - 1) & 1


class Terminal:
    """A terminal with a program on it, as a person sits before it.

    `start` gets the terminal's inner end and what has to be called in the new process, in a
    session of its own, and returns the process."""

    def __init__(self, start):
        self.terminal, inner = os.openpty()
        self.process = start(inner, lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(inner)
        self.screen = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait(10)
        os.close(self.terminal)

    def wait_screen(self, text):
        def shown():
            if readable(self.terminal):
                self.screen += os.read(self.terminal, 4096)
            return text in self.screen
        wait_until(shown, 10, f"a screen with {text!r}", lambda: self.screen)

    def type(self, data):
        os.write(self.terminal, data)


def build_library(folder, name):
    """The library of NAME.c, for preloading()."""
    path = folder / f"{name}.so"
    source = pathlib.Path(__file__).with_name(f"{name}.c")
    subprocess.run([os.environ.get("CC", "cc"), "-O1", "-shared", "-fPIC", "-Wall", "-Wextra",
                    "-Werror", "-o", path, source, "-ldl"], check=True)
    return path


def preloading(library):
    """The environment of a daemon that takes this library's functions for the C library's."""
    env = {"LD_PRELOAD": str(library)}
    if SANITIZED:
        env["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
    return env


DAY = 86400
WINDOW = "100d"         # its end is where a test puts it: Clock.end_window()


class Clock:
    """The wall clock of a daemon that is started with its env: the real one, but it can be stepped.

    A test that needs several things in one window makes it a WINDOW: however slow the machine is,
    it ends when the test says so."""

    def __init__(self, file, library):
        self.file = file
        self.env = {"CLOCKSTEP_FILE": str(file), **preloading(library)}
        self._offset_s = 0
        file.write_bytes(bytes(8))

    def step_to(self, offset_s):
        self._offset_s = offset_s
        with open(self.file, "r+b") as stream:
            stream.write(struct.pack("q", round(offset_s * 1e9)))

    def step_by(self, seconds):
        self.step_to(self._offset_s + seconds)

    def end_window(self):
        self.step_by(100 * DAY)


def assert_check_says_what_reads_the_same(ini, folder):
    first = run("--check", ini)
    assert first.returncode == 0, first.log
    printed = folder / "printed.ini"
    printed.write_bytes(first.stdout)
    second = run("--check", printed)
    assert second.returncode == 0, second.log
    assert second.stdout == first.stdout
