/*
 * join/operator: what each kind of join is to the engine.
 *
 * One struct of functions a kind, all files alike (join/window_join.c, ...).
 * The engine judges records (rejected, filtered, NULL key) and counts; an
 * operator stores, matches, and decides the fates matched and unmatched.
 */
#ifndef JOIN_OPERATOR_H
#define JOIN_OPERATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slab.h"
#include "lang/side.h"
#include "model/books.h"
#include "model/instant.h"
#include "model/lag.h"
#include "model/plan.h"
#include "model/record.h"
#include "model/result.h"
#include "store/held.h"

struct firing;
struct firing_news;
struct window_log;

/* So many are fetched at a time, at most: not so many that what was fetched would not stay in
 * the first caches. */
#define OPERATOR_FETCH 64

/* What an operator is given to work with; belongs to the engine. */
struct operator_context {
    const struct plan *plan;
    struct books *books;
    struct slab_pool *pool;
    const uint64_t *state_bytes_max; /* may change from push to push */
    struct lag *lag;                 /* for near misses; NULL: nobody asks */
};

/* Why a push took fewer records than there were. */
enum push_stop {
    PUSH_ALL,        /* it took all */
    PUSH_FULL,       /* the next one does not fit into state */
    PUSH_WORK_FIRST, /* results of earlier causes have to be pulled before the next one */
    PUSH_LATE,       /* the next one is late altogether: it is the caller's to count */
};

/* Where plain records may go: see open(). */
struct operator_open {
    struct window_log *log; /* NULL: nowhere */
    int64_t from, below;    /* it takes records of times in [from, below) ... */
    int64_t until;          /* ... while less than this is reached */
};

struct operator
{
    int64_t push_fuel; /* what storing a record takes, in units of engine_pull's fuel */

    void *(*create)(const struct operator_context *c);
    void (*destroy)(void *self);

    /* A hint: records with these hashes of their keys, OPERATOR_FETCH at most, will be pushed
     * soon. What they will touch is fetched into the cache. NULL: push sees to that itself, or need
     * not. */
    void (*fetch)(const void *self, enum side side, const uint32_t *hashes, size_t n);

    /* Will any record that is pushed now be answered by PUSH_WORK_FIRST? So it need not be
     * judged. NULL: this is not known before. */
    bool (*waits)(const void *self);

    /* Stores records, with numbers from `number` on; parts[i].time is each one's time.
     * Sets how many it took; nothing has changed for the others. It counts the (record,
     * window) pairs that are late, in the books, of those that it took or called late. */
    enum push_stop (*push)(void *self, enum side side, const struct record_parts *parts, size_t n,
                           uint64_t number, size_t *ret_taken);
    /* Where pushing a record of time `t` would do nothing but append it, if there is room: so it
     * may be appended without (engine/append), and time told afterwards. NULL: this is not known,
     * nor may it be where there is waits(). */
    struct operator_open (*open)(const void *self, enum side side, int64_t t);

    /* Time (the clock, or the join's watermark) has come to `now`; STREAM_TIME_MAX:
     * nothing will follow. Told of every step, before the record that made it, but for
     * records that were appended by open(). */
    void (*advance)(void *self, struct stream_time now);

    /* All that is held now is due, whatever the time. */
    void (*flush)(void *self);

    size_t (*pull)(void *self, struct result *ret, size_t max, int64_t *fuel);
    bool (*has_work)(const void *self);
    /* The lowest time that, reached, gives work; STREAM_TIME_MAX: none does. */
    struct stream_time (*due)(const void *self);

    uint64_t (*held)(const void *self, enum side side);
    uint64_t (*state_bytes)(const void *self);

    /* Tells of the records of one side that are there, decided or not, in any order. While there
     * is work, some of those that are decided may have left already. */
    void (*list)(const void *self, enum side side, const struct held_listener *to);

    /* As operator_restore(); NULL: by push(). */
    void (*restore)(void *self, enum side side, const struct record_parts *parts, uint64_t number);
    /* As operator_resume(); NULL: by advance(). */
    void (*resume)(void *self, struct stream_time now);

    /* For plan_detaches(): as engine_leave(), engine_detach() and engine_settle(). */
    void (*leave)(void *self, uint64_t bytes);
    struct firing *(*detach)(void *self, uint64_t least_bytes);
    void (*settle)(void *self, struct firing_news *news);
};

/* How many of a side are undecided, counted anew from the records themselves: slow, for checks. */
uint64_t operator_recount(const struct operator* op, const void *self, enum side side);

/* The records of one side, the oldest first. */
struct held_list {
    struct held_record *at; /* owned; the records are the operator's */
    size_t count, capacity;
};
void operator_list(const struct operator* op, const void *self, enum side side,
                   struct held_list *ret);
void held_list_done(struct held_list *l);

/* A new operator is given back what another one had: first its records, with their fates, in
 * order of arrival, while there is no limit to state; then the time that was reached. Records
 * that were listed while there was no work are all that it takes to go on as the other would
 * have, but for these:
 *
 *     both sides    which of two records of different sides came first, where the caller's
 *                   order does not say: sessions that end together come in order of opening,
 *                   lone records of one time in order of arrival
 *     windows       what was lost lately (join/near_miss), and how finely panes are parted: the
 *                   order of keys within a window follows from that
 *     latest        values that a flush has let come ahead of time, where time is the records'
 *     tables        all rows have the time of the last one, unless plan.keep_times
 *
 * Numbers are those that the records had, or others in the same order: where records are linked
 * in both directions (store/key_chains) only their order is known. */
void operator_restore(const struct operator* op, void *self, enum side side,
                      const struct held_record *h, uint64_t hash_seed);
void operator_resume(const struct operator* op, void *self, struct stream_time now);

/* How most operators push: one record after the other. */
static inline enum push_stop
operator_push_each(enum push_stop (*push_one)(void *self, enum side side,
                                              const struct record_parts *parts, uint64_t number),
                   void *self, enum side side, const struct record_parts *parts, size_t n,
                   uint64_t number, size_t *ret_taken)
{
    enum push_stop stop = PUSH_ALL;
    size_t i = 0;

    while (i < n && (stop = push_one(self, side, &parts[i], number + i)) == PUSH_ALL)
        i++;
    *ret_taken = i;
    return stop;
}

extern const struct operator operator_window;   /* tumbling, sliding */
extern const struct operator operator_session;  /* session */
extern const struct operator operator_interval; /* interval */
extern const struct operator operator_latest;   /* latest, processing time */
extern const struct operator operator_as_of;    /* latest, event time */
extern const struct operator operator_table;    /* lookup, batch */

#endif
