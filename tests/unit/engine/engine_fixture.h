/*
 * An engine with its plan, rows as a decoder would make them, and verbs that look
 * at the books after each step.
 */
#ifndef UNIT_ENGINE_ENGINE_FIXTURE_H
#define UNIT_ENGINE_ENGINE_FIXTURE_H

#include "join_fixture.h"

#include "engine/engine.h"

#define ALL_FUEL    (INT64_C(1) << 40)
#define RESULTS_MAX 64

struct engine_fixture {
    struct plan *plan; /* owned */
    struct engine *engine;
    struct batch batch[SIDES];
    uint64_t results[RESULT_KINDS]; /* as they came */
    struct buf told;
};

static inline struct engine_fixture *open_engine(struct plan *plan)
{
    struct engine_fixture *f = mem_alloc_zeroed(1, sizeof(*f));

    f->plan = plan;
    f->engine = engine_new(plan);
    for (int s = 0; s < SIDES; s++)
        batch_init(&f->batch[s], plan->side[s].form.field_count);
    buf_init(&f->told);
    return f;
}

static inline void close_engine(struct engine_fixture *f)
{
    engine_free(f->engine);
    batch_done(&f->batch[SIDE_LEFT]);
    batch_done(&f->batch[SIDE_RIGHT]);
    plan_free(f->plan);
    buf_done(&f->told);
    mem_free(f);
}

static inline struct stream_time at(int64_t ms)
{
    return (struct stream_time){ms};
}

/* --- rows, as a decoder would make them --- */

static inline struct row *next_row(struct engine_fixture *f, enum side side)
{
    struct batch *b = &f->batch[side];
    struct row *r = &b->rows[b->count];

    assert_true(b->count < BATCH_ROWS);
    *r = (struct row){.detail = -1};
    b->times[b->count] = BATCH_NO_TIME;
    b->count++;
    return r;
}

static inline void tell_time(struct engine_fixture *f, enum side side, const struct row *r)
{
    const struct expr *timestamp = f->plan->side[side].timestamp;
    struct batch *b = &f->batch[side];

    b->timed = f->plan->time == TIME_EVENT && timestamp != NULL && timestamp->kind == EXPR_FIELD;
    if (b->timed && batch_row_fields(b, r)[timestamp->field].p != NULL)
        b->times[batch_row_index(b, r)] =
            value_time_ms(timestamp->type, batch_row_fields(b, r)[timestamp->field]);
}

/* A line whose fields are canonical; an empty one is NULL. */
static inline void add_line(struct engine_fixture *f, enum side side, struct bytes line)
{
    struct row *r = next_row(f, side);
    struct bytes *fields = batch_row_fields(&f->batch[side], r);
    const char *p = line.p, *stop = line.p + line.n;

    r->line = line;
    r->verdict = VERDICT_TAKE;
    for (size_t i = 0; i < f->batch[side].field_count; i++) {
        const char *comma = memchr(p, ',', (size_t)(stop - p));
        const char *field_end = comma == NULL ? stop : comma;
        fields[i] = field_end == p ? BYTES_NULL : (struct bytes){p, (size_t)(field_end - p)};
        p = comma == NULL ? stop : comma + 1;
    }
    tell_time(f, side, r);
}

/* A row that cannot be stored as it came, with three fields; NULL is NULL. */
static inline void add_packed(struct engine_fixture *f, enum side side, const char *a,
                              const char *b, const char *c)
{
    struct row *r = next_row(f, side);
    struct bytes *fields = batch_row_fields(&f->batch[side], r);

    assert_int_equal(f->batch[side].field_count, 3);
    r->line = BYTES_LIT("\"as it was received\"");
    r->verdict = VERDICT_TAKE_PACKED;
    fields[0] = bytes_of(a);
    fields[1] = bytes_of(b);
    fields[2] = bytes_of(c);
    tell_time(f, side, r);
}

static inline void add_rejected(struct engine_fixture *f, enum side side)
{
    struct row *r = next_row(f, side);

    r->line = BYTES_LIT("\"broken");
    batch_reject(&f->batch[side], r, REJECT_QUOTE, "broken");
}

static inline void assert_balance(const struct engine_fixture *f)
{
    const struct books *b = engine_books(f->engine);

    assert_true(engine_books_balance(f->engine));
    for (int s = 0; s < SIDES; s++)
        assert_true(books_balance(&b->side[s], engine_held(f->engine, s)));
    for (int k = 0; k < RESULT_KINDS; k++)
        assert_int_equal(b->results[k], f->results[k]);
}

/* Pushes what was added. Returns how many rows were taken. */
static inline size_t push_added(struct engine_fixture *f, enum side side, int64_t t)
{
    struct batch *b = &f->batch[side];
    uint64_t received = engine_books(f->engine)->side[side].received;
    size_t taken = engine_push(f->engine, side, b, 0, at(t));

    assert_true(taken <= b->count);
    assert_int_equal(engine_takes(f->engine), taken == b->count);
    assert_int_equal(engine_books(f->engine)->side[side].received, received + taken);
    assert_balance(f);
    batch_clear(b);
    return taken;
}

/* `lines`, separated by spaces, as one batch; all must be taken. */
static inline void push(struct engine_fixture *f, enum side side, int64_t t, const char *lines)
{
    char *copy = mem_strdup(lines), *rest = copy, *line;
    size_t count = 0;

    for (; (line = strsep(&rest, " ")) != NULL; count++)
        add_line(f, side, bytes_of(line));
    assert_int_equal(push_added(f, side, t), count);
    mem_free(copy);
}

static inline void advance(struct engine_fixture *f, int64_t t)
{
    engine_advance(f->engine, at(t));
    assert_balance(f);
}

static inline size_t pull(struct engine_fixture *f, struct result *ret, size_t max, int64_t fuel)
{
    size_t n = engine_pull(f->engine, ret, max, &fuel);

    for (size_t i = 0; i < n; i++)
        f->results[ret[i].kind]++;
    assert_balance(f);
    return n;
}

static inline const char *drain(struct engine_fixture *f)
{
    struct result results[RESULTS_MAX];
    size_t n;

    buf_clear(&f->told);
    while ((n = pull(f, results, RESULTS_MAX, ALL_FUEL)) > 0)
        for (size_t i = 0; i < n; i++)
            append_result(f->plan, &results[i], &f->told);
    assert_false(engine_has_work(f->engine));
    return buf_text(&f->told);
}

static inline const char *end(struct engine_fixture *f)
{
    engine_end(f->engine, SIDE_LEFT);
    engine_end(f->engine, SIDE_RIGHT);
    return drain(f);
}

static inline struct books_side books_of(const struct engine_fixture *f, enum side side)
{
    return engine_books(f->engine)->side[side];
}

/* `late` is of event time. */
static inline void assert_fates(const struct engine_fixture *f, enum side side,
                                struct books_side expected)
{
    struct books_side b = books_of(f, side);

    assert_int_equal(b.received, expected.received);
    assert_int_equal(b.rejected, expected.rejected);
    assert_int_equal(b.filtered, expected.filtered);
    assert_int_equal(b.late, 0);
    assert_int_equal(b.matched, expected.matched);
    assert_int_equal(b.unmatched, expected.unmatched);
}

#endif
