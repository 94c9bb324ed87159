#include <assert.h>
#include <stdio.h>

#include "base/mem.h"
#include "lang/expr_inner.h"
#include "lang/expr_leaf.h"
#include "lang/word.h"

/* What is parsed is put into the slot, and is the caller's also when the parser fails. */
static bool parse_expression(struct parser *p, struct expr **slot);

/* To be asked when a part has been parsed. */
static bool grown(struct parser *p, struct expr *e)
{
    return expr_grown(e) || parser_too_deep(p, e->offset);
}

/* --- functions --- */

/* `expr, ... )`, behind its "("; the parts are added to `to`. */
static bool parse_parts(struct parser *p, struct expr *to, size_t open)
{
    for (;;) {
        if (!parse_expression(p, expr_add_part(to)))
            return false;
        if (p->token.kind != TOKEN_COMMA)
            break;
        if (!parser_advance(p))
            return false;
    }
    return grown(p, to) && parser_close(p, open);
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

/* `cast(a as type)`, behind the word. */
static bool parse_cast(struct parser *p, const struct token *name, struct expr **slot)
{
    struct expr *e = *slot = expr_new(EXPR_CAST, name->offset);
    size_t open = p->token.offset;

    if (!parser_advance(p) || !parse_expression(p, expr_add_part(e)) || !grown(p, e))
        return false;
    return parser_take_keyword(p, KEYWORD_AS) && parse_type(p, &e->type) && parser_close(p, open);
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

    return parser_advance(p) && parse_expression(p, slot) && parser_close(p, open);
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
    return grown(p, e) && parser_take_keyword(p, KEYWORD_END);
}

static bool parse_operand(struct parser *p, struct expr **slot)
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
    return parser_nothing_before(p);
}

/* --- operators --- */

/* What binds tighter comes later. Between operands of one level the left ones are taken
 * together first; predicates do not go on (`a < b < c`), but for `is null`. */
enum level {
    LEVEL_NONE, /* no operator */
    LEVEL_OR,
    LEVEL_AND,
    LEVEL_NOT,
    LEVEL_PREDICATE,
    LEVEL_CONCAT,
    LEVEL_SUM,
    LEVEL_PRODUCT,
    LEVEL_SIGN, /* unary minus */
};

static enum level sign_level(enum operator_sign sign)
{
    switch (sign) {
    case SIGN_NONE:
        return LEVEL_NONE;
    case SIGN_CONCAT:
        return LEVEL_CONCAT;
    case SIGN_PLUS:
    case SIGN_MINUS:
        return LEVEL_SUM;
    case SIGN_TIMES:
    case SIGN_DIVIDE:
    case SIGN_MODULO:
        return LEVEL_PRODUCT;
    case SIGN_EQUAL:
    case SIGN_UNEQUAL:
    case SIGN_LESS:
    case SIGN_LESS_EQUAL:
    case SIGN_GREATER:
    case SIGN_GREATER_EQUAL:
        break;
    }
    return LEVEL_PREDICATE;
}

/* Of the operator that the next token is, or begins. */
static enum level token_level(const struct token *t)
{
    if (t->kind == TOKEN_OPERATOR)
        return sign_level(t->sign);
    if (t->kind != TOKEN_KEYWORD)
        return LEVEL_NONE;
    switch (t->keyword) {
    case KEYWORD_OR:
        return LEVEL_OR;
    case KEYWORD_AND:
        return LEVEL_AND;
    case KEYWORD_BETWEEN:
    case KEYWORD_IN:
    case KEYWORD_IS:
    case KEYWORD_LIKE:
    case KEYWORD_NOT: /* behind an operand: not in, not between, not like */
        return LEVEL_PREDICATE;
    default:
        return LEVEL_NONE;
    }
}

static enum expr_kind level_kind(enum level level)
{
    switch (level) {
    case LEVEL_OR:
        return EXPR_OR;
    case LEVEL_AND:
        return EXPR_AND;
    case LEVEL_CONCAT:
        return EXPR_CONCAT;
    default:
        return EXPR_ARITHMETIC;
    }
}

/* A new node, whose first part is what is in the slot, takes its place. */
static struct expr *wrap(struct expr **slot, enum expr_kind kind)
{
    struct expr *e = expr_new(kind, (*slot)->offset);

    *expr_add_part(e) = *slot;
    *slot = e;
    return e;
}

static bool parse_level(struct parser *p, struct expr **slot, enum level level);

static bool parse_next_part(struct parser *p, struct expr *e, enum level level)
{
    return parse_level(p, expr_add_part(e), level);
}

/* --- predicates --- */

static bool parse_compare(struct parser *p, struct expr **slot)
{
    struct expr *e = wrap(slot, EXPR_COMPARE);

    e->sign = p->token.sign;
    return parser_advance(p) && parse_next_part(p, e, LEVEL_CONCAT);
}

/* `is [not] null`; the standard has more that may follow `is`. */
static bool parse_is_null(struct parser *p, struct expr **slot)
{
    struct expr *e = wrap(slot, EXPR_IS_NULL);

    if (!parser_advance(p))
        return false;
    e->negated = parser_at_keyword(p, KEYWORD_NOT);
    if (e->negated && !parser_advance(p))
        return false;
    if (parser_at_keyword(p, KEYWORD_NULL))
        return parser_advance(p);
    return expr_fault_at(p->fault, p->token.offset, "\"is\" goes on with \"null\" or \"not null\"");
}

