#include "join/table_join.h"

#include <assert.h>

#include "base/mem.h"

/* What a step takes, in fuel: most are misses of the cache. */
#define MEET_FUEL  2
#define ON_FUEL    4
#define LEAVE_FUEL 2
#define TABLE_FUEL 100

/* Left rows at hand may take so many bytes, and so much of what state may have. */
#define HAND_MAX   SLAB_CHUNK_MAX
#define HAND_SHARE 8

/* So much of a pull's fuel goes to tables that were given up, before there is time to spare. */
#define FREE_SHARE 4

/* --- making it --- */

static struct lookup_table *lookup_table_new(const struct table_join *j)
{
    struct lookup_table *t = mem_alloc_zeroed(1, sizeof(*t));

    table_init(&t->table, j->pads[SIDE_RIGHT]);
    return t;
}

/* NULL is fine. */
static void lookup_table_free(struct table_join *j, struct lookup_table *t)
{
    if (t == NULL)
        return;
    table_done(&t->table, j->context.pool);
    mem_free(t);
}

static void hand_init(struct rows_at_hand *h, struct slab_pool *pool, uint64_t state_bytes_max)
{
    uint64_t size = state_bytes_max / HAND_SHARE;

    *h = (struct rows_at_hand){.usual = slab_round(size < HAND_MAX ? size : HAND_MAX)};
    h->size = h->usual;
    h->piece = slab_take(pool, h->size);
}

static void *table_join_create(const struct operator_context *c)
{
    struct table_join *j = mem_alloc_zeroed(1, sizeof(*j));

    j->context = *c;
    j->lookup = plan_traits(c->plan)->right_file;
    j->one_sided = plan_is_one_sided(c->plan);
    for (int s = 0; s < SIDES; s++)
        j->pads[s] = plan_pads(c->plan, s);
    assert(!j->lookup || !j->pads[SIDE_RIGHT]); /* config allows no such type */
    pairing_init(&j->pairing, c->plan, c->books);
    j->current = lookup_table_new(j);
    hand_init(&j->hand, c->pool, *c->state_bytes_max);
    return j;
}

static bool table_join_ok(const struct table_join *j)
{
    const struct rows_at_hand *h = &j->hand;

    return h->done <= h->used && h->used <= h->size && (j->left == NULL || h->done < h->used) &&
           (j->lookup || (j->building == NULL && j->next == NULL)) && (!j->over || j->ending) &&
           j->current->table.rows.undecided <= j->current->table.rows.records;
}

static void table_join_destroy(void *self)
{
    struct table_join *j = self;

    while (j->leaving != NULL) {
        struct lookup_table *t = j->leaving;
        j->leaving = t->next;
        lookup_table_free(j, t);
    }
    lookup_table_free(j, j->current);
    lookup_table_free(j, j->building);
    lookup_table_free(j, j->next);
    slab_give(j->context.pool, j->hand.piece, j->hand.size);
    pairing_done(&j->pairing);
    mem_free(j);
}

/* --- what it knows --- */

/* Of all the tables that are there. */
static uint64_t tables_bytes(const struct table_join *j)
{
    uint64_t bytes = table_bytes(&j->current->table);

    if (j->building != NULL)
        bytes += table_bytes(&j->building->table);
    if (j->next != NULL)
        bytes += table_bytes(&j->next->table);
    for (const struct lookup_table *t = j->leaving; t != NULL; t = t->next)
        bytes += table_bytes(&t->table);
    return bytes;
}

static uint64_t table_join_state_bytes(const void *self)
{
    const struct table_join *j = self;

    return tables_bytes(j) + j->hand.size;
}

static uint64_t room_left(const struct table_join *j)
{
    uint64_t bytes = table_join_state_bytes(j), max = *j->context.state_bytes_max;

    return bytes < max ? max - bytes : 0;
}

