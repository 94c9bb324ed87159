#include "core/key_chains.h"

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
    arena_init(&c->side[SIDE_LEFT], sizeof(uint32_t));
    arena_init(&c->side[SIDE_RIGHT], sizeof(uint32_t));
    keyed_table_init(&c->keys, sizeof(struct chain_entry), key_of, c);
    c->hash_seed = hash_seed;
}

void key_chains_done(struct key_chains *c, struct slab_pool *pool)
{
    arena_done(&c->side[SIDE_LEFT], pool);
    arena_done(&c->side[SIDE_RIGHT], pool);
    keyed_table_done(&c->keys, pool);
}

static uint32_t *link_next(const struct key_chains *c, enum side side, uint32_t ref)
{
    return &key_chains_record(c, side, ref)->hash;
}

/* Of the first record: the last one. */
static uint32_t *link_prev(const struct key_chains *c, enum side side, uint32_t ref)
{
    return arena_prefix(&c->side[side], ref);
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

/* The first or the last of its chain: the entry has to know. */
static void unlink_end(struct key_chains *c, struct slab_pool *pool, enum side side, uint32_t ref)
{
    struct bytes key = record_key(key_chains_record(c, side, ref));
    uint32_t next = *link_next(c, side, ref), prev = *link_prev(c, side, ref);
    uint32_t number = key_chains_find(c, keyed_hash(key, c->hash_seed), key);
    struct chain_entry *e;

    assert(number != KEYED_NONE);
    e = keyed_table_entry(&c->keys, number);
    if (e->head[side] != ref) { /* the last */
        *link_next(c, side, prev) = REFERENCE_NONE;
        *link_prev(c, side, e->head[side]) = prev;
        return;
    }
    e->head[side] = next;
    if (next != REFERENCE_NONE)
        *link_prev(c, side, next) = prev;
    else if (e->head[side_other(side)] == REFERENCE_NONE)
        keyed_table_remove(&c->keys, pool, number);
}

void key_chains_unlink(struct key_chains *c, struct slab_pool *pool, enum side side, uint32_t ref)
{
    uint32_t next = *link_next(c, side, ref), prev = *link_prev(c, side, ref);

    if (next == REFERENCE_NONE || *link_next(c, side, prev) != ref) {
        unlink_end(c, pool, side, ref);
        return;
    }
    *link_next(c, side, prev) = next;
    *link_prev(c, side, next) = prev;
}
