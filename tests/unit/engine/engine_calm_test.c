/*
 * Event time, with rows that go in several at once where time makes no difference to them,
 * against an engine that looks at each alone: whatever is asked of either, after each step, is
 * the same.
 *
 * The other engine's joins have a `where` that is true: that is what makes it slow.
 */
#include "engine_fixture.h"

#define SEEDS     100
#define STEPS     400
#define FEEDS     3 /* a side, beside the side's own */
#define ROWS_MAX  70
#define LINE      64
#define KEYS      2000
#define MAX_AHEAD TIMES
#define PULL_MAX  64
#define TIMES     INT64_C(20000) /* about how far apart windows, delays and jumps are */

enum engines { FAST, SLOW, ENGINES };

struct pending {
    char line[ROWS_MAX][LINE];
    size_t at;
    int feed; /* FEEDS: the side's own */
};

struct calm {
    uint64_t chance;
    struct engine_fixture *f[ENGINES];
    struct feed feed[ENGINES][SIDES][FEEDS];
    bool is_open[SIDES][FEEDS];
    int64_t time[SIDES][FEEDS + 1]; /* what its records are at, about */
    struct pending pending[SIDES];
    bool ended[SIDES];
    int64_t mono_ms, clock_ms;
    int64_t step_ms; /* records are so far apart, on the average */
    uint32_t odd;    /* of so many records, one is */
    uint64_t id;
};

static int64_t one_of(struct calm *c, const int64_t *of, uint32_t count)
{
    return of[dice(&c->chance, count)];
}

static struct plan *random_plan(struct calm *c, const char *where)
{
    static const int64_t delays[] = {0, 0, 1, 100, TIMES / 4, 2 * TIMES};
    static const int64_t sizes[] = {50, 1000, TIMES / 4, TIMES, 100 * TIMES};
    static const int64_t limits[] = {2000, 20000, 100000, 1 << 30, 1 << 30};
    static const enum join_type types[] = {JOIN_INNER, JOIN_FULL, JOIN_LEFT, JOIN_ANTI};
    struct join_words w = {.time = TIME_EVENT, .where = {where, where}};

    w.type = types[dice(&c->chance, 4)];
    w.size_ms = one_of(c, sizes, 5);
    if (dice(&c->chance, 2) == 0) { /* overlapping, or with room between them */
        w.match = MATCH_SLIDING;
        w.slide_ms = w.size_ms * (1 + dice(&c->chance, 8)) / 4;
    }
    w.offset_ms = dice(&c->chance, 2) == 0 ? 0 : 7;
    w.grace_ms = dice(&c->chance, 2) == 0 ? 0 : one_of(c, delays, 6);
    w.replay = dice(&c->chance, 5) == 0;
    w.state_bytes_max = (uint64_t)one_of(c, limits, 5);
    for (int s = 0; s < SIDES; s++) {
        w.delay_ms[s] = one_of(c, delays, 6);
        w.idle_ms[s] = dice(&c->chance, 2) == 0 ? 0 : 1000;
        w.max_ahead_ms[s] = dice(&c->chance, 2) == 0 ? 0 : MAX_AHEAD;
    }
    return plan_of(&w);
}

/* Both from the same chance, and the slow one asks something. */
static void open_calm(struct calm *c, uint64_t seed)
{
    static const int64_t steps[] = {0, 1, 10, 300};

    *c = (struct calm){.chance = seed << 32};
    for (int e = 0; e < ENGINES; e++) {
        c->chance = seed << 32;
        c->f[e] = open_engine(random_plan(c, e == SLOW ? "true" : NULL));
        engine_count_idle_anew(c->f[e]->engine, (struct mono_time){0});
    }
    c->step_ms = one_of(c, steps, 4);
    c->odd = 20 + dice(&c->chance, 200);
}

static void close_calm(struct calm *c)
{
    close_engine(c->f[FAST]);
    close_engine(c->f[SLOW]);
}

/* --- whatever is asked, both say the same --- */

#define ASSERT_ALIKE(question)                                                                     \
    do {                                                                                           \
        const struct engine *e = c->f[FAST]->engine;                                               \
        int64_t fast = (int64_t)(question), slow;                                                  \
        e = c->f[SLOW]->engine;                                                                    \
        slow = (int64_t)(question);                                                                \
        assert_int_equal(fast, slow);                                                              \
    } while (0)

static const struct feed *feed_at(const struct calm *c, const struct engine *e, int side, int i)
{
    return &c->feed[e == c->f[SLOW]->engine][side][i];
}

