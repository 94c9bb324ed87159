/*
 * core/walk_table: the keys of a partition that is walked, and the chains of their records.
 *
 * Chains cost no memory a record: a link takes the place of the hash, which the key's
 * entry remembers. Keys are found by open addressing; what is looked at for every record
 * is here, so that it is inlined.
 */
#ifndef CORE_WALK_TABLE_H
#define CORE_WALK_TABLE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/reference.h"
#include "core/side.h"

#define WALK_NULL_KEY 0 /* entry 0 chains the records with a NULL key, if they are chained */

/* At least so many: a search that has to go on past a slot is a wrong guess of the processor,
 * which costs more than the memory does. */
#define WALK_SLOTS_A_KEY 4

/* Two in a cache line. */
struct walk_entry {
    const char *key; /* of its first record, and in it; NULL: no search finds it */
    uint32_t key_size, hash;
    uint32_t head[SIDES], tail[SIDES]; /* references; REFERENCE_NONE */
};
static_assert(sizeof(struct walk_entry) == 32, "a table counts on its size");

/* One record on each side: what most keys have. */
static inline bool walk_entry_is_pair(const struct walk_entry *e)
{
    return memcmp(e->head, e->tail, sizeof(e->head)) == 0 && e->head[SIDE_LEFT] != REFERENCE_NONE &&
           e->head[SIDE_RIGHT] != REFERENCE_NONE;
}

/* One record, and none on the other side. */
static inline bool walk_entry_is_alone(const struct walk_entry *e, enum side *ret_side)
{
    *ret_side = e->head[SIDE_LEFT] != REFERENCE_NONE ? SIDE_LEFT : SIDE_RIGHT;
    return e->head[side_other(*ret_side)] == REFERENCE_NONE &&
           e->head[*ret_side] == e->tail[*ret_side] && e->head[*ret_side] != REFERENCE_NONE;
}

#define WALK_PAGE      4096
#define WALK_PAGE_FUEL 1000 /* what the first touch of a page may take */

struct walk_table {
    struct walk_entry *entries; /* owned; reused from partition to partition */
    uint32_t count, capacity;
    uint32_t touched; /* entries that were ever used */
    uint32_t *slots;  /* owned; entries; 0, which no search finds: free */
    uint32_t slot_capacity, slot_mask;
    uint64_t new_bytes; /* touched for the first time, that walk_table_new_pages() did not tell */
};

void walk_table_done(struct walk_table *t); /* it can be begun anew */

/* Empty, but for the entry of NULL keys. */
void walk_table_begin(struct walk_table *t);

/* Pages touched for the first time since it was asked last. */
static inline uint64_t walk_table_new_pages(struct walk_table *t)
{
    uint64_t pages;

    if (t->count > t->touched) {
        t->new_bytes += (t->count - t->touched) * sizeof(*t->entries);
        t->touched = t->count;
    }
    pages = t->new_bytes / WALK_PAGE;
    t->new_bytes %= WALK_PAGE;
    return pages;
}

/* A key that none is like, with one record: no search finds it. */
void walk_table_add_lone(struct walk_table *t, enum side side, struct record *r, uint32_t ref);

void walk_table_grow_entries(struct walk_table *t);
void walk_table_grow_slots(struct walk_table *t);

static inline uint64_t walk_table_bytes(const struct walk_table *t)
{
    return t->capacity * sizeof(*t->entries) + t->slot_capacity * sizeof(*t->slots);
}

/* False: there is none; *ret_slot is where it would be found. */
static inline bool walk_table_find(const struct walk_table *t, uint32_t hash, struct bytes key,
                                   uint32_t *ret, uint32_t *ret_slot)
{
    uint32_t at = hash & t->slot_mask;

    for (; t->slots[at] != 0; at = (at + 1) & t->slot_mask) {
        const struct walk_entry *e = &t->entries[t->slots[at]];
        if (e->hash == hash && bytes_equal((struct bytes){e->key, e->key_size}, key)) {
            *ret = t->slots[at];
            return true;
        }
    }
    *ret_slot = at;
    return false;
}

/* Returns the entry. */
static inline uint32_t walk_table_add_entry(struct walk_table *t, uint32_t hash, struct bytes key)
{
    struct walk_entry *e;

    if (t->count == t->capacity)
        walk_table_grow_entries(t);
    e = &t->entries[t->count];
    e->hash = hash;
    e->key = key.p;
    e->key_size = (uint32_t)key.n;
    for (int s = 0; s < SIDES; s++)
        e->head[s] = e->tail[s] = REFERENCE_NONE;
    return t->count++;
}

/* A new key and its first record, to be found at `slot` from now on; the key's bytes have to
 * stay. Returns the entry. */
static inline uint32_t walk_table_add(struct walk_table *t, uint32_t hash, struct bytes key,
                                      uint32_t slot, enum side side, struct record *r, uint32_t ref)
{
    uint32_t entry = walk_table_add_entry(t, hash, key);

    t->entries[entry].head[side] = t->entries[entry].tail[side] = ref;
    r->hash = REFERENCE_NONE;
    t->slots[slot] = entry;
    if (WALK_SLOTS_A_KEY * t->count > t->slot_mask)
        walk_table_grow_slots(t);
    return entry;
}

/* One more record of a key. */
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
