#include "interval_join_fixture.h"

/* A line of `size` bytes under a numbered key. */
static enum push_stop push_numbered(struct interval_fixture *f, enum side side, int64_t t,
                                    uint64_t key, size_t size)
{
    char line[1024];
    int n = snprintf(line, sizeof(line), "%" PRIu64 ",%" PRId64 ",,,", key, t);

    assert_true((size_t)n <= size && size < sizeof(line));
    memset(line + n, 'a', size - (size_t)n);
    return push_line(f, side, t, (struct bytes){line, size});
}

/* As the fixture's, but without a look at what was told: for many records. */
static size_t pull_some(struct interval_fixture *f, int64_t *fuel)
{
    f->last_count = op->pull(f->join, f->last, RESULTS_MAX, fuel);
    buf_clear(&f->last_told);
    for (size_t i = 0; i < f->last_count; i++)
        tell(f, &f->last[i], &f->last_told);
    return f->last_count;
}

static uint64_t pull_all(struct interval_fixture *f)
{
    uint64_t results = 0;
    int64_t fuel = ALL_FUEL;

    while (op->has_work(f->join))
        results += pull_some(f, &fuel);
    return results;
}

/* --- memory --- */

static void state_comes_back_to_nothing(void **state)
{
    struct interval_fixture *f =
        open_interval(EVENT_PLAN(.type = JOIN_FULL, .lower_ms = -1000, .upper_ms = 1000));
    uint64_t seed = 1;

    (void)state;
    assert_empty(f);
    for (int i = 0; i < 20000; i++) {
        enum side side = dice(&seed, 2);
        while (push_numbered(f, side, dice(&seed, 3000), dice(&seed, 9000), 40) != PUSH_ALL)
            pull_all(f);
    }
    pull_all(f);
    assert_sound(f);
    assert_int_equal(op->held(f->join, SIDE_LEFT) + f->books.side[SIDE_LEFT].matched +
                         op->held(f->join, SIDE_RIGHT) + f->books.side[SIDE_RIGHT].matched,
                     20000);
    op->advance(f->join, (struct stream_time){3000});
    pull_all(f);
    assert_sound(f);
    op->advance(f->join, STREAM_TIME_MAX);
    pull_all(f);
    assert_empty(f);
    close_interval(f);
}

/* What 40 bytes of payload cost, beside the header and the time of a record: 20 bytes. */
static void a_record_costs_8_bytes_and_a_key_20(void **state)
{
    static const struct {
        uint64_t records_a_key;
        double bytes;
    } rows[] = {{1, 40 + 20 + 8 + 20}, {4, 40 + 20 + 8 + 5}, {1000, 40 + 20 + 8}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct interval_fixture *f =
            open_interval(EVENT_PLAN(.lower_ms = -1000000, .upper_ms = 1000000));
        for (int64_t t = 0; t < 100000; t++)
            assert_int_equal(
                push_numbered(f, SIDE_LEFT, t, (uint64_t)t / rows[i].records_a_key, 40), PUSH_ALL);
        assert_sound(f);
        if ((double)op->state_bytes(f->join) > 100000 * rows[i].bytes * 1.05)
            fail_msg("%g bytes a record, not %g", (double)op->state_bytes(f->join) / 100000,
                     rows[i].bytes);
        close_interval(f);
    }
}

static void two_records_cost_less_than_two_kilobytes(void **state)
{
    struct interval_fixture *f = open_interval(EVENT_PLAN(.upper_ms = 10));

    (void)state;
    run(f, "L 1 k a; R 1 j x");
    assert_true(op->state_bytes(f->join) < 2048);
    close_interval(f);
}

