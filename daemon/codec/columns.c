#include "codec/columns.h"

#include <assert.h>

#include "base/mem.h"

static bool columns_ok(const struct columns *c)
{
    return c->wanted_count <= c->schema->count && c->wanted_count <= c->count &&
           c->wanted[c->wanted_count].column == SIZE_MAX &&
           (!c->identity || c->count == c->schema->count);
}

static void want(struct columns *c, size_t column, size_t field)
{
    if (column != field)
        c->identity = false;
    c->wanted[c->wanted_count++] = (struct column_field){column, field};
}

/* The column that none has, so that nobody looks behind the last one wanted. */
static void close_wanted(struct columns *c)
{
    c->wanted[c->wanted_count] = (struct column_field){SIZE_MAX, 0};
}

void columns_init(struct columns *c, const struct schema *schema)
{
    c->schema = schema;
    c->wanted = mem_alloc_zeroed(schema->count + 1, sizeof(*c->wanted));
    columns_clear(c);
    for (size_t i = 0; i < schema->count; i++)
        want(c, i, i);
    close_wanted(c);
    c->count = schema->count;
    assert(columns_ok(c));
}

void columns_done(struct columns *c)
{
    mem_free(c->wanted);
    c->wanted = NULL;
}

void columns_clear(struct columns *c)
{
    c->count = 0;
    c->wanted_count = 0;
    c->identity = true;
}

static bool is_wanted(const struct columns *c, size_t field)
{
    for (size_t i = 0; i < c->wanted_count; i++)
        if (c->wanted[i].field == field)
            return true;
    return false;
}

void columns_name(struct columns *c, struct bytes name, struct buf *fault)
{
    size_t column = c->count++;
    size_t field;

    if (!schema_find(c->schema, name, &field))
        return;
    if (!is_wanted(c, field))
        want(c, column, field);
    else if (buf_length(fault) == 0)
        buf_printf(fault, "the header names the field %s twice", c->schema->fields[field].name);
}

bool columns_complete(struct columns *c, struct buf *fault)
{
    size_t lacking = c->schema->count - c->wanted_count;
    const char *before =
        lacking == 1 ? "the header lacks the field " : "the header lacks the fields ";

    close_wanted(c);
    if (c->count != c->schema->count)
        c->identity = false;
    assert(columns_ok(c));
    if (buf_length(fault) > 0 || lacking == 0)
        return buf_length(fault) == 0;
    for (size_t i = 0; i < c->schema->count; i++)
        if (!is_wanted(c, i)) {
            buf_printf(fault, "%s%s", before, c->schema->fields[i].name);
            before = ", ";
        }
    return false;
}
