#include "config/words.h"

#include "base/time.h"
#include "config/words_inner.h"
#include "lang/expr_lexer.h"

static const char *name_of(const struct config *c, enum side side)
{
    return c->plan->side[side].schema.name;
}

/* --- who meets whom --- */

/* With its side, as a reader wants it who does not know whose fields they are. */
static void append_key(const struct plan *p, enum side side, size_t item, struct buf *to)
{
    const struct expr *e = p->side[side].key.items[item].expr;
    const struct schema *schema = &p->side[side].schema;

    if (e->kind == EXPR_FIELD) {
        expr_write_field(schema->name, schema->fields[e->field].name, to);
        return;
    }
    if (!words_expression(e, to))
        buf_append_text(to, "the key");
    buf_printf(to, " of %s", schema->name);
}

static void append_condition(const struct plan *p, struct buf *to)
{
    size_t count = p->side[SIDE_LEFT].key.count;

    if (count == 0 && p->match != MATCH_LATEST)
        buf_append_text(to, ", each record with each of the other side");
    for (size_t i = 0; i < count; i++) {
        buf_append_text(to, i == 0 ? " on " : " and ");
        append_key(p, SIDE_LEFT, i, to);
        buf_append_text(to, " = ");
        append_key(p, SIDE_RIGHT, i, to);
    }
    if (p->on != NULL) {
        buf_append_text(to, count == 0 ? " where " : " and ");
        if (!words_expression(p->on, to))
            buf_append_text(to, "the condition on");
    }
}

static const char *time_word(const struct plan *p)
{
    return p->time == TIME_EVENT ? "event time" : "processing time";
}

static void append_duration(const char *before, int64_t ms, const char *behind, struct buf *to)
{
    buf_append_text(to, before);
    duration_write(ms, to);
    buf_append_text(to, behind);
}

static void append_windows(const struct plan *p, struct buf *to)
{
    append_duration(", in windows of ", p->size_ms, "", to);
    if (p->match == MATCH_SLIDING)
        append_duration(", one every ", p->slide_ms, ",", to);
    buf_printf(to, " of %s, aligned to the epoch", time_word(p));
    if (p->offset_ms > 0)
        append_duration(" plus ", p->offset_ms, "", to);
    if (p->offset_ms < 0)
        append_duration(" minus ", -p->offset_ms, "", to);
}

/* `1s before to 5s after`, `0s to 5s after`, `5s to 10s before`, `at the same time as`. */
static void append_bounds(int64_t lower_ms, int64_t upper_ms, struct buf *to)
{
    bool before = upper_ms <= 0;
    int64_t first = before ? -upper_ms : lower_ms, last = before ? -lower_ms : upper_ms;

    if (lower_ms == 0 && upper_ms == 0) {
        buf_append_text(to, "at the same time as");
        return;
    }
    if (first < 0)
        append_duration("", -first, " before to ", to);
    else if (first != last)
        append_duration("", first, " to ", to);
    append_duration("", last, before ? " before" : " after", to);
}

static void append_interval(const struct config *c, struct buf *to)
{
    const struct plan *p = c->plan;

    buf_printf(to, ", where the record of %s comes ", name_of(c, SIDE_RIGHT));
    append_bounds(p->lower_ms, p->upper_ms, to);
    buf_printf(to, " that of %s, in %s", name_of(c, SIDE_LEFT), time_word(p));
}

/* The newest of what? */
static const char *of_its_key(const struct plan *p)
{
    return p->side[SIDE_LEFT].key.count > 0 ? " of its key" : "";
}

static void append_latest(const struct config *c, struct buf *to)
{
    const struct plan *p = c->plan;

    buf_printf(to, ", each record of %s with the one of %s%s", name_of(c, SIDE_LEFT),
               name_of(c, SIDE_RIGHT), of_its_key(p));
    if (p->time == TIME_EVENT)
        buf_append_text(to, " that is the newest at its time (as of; event time)");
    else
        buf_append_text(to, " that is the newest when it is read (processing time)");
}

