#include <assert.h>
#include <stdio.h>

#include "lang/expr_inner.h"
#include "lang/expr_lexer.h"

struct binder {
    const struct expr_scope *scope;
    struct expr_fault *fault;
};

/* --- types --- */

static enum value_type class_of(const struct expr *e)
{
    return value_type_class(e->type);
}

static bool is_number(enum value_type class)
{
    return class == TYPE_BIGINT || class == TYPE_DOUBLE;
}

/* A number with a unit: not of a plain class, and no RFC 3339 text. */
static bool is_epoch(enum value_type t)
{
    return value_type_class(t) != t;
}

/* To a bare null, and to what is made of nothing else. */
static void give_type(struct expr *e, enum value_type t)
{
    if (!e->untyped)
        return;
    e->untyped = false;
    e->type = t;
    e->value.type = value_type_class(t);
    for (size_t i = 0; i < e->part_count; i++)
        give_type(e->parts[i], t);
}

static void give_types(struct expr *e, enum value_type t)
{
    for (size_t i = 0; i < e->part_count; i++)
        give_type(e->parts[i], t);
}

/* --- faults --- */

static const char *argument_word(enum expr_argument a)
{
    switch (a) {
    case ARGUMENT_STRING:
        return "string";
    case ARGUMENT_BIGINT:
        return "bigint";
    case ARGUMENT_NUMBER:
        return "number";
    case ARGUMENT_BOOLEAN:
        return "condition";
    case ARGUMENT_ANY:
        break;
    }
    return "value";
}

/* What to do about a part that is of another type; "" if there is nothing to do. */
static const char *advice(enum expr_argument wanted, const struct expr *part)
{
    switch (wanted) {
    case ARGUMENT_STRING:
        return " (cast it: cast(x as string))";
    case ARGUMENT_BIGINT:
    case ARGUMENT_NUMBER:
        if (part->type == TYPE_TIMESTAMP)
            return " (cast it, as in cast(x as timestamp_ms), or give the field an epoch type)";
        return wanted == ARGUMENT_NUMBER && part->type == TYPE_STRING
                   ? " (cast it: cast(x as double))"
                   : " (cast it: cast(x as bigint))";
    case ARGUMENT_BOOLEAN:
        return " (a condition is a boolean: compare it with something)";
    case ARGUMENT_ANY:
        break;
    }
    return "";
}

static bool is_argument(enum expr_argument wanted, enum value_type class)
{
    switch (wanted) {
    case ARGUMENT_STRING:
        return class == TYPE_STRING;
    case ARGUMENT_BIGINT:
        return class == TYPE_BIGINT;
    case ARGUMENT_NUMBER:
        return is_number(class);
    case ARGUMENT_BOOLEAN:
        return class == TYPE_BOOLEAN;
    case ARGUMENT_ANY:
        break;
    }
    return true;
}

/* `what` asks for the part to be such a value. */
static bool want(struct binder *b, struct expr *part, enum expr_argument wanted, const char *what)
{
    static const enum value_type types[] = {
        [ARGUMENT_ANY] = TYPE_STRING,      [ARGUMENT_STRING] = TYPE_STRING,
        [ARGUMENT_BIGINT] = TYPE_BIGINT,   [ARGUMENT_NUMBER] = TYPE_BIGINT,
        [ARGUMENT_BOOLEAN] = TYPE_BOOLEAN,
    };

    give_type(part, types[wanted]);
    if (is_argument(wanted, class_of(part)))
        return true;
    return expr_fault_at(b->fault, part->offset, "\"%s\" takes a %s here, and this is a %s%s", what,
                         argument_word(wanted), value_type_name(part->type), advice(wanted, part));
}

static bool want_all(struct binder *b, struct expr *e, enum expr_argument wanted, const char *what)
{
    for (size_t i = 0; i < e->part_count; i++)
        if (!want(b, e->parts[i], wanted, what))
            return false;
    return true;
}

/* Which cast would make the two types go together; VALUE_TYPES: none. */
static int cast_for(enum value_type a, enum value_type b)
{
    if (a == TYPE_STRING || b == TYPE_STRING)
        return (int)(a == TYPE_STRING ? b : a);
    if (a == TYPE_TIMESTAMP || b == TYPE_TIMESTAMP) {
        enum value_type other = a == TYPE_TIMESTAMP ? b : a;
        if (other == TYPE_BOOLEAN)
            return VALUE_TYPES;
        return is_epoch(other) ? TYPE_TIMESTAMP : TYPE_TIMESTAMP_MS;
    }
    return TYPE_BIGINT; /* a boolean and a number */
}

