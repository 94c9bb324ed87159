/*
 * watch/status: how a running join is, in words: interface.md section 5.
 */
#ifndef WATCH_STATUS_H
#define WATCH_STATUS_H

#include "base/buf.h"
#include "watch/watch.h"

void status_json(const struct watch *w, struct buf *to); /* /status: one line, no LF */
void status_line(const struct watch *w, struct buf *to); /* for people: rates */

/* How far a side has come: by its own records, or (processing time) by the clock. */
int64_t status_side_time(const struct watch *w, int side);

#endif
