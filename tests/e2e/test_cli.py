"""What a user types and reads: arguments, configuration errors, exit statuses, the log."""

import configparser
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile

import pytest

from joind import BINARY, PATIENCE, clean_env, config, run, wait_until
from tools import catches

FINE, FAILED, USAGE, MISCONFIGURED = 0, 1, 64, 78


@pytest.fixture
def ini(tmp_path):
    """Writes an INI file and returns its name, relative to tmp_path."""
    def write(text, name="t.ini"):
        (tmp_path / name).write_text(text)
        return name
    return write


def check(tmp_path, name, *sets):
    words = [word for pair in sets for word in ("--set", pair)]
    return run("--check", *words, name, cwd=tmp_path)


# Arguments.

def test_help_lists_the_options_on_standard_output():
    shown = run("--help")
    assert (shown.returncode, shown.log) == (FINE, "")
    for word in (b"joind", b"FILE", b"--check", b"--set", b"--flink", b"--verbose", b"--quiet",
                 b"--version"):
        assert word in shown.stdout


def test_version_is_one_line_on_standard_output():
    shown = run("--version")
    assert (shown.returncode, shown.log) == (FINE, "")
    assert re.fullmatch(rb"joind \d+\.\d+\S*\n", shown.stdout)


@pytest.mark.parametrize("args", [
    [], ["--nonsense", "t.ini"], ["-X", "t.ini"], ["t.ini", "u.ini"], ["t.ini", "--set"],
    ["--check"], ["--check=yes", "t.ini"],
], ids=" ".join)
def test_wrong_usage_ends_with_64_and_a_hint(tmp_path, ini, args):
    ini(config())
    done = run(*args, cwd=tmp_path)
    assert done.returncode == USAGE, done.log
    assert "joind" in done.log and "--help" in done.log
    assert done.stdout == b""


# The configuration.

def test_a_missing_configuration_ends_with_1_and_its_name(tmp_path):
    done = run("no-such.ini", cwd=tmp_path)
    assert done.returncode == FAILED
    assert "no-such.ini" in done.log and "No such file" in done.log


def test_a_folder_as_configuration_is_refused(tmp_path):
    done = run(tmp_path)
    assert done.returncode in (FAILED, MISCONFIGURED)
    assert str(tmp_path) in done.log


def test_all_mistakes_are_told_at_once_each_with_its_place(tmp_path, ini):
    name = ini("[left]\n"
               "listen = 127.0.0.1:0\n"
               "fields = id, user, at\n"
               "key = usr\n"
               "colour = red\n"
               "\n"
               "[right]\n"
               "listen = 127.0.0.1:0\n"
               "fields = id, amount bigint\n"
               "key = id\n"
               "where = amount\n"
               "[join]\n"
               "size = 0s\n"
               "[output]\n"
               "format = csv\n")
    done = run(name, cwd=tmp_path)
    assert done.returncode == MISCONFIGURED, done.log
    lines = done.log.splitlines()
    assert 't.ini:4:7: [left] key: no field "usr" (fields: id, user, at)' in lines
    assert "t.ini:14:1: [output]: needs one of listen, connect, file" in lines
    for place in ("t.ini:5:1: [left] colour: ", "t.ini:11:9: [right] where: ",
                  "t.ini:13:8: [join] size: "):
        assert any(line.startswith(place) for line in lines), f"nothing at {place}\n{done.log}"


def test_nothing_is_opened_when_the_configuration_is_wrong(tmp_path, ini):
    name = ini(config(output={"file": "out.csv", "nonsense": "1"}))
    assert run(name, cwd=tmp_path).returncode == MISCONFIGURED
    assert [path.name for path in tmp_path.iterdir()] == ["t.ini"]


def test_a_missing_section_is_told_without_a_line(tmp_path, ini):
    done = run(ini(config(output=None)), cwd=tmp_path)
    assert done.returncode == MISCONFIGURED
    assert "t.ini: [output]: needs one of listen, connect, file" in done.log.splitlines()


def test_an_unknown_key_gets_the_nearest_name_as_a_hint(tmp_path, ini):
    done = run(ini(config(left={"delimeter": ";"})), cwd=tmp_path)
    assert done.returncode == MISCONFIGURED
    assert "delimeter" in done.log and re.search(r"\bdelimiter\b", done.log)


