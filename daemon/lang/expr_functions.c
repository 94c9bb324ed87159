#include <assert.h>

#include "lang/expr_inner.h"
#include "lang/word.h"

#define MANY SIZE_MAX

/* By name, as messages list them. */
const struct expr_function_row expr_functions[EXPR_FUNCTIONS] = {
    [FUNCTION_ABS] = {"abs", 1, 1, {ARGUMENT_NUMBER}, RESULT_FIRST, expr_abs},
    [FUNCTION_CEIL] = {"ceil", 1, 1, {ARGUMENT_NUMBER}, RESULT_FIRST, expr_ceil},
    [FUNCTION_CHAR_LENGTH] =
        {"char_length", 1, 1, {ARGUMENT_STRING}, RESULT_BIGINT, expr_char_length},
    [FUNCTION_COALESCE] = {"coalesce", 1, MANY, {ARGUMENT_ANY}, RESULT_COMMON, NULL},
    [FUNCTION_CONCAT] = {"concat",
                         1,
                         MANY,
                         {ARGUMENT_STRING, ARGUMENT_STRING, ARGUMENT_STRING},
                         RESULT_STRING,
                         expr_concat},
    [FUNCTION_FLOOR] = {"floor", 1, 1, {ARGUMENT_NUMBER}, RESULT_FIRST, expr_floor},
    [FUNCTION_GREATEST] = {"greatest", 1, MANY, {ARGUMENT_ANY}, RESULT_COMMON, NULL},
    [FUNCTION_LEAST] = {"least", 1, MANY, {ARGUMENT_ANY}, RESULT_COMMON, NULL},
    [FUNCTION_LOWER] = {"lower", 1, 1, {ARGUMENT_STRING}, RESULT_STRING, expr_lower},
    [FUNCTION_MOD] = {"mod", 2, 2, {ARGUMENT_BIGINT, ARGUMENT_BIGINT}, RESULT_BIGINT, expr_mod},
    [FUNCTION_NULLIF] = {"nullif", 2, 2, {ARGUMENT_ANY}, RESULT_FIRST, NULL},
    [FUNCTION_ROUND] =
        {"round", 1, 2, {ARGUMENT_NUMBER, ARGUMENT_BIGINT}, RESULT_FIRST, expr_round},
    [FUNCTION_SUBSTRING] = {"substring",
                            2,
                            3,
                            {ARGUMENT_STRING, ARGUMENT_BIGINT, ARGUMENT_BIGINT},
                            RESULT_STRING,
                            expr_substring},
    [FUNCTION_TRIM] = {"trim", 1, 1, {ARGUMENT_STRING}, RESULT_STRING, expr_trim},
    [FUNCTION_UPPER] = {"upper", 1, 1, {ARGUMENT_STRING}, RESULT_STRING, expr_upper},
};

const char *expr_function_name(enum expr_function f)
{
    assert((unsigned)f < EXPR_FUNCTIONS);
    return expr_functions[f].name;
}

bool expr_function_find(struct bytes name, enum expr_function *ret)
{
    for (int f = 0; f < EXPR_FUNCTIONS; f++)
        if (word_is(name, expr_functions[f].name)) {
            *ret = (enum expr_function)f;
            return true;
        }
    return false;
}
