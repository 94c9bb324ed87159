/*
 * codec/json_names: is a name there twice among the members of an object?
 *
 * Members that are part of no path are only kept for this question. It is answered by
 * sorting: whatever names come, n of them cost n log n compares, and there is no hash
 * that somebody could aim at. Private to codec/json.
 */
#ifndef CODEC_JSON_NAMES_H
#define CODEC_JSON_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"

struct json_names {
    struct bytes *items; /* owned; what they point at is not */
    size_t count, capacity;
};

void json_names_done(struct json_names *n);

/* Forgets all, and gives memory back if a record had very many. */
void json_names_clear(struct json_names *n);

void json_names_add(struct json_names *n, struct bytes name);

/* Of those from `first` on, whose order it may change. */
bool json_names_any_twice(struct json_names *n, size_t first, struct bytes *ret_name);

#endif
