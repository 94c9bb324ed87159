#include "unit.h"

#include "pair.h"

static struct buf text; /* of the last row() */

static const char *row(struct pair *p, const char *left, const char *right)
{
    buf_clear(&text);
    pair_encode(p, left, right, &text);
    return buf_text(&text);
}

static int done(void **state)
{
    (void)state;
    buf_done(&text);
    return 0;
}

#define ALL "left.id, n, right.id, note"

static void open_pair(struct pair *p)
{
    pair_open(p, "id, n bigint", "id, note");
    pair_select(p, ALL);
}

/* --- CSV --- */

static void a_pair_of_plain_lines_is_the_two_lines(void **state)
{
    struct pair p;

    (void)state;
    open_pair(&p);
    assert_string_equal(row(&p, "k,1", "k,x"), "k,1,k,x\n");
    assert_string_equal(row(&p, ",", ",x"), ",,,x\n");
    assert_string_equal(row(&p, "k,1\r\n", "k,"), "k,1,k,\n");
    pair_close(&p);
}

static void lines_of_any_length_are_copied_whole(void **state)
{
    struct pair p;
    struct buf left = BUF_EMPTY, expected = BUF_EMPTY;

    (void)state;
    open_pair(&p);
    for (int length = 0; length <= 200; length++) {
        buf_clear(&left);
        buf_clear(&expected);
        for (int i = 0; i < length; i++)
            buf_append_char(&left, (char)('a' + i % 26));
        buf_append_text(&left, ",7");
        buf_append_bytes(&expected, buf_bytes(&left));
        buf_append_text(&expected, ",k,x\n");
        assert_string_equal(row(&p, buf_text(&left), "k,x"), buf_text(&expected));
    }
    buf_done(&left);
    buf_done(&expected);
    pair_close(&p);
}

static void a_padded_side_is_null_in_all_its_columns(void **state)
{
    struct pair p;

    (void)state;
    open_pair(&p);
    assert_string_equal(row(&p, "k,1", NULL), "k,1,,\n");
    assert_string_equal(row(&p, NULL, "k,x"), ",,k,x\n");
    p.output.null_text = BYTES_LIT("\\N");
    assert_string_equal(row(&p, NULL, "k,"), "\\N,\\N,k,\\N\n");
    p.output.kind = OUTPUT_JSON;
    assert_string_equal(row(&p, NULL, "k,x"),
                        "{\"left.id\":null,\"n\":null,\"right.id\":\"k\",\"note\":\"x\"}\n");
    pair_close(&p);
}

static void quotes_stand_where_they_are_needed(void **state)
{
    static const struct {
        const char *line, *row;
    } rows[] = {
        {"k,\"a,b\"", "k,\"a,b\"\n"},
        {"k,\"a\"\"b\"", "k,\"a\"\"b\"\n"},
        {"k,\"\"\"\"", "k,\"\"\"\"\n"},
        {"k,\"a\nb\"", "k,\"a\nb\"\n"},
        {"k,a\rb", "k,\"a\rb\"\n"},
        {"k,\"a\"", "k,a\n"},
        {"\"k\", a ", "k, a \n"},
        {"k,\"\"", "k,\"\"\n"},
        {"\"\",", "\"\",\n"},
        {"k,\"a;b\"", "k,a;b\n"},
        {"k,\"0123456789,\"", "k,\"0123456789,\"\n"},
        {"k,\"0123,456789012345\"", "k,\"0123,456789012345\"\n"},
        {"k,\"\xC3\xA4\xFE\"", "k,\xC3\xA4\xFE\n"},
    };
    struct pair p;

    (void)state;
    pair_open(&p, "id, note", "x");
    pair_select(&p, "id, note");
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_string_equal(row(&p, rows[i].line, NULL), rows[i].row);
    pair_close(&p);
}

