/*
 * codec/reason: sentences that say what is wrong with a line.
 *
 * They go to [rejects] and to the log, so what comes from outside is shown in
 * quotes, cut, and without a control character.
 */
#ifndef CODEC_REASON_H
#define CODEC_REASON_H

#include <stddef.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "lang/schema.h"

#define REASON_SHOWN_MAX 60 /* bytes that are shown of a value */

/* Appends `value` in quotes, escaped as C does; what is cut off is `...`. */
void reason_append_value(struct buf *to, struct bytes value);

/* All of these append one sentence. */
void reason_type(struct buf *to, const struct field *field, struct bytes value);
/* With a header: a line has the header's columns, else the schema's fields. */
void reason_field_count(struct buf *to, size_t count, size_t expected, bool header,
                        const struct schema *schema);
void reason_quotes(struct buf *to, struct bytes line, char delimiter);
void reason_byte(struct buf *to, struct bytes line, char byte);
/* Of octet counts: a line that has none, or a LF in a frame. Places are counted from 0, and
 * shown from 1, here and below. */
void reason_count(struct buf *to, struct bytes line);
void reason_line_end(struct buf *to, size_t at);

/* Of records of JSON. */
void reason_json(struct buf *to, const char *what, size_t at);
void reason_twice(struct buf *to, struct bytes name);
void reason_path(struct buf *to, const struct field *field, struct bytes name);
void reason_utf8(struct buf *to, size_t at);

#endif
