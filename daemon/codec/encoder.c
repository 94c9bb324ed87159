#include "codec/encoder.h"

#include "base/copy.h"
#include "base/mem.h"
#include "codec/text.h"

enum op_kind {
    OP_RANGE, /* neighbouring fields of a side that stand in its lines as they are to be written */
    OP_FIELD,
    OP_EXPRESSION,
};

/* A step of a compiled select. */
struct op {
    enum op_kind kind;
    enum side side;
    size_t item;  /* of the select; OP_RANGE: the first of `count` */
    size_t field; /* OP_RANGE: the first of `count` */
    size_t count;
    unsigned ends_at; /* OP_RANGE: at which delimiter behind its start; 0: with the line */
    bool whole;       /* OP_RANGE: all of the line */
    const struct expr *expr;
};

/* How a text is written. */
enum form { FORM_RAW, FORM_CSV, FORM_JSON, FORM_JSON_NUMBER };

/* What an item is written as, and what comes before it in the row. */
struct column {
    struct bytes lead;
    enum form form;
};

/* A part of the row that is being made. */
struct piece {
    struct bytes lead, text;
    enum form form;
};

struct encoder {
    const struct output_format *format;
    const struct plan *plan;
    struct csv_style style;
    struct bytes null_text; /* of the output */
    bool alike[SIDES];      /* lines of this side that were received verbatim are right here */
    struct op *ops;         /* owned */
    size_t op_count;
    bool only_ranges;       /* all ops are OP_RANGE, ... */
    bool two_lines;         /* ... and they are two whole lines */
    struct column *columns; /* owned; one an item */
    struct buf leads;       /* what their leads point at */
    struct bytes tail;      /* of each row */

    /* Of the row that is being made. */
    struct piece *pieces; /* owned; room for one an item */
    size_t piece_count;
    struct bytes *fields[SIDES];    /* owned */
    bool cut[SIDES];                /* fields[side] is set */
    char (*values)[VALUE_TEXT_MAX]; /* owned; texts of expressions, one an item */
    struct expr_memory *memory;     /* owned */
    size_t failed_item;             /* of the row that could not be made ... */
    enum expr_outcome failure;      /* ... and why */
};

/* --- compiling --- */

static struct bytes never_null(struct bytes text)
{
    return text.n == 0 ? BYTES_LIT("") : text;
}

static enum form form_of(enum output_kind kind, enum value_type type)
{
    if (kind == OUTPUT_CSV)
        return FORM_CSV;
    switch (type) {
    case TYPE_STRING:
    case TYPE_TIMESTAMP:
        return FORM_JSON;
    case TYPE_TIMESTAMP_S: /* as received */
        return FORM_JSON_NUMBER;
    default:
        return FORM_RAW; /* canonical numbers and booleans are JSON */
    }
}

static void append_lead(struct buf *to, const struct output_format *f, size_t item)
{
    if (f->kind == OUTPUT_CSV) {
        if (item > 0)
            buf_append_char(to, f->delimiter);
        return;
    }
    buf_append_char(to, item == 0 ? '{' : ',');
    text_append_json(to, bytes_of(f->select.items[item].name));
    buf_append_char(to, ':');
}

static void make_columns(struct encoder *e)
{
    const struct expr_list *select = &e->format->select;
    size_t *ends = mem_alloc_zeroed(select->count, sizeof(*ends));
    const char *start;

    buf_init(&e->leads);
    for (size_t i = 0; i < select->count; i++) {
        append_lead(&e->leads, e->format, i);
        ends[i] = buf_length(&e->leads);
        e->columns[i].form = form_of(e->format->kind, select->items[i].expr->type);
    }
    start = buf_data(&e->leads); /* moves no more */
    for (size_t i = 0; i < select->count; i++) {
        size_t from = i > 0 ? ends[i - 1] : 0;
        e->columns[i].lead = (struct bytes){start + from, ends[i] - from};
    }
    mem_free(ends);
}

/* How many neighbouring fields of one side stand in the select from `item`, a field, on? */
static size_t count_neighbours(const struct expr_list *select, size_t item)
{
    const struct expr *first = select->items[item].expr;
    size_t n = 1;

    for (; item + n < select->count; n++) {
        const struct expr *e = select->items[item + n].expr;
        if (e->kind != EXPR_FIELD || e->side != first->side || e->field != first->field + n)
            break;
    }
    return n;
}

