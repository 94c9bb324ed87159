#include <assert.h>

#include "base/buf.h"
#include "base/time.h"
#include "engine/engine_inner.h"
#include "engine/plain.h"

/* So many records are judged, then stored. */
#define PLAIN_GROUP 16

/* The sentence of [late]. */
static void mark_late(struct engine *e, enum side side, struct batch *b, struct row *row, int64_t t)
{
    struct books_side *books = &e->books.side[side];
    struct buf text = BUF_EMPTY;
    int64_t by_ms = e->reached.ms - t;

    if (e->reached.ms == INT64_MAX) /* all has ended, or was decided early by a stop */
        by_ms = 0;
    lateness_add(&books->lateness, by_ms);
    books->late++;
    time_append_rfc3339(t, &text);
    buf_append_text(&text, " is ");
    duration_write(by_ms, &text);
    batch_mark_late(b, row, "its time %s behind the watermark", buf_text(&text));
    buf_done(&text);
}

/* What is left of the operator's answer once full and waiting are noted. */
static bool heed(struct engine *e, enum side side, enum push_stop stop, enum level level)
{
    if (stop == PUSH_FULL)
        engine_note_full(e, side, level);
    e->results_first = stop == PUSH_WORK_FIRST;
    return stop == PUSH_ALL;
}

/* A record to be stored. False: not now. */
static bool push_record(struct engine *e, enum side side, struct batch *b, struct row *row,
                        const struct record_parts *parts, enum level level)
{
    size_t taken;
    enum push_stop stop =
        e->operator->push(e->self, side, parts, 1, e->books.side[side].received, &taken);

    if (stop != PUSH_LATE)
        return heed(e, side, stop, level);
    mark_late(e, side, b, row, parts->time);
    return true;
}

static struct feed *feed_of(struct engine *e, enum side side, const struct batch *b)
{
    return b->feed != NULL ? b->feed : &e->own_feed[side];
}

static bool push_row(struct engine *e, enum side side, struct batch *b, struct row *row,
                     enum level level)
{
    struct books_side *books = &e->books.side[side];
    struct record_parts parts = {.time = e->reached.ms};
    enum verdict verdict = VERDICT_REJECTED;

    if (row->reject == REJECT_NONE && e->event &&
        judge_time(&e->judge, side, b, row, e->clock.ms, &parts.time)) {
        watermark_record(&e->watermark, feed_of(e, side, b), parts.time);
        engine_advance_by_watermark(e);
    }
    if (row->reject == REJECT_NONE)
        verdict = judge_row(&e->judge, side, b, row, books->received, &parts);
    switch (verdict) {
    case VERDICT_HOLD:
        if (!push_record(e, side, b, row, &parts, level))
            return false;
        break;
    case VERDICT_REJECTED:
        books->rejected++;
        break;
    case VERDICT_FILTERED:
        books->filtered++;
        break;
    case VERDICT_UNMATCHED:
        books->unmatched++;
        break;
    }
    books->received++;
    return true;
}

/* Plain rows, in processing time. False: some have to wait. */
static bool push_plain(struct engine *e, enum side side, struct record_parts *parts, size_t n,
                       size_t *at, enum level level)
{
    struct books_side *books = &e->books.side[side];
    enum push_stop stop;
    size_t taken;

    for (size_t i = 0; i < n; i++)
        parts[i].time = e->reached.ms;
    stop = e->operator->push(e->self, side, parts, n, books->received, &taken);
    assert(stop != PUSH_LATE); /* time is the clock's */
    books->received += taken;
    *at += taken;
    return heed(e, side, stop, level);
}

/* The same where they need not be pushed. Returns how many went in; the next one has to be. */
static size_t append_plain(struct engine *e, enum side side, const struct batch *b, size_t from)
{
    struct books_side *books = &e->books.side[side];
    struct operator_open open = e->operator->open(e->self, side, e->reached.ms);
    size_t n;

    if (open.log == NULL)
        return 0;
    n = plain_append(&e->judge, side, b, from, e->reached.ms, open.log, books->received);
    books->received += n;
    e->results_first = e->results_first && n == 0;
    return n;
}

/* Times from here on are not believed: max_ahead. */
static int64_t too_far(const struct engine *e, enum side side)
{
    int64_t max_ahead_ms = e->plan->side[side].max_ahead_ms;

    if (max_ahead_ms == PLAN_OFF || e->clock.ms >= INT64_MAX - max_ahead_ms)
        return INT64_MAX;
    return e->clock.ms + max_ahead_ms + 1;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The same in event time, for time that goes on between them changes nothing. Not while state is
 * full, which may end with any row. */
static size_t append_plain_timed(struct engine *e, enum side side, const struct batch *b,
                                 size_t from)
{
    struct books_side *books = &e->books.side[side];
    struct feed *feed = feed_of(e, side, b);
    struct operator_open open;
    int64_t t = b->times[from], below;
    size_t n;

    if (e->begun[side] || e->any_full || b->rows[from].reject != REJECT_NONE || t == BATCH_NO_TIME)
        return 0;
    open = e->operator->open(e->self, side, t);
    if (open.log == NULL)
        return 0;
    below = least(open.below, watermark_calm(&e->watermark, feed, open.until));
    n = plain_append_timed(&e->judge, side, b, from, open.from, least(below, too_far(e, side)),
                           open.log, books->received, &t);
    if (n == 0)
        return 0;
    watermark_record(&e->watermark, feed, t);
    engine_advance_by_watermark(e);
    books->received += n;
    e->results_first = false;
    return n;
}

/* A row that had to wait has told its time already, and is still the next one. */
static bool has_turn(const struct engine *e, enum side side)
{
    if (e->plan->match == MATCH_BATCH)
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

/* Keys are hashed before the first of their rows is judged, and what storing them will touch is
 * fetched meanwhile. */
static void hash_some(const struct engine *e, enum side side, struct batch *b, size_t from)
{
    size_t n;

    if (!e->judge.key_is_field[side] || from < b->hashed)
        return;
    n = judge_hash(&e->judge, side, b, from, OPERATOR_FETCH);
    if (e->operator->fetch != NULL)
        e->operator->fetch(e->self, side, &b->hashes[from], n);
}

size_t engine_push(struct engine *e, enum side side, struct batch *b, size_t from,
                   struct stream_time now)
{
    struct record_parts parts[PLAIN_GROUP];
    bool plain = e->judge.plain[side] && !e->event;
    bool plain_timed = e->judge.plain[side] && e->event && b->timed;
    bool open = (plain || plain_timed) && e->operator->open != NULL;
    size_t i = from;
    bool fits = true;

    assert(!e->ended[side]);
    engine_advance(e, now);
    while (i < b->count && fits && !must_wait(e) && has_turn(e, side)) {
        enum level level = engine_level(e, side, b->feed);
        size_t n = 0;
        hash_some(e, side, b, i);
        e->state_bytes_max = e->limit[level];
        if (open)
            i += n = e->event ? append_plain_timed(e, side, b, i) : append_plain(e, side, b, i);
        else if (plain && (n = judge_plain(&e->judge, side, b, i, PLAIN_GROUP, parts)) > 0)
            fits = push_plain(e, side, parts, n, &i, level);
        if (n == 0) {
            fits = push_row(e, side, b, &b->rows[i], level);
            e->begun[side] = !fits;
            i += fits;
            /* By its own time its feed may have come to be what time waits for. */
            if (!fits && !e->results_first)
                fits = engine_level(e, side, b->feed) > level;
        }
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
