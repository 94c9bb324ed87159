/*
 * What all operators do alike: a run that is broken off, listed and given back to a new operator
 * goes on as if it had not been.
 */
#include "join/operator.h"
#include "join/table_join.h"
#include "join_fixture.h"
#include "recount.h"
#include "store/keyed_table.h"

#define ALL_FUEL (INT64_C(1) << 40)
#define STEPS    120 /* before it is broken off at the latest, and as many after that */
#define KEYS     5

/* A kind of join, and how it is tried. */
struct kind {
    const char *name;
    const struct operator* op;
    struct join_words words;
    int64_t wait_ms, ttl_ms; /* latest; ttl 0: off */
};

/* clang-format off */
#define KIND(n, o, ...) .name = (n), .op = &operator_##o, .words = {__VA_ARGS__}
#define EVENT           .time = TIME_EVENT
#define SLIDING(s)      .match = MATCH_SLIDING, .size_ms = 30, .slide_ms = (s)
#define SESSION(g)      .match = MATCH_SESSION, .gap_ms = (g)
#define INTERVAL        .match = MATCH_INTERVAL, .lower_ms = -9, .upper_ms = 14

static const struct kind kinds[] = {
    {KIND("tumbling", window, .size_ms = 40)},
    {KIND("tumbling, event", window, EVENT, .size_ms = 40)},
    {KIND("tumbling, grace", window, EVENT, .size_ms = 40, .grace_ms = 30)},
    {KIND("sliding", window, SLIDING(10))},
    {KIND("sliding, event", window, EVENT, SLIDING(20))},
    {KIND("sliding, grace", window, EVENT, SLIDING(10), .grace_ms = 25)},
    {KIND("with gaps", window, SLIDING(50))},
    {KIND("with gaps, grace", window, EVENT, SLIDING(50), .grace_ms = 10)},
    {KIND("session", session, SESSION(12))},
    {KIND("session, event", session, EVENT, SESSION(12))},
    {KIND("session, grace", session, EVENT, SESSION(9), .grace_ms = 20)},
    {KIND("interval", interval, INTERVAL)},
    {KIND("interval, event", interval, EVENT, INTERVAL)},
    {KIND("interval, grace", interval, EVENT, INTERVAL, .grace_ms = 20)},
    {KIND("latest", latest, .match = MATCH_LATEST), .wait_ms = 30, .ttl_ms = 50},
    {KIND("latest, for ever", latest, .match = MATCH_LATEST), .wait_ms = PLAN_FOREVER},
    {KIND("as of", as_of, EVENT, .match = MATCH_LATEST)},
    {KIND("batch", table, .match = MATCH_BATCH, .keep_times = true)},
    {KIND("lookup", table, .match = MATCH_LOOKUP)},
};
/* clang-format on */

/* --- an operator, and what the engine would give it --- */

struct machine {
    const struct kind *kind;
    const struct plan *plan;
    struct books books;
    struct slab_pool *pool;
    uint64_t state_bytes_max;
    void *join;
    struct buf told;
};

static struct machine *open_machine(const struct kind *kind, const struct plan *plan)
{
    struct machine *m = mem_alloc_zeroed(1, sizeof(*m));

    m->kind = kind;
    m->plan = plan;
    m->pool = slab_pool_new();
    m->state_bytes_max = UINT64_MAX;
    m->join = kind->op->create(&(struct operator_context){
        .plan = plan,
        .books = &m->books,
        .pool = m->pool,
        .state_bytes_max = &m->state_bytes_max,
    });
    buf_init(&m->told);
    return m;
}

static void close_machine(struct machine *m)
{
    m->kind->op->destroy(m->join);
    slab_pool_free(m->pool);
    buf_done(&m->told);
    mem_free(m);
}

static void drain(struct machine *m)
{
    struct result results[8];

    while (m->kind->op->has_work(m->join)) {
        int64_t fuel = ALL_FUEL;
        size_t n = m->kind->op->pull(m->join, results, COUNT_OF(results), &fuel);
        for (size_t i = 0; i < n; i++) {
            append_result(m->plan, &results[i], &m->told);
            if (results[i].window_end != RESULT_NO_WINDOW)
                buf_printf(&m->told, "@%" PRId64, results[i].window_end);
        }
    }
}

static void push(struct machine *m, enum side side, const struct record_parts *parts, uint64_t n)
{
    size_t taken;
    enum push_stop stop;

    while ((stop = m->kind->op->push(m->join, side, parts, 1, n, &taken)) == PUSH_WORK_FIRST)
        drain(m);
    assert_int_not_equal(stop, PUSH_FULL);
    if (stop == PUSH_LATE)
        buf_printf(&m->told, "late(%" PRIu64 ")", n);
    drain(m);
}

