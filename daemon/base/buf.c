#include "base/buf.h"

#include <assert.h>
#include <stdio.h>

#include "base/mem.h"

#define CAPACITY_MIN 64
#define CAPACITY_MAX (SIZE_MAX / 4) /* so that doubling and adding cannot overflow */

void buf_init(struct buf *b)
{
    *b = BUF_EMPTY;
}

void buf_done(struct buf *b)
{
    mem_free(b->data);
    *b = BUF_EMPTY;
}

static bool buf_ok(const struct buf *b)
{
    return b->head <= b->tail && b->tail <= b->capacity && (b->data != NULL || b->capacity == 0);
}

static void move_to_front(struct buf *b)
{
    size_t length = buf_length(b);

    if (b->head > 0)
        memmove(b->data, b->data + b->head, length);
    b->head = 0;
    b->tail = length;
}

/* Bytes are moved only when at least as many have been eaten before them: so
 * each byte that goes through is moved about once, however small the pieces. */
void buf_grow(struct buf *b, size_t room)
{
    size_t length = buf_length(b);
    size_t capacity = b->capacity * 2;

    assert(buf_ok(b) && room <= CAPACITY_MAX - length);
    if (b->data != NULL && b->head >= length && b->capacity - length >= room) {
        move_to_front(b);
        return;
    }
    if (capacity < CAPACITY_MIN)
        capacity = CAPACITY_MIN;
    if (capacity < length + room)
        capacity = length + room;
    move_to_front(b);
    b->data = mem_realloc(b->data, capacity);
    b->capacity = capacity;
    assert(buf_ok(b) && b->capacity - b->tail >= room);
}

void buf_append_text(struct buf *b, const char *text)
{
    buf_append(b, text, strlen(text));
}

void buf_printf(struct buf *b, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    buf_vprintf(b, format, args);
    va_end(args);
}

void buf_vprintf(struct buf *b, const char *format, va_list args)
{
    va_list again;
    char *to = buf_reserve(b, 1);
    int length;

    va_copy(again, args);
    length = vsnprintf(to, b->capacity - b->tail, format, args);
    assert(length >= 0);
    if ((size_t)length >= b->capacity - b->tail) {
        to = buf_reserve(b, (size_t)length + 1);
        vsnprintf(to, (size_t)length + 1, format, again);
    }
    va_end(again);
    buf_advance(b, (size_t)length);
}

const char *buf_text(struct buf *b)
{
    *buf_reserve(b, 1) = '\0';
    return b->data + b->head;
}

void buf_eat(struct buf *b, size_t n)
{
    assert(buf_ok(b) && n <= buf_length(b));
    b->head += n;
    if (b->head == b->tail)
        buf_clear(b);
}

void buf_clear(struct buf *b)
{
    b->head = 0;
    b->tail = 0;
}

void buf_trim(struct buf *b, size_t keep)
{
    if (buf_length(b) == 0 && b->capacity > keep)
        buf_done(b);
}
