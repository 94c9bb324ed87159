/*
 * base/letters: upper and lower case, by Unicode's full mappings (ß becomes SS, a
 * sigma at the end of a word ς), those of no language in particular.
 *
 * Bytes that are no well-formed UTF-8 stay as they are.
 */
#ifndef BASE_LETTERS_H
#define BASE_LETTERS_H

#include <stddef.h>

#include "base/bytes.h"

/* Bytes that a text of `n` bytes may need in another case: the longest mappings make
 * six bytes of two. */
static inline size_t letters_room(size_t n)
{
    return 3 * n;
}

/* Write at `to`, which has letters_room(), and return the length; no NUL. */
size_t letters_upper(struct bytes text, char *to);
size_t letters_lower(struct bytes text, char *to);

#endif
