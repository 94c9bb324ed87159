/* Tumbling and sliding windows: semantics.md section 2. */
#include "reference_parts.h"

/* start = t - floormod(t - offset, slide): of the last window that starts at or before t. */
static long long last_start(const struct reference *r, long long t)
{
    const struct ref_plan *p = &r->plan;
    long long offset = ref_broken(r, REF_NO_OFFSET) ? 0 : p->offset;
    long long rest = (t - offset) % p->slide;
    if (rest < 0)
        rest += p->slide;
    return t - rest;
}

static long long end_of(const struct reference *r, long long start)
{
    return start + r->plan.size;
}

static struct ref_kept *kept_of(struct reference *r, const struct ref_stay *s)
{
    return &r->kept[s->kept];
}

/* --- a group: the records of one key in one window --- */

/* In the window, of that side, and of the same key as `first`? A NULL key is like no other. */
static bool in_group(struct reference *r, const struct ref_stay *s, const struct ref_stay *first,
                     enum ref_side side)
{
    const struct ref_kept *k = kept_of(r, s), *f = kept_of(r, first);
    if (k->record.side != side || s->start != first->start)
        return false;
    return s == first || ref_keys_equal(r, k, f);
}

static bool has_its_semi_row(struct reference *r, const struct ref_kept *left)
{
    return ref_broken(r, REF_SEMI_ONCE_A_RECORD) && left->fate == REF_MATCHED;
}

/* True: the left record is done with, as one match is enough for it. */
static bool meet(struct reference *r, struct ref_stay *left, struct ref_stay *right)
{
    struct ref_kept *l = kept_of(r, left), *k = kept_of(r, right);
    bool one_sided = ref_is_one_sided(r);
    if (one_sided && left->matched) {
        if (ref_broken(r, REF_ALL_ARE_DECIDED) && ref_on(r, l, k))
            ref_has_matched(k);
        return !ref_broken(r, REF_ALL_ARE_DECIDED);
    }
    if (!ref_on(r, l, k))
        return false;
    if (r->plan.type == REF_SEMI && !has_its_semi_row(r, l))
        ref_add(r, REF_SEMI_ROW, l, NULL);
    if (!one_sided)
        ref_add(r, REF_PAIR, l, k);
    left->matched = right->matched = true;
    ref_has_matched(l);
    ref_has_matched(k);
    return one_sided && !ref_broken(r, REF_ALL_ARE_DECIDED);
}

/* All that becomes of one left record, given the right ones of its key. */
static void join_left(struct reference *r, struct ref_stay *left, const struct ref_stay *first)
{
    for (size_t i = 0; i < r->stay_count; i++)
        if (in_group(r, &r->stays[i], first, REF_SIDE_RIGHT) && meet(r, left, &r->stays[i]))
            break;
}

/* The same for a right one. */
static void join_right(struct reference *r, struct ref_stay *right, const struct ref_stay *first)
{
    for (size_t i = 0; i < r->stay_count; i++)
        if (in_group(r, &r->stays[i], first, REF_SIDE_LEFT))
            meet(r, &r->stays[i], right);
}

static void pad(struct reference *r, const struct ref_stay *s)
{
    if (!s->matched)
        ref_pad(r, kept_of(r, s));
}

/* Left-major, in order of arrival; then the right records that found nobody. */
static void walk_group(struct reference *r, const struct ref_stay *first, bool pairs, bool padding)
{
    bool right_major = pairs && ref_broken(r, REF_RIGHT_MAJOR) && !ref_is_one_sided(r);
    for (size_t i = 0; i < r->stay_count && right_major; i++)
        if (in_group(r, &r->stays[i], first, REF_SIDE_RIGHT))
            join_right(r, &r->stays[i], first);
    for (size_t i = 0; i < r->stay_count; i++) {
        struct ref_stay *s = &r->stays[i];
        if (!in_group(r, s, first, REF_SIDE_LEFT))
            continue;
        s->grouped = true;
        if (pairs && !right_major)
            join_left(r, s, first);
        if (padding)
            pad(r, s);
    }
    for (size_t i = 0; i < r->stay_count; i++) {
        struct ref_stay *s = &r->stays[i];
        if (!in_group(r, s, first, REF_SIDE_RIGHT))
            continue;
        s->grouped = true;
        if (padding)
            pad(r, s);
    }
}

/* --- a window --- */

static void walk(struct reference *r, long long start, bool pairs, bool padding)
{
    ref_next_section(r);
    ref_bounds(r, start, end_of(r, start));
    for (size_t i = 0; i < r->stay_count; i++)
        if (r->stays[i].start == start)
            r->stays[i].grouped = false;
    for (size_t i = 0; i < r->stay_count; i++)
        if (r->stays[i].start == start && !r->stays[i].grouped) {
            ref_next_group(r);
            walk_group(r, &r->stays[i], pairs, padding);
        }
}

static struct ref_window *find_window(struct reference *r, long long start)
{
    for (size_t i = 0; i < r->window_count; i++)
        if (r->windows[i].start == start)
            return &r->windows[i];
    r->windows =
        ref_room_for_one(r->windows, r->window_count, &r->window_capacity, sizeof(*r->windows));
    r->windows[r->window_count] = (struct ref_window){.start = start};
    return &r->windows[r->window_count++];
}

