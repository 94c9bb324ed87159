/*
 * base/fifo: items of one size, first in, first out.
 *
 * They lie in chunks of a pool, each an eighth to a quarter of what is there, and do not
 * move; a chunk goes back when its last item is taken. The size is said with each call, as a
 * constant.
 */
#ifndef BASE_FIFO_H
#define BASE_FIFO_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/slab.h"

/* Items follow it. */
struct fifo_chunk {
    struct fifo_chunk *next;
    uint32_t size; /* as it was taken from the pool */
    uint32_t capacity;
};

/* All zero: it is empty, and takes no memory. */
struct fifo {
    struct fifo_chunk *head, *tail; /* owned, with all between them; NULL: it is empty */
    uint32_t from, to;              /* the first item in `head`, and behind the last in `tail` */
    uint64_t bytes;                 /* all that is allocated: counts as state */
};

void fifo_done(struct fifo *f, struct slab_pool *pool);

/* One more behind the last, to be filled in by the caller. */
void *fifo_add(struct fifo *f, struct slab_pool *pool, size_t item_size);
/* Takes the first away. */
void fifo_drop(struct fifo *f, struct slab_pool *pool);

static inline bool fifo_is_empty(const struct fifo *f)
{
    return f->head == NULL;
}

static inline bool fifo_is_full(const struct fifo *f)
{
    return fifo_is_empty(f) || f->to == f->tail->capacity;
}

/* What the next fifo_add() allocates. */
uint64_t fifo_next(const struct fifo *f);
static inline uint64_t fifo_growth(const struct fifo *f)
{
    return fifo_is_full(f) ? fifo_next(f) : 0;
}

/* So many lie behind each other from the first on; others may follow them elsewhere. */
static inline uint32_t fifo_row(const struct fifo *f)
{
    assert(!fifo_is_empty(f));
    return (f->head == f->tail ? f->to : f->head->capacity) - f->from;
}

static inline void *fifo_first(const struct fifo *f, size_t item_size)
{
    assert(!fifo_is_empty(f));
    return (char *)(f->head + 1) + f->from * item_size;
}

/* One item after the other: false when there are no more. */
struct fifo_place {
    const struct fifo_chunk *chunk; /* NULL: before the first */
    uint32_t i;
};
#define FIFO_START ((struct fifo_place){NULL, 0})
static inline bool fifo_next_place(const struct fifo *f, struct fifo_place *p)
{
    if (p->chunk == NULL)
        *p = (struct fifo_place){f->head, f->from};
    else if (++p->i == p->chunk->capacity)
        *p = (struct fifo_place){p->chunk->next, 0};
    return p->chunk != NULL && !(p->chunk == f->tail && p->i == f->to);
}

static inline const void *fifo_at(struct fifo_place p, size_t item_size)
{
    return (const char *)(p.chunk + 1) + p.i * item_size;
}

static inline void *fifo_last(const struct fifo *f, size_t item_size)
{
    assert(!fifo_is_empty(f));
    return (char *)(f->tail + 1) + (f->to - 1) * item_size;
}

#endif
