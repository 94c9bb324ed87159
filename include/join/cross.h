/*
 * join/cross: the results of one group of records: those of a key in a window, or a
 * session.
 *
 * A group is two chains of references (store/reference.h), one a side, in order of arrival:
 * a record's hash is the reference of the next one. Its results come left-major, each left
 * record with all rights; what had no match is told when its turn is over, and the rights
 * without one at the end. A cross can stop anywhere and go on later: it is two positions,
 * however many pairs there are. Fates are decided on the way (join/pairing).
 *
 * Rules: semantics.md section 2.
 */
#ifndef JOIN_CROSS_H
#define JOIN_CROSS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "join/near_miss.h"
#include "join/pairing.h"
#include "model/plan.h"
#include "model/result.h"
#include "store/reference.h"

enum cross_task {
    CROSS_TELL = 1,   /* matches are told, and decide fates */
    CROSS_CLOSE = 2,  /* no more can match: padding, rows of anti, and the unmatched decided */
    CROSS_DERIVE = 4, /* who matched, before, is found out once more, without a word */
};

/* Chunks [first, first + count) of a directory. */
struct cross_range {
    uint32_t first, count;
};
#define CROSS_ALL ((struct cross_range){0, UINT32_MAX})

/* Where the undecided of some chunks are counted, from `first_chunk` on to the next one's. */
struct cross_count {
    uint32_t first_chunk;
    uint64_t *held;
};

struct cross {
    struct pairing pairing;
    bool pads[SIDES], one_sided; /* plan_pads(), plan_is_one_sided() */
    bool asks;                   /* there is an `on` */

    /* Set by the owner before cross_begin(). What cross_init() sets is right where a group
     * is walked once, when all has come. */
    unsigned tasks;        /* TELL and CLOSE; DERIVE goes without TELL */
    uint16_t matched_flag; /* what marks a match in this group; DERIVE sets it anew */
    uint64_t *held[SIDES]; /* the store's counts of undecided records */
    const struct cross_count *counts[SIDES]; /* NULL: it is one count, held[]; not owned */
    uint32_t count_count[SIDES];
    struct log_chunk *const *chunks[SIDES]; /* what references are into; not owned */
    int64_t window_start, window_end;       /* of results */
    int64_t time_base;                      /* of records: record_time_near() */
    struct cross_range members[SIDES];      /* records elsewhere are passed over: CROSS_ALL */
    struct cross_range leaving[SIDES];      /* CLOSE decides these alone: CROSS_ALL */
    struct near_miss *near_miss;            /* told of the unmatched; not owned; NULL: nobody */
    uint32_t hash;                          /* of the group's key; for near_miss alone */

    int64_t debt; /* fuel that near misses took: for the owner to pay, who sets it to 0 */

    /* position */
    uint32_t head[SIDES];
    uint32_t left, right; /* references */
    bool alone;           /* lefts and rights of this group do not match */
    bool lefts_done;
    bool rights_known; /* DERIVE: one left record has marked them all */
};

void cross_init(struct cross *c, const struct plan *plan, struct books *books);
void cross_done(struct cross *c);

/* The heads of the two chains; REFERENCE_NONE: no records on that side. `alone`: records
 * of NULL keys, which match nothing. The chains must stay until it is over. */
void cross_begin(struct cross *c, const uint32_t head[SIDES], bool alone);

static inline bool cross_is_over(const struct cross *c)
{
    return c->lefts_done && c->right == REFERENCE_NONE;
}

/* The record at `ref`, of a group or not, has no match to come: its fate, if it is one that
 * CLOSE decides and was not decided before. `hash` is its key's. */
void cross_leave(struct cross *c, enum side side, uint32_t ref, struct record *r, uint32_t hash);

/* Where the record at `ref` is counted while it is undecided. */
static inline uint64_t *cross_held(const struct cross *c, enum side side, uint32_t ref)
{
    const struct cross_count *counts = c->counts[side];
    uint32_t low = 0, high = c->count_count[side];

    if (counts == NULL)
        return c->held[side];
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (counts[middle].first_chunk <= ref >> REFERENCE_PLACE_BITS)
            low = middle;
        else
            high = middle;
    }
    return counts[low].held;
}

/* Sets a result with its times; a side without a record is NULL. */
static inline void cross_tell(const struct cross *c, enum result_kind kind, const struct record *l,
                              const struct record *r, struct result *ret)
{
    pairing_result(ret, kind, l, r, c->window_start, c->window_end);
    pairing_times(ret, c->time_base);
}

/* As engine_pull(): until it is over, one unit of fuel for each pair or record looked at.
 * Before records that results told of may go, pairing_forget(&c->pairing). */
size_t cross_pull(struct cross *c, struct result *ret, size_t max, int64_t *fuel);

#endif
