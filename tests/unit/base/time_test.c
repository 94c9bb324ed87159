#include "unit.h"

#include <stdbool.h>

#include "base/mem.h"
#include "base/time.h"

static void division_rounds_down(void **state)
{
    static const struct {
        int64_t a, b, quotient, rest;
    } rows[] = {
        {0, 10, 0, 0},
        {9, 10, 0, 9},
        {10, 10, 1, 0},
        {-1, 10, -1, 9},
        {-9, 10, -1, 1},
        {-10, 10, -1, 0},
        {-11, 10, -2, 9},
        {7, 1, 7, 0},
        {INT64_MAX, 1000, INT64_MAX / 1000, 807},
        {INT64_MIN, 1000, INT64_MIN / 1000 - 1, 192},
        {INT64_MIN, 1, INT64_MIN, 0},
        {INT64_MIN, INT64_MAX, -2, INT64_MAX - 1},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_true(floor_div(rows[i].a, rows[i].b) == rows[i].quotient);
        assert_true(floor_mod(rows[i].a, rows[i].b) == rows[i].rest);
    }
}

/* --- instants --- */

static const struct {
    const char *text;
    int64_t ms;
} times[] = {
    {"1970-01-01T00:00:00Z", 0},
    {"1970-01-01T00:00:00.000Z", 0},
    {"1970-01-01T00:00:00.001Z", 1},
    {"1969-12-31T23:59:59.999Z", -1},
    {"1970-01-02T00:00:00Z", 86400000},
    {"2001-09-09T01:46:40Z", 1000000000000},
    {"2026-01-02T03:04:05Z", 1767323045000},
    {"2026-01-02T03:04:05.678Z", 1767323045678},
    {"2026-01-02T03:04:05", 1767323045000},
    {"2026-01-02 03:04:05", 1767323045000},
    {"2026-01-02 03:04:05.678", 1767323045678},
    {"2026-01-02t03:04:05z", 1767323045000},
    {"2026-01-02 03:04:05z", 1767323045000},
    {"2026-01-02T03:04:05.6Z", 1767323045600},
    {"2026-01-02T03:04:05.67Z", 1767323045670},
    {"2026-01-02T03:04:05.06Z", 1767323045060},
    {"2026-01-02T03:04:05.6789Z", 1767323045678},
    {"2026-01-02T03:04:05.678999999999999999999999999999Z", 1767323045678},
    {"2026-01-02T03:04:05.000999+00:00", 1767323045000},
    /* Cut towards the past, also before the epoch. */
    {"1969-12-31T23:59:59.9999Z", -1},
    {"1969-12-31T23:59:59.9980001Z", -2},
    {"2026-01-02T03:04:05+02:00", 1767315845000},
    {"2026-01-02T03:04:05-02:00", 1767330245000},
    {"2026-01-02T03:04:05+05:30", 1767303245000},
    {"2026-01-02 03:04:05.678-00:30", 1767324845678},
    {"2026-01-02T03:04:05-00:00", 1767323045000},
    {"2026-01-02T23:59:00+23:59", 1767312000000},
    {"2026-01-01T00:01:00-23:59", 1767312000000},
    {"2024-02-29T00:00:00Z", 1709164800000},
    {"2000-02-29T12:00:00Z", 951825600000},
    {"1600-02-29T00:00:00Z", -11670998400000},
    {"2023-12-31T23:59:59.999Z", 1704067199999},
    {"0001-01-01T00:00:00Z", TIME_MS_MIN},
    {"0001-01-01T02:00:00+02:00", TIME_MS_MIN},
    {"9999-12-31T23:59:59.999Z", TIME_MS_MAX},
    {"9999-12-31T23:59:59.9999999Z", TIME_MS_MAX},
    {"9999-12-31T21:59:59.999-02:00", TIME_MS_MAX},
};

