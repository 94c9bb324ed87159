/*
 * join/table_join: lookup and batch joins: left rows, streamed against a table of right ones.
 *
 *     batch    right rows come by push and fill the table; the engine sees to it that they
 *              have all come before a left one does. When all has ended, right rows without
 *              a match are padded (right, full), in order of arrival.
 *     lookup   the table is built beside the one that answers, and swapped in whole.
 *
 * Left rows are looked up as they are pushed, a few at a time (what is needed for each is
 * fetched while others are at work). Those that give results, or may, lie at hand, in order of
 * arrival, until results are pulled: never more than one small piece of memory has room for.
 * A table that is to be swapped in waits for these: they meet the one that was there.
 *
 * Rules: semantics.md section 5, interface.md section 5 (the books of tables).
 */
#ifndef JOIN_TABLE_JOIN_H
#define JOIN_TABLE_JOIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "join/operator.h"
#include "join/pairing.h"
#include "model/plan.h"
#include "model/record.h"
#include "store/table.h"

/* A table, and what becomes of its rows in the books when it is swapped in. */
struct lookup_table {
    struct table table;
    struct lookup_table *next; /* among those that are given up */
    uint64_t received;         /* rows, the next three too */
    uint64_t filtered;
    uint64_t unmatched; /* NULL keys, and rows that a later one of their key replaced */
    int64_t time;       /* of the swap; batch: of the last row */
};

/* Left rows that were looked up: records, one behind the other, whose hash is the reference
 * of the first right row that they meet. */
struct rows_at_hand {
    char *piece;  /* owned */
    size_t size;  /* of the piece */
    size_t usual; /* what it is, but for a row that is larger */
    size_t used;  /* bytes of rows that are there, or were and may still be told of */
    size_t done;  /* bytes of rows that are over */
    uint64_t undecided;
};

struct table_join {
    struct operator_context context;
    struct pairing pairing;
    bool lookup, one_sided, pads[SIDES];
    struct lookup_table *current;  /* that answers; owned */
    struct lookup_table *building; /* owned; NULL */
    struct lookup_table *next;     /* complete, waits for its turn; owned; NULL */
    struct lookup_table *leaving;  /* given up, owned; freed as results are pulled */

    struct rows_at_hand hand;
    struct record *left; /* the one that is being answered; NULL */
    uint32_t met;        /* the next right row for it; REFERENCE_NONE: all were met */

    bool ending;     /* no row will come */
    bool over;       /* and all is decided */
    uint32_t padded; /* ending: the next right row to look at */
};

/* --- lookup: what engine_table_new() and its companions do to the operator --- */

/* Only one at a time is built. */
struct lookup_table *table_join_begin(struct table_join *j);

enum lookup_answer {
    LOOKUP_TAKEN,
    LOOKUP_FULL,      /* it does not fit into state */
    LOOKUP_DUPLICATE, /* of a key that may be there once only */
};

/* A hint: rows with these hashes of their keys will be added soon. */
void table_join_fetch(const struct lookup_table *t, const uint32_t *hashes, size_t n);

/* A row that is to be held; t->received, its number, is the caller's to count. */
enum lookup_answer table_join_add(struct table_join *j, struct lookup_table *t,
                                  const struct record_parts *parts);

void table_join_swap(struct table_join *j, struct lookup_table *t, struct stream_time now);
void table_join_give_up(struct table_join *j, struct lookup_table *t);

#endif
