/*
 * base/bytes: a run of bytes that somebody else owns.
 *
 * `p == NULL` is SQL's NULL where a field is meant; `p != NULL, n == 0` is the
 * empty string. Not terminated by NUL.
 */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
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

/* <0, 0, >0, bytewise; a prefix is less. */
int bytes_compare(struct bytes a, struct bytes b);

#endif
