#include "unit.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/number.h"

static bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof(a)) == 0;
}

static double double_of_bits(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

static uint64_t random_next(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* --- bigint --- */

static const struct {
    const char *text;
    int64_t value;
    enum number_form form;
} bigints[] = {
    {"0", 0, NUMBER_CANONICAL},
    {"7", 7, NUMBER_CANONICAL},
    {"-7", -7, NUMBER_CANONICAL},
    {"10", 10, NUMBER_CANONICAL},
    {"1700000000123", 1700000000123, NUMBER_CANONICAL},
    {"999999999999999999", 999999999999999999, NUMBER_CANONICAL},
    {"1000000000000000000", 1000000000000000000, NUMBER_CANONICAL},
    {"9223372036854775807", INT64_MAX, NUMBER_CANONICAL},
    {"-9223372036854775807", -INT64_MAX, NUMBER_CANONICAL},
    {"-9223372036854775808", INT64_MIN, NUMBER_CANONICAL},
    {"-0", 0, NUMBER_VALID},
    {"00", 0, NUMBER_VALID},
    {"-00", 0, NUMBER_VALID},
    {"007", 7, NUMBER_VALID},
    {"010", 10, NUMBER_VALID}, /* never octal */
    {"-010", -10, NUMBER_VALID},
    {"0000000000000000000000000000009223372036854775807", INT64_MAX, NUMBER_VALID},
    {"-0000000000000000000000000000009223372036854775808", INT64_MIN, NUMBER_VALID},
};

static const char *const no_bigints[] = {
    "",
    "-",
    "--1",
    "+1",
    " 1",
    "1 ",
    "1.0",
    "1.",
    ".1",
    "1e3",
    "0x10",
    "1,000",
    "1_000",
    "abc",
    "1a",
    "a1",
    "1-",
    "-1-",
    "inf",
    "nan",
    "9223372036854775808",
    "-9223372036854775809",
    "9999999999999999999",
    "-9999999999999999999",
    "10000000000000000000",
    "18446744073709551616",
    "18446744073709551617",
    "100000000000000000000000000000",
    "\xD9\xA1",
    "1\r",
};

static void bigints_are_read_and_classed(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bigints); i++) {
        struct bytes text = bytes_of(bigints[i].text);
        int64_t value = 12345;

        assert_row(number_read_bigint(text, &value), bigints[i].text);
        assert_row(value == bigints[i].value, bigints[i].text);
        assert_row(number_bigint_form(text) == bigints[i].form, bigints[i].text);
    }
}

static void what_is_no_bigint_is_refused_and_writes_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(no_bigints); i++) {
        struct bytes text = bytes_of(no_bigints[i]);
        int64_t value = 12345;

        assert_row(!number_read_bigint(text, &value), no_bigints[i]);
        assert_row(value == 12345, no_bigints[i]);
        assert_row(number_bigint_form(text) == NUMBER_BAD, no_bigints[i]);
    }
    assert_int_equal(number_bigint_form(BYTES_NULL), NUMBER_BAD);
    assert_int_equal(number_bigint_form(BYTES_LIT("1\0")), NUMBER_BAD);
    assert_int_equal(number_bigint_form(BYTES_LIT("\0")), NUMBER_BAD);
}

static void a_canonical_bigint_is_what_is_written(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bigints); i++) {
        char text[NUMBER_TEXT_MAX];
        size_t n = number_write_bigint(bigints[i].value, text);
        bool same = bytes_equal((struct bytes){text, n}, bytes_of(bigints[i].text));

        assert_row(same == (bigints[i].form == NUMBER_CANONICAL), bigints[i].text);
    }
}

static void bigints_come_back(void **state)
{
    uint64_t seed = 42;

    (void)state;
    for (int i = 0; i < 100000; i++) {
        int64_t value = (int64_t)random_next(&seed) >> (random_next(&seed) % 64);
        char text[NUMBER_TEXT_MAX], expected[NUMBER_TEXT_MAX];
        size_t n = number_write_bigint(value, text);
        int64_t back = 0;

        snprintf(expected, sizeof(expected), "%lld", (long long)value);
        assert_text(text, n, expected);
        assert_true(number_read_bigint((struct bytes){text, n}, &back));
        assert_true(back == value);
        assert_int_equal(number_bigint_form((struct bytes){text, n}), NUMBER_CANONICAL);
    }
}

