#!/usr/bin/env python3
"""Rules of the house that a program can look at. Each check is a test of its own:

    tidy.py layers  SOURCE              who includes whom (packaging/layers)
    tidy.py circles SOURCE LIBRARY ...  no two modules need each other
    tidy.py dead    LIBRARY ...         the program uses all that its files give each other
    tidy.py folders SOURCE              no folder holds more than a quarter of the code
    tidy.py symbols LIBRARY ...         the pure layers ask nothing of the world
    tidy.py links   LIBRARY ...         connections are io/link's
    tidy.py headers SOURCE BUILD CC ... every header compiles alone
    tidy.py lonely  SOURCE              no header for one file alone
    tidy.py sizes   SOURCE              no long files, no long functions
    tidy.py fetches SOURCE              the compiler leaves no fetching out
    tidy.py spaces  SOURCE              no tabs, no blanks at the ends of lines
    tidy.py format  SOURCE              as clang-format would write it
    tidy.py tests   SOURCE              every module has its test, every test is run

Exceptions stand in exceptions.py.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the source folder stays as it is

from exceptions import (LINK_CALLS_ALLOWED, LONELY_HEADERS, LONG_FILES, LONG_FUNCTIONS,
                        SYMBOLS_ALLOWED, TESTED_ELSEWHERE, USED_ELSEWHERE)


def read_layers():
    """layer -> those that it sees, itself among them; from the lowest to the highest."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../packaging/layers")
    with open(path, encoding="utf-8") as f:
        words = [line.split() for line in f if line.strip() and not line.startswith("#")]
    return {layer: [layer] + seen for layer, *seen in words}


VIEWS = read_layers()
PURE = [layer for layer in VIEWS["pure"] if layer != "pure"]
LAYERS = [layer for layer in VIEWS if layer != "pure"]

FILE_LINES_MAX = 600
FUNCTION_LINES_MAX = 75

# Libraries that a few layers alone see, by the header that is included.
WORLD = ["io", "flow", "watch", "service"]
LIBRARIES = {
    "event2/": WORLD,
    "systemd/": ["io", "service"],
    "sys/socket.h": WORLD,
    "sys/un.h": ["io"],
    "netdb.h": ["io"],
    "poll.h": WORLD,
    "syslog.h": [],
    "pthread.h": WORLD,
    "fcntl.h": WORLD + ["main"],
    "unistd.h": WORLD + ["main"],
    "signal.h": WORLD + ["main"],
    "time.h": WORLD,
    "sys/time.h": WORLD,
    "sys/stat.h": WORLD + ["main"],
    "csv.h": ["codec"],
    "ini.h": ["config"],
    "unicase.h": ["base"],
    "unistr.h": ["base"],
    "uninorm.h": ["base"],
    "xxhash.h": ["base"],
    "sys/mman.h": ["base"],
}

# What a pure layer must not call. Names are compared without the dress that glibc
# gives them (__read_chk, open64, ...).
FORBIDDEN = set("""
    clock_gettime clock_getres gettimeofday time times clock timer_create timerfd_create
    localtime localtime_r gmtime_r mktime tzset nanosleep usleep sleep alarm setitimer
    rand rand_r srand random srandom drand48 lrand48 mrand48 arc4random arc4random_buf
    arc4random_uniform getrandom getentropy
    getenv secure_getenv setenv unsetenv putenv environ getcwd chdir realpath gethostname
    uname getuid geteuid getgid getpid getppid getpwnam getpwuid getgrnam sysconf isatty ioctl
    setlocale uselocale newlocale
    open openat creat close read pread readv write pwrite writev lseek dup dup2 pipe pipe2 fcntl
    stat fstat lstat fstatat statx access faccessat unlink unlinkat rename renameat link symlink
    readlink mkdir rmdir opendir readdir truncate ftruncate fsync fdatasync mkstemp
    sendfile splice inotify_init inotify_init1 poll ppoll select pselect
    epoll_create epoll_create1 epoll_wait eventfd signalfd
    fopen fdopen freopen fmemopen open_memstream popen fclose fread fwrite fflush fgets fgetc getc
    getline fputs fputc putc puts putchar printf fprintf dprintf vprintf vfprintf vdprintf perror
    scanf fscanf remove tmpfile stdin stdout stderr
    socket socketpair bind listen accept accept4 connect shutdown send sendto sendmsg recv
    recvfrom recvmsg getsockopt setsockopt getsockname getpeername getaddrinfo freeaddrinfo
    gethostbyname
    syslog openlog closelog vsyslog
    fork vfork execve execv execvp execl posix_spawn system wait waitpid kill raise
    signal sigaction sigprocmask exit _exit quick_exit atexit dlopen
    mmap munmap madvise mprotect ini_parse ini_parse_file strerror
""".split())
FORBIDDEN_PREFIXES = ["event_", "evbuffer_", "evutil_", "evhttp_", "evconnlistener_", "evtimer_",
                      "evdns_", "bufferevent_", "sd_", "pthread_", "sem_", "thrd_", "mtx_"]