@pytest.mark.parametrize("sets, message", [
    (["left.key=usr"], '--set left.key: no field "usr" (fields: k, v)'),
    (["left.fields=k bigint, v", "right.fields=k, w"], None),
    (["left.key=k, v"], None),
    (["output.select=v as a, w as a"], None),
    (["join.type=outer"], None),
    (["join.size=40000d"], None),
    (["join.size="], None),
    (["left.fields=k, k"], None),
    (["state.memory=100K"], None),
    (["left.file=in.csv"], None),
    (["output.select=k"], None),
    (["join.grace=1s"], None),
    (["left.delay=1s"], None),
    (["left.delimiter=::"], None),
    (["left.max_line=none"], None),
    (["output.format=json", "output.header=yes"], None),
    (["output.file=out.csv", "output.listen=", "output.allow=127.0.0.1"], None),
    (["nowhere.key=1"], None),
], ids=lambda value: " ".join(value) if isinstance(value, list) else "")
def test_set_is_checked_like_the_file(tmp_path, ini, sets, message):
    done = check(tmp_path, ini(config()), *sets)
    assert done.returncode == MISCONFIGURED, done.log
    assert done.stdout == b""
    if message:
        assert message in done.log.splitlines()


@pytest.mark.parametrize("setting", [
    "left.tls_certificate=a.pem", "left.tls_key=a.pem", "output.tls_ca=a.pem",
    "state.directory=state", "state.sync=always", "flink.left=x",
])
def test_what_is_not_built_yet_is_refused_as_such(tmp_path, ini, setting):
    done = check(tmp_path, ini(config()), setting)
    assert done.returncode == MISCONFIGURED, done.log
    assert "not in this version" in done.log


@pytest.mark.parametrize("sets, key, message", [
    (["left.listen=unix:"], "left.listen", "a path is missing"),
    (["left.listen=unix:/" + "x" * 107], "left.listen", "107 bytes"),
    (["right.listen=systemd:"], "right.listen", "a name is missing"),
    (["right.listen=systemd:a:b"], "right.listen", "systemd knows no such name"),
    (["output.listen=", "output.connect=server"], "output.connect", "has no port"),
    (["output.listen=", "output.connect=server:0"], "output.connect", "port 0"),
    (["output.listen=", "output.connect=systemd:x"], "output.connect", "sockets that listen"),
    (["left.connect=server:1"], "left.connect", "take it away by --set left.listen="),
    (["left.listen=unix:a", "right.listen=unix:./a"], "right.listen", "[left] has it already"),
    (["left.listen=unix:a", "rejects.file=a"], "rejects.file", "[left] has it already"),
    (["left.listen=systemd:a", "output.listen=systemd:a"], "output.listen",
     "[left] has it already"),
    (["left.listen=0.0.0.0:7000", "output.listen=", "output.connect=localhost:7000"],
     "output.connect", "[left] listens there"),
    (["left.envelope=syslog", "left.multiline=yes"], "left.multiline", "envelope"),
    (["left.listen=unix:a", "left.allow=10.0.0.1"], "left.allow", "not used with"),
    (["output.listen=", "output.connect=h:1", "output.slow=wait"], "output.slow",
     "not used with connect"),
    (["join.match=tumblng"], "join.match", 'did you mean "tumbling"?'),
], ids=lambda value: " ".join(value)[:60] if isinstance(value, list) else "")
def test_a_wrong_end_is_told_with_its_reason(tmp_path, ini, sets, key, message):
    done = check(tmp_path, ini(config()), *sets)
    assert done.returncode == MISCONFIGURED, done.log
    lines = [line for line in done.log.splitlines() if line.startswith(f"--set {key}: ")]
    assert any(message in line for line in lines), done.log


# --check and --set.

def test_check_prints_what_read_again_prints_the_same(tmp_path, ini):
    text = config(left={"name": "orders", "where": "ok", "fields": "k, v, ok boolean, at timestamp",
                        "delimiter": "tab", "null": "\\N", "header": "yes"},
                  right={"file": "in.csv"}, join={"type": "left", "offset": "-1h30m", "on": "ok"},
                  output={"select": "v as value, w, orders.k", "format": "json", "buffer": "1M"},
                  state={"memory": "4M"})
    first = check(tmp_path, ini(text))
    assert first.returncode == FINE, first.log
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "t.ini").write_bytes(first.stdout)
    again = check(tmp_path / "elsewhere", "t.ini")
    assert again.returncode == FINE, again.log
    assert again.stdout == first.stdout


