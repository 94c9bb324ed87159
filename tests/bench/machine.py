"""The machine that the benchmark runs on: a network of its own, and what it is called."""

import contextlib
import ctypes
import fcntl
import os
import pathlib
import platform
import re
import socket
import struct

CONGESTION = "reno"


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
