#include "join/interval_join.h"

#include <assert.h>

#include "base/mem.h"

/* What a step takes, in fuel: most are misses of the cache. */
#define PROBE_FUEL  2
#define ON_FUEL     4
#define EXPIRE_FUEL 10

/* What leaves without a row, in one call that takes a record or tells the time. */
#define SETTLE_MAX 16
/* So many partners are looked at in a push, to see if a pull is worth while. */
#define PEEK_MAX 16
/* Fuel that pushes may use before a pull has to be asked for. */
#define DEBT_MAX 4096

/* --- making it --- */

static int64_t add(int64_t a, int64_t b)
{
    int64_t sum;

    if (__builtin_add_overflow(a, b, &sum))
        return a < 0 ? INT64_MIN : INT64_MAX;
    return sum;
}

static void *interval_join_create(const struct operator_context *c)
{
    struct interval_join *j = mem_alloc_zeroed(1, sizeof(*j));
    const struct plan *p = c->plan;

    assert(p->lower_ms <= p->upper_ms && p->lower_ms > INT64_MIN);
    j->context = *c;
    j->reached = STREAM_TIME_MIN;
    j->probe.ref = REFERENCE_NONE;
    j->one_sided = plan_is_one_sided(p);
    pairing_init(&j->pairing, p, c->books);
    key_chains_init(&j->chains, p->hash_seed);
    spent_init(&j->spent);
    for (int s = 0; s < SIDES; s++) {
        struct interval_side *side = &j->side[s];
        side->lower = s == SIDE_LEFT ? p->lower_ms : -p->upper_ms;
        side->upper = s == SIDE_LEFT ? p->upper_ms : -p->lower_ms;
        side->pads = plan_pads(p, s);
        /* One is held while time is at most at its last partner's, plus grace. */
        expiry_init(&side->expiry, &j->chains.side[s], add(add(side->upper, p->grace_ms), 1));
        side->expiry.base = &j->base;
    }
    return j;
}

/* Whoever is undecided is there, and so is who meets others. */
static bool interval_join_ok(const struct interval_join *j)
{
    const struct arena *a = j->chains.side;

    return j->debt >= 0 && a[SIDE_LEFT].undecided <= a[SIDE_LEFT].records &&
           a[SIDE_RIGHT].undecided <= a[SIDE_RIGHT].records &&
           (j->probe.ref == REFERENCE_NONE || a[j->probe.side].records > 0);
}

static void interval_join_destroy(void *self)
{
    struct interval_join *j = self;

    for (int s = 0; s < SIDES; s++)
        expiry_done(&j->side[s].expiry, j->context.pool);
    key_chains_done(&j->chains, j->context.pool);
    pairing_done(&j->pairing);
    mem_free(j);
}

static struct record *record_at(const struct interval_join *j, enum side side, uint32_t ref)
{
    return key_chains_record(&j->chains, side, ref);
}

static int64_t time_of(const struct interval_join *j, const struct record *r)
{
    return record_time_near(r, j->base);
}

/* --- rows --- */

static size_t tell(struct interval_join *j, enum result_kind kind, const struct record *l,
                   const struct record *r, struct result *ret)
{
    pairing_result(ret, kind, l, r, RESULT_NO_WINDOW, RESULT_NO_WINDOW);
    pairing_times(ret, j->base);
    j->spent.lent = true;
    return 1;
}

/* No partner can come any more. */
static size_t tell_unmatched(struct interval_join *j, enum side side, struct record *r,
                             struct result *ret)
{
    bool left = side == SIDE_LEFT;

    if (record_has(r, RECORD_DECIDED))
        return 0;
    pairing_unmatched(j->context.books, side, r, &j->chains.side[side].undecided);
    if (!j->side[side].pads)
        return 0;
    return tell(j, pairing_padded_kind(j->context.plan, side), left ? r : NULL, left ? NULL : r,
                ret);
}

/* --- leaving --- */

/* The record that leaves first; of one instant, left before right. NULL: there is none. */
static const struct due *first_to_leave(const struct interval_join *j, enum side *ret_side)
{
    const struct due *left = expiry_first(&j->side[SIDE_LEFT].expiry);
    const struct due *first = expiry_earlier(left, expiry_first(&j->side[SIDE_RIGHT].expiry));

    *ret_side = first == left ? SIDE_LEFT : SIDE_RIGHT;
    return first;
}

