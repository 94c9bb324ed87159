#include "join/as_of_join.h"

#include <assert.h>

#include "base/fetch.h"
#include "base/mem.h"

/* What a step takes, in fuel: most are misses of the cache. */
#define VALUE_FUEL 10
#define SWEEP_FUEL 6

/* What time has come to and gives no row, in one call that takes a record or tells the
 * time. */
#define SETTLE_MAX 16
/* What so many of those that come next will touch is fetched at a time. */
#define AHEAD_MAX 16

/* --- making it --- */

static struct bytes key_of(const void *self, const void *entry)
{
    const struct as_of_join *j = self;
    const struct as_of_entry *e = entry;

    return record_key(meeting_record(&j->meeting, SIDE_RIGHT, e->right));
}

static void *as_of_join_create(const struct operator_context *c)
{
    struct as_of_join *j = mem_alloc_zeroed(1, sizeof(*j));

    meeting_init(&j->meeting, c, 0);
    keyed_table_init(&j->keys, sizeof(struct as_of_entry), key_of, j);
    for (int s = 0; s < SIDES; s++)
        expiry_init(&j->waiting[s], &j->meeting.side[s], 0);
    j->reached = STREAM_TIME_MIN;
    j->again = REFERENCE_NONE;
    j->swept = KEYED_NONE;
    return j;
}

/* A flush is over with the last left record that waits. */
static bool as_of_join_ok(const struct as_of_join *j)
{
    return (!j->flushing || expiry_first(&j->waiting[SIDE_LEFT]) != NULL) &&
           j->ahead[SIDE_LEFT] <= AHEAD_MAX && j->ahead[SIDE_RIGHT] <= AHEAD_MAX &&
           (j->swept == KEYED_NONE || j->reached.ms == INT64_MAX);
}

static void as_of_join_destroy(void *self)
{
    struct as_of_join *j = self;

    for (int s = 0; s < SIDES; s++)
        expiry_done(&j->waiting[s], j->meeting.context.pool);
    keyed_table_done(&j->keys, j->meeting.context.pool);
    meeting_done(&j->meeting);
    mem_free(j);
}

static struct as_of_entry *entry_at(const struct as_of_join *j, uint32_t number)
{
    return keyed_table_entry(&j->keys, number);
}

static int64_t time_of(const struct as_of_join *j, enum side side, uint32_t ref)
{
    return record_time(meeting_record(&j->meeting, side, ref));
}

/* --- the values --- */

/* A record of the right side that time has come to. */
static void take_value(struct as_of_join *j, uint32_t entry, uint32_t ref)
{
    struct as_of_entry *e = entry_at(j, entry);
    uint32_t old = e->right;

    if (e->is_value == 0) {
        e->right = ref;
        e->is_value = 1;
    } else if (time_of(j, SIDE_RIGHT, old) > time_of(j, SIDE_RIGHT, ref)) {
        meeting_forget(&j->meeting, ref); /* a flush has gone ahead of time */
    } else {
        e->right = ref; /* before the old one goes, by whose key it is found */
        meeting_forget(&j->meeting, old);
    }
}

static uint32_t entry_of(const struct as_of_join *j, const struct record *r)
{
    return keyed_table_find(&j->keys, r->hash, record_key(r));
}

/* What this left record sees, now that time has come to it. */
static uint32_t seen_by(const struct as_of_join *j, uint32_t left)
{
    const struct record *l = meeting_record(&j->meeting, SIDE_LEFT, left);
    const struct as_of_entry *e;
    uint32_t entry;

    if (record_has(l, RECORD_NULL_KEY) || (entry = entry_of(j, l)) == KEYED_NONE)
        return REFERENCE_NONE;
    e = entry_at(j, entry);
    if (e->is_value == 0 || time_of(j, SIDE_RIGHT, e->right) > record_time(l))
        return REFERENCE_NONE;
    return e->right;
}

/* --- what time has come to --- */

/* The record whose time comes next; of one time, right before left. NULL: there is none. */
static const struct due *first_to_come(const struct as_of_join *j, enum side *ret_side)
{
    const struct due *right = expiry_first(&j->waiting[SIDE_RIGHT]);
    const struct due *first = expiry_earlier(right, expiry_first(&j->waiting[SIDE_LEFT]));

    *ret_side = first == right ? SIDE_RIGHT : SIDE_LEFT;
    return first;
}

static bool has_waiting_left(const struct as_of_join *j)
{
    return expiry_first(&j->waiting[SIDE_LEFT]) != NULL;
}

/* A flush goes on while left records wait: values come as far as these need them. */
static bool next_due(const struct as_of_join *j, enum side *ret_side, uint32_t *ret_ref)
{
    const struct due *due = first_to_come(j, ret_side);

    if (due == NULL || (!j->flushing && due->instant > j->reached.ms))
        return false;
    *ret_ref = due->ref;
    return true;
}

/* The end: all that is left are values. */
static bool must_sweep(const struct as_of_join *j)
{
    return j->reached.ms == INT64_MAX && j->keys.count > 0;
}

