/*
 * base/hash: seeded hashes of keys.
 *
 * Keys come from outside, so the seed is random unless process.hash_seed asks
 * for repeatable order: nobody can prepare keys that all fall into one place.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t hash_bytes(const void *p, size_t n, uint64_t seed);

/* Mixes all bits of a number, e.g. to spread records that have no key. */
uint64_t hash_number(uint64_t x);

#endif
