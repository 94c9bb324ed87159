#include "store/merge.h"

#include <assert.h>

#include "base/mem.h"

#define MERGE_MIN 8

void merge_done(struct merge *m)
{
    mem_free(m->heap);
    *m = (struct merge){0};
}

static void swap(struct merge *m, uint32_t a, uint32_t b)
{
    struct merge_run run = m->heap[a];

    m->heap[a] = m->heap[b];
    m->heap[b] = run;
}

static void sink(struct merge *m, uint32_t at)
{
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= m->count)
            return;
        if (child + 1 < m->count && m->heap[child + 1].number < m->heap[child].number)
            child++;
        if (m->heap[at].number <= m->heap[child].number)
            return;
        swap(m, at, child);
        at = child;
    }
}

void merge_add(struct merge *m, uint64_t number, uint32_t run)
{
    uint32_t at = m->count;

    if (m->count == m->capacity) {
        m->capacity = m->capacity == 0 ? MERGE_MIN : 2 * m->capacity;
        m->heap = mem_realloc(m->heap, m->capacity * sizeof(*m->heap));
    }
    m->heap[m->count++] = (struct merge_run){number, run};
    for (; at > 0 && m->heap[at].number < m->heap[(at - 1) / 2].number; at = (at - 1) / 2)
        swap(m, at, (at - 1) / 2);
}

void merge_renew(struct merge *m, uint64_t number)
{
    assert(m->count > 0 && number >= m->heap[0].number);
    m->heap[0].number = number;
    sink(m, 0);
}

void merge_drop(struct merge *m)
{
    assert(m->count > 0);
    m->heap[0] = m->heap[--m->count];
    sink(m, 0);
}
