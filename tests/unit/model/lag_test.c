#include "unit.h"

#include "base/mem.h"
#include "model/lag.h"

#define DAY INT64_C(86400000)

static const unsigned shares[] = {5000, 9000, 9900, 9990};

static struct lag *new_lag(void)
{
    struct lag *l = mem_alloc_zeroed(1, sizeof(*l));

    lag_init(l);
    return l;
}

static uint64_t rows_of(const struct lag *l)
{
    uint64_t rows = 0;

    for (int i = 0; i <= LAG_BUCKETS; i++)
        rows += l->bucket[i];
    return rows;
}

/* --- buckets --- */

static void a_row_is_counted_in_the_first_bucket_that_takes_it(void **state)
{
    (void)state;
    for (int i = 0; i < LAG_BUCKETS; i++) {
        int64_t le = (int64_t)(lag_le_seconds[i] * 1000 + 0.5);
        struct lag *l = new_lag();

        lag_add_row(l, le);
        lag_add_row(l, -le);
        assert_int_equal(l->bucket[i], 2);
        lag_add_row(l, le + 1);
        lag_add_row(l, -le - 1);
        assert_int_equal(l->bucket[i + 1], 2);
        assert_int_equal(rows_of(l), 4);
        assert_int_equal(l->sum_ms, 4 * le + 2);
        mem_free(l);
    }
}

static void any_lag_has_its_bucket(void **state)
{
    const int64_t lags[] = {0,   1,       -1,        2,           3,          1023,      1024,
                            DAY, DAY + 1, 100 * DAY, 50000 * DAY, LAG_MAX_MS, INT64_MAX, INT64_MIN};
    struct lag *l = new_lag();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(lags); i++) {
        uint64_t m = lag_magnitude(lags[i]);
        int b = 0;

        while (b < LAG_BUCKETS && (double)m > lag_le_seconds[b] * 1000)
            b++;
        memset(l->bucket, 0, sizeof(l->bucket));
        lag_add_row(l, lags[i]);
        assert_int_equal(l->bucket[b], 1);
        assert_int_equal(rows_of(l), 1);
    }
    mem_free(l);
}

/* --- both --- */

static void a_pair_that_is_a_row_is_both(void **state)
{
    struct lag *both = new_lag(), *one = new_lag();

    (void)state;
    for (int64_t ms = -2 * LAG_NEAR; ms <= 2 * LAG_NEAR; ms++)
        for (int64_t n = 0; n < 1 + (ms & 3); n++) {
            lag_add_row(both, ms);
            lag_add_pair(both, ms);
            lag_add(one, ms);
        }
    lag_settle(one);
    assert_memory_equal(one, both, sizeof(*one));
    lag_settle(one);
    assert_memory_equal(one, both, sizeof(*one));
    mem_free(both);
    mem_free(one);
}

/* --- bounds --- */

static void nothing_seen_advises_nothing(void **state)
{
    struct lag *l = new_lag();
    struct lag_bounds bounds;

    (void)state;
    assert_false(lag_keep(l, 9900, &bounds));
    lag_add_row(l, 5);
    assert_false(lag_keep(l, 9900, &bounds)); /* a row is not yet a pair */
    mem_free(l);
}

/* One lag: the bounds hold it, and nothing that is 1 % away. */
static void assert_tight(int64_t ms)
{
    int64_t m = ms < 0 ? -ms : ms;

    for (size_t i = 0; i < COUNT_OF(shares); i++) {
        struct lag *l = new_lag();
        struct lag_bounds b;

        lag_add_pair(l, ms);
        assert_true(lag_keep(l, shares[i], &b));
        assert_true(b.lower_ms <= ms && ms <= b.upper_ms);
        assert_true((b.upper_ms - b.lower_ms) * 100 < m || b.upper_ms == b.lower_ms);
        assert_int_equal(lag_pairs(l), 1);
        mem_free(l);
    }
}

static void bounds_are_off_by_less_than_one_percent(void **state)
{
    (void)state;
    for (int64_t m = 0; m < 5000; m = m < 600 ? m + 1 : m + 37) {
        assert_tight(m);
        assert_tight(-m);
    }
    for (int octave = 12; octave < 41; octave++)
        for (int64_t off = -1; off <= 1; off++) {
            assert_tight((INT64_C(1) << octave) + off);
            assert_tight(-(INT64_C(1) << octave) + off);
            assert_tight((INT64_C(3) << (octave - 1)) + off);
        }
    assert_tight(LAG_MAX_MS);
    assert_tight(-LAG_MAX_MS);
}

