#include "base/time.h"

#include <assert.h>
#include <string.h>

#define SECOND_MS ((int64_t)1000)
#define MINUTE_MS (60 * SECOND_MS)
#define HOUR_MS   (60 * MINUTE_MS)
#define DAY_MS    (24 * HOUR_MS)

/*
 * Days are counted in years that begin on the 1st of March, because then a leap
 * day is the last of its year, and the months before a given one always have the
 * same number of days: 31 30 31 30 31, again, and 31 29.
 */
#define EPOCH_DAY       719468 /* 1970-01-01, counted from 0000-03-01 */
#define CYCLE_DAYS      146097 /* in 400 years the calendar repeats itself */
#define FIVE_MONTH_DAYS 153

static int64_t days_before_year(int64_t year)
{
    return year * 365 + year / 4 - year / 100 + year / 400;
}

static int64_t days_before_month(int64_t month) /* 0: March */
{
    return (month * FIVE_MONTH_DAYS + 2) / 5;
}

static int64_t day_number(int year, int month, int day)
{
    int64_t march_year = month > 2 ? year : year - 1;
    int64_t march_month = month > 2 ? month - 3 : month + 9;

    return days_before_year(march_year) + days_before_month(march_month) + day - 1 - EPOCH_DAY;
}

static void date_of(int64_t day_number, int *ret_year, int *ret_month, int *ret_day)
{
    int64_t days = day_number + EPOCH_DAY;
    int64_t year = days * 400 / CYCLE_DAYS + 1; /* right, or too late by one or two */
    int64_t month;

    while (days_before_year(year) > days)
        year--;
    days -= days_before_year(year);
    month = (days * 5 + 2) / FIVE_MONTH_DAYS;
    *ret_day = (int)(days - days_before_month(month) + 1);
    *ret_month = (int)(month < 10 ? month + 3 : month - 9);
    *ret_year = (int)(month < 10 ? year : year + 1);
}

