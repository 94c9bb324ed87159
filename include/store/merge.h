/*
 * store/merge: which of many runs of records comes next, in order of arrival.
 *
 * Each run is ordered by number in itself. The merge knows each one's next number (a heap),
 * so who takes records keeps to one run up to the bound, where another one's turn comes:
 * runs that hardly overlap are merged at the price of reading them.
 */
#ifndef STORE_MERGE_H
#define STORE_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct merge_run {
    uint64_t number; /* of its next record */
    uint32_t run;    /* what the owner knows it by */
};

struct merge {
    struct merge_run *heap; /* owned; the lowest number first */
    uint32_t count, capacity;
};

void merge_done(struct merge *m);

void merge_add(struct merge *m, uint64_t number, uint32_t run);

/* Whose turn it is; there is at least one. */
static inline uint32_t merge_first(const struct merge *m)
{
    return m->heap[0].run;
}

/* Its turn lasts while its numbers are below this. */
static inline uint64_t merge_bound(const struct merge *m)
{
    if (m->count < 2)
        return UINT64_MAX;
    if (m->count == 2 || m->heap[1].number < m->heap[2].number)
        return m->heap[1].number;
    return m->heap[2].number;
}

/* The first one's next number is this now; or it is over. */
void merge_renew(struct merge *m, uint64_t number);
void merge_drop(struct merge *m);

static inline uint64_t merge_bytes(const struct merge *m)
{
    return m->capacity * sizeof(struct merge_run);
}

#endif