static void what_no_bound_could_be_is_held_to_what_can(void **state)
{
    const int64_t lags[] = {INT64_MAX, INT64_MIN, LAG_MAX_MS + 1, -LAG_MAX_MS - 1};
    struct lag_bounds b;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(lags); i++) {
        struct lag *l = new_lag();
        lag_add_pair(l, lags[i]);
        assert_true(lag_keep(l, 9990, &b));
        assert_int_equal(lags[i] < 0 ? b.lower_ms : b.upper_ms,
                         lags[i] < 0 ? -LAG_MAX_MS : LAG_MAX_MS);
        mem_free(l);
    }
}

/* -100 .. 99: below 256 ms cells are exact. */
static void as_many_are_left_out_on_either_side(void **state)
{
    static const struct {
        unsigned share;
        int64_t lower_ms, upper_ms;
    } rows[] = {{10000, -100, 99}, {9990, -100, 99}, {9900, -99, 98},
                {9000, -90, 89},   {5000, -50, 49},  {100, -1, 0}};
    struct lag *l = new_lag();
    struct lag_bounds b;

    (void)state;
    for (int64_t ms = -100; ms < 100; ms++)
        lag_add_pair(l, ms);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_true(lag_keep(l, rows[i].share, &b));
        assert_int_equal(b.lower_ms, rows[i].lower_ms);
        assert_int_equal(b.upper_ms, rows[i].upper_ms);
    }
    mem_free(l);
}

static void all_lags_may_be_of_one_sign(void **state)
{
    struct lag *l = new_lag();
    struct lag_bounds b;

    (void)state;
    for (int64_t ms = 1; ms <= 200; ms++)
        lag_add_pair(l, -ms);
    assert_true(lag_keep(l, 5000, &b));
    assert_int_equal(b.lower_ms, -150);
    assert_int_equal(b.upper_ms, -51);
    mem_free(l);
}

/* 10 of 1,000 may be left out, and one more would be too many. */
static void a_bound_holds_what_it_promises(void **state)
{
    struct lag *l = new_lag();
    struct lag_bounds b;

    (void)state;
    for (int i = 0; i < 990; i++)
        lag_add_pair(l, 5);
    for (int i = 0; i < 5; i++) {
        lag_add_pair(l, 200);
        lag_add_pair(l, -200);
    }
    assert_true(lag_keep(l, 9900, &b));
    assert_int_equal(b.lower_ms, 5);
    assert_int_equal(b.upper_ms, 5);
    lag_add_pair(l, 200);
    assert_true(lag_keep(l, 9900, &b));
    assert_int_equal(b.lower_ms, 5);
    assert_int_equal(b.upper_ms, 200);
    mem_free(l);
}

static void what_is_moved_is_there_and_not_here(void **state)
{
    static const int64_t lags[] = {0, 1, -1, 255, -256, 9999, -10000, 10000};
    struct lag *all = mem_alloc_zeroed(1, sizeof(*all)), *more = mem_alloc_zeroed(1, sizeof(*more));
    struct lag *to = mem_alloc_zeroed(1, sizeof(*to)), *none = mem_alloc_zeroed(1, sizeof(*none));
    struct lag *each[] = {all, more, to, none};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(each); i++)
        lag_init(each[i]);
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < COUNT_OF(lags); i++) {
            lag_add_row(all, lags[i]);
            lag_add_pair(all, lags[i]);
            lag_add(more, lags[i]);
        }
        lag_move(to, more, 10000);
        assert_memory_equal(to, all, sizeof(*all));
        assert_memory_equal(more, none, sizeof(*none));
    }
    lag_add_pair(all, INT64_MAX);
    lag_add_pair(all, -INT64_MAX);
    lag_move(to, all, INT64_MAX);
    assert_int_equal(lag_pairs(to), 4 * COUNT_OF(lags) + 2);
    for (size_t i = 0; i < COUNT_OF(each); i++)
        mem_free(each[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_is_counted_in_the_first_bucket_that_takes_it),
        cmocka_unit_test(any_lag_has_its_bucket),
        cmocka_unit_test(a_pair_that_is_a_row_is_both),
        cmocka_unit_test(nothing_seen_advises_nothing),
        cmocka_unit_test(bounds_are_off_by_less_than_one_percent),
        cmocka_unit_test(what_no_bound_could_be_is_held_to_what_can),
        cmocka_unit_test(as_many_are_left_out_on_either_side),
        cmocka_unit_test(all_lags_may_be_of_one_sign),
        cmocka_unit_test(a_bound_holds_what_it_promises),
        cmocka_unit_test(what_is_moved_is_there_and_not_here),
    };
    return cmocka_run_group_tests_name("model/lag", tests, NULL, NULL);
}
