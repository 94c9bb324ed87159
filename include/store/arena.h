/*
 * store/arena: the records of one side, each of which may leave when it likes.
 *
 * Records are appended to chunks, which begin small and grow with the arena to
 * SLAB_CHUNK_MAX; a larger record has a chunk of its own. A chunk whose records have all
 * gone goes back to the pool at once: mostly records leave about as they came, and
 * that is all there is to do.
 *
 * Where some stay behind for long, chunks would be kept for a few records each. So when
 * more than a quarter of the arena is not in use, records are put where others were: a
 * chunk with free places is filled anew, from its first place to its last, before one
 * is taken from the pool. Records never move.
 *
 *     chunk:  log_chunk | live bytes | (prefix, record) | free place | (prefix, record) ...
 *
 * A free place begins with a struct record that says RECORD_MATCHED and not
 * RECORD_DECIDED, which no record does, and whose number is the place's size.
 *
 * The arena counts the records whose fate is not decided: what `held` in the books means.
 */
#ifndef STORE_ARENA_H
#define STORE_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fetch.h"
#include "base/slab.h"
#include "model/record.h"
#include "store/held.h"
#include "store/reference.h"
#include "store/slots.h"
#include "store/window_log.h"

/* Of a record that is fetched so much is: most have no more. */
#define ARENA_FETCH 48

struct arena {
    struct slots chunks;     /* of struct log_chunk, owned; their slots are in references */
    uint32_t prefix;         /* bytes before each record that are its owner's */
    uint32_t current;        /* the chunk that is filled, or SLOTS_NONE ... */
    uint32_t hole, hole_end; /* ... and the free place there that is filled, as offsets */
    uint32_t cursor;         /* where chunks with free places are looked for next */
    uint64_t records;
    uint64_t chunk_bytes; /* of chunks, as they were taken from the pool */
    uint64_t live_bytes;  /* of records and their prefixes */
    uint64_t undecided;   /* records held */
};

/* `prefix` is a multiple of RECORD_ALIGN. An empty arena takes no memory. */
void arena_init(struct arena *a, uint32_t prefix);
void arena_done(struct arena *a, struct slab_pool *pool); /* records that are left are dropped */

/* Copies a record in. Numbers do not go down from one call to the next. The prefix is the
 * caller's to set. `room` is how many bytes may still be allocated: false if it takes
 * more, or if no reference is left to name it by. No record has moved then; but of many
 * chunks only some were searched for a free place, and the next call looks into others. */
bool arena_add(struct arena *a, struct slab_pool *pool, const struct record_parts *parts,
               uint64_t number, uint64_t room, uint32_t *ret_ref);

/* The record is RECORD_DECIDED, and gone after this. */
void arena_free(struct arena *a, struct slab_pool *pool, uint32_t ref);

/* Good until the next arena_add() or arena_free(). */
static inline struct log_chunk *const *arena_chunks(const struct arena *a)
{
    return (struct log_chunk *const *)a->chunks.at;
}

/* It stays where it is until it is freed. */
static inline struct record *arena_record(const struct arena *a, uint32_t ref)
{
    return reference_record(arena_chunks(a), ref);
}

/* A hint: the record will be read, from its prefix on. */
static FETCH_INLINE void arena_fetch(const struct arena *a, uint32_t ref)
{
    const char *r = (const char *)arena_record(a, ref);

    __builtin_prefetch(r - a->prefix);
    __builtin_prefetch(r + ARENA_FETCH);
}

/* The `prefix` bytes of a record; at a multiple of RECORD_ALIGN. */
static inline void *arena_prefix(const struct arena *a, uint32_t ref)
{
    return (char *)arena_record(a, ref) - a->prefix;
}

/* All that is allocated: counts as state. */
static inline uint64_t arena_bytes(const struct arena *a)
{
    return a->chunk_bytes + slots_bytes(&a->chunks);
}

/* One record after the other, in the order in which they lie (not of arrival):
 * REFERENCE_NONE gives the first, and comes after the last. */
uint32_t arena_next(const struct arena *a, uint32_t ref);

/* Tells of them all, in that order: held_tell(). */
void arena_list(const struct arena *a, int64_t base, const struct held_listener *to);

#endif
