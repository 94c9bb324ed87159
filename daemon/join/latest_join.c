#include "join/latest_join.h"

#include <assert.h>

#include "base/mem.h"

/* What a step takes, in fuel, beside what a meeting does: most are misses of the cache. */
#define RELEASE_FUEL 4
#define AGE_FUEL     10

/* What is due and gives no row, in one call that takes a record or tells the time. */
#define SETTLE_MAX 16
/* So many left records may be ready before results have to be pulled. */
#define READY_MAX 256
/* What a chunk for one record takes at its head, at most. */
#define CHUNK_HEAD 16

/* --- making it --- */

static struct record *record_at(const struct latest_join *j, enum side side, uint32_t ref)
{
    return meeting_record(&j->meeting, side, ref);
}

static struct bytes key_of(const void *self, const void *entry)
{
    const struct latest_join *j = self;
    const struct latest_entry *e = entry;

    return record_key(e->right != REFERENCE_NONE ? record_at(j, SIDE_RIGHT, e->right)
                                                 : record_at(j, SIDE_LEFT, e->head));
}

static void *latest_join_create(const struct operator_context *c)
{
    struct latest_join *j = mem_alloc_zeroed(1, sizeof(*j));
    const struct plan *p = c->plan;

    meeting_init(&j->meeting, c, sizeof(struct latest_prefix));
    keyed_table_init(&j->keys, sizeof(struct latest_entry), key_of, j);
    for (int s = 0; s < SIDES; s++)
        j->ages[s].first = j->ages[s].last = REFERENCE_NONE;
    j->ages[SIDE_LEFT].span_ms = p->wait_ms;
    j->ages[SIDE_RIGHT].span_ms = p->ttl_ms == PLAN_OFF ? PLAN_FOREVER : p->ttl_ms;
    j->reached = STREAM_TIME_MIN;
    j->ready_first = j->ready_last = REFERENCE_NONE;
    j->releasing = KEYED_NONE;
    return j;
}

static bool ages_ok(const struct latest_ages *a)
{
    return (a->first == REFERENCE_NONE) == (a->last == REFERENCE_NONE) && a->span_ms >= 0;
}

static bool latest_join_ok(const struct latest_join *j)
{
    return ages_ok(&j->ages[SIDE_LEFT]) && ages_ok(&j->ages[SIDE_RIGHT]) &&
           j->ready_count <= READY_MAX &&
           (!j->flushing || j->ages[SIDE_LEFT].first != REFERENCE_NONE) &&
           j->ready_count <= j->meeting.side[SIDE_LEFT].records;
}

static void latest_join_destroy(void *self)
{
    struct latest_join *j = self;

    keyed_table_done(&j->keys, j->meeting.context.pool);
    meeting_done(&j->meeting);
    mem_free(j);
}

static struct latest_entry *entry_at(const struct latest_join *j, uint32_t number)
{
    return keyed_table_entry(&j->keys, number);
}

static struct latest_prefix *prefix_at(const struct latest_join *j, enum side side, uint32_t ref)
{
    return arena_prefix(&j->meeting.side[side], ref);
}

/* --- by age --- */

static void age_append(struct latest_join *j, enum side side, uint32_t ref)
{
    struct latest_ages *a = &j->ages[side];

    *prefix_at(j, side, ref) = (struct latest_prefix){a->last, REFERENCE_NONE};
    if (a->last == REFERENCE_NONE)
        a->first = ref;
    else
        prefix_at(j, side, a->last)->next = ref;
    a->last = ref;
}

static void age_remove(struct latest_join *j, enum side side, uint32_t ref)
{
    struct latest_ages *a = &j->ages[side];
    struct latest_prefix at = *prefix_at(j, side, ref);

    if (at.prev == REFERENCE_NONE)
        a->first = at.next;
    else
        prefix_at(j, side, at.prev)->next = at.next;
    if (at.next == REFERENCE_NONE)
        a->last = at.prev;
    else
        prefix_at(j, side, at.next)->prev = at.prev;
    if (side == SIDE_LEFT && a->first == REFERENCE_NONE)
        j->flushing = false;
}

