#include "expr_fixture.h"

static void values_become_the_text_of_the_output(void **state)
{
    CHECK_ROWS({"cast(n as string)", "string '7'"},
               {"cast(least_ as string)", "string '-9223372036854775808'"},
               {"cast(n + 1 as string)", "string '8'"}, {"cast(x as string)", "string '2.5'"},
               {"cast(x * 2 as string)", "string '5'"}, {"cast(1e21 as string)", "string '1e+21'"},
               {"cast(-0.0 as string)", "string '-0'"}, {"cast(t as string)", "string 'true'"},
               {"cast(not t as string)", "string 'false'"},
               {"cast(at as string)", "string '2026-01-02T03:04:05.678Z'"},
               {"cast(least(at, at) as string)", "string '2026-01-02T03:04:05.678Z'"},
               {"cast(window_start as string)", "string '1969-12-31T23:59:50.000Z'"},
               {"cast(ms as string)", "string '1700000000123'"},
               {"cast(ms + 1 as string)", "string '1700000000124'"},
               {"cast(sec as string)", "string '1700000000.50'"}, /* as received */
               {"cast(sec + 0 as string)", "string '1700000000.5'"},
               {"cast(left.s as string)", "string 'abc'"},
               {"cast(e || 'x' as string)", "string 'x'"}, {"cast(nn as string)", "string null"},
               {"cast(null as string)", "string null"}, {"cast(nn + 1 as string)", "string null"});
}

static void texts_must_hold_what_csv_would(void **state)
{
    CHECK_ROWS(
        {"cast('12' as bigint)", "bigint 12"}, {"cast('-007' as bigint)", "bigint -7"},
        {"cast('9223372036854775807' as bigint)", "bigint 9223372036854775807"},
        {"cast('9223372036854775808' as bigint)", "!a cast fails"},
        {"cast('' as bigint)", "!a cast fails"}, {"cast(' 1' as bigint)", "!a cast fails"},
        {"cast('+1' as bigint)", "!a cast fails"}, {"cast('1.0' as bigint)", "!a cast fails"},
        {"cast('0x1' as bigint)", "!a cast fails"}, {"cast(left.s as bigint)", "!a cast fails"},
        {"cast('1.50' as double)", "double 1.5"}, {"cast('1e3' as double)", "double 1000"},
        {"cast('-0' as double)", "double -0"}, {"cast('.5' as double)", "!a cast fails"},
        {"cast('5.' as double)", "!a cast fails"}, {"cast('1e400' as double)", "!a cast fails"},
        {"cast('nan' as double)", "!a cast fails"}, {"cast('inf' as double)", "!a cast fails"},
        {"cast('TRUE' as boolean)", "boolean true"}, {"cast('false' as boolean)", "boolean false"},
        {"cast('1' as boolean)", "!a cast fails"}, {"cast('t' as boolean)", "!a cast fails"},
        {"cast('2026-01-02 03:04:05' as timestamp)", "timestamp 2026-01-02T03:04:05.000Z"},
        {"cast('2026-01-02T03:04:05.6789+01:00' as timestamp)",
         "timestamp 2026-01-02T02:04:05.678Z"},
        {"cast('2026-02-30T00:00:00Z' as timestamp)", "!a cast fails"},
        {"cast('now' as timestamp)", "!a cast fails"},
        {"cast('1700000000.25' as timestamp_s)", "timestamp_s 1700000000.25"},
        {"cast('1e9' as timestamp_s)", "!a cast fails"},
        {"cast('1700000000123' as timestamp_ms)", "timestamp_ms 1700000000123"},
        {"cast('253402300800000' as timestamp_ms)", "!a cast fails"},
        {"cast('-1' as timestamp_us)", "timestamp_us -1"},
        {"cast('1.5' as timestamp_ns)", "!a cast fails"}, {"cast(sn as bigint)", "bigint null"},
        {"cast(null as bigint)", "bigint null"}, {"cast(null as timestamp)", "timestamp null"},
        {"cast(sn as timestamp_ms)", "timestamp_ms null"});
}

