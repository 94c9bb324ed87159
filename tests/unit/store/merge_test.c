#include "join_fixture.h"
#include "store/merge.h"

#define RUNS_MAX 40

static void one_run_has_no_bound(void **state)
{
    struct merge m = {0};

    (void)state;
    merge_add(&m, 7, 3);
    assert_int_equal(merge_first(&m), 3);
    assert_true(merge_bound(&m) == UINT64_MAX);
    merge_renew(&m, UINT64_MAX);
    merge_drop(&m);
    assert_int_equal(m.count, 0);
    merge_done(&m);
}

static void the_bound_is_where_another_runs_turn_comes(void **state)
{
    struct merge m = {0};

    (void)state;
    merge_add(&m, 30, 0);
    merge_add(&m, 10, 1);
    merge_add(&m, 20, 2);
    assert_int_equal(merge_first(&m), 1);
    assert_int_equal(merge_bound(&m), 20);
    merge_renew(&m, 19);
    assert_int_equal(merge_first(&m), 1);
    merge_renew(&m, 21);
    assert_int_equal(merge_first(&m), 2);
    assert_int_equal(merge_bound(&m), 21);
    merge_drop(&m);
    assert_int_equal(merge_first(&m), 1);
    assert_int_equal(merge_bound(&m), 30);
    assert_int_equal(merge_bytes(&m), m.capacity * sizeof(struct merge_run));
    merge_done(&m);
    assert_int_equal(merge_bytes(&m), 0);
}

/* Each number goes to a run by chance; taken by turns, they come as they are counted. */
static void all_come_in_order(void **state)
{
    struct merge m = {0};
    uint64_t seed = 1;

    (void)state;
    for (int n = 0; n < 200; n++) {
        uint32_t runs = 1 + dice(&seed, RUNS_MAX), lengths[RUNS_MAX] = {0}, at[RUNS_MAX] = {0};
        static uint64_t numbers[RUNS_MAX][500];
        uint64_t next = 0;
        uint32_t run = 0;
        for (uint64_t i = 0; i < 500; i++) {
            if (dice(&seed, 4) == 0)
                run = dice(&seed, runs);
            numbers[run][lengths[run]++] = i;
        }
        for (uint32_t r = 0; r < runs; r++)
            if (lengths[r] > 0)
                merge_add(&m, numbers[r][0], r);
        while (m.count > 0) {
            uint32_t r = merge_first(&m);
            uint64_t bound = merge_bound(&m);
            assert_true(numbers[r][at[r]] < bound);
            for (; at[r] < lengths[r] && numbers[r][at[r]] < bound; at[r]++)
                assert_int_equal(numbers[r][at[r]], next++);
            if (at[r] == lengths[r])
                merge_drop(&m);
            else
                merge_renew(&m, numbers[r][at[r]]);
        }
        assert_int_equal(next, 500);
    }
    merge_done(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_run_has_no_bound),
        cmocka_unit_test(the_bound_is_where_another_runs_turn_comes),
        cmocka_unit_test(all_come_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
