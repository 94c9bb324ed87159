#include "expr_fixture.h"

static void and_or_and_not_have_three_values(void **state)
{
    CHECK_ROWS(
        {"t and t", "boolean true"}, {"t and f", "boolean false"}, {"t and bn", "boolean null"},
        {"f and t", "boolean false"}, {"f and f", "boolean false"}, {"f and bn", "boolean false"},
        {"bn and t", "boolean null"}, {"bn and f", "boolean false"}, {"bn and bn", "boolean null"},
        {"t or t", "boolean true"}, {"t or f", "boolean true"}, {"t or bn", "boolean true"},
        {"f or t", "boolean true"}, {"f or f", "boolean false"}, {"f or bn", "boolean null"},
        {"bn or t", "boolean true"}, {"bn or f", "boolean null"}, {"bn or bn", "boolean null"},
        {"not t", "boolean false"}, {"not f", "boolean true"}, {"not bn", "boolean null"},
        {"null and false", "boolean false"}, {"null and true", "boolean null"},
        {"true or null", "boolean true"}, {"null or null", "boolean null"},
        {"not null", "boolean null"}, {"not not t", "boolean true"},
        {"t and bn and f", "boolean false"}, {"bn or f or t", "boolean true"},
        {"t and t and t and t", "boolean true"}, {"f or bn or f or f", "boolean null"});
}

static void what_is_not_needed_does_not_fail(void **state)
{
    CHECK_ROWS(
        {"f and 1 / 0 = 1", "boolean false"}, {"t or 1 / 0 = 1", "boolean true"},
        {"t and 1 / 0 = 1", "!division by zero"}, {"f or 1 / 0 = 1", "!division by zero"},
        {"bn and 1 / 0 = 1", "!division by zero"}, {"bn or 1 / 0 = 1", "!division by zero"},
        {"1 / 0 = 1 and f", "!division by zero"}, {"1 / 0 = 1 or t", "!division by zero"},
        {"t and f and 1 / 0 = 1", "boolean false"}, {"1 in (1, 1 / 0)", "boolean true"},
        {"1 in (2, 1 / 0)", "!division by zero"}, {"nn in (1, 1 / 0)", "boolean null"},
        {"1 not in (1, 1 / 0)", "boolean false"}, {"0 between 1 and 1 / 0", "boolean false"},
        {"2 between 1 and 1 / 0", "!division by zero"}, {"nn between 1 / 0 and 2", "boolean null"},
        {"2 between null and 1 / 0", "!division by zero"},
        {"case when t then 1 else 1 / 0 end", "bigint 1"},
        {"case when f then 1 / 0 else 2 end", "bigint 2"},
        {"case when t then 1 when 1 / 0 = 1 then 2 end", "bigint 1"},
        {"case when 1 / 0 = 1 then 1 end", "!division by zero"}, {"coalesce(1, 1 / 0)", "bigint 1"},
        {"coalesce(nn, 1 / 0)", "!division by zero"}, {"nullif(nn, 1 / 0)", "!division by zero"},
        {"least(nn, 1 / 0)", "!division by zero"}, {"nn = 1 / 0", "!division by zero"},
        {"1 / 0 is null", "!division by zero"}, {"not 1 / 0 = 1", "!division by zero"});
}

static void numbers_are_compared(void **state)
{
    CHECK_ROWS({"1 = 1", "boolean true"}, {"1 <> 1", "boolean false"}, {"1 != 2", "boolean true"},
               {"1 < 2", "boolean true"}, {"2 < 1", "boolean false"}, {"2 <= 2", "boolean true"},
               {"3 <= 2", "boolean false"}, {"2 > 1", "boolean true"}, {"1 > 1", "boolean false"},
               {"1 >= 1", "boolean true"}, {"0 >= 1", "boolean false"}, {"1 = 1.0", "boolean true"},
               {"1.5 > 1", "boolean true"}, {"z = 0", "boolean true"}, {"z = 0.0", "boolean true"},
               {"-0.0 < 0.0", "boolean false"}, {"least_ < most", "boolean true"},
               /* as doubles they are one number: B2 of semantics.md */
               {"9007199254740993 = 9007199254740992.0", "boolean true"},
               {"9007199254740993 = 9007199254740992", "boolean false"}, {"n = nn", "boolean null"},
               {"nn <> nn", "boolean null"}, {"null = 1", "boolean null"},
               {"n < null", "boolean null"}, {"null = null", "boolean null"},
               {"ms > ms2", "boolean true"}, {"ms = 1700000000123", "boolean true"},
               {"sec < 1700000000.75", "boolean true"}, {"ms > us", "boolean true"},
               {"sec * 1000 < ms", "boolean false"});
}

