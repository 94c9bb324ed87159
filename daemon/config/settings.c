#include "config/settings.h"

#include <assert.h>

#include "base/mem.h"

/* Each setting is of a key of its section, once. */
static bool settings_ok(const struct settings *s)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct setting *one = &s->items[i];
        if (!key_in(one->key, one->section))
            return false;
        for (size_t k = 0; k < i; k++)
            if (s->items[k].section == one->section && s->items[k].key == one->key)
                return false;
    }
    return true;
}

/* --- finding --- */

static struct setting *find(const struct settings *s, enum section section, const struct key *key)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->items[i].section == section && s->items[i].key == key)
            return &s->items[i];
    return NULL;
}

const struct setting *settings_find(const struct settings *s, enum section section, const char *key)
{
    const struct setting *found = find(s, section, key_find(section, bytes_of(key)));

    return found != NULL && !found->unset ? found : NULL;
}

bool settings_unset(const struct settings *s, enum section section, const char *key)
{
    const struct setting *found = find(s, section, key_find(section, bytes_of(key)));

    return found != NULL && found->unset;
}

static struct setting *add(struct settings *s, enum section section, const struct key *key)
{
    assert(key_in(key, section));
    s->items = mem_realloc(s->items, (s->count + 1) * sizeof(*s->items));
    s->items[s->count] = (struct setting){.section = section, .key = key};
    return &s->items[s->count++];
}

void settings_done(struct settings *s)
{
    for (size_t i = 0; i < s->count; i++)
        ini_value_done(&s->items[i].value);
    mem_free(s->items);
    *s = (struct settings){.items = NULL};
}

/* --- reporting --- */

static void report_setting(const struct report *r, const struct setting *s, struct place place,
                           const char *format, va_list args)
{
    struct buf text = BUF_EMPTY;

    if (s->from_override) {
        buf_printf(&text, "--set %s.%s: ", section_name(s->section), s->key->name);
        buf_vprintf(&text, format, args);
        diag_add(r->diag, "%s", buf_text(&text));
    } else {
        buf_printf(&text, "[%s] %s", section_name(s->section), s->key->name);
        report_vat(r, place, buf_text(&text), format, args);
    }
    buf_done(&text);
}

void report_value(const struct report *r, const struct setting *s, size_t offset,
                  const char *format, ...)
{
    va_list args;

    va_start(args, format);
    report_setting(r, s, ini_value_place(&s->value, offset), format, args);
    va_end(args);
}

void report_key(const struct report *r, const struct setting *s, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    report_setting(r, s, s->place, format, args);
    va_end(args);
}

void report_section(const struct report *r, const struct settings *s, enum section section,
                    const char *format, ...)
{
    struct buf subject = BUF_EMPTY;
    va_list args;

    buf_printf(&subject, "[%s]", section_name(section));
    va_start(args, format);
    report_vat(r, s->sections[section], buf_text(&subject), format, args);
    va_end(args);
    buf_done(&subject);
}

/* --- the file --- */

static bool take_section(struct settings *s, const struct ini_line *line,
                         const struct report *report, enum section *ret)
{
    struct bytes name = bytes_of(line->name);
    struct buf hint = BUF_EMPTY;

    if (section_find(name, ret)) {
        if (!s->has_section[*ret])
            s->sections[*ret] = line->place;
        s->has_section[*ret] = true;
        return true;
    }
    section_hint(name, &hint);
    report_at(report, line->place, "", "[%s]: no such section%s", line->name, buf_text(&hint));
    buf_done(&hint);
    return false;
}

static void unknown_key(const struct report *report, const struct ini_line *line,
                        enum section section)
{
    struct buf subject = BUF_EMPTY, hint = BUF_EMPTY;

    buf_printf(&subject, "[%s] %s", section_name(section), line->name);
    key_hint(section, bytes_of(line->name), &hint);
    report_at(report, line->place, buf_text(&subject), "no such key%s", buf_text(&hint));
    buf_done(&subject);
    buf_done(&hint);
}

static void take_key(struct settings *settings, struct ini_line *line, const struct report *report,
                     enum section section)
{
    const struct key *key = key_find(section, bytes_of(line->name));
    struct setting *s;

