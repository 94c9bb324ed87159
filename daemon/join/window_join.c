#include "join/window_join.h"

#include <assert.h>

#include "base/mem.h"
#include "join/window_shape.h"

/* What the walk's tables may keep from one window to the next, and what is kept of lost
 * records: a share of the limit, for they count as state. */
#define TABLES_SHARE 64

static void *window_join_create(const struct operator_context *c)
{
    struct window_join *j = mem_alloc_zeroed(1, sizeof(*j));
    uint64_t keep = *c->state_bytes_max / TABLES_SHARE;

    j->context = *c;
    j->early = c->plan->time == TIME_EVENT ? 1 : 0;
    j->left_bytes = UINT64_MAX;
    j->reached = STREAM_TIME_MIN;
    window_age_init(&j->open, INT64_MIN, INT64_MIN);
    window_walk_init(&j->walk, c->plan, c->books, c->pool, keep);
    late_probe_init(&j->probe, c->plan, c->books, c->pool, keep);
    near_miss_init(&j->near_miss, c->plan, c->books, c->lag, keep);
    j->walk.cross.near_miss = &j->near_miss;
    return j;
}

static void window_join_destroy(void *self)
{
    struct window_join *j = self;
    struct window_age *next;

    for (struct window_age *a = j->flushed; a != NULL; a = next) {
        next = a->next;
        window_age_done(a, j->context.pool);
        mem_free(a);
    }
    window_age_done(&j->open, j->context.pool);
    firings_done(&j->out, j->context.pool);
    window_walk_done(&j->walk);
    late_probe_done(&j->probe);
    near_miss_done(&j->near_miss);
    mem_free(j);
}

/* The walk and the probe are never at work together; nor here, while windows are out. */
static bool window_join_ok(const struct window_join *j)
{
    return !(j->probe.under_way && (j->walk.under_way || firings_any(&j->out))) &&
           j->open.closed <= j->open.fired && j->probe.index_bytes == 0;
}

/* --- what is due --- */

static struct window_age *oldest(struct window_join *j)
{
    return j->flushed != NULL ? j->flushed : &j->open;
}

static bool has_ended(const struct window_join *j, const struct window_age *a)
{
    return a != &j->open || j->reached.ms == STREAM_TIME_MAX.ms;
}

/* Windows that end up to here have to fire ... */
static int64_t fires_to(const struct window_join *j, const struct window_age *a)
{
    return has_ended(j, a)                       ? INT64_MAX
           : j->reached.ms == STREAM_TIME_MIN.ms ? INT64_MIN
                                                 : j->reached.ms + j->early;
}

/* ... and up to here, to close: they take no more records. */
static int64_t closes_to(const struct window_join *j, const struct window_age *a)
{
    int64_t to = fires_to(j, a), grace_ms = j->context.plan->grace_ms;
    return has_ended(j, a) || to < INT64_MIN + grace_ms ? to : to - grace_ms;
}

static bool window_join_has_work(const void *self)
{
    const struct window_join *j = self;

    if (firings_any(&j->out)) /* the walk is another's */
        return true;
    return j->walk.under_way || j->probe.under_way || j->flushed != NULL ||
           j->open.lone.given != NULL || window_age_has_spent(&j->open) ||
           window_age_turn(&j->open, j->context.plan, fires_to(j, &j->open)).work != WORK_NONE;
}

static struct stream_time window_join_due(const void *self)
{
    const struct window_join *j = self;
    const struct window_age *a = &j->open;
    int64_t end = window_age_due(a, j->context.plan, fires_to(j, a), closes_to(j, a));

    return (struct stream_time){end == INT64_MAX ? INT64_MAX : end - j->early};
}

/* --- in --- */

static uint64_t window_join_state_bytes(const void *self)
{
    const struct window_join *j = self;
    uint64_t bytes = j->bytes + window_age_bytes(&j->open) + late_probe_bytes(&j->probe) +
                     (firings_any(&j->out) ? firings_bytes(&j->out)
                                           : window_walk_bytes(&j->walk) + j->near_miss.bytes);

    for (const struct window_age *a = j->flushed; a != NULL; a = a->next)
        bytes += sizeof(*a) + window_age_bytes(a);
    return bytes;
}

