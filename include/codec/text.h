/*
 * codec/text: one value as a piece of a CSV line or of a JSON object.
 *
 * The writers write at a plain pointer and return where they stopped; the caller
 * has reserved the most that can come (text_*_room).
 */
#ifndef CODEC_TEXT_H
#define CODEC_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"

/* How a CSV line is written. */
struct csv_style {
    char delimiter;
    struct bytes null_text;
};

static inline size_t text_csv_room(size_t n)
{
    return 2 * n + 2;
}

/* A field: in quotes where RFC 4180 needs them (delimiter, quote, CR, LF) and where
 * it would read as NULL. */
char *text_write_csv(char *to, struct bytes text, const struct csv_style *style);

/* The same, at the end of a buffer. */
void text_append_csv(struct buf *to, struct bytes text, const struct csv_style *style);

static inline size_t text_json_room(size_t n)
{
    return 6 * n + 2;
}

/* A string in quotes; each maximal ill-formed part becomes one U+FFFD. */
char *text_write_json(char *to, struct bytes text);
void text_append_json(struct buf *to, struct bytes text);

/* A number whose text may have leading zeros, which JSON has not. */
char *text_write_json_number(char *to, struct bytes text);

/* --- rows that were written, found again --- */

/* The bytes up to the end of the last whole row; `rows` starts at a row's start.
 * `quoted`: a LF within quotes ends none (CSV). */
size_t text_rows_end(struct bytes rows, bool quoted);
size_t text_first_row_end(struct bytes rows, bool quoted); /* 0: it is not whole */
uint64_t text_rows_count(struct bytes rows, bool quoted);  /* whole ones */

#endif
