#include "latest_join_fixture.h"

#define LIMIT     65536
#define HOT       100000
#define TURN_FUEL 50000

static struct latest_fixture *open_event(enum join_type type, uint64_t state_bytes_max)
{
    return open_words(&(struct latest_words){
        .join = {.type = type, .time = TIME_EVENT, .state_bytes_max = state_bytes_max},
    });
}

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
    struct latest_fixture *f = open_event(JOIN_LEFT, 0);
    uint64_t seed = 1;

    (void)state;
    assert_empty(f);
    for (int i = 0; i < 20000; i++)
        assert_int_equal(push_pulling(f, dice(&seed, 2), dice(&seed, 3000), dice(&seed, 9000), 40),
                         PUSH_ALL);
    assert_sound(f);
    advance_to(f, 3000);
    pull_all(f);
    assert_sound(f);
    assert_held(f, 0, f->op->held(f->join, SIDE_RIGHT));
    advance_to(f, INT64_MAX);
    pull_all(f);
    assert_empty(f);
    assert_sound(f);
    close_latest(f);
}

/* What 40 bytes of payload cost, beside the header and the time of a record: 4 bytes while
 * time has not come to it, and 20 a key of the right side. */
static void a_record_costs_4_bytes_and_a_right_key_20(void **state)
{
    static const struct {
        enum side side;
        uint64_t records_a_key;
        double bytes;
    } rows[] = {
        {SIDE_RIGHT, 1, 40 + 20 + 4 + 20},
        {SIDE_RIGHT, 1000, 40 + 20 + 4},
        {SIDE_LEFT, 1, 40 + 20 + 4},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct latest_fixture *f = open_event(JOIN_LEFT, 0);
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

/* The same keys for ever, records out of order: memory is flat. */
static void a_long_run_over_the_same_keys_stays_flat(void **state)
{
    struct latest_fixture *f = open_event(JOIN_LEFT, 0);
    uint64_t seed = 1, most = 0;

    (void)state;
    for (int64_t time = 0; time < 50000; time++) {
        advance_to(f, time);
        for (int i = 0; i < 4; i++) {
            int64_t ahead = dice(&seed, 50) == 0 ? 3000 : dice(&seed, 50);
            push_pulling(f, (enum side)(i % 2), time + ahead, dice(&seed, 300),
                         20 + dice(&seed, 200));
        }
        if (time % 8 == 0)
            pull_all(f);
        if (time == 20000)
            most = f->op->state_bytes(f->join);
        if (time > 20000)
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
        struct latest_fixture *f = open_event(JOIN_LEFT, LIMIT);
        int n = fill(f, (enum side)side, 100);
        uint64_t bytes = f->op->state_bytes(f->join);
        assert_in_range(n, 300, LIMIT / 64);
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

/* Also when time comes to records: that takes no memory. */
static void the_limit_holds_at_every_step(void **state)
{
    struct latest_fixture *f = open_event(JOIN_LEFT, LIMIT);
    uint64_t seed = 1;
    int full = 0;

    (void)state;
    for (int64_t time = 0; time < 400; time++) {
        advance_to(f, time);
        for (int i = 0; i < 60; i++) {
            enum push_stop stop =
                push_numbered(f, dice(&seed, 2), time - 5 + dice(&seed, 20),
                              dice(&seed, 50) + (uint64_t)time / 2, 20 + dice(&seed, 200));
            full += stop == PUSH_FULL;
            if (stop == PUSH_WORK_FIRST || i == 30)
                pull_all(f);
            assert_true(f->op->state_bytes(f->join) <= LIMIT);
        }
    }
    assert_true(full > 1000);
    assert_sound(f);
    close_latest(f);
}

static void left_records_leave_and_make_room(void **state)
{
    struct latest_fixture *f = open_event(JOIN_LEFT, LIMIT);
    int n = fill(f, SIDE_LEFT, 100);

    (void)state;
    advance_to(f, 100);
    pull_all(f);
    assert_empty(f);
    assert_int_equal(fill(f, SIDE_LEFT, 111), n);
    close_latest(f);
}

static void results_that_were_handed_out_do_not_fill_the_state_for_ever(void **state)
{
    struct latest_fixture *f = open_event(JOIN_LEFT, 1000);

    (void)state;
    while (push_numbered(f, SIDE_LEFT, 100, 1, 200) == PUSH_ALL)
        ;
    f->pulling.lazy = true;
    advance_to(f, 200);
    pull(f);
    assert_true(f->last_count > 0);
    assert_true(f->op->has_work(f->join));
    pull(f);
    assert_empty(f);
    close_latest(f);
}

static void a_state_that_holds_nothing_takes_one_record_whatever_the_limit(void **state)
{
    struct latest_fixture *f = open_event(JOIN_INNER, 16);
    size_t size = 100000;
    char *line = mem_alloc(size);

    (void)state;
    memset(line, 'a', size);
    memcpy(line, "k,a,", 4);
    for (int64_t t = 0; t < 1000; t += 100) {
        advance_to(f, t);
        assert_int_equal(push_line(f, SIDE_LEFT, t + 1, (struct bytes){line, size}), PUSH_ALL);
        assert_int_equal(push_numbered(f, SIDE_LEFT, t + 1, 1, 20), PUSH_FULL);
        assert_int_equal(push_numbered(f, SIDE_RIGHT, t + 1, 1, 20), PUSH_FULL);
        assert_sound(f);
    }
    mem_free(line);
    close_latest(f);
}

/* --- hot keys, many keys --- */

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

/* In any order, each at once: a search through the key's records would take for ever. */
static void a_hot_key_is_walked_by_fuel(void **state)
{
    struct latest_fixture *f = open_event(JOIN_LEFT, 0);
    uint64_t rows, seed = 1;

    (void)state;
    for (int i = 0; i < HOT; i++) {
        assert_int_equal(push_numbered(f, SIDE_LEFT, dice(&seed, 1000000), 1, 40), PUSH_ALL);
        assert_int_equal(push_numbered(f, SIDE_RIGHT, dice(&seed, 1000000), 1, 40), PUSH_ALL);
    }
    advance_to(f, 1000000);
    assert_int_equal(push_numbered(f, SIDE_RIGHT, 999999, 1, 40), PUSH_WORK_FIRST);
    assert_in_range(walk_by_turns(f, &rows), 2 * HOT / TURN_FUEL, 60 * HOT / TURN_FUEL);
    assert_int_equal(rows, HOT);
    assert_held(f, 0, f->op->held(f->join, SIDE_RIGHT));
    assert_true(f->op->state_bytes(f->join) < 3 * SLAB_CHUNK_MAX);
    assert_sound(f);
    close_latest(f);
}

static void the_end_comes_by_fuel(void **state)
{
    struct latest_fixture *f = open_event(JOIN_LEFT, 0);
    uint64_t rows;

    (void)state;
    for (uint64_t i = 0; i < HOT; i++)
        assert_int_equal(push_numbered(f, SIDE_RIGHT, 5, i, 40), PUSH_ALL);
    advance_to(f, INT64_MAX);
    assert_in_range(walk_by_turns(f, &rows), HOT / TURN_FUEL, 60 * HOT / TURN_FUEL);
    assert_int_equal(rows, 0);
    assert_fates(f, SIDE_RIGHT, 0, HOT);
    assert_empty(f);
    close_latest(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(state_comes_back_to_nothing),
        cmocka_unit_test(a_record_costs_4_bytes_and_a_right_key_20),
        cmocka_unit_test(a_long_run_over_the_same_keys_stays_flat),
        cmocka_unit_test(a_refused_record_changes_nothing),
        cmocka_unit_test(the_limit_holds_at_every_step),
        cmocka_unit_test(left_records_leave_and_make_room),
        cmocka_unit_test(results_that_were_handed_out_do_not_fill_the_state_for_ever),
        cmocka_unit_test(a_state_that_holds_nothing_takes_one_record_whatever_the_limit),
        cmocka_unit_test(a_hot_key_is_walked_by_fuel),
        cmocka_unit_test(the_end_comes_by_fuel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
