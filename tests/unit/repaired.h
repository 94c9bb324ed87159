/* A text as readers of it have to take it: each maximal ill-formed part is one U+FFFD. */
#ifndef REPAIRED_H
#define REPAIRED_H

#include "base/buf.h"
#include "base/utf8.h"

static inline void append_repaired(struct buf *to, struct bytes text)
{
    size_t at = 0;

    while (at < text.n) {
        size_t good = utf8_valid_prefix(text.p + at, text.n - at);

        buf_append(to, text.p + at, good);
        at += good;
        if (at == text.n)
            break;
        buf_append_text(to, "\xEF\xBF\xBD");
        at += utf8_bad_length(text.p + at, text.n - at);
    }
}

#endif
