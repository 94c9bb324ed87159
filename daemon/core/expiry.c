#include "core/expiry.h"

#include <assert.h>

void expiry_init(struct expiry *e, const struct arena *arena, int64_t reach)
{
    static const int64_t none;

    *e = (struct expiry){.arena = arena, .base = &none, .reach = reach};
    due_heap_init(&e->heap);
}

static void piece_drop(struct expiry *e, struct slab_pool *pool)
{
    struct expiry_piece *p = e->first;

    e->first = p->next;
    e->from = 0;
    if (e->first == NULL)
        e->last = NULL;
    e->piece_bytes -= p->size;
    slab_give(pool, p, p->size);
}

void expiry_done(struct expiry *e, struct slab_pool *pool)
{
    while (e->first != NULL)
        piece_drop(e, pool);
    due_heap_done(&e->heap, pool);
}

/* --- the queue --- */

static uint32_t *piece_refs(struct expiry_piece *p)
{
    return (uint32_t *)(p + 1);
}

/* An eighth to a quarter of what is there. */
static size_t next_piece_size(const struct expiry *e)
{
    uint64_t wish = e->piece_bytes / 8;
    return slab_round(wish > SLAB_CHUNK_MAX ? SLAB_CHUNK_MAX : wish);
}

static bool queue_needs_piece(const struct expiry *e)
{
    return e->last == NULL || e->to == e->last->capacity;
}

static void piece_add(struct expiry *e, struct slab_pool *pool)
{
    size_t size = next_piece_size(e);
    struct expiry_piece *p = slab_take(pool, size);

    p->next = NULL;
    p->size = (uint32_t)size;
    p->capacity = (uint32_t)((size - sizeof(*p)) / sizeof(uint32_t));
    if (e->last == NULL)
        e->first = p;
    else
        e->last->next = p;
    e->last = p;
    e->to = 0;
    e->piece_bytes += size;
}

static int64_t instant_of(const struct expiry *e, uint32_t ref)
{
    return expiry_instant(e, record_time_near(arena_record(e->arena, ref), *e->base));
}

static void queue_append(struct expiry *e, struct slab_pool *pool, uint32_t ref, int64_t instant)
{
    bool empty = e->first == NULL;

    if (queue_needs_piece(e))
        piece_add(e, pool);
    piece_refs(e->last)[e->to++] = ref;
    if (empty)
        e->first_instant = instant;
    e->before_instant = empty ? INT64_MIN : e->last_instant;
    e->last_instant = instant;
}

static void queue_pop(struct expiry *e, struct slab_pool *pool)
{
    e->from++;
    if (e->from == (e->first == e->last ? e->to : e->first->capacity))
        piece_drop(e, pool);
    if (e->first != NULL)
        e->first_instant = instant_of(e, piece_refs(e->first)[e->from]);
}

static struct due due_of(const struct expiry *e, uint32_t ref, int64_t instant)
{
    return (struct due){instant, (uint32_t)arena_number(e->arena, ref), ref};
}

static bool queue_has_one(const struct expiry *e)
{
    return e->first == e->last && e->from + 1 == e->to;
}

/* The last of the queue is too far ahead: this one takes its place. */
static void queue_replace_last(struct expiry *e, struct slab_pool *pool, uint32_t ref,
                               int64_t instant)
{
    uint32_t *last = &piece_refs(e->last)[e->to - 1];

    due_heap_add(&e->heap, pool, due_of(e, *last, e->last_instant));
    *last = ref;
    e->last_instant = instant;
    if (queue_has_one(e))
        e->first_instant = instant;
}

/* --- both --- */

uint64_t expiry_growth(const struct expiry *e)
{
    uint64_t queue = queue_needs_piece(e) ? next_piece_size(e) : 0;
    uint64_t heap = due_heap_growth(&e->heap);

    return queue > heap ? queue : heap;
}

void expiry_add(struct expiry *e, struct slab_pool *pool, uint32_t ref)
{
    int64_t instant = instant_of(e, ref);

    if (e->first == NULL || instant >= e->last_instant)
        queue_append(e, pool, ref, instant);
    else if (instant >= e->before_instant)
        queue_replace_last(e, pool, ref, instant);
    else
        due_heap_add(&e->heap, pool, due_of(e, ref, instant));
}

/* Is the first of the queue the first of all? */
static bool queue_is_first(const struct expiry *e)
{
    const struct due *due = due_heap_first(&e->heap);
    struct due queued;

    if (e->first == NULL || due == NULL)
        return e->first != NULL;
    if (e->first_instant != due->instant)
        return e->first_instant < due->instant;
    queued = due_of(e, piece_refs(e->first)[e->from], e->first_instant);
    return due_before(&queued, due);
}

bool expiry_first(const struct expiry *e, int64_t *ret_instant, uint32_t *ret_ref)
{
    const struct due *due = due_heap_first(&e->heap);

    if (e->first == NULL && due == NULL)
        return false;
    if (queue_is_first(e)) {
        *ret_instant = e->first_instant;
        *ret_ref = piece_refs(e->first)[e->from];
    } else {
        *ret_instant = due->instant;
        *ret_ref = due->ref;
    }
    return true;
}

size_t expiry_ahead(const struct expiry *e, uint32_t *ret_refs, size_t max)
{
    uint32_t to, n = 0;

    if (e->first == NULL)
        return 0;
    to = e->first == e->last ? e->to - 1 : e->first->capacity; /* the last may be replaced */
    for (uint32_t i = e->from; i < to && n < max; i++)
        ret_refs[n++] = piece_refs(e->first)[i];
    return n;
}

void expiry_pop(struct expiry *e, struct slab_pool *pool)
{
    assert(e->first != NULL || e->heap.count > 0);
    if (queue_is_first(e))
        queue_pop(e, pool);
    else
        due_heap_pop(&e->heap, pool);
}
