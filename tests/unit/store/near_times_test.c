#include "join_fixture.h"

#include "model/record.h"
#include "store/near_times.h"

#define HALF  NEAR_TIMES_HALF_MS
#define COUNT 300

/* As a store does it. */
static bool add(struct near_times *n, int64_t t)
{
    if (!near_times_fit(n, t))
        return false;
    near_times_add(n, t);
    return true;
}

/* What 32 bits of it say. */
static int64_t told(const struct near_times *n, int64_t t)
{
    struct {
        struct record record;
        uint32_t low;
    } r = {.record.size_flags = RECORD_TIME32, .low = (uint32_t)t};

    return record_time_near(&r.record, n->base);
}

static void so_many_days_fit_beside_the_first_one(void **state)
{
    static const struct {
        int64_t first, second;
        bool fits;
    } rows[] = {
        {0, 0, true},
        {0, -HALF, true},
        {0, -HALF - 1, false},
        {0, HALF - 1, true},
        {0, HALF, true}, /* the first half is empty, so the base goes on */
        {0, 2 * HALF - 1, true},
        {0, 2 * HALF, false},
        {1234567, 1234567 - HALF, true},
        {INT64_MIN, INT64_MIN, true},
        {INT64_MIN, INT64_MIN + 2 * HALF - 1, true},
        {INT64_MIN, INT64_MIN + 2 * HALF, false}, /* it would pass by the first one */
        {INT64_MIN, INT64_MAX, false},
        {INT64_MIN + HALF - 1, INT64_MIN, true},
        {INT64_MIN + HALF, INT64_MIN, true},
        {INT64_MIN + HALF + 1, INT64_MIN, false},
        {INT64_MAX, INT64_MAX, true},
        {INT64_MAX, INT64_MAX - HALF, true},
        {INT64_MAX, INT64_MAX - HALF - 1, false},
        {INT64_MAX, INT64_MIN, false},
        {INT64_MAX - 2 * HALF, INT64_MAX, false},
        {INT64_MAX - 2 * HALF + 1, INT64_MAX, true},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct near_times n = {0};
        char name[64];
        snprintf(name, sizeof(name), "%" PRId64 ", %" PRId64, rows[i].first, rows[i].second);
        assert_row(add(&n, rows[i].first), name);
        assert_row(add(&n, rows[i].second) == rows[i].fits, name);
        assert_row(told(&n, rows[i].first) == rows[i].first, name);
        if (rows[i].fits)
            assert_row(told(&n, rows[i].second) == rows[i].second, name);
    }
}

/* Nothing that is there holds it back. */
static void the_base_goes_anywhere_while_nothing_is_there(void **state)
{
    static const int64_t times[] = {0, INT64_MAX, INT64_MIN, -1, INT64_MAX - 5, 7 * HALF};
    struct near_times n = {0};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(times); i++) {
        assert_true(add(&n, times[i]));
        assert_int_equal(told(&n, times[i]), times[i]);
        near_times_drop(&n, times[i]);
    }
}

/* One that stays does so for as long as it likes; what is too far from it does not fit. */
static void what_is_there_is_told_whole_however_time_goes_on(void **state)
{
    struct near_times n = {0};
    int64_t there[COUNT];
    size_t count = 0, fitted = 0;
    uint64_t chance = 1;
    int64_t t = INT64_MIN;

    (void)state;
    for (int i = 0; i < 20000; i++) {
        int64_t own = t + (int64_t)dice(&chance, 1u << 31);
        t += dice(&chance, 1u << 24);
        if (count == COUNT || (count > 0 && dice(&chance, 2) == 0)) {
            size_t which = dice(&chance, (uint32_t)(dice(&chance, 20) == 0 ? count : 1));
            near_times_drop(&n, there[which]);
            memmove(there + which, there + which + 1, (--count - which) * sizeof(*there));
        } else if (add(&n, own)) {
            there[count++] = own;
            fitted++;
        }
        for (size_t j = 0; j < count; j++)
            assert_int_equal(told(&n, there[j]), there[j]);
        assert_int_equal(n.count[0] + n.count[1], count);
    }
    assert_true(t - INT64_MIN > 30 * HALF);
    assert_true(fitted > 5000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(so_many_days_fit_beside_the_first_one),
        cmocka_unit_test(the_base_goes_anywhere_while_nothing_is_there),
        cmocka_unit_test(what_is_there_is_told_whole_however_time_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
