#include "window_join_fixture.h"

#define WALK_KEEPS  (1 << 20) /* what a walk may keep for the next one: far less than the limit */
#define EACH_WINDOW (sizeof(struct pane) + SIDES * sizeof(struct log_part))

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
                WALK_KEEPS + f->join->open.panes.capacity * sizeof(struct pane *));
    assert_true(f->join->open.panes.capacity <= 16);
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

/* A day of seconds: each window costs little beside its records. */
static void many_open_windows_cost_a_few_hundred_bytes_each(void **state)
{
    struct join_fixture *f = open_join(PLAN(.time = TIME_EVENT, .size_ms = 1000));
    uint64_t bytes;

    (void)state;
    for (int64_t n = 0; n < 10000; n++)
        assert_true(push_line(f, SIDE_LEFT, n * 7919 % 10000 * 1000, BYTES_LIT("k,a,")));
    assert_sound(f);
    bytes = op->state_bytes(f->join) - slab_used(f->pool);
    assert_true(bytes / 10000 < 300);
    end(f);
    assert_int_equal(f->books.side[SIDE_LEFT].unmatched, 10000);
    close_join(f);
}

/* All that sliding windows, late records, their indexes and lone records took. */
static void whatever_was_held_state_comes_back_to_about_nothing(void **state)
{
    static const int64_t slides[] = {1000, 300, 100, 2500};
    char line[64];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(slides); i++) {
        struct join_fixture *f =
            open_join(PLAN(.type = JOIN_FULL, .time = TIME_EVENT, .size_ms = 1000,
                           .slide_ms = slides[i], .grace_ms = 500));
        uint64_t peak = 0;
        for (int n = 0; n < 4000; n++) {
            int64_t t = n - (n % 7) * 200;
            snprintf(line, sizeof(line), "%d,%d,", n % 300, n);
            advance(f, n - 200);
            while (push_stop_of(f, (enum side)(n % 2), t, bytes_of(line)) == PUSH_WORK_FIRST)
                drain(f);
            peak = op->state_bytes(f->join) > peak ? op->state_bytes(f->join) : peak;
        }
        assert_sound(f);
        assert_true(peak > 1000 * 30);
        end(f);
        assert_int_equal(slab_used(f->pool), 0);
        assert_true(op->state_bytes(f->join) <=
                    WALK_KEEPS + f->join->open.panes.capacity * sizeof(struct pane *));
        for (int s = 0; s < SIDES; s++)
            assert_true(f->books.side[s].late_windows > 0);
        close_join(f);
    }
}

