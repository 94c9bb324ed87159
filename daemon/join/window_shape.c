#include "join/window_shape.h"

#include <assert.h>

/* From so many bytes of a side on, so many bits. What is looked up in a partition is to fit the
 * second cache; but records are appended the faster the fewer partitions there are. */
static const struct step {
    uint64_t bytes;
    unsigned bits;
} steps[] = {
    {0, 0},
    {PANE_PART_FROM, PANE_PART_BITS},
    {UINT64_C(4) << 20, 5},
    {UINT64_C(16) << 20, 7},
    {UINT64_C(64) << 20, WINDOW_LOG_BITS_MAX},
};
#define STEPS (sizeof(steps) / sizeof(steps[0]))

/* A pane of a window is parted so finely only if it has so much for each partition. */
#define PART_LEAST_BYTES 1024
/* How often the records of a window may be passed over, on the average, for its panes are
 * parted less finely than it should be walked. Each time costs about what finer parts gain. */
#define PASSES_MAX 2

static uint64_t side_bytes_max(const struct pane *p)
{
    uint64_t left = p->side[SIDE_LEFT].bytes, right = p->side[SIDE_RIGHT].bytes;
    return left > right ? left : right;
}

static const struct step *step_for(uint64_t bytes)
{
    const struct step *s = &steps[STEPS - 1];

    while (bytes < s->bytes)
        s--;
    return s;
}

/* As this pane, but in so many bits. */
static struct pane_shape shape_like(const struct pane *p, unsigned bits)
{
    struct pane_shape shape = {.bits = bits};

    for (int s = 0; s < SIDES; s++)
        shape.chunk_least[s] = log_chunk_wish(p->side[s].bytes >> bits);
    return shape;
}

struct pane_shape window_shape_like(const struct pane *p)
{
    return shape_like(p, step_for(side_bytes_max(p))->bits);
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

struct pane_shape window_shape_of_panes(struct pane *const *panes, size_t count)
{
    uint64_t largest, bytes = window_bytes(panes, count, &largest);
    const struct step *s = step_for(bytes);

    if (largest != bytes) /* else it is the window */
        while (s->bits > 0 && largest < (uint64_t)PART_LEAST_BYTES << s->bits)
            s--;
    return shape_like(panes[count - 1], s->bits);
}

unsigned window_shape_to_walk(struct pane *const *panes, size_t count)
{
    uint64_t largest, bytes = window_bytes(panes, count, &largest);

    for (unsigned bits = step_for(bytes)->bits;; bits--) {
        uint64_t passes = 0;
        for (size_t i = 0; i < count; i++) {
            unsigned finer = panes[i]->side[SIDE_LEFT].bits;
            passes += side_bytes_max(panes[i]) << (bits > finer ? bits - finer : 0);
        }
        if (bits == 0 || passes <= PASSES_MAX * bytes)
            return bits;
    }
}
