/* What the decoder does about bad lines, headers, ends and batches. */
#include "unit.h"

#include <stdio.h>

#include "base/mem.h"
#include "codec/decoder.h"
#include "fixture.h"
#include "transcript.h"

struct example {
    const char *text;
    const char *rows;
};

static void check(const struct fixture *f, const struct example *examples, size_t count)
{
    struct buf rows = BUF_EMPTY;

    for (size_t i = 0; i < count; i++) {
        const char *text = examples[i].text;

        assert_string_equal(transcript_at_once(&f->format, text, strlen(text), INPUT_ENDED, &rows),
                            examples[i].rows);
    }
    buf_done(&rows);
}

/* --- rejects --- */

static void a_wrong_number_of_fields_is_rejected(void **state)
{
    static const struct example examples[] = {
        {"a\nk,b,c\n", "! fields a: 1 field, expected 3 (id, user, at)\n= [k][b][c]\n"},
        {"a,b\n", "! fields a,b: 2 fields, expected 3 (id, user, at)\n"},
        {"a,b,c,d\n", "! fields a,b,c,d: 4 fields, expected 3 (id, user, at)\n"},
        {"a,b,c,\n", "! fields a,b,c,: 4 fields, expected 3 (id, user, at)\n"},
        {"\"a,b,c\"\n", "! fields \"a,b,c\": 1 field, expected 3 (id, user, at)\n"},
    };
    struct fixture f;

    (void)state;
    fixture_open(&f, "id, user, at");
    check(&f, examples, COUNT_OF(examples));
    fixture_close(&f);
}

static void nul_and_telnet_bytes_are_rejected(void **state)
{
    static const char text[] = "a\0,b\nk,\xFF\xFB\nk,\xFE\n\0\nx\"\0\"\n";
    struct fixture f;
    struct buf rows = BUF_EMPTY;

    (void)state;
    fixture_open(&f, "key, value");
    assert_string_equal(transcript_at_once(&f.format, text, sizeof(text) - 1, INPUT_ENDED, &rows),
                        "! nul a\\x00,b: a NUL byte, at byte 2\n"
                        "! telnet k,\\xff\\xfb: a byte 0xFF, at byte 3\n"
                        "= [k][\\xfe]\n"
                        "! nul \\x00: a NUL byte, at byte 1\n"
                        "! nul x\"\\x00\": a NUL byte, at byte 3\n");
    buf_done(&rows);
    fixture_close(&f);
}

static void over_long_lines_are_rejected_whole(void **state)
{
    static const struct example examples[] = {
        {"12345678,a\n", "= [12345678][a]\n"},
        {"12345678,a\r\n", "= [12345678][a]\n"},
        {"123456789,a\nk,a\n",
         "! too_long 123456789,a: longer than max_line (10 bytes)\n= [k][a]\n"},
        {"\"123456789\",a\n", "! too_long \"123456789\",a: longer than max_line (10 bytes)\n"},
        {"123456789,a", "! too_long 123456789,a: longer than max_line (10 bytes)\n"},
    };
    struct fixture f;

    (void)state;
    fixture_open(&f, "key, value");
    f.format.max_line = 10;
    check(&f, examples, COUNT_OF(examples));
    fixture_close(&f);
}

static void of_an_over_long_line_one_kib_is_shown(void **state)
{
    struct fixture f;
    struct decoder *d;
    struct batch b;
    char *line = mem_alloc(100000);

    (void)state;
    fixture_open(&f, "key, value");
    d = decoder_new(&f.format);
    batch_init(&b, 2);
    memset(line, 'x', 100000);
    line[50000] = '\n';
    memcpy(line + 99990, "\nk,v\nl,w\n", 9);

    /* from one that is not whole the batch knows that it is too long, and ends */
    assert_int_equal(decoder_read(d, line + 50001, 49980, INPUT_GOES_ON, &b), 0);
    decoder_free(d);
    f.format.max_line = 2000;
    d = decoder_new(&f.format);
    assert_int_equal(decoder_read(d, line, 40000, INPUT_GOES_ON, &b), 40000);
    assert_int_equal(b.count, 1);
    assert_int_equal(b.rejected, 1);
    assert_int_equal(b.rows[0].reject, REJECT_TOO_LONG);
    assert_ptr_equal(b.rows[0].line.p, line);
    assert_int_equal(b.rows[0].line.n, 1024);
    assert_int_equal(b.rows[0].consumed, 40000);

    /* the row was not taken: all is as before */
    assert_int_equal(decoder_rewind(d, &b, 0), 0);
    assert_int_equal(decoder_read(d, line, 40000, INPUT_GOES_ON, &b), 40000);
    assert_int_equal(b.count, 1);

    assert_int_equal(decoder_read(d, line + 40000, 59999, INPUT_GOES_ON, &b), 59999);
    assert_int_equal(b.count, 3);
    assert_int_equal(b.rows[0].reject, REJECT_TOO_LONG);
    assert_ptr_equal(b.rows[0].line.p, line + 50001);
    assert_int_equal(b.rows[0].consumed, 59991);
    assert_int_equal(b.rows[1].consumed, 59995);
    assert_int_equal(b.rows[2].consumed, 59999);

    decoder_free(d);
    batch_done(&b);
    fixture_close(&f);
    mem_free(line);
}

