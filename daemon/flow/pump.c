#include "flow/pump.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "base/object.h"
#include "flow/tell.h"
#include "io/clock.h"
#include "io/log.h"

/* A unit of fuel is about 10 ns. */
#define TURN_FUEL 100000
#define ROW_FUEL  6 /* to cut and judge a row; storing it is the engine's to say */
/* So many sources are looked at for one that time waits for, and so often one after the other
 * it is read before those that have waited longer. */
#define LOOK_AHEAD      8
#define OUT_OF_TURN_MAX 8
#define REJECT_FUEL     300
#define READ_FUEL       200
/* By turns: to cut once, and what gives no rows: lines that are empty, or too long. */
#define FETCH_FUEL   20
#define BYTES_A_FUEL 4
/* A read's rows are dealt with in its own turn, unless they are many and dear. */
#define OVERDRAFT_MAX (2 * TURN_FUEL)

#define READ_BYTES (256 << 10)
/* Longer tails are not copied to the shared buffer for each read. */
#define TAIL_COPY_MAX (16 << 10)
/* What an idle connection may keep allocated. */
#define TAIL_KEEP 256

void pump_init(struct pump *p, struct engine *e, struct stream_clock *c, struct input *inputs,
               struct output *outputs, const struct plan *plan)
{
    *p = (struct pump){.magic = PUMP_MAGIC,
                       .engine = e,
                       .plan = plan,
                       .clock = c,
                       .inputs = inputs,
                       .outputs = outputs};
    list_init(&p->ready);
    results_init(&p->results, e, plan, c, outputs, &inputs[SIDE_LEFT].group.bad_records);
    for (int s = 0; s < SIDES; s++)
        batch_init(&p->batch[s], plan->side[s].form.field_count);
    p->bytes = mem_alloc(TAIL_COPY_MAX + READ_BYTES);
}

void pump_done(struct pump *p)
{
    results_done(&p->results);
    batch_done(&p->batch[SIDE_LEFT]);
    batch_done(&p->batch[SIDE_RIGHT]);
    mem_free(p->bytes);
}

/* It holds between any two turns. */
static bool pump_ok(const struct pump *p)
{
    for (int s = 0; s < SIDES; s++)
        if (p->history[s] != NULL && (p->ended[s] || !p->plan->replay))
            return false;
    return p->overdrawn <= 0 && (!p->plan->replay || list_empty(&p->ready)) &&
           p->out_of_turn <= OUT_OF_TURN_MAX + 1;
}

/* [late] and [rejects]. */
static bool fates_have_room(const struct pump *p)
{
    return output_has_room(&p->outputs[OUTPUT_REJECTS]) &&
           output_has_room(&p->outputs[OUTPUT_LATE]);
}

/* Of two files that are one history. */
static void await_turn(struct pump *p, struct source *s)
{
    p->history[s->group->side] = s;
    p->dry[s->group->side] = false;
    source_unwatch(s);
}

/* Results in the way are no reason, if they can be given on the way. */
static bool may_take(const struct pump *p, const struct source *s)
{
    enum engine_hold hold = engine_holds(p->engine, s->group->side, &s->feed);

    return fates_have_room(p) && !results_are_behind(&p->results) &&
           (hold == ENGINE_TAKES || (hold == ENGINE_RESULTS && results_can_move(&p->results)));
}

void pump_ready(void *pump, struct source *s)
{
    struct pump *p = object_of(pump, PUMP_MAGIC);

    engine_feed_unread(p->engine, &s->feed);
    if (p->plan->replay) {
        await_turn(p, s);
        return;
    }
    if (!list_linked(&s->ready_link))
        list_append(&p->ready, &s->ready_link);
    if (!may_take(p, s))
        source_unwatch(s); /* else the loop would spin on it */
}

/* Tells the engine which sides have ended. */
static void tell_ends(struct pump *p)
{
    for (int s = 0; s < SIDES; s++) {
        if (p->ended[s] || !input_ended(&p->inputs[s]))
            continue;
        p->ended[s] = true;
        engine_end(p->engine, (enum side)s);
    }
}

/* --- in, as it comes --- */

/* Gives the batch to the engine. Returns how many rows it has taken. */
static size_t push_rows(struct pump *p, struct source *s, struct batch *b, struct stream_time now,
                        int64_t *fuel)
{
    enum side side = s->group->side;
    size_t at = 0, taken;

    do {
        taken = engine_push(p->engine, side, b, at, now);
        tell_rows(p->outputs, s, b, at, at + taken, now);
        assert(taken <= b->count - at);
        at += taken;
    } while (at<b->count && * fuel> - OVERDRAFT_MAX && fates_have_room(p) &&
             engine_holds(p->engine, side, &s->feed) == ENGINE_RESULTS &&
             results_give(&p->results, fuel));
    return at;
}

