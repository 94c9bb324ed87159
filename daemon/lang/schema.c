#include "lang/schema.h"

#include <assert.h>

#include "base/mem.h"

void schema_init(struct schema *s, const char *name)
{
    *s = (struct schema){.name = mem_strdup(name)};
}

void schema_done(struct schema *s)
{
    for (size_t i = 0; i < s->count; i++)
        mem_free(s->fields[i].name);
    mem_free(s->fields);
    mem_free(s->name);
    *s = (struct schema){NULL, NULL, 0};
}

void schema_add(struct schema *s, struct bytes name, enum value_type type)
{
    assert((unsigned)type < VALUE_TYPES);
    s->fields = mem_realloc(s->fields, (s->count + 1) * sizeof(*s->fields));
    s->fields[s->count++] = (struct field){mem_strndup(name.p, name.n), type};
}

bool schema_find(const struct schema *s, struct bytes name, size_t *ret_index)
{
    for (size_t i = 0; i < s->count; i++)
        if (bytes_equal(bytes_of(s->fields[i].name), name)) {
            *ret_index = i;
            return true;
        }
    return false;
}