static void numbers_become_each_other(void **state)
{
    CHECK_ROWS({"cast(n as double)", "double 7"}, {"cast(x as bigint)", "bigint 2"},
               {"cast(-2.9 as bigint)", "bigint -2"}, {"cast(-0.5 as bigint)", "bigint 0"},
               {"cast(most as double)", "double 9223372036854776000"},
               {"cast(9223372036854774784.0 as bigint)", "bigint 9223372036854774784"},
               {"cast(9223372036854775808.0 as bigint)", "!a bigint overflows"},
               {"cast(-9223372036854775808.0 as bigint)", "bigint -9223372036854775808"},
               {"cast(-9223372036854777856.0 as bigint)", "!a bigint overflows"},
               {"cast(1e300 as bigint)", "!a bigint overflows"}, {"cast(n as bigint)", "bigint 7"},
               {"cast(x as double)", "double 2.5"}, {"cast(xn as bigint)", "bigint null"},
               {"cast(nn as double)", "double null"}, {"cast(t as bigint)", "bigint 1"},
               {"cast(f as bigint)", "bigint 0"}, {"cast(n as boolean)", "boolean true"},
               {"cast(0 as boolean)", "boolean false"}, {"cast(t as boolean)", "boolean true"},
               {"cast(bn as bigint)", "bigint null"}, {"cast('12' as bigint) + n", "bigint 19"},
               {"CAST(x AS BigInt)", "bigint 2"});
}

static void times_change_their_unit(void **state)
{
    CHECK_ROWS(
        {"cast(ms as timestamp)", "timestamp 2023-11-14T22:13:20.123Z"},
        {"cast(us as timestamp)", "timestamp 1969-12-31T23:59:59.999Z"},
        {"cast(ns as timestamp)", "timestamp 2023-11-14T22:13:20.123Z"},
        {"cast(sec as timestamp)", "timestamp 2023-11-14T22:13:20.500Z"},
        {"cast(at as timestamp_ms)", "timestamp_ms 1767323045678"},
        {"cast(at as timestamp_s)", "timestamp_s 1767323045.678"},
        {"cast(at as timestamp_us)", "timestamp_us 1767323045678000"},
        {"cast(at as timestamp_ns)", "timestamp_ns 1767323045678000000"},
        {"cast(at as timestamp)", "timestamp 2026-01-02T03:04:05.678Z"},
        {"cast(at as timestamp_ms) - 500", "timestamp_ms 1767323045178"},
        {"cast(cast(at as timestamp_ms) - 500 as timestamp)", "timestamp 2026-01-02T03:04:05.178Z"},
        {"cast(ms as timestamp_us)", "timestamp_us 1700000000123000"},
        {"cast(ms as timestamp_s)", "timestamp_s 1700000000.123"},
        {"cast(us as timestamp_ms)", "timestamp_ms -1"},
        {"cast(us as timestamp_ns)", "timestamp_ns -1000"},
        {"cast(us as timestamp_s)", "timestamp_s -0.000001"},
        {"cast(ns as timestamp_us)", "timestamp_us 1700000000123456"},
        {"cast(ns as timestamp_ms)", "timestamp_ms 1700000000123"},
        {"cast(ns as timestamp_s)", "timestamp_s 1700000000.123456"},
        {"cast(ns as timestamp_ns)", "timestamp_ns 1700000000123456789"},
        {"cast(sec as timestamp_us)", "timestamp_us 1700000000500000"},
        {"cast(cast(-0.0015 as timestamp_s) as timestamp_ms)", "timestamp_ms -2"},
        {"cast(cast(253402300799999 as timestamp_ms) as timestamp_ns)", "!a bigint overflows"},
        {"cast(ms * 1000 as timestamp)", "!a cast fails"},
        {"cast(msn as timestamp)", "timestamp null"},
        {"cast(atn as timestamp_s)", "timestamp_s null"},
        {"cast(ms + 1000000000000000 as timestamp)", "!a cast fails"});
}

static void times_are_numbers_of_their_unit(void **state)
{
    CHECK_ROWS({"cast(at as bigint)", "bigint 1767323045678"},
               {"cast(1767323045678 as timestamp)", "timestamp 2026-01-02T03:04:05.678Z"},
               {"cast(ms as bigint)", "bigint 1700000000123"},
               {"cast(ms as double)", "double 1700000000123"},
               {"cast(sec as bigint)", "bigint 1700000000"},
               {"cast(sec as double)", "double 1700000000.5"}, {"cast(us as bigint)", "bigint -1"},
               {"cast(n as timestamp_ms)", "timestamp_ms 7"},
               {"cast(n as timestamp_s)", "timestamp_s 7"},
               {"cast(x as timestamp_s)", "timestamp_s 2.5"},
               {"cast(x as timestamp_ms)", "timestamp_ms 2"},
               {"cast(most as timestamp_ns)", "timestamp_ns 9223372036854775807"},
               {"cast(most as timestamp_us)", "!a cast fails"},
               {"cast(most as timestamp)", "!a cast fails"},
               {"cast(253402300799999 as timestamp)", "timestamp 9999-12-31T23:59:59.999Z"},
               {"cast(253402300800000 as timestamp)", "!a cast fails"},
               {"cast(-62135596800000 as timestamp)", "timestamp 0001-01-01T00:00:00.000Z"},
               {"cast(-62135596800001 as timestamp_ms)", "!a cast fails"},
               {"cast(1e300 as timestamp_s)", "!a cast fails"},
               {"cast(1e300 as timestamp_ms)", "!a bigint overflows"});
}

