#!/usr/bin/env python3
"""The checks of tidy.py find what they are for: tidy_test.py CC ..."""

import contextlib
import os
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import tidy

COMPILER = ["cc"]


@contextlib.contextmanager
def tree(files):
    """A small source tree."""
    with tempfile.TemporaryDirectory() as folder:
        for top in ("daemon", "include", "tests"):
            os.makedirs(os.path.join(folder, top))
        for path, text in files.items():
            os.makedirs(os.path.dirname(os.path.join(folder, path)), exist_ok=True)
            with open(os.path.join(folder, path), "w", encoding="utf-8") as f:
                f.write(text)
        yield folder


def archive(folder, name, code):
    source = os.path.join(folder, name)
    with open(source, "w", encoding="utf-8") as f:
        f.write(code)
    subprocess.run(COMPILER + ["-O2", "-D_GNU_SOURCE", "-D_FORTIFY_SOURCE=2", "-c", source,
                               "-o", source + ".o"], check=True)
    library = os.path.join(folder, "libpure.a")
    subprocess.run(["ar", "rcs", library, source + ".o"], check=True)
    return library


def symbols(code, name="x.c"):
    with tempfile.TemporaryDirectory() as folder:
        return list(tidy.check_symbols([archive(folder, name, code)]))


class Symbols(unittest.TestCase):
    def test_a_clock_is_seen(self):
        found = symbols("#include <time.h>\n"
                        "long f(void) { struct timespec t; clock_gettime(0, &t); "
                        "return t.tv_sec; }\n")
        self.assertEqual(found, ["libpure.a: x.c uses clock_gettime"])

    def test_a_read_is_seen_in_its_fortified_dress(self):
        found = symbols("#include <unistd.h>\n"
                        "long f(unsigned long n) { char b[10]; long r = read(0, b, n); "
                        "return r + b[0]; }\n")
        self.assertEqual(len(found), 1)
        self.assertRegex(found[0], r"uses (__)?read(_chk)?$")

    def test_an_open_is_seen_with_large_offsets(self):
        found = symbols("#define _FILE_OFFSET_BITS 64\n#include <fcntl.h>\n"
                        "int f(const char *p, int how) { return open(p, how); }\n")
        self.assertEqual(len(found), 1)

    def test_libraries_are_seen_by_their_prefix(self):
        found = symbols("int sd_notify(int, const char *); int event_add(void *, void *);\n"
                        "int pthread_create(void);\n"
                        "int f(void) { return sd_notify(0, \"\") + event_add(0, 0) "
                        "+ pthread_create(); }\n")
        self.assertEqual(len(found), 3)

    def test_standard_output_is_seen(self):
        self.assertNotEqual(symbols("#include <stdio.h>\nvoid f(void) { puts(\"x\"); }\n"), [])
        self.assertNotEqual(symbols("#include <stdio.h>\nvoid *f(void) { return stderr; }\n"), [])

    def test_what_only_computes_is_fine(self):
        found = symbols("#include <stdio.h>\n#include <string.h>\n#include <stdlib.h>\n"
                        "int f(char *to, unsigned long n, const char *x) { char *p = malloc(n);\n"
                        "  memcpy(p, x, n);\n"
                        "  return snprintf(to, n, \"%s %f\", p, strtod(x, 0)); }\n")
        self.assertEqual(found, [])

    def test_an_exception_is_for_one_object_only(self):
        code = "#include <stdio.h>\nvoid *f(void) { return stderr; }\n"
        self.assertEqual(symbols(code, "daemon_base_mem.c"), [])
        self.assertEqual(len(symbols(code, "daemon_model_mem.c")), 1)


class Links(unittest.TestCase):
    def complaints(self, module):
        code = "#include <unistd.h>\nvoid f(char *to) { if (read(0, to, 1) < 0) close(0); }\n"
        with tempfile.TemporaryDirectory() as folder:
            return list(tidy.check_links([archive(folder, f"daemon_{module}.c", code)]))

    def test_who_reads_by_itself_is_seen(self):
        self.assertIn("flow/source calls read(), which is io/link's to do",
                      self.complaints("flow_source"))
        self.assertFalse([line for line in self.complaints("io_link") if line.startswith("io/link")])

    def test_exceptions_are_needed(self):
        unneeded = "io/file: needs no exception for read() any more"
        self.assertIn(unneeded, self.complaints("flow_source"))
        self.assertNotIn(unneeded, self.complaints("io_file"))


