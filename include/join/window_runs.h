/*
 * join/window_runs: the records of one side of a window that is several panes.
 *
 * They lie in partitions of the panes' logs (runs), each in order of arrival. Here they
 * are put together: one directory of chunks, so that references (store/reference.h) reach
 * all of them, and their order of arrival over all. Of the runs that have begun each one's next
 * number is known (a heap), so who takes records keeps to one run up to the bound, where
 * another one's turn comes. A run begins when no other has anything before it: panes that
 * hardly overlap are merged at the price of reading them.
 *
 * A walk takes what belongs to its own partition, one of 1 << bits. A log may be parted
 * more finely, then several of its partitions are runs, or less, then its run has records
 * of other partitions as well, which the walk passes over.
 */
#ifndef JOIN_WINDOW_RUNS_H
#define JOIN_WINDOW_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/heap.h"
#include "join/cross.h"
#include "store/reference.h"
#include "store/window_log.h"

struct window_run {
    const struct log_part *part;
    uint32_t first_chunk;   /* where its chunks begin in the directory */
    uint32_t chunk, offset; /* its next record, in the partition */
    uint64_t later;         /* at the start: the lowest number in it and in those after it */
};

struct run_turn {
    uint64_t number; /* of the run's next record */
    uint32_t run;
};

struct window_runs {
    struct window_run *runs;    /* owned, in the order in which logs were added */
    struct cross_count *counts; /* owned, beside the runs: where each one's undecided are counted */
    uint32_t count, capacity;
    struct log_chunk **chunks; /* the directory; owned, the chunks are the logs' */
    uint32_t chunk_count, chunk_capacity;
    struct heap turns; /* of struct run_turn, the lowest number first; in no pool */
    uint32_t next;     /* this run, and those after it, come later than all these */
    uint64_t bound;    /* the first one's turn lasts while its numbers are below this */
};

/* All zero: it can be begun. */
void window_runs_done(struct window_runs *s); /* it can be begun anew */
void window_runs_begin(struct window_runs *s);

/* What of `l` belongs to partition `part` of 1 << bits. All must fit LOG_CHUNKS_MAX. */
void window_runs_add(struct window_runs *s, struct window_log *l, unsigned bits, uint32_t part);

/* This partition of it, whole. */
void window_runs_add_part(struct window_runs *s, struct window_log *l, uint32_t part);

/* All are added: the first record's turn. */
void window_runs_start(struct window_runs *s);

static inline bool window_runs_are_over(const struct window_runs *s)
{
    return s->turns.count == 0;
}

/* Whose turn it is; they are not over. */
static inline uint32_t window_runs_first(const struct window_runs *s)
{
    assert(!window_runs_are_over(s));
    return ((const struct run_turn *)s->turns.items.at[0])->run;
}

/* The record whose turn it is, and where it lies. NULL: it is another run's turn, or all
 * are over; then, and when no more shall be taken, window_runs_turn(). */
static inline struct record *window_runs_peek(const struct window_runs *s, uint32_t *ret_ref)
{
    struct window_run *run = &s->runs[window_runs_first(s)];

    for (; run->chunk < run->part->count; run->chunk++, run->offset = 0) {
        const struct log_chunk *c = run->part->chunks[run->chunk];
        if (run->offset < log_chunk_used(run->part, run->chunk)) {
            struct record *r = log_chunk_record(c, run->offset);
            *ret_ref = reference_make(run->first_chunk + run->chunk, run->offset);
            return c->first_number + r->number <= s->bound ? r : NULL;
        }
    }
    return NULL;
}

static inline struct window_run *window_runs_at(const struct window_runs *s)
{
    return &s->runs[window_runs_first(s)];
}

void window_runs_turn(struct window_runs *s);

/* The three in parts, for who knows himself what comes next: a run's turn comes with this
 * number; the first one's next number is this now; or it is over. */
void window_runs_wait(struct window_runs *s, uint32_t run, uint64_t number);
void window_runs_renew(struct window_runs *s, uint64_t number);
void window_runs_drop(struct window_runs *s);

uint64_t window_runs_bytes(const struct window_runs *s);

#endif
