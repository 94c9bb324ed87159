"""What tidy.py lets pass, each with its reason. What is not needed any more is a fault too."""

# file -> why it may be longer
LONG_FILES = {
    "tests/unit/base/number_test.c": "tables of numbers, a row each",
}

# "file:function" -> why it may be longer
LONG_FUNCTIONS = {}

# object -> symbols that it may use, and why
SYMBOLS_ALLOWED = {
    "daemon_base_mem.c": (["mmap", "munmap", "madvise", "fwrite", "fputs", "stderr"],
                          "memory comes from the system; the last words when there is none"),
}

LINK_CALLS_ALLOWED = {
    "io/binding": (["close", "shutdown"], "what listens"),
    "io/connector": (["close"], "attempts that came to nothing"),
    "io/file": (["read"], "a small file, whole"),
    "io/listener": (["close"], "who is turned away"),
    "io/log": (["write"], "standard error"),
    "io/resolver": (["close", "write"], "an answer for the loop"),
    "flow/input": (["close"], "a folder where a file should be"),
    "flow/lookup": (["close"], "what is no regular file"),
    "flow/second": (["close", "read", "write"], "wakes the loop"),
    "service/daemon": (["close", "read"], "the timer; the file of the configuration"),
}

# daemon file -> the test that covers it under another name, and why. (x.c is covered by x_test.c,
# x_more_test.c, and, where a module is parted into x_a.c and x_b.c, by x_test.c.)
CASES = ("tests/unit/config/cases_test.c", "whole files in, --check or all faults out")
TESTED_ELSEWHERE = {
    "daemon/engine/admit.c": ("tests/unit/engine/engine_test.c", "engine_push()"),
    "daemon/engine/detach.c": ("tests/unit/engine/firing_test.c", "engine_detach() and what follows"),
    "daemon/engine/drive.c": ("tests/unit/engine/engine_test.c", "time, room, results"),
    "daemon/engine/swap.c": ("tests/unit/engine/table_join_test.c", "tables of a lookup"),
    "daemon/join/firing.c": ("tests/unit/engine/firing_test.c", "detached by the engine"),
    "daemon/join/table_join.c": ("tests/unit/engine/table_join_test.c", "swapped by the engine"),
    "daemon/codec/columns.c": ("tests/unit/codec/decoder_test.c", "headers are read by decoders"),
    "daemon/codec/rows.c": ("tests/unit/codec/decoder_test.c", "a decoder's second half"),
    "daemon/codec/fate.c": ("tests/unit/codec/encoder_test.c", "a row as the encoder writes rows"),
    "daemon/config/clashes.c": CASES,
    "daemon/config/fields.c": CASES,
    "daemon/config/join.c": CASES,
    "daemon/config/key_table.c": CASES,
    "daemon/config/key_words.c": CASES,
    "daemon/config/paths.c": CASES,
    "daemon/config/print.c": CASES,
    "daemon/config/reader.c": ("tests/unit/config/config_test.c", "a text in, a config out"),
    "daemon/config/reading.c": CASES,
    "daemon/config/report.c": CASES,
    "daemon/config/select.c": CASES,
    "daemon/config/words.c": CASES,
    "daemon/config/words_ends.c": CASES,
}

# symbol -> who uses it, though no other file of the program does
USED_ELSEWHERE = {
    "main": "the system",
    "key_use_words": "packaging/man/keys_page.c, which writes the manual",
    "rows_scan_at_best": "tests, which want all ways of scanning",
    "reason_append_value": "tests: what is cut and escaped, alone",
    "slab_used": "tests: what was taken is given back",
    "engine_books_balance": "tests: the books balance at every instant",
    "engine_mapped_bytes": "tests: all that is mapped is accounted",
    "engine_operator_state": "tests: what an operator holds",
    "operator_list": "tests, until there is a journal",
    "held_list_done": "tests, until there is a journal",
    "operator_restore": "tests, until there is a journal",
    "operator_resume": "tests, until there is a journal",
}

# header without a source, that one file alone includes -> why that one has not got it
LONELY_HEADERS = {
    "include/codec/digits.h": "numbers told at a glance are tested alone",
}
