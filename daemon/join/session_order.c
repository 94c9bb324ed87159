#include "join/session_order.h"

#include <assert.h>

/* What it takes to look at a record that is in no cache, in units of fuel. */
#define FETCH_FUEL 4

void session_order_begin(struct session_order *o, uint32_t session)
{
    o->at = session;
    o->side = SIDE_LEFT;
    o->merging = false;
}

static uint32_t *link_of(const struct session_order *o, const struct session_pool *p, uint32_t ref)
{
    return &arena_record(&p->records[o->side], ref)->hash;
}

static uint64_t number_of(const struct session_order *o, const struct session_pool *p, uint32_t ref)
{
    return reference_number(arena_chunks(&p->records[o->side]), ref);
}

/* One ring of two, all of the first of which came before all of the second. Rings are known by
 * their last record, whose link is the first. */
static uint32_t hang(const struct session_order *o, const struct session_pool *p, uint32_t first,
                     uint32_t second)
{
    uint32_t begin;

    if (first == REFERENCE_NONE || second == REFERENCE_NONE)
        return first == REFERENCE_NONE ? second : first;
    begin = *link_of(o, p, first);
    *link_of(o, p, first) = *link_of(o, p, second);
    *link_of(o, p, second) = begin;
    return second;
}

static void side_done(struct session_order *o, struct session *into, uint32_t made)
{
    into->run[o->side] = made;
    o->side = side_other(o->side);
    o->merging = false;
}

/* Did all of the first ring come before all of the second? */
static bool lies_before(const struct session_order *o, const struct session_pool *p, uint32_t first,
                        uint32_t second)
{
    return number_of(o, p, first) < number_of(o, p, *link_of(o, p, second));
}

static void side_begin(struct session_order *o, const struct session_pool *p, struct session *into,
                       const struct session *from)
{
    uint32_t a = into->run[o->side], b = from->run[o->side];

    assert(!o->merging);
    if (a == REFERENCE_NONE || b == REFERENCE_NONE || lies_before(o, p, a, b)) {
        side_done(o, into, hang(o, p, a, b));
    } else if (lies_before(o, p, b, a)) {
        side_done(o, into, hang(o, p, b, a));
    } else {
        o->merging = true;
        o->rest[0] = *link_of(o, p, a);
        o->rest[1] = *link_of(o, p, b);
        o->made = REFERENCE_NONE;
    }
}

/* One record more, or, where one ring is used up, all that is left of the other. */
static void side_step(struct session_order *o, const struct session_pool *p, struct session *into,
                      const struct session *from)
{
    int which = number_of(o, p, o->rest[0]) < number_of(o, p, o->rest[1]) ? 0 : 1;
    uint32_t ref = o->rest[which], last[2] = {into->run[o->side], from->run[o->side]};

    assert(o->merging);
    o->rest[which] = *link_of(o, p, ref);
    *link_of(o, p, ref) = ref;
    o->made = hang(o, p, o->made, ref);
    if (ref != last[which])
        return;
    *link_of(o, p, last[1 - which]) = o->rest[1 - which];
    side_done(o, into, hang(o, p, o->made, last[1 - which]));
}

bool session_order_go(struct session_order *o, struct session_pool *p, int64_t *fuel)
{
    while (*fuel > 0) {
        struct session *into = session_at(p, o->at), *from;
        bool last_side = o->side == SIDE_RIGHT;
        uint32_t next;

        if (session_is_plain(into) || (next = session_more_at(p, o->at)->next) == o->at)
            return true;
        from = session_at(p, next);
        *fuel -= FETCH_FUEL;
        if (o->merging)
            side_step(o, p, into, from);
        else
            side_begin(o, p, into, from);
        if (!last_side || o->side == SIDE_RIGHT)
            continue;
        session_more_at(p, o->at)->next = session_more_at(p, next)->next;
        session_close(p, next);
        o->at = session_more_at(p, o->at)->next;
    }
    return false;
}
