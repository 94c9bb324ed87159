#include "model/lag.h"

#include <string.h>

/* Each at least twice the one before: lag_add_row() relies on it. */
const double lag_le_seconds[LAG_BUCKETS] = {
    0.001, 0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600, 21600, 86400,
};

#define SHARE_ALL 10000

void lag_init(struct lag *l)
{
    uint8_t first = 0;

    for (int i = 0; i < LAG_BUCKETS; i++)
        l->bucket_max_ms[i] = (uint64_t)(lag_le_seconds[i] * 1000 + 0.5);
    l->bucket_max_ms[LAG_BUCKETS] = UINT64_MAX;
    for (int power = 0; power < 64; power++) {
        while (l->bucket_max_ms[first] < UINT64_C(1) << power)
            first++;
        l->first_bucket[power] = first;
    }
}

void lag_settle(struct lag *l)
{
    for (size_t i = 0; i < 2 * (size_t)LAG_NEAR; i++) {
        int64_t ms = (int64_t)i - LAG_NEAR;
        uint64_t n = l->near[i];

        if (n == 0)
            continue;
        *lag_bucket(l, ms) += n;
        *lag_pair_cell(l, ms) += n;
        l->sum_ms += n * lag_magnitude(ms);
        l->near[i] = 0;
    }
}

static void move(uint64_t *to, uint64_t *from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] += from[i];
    memset(from, 0, n * sizeof(*from));
}

void lag_move(struct lag *to, struct lag *from, int64_t max_ms)
{
    size_t cells = (size_t)lag_cell((uint64_t)max_ms) + 1; /* of one sign */
    size_t first = LAG_CELLS - cells;

    lag_settle(from);
    move(to->cell + first, from->cell + first, 2 * cells);
    move(to->bucket, from->bucket, LAG_BUCKETS + 1);
    move(&to->sum_ms, &from->sum_ms, 1);
}

uint64_t lag_pairs(const struct lag *l)
{
    uint64_t pairs = 0;

    for (uint32_t i = 0; i < 2 * LAG_CELLS; i++)
        pairs += l->cell[i];
    return pairs;
}

/* The lowest magnitude of a cell of either sign. */
static int64_t cell_low(uint32_t cell)
{
    uint32_t shift = cell >> LAG_CELL_BITS > 1 ? (cell >> LAG_CELL_BITS) - 1 : 0;
    uint64_t low = (uint64_t)(cell - (shift << LAG_CELL_BITS)) << shift;

    return low < (uint64_t)LAG_MAX_MS ? (int64_t)low : LAG_MAX_MS;
}

static int64_t cell_high(uint32_t cell)
{
    int64_t above = cell + 1 < LAG_CELLS ? cell_low(cell + 1) : LAG_MAX_MS;
    return above < LAG_MAX_MS ? above - 1 : LAG_MAX_MS;
}

static int64_t lowest_of(uint32_t i)
{
    return i < LAG_CELLS ? -cell_high(LAG_CELLS - 1 - i) : cell_low(i - LAG_CELLS);
}

static int64_t highest_of(uint32_t i)
{
    return i < LAG_CELLS ? -cell_low(LAG_CELLS - 1 - i) : cell_high(i - LAG_CELLS);
}

bool lag_keep(const struct lag *l, unsigned share, struct lag_bounds *ret)
{
    uint64_t pairs = lag_pairs(l), out_of_all = SHARE_ALL - share, out, passed;
    uint32_t from = 0, to = 2 * LAG_CELLS - 1;

    if (pairs == 0)
        return false;
    out = (pairs / SHARE_ALL * out_of_all + pairs % SHARE_ALL * out_of_all / SHARE_ALL) / 2;
    for (passed = l->cell[from]; passed <= out; passed += l->cell[from])
        from++;
    for (passed = l->cell[to]; passed <= out; passed += l->cell[to])
        to--;
    *ret = (struct lag_bounds){lowest_of(from), highest_of(to)};
    return true;
}
