/*
 * join/session: the sessions of a session join, and those of one key by their times.
 *
 * A session is an entry of a table of keys (store/keyed_table), and known by its number
 * there; growth never moves one. It is found by its key while it is the root of the tree of
 * that key's sessions. Its records lie in an arena a side, linked as a ring, in order of
 * arrival: it knows the last one, whose link is the first. Where a record makes two sessions
 * one, the rings stay as they are: the elder session becomes a part of the younger, in a ring
 * of parts, and whoever fires it puts the records in order. So a merge costs the same
 * however large the two are.
 *
 *     key -> root of a tree, by time          ring of parts:  s -> part -> part -> s
 *               s                             each with     left:  ref -> ref -> ref
 *             /   \                                         right: ref -> ref
 *
 * Most sessions are plain: 28 bytes are all that they cost. A plain session has no part and
 * is the only one of its key; its last time is that of the later one of its last records, and
 * its first time that of the earlier one of its first records. It gets a struct session_more
 * when this is no longer so: with a record that is out of order on its side, or with a second
 * session of its key. It keeps that until it is closed.
 *
 * Open sessions of a key are more than `gap` apart, so their order by `first` is that by
 * `last`, and stays when they grow. The tree is a treap; its priorities are seeded, so
 * nobody can prepare times that make it a list.
 */
#ifndef JOIN_SESSION_H
#define JOIN_SESSION_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fetch.h"
#include "base/slab.h"
#include "lang/side.h"
#include "store/arena.h"
#include "store/keyed_table.h"
#include "store/near_times.h"
#include "store/pieces.h"
#include "store/reference.h"

#define SESSION_NONE KEYED_NONE
/* In place of a link of the tree: the session is a part of a younger one. */
#define SESSION_PART UINT32_MAX

/* Entries and items lie at multiples of 4. */
struct __attribute__((packed, aligned(4))) session {
    struct keyed_entry entry;
    uint32_t run[SIDES]; /* of records, linked by struct record's hash: the reference of the last
                          * one; after session_cut() of the first; REFERENCE_NONE */
    uint32_t more;       /* the number of its struct session_more; PIECES_NONE: it is plain */
    uint64_t opened;     /* its place in the order of opening; of parts, that of the youngest */
};

struct __attribute__((packed, aligned(4))) session_more {
    uint32_t next;          /* in the ring of parts */
    uint32_t before, after; /* in the tree: those of earlier and of later times */
    int64_t first, last;    /* the times of its records; milliseconds */
};

static_assert(sizeof(struct session) == 28, "the cost of a session");
static_assert(sizeof(struct session_more) == 28, "the cost of one that is not plain, beside");

/* --- the pool --- */

struct session_pool {
    struct slab_pool *slab;
    struct arena *records;          /* of both sides; not owned */
    const struct near_times *times; /* theirs; not owned */
    uint64_t seed;
    struct keyed_table table; /* of struct session */
    struct pieces mores;      /* of struct session_more */
    uint64_t count;           /* of sessions */
    uint64_t opened;          /* ever */
};

/* An empty pool takes no memory. */
void session_pool_init(struct session_pool *p, struct slab_pool *slab, uint64_t seed,
                       struct arena records[SIDES], const struct near_times *times);
void session_pool_done(struct session_pool *p);

/* All that is allocated: counts as state. */
static inline uint64_t session_pool_bytes(const struct session_pool *p)
{
    return keyed_table_bytes(&p->table) + pieces_bytes(&p->mores);
}

/* What so many more of either would allocate, two at most; UINT64_MAX: no number is left. */
uint64_t session_pool_need(const struct session_pool *p, unsigned sessions, unsigned mores);

/* A session of this record alone, which is not found by its key yet. Belongs to the caller
 * until session_close(), when it is not found any more. */
uint32_t session_open(struct session_pool *p, uint32_t hash, enum side side, uint32_t ref);
void session_close(struct session_pool *p, uint32_t session);

