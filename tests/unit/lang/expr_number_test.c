#include "expr_fixture.h"

static void bigints_are_whole(void **state)
{
    CHECK_ROWS({"1 + 2", "bigint 3"}, {"n - 10", "bigint -3"}, {"n * -3", "bigint -21"},
               {"7 / 2", "bigint 3"}, {"-7 / 2", "bigint -3"}, {"7 / -2", "bigint -3"},
               {"-7 / -2", "bigint 3"}, {"1 / 3", "bigint 0"}, {"7 % 3", "bigint 1"},
               {"-7 % 3", "bigint -1"}, {"7 % -3", "bigint 1"}, {"-7 % -3", "bigint -1"},
               {"mod(7, 3)", "bigint 1"}, {"mod(-7, 3)", "bigint -1"}, {"0 / 5", "bigint 0"},
               {"0 % 5", "bigint 0"}, {"-n", "bigint -7"}, {"-(-n)", "bigint 7"},
               {"-0", "bigint 0"}, {"007", "bigint 7"}, {"-007", "bigint -7"},
               {"- 5", "bigint -5"});
}

static void numbers_of_both_kinds_make_doubles(void **state)
{
    CHECK_ROWS({"1 + 2.5", "double 3.5"}, {"x + n", "double 9.5"}, {"n / 2.0", "double 3.5"},
               {"n * 0.5", "double 3.5"}, {"n - 0.0", "double 7"}, {"x / 2", "double 1.25"},
               {"0.1 + 0.2", "double 0.30000000000000004"}, {"-x", "double -2.5"},
               {"-(0.0)", "double -0"}, {"-0.0", "double -0"}, {"z", "double -0"},
               {"-z", "double 0"}, {"0.0 * -1", "double -0"}, {"1e3", "double 1000"},
               {"1E+3", "double 1000"}, {"2.5e-10", "double 2.5e-10"}, {"1e21", "double 1e+21"},
               {"1.0", "double 1"}, {"9007199254740993 + 0.0", "double 9007199254740992"},
               {"cast(n as double) / 4", "double 1.75"}, {"1e-320 / 10", "double 1e-321"});
}

static void null_makes_null(void **state)
{
    CHECK_ROWS({"nn + 1", "bigint null"}, {"1 - nn", "bigint null"}, {"nn * xn", "double null"},
               {"nn / 0", "bigint null"}, {"0 % nn", "bigint null"}, {"-nn", "bigint null"},
               {"-xn", "double null"}, {"null + 1", "bigint null"}, {"1.5 - null", "double null"},
               {"null * null", "bigint null"}, {"null % 2", "bigint null"},
               {"-null", "bigint null"}, {"abs(nn)", "bigint null"}, {"abs(null)", "bigint null"},
               {"ceil(xn)", "double null"}, {"floor(nn)", "bigint null"},
               {"round(xn, 1)", "double null"}, {"round(x, nn)", "double null"},
               {"mod(nn, 0)", "bigint null"}, {"mod(1, null)", "bigint null"});
}

static void what_does_not_fit_fails(void **state)
{
    CHECK_ROWS({"1 / 0", "!division by zero"}, {"1 % 0", "!division by zero"},
               {"mod(1, 0)", "!division by zero"}, {"1 / 0.0", "!division by zero"},
               {"0.0 / 0", "!division by zero"}, {"1.5 / z", "!division by zero"},
               {"most + 1", "!a bigint overflows"}, {"least_ - 1", "!a bigint overflows"},
               {"most * 2", "!a bigint overflows"}, {"least_ * -1", "!a bigint overflows"},
               {"least_ / -1", "!a bigint overflows"}, {"-least_", "!a bigint overflows"},
               {"abs(least_)", "!a bigint overflows"}, {"1e308 * 10", "!a double is not finite"},
               {"1e308 + 1e308", "!a double is not finite"},
               {"-1e308 - 1e308", "!a double is not finite"},
               {"1e308 / 1e-10", "!a double is not finite"}, {"1 + 1 / 0", "!division by zero"},
               {"nn + 1 / 0", "!division by zero"});
}

static void the_ends_of_bigint_are_reached(void **state)
{
    CHECK_ROWS({"-9223372036854775808", "bigint -9223372036854775808"},
               {"9223372036854775807", "bigint 9223372036854775807"},
               {"most", "bigint 9223372036854775807"}, {"least_ % -1", "bigint 0"},
               {"mod(least_, -1)", "bigint 0"}, {"least_ / 1", "bigint -9223372036854775808"},
               {"least_ + most", "bigint -1"}, {"-most", "bigint -9223372036854775807"},
               {"-most - 1", "bigint -9223372036854775808"},
               {"abs(-9223372036854775807)", "bigint 9223372036854775807"},
               {"most * -1", "bigint -9223372036854775807"},
               {"least_ / 2 * 2", "bigint -9223372036854775808"},
               {"9223372036854775808",
                "?0 9223372036854775808 is too large for a bigint (with a fraction, as in 1.0, it "
                "is a double)"},
               {"1 - 9223372036854775808",
                "?4 9223372036854775808 is too large for a bigint (with a fraction, as in 1.0, it "
                "is a double)"},
               {"-9223372036854775809",
                "?0 -9223372036854775809 is too large for a bigint (with a fraction, as in 1.0, it "
                "is a double)"},
               {"-(9223372036854775808)",
                "?2 9223372036854775808 is too large for a bigint (with a fraction, as in 1.0, it "
                "is a double)"},
               {"9223372036854775808.0", "double 9223372036854776000"},
               {"1e400", "?0 1e400 is too large for a double"},
               {"-1e400", "?0 -1e400 is too large for a double"}, {"1e-400", "double 0"});
}

