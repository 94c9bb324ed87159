#include "codec/rows.h"

#include <string.h>

#include "base/mem.h"
#include "codec/digits.h"
#include "codec/reason.h"
#include "codec/scan.h"

#define SCRATCH_MIN ((size_t)16 << 10)
/* More than value_append_canonical() writes, but for types that keep their text. */
#define CANONICAL_ROOM 64

void rows_init(struct rows *r, const struct input_format *f)
{
    const struct schema *s = f->schema;

    r->format = f;
    columns_init(&r->columns, s);
    r->typed = mem_alloc_zeroed(s->count, sizeof(*r->typed));
    r->typed_count = 0;
    for (size_t i = 0; i < s->count; i++) {
        enum value_type type = s->fields[i].type;

        if (type != TYPE_STRING)
            r->typed[r->typed_count++] = (struct typed_field){i, type, digits_in_range(type)};
    }
    buf_init(&r->sentence);
}

void rows_done(struct rows *r)
{
    columns_done(&r->columns);
    mem_free(r->typed);
    buf_done(&r->sentence);
}

static struct bytes *next_fields(const struct batch *b)
{
    return b->fields + b->count * b->field_count;
}

static inline struct row *add_row(struct batch *b, struct bytes line, size_t consumed)
{
    struct row *r = &b->rows[b->count];

    *r = (struct row){
        .line = line,
        .consumed = consumed,
        .fields = (uint32_t)(b->count * b->field_count),
        .reject = REJECT_NONE,
        .detail = -1,
    };
    b->count++;
    return r;
}

void rows_reject(struct rows *r, struct batch *b, struct bytes line, size_t consumed,
                 enum reject why)
{
    batch_reject(b, add_row(b, line, consumed), why, "%s", buf_text(&r->sentence));
    buf_clear(&r->sentence);
}

/* Room in the scratch, which must not move while rows point into it. */
static bool scratch_has_room(struct batch *b, size_t need)
{
    struct buf *s = &b->scratch;

    if (s->data != NULL && s->capacity - s->tail >= need)
        return true;
    if (buf_length(s) > 0)
        return false;
    buf_reserve(s, need > SCRATCH_MIN ? need : SCRATCH_MIN);
    return true;
}

/* --- types --- */

enum typing {
    TYPING_GOOD,
    TYPING_BAD,
    TYPING_NO_ROOM, /* in the scratch */
};

static bool make_canonical(struct batch *b, enum value_type type, struct bytes *field)
{
    size_t start = b->scratch.tail;

    if (!scratch_has_room(b, field->n + CANONICAL_ROOM))
        return false;
    value_append_canonical(type, *field, &b->scratch);
    *field = (struct bytes){b->scratch.data + start, b->scratch.tail - start};
    return true;
}

static enum typing type_field(const struct typed_field *t, struct batch *b, struct bytes *field,
                              bool *canonical)
{
    enum value_check check = value_check(t->type, *field);

    if (check == VALUE_CANONICAL)
        return TYPING_GOOD;
    if (check == VALUE_BAD)
        return TYPING_BAD;
    *canonical = false;
    return make_canonical(b, t->type, field) ? TYPING_GOOD : TYPING_NO_ROOM;
}

/* Checks the fields that are no strings, and makes them canonical; *canonical is
 * cleared where one was not, *ret_bad set to the field that is bad. */
static inline enum typing type_fields(const struct rows *r, struct batch *b, struct bytes *fields,
                                      bool *canonical, size_t *ret_bad)
{
    for (size_t i = 0; i < r->typed_count; i++) {
        const struct typed_field *t = &r->typed[i];
        struct bytes *field = &fields[t->field];
        enum typing typing;

        if (field->p == NULL || digits_plain_number(*field, t->digits_in_range))
            continue;
        typing = type_field(t, b, field, canonical);
        if (typing != TYPING_GOOD) {
            *ret_bad = t->field;
            return typing;
        }
    }
    return TYPING_GOOD;
}

/* --- one record, whatever is in it --- */

static bool has(struct bytes text, char c)
{
    return memchr(text.p, c, text.n) != NULL;
}

static inline bool is_null_text(const struct bytes *null_text, struct bytes text)
{
    return text.n == null_text->n && (text.n == 0 || memcmp(text.p, null_text->p, text.n) == 0);
}

struct taking {
    const struct rows *rows;
    struct placing placing;
};

static void take_column(void *context, struct bytes text, bool quoted)
{
    struct taking *t = context;

    if (!quoted && is_null_text(&t->rows->format->null_text, text))
        text = BYTES_NULL;
    placing_put(&t->placing, text);
}

bool rows_cut(const struct rows *r, struct bytes record, struct buf *scratch,
              const struct quoted_sink *sink)
{
    const char *at = record.p, *end = record.p + record.n;
    const char *stop;

    if (has(record, '"'))
        return quoted_cut(record, r->format->delimiter, scratch, sink);
    while ((stop = memchr(at, r->format->delimiter, (size_t)(end - at))) != NULL) {
        sink->put(sink->context, (struct bytes){at, (size_t)(stop - at)}, false);
        at = stop + 1;
    }
    sink->put(sink->context, (struct bytes){at, (size_t)(end - at)}, false);
    return true;
}

enum reject rows_judge_bytes(struct rows *r, struct bytes line)
{
    if (has(line, '\0')) {
        reason_byte(&r->sentence, line, '\0');
        return REJECT_NUL;
    }
    if (has(line, '\xFF')) {
        reason_byte(&r->sentence, line, '\xFF');
        return REJECT_TELNET;
    }
    return REJECT_NONE;
}

