#include "config/fields.h"

#include <assert.h>

#include "base/mem.h"
#include "base/nearest.h"
#include "config/scalar.h"
#include "lang/expr_lexer.h"

#define FIELDS_MAX 4096 /* a batch has room for 256 rows of them */

static bool name_too_long(const struct token *t, struct expr_fault *ret_fault)
{
    return expr_fault_at(ret_fault, t->offset, "a name of more than %d bytes", FIELD_NAME_MAX);
}

bool side_name_read(struct bytes text, struct buf *name, struct expr_fault *ret_fault)
{
    struct lexer lexer = {text, 0};
    struct token first, behind;

    if (!lexer_next(&lexer, &first, ret_fault) || !lexer_next(&lexer, &behind, ret_fault))
        return false;
    if ((first.kind != TOKEN_NAME && first.kind != TOKEN_QUOTED_NAME) || behind.kind != TOKEN_END)
        return expr_fault_at(ret_fault, 0,
                             "a name is letters, digits and _ (and none of the words of "
                             "expressions); another one needs double quotes: \"%.*s\"",
                             (int)text.n, text.p);
    token_append_name(&first, name);
    return buf_length(name) <= FIELD_NAME_MAX || name_too_long(&first, ret_fault);
}

static bool no_type(const struct token *t, struct expr_fault *ret_fault)
{
    struct nearest nearest = {.wanted = t->text};
    struct buf names = BUF_EMPTY, hint = BUF_EMPTY;

    for (int i = 0; i < VALUE_TYPES; i++) {
        const char *name = value_type_name((enum value_type)i);
        buf_printf(&names, "%s%s", i > 0 ? ", " : "", name);
        nearest_consider(&nearest, name);
    }
    nearest_hint(&nearest, &hint);
    expr_fault_at(ret_fault, t->offset, "\"%.*s\" is no type%s (types: %s)", (int)t->text.n,
                  t->text.p, buf_text(&hint), buf_text(&names));
    buf_done(&names);
    buf_done(&hint);
    return false;
}

static bool no_field_name(const struct token *t, struct expr_fault *ret_fault)
{
    if (t->kind == TOKEN_KEYWORD)
        return expr_fault_at(ret_fault, t->offset,
                             "\"%.*s\" is a word of expressions: as a name it needs double quotes",
                             (int)t->text.n, t->text.p);
    if (t->kind == TOKEN_NUMBER)
        return expr_fault_at(ret_fault, t->offset,
                             "a name that begins with a digit needs double quotes");
    return expr_fault_at(ret_fault, t->offset, "the name of a field is missing here");
}

static bool no_comma(const struct token *t, bool json, struct expr_fault *ret_fault)
{
    if (t->kind == TOKEN_KEYWORD && t->keyword == KEYWORD_AS && !json)
        return expr_fault_at(ret_fault, t->offset, "\"as\" is for fields of JSON");
    return expr_fault_at(ret_fault, t->offset,
                         "\"%.*s\" is not expected here: write %s, and odd names in double quotes",
                         (int)t->text.n, t->text.p, json ? "path [type] [as name]" : "name [type]");
}

/* What is read of one field. */
struct item {
    struct token first;          /* for messages */
    struct buf path;             /* its names, a dot between them */
    size_t ends[JSON_DEPTH_MAX]; /* of each name, in `path` */
    size_t depth;
    enum value_type type;
    struct buf name; /* empty: the path */
};

static void item_done(struct item *f)
{
    buf_done(&f->path);
    buf_done(&f->name);
}

static struct bytes item_name(const struct item *f)
{
    return buf_bytes(buf_length(&f->name) > 0 ? &f->name : &f->path);
}

static bool is_name(const struct token *t)
{
    return t->kind == TOKEN_NAME || t->kind == TOKEN_QUOTED_NAME;
}

/* Of these functions each begins with its first token in `t`, and leaves the one behind
 * its last one there. */
static bool read_path_name(struct lexer *l, struct token *t, struct item *f,
                           struct expr_fault *ret_fault)
{
    if (!is_name(t))
        return no_field_name(t, ret_fault);
    if (f->depth == JSON_DEPTH_MAX)
        return expr_fault_at(ret_fault, t->offset, "a path of more than %d names", JSON_DEPTH_MAX);
    token_append_name(t, &f->path);
    f->ends[f->depth++] = buf_length(&f->path);
    if (buf_length(&f->path) > FIELD_PATH_MAX)
        return expr_fault_at(ret_fault, t->offset, "a path of more than %d bytes", FIELD_PATH_MAX);
    return lexer_next(l, t, ret_fault);
}

static bool read_path(struct lexer *l, struct token *t, bool json, struct item *f,
                      struct expr_fault *ret_fault)
{
    f->first = *t;
    if (!read_path_name(l, t, f, ret_fault))
        return false;
    while (json && t->kind == TOKEN_DOT) {
        buf_append_char(&f->path, '.');
        if (!lexer_next(l, t, ret_fault) || !read_path_name(l, t, f, ret_fault))
            return false;
    }
    return true;
}

static bool read_type(struct lexer *l, struct token *t, struct item *f,
                      struct expr_fault *ret_fault)
{
    f->type = TYPE_STRING;
    if (t->kind != TOKEN_NAME)
        return true;
    if (!value_type_from_name(t->text, &f->type))
        return no_type(t, ret_fault);
    return lexer_next(l, t, ret_fault);
}