/* --- double --- */

static const struct {
    const char *text;
    double value;
    const char *written;
} doubles[] = {
    {"0", 0.0, "0"},
    {"-0", -0.0, "-0"},
    {"0.0", 0.0, "0"},
    {"-0.0", -0.0, "-0"},
    {"-0e5", -0.0, "-0"},
    {"00", 0.0, "0"},
    {"000.5", 0.5, "0.5"},
    {"007", 7, "7"},
    {"1", 1, "1"},
    {"-1", -1, "-1"},
    {"1.0", 1, "1"},
    {"1.50", 1.5, "1.5"},
    {"-1.5", -1.5, "-1.5"},
    {"100", 100, "100"},
    {"0.1", 0.1, "0.1"},
    {"0.3", 0.3, "0.3"},
    {"0.30000000000000004", 0.30000000000000004, "0.30000000000000004"},
    {"2.675", 2.675, "2.675"},
    {"123.456", 123.456, "123.456"},
    {"3.141592653589793", 3.141592653589793, "3.141592653589793"},
    {"1e0", 1, "1"},
    {"1E0", 1, "1"},
    {"1e+0", 1, "1"},
    {"1e-0", 1, "1"},
    {"1e5", 100000, "100000"},
    {"1.5e3", 1500, "1500"},
    {"1.5e-3", 0.0015, "0.0015"},
    {"1e05", 100000, "100000"},
    {"1e0000000000000000000000000000005", 100000, "100000"},
    /* Where plain notation ends. */
    {"0.000001", 1e-6, "0.000001"},
    {"0.00000123", 1.23e-6, "0.00000123"},
    {"0.0000001", 1e-7, "1e-7"},
    {"0.00000099", 9.9e-7, "9.9e-7"},
    {"1e-7", 1e-7, "1e-7"},
    {"-1.25e-7", -1.25e-7, "-1.25e-7"},
    {"999999999999999900000", 999999999999999900000.0, "999999999999999900000"},
    {"123456789012345680000", 123456789012345680000.0, "123456789012345680000"},
    {"100000000000000000000", 1e20, "100000000000000000000"},
    {"1e20", 1e20, "100000000000000000000"},
    {"1e21", 1e21, "1e+21"},
    {"1e+21", 1e21, "1e+21"},
    {"1000000000000000000000", 1e21, "1e+21"},
    {"-1234567890123456789012", -1.2345678901234568e21, "-1.2345678901234568e+21"},
    {"1.5e300", 1.5e300, "1.5e+300"},
    /* At the ends of the range. */
    {"1.7976931348623157e308", DBL_MAX, "1.7976931348623157e+308"},
    {"-1.7976931348623157e308", -DBL_MAX, "-1.7976931348623157e+308"},
    {"1.7976931348623158e308", DBL_MAX, "1.7976931348623157e+308"},
    {"2.2250738585072014e-308", DBL_MIN, "2.2250738585072014e-308"},
    {"2.225073858507201e-308", 0x0.fffffffffffffp-1022, "2.225073858507201e-308"},
    {"5e-324", 0x1p-1074, "5e-324"},
    {"4.9406564584124654e-324", 0x1p-1074, "5e-324"},
    {"3e-324", 0x1p-1074, "5e-324"},
    {"2.5e-324", 0x1p-1074, "5e-324"},
    {"2e-324", 0, "0"},
    {"-1e-400", -0.0, "-0"},
    {"1e-1000", 0, "0"},
    {"1e-99999999999999999999999999", 0, "0"},
    {"0e99999999999999999999999999", 0, "0"},
    {"1.5e-323", 0x3p-1074, "1.5e-323"},
    /* Whole numbers round to even where doubles are two or more apart. */
    {"9007199254740991", 9007199254740991.0, "9007199254740991"},
    {"9007199254740992", 9007199254740992.0, "9007199254740992"},
    {"9007199254740993", 9007199254740992.0, "9007199254740992"},
    {"9007199254740993.0000000000000000000000001", 9007199254740994.0, "9007199254740994"},
    {"9007199254740995", 9007199254740996.0, "9007199254740996"},
    {"9223372036854775807", 9223372036854775808.0, "9223372036854776000"},
    {"18446744073709551616", 18446744073709551616.0, "18446744073709552000"},
    /* Powers of two: the nearest 16 digits lie below and mean another double,
     * those above mean it. */
    {"5.684341886080802e-14", 0x1p-44, "5.684341886080802e-14"},
    {"5.6843418860808015e-14", 0x1p-44, "5.684341886080802e-14"},
    {"9.5367431640625e-7", 0x1p-20, "9.5367431640625e-7"},
    /* Known to be hard to read or to write. */
    {"2.2250738585072011e-308", 0x0.fffffffffffffp-1022, "2.225073858507201e-308"},
    {"6.631236846766476e-316", 6.63123685e-316, "6.63123685e-316"},
    {"1e23", 1e23, "1e+23"},
    {"9.999999999999999e22", 1e23, "1e+23"},
    {"1.0000000000000001e23", 1.0000000000000001e23, "1.0000000000000001e+23"},
    {"8.41e21", 8.41e21, "8.41e+21"},
    {"2e-44", 2e-44, "2e-44"},
    {"4.35", 4.35, "4.35"},
    {"4.349999999999999", 4.349999999999999, "4.349999999999999"},
    {"0.000035", 0.000035, "0.000035"},
    {"123456789012345", 123456789012345.0, "123456789012345"},
    {"1234567890123456", 1234567890123456.0, "1234567890123456"},
    {"0.1234567890123456", 0.1234567890123456, "0.1234567890123456"},
    {"179769313486231570000000000000000000000000000000000000000000000000000000000000000000000000"
     "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
     "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
     "000000000000000000000000000000000000000",
     DBL_MAX, "1.7976931348623157e+308"},
};

