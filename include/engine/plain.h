/*
 * engine/plain: the short way of a row into a window's log.
 *
 * Most rows are plain: nothing is asked of them, their key is one of their fields, and their
 * line is stored as it came. One loop takes them from the batch to where they stay, with
 * nothing in between and nothing allocated. It stops at the first row that is not plain, takes a
 * new chunk, or is not hashed yet (judge_hash()): that one goes the long way (judge_row(), the
 * operator's push).
 */
#ifndef ENGINE_PLAIN_H
#define ENGINE_PLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/judge.h"
#include "model/batch.h"
#include "store/window_log.h"

/* Appends rows from `from` on as records with numbers from `number` on, all of time `time`;
 * judge->plain[side] only. Returns how many. */
size_t plain_append(const struct judge *j, enum side side, const struct batch *b, size_t from,
                    int64_t time, struct window_log *log, uint64_t number);

/* Event time: rows whose own times lie in [time_from, time_below), of a timed batch;
 * judge->plain[side] only. Sets the highest of their times, if there are any. */
size_t plain_append_timed(const struct judge *j, enum side side, const struct batch *b, size_t from,
                          int64_t time_from, int64_t time_below, struct window_log *log,
                          uint64_t number, int64_t *ret_highest);

#endif
