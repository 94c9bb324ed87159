/*
 * watch/http: a few short pages over HTTP: GET and HEAD, one answer a connection.
 *
 * Nothing that a client does costs more than its connection: a request's head has
 * 8 KiB and HTTP_DEADLINE_MS in all, however slowly it comes, and connections are
 * limited. (That is why this is not libevent's evhttp, which can limit neither a
 * connection's time nor their number: ARCHITECTURE.md.)
 */
#ifndef WATCH_HTTP_H
#define WATCH_HTTP_H

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/list.h"
#include "config/config.h"
#include "io/listener.h"

#define HTTP_HEAD_MAX    8192
#define HTTP_DEADLINE_MS 10000
#define HTTP_CLIENTS_MAX 64

struct http_reply {
    int status;       /* 200, 404, 503 ... */
    const char *type; /* Content-Type */
    struct buf body;
};

/* Fills the reply for a path such as `/metrics`. */
typedef void http_answer(void *owner, const char *path, struct http_reply *ret);

#define HTTP_MAGIC 0x50545448u /* HTTP */

struct http {
    uint32_t magic;
    struct endpoint endpoint; /* the configuration's, with our limits */
    struct listener listener;
    bool listening;
    struct event_base *base;
    struct list clients; /* owned */
    http_answer *answer;
    void *owner;
};

/* Not configured is fine. False: an error is logged. */
bool http_open(struct http *h, struct event_base *base, const struct endpoint *e,
               http_answer *answer, void *owner);
void http_close(struct http *h);

#endif