static uint64_t table_join_held(const void *self, enum side side)
{
    const struct table_join *j = self;

    return side == SIDE_LEFT ? j->hand.undecided : j->current->table.rows.undecided;
}

static void table_join_list(const void *self, enum side side, const struct held_listener *to)
{
    const struct table_join *j = self;

    if (side == SIDE_RIGHT)
        arena_list(&j->current->table.rows, j->current->time, to);
    for (size_t at = 0; at < j->hand.used && side == SIDE_LEFT;) {
        const struct record *r = (const struct record *)(j->hand.piece + at);
        held_tell(to, r, 0, r->number);
        at += record_stride(r);
    }
}

/* --- rows at hand --- */

static void hand_resize(struct rows_at_hand *h, struct slab_pool *pool, size_t size)
{
    if (h->size == size)
        return;
    slab_give(pool, h->piece, h->size);
    h->size = size;
    h->piece = slab_take(pool, h->size);
}

/* If everything was answered; no result tells of it. */
static void hand_clear(struct rows_at_hand *h, struct slab_pool *pool)
{
    if (h->done < h->used)
        return;
    h->done = h->used = 0;
    hand_resize(h, pool, h->usual);
}

/* A row that is larger than all of it has a piece of its own, and is always taken: it would
 * wait for ever. */
static void hand_fit(struct rows_at_hand *h, struct slab_pool *pool, size_t stride)
{
    if (h->used == 0 && stride > h->size)
        hand_resize(h, pool, slab_round(stride));
}

/* False: those that are there come first. */
static bool hand_add(struct table_join *j, const struct record_parts *parts, uint64_t number,
                     uint32_t head)
{
    struct rows_at_hand *h = &j->hand;
    struct record_parts timed = *parts;
    struct record_shape shape;
    struct record *r;

    timed.flags = (uint16_t)((timed.flags & ~RECORD_TIME32) | RECORD_TIMED);
    record_shape(&timed, &shape);
    hand_fit(h, j->context.pool, shape.stride);
    if (shape.stride > h->size - h->used)
        return false;
    r = (struct record *)(h->piece + h->used);
    record_write(&timed, &shape, (uint32_t)number, r);
    r->hash = head;
    h->used += shape.stride;
    h->undecided++;
    return true;
}

/* --- rows of the output --- */

static size_t tell(const struct table_join *j, enum result_kind kind, const struct record *l,
                   const struct record *r, struct result *ret)
{
    pairing_result(ret, kind, l, r, RESULT_NO_WINDOW, RESULT_NO_WINDOW);
    if (l != NULL)
        ret->time[SIDE_LEFT] = record_time(l);
    if (r != NULL)
        ret->time[SIDE_RIGHT] = record_has(r, RECORD_TIMED) ? record_time(r) : j->current->time;
    return 1;
}

/* --- in: the left side --- */

/* Results that stand before any row that comes now. */
static bool must_pull(const struct table_join *j)
{
    return j->next != NULL || j->ending;
}

static void match_right(struct table_join *j, struct record *r)
{
    pairing_matched(j->context.books, SIDE_RIGHT, r, &j->current->table.rows.undecided);
}

/* Rows that give no result need no place: their fate is known at once. */
static bool decide_at_once(struct table_join *j, uint32_t head)
{
    if (head == REFERENCE_NONE && !j->pads[SIDE_LEFT]) {
        record_fate(j->context.books, SIDE_LEFT, FATE_UNMATCHED, NULL);
        return true;
    }
    if (head != REFERENCE_NONE && j->context.plan->type == JOIN_ANTI &&
        j->context.plan->on == NULL) {
        record_fate(j->context.books, SIDE_LEFT, FATE_MATCHED, NULL);
        match_right(j, table_row(&j->current->table, head));
        return true;
    }
    return false;
}

/* Of many keys: their slots, then, when these are there, their rows. */
static void fetch(const struct table *t, const struct record_parts *parts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        table_fetch_slot(t, parts[i].hash);
    for (size_t i = 0; i < n; i++)
        table_fetch_row(t, parts[i].hash);
}

