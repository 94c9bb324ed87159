/*
 * Random joins, records, times and pulls against nested loops.
 *
 * The model knows what each cause (a step of time, a record) gives, as a section: results of
 * keys, each key's in order, the keys in any. What is pulled, later and in pieces, must be
 * these sections, one after the other.
 */
#include "window_join_fixture.h"

#define KEYS        4
#define RECORDS_MAX 120
#define WINDOWS_MAX 2000
#define GROUPS      (KEYS + RECORDS_MAX + 1) /* each NULL key is one of its own */

struct model_record {
    enum side side;
    int64_t t;
    int key;    /* 0: NULL */
    int weight; /* 0: unreadable */
    bool matched, left;
};

struct model_window {
    int age;
    int64_t start;
    bool fired, closed;
    bool member[RECORDS_MAX], matched[RECORDS_MAX];
};

struct section {
    char name[64];
    struct buf groups[GROUPS];
    size_t results; /* to come */
    struct section *next;
};

struct model {
    struct join_fixture *f;
    uint64_t seed, chance;
    bool asks;
    int age;
    int64_t now; /* the end that time is past; INT64_MIN */
    struct model_record records[RECORDS_MAX];
    int count;
    bool lone[RECORDS_MAX]; /* held between windows */
    struct model_window *windows;
    int window_count;
    uint64_t matched[SIDES], unmatched[SIDES], late[SIDES], late_windows[SIDES];
    struct section *first, *last;
    int group; /* whose results come at the moment; -1 */
    struct buf told;
};

/* --- what is expected --- */

static void open_section(struct model *m, const char *what, int64_t start)
{
    struct section *s = mem_alloc_zeroed(1, sizeof(*s));

    snprintf(s->name, sizeof(s->name), "%s %" PRId64, what, start);
    if (m->last != NULL)
        m->last->next = s;
    else
        m->first = s;
    m->last = s;
}

static int group_of(const struct model *m, int record)
{
    int key = m->records[record].key;
    return key == 0 ? KEYS + record : key - 1;
}

static void expect(struct model *m, int record, const char *format, int a, int b)
{
    buf_printf(&m->last->groups[group_of(m, record)], format, a, b);
    m->last->results++;
}

/* --- the join --- */

static bool is_one_sided(const struct model *m)
{
    return m->f->plan->type == JOIN_SEMI || m->f->plan->type == JOIN_ANTI;
}

static void has_matched(struct model *m, int record)
{
    struct model_record *r = &m->records[record];

    m->matched[r->side] += !r->matched;
    r->matched = true;
}

/* True: no other right record is shown to this left one. */
static bool meet(struct model *m, struct model_window *w, int l, int r)
{
    struct model_record *left = &m->records[l], *right = &m->records[r];

    if (!w->member[l] || !w->member[r] || left->side != SIDE_LEFT || right->side != SIDE_RIGHT ||
        left->key == 0 || left->key != right->key)
        return false;
    if (is_one_sided(m) && w->matched[l])
        return true;
    if (m->asks && (left->weight == 0 || right->weight == 0)) {
        expect(m, l, "!(%d,%d)", l, r);
        return false;
    }
    if (m->asks && right->weight >= left->weight)
        return false;
    has_matched(m, l);
    has_matched(m, r);
    w->matched[l] = w->matched[r] = true;
    if (m->f->plan->type == JOIN_SEMI)
        expect(m, l, "(%d)", l, 0);
    if (!is_one_sided(m))
        expect(m, l, "(%d,%d)", l, r);
    return is_one_sided(m);
}

static void pad(struct model *m, int record)
{
    enum side side = m->records[record].side;

    if (!plan_pads(m->f->plan, side))
        return;
    if (is_one_sided(m))
        expect(m, record, "(%d)", record, 0);
    else
        expect(m, record, side == SIDE_LEFT ? "(%d,null)" : "(null,%d)", record, 0);
}

static void walk_window(struct model *m, struct model_window *w, bool pairs, bool padding)
{
    for (int l = 0; l < m->count; l++) {
        if (!w->member[l] || m->records[l].side != SIDE_LEFT)
            continue;
        for (int r = 0; r < m->count && pairs; r++)
            if (meet(m, w, l, r))
                break;
        if (padding && !w->matched[l])
            pad(m, l);
    }
    for (int r = 0; r < m->count && padding; r++)
        if (w->member[r] && m->records[r].side == SIDE_RIGHT && !w->matched[r])
            pad(m, r);
}

