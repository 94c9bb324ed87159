/*
 * core/expiry: in which order the records of one side leave.
 *
 * A record leaves `reach` after its own time; those of one instant leave in order of
 * arrival. Most come in order of time: they wait in a queue, which costs 4 bytes a record.
 * Those that do not wait in a heap (core/due_heap), at 16 bytes; so does one that came
 * with a time far beyond the others, as soon as the next comes, or all after it would
 * have to.
 */
#ifndef CORE_EXPIRY_H
#define CORE_EXPIRY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slab.h"
#include "core/arena.h"
#include "core/due_heap.h"

struct expiry_piece {
    struct expiry_piece *next;
    uint32_t size;     /* as it was taken from the pool */
    uint32_t capacity; /* references, which follow it */
};

struct expiry {
    const struct arena *arena; /* not owned; its records have times */
    const int64_t *base;       /* of those that are RECORD_TIME32; not owned. Set by the owner */
    int64_t reach;             /* milliseconds */
    uint64_t piece_bytes;

    /* the queue */
    struct expiry_piece *first, *last; /* owned, with all between them; NULL: it is empty */
    uint32_t from, to;                 /* its first in `first`, and behind its last in `last` */
    int64_t first_instant;             /* of its first, ... */
    int64_t before_instant;            /* ... of any but its last at most, ... */
    int64_t last_instant;              /* ... and of its last */

    struct due_heap heap;
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

/* Is there one that leaves at `by` or before? */
static inline bool expiry_is_due(const struct expiry *e, int64_t by)
{
    return (e->first != NULL && e->first_instant <= by) || due_heap_is_due(&e->heap, by);
}

/* The first to leave, and when. False: none is there. */
bool expiry_first(const struct expiry *e, int64_t *ret_instant, uint32_t *ret_ref);
/* Those that leave first of the queue, up to `max`; not all that there are. Returns how many:
 * they leave in this order, whatever is added meanwhile, but others between them. */
size_t expiry_ahead(const struct expiry *e, uint32_t *ret_refs, size_t max);
/* Takes it away. */
void expiry_pop(struct expiry *e, struct slab_pool *pool);

/* All that is allocated: counts as state. */
static inline uint64_t expiry_bytes(const struct expiry *e)
{
    return e->piece_bytes + due_heap_bytes(&e->heap);
}

#endif
