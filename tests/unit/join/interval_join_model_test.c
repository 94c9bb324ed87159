/*
 * Chance against a model that keeps every record in a list and looks at all of them each
 * time: the same rows in the same order, the same fates, however results are pulled.
 */
#include "interval_join_fixture.h"

#define RECORDS_MAX 400
#define STEPS       300

struct model_record {
    int64_t t, leaves;
    enum side side;
    int key; /* 0: NULL */
    int id;
    bool ok, zero; /* what the fields ok and n are */
    bool held, matched, decided;
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

/* --- the model --- */

static void model_row(struct model *m, const char *format, const struct model_record *l,
                      const struct model_record *r)
{
    buf_printf(&m->told, format, l == NULL ? 0 : l->id, r == NULL ? 0 : r->id);
}

static bool model_pads(const struct model *m, enum side side)
{
    enum join_type t = m->plan->type;

    return t == JOIN_FULL ||
           (side == SIDE_LEFT ? t == JOIN_LEFT || t == JOIN_ANTI : t == JOIN_RIGHT);
}

static void model_match(struct model *m, struct model_record *r)
{
    if (!r->matched)
        m->matched[r->side]++;
    r->matched = r->decided = true;
}

static void model_unmatched(struct model *m, struct model_record *r)
{
    if (r->decided)
        return;
    r->decided = true;
    m->unmatched[r->side]++;
    if (!model_pads(m, r->side))
        return;
    if (m->plan->type == JOIN_ANTI)
        model_row(m, "(%d)", r, NULL);
    else if (r->side == SIDE_LEFT)
        model_row(m, "(%d,null)", r, NULL);
    else
        buf_printf(&m->told, "(null,%d)", r->id);
}

/* The one that leaves next, of those that are to leave by `t`. */
static struct model_record *model_next(struct model *m, int64_t t)
{
    struct model_record *first = NULL;

    for (size_t i = 0; i < m->count; i++) {
        struct model_record *r = &m->records[i];
        if (r->held && r->leaves <= t &&
            (first == NULL || r->leaves < first->leaves ||
             (r->leaves == first->leaves && r->side < first->side)))
            first = r;
    }
    return first;
}

static void model_leave(struct model *m, int64_t t)
{
    struct model_record *r;

    while ((r = model_next(m, t)) != NULL) {
        r->held = false;
        model_unmatched(m, r);
    }
}

static void model_advance(struct model *m, int64_t t)
{
    m->time = t > m->time ? t : m->time;
    model_leave(m, m->time);
}

static bool model_failed(const struct model *m, const struct model_record *r)
{
    return m->on == 3 && r->zero;
}

static bool model_on(const struct model *m, const struct model_record *l,
                     const struct model_record *r)
{
    return m->on == 0 || (m->on == 1 && l->ok) || (m->on == 2 && r->ok) || (m->on == 3 && !r->zero);
}

static void model_meet(struct model *m, struct model_record *l, struct model_record *r)
{
    model_match(m, l);
    model_match(m, r);
    if (m->plan->type == JOIN_SEMI)
        model_row(m, "(%d)", l, NULL);
    else if (m->plan->type != JOIN_ANTI)
        model_row(m, "(%d,%d)", l, r);
}

static void model_probe(struct model *m, struct model_record *own)
{
    bool lone = m->plan->type == JOIN_SEMI || m->plan->type == JOIN_ANTI;

    for (size_t i = 0; i < m->count; i++) {
        struct model_record *met = &m->records[i];
        struct model_record *l = own->side == SIDE_LEFT ? own : met;
        struct model_record *r = own->side == SIDE_LEFT ? met : own;
        if (!met->held || met->side == own->side || met->key != own->key || own->key == 0 ||
            r->t < l->t + m->plan->lower_ms || r->t > l->t + m->plan->upper_ms ||
            (lone && l->matched))
            continue;
        if (model_failed(m, r)) {
            model_row(m, "!(%d,%d)", l, r);
            m->failed++;
        } else if (model_on(m, l, r)) {
            model_meet(m, l, r);
        }
    }
}

static void model_push(struct model *m, struct model_record r)
{
    const struct plan *p = m->plan;
    struct model_record *own = &m->records[m->count];

    assert_true(m->count < RECORDS_MAX);
    r.leaves = (r.side == SIDE_LEFT ? r.t + p->upper_ms : r.t - p->lower_ms) + p->grace_ms + 1;
    *own = r;
    model_probe(m, own);
    m->count++;
    own->held = own->leaves > m->time;
    if (own->held || own->decided)
        return;
    if (p->time == TIME_EVENT && r.t <= m->time && !model_pads(m, r.side)) {
        own->decided = true;
        m->late[r.side]++;
    } else {
        model_unmatched(m, own);
    }
}

/* --- both --- */

struct both {
    struct model model;
    struct interval_fixture *f;
    uint64_t seed;
    int64_t unit; /* of all times, in milliseconds */
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
    model_leave(&b->model, INT64_MAX);
    op->flush(b->f->join);
}

static struct model_record random_record(struct both *b, int64_t time, uint32_t keys,
                                         uint32_t disorder)
{
    const struct plan *p = b->model.plan;
    enum side side = dice(&b->seed, 2);
    int key = (int)dice(&b->seed, keys + 1);

    if (!model_pads(&b->model, side) && key == 0)
        key = 1; /* the engine keeps them */
    return (struct model_record){
        .t =
            p->time == TIME_EVENT ? time + b->unit * (5 - (int64_t)dice(&b->seed, disorder)) : time,
        .side = side,
        .key = key,
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

/* Most milliseconds; some so long that 32 bits of them are a few, or less than one. */
static int64_t random_unit(uint64_t *seed)
{
    static const int64_t units[] = {
        1, 1, 1, INT64_C(1) << 26, INT64_C(1) << 31, (INT64_C(1) << 32) + 1};

    return units[dice(seed, COUNT_OF(units))];
}

static struct plan *random_plan(uint64_t *seed, int on, int64_t unit)
{
    int64_t lower = unit * ((int64_t)dice(seed, 41) - 20);

    return INTERVAL_PLAN(.time = dice(seed, 3) == 0 ? TIME_PROCESSING : TIME_EVENT,
                         .type = (enum join_type)dice(seed, JOIN_TYPES), .lower_ms = lower,
                         .upper_ms = lower + unit * dice(seed, 30),
                         .grace_ms = unit * dice(seed, 2) * dice(seed, 20), .on = conditions[on]);
}

static void run_both(struct both *b, uint64_t seed)
{
    uint32_t keys = 1 + dice(&b->seed, 4), disorder = 6 + dice(&b->seed, 60);
    int64_t time = b->unit * ((int64_t)dice(&b->seed, 100) - 50);

    for (int i = 0; i < STEPS; i++) {
        random_pulling(b);
        time += b->unit * dice(&b->seed, 4);
        if (dice(&b->seed, 100) == 0)
            time += b->unit * 100;
        if (b->model.plan->time == TIME_PROCESSING || dice(&b->seed, 2) == 0)
            both_advance(b, time);
        if (dice(&b->seed, 5) > 0)
            both_push(b, random_record(b, time, keys, disorder));
        if (dice(&b->seed, 100) == 0)
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
        b->model.on = (int)dice(&b->seed, COUNT_OF(conditions));
        b->unit = random_unit(&b->seed);
        b->f = open_interval(random_plan(&b->seed, b->model.on, b->unit));
        b->model.plan = b->f->plan;
        b->model.time = INT64_MIN;
        buf_init(&b->model.told);
        run_both(b, seed);
        buf_done(&b->model.told);
        close_interval(b->f);
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
