#include "join/session_join.h"

#include <assert.h>

#include "base/fetch.h"
#include "base/mem.h"

/* What it takes to come to the next session, in units of fuel. */
#define TAKE_FUEL 50
/* So many sessions are looked at in a step of time, at most. */
#define STEP_MAX 64

/* --- when sessions are due --- */

/* Event time: at their end, which is exclusive, plus grace; the clock has to be past it. */
static int64_t hold_of(const struct plan *plan)
{
    return plan->gap_ms + (plan->time == TIME_EVENT ? plan->grace_ms : 1);
}

static int64_t due_at(const struct session_join *j, int64_t last)
{
    return last > INT64_MAX - j->hold_ms ? INT64_MAX : last + j->hold_ms;
}

/* Sessions whose last record is not after this are due. */
static int64_t due_last(const struct session_join *j)
{
    return j->reached.ms < INT64_MIN + j->hold_ms ? INT64_MIN : j->reached.ms - j->hold_ms;
}

/* The head of the queue is due, or would be if it stood where it belongs. */
static bool open_is_due(const struct session_join *j)
{
    return j->open.count > 0 && due_at(j, j->open.head.last) <= j->reached.ms;
}

/* The same of either queue: what stands in `due` is due. */
static bool is_due(const struct session_join *j, const struct session_queue *q)
{
    return q->count > 0 && (q == &j->due || open_is_due(j));
}

/* There are due sessions, in some tree perhaps. */
static bool any_due(const struct session_join *j)
{
    return j->next.at < j->next.count || j->due.count > 0 || open_is_due(j);
}

/* Lets go of a key's due sessions, of which `root` is found. Returns the root of the others;
 * SESSION_NONE: there are none. */
static uint32_t let_go(struct session_join *j, uint32_t root)
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

