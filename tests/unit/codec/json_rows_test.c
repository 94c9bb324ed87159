/* Lines of JSON through the whole decoder: types, reasons, frames, cuts, batches. */
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

static void check_all(const struct fixture *f, const struct example *examples, size_t count)
{
    struct buf rows = BUF_EMPTY;

    for (size_t i = 0; i < count; i++) {
        const char *text = examples[i].text;

        assert_string_equal(transcript_at_once(&f->format, text, strlen(text), INPUT_ENDED, &rows),
                            examples[i].rows);
    }
    buf_done(&rows);
}

static void check(const char *fields, const struct example *examples, size_t count)
{
    struct fixture f;

    fixture_open_json(&f, fields);
    check_all(&f, examples, count);
    fixture_close(&f);
}

/* --- types --- */

static void a_string_takes_any_value_as_its_text(void **state)
{
    static const struct example examples[] = {
        {"{\"a\":\"x\"}", "~ [x]\n"},
        {"{\"a\":\"\"}", "~ []\n"},
        {"{\"a\":\"null\"}", "~ [null]\n"},
        {"{\"a\":null}", "~ -\n"},
        {"{}", "~ -\n"},
        {"{\"a\":true}", "~ [true]\n"},
        {"{\"a\":-0}", "~ [-0]\n"},
        {"{\"a\":2.50}", "~ [2.50]\n"},
        {"{\"a\":9007199254740993}", "~ [9007199254740993]\n"},
        {"{\"a\":123456789012345678901234567890}", "~ [123456789012345678901234567890]\n"},
        {"{\"a\":1e400}", "~ [1e400]\n"},
        {"{\"a\":{\"b\": 1}}", "~ [{\"b\": 1}]\n"},
        {"{\"a\":[ ]}", "~ [[ ]]\n"},
        {"{\"a\":\"a\\\"b,\\nc\"}", "~ [a\"b,\\nc]\n"},
    };

    (void)state;
    check("a", examples, COUNT_OF(examples));
}

static void bigint_takes_numbers_without_fraction_or_exponent(void **state)
{
    static const struct example examples[] = {
        {"{\"n\":12}", "~ [12]\n"},
        {"{\"n\":-0}", "~ [0]\n"},
        {"{\"n\":9223372036854775807}", "~ [9223372036854775807]\n"},
        {"{\"n\":\"12\"}", "~ [12]\n"},
        {"{\"n\":\"007\"}", "~ [7]\n"},
        {"{\"n\":\"\\u0031\\u0032\"}", "~ [12]\n"},
        {"{\"n\":null}", "~ -\n"},
        {"{\"n\":1.0}", "! type {\"n\":1.0}: field n: \"1.0\" is not a bigint\n"},
        {"{\"n\":1e2}", "! type {\"n\":1e2}: field n: \"1e2\" is not a bigint\n"},
        {"{\"n\":9223372036854775808}",
         "! type {\"n\":9223372036854775808}: field n: \"9223372036854775808\" is not a bigint\n"},
        {"{\"n\":true}", "! type {\"n\":true}: field n: \"true\" is not a bigint\n"},
        {"{\"n\":\"\"}", "! type {\"n\":\"\"}: field n: \"\" is not a bigint\n"},
        {"{\"n\":\" 1\"}", "! type {\"n\":\" 1\"}: field n: \" 1\" is not a bigint\n"},
        {"{\"n\":[1]}", "! type {\"n\":[1]}: field n: \"[1]\" is not a bigint\n"},
        {"{\"n\":007}",
         "! json {\"n\":007}: broken JSON: a number has a leading zero, at byte 6\n"},
    };

    (void)state;
    check("n bigint", examples, COUNT_OF(examples));
}

