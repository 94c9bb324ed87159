#include "watch/watch.h"

#include <assert.h>

#include "io/clock.h"
#include "io/log.h"

#define FULL_TROUBLE_MS 10000
#define HOLD_TOLD_MS    2000

void watch_init(struct watch *w, struct flow *f, const struct stop *s)
{
    *w = (struct watch){
        .magic = WATCH_MAGIC,
        .flow = f,
        .stop = s,
        .started_wall_ms = clock_wall_ms(),
        .started_mono_ms = clock_mono().ms,
    };
}

void watch_begin(struct watch *w)
{
    w->cpu_us = clock_thread_cpu_us();
}

void watch_turn(struct watch *w)
{
    int64_t cpu_us = clock_thread_cpu_us(), turn_us = cpu_us - w->cpu_us;

    assert(turn_us >= 0);
    if (turn_us > w->turn_cpu_max_us)
        w->turn_cpu_max_us = turn_us;
    w->cpu_us = cpu_us;
    w->turns++;
}

/* --- what is wrong --- */

static const char *hold_reason(const struct watch *w)
{
    if (!engine_takes(w->flow->engine))
        return "state is full: inputs are held back";
    if (!output_has_room(&w->flow->outputs[OUTPUT_REJECTS]))
        return "rejects has no room: inputs are held back";
    if (!output_has_room(&w->flow->outputs[OUTPUT_LATE]))
        return "late has no room: inputs are held back";
    return "results wait for a reader: inputs are held back";
}

bool watch_trouble(const struct watch *w, struct buf *ret_reason)
{
    const struct pump *p = &w->flow->pump;
    size_t before = buf_length(ret_reason);

    if (w->stop->signals > 0) {
        buf_append_text(ret_reason, "stopping");
        return true;
    }
    if (w->unbalanced) {
        buf_append_text(ret_reason,
                        "the books do not balance: records were lost, please report this");
        return true;
    }
    for (int s = 0; s < SIDES; s++)
        if (input_trouble(&w->flow->inputs[s], ret_reason))
            return true;
    for (int i = 0; i < OUTPUTS; i++)
        if (output_trouble(&w->flow->outputs[i], ret_reason))
            return true;
    if (p->held_since_ms != 0 && clock_mono().ms - p->held_since_ms >= FULL_TROUBLE_MS)
        buf_append_text(ret_reason, hold_reason(w));
    return buf_length(ret_reason) > before;
}

/* --- once a second --- */

static void note_rates(struct watch *w)
{
    for (int s = 0; s < SIDES; s++) {
        uint64_t received = engine_books(w->flow->engine)->side[s].received;
        w->rate[s] = (double)(received - w->received_before[s]);
        w->received_before[s] = received;
    }
}

static void check_books(struct watch *w)
{
    for (int s = 0; s < SIDES; s++) {
        const struct books_side *b = &engine_books(w->flow->engine)->side[s];
        if (w->unbalanced || books_balance(b, engine_held(w->flow->engine, (enum side)s)))
            continue;
        w->unbalanced = true;
        log_error("%s: the books do not balance: records were lost, please report this",
                  side_word((enum side)s));
    }
}

/* Results that nobody takes would otherwise only show as silence. */
static void tell_absent(struct watch *w)
{
    const struct output *o = &w->flow->outputs[OUTPUT_RESULTS];
    bool absent = o->listening && results_wait(&w->flow->pump.results) && o->sink_count == 0;

    if (absent && !w->absent_told)
        log_warning("output: results wait, and nobody is connected to %s",
                    listener_place(&o->listener));
    w->absent_told = absent;
}

/* A hold of some length is worth a line, and so is its end; short ones are normal. */
static void tell_hold(struct watch *w)
{
    int64_t since_ms = w->flow->pump.held_since_ms;
    bool stuck = since_ms != 0 && clock_mono().ms - since_ms >= HOLD_TOLD_MS &&
                 engine_is_stuck(w->flow->engine);

    if (stuck && !w->stuck_told)
        log_error("state is full, and nothing that is held can leave by itself: raise [state] "
                  "memory, or hold less (for less long, or fewer keys)");
    w->stuck_told = stuck;

    if (!w->hold_told && since_ms != 0 && clock_mono().ms - since_ms >= HOLD_TOLD_MS) {
        log_warning("%s%s", hold_reason(w),
                    engine_takes(w->flow->engine)
                        ? ""
                        : " ([state] memory, or a reader that does not read)");
        w->hold_told = true;
    } else if (w->hold_told && since_ms == 0) {
        log_info("inputs are read again");
        w->hold_told = false;
    }
}

void watch_tick(struct watch *w)
{
    note_rates(w);
    check_books(w);
    tell_hold(w);
    tell_absent(w);
}

bool watch_is_quiet(const struct watch *w)
{
    return w->rate[SIDE_LEFT] + w->rate[SIDE_RIGHT] == 0;
}
