/*
 * core/join_window: windows aligned to the epoch, each a join of its own.
 *
 * Windows are opened by the first record that falls into them and are due when
 * time reaches their end. Due windows are walked (core/window_walk) in order of
 * end, one at a time, while others fill. Rules: semantics.md section 2.
 */
#ifndef CORE_JOIN_WINDOW_H
#define CORE_JOIN_WINDOW_H

#include "core/instant.h"
#include "core/operator.h"
#include "core/window_walk.h"

struct join_window {
    struct operator_context context;
    struct window **windows; /* owned, by start; [head, head + count) are there ... */
    size_t head, count, capacity;
    size_t closed; /* ... of which the first so many are due and take no more records */
    struct stream_time reached;
    unsigned bits;           /* how new windows are parted */
    struct window_walk walk; /* over windows[head], when under way */
    uint64_t bytes;          /* of the windows, their logs and their directory */
};

extern const struct operator operator_window;

#endif
