/* Random records and times against sessions kept in lists, as the rules say it. */
#include "session_join_fixture.h"

#define RECORDS 120
#define KEYS    4

enum answer { TAKEN, LATE };

struct model_session {
    bool gone, due;
    int key; /* 0: NULL */
    int64_t first, last;
    uint64_t opened;
    int records[RECORDS]; /* in order of arrival */
    int count;
};

struct model_record {
    enum side side;
    bool ok, matched;
};

struct model {
    const struct plan *plan;
    int64_t reached, hold;
    struct model_record records[RECORDS];
    int count;
    struct model_session sessions[RECORDS];
    int session_count;
    struct buf expected;
    int64_t start_told, end_told;
    uint64_t late[SIDES], matched[SIDES], unmatched[SIDES];
};

/* --- what becomes of a record --- */

static bool takes(const struct model *m, const struct model_session *s, int key, int64_t t)
{
    int64_t gap = m->plan->gap_ms;

    return !s->gone && !s->due && key != 0 && s->key == key && t >= s->first - gap &&
           t <= s->last + gap;
}

static int by_number(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static void model_merge(struct model_session *into, struct model_session *from)
{
    for (int i = 0; i < from->count; i++)
        into->records[into->count++] = from->records[i];
    qsort(into->records, (size_t)into->count, sizeof(int), by_number);
    into->first = into->first < from->first ? into->first : from->first;
    into->last = into->last > from->last ? into->last : from->last;
    into->opened = into->opened > from->opened ? into->opened : from->opened;
    from->gone = true;
}

static struct model_session *model_open(struct model *m, int key, int64_t t)
{
    struct model_session *s = &m->sessions[m->session_count++];

    *s = (struct model_session){
        .key = key, .first = t, .last = t, .opened = (uint64_t)m->session_count};
    return s;
}

static struct model_session *model_taker(struct model *m, int key, int64_t t)
{
    struct model_session *taker = NULL;

    for (int i = 0; i < m->session_count; i++) {
        struct model_session *s = &m->sessions[i];
        if (!takes(m, s, key, t))
            continue;
        if (taker != NULL)
            model_merge(taker, s);
        else
            taker = s;
    }
    return taker;
}

/* A look before: nothing is changed. */
static enum answer model_fate(const struct model *m, int key, int64_t t)
{
    for (int i = 0; i < m->session_count; i++)
        if (takes(m, &m->sessions[i], key, t))
            return TAKEN;
    return m->plan->time == TIME_EVENT && m->reached >= t + m->hold ? LATE : TAKEN;
}

static void model_push(struct model *m, enum side side, int key, int64_t t, bool ok)
{
    struct model_session *s = model_taker(m, key, t);

    if (s == NULL)
        s = model_open(m, key, t);
    s->first = t < s->first ? t : s->first;
    s->last = t > s->last ? t : s->last;
    s->records[s->count++] = m->count;
    m->records[m->count++] = (struct model_record){.side = side, .ok = ok};
}

/* --- what comes out --- */

static void model_row(struct model *m, const struct model_session *s, const char *format, int l,
                      int r)
{
    int64_t end = s->last + m->plan->gap_ms;

    if (s->first != m->start_told || end != m->end_told)
        buf_printf(&m->expected, "[%" PRId64 ",%" PRId64 ")", s->first, end);
    m->start_told = s->first;
    m->end_told = end;
    if (l < 0)
        buf_printf(&m->expected, format, r);
    else
        buf_printf(&m->expected, format, l, r);
}

static void model_left(struct model *m, const struct model_session *s, int l)
{
    struct model_record *left = &m->records[l];
    enum join_type type = m->plan->type;
    bool lone = type == JOIN_SEMI || type == JOIN_ANTI;

    for (int i = 0; i < s->count && s->key != 0 && !(lone && left->matched); i++) {
        struct model_record *right = &m->records[s->records[i]];
        if (right->side != SIDE_RIGHT || (m->plan->on != NULL && !left->ok))
            continue;
        left->matched = right->matched = true;
        if (!lone)
            model_row(m, s, "(%d,%d)", l, s->records[i]);
    }
    if (lone && left->matched == (type == JOIN_SEMI))
        model_row(m, s, "(%d)", l, 0);
    if ((type == JOIN_LEFT || type == JOIN_FULL) && !left->matched)
        model_row(m, s, "(%d,null)", l, 0);
}

static void model_fire(struct model *m, struct model_session *s)
{
    enum join_type type = m->plan->type;

    for (int i = 0; i < s->count; i++)
        if (m->records[s->records[i]].side == SIDE_LEFT)
            model_left(m, s, s->records[i]);
    for (int i = 0; i < s->count; i++) {
        const struct model_record *r = &m->records[s->records[i]];
        if (r->matched)
            m->matched[r->side]++;
        else
            m->unmatched[r->side]++;
        if (r->side == SIDE_RIGHT && !r->matched && (type == JOIN_RIGHT || type == JOIN_FULL))
            model_row(m, s, "(null,%d)", -1, s->records[i]);
    }
    s->due = true;
}

/* Fires what is due, the one that ends first before the others. */
static void model_advance(struct model *m, int64_t reached, bool flush)
{
    m->reached = reached;
    for (;;) {
        struct model_session *next = NULL;
        for (int i = 0; i < m->session_count; i++) {
            struct model_session *s = &m->sessions[i];
            if (s->gone || s->due || (!flush && s->last + m->hold > reached))
                continue;
            if (next == NULL || s->last < next->last ||
                (s->last == next->last && s->opened < next->opened))
                next = s;
        }
        if (next == NULL)
            return;
        model_fire(m, next);
    }
}

static int64_t model_due(const struct model *m)
{
    int64_t due = INT64_MAX;

    for (int i = 0; i < m->session_count; i++) {
        const struct model_session *s = &m->sessions[i];
        if (!s->gone && !s->due && s->last + m->hold < due)
            due = s->last + m->hold;
    }
    return due;
}

/* It may ask to be woken too early, never too late, and not for what is due already. What
 * comes after many that are due need not be known before they are pulled. */
static void assert_due(const struct session_fixture *f, const struct model *m)
{
    int64_t said = due(f);

    assert_true(said > m->reached || said == INT64_MAX);
    assert_true(said <= model_due(m) || (said == INT64_MAX && operator_session.has_work(f->join)));
}

/* --- the two side by side --- */

struct run {
    struct session_fixture *f;
    struct model *m;
    uint64_t chance;
    int64_t spread; /* of the times of records */
};

static void pull_some(struct run *run)
{
    struct session_fixture *f = run->f;
    struct result results[RESULTS_MAX];
    size_t n = pull(f, results, 1 + dice(&run->chance, RESULTS_MAX), 1 + dice(&run->chance, 200));

    for (size_t i = 0; i < n; i++)
        tell(f, &results[i]);
    assert_sound(f);
    assert_due(f, run->m);
}

static void push_some(struct run *run)
{
    enum side side = (enum side)dice(&run->chance, 2);
    int key = (int)dice(&run->chance, 20) == 0 ? 0 : 1 + (int)dice(&run->chance, KEYS);
    int64_t t = run->m->reached;
    bool ok = dice(&run->chance, 3) > 0;
    enum answer fate;
    char line[64];
    int n = key == 0 ? 0 : snprintf(line, sizeof(line), "key number %d", key);

    if (run->m->plan->time == TIME_EVENT)
        t += dice(&run->chance, (uint32_t)run->spread) - run->spread / 2;
    fate = model_fate(run->m, key, t);
    snprintf(line + n, sizeof(line) - (size_t)n, ",%d,%s,", run->m->count, ok ? "true" : "false");
    switch (push_line(run->f, side, t, bytes_of(line))) {
    case PUSH_ALL:
        assert_int_equal(fate, TAKEN);
        model_push(run->m, side, key, t, ok);
        break;
    case PUSH_LATE:
        assert_int_equal(fate, LATE);
        run->m->late[side]++;
        break;
    case PUSH_FULL:
        assert_int_equal(fate, TAKEN);
        assert_true(op->state_bytes(run->f->join) > 0);
        break;
    case PUSH_WORK_FIRST:
        fail();
    }
    assert_sound(run->f);
    assert_due(run->f, run->m);
}

static void advance_some(struct run *run)
{
    int64_t to = run->m->reached + dice(&run->chance, (uint32_t)run->spread / 4 + 2);

    advance(run->f, to);
    model_advance(run->m, to, false);
    assert_due(run->f, run->m);
}

static void drain_all(struct run *run)
{
    while (op->has_work(run->f->join))
        pull_some(run);
    assert_string_equal(buf_text(&run->f->told), buf_text(&run->m->expected));
}

static void flush_all(struct run *run)
{
    op->flush(run->f->join);
    model_advance(run->m, run->m->reached, true);
    drain_all(run);
}

static void finish(struct run *run)
{
    advance(run->f, INT64_MAX);
    model_advance(run->m, INT64_MAX, true);
    drain_all(run);
    assert_empty(run->f);
    for (int s = 0; s < SIDES; s++) {
        const struct books_side *b = &run->f->books.side[s];
        assert_int_equal(b->matched, run->m->matched[s]);
        assert_int_equal(b->unmatched, run->m->unmatched[s]);
        assert_int_equal(b->late, run->m->late[s]);
        assert_int_equal(b->late_windows, run->m->late[s]);
    }
}

static void run_model(enum join_type type, uint64_t seed)
{
    struct run run = {.chance = seed * 1000003, .m = mem_alloc_zeroed(1, sizeof(*run.m))};
    bool event = dice(&run.chance, 3) > 0;
    int64_t gap = 1 + dice(&run.chance, 60);
    struct plan *plan = SESSION_PLAN(.type = type, .on = seed % 2 == 0 ? NULL : "left.ok");

    plan->time = event ? TIME_EVENT : TIME_PROCESSING;
    plan->gap_ms = gap;
    plan->grace_ms = event && dice(&run.chance, 2) == 0 ? dice(&run.chance, 100) : 0;
    plan->state_bytes_max = dice(&run.chance, 4) == 0 ? 9000 : 1 << 30;
    plan->hash_seed = seed;
    run.f = open_session(plan);
    run.spread = 1 + dice(&run.chance, 900);
    *run.m = (struct model){.plan = plan, .hold = gap + (event ? plan->grace_ms : 1)};
    run.m->start_told = run.m->end_told = INT64_MIN;
    buf_init(&run.m->expected);
    run.m->reached = (int64_t)dice(&run.chance, 1000) - 500;
    advance(run.f, run.m->reached);
    for (int i = 0; i < RECORDS && run.m->count < RECORDS; i++) {
        push_some(&run);
        if (dice(&run.chance, 4) == 0)
            advance_some(&run);
        for (uint32_t pulls = dice(&run.chance, 5); pulls > 3; pulls--)
            pull_some(&run);
        if (dice(&run.chance, 50) == 0)
            flush_all(&run);
    }
    finish(&run);
    buf_done(&run.m->expected);
    mem_free(run.m);
    close_session(run.f);
}

static void results_and_fates_are_those_of_the_model(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 400; seed++)
        for (int type = 0; type < JOIN_TYPES; type++)
            run_model((enum join_type)type, seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_and_fates_are_those_of_the_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
