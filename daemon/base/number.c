#include "base/number.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

/* Digits that a double keeps whatever they are (DBL_DIG): no two texts of so
 * few digits mean the same (normal) double, so the shorter of them is the one. */
#define DIGITS_KEPT 15
#define DIGITS_MAX  17 /* digits that tell every double from the others (DBL_DECIMAL_DIG) */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool number_read_bigint(struct bytes text, int64_t *ret)
{
    bool negative = text.n > 0 && text.p[0] == '-';
    size_t at = negative;
    uint64_t value = 0;

    if (at == text.n)
        return false;
    while (at < text.n && text.p[at] == '0')
        at++;
    if (text.n - at > 19) /* 19 digits, and no more, always fit into 64 bits */
        return false;
    for (; at < text.n; at++) {
        if (!is_digit(text.p[at]))
            return false;
        value = value * 10 + (uint64_t)(text.p[at] - '0');
    }
    if (value > (uint64_t)INT64_MAX + negative)
        return false;
    *ret = (int64_t)(negative ? -value : value);
    return true;
}

enum number_form number_bigint_form(struct bytes text)
{
    size_t first = text.n > 0 && text.p[0] == '-';
    int64_t value;

    if (!number_read_bigint(text, &value))
        return NUMBER_BAD;
    return text.p[first] != '0' || text.n == 1 ? NUMBER_CANONICAL : NUMBER_VALID;
}