static void assert_alike(const struct calm *c)
{
    assert_memory_equal(engine_books(c->f[FAST]->engine), engine_books(c->f[SLOW]->engine),
                        sizeof(struct books));
    assert_memory_equal(engine_lag(c->f[FAST]->engine), engine_lag(c->f[SLOW]->engine),
                        sizeof(struct lag));
    ASSERT_ALIKE(engine_time(e).ms);
    ASSERT_ALIKE(engine_state_bytes(e));
    ASSERT_ALIKE(engine_has_work(e));
    ASSERT_ALIKE(engine_wake(e).ms);
    ASSERT_ALIKE(engine_takes(e));
    ASSERT_ALIKE(engine_is_stuck(e));
    ASSERT_ALIKE(engine_idle_is_due(e, (struct mono_time){c->mono_ms}));
    for (int s = 0; s < SIDES; s++) {
        ASSERT_ALIKE(engine_watermark(e, s).ms);
        ASSERT_ALIKE(engine_side_idle(e, s));
        ASSERT_ALIKE(engine_held(e, s));
        ASSERT_ALIKE(engine_holds(e, s, NULL));
        for (int i = 0; i < FEEDS; i++) {
            if (!c->is_open[s][i])
                continue;
            ASSERT_ALIKE(engine_holds(e, s, feed_at(c, e, s, i)));
            ASSERT_ALIKE(feed_at(c, e, s, i)->highest.ms);
            ASSERT_ALIKE(feed_at(c, e, s, i)->last.ms);
            ASSERT_ALIKE(feed_at(c, e, s, i)->idle);
        }
    }
}

/* --- in --- */

static void add_odd(struct calm *c, enum side side, int64_t t)
{
    char *line = c->pending[side].line[c->f[FAST]->batch[side].count];

    switch (dice(&c->chance, 6)) {
    case 0:
        snprintf(line, LINE, "k,%" PRIu64 ",true,", c->id); /* no time */
        break;
    case 1:
        snprintf(line, LINE, ",%" PRIu64 ",true,%" PRId64, c->id, t);
        break;
    case 2: /* behind */
        snprintf(line, LINE, "k,%" PRIu64 ",true,%" PRId64, c->id,
                 t - (int64_t)dice(&c->chance, 4 * TIMES));
        break;
    case 3: /* ahead */
        snprintf(line, LINE, "k,%" PRIu64 ",true,%" PRId64, c->id,
                 t + (int64_t)dice(&c->chance, 2 * TIMES));
        break;
    case 4: /* about as far ahead as is believed */
        snprintf(line, LINE, "k,%" PRIu64 ",true,%" PRId64, c->id,
                 c->clock_ms + MAX_AHEAD + (int64_t)dice(&c->chance, 3));
        break;
    default:
        for (int e = 0; e < ENGINES; e++)
            add_rejected(c->f[e], side);
        return;
    }
    for (int e = 0; e < ENGINES; e++)
        add_line(c->f[e], side, bytes_of(line));
}

static void add_usual(struct calm *c, enum side side, int64_t t)
{
    char *line = c->pending[side].line[c->f[FAST]->batch[side].count];
    bool packed = dice(&c->chance, 100) == 0;

    snprintf(line, LINE, "%u,%" PRIu64 ",true,%" PRId64, dice(&c->chance, KEYS), c->id, t);
    for (int e = 0; e < ENGINES; e++) {
        struct batch *b = &c->f[e]->batch[side];
        add_line(c->f[e], side, bytes_of(line));
        b->rows[b->count - 1].verdict = packed ? VERDICT_TAKE_PACKED : VERDICT_TAKE;
    }
}

/* Some rows of one feed: its time goes on, more or less. */
static void fill(struct calm *c, enum side side)
{
    struct pending *p = &c->pending[side];
    size_t count = 1 + dice(&c->chance, ROWS_MAX);
    int64_t *t;

    p->feed = (int)dice(&c->chance, FEEDS + 1);
    while (p->feed < FEEDS && !c->is_open[side][p->feed])
        p->feed++;
    t = &c->time[side][p->feed];
    if (dice(&c->chance, 20) == 0) /* it comes up to the others */
        *t = c->clock_ms;
    p->at = 0;
    for (int e = 0; e < ENGINES; e++) {
        struct batch *b = &c->f[e]->batch[side];
        batch_clear(b);
        b->feed = p->feed < FEEDS ? &c->feed[e][side][p->feed] : NULL;
    }
    for (size_t i = 0; i < count; i++, c->id++) {
        *t += c->step_ms == 0 ? 0 : dice(&c->chance, (uint32_t)(2 * c->step_ms + 1));
        if (dice(&c->chance, c->odd) == 0)
            add_odd(c, side, *t);
        else
            add_usual(c, side, *t - (int64_t)dice(&c->chance, (uint32_t)(3 * c->step_ms + 1)));
    }
}

static void assert_same_rows(const struct calm *c, enum side side)
{
    const struct batch *fast = &c->f[FAST]->batch[side], *slow = &c->f[SLOW]->batch[side];

    assert_int_equal(fast->rejected, slow->rejected);
    assert_int_equal(fast->late, slow->late);
    for (size_t i = 0; i < fast->count; i++) {
        assert_int_equal(fast->rows[i].reject, slow->rows[i].reject);
        assert_int_equal(fast->rows[i].late, slow->rows[i].late);
        assert_string_equal(batch_detail(fast, &fast->rows[i]), batch_detail(slow, &slow->rows[i]));
    }
}

