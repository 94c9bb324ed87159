#include "core/window_walk.h"

#include <assert.h>
#include <string.h>

#include "base/fetch.h"
#include "base/mem.h"
#include "core/window_shape.h"

#define CACHE_LINE  64
#define BUILD_GROUP 16
/* How many bytes ahead records are fetched while they are chained. */
#define BUILD_AHEAD 1024
/* What it takes to look at a record that is in no cache, in units of fuel. */
#define FETCH_FUEL 4
/* How many keys ahead records are fetched while results are made. */
#define EMIT_AHEAD 4

static inline struct record *record_at(const struct window_walk *w, enum side side, uint32_t ref)
{
    return reference_record(w->cross.chunks[side], ref);
}

/* --- build --- */

/* Where hashes have to come back, a NULL key is an entry of its own, which knows its hash. */
static __attribute__((noinline)) void build_null_key(struct window_walk *w, enum side side,
                                                     struct record *r, uint32_t ref)
{
    if (w->dies)
        walk_entry_chain(&w->table.entries[WALK_NULL_KEY], side, r, ref);
    else if (w->pads[side])
        walk_table_add_lone(&w->table, side, r, ref);
    else
        cross_leave(&w->cross, side, ref, r, r->hash);
}

static inline __attribute__((always_inline)) void
build_record(struct window_walk *w, enum side side, struct record *r, uint32_t ref)
{
    struct bytes key = record_key(r);
    struct walk_entry *entry;
    uint32_t slot;

    if (record_has(r, RECORD_NULL_KEY))
        build_null_key(w, side, r, ref);
    else if (walk_table_find(&w->table, r->hash, key, &entry, &slot))
        walk_entry_chain(entry, side, r, ref);
    else if (side == SIDE_LEFT || w->pads[side])
        walk_table_add(&w->table, slot, side, r, ref);
    else /* all left records are there already: this one can meet none */
        cross_leave(&w->cross, side, ref, r, r->hash);
}

struct group {
    struct record *record;
    uint32_t reference;
};

/* What will be chained soon. Behind the chunk's end it is something else: no harm. */
static FETCH_INLINE void fetch_record(const struct record *r)
{
    __builtin_prefetch((const char *)r + BUILD_AHEAD);
}

/* What fetch_record() does not come to: the first records of a chunk. */
static FETCH_INLINE void fetch_head(const struct log_part *p, uint32_t chunk)
{
    if (chunk < p->count)
        for (size_t i = 0; i < BUILD_AHEAD; i += CACHE_LINE)
            __builtin_prefetch((const char *)p->chunks[chunk] + i);
}

/* The record whose key a right record's will be compared with, if its slot is right; where there
 * is none it is that of NULL keys: no harm, and nothing for the processor to guess. */
static FETCH_INLINE void fetch_key(const struct walk_table *t, uint32_t hash)
{
    __builtin_prefetch(t->entries[t->slots[hash & t->slot_mask]].tail[SIDE_LEFT]);
}

/* A few records at a time, so that what their lookups touch is fetched together
 * and not one after the other. `side` is w->side, for the compiler to know. */
static inline __attribute__((always_inline)) void
chain_group_of(struct window_walk *w, enum side side, const struct group *group, size_t n)
{
    for (size_t i = 0; i < n && side == SIDE_RIGHT; i++)
        fetch_key(&w->table, group[i].record->hash);
    for (size_t i = 0; i < n; i++)
        build_record(w, side, group[i].record, group[i].reference);
}

static void chain_group(struct window_walk *w, const struct group *group, size_t n)
{
    if (w->silent)
        for (size_t i = 0; i < n; i++)
            cross_leave(&w->cross, w->side, group[i].reference, group[i].record,
                        group[i].record->hash);
    else if (w->side == SIDE_LEFT)
        chain_group_of(w, SIDE_LEFT, group, n);
    else
        chain_group_of(w, SIDE_RIGHT, group, n);
}

static void build_end(struct window_walk *w);

static inline int64_t take_debt(struct cross *c)
{
    int64_t debt = c->debt;

    c->debt = 0;
    return debt;
}

