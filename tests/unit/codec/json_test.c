/* Records are read out of memory that ends with them, and written down field by field:
 * `[text]`, or `-` for NULL. */
#include "unit.h"

#include <stdio.h>

#include "base/mem.h"
#include "codec/json.h"
#include "fixture.h"

static void write_fields(const struct schema *s, const struct bytes *fields, struct buf *to)
{
    for (size_t i = 0; i < s->count; i++) {
        if (fields[i].p == NULL) {
            buf_append_char(to, '-');
            continue;
        }
        buf_append_char(to, '[');
        buf_append_bytes(to, fields[i]);
        buf_append_char(to, ']');
    }
}

static void write_fault(const struct json_fault *f, const char *record, struct buf *to)
{
    switch (f->kind) {
    case JSON_BROKEN:
        buf_printf(to, "! %s, at %zu", f->what, (size_t)(f->at - record));
        break;
    case JSON_TWICE:
        buf_printf(to, "! twice: %.*s", (int)f->name.n, f->name.p);
        break;
    case JSON_NO_OBJECT:
        buf_printf(to, "! no object: %.*s, for field %zu", (int)f->name.n, f->name.p, f->field);
        break;
    case JSON_FINE:
        fail();
    }
}

struct reader {
    struct fixture f;
    struct json *json;
    struct buf scratch, text;
};

static void open_reader(struct reader *r, const char *fields)
{
    fixture_open_json(&r->f, fields);
    r->json = json_new(r->f.format.paths);
    buf_init(&r->scratch);
    buf_init(&r->text);
}

static void close_reader(struct reader *r)
{
    json_free(r->json);
    buf_done(&r->scratch);
    buf_done(&r->text);
    fixture_close(&r->f);
}

static const char *read_bytes(struct reader *r, struct bytes record)
{
    struct bytes fields[100];
    struct json_fault fault;
    char *copy = mem_alloc(record.n);
    char *scratch;

    memcpy(copy, record.p, record.n);
    buf_clear(&r->text);
    buf_done(&r->scratch);
    scratch = buf_reserve(&r->scratch, record.n);
    if (json_read(r->json, (struct bytes){copy, record.n}, &r->scratch, fields, &fault)) {
        assert_int_equal(fault.kind, JSON_FINE);
        write_fields(&r->f.schema, fields, &r->text);
    } else {
        write_fault(&fault, copy, &r->text);
    }
    assert_ptr_equal(r->scratch.data, scratch); /* it must not move */
    mem_free(copy);
    return buf_text(&r->text);
}

struct example {
    const char *record, *fields;
};

static void check(const char *fields, const struct example *examples, size_t count)
{
    struct reader r;

    open_reader(&r, fields);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(read_bytes(&r, bytes_of(examples[i].record)), examples[i].fields);
    close_reader(&r);
}

static void members_become_fields_in_the_order_of_the_schema(void **state)
{
    static const struct example examples[] = {
        {"{\"b\":1,\"a\":\"x\"}", "[x][1]"},
        {"{\"a\":\"x\",\"b\":1,\"c\":2}", "[x][1]"},
        {"{}", "--"},
        {" \t\r{ \"a\" : true , \"b\" : null } \r\t", "[true]-"},
        {"{\"a\":\n1\n}", "[1]-"},
        {"{\"A\":1,\"aa\":2,\"\":3}", "--"},
        {"{\"\\u0061\":1,\"\\u0062\":2}", "[1][2]"},
        {"{\"a\":\"\",\"b\":\" \"}", "[][ ]"},
        {"{\"a\":false,\"b\":-0.0e-00}", "[false][-0.0e-00]"},
        {"{\"a\":\"\\n\\u00e4\\/\",\"b\":\"\\ud83d\\ude00\"}", "[\n\xC3\xA4/][\xF0\x9F\x98\x80]"},
    };

    (void)state;
    check("a, b", examples, COUNT_OF(examples));
}

