#include "machine_parts.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/mem.h"

#define WINDOW_BYTES_MAX 1024

void break_promise(struct machine *m, const char *format, ...)
{
    if (m->fault != NULL)
        return;
    struct buf text = BUF_EMPTY;
    va_list args;
    va_start(args, format);
    buf_vprintf(&text, format, args);
    va_end(args);
    m->fault = mem_strdup(buf_text(&text));
    buf_done(&text);
}

/* --- the books --- */

static void look_at_side(struct machine *m, enum side side)
{
    const struct books_side *b = &engine_books(m->engine)->side[side];
    uint64_t held = engine_held(m->engine, side);
    if (!books_balance(b, held))
        break_promise(m,
                      "%s: received %" PRIu64 " is not rejected %" PRIu64 " + filtered %" PRIu64
                      " + late %" PRIu64 " + matched %" PRIu64 " + unmatched %" PRIu64
                      " + held %" PRIu64,
                      side_word(side), b->received, b->rejected, b->filtered, b->late, b->matched,
                      b->unmatched, held);
    if (b->late != m->late[side] || b->lateness.count != b->late)
        break_promise(m,
                      "%s: %" PRIu64 " late rows counted, %" PRIu64 " seen, %" PRIu64 " measured",
                      side_word(side), b->late, m->late[side], b->lateness.count);
}

void look_at_books(struct machine *m)
{
    const struct books *books = engine_books(m->engine);
    for (int s = 0; s < SIDES; s++)
        look_at_side(m, (enum side)s);
    if (m->aside.unsettled) /* records and results are ahead of the books */
        return;
    if (!engine_books_balance(m->engine))
        break_promise(m, "the books do not balance when held is counted from the records");
    for (int k = 0; k < RESULT_KINDS; k++)
        if (books->results[k] != m->seen[k])
            break_promise(m, "%s: %" PRIu64 " results counted, %" PRIu64 " seen",
                          result_kind_word((enum result_kind)k), books->results[k], m->seen[k]);
    if (books->results_rejected != m->failed)
        break_promise(m, "%" PRIu64 " failed results counted, %" PRIu64 " seen",
                      books->results_rejected, m->failed);
}

void look_at_unchanged_books(struct machine *m, const struct books *before)
{
    if (memcmp(before, engine_books(m->engine), sizeof(*before)) != 0)
        break_promise(m, "a table that is not swapped in has changed the books");
    look_at_books(m);
}

/* --- refusals --- */

/* A batch reads its right side first. */
static bool batch_waits(const struct machine *m, enum side side)
{
    return m->config->plan->match == MATCH_BATCH && side == SIDE_LEFT && !m->feed[SIDE_RIGHT].ended;
}

static bool replay_waits(const struct machine *m, enum side side)
{
    return m->config->plan->replay &&
           engine_holds(m->engine, side_other(side), NULL) != ENGINE_OTHER;
}

/* An engine that refused a row and would say that it takes some more makes its caller spin. */
void look_at_refusal(struct machine *m, enum side side, struct machine_connection *c)
{
    switch (engine_holds(m->engine, side, &c->feed)) {
    case ENGINE_TAKES:
        break_promise(m, "the engine refused a row and says that it takes rows");
        break;
    case ENGINE_FULL:
        if (engine_takes(m->engine))
            break_promise(m, "state is full for this row, and full for nobody");
        look_for_way_out(m);
        break;
    case ENGINE_RESULTS:
        if (!engine_has_work(m->engine))
            break_promise(m, "a row waits for results, and there is no work");
        break;
    case ENGINE_OTHER:
        if (!replay_waits(m, side) && !batch_waits(m, side))
            break_promise(m, "a row waits for the other side, which is not what is next");
        break;
    }
}

/* --- state --- */

/* Would time stand still without more from this connection? */
static bool holds_time_back(const struct machine *m, enum side side,
                            const struct machine_connection *c)
{
    enum side other = side_other(side);
    int64_t own = engine_watermark(m->engine, side).ms;
    bool other_counts = !m->feed[other].ended && !engine_side_idle(m->engine, other);
    if (other_counts && own > engine_watermark(m->engine, other).ms)
        return false;
    return c->feed.highest.ms == INT64_MIN ||
           c->feed.highest.ms - m->config->plan->side[side].delay_ms - 1 <= own;
}

uint64_t state_allowed(const struct machine *m, enum side side, const struct machine_connection *c)
{
    const struct plan *plan = m->config->plan;
    uint64_t max = plan->state_bytes_max, before = engine_state_bytes(m->engine);
    if (plan->time == TIME_EVENT ? holds_time_back(m, side, c)
                                 : plan->match == MATCH_LATEST && side == SIDE_RIGHT)
        max += max / 4;
    return before > max ? before : max;
}

void look_at_state(struct machine *m, uint64_t allowed)
{
    uint64_t bytes = engine_state_bytes(m->engine);
    if (bytes > allowed + WINDOW_BYTES_MAX)
        break_promise(m, "%" PRIu64 " bytes of state, of %" PRIu64 " that are allowed", bytes,
                      allowed);
}

/* In event time the way out may be a record that does not come. */
void look_for_way_out(struct machine *m)
{
    if (m->config->plan->time == TIME_PROCESSING && engine_is_stuck(m->engine))
        break_promise(m, "state is full, and neither pulling nor time can make room");
}

/* --- results --- */

void look_at_the_end_of_work(struct machine *m)
{
    for (int s = 0; s < SIDES; s++)
        for (size_t i = 0; i < MACHINE_CONNECTIONS; i++) {
            const struct machine_connection *c = &m->feed[s].connection[i];
            if (c->decoder != NULL &&
                engine_holds(m->engine, (enum side)s, &c->feed) == ENGINE_RESULTS)
                break_promise(m, "%s: all is pulled, and rows have to wait for results",
                              side_word((enum side)s));
        }
    look_for_way_out(m);
}

void look_at_result(struct machine *m, const struct result *r)
{
    bool left = r->record[SIDE_LEFT] != NULL, right = r->record[SIDE_RIGHT] != NULL;
    bool left_wanted = r->kind != RESULT_RIGHT;
    bool right_wanted =
        r->kind == RESULT_PAIR || r->kind == RESULT_RIGHT || r->kind == RESULT_FAILED;
    if (left != left_wanted || right != right_wanted)
        break_promise(m, "a result of kind %s has %s", machine_kind_word(r->kind),
                      left && right ? "both records"
                      : left        ? "the left record"
                      : right       ? "the right record"
                                    : "no record");
}
