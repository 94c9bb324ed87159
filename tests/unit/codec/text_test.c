#include "unit.h"

#include <jansson.h>

#include "base/buf.h"
#include "base/copy.h"
#include "base/mem.h"
#include "codec/text.h"
#include "repaired.h"
#include "transcript.h"

/* The writers may use the room they ask for, and no more. */
static const char *csv(const char *text, size_t n, const struct csv_style *style, struct buf *to)
{
    char *from = mem_alloc(n), *room = mem_alloc(text_csv_room(n));
    char *end;

    memcpy(from, text, n);
    end = text_write_csv(room, (struct bytes){from, n}, style);
    buf_clear(to);
    buf_append(to, room, (size_t)(end - room));
    mem_free(from);
    mem_free(room);
    return buf_text(to);
}

static const char *json(const char *text, size_t n, struct buf *to)
{
    char *from = mem_alloc(n), *room = mem_alloc(text_json_room(n));
    char *end;

    memcpy(from, text, n);
    end = text_write_json(room, (struct bytes){from, n});
    buf_clear(to);
    buf_append(to, room, (size_t)(end - room));
    mem_free(from);
    mem_free(room);
    return buf_text(to);
}

static void copies_any_number_of_bytes(void **state)
{
    (void)state;
    for (size_t n = 0; n <= 150; n++) {
        char *from = mem_alloc(n), *to = mem_alloc(n);

        for (size_t i = 0; i < n; i++)
            from[i] = (char)(i + 1);
        memset(to, 0, n);
        assert_ptr_equal(copy_bytes(to, from, n), to + n);
        assert_memory_equal(to, from, n);
        mem_free(from);
        mem_free(to);
    }
}

/* --- CSV --- */

static void a_byte_that_needs_quotes_is_seen_at_any_place(void **state)
{
    const struct csv_style style = {';', BYTES_LIT("")};
    struct buf to = BUF_EMPTY;

    (void)state;
    for (size_t n = 1; n <= 40; n++) {
        for (size_t at = 0; at < n; at++) {
            for (int c = 1; c < 256; c++) {
                char text[40];
                bool special = c == ';' || c == '"' || c == '\n' || c == '\r';

                memset(text, 'x', n);
                text[at] = (char)c;
                csv(text, n, &style, &to);
                assert_int_equal(buf_length(&to), n + (special ? 2 : 0) + (c == '"'));
                assert_int_equal(buf_data(&to)[0] == '"', special);
            }
        }
    }
    buf_done(&to);
}

static void quotes_are_doubled_and_null_is_quoted(void **state)
{
    const struct csv_style style = {',', BYTES_LIT("nil")};
    const struct csv_style other = {'\xE9', BYTES_LIT("")};
    struct buf to = BUF_EMPTY;

    (void)state;
    assert_string_equal(csv("\"\"\"", 3, &style, &to), "\"\"\"\"\"\"\"\"");
    assert_string_equal(csv("nil", 3, &style, &to), "\"nil\"");
    assert_string_equal(csv("", 0, &style, &to), "");
    assert_string_equal(csv("", 0, &other, &to), "\"\"");
    assert_string_equal(csv("a\xE9", 2, &other, &to), "\"a\xE9\"");
    assert_string_equal(csv("a,b", 3, &other, &to), "a,b");
    buf_done(&to);
}

/* --- JSON --- */

static void json_escapes_what_it_must(void **state)
{
    static const struct {
        const char *text;
        size_t n;
        const char *json;
    } rows[] = {
        {"", 0, "\"\""},
        {"plain text / of ASCII", 21, "\"plain text / of ASCII\""},
        {"\"\\", 2, "\"\\\"\\\\\""},
        {"\b\f\n\r\t", 5, "\"\\b\\f\\n\\r\\t\""},
        {"\0\x01\x1f\x7f", 4, "\"\\u0000\\u0001\\u001f\x7f\""},
        {"\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80", 9, "\"\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80\""},
        {"\xC3\"\xA4", 3, "\"\xEF\xBF\xBD\\\"\xEF\xBF\xBD\""},
        {"a\xF0\x9F\x98z", 5, "\"a\xEF\xBF\xBDz\""},
        {"\xED\xA0\x80", 3, "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\""},
        {"\xC3\xA4\xFF\xC3\xA4\n\xC3\xA4", 8, "\"\xC3\xA4\xEF\xBF\xBD\xC3\xA4\\n\xC3\xA4\""},
    };
    struct buf to = BUF_EMPTY;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_string_equal(json(rows[i].text, rows[i].n, &to), rows[i].json);
    buf_clear(&to);
    text_append_json(&to, BYTES_LIT("a\nb"));
    assert_string_equal(buf_text(&to), "\"a\\nb\"");
    buf_done(&to);
}

