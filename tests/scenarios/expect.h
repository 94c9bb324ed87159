/*
 * scenarios/expect: are these the results that had to come, in an order that is allowed?
 *
 * What is fixed and what is not (semantics.md sections 2 and 7): windows come in
 * order of end; in a window each key's results come together and in order, the
 * keys in any order. So a list of expected rows has sections, which come one
 * after the other, and in them groups, which come in any order.
 */
#ifndef SCENARIOS_EXPECT_H
#define SCENARIOS_EXPECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "machine.h"

struct expected_row {
    enum result_kind kind;
    size_t section, group; /* counted from 0, never going back */
    bool windowed;         /* the bounds are to be looked at */
    int64_t window_start, window_end;
    char *text;    /* owned by whoever made the row; as the output writes it */
    char *records; /* the same; all fields of both records; NULL: not looked at */
};

/* False: they are not. Appends to `ret_why` what was expected and what came. */
bool expect_rows(const struct expected_row *expected, size_t expected_count,
                 const struct machine_row *rows, size_t count, struct buf *ret_why);

#endif