def test_check_prints_defaults_absolute_paths_and_the_plan_in_words(tmp_path, ini):
    shown = check(tmp_path, ini(config(right={"file": "in.csv"})))
    assert shown.returncode == FINE, shown.log
    text = shown.stdout.decode()
    printed = configparser.ConfigParser(interpolation=None, delimiters=["="])
    printed.read_string(text)
    assert printed["right"]["file"] == str(tmp_path / "in.csv")
    assert printed["join"]["type"] == "inner"
    assert printed["join"]["match"] == "tumbling"
    for section, key in (("left", "max_line"), ("left", "delimiter"), ("left", "max_connections"),
                         ("output", "buffer"), ("output", "absent"), ("output", "slow"),
                         ("rejects", "file"), ("state", "memory"), ("http", "allow")):
        assert key in printed[section], f"no {key} in [{section}]:\n{text}"
    assert re.search(r"^[;#].*\w+ \w+", text, re.MULTILINE), "no plan in words"


def test_check_shows_sockets_of_every_kind_and_says_what_they_do(tmp_path, ini):
    name = ini(config(left={"listen": "unix:in.sock", "framing": "auto", "envelope": "syslog"},
                      right={"connect": "server.example:9000"},
                      output={"listen": "systemd:joind-output"},
                      rejects={"connect": "unix:/run/rejects"}))
    shown = check(tmp_path, name)
    assert shown.returncode == FINE, shown.log
    text = shown.stdout.decode()
    printed = configparser.ConfigParser(interpolation=None, delimiters=["="])
    printed.read_string(text)
    assert printed["left"]["listen"] == f"unix:{tmp_path / 'in.sock'}"
    assert (printed["left"]["framing"], printed["left"]["envelope"]) == ("auto", "syslog")
    assert printed["left"]["mode"] == "0660"
    assert printed["right"]["connect"] == "server.example:9000"
    assert printed["output"]["listen"] == "systemd:joind-output"
    assert printed["rejects"]["connect"] == "unix:/run/rejects"
    for section, key in (("left", "allow"), ("left", "keepalive"), ("left", "multiline"),
                         ("right", "max_connections"), ("right", "mode"), ("output", "mode"),
                         ("rejects", "absent"), ("rejects", "slow")):
        assert key not in printed[section], f"{key} in [{section}]:\n{text}"
    words = " ".join(line.lstrip("; ") for line in text.splitlines() if line.startswith(";"))
    for sentence in ("a connection that joind makes to server.example:9000, and makes again",
                     "CSV in syslog messages", f"the unix socket {tmp_path / 'in.sock'}",
                     "the socket joind-output of systemd; while there is none, they wait"):
        assert sentence in words, words
    (tmp_path / "again.ini").write_bytes(shown.stdout)
    assert check(tmp_path, "again.ini").stdout == shown.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again.ini", "t.ini"]


def test_check_opens_nothing(tmp_path, ini):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        name = ini(config(left={"listen": f"127.0.0.1:{port}"}, right={"file": "no-such.csv"},
                          output={"file": "out.csv"}))
        done = check(tmp_path, name)
    assert done.returncode == FINE, done.log
    assert not (tmp_path / "out.csv").exists()


def test_set_overrides_unsets_and_makes_sections(tmp_path, ini):
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "t.ini").write_text(config(rejects=None))
    done = check(tmp_path, "conf/t.ini", "left.listen=", "left.file=old.csv", "join.type=full",
                 "rejects.file=r.csv")
    assert done.returncode == FINE, done.log
    printed = configparser.ConfigParser(interpolation=None, delimiters=["="])
    printed.read_string(done.stdout.decode())
    assert "listen" not in printed["left"]
    assert printed["left"]["file"] == str(tmp_path / "old.csv"), "not from the current folder"
    assert printed["rejects"]["file"] == str(tmp_path / "r.csv")
    assert printed["join"]["type"] == "full"


def test_short_options_mean_the_same(tmp_path, ini):
    name = ini(config())
    long = run("--check", "--set", "join.type=full", name, cwd=tmp_path)
    short = run("-t", "-s", "join.type=full", name, cwd=tmp_path)
    joined = run("-tsjoin.type=full", name, cwd=tmp_path)
    assert long.returncode == FINE
    assert long.stdout == short.stdout == joined.stdout


def test_relative_paths_start_at_the_file_s_own_folder(joind, tmp_path):
    daemon = joind(folder=tmp_path / "conf", output={"file": "out.csv"})
    assert daemon.endpoints["output"] == "out.csv"
    assert (tmp_path / "conf" / "out.csv").exists()
    daemon.stop(expect=0)


# What fails while running.

def test_a_port_in_use_ends_with_1_and_a_clear_message(tmp_path, ini):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run(ini(config(right={"listen": f"127.0.0.1:{port}"})), cwd=tmp_path)
    assert done.returncode == FAILED
    assert f"127.0.0.1:{port}" in done.log and "in use" in done.log and "right" in done.log
    assert "ready:" not in done.log