static int days_of_month(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

    return days[month - 1] + (month == 2 && leap);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A number of exactly `n` digits that lies in [min, max]. */
static bool read_field(const char *p, int n, int min, int max, int *ret)
{
    int value = 0;

    for (int i = 0; i < n; i++) {
        if (!is_digit(p[i]))
            return false;
        value = value * 10 + (p[i] - '0');
    }
    *ret = value;
    return value >= min && value <= max;
}

#define DATE_TIME_LENGTH 19 /* 2026-01-02T03:04:05 */

static bool read_date_time(const char *p, int64_t *ret_ms)
{
    int year, month, day, hour, minute, second;

    if (!read_field(p, 4, 1, 9999, &year) || p[4] != '-' || !read_field(p + 5, 2, 1, 12, &month) ||
        p[7] != '-' || !read_field(p + 8, 2, 1, days_of_month(year, month), &day))
        return false;
    if (p[10] != 'T' && p[10] != 't' && p[10] != ' ')
        return false;
    if (!read_field(p + 11, 2, 0, 23, &hour) || p[13] != ':' ||
        !read_field(p + 14, 2, 0, 59, &minute) || p[16] != ':' ||
        !read_field(p + 17, 2, 0, 59, &second))
        return false;
    *ret_ms = day_number(year, month, day) * DAY_MS + hour * HOUR_MS + minute * MINUTE_MS +
              second * SECOND_MS;
    return true;
}

/* Takes `.678` off the front of `rest`, if there is one; false for a bare point. */
static bool read_fraction(struct bytes *rest, int64_t *ret_ms)
{
    size_t n = 1;

    *ret_ms = 0;
    if (rest->n == 0 || rest->p[0] != '.')
        return true;
    for (int64_t unit = 100; n < rest->n && is_digit(rest->p[n]); n++, unit /= 10)
        *ret_ms += (rest->p[n] - '0') * unit;
    rest->p += n;
    rest->n -= n;
    return n > 1;
}

/* The whole of `text`: nothing, Z, or +02:00. */
static bool read_zone(struct bytes text, int64_t *ret_ms)
{
    int hours, minutes;

    *ret_ms = 0;
    if (text.n == 0 || (text.n == 1 && (text.p[0] == 'Z' || text.p[0] == 'z')))
        return true;
    if (text.n != 6 || (text.p[0] != '+' && text.p[0] != '-') || text.p[3] != ':' ||
        !read_field(text.p + 1, 2, 0, 23, &hours) || !read_field(text.p + 4, 2, 0, 59, &minutes))
        return false;
    *ret_ms = hours * HOUR_MS + minutes * MINUTE_MS;
    if (text.p[0] == '-')
        *ret_ms = -*ret_ms;
    return true;
}

bool time_read_rfc3339(struct bytes text, int64_t *ret_ms)
{
    int64_t whole_ms, fraction_ms, zone_ms, ms;
    struct bytes rest;

    if (text.n < DATE_TIME_LENGTH || !read_date_time(text.p, &whole_ms))
        return false;
    rest = (struct bytes){text.p + DATE_TIME_LENGTH, text.n - DATE_TIME_LENGTH};
    if (!read_fraction(&rest, &fraction_ms) || !read_zone(rest, &zone_ms))
        return false;
    ms = whole_ms + fraction_ms - zone_ms;
    if (ms < TIME_MS_MIN || ms > TIME_MS_MAX)
        return false;
    *ret_ms = ms;
    return true;
}

static void write_field(char *to, int n, int value)
{
    for (int i = n - 1; i >= 0; i--) {
        to[i] = (char)('0' + value % 10);
        value /= 10;
    }
}

void time_write_rfc3339(int64_t ms, char *to)
{
    int year, month, day, rest;

    assert(ms >= TIME_MS_MIN && ms <= TIME_MS_MAX);
    date_of(floor_div(ms, DAY_MS), &year, &month, &day);
    rest = (int)floor_mod(ms, DAY_MS);
    memcpy(to, "yyyy-mm-ddThh:mm:ss.mmmZ", TIME_TEXT_LENGTH);
    write_field(to, 4, year);
    write_field(to + 5, 2, month);
    write_field(to + 8, 2, day);
    write_field(to + 11, 2, rest / (int)HOUR_MS);
    write_field(to + 14, 2, rest / (int)MINUTE_MS % 60);
    write_field(to + 17, 2, rest / (int)SECOND_MS % 60);
    write_field(to + 20, 3, rest % (int)SECOND_MS);
}

void time_append_rfc3339(int64_t ms, struct buf *to)
{
    time_write_rfc3339(ms, buf_reserve(to, TIME_TEXT_LENGTH));
    buf_advance(to, TIME_TEXT_LENGTH);
}

bool time_is_canonical(struct bytes text)
{
    int64_t ms;

    return text.n == TIME_TEXT_LENGTH && text.p[10] == 'T' && text.p[19] == '.' &&
           text.p[23] == 'Z' && time_read_rfc3339(text, &ms);
}

/* Durations and sizes: digits, each with a unit. */

struct unit {
    const char *name;
    int64_t factor;
};

static const struct unit duration_units[] = {
    {"d", DAY_MS}, {"h", HOUR_MS}, {"m", MINUTE_MS}, {"s", SECOND_MS}, {"ms", 1},
};
#define DURATION_UNITS  (sizeof(duration_units) / sizeof(duration_units[0]))
#define DURATION_MS_MAX (36500 * DAY_MS)

static const struct unit size_units[] = {
    {"T", (int64_t)1 << 40},
    {"G", (int64_t)1 << 30},
    {"M", (int64_t)1 << 20},
    {"K", 1 << 10},
};
#define SIZE_UNITS (sizeof(size_units) / sizeof(size_units[0]))

static void skip(struct bytes *rest, size_t n)
{
    rest->p += n;
    rest->n -= n;
}

/* Takes digits off the front of `rest`. False: none, or above INT64_MAX. */
static bool take_number(struct bytes *rest, int64_t *ret)
{
    size_t n = 0;
    int64_t value = 0;

    for (; n < rest->n && is_digit(rest->p[n]); n++) {
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, rest->p[n] - '0', &value))
            return false;
    }
    if (n == 0)
        return false;
    skip(rest, n);
    *ret = value;
    return true;
}