static void what_a_broken_connection_left_is_rejected(void **state)
{
    static const struct example examples[] = {
        {"", ""},
        {"k,a\n", "= [k][a]\n"},
        {"k,a\nl,b", "= [k][a]\n! unfinished l,b: the connection broke within this line\n"},
        {"l,b\r", "! unfinished l,b: the connection broke within this line\n"},
        {"\"", "! unfinished \": the connection broke within this line\n"},
        {"\r", ""},
        {"k,a\n\xEF\xBB",
         "= [k][a]\n! unfinished \\xef\\xbb: the connection broke within this line\n"},
    };
    struct fixture f;
    struct buf rows = BUF_EMPTY;

    (void)state;
    fixture_open(&f, "key, value");
    for (size_t i = 0; i < COUNT_OF(examples); i++)
        assert_string_equal(transcript_at_once(&f.format, examples[i].text,
                                               strlen(examples[i].text), INPUT_BROKEN, &rows),
                            examples[i].rows);
    buf_done(&rows);
    fixture_close(&f);
}

/* Too long, then bytes, then quoting, then the number of fields, then types. */
static void of_several_faults_the_first_in_order_is_told(void **state)
{
    static const struct {
        const char *text;
        size_t n;
        const char *reason;
    } examples[] = {
        {"12345678901\0\"x", 14, "! too_long"}, {"1\0\xFF,x\"", 6, "! nul"},
        {"1\xFF,x\"", 5, "! telnet"},           {"x,y\"z,1", 7, "! quote"},
        {"\"x\",y,z", 7, "! fields"},           {"x,\"y\"", 5, "! type"},
    };
    struct fixture f;
    struct buf rows = BUF_EMPTY;

    (void)state;
    fixture_open(&f, "key, n bigint");
    f.format.max_line = 10;
    for (size_t i = 0; i < COUNT_OF(examples); i++) {
        transcript_at_once(&f.format, examples[i].text, examples[i].n, INPUT_ENDED, &rows);
        assert_row(strncmp(buf_text(&rows), examples[i].reason, strlen(examples[i].reason)) == 0,
                   examples[i].reason);
    }
    buf_done(&rows);
    fixture_close(&f);
}

static void a_bad_line_costs_only_itself(void **state)
{
    static const char *const bad[] = {"x",       "x,y,z",  "\"",      "k,\"",     "k,\"a\"b",
                                      "k,a\"\"", "k,\xFF", "k\"\",1", "\",,,,\"", "k,\r\""};
    struct fixture f;
    struct buf text = BUF_EMPTY, rows = BUF_EMPTY;
    size_t good = 0;

    (void)state;
    fixture_open(&f, "key, value");
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        buf_printf(&text, "%s\nk%zu,v\n", bad[i], i);
    transcript_at_once(&f.format, buf_data(&text), buf_length(&text), INPUT_ENDED, &rows);
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        char row[32];

        snprintf(row, sizeof(row), "\n= [k%zu][v]\n", i);
        good += strstr(buf_text(&rows), row) != NULL;
    }
    assert_int_equal(good, COUNT_OF(bad));
    buf_done(&text);
    buf_done(&rows);
    fixture_close(&f);
}

/* --- several lines --- */

