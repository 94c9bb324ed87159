#include "join/late_probe.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"

#define CHAINS_MIN 8
/* What it takes to look into a pane, or at a record that is in no cache; units of fuel. */
#define LOOK_FUEL  4
#define FETCH_FUEL 4

void late_probe_init(struct late_probe *p, const struct plan *plan, struct books *books,
                     struct slab_pool *pool, uint64_t tables_kept_max)
{
    *p = (struct late_probe){.plan = plan, .pool = pool, .tables_kept_max = tables_kept_max};
    cross_init(&p->cross, plan, books);
    p->cross.matched_flag = pane_is_window(plan) ? RECORD_MATCHED : RECORD_PAIRED;
}

static void tables_free(struct late_probe *p)
{
    for (int s = 0; s < SIDES; s++) {
        window_runs_done(&p->from[s].runs);
        mem_free(p->from[s].chains);
        p->from[s] = (struct probe_side){0};
    }
    mem_free(p->panes);
    p->panes = NULL;
    p->pane_capacity = 0;
}

void late_probe_done(struct late_probe *p)
{
    tables_free(p);
    cross_done(&p->cross);
}

uint64_t late_probe_bytes(const struct late_probe *p)
{
    uint64_t bytes = p->pane_capacity * sizeof(struct pane *);

    for (int s = 0; s < SIDES; s++)
        bytes +=
            window_runs_bytes(&p->from[s].runs) + p->from[s].capacity * sizeof(struct probe_chain);
    return bytes;
}

/* --- the record --- */

static void panes_copy(struct late_probe *p, struct pane *const *panes, size_t count)
{
    if (count > p->pane_capacity) {
        p->panes = mem_realloc(p->panes, count * sizeof(struct pane *));
        p->pane_capacity = count;
    }
    memcpy(p->panes, panes, count * sizeof(struct pane *));
    p->pane_count = count;
    p->next_pane = 0;
}

/* It is the last one of its partition. */
static void find_own(struct late_probe *p, struct pane *own, const struct record_parts *parts)
{
    const struct window_log *l = &own->side[p->side];
    const struct log_part *part = &l->parts[log_part_of(parts->hash, l->bits)];

    p->own_pane = own;
    p->record = log_chunk_record(part->tail, part->used - (uint32_t)record_size(parts));
    assert(p->record->hash == parts->hash);
}

static bool late_probe_ok(const struct late_probe *p)
{
    if (!p->under_way)
        return true;
    return p->record != NULL && p->own_pane != NULL && p->end <= p->last_end &&
           p->next_pane <= p->pane_count && p->pane_count <= p->pane_capacity;
}

void late_probe_begin(struct late_probe *p, struct pane *const *panes, size_t count,
                      struct pane *own, enum side side, const struct record_parts *parts,
                      int64_t first_end, int64_t last_end)
{
    assert(!p->under_way && (parts->flags & RECORD_NULL_KEY) == 0);
    assert(count > 0 && first_end <= last_end);
    p->under_way = true;
    p->step = PROBE_LOOK;
    p->side = side;
    p->hash = parts->hash;
    p->end = first_end;
    p->last_end = last_end;
    p->asks_own_side = side == SIDE_RIGHT && p->cross.one_sided && !pane_is_window(p->plan);
    panes_copy(p, panes, count);
    find_own(p, own, parts);
    for (int s = 0; s < SIDES; s++) {
        window_runs_begin(&p->from[s].runs);
        p->from[s].count = p->from[s].from = p->from[s].to = 0;
        p->from[s].head = p->from[s].tail = REFERENCE_NONE;
    }
    assert(late_probe_ok(p));
}

/* --- looking for partners --- */

static void add_chain(struct probe_side *from, struct pane *pane, enum side side, uint32_t part,
                      uint32_t entry)
{
    if (from->count == from->capacity) {
        from->capacity = from->capacity == 0 ? CHAINS_MIN : 2 * from->capacity;
        from->chains = mem_realloc(from->chains, from->capacity * sizeof(*from->chains));
    }
    from->chains[from->count++] = (struct probe_chain){pane->start, &pane->late->side[side], entry};
    window_runs_add_part(&from->runs, &pane->side[side], part);
}

