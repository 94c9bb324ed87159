/*
 * model/record: a record as it lies in a store.
 *
 *     +------+--------+-----------+---------+---------+- - - - - -+- - - - -+------+-----+
 *     | hash | number | size,flags| key_off | key_len | time      | wide    | body | key |
 *     | 4    | 4      | 2         | 1       | 1       | 8, 4 or 0 | 12 or 0 | size |     |
 *     +------+--------+-----------+---------+---------+- - - - - -+- - - - -+------+-----+
 *
 * The body is either the line as it was received (verbatim: all its fields are
 * canonical and none is quoted), or packed: for each field a varint, 0 for NULL
 * and otherwise its length + 1, and the field's canonical text.
 *
 * The key is a run of bytes equal for equal keys: where it is one field's text
 * of a verbatim line it lies in the body, else it follows it. Keys of several
 * parts are joined by NUL, which no record can contain.
 *
 * A record that is too large for the small numbers carries wide ones. Its time is kept
 * whole (RECORD_TIMED), or, where its store knows to within 2^32 ms (49 days) when it
 * was, as 32 bits (RECORD_TIME32).
 * Records start at multiples of RECORD_ALIGN; 12 bytes is what each one costs. Its
 * bits say its fate: matched bits lie with the records, nowhere else.
 */
#ifndef MODEL_RECORD_H
#define MODEL_RECORD_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/copy.h"
#include "lang/schema.h"

#define RECORD_ALIGN 4

enum record_flag {
    RECORD_TIME32 = 1 << 8,    /* the low 32 bits of its time lie before its body */
    RECORD_TIMED = 1 << 9,     /* its time does: record_time_size() wants the two side by side */
    RECORD_PAIRED = 1 << 10,   /* it had a match in the window that is being walked */
    RECORD_DECIDED = 1 << 11,  /* its fate is in the books: it is no longer held */
    RECORD_MATCHED = 1 << 12,  /* it had a match */
    RECORD_NULL_KEY = 1 << 13, /* matches nothing */
    RECORD_PACKED = 1 << 14,
    RECORD_WIDE = 1 << 15,
};
#define RECORD_SIZE_MASK 0x00ff

struct record {
    uint32_t hash;   /* of its key; while a walk over its window is under way: a link */
    uint32_t number; /* of arrival on its side, counted from its chunk's first_number; or a link */
    uint16_t size_flags;
    uint8_t key_offset; /* from the start of the body */
    uint8_t key_size;
    /* a time if RECORD_TIMED or RECORD_TIME32, struct record_wide if RECORD_WIDE, the body,
     * the key */
};

struct record_wide {
    uint32_t body_size;
    uint32_t key_offset;
    uint32_t key_size;
};

static_assert(sizeof(struct record) == 12, "the cost of a record");
static_assert(_Alignof(struct record_wide) == RECORD_ALIGN, "it lies behind header and time");

static inline bool record_has(const struct record *r, enum record_flag flag)
{
    return (r->size_flags & flag) != 0;
}

/* What is needed to cut bodies of one side into fields. */
struct record_form {
    size_t field_count;
    char delimiter; /* of verbatim lines */
    struct bytes
        null_text; /* the field text that means NULL in verbatim lines; owned by the plan */
};

/* Bytes of time: right behind the header. */
static inline size_t record_time_size(unsigned flags)
{
    return (flags >> 6) & (RECORD_TIMED | RECORD_TIME32) >> 6;
}
static_assert(RECORD_TIME32 >> 6 == sizeof(uint32_t) && RECORD_TIMED >> 6 == sizeof(int64_t),
              "a flag is the size, 6 bits up");

/* Where its body, its key and its end are, whether wide or not. */
static inline struct record_wide record_sizes(const struct record *r)
{
    struct record_wide w = {
        .body_size = r->size_flags & RECORD_SIZE_MASK,
        .key_offset = r->key_offset,
        .key_size = r->key_size,
    };

    if (record_has(r, RECORD_WIDE)) {
        const void *wide = (const char *)(r + 1) + record_time_size(r->size_flags);
        w = *(const struct record_wide *)wide; /* aligned, as all of a record is */
    }
    return w;
}

