/* What time does, what room there is, what comes out. See engine/engine.h. */
#include "engine/engine.h"

#include <assert.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/time.h"
#include "engine/inner.h"
#include "join/firing.h"
#include "model/result.h"

static const struct operator* operator_for(const struct plan *plan)
{
    switch (plan->match) {
    case MATCH_TUMBLING:
    case MATCH_SLIDING:
        return &operator_window;
    case MATCH_SESSION:
        return &operator_session;
    case MATCH_INTERVAL:
        return &operator_interval;
    case MATCH_LATEST:
        return plan->time == TIME_EVENT ? &operator_as_of : &operator_latest;
    case MATCH_LOOKUP:
    case MATCH_BATCH:
        return &operator_table;
    }
    assert(!"a kind of match");
    return NULL;
}

static void set_limits(struct engine *e, uint64_t bytes)
{
    e->limit[LEVEL_LIMIT] = bytes;
    e->limit[LEVEL_MORE] = bytes > UINT64_MAX - bytes / 4 ? UINT64_MAX : bytes + bytes / 4;
    e->state_bytes_max = bytes;
}

static void watermark_of(const struct plan *plan, struct watermark *ret)
{
    int64_t delay_ms[SIDES], idle_ms[SIDES];

    for (int s = 0; s < SIDES; s++) {
        delay_ms[s] = plan->side[s].delay_ms;
        idle_ms[s] = plan->side[s].idle_ms == PLAN_OFF ? WATERMARK_NEVER : plan->side[s].idle_ms;
    }
    watermark_init(ret, delay_ms, idle_ms);
}

struct engine *engine_new(const struct plan *plan)
{
    struct engine *e = mem_alloc_zeroed(1, sizeof(*e));

    e->plan = plan;
    e->event = plan->time == TIME_EVENT;
    e->pool = slab_pool_new();
    e->clock = e->reached = STREAM_TIME_MIN;
    set_limits(e, plan->state_bytes_max);
    judge_init(&e->judge, plan);
    lag_init(&e->lag);
    e->notes_lags = plan_traits(plan)->by_time;
    watermark_of(plan, &e->watermark);
    for (int s = 0; s < SIDES; s++)
        watermark_open(&e->watermark, &e->own_feed[s], (enum side)s);
    e->operator= operator_for(plan);
    e->self = e->operator->create(&(struct operator_context){
        .plan = plan,
        .books = &e->books,
        .pool = e->pool,
        .state_bytes_max = &e->state_bytes_max,
        .lag = &e->lag,
    });
    return e;
}

void engine_free(struct engine *e)
{
    if (e == NULL)
        return;
    e->operator->destroy(e->self);
    slab_pool_free(e->pool);
    judge_done(&e->judge);
    mem_free(e);
}

/* --- room --- */

static uint64_t state_bytes(const struct engine *e)
{
    return e->operator->state_bytes(e->self);
}

static bool is_empty(const struct engine *e)
{
    return !e->operator->has_work(e->self) && e->operator->due(e->self).ms == INT64_MAX &&
           e->operator->held(e->self, SIDE_LEFT) + e->operator->held(e->self, SIDE_RIGHT) == 0;
}

/* Full at the limit, not full any more at 15/16 of it, or when all that was due is
 * gone: else each freed chunk would wake the inputs for a handful of records. Nor when
 * nothing seems to be left, whatever the operator keeps for itself: that is tried once,
 * for values that stay (latest, tables) look the same. */
static void look_again(struct engine *e, struct fullness *f, uint64_t max)
{
    uint64_t bytes = state_bytes(e);

    f->full = bytes >= f->bytes || (bytes > max - max / 16 && e->operator->has_work(e->self));
    if (f->full && !f->retried && is_empty(e)) {
        f->full = false;
        f->retried = true;
    }
}

void engine_look_for_room(struct engine *e)
{
    if (!e->any_full)
        return;
    e->any_full = false;
    for (int s = 0; s < SIDES; s++) {
        for (int l = 0; l < LEVELS; l++) {
            if (e->fullness[s][l].full)
                look_again(e, &e->fullness[s][l], e->limit[l]);
            e->any_full |= e->fullness[s][l].full;
        }
    }
}

void engine_note_full(struct engine *e, enum side side, enum level level)
{
    uint64_t bytes = state_bytes(e);

    e->any_full = true;
    for (int l = 0; l <= (int)level; l++) {
        struct fullness *f = &e->fullness[side][l];
        *f = (struct fullness){true, bytes, f->retried && f->bytes == bytes};
    }
}

enum level engine_level(const struct engine *e, enum side side, const struct feed *f)
{
    bool more = e->event ? watermark_holds_back(&e->watermark, side, f)
                         : plan_traits(e->plan)->right_asked && side == SIDE_RIGHT;

    return more ? LEVEL_MORE : LEVEL_LIMIT;
}

/* --- time --- */

static void advance(struct engine *e, struct stream_time t)
{
    if (t.ms > e->reached.ms) {
        e->reached = t;
        e->operator->advance(e->self, t);
    }
    engine_look_for_room(e);
}