static void abs_ceil_and_floor_keep_the_type(void **state)
{
    CHECK_ROWS({"abs(-3)", "bigint 3"}, {"abs(n)", "bigint 7"}, {"abs(-2.5)", "double 2.5"},
               {"abs(z)", "double 0"}, {"ceil(2.1)", "double 3"}, {"ceil(-0.5)", "double -0"},
               {"ceil(-2.5)", "double -2"}, {"floor(2.9)", "double 2"},
               {"floor(-0.5)", "double -1"}, {"floor(-2.5)", "double -3"}, {"ceil(n)", "bigint 7"},
               {"floor(-9223372036854775808)", "bigint -9223372036854775808"},
               {"ceil(1e300)", "double 1e+300"}, {"floor(z)", "double -0"},
               {"abs(sec)", "double 1700000000.5"}, {"floor(ms)", "bigint 1700000000123"});
}

static void doubles_are_rounded_by_their_decimal_text(void **state)
{
    CHECK_ROWS({"round(2.5)", "double 3"}, {"round(-2.5)", "double -3"}, {"round(2.4)", "double 2"},
               {"round(0.5)", "double 1"}, {"round(-0.5)", "double -1"}, {"round(0.4)", "double 0"},
               {"round(-0.4)", "double 0"}, {"round(2.675, 2)", "double 2.68"},
               {"round(-2.675, 2)", "double -2.68"}, {"round(1.005, 2)", "double 1.01"},
               {"round(-0.04, 1)", "double 0"}, {"round(0.05, 1)", "double 0.1"},
               {"round(-0.05, 1)", "double -0.1"}, {"round(7.25, 1)", "double 7.3"},
               {"round(0.15, 1)", "double 0.2"}, {"round(0.25, 1)", "double 0.3"},
               {"round(0.35, 1)", "double 0.4"}, {"round(9.95, 1)", "double 10"},
               {"round(0.999, 2)", "double 1"}, {"round(99.5)", "double 100"},
               {"round(2.5, 1)", "double 2.5"}, {"round(2.5, 300)", "double 2.5"},
               {"round(2.5, 9223372036854775807)", "double 2.5"}, {"round(x, 0)", "double 3"},
               {"round(0.0)", "double 0"}, {"round(z)", "double 0"}, {"round(z, 5)", "double 0"},
               {"round(7 * 1.005, 2)", "double 7.03"}, {"round(1.45, 1)", "double 1.5"},
               {"round(123456.789, 2)", "double 123456.79"}, {"round(0.1 + 0.2, 15)", "double 0.3"},
               {"round(0.000001234, 7)", "double 0.0000012"},
               {"round(0.0000001234, 8)", "double 1.2e-7"}, {"round(1e-7, 6)", "double 0"},
               {"round(5e-7, 6)", "double 0.000001"}, {"round(9.9e-7, 6)", "double 0.000001"},
               {"round(4.9e-324, 323)", "double 1e-323"}, {"round(4.9e-324, 322)", "double 0"},
               {"round(4.9e-324, 400)", "double 5e-324"}, {"round(1.5e300, 2)", "double 1.5e+300"});
}

static void negative_places_are_tens(void **state)
{
    CHECK_ROWS(
        {"round(1234.5, -2)", "double 1200"}, {"round(1250.0, -2)", "double 1300"},
        {"round(-1250.0, -2)", "double -1300"}, {"round(49.9, -2)", "double 0"},
        {"round(50.0, -2)", "double 100"}, {"round(5.0, -1)", "double 10"},
        {"round(4.9, -1)", "double 0"}, {"round(4.9, -2)", "double 0"},
        {"round(-5.0, -1)", "double -10"}, {"round(1e21, -21)", "double 1e+21"},
        {"round(1.7976931348623157e308, -308)", "!a double is not finite"},
        {"round(1.2e308, -308)", "double 1e+308"}, {"round(1e308, -309)", "double 0"},
        {"round(5e307, -308)", "double 1e+308"}, {"round(7e307, -309)", "double 0"},
        {"round(2.5, -9223372036854775808)", "double 0"}, {"round(14, -1)", "bigint 10"},
        {"round(15, -1)", "bigint 20"}, {"round(-15, -1)", "bigint -20"},
        {"round(-14, -1)", "bigint -10"}, {"round(n, 2)", "bigint 7"}, {"round(n)", "bigint 7"},
        {"round(n, -1)", "bigint 10"}, {"round(n, -2)", "bigint 0"},
        {"round(most)", "bigint 9223372036854775807"}, {"round(most, -1)", "!a bigint overflows"},
        {"round(most, -2)", "bigint 9223372036854775800"},
        {"round(least_, -1)", "!a bigint overflows"},
        {"round(least_, -2)", "bigint -9223372036854775800"},
        {"round(most, -18)", "bigint 9000000000000000000"},
        {"round(most, -19)", "!a bigint overflows"}, {"round(least_, -19)", "!a bigint overflows"},
        {"round(4999999999999999999, -19)", "bigint 0"}, {"round(most, -20)", "bigint 0"},
        {"round(most, -9223372036854775808)", "bigint 0"});
}

