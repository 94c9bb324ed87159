#include "core/session_queue.h"

#include "base/mem.h"

#define CAPACITY_MIN 8

void session_queue_init(struct session_queue *q)
{
    *q = (struct session_queue){0};
}

void session_queue_done(struct session_queue *q)
{
    mem_free(q->at);
    session_queue_init(q);
}

static void resize(struct session_queue *q, size_t capacity)
{
    q->at = mem_realloc(q->at, capacity * sizeof(*q->at));
    q->capacity = capacity;
}

static size_t grown(const struct session_queue *q)
{
    return q->capacity == 0 ? CAPACITY_MIN : 2 * q->capacity;
}

uint64_t session_queue_need(const struct session_queue *q)
{
    return q->count < q->capacity ? 0 : (grown(q) - q->capacity) * sizeof(*q->at);
}

static bool comes_before(const struct session_pool *p, const struct session_queued *a,
                         const struct session_queued *b)
{
    if (a->last != b->last)
        return a->last < b->last;
    return session_at(p, a->session)->opened < session_at(p, b->session)->opened;
}

/* Moves `e` from the free place `i` towards the head. */
static void rise(struct session_queue *q, const struct session_pool *p, size_t i,
                 struct session_queued e)
{
    for (; i > 0 && comes_before(p, &e, &q->at[(i - 1) / 2]); i = (i - 1) / 2)
        q->at[i] = q->at[(i - 1) / 2];
    q->at[i] = e;
}

/* Moves `e` from the free place at the head to where it belongs. */
static void sink(struct session_queue *q, const struct session_pool *p, struct session_queued e)
{
    size_t i = 0, child;

    for (; (child = 2 * i + 1) < q->count; i = child) {
        if (child + 1 < q->count && comes_before(p, &q->at[child + 1], &q->at[child]))
            child++;
        if (!comes_before(p, &q->at[child], &e))
            break;
        q->at[i] = q->at[child];
    }
    q->at[i] = e;
}

void session_queue_put(struct session_queue *q, const struct session_pool *p, uint32_t session)
{
    if (q->count == q->capacity)
        resize(q, grown(q));
    q->count++;
    rise(q, p, q->count - 1, (struct session_queued){session_at(p, session)->last, session});
}

void session_queue_drop(struct session_queue *q, const struct session_pool *p)
{
    assert(q->count > 0);
    if (--q->count == 0) {
        session_queue_done(q);
        return;
    }
    sink(q, p, q->at[q->count]);
    if (q->count < q->capacity / 4 && q->capacity > CAPACITY_MIN)
        resize(q, q->capacity / 2);
}

bool session_queue_refresh(struct session_queue *q, const struct session_pool *p)
{
    struct session_queued head = q->at[0];
    const struct session *s = session_at(p, head.session);

    if (s->part) {
        session_queue_drop(q, p);
        return true;
    }
    if (s->last == head.last)
        return false;
    head.last = s->last;
    sink(q, p, head);
    return true;
}
