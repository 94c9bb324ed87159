/*
 * codec/json_paths: where in an object of JSON each field of a side is found.
 *
 * A path is the names of members, from the outermost object inwards: `user.id` is
 * the member `id` of the object that is the member `user`. All paths together make a
 * tree, whose nodes are objects that paths go through. A member may be a field and
 * be gone through, and may be several fields.
 *
 * Read by all decoders of a side, which do not change it.
 * Rules: interface.md sections 2 (`fields`) and 4.
 */
#ifndef CODEC_JSON_PATHS_H
#define CODEC_JSON_PATHS_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

#define JSON_DEPTH_MAX 64 /* objects and arrays within each other, the record being the first */

#define JSON_ROOT 0u         /* the node that is the record itself */
#define JSON_NONE UINT32_MAX /* no such node, no such member */

struct json_path {
    struct bytes *names; /* owned, and what they point at */
    size_t count;        /* 1 .. JSON_DEPTH_MAX */
};

/* An object that paths go through: its members that are part of one. */
struct json_node {
    uint32_t first, count; /* of the members */
};

struct json_member {
    struct bytes name;            /* without escapes */
    uint32_t node;                /* the object that it has to be; JSON_NONE: any value */
    uint32_t first_field, fields; /* of json_paths.fields: which fields it is */
};

struct json_paths {
    struct json_path *paths; /* owned; one a field, in the schema's order */
    size_t count;

    /* made by json_paths_finish(), owned */
    struct json_node *nodes;
    struct json_member *members; /* those of a node together, shorter names first */
    uint32_t *fields;
    size_t node_count, member_count;
};

struct json_paths *json_paths_new(void);
void json_paths_free(struct json_paths *p); /* NULL is fine */

/* The path of the next field. The names are copied. */
void json_paths_add(struct json_paths *p, const struct bytes *names, size_t count);

/* All are there: makes the tree. */
void json_paths_finish(struct json_paths *p);

/* The member of that name that is part of a path; JSON_NONE: it is part of none. */
uint32_t json_paths_find(const struct json_paths *p, uint32_t node, struct bytes name);

/* A field whose path goes through this node. */
size_t json_paths_field_below(const struct json_paths *p, uint32_t node);

#endif
