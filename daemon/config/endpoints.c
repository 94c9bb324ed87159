#include <string.h>

#include "base/mem.h"
#include "config/address.h"
#include "config/paths.h"
#include "config/reading.h"
#include "config/scalar.h"

#define PATH_MAX_BYTES 4095 /* Linux has no longer ones */

static const enum section with_endpoint[] = {
    SECTION_LEFT, SECTION_RIGHT, SECTION_OUTPUT, SECTION_LATE, SECTION_REJECTS, SECTION_HTTP,
};
#define WITH_ENDPOINT (sizeof(with_endpoint) / sizeof(with_endpoint[0]))

static const char *const endpoint_keys[] = {"listen", "connect", "file"};
#define ENDPOINT_KEYS 3

bool section_in_force(const struct settings *s, enum section section)
{
    bool taken_away = false;

    if (section != SECTION_LATE && section != SECTION_REJECTS && section != SECTION_HTTP)
        return true;
    for (size_t i = 0; i < ENDPOINT_KEYS; i++) {
        const char *key = endpoint_keys[i];
        if (key_find(section, bytes_of(key)) == NULL)
            continue;
        if (settings_find(s, section, key) != NULL)
            return true;
        taken_away = taken_away || settings_unset(s, section, key);
    }
    return s->has_section[section] && !taken_away;
}

/* --- which kind --- */

static bool begins_with(struct bytes text, const char *what)
{
    return text.n >= strlen(what) && memcmp(text.p, what, strlen(what)) == 0;
}

static unsigned kind_of(const struct setting *s)
{
    struct bytes text = setting_text(s);

    if (strcmp(s->key->name, "connect") == 0)
        return USE_CONNECT;
    if (strcmp(s->key->name, "file") == 0)
        return bytes_equal(text, BYTES_LIT("-")) ? USE_STANDARD : USE_FILE;
    if (begins_with(text, "unix:"))
        return USE_UNIX;
    return begins_with(text, "systemd:") ? USE_SYSTEMD : USE_TCP;
}

/* The settings of a section that say where it reads or writes; returns how many. */
static size_t find_all(const struct settings *s, enum section section,
                       const struct setting *ret[ENDPOINT_KEYS])
{
    size_t count = 0;

    for (size_t i = 0; i < ENDPOINT_KEYS; i++) {
        const struct setting *found = NULL;
        if (key_find(section, bytes_of(endpoint_keys[i])) != NULL)
            found = settings_find(s, section, endpoint_keys[i]);
        if (found != NULL)
            ret[count++] = found;
    }
    return count;
}

void endpoints_choose(struct reading *r)
{
    const struct setting *found[ENDPOINT_KEYS];

    for (size_t i = 0; i < WITH_ENDPOINT; i++)
        if (find_all(&r->settings, with_endpoint[i], found) == 1)
            r->choice.endpoints[with_endpoint[i]] = kind_of(found[0]);
}

/* --- one --- */

static void read_listen(struct reading *r, const struct setting *s, struct endpoint *e)
{
    struct expr_fault fault;

    if (kind_of(s) != USE_TCP) {
        report_value(&r->report, s, 0, "%s is not in this version (write HOST:PORT or [V6]:PORT)",
                     kind_of(s) == USE_UNIX ? "unix:PATH" : "systemd:NAME");
        return;
    }
    if (address_read(setting_text(s), &e->host, &e->port, &fault))
        e->kind = ENDPOINT_LISTEN;
    else
        report_fault(r, s, &fault);
}

/* A relative path of the file starts at the file's folder, one of --set at the current. */
static char *absolute(const struct reading *r, const struct setting *s, struct bytes path)
{
    const char *current = r->source->current_directory;
    char *file, *folder, *result;

    if (s->from_override)
        return path_absolute(current, path);
    file = path_absolute(current, bytes_of(r->source->path));
    folder = path_folder(file);
    result = path_absolute(folder, path);
    mem_free(file);
    mem_free(folder);
    return result;
}

