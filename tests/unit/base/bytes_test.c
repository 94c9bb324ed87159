#include "unit.h"

#include <stdlib.h>

#include "base/bytes.h"

static int sign(int x)
{
    return (x > 0) - (x < 0);
}

static void compares_bytewise_and_a_prefix_is_less(void **state)
{
    static const struct bytes in_order[] = {
        BYTES_LIT(""),     BYTES_LIT("\0"),       BYTES_LIT("\0a"),  BYTES_LIT("A"),
        BYTES_LIT("a"),    BYTES_LIT("a\0"),      BYTES_LIT("aa"),   BYTES_LIT("ab"),
        BYTES_LIT("b"),    BYTES_LIT("\x7F\x7F"), BYTES_LIT("\x80"), BYTES_LIT("\xC3\xA4"),
        BYTES_LIT("\xFF"),
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(in_order); i++) {
        for (size_t j = 0; j < COUNT_OF(in_order); j++) {
            int expected = (i > j) - (i < j);

            assert_int_equal(sign(bytes_compare(in_order[i], in_order[j])), expected);
            assert_int_equal(bytes_equal(in_order[i], in_order[j]), i == j);
        }
    }
}

static void compares_null_as_the_empty_string(void **state)
{
    (void)state;
    assert_int_equal(bytes_compare(BYTES_NULL, BYTES_NULL), 0);
    assert_int_equal(bytes_compare(BYTES_NULL, BYTES_LIT("")), 0);
    assert_true(bytes_compare(BYTES_NULL, BYTES_LIT("a")) < 0);
    assert_true(bytes_compare(BYTES_LIT("a"), BYTES_NULL) > 0);
    assert_true(bytes_equal(BYTES_NULL, BYTES_LIT("")));
}

/* In memory that ends with the text. */
static void finds_each_of_several(void **state)
{
    static const char bytes[] = ",,,x-.+\x2c\xac\x2d\0";

    (void)state;
    for (size_t n = 0; n <= 40; n++) {
        for (unsigned seed = 0; seed < 200; seed++) {
            char *p = malloc(n + 1);
            struct bytes text = {p + 1, n};
            unsigned found = 0;
            for (size_t i = 0; i < n; i++)
                p[i + 1] = bytes[(seed * 2654435761u >> (i % 27)) % (sizeof(bytes) - 1)];
            for (size_t i = 0; i < n; i++)
                if (p[i + 1] == ',')
                    assert_ptr_equal(bytes_find_nth(text, ',', ++found), p + 1 + i);
            assert_null(bytes_find_nth(text, ',', found + 1));
            free(p);
        }
    }
}

static void knows_the_length_of_a_text(void **state)
{
    (void)state;
    assert_int_equal(bytes_of("abc").n, 3);
    assert_int_equal(bytes_of("").n, 0);
    assert_non_null(bytes_of("").p);
    assert_int_equal(bytes_of(NULL).n, 0);
    assert_null(bytes_of(NULL).p);
    assert_int_equal(BYTES_LIT("a\0b").n, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compares_bytewise_and_a_prefix_is_less),
        cmocka_unit_test(compares_null_as_the_empty_string),
        cmocka_unit_test(finds_each_of_several),
        cmocka_unit_test(knows_the_length_of_a_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
