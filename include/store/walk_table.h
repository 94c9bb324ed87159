/*
 * store/walk_table: the keys of a partition that is walked, and the chains of their records.
 *
 * Chains cost no memory a record: a link takes the place of the hash, which the key's
 * entry remembers. While they are built they are rings: a tail's link is its head. Keys are
 * found by open addressing, and read from their records; what is looked at for every record
 * is here, so that it is inlined.
 */
#ifndef STORE_WALK_TABLE_H
#define STORE_WALK_TABLE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lang/side.h"
#include "store/reference.h"

#define WALK_NULL_KEY 0 /* entry 0 chains the records with a NULL key, if they are chained */

/* At least so many: a search that has to go on past a slot is a wrong guess of the processor,
 * which costs more than the memory does. */
#define WALK_SLOTS_A_KEY 8

struct walk_entry {
    struct record *tail[SIDES]; /* NULL: no record on that side */
    uint32_t hash;
    bool many; /* a side has more than one record */
};
static_assert(sizeof(struct walk_entry) == 24, "a table counts on its size");

/* One record on each side: what most keys have. */
static inline bool walk_entry_is_pair(const struct walk_entry *e)
{
    return !e->many && e->tail[SIDE_LEFT] != NULL && e->tail[SIDE_RIGHT] != NULL;
}

/* One record, and none on the other side. */
static inline bool walk_entry_is_alone(const struct walk_entry *e, enum side *ret_side)
{
    *ret_side = e->tail[SIDE_LEFT] != NULL ? SIDE_LEFT : SIDE_RIGHT;
    return !e->many && e->tail[*ret_side] != NULL && e->tail[side_other(*ret_side)] == NULL;
}

/* One that has its key. Not for an entry without records, as that of NULL keys may be. */
static inline const struct record *walk_entry_record(const struct walk_entry *e)
{
    return e->tail[SIDE_LEFT] != NULL ? e->tail[SIDE_LEFT] : e->tail[SIDE_RIGHT];
}

/* Opens the ring of a side: it is a chain then, as join/cross takes it. Returns its head;
 * REFERENCE_NONE: no records. */
static inline uint32_t walk_entry_open(const struct walk_entry *e, enum side side)
{
    struct record *tail = e->tail[side];
    uint32_t head;

    if (tail == NULL)
        return REFERENCE_NONE;
    head = tail->hash;
    tail->hash = REFERENCE_NONE;
    return head;
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

void walk_table_grow_entries(struct walk_table *t);
void walk_table_grow_slots(struct walk_table *t);

static inline uint64_t walk_table_bytes(const struct walk_table *t)
{
    return t->capacity * sizeof(*t->entries) + t->slot_capacity * sizeof(*t->slots);
}

/* Is the entry in this slot the key's? Not of a free one. */
static inline bool walk_table_is_at(const struct walk_table *t, uint32_t slot, uint32_t hash,
                                    struct bytes key)
{
    const struct walk_entry *e = &t->entries[t->slots[slot]];
    return e->hash == hash && bytes_equal(record_key(walk_entry_record(e)), key);
}

/* The same as walk_table_slot(), once `slot` is another key's. */
uint32_t walk_table_slot_behind(const struct walk_table *t, uint32_t slot, uint32_t hash,
                                struct bytes key);

/* The slot of a key's entry; or, if there is none, the free one where it will be found. */
static inline uint32_t walk_table_slot(const struct walk_table *t, uint32_t hash, struct bytes key)
{
    uint32_t slot = hash & t->slot_mask;

    if (t->slots[slot] == 0 || walk_table_is_at(t, slot, hash, key))
        return slot;
    return walk_table_slot_behind(t, slot, hash, key);
}

/* A key and its first record, which lies at `ref`. No search finds it, so for NULL keys this is
 * all. Returns the entry. */
static inline uint32_t walk_table_add_lone(struct walk_table *t, enum side side, struct record *r,
                                           uint32_t ref)
{
    uint32_t entry = t->count;
    struct walk_entry *e;

    if (entry == t->capacity)
        walk_table_grow_entries(t);
    e = &t->entries[entry];
    e->tail[side] = r;
    e->tail[side_other(side)] = NULL;
    e->hash = r->hash;
    e->many = false;
    r->hash = ref;
    t->count = entry + 1;
    return entry;
}

/* A key that is not NULL: to be found at `slot` from now on. */
static inline void walk_table_add(struct walk_table *t, uint32_t slot, enum side side,
                                  struct record *r, uint32_t ref)
{
    uint32_t entry = walk_table_add_lone(t, side, r, ref);

    t->slots[slot] = entry;
    if (WALK_SLOTS_A_KEY * (entry + 1) > t->slot_mask)
        walk_table_grow_slots(t);
}

/* One more record of a key. */
static inline void walk_entry_chain(struct walk_entry *e, enum side side, struct record *r,
                                    uint32_t ref)
{
    struct record *tail = e->tail[side];

    r->hash = ref;
    if (tail != NULL) {
        r->hash = tail->hash;
        tail->hash = ref;
        e->many = true;
    }
    e->tail[side] = r;
}

#endif
