/*
 * join/window_walk: a due window, joined partition by partition, as results are
 * asked for.
 *
 * The window is some panes (join/pane). Each partition is walked twice: `build` chains its
 * records by key, `emit` gives each key's results (join/cross). Both can stop at any
 * record and go on later. A link in the chains takes the place of a record's hash, which
 * the key's entry remembers: where the panes live on after the walk, hashes are restored
 * key by key; where they do not, memory is given back partition by partition.
 *
 * With several panes, records are chained in order of arrival over all of them. Panes may
 * be parted more or less finely than the walk: a partition of theirs is then one of
 * several, or is passed over more than once.
 *
 * Fates are decided here: matched with the first match, unmatched when the last window of
 * a record is closed. Rules: semantics.md section 2.
 */
#ifndef JOIN_WINDOW_WALK_H
#define JOIN_WINDOW_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "join/cross.h"
#include "join/pane.h"
#include "join/window_runs.h"
#include "model/books.h"
#include "model/plan.h"
#include "model/result.h"
#include "store/reference.h"
#include "store/walk_table.h"
#include "store/window_log.h"

enum walk_step { WALK_BUILD, WALK_EMIT, WALK_END };

struct window_walk {
    const struct plan *plan;
    struct slab_pool *pool;
    struct slab_pile *spent;  /* where chunks go that are done with; NULL: back to the pool */
    uint64_t tables_kept_max; /* bytes that its tables may keep between two walks */
    bool pairs_plain;         /* two records of a key are a pair, and that is all */
    bool under_way;
    struct pane **panes; /* of the window; the array is owned */
    size_t pane_count, pane_capacity;
    struct cross cross; /* over the key at hand */

    /* what kind of walk it is */
    bool direct;      /* over one pane: its partitions as they are */
    bool dies;        /* with the pane: what is walked is given back */
    bool once;        /* it dies, and was in no window before: nobody is matched yet */
    bool silent;      /* no row can come of it, only fates */
    bool pads[SIDES]; /* this walk does */
    bool plain;       /* this walk makes pairs, and plain ones */

    unsigned bits;    /* it has 1 << bits partitions */
    uint32_t part;    /* at hand */
    uint32_t dropped; /* partitions whose memory is given back: all below */
    enum walk_step step;
    int64_t debt; /* fuel to be paid for putting the partition together */

    /* build: the next record */
    enum side side;
    uint32_t chunk, offset;         /* direct ... */
    struct window_runs runs[SIDES]; /* ... or among these */

    struct walk_table table;
    uint32_t entry;          /* emit: the one that is next */
    enum side restored_side; /* its next record to be restored */
    uint32_t restored;
};

void window_walk_init(struct window_walk *w, const struct plan *plan, struct books *books,
                      struct slab_pool *pool, uint64_t tables_kept_max);
void window_walk_done(struct window_walk *w);

/* Over the panes, in order of time, of the window that ends at `end`. `tasks`: CROSS_TELL to
 * fire it, CROSS_CLOSE to close it, or both. The panes must stay, and take no records,
 * until the walk is over. */
void window_walk_begin(struct window_walk *w, struct pane *const *panes, size_t count, int64_t end,
                       unsigned tasks);

/* As engine_pull(). What earlier results pointed at is given back first. When w->step is
 * WALK_END and it is called again, the walk is over, and w->under_way false. The fuel may
 * be overspent by a few units, for records are taken in small groups, and by what the first
 * touch of memory takes (WALK_PAGE_FUEL). */
size_t window_walk_pull(struct window_walk *w, struct result *ret, size_t max, int64_t *fuel);

/* Bytes that the walk itself holds: bounded by the keys and panes of one partition. */
uint64_t window_walk_bytes(const struct window_walk *w);

#endif
