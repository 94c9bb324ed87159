/*
 * codec/columns: which column of a CSV line goes into which field.
 *
 * Without a header the columns are the fields, in their order. A header names the
 * columns: fields are found by name, other columns are passed over. It is at fault
 * when it lacks a field or names one twice (interface.md section 2, `header`).
 */
#ifndef CODEC_COLUMNS_H
#define CODEC_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "lang/schema.h"

struct column_field {
    size_t column, field;
};

struct columns {
    const struct schema *schema;
    size_t count;                /* of a line */
    bool identity;               /* they are the fields, all of them and nothing else, in order */
    struct column_field *wanted; /* owned; by column, one a field, and one behind them
                                  * whose column is SIZE_MAX */
    size_t wanted_count;
};

/* Starts as if there were no header. */
void columns_init(struct columns *c, const struct schema *schema);
void columns_done(struct columns *c);

/* A header line, name by name, after columns_clear(). */
void columns_clear(struct columns *c);
void columns_name(struct columns *c, struct bytes name, struct buf *fault);
/* False: the header is at fault; `fault` (empty before columns_clear) says why. */
bool columns_complete(struct columns *c, struct buf *fault);

/* Is this unquoted text what stands for NULL? */
static inline bool columns_null_text(const struct bytes *null_text, struct bytes text)
{
    return text.n == null_text->n && (text.n == 0 || memcmp(text.p, null_text->p, text.n) == 0);
}

/* Puts the texts of a line's columns where its fields belong. */
struct placing {
    struct bytes *fields;
    const struct column_field *wanted; /* the next one */
    size_t column;                     /* so many have come */
};

static inline struct placing placing_start(const struct columns *c, struct bytes *fields)
{
    return (struct placing){fields, c->wanted, 0};
}

static inline void placing_put(struct placing *p, struct bytes text)
{
    if (p->column == p->wanted->column) {
        p->fields[p->wanted->field] = text;
        p->wanted++;
    }
    p->column++;
}

#endif
