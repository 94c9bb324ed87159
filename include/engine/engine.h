/*
 * engine/engine: the join as one machine: rows and time go in, results are asked for.
 *
 * Input is pushed, a batch at a time; output is pulled, a few results at a time;
 * nothing is queued in between. A window that is due is walked lazily, as results
 * are pulled, while new rows go into open windows. Time enters as a value. All
 * that happens, happens inside one of these calls.
 *
 * The fate of a record is decided and counted where it is found out (model/books).
 */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lang/side.h"
#include "model/batch.h"
#include "model/books.h"
#include "model/instant.h"
#include "model/lag.h"
#include "model/plan.h"
#include "model/result.h"
#include "model/watermark.h"

struct engine;
struct firing;
struct firing_news;

/* The plan must outlive the engine. */
struct engine *engine_new(const struct plan *plan);
void engine_free(struct engine *e);

/* --- in --- */

/* The clock is at `now`. In processing time that is time: windows that end by then are
 * due; an earlier time is taken for the one reached. In event time it only says which
 * timestamps are too far ahead. */
void engine_advance(struct engine *e, struct stream_time now);

/* Event time: the monotonic clock, told before anything else in a turn. Who is idle, and
 * time that moves with the clock, follow from it. Nothing to do in processing time. */
void engine_watch(struct engine *e, struct mono_time now);

/* The ready line was written: from now on idle time counts. */
void engine_count_idle_anew(struct engine *e, struct mono_time now);

/* A connection of `side`: its records carry it in batch.feed. Belongs to the caller,
 * who closes it before it goes; rules: model/watermark.h. */
void engine_feed_open(struct engine *e, struct feed *f, enum side side);
void engine_feed_close(struct engine *e, struct feed *f);
/* It has, or may have, something that is not read yet: it cannot become idle. */
void engine_feed_unread(struct engine *e, struct feed *f);
/* Now it was read; `held`: it had been held back, so its idle time counts anew. */
void engine_feed_read(struct engine *e, struct feed *f, bool held);
/* The side is a regular file: never idle. */
void engine_never_idle(struct engine *e, enum side side);

/* Takes rows of `b`, from row `from` on, that came from `side` at `now`. Returns how many:
 * fewer than there are when engine_holds() says why. A row that timestamp, where or key
 * make unusable gets its `reject` here, one that is late its `late`. Rows taken are in
 * the books. */
size_t engine_push(struct engine *e, enum side side, struct batch *b, size_t from,
                   struct stream_time now);

/* What the caller spends on pushing a row, in units of engine_pull's fuel. */
int64_t engine_push_fuel(const struct engine *e);

enum engine_hold {
    ENGINE_TAKES,
    ENGINE_FULL,    /* state is full: pushing would take nothing */
    ENGINE_RESULTS, /* results that came before the next row have to be pulled first */
    ENGINE_OTHER,   /* the other side's row comes next: replay, and the left side of a batch
                     * before the right one has ended */
};

/* Would it take a row of this feed now? NULL: of the side's own. In event time, feeds that
 * hold time back are taken from beyond the limit, up to a quarter more: only they can
 * free memory. */
enum engine_hold engine_holds(const struct engine *e, enum side side, const struct feed *f);

/* Does time wait for this feed's records? In processing time it waits for none, or for all. */
bool engine_awaits(const struct engine *e, enum side side, const struct feed *f);

/* False: state is full, for some feed at least. */
bool engine_takes(const struct engine *e);

/* State is full, and neither pulling nor time by itself can make room. */
bool engine_is_stuck(const struct engine *e);

/* Event time: is somebody idle at `now`, unless there is something unread? */
bool engine_idle_is_due(const struct engine *e, struct mono_time now);

/* What is held now is decided as if time had ended, and makes room for what may still
 * come: a stop, when state is full. */
void engine_flush(struct engine *e);

/* From now on state may grow as it must: for the last bytes that were read before a
 * stop, when nothing more is read. */
