/*
 * store/heap_pages: the places of a heap, in pages of the pool.
 *
 * A heap grows by a page at a time, so no call copies more than a page, and gives pages
 * back. The first page begins small, and moves as it grows.
 */
#ifndef STORE_HEAP_PAGES_H
#define STORE_HEAP_PAGES_H

#include <stddef.h>
#include <stdint.h>

#include "base/slab.h"

/* Places in a page of full size. */
#define HEAP_PAGE_PLACES(type) (SLAB_CHUNK_MAX / sizeof(type))

struct heap_pages {
    void **at; /* owned, and so are the pages */
    uint32_t count, capacity;
    uint32_t place_size;
    uint64_t page_bytes;
};

/* Without pages it takes no memory. */
void heap_pages_init(struct heap_pages *p, size_t place_size);
void heap_pages_done(struct heap_pages *p, struct slab_pool *pool);

/* What heap_pages_widen() allocates. */
uint64_t heap_pages_growth(const struct heap_pages *p, uint64_t places);
/* `places` are in use: sees to it that there is one more. */
void heap_pages_widen(struct heap_pages *p, struct slab_pool *pool, uint64_t places);
/* No more than `places` are in use from now on. */
void heap_pages_shrink(struct heap_pages *p, struct slab_pool *pool, uint64_t places);

/* All that is allocated: counts as state. */
static inline uint64_t heap_pages_bytes(const struct heap_pages *p)
{
    return p->page_bytes + (uint64_t)p->capacity * sizeof(*p->at);
}

#endif
