#include "story.h"

#include <inttypes.h>
#include <string.h>

#define RUN_MIN 20 /* equal bytes that are written as \{20a} */

static void append_byte(char c, bool edge, struct buf *to)
{
    unsigned char byte = (unsigned char)c;
    if (byte < 0x20 || byte == 0x7f || byte == 0xff || c == '\\' || (c == ' ' && edge))
        buf_printf(to, "\\x%02x", byte);
    else
        buf_append_char(to, c);
}

static void append_escaped(struct bytes text, struct buf *to)
{
    for (size_t i = 0, n; i < text.n; i += n) {
        for (n = 1; i + n < text.n && text.p[i + n] == text.p[i];)
            n++;
        if (n >= RUN_MIN && text.p[i] > ' ' && text.p[i] < 0x7f) {
            buf_printf(to, "\\{%zu%c}", n, text.p[i]);
            continue;
        }
        for (size_t j = i; j < i + n; j++)
            append_byte(text.p[j], j == 0 || j + 1 == text.n, to);
    }
}

static void append_setting(const char *section, const char *key, const char *value, void *to)
{
    buf_printf(to, "%s.%s = %s\n", section, key, value);
}

/* --- steps --- */

static const char *side_name(int side)
{
    return side == REF_SIDE_LEFT ? "left" : "right";
}

/* Glued rows come at the time of the last of them. */
static int64_t time_of(const struct scene *s, size_t id)
{
    while (scene_is_glued(s, id))
        id++;
    return s->events[id].time;
}

static void write_connection(const struct event *e, struct buf *to)
{
    buf_append_text(to, side_name(e->side));
    if (e->feed > 0)
        buf_printf(to, "/%d", e->feed + 1);
}

static void write_row(const struct scene *s, size_t id, struct buf *to)
{
    struct buf line = BUF_EMPTY;
    scene_line(s, id, &line);
    buf_printf(to, "    at %" PRId64 " ", time_of(s, id));
    write_connection(&s->events[id], to);
    buf_append_char(to, ' ');
    append_escaped(buf_bytes(&line), to);
    buf_append_char(to, '\n');
    buf_done(&line);
}

static bool is_of_table(const struct scene *s, const struct event *e)
{
    return s->plan.match == REF_LOOKUP && e->kind == EVENT_ROW && e->side == REF_SIDE_RIGHT;
}

/* The event of the table before. */
static size_t table_before(const struct scene *s, size_t id)
{
    while (id > 0 && s->events[id - 1].kind != EVENT_TABLE)
        id--;
    return id;
}

static void write_table(const struct scene *s, size_t id, struct buf *to)
{
    struct buf line = BUF_EMPTY;
    buf_append_text(to, "    table\n");
    for (size_t i = table_before(s, id); i < id; i++) {
        if (!is_of_table(s, &s->events[i]))
            continue;
        buf_clear(&line);
        scene_line(s, i, &line);
        buf_append_text(to, "        ");
        append_escaped(buf_bytes(&line), to);
        buf_append_char(to, '\n');
    }
    buf_done(&line);
}

static void write_word(const char *word, const struct event *e, struct buf *to)
{
    buf_printf(to, "    %s ", word);
    write_connection(e, to);
    buf_append_char(to, '\n');
}

static void write_event(const struct scene *s, size_t id, struct buf *to)
{
    const struct event *e = &s->events[id];
    switch (e->kind) {
    case EVENT_ROW:
        if (!is_of_table(s, e))
            write_row(s, id, to);
        break;
    case EVENT_TABLE:
        write_table(s, id, to);
        break;
    case EVENT_TICK:
        buf_printf(to, "    at %" PRId64 "\n", e->time);
        break;
    case EVENT_PULL:
        buf_printf(to, "    pull %zu fuel %" PRId64 "\n", e->max, e->fuel);
        break;
    case EVENT_SETTLE:
        buf_append_text(to, "    pull all\n");
        break;
    case EVENT_END:
        buf_printf(to, "    end %s\n", side_name(e->side));
        break;
    case EVENT_OPEN:
        write_word("open", e, to);
        break;
    case EVENT_CLOSE:
        write_word("close", e, to);
        break;
    case EVENT_HOLD:
        buf_printf(to, "    hold %s\n", side_name(e->side));
        break;
    case EVENT_RELEASE:
        buf_printf(to, "    release %s\n", side_name(e->side));
        break;
    }
}

/* --- what has to come --- */

static void go_to(struct reference *r, int64_t time)
{
    ref_mono(r, time);
    ref_wall(r, time);
}

/* As if every line found room at once. */
static void tell(const struct scene *s, size_t id, struct reference *r, struct buf *to)
{
    const struct event *e = &s->events[id];
    enum ref_side side = (enum ref_side)e->side;
    struct ref_record record;
    switch (e->kind) {
    case EVENT_ROW:
        scene_record(s, id, &record);
        if (is_of_table(s, e)) {
            ref_table_row(r, &record);
            break;
        }
        go_to(r, time_of(s, id));
        ref_take(r, &record);
        break;
    case EVENT_TICK:
        go_to(r, e->time);
        break;
    case EVENT_OPEN:
        ref_open(r, side, e->feed);
        break;
    case EVENT_CLOSE:
        ref_close(r, side, e->feed);
        break;
    case EVENT_TABLE:
        if (!ref_table_swap(r, true))
            buf_append_text(to, "    fault \\x20\n"); /* any words */
        break;
    case EVENT_END:
        ref_end(r, side);
        break;
    default:
        break;
    }
}

