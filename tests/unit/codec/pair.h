/*
 * A join of two lines: they are decoded, stored as records, and encoded as one
 * result, the whole way that a record goes.
 *
 *     pair_open(&p, "id, n bigint", "id, text");
 *     pair_select(&p, "left.id, text as t");
 *     p.output.kind = OUTPUT_JSON;
 *     pair_encode(&p, "k,1", "k,x", &text);
 */
#ifndef PAIR_H
#define PAIR_H

#include "base/buf.h"
#include "codec/decoder.h"
#include "codec/encoder.h"
#include "model/plan.h"

/* Both records have this time, and lie in the window [0, 10 s). */
#define PAIR_TIME 1234

struct pair {
    struct plan *plan;
    struct input_format input[SIDES]; /* to be changed before lines are read */
    struct output_format output;      /* its select is owned */
};

void pair_open(struct pair *p, const char *left_fields, const char *right_fields);
void pair_close(struct pair *p);

/* Columns are called as they are written, unless `as` says how. */
void pair_select(struct pair *p, const char *select);

/* Appends the row of two lines (NULL: that side is padded), each good for its side. */
void pair_encode(struct pair *p, const char *left, const char *right, struct buf *to);

/* The same for lines that may hold anything, one after the other. */
void pair_encode_bytes(struct pair *p, const struct bytes lines[SIDES], struct buf *to);

/* The same where an expression may fail: false then, and why is appended. */
bool pair_try_bytes(struct pair *p, const struct bytes lines[SIDES], struct buf *to);

#endif
