/*
 * io/sink: one reader of an output: a subscriber's socket, or a file.
 *
 * A sink holds what it was given and could not write yet, from the start of the
 * first line that is not wholly written: if it goes, that is what the next reader
 * gets. Descriptors that can be waited for are non-blocking; a regular file is
 * always tried at once, and again every second while the disk refuses.
 *
 * A FIN is how both an end (Ctrl-C on nc) and a mere half-close (nc -N) look. From then on a
 * row is held until the peer's kernel has acknowledged it: of a peer that turns out to be
 * gone, the next reader gets what that one's kernel did not take.
 */
#ifndef IO_SINK_H
#define IO_SINK_H

#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/list.h"

struct sink;

/* The peer is gone, or writes fail for good (s->dead says why). The owner frees it. */
typedef void sink_gone(void *owner, struct sink *s);

struct sink {
    struct list_link link; /* the owner's */
    int fd;
    bool regular; /* a regular file: no readiness events */
    bool tcp;
    char *name;         /* owned; of the peer, or the path */
    struct buf pending; /* from a line's start */
    size_t sent;        /* bytes of pending that are written: part of its first line; after a
                         * FIN also lines that are not acknowledged */
    size_t header_left; /* bytes of pending, from its start, that are no results */
    size_t last;        /* ending: no more bytes of pending, from its start, are written */
    struct event writable, readable, retry;
    bool quoted;              /* rows are CSV: a LF within quotes ends none */
    bool fin_seen;            /* the peer sends no more, and is not watched for it */
    bool fin_ends;            /* the owner's wish: a FIN asks us to end, see sink_new() */
    bool ending;              /* that has happened: the line under way is finished */
    bool waiting;             /* for writable, or for the retry */
    const char *trouble;      /* why a file refuses for now, or NULL */
    const char *dead;         /* why it will never take a byte again, or NULL */
    int64_t stalled_since_ms; /* monotonic: the last byte taken, or the start of waiting */
    uint64_t written;         /* bytes */
    uint64_t taken;           /* ... how many of them the peer had, as last looked at ... */
    int queued;               /* ... what waited in the socket ... */
    int64_t taken_ms;         /* ... and when it last took any, or had all */
    bool discarding;          /* slow = discard: is given nothing until it reads again */
    uint64_t *bytes_written;  /* the owner's counter */
    sink_gone *gone;
    void *owner;
};

/* `fd` belongs to the sink from now on. `name` is copied. Where `fin_ends` is set afterwards, a
 * FIN is taken as the peer's wish to stop: the line under way is finished, then it is gone. */
struct sink *sink_new(struct event_base *base, int fd, const char *name, uint64_t *bytes_written,
                      sink_gone *gone, void *owner);
/* Closes; forgets what is pending. */
void sink_free(struct sink *s);

/* Whole lines, of which the first `header_bytes` are no results. Written at once as
 * far as the peer takes them. Sets s->dead when that fails for good (the lines are then
 * pending); does not call `gone`. */
void sink_put(struct sink *s, struct bytes lines, size_t header_bytes);

static inline size_t sink_unwritten(const struct sink *s)
{
    return buf_length(&s->pending) - s->sent;
}

/* Appends the results that are not wholly written to `to`. */
void sink_keep(const struct sink *s, struct buf *to);

/* A file: what is pending, and all that follows, goes to `fd`, behind `first`, of which
 * `header_bytes` are no results. */
void sink_restart(struct sink *s, int fd, struct bytes first, size_t header_bytes);

/* Once a second: finds out whether a peer has taken nothing of what is there for it for
 * `dead_after_ms` (0: that is no matter), or whether one that said FIN has gone altogether
 * (reset, or found dead by keepalive). Then s->dead is set; does not call `gone`.
 *
 * TCP_USER_TIMEOUT would do the first for TCP, but it takes keepalive's place too: an idle peer
 * that vanished would be found only after dead_after. tcp(7). */
void sink_tick(struct sink *s, int64_t now_ms, int64_t dead_after_ms);

#endif
