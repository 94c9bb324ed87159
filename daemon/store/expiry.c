#include "store/expiry.h"

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

static struct expiry_run *first_run(const struct expiry *e)
{
    return &e->first->runs[e->from];
}

static struct expiry_run *last_run(const struct expiry *e)
{
    return &e->last->runs[e->to - 1];
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
    p->capacity = (uint32_t)((size - sizeof(*p)) / sizeof(p->runs[0]));
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

/* Where the next one of a run lies. Behind a large record no reference is meant to lead, but
 * this one does: it is reckoned in no other way. */
static uint32_t behind(const struct expiry *e, uint32_t ref)
{
    size_t stride = e->arena->prefix + record_stride(arena_record(e->arena, ref));
    return ref + (uint32_t)(stride / RECORD_ALIGN);
}

static void queue_end(struct expiry *e, const struct due *last)
{
    e->last_instant = last->instant;
    e->last_ref = last->ref;
    e->behind = behind(e, last->ref);
}

static void run_add(struct expiry *e, struct slab_pool *pool, const struct due *due)
{
    if (queue_needs_piece(e))
        piece_add(e, pool);
    e->last->runs[e->to++] = (struct expiry_run){due->ref, 1, due->tie};
}

static void queue_append(struct expiry *e, struct slab_pool *pool, const struct due *due)
{
    struct expiry_run *run = e->first == NULL ? NULL : last_run(e);

    e->before_instant = run == NULL ? INT64_MIN : e->last_instant;
    if (run != NULL && due->ref == e->behind && due->tie == run->tie + run->count)
        run->count++;
    else
        run_add(e, pool, due);
    queue_end(e, due);
}

static void queue_pop(struct expiry *e, struct slab_pool *pool)
{
    struct expiry_run *run = first_run(e);

    if (--run->count > 0) {
        run->ref = behind(e, run->ref);
        run->tie++;
    } else if (++e->from == (e->first == e->last ? e->to : e->first->capacity)) {
        piece_drop(e, pool);
    }
}

/* The last of the queue is too far ahead: this one takes its place. */
static void queue_replace_last(struct expiry *e, struct slab_pool *pool, const struct due *due)
{
    struct expiry_run *run = last_run(e);

    --run->count;
    due_heap_add(&e->heap, pool, (struct due){e->last_instant, run->tie + run->count, e->last_ref});
    if (run->count > 0)
        run_add(e, pool, due);
    else
        *run = (struct expiry_run){due->ref, 1, due->tie};
    queue_end(e, due);
}

/* --- both --- */

static void find_head(struct expiry *e)
{
    const struct due *first = due_heap_first(&e->heap);

    e->head_is_queued = false;
    if (e->first != NULL) {
        const struct expiry_run *run = first_run(e);
        e->head = (struct due){instant_of(e, run->ref), run->tie, run->ref};
        e->head_is_queued = first == NULL || due_before(&e->head, first);
    }
    if (!e->head_is_queued && first != NULL)
        e->head = *first;
}

uint64_t expiry_growth(const struct expiry *e)
{
    return (queue_needs_piece(e) ? next_piece_size(e) : 0) + due_heap_growth(&e->heap);
}

void expiry_add(struct expiry *e, struct slab_pool *pool, uint32_t ref)
{
    struct due due = {instant_of(e, ref), e->added++, ref};
    bool first = expiry_is_empty(e) || due.instant < e->head.instant;

    if (e->first == NULL || due.instant >= e->last_instant)
        queue_append(e, pool, &due);
    else if (due.instant >= e->before_instant)
        queue_replace_last(e, pool, &due);
    else
        due_heap_add(&e->heap, pool, due);
    if (first)
        find_head(e);
}

size_t expiry_ahead(const struct expiry *e, uint32_t *ret_refs, size_t max)
{
    const struct expiry_run *run, *end;
    size_t n = 0;

    if (e->first == NULL)
        return 0;
    end = e->first->runs + (e->first == e->last ? e->to : e->first->capacity);
    for (run = first_run(e); run < end && n < max; run++) {
        uint32_t ref = run->ref;
        for (uint32_t i = 0; i < run->count && n < max; i++) {
            if (ref == e->last_ref)
                return n; /* it may be replaced */
            ret_refs[n++] = ref;
            ref = behind(e, ref);
        }
    }
    return n;
}

void expiry_pop(struct expiry *e, struct slab_pool *pool)
{
    assert(!expiry_is_empty(e));
    if (e->head_is_queued)
        queue_pop(e, pool);
    else
        due_heap_pop(&e->heap, pool);
    find_head(e);
}
