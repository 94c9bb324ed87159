/*
 * Windows that are taken out of the engine to be fired: whatever the order of pulls, pushes
 * and news, they give what an engine gives that fires them itself.
 */
#include "engine_fixture.h"
#include "join/firing.h"
#include "join/window_join.h"

#define OUT_MAX  4
#define NEWS     3
#define KEYS     7
#define SIZE_MS  10
#define STEPS    400
#define ANY      0 /* bytes */
#define ONE_MORE "left.ok"
/* Fails where the left id, a digit, is 7. */
#define FAILING "10 / (cast(left.id as bigint) % 9 - 7) < 100"

/* One that detaches, beside one that does not. */
struct twins {
    struct engine_fixture *own, *lent;
    struct firing *out[OUT_MAX]; /* in order */
    size_t count;
    struct firing_news *news[NEWS]; /* from the oldest that is not settled on; */
    size_t unsettled;               /* the one that is counted in is the last */
    uint64_t seed;
    int64_t now;
    int id;
};

static struct twins *open_twins(struct plan *(*plan)(enum join_type, const char *on),
                                enum join_type type, const char *on, uint64_t seed)
{
    struct twins *t = mem_alloc_zeroed(1, sizeof(*t));

    t->own = open_engine(plan(type, on));
    t->lent = open_engine(plan(type, on));
    for (size_t i = 0; i < NEWS; i++)
        t->news[i] = firing_news_new();
    t->unsettled = 1;
    t->seed = seed * 1000003;
    engine_leave(t->lent->engine, ANY);
    return t;
}

static void close_twins(struct twins *t)
{
    close_engine(t->own);
    close_engine(t->lent);
    for (size_t i = 0; i < NEWS; i++)
        firing_news_free(t->news[i]);
    mem_free(t);
}

/* At every instant, whatever news are on their way. */
static void assert_lent_balance(const struct twins *t)
{
    const struct books *b = engine_books(t->lent->engine);

    for (int s = 0; s < SIDES; s++)
        assert_true(books_balance(&b->side[s], engine_held(t->lent->engine, s)));
}

/* --- steps --- */

static void push_both(struct twins *t, enum side side, const char *line)
{
    struct engine_fixture *both[] = {t->own, t->lent};

    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct batch *b = &both[i]->batch[side];
        add_line(both[i], side, bytes_of(line));
        assert_int_equal(engine_push(both[i]->engine, side, b, 0, at(t->now)), 1);
        batch_clear(b);
    }
    assert_lent_balance(t);
}

static void push_some(struct twins *t)
{
    static const char *const oks[] = {"true", "false", ""};
    char line[64], key[8] = "";

    for (uint32_t n = dice(&t->seed, 40); n > 0; n--) {
        uint32_t k = dice(&t->seed, KEYS);
        if (k > 0)
            snprintf(key, sizeof(key), "%u", k > KEYS / 2 ? 1 : k); /* 1 is hot, 0 is NULL */
        snprintf(line, sizeof(line), "%s,%d,%s,%" PRId64, k > 0 ? key : "", ++t->id,
                 oks[dice(&t->seed, 3)], t->now - (int64_t)dice(&t->seed, 2 * SIZE_MS));
        push_both(t, dice(&t->seed, 2), line);
    }
}

static void go_on(struct twins *t)
{
    t->now += dice(&t->seed, 2 * SIZE_MS);
    engine_advance(t->own->engine, at(t->now));
    engine_advance(t->lent->engine, at(t->now));
    assert_lent_balance(t);
}

static void tell(struct engine_fixture *f, const struct result *r)
{
    buf_printf(&f->told, "%" PRId64, r->window_start);
    append_result(f->plan, r, &f->told);
}

static void pull_own(struct twins *t)
{
    struct result results[RESULTS_MAX];
    int64_t fuel = ALL_FUEL;
    size_t n;

    while ((n = engine_pull(t->own->engine, results, RESULTS_MAX, &fuel)) > 0)
        for (size_t i = 0; i < n; i++)
            tell(t->own, &results[i]);
}

