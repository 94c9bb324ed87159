/*
 * model/lag: how far apart in time the records of pairs are.
 *
 * The lag of a pair is right time - left time, in milliseconds. Two things are kept of it:
 *
 *     buckets   of |lag|, of every row that is a pair: a histogram for /metrics
 *     cells     of the lag with its sign, of every pair once, and of those that windows
 *               parted (join/near_miss): which interval would have kept how many
 *
 * Cells are logarithmic: each power of two is parted in 128, so that a bound read from
 * them is off by less than 1 % of itself, outwards. Memory is fixed, whatever the lags.
 * No bound is advised beyond LAG_MAX_MS, which no `lower` or `upper` could be.
 *
 * Rules: semantics.md section 6, interface.md section 5.
 */
#ifndef MODEL_LAG_H
#define MODEL_LAG_H

#include <stdbool.h>
#include <stdint.h>

#define LAG_BUCKETS 16
extern const double lag_le_seconds[LAG_BUCKETS];

#define LAG_MAX_MS    (INT64_C(36500) * 86400 * 1000)
#define LAG_CELL_BITS 7                                                     /* of a power of two */
#define LAG_CELLS     ((uint32_t)(64 - LAG_CELL_BITS + 1) << LAG_CELL_BITS) /* of one sign */
#define LAG_NEAR      INT64_C(256)

struct lag {
    /* The first bucket that takes what is from a power of two on, and what buckets take. */
    uint8_t first_bucket[64];
    uint64_t bucket_max_ms[LAG_BUCKETS + 1];

    uint64_t bucket[LAG_BUCKETS + 1]; /* not cumulative; the last one: above all */
    uint64_t sum_ms;
    uint64_t cell[2 * LAG_CELLS]; /* from the lowest lag to the highest; 0 is in the middle */
    uint64_t near[2 * LAG_NEAR];  /* by milliseconds, from -LAG_NEAR on: of lag_add() */
};

/* `l` is all zero. */
void lag_init(struct lag *l);

/* |ms|, for which there is a number even of INT64_MIN. */
static inline uint64_t lag_magnitude(int64_t ms)
{
    uint64_t sign = (uint64_t)(ms >> 63);
    return ((uint64_t)ms ^ sign) - sign;
}

/* The power of two that is in it; not of 0. (With ^ in place of - it is one instruction.) */
static inline unsigned lag_power(uint64_t magnitude)
{
    return 63 ^ (unsigned)__builtin_clzll(magnitude);
}

/* Below 2^8 a cell for each millisecond; then each power of two in 2^LAG_CELL_BITS. */
static inline uint64_t lag_cell(uint64_t magnitude)
{
    uint64_t low = (1u << (LAG_CELL_BITS + 1)) - 1;
    unsigned shift = lag_power(magnitude | low) - LAG_CELL_BITS;
    return ((uint64_t)shift << LAG_CELL_BITS) + (magnitude >> shift);
}

static inline uint64_t *lag_bucket(struct lag *l, int64_t ms)
{
    uint64_t m = lag_magnitude(ms);
    unsigned first = l->first_bucket[lag_power(m | 1)];

    return &l->bucket[first + (m > l->bucket_max_ms[first])];
}

static inline uint64_t *lag_pair_cell(struct lag *l, int64_t ms)
{
    uint64_t sign = (uint64_t)(ms >> 63);
    return &l->cell[LAG_CELLS + (lag_cell(lag_magnitude(ms)) ^ sign)];
}

/* A row that is a pair. */
static inline void lag_add_row(struct lag *l, int64_t ms)
{
    ++*lag_bucket(l, ms);
    l->sum_ms += lag_magnitude(ms);
}

/* A pair, or what would have been one. */
static inline void lag_add_pair(struct lag *l, int64_t ms)
{
    ++*lag_pair_cell(l, ms);
}

/* A pair, and the only row that it gives: both of the above. Most are near: these are only counted,
 * and lag_settle() does the rest. */
static inline void lag_add(struct lag *l, int64_t ms)
{
    uint64_t i = (uint64_t)ms + (uint64_t)LAG_NEAR;

    if (i < 2 * (uint64_t)LAG_NEAR) {
        l->near[i]++;
        return;
    }
    lag_add_row(l, ms);
    lag_add_pair(l, ms);
}

/* Takes those that were near into buckets and cells. For who reads; lag_move() does it itself. */
void lag_settle(struct lag *l);

/* Adds to `to` what is in `from`, none of it larger than `max_ms`, and empties `from`. */
void lag_move(struct lag *to, struct lag *from, int64_t max_ms);

uint64_t lag_pairs(const struct lag *l); /* as added by lag_add_pair() */

/* The bounds that keep at least so many of 10,000 of the pairs, and leave out as many on
 * either side. False: there are none. */
struct lag_bounds {
    int64_t lower_ms, upper_ms;
};
bool lag_keep(const struct lag *l, unsigned share, struct lag_bounds *ret);

#endif
