#include "expr_fixture.h"

static void texts_are_joined(void **state)
{
    CHECK_ROWS({"left.s || '/' || right.s", "string 'abc/xyz'"}, {"left.s || e", "string 'abc'"},
               {"e || e", "string ''"}, {"left.s || sn", "string null"},
               {"sn || 'x'", "string null"}, {"null || 'x'", "string null"},
               {"concat(left.s, 'x', e, '-')", "string 'abcx-'"}, {"concat('a')", "string 'a'"},
               {"concat('a', null)", "string null"}, {"concat(sn, 'a', 'b', 'c')", "string null"},
               {"concat('a','b','c','d','e')", "string 'abcde'"},
               {"'a' || 'b' || 'c' || 'd' || 'e' || 'f'", "string 'abcdef'"},
               {"upper('a' || 'b') || lower('C' || 'D')", "string 'ABcd'"},
               {"'it''s'", "string 'it's'"}, {"''", "string ''"}, {"''''", "string '''"},
               {"left.s || ',' || coalesce(sn, '')", "string 'abc,'"},
               {"bad || utf", "string 'a\xff\xc3\xc3\xa9z\xc5\xbdlu\xc5\xa5'"},
               {"e || 1",
                "?5 \"||\" takes a string here, and this is a bigint (cast it: cast(x as string))"},
               {"n || ''",
                "?0 \"||\" takes a string here, and this is a bigint (cast it: cast(x as string))"},
               {"e || 'a' || t",
                "?12 \"||\" takes a string here, and this is a boolean (cast it: cast(x as "
                "string))"},
               {"concat(e, 'b', 'c', x)",
                "?20 \"concat\" takes a string here, and this is a double (cast it: cast(x as "
                "string))"},
               {"concat(at)",
                "?7 \"concat\" takes a string here, and this is a timestamp (cast it: cast(x as "
                "string))"});
}

static void cases_are_changed(void **state)
{
    CHECK_ROWS({"upper(left.s)", "string 'ABC'"}, {"lower('ABC')", "string 'abc'"},
               {"upper(utf)", "string '\xc5\xbdLU\xc5\xa4'"},
               {"lower(utf)", "string '\xc5\xbelu\xc5\xa5'"},
               {"upper('stra\xc3\x9f"
                "e')",
                "string 'STRASSE'"},
               {"upper(bad)", "string 'A\xff\xc3\xc3\x89Z'"}, {"upper(e)", "string ''"},
               {"upper(sn)", "string null"}, {"lower(null)", "string null"},
               {"upper('x_y%z')", "string 'X_Y%Z'"},
               {"upper(n)", "?6 \"upper\" takes a string here, and this is a bigint (cast it: "
                            "cast(x as string))"});
}

static void trim_takes_spaces(void **state)
{
    CHECK_ROWS({"trim('  a b ')", "string 'a b'"}, {"trim('a')", "string 'a'"},
               {"trim('   ')", "string ''"}, {"trim('')", "string ''"},
               {"trim('\ta ')", "string '\ta'"}, {"trim(sn)", "string null"},
               {"trim('\xc2\xa0 ')", "string '\xc2\xa0'"},
               {"trim(t)", "?5 \"trim\" takes a string here, and this is a boolean (cast it: "
                           "cast(x as string))"});
}

static void characters_are_counted(void **state)
{
    CHECK_ROWS({"char_length(left.s)", "bigint 3"}, {"char_length(e)", "bigint 0"},
               {"char_length(utf)", "bigint 4"}, {"char_length(bad)", "bigint 5"},
               {"char_length('\xf0\x9f\x98\x80')", "bigint 1"},
               {"char_length('e\xcc\x81')", "bigint 2"}, {"char_length(sn)", "bigint null"},
               {"char_length('\xed\xa0\x80')", "bigint 3"},
               {"char_length(n)", "?12 \"char_length\" takes a string here, and this is a bigint "
                                  "(cast it: cast(x as string))"});
}

static void substring_counts_characters_from_1(void **state)
{
    CHECK_ROWS(
        {"substring('abcde', 2)", "string 'bcde'"}, {"substring('abcde', 2, 2)", "string 'bc'"},
        {"substring('abcde', 1, 99)", "string 'abcde'"},
        {"substring('abcde', 1)", "string 'abcde'"}, {"substring('abcde', 0)", "string 'abcde'"},
        {"substring('abcde', 0, 2)", "string 'ab'"}, {"substring('abcde', 5)", "string 'e'"},
        {"substring('abcde', 6)", "string ''"}, {"substring('abcde', 7, 1)", "string ''"},
        {"substring('abcde', -2)", "string 'de'"}, {"substring('abcde', -2, 1)", "string 'd'"},
        {"substring('abcde', -5)", "string 'abcde'"}, {"substring('abcde', -6)", "string ''"},
        {"substring('abcde', -6, 3)", "string ''"}, {"substring('abcde', 2, 0)", "string ''"},
        {"substring('abcde', 2, -1)", "string null"}, {"substring('', 1, -1)", "string null"},
        {"substring('', 1)", "string ''"}, {"substring('', -1)", "string ''"},
        {"substring(utf, 2)", "string 'lu\xc5\xa5'"}, {"substring(utf, 4)", "string '\xc5\xa5'"},
        {"substring(utf, -1)", "string '\xc5\xa5'"}, {"substring(utf, 1, 1)", "string '\xc5\xbd'"},
        {"substring(bad, 2, 2)", "string '\xff\xc3'"},
        {"substring(bad, 4, 1)", "string '\xc3\xa9'"}, {"substring('abc', most)", "string ''"},
        {"substring('abc', least_)", "string ''"}, {"substring('abc', 1, most)", "string 'abc'"},
        {"substring('abc', 2, least_)", "string null"}, {"substring(sn, 1)", "string null"},
        {"substring('abc', nn)", "string null"}, {"substring('abc', 1, null)", "string null"},
        {"substring(upper(trim('  abcdefg ')), 1, 5)", "string 'ABCDE'"},
        {"substring(n, 1)", "?10 \"substring\" takes a string here, and this is a bigint "
                            "(cast it: cast(x as string))"},
        {"substring(e, 'a')", "?13 \"substring\" takes a bigint here, and this is a string "
                              "(cast it: cast(x as bigint))"},
        {"substring(e, 1, 2.0)", "?16 \"substring\" takes a bigint here, and this is a "
                                 "double (cast it: cast(x as bigint))"},
        {"substring(e)", "?0 substring takes 2 or 3 arguments, and here are 1"});
}

