#include "join/pane.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "base/time.h"
#include "store/late_index.h"

#define PANES_MIN 8

/* A pane that fills is parted once, while that is cheap (a millisecond at most). */
#define PART_BYTES_MAX (UINT64_C(2) << 20)

struct pane_windows pane_windows_of(const struct plan *plan, int64_t t)
{
    int64_t start = plan_window_start(plan, t), since = t - start, before;

    if (since >= plan->size_ms)
        return (struct pane_windows){0};
    before = (plan->size_ms - 1 - since) / plan->slide_ms;
    return (struct pane_windows){
        .count = (uint64_t)before + 1,
        .first_end = start - before * plan->slide_ms + plan->size_ms,
        .last_end = start + plan->size_ms,
    };
}

/* Within a slide, time is cut once more: where an earlier window ends. */
static void pane_bounds(const struct plan *plan, int64_t t, int64_t *ret_start, int64_t *ret_end)
{
    int64_t start = plan_window_start(plan, t);
    int64_t cut = pane_is_window(plan) ? plan->size_ms : plan->size_ms % plan->slide_ms;

    if (t - start < cut) {
        *ret_start = start;
        *ret_end = start + cut;
    } else {
        *ret_start = start + cut;
        *ret_end = start + plan->slide_ms;
    }
}

/* It lies within its windows, and both of its logs are parted alike. */
static bool pane_ok(const struct pane *p)
{
    return p->start < p->end && p->end <= p->first_end && p->first_end <= p->last_end &&
           p->side[SIDE_LEFT].bits == p->side[SIDE_RIGHT].bits;
}

static struct pane *pane_new(const struct plan *plan, int64_t t, const struct pane_shape *shape)
{
    struct pane_windows windows = pane_windows_of(plan, t);
    struct pane *p = mem_alloc_zeroed(1, sizeof(*p));

    assert(windows.count > 0);
    pane_bounds(plan, t, &p->start, &p->end);
    p->first_end = windows.first_end;
    p->last_end = windows.last_end;
    for (int s = 0; s < SIDES; s++) {
        window_log_init(&p->side[s], shape->bits);
        p->side[s].chunk_least = shape->chunk_least[s];
    }
    assert(pane_ok(p));
    return p;
}

void pane_free(struct pane *p, struct slab_pool *pool)
{
    assert(pane_ok(p));
    late_index_free(p->late);
    window_log_done(&p->side[SIDE_LEFT], pool);
    window_log_done(&p->side[SIDE_RIGHT], pool);
    mem_free(p);
}

uint64_t pane_bytes(const struct pane *p)
{
    return sizeof(*p) + p->side[SIDE_LEFT].bytes + p->side[SIDE_RIGHT].bytes +
           late_index_bytes(p->late);
}

void pane_grow(struct pane *p, enum side side, struct slab_pool *pool, uint64_t room)
{
    uint64_t bytes = p->side[side].bytes;

    if (p->side[side].bits > 0 || bytes < PANE_PART_FROM || bytes > PART_BYTES_MAX ||
        p->late != NULL)
        return;
    if (2 * (p->side[SIDE_LEFT].bytes + p->side[SIDE_RIGHT].bytes) > room)
        return; /* slower, but within its memory */
    window_log_split(&p->side[SIDE_LEFT], pool, PANE_PART_BITS);
    window_log_split(&p->side[SIDE_RIGHT], pool, PANE_PART_BITS);
    assert(pane_ok(p));
}

static bool pane_list_ok(const struct pane_list *l)
{
    return l->head + l->count <= l->capacity && (l->panes != NULL) == (l->capacity > 0);
}

void pane_list_done(struct pane_list *l, struct slab_pool *pool)
{
    assert(pane_list_ok(l));
    for (size_t i = 0; i < l->count; i++)
        pane_free(pane_list_at(l, i), pool);
    mem_free(l->panes);
    *l = (struct pane_list){0};
}

size_t pane_list_before(const struct pane_list *l, int64_t start)
{
    size_t low = 0, high = l->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (pane_list_at(l, middle)->start < start)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Mostly it is the last one. */
struct pane *pane_list_find(const struct pane_list *l, int64_t t)
{
    struct pane *p = l->count > 0 ? pane_list_at(l, l->count - 1) : NULL;
    size_t i;

    if (p == NULL || t >= p->end)
        return NULL;
    if (t >= p->start)
        return p;
    i = pane_list_before(l, t + 1);
    p = i > 0 ? pane_list_at(l, i - 1) : NULL;
    return p != NULL && t < p->end ? p : NULL;
}

/* The first pane that has a window which ends after `after`. */
static const struct pane *first_that_lasts(const struct pane_list *l, int64_t after)
{
    size_t low = 0, high = l->count;

    if (l->count == 0 || pane_list_at(l, 0)->last_end > after) /* as it mostly is */
        high = 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (pane_list_at(l, middle)->last_end <= after)
            low = middle + 1;
        else
            high = middle;
    }
    return low < l->count ? pane_list_at(l, low) : NULL;
}

int64_t pane_list_next_end(const struct pane_list *l, const struct plan *plan, int64_t after)
{
    const struct pane *p = first_that_lasts(l, after);

    if (p == NULL)
        return PANE_NO_WINDOW;
    if (p->first_end > after)
        return p->first_end;
    return p->first_end + ((after - p->first_end) / plan->slide_ms + 1) * plan->slide_ms;
}

/* Room for one more behind the last; what the head left free is used first. */
static void make_room(struct pane_list *l)
{
    if (l->head + l->count < l->capacity)
        return;
    if (l->head > l->capacity / 2) {
        memmove(l->panes, l->panes + l->head, l->count * sizeof(struct pane *));
        l->head = 0;
        return;
    }
    l->capacity = l->capacity == 0 ? PANES_MIN : 2 * l->capacity;
    l->panes = mem_realloc(l->panes, l->capacity * sizeof(struct pane *));
}

struct pane *pane_list_open(struct pane_list *l, const struct plan *plan, int64_t t,
                            const struct pane_shape *shape)
{
    int64_t start, end;
    size_t at;

    assert(pane_list_ok(l));
    pane_bounds(plan, t, &start, &end);
    assert(start <= t && t < end);
    at = pane_list_before(l, start);
    if (at < l->count && pane_list_at(l, at)->start == start)
        return pane_list_at(l, at);
    make_room(l);
    memmove(l->panes + l->head + at + 1, l->panes + l->head + at,
            (l->count - at) * sizeof(struct pane *));
    l->count++;
    assert(pane_list_ok(l));
    return l->panes[l->head + at] = pane_new(plan, t, shape);
}

struct pane *pane_list_take(struct pane_list *l, size_t i)
{
    struct pane *p = pane_list_at(l, i);

    assert(i < l->count && pane_list_ok(l));
    l->count--;
    if (i == 0)
        l->head++;
    else
        memmove(l->panes + l->head + i, l->panes + l->head + i + 1,
                (l->count - i) * sizeof(struct pane *));
    if (l->count == 0)
        l->head = 0;
    return p;
}

void pane_list_drop(struct pane_list *l, struct slab_pool *pool, size_t i)
{
    pane_free(pane_list_take(l, i), pool);
}
