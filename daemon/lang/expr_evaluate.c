/* Nothing but expr_evaluate() can be seen from outside: tests put another in its place. */
#include <assert.h>

#include "base/number.h"
#include "base/time.h"
#include "lang/expr_inner.h"

static enum expr_outcome give_null(const struct expr *e, struct value *ret)
{
    *ret = (struct value){.type = value_type_class(e->type), .null = true};
    return EXPR_OK;
}

static enum expr_outcome give_boolean(bool answer, struct value *ret)
{
    *ret = (struct value){.type = TYPE_BOOLEAN, .boolean = answer};
    return EXPR_OK;
}

/* `v` is of the class of e's type, or a bigint where that is a double. */
static enum expr_outcome give_as(const struct expr *e, const struct value *v, struct value *ret)
{
    enum value_type class = value_type_class(e->type);

    if (v->null)
        return give_null(e, ret);
    if (v->type == class)
        *ret = *v;
    else
        *ret = (struct value){.type = class, .real = value_real(v)};
    return EXPR_OK;
}

/* --- leaves --- */

static inline struct bytes field_text(const struct expr *e, const struct expr_input *in)
{
    const struct bytes *fields = in->fields[e->side];

    return fields == NULL ? BYTES_NULL : fields[e->field];
}

static enum expr_outcome give_instant(int64_t ms, struct value *ret)
{
    ms = ms < TIME_MS_MIN ? TIME_MS_MIN : ms > TIME_MS_MAX ? TIME_MS_MAX : ms;
    *ret = (struct value){.type = TYPE_TIMESTAMP, .bigint = ms};
    return EXPR_OK;
}

static enum expr_outcome evaluate_time(const struct expr *e, const struct expr_input *in,
                                       struct value *ret)
{
    if (in->fields[e->side] == NULL)
        return give_null(e, ret);
    return give_instant(in->time[e->side], ret);
}

static enum expr_outcome evaluate_window(const struct expr *e, const struct expr_input *in,
                                         struct value *ret)
{
    int64_t ms = e->at_end ? in->window_end : in->window_start;

    return ms == EXPR_NO_WINDOW ? give_null(e, ret) : give_instant(ms, ret);
}

/* --- strict nodes: all parts are evaluated --- */

static enum expr_outcome evaluate_parts(const struct expr *e, const struct expr_input *in,
                                        struct value *args, bool *ret_any_null)
{
    *ret_any_null = false;
    for (size_t i = 0; i < e->part_count; i++) {
        enum expr_outcome o = expr_evaluate(e->parts[i], in, &args[i]);
        if (o != EXPR_OK)
            return o;
        *ret_any_null |= args[i].null;
    }
    return EXPR_OK;
}

static bool sign_holds(enum operator_sign sign, int order)
{
    switch (sign) {
    case SIGN_EQUAL:
        return order == 0;
    case SIGN_UNEQUAL:
        return order != 0;
    case SIGN_LESS:
        return order < 0;
    case SIGN_LESS_EQUAL:
        return order <= 0;
    case SIGN_GREATER:
        return order > 0;
    default:
        return order >= 0;
    }
}

/* What most comparisons are: a field, by its text, with a literal that is not NULL. False: of
 * another kind. */
static bool compare_text(const struct expr *e, struct bytes text, const struct value *literal,
                         int *ret_order)
{
    double real, other;

    switch (value_type_class(e->parts[0]->type)) {
    case TYPE_STRING:
        *ret_order = e->sign == SIGN_EQUAL || e->sign == SIGN_UNEQUAL
                         ? !bytes_equal(text, literal->text)
                         : bytes_compare(text, literal->text);
        return true;
    case TYPE_DOUBLE:
        other = value_real(literal);
        if (!number_read_double(text, &real))
            return false;
        *ret_order = (real > other) - (real < other);
        return true;
    default:
        return false;
    }
}

static enum expr_outcome evaluate_comparison(const struct expr *e, const struct expr_input *in,
                                             struct value *ret)
{
    const struct expr *left = e->parts[0], *right = e->parts[1];
    struct value args[2];
    enum expr_outcome o;
    int order;

    if (left->kind == EXPR_FIELD && right->kind == EXPR_LITERAL && !right->value.null) {
        struct bytes text = field_text(left, in);
        if (text.p != NULL && compare_text(e, text, &right->value, &order))
            return give_boolean(sign_holds(e->sign, order), ret);
    }
    o = expr_evaluate(left, in, &args[0]);
    if (o == EXPR_OK)
        o = expr_evaluate(right, in, &args[1]);
    if (o != EXPR_OK)
        return o;
    if (args[0].null || args[1].null)
        return give_null(e, ret);
    return give_boolean(sign_holds(e->sign, value_compare(&args[0], &args[1])), ret);
}

