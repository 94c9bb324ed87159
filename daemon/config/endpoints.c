#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "config/address.h"
#include "config/paths.h"
#include "config/reading.h"
#include "config/scalar.h"
#include "lang/expr_lexer.h"

#define PATH_MAX_BYTES        4095 /* Linux has no longer ones */
#define SOCKET_PATH_MAX_BYTES 107  /* of sun_path, with a NUL behind it */
#define PASSED_NAME_MAX_BYTES 255  /* as systemd has it */

#define UNIX_SCHEME    "unix:"
#define SYSTEMD_SCHEME "systemd:"

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
        return begins_with(text, UNIX_SCHEME) ? USE_CONNECT_UNIX : USE_CONNECT_TCP;
    if (strcmp(s->key->name, "file") == 0)
        return bytes_equal(text, BYTES_LIT("-")) ? USE_STANDARD : USE_FILE;
    if (begins_with(text, UNIX_SCHEME))
        return USE_UNIX;
    return begins_with(text, SYSTEMD_SCHEME) ? USE_SYSTEMD : USE_TCP;
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

    for (int s = 0; s < SECTIONS; s++)
        if (find_all(&r->settings, (enum section)s, found) == 1)
            r->choice.endpoints[s] = kind_of(found[0]);
}

/* --- files --- */

