/* engine_push(): the one road of rows into the stores, but for those of a lookup's table. See
 * engine/engine.h. */
#include <assert.h>

#include "base/buf.h"
#include "base/time.h"
#include "engine/append.h"
#include "engine/inner.h"
#include "model/fate.h"

/* So many records are given to an operator at once. */
#define PUSH_GROUP 16

/* The sentence of [late]. */
static void mark_late(struct engine *e, enum side side, struct batch *b, size_t i)
{
    struct buf text = BUF_EMPTY;
    int64_t by_ms = e->reached.ms - b->times[i];

    if (e->reached.ms == INT64_MAX) /* all has ended, or was decided early by a stop */
        by_ms = 0;
    lateness_add(&e->books.side[side].lateness, by_ms);
    record_fate(&e->books, side, FATE_LATE, NULL);
    time_append_rfc3339(b->times[i], &text);
    buf_append_text(&text, " is ");
    duration_write(by_ms, &text);
    batch_mark_late(b, &b->rows[i], "its time %s behind the watermark", buf_text(&text));
    buf_done(&text);
}

/* Rows whose fate is known without a store. */
static void count_passed(struct engine *e, enum side side, const uint64_t passed[VERDICTS])
{
    record_fates(&e->books, side, FATE_REJECTED, passed[VERDICT_REJECTED]);
    record_fates(&e->books, side, FATE_FILTERED, passed[VERDICT_FILTERED]);
    record_fates(&e->books, side, FATE_UNMATCHED, passed[VERDICT_UNMATCHED]);
}

static struct feed *feed_of(struct engine *e, enum side side, const struct batch *b)
{
    return b->feed != NULL ? b->feed : &e->own_feed[side];
}

/* The time of a record of the batch: event time goes on by it. */
static void tell_time(struct engine *e, enum side side, const struct batch *b, int64_t t)
{
    watermark_record(&e->watermark, feed_of(e, side, b), (struct stream_time){t});
    engine_advance_by_watermark(e);
}

/* --- many rows, into a window that is open --- */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* What is said of the operator's open() holds for times in [from, below): as long as none of them
 * lets time come to where the operator or the two sides would act otherwise, they may be told
 * afterwards, as one. */
static size_t admit_run(struct engine *e, enum side side, const struct batch *b, size_t from)
{
    int64_t t = e->event ? b->times[from] : e->reached.ms;
    struct operator_open open = {.log = NULL};
    struct append_run run;
    size_t n;

    /* Not while state is full, which may end with any row. */
    if (!e->event || (!e->begun[side] && !e->any_full && t != BATCH_NO_TIME))
        open = e->operator->open(e->self, side, t);
    if (open.log == NULL)
        return 0;
    run = (struct append_run){
        .log = open.log,
        .number = e->books.side[side].received,
        .timed = e->event,
        .time = t,
        .from = open.from,
        .below = open.below,
        .highest = BATCH_NO_TIME,
    };
    if (e->event)
        run.below = least(run.below, watermark_calm(&e->watermark, feed_of(e, side, b),
                                                    (struct stream_time){open.until})
                                         .ms);
    n = append_rows(&e->judge, b, from, &run);
    if (n == 0)
        return 0;
    count_passed(e, side, run.passed);
    e->books.side[side].received += n;
    e->results_first = false;
    if (e->event)
        tell_time(e, side, b, run.highest);
    return n;
}

/* --- a few rows, any way --- */

/* What is left of the operator's answer once full and waiting are noted. */
static bool heed(struct engine *e, enum side side, enum push_stop stop, enum level level)
{
    if (stop == PUSH_FULL)
        engine_note_full(e, side, level);
    e->results_first = stop == PUSH_WORK_FIRST;
    return stop == PUSH_ALL;
}

/* The records of rows that stand together, up to `max`. */
static size_t parts_of(const struct engine *e, const struct batch *b, size_t from, size_t max,
                       uint64_t number, struct record_parts *ret)
{
    size_t n = 0;

    for (; n < max && from + n < b->count && batch_takes(b, from + n); n++)
        ret[n] = judge_parts(&e->judge, b, from + n, number + n,
                             e->event ? b->times[from + n] : e->reached.ms);
    return n;
}