static const char *const no_doubles[] = {
    "",
    "-",
    "+",
    ".",
    ".5",
    "-.5",
    "5.",
    "-5.",
    "5.e3",
    "+1",
    "--1",
    " 1",
    "1 ",
    "1. 5",
    "1,5",
    "0x10",
    "0x1p3",
    "inf",
    "-inf",
    "INF",
    "infinity",
    "nan",
    "NaN",
    "nan(1)",
    "1e",
    "1e+",
    "1e-",
    "1e1.5",
    "1e 5",
    "e5",
    "1ee5",
    "1e5e5",
    "1.5.5",
    "1f",
    "1d",
    "1_000",
    "abc",
    "1e400",
    "-1e400",
    "1e309",
    "1.7976931348623159e308",
    "1e99999999999999999999999999",
    "1\r",
    "\xD9\xA1",
};

static void doubles_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(doubles); i++) {
        double value = 12345;

        assert_row(number_read_double(bytes_of(doubles[i].text), &value), doubles[i].text);
        assert_row(same_bits(value, doubles[i].value), doubles[i].text);
    }
}

static void what_is_no_double_is_refused_and_writes_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(no_doubles); i++) {
        struct bytes text = bytes_of(no_doubles[i]);
        double value = 12345;

        assert_row(!number_read_double(text, &value), no_doubles[i]);
        assert_row(same_bits(value, 12345), no_doubles[i]);
        assert_row(number_double_form(text) == NUMBER_BAD, no_doubles[i]);
    }
    assert_int_equal(number_double_form(BYTES_NULL), NUMBER_BAD);
    assert_int_equal(number_double_form(BYTES_LIT("1\0")), NUMBER_BAD);
    assert_int_equal(number_double_form(BYTES_LIT("1.\0")), NUMBER_BAD);
}

static void doubles_are_written_shortest(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(doubles); i++) {
        char text[NUMBER_TEXT_MAX];
        size_t n = number_write_double(doubles[i].value, text);

        assert_text(text, n, doubles[i].written);
    }
}

