/*
 * store/late_index: a pane's records, found by key, for late records.
 *
 * Records that wait for their window are in no index (store/window_log). Once a window has
 * fired and still takes late records, each of them has to find its partners without a scan
 * of all that is there. So a partition gets an index when a late record first asks for it;
 * what was appended since is added when the next one asks. It is memory of its own, for
 * the walks to come use the records' hashes: 8 bytes a record, and a slot a key.
 *
 *     slot (hash) -> entry -> entry -> entry     in order of arrival; NULL keys in none
 */
#ifndef STORE_LATE_INDEX_H
#define STORE_LATE_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "lang/side.h"
#include "store/reference.h"
#include "store/window_log.h"

#define LATE_NONE UINT32_MAX

struct late_entry {
    uint32_t reference; /* into the partition's chunks */
    uint32_t next;      /* of the same key; LATE_NONE */
};

struct late_slot {
    uint32_t hash;
    uint32_t first, last; /* entries; first LATE_NONE: it is free */
};

struct late_part {
    uint32_t chunk, offset;     /* of the partition: all before is indexed */
    struct late_entry *entries; /* owned */
    uint32_t count, capacity;
    struct late_slot *slots; /* owned; open addressing; NULL: nobody has asked yet */
    uint32_t slot_mask, keys;
};

struct late_index {
    unsigned bits;            /* as the pane's logs have */
    uint64_t bytes;           /* all that is allocated */
    struct late_part parts[]; /* the left side's, then the right's: 1 << bits each */
};

struct late_index *late_index_new(unsigned bits);
void late_index_free(struct late_index *x);            /* NULL is fine */
uint64_t late_index_bytes(const struct late_index *x); /* of NULL: 0 */

static inline struct late_part *late_index_part(struct late_index *x, enum side side, uint32_t part)
{
    return &x->parts[((uint32_t)side << x->bits) + part];
}

/* Adds what the log has got since the last time. False: the fuel is used up before that;
 * it goes on where it was. No walk may be under way, for that hides hashes. */
bool late_index_catch_up(struct late_index *x, enum side side, const struct window_log *l,
                         uint32_t part, int64_t *fuel);

/* The first entry of this key; LATE_NONE. Of what was caught up with. */
uint32_t late_index_find(const struct late_part *p, const struct window_log *l, uint32_t part,
                         uint32_t hash, struct bytes key);

#endif
