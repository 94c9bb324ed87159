#include "store/keyed_table.h"

#include <assert.h>

#include "base/fetch.h"
#include "base/hash.h"

#define BUCKETS_MIN (SLAB_CHUNK_MIN / sizeof(uint32_t))
/* Parted when there are as many keys as buckets, joined when there are this much fewer. */
#define BUCKETS_SPARSE 4
#define JOINS_A_REMOVE 5
/* Tables with fewer entries are not fetched. */
#define FETCH_FROM 32768
/* So far into a bucket's chain entries are fetched: few are longer. */
#define FETCH_STEPS 2
/* Before a bucket is parted its entries are fetched, so many of a chain, one each time that
 * so many others have been parted. */
#define PART_DEPTH 4
#define PART_AHEAD 4

void keyed_table_init(struct keyed_table *t, size_t entry_size,
                      struct bytes (*key_of)(const void *self, const void *entry), const void *self)
{
    assert(key_of != NULL && entry_size >= sizeof(struct keyed_entry));
    *t = (struct keyed_table){.key_of = key_of, .self = self};
    pieces_init(&t->entries, entry_size);
    pages_init(&t->buckets, sizeof(uint32_t));
}

static bool keyed_table_ok(const struct keyed_table *t)
{
    return t->count <= t->bucket_count && t->bucket_count >= BUCKETS_MIN &&
           t->bucket_count <= t->buckets.room;
}

static void drop_buckets(struct keyed_table *t, struct slab_pool *pool)
{
    pages_done(&t->buckets, pool);
    t->bucket_count = 0;
}

void keyed_table_done(struct keyed_table *t, struct slab_pool *pool)
{
    pieces_done(&t->entries, pool);
    drop_buckets(t, pool);
}

/* --- buckets --- */

static uint32_t *bucket_at(const struct keyed_table *t, uint32_t bucket)
{
    return pages_at(&t->buckets, sizeof(uint32_t), bucket);
}

/* The highest power of two that is not above `n`. */
static uint32_t power_below(uint32_t n)
{
    return UINT32_C(1) << (31 - __builtin_clz(n));
}

/* Those below buckets - power are parted by one more bit than the others. */
static uint32_t bucket_of(const struct keyed_table *t, uint32_t hash)
{
    uint32_t power = power_below(t->bucket_count), bucket = hash & (2 * power - 1);
    return bucket < t->bucket_count ? bucket : hash & (power - 1);
}

static struct keyed_entry *entry_at(const struct keyed_table *t, uint32_t number)
{
    return keyed_table_entry(t, number);
}

/* From this one of a bucket on. */
static uint32_t with_hash(const struct keyed_table *t, uint32_t number, uint32_t hash)
{
    while (number != KEYED_NONE && entry_at(t, number)->hash != hash)
        number = entry_at(t, number)->next;
    return number;
}

uint32_t keyed_table_first(const struct keyed_table *t, uint32_t hash)
{
    if (t->count == 0)
        return KEYED_NONE;
    return with_hash(t, *bucket_at(t, bucket_of(t, hash)), hash);
}

uint32_t keyed_table_again(const struct keyed_table *t, uint32_t number)
{
    return with_hash(t, entry_at(t, number)->next, entry_at(t, number)->hash);
}

uint32_t keyed_table_find(const struct keyed_table *t, uint32_t hash, struct bytes key)
{
    uint32_t number = keyed_table_first(t, hash);

    while (number != KEYED_NONE && !bytes_equal(t->key_of(t->self, entry_at(t, number)), key))
        number = keyed_table_again(t, number);
    return number;
}

static FETCH_INLINE void fetch_entry(const struct keyed_table *t, uint32_t number)
{
    if (number != KEYED_NONE)
        __builtin_prefetch(entry_at(t, number));
}

/* Passes over all: what each one reads was fetched by the one before. */
bool keyed_table_fetch(const struct keyed_table *t, const uint32_t *hashes, size_t n,
                       uint32_t *ret_numbers)
{
    if (t->count < FETCH_FROM)
        return false;
    for (size_t i = 0; i < n; i++)
        __builtin_prefetch(bucket_at(t, bucket_of(t, hashes[i])));
    for (size_t i = 0; i < n; i++) {
        ret_numbers[i] = *bucket_at(t, bucket_of(t, hashes[i]));
        fetch_entry(t, ret_numbers[i]);
    }
    for (int step = 0; step < FETCH_STEPS; step++) {
        for (size_t i = 0; i < n; i++) {
            uint32_t number = ret_numbers[i];
            if (number == KEYED_NONE || entry_at(t, number)->hash == hashes[i])
                continue;
            ret_numbers[i] = entry_at(t, number)->next;
            fetch_entry(t, ret_numbers[i]);
        }
    }
    for (size_t i = 0; i < n; i++)
        if (ret_numbers[i] != KEYED_NONE && entry_at(t, ret_numbers[i])->hash != hashes[i])
            ret_numbers[i] = KEYED_NONE;
    return true;
}

static void open_buckets(struct keyed_table *t, struct slab_pool *pool)
{
    pages_widen(&t->buckets, pool, 0);
    t->bucket_count = BUCKETS_MIN;
    for (uint32_t i = 0; i < BUCKETS_MIN; i++)
        *bucket_at(t, i) = KEYED_NONE;
}

