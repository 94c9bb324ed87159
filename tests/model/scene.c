#include "scene.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

struct scene scene_copy(const struct scene *s)
{
    struct scene copy = *s;
    copy.events = mem_alloc((s->event_count + 1) * sizeof(*copy.events));
    memcpy(copy.events, s->events, s->event_count * sizeof(*copy.events));
    return copy;
}

void scene_done(struct scene *s)
{
    mem_free(s->events);
    s->events = NULL;
    s->event_count = 0;
}

/* --- the configuration --- */

static const char *side_name(int side)
{
    return side == REF_SIDE_LEFT ? "left" : "right";
}

static const char *delimiter_word(char delimiter)
{
    switch (delimiter) {
    case ';':
        return "semicolon";
    case '|':
        return "pipe";
    case '\t':
        return "tab";
    default:
        return "comma";
    }
}

struct settings {
    void (*each)(const char *section, const char *key, const char *value, void *to);
    void *to;
    struct buf text;
};

static void say(struct settings *s, const char *section, const char *key)
{
    s->each(section, key, buf_text(&s->text), s->to);
    buf_clear(&s->text);
}

static void say_side(struct settings *s, const struct scene *scene, int side)
{
    const struct scene_side *x = &scene->side[side];
    const char *section = side_name(side);
    for (int i = 0; i < x->field_count; i++) {
        const struct alphabet *a = x->fields[i].alphabet;
        buf_printf(&s->text, "%s%s %s", i == 0 ? "" : ", ", x->fields[i].name,
                   a == NULL ? "string" : a->type);
    }
    say(s, section, "fields");
    for (int i = 0; i < scene->plan.keys; i++)
        buf_printf(&s->text, "%s%s", i == 0 ? "" : ", ", x->fields[x->key[i]].name);
    if (scene->plan.keys > 0)
        say(s, section, "key");
    if (scene->plan.where[side]) {
        buf_printf(&s->text, "%s.%s", section, x->fields[x->where].name);
        say(s, section, "where");
    }
    buf_append_text(&s->text, delimiter_word(x->delimiter));
    say(s, section, "delimiter");
    buf_append_text(&s->text, x->null_text);
    if (*x->null_text != '\0')
        say(s, section, "null");
    buf_printf(&s->text, "%d", x->max_line);
    say(s, section, "max_line");
}

static void say_join(struct settings *s, const struct scene *scene)
{
    static const char *const types[] = {"inner", "left", "right", "full", "semi", "anti"};
    const struct ref_plan *p = &scene->plan;
    buf_append_text(&s->text, types[p->type]);
    say(s, "join", "type");
    buf_printf(&s->text, "%lldms", p->size);
    say(s, "join", "size");
    buf_printf(&s->text, "%lldms", p->offset);
    say(s, "join", "offset");
    if (p->on != REF_NOBODY) {
        buf_printf(&s->text, "%s.%s", side_name(p->on),
                   scene->side[p->on].fields[scene->side[p->on].on].name);
        say(s, "join", "on");
    }
}

static void say_output(struct settings *s, const struct scene *scene)
{
    buf_append_text(&s->text, delimiter_word(scene->delimiter));
    say(s, "output", "delimiter");
    buf_append_text(&s->text, scene->null_text);
    if (*scene->null_text != '\0')
        say(s, "output", "null");
    for (int i = 0; i < scene->select_count; i++) {
        int side = scene->select[i].side;
        buf_printf(&s->text, "%s%s.%s", i == 0 ? "" : ", ", side_name(side),
                   scene->side[side].fields[scene->select[i].field].name);
    }
    if (scene->select_count > 0)
        say(s, "output", "select");
    buf_printf(&s->text, "%" PRId64, scene->state_bytes);
    if (scene->state_bytes > 0)
        say(s, "state", "memory");
    buf_clear(&s->text);
}

void scene_settings(const struct scene *scene,
                    void (*each)(const char *section, const char *key, const char *value, void *to),
                    void *to)
{
    struct settings s = {.each = each, .to = to};
    say_side(&s, scene, REF_SIDE_LEFT);
    say_side(&s, scene, REF_SIDE_RIGHT);
    say_join(&s, scene);
    say_output(&s, scene);
    buf_done(&s.text);
}