struct size {
    uint64_t bytes, chunks[SIDES];
};

static struct size size_of(const struct pane *p)
{
    return (struct size){pane_bytes(p), {p->side[SIDE_LEFT].chunks, p->side[SIDE_RIGHT].chunks}};
}

/* Panes count their own bytes and chunks; the sums over all of them are kept beside. */
static void account(struct window_join *j, struct size before, struct size now)
{
    assert(j->bytes >= before.bytes);
    j->bytes += now.bytes - before.bytes;
    for (int s = 0; s < SIDES; s++)
        j->chunks[s] += now.chunks[s] - before.chunks[s];
}

/* How a new pane begins: as the window before it has come to be, walked yet or not. For
 * results within a window come in an order that depends on its bits, and must not on when they are
 * pulled. */
static struct pane_shape shape_of_next(const struct window_join *j, const struct pane *last)
{
    bool whole = last != NULL && last->last_end > j->open.fired && pane_is_window(j->context.plan);
    return whole ? window_shape_like(last) : j->shape;
}

static struct pane *pane_of(struct window_join *j, int64_t t)
{
    struct pane_list *l = &j->open.panes;
    struct pane *p = pane_list_find(l, t);
    struct pane_shape shape;
    size_t count = l->count;

    if (p != NULL)
        return p;
    shape = shape_of_next(j, l->count > 0 ? pane_list_at(l, l->count - 1) : NULL);
    p = pane_list_open(l, j->context.plan, t, &shape);
    if (l->count > count)
        account(j, (struct size){0}, size_of(p));
    return p;
}

static void pane_drop(struct window_join *j, struct window_age *a, size_t i)
{
    account(j, size_of(pane_list_at(&a->panes, i)), (struct size){0});
    pane_list_drop(&a->panes, j->context.pool, i);
}

static bool holds_nothing(const struct window_join *j)
{
    const struct window_age *a = &j->open;

    return j->flushed == NULL && !firings_any(&j->out) && a->lone.due.count == 0 &&
           (a->panes.count == 0 ||
            (a->panes.count == 1 && pane_is_empty(pane_list_at(&a->panes, 0))));
}

/* A state that holds nothing takes one record, however small the limit: else it would be
 * full of nothing for ever. */
static uint64_t room_left(const struct window_join *j)
{
    uint64_t bytes = window_join_state_bytes(j), max = *j->context.state_bytes_max;

    if (holds_nothing(j))
        return UINT64_MAX;
    return bytes < max ? max - bytes : 0;
}

/* References to all records of a window have to fit 32 bits. */
static bool has_chunks_left(const struct window_join *j, enum side side)
{
    return pane_is_window(j->context.plan) || j->chunks[side] < LOG_CHUNKS_MAX;
}

/* The record needs a new chunk. */
static __attribute__((noinline)) bool push_and_grow(struct window_join *j, struct pane *p,
                                                    enum side side,
                                                    const struct record_parts *parts,
                                                    uint64_t number)
{
    struct size before = size_of(p);
    uint64_t room = room_left(j);

    if (!has_chunks_left(j, side) ||
        !window_log_append(&p->side[side], j->context.pool, parts, number, room)) {
        if (pane_is_empty(p)) /* it was opened for this record */
            pane_drop(j, &j->open, pane_list_before(&j->open.panes, p->start));
        return false;
    }
    pane_grow(p, side, j->context.pool, room);
    account(j, before, size_of(p));
    return true;
}

static inline bool push_record(struct window_join *j, struct pane *p, enum side side,
                               const struct record_parts *parts, uint64_t number)
{
    return window_log_append_here(&p->side[side], parts, number) ||
           push_and_grow(j, p, side, parts, number);
}

/* --- in, where a window has fired already, or none takes the record --- */

static uint64_t ends_up_to(const struct window_join *j, struct pane_windows w, int64_t end)
{
    uint64_t before;

    if (w.first_end > end)
        return 0;
    before = (uint64_t)(end - w.first_end) / (uint64_t)j->context.plan->slide_ms + 1;
    return before < w.count ? before : w.count;
}

