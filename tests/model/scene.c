#include "scene.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "scene_text.h"

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

bool scene_is_glued(const struct scene *s, size_t id)
{
    const struct event *e = &s->events[id], *next = e + 1;
    return e->glued && id + 1 < s->event_count && next->kind == EVENT_ROW &&
           next->side == e->side && next->feed == e->feed;
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

static void say_ms(struct settings *s, const char *section, const char *key, long long ms)
{
    if (ms == REF_OFF)
        buf_append_text(&s->text, "off");
    else
        buf_printf(&s->text, "%lldms", ms);
    say(s, section, key);
}

static void say_expr(struct settings *s, const struct scene *scene, const char *section,
                     const char *key, int expr)
{
    if (expr == NONE)
        return;
    scene_expr_text(scene, expr, &s->text);
    say(s, section, key);
}

static void say_fields(struct settings *s, const struct scene_side *x, const char *section)
{
    for (int i = 0; i < x->field_count; i++) {
        const struct scene_field *f = &x->fields[i];
        const char *type = f->time_type != NULL  ? f->time_type
                           : f->alphabet != NULL ? f->alphabet->type
                                                 : "string";
        buf_printf(&s->text, "%s%s %s", i == 0 ? "" : ", ", f->name, type);
    }
    say(s, section, "fields");
}

static void say_time(struct settings *s, const struct scene *scene, int side)
{
    const struct scene_side *x = &scene->side[side];
    const char *section = side_name(side);
    if (!scene->plan.event_time)
        return;
    buf_append_text(&s->text, x->fields[x->time].name);
    say(s, section, "timestamp");
    say_ms(s, section, "delay", scene->plan.delay[side]);
    say_ms(s, section, "max_ahead", scene->plan.max_ahead[side]);
    if (!scene->replay)
        say_ms(s, section, "idle", scene->plan.idle[side]);
}

static void say_side(struct settings *s, const struct scene *scene, int side)
{
    static const char *const duplicates[] = {"keep", "last", "error"};
    const struct scene_side *x = &scene->side[side];
    const char *section = side_name(side);
    say_fields(s, x, section);
    if (scene->plan.match == REF_LOOKUP && side == REF_SIDE_RIGHT) {
        buf_append_text(&s->text, duplicates[scene->plan.duplicates]);
        say(s, section, "duplicates");
    }
    for (int i = 0; i < scene->plan.keys; i++) {
        buf_append_text(&s->text, i == 0 ? "" : ", ");
        scene_expr_text(scene, scene->plan.key[side][i], &s->text);
    }
    if (scene->plan.keys > 0)
        say(s, section, "key");
    say_expr(s, scene, section, "where", scene->plan.where[side]);
    say_time(s, scene, side);
    buf_append_text(&s->text, delimiter_word(x->delimiter));
    say(s, section, "delimiter");
    buf_append_text(&s->text, x->null_text);
    if (*x->null_text != '\0')
        say(s, section, "null");
    buf_printf(&s->text, "%d", x->max_line);
    say(s, section, "max_line");
}

static void say_match(struct settings *s, const struct ref_plan *p)
{
    if (p->match == REF_TUMBLING || p->match == REF_SLIDING) {
        say_ms(s, "join", "size", p->size);
        buf_printf(&s->text, "%lldms", p->offset);
        say(s, "join", "offset");
    }
    if (p->match == REF_SLIDING)
        say_ms(s, "join", "slide", p->slide);
    if (p->match == REF_SESSION)
        say_ms(s, "join", "gap", p->gap);
    if (p->match == REF_INTERVAL) {
        buf_printf(&s->text, "%lldms", p->lower);
        say(s, "join", "lower");
        buf_printf(&s->text, "%lldms", p->upper);
        say(s, "join", "upper");
    }
    if (p->match == REF_LATEST && !p->event_time) {
        if (p->wait == REF_OFF)
            buf_append_text(&s->text, "forever");
        else
            buf_printf(&s->text, "%lldms", p->wait);
        say(s, "join", "wait");
        say_ms(s, "join", "ttl", p->ttl);
    }
    if (p->event_time && p->match != REF_LATEST)
        say_ms(s, "join", "grace", p->grace);
}

static void say_join(struct settings *s, const struct scene *scene)
{
    static const char *const types[] = {"inner", "left", "right", "full", "semi", "anti"};
    static const char *const matches[] = {"tumbling", "sliding", "session", "interval",
                                          "latest",   "batch",   "lookup"};
    const struct ref_plan *p = &scene->plan;
    buf_append_text(&s->text, types[p->type]);
    say(s, "join", "type");
    buf_append_text(&s->text, matches[p->match]);
    say(s, "join", "match");
    if (p->match != REF_BATCH && p->match != REF_LOOKUP) {
        buf_append_text(&s->text, p->event_time ? "event" : "processing");
        say(s, "join", "time");
    }
    say_match(s, p);
    say_expr(s, scene, "join", "on", p->on);
}

static void say_output(struct settings *s, const struct scene *scene)
{
    buf_append_text(&s->text, delimiter_word(scene->delimiter));
    say(s, "output", "delimiter");
    buf_append_text(&s->text, scene->null_text);
    if (*scene->null_text != '\0')
        say(s, "output", "null");
    for (int i = 0; i < scene->select_count; i++) {
        buf_append_text(&s->text, i == 0 ? "" : ", ");
        scene_expr_text(scene, scene->select[i], &s->text);
        if (scene->plan.exprs[scene->select[i]].op != REF_FIELD)
            buf_printf(&s->text, " as e%d", i);
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
    bool replay, lookup;
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
            buf_append_text(ini->to, ini->replay ? "file = l.csv\n" : "listen = 127.0.0.1:1\n");
        else if (strcmp(section, "right") == 0)
            buf_append_text(ini->to, ini->replay || ini->lookup ? "file = r.csv\n"
                                                                : "listen = 127.0.0.1:2\n");
    }
    ini->section = section;
    buf_printf(ini->to, "%s = %s\n", key, value);
}

void scene_ini(const struct scene *s, struct buf *to)
{
    struct ini ini = {to, "", s->replay, s->plan.match == REF_LOOKUP};
    scene_settings(s, add_to_ini, &ini);
}
