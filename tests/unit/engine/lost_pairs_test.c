/*
 * What windows part, told by the engine: near misses in small stories, and the interval
 * that is advised instead, for known distributions of delay.
 */
#include "engine_fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t misses(const struct engine_fixture *f)
{
    return engine_books(f->engine)->near_misses;
}

static uint64_t histogram_rows(const struct engine_fixture *f)
{
    const struct lag *l = engine_lag(f->engine);
    uint64_t rows = 0;

    for (int i = 0; i <= LAG_BUCKETS; i++)
        rows += l->bucket[i];
    return rows;
}

/* --- stories --- */

static void every_type_of_join_sees_what_an_edge_parted(void **state)
{
    (void)state;
    for (int type = 0; type < JOIN_TYPES; type++) {
        struct engine_fixture *f = open_engine(PLAN(.type = (enum join_type)type));
        struct lag_bounds b;

        push(f, SIDE_LEFT, 9900, "k,a,true");
        push(f, SIDE_RIGHT, 10100, "k,x,true");
        end(f);
        assert_int_equal(misses(f), 1);
        assert_true(lag_keep(engine_lag(f->engine), 9900, &b));
        assert_int_equal(b.lower_ms, 200);
        assert_int_equal(b.upper_ms, 200);
        assert_int_equal(histogram_rows(f), 0); /* of rows alone */
        close_engine(f);
    }
}

static void a_pair_within_a_window_has_a_lag_and_is_no_miss(void **state)
{
    struct engine_fixture *f = open_engine(PLAN(.type = JOIN_FULL));
    struct lag_bounds b;

    (void)state;
    push(f, SIDE_RIGHT, 1000, "k,x,true m,y,true");
    push(f, SIDE_LEFT, 1120, "k,a,true");
    end(f);
    assert_int_equal(misses(f), 0);
    assert_true(lag_keep(engine_lag(f->engine), 9900, &b));
    assert_int_equal(b.lower_ms, -120);
    assert_int_equal(b.upper_ms, -120);
    assert_int_equal(histogram_rows(f), 1);
    assert_int_equal(engine_lag(f->engine)->sum_ms, 120);
    close_engine(f);
}

static void null_keys_are_never_near(void **state)
{
    struct engine_fixture *f = open_engine(PLAN(.type = JOIN_FULL));

    (void)state;
    push(f, SIDE_LEFT, 9900, ",a,true");
    push(f, SIDE_RIGHT, 10100, ",x,true");
    end(f);
    assert_int_equal(misses(f), 0);
    close_engine(f);
}

/* What `on` refused within a window was not parted by its edge. */
static void what_on_refused_is_not_lost(void **state)
{
    for (int type = 0; type < JOIN_TYPES; type++) {
        struct engine_fixture *f =
            open_engine(PLAN(.type = (enum join_type)type, .on = "left.id = right.id"));

        (void)state;
        push(f, SIDE_LEFT, 9000, "k,a,true");
        push(f, SIDE_RIGHT, 9100, "k,x,true");
        end(f);
        assert_int_equal(misses(f), 0);
        close_engine(f);
    }
}

static void with_on_an_edge_parts_what_has_the_same_key(void **state)
{
    struct engine_fixture *f = open_engine(PLAN(.type = JOIN_LEFT, .on = "left.id = right.id"));

    (void)state;
    push(f, SIDE_LEFT, 9900, "k,a,true");
    push(f, SIDE_RIGHT, 10100, "k,a,true");
    end(f);
    assert_int_equal(misses(f), 1);
    close_engine(f);
}

static void a_matched_record_is_nobodys_near_miss(void **state)
{
    struct engine_fixture *f = open_engine(PLAN());

    (void)state;
    push(f, SIDE_LEFT, 9800, "k,a,true");
    push(f, SIDE_RIGHT, 9900, "k,x,true");
    push(f, SIDE_RIGHT, 10100, "k,y,true");
    end(f);
    assert_int_equal(misses(f), 0);
    close_engine(f);
}