static void detach(struct twins *t)
{
    struct firing *f;

    if (t->count == OUT_MAX || (f = engine_detach(t->lent->engine, ANY)) == NULL)
        return;
    t->out[t->count++] = f;
    assert_true(engine_has_work(t->lent->engine));
    assert_lent_balance(t);
}

static void fire(struct twins *t)
{
    struct result results[RESULTS_MAX];
    int64_t fuel = 1 + dice(&t->seed, 60);
    size_t max = 1 + dice(&t->seed, RESULTS_MAX), n;

    if (t->count == 0)
        return;
    n = firing_pull(t->out[0], t->news[t->unsettled - 1], results, max, &fuel);
    assert_true(n <= max);
    for (size_t i = 0; i < n; i++)
        tell(t->lent, &results[i]);
    assert_lent_balance(t);
    if (!firing_is_over(t->out[0]))
        return;
    assert_int_equal(n, 0);
    t->count--;
    memmove(t->out, t->out + 1, t->count * sizeof(struct firing *));
}

static void take_new_paper(struct twins *t)
{
    if (t->unsettled < NEWS)
        t->unsettled++;
}

static void settle(struct twins *t)
{
    struct firing_news *n = t->news[0];

    engine_settle(t->lent->engine, n);
    assert_false(n->pulled);
    assert_lent_balance(t);
    if (t->unsettled == 1)
        return;
    t->unsettled--;
    memmove(t->news, t->news + 1, (NEWS - 1) * sizeof(struct firing_news *));
    t->news[NEWS - 1] = n;
}

static void step(struct twins *t)
{
    switch (dice(&t->seed, 8)) {
    case 0:
        push_some(t);
        break;
    case 1:
        go_on(t);
        break;
    case 2:
        detach(t);
        break;
    case 3:
        settle(t);
        break;
    case 4:
        take_new_paper(t);
        pull_own(t);
        break;
    default:
        fire(t);
    }
}

/* Everything is taken, fired and settled. */
static void finish(struct twins *t)
{
    for (int s = 0; s < SIDES; s++) {
        engine_end(t->own->engine, s);
        engine_end(t->lent->engine, s);
    }
    pull_own(t);
    while (engine_has_work(t->lent->engine)) {
        detach(t);
        fire(t);
        if (t->count == 0)
            settle(t);
    }
}

/* But for what it keeps: directories, tables, near misses. */
static void assert_empty(const struct window_join *j)
{
    assert_false(firings_any(&j->out));
    assert_int_equal(j->out.bytes, 0);
    assert_int_equal(j->bytes, 0);
    assert_int_equal(j->chunks[SIDE_LEFT] + j->chunks[SIDE_RIGHT], 0);
    assert_int_equal(slab_used(j->context.pool), 0);
}

static void assert_alike(const struct twins *t)
{
    struct engine *own = t->own->engine, *lent = t->lent->engine;

    assert_string_equal(buf_text(&t->lent->told), buf_text(&t->own->told));
    assert_memory_equal(engine_books(lent), engine_books(own), sizeof(struct books));
    assert_memory_equal(engine_lag(lent), engine_lag(own), sizeof(struct lag));
    assert_true(engine_books_balance(lent));
    assert_empty(engine_operator_state(own));
    assert_empty(engine_operator_state(lent));
    assert_int_equal(engine_due(lent).ms, engine_due(own).ms);
}

static void run(struct plan *(*plan)(enum join_type, const char *on), const char *on)
{
    uint64_t results = 0;

    for (uint64_t seed = 0; seed < 20; seed++)
        for (int type = 0; type < JOIN_TYPES; type++) {
            struct twins *t = open_twins(plan, (enum join_type)type, on, seed);
            for (int i = 0; i < STEPS; i++)
                step(t);
            finish(t);
            assert_alike(t);
            results += engine_books(t->own->engine)->results[RESULT_PAIR];
            close_twins(t);
        }
    assert_true(results > 1000);
}

/* --- tests --- */

static struct plan *by_clock(enum join_type type, const char *on)
{
    return PLAN(.type = type, .size_ms = SIZE_MS, .on = on,
                .fields = {"k, id, ok boolean, t timestamp_ms",
                           "k, id, ok boolean, t timestamp_ms"});
}

