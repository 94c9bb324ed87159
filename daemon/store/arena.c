#include "store/arena.h"

#include <assert.h>

#include "base/asan.h"

/* At the start of a chunk's records: how many bytes of them are live. */
#define LIVE_SIZE sizeof(uint32_t)

/* Chunks with free places are worth a look when a quarter of the arena is not in use; one
 * is filled anew when an eighth of it is free. So many chunks are asked at a time, and so
 * many of these searched: a record costs no more, wherever it goes. */
#define WASTE_SHARE  4
#define FREE_SHARE   8
#define ASKED_MAX    32
#define SEARCHED_MAX 8

void arena_init(struct arena *a, uint32_t prefix)
{
    assert(prefix % RECORD_ALIGN == 0);
    *a = (struct arena){.prefix = prefix, .current = SLOTS_NONE};
    slots_init(&a->chunks);
}

static bool arena_ok(const struct arena *a)
{
    if (a->records == 0)
        return a->chunk_bytes == 0 && a->live_bytes == 0 && a->current == SLOTS_NONE;
    return a->undecided <= a->records && a->live_bytes < a->chunk_bytes &&
           (a->current == SLOTS_NONE ||
            (slots_has(&a->chunks, a->current) && a->hole <= a->hole_end));
}

static struct log_chunk *chunk_at(const struct arena *a, uint32_t slot)
{
    return a->chunks.at[slot];
}

static uint32_t *chunk_live(const struct log_chunk *c)
{
    return (uint32_t *)(c + 1);
}

/* Where places end. */
static uint32_t chunk_end(const struct log_chunk *c)
{
    return c->size - (uint32_t)sizeof(*c);
}

void arena_done(struct arena *a, struct slab_pool *pool)
{
    for (uint32_t i = 0; i < a->chunks.count; i++)
        if (slots_has(&a->chunks, i))
            slab_give(pool, chunk_at(a, i), chunk_at(a, i)->size);
    slots_done(&a->chunks);
    arena_init(a, a->prefix);
}

/* --- places: what a record and its prefix take --- */

static struct record *place_record(const struct arena *a, const struct log_chunk *c, uint32_t place)
{
    return log_chunk_record(c, place + a->prefix);
}

static bool place_is_free(const struct record *r)
{
    return (r->size_flags & (RECORD_MATCHED | RECORD_DECIDED)) == RECORD_MATCHED;
}

static uint32_t place_size(const struct arena *a, const struct record *r)
{
    return place_is_free(r) ? r->number : a->prefix + (uint32_t)record_stride(r);
}

/* A smaller place could not say that it is free. */
static uint32_t place_min(const struct arena *a)
{
    return a->prefix + (uint32_t)sizeof(struct record);
}

static void place_mark_free(const struct arena *a, const struct log_chunk *c, uint32_t place,
                            uint32_t size)
{
    struct record *r = place_record(a, c, place);

    assert(size >= place_min(a));
    ASAN_UNPOISON(r, sizeof(*r));
    r->size_flags = RECORD_MATCHED;
    r->number = size;
    ASAN_POISON(r + 1, size - place_min(a));
}

/* --- the hole that is filled --- */

static bool hole_is_tail(const struct arena *a, const struct log_chunk *c)
{
    return a->hole_end == chunk_end(c);
}

/* Behind a record in the middle of a chunk there is nothing, or a free place. */
static bool hole_takes(const struct arena *a, const struct log_chunk *c, uint32_t stride)
{
    uint32_t size = a->hole_end - a->hole;

    return stride == size || (hole_is_tail(a, c) ? stride < size : stride + place_min(a) <= size);
}

static void hole_set(struct arena *a, struct log_chunk *c, uint32_t from, uint32_t to)
{
    a->hole = from;
    a->hole_end = to;
    if (hole_is_tail(a, c))
        c->used = from;
    else if (from < to)
        place_mark_free(a, c, from, to - from);
}

/* The next run of free places in `c` that takes it, from the hole at hand on. */
static bool hole_next(struct arena *a, struct log_chunk *c, uint32_t stride)
{
    while (!hole_takes(a, c, stride)) {
        uint32_t from = a->hole_end, to;
        if (hole_is_tail(a, c))
            return false;
        while (from < c->used && !place_is_free(place_record(a, c, from)))
            from += place_size(a, place_record(a, c, from));
        to = from;
        while (to < c->used && place_is_free(place_record(a, c, to)))
            to += place_size(a, place_record(a, c, to));
        hole_set(a, c, from, to == c->used ? chunk_end(c) : to);
    }
    return true;
}

