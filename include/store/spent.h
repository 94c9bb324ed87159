/*
 * store/spent: records that have left, while results may still point at them.
 *
 * What a pull told of is good until the next one. Until then a record that leaves is put
 * into a list, linked by its hash; when nothing is lent it is freed at once.
 */
#ifndef STORE_SPENT_H
#define STORE_SPENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slab.h"
#include "lang/side.h"
#include "store/arena.h"
#include "store/reference.h"

struct spent {
    uint32_t first[SIDES], last[SIDES]; /* REFERENCE_NONE */
    bool lent; /* results of the last pull may point at records: set by whoever tells them */
};

void spent_init(struct spent *s);

static inline bool spent_any(const struct spent *s)
{
    return s->first[SIDE_LEFT] != REFERENCE_NONE || s->first[SIDE_RIGHT] != REFERENCE_NONE;
}

/* The record is RECORD_DECIDED and has left. `arenas` are those of both sides. */
void spent_release(struct spent *s, struct arena arenas[SIDES], struct slab_pool *pool,
                   enum side side, uint32_t ref);

/* A pull begins: results of the last one are not looked at any more. As far as fuel goes. */
void spent_give_back(struct spent *s, struct arena arenas[SIDES], struct slab_pool *pool,
                     int64_t *fuel);

#endif