static void leave(struct model *m, int record)
{
    struct model_record *r = &m->records[record];

    for (int i = 0; i < m->window_count; i++)
        if (m->windows[i].member[record] && !m->windows[i].closed)
            return;
    m->unmatched[r->side] += !r->matched;
    r->left = true;
}

static void walk_due(struct model *m, struct model_window *w)
{
    bool first = !w->fired, closes = !first || m->f->plan->grace_ms == 0;

    open_section(m, first ? "fire" : "close", w->start);
    walk_window(m, w, first, closes);
    w->fired = true;
    w->closed = closes;
    for (int i = 0; i < m->count && closes; i++)
        if (w->member[i])
            leave(m, i);
}

/* --- time --- */

struct turn {
    int64_t instant, end;
    struct model_window *window;
    int lone;
};

static void earlier(struct turn *turn, struct turn other)
{
    if (other.instant < turn->instant || (other.instant == turn->instant && other.end < turn->end))
        *turn = other;
}

static struct turn next_turn(struct model *m)
{
    struct turn turn = {.instant = INT64_MAX, .lone = -1};

    for (int i = 0; i < m->window_count; i++) {
        struct model_window *w = &m->windows[i];
        int64_t end = w->start + m->f->plan->size_ms;
        if (w->age == m->age && !w->closed)
            earlier(&turn, (struct turn){end + (w->fired ? m->f->plan->grace_ms : 0), end, w, -1});
    }
    for (int i = 0; i < m->count; i++)
        if (m->lone[i])
            earlier(&turn, (struct turn){m->records[i].t + 1, m->records[i].t + 1, NULL, i});
    return turn;
}

static void run_to(struct model *m, int64_t end)
{
    struct turn turn;

    m->now = end;
    while ((turn = next_turn(m)).instant <= end && turn.instant < INT64_MAX) {
        if (turn.window != NULL) {
            walk_due(m, turn.window);
            continue;
        }
        open_section(m, "lone", m->records[turn.lone].t);
        pad(m, turn.lone);
        m->lone[turn.lone] = false;
        leave(m, turn.lone);
    }
}

/* --- records --- */

static struct model_window *window_of(struct model *m, int64_t start)
{
    struct model_window *w;

    for (int i = 0; i < m->window_count; i++)
        if (m->windows[i].age == m->age && m->windows[i].start == start)
            return &m->windows[i];
    assert_true(m->window_count < WINDOWS_MAX);
    w = &m->windows[m->window_count++];
    *w = (struct model_window){.age = m->age, .start = start};
    w->fired = m->now != INT64_MIN && start + m->f->plan->size_ms <= m->now;
    return w;
}

static void enter(struct model *m, int record, int64_t start)
{
    struct model_window *w = window_of(m, start);

    w->member[record] = true;
    if (!w->fired)
        return;
    open_section(m, "late into", start);
    for (int i = 0; i < record; i++)
        if (m->records[record].side == SIDE_LEFT ? meet(m, w, record, i) : meet(m, w, i, record)) {
            if (m->records[record].side == SIDE_LEFT)
                break;
        }
}

struct judged {
    int windows, late, due;
};

static struct judged judge(const struct model *m, int64_t t)
{
    const struct plan *p = m->f->plan;
    struct judged j = {0};

    for (int64_t s = plan_window_start(p, t); s + p->size_ms > t; s -= p->slide_ms) {
        j.windows++;
        j.due += m->now != INT64_MIN && s + p->size_ms <= m->now;
        j.late += m->now != INT64_MIN && s + p->size_ms + p->grace_ms <= m->now;
    }
    return j;
}

static void take(struct model *m, int record)
{
    const struct plan *p = m->f->plan;
    struct model_record *r = &m->records[record];
    struct judged j = judge(m, r->t);
    int64_t start = plan_window_start(p, r->t);

    m->late_windows[r->side] += (uint64_t)j.late;
    m->lone[record] = j.windows == 0;
    if (j.windows > 0 && j.late == j.windows)
        m->late[r->side]++;
    for (start -= (j.windows - 1 - j.late) * p->slide_ms; j.late < j.windows; j.late++) {
        enter(m, record, start);
        start += p->slide_ms;
    }
    run_to(m, m->now);
}

