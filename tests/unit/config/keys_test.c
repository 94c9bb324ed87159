/*
 * The table of keys is data that everything trusts: what must hold of every row, and
 * what is made of it.
 */
#include "unit.h"

#include "base/mem.h"
#include "codec/decoder.h"
#include "config/key_table.h"
#include "config/keys.h"
#include "config/scalar.h"
#include "model/plan.h"

static void a_section_has_each_key_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < key_count; i++) {
        assert_row(keys[i].sections != 0, keys[i].name);
        for (size_t j = 0; j < i; j++)
            assert_row(strcmp(keys[i].name, keys[j].name) != 0 ||
                           (keys[i].sections & keys[j].sections) == 0,
                       keys[i].name);
    }
}

static void every_key_has_a_sentence_of_help(void **state)
{
    (void)state;
    for (size_t i = 0; i < key_count; i++) {
        const char *help = keys[i].help;
        char last = help[strlen(help) - 1];
        assert_row(last == '.' || last == ')', keys[i].name);
    }
}

/* Defaults go the same way as what users write. */
static void every_default_can_be_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < key_count; i++) {
        const struct key *k = &keys[i];
        struct expr_fault fault;

        if (k->later != NULL || !key_is_scalar(k))
            continue;
        if (k->preset != NULL)
            assert_row(scalar_read(k, bytes_of(k->preset), NULL, &fault), k->name);
        if (k->preset_file != NULL)
            assert_row(scalar_read(k, bytes_of(k->preset_file), NULL, &fault), k->name);
    }
}

/* Else --check would print nothing, or anything. */
static void every_scalar_is_kept_or_has_one_value(void **state)
{
    (void)state;
    for (size_t i = 0; i < key_count; i++) {
        const struct key *k = &keys[i];
        int values = 0;

        if (k->later != NULL || !key_is_scalar(k) || k->part != PART_NONE)
            continue;
        assert_row(k->type == KEY_WORD, k->name);
        for (const struct key_word *w = k->words; w->text != NULL; w++)
            values += !w->later;
        assert_row(values == 1, k->name);
    }
}

static void sections_and_keys_are_found_by_name(void **state)
{
    enum section s;

    (void)state;
    assert_true(section_find(BYTES_LIT("rejects"), &s));
    assert_int_equal(s, SECTION_REJECTS);
    assert_false(section_find(BYTES_LIT("Left"), &s));
    assert_false(section_find(BYTES_LIT(""), &s));
    assert_non_null(key_find(SECTION_LEFT, BYTES_LIT("max_line")));
    assert_null(key_find(SECTION_OUTPUT, BYTES_LIT("max_line")));
    assert_ptr_not_equal(key_find(SECTION_LEFT, BYTES_LIT("null")),
                         key_find(SECTION_OUTPUT, BYTES_LIT("null")));
}

