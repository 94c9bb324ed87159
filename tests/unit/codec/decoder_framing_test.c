/* What the decoder does with counted frames, and with records in syslog envelopes. */
#include "unit.h"

#include "base/mem.h"
#include "codec/decoder.h"
#include "fixture.h"
#include "transcript.h"

#define HEAD  "<13>1 - h a - - - "   /* of RFC 5424 */
#define HEAD3 "<13>Nov 29 17:41:27 " /* of RFC 3164 */

struct example {
    const char *text;
    enum input_end end;
    const char *rows;
};

static void check(const struct fixture *f, const struct example *examples, size_t count)
{
    struct buf rows = BUF_EMPTY;

    for (size_t i = 0; i < count; i++) {
        const char *text = examples[i].text;
        const struct showing how = {.end = examples[i].end, .with_lines = true};

        buf_clear(&rows);
        transcript_write(&f->format, bytes_of(text), &how, &rows);
        assert_string_equal(buf_text(&rows), examples[i].rows);
    }
    buf_done(&rows);
}

static void a_counted_frame_is_a_record(void **state)
{
    static const struct example examples[] = {
        {"3 k,a5 l,b\r\n\n3 m,c", INPUT_ENDED,
         "= [k][a] from k,a\n= [l][b] from l,b\n= [m][c] from m,c\n"},
        {"\xEF\xBB\xBF"
         "3 k,a",
         INPUT_ENDED, "= [k][a] from k,a\n"},
        {"k,a\n3 l,b", INPUT_ENDED,
         "! framing k,a: no octet count at its start\n= [l][b] from l,b\n"},
        {"12,a\n", INPUT_ENDED, "! framing 12,a: no space behind the octet count\n"},
        {"12345678901 a\n", INPUT_ENDED,
         "! framing 12345678901 a: an octet count of more than 10 digits\n"},
        {"\xff\xf4\n", INPUT_ENDED, "! framing \\xff\\xf4: no octet count at its start\n"},
        {"5 k,a", INPUT_ENDED, "! unfinished k,a: the connection ended within this record\n"},
        {"5 k,a", INPUT_BROKEN, "! unfinished k,a: the connection ended within this record\n"},
        {"3 k,a5 ", INPUT_ENDED,
         "= [k][a] from k,a\n! unfinished 5 : the connection ended within this record\n"},
        {"3 k,a5 l,b", INPUT_LEFT, "= [k][a] from k,a\n"},
        {"23 0123456789,0123456789a\n3 k,a", INPUT_ENDED,
         "! too_long 0123456789,0123456789a: longer than max_line (20 bytes)\n"
         "= [k][a] from k,a\n"},
        {"3 k,\n", INPUT_ENDED, "= [k]- from k,\n"},
        {"4 k,\xff"
         "a",
         INPUT_ENDED, "! telnet k,\\xffa: a byte 0xFF, at byte 3\n"},
    };
    struct fixture f;

    (void)state;
    fixture_open(&f, "key, value");
    f.format.framing = FRAMING_OCTET;
    f.format.max_line = 20;
    check(&f, examples, COUNT_OF(examples));
    fixture_close(&f);
}

static void a_line_end_in_a_counted_frame_of_csv_has_to_be_in_quotes(void **state)
{
    static const struct example examples[] = {
        {"7 k,\"a\nb\"", INPUT_ENDED, "~ [k][a\\nb] from k,\"a\\nb\"\n"},
        {"8 k,\"a\r\n\n\"", INPUT_ENDED, "~ [k][a\\r\\n\\n] from k,\"a\\r\\n\\n\"\n"},
        {"5 k,a\nb", INPUT_ENDED, "! quote k,a\\nb: a line end outside quotes, at byte 4\n"},
        {"7 k,a\nl,b", INPUT_ENDED, "! quote k,a\\nl,b: a line end outside quotes, at byte 4\n"},
        {"9 k,\"a\"\nl,b", INPUT_ENDED,
         "! quote k,\"a\"\\nl,b: a line end outside quotes, at byte 6\n"},
        {"4 \nk,a", INPUT_ENDED, "! quote \\nk,a: a line end outside quotes, at byte 1\n"},
        {"5 k,a\n\n", INPUT_ENDED, "! quote k,a\\n: a line end outside quotes, at byte 4\n"},
        {"6 k,\"a\nb", INPUT_ENDED, "! quote k,\"a\\nb: a quoted field is not closed\n"},
        {"6 k,a\"\nb", INPUT_ENDED,
         "! quote k,a\"\\nb: a quote within a field that does not start with one, at byte 4\n"},
    };
    struct fixture f;

    (void)state;
    fixture_open(&f, "key, value");
    f.format.framing = FRAMING_OCTET;
    check(&f, examples, COUNT_OF(examples));
    f.format.multiline = true;
    check(&f, examples, COUNT_OF(examples));
    fixture_close(&f);
}

