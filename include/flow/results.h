/*
 * flow/results: what the engine gives, on its way to [output].
 *
 * A few results at a time are pulled and encoded while the output has room; there is no queue.
 * Rows are handed on in whole blocks.
 *
 * Where a second thread fires windows (flow/second), results are its deliveries: they are
 * taken while the output has room; or, where it may write them itself, only counted. What is too
 * small for it, or not for it, is pulled here.
 */
#ifndef FLOW_RESULTS_H
#define FLOW_RESULTS_H

#include <event2/event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/engine.h"
#include "flow/output.h"
#include "flow/second.h"
#include "io/log.h"
#include "io/stream_clock.h"
#include "model/plan.h"
#include "model/result.h"

#define RESULTS_AT_ONCE 64

#define RESULTS_MAGIC 0x544c5352u /* RSLT */

struct results {
    uint32_t magic;
    struct engine *engine; /* not owned, nor are the next four */
    const struct plan *plan;
    struct stream_clock *clock;
    struct output *outputs;        /* OUTPUTS: of results, and of pairs that give no row */
    struct log_limit *bad_records; /* for those */
    struct second *second;         /* owned; NULL: there is one thread */
    struct result pulled[RESULTS_AT_ONCE];
    size_t next, count; /* of what was pulled: not yet encoded, from next on */
    uint64_t work;      /* fuel that results have taken so far */
};

void results_init(struct results *r, struct engine *e, const struct plan *plan,
                  struct stream_clock *c, struct output *outputs, struct log_limit *bad_records);
void results_done(struct results *r);

/* A second thread from now on; the outputs are open. False: the system gives none. */
bool results_start_second(struct results *r, struct event_base *base);

/* Moves results as far as output and fuel go. False: nothing moved. */
bool results_give(struct results *r, int64_t *fuel);

/* Are there results that the output has not taken yet? */
bool results_wait(const struct results *r);

/* None waits, or they may go. */
bool results_can_move(const struct results *r);

/* Would results_give() move something? */
bool results_busy(const struct results *r);

/* The second thread has enough to do, and gets it done: what is read in event time now, it would
 * fire later, from memory that the windows before it could have given back. */
bool results_are_behind(const struct results *r);

/* The loop may sleep, as far as the second thread goes: what that does will wake it. */
bool results_may_sleep(const struct results *r);

/* What has been written by now is counted too. */
void results_count_written(struct results *r);

/* Nobody will take the results that are left: how many are they? All are pulled and
 * forgotten, up to RESULTS_FORGET_FUEL of work. *ret_all: those were all. */
#define RESULTS_FORGET_FUEL 20000000
uint64_t results_forget(struct results *r, bool *ret_all);

#endif