class Layers(unittest.TestCase):
    def complaints(self, path, line):
        with tree({path: line + "\n"}) as source:
            return list(tidy.check_layers(source))

    def test_downwards_is_fine(self):
        self.assertEqual(self.complaints("daemon/model/x.c", '#include "base/buf.h"'), [])
        self.assertEqual(self.complaints("include/io/x.h", '#include "config/config.h"'), [])

    def test_upwards_is_not(self):
        for path in ("daemon/base/x.c", "include/base/x.h"):
            self.assertIn("points upwards", self.complaints(path, '#include "model/plan.h"')[0])
        found = self.complaints("include/codec/x.h", '# include "io/a.h"')
        self.assertIn("points upwards", found[0])

    def test_a_name_without_its_layer_is_not(self):
        self.assertEqual(len(self.complaints("daemon/model/x.c", '#include "plan.h"')), 1)
        self.assertEqual(len(self.complaints("daemon/model/x.c", '#include "../base/buf.h"')), 1)

    def test_libraries_are_for_their_layer(self):
        self.assertEqual(len(self.complaints("daemon/model/x.c", "#include <event2/event.h>")), 1)
        self.assertEqual(len(self.complaints("daemon/config/x.c", "#include <fcntl.h>")), 1)
        self.assertEqual(self.complaints("daemon/io/x.c", "#include <event2/event.h>"), [])
        self.assertEqual(self.complaints("daemon/codec/x.c", "#include <csv.h>"), [])

    def test_the_reference_sees_nothing(self):
        path = "tests/model/reference.c"
        self.assertEqual(self.complaints(path, '#include "reference.h"'), [])
        self.assertEqual(len(self.complaints(path, '#include "model/plan.h"')), 1)

    def test_a_folder_that_is_no_layer_is_told(self):
        self.assertEqual(len(self.complaints("daemon/misc/x.c", "")), 1)


class Circles(unittest.TestCase):
    def complaints(self, files, library=None):
        with tree(files) as source:
            return list(tidy.check_circles(source, [library] if library else []))

    def test_two_headers_are_a_circle(self):
        files = {"include/io/a.h": '#include "io/b.h"\n', "include/io/b.h": "",
                 "daemon/io/a.c": '#include "io/a.h"\n'}
        self.assertEqual(self.complaints({**files, "daemon/io/b.c": '#include "io/b.h"\n'}), [])
        found = self.complaints({**files, "daemon/io/b.c": '#include "io/a.h"\n'})
        self.assertEqual(found, ["need each other: io/a, io/b"])

    def test_calls_are_a_circle_without_an_include(self):
        with tempfile.TemporaryDirectory() as folder:
            archive(folder, "daemon_io_a.c", "int g(void); int f(void) { return g(); }\n")
            library = archive(folder, "daemon_io_b.c", "int f(void); int g(void) { return f(); }\n")
            subprocess.run(["ar", "rcs", library, os.path.join(folder, "daemon_io_a.c.o")], check=True)
            found = self.complaints({}, library)
        self.assertEqual(found, ["need each other: io/a, io/b"])


class Dead(unittest.TestCase):
    def complaints(self, code, exceptions=()):
        with tempfile.TemporaryDirectory() as folder, \
                unittest.mock.patch.dict(tidy.USED_ELSEWHERE, exceptions, clear=True):
            archive(folder, "daemon_io_a.c", "int f(void); int g(void) { return f(); }\n")
            library = archive(folder, "daemon_io_b.c", code)
            subprocess.run(["ar", "rcs", library, os.path.join(folder, "daemon_io_a.c.o")], check=True)
            return list(tidy.check_dead([library]))

    def test_what_nobody_else_uses_is_told(self):
        code = "int g(void); int h(void); int f(void) { return g(); } int h(void) { return 1; }\n"
        found = self.complaints(code)
        self.assertEqual(found, ["daemon_io_b.c: h is of no use to other files: static, or not at all"])
        self.assertEqual(self.complaints(code, {"h": "a reason"}), [])

    def test_an_exception_that_is_not_needed_is_told(self):
        found = self.complaints("int g(void); int f(void) { return g(); }\n", {"f": "", "gone": ""})
        self.assertEqual(len(found), 2)


class Lonely(unittest.TestCase):
    def test_a_header_for_one_file_belongs_into_it(self):
        files = {"include/io/a.h": "", "daemon/io/b.c": '#include "io/a.h"\n'}
        with unittest.mock.patch.dict(tidy.LONELY_HEADERS, clear=True):
            with tree(files) as source:
                self.assertEqual(len(list(tidy.check_lonely(source))), 1)
            for more in ({"daemon/io/a.c": ""}, {"daemon/io/c.c": '#include "io/a.h"\n'}):
                with tree({**files, **more}) as source:
                    self.assertEqual(list(tidy.check_lonely(source)), [])


class Folders(unittest.TestCase):
    def test_more_than_a_quarter_is_told(self):
        files = {f"daemon/{layer}/x.c": "\n" * 10 for layer in ("base", "lang", "model", "store")}
        with tree(files) as source:
            self.assertEqual(list(tidy.check_folders(source)), [])
        with tree({**files, "daemon/base/y.c": "\n"}) as source:
            self.assertEqual(len(list(tidy.check_folders(source))), 1)


