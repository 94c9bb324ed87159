"""The manual pages say what the program does: all of it, and nothing else.

joind.ini(5) is made while joind is built and lies beside the daemon; joind(8) is written by hand.
What there is to document is asked of the daemon: its messages name all keys, words, types and
functions that it knows.
"""

import configparser
import os
import re
import shlex
import shutil
import subprocess

import pytest

from joind import BINARY, PROJECT, config, run

MAN = PROJECT / "packaging" / "man"
INI_PAGE = BINARY.parent / "packaging" / "man" / "joind.ini.5"
DAEMON_PAGE = MAN / "joind.8"
each_page = pytest.mark.parametrize("page", [INI_PAGE, DAEMON_PAGE], ids=lambda page: page.name)

ESCAPES = {r"\-": "-", r"\(aq": "'", r"\(dq": '"', r"\(oq": "‘", r"\(cq": "’", r"\(ha": "^",
           r"\(ti": "~", r"\(ss": "ß", r"\e": "\\", r"\&": ""}


def formatted(page, *options):
    """What man makes of it, and what it complains about."""
    env = {**os.environ, "LC_ALL": "C.UTF-8", "MANWIDTH": "80", "MANPAGER": "cat"}
    env.pop("MAN_KEEP_FORMATTING", None)
    done = subprocess.run(["man", "-E", "UTF-8", *options, "-l", page], capture_output=True,
                          env=env, timeout=60)
    assert done.returncode == 0, done.stderr.decode()
    return re.sub("\x1b\\[[0-9;]*m|.\x08", "", done.stdout.decode()), done.stderr.decode()


def plain(text):
    """Text of the source as a reader sees it."""
    return re.sub(r"\\(?:\(..|.)", lambda found: ESCAPES[found[0]], text)


def chapter(page, title):
    """The source of one chapter (.Sh)."""
    found = re.search(rf"^\.Sh {title}\n(.*?)(?=^\.Sh |\Z)", page.read_text(), re.M | re.S)
    assert found, f"{page.name} has no {title}"
    return found[1]


def literal_blocks(text):
    found = re.findall(r"^\.Bd -literal\n(.*?)^\.Ed", text, re.M | re.S)
    return [plain(block) for block in found]


def names(listed):
    return re.split(r", | or ", listed)


def message(*sets, pattern):
    """What the daemon says about an override that is wrong."""
    done = run("--check", *sum((["--set", one] for one in sets), []), "t.ini", cwd=message.folder)
    assert done.returncode == 78, done.log
    found = re.search(pattern, done.log)
    assert found, f"nothing like {pattern!r} in:\n{done.log}"
    return found[1]


@pytest.fixture(autouse=True)
def folder(tmp_path):
    (tmp_path / "t.ini").write_text(config())
    message.folder = tmp_path
    return tmp_path


class Entry:
    """What joind.ini(5) says about a key."""

    def __init__(self, name, group, text):
        self.name, self.text = name, plain(" ".join(text.split()))
        only = re.search(r"In (\[\w+\](?:(?:, | and )\[\w+\])*) only\.", self.text)
        self.sections = re.findall(r"\[(\w+)\]", only[1] if only else group)


def entries():
    keys = chapter(INI_PAGE, "KEYS")
    for group, body in re.findall(r"^\.Ss (\[[^\n]*)\n(.*?)(?=^\.Ss |\Z)", keys, re.M | re.S):
        for name, text in re.findall(r"^\.It Ic (\w+) No = [^\n]*\n(.*?)(?=^\.It |^\.El)", body,
                                     re.M | re.S):
            yield Entry(name, group, text)


# Form.

@each_page
def test_a_page_is_clean(page):
    _, warnings = formatted(page, "--warnings", "-Tutf8", "-Z")
    assert warnings == ""


@each_page
def test_a_page_is_clean_for_mandoc_too(page):
    if shutil.which("mandoc") is None:
        pytest.skip("mandoc is not installed")
    done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", page], capture_output=True,
                          text=True, timeout=60)
    complaints = [line for line in done.stdout.splitlines() if ": WARNING: " in line or
                  ": ERROR: " in line]
    assert complaints == []


@each_page
def test_a_page_fits_80_columns_and_breaks_no_word(page):
    text, _ = formatted(page)
    assert len(text.splitlines()) > 200, "the page is not there"
    assert [line for line in text.splitlines() if len(line) > 80] == []
    assert [line for line in text.splitlines() if line.endswith("\u2010")] == []


# Keys, words, expressions.

def test_every_key_is_there_and_no_other():
    sections = names(message("zzzzzz.a=1", pattern=r"\(sections: (.*)\)"))
    documented = {section: [] for section in sections}
    for entry in entries():
        for section in entry.sections:
            documented[section].append(entry.name)
    for section in sections:
        known = names(message(f"{section}.qqqqqqqqqqqq=1", pattern=r"\(keys: (.*)\)"))
        assert sorted(documented[section]) == sorted(known), section


