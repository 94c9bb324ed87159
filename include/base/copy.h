/*
 * base/copy: copying short runs of bytes without a call.
 *
 * Most lines and fields have fewer than 64 bytes; there a call of memcpy() costs
 * more than the copy.
 */
#ifndef BASE_COPY_H
#define BASE_COPY_H

#include <stddef.h>
#include <string.h>

/* Copies `n` bytes that do not overlap and returns where they end. Up to 64 go as
 * two (four) moves of fixed size that may overlap each other. */
static inline __attribute__((always_inline)) char *copy_bytes(char *to, const char *from, size_t n)
{
    if (n > 64) {
        memcpy(to, from, n);
    } else if (n >= 16) {
        memcpy(to, from, 16);
        if (n > 32) {
            memcpy(to + 16, from + 16, 16);
            memcpy(to + n - 32, from + n - 32, 16);
        }
        memcpy(to + n - 16, from + n - 16, 16);
    } else if (n >= 8) {
        memcpy(to, from, 8);
        memcpy(to + n - 8, from + n - 8, 8);
    } else if (n >= 4) {
        memcpy(to, from, 4);
        memcpy(to + n - 4, from + n - 4, 4);
    } else {
        for (size_t i = 0; i < n; i++)
            to[i] = from[i];
    }
    return to + n;
}

#endif