static void records_of_several_lines_are_read_where_asked_for(void **state)
{
    static const struct example examples[] = {
        {"k,\"a\nb\"\nl,c\n", "~ [k][a\\nb]\n= [l][c]\n"},
        {"k,\"a\r\nb\"\r\nl,c\r\n", "~ [k][a\\r\\nb]\n= [l][c]\n"},
        {"\"\n\",\"\n\n\"\n", "~ [\\n][\\n\\n]\n"},
        {"k,\"a\"\"\nb\"", "~ [k][a\"\\nb]\n"},
        {"k,\"a\nl,b\nm,c\n", "! quote k,\"a: a quoted field is not closed\n= [l][b]\n= [m][c]\n"},
        {"k,\"a\nl,\"b\nm,c\n", "! quote k,\"a: a quoted field is not closed\n"
                                "! quote l,\"b: a quoted field is not closed\n= [m][c]\n"},
        {"k,\"a\nb\",c\nl,d\n",
         "! fields k,\"a\\nb\",c: 3 fields, expected 2 (key, value)\n= [l][d]\n"},
        {"k,\"a\xFF\nb\"\nl,c\n", "! telnet k,\"a\\xff\\nb\": a byte 0xFF, at byte 5\n= [l][c]\n"},
        {"k,\"a\xFF\nb\n", "! telnet k,\"a\\xff: a byte 0xFF, at byte 5\n"
                           "! fields b: 1 field, expected 2 (key, value)\n"},
        {"k,a\"\nl,b\n",
         "! quote k,a\": a quote within a field that does not start with one, at byte 4\n"
         "= [l][b]\n"},
    };
    struct fixture f;

    (void)state;
    fixture_open(&f, "key, value");
    f.format.multiline = true;
    check(&f, examples, COUNT_OF(examples));
    fixture_close(&f);
}

/* --- the start of a connection --- */

static void a_byte_order_mark_is_passed_over_once(void **state)
{
    static const struct example examples[] = {
        {"\xEF\xBB\xBFk,a\nl,b\n", "= [k][a]\n= [l][b]\n"},
        {"\xEF\xBB\xBF", ""},
        {"\xEF\xBB\xBF\xEF\xBB\xBFk,a\n", "= [\\xef\\xbb\\xbfk][a]\n"},
        {"k,a\n\xEF\xBB\xBFl,b\n", "= [k][a]\n= [\\xef\\xbb\\xbfl][b]\n"},
        {"\xEF\xBB,a\n", "= [\\xef\\xbb][a]\n"},
        {"\xEF\xBB", "! fields \\xef\\xbb: 1 field, expected 2 (key, value)\n"},
        {"\xEF", "! fields \\xef: 1 field, expected 2 (key, value)\n"},
        {"\xEF\xBB\xBF\"k\",a\n", "~ [k][a]\n"},
    };
    struct fixture f;

    (void)state;
    fixture_open(&f, "key, value");
    check(&f, examples, COUNT_OF(examples));
    fixture_close(&f);
}

static void a_header_says_which_column_is_which_field(void **state)
{
    static const struct example examples[] = {
        {"key,n\nk,1\n", "= [k][1]\n"},
        {"key,n\r\nk,1\r\n", "= [k][1]\n"},
        {"\xEF\xBB\xBFkey,n\nk,1\n", "= [k][1]\n"},
        {"\n\r\n\"key\",\"n\"\n\nk,1\n", "= [k][1]\n"},
        {"n,key\n1,k\n", "~ [k][1]\n"},
        {"n,other,key,other,\n1,x,k,y,z\n", "~ [k][1]\n"},
        {"key,n,other\nk,1,x\n", "~ [k][1]\n"},
        {"n,key\n01,k\n", "~ [k][1]\n"},
        {"n,key\n1,\"k\"\n", "~ [k][1]\n"},
        {"n,key\n,\n", "~ --\n"},
        {"n,key,x\n1,k\n", "! fields 1,k: 2 fields, expected 3 as in the header\n"},
        {"n,key,x\n1,k,x,y\n", "! fields 1,k,x,y: 4 fields, expected 3 as in the header\n"},
        {"n,key\nk,1\n", "! type k,1: field n: \"k\" is not a bigint\n"},
        {"key,n", ""},
        {"key,n\n", ""},
        {"", ""},
    };
    struct fixture f;

    (void)state;
    fixture_open(&f, "key, n bigint");
    f.format.header = true;
    check(&f, examples, COUNT_OF(examples));
    fixture_close(&f);
}

