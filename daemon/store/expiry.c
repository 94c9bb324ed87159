#include "store/expiry.h"

#include <assert.h>

/* --- the heap --- */

static bool due_before(const void *x, const void *y)
{
    const struct due *a = x, *b = y;
    return a->instant != b->instant ? a->instant < b->instant : (int32_t)(a->tie - b->tie) < 0;
}

static const struct heap_order by_instant = {sizeof(struct due), due_before};

static void due_add(struct expiry *e, struct slab_pool *pool, struct due due)
{
    heap_add(&e->heap, &by_instant, pool, &due);
}

void expiry_init(struct expiry *e, const struct arena *arena, int64_t reach)
{
    static const int64_t none;

    *e = (struct expiry){.arena = arena, .base = &none, .reach = reach};
    heap_init(&e->heap, &by_instant);
}

/* The queue is in order, and the head is the first of both. */
static bool expiry_ok(const struct expiry *e)
{
    const struct due *first = heap_first(&e->heap, &by_instant);

    if (!fifo_is_empty(&e->runs) && e->before_instant > e->last_instant)
        return false;
    if (e->head_is_queued)
        return !fifo_is_empty(&e->runs) && e->head.instant <= e->last_instant;
    return first == NULL ? fifo_is_empty(&e->runs) : e->head.ref == first->ref;
}

void expiry_done(struct expiry *e, struct slab_pool *pool)
{
    fifo_done(&e->runs, pool);
    heap_done(&e->heap, pool);
}

/* --- the queue --- */

static struct expiry_run *first_run(const struct expiry *e)
{
    return fifo_first(&e->runs, sizeof(struct expiry_run));
}

static struct expiry_run *last_run(const struct expiry *e)
{
    return fifo_last(&e->runs, sizeof(struct expiry_run));
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
    struct expiry_run *run = fifo_add(&e->runs, pool, sizeof(*run));

    *run = (struct expiry_run){due->ref, 1, due->tie};
}

static void queue_append(struct expiry *e, struct slab_pool *pool, const struct due *due)
{
    struct expiry_run *run = fifo_is_empty(&e->runs) ? NULL : last_run(e);

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
    } else {
        fifo_drop(&e->runs, pool);
    }
}

/* The last of the queue is too far ahead: this one takes its place. */
static void queue_replace_last(struct expiry *e, struct slab_pool *pool, const struct due *due)
{
    struct expiry_run *run = last_run(e);

    --run->count;
    due_add(e, pool, (struct due){e->last_instant, run->tie + run->count, e->last_ref});
    if (run->count > 0)
        run_add(e, pool, due);
    else
        *run = (struct expiry_run){due->ref, 1, due->tie};
    queue_end(e, due);
}

/* --- both --- */

static void find_head(struct expiry *e)
{
    const struct due *first = heap_first(&e->heap, &by_instant);

    e->head_is_queued = false;
    if (!fifo_is_empty(&e->runs)) {
        const struct expiry_run *run = first_run(e);
        e->head = (struct due){instant_of(e, run->ref), run->tie, run->ref};
        e->head_is_queued = first == NULL || due_before(&e->head, first);
    }
    if (!e->head_is_queued && first != NULL)
        e->head = *first;
}

uint64_t expiry_growth(const struct expiry *e)
{
    return fifo_growth(&e->runs) + heap_growth(&e->heap);
}

void expiry_add(struct expiry *e, struct slab_pool *pool, uint32_t ref)
{
    struct due due = {instant_of(e, ref), e->added++, ref};
    bool first = expiry_is_empty(e) || due.instant < e->head.instant;

    if (fifo_is_empty(&e->runs) || due.instant >= e->last_instant)
        queue_append(e, pool, &due);
    else if (due.instant >= e->before_instant)
        queue_replace_last(e, pool, &due);
    else
        due_add(e, pool, due);
    if (first)
        find_head(e);
}

size_t expiry_ahead(const struct expiry *e, uint32_t *ret_refs, size_t max)
{
    const struct expiry_run *run, *end;
    size_t n = 0;

    if (fifo_is_empty(&e->runs))
        return 0;
    run = first_run(e);
    for (end = run + fifo_row(&e->runs); run < end && n < max; run++) {
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

/* Ties may have passed 2^32 since; none that is there is further back. */
static void tell(const struct expiry *e, uint32_t ref, uint32_t tie, const struct held_listener *to)
{
    held_tell(to, arena_record(e->arena, ref), *e->base,
              (UINT64_C(1) << 32) - (uint32_t)(e->added - tie));
}

static void list_run(const struct expiry *e, const struct expiry_run *run,
                     const struct held_listener *to)
{
    uint32_t ref = run->ref;

    for (uint32_t i = 0; i < run->count; i++, ref = behind(e, ref))
        tell(e, ref, run->tie + i, to);
}

void expiry_list(const struct expiry *e, const struct held_listener *to)
{
    struct fifo_place at = FIFO_START;

    while (fifo_next_place(&e->runs, &at))
        list_run(e, fifo_at(at, sizeof(struct expiry_run)), to);
    for (uint64_t i = 0; i < e->heap.count; i++) {
        const struct due *due = heap_at(&e->heap, &by_instant, i);
        tell(e, due->ref, due->tie, to);
    }
}

void expiry_pop(struct expiry *e, struct slab_pool *pool)
{
    assert(!expiry_is_empty(e) && expiry_ok(e));
    if (e->head_is_queued)
        queue_pop(e, pool);
    else
        heap_pop(&e->heap, &by_instant, pool);
    find_head(e);
}
