/*
 * join/late_probe: what a record gives that comes within grace, after some of its windows
 * have fired: its new pairs, for each of these windows, at once.
 *
 * The partners are found by the panes' indexes (store/late_index), and chained, in order of
 * arrival, once for all of the windows; each window's results are a cross (join/cross) of
 * the record and those of the chain that lie in it. As in a walk, links take the place of
 * hashes until it is over.
 *
 * A semi join tells a left record at its first match, and a late right one may not be its
 * first. Where a record lies in many windows, no bit remembers what was matched in which:
 * the other rights are asked once more.
 */
#ifndef JOIN_LATE_PROBE_H
#define JOIN_LATE_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "join/cross.h"
#include "join/pane.h"
#include "join/window_runs.h"
#include "model/books.h"
#include "model/plan.h"
#include "model/result.h"
#include "store/late_index.h"

enum probe_step { PROBE_LOOK, PROBE_LINK, PROBE_DERIVE, PROBE_TELL, PROBE_RESTORE };

/* The records of the key in one pane, beside the run of the same place. */
struct probe_chain {
    int64_t pane_start;
    const struct late_side *index;
    uint32_t entry; /* the next one */
};

struct probe_side {
    struct window_runs runs;
    struct probe_chain *chains; /* owned; by time */
    uint32_t count, capacity;
    uint32_t head, tail; /* of the chain of them all; references */
    uint32_t from, to;   /* those of the window at hand */
};

struct late_probe {
    const struct plan *plan;
    struct slab_pool *pool;   /* of the panes; not owned */
    uint64_t tables_kept_max; /* bytes that its tables may keep between two probes */
    bool under_way;
    enum probe_step step;
    struct cross cross;

    enum side side; /* of the late record */
    struct record *record;
    struct pane *own_pane;
    uint32_t hash;         /* that it and its partners have */
    int64_t end, last_end; /* of the window at hand, and of the last one */
    bool asks_own_side;    /* for other records of its own side, too */
    struct pane **panes;   /* of all the windows; the array is owned */
    size_t pane_count, pane_capacity, next_pane;
    uint64_t index_bytes; /* that indexes have grown by and the owner was not told of */
    struct probe_side from[SIDES];
    uint32_t own;      /* the record, as a reference */
    enum side at_side; /* link, restore: the next record */
    uint32_t at;
};

void late_probe_init(struct late_probe *p, const struct plan *plan, struct books *books,
                     struct slab_pool *pool, uint64_t tables_kept_max);
void late_probe_done(struct late_probe *p);

/* The record that was appended last to the log of `own`, for the windows that end from
 * `first_end` to `last_end`; `panes` are all that lie in these, by time. They must stay, and
 * take no records, until the probe is over. Its key is not NULL. */
void late_probe_begin(struct late_probe *p, struct pane *const *panes, size_t count,
                      struct pane *own, enum side side, const struct record_parts *parts,
                      int64_t first_end, int64_t last_end);

/* As engine_pull(). The probe is over when `under_way` is false. */
size_t late_probe_pull(struct late_probe *p, struct result *ret, size_t max, int64_t *fuel);

/* Bytes that the probe itself holds. */
uint64_t late_probe_bytes(const struct late_probe *p);

#endif
