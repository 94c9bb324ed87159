/* Walks over windows that are several panes. */
#include "panes_fixture.h"

/* The walk may overspend by a group, and by what it takes to put a partition together. */
#define OVERSPENT_MAX 64

struct walk_fixture {
    struct panes_fixture f;
    struct window_walk walk;
    struct buf told;
};

static struct walk_fixture *open_walk(struct plan *plan)
{
    struct walk_fixture *w = mem_alloc_zeroed(1, sizeof(*w));

    panes_open(&w->f, plan);
    window_walk_init(&w->walk, plan, &w->f.books, w->f.pool, 1 << 20);
    return w;
}

static void close_walk(struct walk_fixture *w)
{
    window_walk_done(&w->walk);
    panes_close(&w->f);
    buf_done(&w->told);
    mem_free(w);
}

static void put(struct walk_fixture *w, enum side side, int64_t t, const char *line)
{
    panes_put(&w->f, side, t, 0, line);
}

static void begin(struct walk_fixture *w, int64_t end, unsigned tasks)
{
    size_t count;
    struct pane *const *panes = panes_of(&w->f, end - w->f.plan->size_ms, end, &count);

    window_walk_begin(&w->walk, panes, count, end, tasks);
}

static size_t pull(struct walk_fixture *w, struct result *ret, size_t max, int64_t fuel)
{
    int64_t left = fuel, most = fuel + OVERSPENT_MAX + w->walk.debt + 4 * (int64_t)w->f.panes.count;
    uint32_t touched = w->walk.table.touched;
    size_t n = window_walk_pull(&w->walk, ret, max, &left);

    if (w->walk.table.touched > touched)
        most += (int64_t)(walk_table_bytes(&w->walk.table) / WALK_PAGE) * WALK_PAGE_FUEL;
    assert_true(fuel - left <= most);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(ret[i].window_end, w->walk.cross.window_end);
        assert_int_equal(ret[i].window_start, ret[i].window_end - w->f.plan->size_ms);
    }
    return n;
}

static const char *walk_by(struct walk_fixture *w, int64_t end, unsigned tasks, size_t max,
                           int64_t fuel)
{
    struct result results[RESULTS_MAX];

    begin(w, end, tasks);
    buf_clear(&w->told);
    while (w->walk.under_way) {
        size_t n = pull(w, results, max, fuel);
        for (size_t i = 0; i < n; i++)
            append_result(w->f.plan, &results[i], &w->told);
        assert_balance(&w->f);
    }
    return buf_text(&w->told);
}

static const char *walk(struct walk_fixture *w, int64_t end, unsigned tasks)
{
    return walk_by(w, end, tasks, RESULTS_MAX, ALL_FUEL);
}

/* --- order and fates --- */

static void records_are_chained_in_order_of_arrival_over_the_panes(void **state)
{
    static const int64_t fuels[] = {1, 5, 17, ALL_FUEL};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(fuels); i++) {
        struct walk_fixture *w = open_walk(PLAN(.size_ms = 30, .slide_ms = 7));
        put(w, SIDE_LEFT, 20, "k,a,");
        put(w, SIDE_LEFT, 5, "k,b,");
        put(w, SIDE_LEFT, 12, "k,c,");
        put(w, SIDE_LEFT, 5, "k,d,");
        put(w, SIDE_RIGHT, 29, "k,x,");
        put(w, SIDE_RIGHT, 3, "k,y,");
        put(w, SIDE_RIGHT, 29, "k,z,");
        assert_string_equal(walk_by(w, 30, CROSS_TELL | CROSS_CLOSE, 1 + i, fuels[i]),
                            "(a,x)(a,y)(a,z)(b,x)(b,y)(b,z)(c,x)(c,y)(c,z)(d,x)(d,y)(d,z)");
        assert_restored(&w->f);
        close_walk(w);
    }
}