/* What chaining took beside the records. */
static inline int64_t take_debts(struct window_walk *w)
{
    return take_debt(&w->cross) + (int64_t)walk_table_new_pages(&w->table) * WALK_PAGE_FUEL;
}

/* Returns the fuel it takes. */
static int64_t build_group(struct window_walk *w, const struct log_chunk *c)
{
    const uint32_t *slots = w->table.slots, mask = w->table.slot_mask, used = c->used;
    uint32_t offset = w->offset, chunk = w->chunk;
    struct group group[BUILD_GROUP];
    size_t n = 0;

    for (; n < BUILD_GROUP && offset < used; n++) {
        struct record *r = log_chunk_record(c, offset);
        group[n] = (struct group){r, reference_make(chunk, offset)};
        offset += (uint32_t)record_stride(r);
        __builtin_prefetch(&slots[r->hash & mask]);
        fetch_record(r);
    }
    w->offset = offset;
    chain_group(w, group, n);
    return (int64_t)n * FETCH_FUEL + take_debts(w);
}

static void build_direct(struct window_walk *w, int64_t *fuel)
{
    const struct log_part *p = &w->panes[0]->side[w->side].parts[w->part];

    for (; w->chunk < p->count; w->chunk++, w->offset = 0) {
        const struct log_chunk *c = p->chunks[w->chunk];
        if (w->offset == 0)
            fetch_head(p, w->chunk + 1);
        while (w->offset < c->used) {
            if (*fuel <= 0)
                return;
            *fuel -= build_group(w, c);
        }
    }
    --*fuel;
    build_end(w);
}

/* As build_group(), from the pane whose turn it is, while it is. Returns the fuel it takes. */
static int64_t build_runs_group(struct window_walk *w)
{
    struct window_runs *runs = &w->runs[w->side];
    struct window_run *run = window_runs_at(runs);
    struct group group[BUILD_GROUP];
    int64_t looks = 0;
    size_t n = 0;

    for (; n < BUILD_GROUP && looks < BUILD_GROUP * FETCH_FUEL; looks++) {
        struct record *r = window_runs_peek(runs, &group[n].reference);
        if (r == NULL)
            break;
        if (run->offset == 0)
            fetch_head(run->part, run->chunk + 1);
        run->offset += (uint32_t)record_stride(r);
        fetch_record(r);
        if (log_part_of(r->hash, w->bits) != w->part)
            continue;
        __builtin_prefetch(&w->table.slots[r->hash & w->table.slot_mask]);
        group[n++].record = r;
    }
    chain_group(w, group, n);
    window_runs_turn(runs);
    return looks + (int64_t)n * (FETCH_FUEL - 1) + 1 + take_debts(w);
}

static void build_runs(struct window_walk *w, int64_t *fuel)
{
    while (!window_runs_are_over(&w->runs[w->side])) {
        if (*fuel <= 0)
            return;
        *fuel -= build_runs_group(w);
    }
    --*fuel;
    build_end(w);
}

static void side_begin(struct window_walk *w, enum side side)
{
    w->side = side;
    w->chunk = w->offset = 0;
    if (!w->direct)
        window_runs_start(&w->runs[side]);
}

static void entry_begin(struct window_walk *w)
{
    const struct walk_entry *e = &w->table.entries[w->entry];
    const uint32_t head[SIDES] = {walk_entry_open(e, SIDE_LEFT), walk_entry_open(e, SIDE_RIGHT)};

    w->cross.hash = e->hash;
    cross_begin(&w->cross, head, w->entry == WALK_NULL_KEY);
    w->restored_side = SIDE_LEFT;
    w->restored = head[SIDE_LEFT];
}

static void build_end(struct window_walk *w)
{
    if (w->side == SIDE_LEFT) {
        side_begin(w, SIDE_RIGHT);
        return;
    }
    w->step = WALK_EMIT;
    w->entry = WALK_NULL_KEY;
    entry_begin(w);
}

/* --- the partition at hand --- */

