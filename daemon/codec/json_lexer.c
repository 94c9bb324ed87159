#include "codec/json_lexer.h"

#include <assert.h>
#include <stdint.h>

/* For `return wrong(...)`. */
static const char *wrong(struct json_wrong *ret, const char *what, const char *at)
{
    *ret = (struct json_wrong){what, at};
    return NULL;
}

/* --- strings --- */

#define EACH(byte) ((uint64_t)(unsigned char)(byte)*0x0101010101010101)

static bool is_plain(char c)
{
    return (unsigned char)c >= 0x20 && c != '"' && c != '\\';
}

/* Eight bytes at once. May take a plain byte for another one, never the reverse. */
static bool are_plain(const char *p)
{
    uint64_t x, quotes, escapes, controls;

    memcpy(&x, p, sizeof(x));
    quotes = x ^ EACH('"');
    escapes = x ^ EACH('\\');
    controls = (x - EACH(0x20)) & ~x;
    quotes = (quotes - EACH(1)) & ~quotes;
    escapes = (escapes - EACH(1)) & ~escapes;
    return ((quotes | escapes | controls) & EACH(0x80)) == 0;
}

static const char *plain_end(const char *p, const char *end)
{
    while (end - p >= 8 && are_plain(p))
        p += 8;
    while (p < end && is_plain(*p))
        p++;
    return p;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

#define UNIT_LENGTH 6 /* \u and four hex digits */

/* The number of a \uXXXX at `p`; -1: there is none. */
static int32_t read_unit(const char *p, const char *end)
{
    int32_t unit = 0;

    if (end - p < UNIT_LENGTH || p[0] != '\\' || p[1] != 'u')
        return -1;
    for (int i = 2; i < UNIT_LENGTH; i++) {
        int digit = hex_value(p[i]);
        if (digit < 0)
            return -1;
        unit = unit << 4 | digit;
    }
    return unit;
}

static bool is_high(int32_t unit)
{
    return unit >= 0xD800 && unit <= 0xDBFF;
}

static bool is_low(int32_t unit)
{
    return unit >= 0xDC00 && unit <= 0xDFFF;
}

static const char *unit_end(const char *p, const char *end, struct json_wrong *ret_fault)
{
    int32_t unit = read_unit(p, end);

    if (unit < 0)
        return wrong(ret_fault, "four hex digits are expected behind \\u", p);
    if (unit == 0)
        return wrong(ret_fault, "\\u0000 is no character that a field can hold", p);
    if (is_low(unit) || (is_high(unit) && !is_low(read_unit(p + UNIT_LENGTH, end))))
        return wrong(ret_fault, "half of a surrogate pair stands alone", p);
    return p + (is_high(unit) ? 2 * UNIT_LENGTH : UNIT_LENGTH);
}

static const char *escape_end(const char *p, const char *end, struct json_wrong *ret_fault)
{
    switch (end - p > 1 ? p[1] : '\0') {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
        return p + 2;
    case 'u':
        return unit_end(p, end, ret_fault);
    default:
        return wrong(ret_fault, "JSON knows no such escape", p);
    }
}

const char *json_string_end(const char *p, const char *end, bool *ret_escaped,
                            struct json_wrong *ret_fault)
{
    const char *start = p++;
    bool escaped = false;

    for (;;) {
        p = plain_end(p, end);
        if (p == end)
            return wrong(ret_fault, "the string that begins here has no end", start);
        if (*p == '"')
            break;
        if (*p != '\\')
            return wrong(ret_fault, "a control character stands in a string", p);
        escaped = true;
        p = escape_end(p, end, ret_fault);
        if (p == NULL)
            return NULL;
    }
    *ret_escaped = escaped;
    return p + 1;
}

static char escaped_byte(char letter)
{
    switch (letter) {
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    default:
        return letter;
    }
}

static char *write_utf8(char *to, int32_t code)
{
    if (code < 0x80) {
        *to++ = (char)code;
        return to;
    }
    if (code < 0x800) {
        *to++ = (char)(0xC0 | code >> 6);
    } else {
        if (code < 0x10000) {
            *to++ = (char)(0xE0 | code >> 12);
        } else {
            *to++ = (char)(0xF0 | code >> 18);
            *to++ = (char)(0x80 | (code >> 12 & 0x3F));
        }
        *to++ = (char)(0x80 | (code >> 6 & 0x3F));
    }
    *to++ = (char)(0x80 | (code & 0x3F));
    return to;
}

/* Writes what the escape at *p stands for, and passes over it. */
static char *write_escape(char *to, const char **p, const char *end)
{
    int32_t unit;

    if ((*p)[1] != 'u') {
        *to++ = escaped_byte((*p)[1]);
        *p += 2;
        return to;
    }
    unit = read_unit(*p, end);
    *p += UNIT_LENGTH;
    if (!is_high(unit))
        return write_utf8(to, unit);
    to = write_utf8(to, 0x10000 + ((unit - 0xD800) << 10) + (read_unit(*p, end) - 0xDC00));
    *p += UNIT_LENGTH;
    return to;
}

void json_string_append(struct bytes inside, struct buf *to)
{
    const char *p = inside.p, *end = inside.p + inside.n;
    char *start = buf_reserve(to, inside.n);
    char *at = start;

    while (p < end) {
        const char *escape = memchr(p, '\\', (size_t)(end - p));
        size_t plain = (size_t)((escape != NULL ? escape : end) - p);

        memcpy(at, p, plain);
        at += plain;
        p += plain;
        if (escape != NULL)
            at = write_escape(at, &p, end);
    }
    buf_advance(to, (size_t)(at - start));
}

/* --- numbers and literals --- */

static bool is_digit(const char *p, const char *end)
{
    return p < end && *p >= '0' && *p <= '9';
}

static const char *digits_end(const char *p, const char *end)
{
    while (is_digit(p, end))
        p++;
    return p;
}

const char *json_number_end(const char *p, const char *end, struct json_wrong *ret_fault)
{
    assert(p < end);
    if (*p == '-')
        p++;
    if (!is_digit(p, end))
        return wrong(ret_fault, "a digit is expected behind -", p);
    if (*p == '0' && is_digit(p + 1, end))
        return wrong(ret_fault, "a number has a leading zero", p);
    p = digits_end(p, end);
    if (p < end && *p == '.') {
        if (!is_digit(++p, end))
            return wrong(ret_fault, "a digit is expected behind the point", p);
        p = digits_end(p, end);
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        if (p < end && (*p == '+' || *p == '-'))
            p++;
        if (!is_digit(p, end))
            return wrong(ret_fault, "a digit is expected in the exponent", p);
        p = digits_end(p, end);
    }
    return p;
}

static bool starts_with(const char *p, const char *end, struct bytes word)
{
    return (size_t)(end - p) >= word.n && memcmp(p, word.p, word.n) == 0;
}

const char *json_literal_end(const char *p, const char *end, struct json_wrong *ret_fault)
{
    assert(p < end);
    static const struct bytes words[] = {
        BYTES_LIT("true"),
        BYTES_LIT("false"),
        BYTES_LIT("null"),
    };

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (starts_with(p, end, words[i]))
            return p + words[i].n;
    return wrong(ret_fault, "a value is expected", p);
}
