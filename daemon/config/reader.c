#include "config/reader.h"

#include <assert.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/time.h"
#include "config/key_table.h"
#include "config/paths.h"
#include "config/reading.h"
#include "config/scalar.h"
#include "config/select.h"

/* Rules of interface.md section 2. */
#define LINES_IN_STATE 16    /* so many of the longest must fit */
#define WINDOWS_MAX    10000 /* that a record may lie in */

/* --- what is chosen --- */

static bool setting_is(const struct setting *s, const char *word)
{
    return bytes_equal(setting_text(s), bytes_of(word));
}

static unsigned choose_format(const struct settings *s, enum section section)
{
    const struct setting *given = settings_find(s, section, "format");

    if (given == NULL || setting_is(given, "csv"))
        return USE_CSV;
    return setting_is(given, "json") ? USE_JSON : 0;
}

/* 1 << the value of the word given, or of the default; 0: no such word. */
static unsigned choose_word(const struct settings *s, enum section section, const char *name)
{
    const struct key *key = key_find(section, bytes_of(name));
    const struct setting *given = settings_find(s, section, name);
    struct bytes text = given != NULL ? setting_text(given) : bytes_of(key->preset);

    for (const struct key_word *w = key->words; w->text != NULL; w++)
        if (bytes_equal(text, bytes_of(w->text)))
            return 1u << w->value;
    return 0;
}

static void choose(struct reading *r)
{
    struct choice *c = &r->choice;

    endpoints_choose(r);
    for (int s = 0; s < SECTIONS; s++)
        if (key_find((enum section)s, BYTES_LIT("format")) != NULL)
            c->formats[s] = choose_format(&r->settings, (enum section)s);
    for (int s = 0; s < SIDES; s++) {
        enum section section = side_section((enum side)s);
        c->envelopes[section] = choose_word(&r->settings, section, "envelope");
    }
    c->match = choose_word(&r->settings, SECTION_JOIN, "match");
    c->time = choose_word(&r->settings, SECTION_JOIN, "time");
}

/* --- keys one by one --- */

static void report_empty(struct reading *r, const struct setting *s)
{
    const struct key *k = s->key;

    if (k->example != NULL)
        report_key(&r->report, s, "a value is missing, such as: %s = %s", k->name, k->example);
    else
        report_key(&r->report, s, "a value is missing (without the line, the default is taken)");
}

/* Can it be --set that made a key of the file useless? */
static bool override_may_matter(const struct settings *all, enum section section)
{
    for (size_t i = 0; i < all->count; i++)
        if (all->items[i].from_override &&
            (all->items[i].section == section || all->items[i].section == SECTION_JOIN))
            return true;
    return false;
}

static void report_unused(struct reading *r, const struct setting *s)
{
    struct buf reason = BUF_EMPTY;

    key_unused_reason(s->key, s->section, &r->choice, &reason);
    if (!s->from_override && override_may_matter(&r->settings, s->section))
        buf_printf(&reason, "; --set %s.%s= takes it away", section_name(s->section), s->key->name);
    report_key(&r->report, s, "%s", buf_text(&reason));
    buf_done(&reason);
}

static void read_given(struct reading *r, const struct setting *s)
{
    const struct key *k = s->key;
    struct expr_fault fault;

    if (!key_used(k, s->section, &r->choice)) {
        report_unused(r, s);
    } else if (k->later != NULL) {
        report_key(&r->report, s, "not in this version%s%s", k->later[0] != '\0' ? ": " : "",
                   k->later);
    } else if (setting_text(s).n == 0 && k->type != KEY_NULL) {
        report_empty(r, s);
    } else if (key_is_scalar(k) &&
               !scalar_read(k, setting_text(s), key_slot(r->config, s->section, k), &fault)) {
        report_fault(r, s, &fault);
    }
}

static bool reads_file(const struct reading *r, enum section section)
{
    return (r->choice.endpoints[section] & (USE_FILE | USE_STANDARD)) != 0;
}

static void report_needed(struct reading *r, enum section section, const struct key *k)
{
    struct buf reason = BUF_EMPTY;

    key_used_reason(k, &r->choice, &reason);
    report_section(&r->report, &r->settings, section, "%sneeds %s, such as: %s = %s",
                   buf_text(&reason), k->name, k->name, k->example);
    buf_done(&reason);
}

