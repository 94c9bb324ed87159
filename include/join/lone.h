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

#include "base/heap.h"
#include "join/near_miss.h"
#include "lang/side.h"
#include "model/books.h"
#include "model/plan.h"
#include "model/record.h"
#include "model/result.h"
#include "store/held.h"

/* A copy of a record. */
struct lone_record {
    struct lone_record *next; /* of those that results tell of */
    uint64_t number;          /* of arrival on its side */
    enum side side;
    struct record record; /* to its end */
};

struct lone_due {
    int64_t time;
    uint64_t arrival;         /* over both sides */
    struct lone_record *lone; /* owned */
};

struct lone_records {
    struct heap due;           /* of struct lone_due; in no pool */
    struct lone_record *given; /* owned: results tell of them; NULL: of none */
    uint64_t arrivals;
    uint64_t record_bytes;
    uint64_t held[SIDES];
};

void lone_init(struct lone_records *l);
void lone_done(struct lone_records *l);

/* Keeps a copy. `room` is how many bytes may still be allocated: false if it takes more. */
bool lone_push(struct lone_records *l, enum side side, const struct record_parts *parts,
               uint64_t number, uint64_t room);

/* The lowest time of those held; INT64_MAX: none is. */
int64_t lone_first(const struct lone_records *l);

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

/* All that is allocated: counts as state. */
static inline uint64_t lone_bytes(const struct lone_records *l)
{
    return l->record_bytes + heap_bytes(&l->due);
}

/* Tells of those of a side. */
void lone_list(const struct lone_records *l, enum side side, const struct held_listener *to);

#endif
