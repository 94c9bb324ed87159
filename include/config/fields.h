/*
 * config/fields: what a side and its fields are called, and the fields' types.
 */
#ifndef CONFIG_FIELDS_H
#define CONFIG_FIELDS_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "config/reading.h"
#include "core/expr.h"
#include "core/schema.h"

/* Bytes of a side's, a field's or a column's name: so that --check, which breaks
 * lines between names, never prints one that is too long to be read again. */
#define FIELD_NAME_MAX 255

/* One name, as expressions spell it: in double quotes if it is odd. */
bool side_name_read(struct bytes text, struct buf *name, struct expr_fault *ret_fault);

/* `name [type], ...`. False: what is wrong is reported, all of it. */
bool fields_read(const struct reading *r, const struct setting *s, struct schema *schema);

#endif
