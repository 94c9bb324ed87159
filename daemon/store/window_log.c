#include "store/window_log.h"

#include <assert.h>

#include "base/mem.h"

/* What it takes to give back a chunk, in units of fuel; and how many go in one step. */
#define DROP_FUEL    8
#define DROP_AT_ONCE 4

void window_log_init(struct window_log *l, unsigned bits)
{
    size_t count = (size_t)1 << bits;

    assert(bits <= WINDOW_LOG_BITS_MAX);
    *l = (struct window_log){
        .parts = mem_alloc_zeroed(count, sizeof(struct log_part)),
        .bits = (uint16_t)bits,
        .bytes = count * sizeof(struct log_part),
    };
}

static void part_spend(struct window_log *l, struct log_part *p, struct slab_pile *pile)
{
    for (uint32_t i = 0; i < p->count; i++)
        slab_pile_put(pile, p->chunks[i], p->chunks[i]->size);
    mem_free(p->chunks);
    l->chunks -= p->count;
    l->bytes -= p->bytes + p->capacity * sizeof(*p->chunks);
    *p = (struct log_part){0};
}

static void part_done(struct window_log *l, struct log_part *p, struct slab_pool *pool)
{
    struct slab_pile pile = {NULL};

    part_spend(l, p, &pile);
    slab_give_pile(pool, &pile);
}

void window_log_done(struct window_log *l, struct slab_pool *pool)
{
    for (uint32_t i = 0; i < 1u << l->bits; i++)
        part_done(l, &l->parts[i], pool);
    mem_free(l->parts);
    l->parts = NULL;
}

static size_t next_chunk_size(const struct window_log *l, const struct log_part *p, size_t stride)
{
    size_t wish = log_chunk_wish(p->bytes);
    size_t least = sizeof(struct log_chunk) + stride;

    if (least < l->chunk_least)
        least = l->chunk_least;
    return slab_round(wish > least ? wish : least);
}

static size_t next_capacity(const struct log_part *p)
{
    return p->count < p->capacity ? p->capacity : p->capacity == 0 ? 4 : 2 * (size_t)p->capacity;
}

/* Behind a large record there may be room, but no reference could name a place there:
 * a chunk above SLAB_CHUNK_MAX is for that record alone. */
static uint32_t room_in(size_t size, size_t stride)
{
    return (uint32_t)(size <= SLAB_CHUNK_MAX ? size - sizeof(struct log_chunk) : stride);
}

static void part_add_chunk(struct window_log *l, struct log_part *p, struct slab_pool *pool,
                           size_t stride, uint64_t number)
{
    size_t size = next_chunk_size(l, p, stride), capacity = next_capacity(p);
    struct log_chunk *c = slab_take(pool, size);

    *c = (struct log_chunk){
        .first_number = window_log_numbers(l, number) ? l->first_number : number,
        .size = (uint32_t)size,
    };
    if (capacity > p->capacity) {
        p->chunks = mem_realloc(p->chunks, capacity * sizeof(*p->chunks));
        l->bytes += (capacity - p->capacity) * sizeof(*p->chunks);
        p->capacity = (uint32_t)capacity;
    }
    if (p->count > 0)
        p->tail->used = p->used;
    p->chunks[p->count++] = p->tail = c;
    p->used = 0;
    p->room = room_in(size, stride);
    p->bytes += size;
    l->bytes += size;
    l->chunks++;
}

static bool part_can_grow(const struct window_log *l, const struct log_part *p, size_t stride,
                          uint64_t room)
{
    size_t directory = (next_capacity(p) - p->capacity) * sizeof(*p->chunks);
    return p->count < LOG_CHUNKS_MAX && next_chunk_size(l, p, stride) + directory <= room;
}

/* Only where there is room. */
static void part_append(struct window_log *l, struct log_part *p, const struct record_parts *parts,
                        const struct record_shape *shape, uint64_t number)
{
    record_write(parts, shape, (uint32_t)(number - p->tail->first_number), log_part_end(p));
    log_part_advance(p, shape->stride);
    l->undecided++;
}

