/*
 * engine/judge: what is to become of the rows of a batch, before any store has seen them.
 *
 * Column by column, in the order of semantics.md section 1: timestamps, where, keys and their
 * hashes. What comes out lies in the batch: a verdict a row, and all that the stores need of
 * those that are to be stored.
 */
#ifndef ENGINE_JUDGE_H
#define ENGINE_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/batch.h"
#include "model/plan.h"
#include "model/record.h"

struct judge {
    const struct plan *plan;
    size_t key_field[SIDES]; /* of a key that is one field as it stands */
    bool key_is_field[SIDES];
    uint16_t flags;             /* of each record: RECORD_TIMED, RECORD_TIME32, or 0 */
    struct expr_memory *memory; /* owned */
};

void judge_init(struct judge *j, const struct plan *plan);
void judge_done(struct judge *j);

/* Judges all rows of the batch. `clock_ms`: see max_ahead. */
void judge_rows(const struct judge *j, enum side side, struct batch *b, int64_t clock_ms);

/* The record that row `i`, which is to be stored, becomes; it points into the batch. */
struct record_parts judge_parts(const struct judge *j, const struct batch *b, size_t i,
                                uint64_t number, int64_t time);

#endif
