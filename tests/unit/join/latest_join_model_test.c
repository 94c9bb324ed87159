/*
 * Chance against a model that keeps every record in a list and looks at all of them each
 * time: the same rows in the same order, the same fates, however results are pulled.
 */
#include "latest_join_fixture.h"

#define RECORDS_MAX 400
#define STEPS       300

struct model_record {
    int64_t t;
    enum side side;
    int key; /* 0: NULL */
    int id;
    bool ok, zero; /* what the fields ok and n are */
    bool held, matched, decided;
    bool come; /* event time, right: time has come to it, or a flush has */
};

struct model {
    const struct plan *plan;
    int on;                                   /* which of conditions[] */
    struct model_record records[RECORDS_MAX]; /* in order of arrival */
    size_t count;
    int64_t time;
    uint64_t matched[SIDES], unmatched[SIDES], late[SIDES], failed;
    struct buf told;
};

static const char *const conditions[] = {NULL, "left.ok", "right.ok", "10 / right.n = 10"};

/* --- rows and fates --- */

static void model_unmatched(struct model *m, struct model_record *r)
{
    r->held = false;
    if (r->decided)
        return;
    r->decided = true;
    m->unmatched[r->side]++;
    if (r->side == SIDE_RIGHT)
        return;
    if (m->plan->type == JOIN_ANTI)
        buf_printf(&m->told, "(%d)", r->id);
    else if (m->plan->type == JOIN_LEFT)
        buf_printf(&m->told, "(%d,null)", r->id);
}

static void model_match(struct model *m, struct model_record *r)
{
    if (!r->matched)
        m->matched[r->side]++;
    r->matched = r->decided = true;
}

static bool model_on(const struct model *m, const struct model_record *l,
                     const struct model_record *r)
{
    return m->on == 0 || (m->on == 1 && l->ok) || (m->on == 2 && r->ok) || (m->on == 3 && !r->zero);
}

/* A left record meets what it sees, which may be nobody, and leaves. */
static void model_meet(struct model *m, struct model_record *l, struct model_record *r)
{
    l->held = false;
    if (r != NULL && m->on == 3 && r->zero) {
        buf_printf(&m->told, "!(%d,%d)", l->id, r->id);
        m->failed++;
    }
    if (r == NULL || !model_on(m, l, r)) {
        model_unmatched(m, l);
        return;
    }
    model_match(m, l);
    model_match(m, r);
    if (m->plan->type == JOIN_SEMI)
        buf_printf(&m->told, "(%d)", l->id);
    else if (m->plan->type != JOIN_ANTI)
        buf_printf(&m->told, "(%d,%d)", l->id, r->id);
}

static bool is_held(const struct model_record *r, enum side side, int key)
{
    return r->held && r->side == side && (key < 0 || r->key == key);
}

/* --- the clock --- */

static void clock_advance(struct model *m, int64_t t)
{
    int64_t wait = m->plan->wait_ms, ttl = m->plan->ttl_ms;

    m->time = t;
    for (size_t i = 0; i < m->count; i++) {
        struct model_record *r = &m->records[i];
        if (is_held(r, SIDE_LEFT, -1) &&
            (t == INT64_MAX || (wait != PLAN_FOREVER && r->t + wait <= t)))
            model_unmatched(m, r);
    }
    for (size_t i = 0; i < m->count; i++) {
        struct model_record *r = &m->records[i];
        if (is_held(r, SIDE_RIGHT, -1) && (t == INT64_MAX || (ttl != PLAN_OFF && r->t + ttl <= t)))
            model_unmatched(m, r);
    }
}

static void clock_push(struct model *m, struct model_record *own)
{
    struct model_record *value = NULL;

    for (size_t i = 0; i < m->count && own->key != 0; i++)
        if (is_held(&m->records[i], SIDE_RIGHT, own->key))
            value = &m->records[i];
    if (own->side == SIDE_LEFT) {
        if (value != NULL || own->key == 0 || m->plan->wait_ms == 0)
            model_meet(m, own, value);
        return;
    }
    if (value != NULL)
        model_unmatched(m, value);
    for (size_t i = 0; i < m->count; i++)
        if (is_held(&m->records[i], SIDE_LEFT, own->key))
            model_meet(m, &m->records[i], own);
}

static void clock_flush(struct model *m)
{
    for (size_t i = 0; i < m->count; i++)
        if (is_held(&m->records[i], SIDE_LEFT, -1))
            model_unmatched(m, &m->records[i]);
}

