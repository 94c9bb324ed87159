/*
 * The form of a file: what is a section, a key, a value, a comment, and where each
 * stands.
 */
#include "unit.h"

#include "base/mem.h"
#include "config/lines.h"

/* --- a way to write down what was read --- */

/* `[left]@1:1 key@2:1=value@2:7 `, then `!` and each message. */
static void read_as_text(struct bytes text, struct buf *said)
{
    struct ini_lines lines;
    struct diag diag;
    struct report report = {.path = "f", .diag = &diag};

    diag_init(&diag);
    ini_lines_read(text, &report, &lines);
    for (size_t i = 0; i < lines.count; i++) {
        const struct ini_line *l = &lines.items[i];
        struct place at = ini_value_place(&l->value, 0);

        if (l->is_section)
            buf_printf(said, "[%s]@%d:%d ", l->name, l->place.line, l->place.column);
        else
            buf_printf(said, "%s@%d:%d=%.*s@%d:%d ", l->name, l->place.line, l->place.column,
                       (int)buf_length(&l->value.text), buf_data(&l->value.text), at.line,
                       at.column);
    }
    for (size_t i = 0; i < diag.count; i++)
        buf_printf(said, "!%s ", diag.messages[i].text);
    ini_lines_done(&lines);
    diag_done(&diag);
}

static void assert_reads(const char *text, const char *expected)
{
    struct buf said = BUF_EMPTY;

    read_as_text(bytes_of(text), &said);
    assert_text(buf_data(&said), buf_length(&said), expected);
    buf_done(&said);
}

/* Some message is told, and it has these words. */
static void assert_refuses(const char *text, const char *words)
{
    struct buf said = BUF_EMPTY;

    read_as_text(bytes_of(text), &said);
    if (strchr(buf_text(&said), '!') == NULL || strstr(buf_text(&said), words) == NULL)
        fail_msg("\"%s\" says \"%s\", not \"%s\"", text, buf_text(&said), words);
    buf_done(&said);
}

/* --- keys and values --- */

static void a_key_and_its_value_have_places(void **state)
{
    (void)state;
    assert_reads("[left]\nkey = value\n", "[left]@1:1 key@2:1=value@2:7 ");
    assert_reads("[left]\nkey=value\n", "[left]@1:1 key@2:1=value@2:5 ");
    assert_reads("\n\n[ left ]\nkey  =\t value \t\n", "[left]@3:1 key@4:1=value@4:9 ");
    assert_reads("[a]\nk = a = b\n", "[a]@1:1 k@2:1=a = b@2:5 ");
    assert_reads("[a]\nk =\n", "[a]@1:1 k@2:1=@2:4 ");
    assert_reads("[a]\nk = :\n", "[a]@1:1 k@2:1=:@2:5 ");
    assert_reads("", "");
    assert_reads("\n  \n\t\n", "");
}

static void the_last_line_needs_no_end(void **state)
{
    (void)state;
    assert_reads("[a]\nk = v", "[a]@1:1 k@2:1=v@2:5 ");
    assert_reads("[a]", "[a]@1:1 ");
    assert_reads("[a]\nk = v\n  w", "[a]@1:1 k@2:1=v w@2:5 ");
}

static void lines_may_end_with_crlf(void **state)
{
    (void)state;
    assert_reads("[a]\r\nk = v\r\n  w\r\n\r\n; x\r\n", "[a]@1:1 k@2:1=v w@2:5 ");
    assert_reads("[a]\r\nk = v\r", "[a]@1:1 k@2:1=v@2:5 ");
    assert_refuses("[a]\nk = v\rw\n", "f:2:6: a byte 0x0d (a CR that ends no line)");
}

static void a_bom_is_passed_over_at_the_start_alone(void **state)
{
    (void)state;
    assert_reads("\xef\xbb\xbf[a]\nk = v\n", "[a]@1:1 k@2:1=v@2:5 ");
    assert_refuses("[a]\n\xef\xbb\xbfk = v\n", "f:2:1: ");
}

/* --- comments --- */

static void comments_stand_at_the_start_of_a_line(void **state)
{
    (void)state;
    assert_reads("; x\n# [y]\n[a]\n;k = v\n  ; z\n\t# z\nk = v\n", "[a]@3:1 k@7:1=v@7:5 ");
    assert_reads("[a] ; x\n[b]# y\n", "[a]@1:1 [b]@2:1 ");
}

