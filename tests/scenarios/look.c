#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "run.h"

void run_template(const char *text, size_t length, size_t counter, bool count, struct buf *to)
{
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '#' && count)
            buf_printf(to, "%zu", counter);
        else
            buf_append_char(to, text[i]);
    }
}

static bool match_rows(struct run *r, const struct expected_row *rows, size_t count)
{
    bool fine = expect_rows(rows, count, r->machine->rows, r->machine->row_count, &r->why);
    machine_forget_rows(r->machine);
    return fine;
}

static bool expect_count(struct run *r, const struct step *step)
{
    size_t got = r->machine->row_count, of_kind = 0;
    for (size_t i = 0; i < got; i++)
        of_kind += r->machine->rows[i].kind == step->result;
    machine_forget_rows(r->machine);
    if (got == of_kind && got == (size_t)step->number)
        return true;
    buf_printf(&r->why, "expected %" PRId64 " rows of kind %s, got %zu and %zu others",
               step->number, machine_kind_word(step->result), of_kind, got - of_kind);
    return false;
}

/* Each in a group of its own: whether they have one key or many is not known here. */
static bool expect_filled(struct run *r, const struct step *step)
{
    size_t count = r->filled + (step->kind == STEP_EXPECT_WAITED);
    struct expected_row *rows = mem_alloc_zeroed(count, sizeof(*rows));
    struct buf text = BUF_EMPTY;
    for (size_t i = 0; i < count; i++) {
        buf_clear(&text);
        run_template(step->text, step->text_length, i, true, &text);
        rows[i].kind = step->result;
        rows[i].group = i;
        rows[i].text = mem_strdup(buf_text(&text));
    }
    bool fine = match_rows(r, rows, count);
    for (size_t i = 0; i < count; i++)
        mem_free(rows[i].text);
    mem_free(rows);
    buf_done(&text);
    return fine;
}

static bool expect_rejected(struct run *r, const struct step *step)
{
    const struct machine *m = r->machine;
    const char *got = m->reject_count == 0 ? "nothing" : reject_word(m->rejects[0].why);
    const char *got_side = m->reject_count == 0 ? "" : side_word(m->rejects[0].side);
    bool any = strcmp(step->text, "any") == 0;
    if (m->reject_count > 0 && m->rejects[0].side == step_side(step) &&
        (any || strcmp(got, step->text) == 0)) {
        machine_forget_rejects(r->machine, 1);
        return true;
    }
    buf_printf(&r->why, "expected a %s record rejected for %s, got %s %s",
               side_word(step_side(step)), step->text, got_side, got);
    return false;
}

static void append_books(const struct books_side *b, uint64_t held, struct buf *to)
{
    buf_printf(to,
               "received=%" PRIu64 " rejected=%" PRIu64 " filtered=%" PRIu64 " late=%" PRIu64
               " matched=%" PRIu64 " unmatched=%" PRIu64 " held=%" PRIu64 " late_windows=%" PRIu64,
               b->received, b->rejected, b->filtered, b->late, b->matched, b->unmatched, held,
               b->late_windows);
}

static bool expect_books(struct run *r, const struct step *step)
{
    const struct engine *engine = r->machine->engine;
    enum side side = step_side(step);
    struct buf expected = BUF_EMPTY, got = BUF_EMPTY;
    append_books(&step->books, step->held, &expected);
    append_books(&engine_books(engine)->side[side], engine_held(engine, side), &got);
    bool fine = strcmp(buf_text(&expected), buf_text(&got)) == 0;
    if (!fine)
        buf_printf(&r->why, "expected books %s %s\n       got %s", side_word(side),
                   buf_text(&expected), buf_text(&got));
    buf_done(&expected);
    buf_done(&got);
    return fine;
}

static bool expect_time(struct run *r, const char *what, int64_t expected, int64_t got)
{
    if (got == expected)
        return true;
    buf_printf(&r->why, "expected %s %" PRId64 ", got %" PRId64, what, expected, got);
    return false;
}

