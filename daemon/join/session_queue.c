#include "join/session_queue.h"

#include "base/fetch.h"

#define BRANCHES 4
/* Places of the heap before this one are in the caches. */
#define FETCH_FROM 4096
/* What will be looked at is fetched: a session, while so many others of its line stand before it,
 * or once it has come so far up in the heap; then its last records, by which it ends. */
#define AHEAD_SESSION      16
#define AHEAD_RECORDS      8
#define AHEAD_HEAP_SESSION 21
#define AHEAD_HEAP_RECORDS 5

void session_queue_init(struct session_queue *q)
{
    *q = (struct session_queue){0};
    pages_init(&q->heap, sizeof(struct session_queued));
}

static bool comes_before(const struct session_queued *a, const struct session_queued *b)
{
    return a->last != b->last ? a->last < b->last : a->opened < b->opened;
}

/* --- lines --- */

static struct session_queued *line_first(const struct session_line *l)
{
    return &l->first->at[l->from];
}

static struct session_queued *line_last(const struct session_line *l)
{
    return &l->last->at[l->to - 1];
}

static bool line_needs_piece(const struct session_line *l)
{
    return l->first == NULL || l->to == l->last->capacity;
}

/* An eighth to a quarter of what is there. */
static size_t next_piece_size(const struct session_queue *q)
{
    uint64_t wish = q->line_bytes / 8;
    return slab_round(wish > SLAB_CHUNK_MAX ? SLAB_CHUNK_MAX : wish);
}

static void piece_add(struct session_queue *q, struct session_line *l, struct slab_pool *slab)
{
    size_t size = next_piece_size(q);
    struct session_piece *piece = slab_take(slab, size);

    piece->next = NULL;
    piece->size = (uint32_t)size;
    piece->capacity = (uint32_t)((size - sizeof(*piece)) / sizeof(piece->at[0]));
    if (l->first == NULL) {
        l->first = piece;
        l->from = 0;
    } else {
        l->last->next = piece;
    }
    l->last = piece;
    l->to = 0;
    q->line_bytes += size;
}

static void piece_drop(struct session_queue *q, struct session_line *l, struct slab_pool *slab)
{
    struct session_piece *piece = l->first;

    l->first = piece->next;
    l->from = 0;
    if (l->first == NULL)
        l->last = NULL;
    q->line_bytes -= piece->size;
    slab_give(slab, piece, piece->size);
}

/* It would not stand in order behind all that are there. */
static bool comes_before_last(const struct session_line *l, const struct session_queued *e)
{
    const struct session_queued *run = line_last(l);
    struct session_queued last = {.last = l->last_time, .opened = run->opened + run->count};

    return comes_before(e, &last);
}

/* By what one of a run stands in it is not written down: line_drop(). One of several records would
 * have to be put right there. */
static bool run_takes(const struct session_queued *run, const struct session_pool *p,
                      const struct session_queued *e)
{
    uint32_t next = run->count + 1;

    return e->session == run->session + next && e->opened == run->opened + next &&
           session_has_one_record(p, e->session);
}

/* False: it would not stand in order. */
static bool line_put(struct session_queue *q, struct session_line *l, const struct session_pool *p,
                     const struct session_queued *e)
{
    if (l->first != NULL && comes_before_last(l, e))
        return false;
    if (l->first != NULL && run_takes(line_last(l), p, e)) {
        line_last(l)->count++;
    } else {
        if (line_needs_piece(l))
            piece_add(q, l, p->slab);
        l->last->at[l->to++] = *e;
    }
    l->last_time = e->last;
    return true;
}

/* The one that comes so much later than the head, if it is easily found: runs are mostly long, or
 * of one. */
static uint32_t line_ahead(const struct session_line *l, uint32_t ahead)
{
    const struct session_queued *run = line_first(l);

    if (run->count >= ahead)
        return run->session + ahead;
    ahead += l->from;
    return ahead < (l->first == l->last ? l->to : l->first->capacity) ? l->first->at[ahead].session
                                                                      : SESSION_NONE;
}

static FETCH_INLINE void line_fetch(const struct session_line *l, const struct session_pool *p)
{
    uint32_t session;

    if (session_pool_is_small(p))
        return;
    session = line_ahead(l, AHEAD_SESSION);
    if (session != SESSION_NONE)
        __builtin_prefetch(session_at(p, session));
    session = line_ahead(l, AHEAD_RECORDS);
    if (session != SESSION_NONE)
        session_fetch_last(p, session);
}

/* The next one of a run stands there by the time of the one record that it had. If it has more
 * by now, its first time is not later than that, and it will be put right: it is not its last. */
static void line_drop(struct session_queue *q, struct session_line *l, const struct session_pool *p)
{
    struct session_queued *run = line_first(l);

    if (run->count > 0) {
        run->count--;
        run->opened++;
        run->session++;
        run->last = session_first(p, run->session);
    } else if (++l->from == (l->first == l->last ? l->to : l->first->capacity)) {
        piece_drop(q, l, p->slab);
    }
    if (l->first != NULL)
        line_fetch(l, p);
}

/* --- the heap --- */

static struct session_queued *heap_at(const struct session_queue *q, uint64_t i)
{
    return pages_at(&q->heap, sizeof(struct session_queued), i);
}

