#include <assert.h>
#include <math.h>

#include "base/number.h"
#include "lang/expr_inner.h"

static enum expr_outcome give_bigint(int64_t value, struct value *ret)
{
    ret->bigint = value;
    return EXPR_OK;
}

static enum expr_outcome give_real(double value, struct value *ret)
{
    ret->real = value;
    return isfinite(value) ? EXPR_OK : EXPR_NOT_FINITE;
}

/* --- operators --- */

static enum expr_outcome divide_whole(int64_t a, int64_t b, struct value *ret)
{
    if (b == 0)
        return EXPR_DIVISION_BY_ZERO;
    if (a == INT64_MIN && b == -1)
        return EXPR_OVERFLOW;
    return give_bigint(a / b, ret);
}

/* The sign is that of `a`. */
static enum expr_outcome remainder_whole(int64_t a, int64_t b, struct value *ret)
{
    if (b == 0)
        return EXPR_DIVISION_BY_ZERO;
    return give_bigint(b == -1 ? 0 : a % b, ret); /* INT64_MIN % -1 traps */
}

static enum expr_outcome calculate_whole(enum operator_sign sign, int64_t a, int64_t b,
                                         struct value *ret)
{
    switch (sign) {
    case SIGN_PLUS:
        return __builtin_add_overflow(a, b, &ret->bigint) ? EXPR_OVERFLOW : EXPR_OK;
    case SIGN_MINUS:
        return __builtin_sub_overflow(a, b, &ret->bigint) ? EXPR_OVERFLOW : EXPR_OK;
    case SIGN_TIMES:
        return __builtin_mul_overflow(a, b, &ret->bigint) ? EXPR_OVERFLOW : EXPR_OK;
    case SIGN_DIVIDE:
        return divide_whole(a, b, ret);
    default:
        return remainder_whole(a, b, ret);
    }
}

static enum expr_outcome calculate_real(enum operator_sign sign, double a, double b,
                                        struct value *ret)
{
    switch (sign) {
    case SIGN_PLUS:
        return give_real(a + b, ret);
    case SIGN_MINUS:
        return give_real(a - b, ret);
    case SIGN_TIMES:
        return give_real(a * b, ret);
    default: /* no remainder of doubles */
        return b == 0 ? EXPR_DIVISION_BY_ZERO : give_real(a / b, ret);
    }
}

enum expr_outcome expr_arithmetic(enum operator_sign sign, const struct value *a,
                                  const struct value *b, struct value *ret)
{
    assert(!a->null && !b->null);
    if (ret->type == TYPE_BIGINT)
        return calculate_whole(sign, a->bigint, b->bigint, ret);
    return calculate_real(sign, value_real(a), value_real(b), ret);
}

static enum expr_outcome negate_whole(int64_t a, struct value *ret)
{
    return a == INT64_MIN ? EXPR_OVERFLOW : give_bigint(-a, ret);
}

enum expr_outcome expr_negate(const struct value *a, struct value *ret)
{
    assert(!a->null);
    return a->type == TYPE_BIGINT ? negate_whole(a->bigint, ret) : give_real(-a->real, ret);
}

/* --- functions --- */

enum expr_outcome expr_abs(const struct value *args, size_t count, struct expr_memory *m,
                           struct value *ret)
{
    (void)count, (void)m;
    if (args[0].type == TYPE_DOUBLE)
        return give_real(fabs(args[0].real), ret);
    return args[0].bigint < 0 ? negate_whole(args[0].bigint, ret)
                              : give_bigint(args[0].bigint, ret);
}

enum expr_outcome expr_ceil(const struct value *args, size_t count, struct expr_memory *m,
                            struct value *ret)
{
    (void)count, (void)m;
    if (args[0].type == TYPE_BIGINT)
        return give_bigint(args[0].bigint, ret);
    return give_real(ceil(args[0].real), ret);
}

enum expr_outcome expr_floor(const struct value *args, size_t count, struct expr_memory *m,
                             struct value *ret)
{
    (void)count, (void)m;
    if (args[0].type == TYPE_BIGINT)
        return give_bigint(args[0].bigint, ret);
    return give_real(floor(args[0].real), ret);
}

