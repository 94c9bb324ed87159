/*
 * flow/source: one connection, pipe or file that records come from.
 *
 * What comes at once is read into a buffer that all share, and only what is not consumed is kept
 * here, so an idle connection costs a few hundred bytes. Who reads one alone (a history by turns,
 * a table) has its rows at hand instead, in the tail. Its end is judged by how
 * it came: in order (FIN, end of file) what has no line end is a line; a reset,
 * or our own cut, leaves an unfinished line, which is rejected.
 */
#ifndef FLOW_SOURCE_H
#define FLOW_SOURCE_H

#include <event2/event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/list.h"
#include "codec/decoder.h"
#include "config/config.h"
#include "io/link.h"
#include "io/log.h"
#include "lang/side.h"
#include "model/watermark.h"

struct source;

/* It has something to read, or came to its end. */
typedef void source_ready(void *mover, struct source *s);

/* The sources of one input, and what they share. */
struct source_group {
    enum side side;
    const struct input_config *config; /* not owned */
    struct event_base *base;
    source_ready *ready; /* NULL: none of them is watched */
    void *mover;
    struct list sources; /* of struct source, owned */
    size_t count;
    uint64_t bytes;          /* read */
    uint64_t wrong_protocol; /* sources that plainly spoke another one */
    bool fault;              /* a file that cannot be read, or has no usable header, or a batch's
                              * connection that broke: ends with 1 */
    struct log_limit bad_records;
};

void source_group_init(struct source_group *g, struct event_base *base,
                       const struct input_config *c, enum side side, source_ready *ready,
                       void *mover);

#define SOURCE_MAGIC 0x45435253u /* SRCE */

struct source {
    uint32_t magic;
    struct list_link among;      /* its group's other sources */
    struct list_link ready_link; /* among those that the mover has to look at */
    struct source_group *group;
    struct link link;
    char *peer;              /* owned; for messages */
    struct decoder *decoder; /* owned */
    struct feed feed;        /* what the engine knows of it: opened and closed by the owner */
    bool held;               /* back, since it had something to read */
    struct buf tail;         /* read, not consumed; grows by source_read_on() alone */
    struct batch *rows;      /* at hand, see source_cut_rows(); not owned */
    size_t from;             /* the next one of them */
    size_t used;             /* bytes of the tail that they came from */
    bool backlog;            /* the tail may hold whole rows: the engine refused some */
    bool looked_at;          /* its first bytes, for another protocol's */
    bool header_told;        /* that its header is unusable is logged once */
    enum input_end end;
};

/* One more of the group. `fd` belongs to the source. `peer` is copied. */
struct source *source_new(struct source_group *g, int fd, const char *peer);
void source_free(struct source *s);

/* Reads once, up to `max` bytes, to `to`. Returns how many, 0 when nothing is there
 * now; notes the end when it comes. Never waits, even where the descriptor would. */
size_t source_read(struct source *s, char *to, size_t max);

/* The same, to the end of the tail. That may move it: first rows at hand are given back to it. */
size_t source_read_on(struct source *s, size_t max);

/* What was at hand is done with: cuts the next rows of the tail into `b`. They point into it, so
 * that it stays as it is while they are at hand. False: it has no more. */
bool source_cut_rows(struct source *s, struct batch *b);

static inline bool source_has_rows(const struct source *s)
{
    return s->rows != NULL && s->from < s->rows->count;
}

/* Asks the loop to say when there is something to read; source_unwatch(): not to. */
void source_watch(struct source *s);
void source_unwatch(struct source *s);

/* Is there something to read, or an end, right now? */
bool source_has_input(const struct source *s);

/* We want to stop: tells the peer by a half-close, ends what has no peer, and leaves the
 * others their time. */
void source_ask_to_end(struct source *s);
/* We stop now: an unfinished line will be rejected. */
void source_cut(struct source *s);

#endif