static void numbers_keep_their_digits(void **state)
{
    static const struct example examples[] = {
        {"{\"a\":9007199254740993}", "[9007199254740993]"},
        {"{\"a\":123456789012345678901234567890}", "[123456789012345678901234567890]"},
        {"{\"a\":1e400}", "[1e400]"},
        {"{\"a\":-0.10000000000000000000000000000000001}",
         "[-0.10000000000000000000000000000000001]"},
        {"{\"a\":1E+2}", "[1E+2]"},
    };

    (void)state;
    check("a", examples, COUNT_OF(examples));
}

static void objects_and_arrays_are_their_text(void **state)
{
    static const struct example examples[] = {
        {"{\"a\":{}}", "[{}]-"},
        {"{\"a\":[]}", "[[]]-"},
        {"{\"a\":[1, {\"b\":\"]\"}, \"\\n\"] ,\"b\":2}", "[[1, {\"b\":\"]\"}, \"\\n\"]][2]"},
        {"{\"a\":{\"b\":3,\"b\":4},\"b\":{ }}", "[{\"b\":3,\"b\":4}][{ }]"},
        {"{\"a\":[[],[[]]]}", "[[[],[[]]]]-"},
    };

    (void)state;
    check("a, b", examples, COUNT_OF(examples));
}

static void paths_reach_into_objects(void **state)
{
    static const struct example examples[] = {
        {"{\"id\":1,\"user\":{\"id\":2,\"home\":{\"city\":\"P\",\"id\":3}}}", "[1][2][P]"},
        {"{\"user\":{\"home\":{\"user\":{\"id\":9}}},\"x\":{\"id\":5}}", "---"},
        {"{\"user\":null,\"id\":1}", "[1]--"},
        {"{\"user\":{\"home\":null,\"id\":2}}", "-[2]-"},
        {"{\"user\":{}}", "---"},
        {"{\"user\":{\"id\":[{\"id\":1}]}}", "-[[{\"id\":1}]]-"},
        {"{\"user\":5}", "! no object: user, for field 1"},
        {"{\"user\":\"\"}", "! no object: user, for field 1"},
        {"{\"user\":true}", "! no object: user, for field 1"},
        {"{\"user\":[{\"id\":2}]}", "! no object: user, for field 1"},
        {"{\"user\":{\"home\":[]}}", "! no object: home, for field 2"},
    };

    (void)state;
    check("id, user.id, user.home.city", examples, COUNT_OF(examples));
}

static void an_object_can_be_a_field_and_hold_fields(void **state)
{
    static const struct example examples[] = {
        {"{\"u\":{\"id\":1, \"x\":[2]}}", "[{\"id\":1, \"x\":[2]}][1][1]"},
        {"{\"u\":null}", "---"},
        {"{\"u\":\"text\"}", "! no object: u, for field 1"},
    };

    (void)state;
    check("u, u.id, u.id", examples, COUNT_OF(examples));
}

static void a_member_that_is_there_twice_is_refused_where_paths_go(void **state)
{
    static const struct example examples[] = {
        {"{\"a\":1,\"a\":1}", "! twice: a"},
        {"{\"a\":null,\"a\":null}", "! twice: a"},
        {"{\"a\":1,\"\\u0061\":1}", "! twice: a"},
        {"{\"u\":{\"id\":1},\"u\":{}}", "! twice: u"},
        {"{\"u\":null,\"u\":null}", "! twice: u"},
        {"{\"u\":{\"id\":1,\"id\":2}}", "! twice: id"},
        {"{\"x\":1,\"a\":2,\"x\":3}", "! twice: x"},
        {"{\"x\":1,\"a\":2,\"\\u0078\":3}", "! twice: x"},
        {"{\"u\":{\"x\":1,\"x\":2}}", "! twice: x"},
        {"{\"\":1,\"\":2}", "! twice: "},
        {"{\"x\":1,\"u\":{\"x\":2,\"a\":{\"x\":3}},\"y\":{\"x\":4}}", "--"},
        {"{\"x\":{\"y\":1,\"y\":2},\"a\":{\"y\":1,\"y\":2}}", "[{\"y\":1,\"y\":2}]-"},
        {"{\"a\":1,\"x\":[{\"a\":1,\"a\":2}]}", "[1]-"},
        {"{\"u\":{\"a\":1,\"b\":2,\"c\":3},\"b\":1,\"c\":2}", "--"},
    };

    (void)state;
    check("a, u.id", examples, COUNT_OF(examples));
}

