#include "join/late_probe.h"
#include "panes_fixture.h"

struct probe_fixture {
    struct panes_fixture f;
    struct late_probe probe;
    struct buf told;
};

static struct probe_fixture *open_probe(struct plan *plan)
{
    struct probe_fixture *p = mem_alloc_zeroed(1, sizeof(*p));

    panes_open(&p->f, plan);
    late_probe_init(&p->probe, plan, &p->f.books, p->f.pool, 1 << 16);
    return p;
}

static void close_probe(struct probe_fixture *p)
{
    late_probe_done(&p->probe);
    panes_close(&p->f);
    buf_done(&p->told);
    mem_free(p);
}

static void put(struct probe_fixture *p, enum side side, int64_t t, const char *line)
{
    panes_put(&p->f, side, t, t % 3 == 0 ? 4 : 0, line);
}

/* The record that was put last, for the windows that end from `first_end` to `last_end`. */
static void begin(struct probe_fixture *p, enum side side, int64_t first_end, int64_t last_end)
{
    size_t count;
    struct pane *const *panes = panes_of(&p->f, first_end - p->f.plan->size_ms, last_end, &count);

    late_probe_begin(&p->probe, panes, count, p->f.last_pane, side, &p->f.last, first_end,
                     last_end);
}

static const char *run(struct probe_fixture *p, size_t max, int64_t fuel)
{
    struct result results[RESULTS_MAX];
    int64_t end = INT64_MIN;

    buf_clear(&p->told);
    while (p->probe.under_way) {
        int64_t left = fuel;
        size_t n = late_probe_pull(&p->probe, results, max, &left);
        for (size_t i = 0; i < n; i++) {
            if (results[i].window_end != end)
                buf_printf(&p->told, "%" PRId64 ":", results[i].window_end);
            end = results[i].window_end;
            append_result(p->f.plan, &results[i], &p->told);
        }
    }
    assert_restored(&p->f);
    assert_balance(&p->f);
    return buf_text(&p->told);
}

static void a_late_record_finds_its_partners_in_order_of_arrival(void **state)
{
    static const int64_t fuels[] = {1, 3, 20, ALL_FUEL};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(fuels); i++) {
        struct probe_fixture *p = open_probe(PLAN(.size_ms = 10, .slide_ms = 4));
        put(p, SIDE_RIGHT, 9, "k,x,");
        put(p, SIDE_RIGHT, 4, "k,y,");
        put(p, SIDE_RIGHT, 7, "m,no,");
        put(p, SIDE_RIGHT, 13, "k,z,");
        put(p, SIDE_RIGHT, 9, "k,w,");
        put(p, SIDE_RIGHT, 1, "k,v,");
        put(p, SIDE_LEFT, 8, "k,a,");
        begin(p, SIDE_LEFT, 10, 18); /* [0,10), [4,14), [8,18) */
        assert_string_equal(run(p, 1 + i, fuels[i]),
                            "10:(a,x)(a,y)(a,w)(a,v)14:(a,x)(a,y)(a,z)(a,w)18:(a,x)(a,z)(a,w)");
        assert_int_equal(p->f.books.side[SIDE_RIGHT].matched, 5);
        assert_int_equal(p->f.books.side[SIDE_LEFT].matched, 1);
        close_probe(p);
    }
}

static void without_partners_nothing_comes(void **state)
{
    struct probe_fixture *p = open_probe(PLAN(.type = JOIN_FULL, .size_ms = 10));

    (void)state;
    put(p, SIDE_LEFT, 8, "k,a,");
    begin(p, SIDE_LEFT, 10, 10);
    assert_string_equal(run(p, 1, ALL_FUEL), "");
    put(p, SIDE_RIGHT, 8, "m,x,");
    begin(p, SIDE_RIGHT, 10, 10);
    assert_string_equal(run(p, 1, ALL_FUEL), "");
    assert_int_equal(p->f.books.side[SIDE_LEFT].matched, 0);
    close_probe(p);
}

