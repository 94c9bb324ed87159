/*
 * base/utf8: well-formed UTF-8, and what to do about the rest.
 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/bytes.h"

/* The length of the leading run that is well-formed (no surrogates, no overlong
 * forms, nothing above U+10FFFF). */
size_t utf8_valid_prefix(const char *p, size_t n);

static inline bool utf8_valid(struct bytes text)
{
    return utf8_valid_prefix(text.p, text.n) == text.n;
}

/* The length of the maximal subpart at an ill-formed place: at least 1, the
 * bytes that one U+FFFD replaces (Unicode 15, section 3.9, best practice). */
size_t utf8_bad_length(const char *p, size_t n);

/* Code points, where each byte that is not part of well-formed UTF-8 counts as
 * one (interface.md section 3). */
size_t utf8_length(struct bytes text);

/* Appends `text`, what is ill-formed replaced by U+FFFD. */
void utf8_append_repaired(struct buf *to, struct bytes text);

#endif