/* --- event time --- */

/* The version that `l` sees: none, where a newer one than it may see was needed before. */
static struct model_record *event_seen(struct model *m, const struct model_record *l)
{
    struct model_record *newest = NULL;

    for (size_t i = 0; i < m->count && l->key != 0; i++) {
        struct model_record *r = &m->records[i];
        if (!is_held(r, SIDE_RIGHT, l->key))
            continue;
        if (r->come && r->t > l->t)
            return NULL;
        if (r->t <= l->t && (newest == NULL || r->t >= newest->t))
            newest = r;
    }
    return newest;
}

/* All lefts of times up to `t` meet. Returns the last one's time, or `t0`. */
static int64_t event_meet(struct model *m, int64_t t, int64_t t0)
{
    for (;;) {
        struct model_record *first = NULL;
        for (size_t i = 0; i < m->count; i++) {
            struct model_record *l = &m->records[i];
            if (is_held(l, SIDE_LEFT, -1) && l->t <= t && (first == NULL || l->t < first->t))
                first = l;
        }
        if (first == NULL)
            return t0;
        model_meet(m, first, event_seen(m, first));
        t0 = first->t;
    }
}

/* Versions up to `t` have come: of each key only the newest stays. */
static void event_come(struct model *m, int64_t t)
{
    for (size_t i = 0; i < m->count; i++)
        if (is_held(&m->records[i], SIDE_RIGHT, -1) && m->records[i].t <= t)
            m->records[i].come = true;
    for (size_t i = 0; i < m->count; i++) {
        struct model_record *old = &m->records[i];
        for (size_t k = 0; k < m->count && old->held && old->come; k++) {
            const struct model_record *r = &m->records[k];
            if (is_held(r, SIDE_RIGHT, old->key) && r->come && r != old &&
                (r->t > old->t || (r->t == old->t && k > i)))
                model_unmatched(m, old);
        }
    }
}

static void event_advance(struct model *m, int64_t t)
{
    m->time = t;
    event_meet(m, t, t);
    event_come(m, t);
    for (size_t i = 0; i < m->count && t == INT64_MAX; i++)
        if (m->records[i].held)
            model_unmatched(m, &m->records[i]);
}

static void event_push(struct model *m, struct model_record *own)
{
    bool late = own->t <= m->time && own->side == SIDE_LEFT;

    for (size_t i = 0; i < m->count && own->t <= m->time; i++) {
        const struct model_record *r = &m->records[i];
        if (own->side == SIDE_RIGHT && is_held(r, SIDE_RIGHT, own->key) && r->come && r->t > own->t)
            late = true;
    }
    if (!late)
        return;
    own->held = false;
    own->decided = true;
    m->late[own->side]++;
}

static void event_flush(struct model *m)
{
    event_come(m, event_meet(m, INT64_MAX, m->time));
}

/* --- both times --- */

static void model_advance(struct model *m, int64_t t)
{
    if (t <= m->time)
        return;
    if (m->plan->time == TIME_EVENT)
        event_advance(m, t);
    else
        clock_advance(m, t);
}

static void model_push(struct model *m, struct model_record r)
{
    struct model_record *own = &m->records[m->count];

    assert_true(m->count < RECORDS_MAX);
    *own = r;
    own->held = true;
    if (r.side == SIDE_RIGHT && r.key == 0)
        model_unmatched(m, own);
    else if (m->plan->time == TIME_EVENT)
        event_push(m, own);
    else
        clock_push(m, own);
    m->count++;
    if (m->plan->time == TIME_EVENT)
        event_come(m, m->time);
}

/* --- side by side --- */

struct both {
    struct model model;
    struct latest_fixture *f;
    uint64_t seed;
};

static void random_pulling(struct both *b)
{
    b->f->pulling = (struct pulling){
        .max = dice(&b->seed, 2) == 0 ? 1 : 1 + dice(&b->seed, RESULTS_MAX),
        .fuel = dice(&b->seed, 2) == 0 ? 1 + dice(&b->seed, 60) : ALL_FUEL,
        .lazy = dice(&b->seed, 3) > 0,
    };
}

static void both_advance(struct both *b, int64_t t)
{
    model_advance(&b->model, t);
    advance(b->f, t);
}

