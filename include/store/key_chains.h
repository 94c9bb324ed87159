/*
 * store/key_chains: the records of both sides, found by their key.
 *
 * The records of a key and side are a chain in order of arrival. A link forwards takes
 * the place of the record's hash, one backwards that of its number, so any record can be
 * taken out at once. The first one's link backwards is to the last.
 *
 *     entry of a key:  head of the left chain | head of the right chain
 */
#ifndef STORE_KEY_CHAINS_H
#define STORE_KEY_CHAINS_H

#include <stdint.h>

#include "base/slab.h"
#include "lang/side.h"
#include "store/arena.h"
#include "store/keyed_table.h"
#include "store/reference.h"

struct chain_entry {
    struct keyed_entry entry;
    uint32_t head[SIDES]; /* references; REFERENCE_NONE: no record on that side */
};

/* Records that will be taken out next, in this order, with the hashes of their keys. */
#define CHAINS_EXPECTED 16
struct chains_expected {
    uint32_t refs[CHAINS_EXPECTED], hashes[CHAINS_EXPECTED];
    uint32_t at, count;
};

struct key_chains {
    struct arena side[SIDES];
    struct keyed_table keys; /* of struct chain_entry; none is without a record */
    uint64_t hash_seed;
    struct chains_expected expected[SIDES];
};

/* Must not move once it has records. The hash of a key is keyed_hash(key, hash_seed). */
void key_chains_init(struct key_chains *c, uint64_t hash_seed);
void key_chains_done(struct key_chains *c, struct slab_pool *pool);

/* The number of the key's entry; KEYED_NONE: it has no record. */
static inline uint32_t key_chains_find(const struct key_chains *c, uint32_t hash, struct bytes key)
{
    return keyed_table_find(&c->keys, hash, key);
}

/* A hint: records with these hashes, KEY_CHAINS_FETCH at most, will be looked for, linked, or
 * asked for their partners. */
#define KEY_CHAINS_FETCH 64
void key_chains_fetch(const struct key_chains *c, const uint32_t *hashes, size_t n);

/* The first record of that entry; REFERENCE_NONE: none, or no entry. */
static inline uint32_t key_chains_head(const struct key_chains *c, uint32_t entry, enum side side)
{
    if (entry == KEYED_NONE)
        return REFERENCE_NONE;
    return ((const struct chain_entry *)keyed_table_entry(&c->keys, entry))->head[side];
}

static inline struct record *key_chains_record(const struct key_chains *c, enum side side,
                                               uint32_t ref)
{
    return arena_record(&c->side[side], ref);
}

/* The next record of a chain; REFERENCE_NONE: it was the last. */
static inline uint32_t key_chains_next(const struct key_chains *c, enum side side, uint32_t ref)
{
    return key_chains_record(c, side, ref)->hash;
}

/* Appends a record of the arena to the chain of its key. `entry` is what
 * key_chains_find() said; for KEYED_NONE one is added, which allocates
 * keyed_table_growth(). */
void key_chains_link(struct key_chains *c, struct slab_pool *pool, uint32_t entry, uint32_t hash,
                     enum side side, uint32_t ref);
/* Takes it out; it stays in the arena, and its hash is the caller's. Its number has gone. */
void key_chains_unlink(struct key_chains *c, struct slab_pool *pool, enum side side, uint32_t ref);

/* The next to be taken out is one of the expected. */
static inline bool key_chains_expects(const struct key_chains *c, enum side side, uint32_t ref)
{
    const struct chains_expected *x = &c->expected[side];
    return x->at < x->count && x->refs[x->at] == ref;
}

/* A hint: these, at most CHAINS_EXPECTED, will be taken out before any other of them, in this
 * order; those with NULL keys are in no chain. What that touches is fetched. */
void key_chains_expect(struct key_chains *c, enum side side, const uint32_t *refs, size_t n);

/* All that is allocated: counts as state. */
static inline uint64_t key_chains_bytes(const struct key_chains *c)
{
    return arena_bytes(&c->side[SIDE_LEFT]) + arena_bytes(&c->side[SIDE_RIGHT]) +
           keyed_table_bytes(&c->keys);
}

#endif
