/*
 * Sessions of real records, without a join: what join/session, its queue and its order see.
 */
#ifndef UNIT_JOIN_SESSION_FIXTURE_H
#define UNIT_JOIN_SESSION_FIXTURE_H

#include "join/session.h"
#include "join_fixture.h"

struct pool_fixture {
    struct slab_pool *slab;
    struct arena records[SIDES];
    struct near_times times; /* stays as it is: records keep their times whole */
    uint64_t numbers[SIDES];
    struct session_pool pool;
};

static inline void open_pool(struct pool_fixture *f)
{
    *f = (struct pool_fixture){.slab = slab_pool_new()};
    for (int s = 0; s < SIDES; s++)
        arena_init(&f->records[s], 0);
    session_pool_init(&f->pool, f->slab, UINT64_C(0x5eed), f->records, &f->times);
}

static inline void close_pool(struct pool_fixture *f)
{
    session_pool_done(&f->pool);
    for (int s = 0; s < SIDES; s++)
        arena_done(&f->records[s], f->slab);
    slab_pool_free(f->slab); /* all is back */
}

static inline uint32_t record_at(struct pool_fixture *f, enum side side, int64_t t)
{
    struct record_parts parts = {.body = BYTES_LIT("k,a,"), .flags = RECORD_TIMED, .time = t};
    uint32_t ref;

    parts.key = (struct bytes){parts.body.p, 1};
    assert_true(
        arena_add(&f->records[side], f->slab, &parts, f->numbers[side]++, UINT64_MAX, &ref));
    return ref;
}

/* A session of one record. */
static inline uint32_t open_at(struct pool_fixture *f, enum side side, int64_t t)
{
    return session_open(&f->pool, 0, side, record_at(f, side, t));
}

static inline void add_at(struct pool_fixture *f, uint32_t session, enum side side, int64_t t)
{
    session_add(&f->pool, session, side, record_at(f, side, t));
}

/* As it comes about in the tree of a key that has these two. */
static inline void absorb_at(struct pool_fixture *f, uint32_t younger, uint32_t elder)
{
    uint32_t root = session_tree_put(&f->pool, younger, elder);

    assert_int_equal(session_tree_take(&f->pool, root, elder), younger);
    session_absorb(&f->pool, younger, elder);
}

/* The pool's own memory, counted anew. */
static inline uint64_t pool_bytes_by_hand(const struct pool_fixture *f)
{
    return slab_used(f->slab) - f->records[SIDE_LEFT].chunk_bytes -
           f->records[SIDE_RIGHT].chunk_bytes + slots_bytes(&f->pool.table.entries.slots) +
           slots_bytes(&f->pool.mores.slots) + f->pool.table.buckets.capacity * sizeof(void *);
}

#endif
