#include "store/spent.h"

#include <assert.h>

/* What it takes to free a record, in fuel. */
#define FREE_FUEL 4

void spent_init(struct spent *s)
{
    *s = (struct spent){.lent = false};
    for (int side = 0; side < SIDES; side++)
        s->first[side] = s->last[side] = REFERENCE_NONE;
}

void spent_release(struct spent *s, struct arena arenas[SIDES], struct slab_pool *pool,
                   enum side side, uint32_t ref)
{
    assert(record_has(arena_record(&arenas[side], ref), RECORD_DECIDED));
    if (!s->lent) {
        arena_free(&arenas[side], pool, ref);
        return;
    }
    arena_record(&arenas[side], ref)->hash = REFERENCE_NONE;
    if (s->first[side] == REFERENCE_NONE)
        s->first[side] = ref;
    else
        arena_record(&arenas[side], s->last[side])->hash = ref;
    s->last[side] = ref;
}

void spent_give_back(struct spent *s, struct arena arenas[SIDES], struct slab_pool *pool,
                     int64_t *fuel)
{
    s->lent = false;
    for (int side = 0; side < SIDES; side++) {
        while (s->first[side] != REFERENCE_NONE && *fuel > 0) {
            uint32_t ref = s->first[side];
            s->first[side] = arena_record(&arenas[side], ref)->hash;
            arena_free(&arenas[side], pool, ref);
            *fuel -= FREE_FUEL;
        }
    }
}