def test_an_address_that_is_not_ours_ends_with_1(tmp_path, ini):
    done = run(ini(config(left={"listen": "192.0.2.1:0"})), cwd=tmp_path)
    assert done.returncode == FAILED
    assert "192.0.2.1" in done.log


@pytest.mark.parametrize("changes, name", [
    ({"left": {"file": "no-such.csv"}}, "no-such.csv"),
    ({"output": {"file": "no-such-folder/out.csv"}}, "no-such-folder/out.csv"),
    ({"rejects": {"file": "no-such-folder/rejects.csv"}}, "no-such-folder/rejects.csv"),
])
def test_a_missing_file_or_folder_ends_with_1_and_its_name(tmp_path, ini, changes, name):
    done = run(ini(config(**changes)), cwd=tmp_path)
    assert done.returncode == FAILED
    assert name in done.log and "No such file or directory" in done.log


def test_a_folder_as_input_ends_with_1(tmp_path, ini):
    (tmp_path / "in").mkdir()
    done = run(ini(config(left={"file": "in"})), cwd=tmp_path)
    assert done.returncode == FAILED
    assert "irectory" in done.log


def test_a_missing_right_ends_with_1_and_says_where():
    # Folders of pytest are closed to others, so this one is made outside them.
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        shutil.copy(BINARY, folder / "joind")
        (folder / "closed").mkdir(mode=0o500)
        (folder / "t.ini").write_text(config(output={"file": "closed/out.csv"}, rejects=None))
        (folder / "t.ini").chmod(0o644)
        other = []
        if os.geteuid() == 0:
            other = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        done = subprocess.run([*other, folder / "joind", folder / "t.ini"], capture_output=True,
                              env=clean_env(), timeout=20 * PATIENCE)
        log = done.stderr.decode()
        assert done.returncode == FAILED, log
        assert "closed/out.csv" in log and "Permission denied" in log


# The log.

def test_the_ready_line_names_what_is_configured_in_order(joind):
    daemon = joind()
    assert list(daemon.endpoints) == ["left", "right", "output", "rejects", "http"]
    assert daemon.endpoints["rejects"] == "rejects.csv", "a path as it is written in the file"
    for name in ("left", "right", "output", "http"):
        assert re.fullmatch(r"127\.0\.0\.1:[1-9]\d*", daemon.endpoints[name])
    assert len(daemon.log_matches("ready: ")) == 1


def test_the_ready_line_leaves_out_what_is_not_configured(joind):
    daemon = joind(rejects=None, http=None, left={"file": "in.csv"}, wait=False)
    daemon.wait_exit(expect=1)      # in.csv is missing
    (daemon.folder / "in.csv").write_bytes(b"")
    daemon = joind(rejects=None, http=None, left={"file": "in.csv"}, folder=daemon.folder)
    assert list(daemon.endpoints) == ["left", "right", "output"]
    assert daemon.endpoints["left"] == "in.csv"


def test_ipv6_addresses_are_written_in_brackets(joind):
    daemon = joind(left={"listen": "[::1]:0"})
    assert re.fullmatch(r"\[::1\]:[1-9]\d*", daemon.endpoints["left"])
    daemon.send("left", "1,a\n")
    assert daemon.books("left")["held"] == 1


def test_a_log_line_has_time_level_and_message(joind):
    daemon = joind()
    daemon.send("left", b"one field only\n")
    daemon.wait_log("rejected|fields")
    for line in daemon.log:
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z [a-z]+ \S.*", line), line


def test_a_journal_line_has_a_priority_and_no_time(joind):
    daemon = joind(journal=True)
    daemon.send("left", b"one field only\n")
    daemon.wait_log("rejected|fields")
    daemon.stop(expect=0)
    for line in daemon.log:
        assert re.match(r"<[0-7]>\S", line), line
        assert not re.search(r"\d{4}-\d\d-\d\dT", line[:20]), line
    assert daemon.log_matches(r"^<[56]>ready: left=")


def test_verbose_and_quiet_change_how_much_is_logged(tmp_path, ini, joind):
    usual = joind()
    usual.send("left", b"")
    usual.stop(expect=0)
    verbose = joind(args=["-v"])
    verbose.send("left", b"")
    verbose.stop(expect=0)
    assert len(verbose.log) >= len(usual.log)
    quiet = joind(args=["--quiet"], wait=False)
    wait_until(lambda: catches(quiet.process.pid, signal.SIGTERM), 10, "a start")
    quiet.stop(expect=0)
    assert len(quiet.log) <= len(usual.log)
