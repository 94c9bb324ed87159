/*
 * base/hash_inline: hash_bytes() without the call, for the one place where records
 * go by: keys are short, and the call would cost a quarter of the hash.
 */
#ifndef BASE_HASH_INLINE_H
#define BASE_HASH_INLINE_H

#define XXH_INLINE_ALL
#include <stddef.h>
#include <stdint.h>
#include <xxhash.h>

static inline uint64_t hash_bytes_inline(const void *p, size_t n, uint64_t seed)
{
    return XXH3_64bits_withSeed(p, n, seed);
}

#endif