static void probe_begin(struct window_join *j, struct pane *own, enum side side,
                        const struct record_parts *parts, int64_t first_end, int64_t last_end)
{
    const struct pane_list *l = &j->open.panes;
    size_t from = pane_list_before(l, first_end - j->context.plan->size_ms);
    size_t to = pane_list_before(l, last_end);

    late_probe_begin(&j->probe, l->panes + l->head + from, to - from, own, side, parts, first_end,
                     last_end);
}

/* Nothing that is due is left: all windows have been walked that ought to have been. */
static void catch_up(struct window_join *j)
{
    int64_t fired = fires_to(j, &j->open), closed = closes_to(j, &j->open);

    j->open.fired = fired > j->open.fired ? fired : j->open.fired;
    j->open.closed = closed > j->open.closed ? closed : j->open.closed;
}

static enum push_stop push_late(struct window_join *j, enum side side,
                                const struct record_parts *parts, uint64_t number,
                                struct pane_windows windows)
{
    int64_t slide_ms = j->context.plan->slide_ms;
    uint64_t late = ends_up_to(j, windows, closes_to(j, &j->open));
    uint64_t fired = ends_up_to(j, windows, fires_to(j, &j->open));
    struct pane *p;

    if (late == windows.count) {
        j->context.books->side[side].late_windows += late;
        return PUSH_LATE;
    }
    if (window_join_has_work(j))
        return PUSH_WORK_FIRST;
    catch_up(j);
    p = pane_of(j, parts->time);
    if (!push_record(j, p, side, parts, number))
        return PUSH_FULL;
    j->context.books->side[side].late_windows += late;
    if (fired > late && (parts->flags & RECORD_NULL_KEY) == 0)
        probe_begin(j, p, side, parts, windows.first_end + (int64_t)late * slide_ms,
                    windows.first_end + (int64_t)(fired - 1) * slide_ms);
    return PUSH_ALL;
}

/* It lies between windows: held until time has passed it, as it may have already. */
static enum push_stop push_lone(struct window_join *j, enum side side,
                                const struct record_parts *parts, uint64_t number)
{
    if (parts->time + 1 <= fires_to(j, &j->open) && window_join_has_work(j))
        return PUSH_WORK_FIRST;
    return lone_push(&j->open.lone, side, parts, number, room_left(j)) ? PUSH_ALL : PUSH_FULL;
}

static enum push_stop push_one(void *self, enum side side, const struct record_parts *parts,
                               uint64_t number)
{
    struct window_join *j = self;
    struct pane_windows windows = pane_windows_of(j->context.plan, parts->time);

    if (windows.count == 0)
        return push_lone(j, side, parts, number);
    if (windows.first_end <= fires_to(j, &j->open))
        return push_late(j, side, parts, number, windows);
    return push_record(j, pane_of(j, parts->time), side, parts, number) ? PUSH_ALL : PUSH_FULL;
}

static enum push_stop window_join_push(void *self, enum side side, const struct record_parts *parts,
                                       size_t n, uint64_t number, size_t *ret_taken)
{
    return operator_push_each(push_one, self, side, parts, n, number, ret_taken);
}

/* A pane takes records while all its windows have to come. */
static struct operator_open window_join_open(const void *self, enum side side, int64_t t)
{
    const struct window_join *j = self;
    struct pane *p = pane_list_find(&j->open.panes, t);

    if (p == NULL || p->first_end <= fires_to(j, &j->open))
        return (struct operator_open){.log = NULL};
    return (struct operator_open){&p->side[side], p->start, p->end, p->first_end - j->early};
}

static void window_join_advance(void *self, struct stream_time now)
{
    struct window_join *j = self;

    assert(now.ms >= j->reached.ms && window_join_ok(j));
    j->reached = now;
}

/* A record is taken the same way as long as none of its windows has to fire: that is so from
 * the first pane on of which none has yet. */
static void window_join_flush(void *self)
{
    struct window_join *j = self;
    struct window_age **last = &j->flushed;
    int64_t fired = fires_to(j, &j->open), closed = closes_to(j, &j->open);

    assert(window_join_ok(j));
    if (window_age_is_empty(&j->open))
        return;
    while (*last != NULL)
        last = &(*last)->next;
    *last = mem_alloc(sizeof(**last));
    **last = j->open;
    window_age_init(&j->open, fired, closed);
}

