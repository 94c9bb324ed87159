#include "join/pane.h"
#include "join_fixture.h"

/* --- the cuts --- */

static const struct {
    int64_t size, slide, offset;
} grids[] = {{10, 10, 0}, {10, 10, 3}, {10, 5, 0},   {10, 4, -3}, {10, 3, 1}, {7, 2, 0},
             {1, 1, 0},   {5, 10, 2},  {1, 7, -100}, {30, 7, 6},  {9, 8, 0},  {100, 1, 0}};

static struct plan *grid_plan(size_t i)
{
    return PLAN(.size_ms = grids[i].size, .slide_ms = grids[i].slide, .offset_ms = grids[i].offset);
}

static struct pane *open_pane(struct pane_list *l, const struct plan *p, int64_t t, unsigned bits)
{
    return pane_list_open(l, p, t, &(struct pane_shape){.bits = bits});
}

static bool holds(const struct plan *p, int64_t start, int64_t t)
{
    return start <= t && t < start + p->size_ms;
}

static bool is_start(const struct plan *p, int64_t t)
{
    return (t - p->offset_ms) % p->slide_ms == 0;
}

static void the_windows_of_a_time_are_those_that_hold_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(grids); i++) {
        struct plan *p = grid_plan(i);
        for (int64_t t = -250; t < 250; t++) {
            struct pane_windows w = pane_windows_of(p, t);
            uint64_t count = 0;
            int64_t first = 0, last = 0;
            for (int64_t s = t - p->size_ms; s <= t; s++)
                if (is_start(p, s) && holds(p, s, t)) {
                    first = count++ == 0 ? s : first;
                    last = s;
                }
            assert_int_equal(w.count, count);
            assert_true(count == 0 || w.first_end == first + p->size_ms);
            assert_true(count == 0 || w.last_end == last + p->size_ms);
        }
        plan_free(p);
    }
}

/* Two times are of one pane if nothing starts or ends between them: two a slide at most. */
static void panes_are_cut_where_windows_start_and_end(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(grids); i++) {
        struct slab_pool *pool = slab_pool_new();
        struct plan *p = grid_plan(i);
        struct pane_list l = {0};
        for (int64_t t = -200; t < 200; t++) {
            const struct pane *pane;
            if (pane_windows_of(p, t).count == 0)
                continue;
            pane = open_pane(&l, p, t, 0);
            assert_true(pane->start <= t && t < pane->end);
            for (int64_t u = pane->start + 1; u < pane->end; u++)
                assert_false(is_start(p, u) || is_start(p, u - p->size_ms));
            assert_true(is_start(p, pane->start) || is_start(p, pane->start - p->size_ms));
            assert_true(is_start(p, pane->end) || is_start(p, pane->end - p->size_ms));
        }
        assert_true(l.count <= 2 * (400 / (size_t)p->slide_ms + 2));
        pane_list_done(&l, pool);
        slab_pool_free(pool);
        plan_free(p);
    }
}

/* --- the directory --- */

static void assert_next_end(const struct pane_list *l, const struct plan *p, int64_t after)
{
    int64_t expected = PANE_NO_WINDOW;

    for (int64_t end = after + 1; end < 600 && expected == PANE_NO_WINDOW; end++)
        for (size_t i = 0; i < l->count && is_start(p, end - p->size_ms); i++)
            if (holds(p, end - p->size_ms, pane_list_at(l, i)->start))
                expected = end;
    assert_int_equal(pane_list_next_end(l, p, after), expected);
}

static void assert_found(const struct pane_list *l, int64_t t)
{
    const struct pane *expected = NULL;

    for (size_t i = 0; i < l->count; i++)
        if (pane_list_at(l, i)->start <= t && t < pane_list_at(l, i)->end)
            expected = pane_list_at(l, i);
    assert_ptr_equal(pane_list_find(l, t), expected);
}

static void panes_lie_by_time_however_they_come_and_go(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(grids); i++) {
        struct slab_pool *pool = slab_pool_new();
        struct plan *p = grid_plan(i);
        struct pane_list l = {0};
        uint64_t seed = i;
        for (int n = 0; n < 200; n++) {
            int64_t t = (int64_t)dice(&seed, 300) - 150;
            if (dice(&seed, 3) > 0 && pane_windows_of(p, t).count > 0)
                assert_true(open_pane(&l, p, t, 0) == open_pane(&l, p, t, 4));
            else if (l.count > 0)
                pane_list_drop(&l, pool, dice(&seed, 2) ? 0 : dice(&seed, (uint32_t)l.count));
            for (size_t k = 1; k < l.count; k++) {
                const struct pane *a = pane_list_at(&l, k - 1), *b = pane_list_at(&l, k);
                assert_true(a->end <= b->start && a->last_end <= b->last_end);
                assert_int_equal(pane_list_before(&l, b->start), k);
                assert_int_equal(pane_list_before(&l, b->start + 1), k + 1);
            }
            assert_found(&l, t);
            if (n % 16 == 0)
                assert_next_end(&l, p, (int64_t)dice(&seed, 400) - 200);
        }
        assert_next_end(&l, p, -400);
        pane_list_done(&l, pool);
        slab_pool_free(pool);
        plan_free(p);
    }
}

static void no_pane_no_window(void **state)
{
    struct plan *p = PLAN();
    struct pane_list l = {0};

    (void)state;
    assert_int_equal(pane_list_next_end(&l, p, INT64_MIN), PANE_NO_WINDOW);
    assert_int_equal(pane_list_next_end(&l, p, INT64_MAX), PANE_NO_WINDOW);
    assert_int_equal(pane_list_before(&l, 0), 0);
    assert_null(pane_list_find(&l, 0));
    plan_free(p);
}

/* --- what they cost --- */

/* Hours of seconds, opened in any order. */
static void many_open_panes_cost_a_few_hundred_bytes_each(void **state)
{
    struct plan *p = PLAN(.size_ms = 1000);
    struct slab_pool *pool = slab_pool_new();
    struct pane_list l = {0};
    uint64_t bytes = 0;

    (void)state;
    for (int64_t n = 0; n < 20000; n++)
        open_pane(&l, p, n * 7919 % 20000 * 1000 + 5, 0);
    assert_int_equal(l.count, 20000);
    for (size_t i = 0; i < l.count; i++)
        bytes += pane_bytes(pane_list_at(&l, i));
    assert_true((bytes + pane_list_bytes(&l)) / 20000 < 300);
    while (l.count > 0)
        pane_list_drop(&l, pool, 0);
    pane_list_done(&l, pool);
    slab_pool_free(pool);
    plan_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_windows_of_a_time_are_those_that_hold_it),
        cmocka_unit_test(panes_are_cut_where_windows_start_and_end),
        cmocka_unit_test(panes_lie_by_time_however_they_come_and_go),
        cmocka_unit_test(no_pane_no_window),
        cmocka_unit_test(many_open_panes_cost_a_few_hundred_bytes_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