static struct plan *by_event(enum join_type type, const char *on)
{
    return PLAN(.type = type, .size_ms = SIZE_MS, .on = on, .time = TIME_EVENT,
                .delay_ms = {SIZE_MS, SIZE_MS});
}

static void windows_fired_elsewhere_give_what_the_engine_would(void **state)
{
    (void)state;
    run(by_clock, NULL);
    run(by_clock, ONE_MORE);
    run(by_clock, FAILING);
}

static void so_they_do_in_event_time(void **state)
{
    (void)state;
    run(by_event, NULL);
    run(by_event, ONE_MORE);
    run(by_event, FAILING);
}

/* With partitions, whose memory goes one by one. */
static void so_do_large_ones(void **state)
{
    struct twins *t = open_twins(by_clock, JOIN_FULL, NULL, 1);
    char line[32];
    uint64_t bytes;
    bool fell = false;

    (void)state;
    for (int i = 0; i < 8000; i++) {
        snprintf(line, sizeof(line), "%u,%d,,1", dice(&t->seed, 3000), i);
        push_both(t, dice(&t->seed, 2), line);
    }
    t->now = SIZE_MS;
    go_on(t);
    assert_null(engine_detach(t->lent->engine, 1 << 20));
    detach(t);
    bytes = engine_state_bytes(t->lent->engine);
    while (t->count > 0) {
        fire(t);
        settle(t);
        fell |= t->count > 0 && engine_state_bytes(t->lent->engine) < bytes / 2;
    }
    assert_true(fell); /* long before it was over */
    finish(t);
    assert_alike(t);
    close_twins(t);
}

static struct twins *one_window(enum join_type type)
{
    struct twins *t = open_twins(by_clock, type, NULL, 1);

    push_both(t, SIDE_LEFT, "k,a,,1");
    push_both(t, SIDE_LEFT, "y,b,,1");
    push_both(t, SIDE_RIGHT, "k,x,,1");
    t->now = SIZE_MS;
    go_on(t);
    return t;
}

static void what_is_out_is_held_until_its_news_are_settled(void **state)
{
    struct twins *t = one_window(JOIN_LEFT);
    struct engine *e = t->lent->engine;
    uint64_t bytes = engine_state_bytes(e);

    (void)state;
    detach(t);
    assert_int_equal(t->count, 1);
    assert_null(engine_detach(e, ANY));
    assert_int_equal(engine_held(e, SIDE_LEFT), 2);
    assert_true(engine_state_bytes(e) >= bytes);
    while (t->count > 0)
        fire(t);
    assert_int_equal(engine_held(e, SIDE_LEFT), 2);
    assert_int_equal(engine_books(e)->side[SIDE_LEFT].matched, 0);
    assert_int_equal(engine_books(e)->results[RESULT_PAIR], 0);
    assert_true(engine_has_work(e));
    settle(t);
    assert_int_equal(engine_held(e, SIDE_LEFT), 0);
    assert_int_equal(engine_books(e)->side[SIDE_LEFT].matched, 1);
    assert_int_equal(engine_books(e)->side[SIDE_LEFT].unmatched, 1);
    assert_int_equal(engine_books(e)->results[RESULT_PAIR], 1);
    assert_int_equal(engine_books(e)->results[RESULT_LEFT], 1);
    assert_false(engine_has_work(e));
    close_twins(t);
}

static void the_engine_gives_nothing_of_its_own_meanwhile(void **state)
{
    struct twins *t = one_window(JOIN_INNER);
    struct engine *e = t->lent->engine;
    struct result r;
    int64_t fuel = ALL_FUEL;

    (void)state;
    assert_int_equal(engine_pull(e, &r, 1, &fuel), 0); /* it is left */
    detach(t);
    push_both(t, SIDE_LEFT, "z,c,,1");
    t->now += SIZE_MS;
    go_on(t);
    assert_int_equal(engine_pull(e, &r, 1, &fuel), 0);
    assert_int_equal(fuel, ALL_FUEL);
    assert_int_equal(t->count, 1);
    detach(t);
    assert_int_equal(t->count, 2); /* several may be out */
    finish(t);
    assert_alike(t);
    close_twins(t);
}