static void other_types_are_compared_with_their_own(void **state)
{
    CHECK_ROWS(
        {"left.s = 'abc'", "boolean true"}, {"left.s < right.s", "boolean true"},
        {"'a' < 'B'", "boolean false"}, {"'a' < 'ab'", "boolean true"},
        {"'' < 'a'", "boolean true"}, {"e = ''", "boolean true"}, {"sn = ''", "boolean null"},
        {"'\xff' > '\xc3\xa9'", "boolean true"}, {"'a' <> 'a '", "boolean true"},
        {"left.s >= 'abc' and left.s <= 'abc'", "boolean true"}, {"t = true", "boolean true"},
        {"t <> f", "boolean true"}, {"f < t", "boolean true"}, {"bn = t", "boolean null"},
        {"at = at", "boolean true"}, {"at > left_time", "boolean true"},
        {"at = cast('2026-01-02 03:04:05.678' as timestamp)", "boolean true"},
        {"at < cast('2026-01-02T03:04:05.679Z' as timestamp)", "boolean true"},
        {"atn < at", "boolean null"}, {"at = null", "boolean null"});
}

static void unlike_types_are_not_compared(void **state)
{
    CHECK_ROWS(
        {"e = 1", "?4 a string cannot be compared with a bigint; cast one: cast(x as bigint)"},
        {"1 = e", "?4 a bigint cannot be compared with a string; cast one: cast(x as bigint)"},
        {"x < e", "?4 a double cannot be compared with a string; cast one: cast(x as double)"},
        {"e = t", "?4 a string cannot be compared with a boolean; cast one: cast(x as boolean)"},
        {"at > '2026-01-01T00:00:00Z'",
         "?5 a timestamp cannot be compared with a string; cast one: cast(x as timestamp)"},
        {"at = ms",
         "?5 a timestamp cannot be compared with a timestamp_ms; cast one: cast(x as timestamp)"},
        {"at = 5",
         "?5 a timestamp cannot be compared with a bigint; cast one: cast(x as timestamp_ms)"},
        {"t = 1", "?4 a boolean cannot be compared with a bigint; cast one: cast(x as bigint)"},
        {"t = at", "?4 a boolean cannot be compared with a timestamp"},
        {"n in (1, 'a')",
         "?9 a bigint cannot be compared with a string; cast one: cast(x as bigint)"},
        {"n between '1' and 2",
         "?10 a bigint cannot be compared with a string; cast one: cast(x as bigint)"},
        {"nullif(n, 'a')",
         "?10 a bigint cannot be compared with a string; cast one: cast(x as bigint)"},
        {"n = 1 and 'x' = n",
         "?16 a string cannot be compared with a bigint; cast one: cast(x as bigint)"});
}

static void null_can_be_asked_for(void **state)
{
    CHECK_ROWS({"nn is null", "boolean true"}, {"n is null", "boolean false"},
               {"nn is not null", "boolean false"}, {"n is not null", "boolean true"},
               {"e is null", "boolean false"}, {"null is null", "boolean true"},
               {"(n = nn) is null", "boolean true"}, {"n = nn is null", "boolean true"},
               {"n is null is not null", "boolean true"}, {"atn is null", "boolean true"},
               {"t is null", "boolean false"}, {"n + nn is null", "boolean true"});
}

static void in_is_a_chain_of_equations(void **state)
{
    CHECK_ROWS({"n in (1, 7)", "boolean true"}, {"n in (1, 2)", "boolean false"},
               {"n not in (1, 7)", "boolean false"}, {"n not in (1, 2)", "boolean true"},
               {"n in (7)", "boolean true"}, {"n in (1, null)", "boolean null"},
               {"n in (7, null)", "boolean true"}, {"n in (null, 7)", "boolean true"},
               {"n not in (1, null)", "boolean null"}, {"n not in (7, null)", "boolean false"},
               {"nn in (1, 7)", "boolean null"}, {"nn not in (1, 7)", "boolean null"},
               {"null in (1, 7)", "boolean null"}, {"null in (null, 1)", "boolean null"},
               {"null in (null, null)", "boolean null"}, {"n in (6.5, 7.0)", "boolean true"},
               {"x in (2, 2.5)", "boolean true"}, {"left.s in ('x', 'abc')", "boolean true"},
               {"t in (false, true)", "boolean true"}, {"at in (at)", "boolean true"},
               {"1 in (n - 6, 2)", "boolean true"}, {"n in (1,2,3,4,5,6,7,8,9)", "boolean true"},
               {"not n in (7)", "boolean false"});
}