static enum push_stop push_left(struct table_join *j, const struct record_parts *parts, size_t n,
                                uint64_t number, size_t *ret_taken)
{
    const struct table *t = &j->current->table;
    size_t i;

    fetch(t, parts, n);
    for (i = 0; i < n; i++) {
        uint32_t head = REFERENCE_NONE;
        if ((parts[i].flags & RECORD_NULL_KEY) == 0)
            head = table_find(t, parts[i].hash, parts[i].key);
        if (!decide_at_once(j, head) && !hand_add(j, &parts[i], number + i, head))
            break;
    }
    *ret_taken = i;
    return i < n ? PUSH_WORK_FIRST : PUSH_ALL;
}

/* --- in: the right side --- */

static enum push_stop push_right(struct table_join *j, const struct record_parts *parts, size_t n,
                                 uint64_t number, size_t *ret_taken)
{
    struct lookup_table *t = j->current;
    size_t i;

    fetch(&t->table, parts, n);
    for (i = 0; i < n; i++) {
        struct record_parts row = parts[i];
        if (!j->context.plan->keep_times)
            row.flags &= (uint16_t) ~(RECORD_TIMED | RECORD_TIME32);
        if (!table_add(&t->table, j->context.pool, &row, number + i, room_left(j)))
            break;
        t->time = row.time;
    }
    *ret_taken = i;
    return i < n ? PUSH_FULL : PUSH_ALL;
}

static void table_join_restore(void *self, enum side side, const struct record_parts *parts,
                               uint64_t number)
{
    size_t taken;

    assert(side == SIDE_RIGHT);
    push_right(self, parts, 1, number, &taken);
    assert(taken == 1);
}

static enum push_stop table_join_push(void *self, enum side side, const struct record_parts *parts,
                                      size_t n, uint64_t number, size_t *ret_taken)
{
    struct table_join *j = self;

    assert(table_join_ok(j));
    *ret_taken = 0;
    if (must_pull(j))
        return PUSH_WORK_FIRST;
    if (side == SIDE_LEFT)
        return push_left(j, parts, n, number, ret_taken);
    assert(!j->lookup); /* rows of its right side come as tables */
    return push_right(j, parts, n, number, ret_taken);
}

/* --- tables --- */

struct lookup_table *table_join_begin(struct table_join *j)
{
    assert(table_join_ok(j) && j->lookup && j->building == NULL);
    j->building = lookup_table_new(j);
    return j->building;
}

void table_join_fetch(const struct lookup_table *t, const uint32_t *hashes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        table_fetch_slot(&t->table, hashes[i]);
    for (size_t i = 0; i < n; i++)
        table_fetch_row(&t->table, hashes[i]);
}

enum lookup_answer table_join_add(struct table_join *j, struct lookup_table *t,
                                  const struct record_parts *parts)
{
    struct record_parts row = *parts;
    struct slab_pool *pool = j->context.pool;
    enum duplicates duplicates = j->context.plan->duplicates;
    bool replaced = false, fits;

    assert(t == j->building && (parts->flags & RECORD_NULL_KEY) == 0);
    row.flags &= (uint16_t) ~(RECORD_TIMED | RECORD_TIME32); /* its time is the table's */
    if (duplicates == DUPLICATES_ERROR &&
        table_find(&t->table, row.hash, row.key) != REFERENCE_NONE)
        return LOOKUP_DUPLICATE;
    fits = duplicates == DUPLICATES_LAST
               ? table_replace(&t->table, pool, &row, t->received, room_left(j), &replaced)
               : table_add(&t->table, pool, &row, t->received, room_left(j));
    if (!fits)
        return LOOKUP_FULL;
    t->unmatched += replaced;
    return LOOKUP_TAKEN;
}

