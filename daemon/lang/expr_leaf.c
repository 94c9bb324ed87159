#include "lang/expr_leaf.h"

#include <assert.h>

#include "base/mem.h"
#include "base/number.h"
#include "lang/expr_inner.h"

/* --- tokens --- */

bool parser_advance(struct parser *p)
{
    return lexer_next(&p->lexer, &p->token, p->fault);
}

bool parser_at_name(const struct parser *p)
{
    return p->token.kind == TOKEN_NAME || p->token.kind == TOKEN_QUOTED_NAME;
}

bool parser_at_keyword(const struct parser *p, enum keyword k)
{
    return p->token.kind == TOKEN_KEYWORD && p->token.keyword == k;
}

/* --- faults --- */

const char *token_quote(const struct token *t)
{
    return t->kind == TOKEN_QUOTED_NAME ? "" : "\"";
}

bool parser_too_deep(struct parser *p, size_t offset)
{
    return expr_fault_at(p->fault, offset, "too deep: at most %d expressions within each other",
                         EXPR_HEIGHT_MAX);
}

bool parser_enter(struct parser *p)
{
    return p->depth++ < PARSER_DEPTH_MAX || parser_too_deep(p, p->token.offset);
}

bool parser_nothing_before(struct parser *p)
{
    const struct token *t = &p->token;

    if (t->kind == TOKEN_END)
        return expr_fault_at(p->fault, t->offset, "an expression is missing");
    if (parser_at_keyword(p, KEYWORD_NOT))
        return expr_fault_at(p->fault, t->offset,
                             TOKEN_FORMAT " needs parentheses here: (%.*s ...)", TOKEN_ARGS(t),
                             (int)t->text.n, t->text.p);
    return expr_fault_at(
        p->fault, t->offset, "an expression is missing before " TOKEN_FORMAT "%s", TOKEN_ARGS(t),
        t->kind == TOKEN_KEYWORD ? " (a field of that name needs double quotes)" : "");
}

bool parser_unexpected(struct parser *p)
{
    const struct token *t = &p->token;

    if (t->kind == TOKEN_CLOSE)
        return expr_fault_at(p->fault, t->offset, "\")\" without \"(\"");
    if (parser_at_name(p) && p->names_ok && p->depth == 0)
        return expr_fault_at(p->fault, t->offset,
                             TOKEN_FORMAT " is not expected here (to name a column: as %.*s)",
                             TOKEN_ARGS(t), (int)t->text.n, t->text.p);
    return expr_fault_at(p->fault, t->offset, TOKEN_FORMAT " is not expected here", TOKEN_ARGS(t));
}

bool parser_take_keyword(struct parser *p, enum keyword k)
{
    const struct token *t = &p->token;

    if (parser_at_keyword(p, k))
        return parser_advance(p);
    if (t->kind == TOKEN_END)
        return expr_fault_at(p->fault, t->offset, "\"%s\" is missing", keyword_text(k));
    return expr_fault_at(p->fault, t->offset, "\"%s\" is missing before " TOKEN_FORMAT,
                         keyword_text(k), TOKEN_ARGS(t));
}

bool parser_close(struct parser *p, size_t open)
{
    if (p->token.kind == TOKEN_CLOSE)
        return parser_advance(p);
    if (p->token.kind == TOKEN_END)
        return expr_fault_at(p->fault, open, "the \"(\" here has no \")\"");
    return parser_unexpected(p);
}

/* --- names --- */

static char *text_of(struct buf *b)
{
    char *text = mem_strdup(buf_text(b));
    buf_done(b);
    return text;
}

char *token_name(const struct token *t)
{
    struct buf name = BUF_EMPTY;

    token_append_name(t, &name);
    return text_of(&name);
}

bool parser_name_missing(struct parser *p, const char *after)
{
    if (p->token.kind == TOKEN_KEYWORD)
        return expr_fault_at(p->fault, p->token.offset,
                             TOKEN_FORMAT " is a reserved word: as a name it needs double quotes",
                             TOKEN_ARGS(&p->token));
    return expr_fault_at(p->fault, p->token.offset, "a name is missing after \"%s\"", after);
}