/* `what`: "cannot be compared with", "does not go together with" */
static bool unlike(struct binder *b, const struct expr *first, const struct expr *second,
                   const char *what)
{
    int cast = cast_for(first->type, second->type);
    char hint[64] = "";

    if (cast != VALUE_TYPES)
        snprintf(hint, sizeof(hint), "; cast one: cast(x as %s)",
                 value_type_name((enum value_type)cast));
    return expr_fault_at(b->fault, second->offset, "a %s %s a %s%s", value_type_name(first->type),
                         what, value_type_name(second->type), hint);
}

/* --- parts that go together --- */

/* All parts from the second on are compared with the first. */
static bool bind_comparison(struct binder *b, struct expr *e)
{
    struct expr *first = e->parts[0];

    for (size_t i = 1; i < e->part_count; i++)
        if (!e->parts[i]->untyped) /* the first that is typed decides */
            give_type(first, e->parts[i]->type);
    give_type(first, TYPE_STRING);
    for (size_t i = 1; i < e->part_count; i++) {
        struct expr *part = e->parts[i];
        give_type(part, first->type);
        if (!value_types_comparable(first->type, part->type))
            return unlike(b, first, part, "cannot be compared with");
    }
    return true;
}

/* The type of values of either type. */
static enum value_type common_type(enum value_type a, enum value_type b)
{
    if (a == b)
        return a;
    a = value_type_class(a);
    b = value_type_class(b);
    return a == b ? a : TYPE_DOUBLE;
}

/* What the result may be: all parts of coalesce, least and greatest; of case every
 * second one, and else. */
static bool is_choice(const struct expr *e, size_t part)
{
    return e->kind != EXPR_CASE || part % 2 == 1 || part == e->part_count - 1;
}

/* Sets the type that all choices agree on; choices without one get it. */
static bool bind_choices(struct binder *b, struct expr *e)
{
    const struct expr *first = NULL;

    for (size_t i = 0; i < e->part_count; i++) {
        const struct expr *part = e->parts[i];
        if (!is_choice(e, i) || part->untyped)
            continue;
        if (first == NULL) {
            first = part;
            e->type = part->type;
        } else if (!value_types_comparable(e->type, part->type)) {
            return unlike(b, first, part, "does not go together with");
        }
        e->type = common_type(e->type, part->type);
    }
    e->untyped = first == NULL;
    if (e->untyped)
        e->type = TYPE_STRING;
    else
        give_types(e, e->type);
    return true;
}

static bool bind_case(struct binder *b, struct expr *e)
{
    for (size_t i = 0; i + 1 < e->part_count; i += 2)
        if (!want(b, e->parts[i], ARGUMENT_BOOLEAN, "when"))
            return false;
    return bind_choices(b, e);
}

/* The type is that of the first. */
static bool bind_nullif(struct binder *b, struct expr *e)
{
    struct expr *first = e->parts[0], *second = e->parts[1];

    e->untyped = first->untyped && second->untyped;
    if (!e->untyped && !bind_comparison(b, e))
        return false;
    e->type = first->type;
    return true;
}

/* --- operators --- */

/* The unit stays with what is moved by a plain number. */
static enum value_type sum_type(const struct expr *e, enum value_type class)
{
    enum value_type a = e->parts[0]->type, b = e->parts[1]->type;

    if (is_epoch(a) && !is_epoch(b) && value_type_class(a) == class)
        return a;
    if (is_epoch(b) && !is_epoch(a) && value_type_class(b) == class && e->sign == SIGN_PLUS)
        return b;
    return class;
}

static bool bind_arithmetic(struct binder *b, struct expr *e)
{
    struct expr *first = e->parts[0], *second = e->parts[1];
    bool whole = e->sign == SIGN_MODULO;

    if (!whole && !first->untyped)
        give_type(second, class_of(first));
    if (!whole && !second->untyped)
        give_type(first, class_of(second));
    if (!want_all(b, e, whole ? ARGUMENT_BIGINT : ARGUMENT_NUMBER, sign_text(e->sign)))
        return false;
    e->type = common_type(class_of(first), class_of(second));
    if (e->sign == SIGN_PLUS || e->sign == SIGN_MINUS)
        e->type = sum_type(e, e->type);
    return true;
}

