#include "core/window_walk.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"

#define ENTRY_NULL_KEY 0
#define SLOTS_MIN      64
#define CACHE_LINE     64
#define BUILD_GROUP    16
/* How many bytes ahead records are fetched while they are chained. */
#define BUILD_AHEAD 1024
/* What it takes to look at a record that is in no cache, in units of fuel. */
#define FETCH_FUEL 4
/* How many keys ahead records are fetched while results are made. */
#define EMIT_AHEAD 4

/* A reference is a chunk's index above the record's place in units of RECORD_ALIGN. */
#define PLACE_BITS 12
static_assert(SLAB_CHUNK_MAX / RECORD_ALIGN <= 1 << PLACE_BITS, "a place fits its bits");
static_assert((uint64_t)LOG_CHUNKS_MAX << PLACE_BITS <= (uint64_t)UINT32_MAX + 1,
              "and all fits 32");

static uint32_t reference(uint32_t chunk, uint32_t offset)
{
    return chunk << PLACE_BITS | offset / RECORD_ALIGN;
}

static inline struct record *record_at(const struct window_walk *w, enum side side, uint32_t ref)
{
    return log_chunk_record(w->chunks[side][ref >> PLACE_BITS],
                            (ref & ((1u << PLACE_BITS) - 1)) * RECORD_ALIGN);
}

/* --- the keys of a partition --- */

static void slots_reset(struct window_walk *w, uint32_t slots)
{
    if (slots > w->slot_capacity) {
        w->slots = mem_realloc(w->slots, slots * sizeof(*w->slots));
        w->slot_capacity = slots;
    }
    memset(w->slots, 0, slots * sizeof(*w->slots));
    w->slot_mask = slots - 1;
}

static void slot_put(struct window_walk *w, uint32_t entry)
{
    uint32_t at = w->entries[entry].hash & w->slot_mask;

    while (w->slots[at] != 0)
        at = (at + 1) & w->slot_mask;
    w->slots[at] = entry + 1;
}

static void slots_grow(struct window_walk *w)
{
    slots_reset(w, 2 * (w->slot_mask + 1));
    for (uint32_t i = ENTRY_NULL_KEY + 1; i < w->entry_count; i++)
        slot_put(w, i);
}

static uint32_t entry_add(struct window_walk *w, uint32_t hash)
{
    if (w->entry_count == w->entry_capacity) {
        w->entry_capacity = w->entry_capacity == 0 ? SLOTS_MIN : 2 * w->entry_capacity;
        w->entries = mem_realloc(w->entries, w->entry_capacity * sizeof(*w->entries));
    }
    w->entries[w->entry_count] = (struct walk_entry){
        .hash = hash,
        .head = {WALK_NONE, WALK_NONE},
        .tail = {WALK_NONE, WALK_NONE},
    };
    return w->entry_count++;
}

static bool entry_has_key(const struct window_walk *w, const struct walk_entry *e, struct bytes key)
{
    enum side s = e->head[SIDE_LEFT] != WALK_NONE ? SIDE_LEFT : SIDE_RIGHT;
    return bytes_equal(record_key(record_at(w, s, e->head[s])), key);
}

/* False: there is none; *ret_slot is where it would be found. */
static bool entry_find(const struct window_walk *w, const struct record *r, uint32_t *ret,
                       uint32_t *ret_slot)
{
    struct bytes key = record_key(r);
    uint32_t at = r->hash & w->slot_mask;

    for (; w->slots[at] != 0; at = (at + 1) & w->slot_mask) {
        uint32_t entry = w->slots[at] - 1;
        if (w->entries[entry].hash == r->hash && entry_has_key(w, &w->entries[entry], key)) {
            *ret = entry;
            return true;
        }
    }
    *ret_slot = at;
    return false;
}

static void entry_chain(struct window_walk *w, uint32_t entry, enum side side, struct record *r,
                        uint32_t ref)
{
    struct walk_entry *e = &w->entries[entry];

    if (e->tail[side] == WALK_NONE)
        e->head[side] = ref;
    else
        record_at(w, side, e->tail[side])->hash = ref;
    e->tail[side] = ref;
    r->hash = WALK_NONE;
}

/* --- fates --- */

static void decide(struct window_walk *w, enum side side, struct record *r)
{
    assert(!record_has(r, RECORD_DECIDED));
    r->size_flags |= RECORD_DECIDED;
    w->window->side[side].undecided--;
}

static void decide_matched(struct window_walk *w, enum side side, struct record *r)
{
    if (record_has(r, RECORD_MATCHED))
        return;
    decide(w, side, r);
    r->size_flags |= RECORD_MATCHED;
    w->books->side[side].matched++;
}

