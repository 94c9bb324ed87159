/*
 * store/reference: 32 bits that say where a record lies.
 *
 * Stores keep records in chunks (struct log_chunk) of at most SLAB_CHUNK_MAX bytes, and
 * their chunks in a directory. A reference is a chunk's place in the directory above the
 * record's place in the chunk, in units of RECORD_ALIGN. Chains of records (of a key, of
 * a session) are linked by references that take the place of the hash in struct record.
 */
#ifndef STORE_REFERENCE_H
#define STORE_REFERENCE_H

#include <assert.h>
#include <stdint.h>

#include "model/record.h"
#include "store/window_log.h"

#define REFERENCE_NONE UINT32_MAX

#define REFERENCE_PLACE_BITS 12
static_assert(SLAB_CHUNK_MAX / RECORD_ALIGN <= 1 << REFERENCE_PLACE_BITS, "a place fits its bits");
static_assert((uint64_t)LOG_CHUNKS_MAX << REFERENCE_PLACE_BITS <= (uint64_t)UINT32_MAX + 1,
              "and all fits 32");

/* `offset` is in bytes from the chunk's first record. */
static inline uint32_t reference_make(uint32_t chunk, uint32_t offset)
{
    return chunk << REFERENCE_PLACE_BITS | offset / RECORD_ALIGN;
}

static inline struct record *reference_record(struct log_chunk *const *chunks, uint32_t ref)
{
    return log_chunk_record(chunks[ref >> REFERENCE_PLACE_BITS],
                            (ref & ((1u << REFERENCE_PLACE_BITS) - 1)) * RECORD_ALIGN);
}

/* The number of arrival of the record at `ref`. */
static inline uint64_t reference_number(struct log_chunk *const *chunks, uint32_t ref)
{
    return chunks[ref >> REFERENCE_PLACE_BITS]->first_number +
           reference_record(chunks, ref)->number;
}

#endif
