/*
 * join/pane: time, cut where windows start and end.
 *
 *     windows of 5, every 3:    [0       5)
 *                                     [3       8)
 *                                           [6      11)
 *     panes:                       [3 5)[5 6)[6 8)...
 *
 * All records of a pane lie in the same windows, and a window is a union of panes, so a
 * record is stored once, however many windows hold it. Tumbling windows are one pane each.
 * What lies between windows (slide > size) is no pane.
 *
 * A pane is there from its first record until its last window has closed. Panes lie in a
 * directory, by time; both their first and their last windows are in the same order.
 */
#ifndef JOIN_PANE_H
#define JOIN_PANE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slab.h"
#include "lang/side.h"
#include "model/plan.h"
#include "store/window_log.h"

/* Partitions serve caches: none for small windows, 1 << PANE_PART_BITS from so many bytes a side
 * on. (Finer ones, of large windows: join/window_shape.) */
#define PANE_PART_BITS 4
#define PANE_PART_FROM (UINT64_C(64) << 10)

struct late_index;

/* How a pane begins. */
struct pane_shape {
    unsigned bits;               /* of its logs */
    uint16_t chunk_least[SIDES]; /* and their chunks */
};

struct pane {
    int64_t start, end;            /* [start, end), milliseconds */
    int64_t first_end, last_end;   /* the ends of the first and of the last of its windows */
    struct window_log side[SIDES]; /* both with the same bits */
    struct late_index *late; /* owned, store/late_index; NULL: no late record has asked for it */
};

/* The windows that hold a time: their ends, `slide` apart. */
struct pane_windows {
    uint64_t count; /* 0: it lies between windows */
    int64_t first_end, last_end;
};

struct pane_windows pane_windows_of(const struct plan *plan, int64_t t);

/* Has each pane one window only? */
static inline bool pane_is_window(const struct plan *plan)
{
    return !plan_windows_overlap(plan);
}

struct pane_list {
    struct pane **panes; /* owned, by start; [head, head + count) are there */
    size_t head, count, capacity;
};

void pane_list_done(struct pane_list *l, struct slab_pool *pool);

static inline struct pane *pane_list_at(const struct pane_list *l, size_t i)
{
    assert(i < l->count);
    return l->panes[l->head + i];
}

/* How many panes start before `start`. */
size_t pane_list_before(const struct pane_list *l, int64_t start);

/* The pane that holds `t`; NULL: there is none. */
struct pane *pane_list_find(const struct pane_list *l, int64_t t);

/* The lowest end, above `after`, of a window that a pane lies in; PANE_NO_WINDOW. */
int64_t pane_list_next_end(const struct pane_list *l, const struct plan *plan, int64_t after);
#define PANE_NO_WINDOW INT64_MAX

/* The pane that holds `t`, a time within windows; a new one, of `shape`, if there is none. */
struct pane *pane_list_open(struct pane_list *l, const struct plan *plan, int64_t t,
                            const struct pane_shape *shape);

/* Takes the pane out: it is the caller's. */
struct pane *pane_list_take(struct pane_list *l, size_t i);
void pane_free(struct pane *p, struct slab_pool *pool);

/* The two in one, for a pane that holds no chunks any more or may not stay. */
void pane_list_drop(struct pane_list *l, struct slab_pool *pool, size_t i);

/* All that a pane has allocated, with itself, and the directory: they count as state. */
uint64_t pane_bytes(const struct pane *p);

/* Parts a pane that has come to hold more on `side` than goes well unparted, if this fits `room`
 * bytes. What windows come to tells how the next panes begin (join/window_shape). */
void pane_grow(struct pane *p, enum side side, struct slab_pool *pool, uint64_t room);
static inline uint64_t pane_list_bytes(const struct pane_list *l)
{
    return l->capacity * sizeof(struct pane *);
}

/* Tells of its records of a side. */
static inline void pane_tell(const struct pane *p, enum side side, const struct held_listener *to)
{
    window_log_list(&p->side[side], p->start, to);
}

static inline bool pane_is_empty(const struct pane *p)
{
    return p->side[SIDE_LEFT].chunks + p->side[SIDE_RIGHT].chunks == 0;
}

#endif
