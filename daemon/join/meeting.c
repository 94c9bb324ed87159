#include "join/meeting.h"

#include <assert.h>

/* What a step takes, in fuel: most are misses of the cache. */
#define MEET_FUEL 6
#define ON_FUEL   4

void meeting_init(struct meeting *m, const struct operator_context *c, uint32_t prefix)
{
    *m = (struct meeting){.context = *c, .pads = plan_pads(c->plan, SIDE_LEFT)};
    pairing_init(&m->pairing, c->plan, c->books);
    spent_init(&m->spent);
    for (int s = 0; s < SIDES; s++)
        arena_init(&m->side[s], prefix);
}

static bool meeting_ok(const struct meeting *m)
{
    const struct arena *left = &m->side[SIDE_LEFT], *right = &m->side[SIDE_RIGHT];

    return left->undecided <= left->records && right->undecided <= right->records;
}

void meeting_done(struct meeting *m)
{
    assert(meeting_ok(m));
    for (int s = 0; s < SIDES; s++)
        arena_done(&m->side[s], m->context.pool);
    pairing_done(&m->pairing);
}

/* --- records that go --- */

static void release(struct meeting *m, enum side side, uint32_t ref)
{
    spent_release(&m->spent, m->side, m->context.pool, side, ref);
}

void meeting_give_back(struct meeting *m, int64_t *fuel)
{
    assert(meeting_ok(m));
    spent_give_back(&m->spent, m->side, m->context.pool, fuel);
}

void meeting_forget(struct meeting *m, uint32_t right)
{
    struct record *r = meeting_record(m, SIDE_RIGHT, right);

    if (!record_has(r, RECORD_DECIDED))
        pairing_unmatched(m->context.books, SIDE_RIGHT, r, &m->side[SIDE_RIGHT].undecided);
    release(m, SIDE_RIGHT, right);
}

/* --- rows --- */

static size_t tell(struct meeting *m, enum result_kind kind, const struct record *l,
                   const struct record *r, struct result *ret)
{
    pairing_result(ret, kind, l, r, RESULT_NO_WINDOW, RESULT_NO_WINDOW);
    ret->time[SIDE_LEFT] = record_time(l);
    if (r != NULL)
        ret->time[SIDE_RIGHT] = record_time(r);
    m->spent.lent = true;
    return 1;
}

static size_t tell_match(struct meeting *m, struct record *l, struct record *r, struct result *ret)
{
    struct books *books = m->context.books;

    pairing_matched(books, SIDE_LEFT, l, &m->side[SIDE_LEFT].undecided);
    pairing_matched(books, SIDE_RIGHT, r, &m->side[SIDE_RIGHT].undecided);
    if (!plan_is_one_sided(m->context.plan))
        return tell(m, RESULT_PAIR, l, r, ret);
    return m->context.plan->type == JOIN_SEMI ? tell(m, RESULT_SEMI, l, NULL, ret) : 0;
}

static size_t tell_unmatched(struct meeting *m, struct record *l, struct result *ret)
{
    const struct plan *plan = m->context.plan;

    assert(!record_has(l, RECORD_MATCHED));
    pairing_unmatched(m->context.books, SIDE_LEFT, l, &m->side[SIDE_LEFT].undecided);
    return m->pads ? tell(m, pairing_padded_kind(plan, SIDE_LEFT), l, NULL, ret) : 0;
}

static enum pairing_answer ask_on(struct meeting *m, const struct record *l, const struct record *r,
                                  int64_t *fuel)
{
    if (r == NULL)
        return PAIRING_NO;
    if (m->context.plan->on != NULL)
        *fuel -= ON_FUEL;
    pairing_forget(&m->pairing); /* each left record asks once */
    return pairing_on(&m->pairing, l, r);
}

size_t meeting_tell(struct meeting *m, uint32_t left, uint32_t right, struct result *ret,
                    int64_t *fuel, bool *ret_over)
{
    struct record *l = meeting_record(m, SIDE_LEFT, left);
    struct record *r = right == REFERENCE_NONE ? NULL : meeting_record(m, SIDE_RIGHT, right);
    size_t n = 0;

    assert(!record_has(l, RECORD_DECIDED));
    *fuel -= MEET_FUEL;
    *ret_over = true;
    switch (ask_on(m, l, r, fuel)) {
    case PAIRING_YES:
        n = tell_match(m, l, r, ret);
        break;
    case PAIRING_NO:
        n = tell_unmatched(m, l, ret);
        break;
    case PAIRING_FAILED:
        *ret_over = false;
        return tell(m, RESULT_FAILED, l, r, ret);
    }
    release(m, SIDE_LEFT, left);
    return n;
}

/* --- room --- */

uint64_t meeting_room(const struct meeting *m, uint64_t other_bytes)
{
    uint64_t bytes = meeting_bytes(m) + other_bytes, max = *m->context.state_bytes_max;

    if (m->side[SIDE_LEFT].records + m->side[SIDE_RIGHT].records == 0)
        return UINT64_MAX;
    return bytes < max ? max - bytes : 0;
}
