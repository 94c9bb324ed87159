/*
 * io/stream_clock: processing time.
 *
 * It is the wall clock at the start, carried on by the monotonic clock: a step of the wall clock
 * forward is followed, one backward never. semantics.md section 1.
 */
#ifndef IO_STREAM_CLOCK_H
#define IO_STREAM_CLOCK_H

#include <stdint.h>

#include "model/instant.h"

struct stream_clock {
    int64_t wall_ms;   /* processing time ... */
    int64_t mono_ms;   /* ... at this instant of the monotonic clock */
    int64_t behind_ms; /* how far the wall clock was set back, as last told */
};

void stream_clock_init(struct stream_clock *c);

/* Processing time now. Logs one warning for each step backward. */
struct stream_time stream_clock_now(struct stream_clock *c);

#endif