static void like_has_two_wildcards(void **state)
{
    CHECK_ROWS(
        {"'abc' like 'abc'", "boolean true"}, {"'abc' like 'ab'", "boolean false"},
        {"'abc' like 'abcd'", "boolean false"}, {"'abc' like 'a%'", "boolean true"},
        {"'abc' like '%c'", "boolean true"}, {"'abc' like '%b%'", "boolean true"},
        {"'abc' like '%d%'", "boolean false"}, {"'abc' like '%'", "boolean true"},
        {"'' like '%'", "boolean true"}, {"'' like ''", "boolean true"},
        {"'' like '_'", "boolean false"}, {"'a' like ''", "boolean false"},
        {"'abc' like '___'", "boolean true"}, {"'abc' like '__'", "boolean false"},
        {"'abc' like '____'", "boolean false"}, {"'abc' like 'a_c'", "boolean true"},
        {"'abc' like '%_%_%_%'", "boolean true"}, {"'abc' like '%%%'", "boolean true"},
        {"'abc' like '%____'", "boolean false"}, {"'aab' like '%ab'", "boolean true"},
        {"'ababac' like '%abac'", "boolean true"}, {"'ababab' like 'a%b%a'", "boolean false"},
        {"'mississippi' like '%iss%pp_'", "boolean true"},
        {"'mississippi' like 'm%iss%iss%iss%'", "boolean false"},
        {"'ABC' like 'abc'", "boolean false"}, {"'a%c' like 'a%c'", "boolean true"},
        {"'a\\c' like 'a\\c'", "boolean true"}, {"utf like '____'", "boolean true"},
        {"utf like '%\xc5\xa5'", "boolean true"}, {"utf like '%_u_'", "boolean true"},
        {"bad like 'a___z'", "boolean true"}, {"bad like 'a\xff%z'", "boolean true"},
        /* a byte that is no UTF-8 is no part of a character that is */
        {"'\xc3\xa9' like '\xc3_'", "boolean false"}, {"'\xc3\xa9' like '%\xa9'", "boolean false"},
        {"'\xc3\xc3\xa9' like '\xc3_'", "boolean true"}, {"'abc' not like 'a%'", "boolean false"},
        {"'abc' not like 'b%'", "boolean true"}, {"sn like '%'", "boolean null"},
        {"'a' like sn", "boolean null"}, {"sn not like '%'", "boolean null"},
        {"'a' like null", "boolean null"}, {"left.s like 'a' || '%'", "boolean true"},
        {"left.s like left.s", "boolean true"},
        {"n like '7'", "?0 \"like\" takes a string here, and this is a bigint (cast it: "
                       "cast(x as string))"},
        {"e like 7", "?7 \"like\" takes a string here, and this is a bigint (cast it: "
                     "cast(x as string))"});
}

/* Texts that were made stay where they are while others are. */
static void what_is_made_does_not_move(void **state)
{
    struct buf text = BUF_EMPTY, answer = BUF_EMPTY;

    (void)state;
    buf_append_text(&text, "concat(");
    buf_append_text(&answer, "string '");
    for (int i = 0; i < 300; i++) {
        buf_printf(&text, "%supper('%cbcdefghijklmnopqrstuvwxyz')", i > 0 ? ", " : "",
                   'a' + i % 26);
        buf_printf(&answer, "%cBCDEFGHIJKLMNOPQRSTUVWXYZ", 'A' + i % 26);
    }
    buf_append_text(&text, ")");
    buf_append_text(&answer, "'");
    assert_string_equal(give(buf_text(&text)), buf_text(&answer));
    assert_string_equal(give(buf_text(&text)), buf_text(&answer));
    buf_done(&text);
    buf_done(&answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_joined),
        cmocka_unit_test(cases_are_changed),
        cmocka_unit_test(trim_takes_spaces),
        cmocka_unit_test(characters_are_counted),
        cmocka_unit_test(substring_counts_characters_from_1),
        cmocka_unit_test(like_has_two_wildcards),
        cmocka_unit_test(what_is_made_does_not_move),
    };
    return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