class Headers(unittest.TestCase):
    GUARD = "#ifndef BASE_X_H\n#define BASE_X_H\n%s\n#endif\n"

    def complaints(self, text):
        with tree({"include/base/x.h": text}) as source:
            view = os.path.join(source, "view", "base")
            os.makedirs(view)
            os.symlink(os.path.join(source, "include", "base"), os.path.join(view, "base"))
            return list(tidy.check_headers(source, source, COMPILER))

    def test_one_that_includes_what_it_needs_is_fine(self):
        self.assertEqual(self.complaints(self.GUARD % "#include <stddef.h>\nsize_t f(void);"), [])

    def test_one_that_does_not_is_told(self):
        found = self.complaints(self.GUARD % "size_t f(void);")
        self.assertEqual(len(found), 1)
        self.assertIn("does not compile alone", found[0])

    def test_a_missing_guard_is_told(self):
        self.assertNotEqual(self.complaints("int f(void);\n"), [])


class Fetches(unittest.TestCase):
    def complaints(self, head):
        text = head + "(const int *p)\n{\n    if (p != 0)\n        __builtin_prefetch(p);\n}\n"
        with tree({"daemon/base/x.c": text}) as source:
            return list(tidy.check_fetches(source))

    def test_one_that_the_compiler_may_leave_out_is_told(self):
        self.assertEqual(len(self.complaints("static void fetch_it")), 1)
        self.assertEqual(len(self.complaints("static inline void fetch_it")), 1)

    def test_others_are_fine(self):
        self.assertEqual(self.complaints("static FETCH_INLINE void fetch_it"), [])
        self.assertEqual(self.complaints("void fetch_it"), [])
        self.assertEqual(self.complaints("static void take_it"), [])


class Sizes(unittest.TestCase):
    def complaints(self, text):
        with tree({"daemon/base/x.c": text}) as source:
            return [c for c in tidy.check_sizes(source) if "exception" not in c]

    def test_long_files(self):
        self.assertEqual(self.complaints("int x;\n" * 600), [])
        self.assertEqual(len(self.complaints("int x;\n" * 601)), 1)

    def test_long_functions(self):
        body = "int\nf(int a,\n  int b)\n{\n%s}\n"
        self.assertEqual(self.complaints("int f(int a)\n{\n" + "    a++;\n" * 72 + "}\n"), [])
        found = self.complaints("int f(int a)\n{\n" + "    a++;\n" * 73 + "}\n")
        self.assertIn("f() has 76 lines", found[0])
        self.assertEqual(len(self.complaints(body % ("    a++;\n" * 80))), 1)

    def test_exceptions_that_nobody_needs(self):
        with tree({}) as source:
            left = [c for c in tidy.check_sizes(source) if "exception" in c]
        self.assertEqual(len(left), len(tidy.LONG_FILES) + len(tidy.LONG_FUNCTIONS))


class Spaces(unittest.TestCase):
    def complaints(self, text):
        with tree({"daemon/base/x.c": text}) as source:
            return list(tidy.check_spaces(source))

    def test_clean_text(self):
        self.assertEqual(self.complaints("int x;\n\nint y;\n"), [])

    def test_tabs_blanks_and_ends(self):
        for text in ("\tint x;\n", "int x; \n", "int x;\r\n", "int x;", "int x;\n\n"):
            self.assertEqual(len(self.complaints(text)), 1, repr(text))


class Tests(unittest.TestCase):
    def run_on(self, files):
        folders = {f"tests/unit/{layer}/meson.build": "" for layer in tidy.PURE}
        with tree({**folders, **files}) as source:
            return [c for c in tidy.check_tests(source) if "exception" not in c]

    def test_a_module_without_a_test_is_told(self):
        self.assertEqual(len(self.run_on({"daemon/base/x.c": ""})), 1)
        self.assertEqual(len(self.run_on({"daemon/base/x.c": "",
                                          "tests/unit/model/x_test.c": "",
                                          "tests/unit/model/meson.build": "'x'"})), 1)

    def test_names_that_count(self):
        for test in ("x_y_test.c", "x_y_more_test.c", "x_test.c"):
            self.assertEqual(self.run_on({"daemon/base/x_y.c": "", f"tests/unit/base/{test}": "",
                                          "tests/unit/base/meson.build": f"'{test[:-7]}'"}), [])

    def test_a_test_that_is_never_run_is_told(self):
        self.assertEqual(len(self.run_on({"tests/unit/base/x_test.c": ""})), 1)
        self.assertEqual(len(self.run_on({"tests/scenarios/x.scn": "",
                                          "tests/scenarios/meson.build": "'y'"})), 1)


if __name__ == "__main__":
    COMPILER = sys.argv[1:] or COMPILER
    unittest.main(argv=sys.argv[:1], verbosity=2)
