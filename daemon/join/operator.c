#include "join/operator.h"

#include <assert.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "store/keyed_table.h"

#define LIST_MIN 16

uint64_t operator_recount(const struct operator* op, const void *self, enum side side)
{
    uint64_t undecided = 0;
    const struct held_listener count = {held_count, &undecided};

    op->list(self, side, &count);
    return undecided;
}

/* --- in order --- */

static void append(void *self, const struct held_record *h)
{
    struct held_list *l = self;

    if (l->count == l->capacity) {
        l->capacity = l->capacity == 0 ? LIST_MIN : 2 * l->capacity;
        l->at = mem_realloc(l->at, l->capacity * sizeof(*l->at));
    }
    l->at[l->count++] = *h;
}

static int by_number(const void *a, const void *b)
{
    const struct held_record *x = a, *y = b;

    return (x->number > y->number) - (x->number < y->number);
}

void operator_list(const struct operator* op, const void *self, enum side side,
                   struct held_list *ret)
{
    const struct held_listener listener = {append, ret};

    *ret = (struct held_list){0};
    op->list(self, side, &listener);
    if (ret->count > 0)
        qsort(ret->at, ret->count, sizeof(*ret->at), by_number);
}

void held_list_done(struct held_list *l)
{
    mem_free(l->at);
}

/* --- given back --- */

/* As the engine would hand it over, but that its fate is known. */
static struct record_parts parts_of(const struct held_record *h, uint64_t hash_seed)
{
    const unsigned kept = RECORD_DECIDED | RECORD_MATCHED | RECORD_NULL_KEY | RECORD_PACKED;
    struct record_parts parts = {
        .body = record_body(h->record),
        .key = record_key(h->record),
        .flags = (uint16_t)((h->record->size_flags & kept) | RECORD_TIMED),
        .time = h->time,
    };

    if (record_has(h->record, RECORD_NULL_KEY)) {
        parts.key = BYTES_NULL;
        parts.hash = (uint32_t)hash_number(h->number);
    } else {
        parts.hash = keyed_hash(parts.key, hash_seed);
    }
    return parts;
}

void operator_restore(const struct operator* op, void *self, enum side side,
                      const struct held_record *h, uint64_t hash_seed)
{
    const struct record_parts parts = parts_of(h, hash_seed);
    enum push_stop stop;
    size_t taken;

    if (op->restore != NULL) {
        op->restore(self, side, &parts, h->number);
        return;
    }
    stop = op->push(self, side, &parts, 1, h->number, &taken);
    assert(stop == PUSH_ALL);
}

void operator_resume(const struct operator* op, void *self, struct stream_time now)
{
    if (op->resume != NULL)
        op->resume(self, now);
    else
        op->advance(self, now);
}