# What uses those keys that the base configuration does not.
LISTENING = ["rejects.file=", "rejects.listen=127.0.0.1:0"]
LOOKUP = ["join.match=lookup", "join.size=", "right.listen=", "right.file=r.csv"]


def test_every_word_of_a_key_is_there_and_no_other():
    checked = 0
    for entry in entries():
        listed = re.search(r"One of (.*?)\.", entry.text)
        if not listed:
            continue
        section = entry.sections[-1]
        use = LISTENING + (LOOKUP if "match = lookup." in entry.text else [])
        known = message(*use, f"{section}.{entry.name}=zzzzzzzz",
                        pattern=rf"{section}\.{entry.name}: .*\(write (.*?)\)")
        assert names(listed[1]) == names(known), entry.name
        checked += 1
    assert checked >= 10


EVENT = {"left": {"listen": "127.0.0.1:0", "timestamp": "t", "fields": "k, t timestamp"},
         "right": {"listen": "127.0.0.1:0", "timestamp": "t", "fields": "k, t timestamp"},
         "late": {"listen": "127.0.0.1:0"}}


@pytest.mark.parametrize("changes", [
    {},
    {"rejects": {"listen": "127.0.0.1:0", "file": None}},
    {**EVENT, "join": {"time": "event", "size": "5s"}},
    {**EVENT, "join": {"time": "event", "match": "sliding", "size": "5s", "slide": "1s"}},
    {"join": {"match": "latest", "size": None}},
    {"join": {"match": "lookup", "size": None}, "right": {"file": "r.csv"}},
    {"left": {"listen": "unix:l"}, "output": {"connect": "127.0.0.1:1", "listen": None}},
])
def test_a_default_is_what_holds_without_the_key(folder, changes):
    text = config(**changes)
    (folder / "t.ini").write_text(text)
    given = configparser.ConfigParser(interpolation=None, delimiters=["="])
    given.read_string(text)
    before = run("--check", "t.ini", cwd=folder)
    assert before.returncode == 0, before.log
    checked = 0
    for entry in entries():
        default = re.search(r"Default: (\S+?)(?:\.| in |, )", entry.text)
        for section in entry.sections:
            if (not default or section not in given or entry.name in given[section] or
                    default[1] == "nothing" or "Not in this version." in entry.text):
                continue
            value = default[1]
            if "file" in given[section]:
                value = (re.search(r"for a file (\S+)\.", entry.text) or default)[1]
            if entry.name == "name":
                value = section
            done = run("--check", "--set", f"{section}.{entry.name}={value}", "t.ini", cwd=folder)
            if "not used with" in done.log:
                continue
            assert done.stdout == before.stdout, f"{section}.{entry.name}: {done.log}"
            checked += 1
    assert checked >= 15


def test_every_type_and_function_is_there_and_no_other():
    text = chapter(INI_PAGE, "EXPRESSIONS")
    types = re.search(r"^\.Ss Types\n(.*?)^\.El", text, re.M | re.S)[1]
    documented = sum((line.split(" , ") for line in re.findall(r"^\.It Cm (.*)", types, re.M)), [])
    assert sorted(documented) == sorted(names(message(
        "left.fields=k what", pattern=r"\(types: (.*)\)")))
    functions = re.findall(r"^\.It Ic (\w+)\(", text, re.M)
    known = names(message("left.where=zzzzzzzz(k)", pattern=r"\(functions: (.*)\)"))
    assert sorted(functions + ["cast"]) == sorted(known)
    assert "cast(VALUE as TYPE)" in text


def test_every_reason_of_a_rejected_row_is_there_and_no_other():
    source = (PROJECT / "daemon" / "model" / "batch.c").read_text()
    known = re.findall(r'\[REJECT_(?!NONE)\w+\] = "(\w+)"', source)
    text = chapter(INI_PAGE, "ROWS OUT")
    documented = re.search(r"^\.It Cm reason\n(.*?)^\.El", text, re.M | re.S)[1]
    assert len(known) > 10
    assert sorted(re.findall(r"^\.It Cm (\w+)", documented, re.M)) == sorted([*known, "late"])


# The daemon.

def test_every_option_and_signal_of_the_help_is_there():
    help_text = run("--help").stdout.decode()
    options = re.findall(r"^  -(\w), --(\w+)", help_text, re.M)
    source = chapter(DAEMON_PAGE, "DESCRIPTION")
    assert len(options) >= 7
    assert re.findall(r"^\.It Fl (\w) , -(\w+)", source, re.M) == options
    signals = re.findall(r"\b(TERM|INT|HUP|USR1|USR2|QUIT)\b", help_text)
    items = re.findall(r"^\.It Dv .*", chapter(DAEMON_PAGE, "SIGNALS"), re.M)
    assert set(signals) == set(re.findall(r"Dv (\w+)", " ".join(items)))


