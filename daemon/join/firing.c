#include "join/firing.h"

#include <assert.h>

#include "base/mem.h"
#include "model/result.h"

struct firing_news *firing_news_new(void)
{
    struct firing_news *n = mem_alloc_zeroed(1, sizeof(*n));

    lag_init(&n->lag);
    return n;
}

void firing_news_free(struct firing_news *n)
{
    assert(n == NULL || (!n->pulled && n->spent.first == NULL));
    mem_free(n);
}

/* --- pulled --- */

/* Who counts, and where. */
struct counts {
    struct books *books;
    struct lag *lag;
    struct slab_pile *spent;
};

/* Returns who did before. */
static struct counts count_in(struct firing *f, struct counts c)
{
    struct window_walk *w = f->walk;
    struct counts before = {w->cross.pairing.books, f->near_miss->lag, w->spent};

    w->cross.pairing.books = f->near_miss->books = c.books;
    f->near_miss->lag = c.lag;
    w->spent = c.spent;
    return before;
}

static void begin(struct firing *f)
{
    f->begun = true;
    window_walk_begin(f->walk, &f->pane, 1, f->end, CROSS_TELL | CROSS_CLOSE);
}

static size_t walk(struct firing *f, struct result *ret, size_t max, int64_t *fuel)
{
    size_t n = 0;

    if (!f->begun)
        begin(f);
    while (n == 0 && *fuel > 0 && f->walk->under_way)
        n = window_walk_pull(f->walk, ret, max, fuel);
    near_miss_settle(f->near_miss);
    return n;
}

static uint64_t tables_bytes(const struct firing *f)
{
    return window_walk_bytes(f->walk) + f->near_miss->bytes;
}

size_t firing_pull(struct firing *f, struct firing_news *news, struct result *ret, size_t max,
                   int64_t *fuel)
{
    struct pane *p = f->pane;
    uint64_t bytes = pane_bytes(p);
    uint64_t held[SIDES] = {p->side[SIDE_LEFT].undecided, p->side[SIDE_RIGHT].undecided};
    struct counts before;
    size_t n;

    assert(!f->over && f->begun == f->walk->under_way);
    before = count_in(f, (struct counts){&news->books, &news->lag, &news->spent});
    n = walk(f, ret, max, fuel);
    count_in(f, before);
    results_count(&news->books, &news->lag, f->walk->plan, ret, n);
    for (int s = 0; s < SIDES; s++)
        news->decided[s] += held[s] - p->side[s].undecided;
    news->bytes += bytes - pane_bytes(p);
    news->tables_bytes = tables_bytes(f);
    news->pulled = true;
    if (!f->walk->under_way) {
        f->over = true;
        news->over++;
    }
    return n;
}

void firing_reject_result(struct firing_news *news, const struct result *r)
{
    results_reject(&news->books, r);
}

/* --- out --- */

static uint64_t own_bytes(const struct firing *f)
{
    return sizeof(*f) + pane_bytes(f->pane);
}

static bool firings_ok(const struct firings *s)
{
    return s->first == NULL || s->last->next == NULL;
}

struct firing *firings_add(struct firings *s, struct window_walk *w, struct near_miss *n,
                           struct pane *pane)
{
    struct firing *f = mem_alloc_zeroed(1, sizeof(*f));

    assert(firings_ok(s) && (s->first != NULL || !w->under_way));
    assert(pane->first_end == pane->last_end);
    *f = (struct firing){.walk = w, .near_miss = n, .pane = pane, .end = pane->last_end};
    if (s->first == NULL) {
        s->first = f;
        s->tables_bytes = tables_bytes(f);
    } else {
        s->last->next = f;
    }
    s->last = f;
    s->bytes += own_bytes(f);
    for (int side = 0; side < SIDES; side++)
        s->held[side] += pane->side[side].undecided;
    return f;
}

static void drop_first(struct firings *s, struct slab_pool *pool)
{
    struct firing *f = s->first;

    s->first = f->next;
    s->bytes -= own_bytes(f);
    for (int side = 0; side < SIDES; side++) /* none, unless some were lost: that has to show */
        s->held[side] -= f->pane->side[side].undecided;
    pane_free(f->pane, pool);
    mem_free(f);
}

void firings_settle(struct firings *s, struct slab_pool *pool, struct firing_news *news)
{
    assert(firings_ok(s) && s->bytes >= news->bytes);
    s->bytes -= news->bytes;
    for (int side = 0; side < SIDES; side++)
        s->held[side] -= news->decided[side];
    if (news->pulled)
        s->tables_bytes = news->tables_bytes;
    slab_give_pile(pool, &news->spent);
    for (; news->over > 0; news->over--) {
        assert(s->first != NULL && s->first->over);
        drop_first(s, pool);
    }
    news->bytes = 0;
    news->decided[SIDE_LEFT] = news->decided[SIDE_RIGHT] = 0;
    news->pulled = false;
    assert(firings_ok(s));
}

void firings_done(struct firings *s, struct slab_pool *pool)
{
    while (s->first != NULL)
        drop_first(s, pool);
}

void firings_list(const struct firings *s, enum side side, const struct held_listener *to)
{
    for (const struct firing *f = s->first; f != NULL; f = f->next)
        pane_tell(f->pane, side, to);
}
