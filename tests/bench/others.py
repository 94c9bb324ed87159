"""Other programs that join two files: mawk, GNU join, and joind itself where it reads them.

They read files and write one, all on tmpfs, so they are spared what sockets cost.
"""

import os
import shutil
import subprocess

from outputs import check_pairs
from programs import Failure
from rig import Sample

AWK = "NR == FNR { of[$1] = $0; next } $1 in of { print $0 \",\" of[$1] }"

BATCH = """\
[left]
file = {left}
fields = k, t, v
key = k

[right]
file = {right}
fields = k, t, v
key = k

[join]
match = batch

[output]
file = -

[state]
memory = 16G
"""


def run_program(argv, data, output):
    """CPU of its whole life."""
    env = dict(os.environ, LC_ALL="C")
    with open(output, "wb") as out:
        process = subprocess.Popen([str(word) for word in argv], stdin=subprocess.DEVNULL,
                                   stdout=out, stderr=subprocess.DEVNULL, env=env)
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise Failure(f"{argv[0]} ended with {process.returncode}")
    return Sample(cpu_ns=round((used.ru_utime + used.ru_stime) * 1e9), lines=data.lines)


def sort(path):
    """Sorting is not counted."""
    ordered = path.with_name(path.name + "-sorted")
    subprocess.run(["sort", "-t,", "-k1,1", "-o", str(ordered), str(path)], check=True,
                   env=dict(os.environ, LC_ALL="C"))
    return ordered


def contenders(rig, data):
    """A function for each of them: the sample of one run, or, with `check`, is it right?"""
    config = rig.directory / "batch.ini"
    config.write_text(BATCH.format(left=data.left, right=data.right))
    commands = {"joind, files, cold": [rig.options.joind, config]}
    if shutil.which("mawk"):
        commands["mawk"] = ["mawk", "-F,", AWK, data.right, data.left]
    if shutil.which("join"):
        columns = ",".join(f"{side}.{n}" for side in (1, 2) for n in (1, 2, 3))
        commands["join"] = ["join", "-t,", "-o", columns, sort(data.left), sort(data.right)]

    def contender(who, argv):
        def run(check=False):
            kept = rig.directory / "kept"
            sample = run_program(argv, data, kept)
            if check:
                check_pairs(data, kept, who)
            return sample

        return run

    return {who: contender(who, argv) for who, argv in commands.items()}
