/*
 * What happens in a scene.
 *
 * In processing time the clock makes the records' times. In event time records tell their own,
 * round a front that moves on; the clock goes its own way, from 0, and mostly slowly.
 */
#include <string.h>

#include "base/mem.h"
#include "scene_random.h"

#define EVENTS_MAX      100
#define EVENTS_MAX_RARE 500
#define EVENTS_LIMIT    200000

#define NOT_BELOW INT64_C(-62135596800000) /* the year 1 */
#define NOT_ABOVE INT64_C(253402300799999) /* the end of the year 9999 */

struct mood {
    int nulls, bads, glued; /* percent */
    int ids;                /* how many there are; few: equal records */
    int pad, pads;          /* bytes, percent */
    bool calm;              /* time hardly moves: windows with many records */
    int feeds;              /* connections a side */
    int holds;              /* percent */
    int64_t base;           /* event time starts here */
    int64_t front;          /* event time has come to here */
    int64_t lag[2];         /* of a side */
    int64_t scatter;        /* how far records lie before the front */
    bool with_clock;        /* the clock follows the front */
};

/* --- rows --- */

static int64_t within(int64_t t)
{
    return t < NOT_BELOW ? NOT_BELOW : t > NOT_ABOVE ? NOT_ABOVE : t;
}

static void random_when(struct dice *d, const struct scene *s, int side, const struct mood *mood,
                        struct scene_row *row)
{
    int64_t span = scene_span(s), t = mood->front - mood->lag[side];
    int way = below(d, 100);
    if (way < 60)
        t -= below(d, (int)mood->scatter + 1);
    else if (way < 90)
        t -= below(d, 3);
    else if (way < 97)
        t -= below(d, (int)(4 * span) + 1);
    else
        t += below(d, (int)(2 * span) + 1);
    row->when = within(t);
    row->micros = chance(d, 50) ? 0 : below(d, 1000);
    row->timeless = chance(d, mood->nulls / 4);
}

static struct scene_row random_row(struct dice *d, const struct scene *s, int side,
                                   const struct mood *mood)
{
    const struct scene_side *x = &s->side[side];
    struct scene_row row = {.id = below(d, mood->ids), .cr = chance(d, 5)};
    for (int i = 0; i < x->field_count; i++) {
        const struct scene_field *f = &x->fields[i];
        row.values[i] =
            f->values == 0 || chance(d, mood->nulls) ? NONE : f->first + below(d, f->values);
    }
    row.quoted = chance(d, 20) ? (unsigned)below(d, 1 << x->field_count) : 0;
    row.bad = chance(d, mood->bads) ? (enum bad)below(d, BADS) : BAD_NOT;
    row.pad = chance(d, mood->pads) ? mood->pad + below(d, 4) : 0;
    random_when(d, s, side, mood, &row);
    return row;
}

/* --- steps of time --- */

/* Mostly a little later, sometimes much, sometimes earlier. */
static int64_t random_step(struct dice *d, int64_t span, bool calm)
{
    int way = below(d, 100);
    if (way < 35 || (calm && chance(d, 98)))
        return 0;
    if (way < 80)
        return below(d, (int)(span / 6) + 2);
    if (way < 90)
        return below(d, (int)span + 1);
    if (way < 95)
        return span * below(d, 6);
    return -below(d, (int)(2 * span) + 1);
}

static int64_t longest_idle(const struct scene *s)
{
    long long a = s->plan.idle[0], b = s->plan.idle[1], idle = a > b ? a : b;
    return idle == REF_OFF ? 50 : idle;
}

static int64_t random_clock_step(struct dice *d, const struct scene *s)
{
    int64_t idle = longest_idle(s), span = scene_span(s);
    int way = below(d, 100);
    if (way < 60)
        return 0;
    if (way < 88)
        return below(d, (int)(idle / 4) + 2);
    if (way < 95)
        return idle - 1 + below(d, 3);
    return idle + below(d, (int)(span < 100000 ? 2 * span : span / 100) + 2);
}

/* --- events --- */

static enum event_kind random_kind(struct dice *d, const struct scene *s, const struct mood *mood)
{
    int way = below(d, 100);
    if (s->plan.event_time && mood->feeds > 1 && chance(d, 6))
        return chance(d, 50) ? EVENT_OPEN : EVENT_CLOSE;
    if (s->plan.event_time && chance(d, mood->holds))
        return chance(d, 30) ? EVENT_HOLD : EVENT_RELEASE;
    if (s->plan.match == REF_LOOKUP && chance(d, 8))
        return EVENT_TABLE;
    return way < 76 ? EVENT_ROW : way < 83 ? EVENT_TICK : way < 95 ? EVENT_PULL : EVENT_SETTLE;
}

static struct event random_event(struct dice *d, const struct scene *s, const struct mood *mood)
{
    static const int64_t fuels[] = {1, 1, 2, 3, 10, 100, 100000};
    static const size_t mosts[] = {1, 1, 2, 5, 64};
    struct event e = {.kind = random_kind(d, s, mood)};
    e.side = below(d, 2);
    e.feed = below(d, mood->feeds);
    if (e.kind == EVENT_ROW) {
        e.glued = chance(d, mood->glued);
        e.row = random_row(d, s, e.side, mood);
    } else if (e.kind == EVENT_PULL) {
        e.max = PICK(d, mosts);
        e.fuel = PICK(d, fuels);
    }
    return e;
}

