#include "codec/octets.h"

#include <assert.h>

void octets_init(struct octets *o, size_t max_line, bool lines_too, bool multiline, char delimiter)
{
    assert(max_line > 0);
    *o = (struct octets){.max_line = max_line, .lines_too = lines_too};
    framer_init(&o->lines, max_line, lines_too && multiline, delimiter);
}

void octets_forget(struct octets *o)
{
    o->skip = 0;
    framer_forget(&o->lines);
}

static struct frame nothing(size_t next)
{
    return (struct frame){.kind = FRAME_NONE, .next = next};
}

/* --- the start of a frame --- */

enum start {
    START_COUNT,
    START_OTHER,  /* there is no count */
    START_TORN,   /* the input ends in what may be a count */
    START_TO_COME /* more bytes will tell */
};

struct counted {
    size_t start, body; /* places in the input: of the count, and behind its space */
    uint64_t count;
};

/* The bytes end before it can be said. */
static enum start start_at_end(const struct octets *o, const struct input *in)
{
    if (in->end == INPUT_GOES_ON)
        return START_TO_COME;
    return o->lines_too ? START_OTHER : START_TORN;
}

static enum start read_start(const struct octets *o, const struct input *in, size_t at,
                             struct counted *ret)
{
    *ret = (struct counted){.start = at};
    for (; at < in->n && in->bytes[at] >= '0' && in->bytes[at] <= '9'; at++) {
        if (at - ret->start == OCTETS_COUNT_DIGITS)
            return START_OTHER;
        ret->count = ret->count * 10 + (uint64_t)(in->bytes[at] - '0');
    }
    if (at == in->n)
        return start_at_end(o, in);
    if (at == ret->start || in->bytes[at] != ' ')
        return START_OTHER;
    ret->body = ++at;
    if (!o->lines_too)
        return START_COUNT;
    if (at == in->n)
        return start_at_end(o, in);
    return in->bytes[at] == '<' || in->bytes[at] == '{' ? START_COUNT : START_OTHER;
}

/* --- counted frames --- */

static struct bytes without_line_end(struct bytes b)
{
    if (b.n > 0 && b.p[b.n - 1] == '\n')
        b.n -= b.n > 1 && b.p[b.n - 2] == '\r' ? 2 : 1;
    return b;
}

static size_t at_most(size_t n, uint64_t most)
{
    return n < most ? n : (size_t)most;
}

/* The input ends within it, or all that is shown of it is there. What is shown of nothing
 * is its count. */
static struct frame part_of_frame(const struct input *in, enum frame_kind kind,
                                  const struct counted *c, size_t shown)
{
    size_t from = shown > 0 ? c->body : c->start;
    size_t n = shown > 0 ? shown : in->n - c->start;

    return (struct frame){.kind = kind, .line = {in->bytes + from, n}, .next = in->n};
}

/* Whatever its last bytes are, it is longer than max_line. */
static struct frame over_long(struct octets *o, const struct input *in, const struct counted *c)
{
    size_t here = at_most(in->n - c->body, c->count);
    size_t shown = at_most(here, FRAME_SHOWN_MAX);
    struct frame f;

    if (shown < FRAME_SHOWN_MAX && here < c->count && in->end == INPUT_GOES_ON)
        return nothing(c->start);
    f = part_of_frame(in, FRAME_TOO_LONG, c, shown);
    if (shown == c->count)
        f.line = without_line_end(f.line);
    f.next = c->body + here;
    o->skip = c->count - here;
    assert(f.next <= in->n && f.line.n <= FRAME_SHOWN_MAX);
    return f;
}

static struct frame whole_frame(const struct octets *o, const struct input *in,
                                const struct counted *c)
{
    struct frame f = {
        .kind = FRAME_RECORD,
        .line = without_line_end((struct bytes){in->bytes + c->body, (size_t)c->count}),
        .next = c->body + (size_t)c->count,
    };

    if (f.line.n > o->max_line) {
        f.kind = FRAME_TOO_LONG;
        f.line.n = at_most(f.line.n, FRAME_SHOWN_MAX);
    }
    return f;
}

/* Its line is empty if it is nothing. */
static struct frame counted_frame(struct octets *o, const struct input *in, const struct counted *c)
{
    size_t here = in->n - c->body;

    if (c->count > (uint64_t)o->max_line + 2) /* + 2: may be its line end */
        return over_long(o, in, c);
    if (here >= c->count)
        return whole_frame(o, in, c);
    if (in->end == INPUT_GOES_ON)
        return nothing(c->start);
    if (in->end == INPUT_LEFT)
        return nothing(in->n);
    return part_of_frame(in, FRAME_UNFINISHED, c, here);
}

/* --- all of them --- */

static struct frame uncounted_line(struct octets *o, const struct input *in, size_t at)
{
    struct frame f = framer_next(&o->lines, in, at);

    if (!o->lines_too && f.kind != FRAME_NONE)
        f.kind = FRAME_BAD_COUNT;
    return f;
}

/* The rest of what was given already. */
static size_t pass_rest(struct octets *o, const struct input *in, size_t at)
{
    size_t n = at_most(in->n - at, o->skip);

    o->skip -= n;
    return framer_pass_rest(&o->lines, in, at + n);
}

static size_t pass_line_ends(const struct input *in, size_t at)
{
    while (at < in->n) {
        if (in->bytes[at] == '\n')
            at++;
        else if (in->bytes[at] == '\r' && in->n - at > 1 && in->bytes[at + 1] == '\n')
            at += 2;
        else
            break;
    }
    return at;
}

/* Is there only a CR, which may be the first half of a line end? */
static bool is_half_line_end(const struct input *in, size_t at)
{
    return in->n - at == 1 && in->bytes[at] == '\r' && in->end == INPUT_GOES_ON;
}

struct frame octets_next(struct octets *o, const struct input *in, size_t at)
{
    struct counted c;
    struct frame f;

    assert(at <= in->n);
    at = pass_rest(o, in, at);
    assert(o->skip == 0 || at == in->n);
    for (;;) {
        at = pass_line_ends(in, at);
        if (at == in->n || is_half_line_end(in, at))
            return nothing(at);
        switch (read_start(o, in, at, &c)) {
        case START_OTHER:
            return uncounted_line(o, in, at);
        case START_TORN:
            if (in->end == INPUT_LEFT)
                return nothing(in->n);
            return part_of_frame(in, FRAME_UNFINISHED, &c, 0);
        case START_TO_COME:
            return nothing(at);
        case START_COUNT:
            f = counted_frame(o, in, &c);
            if (f.kind == FRAME_NONE || f.line.n > 0)
                return f;
            at = f.next;
            break;
        }
    }
}
