#include "script.h"

#include <string.h>

#include "script_parts.h"

/* What stories need not say. Nothing of it is opened. */
static const char defaults[] = "left.listen = 127.0.0.1:1\n"
                               "right.listen = 127.0.0.1:2\n"
                               "output.file = -";

static struct setting *add_setting(struct story *story)
{
    story->settings = script_grow(story->settings, story->setting_count, sizeof(*story->settings));
    return &story->settings[story->setting_count++];
}

static bool read_setting(struct reader *r, char *line, char *equals)
{
    char *dot = strchr(line, '.'), *end = equals;
    while (end > line && end[-1] == ' ')
        end--;
    *end = '\0';
    *dot = '\0';
    *add_setting(r->story) = (struct setting){
        .section = mem_strdup(line),
        .key = mem_strdup(dot + 1),
        .value = mem_strdup(script_skip_blanks(equals + 1)),
    };
    return true;
}

static void start_story(struct reader *r, const char *name)
{
    struct script *s = r->script;
    s->stories = script_grow(s->stories, s->story_count, sizeof(*s->stories));
    s->stories[s->story_count] = (struct story){.name = mem_strdup(name), .line = r->line};
    r->story = &s->stories[s->story_count++];
    r->expect = NULL;
    r->table = NULL;
}

/* `left.where = ok`: a section, a dot, a key, and then an equals sign. */
static bool is_setting(const char *line)
{
    size_t section = strspn(line, "abcdefghijklmnopqrstuvwxyz");
    size_t key = section == 0 || line[section] != '.'
                     ? 0
                     : strspn(line + section + 1, "abcdefghijklmnopqrstuvwxyz_");
    const char *rest = line + section + 1 + key;
    return key > 0 && rest[strspn(rest, " ")] == '=';
}

static bool read_line(struct reader *r, char *line)
{
    if (*line == '\0' || *line == '#')
        return true;
    if (script_take_word(&line, "story")) {
        start_story(r, line);
        return true;
    }
    if (is_setting(line))
        return read_setting(r, line, strchr(line, '='));
    if (r->story == &r->script->common)
        return script_complain(r, "a step before the first story");
    return script_read_step(r, line);
}

static bool read_text(struct reader *r, char *text)
{
    r->next = text;
    r->line = 0;
    for (char *line = strsep(&r->next, "\n"); line != NULL; line = strsep(&r->next, "\n")) {
        char *start = script_skip_blanks(line);
        r->line++;
        r->indent = (size_t)(start - line);
        if (!read_line(r, start))
            return false;
    }
    return true;
}

bool script_read(const char *path, char *text, struct script *ret, struct buf *ret_why)
{
    *ret = (struct script){.path = path};
    struct reader r = {.script = ret, .story = &ret->common, .why = ret_why};
    char *first = mem_strdup(defaults);
    bool fine = read_text(&r, first) && read_text(&r, text);
    mem_free(first);
    return fine && (ret->story_count > 0 || script_complain(&r, "no story"));
}

static void story_done(struct story *s)
{
    for (size_t i = 0; i < s->setting_count; i++) {
        mem_free(s->settings[i].section);
        mem_free(s->settings[i].key);
        mem_free(s->settings[i].value);
    }
    for (size_t i = 0; i < s->step_count; i++) {
        for (size_t j = 0; j < s->steps[i].row_count; j++)
            mem_free(s->steps[i].rows[j].text);
        mem_free(s->steps[i].rows);
        mem_free(s->steps[i].text);
    }
    mem_free(s->settings);
    mem_free(s->steps);
    mem_free(s->name);
}

void script_done(struct script *s)
{
    story_done(&s->common);
    for (size_t i = 0; i < s->story_count; i++)
        story_done(&s->stories[i]);
    mem_free(s->stories);
}

/* --- the INI text --- */

#define LISTS 2

struct setting_list {
    const struct story *of[LISTS];
};

/* A later setting of the same key takes its place. */
static bool counts(const struct setting_list *l, size_t list, size_t at)
{
    const struct setting *s = &l->of[list]->settings[at];
    for (size_t i = list; i < LISTS; i++)
        for (size_t j = i == list ? at + 1 : 0; j < l->of[i]->setting_count; j++)
            if (strcmp(l->of[i]->settings[j].section, s->section) == 0 &&
                strcmp(l->of[i]->settings[j].key, s->key) == 0)
                return false;
    return *s->value != '\0';
}

static void append_section(const struct setting_list *l, const char *section, struct buf *to)
{
    buf_printf(to, "[%s]\n", section);
    for (size_t i = 0; i < LISTS; i++)
        for (size_t j = 0; j < l->of[i]->setting_count; j++)
            if (strcmp(l->of[i]->settings[j].section, section) == 0 && counts(l, i, j))
                buf_printf(to, "%s = %s\n", l->of[i]->settings[j].key, l->of[i]->settings[j].value);
}

/* Is this the first setting of its section? */
static bool opens_section(const struct setting_list *l, size_t list, size_t at)
{
    for (size_t i = 0; i <= list; i++)
        for (size_t j = 0; j < (i == list ? at : l->of[i]->setting_count); j++)
            if (strcmp(l->of[i]->settings[j].section, l->of[list]->settings[at].section) == 0)
                return false;
    return true;
}

void script_ini(const struct script *s, const struct story *story, struct buf *to)
{
    struct setting_list l = {{&s->common, story}};
    for (size_t i = 0; i < LISTS; i++)
        for (size_t j = 0; j < l.of[i]->setting_count; j++)
            if (opens_section(&l, i, j))
                append_section(&l, l.of[i]->settings[j].section, to);
}
