/*
 * model/check_rows: are the rows that the machine holds those that the reference tells, in an
 * order that is allowed?
 */
#ifndef MODEL_CHECK_ROWS_H
#define MODEL_CHECK_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "scenarios/machine.h"
#include "scene.h"

/* False: they are not; `ret_why` gets what was expected and what came, if it was empty. The rows
 * may be put into another order. */
bool check_rows(const struct scene *s, const struct ref_result *results, size_t count,
                struct machine *m, struct buf *ret_why);

#endif
