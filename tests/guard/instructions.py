#!/usr/bin/env python3
"""How many instructions does a record take in each stage (stages.c)? No more than is written down.

    instructions.py --valgrind PROGRAM --stages PROGRAM [--update] NUMBERS

NUMBERS has a line `STAGE INSTRUCTIONS` a stage. A stage that differs by more than 3 %, in either
direction, fails: what became cheaper must not become dearer again unseen. With --update the file
is written anew.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

TOLERANCE = 0.03
# Bytes are copied as every x86-64 can, so that the numbers hold on other machines too.
PLAIN_LIBC = "glibc.cpu.hwcaps=" + ",".join(
    f"-{feature}" for feature in (
        "AVX", "AVX2", "AVX512F", "AVX512VL", "AVX512BW", "BMI2", "ERMS", "FSRM", "RTM", "SSSE3",
        "SSE4_1", "SSE4_2"))
HEAD = """\
# Instructions a record takes, a stage a line (gcc 12, as released). Written by
#     ninja -C BUILD update-instructions
"""


def count(valgrind, stages):
    """Instructions a record of each stage."""
    with tempfile.TemporaryDirectory() as folder:
        argv = [valgrind, "--quiet", "--tool=callgrind", "--instr-atstart=no",
                f"--callgrind-out-file={folder}/out", stages]
        run = subprocess.run(argv, stdout=subprocess.PIPE, text=True, cwd=folder,
                             env={"GLIBC_TUNABLES": PLAIN_LIBC})
        if run.returncode != 0:
            sys.exit(f"{stages} failed under valgrind")
        records = dict(line.split() for line in run.stdout.splitlines())
        counted = {}
        for dump in pathlib.Path(folder).glob("out.*"):
            text = dump.read_text()
            name = re.search(r"^desc: Trigger: Client Request: (\w+)$", text, re.MULTILINE)
            total = re.search(r"^totals: (\d+)", text, re.MULTILINE)
            if name and total:
                counted[name.group(1)] = int(total.group(1)) / int(records[name.group(1)])
    # In the order of the stages.
    return {name: counted[name] for name in records}


def read(path):
    lines = (line.split() for line in path.read_text().splitlines() if not line.startswith("#"))
    return {name: float(number) for name, number in lines}


def write(path, counted):
    rows = [f"{name} {number:.1f}\n" for name, number in counted.items()]
    path.write_text(HEAD + "".join(rows))


def compare(path, counted):
    known = read(path)
    good = True
    print(f"{'stage':14} {'counted':>9} {'known':>9}")
    for name in known | counted:
        now, before = counted.get(name), known.get(name)
        verdict = ""
        if now is None and name == "cut_avx2":
            verdict = "this machine has no AVX2"
        elif now is None or before is None:
            good, verdict = False, "NOT COUNTED" if now is None else "NOT KNOWN"
        elif abs(now / before - 1) > TOLERANCE:
            good, verdict = False, f"{100 * (now / before - 1):+.1f} %"
        texts = ("-" if number is None else f"{number:.1f}" for number in (now, before))
        print(f"{name:14}", *(f"{text:>9}" for text in texts), verdict)
    if not good:
        print(f"\nA record takes other than the known number of instructions ({TOLERANCE:.0%} are "
              "allowed). If that is meant, or\nbetter than before, take the new numbers over and "
              f"commit them with the change:\n\n    ninja -C BUILD update-instructions\n\n{path}")
    return good


def main():
    parser = argparse.ArgumentParser(description="Instructions a record takes.")
    parser.add_argument("--valgrind", required=True)
    parser.add_argument("--stages", required=True)
    parser.add_argument("--update", action="store_true", help="write NUMBERS anew")
    parser.add_argument("numbers", type=pathlib.Path)
    options = parser.parse_args()
    counted = count(options.valgrind, str(pathlib.Path(options.stages).absolute()))
    if options.update:
        write(options.numbers, counted)
        print(options.numbers.read_text(), end="")
        return 0
    return 0 if compare(options.numbers, counted) else 1


if __name__ == "__main__":
    sys.exit(main())