void engine_lift_limit(struct engine *e);

/* lookup: the right side is a table, which is built beside the one that answers and then
 * swapped in whole. Nothing of a new table is in the books, or answers, before that. */
struct lookup_table;
struct lookup_table *engine_table_new(struct engine *e);

/* Adds the rows of a batch, from `from` on, as far as *fuel (as of engine_pull) goes; returns
 * how many. A row that is rejected, or that `duplicates` forbids (it is rejected then), is a
 * fault of the whole table: it is appended to `fault` (without the row's place), and the row is
 * not counted in. So is state that is full, the one fault of a row that is not rejected. */
size_t engine_table_add(struct engine *e, struct lookup_table *t, struct batch *b, size_t from,
                        int64_t *fuel, struct buf *fault);

/* Takes the table, which is complete. What a left row that came before meets is still the
 * old one; its rows end matched or unmatched, and are freed as results are pulled. */
void engine_table_swap(struct engine *e, struct lookup_table *t, struct stream_time now);

/* Gives up one that will not be swapped in; freed as results are pulled. */
void engine_table_drop(struct engine *e, struct lookup_table *t);

/* This side has ended: no row will come. When both have, time runs to its end. */
void engine_end(struct engine *e, enum side side);

/* --- out --- */

/* Sets up to `max` results and returns how many. What they point at is good until
 * the next engine_pull(). *fuel is what the caller will spend: one unit for
 * each record or pair looked at, about 10 ns; the walk pauses when it is used up,
 * and 0 results with fuel left means that there is nothing to do. */
size_t engine_pull(struct engine *e, struct result *ret, size_t max, int64_t *fuel);

/* Is there anything that pulling would work on? */
bool engine_has_work(const struct engine *e);

/* --- out, by another thread: join/firing --- */

/* Windows of so many bytes are left to engine_detach(): engine_pull() stops before them.
 * UINT64_MAX, as it is at first: none. Only with plan_detaches(). */
void engine_leave(struct engine *e, uint64_t bytes);

/* The window that is to be fired next, for the caller to fire. NULL: none is due, or it has
 * fewer than so many bytes, or is being pulled already. While any is out, engine_pull() gives
 * nothing. */
struct firing *engine_detach(struct engine *e, uint64_t least_bytes);

/* Takes over what firings have counted since the last time; the news are empty again. */
void engine_settle(struct engine *e, struct firing_news *news);

/* The time at which engine_advance() would make something due; STREAM_TIME_MAX: never, or
 * this is event time. */
struct stream_time engine_due(const struct engine *e);
/* Event time: when engine_watch() would; INT64_MAX: never. */
struct mono_time engine_wake(const struct engine *e);

/* A result whose row cannot be made (select failed): counted; fates stand. */
void engine_reject_result(struct engine *e, const struct result *r);

/* --- what it knows --- */

const struct books *engine_books(const struct engine *e);
const struct lag *engine_lag(struct engine *e);
uint64_t engine_held(const struct engine *e, enum side side);
uint64_t engine_state_bytes(const struct engine *e);
struct stream_time engine_time(const struct engine *e); /* reached: the join's watermark */
/* Event time: how far this side is by its own records; STREAM_TIME_MIN: none came yet. */
struct stream_time engine_watermark(const struct engine *e, enum side side);
bool engine_side_idle(const struct engine *e, enum side side);
/* Both sides, with held counted anew from the records themselves: slow; and all news have to
 * be settled. */
bool engine_books_balance(const struct engine *e);

uint64_t engine_mapped_bytes(const struct engine *e); /* got from the system for state */

/* Gives free memory back to the system, but for ENGINE_TRIM_KEEP; for idle moments. */
#define ENGINE_TRIM_KEEP ((size_t)8 << 20)
void engine_trim(struct engine *e);

/* The operator's own state, for tests that look into it, or damage it. */
void *engine_operator_state(struct engine *e);

#endif
