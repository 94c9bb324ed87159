/*
 * Values of one word, number, time or text: what is taken, how it is written again,
 * what is said of the others.
 */
#include "unit.h"

#include "base/mem.h"
#include "config/scalar.h"

/* Reads into a configuration's own slot, and writes what is there. */
static bool read_and_write(enum section s, const char *key, struct bytes text, struct buf *said)
{
    const struct key *k = key_find(s, bytes_of(key));
    struct config c = {.name = NULL};
    struct expr_fault fault;
    void *slot;
    bool ok;

    c.plan = plan_new();
    slot = key_slot(&c, s, k);
    ok = scalar_read(k, text, slot, &fault);
    if (ok) {
        scalar_write(k, slot, said);
    } else {
        buf_printf(said, "%zu: %s", fault.offset, fault.message);
        mem_free(fault.message);
    }
    for (int i = 0; i < SIDES; i++) {
        mem_free((char *)c.input[i].format.null_text.p);
        mem_free(c.input[i].endpoint.allow);
    }
    plan_free(c.plan);
    return ok;
}

struct written_row {
    enum section section;
    const char *key, *text, *written; /* NULL: as it was */
};

static void assert_written(const struct written_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *written = rows[i].written != NULL ? rows[i].written : rows[i].text;
        struct buf said = BUF_EMPTY, again = BUF_EMPTY;

        read_and_write(rows[i].section, rows[i].key, bytes_of(rows[i].text), &said);
        assert_string_equal(buf_text(&said), written);
        assert_true(read_and_write(rows[i].section, rows[i].key, buf_bytes(&said), &again));
        assert_string_equal(buf_text(&again), written);
        buf_done(&said);
        buf_done(&again);
    }
}

static void values_are_written_as_they_would_be_read(void **state)
{
    static const struct written_row rows[] = {
        {SECTION_JOIN, "type", "anti", NULL},
        {SECTION_JOIN, "match", "tumbling", NULL},
        {SECTION_LEFT, "framing", "line", NULL},
        {SECTION_LEFT, "framing", "octet", NULL},
        {SECTION_RIGHT, "framing", "auto", NULL},
        {SECTION_LEFT, "envelope", "none", NULL},
        {SECTION_RIGHT, "envelope", "syslog", NULL},
        {SECTION_LEFT, "mode", "600", "0600"},
        {SECTION_HTTP, "mode", "0666", NULL},
        {SECTION_PROCESS, "threads", "auto", NULL},
        {SECTION_PROCESS, "threads", "1", NULL},
        {SECTION_PROCESS, "threads", "2", NULL},
        {SECTION_LEFT, "header", "yes", NULL},
        {SECTION_LEFT, "header", "no", NULL},
        {SECTION_JOIN, "match", "sliding", NULL},
        {SECTION_JOIN, "match", "session", NULL},
        {SECTION_JOIN, "match", "interval", NULL},
        {SECTION_JOIN, "match", "latest", NULL},
        {SECTION_JOIN, "match", "lookup", NULL},
        {SECTION_JOIN, "match", "batch", NULL},
        {SECTION_RIGHT, "duplicates", "error", NULL},
        {SECTION_JOIN, "time", "event", NULL},
        {SECTION_LEFT, "max_line", "65536", "64K"},
        {SECTION_LEFT, "max_line", "1", NULL},
        {SECTION_STATE, "memory", "1024M", "1G"},
        {SECTION_LEFT, "max_connections", "1000000", NULL},
        {SECTION_LEFT, "max_connections", "007", "7"},
        {SECTION_PROCESS, "hash_seed", "random", NULL},
        {SECTION_PROCESS, "hash_seed", "0", NULL},
        {SECTION_PROCESS, "hash_seed", "9223372036854775807", NULL},
        {SECTION_OUTPUT, "mode", "0600", NULL},
        {SECTION_OUTPUT, "mode", "777", "0777"},
        {SECTION_OUTPUT, "mode", "000", "0000"},
        {SECTION_LEFT, "delimiter", ",", "comma"},
        {SECTION_LEFT, "delimiter", "\t", "tab"},
        {SECTION_LEFT, "delimiter", "|", "pipe"},
        {SECTION_LEFT, "delimiter", " ", "space"},
        {SECTION_LEFT, "delimiter", ";", "semicolon"},
        {SECTION_LEFT, "delimiter", "tab", NULL},
        {SECTION_LEFT, "delimiter", ":", NULL},
        {SECTION_LEFT, "delimiter", "'", NULL},
        {SECTION_LEFT, "null", "NULL", NULL},
        {SECTION_LEFT, "null", "\\N", NULL},
        {SECTION_LEFT, "null", "", "\"\""},
        {SECTION_LEFT, "null", "\"\"", NULL},
        {SECTION_LEFT, "null", "\" \"", NULL},
        {SECTION_LEFT, "null", "\"x\"", "x"},
        {SECTION_LEFT, "null", "a ;b", "\"a ;b\""},
        {SECTION_LEFT, "null", ";", NULL},
        {SECTION_LEFT, "null", "n/a or none", NULL},
        {SECTION_LEFT, "allow", "10.0.0.0/8 ::1", "10.0.0.0/8, ::1"},
    };

    (void)state;
    assert_written(rows, COUNT_OF(rows));
}

