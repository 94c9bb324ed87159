/*
 * core/session_queue: sessions in the order in which they end.
 *
 * Each session stands in it once, by the time of the last record that it had when it was
 * put in or was looked at. That time moves with nearly every record, but only later: so
 * it is put right when the session comes to the head too early (refresh), and no sooner.
 * Sessions that end together come in order of opening.
 *
 * A session that became a part of a younger one (core/session.h) ends no later and was
 * opened before, so it comes to the head before that one's turn; it is dropped there.
 */
#ifndef CORE_SESSION_QUEUE_H
#define CORE_SESSION_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#include "core/session.h"

struct session_queued {
    int64_t last; /* never above the session's own */
    uint32_t session;
};

struct session_queue {
    struct session_queued *at; /* owned; a heap */
    size_t count, capacity;
};

void session_queue_init(struct session_queue *q);
void session_queue_done(struct session_queue *q);

static inline uint64_t session_queue_bytes(const struct session_queue *q)
{
    return q->capacity * sizeof(*q->at);
}

/* What session_queue_put() would allocate. */
uint64_t session_queue_need(const struct session_queue *q);

void session_queue_put(struct session_queue *q, const struct session_pool *p, uint32_t session);

/* The head, of a queue that is not empty. */
void session_queue_drop(struct session_queue *q, const struct session_pool *p);

/* Gives the head its place if its session ends later by now or is a part; false: it is
 * where it belongs. */
bool session_queue_refresh(struct session_queue *q, const struct session_pool *p);

#endif
