#include "base/utf8.h"

#include <assert.h>
#include <string.h>
#include <unistr.h>

static bool eight_are_ascii(const char *p)
{
    uint64_t word;

    memcpy(&word, p, sizeof(word));
    return (word & 0x8080808080808080) == 0;
}

/* The length of the leading run of ASCII, to within 7 bytes: the library looks at them one
 * by one. The last eight may overlap others. */
static size_t ascii_prefix(const char *p, size_t n)
{
    size_t at = 0;

    for (; n - at >= 8; at += 8)
        if (!eight_are_ascii(p + at))
            return at;
    return n >= 8 && eight_are_ascii(p + n - 8) ? n : at;
}

size_t utf8_valid_prefix(const char *p, size_t n)
{
    size_t ascii = ascii_prefix(p, n);
    const uint8_t *bad = NULL;

    if (ascii < n)
        bad = u8_check((const uint8_t *)p + ascii, n - ascii);
    return bad != NULL ? (size_t)(bad - (const uint8_t *)p) : n;
}

/* As u8_mbtoucr(): the length of the character at `p`; -1: there is none; -2: the bytes end
 * within one. */
static int take(const char *p, size_t n)
{
    ucs4_t character;

    assert(n > 0);
    return u8_mbtoucr(&character, (const uint8_t *)p, n);
}

/* The library tells what begins a character, but not how much of it is there. */
size_t utf8_bad_length(const char *p, size_t n)
{
    size_t length = 1;

    assert(take(p, n) < 0);
    while (length < n && take(p, length + 1) == -2)
        length++;
    return length;
}

size_t utf8_character_length(const char *p, size_t n)
{
    int length = take(p, n);

    return length > 0 ? (size_t)length : 1;
}

size_t utf8_length(struct bytes text)
{
    size_t count = 0;

    for (size_t at = 0; at < text.n; count++)
        at += utf8_character_length(text.p + at, text.n - at);
    return count;
}