static void durations_are_written_as_they_would_be_read(void **state)
{
    static const struct written_row rows[] = {
        {SECTION_JOIN, "size", "90m", "1h30m"},
        {SECTION_JOIN, "size", "1ms", NULL},
        {SECTION_JOIN, "size", "36500d", NULL},
        {SECTION_JOIN, "offset", "-15m", NULL},
        {SECTION_JOIN, "offset", "0", "0s"},
        {SECTION_OUTPUT, "dead_after", "off", NULL},
        {SECTION_JOIN, "slide", "1ms", NULL},
        {SECTION_JOIN, "gap", "36500d", NULL},
        {SECTION_JOIN, "lower", "-36500d", NULL},
        {SECTION_JOIN, "upper", "-0s", "0s"},
        {SECTION_JOIN, "grace", "0", "0s"},
        {SECTION_LEFT, "delay", "0s", NULL},
        {SECTION_RIGHT, "delay", "90s", "1m30s"},
        {SECTION_LEFT, "idle", "off", NULL},
        {SECTION_LEFT, "idle", "0s", NULL}, /* 0 is a time, and not off */
        {SECTION_RIGHT, "max_ahead", "off", NULL},
        {SECTION_RIGHT, "max_ahead", "0s", NULL},
        {SECTION_OUTPUT, "dead_after", "24d", NULL},
        {SECTION_JOIN, "wait", "forever", NULL},
        {SECTION_JOIN, "wait", "0", "0s"},
        {SECTION_JOIN, "wait", "36500d", NULL},
        {SECTION_JOIN, "ttl", "off", NULL},
        {SECTION_JOIN, "ttl", "0s", NULL}, /* nor is it off here */
    };

    (void)state;
    assert_written(rows, COUNT_OF(rows));
}

