/*
 * The decoder gives the same rows however its input is cut into reads.
 *
 * The first four bytes say how: flags, longest line, longest read, seed. They are
 * printable, so that a corpus file can be read and written by hand. The contract of
 * codec/decoder.h is checked on the way (see transcript.h).
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
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

static const size_t lengths[] = {65536, 1, 2, 10, 20, 60, 1000, 1024};

static void set_format(struct input_format *f, unsigned flags, unsigned length)
{
    f->header = (flags & FLAG_HEADER) != 0;
    f->multiline = (flags & FLAG_MULTILINE) != 0;
    f->delimiter = (flags & FLAG_SEMICOLON) != 0 ? ';' : ',';
    f->null_text = (flags & FLAG_NULL_WORD) != 0 ? BYTES_LIT("\\N") : BYTES_LIT("");
    f->max_line = lengths[length % (sizeof(lengths) / sizeof(lengths[0]))];
}

/* Ascending places within the input, at most `longest` apart. */
static size_t make_cuts(size_t *cuts, size_t n, size_t longest, uint64_t seed)
{
    size_t count = 0;

    for (size_t at = 0; at < n; count++) {
        at += 1 + transcript_random(&seed) % longest;
        cuts[count] = at < n ? at : n;
    }
    return count;
}

static void compare(struct buf *whole, struct buf *cut)
{
    if (bytes_equal(buf_bytes(whole), buf_bytes(cut)))
        return;
    fprintf(stderr, "%s-- but when it is cut --\n%s", buf_text(whole), buf_text(cut));
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf whole = BUF_EMPTY, cut = BUF_EMPTY;
    struct showing how = {.with_lines = true};
    struct bytes input;
    struct fixture f;
    size_t *cuts;

    if (size < OPTIONS)
        return 0;
    input = (struct bytes){(const char *)data + OPTIONS, size - OPTIONS};
    fixture_open(&f, "key, n bigint, at timestamp, x double");
    set_format(&f.format, data[0], data[1]);
    how.end = (data[0] & FLAG_BROKEN) != 0 ? INPUT_BROKEN : INPUT_ENDED;
    transcript_write(&f.format, input, &how, &whole);

    cuts = mem_alloc_zeroed(input.n, sizeof(*cuts));
    how.cuts = cuts;
    how.cut_count = make_cuts(cuts, input.n, (size_t)1 << data[2] % 12, data[3]);
    how.refusals = (data[0] & FLAG_REFUSALS) != 0 ? data[3] + 1u : 0;
    how.end_comes_later = data[3] % 2 == 1;
    transcript_write(&f.format, input, &how, &cut);
    compare(&whole, &cut);

    mem_free(cuts);
    buf_done(&whole);
    buf_done(&cut);
    fixture_close(&f);
    return 0;
}
