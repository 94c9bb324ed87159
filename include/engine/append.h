/*
 * engine/append: rows of a batch go into an open window, many at once.
 *
 * Of windows an operator says only where records go (a window_log); one loop takes each row from
 * the batch to there. It goes on as long as a row lies in the window and its partition has room;
 * rows that are not to be stored are counted as it passes them.
 */
#ifndef ENGINE_APPEND_H
#define ENGINE_APPEND_H

#include <stddef.h>
#include <stdint.h>

#include "engine/judge.h"
#include "store/window_log.h"

/* Where rows may go, and what became of them. */
struct append_run {
    struct window_log *log;
    uint64_t number;           /* of the first row */
    bool timed;                /* rows have times of their own, else: */
    int64_t time;              /* all have this one */
    int64_t from, below;       /* timed: the run ends at a row of another time; */
    int64_t highest;           /* set to the highest time of its rows, else left as it was */
    uint64_t passed[VERDICTS]; /* added: rows that were not stored, by verdict */
};

/* Returns of how many rows, from `from` on, all is done. */
size_t append_rows(const struct judge *j, const struct batch *b, size_t from,
                   struct append_run *run);

#endif