static void read_file(struct reading *r, const struct setting *s, struct endpoint *e)
{
    struct buf path = BUF_EMPTY;
    struct expr_fault fault;

    if (kind_of(s) == USE_STANDARD) {
        e->kind = ENDPOINT_STANDARD;
    } else if (!quoted_read(setting_text(s), &path, &fault)) {
        report_fault(r, s, &fault);
    } else if (buf_length(&path) == 0) {
        report_value(&r->report, s, 0, "a path is missing between the quotes");
    } else {
        e->path = absolute(r, s, buf_bytes(&path));
        e->kind = ENDPOINT_FILE;
        if (strlen(e->path) > PATH_MAX_BYTES)
            report_value(&r->report, s, 0, "a path of more than %d bytes", PATH_MAX_BYTES);
    }
    buf_done(&path);
}

/* --- the table of a lookup --- */

static bool is_table(const struct reading *r, enum section section)
{
    return section == SECTION_RIGHT && r->choice.match == USE_MATCH(MATCH_LOOKUP);
}

/* It is read whole before the start, and anew when it changes: only a file can be that. */
static bool fits_table(const struct reading *r, const struct setting *s)
{
    if (kind_of(s) == USE_FILE)
        return true;
    if (kind_of(s) == USE_STANDARD)
        report_value(&r->report, s, 0,
                     "standard input cannot be read anew: with match = lookup the right side is a "
                     "table (write file = PATH)");
    else
        report_key(&r->report, s,
                   "not used with match = lookup, where the right side is a table (write file = "
                   "PATH)");
    return false;
}

static void report_no_end(const struct reading *r, enum section section)
{
    if (is_table(r, section))
        report_section(&r->report, &r->settings, section,
                       "match = lookup needs file, such as: file = table.csv");
    else
        report_section(&r->report, &r->settings, section, "needs one of listen, connect, file");
}

/* --- the whole section --- */

static void read_one(struct reading *r, const struct setting *s, struct endpoint *e)
{
    struct bytes text = setting_text(s);

    if (text.n == 0 || s->key->later != NULL) /* told elsewhere */
        return;
    if (is_table(r, s->section) && !fits_table(r, s))
        return;
    e->text = mem_strndup(text.p, text.n);
    if (strcmp(s->key->name, "listen") == 0)
        read_listen(r, s, e);
    else
        read_file(r, s, e);
}

void endpoint_read(struct reading *r, enum section section)
{
    struct endpoint *e = section_endpoint(r->config, section);
    const struct setting *found[ENDPOINT_KEYS];
    size_t count = find_all(&r->settings, section, found);

    if (e == NULL)
        return;
    if (count == 0 && section != SECTION_HTTP) /* there the table knows what is needed */
        report_no_end(r, section);
    for (size_t i = 1; i < count; i++)
        report_key(&r->report, found[i],
                   "cannot stand beside %s: give one of listen, connect, file",
                   found[0]->key->name);
    if (count == 1)
        read_one(r, found[0], e);
}

/* --- all --- */

static bool is_input(enum section s)
{
    return s == SECTION_LEFT || s == SECTION_RIGHT;
}

/* Two sides may read one file: a join of it with itself. */
static bool collide(struct config *c, enum section s, enum section t)
{
    const struct endpoint *a = section_endpoint(c, s), *b = section_endpoint(c, t);

    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case ENDPOINT_NONE:
        return false;
    case ENDPOINT_LISTEN:
        return strcmp(a->host, b->host) == 0 && strcmp(a->port, b->port) == 0 &&
               strcmp(a->port, "0") != 0;
    case ENDPOINT_FILE:
        return strcmp(a->path, b->path) == 0 && !(is_input(s) && is_input(t));
    case ENDPOINT_STANDARD:
        return is_input(s) == is_input(t);
    }
    return false;
}

static void report_collision(const struct reading *r, enum section s, enum section other)
{
    const struct setting *found[ENDPOINT_KEYS];

    find_all(&r->settings, s, found);
    report_value(&r->report, found[0], 0, "[%s] has it already; give each its own",
                 section_name(other));
}

void endpoints_compare(struct reading *r)
{
    for (size_t i = 0; i < WITH_ENDPOINT; i++) {
        bool told = false;
        for (size_t j = 0; j < i && !told; j++) {
            told = collide(r->config, with_endpoint[i], with_endpoint[j]);
            if (told)
                report_collision(r, with_endpoint[i], with_endpoint[j]);
        }
    }
}
