/*
 * flow/stop: the steps from running to stopped. interface.md section 6.
 *
 *     RUNNING -> ENDING    inputs are asked to end, and read until they have (5 s)
 *             -> DRAINING  no record comes any more; time runs to its end, results
 *                          are written, readers get 10 s to take a byte
 *             -> STOPPED
 *
 * Bounded inputs on both sides go from RUNNING to DRAINING by themselves.
 */
#ifndef FLOW_STOP_H
#define FLOW_STOP_H

#include <stdbool.h>
#include <stdint.h>

#include "flow/flow.h"

/* How long senders have to end after our half-close. */
#define STOP_ENDING_MS 5000
/* How long a reader may take no byte, or be absent, when we want to go. */
#define STOP_DRAINING_MS 10000
/* After which part of that the log says that we wait. */
#define STOP_TELL_MS 2000

enum step { STEP_RUNNING, STEP_ENDING, STEP_DRAINING, STEP_STOPPED };

struct stop {
    struct flow *flow; /* not owned */
    enum step step;
    unsigned signals; /* TERM and INT so far */
    int status;       /* what the process exits with */
    int64_t since_ms; /* monotonic: when ENDING or DRAINING began, or moved last */
    uint64_t moved;   /* bytes and results moved, as last seen while draining */
    bool flush_told;  /* that it had to decide early */
    bool wait_told;   /* that it waits for a reader */
};

const char *step_word(enum step s); /* "running", ... */

/* TERM or INT has come; the second one ends at once. */
void stop_asked(struct stop *s, const char *signal);

/* Once a second: what has a deadline. */
void stop_tick(struct stop *s);

/* After each turn: what has none. */
void stop_turn(struct stop *s);

/* The log's last word on each side: what became of its records. */
void stop_tell_books(const struct stop *s);

#endif
