/*
 * join/pairing: what two records of equal keys are to each other, and what becomes of
 * a record: the parts that all operators share.
 *
 * A fate is decided once, where it is found out, and written down (model/fate); the store's
 * own count of what is held goes down with it.
 */
#ifndef JOIN_PAIRING_H
#define JOIN_PAIRING_H

#include <stdbool.h>
#include <stdint.h>

#include "lang/expr.h"
#include "model/fate.h"
#include "model/plan.h"
#include "model/record.h"
#include "model/result.h"

struct pairing {
    const struct plan *plan;
    struct books *books;
    struct bytes *fields[SIDES];   /* owned; for `on` */
    struct expr_memory *memory;    /* owned */
    const struct record *cut_left; /* whose fields are in fields[SIDE_LEFT]; NULL: nobody's */
};

void pairing_init(struct pairing *p, const struct plan *plan, struct books *books);
void pairing_done(struct pairing *p);

enum pairing_answer {
    PAIRING_NO,
    PAIRING_YES,
    PAIRING_FAILED, /* `on` failed: no match, and a result of kind RESULT_FAILED to tell */
};

/* What `on` says; YES where there is none. */
enum pairing_answer pairing_on(struct pairing *p, const struct record *l, const struct record *r);

/* The left record that was asked about last may be gone or another by now. */
static inline void pairing_forget(struct pairing *p)
{
    p->cut_left = NULL;
}

/* `*held` is the store's count of undecided records of this side. MATCHED implies DECIDED. */
void pairing_matched(struct books *books, enum side side, struct record *r, uint64_t *held);
void pairing_unmatched(struct books *books, enum side side, struct record *r, uint64_t *held);

/* The counts alone, for `n` records whose flags were set. */
static inline void pairing_matched_some(struct books *books, enum side side, uint64_t n,
                                        uint64_t *held)
{
    *held -= n;
    record_fates(books, side, FATE_MATCHED, n);
}

/* Sets a result; a side without a record is NULL. */
static inline void pairing_result(struct result *ret, enum result_kind kind, const struct record *l,
                                  const struct record *r, int64_t window_start, int64_t window_end)
{
    /* One by one: a whole struct would be made elsewhere and then moved. */
    ret->kind = kind;
    ret->record[SIDE_LEFT] = l;
    ret->record[SIDE_RIGHT] = r;
    ret->window_start = window_start;
    ret->window_end = window_end;
}

/* The times of a result's records, which their store knows from `base` on: record_time_near(). */
static inline void pairing_times(struct result *ret, int64_t base)
{
    for (int s = 0; s < SIDES; s++)
        if (ret->record[s] != NULL)
            ret->time[s] = record_time_near(ret->record[s], base);
}

/* The kind of row that a record of `side` without a match gives, where plan_pads(). */
static inline enum result_kind pairing_padded_kind(const struct plan *plan, enum side side)
{
    return plan->type == JOIN_ANTI ? RESULT_ANTI : side == SIDE_LEFT ? RESULT_LEFT : RESULT_RIGHT;
}

#endif