static void sliding_windows_part_only_what_none_of_them_holds(void **state)
{
    static const struct {
        int64_t left, right;
        uint64_t misses, pairs, rows;
    } rows[] = {
        {4999, 5000, 0, 1, 1},  {9999, 10000, 0, 1, 1}, {6000, 7000, 0, 1, 2},
        {4999, 10000, 1, 1, 0}, {5000, 14999, 0, 1, 1}, {4999, 14999, 1, 1, 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct engine_fixture *f =
            open_engine(PLAN(.match = MATCH_SLIDING, .size_ms = 10000, .slide_ms = 5000));
        push(f, SIDE_LEFT, rows[i].left, "k,a,true");
        push(f, SIDE_RIGHT, rows[i].right, "k,x,true");
        end(f);
        assert_int_equal(misses(f), rows[i].misses);
        assert_int_equal(lag_pairs(engine_lag(f->engine)), rows[i].pairs);
        assert_int_equal(histogram_rows(f), rows[i].rows); /* one a window */
        close_engine(f);
    }
}

static void a_gap_between_windows_parts_too(void **state)
{
    struct engine_fixture *f = open_engine(
        PLAN(.match = MATCH_SLIDING, .size_ms = 5000, .slide_ms = 10000, .type = JOIN_LEFT));

    (void)state;
    push(f, SIDE_LEFT, 4900, "k,a,true");
    push(f, SIDE_RIGHT, 5100, "k,x,true");
    push(f, SIDE_RIGHT, 9900, "m,y,true");
    push(f, SIDE_LEFT, 10100, "m,b,true");
    push(f, SIDE_LEFT, 16000, "n,c,true");
    push(f, SIDE_RIGHT, 16100, "n,z,true");
    end(f);
    assert_int_equal(misses(f), 3);
    close_engine(f);
}

static void many_are_parted_one_by_one(void **state)
{
    struct engine_fixture *f = open_engine(PLAN(.type = JOIN_INNER));
    char line[32];

    (void)state;
    for (int i = 0; i < 1000; i++) {
        snprintf(line, sizeof(line), "k%d,a,true", i);
        push(f, SIDE_LEFT, 9900, line);
    }
    for (int i = 500; i < 2000; i++) {
        snprintf(line, sizeof(line), "k%d,x,true", i);
        push(f, SIDE_RIGHT, 10100, line);
    }
    end(f);
    assert_int_equal(misses(f), 500);
    close_engine(f);
}

/* A record that is late never was in a window; one within grace is lost when it closes. */
static void event_time_parts_when_windows_close(void **state)
{
    struct engine_fixture *f = open_engine(PLAN(.time = TIME_EVENT, .grace_ms = 3000));

    (void)state;
    push(f, SIDE_LEFT, 0, "k,a,true,9900 m,b,true,9000 q,t,true,30000");
    push(f, SIDE_RIGHT, 0, "z,z,true,11000"); /* time is 10999: the first has fired */
    drain(f);
    assert_int_equal(misses(f), 0);
    push(f, SIDE_RIGHT, 0, "m,x,true,9500"); /* within grace: a pair */
    drain(f);
    push(f, SIDE_RIGHT, 0, "k,y,true,12000 z,z,true,13500"); /* it closes */
    drain(f);
    push(f, SIDE_RIGHT, 0, "k,late,true,9950");
    assert_int_equal(books_of(f, SIDE_RIGHT).late, 1);
    assert_int_equal(misses(f), 0);
    end(f);
    assert_int_equal(misses(f), 1);
    assert_int_equal(lag_pairs(engine_lag(f->engine)), 2);
    assert_int_equal(histogram_rows(f), 1);
    close_engine(f);
}

static void other_joins_part_nothing(void **state)
{
    struct engine_fixture *f = open_engine(
        PLAN(.match = MATCH_INTERVAL, .type = JOIN_FULL, .lower_ms = -1000, .upper_ms = 1000));
    struct engine_fixture *g =
        open_engine(PLAN(.match = MATCH_SESSION, .type = JOIN_FULL, .gap_ms = 1000));
    struct engine_fixture *both[] = {f, g};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct lag_bounds b;
        push(both[i], SIDE_LEFT, 1000, "k,a,true");
        drain(both[i]);
        push(both[i], SIDE_RIGHT, 1200, "k,x,true");
        drain(both[i]);
        push(both[i], SIDE_RIGHT, 4000, "k,y,true");
        end(both[i]);
        assert_int_equal(misses(both[i]), 0);
        assert_true(lag_keep(engine_lag(both[i]->engine), 9900, &b));
        assert_int_equal(b.lower_ms, 200);
        close_engine(both[i]);
    }
}