/* --- where the next record goes --- */

static bool chunk_takes_number(const struct log_chunk *c, uint64_t number)
{
    return number - c->first_number <= UINT32_MAX;
}

static bool current_takes(struct arena *a, uint32_t stride, uint64_t number)
{
    struct log_chunk *c;

    if (a->current == SLOTS_NONE)
        return false;
    c = chunk_at(a, a->current);
    return chunk_takes_number(c, number) && hole_next(a, c, stride);
}

/* May it be filled anew? `any`: however little of it is free. */
static bool chunk_is_loose(const struct arena *a, uint32_t slot, uint32_t stride, uint64_t number,
                           bool any)
{
    const struct log_chunk *c;
    uint32_t room;

    if (!slots_has(&a->chunks, slot) || slot == a->current)
        return false;
    c = chunk_at(a, slot);
    room = chunk_end(c) - LIVE_SIZE - *chunk_live(c);
    return c->size <= SLAB_CHUNK_MAX && room >= stride && (any || room >= c->size / FREE_SHARE) &&
           chunk_takes_number(c, number);
}

/* Goes on in a chunk that is there. */
static bool reuse(struct arena *a, uint32_t stride, uint64_t number, bool any)
{
    uint32_t current = a->current, hole = a->hole, hole_end = a->hole_end;
    uint32_t asked = a->chunks.count < ASKED_MAX ? a->chunks.count : ASKED_MAX, searched = 0;

    for (uint32_t i = 0; i < asked && searched < SEARCHED_MAX; i++) {
        uint32_t slot = a->cursor < a->chunks.count ? a->cursor : 0;
        a->cursor = slot + 1;
        if (!chunk_is_loose(a, slot, stride, number, any))
            continue;
        searched++;
        a->current = slot;
        a->hole = a->hole_end = LIVE_SIZE;
        if (hole_next(a, chunk_at(a, slot), stride))
            return true;
        a->current = current;
        a->hole = hole;
        a->hole_end = hole_end;
    }
    return false;
}

static bool is_wasteful(const struct arena *a)
{
    return (a->chunk_bytes - a->live_bytes) * WASTE_SHARE > a->chunk_bytes;
}

static size_t next_chunk_size(const struct arena *a, uint32_t stride, uint64_t room)
{
    uint64_t wish = a->chunk_bytes / 16, least = sizeof(struct log_chunk) + LIVE_SIZE + stride;
    uint64_t directory = slots_growth(&a->chunks);

    if (wish > SLAB_CHUNK_MAX)
        wish = SLAB_CHUNK_MAX;
    if (wish < least || slab_round(wish) + directory > room)
        wish = least;
    return slab_round(wish);
}

/* Goes on in a new chunk, at `*ret_slot`. */
static bool grow(struct arena *a, struct slab_pool *pool, uint32_t stride, uint64_t number,
                 uint64_t room, uint32_t *ret_slot)
{
    size_t size = next_chunk_size(a, stride, room);
    struct log_chunk *c;

    assert(arena_ok(a));
    if (size + slots_growth(&a->chunks) > room || a->chunks.used == LOG_CHUNKS_MAX)
        return false;
    c = slab_take(pool, size);
    *c = (struct log_chunk){.first_number = number, .size = (uint32_t)size, .used = LIVE_SIZE};
    *chunk_live(c) = 0;
    a->chunk_bytes += size;
    *ret_slot = slots_add(&a->chunks, c);
    return true;
}

static uint32_t place_write(struct arena *a, uint32_t slot, uint32_t place,
                            const struct record_parts *parts, const struct record_shape *shape,
                            uint64_t number)
{
    struct log_chunk *c = chunk_at(a, slot);
    uint32_t stride = a->prefix + shape->stride;

    ASAN_UNPOISON(log_chunk_record(c, place), stride);
    assert(number >= c->first_number);
    record_write(parts, shape, (uint32_t)(number - c->first_number), place_record(a, c, place));
    *chunk_live(c) += stride;
    a->live_bytes += stride;
    a->records++;
    a->undecided += (parts->flags & RECORD_DECIDED) == 0;
    return reference_make(slot, place + a->prefix);
}

