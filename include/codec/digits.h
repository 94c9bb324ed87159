/*
 * codec/digits: the numbers that nearly all numbers are, told at a glance.
 *
 * Up to 16 digits and nothing else, the first one not 0: that is canonical for
 * every type of whole numbers, if it has not more digits than are always in range.
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

#endif