/* The pane lives on after its walk, and goes when its last window has closed. */
static void a_large_pane_goes_little_by_little(void **state)
{
    struct join_fixture *f = open_join(PLAN(.time = TIME_EVENT, .size_ms = 20, .slide_ms = 10));
    struct result r;
    size_t used, falls = 0;

    (void)state;
    push(f, SIDE_RIGHT, 11, "none,x,"); /* another pane, so that it is not walked alone */
    for (int i = 0; i < 40000; i++)
        assert_true(push_line(f, SIDE_LEFT, 5, BYTES_LIT("k,some bytes that are to be held,")));
    advance(f, 19);
    used = slab_used(f->pool);
    while (op->has_work(f->join)) {
        pull(f, &r, 1, 100);
        assert_true(slab_used(f->pool) + 16 * SLAB_CHUNK_MAX >= used);
        falls += slab_used(f->pool) < used;
        used = slab_used(f->pool);
    }
    assert_true(falls > 10);
    assert_true(used < 1024);
    assert_int_equal(f->books.side[SIDE_LEFT].unmatched, 40000);
    close_join(f);
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
    const struct pane *w = pane_at(f, 0);

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
    assert_true(pane_at(f, 0)->side[SIDE_LEFT].bytes > 64 << 10);
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

/* An index knows where records lie: they stay there. */
static void a_pane_that_late_records_look_into_is_not_parted(void **state)
{
    struct join_fixture *f = open_join(PLAN(.time = TIME_EVENT, .grace_ms = 5000));
    struct product *x = mem_alloc_zeroed(1, sizeof(*x));
    struct result results[RESULTS_MAX];

    (void)state;
    for (uint64_t n = 1; n <= 500; n++)
        assert_true(push_large(f, x, SIDE_LEFT, n, 5, 100));
    advance(f, 9999);
    drain(f);
    for (uint64_t n = 501; n <= 1500; n++) {
        enum side side = n % 100 == 1 ? SIDE_RIGHT : SIDE_LEFT;
        assert_true(push_large(f, x, side, n, 5, 100));
        while (op->has_work(f->join)) {
            size_t count = pull(f, results, RESULTS_MAX, 1000);
            x->pairs += count;
        }
    }
    assert_true(pane_at(f, 0)->side[SIDE_LEFT].bytes > 64 << 10);
    assert_int_equal(bits_of(f), 0);
    assert_sound(f);
    assert_product(x);
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
    count = f->join->open.panes.count;
    for (int64_t t = 5; t < 100; t += 10) {
        assert_false(push_line(f, SIDE_RIGHT, t, BYTES_LIT("k,x,")));
        assert_int_equal(op->state_bytes(f->join), bytes);
        assert_int_equal(f->join->open.panes.count, count);
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

/* It holds nothing but what it must: the next one has to go somewhere. */
static void an_empty_state_takes_one_record_however_small_the_limit(void **state)
{
    struct join_fixture *f = open_join(PLAN(.type = JOIN_LEFT, .time = TIME_EVENT, .size_ms = 2,
                                            .slide_ms = 10, .state_bytes_max = 1));

    (void)state;
    push(f, SIDE_LEFT, 5, "k,a,"); /* between windows */
    assert_int_equal(push_stop_of(f, SIDE_LEFT, 7, BYTES_LIT("k,b,")), PUSH_FULL);
    assert_int_equal(push_stop_of(f, SIDE_LEFT, 11, BYTES_LIT("k,b,")), PUSH_FULL);
    assert_sound(f);
    advance(f, 5);
    drain(f);
    push(f, SIDE_LEFT, 11, "k,b,");
    assert_int_equal(push_stop_of(f, SIDE_LEFT, 15, BYTES_LIT("k,c,")), PUSH_FULL);
    assert_int_equal(push_stop_of(f, SIDE_LEFT, 21, BYTES_LIT("k,c,")), PUSH_FULL);
    assert_sound(f);
    end(f);
    assert_int_equal(f->books.side[SIDE_LEFT].unmatched, 2);
    close_join(f);
}

/* It is asked again, and then its lateness is counted, and its pairs come. */
static void a_late_record_may_be_refused_too(void **state)
{
    struct join_fixture *f = open_join(PLAN(.time = TIME_EVENT, .size_ms = 20, .slide_ms = 10,
                                            .grace_ms = 5, .state_bytes_max = 8192));
    struct bytes large = {mem_alloc(4000), 4000};

    (void)state;
    memset((char *)large.p, 'a', large.n);
    memcpy((char *)large.p, "k,b,", 4);
    assert_true(push_line(f, SIDE_RIGHT, 12, large));
    advance(f, 24); /* [-10,10) and [0,20) ... */
    drain(f);
    assert_int_equal(push_stop_of(f, SIDE_LEFT, 13, large), PUSH_FULL);
    assert_false(op->has_work(f->join));
    assert_int_equal(f->books.side[SIDE_LEFT].late_windows, 0);
    f->state_bytes_max = 1 << 20;
    advance(f, 29);
    drain(f);
    assert_int_equal(push_stop_of(f, SIDE_LEFT, 13, BYTES_LIT("k,a,")), PUSH_ALL);
    assert_int_equal(f->books.side[SIDE_LEFT].late_windows, 1);
    assert_true(op->has_work(f->join));
    drain(f);
    assert_int_equal(f->books.results[RESULT_PAIR], 1);
    mem_free((char *)large.p);
    close_join(f);
}

/* References to all records of a sliding window have to fit 32 bits. */
static void sliding_windows_take_so_many_chunks_and_no_more(void **state)
{
    struct join_fixture *f = open_join(PLAN(.time = TIME_EVENT, .size_ms = 20, .slide_ms = 10));
    uint64_t chunks;

    (void)state;
    push(f, SIDE_LEFT, 1, "k,a,");
    chunks = f->join->chunks[SIDE_LEFT];
    f->join->chunks[SIDE_LEFT] = LOG_CHUNKS_MAX;
    assert_true(push_line(f, SIDE_LEFT, 1, BYTES_LIT("k,a,")));
    assert_int_equal(push_stop_of(f, SIDE_LEFT, 11, BYTES_LIT("k,b,")), PUSH_FULL);
    assert_true(push_line(f, SIDE_RIGHT, 11, BYTES_LIT("k,x,")));
    f->join->chunks[SIDE_LEFT] = chunks;
    assert_sound(f);
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
        cmocka_unit_test(many_open_windows_cost_a_few_hundred_bytes_each),
        cmocka_unit_test(whatever_was_held_state_comes_back_to_about_nothing),
        cmocka_unit_test(a_large_pane_goes_little_by_little),
        cmocka_unit_test(large_windows_are_parted_and_give_the_same),
        cmocka_unit_test(after_a_very_large_window_the_next_ones_begin_in_256_parts),
        cmocka_unit_test(one_record_may_be_too_large_for_the_window_to_be_parted),
        cmocka_unit_test(a_window_is_not_parted_when_there_is_no_room_for_a_copy),
        cmocka_unit_test(a_window_is_parted_late_when_room_came_late),
        cmocka_unit_test(a_pane_that_late_records_look_into_is_not_parted),
        cmocka_unit_test(what_is_refused_is_taken_when_a_window_has_gone),
        cmocka_unit_test(a_refused_record_changes_nothing),
        cmocka_unit_test(many_small_windows_are_limited_as_well),
        cmocka_unit_test(an_empty_state_takes_one_record_however_small_the_limit),
        cmocka_unit_test(a_late_record_may_be_refused_too),
        cmocka_unit_test(sliding_windows_take_so_many_chunks_and_no_more),
        cmocka_unit_test(a_walk_leaves_room_even_in_a_very_small_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