/* Gives bytes to the engine as rows. Returns how many are done with; the source has
 * a backlog when rows had to be left. */
static size_t feed(struct pump *p, struct source *s, const char *bytes, size_t n,
                   struct stream_time now, int64_t *fuel)
{
    struct batch *b = &p->batch[s->group->side];
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
        *fuel -= (int64_t)(b->count * (ROW_FUEL + (size_t)engine_push_fuel(p->engine)) +
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
    size_t got = source_read_on(s, READ_BYTES);

    feed_tail(p, s, stream_clock_now(p->clock), fuel);
    return got;
}

static size_t read_shared(struct pump *p, struct source *s, int64_t *fuel)
{
    size_t tail = buf_length(&s->tail), got, done;

    if (tail > 0)
        memcpy(p->bytes, buf_data(&s->tail), tail);
    got = source_read(s, p->bytes + tail, READ_BYTES);
    if (got == 0 && s->end == INPUT_GOES_ON)
        return 0;
    tell_protocol(s, (struct bytes){p->bytes, tail + got});
    done = feed(p, s, p->bytes, tail + got, stream_clock_now(p->clock), fuel);
    buf_clear(&s->tail);
    buf_append(&s->tail, p->bytes + done, tail + got - done);
    return got;
}

/* Who sent as much has probably sent more by now. Where time waits for it, that comes next: the
 * loop would see it only after others were read. */
static bool goes_on(const struct pump *p, const struct source *s, size_t got)
{
    return link_is_always_ready(&s->link) ||
           (got >= READ_BYTES / 4 && p->plan->time == TIME_EVENT &&
            engine_awaits(p->engine, s->group->side, &s->feed));
}

static void source_work(struct pump *p, struct source *s, int64_t *fuel)
{
    size_t got = 0;

    list_remove(&s->ready_link);
    engine_feed_read(p->engine, &s->feed, s->held);
    s->held = false;
    *fuel -= READ_FUEL;
    if (s->backlog || s->end != INPUT_GOES_ON)
        feed_tail(p, s, stream_clock_now(p->clock), fuel);
    else if (buf_length(&s->tail) > TAIL_COPY_MAX)
        got = read_into_tail(p, s, fuel);
    else
        got = read_shared(p, s, fuel);
    buf_trim(&s->tail, TAIL_KEEP);

    if (s->backlog) {
        pump_ready(p, s);
    } else if (s->end != INPUT_GOES_ON) {
        log_debug("%s: %s has ended", side_word(s->group->side), s->peer);
        input_source_done(&p->inputs[s->group->side], s);
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
        if (engine_awaits(p->engine, s->group->side, &s->feed)) {
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

/* --- in, two files as one history --- */

static void history_ends(struct pump *p, enum side side)
{
    struct source *s = p->history[side];

    log_debug("%s: %s has ended", side_word(side), s->peer);
    tell_header(s);
    p->history[side] = NULL;
    input_source_done(&p->inputs[side], s);
    tell_ends(p);
}

/* False: there is nothing now. */
static bool read_history(struct pump *p, enum side side)
{
    struct source *s = p->history[side];
    size_t got = source_read_on(s, READ_BYTES);

    tell_protocol(s, buf_bytes(&s->tail));
    if (got > 0 || s->end != INPUT_GOES_ON)
        return true;
    p->dry[side] = true;
    engine_feed_read(p->engine, &s->feed, true); /* it may have waited for its turn */
    source_watch(s);
    return false;
}

/* Sees to it that there is a row at hand. False: there is none now, or none any more, or
 * it would take too long to come to one. */
static bool fetch(struct pump *p, enum side side, int64_t *fuel)
{
    struct source *s;

    while ((s = p->history[side]) != NULL && !source_has_rows(s) && *fuel > 0) {
        bool cut = source_cut_rows(s, &p->batch[side]);
        p->batch[side].feed = &s->feed;
        tell_header(s);
        *fuel -= FETCH_FUEL + (int64_t)s->used / BYTES_A_FUEL;
        if (cut)
            continue;
        if (s->end != INPUT_GOES_ON)
            history_ends(p, side);
        else if (!read_history(p, side))
            return false;
    }
    return s != NULL && source_has_rows(s);
}

/* Gives what may come now of this side. False: nothing moved. */
static bool give_history(struct pump *p, enum side side, int64_t *fuel)
{
    struct stream_time now = stream_clock_now(p->clock);
    struct source *s;
    size_t taken;

    if (!fetch(p, side, fuel))
        return false;
    s = p->history[side];
    taken = engine_push(p->engine, side, s->rows, s->from, now);
    tell_rows(p->outputs, s, s->rows, s->from, s->from + taken, now);
    s->from += taken;
    *fuel -= (int64_t)(taken + 1) * (ROW_FUEL + engine_push_fuel(p->engine));
    return taken > 0;
}

/* Has it a row that may come now, or something to read? */
static bool has_turn(const struct pump *p, enum side side)
{
    const struct source *s = p->history[side];

    return s != NULL && (source_has_rows(s) || !p->dry[side]) &&
           engine_holds(p->engine, side, &s->feed) == ENGINE_TAKES;
}

static void read_by_turns(struct pump *p, int64_t *fuel)
{
    bool moved = true;

    while (moved && *fuel > 0 && fates_have_room(p)) {
        moved = false;
        for (int s = 0; s < SIDES; s++) {
            if (!p->ended[s] && has_turn(p, (enum side)s))
                moved |= give_history(p, (enum side)s, fuel) || p->ended[s];
            if (p->history[s] != NULL &&
                engine_holds(p->engine, (enum side)s, NULL) == ENGINE_RESULTS)
                moved |= results_give(&p->results, fuel);
        }
    }
}

static bool turns_busy(const struct pump *p)
{
    return fates_have_room(p) && (has_turn(p, SIDE_LEFT) || has_turn(p, SIDE_RIGHT));
}

/* --- a turn --- */

/* Before anybody is called idle: the loop may not have seen what has come (it was stopped,
 * or more was ready than it sees in one go). */
static void look_for_input(struct pump *p)
{
    for (int side = 0; side < SIDES; side++)
        LIST_EACH (&p->inputs[side].group.sources, struct source, among, s)
            if (!s->feed.unread && source_has_input(s))
                pump_ready(p, s);
}

/* This side's next row has to wait for results that nobody takes. */
static bool results_hold(const struct pump *p, enum side side)
{
    return !p->ended[side] && !results_can_move(&p->results) &&
           engine_holds(p->engine, side, NULL) == ENGINE_RESULTS;
}

/* A hold by results that do move, however slowly, is one by a reader that reads: it begins
 * anew with each of them. */
static void note_holds(struct pump *p)
{
    bool full = !engine_takes(p->engine) || !fates_have_room(p);
    bool results = results_hold(p, SIDE_LEFT) || results_hold(p, SIDE_RIGHT);

    if (!full && !results)
        p->held_since_ms = 0;
    else if (p->held_since_ms == 0 || (!full && p->results.work != p->held_work))
        p->held_since_ms = clock_mono().ms;
    p->held_work = p->results.work;
    LIST_EACH (&p->ready, struct source, ready_link, s)
        s->held |= !may_take(p, s);
}

/* Rows that fill no block: for those of the next turn, which comes at once. Each write wakes a
 * reader. But none is kept waiting: he was `given` something in this turn. */
static bool rows_may_wait(const struct pump *p, uint64_t given_before)
{
    return p->outputs[OUTPUT_RESULTS].given != given_before && results_busy(&p->results);
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

    assert(pump_ok(p));
    engine_advance(p->engine, stream_clock_now(p->clock));
    if (engine_idle_is_due(p->engine, mono))
        look_for_input(p);
    engine_watch(p->engine, mono);
    results_give(&p->results, &results_fuel);
    fuel += results_fuel;
    if (p->plan->replay)
        read_by_turns(p, &fuel);
    else
        read_sources(p, &fuel);
    tell_ends(p);
    results_give(&p->results, &fuel);
    p->overdrawn = fuel < 0 && results_busy(&p->results) ? fuel : 0;
    if (!rows_may_wait(p, given))
        output_commit(&p->outputs[OUTPUT_RESULTS]);
    note_holds(p);
    assert(pump_ok(p));
}

bool pump_busy(const struct pump *p)
{
    return results_busy(&p->results) ||
           (p->plan->replay ? turns_busy(p) : first_source(p) != NULL) ||
           !results_may_sleep(&p->results);
}

/* The left side of a batch is, until the right one has ended. */
bool pump_holds_side(const struct pump *p, enum side side)
{
    enum engine_hold hold = engine_holds(p->engine, side, NULL);

    return !p->ended[side] &&
           (!fates_have_room(p) || hold == ENGINE_FULL || results_hold(p, side) ||
            (hold == ENGINE_OTHER && plan_traits(p->plan)->bounded));
}

bool pump_finished(const struct pump *p)
{
    assert(pump_ok(p));
    return p->ended[SIDE_LEFT] && p->ended[SIDE_RIGHT] && !results_wait(&p->results) &&
           !engine_has_work(p->engine);
}