/* False: the fuel is used up before its index is there. */
static bool catch_up(struct late_probe *p, struct pane *pane, enum side side, int64_t *fuel)
{
    const struct window_log *l = &pane->side[side];
    bool done;

    if (l->parts[log_part_of(p->hash, l->bits)].count == 0)
        return true;
    p->index_bytes -= late_index_bytes(pane->late);
    if (pane->late == NULL)
        pane->late = late_index_new(pane->side, p->pool);
    done = late_index_catch_up(pane->late, side, p->hash, fuel);
    p->index_bytes += late_index_bytes(pane->late);
    return done;
}

static void find(struct late_probe *p, struct pane *pane, enum side side)
{
    const struct window_log *l = &pane->side[side];
    uint32_t part = log_part_of(p->hash, l->bits), entry;

    if (l->parts[part].count == 0)
        return;
    entry = late_index_find(pane->late, side, p->hash, record_key(p->record));
    if (entry != LATE_NONE)
        add_chain(&p->from[side], pane, side, part, entry);
}

static bool look_into(struct late_probe *p, struct pane *pane, int64_t *fuel)
{
    enum side other = side_other(p->side);

    if (!catch_up(p, pane, other, fuel) || (p->asks_own_side && !catch_up(p, pane, p->side, fuel)))
        return false;
    find(p, pane, other);
    if (p->asks_own_side)
        find(p, pane, p->side);
    return true;
}

/* A reference to the record itself: its partition is the last run of its side. */
static void refer_to_own(struct late_probe *p)
{
    struct window_runs *runs = &p->from[p->side].runs;
    struct window_log *l = &p->own_pane->side[p->side];
    uint32_t chunk;

    window_runs_add_part(runs, l, log_part_of(p->hash, l->bits));
    chunk = runs->chunk_count - 1;
    p->own = reference_make(
        chunk, (uint32_t)((char *)p->record - (char *)log_chunk_record(runs->chunks[chunk], 0)));
}

static void link_begin(struct late_probe *p, enum side side)
{
    struct probe_side *from = &p->from[side];

    p->at_side = side;
    for (uint32_t i = 0; i < from->count; i++) {
        struct probe_chain *c = &from->chains[i];
        uint32_t ref = late_index_entry(c->index, c->entry)->reference +
                       (from->runs.runs[i].first_chunk << REFERENCE_PLACE_BITS);
        window_runs_wait(&from->runs, i, reference_number(from->runs.chunks, ref));
    }
}

static void restore_begin(struct late_probe *p);

static void look(struct late_probe *p, int64_t *fuel)
{
    for (; p->next_pane < p->pane_count; p->next_pane++) {
        struct pane *pane = p->panes[p->next_pane];
        if (*fuel <= 0)
            return;
        if (!look_into(p, pane, fuel))
            return;
        *fuel -= LOOK_FUEL;
    }
    if (p->from[side_other(p->side)].count == 0) {
        p->under_way = false;
        return;
    }
    refer_to_own(p);
    p->step = PROBE_LINK;
    link_begin(p, SIDE_LEFT);
}

/* --- chaining them --- */

static void link_record(struct late_probe *p, struct probe_side *from, uint32_t ref)
{
    struct record *r = reference_record(from->runs.chunks, ref);

    if (r == p->record)
        return;
    if (from->tail == REFERENCE_NONE)
        from->head = ref;
    else
        reference_record(from->runs.chunks, from->tail)->hash = ref;
    from->tail = ref;
    r->hash = REFERENCE_NONE;
}

/* The next record of the pane whose turn it is. */
static void link_next(struct late_probe *p, struct probe_side *from)
{
    uint32_t i = window_runs_first(&from->runs);
    uint32_t base = from->runs.runs[i].first_chunk << REFERENCE_PLACE_BITS;
    struct probe_chain *c = &from->chains[i];
    const struct late_entry *e = late_index_entry(c->index, c->entry);

    link_record(p, from, base + e->reference);
    c->entry = e->next;
    if (c->entry == LATE_NONE)
        window_runs_drop(&from->runs);
    else
        window_runs_renew(&from->runs,
                          reference_number(from->runs.chunks,
                                           base + late_index_entry(c->index, c->entry)->reference));
}

static void window_begin(struct late_probe *p);

static void link_partners(struct late_probe *p, int64_t *fuel)
{
    struct probe_side *from = &p->from[p->at_side];

    for (; !window_runs_are_over(&from->runs); *fuel -= FETCH_FUEL) {
        if (*fuel <= 0)
            return;
        link_next(p, from);
    }
    if (p->at_side == SIDE_LEFT) {
        link_begin(p, SIDE_RIGHT);
        return;
    }
    for (int s = 0; s < SIDES; s++) {
        p->cross.chunks[s] = p->from[s].runs.chunks;
        p->cross.counts[s] = p->from[s].runs.counts;
        p->cross.count_count[s] = p->from[s].runs.count;
    }
    p->record->hash = REFERENCE_NONE;
    window_begin(p);
}

