#include "codec/rows.h"

#include <string.h>

#include "base/mem.h"
#include "base/stamp.h"
#include "codec/digits.h"
#include "codec/filling.h"
#include "codec/reason.h"
#include "codec/walk.h"

/* The best that new ones may use, if the machine has it. */
static enum scan_way best_way = SCAN_AVX2;

void rows_scan_at_best(enum scan_way way)
{
    best_way = way;
}

static enum scan_way choose_way(void)
{
    enum scan_way way = best_way;

    while (!scan_has(way))
        way--;
    return way;
}

void rows_init(struct rows *r, const struct input_format *f)
{
    const struct schema *s = f->schema;

    r->format = f;
    r->way = choose_way();
    columns_init(&r->columns, s);
    r->typed = mem_alloc_zeroed(s->count, sizeof(*r->typed));
    r->typed_count = 0;
    for (size_t i = 0; i < s->count; i++) {
        enum value_type type = s->fields[i].type;

        if (type != TYPE_STRING)
            r->typed[r->typed_count++] = (struct typed_field){
                .field = i,
                .type = type,
                .digits_in_range = digits_in_range(type),
                .decimal = type == TYPE_DOUBLE,
                .is_time = f->timed && i == f->time_field,
            };
    }
    r->stamps = f->timed && s->fields[f->time_field].type == TYPE_TIMESTAMP_MS;
    buf_init(&r->sentence);
}

void rows_done(struct rows *r)
{
    columns_done(&r->columns);
    mem_free(r->typed);
    buf_done(&r->sentence);
}

void rows_reject(struct rows *r, struct batch *b, struct bytes line, size_t consumed,
                 enum reject why)
{
    batch_reject(b, filling_add(b, line, consumed, BATCH_NO_TIME), why, "%s",
                 buf_text(&r->sentence));
    buf_clear(&r->sentence);
}

/* --- types --- */

static bool make_canonical(struct batch *b, enum value_type type, struct bytes *field)
{
    size_t start = b->scratch.tail;

    if (!filling_has_room(b, field->n + CANONICAL_ROOM))
        return false;
    value_append_canonical(type, *field, &b->scratch);
    *field = (struct bytes){b->scratch.data + start, b->scratch.tail - start};
    return true;
}

static __attribute__((noinline)) enum typing
type_field(const struct typed_field *t, struct batch *b, struct bytes *field, bool *canonical)
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
 * cleared where one was not, *ret_bad set to the field that is bad. *time is set if it
 * is not known yet. */
SCAN_INLINE enum typing type_fields(const struct rows *r, struct batch *b, struct bytes *fields,
                                    bool *canonical, size_t *ret_bad, int64_t *time)
{
    struct stamp_era era = STAMP_NO_ERA;

    for (size_t i = 0; i < r->typed_count; i++) {
        const struct typed_field *t = &r->typed[i];
        struct bytes *field = &fields[t->field];
        enum typing typing;

        if (field->p == NULL || (t->is_time && *time != BATCH_NO_TIME))
            continue;
        if (t->is_time && r->stamps && stamp_read(&era, *field, time))
            continue;
        if (!digits_plain_number(*field, t->digits_in_range)) {
            typing = type_field(t, b, field, canonical);
            if (typing != TYPING_GOOD) {
                *ret_bad = t->field;
                return typing;
            }
        }
        if (t->is_time)
            *time = value_time_ms(t->type, *field);
    }
    return TYPING_GOOD;
}

enum typing rows_type_fields(const struct rows *r, struct batch *b, struct bytes *fields,
                             size_t *ret_bad, int64_t *ret_time)
{
    bool canonical = true;

    *ret_time = BATCH_NO_TIME;
    return type_fields(r, b, fields, &canonical, ret_bad, ret_time);
}

/* --- one record, whatever is in it --- */

static bool has(struct bytes text, char c)
{
    return memchr(text.p, c, text.n) != NULL;
}

struct taking {
    const struct rows *rows;
    struct placing placing;
};

