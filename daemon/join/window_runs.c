#include "join/window_runs.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"

#define RUNS_MIN 8

static bool comes_before(const void *x, const void *y)
{
    const struct run_turn *a = x, *b = y;
    return a->number < b->number;
}

static const struct heap_order by_number = {sizeof(struct run_turn), comes_before};

void window_runs_done(struct window_runs *s)
{
    mem_free(s->runs);
    mem_free(s->counts);
    mem_free(s->chunks);
    heap_done(&s->turns, NULL);
    *s = (struct window_runs){0};
}

void window_runs_begin(struct window_runs *s)
{
    s->count = s->chunk_count = 0;
    if (s->turns.items.count == 0)
        heap_init(&s->turns, &by_number);
    s->turns.count = 0;
    s->next = UINT32_MAX; /* none, before the start */
}

static void make_room(struct window_runs *s, uint32_t chunks)
{
    if (s->count == s->capacity) {
        s->capacity = s->capacity == 0 ? RUNS_MIN : 2 * s->capacity;
        s->runs = mem_realloc(s->runs, s->capacity * sizeof(*s->runs));
        s->counts = mem_realloc(s->counts, s->capacity * sizeof(*s->counts));
    }
    if (s->chunk_count + chunks > s->chunk_capacity) {
        s->chunk_capacity = 2 * (s->chunk_count + chunks);
        s->chunks = mem_realloc(s->chunks, s->chunk_capacity * sizeof(struct log_chunk *));
    }
}

void window_runs_add_part(struct window_runs *s, struct window_log *l, uint32_t part)
{
    const struct log_part *p = &l->parts[part];

    if (p->count == 0)
        return;
    assert(s->chunk_count + p->count <= LOG_CHUNKS_MAX);
    make_room(s, p->count);
    s->counts[s->count] = (struct cross_count){s->chunk_count, &l->undecided};
    s->runs[s->count++] = (struct window_run){.part = p, .first_chunk = s->chunk_count};
    memcpy(s->chunks + s->chunk_count, p->chunks, p->count * sizeof(struct log_chunk *));
    s->chunk_count += p->count;
}

void window_runs_add(struct window_runs *s, struct window_log *l, unsigned bits, uint32_t part)
{
    unsigned finer = l->bits > bits ? l->bits - bits : 0;

    if (finer == 0)
        window_runs_add_part(s, l, part >> (bits - l->bits));
    for (uint32_t i = 0; finer > 0 && i < 1u << finer; i++)
        window_runs_add_part(s, l, (part << finer) + i);
}

/* False: the run is over. */
static bool next_number(const struct window_run *run, uint64_t *ret)
{
    uint32_t chunk = run->chunk, offset = run->offset;

    for (; chunk < run->part->count; chunk++, offset = 0) {
        const struct log_chunk *c = run->part->chunks[chunk];
        if (offset < log_chunk_used(run->part, chunk)) {
            *ret = c->first_number + log_chunk_record(c, offset)->number;
            return true;
        }
    }
    return false;
}

/* Those runs wait whose turn may be the next; up to where it lasts. */
static void find_turn(struct window_runs *s)
{
    uint64_t next;

    for (; s->next < s->count; s->next++) {
        const struct run_turn *first = heap_first(&s->turns, &by_number);
        uint64_t number;
        if (first != NULL && first->number <= s->runs[s->next].later)
            break;
        if (next_number(&s->runs[s->next], &number))
            window_runs_wait(s, s->next, number);
    }
    s->bound = s->next < s->count ? s->runs[s->next].later : UINT64_MAX;
    next = heap_branch(&s->turns, &by_number, 0);
    if (next < s->turns.count) {
        const struct run_turn *turn = heap_at(&s->turns, &by_number, next);
        s->bound = turn->number < s->bound ? turn->number : s->bound;
    }
}

void window_runs_wait(struct window_runs *s, uint32_t run, uint64_t number)
{
    heap_add(&s->turns, &by_number, NULL, &(struct run_turn){number, run});
    s->bound = 0; /* it is found when it is asked for */
}

void window_runs_renew(struct window_runs *s, uint64_t number)
{
    struct run_turn *first = heap_first(&s->turns, &by_number);

    assert(first != NULL && number >= first->number);
    first->number = number;
    if (number < s->bound)
        return; /* its turn goes on */
    heap_renew(&s->turns, &by_number, first);
    find_turn(s);
}

void window_runs_drop(struct window_runs *s)
{
    heap_drop(&s->turns, &by_number);
    find_turn(s);
}

void window_runs_start(struct window_runs *s)
{
    uint64_t later = UINT64_MAX, number;

    for (uint32_t i = s->count; i-- > 0;) {
        if (next_number(&s->runs[i], &number) && number < later)
            later = number;
        s->runs[i].later = later;
    }
    s->next = 0;
    find_turn(s);
}

void window_runs_turn(struct window_runs *s)
{
    uint64_t number;

    assert(!window_runs_are_over(s));
    if (next_number(window_runs_at(s), &number))
        window_runs_renew(s, number);
    else
        window_runs_drop(s);
}

uint64_t window_runs_bytes(const struct window_runs *s)
{
    return s->capacity * (sizeof(*s->runs) + sizeof(*s->counts)) +
           s->chunk_capacity * sizeof(struct log_chunk *) + heap_bytes(&s->turns);
}
