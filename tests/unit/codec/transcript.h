/*
 * Shows an input to a decoder, cut into pieces, and writes down the rows that come,
 * one a line:
 *
 *     = [k1][12]-        a row that may be stored verbatim; `-` is a NULL field
 *     ~ [k1][a,b]        a good row that may not
 *     ! type k1,x: ...   a rejected one: reason, line, detail
 *
 * On the way it holds the decoder to its contract (codec/decoder.h) with assert().
 * Every piece is shown at another address, and ends where its memory ends.
 */
#ifndef TRANSCRIPT_H
#define TRANSCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "codec/decoder.h"

struct showing {
    const size_t *cuts;   /* ascending: how many bytes have come by each read */
    size_t cut_count;     /* after the last one come all, and the end */
    enum input_end end;   /* in the end: ENDED or BROKEN */
    bool end_comes_later; /* all bytes are shown once more before the end is known */
    uint64_t refusals;    /* not 0: seed; the engine refuses rows at random */
    bool with_lines;      /* also write the lines of good rows */
};

/* Appends the rows to `to`. */
void transcript_write(const struct input_format *f, struct bytes input, const struct showing *s,
                      struct buf *to);

/* The rows of an input that is shown at once, with its end. The text is `to`'s. */
const char *transcript_at_once(const struct input_format *f, const char *text, size_t n,
                               enum input_end end, struct buf *to);

/* What a fuzzer's bytes say of the pieces. */
struct cutting {
    enum input_end end;
    bool refusals;
    uint8_t longest, seed; /* pieces have at most 2^(longest % 12) bytes */
};

/* Aborts, and prints both, where the rows of the input at once and in pieces differ. */
void transcript_check_cuts(const struct input_format *f, struct bytes input,
                           const struct cutting *c);

/* Random numbers that are the same on every run. */
uint64_t transcript_random(uint64_t *state);

#endif
