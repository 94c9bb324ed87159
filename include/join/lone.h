/*
 * join/lone: records that lie in no window, where windows leave gaps (slide > size).
 *
 * They match nothing. Each is unmatched when time has passed it, and padded if its side is;
 * until then it is held: in order of time, those of one time in order of arrival.
 * semantics.md section 2.
 */
#ifndef JOIN_LONE_H
#define JOIN_LONE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "join/near_miss.h"
#include "lang/side.h"
#include "model/books.h"
#include "model/plan.h"
#include "model/record.h"
#include "model/result.h"
#include "store/held.h"

struct lone_record {
    int64_t time;
    uint64_t arrival;      /* over both sides */
    uint64_t number;       /* on its own */
    struct record *record; /* owned */
    enum side side;
};

struct lone_records {
    struct lone_record *records; /* owned: a heap of `count`, then `given` that results tell of */
    size_t count, given, capacity;
    uint64_t arrivals;
    uint64_t bytes; /* all that is allocated: counts as state */
    uint64_t held[SIDES];
};

void lone_done(struct lone_records *l);

/* Keeps a copy. `room` is how many bytes may still be allocated: false if it takes more. */
bool lone_push(struct lone_records *l, enum side side, const struct record_parts *parts,
               uint64_t number, uint64_t room);

/* The lowest time of those held; INT64_MAX: none is. */
static inline int64_t lone_first(const struct lone_records *l)
{
    return l->count == 0 ? INT64_MAX : l->records[0].time;
}

/* The lowest time at or above `from`; INT64_MAX: none. Where many are below, it may be
 * `from` itself, though none is of that time: to find out would take too long. */
int64_t lone_first_from(const struct lone_records *l, int64_t from);

/* As engine_pull(), of those whose time is at or below `until`. What earlier results
 * pointed at must have been given back: lone_give_back(). `near_miss` is told of them;
 * NULL: nobody is. */
size_t lone_pull(struct lone_records *l, const struct plan *plan, struct books *books,
                 struct near_miss *near_miss, int64_t until, struct result *ret, size_t max,
                 int64_t *fuel);
void lone_give_back(struct lone_records *l);

/* Tells of those of a side. */
void lone_list(const struct lone_records *l, enum side side, const struct held_listener *to);

#endif
