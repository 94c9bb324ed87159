/*
 * core/operator: what each kind of join is to the engine.
 *
 * One struct of functions a kind, all files alike (core/join_window.c, ...).
 * The engine judges records (rejected, filtered, NULL key) and counts; an
 * operator stores, matches, and decides the fates matched and unmatched.
 */
#ifndef CORE_OPERATOR_H
#define CORE_OPERATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slab.h"
#include "core/books.h"
#include "core/engine.h"
#include "core/instant.h"
#include "core/plan.h"
#include "core/record.h"
#include "core/side.h"

/* What an operator is given to work with; belongs to the engine. */
struct operator_context {
    const struct plan *plan;
    struct books *books;
    struct slab_pool *pool;
    const uint64_t *state_bytes_max;
};

struct operator
{
    void *(*create)(const struct operator_context *c);
    void (*destroy)(void *self);

    /* Stores `n` records of time `t`, with numbers from `number` on. Returns how many
     * fitted into state; nothing has changed for the others. */
    size_t (*push)(void *self, enum side side, const struct record_parts *parts, size_t n,
                   uint64_t number, struct stream_time t);
    /* Time has come to `now`; STREAM_TIME_MAX: nothing will follow. */
    void (*advance)(void *self, struct stream_time now);

    /* All that is held now is due, whatever the time. */
    void (*flush)(void *self);

    size_t (*pull)(void *self, struct result *ret, size_t max, int64_t *fuel);
    bool (*has_work)(const void *self);
    struct stream_time (*due)(const void *self);

    uint64_t (*held)(const void *self, enum side side);
    uint64_t (*held_recount)(const void *self, enum side side);
    uint64_t (*state_bytes)(const void *self);
};

extern const struct operator operator_window; /* tumbling */

#endif
