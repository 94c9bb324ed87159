/*
 * The operator alone, with what the engine would give it. Its state and its books are
 * counted anew after each step.
 */
#ifndef UNIT_CORE_JOIN_WINDOW_FIXTURE_H
#define UNIT_CORE_JOIN_WINDOW_FIXTURE_H

#include "core/join_window.h"
#include "fixture.h"

#define ALL_FUEL    (INT64_C(1) << 40)
#define RESULTS_MAX 64

static const struct operator* const op = & operator_window;

/* The operator alone, with what the engine would give it. */
struct join_fixture {
    struct plan *plan; /* owned */
    struct books books;
    struct slab_pool *pool;
    uint64_t state_bytes_max;
    struct join_window *join;
    int64_t window_told; /* the window that the last result was of */
    struct buf told;
};

static inline struct join_fixture *open_join(struct plan *plan)
{
    struct join_fixture *f = mem_alloc_zeroed(1, sizeof(*f));

    f->plan = plan;
    f->pool = slab_pool_new();
    f->state_bytes_max = plan->state_bytes_max;
    f->join = op->create(&(struct operator_context){
        .plan = plan,
        .books = &f->books,
        .pool = f->pool,
        .state_bytes_max = &f->state_bytes_max,
    });
    f->window_told = INT64_MIN;
    buf_init(&f->told);
    return f;
}

static inline void close_join(struct join_fixture *f)
{
    op->destroy(f->join);
    slab_pool_free(f->pool); /* all is back */
    plan_free(f->plan);
    buf_done(&f->told);
    mem_free(f);
}

/* --- what it says of itself --- */

static inline struct window *window_at(const struct join_fixture *f, size_t i)
{
    assert_true(i < f->join->count);
    return f->join->windows[f->join->head + i];
}

/* Windows, their logs, the directory, the walk: counted anew. */
static inline uint64_t state_by_hand(const struct join_fixture *f)
{
    uint64_t bytes = f->join->capacity * sizeof(struct window *) + slab_used(f->pool);

    for (size_t i = 0; i < f->join->count; i++) {
        const struct window *w = window_at(f, i);
        bytes += sizeof(*w);
        for (int s = 0; s < SIDES; s++) {
            const struct window_log *l = &w->side[s];
            bytes += sizeof(*l->parts) << l->bits;
            for (uint32_t p = 0; p < 1u << l->bits; p++)
                bytes += l->parts[p].capacity * sizeof(struct log_chunk *);
        }
    }
    return bytes + window_walk_bytes(&f->join->walk);
}

static inline void assert_in_order_of_start(const struct join_fixture *f)
{
    assert_true(f->join->head + f->join->count <= f->join->capacity);
    for (size_t i = 0; i < f->join->count; i++) {
        const struct window *w = window_at(f, i);
        assert_int_equal(w->end - w->start, f->plan->size_ms);
        assert_int_equal(plan_window_start(f->plan, w->start), w->start);
        if (i > 0 && i == f->join->closed) /* a flush may have closed its elder half */
            assert_true(window_at(f, i - 1)->start <= w->start);
        else if (i > 0)
            assert_true(window_at(f, i - 1)->start < w->start);
    }
}

static inline void assert_sound(const struct join_fixture *f)
{
    assert_in_order_of_start(f);
    assert_int_equal(op->state_bytes(f->join), state_by_hand(f));
    for (int s = 0; s < SIDES; s++) {
        uint64_t held = op->held(f->join, s);
        assert_int_equal(op->held_recount(f->join, s), held);
        assert_true(books_balance(&f->books.side[s], held));
    }
}

/* --- verbs --- */

/* A line whose first field is the key. False: refused. */
static inline bool push_line(struct join_fixture *f, enum side side, int64_t t, struct bytes line)
{
    struct bytes key = {line.p, (size_t)((char *)memchr(line.p, ',', line.n) - line.p)};
    struct record_parts parts = {
        .hash = (uint32_t)(hash_bytes(key.p, key.n, 0) >> 32), .body = line, .key = key};
    uint64_t number = f->books.side[side].received;
    bool taken;

    if (key.n == 0) {
        parts.key = BYTES_NULL;
        parts.flags = RECORD_NULL_KEY;
    }
    taken = op->push(f->join, side, &parts, 1, number, (struct stream_time){t}) == 1;
    f->books.side[side].received += taken;
    return taken;
}

static inline void push(struct join_fixture *f, enum side side, int64_t t, const char *line)
{
    assert_true(push_line(f, side, t, bytes_of(line)));
    assert_sound(f);
}

static inline void advance(struct join_fixture *f, int64_t t)
{
    op->advance(f->join, (struct stream_time){t});
}

static inline size_t pull(struct join_fixture *f, struct result *ret, size_t max, int64_t fuel)
{
    size_t n = op->pull(f->join, ret, max, &fuel);

    for (size_t i = 0; i < n; i++)
        f->books.results[ret[i].kind]++;
    return n;
}

static inline void tell(struct join_fixture *f, const struct result *r)
{
    if (r->window_start != f->window_told)
        buf_printf(&f->told, "[%" PRId64 ",%" PRId64 ")", r->window_start, r->window_end);
    f->window_told = r->window_start;
    append_result(f->plan, r, &f->told);
}

/* Everything that is due, as text. */
static inline const char *drain_by(struct join_fixture *f, size_t max, int64_t fuel)
{
    struct result results[RESULTS_MAX];

    buf_clear(&f->told);
    f->window_told = INT64_MIN;
    while (op->has_work(f->join)) {
        size_t n = pull(f, results, max, fuel);
        for (size_t i = 0; i < n; i++)
            tell(f, &results[i]);
        assert_sound(f);
    }
    assert_int_equal(pull(f, results, max, fuel), 0);
    return buf_text(&f->told);
}

static inline const char *drain(struct join_fixture *f)
{
    return drain_by(f, RESULTS_MAX, ALL_FUEL);
}

static inline const char *end(struct join_fixture *f)
{
    advance(f, INT64_MAX);
    return drain(f);
}

static inline int64_t due(const struct join_fixture *f)
{
    return op->due(f->join).ms;
}

#endif
