#include "codec/framer.h"

#include <assert.h>
#include <string.h>

#include "codec/quoted.h"

void framer_init(struct framer *f, size_t max_line, bool multiline, char delimiter)
{
    assert(max_line > 0);
    *f = (struct framer){.max_line = max_line, .multiline = multiline, .delimiter = delimiter};
}

void framer_forget(struct framer *f)
{
    f->discarding = false;
    f->searched = 0;
    f->open = 0;
}

static bool framer_ok(const struct framer *f)
{
    return f->max_line > 0 && f->open <= f->searched && !(f->discarding && f->searched > 0);
}

static const char *find(char c, const char *from, const char *end)
{
    return from < end ? memchr(from, c, (size_t)(end - from)) : NULL;
}

static const char *without_cr(const char *start, const char *end)
{
    return end > start && end[-1] == '\r' ? end - 1 : end;
}

/* A line, and where the one after it starts. */
struct line {
    const char *end; /* its line end not included */
    const char *next;
};

/* The line that starts at `start`. False: its end is not among the bytes. What ends
 * in order ends its last line; `from` is where no LF was found before. */
static bool find_line(const struct input *in, const char *start, const char *from, struct line *ret)
{
    const char *end = in->bytes + in->n;
    const char *lf = find('\n', from, end);

    if (lf == NULL && (in->end != INPUT_ENDED || start == end))
        return false;
    ret->end = without_cr(start, lf != NULL ? lf : end);
    ret->next = lf != NULL ? lf + 1 : end;
    return true;
}

static struct frame frame_of(const struct input *in, enum frame_kind kind, const char *start,
                             const char *end, const char *next)
{
    return (struct frame){
        .kind = kind,
        .line = {start, (size_t)(end - start)},
        .next = (size_t)(next - in->bytes),
    };
}

static struct frame nothing(const struct input *in, const char *next)
{
    return frame_of(in, FRAME_NONE, next, next, next);
}

static struct frame too_long(const struct input *in, const char *start, struct line line)
{
    if (line.end - start > FRAME_SHOWN_MAX)
        line.end = start + FRAME_SHOWN_MAX;
    return frame_of(in, FRAME_TOO_LONG, start, line.end, line.next);
}

/* What is not whole is not given. */
static struct frame leave(struct framer *f, const struct input *in)
{
    framer_forget(f);
    return nothing(in, in->bytes + in->n);
}

/* --- records of several lines --- */

static struct frame first_line_alone(struct framer *f, const struct input *in, const char *start)
{
    struct line first;
    bool found;

    framer_forget(f);
    found = find_line(in, start, start, &first);
    assert(found); /* more than it has been looked at */
    return frame_of(in, FRAME_BAD_QUOTES, start, first.end, first.next);
}

/* The bytes end within the record. */
static struct frame wait_for_line(struct framer *f, const struct input *in, const char *start,
                                  const char *line_start)
{
    size_t length = in->n - (size_t)(start - in->bytes);

    if (length > f->max_line + 1) /* + 1: may be the CR of its end */
        return first_line_alone(f, in, start);
    if (in->end == INPUT_LEFT)
        return leave(f, in);
    if (in->end != INPUT_GOES_ON)
        return first_line_alone(f, in, start);
    f->searched = length;
    f->open = (size_t)(line_start - start);
    return nothing(in, start);
}

/* The first line is whole, and not too long. */
static struct frame record_of_lines(struct framer *f, const struct input *in, const char *start)
{
    const char *line_start = start + f->open;
    const char *from = start + (f->searched > f->open ? f->searched : f->open);
    enum quoting state = f->open > 0 ? QUOTING_OPEN : QUOTING_START;
    struct line line;
    size_t bad_at;

    for (;;) {
        if (!find_line(in, line_start, from, &line))
            return wait_for_line(f, in, start, line_start);
        state = quoted_walk(state, (struct bytes){line_start, (size_t)(line.end - line_start)},
                            f->delimiter, &bad_at);
        if (state == QUOTING_BAD || (size_t)(line.end - start) > f->max_line)
            return first_line_alone(f, in, start);
        if (state != QUOTING_OPEN) {
            framer_forget(f);
            return frame_of(in, FRAME_RECORD, start, line.end, line.next);
        }
        line_start = from = line.next;
    }
}

/* --- lines --- */

/* No LF ends the bytes from `start` on. */
static struct frame unfinished_line(struct framer *f, const struct input *in, const char *start)
{
    const char *end = in->bytes + in->n;
    size_t length = (size_t)(end - start);
    size_t enough = f->max_line + 1 > FRAME_SHOWN_MAX ? f->max_line + 1 : FRAME_SHOWN_MAX;
    struct line rest = {without_cr(start, end), end};

    if (length > enough) {
        framer_forget(f);
        f->discarding = true;
        return too_long(in, start, (struct line){end, end});
    }
    if (in->end == INPUT_GOES_ON) {
        f->searched = length;
        return nothing(in, start);
    }
    if (in->end == INPUT_LEFT)
        return leave(f, in);
    framer_forget(f);
    if (rest.end == start)
        return nothing(in, end);
    if ((size_t)(rest.end - start) > f->max_line)
        return too_long(in, start, rest);
    return frame_of(in, FRAME_UNFINISHED, start, rest.end, end);
}

size_t framer_pass_rest(struct framer *f, const struct input *in, size_t at)
{
    const char *lf;

    assert(at <= in->n);
    if (!f->discarding)
        return at;
    lf = find('\n', in->bytes + at, in->bytes + in->n);
    if (lf == NULL)
        return in->n;
    f->discarding = false;
    return (size_t)(lf + 1 - in->bytes);
}

static inline struct frame next_record(struct framer *f, const struct input *in, size_t at)
{
    const char *start = in->bytes + framer_pass_rest(f, in, at);
    struct line line;

    if (f->discarding)
        return nothing(in, start);
    if (f->open > 0)
        return record_of_lines(f, in, start);
    for (;;) {
        if (!find_line(in, start, start + f->searched, &line))
            return unfinished_line(f, in, start);
        framer_forget(f);
        if (line.end > start)
            break;
        start = line.next;
    }
    if ((size_t)(line.end - start) > f->max_line)
        return too_long(in, start, line);
    if (f->multiline && find('"', start, line.end) != NULL)
        return record_of_lines(f, in, start);
    return frame_of(in, FRAME_RECORD, start, line.end, line.next);
}

struct frame framer_next(struct framer *f, const struct input *in, size_t at)
{
    struct frame frame;

    assert(framer_ok(f) && at <= in->n);
    frame = next_record(f, in, at);
    assert(framer_ok(f) && frame.next >= at && frame.next <= in->n);
    return frame;
}
