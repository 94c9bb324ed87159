/*
 * The interval operator alone, with what the engine would give it, and scripts for it:
 *
 *     R 10000 k x; L 7999 k a; wm 12000; EOI
 *
 * A record has a time, a key (null: NULL), an id, and what `ok` and `n` are to be. Time goes
 * on as the engine would have it: in processing time with each record; in event time
 * to the lower of the two sides' highest times, less one, or as `wm` says. What comes is
 * told as it comes; a record that is late altogether as late(id).
 */
#ifndef UNIT_JOIN_JOIN_INTERVAL_FIXTURE_H
#define UNIT_JOIN_JOIN_INTERVAL_FIXTURE_H

#include "join/interval_join.h"
#include "join_fixture.h"

#define ALL_FUEL    (INT64_C(1) << 40)
#define RESULTS_MAX 64

/* clang-format off */
static const struct operator *const op = &operator_interval;
/* clang-format on */

#define INTERVAL_FIELDS "k, id, ok boolean, n bigint, t timestamp_ms"
#define INTERVAL_PLAN(...)                                                                         \
    PLAN(.match = MATCH_INTERVAL, .fields = {INTERVAL_FIELDS, INTERVAL_FIELDS}, __VA_ARGS__)
#define EVENT_PLAN(...) INTERVAL_PLAN(.time = TIME_EVENT, __VA_ARGS__)

/* How results are asked for. */
struct pulling {
    size_t max;   /* at a time */
    int64_t fuel; /* at a time */
    bool lazy;    /* only when a record has to wait, and at the end */
};
#define PULL_AT_ONCE ((struct pulling){RESULTS_MAX, ALL_FUEL, false})

struct interval_fixture {
    struct plan *plan; /* owned */
    struct books books;
    struct slab_pool *pool;
    uint64_t state_bytes_max;
    struct interval_join *join;
    int64_t time, own[SIDES];
    struct pulling pulling;
    struct result last[RESULTS_MAX]; /* of the last pull: good until the next ... */
    size_t last_count;
    struct buf last_told; /* ... when they told this */
    struct buf told;
};

static inline struct interval_fixture *open_interval(struct plan *plan)
{
    struct interval_fixture *f = mem_alloc_zeroed(1, sizeof(*f));

    f->plan = plan;
    f->pool = slab_pool_new();
    f->state_bytes_max = plan->state_bytes_max;
    f->join = op->create(&(struct operator_context){
        .plan = plan,
        .books = &f->books,
        .pool = f->pool,
        .state_bytes_max = &f->state_bytes_max,
    });
    f->time = f->own[SIDE_LEFT] = f->own[SIDE_RIGHT] = INT64_MIN;
    f->pulling = PULL_AT_ONCE;
    buf_init(&f->last_told);
    buf_init(&f->told);
    return f;
}

static inline void close_interval(struct interval_fixture *f)
{
    op->destroy(f->join);
    slab_pool_free(f->pool); /* all is back */
    plan_free(f->plan);
    buf_done(&f->last_told);
    buf_done(&f->told);
    mem_free(f);
}

/* --- what it says of itself --- */

/* Chunks, pieces, pages are the pool's; beside them there are directories. */
static inline uint64_t state_by_hand(const struct interval_fixture *f)
{
    const struct key_chains *c = &f->join->chains;
    uint64_t bytes = slab_used(f->pool) + slots_bytes(&c->keys.entries.slots) +
                     c->keys.buckets.capacity * sizeof(void *);

    for (int s = 0; s < SIDES; s++)
        bytes += slots_bytes(&c->side[s].chunks) +
                 f->join->side[s].expiry.heap.items.capacity * sizeof(void *);
    return bytes;
}

static inline void assert_books(const struct interval_fixture *f)
{
    for (int s = 0; s < SIDES; s++)
        assert_true(books_balance(&f->books.side[s], op->held(f->join, s)));
}

static inline void assert_sound(const struct interval_fixture *f)
{
    assert_int_equal(op->state_bytes(f->join), state_by_hand(f));
    for (int s = 0; s < SIDES; s++)
        assert_int_equal(operator_recount(op, f->join, s), op->held(f->join, s));
    assert_books(f);
}

/* Nothing is held, nothing waits. */
static inline void assert_empty(const struct interval_fixture *f)
{
    assert_int_equal(op->state_bytes(f->join), 0);
    assert_int_equal(slab_used(f->pool), 0);
    assert_int_equal(op->due(f->join).ms, INT64_MAX);
    assert_false(op->has_work(f->join));
}

/* --- out --- */

static inline void tell(const struct interval_fixture *f, const struct result *r, struct buf *to)
{
    assert_true(r->window_start == RESULT_NO_WINDOW && r->window_end == RESULT_NO_WINDOW);
    append_result(f->plan, r, to);
}

/* What the last pull gave is still there. */
static inline void assert_last_is_good(struct interval_fixture *f)
{
    struct buf again;

    buf_init(&again);
    for (size_t i = 0; i < f->last_count; i++)
        tell(f, &f->last[i], &again);
    assert_string_equal(buf_text(&again), buf_text(&f->last_told));
    buf_done(&again);
}

