#include "model/record.h"

#include <string.h>

#define VARINT_MAX 5 /* bytes */

static uint32_t varint_read(const char **at)
{
    uint32_t value = 0;
    int shift = 0;
    uint8_t byte;

    do {
        byte = (uint8_t) * (*at)++;
        value |= (uint32_t)(byte & 0x7f) << shift;
        shift += 7;
    } while ((byte & 0x80) != 0);
    return value;
}

static size_t varint_write(uint32_t value, char *to)
{
    size_t n = 0;

    while (value >= 0x80) {
        to[n++] = (char)(value | 0x80);
        value >>= 7;
    }
    to[n++] = (char)value;
    return n;
}

struct bytes record_packed_next(const char **at)
{
    uint32_t n = varint_read(at);
    struct bytes field = n == 0 ? BYTES_NULL : (struct bytes){*at, n - 1};

    *at += field.n;
    return field;
}

static void packed_fields(struct bytes body, size_t count, struct bytes *ret)
{
    const char *at = body.p;

    for (size_t i = 0; i < count; i++)
        ret[i] = record_packed_next(&at);
    assert(at == body.p + body.n);
}

struct bytes record_packed_field(struct bytes body, size_t field)
{
    const char *at = body.p;

    while (field-- > 0)
        record_packed_next(&at);
    assert(at < body.p + body.n);
    return record_packed_next(&at);
}

static void verbatim_fields(struct bytes body, const struct record_form *form, struct bytes *ret)
{
    const char *at = body.p, *end = body.p + body.n;

    for (size_t i = 0; i < form->field_count; i++) {
        const char *stop = memchr(at, form->delimiter, (size_t)(end - at));
        if (stop == NULL)
            stop = end;
        ret[i] = (struct bytes){at, (size_t)(stop - at)};
        if (bytes_equal(ret[i], form->null_text))
            ret[i] = BYTES_NULL;
        at = stop == end ? end : stop + 1;
    }
}

void record_fields(const struct record *r, const struct record_form *form, struct bytes *ret_fields)
{
    struct bytes body = record_body(r);

    if (record_has(r, RECORD_PACKED))
        packed_fields(body, form->field_count, ret_fields);
    else
        verbatim_fields(body, form, ret_fields);
}

size_t record_packed_room(const struct bytes *fields, size_t count)
{
    size_t room = 0;

    for (size_t i = 0; i < count; i++)
        room += VARINT_MAX + fields[i].n;
    return room;
}

char *record_pack(const struct bytes *fields, size_t count, char *to)
{
    for (size_t i = 0; i < count; i++) {
        to += varint_write(fields[i].p == NULL ? 0 : (uint32_t)fields[i].n + 1, to);
        to = copy_bytes(to, fields[i].p, fields[i].n);
    }
    return to;
}
