/*
 * codec/framer: bytes of one connection -> records, not yet looked into.
 *
 * A record ends at LF; one CR before that is dropped; empty lines are nothing.
 * With `multiline` a line in which a quoted field is open goes on at the next one;
 * where that leads nowhere (bad quoting, longer than max_line, the end of input),
 * the first line alone is given as FRAME_BAD_QUOTES, and the next frame starts at
 * the second.
 *
 * The framer keeps no bytes, only places among those that it will be shown again:
 * so a long record that comes in small pieces is searched once, and an over-long
 * one is thrown away as it comes. Bad quoting costs each byte a few looks at most:
 * a line with an odd number of quotes is looked through to the next such line.
 *
 * Rules: interface.md section 4. (codec/octets makes the same frames of counted bytes.)
 */
#ifndef CODEC_FRAMER_H
#define CODEC_FRAMER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"
#include "codec/input_format.h"

#define FRAME_SHOWN_MAX 1024 /* bytes that are shown of an over-long line */

/* The bytes at hand. */
struct input {
    const char *bytes;
    size_t n;
    enum input_end end;
};

enum frame_kind {
    FRAME_NONE,       /* no whole record; `next` is how far the bytes are done with */
    FRAME_RECORD,     /* may hold line ends with multiline; `quoted` says so for quotes */
    FRAME_TOO_LONG,   /* `line` is its first FRAME_SHOWN_MAX bytes */
    FRAME_UNFINISHED, /* the input broke within it */
    FRAME_BAD_QUOTES, /* multiline: `line` is the first of the lines that do not fit together */
    FRAME_BAD_COUNT,  /* framing = octet: a line without a count; its first KiB if it is too long */
    FRAME_UNWRAPPED,  /* the decoder's: it should have an envelope, and has none */
};

struct frame {
    enum frame_kind kind;
    struct bytes line; /* without its line end; points into the input */
    size_t next;       /* where in the input the next frame starts */
};

struct framer {
    size_t max_line; /* bytes of a record, its line end not counted */
    bool multiline;
    char delimiter;

    bool discarding; /* within an over-long line that was given already */
    size_t searched; /* bytes of the next record in which there is no line end that ends it */
    size_t open;     /* of these: whole lines, behind which a quoted field is open */
};

void framer_init(struct framer *f, size_t max_line, bool multiline, char delimiter);

/* The next record in `in`, from `at` on. When it returned FRAME_NONE, the bytes
 * from its `next` on must be the first ones shown next time, at `at` == 0. */
struct frame framer_next(struct framer *f, const struct input *in, size_t at);

/* Passes over the rest of an over-long line that was given already, if there is one. Returns
 * where it ends; if that is the input's end, more of it may come. */
size_t framer_pass_rest(struct framer *f, const struct input *in, size_t at);

/* Is a record under way that was looked through before? */
static inline bool framer_within_record(const struct framer *f)
{
    return f->discarding || f->searched > 0;
}

/* The next record will be shown again from its start, though it was not finished. */
void framer_forget(struct framer *f);

#endif
