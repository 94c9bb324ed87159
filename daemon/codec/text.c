#include "codec/text.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/copy.h"
#include "base/utf8.h"

#define REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD */

/* --- eight bytes at once --- */

#define EACH(byte) ((uint64_t)(unsigned char)(byte)*0x0101010101010101)
#define HIGH_BITS  EACH(0x80)

static inline uint64_t load(const char *p)
{
    uint64_t x;

    memcpy(&x, p, sizeof(x));
    return x;
}

/* All bytes of a text of 4 to 7, some of them twice. */
static inline uint64_t load_short(struct bytes text)
{
    uint32_t first, last;

    memcpy(&first, text.p, sizeof(first));
    memcpy(&last, text.p + text.n - sizeof(last), sizeof(last));
    return (uint64_t)last << 32 | first;
}

/* Not 0 if a byte of `x` is `c`; `each` is EACH(c). */
static inline uint64_t find(uint64_t x, uint64_t each)
{
    uint64_t y = x ^ each;

    return (y - EACH(1)) & ~y & HIGH_BITS;
}

/* Not 0 if a byte of `x` is below 0x20. */
static inline uint64_t find_control(uint64_t x)
{
    return (x - EACH(0x20)) & ~x & HIGH_BITS;
}

/* --- CSV --- */

static bool is_csv_plain(char c, char delimiter)
{
    return c != delimiter && c != '"' && c != '\n' && c != '\r';
}

static bool are_csv_plain(uint64_t x, uint64_t each_delimiter)
{
    return (find(x, each_delimiter) | find(x, EACH('"')) | find(x, EACH('\n')) |
            find(x, EACH('\r'))) == 0;
}

static bool needs_quotes(struct bytes text, const struct csv_style *style)
{
    const uint64_t each_delimiter = EACH(style->delimiter);
    size_t at = 0;

    if (bytes_equal(text, style->null_text))
        return true;
    for (; text.n - at >= 8; at += 8)
        if (!are_csv_plain(load(text.p + at), each_delimiter))
            return true;
    if (at > 0) /* the last ones, with some that were looked at */
        return !are_csv_plain(load(text.p + text.n - 8), each_delimiter);
    if (text.n >= 4)
        return !are_csv_plain(load_short(text), each_delimiter);
    for (; at < text.n; at++)
        if (!is_csv_plain(text.p[at], style->delimiter))
            return true;
    return false;
}

char *text_write_csv(char *to, struct bytes text, const struct csv_style *style)
{
    size_t i = 0;

    if (!needs_quotes(text, style))
        return copy_bytes(to, text.p, text.n);
    *to++ = '"';
    for (; text.n - i >= 8 && find(load(text.p + i), EACH('"')) == 0; i += 8, to += 8)
        memcpy(to, text.p + i, 8);
    for (; i < text.n; i++) {
        if (text.p[i] == '"')
            *to++ = '"';
        *to++ = text.p[i];
    }
    *to++ = '"';
    return to;
}

/* --- JSON --- */

/* The letter behind the backslash; 0: it has none, \u00XX. */
static char escape_letter(char c)
{
    switch (c) {
    case '"':
    case '\\':
        return c;
    case '\b':
        return 'b';
    case '\f':
        return 'f';
    case '\n':
        return 'n';
    case '\r':
        return 'r';
    case '\t':
        return 't';
    default:
        return 0;
    }
}

static char *write_escaped(char *to, char c)
{
    static const char hex[] = "0123456789abcdef";
    char letter = escape_letter(c);

    *to++ = '\\';
    if (letter != 0) {
        *to++ = letter;
        return to;
    }
    memcpy(to, "u00", 3);
    to[3] = hex[(unsigned char)c >> 4];
    to[4] = hex[c & 0xf];
    return to + 5;
}

/* ASCII that stands for itself in a string. */
void text_append_csv(struct buf *to, struct bytes text, const struct csv_style *style)
{
    char *start = buf_reserve(to, text_csv_room(text.n));

    buf_advance(to, (size_t)(text_write_csv(start, text, style) - start));
}

static bool is_json_plain(char c)
{
    return (unsigned char)c >= 0x20 && (unsigned char)c < 0x80 && c != '"' && c != '\\';
}

static bool are_json_plain(uint64_t x)
{
    return ((x & HIGH_BITS) | find_control(x) | find(x, EACH('"')) | find(x, EACH('\\'))) == 0;
}

/* Copies the plain bytes at the front of [from, end) and returns their number. */
static size_t copy_plain(char *to, const char *from, const char *end)
{
    size_t n = (size_t)(end - from);
    size_t i = 0;

    for (; n - i >= 8 && are_json_plain(load(from + i)); i += 8)
        memcpy(to + i, from + i, 8);
    for (; i < n && is_json_plain(from[i]); i++)
        to[i] = from[i];
    return i;
}

char *text_write_json(char *to, struct bytes text)
{
    const char *at = text.p, *end = text.p + text.n;
    const char *well_formed = at; /* up to here */

    *to++ = '"';
    for (;;) {
        size_t plain = copy_plain(to, at, end);

        to += plain;
        at += plain;
        if (at == end)
            break;
        if ((unsigned char)*at < 0x80) {
            to = write_escaped(to, *at++);
            continue;
        }
        if (at >= well_formed)
            well_formed = at + utf8_valid_prefix(at, (size_t)(end - at));
        if (at < well_formed) {
            *to++ = *at++;
            continue;
        }
        to = copy_bytes(to, REPLACEMENT, sizeof(REPLACEMENT) - 1);
        at += utf8_bad_length(at, (size_t)(end - at));
    }
    *to++ = '"';
    return to;
}

void text_append_json(struct buf *to, struct bytes text)
{
    char *start = buf_reserve(to, text_json_room(text.n));

    buf_advance(to, (size_t)(text_write_json(start, text) - start));
}

char *text_write_json_number(char *to, struct bytes text)
{
    if (text.n > 0 && text.p[0] == '-') {
        *to++ = '-';
        text.p++;
        text.n--;
    }
    while (text.n > 1 && text.p[0] == '0' && text.p[1] >= '0' && text.p[1] <= '9') {
        text.p++;
        text.n--;
    }
    return copy_bytes(to, text.p, text.n);
}

/* Where the row at `p` ends, behind its LF; NULL: not before `end`. */
static const char *row_end(const char *p, const char *end, bool quoted)
{
    bool open = false;

    while (p < end) {
        const char *lf = memchr(p, '\n', (size_t)(end - p));
        if (lf == NULL)
            return NULL;
        for (const char *q = p; quoted && (q = memchr(q, '"', (size_t)(lf - q))) != NULL; q++)
            open = !open;
        p = lf + 1;
        if (!open)
            return p;
    }
    return NULL;
}

size_t text_rows_end(struct bytes rows, bool quoted)
{
    const char *last = rows.p, *at = rows.p;

    assert(rows.p != NULL || rows.n == 0);
    while ((at = row_end(at, rows.p + rows.n, quoted)) != NULL)
        last = at;
    return (size_t)(last - rows.p);
}

size_t text_first_row_end(struct bytes rows, bool quoted)
{
    const char *end = row_end(rows.p, rows.p + rows.n, quoted);

    return end == NULL ? 0 : (size_t)(end - rows.p);
}

uint64_t text_rows_count(struct bytes rows, bool quoted)
{
    const char *at = rows.p;
    uint64_t count = 0;

    while ((at = row_end(at, rows.p + rows.n, quoted)) != NULL)
        count++;
    return count;
}
