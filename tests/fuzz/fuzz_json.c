/*
 * Lines of JSON give the same rows however they are cut into reads, nothing crashes, and
 * each is taken or refused as jansson does, with the same values (see json_judge.h).
 *
 * The first four bytes say how: flags, longest line, longest read, seed. They are
 * printable, so that a corpus file can be read and written by hand.
 */
#include <stdbool.h>
#include <stdlib.h>

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

static void check_cuts(const struct input_format *f, const uint8_t *options, struct bytes input)
{
    const struct cutting c = {
        .end = (options[0] & FLAG_BROKEN) != 0 ? INPUT_BROKEN : INPUT_ENDED,
        .refusals = (options[0] & FLAG_REFUSALS) != 0,
        .longest = options[2],
        .seed = options[3],
    };

    transcript_check_cuts(f, input, &c);
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
    f.format.timed = typed; /* by k or u.x.y */
    f.format.time_field = data[3] % 2 == 0 ? 2 : 4;
    f.format.max_line = lengths[data[1] % (sizeof(lengths) / sizeof(lengths[0]))];
    check_cuts(&f.format, data, input);
    fixture_close(&f);
    judge_lines(input);
    return 0;
}