static void both_push(struct both *b, struct model_record r)
{
    char line[64];
    int n = snprintf(line, sizeof(line), "%.*s,%d,%s,%d,", r.key != 0, &"?abcdefgh"[r.key], r.id,
                     r.ok ? "true" : "false", !r.zero);
    enum push_stop stop;

    model_push(&b->model, r);
    stop = push(b->f, r.side, r.t, (struct bytes){line, (size_t)n});
    assert_true(stop == PUSH_ALL || stop == PUSH_LATE);
}

static void both_flush(struct both *b)
{
    if (b->model.plan->time == TIME_EVENT)
        event_flush(&b->model);
    else
        clock_flush(&b->model);
    b->f->op->flush(b->f->join);
}

static struct model_record random_record(struct both *b, int64_t time, uint32_t keys,
                                         uint32_t disorder)
{
    return (struct model_record){
        .t =
            b->model.plan->time == TIME_EVENT ? time + 8 - (int64_t)dice(&b->seed, disorder) : time,
        .side = dice(&b->seed, 2),
        .key = (int)dice(&b->seed, 8) == 0 ? 0 : 1 + (int)dice(&b->seed, keys),
        .id = (int)b->model.count + 1,
        .ok = dice(&b->seed, 3) > 0,
        .zero = dice(&b->seed, 3) == 0,
    };
}

static void assert_same(struct both *b, uint64_t seed)
{
    const struct model *m = &b->model;
    const char *told = buf_text(&b->f->told), *expected = buf_text(&b->model.told);
    size_t at = 0;

    while (told[at] != '\0' && told[at] == expected[at])
        at++;
    if (told[at] != expected[at])
        fail_msg("seed %" PRIu64 ": at %zu \"%.60s\" is not \"%.60s\"", seed, at, told + at,
                 expected + at);
    for (int s = 0; s < SIDES; s++) {
        assert_int_equal(b->f->books.side[s].matched, m->matched[s]);
        assert_int_equal(b->f->books.side[s].unmatched, m->unmatched[s]);
        assert_int_equal(b->f->books.side[s].late, m->late[s]);
    }
    assert_int_equal(b->f->books.results_rejected, m->failed);
    assert_sound(b->f);
}

static struct latest_fixture *open_random(struct both *b)
{
    static const enum join_type types[] = {JOIN_INNER, JOIN_LEFT, JOIN_SEMI, JOIN_ANTI};
    static const int64_t waits[] = {0, 1, 15, PLAN_FOREVER}, ttls[] = {0, 1, 10, 30};

    b->model.on = (int)dice(&b->seed, COUNT_OF(conditions));
    return open_words(&(struct latest_words){
        .wait_ms = waits[dice(&b->seed, COUNT_OF(waits))],
        .ttl_ms = ttls[dice(&b->seed, COUNT_OF(ttls))],
        .join = {.time = dice(&b->seed, 2) == 0 ? TIME_PROCESSING : TIME_EVENT,
                 .type = types[dice(&b->seed, COUNT_OF(types))],
                 .on = conditions[b->model.on]},
    });
}

static void run_both(struct both *b, uint64_t seed)
{
    uint32_t keys = 1 + dice(&b->seed, 4), disorder = 6 + dice(&b->seed, 60);
    int64_t time = (int64_t)dice(&b->seed, 100) - 50;

    for (int i = 0; i < STEPS; i++) {
        random_pulling(b);
        time += dice(&b->seed, 4);
        if (dice(&b->seed, 100) == 0)
            time += 100;
        if (b->model.plan->time == TIME_PROCESSING || dice(&b->seed, 3) == 0)
            both_advance(b, time);
        if (dice(&b->seed, 5) > 0)
            both_push(b, random_record(b, time, keys, disorder));
        if (dice(&b->seed, 60) == 0)
            both_flush(b);
        if (!b->f->pulling.lazy) {
            drain(b->f);
            assert_same(b, seed);
        }
    }
    both_advance(b, INT64_MAX);
    drain(b->f);
    assert_same(b, seed);
    assert_empty(b->f);
}

static void rows_and_fates_are_those_of_the_model(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        struct both *b = mem_alloc_zeroed(1, sizeof(*b));
        b->seed = seed << 32;
        b->f = open_random(b);
        b->model.plan = b->f->plan;
        b->model.time = INT64_MIN;
        buf_init(&b->model.told);
        run_both(b, seed);
        buf_done(&b->model.told);
        close_latest(b->f);
        mem_free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_and_fates_are_those_of_the_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
