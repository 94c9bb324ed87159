#include "store/late_index.h"

#include <assert.h>

#include "base/mem.h"

/* What it takes to index a record, in units of fuel: it is in no cache, nor is its key. */
#define INDEX_FUEL 6

static struct log_part *part_of(const struct late_side *s, uint32_t hash)
{
    return &s->log->parts[log_part_of(hash, s->log->bits)];
}

static struct bytes key_of(const void *self, const void *key)
{
    const struct late_side *s = self;
    const struct late_key *k = key;
    uint32_t reference = late_index_entry(s, k->first)->reference;

    return record_key(reference_record(part_of(s, k->entry.hash)->chunks, reference));
}

struct late_index *late_index_new(const struct window_log logs[SIDES], struct slab_pool *pool)
{
    struct late_index *x = mem_alloc_zeroed(1, sizeof(*x));

    x->pool = pool;
    for (int i = 0; i < SIDES; i++) {
        struct late_side *s = &x->side[i];
        s->log = &logs[i];
        keyed_table_init(&s->keys, sizeof(struct late_key), key_of, s);
        pages_init(&s->entries, sizeof(struct late_entry));
        s->places = mem_alloc_zeroed((size_t)1 << s->log->bits, sizeof(*s->places));
    }
    return x;
}

void late_index_free(struct late_index *x)
{
    if (x == NULL)
        return;
    for (int i = 0; i < SIDES; i++) {
        keyed_table_done(&x->side[i].keys, x->pool);
        pages_done(&x->side[i].entries, x->pool);
        mem_free(x->side[i].places);
    }
    mem_free(x);
}

uint64_t late_index_bytes(const struct late_index *x)
{
    uint64_t bytes = sizeof(*x);

    for (int i = 0; x != NULL && i < SIDES; i++) {
        const struct late_side *s = &x->side[i];
        bytes += keyed_table_bytes(&s->keys) + pages_bytes(&s->entries) +
                 (sizeof(*s->places) << s->log->bits);
    }
    return x == NULL ? 0 : bytes;
}

static uint32_t entry_add(struct late_side *s, struct slab_pool *pool, uint32_t reference)
{
    assert(s->count < LATE_NONE);
    pages_widen(&s->entries, pool, s->count++);
    *late_index_entry(s, s->count - 1) = (struct late_entry){reference, LATE_NONE};
    return s->count - 1;
}

static void index_record(struct late_side *s, struct slab_pool *pool, const struct record *r,
                         uint32_t reference)
{
    uint32_t number, entry;
    struct late_key *k;

    if (record_has(r, RECORD_NULL_KEY))
        return;
    number = keyed_table_find(&s->keys, r->hash, record_key(r));
    entry = entry_add(s, pool, reference);
    if (number == KEYED_NONE) {
        k = keyed_table_entry(&s->keys, keyed_table_add(&s->keys, pool, r->hash));
        k->first = entry;
    } else {
        k = keyed_table_entry(&s->keys, number);
        late_index_entry(s, k->last)->next = entry;
    }
    k->last = entry;
}

bool late_index_catch_up(struct late_index *x, enum side side, uint32_t hash, int64_t *fuel)
{
    struct late_side *s = &x->side[side];
    struct late_place *place = &s->places[log_part_of(hash, s->log->bits)];
    const struct log_part *from = part_of(s, hash);

    assert(place->chunk <= from->count && s->keys.count <= s->count);
    while (place->chunk < from->count) {
        while (place->offset < log_chunk_used(from, place->chunk)) {
            const struct record *r = log_chunk_record(from->chunks[place->chunk], place->offset);
            if (*fuel <= 0)
                return false;
            *fuel -= INDEX_FUEL;
            index_record(s, x->pool, r, reference_make(place->chunk, place->offset));
            place->offset += (uint32_t)record_stride(r);
        }
        if (place->chunk + 1 == from->count)
            break; /* more may be appended to it */
        *place = (struct late_place){place->chunk + 1, 0};
    }
    return true;
}

uint32_t late_index_find(const struct late_index *x, enum side side, uint32_t hash,
                         struct bytes key)
{
    const struct late_side *s = &x->side[side];
    uint32_t number = keyed_table_find(&s->keys, hash, key);

    return number == KEYED_NONE ? LATE_NONE
                                : ((struct late_key *)keyed_table_entry(&s->keys, number))->first;
}