# What is done with the descriptor of a connection is done by io/link alone. Those that call the same
# functions, and for what.
LINK_CALLS = set("""
    read readv recv recvfrom recvmsg write writev send sendto sendmsg poll ppoll ioctl shutdown close
""".split())
LINK = "io/link"
# Text that is data: odd on purpose, or not ours to format.
DATA_FOLDERS = ["tests/fuzz/corpus", "tests/unit/config/cases", "tests/cases", "conf/samples"]
TAB_FILES = ["packaging/debian/rules", "debian/rules"]
TEXT_ENDINGS = (".c", ".h", ".py", ".sh", ".ini", ".md", ".scn", ".build", ".txt", ".service",
                ".socket", ".yml", ".1", ".5", ".8")


# --- files ---

def walk(source, top):
    """All files below `top` that were written by hand, as paths from `source`, sorted."""
    found = []
    for folder, names, files in os.walk(os.path.join(source, top)):
        names[:] = sorted(n for n in names
                          if not n.startswith((".", "build", "__pycache__")) and n != "view")
        found += [os.path.relpath(os.path.join(folder, f), source) for f in files]
    return sorted(found)


def c_files(source, tops=("daemon", "include", "tests")):
    return [f for top in tops for f in walk(source, top) if f.endswith((".c", ".h"))]


def text_files(source):
    top_level = [f for f in sorted(os.listdir(source)) if os.path.isfile(os.path.join(source, f))]
    below = [f for top in ("daemon", "include", "tests", "conf", "packaging", ".ci")
             for f in walk(source, top)]
    for f in top_level + below:
        if any(f.startswith(d + "/") for d in DATA_FOLDERS):
            continue
        if f.endswith(TEXT_ENDINGS) or ("." not in os.path.basename(f) and is_script(source, f)):
            yield f


def is_script(source, path):
    with open(os.path.join(source, path), "rb") as f:
        return f.read(2) == b"#!"


def lines_of(source, path):
    with open(os.path.join(source, path), encoding="utf-8", errors="surrogateescape",
              newline="") as f:
        return f.read().split("\n")


# --- layers ---

def layer_of(path):
    parts = path.split("/")
    return parts[1] if parts[0] in ("daemon", "include") and len(parts) > 2 else None


def check_include(path, layer, line, bracket, name):
    where = f"{path}:{line}: "
    if bracket == "<":
        for library, layers in LIBRARIES.items():
            fits = name.startswith(library) if library.endswith("/") else name == library
            if fits and layer not in layers:
                yield where + f"<{name}> is for {' and '.join(layers) or 'nobody'}, not for {layer}"
        return
    other = name.split("/")[0]
    if "/" not in name or other not in LAYERS:
        yield where + f'"{name}" is not written as "layer/file.h"'
    elif other not in VIEWS[layer]:
        yield where + f'"{name}" points upwards: {layer} does not see {other}'


def check_layers(source):
    include = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')
    for path in c_files(source, ("daemon", "include")):
        layer = layer_of(path)
        if layer not in LAYERS:
            yield f"{path}: is in no layer"
            continue
        for number, line in enumerate(lines_of(source, path), 1):
            match = include.match(line)
            if match:
                yield from check_include(path, layer, number, match[1], match[2])
    for path in c_files(source, ("tests/model",)):
        if not os.path.basename(path).startswith("reference"):
            continue
        for number, line in enumerate(lines_of(source, path), 1):
            match = include.match(line)
            if match and (match[1] == '"' and match[2] not in ("reference.h", "reference_parts.h")):
                yield f"{path}:{number}: the reference sees nothing of joind"