/* CANONICAL must be true where it is said; VALID may be said of anything. */
static void a_canonical_double_is_what_is_written(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(doubles); i++) {
        enum number_form form = number_double_form(bytes_of(doubles[i].text));

        assert_row(form != NUMBER_BAD, doubles[i].text);
        if (form == NUMBER_CANONICAL)
            assert_row(strcmp(doubles[i].text, doubles[i].written) == 0, doubles[i].text);
    }
}

static void usual_doubles_are_known_to_be_canonical(void **state)
{
    static const char *const usual[] = {
        "0",
        "-0",
        "1",
        "-1",
        "100",
        "1700000000123",
        "0.5",
        "-0.5",
        "19.99",
        "-273.15",
        "0.000001",
        "0.00001",
        "123456789.123456",
        "999999999999999",
        "99999.9999999999",
        "0.123456789012345",
        "0.00000123456789012345",
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(usual); i++) {
        struct bytes text = bytes_of(usual[i]);
        char written[NUMBER_TEXT_MAX];
        double value = 0;
        size_t n;

        assert_row(number_double_form(text) == NUMBER_CANONICAL, usual[i]);
        assert_true(number_read_double(text, &value));
        n = number_write_double(value, written);
        assert_text(written, n, usual[i]);
    }
}

/* Plain decimals of all shapes, written as programs write them. */
static void canonical_is_never_said_wrongly(void **state)
{
    uint64_t seed = 7;
    size_t canonical = 0;

    (void)state;
    for (int i = 0; i < 200000; i++) {
        int64_t digits = (int64_t)(random_next(&seed) >> (4 + random_next(&seed) % 60));
        int places = (int)(random_next(&seed) % 25);
        char text[64], written[NUMBER_TEXT_MAX];
        char padded[64];
        double value = 0;
        size_t n, length;

        snprintf(padded, sizeof(padded), "%0*lld", places + 1, (long long)digits);
        length = strlen(padded) - (size_t)places;
        snprintf(text, sizeof(text), "%.*s%s%s", (int)length, padded, places > 0 ? "." : "",
                 padded + length);
        if (number_double_form(bytes_of(text)) != NUMBER_CANONICAL)
            continue;
        canonical++;
        assert_true(number_read_double(bytes_of(text), &value));
        n = number_write_double(value, written);
        assert_text(written, n, text);
    }
    assert_true(canonical > 20000);
}

static size_t count_digits(const char *text, size_t n)
{
    struct buf digits = BUF_EMPTY;
    size_t first = 0, last;

    for (size_t i = 0; i < n && text[i] != 'e'; i++) {
        if (text[i] >= '0' && text[i] <= '9')
            buf_append_char(&digits, text[i]);
    }
    last = buf_length(&digits);
    while (first < last && buf_data(&digits)[first] == '0')
        first++;
    while (last > first && buf_data(&digits)[last - 1] == '0')
        last--;
    buf_done(&digits);
    return last - first;
}

/* Whether one of the two numbers of `count` digits that lie round `value` means it. */
static bool can_be_written_in(double value, int count)
{
    char text[64];
    long long digits;
    char *exponent;

    snprintf(text, sizeof(text), "%.*e", count - 1, value);
    exponent = strchr(text, 'e');
    *exponent = '\0';
    if (count > 1)
        memmove(text + 1, text + 2, strlen(text + 2) + 1);
    digits = atoll(text);
    for (long long d = digits - 1; d <= digits + 1; d++) {
        char candidate[64];

        snprintf(candidate, sizeof(candidate), "%llde%d", d, atoi(exponent + 1) - (count - 1));
        if (strtod(candidate, NULL) == value)
            return true;
    }
    return false;
}

static void assert_shortest(double value)
{
    char text[NUMBER_TEXT_MAX];
    size_t n = number_write_double(value, text);
    size_t count = count_digits(text, n);
    double back = 0;

    assert_true(n <= NUMBER_TEXT_MAX);
    assert_true(number_read_double((struct bytes){text, n}, &back));
    if (!same_bits(back, value))
        fail_msg("%a came back as %a", value, back);
    if (count > 1 && can_be_written_in(fabs(value), (int)count - 1))
        fail_msg("%a has a shorter text than %.*s", value, (int)n, text);
}

