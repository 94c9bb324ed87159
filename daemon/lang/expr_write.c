#include <assert.h>

#include "base/number.h"
#include "lang/expr_inner.h"
#include "lang/expr_lexer.h"

/* How tight an expression holds together as text. A part that is looser than what its
 * place asks for needs parentheses; more of them are written than the grammar needs
 * where a reader may not know the precedence. */
enum hold {
    HOLD_LOOSE, /* nothing asks for more: within parentheses, between commas */
    HOLD_OR,
    HOLD_AND,
    HOLD_NOT,
    HOLD_PREDICATE,
    HOLD_CONCAT,
    HOLD_SUM,
    HOLD_PRODUCT,
    HOLD_SIGN,
    HOLD_OPERAND,
};

static bool is_negative(const struct value *v)
{
    struct buf text = BUF_EMPTY;
    bool negative;

    if (v->null || (v->type != TYPE_BIGINT && v->type != TYPE_DOUBLE))
        return false;
    value_append(v, &text);
    negative = buf_data(&text)[0] == '-';
    buf_done(&text);
    return negative;
}

static enum hold hold_of(const struct expr *e)
{
    switch (e->kind) {
    case EXPR_OR:
        return HOLD_OR;
    case EXPR_AND:
        return HOLD_AND;
    case EXPR_NOT:
        return HOLD_NOT;
    case EXPR_COMPARE:
    case EXPR_IS_NULL:
    case EXPR_IN:
    case EXPR_BETWEEN:
    case EXPR_LIKE:
        return HOLD_PREDICATE;
    case EXPR_CONCAT:
        return HOLD_CONCAT;
    case EXPR_ARITHMETIC:
        return e->sign == SIGN_PLUS || e->sign == SIGN_MINUS ? HOLD_SUM : HOLD_PRODUCT;
    case EXPR_NEGATE:
        return HOLD_SIGN;
    case EXPR_LITERAL:
        return is_negative(&e->value) ? HOLD_SIGN : HOLD_OPERAND;
    case EXPR_FIELD:
    case EXPR_TIME:
    case EXPR_WINDOW:
    case EXPR_CASE:
    case EXPR_CAST:
    case EXPR_CALL:
        break;
    }
    return HOLD_OPERAND;
}

static void write_part(const struct expr *e, enum hold least, struct buf *to)
{
    bool parentheses = hold_of(e) < least;

    if (parentheses)
        buf_append_char(to, '(');
    expr_write(e, to);
    if (parentheses)
        buf_append_char(to, ')');
}

/* From the part `first` on. */
static void write_parts(const struct expr *e, size_t first, enum hold least, const char *between,
                        struct buf *to)
{
    for (size_t i = first; i < e->part_count; i++) {
        if (i > first)
            buf_append_text(to, between);
        write_part(e->parts[i], least, to);
    }
}

/* --- literals --- */

static void write_string(struct bytes text, struct buf *to)
{
    buf_append_char(to, '\'');
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '\'')
            buf_append_char(to, '\'');
        buf_append_char(to, text.p[i]);
    }
    buf_append_char(to, '\'');
}

/* With a point or an exponent: without, it would be a bigint. */
static void write_double(const struct value *v, struct buf *to)
{
    size_t start = buf_length(to);

    value_append(v, to);
    for (const char *p = buf_data(to) + start; p < buf_data(to) + buf_length(to); p++)
        if (*p == '.' || *p == 'e')
            return;
    buf_append_text(to, ".0");
}

static void write_literal(const struct value *v, struct buf *to)
{
    if (v->null)
        buf_append_text(to, "null");
    else if (v->type == TYPE_STRING)
        write_string(v->text, to);
    else if (v->type == TYPE_DOUBLE)
        write_double(v, to);
    else
        value_append(v, to);
}

/* --- operators --- */

static void write_word(const char *word, struct buf *to)
{
    buf_append_char(to, ' ');
    buf_append_text(to, word);
    buf_append_char(to, ' ');
}

