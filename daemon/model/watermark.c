#include "model/watermark.h"

#include <assert.h>

/* Before the ready line nobody is idle. */
#define NOT_YET (INT64_MAX / 2)

static void side_init(struct watermark_side *s, int64_t delay_ms, int64_t idle_ms)
{
    list_init(&s->feeds);
    s->delay_ms = delay_ms;
    s->idle_ms = idle_ms;
    s->own = INT64_MIN;
    s->last_ms = s->busy_ms = s->gone_ms = INT64_MIN;
}

void watermark_init(struct watermark *w, const int64_t delay_ms[SIDES],
                    const int64_t idle_ms[SIDES])
{
    *w = (struct watermark){
        .reached = INT64_MIN,
        .mono_ms = INT64_MIN,
        .count_from_ms = NOT_YET,
        .check_ms = INT64_MAX,
    };
    for (int s = 0; s < SIDES; s++)
        side_init(&w->side[s], delay_ms[s], idle_ms[s]);
}

/* --- the join's --- */

static void drift(struct watermark *w)
{
    int64_t left = w->side[SIDE_LEFT].own, right = w->side[SIDE_RIGHT].own;
    int64_t highest = left > right ? left : right;

    if (highest == INT64_MIN)
        return; /* no record came: there is no time yet */
    if (!w->drifting) {
        if (highest > w->reached)
            w->reached = highest;
        w->drifting = true;
        w->drift_from = w->side[SIDE_LEFT].gone_ms > w->side[SIDE_RIGHT].gone_ms
                            ? w->side[SIDE_LEFT].gone_ms
                            : w->side[SIDE_RIGHT].gone_ms;
        w->drift_base = w->reached;
    }
    w->reached = w->drift_base + (w->mono_ms - w->drift_from);
}

static bool counts(const struct watermark_side *s)
{
    return !s->ended && !s->idle;
}

static void go_on(struct watermark *w)
{
    int64_t lowest = INT64_MAX;
    bool any = false, all_ended = true;

    for (int s = 0; s < SIDES; s++) {
        const struct watermark_side *side = &w->side[s];
        all_ended &= side->ended;
        if (!counts(side))
            continue;
        any = true;
        lowest = side->own < lowest ? side->own : lowest;
    }
    if (all_ended) {
        w->reached = INT64_MAX;
    } else if (!any) {
        drift(w);
    } else {
        w->drifting = false;
        if (lowest > w->reached)
            w->reached = lowest;
    }
}

/* --- a side's --- */

static bool feed_counts(const struct feed *f)
{
    return f->highest != INT64_MIN && !f->idle;
}

/* The lowest time seen of all that count, but one; INT64_MAX: there are none. */
static int64_t lowest_but(const struct watermark_side *s, const struct feed *but)
{
    int64_t lowest = INT64_MAX;

    LIST_EACH (&s->feeds, struct feed, link, f)
        if (f != but && feed_counts(f) && f->highest < lowest)
            lowest = f->highest;
    return lowest;
}

static void side_reach(struct watermark_side *s, int64_t lowest)
{
    if (lowest != INT64_MAX && lowest - s->delay_ms - 1 > s->own)
        s->own = lowest - s->delay_ms - 1;
}

/* Who counts has changed. */
static void side_anew(struct watermark_side *s)
{
    s->pushing = NULL;
    side_reach(s, lowest_but(s, NULL));
}

void watermark_open(struct watermark *w, struct feed *f, enum side side)
{
    list_link_init(&f->link);
    f->side = side;
    f->highest = f->last_ms = INT64_MIN;
    f->unread = f->idle = false;
    list_append(&w->side[side].feeds, &f->link);
}

static int64_t idle_from(const struct watermark *w, int64_t last_ms, int64_t idle_ms)
{
    return (last_ms > w->count_from_ms ? last_ms : w->count_from_ms) + idle_ms;
}

/* Notes that something becomes due at `at`; what is due but hindered will be looked at
 * when it is read. */
static void check_again(struct watermark *w, int64_t at)
{
    if (at > w->mono_ms && at < w->check_ms)
        w->check_ms = at;
}

/* What kept it and its side from being idle is over. */
static void look_again(struct watermark *w, struct watermark_side *s, const struct feed *f)
{
    s->busy_ms = w->mono_ms;
    if (s->idle_ms == WATERMARK_NEVER || s->ended)
        return;
    if (idle_from(w, f->last_ms, s->idle_ms) <= w->mono_ms)
        w->check_ms = w->mono_ms;
    check_again(w, idle_from(w, s->last_ms, s->idle_ms));
}

void watermark_close(struct watermark *w, struct feed *f)
{
    list_remove(&f->link);
    side_anew(&w->side[f->side]);
    if (f->unread)
        look_again(w, &w->side[f->side], f);
    go_on(w);
}

void watermark_never_idle(struct watermark *w, enum side side)
{
    w->side[side].idle_ms = WATERMARK_NEVER;
}

void watermark_end(struct watermark *w, enum side side)
{
    w->side[side].ended = true;
    w->side[side].gone_ms = w->mono_ms;
    go_on(w);
}

/* Somebody counts from now on: when may it be idle again? */
static void check_by(struct watermark *w, const struct watermark_side *s)
{
    if (s->idle_ms != WATERMARK_NEVER && w->mono_ms + s->idle_ms < w->check_ms)
        w->check_ms = w->mono_ms + s->idle_ms;
}