/* Moves the entries of `from` that belong there by now to bucket `to`, which is new. */
static void bucket_part(struct keyed_table *t, uint32_t from, uint32_t to)
{
    uint32_t *stay = bucket_at(t, from), *go = bucket_at(t, to), number = *stay;

    while (number != KEYED_NONE) {
        struct keyed_entry *e = entry_at(t, number);
        uint32_t **end = bucket_of(t, e->hash) == to ? &go : &stay;
        **end = number;
        *end = &e->next;
        number = e->next;
    }
    *stay = *go = KEYED_NONE;
}

/* What the next partings will touch: of buckets further ahead the first entries, of nearer
 * ones what lies behind these. */
static FETCH_INLINE void fetch_parted(const struct keyed_table *t, uint32_t from)
{
    if (t->count < FETCH_FROM || from + PART_DEPTH * PART_AHEAD >= t->bucket_count)
        return;
    for (uint32_t depth = 0; depth < PART_DEPTH; depth++) {
        uint32_t number = *bucket_at(t, from + (PART_DEPTH - depth) * PART_AHEAD);
        for (uint32_t i = 0; i < depth && number != KEYED_NONE; i++)
            number = entry_at(t, number)->next;
        fetch_entry(t, number);
    }
}

static void add_bucket(struct keyed_table *t, struct slab_pool *pool)
{
    uint32_t to = t->bucket_count, from = to - power_below(to);

    fetch_parted(t, from);
    pages_widen(&t->buckets, pool, to);
    t->bucket_count++;
    bucket_part(t, from, to);
    assert(keyed_table_ok(t));
}

/* The last bucket's entries go back to where they were parted from. */
static void join_bucket(struct keyed_table *t, struct slab_pool *pool)
{
    uint32_t from = t->bucket_count - 1, *end = bucket_at(t, from - power_below(from));

    while (*end != KEYED_NONE)
        end = &entry_at(t, *end)->next;
    *end = *bucket_at(t, from);
    t->bucket_count--;
    pages_shrink(&t->buckets, pool, from);
    assert(keyed_table_ok(t));
}

static bool is_sparse(const struct keyed_table *t)
{
    return t->bucket_count > BUCKETS_MIN && t->count < t->bucket_count / BUCKETS_SPARSE;
}

/* --- entries --- */

uint64_t keyed_table_enter_growth(const struct keyed_table *t)
{
    return t->count < t->bucket_count ? 0 : pages_growth(&t->buckets, t->bucket_count);
}

uint64_t keyed_table_growth(const struct keyed_table *t)
{
    uint64_t enter = keyed_table_enter_growth(t), take = keyed_table_take_growth(t);
    return take == UINT64_MAX ? take : take + enter;
}

uint32_t keyed_table_take(struct keyed_table *t, struct slab_pool *pool, uint32_t hash)
{
    uint32_t number = pieces_take(&t->entries, pool);
    struct keyed_entry *e = entry_at(t, number);

    e->hash = hash;
    e->next = KEYED_NONE;
    return number;
}

void keyed_table_enter(struct keyed_table *t, struct slab_pool *pool, uint32_t number)
{
    struct keyed_entry *e = entry_at(t, number);
    uint32_t *bucket;

    assert(e->next == KEYED_NONE);
    if (t->bucket_count == 0)
        open_buckets(t, pool);
    else if (t->count >= t->bucket_count)
        add_bucket(t, pool);
    t->count++;
    bucket = bucket_at(t, bucket_of(t, e->hash));
    e->next = *bucket;
    *bucket = number;
}

/* What leads to it. */
static uint32_t *link_to(const struct keyed_table *t, uint32_t number)
{
    uint32_t *at = bucket_at(t, bucket_of(t, entry_at(t, number)->hash));

    while (*at != number) {
        assert(*at != KEYED_NONE);
        at = &entry_at(t, *at)->next;
    }
    return at;
}

void keyed_table_replace(struct keyed_table *t, uint32_t number, uint32_t by)
{
    assert(number != by && entry_at(t, by)->hash == entry_at(t, number)->hash);
    *link_to(t, number) = by;
    entry_at(t, by)->next = entry_at(t, number)->next;
    entry_at(t, number)->next = KEYED_NONE;
}

void keyed_table_leave(struct keyed_table *t, struct slab_pool *pool, uint32_t number)
{
    assert(t->count > 0);
    *link_to(t, number) = entry_at(t, number)->next;
    entry_at(t, number)->next = KEYED_NONE;
    t->count--;
    for (int i = 0; i < JOINS_A_REMOVE && is_sparse(t); i++)
        join_bucket(t, pool);
    if (t->count == 0)
        drop_buckets(t, pool);
}

uint32_t keyed_table_add(struct keyed_table *t, struct slab_pool *pool, uint32_t hash)
{
    uint32_t number = keyed_table_take(t, pool, hash);

    keyed_table_enter(t, pool, number);
    return number;
}

void keyed_table_remove(struct keyed_table *t, struct slab_pool *pool, uint32_t number)
{
    keyed_table_leave(t, pool, number);
    keyed_table_give(t, pool, number);
}

uint32_t keyed_hash(struct bytes key, uint64_t seed)
{
    return (uint32_t)(hash_bytes(key.p, key.n, seed) >> 32);
}
