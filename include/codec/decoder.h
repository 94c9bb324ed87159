/*
 * codec/decoder: bytes of one connection or file -> rows.
 *
 * A decoder remembers where its connection stands (inside an over-long line,
 * before or after the header, how far the bytes at hand were searched for a line
 * end), never the bytes themselves: what it did not consume, it is shown again,
 * with more behind it. So any cut of the input into pieces gives the same rows.
 *
 * Rules: interface.md section 4. A bad line costs only itself.
 */
#ifndef CODEC_DECODER_H
#define CODEC_DECODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "codec/json_paths.h"
#include "lang/schema.h"
#include "model/batch.h"

enum input_kind {
    INPUT_CSV,
    INPUT_JSON, /* one object a line */
};

/* How records are cut out of the bytes. interface.md section 2. */
enum framing {
    FRAMING_LINE,  /* by line ends */
    FRAMING_OCTET, /* by counts: `96 <13>1 ...`, RFC 6587 section 3.4.1 */
    FRAMING_AUTO,  /* told apart for each: a count only where digits and a space stand before
                    * `<` or `{` */
};

/* What is round a record, and taken off. */
enum envelope {
    ENVELOPE_NONE,
    ENVELOPE_SYSLOG, /* the header of RFC 5424 or RFC 3164 */
};

/* How one side's input is written. Read by all its decoders; owned by the configuration. */
struct input_format {
    enum input_kind kind;
    const struct schema *schema;
    struct json_paths *paths; /* json: where the schema's fields are; owned by the configuration */
    size_t max_line;          /* bytes, line end not counted */
    enum framing framing;
    enum envelope envelope;
    bool timed; /* the batch tells times: what `time_field`, which has a type of time, says */
    size_t time_field;

    /* csv */
    char delimiter;
    struct bytes null_text; /* the unquoted text that means NULL; n == 0: the empty field */
    bool header;
    bool multiline; /* a quoted field may hold line ends */
};

struct decoder;

/* The format must outlive the decoder. */
struct decoder *decoder_new(const struct input_format *f);
void decoder_free(struct decoder *d);

/* What is known about the bytes behind those that are shown. */
enum input_end {
    INPUT_GOES_ON, /* more may come */
    INPUT_ENDED,   /* in order: what has no line end is a line */
    INPUT_BROKEN,  /* reset, or cut off by us: what has no line end is rejected */
    INPUT_LEFT,    /* a file that we read no further: what has no line end is not read either */
};

/* Fills `b`, which is cleared first, with rows from the start of `bytes`, and
 * returns how many bytes are done with; each row's `consumed` says where it ends.
 * Stops when the batch is full, so call again while it consumes or gives rows.
 * If the engine did not take all rows, show the bytes after the last taken row's
 * `consumed` again, after decoder_rewind(). */
size_t decoder_read(struct decoder *d, const char *bytes, size_t n, enum input_end end,
                    struct batch *b);

/* Says that of the bytes that the last decoder_read() consumed only those up to
 * the end of row `taken` - 1 are done with (`taken` == 0: none). Returns that many. */
size_t decoder_rewind(struct decoder *d, const struct batch *b, size_t taken);

/* A header that lacks or repeats a field makes every line of this connection be
 * rejected; a file ends the start with it. NULL: the header is fine, or none came yet. */
const char *decoder_header_fault(const struct decoder *d);

#endif
