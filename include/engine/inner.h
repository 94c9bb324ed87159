/*
 * engine/inner: what the engine is made of; private to this folder.
 */
#ifndef ENGINE_INNER_H
#define ENGINE_INNER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slab.h"
#include "engine/engine.h"
#include "engine/judge.h"
#include "join/operator.h"
#include "model/lag.h"

/* How much state may grow: at most to the limit, but for feeds that hold time back. */
enum level { LEVEL_LIMIT, LEVEL_MORE };
#define LEVELS 2

struct fullness {
    bool full;      /* a push was refused, and not enough was freed since */
    uint64_t bytes; /* of state, at that moment */
    bool retried;   /* since then, because nothing seemed to be left */
};

struct engine {
    const struct plan *plan;
    const struct operator* operator;
    void *self; /* the operator's; owned */
    struct books books;
    struct slab_pool *pool;
    struct judge judge;
    struct watermark watermark;  /* event time */
    struct feed own_feed[SIDES]; /* of batches that come from none */
    bool event;
    struct stream_time clock;   /* told last */
    struct stream_time reached; /* time */
    bool results_first;         /* the next row has to wait until all results are pulled */
    bool begun[SIDES];          /* its next row has been judged, and could not be taken */
    bool ended[SIDES];
    uint64_t limit[LEVELS];   /* bytes of state */
    uint64_t state_bytes_max; /* the one in force: the operator looks at it */
    struct fullness fullness[SIDES]
                            [LEVELS]; /* a side of its own: what it brings may need no room */
    bool any_full;                    /* one of them is */
    bool notes_lags;                  /* pairs are made by time */
    struct lag lag;                   /* of pairs, and of what windows parted */
};

/* How much state may grow for a record of this feed; NULL: of the side's own. */
enum level engine_level(const struct engine *e, enum side side, const struct feed *f);

/* Something may have been freed: is state still full? */
void engine_look_for_room(struct engine *e);

/* A push was refused for want of room. */
void engine_note_full(struct engine *e, enum side side, enum level level);

/* Time has come to what the watermark says. */
void engine_advance_by_watermark(struct engine *e);

#endif
