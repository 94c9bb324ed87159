#include "codec/reason.h"

#include <assert.h>

#include "base/utf8.h"
#include "codec/octets.h"
#include "codec/quoted.h"

#define NAMES_SHOWN_MAX 80 /* bytes of a list of field names */

/* The bytes of the character at the front of `text` that can be shown as they are; 0: none. */
static size_t printable(struct bytes text)
{
    unsigned char c = (unsigned char)text.p[0];
    size_t length = utf8_character_length(text.p, text.n);

    if (c < 0x20 || c == 0x7f || (c >= 0x80 && length == 1))
        return 0;
    if (c == 0xc2 && (unsigned char)text.p[1] < 0xa0) /* control characters, too */
        return 0;
    return length;
}

static void append_escaped(struct buf *to, char c)
{
    switch (c) {
    case '\t':
        buf_append_text(to, "\\t");
        break;
    case '\n':
        buf_append_text(to, "\\n");
        break;
    case '\r':
        buf_append_text(to, "\\r");
        break;
    default:
        buf_printf(to, "\\x%02x", (unsigned char)c);
        break;
    }
}

void reason_append_value(struct buf *to, struct bytes value)
{
    size_t at = 0;

    buf_append_char(to, '"');
    while (at < value.n && at < REASON_SHOWN_MAX) {
        size_t n = printable((struct bytes){value.p + at, value.n - at});

        if (value.p[at] == '"' || value.p[at] == '\\')
            buf_append_char(to, '\\');
        if (n > 0)
            buf_append(to, value.p + at, n);
        else
            append_escaped(to, value.p[at]);
        at += n > 0 ? n : 1;
    }
    buf_append_text(to, at < value.n ? "...\"" : "\"");
}

void reason_type(struct buf *to, const struct field *field, struct bytes value)
{
    buf_printf(to, "field %s: ", field->name);
    reason_append_value(to, value);
    buf_printf(to, " is not a %s", value_type_name(field->type));
}

static void append_names(struct buf *to, const struct schema *schema)
{
    size_t start = buf_length(to);

    for (size_t i = 0; i < schema->count; i++) {
        if (i > 0)
            buf_append_text(to, ", ");
        if (buf_length(to) - start > NAMES_SHOWN_MAX) {
            buf_append_text(to, "...");
            break;
        }
        buf_append_text(to, schema->fields[i].name);
    }
}

void reason_field_count(struct buf *to, size_t count, size_t expected, bool header,
                        const struct schema *schema)
{
    assert(count != expected);
    buf_printf(to, "%zu field%s, expected %zu ", count, count == 1 ? "" : "s", expected);
    if (header) {
        buf_append_text(to, "as in the header");
        return;
    }
    buf_append_char(to, '(');
    append_names(to, schema);
    buf_append_char(to, ')');
}

void reason_quotes(struct buf *to, struct bytes line, char delimiter)
{
    size_t at = 0;

    if (quoted_walk(QUOTING_START, line, delimiter, &at) != QUOTING_BAD)
        buf_append_text(to, "a quoted field is not closed");
    else if (line.p[at] == '"')
        buf_printf(to, "a quote within a field that does not start with one, at byte %zu", at + 1);
    else
        buf_printf(to, "text behind a closing quote, at byte %zu", at + 1);
}

void reason_byte(struct buf *to, struct bytes line, char byte)
{
    const char *found = memchr(line.p, byte, line.n);

    if (byte == '\0')
        buf_append_text(to, "a NUL byte");
    else
        buf_printf(to, "a byte 0x%02X", (unsigned char)byte);
    if (found != NULL)
        buf_printf(to, ", at byte %zu", (size_t)(found - line.p) + 1);
}

void reason_json(struct buf *to, const char *what, size_t at)
{
    buf_printf(to, "broken JSON: %s, at byte %zu", what, at + 1);
}

void reason_twice(struct buf *to, struct bytes name)
{
    assert(name.p != NULL);
    buf_append_text(to, "the member ");
    reason_append_value(to, name);
    buf_append_text(to, " is there twice");
}

void reason_path(struct buf *to, const struct field *field, struct bytes name)
{
    buf_printf(to, "field %s: its path goes through ", field->name);
    reason_append_value(to, name);
    buf_append_text(to, ", which is no object");
}

void reason_utf8(struct buf *to, size_t at)
{
    buf_printf(to, "not UTF-8, at byte %zu", at + 1);
}

void reason_count(struct buf *to, struct bytes line)
{
    size_t digits = 0;

    while (digits < line.n && line.p[digits] >= '0' && line.p[digits] <= '9')
        digits++;
    if (digits == 0)
        buf_append_text(to, "no octet count at its start");
    else if (digits > OCTETS_COUNT_DIGITS)
        buf_printf(to, "an octet count of more than %d digits", OCTETS_COUNT_DIGITS);
    else
        buf_append_text(to, "no space behind the octet count");
}

void reason_line_end(struct buf *to, size_t at)
{
    buf_printf(to, "a line end outside quotes, at byte %zu", at + 1);
}
