#include "session_join_fixture.h"

/* --- memory --- */

static void push_numbered(struct session_fixture *f, enum side side, int64_t t, uint64_t key,
                          uint64_t id)
{
    char line[64];
    int n = snprintf(line, sizeof(line), "%" PRIu64 ",%" PRIu64 ",,", key, id);

    assert_int_equal(push_line(f, side, t, (struct bytes){line, (size_t)n}), PUSH_ALL);
}

static void state_comes_back_to_nothing(void **state)
{
    struct session_fixture *f = open_session(EVENT_PLAN(.type = JOIN_FULL));
    uint64_t chance = 1;

    (void)state;
    assert_empty(f);
    for (uint64_t i = 0; i < 30000; i++)
        push_numbered(f, (enum side)(i % 2), dice(&chance, 5000), dice(&chance, 3000), i);
    assert_sound(f);
    assert_true(op->state_bytes(f->join) > 30000 * (sizeof(struct record) + 8));
    end(f);
    assert_empty(f);
    close_session(f);
}

static void a_session_of_two_records_costs_little_beside_them(void **state)
{
    struct session_fixture *f = open_session(EVENT_PLAN());
    uint64_t bytes;

    (void)state;
    for (uint64_t i = 0; i < 10000; i++) {
        push_numbered(f, SIDE_LEFT, 0, i, i);
        push_numbered(f, SIDE_RIGHT, 0, i, i);
    }
    bytes = op->state_bytes(f->join) - f->join->records[SIDE_LEFT].live_bytes -
            f->join->records[SIDE_RIGHT].live_bytes;
    assert_true(bytes / 10000 < 80);
    close_session(f);
}

static void the_first_session_costs_less_than_two_kilobytes(void **state)
{
    struct session_fixture *f = open_session(EVENT_PLAN());

    (void)state;
    push_numbered(f, SIDE_LEFT, 0, 7, 1);
    push_numbered(f, SIDE_RIGHT, 0, 7, 1);
    assert_in_range(op->state_bytes(f->join), 1, 2000);
    close_session(f);
}

/* Records go as they are passed, not at the end. */
static void memory_goes_while_a_hot_session_is_walked(void **state)
{
    struct session_fixture *f = open_session(EVENT_PLAN(.type = JOIN_LEFT));
    struct result results[RESULTS_MAX];
    uint64_t full, pairs = 0;

    (void)state;
    for (uint64_t i = 0; i < 20000; i++)
        push_numbered(f, SIDE_LEFT, 0, 7, i);
    push_numbered(f, SIDE_RIGHT, 0, 7, 0);
    push_numbered(f, SIDE_RIGHT, 0, 7, 1);
    full = op->state_bytes(f->join);
    advance(f, 100);
    while (pairs < 20000)
        pairs += pull(f, results, RESULTS_MAX, 500);
    assert_true(op->state_bytes(f->join) < full * 6 / 10);
    assert_sound(f);
    drain(f);
    assert_empty(f);
    close_session(f);
}

static void the_rights_without_a_match_go_as_they_are_passed(void **state)
{
    struct session_fixture *f = open_session(EVENT_PLAN(.type = JOIN_RIGHT));
    struct result results[RESULTS_MAX];
    uint64_t full, rows = 0;

    (void)state;
    for (uint64_t i = 0; i < 20000; i++)
        push_numbered(f, SIDE_RIGHT, 0, 7, i);
    full = op->state_bytes(f->join);
    advance(f, 100);
    while (rows < 10000)
        rows += pull(f, results, RESULTS_MAX, 500);
    assert_true(op->state_bytes(f->join) < full * 6 / 10);
    drain(f);
    assert_int_equal(f->books.results[RESULT_RIGHT], 20000);
    close_session(f);
}

static void results_are_good_until_the_next_pull_whatever_is_pushed(void **state)
{
    struct session_fixture *f = open_session(EVENT_PLAN(.type = JOIN_FULL));
    struct result results[8];
    uint64_t told = 0;
    int64_t t = 0;

    (void)state;
    for (uint64_t i = 0; i < 300; i++)
        push_numbered(f, (enum side)(i / 50 % 2), 0, i % 50, i);
    advance(f, 100);
    while (told < 50 * 3 * 3) {
        size_t n = pull(f, results, 8, ALL_FUEL);
        assert_true(n > 0);
        for (uint64_t i = 0; i < 50; i++)
            push_numbered(f, (enum side)(i % 2), 101 + t++ % 50, i, 1000 + i);
        for (size_t i = 0; i < n; i++)
            for (int s = 0; s < SIDES; s++)
                assert_true(number_of(f->plan, s, results[i].record[s], 1) < 300);
        told += n;
    }
    assert_int_equal(told, 50 * 3 * 3);
    close_session(f);
}

