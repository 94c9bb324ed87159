/*
 * lang/expr_inner: what the files of expressions tell each other. Private to them.
 *
 *     expr_leaf.c       tokens, names, literals         expr_parse.c      what has parts
 *     expr_bind.c       types                           expr_names.c      fields and sides
 *     expr_evaluate.c   the tree: logic, choices        expr_functions.c  the table of functions
 *     expr_number.c     arithmetic, round               expr_text.c       like, substring, upper
 *     expr_cast.c       cast                            expr_memory.c     where texts are made
 *     expr_node.c       nodes, outcomes                 expr_write.c      a tree as text
 *
 * Functions over values are told from functions over expressions: those here never see
 * a tree. Their arguments are not NULL unless it is said.
 */
#ifndef LANG_EXPR_INNER_H
#define LANG_EXPR_INNER_H

#include "lang/expr.h"

/* --- nodes --- */

/* All else is zero. */
struct expr *expr_new(enum expr_kind kind, size_t offset);
/* Room for one more part, NULL; good until the next part is added. */
struct expr **expr_add_part(struct expr *e);
/* To be asked when a part has been parsed: false if the tree has become too high. */
bool expr_grown(struct expr *e);
/* For assertions, of a whole node: it has the parts of its kind, and they are lower. */
bool expr_ok(const struct expr *e);

/* --- binding --- */

/* Binds a name: makes it an EXPR_FIELD, EXPR_TIME or EXPR_WINDOW. */
bool expr_bind_name(struct expr *e, const struct expr_scope *scope, struct expr_fault *ret_fault);

/* --- functions --- */

enum expr_argument {
    ARGUMENT_ANY,
    ARGUMENT_STRING,
    ARGUMENT_BIGINT,
    ARGUMENT_NUMBER, /* bigint or double */
    ARGUMENT_BOOLEAN,
};

enum expr_result {
    RESULT_FIRST,  /* of the class of the first argument */
    RESULT_COMMON, /* the type that all arguments agree on */
    RESULT_BIGINT,
    RESULT_STRING,
};

/* Of values that are not NULL, to one that is of the right type already. */
typedef enum expr_outcome expr_strict(const struct value *args, size_t count, struct expr_memory *m,
                                      struct value *ret);

#define EXPR_ARGUMENTS_FEW 3

struct expr_function_row {
    const char *name;
    size_t min, max;                                  /* how many arguments */
    enum expr_argument arguments[EXPR_ARGUMENTS_FEW]; /* the last is also for those behind */
    enum expr_result result;
    expr_strict *strict; /* NULL: no such function, the evaluator knows it by its name */
};
extern const struct expr_function_row expr_functions[EXPR_FUNCTIONS];

bool expr_function_find(struct bytes name, enum expr_function *ret);

/* --- memory --- */

/* Room for `n` bytes, aligned for anything; how many are kept is said next. */
void *expr_memory_room(struct expr_memory *m, size_t n);
void expr_memory_keep(struct expr_memory *m, size_t n);

/* --- numbers --- */

/* Both are numbers, of the class that ret->type says, to which they are brought. */
enum expr_outcome expr_arithmetic(enum operator_sign sign, const struct value *a,
                                  const struct value *b, struct value *ret);
enum expr_outcome expr_negate(const struct value *a, struct value *ret);

expr_strict expr_abs, expr_ceil, expr_floor, expr_mod, expr_round;

/* --- texts --- */

expr_strict expr_char_length, expr_concat, expr_lower, expr_substring, expr_trim, expr_upper;
bool expr_like(struct bytes text, struct bytes pattern);

/* --- casts --- */

bool expr_cast_exists(enum value_type from, enum value_type to);
/* `from` is the type of the expression that `v` is of. */
enum expr_outcome expr_cast(const struct value *v, enum value_type from, enum value_type to,
                            struct expr_memory *m, struct value *ret);

#endif
