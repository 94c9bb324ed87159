/*
 * base/diag: reasons, told all at once.
 *
 * A diag collects messages, each with the place that it is about. Nothing is
 * printed here: the upper layers decide where messages go.
 */
#ifndef BASE_DIAG_H
#define BASE_DIAG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct diag_message {
    char *text; /* owned */
    int line;   /* for ordering; 0: no line */
    int column;
};

struct diag {
    struct diag_message *messages; /* owned */
    size_t count, capacity;
};

void diag_init(struct diag *d);
void diag_done(struct diag *d);

/* One message; a trailing newline is not part of it. */
void diag_add(struct diag *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same, with the line and column that it is to be sorted by. */
void diag_add_at(struct diag *d, int line, int column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static inline bool diag_any(const struct diag *d)
{
    return d->count > 0;
}

/* In order of line and column; those without a line keep their order and come last. */
void diag_sort(struct diag *d);

#endif
