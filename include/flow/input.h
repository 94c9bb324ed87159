/*
 * flow/input: one side's input: a listening socket with its connections, a connection that is
 * made again whenever it has gone, or a file. Each connection is a source.
 */
#ifndef FLOW_INPUT_H
#define FLOW_INPUT_H

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>

#include "config/config.h"
#include "engine/engine.h"
#include "flow/source.h"
#include "io/connector.h"
#include "io/listener.h"
#include "lang/side.h"

#define INPUT_MAGIC 0x54504e49u /* INPT */

struct input {
    uint32_t magic;
    struct source_group group;
    const struct plan *plan; /* not owned */
    struct engine *engine;   /* not owned */
    struct listener listener;
    bool listening;
    struct connector connector;
    bool connecting;
    bool stopping; /* takes no new sources */
};

/* Opens the socket or the file; nothing is read, nor connected, yet. False: an error is
 * logged. */
bool input_open(struct input *in, struct event_base *base, struct engine *e, const struct config *c,
                enum side side, source_ready *ready, void *mover);
/* Lets reading begin, when all that takes what is read is open too. */
void input_start(struct input *in);
void input_close(struct input *in);

/* A source has come to its end and all its bytes are dealt with. */
void input_source_done(struct input *in, struct source *s);

/* Bounded, and at its end: no record will come any more. */
bool input_ended(const struct input *in);

/* It could not connect for long: true, and the reason is appended. */
bool input_trouble(const struct input *in, struct buf *ret_reason);

/* Stop, first step: no new sources, but for those that wait to be accepted. */
void input_close_door(struct input *in);
/* Second step, when no side takes new ones: those that are there are asked to end. */
void input_ask_to_end(struct input *in);
/* Third step: those that did not are cut. */
void input_cut(struct input *in);

#endif