static void take_column(void *context, struct bytes text, bool quoted)
{
    struct taking *t = context;

    if (!quoted && columns_null_text(&t->rows->format->null_text, text))
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

/* Framers give lines, or leave line ends in quotes only; a counted frame may hold any. */
static bool may_hold_line_ends(const struct rows *r)
{
    return r->format->kind == INPUT_CSV && r->format->framing != FRAMING_LINE;
}

enum reject rows_judge_bytes(struct rows *r, struct bytes line)
{
    size_t at;

    if (has(line, '\0')) {
        reason_byte(&r->sentence, line, '\0');
        return REJECT_NUL;
    }
    if (has(line, '\xFF')) {
        reason_byte(&r->sentence, line, '\xFF');
        return REJECT_TELNET;
    }
    if (may_hold_line_ends(r) && quoted_bare_line_end(line, r->format->delimiter, &at)) {
        reason_line_end(&r->sentence, at);
        return REJECT_QUOTE;
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
                                int64_t *ret_time, enum reject *ret_why)
{
    struct taking t = {r, placing_start(&r->columns, filling_fields(b))};
    const struct quoted_sink sink = {take_column, &t};
    size_t bad;

    *ret_time = BATCH_NO_TIME;
    *ret_why = rows_judge_bytes(r, line);
    if (*ret_why != REJECT_NONE)
        return JUDGED_BAD;
    if (!filling_has_room(b, scratch_for(r, line)))
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
    if (type_fields(r, b, t.placing.fields, canonical, &bad, ret_time) != TYPING_GOOD) {
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
    struct row *row;
    int64_t time;

    switch (judge_record(r, b, line, &canonical, &time, &why)) {
    case JUDGED_GOOD:
        row = filling_add(b, line, consumed, time);
        if (canonical && r->columns.identity && !has(line, '"') && !has(line, '\r'))
            row->verdict = VERDICT_TAKE;
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

/* --- many lines --- */

/* The times of rows from `from` on, where they can be told at a glance. True: all can. */
static bool read_all_stamps(const struct rows *r, struct batch *b, size_t from)
{
    const struct bytes *fields = b->fields + r->format->time_field;
    size_t field_count = b->field_count, told = 0;
    struct stamp_era era = STAMP_NO_ERA;

    for (size_t i = from; i < b->count; i++) {
        if (stamp_read(&era, fields[i * field_count], &b->times[i]))
            told++;
        else
            b->times[i] = BATCH_NO_TIME;
    }
    return told == b->count - from;
}

/* The times of rows from `from` on that the batch tells, where they can be told at a glance. True:
 * all can. */
static bool read_stamps(const struct rows *r, struct batch *b, size_t from)
{
    if (!r->format->timed)
        return false;
    if (!r->stamps) {
        for (size_t i = from; i < b->count; i++)
            b->times[i] = BATCH_NO_TIME;
        return false;
    }
    return read_all_stamps(r, b, from);
}

/* False: it has no room in the scratch. */
static bool type_row(struct rows *r, struct batch *b, struct row *row)
{
    struct bytes *fields = batch_row_fields(b, row);
    int64_t *time = &b->times[batch_row_index(b, row)];
    size_t scratch_start = b->scratch.tail, bad;
    bool canonical = true;
    enum typing typing;

    typing = type_fields(r, b, fields, &canonical, &bad, time);
    if (typing == TYPING_GOOD) {
        if (!canonical)
            row->verdict = VERDICT_TAKE_PACKED;
        return true;
    }
    b->scratch.tail = scratch_start; /* nobody points there */
    if (typing == TYPING_NO_ROOM)
        return false;
    reason_type(&r->sentence, &r->format->schema->fields[bad], fields[bad]);
    batch_reject(b, row, REJECT_TYPE, "%s", buf_text(&r->sentence));
    buf_clear(&r->sentence);
    return true;
}

/* Marks the rows from `from` on of which a field cannot be told at a glance to be canonical. */
SCAN_INLINE void glance_column(const struct batch *b, size_t from, const struct typed_field *t,
                               bool decimal, bool *odd)
{
    const size_t field_count = b->field_count;
    const struct bytes *field = b->fields + from * field_count + t->field;

    for (size_t i = from; i < b->count; i++, field += field_count)
        odd[i] |= field->p != NULL && !digits_plain_number(*field, t->digits_in_range) &&
                  !(decimal && digits_plain_decimal(*field));
}

/* Times have to be read, not only told, but for stamps, which are. */
static void glance(const struct rows *r, const struct batch *b, size_t from, bool *odd)
{
    for (size_t k = 0; k < r->typed_count; k++) {
        const struct typed_field *t = &r->typed[k];

        if (t->is_time) {
            for (size_t i = from; i < b->count; i++)
                odd[i] |= b->times[i] == BATCH_NO_TIME;
        } else if (t->decimal) {
            glance_column(b, from, t, true, odd);
        } else {
            glance_column(b, from, t, false, odd);
        }
    }
}

/* Types are looked at when lines are cut, and not line by line, column by column: each loop has all
 * it needs in registers then. */
size_t rows_take_plain(struct rows *r, struct batch *b, const char *bytes, size_t n, size_t at)
{
    bool odd[BATCH_ROWS] = {false};
    size_t from = b->count;

    at = walk_lines(&r->columns, r->format, r->way, b, (struct bytes){bytes, n}, at);
    if (r->typed_count == 0 || (read_stamps(r, b, from) && r->typed_count == 1))
        return at;
    glance(r, b, from, odd);
    for (size_t i = from; i < b->count; i++)
        if (odd[i] && !type_row(r, b, &b->rows[i])) {
            b->count = i;
            return (size_t)(b->rows[i].line.p - bytes);
        }
    return at;
}