/* Even in windows whose times take more than 32 bits. */
static void lags_are_those_of_the_times(void **state)
{
    const int64_t sizes[] = {1, UINT32_MAX, INT64_C(1) << 32, INT64_C(1) << 33};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        struct engine_fixture *f = open_engine(PLAN(.time = TIME_EVENT, .size_ms = sizes[i],
                                                    .offset_ms = -sizes[i] / 2, .type = JOIN_FULL));
        int64_t first = -sizes[i] / 2, last = first + sizes[i] - 1;
        char left[64], right[64];

        snprintf(left, sizeof(left), "k,a,true,%lld", (long long)first);
        snprintf(right, sizeof(right), "k,x,true,%lld", (long long)last);
        push(f, SIDE_LEFT, last, left);
        push(f, SIDE_RIGHT, last, right);
        assert_string_equal(end(f), "(a,x)");
        assert_int_equal(engine_lag(f->engine)->sum_ms, last - first);
        close_engine(f);
    }
}

/* --- distributions --- */

static uint64_t random_next(uint64_t *seed)
{
    uint64_t x = (*seed += UINT64_C(0x9e3779b97f4a7c15));

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* In (0, 1]. */
static double random_unit(uint64_t *seed)
{
    return ((double)(random_next(seed) >> 11) + 1) / 9007199254740992.0;
}

static int64_t uniform(uint64_t *seed)
{
    return (int64_t)(random_unit(seed) * 8000) - 3000;
}

static int64_t exponential(uint64_t *seed)
{
    return (int64_t)(-log(random_unit(seed)) * 2000);
}

static int64_t early(uint64_t *seed)
{
    return -exponential(seed);
}

static int64_t bimodal(uint64_t *seed)
{
    bool far = random_next(seed) % 4 == 0;
    return (far ? 12000 : -800) + (int64_t)(random_unit(seed) * (far ? 3000 : 400));
}

static int64_t constant(uint64_t *seed)
{
    (void)seed;
    return 7000;
}

#define PAIRS 12000

struct event {
    int64_t time;
    enum side side;
    int key;
};

static int event_compare(const void *a, const void *b)
{
    const struct event *x = a, *y = b;

    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->key != y->key ? (x->key < y->key ? -1 : 1) : (int)x->side - (int)y->side;
}

static void run_events(struct engine_fixture *f, const struct event *events, size_t n)
{
    struct result results[RESULTS_MAX];
    char line[32];

    for (size_t i = 0; i < n; i++) {
        int64_t fuel = ALL_FUEL;
        struct batch *b = &f->batch[events[i].side];
        snprintf(line, sizeof(line), "k%d,a,true", events[i].key);
        add_line(f, events[i].side, bytes_of(line));
        assert_int_equal(engine_push(f->engine, events[i].side, b, 0, at(events[i].time)), 1);
        batch_clear(b);
        while (engine_pull(f->engine, results, RESULTS_MAX, &fuel) > 0)
            ;
    }
    engine_end(f->engine, SIDE_LEFT);
    engine_end(f->engine, SIDE_RIGHT);
    for (int64_t fuel = ALL_FUEL; engine_pull(f->engine, results, RESULTS_MAX, &fuel) > 0;)
        ;
    assert_true(engine_books_balance(f->engine));
}

static double kept(const int64_t *lags, struct lag_bounds b)
{
    int count = 0;

    for (int i = 0; i < PAIRS; i++)
        count += lags[i] >= b.lower_ms && lags[i] <= b.upper_ms;
    return (double)count / PAIRS;
}

static void assert_advice(struct plan *plan, int64_t (*delay)(uint64_t *seed), bool bounded,
                          const char *name)
{
    static const unsigned shares[] = {5000, 9000, 9900, 9990};
    struct event *events = mem_alloc(2 * PAIRS * sizeof(*events));
    int64_t *lags = mem_alloc(PAIRS * sizeof(*lags));
    struct engine_fixture *f = open_engine(plan);
    uint64_t seed = 7;

    for (int i = 0; i < PAIRS; i++) {
        int64_t t = 1000000 + 37 * (int64_t)i;
        lags[i] = delay(&seed);
        events[2 * i] = (struct event){t, SIDE_LEFT, i};
        events[2 * i + 1] = (struct event){t + lags[i], SIDE_RIGHT, i};
    }
    qsort(events, 2 * PAIRS, sizeof(*events), event_compare);
    run_events(f, events, 2 * PAIRS);
    assert_row(misses(f) > 0, name);
    assert_row(lag_pairs(engine_lag(f->engine)) == PAIRS, name); /* none was lost unseen */
    for (size_t i = 0; i < COUNT_OF(shares); i++) {
        double share = shares[i] / 10000.0, got;
        struct lag_bounds b;
        assert_true(lag_keep(engine_lag(f->engine), shares[i], &b));
        got = kept(lags, b);
        assert_row(got >= share, name);
        assert_row(!bounded || got <= share + 0.01, name);
    }
    close_engine(f);
    mem_free(events);
    mem_free(lags);
}

static void the_advised_bounds_keep_what_they_promise(void **state)
{
    static const struct {
        int64_t (*delay)(uint64_t *seed);
        bool bounded; /* a lag that all have cannot be cut in two */
        const char *name;
    } rows[] = {
        {uniform, true, "uniform"}, {exponential, true, "exponential"}, {early, true, "early"},
        {bimodal, true, "bimodal"}, {constant, false, "constant"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_advice(PLAN(.size_ms = 5000), rows[i].delay, rows[i].bounded, rows[i].name);
        assert_advice(PLAN(.size_ms = 4000, .type = JOIN_FULL), rows[i].delay, rows[i].bounded,
                      rows[i].name);
        assert_advice(PLAN(.match = MATCH_SLIDING, .size_ms = 3000, .slide_ms = 1000),
                      rows[i].delay, rows[i].bounded, rows[i].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_of_join_sees_what_an_edge_parted),
        cmocka_unit_test(a_pair_within_a_window_has_a_lag_and_is_no_miss),
        cmocka_unit_test(null_keys_are_never_near),
        cmocka_unit_test(what_on_refused_is_not_lost),
        cmocka_unit_test(with_on_an_edge_parts_what_has_the_same_key),
        cmocka_unit_test(a_matched_record_is_nobodys_near_miss),
        cmocka_unit_test(sliding_windows_part_only_what_none_of_them_holds),
        cmocka_unit_test(a_gap_between_windows_parts_too),
        cmocka_unit_test(many_are_parted_one_by_one),
        cmocka_unit_test(event_time_parts_when_windows_close),
        cmocka_unit_test(other_joins_part_nothing),
        cmocka_unit_test(lags_are_those_of_the_times),
        cmocka_unit_test(the_advised_bounds_keep_what_they_promise),
    };
    return cmocka_run_group_tests_name("engine/lost_pairs", tests, NULL, NULL);
}