static const char *const no_times[] = {
    "",
    "2",
    "2026-01-02",
    "2026-01-02T",
    "2026-01-02T03:04",
    "2026-01-02T03:04Z",
    "2026-01-02T03:04:5Z",
    "2026-1-2T03:04:05Z",
    "20260102T030405Z",
    "26-01-02T03:04:05Z",
    "12026-01-02T03:04:05Z",
    "+2026-01-02T03:04:05Z",
    "-026-01-02T03:04:05Z",
    " 2026-01-02T03:04:05Z",
    "2026-01-02T03:04:05Z ",
    "2026-01-02T03:04:05 Z",
    "2026-01-02  03:04:05Z",
    "2026-01-02_03:04:05Z",
    "2026/01/02T03:04:05Z",
    "2026-01-02T03.04.05Z",
    "2026-01-02T03:04:05ZZ",
    "2026-01-02T03:04:05.Z",
    "2026-01-02T03:04:05.",
    "2026-01-02T03:04:05,678Z",
    "2026-01-02T03:04:05.6.7Z",
    "2026-01-02T03:04:05.-1Z",
    "2026-01-02T03:04:05+2",
    "2026-01-02T03:04:05+02",
    "2026-01-02T03:04:05+0200",
    "2026-01-02T03:04:05+02:0",
    "2026-01-02T03:04:05+02:000",
    "2026-01-02T03:04:05+02:00Z",
    "2026-01-02T03:04:05Z+02:00",
    "2026-01-02T03:04:05+24:00",
    "2026-01-02T03:04:05+02:60",
    "2026-01-02T03:04:05 +02:00",
    "2026-01-02T03:04:05UTC",
    "2026-01-02T-3:04:05Z",
    "2026-01-02T+3:04:05Z",
    "2026-01-02T 3:04:05Z",
    "2026-00-02T03:04:05Z",
    "2026-13-02T03:04:05Z",
    "2026-01-00T03:04:05Z",
    "2026-01-32T03:04:05Z",
    "2026-04-31T03:04:05Z",
    "2026-06-31T03:04:05Z",
    "2026-09-31T03:04:05Z",
    "2026-11-31T03:04:05Z",
    "2026-02-29T03:04:05Z",
    "2024-02-30T03:04:05Z",
    "1900-02-29T03:04:05Z",
    "2100-02-29T03:04:05Z",
    "2026-01-02T24:00:00Z",
    "2026-01-02T03:60:05Z",
    "2026-01-02T03:04:60Z",
    "2016-12-31T23:59:60Z",
    "2026-01-02T03:04:61Z",
    "0000-01-01T00:00:00Z",
    "0000-12-31T23:59:59-23:59", /* year 0000, though the instant is in 0001 */
    "0001-01-01T00:00:00+00:01",
    "0001-01-01T01:59:59.999+02:00",
    "9999-12-31T23:59:59-00:01",
    "1767323045000",
    "now",
    "2026-01-02T03:04:0\xD9\xA1",
};

static void times_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(times); i++) {
        int64_t ms = 12345;

        assert_row(time_read_rfc3339(bytes_of(times[i].text), &ms), times[i].text);
        assert_row(ms == times[i].ms, times[i].text);
    }
}

static void what_is_no_time_is_refused_and_writes_nothing(void **state)
{
    int64_t ms = 12345;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(no_times); i++) {
        assert_row(!time_read_rfc3339(bytes_of(no_times[i]), &ms), no_times[i]);
        assert_row(ms == 12345, no_times[i]);
        assert_row(!time_is_canonical(bytes_of(no_times[i])), no_times[i]);
    }
    assert_false(time_read_rfc3339(BYTES_NULL, &ms));
    assert_false(time_read_rfc3339(BYTES_LIT("2026-01-02T03:04:05Z\0"), &ms));
    assert_false(time_read_rfc3339(BYTES_LIT("2026-01-02\00003:04:05Z"), &ms));
    assert_false(time_is_canonical(BYTES_NULL));
}

/* Every prefix of a full time, at the end of its memory: the sanitizer sees a
 * read behind it. */
static void a_cut_time_is_refused_where_it_is_none(void **state)
{
    const char *whole = "2026-01-02T03:04:05.678+02:00";

    (void)state;
    for (size_t n = 0; n <= strlen(whole); n++) {
        char *exact = mem_alloc(n);
        bool expected = n == 19 || (n >= 21 && n <= 23) || n == 29;
        int64_t ms;

        memcpy(exact, whole, n);
        assert_int_equal(time_read_rfc3339((struct bytes){exact, n}, &ms), expected);
        assert_false(time_is_canonical((struct bytes){exact, n}));
        mem_free(exact);
    }
}

