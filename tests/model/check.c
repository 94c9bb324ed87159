#include "check.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "scenarios/expect.h"
#include "scenarios/machine.h"

#define PLENTY 1000000 /* of fuel */

struct check {
    const struct scene *scene;
    struct machine *machine;
    struct reference *reference;
    size_t *lines[SIDES]; /* owned; the rows' ids in the order in which they were sent */
    size_t sent[SIDES], taken[SIDES];
    struct buf unread; /* glued lines */
    size_t settled;    /* results of the reference that have been compared */
    bool refused;      /* a row was, at some time */
    struct buf *why;   /* not empty: they differ */
};

static bool differ(struct check *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool differ(struct check *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (buf_length(c->why) == 0)
        buf_vprintf(c->why, format, args);
    va_end(args);
    return false;
}

/* --- the reference is told what the engine was told --- */

static bool tell_rows(struct check *c, const struct machine_entry *entry)
{
    enum side side = entry->side;
    struct ref_record record;
    for (size_t i = 0; i < entry->rows; i++) {
        if (c->taken[side] == c->sent[side])
            return differ(c, "%s: more rows than lines", side_word(side));
        scene_record(c->scene, c->lines[side][c->taken[side]++], &record);
        ref_take(c->reference, &record, entry->now_ms);
    }
    ref_time(c->reference, entry->now_ms);
    return true;
}

static bool tell(struct check *c)
{
    struct machine *m = c->machine;
    for (size_t i = 0; i < m->log_count && buf_length(c->why) == 0; i++) {
        if (m->log[i].ended)
            ref_end(c->reference, (enum ref_side)m->log[i].side);
        else
            tell_rows(c, &m->log[i]);
    }
    machine_forget_log(m);
    if (m->fault != NULL)
        differ(c, "%s", m->fault);
    return buf_length(c->why) == 0;
}

/* --- the books --- */

static bool same_books(struct check *c, enum side side, bool settled)
{
    struct ref_books r = ref_books(c->reference, (enum ref_side)side);
    const struct books_side *b = &engine_books(c->machine->engine)->side[side];
    long held = (long)engine_held(c->machine->engine, side);
    bool same = (long)b->received == r.received && (long)b->rejected == r.rejected &&
                (long)b->filtered == r.filtered && b->late == 0;
    /* The walk decides when it comes by; the reference when the window is due. */
    same = same && held >= r.held && (long)b->matched <= r.matched &&
           (long)b->unmatched <= r.unmatched;
    if (settled)
        same = same && held == r.held && (long)b->matched == r.matched &&
               (long)b->unmatched == r.unmatched;
    if (!same)
        differ(c,
               "%s: received %ld, rejected %ld, filtered %ld, matched %ld, unmatched %ld, held %ld "
               "expected%s,\n    got %" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64
               ", %ld (late %" PRIu64 ")",
               side_word(side), r.received, r.rejected, r.filtered, r.matched, r.unmatched, r.held,
               settled ? "" : " (when all is pulled)", b->received, b->rejected, b->filtered,
               b->matched, b->unmatched, held, b->late);
    return same;
}

static bool same_due(struct check *c)
{
    int64_t got = engine_due(c->machine->engine).ms;
    long long expected;
    if (!ref_due(c->reference, &expected))
        expected = INT64_MAX;
    /* A row that was refused may have opened its window. */
    if (got == expected || (c->refused && got < expected))
        return true;
    return differ(c, "due at %lld expected, got %" PRId64, expected, got);
}

static bool compare(struct check *c, bool settled)
{
    return tell(c) && same_books(c, SIDE_LEFT, settled) && same_books(c, SIDE_RIGHT, settled) &&
           same_due(c);
}

/* --- the results --- */

static enum result_kind kind_of(enum ref_kind kind)
{
    switch (kind) {
    case REF_PAIR:
        return RESULT_PAIR;
    case REF_PADDED_LEFT:
        return RESULT_LEFT;
    case REF_PADDED_RIGHT:
        return RESULT_RIGHT;
    case REF_SEMI_ROW:
        return RESULT_SEMI;
    case REF_ANTI_ROW:
        return RESULT_ANTI;
    }
    return RESULT_PAIR;
}

static struct expected_row expected_of(const struct scene *s, const struct ref_result *r)
{
    struct buf text = BUF_EMPTY, records = BUF_EMPTY;
    scene_row_text(s, r, &text);
    scene_records_text(s, r, &records);
    struct expected_row row = {
        .kind = kind_of(r->kind),
        .group = (size_t)r->group,
        .windowed = true,
        .window_start = r->start,
        .window_end = r->end,
        .text = mem_strdup(buf_text(&text)),
        .records = mem_strdup(buf_text(&records)),
    };
    buf_done(&text);
    buf_done(&records);
    return row;
}

static bool same_results(struct check *c)
{
    size_t count;
    const struct ref_result *results = ref_results(c->reference, &count);
    size_t n = count - c->settled;
    struct expected_row *rows = mem_alloc(n * sizeof(*rows));
    struct buf why = BUF_EMPTY;
    for (size_t i = 0; i < n; i++) {
        rows[i] = expected_of(c->scene, &results[c->settled + i]);
        bool next = i > 0 && rows[i].window_start != rows[i - 1].window_start;
        rows[i].section = i == 0 ? 0 : rows[i - 1].section + next;
    }
    bool same = expect_rows(rows, n, c->machine->rows, c->machine->row_count, &why);
    if (!same)
        differ(c, "%s", buf_text(&why));
    for (size_t i = 0; i < n; i++) {
        mem_free(rows[i].text);
        mem_free(rows[i].records);
    }
    mem_free(rows);
    buf_done(&why);
    c->settled = count;
    machine_forget_rows(c->machine);
    return same;
}

static bool settle(struct check *c)
{
    machine_drain(c->machine, 64, PLENTY);
    return tell(c) && same_results(c) && compare(c, true);
}

/* --- events --- */

static void send_row(struct check *c, size_t id)
{
    const struct event *e = &c->scene->events[id], *next = e + 1;
    bool last = id + 1 == c->scene->event_count;
    c->lines[e->side][c->sent[e->side]++] = id;
    scene_line(c->scene, id, &c->unread);
    buf_append_char(&c->unread, '\n');
    if (e->glued && !last && next->kind == EVENT_ROW && next->side == e->side)
        return;
    machine_feed(c->machine, (enum side)e->side, buf_bytes(&c->unread), e->time);
    buf_clear(&c->unread);
    c->refused = c->refused || machine_refused(c->machine, (enum side)e->side);
}

static bool run_event(struct check *c, size_t id)
{
    const struct event *e = &c->scene->events[id];
    switch (e->kind) {
    case EVENT_ROW:
        send_row(c, id);
        break;
    case EVENT_TICK:
        ref_time(c->reference, e->time);
        machine_tick(c->machine, e->time);
        break;
    case EVENT_PULL:
        machine_pull(c->machine, e->max, e->fuel);
        break;
    case EVENT_SETTLE:
        return settle(c);
    case EVENT_END:
        machine_end(c->machine, (enum side)e->side);
        break;
    }
    return compare(c, false);
}

static bool all_ended(const struct machine *m)
{
    return m->feed[SIDE_LEFT].ended && m->feed[SIDE_RIGHT].ended;
}

/* Lines that wait for room go in as windows end; then nothing may be left. */
static bool run_to_the_end(struct check *c)
{
    for (int s = 0; s < SIDES; s++)
        machine_end(c->machine, s);
    while (!all_ended(c->machine)) {
        if (!settle(c))
            return false;
        int64_t due = engine_due(c->machine->engine).ms;
        if (all_ended(c->machine))
            break;
        if (due == INT64_MAX)
            return differ(c, "lines wait, and nothing is due");
        ref_time(c->reference, due);
        machine_tick(c->machine, due);
    }
    if (!settle(c))
        return false;
    for (int s = 0; s < SIDES; s++)
        if (c->taken[s] != c->sent[s])
            return differ(c, "%s: %zu lines, %zu rows", side_word(s), c->sent[s], c->taken[s]);
    return true;
}

static bool run(struct check *c)
{
    for (size_t i = 0; i < c->scene->event_count; i++)
        if (!run_event(c, i)) {
            buf_printf(c->why, "\n    at event %zu of %zu", i, c->scene->event_count);
            return false;
        }
    if (!run_to_the_end(c)) {
        buf_append_text(c->why, "\n    at the end");
        return false;
    }
    return true;
}

bool check_scene(const struct scene *scene, struct buf *ret_why)
{
    struct check c = {.scene = scene, .why = ret_why};
    struct buf ini = BUF_EMPTY;
    struct diag diag;
    bool fine = false;
    diag_init(&diag);
    scene_ini(scene, &ini);
    c.machine = machine_new(buf_bytes(&ini), scene->hash_seed, &diag);
    c.reference = ref_new(&scene->plan);
    for (int s = 0; s < SIDES; s++)
        c.lines[s] = mem_alloc((scene->event_count + 1) * sizeof(*c.lines[s]));
    if (c.machine == NULL) {
        differ(&c, "the configuration is refused: %s",
               diag_any(&diag) ? diag.messages[0].text : "");
    } else {
        c.machine->cut = scene->cut;
        fine = run(&c);
    }
    for (int s = 0; s < SIDES; s++)
        mem_free(c.lines[s]);
    buf_done(&c.unread);
    ref_free(c.reference);
    machine_free(c.machine);
    buf_done(&ini);
    diag_done(&diag);
    return fine;
}
