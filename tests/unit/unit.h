/*
 * What every unit test includes first: cmocka needs these headers, in this
 * order, and a few asserts that read well in tables.
 */
#ifndef UNIT_H
#define UNIT_H

/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
/* clang-format on */

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* cmocka shows where an assert stands, but not which row of a table failed. */
#define assert_row(condition, row)                                                                 \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail_msg("%s, in the row \"%s\"", #condition, (row));                                  \
    } while (0)

/* The `n` bytes at `p` are those of `expected`; p may lack a NUL. */
#define assert_text(p, n, expected)                                                                \
    do {                                                                                           \
        const char *text_p = (p);                                                                  \
        size_t text_n = (n);                                                                       \
        if (text_n != strlen(expected) || memcmp(text_p, (expected), text_n) != 0)                 \
            fail_msg("\"%.*s\" is not \"%s\"", (int)text_n, text_p, (expected));                   \
    } while (0)

#endif