static void every_byte_of_a_time_counts(void **state)
{
    (void)state;
    for (size_t i = 0; i < 29; i++) {
        char text[] = "2026-01-02T03:04:05.678+02:00";
        int64_t ms;

        text[i] = 'x';
        assert_row(!time_read_rfc3339(bytes_of(text), &ms), text);
    }
}

static void times_are_written(void **state)
{
    static const struct {
        int64_t ms;
        const char *text;
    } rows[] = {
        {0, "1970-01-01T00:00:00.000Z"},
        {-1, "1969-12-31T23:59:59.999Z"},
        {1767323045678, "2026-01-02T03:04:05.678Z"},
        {1709164800000, "2024-02-29T00:00:00.000Z"},
        {1709251199999, "2024-02-29T23:59:59.999Z"},
        {951782400000, "2000-02-29T00:00:00.000Z"},
        {4107542400000, "2100-03-01T00:00:00.000Z"},
        {-62135596800000, "0001-01-01T00:00:00.000Z"},
        {253402300799999, "9999-12-31T23:59:59.999Z"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char text[TIME_TEXT_LENGTH];

        time_write_rfc3339(rows[i].ms, text);
        assert_text(text, sizeof(text), rows[i].text);
        assert_true(time_is_canonical((struct bytes){text, sizeof(text)}));
    }
}

/* Against a calendar that counts day by day, over all 9999 years. */
static void every_day_of_the_calendar_is_written_and_read(void **state)
{
    static const int month_days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int64_t ms = TIME_MS_MIN;
    char text[TIME_TEXT_LENGTH + 1] = "";

    (void)state;
    for (int year = 1; year <= 9999; year++) {
        bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

        for (int month = 1; month <= 12; month++) {
            for (int day = 1; day <= month_days[month - 1] + (month == 2 && leap); day++) {
                int64_t back = 0;
                int date = 0;

                time_write_rfc3339(ms, text);
                for (int i = 0; i < 10; i++)
                    date = text[i] == '-' ? date : date * 10 + text[i] - '0';
                if (date != year * 10000 + month * 100 + day)
                    fail_msg("%04d-%02d-%02d was written as %s", year, month, day, text);
                if (!time_read_rfc3339(bytes_of(text), &back) || back != ms)
                    fail_msg("%s was not read back", text);
                ms += 86400000;
            }
        }
    }
    assert_true(ms == TIME_MS_MAX + 1);
}

static void every_second_of_a_day_is_written_and_read(void **state)
{
    (void)state;
    for (int64_t second = -86400; second < 86400; second++) {
        int64_t ms = second * 1000 + (second + 86400) % 1000;
        char text[TIME_TEXT_LENGTH];
        int64_t back = 0;

        time_write_rfc3339(ms, text);
        assert_true(time_read_rfc3339((struct bytes){text, sizeof(text)}, &back));
        assert_true(back == ms);
    }
}

static void canonical_is_only_what_is_written(void **state)
{
    static const char *const others[] = {
        "2026-01-02T03:04:05Z",      "2026-01-02T03:04:05.67Z",       "2026-01-02T03:04:05.6789Z",
        "2026-01-02 03:04:05.678Z",  "2026-01-02t03:04:05.678Z",      "2026-01-02T03:04:05.678z",
        "2026-01-02T03:04:05.678",   "2026-01-02T03:04:05.678+00:00", "2026-01-02T03:04:05.6781",
        "2026-01-02T03:04:05-00:0Z", "2026-02-30T03:04:05.678Z",      "0000-01-02T03:04:05.678Z",
    };

    (void)state;
    assert_true(time_is_canonical(BYTES_LIT("2026-01-02T03:04:05.678Z")));
    for (size_t i = 0; i < COUNT_OF(times); i++) {
        char text[TIME_TEXT_LENGTH];
        bool same;

        time_write_rfc3339(times[i].ms, text);
        same = bytes_equal((struct bytes){text, sizeof(text)}, bytes_of(times[i].text));
        assert_row(time_is_canonical(bytes_of(times[i].text)) == same, times[i].text);
    }
    for (size_t i = 0; i < COUNT_OF(others); i++)
        assert_row(!time_is_canonical(bytes_of(others[i])), others[i]);
}

/* --- durations --- */

#define DAY 86400000LL

static const struct {
    const char *text;
    int64_t ms;
    const char *written;
} durations[] = {
    {"0", 0, "0s"},
    {"0s", 0, "0s"},
    {"0ms", 0, "0s"},
    {"0d0h", 0, "0s"},
    {"250ms", 250, "250ms"},
    {"5s", 5000, "5s"},
    {"10m", 600000, "10m"},
    {"2h", 7200000, "2h"},
    {"1d", DAY, "1d"},
    {"1h30m", 5400000, "1h30m"},
    {"30m1h", 5400000, "1h30m"},
    {"90m", 5400000, "1h30m"},
    {"1500ms", 1500, "1s500ms"},
    {"1m1ms", 60001, "1m1ms"},
    {"1ms1m", 60001, "1m1ms"},
    {"1d2h3m4s5ms", DAY + 7384005, "1d2h3m4s5ms"},
    {"5ms4s3m2h1d", DAY + 7384005, "1d2h3m4s5ms"},
    {"007s", 7000, "7s"},
    {"24h", DAY, "1d"},
    {"36500d", 36500 * DAY, "36500d"},
    {"876000h", 36500 * DAY, "36500d"},
    {"3153600000000ms", 36500 * DAY, "36500d"},
    {"36499d24h", 36500 * DAY, "36500d"},
    {"00000000000000000000000000000001s", 1000, "1s"},
};

static const char *const no_durations[] = {
    "",
    "1",
    "10",
    "00",
    "s",
    "ms",
    "h1",
    "1x",
    "1S",
    "1M",
    "1H",
    "1D",
    "1Ms",
    "1 s",
    " 1s",
    "1s ",
    "1h 30m",
    "1h,30m",
    "1.5h",
    "1h30",
    "30 m",
    "1hm",
    "1mss",
    "1mms",
    "1sec",
    "1min",
    "1h1h",
    "1s2s",
    "1ms2ms",
    "1m1m",
    "0s0s",
    "+1s",
    "--1s",
    "1s-",
    "1-s",
    "1e3s",
    "0x1s",
    "36501d",
    "36500d1ms",
    "876001h",
    "36500d1h",
    "3153600000001ms",
    "99999999999999999999d",
    "9223372036854775807d",
    "9223372036854775807ms",
    "213503982334602d",
    "18446744073709551617s",
    "off",
    "forever",
    "1s\xC2\xB5",
    "-",
    "-x",
};

static void durations_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(durations); i++) {
        struct buf negated = BUF_EMPTY;
        int64_t ms = 12345;

        assert_row(duration_read(bytes_of(durations[i].text), false, &ms), durations[i].text);
        assert_row(ms == durations[i].ms, durations[i].text);
        assert_row(duration_read(bytes_of(durations[i].text), true, &ms), durations[i].text);
        assert_row(ms == durations[i].ms, durations[i].text);

        buf_printf(&negated, "-%s", durations[i].text);
        assert_row(!duration_read(buf_bytes(&negated), false, &ms), durations[i].text);
        assert_row(duration_read(buf_bytes(&negated), true, &ms), durations[i].text);
        assert_row(ms == -durations[i].ms, durations[i].text);
        buf_done(&negated);
    }
}