/* --- what comes --- */

/* All of it has come, or has to come later. */
static void close_section(struct model *m)
{
    struct section *s = m->first;

    for (int i = 0; i < GROUPS; i++)
        buf_done(&s->groups[i]);
    m->first = s->next;
    if (m->first == NULL)
        m->last = NULL;
    mem_free(s);
    m->group = -1;
}

static void group_is_over(struct model *m)
{
    const char *expected;

    if (m->group < 0)
        return;
    expected = buf_text(&m->first->groups[m->group]);
    if (strcmp(expected, buf_text(&m->told)) != 0)
        fail_msg("seed %" PRIu64 ", %s: %s instead of %s", m->seed, m->first->name,
                 buf_text(&m->told), expected);
    buf_clear(&m->first->groups[m->group]); /* it may not come again */
    m->group = -1;
}

static void next_section(struct model *m)
{
    while (m->first != NULL && m->first->results == 0) {
        group_is_over(m);
        close_section(m);
    }
}

static void came(struct model *m, const struct result *r)
{
    enum side side = r->record[SIDE_LEFT] != NULL ? SIDE_LEFT : SIDE_RIGHT;
    int group = group_of(m, (int)number_of(m->f->plan, side, r->record[side], 1));
    struct buf text = BUF_EMPTY;

    append_result(m->f->plan, r, &text);
    next_section(m);
    if (m->first == NULL)
        fail_msg("seed %" PRIu64 ": %s, but nothing was to come", m->seed, buf_text(&text));
    if (group != m->group) {
        group_is_over(m);
        m->group = group;
        buf_clear(&m->told);
    }
    buf_append_bytes(&m->told, buf_bytes(&text));
    if (strncmp(m->first->name, "lone", 4) == 0)
        assert_true(r->window_start == RESULT_NO_WINDOW && r->window_end == RESULT_NO_WINDOW);
    else
        assert_int_equal(r->window_start, strtoll(strrchr(m->first->name, ' '), NULL, 10));
    m->first->results--;
    buf_done(&text);
}

static void pull_some(struct model *m)
{
    struct result results[RESULTS_MAX];
    size_t n = pull(m->f, results, 1 + dice(&m->chance, dice(&m->chance, 2) ? 2 : RESULTS_MAX),
                    1 + dice(&m->chance, dice(&m->chance, 2) ? 3 : 200));

    for (size_t i = 0; i < n; i++)
        came(m, &results[i]);
    if (dice(&m->chance, 16) == 0)
        assert_sound(m->f);
}

static void assert_all_came(struct model *m)
{
    struct turn turn;
    int64_t early = m->f->plan->time == TIME_EVENT ? 1 : 0;

    while (op->has_work(m->f->join))
        pull_some(m);
    next_section(m);
    if (m->first != NULL)
        fail_msg("seed %" PRIu64 ", %s: %zu results did not come", m->seed, m->first->name,
                 m->first->results);
    assert_sound(m->f);
    turn = next_turn(m);
    assert_int_equal(due(m->f), turn.instant == INT64_MAX ? INT64_MAX : turn.instant - early);
    for (int s = 0; s < SIDES; s++) {
        assert_int_equal(m->f->books.side[s].matched, m->matched[s]);
        assert_int_equal(m->f->books.side[s].unmatched, m->unmatched[s]);
        assert_int_equal(m->f->books.side[s].late_windows, m->late_windows[s]);
    }
}

/* --- a run --- */

static void put(struct model *m, int64_t t)
{
    static const char *const weights[] = {"x", "1", "2", "3"};
    int record = m->count;
    struct model_record *r = &m->records[record];
    struct judged j = judge(m, t);
    enum push_stop stop;
    char line[64];
    int n;

    *r = (struct model_record){.side = (enum side)dice(&m->chance, 2),
                               .t = t,
                               .key = (int)dice(&m->chance, KEYS + 1),
                               .weight = (int)dice(&m->chance, 8) / 2};
    n = r->key == 0 ? 0 : snprintf(line, sizeof(line), "k%d", r->key);
    snprintf(line + n, sizeof(line) - (size_t)n, ",%d,%s", record, weights[r->weight]);
    m->f->join->shape.bits = dice(&m->chance, 3) * 2; /* as if windows had been large, or not */
    while ((stop = push_stop_of(m->f, r->side, t, bytes_of(line))) == PUSH_WORK_FIRST) {
        assert_true(op->has_work(m->f->join));
        assert_true(j.due > 0 || (j.windows == 0 && t < m->now));
        pull_some(m);
    }
    assert_int_equal(stop, j.windows > 0 && j.late == j.windows ? PUSH_LATE : PUSH_ALL);
    m->count++;
    take(m, record);
}

