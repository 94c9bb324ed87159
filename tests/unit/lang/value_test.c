#include "unit.h"

#include "base/mem.h"
#include "lang/value.h"

/* --- types --- */

static void every_type_is_found_by_its_name_in_any_case(void **state)
{
    (void)state;
    for (int t = 0; t < VALUE_TYPES; t++) {
        const char *name = value_type_name((enum value_type)t);
        enum value_type found = VALUE_TYPES;
        char upper[32] = "";

        assert_row(value_type_from_name(bytes_of(name), &found), name);
        assert_row((int)found == t, name);
        for (size_t i = 0; name[i] != '\0'; i++)
            upper[i] = name[i] >= 'a' && name[i] <= 'z' ? (char)(name[i] - 32) : name[i];
        found = VALUE_TYPES;
        assert_row(value_type_from_name(bytes_of(upper), &found), upper);
        assert_row((int)found == t, upper);
    }
}

static void other_words_are_no_types(void **state)
{
    const char *words[] = {"",        "int",  "strin", "strings",     "bigint ",     "timestamp_",
                           "varchar", "bool", "float", "timestamp-s", "timestamp_ps"};
    enum value_type found = TYPE_BOOLEAN;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(words); i++)
        assert_row(!value_type_from_name(bytes_of(words[i]), &found), words[i]);
    assert_int_equal(found, TYPE_BOOLEAN);
}

static void epoch_types_count_as_numbers(void **state)
{
    const enum value_type class[VALUE_TYPES] = {
        [TYPE_STRING] = TYPE_STRING,       [TYPE_BIGINT] = TYPE_BIGINT,
        [TYPE_DOUBLE] = TYPE_DOUBLE,       [TYPE_BOOLEAN] = TYPE_BOOLEAN,
        [TYPE_TIMESTAMP] = TYPE_TIMESTAMP, [TYPE_TIMESTAMP_S] = TYPE_DOUBLE,
        [TYPE_TIMESTAMP_MS] = TYPE_BIGINT, [TYPE_TIMESTAMP_US] = TYPE_BIGINT,
        [TYPE_TIMESTAMP_NS] = TYPE_BIGINT,
    };

    (void)state;
    for (int t = 0; t < VALUE_TYPES; t++)
        assert_row(value_type_class((enum value_type)t) == class[t],
                   value_type_name((enum value_type)t));
}

static void only_equal_types_and_numbers_are_comparable(void **state)
{
    const enum value_type classes[] = {TYPE_STRING, TYPE_BIGINT, TYPE_DOUBLE, TYPE_BOOLEAN,
                                       TYPE_TIMESTAMP};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(classes); i++)
        for (size_t j = 0; j < COUNT_OF(classes); j++) {
            enum value_type a = classes[i], b = classes[j];
            bool numbers =
                (a == TYPE_BIGINT || a == TYPE_DOUBLE) && (b == TYPE_BIGINT || b == TYPE_DOUBLE);
            assert_int_equal(value_types_comparable(a, b), a == b || numbers);
        }
    assert_true(value_types_comparable(TYPE_TIMESTAMP_MS, TYPE_TIMESTAMP_S));
    assert_false(value_types_comparable(TYPE_TIMESTAMP_MS, TYPE_TIMESTAMP));
}

/* --- checking and rewriting --- */

