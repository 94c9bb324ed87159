/*
 * core/books: the fate of every record, counted.
 *
 *     received = rejected + filtered + late + matched + unmatched + held
 *
 * for each side, at every instant. All but `held` are kept here, by whoever
 * decides a fate; `held` is counted by the stores, so that a record which a store
 * lost shows as books that do not balance. interface.md section 5.
 */
#ifndef CORE_BOOKS_H
#define CORE_BOOKS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/side.h"

struct books_side {
    uint64_t received; /* every record that was cut out of the input, good or bad */
    uint64_t rejected;
    uint64_t filtered;
    uint64_t late;
    uint64_t matched;
    uint64_t unmatched;
};

enum result_kind {
    RESULT_PAIR,
    RESULT_LEFT,  /* padded: the right side is NULL */
    RESULT_RIGHT, /* padded: the left side is NULL */
    RESULT_SEMI,
    RESULT_ANTI,
};
#define RESULT_KINDS 5

const char *result_kind_word(enum result_kind k); /* "pair", "left", ... */

struct books {
    struct books_side side[SIDES];
    uint64_t results[RESULT_KINDS];
    uint64_t results_rejected; /* select or on failed for the pair */
};

static inline bool books_balance(const struct books_side *b, uint64_t held)
{
    return b->received == b->rejected + b->filtered + b->late + b->matched + b->unmatched + held;
}

#endif
