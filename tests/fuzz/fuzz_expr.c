/*
 * Any text is parsed as expressions or refused with a reason and a place in it. What is
 * written of one is parsed as the same, and has the same value over any fields.
 *
 * The first line is the text, those that follow are the fields of both sides; one that
 * is none of its type is NULL.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "fuzz.h"
#include "lang/expr.h"

#define FIELDS VALUE_TYPES /* one of each type on each side */

struct input {
    struct schema schema[SIDES];
    struct bytes fields[SIDES][FIELDS];
    struct buf texts[SIDES][FIELDS]; /* where the fields lie */
    struct expr_memory *memory;
};

static struct bytes take_line(struct bytes *rest)
{
    const char *end = rest->n > 0 ? memchr(rest->p, '\n', rest->n) : NULL;
    struct bytes line = {rest->p, end != NULL ? (size_t)(end - rest->p) : rest->n};

    rest->p += line.n + (end != NULL);
    rest->n -= line.n + (end != NULL);
    return line;
}

static void make_field(struct input *in, enum side side, enum value_type type, struct bytes line)
{
    struct buf *text = &in->texts[side][type];

    schema_add(&in->schema[side], bytes_of(value_type_name(type)), type);
    in->fields[side][type] = BYTES_NULL;
    if (value_check(type, line) == VALUE_BAD)
        return;
    value_append_canonical(type, line, text);
    buf_reserve(text, 1);
    in->fields[side][type] = buf_bytes(text);
}

static void open_input(struct input *in, struct bytes lines)
{
    *in = (struct input){.memory = expr_memory_new()};
    for (int s = 0; s < SIDES; s++) {
        schema_init(&in->schema[s], side_word((enum side)s));
        for (int t = 0; t < VALUE_TYPES; t++)
            make_field(in, (enum side)s, (enum value_type)t, take_line(&lines));
    }
    schema_add(&in->schema[SIDE_LEFT], BYTES_LIT("user.id"), TYPE_STRING);
}

static void close_input(struct input *in)
{
    expr_memory_free(in->memory);
    for (int s = 0; s < SIDES; s++) {
        for (int t = 0; t < VALUE_TYPES; t++)
            buf_done(&in->texts[s][t]);
        schema_done(&in->schema[s]);
    }
}

/* --- values --- */

static void append_value(const struct expr *e, const struct value *v, struct buf *to)
{
    assert(v->type == value_type_class(e->type));
    if (v->null) {
        buf_append_text(to, "NULL");
        return;
    }
    if (v->type == TYPE_DOUBLE)
        assert(isfinite(v->real));
    value_append(v, to);
}

/* `padded`: there is no right record. */
static void append_outcome(const struct expr *e, const struct input *in, bool padded,
                           struct buf *to)
{
    struct bytes left[FIELDS + 1];
    const struct expr_input row = {
        .fields = {left, padded ? NULL : in->fields[SIDE_RIGHT]},
        .time = {1, INT64_MAX},
        .window_start = EXPR_NO_WINDOW,
        .window_end = INT64_MAX,
        .memory = in->memory,
    };
    struct value v;
    enum expr_outcome o;

    memcpy(left, in->fields[SIDE_LEFT], sizeof(in->fields[SIDE_LEFT]));
    left[FIELDS] = BYTES_LIT("ann");
    expr_memory_reset(in->memory);
    o = expr_evaluate(e, &row, &v);
    if (o == EXPR_OK)
        append_value(e, &v, to);
    else
        buf_append_text(to, expr_outcome_text(o));
    buf_append_char(to, '\n');
}

static void append_outcomes(struct expr *e, const struct input *in, size_t text_length,
                            struct buf *to)
{
    const struct expr_scope scope = {
        .schemas = {&in->schema[SIDE_LEFT], &in->schema[SIDE_RIGHT]},
        .times = true,
        .windows = true,
    };
    struct expr_fault fault;

    if (!expr_bind(e, &scope, &fault)) {
        assert(fault.offset <= text_length && fault.message[0] != '\0');
        mem_free(fault.message);
        return;
    }
    append_outcome(e, in, false, to);
    append_outcome(e, in, true, to);
}

/* --- texts --- */

static bool parse(struct bytes text, struct expr_list *ret)
{
    struct expr_fault fault;

    if (expr_parse_list(text, true, ret, &fault))
        return true;
    assert(fault.offset <= text.n && fault.message[0] != '\0');
    mem_free(fault.message);
    return false;
}

static void check_item(struct expr *e, const struct input *in, size_t text_length)
{
    struct buf written = BUF_EMPTY, again = BUF_EMPTY, values = BUF_EMPTY, same = BUF_EMPTY;
    struct expr_list list = {NULL, 0};
    bool ok;

    expr_write(e, &written);
    ok = parse(buf_bytes(&written), &list);
    assert(ok && list.count == 1);
    expr_write(list.items[0].expr, &again);
    assert(bytes_equal(buf_bytes(&written), buf_bytes(&again)));

    append_outcomes(e, in, text_length, &values);
    append_outcomes(list.items[0].expr, in, buf_length(&written), &same);
    assert(bytes_equal(buf_bytes(&values), buf_bytes(&same)));
    expr_list_done(&list);
    buf_done(&written);
    buf_done(&again);
    buf_done(&values);
    buf_done(&same);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes rest = {(const char *)data, size};
    struct bytes text = take_line(&rest);
    struct expr_list list;
    struct input in;

    if (!parse(text, &list))
        return 0;
    open_input(&in, rest);
    for (size_t i = 0; i < list.count; i++)
        check_item(list.items[i].expr, &in, text.n);
    expr_list_done(&list);
    close_input(&in);
    return 0;
}