static void a_comment_ends_a_value(void **state)
{
    static const struct {
        const char *line, *value;
    } rows[] = {
        {"v ; x", "v"},
        {"v\t;x", "v"},
        {"v  ;", "v"},
        {"v;x", "v;x"},
        {"v # x", "v # x"},
        {"a;b ;c", "a;b"},
        {";", ";"},
        {"; ; x", ";"},
        {"\"a ;b\" ; x", "\"a ;b\""},
        {"'a ;b' ; x", "'a ;b'"},
        {"f('a ;b', \"c ;d\") ; x", "f('a ;b', \"c ;d\")"},
        {"'it''s ;' ; x", "'it''s ;'"},
        {"\"it's\" ; x", "\"it's\""},
        {"it's ; x", "it's"},
        {"a \" b ; x", "a \" b"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf text = BUF_EMPTY, expected = BUF_EMPTY;

        buf_printf(&text, "[a]\nk = %s\n", rows[i].line);
        buf_printf(&expected, "[a]@1:1 k@2:1=%s@2:5 ", rows[i].value);
        assert_reads(buf_text(&text), buf_text(&expected));
        buf_done(&text);
        buf_done(&expected);
    }
}

/* --- continued lines --- */

static void an_indented_line_goes_on_with_the_value(void **state)
{
    (void)state;
    assert_reads("[a]\nk = v\n w\n\tx ; comment\n", "[a]@1:1 k@2:1=v w x@2:5 ");
    assert_reads("[a]\nk =\n    v,\n    ; between\n\n    w\n", "[a]@1:1 k@2:1=v, w@3:5 ");
    assert_reads("[a]\nk = 'x\n y ; z'\n", "[a]@1:1 k@2:1='x y@2:5 ");
    assert_reads("[a]\nk = v\n = w\n", "[a]@1:1 k@2:1=v = w@2:5 ");
}

static void each_byte_of_a_continued_value_knows_its_place(void **state)
{
    static const struct {
        size_t offset;
        int line, column;
    } rows[] = {
        {0, 2, 5},  {2, 2, 7},  {3, 2, 8},            /* `ab,` and the space behind */
        {4, 3, 3},  {6, 3, 4},  {8, 3, 6}, {9, 3, 7}, /* u-umlaut is 2 bytes, 1 column */
        {10, 5, 2}, {11, 5, 3},                       /* behind a comment */
    };
    struct ini_lines lines;
    struct diag diag;
    struct report report = {.path = "f", .diag = &diag};
    const char *text = "[a]\nk = ab, ; x\n  \xc3\xbc"
                       "cd, ; y\n ; z\n\te\n";

    (void)state;
    diag_init(&diag);
    ini_lines_read(bytes_of(text), &report, &lines);
    assert_int_equal(lines.count, 2);
    assert_string_equal(buf_text(&lines.items[1].value.text), "ab, \xc3\xbc"
                                                              "cd, e");
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct place p = ini_value_place(&lines.items[1].value, rows[i].offset);
        assert_int_equal(p.line, rows[i].line);
        assert_int_equal(p.column, rows[i].column);
    }
    ini_lines_done(&lines);
    diag_done(&diag);
}

static void a_key_that_is_indented_is_told_and_read(void **state)
{
    (void)state;
    assert_reads("[left]\nkey = v\n  where = w\n",
                 "[left]@1:1 key@2:1=v@2:7 where@3:3=w@3:11 !f:3:3: a key cannot be indented: this "
                 "line would go on with the value above ");
    /* `size` is no key of [left], so this can be a condition that goes on. */
    assert_reads("[left]\nwhere = a and\n  size = w\n", "[left]@1:1 where@2:1=a and size = w@2:9 ");
    assert_refuses("[left]\nkey = v\n  [right]\n", "f:3:3: a section cannot be indented");
    assert_reads("[left]\nkey = v\n  [x]\n", "[left]@1:1 key@2:1=v [x]@2:7 ");
}

static void what_is_refused_takes_what_goes_on_with_it(void **state)
{
    (void)state;
    assert_reads("[a]\nk\n  more\n  = more\nl = v\n",
                 "[a]@1:1 l@5:1=v@5:5 !f:2:1: \"=\" is missing: write key = value (a line that "
                 "goes on with the value above is indented) ");
}

/* --- what is refused --- */