static bool anything_due(const struct interval_join *j)
{
    int64_t by = j->flushing ? INT64_MAX : j->reached.ms;

    return expiry_is_due(&j->side[SIDE_LEFT].expiry, by) ||
           expiry_is_due(&j->side[SIDE_RIGHT].expiry, by);
}

static bool next_due(const struct interval_join *j, enum side *ret_side, uint32_t *ret_ref)
{
    const struct due *due = first_to_leave(j, ret_side);

    if (due == NULL || (!j->flushing && due->instant > j->reached.ms))
        return false;
    *ret_ref = due->ref;
    return true;
}

/* The next ones are mostly those that came after it: what taking them out of their chains
 * touches is fetched for some at once. */
static void look_ahead(struct interval_join *j, enum side side, uint32_t ref)
{
    uint32_t refs[CHAINS_EXPECTED];
    size_t n;

    if (key_chains_expects(&j->chains, side, ref))
        return;
    n = expiry_ahead(&j->side[side].expiry, refs, CHAINS_EXPECTED);
    if (n > 1 && refs[0] == ref)
        key_chains_expect(&j->chains, side, refs, n);
}

static size_t leave(struct interval_join *j, enum side side, uint32_t ref, struct result *ret)
{
    struct record *r = record_at(j, side, ref);
    size_t n;

    if (!record_has(r, RECORD_NULL_KEY))
        look_ahead(j, side, ref);
    expiry_pop(&j->side[side].expiry, j->context.pool);
    if (!record_has(r, RECORD_NULL_KEY))
        key_chains_unlink(&j->chains, j->context.pool, side, ref);
    n = tell_unmatched(j, side, r, ret);
    spent_release(&j->spent, j->chains.side, j->context.pool, side, ref);
    return n;
}

/* Those that are due and give no row: so that not every step of time takes a pull. */
static void settle(struct interval_join *j)
{
    enum side side;
    uint32_t ref;

    for (int i = 0; i < SETTLE_MAX && j->probe.ref == REFERENCE_NONE; i++) {
        if (!next_due(j, &side, &ref)) {
            j->flushing = false;
            return;
        }
        if (j->side[side].pads && !record_has(record_at(j, side, ref), RECORD_DECIDED))
            return;
        leave(j, side, ref, NULL);
    }
}

/* --- meeting --- */

/* Could `partner`, of the other side's chain, match a record of `side` and time `t`? */
static bool may_match(const struct interval_join *j, enum side side, int64_t t,
                      const struct record *partner)
{
    int64_t at = time_of(j, partner);

    if (at < add(t, j->side[side].lower) || at > add(t, j->side[side].upper))
        return false;
    return !j->one_sided || side == SIDE_LEFT || !record_has(partner, RECORD_MATCHED);
}

static enum pairing_answer ask_on(struct interval_join *j, enum side side, const struct record *r,
                                  const struct record *partner)
{
    return side == SIDE_LEFT ? pairing_on(&j->pairing, r, partner)
                             : pairing_on(&j->pairing, partner, r);
}

/* The first in a chain that may match, from `ref` on; after `*steps` it is not known. */
static uint32_t find_partner(const struct interval_join *j, enum side side, int64_t t, uint32_t ref,
                             int64_t *steps)
{
    enum side other = side_other(side);

    for (; ref != REFERENCE_NONE && *steps > 0; --*steps) {
        if (may_match(j, side, t, record_at(j, other, ref)))
            break;
        ref = key_chains_next(&j->chains, other, ref);
    }
    return ref;
}

/* `head` is the first that it meets. One that is held and meets nobody needs no probe. */
static void probe_begin(struct interval_join *j, enum side side, uint32_t ref, bool held,
                        uint32_t head)
{
    int64_t steps = PEEK_MAX, t = time_of(j, record_at(j, side, ref));
    uint32_t next = find_partner(j, side, t, head, &steps);

    assert(j->probe.ref == REFERENCE_NONE);
    pairing_forget(&j->pairing);
    if (next != REFERENCE_NONE || !held)
        j->probe = (struct interval_probe){side, ref, held, next};
}

