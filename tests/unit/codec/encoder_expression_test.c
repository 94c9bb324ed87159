/* The encoder with expressions that are no plain fields. */
#include "unit.h"

#include "pair.h"

/* The row of `select` over the lines; NULL: that side is padded. */
static bool encode(const char *select, const char *left, const char *right, enum output_kind kind,
                   struct buf *to)
{
    const struct bytes lines[SIDES] = {
        left == NULL ? BYTES_NULL : bytes_of(left),
        right == NULL ? BYTES_NULL : bytes_of(right),
    };
    struct pair p;
    bool ok;

    pair_open(&p, "id, n bigint, d double, ok boolean, at timestamp", "text");
    pair_select(&p, select);
    p.output.kind = kind;
    buf_clear(to);
    ok = pair_try_bytes(&p, lines, to);
    pair_close(&p);
    return ok;
}

#define LEFT "k,12,0.25,true,1970-01-01T00:00:01.000Z"

static void values_are_written_as_their_types_are(void **state)
{
    static const struct {
        const char *expression, *csv, *json;
    } rows[] = {
        {"-n", "-12", "-12"},
        {"d + d", "0.5", "0.5"},
        {"not ok", "false", "false"},
        {"n = 12", "true", "true"},
        {"coalesce(at, at)", "1970-01-01T00:00:01.000Z", "\"1970-01-01T00:00:01.000Z\""},
        {"'a,\"' || text || '\"'", "\"a,\"\"x\"\"\"", "\"a,\\\"x\\\"\""},
        {"''", "\"\"", "\"\""},
        {"nullif(id, 'k')", "", "null"},
        {"nullif(n, 12)", "", "null"},
        {"window_start", "1970-01-01T00:00:00.000Z", "\"1970-01-01T00:00:00.000Z\""},
        {"window_end", "1970-01-01T00:00:10.000Z", "\"1970-01-01T00:00:10.000Z\""},
        {"left_time", "1970-01-01T00:00:01.234Z", "\"1970-01-01T00:00:01.234Z\""},
        {"right_time", "1970-01-01T00:00:01.234Z", "\"1970-01-01T00:00:01.234Z\""},
    };
    struct buf to = BUF_EMPTY, select = BUF_EMPTY, expected = BUF_EMPTY;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        buf_clear(&select);
        buf_printf(&select, "id, %s as e, text", rows[i].expression);
        buf_clear(&expected);
        buf_printf(&expected, "k,%s,x\n", rows[i].csv);
        assert_true(encode(buf_text(&select), LEFT, "x", OUTPUT_CSV, &to));
        assert_string_equal(buf_text(&to), buf_text(&expected));
        buf_clear(&expected);
        buf_printf(&expected, "{\"id\":\"k\",\"e\":%s,\"text\":\"x\"}\n", rows[i].json);
        assert_true(encode(buf_text(&select), LEFT, "x", OUTPUT_JSON, &to));
        assert_string_equal(buf_text(&to), buf_text(&expected));
    }
    buf_done(&to);
    buf_done(&select);
    buf_done(&expected);
}

static void a_padded_side_is_null_in_expressions(void **state)
{
    struct buf to = BUF_EMPTY;

    (void)state;
    assert_true(encode("coalesce(text, 'none'), text is null, right_time, left_time", LEFT, NULL,
                       OUTPUT_CSV, &to));
    assert_string_equal(buf_text(&to), "none,true,,1970-01-01T00:00:01.234Z\n");
    assert_true(encode("coalesce(id, 'none'), text", NULL, "x", OUTPUT_CSV, &to));
    assert_string_equal(buf_text(&to), "none,x\n");
    buf_done(&to);
}

static void a_row_whose_expression_fails_is_not_made_and_told(void **state)
{
    struct buf to = BUF_EMPTY;

    (void)state;
    assert_false(encode("id, n / (n - 12) as quotient", LEFT, "x", OUTPUT_CSV, &to));
    assert_string_equal(buf_text(&to), "select, column 2 quotient: division by zero");
    buf_done(&to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_written_as_their_types_are),
        cmocka_unit_test(a_padded_side_is_null_in_expressions),
        cmocka_unit_test(a_row_whose_expression_fails_is_not_made_and_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
