/* How the decoder cuts good lines into fields, and checks them. */
#include "unit.h"

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

/* --- fields --- */

static void plain_lines_are_cut_and_can_be_stored_as_they_are(void **state)
{
    static const struct example examples[] = {
        {"k,a\n", "= [k][a]\n"},
        {"k,a\r\n", "= [k][a]\n"},
        {"k,a", "= [k][a]\n"},
        {"k, a \n", "= [k][ a ]\n"},
        {"k,\n", "= [k]-\n"},
        {",a\n", "= -[a]\n"},
        {",\n", "= --\n"},
        {",\r\n", "= --\n"},
        {"k,\xC3\xA4\xC3\n", "= [k][\\xc3\\xa4\\xc3]\n"},
        {"k,a\nl,b\r\nm,c\n", "= [k][a]\n= [l][b]\n= [m][c]\n"},
        {"\n\r\nk,a\n\n\n", "= [k][a]\n"},
        {"", ""},
    };
    struct fixture f;

    (void)state;
    fixture_open(&f, "key, value");
    check(&f, examples, COUNT_OF(examples));
    fixture_close(&f);
}

static void lines_of_any_length_are_cut_alike(void **state)
{
    struct fixture f;
    struct buf text = BUF_EMPTY, rows = BUF_EMPTY, expected = BUF_EMPTY;

    (void)state;
    fixture_open(&f, "key, value");
    for (int length = 1; length <= 200; length++) {
        for (int i = 0; i < length; i++)
            buf_append_char(&text, (char)('a' + i % 26));
        buf_append_char(&text, ',');
        for (int i = 0; i < 200 - length; i++)
            buf_append_char(&text, (char)('A' + i % 26));
        buf_append_text(&text, length % 2 == 0 ? "\n" : "\r\n");
    }
    transcript_at_once(&f.format, buf_data(&text), buf_length(&text), INPUT_ENDED, &rows);
    for (int length = 1; length <= 200; length++) {
        buf_append_text(&expected, "= [");
        for (int i = 0; i < length; i++)
            buf_append_char(&expected, (char)('a' + i % 26));
        buf_append_text(&expected, length < 200 ? "][" : "]-\n");
        for (int i = 0; i < 200 - length; i++)
            buf_append_char(&expected, (char)('A' + i % 26));
        if (length < 200)
            buf_append_text(&expected, "]\n");
    }
    assert_string_equal(buf_text(&rows), buf_text(&expected));
    buf_done(&text);
    buf_done(&rows);
    buf_done(&expected);
    fixture_close(&f);
}

static void quoted_fields_are_taken_out_of_their_quotes(void **state)
{
    static const struct example examples[] = {
        {"\"k\",a\n", "~ [k][a]\n"},
        {"\"k\",a\r\n", "~ [k][a]\n"},
        {"k,\"a,b\"\n", "~ [k][a,b]\n"},
        {"k,\"a\"\"b\"\n", "~ [k][a\"b]\n"},
        {"k,\" \"\n", "~ [k][ ]\n"},
        {"\"k\n\",a\"", "! quote \"k: a quoted field is not closed\n"
                        "! fields \",a\": 1 field, expected 2 (key, value)\n"},
        {"k,a\"b\nl,b\n",
         "! quote k,a\"b: a quote within a field that does not start with one, at byte 4\n"
         "= [l][b]\n"},
        {"k,\"a\"b\nl,b\n", "! quote k,\"a\"b: text behind a closing quote, at byte 6\n= [l][b]\n"},
        {"k,\"a\" \nl,b\n", "! quote k,\"a\" : text behind a closing quote, at byte 6\n= [l][b]\n"},
        {"k,\"\nl,b\n", "! quote k,\": a quoted field is not closed\n= [l][b]\n"},
        {"\"\n", "! quote \": a quoted field is not closed\n"},
    };
    struct fixture f;

    (void)state;
    fixture_open(&f, "key, value");
    check(&f, examples, COUNT_OF(examples));
    fixture_close(&f);
}

