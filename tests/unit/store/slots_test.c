#include "unit.h"

#include "store/slots.h"

static uint64_t pieces[100];

static void numbers_count_up_from_0(void **state)
{
    struct slots s;

    (void)state;
    slots_init(&s);
    for (uint32_t i = 0; i < 100; i++)
        assert_int_equal(slots_add(&s, &pieces[i]), i);
    for (uint32_t i = 0; i < 100; i++)
        assert_ptr_equal(s.at[i], &pieces[i]);
    assert_int_equal(s.used, 100);
    slots_done(&s);
}

static void the_number_freed_last_is_given_out_first(void **state)
{
    struct slots s;

    (void)state;
    slots_init(&s);
    for (uint32_t i = 0; i < 10; i++)
        slots_add(&s, &pieces[i]);
    slots_remove(&s, 3);
    slots_remove(&s, 9);
    slots_remove(&s, 0);
    assert_false(slots_has(&s, 0));
    assert_true(slots_has(&s, 1));
    assert_int_equal(slots_add(&s, &pieces[50]), 0);
    assert_int_equal(slots_add(&s, &pieces[51]), 9);
    assert_int_equal(slots_add(&s, &pieces[52]), 3);
    assert_int_equal(slots_add(&s, &pieces[53]), 10);
    assert_ptr_equal(s.at[9], &pieces[51]);
    assert_false(slots_has(&s, 11));
    slots_done(&s);
}

static void growth_tells_what_the_next_one_takes(void **state)
{
    struct slots s;

    (void)state;
    slots_init(&s);
    for (uint32_t i = 0; i < 100; i++) {
        uint64_t expected = slots_bytes(&s) + slots_growth(&s);
        slots_add(&s, &pieces[i]);
        assert_int_equal(slots_bytes(&s), expected);
    }
    slots_remove(&s, 7);
    assert_int_equal(slots_growth(&s), 0);
    slots_done(&s);
}

static void without_pieces_it_takes_no_memory(void **state)
{
    struct slots s;

    (void)state;
    slots_init(&s);
    assert_int_equal(slots_bytes(&s), 0);
    for (uint32_t i = 0; i < 100; i++)
        slots_add(&s, &pieces[i]);
    for (uint32_t i = 0; i < 100; i++)
        slots_remove(&s, 99 - i);
    assert_int_equal(slots_bytes(&s), 0);
    assert_int_equal(slots_add(&s, &pieces[0]), 0);
    slots_done(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_count_up_from_0),
        cmocka_unit_test(the_number_freed_last_is_given_out_first),
        cmocka_unit_test(growth_tells_what_the_next_one_takes),
        cmocka_unit_test(without_pieces_it_takes_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
