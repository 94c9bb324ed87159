#include "io/stream_clock.h"

#include <assert.h>

#include "io/clock.h"
#include "io/log.h"

/* The two clocks are read one after the other: less than this is no step. */
#define STEP_MS 50

void stream_clock_init(struct stream_clock *c)
{
    *c = (struct stream_clock){.wall_ms = clock_wall_ms(), .mono_ms = clock_mono().ms};
}

static void follow_step(struct stream_clock *c, int64_t step_ms)
{
    log_warning("the wall clock was set forward by %lld ms: time follows", (long long)step_ms);
    c->wall_ms += step_ms;
    c->behind_ms = 0;
}

static void tell_backward(struct stream_clock *c, int64_t behind_ms)
{
    if (behind_ms - c->behind_ms > STEP_MS)
        log_warning(
            "the wall clock was set back, it is now %lld ms behind: time runs on without it",
            (long long)behind_ms);
    c->behind_ms = behind_ms;
}

struct stream_time stream_clock_now(struct stream_clock *c)
{
    int64_t wall_ms = clock_wall_ms();
    int64_t carried_ms = c->wall_ms + clock_mono().ms - c->mono_ms;

    if (wall_ms - carried_ms > STEP_MS) {
        follow_step(c, wall_ms - carried_ms);
        return (struct stream_time){wall_ms};
    }
    assert(carried_ms >= c->wall_ms);
    tell_backward(c, carried_ms > wall_ms + STEP_MS ? carried_ms - wall_ms : 0);
    return (struct stream_time){carried_ms};
}