static void doubles_are_made_canonical(void **state)
{
    static const struct example examples[] = {
        {"{\"d\":2}", "~ [2]\n"},
        {"{\"d\":2.50}", "~ [2.5]\n"},
        {"{\"d\":1E+2}", "~ [100]\n"},
        {"{\"d\":-0.0}", "~ [-0]\n"},
        {"{\"d\":1e21}", "~ [1e+21]\n"},
        {"{\"d\":123456789012345678901234567890}", "~ [1.2345678901234568e+29]\n"},
        {"{\"d\":\"2.50\"}", "~ [2.5]\n"},
        {"{\"d\":1e400}", "! type {\"d\":1e400}: field d: \"1e400\" is not a double\n"},
        {"{\"d\":\"1.\"}", "! type {\"d\":\"1.\"}: field d: \"1.\" is not a double\n"},
        {"{\"d\":false}", "! type {\"d\":false}: field d: \"false\" is not a double\n"},
        {"{\"d\":{}}", "! type {\"d\":{}}: field d: \"{}\" is not a double\n"},
    };

    (void)state;
    check("d double", examples, COUNT_OF(examples));
}

static void booleans_are_literals_or_strings_of_them(void **state)
{
    static const struct example examples[] = {
        {"{\"b\":true}", "~ [true]\n"},
        {"{\"b\":false}", "~ [false]\n"},
        {"{\"b\":\"TRUE\"}", "~ [true]\n"},
        {"{\"b\":1}", "! type {\"b\":1}: field b: \"1\" is not a boolean\n"},
        {"{\"b\":\"yes\"}", "! type {\"b\":\"yes\"}: field b: \"yes\" is not a boolean\n"},
        {"{\"b\":[]}", "! type {\"b\":[]}: field b: \"[]\" is not a boolean\n"},
    };

    (void)state;
    check("b boolean", examples, COUNT_OF(examples));
}

static void times_are_text_or_numbers_by_their_type(void **state)
{
    static const struct example texts[] = {
        {"{\"t\":\"2026-01-02T03:04:05.678Z\"}", "~ [2026-01-02T03:04:05.678Z]\n"},
        {"{\"t\":\"2026-01-02 03:04:05+02:00\"}", "~ [2026-01-02T01:04:05.000Z]\n"},
        {"{\"t\":2026}", "! type {\"t\":2026}: field t: \"2026\" is not a timestamp\n"},
        {"{\"t\":\"\"}", "! type {\"t\":\"\"}: field t: \"\" is not a timestamp\n"},
    };
    static const struct example seconds[] = {
        {"{\"t\":1700000000.123456789}", "~ [1700000000.123456789]\n"},
        {"{\"t\":\"1700000000.5\"}", "~ [1700000000.5]\n"},
        {"{\"t\":-1}", "~ [-1]\n"},
        {"{\"t\":1e9}", "! type {\"t\":1e9}: field t: \"1e9\" is not a timestamp_s\n"},
    };
    static const struct example milliseconds[] = {
        {"{\"t\":1700000000123}", "~ [1700000000123]\n"},
        {"{\"t\":\"1700000000123\"}", "~ [1700000000123]\n"},
        {"{\"t\":1.5}", "! type {\"t\":1.5}: field t: \"1.5\" is not a timestamp_ms\n"},
        {"{\"t\":253402300800000}",
         "! type {\"t\":253402300800000}: field t: \"253402300800000\" is not a timestamp_ms\n"},
        {"{\"t\":true}", "! type {\"t\":true}: field t: \"true\" is not a timestamp_ms\n"},
    };

    (void)state;
    check("t timestamp", texts, COUNT_OF(texts));
    check("t timestamp_s", seconds, COUNT_OF(seconds));
    check("t timestamp_ms", milliseconds, COUNT_OF(milliseconds));
}

/* Each is checked, and made canonical, on its own. */
static void one_member_can_be_fields_of_several_types(void **state)
{
    static const struct example examples[] = {
        {"{\"a\":\"01.50\"}", "~ [01.50][1.5]\n"},
        {"{\"a\":3}", "~ [3][3]\n"},
        {"{\"a\":\"x\"}", "! type {\"a\":\"x\"}: field a: \"x\" is not a double\n"},
    };

    (void)state;
    check("a, a double", examples, COUNT_OF(examples));
}

/* --- reasons --- */

