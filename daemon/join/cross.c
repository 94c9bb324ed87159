#include "join/cross.h"

#include <assert.h>

void cross_init(struct cross *c, const struct plan *plan, struct books *books)
{
    *c = (struct cross){
        .pads = {plan_pads(plan, SIDE_LEFT), plan_pads(plan, SIDE_RIGHT)},
        .one_sided = plan_is_one_sided(plan),
        .asks = plan->on != NULL,
        .tasks = CROSS_TELL | CROSS_CLOSE,
        .matched_flag = RECORD_MATCHED,
        .members = {CROSS_ALL, CROSS_ALL},
        .leaving = {CROSS_ALL, CROSS_ALL},
        .right = REFERENCE_NONE,
        .lefts_done = true,
    };
    pairing_init(&c->pairing, plan, books);
}

void cross_done(struct cross *c)
{
    pairing_done(&c->pairing);
}

static inline struct record *record_at(const struct cross *c, enum side side, uint32_t ref)
{
    return reference_record(c->chunks[side], ref);
}

static inline bool in_range(struct cross_range r, uint32_t ref)
{
    return (ref >> REFERENCE_PLACE_BITS) - r.first < r.count;
}

/* --- lefts and their rights --- */

/* The rights that the left record at hand is shown, from the first one on. */
static uint32_t rights_for_left(const struct cross *c)
{
    struct record *l;

    if (c->left == REFERENCE_NONE || c->alone || (c->tasks & (CROSS_TELL | CROSS_DERIVE)) == 0 ||
        !in_range(c->members[SIDE_LEFT], c->left))
        return REFERENCE_NONE;
    l = record_at(c, SIDE_LEFT, c->left);
    if ((c->tasks & CROSS_DERIVE) != 0) {
        l->size_flags &= (uint16_t)~c->matched_flag;
        return record_has(l, RECORD_MATCHED) ? c->head[SIDE_RIGHT] : REFERENCE_NONE;
    }
    if (c->one_sided && record_has(l, (enum record_flag)c->matched_flag))
        return REFERENCE_NONE; /* its one row has been told */
    return c->head[SIDE_RIGHT];
}

/* Matches are told, or found out once more; and marked where the task says. */
static bool cross_ok(const struct cross *c)
{
    bool derives = (c->tasks & CROSS_DERIVE) != 0;

    return !(derives && (c->tasks & CROSS_TELL) != 0) &&
           (c->matched_flag == RECORD_PAIRED || (c->matched_flag == RECORD_MATCHED && !derives)) &&
           c->debt >= 0;
}

void cross_begin(struct cross *c, const uint32_t head[SIDES], bool alone)
{
    assert(cross_ok(c));
    c->head[SIDE_LEFT] = c->left = head[SIDE_LEFT];
    c->head[SIDE_RIGHT] = head[SIDE_RIGHT];
    c->alone = alone;
    c->lefts_done = c->rights_known = false;
    c->right = rights_for_left(c);
}

static void mark(struct cross *c, enum side side, uint32_t ref, struct record *r)
{
    if (!record_has(r, RECORD_MATCHED))
        pairing_matched(c->pairing.books, side, r, cross_held(c, side, ref));
    r->size_flags |= c->matched_flag;
}

static size_t tell_pair(struct cross *c, struct record *l, uint32_t right, struct record *r,
                        struct result *ret)
{
    enum pairing_answer answer = c->asks ? pairing_on(&c->pairing, l, r) : PAIRING_YES;

    if (answer == PAIRING_FAILED) {
        cross_tell(c, RESULT_FAILED, l, r, ret);
        return 1;
    }
    if (answer == PAIRING_NO)
        return 0;
    mark(c, SIDE_LEFT, c->left, l);
    mark(c, SIDE_RIGHT, right, r);
    if (!c->one_sided) {
        cross_tell(c, RESULT_PAIR, l, r, ret);
        return 1;
    }
    c->right = REFERENCE_NONE; /* one match decides */
    if (c->pads[SIDE_LEFT])
        return 0; /* anti */
    cross_tell(c, RESULT_SEMI, l, NULL, ret);
    return 1;
}

