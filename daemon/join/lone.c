#include "join/lone.h"

#include <assert.h>

#include "base/mem.h"
#include "join/pairing.h"

/* What it takes to let one go, in units of fuel. */
#define LONE_FUEL 8
/* How many are looked at to find the first of those that are not due. */
#define LONE_LOOKS_MAX 256

static bool comes_before(const void *x, const void *y)
{
    const struct lone_due *a = x, *b = y;
    return a->time != b->time ? a->time < b->time : a->arrival < b->arrival;
}

static const struct heap_order by_time = {sizeof(struct lone_due), comes_before};

void lone_init(struct lone_records *l)
{
    *l = (struct lone_records){0};
    heap_init(&l->due, &by_time);
}

static size_t size_of(size_t stride)
{
    return offsetof(struct lone_record, record) + stride;
}

static void record_free(struct lone_records *l, struct lone_record *r)
{
    l->record_bytes -= size_of(record_stride(&r->record));
    mem_free(r);
}

static struct lone_due *due_at(const struct lone_records *l, uint64_t i)
{
    return heap_at(&l->due, &by_time, i);
}

void lone_done(struct lone_records *l)
{
    lone_give_back(l);
    for (uint64_t i = 0; i < l->due.count; i++)
        record_free(l, due_at(l, i)->lone);
    heap_done(&l->due, NULL);
    assert(l->record_bytes == 0);
}

bool lone_push(struct lone_records *l, enum side side, const struct record_parts *parts,
               uint64_t number, uint64_t room)
{
    size_t size = size_of(record_size(parts));
    struct lone_due due = {.time = parts->time, .arrival = l->arrivals};

    if (heap_growth(&l->due) + size > room)
        return false;
    due.lone = mem_alloc(size);
    due.lone->side = side;
    due.lone->number = number;
    record_write_parts(parts, 0, &due.lone->record);
    heap_add(&l->due, &by_time, NULL, &due);
    l->record_bytes += size;
    l->held[side]++;
    l->arrivals++;
    return true;
}

int64_t lone_first(const struct lone_records *l)
{
    return l->due.count == 0 ? INT64_MAX : due_at(l, 0)->time;
}

/* Those below `from` are the top of the heap: what hangs from them is looked at. */
int64_t lone_first_from(const struct lone_records *l, int64_t from)
{
    uint64_t open[LONE_LOOKS_MAX * HEAP_BRANCHES], count = 0, looks = 0;
    int64_t first = INT64_MAX;

    if (l->due.count > 0)
        open[count++] = 0;
    while (count > 0) {
        uint64_t at = open[--count], branch = HEAP_BRANCHES * at;
        int64_t t = due_at(l, at)->time;
        if (t >= from) {
            first = t < first ? t : first;
            continue;
        }
        if (++looks == LONE_LOOKS_MAX)
            return from;
        for (int i = 0; i < HEAP_BRANCHES && ++branch < l->due.count; i++)
            open[count++] = branch;
    }
    return first;
}

void lone_give_back(struct lone_records *l)
{
    while (l->given != NULL) {
        struct lone_record *r = l->given;
        l->given = r->next;
        record_free(l, r);
    }
}

/* Its record stays until it is given back. */
static void tell_padded(struct lone_records *l, const struct plan *plan, struct lone_due due,
                        struct result *ret)
{
    const struct record *records[SIDES] = {NULL, NULL};
    enum side side = due.lone->side;

    records[side] = &due.lone->record;
    pairing_result(ret, pairing_padded_kind(plan, side), records[SIDE_LEFT], records[SIDE_RIGHT],
                   RESULT_NO_WINDOW, RESULT_NO_WINDOW);
    ret->time[side] = due.time;
    due.lone->next = l->given;
    l->given = due.lone;
}

size_t lone_pull(struct lone_records *l, const struct plan *plan, struct books *books,
                 struct near_miss *near_miss, int64_t until, struct result *ret, size_t max,
                 int64_t *fuel)
{
    size_t n = 0;

    for (; n<max && * fuel> 0 && l->due.count > 0 && lone_first(l) <= until; *fuel -= LONE_FUEL) {
        struct lone_due due = *due_at(l, 0);
        enum side side = due.lone->side;
        struct record *r = &due.lone->record;
        heap_pop(&l->due, &by_time, NULL);
        pairing_unmatched(books, side, r, &l->held[side]);
        if (near_miss != NULL && !record_has(r, RECORD_NULL_KEY))
            near_miss_lost(near_miss, side, r->hash, due.time);
        if (plan_pads(plan, side))
            tell_padded(l, plan, due, &ret[n++]);
        else
            record_free(l, due.lone);
    }
    return n;
}

void lone_list(const struct lone_records *l, enum side side, const struct held_listener *to)
{
    for (uint64_t i = 0; i < l->due.count; i++) {
        const struct lone_due *due = due_at(l, i);
        if (due->lone->side == side)
            held_tell(to, &due->lone->record, due->time, due->lone->number);
    }
}
