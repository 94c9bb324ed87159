#include "unit.h"

#include <stdio.h>

#include "base/diag.h"

static void assert_message(const struct diag *d, size_t i, const char *expected)
{
    assert_true(i < d->count);
    assert_string_equal(d->messages[i].text, expected);
}

static void a_new_diag_has_nothing_to_say(void **state)
{
    struct diag d;

    (void)state;
    diag_init(&d);
    assert_false(diag_any(&d));
    diag_sort(&d);
    assert_int_equal(d.count, 0);
    diag_done(&d);
}

static void messages_keep_their_order_and_place(void **state)
{
    struct diag d;

    (void)state;
    diag_init(&d);
    diag_add(&d, "[%s]: needs one of %s", "output", "listen, connect, file");
    diag_add_at(&d, 12, 9, "no field \"%s\"", "usr");
    assert_true(diag_any(&d));
    assert_int_equal(d.count, 2);
    assert_message(&d, 0, "[output]: needs one of listen, connect, file");
    assert_int_equal(d.messages[0].line, 0);
    assert_message(&d, 1, "no field \"usr\"");
    assert_int_equal(d.messages[1].line, 12);
    assert_int_equal(d.messages[1].column, 9);
    diag_done(&d);
    assert_false(diag_any(&d));
}

static void a_trailing_newline_is_not_part_of_a_message(void **state)
{
    static const struct {
        const char *given, *expected;
    } rows[] = {{"a\n", "a"}, {"\n", ""}, {"", ""}, {"a\nb", "a\nb"}, {"a\n\n", "a\n"}};
    struct diag d;

    (void)state;
    diag_init(&d);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        diag_add(&d, "%s", rows[i].given);
        assert_message(&d, i, rows[i].expected);
    }
    diag_done(&d);
}

static void a_long_message_is_whole(void **state)
{
    char text[5000];
    struct diag d;

    (void)state;
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    diag_init(&d);
    diag_add(&d, "%s", text);
    assert_message(&d, 0, text);
    diag_done(&d);
}

static void sorts_by_line_then_column_and_placeless_ones_last(void **state)
{
    struct diag d;

    (void)state;
    diag_init(&d);
    diag_add(&d, "none 1");
    diag_add_at(&d, 30, 1, "30:1");
    diag_add_at(&d, 12, 9, "12:9");
    diag_add(&d, "none 2");
    diag_add_at(&d, 12, 1, "12:1 first");
    diag_add_at(&d, 2, 80, "2:80");
    diag_add_at(&d, 12, 1, "12:1 second");
    diag_sort(&d);
    assert_message(&d, 0, "2:80");
    assert_message(&d, 1, "12:1 first");
    assert_message(&d, 2, "12:1 second");
    assert_message(&d, 3, "12:9");
    assert_message(&d, 4, "30:1");
    assert_message(&d, 5, "none 1");
    assert_message(&d, 6, "none 2");
    diag_done(&d);
}

static void sorts_many(void **state)
{
    struct diag d;

    (void)state;
    diag_init(&d);
    for (int i = 0; i < 1000; i++)
        diag_add_at(&d, i * 7919 % 1000 + 1, 1, "line %d", i * 7919 % 1000 + 1);
    diag_sort(&d);
    for (int i = 0; i < 1000; i++) {
        char expected[16];

        snprintf(expected, sizeof(expected), "line %d", i + 1);
        assert_message(&d, (size_t)i, expected);
    }
    diag_done(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_diag_has_nothing_to_say),
        cmocka_unit_test(messages_keep_their_order_and_place),
        cmocka_unit_test(a_trailing_newline_is_not_part_of_a_message),
        cmocka_unit_test(a_long_message_is_whole),
        cmocka_unit_test(sorts_by_line_then_column_and_placeless_ones_last),
        cmocka_unit_test(sorts_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