static void read_missing(struct reading *r, enum section section, const struct key *k)
{
    const char *preset = k->preset;
    struct expr_fault fault;
    bool ok;

    if (k->later != NULL || !key_used(k, section, &r->choice))
        return;
    if (k->example != NULL && key_known_used(k, &r->choice))
        report_needed(r, section, k);
    if (k->preset_file != NULL && reads_file(r, section))
        preset = k->preset_file;
    if (preset == NULL || !key_is_scalar(k))
        return;
    ok = scalar_read(k, bytes_of(preset), key_slot(r->config, section, k), &fault);
    assert(ok); /* the table is ours */
}

static void read_section(struct reading *r, enum section section)
{
    for (size_t i = 0; i < key_count; i++) {
        const struct setting *s;
        if (!key_in(&keys[i], section))
            continue;
        s = settings_find(&r->settings, section, keys[i].name);
        if (s != NULL)
            read_given(r, s);
        else
            read_missing(r, section, &keys[i]);
    }
}

/* The whole of [late] is for event time. False: it is refused. */
static bool late_used(struct reading *r)
{
    const struct key *time = key_find(SECTION_JOIN, BYTES_LIT("time"));

    if (!key_used(time, SECTION_JOIN, &r->choice)) {
        report_section(&r->report, &r->settings, SECTION_LATE,
                       "not used with match = %s, where no record is late",
                       r->choice.match == USE_MATCH(MATCH_LOOKUP) ? "lookup" : "batch");
        return false;
    }
    if (r->choice.time != USE_TIME(TIME_PROCESSING))
        return true;
    report_section(&r->report, &r->settings, SECTION_LATE,
                   "not used with time = processing, where no record is late (only with time = "
                   "event)");
    return false;
}

static void read_sections(struct reading *r)
{
    for (int s = 0; s < SECTIONS; s++) {
        if (!section_in_force(&r->settings, (enum section)s))
            continue;
        if (s == SECTION_LATE && !late_used(r))
            continue;
        endpoint_read(r, (enum section)s);
        read_section(r, (enum section)s);
    }
}

/* --- keys together --- */

/* A null text is unquoted, so it cannot hold the delimiter. */
static void check_null(struct reading *r, enum section section, char delimiter,
                       struct bytes null_text)
{
    const struct setting *s = settings_find(&r->settings, section, "null");

    if (r->choice.formats[section] != USE_CSV || null_text.n == 0 ||
        memchr(null_text.p, delimiter, null_text.n) == NULL)
        return;
    report_value(&r->report, s, 0, "the null text cannot hold the delimiter");
}

static void check_memory(struct reading *r)
{
    const struct setting *memory = reading_find(r, SECTION_STATE, "memory");
    size_t left = r->config->input[SIDE_LEFT].format.max_line;
    size_t right = r->config->input[SIDE_RIGHT].format.max_line;
    size_t longest = left > right ? left : right;
    uint64_t limit = r->config->plan->state_bytes_max;
    struct buf text = BUF_EMPTY;

    if (limit == 0 || limit / LINES_IN_STATE >= longest)
        return;
    if (memory != NULL) {
        buf_append_text(&text, "too little for max_line: at least 16 x ");
        size_write((int64_t)longest, &text);
    } else {
        memory = reading_find(r, left > right ? SECTION_LEFT : SECTION_RIGHT, "max_line");
        buf_append_text(&text, "too much for state.memory, of which it may be a 16th: it is ");
        size_write((int64_t)limit, &text);
    }
    report_value(&r->report, memory, 0, "%s", buf_text(&text));
    buf_done(&text);
}

/* What was given for a key of [join] that is used, if it could be read. */
static const struct setting *duration_given(const struct reading *r, const char *name,
                                            int64_t *ret_ms)
{
    const struct setting *s = reading_find(r, SECTION_JOIN, name);
    struct expr_fault fault;

    if (s == NULL || !key_used(s->key, SECTION_JOIN, &r->choice))
        return NULL;
    if (scalar_read(s->key, setting_text(s), ret_ms, &fault))
        return s;
    mem_free(fault.message); /* it is told already */
    return NULL;
}

static void check_windows(struct reading *r)
{
    struct buf least = BUF_EMPTY;
    int64_t size, slide;

    if (duration_given(r, "size", &size) == NULL || duration_given(r, "slide", &slide) == NULL ||
        size <= slide * WINDOWS_MAX)
        return;
    duration_write((size + WINDOWS_MAX - 1) / WINDOWS_MAX, &least);
    report_value(&r->report, reading_find(r, SECTION_JOIN, "slide"), 0,
                 "too short for the size: a record would lie in more than %d windows (at least %s)",
                 WINDOWS_MAX, buf_text(&least));
    buf_done(&least);
}

