/*
 * join/session_queue: sessions in the order in which they end.
 *
 * Each session stands in it once, by the time of the last record that it had when it was
 * put in or was looked at. That time moves with nearly every record, but only later: so
 * it is put right when the session comes to the head too early (refresh), and no sooner.
 * Sessions that end together come in order of opening.
 *
 * Sessions open about in order of time, on each side: they wait in two lines, each in order.
 * Those that opened one after the other, and lie so in their pool, are one run there, so
 * most cost next to nothing. What fits behind neither line, as a session that was put right,
 * waits in a heap. The head is the first of the three.
 *
 * A session that became a part of a younger one (join/session.h) ends no later and was
 * opened before, so it comes to the head before that one's turn; it is dropped there.
 */
#ifndef JOIN_SESSION_QUEUE_H
#define JOIN_SESSION_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fifo.h"
#include "base/heap.h"
#include "join/session.h"

/* With all that order asks for: sessions themselves lie elsewhere, and far apart. */
struct session_queued {
    int64_t last; /* never above the session's own */
    uint64_t opened;
    uint32_t session;
    uint32_t count; /* in a line: so many others follow, whose numbers go on by one each, and
                     * which had one record each when they came */
};

struct session_line {
    struct fifo runs;  /* of struct session_queued */
    int64_t last_time; /* by which its last session stands in it */
};
#define SESSION_LINES 2

struct session_queue {
    struct session_queued head; /* a copy, while there is one */
    size_t count;               /* in all */
    unsigned head_line;         /* where the head stands; SESSION_LINES: in the heap */
    struct session_line lines[SESSION_LINES];
    struct heap heap; /* of struct session_queued */
};

void session_queue_init(struct session_queue *q);
void session_queue_done(struct session_queue *q, const struct session_pool *p);

static inline uint64_t session_queue_bytes(const struct session_queue *q)
{
    return q->lines[0].runs.bytes + q->lines[1].runs.bytes + heap_bytes(&q->heap);
}

/* What session_queue_put(), or session_queue_move() to it, would allocate at most. */
uint64_t session_queue_need(const struct session_queue *q);

void session_queue_put(struct session_queue *q, const struct session_pool *p, uint32_t session,
                       int64_t last);

/* The head, of a queue that is not empty. */
void session_queue_drop(struct session_queue *q, const struct session_pool *p);

/* The head of `from` waits in the other one from now on. */
void session_queue_move(struct session_queue *from, struct session_queue *to,
                        const struct session_pool *p);

/* Gives the head its place if its session ends later by now or is a part; false: it is
 * where it belongs. May allocate session_queue_need(). */
bool session_queue_refresh(struct session_queue *q, const struct session_pool *p);

#endif