enum judged {
    JUDGED_GOOD,
    JUDGED_BAD,     /* the reason is set and the sentence made */
    JUDGED_NO_ROOM, /* in the scratch */
};

/* Bytes of scratch that a record may need: its unquoted fields, and its typed ones
 * made canonical. */
static size_t scratch_for(const struct rows *r, struct bytes line)
{
    return 2 * line.n + r->typed_count * CANONICAL_ROOM;
}

/* The order of judgement: bytes, quoting, number of fields, types. */
static enum judged judge_record(struct rows *r, struct batch *b, struct bytes line, bool *canonical,
                                enum reject *ret_why)
{
    struct taking t = {r, placing_start(&r->columns, next_fields(b))};
    const struct quoted_sink sink = {take_column, &t};
    size_t bad;

    *ret_why = rows_judge_bytes(r, line);
    if (*ret_why != REJECT_NONE)
        return JUDGED_BAD;
    if (!scratch_has_room(b, scratch_for(r, line)))
        return JUDGED_NO_ROOM;
    if (!rows_cut(r, line, &b->scratch, &sink)) {
        reason_quotes(&r->sentence, line, r->format->delimiter);
        *ret_why = REJECT_QUOTE;
        return JUDGED_BAD;
    }
    if (t.placing.column != r->columns.count) {
        reason_field_count(&r->sentence, t.placing.column, r->columns.count, r->format->header,
                           r->format->schema);
        *ret_why = REJECT_FIELDS;
        return JUDGED_BAD;
    }
    if (type_fields(r, b, t.placing.fields, canonical, &bad) != TYPING_GOOD) {
        reason_type(&r->sentence, &r->format->schema->fields[bad], t.placing.fields[bad]);
        *ret_why = REJECT_TYPE;
        return JUDGED_BAD;
    }
    return JUDGED_GOOD;
}

bool rows_take_record(struct rows *r, struct batch *b, struct bytes line, size_t consumed)
{
    size_t scratch_start = b->scratch.tail;
    bool canonical = true;
    enum reject why;

    switch (judge_record(r, b, line, &canonical, &why)) {
    case JUDGED_GOOD:
        add_row(b, line, consumed)->verbatim =
            canonical && r->columns.identity && !has(line, '"') && !has(line, '\r');
        return true;
    case JUDGED_BAD:
        b->scratch.tail = scratch_start; /* nobody points there */
        rows_reject(r, b, line, consumed, why);
        return true;
    case JUDGED_NO_ROOM:
        break;
    }
    return false;
}

/* --- many plain lines --- */

/* One walk over the marks. What does not change is kept here, apart from what is
 * written through pointers, so that it can stay in registers. */
struct walk {
    const char *line;  /* where the current one starts */
    const char *field; /* and its current field */
    struct placing placing;
    struct bytes null_text;
    size_t columns, max_line;
};

static inline void end_field(struct walk *w, const char *stop)
{
    struct bytes text = {w->field, (size_t)(stop - w->field)};

    placing_put(&w->placing, is_null_text(&w->null_text, text) ? BYTES_NULL : text);
    w->field = stop + 1;
}

/* The line's last field ends at `stop`. False: it is no good row, or has no room. */
static inline bool end_line(struct walk *w, const struct rows *r, struct batch *b, const char *stop,
                            size_t consumed)
{
    struct bytes line = {w->line, (size_t)(stop - w->line)};
    size_t scratch_start = b->scratch.tail;
    bool canonical = true;
    size_t bad;

    end_field(w, stop);
    if (w->placing.column != w->columns || line.n > w->max_line)
        return false;
    if (type_fields(r, b, w->placing.fields, &canonical, &bad) != TYPING_GOOD) {
        b->scratch.tail = scratch_start;
        return false;
    }
    add_row(b, line, consumed)->verbatim = canonical && r->columns.identity;
    w->placing = placing_start(&r->columns, w->placing.fields + b->field_count);
    return true;
}

size_t rows_take_plain(const struct rows *r, struct batch *b, const char *bytes, size_t n,
                       size_t at)
{
    const char delimiter = r->format->delimiter;
    struct walk w = {
        .line = bytes + at,
        .field = bytes + at,
        .placing = placing_start(&r->columns, next_fields(b)),
        .null_text = r->format->null_text,
        .columns = r->columns.count,
        .max_line = r->format->max_line,
    };
    uint64_t odd = 0; /* marks of the current line in the blocks before this one */

    for (size_t base = at; base < n; base += SCAN_BLOCK) {
        struct scan_marks m = scan(bytes + base, n - base, delimiter);

        for (uint64_t stops = m.line_end | m.delimiter; stops != 0; stops &= stops - 1) {
            uint64_t bit = stops & -stops;
            const char *end = bytes + base + __builtin_ctzll(stops);
            const char *stop = end;

            if ((m.line_end & bit) == 0) {
                end_field(&w, end);
                continue;
            }
            /* The lines before this one in the block had no odd byte. */
            if ((odd | (m.odd & (bit - 1))) != 0)
                return (size_t)(w.line - bytes);
            if (end > w.line && end[-1] == '\r')
                stop--;
            if (stop > w.line && !end_line(&w, r, b, stop, (size_t)(end + 1 - bytes)))
                return (size_t)(w.line - bytes);
            w.line = w.field = end + 1;
            if (b->count == BATCH_ROWS)
                return (size_t)(w.line - bytes);
        }
        odd |= m.odd;
    }
    return (size_t)(w.line - bytes);
}
