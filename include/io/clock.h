/*
 * io/clock: the only place where a clock is read.
 *
 * Processing time is the wall clock at the start, carried on by the monotonic
 * clock: a step of the wall clock forward is followed, one backward never.
 * semantics.md section 1.
 */
#ifndef IO_CLOCK_H
#define IO_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "model/instant.h"

struct clock {
    int64_t wall_ms;   /* processing time ... */
    int64_t mono_ms;   /* ... at this instant of the monotonic clock */
    int64_t behind_ms; /* how far the wall clock was set back, as last told */
};

void clock_init(struct clock *c);

/* Processing time now. Logs one warning for each step backward. */
struct stream_time clock_now(struct clock *c);

struct mono_time clock_mono(void);
int64_t clock_mono_us(void);       /* as the service manager wants it */
int64_t clock_wall_ms(void);       /* for log lines and stamps only */
int64_t clock_thread_cpu_us(void); /* CPU time that this thread has used */

#endif