def test_every_exit_status_is_there_and_no_other(folder):
    statuses = {run("--version").returncode, run().returncode,
                run("--set", "left.where=(", "t.ini", cwd=folder).returncode,
                run("no-such.ini", cwd=folder).returncode}
    documented = re.findall(r"^\.It (\d+)", chapter(DAEMON_PAGE, "EXIT STATUS"), re.M)
    assert set(map(int, documented)) == statuses == {0, 1, 64, 78}


def test_every_metric_is_there_with_its_labels_and_no_other(joind):
    daemon = joind()
    metrics = daemon.metrics()
    known = {name: set() for name in re.findall(r"^# TYPE (\S+)", metrics.text, re.M)}
    for name, labels in metrics.samples:
        base = name if name in known else re.sub(r"_(bucket|sum|count)$", "", name)
        known[base] |= {label for label, _ in labels} - {"le"}
    documented = {}
    for line in re.findall(r"^\.It Ic ((?:joind|process)_.*)", chapter(DAEMON_PAGE, "WATCHING IT"),
                           re.M):
        for metric in re.split(r" , (?=process_)", line):
            name, _, rest = metric.partition(" Ns { Ns Va ")
            documented[name] = set(re.findall(r"\w+", rest)) - {"Ns"}
    assert documented == known


def test_paths_of_http_are_there(joind):
    daemon = joind()
    documented = re.findall(r"^\.It Pa (/\S*)", chapter(DAEMON_PAGE, "WATCHING IT"), re.M)
    assert documented == ["/", "/status", "/healthz", "/metrics"]
    for path in documented:
        assert daemon.http(path)[0] == 200, path
    status, _, body = daemon.http("/nothing")
    assert status == 404
    for path in documented:
        assert path in body.decode()


def said_by_the_program():
    """All literal texts of the daemon's sources, with # in place of what is filled in."""
    texts = []
    for source in sorted((PROJECT / "daemon").rglob("*.c")):
        code = re.sub(r'"\s*\n\s*"', "", source.read_text())
        texts += [re.sub(r"%[-.*\dlz]*[a-z]", "#", text) for text in
                  re.findall(r'"((?:[^"\\]|\\.)*)"', code)]
    return "\n".join(texts)


def test_every_diagnostic_is_one_that_the_program_gives():
    said = said_by_the_program() + os.strerror(98)
    shown = re.findall(r'^\.It "(.*)"', chapter(DAEMON_PAGE, "DIAGNOSTICS"), re.M)
    assert len(shown) >= 10
    for line in shown:
        pieces = re.split(r"^(?:left|output): |\.\.\.|\bN\b", plain(line))
        longest = max(pieces, key=len).strip(" :")
        assert len(longest) >= 10 and longest in said, f"{line}: {longest!r}"


# Examples.

def ini_examples():
    return [block for block in literal_blocks(chapter(INI_PAGE, "EXAMPLES"))
            if block.startswith("[")]


def test_the_examples_pass_the_check(folder):
    examples = ini_examples()
    assert len(examples) >= 3
    for number, example in enumerate(examples):
        (folder / f"{number}.ini").write_text(example)
        done = run("--check", f"{number}.ini", cwd=folder)
        assert done.returncode == 0, f"{example}\n{done.log}"


@pytest.mark.parametrize("page", [INI_PAGE, DAEMON_PAGE], ids=lambda page: page.name)
def test_the_commands_over_the_first_example_work(folder, page):
    commands = [block for block in literal_blocks(chapter(page, "EXAMPLES"))
                if block.startswith("joind ")]
    assert commands
    for command in commands:
        words = shlex.split(command.replace("\\\n", " "))
        (folder / words[-1]).write_text(ini_examples()[0].replace("/var/log/joind", str(folder)))
        (folder / "orders.csv").write_text("1,Ben,2.5\n")
        (folder / "a.csv").write_text("1,Ben,2.5\n")
        (folder / "shipments.csv").write_text("P,1,Parcelo\n")
        (folder / "b.csv").write_text("P,1,Parcelo\n")
        done = run("--set", "http.listen=127.0.0.1:0", *words[1:], cwd=folder)
        assert done.returncode == 0, done.log
        assert done.stdout == b"1,Ben,Parcelo\n"


def test_the_socket_unit_is_one_and_its_name_is_that_of_the_example():
    text = chapter(DAEMON_PAGE, "SYSTEMD")
    units = [block for block in literal_blocks(text) if block.startswith("[Unit]")]
    assert len(units) == 1
    unit = configparser.ConfigParser(interpolation=None, delimiters=["="])
    unit.optionxform = str
    unit.read_string(units[0])
    assert unit.sections() == ["Unit", "Socket", "Install"]
    assert set(unit["Socket"]) == {"ListenStream", "FileDescriptorName", "Service"}
    assert f"listen = systemd:{unit['Socket']['FileDescriptorName']}" in plain(text)
