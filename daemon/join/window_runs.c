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
    heap_done(&s->turns, NULL);
    heap_init(&s->turns, &by_number);
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

static void find_bound(struct window_runs *s)
{
    uint64_t next = heap_branch(&s->turns, &by_number, 0);
    const struct run_turn *turn;

    s->bound = UINT64_MAX;
    if (next < s->turns.count) {
        turn = heap_at(&s->turns, &by_number, next);
        s->bound = turn->number;
    }
}

void window_runs_wait(struct window_runs *s, uint32_t run, uint64_t number)
{
    heap_add(&s->turns, &by_number, NULL, &(struct run_turn){number, run});
    find_bound(s);
}

void window_runs_renew(struct window_runs *s, uint64_t number)
{
    heap_renew(&s->turns, &by_number, &(struct run_turn){number, window_runs_first(s)});
    find_bound(s);
}

void window_runs_drop(struct window_runs *s)
{
    heap_pop(&s->turns, &by_number, NULL);
    find_bound(s);
}

void window_runs_start(struct window_runs *s)
{
    uint64_t number;

    for (uint32_t i = 0; i < s->count; i++)
        if (next_number(&s->runs[i], &number))
            window_runs_wait(s, i, number);
}

void window_runs_turn(struct window_runs *s)
{
    uint64_t number;

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