static void an_object_may_hold_line_ends(void **state)
{
    static const struct example examples[] = {
        {"9 {\n\"k\":1\n}{}\n8 {\"k\":2}\n{\"k\":3}\n", INPUT_ENDED,
         "~ [1] from {\\n\"k\":1\\n}\n~ - from {}\n~ [2] from {\"k\":2}\n~ [3] from {\"k\":3}\n"},
        {"9 {\"k\":\"\n\"}", INPUT_ENDED,
         "! json {\"k\":\"\\n\"}: broken JSON: a control character stands in a string, at byte "
         "7\n"},
    };
    struct fixture f;

    (void)state;
    fixture_open_json(&f, "k");
    f.format.framing = FRAMING_AUTO;
    check(&f, examples, COUNT_OF(examples));
    fixture_close(&f);
}

static void an_envelope_is_taken_off(void **state)
{
    static const struct example examples[] = {
        {HEAD "k,a\n", INPUT_ENDED, "= [k][a] from k,a\n"},
        {HEAD "\xEF\xBB\xBFk,a\r\n", INPUT_ENDED, "= [k][a] from k,a\n"},
        {HEAD3 "h t: k,a\n" HEAD3 "h t:  l,b\n" HEAD3 "t[1]: m,c\n", INPUT_ENDED,
         "= [k][a] from k,a\n= [ l][b] from  l,b\n= [m][c] from m,c\n"},
        {HEAD "\"k\",a\n", INPUT_ENDED, "~ [k][a] from \"k\",a\n"},
        {HEAD "k\n", INPUT_ENDED, "! fields k: 1 field, expected 2 (key, value)\n"},
        {HEAD "\n" HEAD3 "h t: \nk,a\n" HEAD3 "h t:\n", INPUT_ENDED,
         "! envelope k,a: no syslog header: no priority such as <13> at its start\n"},
        {"<13>k,a\n", INPUT_ENDED,
         "! envelope <13>k,a: no syslog header: neither a version nor a time behind the "
         "priority\n"},
        {"k\xff,a\n", INPUT_ENDED, "! telnet k\\xff,a: a byte 0xFF, at byte 2\n"},
        {HEAD "k,\xff\n", INPUT_ENDED, "! telnet k,\\xff: a byte 0xFF, at byte 3\n"},
        {HEAD "k,a", INPUT_BROKEN,
         "! unfinished " HEAD "k,a: the connection broke within this line\n"},
        {HEAD "k,a", INPUT_ENDED, "= [k][a] from k,a\n"},
        {HEAD "k,a\n" HEAD "k", INPUT_LEFT, "= [k][a] from k,a\n"},
        {HEAD3 "h t: k,aaaaaaaaaaaaaaa\n", INPUT_ENDED,
         "! too_long " HEAD3 "h t: k,aaaaaaaaaaaaaaa: longer than max_line (40 bytes)\n"},
    };
    struct fixture f;

    (void)state;
    fixture_open(&f, "key, value");
    f.format.envelope = ENVELOPE_SYSLOG;
    f.format.max_line = 40;
    check(&f, examples, COUNT_OF(examples));
    fixture_close(&f);
}

static void frames_may_hold_envelopes(void **state)
{
    static const struct example examples[] = {
        {"21 " HEAD "k,a22 " HEAD "l,b\n" HEAD "m,c\n", INPUT_ENDED,
         "= [k][a] from k,a\n= [l][b] from l,b\n= [m][c] from m,c\n"},
        {"25 " HEAD "k,\"a\nb\"", INPUT_ENDED, "~ [k][a\\nb] from k,\"a\\nb\"\n"},
        {"18 " HEAD "21 " HEAD "k,a", INPUT_ENDED, "= [k][a] from k,a\n"},
        {"5 <13>\n3 k,a\n", INPUT_ENDED,
         "! envelope <13>: no syslog header: neither a version nor a time behind the priority\n"
         "! envelope 3 k,a: no syslog header: no priority such as <13> at its start\n"},
    };
    struct fixture f;

    (void)state;
    fixture_open(&f, "key, value");
    f.format.envelope = ENVELOPE_SYSLOG;
    f.format.framing = FRAMING_AUTO;
    check(&f, examples, COUNT_OF(examples));
    fixture_close(&f);
}