static bool selects_times(const struct scene *s)
{
    for (int i = 0; i < s->select_count; i++)
        if (s->plan.exprs[s->select[i]].op >= REF_LEFT_TIME)
            return true;
    return false;
}

static bool has_nanoseconds(const struct scene *s)
{
    for (int side = 0; side < 2; side++)
        if (s->plan.event_time &&
            strcmp(s->side[side].fields[s->side[side].time].time_type, "timestamp_ns") == 0)
            return true;
    return false;
}

static int64_t random_start(struct dice *d, const struct scene *s)
{
    static const int64_t starts[] = {0, -1, 1, 1767323045123, -62135596000000, 253402000000000};
    bool near = selects_times(s) || has_nanoseconds(s);
    bool clock = s->plan.max_ahead[0] != REF_OFF || s->plan.max_ahead[1] != REF_OFF;
    return clock ? 0 : starts[below(d, near ? 4 : 6)];
}

static void random_times(struct dice *d, const struct scene *s, struct mood *mood)
{
    int64_t span = scene_span(s);
    long long delay = s->plan.delay[0] > s->plan.delay[1] ? s->plan.delay[0] : s->plan.delay[1];
    mood->base = mood->front = random_start(d, s) - below(d, (int)span);
    mood->lag[below(d, 2)] = chance(d, 30) ? below(d, (int)(2 * span) + 1) : 0;
    mood->scatter = chance(d, 50) ? delay : delay + below(d, (int)span + 1);
    mood->with_clock = chance(d, 80);
    mood->feeds = s->replay || chance(d, 50) ? 1 : 2 + below(d, 2);
    mood->holds = s->replay || chance(d, 80) ? 0 : 6;
}

static struct mood random_mood(struct dice *d, const struct scene *s)
{
    static const int nulls[] = {0, 0, 10, 40}, bads[] = {0, 5, 30}, glued[] = {0, 20, 80};
    static const int pads[] = {50, 300, 4000, 17000}, ids[] = {2, 10, 200, 1000000};
    struct mood mood = {
        .nulls = PICK(d, nulls),
        .bads = PICK(d, bads),
        .glued = PICK(d, glued),
        .ids = PICK(d, ids),
        .pad = PICK(d, pads),
        .calm = chance(d, 10),
    };
    bool cut_small = s->cut > 0 && s->cut < 100;
    mood.pads = cut_small && mood.pad > 300 ? 0 : chance(d, 30) ? 15 : 0;
    random_times(d, s, &mood);
    return mood;
}

/* The clock, and the front of event time, go on. */
static void go_on(struct dice *d, const struct scene *s, struct mood *mood, int64_t *clock)
{
    int64_t step = random_step(d, scene_span(s), mood->calm);
    if (!s->plan.event_time) {
        /* The first table is read at 0. What time a table's rows have after a step back of the wall
         * clock is not looked at. */
        *clock += s->plan.match == REF_LOOKUP && step < 0 ? 0 : step;
        return;
    }
    mood->front += step;
    *clock += random_clock_step(d, s);
    if (mood->base <= 0 && mood->with_clock && mood->front > *clock && mood->front < 1000000000)
        *clock = mood->front;
}

/* A side that ends early. */
static int random_end(struct dice *d, const struct scene *s)
{
    if (s->plan.match == REF_BATCH && chance(d, 70))
        return REF_SIDE_RIGHT;
    if (s->plan.match == REF_LOOKUP)
        return chance(d, 10) ? REF_SIDE_LEFT : NONE;
    return chance(d, 20) ? below(d, 2) : NONE;
}

void random_events(struct dice *d, struct scene *s, int size)
{
    struct mood mood = random_mood(d, s);
    int64_t clock = s->plan.event_time || s->plan.match == REF_LOOKUP ? 0 : mood.base;
    int ends = random_end(d, s);
    bool many = chance(d, mood.calm ? 50 : 3);
    int most = size * (many ? EVENTS_MAX_RARE : EVENTS_MAX);
    s->event_count = (size_t)(1 + below(d, most < EVENTS_LIMIT ? most : EVENTS_LIMIT));
    s->events = mem_alloc_zeroed(s->event_count + 1, sizeof(*s->events));
    size_t end_at = s->event_count * (s->plan.match == REF_BATCH ? 1 : 2) / 3;
    for (size_t i = 0; i < s->event_count; i++) {
        struct event e = random_event(d, s, &mood);
        if (ends != NONE && i == end_at)
            e = (struct event){.kind = EVENT_END, .side = ends};
        else if (ends != NONE && i > end_at && e.side == ends)
            e = (struct event){.kind = EVENT_TICK};
        go_on(d, s, &mood, &clock);
        e.time = clock;
        s->events[i] = e;
    }
}