/* --- a run --- */

struct run {
    const struct kind *kind;
    struct plan *plan;     /* owned */
    struct machine *a, *b; /* b: that goes on for a; NULL before */
    uint64_t seed, number;
    int64_t time; /* reached */
    struct buf text, packed;
};

static void go_on(struct run *r, int64_t t)
{
    r->time = t;
    for (struct machine *m = r->a; m != NULL; m = m == r->a ? r->b : NULL) {
        r->kind->op->advance(m->join, (struct stream_time){t});
        drain(m);
    }
}

static uint16_t time_flag(const struct plan *plan)
{
    return plan_traits(plan)->aligned ? RECORD_TIME32 : RECORD_TIMED;
}

/* Some are packed, some have a key behind their body, some are long. */
static struct record_parts record_of(struct run *r, enum side side, bool null_key)
{
    struct record_parts parts = {.flags = time_flag(r->plan)};
    uint32_t key = dice(&r->seed, KEYS), shape = dice(&r->seed, 8);
    const char *ok = dice(&r->seed, 4) == 0 ? "false" : "true";
    size_t id, fields = r->plan->side[side].form.field_count;

    buf_clear(&r->text);
    if (!null_key)
        buf_printf(&r->text, "k%" PRIu32, key);
    parts.key.n = buf_length(&r->text);
    id = parts.key.n + 1;
    buf_printf(&r->text, ",%c%" PRIu64 "%0*d,%s%s", "LR"[side], r -> number, shape == 0 ? 300 : 1,
               0, ok, fields == 4 ? "," : "");
    parts.body = buf_bytes(&r->text);
    parts.key.p = parts.body.p;
    if (shape == 1) {
        const char *comma = memchr(parts.body.p + id, ',', parts.body.n - id);
        const struct bytes texts[] = {null_key ? BYTES_NULL : parts.key,
                                      {parts.body.p + id, (size_t)(comma - parts.body.p) - id},
                                      bytes_of(ok),
                                      BYTES_NULL};
        char *at;
        buf_clear(&r->packed);
        at = buf_reserve(&r->packed, record_packed_room(texts, fields));
        buf_advance(&r->packed, (size_t)(record_pack(texts, fields, at) - at));
        parts.body = buf_bytes(&r->packed);
        parts.flags |= RECORD_PACKED;
    }
    if (null_key) {
        parts.flags |= RECORD_NULL_KEY;
        parts.key = BYTES_NULL;
        parts.hash = (uint32_t)hash_number(r->number);
    } else {
        parts.hash = keyed_hash(parts.key, r->plan->hash_seed);
    }
    return parts;
}

static struct record_parts next_record(struct run *r, enum side side)
{
    struct record_parts parts =
        record_of(r, side, plan_pads(r->plan, side) && dice(&r->seed, 10) == 0);

    parts.time = r->time;
    if (r->plan->time == TIME_EVENT)
        parts.time += 10 - (int64_t)dice(&r->seed, 40);
    return parts;
}

static void step(struct run *r)
{
    enum side side =
        !plan_traits(r->plan)->by_time || dice(&r->seed, 2) == 0 ? SIDE_LEFT : SIDE_RIGHT;
    struct record_parts parts;

    if (dice(&r->seed, 2) == 0)
        go_on(r, r->time + 1 + dice(&r->seed, dice(&r->seed, 12) == 0 ? 40 : 4));
    parts = next_record(r, side);
    for (struct machine *m = r->a; m != NULL; m = m == r->a ? r->b : NULL)
        push(m, side, &parts, r->number);
    r->number++;
}

static void fill_right(struct run *r)
{
    struct lookup_table *t = NULL;

    if (plan_traits(r->plan)->by_time) /* else the right side comes first */
        return;
    if (plan_traits(r->plan)->right_file)
        t = table_join_begin(r->a->join);
    for (int i = 0; i < 20; i++, r->number++) {
        struct record_parts parts = next_record(r, SIDE_RIGHT);
        if (t == NULL)
            push(r->a, SIDE_RIGHT, &parts, r->number);
        else
            assert_int_equal(table_join_add(r->a->join, t, &parts), LOOKUP_TAKEN);
        if (t != NULL)
            t->received++;
    }
    if (t != NULL)
        table_join_swap(r->a->join, t, (struct stream_time){r->time});
}

