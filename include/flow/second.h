/*
 * flow/second: the second thread, which fires windows, formats their results and writes them.
 *
 * The first one hands firings over (join/firing) and gets deliveries: rows as they will be
 * written, with the news that belong to them. A few deliveries lie in a ring; when it is
 * full, because readers do not read, the thread waits, and what is left of its window stays
 * where it is, in the records. Between the threads there is one lock, round the queue and
 * the ring; what lies in them is one thread's at a time.
 *
 *     first                                          second
 *     second_give()    --- firings --->
 *                      <-- deliveries ---            rows, news; a byte for the loop,
 *     second_first(), second_release()               if it sleeps
 *
 * Rows come in order: of the windows as they were handed over, and of each window's results.
 *
 * While there is one reader, who reads, the first thread lends the link to him (the line). Rows are
 * then written before their delivery comes, which is news alone. When the reader does not take
 * all, the line is given back by itself: the first thread sees to what is left of that delivery,
 * and to the rows of those that follow. It recalls the line before it does anything else with that
 * reader.
 */
#ifndef FLOW_SECOND_H
#define FLOW_SECOND_H

#include <event2/event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "codec/encoder.h"
#include "engine/engine.h"
#include "io/link.h"
#include "join/firing.h"
#include "model/plan.h"

/* What comes at once: about a millisecond's work, and about so many bytes of rows (fewer,
 * where an output has little room). Windows that have less are not worth the way. */
#define SECOND_LEAST_BYTES (UINT64_C(64) << 10)

/* In event time nothing is read while two windows and so many bytes of them are out: more would
 * not be fired any sooner. */
#define SECOND_AHEAD_BYTES (UINT64_C(8) << 20)

/* What became of a piece of work. */
struct delivery {
    struct buf rows;
    uint64_t row_count;
    struct buf rejected; /* pairs without a row, for [rejects]: delivery_next_rejected() */
    uint64_t rejected_count;
    bool written;             /* on the line: rows were given to link_write(), which ... */
    ssize_t said;             /* ... said this */
    struct firing_news *news; /* owned; to be settled before it is released */
    uint64_t work;            /* fuel that it took */
};

/* What fate_pair() made of the next of these pairs; they are eaten. False: there is none. */
bool delivery_next_rejected(struct delivery *d, struct bytes *ret_detail, struct bytes *ret_line);

struct second;

/* Runs from now on. `piece`: how many bytes of rows a delivery has, about. NULL: the system
 * has no thread to give. */
struct second *second_start(struct event_base *base, const struct output_format *format,
                            const struct plan *plan, size_t piece);

/* Stops it. What it still had is settled, or the engine's. NULL is fine. */
void second_free(struct second *s, struct engine *e);

/* Does it take another firing? */
bool second_takes(const struct second *s);
void second_give(struct second *s, struct firing *f);

/* Lends it a link to which all rows are written that were delivered: what it makes from now on it
 * writes itself. False: not now, there are rows that are not taken yet. */
bool second_lend(struct second *s, struct link *line);

/* It writes no more, and what it has written is in the first deliveries. Fine if nothing is lent.
 */
void second_recall(struct second *s);

/* How many firings it was given that are not over, as far as news have been settled. */
size_t second_out(const struct second *s);

/* How many bytes of state they hold, about. */
uint64_t second_out_bytes(const struct second *s);

/* The oldest delivery that is not released; NULL: none has come. */
struct delivery *second_first(struct second *s);

/* It is done with: settles its news, and gives the memory back to the thread. */
void second_release(struct second *s, struct engine *e);

/* The loop may sleep now: the next delivery that has to be seen to soon wakes it. False: one has
 * come already. */
bool second_may_sleep(struct second *s);

/* Stops, and counts the results that have not been taken, and goes on to count while there is
 * fuel; all are forgotten. */
uint64_t second_forget(struct second *s, struct engine *e, int64_t *fuel);

#endif