/* Returns how many rows were taken; *ret_wait: the next one has to wait. */
static size_t push_rows(struct engine *e, enum side side, struct batch *b, size_t from, size_t max,
                        enum level level, bool *ret_wait)
{
    struct record_parts parts[PUSH_GROUP];
    struct books_side *books = &e->books.side[side];
    size_t n = parts_of(e, b, from, max, books->received, parts), taken;
    enum push_stop stop = e->operator->push(e->self, side, parts, n, books->received, &taken);

    if (stop == PUSH_LATE)
        mark_late(e, side, b, from + taken++);
    else
        *ret_wait = !heed(e, side, stop, level);
    books->received += taken;
    return taken;
}

/* In event time each row may let time go on, and is told before what comes of it; the clock's time
 * is that of all. Where runs are, the next row may begin one. */
static size_t push_max(const struct engine *e)
{
    return e->event || e->operator->open != NULL ? 1 : PUSH_GROUP;
}

static size_t admit_some(struct engine *e, enum side side, struct batch *b, size_t from,
                         enum level level, bool *ret_wait)
{
    size_t n;

    if (e->event && b->times[from] != BATCH_NO_TIME)
        tell_time(e, side, b, b->times[from]);
    if (!batch_takes(b, from)) {
        uint64_t passed[VERDICTS] = {0};
        passed[b->rows[from].verdict] = 1;
        count_passed(e, side, passed);
        e->books.side[side].received++;
        return 1;
    }
    n = push_rows(e, side, b, from, push_max(e), level, ret_wait);
    e->begun[side] = e->event && *ret_wait;
    return n;
}

/* --- whose turn it is --- */

/* A row that had to wait has told its time already, and is still the next one. */
static bool has_turn(const struct engine *e, enum side side)
{
    if (plan_traits(e->plan)->bounded)
        return side == SIDE_RIGHT || e->ended[SIDE_RIGHT];
    if (!e->plan->replay || e->begun[side])
        return true;
    return !e->begun[side_other(side)] && watermark_has_turn(&e->watermark, side);
}

/* Kept to until they are all gone: what was refused is not taken a moment later. */
static bool results_come_first(const struct engine *e)
{
    return e->results_first && e->operator->has_work(e->self);
}

/* The same, and whether they do from now on. */
static bool must_wait(struct engine *e)
{
    if (e->operator->waits != NULL && e->operator->waits(e->self))
        e->results_first = true;
    return results_come_first(e);
}

/* What storing the next rows will touch is fetched meanwhile. */
static void fetch_some(const struct engine *e, enum side side, struct batch *b, size_t from)
{
    size_t n;

    if (e->operator->fetch == NULL || from<b->fetched)
        return;
    n = b->count - from < OPERATOR_FETCH ? b->count - from : OPERATOR_FETCH;
    e->operator->fetch(e->self, side, &b->hashes[from], n);
    b->fetched = from + n;
}

size_t engine_push(struct engine *e, enum side side, struct batch *b, size_t from,
                   struct stream_time now)
{
    size_t i = from;
    bool wait = false;

    assert(!e->ended[side] && from <= b->count);
    engine_advance(e, now);
    if (!b->judged)
        judge_rows(&e->judge, side, b, e->clock.ms);
    while (i < b->count && !wait && !must_wait(e) && has_turn(e, side)) {
        enum level level = engine_level(e, side, b->feed);
        size_t n = 0;

        fetch_some(e, side, b, i);
        e->state_bytes_max = e->limit[level];
        if (e->operator->open != NULL)
            i += n = admit_run(e, side, b, i);
        if (n == 0)
            i += admit_some(e, side, b, i, level, &wait);
        /* By its own time its feed may have come to be what time waits for. */
        if (wait && !e->results_first)
            wait = engine_level(e, side, b->feed) <= level;
    }
    e->state_bytes_max = e->limit[LEVEL_LIMIT];
    return i - from;
}

int64_t engine_push_fuel(const struct engine *e)
{
    return e->operator->push_fuel;
}

enum engine_hold engine_holds(const struct engine *e, enum side side, const struct feed *f)
{
    if (e->fullness[side][engine_level(e, side, f)].full)
        return ENGINE_FULL;
    if (results_come_first(e))
        return ENGINE_RESULTS;
    return has_turn(e, side) ? ENGINE_TAKES : ENGINE_OTHER;
}