static void decide_unmatched(struct window_walk *w, enum side side, struct record *r)
{
    decide(w, side, r);
    w->books->side[side].unmatched++;
}

/* --- build --- */

static void partition_begin(struct window_walk *w)
{
    uint32_t slots = SLOTS_MIN;

    /* Its neighbour before had about as many keys. */
    while (slots < 2 * w->entry_count)
        slots *= 2;
    slots_reset(w, slots);
    w->entry_count = 0;
    entry_add(w, 0);
    for (int s = 0; s < SIDES; s++)
        w->chunks[s] = w->window->side[s].parts[w->part].chunks;
    w->step = WALK_BUILD;
    w->side = SIDE_LEFT;
    w->chunk = w->offset = 0;
}

static void build_record(struct window_walk *w, enum side side, struct record *r, uint32_t ref)
{
    uint32_t entry = ENTRY_NULL_KEY, slot;

    if (!record_has(r, RECORD_NULL_KEY) && !entry_find(w, r, &entry, &slot)) {
        /* All left records are there already: this one can meet none. */
        if (side == SIDE_RIGHT && !plan_pads(w->plan, side)) {
            decide_unmatched(w, side, r);
            return;
        }
        entry = entry_add(w, r->hash);
        w->slots[slot] = entry + 1;
        if (2 * w->entry_count > w->slot_mask)
            slots_grow(w);
    }
    entry_chain(w, entry, side, r, ref);
}

static void entry_begin(struct window_walk *w)
{
    const struct walk_entry *e = &w->entries[w->entry];

    w->left = e->head[SIDE_LEFT];
    w->right = w->entry == ENTRY_NULL_KEY ? WALK_NONE : e->head[SIDE_RIGHT];
    w->lefts_done = false;
}

static void fetch_ahead(const struct window_walk *w)
{
    const struct walk_entry *e;

    if (w->entry + EMIT_AHEAD >= w->entry_count)
        return;
    e = &w->entries[w->entry + EMIT_AHEAD];
    for (int s = 0; s < SIDES; s++) {
        if (e->head[s] != WALK_NONE) {
            const char *r = (const char *)record_at(w, (enum side)s, e->head[s]);
            __builtin_prefetch(r);
            __builtin_prefetch(r + CACHE_LINE);
        }
    }
}

static void build_end(struct window_walk *w)
{
    if (w->side == SIDE_LEFT) {
        w->side = SIDE_RIGHT;
        w->chunk = w->offset = 0;
        return;
    }
    w->step = WALK_EMIT;
    w->entry = ENTRY_NULL_KEY;
    entry_begin(w);
}

/* The record whose key will be compared with one of this hash, as it stands now. */
static void fetch_key(const struct window_walk *w, uint32_t hash)
{
    uint32_t slot = w->slots[hash & w->slot_mask];
    const struct walk_entry *e = &w->entries[slot == 0 ? 0 : slot - 1];

    if (slot != 0 && e->hash == hash && e->head[SIDE_LEFT] != WALK_NONE)
        __builtin_prefetch(record_at(w, SIDE_LEFT, e->head[SIDE_LEFT]));
}

/* What will be chained soon: in this chunk, or in the one behind it. */
static inline void fetch_chunk(const struct window_walk *w, const struct log_chunk *c,
                               uint32_t offset)
{
    const struct log_part *p = &w->window->side[w->side].parts[w->part];

    if (offset < c->used)
        __builtin_prefetch(log_chunk_record(c, offset));
    else if (w->chunk + 1 < p->count && offset - c->used < BUILD_AHEAD)
        __builtin_prefetch(log_chunk_record(p->chunks[w->chunk + 1], offset - c->used));
}

/* A few records at a time, so that what their lookups touch is fetched together
 * and not one after the other. Returns how many. */
static size_t build_group(struct window_walk *w, const struct log_chunk *c)
{
    struct {
        struct record *record;
        uint32_t reference;
    } group[BUILD_GROUP];
    size_t n = 0;

    for (; n < BUILD_GROUP && w->offset < c->used; n++) {
        group[n].record = log_chunk_record(c, w->offset);
        group[n].reference = reference(w->chunk, w->offset);
        w->offset += (uint32_t)record_stride(group[n].record);
        __builtin_prefetch(&w->slots[group[n].record->hash & w->slot_mask]);
        fetch_chunk(w, c, w->offset + BUILD_AHEAD);
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t slot = w->slots[group[i].record->hash & w->slot_mask];
        if (slot != 0)
            __builtin_prefetch(&w->entries[slot - 1]);
    }
    for (size_t i = 0; i < n && w->side == SIDE_RIGHT; i++)
        fetch_key(w, group[i].record->hash);
    for (size_t i = 0; i < n; i++)
        build_record(w, w->side, group[i].record, group[i].reference);
    return n;
}

