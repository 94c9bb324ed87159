/*
 * config/wrap: long lines, broken where they can be read on.
 */
#ifndef CONFIG_WRAP_H
#define CONFIG_WRAP_H

#include <stddef.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "config/keys.h"

#define WRAP_WIDTH 100 /* a longer piece stands alone on its line */

/* Both append `text` to the end of `to`, whose last line has `column` bytes already,
 * without a line end. */

/* Words: broken at any blank; the next lines begin with `start`. */
void wrap_words(struct buf *to, struct bytes text, size_t column, const char *start);

/* The value of a key of `section`: read again, its lines give `text` (one space joins
 * them). Broken behind the commas of a list where that will do, and else at any blank, but never
 * within quotes of either kind, nor where the next line would be taken for another key. */
void wrap_value(struct buf *to, struct bytes text, size_t column, enum section section);

#endif