static size_t probe_end(struct interval_join *j, struct result *ret)
{
    struct interval_probe p = j->probe;
    size_t n;

    assert(p.ref != REFERENCE_NONE && p.next == REFERENCE_NONE);
    j->probe.ref = REFERENCE_NONE;
    if (p.held)
        return 0;
    n = tell_unmatched(j, p.side, record_at(j, p.side, p.ref), ret);
    spent_release(&j->spent, j->chains.side, j->context.pool, p.side, p.ref);
    return n;
}

static size_t tell_match(struct interval_join *j, struct record *l, struct record *r,
                         struct result *ret)
{
    struct books *books = j->context.books;

    pairing_matched(books, SIDE_LEFT, l, &j->chains.side[SIDE_LEFT].undecided);
    pairing_matched(books, SIDE_RIGHT, r, &j->chains.side[SIDE_RIGHT].undecided);
    if (!j->one_sided)
        return tell(j, RESULT_PAIR, l, r, ret);
    if (j->probe.side == SIDE_LEFT)
        j->probe.next = REFERENCE_NONE; /* one match decides */
    return j->context.plan->type == JOIN_SEMI ? tell(j, RESULT_SEMI, l, NULL, ret) : 0;
}

static size_t probe_step(struct interval_join *j, struct result *ret, int64_t *fuel)
{
    struct interval_probe *p = &j->probe;
    struct record *own = record_at(j, p->side, p->ref), *met;

    *fuel -= PROBE_FUEL;
    if (p->next == REFERENCE_NONE)
        return probe_end(j, ret);
    met = record_at(j, side_other(p->side), p->next);
    p->next = met->hash;
    if (!may_match(j, p->side, time_of(j, own), met))
        return 0;
    if (j->context.plan->on != NULL)
        *fuel -= ON_FUEL;
    switch (ask_on(j, p->side, own, met)) {
    case PAIRING_YES:
        return p->side == SIDE_LEFT ? tell_match(j, own, met, ret) : tell_match(j, met, own, ret);
    case PAIRING_FAILED:
        return p->side == SIDE_LEFT ? tell(j, RESULT_FAILED, own, met, ret)
                                    : tell(j, RESULT_FAILED, met, own, ret);
    case PAIRING_NO:
        break;
    }
    return 0;
}

/* --- in --- */

static uint64_t interval_join_state_bytes(const void *self)
{
    const struct interval_join *j = self;

    return key_chains_bytes(&j->chains) + expiry_bytes(&j->side[SIDE_LEFT].expiry) +
           expiry_bytes(&j->side[SIDE_RIGHT].expiry);
}

static bool holds_nothing(const struct interval_join *j)
{
    return j->chains.side[SIDE_LEFT].records + j->chains.side[SIDE_RIGHT].records == 0;
}

/* A state that holds nothing takes one record, however small the limit: else it would be
 * full of nothing for ever. */
static uint64_t room_left(const struct interval_join *j)
{
    uint64_t bytes = interval_join_state_bytes(j), max = *j->context.state_bytes_max;

    if (holds_nothing(j))
        return UINT64_MAX;
    return bytes < max ? max - bytes : 0;
}

/* A record on its way in. */
struct arrival {
    enum side side;
    const struct record_parts *parts;
    uint64_t number;
    uint32_t entry; /* its key's; KEYED_NONE */
    uint32_t head;  /* of the chain that it meets; REFERENCE_NONE */
    bool held;      /* a partner may still come */
    bool late;
};

static struct arrival arrival_of(const struct interval_join *j, enum side side,
                                 const struct record_parts *parts, uint64_t number)
{
    struct arrival a = {.side = side, .parts = parts, .number = number, .entry = KEYED_NONE};

    assert((parts->flags & RECORD_TIMED) != 0);
    if ((parts->flags & RECORD_NULL_KEY) == 0)
        a.entry = key_chains_find(&j->chains, parts->hash, parts->key);
    a.head = key_chains_head(&j->chains, a.entry, side_other(side));
    a.held = expiry_instant(&j->side[side].expiry, parts->time) > j->reached.ms;
    a.late = j->context.plan->time == TIME_EVENT && parts->time <= j->reached.ms;
    return a;
}

/* 32 bits of a time are enough for most. Nothing is due, so all that is held is not older
 * than its reach: below that the base may go on. */
