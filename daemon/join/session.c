#include "join/session.h"

#include <assert.h>

#include "base/hash.h"

static struct bytes key_of(const void *self, const void *session)
{
    return record_key(session_record(self, session));
}

/* --- the pool --- */

void session_pool_init(struct session_pool *p, struct slab_pool *slab, uint64_t seed,
                       struct arena records[SIDES], const struct near_times *times)
{
    *p = (struct session_pool){.slab = slab, .records = records, .times = times, .seed = seed};
    keyed_table_init(&p->table, sizeof(struct session), key_of, p);
    pieces_init(&p->mores, sizeof(struct session_more));
}

void session_pool_done(struct session_pool *p)
{
    keyed_table_done(&p->table, p->slab);
    pieces_done(&p->mores, p->slab);
}

uint64_t session_pool_need(const struct session_pool *p, unsigned sessions, unsigned mores)
{
    uint64_t own = pieces_growth(&p->table.entries, sessions);
    uint64_t more = pieces_growth(&p->mores, mores);

    return own == UINT64_MAX || more == UINT64_MAX ? UINT64_MAX : own + more;
}

uint32_t session_open(struct session_pool *p, uint32_t hash, enum side side, uint32_t ref)
{
    uint32_t session = keyed_table_take(&p->table, p->slab, hash);
    struct session *s = session_at(p, session);

    s->run[side] = ref;
    s->run[side_other(side)] = REFERENCE_NONE;
    arena_record(&p->records[side], ref)->hash = ref;
    s->more = PIECES_NONE;
    s->opened = p->opened++;
    p->count++;
    return session;
}

void session_close(struct session_pool *p, uint32_t session)
{
    const struct session *s = session_at(p, session);

    assert(p->count > 0);
    if (!session_is_plain(s))
        pieces_give(&p->mores, p->slab, s->more);
    keyed_table_give(&p->table, p->slab, session);
    p->count--;
}

/* --- its records --- */

/* One on which it has records: each session has some. */
static enum side some_side(const struct session *s)
{
    return s->run[SIDE_LEFT] != REFERENCE_NONE ? SIDE_LEFT : SIDE_RIGHT;
}

const struct record *session_record(const struct session_pool *p, const struct session *s)
{
    enum side side = some_side(s);
    return arena_record(&p->records[side], s->run[side]);
}

bool session_has_one_record(const struct session_pool *p, uint32_t session)
{
    const struct session *s = session_at(p, session);
    enum side side = some_side(s);

    return session_is_plain(s) && s->run[side_other(side)] == REFERENCE_NONE &&
           arena_record(&p->records[side], s->run[side])->hash == s->run[side];
}

static int64_t time_of(const struct session_pool *p, enum side side, uint32_t ref)
{
    return record_time_near(arena_record(&p->records[side], ref), p->times->base);
}

int64_t session_first(const struct session_pool *p, uint32_t session)
{
    const struct session *s = session_at(p, session);
    int64_t first = INT64_MAX;

    if (!session_is_plain(s))
        return session_more_at(p, session)->first;
    for (int side = 0; side < SIDES; side++) {
        if (s->run[side] != REFERENCE_NONE) {
            int64_t t = time_of(p, side, arena_record(&p->records[side], s->run[side])->hash);
            first = t < first ? t : first;
        }
    }
    return first;
}

int64_t session_last(const struct session_pool *p, uint32_t session)
{
    const struct session *s = session_at(p, session);
    int64_t last = INT64_MIN;

    if (!session_is_plain(s))
        return session_more_at(p, session)->last;
    for (int side = 0; side < SIDES; side++) {
        if (s->run[side] != REFERENCE_NONE) {
            int64_t t = time_of(p, side, s->run[side]);
            last = t > last ? t : last;
        }
    }
    return last;
}

/* What is not older than the last one on its side makes nothing older, nor is it missed that
 * that one is the last no more. What is older must leave the last time to the other side. */
bool session_needs_more(const struct session_pool *p, uint32_t session, enum side side, int64_t t)
{
    const struct session *s = session_at(p, session);
    enum side other = side_other(side);
    int64_t before;

    if (!session_is_plain(s) || s->run[side] == REFERENCE_NONE)
        return false;
    before = time_of(p, side, s->run[side]);
    if (t >= before)
        return false;
    return s->run[other] == REFERENCE_NONE || time_of(p, other, s->run[other]) < before ||
           t < session_first(p, session);
}

/* It is plain no more. */
static void widen(struct session_pool *p, uint32_t session)
{
    struct session_more more = {.next = session, .before = SESSION_NONE, .after = SESSION_NONE};

    if (!session_is_plain(session_at(p, session)))
        return;
    more.first = session_first(p, session);
    more.last = session_last(p, session);
    session_at(p, session)->more = pieces_take(&p->mores, p->slab);
    *session_more_at(p, session) = more;
}

static void reach(struct session_more *m, int64_t t)
{
    assert(m->first <= m->last);
    if (t < m->first)
        m->first = t;
    if (t > m->last)
        m->last = t;
}

