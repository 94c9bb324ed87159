/*
 * engine/judge: what is to become of a row, before any store has seen it.
 *
 * In the order of semantics.md section 1: its timestamp, where, its key; with the
 * parts of the record that is to be stored.
 */
#ifndef ENGINE_JUDGE_H
#define ENGINE_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "model/batch.h"
#include "model/plan.h"
#include "model/record.h"

enum verdict {
    VERDICT_HOLD,
    VERDICT_REJECTED,  /* the row has its reject */
    VERDICT_FILTERED,  /* where is not true */
    VERDICT_UNMATCHED, /* a NULL key that nobody will pad */
};

struct judge {
    const struct plan *plan;
    size_t key_field[SIDES]; /* of a key that is one field as it stands */
    bool key_is_field[SIDES];
    bool plain[SIDES];          /* the key is that field, and there is no `where` */
    uint16_t flags;             /* of each record: RECORD_TIMED, RECORD_TIME32, or 0 */
    struct buf key, body;       /* of the record that is being judged */
    struct expr_memory *memory; /* owned */
};

void judge_init(struct judge *j, const struct plan *plan);
void judge_done(struct judge *j);

/* Event time: the row's time. `now_ms` is the clock's. False: the row is rejected. */
bool judge_time(struct judge *j, enum side side, struct batch *b, struct row *row, int64_t now_ms,
                int64_t *ret_ms);

/* Notes the hashes of the keys of up to `max` rows from `from` on, in the batch, where keys
 * are fields: key_is_field[side] only. Returns of how many rows. */
size_t judge_hash(const struct judge *j, enum side side, struct batch *b, size_t from, size_t max);

/* With HOLD the parts are set, but for the time; they point into the row and the judge.
 * `salt` tells records with a NULL key apart: they are spread by it. */
enum verdict judge_row(struct judge *j, enum side side, struct batch *b, struct row *row,
                       uint64_t salt, struct record_parts *ret);

/* Rows whose key is one of their fields, with nothing to ask, stored as they came: what
 * most are. Sets the parts of those that stand together from row `from` on, up to `max`;
 * plain[side] only. */
size_t judge_plain(const struct judge *j, enum side side, const struct batch *b, size_t from,
                   size_t max, struct record_parts *ret);

#endif