bool window_log_append_here(struct window_log *l, const struct record_parts *parts, uint64_t number)
{
    struct log_part *p = &l->parts[log_part_of(parts->hash, l->bits)];
    struct record_shape shape;

    record_shape(parts, &shape);
    if (!log_part_takes(p, shape.stride, number))
        return false;
    part_append(l, p, parts, &shape, number);
    return true;
}

bool window_log_append(struct window_log *l, struct slab_pool *pool,
                       const struct record_parts *parts, uint64_t number, uint64_t room)
{
    struct log_part *p = &l->parts[log_part_of(parts->hash, l->bits)];
    struct record_shape shape;

    record_shape(parts, &shape);
    if (!log_part_takes(p, shape.stride, number)) {
        if (!part_can_grow(l, p, shape.stride, room))
            return false;
        if (l->chunks == 0)
            l->first_number = number;
        part_add_chunk(l, p, pool, shape.stride, number);
    }
    part_append(l, p, parts, &shape, number);
    return true;
}

static void copy_record(struct window_log *to, struct slab_pool *pool, const struct record *r,
                        uint64_t number)
{
    struct log_part *p = &to->parts[log_part_of(r->hash, to->bits)];
    uint32_t stride = (uint32_t)record_stride(r);

    if (!log_part_takes(p, stride, number))
        part_add_chunk(to, p, pool, stride, number);
    memcpy(log_part_end(p), r, stride);
    log_part_end(p)->number = (uint32_t)(number - p->tail->first_number);
    log_part_advance(p, stride);
}

void window_log_split(struct window_log *l, struct slab_pool *pool, unsigned bits)
{
    struct window_log wider;

    assert(bits > l->bits);
    window_log_init(&wider, bits);
    wider.undecided = l->undecided;
    wider.first_number = l->first_number;
    wider.chunk_least = l->chunk_least;
    for (uint32_t i = 0; i < 1u << l->bits; i++) {
        for (uint32_t j = 0; j < l->parts[i].count; j++) {
            const struct log_chunk *c = l->parts[i].chunks[j];
            uint32_t used = log_chunk_used(&l->parts[i], j);
            for (uint32_t at = 0; at < used;) {
                const struct record *r = log_chunk_record(c, at);
                copy_record(&wider, pool, r, c->first_number + r->number);
                at += (uint32_t)record_stride(r);
            }
        }
        part_done(l, &l->parts[i], pool);
    }
    mem_free(l->parts);
    *l = wider;
}

void window_log_drop_part(struct window_log *l, struct slab_pile *pile, uint32_t part)
{
    part_spend(l, &l->parts[part], pile);
}

bool window_log_drop_some(struct window_log *l, struct slab_pool *pool, int64_t *fuel)
{
    for (uint32_t i = 0; i < 1u << l->bits; i++) {
        struct log_part *p = &l->parts[i];
        for (; p->count > DROP_AT_ONCE; *fuel -= DROP_FUEL) {
            struct log_chunk *c = p->chunks[p->count - 1];
            if (*fuel <= 0)
                return false;
            p->count--;
            p->tail = p->chunks[p->count - 1];
            p->used = p->tail->used;
            p->room = 0; /* it takes no more */
            l->chunks--;
            p->bytes -= c->size;
            l->bytes -= c->size;
            slab_give(pool, c, c->size);
        }
        if (p->capacity > 0) {
            if (*fuel <= 0)
                return false;
            *fuel -= DROP_FUEL;
            part_done(l, p, pool);
        }
    }
    return true;
}

static void chunk_list(const struct log_chunk *c, uint32_t used, int64_t base,
                       const struct held_listener *to)
{
    for (uint32_t at = 0; at < used;) {
        const struct record *r = log_chunk_record(c, at);
        held_tell(to, r, base, c->first_number + r->number);
        at += (uint32_t)record_stride(r);
    }
}

void window_log_list(const struct window_log *l, int64_t base, const struct held_listener *to)
{
    for (uint32_t i = 0; i < 1u << l->bits; i++)
        for (uint32_t j = 0; j < l->parts[i].count; j++)
            chunk_list(l->parts[i].chunks[j], log_chunk_used(&l->parts[i], j), base, to);
}
