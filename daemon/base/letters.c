#include "base/letters.h"

#include <assert.h>
#include <string.h>
#include <unicase.h>

#include "base/mem.h"
#include "base/utf8.h"

#define EACH(byte) (UINT64_C(0x0101010101010101) * (uint64_t)(byte))

typedef uint8_t *map_function(const uint8_t *, size_t, const char *, uninorm_t, uint8_t *,
                              size_t *);

/* Returns how many of the leading bytes are ASCII; those are mapped. */
static size_t map_ascii(struct bytes text, char first, char last, char *to)
{
    size_t i = 0;

    for (; text.n - i >= 8; i += 8) { /* eight letters at once */
        uint64_t x, low = UINT64_C(0x7f7f7f7f7f7f7f7f), in;
        memcpy(&x, text.p + i, sizeof(x));
        if ((x & ~low) != 0)
            break;
        /* each byte's highest bit: is it from first to last? */
        in = (x + EACH(0x80 - first)) & ~(x + EACH(0x7f - last)) & ~low;
        x ^= in >> 2; /* 0x20 */
        memcpy(to + i, &x, sizeof(x));
    }
    for (; i < text.n; i++) {
        char c = text.p[i];
        if ((unsigned char)c >= 0x80)
            break;
        to[i] = (char)(c >= first && c <= last ? c ^ ('a' ^ 'A') : c);
    }
    return i;
}

/* `run` is well-formed. The library makes a buffer of its own where `room` is too small
 * for how it works, whatever the result's length. */
static size_t map_run(map_function *map, struct bytes run, char *to, size_t room)
{
    size_t length = room;
    uint8_t *made = map((const uint8_t *)run.p, run.n, NULL, NULL, (uint8_t *)to, &length);

    assert(made != NULL && length <= room);
    if (made != (uint8_t *)to) {
        memcpy(to, made, length);
        mem_free(made);
    }
    return length;
}

/* A whole run at a time: what a letter becomes may depend on its neighbours. */
static size_t map_any(map_function *map, struct bytes text, char *to)
{
    size_t at = 0, length = 0, room = letters_room(text.n);

    while (at < text.n) {
        size_t good = utf8_valid_prefix(text.p + at, text.n - at);
        if (good > 0)
            length += map_run(map, (struct bytes){text.p + at, good}, to + length, room - length);
        at += good;
        if (at < text.n)
            to[length++] = text.p[at++];
    }
    return length;
}

size_t letters_upper(struct bytes text, char *to)
{
    assert(to != NULL || text.n == 0);
    if (map_ascii(text, 'a', 'z', to) == text.n)
        return text.n;
    return map_any(u8_toupper, text, to);
}

size_t letters_lower(struct bytes text, char *to)
{
    assert(to != NULL || text.n == 0);
    if (map_ascii(text, 'A', 'Z', to) == text.n)
        return text.n;
    return map_any(u8_tolower, text, to);
}
