/*
 * io/listener: a listening socket, of any kind, that cannot be flooded.
 *
 * It accepts a few connections a turn of the loop, so that a storm of them does
 * not starve data. When descriptors run out it tells the peer by closing (a
 * spare one is kept for that), rests a quarter of a second, and logs once a minute.
 */
#ifndef IO_LISTENER_H
#define IO_LISTENER_H

#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/buf.h"
#include "config/config.h"
#include "io/binding.h"
#include "io/log.h"

struct listener;

/* A peer has come: `fd` is non-blocking and now belongs to the callee, and
 * `peer` is good during the call. */
typedef void listener_accept(void *owner, int fd, const char *peer);

#define LISTENER_MAGIC 0x4e54534cu /* LSTN */

struct listener {
    uint32_t magic;
    const struct endpoint *endpoint; /* not owned */
    const char *section;             /* for messages: left, output, http */
    struct binding binding;
    int spare_fd;
    struct event readable, rest_over;
    int64_t exhausted_told_ms; /* monotonic: when the log last had that no descriptor is left */
    size_t connections;        /* open now; the owner counts down by listener_gone() */
    listener_accept *accept;
    void *owner;
    struct log_limit limit;
    char bound[64]; /* TCP: the address in use, with the real port */
};

/* False: cannot listen; an error is logged that says what to do. */
bool listener_open(struct listener *l, struct event_base *base, const struct endpoint *e,
                   const char *section, listener_accept *accept, void *owner);
void listener_close(struct listener *l);

/* Before the close: takes all that wait in the queue, and lets nobody into it any more
 * (binding_refuse), for the close would reset them. Of a passed socket it takes who waits now;
 * others wait for the next who gets it. */
void listener_take_last(struct listener *l);

/* Where it listens, as the ready line and messages say it. */
const char *listener_place(const struct listener *l);

/* One of the connections that were accepted is closed. */
void listener_gone(struct listener *l);

#endif