/* Those panes come first whose last window this is. */
static void put_together(struct window_walk *w, enum side side)
{
    struct window_runs *runs = &w->runs[side];
    struct cross *c = &w->cross;

    window_runs_begin(runs);
    c->leaving[side] = (struct cross_range){0, 0};
    for (size_t i = 0; i < w->pane_count; i++) {
        window_runs_add(runs, &w->panes[i]->side[side], w->bits, w->part);
        if (w->panes[i]->last_end <= c->window_end)
            c->leaving[side].count = runs->chunk_count;
    }
    c->chunks[side] = runs->chunks;
    c->counts[side] = runs->counts;
    c->count_count[side] = runs->count;
    w->debt += (int64_t)w->pane_count;
}

static void partition_begin(struct window_walk *w)
{
    walk_table_begin(&w->table);
    for (int s = 0; s < SIDES; s++) {
        if (w->direct)
            w->cross.chunks[s] = w->panes[0]->side[s].parts[w->part].chunks;
        else
            put_together(w, (enum side)s);
    }
    w->step = WALK_BUILD;
    side_begin(w, SIDE_LEFT);
}

static void partition_end(struct window_walk *w)
{
    w->part++;
    if (w->part == 1u << w->bits)
        w->step = WALK_END;
    else
        partition_begin(w);
}

/* --- emit --- */

/* Left records lie in the order of their keys, mostly: the processor sees that by itself. */
static FETCH_INLINE void fetch_right(const struct walk_entry *e)
{
    const char *r = (const char *)e->tail[SIDE_RIGHT];

    if (r != NULL) {
        __builtin_prefetch(r);
        __builtin_prefetch(r + CACHE_LINE);
    }
}

/* One of a plain pair; `once`: as in the walk, for the compiler to know. The caller counts it
 * then, for it was not matched before. */
static inline struct record *take_plain(struct window_walk *w, const struct walk_entry *e,
                                        enum side side, bool once)
{
    struct record *r = e->tail[side];

    if (once) {
        r->size_flags |= RECORD_DECIDED | RECORD_MATCHED;
        return r;
    }
    if (!record_has(r, RECORD_MATCHED))
        pairing_matched(w->cross.pairing.books, side, r, cross_held(&w->cross, side, r->hash));
    r->hash = e->hash;
    return r;
}

/* Returns the number of rows. */
static size_t take_alone(struct window_walk *w, const struct walk_entry *e, enum side side,
                         struct result *ret)
{
    struct record *r = e->tail[side];
    uint32_t ref = r->hash;

    r->hash = e->hash;
    cross_leave(&w->cross, side, ref, r, e->hash);
    if (!w->pads[side])
        return 0;
    cross_tell(&w->cross, pairing_padded_kind(w->plan, side), side == SIDE_LEFT ? r : NULL,
               side == SIDE_RIGHT ? r : NULL, ret);
    return 1;
}

/* Up to the next key that is none. */
static inline __attribute__((always_inline)) size_t
emit_plain_pairs(struct window_walk *w, struct result *ret, size_t max, int64_t *fuel, bool once)
{
    int64_t start = w->cross.window_start, end = w->cross.window_end;
    size_t n = 0, affordable = (size_t)(*fuel > 0 ? (*fuel + FETCH_FUEL - 1) / FETCH_FUEL : 0);
    const struct walk_entry *e = w->table.entries + w->entry;
    const struct walk_entry *table_end = w->table.entries + w->table.count;

    if (max > affordable)
        max = affordable;
    if (max > (size_t)(table_end - e))
        max = (size_t)(table_end - e);
    for (; n < max && walk_entry_is_pair(e); e++, n++) {
        struct record *l, *r;
        if (e + EMIT_AHEAD < table_end)
            fetch_right(e + EMIT_AHEAD);
        l = take_plain(w, e, SIDE_LEFT, once);
        r = take_plain(w, e, SIDE_RIGHT, once);
        pairing_result(&ret[n], RESULT_PAIR, l, r, start, end);
        ret[n].time[SIDE_LEFT] = record_time_near(l, start);
        ret[n].time[SIDE_RIGHT] = record_time_near(r, start);
    }
    w->entry += (uint32_t)n;
    for (int s = 0; s < SIDES && once; s++)
        pairing_matched_some(w->cross.pairing.books, (enum side)s, n, w->cross.held[s]);
    *fuel -= (int64_t)n * FETCH_FUEL;
    return n;
}

