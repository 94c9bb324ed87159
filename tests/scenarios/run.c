/*
 * Runs scenario scripts (script.h) in virtual time: run [--wrong] FILE.scn ...
 *
 * Each story runs several times: results are pulled at once or late, many or one
 * at a time, with much fuel or little, and the input comes cut or in one piece.
 * None of that may make a difference.
 * With --wrong each story must fail each time: that is the test of this program.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "expect.h"
#include "machine.h"
#include "script.h"

#define PLENTY 1000000 /* of fuel */
#define LONG   5000    /* bytes; more are cut into larger pieces */

struct pattern {
    const char *name;
    bool eager;    /* pull all after each step, not only when something is expected */
    bool nibble;   /* one result after each step */
    size_t max;    /* results a pull */
    int64_t fuel;  /* a pull */
    size_t cut;    /* bytes a read; 0: a line */
    bool gathered; /* lines of the same side and time come in one read */
    uint64_t hash_seed;
};

static const struct pattern patterns[] = {
    {"pulled at once", .eager = true, .max = 64, .fuel = PLENTY, .hash_seed = 1},
    {"pulled late", .max = 64, .fuel = PLENTY, .gathered = true, .hash_seed = 2},
    {"pulled at once, one by one", .eager = true, .max = 1, .fuel = 1, .hash_seed = 3},
    {"pulled late, one by one", .max = 1, .fuel = 1, .hash_seed = 4},
    {"pulled late, with little fuel", .max = 64, .fuel = 3, .gathered = true, .hash_seed = 5},
    {"one pulled each step", .nibble = true, .max = 1, .fuel = 7, .hash_seed = 6},
    {"read byte by byte", .eager = true, .max = 64, .fuel = PLENTY, .cut = 1, .hash_seed = 7},
    {"read in threes, pulled late", .max = 2, .fuel = 5, .cut = 3, .gathered = true,
     .hash_seed = 8},
};

struct run {
    const struct script *script;
    const struct story *story;
    const struct pattern *pattern;
    struct machine *machine;
    struct buf unread; /* lines that are gathered */
    enum side unread_side;
    int64_t unread_ms;
    size_t filled; /* lines that the last fill brought in: all but the one that waits */
    struct buf why;
};

/* --- input --- */

static void read_unread(struct run *r)
{
    size_t n = buf_length(&r->unread), cut = r->pattern->cut;
    if (n == 0)
        return;
    r->machine->cut = n < LONG ? cut : cut * 1000;
    machine_feed(r->machine, r->unread_side, buf_bytes(&r->unread), r->unread_ms);
    buf_clear(&r->unread);
}

/* The text with its counter in place of each `#`. */
static void append_template(const char *text, size_t length, size_t counter, bool count,
                            struct buf *to)
{
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '#' && count)
            buf_printf(to, "%zu", counter);
        else
            buf_append_char(to, text[i]);
    }
}

static enum side only_side(const struct step *step)
{
    return step->sides[SIDE_LEFT] ? SIDE_LEFT : SIDE_RIGHT;
}

static void run_lines(struct run *r, const struct step *step)
{
    enum side side = only_side(step);
    if (side != r->unread_side || step->number != r->unread_ms)
        read_unread(r);
    r->unread_side = side;
    r->unread_ms = step->number;
    for (size_t i = 0; i < step->count; i++) {
        append_template(step->text, step->text_length, i, step->count > 1, &r->unread);
        buf_append_char(&r->unread, '\n');
        if (!r->pattern->gathered)
            read_unread(r);
    }
}

static void run_fill(struct run *r, const struct step *step)
{
    enum side side = only_side(step);
    struct buf line = BUF_EMPTY;
    read_unread(r);
    for (r->filled = 0; !machine_refused(r->machine, side) && r->machine->fault == NULL;
         r->filled++) {
        buf_clear(&line);
        append_template(step->text, step->text_length, r->filled, true, &line);
        buf_append_char(&line, '\n');
        machine_feed(r->machine, side, buf_bytes(&line), step->number);
    }
    r->filled -= machine_refused(r->machine, side);
    buf_done(&line);
}

static void run_end(struct run *r, const struct step *step)
{
    for (int s = 0; s < SIDES; s++)
        if (step->sides[s])
            machine_end(r->machine, s);
}

