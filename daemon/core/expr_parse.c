#include "core/expr.h"

#include "base/mem.h"
#include "core/expr_lexer.h"

struct parser {
    struct lexer lexer;
    struct token token; /* the next one, not taken yet */
    bool names_ok;
    struct expr_fault *fault;
};

static bool advance(struct parser *p)
{
    return lexer_next(&p->lexer, &p->token, p->fault);
}

static bool at_name(const struct parser *p)
{
    return p->token.kind == TOKEN_NAME || p->token.kind == TOKEN_QUOTED_NAME;
}

static bool at_keyword(const struct parser *p, enum keyword k)
{
    return p->token.kind == TOKEN_KEYWORD && p->token.keyword == k;
}

/* --- faults --- */

/* The token as messages show it: in quotes, unless it has its own. */
#define TOKEN_FORMAT  "%s%.*s%s"
#define TOKEN_ARGS(t) quote_of(t), (int)(t)->text.n, (t)->text.p, quote_of(t)

static const char *quote_of(const struct token *t)
{
    return t->kind == TOKEN_QUOTED_NAME ? "" : "\"";
}

/* What the language has and this version has not. */
static bool not_built(struct parser *p, size_t offset, const char *what)
{
    return expr_fault_at(p->fault, offset, "not in this version: %s (only fields are built yet)",
                         what);
}

static bool operator_not_built(struct parser *p)
{
    return expr_fault_at(p->fault, p->token.offset,
                         "not in this version: " TOKEN_FORMAT " (only fields are built yet)",
                         TOKEN_ARGS(&p->token));
}

static bool nothing_before(struct parser *p)
{
    const struct token *t = &p->token;

    if (t->kind == TOKEN_END)
        return expr_fault_at(p->fault, t->offset, "an expression is missing");
    return expr_fault_at(
        p->fault, t->offset, "an expression is missing before " TOKEN_FORMAT "%s", TOKEN_ARGS(t),
        t->kind == TOKEN_KEYWORD ? " (a field of that name needs double quotes)" : "");
}

static bool unexpected(struct parser *p)
{
    const struct token *t = &p->token;

    if (t->kind == TOKEN_CLOSE)
        return expr_fault_at(p->fault, t->offset, "\")\" without \"(\"");
    if (at_name(p) && p->names_ok)
        return expr_fault_at(p->fault, t->offset,
                             TOKEN_FORMAT " is not expected here (to name a column: as %.*s)",
                             TOKEN_ARGS(t), (int)t->text.n, t->text.p);
    return expr_fault_at(p->fault, t->offset, TOKEN_FORMAT " is not expected here", TOKEN_ARGS(t));
}

/* --- names --- */

static char *text_of(struct buf *b)
{
    char *text = mem_strdup(buf_text(b));
    buf_done(b);
    return text;
}

static char *token_name(const struct token *t)
{
    struct buf name = BUF_EMPTY;

    token_append_name(t, &name);
    return text_of(&name);
}

static bool name_missing(struct parser *p, const char *after)
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
        if (!advance(p))
            return false;
        if (!at_name(p))
            return name_missing(p, ".");
        if (buf_length(path) > 0)
            buf_append_char(path, '.');
        token_append_name(&p->token, path);
        if (!advance(p))
            return false;
    }
    return true;
}

/* `a`, `a.b` or `a.b.c`, where a may be a side or the start of a dotted name: that
 * is for the binder. */
static bool parse_field(struct parser *p, struct expr **ret)
{
    struct token first = p->token;
    struct buf path = BUF_EMPTY;
    struct expr *e;
    bool ok;

    if (!advance(p))
        return false;
    if (p->token.kind == TOKEN_OPEN)
        return first.kind == TOKEN_NAME ? not_built(p, first.offset, "functions") : unexpected(p);
    e = mem_alloc_zeroed(1, sizeof(*e));
    e->kind = EXPR_FIELD;
    e->offset = first.offset;
    e->name = token_name(&first);
    *ret = e; /* the caller's, also when what follows fails */
    if (p->token.kind != TOKEN_DOT)
        return true;
    ok = parse_path(p, &path);
    e->qualifier = e->name;
    e->name = text_of(&path);
    return ok;
}

/* --- expressions --- */

