/*
 * codec/digits: the numbers that nearly all numbers are, told at a glance.
 *
 * Up to 16 digits and nothing else, the first one not 0: that is canonical for
 * every type of whole numbers, if it has not more digits than are always in range. Of doubles,
 * also up to 15 digits with a point between them, neither the first nor the last one 0.
 * Whatever is not told here may still be a number: value_check() knows.
 */
#ifndef CODEC_DIGITS_H
#define CODEC_DIGITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/bytes.h"
#include "base/stamp.h"
#include "lang/value.h"

/* So many digits are in the type's range, whichever they are; 0: not such a type. */
static inline size_t digits_in_range(enum value_type t)
{
    switch (t) {
    case TYPE_BIGINT:
    case TYPE_TIMESTAMP_US: /* the year 9999 has 18 */
    case TYPE_TIMESTAMP_NS:
        return 16;
    case TYPE_TIMESTAMP_MS: /* the year 9999 has 15 */
        return 14;
    default:
        return 0;
    }
}

/* The bytes of a text of 1 to 16 as two words, which may overlap; short ones are
 * filled up with digits. */
static inline void digits_load(struct bytes text, uint64_t *ret_a, uint64_t *ret_b)
{
    uint32_t a, b;

    if (text.n >= 8) {
        memcpy(ret_a, text.p, 8);
        memcpy(ret_b, text.p + text.n - 8, 8);
        return;
    }
    *ret_a = *ret_b = 0x3030303030303030;
    if (text.n >= 4) {
        memcpy(&a, text.p, 4);
        memcpy(&b, text.p + text.n - 4, 4);
        *ret_a = (uint64_t)a << 32 | b;
        return;
    }
    for (size_t i = 0; i < text.n; i++)
        *ret_a = *ret_a << 8 | (unsigned char)text.p[i];
}

/* 1 to `max` (at most 16) digits, the first of them not 0. */
static inline bool digits_plain_number(struct bytes text, size_t max)
{
    uint64_t a, b;

    if (text.n - 1 >= max || text.p[0] == '0') /* an empty one wraps around */
        return false;
    digits_load(text, &a, &b);
    return eight_are_digits(a) && eight_are_digits(b);
}

/* `n` bytes, 3 to 8, the first as the lowest one of a word; what is behind them are digits. */
static inline uint64_t digits_load_some(const char *p, size_t n)
{
    uint64_t fill = n < 8 ? EIGHT('0') << 8 * n : 0;
    uint32_t a, b;

    if (n < 4)
        return fill | (unsigned char)p[0] | (uint64_t)(unsigned char)p[1] << 8 |
               (uint64_t)(unsigned char)p[2] << 16;
    memcpy(&a, p, 4);
    memcpy(&b, p + n - 4, 4);
    return fill | le32toh(a) | (uint64_t)le32toh(b) << 8 * (n - 4); /* some bytes twice */
}

/* 2 to 15 digits and a point between them, neither the first nor the last digit 0. */
static inline bool digits_plain_decimal(struct bytes text)
{
    uint64_t a, b = EIGHT('0'), points_a, points_b;

    if (text.n - 3 > 13 || text.p[0] <= '0' || text.p[text.n - 1] <= '0')
        return false;
    if (text.n > 8) {
        size_t twice = 16 - text.n; /* bytes that are in both words: as digits in the second */
        memcpy(&a, text.p, 8);
        memcpy(&b, text.p + text.n - 8, 8);
        a = le64toh(a);
        b = le64toh(b) >> 8 * twice << 8 * twice | (EIGHT('0') & ~(UINT64_MAX << 8 * twice));
    } else {
        a = digits_load_some(text.p, text.n);
    }
    points_a = bytes_marks(a, '.') >> 7;
    points_b = bytes_marks(b, '.') >> 7;
    return eight_are_digits(a ^ points_a * ('.' ^ '0')) &&
           eight_are_digits(b ^ points_b * ('.' ^ '0')) && (points_a != 0) != (points_b != 0) &&
           (points_a & (points_a - 1)) == 0 && (points_b & (points_b - 1)) == 0;
}

#endif
