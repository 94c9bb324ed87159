#include "join/window_walk.h"

#include <assert.h>
#include <string.h>

#include "base/fetch.h"
#include "base/mem.h"
#include "join/window_shape.h"

#define INLINE static inline __attribute__((always_inline))

/* Records are looked at until so many bytes are, then fuel. */
#define BUILD_GROUP 512
/* From panes, so many records are. */
#define BUILD_LOOKS 16
/* How many bytes ahead records are fetched, */
#define BUILD_AHEAD 1024
/* how many records are chained behind the one that is come to, */
#define CHAIN_BEHIND 12
#define QUEUE_SIZE   16
/* and how far ahead of that keys are fetched. */
#define KEY_AHEAD 6
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

INLINE void build_record(struct window_walk *w, enum side side, struct record *r, uint32_t ref)
{
    struct walk_table *t = &w->table;
    uint32_t slot;

    if (record_has(r, RECORD_NULL_KEY)) {
        build_null_key(w, side, r, ref);
        return;
    }
    slot = walk_table_slot(t, r->hash, record_key(r));
    if (t->slots[slot] != 0)
        walk_entry_chain(&t->entries[t->slots[slot]], side, r, ref);
    else if (side == SIDE_LEFT || w->pads[side])
        walk_table_add(t, slot, side, r, ref);
    else /* all left records are there already: this one can meet none */
        cross_leave(&w->cross, side, ref, r, r->hash);
}

/* Records that the walk has come to are chained a little later: where the next ones lie is found
 * out beside the chaining, and what this will touch is fetched meanwhile. */
struct queue {
    struct waiting {
        struct record *record;
        uint32_t reference;
    } waiting[QUEUE_SIZE];
    uint32_t in; /* how many have come; all but the last CHAIN_BEHIND are chained */
};

static inline struct waiting *queue_at(struct queue *q, uint32_t number)
{
    return &q->waiting[number % QUEUE_SIZE];
}

/* The record whose key a right record's will be compared with, if its slot is right; where there
 * is none it is that of NULL keys: no harm, and nothing for the processor to guess. */
static FETCH_INLINE void fetch_key(const struct walk_table *t, const struct record *right)
{
    __builtin_prefetch(t->entries[t->slots[right->hash & t->slot_mask]].tail[SIDE_LEFT]);
}

/* `side` is w->side, here and below, for the compiler to know. */
INLINE void chain(struct window_walk *w, enum side side, const struct waiting *x)
{
    if (w->silent)
        cross_leave(&w->cross, side, x->reference, x->record, x->record->hash);
    else
        build_record(w, side, x->record, x->reference);
}

INLINE void queue_put(struct window_walk *w, enum side side, struct queue *q, struct record *r,
                      uint32_t ref)
{
    __builtin_prefetch(&w->table.slots[r->hash & w->table.slot_mask]);
    *queue_at(q, q->in++) = (struct waiting){r, ref};
    if (q->in <= CHAIN_BEHIND)
        return;
    if (side == SIDE_RIGHT)
        fetch_key(&w->table, queue_at(q, q->in - CHAIN_BEHIND + KEY_AHEAD)->record);
    chain(w, side, queue_at(q, q->in - CHAIN_BEHIND - 1));
}