static void build(struct window_walk *w, int64_t *fuel)
{
    const struct log_part *p = &w->window->side[w->side].parts[w->part];

    for (; w->chunk < p->count; w->chunk++, w->offset = 0) {
        const struct log_chunk *c = p->chunks[w->chunk];
        while (w->offset < c->used) {
            if (*fuel <= 0)
                return;
            *fuel -= (int64_t)build_group(w, c) * FETCH_FUEL;
        }
    }
    --*fuel;
    build_end(w);
}

/* --- emit --- */

static void emit_row(const struct window_walk *w, enum result_kind kind, const struct record *l,
                     const struct record *r, struct result *ret)
{
    /* One by one: a whole struct would be made elsewhere and then moved. */
    ret->kind = kind;
    ret->record[SIDE_LEFT] = l;
    ret->record[SIDE_RIGHT] = r;
    ret->window_start = w->window->start;
    ret->window_end = w->window->end;
}

/* `right` is the first of its key: the left record is new to us. */
static bool on_holds(struct window_walk *w, const struct record *l, const struct record *r,
                     bool first)
{
    const struct plan *p = w->plan;
    struct expr_input in = {.fields = {w->fields[SIDE_LEFT], w->fields[SIDE_RIGHT]}};
    struct value v;

    if (p->on == NULL)
        return true;
    if (first)
        record_fields(l, &p->side[SIDE_LEFT].form, w->fields[SIDE_LEFT]);
    record_fields(r, &p->side[SIDE_RIGHT].form, w->fields[SIDE_RIGHT]);
    if (expr_evaluate(p->on, &in, &v) != EXPR_OK)
        return false;
    return !v.null && v.boolean;
}

/* The pair (left, right), right not WALK_NONE; moves on to the next right one. */
static size_t emit_pair(struct window_walk *w, struct record *l, struct result *ret)
{
    struct record *r = record_at(w, SIDE_RIGHT, w->right);
    bool first = w->right == w->entries[w->entry].head[SIDE_RIGHT];

    w->right = r->hash;
    if (!on_holds(w, l, r, first))
        return 0;
    decide_matched(w, SIDE_LEFT, l);
    decide_matched(w, SIDE_RIGHT, r);
    if (w->plan->type != JOIN_SEMI && w->plan->type != JOIN_ANTI) {
        emit_row(w, RESULT_PAIR, l, r, ret);
        return 1;
    }
    w->right = WALK_NONE; /* one match decides */
    if (w->plan->type == JOIN_ANTI)
        return 0;
    emit_row(w, RESULT_SEMI, l, NULL, ret);
    return 1;
}

/* All that could have matched `l` is passed. */
static size_t emit_left_end(struct window_walk *w, struct record *l, struct result *ret)
{
    w->left = l->hash;
    w->right = w->entry == ENTRY_NULL_KEY ? WALK_NONE : w->entries[w->entry].head[SIDE_RIGHT];
    if (record_has(l, RECORD_MATCHED))
        return 0;
    decide_unmatched(w, SIDE_LEFT, l);
    if (!plan_pads(w->plan, SIDE_LEFT))
        return 0;
    emit_row(w, w->plan->type == JOIN_ANTI ? RESULT_ANTI : RESULT_LEFT, l, NULL, ret);
    return 1;
}

static size_t emit_left(struct window_walk *w, struct result *ret)
{
    struct record *l;

    if (w->left == WALK_NONE) {
        w->lefts_done = true;
        w->right = w->entries[w->entry].head[SIDE_RIGHT];
        return 0;
    }
    l = record_at(w, SIDE_LEFT, w->left);
    return w->right != WALK_NONE ? emit_pair(w, l, ret) : emit_left_end(w, l, ret);
}

static size_t emit_right(struct window_walk *w, struct result *ret)
{
    struct record *r = record_at(w, SIDE_RIGHT, w->right);

    w->right = r->hash;
    if (record_has(r, RECORD_MATCHED))
        return 0;
    decide_unmatched(w, SIDE_RIGHT, r);
    if (!plan_pads(w->plan, SIDE_RIGHT))
        return 0;
    emit_row(w, RESULT_RIGHT, NULL, r, ret);
    return 1;
}

/* One record on each side, and nothing to ask them: what most keys are. */
static bool entry_is_plain_pair(const struct window_walk *w, const struct walk_entry *e)
{
    return w->pairs_plain && e->head[SIDE_LEFT] != WALK_NONE &&
           e->head[SIDE_LEFT] == e->tail[SIDE_LEFT] && e->head[SIDE_RIGHT] != WALK_NONE &&
           e->head[SIDE_RIGHT] == e->tail[SIDE_RIGHT];
}