static void an_operator_may_go_at_any_step_of_a_walk(void **state)
{
    (void)state;
    for (int64_t fuel = 0; fuel < 200; fuel += 3) {
        struct session_fixture *f = open_session(EVENT_PLAN(.type = JOIN_FULL));
        struct result results[8];
        for (uint64_t i = 0; i < 40; i++)
            push_numbered(f, (enum side)(i % 2), (int64_t)(37 * i % 40) * 60, i % 2, i);
        advance(f, 2300);
        pull(f, results, 8, fuel);
        pull(f, results, 8, fuel);
        close_session(f);
    }
}

/* --- hot sessions --- */

static void drain_product(struct session_fixture *f, struct product *x, uint64_t *chance,
                          uint32_t fuel_max)
{
    struct result results[RESULTS_MAX];

    while (op->has_work(f->join)) {
        size_t n = pull(f, results, 1 + dice(chance, RESULTS_MAX), 1 + dice(chance, fuel_max));
        for (size_t i = 0; i < n; i++)
            product_out(x, f->plan, &results[i]);
    }
    assert_sound(f);
    assert_product(x);
    assert_empty(f);
}

static void assert_one_session(const struct session_fixture *f)
{
    const struct keyed_table *sessions = &f->join->pool.table;
    uint32_t number = KEYED_NONE;
    size_t whole = 0;

    assert_int_equal(sessions->count, 1);
    while ((number = keyed_table_next(sessions, number)) != KEYED_NONE) {
        const struct session_more *m = session_more_at(&f->join->pool, number);
        bool part = session_is_part(&f->join->pool, number);
        whole += !part;
        assert_true(part || (m->before == SESSION_NONE && m->after == SESSION_NONE));
    }
    assert_int_equal(whole, 1);
}

/* Records of one key, whose times go up and down: many sessions become one, over and
 * over. Whatever was merged, pairs come left-major in order of arrival. */
static void a_hot_session_of_many_merges_comes_in_order(void **state)
{
    static const uint32_t fuels[] = {1, 7, 1000};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(fuels); i++) {
        struct session_fixture *f = open_session(EVENT_PLAN());
        struct product *x = mem_alloc_zeroed(1, sizeof(*x));
        uint64_t chance = i;
        for (uint64_t id = 1; id <= 400; id++) {
            enum side side = (enum side)dice(&chance, 2);
            push_numbered(f, side, dice(&chance, 20000), 7, id);
            product_in(x, side, 7);
        }
        for (uint64_t id = 401; id < 700; id++) { /* all gaps are filled */
            push_numbered(f, SIDE_LEFT, (int64_t)(id * 7919 % 300) * 67, 7, id);
            product_in(x, SIDE_LEFT, 7);
        }
        assert_one_session(f);
        advance(f, INT64_MAX);
        drain_product(f, x, &chance, fuels[i]);
        mem_free(x);
        close_session(f);
    }
}

static int64_t fuel_to_the_end(struct session_fixture *f)
{
    struct result results[RESULTS_MAX];
    int64_t spent = 0;

    while (op->has_work(f->join)) {
        int64_t fuel = 1000;
        op->pull(f->join, results, RESULTS_MAX, &fuel);
        assert_true(fuel > -1100); /* what was passed before goes, and one step more */
        spent += 1000 - fuel;
    }
    return spent;
}

/* Someone merges a large session with a small one, again and again: no merge costs more
 * than another, and the end costs a logarithm a record. */
static void a_large_session_is_merged_with_small_ones_without_end(void **state)
{
    enum { MERGES = 20000 };

    (void)state;
    for (int backwards = 0; backwards < 2; backwards++) {
        struct session_fixture *f = open_session(EVENT_PLAN());
        int64_t step = backwards ? -100 : 100, t = 0;
        push_numbered(f, SIDE_LEFT, t, 7, 0);
        for (uint64_t i = 0; i < MERGES; i++, t += 2 * step) {
            push_numbered(f, SIDE_LEFT, t + 2 * step, 7, i);
            push_numbered(f, SIDE_LEFT, t + step, 7, i);
        }
        assert_int_equal(f->join->pool.count, MERGES + 1);
        advance(f, INT64_MAX);
        assert_in_range(fuel_to_the_end(f), 2 * MERGES, 150 * MERGES);
        assert_empty(f);
        close_session(f);
    }
}

