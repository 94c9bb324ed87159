/*
 * A window, records put into it by hand, and a walk over it with the books beside.
 */
#ifndef UNIT_JOIN_WINDOW_WALK_FIXTURE_H
#define UNIT_JOIN_WINDOW_WALK_FIXTURE_H

#include "join/window_walk.h"
#include "join_fixture.h"
#include "recount.h"

#define ALL_FUEL    (INT64_C(1) << 40)
#define RESULTS_MAX 64
#define ANY_ROOM    UINT64_MAX
/* Records are chained in small groups: so many units may be spent beyond what is there. */
#define OVERSPENT_MAX 64

struct walk_fixture {
    struct plan *plan; /* owned */
    struct books books;
    struct slab_pool *pool;
    struct pane window; /* a tumbling one */
    struct window_walk walk;
    struct result results[RESULTS_MAX]; /* of the last pull */
    size_t count;
    struct buf told;
};

static inline void open_window(struct walk_fixture *f)
{
    f->window.start = 10000;
    f->window.end = f->window.first_end = f->window.last_end = 20000;
    window_log_init(&f->window.side[SIDE_LEFT], 0);
    window_log_init(&f->window.side[SIDE_RIGHT], 0);
}

static inline struct walk_fixture *open_walk(struct plan *plan)
{
    struct walk_fixture *f = mem_alloc_zeroed(1, sizeof(*f));

    f->plan = plan;
    f->pool = slab_pool_new();
    window_walk_init(&f->walk, plan, &f->books, f->pool, 0);
    open_window(f);
    buf_init(&f->told);
    return f;
}

static inline void close_window(struct walk_fixture *f)
{
    window_log_done(&f->window.side[SIDE_LEFT], f->pool);
    window_log_done(&f->window.side[SIDE_RIGHT], f->pool);
}

static inline void close_walk(struct walk_fixture *f)
{
    window_walk_done(&f->walk);
    close_window(f);
    slab_pool_free(f->pool); /* all is back */
    plan_free(f->plan);
    buf_done(&f->told);
    mem_free(f);
}

/* --- records --- */

static inline void put_parts(struct walk_fixture *f, enum side side, struct record_parts parts)
{
    parts.flags |= RECORD_TIME32;
    if (parts.key.p == NULL)
        parts.flags |= RECORD_NULL_KEY;
    assert_true(window_log_append(&f->window.side[side], f->pool, &parts,
                                  f->books.side[side].received++, ANY_ROOM));
}

/* A line whose first field is the key; an empty one is NULL. */
static inline void put_hashed(struct walk_fixture *f, enum side side, const char *line,
                              uint32_t hash)
{
    struct bytes key = {line, (size_t)(strchr(line, ',') - line)};

    if (key.n == 0)
        key = BYTES_NULL;
    put_parts(f, side, (struct record_parts){.hash = hash, .body = bytes_of(line), .key = key});
}

static inline void put(struct walk_fixture *f, enum side side, const char *line)
{
    struct bytes key = {line, (size_t)(strchr(line, ',') - line)};
    put_hashed(f, side, line, (uint32_t)(hash_bytes(key.p, key.n, 0) >> 32));
}

/* `lines`: separated by spaces. */
static inline void put_all(struct walk_fixture *f, enum side side, const char *lines)
{
    char *copy = mem_strdup(lines), *rest = copy, *line;

    while ((line = strsep(&rest, " ")) != NULL)
        put(f, side, line);
    mem_free(copy);
}

static inline void split(struct walk_fixture *f, unsigned bits)
{
    window_log_split(&f->window.side[SIDE_LEFT], f->pool, bits);
    window_log_split(&f->window.side[SIDE_RIGHT], f->pool, bits);
}

/* --- walking --- */

static inline void assert_books(const struct walk_fixture *f)
{
    for (int s = 0; s < SIDES; s++) {
        const struct window_log *l = &f->window.side[s];
        assert_true(books_balance(&f->books.side[s], l->undecided));
        assert_int_equal(log_recount(l), l->undecided);
    }
}

static inline bool record_is(const struct record *r, bool matched)
{
    return r == NULL || (record_has(r, RECORD_DECIDED) && record_has(r, RECORD_MATCHED) == matched);
}

/* A record that is in a result is decided, and its bits agree with what was made of it. */
static inline void assert_fates(const struct result *r)
{
    bool matched = r->kind == RESULT_PAIR || r->kind == RESULT_SEMI;

    if (r->kind == RESULT_FAILED)
        return;
    assert_true(record_is(r->record[SIDE_LEFT], matched));
    assert_true(record_is(r->record[SIDE_RIGHT], matched));
}

static inline size_t pull(struct walk_fixture *f, size_t max, int64_t fuel)
{
    int64_t left = fuel;

    f->count = window_walk_pull(&f->walk, f->results, max, &left);
    assert_true(f->count <= max);
    assert_in_range(fuel - left, f->count, fuel + OVERSPENT_MAX);
    for (size_t i = 0; i < f->count; i++) {
        assert_int_equal(f->results[i].window_start, f->window.start);
        assert_int_equal(f->results[i].window_end, f->window.end);
        assert_fates(&f->results[i]);
    }
    assert_books(f);
    return f->count;
}

static inline void begin(struct walk_fixture *f)
{
    buf_clear(&f->told);
    window_walk_begin(&f->walk, (struct pane *const[]){&f->window}, 1, f->window.end,
                      CROSS_TELL | CROSS_CLOSE);
}

/* All results, as text, in order. */
static inline const char *walk_by(struct walk_fixture *f, size_t max, int64_t fuel)
{
    begin(f);
    do {
        pull(f, max, fuel);
        for (size_t i = 0; i < f->count; i++)
            append_result(f->plan, &f->results[i], &f->told);
        if (f->count == 0 && fuel == ALL_FUEL) /* nothing, with fuel left: it is over */
            assert_int_equal(f->walk.step, WALK_END);
    } while (f->walk.under_way);
    assert_int_equal(f->window.side[SIDE_LEFT].undecided, 0);
    assert_int_equal(f->window.side[SIDE_RIGHT].undecided, 0);
    assert_int_equal(slab_used(f->pool), 0);
    return buf_text(&f->told);
}

static inline const char *walk(struct walk_fixture *f)
{
    return walk_by(f, RESULTS_MAX, ALL_FUEL);
}

static inline void assert_side(const struct walk_fixture *f, enum side side, uint64_t matched,
                               uint64_t unmatched)
{
    assert_int_equal(f->books.side[side].matched, matched);
    assert_int_equal(f->books.side[side].unmatched, unmatched);
}

#endif