static bool anything_due(const struct as_of_join *j)
{
    enum side side;
    uint32_t ref;

    return j->again != REFERENCE_NONE || next_due(j, &side, &ref) || must_sweep(j);
}

static FETCH_INLINE void fetch_values(const struct as_of_join *j, const uint32_t *hashes, size_t n)
{
    uint32_t numbers[OPERATOR_FETCH];

    if (!keyed_table_fetch(&j->keys, hashes, n, numbers))
        return;
    for (size_t i = 0; i < n; i++)
        if (numbers[i] != KEYED_NONE)
            arena_fetch(&j->meeting.side[SIDE_RIGHT], entry_at(j, numbers[i])->right);
}

/* What those touch that will come next is fetched for some of them at once. */
static void look_ahead(struct as_of_join *j, enum side side)
{
    uint32_t refs[AHEAD_MAX], hashes[AHEAD_MAX];
    size_t n;

    if (j->ahead[side] > 0) {
        j->ahead[side]--;
        return;
    }
    n = expiry_ahead(&j->waiting[side], refs, AHEAD_MAX);
    for (size_t i = 0; i < n; i++)
        arena_fetch(&j->meeting.side[side], refs[i]);
    for (size_t i = 0; i < n; i++)
        hashes[i] = meeting_record(&j->meeting, side, refs[i])->hash;
    fetch_values(j, hashes, n);
    j->ahead[side] = n;
}

static void come_right(struct as_of_join *j, uint32_t ref)
{
    expiry_pop(&j->waiting[SIDE_RIGHT], j->meeting.context.pool);
    take_value(j, entry_of(j, meeting_record(&j->meeting, SIDE_RIGHT, ref)), ref);
}

static size_t come_left(struct as_of_join *j, uint32_t ref, uint32_t seen, struct result *ret,
                        int64_t *fuel)
{
    bool over;
    size_t n;

    expiry_pop(&j->waiting[SIDE_LEFT], j->meeting.context.pool);
    n = meeting_tell(&j->meeting, ref, seen, ret, fuel, &over);
    if (!over)
        j->again = ref;
    j->flushing = j->flushing && has_waiting_left(j);
    return n;
}

/* What is due and gives no row: so that not every step of time takes a pull. */
static void settle(struct as_of_join *j)
{
    int64_t fuel = 0;
    enum side side;
    uint32_t ref;

    for (int i = 0; i < SETTLE_MAX && j->again == REFERENCE_NONE; i++) {
        if (!next_due(j, &side, &ref))
            return;
        look_ahead(j, side);
        if (side == SIDE_RIGHT)
            come_right(j, ref);
        else if (!j->meeting.pads && seen_by(j, ref) == REFERENCE_NONE)
            come_left(j, ref, REFERENCE_NONE, NULL, &fuel);
        else
            return;
    }
}

/* --- in --- */

static uint64_t other_bytes(const struct as_of_join *j)
{
    return keyed_table_bytes(&j->keys) + expiry_bytes(&j->waiting[SIDE_LEFT]) +
           expiry_bytes(&j->waiting[SIDE_RIGHT]);
}

static uint64_t as_of_join_state_bytes(const void *self)
{
    const struct as_of_join *j = self;

    return meeting_bytes(&j->meeting) + other_bytes(j);
}

/* `beside` is what the record takes beside its own place. */
static bool store(struct as_of_join *j, enum side side, const struct record_parts *parts,
                  uint64_t number, uint64_t beside, uint32_t *ret_ref)
{
    uint64_t room = meeting_room(&j->meeting, other_bytes(j));

    assert((parts->flags & RECORD_TIMED) != 0);
    return beside <= room && arena_add(&j->meeting.side[side], j->meeting.context.pool, parts,
                                       number, room - beside, ret_ref);
}

static enum push_stop push_left(struct as_of_join *j, const struct record_parts *parts,
                                uint64_t number)
{
    struct expiry *waiting = &j->waiting[SIDE_LEFT];
    uint32_t ref;

    if (parts->time <= j->reached.ms)
        return PUSH_LATE;
    if (!store(j, SIDE_LEFT, parts, number, expiry_growth(waiting), &ref))
        return PUSH_FULL;
    expiry_add(waiting, j->meeting.context.pool, ref);
    return PUSH_ALL;
}

/* Time has come to it already: is there a newer value? Not known before all that is due
 * has been. */
static enum push_stop judge_past(const struct as_of_join *j, uint32_t entry, int64_t t)
{
    const struct as_of_entry *e;

    if (anything_due(j))
        return PUSH_WORK_FIRST;
    if (entry == KEYED_NONE)
        return PUSH_ALL;
    e = entry_at(j, entry);
    return e->is_value != 0 && time_of(j, SIDE_RIGHT, e->right) > t ? PUSH_LATE : PUSH_ALL;
}

