#include "core/session.h"

#include "base/hash.h"

/* --- the pool --- */

void session_pool_init(struct session_pool *p, struct slab_pool *slab, uint64_t seed,
                       struct bytes (*key_of)(const void *self, const void *session),
                       const void *self)
{
    *p = (struct session_pool){.slab = slab, .seed = seed};
    keyed_table_init(&p->table, sizeof(struct session), key_of, self);
}

void session_pool_done(struct session_pool *p)
{
    keyed_table_done(&p->table, p->slab);
}

uint32_t session_open(struct session_pool *p, uint32_t hash, int64_t t)
{
    uint32_t session = keyed_table_take(&p->table, p->slab, hash);
    struct session *s = session_at(p, session);

    s->before = s->after = SESSION_NONE;
    s->next = session;
    for (int side = 0; side < SIDES; side++)
        s->run[side] = (struct session_run){REFERENCE_NONE, REFERENCE_NONE};
    s->first = s->last = t;
    s->opened = p->opened++;
    p->count++;
    return session;
}

void session_close(struct session_pool *p, uint32_t session)
{
    keyed_table_give(&p->table, p->slab, session);
    p->count--;
}

/* --- the sessions of one key --- */

static uint64_t priority(const struct session_pool *p, uint32_t session)
{
    return hash_number(session_at(p, session)->opened ^ p->seed);
}

/* No more than `gap` from one to the other, however far apart times can be. */
static bool near(int64_t earlier, int64_t later, int64_t gap)
{
    return earlier >= later || (uint64_t)later - (uint64_t)earlier <= (uint64_t)gap;
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
    if (earlier != SESSION_NONE && near(session_at(p, earlier)->last, t, gap))
        ret[n++] = earlier;
    if (later != SESSION_NONE && near(t, session_at(p, later)->first, gap))
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

void session_root(struct session_pool *p, uint32_t root, uint32_t by)
{
    if (by == SESSION_NONE)
        keyed_table_leave(&p->table, p->slab, root);
    else if (by != root)
        keyed_table_replace(&p->table, root, by);
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
    e->before = SESSION_PART;
    y->next = e->next;
    e->next = next;
}
