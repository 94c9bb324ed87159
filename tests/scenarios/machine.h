/*
 * scenarios/machine: a joind without sockets, files and clocks.
 *
 * From the text of an INI file: the real configuration reader, decoders, engine
 * and encoder, put together as io/pump puts them. Bytes and times are what the
 * caller says. Whatever the engine promises at every instant (that the books
 * balance, that a pull with fuel left means nothing to do, ...) is looked at
 * after every call; the first promise that was broken is the machine's fault.
 */
#ifndef SCENARIOS_MACHINE_H
#define SCENARIOS_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/diag.h"
#include "config/config.h"
#include "core/engine.h"

/* One result, as it came. */
struct machine_row {
    enum result_kind kind;
    int64_t window_start, window_end;
    char *text;    /* owned; as the output writes it, without its LF */
    char *records; /* owned; all fields of both records, whatever `select` takes */
};

struct machine_reject {
    enum side side;
    enum reject why;
};

struct machine_feed {
    struct buf bytes; /* arrived and not done with */
    size_t shown;     /* how many of them the decoder has seen: it is never shown fewer */
    bool refused;     /* a row among them found no room */
    bool ending;      /* no byte will come */
    bool ended;       /* the engine has been told */
};

/* What the engine was told by way of the feeds, in order. */
struct machine_entry {
    enum side side;
    size_t rows;    /* taken; 0: one was refused, or */
    bool ended;     /* the side has ended */
    int64_t now_ms; /* the time that was told */
};

struct machine {
    struct config *config;
    struct engine *engine;
    struct decoder *decoder[SIDES];
    struct encoder *encoder;
    struct batch batch[SIDES];
    struct machine_feed feed[SIDES];
    size_t cut; /* bytes a read; 0: all that there are */

    struct machine_row *rows; /* owned; pulled and not yet forgotten */
    size_t row_count, row_capacity;
    struct machine_reject *rejects; /* owned */
    size_t reject_count, reject_capacity;
    struct machine_entry *log; /* owned */
    size_t log_count, log_capacity;
    uint64_t seen[RESULT_KINDS]; /* results pulled since the start */
    char *fault;                 /* owned; the first broken promise; NULL: none */
};

/* NULL: diag says why. */
struct machine *machine_new(struct bytes ini, uint64_t hash_seed, struct diag *diag);
void machine_free(struct machine *m);

/* These bytes came from `side` at `now_ms`. Those for which state has no room wait
 * in the feed, and are tried again whenever something happens. */
void machine_feed(struct machine *m, enum side side, struct bytes bytes, int64_t now_ms);

/* A timer tick. */
void machine_tick(struct machine *m, int64_t now_ms);

/* The side has ended: what waits is still taken first. */
void machine_end(struct machine *m, enum side side);

/* One call for up to `max` results; they are appended to `rows`. Returns how many. */
size_t machine_pull(struct machine *m, size_t max, int64_t fuel);

/* Pulls like that until there is nothing to do. */
void machine_drain(struct machine *m, size_t max, int64_t fuel);

/* Rows wait because state is full. */
bool machine_refused(const struct machine *m, enum side side);

void machine_forget_rows(struct machine *m);
void machine_forget_rejects(struct machine *m, size_t count); /* the first ones */
void machine_forget_log(struct machine *m);

#endif
