#include "flow/results.h"

#include <assert.h>

#include "base/object.h"
#include "flow/tell.h"

#define DELIVERY_FUEL 2000 /* to settle its news, beside its bytes */

void results_init(struct results *r, struct engine *e, const struct plan *plan,
                  struct stream_clock *c, struct output *outputs, struct log_limit *bad_records)
{
    *r = (struct results){
        .magic = RESULTS_MAGIC,
        .engine = e,
        .plan = plan,
        .clock = c,
        .outputs = outputs,
        .bad_records = bad_records,
    };
}

bool results_start_second(struct results *r, struct event_base *base)
{
    const struct output *o = &r->outputs[OUTPUT_RESULTS];

    assert(r->second == NULL);
    r->second = second_start(base, &o->config->format, r->plan, output_piece(o));
    if (r->second != NULL)
        engine_leave(r->engine, SECOND_LEAST_BYTES);
    return r->second != NULL;
}

void results_done(struct results *r)
{
    second_free(r->second, r->engine);
}

static bool results_ok(const struct results *r)
{
    return r->next <= r->count && r->count <= RESULTS_AT_ONCE &&
           (r->second == NULL || plan_detaches(r->plan));
}

static bool output_takes(const struct results *r)
{
    return output_has_room(&r->outputs[OUTPUT_RESULTS]);
}

/* Windows are with the second thread: the engine gives nothing meanwhile. */
static bool fires_aside(const struct results *r)
{
    return r->second != NULL && second_out(r->second) > 0;
}

/* What was written is news alone, for which nobody needs room. */
static bool needs_room(const struct delivery *d)
{
    return d->row_count > 0 && !d->written;
}

/* The next one that has come; NULL: there is none. */
static struct delivery *first_delivery(const struct results *r)
{
    return fires_aside(r) ? second_first(r->second) : NULL;
}

static bool rows_are_delivered(const struct results *r)
{
    const struct delivery *d = first_delivery(r);
    return d != NULL && needs_room(d);
}

bool results_wait(const struct results *r)
{
    return r->next < r->count || rows_are_delivered(r);
}

bool results_can_move(const struct results *r)
{
    return !results_wait(r) || output_takes(r);
}

bool results_are_behind(const struct results *r)
{
    return r->plan->time == TIME_EVENT && fires_aside(r) && second_out(r->second) > 1 &&
           second_out_bytes(r->second) > SECOND_AHEAD_BYTES && !rows_are_delivered(r);
}

/* --- of the engine --- */

static void tell_failed(struct results *r, struct bytes detail, struct bytes line)
{
    tell_pair(r->outputs, r->bad_records, detail, line, stream_clock_now(r->clock));
}

/* It is no row. */
static void reject(struct results *r, const struct result *result)
{
    struct buf detail = BUF_EMPTY, line = BUF_EMPTY;

    if (result->kind != RESULT_FAILED)
        engine_reject_result(r->engine, result);
    fate_pair(r->plan, r->outputs[OUTPUT_RESULTS].encoder, result, &detail, &line);
    tell_failed(r, buf_bytes(&detail), buf_bytes(&line));
    buf_done(&detail);
    buf_done(&line);
}

/* Encodes what was pulled, as far as there is room for it. */
static void encode(struct results *r, size_t room, int64_t *fuel)
{
    struct output *o = &r->outputs[OUTPUT_RESULTS];

    while (r->next<r->count && * fuel> 0 && buf_length(&o->rows) < room) {
        size_t bytes = buf_length(&o->rows);
        size_t n = output_results(o, &r->pulled[r->next], r->count - r->next, room);
        if (r->next + n < r->count && buf_length(&o->rows) < room)
            reject(r, &r->pulled[r->next + n++]);
        r->next += n;
        *fuel -= (int64_t)(n * OUTPUT_RESULT_FUEL +
                           (buf_length(&o->rows) - bytes) / OUTPUT_BYTES_A_FUEL);
    }
}

/* A few results are pulled even when there is no room for them: what gives no result
 * at all is decided, and its memory free, whether anybody reads or not. */
static bool pull_next(struct results *r, int64_t *fuel)
{
    r->next = 0;
    r->count = engine_pull(r->engine, r->pulled, RESULTS_AT_ONCE, fuel);
    return r->count > 0;
}

