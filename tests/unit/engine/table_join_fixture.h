/*
 * Lookup and batch joins in an engine, and scripts for them:
 *
 *     R k,x,true ,y; EOR; L k,a j,b; END       batch: EOR ends the right side
 *     T k,x k,y; L k,a; T; L k,b; END          lookup: T swaps a new table in
 *
 * Rows are `k,id,ok` (what is left out is NULL); those of one step are one batch.
 */
#ifndef UNIT_ENGINE_TABLE_JOIN_FIXTURE_H
#define UNIT_ENGINE_TABLE_JOIN_FIXTURE_H

#include "engine_fixture.h"
#include "join/table_join.h"

/* How results are asked for. */
struct pulling {
    size_t max;   /* at a time */
    int64_t fuel; /* at a time */
    bool lazy;    /* only when a row has to wait, and at the end */
};

struct driven_join {
    struct engine_fixture *f;
    struct pulling pulling;
    int64_t now;
    struct buf told;
    struct result last[RESULTS_MAX]; /* of the last pull: good until the next ... */
    size_t last_count;
    struct buf last_told; /* ... when they told this */
};

#define TABLE_PLAN(...) PLAN(.match = MATCH_LOOKUP, __VA_ARGS__)
#define BATCH_PLAN(...) PLAN(.match = MATCH_BATCH, __VA_ARGS__)

static inline struct driven_join *open_join(struct plan *plan, struct pulling pulling)
{
    struct driven_join *j = mem_alloc_zeroed(1, sizeof(*j));

    j->f = open_engine(plan);
    j->pulling = pulling;
    j->now = 1000;
    return j;
}

static inline void close_join(struct driven_join *j)
{
    buf_done(&j->told);
    buf_done(&j->last_told);
    close_engine(j->f);
    mem_free(j);
}

static inline const struct table_join *operator_of(const struct driven_join *j)
{
    return engine_operator_state(j->f->engine);
}

/* --- out --- */

static inline void tell_last(const struct driven_join *j, struct buf *to)
{
    for (size_t i = 0; i < j->last_count; i++)
        append_result(j->f->plan, &j->last[i], to);
}

/* What was told of is still there when the next results are asked for. */
static inline size_t pull_some(struct driven_join *j)
{
    struct buf again = BUF_EMPTY;
    int64_t fuel = j->pulling.fuel;

    tell_last(j, &again);
    assert_string_equal(buf_text(&again), buf_text(&j->last_told));
    buf_done(&again);
    j->last_count = engine_pull(j->f->engine, j->last, j->pulling.max, &fuel);
    buf_clear(&j->last_told);
    tell_last(j, &j->last_told);
    buf_append_bytes(&j->told, buf_bytes(&j->last_told));
    assert_true(engine_books_balance(j->f->engine));
    if (j->last_count == 0 && fuel > 0)
        assert_false(engine_has_work(j->f->engine));
    return j->last_count;
}

static inline void pull_all(struct driven_join *j)
{
    while (engine_has_work(j->f->engine))
        pull_some(j);
}

/* --- in --- */

static inline void add_text(struct driven_join *j, enum side side, char *rows)
{
    char *line;

    while ((line = strsep(&rows, " ")) != NULL)
        if (*line != '\0')
            add_line(j->f, side, bytes_of(line));
}

/* All that was added. */
static inline void push_batch(struct driven_join *j, enum side side)
{
    struct batch *b = &j->f->batch[side];
    size_t at_row = 0;

    while (at_row < b->count) {
        at_row += engine_push(j->f->engine, side, b, at_row, at(j->now));
        assert_true(engine_books_balance(j->f->engine));
        if (at_row < b->count) {
            assert_int_equal(engine_holds(j->f->engine, side, NULL), ENGINE_RESULTS);
            pull_some(j);
        }
    }
    batch_clear(b);
    if (!j->pulling.lazy)
        pull_all(j);
}

/* A table of all that was added to the right side. */
static inline void swap_in(struct driven_join *j)
{
    struct batch *b = &j->f->batch[SIDE_RIGHT];
    struct lookup_table *t = engine_table_new(j->f->engine);
    struct buf fault = BUF_EMPTY;
    size_t at_row = 0;

    while (at_row < b->count) {
        int64_t fuel = j->pulling.fuel;
        at_row += engine_table_add(j->f->engine, t, b, at_row, &fuel, &fault);
        assert_string_equal(buf_text(&fault), "");
        assert_true(engine_books_balance(j->f->engine));
    }
    buf_done(&fault);
    batch_clear(b);
    engine_table_swap(j->f->engine, t, at(j->now));
    assert_true(engine_books_balance(j->f->engine));
    if (!j->pulling.lazy)
        pull_all(j);
}

static inline void end_all(struct driven_join *j)
{
    engine_end(j->f->engine, SIDE_RIGHT);
    engine_end(j->f->engine, SIDE_LEFT);
    pull_all(j);
    for (int s = 0; s < SIDES; s++)
        assert_int_equal(engine_held(j->f->engine, s), 0);
}

static inline void run_step(struct driven_join *j, char *step)
{
    step += strspn(step, " ");
    j->now += 10;
    if (strcmp(step, "END") == 0) {
        end_all(j);
    } else if (strcmp(step, "EOR") == 0) {
        engine_end(j->f->engine, SIDE_RIGHT);
    } else if (*step == 'L') {
        add_text(j, SIDE_LEFT, step + 1);
        push_batch(j, SIDE_LEFT);
    } else if (*step == 'R') {
        add_text(j, SIDE_RIGHT, step + 1);
        push_batch(j, SIDE_RIGHT);
    } else {
        assert_int_equal(*step, 'T');
        add_text(j, SIDE_RIGHT, step + 1);
        swap_in(j);
    }
}

static inline const char *run(struct driven_join *j, const char *script)
{
    char *copy = mem_strdup(script), *rest = copy, *step;

    while ((step = strsep(&rest, ";")) != NULL)
        run_step(j, step);
    mem_free(copy);
    return buf_text(&j->told);
}

#endif
