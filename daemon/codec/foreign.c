#include "codec/foreign.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "codec/envelope.h"
#include "codec/octets.h"

static bool starts_with(struct bytes text, const char *start)
{
    size_t n = strlen(start);
    return text.n >= n && memcmp(text.p, start, n) == 0;
}

static bool is_tls(struct bytes b)
{
    return b.n >= 3 && b.p[0] == 0x16 && b.p[1] == 0x03 && (unsigned char)b.p[2] <= 4;
}

static bool is_http(struct bytes b)
{
    static const char *const methods[] = {"GET ",     "POST ",   "PUT ",   "HEAD ",
                                          "OPTIONS ", "DELETE ", "PATCH ", "CONNECT "};
    const char *end = memchr(b.p, '\n', b.n);
    struct bytes line = {b.p, end == NULL ? b.n : (size_t)(end - b.p)};

    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
        if (starts_with(line, methods[i]))
            return memmem(line.p, line.n, " HTTP/1.", 8) != NULL;
    return starts_with(b, "PRI * HTTP/2.0");
}

/* A count where RFC 6587 has it: how many bytes it and its space take; 0: there is none. */
static size_t octet_count(struct bytes b)
{
    size_t i = 0;

    while (i < b.n && i < OCTETS_COUNT_DIGITS && b.p[i] >= '0' && b.p[i] <= '9')
        i++;
    return i > 0 && i < b.n && b.p[i] == ' ' ? i + 1 : 0;
}

static bool is_json_array(struct bytes b, enum input_kind kind)
{
    size_t i = 1;

    if (b.n == 0 || b.p[0] != '[')
        return false;
    /* `[` and a blank may start a line of CSV. */
    while (kind == INPUT_JSON && i < b.n && strchr(" \t\r\n", b.p[i]) != NULL)
        i++;
    return i < b.n && (b.p[i] == '{' || b.p[i] == '[');
}

/* Fluent Bit's forward: an array of two to four, then a time or a map. */
static bool is_msgpack(struct bytes b)
{
    unsigned char first = b.n >= 2 ? (unsigned char)b.p[0] : 0;
    unsigned char second = b.n >= 2 ? (unsigned char)b.p[1] : 0;

    return (first >= 0x92 && first <= 0x94) && second >= 0x80;
}

static bool is_utf16(struct bytes b)
{
    return starts_with(b, "\xff\xfe") || starts_with(b, "\xfe\xff");
}

static bool is_proxy_header(struct bytes b)
{
    return starts_with(b, "PROXY TCP") || starts_with(b, "\r\n\r\n\0\r\nQUIT\n");
}

/* Whatever is expected. */
static const struct {
    bool (*is)(struct bytes start);
    const char *name;
} protocols[] = {
    {is_tls, "this is a TLS handshake: turn TLS off at the sender (tls_certificate and tls_key are "
             "not in this version)"},
    {is_http, "this is an HTTP request: records come over plain TCP, one a line; metrics are on "
              "the port of [http] listen"},
    {is_msgpack, "this is msgpack: set the sender's format to lines of text (of Fluent Bit: "
                 "format json_lines)"},
    {is_utf16, "this is UTF-16: set the sender to UTF-8"},
    {is_proxy_header, "this is a PROXY protocol header: turn it off at the balancer"},
};

/* Records that are wrapped in another way than the settings say. */
static const char *framing_name(struct bytes start, const struct input_format *format)
{
    size_t count = octet_count(start);
    bool syslog = envelope_begins((struct bytes){start.p + count, start.n - count});
    char next = count < start.n ? start.p[count] : '\0';

    if (count > 0 && format->framing == FRAMING_LINE && (next == '<' || next == '{'))
        return syslog && format->envelope == ENVELOPE_NONE
                   ? "these are syslog messages in octet-counted framing: set framing = octet and "
                     "envelope = syslog"
                   : "this is octet-counted framing: set framing = octet (or auto, if lines come, "
                     "too)";
    if (count == 0 && format->framing == FRAMING_OCTET && (next == '<' || next == '{'))
        return "there are no octet counts: set framing = line (or auto)";
    if (syslog && format->envelope == ENVELOPE_NONE)
        return "these are syslog messages: set envelope = syslog";
    return NULL;
}

const char *foreign_name(struct bytes start, const struct input_format *format)
{
    const char *name;
    size_t count;

    for (size_t i = 0; i < sizeof(protocols) / sizeof(protocols[0]); i++)
        if (protocols[i].is(start))
            return protocols[i].name;
    name = framing_name(start, format);
    if (name != NULL)
        return name;
    count = format->framing == FRAMING_LINE ? 0 : octet_count(start);
    if (is_json_array((struct bytes){start.p + count, start.n - count}, format->kind))
        return "this is a JSON array: set the sender to one record a line (one object a line with "
               "format = json; of Fluent Bit: format json_lines)";
    return NULL;
}
