/*
 * store/slots: a directory of pieces of memory, each known by a small number.
 *
 * Stores take memory in pieces and name places in them by 32 bits. A number is free
 * again when its piece has gone, and the one freed last is given out first. Pieces do
 * not move; the directory does, as it grows. The pieces belong to whoever adds them,
 * and are at even addresses.
 */
#ifndef STORE_SLOTS_H
#define STORE_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SLOTS_NONE UINT32_MAX

struct slots {
    void **at; /* owned; what is odd is a free number: twice the next free one, and 1 */
    uint32_t count, capacity;
    uint32_t free; /* the first free number below count; SLOTS_NONE: none is */
    uint32_t used; /* pieces that are there */
};

void slots_init(struct slots *s);
void slots_done(struct slots *s); /* the pieces have gone, or are gone with */

uint32_t slots_add(struct slots *s, void *piece);
/* A directory without pieces takes no memory. */
void slots_remove(struct slots *s, uint32_t slot);

static inline bool slots_has(const struct slots *s, uint32_t slot)
{
    return slot < s->count && ((uintptr_t)s->at[slot] & 1) == 0;
}

/* Of the directory alone. */
static inline uint64_t slots_bytes(const struct slots *s)
{
    return (uint64_t)s->capacity * sizeof(*s->at);
}

/* By how much the next slots_add() makes it grow. */
uint64_t slots_growth(const struct slots *s);

#endif
