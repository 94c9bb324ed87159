/*
 * Undecided records, counted anew from the records themselves.
 */
#ifndef UNIT_RECOUNT_H
#define UNIT_RECOUNT_H

#include "store/arena.h"
#include "store/held.h"
#include "store/window_log.h"

static inline uint64_t log_recount(const struct window_log *l)
{
    uint64_t undecided = 0;

    window_log_list(l, 0, &(struct held_listener){held_count, &undecided});
    return undecided;
}

static inline uint64_t arena_recount(const struct arena *a)
{
    uint64_t undecided = 0;

    arena_list(a, 0, &(struct held_listener){held_count, &undecided});
    return undecided;
}

#endif