size_t number_write_bigint(int64_t value, char *to)
{
    uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
    char digits[20];
    size_t at = sizeof(digits);
    size_t length = 0;

    do {
        digits[--at] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (value < 0)
        to[length++] = '-';
    memcpy(to + length, digits + at, sizeof(digits) - at);
    return length + sizeof(digits) - at;
}

/* The parts of a double's text. */
struct decimal {
    bool negative;
    bool has_exponent;
    struct bytes whole, fraction; /* digits; the fraction may be empty */
    int64_t exponent;             /* as written, held to +-EXPONENT_FAR */
};

/* Further than any text's digits could bring back. */
#define EXPONENT_FAR 100000000000000000 /* 1e17: ten times more is an int64_t, too */

static struct bytes read_digits(struct bytes text, size_t *at)
{
    size_t start = *at;

    while (*at < text.n && is_digit(text.p[*at]))
        (*at)++;
    return (struct bytes){text.p + start, *at - start};
}

static bool read_exponent(struct bytes text, size_t *at, int64_t *ret)
{
    bool negative = *at < text.n && text.p[*at] == '-';
    struct bytes digits;
    int64_t value = 0;

    if (negative || (*at < text.n && text.p[*at] == '+'))
        (*at)++;
    digits = read_digits(text, at);
    for (size_t i = 0; i < digits.n; i++) {
        value = value * 10 + (digits.p[i] - '0');
        if (value > EXPONENT_FAR)
            value = EXPONENT_FAR;
    }
    *ret = negative ? -value : value;
    return digits.n > 0;
}

static bool read_decimal(struct bytes text, struct decimal *ret)
{
    size_t at = 0;

    *ret = (struct decimal){.whole = BYTES_NULL};
    if (text.n == 0)
        return false;
    ret->negative = text.p[0] == '-';
    at += ret->negative;
    ret->whole = read_digits(text, &at);
    if (ret->whole.n == 0)
        return false;
    if (at < text.n && text.p[at] == '.') {
        at++;
        ret->fraction = read_digits(text, &at);
        if (ret->fraction.n == 0)
            return false;
    }
    if (at < text.n && (text.p[at] == 'e' || text.p[at] == 'E')) {
        at++;
        ret->has_exponent = true;
        if (!read_exponent(text, &at, &ret->exponent))
            return false;
    }
    return at == text.n;
}

static struct bytes without_leading_zeros(struct bytes digits)
{
    while (digits.n > 0 && digits.p[0] == '0') {
        digits.p++;
        digits.n--;
    }
    return digits;
}

/* Those that are doubles, exactly. */
static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                               1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                               1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* Few digits and a small power of ten are exact doubles: one operation on them
 * rounds once, so it rounds right. */
static bool convert_small(const struct decimal *d, double *ret)
{
    struct bytes whole = without_leading_zeros(d->whole);
    int64_t exponent = d->exponent - (int64_t)d->fraction.n;
    uint64_t digits = 0;

    if (whole.n + d->fraction.n > DIGITS_KEPT || exponent < -22 || exponent > 22)
        return false;
    for (size_t i = 0; i < whole.n; i++)
        digits = digits * 10 + (uint64_t)(whole.p[i] - '0');
    for (size_t i = 0; i < d->fraction.n; i++)
        digits = digits * 10 + (uint64_t)(d->fraction.p[i] - '0');
    *ret = exponent < 0 ? (double)digits / power[-exponent] : (double)digits * power[exponent];
    return true;
}

/* strtod() rounds right for any number of digits, but takes the locale's decimal
 * point: so it is given a whole number and an exponent. */
static double convert_any(const struct decimal *d)
{
    struct bytes whole = without_leading_zeros(d->whole);
    struct buf text = BUF_EMPTY;
    double value;

    buf_append_char(&text, '0');
    buf_append_bytes(&text, whole);
    buf_append_bytes(&text, d->fraction);
    buf_printf(&text, "e%lld", (long long)(d->exponent - (int64_t)d->fraction.n));
    value = strtod(buf_text(&text), NULL);
    buf_done(&text);
    return value;
}

/* What most are: a few digits, and a point between them or none. In one go; false: another one. */
static bool read_few(struct bytes text, double *ret)
{
    uint64_t digits = 0;
    size_t point = text.n; /* where it is */

    if (text.n - 1 >= DIGITS_KEPT || !is_digit(text.p[0]) || !is_digit(text.p[text.n - 1]))
        return false;
    for (size_t i = 0; i < text.n; i++) {
        if (is_digit(text.p[i]))
            digits = digits * 10 + (uint64_t)(text.p[i] - '0');
        else if (text.p[i] == '.' && point == text.n)
            point = i;
        else
            return false;
    }
    *ret = (double)digits / power[point == text.n ? 0 : text.n - point - 1];
    return true;
}

bool number_read_double(struct bytes text, double *ret)
{
    struct decimal d;
    double value;

    if (read_few(text, ret))
        return true;
    if (!read_decimal(text, &d))
        return false;
    if (!convert_small(&d, &value))
        value = convert_any(&d);
    if (!isfinite(value))
        return false;
    *ret = d.negative ? -value : value;
    return true;
}

/* Plain, and of so few digits that no shorter text can mean the same. */
static bool surely_canonical(const struct decimal *d)
{
    struct bytes fraction = d->fraction;
    bool below_one = d->whole.p[0] == '0';

    if (d->has_exponent || (below_one && d->whole.n > 1))
        return false;
    if (fraction.n == 0)
        return d->whole.n <= DIGITS_KEPT;
    if (fraction.p[fraction.n - 1] == '0')
        return false;
    if (!below_one)
        return d->whole.n + fraction.n <= DIGITS_KEPT;
    fraction = without_leading_zeros(fraction);
    return d->fraction.n - fraction.n <= 5 && fraction.n <= DIGITS_KEPT; /* from 1e-6 up */
}

enum number_form number_double_form(struct bytes text)
{
    struct decimal d;
    double value;

    if (!read_decimal(text, &d))
        return NUMBER_BAD;
    if (surely_canonical(&d))
        return NUMBER_CANONICAL;
    if (!d.has_exponent && d.whole.n <= 308) /* below 1e308 */
        return NUMBER_VALID;
    return number_read_double(text, &value) ? NUMBER_VALID : NUMBER_BAD;
}

/* A positive number as digits: 0.DIGITS * 10^point. */
struct shortest {
    char digits[DIGITS_MAX + 1]; /* and a NUL */
    int count;
    int point;
};

/* Rounds `value` to `count` digits. */
static void round_to(double value, int count, struct shortest *ret)
{
    char text[DIGITS_MAX + 24]; /* the locale's decimal point may be several bytes long */
    char *from = text;

    snprintf(text, sizeof(text), "%.*e", count - 1, value);
    ret->count = 0;
    for (; *from != 'e'; from++) {
        if (is_digit(*from))
            ret->digits[ret->count++] = *from;
    }
    assert(ret->count == count);
    ret->point = atoi(from + 1) + 1;
}

static bool reads_back(const struct shortest *s, double value)
{
    char text[DIGITS_MAX + 16];

    snprintf(text, sizeof(text), "%.*se%d", s->count, s->digits, s->point - s->count);
    return strtod(text, NULL) == value;
}

/* The next number of as many digits. */
static void step_up(struct shortest *s)
{
    int at = s->count - 1;

    while (at >= 0 && s->digits[at] == '9')
        s->digits[at--] = '0';
    if (at >= 0) {
        s->digits[at]++;
    } else {
        s->digits[0] = '1';
        s->point++;
    }
}

static bool is_power_of_two(double value)
{
    int exponent;

    return frexp(value, &exponent) == 0.5;
}

/* Whether `count` digits are enough. Above a power of two doubles lie twice as
 * far apart as below: so the neighbour above may mean it where the nearest number
 * of so many digits, below, does not. */
static bool find_digits(double value, int count, struct shortest *ret)
{
    round_to(value, count, ret);
    if (reads_back(ret, value))
        return true;
    if (!is_power_of_two(value))
        return false;
    step_up(ret);
    return reads_back(ret, value);
}

static void find_shortest(double value, struct shortest *ret)
{
    /* Numbers below the normal ones have fewer digits that count. */
    int count = value >= 0x1p-1022 ? DIGITS_KEPT : 1;

    while (!find_digits(value, count, ret)) {
        count++;
        assert(count <= DIGITS_MAX);
    }
    while (ret->count > 1 && ret->digits[ret->count - 1] == '0')
        ret->count--;
}

static char *put(char *to, const char *from, int n)
{
    memcpy(to, from, (size_t)n);
    return to + n;
}

static char *put_zeros(char *to, int n)
{
    memset(to, '0', (size_t)n);
    return to + n;
}

static char *write_plain(const struct shortest *s, char *to)
{
    if (s->point <= 0) {
        to = put(to, "0.", 2);
        to = put_zeros(to, -s->point);
        return put(to, s->digits, s->count);
    }
    if (s->point >= s->count) {
        to = put(to, s->digits, s->count);
        return put_zeros(to, s->point - s->count);
    }
    to = put(to, s->digits, s->point);
    *to++ = '.';
    return put(to, s->digits + s->point, s->count - s->point);
}

static char *write_with_exponent(const struct shortest *s, char *to)
{
    int exponent = s->point - 1;

    *to++ = s->digits[0];
    if (s->count > 1) {
        *to++ = '.';
        to = put(to, s->digits + 1, s->count - 1);
    }
    *to++ = 'e';
    if (exponent > 0)
        *to++ = '+';
    return to + number_write_bigint(exponent, to);
}

size_t number_write_double(double value, char *to)
{
    struct shortest s;
    char *end = to;

    assert(isfinite(value));
    if (signbit(value))
        *end++ = '-';
    value = fabs(value);
    if (value < 0x1p53 && (double)(int64_t)value == value)
        return (size_t)(end - to) + number_write_bigint((int64_t)value, end);
    find_shortest(value, &s);
    end = s.point > -6 && s.point <= 21 ? write_plain(&s, end) : write_with_exponent(&s, end);
    assert(end - to <= NUMBER_TEXT_MAX);
    return (size_t)(end - to);
}