static struct op compile_op(const struct encoder *e, size_t item)
{
    const struct expr *expr = e->format->select.items[item].expr;
    struct op op = {.kind = OP_EXPRESSION, .item = item, .count = 1, .expr = expr};

    if (expr->kind != EXPR_FIELD)
        return op;
    op.kind = OP_FIELD;
    op.side = expr->side;
    op.field = expr->field;
    if (e->alike[expr->side]) {
        op.kind = OP_RANGE;
        op.count = count_neighbours(&e->format->select, item);
        if (op.field + op.count < e->plan->side[op.side].form.field_count)
            op.ends_at = (unsigned)op.count;
        op.whole = op.field == 0 && op.ends_at == 0;
    }
    return op;
}

static void compile(struct encoder *e)
{
    e->only_ranges = true;
    for (size_t item = 0; item < e->format->select.count;) {
        struct op op = compile_op(e, item);

        e->ops[e->op_count++] = op;
        e->only_ranges &= op.kind == OP_RANGE;
        item += op.count;
    }
    e->two_lines = e->only_ranges && e->op_count == 2 && e->ops[0].whole && e->ops[1].whole;
}

static bool is_alike(const struct output_format *f, const struct record_form *input)
{
    return f->kind == OUTPUT_CSV && f->delimiter == input->delimiter &&
           bytes_equal(f->null_text, input->null_text);
}

struct encoder *encoder_new(const struct output_format *f, const struct plan *plan)
{
    struct encoder *e = mem_alloc_zeroed(1, sizeof(*e));
    size_t count = f->select.count;

    e->format = f;
    e->plan = plan;
    e->style = (struct csv_style){f->delimiter, never_null(f->null_text)};
    e->null_text = f->kind == OUTPUT_CSV ? e->style.null_text : BYTES_LIT("null");
    e->tail = f->kind == OUTPUT_CSV ? BYTES_LIT("\n") : BYTES_LIT("}\n");
    e->columns = mem_alloc_zeroed(count, sizeof(*e->columns));
    e->ops = mem_alloc_zeroed(count, sizeof(*e->ops));
    e->pieces = mem_alloc_zeroed(count, sizeof(*e->pieces));
    e->values = mem_alloc_zeroed(count, sizeof(*e->values));
    for (int s = 0; s < SIDES; s++) {
        e->alike[s] = is_alike(f, &plan->side[s].form);
        e->fields[s] = mem_alloc_zeroed(plan->side[s].form.field_count, sizeof(*e->fields[s]));
    }
    e->memory = expr_memory_new();
    make_columns(e);
    compile(e);
    return e;
}

void encoder_free(struct encoder *e)
{
    if (e == NULL)
        return;
    mem_free(e->columns);
    mem_free(e->ops);
    mem_free(e->pieces);
    mem_free(e->values);
    for (int s = 0; s < SIDES; s++)
        mem_free(e->fields[s]);
    expr_memory_free(e->memory);
    buf_done(&e->leads);
    mem_free(e);
}

/* --- a row, piece by piece --- */

static inline void add_piece(struct encoder *e, size_t item, struct bytes text, enum form form)
{
    e->pieces[e->piece_count++] = (struct piece){e->columns[item].lead, text, form};
}

static void add_text(struct encoder *e, size_t item, struct bytes text)
{
    if (text.p == NULL)
        add_piece(e, item, e->null_text, FORM_RAW);
    else
        add_piece(e, item, text, e->columns[item].form);
}

/* NULL: the side is padded. */
static const struct bytes *fields_of(struct encoder *e, const struct result *r, enum side side)
{
    if (r->record[side] == NULL)
        return NULL;
    if (!e->cut[side])
        record_fields(r->record[side], &e->plan->side[side].form, e->fields[side]);
    e->cut[side] = true;
    return e->fields[side];
}

static void add_field(struct encoder *e, const struct result *r, size_t item, enum side side,
                      size_t field)
{
    const struct bytes *fields = fields_of(e, r, side);
    struct bytes text = fields != NULL ? fields[field] : BYTES_NULL;

    if (text.p != NULL && e->alike[side] && !record_has(r->record[side], RECORD_PACKED))
        add_piece(e, item, text, FORM_RAW);
    else
        add_text(e, item, text);
}

