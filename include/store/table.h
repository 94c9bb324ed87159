/*
 * store/table: rows by key, for a table that is built, then asked, then given up whole.
 *
 * All rows of a key are a ring in order of arrival: a row's hash is the reference of the
 * next one, the last one's that of the first. What finds a key is a slot with its hash and
 * the reference of its last row: 8 bytes, so most look-ups touch one line of slots and one
 * row, and adding a row to a key costs the same however many it has.
 *
 * Slots lie in segments. A directory says by the top bits of a hash which segment; one that
 * is nearly full grows to SLAB_CHUNK_MAX, and is then parted in two (extendible hashing).
 * No call moves more than one segment's slots, but for a run of bad luck that a seeded
 * hash makes as good as impossible.
 *
 *     directory:  [0] [1] [2] [3]        (1 << bits)
 *                   \  /   |   |
 *                  segment segment ...   header | slot | slot | free | slot ...
 */
#ifndef STORE_TABLE_H
#define STORE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/slab.h"
#include "model/record.h"
#include "store/arena.h"
#include "store/reference.h"

/* A directory has at most 1 << TABLE_BITS_MAX segments. */
#define TABLE_BITS_MAX 20

struct table_slot {
    uint32_t hash;
    uint32_t last; /* reference of the key's last row; REFERENCE_NONE: free */
};

struct table_segment {
    uint16_t capacity; /* slots; a few are always free */
    uint16_t count;
    uint16_t bits; /* so many top bits do its hashes share */
    uint16_t unused;
    struct table_slot slots[];
};

struct table {
    struct arena rows;                /* counts those whose fate is not decided */
    struct table_segment **directory; /* owned; NULL while there is no key */
    unsigned bits;
    uint32_t segments;
    uint64_t key_bytes; /* of segments and directory */
    uint64_t keys;

    /* In order of arrival, if it was asked for: a row's prefix is the reference of the next. */
    bool ordered;
    uint32_t first, last;

    /* How far table_drop_some() has come. */
    bool dropping;
    uint32_t drop_row;   /* REFERENCE_NONE: rows have gone */
    uint32_t drop_place; /* of the directory */
};

/* An empty table takes no memory. `ordered`: table_following() will be asked. */
void table_init(struct table *t, bool ordered);
void table_done(struct table *t, struct slab_pool *pool);

/* Copies a row in, as the last one of its key; with a NULL key it is nobody's. Numbers do not
 * go down. `room` is how many bytes may still be allocated: false if it takes more. */
bool table_add(struct table *t, struct slab_pool *pool, const struct record_parts *parts,
               uint64_t number, uint64_t room);

/* The same, in the place of the row that its key has: that one is decided, and gone. */
bool table_replace(struct table *t, struct slab_pool *pool, const struct record_parts *parts,
                   uint64_t number, uint64_t room, bool *ret_replaced);

/* The first row of the key; REFERENCE_NONE: there is none. */
uint32_t table_find(const struct table *t, uint32_t hash, struct bytes key);

/* Hints, for many keys that will be looked for: their slots; then, when these are there, rows. */
void table_fetch_slot(const struct table *t, uint32_t hash);
void table_fetch_row(const struct table *t, uint32_t hash);

static inline struct record *table_row(const struct table *t, uint32_t ref)
{
    return arena_record(&t->rows, ref);
}

/* The next row of the key whose first one is `first`; REFERENCE_NONE: it was the last. */
static inline uint32_t table_next(const struct table *t, uint32_t first, uint32_t ref)
{
    uint32_t next = table_row(t, ref)->hash;
    return next == first ? REFERENCE_NONE : next;
}

/* The row that came after `ref`, of any key; the first one is t->first. */
static inline uint32_t table_following(const struct table *t, uint32_t ref)
{
    return *(const uint32_t *)arena_prefix(&t->rows, ref);
}

/* Gives rows and segments back, a few for each unit of fuel. Nothing else may be asked of
 * the table from the first call on. True: all are gone. */
bool table_drop_some(struct table *t, struct slab_pool *pool, int64_t *fuel);

/* All that is allocated: counts as state. */
static inline uint64_t table_bytes(const struct table *t)
{
    return arena_bytes(&t->rows) + t->key_bytes;
}

#endif
