/*
 * flow/replay: two files read as one history.
 *
 * One record at a time, from the side whose own watermark is lower: the engine says
 * whose turn it is (engine_holds). So the outcome does not depend on how fast either
 * file, or the output, can be read. semantics.md section 5.
 */
#ifndef FLOW_REPLAY_H
#define FLOW_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flow/source.h"
#include "lang/side.h"

struct pump;

/* What is at hand of one side: rows in the pump's batch that point into the source's tail. So
 * the tail stays as it is until replay_give_back(). */
struct replay_side {
    struct source *source; /* NULL: not there yet, or at its end */
    size_t from;           /* the next row */
    size_t used;           /* bytes of the tail that the batch came from */
    bool dry;              /* there is nothing to read now */
};

struct replay {
    struct replay_side side[SIDES];
};

/* This source has something to read, or has been cut. */
void replay_ready(struct replay *r, struct source *s);

/* The tail of this source will change: rows at hand that are not given yet are cut anew from
 * it later. */
void replay_give_back(struct pump *p, struct source *s);

void replay_read(struct pump *p, int64_t *fuel);

/* Would it move anything, without an event? */
bool replay_busy(const struct pump *p);

#endif
