#include "latest_join_fixture.h"

#define LIMIT     65536
#define HOT       100000
#define TURN_FUEL 50000

static struct latest_fixture *open_clock(enum join_type type, int64_t wait_ms, int64_t ttl_ms,
                                         uint64_t state_bytes_max)
{
    return open_words(&(struct latest_words){
        .wait_ms = wait_ms,
        .ttl_ms = ttl_ms,
        .join = {.type = type, .state_bytes_max = state_bytes_max},
    });
}

/* Whatever has to come first. */
static enum push_stop push_pulling(struct latest_fixture *f, enum side side, int64_t t,
                                   uint64_t key, size_t size)
{
    enum push_stop stop;

    while ((stop = push_numbered(f, side, t, key, size)) == PUSH_WORK_FIRST)
        pull_all(f);
    return stop;
}

static void advance_to(struct latest_fixture *f, int64_t t)
{
    f->op->advance(f->join, (struct stream_time){t});
}

/* --- memory --- */

static void state_comes_back_to_nothing(void **state)
{
    struct latest_fixture *f = open_clock(JOIN_LEFT, 1000, 1000, 0);
    uint64_t seed = 1;

    (void)state;
    assert_empty(f);
    for (int i = 0; i < 20000; i++) {
        advance_to(f, i / 100);
        assert_int_equal(push_pulling(f, dice(&seed, 2), i / 100, dice(&seed, 9000), 40), PUSH_ALL);
    }
    pull_all(f);
    assert_sound(f);
    advance_to(f, 1199);
    pull_all(f);
    assert_empty(f);
    assert_sound(f);
    close_latest(f);
}

/* What 40 bytes of payload cost, beside the header and the time of a record: 8 bytes, and
 * 24 a key. */
static void a_record_costs_8_bytes_and_a_key_24(void **state)
{
    static const struct {
        enum side side;
        uint64_t records_a_key;
        double bytes;
    } rows[] = {
        {SIDE_RIGHT, 1, 40 + 20 + 8 + 24},
        {SIDE_LEFT, 1, 40 + 20 + 8 + 24},
        {SIDE_LEFT, 1000, 40 + 20 + 8},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct latest_fixture *f = open_clock(JOIN_LEFT, PLAN_FOREVER, 0, 0);
        for (int64_t t = 0; t < HOT; t++)
            assert_int_equal(
                push_numbered(f, rows[i].side, t, (uint64_t)t / rows[i].records_a_key, 40),
                PUSH_ALL);
        assert_sound(f);
        if ((double)f->op->state_bytes(f->join) > HOT * rows[i].bytes * 1.05)
            fail_msg("%g bytes a record, not %g", (double)f->op->state_bytes(f->join) / HOT,
                     rows[i].bytes);
        close_latest(f);
    }
}

static void two_records_cost_less_than_two_kilobytes(void **state)
{
    struct latest_fixture *f = open_clock(JOIN_LEFT, PLAN_FOREVER, 0, 0);

    (void)state;
    run(f, "L 1 k a; R 1 j x");
    assert_true(f->op->state_bytes(f->join) < 2048);
    close_latest(f);
}

/* Keys move on for ever: memory is flat, since values are forgotten and waits end. */
static void a_long_run_over_moving_keys_stays_flat(void **state)
{
    struct latest_fixture *f = open_clock(JOIN_LEFT, 50, 100, 0);
    uint64_t seed = 1, most = 0;

    (void)state;
    for (int64_t time = 0; time < 30000; time++) {
        advance_to(f, time);
        pull_all(f);
        for (int i = 0; i < 4; i++)
            push_pulling(f, (enum side)(i % 2), time, (uint64_t)time / 3 + dice(&seed, 50),
                         20 + dice(&seed, 200));
        if (time == 10000)
            most = f->op->state_bytes(f->join);
        if (time > 10000)
            assert_true(f->op->state_bytes(f->join) < most * 3 / 2);
    }
    assert_sound(f);
    close_latest(f);
}

/* Values of the same keys, renewed for ever in sizes of all kinds, some hardly ever. */
static void a_long_run_over_the_same_keys_stays_flat(void **state)
{
    struct latest_fixture *f = open_clock(JOIN_INNER, PLAN_FOREVER, 0, 0);
    uint64_t seed = 1, most = 0;

    (void)state;
    for (uint64_t key = 0; key < 1000; key++)
        push_numbered(f, SIDE_RIGHT, 0, key, 120);
    for (int64_t time = 0; time < 200000; time++) {
        uint64_t key = dice(&seed, 100) == 0 ? dice(&seed, 1000) : dice(&seed, 200);
        push_pulling(f, SIDE_RIGHT, time, key, 20 + dice(&seed, 200));
        if (dice(&seed, 4) == 0)
            push_pulling(f, SIDE_LEFT, time, dice(&seed, 200), 40);
        if (time == 50000)
            most = f->op->state_bytes(f->join);
        if (time > 50000)
            assert_true(f->op->state_bytes(f->join) < most * 5 / 4);
    }
    assert_sound(f);
    close_latest(f);
}

