#include "unit.h"

#include "codec/foreign.h"

/* How a side may expect its records. */
enum { LINES, LINES_JSON, SYSLOG, OCTET, OCTET_SYSLOG, AUTO, WAYS };

static const struct input_format formats[WAYS] = {
    [LINES] = {.kind = INPUT_CSV},
    [LINES_JSON] = {.kind = INPUT_JSON},
    [SYSLOG] = {.envelope = ENVELOPE_SYSLOG},
    [OCTET] = {.framing = FRAMING_OCTET},
    [OCTET_SYSLOG] = {.framing = FRAMING_OCTET, .envelope = ENVELOPE_SYSLOG},
    [AUTO] = {.framing = FRAMING_AUTO},
};

#define BYTES(literal)                                                                             \
    {                                                                                              \
        literal, sizeof(literal) - 1                                                               \
    }

static void what_is_no_record_in_any_way_is_named(void **state)
{
    static const struct {
        struct bytes start;
        const char *word;
    } rows[] = {
        {BYTES("\x16\x03\x01\x02\x00\x01"), "TLS"},
        {BYTES("\x16\x03\x03"), "TLS"},
        {BYTES("GET / HTTP/1.1\r\nHost: x\r\n"), "HTTP"},
        {BYTES("DELETE /x HTTP/1.0\r\n"), "HTTP"},
        {BYTES("PRI * HTTP/2.0\r\n"), "HTTP"},
        {BYTES("[{\"k\":1}]"), "JSON"},
        {BYTES("[[1,{}]]"), "JSON"},
        {BYTES("\x92\xd7\x00\x65"), "msgpack"},
        {BYTES("\x93\xa3tag"), "msgpack"},
        {BYTES("\xff\xfe\x61\x00"), "UTF-16"},
        {BYTES("\xfe\xff\x00\x61"), "UTF-16"},
        {BYTES("PROXY TCP4 127.0.0.1 127.0.0.1 1 2\r\n"), "PROXY"},
        {BYTES("\r\n\r\n\x00\r\nQUIT\n"), "PROXY"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        for (int way = 0; way < WAYS; way++) {
            const char *name = foreign_name(rows[i].start, &formats[way]);
            assert_row(name != NULL && strstr(name, rows[i].word) != NULL, rows[i].word);
        }
    }
}

/* "": nothing is said. */
static void what_the_settings_do_not_say_is_named_with_the_one_that_would(void **state)
{
#define LF_ONLY    "set framing = line"
#define COUNTED    "set framing = octet (or auto"
#define BOTH       "set framing = octet and envelope = syslog"
#define WRAPPED    "set envelope = syslog"
#define ONE_A_LINE "one object a line"
    static const struct {
        struct bytes start;
        const char *said[WAYS]; /* LINES, LINES_JSON, SYSLOG, OCTET, OCTET_SYSLOG, AUTO */
    } rows[] = {
        {BYTES("96 <13>1 - - -"), {BOTH, BOTH, COUNTED, WRAPPED, "", WRAPPED}},
        {BYTES("96 <13>Nov 29 17:41:27 h t: a"), {BOTH, BOTH, COUNTED, WRAPPED, "", WRAPPED}},
        {BYTES("96 <13>x"), {COUNTED, COUNTED, COUNTED, "", "", ""}},
        {BYTES("17 {\"k\":1}"), {COUNTED, COUNTED, COUNTED, "", "", ""}},
        {BYTES("9999999999 {"), {COUNTED, COUNTED, COUNTED, "", "", ""}},
        {BYTES("<13>1 - - -"), {WRAPPED, WRAPPED, "", LF_ONLY, LF_ONLY, WRAPPED}},
        {BYTES("<0>Nov  9 17:41:27 h"), {WRAPPED, WRAPPED, "", LF_ONLY, LF_ONLY, WRAPPED}},
        {BYTES("<13>2026-11-29T17:41:27Z h"), {WRAPPED, WRAPPED, "", LF_ONLY, LF_ONLY, WRAPPED}},
        {BYTES("{\"k\":1}"), {"", "", "", LF_ONLY, LF_ONLY, ""}},
        {BYTES("[ {\"k\":1}]"), {"", ONE_A_LINE, "", "", "", ""}},
        {BYTES("11 [{\"k\":1}]"), {"", "", "", ONE_A_LINE, ONE_A_LINE, ONE_A_LINE}},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        for (int way = 0; way < WAYS; way++) {
            const char *name = foreign_name(rows[i].start, &formats[way]);
            const char *said = rows[i].said[way];
            assert_row(said[0] == '\0' ? name == NULL : name != NULL && strstr(name, said) != NULL,
                       rows[i].start.p);
        }
    }
}

static void records_are_not(void **state)
{
    static const struct bytes rows[] = {
        BYTES(""),
        BYTES("a"),
        BYTES("1,2"),
        BYTES("96 bottles,1\n"),
        BYTES("12 "),
        BYTES("GET ,1\n"),
        BYTES("GET up,at 5\n HTTP/1.1"),
        BYTES("[x],1\n"),
        BYTES("\x16\x04\x01"),
        BYTES("\x16,1"),
        BYTES("\x92"),
        BYTES("\x92x,1"),
        BYTES("\xef\xbb\xbf"
              "a,b"),
        BYTES("PROXY,1"),
        BYTES("12345678901 {"),
        BYTES("<13>x,1"),
        BYTES("<13>1,1"),
        BYTES("<192>1 - - -"),
        BYTES("<13>Nov 29 a,b"),
        BYTES("[ {,1"),
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_row(foreign_name(rows[i], &formats[LINES]) == NULL, rows[i].p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_no_record_in_any_way_is_named),
        cmocka_unit_test(what_the_settings_do_not_say_is_named_with_the_one_that_would),
        cmocka_unit_test(records_are_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
