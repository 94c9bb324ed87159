/* What was given for which key: by the file, by --set, and what --set takes away. */
#include "unit.h"

#include "config/settings.h"

#define FILE_TEXT                                                                                  \
    "[left]\n"                                                                                     \
    "listen = h:1\n"                                                                               \
    "[http]\n"                                                                                     \
    "listen = h:2\n"

/* `left.listen=h:1 `, or `-left.listen ` where it was taken away; then messages. */
static void say(const struct settings *s, const struct diag *diag, struct buf *to)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct setting *x = &s->items[i];
        buf_printf(to, "%s%s.%s", x->unset ? "-" : "", section_name(x->section), x->key->name);
        if (!x->unset)
            buf_printf(to, "=%.*s", (int)setting_text(x).n, setting_text(x).p);
        buf_append_char(to, ' ');
    }
    for (size_t i = 0; i < diag->count; i++)
        buf_printf(to, "!%s ", diag->messages[i].text);
}

/* Up to three overrides; NULL: none. */
static void assert_settings(const char *text, const char *const overrides[3], const char *expected)
{
    struct settings s;
    struct diag diag;
    struct report report = {.path = "f", .diag = &diag};
    struct buf said = BUF_EMPTY;

    diag_init(&diag);
    settings_read(bytes_of(text), &report, &s);
    for (size_t i = 0; i < 3 && overrides[i] != NULL; i++)
        settings_override(&s, overrides[i], &report);
    say(&s, &diag, &said);
    assert_string_equal(buf_text(&said), expected);
    buf_done(&said);
    settings_done(&s);
    diag_done(&diag);
}

static const char *const no_overrides[3];

static void sections_of_the_same_name_are_one(void **state)
{
    (void)state;
    assert_settings("[left]\nlisten = h:1\n[join]\nsize = 5s\n[left]\nkey = a\n", no_overrides,
                    "left.listen=h:1 join.size=5s left.key=a ");
}

static void a_key_given_twice_is_told_with_the_first_line(void **state)
{
    (void)state;
    assert_settings("[left]\nkey = a\n[join]\n[left]\nkey = b\n", no_overrides,
                    "left.key=a !f:5:1: [left] key: given twice; it is in line 2 already ");
}

static void the_same_key_in_two_sections_is_two_keys(void **state)
{
    (void)state;
    assert_settings("[left]\nkey = a\n[right]\nkey = b\n", no_overrides, "left.key=a right.key=b ");
}

/* The keys of an unknown section are not told one by one. */
static void unknown_names_are_told_once(void **state)
{
    (void)state;
    assert_settings("[letf]\nkey = a\nx = y\n[left]\nkye = a\n", no_overrides,
                    "!f:1:1: [letf]: no such section; did you mean [left]? "
                    "!f:5:1: [left] kye: no such key; did you mean \"key\"? ");
}

static void values_pass_through_inih_unharmed(void **state)
{
    (void)state;
    assert_settings("[left]\nkey = a: b;c \" 'd\nnull =\nwhere = [x] # y = z ;\nname = ';' ;\n",
                    no_overrides,
                    "left.key=a: b;c \" 'd left.null= left.where=[x] # y = z left.name=';' ");
}

static void long_values_are_whole(void **state)
{
    struct buf text = BUF_EMPTY, expected = BUF_EMPTY;

    (void)state;
    buf_append_text(&text, "[left]\nkey = a,");
    buf_append_text(&expected, "left.key=a,");
    for (int i = 0; i < 8000; i++) {
        buf_append_text(&text, "\n  abc,");
        buf_append_text(&expected, " abc,");
    }
    buf_append_text(&text, "\nwhere = b\n");
    buf_append_text(&expected, " left.where=b ");
    assert_settings(buf_text(&text), no_overrides, buf_text(&expected));
    buf_done(&text);
    buf_done(&expected);
}

