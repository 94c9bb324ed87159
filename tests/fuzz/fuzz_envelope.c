/*
 * Envelopes: a message lies at its line's end, whatever is wrapped comes out as it was, and
 * rows are the same however the input is cut into reads, framed in any way.
 *
 * The first four bytes say how: flags, framing and longest line, longest read, seed. They are
 * printable, so that a corpus file can be read and written by hand.
 */
#include <stdbool.h>

#undef NDEBUG
#include <assert.h>

#include "base/mem.h"
#include "codec/envelope.h"
#include "fixture.h"
#include "fuzz.h"
#include "transcript.h"

#define OPTIONS 4

enum flag {
    FLAG_HEADER = 1,
    FLAG_JSON = 2,
    FLAG_BROKEN = 4,
    FLAG_REFUSALS = 8,
};

static const size_t lengths[] = {65536, 20, 60, 1024};

/* --- one line --- */

static void check_line(struct bytes line)
{
    struct bytes message;

    if (envelope_open(line, &message) != NULL)
        return;
    assert(envelope_begins(line));
    assert(message.p > line.p && message.p + message.n == line.p + line.n);
}

static void check_lines(struct bytes input)
{
    const char *at = input.p, *end = input.p + input.n;

    while (at < end) {
        const char *lf = memchr(at, '\n', (size_t)(end - at));
        const char *line_end = lf != NULL ? lf : end;
        size_t n = (size_t)(line_end - at);
        char *line = mem_alloc(n); /* so that a look behind its end is seen */

        memcpy(line, at, n);
        check_line((struct bytes){line, n});
        mem_free(line);
        at = lf != NULL ? lf + 1 : end;
    }
}

/* Of RFC 5424 a byte order mark goes too. */
static void check_wrapped(struct bytes record)
{
    static const char *const headers[] = {
        "<13>1 2026-11-29T17:41:27Z host app 1 - [a b=\"\\\"]\\\\\"] \xEF\xBB\xBF",
        "<13>Nov 29 17:41:27 host tag[123]: ",
        "<13>Nov  9 17:41:27 tag: ",
    };

    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
        struct buf line = BUF_EMPTY;
        struct bytes message;

        buf_append_text(&line, headers[i]);
        buf_append_bytes(&line, record);
        assert(envelope_open(buf_bytes(&line), &message) == NULL);
        assert(bytes_equal(message, record));
        buf_done(&line);
    }
}

/* --- rows --- */

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes input;
    struct fixture f;

    if (size < OPTIONS)
        return 0;
    input = (struct bytes){(const char *)data + OPTIONS, size - OPTIONS};
    if ((data[0] & FLAG_JSON) != 0)
        fixture_open_json(&f, "key, n bigint, u.id");
    else
        fixture_open(&f, "key, n bigint");
    f.format.header = (data[0] & FLAG_HEADER) != 0 && (data[0] & FLAG_JSON) == 0;
    f.format.envelope = ENVELOPE_SYSLOG;
    f.format.framing = (enum framing)(data[1] % 3);
    f.format.max_line = lengths[data[1] / 3 % (sizeof(lengths) / sizeof(lengths[0]))];
    check_cuts(&f.format, data, input);
    fixture_close(&f);
    check_lines(input);
    check_wrapped(input);
    return 0;
}
