/*
 * flow/output: one of [output], [late], [rejects] and those who read it.
 *
 * Rows are encoded once, into `rows`, and given to every sink by output_commit().
 * An output says whether it has room; as long as it has none, results stay where
 * they are, in the records. Who stops whom:
 *
 *     a sink's unwritten bytes >= buffer           -> no room: all wait for it
 *     slow = wait, every sink >= OUTPUT_AHEAD      -> no room: nobody would gain
 *     no sink, absent = wait                       -> no room; fate rows: buffer is kept
 *     slow = disconnect or discard, for 5 s        -> the sink no longer counts
 *
 * A new peer settles first (io/sink.h). Where it comes to its end so soon and is followed by one
 * that settles too, that one inherits what nobody else was given: nothing is lost by health checks
 * between which the reader comes.
 *
 * A FIFO whose reader has gone is as an absent subscriber that comes back: it is closed, rows are
 * kept, and once a second it is tried again.
 *
 * Where there is one reader, who reads, the second thread may write its rows (flow/second).
 * Anything that happens here ends that, see output_take_back().
 *
 * An output that connects is one with a single reader, absent = wait and slow = wait. A FIN of
 * that reader's asks us to end the connection and to come again.
 *
 * Rules: interface.md section 2, [output].
 */
#ifndef FLOW_OUTPUT_H
#define FLOW_OUTPUT_H

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/list.h"
#include "codec/encoder.h"
#include "config/config.h"
#include "engine/engine.h"
#include "io/connector.h"
#include "io/listener.h"
#include "io/sink.h"
#include "model/instant.h"

#define OUTPUT_AHEAD (256 << 10)

/* What encoding a result takes, in fuel, beside what pulling it cost; and its bytes. The same in
 * whichever thread (flow/pump, flow/second). */
#define OUTPUT_RESULT_FUEL  6
#define OUTPUT_BYTES_A_FUEL 64

#define OUTPUT_MAGIC 0x5054554fu /* OUTP */

struct output {
    uint32_t magic;
    const struct output_config *config; /* not owned */
    const char *word;                   /* output, late, rejects */
    struct event_base *base;
    struct encoder *encoder; /* owned; of [output] only */
    struct listener listener;
    bool listening;
    struct connector connector;
    bool connecting;   /* this is an output that connects */
    struct list sinks; /* of struct sink, owned */
    size_t sink_count;
    struct buf rows;    /* encoded, not yet given to the sinks */
    uint64_t row_count; /* in rows */
    struct buf kept;    /* of the last subscriber: for the next */
    uint64_t bytes_written, discarded;
    uint64_t given;     /* bytes of rows, to sinks, in all */
    bool takes_all;     /* see output_take_all() */
    int standard_flags; /* of standard output, to be put back; -1: not changed */
    bool unread;        /* a FIFO without a reader */
    bool trouble_told;  /* in the log: a file refuses */
    bool failed;        /* standard output has closed: it can never go on */
};

/* False: cannot be opened, an error is logged. An output that is not configured
 * opens, always has room, and takes rows for nothing. Without make_files, what was not
 * there is not made: the start has failed already. */
bool output_open(struct output *o, struct event_base *base, const struct output_config *c,
                 enum output_id id, const struct plan *plan, bool make_files);
void output_close(struct output *o);

/* How many bytes may be encoded between two commits; 0: nothing now. The last row may
 * go beyond it. Changes only with a commit, or when the loop calls sinks. */
size_t output_room(const struct output *o);

static inline bool output_has_room(const struct output *o)
{
    return buf_length(&o->rows) < output_room(o);
}

/* As encoder_results(). Only with `room`. */
size_t output_results(struct output *o, const struct result *results, size_t n, size_t room);
void output_fate(struct output *o, const struct fate_row *r);

/* From now on there is always room: for the last rows before a stop. */
void output_take_all(struct output *o);

/* Gives what was encoded to the sinks, who write as much as they can. Those that turn out to be
 * dead are gone then. */
void output_commit(struct output *o);

/* Rows that were made elsewhere, as many: taken and committed. `rows` gets other memory in
 * exchange, empty. Only with room; they may go beyond it, by output_piece() bytes at most if
 * those who make them heed it. */
void output_take(struct output *o, struct buf *rows, uint64_t count);
size_t output_piece(const struct output *o);

/* The one sink that rows may be written to by somebody else, see sink_lend(). NULL: they must be
 * taken, as ever. */
struct sink *output_idle_sink(const struct output *o);

/* He wrote these: see sink_put_written(). The sink may be dead then. */
void output_take_written(struct output *o, struct bytes rows, ssize_t said);

/* Nobody else writes from now on; what was written is taken. To be asked before rows are encoded
 * here. */
void output_take_back(struct output *o);

/* Once a second: those that do not read. */
void output_tick(struct output *o, struct mono_time now);

/* A stop waits for what is written: a peer that is gone is tried at once, and more often. */
void output_hurry(struct output *o);

/* Opens a written file anew (HUP). False: cannot be opened, an error is logged; it goes on with the
 * one that is open. */
bool output_reopen(struct output *o);

bool output_drained(const struct output *o); /* nothing waits to be written */
uint64_t output_rows_unwritten(const struct output *o);
/* A file refuses, or a peer has not been there for long: true, and the reason is appended. */
bool output_trouble(const struct output *o, struct buf *ret_reason);

#endif