static void append_match(const struct config *c, struct buf *to)
{
    const struct plan *p = c->plan;

    switch (p->match) {
    case MATCH_TUMBLING:
    case MATCH_SLIDING:
        append_windows(p, to);
        break;
    case MATCH_SESSION:
        append_duration(", in sessions, which end after ", p->gap_ms, "", to);
        buf_printf(to, " of %s without a record", time_word(p));
        break;
    case MATCH_INTERVAL:
        append_interval(c, to);
        break;
    case MATCH_LATEST:
        append_latest(c, to);
        break;
    case MATCH_LOOKUP:
        buf_printf(to, ", where %s is a table: the rows of a file", name_of(c, SIDE_RIGHT));
        break;
    case MATCH_BATCH:
        buf_append_text(to, ", whatever their times: both sides are read to their ends");
        break;
    }
}

/* --- what comes out, and when --- */

/* Who comes out without a partner. */
static void append_fates(const struct config *c, struct buf *to)
{
    const char *left = name_of(c, SIDE_LEFT), *right = name_of(c, SIDE_RIGHT);

    switch (c->plan->type) {
    case JOIN_INNER:
        buf_append_text(to, "pairs are written; records without a partner are not");
        break;
    case JOIN_LEFT:
        buf_printf(to, "pairs are written, and with NULLs records of %s without a partner", left);
        break;
    case JOIN_RIGHT:
        buf_printf(to, "pairs are written, and with NULLs records of %s without a partner", right);
        break;
    case JOIN_FULL:
        buf_append_text(to, "pairs are written, and with NULLs records without a partner");
        break;
    case JOIN_SEMI:
        buf_printf(to, "records of %s that have a partner are written, each once", left);
        break;
    case JOIN_ANTI:
        buf_printf(to, "records of %s that have no partner are written", left);
        break;
    }
    if (c->plan->match == MATCH_SLIDING)
        buf_append_text(to, "; each window is judged alone, so this is done once for each window "
                            "that a record lies in");
}

static void append_grace(const struct plan *p, const char *before, struct buf *to)
{
    if (p->grace_ms > 0)
        append_duration(before, p->grace_ms, " (grace)", to);
}

static bool pads(const struct plan *p)
{
    return plan_pads(p, SIDE_LEFT) || plan_pads(p, SIDE_RIGHT);
}

static void append_when_of_windows(const struct plan *p, struct buf *to)
{
    buf_append_text(to, "the results of a window are written when time reaches its end");
    if (p->slide_ms > p->size_ms)
        buf_append_text(to, "; a record between two windows has no partner");
    append_grace(p, "; late records are taken for another ", to);
    if (p->grace_ms > 0)
        buf_printf(to, ", and what they add is written at once%s",
                   pads(p) ? "; records without a partner come after that" : "");
}

static void append_when_of_interval(const struct plan *p, struct buf *to)
{
    if (p->type == JOIN_SEMI)
        buf_append_text(to, "a record is written when it meets its first partner; ");
    else if (p->type != JOIN_ANTI)
        buf_append_text(to, "a pair is written when its second record comes; ");
    buf_append_text(to, "a record is kept until time has passed the last partner that it could "
                        "have");
    append_grace(p, ", and another ", to);
    if (pads(p))
        buf_append_text(to, ", and is written then if it met none");
}

/* A left record that finds none. */
static void append_wait(const struct config *c, struct buf *to)
{
    const struct plan *p = c->plan;

    if (p->wait_ms == 0)
        buf_append_text(to, "; one that finds none does not wait for one");
    else if (p->wait_ms == PLAN_FOREVER)
        buf_append_text(to, "; one that finds none waits until the first one comes (wait = "
                            "forever)");
    else
        append_duration("; one that finds none waits up to ", p->wait_ms,
                        " for the first one to come (wait)", to);
    if (p->wait_ms != 0 && p->on != NULL)
        buf_append_text(to, ", even if the condition then refuses that one");
}