/* NULL keys too: each is told in each of its windows, and stays until the last. */
static void what_stays_is_as_it_was_before_the_walk(void **state)
{
    struct walk_fixture *w = open_walk(PLAN(.type = JOIN_FULL, .size_ms = 10, .slide_ms = 5));

    (void)state;
    put(w, SIDE_LEFT, 3, "k,a,");
    put(w, SIDE_LEFT, 7, ",b,");
    put(w, SIDE_RIGHT, 8, "m,x,");
    put(w, SIDE_RIGHT, 8, "k,y,");
    put(w, SIDE_LEFT, 8, "k,c,");
    assert_string_equal(walk(w, 10, CROSS_TELL | CROSS_CLOSE), "(a,y)(c,y)(b,null)(null,x)");
    assert_restored(&w->f);
    assert_int_equal(w->f.books.side[SIDE_LEFT].unmatched, 0);
    assert_string_equal(walk(w, 15, CROSS_TELL | CROSS_CLOSE), "(b,null)(c,y)(null,x)");
    assert_int_equal(w->f.books.side[SIDE_LEFT].unmatched, 1);
    assert_int_equal(w->f.books.side[SIDE_RIGHT].unmatched, 1);
    assert_int_equal(w->f.books.side[SIDE_LEFT].matched, 2);
    close_walk(w);
}

/* c matched in the window before; in this one it did not. */
static void what_matched_elsewhere_may_be_padded_here(void **state)
{
    struct walk_fixture *w = open_walk(PLAN(.type = JOIN_LEFT, .size_ms = 10, .slide_ms = 5));

    (void)state;
    put(w, SIDE_RIGHT, 3, "k,x,");
    put(w, SIDE_LEFT, 8, "k,c,");
    put(w, SIDE_LEFT, 12, "k,d,");
    assert_string_equal(walk(w, 10, CROSS_TELL), "(c,x)");
    assert_string_equal(walk(w, 15, CROSS_TELL), "");
    assert_string_equal(walk(w, 10, CROSS_CLOSE), "");
    assert_string_equal(walk(w, 15, CROSS_CLOSE), "(c,null)(d,null)");
    assert_restored(&w->f);
    assert_int_equal(w->f.books.side[SIDE_LEFT].matched, 1);
    assert_int_equal(w->f.books.side[SIDE_LEFT].unmatched, 0);
    assert_string_equal(walk(w, 20, CROSS_TELL), "");
    assert_string_equal(walk(w, 20, CROSS_CLOSE), "(d,null)");
    assert_int_equal(w->f.books.side[SIDE_LEFT].unmatched, 1);
    close_walk(w);
}

/* Where no row can come of a closing, no key is looked at. */
static void a_silent_walk_only_decides(void **state)
{
    struct walk_fixture *w = open_walk(PLAN(.size_ms = 10, .slide_ms = 5));
    int64_t fuel = ALL_FUEL;
    struct result r;
    char line[32];

    (void)state;
    for (int i = 0; i < 500; i++) {
        snprintf(line, sizeof(line), "%d,%d,", i, i);
        put(w, SIDE_LEFT, 3 + i % 4, line);
        put(w, SIDE_RIGHT, 3 + i % 4, i % 2 == 0 ? line : "none,x,");
    }
    begin(w, 10, CROSS_TELL);
    while (w->walk.under_way)
        pull(w, &r, 1, ALL_FUEL);
    begin(w, 10, CROSS_CLOSE);
    assert_int_equal(window_walk_pull(&w->walk, &r, 1, &fuel), 0);
    assert_int_equal(w->walk.table.count, 1);
    while (w->walk.under_way)
        pull(w, &r, 1, ALL_FUEL);
    assert_balance(&w->f);
    assert_int_equal(w->f.books.side[SIDE_LEFT].matched, 250);
    assert_int_equal(w->f.books.side[SIDE_LEFT].unmatched, 125); /* of the pane that goes */
    close_walk(w);
}

/* --- partitions --- */

#define KEYS 300

/* Records of about 200 bytes; ids grow from 1 on each side. */
static void put_large(struct walk_fixture *w, struct product *x, enum side side, int64_t t,
                      unsigned bits, uint64_t id)
{
    uint64_t key = hash_number(id * 2 + (uint64_t)side) % KEYS;
    char line[256];
    int n = snprintf(line, sizeof(line), "%" PRIu64 ",%" PRIu64 ",", key, id);

    memset(line + n, 'a', 200 - (size_t)n);
    line[200] = '\0';
    panes_put(&w->f, side, t, bits, line);
    product_in(x, side, key);
}

static void walk_product(struct walk_fixture *w, struct product *x, int64_t end, unsigned tasks)
{
    struct result results[RESULTS_MAX];

    begin(w, end, tasks);
    while (w->walk.under_way) {
        size_t n = pull(w, results, 1 + x->pairs % RESULTS_MAX, 1 + (int64_t)(x->pairs % 999));
        for (size_t i = 0; i < n; i++)
            product_out(x, w->f.plan, &results[i]);
    }
    assert_product(x);
}

