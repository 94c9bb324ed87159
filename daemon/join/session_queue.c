#include "join/session_queue.h"

#include <assert.h>

#include "base/fetch.h"

/* What will be looked at is fetched: a session, while so many others of its line stand before it,
 * or once it has come so far up in the heap; then its last records, by which it ends. */
#define AHEAD_SESSION      16
#define AHEAD_RECORDS      8
#define AHEAD_HEAP_SESSION 21
#define AHEAD_HEAP_RECORDS 5

static bool comes_before(const void *x, const void *y)
{
    const struct session_queued *a = x, *b = y;
    return a->last != b->last ? a->last < b->last : a->opened < b->opened;
}

static const struct heap_order by_last = {sizeof(struct session_queued), comes_before};

void session_queue_init(struct session_queue *q)
{
    *q = (struct session_queue){0};
    heap_init(&q->heap, &by_last);
}

void session_queue_done(struct session_queue *q, const struct session_pool *p)
{
    for (int i = 0; i < SESSION_LINES; i++)
        fifo_done(&q->lines[i].runs, p->slab);
    heap_done(&q->heap, p->slab);
    session_queue_init(q);
}

/* --- lines --- */

static bool line_is_empty(const struct session_line *l)
{
    return fifo_is_empty(&l->runs);
}

static struct session_queued *line_first(const struct session_line *l)
{
    return fifo_first(&l->runs, sizeof(struct session_queued));
}

static struct session_queued *line_last(const struct session_line *l)
{
    return fifo_last(&l->runs, sizeof(struct session_queued));
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
static bool line_put(struct session_line *l, const struct session_pool *p,
                     const struct session_queued *e)
{
    if (!line_is_empty(l) && comes_before_last(l, e))
        return false;
    if (!line_is_empty(l) && run_takes(line_last(l), p, e))
        line_last(l)->count++;
    else
        *(struct session_queued *)fifo_add(&l->runs, p->slab, sizeof(*e)) = *e;
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
    return ahead < fifo_row(&l->runs) ? run[ahead].session : SESSION_NONE;
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
static void line_drop(struct session_line *l, const struct session_pool *p)
{
    struct session_queued *run = line_first(l);

    if (run->count > 0) {
        run->count--;
        run->opened++;
        run->session++;
        run->last = session_first(p, run->session);
    } else {
        fifo_drop(&l->runs, p->slab);
    }
    if (!line_is_empty(l))
        line_fetch(l, p);
}

/* --- the heap --- */

/* Others have come up by one, on the way to place `rest`. */
static FETCH_INLINE void heap_fetch(const struct session_queue *q, const struct session_pool *p,
                                    uint64_t rest)
{
    if (session_pool_is_small(p))
        return;
    while (rest > 0) {
        const struct session_queued *e = heap_at(&q->heap, &by_last, rest = heap_above(rest));
        if (rest < AHEAD_HEAP_RECORDS)
            session_fetch_last(p, e->session);
        else if (rest < AHEAD_HEAP_SESSION)
            __builtin_prefetch(session_at(p, e->session));
    }
}

/* --- all of them --- */

uint64_t session_queue_need(const struct session_queue *q)
{
    uint64_t need = heap_growth(&q->heap);

    for (int i = 0; i < SESSION_LINES; i++)
        if (need < fifo_growth(&q->lines[i].runs))
            need = fifo_growth(&q->lines[i].runs);
    return need;
}

static void find_head(struct session_queue *q)
{
    const struct session_queued *head = heap_first(&q->heap, &by_last);

    q->head_line = SESSION_LINES;
    for (unsigned i = 0; i < SESSION_LINES; i++) {
        const struct session_line *l = &q->lines[i];
        if (line_is_empty(l) || (head != NULL && comes_before(head, line_first(l))))
            continue;
        head = line_first(l);
        q->head_line = i;
    }
    assert((head == NULL) == (q->count == 0));
    if (head != NULL)
        q->head = *head;
}

static void put(struct session_queue *q, const struct session_pool *p, struct session_queued e)
{
    e.count = 0;
    for (int i = 0; i < SESSION_LINES; i++)
        if (line_put(&q->lines[i], p, &e))
            return;
    heap_add(&q->heap, &by_last, p->slab, &e);
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
        line_drop(&q->lines[q->head_line], p);
    else
        heap_fetch(q, p, heap_pop(&q->heap, &by_last, p->slab));
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

    assert(q->count > 0);
    if (session_is_part(p, e.session)) {
        session_queue_drop(q, p);
        return true;
    }
    e.last = session_last(p, e.session);
    assert(e.last >= q->head.last);
    if (e.last == q->head.last)
        return false;
    if (q->head_line == SESSION_LINES) {
        heap_fetch(q, p, heap_renew(&q->heap, &by_last, &e));
    } else {
        drop_head(q, p);
        put(q, p, e);
    }
    find_head(q);
    return true;
}