static void pull(struct results *r, int64_t *fuel)
{
    struct output *o = &r->outputs[OUTPUT_RESULTS];
    size_t room = output_room(o);

    while (*fuel > 0 && (r->next < r->count || pull_next(r, fuel))) {
        if (buf_length(&o->rows) >= room) {
            output_commit(o);
            room = output_room(o);
            if (room == 0)
                return;
        }
        encode(r, room, fuel);
    }
}

/* --- of the second thread --- */

/* The next one that has come and can be taken; NULL: there is none. */
static struct delivery *next_delivery(const struct results *r)
{
    struct delivery *d = first_delivery(r);
    return d != NULL && (!needs_room(d) || output_takes(r)) ? d : NULL;
}

static void take_delivery(struct results *r, struct delivery *d, int64_t *fuel)
{
    struct output *o = &r->outputs[OUTPUT_RESULTS];
    struct bytes detail, line;

    while (delivery_next_rejected(d, &detail, &line))
        tell_failed(r, detail, line);
    *fuel -= DELIVERY_FUEL;
    r->work += d->work;
    if (d->written) {
        output_take_written(o, buf_bytes(&d->rows), d->said);
    } else if (d->row_count > 0) {
        *fuel -= (int64_t)buf_length(&d->rows) / OUTPUT_BYTES_A_FUEL;
        output_take(o, &d->rows, d->row_count);
    }
    second_release(r->second, r->engine);
}

static void take_deliveries(struct results *r, int64_t *fuel)
{
    struct delivery *d;

    while (*fuel > 0 && (d = next_delivery(r)) != NULL)
        take_delivery(r, d, fuel);
}

/* The reader's descriptor is wanted back. What has no rows may stand before what was written. */
static void on_recall(void *arg)
{
    struct results *r = object_of(arg, RESULTS_MAGIC);
    struct delivery *d;
    int64_t fuel = 0;

    second_recall(r->second);
    while ((d = second_first(r->second)) != NULL && !needs_room(d))
        take_delivery(r, d, &fuel);
}

static void lend(struct results *r)
{
    struct sink *reader = output_idle_sink(&r->outputs[OUTPUT_RESULTS]);

    if (reader != NULL && second_lend(r->second, &reader->link))
        sink_lend(reader, on_recall, r);
}

void results_count_written(struct results *r)
{
    output_take_back(&r->outputs[OUTPUT_RESULTS]);
}

/* What is due. While it is busy anyway, small windows too: they come later. */
static void hand_over(struct results *r)
{
    struct firing *f;

    while (r->second != NULL && second_takes(r->second) &&
           (f = engine_detach(r->engine, fires_aside(r) ? 0 : SECOND_LEAST_BYTES)) != NULL)
        second_give(r->second, f);
}

bool results_may_sleep(const struct results *r)
{
    return !fires_aside(r) || rows_are_delivered(r) || second_may_sleep(r->second);
}

/* --- both --- */

static void move(struct results *r, int64_t *fuel)
{
    take_deliveries(r, fuel);
    hand_over(r);
    if (fires_aside(r)) {
        lend(r);
        return;
    }
    results_count_written(r); /* for rows that are made here */
    pull(r, fuel);
    hand_over(r);
}

bool results_give(struct results *r, int64_t *fuel)
{
    int64_t before = *fuel;

    assert(results_ok(r));
    move(r, fuel);
    assert(results_ok(r) && *fuel <= before);
    r->work += (uint64_t)(before - *fuel);
    return *fuel < before;
}

bool results_busy(const struct results *r)
{
    if (fires_aside(r))
        return next_delivery(r) != NULL;
    return r->next < r->count ? output_takes(r) : engine_has_work(r->engine);
}

uint64_t results_forget(struct results *r, bool *ret_all)
{
    int64_t fuel = RESULTS_FORGET_FUEL;
    uint64_t results = r->count - r->next;

    results_count_written(r);
    if (r->second != NULL) {
        results += second_forget(r->second, r->engine, &fuel);
        engine_leave(r->engine, UINT64_MAX);
    }
    while (fuel > 0 && pull_next(r, &fuel))
        results += r->count;
    r->next = r->count;
    *ret_all = !engine_has_work(r->engine);
    assert(results_ok(r));
    return results;
}
