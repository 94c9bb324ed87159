#include "core/join_window.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"

/* Partitions serve caches: none for small windows, 16 from PART_BYTES a side on, 256
 * for windows whose sixteenth would still be large. A window that fills is parted
 * once, while that is cheap (a millisecond at most); what it has come to when it is
 * due tells how the next ones begin. */
#define PART_BITS       4
#define PART_BYTES      (UINT64_C(64) << 10)
#define PART_BYTES_MAX  (UINT64_C(2) << 20)
#define PART_MORE_BYTES (UINT64_C(64) << 20)

/* What the walk's tables may keep from one window to the next: a share of the limit,
 * for they count as state. */
#define WALK_TABLES_SHARE 64

static void *join_window_create(const struct operator_context *c)
{
    struct join_window *j = mem_alloc_zeroed(1, sizeof(*j));

    j->context = *c;
    j->reached = STREAM_TIME_MIN;
    window_walk_init(&j->walk, c->plan, c->books, c->pool, *c->state_bytes_max / WALK_TABLES_SHARE);
    return j;
}

/* --- the open windows --- */

static uint64_t window_bytes(const struct window *w)
{
    return w->side[SIDE_LEFT].bytes + w->side[SIDE_RIGHT].bytes;
}

static struct window *window_new(struct join_window *j, int64_t start)
{
    struct window *w = mem_alloc(sizeof(*w));

    w->start = start;
    w->end = start + j->context.plan->size_ms;
    window_log_init(&w->side[SIDE_LEFT], j->bits);
    window_log_init(&w->side[SIDE_RIGHT], j->bits);
    j->bytes += sizeof(*w) + window_bytes(w);
    return w;
}

/* The logs count their own bytes; the sum over all windows is kept beside. */
static void account(struct join_window *j, const struct window *w, uint64_t bytes_before)
{
    j->bytes += window_bytes(w) - bytes_before;
}

static void window_free(struct join_window *j, struct window *w)
{
    j->bytes -= window_bytes(w);
    window_log_done(&w->side[SIDE_LEFT], j->context.pool);
    window_log_done(&w->side[SIDE_RIGHT], j->context.pool);
    mem_free(w);
    j->bytes -= sizeof(*w);
}

static void join_window_destroy(void *self)
{
    struct join_window *j = self;

    for (size_t i = 0; i < j->count; i++)
        window_free(j, j->windows[j->head + i]);
    mem_free(j->windows);
    window_walk_done(&j->walk);
    mem_free(j);
}

