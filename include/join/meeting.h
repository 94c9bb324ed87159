/*
 * join/meeting: a left record meets the one right record that it sees, or nobody.
 *
 * What the two joins with the latest value have in common (join/latest_join,
 * join/as_of_join): the records of both sides, the row that a left one gives, the fates,
 * and the records that have left while results may still point at them. Those are linked
 * by their hash, and go at the next pull.
 *
 * Rules: semantics.md section 4, interface.md section 5. A right record is matched when a
 * left one has matched it, whether that gives a pair, a row of semi, or none (anti).
 */
#ifndef JOIN_MEETING_H
#define JOIN_MEETING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "join/operator.h"
#include "join/pairing.h"
#include "store/arena.h"
#include "store/spent.h"

struct meeting {
    struct operator_context context;
    struct pairing pairing;
    struct arena side[SIDES]; /* of records that are RECORD_TIMED */
    struct spent spent;
    bool pads; /* plan_pads() of the left side */
};

/* `prefix` is that of both arenas. */
void meeting_init(struct meeting *m, const struct operator_context *c, uint32_t prefix);
void meeting_done(struct meeting *m);

static inline struct record *meeting_record(const struct meeting *m, enum side side, uint32_t ref)
{
    return arena_record(&m->side[side], ref);
}

/* Begins a pull: what only the results of the one before pointed at goes, by fuel. */
void meeting_give_back(struct meeting *m, int64_t *fuel);

static inline bool meeting_has_spent(const struct meeting *m)
{
    return spent_any(&m->spent);
}

/* Sets at most one result, and returns how many. `right` REFERENCE_NONE: nobody is seen.
 * The left record has left then, unless *ret_over is false: it has to meet nobody once
 * more, since `on` failed and that was told. */
size_t meeting_tell(struct meeting *m, uint32_t left, uint32_t right, struct result *ret,
                    int64_t *fuel, bool *ret_over);

/* A right record leaves: replaced, forgotten, or at the end. */
void meeting_forget(struct meeting *m, uint32_t right);

/* How many bytes state may still grow beside the `other_bytes` that it has elsewhere. One
 * that holds nothing takes one record, however small the limit: else it would be full of
 * nothing for ever. */
uint64_t meeting_room(const struct meeting *m, uint64_t other_bytes);

/* All that is allocated: counts as state. */
static inline uint64_t meeting_bytes(const struct meeting *m)
{
    return arena_bytes(&m->side[SIDE_LEFT]) + arena_bytes(&m->side[SIDE_RIGHT]);
}

/* `t` and a span of time >= 0; INT64_MAX where it lies beyond all. */
static inline int64_t meeting_time_after(int64_t t, int64_t span_ms)
{
    int64_t sum;

    return __builtin_add_overflow(t, span_ms, &sum) ? INT64_MAX : sum;
}

#endif