/* --- times --- */

static void push_time(struct session_fixture *f, enum side side, int64_t t)
{
    char line[32];

    snprintf(line, sizeof(line), "k,%" PRId64, t);
    push(f, side, t, line);
}

/* Which is what its line says. */
static void assert_time(const struct result *r, enum side side)
{
    const struct record *record = r->record[side];
    char text[32] = "";

    if (record == NULL)
        return;
    memcpy(text, record_body(record).p, record_body(record).n);
    assert_int_equal(r->time[side], strtoll(text + 2, NULL, 10));
}

static size_t drain_times(struct session_fixture *f)
{
    struct result results[RESULTS_MAX];
    size_t all = 0;

    while (op->has_work(f->join)) {
        size_t n = pull(f, results, RESULTS_MAX, 100);
        for (size_t i = 0; i < n; i++)
            for (int side = 0; side < SIDES; side++)
                assert_time(&results[i], side);
        all += n;
    }
    return all;
}

/* 32 bits of a time are kept, of most records; all are told whole, however long a session
 * lasts, and however long others go on meanwhile. */
static void times_are_told_whole_over_many_years(void **state)
{
    static const int64_t gaps[] = {100, INT64_C(1) << 31, INT64_C(1) << 33};

    (void)state;
    for (size_t g = 0; g < COUNT_OF(gaps); g++) {
        struct session_fixture *f =
            open_session(PLAN(.match = MATCH_SESSION, .type = JOIN_FULL, .time = TIME_EVENT,
                              .gap_ms = gaps[g], .fields = {SESSION_FIELDS, SESSION_FIELDS}));
        uint64_t chance = g;
        int64_t t = -(INT64_C(1) << 36);
        size_t told = 0;
        for (int i = 0; i < 1000; i++) {
            t += (int64_t)dice(&chance, 1u << 20) << dice(&chance, 12);
            push_time(f, (enum side)dice(&chance, 2), t - dice(&chance, 1000));
            if (dice(&chance, 10) > 0)
                continue;
            advance(f, t - 1000);
            told += drain_times(f);
        }
        advance(f, INT64_MAX);
        told += drain_times(f);
        assert_true(told > 900);
        assert_int_equal(f->join->times.count[0] + f->join->times.count[1], 0);
        assert_empty(f);
        close_session(f);
    }
}

static void times_that_lie_far_apart_are_told_whole(void **state)
{
    static const int64_t times[] = {INT64_MIN, INT64_MIN + 1, INT64_MAX / 2, 0,
                                    -1,        INT64_MAX / 2, INT64_MIN};
    struct session_fixture *f = open_session(SESSION_PLAN(.type = JOIN_FULL));

    (void)state;
    for (size_t i = 0; i < COUNT_OF(times); i++)
        push_time(f, (enum side)(i % 2), times[i]);
    advance(f, INT64_MAX);
    assert_true(drain_times(f) > 0);
    assert_empty(f);
    close_session(f);
}

/* --- many sessions --- */

static void many_sessions_that_are_due_at_once_are_walked_piece_by_piece(void **state)
{
    struct session_fixture *f = open_session(EVENT_PLAN());

    (void)state;
    for (uint64_t i = 0; i < 20000; i++)
        push_numbered(f, (enum side)(i % 2), (int64_t)(i % 90), i % 5000, i);
    advance(f, INT64_MAX);
    assert_in_range(fuel_to_the_end(f), 5000 * 50, 5000 * 50 + 20000 * 20);
    assert_empty(f);
    close_session(f);
}

/* Nobody pulls: what is due later is not known before steps of time, a few sessions at
 * each, have set apart all that are due. */
static void steps_of_time_find_the_next_one_that_will_be_due(void **state)
{
    struct session_fixture *f = open_session(EVENT_PLAN());
    int64_t now = 1000;

    (void)state;
    for (uint64_t i = 0; i < 1000; i++)
        push_numbered(f, SIDE_LEFT, (int64_t)(i % 90), i, i);
    push_numbered(f, SIDE_LEFT, 5000, 7, 1000);
    for (advance(f, now); now < 2000 && due(f) == INT64_MAX; advance(f, ++now))
        assert_sound(f);
    assert_int_equal(due(f), 5100);
    assert_in_range(now, 1010, 1020);
    advance(f, INT64_MAX);
    assert_int_equal(due(f), INT64_MAX);
    close_session(f);
}