/* The same for records that are alone with their keys. */
static size_t emit_alone(struct window_walk *w, struct result *ret, size_t max, int64_t *fuel)
{
    size_t n = 0;
    enum side side;

    for (; n<max && * fuel> 0 && w->entry < w->table.count; w->entry++) {
        const struct walk_entry *e = &w->table.entries[w->entry];
        if (!walk_entry_is_alone(e, &side))
            break;
        n += take_alone(w, e, side, &ret[n]);
        *fuel -= FETCH_FUEL + take_debt(&w->cross);
    }
    return n;
}

/* Past pairs and records that are alone, up to a key that takes more than one step. */
static size_t emit_plain(struct window_walk *w, struct result *ret, size_t max, int64_t *fuel)
{
    size_t n = 0;
    uint32_t before;

    do {
        before = w->entry;
        if (w->once)
            n += emit_plain_pairs(w, ret + n, max - n, fuel, true);
        else
            n += emit_plain_pairs(w, ret + n, max - n, fuel, false);
        n += emit_alone(w, ret + n, max - n, fuel);
    } while (w->entry > before);
    return n;
}

static size_t next_entry(struct window_walk *w, struct result *ret, size_t max, int64_t *fuel)
{
    size_t n = 0;

    w->entry++;
    if (w->plain)
        n = emit_plain(w, ret, max, fuel);
    if (w->entry < w->table.count)
        entry_begin(w);
    return n;
}

/* Gives the records of the entry at hand their hashes back, and takes what was matched in
 * this window only. False: the fuel is used up before that. */
static bool restore(struct window_walk *w, int64_t *fuel)
{
    const struct walk_entry *e = &w->table.entries[w->entry];

    for (;; w->restored_side = SIDE_RIGHT, w->restored = w->cross.head[SIDE_RIGHT]) {
        for (; w->restored != REFERENCE_NONE; --*fuel) {
            struct record *r = record_at(w, w->restored_side, w->restored);
            if (*fuel <= 0)
                return false;
            w->restored = r->hash;
            r->hash = e->hash;
            r->size_flags &= (uint16_t)~RECORD_PAIRED;
        }
        if (w->restored_side == SIDE_RIGHT)
            return true;
    }
}

static size_t emit(struct window_walk *w, struct result *ret, size_t max, int64_t *fuel)
{
    size_t n = 0;

    while (n<max && * fuel> 0) {
        if (w->entry == w->table.count) {
            --*fuel;
            partition_end(w);
            break;
        }
        n += cross_pull(&w->cross, ret + n, max - n, fuel);
        *fuel -= take_debt(&w->cross);
        if (!cross_is_over(&w->cross) || (!w->dies && !restore(w, fuel)))
            continue;
        n += next_entry(w, ret + n, max - n, fuel);
    }
    return n;
}

/* --- the walk --- */

void window_walk_init(struct window_walk *w, const struct plan *plan, struct books *books,
                      struct slab_pool *pool, uint64_t tables_kept_max)
{
    *w = (struct window_walk){
        .plan = plan,
        .pool = pool,
        .tables_kept_max = tables_kept_max,
        .pairs_plain = plan->on == NULL && !pairing_is_one_sided(plan),
    };
    cross_init(&w->cross, plan, books);
}

static void tables_free(struct window_walk *w)
{
    walk_table_done(&w->table);
    for (int s = 0; s < SIDES; s++)
        window_runs_done(&w->runs[s]);
    mem_free(w->panes);
    w->panes = NULL;
    w->pane_capacity = 0;
}

void window_walk_done(struct window_walk *w)
{
    tables_free(w);
    cross_done(&w->cross);
}