static void leave(struct table_join *j, struct lookup_table *t)
{
    t->next = j->leaving;
    j->leaving = t;
}

/* Its rows are not looked at one by one: those that are not decided are unmatched. */
static void close_current(struct table_join *j)
{
    record_fates(j->context.books, SIDE_RIGHT, FATE_UNMATCHED, j->current->table.rows.undecided);
    leave(j, j->current);
}

static void swap(struct table_join *j)
{
    struct books *books = j->context.books;

    close_current(j);
    j->current = j->next;
    j->next = NULL;
    books->side[SIDE_RIGHT].received += j->current->received;
    record_fates(books, SIDE_RIGHT, FATE_FILTERED, j->current->filtered);
    record_fates(books, SIDE_RIGHT, FATE_UNMATCHED, j->current->unmatched);
}

static bool anything_at_hand(const struct table_join *j)
{
    return j->left != NULL || j->hand.done < j->hand.used;
}

void table_join_give_up(struct table_join *j, struct lookup_table *t)
{
    assert(t == j->building);
    j->building = NULL;
    leave(j, t);
}

void table_join_swap(struct table_join *j, struct lookup_table *t, struct stream_time now)
{
    assert(t == j->building);
    if (j->ending) { /* nobody will ask it any more */
        table_join_give_up(j, t);
        return;
    }
    j->building = NULL;
    if (j->next != NULL)
        leave(j, j->next); /* no row came between: it never answered */
    t->time = now.ms;
    j->next = t;
    if (!anything_at_hand(j))
        swap(j);
    assert(table_join_ok(j));
}

/* --- time --- */

static void table_join_advance(void *self, struct stream_time now)
{
    struct table_join *j = self;

    if (now.ms != STREAM_TIME_MAX.ms)
        return;
    j->ending = true;
    j->padded = j->current->table.first;
}

/* Rows of the table leave with it alone. */
static void table_join_flush(void *self)
{
    (void)self;
}

static struct stream_time table_join_due(const void *self)
{
    (void)self;
    return STREAM_TIME_MAX;
}

/* --- out --- */

static void begin_left(struct table_join *j)
{
    assert(j->left == NULL && j->hand.done < j->hand.used);
    j->left = (struct record *)(j->hand.piece + j->hand.done);
    j->met = j->left->hash;
    pairing_forget(&j->pairing);
}

/* It has met all that there are. */
static size_t end_left(struct table_join *j, struct result *ret)
{
    struct record *l = j->left;

    assert(l != NULL && j->met == REFERENCE_NONE);
    j->left = NULL;
    j->hand.done += record_stride(l);
    if (record_has(l, RECORD_DECIDED))
        return 0;
    pairing_unmatched(j->context.books, SIDE_LEFT, l, &j->hand.undecided);
    if (!j->pads[SIDE_LEFT])
        return 0;
    return tell(j, pairing_padded_kind(j->context.plan, SIDE_LEFT), l, NULL, ret);
}

static size_t tell_match(struct table_join *j, struct record *r, struct result *ret)
{
    pairing_matched(j->context.books, SIDE_LEFT, j->left, &j->hand.undecided);
    match_right(j, r);
    if (!j->one_sided)
        return tell(j, RESULT_PAIR, j->left, r, ret);
    j->met = REFERENCE_NONE; /* one match decides */
    return j->pads[SIDE_LEFT] ? 0 : tell(j, RESULT_SEMI, j->left, NULL, ret);
}

static size_t meet(struct table_join *j, struct result *ret, int64_t *fuel)
{
    const struct table *t = &j->current->table;
    struct record *r = table_row(t, j->met);

    *fuel -= MEET_FUEL;
    if (j->context.plan->on != NULL)
        *fuel -= ON_FUEL;
    j->met = table_next(t, j->left->hash, j->met);
    switch (pairing_on(&j->pairing, j->left, r)) {
    case PAIRING_YES:
        return tell_match(j, r, ret);
    case PAIRING_FAILED:
        return tell(j, RESULT_FAILED, j->left, r, ret);
    case PAIRING_NO:
        break;
    }
    return 0;
}

