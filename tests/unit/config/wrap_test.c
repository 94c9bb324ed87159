/* Long lines: where they are broken, and that nothing is lost or taken for something else. */
#include "unit.h"

#include <stdio.h>

#include "base/mem.h"
#include "config/lines.h"
#include "config/wrap.h"

#define TEN   "aaaaaaaaa "
#define FORTY TEN TEN TEN TEN

/* Reads `key = value` as it was wrapped; the value is the caller's. */
static struct buf unwrap(const struct buf *wrapped)
{
    struct buf file = BUF_EMPTY, value = BUF_EMPTY;
    struct ini_lines lines;
    struct diag diag;
    struct report report = {.path = "f", .diag = &diag};

    diag_init(&diag);
    buf_append_text(&file, "[output]\n");
    buf_append_bytes(&file, buf_bytes(wrapped));
    ini_lines_read(buf_bytes(&file), &report, &lines);
    for (size_t i = 0; i < diag.count; i++)
        fail_msg("%s in\n%s", diag.messages[i].text, buf_text(&file));
    assert_int_equal(lines.count, 2);
    buf_append_bytes(&value, buf_bytes(&lines.items[1].value.text));
    ini_lines_done(&lines);
    diag_done(&diag);
    buf_done(&file);
    return value;
}

static void assert_wraps(const char *value, const char *expected)
{
    struct buf wrapped = BUF_EMPTY, read;

    buf_append_text(&wrapped, "select = ");
    wrap_value(&wrapped, bytes_of(value), buf_length(&wrapped), SECTION_OUTPUT);
    if (expected != NULL)
        assert_string_equal(buf_text(&wrapped), expected);
    read = unwrap(&wrapped);
    assert_string_equal(buf_text(&read), value);
    buf_done(&wrapped);
    buf_done(&read);
}

static void short_values_stay_on_their_line(void **state)
{
    (void)state;
    assert_wraps("a", "select = a");
    assert_wraps("a, b + c, 'x, y'", "select = a, b + c, 'x, y'");
    assert_wraps(FORTY FORTY "abcdefghijk", "select = " FORTY FORTY "abcdefghijk");
}

static void lists_are_broken_between_their_items(void **state)
{
    (void)state;
    assert_wraps(
        "coalesce(aaaaaaaaaaaaaaaaaaaaaaaaaa, bbbbbbbbbbbbbbbbbbbbbbbbbbbbb), c, "
        "coalesce(ddddddddddddddddddddddd, e), f",
        "select = coalesce(aaaaaaaaaaaaaaaaaaaaaaaaaa, bbbbbbbbbbbbbbbbbbbbbbbbbbbbb), c,\n"
        "    coalesce(ddddddddddddddddddddddd, e), f");
}

static void an_item_too_long_for_a_line_is_broken_at_its_blanks(void **state)
{
    (void)state;
    assert_wraps(FORTY FORTY TEN TEN "b, c", "select = " FORTY FORTY "aaaaaaaaa\n    "
                                             "aaaaaaaaa b, c");
}

/* The next line would be the key `null` of this section, or a comment. */
static void no_line_begins_with_what_it_is_not(void **state)
{
    (void)state;
    assert_wraps(FORTY FORTY "aaaaaaaaa, null = 1, c",
                 "select = " FORTY FORTY "aaaaaaaaa, null\n    = 1, c");
    assert_wraps(FORTY FORTY TEN "null = 1 and null = 2 and b", NULL);
    assert_wraps(FORTY FORTY TEN "'x ; y # z' || b", NULL);
    assert_wraps(FORTY FORTY TEN "' ; ' ';' \"a ; b\" c", NULL);
}

static void texts_and_names_are_never_broken(void **state)
{
    (void)state;
    assert_wraps("'" FORTY FORTY FORTY "', \"" FORTY FORTY FORTY "\"",
                 "select = '" FORTY FORTY FORTY "',\n    \"" FORTY FORTY FORTY "\"");
    assert_wraps("'it''s \" , " FORTY FORTY FORTY "', b",
                 "select = 'it''s \" , " FORTY FORTY FORTY "',\n    b");
    assert_wraps("\"it's\"\"\" , a, " FORTY FORTY TEN ", b", NULL);
}

static void words_are_broken_at_any_blank(void **state)
{
    struct buf to = BUF_EMPTY;

    (void)state;
    buf_append_text(&to, "; ");
    wrap_words(&to, BYTES_LIT("it's " FORTY FORTY TEN "\"some name\" b"), 2, ";   ");
    assert_string_equal(buf_text(&to), "; it's " FORTY FORTY "aaaaaaaaa\n;   \"some name\" b");
    buf_done(&to);
}

static void a_word_too_long_for_a_line_stands_alone(void **state)
{
    char expected[400], word[301];
    struct buf text = BUF_EMPTY, to = BUF_EMPTY;

    (void)state;
    memset(word, 'x', sizeof(word) - 1);
    word[sizeof(word) - 1] = '\0';
    buf_printf(&text, "%s a %s b", word, word);
    wrap_words(&to, buf_bytes(&text), 0, ">");
    snprintf(expected, sizeof(expected), "%s\n>a\n>%.50s", word, word);
    assert_int_equal(strncmp(buf_text(&to), expected, strlen(expected)), 0);
    snprintf(expected, sizeof(expected), "%s\n>b", word);
    assert_string_equal(buf_text(&to) + buf_length(&to) - strlen(expected), expected);
    buf_done(&text);
    buf_done(&to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_values_stay_on_their_line),
        cmocka_unit_test(lists_are_broken_between_their_items),
        cmocka_unit_test(an_item_too_long_for_a_line_is_broken_at_its_blanks),
        cmocka_unit_test(no_line_begins_with_what_it_is_not),
        cmocka_unit_test(texts_and_names_are_never_broken),
        cmocka_unit_test(words_are_broken_at_any_blank),
        cmocka_unit_test(a_word_too_long_for_a_line_stands_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
