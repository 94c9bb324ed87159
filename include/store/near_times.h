/*
 * store/near_times: which times 32 bits can tell apart.
 *
 * Most records of a store lie close together in time. Of those that lie in the 2^32 ms (49
 * days) from `base` on the low 32 bits are enough (RECORD_TIME32, record_time_near()). The
 * base goes on by half of that when none of the first half is left, so none that is there
 * is ever behind it; how many there are in each half is counted. While there is none at
 * all the base is where it fits best.
 */
#ifndef STORE_NEAR_TIMES_H
#define STORE_NEAR_TIMES_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

struct near_times {
    int64_t base;      /* milliseconds */
    uint64_t count[2]; /* of records in each half */
};

#define NEAR_TIMES_HALF_MS (INT64_C(1) << 31)

/* Of a time at or after the base: 0, 1, or more, where 32 bits are not enough. */
static inline uint64_t near_times_half(const struct near_times *n, int64_t t)
{
    return ((uint64_t)t - (uint64_t)n->base) / NEAR_TIMES_HALF_MS;
}

/* Are 32 bits enough for a record more? The base may go on for it. */
bool near_times_fit(struct near_times *n, int64_t t);

/* One that fits is there, until it is dropped. */
static inline void near_times_add(struct near_times *n, int64_t t)
{
    assert(near_times_half(n, t) <= 1);
    n->count[near_times_half(n, t)]++;
}

static inline void near_times_drop(struct near_times *n, int64_t t)
{
    assert(near_times_half(n, t) <= 1 && n->count[near_times_half(n, t)] > 0);
    n->count[near_times_half(n, t)]--;
}

#endif
