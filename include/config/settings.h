/*
 * config/settings: which value was given for which key, and where.
 *
 * From the file (config/lines takes it apart) and from --set, which goes over it.
 * Sections and keys are those of config/keys; others are reported, with the nearest
 * name there is.
 */
#ifndef CONFIG_SETTINGS_H
#define CONFIG_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"
#include "config/keys.h"
#include "config/lines.h"
#include "config/report.h"

struct setting {
    enum section section;
    const struct key *key;
    struct place place; /* of the key */
    struct ini_value value;
    bool from_override; /* --set gave it: there is no place */
    bool unset;         /* --set took it away */
};

struct settings {
    bool has_section[SECTIONS];
    struct place sections[SECTIONS]; /* of the first [section] line; none: --set made it */
    struct setting *items;           /* owned */
    size_t count;
};

/* The file. A section may come more than once; a key within it may not. */
void settings_read(struct bytes text, const struct report *report, struct settings *ret);
void settings_done(struct settings *s);

/* One --set SECTION.KEY=VALUE. The last one for a key wins. An empty value unsets. */
void settings_override(struct settings *s, const char *text, const struct report *report);
/* Is it of that form at all? If not, it is wrong usage. */
bool settings_override_valid(const char *text);

/* NULL: not given. */
const struct setting *settings_find(const struct settings *s, enum section section,
                                    const char *key);
/* Did --set take it away? */
bool settings_unset(const struct settings *s, enum section section, const char *key);

static inline struct bytes setting_text(const struct setting *s)
{
    return buf_bytes(&s->value.text);
}

/* About the byte at `offset` of the value: `FILE:LINE:COLUMN: [section] key: ...`,
 * or `--set section.key: ...`. */
void report_value(const struct report *r, const struct setting *s, size_t offset,
                  const char *format, ...) __attribute__((format(printf, 4, 5)));
/* The same, about the key. */
void report_key(const struct report *r, const struct setting *s, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* About a section, at its line if it has one. */
void report_section(const struct report *r, const struct settings *s, enum section section,
                    const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
