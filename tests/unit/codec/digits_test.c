#include "unit.h"

#include "base/mem.h"
#include "codec/digits.h"

static const enum value_type numbers[] = {TYPE_BIGINT, TYPE_TIMESTAMP_MS, TYPE_TIMESTAMP_US,
                                          TYPE_TIMESTAMP_NS};

static void takes_digits_up_to_the_length_asked_for(void **state)
{
    static const char nines[] = "99999999999999999";

    (void)state;
    for (size_t max = 1; max <= 16; max++)
        for (size_t n = 0; n <= 17; n++)
            assert_int_equal(digits_plain_number((struct bytes){nines, n}, max),
                             n >= 1 && n <= max);
    assert_false(digits_plain_number(BYTES_LIT("1"), 0));
}

static void a_leading_zero_is_for_others_to_judge(void **state)
{
    (void)state;
    assert_false(digits_plain_number(BYTES_LIT("0"), 16));
    assert_false(digits_plain_number(BYTES_LIT("01"), 16));
    assert_true(digits_plain_number(BYTES_LIT("10"), 16));
}

static void any_other_byte_at_any_place_is_seen(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 16; n++) {
        char *p = mem_alloc(n); /* nothing behind it may be touched */

        for (size_t at = 0; at < n; at++) {
            for (int c = 0; c < 256; c++) {
                bool digit = c >= '0' && c <= '9';

                memset(p, '7', n);
                p[at] = (char)c;
                assert_int_equal(digits_plain_number((struct bytes){p, n}, 16),
                                 digit && !(at == 0 && c == '0'));
            }
        }
        mem_free(p);
    }
}

/* value_check() is the judge: what is told is canonical, and whatever could be told is. */
static void decimals_are_told_by_their_digits_and_one_point(void **state)
{
    static const char bytes[] = "0179..-e+/:,a\"\x00\xff";

    (void)state;
    for (size_t n = 0; n <= 18; n++) {
        char *p = mem_alloc(n + 1);
        for (unsigned seed = 0; seed < 20000; seed++) {
            uint64_t random = seed * UINT64_C(0x9e3779b97f4a7c15) + n;
            struct bytes text = {mem_alloc(n), n};
            size_t points = 0, others = 0;
            for (size_t i = 0; i < n; i++) {
                random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
                /* mostly a digit */
                p[i] = random >> 60 < 14 ? (char)('0' + (random >> 33) % 10)
                                         : bytes[(random >> 33) % (sizeof(bytes) - 1)];
                points += p[i] == '.';
                others += p[i] != '.' && (p[i] < '0' || p[i] > '9');
            }
            memcpy((void *)(uintptr_t)text.p, p, n); /* nothing behind it may be touched */
            assert_int_equal(digits_plain_decimal(text), n >= 3 && n <= 16 && points == 1 &&
                                                             others == 0 && p[0] > '0' &&
                                                             p[n - 1] > '0');
            if (digits_plain_decimal(text))
                assert_int_equal(value_check(TYPE_DOUBLE, text), VALUE_CANONICAL);
            mem_free((void *)(uintptr_t)text.p);
        }
        mem_free(p);
    }
}

static void so_many_digits_are_canonical_for_their_type(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        size_t max = digits_in_range(numbers[i]);
        struct bytes lowest = {"1000000000000000", max};
        struct bytes highest = {"9999999999999999", max};

        assert_true(max > 0);
        assert_int_equal(value_check(numbers[i], lowest), VALUE_CANONICAL);
        assert_int_equal(value_check(numbers[i], highest), VALUE_CANONICAL);
    }
}

static void no_other_type_is_told_by_its_digits(void **state)
{
    (void)state;
    assert_int_equal(digits_in_range(TYPE_STRING), 0);
    assert_int_equal(digits_in_range(TYPE_DOUBLE), 0);
    assert_int_equal(digits_in_range(TYPE_BOOLEAN), 0);
    assert_int_equal(digits_in_range(TYPE_TIMESTAMP), 0);
    assert_int_equal(digits_in_range(TYPE_TIMESTAMP_S), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_digits_up_to_the_length_asked_for),
        cmocka_unit_test(a_leading_zero_is_for_others_to_judge),
        cmocka_unit_test(any_other_byte_at_any_place_is_seen),
        cmocka_unit_test(decimals_are_told_by_their_digits_and_one_point),
        cmocka_unit_test(so_many_digits_are_canonical_for_their_type),
        cmocka_unit_test(no_other_type_is_told_by_its_digits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
