/*
 * model/books: the fate of every record, counted.
 *
 *     received = rejected + filtered + late + matched + unmatched + held
 *
 * for each side, at every instant. All but `held` are kept here: fates are written
 * down by model/fate. `held` is counted by the stores, so that a record which a store
 * lost shows as books that do not balance. interface.md section 5.
 */
#ifndef MODEL_BOOKS_H
#define MODEL_BOOKS_H

#include <stdbool.h>
#include <stdint.h>

#include "lang/side.h"

/* By how much records were late: counts of at most so many seconds each, then all. */
#define LATENESS_BUCKETS 12
extern const double lateness_le_seconds[LATENESS_BUCKETS];

struct lateness {
    uint64_t bucket[LATENESS_BUCKETS]; /* not cumulative */
    uint64_t count;
    int64_t sum_ms;
};

/* Notes a record that was `ms` behind time. */
void lateness_add(struct lateness *l, int64_t ms);

enum fate { FATE_REJECTED, FATE_FILTERED, FATE_LATE, FATE_MATCHED, FATE_UNMATCHED };
#define FATES 5

const char *fate_word(enum fate f); /* "rejected", ... */

struct books_side {
    uint64_t received; /* every record that was cut out of the input, good or bad */
    union {
        uint64_t fate[FATES];
        struct { /* the same, by their names */
            uint64_t rejected, filtered, late, matched, unmatched;
        };
    };

    /* beside the fates */
    uint64_t late_windows;    /* (record, window) pairs that were late */
    struct lateness lateness; /* of the records whose fate is late */
};

enum result_kind {
    RESULT_PAIR,
    RESULT_LEFT,  /* padded: the right side is NULL */
    RESULT_RIGHT, /* padded: the left side is NULL */
    RESULT_SEMI,
    RESULT_ANTI,
    RESULT_FAILED, /* a pair for which `on` failed: for [rejects], no row of the output */
};
#define RESULT_KINDS 5 /* that are rows: FAILED is counted as results_rejected */

const char *result_kind_word(enum result_kind k); /* "pair", "left", ...; not of FAILED */

struct books {
    struct books_side side[SIDES];
    uint64_t results[RESULT_KINDS];
    uint64_t results_rejected; /* select or on failed for the pair */
    uint64_t near_misses;      /* pairs that windows parted (join/near_miss) */
};

/* Adds what is decided and given when a window fires: matched, unmatched, results, near misses. */
void books_add_fired(struct books *to, const struct books *more);

static inline bool books_balance(const struct books_side *b, uint64_t held)
{
    for (int f = 0; f < FATES; f++)
        held += b->fate[f];
    return b->received == held;
}

#endif
