#include "io/pump.h"

#include <string.h>

#include "base/mem.h"
#include "codec/foreign.h"
#include "io/log.h"

/* A unit is about 10 ns. */
#define TURN_FUEL    100000
#define ROW_FUEL     8 /* to cut, judge and store a row */
#define REJECT_FUEL  300
#define RESULT_FUEL  6  /* to encode one, beside what pulling it cost ... */
#define BYTES_A_FUEL 64 /* ... and its bytes */
#define READ_FUEL    200
/* A read's rows are dealt with in its own turn, unless they are many and dear. */
#define OVERDRAFT_MAX (2 * TURN_FUEL)

#define READ_BYTES (256 << 10)
/* Longer tails are not copied to the shared buffer for each read. */
#define TAIL_COPY_MAX (16 << 10)
/* What an idle connection may keep allocated. */
#define TAIL_KEEP 256

void pump_init(struct pump *p, struct engine *e, struct clock *c, struct input *inputs,
               struct output *outputs, const struct plan *plan)
{
    *p = (struct pump){.engine = e, .clock = c, .inputs = inputs, .outputs = outputs};
    list_init(&p->ready);
    for (int s = 0; s < SIDES; s++)
        batch_init(&p->batch[s], plan->side[s].form.field_count);
    p->bytes = mem_alloc(TAIL_COPY_MAX + READ_BYTES);
}

void pump_done(struct pump *p)
{
    batch_done(&p->batch[SIDE_LEFT]);
    batch_done(&p->batch[SIDE_RIGHT]);
    mem_free(p->bytes);
}

void pump_ready(struct pump *p, struct source *s)
{
    if (!list_linked(&s->ready_link))
        list_append(&p->ready, &s->ready_link);
    if (pump_holds(p))
        source_unwatch(s); /* else the loop would spin on it */
}

/* --- out --- */

bool pump_results_wait(const struct pump *p)
{
    return p->next < p->count;
}

static void encode_next(struct pump *p, int64_t *fuel)
{
    const struct result *r = &p->results[p->next++];
    struct output *o = &p->outputs[OUTPUT_RESULTS];
    size_t before = buf_length(&o->rows);

    if (!output_result(o, r))
        engine_reject_result(p->engine, r);
    *fuel -= RESULT_FUEL + (int64_t)(buf_length(&o->rows) - before) / BYTES_A_FUEL;
}

/* Encodes what was pulled, as far as there is room for it. */
static void encode_results(struct pump *p, size_t room, int64_t *fuel)
{
    const struct buf *rows = &p->outputs[OUTPUT_RESULTS].rows;

    while (pump_results_wait(p) && *fuel > 0 && buf_length(rows) < room)
        encode_next(p, fuel);
}

/* A few results are pulled even when there is no room for them: what gives no result
 * at all is decided, and its memory free, whether anybody reads or not. */
static bool pull_next(struct pump *p, int64_t *fuel)
{
    p->next = 0;
    p->count = engine_pull(p->engine, p->results, PUMP_RESULTS, fuel);
    return p->count > 0;
}

static void pull_results(struct pump *p, int64_t *fuel)
{
    struct output *o = &p->outputs[OUTPUT_RESULTS];
    size_t room = output_room(o);

    while (*fuel > 0 && (pump_results_wait(p) || pull_next(p, fuel))) {
        if (buf_length(&o->rows) >= room) {
            output_commit(o);
            room = output_room(o);
            if (room == 0)
                return;
        }
        encode_results(p, room, fuel);
    }
}

/* --- in --- */

static void tell_reject(struct pump *p, struct source *s, const struct batch *b,
                        const struct row *row, struct stream_time now)
{
    struct input *in = s->input;
    struct buf detail = BUF_EMPTY;

    buf_printf(&detail, "%s (from %s)", batch_detail(b, row), s->peer);
    output_fate(&p->outputs[OUTPUT_REJECTS], &(struct fate_row){
                                                 .side = side_word(in->side),
                                                 .reason = reject_word(row->reject),
                                                 .detail = buf_bytes(&detail),
                                                 .time_ms = now.ms,
                                                 .line = row->line,
                                             });
    /* A useless header has been told once; its lines say nothing new. */
    if (row->reject != REJECT_HEADER)
        log_limited(&in->bad_records, LOG_LEVEL_WARNING, "%s: record rejected: %s",
                    side_word(in->side), buf_text(&detail));
    buf_done(&detail);
}

static void tell_rejects(struct pump *p, struct source *s, const struct batch *b, size_t taken,
                         struct stream_time now)
{
    if (b->rejected == 0)
        return;
    for (size_t i = 0; i < taken; i++)
        if (b->rows[i].reject != REJECT_NONE)
            tell_reject(p, s, b, &b->rows[i], now);
    output_commit(&p->outputs[OUTPUT_REJECTS]);
}

static void tell_header(struct source *s)
{
    const char *fault = decoder_header_fault(s->decoder);

    if (fault == NULL || s->header_told)
        return;
    s->header_told = true;
    log_error("%s: the header of %s cannot be used, all its lines are rejected: %s",
              side_word(s->input->side), s->peer, fault);
    if (s->input->config->endpoint.kind != ENDPOINT_LISTEN)
        s->input->fault = true;
}

/* One look at the first bytes, for the log: they are read as records all the same. */
static void look_for_protocol(struct source *s, struct bytes start)
{
    const char *name;

    if (s->looked_at || start.n == 0)
        return;
    s->looked_at = true;
    name = foreign_name(start);
    if (name != NULL)
        log_warning("%s: from %s: %s", side_word(s->input->side), s->peer, name);
}