/* --- the limit --- */

static int fill(struct latest_fixture *f, enum side side, int64_t t)
{
    int n = 0;

    while (push_numbered(f, side, t, (uint64_t)n, 40) == PUSH_ALL)
        n++;
    return n;
}

static void a_refused_record_changes_nothing(void **state)
{
    (void)state;
    for (int side = 0; side < SIDES; side++) {
        struct latest_fixture *f = open_clock(JOIN_LEFT, PLAN_FOREVER, 0, LIMIT);
        int n = fill(f, (enum side)side, 100);
        uint64_t bytes = f->op->state_bytes(f->join);
        assert_in_range(n, 300, LIMIT / 92);
        assert_in_range(bytes, LIMIT / 2, LIMIT);
        for (int i = 0; i < 100; i++) {
            assert_int_equal(
                push_numbered(f, (enum side)side, 100, (uint64_t)(10000 + i), 40 + (size_t)i),
                PUSH_FULL);
            assert_int_equal(f->op->state_bytes(f->join), bytes);
            assert_false(f->op->has_work(f->join));
        }
        assert_sound(f);
        close_latest(f);
    }
}

/* But for a left record that is on its way out, and what the last pull's results need. */
static void the_limit_holds_at_every_step(void **state)
{
    struct latest_fixture *f = open_clock(JOIN_LEFT, 10, 10, LIMIT);
    uint64_t seed = 1;
    int full = 0;

    (void)state;
    for (int64_t time = 0; time < 400; time++) {
        advance_to(f, time);
        for (int i = 0; i < 100; i++) {
            enum push_stop stop =
                push_numbered(f, dice(&seed, 2), time, dice(&seed, 5000), 20 + dice(&seed, 200));
            full += stop == PUSH_FULL;
            if (stop == PUSH_WORK_FIRST)
                pull_all(f);
            assert_true(f->op->state_bytes(f->join) <= LIMIT + 2 * 512);
        }
    }
    assert_true(full > 1000);
    assert_sound(f);
    close_latest(f);
}

static void values_that_fill_state_still_answer(void **state)
{
    struct latest_fixture *f = open_clock(JOIN_LEFT, 0, 0, LIMIT);

    (void)state;
    fill(f, SIDE_RIGHT, 100);
    f->state_bytes_max = f->op->state_bytes(f->join);
    for (uint64_t i = 0; i < 1000; i++)
        assert_int_equal(push_pulling(f, SIDE_LEFT, 101, i % 2, 200), PUSH_ALL);
    assert_int_equal(push_pulling(f, SIDE_RIGHT, 101, 5000, 200), PUSH_FULL);
    pull_all(f);
    assert_int_equal(f->books.results[RESULT_PAIR], 1000);
    assert_int_equal(f->op->state_bytes(f->join), f->state_bytes_max);
    assert_sound(f);
    close_latest(f);
}

static void what_is_refused_is_taken_when_records_have_left(void **state)
{
    static const enum join_type types[] = {JOIN_INNER, JOIN_LEFT};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(types) * SIDES; i++) {
        struct latest_fixture *f = open_clock(types[i / SIDES], 10, 10, LIMIT);
        int n = fill(f, (enum side)(i % SIDES), 100);
        advance_to(f, 110);
        pull_all(f);
        assert_empty(f);
        assert_int_equal(fill(f, (enum side)(i % SIDES), 111), n);
        close_latest(f);
    }
}

static void a_state_that_holds_nothing_takes_one_record_whatever_the_limit(void **state)
{
    struct latest_fixture *f = open_clock(JOIN_INNER, 10, 10, 16);
    size_t size = 100000;
    char *line = mem_alloc(size);

    (void)state;
    memset(line, 'a', size);
    memcpy(line, "k,a,", 4);
    for (int64_t t = 0; t < 1000; t += 100) {
        enum side side = (enum side)(t / 100 % 2);
        advance_to(f, t);
        assert_int_equal(push_line(f, side, t, (struct bytes){line, size}), PUSH_ALL);
        assert_int_equal(push_numbered(f, side, t, 1, 20), PUSH_FULL);
        assert_sound(f);
    }
    mem_free(line);
    close_latest(f);
}

