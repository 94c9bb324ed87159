/* Words are shown in memory that ends with them. */
#include "unit.h"

#include "base/mem.h"
#include "codec/json_lexer.h"

struct word {
    const char *text;
    size_t length;    /* of the word; 0: it is broken */
    const char *what; /* or its beginning */
    size_t at;
};

enum lexer { STRINGS, NUMBERS, LITERALS };

static void check(enum lexer lexer, const struct word *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct word *w = &words[i];
        size_t n = strlen(w->text);
        char *text = mem_alloc(n);
        struct json_wrong wrong = {NULL, NULL};
        const char *end;
        bool escaped;

        memcpy(text, w->text, n);
        end = lexer == STRINGS   ? json_string_end(text, text + n, &escaped, &wrong)
              : lexer == NUMBERS ? json_number_end(text, text + n, &wrong)
                                 : json_literal_end(text, text + n, &wrong);
        if (w->length > 0) {
            assert_row(end == text + w->length, w->text);
        } else {
            assert_row(end == NULL, w->text);
            assert_row(strncmp(wrong.what, w->what, strlen(w->what)) == 0, w->text);
            assert_row(wrong.at == text + w->at, w->text);
        }
        mem_free(text);
    }
}

static void a_string_ends_at_its_quote(void **state)
{
    static const struct word words[] = {
        {"\"\"", 2, NULL, 0},
        {"\"a\"b\"", 3, NULL, 0},
        {"\"0123456789abcdef\", \"x\"", 18, NULL, 0},
        {"\"\\\"\"", 4, NULL, 0},
        {"\"\\\\\"x", 4, NULL, 0},
        {"\"\\/\\b\\f\\n\\r\\t\"", 14, NULL, 0},
        {"\"\\u0001\\uabCD\"", 14, NULL, 0},
        {"\"\\ud83d\\ude00\"", 14, NULL, 0},
        {"\"\xC3\xA4\x7f'\"", 6, NULL, 0},
        {"\"", 0, "the string that begins here has no end", 0},
        {"\"abcdefghijklmnop", 0, "the string that begins here has no end", 0},
        {"\"\\\"", 0, "the string that begins here has no end", 0},
        {"\"a\tb\"", 0, "a control character", 2},
        {"\"0123456\x1f\"", 0, "a control character", 8},
        {"\"\n\"", 0, "a control character", 1},
        {"\"a\\", 0, "JSON knows no such escape", 2},
        {"\"\\x41\"", 0, "JSON knows no such escape", 1},
        {"\"\\U0041\"", 0, "JSON knows no such escape", 1},
        {"\"\\'\"", 0, "JSON knows no such escape", 1},
        {"\"\\u12\"", 0, "four hex digits", 1},
        {"\"\\u123", 0, "four hex digits", 1},
        {"\"\\u12g4\"", 0, "four hex digits", 1},
        {"\"\\u+123\"", 0, "four hex digits", 1},
        {"\"a\\u0000b\"", 0, "\\u0000 is no character", 2},
        {"\"\\ud83d\"", 0, "half of a surrogate pair", 1},
        {"\"\\ud83dx\"", 0, "half of a surrogate pair", 1},
        {"\"\\ud83d\\n\"", 0, "half of a surrogate pair", 1},
        {"\"\\ud83d\\u0041\"", 0, "half of a surrogate pair", 1},
        {"\"\\ud83d\\ud83d\"", 0, "half of a surrogate pair", 1},
        {"\"a\\ude00\\ud83d\"", 0, "half of a surrogate pair", 2},
        {"\"\\ud83d\\ude0", 0, "half of a surrogate pair", 1},
    };

    (void)state;
    check(STRINGS, words, COUNT_OF(words));
}

static void a_string_says_whether_it_has_escapes(void **state)
{
    const char *plain = "\"a\", \"\\n\"", *escaped = "\"a\\n\"";
    struct json_wrong wrong;
    bool has;

    (void)state;
    has = true;
    json_string_end(plain, plain + strlen(plain), &has, &wrong);
    assert_false(has);
    json_string_end(escaped, escaped + strlen(escaped), &has, &wrong);
    assert_true(has);
}

static void escapes_become_characters(void **state)
{
    static const struct {
        const char *inside, *characters;
    } rows[] = {
        {"", ""},
        {"abc", "abc"},
        {"\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\b\f\n\r\t"},
        {"a\\nb", "a\nb"},
        {"\\u0041\\u007f", "A\x7f"},
        {"\\u0080\\u07ff", "\xC2\x80\xDF\xBF"},
        {"\\u0800\\uffff", "\xE0\xA0\x80\xEF\xBF\xBF"},
        {"\\ud800\\udc00\\uDBFF\\uDFFF", "\xF0\x90\x80\x80\xF4\x8F\xBF\xBF"},
        {"x\\ud83d\\ude00y", "x\xF0\x9F\x98\x80y"},
        {"\xC3\xA4\\u00e4", "\xC3\xA4\xC3\xA4"},
        {"\\\\u0041", "\\u0041"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf to = BUF_EMPTY;

        json_string_append(bytes_of(rows[i].inside), &to);
        assert_text(buf_data(&to), buf_length(&to), rows[i].characters);
        assert_true(buf_length(&to) <= strlen(rows[i].inside));
        buf_done(&to);
    }
}

static void a_number_is_jsons(void **state)
{
    static const struct word words[] = {
        {"0", 1, NULL, 0},
        {"-0", 2, NULL, 0},
        {"10,", 2, NULL, 0},
        {"123456789012345678901234567890", 30, NULL, 0},
        {"0.5}", 3, NULL, 0},
        {"-12.050", 7, NULL, 0},
        {"1e5", 3, NULL, 0},
        {"1E+05", 5, NULL, 0},
        {"0e-0", 4, NULL, 0},
        {"1e400", 5, NULL, 0},
        {"1.5.2", 3, NULL, 0},
        {"1a", 1, NULL, 0},
        {"-", 0, "a digit is expected behind -", 1},
        {"-x", 0, "a digit is expected behind -", 1},
        {"--1", 0, "a digit is expected behind -", 1},
        {"-.5", 0, "a digit is expected behind -", 1},
        {"007", 0, "a number has a leading zero", 0},
        {"-01", 0, "a number has a leading zero", 1},
        {"1.", 0, "a digit is expected behind the point", 2},
        {"1.e5", 0, "a digit is expected behind the point", 2},
        {"1e", 0, "a digit is expected in the exponent", 2},
        {"1e+", 0, "a digit is expected in the exponent", 3},
        {"1e1", 3, NULL, 0},
    };

    (void)state;
    check(NUMBERS, words, COUNT_OF(words));
}

static void the_literals_are_three(void **state)
{
    static const struct word words[] = {
        {"true", 4, NULL, 0},
        {"false,", 5, NULL, 0},
        {"null}", 4, NULL, 0},
        {"truex", 4, NULL, 0},
        {"tru", 0, "a value is expected", 0},
        {"True", 0, "a value is expected", 0},
        {"NaN", 0, "a value is expected", 0},
        {"nul", 0, "a value is expected", 0},
        {"'a'", 0, "a value is expected", 0},
        {"+1", 0, "a value is expected", 0},
    };

    (void)state;
    check(LITERALS, words, COUNT_OF(words));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_string_ends_at_its_quote),
        cmocka_unit_test(a_string_says_whether_it_has_escapes),
        cmocka_unit_test(escapes_become_characters),
        cmocka_unit_test(a_number_is_jsons),
        cmocka_unit_test(the_literals_are_three),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