static enum expr_outcome evaluate_extreme(const struct expr *e, const struct value *args,
                                          struct value *ret)
{
    int sign = e->function == FUNCTION_LEAST ? 1 : -1;
    const struct value *best = &args[0];

    for (size_t i = 1; i < e->part_count; i++)
        if (sign * value_compare(&args[i], best) < 0)
            best = &args[i];
    return give_as(e, best, ret);
}

/* No argument is NULL. */
static enum expr_outcome evaluate_strict(const struct expr *e, const struct expr_input *in,
                                         const struct value *args, struct value *ret)
{
    *ret = (struct value){.type = value_type_class(e->type)};
    switch (e->kind) {
    case EXPR_NEGATE:
        return expr_negate(&args[0], ret);
    case EXPR_ARITHMETIC:
        return expr_arithmetic(e->sign, &args[0], &args[1], ret);
    case EXPR_CONCAT:
        return expr_concat(args, e->part_count, in->memory, ret);
    case EXPR_NOT:
        return give_boolean(!args[0].boolean, ret);
    case EXPR_LIKE:
        return give_boolean(expr_like(args[0].text, args[1].text) != e->negated, ret);
    default:
        break;
    }
    assert(e->kind == EXPR_CALL);
    if (expr_functions[e->function].strict == NULL)
        return evaluate_extreme(e, args, ret);
    return expr_functions[e->function].strict(args, e->part_count, in->memory, ret);
}

static enum expr_outcome evaluate_few(const struct expr *e, const struct expr_input *in,
                                      struct value *ret)
{
    struct value args[EXPR_ARGUMENTS_FEW];
    bool any_null;
    enum expr_outcome o = evaluate_parts(e, in, args, &any_null);

    if (o != EXPR_OK)
        return o;
    return any_null ? give_null(e, ret) : evaluate_strict(e, in, args, ret);
}

static enum expr_outcome evaluate_many(const struct expr *e, const struct expr_input *in,
                                       struct value *ret)
{
    size_t bytes = e->part_count * sizeof(struct value);
    struct value *args = expr_memory_room(in->memory, bytes);
    enum expr_outcome o;
    bool any_null;

    expr_memory_keep(in->memory, bytes);
    o = evaluate_parts(e, in, args, &any_null);
    if (o != EXPR_OK)
        return o;
    return any_null ? give_null(e, ret) : evaluate_strict(e, in, args, ret);
}

static enum expr_outcome evaluate_all(const struct expr *e, const struct expr_input *in,
                                      struct value *ret)
{
    return e->part_count <= EXPR_ARGUMENTS_FEW ? evaluate_few(e, in, ret)
                                               : evaluate_many(e, in, ret);
}

/* A field is there as the text that the output would have. */
static enum expr_outcome evaluate_cast(const struct expr *e, const struct expr_input *in,
                                       struct value *ret)
{
    const struct expr *part = e->parts[0];
    struct value v;
    enum expr_outcome o;

    if (part->kind == EXPR_FIELD && e->type == TYPE_STRING) {
        *ret = value_read(TYPE_STRING, field_text(part, in));
        return EXPR_OK;
    }
    o = expr_evaluate(part, in, &v);
    if (o != EXPR_OK)
        return o;
    return v.null ? give_null(e, ret) : expr_cast(&v, part->type, e->type, in->memory, ret);
}

/* --- what decides as soon as it can --- */

static enum expr_outcome evaluate_logic(const struct expr *e, const struct expr_input *in,
                                        struct value *ret)
{
    bool decisive = e->kind == EXPR_OR, unknown = false;

    for (size_t i = 0; i < e->part_count; i++) {
        struct value v;
        enum expr_outcome o = expr_evaluate(e->parts[i], in, &v);
        if (o != EXPR_OK)
            return o;
        if (v.null)
            unknown = true;
        else if (v.boolean == decisive)
            return give_boolean(decisive, ret);
    }
    return unknown ? give_null(e, ret) : give_boolean(!decisive, ret);
}

static enum expr_outcome evaluate_is_null(const struct expr *e, const struct expr_input *in,
                                          struct value *ret)
{
    struct value v;
    enum expr_outcome o = expr_evaluate(e->parts[0], in, &v);

    return o == EXPR_OK ? give_boolean(v.null != e->negated, ret) : o;
}

/* As a = b or a = c ... */
static enum expr_outcome evaluate_in(const struct expr *e, const struct expr_input *in,
                                     struct value *ret)
{
    struct value v, item;
    bool unknown = false;
    enum expr_outcome o = expr_evaluate(e->parts[0], in, &v);

