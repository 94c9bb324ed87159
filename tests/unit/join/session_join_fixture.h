/*
 * The session operator alone, with what the engine would give it. Its state and its books
 * are counted anew after each step.
 */
#ifndef UNIT_JOIN_JOIN_SESSION_FIXTURE_H
#define UNIT_JOIN_JOIN_SESSION_FIXTURE_H

#include "join/session_join.h"
#include "join_fixture.h"

#define ALL_FUEL    (INT64_C(1) << 40)
#define RESULTS_MAX 64

/* clang-format off */
static const struct operator *const op = &operator_session;
/* clang-format on */

struct session_fixture {
    struct plan *plan; /* owned */
    struct books books;
    struct slab_pool *pool;
    uint64_t state_bytes_max;
    struct session_join *join;
    int64_t start_told, end_told; /* of the session that the last result was of */
    struct buf told;
};

/* The gap is 100; lines are `key,id,ok,`. */
#define SESSION_FIELDS "k, id, ok boolean, t timestamp_ms"
#define SESSION_PLAN(...)                                                                          \
    PLAN(.match = MATCH_SESSION, .gap_ms = 100, .fields = {SESSION_FIELDS, SESSION_FIELDS},        \
         __VA_ARGS__)
#define EVENT_PLAN(...) SESSION_PLAN(.time = TIME_EVENT, __VA_ARGS__)

static inline struct session_fixture *open_session(struct plan *plan)
{
    struct session_fixture *f = mem_alloc_zeroed(1, sizeof(*f));

    f->plan = plan;
    f->pool = slab_pool_new();
    f->state_bytes_max = plan->state_bytes_max;
    f->join = op->create(&(struct operator_context){
        .plan = plan,
        .books = &f->books,
        .pool = f->pool,
        .state_bytes_max = &f->state_bytes_max,
    });
    f->start_told = f->end_told = INT64_MIN;
    buf_init(&f->told);
    return f;
}

static inline void close_session(struct session_fixture *f)
{
    op->destroy(f->join);
    slab_pool_free(f->pool); /* all is back */
    plan_free(f->plan);
    buf_done(&f->told);
    mem_free(f);
}

/* --- what it says of itself --- */

/* Chunks, pieces, segments and blocks are the pool's; beside them there are directories. */
static inline uint64_t state_by_hand(const struct session_fixture *f)
{
    const struct session_join *j = f->join;
    const struct keyed_table *sessions = &j->pool.table;

    return slab_used(f->pool) + slots_bytes(&j->records[SIDE_LEFT].chunks) +
           slots_bytes(&j->records[SIDE_RIGHT].chunks) + slots_bytes(&sessions->entries.slots) +
           slots_bytes(&j->pool.mores.slots) + sessions->buckets.capacity * sizeof(void *) +
           (j->open.heap.items.capacity + j->due.heap.items.capacity) * sizeof(void *);
}

static inline void assert_sound(const struct session_fixture *f)
{
    assert_int_equal(op->state_bytes(f->join), state_by_hand(f));
    for (int s = 0; s < SIDES; s++) {
        uint64_t held = op->held(f->join, s);
        assert_int_equal(operator_recount(op, f->join, s), held);
        assert_true(books_balance(&f->books.side[s], held));
    }
}

static inline void assert_empty(const struct session_fixture *f)
{
    assert_int_equal(op->state_bytes(f->join), 0);
    assert_int_equal(slab_used(f->pool), 0);
    assert_int_equal(op->due(f->join).ms, INT64_MAX);
}

/* --- verbs --- */

/* A line whose first field is the key; without one the key is NULL, or empty where the
 * plan has none. */
static inline enum push_stop push_line(struct session_fixture *f, enum side side, int64_t t,
                                       struct bytes line)
{
    bool has_key = f->plan->side[side].key.count > 0;
    struct bytes key = {line.p, (size_t)((char *)memchr(line.p, ',', line.n) - line.p)};
    struct record_parts parts = {.body = line, .flags = RECORD_TIMED, .time = t};
    size_t taken;
    enum push_stop stop;

    if (!has_key)
        key = BYTES_LIT("");
    parts.hash = (uint32_t)(hash_bytes(key.p, key.n, 0) >> 32);
    parts.key = key;
    if (has_key && key.n == 0) {
        parts.key = BYTES_NULL;
        parts.flags |= RECORD_NULL_KEY;
    }
    stop = op->push(f->join, side, &parts, 1, f->books.side[side].received, &taken);
    assert_int_equal(taken, stop == PUSH_ALL);
    f->books.side[side].received += stop != PUSH_FULL;
    f->books.side[side].late += stop == PUSH_LATE;
    return stop;
}

static inline void push(struct session_fixture *f, enum side side, int64_t t, const char *line)
{
    assert_int_equal(push_line(f, side, t, bytes_of(line)), PUSH_ALL);
    assert_sound(f);
}

static inline void push_late(struct session_fixture *f, enum side side, int64_t t, const char *line)
{
    assert_int_equal(push_line(f, side, t, bytes_of(line)), PUSH_LATE);
    assert_sound(f);
}

static inline void advance(struct session_fixture *f, int64_t t)
{
    op->advance(f->join, (struct stream_time){t});
}

static inline size_t pull(struct session_fixture *f, struct result *ret, size_t max, int64_t fuel)
{
    size_t n = op->pull(f->join, ret, max, &fuel);

    assert_true(n <= max);
    if (n == 0 && fuel > 0)
        assert_false(op->has_work(f->join));
    for (size_t i = 0; i < n; i++) {
        if (ret[i].kind == RESULT_FAILED)
            f->books.results_rejected++;
        else
            f->books.results[ret[i].kind]++;
    }
    return n;
}

static inline void tell(struct session_fixture *f, const struct result *r)
{
    if (r->window_start != f->start_told || r->window_end != f->end_told)
        buf_printf(&f->told, "[%" PRId64 ",%" PRId64 ")", r->window_start, r->window_end);
    f->start_told = r->window_start;
    f->end_told = r->window_end;
    append_result(f->plan, r, &f->told);
}

/* Everything that is due, as text. */
static inline const char *drain_by(struct session_fixture *f, size_t max, int64_t fuel)
{
    struct result results[RESULTS_MAX];

    buf_clear(&f->told);
    f->start_told = f->end_told = INT64_MIN;
    while (op->has_work(f->join)) {
        size_t n = pull(f, results, max, fuel);
        for (size_t i = 0; i < n; i++)
            tell(f, &results[i]);
        assert_sound(f);
    }
    assert_int_equal(pull(f, results, max, fuel), 0);
    return buf_text(&f->told);
}

static inline const char *drain(struct session_fixture *f)
{
    return drain_by(f, RESULTS_MAX, ALL_FUEL);
}

static inline const char *end(struct session_fixture *f)
{
    advance(f, INT64_MAX);
    return drain(f);
}

static inline int64_t due(const struct session_fixture *f)
{
    return op->due(f->join).ms;
}

#endif