enum expr_outcome expr_mod(const struct value *args, size_t count, struct expr_memory *m,
                           struct value *ret)
{
    (void)count, (void)m;
    return remainder_whole(args[0].bigint, args[1].bigint, ret);
}

/* --- round --- */

#define WHOLE_DIGITS_MAX 19 /* of a bigint */

/* To tens, hundreds, ...: `places` is negative. */
static enum expr_outcome round_whole(int64_t a, int64_t places, struct value *ret)
{
    uint64_t size = a < 0 ? -(uint64_t)a : (uint64_t)a, unit = 1, rest;

    if (places < -WHOLE_DIGITS_MAX)
        return give_bigint(0, ret);
    for (; places < 0; places++)
        unit *= 10;
    rest = size % unit;
    size -= rest;
    /* Up to 2 * 9.3e18: it fits, but not as a bigint. */
    if (rest >= unit - rest)
        size += unit;
    if (size > (uint64_t)INT64_MAX + (a < 0))
        return EXPR_OVERFLOW;
    return give_bigint((int64_t)(a < 0 ? -size : size), ret);
}

/* 0.DIGITS * 10^point: the shortest digits that mean a double. */
struct decimal {
    char digits[NUMBER_TEXT_MAX];
    int64_t count, point;
};

static void shortest_digits(double positive, struct decimal *ret)
{
    char text[NUMBER_TEXT_MAX + 1];
    const char *p = text;
    bool behind_point = false;

    text[number_write_double(positive, text)] = '\0';
    ret->count = ret->point = 0;
    for (; *p == '.' || (*p >= '0' && *p <= '9'); p++) {
        if (*p == '.') {
            behind_point = true;
            continue;
        }
        if (ret->count > 0 || *p != '0')
            ret->digits[ret->count++] = *p;
        if (!behind_point && ret->count > 0)
            ret->point++;
        else if (behind_point && ret->count == 0)
            ret->point--;
    }
    if (*p == 'e') {
        struct bytes exponent = bytes_of(p[1] == '+' ? p + 2 : p + 1);
        int64_t e = 0;
        number_read_bigint(exponent, &e);
        ret->point += e;
    }
}

/* Leaves `keep` digits; the one behind them says whether the last goes up. */
static void cut_digits(struct decimal *d, int64_t keep)
{
    bool up = d->digits[keep] >= '5';

    d->count = keep;
    while (up && d->count > 0 && d->digits[d->count - 1] == '9')
        d->count--; /* it becomes 0, which need not be written */
    if (up && d->count > 0) {
        d->digits[d->count - 1]++;
    } else if (up) {
        d->digits[d->count++] = '1';
        d->point++;
    }
}

static enum expr_outcome round_real(double a, int64_t places, struct value *ret)
{
    struct decimal d;
    char text[2 * NUMBER_TEXT_MAX];
    int64_t keep;
    size_t n;

    shortest_digits(fabs(a), &d);
    if (places > 400 || places < -400) /* further than any double's digits */
        places = places > 0 ? 400 : -400;
    keep = d.point + places;
    if (keep >= d.count)
        return give_real(a == 0 ? 0 : a, ret);
    if (keep < 0)
        return give_real(0, ret);
    cut_digits(&d, keep);
    if (d.count == 0)
        return give_real(0, ret);
    memcpy(text, d.digits, (size_t)d.count);
    n = (size_t)d.count;
    text[n++] = 'e';
    n += number_write_bigint(d.point - d.count, text + n);
    if (!number_read_double((struct bytes){text, n}, &ret->real))
        return EXPR_NOT_FINITE;
    return give_real(copysign(ret->real, a), ret);
}

/* By the shortest decimal text, half away from zero; a zero is never -0. */
enum expr_outcome expr_round(const struct value *args, size_t count, struct expr_memory *m,
                             struct value *ret)
{
    int64_t places = count > 1 ? args[1].bigint : 0;

    assert(count == 1 || count == 2);
    (void)m;
    if (args[0].type == TYPE_DOUBLE)
        return round_real(args[0].real, places, ret);
    if (places >= 0)
        return give_bigint(args[0].bigint, ret);
    return round_whole(args[0].bigint, places, ret);
}