static void null_is_an_unquoted_text_and_the_empty_string_is_quoted(void **state)
{
    static const struct example empty[] = {
        {"k,\n", "= [k]-\n"},
        {"k,\"\"\n", "~ [k][]\n"},
        {"\"\",\n", "~ []-\n"},
    };
    static const struct example word[] = {
        {"k,\\N\n", "= [k]-\n"},     {"k,\n", "= [k][]\n"},         {"k,\"\\N\"\n", "~ [k][\\N]\n"},
        {"\"k\",\\N\n", "~ [k]-\n"}, {"k,\\N \n", "= [k][\\N ]\n"}, {"\\N,\\M\n", "= -[\\M]\n"},
    };
    struct fixture f;

    (void)state;
    fixture_open(&f, "key, value");
    check(&f, empty, COUNT_OF(empty));
    f.format.null_text = BYTES_LIT("\\N");
    check(&f, word, COUNT_OF(word));
    fixture_close(&f);
}

static void the_delimiter_can_be_another(void **state)
{
    static const struct example tabs[] = {
        {"k\ta,b\n", "= [k][a,b]\n"},
        {"k\t\"a\tb\"\n", "~ [k][a\\x09b]\n"},
        {"k\t \n", "= [k][ ]\n"},
    };
    static const struct example spaces[] = {
        {"k a\n", "= [k][a]\n"},
        {"\"k 1\" \n", "~ [k 1]-\n"},
        {"  \n", "! fields   : 3 fields, expected 2 (key, value)\n"},
    };
    struct fixture f;

    (void)state;
    fixture_open(&f, "key, value");
    f.format.delimiter = '\t';
    check(&f, tabs, COUNT_OF(tabs));
    f.format.delimiter = ' ';
    check(&f, spaces, COUNT_OF(spaces));
    fixture_close(&f);
}

static void a_lone_cr_is_an_ordinary_character(void **state)
{
    static const struct example examples[] = {
        {"k,a\rb\n", "~ [k][a\\rb]\n"},
        {"k,a\r\r\n", "~ [k][a\\r]\n"},
        {"k\r,a\r\n", "~ [k\\r][a]\n"},
        {"\r,a\n", "~ [\\r][a]\n"},
        {"k,\"a\r\"\r\n", "~ [k][a\\r]\n"},
        {"k,\"a\"\r\r\n", "! quote k,\"a\"\\r: text behind a closing quote, at byte 6\n"},
    };
    struct fixture f;

    (void)state;
    fixture_open(&f, "key, value");
    check(&f, examples, COUNT_OF(examples));
    fixture_close(&f);
}

static void one_field_has_no_delimiter(void **state)
{
    static const struct example examples[] = {
        {"a\n", "= [a]\n"},
        {"\"\"\n", "~ []\n"},
        {"\n", ""},
        {"a,b\n", "! fields a,b: 2 fields, expected 1 (only)\n"},
    };
    struct fixture f;

    (void)state;
    fixture_open(&f, "only");
    check(&f, examples, COUNT_OF(examples));
    fixture_close(&f);
}

/* --- types --- */

