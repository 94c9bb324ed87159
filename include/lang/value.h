/*
 * lang/value: the types of fields, and one value of one of them.
 *
 * Fields travel and are stored as canonical text: the bytes that joind would
 * write for the value (interface.md section 3, "Output of values"). So equal
 * values of one type are equal bytes, and a record that was canonical when it
 * came is stored and copied as it is. Strings and timestamp_s are canonical as
 * received.
 */
#ifndef LANG_VALUE_H
#define LANG_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/number.h"

enum value_type {
    TYPE_STRING,
    TYPE_BIGINT,
    TYPE_DOUBLE,
    TYPE_BOOLEAN,
    TYPE_TIMESTAMP,    /* RFC 3339 text */
    TYPE_TIMESTAMP_S,  /* epoch seconds, a fraction is allowed */
    TYPE_TIMESTAMP_MS, /* epoch numbers */
    TYPE_TIMESTAMP_US,
    TYPE_TIMESTAMP_NS,
};
#define VALUE_TYPES 9

const char *value_type_name(enum value_type t);
/* False: no such type. */
bool value_type_from_name(struct bytes name, enum value_type *ret);

/* What a type is in comparisons and arithmetic: epoch types are numbers
 * (bigint; timestamp_s, which has fractions, is a double). */
enum value_type value_type_class(enum value_type t);

/* Two classes can be compared: the same, or bigint with double (as double). */
bool value_types_comparable(enum value_type a, enum value_type b);

enum value_check {
    VALUE_BAD,
    VALUE_VALID,     /* of its type; value_append_canonical() rewrites it */
    VALUE_CANONICAL, /* already the bytes that joind writes */
};

/* Is `text` (not NULL) a value of `t`? Epoch types: within the years 0001 to 9999. */
enum value_check value_check(enum value_type t, struct bytes text);

/* Appends the canonical text of `text`, for which value_check() did not say BAD. */
void value_append_canonical(enum value_type t, struct bytes text, struct buf *to);

/* One value, read out of its canonical text. */
struct value {
    enum value_type type; /* a class: string, bigint, double, boolean or timestamp */
    bool null;
    union {
        struct bytes text;
        int64_t bigint; /* also a timestamp's milliseconds */
        double real;
        bool boolean;
    };
};

/* `text` is canonical for `t`, or BYTES_NULL. The value points into `text`. */
struct value value_read(enum value_type t, struct bytes text);

/* <0, 0, >0, of two values that are not NULL and of comparable types: numbers by value
 * (-0 = 0; bigint with double as doubles), strings bytewise, false before true. */
int value_compare(const struct value *a, const struct value *b);

/* A number as a double. */
static inline double value_real(const struct value *v)
{
    return v->type == TYPE_BIGINT ? (double)v->bigint : v->real;
}

/* The canonical text of a value that is not NULL: made at `room`, of VALUE_TEXT_MAX bytes,
 * or the value's own where it is a string. */
#define VALUE_TEXT_MAX NUMBER_TEXT_MAX
struct bytes value_text(const struct value *v, char *room);

void value_append(const struct value *v, struct buf *to);

/* The instant that a canonical text of a timestamp type (not NULL) means, in
 * milliseconds since the epoch; what is below one is cut, towards the past. */
int64_t value_time_ms(enum value_type t, struct bytes text);
/* The same of a computed value: `t` is the type of its expression, `v` its class. False:
 * outside the years 0001 to 9999. */
bool value_instant_ms(enum value_type t, const struct value *v, int64_t *ret_ms);

#endif
