#include "json_judge.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "codec/json.h"

#define FIELDS_MAX 20

struct judging {
    const struct fixture *fixture;
    struct bytes record;

    /* ours */
    struct json *json;
    struct buf scratch;
    struct bytes fields[FIELDS_MAX];
    struct json_fault fault;
    bool taken;

    /* jansson's */
    json_t *root; /* NULL: refused */
    bool not_judged;
    bool twice; /* somewhere in it a member is there twice */
};

static bool disagree(const struct judging *g, const char *why)
{
    fprintf(stderr, "%s: ", why);
    fwrite(g->record.p, 1, g->record.n, stderr);
    fprintf(stderr, "\n");
    return false;
}

/* --- the two verdicts --- */

static void ask_ours(struct judging *g)
{
    buf_reserve(&g->scratch, g->record.n);
    g->json = json_new(g->fixture->format.paths);
    g->taken =
        utf8_valid(g->record) && json_read(g->json, g->record, &g->scratch, g->fields, &g->fault);
}

static void ask_jansson(struct judging *g)
{
    json_error_t error;
    json_t *strict;

    if (memchr(g->record.p, '\0', g->record.n) != NULL)
        return; /* jansson passes over a NUL behind a number or literal */
    g->root = json_loadb(g->record.p, g->record.n, 0, &error);
    if (g->root == NULL) {
        g->not_judged = json_error_code(&error) == json_error_numeric_overflow;
        return;
    }
    strict = json_loadb(g->record.p, g->record.n, JSON_REJECT_DUPLICATES, &error);
    g->twice = strict == NULL;
    json_decref(strict);
}

/* How deep a good record is nested. */
static size_t depth_of(struct bytes record)
{
    size_t depth = 0, deepest = 0;
    bool in_string = false;

    for (size_t i = 0; i < record.n; i++) {
        char c = record.p[i];

        if (in_string && c == '\\')
            i++;
        else if (c == '"')
            in_string = !in_string;
        else if (!in_string && (c == '{' || c == '['))
            depth++;
        else if (!in_string && (c == '}' || c == ']'))
            depth--;
        if (depth > deepest)
            deepest = depth;
    }
    return deepest;
}

/* --- values --- */

/* False: the path goes through something that is no object. NULL: it leads nowhere. */
static bool follow(const json_t *value, const struct json_path *path, const json_t **ret)
{
    for (size_t i = 0; i < path->count; i++) {
        if (!json_is_object(value))
            return false;
        value = json_object_getn(value, path->names[i].p, path->names[i].n);
        if (value == NULL || json_is_null(value)) {
            *ret = NULL;
            return true;
        }
    }
    *ret = value;
    return true;
}

static bool same_container(const json_t *value, struct bytes text)
{
    json_t *again = json_loadb(text.p, text.n, 0, NULL);
    bool same = again != NULL && json_equal(again, value) == 1;

    json_decref(again);
    return same;
}

static bool same_number(const json_t *value, struct bytes text)
{
    char *copy = mem_strndup(text.p, text.n);
    bool same = json_is_integer(value) ? strtoll(copy, NULL, 10) == json_integer_value(value)
                                       : strtod(copy, NULL) == json_real_value(value);

    mem_free(copy);
    return same;
}

static bool same_value(const json_t *value, struct bytes text)
{
    if (value == NULL || text.p == NULL)
        return value == NULL && text.p == NULL;
    switch (json_typeof(value)) {
    case JSON_OBJECT:
    case JSON_ARRAY:
        return same_container(value, text);
    case JSON_STRING:
        return bytes_equal(text,
                           (struct bytes){json_string_value(value), json_string_length(value)});
    case JSON_INTEGER:
    case JSON_REAL:
        return same_number(value, text);
    case JSON_TRUE:
        return bytes_equal(text, BYTES_LIT("true"));
    case JSON_FALSE:
        return bytes_equal(text, BYTES_LIT("false"));
    case JSON_NULL:
        break;
    }
    return false;
}

static bool compare_fields(const struct judging *g)
{
    const struct json_paths *paths = g->fixture->format.paths;

    for (size_t i = 0; i < paths->count; i++) {
        const json_t *value;

        if (!follow(g->root, &paths->paths[i], &value))
            return disagree(g, "taken, though a path goes through what is no object");
        if (!same_value(value, g->fields[i]))
            return disagree(g, g->fixture->schema.fields[i].name);
    }
    return true;
}

static bool some_path_is_cut(const struct judging *g)
{
    const struct json_paths *paths = g->fixture->format.paths;
    const json_t *value;

    for (size_t i = 0; i < paths->count; i++)
        if (!follow(g->root, &paths->paths[i], &value))
            return true;
    return false;
}

static bool judge_refused(const struct judging *g)
{
    switch (g->fault.kind) {
    case JSON_FINE:
        return disagree(g, "refused without a fault, or as no UTF-8");
    case JSON_BROKEN:
        return !json_is_object(g->root) || depth_of(g->record) > JSON_DEPTH_MAX ||
               disagree(g, g->fault.what);
    case JSON_TWICE:
        return g->twice || disagree(g, "refused, though no member is there twice");
    case JSON_NO_OBJECT: /* of members that are there twice, jansson keeps the last */
        return g->twice || some_path_is_cut(g) || disagree(g, "refused, though no path is cut");
    }
    return false;
}

static bool judge_taken(const struct judging *g)
{
    if (memchr(g->record.p, '\0', g->record.n) != NULL)
        return disagree(g, "taken with a NUL byte");
    if (g->root == NULL)
        return disagree(g, "taken, though it is no JSON");
    if (!json_is_object(g->root))
        return disagree(g, "taken, though it is no object");
    if (depth_of(g->record) > JSON_DEPTH_MAX)
        return disagree(g, "taken, though it is nested too deep");
    return compare_fields(g);
}

bool json_judge(const struct fixture *f, struct bytes record)
{
    struct judging g = {.fixture = f, .record = record};
    bool ok = true;

    ask_ours(&g);
    ask_jansson(&g);
    if (!g.not_judged && (g.taken || g.root != NULL))
        ok = g.taken ? judge_taken(&g) : judge_refused(&g);
    json_decref(g.root);
    json_free(g.json);
    buf_done(&g.scratch);
    return ok;
}
