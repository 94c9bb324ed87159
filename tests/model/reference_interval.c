/* The interval join: semantics.md section 3. */
#include "reference_parts.h"

static bool are_near(const struct reference *r, const struct ref_kept *left,
                     const struct ref_kept *right)
{
    long long apart = right->time - left->time;
    long long lower = r->plan.lower + (ref_broken(r, REF_LOWER_EXCLUSIVE) ? 1 : 0);
    long long upper = r->plan.upper - (ref_broken(r, REF_UPPER_EXCLUSIVE) ? 1 : 0);
    return lower <= apart && apart <= upper;
}

/* The instant at which time has passed the last partner that it could have (plus grace). */
static long long expires_at(const struct reference *r, const struct ref_kept *k)
{
    bool left = k->record.side == REF_SIDE_LEFT;
    long long last = left ? k->time + r->plan.upper : k->time - r->plan.lower;
    return last + r->plan.grace + (ref_broken(r, REF_INTERVAL_FORGETS_TOO_SOON) ? 0 : 1);
}

static bool has_passed(const struct reference *r, const struct ref_kept *k)
{
    return r->time == REF_END_OF_TIME || (r->time != REF_NO_TIME && r->time >= expires_at(r, k));
}

/* --- padding --- */

/* Does `a` leave before `b`? By instant, then left, then by arrival. */
static bool leaves_before(const struct reference *r, const struct ref_kept *a,
                          const struct ref_kept *b)
{
    long long x = expires_at(r, a), y = expires_at(r, b);
    if (x != y)
        return x < y;
    if (a->record.side != b->record.side)
        return (a->record.side == REF_SIDE_LEFT) != ref_broken(r, REF_INTERVAL_PADS_RIGHT_FIRST);
    return a < b;
}

static struct ref_kept *next_one(const struct reference *r)
{
    struct ref_kept *next = NULL;
    for (size_t i = 0; i < r->kept_count; i++)
        if (r->kept[i].stored && (next == NULL || leaves_before(r, &r->kept[i], next)))
            next = &r->kept[i];
    return next;
}

static void pad(struct reference *r, const struct ref_kept *k)
{
    ref_next_section(r);
    if (k->fate == REF_HELD)
        ref_pad(r, k);
}

void ref_interval_advance(struct reference *r)
{
    for (struct ref_kept *k = next_one(r); k != NULL && has_passed(r, k); k = next_one(r)) {
        pad(r, k);
        ref_has_left(k);
    }
}

/* Of the records whose fate is open. */
bool ref_interval_due(const struct reference *r, long long *ret_time)
{
    const struct ref_kept *next = NULL;
    for (size_t i = 0; i < r->kept_count; i++)
        if (r->kept[i].stored && r->kept[i].fate == REF_HELD &&
            (next == NULL || leaves_before(r, &r->kept[i], next)))
            next = &r->kept[i];
    if (next != NULL)
        *ret_time = expires_at(r, next);
    return next != NULL;
}

/* --- a record comes --- */

static void meet(struct reference *r, struct ref_kept *left, struct ref_kept *right)
{
    bool one_sided = ref_is_one_sided(r), decided = one_sided && left->fate == REF_MATCHED;
    if (decided && !ref_broken(r, REF_ALL_ARE_DECIDED))
        return;
    if (!are_near(r, left, right) || !ref_keys_equal(r, left, right) || !ref_on(r, left, right))
        return;
    ref_has_matched(left);
    ref_has_matched(right);
    if (!one_sided)
        ref_add(r, REF_PAIR, left, right);
    else if (r->plan.type == REF_SEMI && !decided)
        ref_add(r, REF_SEMI_ROW, left, NULL);
}

/* A late record still finds the partners that are there. */
static void find_partners(struct reference *r, struct ref_kept *k)
{
    bool late = r->plan.event_time && r->time != REF_NO_TIME && k->time <= r->time;
    ref_next_section(r);
    if (late && ref_broken(r, REF_LATE_RECORDS_MATCH_NOTHING))
        return;
    for (size_t i = 0; i < r->kept_count; i++) {
        struct ref_kept *other = &r->kept[i];
        if (!other->stored || other->record.side == k->record.side)
            continue;
        if (k->record.side == REF_SIDE_LEFT)
            meet(r, k, other);
        else
            meet(r, other, k);
    }
}

void ref_interval_take(struct reference *r, size_t kept)
{
    struct ref_kept *k = &r->kept[kept];
    find_partners(r, k);
    if (!has_passed(r, k)) {
        k->stored = true;
        return;
    }
    /* It can get no more, and is not kept. */
    bool late = r->plan.event_time && k->time <= r->time;
    if (k->fate == REF_HELD && late && !ref_is_padded(r, k->record.side)) {
        ref_is_late(r, k);
        return;
    }
    pad(r, k);
    ref_has_left(k);
}
