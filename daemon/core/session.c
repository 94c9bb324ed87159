#include "core/session.h"

#include <string.h>

#include "base/hash.h"

/* As large as a session, whose place it takes. */
struct session_block {
    struct list_link link; /* in the pool's list, while some place is free */
    uint64_t free;         /* a bit for each free place */
    uint32_t index;        /* in the pool's directory */
    uint32_t places;       /* with the head's */
    char unused[sizeof(struct session) - sizeof(struct list_link) - 2 * sizeof(uint64_t)];
};

static_assert(sizeof(struct session_block) == sizeof(struct session), "a head in a place");

/* A state with two sessions may not cost more than a few hundred bytes. */
#define PLACES_MIN 4

static_assert(PLACES_MIN * sizeof(struct session) >= SLAB_CHUNK_MIN, "blocks are not rounded up");
static_assert(SESSION_BLOCK * sizeof(struct session) <= SLAB_CHUNK_MAX, "in any size");

static size_t block_bytes(const struct session_block *b)
{
    return b->places * sizeof(struct session);
}

/* All places but the head's. */
static uint64_t block_all_free(const struct session_block *b)
{
    return (UINT64_MAX >> (SESSION_BLOCK - b->places)) & ~UINT64_C(1);
}

/* --- the pool --- */

void session_pool_init(struct session_pool *p, struct slab_pool *slab, uint64_t seed)
{
    *p = (struct session_pool){.slab = slab, .seed = seed};
    slots_init(&p->blocks);
    list_init(&p->partial);
}

void session_pool_done(struct session_pool *p)
{
    for (uint32_t i = 0; i < p->blocks.count; i++)
        if (slots_has(&p->blocks, i))
            slab_give(p->slab, p->blocks.at[i], block_bytes(p->blocks.at[i]));
    slots_done(&p->blocks);
}

/* Each of the first is twice as large as the one before. */
static uint32_t next_places(const struct session_pool *p)
{
    uint32_t places = PLACES_MIN;

    for (uint32_t i = 0; i < p->blocks.used && places < SESSION_BLOCK; i++)
        places *= 2;
    return places;
}

uint64_t session_pool_need(const struct session_pool *p)
{
    if (!list_empty(&p->partial))
        return 0;
    return next_places(p) * sizeof(struct session) + slots_growth(&p->blocks);
}

static void block_open(struct session_pool *p)
{
    uint32_t places = next_places(p);
    struct session_block *b = slab_take(p->slab, places * sizeof(struct session));

    b->places = places;
    b->free = block_all_free(b);
    b->index = slots_add(&p->blocks, b);
    list_append(&p->partial, &b->link);
    p->block_bytes += block_bytes(b);
}

static void block_close(struct session_pool *p, struct session_block *b)
{
    list_remove(&b->link);
    slots_remove(&p->blocks, b->index);
    p->block_bytes -= block_bytes(b);
    slab_give(p->slab, b, block_bytes(b));
}

uint32_t session_open(struct session_pool *p, uint32_t hash, int64_t t)
{
    struct session_block *b;
    uint32_t place, session;

    if (list_empty(&p->partial))
        block_open(p);
    b = LIST_MEMBER(list_first(&p->partial), struct session_block, link);
    place = (uint32_t)__builtin_ctzll(b->free);
    b->free &= b->free - 1;
    if (b->free == 0)
        list_remove(&b->link);
    session = b->index * SESSION_BLOCK + place;
    *session_at(p, session) = (struct session){
        .first = t,
        .last = t,
        .opened = p->opened++,
        .hash = hash,
        .before = SESSION_NONE,
        .after = SESSION_NONE,
        .next = session,
        .run = {{REFERENCE_NONE, REFERENCE_NONE}, {REFERENCE_NONE, REFERENCE_NONE}},
    };
    p->count++;
    return session;
}

