#include "core/join_session.h"

#include <assert.h>

#include "base/fetch.h"
#include "base/mem.h"

/* What it takes to come to the next session, in units of fuel. */
#define TAKE_FUEL 50
/* So many sessions are looked at in a step of time, at most. */
#define STEP_MAX 64

/* --- keys --- */

static const struct record *some_record(const struct join_session *j, const struct session *s)
{
    enum side side = s->run[SIDE_LEFT].head != REFERENCE_NONE ? SIDE_LEFT : SIDE_RIGHT;
    return arena_record(&j->records[side], s->run[side].head);
}

static struct bytes key_of(const void *self, const void *session)
{
    return record_key(some_record(self, session));
}

/* --- when sessions are due --- */

/* Event time: at their end, which is exclusive, plus grace; the clock has to be past it. */
static int64_t hold_of(const struct plan *plan)
{
    return plan->gap_ms + (plan->time == TIME_EVENT ? plan->grace_ms : 1);
}

static int64_t due_at(const struct join_session *j, int64_t last)
{
    return last > INT64_MAX - j->hold_ms ? INT64_MAX : last + j->hold_ms;
}

/* Sessions whose last record is not after this are due. */
static int64_t due_last(const struct join_session *j)
{
    return j->reached.ms < INT64_MIN + j->hold_ms ? INT64_MIN : j->reached.ms - j->hold_ms;
}

/* The head of the queue is due, or would be if it stood where it belongs. */
static bool open_is_due(const struct join_session *j)
{
    return j->open.count > 0 && due_at(j, j->open.head.last) <= j->reached.ms;
}

/* The same of either queue: what stands in `due` is due. */
static bool is_due(const struct join_session *j, const struct session_queue *q)
{
    return q->count > 0 && (q == &j->due || open_is_due(j));
}

/* Lets go of a key's due sessions, of which `root` is found. Returns the root of the others;
 * SESSION_NONE: there are none. */
static uint32_t still_open(struct join_session *j, uint32_t root)
{
    uint32_t later = SESSION_NONE;

    if (root == SESSION_NONE)
        return SESSION_NONE;
    if (session_at(&j->pool, root)->opened >= j->flushed)
        later = session_tree_later(&j->pool, root, due_last(j));
    session_root(&j->pool, root, later);
    return later;
}

/* --- create, destroy --- */

static void *join_session_create(const struct operator_context *c)
{
    struct join_session *j = mem_alloc_zeroed(1, sizeof(*j));

    j->context = *c;
    j->reached = STREAM_TIME_MIN;
    j->hold_ms = hold_of(c->plan);
    session_pool_init(&j->pool, c->pool, c->plan->hash_seed, key_of, j);
    session_queue_init(&j->open);
    session_queue_init(&j->due);
    cross_init(&j->cross, c->plan, c->books);
    for (int s = 0; s < SIDES; s++) {
        arena_init(&j->records[s], 0);
        j->cross.held[s] = &j->records[s].undecided;
    }
    j->step = SESSION_IDLE;
    j->spent = SESSION_NONE;
    return j;
}

static void join_session_destroy(void *self)
{
    struct join_session *j = self;

    cross_done(&j->cross);
    session_queue_done(&j->open, &j->pool);
    session_queue_done(&j->due, &j->pool);
    session_pool_done(&j->pool);
    for (int s = 0; s < SIDES; s++)
        arena_done(&j->records[s], j->context.pool);
    mem_free(j);
}

/* --- in --- */

static uint64_t join_session_state_bytes(const void *self)
{
    const struct join_session *j = self;

    return arena_bytes(&j->records[SIDE_LEFT]) + arena_bytes(&j->records[SIDE_RIGHT]) +
           session_pool_bytes(&j->pool) + session_queue_bytes(&j->open) +
           session_queue_bytes(&j->due);
}

/* A state that holds nothing takes one record, however small the limit: else it would be
 * full of nothing for ever. */
static uint64_t room_left(const struct join_session *j)
{
    uint64_t bytes = join_session_state_bytes(j), max = *j->context.state_bytes_max;

    if (j->pool.count == 0)
        return UINT64_MAX;
    return bytes < max ? max - bytes : 0;
}

/* Where a record belongs. */
struct place {
    bool keyed;    /* it has a key ... */
    uint32_t root; /* ... with open sessions; SESSION_NONE: without */
    uint32_t takers[2];
    size_t taker_count; /* none: it opens a session */
};

static struct place place_of(struct join_session *j, const struct record_parts *parts)
{
    struct place at = {
        .keyed = (parts->flags & RECORD_NULL_KEY) == 0,
        .root = SESSION_NONE,
    };