static bool expect_watermark(struct run *r, const struct step *step)
{
    const struct engine *engine = r->machine->engine;
    if (!step->sides[SIDE_LEFT] && !step->sides[SIDE_RIGHT])
        return expect_time(r, "watermark", step->number, engine_time(engine).ms);
    enum side side = step_side(step);
    return expect_time(r, side == SIDE_LEFT ? "left watermark" : "right watermark", step->number,
                       engine_watermark(engine, side).ms);
}

static bool expect_idle(struct run *r, const struct step *step)
{
    for (int s = 0; s < SIDES; s++)
        if (engine_side_idle(r->machine->engine, (enum side)s) != step->sides[s]) {
            buf_printf(&r->why, "the %s side is %sidle", side_word((enum side)s),
                       step->sides[s] ? "not " : "");
            return false;
        }
    return true;
}

static bool expect_waiting(struct run *r, const struct step *step)
{
    for (int s = 0; s < SIDES; s++)
        if (machine_refused(r->machine, s) != step->sides[s]) {
            buf_printf(&r->why, "%s lines %s to wait", side_word(s),
                       step->sides[s] ? "do not have" : "have");
            return false;
        }
    return true;
}

static bool expect_late(struct run *r, const struct step *step)
{
    const struct machine_late *got = r->machine->late_count == 0 ? NULL : r->machine->lates;
    if (got != NULL && got->side == step_side(step) && strcmp(got->line, step->text) == 0) {
        machine_forget_lates(r->machine, 1);
        return true;
    }
    buf_printf(&r->why, "expected %s %s to be late, got %s %s", side_word(step_side(step)),
               step->text, got == NULL ? "nobody" : side_word(got->side),
               got == NULL ? "" : got->line);
    return false;
}

static bool expect_fault(struct run *r, const struct step *step)
{
    struct buf *fault = &r->machine->table.fault;
    bool fine = strstr(buf_text(fault), step->text) != NULL;
    if (!fine)
        buf_printf(&r->why, "expected a table with a fault: %s\n       got %s", step->text,
                   buf_length(fault) == 0 ? "none" : buf_text(fault));
    buf_clear(fault);
    return fine;
}

bool run_look(struct run *r, const struct step *step)
{
    const struct machine *m = r->machine;
    switch (step->kind) {
    case STEP_EXPECT:
        return match_rows(r, step->rows, step->row_count);
    case STEP_EXPECT_COUNT:
        return expect_count(r, step);
    case STEP_EXPECT_FILLED:
    case STEP_EXPECT_WAITED:
        return expect_filled(r, step);
    case STEP_REJECTED:
        return expect_rejected(r, step);
    case STEP_LATE:
        return expect_late(r, step);
    case STEP_FAULT:
        return expect_fault(r, step);
    case STEP_BOOKS:
        return expect_books(r, step);
    case STEP_DUE:
        return expect_time(r, "due", step->number, engine_due(m->engine).ms);
    case STEP_WAKE:
        return expect_time(r, "wake", step->number, engine_wake(m->engine).ms);
    case STEP_WATERMARK:
        return expect_watermark(r, step);
    case STEP_IDLE:
        return expect_idle(r, step);
    case STEP_WAITING:
        return expect_waiting(r, step);
    default:
        return false;
    }
}

bool run_look_at_table(struct run *r)
{
    struct buf *fault = &r->machine->table.fault;
    if (buf_length(fault) == 0)
        return true;
    buf_printf(&r->why, "a table with a fault that no step names: %s", buf_text(fault));
    return false;
}

bool run_look_at_rest(struct run *r)
{
    if (!run_look_at_table(r))
        return false;
    if (r->machine->reject_count > 0) {
        buf_printf(&r->why, "a rejected record that no step names");
        return false;
    }
    if (r->machine->late_count > 0) {
        buf_printf(&r->why, "a late record that no step names: %s %s",
                   side_word(r->machine->lates[0].side), r->machine->lates[0].line);
        return false;
    }
    return match_rows(r, NULL, 0);
}
