#include "base/fifo.h"

uint64_t fifo_next(const struct fifo *f)
{
    uint64_t wish = f->bytes / 8;
    return slab_round(wish > SLAB_CHUNK_MAX ? SLAB_CHUNK_MAX : wish);
}

static bool fifo_ok(const struct fifo *f)
{
    if (fifo_is_empty(f))
        return f->tail == NULL && f->bytes == 0;
    return f->tail != NULL && f->tail->next == NULL && f->to > 0 && f->to <= f->tail->capacity &&
           f->from < (f->head == f->tail ? f->to : f->head->capacity);
}

static void chunk_add(struct fifo *f, struct slab_pool *pool, size_t item_size)
{
    size_t size = fifo_next(f);
    struct fifo_chunk *c = slab_take(pool, size);

    assert(fifo_ok(f));
    *c = (struct fifo_chunk){
        .size = (uint32_t)size,
        .capacity = (uint32_t)((size - sizeof(*c)) / item_size),
    };
    if (f->tail == NULL)
        f->head = c;
    else
        f->tail->next = c;
    f->tail = c;
    f->to = 0;
    f->bytes += size;
}

static void chunk_drop(struct fifo *f, struct slab_pool *pool)
{
    struct fifo_chunk *c = f->head;

    f->head = c->next;
    f->from = 0;
    if (f->head == NULL)
        f->tail = NULL;
    f->bytes -= c->size;
    slab_give(pool, c, c->size);
    assert(fifo_ok(f));
}

void fifo_done(struct fifo *f, struct slab_pool *pool)
{
    while (!fifo_is_empty(f))
        chunk_drop(f, pool);
    assert(f->bytes == 0);
}

void *fifo_add(struct fifo *f, struct slab_pool *pool, size_t item_size)
{
    assert(item_size > 0);
    if (fifo_is_full(f))
        chunk_add(f, pool, item_size);
    f->to++;
    return fifo_last(f, item_size);
}

void fifo_drop(struct fifo *f, struct slab_pool *pool)
{
    if (fifo_row(f) == 1)
        chunk_drop(f, pool);
    else
        f->from++;
}
