#include <stdio.h>

#include "base/mem.h"
#include "base/number.h"
#include "lang/expr_inner.h"
#include "lang/word.h"

bool parser_advance(struct parser *p)
{
    return lexer_next(&p->lexer, &p->token, p->fault);
}

static bool at_name(const struct parser *p)
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

static bool nothing_before(struct parser *p)
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
    if (at_name(p) && p->names_ok && p->depth == 0)
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
        if (!parser_advance(p))
            return false;
        if (!at_name(p))
            return name_missing(p, ".");
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
static bool parse_field(struct parser *p, const struct token *first, struct expr **slot)
{
    struct expr *e = *slot = expr_new(EXPR_FIELD, first->offset);
    struct buf path = BUF_EMPTY;
    bool ok;

    e->name = token_name(first);
    if (p->token.kind != TOKEN_DOT)
        return true;
    ok = parse_path(p, &path);
    e->qualifier = e->name;
    e->name = text_of(&path);
    return ok;
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

static bool parse_string(struct parser *p, struct expr **slot)
{
    const struct token *t = &p->token;
    struct expr *e = *slot = expr_new(EXPR_LITERAL, t->offset);
    size_t n = 0;

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

static bool parse_word(struct parser *p, struct expr **slot)
{
    enum keyword k = p->token.keyword;
    struct expr *e = *slot = expr_new(EXPR_LITERAL, p->token.offset);

    e->type = k == KEYWORD_NULL ? TYPE_STRING : TYPE_BOOLEAN;
    e->value = (struct value){.type = e->type, .null = k == KEYWORD_NULL};
    if (k != KEYWORD_NULL)
        e->value.boolean = k == KEYWORD_TRUE;
    return parser_advance(p);
}

/* --- functions --- */

bool parse_close(struct parser *p, size_t open)
{
    if (p->token.kind == TOKEN_CLOSE)
        return parser_advance(p);
    if (p->token.kind == TOKEN_END)
        return expr_fault_at(p->fault, open, "the \"(\" here has no \")\"");
    return parser_unexpected(p);
}

bool parse_parts(struct parser *p, struct expr *to, size_t open)
{
    for (;;) {
        if (!parse_expression(p, expr_add_part(to)))
            return false;
        if (p->token.kind != TOKEN_COMMA)
            break;
        if (!parser_advance(p))
            return false;
    }
    return expr_grown(to) ? parse_close(p, open) : parser_too_deep(p, to->offset);
}

static bool no_function(struct parser *p, const struct token *name)
{
    struct buf names = BUF_EMPTY;

    for (int f = 0; f < EXPR_FUNCTIONS; f++)
        buf_printf(&names, "%s, ", expr_functions[f].name);
    expr_fault_at(p->fault, name->offset, "no function " TOKEN_FORMAT " (functions: %scast)",
                  TOKEN_ARGS(name), buf_text(&names));
    buf_done(&names);
    return false;
}

static bool wrong_count(struct parser *p, const struct expr *e)
{
    const struct expr_function_row *f = &expr_functions[e->function];
    char wanted[40];

    if (f->max > EXPR_ARGUMENTS_FEW)
        snprintf(wanted, sizeof(wanted), "%zu argument%s or more", f->min, f->min == 1 ? "" : "s");
    else if (f->min < f->max)
        snprintf(wanted, sizeof(wanted), "%zu or %zu arguments", f->min, f->max);
    else
        snprintf(wanted, sizeof(wanted), "%zu argument%s", f->min, f->min == 1 ? "" : "s");
    return expr_fault_at(p->fault, e->offset, "%s takes %s, and here are %zu", f->name, wanted,
                         e->part_count);
}

/* `name` is taken, its "(" is not. */
static bool parse_call(struct parser *p, const struct token *name, struct expr **slot)
{
    struct expr *e = *slot = expr_new(EXPR_CALL, name->offset);
    size_t open = p->token.offset;
    bool ok;

    if (!expr_function_find(name->text, &e->function))
        return no_function(p, name);
    if (!parser_advance(p))
        return false;
    ok = p->token.kind == TOKEN_CLOSE ? parser_advance(p) : parse_parts(p, e, open);
    if (!ok)
        return false;
    if (e->part_count < expr_functions[e->function].min ||
        e->part_count > expr_functions[e->function].max)
        return wrong_count(p, e);
    return true;
}

static bool parse_type(struct parser *p, enum value_type *ret)
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

/* `cast(a as type)`, behind the word. */
static bool parse_cast(struct parser *p, const struct token *name, struct expr **slot)
{
    struct expr *e = *slot = expr_new(EXPR_CAST, name->offset);
    size_t open = p->token.offset;

    if (!parser_advance(p) || !parse_expression(p, expr_add_part(e)))
        return false;
    if (!expr_grown(e))
        return parser_too_deep(p, e->offset);
    return parser_take_keyword(p, KEYWORD_AS) && parse_type(p, &e->type) && parse_close(p, open);
}

static bool parse_named(struct parser *p, struct expr **slot)
{
    struct token name = p->token;

    if (!parser_advance(p))
        return false;
    if (p->token.kind != TOKEN_OPEN)
        return parse_field(p, &name, slot);
    if (name.kind == TOKEN_QUOTED_NAME)
        return parser_unexpected(p);
    return word_is(name.text, "cast") ? parse_cast(p, &name, slot) : parse_call(p, &name, slot);
}

/* --- operands --- */

static bool parse_parentheses(struct parser *p, struct expr **slot)
{
    size_t open = p->token.offset;

    return parser_advance(p) && parse_expression(p, slot) && parse_close(p, open);
}

static bool parse_case(struct parser *p, struct expr **slot)
{
    struct expr *e = *slot = expr_new(EXPR_CASE, p->token.offset);

    if (!parser_advance(p))
        return false;
    if (!parser_at_keyword(p, KEYWORD_WHEN))
        return expr_fault_at(p->fault, p->token.offset,
                             "\"case\" goes on with \"when\": case when ... then ... else ... end");
    while (parser_at_keyword(p, KEYWORD_WHEN))
        if (!parser_advance(p) || !parse_expression(p, expr_add_part(e)) ||
            !parser_take_keyword(p, KEYWORD_THEN) || !parse_expression(p, expr_add_part(e)))
            return false;
    if (parser_at_keyword(p, KEYWORD_ELSE))
        if (!parser_advance(p) || !parse_expression(p, expr_add_part(e)))
            return false;
    return expr_grown(e) ? parser_take_keyword(p, KEYWORD_END) : parser_too_deep(p, e->offset);
}

bool parse_operand(struct parser *p, struct expr **slot)
{
    const struct token *t = &p->token;

    switch (t->kind) {
    case TOKEN_NAME:
    case TOKEN_QUOTED_NAME:
        return parse_named(p, slot);
    case TOKEN_NUMBER:
        return parse_number(p, false, t->offset, slot);
    case TOKEN_STRING:
        return parse_string(p, slot);
    case TOKEN_OPEN:
        return parse_parentheses(p, slot);
    case TOKEN_KEYWORD:
        if (t->keyword == KEYWORD_CASE)
            return parse_case(p, slot);
        if (t->keyword == KEYWORD_NULL || t->keyword == KEYWORD_TRUE || t->keyword == KEYWORD_FALSE)
            return parse_word(p, slot);
        break;
    case TOKEN_OPERATOR:
        if (t->sign == SIGN_TIMES && p->names_ok && p->depth == 1)
            return expr_fault_at(p->fault, t->offset,
                                 "\"*\" is no expression (all fields are the default)");
        break;
    case TOKEN_COMMA:
    case TOKEN_DOT:
    case TOKEN_CLOSE:
    case TOKEN_END:
        break;
    }
    return nothing_before(p);
}

/* --- lists --- */

static bool parse_item(struct parser *p, struct expr_item *item)
{
    if (!parse_expression(p, &item->expr))
        return false;
    if (!parser_at_keyword(p, KEYWORD_AS))
        return true;
    if (!p->names_ok)
        return expr_fault_at(p->fault, p->token.offset, "\"as\": nothing is named here");
    if (!parser_advance(p))
        return false;
    if (!at_name(p))
        return name_missing(p, "as");
    item->name = token_name(&p->token);
    item->name_offset = p->token.offset;
    return parser_advance(p);
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
            return parser_unexpected(p);
        comma = p->token.offset;
        if (!parser_advance(p))
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

    if (!parser_advance(&p) || !parse_items(&p, &list)) {
        expr_list_done(&list);
        return false;
    }
    *ret = list;
    return true;
}
