#include "core/due_heap.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"

#define PAGE_DUES (SLAB_CHUNK_MAX / sizeof(struct due))
#define BRANCHES  4

void due_heap_init(struct due_heap *h)
{
    *h = (struct due_heap){0};
}

static uint64_t page_size(const struct due_heap *h)
{
    return h->page_count == 1 ? h->page_bytes : SLAB_CHUNK_MAX;
}

void due_heap_done(struct due_heap *h, struct slab_pool *pool)
{
    for (uint32_t i = 0; i < h->page_count; i++)
        slab_give(pool, h->pages[i], page_size(h));
    mem_free(h->pages);
    due_heap_init(h);
}

static struct due *due_at(const struct due_heap *h, uint64_t i)
{
    return &h->pages[i / PAGE_DUES][i % PAGE_DUES];
}

/* --- pages --- */

static bool is_full(const struct due_heap *h)
{
    return h->count == h->page_bytes / sizeof(struct due);
}

/* The first page begins small, and moves as it grows. */
static bool widens(const struct due_heap *h)
{
    return h->page_count == 1 && h->page_bytes < SLAB_CHUNK_MAX;
}

static uint32_t next_page_capacity(const struct due_heap *h)
{
    if (h->page_count < h->page_capacity)
        return h->page_capacity;
    return h->page_capacity == 0 ? 1 : 2 * h->page_capacity;
}

uint64_t due_heap_growth(const struct due_heap *h)
{
    uint64_t directory = (next_page_capacity(h) - h->page_capacity) * sizeof(*h->pages);

    if (!is_full(h))
        return 0;
    if (widens(h))
        return h->page_bytes;
    return directory + (h->page_count == 0 ? SLAB_CHUNK_MIN : SLAB_CHUNK_MAX);
}

static void page_widen(struct due_heap *h, struct slab_pool *pool)
{
    struct due *wider = slab_take(pool, 2 * h->page_bytes);

    memcpy(wider, h->pages[0], h->page_bytes);
    slab_give(pool, h->pages[0], h->page_bytes);
    h->pages[0] = wider;
    h->page_bytes *= 2;
}

static void page_add(struct due_heap *h, struct slab_pool *pool)
{
    uint32_t capacity = next_page_capacity(h);
    size_t size = h->page_count == 0 ? SLAB_CHUNK_MIN : SLAB_CHUNK_MAX;

    if (capacity > h->page_capacity) {
        h->pages = mem_realloc(h->pages, capacity * sizeof(*h->pages));
        h->page_capacity = capacity;
    }
    h->pages[h->page_count++] = slab_take(pool, size);
    h->page_bytes += size;
}

static void page_drop(struct due_heap *h, struct slab_pool *pool)
{
    slab_give(pool, h->pages[--h->page_count], SLAB_CHUNK_MAX);
    h->page_bytes -= SLAB_CHUNK_MAX;
}

/* --- the heap --- */

void due_heap_add(struct due_heap *h, struct slab_pool *pool, struct due due)
{
    uint64_t i = h->count;

    if (is_full(h)) {
        if (widens(h))
            page_widen(h, pool);
        else
            page_add(h, pool);
    }
    h->count++;
    while (i > 0 && due_before(&due, due_at(h, (i - 1) / BRANCHES))) {
        *due_at(h, i) = *due_at(h, (i - 1) / BRANCHES);
        i = (i - 1) / BRANCHES;
    }
    *due_at(h, i) = due;
}

const struct due *due_heap_first(const struct due_heap *h)
{
    return h->count == 0 ? NULL : due_at(h, 0);
}

/* The first of the branches of `i`, or h->count. */
static uint64_t first_branch(const struct due_heap *h, uint64_t i)
{
    uint64_t from = i * BRANCHES + 1, first = from;

    if (from >= h->count)
        return h->count;
    for (uint64_t j = from + 1; j < from + BRANCHES && j < h->count; j++)
        if (due_before(due_at(h, j), due_at(h, first)))
            first = j;
    return first;
}

void due_heap_pop(struct due_heap *h, struct slab_pool *pool)
{
    uint64_t i = 0, branch;
    struct due last;

    assert(h->count > 0);
    last = *due_at(h, --h->count);
    while ((branch = first_branch(h, i)) < h->count && due_before(due_at(h, branch), &last)) {
        *due_at(h, i) = *due_at(h, branch);
        i = branch;
    }
    if (h->count == 0) {
        due_heap_done(h, pool);
        return;
    }
    *due_at(h, i) = last;
    if (h->page_count > 1 && h->count <= (h->page_count - 1) * PAGE_DUES)
        page_drop(h, pool);
}