static void a_byte_to_escape_is_seen_at_any_place(void **state)
{
    struct buf to = BUF_EMPTY;

    (void)state;
    for (size_t n = 1; n <= 24; n++) {
        for (size_t at = 0; at < n; at++) {
            for (int c = 0; c < 128; c++) {
                char text[24];
                bool special = c < 0x20 || c == '"' || c == '\\';

                memset(text, 'x', n);
                text[at] = (char)c;
                json(text, n, &to);
                assert_int_equal(buf_length(&to) > n + 2, special);
            }
        }
    }
    buf_done(&to);
}

/* jansson reads the same text back, once that is repaired. */
static void jansson_reads_the_same_text(void **state)
{
    static const char *const parts[] = {"a",
                                        "abcdefgh",
                                        "\"",
                                        "\\",
                                        "\n",
                                        "\x1b",
                                        "\xC3\xA4",
                                        "\xC3",
                                        "\xE2\x82\xAC",
                                        "\xE2\x82",
                                        "\xFF",
                                        "\xF0\x9F\x98\x80",
                                        "\xED\xA0\x80",
                                        "\0"};
    struct buf text = BUF_EMPTY, repaired = BUF_EMPTY, to = BUF_EMPTY;
    uint64_t random = 1;

    (void)state;
    for (int round = 0; round < 20000; round++) {
        size_t count = transcript_random(&random) % 12;
        json_t *read;

        buf_clear(&text);
        buf_clear(&repaired);
        for (size_t i = 0; i < count; i++) {
            const char *part = parts[transcript_random(&random) % COUNT_OF(parts)];
            buf_append(&text, part, *part == '\0' ? 1 : strlen(part));
        }
        append_repaired(&repaired, buf_bytes(&text));
        json(buf_data(&text), buf_length(&text), &to);
        read = json_loadb(buf_data(&to), buf_length(&to), JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
        assert_non_null(read);
        assert_int_equal(json_string_length(read), buf_length(&repaired));
        assert_memory_equal(json_string_value(read), buf_data(&repaired), buf_length(&repaired));
        json_decref(read);
    }
    buf_done(&text);
    buf_done(&repaired);
    buf_done(&to);
}

static void numbers_lose_the_leading_zeros_that_json_has_not(void **state)
{
    static const struct {
        const char *text, *json;
    } rows[] = {
        {"0", "0"},          {"00", "0"},
        {"12", "12"},        {"007", "7"},
        {"-007", "-7"},      {"-0", "-0"},
        {"000.5", "0.5"},    {"-00.50", "-0.50"},
        {"010.01", "10.01"}, {"1767323045.123456789", "1767323045.123456789"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char to[32];
        char *end = text_write_json_number(to, bytes_of(rows[i].text));

        assert_text(to, (size_t)(end - to), rows[i].json);
    }
}

static void written_rows_are_found_again(void **state)
{
    static const struct {
        const char *rows;
        bool quoted;
        size_t end, first, count;
    } rows[] = {
        {"", true, 0, 0, 0},
        {"a,b", true, 0, 0, 0},
        {"a,b\n", true, 4, 4, 1},
        {"a,b\nc", true, 4, 4, 1},
        {"a\nb\nc\n", true, 6, 2, 3},
        {"\n\n", true, 2, 1, 2},
        {"a,\"b\nc\"\n", true, 8, 8, 1},
        {"a,\"b\nc\"\nd", true, 8, 8, 1},
        {"a,\"b\nc", true, 0, 0, 0},
        {"x\na,\"b\nc", true, 2, 2, 1},
        {"\"a\"\"\nb\"\nc\n", true, 10, 8, 2},
        {"\"\"\n\"\n\"\n", true, 7, 3, 2},
        {"{\"a\":\"\\\"\"}\n{\n", false, 13, 11, 2},
        {"a,\"b\nc", false, 5, 5, 1},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct bytes text = bytes_of(rows[i].rows);
        assert_row(text_rows_end(text, rows[i].quoted) == rows[i].end, rows[i].rows);
        assert_row(text_first_row_end(text, rows[i].quoted) == rows[i].first, rows[i].rows);
        assert_row(text_rows_count(text, rows[i].quoted) == rows[i].count, rows[i].rows);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_any_number_of_bytes),
        cmocka_unit_test(a_byte_that_needs_quotes_is_seen_at_any_place),
        cmocka_unit_test(quotes_are_doubled_and_null_is_quoted),
        cmocka_unit_test(json_escapes_what_it_must),
        cmocka_unit_test(a_byte_to_escape_is_seen_at_any_place),
        cmocka_unit_test(jansson_reads_the_same_text),
        cmocka_unit_test(numbers_lose_the_leading_zeros_that_json_has_not),
        cmocka_unit_test(written_rows_are_found_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
