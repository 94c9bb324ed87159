/*
 * service/daemon: a join that runs: the loop, its signals and ticks, and the stop.
 *
 * A stop in order goes through these steps (interface.md section 6):
 *
 *     RUNNING -> ENDING    inputs are asked to end, and read until they have (5 s)
 *             -> DRAINING  no record comes any more; time runs to its end, results
 *                          are written, readers get 10 s to take a byte
 *             -> STOPPED
 *
 * Bounded inputs on both sides go from RUNNING to DRAINING by themselves.
 */
#ifndef SERVICE_DAEMON_H
#define SERVICE_DAEMON_H

#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdbool.h>
#include <stdint.h>

#include "config/config.h"
#include "engine/engine.h"
#include "flow/input.h"
#include "flow/lookup.h"
#include "flow/output.h"
#include "flow/pump.h"
#include "io/clock.h"
#include "watch/http.h"

enum daemon_step { DAEMON_RUNNING, DAEMON_ENDING, DAEMON_DRAINING, DAEMON_STOPPED };

#define DAEMON_SIGNALS 4

struct daemon {
    const struct config *config; /* not owned */
    struct event_base *base;
    struct engine *engine;
    struct clock clock;
    struct input inputs[SIDES];
    struct output outputs[OUTPUTS];
    struct pump pump;
    struct lookup lookup;
    uint64_t table_bytes;       /* that were read of it, as counted in its side's input */
    bool reloading;             /* HUP: the table is read before it is done */
    bool reload_queued;         /* HUP came while the table was read */
    bool not_reopened[OUTPUTS]; /* files that could not be opened anew at the last HUP */
    struct http http;
    enum daemon_step step;
    unsigned stop_signals; /* TERM and INT so far */
    int status;            /* what the process exits with */
    struct event signals[DAEMON_SIGNALS], tick, due, watchdog;
    int due_fd;     /* the timer of `due` */
    int64_t due_ms; /* what it is set to; INT64_MAX: not set */
    int64_t started_wall_ms, started_mono_ms;
    int64_t step_since_ms; /* monotonic: when ENDING or DRAINING began, or moved last */
    uint64_t moved;        /* bytes and results moved, as last seen while draining */
    uint64_t received_before[SIDES];
    double rate[SIDES]; /* records a second, over the last tick */
    int64_t turn_cpu_max_us, cpu_us;
    uint64_t turns;
    bool unbalanced; /* the books did not balance: said once */
    unsigned ticks;
    bool flush_told;  /* that a stop had to decide early */
    bool wait_told;   /* that it waits for a reader */
    bool absent_told; /* that results wait for a subscriber */
    bool hold_told;   /* the log has that inputs are held back */
    bool stuck_told;  /* ... and that this cannot end */
};

/* Runs the join until it ends. Returns the exit status. */
int daemon_run(struct daemon *d, const struct config *config);

/* True: not healthy, and the reason is appended, one line without its end. */
bool daemon_trouble(const struct daemon *d, struct buf *ret_reason);

#endif
