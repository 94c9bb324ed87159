/*
 * codec/filling: what every decoder does with the batch that it fills.
 *
 * Rows are added at its end. Texts that are not in the input lie in its scratch,
 * which must not move while rows point into it: so before a record is looked into,
 * the most that it can need is asked for, and where there is not so much left, the
 * batch ends before it.
 */
#ifndef CODEC_FILLING_H
#define CODEC_FILLING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "model/batch.h"

#define SCRATCH_MIN ((size_t)16 << 10)

/* More than value_append_canonical() writes, but for types that keep their text. */
#define CANONICAL_ROOM 64

/* Where the next row's fields belong. */
static inline struct bytes *filling_fields(const struct batch *b)
{
    return b->fields + b->count * b->field_count;
}

/* `time`: what the batch tells of the row. */
static inline struct row *filling_add(struct batch *b, struct bytes line, size_t consumed,
                                      int64_t time)
{
    struct row *r = &b->rows[b->count];

    *r = (struct row){
        .line = line,
        .consumed = consumed,
        .reject = REJECT_NONE,
        .verdict = VERDICT_TAKE_PACKED,
        .detail = -1,
    };
    b->times[b->count] = time;
    b->count++;
    return r;
}

/* Is there so much room in the scratch? Always, if nobody points into it. */
static inline bool filling_has_room(struct batch *b, size_t need)
{
    struct buf *s = &b->scratch;

    if (s->data != NULL && s->capacity - s->tail >= need)
        return true;
    if (buf_length(s) > 0)
        return false;
    buf_reserve(s, need > SCRATCH_MIN ? need : SCRATCH_MIN);
    return true;
}

#endif
