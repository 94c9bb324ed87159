/*
 * flow/source: one connection, pipe or file that records come from.
 *
 * It is read into the pump's shared buffer; only what is not consumed is kept
 * here, so an idle connection costs a few hundred bytes. Its end is judged by how
 * it came: in order (FIN, end of file) what has no line end is a line; a reset,
 * or our own cut, leaves an unfinished line, which is rejected.
 */
#ifndef FLOW_SOURCE_H
#define FLOW_SOURCE_H

#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/list.h"
#include "codec/decoder.h"
#include "model/watermark.h"

struct input;

enum source_kind {
    SOURCE_SOCKET,
    SOURCE_STREAM,  /* a pipe or a terminal: can be waited for, cannot be half-closed */
    SOURCE_REGULAR, /* a file: always ready, until its end */
};

struct source {
    struct list_link link;       /* among its input's sources */
    struct list_link ready_link; /* among those that the pump has to look at */
    struct input *input;
    enum source_kind kind;
    int fd;
    bool shared;             /* with other processes (standard input): not to be changed in any
                              * way, neither made non-blocking nor half-closed */
    char *peer;              /* owned; for messages */
    struct decoder *decoder; /* owned */
    struct feed feed;        /* what the engine knows of it */
    bool held;               /* back, since it had something to read */
    struct buf tail;         /* read, not consumed; grows by source_read_on() alone */
    bool backlog;            /* the tail may hold whole rows: the engine refused some */
    bool looked_at;          /* its first bytes, for another protocol's */
    bool header_told;        /* that its header is unusable is logged once */
    enum input_end end;
    struct event readable;
    bool watching;
};

/* `fd` belongs to the source. `peer` is copied. */
struct source *source_new(struct input *in, int fd, enum source_kind kind, const char *peer);
void source_free(struct source *s);

enum source_kind source_kind_of(int fd);

/* Reads once, up to `max` bytes, to `to`. Returns how many, 0 when nothing is there
 * now; notes the end when it comes. Never waits, even where the descriptor would. */
size_t source_read(struct source *s, char *to, size_t max);

/* The same, to the end of the tail. That may move it, so rows that point into it are given
 * back to it first. */
size_t source_read_on(struct source *s, size_t max);

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