static void what_is_no_duration_is_refused_and_writes_nothing(void **state)
{
    int64_t ms = 12345;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(no_durations); i++) {
        assert_row(!duration_read(bytes_of(no_durations[i]), false, &ms), no_durations[i]);
        assert_row(!duration_read(bytes_of(no_durations[i]), true, &ms), no_durations[i]);
        assert_row(ms == 12345, no_durations[i]);
    }
    assert_false(duration_read(BYTES_NULL, true, &ms));
    assert_false(duration_read(BYTES_LIT("1s\0"), true, &ms));
    assert_false(duration_read(BYTES_LIT("1\0s"), true, &ms));
}

static void durations_are_written_so_that_they_read_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(durations); i++) {
        struct buf text = BUF_EMPTY;
        int64_t back = 12345;

        duration_write(durations[i].ms, &text);
        assert_string_equal(buf_text(&text), durations[i].written);
        assert_true(duration_read(buf_bytes(&text), false, &back));
        assert_true(back == durations[i].ms);

        buf_clear(&text);
        duration_write(-durations[i].ms, &text);
        assert_true(duration_read(buf_bytes(&text), true, &back));
        assert_true(back == -durations[i].ms);
        buf_done(&text);
    }
}

static void negative_durations_have_one_sign(void **state)
{
    struct buf text = BUF_EMPTY;

    (void)state;
    duration_write(-5000, &text);
    buf_append_char(&text, ' ');
    duration_write(-5400001, &text);
    buf_append_char(&text, ' ');
    duration_write(INT64_MIN, &text);
    assert_string_equal(buf_text(&text), "-5s -1h30m1ms -106751991167d7h12m55s808ms");
    buf_done(&text);
}

