/*
 * base/number: numbers as text, by interface.md section 3, whatever the locale.
 *
 *     bigint   `-` or not, decimal digits, leading zeros allowed, never octal
 *     double   the same, then a fraction and an exponent if wanted. No `.5`,
 *              `5.`, leading `+`, spaces, hex, inf, nan, nothing that overflows
 *
 * Canonical is what joind itself writes: bigint as digits without leading
 * zeros (and no `-0`), double as JavaScript writes numbers, but `-0` for -0.
 */
#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"

/* False: not a bigint, or out of range. */
bool number_read_bigint(struct bytes text, int64_t *ret);
/* False: not a double, or not finite. Reads to the nearest double. */
bool number_read_double(struct bytes text, double *ret);

/* What a text is, found without converting it where that can be. */
enum number_form {
    NUMBER_BAD,       /* not of the type */
    NUMBER_VALID,     /* of the type, but to be rewritten before it is stored or shown */
    NUMBER_CANONICAL, /* exactly what number_write_*() would write for its value */
};
enum number_form number_bigint_form(struct bytes text);
/* May say VALID of a canonical text (the caller then rewrites it to the same). */
enum number_form number_double_form(struct bytes text);

#define NUMBER_TEXT_MAX 32 /* bytes that the longest number takes */

/* Write at `to` (room for NUMBER_TEXT_MAX) and return the length; no NUL. A
 * double must be finite; of the shortest texts that read back, the nearest. */
size_t number_write_bigint(int64_t value, char *to);
size_t number_write_double(double value, char *to);

#endif