struct ini {
    struct buf *to;
    const char *section; /* that is open */
};

/* Settings come section by section, but for [state]. */
static void add_to_ini(const char *section, const char *key, const char *value, void *to)
{
    struct ini *ini = to;
    if (strcmp(section, ini->section) != 0) {
        buf_printf(ini->to, "[%s]\n", section);
        if (strcmp(section, "output") == 0)
            buf_append_text(ini->to, "file = -\n");
        else if (strcmp(section, "left") == 0)
            buf_append_text(ini->to, "listen = 127.0.0.1:1\n");
        else if (strcmp(section, "right") == 0)
            buf_append_text(ini->to, "listen = 127.0.0.1:2\n");
    }
    ini->section = section;
    buf_printf(ini->to, "%s = %s\n", key, value);
}

void scene_ini(const struct scene *s, struct buf *to)
{
    struct ini ini = {to, ""};
    scene_settings(s, add_to_ini, &ini);
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
    bool quoted = (row->quoted >> field & 1) != 0;
    struct buf id = BUF_EMPTY;
    append_id(row, &id);
    if (a == NULL)
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

static enum ref_truth truth_of(const struct scene_row *row, int field)
{
    if (field == NONE || row->values[field] == NONE)
        return REF_UNKNOWN;
    return strcmp(alphabet_written(&alphabet_boolean, row->values[field]), "true") == 0 ? REF_TRUE
                                                                                        : REF_FALSE;
}

void scene_record(const struct scene *s, size_t id, struct ref_record *ret)
{
    const struct event *e = &s->events[id];
    const struct scene_side *x = &s->side[e->side];
    *ret = (struct ref_record){
        .side = (enum ref_side)e->side,
        .id = (int)id,
        .bad = line_is_bad(s, id),
        .where = truth_of(&e->row, x->where),
        .on = truth_of(&e->row, x->on),
    };
    for (int i = 0; i < s->plan.keys; i++) {
        const struct alphabet *a = x->fields[x->key[i]].alphabet;
        if (a == NULL) /* the id: a number stands for its text */
            ret->key[i] = (struct ref_value){
                .kind = REF_WHOLE,
                .whole = (long long)e->row.id << 32 | e->row.pad,
            };
        else if (e->row.values[x->key[i]] != NONE)
            ret->key[i] = alphabet_value(a, e->row.values[x->key[i]]);
    }
}

/* --- results --- */

/* What is in a field, as it is written; NULL is given as BYTES_NULL. */
static struct bytes field_text(const struct scene *s, int id, int side, int field, struct buf *room)
{
    const struct alphabet *a = s->side[side].fields[field].alphabet;
    if (id == REF_NOBODY)
        return BYTES_NULL;
    const struct scene_row *row = &s->events[id].row;
    buf_clear(room);
    if (a == NULL)
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
    else if (a == NULL || a == &alphabet_string)
        append_string(to, text.p, s->delimiter, s->null_text, false);
    else
        buf_append_bytes(to, text);
    buf_done(&room);
}

static int id_on(const struct ref_result *r, int side)
{
    return side == REF_SIDE_LEFT ? r->left : r->right;
}

void scene_row_text(const struct scene *s, const struct ref_result *r, struct buf *to)
{
    bool left_only = s->plan.type == REF_SEMI || s->plan.type == REF_ANTI;
    int columns = 0;
    for (int i = 0; i < s->select_count; i++) {
        if (columns++ > 0)
            buf_append_char(to, s->delimiter);
        append_output(s, id_on(r, s->select[i].side), s->select[i].side, s->select[i].field, to);
    }
    for (int side = 0; side < (left_only ? 1 : 2) && s->select_count == 0; side++)
        for (int i = 0; i < s->side[side].field_count; i++) {
            if (columns++ > 0)
                buf_append_char(to, s->delimiter);
            append_output(s, id_on(r, side), side, i, to);
        }
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