/* Keys move on for ever, some records stay for long: memory is flat. */
static void a_long_run_over_moving_keys_stays_flat(void **state)
{
    struct interval_fixture *f =
        open_interval(EVENT_PLAN(.type = JOIN_LEFT, .lower_ms = 0, .upper_ms = 100));
    uint64_t seed = 1, most = 0;

    (void)state;
    for (int64_t time = 0; time < 30000; time++) {
        op->advance(f->join, (struct stream_time){time});
        pull_all(f);
        for (int i = 0; i < 4; i++) {
            int64_t ahead = dice(&seed, 50) == 0 ? 3000 : dice(&seed, 20);
            while (push_numbered(f, (enum side)(i % 2), time + ahead, (uint64_t)time / 3, 60) !=
                   PUSH_ALL)
                pull_all(f);
        }
        if (time == 10000)
            most = op->state_bytes(f->join);
        if (time > 10000)
            assert_true(op->state_bytes(f->join) < most * 5 / 4);
    }
    assert_sound(f);
    close_interval(f);
}

/* --- the limit --- */

#define LIMIT 65536

/* Until not even a small record fits. */
static int fill(struct interval_fixture *f, int64_t t)
{
    int n = 0;

    while (push_numbered(f, (enum side)(n % 2), t, (uint64_t)n, 40) == PUSH_ALL)
        n++;
    return n;
}

static void a_refused_record_changes_nothing(void **state)
{
    struct interval_fixture *f =
        open_interval(EVENT_PLAN(.lower_ms = -10, .upper_ms = 10, .state_bytes_max = LIMIT));
    uint64_t bytes;
    int n;

    (void)state;
    n = fill(f, 100);
    bytes = op->state_bytes(f->join);
    assert_in_range(n, 300, LIMIT / 72);
    assert_in_range(bytes, LIMIT / 2, LIMIT);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(push_numbered(f, SIDE_LEFT, 100, (uint64_t)(10000 + i), 40 + (size_t)i),
                         PUSH_FULL);
        assert_int_equal(op->state_bytes(f->join), bytes);
        assert_false(op->has_work(f->join));
    }
    assert_sound(f);
    close_interval(f);
}

static void the_limit_holds_at_every_step(void **state)
{
    struct interval_fixture *f = open_interval(
        EVENT_PLAN(.type = JOIN_FULL, .lower_ms = -10, .upper_ms = 10, .state_bytes_max = LIMIT));
    uint64_t seed = 1;
    int full = 0;

    (void)state;
    for (int64_t time = 0; time < 400; time++) {
        op->advance(f->join, (struct stream_time){time});
        for (int i = 0; i < 60; i++) {
            enum push_stop stop = push_numbered(f, dice(&seed, 2), time + dice(&seed, 20),
                                                dice(&seed, 5000), 20 + dice(&seed, 200));
            full += stop == PUSH_FULL;
            if (stop == PUSH_WORK_FIRST)
                pull_all(f);
            assert_true(op->state_bytes(f->join) <= LIMIT);
        }
    }
    assert_true(full > 1000);
    assert_sound(f);
    close_interval(f);
}

static void what_is_refused_is_taken_when_records_have_left(void **state)
{
    static const enum join_type types[] = {JOIN_INNER, JOIN_FULL};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        struct interval_fixture *f =
            open_interval(EVENT_PLAN(.type = types[i], .lower_ms = -10, .upper_ms = 10,
                                     .state_bytes_max = LIMIT));
        int n = fill(f, 100);
        op->advance(f->join, (struct stream_time){111});
        pull_all(f);
        assert_empty(f);
        assert_int_equal(fill(f, 112), n);
        close_interval(f);
    }
}

/* All that is left of the state is what the last results point at. */
static void results_that_were_handed_out_do_not_fill_the_state_for_ever(void **state)
{
    struct interval_fixture *f = open_interval(
        EVENT_PLAN(.type = JOIN_LEFT, .lower_ms = -10, .upper_ms = 10, .state_bytes_max = 1000));

    (void)state;
    while (push_numbered(f, SIDE_LEFT, 100, 1, 200) == PUSH_ALL)
        ;
    f->pulling.lazy = true;
    op->advance(f->join, (struct stream_time){200});
    pull(f);
    assert_true(f->last_count > 0);
    assert_true(op->has_work(f->join));
    pull(f);
    assert_empty(f);
    close_interval(f);
}