static void epoch_types_keep_their_unit_where_it_makes_sense(void **state)
{
    CHECK_ROWS({"ms - 500", "timestamp_ms 1699999999623"}, {"ms + 1", "timestamp_ms 1700000000124"},
               {"1 + ms", "timestamp_ms 1700000000124"}, {"500 - ms", "bigint -1699999999623"},
               {"ms - ms2", "bigint 123"}, {"ms + ms", "bigint 3400000000246"},
               {"ms - us", "bigint 1700000000124"}, {"ms * 2", "bigint 3400000000246"},
               {"ms / 1000", "bigint 1700000000"}, {"ms % 1000", "bigint 123"},
               {"ms + 0.5", "double 1700000000123.5"}, {"-ms", "bigint -1700000000123"},
               {"sec + 1", "timestamp_s 1700000001.5"}, {"sec - 0.5", "timestamp_s 1700000000"},
               {"sec - sec", "double 0"}, {"sec * 1", "double 1700000000.5"},
               {"us - 1", "timestamp_us -2"}, {"ns + n", "timestamp_ns 1700000000123456796"},
               {"msn - 1", "timestamp_ms null"}, {"ms - null", "timestamp_ms null"},
               {"null + ms", "timestamp_ms null"}, {"ms - 1 - 1", "timestamp_ms 1700000000121"},
               {"(ms - 1) - (ms2 - 1)", "bigint 123"});
}

static void arithmetic_is_for_numbers(void **state)
{
    CHECK_ROWS(
        {"left.s + 1",
         "?0 \"+\" takes a number here, and this is a string (cast it: cast(x as double))"},
        {"1 - left.s",
         "?4 \"-\" takes a number here, and this is a string (cast it: cast(x as double))"},
        {"t * 2",
         "?0 \"*\" takes a number here, and this is a boolean (cast it: cast(x as bigint))"},
        {"at + 1",
         "?0 \"+\" takes a number here, and this is a timestamp (cast it, as in cast(x as "
         "timestamp_ms), or give the field an epoch type)"},
        {"at - at", "?0 \"-\" takes a number here, and this is a timestamp (cast it, as in cast(x "
                    "as timestamp_ms), or give the field an epoch type)"},
        {"-left.s",
         "?1 \"-\" takes a number here, and this is a string (cast it: cast(x as double))"},
        {"x % 2",
         "?0 \"%\" takes a bigint here, and this is a double (cast it: cast(x as bigint))"},
        {"7 % 2.0",
         "?4 \"%\" takes a bigint here, and this is a double (cast it: cast(x as bigint))"},
        {"sec % 2",
         "?0 \"%\" takes a bigint here, and this is a timestamp_s (cast it: cast(x as bigint))"},
        {"mod(x, 2)",
         "?4 \"mod\" takes a bigint here, and this is a double (cast it: cast(x as bigint))"},
        {"abs(e)", "?4 \"abs\" takes a number here, and this is a string (cast it: cast(x as "
                   "double))"},
        {"ceil(at)", "?5 \"ceil\" takes a number here, and this is a timestamp (cast it, as in "
                     "cast(x as timestamp_ms), or give the field an epoch type)"},
        {"round(e)", "?6 \"round\" takes a number here, and this is a string (cast it: cast(x as "
                     "double))"},
        {"round(x, 1.0)",
         "?9 \"round\" takes a bigint here, and this is a double (cast it: cast(x as bigint))"},
        {"floor(t)",
         "?6 \"floor\" takes a number here, and this is a boolean (cast it: cast(x as bigint))"},
        {"round()", "?0 round takes 1 or 2 arguments, and here are 0"},
        {"round(1, 2, 3)", "?0 round takes 1 or 2 arguments, and here are 3"},
        {"abs(1, 2)", "?0 abs takes 1 argument, and here are 2"},
        {"mod(1)", "?0 mod takes 2 arguments, and here are 1"});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bigints_are_whole),
        cmocka_unit_test(numbers_of_both_kinds_make_doubles),
        cmocka_unit_test(null_makes_null),
        cmocka_unit_test(what_does_not_fit_fails),
        cmocka_unit_test(the_ends_of_bigint_are_reached),
        cmocka_unit_test(abs_ceil_and_floor_keep_the_type),
        cmocka_unit_test(doubles_are_rounded_by_their_decimal_text),
        cmocka_unit_test(negative_places_are_tens),
        cmocka_unit_test(epoch_types_keep_their_unit_where_it_makes_sense),
        cmocka_unit_test(arithmetic_is_for_numbers),
    };
    return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
