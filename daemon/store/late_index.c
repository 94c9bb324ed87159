#include "store/late_index.h"

#include <assert.h>

#include "base/mem.h"

#define SLOTS_MIN   8
#define ENTRIES_MIN 8
/* What it takes to index a record, in units of fuel: it is in no cache, nor is its slot. */
#define INDEX_FUEL 6

struct late_index *late_index_new(unsigned bits)
{
    size_t size = sizeof(struct late_index) + (SIDES << bits) * sizeof(struct late_part);
    struct late_index *x = mem_alloc_zeroed(1, size);

    x->bits = bits;
    x->bytes = size;
    return x;
}

void late_index_free(struct late_index *x)
{
    if (x == NULL)
        return;
    for (uint32_t i = 0; i < (uint32_t)SIDES << x->bits; i++) {
        mem_free(x->parts[i].entries);
        mem_free(x->parts[i].slots);
    }
    mem_free(x);
}

uint64_t late_index_bytes(const struct late_index *x)
{
    return x == NULL ? 0 : x->bytes;
}

/* --- slots --- */

static struct late_slot *slots_new(uint32_t count)
{
    struct late_slot *slots = mem_alloc(count * sizeof(*slots));

    for (uint32_t i = 0; i < count; i++)
        slots[i].first = LATE_NONE;
    return slots;
}

static void slots_grow(struct late_index *x, struct late_part *p)
{
    uint32_t before = p->slots == NULL ? 0 : p->slot_mask + 1;
    uint32_t count = before == 0 ? SLOTS_MIN : 2 * before;
    struct late_slot *slots = slots_new(count);

    for (uint32_t i = 0; i < before; i++) {
        uint32_t at = p->slots[i].hash & (count - 1);
        if (p->slots[i].first == LATE_NONE)
            continue;
        while (slots[at].first != LATE_NONE)
            at = (at + 1) & (count - 1);
        slots[at] = p->slots[i];
    }
    mem_free(p->slots);
    p->slots = slots;
    p->slot_mask = count - 1;
    x->bytes += (count - before) * sizeof(*slots);
}

/* The slot of this key, or the free one where it would be. */
static struct late_slot *slot_of(const struct late_part *p, struct log_chunk *const *chunks,
                                 uint32_t hash, struct bytes key)
{
    uint32_t at = hash & p->slot_mask;

    for (; p->slots[at].first != LATE_NONE; at = (at + 1) & p->slot_mask) {
        uint32_t first = p->entries[p->slots[at].first].reference;
        if (p->slots[at].hash == hash &&
            bytes_equal(record_key(reference_record(chunks, first)), key))
            break;
    }
    return &p->slots[at];
}

/* --- entries --- */

static uint32_t entry_add(struct late_index *x, struct late_part *p, uint32_t reference)
{
    if (p->count == p->capacity) {
        uint32_t capacity = p->capacity == 0 ? ENTRIES_MIN : p->capacity + p->capacity / 2;
        p->entries = mem_realloc(p->entries, capacity * sizeof(*p->entries));
        x->bytes += (capacity - p->capacity) * sizeof(*p->entries);
        p->capacity = capacity;
    }
    p->entries[p->count] = (struct late_entry){reference, LATE_NONE};
    return p->count++;
}

static void index_record(struct late_index *x, struct late_part *p, struct log_chunk *const *chunks,
                         uint32_t reference)
{
    const struct record *r = reference_record(chunks, reference);
    struct late_slot *slot;
    uint32_t entry;

    if (record_has(r, RECORD_NULL_KEY))
        return;
    if (2 * p->keys >= p->slot_mask)
        slots_grow(x, p);
    entry = entry_add(x, p, reference);
    slot = slot_of(p, chunks, r->hash, record_key(r));
    if (slot->first == LATE_NONE) {
        *slot = (struct late_slot){r->hash, entry, entry};
        p->keys++;
    } else {
        p->entries[slot->last].next = entry;
        slot->last = entry;
    }
}

bool late_index_catch_up(struct late_index *x, enum side side, const struct window_log *l,
                         uint32_t part, int64_t *fuel)
{
    struct late_part *p = late_index_part(x, side, part);
    const struct log_part *from = &l->parts[part];

    assert(x->bits == l->bits);
    if (p->slots == NULL)
        slots_grow(x, p);
    while (p->chunk < from->count) {
        const struct log_chunk *c = from->chunks[p->chunk];
        while (p->offset < log_chunk_used(from, p->chunk)) {
            if (*fuel <= 0)
                return false;
            *fuel -= INDEX_FUEL;
            index_record(x, p, from->chunks, reference_make(p->chunk, p->offset));
            p->offset += (uint32_t)record_stride(log_chunk_record(c, p->offset));
        }
        if (p->chunk + 1 == from->count)
            break; /* more may be appended to it */
        p->chunk++;
        p->offset = 0;
    }
    return true;
}

uint32_t late_index_find(const struct late_part *p, const struct window_log *l, uint32_t part,
                         uint32_t hash, struct bytes key)
{
    return slot_of(p, l->parts[part].chunks, hash, key)->first;
}
