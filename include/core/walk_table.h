/*
 * core/walk_table: the keys of a partition that is walked, and the chains of their records.
 *
 * Chains cost no memory a record: a link takes the place of the hash, which the key's
 * entry remembers. Keys are found by open addressing; what is looked at for every record
 * is here, so that it is inlined.
 */
#ifndef CORE_WALK_TABLE_H
#define CORE_WALK_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/reference.h"
#include "core/side.h"

#define WALK_NULL_KEY 0 /* entry 0 chains the records with a NULL key, if they are chained */

struct walk_entry {
    uint32_t hash;
    uint32_t head[SIDES], tail[SIDES]; /* references; REFERENCE_NONE */
};

struct walk_table {
    struct walk_entry *entries; /* owned; reused from partition to partition */
    uint32_t count, capacity;
    uint32_t *slots; /* owned; entry + 1, 0: free */
    uint32_t slot_capacity, slot_mask;
};

void walk_table_done(struct walk_table *t); /* it can be begun anew */

/* Empty, but for the entry of NULL keys. */
void walk_table_begin(struct walk_table *t);

/* A key that none is like, with one record: no search finds it. */
void walk_table_add_lone(struct walk_table *t, enum side side, struct record *r, uint32_t ref);

void walk_table_grow_entries(struct walk_table *t);
void walk_table_grow_slots(struct walk_table *t);

static inline uint64_t walk_table_bytes(const struct walk_table *t)
{
    return t->capacity * sizeof(*t->entries) + t->slot_capacity * sizeof(*t->slots);
}

static inline bool walk_entry_has_key(const struct walk_entry *e,
                                      struct log_chunk *const *const chunks[SIDES],
                                      struct bytes key)
{
    enum side s = e->head[SIDE_LEFT] != REFERENCE_NONE ? SIDE_LEFT : SIDE_RIGHT;
    return bytes_equal(record_key(reference_record(chunks[s], e->head[s])), key);
}

/* False: there is none; *ret_slot is where it would be found. */
static inline bool walk_table_find(const struct walk_table *t,
                                   struct log_chunk *const *const chunks[SIDES],
                                   const struct record *r, uint32_t *ret, uint32_t *ret_slot)
{
    struct bytes key = record_key(r);
    uint32_t at = r->hash & t->slot_mask;

    for (; t->slots[at] != 0; at = (at + 1) & t->slot_mask) {
        uint32_t entry = t->slots[at] - 1;
        if (t->entries[entry].hash == r->hash &&
            walk_entry_has_key(&t->entries[entry], chunks, key)) {
            *ret = entry;
            return true;
        }
    }
    *ret_slot = at;
    return false;
}

/* Returns the entry. */
static inline uint32_t walk_table_add_entry(struct walk_table *t, uint32_t hash)
{
    struct walk_entry *e;

    if (t->count == t->capacity)
        walk_table_grow_entries(t);
    e = &t->entries[t->count];
    e->hash = hash;
    for (int s = 0; s < SIDES; s++)
        e->head[s] = e->tail[s] = REFERENCE_NONE;
    return t->count++;
}

/* A new key, to be found at `slot` from now on. */
static inline uint32_t walk_table_add(struct walk_table *t, uint32_t hash, uint32_t slot)
{
    uint32_t entry = walk_table_add_entry(t, hash);

    t->slots[slot] = entry + 1;
    if (2 * t->count > t->slot_mask)
        walk_table_grow_slots(t);
    return entry;
}

static inline void walk_table_chain(struct walk_table *t,
                                    struct log_chunk *const *const chunks[SIDES], uint32_t entry,
                                    enum side side, struct record *r, uint32_t ref)
{
    struct walk_entry *e = &t->entries[entry];

    if (e->tail[side] == REFERENCE_NONE)
        e->head[side] = ref;
    else
        reference_record(chunks[side], e->tail[side])->hash = ref;
    e->tail[side] = ref;
    r->hash = REFERENCE_NONE;
}

#endif
