/*
 * The framer gives the same frames however its input is cut into reads, all of them
 * within the input, one behind the other, and with nothing but line ends between.
 *
 * The first three bytes say how: flags and end, longest line, and the length of
 * each read; the rest is the input.
 */
#include <stdbool.h>
#include <stdlib.h>

#undef NDEBUG
#include <assert.h>

#include "base/buf.h"
#include "base/mem.h"
#include "codec/framer.h"
#include "fuzz.h"

#define OPTIONS 3

struct reading {
    struct framer framer;
    struct bytes input;
    size_t done;       /* bytes of the input */
    bool discarding;   /* within an over-long line */
    struct buf frames; /* kind and line of each, as text */
};

static bool is_line_ends(const char *p, const char *end)
{
    for (; p < end; p++)
        if (*p != '\n' && *p != '\r')
            return false;
    return true;
}

/* What lies between the bytes at hand and the frame, and behind it, is line ends. */
static void check_frame(const struct reading *r, const struct input *in, size_t at,
                        const struct frame *f)
{
    const char *line_end = f->line.p + f->line.n;

    assert(f->next > at && f->next <= in->n);
    assert(f->line.p >= in->bytes + at && line_end <= in->bytes + f->next);
    assert(f->line.n > 0);
    if (!r->discarding)
        assert(is_line_ends(in->bytes + at, f->line.p));
    if (f->kind == FRAME_TOO_LONG) {
        assert(f->line.n <= FRAME_SHOWN_MAX);
        assert(f->line.n == FRAME_SHOWN_MAX || f->line.n > r->framer.max_line);
    } else {
        assert(f->line.n <= r->framer.max_line);
        assert(is_line_ends(line_end, in->bytes + f->next));
    }
    if (!r->framer.multiline || f->kind == FRAME_BAD_QUOTES)
        assert(memchr(f->line.p, '\n', f->line.n) == NULL);
}

static void take_frames(struct reading *r, const struct input *in)
{
    struct frame f = {.next = 0};

    for (;;) {
        size_t at = f.next;

        r->discarding = r->framer.discarding;
        f = framer_next(&r->framer, in, at);
        if (f.kind == FRAME_NONE)
            break;
        check_frame(r, in, at, &f);
        buf_printf(&r->frames, "%d ", f.kind);
        buf_append_bytes(&r->frames, f.line);
        buf_append_char(&r->frames, '\n');
    }
    assert(f.next <= in->n);
    r->done += f.next;
}

/* Shows the bytes up to `n`, in memory that ends with them. */
static void show(struct reading *r, size_t n, enum input_end end)
{
    struct input in = {.n = n - r->done, .end = end};
    char *bytes = mem_alloc(in.n);
    size_t most = r->framer.max_line + 1;

    memcpy(bytes, r->input.p + r->done, in.n);
    in.bytes = bytes;
    take_frames(r, &in);
    mem_free(bytes);
    if (end == INPUT_GOES_ON)
        assert(n - r->done <= (most > FRAME_SHOWN_MAX ? most : FRAME_SHOWN_MAX));
    else
        assert(r->done == n);
}

static void read_all(struct reading *r, const uint8_t *options, size_t step)
{
    enum input_end end = (options[0] & 1) != 0 ? INPUT_BROKEN : INPUT_ENDED;

    framer_init(&r->framer, 1 + options[1] % 64, (options[0] & 2) != 0, ',');
    for (size_t n = step; n < r->input.n; n += step)
        show(r, n, INPUT_GOES_ON);
    if ((options[0] & 4) != 0)
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