static void a_window_that_is_being_pulled_is_not_detached(void **state)
{
    struct twins *t = one_window(JOIN_LEFT);
    struct engine *e = t->lent->engine;
    struct result r[2];
    int64_t fuel = ALL_FUEL;

    (void)state;
    assert_null(engine_detach(e, 1 << 20)); /* too small */
    engine_leave(e, 1 << 20);
    assert_int_equal(engine_pull(e, r, 1, &fuel), 1);
    assert_null(engine_detach(e, ANY));
    assert_int_equal(engine_pull(e, r, 2, &fuel), 1);
    assert_int_equal(engine_pull(e, r, 2, &fuel), 0);
    assert_false(engine_has_work(e));
    close_twins(t);
}

static void a_flushed_window_can_be_detached(void **state)
{
    struct twins *t = open_twins(by_clock, JOIN_LEFT, NULL, 1);

    (void)state;
    push_both(t, SIDE_LEFT, "k,a,,1");
    engine_flush(t->own->engine);
    engine_flush(t->lent->engine);
    push_both(t, SIDE_RIGHT, "k,x,,1");
    detach(t);
    assert_int_equal(t->count, 1);
    while (t->count > 0)
        fire(t);
    settle(t);
    detach(t);
    assert_int_equal(t->count, 0); /* the next one is open */
    finish(t);
    assert_alike(t);
    close_twins(t);
}

static void a_result_without_a_row_is_counted_as_rejected(void **state)
{
    struct twins *t = one_window(JOIN_INNER);
    struct result r;
    int64_t fuel = ALL_FUEL;

    (void)state;
    detach(t);
    assert_int_equal(firing_pull(t->out[0], t->news[0], &r, 1, &fuel), 1);
    firing_reject_result(t->news[0], &r);
    settle(t);
    assert_int_equal(engine_books(t->lent->engine)->results[RESULT_PAIR], 0);
    assert_int_equal(engine_books(t->lent->engine)->results_rejected, 1);
    close_twins(t); /* one that is out goes with its engine */
}

/* Other joins hold records that others may still meet. */
static void only_tumbling_windows_without_grace_go_out(void **state)
{
    static const struct {
        enum match_kind match;
        int64_t grace_ms;
        bool detaches;
    } rows[] = {
        {MATCH_TUMBLING, 0, true}, {MATCH_TUMBLING, 1, false}, {MATCH_SLIDING, 0, false},
        {MATCH_SESSION, 0, false}, {MATCH_INTERVAL, 0, false}, {MATCH_LATEST, 0, false},
        {MATCH_LOOKUP, 0, false},  {MATCH_BATCH, 0, false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct plan p = {.match = rows[i].match, .grace_ms = rows[i].grace_ms};
        assert_int_equal(plan_detaches(&p), rows[i].detaches);
    }
}

/* Records that a firing loses show, as they do anywhere. */
static void a_record_lost_on_the_way_shows_in_the_books(void **state)
{
    struct twins *t = one_window(JOIN_INNER);
    struct engine *e = t->lent->engine;
    struct slab_pile pile = {NULL};

    (void)state;
    detach(t);
    window_log_drop_part(&t->out[0]->pane->side[SIDE_LEFT], &pile, 0);
    t->news[0]->spent = pile;
    while (t->count > 0)
        fire(t);
    engine_settle(e, t->news[0]);
    assert_int_equal(engine_held(e, SIDE_LEFT), 0);
    assert_false(engine_books_balance(e));
    close_twins(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_fired_elsewhere_give_what_the_engine_would),
        cmocka_unit_test(so_they_do_in_event_time),
        cmocka_unit_test(so_do_large_ones),
        cmocka_unit_test(what_is_out_is_held_until_its_news_are_settled),
        cmocka_unit_test(the_engine_gives_nothing_of_its_own_meanwhile),
        cmocka_unit_test(a_window_that_is_being_pulled_is_not_detached),
        cmocka_unit_test(a_flushed_window_can_be_detached),
        cmocka_unit_test(a_result_without_a_row_is_counted_as_rejected),
        cmocka_unit_test(only_tumbling_windows_without_grace_go_out),
        cmocka_unit_test(a_record_lost_on_the_way_shows_in_the_books),
    };
    return cmocka_run_group_tests_name("join/firing", tests, NULL, NULL);
}