    if (at.keyed)
        at.root = still_open(j, keyed_table_find(&j->pool.table, parts->hash, parts->key));
    if (at.root != SESSION_NONE)
        at.taker_count =
            session_tree_find(&j->pool, at.root, parts->time, j->context.plan->gap_ms, at.takers);
    return at;
}

/* What a session more would allocate. False: there is no room for it. */
static bool session_fits(const struct join_session *j, const struct place *at, uint64_t room,
                         uint64_t *ret)
{
    bool new_key = at->keyed && at->root == SESSION_NONE;
    uint64_t own = session_pool_need(&j->pool);

    *ret = session_queue_need(&j->open);
    if (new_key)
        *ret += keyed_table_enter_growth(&j->pool.table);
    if (*ret > room || own > room - *ret)
        return false;
    *ret += own;
    return true;
}

static bool store(struct join_session *j, enum side side, const struct record_parts *parts,
                  uint64_t number, const struct place *at, uint32_t *ret_ref)
{
    uint64_t room = room_left(j), need = 0;
    bool near = near_times_fit(&j->times, parts->time);
    struct record_parts own = *parts;

    if (near)
        own.flags = record_flags_near(own.flags);
    if ((at->taker_count == 0 && !session_fits(j, at, room, &need)) ||
        !arena_add(&j->records[side], j->context.pool, &own, number, room - need, ret_ref))
        return false;
    if (near)
        near_times_add(&j->times, own.time);
    return true;
}

static void chain(struct join_session *j, uint32_t session, enum side side, uint32_t ref)
{
    struct session_run *run = &session_at(&j->pool, session)->run[side];

    if (run->head == REFERENCE_NONE)
        run->head = ref;
    else
        arena_record(&j->records[side], run->tail)->hash = ref;
    run->tail = ref;
    arena_record(&j->records[side], ref)->hash = REFERENCE_NONE;
}

/* The new session has its record already: the table may ask for its key. */
static void enter(struct join_session *j, const struct place *at, uint32_t session)
{
    session_queue_put(&j->open, &j->pool, session);
    if (!at->keyed)
        return;
    if (at->root == SESSION_NONE)
        keyed_table_enter(&j->pool.table, j->context.pool, session);
    else
        session_root(&j->pool, at->root, session_tree_put(&j->pool, at->root, session));
}

/* The session that takes the record, one made of two where it lies between. */
static uint32_t taker_of(struct join_session *j, const struct place *at)
{
    uint32_t a = at->takers[0], b = at->takers[1];
    bool a_is_elder;

    if (at->taker_count == 1)
        return a;
    a_is_elder = session_at(&j->pool, a)->opened < session_at(&j->pool, b)->opened;
    session_root(&j->pool, at->root, session_tree_take(&j->pool, at->root, a_is_elder ? a : b));
    session_absorb(&j->pool, a_is_elder ? b : a, a_is_elder ? a : b);
    return a_is_elder ? b : a;
}

static void reach(struct session *s, int64_t t)
{
    if (t < s->first)
        s->first = t;
    if (t > s->last)
        s->last = t;
}

static bool is_late(const struct join_session *j, const struct place *at, int64_t t)
{
    return j->context.plan->time == TIME_EVENT && at->taker_count == 0 &&
           due_at(j, t) <= j->reached.ms;
}

static enum push_stop push_one(void *self, enum side side, const struct record_parts *parts,
                               uint64_t number)
{
    struct join_session *j = self;
    struct place at = place_of(j, parts);
    uint32_t session, ref;

    if (is_late(j, &at, parts->time)) {
        j->context.books->side[side].late_windows++;
        return PUSH_LATE;
    }
    if (!store(j, side, parts, number, &at, &ref))
        return PUSH_FULL;
    if (at.taker_count == 0) {
        session = session_open(&j->pool, parts->hash, parts->time);
        chain(j, session, side, ref);
        enter(j, &at, session);
        return PUSH_ALL;
    }
    session = taker_of(j, &at);
    chain(j, session, side, ref);
    reach(session_at(&j->pool, session), parts->time);
    /* Not needed, but due() is exact the oftener. */
    if (j->open.head.session == session && session_queue_need(&j->open) <= room_left(j))
        session_queue_refresh(&j->open, &j->pool);
    return PUSH_ALL;
}

static FETCH_INLINE void fetch_run(const struct join_session *j, const struct session *s,
                                   enum side side)
{
    if (s->run[side].head == REFERENCE_NONE)
        return;
    arena_fetch(&j->records[side], s->run[side].head);
    __builtin_prefetch(arena_record(&j->records[side], s->run[side].tail));
}

