/*
 * join/near_miss: pairs that the edges of windows parted.
 *
 * L at 4.9 s and R at 5.1 s of one key are both lost to windows of 5 s, though they belong
 * together. A record that was unmatched in all its windows (or lay in none) is compared, by
 * the hash of its key, with those that the other side lost within 10 x size. The nearest
 * one is a hit: a near miss, counted in the books, its distance noted with the pairs'
 * (model/lag). Each record hits at most once.
 *
 * Kept of each side: the newest time lost of the last NEAR_MISS_KEYS keys at least. There
 * are two tables, a young and an old one: when the young one is full it becomes the old
 * one, and what was old is forgotten. So an entry costs one place, and nothing is sorted.
 * Where state is small there are fewer keys.
 *
 * Two records that shared a window are no near miss: where they did not match, `on` said
 * no. Of records that shared none, `on` cannot be asked any more: their keys decide.
 *
 * Rules: semantics.md section 6.
 */
#ifndef JOIN_NEAR_MISS_H
#define JOIN_NEAR_MISS_H

#include <stdbool.h>
#include <stdint.h>

#include "lang/side.h"
#include "model/books.h"
#include "model/lag.h"
#include "model/plan.h"

#define NEAR_MISS_KEYS    65536 /* a side */
#define NEAR_MISS_WINDOWS 10    /* how long a lost record can be hit, in sizes of a window */
#define NEAR_MISS_GROUP   32    /* lost records are compared in groups, for memory's sake */
/* What one takes, in units of fuel. */
#define NEAR_MISS_FUEL 4

struct near_slot {
    int64_t time;  /* NEAR_MISS_NONE: it was hit */
    uint32_t hash; /* of the key */
    bool used;
};
#define NEAR_MISS_NONE INT64_MIN

struct near_table {
    struct near_slot *slots; /* owned; open addressing, half of them used at most */
    uint32_t slot_count, keys;
};

struct near_lost {
    int64_t time;
    uint32_t hash;
    enum side side;
};

struct near_miss {
    const struct plan *plan;
    struct books *books;
    struct lag *lag;   /* not owned; NULL: nobody asks for distances */
    uint32_t keys_max; /* of one table */
    struct near_table young[SIDES], old[SIDES];
    uint64_t bytes;                          /* all that is allocated: counts as state */
    struct near_lost group[NEAR_MISS_GROUP]; /* not compared yet */
    uint32_t group_count;
};

/* `bytes_max`: how many it may take. */
void near_miss_init(struct near_miss *n, const struct plan *plan, struct books *books,
                    struct lag *lag, uint64_t bytes_max);
void near_miss_done(struct near_miss *n);

/* Compares those of which near_miss_lost() told. To be called before anybody looks at the
 * books. */
void near_miss_settle(struct near_miss *n);

/* Where this hash is looked for, unless others are in the way. */
static inline void near_table_fetch(const struct near_table *t, uint32_t hash)
{
    if (t->slot_count > 0)
        __builtin_prefetch(&t->slots[hash & (t->slot_count - 1)]);
}

/* A record of this key and time was unmatched in all its windows. Keys are not NULL. */
static inline void near_miss_lost(struct near_miss *n, enum side side, uint32_t hash, int64_t t)
{
    n->group[n->group_count++] = (struct near_lost){t, hash, side};
    near_table_fetch(&n->young[side_other(side)], hash);
    near_table_fetch(&n->old[side_other(side)], hash);
    near_table_fetch(&n->young[side], hash);
    if (n->group_count == NEAR_MISS_GROUP)
        near_miss_settle(n);
}

#endif