static void append_when_of_latest(const struct config *c, struct buf *to)
{
    const struct plan *p = c->plan;
    const char *left = name_of(c, SIDE_LEFT), *right = name_of(c, SIDE_RIGHT);

    if (p->time == TIME_EVENT) {
        buf_printf(to,
                   "a record of %s waits until time has reached its own on both sides, for only "
                   "then is it certain which of %s was the newest (an equal time counts)",
                   left, right);
        return;
    }
    buf_printf(to, "a record of %s is joined when it is read", left);
    append_wait(c, to);
    buf_printf(to,
               "; a new record of %s takes the place of the one before it%s, for what is read "
               "after it",
               right, p->side[SIDE_LEFT].key.count > 0 ? " of the same key" : "");
    if (p->ttl_ms != PLAN_OFF)
        append_duration("; one that is not replaced for ", p->ttl_ms, " is forgotten (ttl)", to);
}

static void append_duplicates(const struct plan *p, struct buf *to)
{
    switch (p->duplicates) {
    case DUPLICATES_KEEP:
        buf_printf(to, "all rows%s are partners", of_its_key(p));
        break;
    case DUPLICATES_LAST:
        buf_printf(to, "only the last row%s is a partner (duplicates = last)", of_its_key(p));
        break;
    case DUPLICATES_ERROR:
        buf_printf(to,
                   "%s has one row at most; a second one makes the table wrong (duplicates = "
                   "error)",
                   p->side[SIDE_LEFT].key.count > 0 ? "a key" : "the table");
        break;
    }
}

static void append_when_of_lookup(const struct config *c, struct buf *to)
{
    buf_printf(to, "a record of %s is joined when it is read: ", name_of(c, SIDE_LEFT));
    append_duplicates(c->plan, to);
    buf_append_text(to, "; the file is read before the start, and again when it changes (or at "
                        "the signal HUP): then the new table replaces the old one at once, unless "
                        "anything in it is wrong");
}

static bool has_end(const struct config *c, enum endpoint_kind kind)
{
    return c->input[SIDE_LEFT].endpoint.kind == kind || c->input[SIDE_RIGHT].endpoint.kind == kind;
}

static void append_when_of_batch(const struct config *c, struct buf *to)
{
    const char *left = name_of(c, SIDE_LEFT), *right = name_of(c, SIDE_RIGHT);

    buf_printf(to,
               "%s is read first, whole, and held; then %s is read, and each of its records is "
               "joined at once",
               right, left);
    if (plan_pads(c->plan, SIDE_RIGHT))
        buf_printf(to, "; records of %s without a partner come at the end", right);
    if (has_end(c, ENDPOINT_LISTEN))
        buf_append_text(to, "; a side that listens ends when its last connection has closed");
    if (has_end(c, ENDPOINT_CONNECT))
        buf_append_text(to, "; a side that connects ends when its peer closes the connection");
}

static void append_when(const struct config *c, struct buf *to)
{
    const struct plan *p = c->plan;

    switch (p->match) {
    case MATCH_TUMBLING:
    case MATCH_SLIDING:
        append_when_of_windows(p, to);
        break;
    case MATCH_SESSION:
        buf_append_text(to, "the results of a session are written when time has passed its end");
        append_grace(p, ", and another ", to);
        break;
    case MATCH_INTERVAL:
        append_when_of_interval(p, to);
        break;
    case MATCH_LATEST:
        append_when_of_latest(c, to);
        break;
    case MATCH_LOOKUP:
        append_when_of_lookup(c, to);
        break;
    case MATCH_BATCH:
        append_when_of_batch(c, to);
        break;
    }
}

/* --- event time --- */

static bool is_live(const struct config *c, enum side side)
{
    enum endpoint_kind kind = c->input[side].endpoint.kind;

    return kind == ENDPOINT_LISTEN || kind == ENDPOINT_CONNECT ||
           (kind == ENDPOINT_STANDARD && !c->plan->replay);
}

static void append_time_of_side(const struct config *c, enum side side, struct buf *to)
{
    const struct plan_side *p = &c->plan->side[side];

    buf_printf(to, "time of %s: ", p->schema.name);
    if (!words_expression(p->timestamp, to))
        buf_append_text(to, "what timestamp says");
    if (p->delay_ms > 0)
        append_duration("; records may come up to ", p->delay_ms, " out of order (delay)", to);
    else
        buf_append_text(to, "; records are expected in order of time (delay is 0s)");
    if (is_live(c, side) && p->idle_ms != PLAN_OFF)
        append_duration("; after ", p->idle_ms,
                        " without one, this side no longer holds time back (idle)", to);
    if (p->max_ahead_ms != PLAN_OFF)
        append_duration("; a time more than ", p->max_ahead_ms,
                        " ahead of the clock is rejected (max_ahead)", to);
}

