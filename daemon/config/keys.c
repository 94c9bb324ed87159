#include "config/keys.h"

#include <assert.h>

#include "core/plan.h"

/* --- names --- */

static const struct {
    const char *name;
    const char *help;
} sections[SECTIONS] = {
    [SECTION_LEFT] = {"left", "The left input."},
    [SECTION_RIGHT] = {"right", "The right input."},
    [SECTION_JOIN] = {"join", "Which records belong together, and what becomes of the others."},
    [SECTION_OUTPUT] = {"output", "Where results go."},
    [SECTION_LATE] = {"late", "Where late records go (event time); without it they are counted."},
    [SECTION_REJECTS] = {"rejects", "Where records go that cannot be read; without it they are "
                                    "counted, and named in the log."},
    [SECTION_STATE] = {"state", "The records that are held."},
    [SECTION_HTTP] = {"http", "The status page, the metrics and the health check."},
    [SECTION_PROCESS] = {"process", "The process itself."},
    [SECTION_FLINK] = {"flink", "Connector options for the export as a Flink SQL script."},
};

const char *section_name(enum section s)
{
    return sections[s].name;
}

const char *section_help(enum section s)
{
    return sections[s].help;
}

bool section_find(struct bytes name, enum section *ret)
{
    for (int s = 0; s < SECTIONS; s++)
        if (bytes_equal(name, bytes_of(sections[s].name))) {
            *ret = (enum section)s;
            return true;
        }
    return false;
}

const struct key *key_find(enum section s, struct bytes name)
{
    for (size_t i = 0; i < key_count; i++)
        if (key_in(&keys[i], s) && bytes_equal(name, bytes_of(keys[i].name)))
            return &keys[i];
    return NULL;
}

/* --- hints --- */

#define HINT_NAME_MAX 31 /* longer names are no misspellings of ours */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* How many letters have to be put in, left out, changed, or swapped with their
 * neighbour. Row i of the table is about the first i letters of `a`; three are kept. */
static size_t edit_distance(struct bytes a, struct bytes b)
{
    size_t rows[3][HINT_NAME_MAX + 1];
    size_t *before = rows[0], *last = rows[1], *row = rows[2];

    for (size_t j = 0; j <= b.n; j++)
        before[j] = last[j] = j;
    for (size_t i = 1; i <= a.n; i++) {
        size_t *spare = before;
        row[0] = i;
        for (size_t j = 1; j <= b.n; j++) {
            bool same = a.p[i - 1] == b.p[j - 1];
            row[j] = least(least(last[j], row[j - 1]) + 1, last[j - 1] + !same);
            if (i > 1 && j > 1 && a.p[i - 1] == b.p[j - 2] && a.p[i - 2] == b.p[j - 1])
                row[j] = least(row[j], before[j - 2] + 1);
        }
        before = last;
        last = row;
        row = spare;
    }
    return last[b.n];
}

struct nearest {
    const char *name; /* NULL: none is near */
    size_t distance;
};

static void consider(struct nearest *n, struct bytes wanted, const char *name)
{
    struct bytes there = bytes_of(name);
    size_t distance;

    assert(there.n <= HINT_NAME_MAX);
    if (wanted.n > HINT_NAME_MAX)
        return;
    distance = edit_distance(wanted, there);
    if (distance > 1 + there.n / 4 || distance >= there.n)
        return;
    if (n->name == NULL || distance < n->distance)
        *n = (struct nearest){name, distance};
}

void section_hint(struct bytes name, struct buf *to)
{
    struct nearest nearest = {NULL, 0};

    for (int s = 0; s < SECTIONS; s++)
        consider(&nearest, name, sections[s].name);
    if (nearest.name != NULL) {
        buf_printf(to, "; did you mean [%s]?", nearest.name);
        return;
    }
    buf_append_text(to, " (sections: ");
    for (int s = 0; s < SECTIONS; s++)
        buf_printf(to, "%s%s", s > 0 ? ", " : "", sections[s].name);
    buf_append_char(to, ')');
}

/* False: no section has such a key. */
static bool other_sections_hint(struct bytes name, struct buf *to)
{
    bool any = false;

    for (int s = 0; s < SECTIONS; s++)
        if (key_find((enum section)s, name) != NULL) {
            buf_printf(to, any ? ", [%s]" : "; it belongs to [%s]", sections[s].name);
            any = true;
        }
    return any;
}