static void broken_forms_are_told(void **state)
{
    static const struct {
        const char *text, *words;
    } rows[] = {
        {"[a\nk = v\n", "f:1:1: \"]\" is missing"},
        {"[]\n", "f:1:1: a section needs a name"},
        {"[ ]\n", "f:1:1: a section needs a name"},
        {"[a] x\n", "f:1:5: nothing but a comment"},
        {"k = v\n", "f:1:1: a key has to stand in a [section]"},
        {"[a]\nk: v\n", "f:2:1: \"=\" is missing: write key = value (\":\" does not part them)"},
        {"[a]\nk: v = w\n", "f:2:1: \"k: v\" is no key"},
        {"[a]\n= v\n", "f:2:1: \"\" is no key"},
        {"[a]\n  v\n", "f:2:3: an indented line goes on with the value above, but there is none"},
        {"  v\n", "f:1:3: an indented line goes on"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_refuses(rows[i].text, rows[i].words);
}

/* The keys of a broken section must not fall into the one before it. */
static void keys_behind_a_broken_section_belong_to_none(void **state)
{
    (void)state;
    assert_reads("[a]\n[b\nk = v\n  w\nl = v\n[c]\nm = v\n",
                 "[a]@1:1 [c]@6:1 m@7:1=v@7:5 !f:2:1: \"]\" is missing: write [section] ");
}

static void control_characters_are_told_with_their_place(void **state)
{
    struct buf said = BUF_EMPTY;

    (void)state;
    read_as_text(BYTES_LIT("[a]\nk = v\0w = x\nl = v\n"), &said);
    assert_string_equal(buf_text(&said), "[a]@1:1 l@3:1=v@3:5 !f:2:6: a byte 0x00 (NUL) has no "
                                         "place in a configuration ");
    buf_done(&said);
    assert_refuses("[a]\nk = \x1b[0m\n", "f:2:5: a byte 0x1b");
    assert_refuses("[a]\nk = \x7f\n", "f:2:5: a byte 0x7f");
    assert_refuses("[a]\n; \x01\n", "f:2:3: a byte 0x01");
}

static void lines_have_at_most_16_kib(void **state)
{
    (void)state;
    for (size_t n = LINE_MAX_BYTES - 1; n <= LINE_MAX_BYTES + 1; n++) {
        struct buf text = BUF_EMPTY, said = BUF_EMPTY;

        buf_append_text(&text, "[a]\nk = ");
        while (buf_length(&text) - 4 < n)
            buf_append_char(&text, 'x');
        buf_append_text(&text, "\r\nl = v\n");
        read_as_text(buf_bytes(&text), &said);
        assert_int_equal(strstr(buf_text(&said), "!f:2:1: a line of more than") != NULL,
                         n > LINE_MAX_BYTES);
        assert_int_equal(strstr(buf_text(&said), "k@2:1=xxx") != NULL, n <= LINE_MAX_BYTES);
        assert_non_null(strstr(buf_text(&said), "l@3:1=v@3:5"));
        buf_done(&text);
        buf_done(&said);
    }
}

static void names_that_inih_would_cut_are_refused(void **state)
{
    (void)state;
    for (size_t n = NAME_MAX_BYTES; n <= NAME_MAX_BYTES + 1; n++) {
        struct buf text = BUF_EMPTY, said = BUF_EMPTY;

        buf_append_text(&text, "[a]\n");
        for (size_t i = 0; i < n; i++)
            buf_append_char(&text, 'k');
        buf_append_text(&text, " = v\n");
        read_as_text(buf_bytes(&text), &said);
        assert_int_equal(strchr(buf_text(&said), '!') != NULL, n > NAME_MAX_BYTES);
        buf_done(&text);
        buf_done(&said);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_and_its_value_have_places),
        cmocka_unit_test(the_last_line_needs_no_end),
        cmocka_unit_test(lines_may_end_with_crlf),
        cmocka_unit_test(a_bom_is_passed_over_at_the_start_alone),
        cmocka_unit_test(comments_stand_at_the_start_of_a_line),
        cmocka_unit_test(a_comment_ends_a_value),
        cmocka_unit_test(an_indented_line_goes_on_with_the_value),
        cmocka_unit_test(each_byte_of_a_continued_value_knows_its_place),
        cmocka_unit_test(a_key_that_is_indented_is_told_and_read),
        cmocka_unit_test(what_is_refused_takes_what_goes_on_with_it),
        cmocka_unit_test(broken_forms_are_told),
        cmocka_unit_test(keys_behind_a_broken_section_belong_to_none),
        cmocka_unit_test(control_characters_are_told_with_their_place),
        cmocka_unit_test(lines_have_at_most_16_kib),
        cmocka_unit_test(names_that_inih_would_cut_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
