/*
 * store/pieces: items of one size, each known by a number of 32 bits.
 *
 * Items do not move. They lie in pieces of memory; a piece without items goes back to the
 * pool, and free places are used before a new piece is taken, so that items may come and
 * go for ever. The numbers depend on what was taken and given in which order alone.
 *
 * An item begins with a word whose highest bit its owner keeps clear: free places are
 * known by it. A number is below PIECES_NONE, so it may stand there.
 */
#ifndef STORE_PIECES_H
#define STORE_PIECES_H

#include <stddef.h>
#include <stdint.h>

#include "base/slab.h"
#include "store/slots.h"

#define PIECES_NONE       UINT32_C(0x7fffffff)
#define PIECES_PLACE_BITS 10
/* Smaller ones could not all be named in a piece. */
#define PIECES_ITEM_MIN 16

/* Items follow it. */
struct piece {
    uint32_t size;       /* as it was taken from the pool */
    uint32_t capacity;   /* items */
    uint32_t touched;    /* places from here on were never used */
    uint32_t live;       /* items that are there */
    uint32_t free;       /* the first free place below touched; PIECES_NONE */
    uint32_t prev, next; /* among the pieces with room; SLOTS_NONE */
    uint32_t unused;
};

struct pieces {
    struct slots slots; /* of struct piece, owned; their slots are in numbers */
    uint32_t item_size;
    uint32_t roomy; /* the first piece with room, or SLOTS_NONE */
    uint64_t room;  /* places without an item */
    uint64_t piece_bytes;
};

/* `item_size` is that of the owner's struct, at least PIECES_ITEM_MIN. Without items it takes
 * no memory. */
void pieces_init(struct pieces *p, size_t item_size);
void pieces_done(struct pieces *p, struct slab_pool *pool); /* items that are left are dropped */

/* An item, all zero. */
uint32_t pieces_take(struct pieces *p, struct slab_pool *pool);
void pieces_give(struct pieces *p, struct slab_pool *pool, uint32_t number);

static inline void *pieces_at(const struct pieces *p, uint32_t number)
{
    const struct piece *piece = p->slots.at[number >> PIECES_PLACE_BITS];
    uint32_t place = number & ((1u << PIECES_PLACE_BITS) - 1);

    return (char *)(piece + 1) + (size_t)place * p->item_size;
}

/* What the next `n` pieces_take() allocate, two at most; UINT64_MAX: no numbers are left. */
uint64_t pieces_growth(const struct pieces *p, unsigned n);

/* One item after the other: PIECES_NONE gives the first, and comes after the last. The item
 * at hand may be given back, others may be taken meanwhile. */
uint32_t pieces_next(const struct pieces *p, uint32_t number);

/* All that is allocated: counts as state. */
static inline uint64_t pieces_bytes(const struct pieces *p)
{
    return p->piece_bytes + slots_bytes(&p->slots);
}

#endif
