#include "transcript.h"

#undef NDEBUG
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "lang/value.h"
#include "model/batch.h"

uint64_t transcript_random(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15;

    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

/* --- writing rows down --- */

static void write_escaped(struct buf *to, struct bytes text)
{
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];

        if (c == '\n')
            buf_append_text(to, "\\n");
        else if (c == '\r')
            buf_append_text(to, "\\r");
        else if (c < 0x20 || c >= 0x7f)
            buf_printf(to, "\\x%02x", c);
        else
            buf_append_char(to, (char)c);
    }
}

static void write_row(struct buf *to, const struct batch *b, const struct row *r, bool with_line)
{
    const struct bytes *fields = batch_row_fields(b, r);

    if (r->reject != REJECT_NONE) {
        buf_printf(to, "! %s ", reject_word(r->reject));
        write_escaped(to, r->line);
        buf_printf(to, ": %s\n", batch_detail(b, r));
        return;
    }
    buf_append_text(to, r->verdict == VERDICT_TAKE ? "= " : "~ ");
    for (size_t i = 0; i < b->field_count; i++) {
        if (fields[i].p == NULL) {
            buf_append_char(to, '-');
            continue;
        }
        buf_append_char(to, '[');
        write_escaped(to, fields[i]);
        buf_append_char(to, ']');
    }
    if (with_line) {
        buf_append_text(to, " from ");
        write_escaped(to, r->line);
    }
    buf_append_char(to, '\n');
}

/* --- the contract --- */

static bool lies_in(struct bytes inner, const char *p, size_t n)
{
    return inner.p >= p && inner.n <= n && inner.p - p <= (ptrdiff_t)(n - inner.n);
}

/* A verbatim line, cut by its delimiters, is its fields. */
static void check_verbatim(const struct input_format *f, const struct batch *b, const struct row *r)
{
    const struct bytes *fields = batch_row_fields(b, r);
    const char *at = r->line.p;

    for (size_t i = 0; i < b->field_count; i++) {
        const char *end = r->line.p + r->line.n;
        const char *stop = memchr(at, f->delimiter, (size_t)(end - at));
        struct bytes field = {at, (size_t)((stop != NULL ? stop : end) - at)};

        assert((stop == NULL) == (i + 1 == b->field_count));
        if (fields[i].p == NULL)
            assert(bytes_equal(field, f->null_text));
        else
            assert(fields[i].p == field.p && fields[i].n == field.n);
        if (stop != NULL)
            at = stop + 1;
    }
    assert(memchr(r->line.p, '"', r->line.n) == NULL);
    assert(memchr(r->line.p, '\r', r->line.n) == NULL);
}

static void check_fields(const struct batch *b, const struct row *r, struct bytes shown)
{
    const struct bytes *fields = batch_row_fields(b, r);

    for (size_t i = 0; i < b->field_count; i++)
        assert(fields[i].p == NULL || lies_in(fields[i], shown.p, shown.n) ||
               lies_in(fields[i], b->scratch.data, b->scratch.tail));
}

/* By another way than the decoder's, where the type has one. */
static int64_t time_in(enum value_type type, struct bytes text)
{
    struct value v = value_read(type, text);
    int64_t ms;
    bool ok;

    if (text.p == NULL)
        return BATCH_NO_TIME;
    if (type == TYPE_TIMESTAMP_S)
        return value_time_ms(type, text);
    ok = value_instant_ms(type, &v, &ms);
    assert(ok);
    return ms;
}

static void check_time(const struct input_format *f, const struct batch *b, const struct row *r)
{
    struct bytes text = batch_row_fields(b, r)[f->time_field];

    assert(b->times[batch_row_index(b, r)] == time_in(f->schema->fields[f->time_field].type, text));
}

static void check_batch(const struct input_format *f, const struct batch *b, struct bytes shown,
                        size_t consumed)
{
    size_t before = 0, rejected = 0;

    assert(b->count <= BATCH_ROWS && consumed <= shown.n);
    assert(b->timed == f->timed);
    for (size_t i = 0; i < b->count; i++) {
        const struct row *r = &b->rows[i];

        assert(r->consumed > before && r->consumed <= consumed);
        assert(lies_in(r->line, shown.p + before, r->consumed - before));
        assert(r->line.n > 0);
        before = r->consumed;
        if (r->reject != REJECT_NONE) {
            assert(batch_detail(b, r)[0] != '\0');
            rejected++;
            continue;
        }
        assert(r->line.n <= f->max_line);
        check_fields(b, r, shown);
        if (f->timed)
            check_time(f, b, r);
        if (r->verdict == VERDICT_TAKE)
            check_verbatim(f, b, r);
    }
    assert(b->rejected == rejected);
}

