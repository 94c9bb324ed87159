/*
 * model/result: a result, and what is counted of results as they are pulled.
 *
 * A result is a pair of references into the stores, made when it is asked for.
 */
#ifndef MODEL_RESULT_H
#define MODEL_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/books.h"
#include "model/lag.h"
#include "model/plan.h"
#include "model/record.h"

struct result {
    enum result_kind kind;
    const struct record *record[SIDES]; /* NULL: padded, or not part (semi, anti) */
    int64_t time[SIDES];                /* of the records that are there */
    int64_t window_start, window_end;   /* RESULT_NO_WINDOW: of a record that lay in none */
};
#define RESULT_NO_WINDOW EXPR_NO_WINDOW

/* Where windows overlap, a pair comes once for each that holds both. In the first one its later
 * record is in its own first. */
static inline bool results_meet_first(const struct plan *plan, const struct result *r)
{
    int64_t left = r->time[SIDE_LEFT], right = r->time[SIDE_RIGHT];

    return (left > right ? left : right) >= r->window_end - plan->slide_ms;
}

static inline void results_note_lag(struct lag *lag, const struct plan *plan,
                                    const struct result *r)
{
    int64_t lag_ms = r->time[SIDE_RIGHT] - r->time[SIDE_LEFT];

    if (!plan_windows_overlap(plan)) {
        lag_add(lag, lag_ms);
        return;
    }
    lag_add_row(lag, lag_ms);
    if (results_meet_first(plan, r))
        lag_add_pair(lag, lag_ms);
}

/* `lag` is NULL where pairs are not made by time. */
static inline void results_count(struct books *books, struct lag *lag, const struct plan *plan,
                                 const struct result *results, size_t n)
{
    uint64_t pairs = 0;

    for (size_t i = 0; i < n; i++) {
        const struct result *r = &results[i];
        if (r->kind == RESULT_PAIR) {
            pairs++;
            if (lag != NULL)
                results_note_lag(lag, plan, r);
        } else if (r->kind == RESULT_FAILED) {
            books->results_rejected++;
        } else {
            books->results[r->kind]++;
        }
    }
    books->results[RESULT_PAIR] += pairs;
}

/* This one was counted, and its row cannot be made. */
static inline void results_reject(struct books *books, const struct result *r)
{
    books->results[r->kind]--;
    books->results_rejected++;
}

#endif
