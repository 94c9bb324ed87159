/*
 * core/session: the sessions of a session join, and those of one key by their times.
 *
 * A session is 64 bytes, found by an index of 32 bits in a pool of blocks, so that growth
 * never moves one. It holds no record: it knows a chain of references on each side, in
 * order of arrival. Where a record makes two sessions one, the chains stay as they are:
 * the elder session becomes a part of the younger, in a ring, and whoever fires it puts
 * the chains in order. So a merge costs the same however large the two are.
 *
 *     key -> root of a tree, by time          ring of parts:  s -> part -> part -> s
 *               s                             each with     left:  ref -> ref -> ref
 *             /   \                                         right: ref -> ref
 *
 * Open sessions of a key are more than `gap` apart, so their order by `first` is that by
 * `last`, and stays when they grow. The tree is a treap; its priorities are seeded, so
 * nobody can prepare times that make it a list.
 */
#ifndef CORE_SESSION_H
#define CORE_SESSION_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/slab.h"
#include "core/reference.h"
#include "core/side.h"
#include "core/slots.h"

#define SESSION_NONE UINT32_MAX

/* Records of one side, linked by struct record's hash. */
struct session_run {
    uint32_t head, tail; /* references; REFERENCE_NONE */
};

struct session {
    int64_t first, last;    /* the times of its records; milliseconds */
    uint64_t opened;        /* its place in the order of opening; of parts, that of the youngest */
    uint32_t hash;          /* of its key */
    uint32_t before, after; /* in the tree: those of earlier and of later times */
    uint32_t next;          /* in the ring of parts */
    struct session_run run[SIDES];
    bool part; /* of a younger one: in no tree, and its times are that one's */
};

static_assert(sizeof(struct session) == 64, "the cost of a session");

/* --- the pool --- */

/* A block has so many places at most, the first ones fewer; its first place is its head. */
#define SESSION_BLOCK 64

struct session_pool {
    struct slab_pool *slab;
    uint64_t seed;
    struct slots blocks; /* of struct session_block, owned */
    uint64_t block_bytes;
    struct list partial; /* those that have free places */
    uint64_t count;      /* of sessions */
    uint64_t opened;     /* ever */
};

/* An empty pool takes no memory. */
void session_pool_init(struct session_pool *p, struct slab_pool *slab, uint64_t seed);
void session_pool_done(struct session_pool *p);

/* All that is allocated: counts as state. */
static inline uint64_t session_pool_bytes(const struct session_pool *p)
{
    return p->block_bytes + slots_bytes(&p->blocks);
}

/* What session_open() would allocate. */
uint64_t session_pool_need(const struct session_pool *p);

/* A session without records, of one moment. Belongs to the caller until session_close(). */
uint32_t session_open(struct session_pool *p, uint32_t hash, int64_t t);
void session_close(struct session_pool *p, uint32_t session);

static inline struct session *session_at(const struct session_pool *p, uint32_t session)
{
    return (struct session *)p->blocks.at[session / SESSION_BLOCK] + session % SESSION_BLOCK;
}

/* --- the sessions of one key --- */

/* The sessions that are at most `gap` from `t`: two at most, for they are further apart
 * than `gap`; the earlier first. Returns how many. */
size_t session_tree_find(const struct session_pool *p, uint32_t root, int64_t t, int64_t gap,
                         uint32_t ret[2]);

/* Return the new root. One that is put in takes no other's record. */
uint32_t session_tree_put(struct session_pool *p, uint32_t root, uint32_t session);
uint32_t session_tree_take(struct session_pool *p, uint32_t root, uint32_t session);

/* What is left without those whose last record's time is at or below `last`: they are in
 * no tree from now on. */
uint32_t session_tree_later(struct session_pool *p, uint32_t root, int64_t last);

/* The elder one, which is in no tree, becomes a part of the younger, which takes its times. */
void session_absorb(struct session_pool *p, uint32_t younger, uint32_t elder);

#endif
