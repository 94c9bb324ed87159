#include "fixture.h"

#undef NDEBUG
#include <assert.h>

static struct bytes until(const char *p, const char *stops)
{
    return (struct bytes){p, strcspn(p, stops)};
}

void fixture_add_fields(struct schema *s, const char *fields)
{
    for (const char *at = fields; *at != '\0'; at += strspn(at, ", ")) {
        struct bytes name = until(at, ", "), type;
        enum value_type t = TYPE_STRING;

        at += name.n;
        at += strspn(at, " ");
        type = until(at, ",");
        at += type.n;
        if (type.n > 0) {
            bool known = value_type_from_name(type, &t);
            assert(known);
        }
        schema_add(s, name, t);
    }
}

void fixture_open(struct fixture *f, const char *fields)
{
    schema_init(&f->schema, "left");
    fixture_add_fields(&f->schema, fields);
    f->format = (struct input_format){
        .schema = &f->schema,
        .delimiter = ',',
        .null_text = {"", 0},
        .max_line = 65536,
    };
}

void fixture_close(struct fixture *f)
{
    schema_done(&f->schema);
}
