/*
 * store/window_log: the records of one side of one pane (join/pane), appended.
 *
 * While it fills, nothing is looked up: a record is appended to one of
 * 2^bits partitions, by the top bits of its key's hash, and that is all. When
 * the window is due, a walk (join/window_walk) takes the partitions one by one;
 * each fits a cache. So the cost of a record does not grow with the number of
 * keys. A window starts as one partition with small chunks, for a window with
 * two records may not cost more than a few hundred bytes; window_log_split()
 * parts it when it has grown.
 *
 *     partition:  chunk -> chunk -> chunk     (each: header, records, free room)
 *
 * Records of a partition lie in order of arrival. The log counts those whose
 * fate is not decided yet: that is what `held` in the books means.
 */
#ifndef STORE_WINDOW_LOG_H
#define STORE_WINDOW_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fetch.h"
#include "base/slab.h"
#include "model/record.h"
#include "store/held.h"

#define WINDOW_LOG_BITS_MAX 8
/* A partition has at most so many chunks: a reference to a record has to fit 32 bits. */
#define LOG_CHUNKS_MAX (1u << 20)

struct log_chunk {
    uint64_t first_number; /* what the records' numbers are counted from */
    uint32_t size;         /* of the chunk, with this header, as it was taken from the pool */
    uint32_t used; /* bytes of records; in a log, if another chunk follows: log_chunk_used() */
};

/* What an append asks of the last chunk lies here: headers of chunks, which all start at
 * multiples of their size, would push each other out of the caches. */
struct log_part {
    struct log_chunk *tail;    /* the last chunk, or NULL */
    uint32_t used, room;       /* its bytes of records, and at most */
    struct log_chunk **chunks; /* owned, and so are the chunks */
    uint32_t count, capacity;
    uint64_t bytes; /* of chunks */
};

struct window_log {
    struct log_part *parts; /* owned; 1 << bits */
    uint16_t bits;
    uint16_t chunk_least;  /* bytes; what is known to come to be large begins with large chunks */
    uint32_t chunks;       /* in all partitions */
    uint64_t bytes;        /* all that is allocated: counts as state */
    uint64_t undecided;    /* records held */
    uint64_t first_number; /* of the first record: see window_log_numbers() */
};

/* How large the next chunk of a partition is to be that has so many bytes. A sixteenth, and once
 * rounded up an eighth at most: little is wasted, and the chunks are few. */
static inline uint16_t log_chunk_wish(uint64_t part_bytes)
{
    uint64_t wish = part_bytes / 16;
    return (uint16_t)(wish < SLAB_CHUNK_MAX ? wish : SLAB_CHUNK_MAX);
}

void window_log_init(struct window_log *l, unsigned bits);
void window_log_done(struct window_log *l, struct slab_pool *pool);

static inline uint32_t log_part_of(uint32_t hash, unsigned bits)
{
    return (uint32_t)(((uint64_t)hash << bits) >> 32);
}

static inline struct record *log_chunk_record(const struct log_chunk *c, uint32_t offset)
{
    return (struct record *)((char *)(c + 1) + offset);
}

/* Do all chunks count from the log's first record on? So they do as long as 32 bits are enough
 * for that; what comes later is counted from each chunk's own first record. */
static inline bool window_log_numbers(const struct window_log *l, uint64_t number)
{
    return number - l->first_number <= UINT32_MAX;
}

/* Has the last chunk room, and a number, for one more? */
static inline bool log_part_takes(const struct log_part *p, uint32_t stride, uint64_t number)
{
    return p->used + stride <= p->room && number - p->tail->first_number <= UINT32_MAX;
}

static inline struct record *log_part_end(const struct log_part *p)
{
    return log_chunk_record(p->tail, p->used);
}

/* The bytes of records in one of its chunks. */
static inline uint32_t log_chunk_used(const struct log_part *p, uint32_t chunk)
{
    return chunk + 1 == p->count ? p->used : p->chunks[chunk]->used;
}

/* A chunk's records, and as if they lay behind these, those of the next chunk. */
struct log_stretch {
    const struct log_chunk *chunk;
    uint32_t number, used;     /* of the chunk */
    const char *here, *behind; /* where offset 0 is for the chunk's records, and for the others */
};

static inline struct log_stretch log_stretch_of(const struct log_part *p, uint32_t number)
{
    const struct log_chunk *c = p->chunks[number];
    const struct log_chunk *next = number + 1 < p->count ? p->chunks[number + 1] : c;
    uint32_t used = log_chunk_used(p, number);

    return (struct log_stretch){
        .chunk = c,
        .number = number,
        .used = used,
        .here = (const char *)(c + 1),
        .behind = (const char *)(next + 1) - used,
    };
}

/* Fetches `n` bytes at `offset`. Behind the last chunk they are any other: no harm. */
static FETCH_INLINE void log_stretch_fetch(const struct log_stretch *s, uint32_t offset, uint32_t n)
{
    fetch_bytes((offset < s->used ? s->here : s->behind) + offset, n);
}

/* The record that was written at the end is there; where the next one will go is by then. */
static inline void log_part_advance(struct log_part *p, uint32_t stride)
{
    p->used += stride;
    fetch_bytes((const char *)log_part_end(p) + FETCH_LINE, stride);
}

/* What most appends are: a plain record's copy into the chunk at hand, nothing else. What holds
 * for many is the caller's: that the log numbers it, and to count the undecided. False: it takes
 * a new chunk. */
static inline __attribute__((always_inline)) bool
window_log_append_plain(const struct window_log *l, const struct record_parts *parts,
                        uint32_t stride, bool behind, uint32_t number_in_log)
{
    struct log_part *p = &l->parts[log_part_of(parts->hash, l->bits)];

    if (p->used + stride > p->room)
        return false;
    record_write_plain(parts, behind, number_in_log, log_part_end(p));
    log_part_advance(p, stride);
    return true;
}

/* Any record, into the chunk at hand. False: it takes a new one. */
bool window_log_append_here(struct window_log *l, const struct record_parts *parts,
                            uint64_t number);

/* Appends a copy. `room` is how many bytes may still be allocated: false if it
 * takes more, or if the partition is full; nothing has changed then. */
bool window_log_append(struct window_log *l, struct slab_pool *pool,
                       const struct record_parts *parts, uint64_t number, uint64_t room);

/* Parts the log anew into 1 << bits partitions; bits > l->bits. Copies all
 * records once, so it is for logs that are still small. */
void window_log_split(struct window_log *l, struct slab_pool *pool, unsigned bits);

/* Puts the chunks of one partition, whose records are all decided, on a pile. */
void window_log_drop_part(struct window_log *l, struct slab_pile *pile, uint32_t part);

/* Gives back chunks of all partitions, a few for each unit of fuel. True: all are gone. */
bool window_log_drop_some(struct window_log *l, struct slab_pool *pool, int64_t *fuel);

/* Tells of all its records: held_tell(). */
void window_log_list(const struct window_log *l, int64_t base, const struct held_listener *to);

#endif