/* A record is done with when the last of its windows has closed. */
static void leave(struct reference *r, long long start)
{
    for (size_t i = 0; i < r->stay_count; i++) {
        bool others = false;
        if (r->stays[i].start != start)
            continue;
        for (size_t j = 0; j < r->stay_count; j++)
            others = others || (r->stays[j].kept == r->stays[i].kept &&
                                !find_window(r, r->stays[j].start)->closed);
        if (!others)
            ref_has_left(kept_of(r, &r->stays[i]));
    }
}

static void fire(struct reference *r, struct ref_window *w)
{
    w->fired = true;
    w->closed = r->plan.grace == 0;
    walk(r, w->start, true, w->closed);
    if (w->closed)
        leave(r, w->start);
}

static void close_window(struct reference *r, struct ref_window *w)
{
    w->closed = true;
    walk(r, w->start, false, true);
    leave(r, w->start);
}

/* --- what is next --- */

/* A record in no window is unmatched when time has passed it. */
static void leave_gap(struct reference *r, struct ref_kept *k)
{
    ref_next_section(r);
    ref_no_bounds(r);
    ref_pad(r, k);
    ref_has_left(k);
}

struct next {
    bool any;
    long long instant;
    struct ref_window *window;
    struct ref_kept *in_gap;
};

static void is_it(struct next *n, long long instant, struct ref_window *w, struct ref_kept *k)
{
    if (!n->any || instant < n->instant)
        *n = (struct next){true, instant, w, k};
}

/* Windows in order of end: of two that are due at one instant, the one that fired before. */
static struct next next_one(const struct reference *r)
{
    struct next n = {.any = false};
    long long late = ref_broken(r, REF_WINDOW_FIRES_TOO_LATE) ? 1 : 0;
    for (size_t i = 0; i < r->window_count; i++)
        if (r->windows[i].fired && !r->windows[i].closed)
            is_it(&n, end_of(r, r->windows[i].start) + r->plan.grace, &r->windows[i], NULL);
    for (size_t i = 0; i < r->window_count; i++)
        if (!r->windows[i].fired)
            is_it(&n, end_of(r, r->windows[i].start) + late, &r->windows[i], NULL);
    for (size_t i = 0; i < r->kept_count; i++)
        if (r->kept[i].in_gap && r->kept[i].stored)
            is_it(&n, r->kept[i].time + 1, NULL, &r->kept[i]);
    return n;
}

void ref_window_advance(struct reference *r)
{
    for (;;) {
        struct next n = next_one(r);
        if (!n.any || !ref_has_come(r, n.instant))
            return;
        if (n.in_gap != NULL)
            leave_gap(r, n.in_gap);
        else if (n.window->fired)
            close_window(r, n.window);
        else
            fire(r, n.window);
    }
}

bool ref_window_due(const struct reference *r, long long *ret_time)
{
    struct next n = next_one(r);
    *ret_time = n.instant;
    return n.any;
}

/* --- a record comes --- */

static void stay(struct reference *r, size_t kept, long long start)
{
    r->stays = ref_room_for_one(r->stays, r->stay_count, &r->stay_capacity, sizeof(*r->stays));
    struct ref_stay *s = &r->stays[r->stay_count++];
    *s = (struct ref_stay){.kept = kept, .start = start};
    r->kept[kept].stored = true;

    struct ref_window *w = find_window(r, start);
    if (!w->fired && !ref_has_come(r, end_of(r, start)))
        return;
    /* It came after the firing, within grace: only what is new, and that at once. */
    w->fired = true;
    ref_next_section(r);
    ref_bounds(r, start, end_of(r, start));
    if (ref_broken(r, REF_LATE_RECORDS_MATCH_NOTHING))
        return;
    if (r->kept[kept].record.side == REF_SIDE_LEFT)
        join_left(r, s, s);
    else
        join_right(r, s, s);
}

/* wm >= end - 1 + grace; there are no late records in processing time. */
static bool is_late_for(const struct reference *r, long long start)
{
    long long bound = end_of(r, start) + r->plan.grace;
    if (ref_broken(r, REF_WINDOW_LATE_TOO_SOON))
        bound--;
    return r->plan.event_time && ref_has_come(r, bound);
}

void ref_window_take(struct reference *r, size_t kept)
{
    long long t = r->kept[kept].time, start = last_start(r, t);
    int windows = 0, late = 0;
    while (start + r->plan.size > t)
        start -= r->plan.slide;
    for (start += r->plan.slide; start <= t; start += r->plan.slide) {
        windows++;
        if (is_late_for(r, start))
            late++;
        else
            stay(r, kept, start);
    }
    struct ref_kept *k = &r->kept[kept];
    r->late_windows[k->record.side] += late;
    if (windows == 0 && !ref_broken(r, REF_GAP_RECORDS_ARE_LATE)) {
        k->in_gap = k->stored = true;
        ref_window_advance(r);
    } else if (late == windows) {
        ref_is_late(r, k);
    }
}
