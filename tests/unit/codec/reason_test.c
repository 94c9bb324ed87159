#include "unit.h"

#include "base/mem.h"
#include "codec/reason.h"
#include "fixture.h"

static void values_are_shown_in_quotes_without_control_characters(void **state)
{
    static const struct {
        const char *value, *shown;
    } rows[] = {
        {"", "\"\""},
        {"12x", "\"12x\""},
        {"a \"b\" \\", "\"a \\\"b\\\" \\\\\""},
        {"\t\n\r", "\"\\t\\n\\r\""},
        {"\x01\x1b[31m\x7f", "\"\\x01\\x1b[31m\\x7f\""},
        {"\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80", "\"\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80\""},
        {"\xC2\x9B"
         "31m",
         "\"\\xc2\\x9b31m\""}, /* a control character of two bytes */
        {"\xC2\xA0", "\"\xC2\xA0\""},
        {"\xC3(\xE2\x82", "\"\\xc3(\\xe2\\x82\""},
        {"\xF0\x9F", "\"\\xf0\\x9f\""},
    };
    struct buf to = BUF_EMPTY;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        size_t n = strlen(rows[i].value);
        char *value = mem_alloc(n); /* nothing behind it may be touched */

        memcpy(value, rows[i].value, n);
        buf_clear(&to);
        reason_append_value(&to, (struct bytes){value, n});
        assert_string_equal(buf_text(&to), rows[i].shown);
        mem_free(value);
    }
    buf_done(&to);
}

static void long_values_are_cut_between_characters(void **state)
{
    char value[100];
    struct buf to = BUF_EMPTY;

    (void)state;
    memset(value, 'x', sizeof(value));
    reason_append_value(&to, (struct bytes){value, 60});
    assert_int_equal(buf_length(&to), 62);
    buf_clear(&to);
    reason_append_value(&to, (struct bytes){value, 61});
    assert_int_equal(buf_length(&to), 62 + 3);
    assert_string_equal(buf_text(&to) + 59, "xx...\"");
    buf_clear(&to);
    memcpy(value + 59, "\xE2\x82\xAC", 3);
    reason_append_value(&to, (struct bytes){value, 70});
    assert_string_equal(buf_text(&to) + 59, "x\xE2\x82\xAC...\"");
    buf_done(&to);
}

static void a_wrong_number_of_fields_is_told_with_the_names(void **state)
{
    struct fixture f;
    struct buf to = BUF_EMPTY;
    const char *text;

    (void)state;
    fixture_open(&f, "id, user, at");
    reason_field_count(&to, 5, 3, false, &f.schema);
    assert_string_equal(buf_text(&to), "5 fields, expected 3 (id, user, at)");
    buf_clear(&to);
    reason_field_count(&to, 1, 7, true, &f.schema);
    assert_string_equal(buf_text(&to), "1 field, expected 7 as in the header");
    for (int i = 0; i < 50; i++)
        fixture_add_fields(&f.schema, "another_one");
    buf_clear(&to);
    reason_field_count(&to, 1, 53, false, &f.schema);
    text = buf_text(&to);
    assert_in_range(strlen(text), 100, 140);
    assert_string_equal(text + strlen(text) - 17, "another_one, ...)");
    buf_done(&to);
    fixture_close(&f);
}

static void faults_of_counted_frames_are_told(void **state)
{
    static const struct {
        const char *line;
        const char *told;
    } rows[] = {
        {"a,b", "no octet count at its start"},
        {" 3 a", "no octet count at its start"},
        {"3", "no space behind the octet count"},
        {"3,a", "no space behind the octet count"},
        {"1234567890x", "no space behind the octet count"},
        {"12345678901 x", "an octet count of more than 10 digits"},
    };
    struct buf to = BUF_EMPTY;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        buf_clear(&to);
        reason_count(&to, bytes_of(rows[i].line));
        assert_string_equal(buf_text(&to), rows[i].told);
    }
    buf_clear(&to);
    reason_line_end(&to, 4);
    assert_string_equal(buf_text(&to), "a line end outside quotes, at byte 5");
    buf_done(&to);
}

static void faults_of_json_are_told_with_their_place_or_name(void **state)
{
    struct fixture f;
    struct buf to = BUF_EMPTY;

    (void)state;
    fixture_open_json(&f, "id, user.id bigint");
    reason_json(&to, "a value is expected", 0);
    assert_string_equal(buf_text(&to), "broken JSON: a value is expected, at byte 1");
    buf_clear(&to);
    reason_utf8(&to, 9);
    assert_string_equal(buf_text(&to), "not UTF-8, at byte 10");
    buf_clear(&to);
    reason_twice(&to, BYTES_LIT("a\n\"b"));
    assert_string_equal(buf_text(&to), "the member \"a\\n\\\"b\" is there twice");
    buf_clear(&to);
    reason_path(&to, &f.schema.fields[1], BYTES_LIT("user"));
    assert_string_equal(buf_text(&to),
                        "field user.id: its path goes through \"user\", which is no object");
    buf_done(&to);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_shown_in_quotes_without_control_characters),
        cmocka_unit_test(long_values_are_cut_between_characters),
        cmocka_unit_test(a_wrong_number_of_fields_is_told_with_the_names),
        cmocka_unit_test(faults_of_counted_frames_are_told),
        cmocka_unit_test(faults_of_json_are_told_with_their_place_or_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
