/*
 * join/session_join: records of a key that are never more than `gap` apart are a session,
 * over both sides, and join one another when it is over.
 *
 * Records lie in an arena a side, linked by session (join/session); keys lead to the
 * sessions that are open. A session ends `gap` after its last record. When time has come
 * to its end (event time: plus grace; the clock: is past it) it takes no more, whether it
 * has been walked by then or not; so what is late, and what comes out, does not depend
 * on when results are pulled. Due sessions are walked one after the other, in order of
 * end, then of opening: their records are put in order (join/session_order) and crossed
 * (join/cross). Rules: semantics.md sections 2 and 5b.
 *
 * A due session stays in the tree of its key until somebody looks there, and in the queue
 * of the open ones until a pull, or one of a few steps of time, comes to it: one step may
 * make a million sessions due.
 */
#ifndef JOIN_SESSION_JOIN_H
#define JOIN_SESSION_JOIN_H

#include "join/cross.h"
#include "join/operator.h"
#include "join/session.h"
#include "join/session_order.h"
#include "join/session_queue.h"
#include "model/instant.h"
#include "store/arena.h"
#include "store/near_times.h"

/* Due sessions that are walked next, in this order: in no queue any more. */
#define SESSIONS_NEXT 16
struct sessions_next {
    struct session_queued sessions[SESSIONS_NEXT];
    size_t at, count;
};

enum session_step { SESSION_IDLE, SESSION_ORDER, SESSION_CROSS };

struct session_join {
    struct operator_context context;
    struct stream_time reached;
    int64_t hold_ms; /* from a session's last record until it is due */
    struct arena records[SIDES];
    struct near_times times; /* of records: most are kept as 32 bits */

    struct session_pool pool;
    struct session_queue open; /* by their time */
    struct session_queue due;  /* those of a flush, and those that steps of time have found */
    uint64_t flushed;          /* all that were opened before this one are due */

    /* the walk */
    struct sessions_next next;
    enum session_step step;
    uint32_t walked; /* with SESSION_CROSS: the session at hand */
    struct session_order order;
    struct cross cross;
    uint32_t spent; /* sessions, linked by entry.next, that go at the next pull */
};

extern const struct operator operator_session;

#endif