/* --- out --- */

static void walk_begin(struct window_join *j, struct window_age *a, int64_t end, unsigned tasks)
{
    const struct pane_list *l = &a->panes;
    size_t from = pane_list_before(l, end - j->context.plan->size_ms);
    size_t to = pane_list_before(l, end);

    window_walk_begin(&j->walk, l->panes + l->head + from, to - from, end, tasks);
    j->shape = window_shape_of_panes(j->walk.panes, j->walk.pane_count);
}

/* Those between windows that come before the next window. */
static size_t lone_some(struct window_join *j, struct window_age *a, struct result *ret, size_t max,
                        int64_t *fuel)
{
    const struct plan *plan = j->context.plan;
    int64_t before = window_age_next_window(a, plan, a->fired, a->closed).instant - 1;
    int64_t now = fires_to(j, a);
    size_t n = lone_pull(&a->lone, plan, j->context.books, &j->near_miss,
                         (before < now ? before : now) - 1, ret, max, fuel);

    if (n == 0) /* nobody looks at those that have gone */
        lone_give_back(&a->lone);
    return n;
}

static size_t turn_begin(struct window_join *j, struct window_age *a, struct window_turn turn,
                         struct result *ret, size_t max, int64_t *fuel)
{
    bool at_once = j->context.plan->grace_ms == 0;

    switch (turn.work) {
    case WORK_FIRE:
        a->fired = turn.end;
        walk_begin(j, a, turn.end, at_once ? CROSS_TELL | CROSS_CLOSE : CROSS_TELL);
        break;
    case WORK_CLOSE:
        walk_begin(j, a, turn.end, CROSS_CLOSE);
        break;
    case WORK_LONE:
        return lone_some(j, a, ret, max, fuel);
    case WORK_NONE:
        break;
    }
    return 0;
}

/* Closed panes go a few chunks at a time, and one that a walk has emptied at once. */
static void drop_closed(struct window_join *j, struct window_age *a, int64_t *fuel)
{
    struct pane *p = pane_list_at(&a->panes, 0);
    struct size before = size_of(p);
    bool empty = window_log_drop_some(&p->side[SIDE_LEFT], j->context.pool, fuel) &&
                 window_log_drop_some(&p->side[SIDE_RIGHT], j->context.pool, fuel);

    account(j, before, size_of(p));
    if (empty)
        pane_drop(j, a, 0);
    --*fuel;
}

static size_t walk_some(struct window_join *j, struct window_age *a, struct result *ret, size_t max,
                        int64_t *fuel)
{
    struct pane *p = j->walk.panes[0];
    struct size before = size_of(p);
    bool closes = (j->walk.cross.tasks & CROSS_CLOSE) != 0;
    size_t n = window_walk_pull(&j->walk, ret, max, fuel);

    account(j, before, size_of(p));
    if (!j->walk.under_way && closes)
        a->closed = j->walk.cross.window_end;
    return n;
}

static size_t probe_some(struct window_join *j, struct result *ret, size_t max, int64_t *fuel)
{
    size_t n = late_probe_pull(&j->probe, ret, max, fuel);

    j->bytes += j->probe.index_bytes;
    j->probe.index_bytes = 0;
    return n;
}

/* Its last window is closed, and it is empty. */
static void age_drop(struct window_join *j)
{
    struct window_age *a = j->flushed;

    assert(a->panes.count == 0);
    j->flushed = a->next;
    window_age_done(a, j->context.pool);
    mem_free(a);
}

/* --- windows that another fires --- */

/* This one is not for window_join_pull(). */
static bool is_left(const struct window_join *j, const struct window_age *a,
                    struct window_turn turn)
{
    return turn.work == WORK_FIRE && pane_bytes(pane_list_at(&a->panes, 0)) >= j->left_bytes;
}

static void window_join_leave(void *self, uint64_t bytes)
{
    ((struct window_join *)self)->left_bytes = bytes;
}

static struct firing *window_join_detach(void *self, uint64_t least_bytes)
{
    struct window_join *j = self;
    struct window_age *a;
    struct window_turn turn;
    struct pane *p;

