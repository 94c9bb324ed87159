/*
 * So many keys that what comes next is fetched ahead: results and fates are the same as ever.
 */
#include "engine_fixture.h"

#define KEYS 50000
#define LINE 64

struct many {
    struct engine_fixture *f;
    char lines[BATCH_ROWS][LINE];
    uint64_t pairs, sum; /* that came: of the ids, one times the other */
};

static struct many *open_many(struct plan *plan)
{
    struct many *m = mem_alloc_zeroed(1, sizeof(*m));

    m->f = open_engine(plan);
    return m;
}

static void close_many(struct many *m)
{
    close_engine(m->f);
    mem_free(m);
}

/* Of records that are there both. */
static void look_at(struct many *m, const struct result *r)
{
    assert_int_equal(r->kind, RESULT_PAIR);
    assert_int_equal(number_of(m->f->plan, SIDE_LEFT, r->record[SIDE_LEFT], 0),
                     number_of(m->f->plan, SIDE_RIGHT, r->record[SIDE_RIGHT], 0));
    m->pairs++;
    m->sum += number_of(m->f->plan, SIDE_LEFT, r->record[SIDE_LEFT], 1) *
              number_of(m->f->plan, SIDE_RIGHT, r->record[SIDE_RIGHT], 1);
}

static void pull_all(struct many *m)
{
    struct result results[RESULTS_MAX];
    size_t n;

    do {
        int64_t fuel = 1000;
        n = engine_pull(m->f->engine, results, RESULTS_MAX, &fuel);
        for (size_t i = 0; i < n; i++)
            look_at(m, &results[i]);
        for (size_t i = 0; i < n; i++)
            m->f->results[results[i].kind]++;
    } while (n > 0 || engine_has_work(m->f->engine));
}

static void push_batch(struct many *m, enum side side, int64_t now)
{
    struct batch *b = &m->f->batch[side];

    for (size_t at = 0; at < b->count;) {
        size_t taken = engine_push(m->f->engine, side, b, at, (struct stream_time){now});
        assert_true(taken > 0 || engine_has_work(m->f->engine));
        at += taken;
        pull_all(m);
    }
    batch_clear(b);
}

/* Keys 0 to KEYS - 1 in some order, with the number of `round` as id; at t, t + 1, ... */
static void push_round(struct many *m, enum side side, uint64_t round, int64_t t, int64_t now)
{
    for (uint64_t i = 0; i < KEYS; i++) {
        struct batch *b = &m->f->batch[side];
        char *line = m->lines[b->count];
        int n = snprintf(line, LINE, "%" PRIu64 ",%" PRIu64 ",true,%" PRId64, i * 7919 % KEYS,
                         round, t + (int64_t)i);
        add_line(m->f, side, (struct bytes){line, (size_t)n});
        if (b->count == BATCH_ROWS || i + 1 == KEYS)
            push_batch(m, side, now);
    }
}

static void end_many(struct many *m)
{
    engine_end(m->f->engine, SIDE_LEFT);
    engine_end(m->f->engine, SIDE_RIGHT);
    pull_all(m);
    assert_balance(m->f);
    assert_int_equal(engine_held(m->f->engine, SIDE_LEFT), 0);
    assert_int_equal(engine_held(m->f->engine, SIDE_RIGHT), 0);
}

#define EVENT .time = TIME_EVENT, .delay_ms = {KEYS, KEYS}

/* Each left of a round meets the rights of this round and of the one before. */
static void intervals(void **state)
{
    struct many *m =
        open_many(PLAN(.match = MATCH_INTERVAL, .lower_ms = -KEYS, .upper_ms = 0, EVENT));

    (void)state;
    for (uint64_t round = 1; round <= 4; round++) {
        push_round(m, SIDE_LEFT, round, (int64_t)round * KEYS, 0);
        push_round(m, SIDE_RIGHT, round, (int64_t)round * KEYS, 0);
    }
    end_many(m);
    assert_int_equal(m->pairs, KEYS * (4 + 3));
    assert_int_equal(m->sum, KEYS * (1 + 4 + 9 + 16 + 2 + 6 + 12));
    close_many(m);
}

/* Two rounds a session, then a gap. */
static void sessions(void **state)
{
    struct many *m = open_many(PLAN(.match = MATCH_SESSION, .gap_ms = KEYS + 5, EVENT));

    (void)state;
    for (uint64_t round = 1; round <= 6; round++) {
        int64_t t = (int64_t)(round + (round - 1) / 2 * 3) * KEYS;
        push_round(m, SIDE_RIGHT, round, t, 0);
        push_round(m, SIDE_LEFT, round, t, 0);
    }
    end_many(m);
    assert_int_equal(m->pairs, KEYS * 12);
    assert_int_equal(m->sum, KEYS * (3 * 3 + 7 * 7 + 11 * 11));
    close_many(m);
}

/* The values of a round are there when its lefts come. */
static void values_by_the_clock(void **state)
{
    struct plan *plan = PLAN(.match = MATCH_LATEST);
    struct many *m;

    (void)state;
    plan->ttl_ms = PLAN_OFF;
    m = open_many(plan);
    for (uint64_t round = 1; round <= 3; round++) {
        push_round(m, SIDE_RIGHT, round, 0, (int64_t)round);
        push_round(m, SIDE_LEFT, round, 0, (int64_t)round);
    }
    end_many(m);
    assert_int_equal(m->pairs, KEYS * 3);
    assert_int_equal(m->sum, KEYS * (1 + 4 + 9));
    close_many(m);
}

static void values_by_their_time(void **state)
{
    struct many *m = open_many(PLAN(.match = MATCH_LATEST, EVENT));

    (void)state;
    for (uint64_t round = 1; round <= 3; round++) {
        push_round(m, SIDE_LEFT, round, (int64_t)round * KEYS, 0);
        push_round(m, SIDE_RIGHT, round, (int64_t)round * KEYS, 0);
    }
    end_many(m);
    assert_int_equal(m->pairs, KEYS * 3);
    assert_int_equal(m->sum, KEYS * (1 + 4 + 9));
    close_many(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervals),
        cmocka_unit_test(sessions),
        cmocka_unit_test(values_by_the_clock),
        cmocka_unit_test(values_by_their_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
