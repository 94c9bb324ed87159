#include "store/heap_pages.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"

void heap_pages_init(struct heap_pages *p, size_t place_size)
{
    *p = (struct heap_pages){.place_size = (uint32_t)place_size};
}

static uint64_t page_size(const struct heap_pages *p)
{
    return p->count == 1 ? p->page_bytes : SLAB_CHUNK_MAX;
}

void heap_pages_done(struct heap_pages *p, struct slab_pool *pool)
{
    for (uint32_t i = 0; i < p->count; i++)
        slab_give(pool, p->at[i], page_size(p));
    mem_free(p->at);
    heap_pages_init(p, p->place_size);
}

/* Places that are there. A page may have a little more than its places need. */
static uint64_t room(const struct heap_pages *p)
{
    return p->count * (page_size(p) / p->place_size);
}

static bool first_is_small(const struct heap_pages *p)
{
    return p->count == 1 && p->page_bytes < SLAB_CHUNK_MAX;
}

static uint32_t next_capacity(const struct heap_pages *p)
{
    if (p->count < p->capacity)
        return p->capacity;
    return p->capacity == 0 ? 1 : 2 * p->capacity;
}

uint64_t heap_pages_growth(const struct heap_pages *p, uint64_t places)
{
    uint64_t directory = (next_capacity(p) - p->capacity) * sizeof(*p->at);

    if (places < room(p))
        return 0;
    if (first_is_small(p))
        return p->page_bytes;
    return directory + (p->count == 0 ? SLAB_CHUNK_MIN : SLAB_CHUNK_MAX);
}

static void first_widen(struct heap_pages *p, struct slab_pool *pool)
{
    void *wider = slab_take(pool, 2 * p->page_bytes);

    memcpy(wider, p->at[0], p->page_bytes);
    slab_give(pool, p->at[0], p->page_bytes);
    p->at[0] = wider;
    p->page_bytes *= 2;
}

static void page_add(struct heap_pages *p, struct slab_pool *pool)
{
    uint32_t capacity = next_capacity(p);
    size_t size = p->count == 0 ? SLAB_CHUNK_MIN : SLAB_CHUNK_MAX;

    if (capacity > p->capacity) {
        p->at = mem_realloc(p->at, capacity * sizeof(*p->at));
        p->capacity = capacity;
    }
    p->at[p->count++] = slab_take(pool, size);
    p->page_bytes += size;
}

void heap_pages_widen(struct heap_pages *p, struct slab_pool *pool, uint64_t places)
{
    if (places < room(p))
        return;
    if (first_is_small(p))
        first_widen(p, pool);
    else
        page_add(p, pool);
}

void heap_pages_shrink(struct heap_pages *p, struct slab_pool *pool, uint64_t places)
{
    if (places == 0)
        heap_pages_done(p, pool);
    while (p->count > 1 && places <= (p->count - 1) * (SLAB_CHUNK_MAX / p->place_size)) {
        slab_give(pool, p->at[--p->count], SLAB_CHUNK_MAX);
        p->page_bytes -= SLAB_CHUNK_MAX;
    }
}
