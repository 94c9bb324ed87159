/*
 * Counted frames are the same however the input is cut into reads, all of them within the
 * input, one behind the other, and what lies between them is what may.
 *
 * The first three bytes say how: flags and end, longest line, and the length of each read;
 * the rest is the input.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#undef NDEBUG
#include <assert.h>

#include "base/buf.h"
#include "base/mem.h"
#include "codec/octets.h"
#include "fuzz.h"

#define OPTIONS 3

enum flag {
    FLAG_BROKEN = 1,
    FLAG_LINES_TOO = 2,
    FLAG_END_LATER = 4,
    FLAG_MULTILINE = 8,
    FLAG_LEFT = 16,
};

static const size_t lengths[] = {1, 2, 10, 20, 60, 1000, 1023, 1024, 1100, 65536};

struct reading {
    struct octets octets;
    struct bytes input;
    size_t done;       /* bytes of the input */
    struct buf frames; /* kind and line of each, as text */
};

/* Nothing else may stand before a frame, unless the rest of an over-long one does. */
static bool is_count_or_line_ends(const char *p, const char *end)
{
    for (; p < end; p++)
        if (strchr("0123456789 \r\n", *p) == NULL || *p == '\0')
            return false;
    return true;
}

static void check_frame(const struct reading *r, const struct input *in, size_t at,
                        const struct frame *f, bool within_rest)
{
    size_t max_line = r->octets.max_line;

    assert(f->next > at && f->next <= in->n);
    assert(f->line.n > 0);
    assert(f->line.p >= in->bytes + at && f->line.p + f->line.n <= in->bytes + f->next);
    assert(within_rest || is_count_or_line_ends(in->bytes + at, f->line.p));
    switch (f->kind) {
    case FRAME_TOO_LONG:
        assert(f->line.n <= FRAME_SHOWN_MAX);
        break;
    case FRAME_BAD_COUNT:
        assert(!r->octets.lines_too && memchr(f->line.p, '\n', f->line.n) == NULL);
        assert(f->line.n <= FRAME_SHOWN_MAX || f->line.n <= max_line);
        break;
    case FRAME_UNFINISHED: /* it may have half a line end, or be but a count */
        assert(in->end != INPUT_GOES_ON && in->end != INPUT_LEFT && f->next == in->n);
        assert(f->line.n <= max_line + 2 || f->line.n <= OCTETS_START_MAX);
        break;
    case FRAME_BAD_QUOTES:
        assert(r->octets.lines.multiline);
        break;
    case FRAME_RECORD:
        assert(f->line.n <= max_line);
        break;
    case FRAME_NONE:
    case FRAME_UNWRAPPED:
        abort();
    }
}

static void take_frames(struct reading *r, const struct input *in)
{
    struct frame f = {.next = 0};

    for (;;) {
        size_t at = f.next;
        bool within_rest = r->octets.skip > 0 || r->octets.lines.discarding;

        f = octets_next(&r->octets, in, at);
        assert(f.next >= at && f.next <= in->n);
        if (f.kind == FRAME_NONE)
            break;
        check_frame(r, in, at, &f, within_rest);
        buf_printf(&r->frames, "%d ", f.kind);
        buf_append_bytes(&r->frames, f.line);
        buf_append_char(&r->frames, '\n');
    }
    r->done += f.next;
}

/* Shows the bytes up to `n`, in memory that ends with them. */
static void show(struct reading *r, size_t n, enum input_end end)
{
    struct input in = {.n = n - r->done, .end = end};
    char *bytes = mem_alloc(in.n);
    size_t most = r->octets.max_line + 2;

    if (in.n > 0)
        memcpy(bytes, r->input.p + r->done, in.n);
    in.bytes = bytes;
    take_frames(r, &in);
    mem_free(bytes);
    if (end == INPUT_GOES_ON)
        assert(n - r->done <=
               (most > FRAME_SHOWN_MAX ? most : FRAME_SHOWN_MAX) + OCTETS_COUNT_DIGITS + 1);
    else
        assert(r->done == n);
}

static void read_all(struct reading *r, const uint8_t *options, size_t step)
{
    unsigned flags = options[0];
    enum input_end end = (flags & FLAG_LEFT) != 0     ? INPUT_LEFT
                         : (flags & FLAG_BROKEN) != 0 ? INPUT_BROKEN
                                                      : INPUT_ENDED;

    octets_init(&r->octets, lengths[options[1] % (sizeof(lengths) / sizeof(lengths[0]))],
                (flags & FLAG_LINES_TOO) != 0, (flags & FLAG_MULTILINE) != 0, ',');
    for (size_t n = step; n < r->input.n; n += step)
        show(r, n, INPUT_GOES_ON);
    if ((flags & FLAG_END_LATER) != 0)
        show(r, r->input.n, INPUT_GOES_ON);
    show(r, r->input.n, end);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct reading whole = {.done = 0}, cut = {.done = 0};

    if (size < OPTIONS)
        return 0;
    whole.input = cut.input = (struct bytes){(const char *)data + OPTIONS, size - OPTIONS};
    read_all(&whole, data, size);
    read_all(&cut, data, 1 + data[2] % 32);
    assert(bytes_equal(buf_bytes(&whole.frames), buf_bytes(&cut.frames)));
    buf_done(&whole.frames);
    buf_done(&cut.frames);
    return 0;
}
