#include "codec/decoder.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "codec/envelope.h"
#include "codec/framer.h"
#include "codec/json_rows.h"
#include "codec/octets.h"
#include "codec/reason.h"
#include "codec/rows.h"

#define BOM      "\xEF\xBB\xBF"
#define BOM_SIZE 3

enum phase {
    PHASE_START,  /* a byte order mark may come */
    PHASE_HEADER, /* the next record names the columns */
    PHASE_RECORDS,
    PHASE_FAULTY, /* the header was at fault */
};

/* What changes as bytes go by, so that it can be put back. */
struct position {
    enum phase phase;
    struct framer framer; /* framing = line */
    struct octets octets; /* the others */
};

struct decoder {
    const struct input_format *format;
    struct rows rows;
    bool plain;              /* nothing but lines of CSV: many can be taken in one walk */
    struct json *json;       /* owned; NULL: records are CSV */
    struct buf header_fault; /* a sentence, with a NUL behind it */
    struct position position;
    struct position before; /* the last decoder_read() */
    size_t consumed;        /* by it */
};

static bool decoder_ok(const struct decoder *d)
{
    const struct position *p = &d->position;

    return (d->json != NULL) == (d->format->kind == INPUT_JSON) &&
           (p->phase != PHASE_FAULTY || d->format->header) &&
           (!d->plain || (p->octets.skip == 0 && d->json == NULL));
}

struct decoder *decoder_new(const struct input_format *f)
{
    struct decoder *d = mem_alloc_zeroed(1, sizeof(*d));

    assert(f->max_line > 0 && (!f->timed || f->time_field < f->schema->count));
    assert(f->kind == INPUT_CSV || f->paths->count == f->schema->count);
    d->format = f;
    rows_init(&d->rows, f);
    if (f->kind == INPUT_JSON)
        d->json = json_new(f->paths);
    buf_init(&d->header_fault);
    d->position.phase = PHASE_START;
    d->plain = f->kind == INPUT_CSV && f->framing == FRAMING_LINE && f->envelope == ENVELOPE_NONE;
    framer_init(&d->position.framer, f->max_line, f->multiline, f->delimiter);
    octets_init(&d->position.octets, f->max_line, f->framing == FRAMING_AUTO, f->multiline,
                f->delimiter);
    d->before = d->position;
    return d;
}

void decoder_free(struct decoder *d)
{
    if (d == NULL)
        return;
    rows_done(&d->rows);
    json_free(d->json);
    buf_done(&d->header_fault);
    mem_free(d);
}

const char *decoder_header_fault(const struct decoder *d)
{
    return d->position.phase == PHASE_FAULTY ? buf_data(&d->header_fault) : NULL;
}

/* --- the header --- */

static void take_name(void *context, struct bytes text, bool quoted)
{
    struct decoder *d = context;

    (void)quoted;
    columns_name(&d->rows.columns, text, &d->header_fault);
}

/* The names go into the columns; false: d->header_fault says why not. `scratch` may
 * move: no row points into it yet. */
static bool read_names(struct decoder *d, struct bytes line, struct buf *scratch)
{
    const struct quoted_sink sink = {take_name, d};

    if (rows_judge_bytes(&d->rows, line) == REJECT_NONE) {
        buf_reserve(scratch, line.n);
        columns_clear(&d->rows.columns);
        if (rows_cut(&d->rows, line, scratch, &sink))
            return columns_complete(&d->rows.columns, &d->header_fault);
        reason_quotes(&d->rows.sentence, line, d->format->delimiter);
    }
    buf_clear(&d->header_fault);
    buf_printf(&d->header_fault, "the header has %s", buf_text(&d->rows.sentence));
    buf_clear(&d->rows.sentence);
    return false;
}

static bool read_header(struct decoder *d, struct batch *b, const struct frame *f)
{
    struct bytes message;
    bool ok = false;

    buf_clear(&d->header_fault);
    if (f->kind == FRAME_TOO_LONG)
        buf_printf(&d->header_fault, "the header is longer than max_line (%zu bytes)",
                   d->format->max_line);
    else if (f->kind == FRAME_BAD_COUNT)
        buf_append_text(&d->header_fault, "the header has no octet count");
    else if (f->kind == FRAME_UNWRAPPED)
        buf_printf(&d->header_fault, "the header has no syslog envelope: %s",
                   envelope_open(f->line, &message));
    else
        ok = read_names(d, f->line, &b->scratch);
    buf_clear(&b->scratch);
    buf_text(&d->header_fault); /* ends it with its NUL */
    return ok;
}

/* --- frames --- */

/* Says why a frame is no record. */
static enum reject judge_frame(struct decoder *d, const struct frame *f)
{
    struct buf *sentence = &d->rows.sentence;
    struct bytes message;
    enum reject why;

