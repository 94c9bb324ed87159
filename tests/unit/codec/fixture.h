/*
 * An input format from a few words: fixture_open(&f, "user, at timestamp, n bigint"),
 * with `,` as delimiter, the empty text as NULL, no header, lines up to 64 KiB.
 * Change f.format as the test needs.
 */
#ifndef FIXTURE_H
#define FIXTURE_H

#include "codec/decoder.h"
#include "lang/schema.h"

struct fixture {
    struct schema schema;
    struct input_format format;
};

void fixture_open(struct fixture *f, const char *fields);
void fixture_close(struct fixture *f);

/* The same of JSON: names are paths, whose dots go into objects. */
void fixture_open_json(struct fixture *f, const char *fields);

/* The paths of such fields, finished. */
struct json_paths *fixture_paths(const struct schema *s);

/* Adds fields of the same form to a schema. */
void fixture_add_fields(struct schema *s, const char *fields);

#endif