/* --- sizes --- */

static const struct {
    const char *text;
    int64_t bytes;
    const char *written;
} sizes[] = {
    {"0", 0, "0"},
    {"0K", 0, "0"},
    {"1", 1, "1"},
    {"512", 512, "512"},
    {"1023", 1023, "1023"},
    {"1024", 1024, "1K"},
    {"1k", 1024, "1K"},
    {"64K", 65536, "64K"},
    {"064K", 65536, "64K"},
    {"1025K", 1049600, "1025K"},
    {"1024K", 1048576, "1M"},
    {"4M", 4194304, "4M"},
    {"4m", 4194304, "4M"},
    {"1536M", 1610612736, "1536M"},
    {"1G", 1073741824, "1G"},
    {"1g", 1073741824, "1G"},
    {"2T", 2199023255552, "2T"},
    {"2t", 2199023255552, "2T"},
    {"2048G", 2199023255552, "2T"},
    {"1048577", 1048577, "1048577"},
    {"8388607T", 8388607LL << 40, "8388607T"},
    {"9007199254740991K", INT64_MAX - 1023, "9007199254740991K"},
    {"9223372036854775807", INT64_MAX, "9223372036854775807"},
};

static const char *const no_sizes[] = {
    "",
    "K",
    "-1",
    "+1",
    "-1K",
    " 1",
    "1 ",
    "1 K",
    "1.5G",
    "1KB",
    "1KiB",
    "1B",
    "1P",
    "1KK",
    "K1",
    "0x10",
    "1e3",
    "1,024",
    "9223372036854775808",
    "99999999999999999999",
    "8388608T",
    "9007199254740992K",
    "9223372036854775807K",
    "18446744073709551616",
    "18014398509481985K",
    "16777217T",
};

static void sizes_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        int64_t bytes = 12345;

        assert_row(size_read(bytes_of(sizes[i].text), &bytes), sizes[i].text);
        assert_row(bytes == sizes[i].bytes, sizes[i].text);
    }
}

static void what_is_no_size_is_refused_and_writes_nothing(void **state)
{
    int64_t bytes = 12345;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(no_sizes); i++) {
        assert_row(!size_read(bytes_of(no_sizes[i]), &bytes), no_sizes[i]);
        assert_row(bytes == 12345, no_sizes[i]);
    }
    assert_false(size_read(BYTES_NULL, &bytes));
    assert_false(size_read(BYTES_LIT("1K\0"), &bytes));
    assert_false(size_read(BYTES_LIT("1\0"), &bytes));
}

static void sizes_are_written_with_the_largest_unit(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        struct buf text = BUF_EMPTY;
        int64_t back = 12345;

        size_write(sizes[i].bytes, &text);
        assert_string_equal(buf_text(&text), sizes[i].written);
        assert_true(size_read(buf_bytes(&text), &back));
        assert_true(back == sizes[i].bytes);
        buf_done(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(division_rounds_down),
        cmocka_unit_test(times_are_read),
        cmocka_unit_test(what_is_no_time_is_refused_and_writes_nothing),
        cmocka_unit_test(a_cut_time_is_refused_where_it_is_none),
        cmocka_unit_test(every_byte_of_a_time_counts),
        cmocka_unit_test(times_are_written),
        cmocka_unit_test(every_day_of_the_calendar_is_written_and_read),
        cmocka_unit_test(every_second_of_a_day_is_written_and_read),
        cmocka_unit_test(canonical_is_only_what_is_written),
        cmocka_unit_test(durations_are_read),
        cmocka_unit_test(what_is_no_duration_is_refused_and_writes_nothing),
        cmocka_unit_test(durations_are_written_so_that_they_read_back),
        cmocka_unit_test(negative_durations_have_one_sign),
        cmocka_unit_test(sizes_are_read),
        cmocka_unit_test(what_is_no_size_is_refused_and_writes_nothing),
        cmocka_unit_test(sizes_are_written_with_the_largest_unit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