static void what_is_no_json_is_refused_with_its_place(void **state)
{
    static const struct example examples[] = {
        {"x", "! an object is expected: {\"name\": value, ...}, at 0"},
        {" [{\"a\":1}]", "! an object is expected: {\"name\": value, ...}, at 1"},
        {"\"a\"", "! an object is expected: {\"name\": value, ...}, at 0"},
        {"  ", "! an object is expected: {\"name\": value, ...}, at 2"},
        {"{", "! it ends too early, at 1"},
        {"{\"a\"", "! it ends too early, at 4"},
        {"{\"a\":", "! it ends too early, at 5"},
        {"{\"a\":1", "! it ends too early, at 6"},
        {"{\"a\":1,", "! it ends too early, at 7"},
        {"{\"a\":[", "! it ends too early, at 6"},
        {"{\"a\":[1", "! it ends too early, at 7"},
        {"{\"a\":1,}", "! a member's name in double quotes is expected, at 7"},
        {"{,\"a\":1}", "! a member's name in double quotes is expected, at 1"},
        {"{'a':1}", "! a member's name in double quotes is expected, at 1"},
        {"{a:1}", "! a member's name in double quotes is expected, at 1"},
        {"{1:1}", "! a member's name in double quotes is expected, at 1"},
        {"{\"a\" 1}", "! a colon is expected behind a member's name, at 5"},
        {"{\"a\":1 \"b\":2}", "! a comma or } is expected, at 7"},
        {"{\"a\":1]", "! a comma or } is expected, at 6"},
        {"{\"a\":1x}", "! a comma or } is expected, at 6"},
        {"{\"a\":truely}", "! a comma or } is expected, at 9"},
        {"{\"a\":[1 2]}", "! a comma or ] is expected, at 8"},
        {"{\"a\":[1}", "! a comma or ] is expected, at 7"},
        {"{\"a\":[1,]}", "! a value is expected, at 8"},
        {"{\"a\":[,1]}", "! a value is expected, at 6"},
        {"{\"a\":}", "! a value is expected, at 5"},
        {"{\"a\":NaN}", "! a value is expected, at 5"},
        {"{\"a\":-Infinity}", "! a digit is expected behind -, at 6"},
        {"{\"a\":007}", "! a number has a leading zero, at 5"},
        {"{\"a\":'x'}", "! a value is expected, at 5"},
        {"{\"a\":.5}", "! a value is expected, at 5"},
        {"{\"a\":\"x}", "! the string that begins here has no end, at 5"},
        {"{\"a:1}", "! the string that begins here has no end, at 1"},
        {"{\"a\":\"\\ud800\"}", "! half of a surrogate pair stands alone, at 6"},
        {"{\"x\":\"\\ud800\"}", "! half of a surrogate pair stands alone, at 6"},
        {"{\"\\u0000\":1}", "! \\u0000 is no character that a field can hold, at 2"},
        {"{\"a\":1} x", "! there is text behind the object, at 8"},
        {"{\"a\":1}{\"a\":2}", "! there is text behind the object, at 7"},
        {"{\"a\":1},", "! there is text behind the object, at 7"},
        {"{\"a\":1}}", "! there is text behind the object, at 7"},
        {"{\"a\":1/* */}", "! a comma or } is expected, at 6"},
        {"\xEF\xBB\xBF{}", "! an object is expected: {\"name\": value, ...}, at 0"},
    };

    (void)state;
    check("a, u.id", examples, COUNT_OF(examples));
}

