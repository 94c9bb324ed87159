#include "pair.h"

#undef NDEBUG
#include <assert.h>

#include "base/mem.h"
#include "fixture.h"

static const char *const words[SIDES] = {"left", "right"};

void pair_open(struct pair *p, const char *left_fields, const char *right_fields)
{
    const char *fields[SIDES] = {left_fields, right_fields};

    *p = (struct pair){.plan = plan_new()};
    for (int s = 0; s < SIDES; s++) {
        struct plan_side *side = &p->plan->side[s];

        fixture_add_fields(&side->schema, fields[s]);
        p->input[s] = (struct input_format){
            .schema = &side->schema,
            .delimiter = ',',
            .null_text = {"", 0},
            .multiline = true,
            .max_line = 1 << 20,
        };
        assert(strcmp(side->schema.name, words[s]) == 0);
    }
    p->output.delimiter = ',';
    p->output.null_text = (struct bytes){"", 0};
}

void pair_close(struct pair *p)
{
    expr_list_done(&p->output.select);
    plan_free(p->plan);
}

static void name_column(struct expr_item *item)
{
    struct buf text = BUF_EMPTY;

    if (item->name != NULL)
        return;
    expr_write(item->expr, &text);
    item->name = mem_strdup(buf_text(&text));
    buf_done(&text);
}

void pair_select(struct pair *p, const char *select)
{
    const struct expr_scope scope = {
        .schemas = {&p->plan->side[SIDE_LEFT].schema, &p->plan->side[SIDE_RIGHT].schema},
        .windows = true,
        .times = true,
    };
    struct expr_fault fault;
    bool ok;

    expr_list_done(&p->output.select);
    ok = expr_parse_list(bytes_of(select), true, &p->output.select, &fault);
    assert(ok);
    for (size_t i = 0; i < p->output.select.count; i++) {
        ok = expr_bind(p->output.select.items[i].expr, &scope, &fault);
        assert(ok);
        name_column(&p->output.select.items[i]);
    }
}

/* The record of a line, as the engine would store it. To be freed. */
static struct record *read_record(const struct input_format *f, struct bytes line)
{
    struct decoder *d = decoder_new(f);
    struct buf packed = BUF_EMPTY;
    struct record_parts parts = {.time = PAIR_TIME};
    struct record *record;
    struct batch b;

    batch_init(&b, f->schema->count);
    decoder_read(d, line.p, line.n, INPUT_ENDED, &b);
    assert(b.count == 1 && b.rejected == 0);
    parts.body = b.rows[0].line;
    if (b.rows[0].verdict != VERDICT_TAKE) {
        const struct bytes *fields = batch_row_fields(&b, &b.rows[0]);
        char *at = buf_reserve(&packed, record_packed_room(fields, f->schema->count));
        buf_advance(&packed, (size_t)(record_pack(fields, f->schema->count, at) - at));
        parts.body = buf_bytes(&packed);
        parts.flags = RECORD_PACKED;
    }
    parts.key = (struct bytes){parts.body.p, 0};
    record = mem_alloc(record_size(&parts)); /* nothing behind it may be touched */
    record_write_parts(&parts, 0, record);
    buf_done(&packed);
    batch_done(&b);
    decoder_free(d);
    return record;
}

bool pair_try_bytes(struct pair *p, const struct bytes lines[SIDES], struct buf *to)
{
    struct result result = {
        .kind = RESULT_PAIR,
        .time = {PAIR_TIME, PAIR_TIME},
        .window_start = 0,
        .window_end = 10000,
    };
    struct record *records[SIDES] = {NULL, NULL};
    struct encoder *e;
    bool ok;

    for (int s = 0; s < SIDES; s++) {
        p->plan->side[s].form = (struct record_form){
            .field_count = p->input[s].schema->count,
            .delimiter = p->input[s].delimiter,
            .null_text = {mem_strndup(p->input[s].null_text.p, p->input[s].null_text.n),
                          p->input[s].null_text.n},
        };
        if (lines[s].p != NULL)
            records[s] = read_record(&p->input[s], lines[s]);
        result.record[s] = records[s];
    }
    e = encoder_new(&p->output, p->plan);
    ok = encoder_results(e, &result, 1, SIZE_MAX, to) == 1;
    if (!ok)
        encoder_failure(e, to);
    encoder_free(e);
    for (int s = 0; s < SIDES; s++) {
        mem_free((char *)p->plan->side[s].form.null_text.p);
        p->plan->side[s].form.null_text = BYTES_NULL;
        mem_free(records[s]);
    }
    return ok;
}

void pair_encode_bytes(struct pair *p, const struct bytes lines[SIDES], struct buf *to)
{
    bool ok = pair_try_bytes(p, lines, to);

    assert(ok);
}

void pair_encode(struct pair *p, const char *left, const char *right, struct buf *to)
{
    const struct bytes lines[SIDES] = {bytes_of(left), bytes_of(right)};

    pair_encode_bytes(p, lines, to);
}
