/*
 * store/keyed_table: from a key to what is known of it.
 *
 * An entry is a struct of the caller's that begins with a struct keyed_entry. The key
 * itself lies in some record; the caller says where. Entries are items of store/pieces: they
 * do not move, and are known by a number (and by their address, until they are removed).
 *
 * Buckets hold chains of entries. They grow and shrink one at a time (linear hashing):
 * with every key that is added at most one is parted, so no call ever takes long.
 *
 * Nothing depends on addresses. The order of keyed_table_next() depends on what was added
 * and removed in which order alone, not on hashes.
 */
#ifndef STORE_KEYED_TABLE_H
#define STORE_KEYED_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/pages.h"
#include "base/slab.h"
#include "store/pieces.h"

#define KEYED_NONE PIECES_NONE

struct keyed_entry {
    uint32_t next; /* in its bucket */
    uint32_t hash;
};

struct keyed_table {
    struct bytes (*key_of)(const void *self, const void *entry);
    const void *self;
    struct pieces entries;
    uint32_t count; /* entries that can be found */

    struct pages buckets; /* of uint32_t: each one's first entry */
    uint32_t bucket_count;
};

/* `entry_size` is that of the caller's struct, at least PIECES_ITEM_MIN. `key_of` gives the
 * key of one that is in the table; `self` is the caller's. An empty table takes no memory. */
void keyed_table_init(struct keyed_table *t, size_t entry_size,
                      struct bytes (*key_of)(const void *self, const void *entry),
                      const void *self);
void keyed_table_done(struct keyed_table *t, struct slab_pool *pool);

/* KEYED_NONE: not there. */
uint32_t keyed_table_find(const struct keyed_table *t, uint32_t hash, struct bytes key);

/* The entries with this hash, one after the other, for who knows an entry by something else
 * than its key; KEYED_NONE: no more. */
uint32_t keyed_table_first(const struct keyed_table *t, uint32_t hash);
uint32_t keyed_table_again(const struct keyed_table *t, uint32_t number);

/* A hint: keys with these hashes will be looked for, added or removed. What that touches is
 * fetched, for all of them at a time. Sets for each the first entry with its hash, as far as
 * it was come upon without waiting; else KEYED_NONE. False: nothing is set, for a small table
 * is in the caches as it is. */
bool keyed_table_fetch(const struct keyed_table *t, const uint32_t *hashes, size_t n,
                       uint32_t *ret_numbers);

static inline void *keyed_table_entry(const struct keyed_table *t, uint32_t number)
{
    return pieces_at(&t->entries, number);
}

/* What the next keyed_table_add() allocates; UINT64_MAX: no number is left for it. */
uint64_t keyed_table_growth(const struct keyed_table *t);

/* An entry for a key that is not there: its keyed_entry is set, the rest is zero. The
 * caller sees to it that key_of() finds its key before the table is asked again. */
uint32_t keyed_table_add(struct keyed_table *t, struct slab_pool *pool, uint32_t hash);

/* key_of() is not asked. */
void keyed_table_remove(struct keyed_table *t, struct slab_pool *pool, uint32_t number);

/* The two in two steps each, for entries that are there for longer than they can be found:
 * memory for one, all zero but for its hash; then it may be found by its key, until it leaves. */
static inline uint64_t keyed_table_take_growth(const struct keyed_table *t)
{
    return pieces_growth(&t->entries, 1);
}
uint32_t keyed_table_take(struct keyed_table *t, struct slab_pool *pool, uint32_t hash);
uint64_t keyed_table_enter_growth(const struct keyed_table *t);
void keyed_table_enter(struct keyed_table *t, struct slab_pool *pool, uint32_t number);
void keyed_table_leave(struct keyed_table *t, struct slab_pool *pool, uint32_t number);
static inline void keyed_table_give(struct keyed_table *t, struct slab_pool *pool, uint32_t number)
{
    pieces_give(&t->entries, pool, number);
}
/* `by`, of the same key, is found from now on, and not `number`. */
void keyed_table_replace(struct keyed_table *t, uint32_t number, uint32_t by);

/* One entry after the other: KEYED_NONE gives the first, and comes after the last. The
 * entry at hand may be removed, others may be added meanwhile. */
static inline uint32_t keyed_table_next(const struct keyed_table *t, uint32_t number)
{
    return pieces_next(&t->entries, number);
}

/* All that is allocated: counts as state. */
static inline uint64_t keyed_table_bytes(const struct keyed_table *t)
{
    return pieces_bytes(&t->entries) + pages_bytes(&t->buckets);
}

/* The hash of a key, as the engine takes it: for records whose hash is a link by now. */
uint32_t keyed_hash(struct bytes key, uint64_t seed);

#endif