static void emit_plain_pair(struct window_walk *w, const struct walk_entry *e, struct result *ret)
{
    struct record *l = record_at(w, SIDE_LEFT, e->head[SIDE_LEFT]);
    struct record *r = record_at(w, SIDE_RIGHT, e->head[SIDE_RIGHT]);

    decide_matched(w, SIDE_LEFT, l);
    decide_matched(w, SIDE_RIGHT, r);
    emit_row(w, RESULT_PAIR, l, r, ret);
}

/* Up to the next key whose results need more than one step. */
static size_t emit_plain_pairs(struct window_walk *w, struct result *ret, size_t max, int64_t *fuel)
{
    size_t n = 0;

    for (; n<max && * fuel> 0 && w->entry < w->entry_count; w->entry++) {
        const struct walk_entry *e = &w->entries[w->entry];
        if (!entry_is_plain_pair(w, e))
            break;
        fetch_ahead(w);
        emit_plain_pair(w, e, &ret[n++]);
        *fuel -= FETCH_FUEL;
    }
    if (w->entry < w->entry_count)
        entry_begin(w);
    return n;
}

static void partition_end(struct window_walk *w)
{
    w->part++;
    if (w->part == 1u << w->window->side[SIDE_LEFT].bits)
        w->step = WALK_END;
    else
        partition_begin(w);
}

static size_t emit(struct window_walk *w, struct result *ret, size_t max, int64_t *fuel)
{
    size_t n = 0;

    for (; n<max && * fuel> 0; --*fuel) {
        if (w->entry == w->entry_count) {
            partition_end(w);
            break;
        }
        if (!w->lefts_done) {
            n += emit_left(w, ret + n);
        } else if (w->right != WALK_NONE) {
            n += emit_right(w, ret + n);
        } else {
            w->entry++;
            n += emit_plain_pairs(w, ret + n, max - n, fuel);
        }
    }
    return n;
}

/* --- the walk --- */

void window_walk_init(struct window_walk *w, const struct plan *plan, struct books *books,
                      struct slab_pool *pool, uint64_t tables_kept_max)
{
    *w = (struct window_walk){
        .plan = plan,
        .books = books,
        .pool = pool,
        .tables_kept_max = tables_kept_max,
    };
    w->pairs_plain = plan->on == NULL && plan->type != JOIN_SEMI && plan->type != JOIN_ANTI;
    for (int s = 0; s < SIDES; s++)
        w->fields[s] = mem_alloc_zeroed(plan->side[s].form.field_count, sizeof(struct bytes));
}

static void tables_free(struct window_walk *w)
{
    mem_free(w->entries);
    mem_free(w->slots);
    w->entries = NULL;
    w->slots = NULL;
    w->entry_count = w->entry_capacity = w->slot_capacity = 0;
}

void window_walk_done(struct window_walk *w)
{
    tables_free(w);
    mem_free(w->fields[SIDE_LEFT]);
    mem_free(w->fields[SIDE_RIGHT]);
}

void window_walk_begin(struct window_walk *w, struct window *window)
{
    unsigned bits[SIDES] = {window->side[SIDE_LEFT].bits, window->side[SIDE_RIGHT].bits};

    assert(w->window == NULL && bits[SIDE_LEFT] == bits[SIDE_RIGHT]);
    w->window = window;
    w->part = w->dropped = 0;
    partition_begin(w);
}

static void drop_spent(struct window_walk *w)
{
    if (w->window == NULL)
        return;
    for (; w->dropped < w->part; w->dropped++) {
        window_log_drop_part(&w->window->side[SIDE_LEFT], w->pool, w->dropped);
        window_log_drop_part(&w->window->side[SIDE_RIGHT], w->pool, w->dropped);
    }
    if (w->step != WALK_END)
        return;
    w->window = NULL;
    if (window_walk_bytes(w) > w->tables_kept_max)
        tables_free(w);
}

size_t window_walk_pull(struct window_walk *w, struct result *ret, size_t max, int64_t *fuel)
{
    size_t n = 0;

    assert(max > 0);
    drop_spent(w);
    while (w->window != NULL && w->step != WALK_END && n<max && * fuel> 0) {
        if (w->step == WALK_BUILD)
            build(w, fuel);
        else
            n += emit(w, ret + n, max - n, fuel);
    }
    return n;
}

uint64_t window_walk_bytes(const struct window_walk *w)
{
    return w->entry_capacity * sizeof(*w->entries) + w->slot_capacity * sizeof(*w->slots);
}
