/*
 * config/select: the columns of the output, and what they are called.
 *
 * A column is called by what `as` says; without it a field is called by its name,
 * or by SIDE.name where an earlier column has that name already, and window_start,
 * left_time and their like by their own. Any other expression has no name then: the
 * empty text, which is enough where no names are written.
 */
#ifndef CONFIG_SELECT_H
#define CONFIG_SELECT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "lang/expr.h"
#include "model/plan.h"

/* The default: all fields, left then right; bound. */
void select_all(const struct plan *p, struct expr_list *ret);

/* One column's expression. */
bool select_bind(struct expr *e, const struct plan *p, struct expr_fault *ret_fault);

/* Gives item `i` its column's name; those before it have theirs. `needed` NULL: it may be
 * empty; else what writes names, such as `format = json`, for the message. */
bool select_name(struct expr_list *l, size_t i, const struct plan *p, const char *needed,
                 struct expr_fault *ret_fault);

/* Does a column need the times of records? */
bool select_keeps_times(const struct expr_list *l);

/* As the configuration would spell it: `as` only where the name is not the default. */
void select_write(const struct expr_list *l, const struct plan *p, struct buf *to);

#endif