/* Bytes between the header and the body. */
static inline size_t record_extra(uint16_t flags)
{
    return ((flags & RECORD_WIDE) != 0 ? sizeof(struct record_wide) : 0) + record_time_size(flags);
}

static inline const char *record_payload(const struct record *r)
{
    return (const char *)(r + 1) + record_extra(r->size_flags);
}

/* Milliseconds since the epoch, of a record that is RECORD_TIMED. */
static inline int64_t record_time(const struct record *r)
{
    int64_t t;

    assert(record_has(r, RECORD_TIMED));
    memcpy(&t, r + 1, sizeof(t));
    return t;
}

/* The same, of one that has its time in either form. With RECORD_TIME32 it is the time in
 * [base, base + 2^32) with those low bits. */
static inline int64_t record_time_near(const struct record *r, int64_t base)
{
    uint32_t low;

    if (record_has(r, RECORD_TIMED))
        return record_time(r);
    assert(record_has(r, RECORD_TIME32));
    memcpy(&low, r + 1, sizeof(low));
    return base + (uint32_t)(low - (uint32_t)base);
}

static inline struct bytes record_body(const struct record *r)
{
    return (struct bytes){record_payload(r), record_sizes(r).body_size};
}

static inline struct bytes record_key(const struct record *r)
{
    struct record_wide w = record_sizes(r);
    return (struct bytes){record_payload(r) + w.key_offset, w.key_size};
}

/* What header, body and a key behind it take in a chunk. */
static inline size_t record_stride_of(struct record_wide w, uint16_t flags)
{
    size_t key_end = (size_t)w.key_offset + w.key_size;
    size_t payload = key_end > w.body_size ? key_end : w.body_size;
    size_t size = sizeof(struct record) + record_extra(flags) + payload;

    return (size + RECORD_ALIGN - 1) & ~(size_t)(RECORD_ALIGN - 1);
}

/* Bytes from this record to the next one in its chunk. */
static inline size_t record_stride(const struct record *r)
{
    return record_stride_of(record_sizes(r), r->size_flags);
}

/* Sets ret_fields[0 .. field_count) to the canonical texts, BYTES_NULL for NULL.
 * They point into the record. */
void record_fields(const struct record *r, const struct record_form *form,
                   struct bytes *ret_fields);

/* A record that is to be stored. */
struct record_parts {
    uint32_t hash;
    struct bytes body;
    struct bytes key; /* key.p lies within body (verbatim), or it will follow the body */
    uint16_t flags;   /* RECORD_NULL_KEY, RECORD_PACKED, RECORD_TIMED or RECORD_TIME32 */
    int64_t time;     /* in milliseconds; stored as the flags say */
};

/* Of one whose store knows to within 2^32 ms when it was. */
static inline uint16_t record_flags_near(uint16_t flags)
{
    return (uint16_t)((flags & ~RECORD_TIMED) | RECORD_TIME32);
}

/* How a record will lie in its store. */
struct record_shape {
    struct record_wide sizes;
    bool wide;
    bool key_behind; /* the body, not in it */
    uint32_t stride; /* bytes that it takes: a multiple of RECORD_ALIGN */
};

static inline bool record_key_in_body(const struct record_parts *p)
{
    return p->key.p >= p->body.p && p->key.p + p->key.n <= p->body.p + p->body.n;
}

static inline void record_shape_any(const struct record_parts *p, struct record_shape *ret)
{
    struct record_wide *w = &ret->sizes;

    ret->key_behind = p->key.n > 0 && !record_key_in_body(p);
    w->body_size = (uint32_t)p->body.n;
    w->key_size = (uint32_t)p->key.n;
    w->key_offset = p->key.n == 0     ? 0
                    : ret->key_behind ? w->body_size
                                      : (uint32_t)(p->key.p - p->body.p);
    ret->wide =
        w->body_size > RECORD_SIZE_MASK || w->key_offset > UINT8_MAX || w->key_size > UINT8_MAX;
    ret->stride =
        (uint32_t)record_stride_of(*w, (uint16_t)(p->flags | (ret->wide ? RECORD_WIDE : 0)));
}

/* Most are plain: short lines, with a short key in them or, if `behind`, behind them. Told by a
 * few compares; 0: it is another one. */
