#include <string.h>

#include "config/address.h"
#include "config/reading.h"
#include "config/scalar.h"

/* --- the same --- */

static bool same_path(const struct endpoint *a, const struct endpoint *b)
{
    return a->path != NULL && b->path != NULL && strcmp(a->path, b->path) == 0;
}

static bool same_passed(const struct endpoint *a, const struct endpoint *b)
{
    return a->passed_name != NULL && b->passed_name != NULL &&
           strcmp(a->passed_name, b->passed_name) == 0;
}

/* Port 0 is a free one, another each time. */
static bool same_port(const struct endpoint *a, const struct endpoint *b)
{
    return a->port != NULL && b->port != NULL && strcmp(a->port, b->port) == 0 &&
           strcmp(a->port, "0") != 0;
}

/* --- two ends --- */

static bool is_input(enum section s)
{
    return s == SECTION_LEFT || s == SECTION_RIGHT;
}

/* Only one can have it. Two sides may read one file, which is a join of it with itself;
 * and one peer may be connected to more than once. */
static bool both_have_it(const struct endpoint *a, const struct endpoint *b, bool a_is_input,
                         bool b_is_input)
{
    if (a->kind == ENDPOINT_STANDARD || b->kind == ENDPOINT_STANDARD)
        return a->kind == b->kind && a_is_input == b_is_input;
    if (a->kind == ENDPOINT_FILE && b->kind == ENDPOINT_FILE)
        return same_path(a, b) && !(a_is_input && b_is_input);
    if (a->kind == ENDPOINT_CONNECT && b->kind == ENDPOINT_CONNECT)
        return false;
    return same_path(a, b) || same_passed(a, b) ||
           (same_port(a, b) && hosts_same(a->host, b->host));
}

/* Would joind be its own peer? */
static bool reaches(const struct endpoint *connecting, const struct endpoint *listening)
{
    return connecting->kind == ENDPOINT_CONNECT && listening->kind == ENDPOINT_LISTEN &&
           (same_path(connecting, listening) ||
            (same_port(connecting, listening) && host_reaches(connecting->host, listening->host)));
}

/* --- all --- */

static const struct setting *setting_of(const struct reading *r, enum section section)
{
    static const char *const names[] = {
        [ENDPOINT_LISTEN] = "listen",
        [ENDPOINT_CONNECT] = "connect",
        [ENDPOINT_FILE] = "file",
        [ENDPOINT_STANDARD] = "file",
    };

    return settings_find(&r->settings, section, names[section_endpoint(r->config, section)->kind]);
}

/* True: it is told. */
static bool tell_clash(const struct reading *r, enum section s, enum section other)
{
    const struct endpoint *a = section_endpoint(r->config, s);
    const struct endpoint *b = section_endpoint(r->config, other);
    bool to_other;

    if (a == NULL || b == NULL || a->kind == ENDPOINT_NONE || b->kind == ENDPOINT_NONE)
        return false;
    to_other = reaches(a, b);
    if (to_other || reaches(b, a)) {
        report_value(&r->report, setting_of(r, to_other ? s : other), 0,
                     "[%s] listens there: joind would be connected to itself",
                     section_name(to_other ? other : s));
        return true;
    }
    if (!both_have_it(a, b, is_input(s), is_input(other)))
        return false;
    report_value(&r->report, setting_of(r, s), 0, "[%s] has it already; give each its own",
                 section_name(other));
    return true;
}

void endpoints_compare(struct reading *r)
{
    for (int s = 0; s < SECTIONS; s++) {
        bool told = false;
        for (int other = 0; other < s && !told; other++)
            told = tell_clash(r, (enum section)s, (enum section)other);
    }
}
