/*
 * config/fields: what a side and its fields are called, and the fields' types.
 */
#ifndef CONFIG_FIELDS_H
#define CONFIG_FIELDS_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "config/reading.h"
#include "lang/expr.h"
#include "lang/schema.h"

/* Bytes of a side's, a field's or a column's name: so that --check, which breaks
 * lines between names, never prints one that is too long to be read again. */
#define FIELD_NAME_MAX 255
#define FIELD_PATH_MAX 1024 /* of a path of JSON, its dots counted */

/* One name, as expressions spell it: in double quotes if it is odd. */
bool side_name_read(struct bytes text, struct buf *name, struct expr_fault *ret_fault);

/* The `fields` of a side, into its schema; of JSON their paths, too.
 *
 *     csv    name [type], ...
 *     json   path [type] [as name], ...     a path is names with dots between them, and
 *                                           without `as` the name of its field
 *
 * False: what is wrong is reported, all of it. */
bool fields_read(const struct reading *r, const struct setting *s);

/* Appends them as they can be read again, each with its type. */
void fields_write(const struct input_format *format, const struct schema *schema, struct buf *to);

#endif