static void heap_put(struct session_queue *q, struct slab_pool *slab, struct session_queued e)
{
    uint64_t i = q->heap_count, above;

    pages_widen(&q->heap, slab, q->heap_count);
    q->heap_count++;
    while (i > 0 && comes_before(&e, heap_at(q, above = (i - 1) / BRANCHES))) {
        *heap_at(q, i) = *heap_at(q, above);
        i = above;
    }
    *heap_at(q, i) = e;
}

/* Whichever of these four it will be, its own four are looked at next. */
static FETCH_INLINE void fetch_branches(const struct session_queue *q, uint64_t from)
{
    if (from < FETCH_FROM || BRANCHES * (from + BRANCHES) >= q->heap_count)
        return;
    for (uint64_t i = 1; i <= BRANCHES * BRANCHES; i += 2)
        __builtin_prefetch(heap_at(q, BRANCHES * from + i));
}

/* The first of the branches of `i`, or the count. */
static uint64_t first_branch(const struct session_queue *q, uint64_t i)
{
    uint64_t from = BRANCHES * i + 1, first = from, to = from + BRANCHES;

    if (from >= q->heap_count)
        return q->heap_count;
    fetch_branches(q, from);
    for (uint64_t j = from + 1; j < (to < q->heap_count ? to : q->heap_count); j++)
        if (comes_before(heap_at(q, j), heap_at(q, first)))
            first = j;
    return first;
}

/* One has come up to place `i`. */
static FETCH_INLINE void heap_fetch(const struct session_queue *q, const struct session_pool *p,
                                    uint64_t i)
{
    if (session_pool_is_small(p))
        return;
    if (i < AHEAD_HEAP_RECORDS)
        session_fetch_last(p, heap_at(q, i)->session);
    else if (i < AHEAD_HEAP_SESSION)
        __builtin_prefetch(session_at(p, heap_at(q, i)->session));
}

/* Moves `e` from the free place at the top to where it belongs. */
static void sink(struct session_queue *q, const struct session_pool *p, struct session_queued e)
{
    uint64_t i = 0, branch;

    while ((branch = first_branch(q, i)) < q->heap_count && comes_before(heap_at(q, branch), &e)) {
        *heap_at(q, i) = *heap_at(q, branch);
        heap_fetch(q, p, i);
        i = branch;
    }
    *heap_at(q, i) = e;
}

static void heap_drop(struct session_queue *q, const struct session_pool *p)
{
    struct session_queued last = *heap_at(q, --q->heap_count);

    if (q->heap_count > 0)
        sink(q, p, last);
    pages_shrink(&q->heap, p->slab, q->heap_count);
}

/* --- all of them --- */

void session_queue_done(struct session_queue *q, const struct session_pool *p)
{
    for (int i = 0; i < SESSION_LINES; i++)
        while (q->lines[i].first != NULL)
            piece_drop(q, &q->lines[i], p->slab);
    pages_done(&q->heap, p->slab);
    session_queue_init(q);
}

uint64_t session_queue_need(const struct session_queue *q)
{
    bool line = line_needs_piece(&q->lines[0]) || line_needs_piece(&q->lines[1]);
    uint64_t piece = line ? next_piece_size(q) : 0;
    uint64_t heap = pages_growth(&q->heap, q->heap_count);

    return piece > heap ? piece : heap;
}

static void find_head(struct session_queue *q)
{
    const struct session_queued *head = NULL;

    for (unsigned i = 0; i < SESSION_LINES; i++) {
        const struct session_line *l = &q->lines[i];
        if (l->first == NULL || (head != NULL && comes_before(head, line_first(l))))
            continue;
        head = line_first(l);
        q->head_line = i;
    }
    if (q->heap_count > 0 && (head == NULL || comes_before(heap_at(q, 0), head))) {
        head = heap_at(q, 0);
        q->head_line = SESSION_LINES;
    }
    if (head != NULL)
        q->head = *head;
}

static void put(struct session_queue *q, const struct session_pool *p, struct session_queued e)
{
    e.count = 0;
    for (int i = 0; i < SESSION_LINES; i++)
        if (line_put(q, &q->lines[i], p, &e))
            return;
    heap_put(q, p->slab, e);
}

static void put_one_more(struct session_queue *q, const struct session_pool *p,
                         struct session_queued e)
{
    put(q, p, e);
    q->count++;
    find_head(q);
}

void session_queue_put(struct session_queue *q, const struct session_pool *p, uint32_t session,
                       int64_t last)
{
    put_one_more(q, p, (struct session_queued){last, session_at(p, session)->opened, session, 0});
}

static void drop_head(struct session_queue *q, const struct session_pool *p)
{
    if (q->head_line < SESSION_LINES)
        line_drop(q, &q->lines[q->head_line], p);
    else
        heap_drop(q, p);
}

void session_queue_drop(struct session_queue *q, const struct session_pool *p)
{
    assert(q->count > 0);
    drop_head(q, p);
    q->count--;
    find_head(q);
}

void session_queue_move(struct session_queue *from, struct session_queue *to,
                        const struct session_pool *p)
{
    put_one_more(to, p, from->head);
    session_queue_drop(from, p);
}

bool session_queue_refresh(struct session_queue *q, const struct session_pool *p)
{
    struct session_queued e = q->head;

    if (session_is_part(p, e.session)) {
        session_queue_drop(q, p);
        return true;
    }
    e.last = session_last(p, e.session);
    if (e.last == q->head.last)
        return false;
    if (q->head_line == SESSION_LINES) {
        sink(q, p, e);
    } else {
        drop_head(q, p);
        put(q, p, e);
    }
    find_head(q);
    return true;
}
