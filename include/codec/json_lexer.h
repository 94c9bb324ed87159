/*
 * codec/json_lexer: the words of JSON, one at a time: strings, numbers, literals.
 *
 * Each function is shown where a word begins and the end of the text, and returns
 * where the word ends; NULL: it is broken, *ret_fault says how and where. Private to
 * codec/json.
 */
#ifndef CODEC_JSON_LEXER_H
#define CODEC_JSON_LEXER_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/bytes.h"

struct json_wrong {
    const char *what; /* static */
    const char *at;
};

/* A string: `p` is at its opening quote, what is returned is behind the closing one. */
const char *json_string_end(const char *p, const char *end, bool *ret_escaped,
                            struct json_wrong *ret_fault);

/* Appends the characters of a string that was found good, without its quotes. There
 * is room for them: they are never more bytes than what stands for them. */
void json_string_append(struct bytes inside, struct buf *to);

const char *json_number_end(const char *p, const char *end, struct json_wrong *ret_fault);

/* true, false or null. */
const char *json_literal_end(const char *p, const char *end, struct json_wrong *ret_fault);

#endif
