#include "store/table.h"

#include <assert.h>

#include "base/mem.h"

/* A segment is nearly full when so much of it is in use: slots next to each other are
 * cheap to look through, and every free one is memory. */
#define FULL_NUMERATOR   4
#define FULL_DENOMINATOR 5

/* What it takes to give a row, a segment back, in fuel. */
#define DROP_ROW_FUEL     2
#define DROP_SEGMENT_FUEL 20

void table_init(struct table *t, bool ordered)
{
    *t = (struct table){.ordered = ordered, .first = REFERENCE_NONE, .last = REFERENCE_NONE};
    arena_init(&t->rows, ordered ? sizeof(uint32_t) : 0);
}

/* While it is asked; a table that is dropped comes apart. */
static bool table_ok(const struct table *t)
{
    return !t->dropping && t->keys <= t->rows.records && t->bits <= TABLE_BITS_MAX &&
           (t->directory == NULL) == (t->segments == 0) &&
           (!t->ordered || (t->first == REFERENCE_NONE) == (t->last == REFERENCE_NONE));
}

/* --- segments --- */

static size_t segment_size(const struct table_segment *s)
{
    return sizeof(*s) + s->capacity * sizeof(s->slots[0]);
}

static struct table_segment *segment_take(struct table *t, struct slab_pool *pool, size_t size,
                                          unsigned bits)
{
    struct table_segment *s = slab_take(pool, size);

    s->capacity = (uint16_t)((size - sizeof(*s)) / sizeof(s->slots[0]));
    s->count = 0;
    s->bits = (uint16_t)bits;
    for (uint32_t i = 0; i < s->capacity; i++)
        s->slots[i].last = REFERENCE_NONE;
    t->key_bytes += size;
    t->segments++;
    return s;
}

static void segment_give(struct table *t, struct slab_pool *pool, struct table_segment *s)
{
    size_t size = segment_size(s);

    t->key_bytes -= size;
    t->segments--;
    slab_give(pool, s, size);
}

static bool segment_is_full(const struct table_segment *s)
{
    return s->count >= s->capacity * FULL_NUMERATOR / FULL_DENOMINATOR;
}

/* Where a key of this hash is looked for first. The hashes of a segment share their top
 * bits, so these must not decide alone. */
static uint32_t home_of(const struct table_segment *s, uint32_t hash)
{
    uint32_t mixed = hash * UINT32_C(0x9e3779b1);
    return (uint32_t)((uint64_t)mixed * s->capacity >> 32);
}

static uint32_t slot_after(const struct table_segment *s, uint32_t i)
{
    return i + 1 == s->capacity ? 0 : i + 1;
}

static void segment_put(struct table_segment *s, struct table_slot slot)
{
    uint32_t i = home_of(s, slot.hash);

    assert(s->count + 1 < s->capacity && slot.last != REFERENCE_NONE);
    while (s->slots[i].last != REFERENCE_NONE)
        i = slot_after(s, i);
    s->slots[i] = slot;
    s->count++;
}

static uint32_t directory_index(unsigned bits, uint32_t hash)
{
    return (uint32_t)((uint64_t)hash << bits >> 32);
}

static struct table_segment *segment_of(const struct table *t, uint32_t hash)
{
    return t->directory[directory_index(t->bits, hash)];
}

/* Lets all places of the directory that belong to `s` (by hash and bits) say `s`. */
static void directory_set(struct table *t, uint32_t hash, struct table_segment *s)
{
    uint32_t places = UINT32_C(1) << (t->bits - s->bits);
    uint32_t from = directory_index(s->bits, hash) * places;

    for (uint32_t i = 0; i < places; i++)
        t->directory[from + i] = s;
}

static size_t directory_size(unsigned bits)
{
    return sizeof(struct table_segment *) << bits;
}

/* Twice as many places, two for each one. */
static void directory_double(struct table *t)
{
    t->directory = mem_realloc(t->directory, directory_size(t->bits + 1));
    for (uint32_t i = UINT32_C(1) << t->bits; i-- > 0;)
        t->directory[2 * i] = t->directory[2 * i + 1] = t->directory[i];
    t->key_bytes += directory_size(t->bits);
    t->bits++;
}