static struct run *open_run(const struct kind *kind, enum join_type type, const char *on,
                            uint64_t seed)
{
    struct run *r = mem_alloc_zeroed(1, sizeof(*r));
    struct join_words words = kind->words;

    words.type = type;
    words.on = on;
    words.hash_seed = seed;
    r->kind = kind;
    r->plan = plan_of(&words);
    r->plan->wait_ms = kind->wait_ms;
    r->plan->ttl_ms = kind->ttl_ms == 0 ? PLAN_OFF : kind->ttl_ms;
    r->seed = seed << 32;
    buf_init(&r->text);
    buf_init(&r->packed);
    r->a = open_machine(kind, r->plan);
    go_on(r, 1000);
    fill_right(r);
    return r;
}

static void close_run(struct run *r)
{
    close_machine(r->a);
    close_machine(r->b);
    plan_free(r->plan);
    buf_done(&r->text);
    buf_done(&r->packed);
    mem_free(r);
}

/* --- broken off --- */

/* Numbers are over both sides, where they are the records' own: so is their order. */
static void restore_all(struct run *r)
{
    struct held_list lists[SIDES];
    size_t at[SIDES] = {0, 0};

    for (int s = 0; s < SIDES; s++) {
        operator_list(r->kind->op, r->a->join, s, &lists[s]);
        for (size_t i = 1; i < lists[s].count; i++)
            assert_true(lists[s].at[i - 1].number < lists[s].at[i].number);
    }
    while (at[0] < lists[0].count || at[1] < lists[1].count) {
        enum side side = at[0] == lists[0].count                                 ? SIDE_RIGHT
                         : at[1] == lists[1].count                               ? SIDE_LEFT
                         : lists[0].at[at[0]].number < lists[1].at[at[1]].number ? SIDE_LEFT
                                                                                 : SIDE_RIGHT;
        operator_restore(r->kind->op, r->b->join, side, &lists[side].at[at[side]++],
                         r->plan->hash_seed);
    }
    held_list_done(&lists[SIDE_LEFT]);
    held_list_done(&lists[SIDE_RIGHT]);
}

static void break_off(struct run *r)
{
    static const struct books none;

    r->b = open_machine(r->kind, r->plan);
    restore_all(r);
    operator_resume(r->kind->op, r->b->join, (struct stream_time){r->time});
    drain(r->b);
    assert_int_equal(buf_length(&r->b->told), 0);
    assert_memory_equal(&r->b->books, &none, sizeof(none));
    for (int s = 0; s < SIDES; s++) {
        uint64_t held = r->kind->op->held(r->a->join, s);
        assert_row(r->kind->op->held(r->b->join, s) == held, r->kind->name);
        assert_row(operator_recount(r->kind->op, r->b->join, s) == held, r->kind->name);
    }
    buf_clear(&r->a->told);
    r->a->books = none;
}

static void assert_same(const struct run *r)
{
    if (strcmp(buf_text(&r->a->told), buf_text(&r->b->told)) != 0)
        fail_msg("%s, %s, seed %" PRIu64 ":\n%s\n%s", r->kind->name, join_type_word(r->plan->type),
                 r->plan->hash_seed, buf_text(&r->a->told), buf_text(&r->b->told));
    for (int s = 0; s < SIDES; s++)
        assert_memory_equal(r->a->books.side[s].fate, r->b->books.side[s].fate,
                            sizeof(r->a->books.side[s].fate));
}

static void run_broken(const struct kind *kind, enum join_type type, const char *on, uint64_t seed)
{
    struct run *r = open_run(kind, type, on, seed);

    for (uint32_t n = dice(&r->seed, STEPS); n > 0; n--)
        step(r);
    break_off(r);
    for (int n = 0; n < STEPS; n++)
        step(r);
    go_on(r, INT64_MAX);
    for (int s = 0; s < SIDES; s++)
        assert_int_equal(r->kind->op->held(r->a->join, s), 0);
    assert_same(r);
    close_run(r);
}

static void a_run_that_was_broken_off_goes_on(void **state)
{
    static const enum join_type types[] = {JOIN_INNER, JOIN_LEFT, JOIN_FULL, JOIN_SEMI, JOIN_ANTI};

    (void)state;
    for (size_t k = 0; k < COUNT_OF(kinds); k++)
        for (size_t t = 0; t < COUNT_OF(types); t++)
            for (uint64_t seed = 1; seed <= 20; seed++) {
                bool never_padded = match_traits[kinds[k].words.match].right_asked;
                if (types[t] != JOIN_FULL || !never_padded)
                    run_broken(&kinds[k], types[t], seed % 2 == 0 ? "left.ok" : NULL, seed);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_that_was_broken_off_goes_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
