/*
 * lang/word: words of the language (types, keywords, true and false) are known
 * in any case. ASCII only, whatever the locale.
 */
#ifndef LANG_WORD_H
#define LANG_WORD_H

#include <stdbool.h>
#include <string.h>

#include "base/bytes.h"

static inline char word_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* `word` is in lower case. */
static inline bool word_is(struct bytes text, const char *word)
{
    if (text.n != strlen(word))
        return false;
    for (size_t i = 0; i < text.n; i++)
        if (word_lower(text.p[i]) != word[i])
            return false;
    return true;
}

#endif
