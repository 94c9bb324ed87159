#include "scene_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* --- expressions --- */

static const char *sign_of(enum ref_op op)
{
    static const char *const signs[] = {
        [REF_ADD] = "+",   [REF_SUBTRACT] = "-", [REF_MULTIPLY] = "*",    [REF_DIVIDE] = "/",
        [REF_REST] = "%",  [REF_EQUAL] = "=",    [REF_UNEQUAL] = "<>",    [REF_LESS] = "<",
        [REF_AND] = "and", [REF_OR] = "or",      [REF_LESS_EQUAL] = "<=", [REF_JOINED] = "||",
    };
    return signs[op];
}

static void append_leaf(const struct scene *s, const struct ref_expr *e, struct buf *to)
{
    static const char *const names[] = {
        [REF_LEFT_TIME] = "left_time",
        [REF_RIGHT_TIME] = "right_time",
        [REF_WINDOW_START] = "window_start",
        [REF_WINDOW_END] = "window_end",
    };
    if (e->op == REF_FIELD)
        buf_printf(to, "%s.%s", e->side == REF_SIDE_LEFT ? "left" : "right",
                   s->side[e->side].fields[e->field].name);
    else if (e->op != REF_CONSTANT)
        buf_append_text(to, names[e->op]);
    else if (e->constant.kind == REF_TEXT)
        buf_printf(to, "'%s'", e->constant.text);
    else
        buf_printf(to, "%lld", e->constant.whole);
}

void scene_expr_text(const struct scene *s, int expr, struct buf *to)
{
    const struct ref_expr *e = &s->plan.exprs[expr];
    bool function = e->op == REF_UPPER || e->op == REF_COALESCE;
    if (e->a == NONE) {
        append_leaf(s, e, to);
        return;
    }
    buf_append_text(to, e->op == REF_UPPER ? "upper(" : e->op == REF_COALESCE ? "coalesce(" : "(");
    if (e->op == REF_NOT)
        buf_append_text(to, "not ");
    scene_expr_text(s, e->a, to);
    if (e->op == REF_IS_NULL)
        buf_append_text(to, " is null");
    if (e->b != NONE && function)
        buf_append_text(to, ", ");
    else if (e->b != NONE)
        buf_printf(to, " %s ", sign_of(e->op));
    if (e->b != NONE)
        scene_expr_text(s, e->b, to);
    buf_append_char(to, ')');
}

/* --- times --- */

/* RFC 3339, UTC, milliseconds. */
static void append_instant(int64_t ms, struct buf *to)
{
    int64_t rest = (ms % 1000 + 1000) % 1000;
    time_t seconds = (time_t)((ms - rest) / 1000);
    struct tm tm;
    gmtime_r(&seconds, &tm);
    buf_printf(to, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", tm.tm_year + 1900, tm.tm_mon + 1,
               tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, (int)rest);
}