/* `.name`, as often as it comes; appends the names with dots between them. */
static bool parse_path(struct parser *p, struct buf *path)
{
    while (p->token.kind == TOKEN_DOT) {
        if (!parser_advance(p))
            return false;
        if (!parser_at_name(p))
            return parser_name_missing(p, ".");
        if (buf_length(path) > 0)
            buf_append_char(path, '.');
        token_append_name(&p->token, path);
        if (!parser_advance(p))
            return false;
    }
    return true;
}

/* `a`, `a.b` or `a.b.c`, where a may be a side or the start of a dotted name: that
 * is for the binder. */
bool parse_field(struct parser *p, const struct token *first, struct expr **slot)
{
    struct expr *e = *slot = expr_new(EXPR_FIELD, first->offset);
    struct buf path = BUF_EMPTY;
    bool ok;

    assert(first->kind == TOKEN_NAME || first->kind == TOKEN_QUOTED_NAME);
    e->name = token_name(first);
    if (p->token.kind != TOKEN_DOT)
        return true;
    ok = parse_path(p, &path);
    e->qualifier = e->name;
    e->name = text_of(&path);
    return ok;
}

bool parse_type(struct parser *p, enum value_type *ret)
{
    struct buf names = BUF_EMPTY;

    if (p->token.kind == TOKEN_NAME && value_type_from_name(p->token.text, ret))
        return parser_advance(p);
    for (int t = 0; t < VALUE_TYPES; t++)
        buf_printf(&names, "%s%s", t > 0 ? ", " : "", value_type_name((enum value_type)t));
    if (p->token.kind == TOKEN_END)
        expr_fault_at(p->fault, p->token.offset, "a type is missing (types: %s)", buf_text(&names));
    else
        expr_fault_at(p->fault, p->token.offset, TOKEN_FORMAT " is no type (types: %s)",
                      TOKEN_ARGS(&p->token), buf_text(&names));
    buf_done(&names);
    return false;
}

/* --- literals --- */

static bool is_whole(struct bytes number)
{
    for (size_t i = 0; i < number.n; i++)
        if (number.p[i] < '0' || number.p[i] > '9')
            return false;
    return true;
}

/* The sign belongs to the number: INT64_MIN could not be written otherwise. */
bool parse_number(struct parser *p, bool negative, size_t offset, struct expr **slot)
{
    struct bytes number = p->token.text;
    struct expr *e = *slot = expr_new(EXPR_LITERAL, offset);
    struct buf text = BUF_EMPTY;
    bool whole = is_whole(number), ok;

    assert(p->token.kind == TOKEN_NUMBER);
    if (negative)
        buf_append_char(&text, '-');
    buf_append_bytes(&text, number);
    e->value.type = e->type = whole ? TYPE_BIGINT : TYPE_DOUBLE;
    ok = whole ? number_read_bigint(buf_bytes(&text), &e->value.bigint)
               : number_read_double(buf_bytes(&text), &e->value.real);
    if (!ok)
        expr_fault_at(p->fault, offset, "%s is too large for a %s%s", buf_text(&text),
                      value_type_name(e->type),
                      whole ? " (with a fraction, as in 1.0, it is a double)" : "");
    buf_done(&text);
    return ok && parser_advance(p);
}

bool parse_string(struct parser *p, struct expr **slot)
{
    const struct token *t = &p->token;
    struct expr *e = *slot = expr_new(EXPR_LITERAL, t->offset);
    size_t n = 0;

    assert(t->kind == TOKEN_STRING && t->text.n >= 2);
    e->text = mem_alloc(t->text.n);
    for (size_t i = 1; i < t->text.n - 1; i++) {
        e->text[n++] = t->text.p[i];
        if (t->text.p[i] == '\'')
            i++; /* it is doubled */
    }
    e->value = (struct value){.type = TYPE_STRING, .text = {e->text, n}};
    e->type = TYPE_STRING;
    return parser_advance(p);
}

bool parse_word(struct parser *p, struct expr **slot)
{
    enum keyword k = p->token.keyword;
    struct expr *e = *slot = expr_new(EXPR_LITERAL, p->token.offset);

    assert(p->token.kind == TOKEN_KEYWORD);
    e->type = k == KEYWORD_NULL ? TYPE_STRING : TYPE_BOOLEAN;
    e->value = (struct value){.type = e->type, .null = k == KEYWORD_NULL};
    if (k != KEYWORD_NULL)
        e->value.boolean = k == KEYWORD_TRUE;
    return parser_advance(p);
}
