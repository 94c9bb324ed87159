/* Sessions: one a key over both sides. semantics.md section 2. */
#include "reference_parts.h"

static long long end_of(const struct reference *r, const struct ref_session *s)
{
    return s->last + r->plan.gap;
}

/* Event time: wm >= end + grace; else the clock is past the end. One later than windows. */
static long long fires_at(const struct reference *r, long long end)
{
    return end + r->plan.grace + (ref_broken(r, REF_SESSION_FIRES_TOO_SOON) ? 0 : 1);
}

/* --- firing --- */

static bool in_it(const struct reference *r, size_t i, int session, enum ref_side side)
{
    const struct ref_kept *k = &r->kept[i];
    return k->stored && k->session == session && k->record.side == side;
}

/* All that becomes of one left record; `one_sided`: of semi and anti. */
static void join_left(struct reference *r, struct ref_kept *left, bool one_sided)
{
    for (size_t i = 0; i < r->kept_count; i++) {
        struct ref_kept *right = &r->kept[i];
        if (!in_it(r, i, left->session, REF_SIDE_RIGHT) || !ref_keys_equal(r, left, right) ||
            !ref_on(r, left, right))
            continue;
        if (one_sided && left->fate == REF_MATCHED) {
            ref_has_matched(right); /* sabotage */
            continue;
        }
        ref_has_matched(left);
        ref_has_matched(right);
        if (r->plan.type == REF_SEMI)
            ref_add(r, REF_SEMI_ROW, left, NULL);
        if (!one_sided)
            ref_add(r, REF_PAIR, left, right);
        else if (!ref_broken(r, REF_ALL_ARE_DECIDED))
            return;
    }
}

static void fire(struct reference *r, int session)
{
    struct ref_session *s = &r->sessions[session];
    s->open = false;
    ref_next_group(r);
    ref_bounds(r, s->start, end_of(r, s));
    for (size_t i = 0; i < r->kept_count; i++)
        if (in_it(r, i, session, REF_SIDE_LEFT)) {
            join_left(r, &r->kept[i], ref_is_one_sided(r));
            if (r->kept[i].fate == REF_HELD)
                ref_pad(r, &r->kept[i]);
        }
    for (size_t i = 0; i < r->kept_count; i++)
        if (in_it(r, i, session, REF_SIDE_RIGHT) && r->kept[i].fate == REF_HELD)
            ref_pad(r, &r->kept[i]);
    for (size_t i = 0; i < r->kept_count; i++)
        if (r->kept[i].stored && r->kept[i].session == session)
            ref_has_left(&r->kept[i]);
}

static int first_open(const struct reference *r)
{
    int first = REF_NOBODY;
    for (size_t i = 0; i < r->session_count; i++)
        if (r->sessions[i].open &&
            (first == REF_NOBODY || r->sessions[i].last < r->sessions[first].last))
            first = (int)i;
    return first;
}

bool ref_session_due(const struct reference *r, long long *ret_time)
{
    int first = first_open(r);
    if (first == REF_NOBODY)
        return false;
    *ret_time = fires_at(r, end_of(r, &r->sessions[first]));
    return true;
}

/* In order of end; those of one end in any order. */
void ref_session_advance(struct reference *r)
{
    long long due, before = 0;
    for (bool any = false; ref_session_due(r, &due) && ref_has_come(r, due); any = true) {
        if (!any || due != before)
            ref_next_section(r);
        before = due;
        fire(r, first_open(r));
    }
}

/* --- a record comes --- */

/* At most `gap` apart from one that is in it, and of the same key. */
static bool takes(const struct reference *r, int session, const struct ref_kept *k)
{
    long long gap = r->plan.gap - (ref_broken(r, REF_GAP_EXCLUSIVE) ? 1 : 0);
    for (size_t i = 0; i < r->kept_count; i++) {
        const struct ref_kept *other = &r->kept[i];
        if (other != k && other->stored && other->session == session &&
            ref_keys_equal(r, k, other) && k->time <= other->time + gap &&
            other->time <= k->time + gap)
            return true;
    }
    return false;
}

static int new_session(struct reference *r, long long t)
{
    r->sessions =
        ref_room_for_one(r->sessions, r->session_count, &r->session_capacity, sizeof(*r->sessions));
    r->sessions[r->session_count] = (struct ref_session){.start = t, .last = t, .open = true};
    return (int)r->session_count++;
}

/* The records of `from` belong to `to` from now on. */
static void merge(struct reference *r, int from, int to)
{
    struct ref_session *a = &r->sessions[from], *b = &r->sessions[to];
    a->open = false;
    b->start = a->start < b->start ? a->start : b->start;
    b->last = a->last > b->last ? a->last : b->last;
    for (size_t i = 0; i < r->kept_count; i++)
        if (r->kept[i].stored && r->kept[i].session == from)
            r->kept[i].session = to;
}

void ref_session_take(struct reference *r, size_t kept)
{
    struct ref_kept *k = &r->kept[kept];
    long long t = k->time;
    bool any = false;
    for (size_t i = 0; i < r->session_count; i++)
        any = any || (r->sessions[i].open && takes(r, (int)i, k));
    if (!any && r->plan.event_time && ref_has_come(r, fires_at(r, t + r->plan.gap))) {
        ref_is_late(r, k);
        r->late_windows[k->record.side]++;
        return;
    }
    int own = new_session(r, t);
    k->stored = true;
    k->session = own;
    for (int i = 0; i < own; i++)
        if (r->sessions[i].open && takes(r, i, k))
            merge(r, i, own);
}