static void some_casts_make_no_sense(void **state)
{
    CHECK_ROWS({"cast(t as double)", "?5 a boolean cannot be cast to double"},
               {"cast(x as boolean)", "?5 a double cannot be cast to boolean"},
               {"cast(t as timestamp)", "?5 a boolean cannot be cast to timestamp"},
               {"cast(t as timestamp_ms)", "?5 a boolean cannot be cast to timestamp_ms"},
               {"cast(at as boolean)", "?5 a timestamp cannot be cast to boolean"},
               {"cast(ms as boolean)", "?5 a timestamp_ms cannot be cast to boolean"},
               {"cast(at as double)", "?5 a timestamp cannot be cast to double"},
               {"cast(x as timestamp)", "?5 a double cannot be cast to timestamp"},
               {"cast(n as varchar)", "?10 \"varchar\" is no type (types: string, bigint, double, "
                                      "boolean, timestamp, timestamp_s, timestamp_ms, "
                                      "timestamp_us, timestamp_ns)"},
               {"cast(n as )", "?10 \")\" is no type (types: string, bigint, double, boolean, "
                               "timestamp, timestamp_s, timestamp_ms, timestamp_us, "
                               "timestamp_ns)"},
               {"cast(n as", "?9 a type is missing (types: string, bigint, double, boolean, "
                             "timestamp, timestamp_s, timestamp_ms, timestamp_us, timestamp_ns)"},
               {"cast(n, bigint)", "?6 \"as\" is missing before \",\""},
               {"cast(n", "?6 \"as\" is missing"},
               {"cast(n as bigint", "?4 the \"(\" here has no "
                                    "\")\""},
               {"cast()", "?5 an expression is missing before \")\""},
               {"cast(n as bigint(20))", "?16 \"(\" is not expected here"});
}

/* Of windows that reach over the ends of time. */
static void bounds_of_windows_stay_within_the_years_that_can_be_written(void **state)
{
    (void)state;
    fixture.in.window_end = 253402300800000;
    fixture.in.window_start = -62135596800001;
    assert_string_equal(give("window_end"), "timestamp 9999-12-31T23:59:59.999Z");
    assert_string_equal(give("window_start"), "timestamp 0001-01-01T00:00:00.000Z");
    fixture.in.window_start = fixture.in.window_end = EXPR_NO_WINDOW;
    assert_string_equal(give("window_start"), "timestamp null");
    assert_string_equal(give("cast(window_end as timestamp_ms)"), "timestamp_ms null");
    fixture.in.window_start = -10000;
    fixture.in.window_end = 0;
    assert_string_equal(give("window_start"), "timestamp 1969-12-31T23:59:50.000Z");
    assert_string_equal(give("window_end"), "timestamp 1970-01-01T00:00:00.000Z");
}

static void times_of_records_are_null_where_there_is_none(void **state)
{
    const struct bytes *right = fixture.in.fields[SIDE_RIGHT];

    (void)state;
    assert_string_equal(give("left_time"), "timestamp 1970-01-01T00:00:01.234Z");
    assert_string_equal(give("right_time"), "timestamp 1970-01-01T00:00:00.000Z");
    fixture.in.fields[SIDE_RIGHT] = NULL;
    assert_string_equal(give("right_time"), "timestamp null");
    assert_string_equal(give("right.s"), "string null");
    assert_string_equal(give("cast(id as string)"), "string null");
    assert_string_equal(give("coalesce(id, 9)"), "bigint 9");
    assert_string_equal(give("coalesce(right_time, left_time)"),
                        "timestamp 1970-01-01T00:00:01.234Z");
    fixture.in.fields[SIDE_RIGHT] = right;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_become_the_text_of_the_output),
        cmocka_unit_test(texts_must_hold_what_csv_would),
        cmocka_unit_test(numbers_become_each_other),
        cmocka_unit_test(times_change_their_unit),
        cmocka_unit_test(times_are_numbers_of_their_unit),
        cmocka_unit_test(some_casts_make_no_sense),
        cmocka_unit_test(bounds_of_windows_stay_within_the_years_that_can_be_written),
        cmocka_unit_test(times_of_records_are_null_where_there_is_none),
    };
    return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
