#include "model/batch.h"

#include <assert.h>
#include <stdarg.h>

#include "base/mem.h"

static const char *const words[REJECTS] = {
    [REJECT_NONE] = "none",
    [REJECT_FIELDS] = "fields",
    [REJECT_QUOTE] = "quote",
    [REJECT_TYPE] = "type",
    [REJECT_NUL] = "nul",
    [REJECT_TELNET] = "telnet",
    [REJECT_TOO_LONG] = "too_long",
    [REJECT_UNFINISHED] = "unfinished",
    [REJECT_HEADER] = "header",
    [REJECT_EXPRESSION] = "expression",
    [REJECT_TIMESTAMP] = "timestamp",
    [REJECT_JSON] = "json",
    [REJECT_UTF8] = "utf8",
    [REJECT_DUPLICATE] = "duplicate",
    [REJECT_PATH] = "path",
    [REJECT_FRAMING] = "framing",
    [REJECT_ENVELOPE] = "envelope",
};

const char *reject_word(enum reject r)
{
    assert(r < REJECTS);
    return words[r];
}

void batch_init(struct batch *b, size_t field_count)
{
    b->feed = NULL;
    b->field_count = field_count;
    b->fields = mem_alloc_zeroed(BATCH_ROWS * field_count, sizeof(*b->fields));
    buf_init(&b->scratch);
    buf_init(&b->details);
    buf_init(&b->body_texts);
    buf_init(&b->key_texts);
    batch_clear(b);
}

void batch_done(struct batch *b)
{
    mem_free(b->fields);
    b->fields = NULL;
    buf_done(&b->scratch);
    buf_done(&b->details);
    buf_done(&b->body_texts);
    buf_done(&b->key_texts);
}

void batch_clear(struct batch *b)
{
    b->count = 0;
    b->rejected = 0;
    b->late = 0;
    b->timed = false;
    b->judged = false;
    buf_clear(&b->scratch);
    buf_clear(&b->details);
}

const char *batch_detail(const struct batch *b, const struct row *r)
{
    return r->detail < 0 ? "" : buf_data(&b->details) + r->detail;
}

static void detail_add(struct batch *b, struct row *r, const char *format, va_list args)
{
    r->detail = (int32_t)buf_length(&b->details);
    buf_vprintf(&b->details, format, args);
    buf_append_char(&b->details, '\0');
}

void batch_reject(struct batch *b, struct row *r, enum reject why, const char *format, ...)
{
    va_list args;

    assert(why != REJECT_NONE && r->reject == REJECT_NONE);
    r->reject = (uint8_t)why;
    r->verdict = VERDICT_REJECTED;
    va_start(args, format);
    detail_add(b, r, format, args);
    va_end(args);
    b->rejected++;
}

void batch_mark_late(struct batch *b, struct row *r, const char *format, ...)
{
    va_list args;

    assert(r->reject == REJECT_NONE && !r->late);
    r->late = true;
    va_start(args, format);
    detail_add(b, r, format, args);
    va_end(args);
    b->late++;
}
