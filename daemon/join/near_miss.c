#include "join/near_miss.h"

#include <assert.h>

#include <string.h>

#include "base/mem.h"
#include "join/pane.h"

#define SLOTS_MIN 16
#define TABLES    (2 * SIDES)

void near_miss_init(struct near_miss *n, const struct plan *plan, struct books *books,
                    struct lag *lag, uint64_t bytes_max)
{
    *n = (struct near_miss){.plan = plan, .books = books, .lag = lag, .keys_max = NEAR_MISS_KEYS};
    while (n->keys_max > SLOTS_MIN / 2 &&
           TABLES * 2 * n->keys_max * sizeof(struct near_slot) > bytes_max)
        n->keys_max /= 2;
}

static bool near_miss_ok(const struct near_miss *n)
{
    return n->group_count <= NEAR_MISS_GROUP && n->young[SIDE_LEFT].keys <= n->keys_max &&
           n->young[SIDE_RIGHT].keys <= n->keys_max;
}

void near_miss_done(struct near_miss *n)
{
    assert(near_miss_ok(n));
    for (int s = 0; s < SIDES; s++) {
        mem_free(n->young[s].slots);
        mem_free(n->old[s].slots);
    }
}

/* --- tables --- */

/* The slot of this key, or the free one where it would be. */
static inline struct near_slot *slot_of(const struct near_table *t, uint32_t hash)
{
    uint32_t mask = t->slot_count - 1, at = hash & mask;

    while (t->slots[at].used && t->slots[at].hash != hash)
        at = (at + 1) & mask;
    return &t->slots[at];
}

static void table_free(struct near_miss *n, struct near_table *t)
{
    n->bytes -= t->slot_count * sizeof(*t->slots);
    mem_free(t->slots);
    *t = (struct near_table){0};
}

static void table_grow(struct near_miss *n, struct near_table *t)
{
    uint32_t count = t->slot_count == 0 ? SLOTS_MIN : 2 * t->slot_count;
    struct near_table wider = {
        .slots = mem_alloc_zeroed(count, sizeof(struct near_slot)),
        .slot_count = count,
        .keys = t->keys,
    };

    n->bytes += count * sizeof(struct near_slot);
    for (uint32_t i = 0; i < t->slot_count; i++)
        if (t->slots[i].used)
            *slot_of(&wider, t->slots[i].hash) = t->slots[i];
    table_free(n, t);
    *t = wider;
}

/* The young one is the old one now, and the old one's memory the young one's. */
static void turn_over(struct near_miss *n, enum side side)
{
    struct near_table emptied = n->old[side];

    if (emptied.slot_count > 0)
        memset(emptied.slots, 0, emptied.slot_count * sizeof(*emptied.slots));
    emptied.keys = 0;
    n->old[side] = n->young[side];
    n->young[side] = emptied;
}

/* For one key more; returns where it goes. */
static __attribute__((noinline)) struct near_slot *make_room(struct near_miss *n, enum side side,
                                                             uint32_t hash)
{
    struct near_table *young = &n->young[side];

    if (young->keys == n->keys_max)
        turn_over(n, side);
    if (2 * young->keys == young->slot_count)
        table_grow(n, young);
    return slot_of(young, hash);
}

static void keep(struct near_miss *n, enum side side, uint32_t hash, int64_t t)
{
    struct near_table *young = &n->young[side];
    struct near_slot *slot = young->slot_count > 0 ? slot_of(young, hash) : NULL;

    if (slot != NULL && slot->used) {
        slot->time = t > slot->time ? t : slot->time;
        return;
    }
    if (young->keys == n->keys_max || 2 * young->keys == young->slot_count)
        slot = make_room(n, side, hash);
    *slot = (struct near_slot){.time = t, .hash = hash, .used = true};
    young->keys++;
}

/* --- hits --- */

static int64_t distance(int64_t a, int64_t b)
{
    return a < b ? b - a : a - b;
}

/* The first window of the later one holds the earlier one too. */
static bool shared_a_window(const struct plan *plan, int64_t a, int64_t b)
{
    int64_t earlier = a < b ? a : b;
    struct pane_windows w = pane_windows_of(plan, a < b ? b : a);

    return w.count > 0 && w.first_end - plan->size_ms <= earlier;
}

/* What this table has lost of the key; NULL: nothing that was near. */
static inline struct near_slot *find(const struct near_miss *n, const struct near_table *t,
                                     uint32_t hash, int64_t time)
{
    struct near_slot *slot;

    if (t->keys == 0)
        return NULL;
    slot = slot_of(t, hash);
    if (!slot->used || slot->time == NEAR_MISS_NONE ||
        distance(slot->time, time) > NEAR_MISS_WINDOWS * n->plan->size_ms ||
        shared_a_window(n->plan, slot->time, time))
        return NULL;
    return slot;
}

static void compare(struct near_miss *n, enum side side, uint32_t hash, int64_t t)
{
    enum side other = side_other(side);
    struct near_slot *hit = find(n, &n->young[other], hash, t);
    struct near_slot *old = find(n, &n->old[other], hash, t);

    if (hit == NULL || (old != NULL && distance(old->time, t) < distance(hit->time, t)))
        hit = old;
    if (hit == NULL) {
        keep(n, side, hash, t);
        return;
    }
    n->books->near_misses++;
    if (n->lag != NULL)
        lag_add_pair(n->lag, side == SIDE_RIGHT ? t - hit->time : hit->time - t);
    hit->time = NEAR_MISS_NONE;
}

void near_miss_settle(struct near_miss *n)
{
    assert(near_miss_ok(n));
    for (uint32_t i = 0; i < n->group_count; i++)
        compare(n, n->group[i].side, n->group[i].hash, n->group[i].time);
    n->group_count = 0;
}
