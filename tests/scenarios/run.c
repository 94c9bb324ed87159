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
#include "run.h"

#define PLENTY 1000000 /* of fuel */
#define LONG   5000    /* bytes; more are cut into larger pieces */

static const struct run_pattern patterns[] = {
    {"pulled at once", .eager = true, .max = 64, .fuel = PLENTY, .hash_seed = 1},
    {"pulled late", .max = 64, .fuel = PLENTY, .gathered = true, .hash_seed = 2},
    {"pulled at once, one by one", .eager = true, .max = 1, .fuel = 1, .hash_seed = 3},
    {"pulled late, one by one", .max = 1, .fuel = 1, .hash_seed = 4},
    {"pulled late, with little fuel", .max = 64, .fuel = 3, .gathered = true, .hash_seed = 5},
    {"one pulled each step", .nibble = true, .max = 1, .fuel = 7, .hash_seed = 6},
    {"read byte by byte", .eager = true, .max = 64, .fuel = PLENTY, .cut = 1, .hash_seed = 7},
    {"read in threes, pulled late", .max = 2, .fuel = 5, .cut = 3, .gathered = true,
     .hash_seed = 8},
    {"fired aside", .eager = true, .max = 64, .fuel = PLENTY, .aside = true, .hash_seed = 9},
    {"fired aside late, bit by bit", .max = 2, .fuel = 3, .aside = true, .hash_seed = 10},
};

/* --- input --- */

static void read_unread(struct run *r)
{
    size_t n = buf_length(&r->unread), cut = r->pattern->cut;
    if (n == 0)
        return;
    r->machine->cut = n < LONG ? cut : cut * 1000;
    machine_feed_from(r->machine, r->unread_side, r->unread_connection, buf_bytes(&r->unread));
    buf_clear(&r->unread);
}

static void set_time(struct run *r, const struct step *step)
{
    if (step->timed)
        machine_go_to(r->machine, step->number);
}

static void run_lines(struct run *r, const struct step *step)
{
    enum side side = step_side(step);
    bool same_time = !step->timed || step->number == r->machine->now_ms;
    if (side != r->unread_side || step->connection != r->unread_connection || !same_time)
        read_unread(r);
    set_time(r, step);
    r->unread_side = side;
    r->unread_connection = step->connection;
    for (size_t i = 0; i < step->count; i++) {
        run_template(step->text, step->text_length, i, step->count > 1, &r->unread);
        buf_append_char(&r->unread, '\n');
        if (!r->pattern->gathered)
            read_unread(r);
    }
}

static void run_fill(struct run *r, const struct step *step)
{
    struct machine *m = r->machine;
    enum side side = step_side(step);
    struct buf line = BUF_EMPTY;
    set_time(r, step);
    m->cut = r->pattern->cut;
    for (r->filled = 0; !machine_refused(m, side) && m->fault == NULL; r->filled++) {
        buf_clear(&line);
        run_template(step->text, step->text_length, r->filled, true, &line);
        buf_append_char(&line, '\n');
        machine_feed_from(m, side, step->connection, buf_bytes(&line));
    }
    r->filled -= machine_refused(m, side);
    buf_done(&line);
}

/* The line of which nothing but its time is there. */
static bool append_time_line(struct run *r, enum side side, int64_t watermark_ms, struct buf *to)
{
    const struct plan_side *plan = &r->machine->config->plan->side[side];
    if (plan->timestamp == NULL || plan->timestamp->kind != EXPR_FIELD) {
        buf_printf(&r->why, "wm: the timestamp has to be a field");
        return false;
    }
    for (size_t i = 0; i < plan->schema.count; i++) {
        buf_append_text(to, i == 0 ? "" : ",");
        if (i == plan->timestamp->field)
            buf_printf(to, "%" PRId64, watermark_ms + plan->delay_ms + 1);
    }
    buf_append_char(to, '\n');
    return true;
}

static bool run_wm_of(struct run *r, enum side side, int64_t watermark_ms)
{
    const struct books_side *books = &engine_books(r->machine->engine)->side[side];
    uint64_t filtered = books->filtered;
    struct buf line = BUF_EMPTY;
    bool fine = append_time_line(r, side, watermark_ms, &line);
    if (fine)
        machine_feed_from(r->machine, side, 0, buf_bytes(&line));
    if (fine && books->filtered != filtered + 1) {
        buf_printf(&r->why, "wm: `where` of the %s side did not filter %s", side_word(side),
                   buf_text(&line));
        fine = false;
    }
    buf_done(&line);
    return fine;
}