/* A call: the loop over whole lines, which needs none, keeps its registers. */
static __attribute__((noinline)) struct bytes cut_range(const struct op *op, struct bytes body,
                                                        char delimiter)
{
    const char *start;

    if (op->field > 0) {
        start = bytes_find_nth(body, delimiter, (unsigned)op->field) + 1;
        body.n -= (size_t)(start - body.p);
        body.p = start;
    }
    if (op->ends_at > 0)
        body.n = (size_t)(bytes_find_nth(body, delimiter, op->ends_at) - body.p);
    return body;
}

/* Of a record that is stored as it came. */
static inline struct bytes range_of(const struct op *op, const struct record *r, char delimiter)
{
    struct bytes body = record_body(r);

    return op->whole ? body : cut_range(op, body, delimiter);
}

static void add_range(struct encoder *e, const struct result *r, const struct op *op)
{
    const struct record *record = r->record[op->side];

    if (record != NULL && !record_has(record, RECORD_PACKED)) {
        add_piece(e, op->item, range_of(op, record, e->style.delimiter), FORM_RAW);
        return;
    }
    for (size_t i = 0; i < op->count; i++)
        add_field(e, r, op->item + i, op->side, op->field + i);
}

static struct expr_input input_of(struct encoder *e, const struct result *r)
{
    struct expr_input in = {
        .window_start = r->window_start,
        .window_end = r->window_end,
        .memory = e->memory,
    };

    for (int s = 0; s < SIDES; s++) {
        in.fields[s] = fields_of(e, r, (enum side)s);
        in.time[s] = r->time[s]; /* nobody asks for that of a record that is not there */
    }
    return in;
}

static bool add_expression(struct encoder *e, const struct result *r, const struct op *op)
{
    const struct expr_input in = input_of(e, r);
    enum expr_outcome outcome;
    struct value v;

    outcome = expr_evaluate(op->expr, &in, &v);
    if (outcome != EXPR_OK) {
        e->failed_item = op->item;
        e->failure = outcome;
        return false;
    }
    add_text(e, op->item, v.null ? BYTES_NULL : value_text(&v, e->values[op->item]));
    return true;
}

static bool make_pieces(struct encoder *e, const struct result *r)
{
    e->piece_count = 0;
    expr_memory_reset(e->memory);
    e->cut[SIDE_LEFT] = e->cut[SIDE_RIGHT] = false;
    for (size_t i = 0; i < e->op_count; i++) {
        const struct op *op = &e->ops[i];

        switch (op->kind) {
        case OP_RANGE:
            add_range(e, r, op);
            break;
        case OP_FIELD:
            add_field(e, r, op->item, op->side, op->field);
            break;
        case OP_EXPRESSION:
            if (!add_expression(e, r, op))
                return false;
            break;
        }
    }
    return true;
}

/* --- and its bytes --- */

static inline size_t piece_room(const struct piece *p)
{
    size_t n = p->text.n;

    switch (p->form) {
    case FORM_CSV:
        n = text_csv_room(n);
        break;
    case FORM_JSON:
        n = text_json_room(n);
        break;
    case FORM_RAW:
    case FORM_JSON_NUMBER:
        break;
    }
    return p->lead.n + n;
}

static inline char *write_piece(char *to, const struct piece *p, const struct csv_style *style)
{
    to = copy_bytes(to, p->lead.p, p->lead.n);
    switch (p->form) {
    case FORM_CSV:
        return text_write_csv(to, p->text, style);
    case FORM_JSON:
        return text_write_json(to, p->text);
    case FORM_JSON_NUMBER:
        return text_write_json_number(to, p->text);
    case FORM_RAW:
        break;
    }
    return copy_bytes(to, p->text.p, p->text.n);
}

/* Apart from the most common rows, which save no registers for it. */
static __attribute__((noinline)) bool append_pieces(struct encoder *e, const struct result *r,
                                                    struct buf *to)
{
    size_t room = e->tail.n;
    char *start, *at;

    if (!make_pieces(e, r))
        return false;
    for (size_t i = 0; i < e->piece_count; i++)
        room += piece_room(&e->pieces[i]);
    start = at = buf_reserve(to, room);
    for (size_t i = 0; i < e->piece_count; i++)
        at = write_piece(at, &e->pieces[i], &e->style);
    at = copy_bytes(at, e->tail.p, e->tail.n);
    buf_advance(to, (size_t)(at - start));
    return true;
}