static bool parse_in(struct parser *p, struct expr *e)
{
    size_t open = p->token.offset;

    if (p->token.kind != TOKEN_OPEN)
        return expr_fault_at(p->fault, open, "\"in\" needs a list in parentheses: in (1, 2)");
    return parser_advance(p) && parse_parts(p, e, open);
}

static bool parse_between(struct parser *p, struct expr *e)
{
    return parse_next_part(p, e, LEVEL_CONCAT) && parser_take_keyword(p, KEYWORD_AND) &&
           parse_next_part(p, e, LEVEL_CONCAT);
}

/* `[not] in`, `[not] between`, `[not] like` */
static bool parse_negatable(struct parser *p, struct expr **slot)
{
    bool negated = parser_at_keyword(p, KEYWORD_NOT);
    struct expr *e;

    if (negated && !parser_advance(p))
        return false;
    e = wrap(slot, EXPR_LIKE);
    e->negated = negated;
    if (parser_at_keyword(p, KEYWORD_LIKE))
        return parser_advance(p) && parse_next_part(p, e, LEVEL_CONCAT);
    if (parser_at_keyword(p, KEYWORD_IN)) {
        e->kind = EXPR_IN;
        return parser_advance(p) && parse_in(p, e);
    }
    if (parser_at_keyword(p, KEYWORD_BETWEEN)) {
        e->kind = EXPR_BETWEEN;
        return parser_advance(p) && parse_between(p, e);
    }
    return expr_fault_at(p->fault, p->token.offset,
                         "\"not\" behind an operand goes on with \"in\", \"between\" or \"like\"");
}

static bool parse_predicate(struct parser *p, struct expr **slot)
{
    bool first = true;

    if (!parse_level(p, slot, LEVEL_CONCAT))
        return false;
    for (; token_level(&p->token) == LEVEL_PREDICATE; first = false) {
        bool ok;
        if (parser_at_keyword(p, KEYWORD_IS))
            ok = parse_is_null(p, slot);
        else if (!first)
            return expr_fault_at(p->fault, p->token.offset,
                                 TOKEN_FORMAT " cannot follow a condition: it needs \"and\" or "
                                              "parentheses",
                                 TOKEN_ARGS(&p->token));
        else if (p->token.kind == TOKEN_OPERATOR)
            ok = parse_compare(p, slot);
        else
            ok = parse_negatable(p, slot);
        if (!ok || !grown(p, *slot))
            return false;
    }
    return true;
}

/* --- the others --- */

static bool parse_not(struct parser *p, struct expr **slot)
{
    struct expr *e;

    if (!parser_at_keyword(p, KEYWORD_NOT))
        return parse_predicate(p, slot);
    e = *slot = expr_new(EXPR_NOT, p->token.offset);
    if (!parser_enter(p) || !parser_advance(p) || !parse_next_part(p, e, LEVEL_NOT))
        return false;
    p->depth--;
    return grown(p, e);
}

static bool parse_sign(struct parser *p, struct expr **slot)
{
    size_t offset = p->token.offset;
    struct expr *e;

    if (p->token.kind != TOKEN_OPERATOR || p->token.sign != SIGN_MINUS)
        return parse_operand(p, slot);
    if (!parser_advance(p))
        return false;
    if (p->token.kind == TOKEN_NUMBER)
        return parse_number(p, true, offset, slot);
    e = *slot = expr_new(EXPR_NEGATE, offset);
    if (!parser_enter(p) || !parse_next_part(p, e, LEVEL_SIGN))
        return false;
    p->depth--;
    return grown(p, e);
}

/* Operands between operators of one level. Chains of and, or and || are one node. */
static bool parse_chain(struct parser *p, struct expr **slot, enum level level)
{
    struct expr *e = NULL;

    if (!parse_level(p, slot, level + 1))
        return false;
    while (token_level(&p->token) == level) {
        if (e == NULL || e->kind == EXPR_ARITHMETIC)
            e = wrap(slot, level_kind(level));
        if (e->kind == EXPR_ARITHMETIC)
            e->sign = p->token.sign;
        if (!parser_advance(p) || !parse_next_part(p, e, level + 1))
            return false;
        if (e->kind == EXPR_ARITHMETIC && !grown(p, e))
            return false;
    }
    return e == NULL || grown(p, e);
}

static bool parse_level(struct parser *p, struct expr **slot, enum level level)
{
    switch (level) {
    case LEVEL_NOT:
        return parse_not(p, slot);
    case LEVEL_PREDICATE:
        return parse_predicate(p, slot);
    case LEVEL_SIGN:
        return parse_sign(p, slot);
    default:
        return parse_chain(p, slot, level);
    }
}

static bool parse_expression(struct parser *p, struct expr **slot)
{
    if (!parser_enter(p) || !parse_level(p, slot, LEVEL_OR))
        return false;
    p->depth--;
    return true;
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
    if (!parser_at_name(p))
        return parser_name_missing(p, "as");
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
    assert(p.depth == 0 && p.token.kind == TOKEN_END && list.count > 0);
    *ret = list;
    return true;
}