static void a_state_that_holds_nothing_takes_one_record_whatever_the_limit(void **state)
{
    struct interval_fixture *f =
        open_interval(EVENT_PLAN(.lower_ms = -10, .upper_ms = 10, .state_bytes_max = 16));
    size_t size = 100000;
    char *line = mem_alloc(size);

    (void)state;
    memset(line, 'a', size);
    memcpy(line, "k,a,", 4);
    for (int64_t t = 0; t < 1000; t += 100) {
        op->advance(f->join, (struct stream_time){t});
        assert_int_equal(push_line(f, SIDE_LEFT, t, (struct bytes){line, size}), PUSH_ALL);
        assert_int_equal(push_numbered(f, SIDE_RIGHT, t, 1, 20), PUSH_FULL);
        assert_sound(f);
    }
    mem_free(line);
    close_interval(f);
}

static void a_late_record_needs_room_only_if_it_has_partners(void **state)
{
    struct interval_fixture *f = open_interval(
        EVENT_PLAN(.lower_ms = -50, .upper_ms = 10, .on = "right.ok", .state_bytes_max = LIMIT));
    int n;

    (void)state;
    run(f, "R 105 k x true; R 105 j y false; wm 111");
    n = 0;
    while (push_numbered(f, SIDE_RIGHT, 1000, (uint64_t)n, 40) == PUSH_ALL)
        n++;
    while (push_line(f, SIDE_RIGHT, 1000, BYTES_LIT("0,,,,")) == PUSH_ALL)
        ;
    f->state_bytes_max = op->state_bytes(f->join);
    while (push_line(f, SIDE_LEFT, 1000, BYTES_LIT("zz,,,,")) == PUSH_ALL)
        ;
    assert_int_equal(push_line(f, SIDE_LEFT, 100, BYTES_LIT("i,c,,,")), PUSH_LATE);
    assert_int_equal(push_line(f, SIDE_LEFT, 100, BYTES_LIT("k,a,,,")), PUSH_FULL);
    f->state_bytes_max += 1 << 20;
    assert_int_equal(push_line(f, SIDE_LEFT, 100, BYTES_LIT("j,b,,,")), PUSH_LATE);
    assert_int_equal(push_line(f, SIDE_LEFT, 100, BYTES_LIT("k,a,,,")), PUSH_ALL);
    assert_int_equal(pull_all(f), 1);
    assert_sound(f);
    close_interval(f);
}

/* --- hot keys --- */

#define HOT       100000
#define TURN_FUEL 50000

static struct interval_fixture *open_hot(enum join_type type)
{
    struct interval_fixture *f = open_interval(
        EVENT_PLAN(.type = type, .lower_ms = -1000000, .upper_ms = 1000000, .on = NULL));

    for (int64_t t = 0; t < HOT; t++)
        assert_int_equal(push_numbered(f, SIDE_LEFT, t, 1, 40), PUSH_ALL);
    return f;
}

static void a_hot_key_is_walked_by_fuel(void **state)
{
    struct interval_fixture *f = open_hot(JOIN_INNER);
    uint64_t bytes, pairs = 0;
    size_t turns = 0;

    (void)state;
    assert_int_equal(push_numbered(f, SIDE_RIGHT, 5, 1, 40), PUSH_ALL);
    bytes = op->state_bytes(f->join);
    while (op->has_work(f->join)) {
        int64_t fuel = TURN_FUEL;
        while (fuel > 0 && op->has_work(f->join))
            pairs += pull_some(f, &fuel);
        assert_true(fuel > -20);
        assert_true(op->state_bytes(f->join) <= bytes);
        turns++;
    }
    assert_int_equal(pairs, HOT);
    assert_in_range(turns, HOT / TURN_FUEL, 10 * HOT / TURN_FUEL);
    close_interval(f);
}