static void write_due(const struct reference *r, struct buf *to)
{
    long long end;
    if (ref_due(r, &end))
        buf_printf(to, "    due %lld\n", end);
    else
        buf_append_text(to, "    due never\n");
}

/* Where a section or a group begins. */
static void write_place(const struct ref_result *x, const struct ref_result *before, struct buf *to)
{
    bool section = before == NULL || x->section != before->section;
    if (!section && x->group == before->group)
        return;
    buf_append_text(to, section ? "        " : "        and ");
    if (x->windowed)
        buf_printf(to, "[%lld,%lld)\n", x->start, x->end);
    else
        buf_append_text(to, "no window\n");
}

static void write_results(const struct scene *s, const struct reference *r, struct buf *to)
{
    static const char *const kinds[] = {"pair", "left", "right", "semi", "anti", "failed"};
    size_t count;
    const struct ref_result *results = ref_results(r, &count);
    struct buf text = BUF_EMPTY;
    buf_append_text(to, count == 0 ? "    expect nothing\n" : "    expect\n");
    for (size_t i = 0; i < count; i++) {
        const struct ref_result *x = &results[i];
        enum ref_kind kind = x->kind;
        if (s->plan.match <= REF_SESSION)
            write_place(x, i == 0 ? NULL : x - 1, to);
        buf_clear(&text);
        if (kind == REF_FAILED || !scene_row_text(s, x, &text)) {
            kind = REF_FAILED;
            buf_clear(&text);
            scene_records_text(s, x, &text);
        }
        buf_printf(to, "        %s ", kinds[kind]);
        append_escaped(buf_bytes(&text), to);
        buf_append_char(to, '\n');
    }
    buf_done(&text);
}

static void write_lates(const struct scene *s, const struct reference *r, struct buf *to)
{
    size_t count;
    const int *lates = ref_lates(r, &count);
    struct buf line = BUF_EMPTY;
    for (size_t i = 0; i < count; i++) {
        const struct event *e = &s->events[lates[i]];
        buf_clear(&line);
        scene_line(s, (size_t)lates[i], &line);
        buf_printf(to, "    late %s ", side_name(e->side));
        append_escaped((struct bytes){buf_data(&line), buf_length(&line) - e->row.cr}, to);
        buf_append_char(to, '\n');
    }
    buf_done(&line);
}

static void write_books(const struct reference *r, enum ref_side side, struct buf *to)
{
    struct ref_books b = ref_books(r, side);
    buf_printf(to,
               "    books %s received=%ld rejected=%ld filtered=%ld late=%ld matched=%ld "
               "unmatched=%ld held=%ld late_windows=%ld\n",
               side_name((int)side), b.received, b.rejected, b.filtered, b.late, b.matched,
               b.unmatched, b.held, b.late_windows);
}

static long rejected(const struct reference *r)
{
    return ref_books(r, REF_SIDE_LEFT).rejected + ref_books(r, REF_SIDE_RIGHT).rejected;
}

/* An event, and what can be seen after it. When rows may have to wait, not much. */
static void write_step(const struct scene *s, size_t id, struct reference *r, struct buf *to)
{
    const struct event *e = &s->events[id];
    long before = rejected(r);
    write_event(s, id, to);
    tell(s, id, r, to);
    if (rejected(r) > before)
        buf_printf(to, "    rejected %s any\n", side_name(e->side));
    if (s->state_bytes > 0)
        return;
    if (s->plan.match == REF_TUMBLING && !s->plan.event_time)
        write_due(r, to);
    if (e->kind == EVENT_SETTLE) {
        write_books(r, REF_SIDE_LEFT, to);
        write_books(r, REF_SIDE_RIGHT, to);
    }
}

void story_write(const struct scene *s, struct buf *to)
{
    struct reference *r = ref_new(&s->plan);
    buf_printf(to, "# Made by the model test from seed %" PRIu64 ".\n\n", s->seed);
    if (s->replay)
        buf_append_text(to, "left.listen =\nleft.file = left.csv\n"
                            "right.listen =\nright.file = right.csv\n");
    if (s->plan.match == REF_LOOKUP)
        buf_append_text(to, "right.listen =\nright.file = table.csv\n");
    scene_settings(s, append_setting, to);
    if (s->aside > 0)
        buf_printf(to, "\n# Windows are fired aside; news are settled after %u pulls.\n", s->aside);
    buf_append_text(to, "\nstory as the reference tells it\n");
    if (s->by_hand)
        buf_append_text(to, "    by hand\n");
    if (s->plan.match == REF_LOOKUP)
        buf_append_text(to, "    table\n");
    ref_open(r, REF_SIDE_LEFT, 0);
    ref_open(r, REF_SIDE_RIGHT, 0);
    for (size_t i = 0; i < s->event_count; i++)
        write_step(s, i, r, to);
    buf_append_text(to, "    end\n    pull all\n");
    if (s->state_bytes > 0 || (s->by_hand && s->plan.event_time))
        buf_append_text(to, "    # this holds if every line found room at once\n");
    ref_end(r, REF_SIDE_LEFT);
    ref_end(r, REF_SIDE_RIGHT);
    write_results(s, r, to);
    write_lates(s, r, to);
    write_books(r, REF_SIDE_LEFT, to);
    write_books(r, REF_SIDE_RIGHT, to);
    ref_free(r);
}
