/*
 * How far time is: semantics.md section 1.
 *
 * The clock goes from one instant at which somebody becomes idle to the next, so that
 * nothing depends on how often it is told.
 */
#include "reference_parts.h"

void ref_time_init(struct reference *r)
{
    r->clock = 0;
    r->time = REF_NO_TIME;
    for (int s = 0; s < 2; s++) {
        r->side[s].own = REF_NO_TIME;
        for (int f = 0; f < REF_FEEDS_MAX; f++)
            r->side[s].feed[f].highest = REF_NO_TIME;
    }
}

/* --- who is idle --- */

/* `since` is from when on nothing has come. */
static bool silent(const struct reference *r, int side, long long since)
{
    if (r->plan.idle[side] == REF_OFF || ref_broken(r, REF_NEVER_IDLE))
        return false;
    return r->clock >= since + r->plan.idle[side];
}

static bool is_held_back(const struct reference *r, int side)
{
    bool held = false;
    for (int f = 0; f < REF_FEEDS_MAX; f++)
        held = held || (r->side[side].feed[f].open && r->side[side].feed[f].unread);
    return held;
}

/* Nobody becomes idle who is held back; who is idle stays so until a record comes. */
static void look_who_is_idle(struct reference *r)
{
    for (int s = 0; s < 2; s++) {
        struct ref_side_time *side = &r->side[s];
        bool rules = !ref_broken(r, REF_HOLDS_ARE_IDLE);
        if (silent(r, s, side->since) && !(rules && is_held_back(r, s)))
            side->idle = true;
        for (int f = 0; f < REF_FEEDS_MAX; f++)
            if (silent(r, s, side->feed[f].since) && !(rules && side->feed[f].unread))
                side->feed[f].idle = true;
    }
}

static bool side_counts(const struct reference *r, int side)
{
    return !r->side[side].ended && !r->side[side].idle;
}

/* Open, has sent a record, is not idle. */
static bool feed_counts(const struct reference *r, const struct ref_feed *f)
{
    return (f->open || ref_broken(r, REF_CLOSED_COUNTS)) && f->highest != REF_NO_TIME && !f->idle;
}

/* --- how far a side, and the join, is --- */

static void look_at_side(struct reference *r, int side)
{
    struct ref_side_time *s = &r->side[side];
    long long delay = ref_broken(r, REF_NO_DELAY) ? 0 : r->plan.delay[side];
    bool any = false;
    long long lowest = 0;
    for (int f = 0; f < REF_FEEDS_MAX; f++) {
        if (!feed_counts(r, &s->feed[f]))
            continue;
        long long w = s->feed[f].highest - delay - 1;
        bool better = ref_broken(r, REF_FASTEST_COUNTS) ? w > lowest : w < lowest;
        lowest = !any || better ? w : lowest;
        any = true;
    }
    if (any && lowest > s->own)
        s->own = lowest;
}

static long long max(long long a, long long b)
{
    return a > b ? a : b;
}

/* No side counts that has not ended: time goes to the highest watermark that a side had
 * reached, and from then on with the clock. */
static long long drift(struct reference *r)
{
    if (!r->drifting) {
        r->drifting = true;
        r->drift_from = r->clock;
        r->drift_base = max(r->time, max(r->side[0].own, r->side[1].own));
    }
    if (r->drift_base == REF_NO_TIME)
        return REF_NO_TIME;
    return r->drift_base + (ref_broken(r, REF_NO_DRIFT) ? 0 : r->clock - r->drift_from);
}

static long long watermark(struct reference *r)
{
    bool counts[2], any = false;
    long long lowest = REF_END_OF_TIME;
    for (int s = 0; s < 2; s++) {
        counts[s] = side_counts(r, s);
        any = any || counts[s];
        if (counts[s] && r->side[s].own < lowest)
            lowest = r->side[s].own;
    }
    if (r->side[0].ended && r->side[1].ended)
        return REF_END_OF_TIME;
    if (!any)
        return drift(r);
    r->drifting = false;
    return lowest;
}

