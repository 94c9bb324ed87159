/*
 * flow/lookup: the file of a lookup join, read whole, and read again when it changes.
 *
 * The first reading is over before any port opens; any fault in it ends the start. Later
 * ones go on beside the join, a little each turn of the loop, into a table of their own,
 * which takes the old one's place when it is complete. If anything is wrong with it, or the
 * file changes meanwhile, the old one stays.
 *
 * A change is looked for once a second (device, inode, size, time of change), so replacing the
 * file and writing into it are both noticed; it is read when it has been still for a
 * second. interface.md section 1 (HUP), semantics.md section 5.
 */
#ifndef FLOW_LOOKUP_H
#define FLOW_LOOKUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "config/config.h"
#include "engine/engine.h"
#include "flow/source.h"
#include "io/stream_clock.h"
#include "model/batch.h"

/* What a file was like: another look tells if it has changed. */
struct lookup_stamp {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec modified, changed; /* the second cannot be set */
};

/* A reading that is under way. */
struct lookup_reading {
    struct source *source;     /* owned; NULL: there is none */
    struct lookup_stamp stamp; /* when it was opened */
    struct lookup_table *table;
    uint64_t bytes; /* read */
    uint64_t lines; /* done with */
    uint64_t rows;  /* put in */
    unsigned faults;
};

enum lookup_outcome {
    LOOKUP_NOTHING, /* no reading has ended */
    LOOKUP_DONE,
    LOOKUP_FAILED,
};

struct lookup {
    const struct input_config *config; /* not owned, nor are the next two; NULL: no lookup */
    struct engine *engine;
    struct stream_clock *clock;
    const char *path;
    struct lookup_reading reading;
    struct batch batch;
    struct lookup_stamp tried; /* of the last reading, good or bad */
    struct lookup_stamp seen;  /* at the last look */
    bool missing;              /* it was not there at the last look: said once */
    uint64_t rows;             /* of the table that answers */
    int64_t loaded_wall_ms;    /* when it was taken */
    uint64_t reloads_ok, reloads_failed;
    struct source_group group; /* of one, or none */
};

/* Reads the file, if this is a lookup join. False: errors are logged. */
bool lookup_open(struct lookup *l, struct engine *e, struct stream_clock *c,
                 const struct config *config);
void lookup_close(struct lookup *l);

/* Begins to read it anew. False: it cannot be opened; this counts as failed. Only while none
 * is being read. */
bool lookup_reload(struct lookup *l);

static inline bool lookup_is_reading(const struct lookup *l)
{
    return l->config != NULL && l->reading.source != NULL;
}

/* Reads on, for a part of a millisecond. */
enum lookup_outcome lookup_turn(struct lookup *l);

/* Once a second: has it changed? */
void lookup_tick(struct lookup *l);

/* A stop: what is being read is given up, without a word. */
void lookup_give_up(struct lookup *l);

#endif
