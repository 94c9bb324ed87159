/*
 * A log, and records whose bodies say their numbers.
 */
#ifndef UNIT_STORE_WINDOW_LOG_FIXTURE_H
#define UNIT_STORE_WINDOW_LOG_FIXTURE_H

#include "unit.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "recount.h"
#include "store/window_log.h"

#define ANY_ROOM    UINT64_MAX
#define HEADER      sizeof(struct log_chunk)
#define STRIDE_MIN  sizeof(struct record)
#define POINTER     sizeof(struct log_chunk *)
#define EMPTY_BYTES sizeof(struct log_part)

struct log_fixture {
    struct slab_pool *pool;
    struct window_log log;
};

static inline struct log_fixture open_log(void)
{
    struct log_fixture f = {.pool = slab_pool_new()};

    window_log_init(&f.log, 0);
    return f;
}

/* All that the log took from the pool is back there. */
static inline void close_log(struct log_fixture *f)
{
    window_log_done(&f->log, f->pool);
    assert_int_equal(slab_used(f->pool), 0);
    slab_pool_free(f->pool);
}

/* What a record of number `n` says: its number again and again, `size` bytes. */
static inline void body_of(uint64_t n, size_t size, char *to)
{
    for (size_t i = 0; i < size; i++)
        to[i] = (char)('a' + (n * 7 + i) % 26);
}

static inline bool append_within(struct log_fixture *f, uint32_t hash, size_t body_size,
                                 uint64_t number, uint64_t room)
{
    char *body = mem_alloc(body_size);
    struct record_parts parts = {.hash = hash, .body = {body, body_size}, .key = {body, 0}};
    bool done;

    body_of(number, body_size, body);
    done = window_log_append(&f->log, f->pool, &parts, number, room);
    mem_free(body);
    return done;
}

static inline void append(struct log_fixture *f, uint32_t hash, size_t body_size, uint64_t number)
{
    assert_true(append_within(f, hash, body_size, number, ANY_ROOM));
}

/* --- looking at all records --- */

struct look {
    const struct log_part *part;
    uint32_t chunk, offset;
};

static inline struct record *look_next(struct look *at, uint64_t *ret_number)
{
    for (; at->chunk < at->part->count; at->chunk++, at->offset = 0) {
        const struct log_chunk *c = at->part->chunks[at->chunk];
        if (at->offset < log_chunk_used(at->part, at->chunk)) {
            struct record *r = log_chunk_record(c, at->offset);
            /* A walk's references reach no further: join/window_walk. */
            assert_true(at->offset < SLAB_CHUNK_MAX);
            assert_true(HEADER + at->offset + record_stride(r) <= c->size);
            at->offset += (uint32_t)record_stride(r);
            *ret_number = c->first_number + r->number;
            return r;
        }
    }
    return NULL;
}

/* Numbers grow, bodies are what was appended, and each record is where its hash says. */
static inline uint64_t assert_part_in_order(const struct window_log *l, uint32_t part)
{
    struct look at = {.part = &l->parts[part]};
    uint64_t count = 0, number = 0, last = 0;
    struct record *r;

    while ((r = look_next(&at, &number)) != NULL) {
        struct bytes body = record_body(r);
        char *expected = mem_alloc(body.n);
        assert_true(count == 0 || number > last);
        body_of(number, body.n, expected);
        assert_memory_equal(body.p, expected, body.n);
        mem_free(expected);
        assert_int_equal(log_part_of(r->hash, l->bits), part);
        last = number;
        count++;
    }
    return count;
}

static inline uint64_t assert_in_order(const struct window_log *l)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < 1u << l->bits; i++)
        count += assert_part_in_order(l, i);
    return count;
}

/* Bytes, counted anew: what came from the pool, and the directories. */
static inline void assert_accounts(const struct log_fixture *f)
{
    const struct window_log *l = &f->log;
    uint64_t chunks = 0, count = 0, directories = sizeof(*l->parts) << l->bits;

    for (uint32_t i = 0; i < 1u << l->bits; i++) {
        uint64_t part = 0;
        for (uint32_t j = 0; j < l->parts[i].count; j++)
            part += l->parts[i].chunks[j]->size;
        assert_int_equal(l->parts[i].bytes, part);
        assert_true(l->parts[i].count <= l->parts[i].capacity);
        chunks += part;
        count += l->parts[i].count;
        directories += l->parts[i].capacity * POINTER;
    }
    assert_int_equal(chunks, slab_used(f->pool));
    assert_int_equal(count, l->chunks);
    assert_int_equal(l->bytes, chunks + directories);
}

static inline void assert_log(const struct log_fixture *f, uint64_t records)
{
    assert_int_equal(assert_in_order(&f->log), records);
    assert_int_equal(f->log.undecided, records);
    assert_int_equal(log_recount(&f->log), records);
    assert_accounts(f);
}

static inline void fill(struct log_fixture *f, uint64_t records)
{
    for (uint64_t n = 0; n < records; n++)
        append(f, (uint32_t)hash_number(n % 300), n % 61 == 0 ? 3000 : n % 45, 2 * n);
}

#endif