/* When it has become too old. */
static int64_t instant_of(const struct latest_join *j, enum side side, uint32_t ref)
{
    return meeting_time_after(record_time(record_at(j, side, ref)), j->ages[side].span_ms);
}

/* Of the eldest; INT64_MAX: none will be too old. */
static int64_t first_instant(const struct latest_join *j, enum side side)
{
    uint32_t first = j->ages[side].first;

    return first == REFERENCE_NONE ? INT64_MAX : instant_of(j, side, first);
}

static bool side_due(const struct latest_join *j, enum side side)
{
    if (j->ages[side].first == REFERENCE_NONE)
        return false;
    return (side == SIDE_LEFT && j->flushing) || first_instant(j, side) <= j->reached.ms;
}

/* --- ready --- */

static void ready_append(struct latest_join *j, uint32_t left, uint32_t right)
{
    *prefix_at(j, SIDE_LEFT, left) = (struct latest_prefix){right, REFERENCE_NONE};
    if (j->ready_count++ == 0)
        j->ready_first = left;
    else
        prefix_at(j, SIDE_LEFT, j->ready_last)->next = left;
    j->ready_last = left;
}

static size_t ready_step(struct latest_join *j, struct result *ret, int64_t *fuel)
{
    uint32_t left = j->ready_first;
    struct latest_prefix *at = prefix_at(j, SIDE_LEFT, left), was = *at;
    bool over;
    size_t n;

    assert(left != REFERENCE_NONE && j->ready_count > 0);
    at->prev = REFERENCE_NONE; /* if it has to come again, it meets nobody */
    n = meeting_tell(&j->meeting, left, was.prev, ret, fuel, &over);
    if (over) {
        j->ready_first = was.next;
        j->ready_count--;
    }
    return n;
}

/* Results of what was pushed, before all that is due. */
static bool is_busy(const struct latest_join *j)
{
    return j->ready_count > 0 || j->releasing != KEYED_NONE;
}

/* --- left records that wait --- */

static void wait_begin(struct latest_join *j, uint32_t entry, uint32_t hash, uint32_t left)
{
    struct latest_entry *e;

    if (entry == KEYED_NONE) {
        e = entry_at(j, keyed_table_add(&j->keys, j->meeting.context.pool, hash));
        e->right = e->head = REFERENCE_NONE;
    } else {
        e = entry_at(j, entry);
    }
    record_at(j, SIDE_LEFT, left)->hash = REFERENCE_NONE;
    if (e->head == REFERENCE_NONE)
        e->head = left;
    else
        record_at(j, SIDE_LEFT, e->tail)->hash = left;
    e->tail = left;
    age_append(j, SIDE_LEFT, left);
}

/* The first that waits for this key waits no more. */
static uint32_t wait_end(struct latest_join *j, struct latest_entry *e)
{
    uint32_t left = e->head;

    assert(left != REFERENCE_NONE);
    e->head = record_at(j, SIDE_LEFT, left)->hash;
    age_remove(j, SIDE_LEFT, left);
    return left;
}

/* A value has come for the first that still waits for it. */
static void release_one(struct latest_join *j)
{
    struct latest_entry *e = entry_at(j, j->releasing);

    ready_append(j, wait_end(j, e), e->right);
    if (e->head == REFERENCE_NONE)
        j->releasing = KEYED_NONE;
}

static uint32_t entry_of(const struct latest_join *j, const struct record *r)
{
    struct bytes key = record_key(r);

    return keyed_table_find(&j->keys, keyed_hash(key, j->meeting.context.plan->hash_seed), key);
}

