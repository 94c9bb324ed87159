/*
 * join/latest_join: each left record is combined with the right value that its key has
 * when it is read. The latest-value join in processing time.
 *
 * A key has one right record, its value; a newer one takes its place. A left record that
 * finds a value, or that is padded at once, is ready: a few of them may be before results
 * have to be pulled, since left records change nothing for one another. One that finds
 * none may wait for it, held at most `wait`: those of a key in a chain, in order of
 * arrival, which a value that comes sends on its way (a release). So a key has a value
 * or left records that wait, or both while a release is under way.
 *
 *     left    pushed -> ready -> leaves
 *                  \-> waits -> ready   (a value came, or the wait is over)
 *     right   pushed -> value of its key -> forgotten (replaced, or not renewed for `ttl`)
 *
 * The clock does not run back: so waits are over, and values grow old, in order of
 * arrival, and a list a side says what is due. Rules: semantics.md section 4.
 */
#ifndef JOIN_LATEST_JOIN_H
#define JOIN_LATEST_JOIN_H

#include <stdbool.h>
#include <stdint.h>

#include "join/meeting.h"
#include "join/operator.h"
#include "model/instant.h"
#include "store/keyed_table.h"

/* Of a key that has a value, or left records that wait: references. */
struct latest_entry {
    struct keyed_entry entry;
    uint32_t right;      /* the value; REFERENCE_NONE */
    uint32_t head, tail; /* of the left records, linked by their hash; REFERENCE_NONE */
};

/* Before each record. */
struct latest_prefix {
    uint32_t prev; /* in its list of age; of one that is ready: the right record it sees */
    uint32_t next; /* there, or among those that are ready */
};

/* The held records of a side, the eldest first. */
struct latest_ages {
    uint32_t first, last; /* REFERENCE_NONE: none */
    int64_t span_ms;      /* how old one may become */
};

struct latest_join {
    struct meeting meeting;
    struct keyed_table keys; /* of struct latest_entry */
    struct latest_ages ages[SIDES];
    struct stream_time reached;
    uint32_t ready_first, ready_last, ready_count;
    uint32_t releasing; /* the entry whose left records go; KEYED_NONE */
    bool flushing;      /* all lefts that wait are due */
};

extern const struct operator operator_latest;

#endif