static void *session_join_create(const struct operator_context *c)
{
    struct session_join *j = mem_alloc_zeroed(1, sizeof(*j));

    j->context = *c;
    j->reached = STREAM_TIME_MIN;
    j->hold_ms = hold_of(c->plan);
    session_pool_init(&j->pool, c->pool, c->plan->hash_seed, j->records, &j->times);
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

static bool session_join_ok(const struct session_join *j)
{
    return j->next.at <= j->next.count && j->next.count <= SESSIONS_NEXT &&
           j->flushed <= j->pool.opened && j->pool.count <= j->pool.opened &&
           j->open.count + j->due.count <= j->pool.count && j->step <= SESSION_CROSS;
}

static void session_join_destroy(void *self)
{
    struct session_join *j = self;

    cross_done(&j->cross);
    session_queue_done(&j->open, &j->pool);
    session_queue_done(&j->due, &j->pool);
    session_pool_done(&j->pool);
    for (int s = 0; s < SIDES; s++)
        arena_done(&j->records[s], j->context.pool);
    mem_free(j);
}

/* --- in --- */

static uint64_t session_join_state_bytes(const void *self)
{
    const struct session_join *j = self;

    return arena_bytes(&j->records[SIDE_LEFT]) + arena_bytes(&j->records[SIDE_RIGHT]) +
           session_pool_bytes(&j->pool) + session_queue_bytes(&j->open) +
           session_queue_bytes(&j->due);
}

/* A state that holds nothing takes one record, however small the limit: else it would be
 * full of nothing for ever. */
static uint64_t room_left(const struct session_join *j)
{
    uint64_t bytes = session_join_state_bytes(j), max = *j->context.state_bytes_max;

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

static struct place place_of(struct session_join *j, const struct record_parts *parts)
{
    struct place at = {
        .keyed = (parts->flags & RECORD_NULL_KEY) == 0,
        .root = SESSION_NONE,
    };

    if (at.keyed)
        at.root = keyed_table_find(&j->pool.table, parts->hash, parts->key);
    if (any_due(j))
        at.root = let_go(j, at.root);
    if (at.root != SESSION_NONE)
        at.taker_count =
            session_tree_find(&j->pool, at.root, parts->time, j->context.plan->gap_ms, at.takers);
    return at;
}

/* What the record takes beside its own bytes; UINT64_MAX: no number is left for it. */
static uint64_t need_of(const struct session_join *j, const struct place *at, enum side side,
                        int64_t t)
{
    uint64_t own, beside;

    if (at->taker_count == 2)
        return 0; /* they are in a tree, and so not plain */
    if (at->taker_count == 1)
        return session_needs_more(&j->pool, at->takers[0], side, t)
                   ? session_pool_need(&j->pool, 0, 1)
                   : 0;
    own = session_pool_need(&j->pool, 1, session_tree_put_mores(&j->pool, at->root));
    beside = session_queue_need(&j->open);
    if (at->keyed && at->root == SESSION_NONE)
        beside += keyed_table_enter_growth(&j->pool.table);
    return own == UINT64_MAX ? own : own + beside;
}

static bool store(struct session_join *j, enum side side, const struct record_parts *parts,
                  uint64_t number, const struct place *at, uint32_t *ret_ref)
{
    uint64_t room = room_left(j), need = need_of(j, at, side, parts->time);
    bool near = near_times_fit(&j->times, parts->time);
    struct record_parts own = *parts;

    assert((parts->flags & RECORD_TIMED) != 0);
    if (near)
        own.flags = record_flags_near(own.flags);
    if (need > room ||
        !arena_add(&j->records[side], j->context.pool, &own, number, room - need, ret_ref))
        return false;
    if (near)
        near_times_add(&j->times, own.time);
    return true;
}

/* The new session has its record already: the table may ask for its key. */
static void enter(struct session_join *j, const struct place *at, uint32_t session, int64_t t)
{
    session_queue_put(&j->open, &j->pool, session, t);
    if (!at->keyed)
        return;
    if (at->root == SESSION_NONE)
        keyed_table_enter(&j->pool.table, j->context.pool, session);
    else
        session_root(&j->pool, at->root, session_tree_put(&j->pool, at->root, session));
}

/* The session that takes the record, one made of two where it lies between. */
static uint32_t taker_of(struct session_join *j, const struct place *at)
{
    uint32_t a = at->takers[0], b = at->takers[1];
    bool a_is_elder;

    assert(at->taker_count > 0 && at->root != SESSION_NONE);
    if (at->taker_count == 1)
        return a;
    a_is_elder = session_at(&j->pool, a)->opened < session_at(&j->pool, b)->opened;
    session_root(&j->pool, at->root, session_tree_take(&j->pool, at->root, a_is_elder ? a : b));
    session_absorb(&j->pool, a_is_elder ? b : a, a_is_elder ? a : b);
    return a_is_elder ? b : a;
}

static bool is_late(const struct session_join *j, const struct place *at, int64_t t)
{
    return j->context.plan->time == TIME_EVENT && at->taker_count == 0 &&
           due_at(j, t) <= j->reached.ms;
}

static enum push_stop push_one(void *self, enum side side, const struct record_parts *parts,
                               uint64_t number)
{
    struct session_join *j = self;
    struct place at = place_of(j, parts);
    uint32_t session, ref;

    if (is_late(j, &at, parts->time)) {
        j->context.books->side[side].late_windows++;
        return PUSH_LATE;
    }
    if (!store(j, side, parts, number, &at, &ref))
        return PUSH_FULL;
    if (at.taker_count == 0) {
        session = session_open(&j->pool, parts->hash, side, ref);
        enter(j, &at, session, parts->time);
        return PUSH_ALL;
    }
    session = taker_of(j, &at);
    session_add(&j->pool, session, side, ref);
    /* Not needed, but due() is exact the oftener. */
    if (j->open.head.session == session && session_queue_need(&j->open) <= room_left(j))
        session_queue_refresh(&j->open, &j->pool);
    return PUSH_ALL;
}

/* The first session of each key, and the records by which its key and its end are known and to
 * which the next one is linked. */
static void session_join_fetch(const void *self, enum side side, const uint32_t *hashes, size_t n)
{
    const struct session_join *j = self;
    uint32_t numbers[OPERATOR_FETCH];

    (void)side;
    if (!keyed_table_fetch(&j->pool.table, hashes, n, numbers))
        return;
    for (size_t i = 0; i < n; i++)
        if (numbers[i] != KEYED_NONE)
            session_fetch_last(&j->pool, numbers[i]);
}

static enum push_stop session_join_push(void *self, enum side side,
                                        const struct record_parts *parts, size_t n, uint64_t number,
                                        size_t *ret_taken)
{
    return operator_push_each(push_one, self, side, parts, n, number, ret_taken);
}

/* Sets some of the due sessions apart, so that due() can see what comes after them. */
static void find_due(struct session_join *j)
{
    for (int i = 0; i < STEP_MAX && open_is_due(j); i++) {
        if (session_queue_need(&j->open) + session_queue_need(&j->due) > room_left(j))
            return;
        if (!session_queue_refresh(&j->open, &j->pool))
            session_queue_move(&j->open, &j->due, &j->pool);
    }
}

static void session_join_advance(void *self, struct stream_time now)
{
    struct session_join *j = self;

    assert(now.ms >= j->reached.ms && session_join_ok(j));
    j->reached = now;
    find_due(j);
}

static void session_join_flush(void *self)
{
    struct session_join *j = self;
    struct session_queue open = j->open;

    assert(session_join_ok(j));
    /* What a key has open now is no longer found by its records: let_go(). */
    j->flushed = j->pool.opened;
    if (j->due.count == 0) {
        j->open = j->due;
        j->due = open;
        return;
    }
    while (j->open.count > 0)
        session_queue_move(&j->open, &j->due, &j->pool);
}

/* --- out --- */

/* From the first one on, up to `until`. */
static void give_records(struct session_join *j, struct session *s, enum side side, uint32_t until,
                         int64_t *fuel)
{
    while (s->run[side] != until) {
        uint32_t ref = s->run[side];
        const struct record *r = arena_record(&j->records[side], ref);
        s->run[side] = r->hash;
        if (record_has(r, RECORD_TIME32))
            near_times_drop(&j->times, record_time_near(r, j->times.base));
        arena_free(&j->records[side], j->context.pool, ref);
        --*fuel;
    }
}

/* What was passed, and told of, by the pull before: no more than its fuel went for. */
static void give_passed(struct session_join *j, int64_t *fuel)
{
    pairing_forget(&j->cross.pairing);
    while (j->spent != SESSION_NONE) {
        uint32_t session = j->spent;
        struct session *s = session_at(&j->pool, session);
        j->spent = s->entry.next;
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
        j->cross.chunks[s] = arena_chunks(&j->records[s]);
}

/* What steps of time have set apart stands where it belongs: that is all of `due` but for what a
 * flush has left there. */
static bool next_is_known(const struct session_join *j, const struct session_queue *q)
{
    return q == &j->due && q->head.opened >= j->flushed;
}

/* The first sessions of a due queue. */
static void take_some(struct session_join *j, struct session_queue *q, int64_t *fuel)
{
    struct sessions_next *x = &j->next;

    x->at = x->count = 0;
    for (int i = 0; i < SESSIONS_NEXT && is_due(j, q); i++) {
        *fuel -= TAKE_FUEL;
        if (!next_is_known(j, q) && session_queue_refresh(q, &j->pool))
            continue;
        x->sessions[x->count++] = q->head;
        session_queue_drop(q, &j->pool);
    }
}

/* What walking the next ones will touch. */
static FETCH_INLINE void fetch_next(const struct session_join *j)
{
    uint32_t hashes[SESSIONS_NEXT], numbers[SESSIONS_NEXT];

    if (session_pool_is_small(&j->pool))
        return;
    for (size_t i = 0; i < j->next.count; i++) {
        hashes[i] = session_at(&j->pool, j->next.sessions[i].session)->entry.hash;
        session_fetch_first(&j->pool, j->next.sessions[i].session);
    }
    keyed_table_fetch(&j->pool.table, hashes, j->next.count, numbers);
}

/* Of the sessions of its key one is found by it; mostly this is the only one. */
static void leave_key(struct session_join *j, uint32_t session, struct bytes key)
{
    const struct session *s = session_at(&j->pool, session);
    uint32_t root = keyed_table_first(&j->pool.table, s->entry.hash);

    if (root != session)
        root = keyed_table_find(&j->pool.table, s->entry.hash, key);
    if (root == session && session_is_plain(s))
        session_root(&j->pool, root, SESSION_NONE);
    else
        let_go(j, root);
}

static void begin_next(struct session_join *j)
{
    int64_t last = j->next.sessions[j->next.at].last;
    uint32_t session = j->next.sessions[j->next.at++].session;
    const struct record *r = session_record(&j->pool, session_at(&j->pool, session));

    assert(j->step == SESSION_IDLE);
    j->cross.window_start = session_first(&j->pool, session);
    j->cross.window_end = last + j->context.plan->gap_ms;
    j->cross.alone = record_has(r, RECORD_NULL_KEY);
    if (!j->cross.alone)
        leave_key(j, session, record_key(r));
    session_order_begin(&j->order, session);
    j->step = SESSION_ORDER;
}

static void put_in_order(struct session_join *j, int64_t *fuel)
{
    if (!session_order_go(&j->order, &j->pool, fuel))
        return;
    j->walked = j->order.at;
    session_cut(&j->pool, j->walked);
    cross_begin(&j->cross, session_at(&j->pool, j->walked)->run, j->cross.alone);
    j->step = SESSION_CROSS;
}

static size_t cross_some(struct session_join *j, struct result *ret, size_t max, int64_t *fuel)
{
    size_t n;

    j->cross.time_base = j->times.base;
    n = cross_pull(&j->cross, ret, max, fuel);
    if (cross_is_over(&j->cross)) {
        session_at(&j->pool, j->walked)->entry.next = j->spent;
        j->spent = j->walked;
        j->step = SESSION_IDLE;
    }
    return n;
}

static size_t session_join_pull(void *self, struct result *ret, size_t max, int64_t *fuel)
{
    struct session_join *j = self;
    size_t n = 0;

    assert(max > 0 && session_join_ok(j));
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
    assert(session_join_ok(j) && n <= max);
    return n;
}

static bool session_join_has_work(const void *self)
{
    const struct session_join *j = self;
    return j->step != SESSION_IDLE || j->spent != SESSION_NONE || any_due(j);
}

/* Sessions may stand in the queue by an end that has moved since: then this is a little
 * early. Where more are due than a step of time could find, what comes after them is not
 * known before they are pulled, and nobody needs to be woken until then. */
static struct stream_time session_join_due(const void *self)
{
    const struct session_join *j = self;

    if (j->open.count == 0 || j->reached.ms == INT64_MAX || open_is_due(j))
        return STREAM_TIME_MAX;
    return (struct stream_time){due_at(j, j->open.head.last)};
}

static uint64_t session_join_held(const void *self, enum side side)
{
    const struct session_join *j = self;
    return j->records[side].undecided;
}

static void session_join_list(const void *self, enum side side, const struct held_listener *to)
{
    const struct session_join *j = self;
    arena_list(&j->records[side], j->times.base, to);
}

const struct operator operator_session = {
    .push_fuel = 80,
    .create = session_join_create,
    .destroy = session_join_destroy,
    .fetch = session_join_fetch,
    .push = session_join_push,
    .advance = session_join_advance,
    .flush = session_join_flush,
    .pull = session_join_pull,
    .has_work = session_join_has_work,
    .due = session_join_due,
    .held = session_join_held,
    .list = session_join_list,
    .state_bytes = session_join_state_bytes,
};