# --- circles ---

def module_of(path):
    """A module is its header and its source: include/io/x.h and daemon/io/x.c are io/x."""
    return "/".join(path.split("/")[1:]).rsplit(".", 1)[0]


def needs_by_include(source):
    for path in c_files(source, ("daemon", "include")):
        for line in lines_of(source, path):
            match = re.match(r'\s*#\s*include\s*"([^"]+)\.h"', line)
            if match and match[1] != module_of(path):
                yield module_of(path), match[1]


def needs_by_call(libraries):
    """What an object leaves undefined is somebody else's."""
    defined, used = {}, []
    for library in libraries:
        listing = subprocess.run(["nm", library], capture_output=True, text=True, check=True)
        current = ""
        for line in listing.stdout.splitlines():
            words = line.split()
            if line.endswith(":"):
                current = object_module(object_name(line))
            elif len(words) >= 2 and words[-2] == "U":
                used.append((current, words[-1]))
            elif len(words) == 3 and words[1].isupper():
                defined[words[2]] = current
    for module, symbol in used:
        if symbol in defined:
            yield module, defined[symbol]


def object_module(name):
    return re.sub(r"^daemon_([a-z]+)_(.*)\.c$", r"\1/\2", name)


def check_circles(source, libraries):
    needs = {}
    for module, other in list(needs_by_include(source)) + list(needs_by_call(libraries)):
        needs.setdefault(module, set()).add(other)

    def reached(start):
        seen, waiting = set(), [start]
        while waiting:
            for other in needs.get(waiting.pop(), ()):
                if other not in seen:
                    seen.add(other)
                    waiting.append(other)
        return seen

    for module in sorted(needs):
        if module in (far := reached(module)):
            circle = sorted(m for m in far if module in reached(m))
            if module == circle[0]:
                yield "need each other: " + ", ".join(circle)


# --- dead ---

def check_dead(libraries):
    """What only its own file uses is static, and what only tests use is not in the program."""
    defined, used = {}, set()
    for library in libraries:
        listing = subprocess.run(["nm", library], capture_output=True, text=True, check=True)
        current = object_name(library)
        for line in listing.stdout.splitlines():
            words = line.split()
            if line.endswith(":"):
                current = object_name(line)
            elif len(words) >= 2 and words[-2] == "U":
                used.add(words[-1])
            elif len(words) == 3 and words[1] in "TDBRC" and re.match(r"[a-z]\w*$", words[2]):
                defined[words[2]] = current
    for symbol in sorted(set(defined) - used - set(USED_ELSEWHERE)):
        yield f"{defined[symbol]}: {symbol} is of no use to other files: static, or not at all"
    for symbol in USED_ELSEWHERE:
        if symbol in used or symbol not in defined:
            yield f"{symbol}: needs no exception any more"


# --- folders ---

def check_folders(source):
    lines = {}
    for path in c_files(source, ("daemon", "include")):
        layer = layer_of(path)
        lines[layer] = lines.get(layer, 0) + len(lines_of(source, path)) - 1
    for layer, count in lines.items():
        if 4 * count > sum(lines.values()):
            yield f"{layer}: {count} of {sum(lines.values())} lines, and a quarter is the most"


# --- symbols ---

def undress(symbol):
    """What the source called: open for open64, read for __read_chk, printf for __printf_chk."""
    bare = re.sub(r"@.*", "", symbol)
    for pattern in (r"^__(?:isoc\d+_)?(\w+?)(?:_chk|_2|_64|64_2)?$", r"^(\w+?)(?:64)?$"):
        match = re.match(pattern, bare)
        if match and (match[1] in FORBIDDEN or match[1].startswith(tuple(FORBIDDEN_PREFIXES))):
            return match[1]
    return bare


def is_forbidden(symbol):
    bare = undress(symbol)
    return bare in FORBIDDEN or bare.startswith(tuple(FORBIDDEN_PREFIXES))


def object_name(header):
    """`libbase.a.p/daemon_base_mem.c.o:` or `daemon_base_mem.c.o:` -> daemon_base_mem.c"""
    return re.sub(r"\.o$", "", re.split(r"[/:]", header.rstrip(":"))[-1])


