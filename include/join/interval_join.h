/*
 * join/interval_join: records match when one's time lies within bounds round the other's.
 *
 * Each record is stored, and meets what the other side holds of its key: a probe, walked
 * as results are pulled. It leaves when time has passed the last partner that it could
 * have. So there are three causes of results, and they do not overlap: while a probe is
 * under way, or a record waits to leave with a row, no other is taken. What leaves
 * without a row does so on the way, a few at a time.
 *
 *     pushed -> probe -> held -> leaves     (matched, or padded, or silently unmatched)
 *                  \---> not held: it came so late that it can get no more partner
 *
 * Rules: semantics.md sections 3 and 5b. Of a semi or anti join, a right record matches
 * what no other has decided before it.
 */
#ifndef JOIN_INTERVAL_JOIN_H
#define JOIN_INTERVAL_JOIN_H

#include <stdbool.h>
#include <stdint.h>

#include "join/operator.h"
#include "join/pairing.h"
#include "model/instant.h"
#include "store/expiry.h"
#include "store/key_chains.h"
#include "store/spent.h"

/* A side's partners have times in [t + lower, t + upper]. */
struct interval_side {
    int64_t lower, upper;
    bool pads;            /* plan_pads() */
    struct expiry expiry; /* of the records that are held */
};

/* A record that meets those of the other side. */
struct interval_probe {
    enum side side;
    uint32_t ref;  /* REFERENCE_NONE: no probe is under way */
    bool held;     /* else it goes when it has met all */
    uint32_t next; /* of the other side */
};

struct interval_join {
    struct operator_context context;
    struct pairing pairing;
    bool one_sided; /* plan_is_one_sided() */
    struct key_chains chains;
    struct interval_side side[SIDES];
    struct stream_time reached;
    int64_t base; /* of times that are stored as 32 bits; records beyond have whole ones */
    struct interval_probe probe;
    struct spent spent;
    bool flushing; /* all that is held is due */
    int64_t debt;  /* fuel that pushes have used */
};

extern const struct operator operator_interval;

#endif