/* Panes may be parted more and less finely than the walk. */
static void panes_that_are_parted_differently_give_the_same(void **state)
{
    static const struct {
        const char *name;
        unsigned bits[4], walk;
    } rows[] = {
        {"not at all", {0, 0, 0, 0}, 1},
        {"as the walk", {4, 4, 4, 4}, 4},
        {"more finely", {8, 8, 4, 8}, 4},
        {"each in its way", {0, 4, 8, 2}, 2},
        {"one hardly, three finely", {1, 8, 8, 8}, 3},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct walk_fixture *w = open_walk(PLAN(.size_ms = 40, .slide_ms = 10));
        struct product *x = mem_alloc_zeroed(1, sizeof(*x));
        uint64_t seed = i;
        for (uint64_t id = 1; id <= 1600; id++)
            for (int s = 0; s < SIDES; s++) {
                int64_t t = dice(&seed, 40);
                put_large(w, x, s, t, rows[i].bits[t / 10], id);
            }
        for (int again = 0; again < 2; again++) {
            x->pairs = 0;
            for (size_t k = 0; k < PRODUCT_KEYS_MAX; k++)
                x->keys[k].left = x->keys[k].right = 0;
            walk_product(w, x, 40, CROSS_TELL);
            assert_restored(&w->f);
        }
        begin(w, 40, CROSS_TELL);
        assert_row(w->walk.bits == rows[i].walk, rows[i].name);
        mem_free(x);
        close_walk(w);
    }
}

/* --- memory --- */

/* A pane whose last window closes alone is given back partition by partition. */
static void one_pane_that_goes_is_given_back_on_the_way(void **state)
{
    struct walk_fixture *w = open_walk(PLAN(.type = JOIN_LEFT, .size_ms = 40, .slide_ms = 10));
    struct product *x = mem_alloc_zeroed(1, sizeof(*x));
    struct result results[RESULTS_MAX];
    size_t used, falls = 0;

    (void)state;
    for (uint64_t id = 1; id <= 1000; id++)
        put_large(w, x, SIDE_LEFT, 5, 4, id);
    used = slab_used(w->f.pool);
    begin(w, 40, CROSS_TELL | CROSS_CLOSE);
    while (w->walk.under_way) {
        pull(w, results, RESULTS_MAX, ALL_FUEL);
        falls += slab_used(w->f.pool) < used;
        used = slab_used(w->f.pool);
    }
    assert_int_equal(used, 0);
    assert_true(falls >= 8);
    assert_int_equal(w->f.books.side[SIDE_LEFT].unmatched, 1000);
    mem_free(x);
    close_walk(w);
}

static void what_a_walk_holds_is_counted_and_given_back(void **state)
{
    struct walk_fixture *w = open_walk(PLAN(.size_ms = 1000, .slide_ms = 1));
    struct result r;

    (void)state;
    for (int64_t t = 0; t < 1000; t++)
        put(w, SIDE_LEFT, t, "k,a,");
    w->walk.tables_kept_max = 1024;
    begin(w, 1000, CROSS_TELL);
    assert_true(window_walk_bytes(&w->walk) > 1000 * 2 * sizeof(void *));
    while (w->walk.under_way)
        pull(w, &r, 1, 100);
    assert_int_equal(window_walk_bytes(&w->walk), 0);
    assert_restored(&w->f);
    close_walk(w);
}

static void a_walk_may_be_given_up(void **state)
{
    struct result r;

    (void)state;
    for (int64_t fuel = 1; fuel < 200; fuel += 7) {
        struct walk_fixture *w = open_walk(PLAN(.type = JOIN_FULL, .size_ms = 10, .slide_ms = 3));
        for (int64_t t = 0; t < 40; t++)
            put(w, (enum side)(t % 2), t % 10, "k,a,");
        begin(w, 10, CROSS_TELL | CROSS_CLOSE);
        pull(w, &r, 1, fuel);
        close_walk(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_are_chained_in_order_of_arrival_over_the_panes),
        cmocka_unit_test(what_stays_is_as_it_was_before_the_walk),
        cmocka_unit_test(what_matched_elsewhere_may_be_padded_here),
        cmocka_unit_test(a_silent_walk_only_decides),
        cmocka_unit_test(panes_that_are_parted_differently_give_the_same),
        cmocka_unit_test(one_pane_that_goes_is_given_back_on_the_way),
        cmocka_unit_test(what_a_walk_holds_is_counted_and_given_back),
        cmocka_unit_test(a_walk_may_be_given_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
