/*
 * join/session_order: the records of a session's parts become one ring a side.
 *
 * Each part's records are in order of arrival already. The ring of parts is gone round, and each
 * is merged with its next one, until one is left: n log k steps for n records in k parts,
 * and no memory. It can stop at any record. Parts that came one after the other, as most
 * do, are hung together in one step.
 */
#ifndef JOIN_SESSION_ORDER_H
#define JOIN_SESSION_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "join/session.h"
#include "lang/side.h"
#include "store/reference.h"

struct session_order {
    uint32_t at;      /* the part that takes its next one's records ... */
    enum side side;   /* ... on this side */
    bool merging;     /* record by record: */
    uint32_t rest[2]; /* the first ones that are left, of its own and of its next one's */
    uint32_t made;    /* so far: the last one of a ring */
};

/* All that is in the ring of `session` belongs to this until it is done. */
void session_order_begin(struct session_order *o, uint32_t session);

/* True: it is done, and what is left, o->at, has all records; the others are closed.
 * Its times and key are those of any part. */
bool session_order_go(struct session_order *o, struct session_pool *p, int64_t *fuel);

#endif