/* A time below zero is -(seconds), then the fraction of that. */
static void append_seconds(int64_t ms, struct buf *to)
{
    int64_t size = ms < 0 ? -ms : ms;
    buf_printf(to, "%s%" PRId64, ms < 0 ? "-" : "", size / 1000);
    if (size % 1000 != 0)
        buf_printf(to, ".%03d", (int)(size % 1000));
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static int64_t whole_time(const struct scene_row *row, const char *type)
{
    if (ends_with(type, "_us"))
        return row->when * 1000 + row->micros;
    if (ends_with(type, "_ns"))
        return row->when * 1000000 + row->micros * 1000;
    return row->when;
}

static void append_time(const struct scene_row *row, const char *type, struct buf *to)
{
    if (strcmp(type, "timestamp") == 0)
        append_instant(row->when, to);
    else if (ends_with(type, "_s"))
        append_seconds(row->when, to);
    else
        buf_printf(to, "%" PRId64, whole_time(row, type));
}

/* --- records --- */

static bool has(const char *text, const char *characters)
{
    return strpbrk(text, characters) != NULL;
}

static void append_quoted(struct buf *to, const char *text)
{
    buf_append_char(to, '"');
    for (; *text != '\0'; text++) {
        if (*text == '"')
            buf_append_char(to, '"');
        buf_append_char(to, *text);
    }
    buf_append_char(to, '"');
}

/* A string that is no NULL, for a CSV of this kind. */
static void append_string(struct buf *to, const char *text, char delimiter, const char *null_text,
                          bool quoted)
{
    const char special[] = {delimiter, '"', '\r', '\n', '\0'};
    if (quoted || has(text, special) || strcmp(text, null_text) == 0)
        append_quoted(to, text);
    else
        buf_append_text(to, text);
}

static void append_id(const struct scene_row *row, struct buf *to)
{
    buf_printf(to, "i%d", row->id);
    for (int i = 0; i < row->pad; i++)
        buf_append_char(to, 'p');
}

static void append_input(const struct scene_side *x, const struct scene_row *row, int field,
                         struct buf *to)
{
    const struct alphabet *a = x->fields[field].alphabet;
    const char *time_type = x->fields[field].time_type;
    bool quoted = (row->quoted >> field & 1) != 0;
    struct buf id = BUF_EMPTY;
    append_id(row, &id);
    if (time_type != NULL && row->timeless)
        buf_append_text(to, x->null_text);
    else if (time_type != NULL)
        append_time(row, time_type, to);
    else if (a == NULL)
        append_string(to, buf_text(&id), x->delimiter, x->null_text, quoted);
    else if (row->values[field] == NONE)
        buf_append_text(to, x->null_text);
    else
        append_string(to, a->values[row->values[field]].input, x->delimiter, x->null_text, quoted);
    buf_done(&id);
}

/* A field whose type not every text has; NONE: there is none. */
static int typed_field(const struct scene_side *x)
{
    for (int i = 0; i < x->field_count; i++)
        if (x->fields[i].alphabet != NULL && x->fields[i].alphabet->not_one != NULL)
            return i;
    return NONE;
}

void scene_line(const struct scene *s, size_t id, struct buf *to)
{
    const struct event *e = &s->events[id];
    const struct scene_side *x = &s->side[e->side];
    int typed = typed_field(x);
    if (e->row.bad == BAD_FEWER)
        buf_append_char(to, 'x');
    for (int i = 0; i < x->field_count && e->row.bad != BAD_FEWER; i++) {
        if (i > 0)
            buf_append_char(to, x->delimiter);
        if (e->row.bad == BAD_TYPE && i == typed)
            buf_append_text(to, x->fields[i].alphabet->not_one);
        else
            append_input(x, &e->row, i, to);
    }
    if (e->row.bad == BAD_MORE || (e->row.bad == BAD_TYPE && typed == NONE))
        buf_append_char(to, x->delimiter);
    else if (e->row.bad == BAD_QUOTE)
        buf_printf(to, "%c\"x\"y", x->delimiter);
    else if (e->row.bad == BAD_NUL)
        buf_append_char(to, '\0');
    else if (e->row.bad == BAD_TELNET)
        buf_append_char(to, '\377');
    if (e->row.cr)
        buf_append_char(to, '\r');
}

static bool line_is_bad(const struct scene *s, size_t id)
{
    const struct event *e = &s->events[id];
    struct buf line = BUF_EMPTY;
    scene_line(s, id, &line);
    size_t length = buf_length(&line) - e->row.cr;
    buf_done(&line);
    return e->row.bad != BAD_NOT || length > (size_t)s->side[e->side].max_line;
}

static struct ref_value value_of(const struct scene_row *row, const struct scene_field *f,
                                 int field)
{
    if (f->time_type != NULL)
        return row->timeless
                   ? (struct ref_value){.kind = REF_NULL}
                   : (struct ref_value){.kind = REF_WHOLE, .whole = whole_time(row, f->time_type)};
    if (f->alphabet == NULL) /* the id: a number stands for its text */
        return (struct ref_value){.kind = REF_WHOLE, .whole = (long long)row->id << 32 | row->pad};
    if (row->values[field] == NONE)
        return (struct ref_value){.kind = REF_NULL};
    return alphabet_value(f->alphabet, row->values[field]);
}

void scene_record(const struct scene *s, size_t id, struct ref_record *ret)
{
    const struct event *e = &s->events[id];
    const struct scene_side *x = &s->side[e->side];
    *ret = (struct ref_record){
        .side = (enum ref_side)e->side,
        .id = (int)id,
        .feed = e->feed,
        .bad = line_is_bad(s, id),
        .timed = !e->row.timeless,
        .time = e->row.when,
    };
    for (int i = 0; i < x->field_count; i++)
        ret->fields[i] = value_of(&e->row, &x->fields[i], i);
}

/* --- results --- */

/* What is in a field, as it is written; NULL is given as BYTES_NULL. */
static struct bytes field_text(const struct scene *s, int id, int side, int field, struct buf *room)
{
    const struct alphabet *a = s->side[side].fields[field].alphabet;
    const char *time_type = s->side[side].fields[field].time_type;
    if (id == REF_NOBODY)
        return BYTES_NULL;
    const struct scene_row *row = &s->events[id].row;
    buf_clear(room);
    if (time_type != NULL && row->timeless)
        return BYTES_NULL;
    if (time_type != NULL)
        append_time(row, time_type, room);
    else if (a == NULL)
        append_id(row, room);
    else if (row->values[field] == NONE)
        return BYTES_NULL;
    else
        buf_append_text(room, alphabet_written(a, row->values[field]));
    buf_text(room);
    return buf_bytes(room);
}

static void append_output(const struct scene *s, int id, int side, int field, struct buf *to)
{
    const struct alphabet *a = s->side[side].fields[field].alphabet;
    struct buf room = BUF_EMPTY;
    struct bytes text = field_text(s, id, side, field, &room);
    if (text.p == NULL)
        buf_append_text(to, s->null_text);
    else if ((a == NULL && s->side[side].fields[field].time_type == NULL) || a == &alphabet_string)
        append_string(to, text.p, s->delimiter, s->null_text, false);
    else
        buf_append_bytes(to, text);
    buf_done(&room);
}

static int id_on(const struct ref_result *r, int side)
{
    return side == REF_SIDE_LEFT ? r->left : r->right;
}

static void append_value(const struct scene *s, struct ref_value v, struct buf *to)
{
    switch (v.kind) {
    case REF_NULL:
        buf_append_text(to, s->null_text);
        break;
    case REF_TEXT:
        append_string(to, v.text, s->delimiter, s->null_text, false);
        break;
    case REF_TRUTH:
        buf_append_text(to, v.whole != 0 ? "true" : "false");
        break;
    case REF_INSTANT:
        append_instant(v.whole, to);
        break;
    case REF_WHOLE:
    case REF_REAL: /* never computed here */
        buf_printf(to, "%lld", v.whole);
        break;
    }
}

/* Plain fields as they are written, the rest as it is computed. */
static bool append_selected(const struct scene *s, const struct ref_result *r,
                            const struct ref_view *view, int expr, struct buf *to)
{
    const struct ref_expr *e = &s->plan.exprs[expr];
    struct ref_value v;
    if (e->op == REF_FIELD) {
        append_output(s, id_on(r, e->side), e->side, e->field, to);
        return true;
    }
    struct ref_texts *texts = ref_texts_new();
    bool fine = ref_evaluate(&s->plan, expr, view, texts, &v);
    if (fine)
        append_value(s, v, to);
    ref_texts_free(texts);
    return fine;
}

static bool append_all_selected(const struct scene *s, const struct ref_result *r, struct buf *to)
{
    struct ref_record records[2];
    struct ref_view view = {
        .time = {r->left_time, r->right_time},
        .windowed = r->windowed,
        .start = r->start,
        .end = r->end,
    };
    for (int side = 0; side < 2; side++)
        if (id_on(r, side) != REF_NOBODY) {
            scene_record(s, (size_t)id_on(r, side), &records[side]);
            view.record[side] = &records[side];
        }
    for (int i = 0; i < s->select_count; i++) {
        if (i > 0)
            buf_append_char(to, s->delimiter);
        if (!append_selected(s, r, &view, s->select[i], to))
            return false;
    }
    return true;
}

bool scene_row_text(const struct scene *s, const struct ref_result *r, struct buf *to)
{
    bool left_only = s->plan.type == REF_SEMI || s->plan.type == REF_ANTI;
    int columns = 0;
    if (s->select_count > 0)
        return append_all_selected(s, r, to);
    for (int side = 0; side < (left_only ? 1 : 2); side++)
        for (int i = 0; i < s->side[side].field_count; i++) {
            if (columns++ > 0)
                buf_append_char(to, s->delimiter);
            append_output(s, id_on(r, side), side, i, to);
        }
    return true;
}

void scene_records_text(const struct scene *s, const struct ref_result *r, struct buf *to)
{
    struct buf room = BUF_EMPTY;
    for (int side = 0; side < 2; side++) {
        buf_append_text(to, side == 0 ? "" : " & ");
        if (id_on(r, side) == REF_NOBODY)
            buf_append_text(to, "nobody");
        for (int i = 0; i < s->side[side].field_count && id_on(r, side) != REF_NOBODY; i++) {
            struct bytes text = field_text(s, id_on(r, side), side, i, &room);
            buf_append_text(to, i == 0 ? "" : "|");
            buf_append_bytes(to, text.p == NULL ? BYTES_LIT("~") : text);
        }
    }
    buf_done(&room);
}
