/*
 * codec/quoted: records with quotes, by RFC 4180.
 *
 * A quote may open a field; in it, two quotes stand for one; behind the quote that
 * closes it comes a delimiter or the end. A quote anywhere else is a fault.
 */
#ifndef CODEC_QUOTED_H
#define CODEC_QUOTED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/bytes.h"

/* Where a walk over a record stands. */
enum quoting {
    QUOTING_START,  /* of a field */
    QUOTING_BARE,   /* in a field without quotes */
    QUOTING_OPEN,   /* in a quoted field */
    QUOTING_CLOSED, /* behind a quote in a quoted field: it closes it, or a second one follows */
    QUOTING_BAD,    /* a quote in a bare field, or text behind a closing quote */
};

/* Walks on over `text` from `state`. Where it turns bad, *ret_at is set to the
 * place of the byte that is wrong. */
enum quoting quoted_walk(enum quoting state, struct bytes text, char delimiter, size_t *ret_at);

/* Is there a LF outside quotes, before any bad quote? *ret_at is set to its place. */
bool quoted_bare_line_end(struct bytes record, char delimiter, size_t *ret_at);

/* Who takes the fields of a record, one after the other. */
struct quoted_sink {
    void (*put)(void *context, struct bytes field, bool quoted);
    void *context;
};

/* Cuts a whole record (line ends only within quotes) into its fields. They point
 * into it or, where quotes in them were doubled, into `scratch`, which must have
 * room for as many bytes as the record has, so that it does not move. False: the
 * quoting is bad; the sink may have got some fields. */
bool quoted_cut(struct bytes record, char delimiter, struct buf *scratch,
                const struct quoted_sink *sink);

#endif
