/*
 * io/clock: the only place where a clock is read.
 */
#ifndef IO_CLOCK_H
#define IO_CLOCK_H

#include <stdint.h>

#include "model/instant.h"

struct mono_time clock_mono(void);
int64_t clock_mono_us(void);       /* as the service manager wants it */
int64_t clock_wall_ms(void);       /* for log lines and stamps only */
int64_t clock_thread_cpu_us(void); /* CPU time that this thread has used */

#endif
