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
#define MONO_TIME_MIN   ((struct mono_time){INT64_MIN}) /* never yet */
#define MONO_TIME_MAX   ((struct mono_time){INT64_MAX}) /* never */

/* The sum must be a time. */
static inline struct stream_time stream_time_add(struct stream_time t, int64_t ms)
{
    return (struct stream_time){t.ms + ms};
}

static inline struct stream_time stream_time_later(struct stream_time a, struct stream_time b)
{
    return a.ms > b.ms ? a : b;
}

static inline struct stream_time stream_time_earlier(struct stream_time a, struct stream_time b)
{
    return a.ms < b.ms ? a : b;
}

static inline struct mono_time mono_time_add(struct mono_time t, int64_t ms)
{
    return (struct mono_time){t.ms + ms};
}

static inline struct mono_time mono_time_later(struct mono_time a, struct mono_time b)
{
    return a.ms > b.ms ? a : b;
}

static inline struct mono_time mono_time_earlier(struct mono_time a, struct mono_time b)
{
    return a.ms < b.ms ? a : b;
}

#endif
