/*
 * core/session: the sessions of a session join, and those of one key by their times.
 *
 * A session is an entry of a table of keys (core/keyed_table), of 60 bytes, and known by its
 * number there; growth never moves one. It is found by its key while it is the root of
 * the tree of that key's sessions. It holds no record: it knows a chain of references on
 * each side, in order of arrival. Where a record makes two sessions one, the chains stay as
 * they are: the elder session becomes a part of the younger, in a ring, and whoever fires
 * it puts the chains in order. So a merge costs the same however large the two are.
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

#include "base/slab.h"
#include "core/keyed_table.h"
#include "core/reference.h"
#include "core/side.h"

#define SESSION_NONE KEYED_NONE
/* In place of a link: the session is a part of a younger one. */
#define SESSION_PART UINT32_MAX

/* Records of one side, linked by struct record's hash. */
struct session_run {
    uint32_t head, tail; /* references; REFERENCE_NONE */
};

/* Entries lie at multiples of 4. */
struct __attribute__((packed, aligned(4))) session {
    struct keyed_entry entry;
    uint32_t before, after; /* in the tree: those of earlier and of later times */
    uint32_t next;          /* in the ring of parts */
    struct session_run run[SIDES];
    int64_t first, last; /* the times of its records; milliseconds */
    uint64_t opened;     /* its place in the order of opening; of parts, that of the youngest */
};

static_assert(sizeof(struct session) == 60, "the cost of a session");

/* Of a younger one: in no tree, and its times are that one's. */
static inline bool session_is_part(const struct session *s)
{
    return s->before == SESSION_PART;
}

/* --- the pool --- */

struct session_pool {
    struct slab_pool *slab;
    uint64_t seed;
    struct keyed_table table; /* of struct session */
    uint64_t count;           /* of sessions */
    uint64_t opened;          /* ever */
};

/* `key_of` and `self` are those of the table. An empty pool takes no memory. */
void session_pool_init(struct session_pool *p, struct slab_pool *slab, uint64_t seed,
                       struct bytes (*key_of)(const void *self, const void *session),
                       const void *self);
void session_pool_done(struct session_pool *p);

/* All that is allocated: counts as state. */
static inline uint64_t session_pool_bytes(const struct session_pool *p)
{
    return keyed_table_bytes(&p->table);
}

/* What session_open() would allocate; UINT64_MAX: no number is left for it. */
static inline uint64_t session_pool_need(const struct session_pool *p)
{
    return keyed_table_take_growth(&p->table);
}

/* A session without records, of one moment, which is not found by its key yet. Belongs to
 * the caller until session_close(), when it is not found any more. */
uint32_t session_open(struct session_pool *p, uint32_t hash, int64_t t);
void session_close(struct session_pool *p, uint32_t session);

static inline struct session *session_at(const struct session_pool *p, uint32_t session)
{
    return keyed_table_entry(&p->table, session);
}

/* --- the sessions of one key --- */

/* The sessions that are at most `gap` from `t`: two at most, for they are further apart
 * than `gap`; the earlier first. Returns how many. */
size_t session_tree_find(const struct session_pool *p, uint32_t root, int64_t t, int64_t gap,
                         uint32_t ret[2]);

/* Return the new root, which the caller makes the one that is found (session_root()). One
 * that is put in takes no other's record. */
uint32_t session_tree_put(struct session_pool *p, uint32_t root, uint32_t session);
uint32_t session_tree_take(struct session_pool *p, uint32_t root, uint32_t session);

/* What is left without those whose last record's time is at or below `last`: they are in
 * no tree from now on. */
uint32_t session_tree_later(struct session_pool *p, uint32_t root, int64_t last);

/* Of a key's sessions `root` is found by now, and `by` is to be; SESSION_NONE: none. */
void session_root(struct session_pool *p, uint32_t root, uint32_t by);

/* The elder one, which is in no tree, becomes a part of the younger, which takes its times. */
void session_absorb(struct session_pool *p, uint32_t younger, uint32_t elder);

#endif
