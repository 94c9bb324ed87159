/*
 * base/buf: a byte buffer that grows at its end and is eaten from its front.
 *
 * Writers of many small pieces ask for room once (buf_reserve), then fill it
 * through a plain pointer and say how far they came (buf_advance).
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/bytes.h"

struct buf {
    char *data;      /* owned */
    size_t head;     /* where the unread bytes start */
    size_t tail;     /* where they end */
    size_t capacity; /* of data */
};

#define BUF_EMPTY ((struct buf){NULL, 0, 0, 0})

void buf_init(struct buf *b);
void buf_done(struct buf *b); /* frees; the buffer is empty and usable again */

static inline size_t buf_length(const struct buf *b)
{
    return b->tail - b->head;
}

/* Never NULL: an empty buffer is the empty string. */
static inline const char *buf_data(const struct buf *b)
{
    return b->data == NULL ? "" : b->data + b->head;
}

static inline struct bytes buf_bytes(const struct buf *b)
{
    return (struct bytes){buf_data(b), buf_length(b)};
}

void buf_grow(struct buf *b, size_t room); /* the slow part of buf_reserve */

/* At least `room` bytes may be written at the pointer returned. May move the
 * bytes that are there. Never NULL. */
static inline char *buf_reserve(struct buf *b, size_t room)
{
    if (b->capacity - b->tail < room || b->data == NULL)
        buf_grow(b, room);
    return b->data + b->tail;
}

static inline void buf_advance(struct buf *b, size_t written)
{
    b->tail += written;
}

static inline void buf_append(struct buf *b, const void *p, size_t n)
{
    char *to = buf_reserve(b, n);
    if (n > 0)
        memcpy(to, p, n);
    b->tail += n;
}

static inline void buf_append_bytes(struct buf *b, struct bytes x)
{
    buf_append(b, x.p, x.n);
}

static inline void buf_append_char(struct buf *b, char c)
{
    *buf_reserve(b, 1) = c;
    b->tail++;
}

void buf_append_text(struct buf *b, const char *text);
void buf_printf(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *b, const char *format, va_list args);

/* Terminates with a NUL that does not count, and returns the whole as text.
 * Owned by the buffer; good until it is changed. */
const char *buf_text(struct buf *b);

/* Takes `n` unread bytes off the front. */
void buf_eat(struct buf *b, size_t n);

/* Forgets all bytes, keeps the memory. */
void buf_clear(struct buf *b);

/* Gives memory back when the buffer is empty and larger than `keep`. */
void buf_trim(struct buf *b, size_t keep);

#endif
