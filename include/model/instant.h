/*
 * model/instant: the two kinds of time, which cannot be mixed up.
 *
 *     stream_time   what windows are made of: milliseconds since the epoch, from
 *                   the records (event time) or from the clock as bytes were
 *                   read (processing time). Rules: semantics.md section 1.
 *     mono_time     the machine's monotonic clock: for ages and deadlines only.
 *
 * Neither is ever read here: time is an argument.
 */
#ifndef MODEL_INSTANT_H
#define MODEL_INSTANT_H

#include <stdint.h>

struct stream_time {
    int64_t ms;
};

struct mono_time {
    int64_t ms;
};

/* Before all and after all that a record can show; TIME_MAX is also "ended". */
#define STREAM_TIME_MIN ((struct stream_time){INT64_MIN})
#define STREAM_TIME_MAX ((struct stream_time){INT64_MAX})

#endif