static void between_is_two_comparisons(void **state)
{
    CHECK_ROWS(
        {"n between 7 and 7", "boolean true"}, {"n between 1 and 10", "boolean true"},
        {"n between 8 and 10", "boolean false"}, {"n between 1 and 6", "boolean false"},
        {"n between 10 and 1", "boolean false"}, {"n not between 1 and 10", "boolean false"},
        {"n not between 8 and 10", "boolean true"}, {"n between 1 and null", "boolean null"},
        {"n between null and 10", "boolean null"}, {"n between 8 and null", "boolean false"},
        {"n between null and 6", "boolean false"}, {"n not between 8 and null", "boolean true"},
        {"n not between 1 and null", "boolean null"}, {"nn between 1 and 2", "boolean null"},
        {"null between 1 and 2", "boolean null"}, {"null between null and null", "boolean null"},
        {"n between 6.5 and 7.5", "boolean true"}, {"left.s between 'a' and 'b'", "boolean true"},
        {"n between 1 and 10 and t", "boolean true"}, {"n between 1 and 10 or f", "boolean true"},
        {"n between 3 + 3 and 2 * 4", "boolean true"},
        {"at between left_time and at", "boolean true"});
}

static void conditions_are_booleans(void **state)
{
    CHECK_ROWS(
        {"t and n", "?6 \"and\" takes a condition here, and this is a bigint (a condition is "
                    "a boolean: compare it with something)"},
        {"e or t", "?0 \"or\" takes a condition here, and this is a string (a condition is a "
                   "boolean: compare it with something)"},
        {"not n", "?4 \"not\" takes a condition here, and this is a bigint (a condition is a "
                  "boolean: compare it with something)"},
        {"case when n then 1 end",
         "?10 \"when\" takes a condition here, and this is a bigint (a condition is a "
         "boolean: compare it with something)"});
}

/* --- choices --- */

static void case_takes_the_first_that_is_true(void **state)
{
    CHECK_ROWS(
        {"case when t then 1 else 2 end", "bigint 1"},
        {"case when f then 1 else 2 end", "bigint 2"},
        {"case when bn then 1 else 2 end", "bigint 2"}, {"case when f then 1 end", "bigint null"},
        {"case when f then 1 when t then 2 when t then 3 end", "bigint 2"},
        {"case when f then 1 when f then 2 else 3 end", "bigint 3"},
        {"case when t then 1 else 2.5 end", "double 1"},
        {"case when t then null else 1 end", "bigint null"},
        {"case when f then null else 1 end", "bigint 1"},
        {"case when null then 1 else 2 end", "bigint 2"},
        {"case when t then nn else 1.5 end", "double null"},
        {"case when t then ms else ms2 end", "timestamp_ms 1700000000123"},
        {"case when t then ms else null end", "timestamp_ms 1700000000123"},
        {"case when t then ms end", "timestamp_ms 1700000000123"},
        {"case when t then ms else 1 end", "bigint 1700000000123"},
        {"case when t then ms else us end", "bigint 1700000000123"},
        {"case when t then null end", "string null"},
        {"1 + case when t then null end", "bigint null"},
        {"coalesce(case when t then null else null end, 3)", "bigint 3"},
        {"case when n > 5 then case when x > 5 then 'a' else 'b' end else 'c' end", "string 'b'"},
        {"case when t then at end", "timestamp 2026-01-02T03:04:05.678Z"},
        {"case when t then 1 else 'a' end",
         "?24 a bigint does not go together with a string; cast one: cast(x as bigint)"},
        {"case when t then 'a' when f then t end",
         "?33 a string does not go together with a boolean; cast one: cast(x as boolean)"});
}