    if (o != EXPR_OK)
        return o;
    if (v.null)
        return give_null(e, ret);
    for (size_t i = 1; i < e->part_count; i++) {
        o = expr_evaluate(e->parts[i], in, &item);
        if (o != EXPR_OK)
            return o;
        if (item.null)
            unknown = true;
        else if (value_compare(&v, &item) == 0)
            return give_boolean(!e->negated, ret);
    }
    return unknown ? give_null(e, ret) : give_boolean(e->negated, ret);
}

/* As a >= b and a <= c. */
static enum expr_outcome evaluate_between(const struct expr *e, const struct expr_input *in,
                                          struct value *ret)
{
    struct value v, bound;
    bool unknown = false;
    enum expr_outcome o = expr_evaluate(e->parts[0], in, &v);

    if (o != EXPR_OK)
        return o;
    if (v.null)
        return give_null(e, ret);
    for (size_t i = 1; i <= 2; i++) {
        int sign = i == 1 ? 1 : -1;
        o = expr_evaluate(e->parts[i], in, &bound);
        if (o != EXPR_OK)
            return o;
        if (bound.null)
            unknown = true;
        else if (sign * value_compare(&v, &bound) < 0)
            return give_boolean(e->negated, ret);
    }
    return unknown ? give_null(e, ret) : give_boolean(!e->negated, ret);
}

/* --- choices --- */

static enum expr_outcome evaluate_as(const struct expr *e, const struct expr *part,
                                     const struct expr_input *in, struct value *ret)
{
    struct value v;
    enum expr_outcome o = expr_evaluate(part, in, &v);

    return o == EXPR_OK ? give_as(e, &v, ret) : o;
}

static enum expr_outcome evaluate_case(const struct expr *e, const struct expr_input *in,
                                       struct value *ret)
{
    size_t i;

    for (i = 0; i + 1 < e->part_count; i += 2) {
        struct value v;
        enum expr_outcome o = expr_evaluate(e->parts[i], in, &v);
        if (o != EXPR_OK)
            return o;
        if (!v.null && v.boolean)
            return evaluate_as(e, e->parts[i + 1], in, ret);
    }
    return i < e->part_count ? evaluate_as(e, e->parts[i], in, ret) : give_null(e, ret);
}

static enum expr_outcome evaluate_coalesce(const struct expr *e, const struct expr_input *in,
                                           struct value *ret)
{
    for (size_t i = 0; i < e->part_count; i++) {
        enum expr_outcome o = evaluate_as(e, e->parts[i], in, ret);
        if (o != EXPR_OK || !ret->null)
            return o;
    }
    return EXPR_OK;
}

static enum expr_outcome evaluate_nullif(const struct expr *e, const struct expr_input *in,
                                         struct value *ret)
{
    struct value args[2];
    bool any_null;
    enum expr_outcome o = evaluate_parts(e, in, args, &any_null);

    if (o != EXPR_OK)
        return o;
    if (!any_null && value_compare(&args[0], &args[1]) == 0)
        return give_null(e, ret);
    *ret = args[0];
    return EXPR_OK;
}

static enum expr_outcome evaluate_call(const struct expr *e, const struct expr_input *in,
                                       struct value *ret)
{
    switch (e->function) {
    case FUNCTION_COALESCE:
        return evaluate_coalesce(e, in, ret);
    case FUNCTION_NULLIF:
        return evaluate_nullif(e, in, ret);
    default:
        return evaluate_all(e, in, ret);
    }
}

enum expr_outcome expr_evaluate(const struct expr *e, const struct expr_input *in,
                                struct value *ret)
{
    switch (e->kind) {
    case EXPR_FIELD:
        *ret = value_read(e->type, field_text(e, in));
        return EXPR_OK;
    case EXPR_LITERAL:
        *ret = e->value;
        return EXPR_OK;
    case EXPR_TIME:
        return evaluate_time(e, in, ret);
    case EXPR_WINDOW:
        return evaluate_window(e, in, ret);
    case EXPR_AND:
    case EXPR_OR:
        return evaluate_logic(e, in, ret);
    case EXPR_IS_NULL:
        return evaluate_is_null(e, in, ret);
    case EXPR_IN:
        return evaluate_in(e, in, ret);
    case EXPR_BETWEEN:
        return evaluate_between(e, in, ret);
    case EXPR_CASE:
        return evaluate_case(e, in, ret);
    case EXPR_CAST:
        return evaluate_cast(e, in, ret);
    case EXPR_CALL:
        return evaluate_call(e, in, ret);
    case EXPR_COMPARE:
        return evaluate_comparison(e, in, ret);
    case EXPR_NEGATE:
    case EXPR_ARITHMETIC:
    case EXPR_CONCAT:
    case EXPR_NOT:
    case EXPR_LIKE:
        break;
    }
    return evaluate_all(e, in, ret);
}