/* Of all that wait the eldest; so it is the first of its key, too. */
static void give_up_one(struct latest_join *j)
{
    uint32_t entry = entry_of(j, record_at(j, SIDE_LEFT, j->ages[SIDE_LEFT].first));
    struct latest_entry *e = entry_at(j, entry);

    assert(e->head == j->ages[SIDE_LEFT].first && e->right == REFERENCE_NONE);
    ready_append(j, wait_end(j, e), REFERENCE_NONE);
    if (e->head == REFERENCE_NONE)
        keyed_table_remove(&j->keys, j->meeting.context.pool, entry);
}

/* --- values --- */

/* Nobody waits for the key: it goes with its value. */
static void forget(struct latest_join *j, uint32_t entry)
{
    uint32_t right = entry_at(j, entry)->right;

    keyed_table_remove(&j->keys, j->meeting.context.pool, entry);
    age_remove(j, SIDE_RIGHT, right);
    meeting_forget(&j->meeting, right);
}

static void forget_eldest(struct latest_join *j)
{
    forget(j, entry_of(j, record_at(j, SIDE_RIGHT, j->ages[SIDE_RIGHT].first)));
}

static void replace(struct latest_join *j, uint32_t entry, uint32_t right)
{
    struct latest_entry *e = entry_at(j, entry);
    uint32_t old = e->right;

    e->right = right; /* before the old one goes, by whose key it is found */
    age_append(j, SIDE_RIGHT, right);
    if (old == REFERENCE_NONE)
        return;
    age_remove(j, SIDE_RIGHT, old);
    meeting_forget(&j->meeting, old);
}

/* What is due and gives no row: so that not every step of time takes a pull. */
static void settle(struct latest_join *j)
{
    int64_t fuel = 0;

    for (int i = 0; i < SETTLE_MAX && !is_busy(j); i++) {
        if (side_due(j, SIDE_LEFT)) {
            if (j->meeting.pads)
                return;
            give_up_one(j);
            ready_step(j, NULL, &fuel);
        } else if (side_due(j, SIDE_RIGHT)) {
            forget_eldest(j);
        } else {
            return;
        }
    }
}

/* --- in --- */

static uint64_t latest_join_state_bytes(const void *self)
{
    const struct latest_join *j = self;

    return meeting_bytes(&j->meeting) + keyed_table_bytes(&j->keys);
}

/* With `beside`, what the record takes beside its own place. */
static bool store(struct latest_join *j, enum side side, const struct record_parts *parts,
                  uint64_t number, uint64_t beside, uint32_t *ret_ref)
{
    uint64_t room = meeting_room(&j->meeting, keyed_table_bytes(&j->keys));

    assert((parts->flags & RECORD_TIMED) != 0);
    return beside <= room && arena_add(&j->meeting.side[side], j->meeting.context.pool, parts,
                                       number, room - beside, ret_ref);
}

/* A left record on its way out. One at a time may go beyond the limit: else values that
 * fill state would stop what they are there for. */
static bool store_ready(struct latest_join *j, const struct record_parts *parts, uint64_t number,
                        uint32_t *ret_ref)
{
    struct arena *a = &j->meeting.side[SIDE_LEFT];
    uint64_t chunk =
        slab_round(sizeof(struct log_chunk) + a->prefix + record_size(parts) + CHUNK_HEAD);

    return store(j, SIDE_LEFT, parts, number, 0, ret_ref) ||
           (j->ready_count == 0 && arena_add(a, j->meeting.context.pool, parts, number,
                                             chunk + slots_growth(&a->chunks), ret_ref));
}

/* The entry of the record's key, if it is there. A value that is too old by now, and has
 * not been forgotten yet, is: *ret_entry is KEYED_NONE then. False: others have to meet it
 * before. */
