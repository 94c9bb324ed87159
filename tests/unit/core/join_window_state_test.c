#include "join_window_fixture.h"

#define WALK_KEEPS  (1 << 20) /* what a walk may keep for the next one: far less than the limit */
#define EACH_WINDOW (sizeof(struct window) + SIDES * sizeof(struct log_part))

/* --- memory --- */

static void state_comes_back_to_about_nothing(void **state)
{
    struct join_fixture *f = open_join(PLAN(.type = JOIN_FULL, .size_ms = 100));
    uint64_t before = op->state_bytes(f->join);
    char line[64];

    (void)state;
    assert_int_equal(before, 0);
    for (int i = 0; i < 30000; i++) {
        int n = snprintf(line, sizeof(line), "%d,%d,", i % 5000, i);
        assert_true(push_line(f, (enum side)(i % 2), i % 700, (struct bytes){line, (size_t)n}));
    }
    assert_sound(f);
    assert_true(op->state_bytes(f->join) > 30000 * (sizeof(struct record) + 8));
    end(f);
    assert_int_equal(slab_used(f->pool), 0);
    assert_true(op->state_bytes(f->join) <=
                WALK_KEEPS + f->join->capacity * sizeof(struct window *));
    assert_true(f->join->capacity <= 16);
    close_join(f);
}

static void a_window_of_two_records_costs_less_than_a_kilobyte(void **state)
{
    struct join_fixture *f = open_join(PLAN());

    (void)state;
    push(f, SIDE_LEFT, 1, "k,a,");
    push(f, SIDE_RIGHT, 1, "k,x,");
    assert_true(op->state_bytes(f->join) < 1024);
    close_join(f);
}

static void an_operator_may_go_while_it_walks(void **state)
{
    struct result r;

    (void)state;
    for (int64_t fuel = 0; fuel < 40; fuel++) {
        struct join_fixture *f = open_join(PLAN(.type = JOIN_FULL, .size_ms = 10));
        for (int64_t t = 0; t < 30; t++)
            push(f, (enum side)(t % 2), t, "k,a,");
        advance(f, 20);
        pull(f, &r, 1, fuel);
        close_join(f);
    }
}

/* --- large windows --- */

#define LARGE_KEYS 500

/* Records of about `body` bytes under numbered keys; ids grow from 1. False: refused. */
static bool push_large(struct join_fixture *f, struct product *x, enum side side, uint64_t id,
                       int64_t t, size_t body)
{
    char line[1024];
    uint64_t key = hash_number(id) % LARGE_KEYS;
    int n = snprintf(line, sizeof(line), "%" PRIu64 ",%" PRIu64 ",", key, id);

    assert_true(body < sizeof(line) && (size_t)n < body);
    memset(line + n, 'a', body - (size_t)n);
    if (!push_line(f, side, t, (struct bytes){line, body}))
        return false;
    product_in(x, side, key);
    return true;
}

static void drain_product(struct join_fixture *f, struct product *x)
{
    struct result results[RESULTS_MAX];

    while (op->has_work(f->join)) {
        size_t n = pull(f, results, RESULTS_MAX, 10000);
        for (size_t i = 0; i < n; i++)
            product_out(x, f->plan, &results[i]);
        assert_int_equal(op->state_bytes(f->join), state_by_hand(f));
    }
    assert_sound(f);
    assert_product(x);
}

static unsigned bits_of(const struct join_fixture *f)
{
    const struct window *w = window_at(f, 0);

    assert_int_equal(w->side[SIDE_LEFT].bits, w->side[SIDE_RIGHT].bits);
    return w->side[SIDE_LEFT].bits;
}

/* Both sides are parted when one of them has reached 64 KiB. */
static void large_windows_are_parted_and_give_the_same(void **state)
{
    static const struct {
        const char *name;
        uint64_t left, right; /* records of 200 bytes */
        unsigned bits;
    } rows[] = {
        {"small", 150, 150, 0},
        {"64 KiB on the left", 600, 20, 4},
        {"64 KiB on the right", 20, 600, 4},
        {"64 KiB on both sides", 600, 600, 4},
        {"one MiB", 5000, 4000, 4},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct join_fixture *f = open_join(PLAN());
        struct product *x = mem_alloc_zeroed(1, sizeof(*x));
        for (uint64_t n = 1; n <= rows[i].left || n <= rows[i].right; n++) {
            assert_true(n > rows[i].left || push_large(f, x, SIDE_LEFT, n, 5, 188));
            assert_true(n > rows[i].right || push_large(f, x, SIDE_RIGHT, n, 5, 188));
        }
        assert_sound(f);
        assert_row(bits_of(f) == rows[i].bits, rows[i].name);
        advance(f, 10000);
        drain_product(f, x);
        mem_free(x);
        close_join(f);
    }
}

