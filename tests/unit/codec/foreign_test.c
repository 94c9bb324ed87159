#include "unit.h"

#include "codec/foreign.h"

#define BYTES(literal)                                                                             \
    {                                                                                              \
        literal, sizeof(literal) - 1                                                               \
    }

static void what_is_no_record_is_named(void **state)
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
        {BYTES("96 <13>1 - - -"), "octet"},
        {BYTES("17 {\"k\":1}"), "octet"},
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
        const char *name = foreign_name(rows[i].start);
        assert_row(name != NULL && strstr(name, rows[i].word) != NULL, rows[i].word);
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
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_row(foreign_name(rows[i]) == NULL, rows[i].p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_no_record_is_named),
        cmocka_unit_test(records_are_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
