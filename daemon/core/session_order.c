#include "core/session_order.h"

/* What it takes to look at a record that is in no cache, in units of fuel. */
#define FETCH_FUEL 4

void session_order_begin(struct session_order *o, uint32_t session)
{
    o->at = session;
    o->side = SIDE_LEFT;
    o->merging = false;
}

static inline void link_to(const struct session_order *o, uint32_t from, uint32_t to)
{
    reference_record(o->chunks[o->side], from)->hash = to;
}

static inline uint64_t number_of(const struct session_order *o, uint32_t ref)
{
    return reference_number(o->chunks[o->side], ref);
}

/* The two chains, of which all of the first came before all of the second. */
static struct session_run hang(const struct session_order *o, struct session_run first,
                               struct session_run second)
{
    if (first.head == REFERENCE_NONE)
        return second;
    if (second.head == REFERENCE_NONE)
        return first;
    link_to(o, first.tail, second.head);
    return (struct session_run){first.head, second.tail};
}

static void side_done(struct session_order *o, struct session *into, struct session_run made)
{
    into->run[o->side] = made;
    o->side = side_other(o->side);
    o->merging = false;
}

static void side_begin(struct session_order *o, struct session *into, const struct session *from)
{
    struct session_run a = into->run[o->side], b = from->run[o->side];

    if (a.head == REFERENCE_NONE || b.head == REFERENCE_NONE ||
        number_of(o, a.tail) < number_of(o, b.head)) {
        side_done(o, into, hang(o, a, b));
    } else if (number_of(o, b.tail) < number_of(o, a.head)) {
        side_done(o, into, hang(o, b, a));
    } else {
        o->merging = true;
        o->rest[0] = a.head;
        o->rest[1] = b.head;
        o->made = (struct session_run){REFERENCE_NONE, REFERENCE_NONE};
    }
}

/* One record more, or, where one chain is used up, all of the other. */
static void side_step(struct session_order *o, struct session *into, const struct session *from)
{
    int which = number_of(o, o->rest[0]) < number_of(o, o->rest[1]) ? 0 : 1;
    uint32_t ref = o->rest[which];

    o->rest[which] = reference_record(o->chunks[o->side], ref)->hash;
    o->made = hang(o, o->made, (struct session_run){ref, ref});
    if (o->rest[which] != REFERENCE_NONE)
        return;
    ref = o->rest[1 - which];
    o->made =
        hang(o, o->made, (struct session_run){ref, (which == 0 ? from : into)->run[o->side].tail});
    side_done(o, into, o->made);
}

bool session_order_go(struct session_order *o, struct session_pool *p, int64_t *fuel)
{
    while (*fuel > 0) {
        struct session *into = session_at(p, o->at);
        uint32_t next = into->next;
        struct session *from = session_at(p, next);
        bool last_side = o->side == SIDE_RIGHT;

        if (next == o->at)
            return true;
        *fuel -= FETCH_FUEL;
        if (o->merging)
            side_step(o, into, from);
        else
            side_begin(o, into, from);
        if (!last_side || o->side == SIDE_RIGHT)
            continue;
        into->next = from->next;
        session_close(p, next);
        o->at = into->next;
    }
    return false;
}