/* The first segment begins small, and moves as it grows. */
static void widen(struct table *t, struct slab_pool *pool, struct table_segment *s, uint32_t hash)
{
    struct table_segment *wider = segment_take(t, pool, 2 * segment_size(s), s->bits);

    for (uint32_t i = 0; i < s->capacity; i++)
        if (s->slots[i].last != REFERENCE_NONE)
            segment_put(wider, s->slots[i]);
    directory_set(t, hash, wider);
    segment_give(t, pool, s);
}

/* Its slots go to two new ones, by one more bit. */
static void part(struct table *t, struct slab_pool *pool, struct table_segment *s, uint32_t hash)
{
    unsigned bits = s->bits + 1u;
    uint32_t bit = UINT32_C(1) << (32 - bits);
    struct table_segment *halves[2];

    assert(bits <= TABLE_BITS_MAX);
    if (s->bits == t->bits)
        directory_double(t);
    for (int i = 0; i < 2; i++)
        halves[i] = segment_take(t, pool, SLAB_CHUNK_MAX, bits);
    for (uint32_t i = 0; i < s->capacity; i++)
        if (s->slots[i].last != REFERENCE_NONE)
            segment_put(halves[(s->slots[i].hash & bit) != 0], s->slots[i]);
    directory_set(t, hash & ~bit, halves[0]);
    directory_set(t, hash | bit, halves[1]);
    segment_give(t, pool, s);
}

/* What `*room` must have for a segment that is nearly full to make room for one more key. The
 * old segment is there until the new ones are filled, and counts too. */
static uint64_t growth_of(const struct table *t, const struct table_segment *s)
{
    if (segment_size(s) < SLAB_CHUNK_MAX)
        return 2 * segment_size(s);
    return 2 * SLAB_CHUNK_MAX + (s->bits == t->bits ? directory_size(t->bits) : 0);
}

/* Sees to it that a key can be added; takes what that needs off `*room`. False: it would take
 * more than there is. */
static bool make_room(struct table *t, struct slab_pool *pool, uint32_t hash, uint64_t *room)
{
    uint64_t before = t->key_bytes;

    if (t->directory == NULL) {
        if (*room < SLAB_CHUNK_MIN + directory_size(0))
            return false;
        t->directory = mem_alloc(directory_size(0));
        t->directory[0] = segment_take(t, pool, SLAB_CHUNK_MIN, 0);
        t->key_bytes += directory_size(0);
    }
    while (segment_is_full(segment_of(t, hash))) {
        struct table_segment *s = segment_of(t, hash);
        if (growth_of(t, s) > *room - (t->key_bytes - before))
            return false;
        if (segment_size(s) < SLAB_CHUNK_MAX)
            widen(t, pool, s, hash);
        else if (s->bits < TABLE_BITS_MAX)
            part(t, pool, s, hash);
        else
            return false;
    }
    *room -= t->key_bytes - before;
    return true;
}

/* --- keys --- */

/* NULL: the key is not there. */
static struct table_slot *find_slot(const struct table *t, uint32_t hash, struct bytes key)
{
    struct table_segment *s;

    if (t->directory == NULL)
        return NULL;
    s = segment_of(t, hash);
    for (uint32_t i = home_of(s, hash); s->slots[i].last != REFERENCE_NONE; i = slot_after(s, i))
        if (s->slots[i].hash == hash &&
            bytes_equal(record_key(table_row(t, s->slots[i].last)), key))
            return &s->slots[i];
    return NULL;
}

uint32_t table_find(const struct table *t, uint32_t hash, struct bytes key)
{
    const struct table_slot *slot = find_slot(t, hash, key);

    return slot == NULL ? REFERENCE_NONE : table_row(t, slot->last)->hash;
}

void table_fetch_slot(const struct table *t, uint32_t hash)
{
    const struct table_segment *s;

    if (t->directory == NULL)
        return;
    s = segment_of(t, hash);
    __builtin_prefetch(&s->slots[home_of(s, hash)]);
}

void table_fetch_row(const struct table *t, uint32_t hash)
{
    const struct table_segment *s;
    uint32_t i;

    if (t->directory == NULL)
        return;
    s = segment_of(t, hash);
    for (i = home_of(s, hash); s->slots[i].last != REFERENCE_NONE; i = slot_after(s, i))
        if (s->slots[i].hash == hash) {
            __builtin_prefetch(table_row(t, s->slots[i].last));
            return;
        }
}

/* --- rows --- */

