/*
 * flow/pump: the only mover.
 *
 * Each turn of the loop: results (flow/results) while the output has room, for up to half of the
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
 * Where a second thread fires windows (flow/second), in event time reading does not get far ahead
 * of it (SECOND_AHEAD_BYTES), unless it is readers that it waits for.
 *
 * Two files in event time are read as one history: one record at a time, from the side whose own
 * watermark is lower; the engine says whose turn it is (engine_holds). So the outcome does not
 * depend on how fast either file, or the output, can be read. semantics.md section 5.
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
#include "flow/results.h"
#include "flow/source.h"
#include "io/stream_clock.h"
#include "model/batch.h"

#define PUMP_MAGIC 0x504d5550u /* PUMP */

struct pump {
    uint32_t magic;
    struct engine *engine; /* not owned, nor are the next four */
    const struct plan *plan;
    struct stream_clock *clock;
    struct input *inputs;   /* SIDES */
    struct output *outputs; /* OUTPUTS */
    struct results results;
    struct list ready;             /* of struct source, by ready_link: they have something unread */
    struct source *history[SIDES]; /* in place of it, where two files are one history; NULL: not
                                    * there yet, or at its end */
    bool dry[SIDES];               /* of that one: there is nothing to read now */
    struct batch batch[SIDES];
    char *bytes;           /* owned; what sources are read into */
    int out_of_turn;       /* so many sources were read last that were not the first */
    int64_t overdrawn;     /* what the last turn used of this one's fuel: 0 or less */
    bool ended[SIDES];     /* told to the engine */
    int64_t held_since_ms; /* monotonic; 0: sources are not held back. By results alone: since
                            * the last one that was taken */
    uint64_t held_work;    /* results.work then */
};

void pump_init(struct pump *p, struct engine *e, struct stream_clock *c, struct input *inputs,
               struct output *outputs, const struct plan *plan);
void pump_done(struct pump *p);

/* This source has something, or came to its end: source_ready() of all. */
void pump_ready(void *pump, struct source *s);

void pump_turn(struct pump *p);

/* Would another turn move anything, without an event? If not, the loop may sleep. */
bool pump_busy(const struct pump *p);

/* The side's sources are held back: by full state, by results that come first and that nobody
 * takes, by an output that must not lose, or by the other side, which comes first. */
bool pump_holds_side(const struct pump *p, enum side side);

/* Both sides have ended and every result has been encoded. */
bool pump_finished(const struct pump *p);

#endif