/* Takes a unit off the front of `rest`; it goes as far as the next digit, so
 * that `ms` is not read as `m`. DURATION_UNITS if it is none. */
static size_t take_duration_unit(struct bytes *rest)
{
    struct bytes name = {rest->p, 0};

    while (name.n < rest->n && !is_digit(name.p[name.n]))
        name.n++;
    skip(rest, name.n);
    for (size_t i = 0; i < DURATION_UNITS; i++) {
        if (bytes_equal(name, bytes_of(duration_units[i].name)))
            return i;
    }
    return DURATION_UNITS;
}

static bool read_sum(struct bytes rest, int64_t *ret_ms)
{
    bool seen[DURATION_UNITS] = {false};
    int64_t sum = 0;
    int64_t value;

    if (bytes_equal(rest, BYTES_LIT("0"))) {
        *ret_ms = 0;
        return true;
    }
    do {
        size_t unit;

        if (!take_number(&rest, &value))
            return false;
        unit = take_duration_unit(&rest);
        if (unit == DURATION_UNITS || seen[unit])
            return false;
        seen[unit] = true;
        if (__builtin_mul_overflow(value, duration_units[unit].factor, &value) ||
            __builtin_add_overflow(sum, value, &sum) || sum > DURATION_MS_MAX)
            return false;
    } while (rest.n > 0);
    *ret_ms = sum;
    return true;
}

bool duration_read(struct bytes text, bool negative_ok, int64_t *ret_ms)
{
    bool negative = negative_ok && text.n > 0 && text.p[0] == '-';
    int64_t ms;

    if (negative)
        skip(&text, 1);
    if (!read_sum(text, &ms))
        return false;
    *ret_ms = negative ? -ms : ms;
    return true;
}

void duration_write(int64_t ms, struct buf *to)
{
    uint64_t rest = ms < 0 ? -(uint64_t)ms : (uint64_t)ms;

    if (ms == 0)
        buf_append_text(to, "0s");
    if (ms < 0)
        buf_append_char(to, '-');
    for (size_t i = 0; i < DURATION_UNITS; i++) {
        uint64_t factor = (uint64_t)duration_units[i].factor;

        if (rest >= factor)
            buf_printf(to, "%llu%s", (unsigned long long)(rest / factor), duration_units[i].name);
        rest %= factor;
    }
}

static char upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

/* 1 for no unit at all, 0 for one that there is not. */
static int64_t size_factor(struct bytes unit)
{
    if (unit.n == 0)
        return 1;
    for (size_t i = 0; i < SIZE_UNITS && unit.n == 1; i++) {
        if (upper(unit.p[0]) == size_units[i].name[0])
            return size_units[i].factor;
    }
    return 0;
}

bool size_read(struct bytes text, int64_t *ret_bytes)
{
    int64_t value, factor;

    if (!take_number(&text, &value))
        return false;
    factor = size_factor(text);
    if (factor == 0 || value > INT64_MAX / factor)
        return false;
    *ret_bytes = value * factor;
    return true;
}

void size_write(int64_t bytes, struct buf *to)
{
    assert(bytes >= 0);
    for (size_t i = 0; i < SIZE_UNITS && bytes > 0; i++) {
        if (bytes % size_units[i].factor == 0) {
            buf_printf(to, "%lld%s", (long long)(bytes / size_units[i].factor), size_units[i].name);
            return;
        }
    }
    buf_printf(to, "%lld", (long long)bytes);
}