    if (key == NULL) {
        unknown_key(report, line, section);
        return;
    }
    s = find(settings, section, key);
    if (s != NULL) {
        struct setting twice = {.section = section, .key = key, .place = line->place};
        report_key(report, &twice, "given twice; it is in line %d already", s->place.line);
        return;
    }
    s = add(settings, section, key);
    s->place = line->place;
    s->value = line->value;
    line->value = (struct ini_value){.text = BUF_EMPTY}; /* it has moved */
}

void settings_read(struct bytes text, const struct report *report, struct settings *ret)
{
    struct ini_lines lines;
    enum section section;
    bool known = false;

    *ret = (struct settings){.items = NULL};
    ini_lines_read(text, report, &lines);
    for (size_t i = 0; i < lines.count; i++)
        if (lines.items[i].is_section)
            known = take_section(ret, &lines.items[i], report, &section);
        else if (known)
            take_key(ret, &lines.items[i], report, section);
    ini_lines_done(&lines);
    assert(settings_ok(ret));
}

/* --- --set --- */

struct override {
    struct bytes section, key, value;
};

static struct bytes trimmed(struct bytes text)
{
    while (text.n > 0 && (text.p[0] == ' ' || text.p[0] == '\t'))
        text = (struct bytes){text.p + 1, text.n - 1};
    while (text.n > 0 && (text.p[text.n - 1] == ' ' || text.p[text.n - 1] == '\t'))
        text.n--;
    return text;
}

static bool override_split(const char *text, struct override *ret)
{
    const char *sign = strchr(text, '=');
    const char *dot = sign != NULL ? memchr(text, '.', (size_t)(sign - text)) : NULL;

    if (dot == NULL)
        return false;
    ret->section = trimmed((struct bytes){text, (size_t)(dot - text)});
    ret->key = trimmed((struct bytes){dot + 1, (size_t)(sign - dot) - 1});
    ret->value = bytes_of(sign + 1);
    if (trimmed(ret->value).n > 0) /* a lone blank stays: it can be a delimiter */
        ret->value = trimmed(ret->value);
    return ret->section.n > 0 && ret->key.n > 0;
}

bool settings_override_valid(const char *text)
{
    struct override o;

    return override_split(text, &o);
}

/* False: it is reported. */
static bool override_find(const struct override *o, const struct report *report,
                          enum section *ret_section, const struct key **ret_key)
{
    struct buf text = BUF_EMPTY;
    bool known = section_find(o->section, ret_section);

    buf_printf(&text, "--set %.*s.%.*s: ", (int)o->section.n, o->section.p, (int)o->key.n,
               o->key.p);
    *ret_key = known ? key_find(*ret_section, o->key) : NULL;
    if (!known) {
        buf_append_text(&text, "no such section");
        section_hint(o->section, &text);
    } else if (*ret_key == NULL) {
        buf_append_text(&text, "no such key");
        key_hint(*ret_section, o->key, &text);
    }
    if (*ret_key == NULL)
        diag_add(report->diag, "%s", buf_text(&text));
    buf_done(&text);
    return *ret_key != NULL;
}

/* A line end goes on with the value, as an indented line of the file would. */
static void append_override_value(struct buf *to, struct bytes value)
{
    for (size_t i = 0; i < value.n; i++)
        buf_append_char(to, value.p[i] == '\n' ? ' ' : value.p[i]);
}

static bool has_control_character(struct bytes text)
{
    for (size_t i = 0; i < text.n; i++)
        if (((unsigned char)text.p[i] < 0x20 && text.p[i] != '\t') || text.p[i] == 0x7f)
            return true;
    return false;
}

void settings_override(struct settings *s, const char *text, const struct report *report)
{
    struct override o;
    enum section section;
    const struct key *key;
    struct setting *setting;

    if (!override_split(text, &o)) {
        diag_add(report->diag, "--set: \"%s\" is not SECTION.KEY=VALUE", text);
        return;
    }
    if (!override_find(&o, report, &section, &key))
        return;
    setting = find(s, section, key);
    if (setting == NULL)
        setting = add(s, section, key);
    ini_value_done(&setting->value);
    setting->from_override = true;
    setting->unset = o.value.n == 0;
    append_override_value(&setting->value.text, o.value);
    if (!setting->unset)
        s->has_section[section] = true;
    if (has_control_character(buf_bytes(&setting->value.text)))
        report_key(report, setting, "control characters have no place in a configuration");
    assert(settings_ok(s));
}
