#include "flow/pump.h"

#include <string.h>

#include "base/mem.h"
#include "flow/tell.h"
#include "io/log.h"

#define TURN_FUEL 100000
/* So many sources are looked at for one that time waits for, and so often one after the other
 * it is read before those that have waited longer. */
#define LOOK_AHEAD      8
#define OUT_OF_TURN_MAX 8
#define REJECT_FUEL     300
#define READ_FUEL       200
#define DELIVERY_FUEL   2000 /* to settle its news, beside its bytes */
/* A read's rows are dealt with in its own turn, unless they are many and dear. */
#define OVERDRAFT_MAX (2 * TURN_FUEL)

/* Longer tails are not copied to the shared buffer for each read. */
#define TAIL_COPY_MAX (16 << 10)
/* What an idle connection may keep allocated. */
#define TAIL_KEEP 256

void pump_init(struct pump *p, struct engine *e, struct clock *c, struct input *inputs,
               struct output *outputs, const struct plan *plan)
{
    *p = (struct pump){.engine = e, .plan = plan, .clock = c, .inputs = inputs, .outputs = outputs};
    list_init(&p->ready);
    for (int s = 0; s < SIDES; s++)
        batch_init(&p->batch[s], plan->side[s].form.field_count);
    p->bytes = mem_alloc(TAIL_COPY_MAX + PUMP_READ_BYTES);
}

bool pump_start_second(struct pump *p, struct event_base *base)
{
    const struct output *o = &p->outputs[OUTPUT_RESULTS];

    p->second = second_start(base, &o->config->format, p->plan, output_piece(o));
    if (p->second != NULL)
        engine_leave(p->engine, SECOND_LEAST_BYTES);
    return p->second != NULL;
}

void pump_done(struct pump *p)
{
    second_free(p->second, p->engine);
    batch_done(&p->batch[SIDE_LEFT]);
    batch_done(&p->batch[SIDE_RIGHT]);
    mem_free(p->bytes);
}

/* Windows are with the second thread: the engine gives nothing meanwhile. */
static bool fires_aside(const struct pump *p)
{
    return p->second != NULL && second_out(p->second) > 0;
}

/* What was written is news alone, for which nobody needs room. */
static bool needs_room(const struct delivery *d)
{
    return d->row_count > 0 && !d->written;
}

static bool rows_are_delivered(const struct pump *p)
{
    const struct delivery *d = fires_aside(p) ? second_first(p->second) : NULL;
    return d != NULL && needs_room(d);
}

bool pump_results_wait(const struct pump *p)
{
    return p->next < p->count || rows_are_delivered(p);
}

bool pump_fates_have_room(const struct pump *p)
{
    return output_has_room(&p->outputs[OUTPUT_REJECTS]) &&
           output_has_room(&p->outputs[OUTPUT_LATE]);
}

static bool results_can_move(const struct pump *p)
{
    return !pump_results_wait(p) || output_has_room(&p->outputs[OUTPUT_RESULTS]);
}

/* The second thread has enough to do, and gets it done: what is read in event time now, it would
 * fire later, from memory that the windows before it could have given back. */
static bool second_is_behind(const struct pump *p)
{
    return p->plan->time == TIME_EVENT && fires_aside(p) && second_out(p->second) > 1 &&
           second_out_bytes(p->second) > SECOND_AHEAD_BYTES && !rows_are_delivered(p);
}

/* Results in the way are no reason, if they can be given on the way. */
static bool may_take(const struct pump *p, const struct source *s)
{
    enum engine_hold hold = engine_holds(p->engine, s->input->side, &s->feed);

    return pump_fates_have_room(p) && !second_is_behind(p) &&
           (hold == ENGINE_TAKES || (hold == ENGINE_RESULTS && results_can_move(p)));
}

void pump_ready(struct pump *p, struct source *s)
{
    if (p->plan->replay) {
        replay_ready(&p->replay, s);
        return;
    }
    engine_feed_unread(p->engine, &s->feed);
    if (!list_linked(&s->ready_link))
        list_append(&p->ready, &s->ready_link);
    if (!may_take(p, s))
        source_unwatch(s); /* else the loop would spin on it */
}

void pump_give_rows_back(struct pump *p, struct source *s)
{
    if (p->plan->replay)
        replay_give_back(p, s);
}

/* --- out --- */

/* It is no row. */
static void tell_failed(struct pump *p, const struct result *r)
{
    if (r->kind != RESULT_FAILED)
        engine_reject_result(p->engine, r);
    tell_pair(p, r);
}