def asked_for(libraries):
    """The library, the object, and what that one leaves undefined."""
    for library in libraries:
        listing = subprocess.run(["nm", "-u", library], capture_output=True, text=True, check=True)
        current = ""
        for line in listing.stdout.splitlines():
            words = line.split()
            if line.endswith(":"):
                current = object_name(line)
            elif len(words) >= 2 and words[-2] in ("U", "w"):
                yield os.path.basename(library), current, words[-1]


def check_symbols(libraries):
    for library, current, symbol in asked_for(libraries):
        if is_forbidden(symbol) and undress(symbol) not in SYMBOLS_ALLOWED.get(current, ([], ""))[0]:
            yield f"{library}: {current} uses {symbol}"


# --- links ---

def check_links(libraries):
    allowed = {(module, call) for module, (calls, _) in LINK_CALLS_ALLOWED.items() for call in calls}
    used = {(object_module(name), undress(symbol)) for _, name, symbol in asked_for(libraries)}
    for module, call in sorted(used - allowed):
        if call in LINK_CALLS and module != LINK:
            yield f"{module} calls {call}(), which is {LINK}'s to do"
    for module, call in sorted(allowed - used):
        yield f"{module}: needs no exception for {call}() any more"


# --- headers ---

def check_headers(source, build, compiler):
    flags = ["-std=gnu17", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
    with tempfile.TemporaryDirectory() as folder:
        probe = os.path.join(folder, "alone.c")
        for path in walk(source, "include"):
            layer = layer_of(path)
            view = os.path.join(build, "view", layer)
            with open(probe, "w", encoding="utf-8") as f:
                f.write(f'#include "{path[len("include/"):]}"\n'
                        f'#include "{path[len("include/"):]}"\nint alone;\n')
            done = subprocess.run(compiler + flags + ["-I", view, probe],
                                  capture_output=True, text=True)
            if done.returncode != 0:
                yield f"{path}: does not compile alone:\n{done.stderr.strip()}"
            yield from check_guard(source, path)


def check_guard(source, path):
    wanted = re.sub(r"[/.]", "_", path[len("include/"):]).upper()
    if f"#ifndef {wanted}" not in lines_of(source, path):
        yield f"{path}: has no guard {wanted}"


def check_lonely(source):
    """A header without a source is for several files; else it belongs into its user."""
    users = {}
    for path in c_files(source, ("daemon", "include")):
        for line in lines_of(source, path):
            match = re.match(r'\s*#\s*include\s*"([^"]+)"', line)
            if match:
                users.setdefault("include/" + match[1], set()).add(path)
    lonely = [h for h in walk(source, "include") if len(users.get(h, ())) < 2 and
              not os.path.exists(os.path.join(source, "daemon", h[len("include/"):-2] + ".c"))]
    for header in lonely:
        if header not in LONELY_HEADERS:
            yield f"{header}: {len(users.get(header, ()))} file includes it: it belongs there"
    for header in set(LONELY_HEADERS) - set(lonely):
        yield f"{header}: needs no exception any more"


# --- sizes ---

def functions_of(lines):
    """Names and lengths of functions: what lies between a `{` and a `}` in the first column."""
    start = None
    for number, line in enumerate(lines):
        if line == "{":
            start = number
            while start > 0 and not re.match(r"[A-Za-z_].*\(", lines[start]):
                start -= 1
        elif line == "}" and start is not None:
            name = re.search(r"(\w+)\s*\(", lines[start])
            yield (name[1] if name else "?"), number - start + 1
            start = None


def check_sizes(source):
    long_files, long_functions = dict(LONG_FILES), dict(LONG_FUNCTIONS)
    for path in c_files(source) + [f for f in walk(source, "tests") if f.endswith(".py")]:
        lines = lines_of(source, path)
        count = len(lines) - 1
        if count > FILE_LINES_MAX and not long_files.pop(path, None):
            yield f"{path}: {count} lines, and {FILE_LINES_MAX} is the most"
        if not path.endswith(".c"):
            continue
        for name, length in functions_of(lines):
            if length > FUNCTION_LINES_MAX and not long_functions.pop(f"{path}:{name}", None):
                yield f"{path}: {name}() has {length} lines, and {FUNCTION_LINES_MAX} is the most"
    for left in list(long_files) + list(long_functions):
        yield f"{left}: needs no exception any more"


# --- fetches ---

def check_fetches(source):
    """What only fetches is FETCH_INLINE: base/fetch.h says why."""
    whole = re.compile(r"^(static [^\n]*void (fetch_\w+)\([^{]*)\{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
    for path in c_files(source, ("daemon", "include")):
        for head, name, body in whole.findall("\n".join(lines_of(source, path))):
            if "FETCH_INLINE" not in head and re.search(r"__builtin_prefetch\(|arena_fetch\(", body):
                yield f"{path}: {name}() only fetches, so it has to be FETCH_INLINE (base/fetch.h)"


# --- spaces ---

def check_spaces(source):
    for path in text_files(source):
        lines = lines_of(source, path)
        for number, line in enumerate(lines, 1):
            if "\t" in line and path not in TAB_FILES:
                yield f"{path}:{number}: a tab"
            if line != line.rstrip():
                yield f"{path}:{number}: a blank at the end"
        if lines[-1] != "":
            yield f"{path}: its last line has no end"
        elif len(lines) > 1 and lines[-2] == "":
            yield f"{path}: an empty line at the end"


# --- format ---

def check_format(source):
    program = shutil.which("clang-format")
    if program is None:
        print("clang-format is not installed: nothing was looked at")
        sys.exit(77)
    files = [os.path.join(source, f) for f in c_files(source)]
    done = subprocess.run([program, "--dry-run", "-Werror", "--style=file"] + files,
                          capture_output=True, text=True)
    for line in done.stderr.splitlines():
        if "error:" in line:
            yield os.path.relpath(line, source) if line.startswith("/") else line


# --- tests ---

def tests_of(source, layer):
    folder = os.path.join(source, "tests/unit", layer)
    return [f[:-len("_test.c")] for f in sorted(os.listdir(folder)) if f.endswith("_test.c")]


def names_module(test, module):
    return test == module or test.startswith(module + "_") or module.startswith(test + "_")


def check_tested(source):
    elsewhere = dict(TESTED_ELSEWHERE)
    for layer in PURE:
        names = tests_of(source, layer)
        for path in walk(source, f"daemon/{layer}"):
            module = os.path.basename(path)[:-2]
            if not path.endswith(".c") or any(names_module(n, module) for n in names):
                continue
            test = elsewhere.pop(path, (None, ""))[0]
            if test is None:
                yield f"{path}: no tests/unit/{layer}/{module}*_test.c"
            elif not os.path.exists(os.path.join(source, test)):
                yield f"{path}: {test} is not there"
    for path in elsewhere:
        yield f"{path}: needs no exception any more"


def check_run(source):
    """A test that meson.build forgot is none."""
    for path in walk(source, "tests"):
        name = os.path.basename(path)
        build = os.path.join(source, os.path.dirname(path), "meson.build")
        if not name.endswith(("_test.c", ".scn")) or not os.path.exists(build):
            continue
        with open(build, encoding="utf-8") as f:
            text = f.read()
        stem = name[:-len("_test.c")] if name.endswith("_test.c") else name[:-len(".scn")]
        if name not in text and f"'{stem}'" not in text:
            yield f"{path}: its meson.build does not name it"


def check_tests(source):
    yield from check_tested(source)
    yield from check_run(source)


# --- main ---

CHECKS = {
    "layers": lambda a: check_layers(a[0]),
    "circles": lambda a: check_circles(a[0], a[1:]),
    "dead": check_dead,
    "folders": lambda a: check_folders(a[0]),
    "symbols": check_symbols,
    "links": check_links,
    "headers": lambda a: check_headers(a[0], a[1], a[2:]),
    "lonely": lambda a: check_lonely(a[0]),
    "sizes": lambda a: check_sizes(a[0]),
    "fetches": lambda a: check_fetches(a[0]),
    "spaces": lambda a: check_spaces(a[0]),
    "format": lambda a: check_format(a[0]),
    "tests": lambda a: check_tests(a[0]),
}


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in CHECKS:
        print(__doc__)
        return 64
    complaints = list(CHECKS[sys.argv[1]](sys.argv[2:]))
    for complaint in complaints:
        print(complaint)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