static bool fits_near(struct interval_join *j, int64_t t)
{
    int64_t left = j->side[SIDE_LEFT].expiry.reach, right = j->side[SIDE_RIGHT].expiry.reach;
    int64_t oldest = add(j->reached.ms, -(left > right ? left : right));

    if (holds_nothing(j))
        j->base = add(t, INT32_MIN);
    else if (t > add(j->base, UINT32_MAX) && oldest > j->base)
        j->base = oldest;
    return (uint64_t)t - (uint64_t)j->base <= UINT32_MAX;
}

/* False: it does not fit; nothing has changed. */
static bool store(struct interval_join *j, const struct arrival *a, uint32_t *ret_ref)
{
    struct slab_pool *pool = j->context.pool;
    struct expiry *expiry = &j->side[a->side].expiry;
    bool chained = a->held && (a->parts->flags & RECORD_NULL_KEY) == 0;
    uint64_t room = room_left(j);
    uint64_t waiting = a->held ? expiry_growth(expiry) : 0;
    uint64_t entry = chained && a->entry == KEYED_NONE ? keyed_table_growth(&j->chains.keys) : 0;
    struct record_parts parts = *a->parts;

    if (fits_near(j, parts.time))
        parts.flags = record_flags_near(parts.flags);
    if (waiting > room || entry > room - waiting ||
        !arena_add(&j->chains.side[a->side], pool, &parts, a->number, room - waiting - entry,
                   ret_ref))
        return false;
    if (chained)
        key_chains_link(&j->chains, pool, a->entry, a->parts->hash, a->side, *ret_ref);
    if (a->held)
        expiry_add(expiry, pool, *ret_ref);
    return true;
}

/* What `on` says of a record and those that it may match: YES of any, else FAILED of any. */
static enum pairing_answer ask_all(struct interval_join *j, const struct arrival *a,
                                   const struct record *r)
{
    enum pairing_answer all = PAIRING_NO, one;
    enum side other = side_other(a->side);

    pairing_forget(&j->pairing);
    for (uint32_t ref = a->head; ref != REFERENCE_NONE && all != PAIRING_YES;
         ref = key_chains_next(&j->chains, other, ref)) {
        const struct record *met = record_at(j, other, ref);
        if (!may_match(j, a->side, a->parts->time, met))
            continue;
        one = ask_on(j, a->side, r, met);
        if (one != PAIRING_NO)
            all = one;
        j->debt += ON_FUEL;
    }
    return all;
}

/* Its fate is late: not for the books of this operator. */
static void drop_late(struct interval_join *j, const struct arrival *a, uint32_t ref)
{
    record_at(j, a->side, ref)->size_flags |= RECORD_DECIDED;
    j->chains.side[a->side].undecided--;
    pairing_forget(&j->pairing);
    arena_free(&j->chains.side[a->side], j->context.pool, ref);
}

/* Nobody pads it, and no partner can come: it has one here, or its fate is late. Pairs of
 * which `on` failed are told in any case. */
static enum push_stop push_last_chance(struct interval_join *j, const struct arrival *a)
{
    int64_t steps = INT64_MAX;
    uint32_t ref, partner = find_partner(j, a->side, a->parts->time, a->head, &steps);

    j->debt += PROBE_FUEL * (INT64_MAX - steps);
    if (partner == REFERENCE_NONE)
        return PUSH_LATE;
    if (!store(j, a, &ref))
        return PUSH_FULL;
    switch (ask_all(j, a, record_at(j, a->side, ref))) {
    case PAIRING_YES:
        probe_begin(j, a->side, ref, false, partner);
        return PUSH_ALL;
    case PAIRING_FAILED:
        record_at(j, a->side, ref)->size_flags |= RECORD_DECIDED;
        j->chains.side[a->side].undecided--;
        probe_begin(j, a->side, ref, false, partner);
        return PUSH_LATE;
    case PAIRING_NO:
        break;
    }
    drop_late(j, a, ref);
    return PUSH_LATE;
}

static bool must_pull(const struct interval_join *j)
{
    return j->probe.ref != REFERENCE_NONE || j->debt > DEBT_MAX || anything_due(j);
}

static enum push_stop push_one(void *self, enum side side, const struct record_parts *parts,
                               uint64_t number)
{
    struct interval_join *j = self;
    struct arrival a;
    uint32_t ref;

    settle(j);
    if (must_pull(j))
        return PUSH_WORK_FIRST;
    j->flushing = false; /* it was of those that were there */
    a = arrival_of(j, side, parts, number);
    if (!a.held && !j->side[side].pads) {
        if (a.late)
            return push_last_chance(j, &a);
        if (a.head == REFERENCE_NONE) {
            record_fate(j->context.books, side, FATE_UNMATCHED, NULL);
            return PUSH_ALL;
        }
    }
    if (!store(j, &a, &ref))
        return PUSH_FULL;
    probe_begin(j, side, ref, a.held, a.head);
    return PUSH_ALL;
}