/* Without fuel in the script: by as many calls as it takes. */
static void run_pull(struct run *r, const struct step *step)
{
    struct machine *m = r->machine;
    int64_t fuel = step->fuel == 0 ? PLENTY : step->fuel;
    if (step->count == 0) {
        machine_drain(m, 64, fuel);
        return;
    }
    for (size_t n = 0; n < step->count && engine_has_work(m->engine) && m->fault == NULL;) {
        n += machine_pull(m, step->count - n, fuel);
        if (step->fuel != 0)
            break;
    }
}

/* --- what has to be --- */

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
               step->number, result_kind_word(step->result), of_kind, got - of_kind);
    return false;
}

/* Each in a group of its own: whether they have one key or many is not known here. */
static bool expect_filled(struct run *r, const struct step *step)
{
    struct expected_row *rows = mem_alloc_zeroed(r->filled, sizeof(*rows));
    struct buf text = BUF_EMPTY;
    for (size_t i = 0; i < r->filled; i++) {
        buf_clear(&text);
        append_template(step->text, step->text_length, i, true, &text);
        rows[i].kind = step->result;
        rows[i].group = i;
        rows[i].text = mem_strdup(buf_text(&text));
    }
    bool fine = match_rows(r, rows, r->filled);
    for (size_t i = 0; i < r->filled; i++)
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
    if (m->reject_count > 0 && m->rejects[0].side == only_side(step) &&
        (any || strcmp(got, step->text) == 0)) {
        machine_forget_rejects(r->machine, 1);
        return true;
    }
    buf_printf(&r->why, "expected a %s record rejected for %s, got %s %s",
               side_word(only_side(step)), step->text, got_side, got);
    return false;
}

static void append_books(const struct books_side *b, uint64_t held, struct buf *to)
{
    buf_printf(to,
               "received=%" PRIu64 " rejected=%" PRIu64 " filtered=%" PRIu64 " late=%" PRIu64
               " matched=%" PRIu64 " unmatched=%" PRIu64 " held=%" PRIu64,
               b->received, b->rejected, b->filtered, b->late, b->matched, b->unmatched, held);
}