/* Other keywords stand between or behind operands, never before one. */
static bool begins_operand(enum keyword k)
{
    return k == KEYWORD_CASE || k == KEYWORD_FALSE || k == KEYWORD_NOT || k == KEYWORD_NULL ||
           k == KEYWORD_TRUE;
}

static bool joins_operands(enum keyword k)
{
    return k == KEYWORD_AND || k == KEYWORD_BETWEEN || k == KEYWORD_IN || k == KEYWORD_IS ||
           k == KEYWORD_LIKE || k == KEYWORD_NOT || k == KEYWORD_OR;
}

static bool parse_operand(struct parser *p, struct expr **ret)
{
    const struct token *t = &p->token;

    switch (t->kind) {
    case TOKEN_NAME:
    case TOKEN_QUOTED_NAME:
        return parse_field(p, ret);
    case TOKEN_NUMBER:
        return not_built(p, t->offset, "numbers");
    case TOKEN_STRING:
        return not_built(p, t->offset, "strings");
    case TOKEN_OPEN:
        return not_built(p, t->offset, "parentheses");
    case TOKEN_KEYWORD:
        return begins_operand(t->keyword) ? operator_not_built(p) : nothing_before(p);
    case TOKEN_OPERATOR:
        if (t->sign == SIGN_TIMES && p->names_ok)
            return expr_fault_at(p->fault, t->offset,
                                 "\"*\" is no expression (all fields are the default)");
        return t->sign == SIGN_MINUS || t->sign == SIGN_PLUS ? operator_not_built(p)
                                                             : nothing_before(p);
    case TOKEN_COMMA:
    case TOKEN_DOT:
    case TOKEN_CLOSE:
    case TOKEN_END:
        break;
    }
    return nothing_before(p);
}

static bool parse_expr(struct parser *p, struct expr **ret)
{
    if (!parse_operand(p, ret))
        return false;
    if (p->token.kind == TOKEN_OPERATOR ||
        (p->token.kind == TOKEN_KEYWORD && joins_operands(p->token.keyword)))
        return operator_not_built(p);
    return true;
}

static bool parse_item(struct parser *p, struct expr_item *item)
{
    if (!parse_expr(p, &item->expr))
        return false;
    if (!at_keyword(p, KEYWORD_AS))
        return true;
    if (!p->names_ok)
        return expr_fault_at(p->fault, p->token.offset, "\"as\": nothing is named here");
    if (!advance(p))
        return false;
    if (!at_name(p))
        return name_missing(p, "as");
    item->name = token_name(&p->token);
    item->name_offset = p->token.offset;
    return advance(p);
}

static bool parse_items(struct parser *p, struct expr_list *list)
{
    for (;;) {
        size_t comma;

        list->items = mem_realloc(list->items, (list->count + 1) * sizeof(*list->items));
        list->items[list->count++] = (struct expr_item){NULL, NULL, 0};
        if (!parse_item(p, &list->items[list->count - 1]))
            return false;
        if (p->token.kind == TOKEN_END)
            return true;
        if (p->token.kind != TOKEN_COMMA)
            return unexpected(p);
        comma = p->token.offset;
        if (!advance(p))
            return false;
        if (p->token.kind == TOKEN_END)
            return expr_fault_at(p->fault, comma, "an expression is missing after \",\"");
    }
}

bool expr_parse_list(struct bytes text, bool names_ok, struct expr_list *ret,
                     struct expr_fault *ret_fault)
{
    struct parser p = {.lexer = {text, 0}, .names_ok = names_ok, .fault = ret_fault};
    struct expr_list list = {NULL, 0};

    if (!advance(&p) || !parse_items(&p, &list)) {
        expr_list_done(&list);
        return false;
    }
    *ret = list;
    return true;
}

void expr_free(struct expr *e)
{
    if (e == NULL)
        return;
    mem_free(e->qualifier);
    mem_free(e->name);
    mem_free(e);
}

void expr_list_done(struct expr_list *l)
{
    for (size_t i = 0; i < l->count; i++) {
        expr_free(l->items[i].expr);
        mem_free(l->items[i].name);
    }
    mem_free(l->items);
    *l = (struct expr_list){NULL, 0};
}

void expr_write(const struct expr *e, struct buf *to)
{
    switch (e->kind) {
    case EXPR_FIELD:
        expr_write_field(e->qualifier, e->name, to);
        break;
    }
}
