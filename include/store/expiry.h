/*
 * store/expiry: in which order the records of one side leave.
 *
 * A record leaves `reach` after its own time; those of one instant leave in order of
 * arrival. Most come in order of time: they wait in a queue. There, records that lie one
 * behind the other in the arena, as most do, are one run, which costs 12 bytes however
 * many they are. Those that do not come in order wait in a heap, at 16
 * bytes each; so does one that came with a time far beyond the others, as soon as the next
 * comes, or all after it would have to.
 */
#ifndef STORE_EXPIRY_H
#define STORE_EXPIRY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fifo.h"
#include "base/heap.h"
#include "base/slab.h"
#include "store/arena.h"

/* Records that were added one after the other, and lie so too. */
struct expiry_run {
    uint32_t ref; /* of the first */
    uint32_t count;
    uint32_t tie; /* of the first: see struct expiry */
};

struct due {
    int64_t instant; /* milliseconds */
    uint32_t tie;    /* of one instant the lower comes first: a count that may pass 2^32 ... */
    uint32_t ref;    /* ... but not go on by 2^31 while one waits */
};

struct expiry {
    const struct arena *arena; /* not owned; its records have times */
    const int64_t *base;       /* of those that are RECORD_TIME32; not owned. Set by the owner */
    int64_t reach;             /* milliseconds */
    uint32_t added;            /* ever, and passes 2^32: ties of one instant (struct due) */

    /* the queue */
    struct fifo runs;       /* of struct expiry_run */
    uint32_t last_ref;      /* its last */
    uint32_t behind;        /* where the next one lies if it goes on the last run */
    int64_t before_instant; /* of any of its but the last at most, ... */
    int64_t last_instant;   /* ... and of the last */

    struct heap heap; /* of struct due */

    struct due head;     /* the first of all, while there is one */
    bool head_is_queued; /* it is the queue's */
};

void expiry_init(struct expiry *e, const struct arena *arena, int64_t reach);
void expiry_done(struct expiry *e, struct slab_pool *pool);

/* The time from which on a record of time `t` is gone. Times that no record can show are
 * held back to those that 64 bits can. */
static inline int64_t expiry_instant(const struct expiry *e, int64_t t)
{
    int64_t instant;

    if (__builtin_add_overflow(t, e->reach, &instant))
        return e->reach < 0 ? INT64_MIN : INT64_MAX;
    return instant;
}

/* What the next expiry_add() allocates at most. */
uint64_t expiry_growth(const struct expiry *e);
/* A record of the arena; it has to stay there until it is taken away here. */
void expiry_add(struct expiry *e, struct slab_pool *pool, uint32_t ref);

static inline bool expiry_is_empty(const struct expiry *e)
{
    return fifo_is_empty(&e->runs) && e->heap.count == 0;
}

/* Is there one that leaves at `by` or before? */
static inline bool expiry_is_due(const struct expiry *e, int64_t by)
{
    return !expiry_is_empty(e) && e->head.instant <= by;
}

/* The first to leave, and when; NULL: none is there. Good until the next call. */
static inline const struct due *expiry_first(const struct expiry *e)
{
    return expiry_is_empty(e) ? NULL : &e->head;
}

/* The one that leaves first, of two sides' first; `a`, if they leave at one instant. NULL: neither
 * is there. */
static inline const struct due *expiry_earlier(const struct due *a, const struct due *b)
{
    return a == NULL || (b != NULL && b->instant < a->instant) ? b : a;
}

/* Those that leave first of the queue, up to `max`; not all that there are. Returns how many:
 * they leave in this order, whatever is added meanwhile, but others between them. */
size_t expiry_ahead(const struct expiry *e, uint32_t *ret_refs, size_t max);
/* Tells of all, in any order. Their numbers are how they were added, if not how many ever were. */
void expiry_list(const struct expiry *e, const struct held_listener *to);

/* Takes it away. */
void expiry_pop(struct expiry *e, struct slab_pool *pool);

/* All that is allocated: counts as state. */
static inline uint64_t expiry_bytes(const struct expiry *e)
{
    return e->runs.bytes + heap_bytes(&e->heap);
}

#endif