/* `canonical` NULL: not of the type. The same text as `text`: it is canonical. */
static const struct {
    enum value_type type;
    const char *text;
    const char *canonical;
} texts[] = {
    {TYPE_STRING, "", ""},
    {TYPE_STRING, " as it is,\r\"\xff ", " as it is,\r\"\xff "},

    {TYPE_BIGINT, "0", "0"},
    {TYPE_BIGINT, "7", "7"},
    {TYPE_BIGINT, "-7", "-7"},
    {TYPE_BIGINT, "1002", "1002"},
    {TYPE_BIGINT, "007", "7"},
    {TYPE_BIGINT, "-007", "-7"},
    {TYPE_BIGINT, "00", "0"},
    {TYPE_BIGINT, "-0", "0"},
    {TYPE_BIGINT, "-00", "0"},
    {TYPE_BIGINT, "000000000000000000000000000000001", "1"},
    {TYPE_BIGINT, "99999999999999999", "99999999999999999"},
    {TYPE_BIGINT, "999999999999999999", "999999999999999999"},
    {TYPE_BIGINT, "-999999999999999999", "-999999999999999999"},
    {TYPE_BIGINT, "1000000000000000000", "1000000000000000000"},
    {TYPE_BIGINT, "9223372036854775807", "9223372036854775807"},
    {TYPE_BIGINT, "9223372036854775808", NULL},
    {TYPE_BIGINT, "-9223372036854775808", "-9223372036854775808"},
    {TYPE_BIGINT, "-9223372036854775809", NULL},
    {TYPE_BIGINT, "10000000000000000000", NULL},
    {TYPE_BIGINT, "99999999999999999999999999", NULL},
    {TYPE_BIGINT, "", NULL},
    {TYPE_BIGINT, "-", NULL},
    {TYPE_BIGINT, "--1", NULL},
    {TYPE_BIGINT, "+1", NULL},
    {TYPE_BIGINT, " 1", NULL},
    {TYPE_BIGINT, "1 ", NULL},
    {TYPE_BIGINT, "1-", NULL},
    {TYPE_BIGINT, "1.0", NULL},
    {TYPE_BIGINT, "1e3", NULL},
    {TYPE_BIGINT, "0x1f", NULL},
    {TYPE_BIGINT, "1_000", NULL},
    {TYPE_BIGINT, "12a", NULL},
    {TYPE_BIGINT, "a12", NULL},
    {TYPE_BIGINT, "1/", NULL}, /* the neighbours of the digits */
    {TYPE_BIGINT, "1:", NULL},

    {TYPE_DOUBLE, "0", "0"},
    {TYPE_DOUBLE, "-0", "-0"},
    {TYPE_DOUBLE, "2.5", "2.5"},
    {TYPE_DOUBLE, "-34.95", "-34.95"},
    {TYPE_DOUBLE, "2.50", "2.5"},
    {TYPE_DOUBLE, "1.0", "1"},
    {TYPE_DOUBLE, "-0.0", "-0"},
    {TYPE_DOUBLE, "007.5", "7.5"},
    {TYPE_DOUBLE, "1e3", "1000"},
    {TYPE_DOUBLE, "1E-7", "1e-7"},
    {TYPE_DOUBLE, "1000000000000000000000", "1e+21"},
    {TYPE_DOUBLE, "9007199254740993", "9007199254740992"},
    {TYPE_DOUBLE, "1e400", NULL},
    {TYPE_DOUBLE, ".5", NULL},
    {TYPE_DOUBLE, "5.", NULL},
    {TYPE_DOUBLE, "+1", NULL},
    {TYPE_DOUBLE, "", NULL},
    {TYPE_DOUBLE, "nan", NULL},
    {TYPE_DOUBLE, "inf", NULL},
    {TYPE_DOUBLE, "0x1p3", NULL},
    {TYPE_DOUBLE, "1,5", NULL},

    {TYPE_BOOLEAN, "true", "true"},
    {TYPE_BOOLEAN, "false", "false"},
    {TYPE_BOOLEAN, "TRUE", "true"},
    {TYPE_BOOLEAN, "True", "true"},
    {TYPE_BOOLEAN, "FALSE", "false"},
    {TYPE_BOOLEAN, "falsE", "false"},
    {TYPE_BOOLEAN, "", NULL},
    {TYPE_BOOLEAN, "1", NULL},
    {TYPE_BOOLEAN, "0", NULL},
    {TYPE_BOOLEAN, "t", NULL},
    {TYPE_BOOLEAN, "yes", NULL},
    {TYPE_BOOLEAN, "true ", NULL},
    {TYPE_BOOLEAN, "truE1", NULL},
    {TYPE_BOOLEAN, "TRUTH", NULL},

    {TYPE_TIMESTAMP, "2026-01-02T03:04:05.678Z", "2026-01-02T03:04:05.678Z"},
    {TYPE_TIMESTAMP, "2026-01-02T03:04:05Z", "2026-01-02T03:04:05.000Z"},
    {TYPE_TIMESTAMP, "2026-01-02 03:04:05", "2026-01-02T03:04:05.000Z"},
    {TYPE_TIMESTAMP, "2026-01-02T03:04:05.6789Z", "2026-01-02T03:04:05.678Z"},
    {TYPE_TIMESTAMP, "2026-01-02T03:04:05.678+02:00", "2026-01-02T01:04:05.678Z"},
    {TYPE_TIMESTAMP, "0001-01-01T00:00:00.000Z", "0001-01-01T00:00:00.000Z"},
    {TYPE_TIMESTAMP, "0001-01-01T00:00:00.000+00:01", NULL},
    {TYPE_TIMESTAMP, "9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"},
    {TYPE_TIMESTAMP, "9999-12-31T23:59:59-00:01", NULL},
    {TYPE_TIMESTAMP, "2026-02-29T00:00:00Z", NULL},
    {TYPE_TIMESTAMP, "2026-02-29T00:00:00.000Z", NULL},
    {TYPE_TIMESTAMP, "2026-01-02", NULL},
    {TYPE_TIMESTAMP, "1767323045", NULL},
    {TYPE_TIMESTAMP, "", NULL},

    {TYPE_TIMESTAMP_S, "0", "0"},
    {TYPE_TIMESTAMP_S, "1767323045", "1767323045"},
    {TYPE_TIMESTAMP_S, "1767323045.25", "1767323045.25"},
    {TYPE_TIMESTAMP_S, "-1.5", "-1.5"},
    {TYPE_TIMESTAMP_S, "007.50", "007.50"},
    {TYPE_TIMESTAMP_S, "-0.000000000000000000000000001", "-0.000000000000000000000000001"},
    {TYPE_TIMESTAMP_S, "253402300799", "253402300799"},
    {TYPE_TIMESTAMP_S, "253402300799.999999", "253402300799.999999"},
    {TYPE_TIMESTAMP_S, "253402300800", NULL},
    {TYPE_TIMESTAMP_S, "-62135596800", "-62135596800"},
    {TYPE_TIMESTAMP_S, "-62135596800.000", "-62135596800.000"},
    {TYPE_TIMESTAMP_S, "-62135596800.001", NULL},
    {TYPE_TIMESTAMP_S, "-62135596799.999", "-62135596799.999"},
    {TYPE_TIMESTAMP_S, "-62135596801", NULL},
    {TYPE_TIMESTAMP_S, "99999999999999999999", NULL},
    {TYPE_TIMESTAMP_S, "1e9", NULL},
    {TYPE_TIMESTAMP_S, "1.5e3", NULL},
    {TYPE_TIMESTAMP_S, "1.", NULL},
    {TYPE_TIMESTAMP_S, ".5", NULL},
    {TYPE_TIMESTAMP_S, "-.5", NULL},
    {TYPE_TIMESTAMP_S, "1.2.3", NULL},
    {TYPE_TIMESTAMP_S, "1.-2", NULL},
    {TYPE_TIMESTAMP_S, "+1", NULL},
    {TYPE_TIMESTAMP_S, "", NULL},
    {TYPE_TIMESTAMP_S, "-", NULL},
    {TYPE_TIMESTAMP_S, ".", NULL},
    {TYPE_TIMESTAMP_S, "2026-01-02T03:04:05Z", NULL},

    {TYPE_TIMESTAMP_MS, "0", "0"},
    {TYPE_TIMESTAMP_MS, "-1", "-1"},
    {TYPE_TIMESTAMP_MS, "01767323045678", "1767323045678"},
    {TYPE_TIMESTAMP_MS, "253402300799999", "253402300799999"},
    {TYPE_TIMESTAMP_MS, "253402300800000", NULL},
    {TYPE_TIMESTAMP_MS, "-62135596800000", "-62135596800000"},
    {TYPE_TIMESTAMP_MS, "-62135596800001", NULL},
    {TYPE_TIMESTAMP_MS, "1767323045.678", NULL},
    {TYPE_TIMESTAMP_MS, "", NULL},

    {TYPE_TIMESTAMP_US, "1767323045678901", "1767323045678901"},
    {TYPE_TIMESTAMP_US, "-0", "0"},
    {TYPE_TIMESTAMP_US, "253402300799999999", "253402300799999999"},
    {TYPE_TIMESTAMP_US, "253402300800000000", NULL},
    {TYPE_TIMESTAMP_US, "-62135596800000000", "-62135596800000000"},
    {TYPE_TIMESTAMP_US, "-62135596800000001", NULL},

    {TYPE_TIMESTAMP_NS, "1767323045678901234", "1767323045678901234"},
    {TYPE_TIMESTAMP_NS, "9223372036854775807", "9223372036854775807"},
    {TYPE_TIMESTAMP_NS, "9223372036854775808", NULL},
    {TYPE_TIMESTAMP_NS, "-9223372036854775808", "-9223372036854775808"},
    {TYPE_TIMESTAMP_NS, "1.5", NULL},
};

