/*
 * lang/expr: expressions: text -> syntax -> typed tree -> value.
 *
 * Three steps, three faults that a user can make:
 *
 *     expr_parse_list    text to syntax; faults are of grammar
 *     expr_bind          names to fields, types checked; faults are of meaning
 *     expr_evaluate      over the fields of a pair; faults are of values
 *
 * The language is that of interface.md section 3, with SQL's three-valued logic. A
 * new operator is a new enum expr_kind and a case in parser, binder, evaluator and
 * writer; a new function is a row of the table in expr_functions.c.
 *
 * Names. A field: bare (`amount`), with its side's name (`orders.amount`), quoted
 * where odd (`"odd name"`, a `"` inside doubled). A field's own name may hold dots
 * (`user.id`, a path into a JSON object), and needs no quotes for them; between the
 * field `id` of a side `user` and a field `user.id`, the side's wins. window_start,
 * window_end, left_time and right_time are found only where no field has that name.
 *
 * Types are strict: strings compare with strings only, numbers (bigint and double,
 * mixed as double; epoch types are numbers) with numbers. The type of an expression
 * is an epoch type where its parts agree on one: through coalesce, nullif, case,
 * least and greatest, and through adding or subtracting a plain number; of `epoch -
 * epoch` it is a plain number. A bare null takes the type that its context asks for.
 *
 * What is not needed is not evaluated, so an error in it does not occur: parts of
 * `and` and `or` (left to right, up to the first that decides; also in `between` and
 * `in`), branches of case not taken, arguments of coalesce behind the first that is
 * not NULL. All other operands are evaluated, left to right, also beside a NULL; then
 * one that is NULL makes the result NULL (`null / 0` is NULL).
 */
#ifndef LANG_EXPR_H
#define LANG_EXPR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/diag.h"
#include "lang/schema.h"
#include "lang/side.h"
#include "lang/value.h"

enum expr_kind {
    EXPR_FIELD,
    EXPR_LITERAL,    /* value */
    EXPR_TIME,       /* left_time, right_time: of `side` */
    EXPR_WINDOW,     /* window_start, or window_end if at_end */
    EXPR_NEGATE,     /* - a */
    EXPR_ARITHMETIC, /* a sign b: + - * / % */
    EXPR_CONCAT,     /* a || b || ...: two parts or more */
    EXPR_COMPARE,    /* a sign b: = <> < <= > >= */
    EXPR_AND,        /* two parts or more */
    EXPR_OR,         /* two parts or more */
    EXPR_NOT,        /* not a */
    EXPR_IS_NULL,    /* a is [not] null */
    EXPR_IN,         /* a [not] in (b, ...) */
    EXPR_BETWEEN,    /* a [not] between b and c */
    EXPR_LIKE,       /* a [not] like b */
    EXPR_CASE,       /* condition, result, condition, result, ... and, if odd, else */
    EXPR_CAST,       /* cast(a as type) */
    EXPR_CALL,       /* function(a, ...) */
};

enum operator_sign {
    SIGN_NONE,
    SIGN_PLUS,
    SIGN_MINUS,
    SIGN_TIMES,
    SIGN_DIVIDE,
    SIGN_MODULO,
    SIGN_CONCAT,
    SIGN_EQUAL,
    SIGN_UNEQUAL, /* <> and != */
    SIGN_LESS,
    SIGN_LESS_EQUAL,
    SIGN_GREATER,
    SIGN_GREATER_EQUAL,
};

enum expr_function {
    FUNCTION_ABS,
    FUNCTION_CEIL,
    FUNCTION_CHAR_LENGTH,
    FUNCTION_COALESCE,
    FUNCTION_CONCAT,
    FUNCTION_FLOOR,
    FUNCTION_GREATEST,
    FUNCTION_LEAST,
    FUNCTION_LOWER,
    FUNCTION_MOD,
    FUNCTION_NULLIF,
    FUNCTION_ROUND,
    FUNCTION_SUBSTRING,
    FUNCTION_TRIM,
    FUNCTION_UPPER,
};
#define EXPR_FUNCTIONS 15

/* "abs", ... */
const char *expr_function_name(enum expr_function f);

struct expr {
    enum expr_kind kind;
    size_t offset;        /* in the text that it was parsed from, for messages */
    enum value_type type; /* of the result: set by expr_bind; of an EXPR_CAST by the parser */