static inline void pull(struct interval_fixture *f)
{
    int64_t fuel = f->pulling.fuel;

    assert_last_is_good(f);
    f->last_count = op->pull(f->join, f->last, f->pulling.max, &fuel);
    assert_true(f->last_count <= f->pulling.max);
    buf_clear(&f->last_told);
    for (size_t i = 0; i < f->last_count; i++) {
        tell(f, &f->last[i], &f->last_told);
        if (f->last[i].kind == RESULT_FAILED)
            f->books.results_rejected++;
        else
            f->books.results[f->last[i].kind]++;
    }
    buf_append_text(&f->told, buf_text(&f->last_told));
    assert_last_is_good(f);
}

static inline void drain(struct interval_fixture *f)
{
    while (op->has_work(f->join)) {
        pull(f);
        assert_books(f);
    }
}

/* --- in --- */

static inline void advance(struct interval_fixture *f, int64_t t)
{
    if (t <= f->time)
        return;
    f->time = t;
    op->advance(f->join, (struct stream_time){t});
    if (!f->pulling.lazy)
        drain(f);
}

static inline struct record_parts parts_of(const struct interval_fixture *f, enum side side,
                                           int64_t t, struct bytes line)
{
    struct bytes key = {line.p, (size_t)((char *)memchr(line.p, ',', line.n) - line.p)};
    struct record_parts parts = {.body = line, .flags = RECORD_TIMED, .time = t};

    if (f->plan->side[side].key.count == 0)
        key.n = 0;
    else if (key.n == 0)
        parts.flags |= RECORD_NULL_KEY;
    parts.hash = (uint32_t)(hash_bytes(key.p, key.n, f->plan->hash_seed) >> 32);
    parts.key = (parts.flags & RECORD_NULL_KEY) != 0 ? BYTES_NULL : key;
    return parts;
}

/* Without a pull. */
static inline enum push_stop push_line(struct interval_fixture *f, enum side side, int64_t t,
                                       struct bytes line)
{
    struct record_parts parts = parts_of(f, side, t, line);
    struct books_side *books = &f->books.side[side];
    size_t taken;
    enum push_stop stop = op->push(f->join, side, &parts, 1, books->received, &taken);

    assert_int_equal(taken, stop == PUSH_ALL);
    books->received += stop == PUSH_ALL || stop == PUSH_LATE;
    books->late += stop == PUSH_LATE;
    assert_last_is_good(f);
    return stop;
}

/* Pulls what has to come first. */
static inline enum push_stop push(struct interval_fixture *f, enum side side, int64_t t,
                                  struct bytes line)
{
    enum push_stop stop;

    while ((stop = push_line(f, side, t, line)) == PUSH_WORK_FIRST) {
        assert_true(op->has_work(f->join));
        pull(f);
    }
    if (!f->pulling.lazy)
        drain(f);
    return stop;
}

/* A record comes at `t`, or with that time; time goes on before it. */
static inline enum push_stop arrive(struct interval_fixture *f, enum side side, int64_t t,
                                    struct bytes line)
{
    int64_t *own = &f->own[side], other = f->own[side_other(side)];

    if (f->plan->time == TIME_EVENT) {
        *own = t - 1 > *own ? t - 1 : *own;
        advance(f, *own < other ? *own : other);
    } else {
        advance(f, t);
    }
    return push(f, side, t, line);
}

static inline void run_record(struct interval_fixture *f, const char *command)
{
    enum side side = command[0] == 'L' ? SIDE_LEFT : SIDE_RIGHT;
    char key[16], id[16], ok[16] = "", n[16] = "", line[96];
    int64_t t;

    assert_true(sscanf(command + 1, "%" SCNd64 " %15s %15s %15s %15s", &t, key, id, ok, n) >= 3);
    snprintf(line, sizeof(line), "%s,%s,%s,%s,", strcmp(key, "null") == 0 ? "" : key, id, ok, n);
    switch (arrive(f, side, t, bytes_of(line))) {
    case PUSH_ALL:
        break;
    case PUSH_LATE:
        buf_printf(&f->told, "late(%s)", id);
        break;
    default:
        fail_msg("%s is not taken", command);
    }
}

static inline void run_command(struct interval_fixture *f, const char *command)
{
    if (command[0] == 'L' || command[0] == 'R')
        run_record(f, command);
    else if (strncmp(command, "wm ", 3) == 0)
        advance(f, strtoll(command + 3, NULL, 10));
    else if (strcmp(command, "EOI") == 0)
        advance(f, INT64_MAX);
    else if (strcmp(command, "flush") == 0)
        op->flush(f->join);
    else
        fail_msg("%s is no command", command);
    assert_sound(f);
}

/* Sets f->told, and returns it. */
static inline const char *run(struct interval_fixture *f, const char *script)
{
    char *copy = mem_strdup(script), *rest = copy, *command;

    buf_clear(&f->told);
    while ((command = strsep(&rest, ";")) != NULL)
        run_command(f, command + strspn(command, " "));
    drain(f);
    assert_sound(f);
    mem_free(copy);
    return buf_text(&f->told);
}

#endif
