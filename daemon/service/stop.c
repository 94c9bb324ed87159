#include "service/stop.h"

#include "io/clock.h"
#include "io/log.h"
#include "service/service.h"

static void begin_ending(struct daemon *d)
{
    d->step = DAEMON_ENDING;
    d->step_since_ms = clock_mono().ms;
    lookup_give_up(&d->lookup);
    service_stopping();
    for (int s = 0; s < SIDES; s++)
        input_close_door(&d->inputs[s]);
    for (int s = 0; s < SIDES; s++)
        input_ask_to_end(&d->inputs[s]);
}

static void begin_draining(struct daemon *d)
{
    d->step = DAEMON_DRAINING;
    d->step_since_ms = clock_mono().ms;
    lookup_give_up(&d->lookup);
    for (int i = 0; i < OUTPUTS; i++)
        output_hurry(&d->outputs[i]);
}

/* Nothing held can leave before the right side has ended, which it cannot: one error says it all,
 * for nothing of the left side was read. */
static bool table_is_too_large(const struct daemon *d)
{
    if (!plan_traits(d->config->plan)->bounded || engine_takes(d->engine))
        return false;
    log_error("right: the table does not fit into [state] memory (%llu bytes): it has %llu rows so "
              "far",
              (unsigned long long)d->config->plan->state_bytes_max,
              (unsigned long long)engine_books(d->engine)->side[SIDE_RIGHT].received);
    return true;
}

/* Grows with whatever is done: windows walked, bytes written. */
static uint64_t moved(const struct daemon *d)
{
    uint64_t sum = d->pump.results.work;

    for (int i = 0; i < OUTPUTS; i++)
        sum += d->outputs[i].bytes_written;
    return sum;
}

static bool all_delivered(const struct daemon *d)
{
    if (!pump_finished(&d->pump))
        return false;
    for (int i = 0; i < OUTPUTS; i++)
        if (!output_drained(&d->outputs[i]))
            return false;
    return true;
}

/* What lies in the buffers of outputs is counted as discarded, and told. */
static void tell_buffered(struct daemon *d)
{
    for (int i = 0; i < OUTPUTS; i++) {
        struct output *o = &d->outputs[i];
        uint64_t rows = output_rows_unwritten(o);
        if (rows > 0)
            log_error("%s: stopped with %llu rows in its buffers: nobody took them", o->word,
                      (unsigned long long)rows);
        o->discarded += rows;
    }
}

/* A lookup's table is not lost: its file is there. */
static void tell_held(const struct daemon *d)
{
    bool file = plan_traits(d->config->plan)->right_file;
    uint64_t left = engine_held(d->engine, SIDE_LEFT);
    uint64_t right = file ? 0 : engine_held(d->engine, SIDE_RIGHT);

    if (left + right > 0)
        log_error("output: stopped with %llu left and %llu right records undecided",
                  (unsigned long long)left, (unsigned long long)right);
}

/* Ends with status 1, but says first what nobody will get. */
static void give_up(struct daemon *d)
{
    bool all;
    uint64_t results = results_forget(&d->pump.results, &all);

    if (results > 0)
        log_error("output: stopped with %s%llu results unwritten: nobody took them",
                  all ? "" : "more than ", (unsigned long long)results);
    d->outputs[OUTPUT_RESULTS].discarded += results;
    tell_held(d);
    tell_buffered(d);
    d->status = 1;
    d->step = DAEMON_STOPPED;
}

void stop_tick(struct daemon *d)
{
    int64_t now_ms = clock_mono().ms;

    if (d->step == DAEMON_ENDING && now_ms - d->step_since_ms >= STOP_ENDING_MS) {
        for (int s = 0; s < SIDES; s++)
            input_cut(&d->inputs[s]);
        engine_lift_limit(d->engine); /* for the little that is read already ... */
        for (int i = OUTPUT_LATE; i < OUTPUTS; i++)
            output_take_all(&d->outputs[i]); /* ... whatever becomes of it */
        begin_draining(d);
    }
    if (d->step != DAEMON_DRAINING || d->stop_signals == 0)
        return; /* inputs that ended by themselves wait for their readers as long as it takes */
    if (moved(d) != d->moved) {
        d->moved = moved(d);
        d->step_since_ms = now_ms;
    }
    if (now_ms - d->step_since_ms >= STOP_DRAINING_MS)
        give_up(d);
    else if (now_ms - d->step_since_ms >= STOP_TELL_MS && !d->wait_told) {
        log_warning("nobody takes what is left: waiting %d s for it, a second signal stops at once",
                    STOP_DRAINING_MS / 1000);
        d->wait_told = true;
    }
}

void stop_tell_books(const struct daemon *d)
{
    for (int s = 0; s < SIDES; s++) {
        const struct books_side *b = &engine_books(d->engine)->side[s];
        log_info("%s: received %llu = rejected %llu + filtered %llu + late %llu + matched %llu + "
                 "unmatched %llu + held %llu",
                 side_word((enum side)s), (unsigned long long)b->received,
                 (unsigned long long)b->rejected, (unsigned long long)b->filtered,
                 (unsigned long long)b->late, (unsigned long long)b->matched,
                 (unsigned long long)b->unmatched,
                 (unsigned long long)engine_held(d->engine, (enum side)s));
    }
}

static bool any_failed(const struct daemon *d)
{
    for (int i = 0; i < OUTPUTS; i++)
        if (d->outputs[i].failed)
            return true;
    return false;
}

void stop_turn(struct daemon *d)
{
    /* Senders are being read to their end: what is held makes room, for time would end
     * for it a moment later anyway. */
    if (d->step == DAEMON_ENDING && !engine_takes(d->engine)) {
        if (!d->flush_told)
            log_warning("state is full: what is held is decided now, before its window's end");
        d->flush_told = true;
        engine_flush(d->engine);
        if (!engine_has_work(d->engine)) /* values stay: what comes now needs no room for long */
            engine_lift_limit(d->engine);
    }
    if (table_is_too_large(d)) {
        d->status = 1;
        d->step = DAEMON_STOPPED;
        return;
    }
    if (d->inputs[SIDE_LEFT].group.fault || d->inputs[SIDE_RIGHT].group.fault || any_failed(d)) {
        give_up(d);
        return;
    }
    if (d->step < DAEMON_DRAINING && d->pump.ended[SIDE_LEFT] && d->pump.ended[SIDE_RIGHT])
        begin_draining(d);
    if (d->step == DAEMON_DRAINING && all_delivered(d)) {
        tell_buffered(d); /* absent = discard: what the last subscriber left */
        d->step = DAEMON_STOPPED;
    }
}

void stop_asked(struct daemon *d, const char *signal)
{
    if (++d->stop_signals > 1) {
        log_warning("second signal (%s): stopping at once", signal);
        give_up(d);
        return;
    }
    log_info("stopping (%s): inputs end, what is held is decided and written", signal);
    d->step_since_ms = clock_mono().ms;
    if (d->step == DAEMON_RUNNING)
        begin_ending(d);
}
