#include "base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t hash_bytes(const void *p, size_t n, uint64_t seed)
{
    return XXH3_64bits_withSeed(p, n, seed);
}

/* Multiplications carry low bits upwards, shifts bring high ones back down. */
uint64_t hash_number(uint64_t x)
{
    x += 0x9e3779b97f4a7c15; /* 2^64 / golden ratio, so that 0 does not stay 0 */
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}