/* The first part and the operator of a predicate. */
static void write_lead(const struct expr *e, const char *word, struct buf *to)
{
    write_part(e->parts[0], HOLD_CONCAT, to);
    buf_append_text(to, e->negated ? " not" : "");
    write_word(word, to);
}

/* A minus before digits would be part of the number. */
static void write_negation(const struct expr *part, struct buf *to)
{
    bool parentheses = part->kind == EXPR_LITERAL || hold_of(part) < HOLD_OPERAND;

    buf_append_text(to, parentheses ? "-(" : "-");
    expr_write(part, to);
    buf_append_text(to, parentheses ? ")" : "");
}

static void write_arithmetic(const struct expr *e, struct buf *to)
{
    enum hold own = hold_of(e);

    write_part(e->parts[0], own, to);
    write_word(sign_text(e->sign), to);
    write_part(e->parts[1], own + 1, to);
}

static void write_case(const struct expr *e, struct buf *to)
{
    size_t i;

    buf_append_text(to, "case");
    for (i = 0; i + 1 < e->part_count; i += 2) {
        buf_append_text(to, " when ");
        expr_write(e->parts[i], to);
        buf_append_text(to, " then ");
        expr_write(e->parts[i + 1], to);
    }
    if (i < e->part_count) {
        buf_append_text(to, " else ");
        expr_write(e->parts[i], to);
    }
    buf_append_text(to, " end");
}

static void write_predicate(const struct expr *e, struct buf *to)
{
    switch (e->kind) {
    case EXPR_IS_NULL:
        write_part(e->parts[0], HOLD_CONCAT, to);
        buf_append_text(to, e->negated ? " is not null" : " is null");
        break;
    case EXPR_IN:
        write_lead(e, "in", to);
        buf_append_char(to, '(');
        write_parts(e, 1, HOLD_LOOSE, ", ", to);
        buf_append_char(to, ')');
        break;
    case EXPR_BETWEEN:
        write_lead(e, "between", to);
        write_parts(e, 1, HOLD_CONCAT, " and ", to);
        break;
    case EXPR_LIKE:
        write_lead(e, "like", to);
        write_part(e->parts[1], HOLD_CONCAT, to);
        break;
    default:
        write_lead(e, sign_text(e->sign), to);
        write_part(e->parts[1], HOLD_CONCAT, to);
        break;
    }
}

/* --- functions --- */

static void write_call(const struct expr *e, struct buf *to)
{
    buf_append_text(to, e->kind == EXPR_CAST ? "cast" : expr_function_name(e->function));
    buf_append_char(to, '(');
    write_parts(e, 0, HOLD_LOOSE, ", ", to);
    if (e->kind == EXPR_CAST)
        buf_printf(to, " as %s", value_type_name(e->type));
    buf_append_char(to, ')');
}

void expr_write(const struct expr *e, struct buf *to)
{
    assert(expr_ok(e));
    switch (e->kind) {
    case EXPR_FIELD:
    case EXPR_TIME:
    case EXPR_WINDOW:
        expr_write_field(e->qualifier, e->name, to);
        break;
    case EXPR_LITERAL:
        write_literal(&e->value, to);
        break;
    case EXPR_NEGATE:
        write_negation(e->parts[0], to);
        break;
    case EXPR_ARITHMETIC:
        write_arithmetic(e, to);
        break;
    case EXPR_CONCAT:
        write_parts(e, 0, HOLD_SUM, " || ", to);
        break;
    case EXPR_OR:
        write_parts(e, 0, HOLD_NOT, " or ", to); /* also round and, for the reader */
        break;
    case EXPR_AND:
        write_parts(e, 0, HOLD_NOT, " and ", to);
        break;
    case EXPR_NOT:
        buf_append_text(to, "not ");
        write_part(e->parts[0], HOLD_SIGN, to);
        break;
    case EXPR_COMPARE:
    case EXPR_IS_NULL:
    case EXPR_IN:
    case EXPR_BETWEEN:
    case EXPR_LIKE:
        write_predicate(e, to);
        break;
    case EXPR_CASE:
        write_case(e, to);
        break;
    case EXPR_CAST:
    case EXPR_CALL:
        write_call(e, to);
        break;
    }
}
