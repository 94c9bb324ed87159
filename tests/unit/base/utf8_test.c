#include "unit.h"

#include "base/mem.h"
#include "repaired.h"

/* In `repaired`, U+FFFD is written as `?`. */
static const struct {
    const char *what;
    struct bytes text;
    size_t prefix; /* of well-formed UTF-8 */
    size_t length; /* in code points */
    const char *repaired;
} rows[] = {
    {"nothing", BYTES_LIT(""), 0, 0, ""},
    {"NULL", BYTES_NULL, 0, 0, ""},
    {"ASCII", BYTES_LIT("abc"), 3, 3, "abc"},
    {"ASCII of several words", BYTES_LIT("0123456789abcdefghij"), 20, 20, "0123456789abcdefghij"},
    {"NUL is a character", BYTES_LIT("\0\0"), 2, 2, NULL},
    {"two bytes, lowest", BYTES_LIT("\xC2\x80"), 2, 1, "\xC2\x80"},
    {"two bytes, highest", BYTES_LIT("\xDF\xBF"), 2, 1, "\xDF\xBF"},
    {"three bytes, lowest", BYTES_LIT("\xE0\xA0\x80"), 3, 1, "\xE0\xA0\x80"},
    {"below the surrogates", BYTES_LIT("\xED\x9F\xBF"), 3, 1, "\xED\x9F\xBF"},
    {"above the surrogates", BYTES_LIT("\xEE\x80\x80"), 3, 1, "\xEE\x80\x80"},
    {"three bytes, highest", BYTES_LIT("\xEF\xBF\xBF"), 3, 1, "\xEF\xBF\xBF"},
    {"four bytes, lowest", BYTES_LIT("\xF0\x90\x80\x80"), 4, 1, "\xF0\x90\x80\x80"},
    {"four bytes, highest", BYTES_LIT("\xF4\x8F\xBF\xBF"), 4, 1, "\xF4\x8F\xBF\xBF"},
    {"mixed", BYTES_LIT("a\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80z"), 11, 5,
     "a\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80z"},
    {"a byte of Latin-1", BYTES_LIT("M\xFCller"), 1, 6, "M?ller"},
    {"Latin-1 at the end", BYTES_LIT("caf\xE9"), 3, 4, "caf?"},
    {"a lone continuation", BYTES_LIT("\x80"), 0, 1, "?"},
    {"lone continuations", BYTES_LIT("a\x80\xBF"), 1, 3, "a??"},
    {"overlong slash", BYTES_LIT("\xC0\xAF"), 0, 2, "??"},
    {"overlong, C1", BYTES_LIT("\xC1\xBF"), 0, 2, "??"},
    {"overlong of three bytes", BYTES_LIT("\xE0\x9F\xBF"), 0, 3, "???"},
    {"overlong of four bytes", BYTES_LIT("\xF0\x8F\xBF\xBF"), 0, 4, "????"},
    {"a surrogate", BYTES_LIT("\xED\xA0\x80"), 0, 3, "???"},
    {"a pair of surrogates", BYTES_LIT("\xED\xA0\xBD\xED\xB8\x80"), 0, 6, "??????"},
    {"above U+10FFFF", BYTES_LIT("\xF4\x90\x80\x80"), 0, 4, "????"},
    {"F5", BYTES_LIT("\xF5\x80\x80\x80"), 0, 4, "????"},
    {"FE and FF", BYTES_LIT("\xFE\xFF"), 0, 2, "??"},
    {"cut after one of two", BYTES_LIT("a\xC3"), 1, 2, "a?"},
    {"cut after one of three", BYTES_LIT("\xE2"), 0, 1, "?"},
    {"cut after two of three", BYTES_LIT("a\xE2\x82"), 1, 3, "a?"},
    {"cut after three of four", BYTES_LIT("\xF0\x9F\x98"), 0, 3, "?"},
    {"two of three, then ASCII", BYTES_LIT("\xE2\x82z"), 0, 3, "?z"},
    {"three of four, then a whole one", BYTES_LIT("\xF0\x9F\x98\xC3\xA4"), 0, 4, "?\xC3\xA4"},
    {"two of four, then a first byte", BYTES_LIT("\xF1\x80\xE1"), 0, 3, "??"},
    {"letters between cut ones", BYTES_LIT("\x61\xF1\x80\x80\xE1\x80\xC2\x62\x80\x63\x80\xBF\x64"),
     1, 13, "a???b?c??d"},
    /* The Unicode Standard, version 15, table 3-11. */
    {"truncated sequences", BYTES_LIT("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41"), 0, 9, "????A"},
    {"bad after several words", BYTES_LIT("0123456789abcdef\xFFz"), 16, 18, "0123456789abcdef?z"},
    {"bad in the midst of a word", BYTES_LIT("0123456789abcde\xFFz"), 15, 17, "0123456789abcde?z"},
};

static void finds_the_well_formed_prefix(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_row(utf8_valid_prefix(rows[i].text.p, rows[i].text.n) == rows[i].prefix,
                   rows[i].what);
        assert_row(utf8_valid(rows[i].text) == (rows[i].prefix == rows[i].text.n), rows[i].what);
    }
}

