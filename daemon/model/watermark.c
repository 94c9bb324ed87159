#include "model/watermark.h"

#include <assert.h>

/* Before the ready line nobody is idle. */
#define NOT_YET ((struct mono_time){INT64_MAX / 2})

static void side_init(struct watermark_side *s, int64_t delay_ms, int64_t idle_ms)
{
    list_init(&s->feeds);
    s->delay_ms = delay_ms;
    s->idle_ms = idle_ms;
    s->own = STREAM_TIME_MIN;
    s->last = s->busy = s->gone = MONO_TIME_MIN;
}

void watermark_init(struct watermark *w, const int64_t delay_ms[SIDES],
                    const int64_t idle_ms[SIDES])
{
    *w = (struct watermark){
        .reached = STREAM_TIME_MIN,
        .now = MONO_TIME_MIN,
        .count_from = NOT_YET,
        .check = MONO_TIME_MAX,
    };
    for (int s = 0; s < SIDES; s++)
        side_init(&w->side[s], delay_ms[s], idle_ms[s]);
}

/* --- the join's --- */

static void drift(struct watermark *w)
{
    const struct watermark_side *left = &w->side[SIDE_LEFT], *right = &w->side[SIDE_RIGHT];
    struct stream_time highest = stream_time_later(left->own, right->own);

    if (highest.ms == STREAM_TIME_MIN.ms)
        return; /* no record came: there is no time yet */
    if (!w->drifting) {
        w->reached = stream_time_later(highest, w->reached);
        w->drifting = true;
        w->drift_from = mono_time_later(left->gone, right->gone);
        w->drift_base = w->reached;
    }
    w->reached = stream_time_add(w->drift_base, w->now.ms - w->drift_from.ms);
}

static bool counts(const struct watermark_side *s)
{
    return !s->ended && !s->idle;
}

static void go_on(struct watermark *w)
{
    struct stream_time lowest = STREAM_TIME_MAX;
    bool any = false, all_ended = true;

    for (int s = 0; s < SIDES; s++) {
        const struct watermark_side *side = &w->side[s];
        all_ended &= side->ended;
        if (!counts(side))
            continue;
        any = true;
        lowest = stream_time_earlier(side->own, lowest);
    }
    if (all_ended) {
        w->reached = STREAM_TIME_MAX;
    } else if (!any) {
        drift(w);
    } else {
        w->drifting = false;
        w->reached = stream_time_later(lowest, w->reached);
    }
}

/* --- a side's --- */

static bool feed_counts(const struct feed *f)
{
    return f->highest.ms != STREAM_TIME_MIN.ms && !f->idle;
}

/* The lowest time seen of all that count, but one; STREAM_TIME_MAX: there are none. */
static struct stream_time lowest_but(const struct watermark_side *s, const struct feed *but)
{
    struct stream_time lowest = STREAM_TIME_MAX;

    LIST_EACH (&s->feeds, struct feed, link, f)
        if (f != but && feed_counts(f))
            lowest = stream_time_earlier(f->highest, lowest);
    return lowest;
}

/* What is promised where `t` has been seen: a second record of that time may still come. */
static struct stream_time promise(const struct watermark_side *s, struct stream_time t)
{
    return stream_time_add(t, -s->delay_ms - 1);
}

static void side_reach(struct watermark_side *s, struct stream_time lowest)
{
    if (lowest.ms != STREAM_TIME_MAX.ms)
        s->own = stream_time_later(promise(s, lowest), s->own);
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
    f->highest = STREAM_TIME_MIN;
    f->last = MONO_TIME_MIN;
    f->unread = f->idle = false;
    list_append(&w->side[side].feeds, &f->link);
}

static struct mono_time idle_from(const struct watermark *w, struct mono_time last, int64_t idle_ms)
{
    return mono_time_add(mono_time_later(last, w->count_from), idle_ms);
}

/* Notes that something becomes due at `at`; what is due but hindered will be looked at
 * when it is read. */
static void check_again(struct watermark *w, struct mono_time at)
{
    if (at.ms > w->now.ms)
        w->check = mono_time_earlier(at, w->check);
}

/* What kept it and its side from being idle is over. */
static void look_again(struct watermark *w, struct watermark_side *s, const struct feed *f)
{
    s->busy = w->now;
    if (s->idle_ms == WATERMARK_NEVER || s->ended)
        return;
    if (idle_from(w, f->last, s->idle_ms).ms <= w->now.ms)
        w->check = w->now;
    check_again(w, idle_from(w, s->last, s->idle_ms));
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
    w->side[side].gone = w->now;
    go_on(w);
}

