#include "config/fields.h"

#include "base/mem.h"
#include "core/expr_lexer.h"

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
    struct buf names = BUF_EMPTY;

    for (int i = 0; i < VALUE_TYPES; i++)
        buf_printf(&names, "%s%s", i > 0 ? ", " : "", value_type_name((enum value_type)i));
    expr_fault_at(ret_fault, t->offset, "\"%.*s\" is no type (types: %s)", (int)t->text.n,
                  t->text.p, buf_text(&names));
    buf_done(&names);
    return false;
}

static bool no_field_name(const struct token *t, struct expr_fault *ret_fault)
{
    if (t->kind == TOKEN_KEYWORD)
        return expr_fault_at(ret_fault, t->offset,
                             "\"%.*s\" is a word of expressions: as a name it needs double quotes",
                             (int)t->text.n, t->text.p);
    return expr_fault_at(ret_fault, t->offset, "the name of a field is missing here");
}

static bool no_comma(const struct token *t, struct expr_fault *ret_fault)
{
    if (t->kind == TOKEN_KEYWORD && t->keyword == KEYWORD_AS)
        return expr_fault_at(ret_fault, t->offset, "\"as\" is for fields of JSON");
    return expr_fault_at(ret_fault, t->offset,
                         "\"%.*s\" is not expected here: write name [type], and odd names in "
                         "double quotes",
                         (int)t->text.n, t->text.p);
}

/* One `name [type]`; the token behind it is in `t` then. */
static bool read_field(struct lexer *l, struct token *t, struct schema *schema,
                       struct expr_fault *ret_fault)
{
    struct token name = *t;
    struct buf text = BUF_EMPTY;
    enum value_type type = TYPE_STRING;
    size_t index;
    bool ok = true;

    if (name.kind != TOKEN_NAME && name.kind != TOKEN_QUOTED_NAME)
        return no_field_name(&name, ret_fault);
    if (!lexer_next(l, t, ret_fault))
        return false;
    if (t->kind == TOKEN_NAME) {
        if (!value_type_from_name(t->text, &type))
            return no_type(t, ret_fault);
        if (!lexer_next(l, t, ret_fault))
            return false;
    }
    if (t->kind != TOKEN_COMMA && t->kind != TOKEN_END)
        return no_comma(t, ret_fault);
    token_append_name(&name, &text);
    if (buf_length(&text) > FIELD_NAME_MAX)
        ok = name_too_long(&name, ret_fault);
    else if (schema_find(schema, buf_bytes(&text), &index))
        ok = expr_fault_at(ret_fault, name.offset, "the field \"%s\" is there twice",
                           buf_text(&text));
    else
        schema_add(schema, buf_bytes(&text), type);
    buf_done(&text);
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

bool fields_read(const struct reading *r, const struct setting *s, struct schema *schema)
{
    struct lexer lexer = {setting_text(s), 0};
    struct token t = {.kind = TOKEN_COMMA};
    struct expr_fault fault;
    bool ok = true;

    while (t.kind == TOKEN_COMMA) {
        t.kind = TOKEN_NAME; /* if nothing can be read, it is no comma */
        if (lexer_next(&lexer, &t, &fault) && read_field(&lexer, &t, schema, &fault))
            continue;
        report_fault(r, s, &fault);
        ok = false;
        if (!skip_field(&lexer, &t))
            break;
    }
    if (schema->count > FIELDS_MAX) {
        report_value(&r->report, s, 0, "more than %d fields", FIELDS_MAX);
        ok = false;
    }
    return ok;
}