static inline __attribute__((always_inline)) uint32_t
record_plain_stride(const struct record_parts *p, bool behind)
{
    size_t offset = (size_t)((uintptr_t)p->key.p - (uintptr_t)p->body.p);

    if (p->body.n > RECORD_SIZE_MASK ||
        p->key.n - 1 >= (behind ? RECORD_SIZE_MASK : p->body.n) || /* none, or longer */
        (!behind && offset > p->body.n - p->key.n))
        return 0;
    return (uint32_t)((sizeof(struct record) + record_time_size(p->flags) + p->body.n +
                       (behind ? p->key.n : 0) + RECORD_ALIGN - 1) &
                      ~(size_t)(RECORD_ALIGN - 1));
}

static inline void record_shape(const struct record_parts *p, struct record_shape *ret)
{
    uint32_t stride = record_plain_stride(p, false);

    if (stride == 0) {
        record_shape_any(p, ret);
        return;
    }
    ret->sizes.body_size = (uint32_t)p->body.n;
    ret->sizes.key_offset = (uint32_t)(p->key.p - p->body.p);
    ret->sizes.key_size = (uint32_t)p->key.n;
    ret->wide = ret->key_behind = false;
    ret->stride = stride;
}

/* The time as the flags say. Returns where it ends. */
static inline char *record_write_time(const struct record_parts *p, char *to)
{
    uint32_t low = (uint32_t)p->time;

    if ((p->flags & RECORD_TIME32) != 0) {
        memcpy(to, &low, sizeof(low));
        return to + sizeof(low);
    }
    if ((p->flags & RECORD_TIMED) == 0)
        return to;
    memcpy(to, &p->time, sizeof(p->time));
    return to + sizeof(p->time);
}

/* A plain one. */
static inline __attribute__((always_inline)) void
record_write_plain(const struct record_parts *p, bool behind, uint32_t number, struct record *to)
{
    char *end;

    to->hash = p->hash;
    to->number = number;
    to->size_flags = (uint16_t)(p->flags | p->body.n);
    to->key_offset = (uint8_t)(behind ? p->body.n : (size_t)(p->key.p - p->body.p));
    to->key_size = (uint8_t)p->key.n;
    end = copy_bytes(record_write_time(p, (char *)(to + 1)), p->body.p, p->body.n);
    if (behind)
        copy_bytes(end, p->key.p, p->key.n);
}

static inline __attribute__((always_inline)) void record_write(const struct record_parts *p,
                                                               const struct record_shape *s,
                                                               uint32_t number, struct record *to)
{
    char *payload;

    to->hash = p->hash;
    to->number = number;
    to->size_flags = (uint16_t)(p->flags | (s->wide ? RECORD_WIDE : s->sizes.body_size));
    to->key_offset = s->wide ? 0 : (uint8_t)s->sizes.key_offset;
    to->key_size = s->wide ? 0 : (uint8_t)s->sizes.key_size;
    payload = record_write_time(p, (char *)(to + 1));
    if (s->wide) {
        memcpy(payload, &s->sizes, sizeof(s->sizes));
        payload += sizeof(s->sizes);
    }
    payload = copy_bytes(payload, p->body.p, p->body.n);
    if (s->key_behind)
        memcpy(payload, p->key.p, p->key.n);
}

/* The two in one, where speed does not matter. */
static inline size_t record_size(const struct record_parts *p)
{
    struct record_shape s;
    record_shape(p, &s);
    return s.stride;
}

static inline void record_write_parts(const struct record_parts *p, uint32_t number,
                                      struct record *to)
{
    struct record_shape s;
    record_shape(p, &s);
    record_write(p, &s, number, to);
}

/* The most that the packed body of `fields` can take ... */
size_t record_packed_room(const struct bytes *fields, size_t count);

/* ... and writes it, where there is so much room. Returns where it ends. */
char *record_pack(const struct bytes *fields, size_t count, char *to);

/* The field of a packed body that begins at *at, which goes on to the next one; BYTES_NULL for
 * NULL. */
struct bytes record_packed_next(const char **at);

/* One field of a packed body; BYTES_NULL for NULL. */
struct bytes record_packed_field(struct bytes body, size_t field);

#endif