static bool expect_books(struct run *r, const struct step *step)
{
    const struct engine *engine = r->machine->engine;
    enum side side = only_side(step);
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

static bool expect_due(struct run *r, const struct step *step)
{
    int64_t got = engine_due(r->machine->engine).ms;
    if (got == step->number)
        return true;
    buf_printf(&r->why, "expected due %" PRId64 ", got %" PRId64, step->number, got);
    return false;
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

/* --- a story --- */

static bool looks(enum step_kind kind)
{
    return kind == STEP_EXPECT || kind == STEP_EXPECT_COUNT || kind == STEP_EXPECT_FILLED ||
           kind == STEP_BOOKS || kind == STEP_DUE || kind == STEP_WAITING;
}

static bool run_step(struct run *r, const struct step *step)
{
    struct machine *m = r->machine;
    if (step->kind != STEP_LINES)
        read_unread(r);
    if (looks(step->kind) && step->kind != STEP_WAITING && !r->story->by_hand)
        machine_drain(m, r->pattern->max, r->pattern->fuel);
    switch (step->kind) {
    case STEP_LINES:
        run_lines(r, step);
        return true;
    case STEP_FILL:
        run_fill(r, step);
        return true;
    case STEP_TICK:
        machine_tick(m, step->number);
        return true;
    case STEP_END:
        run_end(r, step);
        return true;
    case STEP_PULL:
        run_pull(r, step);
        return true;
    case STEP_EXPECT:
        return match_rows(r, step->rows, step->row_count);
    case STEP_EXPECT_COUNT:
        return expect_count(r, step);
    case STEP_EXPECT_FILLED:
        return expect_filled(r, step);
    case STEP_REJECTED:
        return expect_rejected(r, step);
    case STEP_BOOKS:
        return expect_books(r, step);
    case STEP_DUE:
        return expect_due(r, step);
    case STEP_WAITING:
        return expect_waiting(r, step);
    }
    return false;
}

static void pull_as_the_pattern_says(struct run *r)
{
    const struct pattern *p = r->pattern;
    if (r->story->by_hand)
        return;
    if (p->eager)
        machine_drain(r->machine, p->max, p->fuel);
    else if (p->nibble && engine_has_work(r->machine->engine))
        machine_pull(r->machine, p->max, p->fuel);
}

/* Whatever a story did not look at must not be there. */
static bool nothing_left(struct run *r)
{
    read_unread(r);
    if (!r->story->by_hand)
        machine_drain(r->machine, r->pattern->max, r->pattern->fuel);
    if (r->machine->reject_count > 0) {
        buf_printf(&r->why, "a rejected record that no step names");
        return false;
    }
    return match_rows(r, NULL, 0);
}

static bool blame(struct run *r, int line)
{
    const char *fault = r->machine->fault;
    printf("%s:%d: story '%s', %s\n  %s%s%s\n", r->script->path, line, r->story->name,
           r->pattern->name, fault == NULL ? "" : fault,
           fault == NULL || buf_length(&r->why) == 0 ? "" : "\n  ", buf_text(&r->why));
    return false;
}

static bool run_steps(struct run *r)
{
    for (size_t i = 0; i < r->story->step_count; i++) {
        const struct step *step = &r->story->steps[i];
        if (!run_step(r, step) || r->machine->fault != NULL)
            return blame(r, step->line);
        pull_as_the_pattern_says(r);
        if (r->machine->fault != NULL)
            return blame(r, step->line);
    }
    return (nothing_left(r) && r->machine->fault == NULL) || blame(r, r->story->line);
}

static bool run_story(const struct script *script, const struct story *story,
                      const struct pattern *pattern)
{
    struct run r = {.script = script, .story = story, .pattern = pattern};
    struct buf ini = BUF_EMPTY;
    struct diag diag;
    bool fine = false;
    diag_init(&diag);
    script_ini(script, story, &ini);
    r.machine = machine_new(buf_bytes(&ini), pattern->hash_seed, &diag);
    if (r.machine != NULL)
        fine = run_steps(&r);
    else
        printf("%s:%d: story '%s': its configuration is refused\n", script->path, story->line,
               story->name);
    for (size_t i = 0; i < diag.count; i++)
        printf("  %s\n", diag.messages[i].text);
    machine_free(r.machine);
    buf_done(&r.unread);
    buf_done(&r.why);
    buf_done(&ini);
    diag_done(&diag);
    return fine;
}

/* --- files --- */

static bool read_file(const char *path, struct buf *to)
{
    FILE *f = fopen(path, "r");
    if (f == NULL) {
        perror(path);
        return false;
    }
    size_t n;
    do {
        n = fread(buf_reserve(to, 4096), 1, 4096, f);
        buf_advance(to, n);
    } while (n > 0);
    fclose(f);
    return true;
}

/* A story that fails one way fails many ways: the first is told. */
static bool run_all_patterns(const struct script *script, const struct story *story, bool wrong)
{
    for (size_t p = 0; p < sizeof(patterns) / sizeof(patterns[0]); p++) {
        bool fine = run_story(script, story, &patterns[p]);
        if (fine && wrong)
            printf("%s:%d: story '%s', %s: does not fail\n", script->path, story->line, story->name,
                   patterns[p].name);
        if (fine == wrong)
            return false;
    }
    return true;
}

static bool run_script(const char *path, bool wrong)
{
    struct buf file = BUF_EMPTY, why = BUF_EMPTY;
    struct script script = {.path = path};
    bool fine = read_file(path, &file);
    char *text = mem_strdup(buf_text(&file));
    if (fine && !script_read(path, text, &script, &why)) {
        printf("%s\n", buf_text(&why));
        fine = false;
    }
    for (size_t i = 0; i < script.story_count && fine; i++)
        fine = run_all_patterns(&script, &script.stories[i], wrong);
    printf("%s: %s\n", path, fine ? "fine" : "FAILED");
    script_done(&script);
    mem_free(text);
    buf_done(&file);
    buf_done(&why);
    return fine;
}

int main(int argc, char **argv)
{
    bool wrong = argc > 1 && strcmp(argv[1], "--wrong") == 0, fine = true;
    if (argc < 2 + wrong) {
        fprintf(stderr, "usage: run [--wrong] FILE.scn ...\n");
        return 64;
    }
    for (int i = 1 + wrong; i < argc; i++)
        fine = run_script(argv[i], wrong) && fine;
    return fine ? 0 : 1;
}