static void objects_may_be_in_envelopes(void **state)
{
    static const struct example examples[] = {
        {HEAD3 "h t: {\"k\":1}\n" HEAD "{\"k\":2}\n", INPUT_ENDED,
         "~ [1] from {\"k\":1}\n~ [2] from {\"k\":2}\n"},
        {HEAD "k\n", INPUT_ENDED,
         "! json k: broken JSON: an object is expected: {\"name\": value, ...}, at byte 1\n"},
        {"{\"k\":1}\n", INPUT_ENDED,
         "! envelope {\"k\":1}: no syslog header: no priority such as <13> at its start\n"},
    };
    struct fixture f;

    (void)state;
    fixture_open_json(&f, "k");
    f.format.envelope = ENVELOPE_SYSLOG;
    check(&f, examples, COUNT_OF(examples));
    fixture_close(&f);
}

static void a_header_comes_as_records_do(void **state)
{
    static const struct example counted[] = {
        {"9 value,key3 a,k", INPUT_ENDED, "~ [k][a] from a,k\n"},
        {"0 \n10 value,key\n3 a,k", INPUT_ENDED, "~ [k][a] from a,k\n"},
        {"value,key\n3 a,k", INPUT_ENDED,
         "! header value,key: the header has no octet count\n"
         "! header a,k: the header has no octet count\n"},
        {"9 value,", INPUT_ENDED, "! unfinished value,: the connection ended within this record\n"},
    };
    static const struct example wrapped[] = {
        {HEAD "\n" HEAD "value,key\n" HEAD "a,k\n", INPUT_ENDED, "~ [k][a] from a,k\n"},
        {"value,key\n" HEAD "a,k\n", INPUT_ENDED,
         "! header value,key: the header has no syslog envelope: no priority such as <13> at its "
         "start\n"
         "! header a,k: the header has no syslog envelope: no priority such as <13> at its "
         "start\n"},
    };
    struct fixture f;

    (void)state;
    fixture_open(&f, "key, value");
    f.format.header = true;
    f.format.framing = FRAMING_OCTET;
    check(&f, counted, COUNT_OF(counted));
    f.format.framing = FRAMING_LINE;
    f.format.envelope = ENVELOPE_SYSLOG;
    check(&f, wrapped, COUNT_OF(wrapped));
    fixture_close(&f);
}

/* The rest of a frame of which nothing was taken is not skipped: the row comes again. */
static void a_refused_over_long_frame_is_given_again(void **state)
{
    static const char start[] = "3 k,a5000 ";
    char *bytes = mem_alloc_zeroed(8000, 1);
    struct fixture f;
    struct decoder *d;
    struct batch b;

    (void)state;
    memset(bytes, 'x', 8000);
    memcpy(bytes, start, sizeof(start) - 1);
    memcpy(bytes + sizeof(start) - 1 + 5000, "3 l,b", 5);
    fixture_open(&f, "key, value");
    f.format.framing = FRAMING_OCTET;
    f.format.max_line = 100;
    d = decoder_new(&f.format);
    batch_init(&b, 2);

    assert_int_equal(decoder_read(d, bytes, 4000, INPUT_GOES_ON, &b), 4000);
    assert_int_equal(b.count, 2);
    assert_int_equal(decoder_rewind(d, &b, 1), 5);
    assert_int_equal(decoder_read(d, bytes + 5, 3995, INPUT_GOES_ON, &b), 3995);
    assert_int_equal(b.count, 1);
    assert_int_equal(b.rows[0].reject, REJECT_TOO_LONG);
    assert_int_equal(b.rows[0].line.n, 1024);
    assert_int_equal(decoder_rewind(d, &b, 0), 0);
    assert_int_equal(decoder_read(d, bytes + 5, 3995, INPUT_GOES_ON, &b), 3995);
    assert_int_equal(decoder_rewind(d, &b, 1), 3995);

    /* a row behind the rest that is skipped, refused: the rest too is shown again */
    assert_int_equal(decoder_read(d, bytes + 4000, 1015, INPUT_GOES_ON, &b), 1015);
    assert_int_equal(b.count, 1);
    assert_int_equal(decoder_rewind(d, &b, 0), 0);
    assert_int_equal(decoder_read(d, bytes + 4000, 1015, INPUT_GOES_ON, &b), 1015);
    assert_int_equal(b.count, 1);
    assert_int_equal(b.rows[0].reject, REJECT_NONE);
    assert_int_equal(b.rows[0].consumed, 1015);

    decoder_free(d);
    batch_done(&b);
    fixture_close(&f);
    mem_free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_counted_frame_is_a_record),
        cmocka_unit_test(a_line_end_in_a_counted_frame_of_csv_has_to_be_in_quotes),
        cmocka_unit_test(an_object_may_hold_line_ends),
        cmocka_unit_test(an_envelope_is_taken_off),
        cmocka_unit_test(frames_may_hold_envelopes),
        cmocka_unit_test(objects_may_be_in_envelopes),
        cmocka_unit_test(a_header_comes_as_records_do),
        cmocka_unit_test(a_refused_over_long_frame_is_given_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
