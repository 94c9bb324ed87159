/*
 * store/late_index: a pane's records, found by key, for late records.
 *
 * Records that wait for their window are in no index (store/window_log). Once a window has
 * fired and still takes late records, each of them has to find its partners without a scan
 * of all that is there. So a partition is indexed when a late record first asks for it;
 * what was appended since is added when the next one asks. It is memory of its own, for
 * the walks to come use the records' hashes: 8 bytes a record, and an entry a key.
 *
 *     key (store/keyed_table) -> entry -> entry -> entry   in order of arrival; NULL keys in none
 */
#ifndef STORE_LATE_INDEX_H
#define STORE_LATE_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/pages.h"
#include "lang/side.h"
#include "store/keyed_table.h"
#include "store/reference.h"
#include "store/window_log.h"

#define LATE_NONE UINT32_MAX

struct late_entry {
    uint32_t reference; /* into the chunks of its key's partition */
    uint32_t next;      /* of the same key; LATE_NONE */
};

struct late_key {
    struct keyed_entry entry;
    uint32_t first, last; /* entries */
};

/* All records of a partition before it are indexed. */
struct late_place {
    uint32_t chunk, offset;
};

struct late_side {
    const struct window_log *log; /* not owned */
    struct keyed_table keys;      /* of struct late_key */
    struct pages entries;         /* of struct late_entry */
    uint32_t count;               /* of entries */
    struct late_place *places;    /* owned; one a partition */
};

struct late_index {
    struct slab_pool *pool;
    struct late_side side[SIDES];
};

/* Of these logs, which are not parted anew while it is there. */
struct late_index *late_index_new(const struct window_log logs[SIDES], struct slab_pool *pool);
void late_index_free(struct late_index *x);            /* NULL is fine */
uint64_t late_index_bytes(const struct late_index *x); /* of NULL: 0 */

/* Adds what this hash's partition has got since the last time. False: the fuel is used up before
 * that; it goes on where it was. No walk may be under way, for that hides hashes. */
bool late_index_catch_up(struct late_index *x, enum side side, uint32_t hash, int64_t *fuel);

/* The first entry of this key; LATE_NONE. Of what was caught up with. */
uint32_t late_index_find(const struct late_index *x, enum side side, uint32_t hash,
                         struct bytes key);

static inline struct late_entry *late_index_entry(const struct late_side *s, uint32_t entry)
{
    assert(entry < s->count);
    return pages_at(&s->entries, sizeof(struct late_entry), entry);
}

#endif
