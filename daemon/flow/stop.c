#include "flow/stop.h"

#include <assert.h>

#include "io/clock.h"
#include "io/log.h"

static const char *const words[] = {
    [STEP_RUNNING] = "running",
    [STEP_ENDING] = "ending",
    [STEP_DRAINING] = "draining",
    [STEP_STOPPED] = "stopped",
};

const char *step_word(enum step s)
{
    assert(s <= STEP_STOPPED);
    return words[s];
}

static bool stop_ok(const struct stop *stop)
{
    return stop->flow != NULL && stop->step <= STEP_STOPPED &&
           (stop->step != STEP_ENDING || stop->signals > 0) &&
           (stop->status == 0 || stop->step == STEP_STOPPED);
}

static void begin_ending(struct stop *stop)
{
    stop->step = STEP_ENDING;
    stop->since_ms = clock_mono().ms;
    lookup_give_up(&stop->flow->lookup);
    for (int s = 0; s < SIDES; s++)
        input_close_door(&stop->flow->inputs[s]);
    for (int s = 0; s < SIDES; s++)
        input_ask_to_end(&stop->flow->inputs[s]);
}

static void begin_draining(struct stop *stop)
{
    stop->step = STEP_DRAINING;
    stop->since_ms = clock_mono().ms;
    lookup_give_up(&stop->flow->lookup);
    for (int i = 0; i < OUTPUTS; i++)
        output_hurry(&stop->flow->outputs[i]);
}

/* Nothing held can leave before the right side has ended, which it cannot: one error says it all,
 * for nothing of the left side was read. */
static bool table_is_too_large(const struct stop *stop)
{
    if (!plan_traits(stop->flow->config->plan)->bounded || engine_takes(stop->flow->engine))
        return false;
    log_error("right: the table does not fit into [state] memory (%llu bytes): it has %llu rows so "
              "far",
              (unsigned long long)stop->flow->config->plan->state_bytes_max,
              (unsigned long long)engine_books(stop->flow->engine)->side[SIDE_RIGHT].received);
    return true;
}

/* Grows with whatever is done: windows walked, bytes written. */
static uint64_t moved(const struct stop *stop)
{
    uint64_t sum = stop->flow->pump.results.work;

    for (int i = 0; i < OUTPUTS; i++)
        sum += stop->flow->outputs[i].bytes_written;
    return sum;
}

static bool all_delivered(const struct stop *stop)
{
    if (!pump_finished(&stop->flow->pump))
        return false;
    for (int i = 0; i < OUTPUTS; i++)
        if (!output_drained(&stop->flow->outputs[i]))
            return false;
    return true;
}

/* What lies in the buffers of outputs is counted as discarded, and told. */
static void tell_buffered(struct stop *stop)
{
    for (int i = 0; i < OUTPUTS; i++) {
        struct output *o = &stop->flow->outputs[i];
        uint64_t rows = output_rows_unwritten(o);
        if (rows > 0)
            log_error("%s: stopped with %llu rows in its buffers: nobody took them", o->word,
                      (unsigned long long)rows);
        o->discarded += rows;
    }
}

/* A lookup's table is not lost: its file is there. */
static void tell_held(const struct stop *stop)
{
    bool file = plan_traits(stop->flow->config->plan)->right_file;
    uint64_t left = engine_held(stop->flow->engine, SIDE_LEFT);
    uint64_t right = file ? 0 : engine_held(stop->flow->engine, SIDE_RIGHT);

    if (left + right > 0)
        log_error("output: stopped with %llu left and %llu right records undecided",
                  (unsigned long long)left, (unsigned long long)right);
}

/* Ends with status 1, but says first what nobody will get. */
static void give_up(struct stop *stop)
{
    bool all;
    uint64_t results = results_forget(&stop->flow->pump.results, &all);

    if (results > 0)
        log_error("output: stopped with %s%llu results unwritten: nobody took them",
                  all ? "" : "more than ", (unsigned long long)results);
    stop->flow->outputs[OUTPUT_RESULTS].discarded += results;
    tell_held(stop);
    tell_buffered(stop);
    stop->status = 1;
    stop->step = STEP_STOPPED;
}

