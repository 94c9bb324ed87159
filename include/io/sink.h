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
 *
 * A peer that connects may be none: a health check, or a tunnel with nothing behind it, closes at
 * once. So a new one settles first: for SINK_SETTLE_MS rows wait and nothing is written, and an
 * end that comes meanwhile is known before.
 *
 * A sink for which nothing waits may be lent: then somebody else, a thread, writes rows to its
 * descriptor, and nothing else is done with it. Whatever happens to it next ends that first.
 */
#ifndef IO_SINK_H
#define IO_SINK_H

#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/list.h"
#include "io/link.h"

#define SINK_SETTLE_MS 200

struct sink;

/* The peer is gone, or writes fail for good (s->dead says why). The owner frees it. */
typedef void sink_gone(void *owner, struct sink *s);

/* Ends a loan: when it returns, nobody else writes any more, and what he has written was told by
 * sink_put_written(). */
typedef void sink_returned(void *borrower);

#define SINK_MAGIC 0x4b4e4953u /* SINK */

struct sink {
    uint32_t magic;
    struct list_link among; /* the owner's other ones */
    struct link link;
    char *name;         /* owned; of the peer, or the path */
    struct buf pending; /* from a line's start */
    size_t sent;        /* bytes of pending that are written: part of its first line; after a
                         * FIN also lines that are not acknowledged */
    size_t header_left; /* bytes of pending, from its start, that are no results */
    size_t last;        /* ending: no more bytes of pending, from its start, are written */
    bool pended;        /* something was pending since the last sink_trim() */
    struct event retry;
    bool quoted;              /* rows are CSV: a LF within quotes ends none */
    bool fin_seen;            /* the peer sends no more, and is not watched for it */
    bool fin_ends;            /* the owner's wish: a FIN asks us to end, see sink_new() */
    bool ending;              /* that has happened: the line under way is finished */
    bool settling;            /* see sink_settle() */
    bool doubted;             /* said FIN, and was written to so lately that it may be gone */
    bool waiting;             /* for writable, or for the retry */
    const char *trouble;      /* why a file refuses for now, or NULL */
    const char *dead;         /* why it will never take a byte again, or NULL */
    int64_t stalled_since_ms; /* monotonic: the last byte taken, or the start of waiting */
    uint64_t written;         /* bytes ... */
    uint64_t counted;         /* ... how many of them in bytes_written ... */
    uint64_t taken;           /* ... how many of them the peer had, as last looked at ... */
    size_t queued;            /* ... what waited in the socket ... */
    int64_t taken_ms;         /* ... and when it last took any, or had all */
    bool discarding;          /* slow = discard: is given nothing until it reads again */
    uint64_t *bytes_written;  /* the owner's counter; after a FIN: of what has arrived */
    uint64_t since;           /* the owner's */
    sink_gone *gone;
    void *owner;
    sink_returned *lent; /* how to end the loan; NULL: it is not lent */
    void *borrower;
};

/* `fd` belongs to the sink from now on. `name` is copied. Where `fin_ends` is set afterwards, a
 * FIN is taken as the peer's wish to stop: the line under way is finished, then it is gone. One
 * that comes while it settles is no such wish: who is about to stop does not begin to read. */
struct sink *sink_new(struct event_base *base, int fd, const char *name, uint64_t *bytes_written,
                      sink_gone *gone, void *owner);
/* Nothing is written for SINK_SETTLE_MS from now on. */
void sink_settle(struct sink *s);
/* Closes; forgets what is pending. */
void sink_free(struct sink *s);
/* Before it closes: ends in order, also for a peer who has sent something. */
void sink_say_goodbye(struct sink *s);

/* Whole lines, of which the first `header_bytes` are no results. Written at once as
 * far as the peer takes them. Sets s->dead when that fails for good (the lines are then
 * pending); does not call `gone`. */
void sink_put(struct sink *s, struct bytes lines, size_t header_bytes);

/* A peer's, and as if it had just been given everything. */
bool sink_is_idle(const struct sink *s);

/* An idle one: no row is put until it is taken back, or has not taken all that it was written. */
void sink_lend(struct sink *s, sink_returned *how, void *borrower);
void sink_take_back(struct sink *s); /* if it is lent */

/* Whole lines as by sink_put(), which the borrower gave to link_write() in one call, after all that
 * came before: what that said. */
void sink_put_written(struct sink *s, struct bytes lines, ssize_t said);

static inline size_t sink_unwritten(const struct sink *s)
{
    return buf_length(&s->pending) - s->sent;
}

/* It was not given everything yet, or may turn out not to have been there. */
static inline bool sink_waits(const struct sink *s)
{
    return sink_unwritten(s) > 0 || s->doubted;
}

/* Appends the results that are not wholly written (after a FIN: that have not wholly arrived)
 * to `to`. */
void sink_keep(const struct sink *s, struct buf *to);

/* What it was written after a FIN and did not take yet, it shall not get any more: the next one
 * does. */
void sink_drop(struct sink *s);

/* How many results are not wholly written, whatever was said. */
uint64_t sink_rows(const struct sink *s);

/* Of one that settles: whole results that come before all others that it was given. */
void sink_precede(struct sink *s, struct bytes rows);

/* Once a second: finds out whether a peer has taken nothing of what is there for it for
 * `dead_after_ms` (0: that is no matter), or whether one that said FIN has gone altogether
 * (reset, or found dead by keepalive). Then s->dead is set; does not call `gone`.
 *
 * TCP_USER_TIMEOUT would do the first for TCP, but it takes keepalive's place too: an idle peer
 * that vanished would be found only after dead_after. tcp(7). */
void sink_tick(struct sink *s, int64_t now_ms, int64_t dead_after_ms);

/* Once a second, of any kind: gives back most memory of what is pending, once nothing is and
 * nothing has been since the time before. */
void sink_trim(struct sink *s);

#endif
