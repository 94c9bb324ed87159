#include "unit.h"

#include "model/fate.h"

static void every_fate_has_its_word(void **state)
{
    static const char *const words[FATES] = {"rejected", "filtered", "late", "matched",
                                             "unmatched"};

    (void)state;
    for (int f = 0; f < FATES; f++)
        assert_string_equal(fate_word((enum fate)f), words[f]);
}

static void each_fate_is_in_the_balance(void **state)
{
    (void)state;
    for (int f = 0; f < FATES; f++) {
        struct books books = {0};
        struct books_side *left = &books.side[SIDE_LEFT];

        left->received = 5;
        assert_true(books_balance(left, 5));
        record_fate(&books, SIDE_LEFT, (enum fate)f, NULL);
        record_fates(&books, SIDE_LEFT, (enum fate)f, 2);
        assert_true(books_balance(left, 2));
        assert_false(books_balance(left, 5));
        assert_true(books_balance(&books.side[SIDE_RIGHT], 0));
    }
}

static void fates_go_by_their_names(void **state)
{
    struct books books = {0};
    const struct books_side *right = &books.side[SIDE_RIGHT];

    (void)state;
    for (int f = 0; f < FATES; f++)
        record_fates(&books, SIDE_RIGHT, (enum fate)f, (uint64_t)f + 1);
    assert_int_equal(right->rejected, 1);
    assert_int_equal(right->filtered, 2);
    assert_int_equal(right->late, 3);
    assert_int_equal(right->matched, 4);
    assert_int_equal(right->unmatched, 5);
}

static void what_a_firing_decided_is_added(void **state)
{
    struct books books = {0}, more = {0};

    (void)state;
    record_fate(&books, SIDE_LEFT, FATE_MATCHED, NULL);
    record_fates(&more, SIDE_LEFT, FATE_MATCHED, 2);
    record_fates(&more, SIDE_RIGHT, FATE_UNMATCHED, 3);
    more.results[RESULT_PAIR] = 4;
    more.near_misses = 5;
    books_add_fired(&books, &more);
    assert_int_equal(books.side[SIDE_LEFT].matched, 3);
    assert_int_equal(books.side[SIDE_RIGHT].unmatched, 3);
    assert_int_equal(books.results[RESULT_PAIR], 4);
    assert_int_equal(books.near_misses, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_fate_has_its_word),
        cmocka_unit_test(each_fate_is_in_the_balance),
        cmocka_unit_test(fates_go_by_their_names),
        cmocka_unit_test(what_a_firing_decided_is_added),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
