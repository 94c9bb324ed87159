/*
 * lang/expr_leaf: the parser's tokens, and the expressions that have no parts (names,
 * literals). What has parts is expr_parse.c's.
 *
 * What is parsed is put into the slot, and is the caller's also when the parser fails.
 * Each begins with its first token in `p->token`, and leaves the one behind its last there.
 */
#ifndef LANG_EXPR_LEAF_H
#define LANG_EXPR_LEAF_H

#include "lang/expr.h"
#include "lang/expr_lexer.h"

struct parser {
    struct lexer lexer;
    struct token token; /* the next one, not taken yet */
    bool names_ok;
    unsigned depth; /* of expressions within expressions */
    struct expr_fault *fault;
};

/* The token as messages show it: in quotes, unless it has its own. */
#define TOKEN_FORMAT  "%s%.*s%s"
#define TOKEN_ARGS(t) token_quote(t), (int)(t)->text.n, (t)->text.p, token_quote(t)
const char *token_quote(const struct token *t);
char *token_name(const struct token *t); /* the caller's */

bool parser_advance(struct parser *p);
bool parser_at_name(const struct parser *p);
bool parser_at_keyword(const struct parser *p, enum keyword k);
/* Takes `k`, or faults: "then" is missing. */
bool parser_take_keyword(struct parser *p, enum keyword k);
/* Takes the ")" of the "(" at `open`. */
bool parser_close(struct parser *p, size_t open);

/* Parentheses, arguments and signs within each other. What is written of the highest tree
 * has up to two of them for each of its levels: it can be parsed again. */
#define PARSER_DEPTH_MAX (2 * EXPR_HEIGHT_MAX + 2)
/* Goes a step deeper; false, with the fault, if that is too deep. */
bool parser_enter(struct parser *p);

/* These set the fault, and return false. */
bool parser_too_deep(struct parser *p, size_t offset);
bool parser_unexpected(struct parser *p);
bool parser_nothing_before(struct parser *p);
bool parser_name_missing(struct parser *p, const char *after);

/* A name with what its dots lead to; `first` is taken already. */
bool parse_field(struct parser *p, const struct token *first, struct expr **slot);
/* `negative`: behind a minus at `offset`. */
bool parse_number(struct parser *p, bool negative, size_t offset, struct expr **slot);
bool parse_string(struct parser *p, struct expr **slot);
bool parse_word(struct parser *p, struct expr **slot); /* null, true, false */
bool parse_type(struct parser *p, enum value_type *ret);

#endif
