/*
 * Lines of JSON give the same rows however they are cut into reads, nothing crashes, and
 * each is taken or refused as jansson does, with the same values (see json_judge.h).
 *
 * The first four bytes say how: flags, longest line, longest read, seed. They are
 * printable, so that a corpus file can be read and written by hand.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "fixture.h"
#include "fuzz.h"
#include "json_judge.h"
#include "transcript.h"

#define OPTIONS 4

enum flag {
    FLAG_BROKEN = 1,
    FLAG_REFUSALS = 2,
    FLAG_TYPED = 4,
};

static const size_t lengths[] = {65536, 1, 10, 60, 1000};

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

static void check_cuts(const struct input_format *f, const uint8_t *options, struct bytes input)
{
    struct showing how = {.with_lines = true};
    struct buf whole = BUF_EMPTY, cut = BUF_EMPTY;
    size_t *cuts = mem_alloc_zeroed(input.n, sizeof(*cuts));

    how.end = (options[0] & FLAG_BROKEN) != 0 ? INPUT_BROKEN : INPUT_ENDED;
    transcript_write(f, input, &how, &whole);
    how.cuts = cuts;
    how.cut_count = make_cuts(cuts, input.n, (size_t)1 << options[2] % 12, options[3]);
    how.refusals = (options[0] & FLAG_REFUSALS) != 0 ? options[3] + 1u : 0;
    how.end_comes_later = options[3] % 2 == 1;
    transcript_write(f, input, &how, &cut);
    if (!bytes_equal(buf_bytes(&whole), buf_bytes(&cut))) {
        fprintf(stderr, "%s-- but when it is cut --\n%s", buf_text(&whole), buf_text(&cut));
        abort();
    }
    mem_free(cuts);
    buf_done(&whole);
    buf_done(&cut);
}

static void judge_lines(struct bytes input)
{
    const char *at = input.p, *end = input.p + input.n;
    struct fixture f;

    fixture_open_json(&f, "a, u, u.id, u.x.y, v.id, k");
    while (at < end) {
        const char *lf = memchr(at, '\n', (size_t)(end - at));
        const char *line_end = lf != NULL ? lf : end;

        if (!json_judge(&f, (struct bytes){at, (size_t)(line_end - at)}))
            abort();
        at = lf != NULL ? lf + 1 : end;
    }
    fixture_close(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes input;
    struct fixture f;
    bool typed;

    if (size < OPTIONS)
        return 0;
    input = (struct bytes){(const char *)data + OPTIONS, size - OPTIONS};
    typed = (data[0] & FLAG_TYPED) != 0;
    fixture_open_json(&f,
                      typed ? "a bigint, u.id double, k timestamp, v.id boolean, u.x.y timestamp_s"
                            : "a, u, u.id, u.x.y, v.id, k");
    f.format.max_line = lengths[data[1] % (sizeof(lengths) / sizeof(lengths[0]))];
    check_cuts(&f.format, data, input);
    fixture_close(&f);
    judge_lines(input);
    return 0;
}