/* Asks only for what is not known yet, and only of sides whose rows depend on it. */
static void derive_pair(struct cross *c, struct record *l, struct record *r)
{
    enum record_flag flag = (enum record_flag)c->matched_flag;
    bool ask_left = (c->pads[SIDE_LEFT] || c->one_sided) && !record_has(l, flag);
    bool ask_right = c->pads[SIDE_RIGHT] && !record_has(r, flag);

    if ((ask_left || ask_right) && pairing_on(&c->pairing, l, r) == PAIRING_YES) {
        l->size_flags |= c->matched_flag;
        r->size_flags |= c->matched_flag;
        ask_left = false;
    }
    if (!ask_left && (!c->pads[SIDE_RIGHT] || c->rights_known))
        c->right = REFERENCE_NONE;
}

/* The pair (left, right); moves on to the next right one. */
static size_t take_pair(struct cross *c, struct record *l, struct result *ret)
{
    uint32_t at = c->right;
    struct record *r = record_at(c, SIDE_RIGHT, at);

    c->right = r->hash;
    if (!in_range(c->members[SIDE_RIGHT], at))
        return 0;
    if ((c->tasks & CROSS_TELL) != 0)
        return tell_pair(c, l, at, r, ret);
    derive_pair(c, l, r);
    return 0;
}

/* --- what had no match --- */

void cross_leave(struct cross *c, enum side side, uint32_t ref, struct record *r, uint32_t hash)
{
    if ((c->tasks & CROSS_CLOSE) == 0 || record_has(r, RECORD_DECIDED) ||
        !in_range(c->leaving[side], ref))
        return;
    pairing_unmatched(c->pairing.books, side, r, cross_held(c, side, ref));
    if (c->near_miss == NULL || record_has(r, RECORD_NULL_KEY))
        return;
    near_miss_lost(c->near_miss, side, hash, record_time_near(r, c->time_base));
    c->debt += NEAR_MISS_FUEL;
}

/* All that could have matched the record at `ref` is passed. */
static size_t tell_end(struct cross *c, enum side side, uint32_t ref, struct record *r,
                       struct result *ret)
{
    if ((c->tasks & CROSS_CLOSE) == 0 || !in_range(c->members[side], ref))
        return 0;
    cross_leave(c, side, ref, r, c->hash);
    if (!c->pads[side] || record_has(r, (enum record_flag)c->matched_flag))
        return 0;
    cross_tell(c, pairing_padded_kind(c->pairing.plan, side), side == SIDE_LEFT ? r : NULL,
               side == SIDE_RIGHT ? r : NULL, ret);
    return 1;
}

static size_t take_left(struct cross *c, struct result *ret)
{
    uint32_t at = c->left;
    struct record *l;

    if (at == REFERENCE_NONE) {
        c->lefts_done = true;
        c->right = (c->tasks & CROSS_CLOSE) != 0 ? c->head[SIDE_RIGHT] : REFERENCE_NONE;
        return 0;
    }
    l = record_at(c, SIDE_LEFT, at);
    if (c->right != REFERENCE_NONE)
        return take_pair(c, l, ret);
    c->rights_known =
        c->rights_known || (!c->asks && !c->alone && in_range(c->members[SIDE_LEFT], at));
    c->left = l->hash;
    c->right = rights_for_left(c);
    return tell_end(c, SIDE_LEFT, at, l, ret);
}

static size_t take_right(struct cross *c, struct result *ret)
{
    uint32_t at = c->right;
    struct record *r = record_at(c, SIDE_RIGHT, at);

    c->right = r->hash;
    return tell_end(c, SIDE_RIGHT, at, r, ret);
}

size_t cross_pull(struct cross *c, struct result *ret, size_t max, int64_t *fuel)
{
    size_t n = 0;

    assert(cross_ok(c));
    for (; n<max && * fuel> 0 && !cross_is_over(c); --*fuel)
        n += c->lefts_done ? take_right(c, ret + n) : take_left(c, ret + n);
    return n;
}