/* The first session of each key, and the records by which its key is known and to which
 * the next one is linked. */
static void join_session_fetch(const void *self, enum side side, const uint32_t *hashes, size_t n)
{
    const struct join_session *j = self;
    uint32_t numbers[OPERATOR_FETCH];

    (void)side;
    if (!keyed_table_fetch(&j->pool.table, hashes, n, numbers))
        return;
    for (size_t i = 0; i < n; i++)
        for (int s = 0; s < SIDES && numbers[i] != KEYED_NONE; s++)
            fetch_run(j, session_at(&j->pool, numbers[i]), s);
}

static enum push_stop join_session_push(void *self, enum side side,
                                        const struct record_parts *parts, size_t n, uint64_t number,
                                        size_t *ret_taken)
{
    return operator_push_each(push_one, self, side, parts, n, number, ret_taken);
}

/* Sets some of the due sessions apart, so that due() can see what comes after them. */
static void find_due(struct join_session *j)
{
    for (int i = 0; i < STEP_MAX && open_is_due(j); i++) {
        uint32_t session = j->open.head.session;
        if (session_queue_need(&j->open) + session_queue_need(&j->due) > room_left(j))
            return;
        if (session_queue_refresh(&j->open, &j->pool))
            continue;
        session_queue_drop(&j->open, &j->pool);
        session_queue_put(&j->due, &j->pool, session);
    }
}

static void join_session_advance(void *self, struct stream_time now)
{
    struct join_session *j = self;

    assert(now.ms >= j->reached.ms);
    j->reached = now;
    find_due(j);
}

static void join_session_flush(void *self)
{
    struct join_session *j = self;
    struct session_queue open = j->open;

    /* What a key has open now is no longer found by its records: still_open(). */
    j->flushed = j->pool.opened;
    if (j->due.count == 0) {
        j->open = j->due;
        j->due = open;
        return;
    }
    for (; j->open.count > 0; session_queue_drop(&j->open, &j->pool))
        session_queue_put(&j->due, &j->pool, j->open.head.session);
}

/* --- out --- */

/* From the first one on, up to `until`. */
static void give_records(struct join_session *j, struct session *s, enum side side, uint32_t until,
                         int64_t *fuel)
{
    while (s->run[side].head != until) {
        uint32_t ref = s->run[side].head;
        const struct record *r = arena_record(&j->records[side], ref);
        s->run[side].head = r->hash;
        if (record_has(r, RECORD_TIME32))
            near_times_drop(&j->times, record_time_near(r, j->times.base));
        arena_free(&j->records[side], j->context.pool, ref);
        --*fuel;
    }
}

/* What was passed, and told of, by the pull before: no more than its fuel went for. */
static void give_passed(struct join_session *j, int64_t *fuel)
{
    pairing_forget(&j->cross.pairing);
    while (j->spent != SESSION_NONE) {
        uint32_t session = j->spent;
        struct session *s = session_at(&j->pool, session);
        j->spent = s->next;
        give_records(j, s, SIDE_LEFT, REFERENCE_NONE, fuel);
        give_records(j, s, SIDE_RIGHT, REFERENCE_NONE, fuel);
        session_close(&j->pool, session);
    }
    if (j->step == SESSION_CROSS) {
        struct session *s = session_at(&j->pool, j->walked);
        give_records(j, s, SIDE_LEFT, j->cross.left, fuel);
        if (j->cross.lefts_done)
            give_records(j, s, SIDE_RIGHT, j->cross.right, fuel);
    }
    for (int s = 0; s < SIDES; s++)
        j->cross.chunks[s] = j->order.chunks[s] = arena_chunks(&j->records[s]);
}

/* The first sessions of a due queue. Those at its top are mostly these. */
static void take_some(struct join_session *j, struct session_queue *q, int64_t *fuel)
{
    struct sessions_next *x = &j->next;

    session_queue_fetch(q, &j->pool);
    x->at = x->count = 0;
    for (int i = 0; i < SESSIONS_NEXT && is_due(j, q); i++) {
        uint32_t session = q->head.session;
        *fuel -= TAKE_FUEL;
        if (session_queue_refresh(q, &j->pool))
            continue;
        session_queue_drop(q, &j->pool);
        x->sessions[x->count++] = session;
    }
}

