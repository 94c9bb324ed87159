#include "store/walk_table.h"

#include <string.h>

#include "base/mem.h"

#define SLOTS_MIN 64

/* Lone entries take no slots, so there may be more entries than slots. */
static bool walk_table_ok(const struct walk_table *t)
{
    return t->count > WALK_NULL_KEY && t->count <= t->capacity &&
           (t->slot_mask & (t->slot_mask + 1)) == 0 && t->slot_mask < t->slot_capacity;
}

void walk_table_done(struct walk_table *t)
{
    mem_free(t->entries);
    mem_free(t->slots);
    *t = (struct walk_table){0};
}

static void slots_reset(struct walk_table *t, uint32_t slots)
{
    if (slots > t->slot_capacity) {
        t->slots = mem_realloc(t->slots, slots * sizeof(*t->slots));
        t->new_bytes += (slots - t->slot_capacity) * sizeof(*t->slots);
        t->slot_capacity = slots;
    }
    memset(t->slots, 0, slots * sizeof(*t->slots));
    t->slot_mask = slots - 1;
}

void walk_table_grow_entries(struct walk_table *t)
{
    t->capacity = t->capacity == 0 ? SLOTS_MIN : 2 * t->capacity;
    t->entries = mem_realloc(t->entries, t->capacity * sizeof(*t->entries));
}

void walk_table_begin(struct walk_table *t)
{
    uint32_t slots = SLOTS_MIN;

    /* Its neighbour before had about as many keys. */
    while (slots < WALK_SLOTS_A_KEY * t->count)
        slots *= 2;
    slots_reset(t, slots);
    if (t->capacity == 0)
        walk_table_grow_entries(t);
    t->entries[WALK_NULL_KEY] = (struct walk_entry){0};
    t->count = WALK_NULL_KEY + 1;
    assert(walk_table_ok(t));
}

uint32_t walk_table_slot_behind(const struct walk_table *t, uint32_t slot, uint32_t hash,
                                struct bytes key)
{
    do
        slot = (slot + 1) & t->slot_mask;
    while (t->slots[slot] != 0 && !walk_table_is_at(t, slot, hash, key));
    return slot;
}

static void slot_put(struct walk_table *t, uint32_t entry)
{
    uint32_t at = t->entries[entry].hash & t->slot_mask;

    while (t->slots[at] != 0)
        at = (at + 1) & t->slot_mask;
    t->slots[at] = entry;
}

void walk_table_grow_slots(struct walk_table *t)
{
    assert(walk_table_ok(t));
    slots_reset(t, 2 * (t->slot_mask + 1));
    for (uint32_t i = WALK_NULL_KEY + 1; i < t->count; i++) {
        if (!record_has(walk_entry_record(&t->entries[i]), RECORD_NULL_KEY))
            slot_put(t, i);
    }
}