static void coalesce_takes_the_first_that_is_not_null(void **state)
{
    CHECK_ROWS({"coalesce(n, 1)", "bigint 7"}, {"coalesce(nn, 1)", "bigint 1"},
               {"coalesce(nn, 1.5)", "double 1.5"}, {"coalesce(n, 1.5)", "double 7"},
               {"coalesce(null, 1)", "bigint 1"}, {"coalesce(null, null)", "string null"},
               {"coalesce(null, nn)", "bigint null"}, {"coalesce(sn, 'none')", "string 'none'"},
               {"coalesce(e, 'none')", "string ''"}, {"coalesce(sn, null, e)", "string ''"},
               {"coalesce(n)", "bigint 7"}, {"coalesce(msn, ms)", "timestamp_ms 1700000000123"},
               {"coalesce(msn, null)", "timestamp_ms null"}, {"coalesce(msn, 0)", "bigint 0"},
               {"coalesce(msn, cast(0 as timestamp_ms))", "timestamp_ms 0"},
               {"coalesce(msn, ms - 1)", "timestamp_ms 1700000000122"},
               {"coalesce(sec, 1.5)", "double 1700000000.5"},
               {"coalesce(coalesce(null, null), 2)", "bigint 2"},
               {"coalesce(nn, nn, nn, nn, 9)", "bigint 9"},
               {"coalesce(atn, at)", "timestamp 2026-01-02T03:04:05.678Z"},
               {"coalesce(bn, f)", "boolean false"},
               {"coalesce(nn, 'a')",
                "?13 a bigint does not go together with a string; cast one: cast(x as bigint)"},
               {"coalesce()", "?0 coalesce takes 1 argument or more, and here are 0"});
}

static void nullif_takes_away_one_value(void **state)
{
    CHECK_ROWS({"nullif(n, 7)", "bigint null"}, {"nullif(n, 8)", "bigint 7"},
               {"nullif(nn, 7)", "bigint null"}, {"nullif(n, nn)", "bigint 7"},
               {"nullif(n, 7.0)", "bigint null"}, {"nullif(x, 2)", "double 2.5"},
               {"nullif(n, null)", "bigint 7"}, {"nullif(null, 1)", "bigint null"},
               {"nullif(null, null)", "string null"}, {"nullif(e, '')", "string null"},
               {"nullif(ms, 0)", "timestamp_ms 1700000000123"}, {"nullif(0, ms)", "bigint 0"},
               {"nullif(at, at)", "timestamp null"},
               {"coalesce(nullif(null, null), 1)", "bigint 1"},
               {"nullif(n)", "?0 nullif takes 2 arguments, and here are 1"});
}

static void least_and_greatest_are_null_if_any_is(void **state)
{
    CHECK_ROWS({"least(3, 1, 2)", "bigint 1"}, {"greatest(3, 1, 2)", "bigint 3"},
               {"least(n, nn)", "bigint null"}, {"greatest(nn, n)", "bigint null"},
               {"least(n, null)", "bigint null"}, {"least(null, null)", "string null"},
               {"least(n, x)", "double 2.5"}, {"greatest(n, x)", "double 7"},
               {"least(2.5, n, 1.5)", "double 1.5"}, {"least(n, 2)", "bigint 2"},
               {"least('b', 'a')", "string 'a'"}, {"greatest('b', 'a')", "string 'b'"},
               {"least(t, f)", "boolean false"}, {"greatest(t, f)", "boolean true"},
               {"least(ms, ms2)", "timestamp_ms 1700000000000"}, {"least(ms, us)", "bigint -1"},
               {"greatest(at, left_time)", "timestamp 2026-01-02T03:04:05.678Z"},
               {"least(1, 2, 3, 4, 5, 6, 0)", "bigint 0"}, {"least(1)", "bigint 1"},
               {"greatest(z, 0.0)", "double -0"}, {"greatest(0.0, z)", "double 0"},
               {"least(1, 2, 3, nn, 5)", "bigint null"},
               {"least(1, 'a')",
                "?9 a bigint does not go together with a string; cast one: cast(x as bigint)"});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(and_or_and_not_have_three_values),
        cmocka_unit_test(what_is_not_needed_does_not_fail),
        cmocka_unit_test(numbers_are_compared),
        cmocka_unit_test(other_types_are_compared_with_their_own),
        cmocka_unit_test(unlike_types_are_not_compared),
        cmocka_unit_test(null_can_be_asked_for),
        cmocka_unit_test(in_is_a_chain_of_equations),
        cmocka_unit_test(between_is_two_comparisons),
        cmocka_unit_test(conditions_are_booleans),
        cmocka_unit_test(case_takes_the_first_that_is_true),
        cmocka_unit_test(coalesce_takes_the_first_that_is_not_null),
        cmocka_unit_test(nullif_takes_away_one_value),
        cmocka_unit_test(least_and_greatest_are_null_if_any_is),
    };
    return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
