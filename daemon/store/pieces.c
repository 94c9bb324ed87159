#include "store/pieces.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

/* In an item's first word: its place is free, and the next free place of its piece follows. */
#define PLACE_FREE UINT32_C(0x80000000)
/* Numbers have to stay below that. */
#define PIECES_MAX (PLACE_FREE >> PIECES_PLACE_BITS)

void pieces_init(struct pieces *p, size_t item_size)
{
    assert(item_size >= PIECES_ITEM_MIN && item_size % sizeof(uint32_t) == 0);
    *p = (struct pieces){.item_size = (uint32_t)item_size, .roomy = SLOTS_NONE};
    slots_init(&p->slots);
}

static bool pieces_ok(const struct pieces *p)
{
    return (p->roomy == SLOTS_NONE) == (p->room == 0) && p->slots.used <= PIECES_MAX &&
           (p->slots.used == 0) == (p->piece_bytes == 0);
}

static struct piece *piece_at(const struct pieces *p, uint32_t slot)
{
    return p->slots.at[slot];
}

static uint32_t *first_word(const struct pieces *p, uint32_t number)
{
    return pieces_at(p, number);
}

void pieces_done(struct pieces *p, struct slab_pool *pool)
{
    for (uint32_t i = 0; i < p->slots.count; i++)
        if (slots_has(&p->slots, i))
            slab_give(pool, piece_at(p, i), piece_at(p, i)->size);
    slots_done(&p->slots);
}

static bool has_room(const struct piece *piece)
{
    return piece->free != PIECES_NONE || piece->touched < piece->capacity;
}

/* Behind the first, which is filled up before another is: those that are emptier wait
 * deeper, and may come to be empty. */
static void roomy_add(struct pieces *p, uint32_t slot)
{
    struct piece *piece = piece_at(p, slot);

    piece->prev = p->roomy;
    piece->next = SLOTS_NONE;
    if (p->roomy == SLOTS_NONE) {
        p->roomy = slot;
        return;
    }
    piece->next = piece_at(p, p->roomy)->next;
    piece_at(p, p->roomy)->next = slot;
    if (piece->next != SLOTS_NONE)
        piece_at(p, piece->next)->prev = slot;
}

static void roomy_remove(struct pieces *p, uint32_t slot)
{
    const struct piece *piece = piece_at(p, slot);

    if (piece->prev == SLOTS_NONE)
        p->roomy = piece->next;
    else
        piece_at(p, piece->prev)->next = piece->next;
    if (piece->next != SLOTS_NONE)
        piece_at(p, piece->next)->prev = piece->prev;
    assert(p->roomy == SLOTS_NONE || piece_at(p, p->roomy)->prev == SLOTS_NONE);
}

static size_t next_piece_size(const struct pieces *p)
{
    uint64_t wish = p->piece_bytes / 8, least = sizeof(struct piece) + 2 * p->item_size;

    if (wish > SLAB_CHUNK_MAX)
        wish = SLAB_CHUNK_MAX;
    return slab_round(wish > least ? wish : least);
}

static void piece_add(struct pieces *p, struct slab_pool *pool)
{
    size_t size = next_piece_size(p);
    struct piece *piece = slab_take(pool, size);

    *piece = (struct piece){
        .size = (uint32_t)size,
        .capacity = (uint32_t)((size - sizeof(*piece)) / p->item_size),
        .free = PIECES_NONE,
    };
    p->piece_bytes += size;
    p->room += piece->capacity;
    roomy_add(p, slots_add(&p->slots, piece));
    assert(pieces_ok(p));
}

static void piece_drop(struct pieces *p, struct slab_pool *pool, uint32_t slot)
{
    struct piece *piece = piece_at(p, slot);

    roomy_remove(p, slot);
    slots_remove(&p->slots, slot);
    p->room -= piece->capacity;
    p->piece_bytes -= piece->size;
    slab_give(pool, piece, piece->size);
    assert(pieces_ok(p));
}

/* In the first piece with room, which is there. */
static uint32_t place_take(struct pieces *p)
{
    uint32_t slot = p->roomy, number;
    struct piece *piece = piece_at(p, slot);

    number =
        slot << PIECES_PLACE_BITS | (piece->free != PIECES_NONE ? piece->free : piece->touched);
    if (piece->free != PIECES_NONE)
        piece->free = *first_word(p, number) & ~PLACE_FREE;
    else
        piece->touched++;
    piece->live++;
    p->room--;
    if (!has_room(piece))
        roomy_remove(p, slot);
    return number;
}

uint32_t pieces_take(struct pieces *p, struct slab_pool *pool)
{
    uint32_t number;

    if (p->roomy == SLOTS_NONE)
        piece_add(p, pool);
    number = place_take(p);
    memset(pieces_at(p, number), 0, p->item_size);
    return number;
}

void pieces_give(struct pieces *p, struct slab_pool *pool, uint32_t number)
{
    uint32_t slot = number >> PIECES_PLACE_BITS;
    struct piece *piece = piece_at(p, slot);

    assert((*first_word(p, number) & PLACE_FREE) == 0);
    if (!has_room(piece))
        roomy_add(p, slot);
    *first_word(p, number) = PLACE_FREE | piece->free;
    piece->free = number & ((1u << PIECES_PLACE_BITS) - 1);
    p->room++;
    if (--piece->live == 0)
        piece_drop(p, pool, slot);
}

/* A piece has room for two: next_piece_size(). */
uint64_t pieces_growth(const struct pieces *p, unsigned n)
{
    assert(n <= 2);
    if (p->room >= n)
        return 0;
    return p->slots.used == PIECES_MAX ? UINT64_MAX : next_piece_size(p) + slots_growth(&p->slots);
}

uint32_t pieces_next(const struct pieces *p, uint32_t number)
{
    uint32_t from = number == PIECES_NONE ? 0 : number + 1;
    uint32_t place = from & ((1u << PIECES_PLACE_BITS) - 1);

    for (uint32_t slot = from >> PIECES_PLACE_BITS; slot < p->slots.count; slot++, place = 0) {
        if (!slots_has(&p->slots, slot))
            continue;
        for (; place < piece_at(p, slot)->touched; place++) {
            number = slot << PIECES_PLACE_BITS | place;
            if ((*first_word(p, number) & PLACE_FREE) == 0)
                return number;
        }
    }
    return PIECES_NONE;
}