/* Encodes what was pulled, as far as there is room for it. */
static void encode_results(struct pump *p, size_t room, int64_t *fuel)
{
    struct output *o = &p->outputs[OUTPUT_RESULTS];

    while (p->next<p->count && * fuel> 0 && buf_length(&o->rows) < room) {
        size_t bytes = buf_length(&o->rows);
        size_t n = output_results(o, &p->results[p->next], p->count - p->next, room);
        if (p->next + n < p->count && buf_length(&o->rows) < room)
            tell_failed(p, &p->results[p->next + n++]);
        p->next += n;
        *fuel -= (int64_t)(n * OUTPUT_RESULT_FUEL +
                           (buf_length(&o->rows) - bytes) / OUTPUT_BYTES_A_FUEL);
    }
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

    while (*fuel > 0 && (p->next < p->count || pull_next(p, fuel))) {
        if (buf_length(&o->rows) >= room) {
            output_commit(o);
            room = output_room(o);
            if (room == 0)
                return;
        }
        encode_results(p, room, fuel);
    }
}

/* --- out, from the second thread --- */

/* The next one that has come and can be taken; NULL: there is none. */
static struct delivery *next_delivery(const struct pump *p)
{
    struct delivery *d = fires_aside(p) ? second_first(p->second) : NULL;
    bool room = d != NULL && (!needs_room(d) || output_has_room(&p->outputs[OUTPUT_RESULTS]));

    return room ? d : NULL;
}

static void take_delivery(struct pump *p, struct delivery *d, int64_t *fuel)
{
    struct output *o = &p->outputs[OUTPUT_RESULTS];
    struct bytes detail, line;

    while (delivery_next_rejected(d, &detail, &line))
        tell_pair_rejected(p, detail, line);
    *fuel -= DELIVERY_FUEL;
    p->work += d->work;
    if (d->written) {
        output_take_written(o, buf_bytes(&d->rows), d->said, d->error);
    } else if (d->row_count > 0) {
        *fuel -= (int64_t)buf_length(&d->rows) / OUTPUT_BYTES_A_FUEL;
        output_take(o, &d->rows, d->row_count);
    }
    second_release(p->second, p->engine);
}

static void take_deliveries(struct pump *p, int64_t *fuel)
{
    struct delivery *d;

    while (*fuel > 0 && (d = next_delivery(p)) != NULL)
        take_delivery(p, d, fuel);
}

/* The reader's descriptor is wanted back. What has no rows may stand before what was written. */
static void on_recall(void *arg)
{
    struct pump *p = arg;
    struct delivery *d;
    int64_t fuel = 0;

    second_recall(p->second);
    while ((d = second_first(p->second)) != NULL && !needs_room(d))
        take_delivery(p, d, &fuel);
}

static void lend(struct pump *p)
{
    struct sink *reader = output_idle_sink(&p->outputs[OUTPUT_RESULTS]);

    if (reader != NULL && second_lend(p->second, reader->fd))
        sink_lend(reader, on_recall, p);
}

void pump_count_written(struct pump *p)
{
    output_take_back(&p->outputs[OUTPUT_RESULTS]);
}

/* What is due. While it is busy anyway, small windows too: they come later. */
static void hand_over(struct pump *p)
{
    struct firing *f;

    while (p->second != NULL && second_takes(p->second) &&
           (f = engine_detach(p->engine, fires_aside(p) ? 0 : SECOND_LEAST_BYTES)) != NULL)
        second_give(p->second, f);
}

static void move_results(struct pump *p, int64_t *fuel)
{
    take_deliveries(p, fuel);
    hand_over(p);
    if (fires_aside(p)) {
        lend(p);
        return;
    }
    output_take_back(&p->outputs[OUTPUT_RESULTS]); /* for rows that are made here */
    pull_results(p, fuel);
    hand_over(p);
}

/* --- in --- */

bool pump_give_results(struct pump *p, int64_t *fuel)
{
    int64_t before = *fuel;

    move_results(p, fuel);
    p->work += (uint64_t)(before - *fuel);
    return *fuel < before;
}

/* Gives the batch to the engine. Returns how many rows it has taken. */
static size_t push_rows(struct pump *p, struct source *s, struct batch *b, struct stream_time now,
                        int64_t *fuel)
{
    enum side side = s->input->side;
    size_t at = 0, taken;

    do {
        taken = engine_push(p->engine, side, b, at, now);
        tell_rows(p, s, b, at, at + taken, now);
        at += taken;
    } while (at<b->count && * fuel> - OVERDRAFT_MAX && pump_fates_have_room(p) &&
             engine_holds(p->engine, side, &s->feed) == ENGINE_RESULTS &&
             pump_give_results(p, fuel));
    return at;
}

/* Gives bytes to the engine as rows. Returns how many are done with; the source has
 * a backlog when rows had to be left. */