/* Somebody counts from now on: when may it be idle again? */
static void check_by(struct watermark *w, const struct watermark_side *s)
{
    if (s->idle_ms != WATERMARK_NEVER)
        w->check = mono_time_earlier(mono_time_add(w->now, s->idle_ms), w->check);
}

void watermark_record(struct watermark *w, struct feed *f, struct stream_time t)
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
    f->last = s->last = w->now;
    f->highest = stream_time_later(t, f->highest);
    side_reach(s, stream_time_earlier(f->highest, s->others));
    go_on(w);
}

static void lower(int64_t *below, int64_t t)
{
    if (t < *below)
        *below = t;
}

struct stream_time watermark_calm(const struct watermark *w, const struct feed *f,
                                  struct stream_time until)
{
    const struct watermark_side *s = &w->side[f->side], *other = &w->side[side_other(f->side)];
    int64_t step = s->delay_ms + 1, own = s->own.ms, others = other->own.ms, below = INT64_MAX;
    struct stream_time most = STREAM_TIME_MAX;
    bool meets = counts(other);

    if (s->pushing != f || !feed_counts(f) || s->idle)
        return STREAM_TIME_MIN;
    if (s->others.ms != STREAM_TIME_MAX.ms) /* the side goes on to here at most */
        most = stream_time_later(promise(s, s->others), s->own);
    if (most.ms >= until.ms && (!meets || others >= until.ms))
        lower(&below, until.ms + step);
    if (meets && own < others && most.ms >= others)
        lower(&below, others + step);
    if (meets && own == others && most.ms > others)
        lower(&below, others + step + 1);
    if (most.ms != STREAM_TIME_MAX.ms && promise(s, f->highest).ms <= own &&
        !(meets && own > others))
        lower(&below, most.ms + step + 1);
    return (struct stream_time){below};
}

/* --- idleness --- */

void watermark_count_anew(struct watermark *w, struct mono_time now)
{
    w->now = w->count_from = w->check = now;
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
        f->last = s->last = w->now;
    look_again(w, s, f);
}

/* The earliest instant at which feeds became idle that are not called so yet; MONO_TIME_MAX:
 * none did. */
static struct mono_time next_idle(struct watermark *w, const struct watermark_side *s)
{
    struct mono_time next = MONO_TIME_MAX;

    LIST_EACH (&s->feeds, struct feed, link, f) {
        struct mono_time from = idle_from(w, f->last, s->idle_ms);
        if (!feed_counts(f))
            continue;
        if (w->now.ms < from.ms || f->unread)
            check_again(w, from);
        else
            next = mono_time_earlier(from, next);
    }
    return next;
}

static void call_idle(struct watermark *w, struct watermark_side *s, struct mono_time instant)
{
    LIST_EACH (&s->feeds, struct feed, link, f)
        f->idle |=
            feed_counts(f) && !f->unread && idle_from(w, f->last, s->idle_ms).ms == instant.ms;
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
    struct mono_time from = idle_from(w, s->last, s->idle_ms), instant;

    while ((instant = next_idle(w, s)).ms != MONO_TIME_MAX.ms)
        call_idle(w, s, instant);
    if (s->idle)
        return;
    if (w->now.ms < from.ms || has_unread(s)) {
        check_again(w, from);
        return;
    }
    s->idle = true;
    s->gone = mono_time_later(from, s->busy);
}

void watermark_clock(struct watermark *w, struct mono_time now)
{
    w->now = mono_time_later(now, w->now);
    if (w->now.ms >= w->check.ms) {
        w->check = MONO_TIME_MAX;
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
    int64_t wait_ms;

    if (!w->drifting || due.ms == STREAM_TIME_MAX.ms)
        return w->check;
    wait_ms = due.ms > w->drift_base.ms ? due.ms - w->drift_base.ms : 0;
    return mono_time_earlier(mono_time_add(w->drift_from, wait_ms), w->check);
}

/* --- who comes next --- */

bool watermark_has_turn(const struct watermark *w, enum side side)
{
    const struct watermark_side *s = &w->side[side], *other = &w->side[side_other(side)];

    if (!counts(other))
        return true;
    return s->own.ms < other->own.ms || (s->own.ms == other->own.ms && side == SIDE_LEFT);
}

bool watermark_holds_back(const struct watermark *w, enum side side, const struct feed *f)
{
    const struct watermark_side *s = &w->side[side], *other = &w->side[side_other(side)];

    if (counts(other) && s->own.ms > other->own.ms)
        return false;
    return f == NULL || f->highest.ms == STREAM_TIME_MIN.ms ||
           promise(s, f->highest).ms <= s->own.ms;
}