static void all_powers_of_two_and_their_neighbours_are_shortest(void **state)
{
    (void)state;
    for (int exponent = -1074; exponent <= 1023; exponent++) {
        double value = ldexp(1, exponent);

        assert_shortest(value);
        assert_shortest(nextafter(value, INFINITY));
        if (exponent > -1074)
            assert_shortest(nextafter(value, 0));
    }
}

static void all_powers_of_ten_are_short(void **state)
{
    (void)state;
    for (int exponent = -323; exponent <= 308; exponent++) {
        char text[NUMBER_TEXT_MAX];
        double value = 0;

        snprintf(text, sizeof(text), "1e%d", exponent);
        assert_true(number_read_double(bytes_of(text), &value));
        assert_shortest(value);
        assert_int_equal(count_digits(text, number_write_double(value, text)), 1);
    }
}

static void random_doubles_come_back_and_are_shortest(void **state)
{
    uint64_t seed = 99;

    (void)state;
    for (int i = 0; i < 20000; i++) {
        double any = double_of_bits(random_next(&seed));
        double tiny = double_of_bits(random_next(&seed) >> (12 + random_next(&seed) % 52));
        double decimal = (double)(int64_t)(random_next(&seed) % 1000000000) / 1000;

        if (isfinite(any))
            assert_shortest(any);
        assert_shortest(tiny);
        assert_shortest(-decimal);
    }
}

/* The C library reads right, in the C locale; so must the short way round it. */
static void random_texts_are_read_as_the_c_library_reads_them(void **state)
{
    uint64_t seed = 5;

    (void)state;
    for (int i = 0; i < 100000; i++) {
        uint64_t digits = random_next(&seed) >> (random_next(&seed) % 64);
        uint64_t fraction = random_next(&seed) >> (random_next(&seed) % 64);
        int exponent = (int)(random_next(&seed) % 60) - 30;
        char text[80];
        double value = 0;

        snprintf(text, sizeof(text), "%llu.%llue%d", (unsigned long long)digits,
                 (unsigned long long)fraction, exponent);
        assert_true(number_read_double(bytes_of(text), &value));
        if (!same_bits(value, strtod(text, NULL)))
            fail_msg("%s was read as %a", text, value);
    }
}

/* 1 + 2^-53 is the middle between two doubles: the even one, unless a digit
 * follows, however far away. */
static void every_digit_of_a_long_text_counts(void **state)
{
    const char *middle = "1.00000000000000011102230246251565404236316680908203125";
    struct buf text = BUF_EMPTY;
    double value = 0;

    (void)state;
    buf_append_text(&text, middle);
    assert_true(number_read_double(buf_bytes(&text), &value));
    assert_true(same_bits(value, 1));
    for (int i = 0; i < 100000; i++)
        buf_append_char(&text, '0');
    assert_true(number_read_double(buf_bytes(&text), &value));
    assert_true(same_bits(value, 1));
    buf_append_char(&text, '1');
    assert_true(number_read_double(buf_bytes(&text), &value));
    assert_true(same_bits(value, nextafter(1, 2)));
    buf_done(&text);
}

static void a_long_text_may_be_brought_back_by_its_exponent(void **state)
{
    struct buf text = BUF_EMPTY;
    double value = 0;

    (void)state;
    buf_append_text(&text, "25");
    for (int i = 0; i < 5000; i++)
        buf_append_char(&text, '0');
    assert_int_equal(number_double_form(buf_bytes(&text)), NUMBER_BAD); /* overflows */
    buf_append_text(&text, "e-5001");
    assert_int_equal(number_double_form(buf_bytes(&text)), NUMBER_VALID);
    assert_true(number_read_double(buf_bytes(&text), &value));
    assert_true(same_bits(value, 2.5));

    buf_clear(&text);
    buf_append_text(&text, "0.");
    for (int i = 0; i < 5000; i++)
        buf_append_char(&text, '0');
    buf_append_text(&text, "25e5001");
    assert_true(number_read_double(buf_bytes(&text), &value));
    assert_true(same_bits(value, 2.5));
    buf_done(&text);
}

