/* model/dice: all that is random, from one seed. */
#ifndef MODEL_DICE_H
#define MODEL_DICE_H

#include <stdbool.h>
#include <stdint.h>

struct dice {
    uint64_t state;
};

/* splitmix64 */
static inline uint64_t roll(struct dice *d)
{
    uint64_t x = d->state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* 0 <= result < n */
static inline int below(struct dice *d, int n)
{
    return (int)(roll(d) % (uint64_t)n);
}

static inline bool chance(struct dice *d, int percent)
{
    return below(d, 100) < percent;
}

#define PICK(d, list) ((list)[below((d), (int)(sizeof(list) / sizeof((list)[0])))])

#endif
