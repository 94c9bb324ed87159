/*
 * model/fate: what becomes of each record.
 *
 * Whoever finds out a fate says so here, once a record, and nowhere else: so this is where to
 * look for what else is to know of it. A fate that is decided stands.
 */
#ifndef MODEL_FATE_H
#define MODEL_FATE_H

#include <stdint.h>

#include "lang/side.h"
#include "model/books.h"
#include "model/record.h"

/* Of `n` records at once, which nobody looks at one by one. */
static inline void record_fates(struct books *books, enum side side, enum fate fate, uint64_t n)
{
    books->side[side].fate[fate] += n;
}

/* `r` is NULL where the row was never stored. */
static inline void record_fate(struct books *books, enum side side, enum fate fate,
                               const struct record *r)
{
    (void)r; /* the books know records by their number only */
    record_fates(books, side, fate, 1);
}

#endif