void engine_advance_by_watermark(struct engine *e)
{
    advance(e, e->watermark.reached);
}

void engine_advance(struct engine *e, struct stream_time now)
{
    if (now.ms > e->clock.ms)
        e->clock = now;
    if (!e->event)
        advance(e, now);
}

void engine_watch(struct engine *e, struct mono_time now)
{
    if (!e->event)
        return;
    watermark_clock(&e->watermark, now);
    engine_advance_by_watermark(e);
}

void engine_count_idle_anew(struct engine *e, struct mono_time now)
{
    watermark_count_anew(&e->watermark, now);
}

void engine_feed_open(struct engine *e, struct feed *f, enum side side)
{
    watermark_open(&e->watermark, f, side);
}

void engine_feed_close(struct engine *e, struct feed *f)
{
    watermark_close(&e->watermark, f);
    if (e->event)
        engine_advance_by_watermark(e);
}

void engine_feed_unread(struct engine *e, struct feed *f)
{
    watermark_unread(&e->watermark, f);
}

void engine_feed_read(struct engine *e, struct feed *f, bool held)
{
    watermark_read(&e->watermark, f, held);
}

void engine_never_idle(struct engine *e, enum side side)
{
    watermark_never_idle(&e->watermark, side);
}

void engine_end(struct engine *e, enum side side)
{
    e->ended[side] = true;
    watermark_end(&e->watermark, side);
    if (e->event)
        engine_advance_by_watermark(e);
    if (e->ended[side_other(side)])
        advance(e, STREAM_TIME_MAX);
}

void engine_flush(struct engine *e)
{
    e->operator->flush(e->self);
}

void engine_lift_limit(struct engine *e)
{
    set_limits(e, UINT64_MAX);
    for (int l = 0; l < LEVELS; l++)
        e->fullness[SIDE_LEFT][l].full = e->fullness[SIDE_RIGHT][l].full = false;
}

/* --- in: the rest is in engine/admit.c --- */

bool engine_awaits(const struct engine *e, enum side side, const struct feed *f)
{
    return !e->event || watermark_holds_back(&e->watermark, side, f);
}

bool engine_takes(const struct engine *e)
{
    return !e->fullness[SIDE_LEFT][LEVEL_LIMIT].full && !e->fullness[SIDE_RIGHT][LEVEL_LIMIT].full;
}

bool engine_is_stuck(const struct engine *e)
{
    if (engine_takes(e) || e->operator->has_work(e->self))
        return false;
    for (int s = 0; s < SIDES; s++)
        if (!e->ended[s] && !e->fullness[s][engine_level(e, (enum side)s, NULL)].full)
            return false;
    return e->event ? !e->watermark.drifting : e->operator->due(e->self).ms == INT64_MAX;
}

bool engine_idle_is_due(const struct engine *e, struct mono_time now)
{
    return e->event && now.ms >= e->watermark.check.ms;
}

/* --- out --- */

size_t engine_pull(struct engine *e, struct result *ret, size_t max, int64_t *fuel)
{
    size_t n = e->operator->pull(e->self, ret, max, fuel);

    results_count(&e->books, e->notes_lags ? &e->lag : NULL, e->plan, ret, n);
    engine_look_for_room(e);
    return n;
}

bool engine_has_work(const struct engine *e)
{
    return e->operator->has_work(e->self);
}

struct stream_time engine_due(const struct engine *e)
{
    return e->event ? STREAM_TIME_MAX : e->operator->due(e->self);
}

struct mono_time engine_wake(const struct engine *e)
{
    if (!e->event)
        return (struct mono_time){INT64_MAX};
    return watermark_wake(&e->watermark, e->operator->due(e->self));
}

void engine_reject_result(struct engine *e, const struct result *r)
{
    results_reject(&e->books, r);
}

/* --- what it knows --- */

const struct books *engine_books(const struct engine *e)
{
    return &e->books;
}

const struct lag *engine_lag(struct engine *e)
{
    lag_settle(&e->lag);
    return &e->lag;
}

uint64_t engine_held(const struct engine *e, enum side side)
{
    return e->operator->held(e->self, side);
}

uint64_t engine_state_bytes(const struct engine *e)
{
    return state_bytes(e);
}

struct stream_time engine_time(const struct engine *e)
{
    return e->reached;
}

struct stream_time engine_watermark(const struct engine *e, enum side side)
{
    return e->watermark.side[side].own;
}

bool engine_side_idle(const struct engine *e, enum side side)
{
    return e->watermark.side[side].idle;
}

bool engine_books_balance(const struct engine *e)
{
    for (int s = 0; s < SIDES; s++) {
        uint64_t held = e->operator->held(e->self, (enum side)s);
        if (held != operator_recount(e->operator, e->self, (enum side)s) ||
            !books_balance(&e->books.side[s], held))
            return false;
    }
    return true;
}

uint64_t engine_mapped_bytes(const struct engine *e)
{
    return slab_mapped(e->pool);
}

void engine_trim(struct engine *e)
{
    slab_trim(e->pool, ENGINE_TRIM_KEEP);
}

void *engine_operator_state(struct engine *e)
{
    return e->self;
}
