/*
 * store/held: the records that are in a store, told of one by one.
 */
#ifndef STORE_HELD_H
#define STORE_HELD_H

#include <stdint.h>

#include "model/record.h"

struct held_record {
    const struct record *record;
    int64_t time;
    uint64_t number; /* of arrival on its side: those that came later have higher ones */
};

/* Who is told. */
struct held_listener {
    void (*hear)(void *self, const struct held_record *h);
    void *self;
};

/* Of a store that knows records' times from `base` on; where they have none, it is theirs. */
static inline void held_tell(const struct held_listener *to, const struct record *r, int64_t base,
                             uint64_t number)
{
    bool timed = record_time_size(r->size_flags) > 0;

    to->hear(to->self, &(struct held_record){r, timed ? record_time_near(r, base) : base, number});
}

/* Counts those whose fate is not decided; `self` is a uint64_t. */
static inline void held_count(void *self, const struct held_record *h)
{
    *(uint64_t *)self += !record_has(h->record, RECORD_DECIDED);
}

#endif