static void wrong_values_are_told_with_what_is_allowed(void **state)
{
    static const struct {
        enum section section;
        const char *key, *text, *message;
    } rows[] = {
        {SECTION_JOIN, "type", "outer",
         "0: \"outer\" is not known here (write inner, left, right, full, semi or anti)"},
        {SECTION_JOIN, "gap", "0s", "0: 0s is out of range (1ms to 36500d)"},
        {SECTION_JOIN, "grace", "-1ms", "0: -1ms is out of range (0s to 36500d)"},
        {SECTION_JOIN, "lower", "off",
         "0: \"off\" is no duration of up to 36500d (write it as 250ms, 5s, 10m, 2h, 1d or 1h30m)"},
        {SECTION_LEFT, "idle", "-1s", "0: -1s is out of range (0s to 36500d)"},
        {SECTION_LEFT, "idle", "-1ms", "0: -1ms is out of range (0s to 36500d)"},
        {SECTION_LEFT, "max_ahead", "never",
         "0: \"never\" is no duration of up to 36500d (write it as 250ms, 5s, 10m, 2h, 1d or "
         "1h30m, "
         "or off)"},
        {SECTION_JOIN, "wait", "never",
         "0: \"never\" is no duration of up to 36500d (write it as 250ms, 5s, 10m, 2h, 1d or "
         "1h30m, or forever)"},
        {SECTION_JOIN, "wait", "-1s", "0: -1s is out of range (0s to 36500d)"},
        {SECTION_JOIN, "ttl", "-1ms", "0: -1ms is out of range (0s to 36500d)"},
        {SECTION_RIGHT, "duplicates", "none",
         "0: \"none\" is not known here (write keep, last or error)"},
        {SECTION_PROCESS, "threads", "3", "0: \"3\" is not known here (write auto, 1 or 2)"},
        {SECTION_OUTPUT, "slow", "x",
         "0: \"x\" is not known here (write wait, disconnect or discard)"},
        {SECTION_LEFT, "header", "Yes", "0: \"Yes\" is neither yes nor no"},
        {SECTION_JOIN, "size", "0", "0: 0 is out of range (1ms to 36500d)"},
        {SECTION_JOIN, "size", "-1s", "0: -1s is out of range (1ms to 36500d)"},
        {SECTION_JOIN, "size", "5",
         "0: \"5\" is no duration of up to 36500d (write it as 250ms, 5s, 10m, 2h, 1d or 1h30m)"},
        {SECTION_OUTPUT, "dead_after", "0s", "0: 0s is out of range (1s to 24d)"},
        {SECTION_LEFT, "keepalive", "999ms", "0: 999ms is out of range (1s to 9h)"},
        {SECTION_LEFT, "max_line", "257M", "0: 257M is out of range (1 to 256M)"},
        {SECTION_LEFT, "max_line", "-1", "0: \"-1\" is no size (write it as 512, 64K, 4M or 1G)"},
        {SECTION_OUTPUT, "buffer", "1023", "0: 1023 is out of range (1K to 16G)"},
        {SECTION_LEFT, "max_connections", "0", "0: 0 is out of range (1 to 1000000)"},
        {SECTION_LEFT, "max_connections", "1e3", "0: \"1e3\" is no number (1 to 1000000)"},
        {SECTION_PROCESS, "hash_seed", "-1",
         "0: \"-1\" is neither random nor a number (0 to 9223372036854775807)"},
        {SECTION_OUTPUT, "mode", "66",
         "0: \"66\" is no mode: write three or four octal digits (000 to 0777), as 0660"},
        {SECTION_OUTPUT, "mode", "0668",
         "0: \"0668\" is no mode: write three or four octal digits (000 to 0777), as 0660"},
        {SECTION_OUTPUT, "mode", "1777",
         "0: \"1777\" is no mode: write three or four octal digits (000 to 0777), as 0660"},
        {SECTION_LEFT, "delimiter", "\"", "0: a quote cannot part columns"},
        {SECTION_LEFT, "delimiter", "ab",
         "0: \"ab\" is no delimiter: write one ASCII character, or comma, tab, semicolon, pipe or "
         "space"},
        {SECTION_LEFT, "null", "a\"b", "0: an unquoted text cannot hold a quote"},
        {SECTION_LEFT, "null", "\"a\"\"b\"", "0: an unquoted text cannot hold a quote"},
        {SECTION_LEFT, "null", "\"a", "0: the closing quote is missing"},
        {SECTION_LEFT, "null", "\"a\" b",
         "3: something stands behind the closing quote (one inside is doubled)"},
        {SECTION_LEFT, "allow", ", ,", "0: an address or a network is missing"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf said = BUF_EMPTY;
        bool ok = read_and_write(rows[i].section, rows[i].key, bytes_of(rows[i].text), &said);
        assert_string_equal(buf_text(&said), rows[i].message);
        assert_false(ok);
        buf_done(&said);
    }
}

static void a_slip_in_a_word_is_seen_through(void **state)
{
    static const struct {
        enum section section;
        const char *key, *text, *message;
    } rows[] = {
        {SECTION_JOIN, "match", "tumblng",
         "0: \"tumblng\" is not known here; did you mean \"tumbling\"? (write tumbling, sliding, "
         "session, interval, latest, lookup or batch)"},
        {SECTION_LEFT, "framing", "octets",
         "0: \"octets\" is not known here; did you mean \"octet\"? (write line, octet or auto)"},
        {SECTION_JOIN, "type", "Inner",
         "0: \"Inner\" is not known here; did you mean \"inner\"? (write inner, left, right, full, "
         "semi or anti)"},
        {SECTION_JOIN, "time", "Event",
         "0: \"Event\" is not known here; did you mean \"event\"? (write processing or event)"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf said = BUF_EMPTY;
        bool ok = read_and_write(rows[i].section, rows[i].key, bytes_of(rows[i].text), &said);
        assert_string_equal(buf_text(&said), rows[i].message);
        assert_false(ok);
        buf_done(&said);
    }
}

static void quoted_texts_read_as_they_were(void **state)
{
    static const char *const rows[] = {"",       "a",  " a",    "a ",    "a ;b",
                                       "a;b",    "\"", "\"a\"", "a\"",   "a\" ;\"b",
                                       "it's ;", ";",  "; x",   "'a ;b'"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf written = BUF_EMPTY, read = BUF_EMPTY;
        struct expr_fault fault;

        quoted_write(bytes_of(rows[i]), &written);
        assert_row(quoted_read(buf_bytes(&written), &read, &fault), rows[i]);
        assert_string_equal(buf_text(&read), rows[i]);
        buf_done(&written);
        buf_done(&read);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_written_as_they_would_be_read),
        cmocka_unit_test(durations_are_written_as_they_would_be_read),
        cmocka_unit_test(wrong_values_are_told_with_what_is_allowed),
        cmocka_unit_test(a_slip_in_a_word_is_seen_through),
        cmocka_unit_test(quoted_texts_read_as_they_were),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