static void fields_are_checked_against_their_types(void **state)
{
    static const struct example examples[] = {
        {"a,12,1.5,true,2026-01-02T03:04:05.678Z,1767323045000\n",
         "= [a][12][1.5][true][2026-01-02T03:04:05.678Z][1767323045000]\n"},
        {",,,,,\n", "= ------\n"},
        {"1,-12,-0.5,false,,-1\n", "= [1][-12][-0.5][false]-[-1]\n"},
        {"a,,,,,\n", "= [a]-----\n"},
        {"a,12x,,,,\n", "! type a,12x,,,,: field n: \"12x\" is not a bigint\n"},
        {"a,9223372036854775808,,,,\n",
         "! type a,9223372036854775808,,,,: field n: \"9223372036854775808\" is not a bigint\n"},
        {"a, 1,,,,\n", "! type a, 1,,,,: field n: \" 1\" is not a bigint\n"},
        {"a,\"\",,,,\n", "! type a,\"\",,,,: field n: \"\" is not a bigint\n"},
        {"a,,.5,,,\n", "! type a,,.5,,,: field x: \".5\" is not a double\n"},
        {"a,,,yes,,\n", "! type a,,,yes,,: field b: \"yes\" is not a boolean\n"},
        {"a,,,,today,\n", "! type a,,,,today,: field t: \"today\" is not a timestamp\n"},
        {"a,,,,,999999999999999\n",
         "! type a,,,,,999999999999999: field ms: \"999999999999999\" is not a timestamp_ms\n"},
        {"a,x,y,,,\n", "! type a,x,y,,,: field n: \"x\" is not a bigint\n"}, /* the first one */
        {"a,\"12\",\"1.5\",,,\n", "~ [a][12][1.5]---\n"},
    };
    struct fixture f;

    (void)state;
    fixture_open(&f, "s, n bigint, x double, b boolean, t timestamp, ms timestamp_ms");
    check(&f, examples, COUNT_OF(examples));
    fixture_close(&f);
}

static void values_that_are_not_canonical_are_rewritten(void **state)
{
    static const struct example examples[] = {
        {"a,007,1.50,TRUE,2026-01-02 03:04:05,0123\n",
         "~ [a][7][1.5][true][2026-01-02T03:04:05.000Z][123]\n"},
        {"a,-0,1e21,,,\n", "~ [a][0][1e+21]---\n"},
        {"a,7,100000000000000000000000,,,\n", "~ [a][7][1e+23]---\n"},
        {"a,\"007\",,,,\n", "~ [a][7]----\n"},
        {"007,7,,,,\n", "= [007][7]----\n"},
    };
    struct fixture f;

    (void)state;
    fixture_open(&f, "s, n bigint, x double, b boolean, t timestamp, ms timestamp_ms");
    check(&f, examples, COUNT_OF(examples));
    fixture_close(&f);
}

/* What a time may be, and what is said of it, does not depend on whether it is told. */
static void the_times_of_one_field_are_told(void **state)
{
    static const struct {
        const char *text;
        const char *row;
        int64_t time;
    } rows[] = {
        {"a,1700000000000,b", "= [a][1700000000000][b]\n", 1700000000000},
        {"a,9999999999999,b", "= [a][9999999999999][b]\n", 9999999999999},
        {"a,170000000000,b", "= [a][170000000000][b]\n", 170000000000},
        {"a,17000000000000,b", "= [a][17000000000000][b]\n", 17000000000000},
        {"a,-1700000000000,b", "= [a][-1700000000000][b]\n", -1700000000000},
        {"a,-170000000000,b", "= [a][-170000000000][b]\n", -170000000000},
        {"a,0,b", "= [a][0][b]\n", 0},
        {"a,0170000000000,b", "~ [a][170000000000][b]\n", 170000000000},
        {"a,+1700000000000,b",
         "! type a,+1700000000000,b: field t: \"+1700000000000\" is not a timestamp_ms\n", 0},
        {"a,\"1700000000000\",b", "~ [a][1700000000000][b]\n", 1700000000000},
        {"\"a\",1700000000000,b", "~ [a][1700000000000][b]\n", 1700000000000},
        {"a,,b", "= [a]-[b]\n", BATCH_NO_TIME},
        {"a,253402300799999,b", "= [a][253402300799999][b]\n", 253402300799999},
        {"a,253402300800000,b",
         "! type a,253402300800000,b: field t: \"253402300800000\" is not a timestamp_ms\n", 0},
        {"a, 170000000000,b",
         "! type a, 170000000000,b: field t: \" 170000000000\" is not a timestamp_ms\n", 0},
        {"a,170000000000 ,b",
         "! type a,170000000000 ,b: field t: \"170000000000 \" is not a timestamp_ms\n", 0},
        {"a,17000000000.0,b",
         "! type a,17000000000.0,b: field t: \"17000000000.0\" is not a timestamp_ms\n", 0},
        {"a,1700000000000", "! fields a,1700000000000: 2 fields, expected 3 (s, t, u)\n", 0},
    };
    struct buf text = BUF_EMPTY, expected = BUF_EMPTY, transcript = BUF_EMPTY;
    struct decoder *d;
    struct fixture f;
    struct batch b;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        buf_printf(&text, "%s\n", rows[i].text);
        buf_append_text(&expected, rows[i].row);
    }
    fixture_open(&f, "s, t timestamp_ms, u");
    for (int timed = 0; timed < 2; timed++) {
        f.format.timed = timed;
        f.format.time_field = 1;
        assert_string_equal(transcript_at_once(&f.format, buf_data(&text), buf_length(&text),
                                               INPUT_ENDED, &transcript),
                            buf_text(&expected));
    }
    d = decoder_new(&f.format);
    batch_init(&b, 3);
    assert_int_equal(decoder_read(d, buf_data(&text), buf_length(&text), INPUT_GOES_ON, &b),
                     buf_length(&text));
    assert_int_equal(b.count, COUNT_OF(rows));
    assert_true(b.timed);
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (b.rows[i].reject == REJECT_NONE)
            assert_int_equal(b.times[i], rows[i].time);
    batch_done(&b);
    decoder_free(d);
    buf_done(&text);
    buf_done(&expected);
    buf_done(&transcript);
    fixture_close(&f);
}

