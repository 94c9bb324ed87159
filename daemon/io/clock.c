#include "io/clock.h"

#include <time.h>

#include "io/log.h"

/* The two clocks are read one after the other: less than this is no step. */
#define STEP_MS 50

static int64_t read_us(clockid_t id)
{
    struct timespec t;

    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

int64_t clock_wall_ms(void)
{
    return read_us(CLOCK_REALTIME) / 1000;
}

int64_t clock_mono_us(void)
{
    return read_us(CLOCK_MONOTONIC);
}

struct mono_time clock_mono(void)
{
    return (struct mono_time){clock_mono_us() / 1000};
}

int64_t clock_thread_cpu_us(void)
{
    return read_us(CLOCK_THREAD_CPUTIME_ID);
}

void clock_init(struct clock *c)
{
    *c = (struct clock){.wall_ms = clock_wall_ms(), .mono_ms = clock_mono().ms};
}

static void follow_step(struct clock *c, int64_t step_ms)
{
    log_warning("the wall clock was set forward by %lld ms: time follows", (long long)step_ms);
    c->wall_ms += step_ms;
    c->behind_ms = 0;
}

static void tell_backward(struct clock *c, int64_t behind_ms)
{
    if (behind_ms - c->behind_ms > STEP_MS)
        log_warning(
            "the wall clock was set back, it is now %lld ms behind: time runs on without it",
            (long long)behind_ms);
    c->behind_ms = behind_ms;
}

struct stream_time clock_now(struct clock *c)
{
    int64_t wall_ms = clock_wall_ms();
    int64_t carried_ms = c->wall_ms + clock_mono().ms - c->mono_ms;

    if (wall_ms - carried_ms > STEP_MS) {
        follow_step(c, wall_ms - carried_ms);
        return (struct stream_time){wall_ms};
    }
    tell_backward(c, carried_ms > wall_ms + STEP_MS ? carried_ms - wall_ms : 0);
    return (struct stream_time){carried_ms};
}
