#include "join/lone.h"

#include "base/mem.h"
#include "join/pairing.h"

#define LONE_MIN 2
/* What it takes to let one go, in units of fuel. */
#define LONE_FUEL 8
/* How many are looked at to find the first of those that are not due. */
#define LONE_LOOKS_MAX 256

static void record_free(struct lone_records *l, struct lone_record *r)
{
    l->bytes -= record_stride(r->record);
    mem_free(r->record);
}

void lone_done(struct lone_records *l)
{
    for (size_t i = 0; i < l->count + l->given; i++)
        record_free(l, &l->records[i]);
    mem_free(l->records);
    *l = (struct lone_records){0};
}

static bool is_before(const struct lone_record *a, const struct lone_record *b)
{
    return a->time != b->time ? a->time < b->time : a->arrival < b->arrival;
}

static void swap(struct lone_records *l, size_t a, size_t b)
{
    struct lone_record r = l->records[a];

    l->records[a] = l->records[b];
    l->records[b] = r;
}

static size_t next_capacity(const struct lone_records *l)
{
    return l->count + l->given < l->capacity ? l->capacity
           : l->capacity == 0                ? LONE_MIN
                                             : 2 * l->capacity;
}

static void rise(struct lone_records *l, size_t at)
{
    for (; at > 0 && is_before(&l->records[at], &l->records[(at - 1) / 2]); at = (at - 1) / 2)
        swap(l, at, (at - 1) / 2);
}

bool lone_push(struct lone_records *l, enum side side, const struct record_parts *parts,
               uint64_t number, uint64_t room)
{
    size_t capacity = next_capacity(l), size = record_size(parts);
    struct record *copy;

    if ((capacity - l->capacity) * sizeof(*l->records) + size > room)
        return false;
    if (capacity > l->capacity) {
        l->records = mem_realloc(l->records, capacity * sizeof(*l->records));
        l->bytes += (capacity - l->capacity) * sizeof(*l->records);
        l->capacity = capacity;
    }
    copy = mem_alloc(size);
    record_write_parts(parts, 0, copy);
    l->bytes += size;
    l->records[l->count + l->given] = l->records[l->count];
    l->records[l->count] = (struct lone_record){parts->time, l->arrivals++, number, copy, side};
    l->held[side]++;
    rise(l, l->count++);
    return true;
}

/* The first one is the first behind the heap then. */
static struct lone_record *take_first(struct lone_records *l)
{
    size_t at = 0;

    swap(l, 0, --l->count);
    l->given++;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child + 1 < l->count && is_before(&l->records[child + 1], &l->records[child]))
            child++;
        if (child >= l->count || is_before(&l->records[at], &l->records[child]))
            return &l->records[l->count];
        swap(l, at, child);
        at = child;
    }
}

/* Those below `from` are the top of the heap: what hangs from them is looked at. */
int64_t lone_first_from(const struct lone_records *l, int64_t from)
{
    size_t open[LONE_LOOKS_MAX + 2], count = 0, looks = 0;
    int64_t first = INT64_MAX;

    if (l->count > 0)
        open[count++] = 0;
    while (count > 0) {
        size_t at = open[--count];
        int64_t t = l->records[at].time;
        if (t >= from) {
            first = t < first ? t : first;
            continue;
        }
        if (++looks > LONE_LOOKS_MAX)
            return from;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < l->count; child++)
            open[count++] = child;
    }
    return first;
}

void lone_give_back(struct lone_records *l)
{
    for (; l->given > 0; l->given--)
        record_free(l, &l->records[l->count + l->given - 1]);
    if (l->count > 0)
        return;
    mem_free(l->records);
    l->bytes -= l->capacity * sizeof(*l->records);
    l->records = NULL;
    l->capacity = 0;
}

static void tell_padded(const struct plan *plan, const struct lone_record *r, struct result *ret)
{
    const struct record *records[SIDES] = {NULL, NULL};

    records[r->side] = r->record;
    pairing_result(ret, pairing_padded_kind(plan, r->side), records[SIDE_LEFT], records[SIDE_RIGHT],
                   RESULT_NO_WINDOW, RESULT_NO_WINDOW);
    ret->time[r->side] = r->time;
}

size_t lone_pull(struct lone_records *l, const struct plan *plan, struct books *books,
                 struct near_miss *near_miss, int64_t until, struct result *ret, size_t max,
                 int64_t *fuel)
{
    size_t n = 0;

    for (; n<max && * fuel> 0 && l->count > 0 && lone_first(l) <= until; *fuel -= LONE_FUEL) {
        struct lone_record *r = take_first(l);
        pairing_unmatched(books, r->side, r->record, &l->held[r->side]);
        if (near_miss != NULL && !record_has(r->record, RECORD_NULL_KEY))
            near_miss_lost(near_miss, r->side, r->record->hash, r->time);
        if (plan_pads(plan, r->side))
            tell_padded(plan, r, &ret[n++]);
    }
    if (n == 0)
        lone_give_back(l);
    return n;
}

void lone_list(const struct lone_records *l, enum side side, const struct held_listener *to)
{
    for (size_t i = 0; i < l->count; i++)
        if (l->records[i].side == side)
            held_tell(to, l->records[i].record, l->records[i].time, l->records[i].number);
}