static void panes_copy(struct window_walk *w, struct pane *const *panes, size_t count)
{
    if (count > w->pane_capacity) {
        w->panes = mem_realloc(w->panes, count * sizeof(struct pane *));
        w->pane_capacity = count;
    }
    memcpy(w->panes, panes, count * sizeof(struct pane *));
    w->pane_count = count;
}

static void choose_kind(struct window_walk *w, int64_t end, unsigned tasks)
{
    struct cross *c = &w->cross;
    struct pane *first = w->panes[0];
    bool leaves = (tasks & CROSS_CLOSE) != 0 && first->last_end <= end;

    w->direct = w->pane_count == 1;
    w->dies = w->direct && leaves;
    w->once = w->dies && pane_is_window(w->plan);
    w->plain = w->pairs_plain && (tasks & CROSS_TELL) != 0;
    w->silent = (tasks & CROSS_TELL) == 0 && !c->pads[SIDE_LEFT] && !c->pads[SIDE_RIGHT];
    w->bits =
        w->direct ? first->side[SIDE_LEFT].bits : window_shape_to_walk(w->panes, w->pane_count);
    for (int s = 0; s < SIDES; s++) {
        w->pads[s] = c->pads[s] && (tasks & CROSS_CLOSE) != 0;
        c->held[s] = &first->side[s].undecided;
        c->counts[s] = NULL;
        c->leaving[s] = leaves ? CROSS_ALL : (struct cross_range){0, 0};
    }
    /* Where a pane is in one window only, matched in it is matched at all. */
    c->matched_flag = pane_is_window(w->plan) ? RECORD_MATCHED : RECORD_PAIRED;
    c->tasks = tasks;
    if ((tasks & CROSS_TELL) == 0 && !pane_is_window(w->plan))
        c->tasks |= CROSS_DERIVE;
}

void window_walk_begin(struct window_walk *w, struct pane *const *panes, size_t count, int64_t end,
                       unsigned tasks)
{
    assert(!w->under_way && count > 0 && (tasks & CROSS_DERIVE) == 0);
    panes_copy(w, panes, count);
    w->under_way = true;
    w->cross.window_start = w->cross.time_base = end - w->plan->size_ms;
    w->cross.window_end = end;
    choose_kind(w, end, tasks);
    w->part = w->dropped = 0;
    w->debt = 2 * (int64_t)count;
    partition_begin(w);
}

static void drop_parts(struct window_walk *w)
{
    struct slab_pile pile = {NULL}, *to = w->spent != NULL ? w->spent : &pile;

    for (; w->dropped < w->part; w->dropped++) {
        window_log_drop_part(&w->panes[0]->side[SIDE_LEFT], to, w->dropped);
        window_log_drop_part(&w->panes[0]->side[SIDE_RIGHT], to, w->dropped);
    }
    slab_give_pile(w->pool, &pile);
}

static void drop_spent(struct window_walk *w)
{
    pairing_forget(&w->cross.pairing);
    if (!w->under_way)
        return;
    if (w->dies)
        drop_parts(w);
    if (w->step != WALK_END)
        return;
    w->under_way = false;
    w->pane_count = 0;
    if (window_walk_bytes(w) > w->tables_kept_max)
        tables_free(w);
}

size_t window_walk_pull(struct window_walk *w, struct result *ret, size_t max, int64_t *fuel)
{
    size_t n = 0;

    assert(max > 0);
    drop_spent(w);
    while (w->under_way && w->step != WALK_END && n<max && * fuel> 0) {
        *fuel -= w->debt;
        w->debt = 0;
        if (w->step == WALK_EMIT)
            n += emit(w, ret + n, max - n, fuel);
        else if (w->direct)
            build_direct(w, fuel);
        else
            build_runs(w, fuel);
    }
    return n;
}

uint64_t window_walk_bytes(const struct window_walk *w)
{
    return walk_table_bytes(&w->table) + window_runs_bytes(&w->runs[SIDE_LEFT]) +
           window_runs_bytes(&w->runs[SIDE_RIGHT]) + w->pane_capacity * sizeof(struct pane *);
}