void session_add(struct session_pool *p, uint32_t session, enum side side, uint32_t ref)
{
    struct session *s = session_at(p, session);
    struct record *r = arena_record(&p->records[side], ref), *before;
    int64_t t = record_time_near(r, p->times->base);

    if (session_needs_more(p, session, side, t))
        widen(p, session);
    if (!session_is_plain(s))
        reach(session_more_at(p, session), t);
    if (s->run[side] == REFERENCE_NONE) {
        r->hash = ref;
    } else {
        before = arena_record(&p->records[side], s->run[side]);
        r->hash = before->hash;
        before->hash = ref;
    }
    s->run[side] = ref;
}

void session_cut(struct session_pool *p, uint32_t session)
{
    struct session *s = session_at(p, session);

    for (int side = 0; side < SIDES; side++) {
        if (s->run[side] != REFERENCE_NONE) {
            struct record *last = arena_record(&p->records[side], s->run[side]);
            s->run[side] = last->hash;
            last->hash = REFERENCE_NONE;
        }
    }
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

/* When it began is looked at last: mostly that is far back, and records come after it. */
static bool takes(const struct session_pool *p, uint32_t session, int64_t t, int64_t gap)
{
    int64_t last = session_last(p, session);

    assert(gap > 0);
    return near(last, t, gap) && (near(t, last, gap) || near(t, session_first(p, session), gap));
}

size_t session_tree_find(const struct session_pool *p, uint32_t root, int64_t t, int64_t gap,
                         uint32_t ret[2])
{
    uint32_t earlier = SESSION_NONE, later = SESSION_NONE;
    size_t n = 0;

    if (root != SESSION_NONE && session_is_plain(session_at(p, root))) {
        ret[0] = root;
        return takes(p, root, t, gap);
    }
    while (root != SESSION_NONE) {
        const struct session_more *m = session_more_at(p, root);
        if (m->first <= t) {
            earlier = root;
            root = m->after;
        } else {
            later = root;
            root = m->before;
        }
    }
    if (earlier != SESSION_NONE && near(session_more_at(p, earlier)->last, t, gap))
        ret[n++] = earlier;
    if (later != SESSION_NONE && near(t, session_more_at(p, later)->first, gap))
        ret[n++] = later;
    return n;
}

/* Parts the tree `root` into those that begin before `first`, and the others. */
static void split(struct session_pool *p, uint32_t root, int64_t first, uint32_t *before,
                  uint32_t *after)
{
    while (root != SESSION_NONE) {
        struct session_more *m = session_more_at(p, root);
        if (m->first < first) {
            *before = root;
            before = &m->after;
            root = m->after;
        } else {
            *after = root;
            after = &m->before;
            root = m->before;
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
            to = &session_more_at(p, before)->after;
            before = *to;
        } else {
            *to = after;
            to = &session_more_at(p, after)->before;
            after = *to;
        }
    }
    *to = before != SESSION_NONE ? before : after;
    return root;
}

/* The link on the way to a session that begins at `first`. */
static uint32_t *step(struct session_pool *p, uint32_t root, int64_t first)
{
    struct session_more *m = session_more_at(p, root);
    return first < m->first ? &m->before : &m->after;
}

uint32_t session_tree_put(struct session_pool *p, uint32_t root, uint32_t session)
{
    uint64_t own = priority(p, session);
    uint32_t *link = &root;
    struct session_more *m;

    assert(root != session);
    if (root == SESSION_NONE)
        return session;
    widen(p, root);
    widen(p, session);
    m = session_more_at(p, session);
    while (*link != SESSION_NONE && priority(p, *link) >= own)
        link = step(p, *link, m->first);
    split(p, *link, m->first, &m->before, &m->after);
    *link = session;
    return root;
}

uint32_t session_tree_take(struct session_pool *p, uint32_t root, uint32_t session)
{
    struct session_more *m = session_more_at(p, session);
    uint32_t *link = &root;

    while (*link != session) {
        assert(*link != SESSION_NONE);
        link = step(p, *link, m->first);
    }
    *link = join(p, m->before, m->after);
    m->before = m->after = SESSION_NONE;
    return root;
}

uint32_t session_tree_later(struct session_pool *p, uint32_t root, int64_t last)
{
    uint32_t later, *to = &later;

    if (root != SESSION_NONE && session_is_plain(session_at(p, root)))
        return session_last(p, root) <= last ? SESSION_NONE : root;
    while (root != SESSION_NONE) {
        struct session_more *m = session_more_at(p, root);
        if (m->last <= last) {
            root = m->after;
        } else {
            *to = root;
            to = &m->before;
            root = m->before;
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
    struct session_more *y = session_more_at(p, younger), *e = session_more_at(p, elder);
    uint32_t next = y->next;

    assert(session_at(p, elder)->opened < session_at(p, younger)->opened);
    reach(y, e->first);
    reach(y, e->last);
    e->before = SESSION_PART;
    y->next = e->next;
    e->next = next;
}
