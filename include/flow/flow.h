/*
 * flow/flow: a join, and all that its records pass:
 *
 *     input, source -> pump -> engine -> results -> output, sink
 *
 * The loop that turns it, and what is told of it, are above (service, watch).
 */
#ifndef FLOW_FLOW_H
#define FLOW_FLOW_H

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>

#include "config/config.h"
#include "engine/engine.h"
#include "flow/input.h"
#include "flow/lookup.h"
#include "flow/output.h"
#include "flow/pump.h"
#include "io/stream_clock.h"

struct flow {
    const struct config *config; /* not owned */
    struct event_base *base;     /* not owned */
    struct engine *engine;
    struct stream_clock clock;
    struct lookup lookup;
    struct input inputs[SIDES];
    struct pump pump;
    struct output outputs[OUTPUTS];
};

/* Reads a lookup's table, if there is one; nothing else is open yet. False: errors are logged. */
bool flow_init(struct flow *f, const struct config *c, struct event_base *base);
void flow_done(struct flow *f);

/* Opens inputs and outputs, and lets reading begin. Outputs come last: a start that fails, as it
 * has already where `good` is false, leaves no file behind. False: errors are logged. */
bool flow_open(struct flow *f, bool good);
void flow_close(struct flow *f);

/* Of a side, a lookup's table among it. */
uint64_t flow_bytes_read(const struct flow *f, enum side side);

/* Once a second. */
void flow_tick(struct flow *f);

#endif