static void a_header_at_fault_costs_every_line(void **state)
{
    static const struct example examples[] = {
        {"key,m\nk,1\n\nl,2\n", "! header key,m: the header lacks the field n\n"
                                "! header k,1: the header lacks the field n\n"
                                "! header l,2: the header lacks the field n\n"},
        {"x\n", "! header x: the header lacks the fields key, n\n"},
        {"Key,n\n", "! header Key,n: the header lacks the field key\n"},
        {" key,n\n", "! header  key,n: the header lacks the field key\n"},
        {"key,n,key\n", "! header key,n,key: the header names the field key twice\n"},
        {"key,n\"\nk,1\n",
         "! header key,n\": the header has a quote within a field that does not start with one, "
         "at byte 6\n"
         "! header k,1: the header has a quote within a field that does not start with one, "
         "at byte 6\n"},
        {"key,n,\xFF\n", "! header key,n,\\xff: the header has a byte 0xFF, at byte 7\n"},
        {"key,n,a-long-name-that-nobody-wants\n",
         "! header key,n,a-long-name-that-nobody-wants: "
         "the header is longer than max_line (20 bytes)\n"},
    };
    struct fixture f;

    (void)state;
    fixture_open(&f, "key, n bigint");
    f.format.header = true;
    f.format.max_line = 20;
    check(&f, examples, COUNT_OF(examples));
    fixture_close(&f);
}

static void the_fault_of_a_header_can_be_asked_for(void **state)
{
    struct fixture f;
    struct decoder *d;
    struct batch b;

    (void)state;
    fixture_open(&f, "key, n bigint");
    f.format.header = true;
    decoder_free(NULL);
    d = decoder_new(&f.format);
    batch_init(&b, 2);
    assert_null(decoder_header_fault(d));
    assert_int_equal(decoder_read(d, "key,m", 5, INPUT_GOES_ON, &b), 0);
    assert_null(decoder_header_fault(d));
    assert_int_equal(decoder_read(d, "key,m\nk", 7, INPUT_GOES_ON, &b), 6);
    assert_string_equal(decoder_header_fault(d), "the header lacks the field n");
    assert_int_equal(decoder_rewind(d, &b, 0), 0);
    assert_null(decoder_header_fault(d));
    assert_int_equal(decoder_read(d, "key,m\nk", 7, INPUT_GOES_ON, &b), 6);
    assert_int_equal(decoder_rewind(d, &b, 1), 6);
    assert_non_null(decoder_header_fault(d));
    decoder_free(d);

    d = decoder_new(&f.format);
    assert_int_equal(decoder_read(d, "n,key\n1,k\n", 10, INPUT_GOES_ON, &b), 10);
    assert_null(decoder_header_fault(d));
    assert_int_equal(b.count, 1);
    assert_int_equal(b.rows[0].consumed, 10); /* with the header before it */
    assert_int_equal(decoder_rewind(d, &b, 0), 0);
    assert_int_equal(decoder_read(d, "n,key\n1,k\n", 10, INPUT_GOES_ON, &b), 10);
    assert_int_equal(b.count, 1);
    decoder_free(d);
    batch_done(&b);
    fixture_close(&f);
}

/* A connection that breaks within its header: that line is only unfinished. */
static void a_header_may_be_cut_off(void **state)
{
    struct fixture f;
    struct buf rows = BUF_EMPTY;

    (void)state;
    fixture_open(&f, "key, n bigint");
    f.format.header = true;
    assert_string_equal(transcript_at_once(&f.format, "key,n", 5, INPUT_BROKEN, &rows),
                        "! unfinished key,n: the connection broke within this line\n");
    assert_string_equal(transcript_at_once(&f.format, "x\nk", 3, INPUT_BROKEN, &rows),
                        "! header x: the header lacks the fields key, n\n"
                        "! unfinished k: the connection broke within this line\n");
    buf_done(&rows);
    fixture_close(&f);
}

/* --- batches --- */

