/*
 * base/stamp: times of 13 digits, told and read at a glance.
 *
 * Milliseconds since the epoch have 13 digits in the years 2001 to 2286, and nearly all
 * times that ever come are such. The last eight of them are looked at as one word; the first
 * five are the same for 27 hours, and so nearly always those of the time before. What is
 * none may still be a time.
 */
#ifndef BASE_STAMP_H
#define BASE_STAMP_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/bytes.h"

#define STAMP_DIGITS 13

/* The byte, eight times. */
#define EIGHT(byte) (UINT64_C(0x0101010101010101) * (byte))

/* The time before: its first five digits, in the high bytes, and what they count. */
struct stamp_era {
    uint64_t first;
    int64_t from_ms;
};
#define STAMP_NO_ERA ((struct stamp_era){1, 0})

/* The first byte is the lowest one. */
static inline uint64_t eight_load(const char *p)
{
    uint64_t eight;

    memcpy(&eight, p, sizeof(eight));
    return le64toh(eight);
}

/* Are they digits? '9' + 0x46 and '0' - '0' leave each byte's highest bit clear; the first
 * one that is no digit gets it set, by one of the two. */
static inline bool eight_are_digits(uint64_t eight)
{
    return (((eight + EIGHT(0x46)) | (eight - EIGHT('0'))) & EIGHT(0x80)) == 0;
}

/* Of eight digits: neighbours are joined to numbers of two digits, these to such of four,
 * and so on. */
static inline int64_t eight_number(uint64_t eight)
{
    const uint64_t pairs = UINT64_C(0x000000ff000000ff);

    eight -= EIGHT('0');
    eight = eight * 10 + (eight >> 8);
    return (int64_t)(((eight & pairs) * (100 + (UINT64_C(1000000) << 32)) +
                      (eight >> 16 & pairs) * (1 + (UINT64_C(10000) << 32))) >>
                     32);
}

/* False: they are not five digits, or the first one is 0. */
bool stamp_enter(struct stamp_era *era, uint64_t first);

/* False: not 13 digits, or the first one is 0. */
static inline bool stamp_read(struct stamp_era *era, struct bytes text, int64_t *ret_ms)
{
    uint64_t first, last;

    if (text.n != STAMP_DIGITS)
        return false;
    first = eight_load(text.p) << 24;
    last = eight_load(text.p + STAMP_DIGITS - 8);
    if (!eight_are_digits(last) || (first != era->first && !stamp_enter(era, first)))
        return false;
    *ret_ms = era->from_ms + eight_number(last);
    return true;
}

#endif