static size_t answer(struct table_join *j, struct result *ret, int64_t *fuel)
{
    if (j->met != REFERENCE_NONE)
        return meet(j, ret, fuel);
    *fuel -= LEAVE_FUEL;
    return end_left(j, ret);
}

/* No left row will come: right ones are looked at once more. */
static size_t pad_right(struct table_join *j, struct result *ret, int64_t *fuel)
{
    struct table *t = &j->current->table;
    struct record *r = table_row(t, j->padded);

    *fuel -= LEAVE_FUEL;
    j->padded = table_following(t, j->padded);
    if (record_has(r, RECORD_DECIDED))
        return 0;
    pairing_unmatched(j->context.books, SIDE_RIGHT, r, &t->rows.undecided);
    return tell(j, RESULT_RIGHT, NULL, r, ret);
}

/* Results may still tell of rows of the table: it stays until the end. */
static void finish(struct table_join *j)
{
    assert(j->ending && !j->over);
    j->over = true;
    close_current(j);
    j->current = lookup_table_new(j);
}

/* False: nothing is left to do. */
static bool work(struct table_join *j, struct result *ret, size_t *n, int64_t *fuel)
{
    if (j->left != NULL) {
        *n += answer(j, ret + *n, fuel);
    } else if (j->hand.done < j->hand.used) {
        begin_left(j);
    } else if (j->next != NULL) {
        *fuel -= TABLE_FUEL;
        swap(j);
    } else if (j->ending && !j->over && j->pads[SIDE_RIGHT] && j->padded != REFERENCE_NONE) {
        *n += pad_right(j, ret + *n, fuel);
    } else if (j->ending && !j->over) {
        finish(j);
    } else {
        return false;
    }
    return true;
}

/* Only before results are told of in a pull: those of the last one are given back by then. */
static void free_leaving(struct table_join *j, int64_t *fuel)
{
    while (j->leaving != NULL && *fuel > 0) {
        struct lookup_table *t = j->leaving;
        if (!table_drop_some(&t->table, j->context.pool, fuel))
            return;
        j->leaving = t->next;
        mem_free(t);
        *fuel -= TABLE_FUEL;
    }
}

/* However much there is to tell, memory comes back. */
static void free_a_share(struct table_join *j, int64_t *fuel)
{
    int64_t share = *fuel / FREE_SHARE, left = share;

    free_leaving(j, &left);
    *fuel -= share - left;
}

static size_t table_join_pull(void *self, struct result *ret, size_t max, int64_t *fuel)
{
    struct table_join *j = self;
    size_t n = 0;

    assert(max > 0 && table_join_ok(j));
    hand_clear(&j->hand, j->context.pool);
    if (!j->over)
        free_a_share(j, fuel);
    while (n<max && * fuel> 0 && work(j, ret, &n, fuel))
        ;
    assert(table_join_ok(j) && n <= max);
    if (n > 0)
        return n;
    hand_clear(&j->hand, j->context.pool);
    if (!j->over)
        free_leaving(j, fuel);
    return 0;
}

static bool table_join_has_work(const void *self)
{
    const struct table_join *j = self;

    return j->hand.used > 0 || j->next != NULL || (j->ending && !j->over) ||
           (j->leaving != NULL && !j->over);
}

const struct operator operator_table = {
    .push_fuel = 40,
    .create = table_join_create,
    .destroy = table_join_destroy,
    .push = table_join_push,
    .advance = table_join_advance,
    .flush = table_join_flush,
    .pull = table_join_pull,
    .has_work = table_join_has_work,
    .due = table_join_due,
    .held = table_join_held,
    .list = table_join_list,
    .restore = table_join_restore,
    .state_bytes = table_join_state_bytes,
};
