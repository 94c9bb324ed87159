/*
 * io/connector: connects to a peer, and again whenever that one has gone.
 *
 *     RESTING -> RESOLVING -> CONNECTING -> CONNECTED -> RESTING ...
 *
 * All addresses of a host are tried, one after the other, each for a limited time. After a
 * failure, or a connection that did not last, it rests: CONNECTOR_REST_MIN_MS at first, twice
 * as long each time, CONNECTOR_REST_MAX_MS at most, and each rest up to a half shorter by
 * chance, so that many that lost one peer do not come back at one instant. A
 * connection that lasted at least as long as the rest before it (as long as that would have been
 * without chance) begins again with the shortest one.
 *
 * The first failure of a row of them is logged, a new reason too, and its end; not each
 * attempt. Tunnels, proxies and balancers accept whatever becomes of what is behind them: a
 * connection that ends within CONNECTOR_PROOF_MS is a failure like others, and as long as they go
 * on like that, a new one is no success before that time is over.
 * interface.md sections 2 (connect) and 5 (/healthz).
 */
#ifndef IO_CONNECTOR_H
#define IO_CONNECTOR_H

#include <event2/event.h>
#include <event2/event_struct.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "config/config.h"
#include "io/resolver.h"

#define CONNECTOR_REST_MIN_MS 250
#define CONNECTOR_REST_MAX_MS 10000
#define CONNECTOR_TRY_MS      10000 /* for one address */
#define CONNECTOR_PROOF_MS    1000  /* a connection that lasts for so long is a good one */
#define CONNECTOR_TROUBLE_MS  60000 /* down for so long: /healthz says so */

enum connector_step {
    CONNECTOR_STOPPED,
    CONNECTOR_RESTING,
    CONNECTOR_RESOLVING,
    CONNECTOR_CONNECTING,
    CONNECTOR_CONNECTED,
};

/* `fd` is connected, non-blocking, has keepalive set, and now belongs to the callee; `peer` is
 * good during the call. */
typedef void connector_connected(void *owner, int fd, const char *peer);

#define CONNECTOR_MAGIC 0x54434e43u /* CNCT */

struct connector {
    uint32_t magic;
    const struct endpoint *endpoint; /* not owned */
    const char *section;             /* for messages: left, output, rejects */
    struct event_base *base;
    enum connector_step step;
    struct resolver *resolver;
    struct addrinfo *found, *at; /* owned: a host's addresses; the one being tried */
    int fd;                      /* being connected; -1: none */
    struct event connecting, timer;
    int64_t rest_ms;      /* the next rest, before chance shortens it */
    int64_t connected_ms; /* monotonic: when it was connected */
    int64_t down_ms;      /* monotonic: the start, or the end of the last good connection */
    bool flaps;        /* the last connection was no good one; nor has this one shown that it is */
    char trouble[128]; /* why it is not connected, as last told; empty: never failed */
    connector_connected *connected;
    void *owner;
};

/* The first attempt begins at once; `connected` is called from the loop, never from here. */
void connector_start(struct connector *c, struct event_base *base, const struct endpoint *e,
                     const char *section, connector_connected *connected, void *owner);

/* The connection that was handed over has gone, and is logged as that: connects again. */
void connector_again(struct connector *c);

/* We want to be done soon: what rests tries at once, and rests are short again. */
void connector_hurry(struct connector *c);

/* Fine to call at any time, also before the start. */
void connector_stop(struct connector *c);

static inline bool connector_is_connected(const struct connector *c)
{
    return c->step == CONNECTOR_CONNECTED;
}

/* Monotonic: since when it has been connected, or has not. */
static inline int64_t connector_since_ms(const struct connector *c)
{
    return connector_is_connected(c) ? c->connected_ms : c->down_ms;
}

/* Down for CONNECTOR_TROUBLE_MS: true, and the reason is appended. */
bool connector_trouble(const struct connector *c, struct buf *ret_reason);

#endif
