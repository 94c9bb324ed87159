"""Joins with the rows that a real Apache Flink gave: each must come out of joind too.

A folder of cases holds one folder a join: join.ini (files in, standard output out) and
expected.csv, the rows sorted bytewise. Half of them are kept in tests/cases. The whole set is
looked for beside the checkout (../shared/cases, or the same beside a folder further up), beside the
one that this was cloned from, or where JOIND_CASES says; where CI is set, it has to be there.
"""

import os
import pathlib
import subprocess

import pytest

from joind import PROJECT, run

MATCHES = ("tumbling", "sliding", "session", "interval", "latest", "lookup", "batch")
KEPT = PROJECT / "tests" / "cases"
IN_CI = os.environ.get("CI", "") not in ("", "0", "false")


def origin():
    """The folder that this checkout was cloned from, if it was one and git is here to tell."""
    try:
        url = subprocess.run(["git", "-C", PROJECT, "config", "--get", "remote.origin.url"],
                             capture_output=True, text=True, check=False).stdout.strip()
    except OSError:
        url = ""
    return pathlib.Path(url.removeprefix("file://") or "/")


def whole_set():
    given = os.environ.get("JOIND_CASES")
    if given:
        return pathlib.Path(given)
    for checkout in (PROJECT, origin()):
        for folder in checkout.parents:
            if (folder / "shared" / "cases").is_dir():
                return folder / "shared" / "cases"
    return None


def cases(folder):
    if folder is None or not folder.is_dir():
        return []
    return sorted(inner for inner in folder.iterdir()
                  if inner.is_dir() and inner.name.split("-")[0] in MATCHES)


def each_of(folder):
    return pytest.mark.parametrize("case", cases(folder), ids=lambda case: case.name)


def output_of(case, *options):
    done = run("-q", "--set", "process.hash_seed=1", *options, case / "join.ini", seconds=60)
    assert done.returncode == 0, done.log
    return done.stdout


def assert_rows_are_flinks(case):
    expected = (case / "expected.csv").read_bytes().splitlines(keepends=True)
    assert sorted(output_of(case).splitlines(keepends=True)) == expected


def test_some_cases_are_kept():
    assert {case.name.split("-")[0] for case in cases(KEPT)} == set(MATCHES)


@each_of(KEPT)
def test_rows_are_flinks(case):
    assert_rows_are_flinks(case)


@each_of(whole_set())
def test_rows_of_the_whole_set_are_flinks(case):
    assert_rows_are_flinks(case)


def test_the_whole_set_is_there():
    if not cases(whole_set()) and not IN_CI:
        pytest.skip("no folder shared/cases beside this checkout (JOIND_CASES can name one)")
    assert len(cases(whole_set())) >= 101


@each_of(KEPT)
def test_a_replay_gives_the_same_bytes_on_every_run(case):
    assert output_of(case) == output_of(case)


@each_of(KEPT)
def test_what_check_prints_gives_the_same_rows(case, tmp_path):
    checked = run("--check", case / "join.ini")
    assert checked.returncode == 0, checked.log
    again = tmp_path / "join.ini"
    again.write_bytes(checked.stdout)
    done = run("-q", "--set", "process.hash_seed=1", again)
    assert done.returncode == 0, done.log
    assert done.stdout == output_of(case)