static void texts_are_told_apart_by_type_and_form(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        size_t n = strlen(texts[i].text);
        char *exact = memcpy(mem_alloc(n), texts[i].text, n); /* a byte too far is seen */
        enum value_check check = value_check(texts[i].type, (struct bytes){exact, n});
        const char *canonical = texts[i].canonical;

        if (canonical == NULL)
            assert_row(check == VALUE_BAD, texts[i].text);
        else if (strcmp(canonical, texts[i].text) != 0)
            assert_row(check == VALUE_VALID, texts[i].text);
        else if (texts[i].type != TYPE_DOUBLE) /* of a double VALID is allowed */
            assert_row(check == VALUE_CANONICAL, texts[i].text);
        else
            assert_row(check != VALUE_BAD, texts[i].text);
        mem_free(exact);
    }
}

static void common_doubles_are_seen_to_be_canonical(void **state)
{
    const char *common[] = {"0", "7", "-7", "2.5", "34.95", "-0.125", "1013.25"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(common); i++)
        assert_row(value_check(TYPE_DOUBLE, bytes_of(common[i])) == VALUE_CANONICAL, common[i]);
}

static void rewriting_gives_the_canonical_text(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct buf to = BUF_EMPTY;

        if (texts[i].canonical == NULL)
            continue;
        buf_append_text(&to, "before ");
        value_append_canonical(texts[i].type, bytes_of(texts[i].text), &to);
        buf_eat(&to, strlen("before "));
        assert_text(buf_data(&to), buf_length(&to), texts[i].canonical);
        buf_done(&to);
    }
}

