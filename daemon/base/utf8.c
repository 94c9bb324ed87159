#include "base/utf8.h"

#include <assert.h>

#define REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD */

/* What may follow a first byte. The bounds of the second one shut out overlong
 * forms, surrogates and what lies above U+10FFFF; those after are 80..BF. */
struct shape {
    unsigned char first_min, first_max;
    unsigned char second_min, second_max;
    size_t length;
};

static const struct shape shapes[] = {
    {0x00, 0x7F, 0x00, 0x00, 1}, {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
    {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3},
    {0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4},
};

static const struct shape *shape_of(unsigned char first)
{
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        if (first >= shapes[i].first_min && first <= shapes[i].first_max)
            return &shapes[i];
    }
    return NULL;
}

/* Whether a well-formed sequence stands at `p` (n > 0), and its length; else the
 * length of what could have been the start of one, at least 1. */
static bool take_sequence(const char *p, size_t n, size_t *ret_length)
{
    const struct shape *shape = shape_of((unsigned char)p[0]);
    size_t length = 1;

    if (shape == NULL) {
        *ret_length = 1;
        return false;
    }
    for (; length < shape->length && length < n; length++) {
        unsigned char min = length == 1 ? shape->second_min : 0x80;
        unsigned char max = length == 1 ? shape->second_max : 0xBF;
        unsigned char c = (unsigned char)p[length];

        if (c < min || c > max)
            break;
    }
    *ret_length = length;
    return length == shape->length;
}

/* The length of the leading run of ASCII, to within 7 bytes. */
static size_t ascii_prefix(const char *p, size_t n)
{
    size_t at = 0;
    uint64_t word;

    for (; n - at >= sizeof(word); at += sizeof(word)) {
        memcpy(&word, p + at, sizeof(word));
        if ((word & 0x8080808080808080) != 0)
            break;
    }
    return at;
}

size_t utf8_valid_prefix(const char *p, size_t n)
{
    size_t at = 0;
    size_t length;

    while (at < n) {
        at += ascii_prefix(p + at, n - at);
        if (at == n || !take_sequence(p + at, n - at, &length))
            break;
        at += length;
    }
    return at;
}

size_t utf8_bad_length(const char *p, size_t n)
{
    size_t length;
    bool well_formed;

    assert(n > 0);
    well_formed = take_sequence(p, n, &length);
    assert(!well_formed);
    return length;
}

size_t utf8_length(struct bytes text)
{
    size_t count = 0;
    size_t length;

    for (size_t at = 0; at < text.n; count++)
        at += take_sequence(text.p + at, text.n - at, &length) ? length : 1;
    return count;
}

void utf8_append_repaired(struct buf *to, struct bytes text)
{
    size_t at = 0;

    for (;;) {
        size_t good = at < text.n ? utf8_valid_prefix(text.p + at, text.n - at) : 0;

        if (good > 0)
            buf_append(to, text.p + at, good);
        at += good;
        if (at == text.n)
            return;
        buf_append_text(to, REPLACEMENT);
        at += utf8_bad_length(text.p + at, text.n - at);
    }
}