static void every_fault_is_told_with_its_reason(void **state)
{
    static const struct example examples[] = {
        {"a,b", "! json a,b: broken JSON: an object is expected: {\"name\": value, ...}, at byte "
                "1\n"},
        {"{\"k\":'x'}", "! json {\"k\":'x'}: broken JSON: a value is expected, at byte 6\n"},
        {"{\"k\":NaN}", "! json {\"k\":NaN}: broken JSON: a value is expected, at byte 6\n"},
        {"{\"k\":1,}", "! json {\"k\":1,}: broken JSON: a member's name in double quotes is "
                       "expected, at byte 8\n"},
        {"{\"k\":1} {", "! json {\"k\":1} {: broken JSON: there is text behind the object, at byte "
                        "9\n"},
        {"{\"k\":1", "! json {\"k\":1: broken JSON: it ends too early, at byte 7\n"},
        {"{\"k\":\"\\ud800\"}", "! json {\"k\":\"\\ud800\"}: broken JSON: half of a surrogate pair "
                                "stands alone, at byte 7\n"},
        {"{\"k\":\"\\u0000\"}", "! json {\"k\":\"\\u0000\"}: broken JSON: \\u0000 is no character "
                                "that a field can hold, at byte 7\n"},
        {"{\"k\":1,\"k\":2}", "! duplicate {\"k\":1,\"k\":2}: the member \"k\" is there twice\n"},
        {"{\"x\\n\":1,\"x\\n\":2}",
         "! duplicate {\"x\\n\":1,\"x\\n\":2}: the member \"x\\n\" is there twice\n"},
        {"{\"user\":7}", "! path {\"user\":7}: field user.id: its path goes through \"user\", "
                         "which is no object\n"},
        {"{\"k\":\"\xC3(\"}", "! utf8 {\"k\":\"\\xc3(\"}: not UTF-8, at byte 7\n"},
        {"{\"k\":\"\xED\xA0\x80\"}", "! utf8 {\"k\":\"\\xed\\xa0\\x80\"}: not UTF-8, at byte 7\n"},
        {"{\"x\":\"\xFE\"}", "! utf8 {\"x\":\"\\xfe\"}: not UTF-8, at byte 7\n"},
        {"{\"k\":\"\xFF\xFB\xC3\"}",
         "! telnet {\"k\":\"\\xff\\xfb\\xc3\"}: a byte 0xFF, at byte 7\n"},
    };

    (void)state;
    check("k, user.id bigint", examples, COUNT_OF(examples));
}

static void broken_json_is_told_before_types(void **state)
{
    static const struct example examples[] = {
        {"{\"n\":\"x\",\"m\":}",
         "! json {\"n\":\"x\",\"m\":}: broken JSON: a value is expected, at byte 14\n"},
        {"{\"n\":\"x\",\"n\":1}",
         "! duplicate {\"n\":\"x\",\"n\":1}: the member \"n\" is there twice\n"},
    };

    (void)state;
    check("n bigint", examples, COUNT_OF(examples));
}

static void nul_bytes_are_rejected_as_such(void **state)
{
    static const char text[] = "{\"k\":\"a\0b\"}\n{\"k\":1\0}\n\0\n{\"k\":\"\xFF\0\"}\n";
    struct fixture f;
    struct buf rows = BUF_EMPTY;

    (void)state;
    fixture_open_json(&f, "k");
    assert_string_equal(transcript_at_once(&f.format, text, sizeof(text) - 1, INPUT_ENDED, &rows),
                        "! nul {\"k\":\"a\\x00b\"}: a NUL byte, at byte 8\n"
                        "! nul {\"k\":1\\x00}: a NUL byte, at byte 7\n"
                        "! nul \\x00: a NUL byte, at byte 1\n"
                        "! nul {\"k\":\"\\xff\\x00\"}: a NUL byte, at byte 8\n");
    buf_done(&rows);
    fixture_close(&f);
}

/* --- lines --- */

