/*
 * store/due_heap: what is due when, in any order of arrival.
 *
 * A heap of four branches over pages of the pool (base/pages). 16 bytes each.
 */
#ifndef STORE_DUE_HEAP_H
#define STORE_DUE_HEAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/pages.h"
#include "base/slab.h"

struct due {
    int64_t instant; /* milliseconds */
    uint32_t tie;    /* of one instant the lower comes first: a count that may pass 2^32 ... */
    uint32_t ref;    /* ... but not go on by 2^31 while one waits. The caller's */
};

struct due_heap {
    struct pages pages; /* of struct due */
    uint64_t count;
};

/* An empty heap takes no memory. */
void due_heap_init(struct due_heap *h);
void due_heap_done(struct due_heap *h, struct slab_pool *pool);

/* What the next due_heap_add() allocates. */
uint64_t due_heap_growth(const struct due_heap *h);
void due_heap_add(struct due_heap *h, struct slab_pool *pool, struct due due);

/* The first of all; NULL: it is empty. Good until the next call. */
const struct due *due_heap_first(const struct due_heap *h);
/* Takes it away; it must be there. */
void due_heap_pop(struct due_heap *h, struct slab_pool *pool);

/* Is `a` before `b`? */
static inline bool due_before(const struct due *a, const struct due *b)
{
    return a->instant != b->instant ? a->instant < b->instant : (int32_t)(a->tie - b->tie) < 0;
}

/* All that is allocated: counts as state. */
static inline uint64_t due_heap_bytes(const struct due_heap *h)
{
    return pages_bytes(&h->pages);
}

#endif