/* 13 digits are milliseconds in one of them only. */
static void times_of_every_type_are_told(void **state)
{
    static const struct {
        const char *type, *text;
        int64_t time;
    } rows[] = {
        {"timestamp", "2026-01-02T03:04:05.678Z", 1767323045678},
        {"timestamp", "2026-01-02 04:04:05+01:00", 1767323045000},
        {"timestamp_s", "1767323045.678", 1767323045678},
        {"timestamp_s", "1767323045", 1767323045000},
        {"timestamp_us", "1767323045678", 1767323045},
        {"timestamp_us", "1767323045678999", 1767323045678},
        {"timestamp_ns", "1767323045678", 1767323},
        {"timestamp_ns", "1767323045678999999", 1767323045678},
        {"timestamp_ms", "1767323045678", 1767323045678},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf text = BUF_EMPTY;
        struct decoder *d;
        struct fixture f;
        struct batch b;

        buf_printf(&text, "t %s, n bigint", rows[i].type);
        fixture_open(&f, buf_text(&text));
        f.format.timed = true;
        buf_clear(&text);
        buf_printf(&text, "%s,1\n,2\n", rows[i].text);
        d = decoder_new(&f.format);
        batch_init(&b, 2);
        decoder_read(d, buf_data(&text), buf_length(&text), INPUT_GOES_ON, &b);
        assert_int_equal(b.count, 2);
        assert_int_equal(b.times[0], rows[i].time);
        assert_int_equal(b.times[1], BATCH_NO_TIME);
        batch_done(&b);
        decoder_free(d);
        buf_done(&text);
        fixture_close(&f);
    }
}