static bool interval_join_waits(const void *self)
{
    const struct interval_join *j = self;
    return j->probe.ref != REFERENCE_NONE;
}

static void interval_join_fetch(const void *self, enum side side, const uint32_t *hashes, size_t n)
{
    const struct interval_join *j = self;

    (void)side;
    key_chains_fetch(&j->chains, hashes, n);
}

static enum push_stop interval_join_push(void *self, enum side side,
                                         const struct record_parts *parts, size_t n,
                                         uint64_t number, size_t *ret_taken)
{
    return operator_push_each(push_one, self, side, parts, n, number, ret_taken);
}

static void interval_join_advance(void *self, struct stream_time now)
{
    struct interval_join *j = self;

    assert(now.ms >= j->reached.ms && interval_join_ok(j));
    j->reached = now;
    settle(j);
}

static void interval_join_flush(void *self)
{
    struct interval_join *j = self;
    j->flushing = true;
    settle(j); /* which finds out if nothing is held */
}

/* --- out --- */

static void pay_debt(struct interval_join *j, int64_t *fuel)
{
    int64_t paid = j->debt < *fuel ? j->debt : *fuel;

    if (paid > 0) {
        j->debt -= paid;
        *fuel -= paid;
    }
}

static size_t interval_join_pull(void *self, struct result *ret, size_t max, int64_t *fuel)
{
    struct interval_join *j = self;
    enum side side;
    uint32_t ref;
    size_t n = 0;

    assert(max > 0 && interval_join_ok(j));
    spent_give_back(&j->spent, j->chains.side, j->context.pool, fuel);
    pay_debt(j, fuel);
    while (n<max && * fuel> 0) {
        if (j->probe.ref != REFERENCE_NONE) {
            n += probe_step(j, ret + n, fuel);
        } else if (next_due(j, &side, &ref)) {
            *fuel -= EXPIRE_FUEL;
            n += leave(j, side, ref, ret + n);
        } else {
            j->flushing = false;
            break;
        }
    }
    assert(interval_join_ok(j) && n <= max);
    return n;
}

static bool interval_join_has_work(const void *self)
{
    const struct interval_join *j = self;
    return must_pull(j) || spent_any(&j->spent);
}

static struct stream_time interval_join_due(const void *self)
{
    enum side side;
    const struct due *due = first_to_leave(self, &side);

    return (struct stream_time){due == NULL ? INT64_MAX : due->instant};
}

static uint64_t interval_join_held(const void *self, enum side side)
{
    const struct interval_join *j = self;
    return j->chains.side[side].undecided;
}

/* Numbers of records in chains have become links: the expiry knows the order. One that is not
 * held came last. */
static void interval_join_list(const void *self, enum side side, const struct held_listener *to)
{
    const struct interval_join *j = self;
    const struct interval_probe *p = &j->probe;

    expiry_list(&j->side[side].expiry, to);
    if (p->ref != REFERENCE_NONE && p->side == side && !p->held)
        held_tell(to, record_at(j, side, p->ref), j->base, UINT64_C(1) << 32);
}

/* Whom it met was told already. */
static void interval_join_restore(void *self, enum side side, const struct record_parts *parts,
                                  uint64_t number)
{
    struct arrival a = arrival_of(self, side, parts, number);
    uint32_t ref;
    bool stored = store(self, &a, &ref);

    assert(stored && a.held);
}

const struct operator operator_interval = {
    .push_fuel = 120,
    .create = interval_join_create,
    .destroy = interval_join_destroy,
    .fetch = interval_join_fetch,
    .waits = interval_join_waits,
    .push = interval_join_push,
    .advance = interval_join_advance,
    .flush = interval_join_flush,
    .pull = interval_join_pull,
    .has_work = interval_join_has_work,
    .due = interval_join_due,
    .held = interval_join_held,
    .list = interval_join_list,
    .restore = interval_join_restore,
    .state_bytes = interval_join_state_bytes,
};
