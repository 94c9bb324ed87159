/*
 * scenarios/machine: a joind without sockets, files and clocks.
 *
 * From the text of an INI file: the real configuration reader, decoders, engine
 * and encoder, put together as flow/pump puts them. Bytes and times are what the
 * caller says. Whatever the engine promises at every instant (that the books
 * balance, that a pull with fuel left means nothing to do, ...) is looked at
 * after every call; the first promise that was broken is the machine's fault.
 *
 * A row that may not go in yet waits with its connection, and is tried again
 * whenever something happens. Results that have to come out before it does are
 * pulled, unless all pulling is by hand.
 *
 * There are two clocks, as in any machine: the wall clock and the monotonic one.
 * Both start at 0 and go together, unless one is moved alone.
 */
#ifndef SCENARIOS_MACHINE_H
#define SCENARIOS_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/diag.h"
#include "codec/decoder.h"
#include "config/config.h"
#include "engine/engine.h"
#include "join/firing.h"

#define MACHINE_CONNECTIONS 4 /* a side */

/* One result, as it came. A pair or record for which `on` or `select` failed is of kind
 * RESULT_FAILED; its text is its records. */
struct machine_row {
    enum result_kind kind;
    int64_t window_start, window_end;
    char *text;    /* owned; as the output writes it, without its LF */
    char *records; /* owned; all fields of both records, whatever `select` takes */
};

/* As result_kind_word(), but RESULT_FAILED has a word too: "failed". */
const char *machine_kind_word(enum result_kind kind);

struct machine_reject {
    enum side side;
    enum reject why;
};

struct machine_late {
    enum side side;
    char *line;   /* owned; as received */
    char *detail; /* owned */
};

struct machine_connection {
    struct feed feed;        /* what the engine knows of it */
    struct decoder *decoder; /* owned; NULL: it is not open */
    struct buf bytes;        /* arrived and not done with */
    size_t shown;            /* how many of them the decoder has seen: it is never shown fewer */
    enum engine_hold hold;   /* why a row among them waits; ENGINE_TAKES: none does */
    bool closing;            /* no byte will come: closed when all rows are in */
};

/* A lookup table that is being made, and what became of the last one. */
struct machine_table {
    struct lookup_table *made; /* the engine's; NULL: none */
    size_t rows;               /* in it */
    struct buf fault;          /* why it is wrong; empty: it is not */
};

struct machine_feed {
    struct machine_connection connection[MACHINE_CONNECTIONS];
    struct batch batch;
    bool held;   /* nothing is read: machine_hold() */
    bool ending; /* no byte will come */
    bool ended;  /* the engine has been told */
};

/* What the engine was told, in order. In processing time: rows and ends alone. */
enum machine_told {
    TOLD_ROWS, /* `rows` were taken; 0: one was refused */
    TOLD_OPEN,
    TOLD_CLOSE,
    TOLD_END,
    TOLD_CLOCK,  /* engine_advance(now_ms) */
    TOLD_MONO,   /* engine_watch(mono_ms) */
    TOLD_ANEW,   /* engine_count_idle_anew(mono_ms) */
    TOLD_UNREAD, /* the connection's feed.unread is `unread` from now on */
};

struct machine_entry {
    enum machine_told what;
    enum side side;
    size_t connection;
    size_t rows;
    bool ended; /* it is a TOLD_END */
    bool unread;
    int64_t now_ms, mono_ms; /* the clocks */
};

/* Windows that are fired outside the engine (join/firing): machine_fires_aside(). */
#define MACHINE_FIRINGS 3
struct machine_aside {
    unsigned settles_every; /* pulls; 0: the engine fires all itself */
    unsigned pulls;
    struct firing *out[MACHINE_FIRINGS]; /* the engine's; in order */
    size_t count;
    struct firing_news *news; /* owned */
    bool unsettled;           /* they say something */
};

struct machine {
    struct config *config;
    struct engine *engine;
    struct encoder *encoder;
    struct machine_feed feed[SIDES];
    struct machine_table table;
    struct machine_aside aside;
    int64_t now_ms, mono_ms; /* the clocks */
    size_t cut;              /* bytes a read; 0: all that there are */
    bool by_hand;            /* no pulls but machine_pull() and machine_drain(); else ... */
    size_t pull_max;         /* ... so many results each time that some have to come first */
    int64_t pull_fuel;

    struct machine_row *rows; /* owned; pulled and not yet forgotten */
    size_t row_count, row_capacity;
    struct machine_reject *rejects; /* owned */
    size_t reject_count, reject_capacity;
    struct machine_late *lates; /* owned */
    size_t late_count, late_capacity;
    struct machine_entry *log; /* owned */
    size_t log_count, log_capacity;
    uint64_t seen[RESULT_KINDS]; /* results pulled since the start, ... */
    uint64_t failed;             /* ... and those that failed */
    uint64_t late[SIDES];        /* rows that were late since the start */
    char *fault;                 /* owned; the first broken promise; NULL: none */
};

/* NULL: diag says why. Connection 0 of each side is open; a lookup's right side has none. */
struct machine *machine_new(struct bytes ini, uint64_t hash_seed, struct diag *diag);
void machine_free(struct machine *m);

/* From now on windows are fired outside the engine, if they can be; what is counted on the
 * way is settled after so many pulls. */
void machine_fires_aside(struct machine *m, unsigned settles_every);

/* --- in --- */

/* Both clocks go to where the wall clock shows `now_ms` (the monotonic one never back). */
void machine_go_to(struct machine *m, int64_t now_ms);
/* One of them alone. */
void machine_clock(struct machine *m, int64_t now_ms);
void machine_mono(struct machine *m, int64_t mono_ms);

/* These bytes came from a connection, which is opened if it is not open. */
void machine_feed_from(struct machine *m, enum side side, size_t connection, struct bytes bytes);
/* At `now_ms`, from connection 0. */
void machine_feed(struct machine *m, enum side side, struct bytes bytes, int64_t now_ms);

/* A timer tick at `now_ms`. */
void machine_tick(struct machine *m, int64_t now_ms);

void machine_open(struct machine *m, enum side side, size_t connection);
/* What waits is still taken first; so it is when a side ends. */
void machine_close(struct machine *m, enum side side, size_t connection);
void machine_end(struct machine *m, enum side side);

/* lookup: `text` is what the file holds: a table is made of it, beside the one that answers.
 * False: it is wrong and given up; m->table.fault says why. */
bool machine_load(struct machine *m, struct bytes text);
/* The table that was made takes the place of the old one, ... */
void machine_swap(struct machine *m);
/* ... or is given up. */
void machine_drop(struct machine *m);

/* Nothing is read from this side, until it is released. */
void machine_hold(struct machine *m, enum side side);
void machine_release(struct machine *m, enum side side);

/* Some bytes of this side wait. */
bool machine_refused(const struct machine *m, enum side side);

/* --- out --- */

/* One call for up to `max` results; they are appended to `rows`. Returns how many. */
size_t machine_pull(struct machine *m, size_t max, int64_t fuel);

/* Pulls like that until there is nothing to do. */
void machine_drain(struct machine *m, size_t max, int64_t fuel);

void machine_forget_rows(struct machine *m);
void machine_forget_rejects(struct machine *m, size_t count); /* the first ones */
void machine_forget_lates(struct machine *m, size_t count);
void machine_forget_log(struct machine *m);

#endif
