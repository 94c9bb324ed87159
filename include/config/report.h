/*
 * config/report: what is wrong with a configuration, and where.
 *
 *     FILE:LINE:COLUMN: subject: what is wrong and what to do
 *     FILE: subject: ...                      of what is not there at all
 *
 * Columns count characters, not bytes, from 1. The form is interface.md section 1's.
 */
#ifndef CONFIG_REPORT_H
#define CONFIG_REPORT_H

#include <stdarg.h>

#include "base/diag.h"

/* A place in the file; line 0: none. */
struct place {
    int line, column;
};

#define NO_PLACE ((struct place){0, 0})

struct report {
    const char *path;  /* the file, as the user gave it */
    struct diag *diag; /* where messages go */
};

/* `subject` may be empty: faults of the file's form have none. */
void report_at(const struct report *r, struct place p, const char *subject, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void report_vat(const struct report *r, struct place p, const char *subject, const char *format,
                va_list args) __attribute__((format(printf, 4, 0)));

#endif