static void a_plain_text_may_overflow_by_its_length(void **state)
{
    char text[400];

    (void)state;
    memset(text, '9', sizeof(text));
    assert_int_equal(number_double_form((struct bytes){text, 308}), NUMBER_VALID);
    assert_int_equal(number_double_form((struct bytes){text, 309}), NUMBER_BAD);
    assert_int_equal(number_double_form((struct bytes){text, 400}), NUMBER_BAD);
    text[0] = '1';
    assert_int_equal(number_double_form((struct bytes){text, 309}), NUMBER_BAD);
    memset(text + 1, '0', sizeof(text) - 1);
    assert_int_equal(number_double_form((struct bytes){text, 309}), NUMBER_VALID); /* 1e308 */
}

static void leading_zeros_are_no_digits(void **state)
{
    struct buf text = BUF_EMPTY;
    double value = 0;

    (void)state;
    for (int i = 0; i < 5000; i++)
        buf_append_char(&text, '0');
    buf_append_text(&text, "1.5");
    assert_true(number_read_double(buf_bytes(&text), &value));
    assert_true(same_bits(value, 1.5));
    assert_int_equal(number_double_form(buf_bytes(&text)), NUMBER_VALID);
    buf_done(&text);
}

/* The sanitizer sees a read behind the end. */
static void does_not_read_behind_the_end(void **state)
{
    const char *text = "-12.5e-10";

    (void)state;
    for (size_t n = 0; n <= strlen(text); n++) {
        char *exact = mem_alloc(n);
        double value;
        int64_t number;

        memcpy(exact, text, n);
        number_double_form((struct bytes){exact, n});
        assert_int_equal(number_read_double((struct bytes){exact, n}, &value),
                         n == 2 || n == 3 || n == 5 || n >= 8);
        assert_int_equal(number_read_bigint((struct bytes){exact, n}, &number), n == 2 || n == 3);
        mem_free(exact);
    }
}

static void the_locale_does_not_matter(void **state)
{
    static const char *const with_comma[] = {"de_DE.UTF-8", "de_DE.utf8",  "fr_FR.UTF-8",
                                             "pt_BR.UTF-8", "ru_RU.UTF-8", "ps_AF.UTF-8"};
    bool found = false;

    for (size_t i = 0; i < COUNT_OF(with_comma) && !found; i++)
        found = setlocale(LC_ALL, with_comma[i]) != NULL;
    if (!found)
        skip(); /* no such locale on this machine */
    doubles_are_read(state);
    what_is_no_double_is_refused_and_writes_nothing(state);
    doubles_are_written_shortest(state);
    usual_doubles_are_known_to_be_canonical(state);
    setlocale(LC_ALL, "C");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bigints_are_read_and_classed),
        cmocka_unit_test(what_is_no_bigint_is_refused_and_writes_nothing),
        cmocka_unit_test(a_canonical_bigint_is_what_is_written),
        cmocka_unit_test(bigints_come_back),
        cmocka_unit_test(doubles_are_read),
        cmocka_unit_test(what_is_no_double_is_refused_and_writes_nothing),
        cmocka_unit_test(doubles_are_written_shortest),
        cmocka_unit_test(a_canonical_double_is_what_is_written),
        cmocka_unit_test(usual_doubles_are_known_to_be_canonical),
        cmocka_unit_test(canonical_is_never_said_wrongly),
        cmocka_unit_test(all_powers_of_two_and_their_neighbours_are_shortest),
        cmocka_unit_test(all_powers_of_ten_are_short),
        cmocka_unit_test(random_doubles_come_back_and_are_shortest),
        cmocka_unit_test(random_texts_are_read_as_the_c_library_reads_them),
        cmocka_unit_test(every_digit_of_a_long_text_counts),
        cmocka_unit_test(a_long_text_may_be_brought_back_by_its_exponent),
        cmocka_unit_test(a_plain_text_may_overflow_by_its_length),
        cmocka_unit_test(leading_zeros_are_no_digits),
        cmocka_unit_test(does_not_read_behind_the_end),
        cmocka_unit_test(the_locale_does_not_matter),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
