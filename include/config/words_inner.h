/*
 * config/words_inner: what the parts of config/words share.
 */
#ifndef CONFIG_WORDS_INNER_H
#define CONFIG_WORDS_INNER_H

#include <stdbool.h>

#include "base/buf.h"
#include "config/config.h"
#include "lang/expr.h"

/* False, and nothing is appended: it is too long. */
bool words_expression(const struct expr *e, struct buf *to);

/* Ends a comment, which may take several lines, and begins a new one in `text`. */
void words_end(struct buf *text, struct buf *to);

/* config/words_ends: where records come from, where results go, and who waits for whom. */
void words_of_ends(const struct config *c, struct buf *to);

#endif