static bool may_read(const struct pump *p)
{
    return engine_takes(p->engine) && output_has_room(&p->outputs[OUTPUT_REJECTS]);
}

/* Gives bytes to the engine as rows. Returns how many are done with; the source has
 * a backlog when rows had to be left. */
static size_t feed(struct pump *p, struct source *s, const char *bytes, size_t n,
                   struct stream_time now, int64_t *fuel)
{
    enum side side = s->input->side;
    struct batch *b = &p->batch[side];
    size_t done = 0;

    s->backlog = false;
    for (;;) {
        size_t used, taken;
        if (!may_read(p) || *fuel < -OVERDRAFT_MAX) {
            s->backlog = true;
            break;
        }
        used = decoder_read(s->decoder, bytes + done, n - done, s->end, b);
        if (used == 0 && b->count == 0)
            break;
        taken = engine_push(p->engine, side, b, 0, now);
        *fuel -= (int64_t)(b->count * ROW_FUEL + b->rejected * REJECT_FUEL);
        tell_rejects(p, s, b, taken, now);
        done += taken == b->count ? used : decoder_rewind(s->decoder, b, taken);
    }
    tell_header(s);
    return done;
}

static void feed_tail(struct pump *p, struct source *s, struct stream_time now, int64_t *fuel)
{
    static const char nothing[1];
    bool empty = buf_length(&s->tail) == 0;

    buf_eat(&s->tail,
            feed(p, s, empty ? nothing : buf_data(&s->tail), buf_length(&s->tail), now, fuel));
}

static void read_into_tail(struct pump *p, struct source *s, int64_t *fuel)
{
    size_t got = source_read(s, buf_reserve(&s->tail, READ_BYTES), READ_BYTES);

    s->input->bytes += got;
    buf_advance(&s->tail, got);
    feed_tail(p, s, clock_now(p->clock), fuel);
}

static void read_shared(struct pump *p, struct source *s, int64_t *fuel)
{
    size_t tail = buf_length(&s->tail), got, done;

    if (tail > 0)
        memcpy(p->bytes, buf_data(&s->tail), tail);
    got = source_read(s, p->bytes + tail, READ_BYTES);
    if (got == 0 && s->end == INPUT_GOES_ON)
        return;
    s->input->bytes += got;
    look_for_protocol(s, (struct bytes){p->bytes, tail + got});
    done = feed(p, s, p->bytes, tail + got, clock_now(p->clock), fuel);
    buf_clear(&s->tail);
    buf_append(&s->tail, p->bytes + done, tail + got - done);
}

static void source_work(struct pump *p, struct source *s, int64_t *fuel)
{
    list_remove(&s->ready_link);
    *fuel -= READ_FUEL;
    if (s->backlog || s->end != INPUT_GOES_ON)
        feed_tail(p, s, clock_now(p->clock), fuel);
    else if (buf_length(&s->tail) > TAIL_COPY_MAX)
        read_into_tail(p, s, fuel);
    else
        read_shared(p, s, fuel);
    buf_trim(&s->tail, TAIL_KEEP);

    if (s->backlog) {
        pump_ready(p, s);
    } else if (s->end != INPUT_GOES_ON) {
        log_debug("%s: %s has ended", side_word(s->input->side), s->peer);
        input_source_done(s->input, s);
    } else {
        source_watch(s);
        if (s->kind == SOURCE_REGULAR)
            pump_ready(p, s);
    }
}

static void read_sources(struct pump *p, int64_t *fuel)
{
    while (*fuel > 0 && !list_empty(&p->ready) && may_read(p))
        source_work(p, LIST_MEMBER(list_first(&p->ready), struct source, ready_link), fuel);
}

static void tell_ends(struct pump *p)
{
    for (int s = 0; s < SIDES; s++) {
        if (p->ended[s] || !input_ended(&p->inputs[s]))
            continue;
        p->ended[s] = true;
        engine_end(p->engine, (enum side)s);
    }
}

/* --- a turn --- */

static void note_hold(struct pump *p)
{
    if (!pump_holds(p))
        p->held_since_ms = 0;
    else if (p->held_since_ms == 0)
        p->held_since_ms = clock_mono().ms;
}

void pump_turn(struct pump *p)
{
    int64_t results_fuel = TURN_FUEL / 2, fuel;

    engine_advance(p->engine, clock_now(p->clock));
    pull_results(p, &results_fuel);
    p->work += (uint64_t)(TURN_FUEL / 2 - results_fuel);
    fuel = TURN_FUEL / 2 + results_fuel;
    read_sources(p, &fuel);
    tell_ends(p);
    output_commit(&p->outputs[OUTPUT_RESULTS]);
    note_hold(p);
}

uint64_t pump_forget_results(struct pump *p, bool *ret_all)
{
    int64_t fuel = PUMP_FORGET_FUEL;
    uint64_t results = p->count - p->next;

    while (fuel > 0 && pull_next(p, &fuel))
        results += p->count;
    p->next = p->count;
    *ret_all = !engine_has_work(p->engine);
    return results;
}

bool pump_busy(const struct pump *p)
{
    bool results = pump_results_wait(p) ? output_has_room(&p->outputs[OUTPUT_RESULTS])
                                        : engine_has_work(p->engine);

    return results || (!list_empty(&p->ready) && may_read(p));
}

bool pump_holds(const struct pump *p)
{
    return !may_read(p);
}

bool pump_finished(const struct pump *p)
{
    return p->ended[SIDE_LEFT] && p->ended[SIDE_RIGHT] && !pump_results_wait(p) &&
           !engine_has_work(p->engine);
}