static void a_batch_holds_so_many_rows_and_reading_goes_on(void **state)
{
    enum { LINES = BATCH_ROWS * 2 + 10 };
    struct fixture f;
    struct decoder *d;
    struct batch b;
    struct buf text = BUF_EMPTY;
    size_t at = 0, rows = 0, reads = 0;

    (void)state;
    fixture_open(&f, "key, value");
    d = decoder_new(&f.format);
    batch_init(&b, 2);
    for (int i = 0; i < LINES; i++)
        buf_printf(&text, i % 5 == 0 ? "\"k%d\",v\n" : "k%d,v\n", i);
    do {
        at += decoder_read(d, buf_data(&text) + at, buf_length(&text) - at, INPUT_GOES_ON, &b);
        assert_int_equal(b.count, reads < 2 ? BATCH_ROWS : reads == 2 ? 10 : 0);
        rows += b.count;
        reads++;
    } while (b.count > 0);
    assert_int_equal(rows, LINES);
    assert_int_equal(at, buf_length(&text));
    buf_done(&text);
    batch_done(&b);
    decoder_free(d);
    fixture_close(&f);
}

static void rows_that_were_not_taken_come_again(void **state)
{
    static const char text[] = "k,a\n\n\nl,b\n\nm,c\n\n\nn,";
    struct fixture f;
    struct decoder *d;
    struct batch b;
    size_t n = strlen(text);

    (void)state;
    fixture_open(&f, "key, value");
    d = decoder_new(&f.format);
    batch_init(&b, 2);
    assert_int_equal(decoder_read(d, text, n, INPUT_GOES_ON, &b), n - 2);
    assert_int_equal(b.count, 3);
    assert_int_equal(b.rows[0].consumed, 4);
    assert_int_equal(b.rows[1].consumed, 10);
    assert_int_equal(b.rows[2].consumed, 15);
    assert_int_equal(decoder_rewind(d, &b, 3), n - 2); /* all: nothing to come again */
    decoder_free(d);

    d = decoder_new(&f.format);
    decoder_read(d, text, n, INPUT_GOES_ON, &b);
    assert_int_equal(decoder_rewind(d, &b, 1), 4);
    assert_int_equal(decoder_read(d, text + 4, n - 4, INPUT_GOES_ON, &b), n - 6);
    assert_int_equal(b.count, 2);
    assert_text(b.rows[0].line.p, b.rows[0].line.n, "l,b");
    batch_done(&b);
    decoder_free(d);
    fixture_close(&f);
}

/* The over-long line that ends a batch is shown again from its start, with what
 * came behind it, and is one row again. */
static void an_over_long_line_that_was_not_taken_comes_again(void **state)
{
    enum { LONG = 1100, N = 4 + LONG };
    struct fixture f;
    struct decoder *d;
    struct batch b;
    char text[N + 5];

    (void)state;
    fixture_open(&f, "key, value");
    f.format.max_line = 10;
    d = decoder_new(&f.format);
    batch_init(&b, 2);
    memset(text, 'x', sizeof(text));
    memcpy(text, "k,a\n", 4);
    memcpy(text + N, "\nl,b\n", 5);
    assert_int_equal(decoder_read(d, text, N, INPUT_GOES_ON, &b), N);
    assert_int_equal(b.count, 2);
    assert_int_equal(decoder_rewind(d, &b, 1), 4);
    assert_int_equal(decoder_read(d, text + 4, sizeof(text) - 4, INPUT_GOES_ON, &b),
                     sizeof(text) - 4);
    assert_int_equal(b.count, 2);
    assert_int_equal(b.rows[0].reject, REJECT_TOO_LONG);
    assert_int_equal(b.rows[1].reject, REJECT_NONE);
    batch_done(&b);
    decoder_free(d);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wrong_number_of_fields_is_rejected),
        cmocka_unit_test(nul_and_telnet_bytes_are_rejected),
        cmocka_unit_test(over_long_lines_are_rejected_whole),
        cmocka_unit_test(of_an_over_long_line_one_kib_is_shown),
        cmocka_unit_test(what_a_broken_connection_left_is_rejected),
        cmocka_unit_test(of_several_faults_the_first_in_order_is_told),
        cmocka_unit_test(a_bad_line_costs_only_itself),
        cmocka_unit_test(records_of_several_lines_are_read_where_asked_for),
        cmocka_unit_test(a_byte_order_mark_is_passed_over_once),
        cmocka_unit_test(a_header_says_which_column_is_which_field),
        cmocka_unit_test(a_header_at_fault_costs_every_line),
        cmocka_unit_test(the_fault_of_a_header_can_be_asked_for),
        cmocka_unit_test(a_header_may_be_cut_off),
        cmocka_unit_test(a_batch_holds_so_many_rows_and_reading_goes_on),
        cmocka_unit_test(rows_that_were_not_taken_come_again),
        cmocka_unit_test(an_over_long_line_that_was_not_taken_comes_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
