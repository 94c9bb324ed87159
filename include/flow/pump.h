/*
 * flow/pump: the only mover.
 *
 * Each turn of the loop: results while the output has room, for up to half of the
 * turn's fuel (in event time: most of it); then what sources have, while the engine takes
 * it; then results again, if fuel is left. Rows are handed on in whole blocks while there is more
 * to come at once, and all of them when there is not. Fuel bounds a turn to about a millisecond, so
 * that a large window starves neither reads nor ticks nor the watchdog, and fast input no results.
 *
 * Who stops whom: an output without room stops the pull; full state, results that have to
 * come before the next row, or [rejects] or [late] without room, hold sources back; TCP then
 * stops the senders.
 *
 * In event time what is read before its time comes is only held. So results that are due come
 * first, reading pays back what it took of their fuel, and of what is ready that is read first
 * which time waits for. Beyond full state that alone is read, a little: only it can free memory.
 *
 * Where a second thread fires windows (flow/second), results are its deliveries: they are
 * taken while the output has room; or, where it may write them itself, only counted. In event time
 * reading does not get far ahead of it (SECOND_AHEAD_BYTES), unless it is readers that it waits
 * for. What is too small for it, or not for it, is pulled here.
 */
#ifndef FLOW_PUMP_H
#define FLOW_PUMP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "config/config.h"
#include "engine/engine.h"
#include "flow/input.h"
#include "flow/output.h"
#include "flow/replay.h"
#include "flow/second.h"
#include "io/clock.h"
#include "model/batch.h"

#define PUMP_RESULTS 64
/* A unit of fuel is about 10 ns. */
#define PUMP_ROW_FUEL   6 /* to cut and judge a row; storing it is the engine's to say */
#define PUMP_READ_BYTES (256 << 10)

struct pump {
    struct engine *engine; /* not owned, nor are the next four */
    const struct plan *plan;
    struct clock *clock;
    struct input *inputs;   /* SIDES */
    struct output *outputs; /* OUTPUTS */
    struct list ready;      /* of struct source, by ready_link: they have something unread */
    struct second *second;  /* owned; NULL: there is one thread */
    struct replay replay;   /* in place of it, where two files are one history */
    struct batch batch[SIDES];
    char *bytes;                         /* owned; what sources are read into */
    struct result results[PUMP_RESULTS]; /* pulled, not yet encoded: from next on */
    size_t next, count;
    int out_of_turn;       /* so many sources were read last that were not the first */
    int64_t overdrawn;     /* what the last turn used of this one's fuel: 0 or less */
    uint64_t work;         /* fuel that results have taken so far */
    bool ended[SIDES];     /* told to the engine */
    int64_t held_since_ms; /* monotonic; 0: sources are not held back. By results alone: since
                            * the last one that was taken */
    uint64_t held_work;    /* work then */
};

void pump_init(struct pump *p, struct engine *e, struct clock *c, struct input *inputs,
               struct output *outputs, const struct plan *plan);
void pump_done(struct pump *p);

/* A second thread from now on; the outputs are open. False: the system gives none. */
bool pump_start_second(struct pump *p, struct event_base *base);

/* This source has something, or came to its end. */
void pump_ready(struct pump *p, struct source *s);

void pump_turn(struct pump *p);

/* The tail of this source will change: rows that point into it are given back to it. */
void pump_give_rows_back(struct pump *p, struct source *s);

/* Both have room, or are not configured: [late] and [rejects]. */
bool pump_fates_have_room(const struct pump *p);

/* Pulls results that have to come before the next row. False: none could be given. */
bool pump_give_results(struct pump *p, int64_t *fuel);

/* Tells the engine which sides have ended. */
void pump_tell_ends(struct pump *p);

/* Would another turn move anything, without an event? If not, the loop may sleep: what the
 * second thread does will wake it. */
bool pump_busy(const struct pump *p);

/* The side's sources are held back: by full state, by results that come first and that nobody
 * takes, by an output that must not lose, or by the other side, which comes first. */
bool pump_holds_side(const struct pump *p, enum side side);

/* Nobody will take the results that are left: how many are they? All are pulled and
 * forgotten, up to PUMP_FORGET_FUEL of work. *ret_all: those were all. */
#define PUMP_FORGET_FUEL 20000000
uint64_t pump_forget_results(struct pump *p, bool *ret_all);

/* What has been written by now is counted too. */
void pump_count_written(struct pump *p);

/* Are there results that an output has not taken yet? */
bool pump_results_wait(const struct pump *p);

/* Both sides have ended and every result has been encoded. */
bool pump_finished(const struct pump *p);

#endif