static void step(struct model *m, int64_t *reached)
{
    const struct plan *p = m->f->plan;
    int64_t early = p->time == TIME_EVENT ? 1 : 0;
    uint32_t what = dice(&m->chance, 10);

    if (what < 5) {
        int64_t back = p->time == TIME_EVENT ? (int64_t)dice(&m->chance, 60) - 20 : 0;
        put(m, *reached - back);
    } else if (what < 7) {
        *reached += dice(&m->chance, dice(&m->chance, 8) == 0 ? 60 : 6);
        advance(m->f, *reached);
        run_to(m, *reached + early);
    } else if (what < 9 || dice(&m->chance, 12) > 0) {
        pull_some(m);
    } else if (dice(&m->chance, 2) == 0) {
        assert_all_came(m);
    } else {
        int64_t now = m->now;
        op->flush(m->f->join);
        run_to(m, INT64_MAX);
        m->now = now;
        m->age++;
    }
}

static struct plan *random_plan(uint64_t *chance, bool *ret_asks)
{
    static const int64_t sizes[] = {1, 4, 10, 12, 30};
    static const int64_t slides[] = {0, 1, 3, 5, 7, 10, 25};
    struct join_words w = {.fields = {"k, id, w", "k, id, w"},
                           .timestamp = {"cast(id as timestamp_ms)", "cast(id as timestamp_ms)"}};

    w.type = (enum join_type)dice(chance, JOIN_TYPES);
    w.size_ms = sizes[dice(chance, COUNT_OF(sizes))];
    w.slide_ms = slides[dice(chance, COUNT_OF(slides))];
    w.match = w.slide_ms == 0 ? MATCH_TUMBLING : MATCH_SLIDING;
    w.offset_ms = (int64_t)dice(chance, 9) - 4;
    w.time = dice(chance, 4) == 0 ? TIME_PROCESSING : TIME_EVENT;
    w.grace_ms = w.time == TIME_EVENT && dice(chance, 2) ? dice(chance, 25) : 0;
    *ret_asks = dice(chance, 2);
    w.on = *ret_asks ? "cast(right.w as bigint) < cast(left.w as bigint)" : NULL;
    return plan_of(&w);
}

static void run(uint64_t seed)
{
    struct model *m = mem_alloc_zeroed(1, sizeof(*m));
    int64_t reached = 0;

    m->seed = seed;
    m->chance = seed * 1000003;
    m->f = open_join(random_plan(&m->chance, &m->asks));
    m->windows = mem_alloc_zeroed(WINDOWS_MAX, sizeof(*m->windows));
    m->now = INT64_MIN;
    m->group = -1;
    if (dice(&m->chance, 2) == 0) {
        advance(m->f, 0);
        m->now = m->f->plan->time == TIME_EVENT ? 1 : 0;
    }
    if (m->f->plan->time == TIME_PROCESSING && m->now == INT64_MIN) {
        advance(m->f, 0);
        m->now = 0;
    }
    for (int i = 0; i < 400 && m->count < RECORDS_MAX; i++)
        step(m, &reached);
    run_to(m, INT64_MAX);
    advance(m->f, INT64_MAX);
    assert_all_came(m);
    assert_int_equal(slab_used(m->f->pool), 0);
    assert_int_equal(m->f->join->open.panes.count, 0);
    for (int s = 0; s < SIDES; s++)
        assert_int_equal(m->f->books.side[s].received,
                         m->matched[s] + m->unmatched[s] + m->late[s]);
    buf_done(&m->told);
    mem_free(m->windows);
    close_join(m->f);
    mem_free(m);
}

static void results_and_fates_are_those_of_nested_loops(void **state)
{
    const char *one = getenv("WINDOW_MODEL_SEED");

    (void)state;
    for (uint64_t seed = 1; seed <= 1500; seed++)
        if (one == NULL || strtoull(one, NULL, 10) == seed)
            run(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_and_fates_are_those_of_nested_loops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
