/*
 * io/link: a descriptor that bytes come from or go to: a connection, a pipe, a terminal, a file.
 *
 * A source, a sink, a client of http holds one each, and does nothing with the descriptor but by
 * the functions here. So what lies between it and the kernel (a connection that is encrypted), and
 * what becomes of the descriptor when the process ends (one that the service manager keeps), has
 * one place.
 *
 *     link_read     > 0: bytes   0: nothing now   LINK_ENDED: in order   LINK_BROKEN: else
 *     link_write    > 0: bytes   0: no room now                          LINK_BROKEN
 *
 * Neither ever waits; reading does not even where the descriptor would. After 0 the owner asks to
 * be told when it is worth another try. What the loop has to look for then is decided here, not by
 * the owner: what is encrypted may have to be written before it can be read, and may be read before
 * it is asked for. For the same reason link_has_input() knows whether anything is there to read,
 * and nobody else.
 */
#ifndef IO_LINK_H
#define IO_LINK_H

#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum link_kind {
    LINK_TCP,
    LINK_LOCAL, /* any other stream socket */
    LINK_PIPE,
    LINK_TERMINAL,
    LINK_FILE,   /* a regular one; always ready, as is ... */
    LINK_DEVICE, /* ... anything else */
};

enum { LINK_ENDED = -1, LINK_BROKEN = -2 };

struct link;

/* The owner embeds the link, and may free it. */
typedef void link_told(struct link *l);

struct link_owner {
    link_told *readable, *writable;
};

#define LINK_MAGIC 0x4b4e494cu /* LINK */

struct link {
    uint32_t magic;
    int fd;
    enum link_kind kind;
    int error;     /* why it is broken: see link_why() */
    bool shared;   /* with other processes (standard input): is not made non-blocking */
    bool watched;  /* for something to read */
    bool is_reset; /* by us */
    const struct link_owner *owner;
    struct event reading;
    struct event *writing; /* owned; NULL: there has always been room */
};

/* Takes the descriptor, which is non-blocking or will be called shared, and looks what it is.
 * link_done() closes it. */
void link_init(struct link *l, struct event_base *base, int fd, const struct link_owner *owner);
void link_done(struct link *l);

static inline bool link_is_socket(const struct link *l)
{
    return l->kind == LINK_TCP || l->kind == LINK_LOCAL;
}

/* There is nothing to be waited for. */
static inline bool link_is_always_ready(const struct link *l)
{
    return l->kind == LINK_FILE || l->kind == LINK_DEVICE;
}

ssize_t link_read(struct link *l, char *to, size_t max);
ssize_t link_write(struct link *l, const char *p, size_t n);

/* Of one that is broken. */
const char *link_why(const struct link *l);

/* Tells the owner as long as there is something to read, or an end. One that is always ready is
 * told of at once. Both may be asked for again and again. */
void link_watch(struct link *l);
void link_unwatch(struct link *l);

/* Tells the owner once, when there is room. */
void link_await_room(struct link *l);

/* Is there something to read, or an end, right now? */
bool link_has_input(const struct link *l);

/* How many bytes can be read at once, at least if the peer sends no more. */
size_t link_unread(const struct link *l);

/* Written, and not acknowledged (TCP), or not read (others) yet; what it takes in the kernel. */
size_t link_unacknowledged(const struct link *l);

/* Both ways are closed, or it was reset: nothing that is written will arrive. */
bool link_is_gone(const struct link *l);

/* Says that we send no more. What comes can be read on. */
void link_half_close(struct link *l);

/* Breaks it (TCP): what is unacknowledged is not sent any more. */
void link_reset(struct link *l);

#endif