static bool run_wm(struct run *r, const struct step *step)
{
    struct machine *m = r->machine;
    for (int s = 0; s < SIDES; s++)
        if (!m->feed[s].ending && !run_wm_of(r, (enum side)s, step->number))
            return false;
    if (engine_time(m->engine).ms == step->number)
        return true;
    buf_printf(&r->why, "wm: time is %" PRId64, engine_time(m->engine).ms);
    return false;
}

static void run_end(struct run *r, const struct step *step)
{
    for (int s = 0; s < SIDES; s++)
        if (step->sides[s])
            machine_end(r->machine, (enum side)s);
}

static void run_table(struct run *r, const struct step *step)
{
    bool fine = machine_load(r->machine, (struct bytes){step->text, step->text_length});
    if (fine && step->kind == STEP_TABLE)
        machine_swap(r->machine);
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

/* --- a story --- */

/* Steps at which all that there is has been pulled. */
static bool looks(enum step_kind kind)
{
    return kind == STEP_EXPECT || kind == STEP_EXPECT_COUNT || kind == STEP_EXPECT_FILLED ||
           kind == STEP_EXPECT_WAITED || kind == STEP_BOOKS || kind == STEP_DUE ||
           kind == STEP_WAKE || kind == STEP_WATERMARK || kind == STEP_IDLE;
}

static void run_event(struct run *r, const struct step *step)
{
    struct machine *m = r->machine;
    enum side side = step_side(step);
    switch (step->kind) {
    case STEP_LINES:
        run_lines(r, step);
        return;
    case STEP_FILL:
        run_fill(r, step);
        return;
    case STEP_TICK:
        machine_tick(m, step->number);
        return;
    case STEP_CLOCK:
        machine_clock(m, step->number);
        return;
    case STEP_MONO:
        machine_mono(m, step->number);
        return;
    case STEP_OPEN:
        machine_open(m, side, step->connection);
        return;
    case STEP_CLOSE:
        machine_close(m, side, step->connection);
        return;
    case STEP_HOLD:
        machine_hold(m, side);
        return;
    case STEP_RELEASE:
        machine_release(m, side);
        return;
    case STEP_END:
        run_end(r, step);
        return;
    case STEP_TABLE:
    case STEP_LOAD:
        run_table(r, step);
        return;
    case STEP_SWAP:
        machine_swap(m);
        return;
    case STEP_DROP:
        machine_drop(m);
        return;
    default:
        run_pull(r, step);
        return;
    }
}

static bool run_step(struct run *r, const struct step *step)
{
    if (step->kind != STEP_LINES)
        read_unread(r);
    if (step->kind < STEP_EXPECT && !run_look_at_table(r))
        return false;
    if (looks(step->kind) && !r->story->by_hand)
        machine_drain(r->machine, r->pattern->max, r->pattern->fuel);
    if (step->kind == STEP_WM)
        return run_wm(r, step);
    if (step->kind >= STEP_EXPECT)
        return run_look(r, step);
    run_event(r, step);
    return true;
}

static void pull_as_the_pattern_says(struct run *r)
{
    const struct run_pattern *p = r->pattern;
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
    return run_look_at_rest(r);
}

static bool blame(struct run *r, int line)
{
    const char *fault = r->machine->fault;
    printf("%s:%d: story '%s', %s\n  %s%s%s\n", r->path, line, r->story->name, r->pattern->name,
           fault == NULL ? "" : fault, fault == NULL || buf_length(&r->why) == 0 ? "" : "\n  ",
           buf_text(&r->why));
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

static void prepare(struct run *r)
{
    r->machine->by_hand = r->story->by_hand;
    r->machine->pull_max = r->pattern->max;
    r->machine->pull_fuel = r->pattern->fuel;
    machine_fires_aside(r->machine, r->pattern->aside);
}

static bool run_story(const struct script *script, const struct story *story,
                      const struct run_pattern *pattern)
{
    struct run r = {.story = story, .pattern = pattern, .path = script->path};
    struct buf ini = BUF_EMPTY;
    struct diag diag;
    bool fine = false;
    diag_init(&diag);
    script_ini(script, story, &ini);
    r.machine = machine_new(buf_bytes(&ini), pattern->hash_seed, &diag);
    if (r.machine != NULL) {
        prepare(&r);
        fine = run_steps(&r);
    } else {
        printf("%s:%d: story '%s': its configuration is refused\n", script->path, story->line,
               story->name);
    }
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
    size_t count = fine ? script.story_count : 0;
    for (size_t i = 0; i < count; i++)
        fine = run_all_patterns(&script, &script.stories[i], wrong) && fine;
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