void watermark_record(struct watermark *w, struct feed *f, int64_t t)
{
    struct watermark_side *s = &w->side[f->side];

    assert(!s->ended);
    if (!feed_counts(f) || s->idle) {
        f->idle = s->idle = false;
        check_by(w, s);
    }
    if (s->pushing != f) {
        s->pushing = f;
        s->others = lowest_but(s, f);
    }
    f->last_ms = s->last_ms = w->mono_ms;
    if (t > f->highest)
        f->highest = t;
    side_reach(s, f->highest < s->others ? f->highest : s->others);
    go_on(w);
}

static void lower(int64_t *below, int64_t t)
{
    if (t < *below)
        *below = t;
}

int64_t watermark_calm(const struct watermark *w, const struct feed *f, int64_t until)
{
    const struct watermark_side *s = &w->side[f->side], *other = &w->side[side_other(f->side)];
    int64_t step = s->delay_ms + 1, most = INT64_MAX, below = INT64_MAX;
    bool meets = counts(other);

    if (s->pushing != f || !feed_counts(f) || s->idle)
        return INT64_MIN;
    if (s->others != INT64_MAX) /* the side goes on to here at most */
        most = s->others - step > s->own ? s->others - step : s->own;
    if (most >= until && (!meets || other->own >= until))
        lower(&below, until + step);
    if (meets && s->own < other->own && most >= other->own)
        lower(&below, other->own + step);
    if (meets && s->own == other->own && most > other->own)
        lower(&below, other->own + step + 1);
    if (most != INT64_MAX && f->highest - step <= s->own && !(meets && s->own > other->own))
        lower(&below, most + step + 1);
    return below;
}

/* --- idleness --- */

void watermark_count_anew(struct watermark *w, struct mono_time now)
{
    w->mono_ms = now.ms;
    w->count_from_ms = now.ms;
    w->check_ms = now.ms;
}

void watermark_unread(struct watermark *w, struct feed *f)
{
    (void)w;
    f->unread = true;
}

void watermark_read(struct watermark *w, struct feed *f, bool held)
{
    struct watermark_side *s = &w->side[f->side];

    if (!f->unread)
        return;
    f->unread = false;
    if (held)
        f->last_ms = s->last_ms = w->mono_ms;
    look_again(w, s, f);
}

/* The earliest instant at which feeds became idle that are not called so yet; INT64_MAX:
 * none did. */
static int64_t next_idle(struct watermark *w, const struct watermark_side *s)
{
    int64_t next = INT64_MAX;

    LIST_EACH (&s->feeds, struct feed, link, f) {
        int64_t from = idle_from(w, f->last_ms, s->idle_ms);
        if (!feed_counts(f))
            continue;
        if (w->mono_ms < from || f->unread)
            check_again(w, from);
        else if (from < next)
            next = from;
    }
    return next;
}

static void call_idle(struct watermark *w, struct watermark_side *s, int64_t instant)
{
    LIST_EACH (&s->feeds, struct feed, link, f)
        f->idle |= feed_counts(f) && !f->unread && idle_from(w, f->last_ms, s->idle_ms) == instant;
    side_anew(s);
}

static bool has_unread(const struct watermark_side *s)
{
    LIST_EACH (&s->feeds, struct feed, link, f)
        if (f->unread)
            return true;
    return false;
}

/* Those that became idle do so one after the other, whenever that is found out: each time
 * the side is as far as those are that are left. */
static void look_at_side(struct watermark *w, struct watermark_side *s)
{
    int64_t from = idle_from(w, s->last_ms, s->idle_ms);
    int64_t instant;

    while ((instant = next_idle(w, s)) != INT64_MAX)
        call_idle(w, s, instant);
    if (s->idle)
        return;
    if (w->mono_ms < from || has_unread(s)) {
        check_again(w, from);
        return;
    }
    s->idle = true;
    s->gone_ms = from > s->busy_ms ? from : s->busy_ms;
}

void watermark_clock(struct watermark *w, struct mono_time now)
{
    if (now.ms > w->mono_ms)
        w->mono_ms = now.ms;
    if (w->mono_ms >= w->check_ms) {
        w->check_ms = INT64_MAX;
        for (int s = 0; s < SIDES; s++)
            if (w->side[s].idle_ms != WATERMARK_NEVER && !w->side[s].ended)
                look_at_side(w, &w->side[s]);
        go_on(w);
    } else if (w->drifting) {
        go_on(w);
    }
}

struct mono_time watermark_wake(const struct watermark *w, struct stream_time due)
{
    int64_t wake = w->check_ms;

    if (w->drifting && due.ms != INT64_MAX) {
        int64_t wait = due.ms > w->drift_base ? due.ms - w->drift_base : 0;
        if (w->drift_from + wait < wake)
            wake = w->drift_from + wait;
    }
    return (struct mono_time){wake};
}

/* --- who comes next --- */

bool watermark_has_turn(const struct watermark *w, enum side side)
{
    const struct watermark_side *s = &w->side[side], *other = &w->side[side_other(side)];

    if (!counts(other))
        return true;
    return s->own < other->own || (s->own == other->own && side == SIDE_LEFT);
}

bool watermark_holds_back(const struct watermark *w, enum side side, const struct feed *f)
{
    const struct watermark_side *s = &w->side[side], *other = &w->side[side_other(side)];

    if (counts(other) && s->own > other->own)
        return false;
    return f == NULL || f->highest == INT64_MIN || f->highest - s->delay_ms - 1 <= s->own;
}
