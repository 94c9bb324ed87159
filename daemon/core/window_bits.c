#include "core/window_bits.h"

/* 256 partitions for windows whose sixteenth would still be large. A pane is parted so finely
 * only if it has PART_LEAST_BYTES for each partition. */
#define PART_MORE_BYTES  (UINT64_C(64) << 20)
#define PART_LEAST_BYTES 1024
/* How often the records of a window may be passed over, on the average, for its panes are
 * parted less finely than it should be walked. */
#define PASSES_MAX 4

static uint64_t side_bytes_max(const struct pane *p)
{
    uint64_t left = p->side[SIDE_LEFT].bytes, right = p->side[SIDE_RIGHT].bytes;
    return left > right ? left : right;
}

static unsigned bits_for(uint64_t bytes)
{
    if (bytes >= PART_MORE_BYTES)
        return WINDOW_LOG_BITS_MAX;
    return bytes >= PANE_PART_FROM ? PANE_PART_BITS : 0;
}

unsigned window_bits_like(const struct pane *p)
{
    return bits_for(side_bytes_max(p));
}

static uint64_t window_bytes(struct pane *const *panes, size_t count, uint64_t *ret_largest_pane)
{
    uint64_t bytes = 0;

    *ret_largest_pane = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t pane = side_bytes_max(panes[i]);
        bytes += pane;
        if (pane > *ret_largest_pane)
            *ret_largest_pane = pane;
    }
    return bytes;
}

unsigned window_bits_of_panes(struct pane *const *panes, size_t count)
{
    uint64_t largest, bytes = window_bytes(panes, count, &largest);
    unsigned bits = bits_for(bytes);

    if (largest == bytes) /* it is the window */
        return bits;
    while (bits > 0 && largest < (uint64_t)PART_LEAST_BYTES << bits)
        bits -= PANE_PART_BITS;
    return bits;
}

unsigned window_bits_to_walk(struct pane *const *panes, size_t count)
{
    uint64_t largest, bytes = window_bytes(panes, count, &largest);

    for (unsigned bits = bits_for(bytes);; bits--) {
        uint64_t passes = 0;
        for (size_t i = 0; i < count; i++) {
            unsigned finer = panes[i]->side[SIDE_LEFT].bits;
            passes += side_bytes_max(panes[i]) << (bits > finer ? bits - finer : 0);
        }
        if (bits == 0 || passes <= PASSES_MAX * bytes)
            return bits;
    }
}