/* Each window apart: x matched a in [0,20), not in [10,30). */
static void a_late_right_record_gives_semi_rows_only_where_it_is_the_first_match(void **state)
{
    struct probe_fixture *p = open_probe(PLAN(.type = JOIN_SEMI, .size_ms = 20, .slide_ms = 10));
    struct probe_fixture *anti = open_probe(PLAN(.type = JOIN_ANTI, .size_ms = 20, .slide_ms = 10));

    (void)state;
    put(p, SIDE_LEFT, 11, "k,a,");
    put(p, SIDE_RIGHT, 5, "k,x,");
    begin(p, SIDE_RIGHT, 20, 20);
    assert_string_equal(run(p, 1, 2), "20:(a)");
    put(p, SIDE_RIGHT, 12, "k,y,");
    begin(p, SIDE_RIGHT, 20, 30);
    assert_string_equal(run(p, 1, 2), "30:(a)");
    put(p, SIDE_RIGHT, 12, "k,z,");
    begin(p, SIDE_RIGHT, 20, 30);
    assert_string_equal(run(p, 1, 2), "");
    assert_int_equal(p->f.books.side[SIDE_RIGHT].matched, 2);
    put(p, SIDE_LEFT, 13, "k,b,");
    begin(p, SIDE_LEFT, 20, 30);
    assert_string_equal(run(p, 1, 2), "20:(b)30:(b)");
    close_probe(p);

    put(anti, SIDE_LEFT, 11, "k,a,");
    put(anti, SIDE_RIGHT, 5, "k,x,");
    begin(anti, SIDE_RIGHT, 20, 20);
    assert_string_equal(run(anti, 1, 2), "");
    assert_int_equal(anti->f.books.side[SIDE_LEFT].matched, 1);
    close_probe(anti);
}

static void in_tumbling_windows_the_records_know_what_matched(void **state)
{
    struct probe_fixture *p = open_probe(PLAN(.type = JOIN_SEMI, .size_ms = 10));

    (void)state;
    put(p, SIDE_LEFT, 1, "k,a,");
    put(p, SIDE_RIGHT, 5, "k,x,");
    begin(p, SIDE_RIGHT, 10, 10);
    assert_string_equal(run(p, 1, 2), "10:(a)");
    put(p, SIDE_LEFT, 2, "k,b,");
    put(p, SIDE_RIGHT, 5, "k,y,");
    begin(p, SIDE_RIGHT, 10, 10);
    assert_string_equal(run(p, 1, 2), "10:(b)");
    assert_false(p->probe.asks_own_side);
    close_probe(p);
}

/* A second late record does not look at what the first one's search has indexed. */
static void a_late_record_does_not_scan_a_partition(void **state)
{
    struct probe_fixture *p = open_probe(PLAN(.size_ms = 10));
    struct result results[RESULTS_MAX];
    int64_t spent[2];
    char line[32];

    (void)state;
    for (int i = 0; i < 5000; i++) {
        snprintf(line, sizeof(line), "%d,%d,", i, i);
        put(p, SIDE_RIGHT, 1, line);
    }
    for (int i = 0; i < 2; i++) {
        int64_t fuel = ALL_FUEL;
        put(p, SIDE_LEFT, 1, i == 0 ? "77,a," : "4999,a,");
        begin(p, SIDE_LEFT, 10, 10);
        assert_int_equal(late_probe_pull(&p->probe, results, RESULTS_MAX, &fuel), 1);
        assert_false(p->probe.under_way);
        spent[i] = ALL_FUEL - fuel;
    }
    assert_true(spent[0] > 5000 && spent[1] < 40);
    assert_int_equal(late_index_bytes(p->f.last_pane->late), p->probe.index_bytes);
    close_probe(p);
}

static void an_index_is_made_little_by_little(void **state)
{
    struct probe_fixture *p = open_probe(PLAN(.size_ms = 10));
    struct result r;
    int pulls = 0;

    (void)state;
    for (int i = 0; i < 1000; i++)
        put(p, SIDE_RIGHT, 1, "k,x,");
    put(p, SIDE_LEFT, 1, "k,a,");
    begin(p, SIDE_LEFT, 10, 10);
    for (size_t n = 0; n == 0; pulls++) {
        int64_t fuel = 100;
        n = late_probe_pull(&p->probe, &r, 1, &fuel);
        assert_true(fuel > -20);
    }
    assert_true(pulls > 50);
    close_probe(p);
}

static void large_tables_are_not_kept_between_probes(void **state)
{
    struct probe_fixture *p = open_probe(PLAN(.size_ms = 1000, .slide_ms = 1));

    (void)state;
    p->probe.tables_kept_max = 256;
    for (int64_t t = 0; t < 300; t++)
        put(p, SIDE_RIGHT, t, "k,x,");
    put(p, SIDE_LEFT, 299, "k,a,");
    begin(p, SIDE_LEFT, 300, 300);
    assert_true(late_probe_bytes(&p->probe) >= 300 * sizeof(void *));
    run(p, 64, 1000);
    assert_int_equal(late_probe_bytes(&p->probe), 0);
    close_probe(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_late_record_finds_its_partners_in_order_of_arrival),
        cmocka_unit_test(without_partners_nothing_comes),
        cmocka_unit_test(a_late_right_record_gives_semi_rows_only_where_it_is_the_first_match),
        cmocka_unit_test(in_tumbling_windows_the_records_know_what_matched),
        cmocka_unit_test(a_late_record_does_not_scan_a_partition),
        cmocka_unit_test(an_index_is_made_little_by_little),
        cmocka_unit_test(large_tables_are_not_kept_between_probes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
