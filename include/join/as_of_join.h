/*
 * join/as_of_join: each left record meets the right value that was the newest of its key
 * at its own time. The latest-value join in event time.
 *
 * Records of both sides wait until time comes to them, in order of time, then of arrival
 * (store/expiry). When it has come to a right one, that is the value of its key from then
 * on, and the one before is forgotten. When it has come to a left one, it meets the value
 * that its key has at that moment, which is the one it has to see: right goes before left
 * where times are equal. So a key has one value, whatever waits, and nothing is searched.
 *
 *     left    pushed -> waits -> meets -> leaves
 *     right   pushed -> waits -> is the value of its key -> forgotten
 *                  \----------------/ time has come to it already, and no newer value
 *
 * What waits may be far more than can be pulled at once. New records whose time has not
 * come go behind it, so they are taken meanwhile. Rules: semantics.md sections 4 and 5b.
 */
#ifndef JOIN_AS_OF_JOIN_H
#define JOIN_AS_OF_JOIN_H

#include <stdbool.h>
#include <stdint.h>

#include "join/meeting.h"
#include "join/operator.h"
#include "model/instant.h"
#include "store/expiry.h"
#include "store/keyed_table.h"

/* Of a key that has right records. */
struct as_of_entry {
    struct keyed_entry entry;
    uint32_t right;    /* its value; before it has one: the first record that came */
    uint32_t is_value; /* 1: it has one */
};

struct as_of_join {
    struct meeting meeting;
    struct keyed_table keys;      /* of struct as_of_entry */
    struct expiry waiting[SIDES]; /* for time to come to them */
    struct stream_time reached;
    uint32_t again;      /* a left record that has to be told once more; REFERENCE_NONE */
    size_t ahead[SIDES]; /* so many of those that come next have been fetched */
    uint32_t swept;      /* the end: entries up to this one have gone */
    bool flushing;       /* all lefts that wait are due */
};

extern const struct operator operator_as_of;

#endif