/* --- window by window --- */

static uint32_t chunk_of_chain(const struct probe_side *from, uint32_t chain)
{
    const struct window_runs *runs = &from->runs;
    return chain < runs->count ? runs->runs[chain].first_chunk : runs->chunk_count;
}

/* The chunks of the panes that lie in the window. */
static struct cross_range members_of(struct probe_side *from, int64_t start, int64_t end)
{
    uint32_t first;

    while (from->from < from->count && from->chains[from->from].pane_start < start)
        from->from++;
    while (from->to < from->count && from->chains[from->to].pane_start < end)
        from->to++;
    first = chunk_of_chain(from, from->from);
    return (struct cross_range){first, chunk_of_chain(from, from->to) - first};
}

static void tell_begin(struct late_probe *p)
{
    uint32_t head[SIDES];

    head[p->side] = p->own;
    head[side_other(p->side)] = p->from[side_other(p->side)].head;
    p->record->size_flags &= (uint16_t)~RECORD_PAIRED;
    p->cross.members[p->side] = CROSS_ALL;
    p->cross.tasks = CROSS_TELL;
    p->step = PROBE_TELL;
    cross_begin(&p->cross, head, false);
}

static void window_begin(struct late_probe *p)
{
    struct cross *c = &p->cross;

    c->window_end = p->end;
    c->window_start = c->time_base = p->end - p->plan->size_ms;
    for (int s = 0; s < SIDES; s++)
        c->members[s] = members_of(&p->from[s], c->window_start, c->window_end);
    if (!p->asks_own_side) {
        tell_begin(p);
        return;
    }
    c->tasks = CROSS_DERIVE;
    p->step = PROBE_DERIVE;
    cross_begin(c, (const uint32_t[SIDES]){p->from[SIDE_LEFT].head, p->from[SIDE_RIGHT].head},
                false);
}

static size_t cross_some(struct late_probe *p, struct result *ret, size_t max, int64_t *fuel)
{
    size_t n = cross_pull(&p->cross, ret, max, fuel);

    if (!cross_is_over(&p->cross))
        return n;
    --*fuel;
    if (p->step == PROBE_DERIVE) {
        tell_begin(p);
    } else if (p->end < p->last_end) {
        p->end += p->plan->slide_ms;
        window_begin(p);
    } else {
        restore_begin(p);
    }
    return n;
}

/* --- the end --- */

static void restore_begin(struct late_probe *p)
{
    p->step = PROBE_RESTORE;
    p->record->hash = p->hash;
    p->record->size_flags &= (uint16_t)~RECORD_PAIRED;
    p->at_side = SIDE_LEFT;
    p->at = p->from[SIDE_LEFT].head;
}

static void restore(struct late_probe *p, int64_t *fuel)
{
    for (;; p->at_side = SIDE_RIGHT, p->at = p->from[SIDE_RIGHT].head) {
        for (; p->at != REFERENCE_NONE; --*fuel) {
            struct record *r = reference_record(p->from[p->at_side].runs.chunks, p->at);
            if (*fuel <= 0)
                return;
            p->at = r->hash;
            r->hash = p->hash;
            r->size_flags &= (uint16_t)~RECORD_PAIRED;
        }
        if (p->at_side == SIDE_RIGHT)
            break;
    }
    p->under_way = false;
}

size_t late_probe_pull(struct late_probe *p, struct result *ret, size_t max, int64_t *fuel)
{
    size_t n = 0;

    assert(max > 0 && late_probe_ok(p));
    pairing_forget(&p->cross.pairing);
    while (p->under_way && n<max && * fuel> 0) {
        switch (p->step) {
        case PROBE_LOOK:
            look(p, fuel);
            break;
        case PROBE_LINK:
            link_partners(p, fuel);
            break;
        case PROBE_DERIVE:
        case PROBE_TELL:
            n += cross_some(p, ret + n, max - n, fuel);
            break;
        case PROBE_RESTORE:
            restore(p, fuel);
            break;
        }
    }
    assert(late_probe_ok(p));
    if (!p->under_way && late_probe_bytes(p) > p->tables_kept_max)
        tables_free(p);
    return n;
}