static void input_and_output_may_be_written_differently(void **state)
{
    struct pair p;

    (void)state;
    open_pair(&p);
    p.output.delimiter = ';';
    assert_string_equal(row(&p, "k,1", "k,a;b"), "k;1;k;\"a;b\"\n");
    assert_string_equal(row(&p, "k,", "\"k,\",x"), "k;;k,;x\n");
    p.output.null_text = BYTES_LIT("-");
    assert_string_equal(row(&p, "k,", "-,-x"), "k;-;\"-\";-x\n");
    p.output.delimiter = ',';
    assert_string_equal(row(&p, "k,", "k,\"\""), "k,-,k,\n");
    p.input[SIDE_LEFT].delimiter = '\t';
    p.input[SIDE_RIGHT].null_text = BYTES_LIT("-");
    assert_string_equal(row(&p, "k,1\t2", "-,"), "\"k,1\",2,-,\n");
    /* a digit as delimiter needs quotes round numbers */
    p.output.delimiter = '1';
    assert_string_equal(row(&p, "k\t12", "k,x"), "k1\"12\"1k1x\n");
    pair_close(&p);
}

static void a_text_that_reads_as_null_is_quoted(void **state)
{
    struct pair p;

    (void)state;
    pair_open(&p, "id, note", "x");
    pair_select(&p, "id, note");
    p.output.null_text = BYTES_LIT("NULL");
    assert_string_equal(row(&p, "NULL,", NULL), "\"NULL\",NULL\n");
    assert_string_equal(row(&p, "\"\",NULL2", NULL), ",NULL2\n");
    p.input[SIDE_LEFT].null_text = BYTES_LIT("NULL");
    assert_string_equal(row(&p, "NULL,\"NULL\"", NULL), "NULL,\"NULL\"\n");
    pair_close(&p);
}

static void select_picks_orders_and_repeats(void **state)
{
    static const struct {
        const char *select, *row;
    } rows[] = {
        {"note", "x\n"},
        {"note, n", "x,1\n"},
        {"n, left.id", "1,k\n"},
        {"right.id, note, left.id, n", "l,x,k,1\n"},
        {"left.id, n", "k,1\n"},
        {"left.id, n, left.id, n", "k,1,k,1\n"},
        {"left.id, n, left.id, n, right.id, note", "k,1,k,1,l,x\n"},
        {"left.id, left.id, n, n", "k,k,1,1\n"},
        {"n, left.id, n, note, right.id, note", "1,k,1,x,l,x\n"},
        {"left.id, right.id", "k,l\n"},
    };
    struct pair p;

    (void)state;
    open_pair(&p);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        pair_select(&p, rows[i].select);
        assert_string_equal(row(&p, "k,1", "l,x"), rows[i].row);
        assert_string_equal(row(&p, "\"k\",01", "\"l\",x"), rows[i].row);
    }
    pair_close(&p);
}

static void values_are_written_in_their_canonical_form(void **state)
{
    struct pair p;

    (void)state;
    pair_open(&p, "n bigint, x double, b boolean, t timestamp, s timestamp_s", "x");
    pair_select(&p, "n, left.x, b, t, s");
    assert_string_equal(row(&p, "007,1.50,TRUE,2026-01-02 03:04:05Z,0012.50", NULL),
                        "7,1.5,true,2026-01-02T03:04:05.000Z,0012.50\n");
    p.output.kind = OUTPUT_JSON;
    assert_string_equal(row(&p, "007,1e21,FALSE,2026-01-02T03:04:05+01:00,0012.50", NULL),
                        "{\"n\":7,\"left.x\":1e+21,\"b\":false,"
                        "\"t\":\"2026-01-02T02:04:05.000Z\",\"s\":12.50}\n");
    assert_string_equal(row(&p, "-1,-0,true,,-000.5", NULL),
                        "{\"n\":-1,\"left.x\":-0,\"b\":true,\"t\":null,\"s\":-0.5}\n");
    assert_string_equal(row(&p, ",,,,000", NULL),
                        "{\"n\":null,\"left.x\":null,\"b\":null,\"t\":null,\"s\":0}\n");
    pair_close(&p);
}

static void rows_are_appended(void **state)
{
    struct pair p;

    (void)state;
    open_pair(&p);
    buf_clear(&text);
    pair_encode(&p, "k,1", "k,x", &text);
    pair_encode(&p, "k,1", NULL, &text);
    assert_string_equal(buf_text(&text), "k,1,k,x\nk,1,,\n");
    pair_close(&p);
}

/* --- JSON --- */

