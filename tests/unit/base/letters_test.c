#include "unit.h"

#include "base/letters.h"
#include "base/mem.h"

/* In memory of exactly the room that is asked for: a byte too many is seen. */
static void check(size_t (*map)(struct bytes, char *), struct bytes text, struct bytes expected)
{
    char *to = mem_alloc(letters_room(text.n));
    size_t n = map(text, to);

    assert_true(n <= letters_room(text.n));
    if (n != expected.n || memcmp(to, expected.p, n) != 0)
        fail_msg("\"%.*s\" became \"%.*s\"", (int)text.n, text.p, (int)n, to);
    mem_free(to);
}

static void letters_have_two_cases(void **state)
{
    static const struct {
        const char *text, *upper, *lower;
    } rows[] = {
        {"", "", ""},
        {"a", "A", "a"},
        {"@AZ[`az{", "@AZ[`AZ{", "@az[`az{"},
        {"x_y%z 09\n\x7f", "X_Y%Z 09\n\x7f", "x_y%z 09\n\x7f"},
        {"\xc3\xa9\xc3\x89", "\xc3\x89\xc3\x89", "\xc3\xa9\xc3\xa9"},
        {"AB\xc4\x8d"
         "d",
         "AB\xc4\x8c"
         "D",
         "ab\xc4\x8d"
         "d"},
        {"\xc3\x9f", "SS", "\xc3\x9f"},                               /* sharp s */
        {"\xe1\xba\x9e", "\xe1\xba\x9e", "\xc3\x9f"},                 /* and its capital */
        {"\xef\xac\x83", "FFI", "\xef\xac\x83"},                      /* one ligature */
        {"i\xc4\xb0\xc4\xb1", "I\xc4\xb0I", "ii\xcc\x87\xc4\xb1"},    /* dotted and dotless */
        {"\xce\x91\xce\xa3", "\xce\x91\xce\xa3", "\xce\xb1\xcf\x82"}, /* a sigma at the end */
        {"\xce\xa3\xce\x91", "\xce\xa3\xce\x91", "\xcf\x83\xce\xb1"}, /* and at the start */
        {"\xcf\x82", "\xce\xa3", "\xcf\x82"},
        {"\xc8\xba", "\xc8\xba", "\xe2\xb1\xa5"},             /* of another length */
        {"\xce\x90", "\xce\x99\xcc\x88\xcc\x81", "\xce\x90"}, /* three of one */
        {"\xf0\x90\x90\xa8", "\xf0\x90\x90\x80", "\xf0\x90\x90\xa8"},
        {"\xe4\xb8\xad\xe6\x96\x87", "\xe4\xb8\xad\xe6\x96\x87", "\xe4\xb8\xad\xe6\x96\x87"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        check(letters_upper, bytes_of(rows[i].text), bytes_of(rows[i].upper));
        check(letters_lower, bytes_of(rows[i].text), bytes_of(rows[i].lower));
    }
}

static char other_case(char c, char first, char last)
{
    return (char)(c >= first && c <= last ? c ^ 0x20 : c);
}

/* Wherever it stands. */
static void every_byte_of_ascii_becomes_what_it_should(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 20; n++) {
        for (int c = 0; c < 128; c++) {
            for (size_t at = 0; at < n; at++) {
                char *text = mem_alloc(n); /* nothing behind it may be touched */
                char upper[20], lower[20];
                memset(text, at % 2 == 0 ? 'q' : 'Q', n);
                text[at] = (char)c;
                for (size_t i = 0; i < n; i++) {
                    upper[i] = other_case(text[i], 'a', 'z');
                    lower[i] = other_case(text[i], 'A', 'Z');
                }
                check(letters_upper, (struct bytes){text, n}, (struct bytes){upper, n});
                check(letters_lower, (struct bytes){text, n}, (struct bytes){lower, n});
                mem_free(text);
            }
        }
    }
}

static void bytes_that_are_no_utf8_stay(void **state)
{
    static const struct {
        struct bytes text, upper;
    } rows[] = {
        {BYTES_LIT("\xff"), BYTES_LIT("\xff")},
        {BYTES_LIT("a\xff\xc3\xa9"), BYTES_LIT("A\xff\xc3\x89")},
        {BYTES_LIT("\xc3"), BYTES_LIT("\xc3")},
        {BYTES_LIT("\xc3z"), BYTES_LIT("\xc3Z")},
        {BYTES_LIT("a\xed\xa0\x80z"), BYTES_LIT("A\xed\xa0\x80Z")}, /* a surrogate */
        {BYTES_LIT("\xa9\xa9 \xc3\xa9\xf4\x90\x80\x80 \xc3\x9f"),
         BYTES_LIT("\xa9\xa9 \xc3\x89\xf4\x90\x80\x80 SS")},
        {BYTES_LIT("a\0b"), BYTES_LIT("A\0B")},
        {BYTES_LIT("\xc3\xa9\0b"), BYTES_LIT("\xc3\x89\0B")},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        check(letters_upper, rows[i].text, rows[i].upper);
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

/* Of every character there is, alone, so that none may borrow from its neighbours. */
static void no_mapping_needs_more_than_its_room(void **state)
{
    char text[4], to[64];

    (void)state;
    for (uint32_t c = 1; c < 0x110000; c++) {
        size_t n = encode(c, text);
        size_t upper = letters_upper((struct bytes){text, n}, to);
        size_t lower = letters_lower((struct bytes){text, n}, to);
        if (upper == 0 || upper > letters_room(n) || lower == 0 || lower > letters_room(n))
            fail_msg("U+%04X: %zu bytes become %zu and %zu", c, n, upper, lower);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(letters_have_two_cases),
        cmocka_unit_test(every_byte_of_ascii_becomes_what_it_should),
        cmocka_unit_test(bytes_that_are_no_utf8_stay),
        cmocka_unit_test(no_mapping_needs_more_than_its_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
