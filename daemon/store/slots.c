#include "store/slots.h"

#include <assert.h>

#include "base/mem.h"

#define SLOTS_MIN 4

void slots_init(struct slots *s)
{
    *s = (struct slots){.free = SLOTS_NONE};
}

void slots_done(struct slots *s)
{
    mem_free(s->at);
    slots_init(s);
}

static void *free_slot(uint32_t next)
{
    return (void *)((uintptr_t)next << 1 | 1);
}

static uint32_t next_free(const void *at)
{
    return (uint32_t)((uintptr_t)at >> 1);
}

static uint32_t next_capacity(const struct slots *s)
{
    if (s->free != SLOTS_NONE || s->count < s->capacity)
        return s->capacity;
    return s->capacity == 0 ? SLOTS_MIN : 2 * s->capacity;
}

uint64_t slots_growth(const struct slots *s)
{
    return (uint64_t)(next_capacity(s) - s->capacity) * sizeof(*s->at);
}

uint32_t slots_add(struct slots *s, void *piece)
{
    uint32_t capacity = next_capacity(s), slot = s->free;

    assert(piece != NULL && ((uintptr_t)piece & 1) == 0);
    if (capacity > s->capacity) {
        s->at = mem_realloc(s->at, capacity * sizeof(*s->at));
        s->capacity = capacity;
    }
    if (slot == SLOTS_NONE)
        slot = s->count++;
    else
        s->free = next_free(s->at[slot]);
    assert(slot < s->count && s->count <= s->capacity);
    s->at[slot] = piece;
    s->used++;
    return slot;
}

void slots_remove(struct slots *s, uint32_t slot)
{
    assert(s->used > 0 && slots_has(s, slot));
    s->at[slot] = free_slot(s->free);
    s->free = slot;
    if (--s->used == 0)
        slots_done(s);
}