/* What walking the next ones will touch. */
static FETCH_INLINE void fetch_next(const struct join_session *j)
{
    uint32_t hashes[SESSIONS_NEXT], numbers[SESSIONS_NEXT];

    for (size_t i = 0; i < j->next.count; i++) {
        const struct session *s = session_at(&j->pool, j->next.sessions[i]);
        hashes[i] = s->entry.hash;
        for (int side = 0; side < SIDES; side++)
            if (s->run[side].head != REFERENCE_NONE)
                arena_fetch(&j->records[side], s->run[side].head);
    }
    keyed_table_fetch(&j->pool.table, hashes, j->next.count, numbers);
}

/* Of the sessions of its key the one that is found; mostly it is the only one. */
static uint32_t root_of(const struct join_session *j, uint32_t session, const struct record *r)
{
    uint32_t hash = session_at(&j->pool, session)->entry.hash;
    uint32_t first = keyed_table_first(&j->pool.table, hash);

    return first == session ? first : keyed_table_find(&j->pool.table, hash, record_key(r));
}

static void begin_next(struct join_session *j)
{
    uint32_t session = j->next.sessions[j->next.at++];
    const struct session *s = session_at(&j->pool, session);
    const struct record *r = some_record(j, s);

    j->cross.window_start = s->first;
    j->cross.window_end = s->last + j->context.plan->gap_ms;
    j->cross.alone = record_has(r, RECORD_NULL_KEY);
    if (!j->cross.alone)
        still_open(j, root_of(j, session, r));
    session_order_begin(&j->order, session);
    j->step = SESSION_ORDER;
}

static void put_in_order(struct join_session *j, int64_t *fuel)
{
    const struct session *s;

    if (!session_order_go(&j->order, &j->pool, fuel))
        return;
    j->walked = j->order.at;
    s = session_at(&j->pool, j->walked);
    cross_begin(&j->cross, (const uint32_t[SIDES]){s->run[SIDE_LEFT].head, s->run[SIDE_RIGHT].head},
                j->cross.alone);
    j->step = SESSION_CROSS;
}

static size_t cross_some(struct join_session *j, struct result *ret, size_t max, int64_t *fuel)
{
    size_t n;

    j->cross.time_base = j->times.base;
    n = cross_pull(&j->cross, ret, max, fuel);
    if (cross_is_over(&j->cross)) {
        session_at(&j->pool, j->walked)->next = j->spent;
        j->spent = j->walked;
        j->step = SESSION_IDLE;
    }
    return n;
}

static size_t join_session_pull(void *self, struct result *ret, size_t max, int64_t *fuel)
{
    struct join_session *j = self;
    size_t n = 0;

    give_passed(j, fuel);
    while (n<max && * fuel> 0) {
        if (j->step == SESSION_CROSS) {
            n += cross_some(j, ret + n, max - n, fuel);
        } else if (j->step == SESSION_ORDER) {
            put_in_order(j, fuel);
        } else if (j->next.at < j->next.count) {
            begin_next(j);
        } else if (j->due.count > 0 || open_is_due(j)) {
            take_some(j, j->due.count > 0 ? &j->due : &j->open, fuel);
            fetch_next(j);
        } else {
            break;
        }
    }
    if (n == 0)
        give_passed(j, fuel); /* nobody looks at it */
    return n;
}

static bool join_session_has_work(const void *self)
{
    const struct join_session *j = self;
    return j->step != SESSION_IDLE || j->spent != SESSION_NONE || j->next.at < j->next.count ||
           j->due.count > 0 || open_is_due(j);
}

/* Sessions may stand in the queue by an end that has moved since: then this is a little
 * early. Where more are due than a step of time could find, what comes after them is not
 * known before they are pulled, and nobody needs to be woken until then. */
static struct stream_time join_session_due(const void *self)
{
    const struct join_session *j = self;

    if (j->open.count == 0 || j->reached.ms == INT64_MAX || open_is_due(j))
        return STREAM_TIME_MAX;
    return (struct stream_time){due_at(j, j->open.head.last)};
}

static uint64_t join_session_held(const void *self, enum side side)
{
    const struct join_session *j = self;
    return j->records[side].undecided;
}

static uint64_t join_session_held_recount(const void *self, enum side side)
{
    const struct join_session *j = self;
    return arena_recount(&j->records[side]);
}

const struct operator operator_session = {
    .push_fuel = 80,
    .create = join_session_create,
    .destroy = join_session_destroy,
    .fetch = join_session_fetch,
    .push = join_session_push,
    .advance = join_session_advance,
    .flush = join_session_flush,
    .pull = join_session_pull,
    .has_work = join_session_has_work,
    .due = join_session_due,
    .held = join_session_held,
    .held_recount = join_session_held_recount,
    .state_bytes = join_session_state_bytes,
};