/* --- hot keys, many keys --- */

/* Turn by turn, none longer than its fuel. Returns how many turns. */
static size_t walk_by_turns(struct latest_fixture *f, uint64_t *ret_results)
{
    size_t turns = 0;

    for (*ret_results = 0; f->op->has_work(f->join); turns++) {
        int64_t fuel = TURN_FUEL;
        while (fuel > 0 && f->op->has_work(f->join))
            *ret_results += pull_some(f, &fuel);
        assert_true(fuel > -30);
    }
    return turns;
}

static void a_hot_key_that_waits_is_released_by_fuel(void **state)
{
    struct latest_fixture *f = open_clock(JOIN_INNER, PLAN_FOREVER, 0, 0);
    uint64_t pairs, bytes;

    (void)state;
    for (int64_t t = 0; t < HOT; t++)
        assert_int_equal(push_numbered(f, SIDE_LEFT, t, 1, 40), PUSH_ALL);
    bytes = f->op->state_bytes(f->join);
    assert_int_equal(push_numbered(f, SIDE_RIGHT, HOT, 1, 40), PUSH_ALL);
    assert_int_equal(push_numbered(f, SIDE_LEFT, HOT, 2, 40), PUSH_WORK_FIRST);
    assert_int_equal(push_numbered(f, SIDE_RIGHT, HOT, 2, 40), PUSH_WORK_FIRST);
    assert_in_range(walk_by_turns(f, &pairs), HOT / TURN_FUEL, 30 * HOT / TURN_FUEL);
    assert_int_equal(pairs, HOT);
    assert_true(f->op->state_bytes(f->join) < bytes / 100);
    assert_sound(f);
    close_latest(f);
}

static void a_hot_key_gives_up_by_fuel(void **state)
{
    struct latest_fixture *f = open_clock(JOIN_LEFT, 10, 0, 0);
    uint64_t rows;

    (void)state;
    for (int i = 0; i < HOT; i++)
        assert_int_equal(push_numbered(f, SIDE_LEFT, 0, 1, 40), PUSH_ALL);
    advance_to(f, 10);
    assert_in_range(walk_by_turns(f, &rows), HOT / TURN_FUEL, 30 * HOT / TURN_FUEL);
    assert_int_equal(rows, HOT);
    assert_empty(f);
    close_latest(f);
}

static void many_values_are_forgotten_by_fuel(void **state)
{
    struct latest_fixture *f = open_clock(JOIN_LEFT, 0, 10, 0);
    uint64_t rows;

    (void)state;
    for (uint64_t i = 0; i < HOT; i++)
        assert_int_equal(push_numbered(f, SIDE_RIGHT, 0, i, 40), PUSH_ALL);
    advance_to(f, 10);
    assert_true(f->op->has_work(f->join));
    /* Nobody waits for that. */
    assert_int_equal(push_numbered(f, SIDE_LEFT, 10, HOT - 1, 40), PUSH_ALL);
    assert_int_equal(push_numbered(f, SIDE_LEFT, 10, HOT - 2, 40), PUSH_WORK_FIRST);
    assert_in_range(walk_by_turns(f, &rows), HOT / TURN_FUEL, 30 * HOT / TURN_FUEL);
    assert_int_equal(rows, 1);
    assert_int_equal(f->books.results[RESULT_LEFT], 1);
    assert_fates(f, SIDE_RIGHT, 0, HOT);
    assert_empty(f);
    close_latest(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(state_comes_back_to_nothing),
        cmocka_unit_test(a_record_costs_8_bytes_and_a_key_24),
        cmocka_unit_test(two_records_cost_less_than_two_kilobytes),
        cmocka_unit_test(a_long_run_over_moving_keys_stays_flat),
        cmocka_unit_test(a_long_run_over_the_same_keys_stays_flat),
        cmocka_unit_test(a_refused_record_changes_nothing),
        cmocka_unit_test(the_limit_holds_at_every_step),
        cmocka_unit_test(values_that_fill_state_still_answer),
        cmocka_unit_test(what_is_refused_is_taken_when_records_have_left),
        cmocka_unit_test(a_state_that_holds_nothing_takes_one_record_whatever_the_limit),
        cmocka_unit_test(a_hot_key_that_waits_is_released_by_fuel),
        cmocka_unit_test(a_hot_key_gives_up_by_fuel),
        cmocka_unit_test(many_values_are_forgotten_by_fuel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
