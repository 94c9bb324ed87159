#include "config/keys.h"

#include <assert.h>

#include "base/nearest.h"
#include "codec/input_format.h"
#include "config/key_table.h"
#include "model/plan.h"

/* --- names --- */

static const char *const sections[SECTIONS] = {
    [SECTION_LEFT] = "left",     [SECTION_RIGHT] = "right", [SECTION_JOIN] = "join",
    [SECTION_OUTPUT] = "output", [SECTION_LATE] = "late",   [SECTION_REJECTS] = "rejects",
    [SECTION_STATE] = "state",   [SECTION_HTTP] = "http",   [SECTION_PROCESS] = "process",
    [SECTION_FLINK] = "flink",
};

const char *section_name(enum section s)
{
    assert((unsigned)s < SECTIONS);
    return sections[s];
}

bool section_find(struct bytes name, enum section *ret)
{
    for (int s = 0; s < SECTIONS; s++)
        if (bytes_equal(name, bytes_of(sections[s]))) {
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

void section_hint(struct bytes name, struct buf *to)
{
    struct nearest nearest = {.wanted = name};

    assert(name.p != NULL);
    for (int s = 0; s < SECTIONS; s++)
        nearest_consider(&nearest, sections[s]);
    if (nearest.name != NULL) {
        buf_printf(to, "; did you mean [%s]?", nearest.name);
        return;
    }
    buf_append_text(to, " (sections: ");
    for (int s = 0; s < SECTIONS; s++)
        buf_printf(to, "%s%s", s > 0 ? ", " : "", sections[s]);
    buf_append_char(to, ')');
}

/* False: no section has such a key. */
static bool other_sections_hint(struct bytes name, struct buf *to)
{
    bool any = false;

    for (int s = 0; s < SECTIONS; s++)
        if (key_find((enum section)s, name) != NULL) {
            buf_printf(to, any ? ", [%s]" : "; it belongs to [%s]", sections[s]);
            any = true;
        }
    return any;
}

void key_hint(enum section s, struct bytes name, struct buf *to)
{
    struct nearest nearest = {.wanted = name};
    bool any = false;

    if (other_sections_hint(name, to))
        return;
    for (size_t i = 0; i < key_count; i++)
        if (key_in(&keys[i], s))
            nearest_consider(&nearest, keys[i].name);
    nearest_hint(&nearest, to);
    if (nearest.name != NULL)
        return;
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
           allows(k->use.envelopes, c->envelopes[s]) && allows(k->use.matches, c->match) &&
           allows(k->use.times, c->time);
}

/* Sets in words. A longer set comes before those that it holds. */
struct set_word {
    unsigned set;
    const char *word;
};

static const struct set_word endpoint_sets[] = {
    {USE_LISTEN, "listen"},
    {USE_CONNECT, "connect"},
    {USE_FILE | USE_STANDARD, "file"},
    {USE_TCP | USE_SYSTEMD, "listen = HOST:PORT or systemd:NAME"},
    {USE_TCP, "listen = HOST:PORT"},
    {USE_UNIX, "listen = unix:PATH"},
    {USE_SYSTEMD, "listen = systemd:NAME"},
    {USE_CONNECT_TCP, "connect = HOST:PORT"},
    {USE_CONNECT_UNIX, "connect = unix:PATH"},
    {USE_FILE, "file"},
    {USE_STANDARD, "file = -"},
    {0, NULL},
};
static const struct set_word format_sets[] = {
    {USE_CSV, "format = csv"},
    {USE_JSON, "format = json"},
    {0, NULL},
};
static const struct set_word envelope_sets[] = {
    {USE_ENVELOPE(ENVELOPE_NONE), "envelope = none"},
    {USE_ENVELOPE(ENVELOPE_SYSLOG), "envelope = syslog"},
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
    assert(key_known_used(k, c));
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
           append_reason(envelope_sets, k->use.envelopes, c->envelopes[s], to) ||
           append_reason(match_sets, k->use.matches, c->match, to) ||
           append_reason(time_sets, k->use.times, c->time, to));
}

void key_use_words(const struct key *k, struct buf *to)
{
    const struct {
        const struct set_word *words;
        unsigned set;
    } uses[] = {
        {endpoint_sets, k->use.endpoints}, {format_sets, k->use.formats},
        {envelope_sets, k->use.envelopes}, {match_sets, k->use.matches},
        {time_sets, k->use.times},
    };
    const char *joint = " only with ";

    for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++) {
        if (uses[i].set == 0)
            continue;
        buf_append_text(to, joint);
        append_set(uses[i].words, uses[i].set, to);
        joint = " and with ";
    }
}