static void an_object_a_line_with_the_columns_names(void **state)
{
    struct pair p;

    (void)state;
    pair_open(&p, "id, n bigint", "id, ms timestamp_ms");
    pair_select(&p, "left.id as \"a \"\"name\"\"\", n, ms as \"\xC3\xA4\"");
    p.output.kind = OUTPUT_JSON;
    assert_string_equal(row(&p, "k,1", "k,1767323045000"),
                        "{\"a \\\"name\\\"\":\"k\",\"n\":1,\"\xC3\xA4\":1767323045000}\n");
    assert_string_equal(row(&p, "\"\",", "k,"),
                        "{\"a \\\"name\\\"\":\"\",\"n\":null,\"\xC3\xA4\":null}\n");
    pair_close(&p);
}

/* --- headers --- */

static void a_header_names_the_columns(void **state)
{
    struct pair p;
    struct encoder *e;

    (void)state;
    open_pair(&p);
    pair_select(&p, "left.id as \"a,b\", n, note as \"c\"\"d\"");
    for (int header = 0; header < 2; header++) {
        for (int json = 0; json < 2; json++) {
            p.output.header = header == 1;
            p.output.kind = json == 1 ? OUTPUT_JSON : OUTPUT_CSV;
            e = encoder_new(&p.output, p.plan);
            buf_clear(&text);
            encoder_header(e, &text);
            assert_string_equal(buf_text(&text),
                                header == 1 && json == 0 ? "\"a,b\",n,\"c\"\"d\"\n" : "");
            encoder_free(e);
        }
    }
    encoder_free(NULL);
    pair_close(&p);
}

/* --- the rows of [late] and [rejects] --- */

static void fates_are_rows_of_five_columns(void **state)
{
    struct output_format f = {.delimiter = ',', .null_text = {"", 0}, .header = true};
    struct fate_row r = {
        .side = "left",
        .reason = "type",
        .detail = BYTES_LIT("field n: \"x\" is not a bigint, from 127.0.0.1:5"),
        .time_ms = 1767323045678,
        .line = BYTES_LIT("k,x"),
    };

    (void)state;
    buf_clear(&text);
    fate_header(&f, &text);
    fate_row(&f, &r, &text);
    assert_string_equal(buf_text(&text),
                        "side,reason,detail,time,line\n"
                        "left,type,\"field n: \"\"x\"\" is not a bigint, from 127.0.0.1:5\","
                        "2026-01-02T03:04:05.678Z,\"k,x\"\n");
    f.delimiter = ';';
    r.line = BYTES_LIT("a\0b");
    r.detail = BYTES_NULL;
    buf_clear(&text);
    fate_header(&f, &text);
    fate_row(&f, &r, &text);
    assert_int_equal(buf_length(&text), 29 + 40);
    assert_memory_equal(buf_data(&text) + 29, "left;type;;2026-01-02T03:04:05.678Z;a\0b\n", 40);
    f.kind = OUTPUT_JSON;
    buf_clear(&text);
    fate_header(&f, &text);
    fate_row(&f, &r, &text);
    assert_string_equal(buf_text(&text),
                        "{\"side\":\"left\",\"reason\":\"type\",\"detail\":null,"
                        "\"time\":\"2026-01-02T03:04:05.678Z\",\"line\":\"a\\u0000b\"}\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pair_of_plain_lines_is_the_two_lines),
        cmocka_unit_test(lines_of_any_length_are_copied_whole),
        cmocka_unit_test(a_padded_side_is_null_in_all_its_columns),
        cmocka_unit_test(quotes_stand_where_they_are_needed),
        cmocka_unit_test(input_and_output_may_be_written_differently),
        cmocka_unit_test(a_text_that_reads_as_null_is_quoted),
        cmocka_unit_test(select_picks_orders_and_repeats),
        cmocka_unit_test(values_are_written_in_their_canonical_form),
        cmocka_unit_test(rows_are_appended),
        cmocka_unit_test(an_object_a_line_with_the_columns_names),
        cmocka_unit_test(a_header_names_the_columns),
        cmocka_unit_test(fates_are_rows_of_five_columns),
    };

    return cmocka_run_group_tests(tests, NULL, done);
}
