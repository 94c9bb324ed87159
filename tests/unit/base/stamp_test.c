#include "unit.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/stamp.h"

static struct bytes text_of(int64_t ms, char room[24])
{
    return (struct bytes){room, (size_t)snprintf(room, 24, "%" PRId64, ms)};
}

static void times_of_13_digits_are_read(void **state)
{
    static const int64_t times[] = {
        1000000000000, 1000000000001, 1234567890123, 1699999999999, 1700000000000,
        1700099999999, 1700100000000, 9087060504030, 9999999999998, 9999999999999,
    };
    struct stamp_era era = STAMP_NO_ERA;
    char room[24];
    int64_t ms;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(times); i++)
        for (size_t j = 0; j < COUNT_OF(times); j++) {
            assert_true(stamp_read(&era, text_of(times[i], room), &ms));
            assert_int_equal(ms, times[i]);
            assert_true(stamp_read(&era, text_of(times[j], room), &ms));
            assert_int_equal(ms, times[j]);
        }
}

static void each_digit_counts_in_its_place(void **state)
{
    struct stamp_era era = STAMP_NO_ERA;
    char room[24];
    int64_t ms, unit = 1;

    (void)state;
    for (int place = 0; place < STAMP_DIGITS; place++, unit *= 10)
        for (int digit = place == STAMP_DIGITS - 1; digit <= 9; digit++) {
            int64_t expected =
                digit * unit + (place == STAMP_DIGITS - 1 ? 0 : INT64_C(1000000000000));
            assert_true(stamp_read(&era, text_of(expected, room), &ms));
            assert_int_equal(ms, expected);
        }
}

static void no_other_length_is_told(void **state)
{
    static const char digits[] = "11111111111111111111";
    struct stamp_era era = STAMP_NO_ERA;
    int64_t ms;

    (void)state;
    assert_false(stamp_read(&era, BYTES_NULL, &ms));
    for (size_t n = 0; n < sizeof(digits); n++)
        assert_int_equal(stamp_read(&era, (struct bytes){digits, n}, &ms), n == STAMP_DIGITS);
}

/* As the first one, behind a good one of the same era, and whether or not it is one. */
static void any_other_byte_at_any_place_is_seen(void **state)
{
    char *p = mem_alloc(STAMP_DIGITS); /* nothing behind it may be touched */
    int64_t ms;

    (void)state;
    for (size_t at = 0; at < STAMP_DIGITS; at++)
        for (int c = 0; c < 256; c++) {
            bool good = c >= '0' && c <= '9' && !(at == 0 && c == '0');
            struct stamp_era none = STAMP_NO_ERA, one = STAMP_NO_ERA;

            memset(p, '7', STAMP_DIGITS);
            assert_true(stamp_read(&one, (struct bytes){p, STAMP_DIGITS}, &ms));
            p[at] = (char)c;
            assert_int_equal(stamp_read(&none, (struct bytes){p, STAMP_DIGITS}, &ms), good);
            assert_int_equal(stamp_read(&one, (struct bytes){p, STAMP_DIGITS}, &ms), good);
            memset(p, '7', STAMP_DIGITS);
            assert_true(stamp_read(&one, (struct bytes){p, STAMP_DIGITS}, &ms));
            assert_int_equal(ms, 7777777777777);
        }
    mem_free(p);
}

/* NULs too, which are what an era of nothing would look like. */
static void bytes_that_are_all_alike_are_none(void **state)
{
    char p[STAMP_DIGITS];
    int64_t ms;

    (void)state;
    for (int c = 0; c < 256; c++) {
        struct stamp_era era = STAMP_NO_ERA;

        memset(p, c, sizeof(p));
        assert_int_equal(stamp_read(&era, (struct bytes){p, sizeof(p)}, &ms), c > '0' && c <= '9');
        memset(p + 5, '1', sizeof(p) - 5);
        assert_int_equal(stamp_read(&era, (struct bytes){p, sizeof(p)}, &ms), c > '0' && c <= '9');
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_of_13_digits_are_read),
        cmocka_unit_test(each_digit_counts_in_its_place),
        cmocka_unit_test(no_other_length_is_told),
        cmocka_unit_test(any_other_byte_at_any_place_is_seen),
        cmocka_unit_test(bytes_that_are_all_alike_are_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
