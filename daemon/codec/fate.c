/* The rows of [late] and [rejects]: see codec/encoder.h. */
#include "base/mem.h"
#include "base/time.h"
#include "codec/encoder.h"
#include "codec/text.h"

#define COLUMNS 5

static const char *const names[COLUMNS] = {"side", "reason", "detail", "time", "line"};

static void append_csv(struct buf *to, const struct bytes *texts, const struct output_format *f)
{
    const struct csv_style style = {f->delimiter, f->null_text};

    for (size_t i = 0; i < COLUMNS; i++) {
        if (i > 0)
            buf_append_char(to, f->delimiter);
        if (texts[i].p == NULL)
            buf_append_bytes(to, style.null_text);
        else
            text_append_csv(to, texts[i], &style);
    }
    buf_append_char(to, '\n');
}

static void append_json(struct buf *to, const struct bytes *texts)
{
    for (size_t i = 0; i < COLUMNS; i++) {
        buf_printf(to, "%c\"%s\":", i == 0 ? '{' : ',', names[i]);
        if (texts[i].p == NULL)
            buf_append_text(to, "null");
        else
            text_append_json(to, texts[i]);
    }
    buf_append_text(to, "}\n");
}

void fate_header(const struct output_format *f, struct buf *to)
{
    struct bytes texts[COLUMNS];

    if (f->kind != OUTPUT_CSV || !f->header)
        return;
    for (size_t i = 0; i < COLUMNS; i++)
        texts[i] = bytes_of(names[i]);
    append_csv(to, texts, f);
}

void fate_row(const struct output_format *f, const struct fate_row *r, struct buf *to)
{
    char time[TIME_TEXT_LENGTH];
    const struct bytes texts[COLUMNS] = {
        bytes_of(r->side), bytes_of(r->reason), r->detail, {time, sizeof(time)}, r->line,
    };

    time_write_rfc3339(r->time_ms, time);
    if (f->kind == OUTPUT_CSV)
        append_csv(to, texts, f);
    else
        append_json(to, texts);
}

static void append_fields(const struct record *r, const struct record_form *form, struct buf *to)
{
    const struct csv_style style = {form->delimiter, form->null_text};
    struct bytes *fields = mem_alloc_zeroed(form->field_count, sizeof(*fields));

    record_fields(r, form, fields);
    for (size_t i = 0; i < form->field_count; i++) {
        if (i > 0)
            buf_append_char(to, form->delimiter);
        if (fields[i].p == NULL)
            buf_append_bytes(to, form->null_text);
        else
            text_append_csv(to, fields[i], &style);
    }
    mem_free(fields);
}

/* As its side's lines are written; nothing for NULL. */
static void append_record(const struct record *r, const struct record_form *form, struct buf *to)
{
    if (r == NULL)
        return;
    if (record_has(r, RECORD_PACKED))
        append_fields(r, form, to);
    else
        buf_append_bytes(to, record_body(r));
}

void fate_pair(const struct plan *plan, const struct encoder *e, const struct result *r,
               struct buf *detail, struct buf *line)
{
    if (r->kind == RESULT_FAILED)
        buf_append_text(detail, "on cannot be computed for this pair");
    else
        encoder_failure(e, detail);
    if (r->record[SIDE_RIGHT] != NULL) {
        buf_append_text(detail, "; right: ");
        append_record(r->record[SIDE_RIGHT], &plan->side[SIDE_RIGHT].form, detail);
    }
    append_record(r->record[SIDE_LEFT], &plan->side[SIDE_LEFT].form, line);
}
