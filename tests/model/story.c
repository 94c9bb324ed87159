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
    const struct event *e = &s->events[id];
    while (e->glued && id + 1 < s->event_count && e[1].kind == EVENT_ROW && e[1].side == e->side) {
        e++;
        id++;
    }
    return e->time;
}

static void write_event(const struct scene *s, size_t id, struct buf *to)
{
    const struct event *e = &s->events[id];
    struct buf line = BUF_EMPTY;
    switch (e->kind) {
    case EVENT_ROW:
        scene_line(s, id, &line);
        buf_printf(to, "    at %" PRId64 " %s ", time_of(s, id), side_name(e->side));
        append_escaped(buf_bytes(&line), to);
        buf_append_char(to, '\n');
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
    }
    buf_done(&line);
}

/* --- what has to come --- */

static void tell(const struct scene *s, size_t id, struct reference *r)
{
    const struct event *e = &s->events[id];
    struct ref_record record;
    if (e->kind == EVENT_TICK)
        ref_time(r, e->time);
    if (e->kind == EVENT_END)
        ref_end(r, (enum ref_side)e->side);
    if (e->kind != EVENT_ROW)
        return;
    scene_record(s, id, &record);
    ref_take(r, &record, time_of(s, id));
}

static void write_due(const struct reference *r, struct buf *to)
{
    long long end;
    if (ref_due(r, &end))
        buf_printf(to, "    due %lld\n", end);
    else
        buf_append_text(to, "    due never\n");
}

static void write_results(const struct scene *s, const struct reference *r, struct buf *to)
{
    static const char *const kinds[] = {"pair", "left", "right", "semi", "anti"};
    size_t count;
    const struct ref_result *results = ref_results(r, &count);
    struct buf text = BUF_EMPTY;
    buf_append_text(to, count == 0 ? "    expect nothing\n" : "    expect\n");
    for (size_t i = 0; i < count; i++) {
        const struct ref_result *x = &results[i];
        if (i == 0 || x->start != x[-1].start)
            buf_printf(to, "        [%lld,%lld)\n", x->start, x->end);
        else if (x->group != x[-1].group)
            buf_append_text(to, "        and\n");
        buf_clear(&text);
        scene_row_text(s, x, &text);
        buf_printf(to, "        %s ", kinds[x->kind]);
        append_escaped(buf_bytes(&text), to);
        buf_append_char(to, '\n');
    }
    buf_done(&text);
}

static void write_books(const struct reference *r, enum ref_side side, struct buf *to)
{
    struct ref_books b = ref_books(r, side);
    buf_printf(
        to,
        "    books %s received=%ld rejected=%ld filtered=%ld matched=%ld unmatched=%ld held=%ld\n",
        side_name((int)side), b.received, b.rejected, b.filtered, b.matched, b.unmatched, b.held);
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
    tell(s, id, r);
    if (rejected(r) > before)
        buf_printf(to, "    rejected %s any\n", side_name(e->side));
    if (s->state_bytes > 0)
        return;
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
    scene_settings(s, append_setting, to);
    buf_append_text(to, "\nstory as the reference tells it\n    by hand\n");
    for (size_t i = 0; i < s->event_count; i++)
        write_step(s, i, r, to);
    buf_append_text(to, "    end\n    pull all\n");
    if (s->state_bytes > 0)
        buf_append_text(to, "    # this holds if every line found room at once\n");
    ref_end(r, REF_SIDE_LEFT);
    ref_end(r, REF_SIDE_RIGHT);
    write_results(s, r, to);
    write_books(r, REF_SIDE_LEFT, to);
    write_books(r, REF_SIDE_RIGHT, to);
    ref_free(r);
}