static void append_clock(const struct plan *p, struct buf *to)
{
    if (p->time == TIME_PROCESSING) {
        buf_append_text(to, "processing time is the machine's clock: a record's time is when it "
                            "was read");
        return;
    }
    buf_append_text(to, "event time is what the records say: it has come as far as the side that "
                        "is behind");
    if (p->replay)
        buf_append_text(to, "; both sides are files, which are read in order of time (a replay), "
                            "so every run gives the same");
}

/* When a record is late, and what becomes of it. */
static void append_late(const struct config *c, struct buf *to)
{
    const struct plan *p = c->plan;

    switch (p->match) {
    case MATCH_TUMBLING:
    case MATCH_SLIDING:
        buf_printf(to, "a record is late when time has reached the end of its window%s",
                   p->match == MATCH_SLIDING ? "s" : "");
        append_grace(p, ", and another ", to);
        break;
    case MATCH_SESSION:
        buf_append_text(to, "a record is late when time has passed the end of the session that it "
                            "would begin");
        append_grace(p, ", and another ", to);
        buf_append_text(to, ", and it belongs to no other one");
        break;
    case MATCH_INTERVAL:
        buf_append_text(to, "a record that time has passed still meets the partners that are held; "
                            "if there is none and none can come any more, it is late");
        if (pads(p))
            buf_append_text(to, ", unless it is to be written without one");
        break;
    case MATCH_LATEST:
        buf_printf(to,
                   "a record of %s is late when time has reached its own; one of %s when time "
                   "has reached a newer one%s",
                   name_of(c, SIDE_LEFT), name_of(c, SIDE_RIGHT), of_its_key(p));
        break;
    case MATCH_LOOKUP:
    case MATCH_BATCH:
        return;
    }
    if (c->output[OUTPUT_LATE].endpoint.kind == ENDPOINT_NONE)
        buf_append_text(to, "; late records are counted, and not written");
}

/* --- the whole --- */

static void write_join(const struct config *c, struct buf *to)
{
    struct buf text = BUF_EMPTY;

    buf_printf(&text, "%s join of %s and %s", join_type_word(c->plan->type), name_of(c, SIDE_LEFT),
               name_of(c, SIDE_RIGHT));
    append_condition(c->plan, &text);
    append_match(c, &text);
    words_end(&text, to);
    append_fates(c, &text);
    words_end(&text, to);
    append_when(c, &text);
    words_end(&text, to);
    buf_done(&text);
}

static void write_time(const struct config *c, struct buf *to)
{
    struct buf text = BUF_EMPTY;

    if (!plan_traits(c->plan)->by_time)
        return;
    append_clock(c->plan, &text);
    words_end(&text, to);
    if (c->plan->time == TIME_EVENT) {
        append_time_of_side(c, SIDE_LEFT, &text);
        words_end(&text, to);
        append_time_of_side(c, SIDE_RIGHT, &text);
        words_end(&text, to);
        append_late(c, &text);
        words_end(&text, to);
    }
    buf_done(&text);
}

/* Whether there are two cores is not known here. */
static void write_threads(const struct config *c, struct buf *to)
{
    struct buf text = BUF_EMPTY;

    buf_append_text(&text, "threads: ");
    if (c->threads != 1 && plan_detaches(c->plan))
        buf_printf(&text, "two%s: the second one joins windows that are over, and makes their rows",
                   c->threads == 0 ? ", where there are two cores" : "");
    else
        buf_append_text(&text, "one");
    if (c->threads == 2 && !plan_detaches(c->plan))
        buf_append_text(&text, ": a second one is of use to tumbling windows without grace only");
    words_end(&text, to);
    buf_done(&text);
}

void config_words(const struct config *c, struct buf *to)
{
    write_join(c, to);
    write_time(c, to);
    words_of_ends(c, to);
    write_threads(c, to);
}