/* A whole batch of lines whose types are bad is rejected in one go, in order and in place. */
static void many_bad_values_are_rejected_one_by_one(void **state)
{
    struct buf text = BUF_EMPTY, expected = BUF_EMPTY, transcript = BUF_EMPTY;
    struct fixture f;

    (void)state;
    fixture_open(&f, "s, n bigint, x double");
    for (int i = 0; i < 2 * BATCH_ROWS; i++) {
        buf_printf(&text, i % 3 == 0 ? "a,%dx,y\n" : i % 3 == 1 ? "a,%d,y\n" : "a,0%d,\n", i);
        if (i % 3 == 0)
            buf_printf(&expected, "! type a,%dx,y: field n: \"%dx\" is not a bigint\n", i, i);
        else if (i % 3 == 1)
            buf_printf(&expected, "! type a,%d,y: field x: \"y\" is not a double\n", i);
        else
            buf_printf(&expected, "~ [a][%d]-\n", i);
    }
    assert_string_equal(
        transcript_at_once(&f.format, buf_data(&text), buf_length(&text), INPUT_ENDED, &transcript),
        buf_text(&expected));
    buf_done(&text);
    buf_done(&expected);
    buf_done(&transcript);
    fixture_close(&f);
}

/* More rewritten and unquoted text than the scratch has at first: batches end early,
 * and no row's fields move. */
static void a_batch_ends_before_its_scratch_would_move(void **state)
{
    struct fixture f;
    struct buf text = BUF_EMPTY, rows = BUF_EMPTY, expected = BUF_EMPTY;

    (void)state;
    fixture_open(&f, "s, n bigint");
    f.format.max_line = 100000;
    for (int i = 1; i <= 300; i++) {
        int length = i % 10 == 0 ? 30000 : 100 + i;

        buf_append_text(&text, "\"\"\"");
        buf_append_text(&expected, "~ [\"");
        for (int j = 0; j < length; j++) {
            buf_append_char(&text, 'x');
            buf_append_char(&expected, 'x');
        }
        buf_printf(&text, "\",%05d\na,%04d\n", i, i);
        buf_printf(&expected, "][%d]\n%c [a][%d]\n", i, '~', i);
    }
    transcript_at_once(&f.format, buf_data(&text), buf_length(&text), INPUT_ENDED, &rows);
    assert_string_equal(buf_text(&rows), buf_text(&expected));
    buf_done(&text);
    buf_done(&rows);
    buf_done(&expected);
    fixture_close(&f);
}

/* Unquoted text and a number to be rewritten, in a batch that has no scratch yet: it
 * must make room for all of them at once, or there would be no end of waiting. */
static void an_empty_batch_has_room_for_any_record(void **state)
{
    struct fixture f;
    struct buf text = BUF_EMPTY, rows = BUF_EMPTY;

    (void)state;
    fixture_open(&f, "s, n bigint, x double");
    for (int size = 16200; size < 16500; size += 7) {
        buf_clear(&text);
        buf_append_text(&text, "\"\"\"");
        for (int i = 0; i < size; i++)
            buf_append_char(&text, 'x');
        buf_append_text(&text, "\",007,1e30\n");
        transcript_at_once(&f.format, buf_data(&text), buf_length(&text), INPUT_ENDED, &rows);
        assert_int_equal(buf_length(&rows), size + strlen("~ [\"][7][1e+30]\n"));
    }
    buf_done(&text);
    buf_done(&rows);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_lines_are_cut_and_can_be_stored_as_they_are),
        cmocka_unit_test(lines_of_any_length_are_cut_alike),
        cmocka_unit_test(quoted_fields_are_taken_out_of_their_quotes),
        cmocka_unit_test(null_is_an_unquoted_text_and_the_empty_string_is_quoted),
        cmocka_unit_test(the_delimiter_can_be_another),
        cmocka_unit_test(a_lone_cr_is_an_ordinary_character),
        cmocka_unit_test(one_field_has_no_delimiter),
        cmocka_unit_test(fields_are_checked_against_their_types),
        cmocka_unit_test(values_that_are_not_canonical_are_rewritten),
        cmocka_unit_test(the_times_of_one_field_are_told),
        cmocka_unit_test(times_of_every_type_are_told),
        cmocka_unit_test(many_bad_values_are_rejected_one_by_one),
        cmocka_unit_test(a_batch_ends_before_its_scratch_would_move),
        cmocka_unit_test(an_empty_batch_has_room_for_any_record),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