static bool bind_negation(struct binder *b, struct expr *e)
{
    if (!want(b, e->parts[0], ARGUMENT_NUMBER, "-"))
        return false;
    e->type = class_of(e->parts[0]);
    return true;
}

static bool bind_condition(struct binder *b, struct expr *e)
{
    const char *what = e->kind == EXPR_AND ? "and" : e->kind == EXPR_OR ? "or" : "not";

    e->type = TYPE_BOOLEAN;
    return want_all(b, e, ARGUMENT_BOOLEAN, what);
}

static bool bind_predicate(struct binder *b, struct expr *e)
{
    e->type = TYPE_BOOLEAN;
    switch (e->kind) {
    case EXPR_LIKE:
        return want_all(b, e, ARGUMENT_STRING, "like");
    case EXPR_IS_NULL:
        give_type(e->parts[0], TYPE_STRING);
        return true;
    default:
        return bind_comparison(b, e);
    }
}

static bool bind_cast(struct binder *b, struct expr *e)
{
    struct expr *part = e->parts[0];

    give_type(part, e->type);
    if (expr_cast_exists(part->type, e->type))
        return true;
    return expr_fault_at(b->fault, part->offset, "a %s cannot be cast to %s",
                         value_type_name(part->type), value_type_name(e->type));
}

/* --- functions --- */

static bool bind_call(struct binder *b, struct expr *e)
{
    const struct expr_function_row *f = &expr_functions[e->function];

    if (e->function == FUNCTION_NULLIF)
        return bind_nullif(b, e);
    if (f->result == RESULT_COMMON)
        return bind_choices(b, e);
    for (size_t i = 0; i < e->part_count; i++) {
        size_t column = i < EXPR_ARGUMENTS_FEW ? i : EXPR_ARGUMENTS_FEW - 1;
        if (!want(b, e->parts[i], f->arguments[column], f->name))
            return false;
    }
    e->type = f->result == RESULT_STRING   ? TYPE_STRING
              : f->result == RESULT_BIGINT ? TYPE_BIGINT
                                           : class_of(e->parts[0]);
    return true;
}

/* --- the tree --- */

static bool bind_node(struct binder *b, struct expr *e)
{
    switch (e->kind) {
    case EXPR_FIELD:
    case EXPR_TIME:
    case EXPR_WINDOW:
        return expr_bind_name(e, b->scope, b->fault);
    case EXPR_LITERAL:
        e->untyped = e->value.null;
        if (e->untyped)
            e->type = e->value.type = TYPE_STRING;
        return true;
    case EXPR_NEGATE:
        return bind_negation(b, e);
    case EXPR_ARITHMETIC:
        return bind_arithmetic(b, e);
    case EXPR_CONCAT:
        e->type = TYPE_STRING;
        return want_all(b, e, ARGUMENT_STRING, "||");
    case EXPR_AND:
    case EXPR_OR:
    case EXPR_NOT:
        return bind_condition(b, e);
    case EXPR_COMPARE:
    case EXPR_IS_NULL:
    case EXPR_IN:
    case EXPR_BETWEEN:
    case EXPR_LIKE:
        return bind_predicate(b, e);
    case EXPR_CASE:
        return bind_case(b, e);
    case EXPR_CAST:
        return bind_cast(b, e);
    case EXPR_CALL:
        return bind_call(b, e);
    }
    return false;
}

static bool bind(struct binder *b, struct expr *e)
{
    assert(expr_ok(e));
    e->untyped = false;
    for (size_t i = 0; i < e->part_count; i++)
        if (!bind(b, e->parts[i]))
            return false;
    return bind_node(b, e);
}

bool expr_bind(struct expr *e, const struct expr_scope *scope, struct expr_fault *ret_fault)
{
    struct binder b = {scope, ret_fault};

    assert(scope->schemas[SIDE_LEFT] != NULL || scope->schemas[SIDE_RIGHT] != NULL);
    return bind(&b, e);
}