void stop_tick(struct stop *stop)
{
    int64_t now_ms = clock_mono().ms;

    assert(stop_ok(stop));
    if (stop->step == STEP_ENDING && now_ms - stop->since_ms >= STOP_ENDING_MS) {
        for (int s = 0; s < SIDES; s++)
            input_cut(&stop->flow->inputs[s]);
        engine_lift_limit(stop->flow->engine); /* for the little that is read already ... */
        for (int i = OUTPUT_LATE; i < OUTPUTS; i++)
            output_take_all(&stop->flow->outputs[i]); /* ... whatever becomes of it */
        begin_draining(stop);
    }
    if (stop->step != STEP_DRAINING || stop->signals == 0)
        return; /* inputs that ended by themselves wait for their readers as long as it takes */
    if (moved(stop) != stop->moved) {
        stop->moved = moved(stop);
        stop->since_ms = now_ms;
    }
    if (now_ms - stop->since_ms >= STOP_DRAINING_MS)
        give_up(stop);
    else if (now_ms - stop->since_ms >= STOP_TELL_MS && !stop->wait_told) {
        log_warning("nobody takes what is left: waiting %d s for it, a second signal stops at once",
                    STOP_DRAINING_MS / 1000);
        stop->wait_told = true;
    }
}

void stop_tell_books(const struct stop *stop)
{
    assert(stop_ok(stop) && stop->step == STEP_STOPPED);
    for (int s = 0; s < SIDES; s++) {
        const struct books_side *b = &engine_books(stop->flow->engine)->side[s];
        log_info("%s: received %llu = rejected %llu + filtered %llu + late %llu + matched %llu + "
                 "unmatched %llu + held %llu",
                 side_word((enum side)s), (unsigned long long)b->received,
                 (unsigned long long)b->rejected, (unsigned long long)b->filtered,
                 (unsigned long long)b->late, (unsigned long long)b->matched,
                 (unsigned long long)b->unmatched,
                 (unsigned long long)engine_held(stop->flow->engine, (enum side)s));
    }
}

static bool any_failed(const struct stop *stop)
{
    for (int i = 0; i < OUTPUTS; i++)
        if (stop->flow->outputs[i].failed)
            return true;
    return false;
}

void stop_turn(struct stop *stop)
{
    assert(stop_ok(stop));
    /* Senders are being read to their end: what is held makes room, for time would end
     * for it a moment later anyway. */
    if (stop->step == STEP_ENDING && !engine_takes(stop->flow->engine)) {
        if (!stop->flush_told)
            log_warning("state is full: what is held is decided now, before its window's end");
        stop->flush_told = true;
        engine_flush(stop->flow->engine);
        if (!engine_has_work(
                stop->flow->engine)) /* values stay: what comes now needs no room for long */
            engine_lift_limit(stop->flow->engine);
    }
    if (table_is_too_large(stop)) {
        stop->status = 1;
        stop->step = STEP_STOPPED;
        return;
    }
    if (stop->flow->inputs[SIDE_LEFT].group.fault || stop->flow->inputs[SIDE_RIGHT].group.fault ||
        any_failed(stop)) {
        give_up(stop);
        return;
    }
    if (stop->step < STEP_DRAINING && stop->flow->pump.ended[SIDE_LEFT] &&
        stop->flow->pump.ended[SIDE_RIGHT])
        begin_draining(stop);
    if (stop->step == STEP_DRAINING && all_delivered(stop)) {
        tell_buffered(stop); /* absent = discard: what the last subscriber left */
        stop->step = STEP_STOPPED;
    }
}

void stop_asked(struct stop *stop, const char *signal)
{
    assert(stop_ok(stop));
    if (++stop->signals > 1) {
        log_warning("second signal (%s): stopping at once", signal);
        give_up(stop);
        return;
    }
    log_info("stopping (%s): inputs end, what is held is decided and written", signal);
    stop->since_ms = clock_mono().ms;
    if (stop->step == STEP_RUNNING)
        begin_ending(stop);
    assert(stop_ok(stop));
}
