#include "codec/json.h"

#include <assert.h>

#include "base/mem.h"
#include "codec/json_lexer.h"
#include "codec/json_names.h"

/* An object or array that is open. */
struct level {
    const char *start;
    uint32_t member; /* of the object round it, that it is the value of; JSON_NONE: not wanted */
    uint32_t node;   /* JSON_NONE: an array, or no path goes through it */
    size_t names;    /* of json.others, where those of this object begin */
    bool array;
    bool fresh; /* nothing was in it yet */
};

struct json {
    const struct json_paths *paths; /* not owned */
    uint64_t *seen;                 /* owned; one a member: the record that had it last */
    uint64_t record;                /* this one's number */
    struct json_names others;       /* of open objects: members that are part of no path */
    struct level levels[JSON_DEPTH_MAX];
    size_t depth;

    /* while a record is read */
    const char *at, *end;
    struct bytes *fields;
    struct buf *scratch;
    struct json_fault *fault;
};

struct json *json_new(const struct json_paths *paths)
{
    struct json *j = mem_alloc_zeroed(1, sizeof(*j));

    assert(paths->nodes != NULL);
    assert(paths->nodes != NULL);
    j->paths = paths;
    j->seen = mem_alloc_zeroed(paths->member_count, sizeof(*j->seen));
    return j;
}

void json_free(struct json *j)
{
    if (j == NULL)
        return;
    json_names_done(&j->others);
    mem_free(j->seen);
    mem_free(j);
}

/* --- faults --- */

static bool broken(struct json *j, const char *what)
{
    *j->fault = (struct json_fault){.kind = JSON_BROKEN, .what = what, .at = j->at};
    return false;
}

/* Goes on behind a word, or takes over what is wrong with it. */
static bool go_on(struct json *j, const char *word_end, const struct json_wrong *wrong)
{
    if (word_end == NULL) {
        j->at = wrong->at;
        return broken(j, wrong->what);
    }
    j->at = word_end;
    return true;
}

static bool twice(struct json *j, struct bytes name)
{
    *j->fault = (struct json_fault){.kind = JSON_TWICE, .name = name};
    return false;
}

static bool no_object(struct json *j, const struct json_member *m)
{
    *j->fault = (struct json_fault){
        .kind = JSON_NO_OBJECT,
        .name = m->name,
        .field = json_paths_field_below(j->paths, m->node),
    };
    return false;
}

/* --- what is taken --- */

static void put(struct json *j, const struct json_member *m, struct bytes text)
{
    for (uint32_t i = m->first_field; i < m->first_field + m->fields; i++)
        j->fields[j->paths->fields[i]] = text;
}

/* A value that is no object or array; null is BYTES_NULL. */
static bool take_scalar(struct json *j, uint32_t member, struct bytes text)
{
    const struct json_member *m = &j->paths->members[member];

    if (m->node != JSON_NONE && text.p != NULL)
        return no_object(j, m);
    put(j, m, text);
    return true;
}

/* The characters of a string, whose quotes are the ends of `word`. */
static struct bytes characters(struct json *j, struct bytes word, bool escaped)
{
    struct bytes inside = {word.p + 1, word.n - 2};
    size_t start = j->scratch->tail;

    if (!escaped)
        return inside;
    json_string_append(inside, j->scratch);
    return (struct bytes){j->scratch->data + start, j->scratch->tail - start};
}

/* --- values --- */

static bool read_string(struct json *j, uint32_t member)
{
    const char *start = j->at;
    struct json_wrong wrong;
    bool escaped;

    if (!go_on(j, json_string_end(start, j->end, &escaped, &wrong), &wrong))
        return false;
    if (member == JSON_NONE)
        return true;
    return take_scalar(j, member,
                       characters(j, (struct bytes){start, (size_t)(j->at - start)}, escaped));
}

static bool read_number(struct json *j, uint32_t member)
{
    const char *start = j->at;
    struct json_wrong wrong;

    if (!go_on(j, json_number_end(start, j->end, &wrong), &wrong))
        return false;
    return member == JSON_NONE ||
           take_scalar(j, member, (struct bytes){start, (size_t)(j->at - start)});
}

static bool read_literal(struct json *j, uint32_t member)
{
    const char *start = j->at;
    struct json_wrong wrong;

    if (!go_on(j, json_literal_end(start, j->end, &wrong), &wrong))
        return false;
    return member == JSON_NONE ||
           take_scalar(j, member,
                       *start == 'n' ? BYTES_NULL : (struct bytes){start, (size_t)(j->at - start)});
}

static bool open_level(struct json *j, uint32_t member, uint32_t node)
{
    bool array = *j->at == '[';

    if (j->depth == JSON_DEPTH_MAX)
        return broken(j, "nested deeper than 64 levels");
    j->levels[j->depth++] = (struct level){
        .start = j->at,
        .member = member,
        .node = node,
        .names = j->others.count,
        .array = array,
        .fresh = true,
    };
    j->at++;
    return true;
}