    struct expr **parts; /* owned; operands and arguments, in the order of the text */
    size_t part_count;
    unsigned height; /* levels of parts below it: at most EXPR_HEIGHT_MAX */

    enum operator_sign sign;     /* EXPR_ARITHMETIC, EXPR_COMPARE */
    enum expr_function function; /* EXPR_CALL */
    bool negated;                /* EXPR_IS_NULL, _IN, _BETWEEN, _LIKE: with `not` */
    bool at_end;                 /* EXPR_WINDOW */
    bool untyped;                /* a bare null, or made of such, that has no type yet */

    /* EXPR_LITERAL; its type is the class of the expression's type */
    struct value value;
    char *text; /* owned; where a string lies */

    /* EXPR_FIELD, EXPR_TIME, EXPR_WINDOW: as written ... */
    char *qualifier; /* owned; NULL for a bare name */
    char *name;      /* owned */
    /* ... and as bound */
    enum side side;
    size_t field;
};

/* Deeper ones are a fault of grammar: no text can use up the stack. */
#define EXPR_HEIGHT_MAX 100

/* One item of a list: `expr [as name]`. */
struct expr_item {
    struct expr *expr; /* owned */
    char *name;        /* owned; what `as` says, or NULL */
    size_t name_offset;
};

struct expr_list {
    struct expr_item *items; /* owned */
    size_t count;
};

/* A fault, with its place in the text. */
struct expr_fault {
    size_t offset;
    char *message; /* owned by the caller of the function that set it: mem_free() */
};

/* `text` is `expr, ...` or, with `names_ok`, `expr [as name], ...`. Keywords, types
 * and functions: in any case; names of fields and sides are case-sensitive. */
bool expr_parse_list(struct bytes text, bool names_ok, struct expr_list *ret,
                     struct expr_fault *ret_fault);
void expr_list_done(struct expr_list *l);
void expr_free(struct expr *e); /* NULL is fine */

/* What names mean. A side that is NULL cannot be named. */
struct expr_scope {
    const struct schema *schemas[SIDES];
    bool times;   /* left_time and right_time, of the sides that there are: in every select */
    bool windows; /* window_start and window_end: in select of window joins */
};

/* A bare name must be in one of the schemas only; a qualifier is a side's name. May be
 * done again, with another scope, also after a fault. */
bool expr_bind(struct expr *e, const struct expr_scope *scope, struct expr_fault *ret_fault);

/* Of a bound expression: does it name left_time or right_time; a field or the time of
 * the side? */
bool expr_uses_times(const struct expr *e);
bool expr_uses_side(const struct expr *e, enum side side);

/* What the fields of a pair, and what else can be asked of it, are. Times are written
 * within the years 0001 to 9999: a window's end beyond them is given as their end. */
struct expr_input {
    const struct bytes *fields[SIDES]; /* NULL: this side of the row is padded */
    int64_t time[SIDES];               /* of the records: left_time, right_time */
    int64_t window_start, window_end;  /* EXPR_NO_WINDOW: NULL */
    struct expr_memory *memory;        /* where texts that are made lie */
};
#define EXPR_NO_WINDOW INT64_MIN

/* Texts that evaluation makes (concat, upper, casts): a value may point into it until
 * it is reset. It grows to what one row needs, and allocates nothing from then on. */
struct expr_memory;
struct expr_memory *expr_memory_new(void);
void expr_memory_free(struct expr_memory *m); /* NULL is fine */
void expr_memory_reset(struct expr_memory *m);

/* False: evaluating it never takes memory, so none is to be reset. */
bool expr_makes_texts(const struct expr *e);

enum expr_outcome {
    EXPR_OK,
    EXPR_DIVISION_BY_ZERO,
    EXPR_OVERFLOW,   /* of a bigint */
    EXPR_NOT_FINITE, /* a double */
    EXPR_BAD_CAST,
};
#define EXPR_OUTCOMES 5

/* "division by zero", ...: for messages. */
const char *expr_outcome_text(enum expr_outcome o);

/* The value's type is the class of the expression's. Texts in it point into the fields,
 * the memory or the expression. `ret` means something only with EXPR_OK. */
enum expr_outcome expr_evaluate(const struct expr *e, const struct expr_input *in,
                                struct value *ret);

/* As the configuration would spell it; odd names quoted. Parsed again it is the same
 * tree. */
void expr_write(const struct expr *e, struct buf *to);

#endif