void key_hint(enum section s, struct bytes name, struct buf *to)
{
    struct nearest nearest = {NULL, 0};
    bool any = false;

    if (other_sections_hint(name, to))
        return;
    for (size_t i = 0; i < key_count; i++)
        if (key_in(&keys[i], s))
            consider(&nearest, name, keys[i].name);
    if (nearest.name != NULL) {
        buf_printf(to, "; did you mean \"%s\"?", nearest.name);
        return;
    }
    buf_append_text(to, " (keys: ");
    for (size_t i = 0; i < key_count; i++)
        if (key_in(&keys[i], s)) {
            buf_printf(to, "%s%s", any ? ", " : "", keys[i].name);
            any = true;
        }
    buf_append_char(to, ')');
}

/* --- use --- */

static bool allows(unsigned set, unsigned chosen)
{
    return set == 0 || chosen == 0 || (set & chosen) != 0;
}

bool key_used(const struct key *k, enum section s, const struct choice *c)
{
    return allows(k->use.endpoints, c->endpoints[s]) && allows(k->use.formats, c->formats[s]) &&
           allows(k->use.matches, c->match) && allows(k->use.times, c->time);
}

/* Sets in words. A longer set comes before those that it holds. */
struct set_word {
    unsigned set;
    const char *word;
};

static const struct set_word endpoint_sets[] = {
    {USE_LISTEN, "listen"},
    {USE_FILE | USE_STANDARD, "file"},
    {USE_TCP, "listen = HOST:PORT"},
    {USE_UNIX, "listen = unix:PATH"},
    {USE_SYSTEMD, "listen = systemd:NAME"},
    {USE_CONNECT, "connect"},
    {USE_FILE, "file"},
    {USE_STANDARD, "file = -"},
    {0, NULL},
};
static const struct set_word format_sets[] = {
    {USE_CSV, "format = csv"},
    {USE_JSON, "format = json"},
    {0, NULL},
};
#define SLICED (USE_MATCH(MATCH_TUMBLING) | USE_MATCH(MATCH_SLIDING))
#define PARTED (SLICED | USE_MATCH(MATCH_SESSION) | USE_MATCH(MATCH_INTERVAL))

static const struct set_word match_sets[] = {
    {PARTED | USE_MATCH(MATCH_LATEST), "match = tumbling, sliding, session, interval or latest"},
    {PARTED, "match = tumbling, sliding, session or interval"},
    {SLICED, "match = tumbling or sliding"},
    {USE_MATCH(MATCH_TUMBLING), "match = tumbling"},
    {USE_MATCH(MATCH_SLIDING), "match = sliding"},
    {USE_MATCH(MATCH_SESSION), "match = session"},
    {USE_MATCH(MATCH_INTERVAL), "match = interval"},
    {USE_MATCH(MATCH_LATEST), "match = latest"},
    {USE_MATCH(MATCH_LOOKUP), "match = lookup"},
    {USE_MATCH(MATCH_BATCH), "match = batch"},
    {0, NULL},
};
static const struct set_word time_sets[] = {
    {USE_TIME(TIME_PROCESSING), "time = processing"},
    {USE_TIME(TIME_EVENT), "time = event"},
    {0, NULL},
};

static void append_set(const struct set_word *words, unsigned set, struct buf *to)
{
    bool any = false;

    for (const struct set_word *w = words; w->word != NULL; w++)
        if ((set & w->set) == w->set) {
            buf_printf(to, "%s%s", any ? ", " : "", w->word);
            set &= ~w->set;
            any = true;
        }
}

/* Is this why? Then says so. */
static bool append_reason(const struct set_word *words, unsigned set, unsigned chosen,
                          struct buf *to)
{
    if (allows(set, chosen))
        return false;
    buf_append_text(to, "not used with ");
    append_set(words, chosen, to);
    buf_append_text(to, " (only with ");
    append_set(words, set, to);
    buf_append_char(to, ')');
    return true;
}

bool key_known_used(const struct key *k, const struct choice *c)
{
    return (k->use.matches == 0 || (k->use.matches & c->match) != 0) &&
           (k->use.times == 0 || (k->use.times & c->time) != 0);
}

void key_used_reason(const struct key *k, const struct choice *c, struct buf *to)
{
    if (k->use.times != 0)
        append_set(time_sets, c->time, to);
    else if (k->use.matches != 0)
        append_set(match_sets, c->match, to);
    else
        return;
    buf_append_char(to, ' ');
}

void key_unused_reason(const struct key *k, enum section s, const struct choice *c, struct buf *to)
{
    (void)(append_reason(endpoint_sets, k->use.endpoints, c->endpoints[s], to) ||
           append_reason(format_sets, k->use.formats, c->formats[s], to) ||
           append_reason(match_sets, k->use.matches, c->match, to) ||
           append_reason(time_sets, k->use.times, c->time, to));
}