/* --- showing pieces --- */

struct show {
    const struct input_format *format;
    const struct showing *how;
    struct decoder *decoder;
    struct batch batch;
    struct bytes input;
    size_t done; /* bytes of the input */
    uint64_t random;
    struct buf *to;
};

/* As the engine would: takes the rows, or only the first ones. */
static size_t take_rows(struct show *s, size_t consumed)
{
    size_t taken = s->batch.count;

    if (s->how->refusals != 0 && transcript_random(&s->random) % 3 == 0)
        taken = transcript_random(&s->random) % (s->batch.count + 1);
    for (size_t i = 0; i < taken; i++)
        write_row(s->to, &s->batch, &s->batch.rows[i], s->how->with_lines);
    if (taken == s->batch.count)
        return consumed;
    consumed = decoder_rewind(s->decoder, &s->batch, taken);
    assert(consumed == (taken == 0 ? 0 : s->batch.rows[taken - 1].consumed));
    return consumed;
}

/* Shows the bytes up to `end_of_piece` until nothing comes of them any more. */
static void show_piece(struct show *s, size_t end_of_piece, enum input_end end)
{
    for (;;) {
        size_t n = end_of_piece - s->done;
        char *piece = mem_alloc(n); /* so that a look behind its end is seen */
        size_t consumed, rows;

        memcpy(piece, s->input.p + s->done, n);
        consumed = decoder_read(s->decoder, piece, n, end, &s->batch);
        check_batch(s->format, &s->batch, (struct bytes){piece, n}, consumed);
        rows = s->batch.count;
        s->done += take_rows(s, consumed);
        memset(piece, '#', n);
        mem_free(piece);
        if (rows == 0 && consumed == 0)
            return;
    }
}

static void check_what_waits(const struct show *s, size_t end_of_piece)
{
    size_t most = s->format->max_line + 2; /* a line end */

    if (most < 1024)
        most = 1024;
    if (s->format->framing != FRAMING_LINE)
        most += 11; /* a count and its space */
    assert(end_of_piece - s->done <= most);
}

void transcript_write(const struct input_format *f, struct bytes input, const struct showing *how,
                      struct buf *to)
{
    struct show s = {
        .format = f,
        .how = how,
        .decoder = decoder_new(f),
        .input = input,
        .random = how->refusals,
        .to = to,
    };

    batch_init(&s.batch, f->schema->count);
    for (size_t i = 0; i < how->cut_count; i++) {
        show_piece(&s, how->cuts[i], INPUT_GOES_ON);
        check_what_waits(&s, how->cuts[i]);
    }
    if (how->end_comes_later)
        show_piece(&s, input.n, INPUT_GOES_ON);
    show_piece(&s, input.n, how->end);
    assert(s.done == input.n);
    batch_done(&s.batch);
    decoder_free(s.decoder);
}

const char *transcript_at_once(const struct input_format *f, const char *text, size_t n,
                               enum input_end end, struct buf *to)
{
    const struct showing how = {.end = end};

    buf_clear(to);
    transcript_write(f, (struct bytes){text, n}, &how, to);
    return buf_text(to);
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

void transcript_check_cuts(const struct input_format *f, struct bytes input,
                           const struct cutting *c)
{
    struct showing how = {.with_lines = true, .end = c->end};
    struct buf whole = BUF_EMPTY, cut = BUF_EMPTY;
    size_t *cuts = mem_alloc_zeroed(input.n, sizeof(*cuts));

    transcript_write(f, input, &how, &whole);
    how.cuts = cuts;
    how.cut_count = make_cuts(cuts, input.n, (size_t)1 << c->longest % 12, c->seed);
    how.refusals = c->refusals ? c->seed + 1u : 0;
    how.end_comes_later = c->seed % 2 == 1;
    transcript_write(f, input, &how, &cut);
    if (!bytes_equal(buf_bytes(&whole), buf_bytes(&cut))) {
        fprintf(stderr, "%s-- but when it is cut --\n%s", buf_text(&whole), buf_text(&cut));
        abort();
    }
    mem_free(cuts);
    buf_done(&whole);
    buf_done(&cut);
}