static bool open_container(struct json *j, uint32_t member)
{
    const struct json_member *m = &j->paths->members[member];

    if (member == JSON_NONE)
        return open_level(j, JSON_NONE, JSON_NONE);
    if (*j->at == '[' && m->node != JSON_NONE)
        return no_object(j, m);
    return open_level(j, member, m->node);
}

static bool close_level(struct json *j)
{
    const struct level *l = &j->levels[--j->depth];
    struct bytes name;

    j->at++;
    if (l->node != JSON_NONE && json_names_any_twice(&j->others, l->names, &name))
        return twice(j, name);
    j->others.count = l->names;
    if (l->member != JSON_NONE)
        put(j, &j->paths->members[l->member], (struct bytes){l->start, (size_t)(j->at - l->start)});
    return true;
}

static bool read_value(struct json *j, uint32_t member)
{
    if (j->at == j->end)
        return broken(j, "it ends too early");
    switch (*j->at) {
    case '"':
        return read_string(j, member);
    case '{':
    case '[':
        return open_container(j, member);
    case '-':
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9':
        return read_number(j, member);
    default:
        return read_literal(j, member);
    }
}

/* --- objects and arrays --- */

static inline void skip_spaces(struct json *j)
{
    while (j->at < j->end && (*j->at == ' ' || *j->at == '\t' || *j->at == '\r' || *j->at == '\n'))
        j->at++;
}

static bool is_next(const struct json *j, char c)
{
    return j->at < j->end && *j->at == c;
}

/* `else_what` says what is expected where something else stands. */
static bool expect(struct json *j, char c, const char *else_what)
{
    skip_spaces(j);
    if (is_next(j, c)) {
        j->at++;
        skip_spaces(j);
        return true;
    }
    return broken(j, j->at == j->end ? "it ends too early" : else_what);
}

/* A member of an object that paths go through. */
static bool know_member(struct json *j, uint32_t node, struct bytes name, uint32_t *ret)
{
    *ret = json_paths_find(j->paths, node, name);
    if (*ret == JSON_NONE) {
        json_names_add(&j->others, name);
        return true;
    }
    if (j->seen[*ret] == j->record)
        return twice(j, name);
    j->seen[*ret] = j->record;
    return true;
}

/* A member's name, and what follows it up to its value. */
static bool read_name(struct json *j, uint32_t node, uint32_t *ret_member)
{
    const char *start = j->at;
    struct json_wrong wrong;
    bool escaped;

    *ret_member = JSON_NONE;
    if (!is_next(j, '"'))
        return broken(j, j->at == j->end ? "it ends too early"
                                         : "a member's name in double quotes is expected");
    if (!go_on(j, json_string_end(start, j->end, &escaped, &wrong), &wrong))
        return false;
    if (node != JSON_NONE &&
        !know_member(j, node,
                     characters(j, (struct bytes){start, (size_t)(j->at - start)}, escaped),
                     ret_member))
        return false;
    return expect(j, ':', "a colon is expected behind a member's name");
}

/* One step within the innermost level: its end, or its next value, which may open
 * another level. */
static bool read_step(struct json *j)
{
    struct level *l = &j->levels[j->depth - 1];
    uint32_t member = JSON_NONE;
    bool fresh = l->fresh;

    skip_spaces(j);
    if (is_next(j, l->array ? ']' : '}'))
        return close_level(j);
    if (!fresh &&
        !expect(j, ',', l->array ? "a comma or ] is expected" : "a comma or } is expected"))
        return false;
    l->fresh = false;
    if (!l->array && !read_name(j, l->node, &member))
        return false;
    return read_value(j, member);
}

static bool read_record(struct json *j)
{
    skip_spaces(j);
    if (!is_next(j, '{'))
        return broken(j, "an object is expected: {\"name\": value, ...}");
    open_level(j, JSON_NONE, JSON_ROOT);
    while (j->depth > 0)
        if (!read_step(j))
            return false;
    skip_spaces(j);
    return j->at == j->end || broken(j, "there is text behind the object");
}

bool json_read(struct json *j, struct bytes record, struct buf *scratch, struct bytes *ret_fields,
               struct json_fault *ret_fault)
{
    assert(record.p != NULL);
    j->record++;
    j->depth = 0;
    j->at = record.p;
    j->end = record.p + record.n;
    j->fields = ret_fields;
    j->scratch = scratch;
    j->fault = ret_fault;
    *ret_fault = (struct json_fault){.kind = JSON_FINE};
    json_names_clear(&j->others);
    for (size_t i = 0; i < j->paths->count; i++)
        ret_fields[i] = BYTES_NULL;
    return read_record(j);
}