static void chain_arrival(struct table *t, uint32_t ref)
{
    if (!t->ordered)
        return;
    *(uint32_t *)arena_prefix(&t->rows, ref) = REFERENCE_NONE;
    if (t->first == REFERENCE_NONE)
        t->first = ref;
    else
        *(uint32_t *)arena_prefix(&t->rows, t->last) = ref;
    t->last = ref;
}

static void add_key(struct table *t, uint32_t hash, uint32_t ref)
{
    segment_put(segment_of(t, hash), (struct table_slot){hash, ref});
    table_row(t, ref)->hash = ref;
    t->keys++;
}

static void add_to_key(struct table *t, struct table_slot *slot, uint32_t ref)
{
    struct record *last = table_row(t, slot->last);

    table_row(t, ref)->hash = last->hash;
    last->hash = ref;
    slot->last = ref;
}

bool table_add(struct table *t, struct slab_pool *pool, const struct record_parts *parts,
               uint64_t number, uint64_t room)
{
    bool keyed = (parts->flags & RECORD_NULL_KEY) == 0;
    struct table_slot *slot = keyed ? find_slot(t, parts->hash, parts->key) : NULL;
    uint32_t ref;

    assert(table_ok(t));
    if (keyed && slot == NULL && !make_room(t, pool, parts->hash, &room))
        return false;
    if (!arena_add(&t->rows, pool, parts, number, room, &ref))
        return false;
    if (slot != NULL)
        add_to_key(t, slot, ref);
    else if (keyed)
        add_key(t, parts->hash, ref);
    chain_arrival(t, ref);
    assert(table_ok(t));
    return true;
}

bool table_replace(struct table *t, struct slab_pool *pool, const struct record_parts *parts,
                   uint64_t number, uint64_t room, bool *ret_replaced)
{
    struct table_slot *slot = find_slot(t, parts->hash, parts->key);
    struct record *old;
    uint32_t ref;

    assert(table_ok(t) && !t->ordered && (parts->flags & RECORD_NULL_KEY) == 0);
    *ret_replaced = slot != NULL;
    if (slot == NULL)
        return table_add(t, pool, parts, number, room);
    if (!arena_add(&t->rows, pool, parts, number, room, &ref))
        return false;
    old = table_row(t, slot->last);
    assert(old->hash == slot->last); /* it is the only one */
    old->size_flags |= RECORD_DECIDED;
    t->rows.undecided--;
    arena_free(&t->rows, pool, slot->last);
    table_row(t, ref)->hash = ref;
    slot->last = ref;
    return true;
}

/* --- the end --- */

/* The segment at the place that the end has come to. */
static void drop_segment(struct table *t, struct slab_pool *pool)
{
    struct table_segment *s = t->directory[t->drop_place];

    t->drop_place += UINT32_C(1) << (t->bits - s->bits);
    segment_give(t, pool, s);
}

static void drop_directory(struct table *t)
{
    t->key_bytes -= directory_size(t->bits);
    mem_free(t->directory);
    t->directory = NULL;
}

static bool has_segments(const struct table *t)
{
    return t->directory != NULL && t->drop_place < UINT32_C(1) << t->bits;
}

static void drop_row(struct table *t, struct slab_pool *pool)
{
    uint32_t ref = t->drop_row;

    t->drop_row = arena_next(&t->rows, ref);
    t->rows.undecided -= !record_has(table_row(t, ref), RECORD_DECIDED);
    table_row(t, ref)->size_flags |= RECORD_DECIDED;
    arena_free(&t->rows, pool, ref);
}

bool table_drop_some(struct table *t, struct slab_pool *pool, int64_t *fuel)
{
    if (!t->dropping) {
        t->dropping = true;
        t->drop_row = arena_next(&t->rows, REFERENCE_NONE);
    }
    for (; *fuel > 0 && t->drop_row != REFERENCE_NONE; *fuel -= DROP_ROW_FUEL)
        drop_row(t, pool);
    for (; *fuel > 0 && has_segments(t); *fuel -= DROP_SEGMENT_FUEL)
        drop_segment(t, pool);
    if (t->drop_row != REFERENCE_NONE || has_segments(t))
        return false;
    table_done(t, pool);
    return true;
}

void table_done(struct table *t, struct slab_pool *pool)
{
    while (has_segments(t))
        drop_segment(t, pool);
    if (t->directory != NULL)
        drop_directory(t);
    arena_done(&t->rows, pool);
    table_init(t, t->ordered);
}
