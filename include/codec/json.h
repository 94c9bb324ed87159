/*
 * codec/json: one record of JSON -> the texts of its fields.
 *
 * A strict reader of RFC 8259 that looks at each byte once, builds nothing, and does
 * not call itself. It takes what is asked for out of one object: a string's
 * characters, any other value's text as it stands there.
 *
 * Refused: all that is no JSON (single quotes, NaN, 007, a comma too many, text
 * behind the object), `\u0000`, a surrogate alone, nesting deeper than
 * JSON_DEPTH_MAX; a member that is there twice in an object that paths go through;
 * a path through something that is no object (through null or a missing member, it
 * is NULL). interface.md section 4, libraries.md.
 */
#ifndef CODEC_JSON_H
#define CODEC_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "codec/json_paths.h"

enum json_fault_kind {
    JSON_FINE,
    JSON_BROKEN,   /* no JSON, or more of it than is taken */
    JSON_TWICE,    /* a member */
    JSON_NO_OBJECT /* where a path goes through */
};

struct json_fault {
    enum json_fault_kind kind;
    const char *what;  /* broken: what is wrong; static */
    const char *at;    /* broken: the place in the record */
    struct bytes name; /* twice, no object: the member's; good as long as the texts */
    size_t field;      /* no object: one that cannot be found there */
};

struct json;

/* The paths (finished) must outlive it. */
struct json *json_new(const struct json_paths *paths);
void json_free(struct json *j); /* NULL is fine */

/* Sets one text a field, BYTES_NULL where it is null or missing. They point into the
 * record, which is well-formed UTF-8, or into `scratch`; that must have room for as
 * many bytes as the record has if there is a backslash in it, so that it does not move.
 * False: *ret_fault says why; some fields may be set. */
bool json_read(struct json *j, struct bytes record, struct buf *scratch, struct bytes *ret_fields,
               struct json_fault *ret_fault);

#endif
