/*
 * lang/expr_lexer: the words of an expression, and how names are spelled.
 *
 * Private to the expression's files and to whoever reads or writes names as
 * expressions do.
 */
#ifndef LANG_EXPR_LEXER_H
#define LANG_EXPR_LEXER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "lang/expr.h"

enum token_kind {
    TOKEN_END, /* of the text */
    TOKEN_NAME,
    TOKEN_QUOTED_NAME, /* a name, whatever is in it */
    TOKEN_NUMBER,
    TOKEN_STRING,
    TOKEN_KEYWORD, /* reserved: a name only if quoted */
    TOKEN_OPERATOR,
    TOKEN_COMMA,
    TOKEN_DOT,
    TOKEN_OPEN, /* ( */
    TOKEN_CLOSE,
};

enum keyword {
    KEYWORD_NONE,
    KEYWORD_AND,
    KEYWORD_AS,
    KEYWORD_BETWEEN,
    KEYWORD_CASE,
    KEYWORD_ELSE,
    KEYWORD_END,
    KEYWORD_FALSE,
    KEYWORD_IN,
    KEYWORD_IS,
    KEYWORD_LIKE,
    KEYWORD_NOT,
    KEYWORD_NULL,
    KEYWORD_OR,
    KEYWORD_THEN,
    KEYWORD_TRUE,
    KEYWORD_WHEN,
};
#define KEYWORDS 17

struct token {
    enum token_kind kind;
    enum keyword keyword;    /* of a TOKEN_KEYWORD */
    enum operator_sign sign; /* of a TOKEN_OPERATOR */
    size_t offset;           /* where it begins */
    struct bytes text;       /* as written, quotes included; points into the lexer's text */
};

struct lexer {
    struct bytes text; /* must outlive the lexer and its tokens */
    size_t at;
};

/* The next token; at the end TOKEN_END, again and again. False: no token can begin
 * or end like this. */
bool lexer_next(struct lexer *l, struct token *ret, struct expr_fault *ret_fault);

/* What a TOKEN_NAME or TOKEN_QUOTED_NAME means: without its quotes. */
void token_append_name(const struct token *t, struct buf *to);

const char *keyword_text(enum keyword k);

/* "+", ...; of SIGN_NONE nothing. */
const char *sign_text(enum operator_sign sign);

/* Appends a name as it has to be written to be read as this name: in quotes unless
 * it is letters, digits and _ and not reserved. */
void expr_write_name(struct bytes name, struct buf *to);
/* `qualifier.name`, or `name` alone if the qualifier is NULL. */
void expr_write_field(const char *qualifier, const char *name, struct buf *to);

/* Sets the fault. Returns false, for `return expr_fault_at(...)`. */
bool expr_fault_at(struct expr_fault *ret, size_t offset, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