/* The first open window that does not start before `start`. */
static size_t windows_search(const struct join_window *j, int64_t start)
{
    size_t low = j->head + j->closed, high = j->head + j->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (j->windows[middle]->start < start)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Room for one more behind the last; what the head left free is used first. */
static void windows_make_room(struct join_window *j)
{
    if (j->head + j->count < j->capacity)
        return;
    if (j->head > j->capacity / 2) {
        memmove(j->windows, j->windows + j->head, j->count * sizeof(struct window *));
        j->head = 0;
        return;
    }
    j->bytes += (j->capacity == 0 ? 8 : j->capacity) * sizeof(struct window *);
    j->capacity = j->capacity == 0 ? 8 : 2 * j->capacity;
    j->windows = mem_realloc(j->windows, j->capacity * sizeof(struct window *));
}

static struct window *windows_open(struct join_window *j, int64_t start)
{
    size_t at = windows_search(j, start);

    if (at < j->head + j->count && j->windows[at]->start == start)
        return j->windows[at];
    at -= j->head;
    windows_make_room(j);
    at += j->head;
    memmove(j->windows + at + 1, j->windows + at,
            (j->head + j->count - at) * sizeof(struct window *));
    j->windows[at] = window_new(j, start);
    j->count++;
    return j->windows[at];
}

/* Time mostly stays within the window that is open last. */
static struct window *window_of(struct join_window *j, int64_t t)
{
    struct window *last = j->count > j->closed ? j->windows[j->head + j->count - 1] : NULL;

    if (last != NULL && t >= last->start && t < last->end)
        return last;
    return windows_open(j, plan_window_start(j->context.plan, t));
}

static void windows_drop(struct join_window *j, size_t at)
{
    window_free(j, j->windows[at]);
    j->count--;
    if (at == j->head)
        j->head++;
    else
        memmove(j->windows + at, j->windows + at + 1,
                (j->head + j->count - at) * sizeof(struct window *));
    if (j->count == 0)
        j->head = 0;
}

static bool window_is_empty(const struct window *w)
{
    return w->side[SIDE_LEFT].undecided + w->side[SIDE_RIGHT].undecided == 0;
}

/* --- in --- */

static uint64_t join_window_state_bytes(const void *self)
{
    const struct join_window *j = self;
    return j->bytes + window_walk_bytes(&j->walk);
}

static void window_grow(struct join_window *j, struct window *w, enum side side, uint64_t room)
{
    uint64_t bytes = w->side[side].bytes;

    if (w->side[side].bits > 0 || bytes < PART_BYTES || bytes > PART_BYTES_MAX)
        return;
    if (2 * window_bytes(w) > room)
        return; /* slower, but within its memory */
    window_log_split(&w->side[SIDE_LEFT], j->context.pool, PART_BITS);
    window_log_split(&w->side[SIDE_RIGHT], j->context.pool, PART_BITS);
}

static unsigned bits_for(const struct window *w)
{
    uint64_t left = w->side[SIDE_LEFT].bytes, right = w->side[SIDE_RIGHT].bytes;
    uint64_t bytes = left > right ? left : right;

    if (bytes >= PART_MORE_BYTES)
        return WINDOW_LOG_BITS_MAX;
    return bytes >= PART_BYTES ? PART_BITS : 0;
}

static uint64_t room_left(const struct join_window *j)
{
    uint64_t bytes = join_window_state_bytes(j), max = *j->context.state_bytes_max;
    return bytes < max ? max - bytes : 0;
}

/* The record needs a new chunk. */
static __attribute__((noinline)) bool push_and_grow(struct join_window *j, struct window *w,
                                                    enum side side,
                                                    const struct record_parts *parts,
                                                    uint64_t number)
{
    uint64_t room = room_left(j), before = window_bytes(w);

    /* A state that holds nothing takes one record, however small the limit: else it
     * would be full of nothing for ever. */
    if (j->count == 1 && window_is_empty(w))
        room = UINT64_MAX;
    if (!window_log_append(&w->side[side], j->context.pool, parts, number, room)) {
        if (window_is_empty(w)) /* it was opened for this record */
            windows_drop(j, windows_search(j, w->start));
        return false;
    }
    window_grow(j, w, side, room);
    account(j, w, before);
    return true;
}

/* The ends of the partitions that records will go to. */
static void fetch_tails(const struct window_log *l, const struct record_parts *parts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        __builtin_prefetch(l->parts[log_part_of(parts[i].hash, l->bits)].tail);
}

static size_t join_window_push(void *self, enum side side, const struct record_parts *parts,
                               size_t n, uint64_t number, struct stream_time t)
{
    struct join_window *j = self;
    struct window *w = window_of(j, t.ms);

    assert(w->end > j->reached.ms);
    fetch_tails(&w->side[side], parts, n);
    for (size_t i = 0; i < n; i++) {
        if (!window_log_append_here(&w->side[side], &parts[i], number + i) &&
            !push_and_grow(j, w, side, &parts[i], number + i))
            return i;
    }
    return n;
}

static void join_window_advance(void *self, struct stream_time now)
{
    struct join_window *j = self;

    assert(now.ms >= j->reached.ms);
    j->reached = now;
    while (j->closed < j->count && j->windows[j->head + j->closed]->end <= now.ms)
        j->closed++;
}

static void join_window_flush(void *self)
{
    struct join_window *j = self;
    j->closed = j->count;
}

/* --- out --- */

static size_t join_window_pull(void *self, struct result *ret, size_t max, int64_t *fuel)
{
    struct join_window *j = self;
    size_t n = 0;

    while (n == 0 && *fuel > 0 && j->closed > 0) {
        struct window *w = j->windows[j->head];
        uint64_t before = window_bytes(w);
        if (j->walk.window == NULL) {
            j->bits = bits_for(w);
            window_walk_begin(&j->walk, w);
        }
        n = window_walk_pull(&j->walk, ret, max, fuel);
        account(j, w, before);
        if (j->walk.window == NULL) {
            windows_drop(j, j->head);
            j->closed--;
        }
    }
    return n;
}

static bool join_window_has_work(const void *self)
{
    const struct join_window *j = self;
    return j->closed > 0;
}

static struct stream_time join_window_due(const void *self)
{
    const struct join_window *j = self;

    if (j->closed == j->count)
        return STREAM_TIME_MAX;
    return (struct stream_time){j->windows[j->head + j->closed]->end};
}

static uint64_t join_window_held(const void *self, enum side side)
{
    const struct join_window *j = self;
    uint64_t held = 0;

    for (size_t i = 0; i < j->count; i++)
        held += j->windows[j->head + i]->side[side].undecided;
    return held;
}

static uint64_t join_window_held_recount(const void *self, enum side side)
{
    const struct join_window *j = self;
    uint64_t held = 0;

    for (size_t i = 0; i < j->count; i++)
        held += window_log_recount(&j->windows[j->head + i]->side[side]);
    return held;
}

const struct operator operator_window = {
    .create = join_window_create,
    .destroy = join_window_destroy,
    .push = join_window_push,
    .advance = join_window_advance,
    .flush = join_window_flush,
    .pull = join_window_pull,
    .has_work = join_window_has_work,
    .due = join_window_due,
    .held = join_window_held,
    .held_recount = join_window_held_recount,
    .state_bytes = join_window_state_bytes,
};
