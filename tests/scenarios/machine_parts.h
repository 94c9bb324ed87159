/*
 * scenarios/machine_parts: what the files of the machine are to each other.
 *
 *     machine.c       in: clocks, connections, rows
 *     machine_table.c in: tables of a lookup
 *     machine_out.c   out: results
 *     machine_aside.c windows that are fired outside the engine
 *     promises.c      what must be true in between
 */
#ifndef SCENARIOS_MACHINE_PARTS_H
#define SCENARIOS_MACHINE_PARTS_H

#include "base/mem.h"
#include "machine.h"

/* Room for one more member of a list. */
static inline void *list_room(void *list, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return list;
    *capacity = *capacity * 2 + 16;
    return mem_realloc(list, *capacity * size);
}

/* Rows that wait are tried again: something has happened. */
void machine_try_again(struct machine *m);

/* One call of engine_pull(), with room for `max` results. */
size_t machine_pull_into(struct machine *m, struct result *results, size_t max, int64_t fuel);

/* --- aside --- */

/* As engine_pull() and engine_reject_result(). */
size_t aside_pull(struct machine *m, struct result *results, size_t max, int64_t *fuel);
void aside_reject_result(struct machine *m, const struct result *r);
void aside_settle(struct machine *m);
void aside_done(struct machine *m); /* before the engine goes */

static inline bool fires_aside(const struct machine *m)
{
    return m->aside.settles_every > 0;
}

/* --- promises --- */

/* The first one is kept as the machine's fault. */
void break_promise(struct machine *m, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The books balance, and agree with what was seen. */
void look_at_books(struct machine *m);

/* The engine took only `taken` rows of the batch: it says why, and means it. */
void look_at_refusal(struct machine *m, enum side side, struct machine_connection *c);

/* How large state may be after a push from this connection. */
uint64_t state_allowed(const struct machine *m, enum side side, const struct machine_connection *c);
/* `state.memory` holds, but for a new window's own few hundred bytes. */
void look_at_state(struct machine *m, uint64_t allowed);

/* A table that is not swapped in is in no book. */
void look_at_unchanged_books(struct machine *m, const struct books *before);

/* State that is full of nothing stays so for ever. */
void look_for_way_out(struct machine *m);

/* All has been pulled: nobody can have to wait for results any more. */
void look_at_the_end_of_work(struct machine *m);

/* What `record` says of a result and what its kind means must agree. */
void look_at_result(struct machine *m, const struct result *r);

#endif