/* Their times in no order, so that none is ever at the end of anything. */
static void one_key_may_have_many_open_sessions(void **state)
{
    struct session_fixture *f = open_session(EVENT_PLAN(.type = JOIN_LEFT, .key = {"", ""}));
    struct result results[RESULTS_MAX];
    int64_t last = INT64_MIN;

    (void)state;
    for (uint64_t i = 0; i < 10007; i++) /* a prime */
        push_numbered(f, SIDE_LEFT, (int64_t)(i * 5003 % 10007) * 101 - 500000, i, i);
    assert_int_equal(f->join->pool.count, 10007);
    assert_int_equal(f->join->pool.table.count, 1);
    advance(f, 0);
    assert_true(op->has_work(f->join));
    for (size_t n; (n = pull(f, results, RESULTS_MAX, ALL_FUEL)) > 0;)
        for (size_t i = 0; i < n; i++) {
            assert_true(results[i].window_start > last);
            last = results[i].window_start;
        }
    assert_in_range(last + 500000, 499800, 500000 - 100);
    assert_int_equal(f->join->pool.count, 10007 - f->books.results[RESULT_LEFT]);
    end(f);
    assert_int_equal(f->books.results[RESULT_LEFT], 10007);
    assert_empty(f);
    close_session(f);
}

/* --- the limit --- */

static uint64_t fill(struct session_fixture *f, int64_t t)
{
    uint64_t i = 0;
    char line[64];

    for (;; i++) {
        int n = snprintf(line, sizeof(line), "%" PRIu64 ",x,,", i);
        if (push_line(f, (enum side)(i % 2), t, (struct bytes){line, (size_t)n}) == PUSH_FULL)
            return i;
    }
}

static void a_refused_record_changes_nothing(void **state)
{
    static const struct {
        const char *name;
        int64_t t;
        const char *line;
    } rows[] = {
        {"of a new key", 0, "new,a,,"},
        {"of a key that is there", 0, "0,a,,"},
        {"of a NULL key", 0, ",aaa,,"},
        {"that would make a session longer", 100, "0,a,,"},
        {"that would open one more of the key", 500, "0,a,,"},
        {"that would merge two", 1100, "m,a,,"},
    };
    struct session_fixture *f =
        open_session(EVENT_PLAN(.type = JOIN_FULL, .state_bytes_max = 32 << 10));
    uint64_t bytes;

    (void)state;
    push(f, SIDE_LEFT, 1000, "m,a,,");
    push(f, SIDE_LEFT, 1200, "m,b,,");
    assert_in_range(fill(f, 0), 100, 1000);
    while (push_line(f, SIDE_LEFT, 0, BYTES_LIT("0,y,,")) == PUSH_ALL)
        ;
    while (push_line(f, SIDE_RIGHT, 0, BYTES_LIT("0,y,,")) == PUSH_ALL)
        ;
    bytes = op->state_bytes(f->join);
    assert_in_range(bytes, 24 << 10, 32 << 10);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_row(push_line(f, SIDE_LEFT, rows[i].t, bytes_of(rows[i].line)) == PUSH_FULL,
                   rows[i].name);
        assert_row(op->state_bytes(f->join) == bytes, rows[i].name);
        assert_int_equal(due(f), 100);
        assert_sound(f);
    }
    assert_non_null(strstr(end(f), "[1000,1100)(a,null)[1200,1300)(b,null)"));
    assert_empty(f);
    close_session(f);
}

static void what_is_refused_is_taken_when_sessions_have_gone(void **state)
{
    struct session_fixture *f = open_session(EVENT_PLAN(.state_bytes_max = 32 << 10));
    uint64_t first = fill(f, 0);

    (void)state;
    advance(f, 100);
    drain(f);
    assert_empty(f);
    assert_int_equal(fill(f, 100), first);
    close_session(f);
}

