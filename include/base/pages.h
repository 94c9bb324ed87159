/*
 * base/pages: items of one size, known by their places, which are counted from 0.
 *
 * They lie in pages of a pool. There come to be more by a page at a time, so no call copies
 * more than a page, and pages at the end are given back. The first page begins small, and
 * moves as it grows. Without a pool (NULL, always or never) the system's allocator serves.
 */
#ifndef BASE_PAGES_H
#define BASE_PAGES_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slab.h"

/* In a page of full size. */
#define PAGE_ITEMS(item_size) (SLAB_CHUNK_MAX / (item_size))

struct pages {
    void **at; /* owned, and so are the pages */
    uint32_t count, capacity;
    uint32_t item_size;
    uint64_t page_bytes;
    uint64_t room; /* for so many items */
};

/* Without items it takes no memory. */
void pages_init(struct pages *p, size_t item_size);
void pages_done(struct pages *p, struct slab_pool *pool); /* all zero is fine */

/* `items` are there: sees to it that there is room for one more. pages_growth() is what that
 * allocates. */
uint64_t pages_next(const struct pages *p);
void pages_add(struct pages *p, struct slab_pool *pool);

static inline uint64_t pages_growth(const struct pages *p, uint64_t items)
{
    return items < p->room ? 0 : pages_next(p);
}

static inline void pages_widen(struct pages *p, struct slab_pool *pool, uint64_t items)
{
    assert(items <= p->room);
    if (items == p->room)
        pages_add(p, pool);
}

/* No more than `items` are there from now on. */
void pages_shrink(struct pages *p, struct slab_pool *pool, uint64_t items);

/* For who says the size as a constant. */
static inline void *pages_at(const struct pages *p, size_t item_size, uint64_t i)
{
    return (char *)p->at[i / PAGE_ITEMS(item_size)] + i % PAGE_ITEMS(item_size) * item_size;
}

/* All that is allocated: counts as state. */
static inline uint64_t pages_bytes(const struct pages *p)
{
    return p->page_bytes + (uint64_t)p->capacity * sizeof(*p->at);
}

#endif
