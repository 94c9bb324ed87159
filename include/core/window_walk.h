/*
 * core/window_walk: a due window, joined partition by partition, as results are
 * asked for.
 *
 * Each partition is walked twice: `build` chains its records by key, `emit` gives
 * each key's results, left-major, in order of arrival. Both can stop at any
 * record and go on later; the cross product of a hot key is never anywhere but
 * in two positions. The chains cost no memory a record: a link takes the place
 * of the hash, which the key's entry remembers.
 *
 * Fates are decided here: matched with the first match, unmatched when all that
 * could have matched is passed. Rules: semantics.md section 2.
 */
#ifndef CORE_WINDOW_WALK_H
#define CORE_WINDOW_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/books.h"
#include "core/engine.h"
#include "core/expr.h"
#include "core/plan.h"
#include "core/window_log.h"

struct window {
    int64_t start, end;
    struct window_log side[SIDES]; /* both with the same bits once the walk has begun */
};

/* A record of the partition at hand: its chunk's index and its place therein. */
#define WALK_NONE UINT32_MAX

struct walk_entry {
    uint32_t hash;
    uint32_t head[SIDES], tail[SIDES]; /* references; WALK_NONE */
};

enum walk_step { WALK_BUILD, WALK_EMIT, WALK_END };

struct window_walk {
    const struct plan *plan;
    struct books *books;
    struct slab_pool *pool;
    uint64_t tables_kept_max;               /* bytes that its tables may keep between two walks */
    bool pairs_plain;                       /* two records of a key are a pair, and that is all */
    struct window *window;                  /* not owned; NULL: no walk is under way */
    uint32_t part;                          /* at hand ... */
    struct log_chunk *const *chunks[SIDES]; /* ... and its chunks */
    uint32_t dropped;                       /* partitions whose memory is given back: all below */
    enum walk_step step;

    /* build: the next record */
    enum side side;
    uint32_t chunk, offset;

    /* what build made: entry 0 holds the records with a NULL key */
    struct walk_entry *entries; /* owned; reused from partition to partition */
    uint32_t entry_count, entry_capacity;
    uint32_t *slots; /* owned; entry + 1, 0: free; open addressing */
    uint32_t slot_capacity, slot_mask;

    /* emit: the entry, the pair, or the lone record that is next */
    uint32_t entry;
    uint32_t left, right; /* references */
    bool lefts_done;
    struct bytes *fields[SIDES]; /* owned; for `on` */
};

void window_walk_init(struct window_walk *w, const struct plan *plan, struct books *books,
                      struct slab_pool *pool, uint64_t tables_kept_max);
void window_walk_done(struct window_walk *w);

/* The window must stay, and take no records, until the walk is over. */
void window_walk_begin(struct window_walk *w, struct window *window);

/* As engine_pull(). What earlier results pointed at is given back first. When
 * w->step is WALK_END and it is called again, w->window is NULL: the walk is over
 * and all records of the window are decided. The fuel may be overspent by a few
 * units: records are taken in small groups. */
size_t window_walk_pull(struct window_walk *w, struct result *ret, size_t max, int64_t *fuel);

/* Bytes that the walk itself holds: bounded by the keys of one partition. */
uint64_t window_walk_bytes(const struct window_walk *w);

#endif