static bool find_entry(struct latest_join *j, const struct record_parts *parts, uint32_t *ret_entry)
{
    uint32_t entry = KEYED_NONE, right;

    if ((parts->flags & RECORD_NULL_KEY) == 0)
        entry = keyed_table_find(&j->keys, parts->hash, parts->key);
    right = entry == KEYED_NONE ? REFERENCE_NONE : entry_at(j, entry)->right;
    if (right != REFERENCE_NONE && instant_of(j, SIDE_RIGHT, right) <= j->reached.ms) {
        if (is_busy(j))
            return false;
        forget(j, entry);
        entry = KEYED_NONE;
    }
    *ret_entry = entry;
    return true;
}

/* Nobody is there for it, and there will be nobody, or not in time. */
static bool leaves_at_once(struct latest_join *j, const struct record_parts *parts, uint32_t right)
{
    bool waits = (parts->flags & RECORD_NULL_KEY) == 0 && j->ages[SIDE_LEFT].span_ms > 0;

    if (right != REFERENCE_NONE || waits || j->meeting.pads)
        return false;
    record_fate(j->meeting.context.books, SIDE_LEFT, FATE_UNMATCHED, NULL);
    return true;
}

static enum push_stop push_left(struct latest_join *j, const struct record_parts *parts,
                                uint64_t number)
{
    bool null_key = (parts->flags & RECORD_NULL_KEY) != 0, waits;
    uint32_t entry, right, left;
    uint64_t beside = 0;

    if (j->ready_count == READY_MAX || !find_entry(j, parts, &entry))
        return PUSH_WORK_FIRST;
    right = entry == KEYED_NONE ? REFERENCE_NONE : entry_at(j, entry)->right;
    if (leaves_at_once(j, parts, right))
        return PUSH_ALL;
    waits = right == REFERENCE_NONE && !null_key && j->ages[SIDE_LEFT].span_ms > 0;
    if (waits && entry == KEYED_NONE)
        beside = keyed_table_growth(&j->keys);
    if (waits) {
        if (!store(j, SIDE_LEFT, parts, number, beside, &left))
            return PUSH_FULL;
        wait_begin(j, entry, parts->hash, left);
    } else {
        if (!store_ready(j, parts, number, &left))
            return j->ready_count > 0 ? PUSH_WORK_FIRST : PUSH_FULL;
        ready_append(j, left, right);
    }
    return PUSH_ALL;
}

static enum push_stop push_right(struct latest_join *j, const struct record_parts *parts,
                                 uint64_t number)
{
    uint32_t entry, right;
    uint64_t beside;

    if (j->ready_count > 0)
        return PUSH_WORK_FIRST; /* they see the old value */
    entry = keyed_table_find(&j->keys, parts->hash, parts->key);
    beside = entry == KEYED_NONE ? keyed_table_growth(&j->keys) : 0;
    if (!store(j, SIDE_RIGHT, parts, number, beside, &right))
        return PUSH_FULL;
    if (entry == KEYED_NONE) {
        entry = keyed_table_add(&j->keys, j->meeting.context.pool, parts->hash);
        entry_at(j, entry)->right = entry_at(j, entry)->head = REFERENCE_NONE;
    }
    replace(j, entry, right);
    if (entry_at(j, entry)->head != REFERENCE_NONE)
        j->releasing = entry;
    return PUSH_ALL;
}

static enum push_stop push_one(void *self, enum side side, const struct record_parts *parts,
                               uint64_t number)
{
    struct latest_join *j = self;
    settle(j);
    if (j->releasing != KEYED_NONE || side_due(j, SIDE_LEFT))
        return PUSH_WORK_FIRST;
    if (side == SIDE_LEFT)
        return push_left(j, parts, number);
    if ((parts->flags & RECORD_NULL_KEY) == 0)
        return push_right(j, parts, number);
    record_fate(j->meeting.context.books, SIDE_RIGHT, FATE_UNMATCHED, NULL);
    return PUSH_ALL;
}