/* In any order, each at once: a search through the key's records would take for ever. */
static void records_of_a_hot_key_leave_in_any_order(void **state)
{
    struct interval_fixture *f =
        open_interval(EVENT_PLAN(.type = JOIN_LEFT, .lower_ms = 0, .upper_ms = 10));
    uint64_t seed = 1, rows = 0;

    (void)state;
    for (int i = 0; i < HOT; i++)
        assert_int_equal(push_numbered(f, SIDE_LEFT, dice(&seed, 1000000), 1, 40), PUSH_ALL);
    for (int64_t t = 0; t < 1000000; t += 100000) {
        uint64_t bytes = op->state_bytes(f->join);
        op->advance(f->join, (struct stream_time){t});
        rows += pull_all(f);
        assert_true(op->state_bytes(f->join) <= bytes);
    }
    op->advance(f->join, STREAM_TIME_MAX);
    rows += pull_all(f);
    assert_int_equal(rows, HOT);
    assert_empty(f);
    close_interval(f);
}

/* A push has no fuel: what it used to find out that a record is late is paid by the pull
 * that has to come before the next. */
static void the_search_for_a_late_record_is_paid_by_the_next_pull(void **state)
{
    struct interval_fixture *f =
        open_interval(EVENT_PLAN(.lower_ms = -1000000, .upper_ms = 1000000));
    int64_t fuel = TURN_FUEL;

    (void)state;
    for (int64_t t = 0; t < 20000; t++)
        assert_int_equal(push_numbered(f, SIDE_RIGHT, 2000000 + t, 1, 40), PUSH_ALL);
    op->advance(f->join, (struct stream_time){1000100});
    assert_int_equal(push_numbered(f, SIDE_LEFT, 99, 1, 40), PUSH_LATE);
    assert_int_equal(push_numbered(f, SIDE_LEFT, 99, 1, 40), PUSH_WORK_FIRST);
    assert_true(op->has_work(f->join));
    assert_int_equal(pull_some(f, &fuel), 0);
    assert_in_range(fuel, 0, TURN_FUEL - 20000);
    assert_false(op->has_work(f->join));
    assert_int_equal(push_numbered(f, SIDE_LEFT, 99, 1, 40), PUSH_LATE);
    assert_sound(f);
    close_interval(f);
}

/* --- results stay good --- */

/* What has left may be in the results at hand, until the next pull. */
static void records_that_leave_meanwhile_stay_for_the_results_at_hand(void **state)
{
    struct interval_fixture *f = open_interval(EVENT_PLAN(.lower_ms = -5, .upper_ms = 5));

    (void)state;
    f->pulling = (struct pulling){RESULTS_MAX, ALL_FUEL, true};
    arrive(f, SIDE_LEFT, 1, BYTES_LIT("k,a,,,"));
    arrive(f, SIDE_RIGHT, 1, BYTES_LIT("k,x,,,"));
    pull(f);
    assert_string_equal(buf_text(&f->last_told), "(a,x)");
    advance(f, 100); /* both leave, without a row */
    assert_int_equal(op->due(f->join).ms, INT64_MAX);
    assert_int_equal(push_line(f, SIDE_LEFT, 101, BYTES_LIT("k,b,,,")), PUSH_ALL);
    assert_last_is_good(f);
    assert_sound(f);
    assert_true(op->has_work(f->join));
    pull(f);
    assert_false(op->has_work(f->join));
    close_interval(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(state_comes_back_to_nothing),
        cmocka_unit_test(a_record_costs_8_bytes_and_a_key_20),
        cmocka_unit_test(two_records_cost_less_than_two_kilobytes),
        cmocka_unit_test(a_long_run_over_moving_keys_stays_flat),
        cmocka_unit_test(a_refused_record_changes_nothing),
        cmocka_unit_test(the_limit_holds_at_every_step),
        cmocka_unit_test(what_is_refused_is_taken_when_records_have_left),
        cmocka_unit_test(results_that_were_handed_out_do_not_fill_the_state_for_ever),
        cmocka_unit_test(a_state_that_holds_nothing_takes_one_record_whatever_the_limit),
        cmocka_unit_test(a_late_record_needs_room_only_if_it_has_partners),
        cmocka_unit_test(a_hot_key_is_walked_by_fuel),
        cmocka_unit_test(records_of_a_hot_key_leave_in_any_order),
        cmocka_unit_test(the_search_for_a_late_record_is_paid_by_the_next_pull),
        cmocka_unit_test(records_that_leave_meanwhile_stay_for_the_results_at_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
