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

struct json_paths *fixture_paths(const struct schema *s)
{
    struct json_paths *p = json_paths_new();

    for (size_t i = 0; i < s->count; i++) {
        struct bytes names[JSON_DEPTH_MAX];
        const char *at = s->fields[i].name;
        size_t count = 0;

        for (;;) {
            assert(count < JSON_DEPTH_MAX);
            names[count] = until(at, ".");
            at += names[count++].n;
            if (*at == '\0')
                break;
            at++;
        }
        json_paths_add(p, names, count);
    }
    json_paths_finish(p);
    return p;
}

void fixture_open_json(struct fixture *f, const char *fields)
{
    fixture_open(f, fields);
    f->format = (struct input_format){
        .kind = INPUT_JSON,
        .schema = &f->schema,
        .paths = fixture_paths(&f->schema),
        .max_line = 65536,
    };
}

void fixture_close(struct fixture *f)
{
    json_paths_free(f->format.paths);
    schema_done(&f->schema);
}