static void unknown_names_get_a_hint(void **state)
{
    static const struct {
        enum section section;
        const char *name, *hint;
    } rows[] = {
        {SECTION_LEFT, "listn", "; did you mean \"listen\"?"},
        {SECTION_LEFT, "lisetn", "; did you mean \"listen\"?"},
        {SECTION_LEFT, "fields_", "; did you mean \"fields\"?"},
        {SECTION_LEFT, "delimeter", "; did you mean \"delimiter\"?"},
        {SECTION_LEFT, "Key", "; did you mean \"key\"?"},
        {SECTION_LEFT, "size", "; it belongs to [join]"},
        {SECTION_JOIN, "listen",
         "; it belongs to [left], [right], [output], [late], [rejects], [http]"},
        {SECTION_HTTP, "zzz", " (keys: listen, mode, allow)"},
        {SECTION_PROCESS, "x", " (keys: threads, hash_seed)"},
        {SECTION_STATE, "a_name_that_is_much_too_long_for_a_typing_mistake",
         " (keys: memory, directory, sync)"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf hint = BUF_EMPTY;
        key_hint(rows[i].section, bytes_of(rows[i].name), &hint);
        assert_string_equal(buf_text(&hint), rows[i].hint);
        buf_done(&hint);
    }
}

static void unknown_sections_get_a_hint(void **state)
{
    static const struct {
        const char *name, *hint;
    } rows[] = {
        {"ouput", "; did you mean [output]?"},
        {"reject", "; did you mean [rejects]?"},
        {"lfet", "; did you mean [left]?"},
        {"x", " (sections: left, right, join, output, late, rejects, state, http, process, "
              "flink)"},
        {"", " (sections: left, right, join, output, late, rejects, state, http, process, flink)"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf hint = BUF_EMPTY;
        section_hint(bytes_of(rows[i].name), &hint);
        assert_string_equal(buf_text(&hint), rows[i].hint);
        buf_done(&hint);
    }
}

static void what_was_chosen_decides_which_keys_are_used(void **state)
{
#define PORTS "listen = HOST:PORT or systemd:NAME"
    struct choice c = {.match = USE_MATCH(MATCH_TUMBLING), .time = USE_TIME(TIME_PROCESSING)};
    static const struct {
        enum section section;
        const char *key, *reason;
        unsigned endpoint, format;
    } rows[] = {
        {SECTION_LEFT, "allow", "", USE_TCP, USE_CSV},
        {SECTION_LEFT, "allow", "", USE_SYSTEMD, USE_CSV},
        {SECTION_LEFT, "allow", "", 0, USE_CSV}, /* not known: no follow-up message */
        {SECTION_LEFT, "allow", "not used with file (only with " PORTS ")", USE_FILE, USE_CSV},
        {SECTION_LEFT, "allow", "not used with listen = unix:PATH (only with " PORTS ")", USE_UNIX,
         USE_CSV},
        {SECTION_HTTP, "allow", "not used with listen = unix:PATH (only with " PORTS ")", USE_UNIX,
         0},
        {SECTION_LEFT, "allow", "not used with connect = HOST:PORT (only with " PORTS ")",
         USE_CONNECT_TCP, USE_CSV},
        {SECTION_LEFT, "keepalive",
         "not used with file = - (only with " PORTS ", connect = HOST:PORT)", USE_STANDARD,
         USE_CSV},
        {SECTION_LEFT, "keepalive", "", USE_CONNECT_TCP, USE_CSV},
        {SECTION_LEFT, "keepalive",
         "not used with connect = unix:PATH (only with " PORTS ", connect = HOST:PORT)",
         USE_CONNECT_UNIX, USE_CSV},
        {SECTION_LEFT, "max_connections", "", USE_UNIX, USE_CSV},
        {SECTION_LEFT, "max_connections", "not used with connect = unix:PATH (only with listen)",
         USE_CONNECT_UNIX, USE_CSV},
        {SECTION_OUTPUT, "dead_after", "", USE_CONNECT_UNIX, USE_CSV},
        {SECTION_OUTPUT, "dead_after", "", USE_UNIX, USE_CSV},
        {SECTION_OUTPUT, "buffer", "", USE_CONNECT_TCP, USE_CSV},
        {SECTION_OUTPUT, "buffer", "not used with file (only with listen, connect)", USE_FILE,
         USE_CSV},
        {SECTION_OUTPUT, "absent", "not used with connect = HOST:PORT (only with listen)",
         USE_CONNECT_TCP, USE_CSV},
        {SECTION_OUTPUT, "slow", "", USE_SYSTEMD, USE_CSV},
        {SECTION_OUTPUT, "mode",
         "not used with listen = HOST:PORT (only with listen = unix:PATH, file)", USE_TCP, USE_CSV},
        {SECTION_OUTPUT, "mode", "", USE_UNIX, USE_CSV},
        {SECTION_OUTPUT, "mode", "", USE_FILE, USE_CSV},
        {SECTION_LEFT, "mode", "not used with file (only with listen = unix:PATH)", USE_FILE,
         USE_CSV},
        {SECTION_HTTP, "mode", "", USE_UNIX, 0},
        {SECTION_HTTP, "mode", "not used with listen = systemd:NAME (only with listen = unix:PATH)",
         USE_SYSTEMD, 0},
        {SECTION_OUTPUT, "header", "not used with format = json (only with format = csv)", USE_TCP,
         USE_JSON},
        {SECTION_LEFT, "delay", "not used with time = processing (only with time = event)", USE_TCP,
         USE_CSV},
        {SECTION_JOIN, "gap", "not used with match = tumbling (only with match = session)", 0, 0},
        {SECTION_JOIN, "size", "", 0, 0},
        {SECTION_JOIN, "wait", "not used with match = tumbling (only with match = latest)", 0, 0},
        {SECTION_RIGHT, "duplicates", "not used with match = tumbling (only with match = lookup)",
         0, 0},
        {SECTION_JOIN, "grace", "not used with time = processing (only with time = event)", 0, 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct key *k = key_find(rows[i].section, bytes_of(rows[i].key));
        struct buf reason = BUF_EMPTY;

        c.endpoints[rows[i].section] = rows[i].endpoint;
        c.formats[rows[i].section] = rows[i].format;
        key_unused_reason(k, rows[i].section, &c, &reason);
        assert_string_equal(buf_text(&reason), rows[i].reason);
        assert_int_equal(key_used(k, rows[i].section, &c), rows[i].reason[0] == '\0');
        buf_done(&reason);
    }
}

/* Lines cannot go on where each is a message of its own. */
static void an_envelope_has_no_lines_that_go_on(void **state)
{
    const struct key *k = key_find(SECTION_LEFT, BYTES_LIT("multiline"));
    struct choice c = {.formats = {[SECTION_LEFT] = USE_CSV}};
    struct buf reason = BUF_EMPTY;

    (void)state;
    assert_true(key_used(k, SECTION_LEFT, &c)); /* a word that is not known is told once */
    c.envelopes[SECTION_LEFT] = USE_ENVELOPE(ENVELOPE_NONE);
    assert_true(key_used(k, SECTION_LEFT, &c));
    c.envelopes[SECTION_LEFT] = USE_ENVELOPE(ENVELOPE_SYSLOG);
    assert_false(key_used(k, SECTION_LEFT, &c));
    key_unused_reason(k, SECTION_LEFT, &c, &reason);
    assert_string_equal(buf_text(&reason),
                        "not used with envelope = syslog (only with envelope = none)");
    buf_done(&reason);
}

/* What is needed is asked for only where it is plain that it is needed. */
static void what_was_chosen_says_why_a_key_is_needed(void **state)
{
    static const struct {
        enum section section;
        const char *key;
        unsigned match, time;
        bool known;
        const char *reason;
    } rows[] = {
        {SECTION_LEFT, "fields", 0, 0, true, ""},
        {SECTION_LEFT, "timestamp", USE_MATCH(MATCH_LATEST), USE_TIME(TIME_EVENT), true,
         "time = event "},
        {SECTION_LEFT, "timestamp", 0, USE_TIME(TIME_PROCESSING), false, NULL},
        {SECTION_LEFT, "timestamp", 0, 0, false, NULL},
        {SECTION_JOIN, "size", USE_MATCH(MATCH_SLIDING), 0, true, "match = sliding "},
        {SECTION_JOIN, "slide", USE_MATCH(MATCH_TUMBLING), 0, false, NULL},
        {SECTION_JOIN, "gap", USE_MATCH(MATCH_SESSION), 0, true, "match = session "},
        {SECTION_JOIN, "lower", USE_MATCH(MATCH_INTERVAL), 0, true, "match = interval "},
        {SECTION_JOIN, "lower", 0, 0, false, NULL},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct key *k = key_find(rows[i].section, bytes_of(rows[i].key));
        struct choice c = {.match = rows[i].match, .time = rows[i].time};
        struct buf reason = BUF_EMPTY;

        assert_row(key_known_used(k, &c) == rows[i].known, rows[i].key);
        if (rows[i].known) {
            key_used_reason(k, &c, &reason);
            assert_string_equal(buf_text(&reason), rows[i].reason);
        }
        buf_done(&reason);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_section_has_each_key_once),
        cmocka_unit_test(every_key_has_a_sentence_of_help),
        cmocka_unit_test(every_default_can_be_read),
        cmocka_unit_test(every_scalar_is_kept_or_has_one_value),
        cmocka_unit_test(sections_and_keys_are_found_by_name),
        cmocka_unit_test(unknown_names_get_a_hint),
        cmocka_unit_test(unknown_sections_get_a_hint),
        cmocka_unit_test(what_was_chosen_decides_which_keys_are_used),
        cmocka_unit_test(an_envelope_has_no_lines_that_go_on),
        cmocka_unit_test(what_was_chosen_says_why_a_key_is_needed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
