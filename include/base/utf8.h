/*
 * base/utf8: well-formed UTF-8, and what to do about the rest. libunistring says which
 * is which (no surrogates, no overlong forms, nothing above U+10FFFF).
 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"

/* The length of the leading run that is well-formed. */
size_t utf8_valid_prefix(const char *p, size_t n);

static inline bool utf8_valid(struct bytes text)
{
    return utf8_valid_prefix(text.p, text.n) == text.n;
}

/* The length of the maximal subpart at an ill-formed place: at least 1, the
 * bytes that one U+FFFD replaces (Unicode 15, section 3.9, best practice). */
size_t utf8_bad_length(const char *p, size_t n);

/* The bytes of the character at `p` (`n` > 0); a byte that is not part of well-formed UTF-8
 * is one by itself (interface.md section 3). */
size_t utf8_character_length(const char *p, size_t n);

/* How many of these there are. */
size_t utf8_length(struct bytes text);

#endif
