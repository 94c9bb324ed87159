/*
 * config/wrap: long lines, broken where they can be read on.
 */
#ifndef CONFIG_WRAP_H
#define CONFIG_WRAP_H

#include <stddef.h>

#include "base/buf.h"
#include "base/bytes.h"

#define WRAP_WIDTH 100 /* a longer piece stands alone on its line */

/* Appends `text`, whose line has `column` bytes already, to its end without a line
 * end. Lines are broken behind `behind` (" " or ", ", its last blank is left out)
 * where that is not within double quotes; the next ones begin with `start`. */
void wrap_append(struct buf *to, struct bytes text, size_t column, const char *behind,
                 const char *start);

#endif
