#include "unit.h"

#include "lang/schema.h"

static void finds_fields_by_name(void **state)
{
    struct schema s;
    size_t at = 99;

    (void)state;
    schema_init(&s, "orders");
    schema_add(&s, BYTES_LIT("id"), TYPE_BIGINT);
    schema_add(&s, BYTES_LIT("user"), TYPE_STRING);
    schema_add(&s, BYTES_LIT("odd name"), TYPE_TIMESTAMP_MS);

    assert_string_equal(s.name, "orders");
    assert_int_equal(s.count, 3);
    assert_true(schema_find(&s, BYTES_LIT("id"), &at));
    assert_int_equal(at, 0);
    assert_true(schema_find(&s, BYTES_LIT("odd name"), &at));
    assert_int_equal(at, 2);
    assert_string_equal(s.fields[at].name, "odd name");
    assert_int_equal(s.fields[at].type, TYPE_TIMESTAMP_MS);
    schema_done(&s);
}

/* Bytewise: neither another case nor a part of a name is the name. */
static void does_not_find_what_only_looks_alike(void **state)
{
    const char *names[] = {"ID", "Id", "i", "id ", " id", "idx", "", "orders"};
    struct schema s;
    size_t at = 99;

    (void)state;
    schema_init(&s, "orders");
    schema_add(&s, BYTES_LIT("id"), TYPE_BIGINT);
    for (size_t i = 0; i < COUNT_OF(names); i++)
        assert_row(!schema_find(&s, bytes_of(names[i]), &at), names[i]);
    assert_int_equal(at, 99);
    schema_done(&s);
}

static void copies_the_names_it_is_given(void **state)
{
    char side[] = "orders", text[] = "id bigint";
    struct schema s;
    size_t at;

    (void)state;
    schema_init(&s, side);
    schema_add(&s, (struct bytes){text, 2}, TYPE_BIGINT);
    memset(side, 'x', sizeof(side) - 1);
    memset(text, 'x', sizeof(text) - 1);
    assert_string_equal(s.name, "orders");
    assert_true(schema_find(&s, BYTES_LIT("id"), &at));
    schema_done(&s);
}

static void a_schema_without_fields_finds_nothing(void **state)
{
    struct schema s;
    size_t at;

    (void)state;
    schema_init(&s, "left");
    assert_false(schema_find(&s, BYTES_LIT("id"), &at));
    assert_false(schema_find(&s, BYTES_LIT(""), &at));
    schema_done(&s);
    assert_null(s.fields);
    assert_int_equal(s.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_fields_by_name),
        cmocka_unit_test(does_not_find_what_only_looks_alike),
        cmocka_unit_test(copies_the_names_it_is_given),
        cmocka_unit_test(a_schema_without_fields_finds_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
