#include "join/near_miss.h"
#include "join_fixture.h"

#include "base/hash.h"

#define SIZE 5000
#define MUCH UINT64_MAX

struct near_fixture {
    struct plan *plan;
    struct books books;
    struct lag lag;
    struct near_miss near_miss;
};

static struct near_fixture *open_near(struct plan *plan, uint64_t bytes_max)
{
    struct near_fixture *f = mem_alloc_zeroed(1, sizeof(*f));

    f->plan = plan;
    lag_init(&f->lag);
    near_miss_init(&f->near_miss, plan, &f->books, &f->lag, bytes_max);
    return f;
}

static void close_near(struct near_fixture *f)
{
    near_miss_done(&f->near_miss);
    plan_free(f->plan);
    mem_free(f);
}

static uint32_t hash_of(uint64_t key)
{
    return (uint32_t)hash_number(key);
}

/* How many misses were found so far. */
static uint64_t lost(struct near_fixture *f, enum side side, uint64_t key, int64_t t)
{
    near_miss_lost(&f->near_miss, side, hash_of(key), t);
    near_miss_settle(&f->near_miss);
    assert_int_equal(lag_pairs(&f->lag), f->books.near_misses);
    return f->books.near_misses;
}

static void assert_distance(const struct near_fixture *f, int64_t ms)
{
    struct lag_bounds b;

    assert_true(lag_keep(&f->lag, 5000, &b));
    assert_int_equal(b.lower_ms, ms);
    assert_int_equal(b.upper_ms, ms);
}

static void a_pair_on_either_side_of_an_edge_is_a_near_miss(void **state)
{
    struct near_fixture *f = open_near(PLAN(.size_ms = SIZE), MUCH);
    struct near_fixture *g = open_near(PLAN(.size_ms = SIZE), MUCH);

    (void)state;
    assert_int_equal(lost(f, SIDE_LEFT, 1, 4900), 0);
    assert_int_equal(lost(f, SIDE_RIGHT, 1, 5100), 1);
    assert_distance(f, 200);
    assert_int_equal(lost(g, SIDE_RIGHT, 1, 4900), 0);
    assert_int_equal(lost(g, SIDE_LEFT, 1, 5100), 1);
    assert_distance(g, -200);
    close_near(f);
    close_near(g);
}

static void only_the_other_side_and_the_same_key_count(void **state)
{
    struct near_fixture *f = open_near(PLAN(.size_ms = SIZE), MUCH);

    (void)state;
    assert_int_equal(lost(f, SIDE_LEFT, 1, 4900), 0);
    assert_int_equal(lost(f, SIDE_LEFT, 1, 5100), 0);
    assert_int_equal(lost(f, SIDE_RIGHT, 2, 5100), 0);
    close_near(f);
}

static void each_record_hits_once(void **state)
{
    struct near_fixture *f = open_near(PLAN(.size_ms = SIZE), MUCH);

    (void)state;
    assert_int_equal(lost(f, SIDE_LEFT, 1, 4900), 0);
    assert_int_equal(lost(f, SIDE_RIGHT, 1, 5100), 1);
    assert_int_equal(lost(f, SIDE_RIGHT, 1, 5200), 1); /* lost itself, for a left one to come */
    assert_int_equal(lost(f, SIDE_LEFT, 1, 10100), 2);
    assert_int_equal(lost(f, SIDE_LEFT, 1, 10200), 2);
    assert_int_equal(lost(f, SIDE_RIGHT, 1, 15100), 3);
    close_near(f);
}

static void the_newest_of_a_key_is_the_one_that_is_hit(void **state)
{
    const int64_t times[][2] = {{1000, 4900}, {4900, 1000}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(times); i++) {
        struct near_fixture *f = open_near(PLAN(.size_ms = SIZE), MUCH);
        lost(f, SIDE_LEFT, 1, times[i][0]);
        lost(f, SIDE_LEFT, 1, times[i][1]);
        assert_int_equal(lost(f, SIDE_RIGHT, 1, 5000), 1);
        assert_distance(f, 100);
        close_near(f);
    }
}