/* In a new chunk, which is filled from now on if it has more room than the one at hand. */
static uint32_t write_first(struct arena *a, uint32_t slot, const struct record_parts *parts,
                            const struct record_shape *shape, uint64_t number)
{
    struct log_chunk *c = chunk_at(a, slot);
    uint32_t ref = place_write(a, slot, LIVE_SIZE, parts, shape, number);

    c->used += a->prefix + shape->stride;
    if (c->size <= SLAB_CHUNK_MAX &&
        (a->current == SLOTS_NONE || chunk_end(c) - c->used >= a->hole_end - a->hole ||
         !chunk_takes_number(chunk_at(a, a->current), number))) {
        a->current = slot;
        hole_set(a, c, c->used, chunk_end(c));
    }
    return ref;
}

static uint32_t write_here(struct arena *a, const struct record_parts *parts,
                           const struct record_shape *shape, uint64_t number)
{
    uint32_t place = a->hole, ref = place_write(a, a->current, place, parts, shape, number);

    hole_set(a, chunk_at(a, a->current), place + a->prefix + shape->stride, a->hole_end);
    return ref;
}

bool arena_add(struct arena *a, struct slab_pool *pool, const struct record_parts *parts,
               uint64_t number, uint64_t room, uint32_t *ret_ref)
{
    struct record_shape shape;
    uint32_t stride, slot;

    record_shape(parts, &shape);
    stride = a->prefix + shape.stride;
    if (current_takes(a, stride, number) || (is_wasteful(a) && reuse(a, stride, number, false)))
        *ret_ref = write_here(a, parts, &shape, number);
    else if (grow(a, pool, stride, number, room, &slot))
        *ret_ref = write_first(a, slot, parts, &shape, number);
    else if (reuse(a, stride, number, true))
        *ret_ref = write_here(a, parts, &shape, number);
    else
        return false;
    return true;
}

static void chunk_drop(struct arena *a, struct slab_pool *pool, uint32_t slot)
{
    struct log_chunk *c = chunk_at(a, slot);

    slots_remove(&a->chunks, slot);
    a->chunk_bytes -= c->size;
    slab_give(pool, c, c->size);
    if (slot == a->current)
        a->current = SLOTS_NONE;
    assert(arena_ok(a));
}

void arena_free(struct arena *a, struct slab_pool *pool, uint32_t ref)
{
    uint32_t slot = ref >> REFERENCE_PLACE_BITS;
    struct log_chunk *c = chunk_at(a, slot);
    const struct record *r = arena_record(a, ref);
    uint32_t place = (uint32_t)((const char *)r - (const char *)(c + 1)) - a->prefix;
    uint32_t stride = place_size(a, r);

    assert(record_has(r, RECORD_DECIDED) && !place_is_free(r));
    assert(a->records > 0 && *chunk_live(c) >= stride);
    *chunk_live(c) -= stride;
    a->live_bytes -= stride;
    a->records--;
    if (*chunk_live(c) == 0)
        chunk_drop(a, pool, slot);
    else if (slot == a->current && place + stride == a->hole)
        hole_set(a, c, place, a->hole_end);
    else
        place_mark_free(a, c, place, stride);
}

/* --- all of them --- */

static uint32_t next_in_chunk(const struct arena *a, uint32_t slot, uint32_t place)
{
    const struct log_chunk *c = chunk_at(a, slot);

    while (place < c->used) {
        const struct record *r = place_record(a, c, place);
        if (!place_is_free(r))
            return reference_make(slot, place + a->prefix);
        place += place_size(a, r);
    }
    return REFERENCE_NONE;
}

uint32_t arena_next(const struct arena *a, uint32_t ref)
{
    uint32_t slot = 0, place = LIVE_SIZE, next = REFERENCE_NONE;

    if (ref != REFERENCE_NONE) {
        const struct record *r = arena_record(a, ref);
        slot = ref >> REFERENCE_PLACE_BITS;
        place = (uint32_t)((const char *)r - (const char *)(chunk_at(a, slot) + 1));
        place += (uint32_t)record_stride(r);
    }
    for (; slot < a->chunks.count && next == REFERENCE_NONE; slot++, place = LIVE_SIZE)
        if (slots_has(&a->chunks, slot))
            next = next_in_chunk(a, slot, place);
    return next;
}

void arena_list(const struct arena *a, int64_t base, const struct held_listener *to)
{
    for (uint32_t ref = arena_next(a, REFERENCE_NONE); ref != REFERENCE_NONE;
         ref = arena_next(a, ref))
        held_tell(to, arena_record(a, ref), base, reference_number(arena_chunks(a), ref));
}