/* Time never goes back. */
static void look_at_time(struct reference *r)
{
    if (!r->plan.event_time) {
        if (r->side[0].ended && r->side[1].ended)
            r->time = REF_END_OF_TIME;
    } else {
        look_at_side(r, 0);
        look_at_side(r, 1);
        r->time = max(r->time, watermark(r));
    }
    ref_advance(r);
}

/* --- the clock --- */

static void sooner(const struct reference *r, long long instant, long long *next)
{
    if (instant > r->clock && instant < *next)
        *next = instant;
}

long long ref_next_silence(const struct reference *r)
{
    long long next = REF_END_OF_TIME;
    for (int s = 0; s < 2; s++) {
        if (r->plan.idle[s] == REF_OFF || r->side[s].ended)
            continue;
        sooner(r, r->side[s].since + r->plan.idle[s], &next);
        for (int f = 0; f < REF_FEEDS_MAX; f++)
            if (r->side[s].feed[f].highest != REF_NO_TIME)
                sooner(r, r->side[s].feed[f].since + r->plan.idle[s], &next);
    }
    return next;
}

void ref_wall(struct reference *r, long long now)
{
    r->wall = now;
    if (r->plan.event_time || r->time == REF_END_OF_TIME)
        return;
    r->time = max(r->time, now);
    ref_advance(r);
}

void ref_mono(struct reference *r, long long now)
{
    while (r->clock < now) {
        long long next = ref_next_silence(r);
        r->clock = next < now ? next : now;
        look_who_is_idle(r);
        look_at_time(r);
    }
    look_who_is_idle(r); /* a hold may have ended since */
    look_at_time(r);
}

void ref_count_idle_anew(struct reference *r)
{
    for (int s = 0; s < 2; s++) {
        r->side[s].since = r->clock;
        for (int f = 0; f < REF_FEEDS_MAX; f++)
            r->side[s].feed[f].since = r->clock;
    }
}

/* --- connections --- */

void ref_open(struct reference *r, enum ref_side side, int feed)
{
    r->side[side].feed[feed] =
        (struct ref_feed){.open = true, .highest = REF_NO_TIME, .since = r->clock};
}

void ref_close(struct reference *r, enum ref_side side, int feed)
{
    r->side[side].feed[feed].open = r->side[side].feed[feed].unread = false;
    look_at_time(r);
}

/* After a hold the count starts anew. */
void ref_unread(struct reference *r, enum ref_side side, int feed, bool unread)
{
    struct ref_feed *f = &r->side[side].feed[feed];
    f->unread = unread;
    if (!unread)
        f->since = r->side[side].since = r->clock;
}

void ref_time_record(struct reference *r, const struct ref_record *record)
{
    struct ref_side_time *s = &r->side[record->side];
    struct ref_feed *f = &s->feed[record->feed];
    f->highest = max(f->highest, record->time);
    f->since = s->since = r->clock;
    f->idle = s->idle = false;
    look_at_time(r);
}

void ref_end(struct reference *r, enum ref_side side)
{
    r->side[side].ended = true;
    look_at_time(r);
}

bool ref_time(const struct reference *r, long long *ret_time)
{
    *ret_time = r->time;
    return r->time != REF_NO_TIME;
}

bool ref_is_idle(const struct reference *r, enum ref_side side)
{
    return r->side[side].idle;
}

bool ref_own_time(const struct reference *r, enum ref_side side, long long *ret_time)
{
    *ret_time = r->side[side].own;
    return *ret_time != REF_NO_TIME;
}

bool ref_is_next(const struct reference *r, enum ref_side side)
{
    const struct ref_side_time *s = &r->side[side], *other = &r->side[!side];
    return other->ended || s->own < other->own || (s->own == other->own && side == REF_SIDE_LEFT);
}