static void a_nul_is_no_space_and_no_end(void **state)
{
    struct reader r;

    (void)state;
    open_reader(&r, "a");
    assert_string_equal(read_bytes(&r, BYTES_LIT("{\"a\":1}\0")),
                        "! there is text behind the object, at 7");
    assert_string_equal(read_bytes(&r, BYTES_LIT("{\"a\":\"\0\"}")),
                        "! a control character stands in a string, at 6");
    assert_string_equal(read_bytes(&r, BYTES_LIT("{\"a\"\0:1}")),
                        "! a colon is expected behind a member's name, at 4");
    close_reader(&r);
}

static void append_nested(struct buf *to, const char *open, const char *close, int times)
{
    buf_clear(to);
    buf_append_text(to, "{\"a\":");
    for (int i = 0; i < times; i++)
        buf_append_text(to, open);
    buf_append_text(to, "1");
    for (int i = 0; i < times; i++)
        buf_append_text(to, close);
    buf_append_text(to, "}");
}

static void sixty_four_levels_are_read_and_no_more(void **state)
{
    struct buf text = BUF_EMPTY;
    struct reader r;

    (void)state;
    open_reader(&r, "a, u.id");
    append_nested(&text, "[", "]", 63);
    assert_memory_equal(read_bytes(&r, buf_bytes(&text)), "[[[[", 4);
    append_nested(&text, "{\"b\":", "}", 63);
    assert_memory_equal(read_bytes(&r, buf_bytes(&text)), "[{\"b\":{", 7);
    append_nested(&text, "[", "]", 64);
    assert_string_equal(read_bytes(&r, buf_bytes(&text)), "! nested deeper than 64 levels, at 68");
    append_nested(&text, "{\"b\":", "}", 64);
    assert_string_equal(read_bytes(&r, buf_bytes(&text)), "! nested deeper than 64 levels, at 320");
    append_nested(&text, "[", "]", 1000000);
    assert_string_equal(read_bytes(&r, buf_bytes(&text)), "! nested deeper than 64 levels, at 68");
    close_reader(&r);
    buf_done(&text);
}

static void the_longest_path_reaches_the_deepest_member(void **state)
{
    struct buf path = BUF_EMPTY, text = BUF_EMPTY;
    struct reader r;

    (void)state;
    for (int i = 0; i < JSON_DEPTH_MAX - 1; i++) {
        buf_append_text(&path, "a.");
        buf_append_text(&text, "{\"a\":");
    }
    buf_append_text(&path, "a");
    buf_append_text(&text, "{\"a\":7}");
    for (int i = 0; i < JSON_DEPTH_MAX - 1; i++)
        buf_append_text(&text, "}");
    open_reader(&r, buf_text(&path));
    assert_string_equal(read_bytes(&r, buf_bytes(&text)), "[7]");
    close_reader(&r);
    buf_done(&path);
    buf_done(&text);
}

static void a_record_leaves_nothing_to_the_next_one(void **state)
{
    struct reader r;

    (void)state;
    open_reader(&r, "a, u.id");
    assert_string_equal(read_bytes(&r, BYTES_LIT("{\"a\":1,\"x\":1,\"u\":{\"x\":1,\"id\":2}}")),
                        "[1][2]");
    assert_string_equal(read_bytes(&r, BYTES_LIT("{\"x\":1,\"u\":{\"x\":[")),
                        "! it ends too early, at 17");
    assert_string_equal(read_bytes(&r, BYTES_LIT("{\"x\":1,\"u\":{\"x\":3}}")), "--");
    close_reader(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_become_fields_in_the_order_of_the_schema),
        cmocka_unit_test(numbers_keep_their_digits),
        cmocka_unit_test(objects_and_arrays_are_their_text),
        cmocka_unit_test(paths_reach_into_objects),
        cmocka_unit_test(an_object_can_be_a_field_and_hold_fields),
        cmocka_unit_test(a_member_that_is_there_twice_is_refused_where_paths_go),
        cmocka_unit_test(what_is_no_json_is_refused_with_its_place),
        cmocka_unit_test(a_nul_is_no_space_and_no_end),
        cmocka_unit_test(sixty_four_levels_are_read_and_no_more),
        cmocka_unit_test(the_longest_path_reaches_the_deepest_member),
        cmocka_unit_test(a_record_leaves_nothing_to_the_next_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
