#include "shrink.h"

#include <string.h>

/* Trials; each may take a process of its own. */
#define TRIALS_MAX 3000

struct shrinker {
    struct scene *scene;
    bool (*fails)(const struct scene *scene);
    int trials;
};

/* Takes the smaller scene in place of the one at hand if it fails too. */
static bool try_scene(struct shrinker *s, struct scene *smaller)
{
    if (s->trials++ < TRIALS_MAX && s->fails(smaller)) {
        scene_done(s->scene);
        *s->scene = *smaller;
        return true;
    }
    scene_done(smaller);
    return false;
}

static bool drop_events(struct shrinker *s, size_t from, size_t count)
{
    struct scene smaller = scene_copy(s->scene);
    smaller.event_count -= count;
    memmove(smaller.events + from, smaller.events + from + count,
            (smaller.event_count - from) * sizeof(*smaller.events));
    return try_scene(s, &smaller);
}

/* Halves, quarters, ... single ones. */
static bool shrink_events(struct shrinker *s)
{
    bool any = false;
    for (size_t n = s->scene->event_count / 2 + 1; n > 0; n /= 2)
        for (size_t from = 0; from + n <= s->scene->event_count;) {
            if (drop_events(s, from, n))
                any = true;
            else
                from += n;
        }
    return any;
}

/* --- simpler in one way --- */

static void without_select(struct scene *s)
{
    s->select_count = 0;
}

static void without_limit(struct scene *s)
{
    s->state_bytes = 0;
}

static void without_cuts(struct scene *s)
{
    s->cut = 0;
}

static void without_on(struct scene *s)
{
    s->plan.on = REF_NOBODY;
}

static void without_left_where(struct scene *s)
{
    s->plan.where[0] = NONE;
}

static void without_right_where(struct scene *s)
{
    s->plan.where[1] = NONE;
}

static void without_offset(struct scene *s)
{
    s->plan.offset = 0;
}

static void with_one_key(struct scene *s)
{
    s->plan.keys = s->plan.keys > 1 ? 1 : s->plan.keys;
}

/* A computed key becomes the field that is in it. */
static void with_plain_keys(struct scene *s)
{
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < s->plan.keys; i++)
            while (s->plan.exprs[s->plan.key[side][i]].a != NONE)
                s->plan.key[side][i] = s->plan.exprs[s->plan.key[side][i]].a;
}

static void without_grace(struct scene *s)
{
    s->plan.grace = 0;
}

static void without_delay(struct scene *s)
{
    s->plan.delay[0] = s->plan.delay[1] = 0;
}

static void never_idle(struct scene *s)
{
    s->plan.idle[0] = s->plan.idle[1] = REF_OFF;
}

static void of_any_time(struct scene *s)
{
    s->plan.max_ahead[0] = s->plan.max_ahead[1] = REF_OFF;
}

static void pulled_when_needed(struct scene *s)
{
    s->by_hand = false;
}

static void fired_by_the_engine(struct scene *s)
{
    s->aside = 0;
}

static void with_plain_csv(struct scene *s)
{
    s->delimiter = s->side[0].delimiter = s->side[1].delimiter = ',';
    s->null_text = s->side[0].null_text = s->side[1].null_text = "";
}

static void as_inner(struct scene *s)
{
    s->plan.type = REF_INNER;
}

static void as_full(struct scene *s)
{
    bool one_sided = s->plan.match == REF_LATEST || s->plan.match == REF_LOOKUP;
    s->plan.type = one_sided ? REF_LEFT : REF_FULL;
}

static void (*const simplifications[])(struct scene *s) = {
    without_select,      without_limit,  without_cuts, without_on,         without_left_where,
    without_right_where, without_offset, with_one_key, with_plain_keys,    without_grace,
    without_delay,       never_idle,     of_any_time,  pulled_when_needed, fired_by_the_engine,
    with_plain_csv,      as_full,        as_inner,
};

static bool shrink_plan(struct shrinker *s)
{
    bool any = false;
    for (size_t i = 0; i < sizeof(simplifications) / sizeof(simplifications[0]); i++) {
        struct scene smaller = scene_copy(s->scene);
        simplifications[i](&smaller);
        bool changed = smaller.select_count != s->scene->select_count ||
                       smaller.state_bytes != s->scene->state_bytes ||
                       smaller.cut != s->scene->cut || smaller.delimiter != s->scene->delimiter ||
                       smaller.by_hand != s->scene->by_hand || smaller.aside != s->scene->aside ||
                       memcmp(&smaller.plan, &s->scene->plan, sizeof(smaller.plan)) != 0 ||
                       memcmp(smaller.side, s->scene->side, sizeof(smaller.side)) != 0;
        if (changed)
            any = try_scene(s, &smaller) || any;
        else
            scene_done(&smaller);
    }
    return any;
}

/* --- plainer lines --- */

static bool plainer(struct event *e)
{
    struct scene_row *row = &e->row;
    bool changed = row->quoted != 0 || row->cr || row->bad != BAD_NOT || row->pad > 0 ||
                   row->micros > 0 || e->glued || e->feed > 0;
    row->quoted = 0;
    row->cr = e->glued = false;
    row->bad = BAD_NOT;
    row->pad = row->micros = e->feed = 0;
    return changed;
}

static bool shrink_rows(struct shrinker *s)
{
    bool any = false;
    for (size_t i = 0; i < s->scene->event_count; i++) {
        if (s->scene->events[i].kind != EVENT_ROW)
            continue;
        struct scene smaller = scene_copy(s->scene);
        if (plainer(&smaller.events[i]))
            any = try_scene(s, &smaller) || any;
        else
            scene_done(&smaller);
    }
    return any;
}

void shrink(struct scene *scene, bool (*fails)(const struct scene *scene))
{
    struct shrinker s = {.scene = scene, .fails = fails};
    bool smaller = true;
    while (smaller && s.trials < TRIALS_MAX) {
        bool events = shrink_events(&s), plan = shrink_plan(&s), rows = shrink_rows(&s);
        smaller = events || plan || rows;
    }
}