/* Else it would be full of nothing for ever. */
static void a_state_that_holds_nothing_takes_one_record_whatever_the_limit(void **state)
{
    struct session_fixture *f = open_session(EVENT_PLAN(.state_bytes_max = 100));
    char *line = mem_alloc(100000);

    (void)state;
    memset(line, 'a', 100000);
    memcpy(line, "k,a,,", 5);
    for (int64_t t = 0; t < 1000; t += 200) {
        advance(f, t);
        assert_int_equal(push_line(f, SIDE_LEFT, t, (struct bytes){line, 100000}), PUSH_ALL);
        assert_int_equal(push_line(f, SIDE_LEFT, t, BYTES_LIT("k,b,,")), PUSH_FULL);
        assert_int_equal(push_line(f, SIDE_RIGHT, t, BYTES_LIT("l,b,,")), PUSH_FULL);
        advance(f, t + 100);
        drain(f);
        assert_empty(f);
    }
    mem_free(line);
    close_session(f);
}

/* A late record is late, be there room or not: it would wait for ever otherwise. */
static void a_late_record_is_late_in_a_full_state_as_well(void **state)
{
    struct session_fixture *f = open_session(EVENT_PLAN(.state_bytes_max = 32 << 10));

    (void)state;
    fill(f, 1000);
    advance(f, 1099);
    assert_int_equal(push_line(f, SIDE_LEFT, 999, BYTES_LIT("new,b,,")), PUSH_LATE);
    assert_int_equal(push_line(f, SIDE_LEFT, 1000, BYTES_LIT("new,b,,")), PUSH_FULL);
    close_session(f);
}

/* Several at once: what was taken before one that stops the push is taken. */
static void a_push_stops_at_the_record_that_is_late(void **state)
{
    struct session_fixture *f = open_session(EVENT_PLAN());
    struct record_parts parts[3];
    size_t taken;

    (void)state;
    advance(f, 1000);
    for (size_t i = 0; i < 3; i++)
        parts[i] = (struct record_parts){
            .hash = 7,
            .body = BYTES_LIT("k,a,,"),
            .key = BYTES_LIT("k"),
            .flags = RECORD_TIMED,
            .time = 2000,
        };
    parts[0].key.p = parts[1].key.p = parts[2].key.p = parts[0].body.p;
    parts[1].time = 100;
    assert_int_equal(op->push(f->join, SIDE_LEFT, parts, 3, 0, &taken), PUSH_LATE);
    assert_int_equal(taken, 1);
    assert_int_equal(op->held(f->join, SIDE_LEFT), 1);
    assert_int_equal(op->push(f->join, SIDE_LEFT, parts + 2, 1, 2, &taken), PUSH_ALL);
    assert_int_equal(taken, 1);
    assert_int_equal(op->push(f->join, SIDE_LEFT, parts, 0, 3, &taken), PUSH_ALL);
    assert_int_equal(taken, 0);
    assert_int_equal(f->books.side[SIDE_LEFT].late_windows, 1);
    close_session(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(state_comes_back_to_nothing),
        cmocka_unit_test(a_session_of_two_records_costs_little_beside_them),
        cmocka_unit_test(the_first_session_costs_less_than_two_kilobytes),
        cmocka_unit_test(memory_goes_while_a_hot_session_is_walked),
        cmocka_unit_test(the_rights_without_a_match_go_as_they_are_passed),
        cmocka_unit_test(results_are_good_until_the_next_pull_whatever_is_pushed),
        cmocka_unit_test(an_operator_may_go_at_any_step_of_a_walk),
        cmocka_unit_test(a_hot_session_of_many_merges_comes_in_order),
        cmocka_unit_test(a_large_session_is_merged_with_small_ones_without_end),
        cmocka_unit_test(times_are_told_whole_over_many_years),
        cmocka_unit_test(times_that_lie_far_apart_are_told_whole),
        cmocka_unit_test(many_sessions_that_are_due_at_once_are_walked_piece_by_piece),
        cmocka_unit_test(steps_of_time_find_the_next_one_that_will_be_due),
        cmocka_unit_test(one_key_may_have_many_open_sessions),
        cmocka_unit_test(a_refused_record_changes_nothing),
        cmocka_unit_test(what_is_refused_is_taken_when_sessions_have_gone),
        cmocka_unit_test(a_state_that_holds_nothing_takes_one_record_whatever_the_limit),
        cmocka_unit_test(a_late_record_is_late_in_a_full_state_as_well),
        cmocka_unit_test(a_push_stops_at_the_record_that_is_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
