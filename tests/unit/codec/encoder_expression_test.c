/*
 * The encoder with expressions that are no plain fields. This version's language has
 * none yet: so the evaluator here is the test's own, and gives what its table says.
 */
#include "unit.h"

#include "pair.h"

#define KIND_OF_TEST ((enum expr_kind)99)

static struct value value;
static enum expr_outcome outcome;
static char seen[SIDES][16]; /* the first field of each side */

enum expr_outcome expr_evaluate(const struct expr *e, const struct expr_input *in,
                                struct value *ret)
{
    assert_int_equal(e->kind, KIND_OF_TEST);
    for (int s = 0; s < SIDES; s++) {
        struct bytes field = in->fields[s] != NULL ? in->fields[s][0] : BYTES_LIT("padded");

        memset(seen[s], '\0', sizeof(seen[s]));
        memcpy(seen[s], field.p, field.n);
    }
    *ret = value;
    return outcome;
}

/* The row of a select `id, EXPRESSION as e, text`. */
static void encode(struct value v, enum output_kind kind, struct buf *to)
{
    struct pair p;
    struct expr *e;

    pair_open(&p, "id", "text");
    pair_select(&p, "id, id as e, text");
    e = p.output.select.items[1].expr;
    e->kind = KIND_OF_TEST;
    e->type = v.type;
    p.output.kind = kind;
    value = v;
    outcome = EXPR_OK;
    buf_clear(to);
    pair_encode(&p, "k", "x", to);
    pair_close(&p);
}

static void values_are_written_as_their_types_are(void **state)
{
    static const struct {
        struct value v;
        const char *csv, *json;
    } rows[] = {
        {{.type = TYPE_BIGINT, .bigint = -12}, "-12", "-12"},
        {{.type = TYPE_DOUBLE, .real = 0.5}, "0.5", "0.5"},
        {{.type = TYPE_BOOLEAN, .boolean = true}, "true", "true"},
        {{.type = TYPE_BOOLEAN, .boolean = false}, "false", "false"},
        {{.type = TYPE_TIMESTAMP, .bigint = 0},
         "1970-01-01T00:00:00.000Z",
         "\"1970-01-01T00:00:00.000Z\""},
        {{.type = TYPE_STRING, .text = BYTES_LIT("a,\"b\"")}, "\"a,\"\"b\"\"\"", "\"a,\\\"b\\\"\""},
        {{.type = TYPE_STRING, .text = BYTES_LIT("")}, "\"\"", "\"\""},
        {{.type = TYPE_STRING, .null = true}, "", "null"},
        {{.type = TYPE_BIGINT, .null = true}, "", "null"},
    };
    struct buf to = BUF_EMPTY, expected = BUF_EMPTY;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        buf_clear(&expected);
        buf_printf(&expected, "k,%s,x\n", rows[i].csv);
        encode(rows[i].v, OUTPUT_CSV, &to);
        assert_string_equal(buf_text(&to), buf_text(&expected));
        buf_clear(&expected);
        buf_printf(&expected, "{\"id\":\"k\",\"e\":%s,\"text\":\"x\"}\n", rows[i].json);
        encode(rows[i].v, OUTPUT_JSON, &to);
        assert_string_equal(buf_text(&to), buf_text(&expected));
        assert_string_equal(seen[SIDE_LEFT], "k");
        assert_string_equal(seen[SIDE_RIGHT], "x");
    }
    buf_done(&to);
    buf_done(&expected);
}

static void a_row_whose_expression_fails_is_not_made(void **state)
{
    struct pair p;
    struct encoder *e;
    struct buf to = BUF_EMPTY;
    const struct result nobody = {.kind = RESULT_PAIR, .record = {NULL, NULL}};

    (void)state;
    pair_open(&p, "id", "text");
    pair_select(&p, "id, id as e, text");
    p.output.select.items[1].expr->kind = KIND_OF_TEST;
    buf_append_text(&to, "before");
    e = encoder_new(&p.output, p.plan);
    outcome = EXPR_FAILED;
    assert_false(encoder_result(e, &nobody, &to));
    assert_string_equal(buf_text(&to), "before");
    assert_string_equal(seen[SIDE_LEFT], "padded");
    outcome = EXPR_OK;
    value = (struct value){.type = TYPE_BIGINT, .bigint = 1};
    assert_true(encoder_result(e, &nobody, &to));
    assert_string_equal(buf_text(&to), "before,1,\n");
    encoder_free(e);
    buf_done(&to);
    pair_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_written_as_their_types_are),
        cmocka_unit_test(a_row_whose_expression_fails_is_not_made),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
