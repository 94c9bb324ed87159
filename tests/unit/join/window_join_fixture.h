/*
 * The operator alone, with what the engine would give it. Its state and its books are
 * counted anew after each step.
 */
#ifndef UNIT_JOIN_JOIN_WINDOW_FIXTURE_H
#define UNIT_JOIN_JOIN_WINDOW_FIXTURE_H

#include "join/window_join.h"
#include "join_fixture.h"

#define ALL_FUEL    (INT64_C(1) << 40)
#define RESULTS_MAX 64

static const struct operator* const op = & operator_window;

/* The operator alone, with what the engine would give it. */
struct join_fixture {
    struct plan *plan; /* owned */
    struct books books;
    struct slab_pool *pool;
    uint64_t state_bytes_max;
    struct window_join *join;
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

static inline struct pane *pane_at(const struct join_fixture *f, size_t i)
{
    assert_true(i < f->join->open.panes.count);
    return pane_list_at(&f->join->open.panes, i);
}

static inline uint64_t log_by_hand(const struct window_log *l)
{
    uint64_t bytes = sizeof(*l->parts) << l->bits;

    for (uint32_t p = 0; p < 1u << l->bits; p++)
        bytes += l->parts[p].capacity * sizeof(struct log_chunk *);
    return bytes;
}

static inline uint64_t index_by_hand(const struct late_index *x)
{
    uint64_t bytes = 0;

    for (int i = 0; x != NULL && i < SIDES; i++) {
        const struct late_side *s = &x->side[i];
        bytes += (sizeof(*s->places) << s->log->bits) + s->entries.capacity * sizeof(void *) +
                 s->keys.buckets.capacity * sizeof(void *) + slots_bytes(&s->keys.entries.slots);
    }
    return x == NULL ? 0 : sizeof(*x) + bytes;
}

static inline uint64_t age_by_hand(const struct window_age *a)
{
    uint64_t bytes = a->panes.capacity * sizeof(struct pane *) + lone_bytes(&a->lone);

    for (size_t i = 0; i < a->panes.count; i++) {
        const struct pane *p = pane_list_at(&a->panes, i);
        bytes += sizeof(*p) + index_by_hand(p->late);
        for (int s = 0; s < SIDES; s++)
            bytes += log_by_hand(&p->side[s]);
    }
    return bytes;
}

/* Panes, their logs, the directory, the walk: counted anew. */
static inline uint64_t state_by_hand(const struct join_fixture *f)
{
    uint64_t bytes = slab_used(f->pool) + age_by_hand(&f->join->open);

    for (const struct window_age *a = f->join->flushed; a != NULL; a = a->next)
        bytes += sizeof(*a) + age_by_hand(a);
    return bytes + window_walk_bytes(&f->join->walk) + late_probe_bytes(&f->join->probe) +
           f->join->near_miss.bytes;
}

static inline void assert_panes(const struct join_fixture *f, const struct pane_list *l)
{
    assert_true(l->head + l->count <= l->capacity);
    for (size_t i = 0; i < l->count; i++) {
        const struct pane *p = pane_list_at(l, i), *before = i == 0 ? p : pane_list_at(l, i - 1);
        struct pane_windows first = pane_windows_of(f->plan, p->start);
        struct pane_windows last = pane_windows_of(f->plan, p->end - 1);
        assert_true(p->start < p->end && (i == 0 || before->end <= p->start));
        assert_true(p->first_end >= before->first_end && p->last_end >= before->last_end);
        assert_true(first.first_end == p->first_end && first.last_end == p->last_end);
        assert_true(last.first_end == p->first_end && last.last_end == p->last_end);
    }
}

static inline void assert_chunks(const struct join_fixture *f)
{
    for (int s = 0; s < SIDES; s++) {
        uint64_t chunks = 0;
        for (const struct window_age *a = &f->join->open; a != NULL;
             a = a == &f->join->open ? f->join->flushed : a->next)
            for (size_t i = 0; i < a->panes.count; i++)
                chunks += pane_list_at(&a->panes, i)->side[s].chunks;
        assert_int_equal(f->join->chunks[s], chunks);
    }
}

static inline void assert_sound(const struct join_fixture *f)
{
    assert_panes(f, &f->join->open.panes);
    assert_chunks(f);
    assert_int_equal(op->state_bytes(f->join), state_by_hand(f));
    for (int s = 0; s < SIDES; s++) {
        uint64_t held = op->held(f->join, s);
        assert_int_equal(operator_recount(op, f->join, s), held);
        assert_true(books_balance(&f->books.side[s], held));
    }
}

/* --- verbs --- */

/* A line whose first field is the key. */
static inline enum push_stop push_stop_of(struct join_fixture *f, enum side side, int64_t t,
                                          struct bytes line)
{
    struct bytes key = {line.p, (size_t)((char *)memchr(line.p, ',', line.n) - line.p)};
    struct record_parts parts = {
        .hash = (uint32_t)(hash_bytes(key.p, key.n, 0) >> 32), .body = line, .key = key, .time = t};
    struct books_side *books = &f->books.side[side];
    enum push_stop stop;
    size_t taken;

    parts.flags = f->plan->size_ms <= UINT32_MAX ? RECORD_TIME32 : RECORD_TIMED;
    if (key.n == 0) {
        parts.key = BYTES_NULL;
        parts.flags |= RECORD_NULL_KEY;
        parts.hash = (uint32_t)hash_number(books->received);
    }
    stop = op->push(f->join, side, &parts, 1, books->received, &taken);
    assert_int_equal(taken, stop == PUSH_ALL);
    books->received += stop == PUSH_ALL || stop == PUSH_LATE;
    books->late += stop == PUSH_LATE;
    return stop;
}

/* False: refused. */
static inline bool push_line(struct join_fixture *f, enum side side, int64_t t, struct bytes line)
{
    return push_stop_of(f, side, t, line) == PUSH_ALL;
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
        if (ret[i].kind == RESULT_FAILED)
            f->books.results_rejected++;
        else
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