/* A window that was very large tells how the next ones begin: a partition is to fit a
 * cache, and parting what is there already would take too long. */
static void after_a_very_large_window_the_next_ones_begin_in_256_parts(void **state)
{
    (void)state;
    for (int s = 0; s < SIDES; s++) {
        struct join_fixture *f = open_join(PLAN());
        struct product *x = mem_alloc_zeroed(1, sizeof(*x));

        for (uint64_t n = 1; n <= 80000; n++)
            assert_true(push_large(f, x, s, n, 5, 900));
        assert_int_equal(bits_of(f), 4);
        advance(f, 10000);
        drain_product(f, x);
        memset(x, 0, sizeof(*x));
        for (uint64_t n = 1; n <= 700; n++) {
            assert_true(push_large(f, x, s, n, 10005, 900));
            assert_true(push_large(f, x, side_other(s), n, 10005, 900));
        }
        assert_int_equal(bits_of(f), WINDOW_LOG_BITS_MAX);
        assert_sound(f);
        advance(f, 20000);
        drain_product(f, x);
        mem_free(x);
        close_join(f);
    }
}

static void one_record_may_be_too_large_for_the_window_to_be_parted(void **state)
{
    struct join_fixture *f = open_join(PLAN());
    size_t size = 80 << 20;
    char *line = mem_alloc(size);

    (void)state;
    memset(line, 'a', size);
    memcpy(line, "k,a,", 4);
    push(f, SIDE_RIGHT, 1, "k,x,");
    assert_true(push_line(f, SIDE_LEFT, 1, (struct bytes){line, size}));
    assert_int_equal(bits_of(f), 0);
    push(f, SIDE_RIGHT, 1, "k,y,");
    assert_string_equal(end(f), "[0,10000)(a,x)(a,y)");
    mem_free(line);
    close_join(f);
}

/* Parting needs room for a copy; without it the window stays as it is. */
static void a_window_is_not_parted_when_there_is_no_room_for_a_copy(void **state)
{
    struct join_fixture *f = open_join(PLAN(.state_bytes_max = 160 << 10));
    struct product *x = mem_alloc_zeroed(1, sizeof(*x));
    uint64_t id = 0;

    (void)state;
    while (push_large(f, x, (enum side)(id % 2), id / 2 + 1, 5, 88))
        id++;
    assert_true(op->state_bytes(f->join) > 140 << 10);
    assert_true(op->state_bytes(f->join) <= 160 << 10);
    assert_true(window_at(f, 0)->side[SIDE_LEFT].bytes > 64 << 10);
    assert_int_equal(bits_of(f), 0);
    advance(f, 10000);
    drain_product(f, x);
    mem_free(x);
    close_join(f);
}

static void a_window_is_parted_late_when_room_came_late(void **state)
{
    struct join_fixture *f = open_join(PLAN(.state_bytes_max = 100 << 10));
    struct product *x = mem_alloc_zeroed(1, sizeof(*x));
    uint64_t id = 0;

    (void)state;
    while (push_large(f, x, SIDE_LEFT, id + 1, 5, 88))
        id++;
    assert_int_equal(bits_of(f), 0);
    f->state_bytes_max = 1 << 20;
    assert_true(push_large(f, x, SIDE_LEFT, ++id, 5, 88));
    assert_int_equal(bits_of(f), 4);
    for (uint64_t n = 1; n <= 300; n++)
        assert_true(push_large(f, x, SIDE_RIGHT, n, 5, 88));
    advance(f, 10000);
    drain_product(f, x);
    mem_free(x);
    close_join(f);
}

/* --- the limit --- */

/* Until not even a small record fits, on either side. */
static void fill(struct join_fixture *f, int64_t t)
{
    for (int s = 0; s < SIDES; s++) {
        while (push_line(f, s, t, BYTES_LIT("k,some bytes that are to be held,")))
            ;
        while (push_line(f, s, t, BYTES_LIT("k,x,")))
            ;
    }
}

