#include "base/pages.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "base/mem.h"

void pages_init(struct pages *p, size_t item_size)
{
    assert(item_size > 0 && item_size <= SLAB_CHUNK_MIN);
    *p = (struct pages){.item_size = (uint32_t)item_size};
}

static bool pages_ok(const struct pages *p)
{
    return p->count <= p->capacity && (p->count == 0) == (p->room == 0) &&
           (p->count <= 1 || p->page_bytes == p->count * (uint64_t)SLAB_CHUNK_MAX);
}

static uint64_t page_size(const struct pages *p)
{
    return p->count == 1 ? p->page_bytes : SLAB_CHUNK_MAX;
}

static void *page_take(struct slab_pool *pool, size_t size)
{
    return pool != NULL ? slab_take(pool, size) : mem_alloc(size);
}

static void page_give(struct slab_pool *pool, void *page, size_t size)
{
    if (pool != NULL)
        slab_give(pool, page, size);
    else
        mem_free(page);
}

void pages_done(struct pages *p, struct slab_pool *pool)
{
    for (uint32_t i = 0; i < p->count; i++)
        page_give(pool, p->at[i], page_size(p));
    mem_free(p->at);
    *p = (struct pages){.item_size = p->item_size};
}

static bool first_is_small(const struct pages *p)
{
    return p->count == 1 && p->page_bytes < SLAB_CHUNK_MAX;
}

static uint32_t next_capacity(const struct pages *p)
{
    if (p->count < p->capacity)
        return p->capacity;
    return p->capacity == 0 ? 1 : 2 * p->capacity;
}

uint64_t pages_next(const struct pages *p)
{
    uint64_t directory = (next_capacity(p) - p->capacity) * sizeof(*p->at);

    if (first_is_small(p))
        return p->page_bytes;
    return directory + (p->count == 0 ? SLAB_CHUNK_MIN : SLAB_CHUNK_MAX);
}

static void first_widen(struct pages *p, struct slab_pool *pool)
{
    void *wider = page_take(pool, 2 * p->page_bytes);

    memcpy(wider, p->at[0], p->page_bytes);
    page_give(pool, p->at[0], p->page_bytes);
    p->at[0] = wider;
    p->page_bytes *= 2;
}

static void page_open(struct pages *p, struct slab_pool *pool)
{
    uint32_t capacity = next_capacity(p);
    size_t size = p->count == 0 ? SLAB_CHUNK_MIN : SLAB_CHUNK_MAX;

    if (capacity > p->capacity) {
        p->at = mem_realloc(p->at, capacity * sizeof(*p->at));
        p->capacity = capacity;
    }
    p->at[p->count++] = page_take(pool, size);
    p->page_bytes += size;
}

/* A page may be a little larger than its items. */
static void set_room(struct pages *p)
{
    p->room = p->count * (page_size(p) / p->item_size);
}

void pages_add(struct pages *p, struct slab_pool *pool)
{
    assert(pages_ok(p));
    if (first_is_small(p))
        first_widen(p, pool);
    else
        page_open(p, pool);
    set_room(p);
    assert(pages_ok(p));
}

void pages_shrink(struct pages *p, struct slab_pool *pool, uint64_t items)
{
    assert(items <= p->room);
    if (items == 0)
        pages_done(p, pool);
    while (p->count > 1 && items <= (p->count - 1) * PAGE_ITEMS(p->item_size)) {
        page_give(pool, p->at[--p->count], SLAB_CHUNK_MAX);
        p->page_bytes -= SLAB_CHUNK_MAX;
        set_room(p);
    }
}