static enum push_stop push_right(struct as_of_join *j, const struct record_parts *parts,
                                 uint64_t number)
{
    struct slab_pool *pool = j->meeting.context.pool;
    struct expiry *waiting = &j->waiting[SIDE_RIGHT];
    uint32_t entry = keyed_table_find(&j->keys, parts->hash, parts->key), ref;
    uint64_t beside = entry == KEYED_NONE ? keyed_table_growth(&j->keys) : 0;
    bool past = parts->time <= j->reached.ms;
    enum push_stop stop = past ? judge_past(j, entry, parts->time) : PUSH_ALL;

    if (stop != PUSH_ALL)
        return stop;
    if (!past && beside < UINT64_MAX)
        beside += expiry_growth(waiting);
    if (!store(j, SIDE_RIGHT, parts, number, beside, &ref))
        return PUSH_FULL;
    if (entry == KEYED_NONE) {
        entry = keyed_table_add(&j->keys, pool, parts->hash);
        entry_at(j, entry)->right = ref;
    }
    if (past)
        take_value(j, entry, ref);
    else
        expiry_add(waiting, pool, ref);
    return PUSH_ALL;
}

static enum push_stop push_one(void *self, enum side side, const struct record_parts *parts,
                               uint64_t number)
{
    struct as_of_join *j = self;
    settle(j);
    if (j->flushing)
        return PUSH_WORK_FIRST;
    if (side == SIDE_LEFT)
        return push_left(j, parts, number);
    if ((parts->flags & RECORD_NULL_KEY) == 0)
        return push_right(j, parts, number);
    record_fate(j->meeting.context.books, SIDE_RIGHT, FATE_UNMATCHED, NULL);
    return PUSH_ALL;
}

/* Lefts ask for nothing before time comes to them. */
static void as_of_join_fetch(const void *self, enum side side, const uint32_t *hashes, size_t n)
{
    if (side == SIDE_RIGHT)
        fetch_values(self, hashes, n);
}

static enum push_stop as_of_join_push(void *self, enum side side, const struct record_parts *parts,
                                      size_t n, uint64_t number, size_t *ret_taken)
{
    return operator_push_each(push_one, self, side, parts, n, number, ret_taken);
}

static void as_of_join_advance(void *self, struct stream_time now)
{
    struct as_of_join *j = self;

    assert(now.ms >= j->reached.ms && as_of_join_ok(j));
    j->reached = now;
    settle(j);
}

static void as_of_join_flush(void *self)
{
    struct as_of_join *j = self;

    assert(as_of_join_ok(j));
    j->flushing = has_waiting_left(j);
    settle(j);
}

/* --- out --- */

static size_t tell_again(struct as_of_join *j, struct result *ret, int64_t *fuel)
{
    uint32_t ref = j->again;
    bool over;

    assert(ref != REFERENCE_NONE);
    j->again = REFERENCE_NONE;
    return meeting_tell(&j->meeting, ref, REFERENCE_NONE, ret, fuel, &over);
}

static void sweep(struct as_of_join *j)
{
    uint32_t entry = keyed_table_next(&j->keys, j->swept);
    uint32_t ref = entry_at(j, entry)->right;

    keyed_table_remove(&j->keys, j->meeting.context.pool, entry);
    meeting_forget(&j->meeting, ref);
    j->swept = j->keys.count > 0 ? entry : KEYED_NONE;
}

static size_t as_of_join_pull(void *self, struct result *ret, size_t max, int64_t *fuel)
{
    struct as_of_join *j = self;
    enum side side;
    uint32_t ref;
    size_t n = 0;

    assert(max > 0 && as_of_join_ok(j));
    meeting_give_back(&j->meeting, fuel);
    while (n<max && * fuel> 0) {
        if (j->again != REFERENCE_NONE) {
            n += tell_again(j, ret + n, fuel);
        } else if (next_due(j, &side, &ref)) {
            *fuel -= VALUE_FUEL;
            look_ahead(j, side);
            if (side == SIDE_RIGHT)
                come_right(j, ref);
            else
                n += come_left(j, ref, seen_by(j, ref), ret + n, fuel);
        } else if (must_sweep(j)) {
            *fuel -= SWEEP_FUEL;
            sweep(j);
        } else {
            break;
        }
    }
    assert(as_of_join_ok(j) && n <= max);
    return n;
}

static bool as_of_join_has_work(const void *self)
{
    const struct as_of_join *j = self;

    return anything_due(j) || meeting_has_spent(&j->meeting);
}

static struct stream_time as_of_join_due(const void *self)
{
    enum side side;
    const struct due *due = first_to_come(self, &side);

    return (struct stream_time){due == NULL ? INT64_MAX : due->instant};
}

static uint64_t as_of_join_held(const void *self, enum side side)
{
    const struct as_of_join *j = self;
    return j->meeting.side[side].undecided;
}

static void as_of_join_list(const void *self, enum side side, const struct held_listener *to)
{
    const struct as_of_join *j = self;
    arena_list(&j->meeting.side[side], 0, to);
}

const struct operator operator_as_of = {
    .push_fuel = 80,
    .create = as_of_join_create,
    .destroy = as_of_join_destroy,
    .fetch = as_of_join_fetch,
    .push = as_of_join_push,
    .advance = as_of_join_advance,
    .flush = as_of_join_flush,
    .pull = as_of_join_pull,
    .has_work = as_of_join_has_work,
    .due = as_of_join_due,
    .held = as_of_join_held,
    .list = as_of_join_list,
    .state_bytes = as_of_join_state_bytes,
};