static void what_is_refused_is_taken_when_a_window_has_gone(void **state)
{
    struct join_fixture *f = open_join(PLAN(.size_ms = 10, .state_bytes_max = 8192));
    struct result r;

    (void)state;
    push(f, SIDE_LEFT, 1, "k,a,");
    fill(f, 11);
    assert_sound(f);
    assert_true(op->state_bytes(f->join) <= 8192);
    assert_true(op->state_bytes(f->join) > 7000);
    advance(f, 20);
    assert_false(push_line(f, SIDE_RIGHT, 21, BYTES_LIT("k,x,"))); /* nothing is freed yet */
    while (op->has_work(f->join))
        pull(f, &r, 1, ALL_FUEL);
    push(f, SIDE_RIGHT, 21, "k,x,");
    push(f, SIDE_LEFT, 22, "k,b,");
    assert_string_equal(end(f), "[20,30)(b,x)");
    close_join(f);
}

static void a_refused_record_changes_nothing(void **state)
{
    struct join_fixture *f = open_join(PLAN(.size_ms = 10, .state_bytes_max = 8192));
    uint64_t bytes;
    size_t count;

    (void)state;
    fill(f, 1);
    bytes = op->state_bytes(f->join);
    count = f->join->count;
    for (int64_t t = 5; t < 100; t += 10) {
        assert_false(push_line(f, SIDE_RIGHT, t, BYTES_LIT("k,x,")));
        assert_int_equal(op->state_bytes(f->join), bytes);
        assert_int_equal(f->join->count, count);
        assert_int_equal(due(f), 10);
        assert_sound(f);
    }
    close_join(f);
}

/* Windows cost too, also those that hold next to nothing. */
static void many_small_windows_are_limited_as_well(void **state)
{
    struct join_fixture *f = open_join(PLAN(.size_ms = 10, .state_bytes_max = 64 << 10));
    int64_t windows = 0;

    (void)state;
    while (windows < 1000 && push_line(f, SIDE_LEFT, 10 * windows, BYTES_LIT("k,a,")))
        windows++;
    assert_in_range(windows, 64, (64 << 10) / EACH_WINDOW);
    assert_true(op->state_bytes(f->join) <= 64 << 10);
    end(f);
    assert_int_equal(f->books.side[SIDE_LEFT].unmatched, windows);
    close_join(f);
}

/* Else nothing could ever be taken again. */
static void a_walk_leaves_room_even_in_a_very_small_state(void **state)
{
    (void)state;
    for (uint64_t limit = 4096; limit <= 256 << 10; limit *= 2) {
        struct join_fixture *f = open_join(PLAN(.size_ms = 10, .state_bytes_max = limit));
        char line[64];
        int64_t taken = 0, again = 0;
        int n;

        do
            n = snprintf(line, sizeof(line), "%" PRId64 ",,", taken++);
        while (push_line(f, SIDE_LEFT, 1, (struct bytes){line, (size_t)n}));
        advance(f, 10);
        drain(f);
        do
            n = snprintf(line, sizeof(line), "%" PRId64 ",,", again++);
        while (again < taken && push_line(f, SIDE_LEFT, 11, (struct bytes){line, (size_t)n}));
        if (again < taken / 2)
            fail_msg("of %" PRIu64 " bytes: %" PRId64 " records, then %" PRId64, limit, taken,
                     again);
        close_join(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(state_comes_back_to_about_nothing),
        cmocka_unit_test(a_window_of_two_records_costs_less_than_a_kilobyte),
        cmocka_unit_test(an_operator_may_go_while_it_walks),
        cmocka_unit_test(large_windows_are_parted_and_give_the_same),
        cmocka_unit_test(after_a_very_large_window_the_next_ones_begin_in_256_parts),
        cmocka_unit_test(one_record_may_be_too_large_for_the_window_to_be_parted),
        cmocka_unit_test(a_window_is_not_parted_when_there_is_no_room_for_a_copy),
        cmocka_unit_test(a_window_is_parted_late_when_room_came_late),
        cmocka_unit_test(what_is_refused_is_taken_when_a_window_has_gone),
        cmocka_unit_test(a_refused_record_changes_nothing),
        cmocka_unit_test(many_small_windows_are_limited_as_well),
        cmocka_unit_test(a_walk_leaves_room_even_in_a_very_small_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