    if (!firings_any(&j->out) && j->walk.under_way)
        return NULL;
    while ((a = oldest(j)) != &j->open && window_age_is_empty(a))
        age_drop(j);
    turn = window_age_turn(a, j->context.plan, fires_to(j, a));
    if (turn.work != WORK_FIRE || window_age_has_spent(a) ||
        pane_bytes(pane_list_at(&a->panes, 0)) < least_bytes)
        return NULL;
    a->fired = a->closed = turn.end;
    p = pane_list_at(&a->panes, 0);
    assert(p->last_end == turn.end);
    account(j, size_of(p), (struct size){0});
    j->shape = window_shape_like(p);
    return firings_add(&j->out, &j->walk, &j->near_miss, pane_list_take(&a->panes, 0));
}

static void window_join_settle(void *self, struct firing_news *news)
{
    struct window_join *j = self;

    assert(firings_any(&j->out) || !news->pulled);
    firings_settle(&j->out, j->context.pool, news);
}

static size_t window_join_pull(void *self, struct result *ret, size_t max, int64_t *fuel)
{
    struct window_join *j = self;
    size_t n = 0;

    assert(max > 0 && window_join_ok(j));
    if (firings_any(&j->out))
        return 0;
    lone_give_back(&oldest(j)->lone);
    while (n == 0 && *fuel > 0) {
        struct window_age *a = oldest(j);
        struct window_turn turn;
        if (j->probe.under_way) {
            n = probe_some(j, ret, max, fuel);
        } else if (j->walk.under_way) {
            n = walk_some(j, a, ret, max, fuel);
        } else if (window_age_has_spent(a)) {
            drop_closed(j, a, fuel);
        } else if ((turn = window_age_turn(a, j->context.plan, fires_to(j, a))).work != WORK_NONE) {
            if (is_left(j, a, turn))
                break;
            n = turn_begin(j, a, turn, ret, max, fuel);
        } else if (a != &j->open) {
            age_drop(j);
        } else {
            break;
        }
    }
    near_miss_settle(&j->near_miss);
    assert(window_join_ok(j) && n <= max);
    return n;
}

/* --- what is held --- */

static uint64_t window_join_held(const void *self, enum side side)
{
    const struct window_join *j = self;
    uint64_t held = window_age_held(&j->open, side) + j->out.held[side];

    for (const struct window_age *a = j->flushed; a != NULL; a = a->next)
        held += window_age_held(a, side);
    return held;
}

static void window_join_list(const void *self, enum side side, const struct held_listener *to)
{
    const struct window_join *j = self;

    window_age_list(&j->open, side, to);
    for (const struct window_age *a = j->flushed; a != NULL; a = a->next)
        window_age_list(a, side, to);
    firings_list(&j->out, side, to);
}

static void window_join_restore(void *self, enum side side, const struct record_parts *parts,
                                uint64_t number)
{
    struct window_join *j = self;
    struct record_parts own = *parts;
    enum push_stop stop;

    if (j->context.plan->size_ms <= UINT32_MAX)
        own.flags = record_flags_near(own.flags);
    stop = push_one(j, side, &own, number);
    assert(stop == PUSH_ALL);
    if ((own.flags & RECORD_DECIDED) != 0)
        pane_list_find(&j->open.panes, own.time)->side[side].undecided--;
}

/* What ought to have been walked by then has been. */
static void window_join_resume(void *self, struct stream_time now)
{
    struct window_join *j = self;

    assert(now.ms >= j->reached.ms && window_join_ok(j));
    j->reached = now;
    catch_up(j);
}

const struct operator operator_window = {
    .push_fuel = 4,
    .create = window_join_create,
    .destroy = window_join_destroy,
    .push = window_join_push,
    .advance = window_join_advance,
    .open = window_join_open,
    .flush = window_join_flush,
    .pull = window_join_pull,
    .has_work = window_join_has_work,
    .due = window_join_due,
    .held = window_join_held,
    .list = window_join_list,
    .restore = window_join_restore,
    .resume = window_join_resume,
    .state_bytes = window_join_state_bytes,
    .leave = window_join_leave,
    .detach = window_join_detach,
    .settle = window_join_settle,
};
