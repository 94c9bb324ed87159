/*
 * lang/schema: the fields of one side, in the order of the configuration.
 */
#ifndef LANG_SCHEMA_H
#define LANG_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"
#include "lang/value.h"

struct field {
    char *name; /* owned */
    enum value_type type;
};

struct schema {
    char *name;           /* owned; the side's `name`: what expressions call it */
    struct field *fields; /* owned */
    size_t count;
};

void schema_init(struct schema *s, const char *name);
void schema_done(struct schema *s);
void schema_add(struct schema *s, struct bytes name, enum value_type type);

/* False: no such field. Names are compared bytewise. */
bool schema_find(const struct schema *s, struct bytes name, size_t *ret_index);

#endif