static void ten_sizes_are_near_and_more_is_not(void **state)
{
    static const struct {
        int64_t left, right;
        uint64_t misses;
    } rows[] = {
        {0, 50000, 1}, {0, 50001, 0}, {50000, 0, 1}, {50001, 0, 0}, {-50000, 0, 1}, {-1, 50000, 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct near_fixture *f = open_near(PLAN(.size_ms = SIZE), MUCH);
        lost(f, SIDE_LEFT, 1, rows[i].left);
        assert_int_equal(lost(f, SIDE_RIGHT, 1, rows[i].right), rows[i].misses);
        close_near(f);
    }
}

/* It was `on` that kept them apart. */
static void two_that_shared_a_window_are_no_near_miss(void **state)
{
    static const struct {
        int64_t size_ms, slide_ms, left, right;
        uint64_t misses;
    } rows[] = {
        {10000, 10000, 0, 9999, 0},    {10000, 10000, 9999, 0, 0},
        {10000, 10000, -1, 0, 1},      {10000, 10000, 9999, 10000, 1},
        {10000, 5000, 9999, 10000, 0}, {10000, 5000, 4999, 10000, 1},
        {10000, 5000, 5000, 14999, 0}, {10000, 5000, 4999, 14999, 1},
        {10000, 3000, 2999, 10000, 1}, {10000, 3000, 3000, 12999, 0},
        {5000, 10000, 1000, 6000, 1},  {5000, 10000, 6000, 7000, 1},
        {5000, 10000, 6000, 11000, 1},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct near_fixture *f = open_near(
            PLAN(.match = MATCH_SLIDING, .size_ms = rows[i].size_ms, .slide_ms = rows[i].slide_ms),
            MUCH);
        lost(f, SIDE_LEFT, 1, rows[i].left);
        assert_int_equal(lost(f, SIDE_RIGHT, 1, rows[i].right), rows[i].misses);
        close_near(f);
    }
}

static void the_newest_keys_stay(void **state)
{
    struct near_fixture *f = open_near(PLAN(.size_ms = INT64_C(1) << 40), MUCH);
    const uint64_t keys = 5 * NEAR_MISS_KEYS / 2;
    uint64_t misses;

    (void)state;
    for (uint64_t key = 0; key < keys; key++)
        lost(f, SIDE_LEFT, key, -1 - (int64_t)(keys - key));
    assert_true(f->near_miss.bytes <= UINT64_C(8) << 20);
    for (uint64_t key = keys - NEAR_MISS_KEYS; key < keys; key++)
        lost(f, SIDE_RIGHT, key, (int64_t)key);
    misses = f->books.near_misses;
    assert_true(misses >= NEAR_MISS_KEYS - 16);          /* a few keys share a hash */
    assert_int_equal(lost(f, SIDE_RIGHT, 0, 0), misses); /* long forgotten */
    close_near(f);
}

static void a_small_state_keeps_fewer(void **state)
{
    const uint64_t most[] = {0, 1000, 4096, 100000, 1 << 20};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(most); i++) {
        struct near_fixture *f = open_near(PLAN(.size_ms = SIZE), most[i]);
        assert_int_equal(f->near_miss.bytes, 0);
        for (uint64_t key = 0; key < 20000; key++) {
            lost(f, SIDE_LEFT, key, 4900);
            lost(f, SIDE_RIGHT, 100000 + key, 5100);
        }
        assert_true(f->near_miss.bytes > 0);
        assert_true(f->near_miss.bytes <= (most[i] < 1024 ? 1024 : most[i]));
        lost(f, SIDE_RIGHT, 19999, 5100);
        assert_true(f->books.near_misses >= 1);
        close_near(f);
    }
}

static void distances_may_be_nobodys_business(void **state)
{
    struct near_fixture *f = open_near(PLAN(.size_ms = SIZE), MUCH);

    (void)state;
    f->near_miss.lag = NULL;
    near_miss_lost(&f->near_miss, SIDE_LEFT, 1, 4900);
    near_miss_lost(&f->near_miss, SIDE_RIGHT, 1, 5100);
    near_miss_settle(&f->near_miss);
    assert_int_equal(f->books.near_misses, 1);
    close_near(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pair_on_either_side_of_an_edge_is_a_near_miss),
        cmocka_unit_test(only_the_other_side_and_the_same_key_count),
        cmocka_unit_test(each_record_hits_once),
        cmocka_unit_test(the_newest_of_a_key_is_the_one_that_is_hit),
        cmocka_unit_test(ten_sizes_are_near_and_more_is_not),
        cmocka_unit_test(two_that_shared_a_window_are_no_near_miss),
        cmocka_unit_test(the_newest_keys_stay),
        cmocka_unit_test(a_small_state_keeps_fewer),
        cmocka_unit_test(distances_may_be_nobodys_business),
    };
    return cmocka_run_group_tests_name("join/near_miss", tests, NULL, NULL);
}
