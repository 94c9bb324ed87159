/*
 * core/expr: expressions: text -> syntax -> typed tree -> value.
 *
 * Three steps, three faults that a user can make:
 *
 *     expr_parse_list    text to syntax; faults are of grammar
 *     expr_bind          names to fields, types checked; faults are of meaning
 *     expr_evaluate      over the fields of a pair; faults are of values
 *
 * This version's grammar has one kind of operand, the field: bare (`amount`),
 * with its side's name (`orders.amount`), quoted where odd (`"odd name"`, a `"`
 * inside doubled). Whatever else the language will have (interface.md section 3)
 * is refused as "not in this version". Nodes, binder and evaluator are where it
 * goes: a new operand or operator is a new enum expr_kind and a case in each.
 */
#ifndef CORE_EXPR_H
#define CORE_EXPR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/diag.h"
#include "core/schema.h"
#include "core/side.h"
#include "core/value.h"

enum expr_kind {
    EXPR_FIELD,
};

struct expr {
    enum expr_kind kind;
    size_t offset;        /* in the text that it was parsed from, for messages */
    enum value_type type; /* set by expr_bind: of the field, or of the result */

    /* EXPR_FIELD: as written ... */
    char *qualifier; /* owned; NULL for a bare name */
    char *name;      /* owned */
    /* ... and as bound */
    enum side side;
    size_t field;
};

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

/* `text` is `expr, ...` or, with `names_ok`, `expr [as name], ...`. Keywords and
 * names of fields: `as` in any case; names are case-sensitive. */
bool expr_parse_list(struct bytes text, bool names_ok, struct expr_list *ret,
                     struct expr_fault *ret_fault);
void expr_list_done(struct expr_list *l);
void expr_free(struct expr *e); /* NULL is fine */

/* What names mean. A side that is NULL cannot be named. */
struct expr_scope {
    const struct schema *schemas[SIDES];
};

/* A bare name must be in one of the schemas only; a qualifier is a side's name. */
bool expr_bind(struct expr *e, const struct expr_scope *scope, struct expr_fault *ret_fault);

/* The fields of a pair; a side's pointer is NULL where the row is padded. */
struct expr_input {
    const struct bytes *fields[SIDES];
};

enum expr_outcome {
    EXPR_OK,
    EXPR_FAILED, /* division by zero, overflow, ...: none in this version */
};

enum expr_outcome expr_evaluate(const struct expr *e, const struct expr_input *in,
                                struct value *ret);

/* As the configuration would spell it; odd names quoted. */
void expr_write(const struct expr *e, struct buf *to);

#endif