/* A text is what lies between its two ends: nothing behind it is looked at. */
static void a_text_ends_where_it_ends(void **state)
{
    static const struct {
        enum value_type type;
        const char *text;
        size_t n;
    } rows[] = {
        {TYPE_BIGINT, "12x", 2},       {TYPE_BIGINT, "12", 1},
        {TYPE_DOUBLE, "2.5e", 3},      {TYPE_BOOLEAN, "trueish", 4},
        {TYPE_TIMESTAMP_S, "1.5.", 3}, {TYPE_TIMESTAMP_S, "15.", 2},
        {TYPE_TIMESTAMP_MS, "12,", 2}, {TYPE_TIMESTAMP, "2026-01-02T03:04:05.678Z,", 24},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_row(value_check(rows[i].type, (struct bytes){rows[i].text, rows[i].n}) ==
                       VALUE_CANONICAL,
                   rows[i].text);
}

/* --- reading --- */

static void values_are_read_in_their_class(void **state)
{
    struct value v;

    (void)state;
    v = value_read(TYPE_STRING, BYTES_LIT("a b"));
    assert_int_equal(v.type, TYPE_STRING);
    assert_false(v.null);
    assert_text(v.text.p, v.text.n, "a b");

    v = value_read(TYPE_BIGINT, BYTES_LIT("-9223372036854775808"));
    assert_int_equal(v.type, TYPE_BIGINT);
    assert_true(v.bigint == INT64_MIN);

    v = value_read(TYPE_DOUBLE, BYTES_LIT("1e-7"));
    assert_int_equal(v.type, TYPE_DOUBLE);
    assert_true(v.real == 1e-7);

    v = value_read(TYPE_BOOLEAN, BYTES_LIT("true"));
    assert_int_equal(v.type, TYPE_BOOLEAN);
    assert_true(v.boolean);
    v = value_read(TYPE_BOOLEAN, BYTES_LIT("false"));
    assert_false(v.null);
    assert_false(v.boolean);

    v = value_read(TYPE_TIMESTAMP, BYTES_LIT("1970-01-01T00:00:01.500Z"));
    assert_int_equal(v.type, TYPE_TIMESTAMP);
    assert_true(v.bigint == 1500);
}

static void epoch_values_are_read_as_numbers_of_their_own_unit(void **state)
{
    struct value v;

    (void)state;
    v = value_read(TYPE_TIMESTAMP_S, BYTES_LIT("007.50"));
    assert_int_equal(v.type, TYPE_DOUBLE);
    assert_true(v.real == 7.5);
    v = value_read(TYPE_TIMESTAMP_MS, BYTES_LIT("1500"));
    assert_int_equal(v.type, TYPE_BIGINT);
    assert_true(v.bigint == 1500);
    v = value_read(TYPE_TIMESTAMP_US, BYTES_LIT("-1500"));
    assert_int_equal(v.type, TYPE_BIGINT);
    assert_true(v.bigint == -1500);
    v = value_read(TYPE_TIMESTAMP_NS, BYTES_LIT("1767323045678901234"));
    assert_int_equal(v.type, TYPE_BIGINT);
    assert_true(v.bigint == 1767323045678901234);
}

static void null_is_read_as_null_of_its_class(void **state)
{
    (void)state;
    for (int t = 0; t < VALUE_TYPES; t++) {
        struct value v = value_read((enum value_type)t, BYTES_NULL);
        assert_row(v.null, value_type_name((enum value_type)t));
        assert_row(v.type == value_type_class((enum value_type)t),
                   value_type_name((enum value_type)t));
    }
}

static void the_empty_string_is_not_null(void **state)
{
    struct value v = value_read(TYPE_STRING, BYTES_LIT(""));

    (void)state;
    assert_false(v.null);
    assert_int_equal(v.text.n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_is_found_by_its_name_in_any_case),
        cmocka_unit_test(other_words_are_no_types),
        cmocka_unit_test(epoch_types_count_as_numbers),
        cmocka_unit_test(only_equal_types_and_numbers_are_comparable),
        cmocka_unit_test(texts_are_told_apart_by_type_and_form),
        cmocka_unit_test(common_doubles_are_seen_to_be_canonical),
        cmocka_unit_test(rewriting_gives_the_canonical_text),
        cmocka_unit_test(a_text_ends_where_it_ends),
        cmocka_unit_test(values_are_read_in_their_class),
        cmocka_unit_test(epoch_values_are_read_as_numbers_of_their_own_unit),
        cmocka_unit_test(null_is_read_as_null_of_its_class),
        cmocka_unit_test(the_empty_string_is_not_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