INLINE void queue_end(struct window_walk *w, enum side side, struct queue *q)
{
    for (uint32_t i = q->in <= CHAIN_BEHIND ? 0 : q->in - CHAIN_BEHIND; i < q->in; i++)
        chain(w, side, queue_at(q, i));
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
INLINE int64_t build_group(struct window_walk *w, enum side side, struct queue *q,
                           const struct log_stretch *s)
{
    uint32_t offset = w->offset, before = q->in;
    uint32_t end = s->used - offset < BUILD_GROUP ? s->used : offset + BUILD_GROUP;

    while (offset < end) {
        struct record *r = log_chunk_record(s->chunk, offset);
        uint32_t stride = (uint32_t)record_stride(r);
        log_stretch_fetch(s, offset + BUILD_AHEAD, stride);
        queue_put(w, side, q, r, reference_make(s->number, offset));
        offset += stride;
    }
    w->offset = offset;
    return (int64_t)(q->in - before) * FETCH_FUEL + take_debts(w);
}

INLINE void build_side(struct window_walk *w, enum side side, int64_t *fuel)
{
    const struct log_part *p = &w->panes[0]->side[side].parts[w->part];
    struct queue q = {.in = 0};

    for (; *fuel > 0 && w->chunk < p->count; w->chunk++, w->offset = 0) {
        const struct log_stretch s = log_stretch_of(p, w->chunk);
        while (*fuel > 0 && w->offset < s.used)
            *fuel -= build_group(w, side, &q, &s);
        if (w->offset < s.used)
            break;
    }
    queue_end(w, side, &q);
    *fuel -= take_debts(w);
    if (w->chunk < p->count)
        return;
    --*fuel;
    build_end(w);
}

static void build_direct(struct window_walk *w, int64_t *fuel)
{
    if (w->side == SIDE_LEFT)
        build_side(w, SIDE_LEFT, fuel);
    else
        build_side(w, SIDE_RIGHT, fuel);
}

/* As build_group(), from the pane whose turn it is, while it is. */
static int64_t build_runs_group(struct window_walk *w, struct queue *q)
{
    struct window_runs *runs = &w->runs[w->side];
    struct window_run *run = window_runs_at(runs);
    struct log_stretch s = {.number = UINT32_MAX};
    uint32_t ref, stride, before = q->in;
    int64_t looks = 0;

    for (; looks < BUILD_LOOKS; looks++) {
        struct record *r = window_runs_peek(runs, &ref);
        if (r == NULL)
            break;
        if (s.number != run->chunk)
            s = log_stretch_of(run->part, run->chunk);
        stride = (uint32_t)record_stride(r);
        log_stretch_fetch(&s, run->offset + BUILD_AHEAD, stride);
        run->offset += stride;
        if (log_part_of(r->hash, w->bits) != w->part)
            continue;
        queue_put(w, w->side, q, r, ref);
    }
    window_runs_turn(runs);
    return looks + (int64_t)(q->in - before) * (FETCH_FUEL - 1) + 1 + take_debts(w);
}

static void build_runs(struct window_walk *w, int64_t *fuel)
{
    struct queue q = {.in = 0};

    while (!window_runs_are_over(&w->runs[w->side]) && *fuel > 0)
        *fuel -= build_runs_group(w, &q);
    queue_end(w, w->side, &q);
    *fuel -= take_debts(w);
    if (!window_runs_are_over(&w->runs[w->side]))
        return;
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
    if (e->tail[SIDE_RIGHT] != NULL)
        fetch_bytes(e->tail[SIDE_RIGHT], 2 * FETCH_LINE);
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
        .pairs_plain = plan->on == NULL && !plan_is_one_sided(plan),
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

static bool window_walk_ok(const struct window_walk *w)
{
    if (!w->under_way)
        return w->pane_count == 0 && w->pane_capacity >= w->pane_count;
    return w->pane_count > 0 && w->pane_count <= w->pane_capacity &&
           w->direct == (w->pane_count == 1) && (!w->dies || w->direct) && (!w->once || w->dies) &&
           w->dropped <= w->part && w->part <= 1u << w->bits &&
           (w->step == WALK_END) == (w->part == 1u << w->bits);
}

void window_walk_done(struct window_walk *w)
{
    assert(window_walk_ok(w));
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
    assert(window_walk_ok(w) && !w->under_way);
    assert(count > 0 && (tasks & CROSS_DERIVE) == 0 && tasks != 0);
    assert(panes[0]->first_end <= end && panes[count - 1]->start < end);
    panes_copy(w, panes, count);
    w->under_way = true;
    w->cross.window_start = w->cross.time_base = end - w->plan->size_ms;
    w->cross.window_end = end;
    choose_kind(w, end, tasks);
    w->part = w->dropped = 0;
    w->debt = 2 * (int64_t)count;
    partition_begin(w);
    assert(window_walk_ok(w));
}

static void drop_parts(struct window_walk *w)
{
    struct slab_pile pile = {NULL}, *to = w->spent != NULL ? w->spent : &pile;

    assert(w->direct && w->dies);
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

    assert(max > 0 && window_walk_ok(w));
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
    assert(window_walk_ok(w) && n <= max);
    return n;
}

uint64_t window_walk_bytes(const struct window_walk *w)
{
    return walk_table_bytes(&w->table) + window_runs_bytes(&w->runs[SIDE_LEFT]) +
           window_runs_bytes(&w->runs[SIDE_RIGHT]) + w->pane_capacity * sizeof(struct pane *);
}