void session_close(struct session_pool *p, uint32_t session)
{
    struct session_block *b = p->blocks.at[session / SESSION_BLOCK];
    uint64_t bit = UINT64_C(1) << session % SESSION_BLOCK;

    assert((b->free & bit) == 0);
    if (b->free == 0)
        list_append(&p->partial, &b->link);
    b->free |= bit;
    p->count--;
    if (b->free == block_all_free(b))
        block_close(p, b);
}

/* --- the sessions of one key --- */

static uint64_t priority(const struct session_pool *p, uint32_t session)
{
    return hash_number(session_at(p, session)->opened ^ p->seed);
}

size_t session_tree_find(const struct session_pool *p, uint32_t root, int64_t t, int64_t gap,
                         uint32_t ret[2])
{
    uint32_t earlier = SESSION_NONE, later = SESSION_NONE;
    size_t n = 0;

    while (root != SESSION_NONE) {
        const struct session *s = session_at(p, root);
        if (s->first <= t) {
            earlier = root;
            root = s->after;
        } else {
            later = root;
            root = s->before;
        }
    }
    if (earlier != SESSION_NONE && t - session_at(p, earlier)->last <= gap)
        ret[n++] = earlier;
    if (later != SESSION_NONE && session_at(p, later)->first - t <= gap)
        ret[n++] = later;
    return n;
}

/* Parts the tree `root` into those that begin before `first`, and the others. */
static void split(struct session_pool *p, uint32_t root, int64_t first, uint32_t *before,
                  uint32_t *after)
{
    while (root != SESSION_NONE) {
        struct session *s = session_at(p, root);
        if (s->first < first) {
            *before = root;
            before = &s->after;
            root = s->after;
        } else {
            *after = root;
            after = &s->before;
            root = s->before;
        }
    }
    *before = *after = SESSION_NONE;
}

/* One tree of two; all of the first lie before all of the second. */
static uint32_t join(struct session_pool *p, uint32_t before, uint32_t after)
{
    uint32_t root, *to = &root;

    while (before != SESSION_NONE && after != SESSION_NONE) {
        if (priority(p, before) > priority(p, after)) {
            *to = before;
            to = &session_at(p, before)->after;
            before = *to;
        } else {
            *to = after;
            to = &session_at(p, after)->before;
            after = *to;
        }
    }
    *to = before != SESSION_NONE ? before : after;
    return root;
}

/* The link on the way to a session that begins at `first`. */
static uint32_t *step(struct session_pool *p, uint32_t root, int64_t first)
{
    struct session *s = session_at(p, root);
    return first < s->first ? &s->before : &s->after;
}

uint32_t session_tree_put(struct session_pool *p, uint32_t root, uint32_t session)
{
    struct session *s = session_at(p, session);
    uint64_t own = priority(p, session);
    uint32_t *link = &root;

    while (*link != SESSION_NONE && priority(p, *link) >= own)
        link = step(p, *link, s->first);
    split(p, *link, s->first, &s->before, &s->after);
    *link = session;
    return root;
}

uint32_t session_tree_take(struct session_pool *p, uint32_t root, uint32_t session)
{
    struct session *s = session_at(p, session);
    uint32_t *link = &root;

    while (*link != session) {
        assert(*link != SESSION_NONE);
        link = step(p, *link, s->first);
    }
    *link = join(p, s->before, s->after);
    s->before = s->after = SESSION_NONE;
    return root;
}

uint32_t session_tree_later(struct session_pool *p, uint32_t root, int64_t last)
{
    uint32_t later, *to = &later;

    while (root != SESSION_NONE) {
        struct session *s = session_at(p, root);
        if (s->last <= last) {
            root = s->after;
        } else {
            *to = root;
            to = &s->before;
            root = s->before;
        }
    }
    *to = SESSION_NONE;
    return later;
}

void session_absorb(struct session_pool *p, uint32_t younger, uint32_t elder)
{
    struct session *y = session_at(p, younger), *e = session_at(p, elder);
    uint32_t next = y->next;

    assert(e->opened < y->opened);
    if (e->first < y->first)
        y->first = e->first;
    if (e->last > y->last)
        y->last = e->last;
    e->part = true;
    y->next = e->next;
    e->next = next;
}