static void overrides_go_over_the_file(void **state)
{
    static const struct {
        const char *overrides[3];
        const char *expected;
    } rows[] = {
        {{"left.listen=h:9"}, "left.listen=h:9 http.listen=h:2 "},
        {{" left.listen = h:9 "}, "left.listen=h:9 http.listen=h:2 "},
        {{"left.listen=h:8", "left.listen=h:9"}, "left.listen=h:9 http.listen=h:2 "},
        {{"left.listen="}, "-left.listen http.listen=h:2 "},
        {{"left.listen=", "left.file=old.csv"}, "-left.listen http.listen=h:2 left.file=old.csv "},
        {{"left.listen=", "left.listen=h:9"}, "left.listen=h:9 http.listen=h:2 "},
        {{"state.memory=1M"}, "left.listen=h:1 http.listen=h:2 state.memory=1M "},
        {{"state.memory="}, "left.listen=h:1 http.listen=h:2 -state.memory "},
        {{"left.where=a = b"}, "left.listen=h:1 http.listen=h:2 left.where=a = b "},
        {{"left.where=a ; b"}, "left.listen=h:1 http.listen=h:2 left.where=a ; b "},
        {{"left.where=a\n and b"}, "left.listen=h:1 http.listen=h:2 left.where=a  and b "},
        {{"left.delimiter=\t"}, "left.listen=h:1 http.listen=h:2 left.delimiter=\t "},
        {{"left.delimiter= "}, "left.listen=h:1 http.listen=h:2 left.delimiter=  "},
        {{"lfet.key=a"},
         "left.listen=h:1 http.listen=h:2 !--set lfet.key: no such section; did you mean [left]? "},
        {{"left.kye=a"},
         "left.listen=h:1 http.listen=h:2 !--set left.kye: no such key; did you mean \"key\"? "},
        {{"left.kye="},
         "left.listen=h:1 http.listen=h:2 !--set left.kye: no such key; did you mean \"key\"? "},
        {{"left.key=\x01"},
         "left.listen=h:1 http.listen=h:2 left.key=\x01 !--set left.key: control characters have "
         "no place in a configuration "},
        {{"left"}, "left.listen=h:1 http.listen=h:2 !--set: \"left\" is not SECTION.KEY=VALUE "},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_settings(FILE_TEXT, rows[i].overrides, rows[i].expected);
}

static void overrides_have_a_form(void **state)
{
    static const char *const valid[] = {"a.b=", "a.b=c", "a.b=c.d=e", " a . b = c ", "a.b.c=d"};
    static const char *const invalid[] = {"",   "a",    "a=b",  "a.b",   "=",
                                          ".=", "a.=b", ".b=c", " .b=c", "a=b.c"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(valid); i++)
        assert_row(settings_override_valid(valid[i]), valid[i]);
    for (size_t i = 0; i < COUNT_OF(invalid); i++)
        assert_row(!settings_override_valid(invalid[i]), invalid[i]);
}

static void places_are_those_of_the_file_or_of_the_option(void **state)
{
    struct settings s;
    struct diag diag;
    struct report report = {.path = "dir/f.ini", .diag = &diag};
    const struct setting *key;

    (void)state;
    diag_init(&diag);
    settings_read(BYTES_LIT("\n[left]\nkey = a,\n  b\n"), &report, &s);
    key = settings_find(&s, SECTION_LEFT, "key");
    report_value(&report, key, 3, "x %d", 1);
    report_key(&report, key, "y");
    report_section(&report, &s, SECTION_LEFT, "z");
    report_section(&report, &s, SECTION_JOIN, "z");
    settings_override(&s, "left.key=c", &report);
    report_value(&report, settings_find(&s, SECTION_LEFT, "key"), 0, "x");
    assert_int_equal(diag.count, 5);
    assert_string_equal(diag.messages[0].text, "dir/f.ini:4:3: [left] key: x 1");
    assert_string_equal(diag.messages[1].text, "dir/f.ini:3:1: [left] key: y");
    assert_string_equal(diag.messages[2].text, "dir/f.ini:2:1: [left]: z");
    assert_string_equal(diag.messages[3].text, "dir/f.ini: [join]: z");
    assert_string_equal(diag.messages[4].text, "--set left.key: x");
    settings_done(&s);
    diag_done(&diag);
}

static void what_was_taken_away_is_not_found(void **state)
{
    struct settings s;
    struct diag diag;
    struct report report = {.path = "f", .diag = &diag};

    (void)state;
    diag_init(&diag);
    settings_read(BYTES_LIT(FILE_TEXT), &report, &s);
    assert_false(s.has_section[SECTION_STATE]);
    settings_override(&s, "left.listen=", &report);
    settings_override(&s, "state.memory=", &report);
    assert_null(settings_find(&s, SECTION_LEFT, "listen"));
    assert_true(settings_unset(&s, SECTION_LEFT, "listen"));
    assert_false(settings_unset(&s, SECTION_HTTP, "listen"));
    assert_false(s.has_section[SECTION_STATE]);
    settings_override(&s, "state.memory=1M", &report);
    assert_true(s.has_section[SECTION_STATE]);
    settings_done(&s);
    diag_done(&diag);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sections_of_the_same_name_are_one),
        cmocka_unit_test(a_key_given_twice_is_told_with_the_first_line),
        cmocka_unit_test(the_same_key_in_two_sections_is_two_keys),
        cmocka_unit_test(unknown_names_are_told_once),
        cmocka_unit_test(values_pass_through_inih_unharmed),
        cmocka_unit_test(long_values_are_whole),
        cmocka_unit_test(overrides_go_over_the_file),
        cmocka_unit_test(overrides_have_a_form),
        cmocka_unit_test(places_are_those_of_the_file_or_of_the_option),
        cmocka_unit_test(what_was_taken_away_is_not_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