static void counts_code_points_and_bad_bytes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_row(utf8_length(rows[i].text) == rows[i].length, rows[i].what);
}

static void append_expected(struct buf *to, const char *repaired)
{
    for (; *repaired != '\0'; repaired++) {
        if (*repaired == '?')
            buf_append_text(to, "\xEF\xBF\xBD");
        else
            buf_append_char(to, *repaired);
    }
}

static void repairs_each_maximal_part_by_one_replacement(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf expected = BUF_EMPTY, repaired = BUF_EMPTY;

        if (rows[i].repaired != NULL)
            append_expected(&expected, rows[i].repaired);
        else
            buf_append_bytes(&expected, rows[i].text);
        append_repaired(&repaired, rows[i].text);
        assert_row(bytes_equal(buf_bytes(&expected), buf_bytes(&repaired)), rows[i].what);
        buf_done(&expected);
        buf_done(&repaired);
    }
}

static void the_bad_length_is_that_of_the_maximal_part(void **state)
{
    static const struct {
        struct bytes text;
        size_t length;
    } bad[] = {
        {BYTES_LIT("\xFF\x80"), 1},
        {BYTES_LIT("\xC3"), 1},
        {BYTES_LIT("\xC3z"), 1},
        {BYTES_LIT("\xE2\x82"), 2},
        {BYTES_LIT("\xE2\x82\x28"), 2},
        {BYTES_LIT("\xE0\x80\x80"), 1},
        {BYTES_LIT("\xED\xA0\x80"), 1},
        {BYTES_LIT("\xF0\x9F\x98"), 3},
        {BYTES_LIT("\xF0\x9F\x98\x28"), 3},
        {BYTES_LIT("\xF4\x90\x80\x80"), 1},
        {BYTES_LIT("\xF4\x8F\x80"), 3},
        {BYTES_LIT("\xF8\x88\x80\x80\x80"), 1},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_int_equal(utf8_bad_length(bad[i].text.p, bad[i].text.n), bad[i].length);
}

static size_t encode(uint32_t c, char *to)
{
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        to[0] = (char)(0xC0 | c >> 6);
        to[1] = (char)(0x80 | (c & 0x3F));
        return 2;
    }
    if (c < 0x10000) {
        to[0] = (char)(0xE0 | c >> 12);
        to[1] = (char)(0x80 | (c >> 6 & 0x3F));
        to[2] = (char)(0x80 | (c & 0x3F));
        return 3;
    }
    to[0] = (char)(0xF0 | c >> 18);
    to[1] = (char)(0x80 | (c >> 12 & 0x3F));
    to[2] = (char)(0x80 | (c >> 6 & 0x3F));
    to[3] = (char)(0x80 | (c & 0x3F));
    return 4;
}

static void every_code_point_but_the_surrogates_is_well_formed(void **state)
{
    (void)state;
    for (uint32_t c = 0; c <= 0x13FFFF; c++) {
        bool expected = c <= 0x10FFFF && (c < 0xD800 || c > 0xDFFF);
        char text[4];
        size_t n = encode(c, text);

        if (utf8_valid((struct bytes){text, n}) != expected)
            fail_msg("U+%04X", c);
    }
}

/* All texts of three bytes: what is repaired is well-formed, and has as many
 * code points as the text has parts. */
static void whatever_was_repaired_is_well_formed(void **state)
{
    struct buf repaired = BUF_EMPTY;

    (void)state;
    for (uint32_t bits = 0; bits < 1 << 24; bits += 5) {
        char text[3] = {(char)(bits >> 16), (char)(bits >> 8), (char)bits};

        buf_clear(&repaired);
        append_repaired(&repaired, (struct bytes){text, 3});
        if (!utf8_valid(buf_bytes(&repaired)))
            fail_msg("%06X", bits);
    }
    buf_done(&repaired);
}

/* The sanitizer sees a read behind the end. */
static void does_not_read_behind_the_end(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        for (size_t n = 0; n <= rows[i].text.n; n++) {
            char *exact = mem_alloc(n);
            struct buf repaired = BUF_EMPTY;

            if (n > 0)
                memcpy(exact, rows[i].text.p, n);
            assert_true(utf8_valid_prefix(exact, n) <= n);
            assert_true(utf8_length((struct bytes){exact, n}) <= n);
            append_repaired(&repaired, (struct bytes){exact, n});
            buf_done(&repaired);
            mem_free(exact);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_well_formed_prefix),
        cmocka_unit_test(counts_code_points_and_bad_bytes),
        cmocka_unit_test(repairs_each_maximal_part_by_one_replacement),
        cmocka_unit_test(the_bad_length_is_that_of_the_maximal_part),
        cmocka_unit_test(every_code_point_but_the_surrogates_is_well_formed),
        cmocka_unit_test(whatever_was_repaired_is_well_formed),
        cmocka_unit_test(does_not_read_behind_the_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