/* Told where lower is, unless upper alone is from --set. */
static void check_bounds(struct reading *r)
{
    const struct setting *lower, *upper;
    int64_t lower_ms, upper_ms;

    lower = duration_given(r, "lower", &lower_ms);
    upper = duration_given(r, "upper", &upper_ms);
    if (lower == NULL || upper == NULL || lower_ms <= upper_ms)
        return;
    if (upper->from_override && !lower->from_override)
        report_value(&r->report, upper, 0, "it is below lower, so no record could have a partner");
    else
        report_value(&r->report, lower, 0, "it is above upper, so no record could have a partner");
}

/* Semantics.md sections 4 and 5: the right side is a table, which outlives its matches,
 * so no row of it is ever known to have none. */
static void check_type(struct reading *r)
{
    const struct plan *plan = r->config->plan;

    if (!plan_traits(plan)->right_asked || !plan_pads(plan, SIDE_RIGHT))
        return;
    report_value(&r->report, reading_find(r, SECTION_JOIN, "type"), 0,
                 "%s is not for match = %s, where the right side is a table that is asked, and "
                 "never padded (write inner, left, semi or anti)",
                 join_type_word(plan->type), plan_traits(plan)->word);
}

static void check_together(struct reading *r)
{
    struct config *c = r->config;

    for (int s = 0; s < SIDES; s++)
        check_null(r, side_section((enum side)s), c->input[s].format.delimiter,
                   c->input[s].format.null_text);
    for (int s = SECTION_OUTPUT; s <= SECTION_REJECTS; s++) {
        const struct output_format *f = &c->output[section_output((enum section)s)].format;
        check_null(r, (enum section)s, f->delimiter, f->null_text);
    }
    check_memory(r);
    check_type(r);
    check_windows(r);
    check_bounds(r);
}

/* --- the whole --- */

static struct config *config_new(const struct config_source *source)
{
    struct config *c = mem_alloc_zeroed(1, sizeof(*c));

    c->name = path_stem(source->path);
    c->path = mem_strdup(source->path);
    c->plan = plan_new();
    c->text_hash = hash_bytes(source->text.p, source->text.n, 0);
    return c;
}

static bool is_bounded(const struct endpoint *e)
{
    return e->kind == ENDPOINT_FILE || e->kind == ENDPOINT_STANDARD;
}

/* What follows from the rest. */
static void fill_plan(struct config *c)
{
    struct plan *p = c->plan;

    if (p->slide_ms == 0) /* tumbling */
        p->slide_ms = p->size_ms;
    p->replay = p->time == TIME_EVENT && plan_traits(p)->replays &&
                is_bounded(&c->input[SIDE_LEFT].endpoint) &&
                is_bounded(&c->input[SIDE_RIGHT].endpoint);
    p->keep_times = select_keeps_times(&c->output[OUTPUT_RESULTS].format.select);
}

/* JSON has no null text, and it is never NULL here. */
static struct bytes copy_of(struct bytes text)
{
    return (struct bytes){text.n > 0 ? mem_strndup(text.p, text.n) : mem_strdup(""), text.n};
}

/* What the decoders and the stores have to know of a side. */
static void fill_forms(struct config *c)
{
    for (int s = 0; s < SIDES; s++) {
        struct plan_side *side = &c->plan->side[s];
        struct input_format *f = &c->input[s].format;

        f->schema = &side->schema;
        f->timed = c->plan->time == TIME_EVENT && side->timestamp != NULL &&
                   side->timestamp->kind == EXPR_FIELD;
        if (f->timed)
            f->time_field = side->timestamp->field;
        side->form = (struct record_form){
            .field_count = side->schema.count,
            .delimiter = f->delimiter,
            .null_text = copy_of(f->null_text),
        };
    }
}

struct config *config_read(const struct config_source *source, struct diag *diag)
{
    assert(source->path != NULL && source->current_directory[0] == '/');
    struct reading r = {
        .current_directory = source->current_directory,
        .report = {.path = source->path, .diag = diag},
        .config = config_new(source),
    };
    size_t told_before = diag->count;

    settings_read(source->text, &r.report, &r.settings);
    for (size_t i = 0; i < source->override_count; i++)
        settings_override(&r.settings, source->overrides[i].text, &r.report);
    choose(&r);
    read_sections(&r);
    endpoints_compare(&r);
    join_read(&r);
    check_together(&r);
    settings_done(&r.settings);
    if (diag->count > told_before) {
        diag_sort(diag);
        config_free(r.config);
        return NULL;
    }
    fill_plan(r.config);
    fill_forms(r.config);
    assert(config_ok(r.config));
    return r.config;
}

bool config_text_differs(const struct config *c, struct bytes text)
{
    return c->text_hash != hash_bytes(text.p, text.n, 0);
}