static void lines_end_as_those_of_csv_do(void **state)
{
    static const struct example examples[] = {
        {"", ""},
        {"{\"k\":1}\r\n\n\r\n{\"k\":2}\n", "~ [1]\n~ [2]\n"},
        {"{\"k\":1}\n{\"k\":2}", "~ [1]\n~ [2]\n"},
        {"\xEF\xBB\xBF{\"k\":1}\n", "~ [1]\n"},
        {"{\"k\":1}\n\xEF\xBB\xBF{\"k\":2}\n",
         "~ [1]\n! json \\xef\\xbb\\xbf{\"k\":2}: broken JSON: an object is expected: {\"name\": "
         "value, ...}, at byte 1\n"},
        {"{\"k\":\r1}\n", "~ [1]\n"},
        {"{\"k\":\n1}\n", "! json {\"k\":: broken JSON: it ends too early, at byte 6\n"
                          "! json 1}: broken JSON: an object is expected: {\"name\": value, ...}, "
                          "at byte 1\n"},
        {" \n",
         "! json  : broken JSON: an object is expected: {\"name\": value, ...}, at byte 2\n"},
        {"{\"k\":\"a\"\"b\"}\n{\"k\":\"\n",
         "! json {\"k\":\"a\"\"b\"}: broken JSON: a comma or } is "
         "expected, at byte 9\n"
         "! json {\"k\":\": broken JSON: the string that begins "
         "here has no end, at byte 6\n"},
    };

    (void)state;
    check("k", examples, COUNT_OF(examples));
}

static void long_and_unfinished_lines_are_rejected(void **state)
{
    static const struct example examples[] = {
        {"{\"k\":123}\n{\"k\":1234}\n{\"k\":\"12\"}\n",
         "~ [123]\n! too_long {\"k\":1234}: longer than max_line (9 bytes)\n"
         "! too_long {\"k\":\"12\"}: longer than max_line (9 bytes)\n"},
    };
    struct fixture f;
    struct buf rows = BUF_EMPTY;

    (void)state;
    fixture_open_json(&f, "k");
    f.format.max_line = 9;
    check_all(&f, examples, COUNT_OF(examples));
    assert_string_equal(transcript_at_once(&f.format, "{\"k\":1}\n{}", 10, INPUT_BROKEN, &rows),
                        "~ [1]\n! unfinished {}: the connection broke within this line\n");
    buf_done(&rows);
    fixture_close(&f);
}

/* --- cuts and batches --- */

static const char *const inputs[] = {
    "{\"k\":\"\\u00e4\",\"n\":1}\n{\"n\":\"02\",\"k\":\"x\\ny\"}\r\n\n{}\n",
    "\xEF\xBB\xBF{\"k\":\"\xC3\xA4\"}\nx\n{\"k\":1,\"k\":2}\n{\"n\":1.0}",
    "{\"k\":\"\xC3\"}\n\xFF\n{\"u\":{\"id\":\"\\t\"}}\n{\"u\":1}\n{\"u\":",
    "{\"k\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}\n{\"k\":1}\n",
};

static void check_cut(const struct fixture *f, const char *input, const struct showing *how,
                      const char *expected)
{
    struct buf rows = BUF_EMPTY;

    transcript_write(&f->format, bytes_of(input), how, &rows);
    if (strcmp(buf_text(&rows), expected) != 0)
        fail_msg("%s, cut at %zu:\n%s-- is not --\n%s", input, how->cuts[0], buf_text(&rows),
                 expected);
    buf_done(&rows);
}

static void check_cuts(const struct fixture *f, const char *input, enum input_end end)
{
    const struct showing at_once = {.end = end, .with_lines = true};
    struct buf expected = BUF_EMPTY;
    size_t n = strlen(input);

    transcript_write(&f->format, bytes_of(input), &at_once, &expected);
    for (size_t a = 0; a <= n; a++)
        for (size_t b = a; b <= n; b++) {
            const size_t cuts[] = {a, b};
            const struct showing how = {
                .cuts = cuts,
                .cut_count = 2,
                .end = end,
                .end_comes_later = b % 2 == 1,
                .refusals = (a + b) % 3,
                .with_lines = true,
            };

            check_cut(f, input, &how, buf_text(&expected));
        }
    buf_done(&expected);
}

