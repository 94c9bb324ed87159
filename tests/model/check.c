#include "check.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "check_rows.h"
#include "scenarios/machine.h"

#define PLENTY     1000000 /* of fuel */
#define STOPS_EACH 10      /* for a record, at most: it fires, closes, expires, ... */

/* The rows of one connection that were sent, by their events; in order, as they must be taken. */
struct line_list {
    size_t *ids; /* owned */
    size_t sent, taken;
};

struct check {
    const struct scene *scene;
    struct machine *machine;
    struct reference *reference;
    struct line_list lines[SIDES][MACHINE_CONNECTIONS];
    size_t *table; /* owned; lookup: the rows of the next table, by their events */
    size_t table_rows;
    bool swapping;      /* results of the old table were still to be pulled */
    int turn;           /* replay: the side whose row waits; or NONE */
    struct buf unread;  /* glued lines */
    struct feed *feeds; /* owned; what connections were after a push, by the machine's log */
    size_t feed_capacity;
    size_t settled;  /* results of the reference that have been compared, */
    size_t late;     /* and late records */
    bool refused;    /* a row was, at some time */
    struct buf *why; /* not empty: they differ */
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

/* Whose engine is pushed to. */
static struct check *watched;

size_t __real_engine_push(struct engine *e, enum side side, struct batch *b, size_t from,
                          struct stream_time now);
size_t __wrap_engine_push(struct engine *e, enum side side, struct batch *b, size_t from,
                          struct stream_time now);

/* Stands before engine_push() (--wrap): what the connection has become is kept for the entry that
 * the machine will write next. So it is known whether the engine has seen the time of a row that
 * it could not take. */
size_t __wrap_engine_push(struct engine *e, enum side side, struct batch *b, size_t from,
                          struct stream_time now)
{
    size_t taken = __real_engine_push(e, side, b, from, now), at = watched->machine->log_count;
    if (at >= watched->feed_capacity) {
        watched->feed_capacity = at * 2 + 16;
        watched->feeds =
            mem_realloc(watched->feeds, watched->feed_capacity * sizeof(*watched->feeds));
    }
    watched->feeds[at] = *b->feed;
    return taken;
}

/* Time has gone on by a row that waits. */
static void tell_shown(struct check *c, const struct machine_entry *entry)
{
    struct line_list *lines = &c->lines[entry->side][entry->connection];
    const struct feed *feed = &c->feeds[entry - c->machine->log];
    struct ref_record record;
    if (!c->scene->plan.event_time || lines->taken == lines->sent ||
        feed->last.ms != entry->mono_ms || feed->idle)
        return;
    scene_record(c->scene, lines->ids[lines->taken], &record);
    if (record.time > feed->highest.ms)
        return;
    long long before = 0, after = 0;
    ref_own_time(c->reference, (enum ref_side)entry->side, &before);
    ref_show(c->reference, &record);
    ref_own_time(c->reference, (enum ref_side)entry->side, &after);
    if (before != after)
        c->turn = (int)entry->side;
}

/* Replay: a row that waits keeps its turn. */
static bool has_turn(struct check *c, enum side side)
{
    bool promised = c->turn != NONE, has = c->turn == (int)side;
    c->turn = NONE;
    return !c->scene->replay || has ||
           (!promised && ref_is_next(c->reference, (enum ref_side)side));
}

static bool tell_rows(struct check *c, const struct machine_entry *entry)
{
    struct line_list *lines = &c->lines[entry->side][entry->connection];
    struct ref_record record;
    ref_wall(c->reference, entry->now_ms);
    for (size_t i = 0; i < entry->rows; i++) {
        if (lines->taken == lines->sent)
            return differ(c, "%s: more rows than lines", side_word(entry->side));
        if (!ref_takes(c->reference, (enum ref_side)entry->side))
            return differ(c, "a left row, and the right side has not ended");
        if (!has_turn(c, entry->side))
            return differ(c, "%s: a row, and it is not its turn", side_word(entry->side));
        scene_record(c->scene, lines->ids[lines->taken++], &record);
        ref_take(c->reference, &record);
    }
    tell_shown(c, entry);
    return true;
}

static void tell_entry(struct check *c, const struct machine_entry *entry)
{
    struct reference *r = c->reference;
    enum ref_side side = (enum ref_side)entry->side;
    int feed = (int)entry->connection;
    switch (entry->what) {
    case TOLD_ROWS:
        tell_rows(c, entry);
        break;
    case TOLD_OPEN:
        ref_open(r, side, feed);
        break;
    case TOLD_CLOSE:
        ref_close(r, side, feed);
        break;
    case TOLD_END:
        ref_end(r, side);
        break;
    case TOLD_CLOCK:
        ref_wall(r, entry->now_ms);
        break;
    case TOLD_MONO:
        ref_mono(r, entry->mono_ms);
        break;
    case TOLD_ANEW:
        ref_count_idle_anew(r);
        break;
    case TOLD_UNREAD:
        ref_unread(r, side, feed, entry->unread);
        break;
    }
}

/* latest: with wait = forever nobody makes room any more when the right side has ended. */
static bool waits_for_ever(const struct check *c)
{
    const struct ref_plan *p = &c->scene->plan;
    return p->match == REF_LATEST && !p->event_time && p->wait == REF_OFF &&
           c->machine->feed[SIDE_RIGHT].ending &&
           strstr(c->machine->fault, "state is full") != NULL;
}

static bool tell(struct check *c)
{
    struct machine *m = c->machine;
    for (size_t i = 0; i < m->log_count && buf_length(c->why) == 0; i++)
        tell_entry(c, &m->log[i]);
    machine_forget_log(m);
    if (m->fault != NULL && !waits_for_ever(c))
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
                (long)b->filtered == r.filtered && (long)b->late == r.late &&
                (long)b->late_windows == r.late_windows;
    /* The walk decides when it comes by; the reference when the window is due. */
    same = same && held >= r.held && (long)b->matched <= r.matched &&
           (long)b->unmatched <= r.unmatched;
    /* Rows of a table are received when it is swapped in: after the old one's results. */
    if (c->swapping && side == SIDE_RIGHT && !settled)
        same = true;
    if (settled)
        same = same && held == r.held && (long)b->matched == r.matched &&
               (long)b->unmatched == r.unmatched;
    if (!same)
        differ(c,
               "%s: received %ld, rejected %ld, filtered %ld, late %ld (windows %ld), matched %ld, "
               "unmatched %ld, held %ld expected%s,\n    got %" PRIu64 ", %" PRIu64 ", %" PRIu64
               ", %" PRIu64 " (%" PRIu64 "), %" PRIu64 ", %" PRIu64 ", %ld",
               side_word(side), r.received, r.rejected, r.filtered, r.late, r.late_windows,
               r.matched, r.unmatched, r.held, settled ? "" : " (when all is pulled)", b->received,
               b->rejected, b->filtered, b->late, b->late_windows, b->matched, b->unmatched, held);
    return same;
}

/* --- time --- */

/* Processing time. The engine may ask to be woken for less than the reference, never later. */
static bool same_due(struct check *c)
{
    int64_t got = engine_due(c->machine->engine).ms;
    long long expected;
    if (got > INT64_MAX / 2) /* for ever, from a time below zero on */
        got = INT64_MAX;
    if (!ref_due(c->reference, &expected))
        expected = INT64_MAX;
    /* A row that was refused may have opened its window. */
    bool exact = c->scene->plan.match == REF_TUMBLING && !c->refused;
    if (c->scene->plan.match == REF_LATEST) /* who waits leaves when what it gives is pulled */
        exact = !c->refused && !engine_has_work(c->machine->engine);
    if (got == expected || (!exact && got < expected))
        return true;
    /* What comes after that which is due already need not be known before it is pulled. */
    if (c->scene->plan.match == REF_SESSION && engine_has_work(c->machine->engine))
        return true;
    return differ(c, "due at %lld expected, got %" PRId64, expected, got);
}

static bool same_side_time(struct check *c, enum side side)
{
    struct engine *e = c->machine->engine;
    long long own;
    int64_t got = engine_watermark(e, side).ms;
    if (!ref_own_time(c->reference, (enum ref_side)side, &own))
        own = INT64_MIN;
    if (got != own)
        return differ(c, "%s: watermark %lld expected, got %" PRId64, side_word(side), own, got);
    bool idle = ref_is_idle(c->reference, (enum ref_side)side);
    if (idle != engine_side_idle(e, side) && !c->machine->feed[side].ended)
        return differ(c, "%s: idle %d expected, got %d", side_word(side), idle, !idle);
    return true;
}

static bool same_time(struct check *c)
{
    long long expected;
    int64_t got = engine_time(c->machine->engine).ms;
    if (!c->scene->plan.event_time)
        return same_due(c);
    if (!ref_time(c->reference, &expected))
        expected = INT64_MIN;
    if (got != expected)
        return differ(c, "time %lld expected, got %" PRId64, expected, got);
    return same_side_time(c, SIDE_LEFT) && same_side_time(c, SIDE_RIGHT);
}

static bool compare(struct check *c, bool settled)
{
    return tell(c) && same_time(c) && same_books(c, SIDE_LEFT, settled) &&
           same_books(c, SIDE_RIGHT, settled);
}

/* --- the results --- */

/* Those whose fate is late, in order. */
static bool same_lates(struct check *c)
{
    size_t count;
    const int *lates = ref_lates(c->reference, &count);
    struct machine *m = c->machine;
    bool same = count - c->late == m->late_count;
    struct buf line = BUF_EMPTY;
    for (size_t i = 0; i < m->late_count && same; i++) {
        const struct event *e = &c->scene->events[lates[c->late + i]];
        buf_clear(&line);
        scene_line(c->scene, (size_t)lates[c->late + i], &line);
        size_t n = buf_length(&line) - e->row.cr;
        same = (int)m->lates[i].side == e->side && strlen(m->lates[i].line) == n &&
               memcmp(m->lates[i].line, buf_data(&line), n) == 0;
        if (!same)
            differ(c, "late: %s expected, got %s", buf_text(&line), m->lates[i].line);
    }
    if (!same)
        differ(c, "%zu late records expected, got %zu", count - c->late, m->late_count);
    buf_done(&line);
    c->late = count;
    machine_forget_lates(m, m->late_count);
    return same;
}

static bool same_results(struct check *c)
{
    size_t count;
    const struct ref_result *results = ref_results(c->reference, &count);
    const struct ref_result *from = results == NULL ? NULL : results + c->settled;
    bool same = check_rows(c->scene, from, count - c->settled, c->machine, c->why);
    c->settled = count;
    machine_forget_rows(c->machine);
    return same;
}

static bool settle(struct check *c)
{
    machine_drain(c->machine, 64, PLENTY);
    c->swapping = false;
    return tell(c) && same_results(c) && same_lates(c) && compare(c, true);
}

/* --- events --- */

/* The next instant at which the engine, or the reference, has to be told the clock. */
static int64_t next_instant(const struct check *c)
{
    int64_t wake = engine_wake(c->machine->engine).ms;
    int64_t silence = ref_next_silence(c->reference);
    return silence < wake ? silence : wake;
}

/* Event time: the clock stops where somebody has to be told. */
static bool go_to(struct check *c, int64_t time)
{
    struct machine *m = c->machine;
    int64_t target = m->mono_ms + (time > m->now_ms ? time - m->now_ms : 0);
    for (size_t stops = 0; c->scene->plan.event_time; stops++) {
        int64_t next = next_instant(c);
        if (next >= target)
            break;
        if (next <= m->mono_ms && engine_has_work(m->engine))
            break; /* first things first */
        if (next < m->mono_ms)
            return differ(c, "wants to be woken at %" PRId64 ", and it is %" PRId64 " already",
                          next, m->mono_ms);
        if (stops > STOPS_EACH * (c->scene->event_count + 1))
            return differ(c, "was woken %zu times on the way to %" PRId64 ", now at %" PRId64,
                          stops, target, next);
        machine_tick(m, m->now_ms + (next - m->mono_ms));
        if (!tell(c) || !same_time(c))
            return false;
    }
    machine_go_to(m, time);
    return tell(c);
}

/* A connection that is still closing takes no more; nor does a side that has ended. */
static bool takes_lines(const struct check *c, const struct event *e)
{
    const struct machine_feed *feed = &c->machine->feed[e->side];
    return !feed->ending && !feed->connection[e->feed].closing;
}

static bool is_of_table(const struct check *c, const struct event *e)
{
    return c->scene->plan.match == REF_LOOKUP && e->side == REF_SIDE_RIGHT;
}

static void show_table(struct check *c, struct buf *text)
{
    struct ref_record record;
    for (size_t i = 0; i < c->table_rows; i++) {
        scene_line(c->scene, c->table[i], text);
        buf_append_char(text, '\n');
        scene_record(c->scene, c->table[i], &record);
        ref_table_row(c->reference, &record);
    }
    c->table_rows = 0;
}

/* The new table is read, and takes the place of the old one. */
static bool swap_table(struct check *c)
{
    struct machine *m = c->machine;
    struct buf text = BUF_EMPTY;
    if (c->swapping && !settle(c)) /* else the one that waits is never swapped in */
        return false;
    show_table(c, &text);
    bool fine = machine_load(m, buf_bytes(&text));
    buf_done(&text);
    if (!tell(c))
        return false;
    const char *fault = buf_text(&m->table.fault);
    bool fits = c->scene->state_bytes == 0 || strstr(fault, "state.memory") == NULL;
    ref_wall(c->reference, m->now_ms);
    bool expected = ref_table_swap(c->reference, fits);
    if (fine != expected && fits)
        return differ(c, "a table that is %s: %s", expected ? "right" : "wrong", fault);
    c->swapping = fine && engine_has_work(m->engine);
    if (fine)
        machine_swap(m);
    return true;
}

static bool send_row(struct check *c, size_t id)
{
    const struct event *e = &c->scene->events[id];
    if (is_of_table(c, e)) {
        c->table[c->table_rows++] = id;
        return true;
    }
    struct line_list *lines = &c->lines[e->side][e->feed];
    if (takes_lines(c, e)) {
        lines->ids[lines->sent++] = id;
        scene_line(c->scene, id, &c->unread);
        buf_append_char(&c->unread, '\n');
    }
    if (scene_is_glued(c->scene, id) || buf_length(&c->unread) == 0)
        return true;
    if (!go_to(c, e->time))
        return false;
    machine_feed_from(c->machine, (enum side)e->side, (size_t)e->feed, buf_bytes(&c->unread));
    buf_clear(&c->unread);
    c->refused = c->refused || machine_refused(c->machine, (enum side)e->side);
    return true;
}

static bool tick(struct check *c, int64_t time)
{
    if (!go_to(c, time))
        return false;
    if (!c->scene->plan.event_time)
        ref_wall(c->reference, time);
    machine_tick(c->machine, time);
    return true;
}

/* False: they differ. */
static bool do_event(struct check *c, size_t id)
{
    const struct event *e = &c->scene->events[id];
    struct machine *m = c->machine;
    enum side side = (enum side)e->side;
    switch (e->kind) {
    case EVENT_ROW:
        return send_row(c, id);
    case EVENT_TICK:
        return tick(c, e->time);
    case EVENT_PULL:
        machine_pull(m, e->max, e->fuel);
        break;
    case EVENT_SETTLE:
        return settle(c);
    case EVENT_END:
        machine_release(m, side);
        machine_end(m, side);
        break;
    case EVENT_OPEN:
        if (takes_lines(c, e))
            machine_open(m, side, (size_t)e->feed);
        break;
    case EVENT_CLOSE:
        machine_close(m, side, (size_t)e->feed);
        break;
    case EVENT_HOLD:
        machine_hold(m, side);
        break;
    case EVENT_RELEASE:
        machine_release(m, side);
        break;
    case EVENT_TABLE:
        return swap_table(c);
    }
    return true;
}

static bool all_ended(const struct machine *m)
{
    return m->feed[SIDE_LEFT].ended && m->feed[SIDE_RIGHT].ended;
}

/* The next instant at which something can happen by itself; false: there is none. */
static bool next_by_itself(struct check *c, int64_t *ret)
{
    struct machine *m = c->machine;
    int64_t due = engine_due(m->engine).ms, wake = engine_wake(m->engine).ms;
    if (!c->scene->plan.event_time) {
        *ret = due;
        return due != INT64_MAX;
    }
    *ret = m->now_ms + (wake - m->mono_ms);
    return wake != INT64_MAX;
}

/* State is full, and only those can make room who do not come. */
static bool may_be_stuck(const struct check *c)
{
    bool held = c->scene->plan.event_time || c->scene->plan.match >= REF_LATEST;
    return held && c->scene->state_bytes > 0;
}

static size_t all_taken(const struct check *c)
{
    size_t n = 0;
    for (int s = 0; s < SIDES; s++)
        for (int f = 0; f < MACHINE_CONNECTIONS; f++)
            n += c->lines[s][f].taken;
    return n;
}

static bool run_to_the_end(struct check *c)
{
    struct machine *m = c->machine;
    int64_t next;
    size_t taken = 0;
    for (int s = 0; s < SIDES; s++)
        machine_release(m, (enum side)s);
    for (int s = 0; s < SIDES; s++)
        machine_end(m, (enum side)s);
    for (size_t stops = 0;; stops++) {
        machine_tick(m, m->now_ms); /* the end of one side may let the other's rows in */
        if (!settle(c))
            return false;
        if (all_ended(m))
            break;
        size_t before = taken;
        taken = all_taken(c);
        if (taken > before) /* there is more to come, as in a replay */
            continue;
        if (!next_by_itself(c, &next) || stops > STOPS_EACH * (c->scene->event_count + 1))
            return may_be_stuck(c) || differ(c, "lines wait, and nothing is due");
        if (!tick(c, next))
            return false;
    }
    for (int s = 0; s < SIDES; s++)
        for (int f = 0; f < MACHINE_CONNECTIONS; f++)
            if (c->lines[s][f].taken != c->lines[s][f].sent)
                return differ(c, "%s: %zu lines, %zu rows", side_word((enum side)s),
                              c->lines[s][f].sent, c->lines[s][f].taken);
    return true;
}

static bool run(struct check *c)
{
    if (c->scene->plan.match == REF_LOOKUP && !swap_table(c)) /* one of nothing */
        return false;
    for (size_t i = 0; i < c->scene->event_count; i++)
        if (!do_event(c, i) || !compare(c, false)) {
            buf_printf(c->why, "\n    at event %zu of %zu", i, c->scene->event_count);
            return false;
        }
    if (!run_to_the_end(c)) {
        buf_append_text(c->why, "\n    at the end");
        return false;
    }
    return true;
}

bool check_scene(const struct scene *scene, int sabotage, struct buf *ret_why)
{
    struct check c = {.scene = scene, .turn = NONE, .why = ret_why};
    watched = &c;
    struct ref_plan plan = scene->plan;
    struct buf ini = BUF_EMPTY;
    struct diag diag;
    bool fine = false;
    diag_init(&diag);
    scene_ini(scene, &ini);
    plan.sabotage = sabotage;
    c.machine = machine_new(buf_bytes(&ini), scene->hash_seed, &diag);
    c.reference = ref_new(&plan);
    c.table = mem_alloc((scene->event_count + 1) * sizeof(*c.table));
    for (int s = 0; s < SIDES; s++)
        for (int f = 0; f < MACHINE_CONNECTIONS; f++)
            c.lines[s][f].ids = mem_alloc((scene->event_count + 1) * sizeof(size_t));
    if (c.machine == NULL) {
        differ(&c, "the configuration is refused: %s",
               diag_any(&diag) ? diag.messages[0].text : "");
    } else {
        c.machine->cut = scene->cut;
        c.machine->by_hand = scene->by_hand;
        machine_fires_aside(c.machine, scene->aside);
        fine = run(&c);
    }
    for (int s = 0; s < SIDES; s++)
        for (int f = 0; f < MACHINE_CONNECTIONS; f++)
            mem_free(c.lines[s][f].ids);
    mem_free(c.feeds);
    mem_free(c.table);
    buf_done(&c.unread);
    ref_free(c.reference);
    machine_free(c.machine);
    buf_done(&ini);
    diag_done(&diag);
    return fine;
}
