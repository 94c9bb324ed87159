/*
 * base/bytes: a run of bytes that somebody else owns.
 *
 * `p == NULL` is SQL's NULL where a field is meant; `p != NULL, n == 0` is the
 * empty string. Not terminated by NUL.
 */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct bytes {
    const char *p;
    size_t n;
};

#define BYTES_NULL         ((struct bytes){NULL, 0})
#define BYTES_LIT(literal) ((struct bytes){(literal), sizeof(literal) - 1})

static inline struct bytes bytes_of(const char *text)
{
    return (struct bytes){text, text == NULL ? 0 : strlen(text)};
}

/* Keys mostly have 8 to 16 bytes: two compares of fixed size, and no call. */
static inline bool bytes_equal(struct bytes a, struct bytes b)
{
    if (a.n != b.n)
        return false;
    if (a.n >= 8 && a.n <= 16)
        return memcmp(a.p, b.p, 8) == 0 && memcmp(a.p + a.n - 8, b.p + a.n - 8, 8) == 0;
    return a.n == 0 || memcmp(a.p, b.p, a.n) == 0;
}

/* Each byte's highest bit, where it equals `c`; no other bit. */
static inline uint64_t bytes_marks(uint64_t eight, char c)
{
    const uint64_t low_bits = UINT64_C(0x7f7f7f7f7f7f7f7f);
    uint64_t x = eight ^ (unsigned char)c * UINT64_C(0x0101010101010101);

    return ~(((x & low_bits) + low_bits) | x | low_bits);
}

/* Where the `nth` `c` is, counted from 1. NULL: there are fewer. */
static inline const char *bytes_find_nth(struct bytes text, char c, unsigned nth)
{
    const char *at = text.p, *end = text.p + text.n;
    uint64_t eight;

    for (; end - at >= 8; at += 8) {
        memcpy(&eight, at, sizeof(eight));
        for (uint64_t marks = bytes_marks(le64toh(eight), c); marks != 0; marks &= marks - 1)
            if (--nth == 0)
                return at + __builtin_ctzll(marks) / 8;
    }
    for (; at < end; at++)
        if (*at == c && --nth == 0)
            return at;
    return NULL;
}

/* <0, 0, >0, bytewise; a prefix is less. */
int bytes_compare(struct bytes a, struct bytes b);

#endif