/* --- the most common rows by far: ranges of lines as they were received --- */

static __attribute__((noinline)) char *grow(struct buf *to, char *at, size_t room)
{
    size_t used = (size_t)(at - (to->data + to->tail));

    return buf_reserve(to, used + room) + used;
}

/* A side that is padded or packed: field by field, each with a delimiter behind it. */
static __attribute__((noinline)) char *write_other_range(const struct encoder *e,
                                                         const struct op *op,
                                                         const struct record *r, struct buf *to,
                                                         char *at)
{
    const struct bytes body = r != NULL ? record_body(r) : BYTES_NULL;
    const char *next = body.p;

    at = grow(to, at, text_csv_room(body.n) + op->count * (e->style.null_text.n + 3));
    for (size_t i = 0; r != NULL && i < op->field; i++)
        record_packed_next(&next);
    for (size_t i = 0; i < op->count; i++) {
        struct bytes text = r != NULL ? record_packed_next(&next) : BYTES_NULL;
        at = text.p != NULL ? text_write_csv(at, text, &e->style)
                            : copy_bytes(at, e->style.null_text.p, e->style.null_text.n);
        *at++ = e->style.delimiter;
    }
    return at;
}

/* Appends rows up to the first that is none; returns their number. What does not change is read
 * once: for all that the compiler knows it may be written to the rows. */
static inline __attribute__((always_inline)) size_t
append_ranges(const struct encoder *e, size_t op_count, bool whole, const struct result *results,
              size_t n, size_t full, struct buf *to)
{
    const char delimiter = e->style.delimiter;
    const struct op *const ops = e->ops;
    size_t i;

    for (i = 0; i < n && buf_length(to) < full && results[i].kind != RESULT_FAILED; i++) {
        char *at = to->data + to->tail;
        const char *limit = to->data + to->capacity;

        for (size_t k = 0; k < op_count; k++) {
            const struct record *record = results[i].record[ops[k].side];
            struct bytes text;

            if (record == NULL || record_has(record, RECORD_PACKED)) {
                at = write_other_range(e, &ops[k], record, to, at);
                limit = to->data + to->capacity;
                continue;
            }
            text = whole ? record_body(record) : range_of(&ops[k], record, delimiter);
            if (text.n >= (size_t)(limit - at)) {
                at = grow(to, at, text.n + 1);
                limit = to->data + to->capacity;
            }
            at = copy_bytes(at, text.p, text.n);
            *at++ = delimiter;
        }
        at[-1] = '\n';
        to->tail = (size_t)(at - to->data);
    }
    return i;
}

/* Two whole lines are what there is without a select: the compiler makes a loop for them that does
 * not look at ops. */
static size_t append_rows_of_ranges(const struct encoder *e, const struct result *results, size_t n,
                                    size_t full, struct buf *to)
{
    if (e->two_lines)
        return append_ranges(e, 2, true, results, n, full, to);
    return append_ranges(e, e->op_count, false, results, n, full, to);
}

size_t encoder_results(struct encoder *e, const struct result *results, size_t n, size_t full,
                       struct buf *to)
{
    size_t i = 0;

    buf_reserve(to, 1); /* there is a buffer */
    for (;;) {
        if (e->only_ranges)
            i += append_rows_of_ranges(e, results + i, n - i, full, to);
        if (i == n || buf_length(to) >= full || results[i].kind == RESULT_FAILED ||
            !append_pieces(e, &results[i], to))
            return i;
        i++;
    }
}

void encoder_failure(const struct encoder *e, struct buf *to)
{
    const char *name = e->format->select.items[e->failed_item].name;

    buf_printf(to, "select, column %zu%s%s: %s", e->failed_item + 1,
               name == NULL || *name == '\0' ? "" : " ", name == NULL ? "" : name,
               expr_outcome_text(e->failure));
}

void encoder_header(const struct encoder *e, struct buf *to)
{
    const struct expr_list *select = &e->format->select;

    if (e->format->kind != OUTPUT_CSV || !e->format->header)
        return;
    for (size_t i = 0; i < select->count; i++) {
        buf_append_bytes(to, e->columns[i].lead);
        text_append_csv(to, bytes_of(select->items[i].name), &e->style);
    }
    buf_append_char(to, '\n');
}