static inline struct session *session_at(const struct session_pool *p, uint32_t session)
{
    return keyed_table_entry(&p->table, session);
}

static inline bool session_is_plain(const struct session *s)
{
    return s->more == PIECES_NONE;
}

/* Of one that is not plain. */
static inline struct session_more *session_more_at(const struct session_pool *p, uint32_t session)
{
    return pieces_at(&p->mores, session_at(p, session)->more);
}

/* Of a younger one: in no tree, and its times are that one's. */
static inline bool session_is_part(const struct session_pool *p, uint32_t session)
{
    return !session_is_plain(session_at(p, session)) &&
           session_more_at(p, session)->before == SESSION_PART;
}

/* --- its records --- */

/* One of them, whichever. */
const struct record *session_record(const struct session_pool *p, const struct session *s);

bool session_has_one_record(const struct session_pool *p, uint32_t session);

int64_t session_first(const struct session_pool *p, uint32_t session);
int64_t session_last(const struct session_pool *p, uint32_t session);

/* Will session_add() take a struct session_more for a record of that time? */
bool session_needs_more(const struct session_pool *p, uint32_t session, enum side side, int64_t t);

/* The last one to have arrived, on its side. */
void session_add(struct session_pool *p, uint32_t session, enum side side, uint32_t ref);

/* Its rings become chains, from the first record to the last, which are all that may be asked
 * for from now on. */
void session_cut(struct session_pool *p, uint32_t session);

/* So few are in the caches as they are, and need no hints. */
#define SESSIONS_FEW 4096
static inline bool session_pool_is_small(const struct session_pool *p)
{
    return p->count < SESSIONS_FEW;
}

/* Hints, each of which looks at what the one before has fetched: its last records are looked
 * at, its first ones. */
static FETCH_INLINE void session_fetch_last(const struct session_pool *p, uint32_t session)
{
    const struct session *s = session_at(p, session);

    for (int side = 0; side < SIDES; side++)
        if (s->run[side] != REFERENCE_NONE)
            arena_fetch(&p->records[side], s->run[side]);
    if (!session_is_plain(s))
        __builtin_prefetch(session_more_at(p, session));
}

static FETCH_INLINE void session_fetch_first(const struct session_pool *p, uint32_t session)
{
    const struct session *s = session_at(p, session);

    for (int side = 0; side < SIDES; side++)
        if (s->run[side] != REFERENCE_NONE)
            arena_fetch(&p->records[side], arena_record(&p->records[side], s->run[side])->hash);
}

/* --- the sessions of one key --- */

/* The sessions that are at most `gap` from `t`: two at most, for they are further apart
 * than `gap`; the earlier first. Returns how many. */
size_t session_tree_find(const struct session_pool *p, uint32_t root, int64_t t, int64_t gap,
                         uint32_t ret[2]);

/* How many struct session_more session_tree_put() takes. */
static inline unsigned session_tree_put_mores(const struct session_pool *p, uint32_t root)
{
    return root == SESSION_NONE ? 0 : session_is_plain(session_at(p, root)) ? 2 : 1;
}

/* Return the new root, which the caller makes the one that is found (session_root()). One
 * that is put in takes no other's record. */
uint32_t session_tree_put(struct session_pool *p, uint32_t root, uint32_t session);
/* Of a tree of several. */
uint32_t session_tree_take(struct session_pool *p, uint32_t root, uint32_t session);

/* What is left without those whose last record's time is at or below `last`: they are in
 * no tree from now on. */
uint32_t session_tree_later(struct session_pool *p, uint32_t root, int64_t last);

/* Of a key's sessions `root` is found by now, and `by` is to be; SESSION_NONE: none. */
void session_root(struct session_pool *p, uint32_t root, uint32_t by);

/* The elder one, which was taken from the other's tree, becomes a part of the younger, which
 * takes its times. */
void session_absorb(struct session_pool *p, uint32_t younger, uint32_t elder);

#endif
