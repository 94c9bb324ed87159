/*
 * base/heap: of items in any order, the first one.
 *
 * A heap of four branches over pages. How items are ordered is said with each call, as a
 * constant, so that comparing and copying them is inlined; who has a heap wraps what it
 * needs in functions of its own.
 */
#ifndef BASE_HEAP_H
#define BASE_HEAP_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/pages.h"

#define HEAP_BRANCHES 4
#define HEAP_ITEM_MAX 64
/* Items before this one are in the caches. */
#define HEAP_FETCH_FROM 4096

#define HEAP_INLINE static inline __attribute__((always_inline))

struct heap {
    struct pages items;
    uint64_t count;
};

struct heap_order {
    size_t size; /* of an item, HEAP_ITEM_MAX at most */
    bool (*comes_before)(const void *a, const void *b);
};

/* An empty heap takes no memory. */
static inline void heap_init(struct heap *h, const struct heap_order *o)
{
    pages_init(&h->items, o->size);
    h->count = 0;
}

static inline void heap_done(struct heap *h, struct slab_pool *pool)
{
    pages_done(&h->items, pool);
    h->count = 0;
}

/* All that is allocated: counts as state; and what the next heap_add() allocates. */
static inline uint64_t heap_bytes(const struct heap *h)
{
    return pages_bytes(&h->items);
}

static inline uint64_t heap_growth(const struct heap *h)
{
    return pages_growth(&h->items, h->count);
}

/* The first of all is at 0; what hangs from place `i` comes behind it. */
HEAP_INLINE void *heap_at(const struct heap *h, const struct heap_order *o, uint64_t i)
{
    return pages_at(&h->items, o->size, i);
}

/* NULL: it is empty. */
HEAP_INLINE void *heap_first(const struct heap *h, const struct heap_order *o)
{
    return h->count == 0 ? NULL : heap_at(h, o, 0);
}

/* The place that place `i`, which is not the first, hangs from. */
static inline uint64_t heap_above(uint64_t i)
{
    return (i - 1) / HEAP_BRANCHES;
}

HEAP_INLINE void heap_put(struct heap *h, const struct heap_order *o, uint64_t i, const void *item)
{
    memcpy(heap_at(h, o, i), item, o->size);
}

HEAP_INLINE void heap_add(struct heap *h, const struct heap_order *o, struct slab_pool *pool,
                          const void *item)
{
    uint64_t i = h->count, above;

    pages_widen(&h->items, pool, h->count++);
    for (; i > 0; i = above) {
        above = heap_above(i);
        if (!o->comes_before(item, heap_at(h, o, above)))
            break;
        heap_put(h, o, i, heap_at(h, o, above));
    }
    heap_put(h, o, i, item);
}

/* Whichever of the branches from `from` on it will be, its own branches are looked at next. */
HEAP_INLINE void heap_fetch_branches(const struct heap *h, const struct heap_order *o,
                                     uint64_t from)
{
    if (from < HEAP_FETCH_FROM || HEAP_BRANCHES * (from + HEAP_BRANCHES) >= h->count)
        return;
    for (uint64_t i = 1; i <= HEAP_BRANCHES * HEAP_BRANCHES; i += 2)
        __builtin_prefetch(heap_at(h, o, HEAP_BRANCHES * from + i));
}

/* The first of the branches of `i`, or h->count. */
HEAP_INLINE uint64_t heap_branch(const struct heap *h, const struct heap_order *o, uint64_t i)
{
    uint64_t from = HEAP_BRANCHES * i + 1, to = from + HEAP_BRANCHES, first = from;
    const void *best;

    if (from >= h->count)
        return h->count;
    heap_fetch_branches(h, o, from);
    best = heap_at(h, o, from);
    for (uint64_t j = from + 1; j < (to < h->count ? to : h->count); j++) {
        const void *item = heap_at(h, o, j);
        if (!o->comes_before(item, best))
            continue;
        best = item;
        first = j;
    }
    return first;
}

/* In place of the first. Returns the place where the item came to rest: what lay on the way
 * there has come up by one. */
HEAP_INLINE uint64_t heap_renew(struct heap *h, const struct heap_order *o, const void *item)
{
    char copy[HEAP_ITEM_MAX];
    uint64_t i = 0, branch;

    assert(o->size <= sizeof(copy));
    memcpy(copy, item, o->size);
    while ((branch = heap_branch(h, o, i)) < h->count &&
           o->comes_before(heap_at(h, o, branch), copy)) {
        heap_put(h, o, i, heap_at(h, o, branch));
        i = branch;
    }
    heap_put(h, o, i, copy);
    return i;
}

/* Takes the first away; it must be there. Returns as heap_renew(). Memory stays. */
HEAP_INLINE uint64_t heap_drop(struct heap *h, const struct heap_order *o)
{
    assert(h->count > 0);
    if (--h->count == 0)
        return 0;
    return heap_renew(h, o, pages_at(&h->items, o->size, h->count));
}

/* The same, and memory goes. */
HEAP_INLINE uint64_t heap_pop(struct heap *h, const struct heap_order *o, struct slab_pool *pool)
{
    uint64_t rest = heap_drop(h, o);

    pages_shrink(&h->items, pool, h->count);
    return rest;
}

#endif
