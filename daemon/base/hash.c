#include "base/hash.h"

#include "base/hash_inline.h"

uint64_t hash_bytes(const void *p, size_t n, uint64_t seed)
{
    return hash_bytes_inline(p, n, seed);
}

/* Multiplications carry low bits upwards, shifts bring high ones back down. */
uint64_t hash_number(uint64_t x)
{
    x += 0x9e3779b97f4a7c15; /* 2^64 / golden ratio, so that 0 does not stay 0 */
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}
