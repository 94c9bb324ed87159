#include "join/window_age.h"
#include "join_fixture.h"

#define ANY_ROOM UINT64_MAX

struct age_fixture {
    struct plan *plan;
    struct slab_pool *pool;
    struct window_age age;
};

static struct age_fixture open_age(struct plan *plan)
{
    struct age_fixture f = {.plan = plan, .pool = slab_pool_new()};

    window_age_init(&f.age, INT64_MIN, INT64_MIN);
    return f;
}

static void close_age(struct age_fixture *f)
{
    window_age_done(&f->age, f->pool);
    slab_pool_free(f->pool);
    plan_free(f->plan);
}

static void put(struct age_fixture *f, enum side side, int64_t t)
{
    struct record_parts parts = {.body = BYTES_LIT("k"), .key = BYTES_NULL, .time = t};
    struct pane *p;

    if (pane_windows_of(f->plan, t).count == 0) {
        assert_true(lone_push(&f->age.lone, side, &parts, 0, ANY_ROOM));
        return;
    }
    p = pane_list_open(&f->age.panes, f->plan, t, &(struct pane_shape){0});
    assert_true(window_log_append(&p->side[side], f->pool, &parts, 0, ANY_ROOM));
}

/* All turns up to `now`, as their owner would take them. */
static const char *turns(struct age_fixture *f, int64_t now)
{
    static char told[256];
    struct window_turn t;

    told[0] = '\0';
    while ((t = window_age_turn(&f->age, f->plan, now)).work != WORK_NONE) {
        size_t n = strlen(told);
        snprintf(told + n, sizeof(told) - n, "%s%" PRId64 " ",
                 t.work == WORK_FIRE    ? "fire "
                 : t.work == WORK_CLOSE ? "close "
                                        : "lone ",
                 t.end);
        if (t.work == WORK_FIRE)
            f->age.fired = t.end;
        if (t.work == WORK_CLOSE || (t.work == WORK_FIRE && f->plan->grace_ms == 0))
            f->age.closed = t.end;
        if (t.work == WORK_LONE) {
            struct books books = {0};
            struct result r;
            int64_t fuel = 1;
            lone_pull(&f->age.lone, f->plan, &books, NULL, t.end - 1, &r, 1, &fuel);
            lone_give_back(&f->age.lone);
        }
    }
    return told;
}

static void windows_have_their_turns_in_order_of_end(void **state)
{
    struct age_fixture f = open_age(PLAN(.size_ms = 10, .slide_ms = 5));

    (void)state;
    put(&f, SIDE_LEFT, 22);
    put(&f, SIDE_LEFT, 3);
    assert_string_equal(turns(&f, 4), "");
    assert_int_equal(window_age_due(&f.age, f.plan, 4, 4), 5);
    assert_string_equal(turns(&f, 26), "fire 5 fire 10 fire 25 ");
    assert_int_equal(window_age_due(&f.age, f.plan, 26, 26), 30);
    assert_string_equal(turns(&f, INT64_MAX), "fire 30 ");
    assert_int_equal(window_age_due(&f.age, f.plan, INT64_MAX, INT64_MAX), INT64_MAX);
    close_age(&f);
}

/* With grace, windows of one instant: the one that ends first. */
static void closing_comes_a_grace_later(void **state)
{
    struct age_fixture f = open_age(PLAN(.size_ms = 10, .grace_ms = 10));

    (void)state;
    put(&f, SIDE_LEFT, 3);
    put(&f, SIDE_LEFT, 13);
    assert_int_equal(window_age_due(&f.age, f.plan, 12, 2), 20);
    assert_string_equal(turns(&f, 12), "fire 10 ");
    assert_string_equal(turns(&f, 100), "close 10 fire 20 close 20 ");
    close_age(&f);
}

static void lone_records_come_as_windows_that_end_behind_them(void **state)
{
    struct age_fixture f = open_age(PLAN(.size_ms = 2, .slide_ms = 10, .grace_ms = 6));

    (void)state;
    put(&f, SIDE_LEFT, 17);
    put(&f, SIDE_LEFT, 7);
    put(&f, SIDE_LEFT, 1);
    put(&f, SIDE_LEFT, 11);
    assert_int_equal(window_age_due(&f.age, f.plan, 7, 1), 8);
    assert_string_equal(turns(&f, 7), "fire 2 ");
    assert_string_equal(turns(&f, INT64_MAX), "close 2 lone 8 fire 12 close 12 lone 18 ");
    close_age(&f);
}

/* What is due already is no answer to when there will be something. */
static void what_is_due_is_not_to_come(void **state)
{
    struct age_fixture f = open_age(PLAN(.size_ms = 2, .slide_ms = 10));

    (void)state;
    put(&f, SIDE_LEFT, 7);
    put(&f, SIDE_LEFT, 31);
    put(&f, SIDE_LEFT, 25);
    assert_int_equal(window_age_due(&f.age, f.plan, 20, 20), 26);
    assert_int_equal(window_age_due(&f.age, f.plan, 26, 26), 32);
    assert_int_equal(window_age_due(&f.age, f.plan, 40, 40), INT64_MAX);
    close_age(&f);
}

static void a_pane_is_spent_when_its_last_window_has_closed(void **state)
{
    struct age_fixture f = open_age(PLAN(.size_ms = 10, .slide_ms = 5));

    (void)state;
    assert_true(window_age_is_empty(&f.age));
    put(&f, SIDE_LEFT, 3);
    assert_false(window_age_is_empty(&f.age));
    turns(&f, 9);
    assert_false(window_age_has_spent(&f.age));
    turns(&f, 10);
    assert_true(window_age_has_spent(&f.age));
    pane_list_drop(&f.age.panes, f.pool, 0);
    assert_true(window_age_is_empty(&f.age));
    assert_false(window_age_has_spent(&f.age));
    close_age(&f);
}

static void what_is_held_is_counted(void **state)
{
    struct age_fixture f = open_age(PLAN(.size_ms = 2, .slide_ms = 10));

    (void)state;
    put(&f, SIDE_LEFT, 1);
    put(&f, SIDE_LEFT, 5);
    put(&f, SIDE_RIGHT, 11);
    for (int s = 0; s < SIDES; s++) {
        uint64_t told = 0;
        window_age_list(&f.age, s, &(struct held_listener){held_count, &told});
        assert_int_equal(told, s == SIDE_LEFT ? 2 : 1);
        assert_int_equal(window_age_held(&f.age, s), told);
    }
    assert_int_equal(window_age_bytes(&f.age),
                     f.age.panes.capacity * sizeof(struct pane *) + lone_bytes(&f.age.lone));
    close_age(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_have_their_turns_in_order_of_end),
        cmocka_unit_test(closing_comes_a_grace_later),
        cmocka_unit_test(lone_records_come_as_windows_that_end_behind_them),
        cmocka_unit_test(what_is_due_is_not_to_come),
        cmocka_unit_test(a_pane_is_spent_when_its_last_window_has_closed),
        cmocka_unit_test(what_is_held_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
