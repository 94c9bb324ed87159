/*
 * config/scalar: values that are one word, number, time or text: read, kept, written.
 *
 * What is written, read again, gives the same value.
 */
#ifndef CONFIG_SCALAR_H
#define CONFIG_SCALAR_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "config/config.h"
#include "config/keys.h"
#include "lang/expr.h"

/* The parts of struct config that sections are about. */
static inline enum side section_side(enum section s)
{
    return s == SECTION_LEFT ? SIDE_LEFT : SIDE_RIGHT;
}

static inline enum section side_section(enum side s)
{
    return s == SIDE_LEFT ? SECTION_LEFT : SECTION_RIGHT;
}

static inline enum output_id section_output(enum section s)
{
    return s == SECTION_OUTPUT ? OUTPUT_RESULTS : s == SECTION_LATE ? OUTPUT_LATE : OUTPUT_REJECTS;
}

/* NULL: a section without one. */
struct endpoint *section_endpoint(struct config *c, enum section s);

/* Is the key's meaning a scalar? */
bool key_is_scalar(const struct key *k);

/* Where the value of a key of this section is kept; NULL: nowhere, it has only its
 * default in this version. Points into `c`. */
void *key_slot(struct config *c, enum section s, const struct key *k);

/* Reads `text` into the slot (NULL: only checks it). */
bool scalar_read(const struct key *k, struct bytes text, void *slot, struct expr_fault *ret_fault);

void scalar_write(const struct key *k, const void *slot, struct buf *to);

/* A text that may stand in double quotes, one inside doubled. False: the quotes are
 * broken. */
bool quoted_read(struct bytes text, struct buf *to, struct expr_fault *ret_fault);
/* With quotes only where it could not be read without them. */
void quoted_write(struct bytes text, struct buf *to);

#endif