static void push_some(struct calm *c, enum side side)
{
    struct pending *p = &c->pending[side];
    size_t taken[ENGINES];

    if (c->ended[side])
        return;
    if (p->at == c->f[FAST]->batch[side].count)
        fill(c, side);
    for (int e = 0; e < ENGINES; e++)
        taken[e] = engine_push(c->f[e]->engine, side, &c->f[e]->batch[side], p->at,
                               (struct stream_time){c->clock_ms});
    assert_int_equal(taken[FAST], taken[SLOW]);
    assert_same_rows(c, side);
    p->at += taken[FAST];
}

/* --- out, and what else can happen --- */

static size_t pull_some(struct calm *c, int64_t fuel, size_t max)
{
    struct result results[PULL_MAX];
    size_t n[ENGINES];

    for (int e = 0; e < ENGINES; e++) {
        int64_t left = fuel;
        n[e] = engine_pull(c->f[e]->engine, results, max, &left);
        buf_clear(&c->f[e]->told);
        for (size_t i = 0; i < n[e]; i++)
            append_result(c->f[e]->plan, &results[i], &c->f[e]->told);
    }
    assert_int_equal(n[FAST], n[SLOW]);
    assert_string_equal(buf_text(&c->f[FAST]->told), buf_text(&c->f[SLOW]->told));
    return n[FAST];
}

static void pull_all(struct calm *c)
{
    while (engine_has_work(c->f[FAST]->engine))
        pull_some(c, ALL_FUEL, PULL_MAX);
}

/* Not that whose rows are on their way. */
static void open_or_close(struct calm *c)
{
    int side = (int)dice(&c->chance, SIDES), i = (int)dice(&c->chance, FEEDS);

    if (c->is_open[side][i] && c->pending[side].feed == i &&
        c->pending[side].at < c->f[FAST]->batch[side].count)
        return;
    for (int e = 0; e < ENGINES; e++) {
        if (c->is_open[side][i])
            engine_feed_close(c->f[e]->engine, &c->feed[e][side][i]);
        else
            engine_feed_open(c->f[e]->engine, &c->feed[e][side][i], (enum side)side);
    }
    c->is_open[side][i] = !c->is_open[side][i];
}

static void clocks_go_on(struct calm *c)
{
    c->mono_ms += dice(&c->chance, 800);
    c->clock_ms += dice(&c->chance, TIMES);
    for (int e = 0; e < ENGINES; e++)
        engine_watch(c->f[e]->engine, (struct mono_time){c->mono_ms});
}

static void read_or_not(struct calm *c)
{
    int side = (int)dice(&c->chance, SIDES), i = (int)dice(&c->chance, FEEDS);
    bool held = dice(&c->chance, 2) == 0;

    for (int e = 0; e < ENGINES && c->is_open[side][i]; e++) {
        if (c->feed[e][side][i].unread)
            engine_feed_read(c->f[e]->engine, &c->feed[e][side][i], held);
        else
            engine_feed_unread(c->f[e]->engine, &c->feed[e][side][i]);
    }
}

static void end_side(struct calm *c, enum side side)
{
    for (int e = 0; e < ENGINES && !c->ended[side]; e++)
        engine_end(c->f[e]->engine, side);
    c->ended[side] = true;
}

static void step(struct calm *c)
{
    uint32_t what = dice(&c->chance, 100);

    if (what < 60)
        push_some(c, (enum side)dice(&c->chance, SIDES));
    else if (what < 75)
        pull_some(c, dice(&c->chance, 100), 1 + dice(&c->chance, PULL_MAX));
    else if (what < 80)
        pull_all(c);
    else if (what < 88)
        clocks_go_on(c);
    else if (what < 93)
        open_or_close(c);
    else if (what < 98)
        read_or_not(c);
    else if (what < 99 && dice(&c->chance, 10) == 0)
        end_side(c, (enum side)dice(&c->chance, SIDES));
    else if (engine_is_stuck(c->f[FAST]->engine))
        for (int e = 0; e < ENGINES; e++)
            engine_flush(c->f[e]->engine);
    assert_alike(c);
}

static void rows_that_go_in_together_do_what_they_do_alone(void **state)
{
    struct calm *c = mem_alloc(sizeof(*c));

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        open_calm(c, seed);
        for (int i = 0; i < STEPS; i++)
            step(c);
        end_side(c, SIDE_LEFT);
        end_side(c, SIDE_RIGHT);
        pull_all(c);
        assert_alike(c);
        assert_true(engine_books_balance(c->f[FAST]->engine));
        close_calm(c);
    }
    mem_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_that_go_in_together_do_what_they_do_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