static bool read_as(struct lexer *l, struct token *t, struct item *f, struct expr_fault *ret_fault)
{
    if (t->kind != TOKEN_KEYWORD || t->keyword != KEYWORD_AS)
        return true;
    if (!lexer_next(l, t, ret_fault))
        return false;
    if (!is_name(t))
        return no_field_name(t, ret_fault);
    f->first = *t;
    token_append_name(t, &f->name);
    return lexer_next(l, t, ret_fault);
}

/* One `path [type] [as name]`, or of CSV `name [type]`. */
static bool read_item(struct lexer *l, struct token *t, bool json, struct item *f,
                      struct expr_fault *ret_fault)
{
    if (!read_path(l, t, json, f, ret_fault) || !read_type(l, t, f, ret_fault) ||
        (json && !read_as(l, t, f, ret_fault)))
        return false;
    if (t->kind != TOKEN_COMMA && t->kind != TOKEN_END)
        return no_comma(t, json, ret_fault);
    return true;
}

static void add_path(const struct item *f, struct json_paths *paths)
{
    struct bytes names[JSON_DEPTH_MAX];
    size_t start = 0;

    for (size_t i = 0; i < f->depth; i++) {
        names[i] = (struct bytes){buf_data(&f->path) + start, f->ends[i] - start};
        start = f->ends[i] + 1; /* a dot */
    }
    json_paths_add(paths, names, f->depth);
}

/* Where fields go to. */
struct fields {
    struct schema *schema;
    struct json_paths *paths; /* NULL: CSV */
};

static bool read_field(struct lexer *l, struct token *t, const struct fields *to,
                       struct expr_fault *ret_fault)
{
    struct item f = {.path = BUF_EMPTY, .name = BUF_EMPTY};
    bool ok = read_item(l, t, to->paths != NULL, &f, ret_fault);
    struct bytes name = item_name(&f);
    size_t index;

    if (ok && name.n > FIELD_NAME_MAX)
        ok = name_too_long(&f.first, ret_fault);
    if (ok && schema_find(to->schema, name, &index))
        ok = expr_fault_at(ret_fault, f.first.offset, "the field \"%.*s\" is there twice",
                           (int)name.n, name.p);
    if (ok) {
        schema_add(to->schema, name, f.type);
        if (to->paths != NULL)
            add_path(&f, to->paths);
    }
    item_done(&f);
    return ok;
}

/* To the next comma, or the end; false: there is no reading on. */
static bool skip_field(struct lexer *l, struct token *t)
{
    struct expr_fault ignored;

    while (t->kind != TOKEN_COMMA && t->kind != TOKEN_END)
        if (!lexer_next(l, t, &ignored)) {
            mem_free(ignored.message);
            return false;
        }
    return true;
}

/* Where the format is not known, its fault is told elsewhere: JSON's fields are CSV's too. */
static struct fields fields_of(const struct reading *r, const struct setting *s)
{
    enum side side = section_side(s->section);
    struct input_format *f = &r->config->input[side].format;

    if (r->choice.formats[s->section] != USE_CSV)
        f->paths = json_paths_new();
    return (struct fields){&r->config->plan->side[side].schema, f->paths};
}

bool fields_read(const struct reading *r, const struct setting *s)
{
    const struct fields to = fields_of(r, s);
    struct lexer lexer = {setting_text(s), 0};
    struct token t = {.kind = TOKEN_COMMA};
    struct expr_fault fault;
    bool ok = true;

    assert(s->section == SECTION_LEFT || s->section == SECTION_RIGHT);
    while (t.kind == TOKEN_COMMA) {
        t.kind = TOKEN_NAME; /* if nothing can be read, it is no comma */
        if (lexer_next(&lexer, &t, &fault) && read_field(&lexer, &t, &to, &fault))
            continue;
        report_fault(r, s, &fault);
        ok = false;
        if (!skip_field(&lexer, &t))
            break;
    }
    if (to.schema->count > FIELDS_MAX) {
        report_value(&r->report, s, 0, "more than %d fields", FIELDS_MAX);
        ok = false;
    }
    if (to.paths != NULL)
        json_paths_finish(to.paths);
    return ok;
}

/* --- and writing them --- */

static void write_path(const struct json_path *p, struct buf *to)
{
    for (size_t i = 0; i < p->count; i++) {
        if (i > 0)
            buf_append_char(to, '.');
        expr_write_name(p->names[i], to);
    }
}

/* A field is called by its path, unless `as` says otherwise. */
static bool is_named_by_path(const struct field *f, const struct json_path *p)
{
    struct buf path = BUF_EMPTY;
    bool same;

    for (size_t i = 0; i < p->count; i++) {
        if (i > 0)
            buf_append_char(&path, '.');
        buf_append_bytes(&path, p->names[i]);
    }
    same = bytes_equal(buf_bytes(&path), bytes_of(f->name));
    buf_done(&path);
    return same;
}

void fields_write(const struct input_format *format, const struct schema *schema, struct buf *to)
{
    assert(format->paths == NULL || format->paths->count == schema->count);
    for (size_t i = 0; i < schema->count; i++) {
        const struct field *f = &schema->fields[i];
        const struct json_path *p = format->paths != NULL ? &format->paths->paths[i] : NULL;

        if (i > 0)
            buf_append_text(to, ", ");
        if (p != NULL)
            write_path(p, to);
        else
            expr_write_name(bytes_of(f->name), to);
        buf_printf(to, " %s", value_type_name(f->type));
        if (p != NULL && !is_named_by_path(f, p)) {
            buf_append_text(to, " as ");
            expr_write_name(bytes_of(f->name), to);
        }
    }
}
