/*
 * codec/input_format: how one side's input is written, as the configuration chose it.
 *
 * Read by all who cut and read records (framer, octets, rows, decoder).
 */
#ifndef CODEC_INPUT_FORMAT_H
#define CODEC_INPUT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"
#include "codec/json_paths.h"
#include "lang/schema.h"

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

/* What is known about the bytes behind those that are shown. */
enum input_end {
    INPUT_GOES_ON, /* more may come */
    INPUT_ENDED,   /* in order: what has no line end is a line */
    INPUT_BROKEN,  /* reset, or cut off by us: what has no line end is rejected */
    INPUT_LEFT,    /* a file that we read no further: what has no line end is not read either */
};

#endif
