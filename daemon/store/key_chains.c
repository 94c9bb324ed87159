#include "store/key_chains.h"

#include <assert.h>

static struct bytes key_of(const void *self, const void *entry)
{
    const struct key_chains *c = self;
    const struct chain_entry *e = entry;
    enum side side = e->head[SIDE_LEFT] != REFERENCE_NONE ? SIDE_LEFT : SIDE_RIGHT;

    return record_key(key_chains_record(c, side, e->head[side]));
}

void key_chains_init(struct key_chains *c, uint64_t hash_seed)
{
    arena_init(&c->side[SIDE_LEFT], 0);
    arena_init(&c->side[SIDE_RIGHT], 0);
    keyed_table_init(&c->keys, sizeof(struct chain_entry), key_of, c);
    c->hash_seed = hash_seed;
}

void key_chains_done(struct key_chains *c, struct slab_pool *pool)
{
    arena_done(&c->side[SIDE_LEFT], pool);
    arena_done(&c->side[SIDE_RIGHT], pool);
    keyed_table_done(&c->keys, pool);
}

void key_chains_fetch(const struct key_chains *c, const uint32_t *hashes, size_t n)
{
    uint32_t numbers[KEY_CHAINS_FETCH];

    assert(n <= KEY_CHAINS_FETCH);
    if (!keyed_table_fetch(&c->keys, hashes, n, numbers))
        return;
    for (size_t i = 0; i < n; i++)
        for (int s = 0; s < SIDES && numbers[i] != KEYED_NONE; s++)
            if (key_chains_head(c, numbers[i], s) != REFERENCE_NONE)
                arena_fetch(&c->side[s], key_chains_head(c, numbers[i], s));
}

static uint32_t *link_next(const struct key_chains *c, enum side side, uint32_t ref)
{
    return &key_chains_record(c, side, ref)->hash;
}

/* Of the first record: the last one. */
static uint32_t *link_prev(const struct key_chains *c, enum side side, uint32_t ref)
{
    return &key_chains_record(c, side, ref)->number;
}

void key_chains_link(struct key_chains *c, struct slab_pool *pool, uint32_t entry, uint32_t hash,
                     enum side side, uint32_t ref)
{
    struct chain_entry *e;

    if (entry == KEYED_NONE) {
        e = keyed_table_entry(&c->keys, keyed_table_add(&c->keys, pool, hash));
        e->head[SIDE_LEFT] = e->head[SIDE_RIGHT] = REFERENCE_NONE;
    } else {
        e = keyed_table_entry(&c->keys, entry);
    }
    *link_next(c, side, ref) = REFERENCE_NONE;
    if (e->head[side] == REFERENCE_NONE) {
        e->head[side] = *link_prev(c, side, ref) = ref;
    } else {
        uint32_t *first_prev = link_prev(c, side, e->head[side]);
        *link_next(c, side, *first_prev) = ref;
        *link_prev(c, side, ref) = *first_prev;
        *first_prev = ref;
    }
}

/* --- taking out --- */

static uint32_t hash_of(const struct key_chains *c, enum side side, uint32_t ref)
{
    return keyed_hash(record_key(key_chains_record(c, side, ref)), c->hash_seed);
}

void key_chains_expect(struct key_chains *c, enum side side, const uint32_t *refs, size_t n)
{
    struct chains_expected *x = &c->expected[side];
    uint32_t numbers[CHAINS_EXPECTED];

    assert(n <= CHAINS_EXPECTED);
    for (size_t i = 0; i < n; i++)
        arena_fetch(&c->side[side], refs[i]);
    x->at = x->count = 0;
    for (size_t i = 0; i < n; i++) {
        if (record_has(key_chains_record(c, side, refs[i]), RECORD_NULL_KEY))
            continue;
        x->refs[x->count] = refs[i];
        x->hashes[x->count++] = hash_of(c, side, refs[i]);
    }
    keyed_table_fetch(&c->keys, x->hashes, x->count, numbers);
}

static uint32_t expected_hash(struct key_chains *c, enum side side, uint32_t ref)
{
    struct chains_expected *x = &c->expected[side];

    return key_chains_expects(c, side, ref) ? x->hashes[x->at++] : hash_of(c, side, ref);
}

/* The first of its chain: the entry has to know, and is known by it. */
static void unlink_first(struct key_chains *c, struct slab_pool *pool, uint32_t hash,
                         enum side side, uint32_t ref)
{
    uint32_t next = *link_next(c, side, ref), number = keyed_table_first(&c->keys, hash);
    struct chain_entry *e = keyed_table_entry(&c->keys, number);

    while (e->head[side] != ref) {
        number = keyed_table_again(&c->keys, number);
        assert(number != KEYED_NONE);
        e = keyed_table_entry(&c->keys, number);
    }
    e->head[side] = next;
    if (next != REFERENCE_NONE)
        *link_prev(c, side, next) = *link_prev(c, side, ref);
    else if (e->head[side_other(side)] == REFERENCE_NONE)
        keyed_table_remove(&c->keys, pool, number);
}

/* The last of its chain, but not the first, to which the link backwards is to lead. */
static void unlink_last(struct key_chains *c, uint32_t hash, enum side side, uint32_t ref)
{
    struct bytes key = record_key(key_chains_record(c, side, ref));
    uint32_t number = key_chains_find(c, hash, key), prev = *link_prev(c, side, ref);

    assert(number != KEYED_NONE);
    *link_next(c, side, prev) = REFERENCE_NONE;
    *link_prev(c, side, key_chains_head(c, number, side)) = prev;
}

void key_chains_unlink(struct key_chains *c, struct slab_pool *pool, enum side side, uint32_t ref)
{
    uint32_t next = *link_next(c, side, ref), prev = *link_prev(c, side, ref);
    bool first = *link_next(c, side, prev) != ref, expected = key_chains_expects(c, side, ref);

    if (!first && next != REFERENCE_NONE) {
        *link_next(c, side, prev) = next;
        *link_prev(c, side, next) = prev;
        c->expected[side].at += expected;
    } else if (first) {
        unlink_first(c, pool, expected_hash(c, side, ref), side, ref);
    } else {
        unlink_last(c, expected_hash(c, side, ref), side, ref);
    }
}