static void any_cut_of_the_bytes_gives_the_same_rows(void **state)
{
    struct fixture f;

    (void)state;
    fixture_open_json(&f, "k, n bigint, u.id");
    f.format.max_line = 50;
    for (size_t i = 0; i < COUNT_OF(inputs); i++) {
        check_cuts(&f, inputs[i], INPUT_ENDED);
        check_cuts(&f, inputs[i], INPUT_BROKEN);
    }
    fixture_close(&f);
}

/* Rows of many sizes, whose texts without escapes and canonical numbers fill the scratch
 * many times over. */
static void texts_stay_where_they_are_while_a_batch_fills(void **state)
{
    const struct showing at_once = {.end = INPUT_ENDED};
    struct buf input = BUF_EMPTY, expected = BUF_EMPTY, rows = BUF_EMPTY;
    struct fixture f;

    (void)state;
    for (int i = 0; i < 2000; i++) {
        int n = i % 97 == 0 ? 5000 : i % 7 * 40;

        buf_printf(&input, "{\"k\":\"\\u0041%0*d\",\"d\":%d.500}\n", n, i, i);
        buf_printf(&expected, "~ [A%0*d][%d.5]\n", n, i, i);
    }
    fixture_open_json(&f, "k, d double");
    transcript_write(&f.format, buf_bytes(&input), &at_once, &rows);
    assert_string_equal(buf_text(&rows), buf_text(&expected));
    buf_done(&rows);
    buf_done(&expected);
    buf_done(&input);
    fixture_close(&f);
}

static void a_batch_without_escapes_is_full(void **state)
{
    struct buf input = BUF_EMPTY;
    struct decoder *d;
    struct fixture f;
    struct batch b;

    (void)state;
    fixture_open_json(&f, "k, n bigint");
    for (int i = 0; i < BATCH_ROWS + 1; i++)
        buf_printf(&input, "{\"k\":\"a key of some length\",\"n\":%d}\n", i);
    d = decoder_new(&f.format);
    batch_init(&b, 2);
    decoder_read(d, buf_data(&input), buf_length(&input), INPUT_GOES_ON, &b);
    assert_int_equal(b.count, BATCH_ROWS);
    assert_int_equal(b.scratch.tail, 0);
    batch_done(&b);
    decoder_free(d);
    buf_done(&input);
    fixture_close(&f);
}

/* Else a flood of bad lines would cut batches short. */
static void rejected_rows_leave_nothing_in_the_scratch(void **state)
{
    static const char line[] = "{\"k\":\"a\\nb\",\"n\":\"x\"}\n";
    struct buf input = BUF_EMPTY;
    struct decoder *d;
    struct fixture f;
    struct batch b;

    (void)state;
    fixture_open_json(&f, "k, n bigint");
    for (int i = 0; i < 10; i++)
        buf_append_text(&input, line);
    d = decoder_new(&f.format);
    batch_init(&b, 2);
    decoder_read(d, buf_data(&input), buf_length(&input), INPUT_GOES_ON, &b);
    assert_int_equal(b.rejected, 10);
    assert_int_equal(b.scratch.tail, 0);
    batch_done(&b);
    decoder_free(d);
    buf_done(&input);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_string_takes_any_value_as_its_text),
        cmocka_unit_test(bigint_takes_numbers_without_fraction_or_exponent),
        cmocka_unit_test(doubles_are_made_canonical),
        cmocka_unit_test(booleans_are_literals_or_strings_of_them),
        cmocka_unit_test(times_are_text_or_numbers_by_their_type),
        cmocka_unit_test(one_member_can_be_fields_of_several_types),
        cmocka_unit_test(every_fault_is_told_with_its_reason),
        cmocka_unit_test(broken_json_is_told_before_types),
        cmocka_unit_test(nul_bytes_are_rejected_as_such),
        cmocka_unit_test(lines_end_as_those_of_csv_do),
        cmocka_unit_test(long_and_unfinished_lines_are_rejected),
        cmocka_unit_test(any_cut_of_the_bytes_gives_the_same_rows),
        cmocka_unit_test(texts_stay_where_they_are_while_a_batch_fills),
        cmocka_unit_test(a_batch_without_escapes_is_full),
        cmocka_unit_test(rejected_rows_leave_nothing_in_the_scratch),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
