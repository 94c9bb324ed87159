/*
 * The decoder gives the same rows however its input is cut into reads.
 *
 * The first four bytes say how: flags, longest line (8 and above: times are told), longest
 * read, seed. They are printable, so that a corpus file can be read and written by hand. The
 * contract of codec/decoder.h is checked on the way (see transcript.h).
 */
#include <stdbool.h>

#include "fixture.h"
#include "fuzz.h"
#include "transcript.h"

#define OPTIONS 4

enum flag {
    FLAG_HEADER = 1,
    FLAG_MULTILINE = 2,
    FLAG_BROKEN = 4,
    FLAG_NULL_WORD = 8,
    FLAG_SEMICOLON = 16,
    FLAG_REFUSALS = 32,
};

#define LENGTH_TIMED 8

static const size_t lengths[] = {65536, 1, 2, 10, 20, 60, 1000, 1024};

static void set_format(struct input_format *f, unsigned flags, unsigned length, unsigned seed)
{
    f->timed = (length & LENGTH_TIMED) != 0;
    f->time_field = 1 + seed % 2;
    f->header = (flags & FLAG_HEADER) != 0;
    f->multiline = (flags & FLAG_MULTILINE) != 0;
    f->delimiter = (flags & FLAG_SEMICOLON) != 0 ? ';' : ',';
    f->null_text = (flags & FLAG_NULL_WORD) != 0 ? BYTES_LIT("\\N") : BYTES_LIT("");
    f->max_line = lengths[length % (sizeof(lengths) / sizeof(lengths[0]))];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cutting c;
    struct bytes input;
    struct fixture f;

    if (size < OPTIONS)
        return 0;
    input = (struct bytes){(const char *)data + OPTIONS, size - OPTIONS};
    c = (struct cutting){
        .end = (data[0] & FLAG_BROKEN) != 0 ? INPUT_BROKEN : INPUT_ENDED,
        .refusals = (data[0] & FLAG_REFUSALS) != 0,
        .longest = data[2],
        .seed = data[3],
    };
    fixture_open(&f, (data[1] & LENGTH_TIMED) != 0 ? "key, n timestamp_ms, at timestamp, x double"
                                                   : "key, n bigint, at timestamp, x double");
    set_format(&f.format, data[0], data[1], data[3]);
    transcript_check_cuts(&f.format, input, &c);
    fixture_close(&f);
    return 0;
}