static size_t feed(struct pump *p, struct source *s, const char *bytes, size_t n,
                   struct stream_time now, int64_t *fuel)
{
    struct batch *b = &p->batch[s->input->side];
    size_t done = 0;

    s->backlog = false;
    for (;;) {
        size_t used, taken;
        if (!may_take(p, s) || *fuel < -OVERDRAFT_MAX) {
            s->backlog = true;
            break;
        }
        used = decoder_read(s->decoder, bytes + done, n - done, s->end, b);
        if (used == 0 && b->count == 0)
            break;
        b->feed = &s->feed;
        taken = push_rows(p, s, b, now, fuel);
        *fuel -= (int64_t)(b->count * (PUMP_ROW_FUEL + (size_t)engine_push_fuel(p->engine)) +
                           b->rejected * REJECT_FUEL);
        done += taken == b->count ? used : decoder_rewind(s->decoder, b, taken);
        if (taken < b->count) {
            s->backlog = true;
            break;
        }
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

/* Returns how many bytes came, as the next one. */
static size_t read_into_tail(struct pump *p, struct source *s, int64_t *fuel)
{
    size_t got = source_read_on(s, PUMP_READ_BYTES);

    feed_tail(p, s, clock_now(p->clock), fuel);
    return got;
}

static size_t read_shared(struct pump *p, struct source *s, int64_t *fuel)
{
    size_t tail = buf_length(&s->tail), got, done;

    if (tail > 0)
        memcpy(p->bytes, buf_data(&s->tail), tail);
    got = source_read(s, p->bytes + tail, PUMP_READ_BYTES);
    if (got == 0 && s->end == INPUT_GOES_ON)
        return 0;
    tell_protocol(s, (struct bytes){p->bytes, tail + got});
    done = feed(p, s, p->bytes, tail + got, clock_now(p->clock), fuel);
    buf_clear(&s->tail);
    buf_append(&s->tail, p->bytes + done, tail + got - done);
    return got;
}

/* Who sent as much has probably sent more by now. Where time waits for it, that comes next: the
 * loop would see it only after others were read. */
static bool goes_on(const struct pump *p, const struct source *s, size_t got)
{
    return s->kind == SOURCE_REGULAR ||
           (got >= PUMP_READ_BYTES / 4 && p->plan->time == TIME_EVENT &&
            engine_awaits(p->engine, s->input->side, &s->feed));
}

static void source_work(struct pump *p, struct source *s, int64_t *fuel)
{
    size_t got = 0;

    list_remove(&s->ready_link);
    engine_feed_read(p->engine, &s->feed, s->held);
    s->held = false;
    *fuel -= READ_FUEL;
    if (s->backlog || s->end != INPUT_GOES_ON)
        feed_tail(p, s, clock_now(p->clock), fuel);
    else if (buf_length(&s->tail) > TAIL_COPY_MAX)
        got = read_into_tail(p, s, fuel);
    else
        got = read_shared(p, s, fuel);
    buf_trim(&s->tail, TAIL_KEEP);

    if (s->backlog) {
        pump_ready(p, s);
    } else if (s->end != INPUT_GOES_ON) {
        log_debug("%s: %s has ended", side_word(s->input->side), s->peer);
        input_source_done(s->input, s);
    } else {
        source_watch(s);
        if (goes_on(p, s, got))
            pump_ready(p, s);
    }
}

/* The first that the engine takes from; NULL: there is none. */
static struct source *first_source(const struct pump *p)
{
    LIST_EACH (&p->ready, struct source, ready_link, s)
        if (may_take(p, s))
            return s;
    return NULL;
}

/* Of the first few the one that time waits for, if there is one: what others have would only be
 * held meanwhile. But that one may have a lot, so others get a share. */
static struct source *next_source(struct pump *p)
{
    int left = p->out_of_turn < OUT_OF_TURN_MAX ? LOOK_AHEAD : 1;
    struct source *first = NULL;

    LIST_EACH (&p->ready, struct source, ready_link, s) {
        if (!may_take(p, s))
            continue;
        if (engine_awaits(p->engine, s->input->side, &s->feed)) {
            p->out_of_turn = first != NULL ? p->out_of_turn + 1 : 0;
            return s;
        }
        first = first != NULL ? first : s;
        if (--left == 0)
            break;
    }
    p->out_of_turn = 0;
    return first;
}

static void read_sources(struct pump *p, int64_t *fuel)
{
    struct source *s;

    while (*fuel > 0 && (s = next_source(p)) != NULL)
        source_work(p, s, fuel);
}

void pump_tell_ends(struct pump *p)
{
    for (int s = 0; s < SIDES; s++) {
        if (p->ended[s] || !input_ended(&p->inputs[s]))
            continue;
        p->ended[s] = true;
        engine_end(p->engine, (enum side)s);
    }
}

/* Before anybody is called idle: the loop may not have seen what has come (it was stopped,
 * or more was ready than it sees in one go). */
static void look_for_input(struct pump *p)
{
    for (int side = 0; side < SIDES; side++)
        LIST_EACH (&p->inputs[side].sources, struct source, link, s)
            if (!s->feed.unread && source_has_input(s))
                pump_ready(p, s);
}

/* --- a turn --- */

/* This side's next row has to wait for results that nobody takes. */
static bool results_hold(const struct pump *p, enum side side)
{
    return !p->ended[side] && !results_can_move(p) &&
           engine_holds(p->engine, side, NULL) == ENGINE_RESULTS;
}

/* A hold by results that do move, however slowly, is one by a reader that reads: it begins
 * anew with each of them. */
static void note_holds(struct pump *p)
{
    bool full = !engine_takes(p->engine) || !pump_fates_have_room(p);
    bool results = results_hold(p, SIDE_LEFT) || results_hold(p, SIDE_RIGHT);

    if (!full && !results)
        p->held_since_ms = 0;
    else if (p->held_since_ms == 0 || (!full && p->work != p->held_work))
        p->held_since_ms = clock_mono().ms;
    p->held_work = p->work;
    LIST_EACH (&p->ready, struct source, ready_link, s)
        s->held |= !may_take(p, s);
}

/* Would results move? */
static bool results_busy(const struct pump *p)
{
    if (fires_aside(p))
        return next_delivery(p) != NULL;
    return p->next < p->count ? output_has_room(&p->outputs[OUTPUT_RESULTS])
                              : engine_has_work(p->engine);
}

/* Rows that fill no block: for those of the next turn, which comes at once. Each write wakes a
 * reader. But none is kept waiting: he was `given` something in this turn. */
static bool rows_may_wait(const struct pump *p, uint64_t given_before)
{
    return p->outputs[OUTPUT_RESULTS].given != given_before && results_busy(p);
}

/* What is read before its time comes is only held; but what the clock gives its time to must not
 * wait. */
static int64_t results_share(const struct pump *p)
{
    return p->plan->time == TIME_EVENT ? TURN_FUEL / 8 * 7 : TURN_FUEL / 2;
}

void pump_turn(struct pump *p)
{
    uint64_t given = p->outputs[OUTPUT_RESULTS].given;
    int64_t results_fuel = results_share(p), fuel = TURN_FUEL - results_fuel + p->overdrawn;
    struct mono_time mono = clock_mono();

    engine_advance(p->engine, clock_now(p->clock));
    if (engine_idle_is_due(p->engine, mono))
        look_for_input(p);
    engine_watch(p->engine, mono);
    pump_give_results(p, &results_fuel);
    fuel += results_fuel;
    if (p->plan->replay)
        replay_read(p, &fuel);
    else
        read_sources(p, &fuel);
    pump_tell_ends(p);
    pump_give_results(p, &fuel);
    p->overdrawn = fuel < 0 && results_busy(p) ? fuel : 0;
    if (!rows_may_wait(p, given))
        output_commit(&p->outputs[OUTPUT_RESULTS]);
    note_holds(p);
}

uint64_t pump_forget_results(struct pump *p, bool *ret_all)
{
    int64_t fuel = PUMP_FORGET_FUEL;
    uint64_t results = p->count - p->next;

    pump_count_written(p);
    if (p->second != NULL) {
        results += second_forget(p->second, p->engine, &fuel);
        engine_leave(p->engine, UINT64_MAX);
    }
    while (fuel > 0 && pull_next(p, &fuel))
        results += p->count;
    p->next = p->count;
    *ret_all = !engine_has_work(p->engine);
    return results;
}

bool pump_busy(const struct pump *p)
{
    if (results_busy(p) || (p->plan->replay ? replay_busy(p) : first_source(p) != NULL))
        return true;
    return fires_aside(p) && !rows_are_delivered(p) && !second_may_sleep(p->second);
}

/* The left side of a batch is, until the right one has ended. */
bool pump_holds_side(const struct pump *p, enum side side)
{
    enum engine_hold hold = engine_holds(p->engine, side, NULL);

    return !p->ended[side] &&
           (!pump_fates_have_room(p) || hold == ENGINE_FULL || results_hold(p, side) ||
            (hold == ENGINE_OTHER && plan_traits(p->plan)->bounded));
}

bool pump_finished(const struct pump *p)
{
    return p->ended[SIDE_LEFT] && p->ended[SIDE_RIGHT] && !pump_results_wait(p) &&
           !engine_has_work(p->engine);
}
