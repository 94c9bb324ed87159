#include "store/due_heap.h"

#include <assert.h>

#define BRANCHES 4

void due_heap_init(struct due_heap *h)
{
    *h = (struct due_heap){0};
    pages_init(&h->pages, sizeof(struct due));
}

void due_heap_done(struct due_heap *h, struct slab_pool *pool)
{
    pages_done(&h->pages, pool);
    h->count = 0;
}

static struct due *due_at(const struct due_heap *h, uint64_t i)
{
    return pages_at(&h->pages, sizeof(struct due), i);
}

uint64_t due_heap_growth(const struct due_heap *h)
{
    return pages_growth(&h->pages, h->count);
}

void due_heap_add(struct due_heap *h, struct slab_pool *pool, struct due due)
{
    uint64_t i = h->count;

    pages_widen(&h->pages, pool, h->count);
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
    if (h->count > 0)
        *due_at(h, i) = last;
    pages_shrink(&h->pages, pool, h->count);
}