/* The values, and on the right side also their neighbours in age, from which they part. */
static void latest_join_fetch(const void *self, enum side side, const uint32_t *hashes, size_t n)
{
    const struct latest_join *j = self;
    uint32_t numbers[OPERATOR_FETCH], values[OPERATOR_FETCH];
    size_t count = 0;

    if (!keyed_table_fetch(&j->keys, hashes, n, numbers))
        return;
    for (size_t i = 0; i < n; i++) {
        if (numbers[i] == KEYED_NONE || entry_at(j, numbers[i])->right == REFERENCE_NONE)
            continue;
        values[count] = entry_at(j, numbers[i])->right;
        arena_fetch(&j->meeting.side[SIDE_RIGHT], values[count++]);
    }
    for (size_t i = 0; i < count && side == SIDE_RIGHT; i++) {
        const struct latest_prefix *at = prefix_at(j, SIDE_RIGHT, values[i]);
        if (at->prev != REFERENCE_NONE)
            __builtin_prefetch(prefix_at(j, SIDE_RIGHT, at->prev));
        if (at->next != REFERENCE_NONE)
            __builtin_prefetch(prefix_at(j, SIDE_RIGHT, at->next));
    }
}

static enum push_stop latest_join_push(void *self, enum side side, const struct record_parts *parts,
                                       size_t n, uint64_t number, size_t *ret_taken)
{
    return operator_push_each(push_one, self, side, parts, n, number, ret_taken);
}

static void latest_join_advance(void *self, struct stream_time now)
{
    struct latest_join *j = self;

    assert(now.ms >= j->reached.ms && latest_join_ok(j));
    j->reached = now;
    settle(j);
}

static void latest_join_flush(void *self)
{
    struct latest_join *j = self;

    assert(latest_join_ok(j));
    j->flushing = j->ages[SIDE_LEFT].first != REFERENCE_NONE;
    settle(j);
}

/* --- out --- */

static size_t latest_join_pull(void *self, struct result *ret, size_t max, int64_t *fuel)
{
    struct latest_join *j = self;
    size_t n = 0;

    assert(max > 0 && latest_join_ok(j));
    meeting_give_back(&j->meeting, fuel);
    while (n<max && * fuel> 0) {
        if (j->ready_count > 0) {
            n += ready_step(j, ret + n, fuel);
        } else if (j->releasing != KEYED_NONE) {
            *fuel -= RELEASE_FUEL;
            release_one(j);
        } else if (side_due(j, SIDE_LEFT)) {
            *fuel -= AGE_FUEL;
            give_up_one(j);
        } else if (side_due(j, SIDE_RIGHT)) {
            *fuel -= AGE_FUEL;
            forget_eldest(j);
        } else {
            break;
        }
    }
    assert(latest_join_ok(j) && n <= max);
    return n;
}

static bool latest_join_has_work(const void *self)
{
    const struct latest_join *j = self;

    return is_busy(j) || side_due(j, SIDE_LEFT) || side_due(j, SIDE_RIGHT) ||
           meeting_has_spent(&j->meeting);
}

static struct stream_time latest_join_due(const void *self)
{
    const struct latest_join *j = self;
    int64_t left = first_instant(j, SIDE_LEFT), right = first_instant(j, SIDE_RIGHT);

    return (struct stream_time){left < right ? left : right};
}

static uint64_t latest_join_held(const void *self, enum side side)
{
    const struct latest_join *j = self;
    return j->meeting.side[side].undecided;
}

static void latest_join_list(const void *self, enum side side, const struct held_listener *to)
{
    const struct latest_join *j = self;
    arena_list(&j->meeting.side[side], 0, to);
}

const struct operator operator_latest = {
    .push_fuel = 80,
    .create = latest_join_create,
    .destroy = latest_join_destroy,
    .fetch = latest_join_fetch,
    .push = latest_join_push,
    .advance = latest_join_advance,
    .flush = latest_join_flush,
    .pull = latest_join_pull,
    .has_work = latest_join_has_work,
    .due = latest_join_due,
    .held = latest_join_held,
    .list = latest_join_list,
    .state_bytes = latest_join_state_bytes,
};
