#include "codec/json_rows.h"

#include <string.h>

#include "base/utf8.h"
#include "codec/filling.h"
#include "codec/reason.h"

/* Bytes of scratch that a record may need: strings without their escapes, and typed
 * fields made canonical. */
static size_t scratch_for(const struct rows *r, struct bytes line)
{
    bool escapes = memchr(line.p, '\\', line.n) != NULL;

    if (r->typed_count == 0)
        return escapes ? line.n : 0;
    return (escapes ? 2 : 1) * line.n + r->typed_count * CANONICAL_ROOM;
}

/* Text tells the kinds of JSON apart: no number reads as a boolean or the other way, and
 * an object reads as nothing. So a type takes its own kind, or a string of it, by the
 * rules of CSV alone. */
static enum reject type_fields(struct rows *r, struct batch *b, struct bytes *fields,
                               int64_t *ret_time)
{
    size_t bad;

    if (rows_type_fields(r, b, fields, &bad, ret_time) == TYPING_GOOD)
        return REJECT_NONE;
    reason_type(&r->sentence, &r->format->schema->fields[bad], fields[bad]);
    return REJECT_TYPE;
}

static enum reject reject_fault(struct rows *r, struct bytes line, const struct json_fault *f)
{
    switch (f->kind) {
    case JSON_BROKEN:
        reason_json(&r->sentence, f->what, (size_t)(f->at - line.p));
        return REJECT_JSON;
    case JSON_TWICE:
        reason_twice(&r->sentence, f->name);
        return REJECT_DUPLICATE;
    case JSON_NO_OBJECT:
        reason_path(&r->sentence, &r->format->schema->fields[f->field], f->name);
        return REJECT_PATH;
    case JSON_FINE:
        break;
    }
    return REJECT_NONE;
}

/* The order of judgement: bytes, the object, types. NUL and 0xFF are looked for only in
 * what is bad: a good record cannot hold them. */
static enum reject judge(struct json *j, struct rows *r, struct batch *b, struct bytes line,
                         int64_t *ret_time)
{
    struct bytes *fields = filling_fields(b);
    size_t well_formed = utf8_valid_prefix(line.p, line.n);
    struct json_fault fault;
    enum reject why;

    if (well_formed == line.n && json_read(j, line, &b->scratch, fields, &fault))
        return type_fields(r, b, fields, ret_time);
    why = rows_judge_bytes(r, line);
    if (why != REJECT_NONE)
        return why;
    if (well_formed == line.n)
        return reject_fault(r, line, &fault);
    reason_utf8(&r->sentence, well_formed);
    return REJECT_UTF8;
}

bool json_rows_take(struct json *j, struct rows *r, struct batch *b, struct bytes line,
                    size_t consumed)
{
    size_t scratch_start;
    enum reject why;
    int64_t time;

    if (!filling_has_room(b, scratch_for(r, line)))
        return false;
    scratch_start = b->scratch.tail;
    why = judge(j, r, b, line, &time);
    if (why == REJECT_NONE) {
        filling_add(b, line, consumed, time);
        return true;
    }
    b->scratch.tail = scratch_start; /* nobody points there */
    rows_reject(r, b, line, consumed, why);
    return true;
}