/* A relative path of the file starts at the file's folder, one of --set at the current. */
static char *absolute(const struct reading *r, const struct setting *s, struct bytes path)
{
    const char *current = r->current_directory;
    char *file, *folder, *result;

    if (s->from_override)
        return path_absolute(current, path);
    file = path_absolute(current, bytes_of(r->report.path));
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

/* --- sockets --- */

static bool connects(const struct setting *s)
{
    return strcmp(s->key->name, "connect") == 0;
}

static bool read_tcp(const struct setting *s, struct endpoint *e, struct expr_fault *ret_fault)
{
    if (begins_with(setting_text(s), SYSTEMD_SCHEME)) /* only connect comes here with it */
        return expr_fault_at(ret_fault, 0,
                             "what systemd passes are sockets that listen: write HOST:PORT, "
                             "[V6]:PORT or unix:PATH (or listen = systemd:NAME)");
    if (!address_read(setting_text(s), &e->host, &e->port, ret_fault))
        return false;
    if (connects(s) && strcmp(e->port, "0") == 0)
        return expr_fault_at(ret_fault, 0, "port 0 is none to connect to (1 to 65535)");
    e->family = FAMILY_TCP;
    return true;
}

/* What stands behind the scheme, which may be quoted. */
static bool read_behind(const struct setting *s, const char *scheme, struct buf *to,
                        struct expr_fault *ret_fault)
{
    size_t n = strlen(scheme);
    struct bytes text = {setting_text(s).p + n, setting_text(s).n - n};

    if (text.n > 0 && (text.p[0] == ' ' || text.p[0] == '\t'))
        return expr_fault_at(ret_fault, n,
                             "nothing can stand between %s and what it names (a blank that "
                             "belongs to that stands in double quotes)",
                             scheme);
    if (quoted_read(text, to, ret_fault))
        return true;
    ret_fault->offset += n;
    return false;
}

static bool is_abstract(const struct setting *s)
{
    return begins_with(setting_text(s), UNIX_SCHEME "@");
}

/* `path` as it is written. */
static bool read_socket_path(const struct reading *r, const struct setting *s, struct bytes path,
                             struct endpoint *e, struct expr_fault *ret_fault)
{
    size_t offset = strlen(UNIX_SCHEME);

    if (path.n == 0)
        return expr_fault_at(ret_fault, offset, "a path is missing: write unix:PATH");
    if (is_abstract(s))
        return expr_fault_at(ret_fault, offset,
                             "joind knows no abstract sockets, whose names begin with @: write a "
                             "path (./@... is one)");
    if (path.p[path.n - 1] == '/')
        return expr_fault_at(ret_fault, offset,
                             "this is a folder: write the path of a socket, such as %.*ssocket",
                             (int)path.n, path.p);
    e->path = absolute(r, s, path);
    if (strlen(e->path) > SOCKET_PATH_MAX_BYTES)
        return expr_fault_at(ret_fault, offset,
                             "the path of a unix socket has at most %d bytes, counted from / on, "
                             "and this one has %zu",
                             SOCKET_PATH_MAX_BYTES, strlen(e->path));
    e->family = FAMILY_UNIX;
    return true;
}

static bool read_unix(const struct reading *r, const struct setting *s, struct endpoint *e,
                      struct expr_fault *ret_fault)
{
    struct buf path = BUF_EMPTY;
    bool ok = read_behind(s, UNIX_SCHEME, &path, ret_fault) &&
              read_socket_path(r, s, buf_bytes(&path), e, ret_fault);

    buf_done(&path);
    return ok;
}

/* The rules are systemd's, for FileDescriptorName=. */
static bool check_passed_name(struct bytes name, struct expr_fault *ret_fault)
{
    size_t offset = strlen(SYSTEMD_SCHEME);

    if (name.n == 0)
        return expr_fault_at(ret_fault, offset,
                             "a name is missing: write systemd:NAME (FileDescriptorName= of the "
                             "socket unit)");
    if (name.n > PASSED_NAME_MAX_BYTES)
        return expr_fault_at(ret_fault, offset, "a name of more than %d bytes",
                             PASSED_NAME_MAX_BYTES);
    for (size_t i = 0; i < name.n; i++) {
        unsigned char c = (unsigned char)name.p[i];
        if (c < ' ' || c >= 0x7f || c == ':')
            return expr_fault_at(ret_fault, offset,
                                 "systemd knows no such name: it is printable ASCII without \":\"");
    }
    return true;
}

static bool read_passed_name(const struct setting *s, struct endpoint *e,
                             struct expr_fault *ret_fault)
{
    struct buf name = BUF_EMPTY;
    bool ok = read_behind(s, SYSTEMD_SCHEME, &name, ret_fault) &&
              check_passed_name(buf_bytes(&name), ret_fault);

    if (ok) {
        e->passed_name = mem_strdup(buf_text(&name));
        e->family = FAMILY_SYSTEMD;
    }
    buf_done(&name);
    return ok;
}

static void read_socket(struct reading *r, const struct setting *s, struct endpoint *e)
{
    struct expr_fault fault;
    bool ok;

    switch (kind_of(s)) {
    case USE_UNIX:
    case USE_CONNECT_UNIX:
        ok = read_unix(r, s, e, &fault);
        break;
    case USE_SYSTEMD:
        ok = read_passed_name(s, e, &fault);
        break;
    default:
        ok = read_tcp(s, e, &fault);
        break;
    }
    if (ok)
        e->kind = connects(s) ? ENDPOINT_CONNECT : ENDPOINT_LISTEN;
    else
        report_fault(r, s, &fault);
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

/* Where --set gives an end of another kind, the one of the file has to be taken away. */
static void report_beside(const struct reading *r, const struct setting *first,
                          const struct setting *s)
{
    const struct setting *given = s->from_override ? s : first;
    const struct setting *older = s->from_override ? first : s;

    if (first->from_override == s->from_override)
        report_key(&r->report, s, "cannot stand beside %s: give one of listen, connect, file",
                   first->key->name);
    else
        report_key(&r->report, given,
                   "%s has %s already: take it away by --set %s.%s=", r->report.path,
                   older->key->name, section_name(s->section), older->key->name);
}

static void read_one(struct reading *r, const struct setting *s, struct endpoint *e)
{
    struct bytes text = setting_text(s);

    if (text.n == 0) /* told elsewhere */
        return;
    if (is_table(r, s->section) && !fits_table(r, s))
        return;
    e->text = mem_strndup(text.p, text.n);
    if (strcmp(s->key->name, "file") == 0)
        read_file(r, s, e);
    else
        read_socket(r, s, e);
}

void endpoint_read(struct reading *r, enum section section)
{
    struct endpoint *e = section_endpoint(r->config, section);
    const struct setting *found[ENDPOINT_KEYS];
    size_t count = find_all(&r->settings, section, found);

    assert((unsigned)section < SECTIONS);
    if (e == NULL)
        return;
    if (count == 0 && section != SECTION_HTTP) /* there the table knows what is needed */
        report_no_end(r, section);
    for (size_t i = 1; i < count; i++)
        report_beside(r, found[0], found[i]);
    if (count == 1)
        read_one(r, found[0], e);
}