    switch (f->kind) {
    case FRAME_TOO_LONG:
        buf_printf(sentence, "longer than max_line (%zu bytes)", d->format->max_line);
        return REJECT_TOO_LONG;
    case FRAME_UNFINISHED:
        buf_append_text(sentence, d->format->framing == FRAMING_LINE
                                      ? "the connection broke within this line"
                                      : "the connection ended within this record");
        return REJECT_UNFINISHED;
    case FRAME_BAD_COUNT:
        reason_count(sentence, f->line);
        return REJECT_FRAMING;
    case FRAME_BAD_QUOTES:
    case FRAME_UNWRAPPED:
    case FRAME_RECORD:
    case FRAME_NONE:
        break;
    }
    why = rows_judge_bytes(&d->rows, f->line);
    if (why != REJECT_NONE)
        return why;
    if (f->kind == FRAME_UNWRAPPED) {
        buf_printf(sentence, "no syslog header: %s", envelope_open(f->line, &message));
        return REJECT_ENVELOPE;
    }
    reason_quotes(sentence, f->line, d->format->delimiter);
    return REJECT_QUOTE;
}

static void reject_frame(struct decoder *d, struct batch *b, const struct frame *f)
{
    rows_reject(&d->rows, b, f->line, f->next, judge_frame(d, f));
}

static void reject_by_header(struct decoder *d, struct batch *b, const struct frame *f)
{
    buf_append_bytes(&d->rows.sentence, buf_bytes(&d->header_fault));
    rows_reject(&d->rows, b, f->line, f->next, REJECT_HEADER);
}

static bool take_record(struct decoder *d, struct batch *b, const struct frame *f)
{
    if (d->json != NULL)
        return json_rows_take(d->json, &d->rows, b, f->line, f->next);
    return rows_take_record(&d->rows, b, f->line, f->next);
}

/* False: the batch has to end before this frame. */
static bool take_frame(struct decoder *d, struct batch *b, const struct frame *f)
{
    struct position *p = &d->position;

    if (f->kind == FRAME_UNFINISHED) {
        reject_frame(d, b, f);
        return true;
    }
    if (p->phase == PHASE_HEADER) {
        p->phase = read_header(d, b, f) ? PHASE_RECORDS : PHASE_FAULTY;
        if (p->phase == PHASE_RECORDS)
            return true;
    }
    if (p->phase == PHASE_FAULTY) {
        reject_by_header(d, b, f);
        return true;
    }
    if (f->kind == FRAME_RECORD)
        return take_record(d, b, f);
    reject_frame(d, b, f);
    return true;
}

/* Takes the header of syslog off. Its message may be empty, and is nothing then. */
static void unwrap(struct frame *f)
{
    struct bytes message;

    if (envelope_open(f->line, &message) == NULL)
        f->line = message;
    else
        f->kind = FRAME_UNWRAPPED;
}

static struct frame next_frame(struct decoder *d, const struct input *in, size_t at)
{
    struct position *p = &d->position;
    struct frame f = d->format->framing == FRAMING_LINE ? framer_next(&p->framer, in, at)
                                                        : octets_next(&p->octets, in, at);

    if (f.kind == FRAME_RECORD && d->format->envelope == ENVELOPE_SYSLOG)
        unwrap(&f);
    return f;
}

/* False: nothing more to take now, or the batch is full. */
static bool take_more(struct decoder *d, struct batch *b, const struct input *in, size_t *at)
{
    struct position *p = &d->position;
    struct frame f;

    if (d->plain && p->phase == PHASE_RECORDS && !framer_within_record(&p->framer))
        *at = rows_take_plain(&d->rows, b, in->bytes, in->n, *at);
    if (b->count == BATCH_ROWS)
        return false;
    f = next_frame(d, in, *at);
    if (f.kind != FRAME_NONE && f.line.n > 0 && !take_frame(d, b, &f))
        return false;
    *at = f.next;
    return f.kind != FRAME_NONE;
}

/* False: it cannot be said yet whether the connection starts with a byte order mark. */
static bool pass_bom(struct decoder *d, const struct input *in, size_t *at)
{
    size_t n = in->n < BOM_SIZE ? in->n : BOM_SIZE;
    bool like_bom = memcmp(in->bytes, BOM, n) == 0;

    if (like_bom && n < BOM_SIZE && in->end == INPUT_GOES_ON)
        return false;
    if (like_bom && n == BOM_SIZE)
        *at = BOM_SIZE;
    d->position.phase = d->format->header ? PHASE_HEADER : PHASE_RECORDS;
    return true;
}

size_t decoder_read(struct decoder *d, const char *bytes, size_t n, enum input_end end,
                    struct batch *b)
{
    const struct input in = {n > 0 ? bytes : "", n, end};
    size_t at = 0;

    assert(decoder_ok(d));
    assert(b->field_count == d->format->schema->count);
    batch_clear(b);
    b->timed = d->format->timed;
    d->before = d->position;
    d->consumed = 0;
    if (d->position.phase == PHASE_START && !pass_bom(d, &in, &at))
        return 0;
    while (b->count < BATCH_ROWS && take_more(d, b, &in, &at))
        ;
    d->consumed = at;
    assert(decoder_ok(d) && at <= n && b->count <= BATCH_ROWS);
    return at;
}

size_t decoder_rewind(struct decoder *d, const struct batch *b, size_t taken)
{
    assert(decoder_ok(d) && taken <= b->count);
    if (taken == b->count)
        return d->consumed;
    if (taken == 0) {
        d->position = d->before;
        return 0;
    }
    /* What changes a position otherwise (a header, an over-long line) comes before
     * the first row of a batch or with its last one. */
    framer_forget(&d->position.framer);
    octets_forget(&d->position.octets);
    return b->rows[taken - 1].consumed;
}
