#include "unit.h"

#include <stdio.h>

#include "base/mem.h"
#include "codec/json_names.h"

static void a_name_that_is_there_twice_is_found(void **state)
{
    static const struct {
        const char *names; /* of one letter */
        const char *twice; /* NULL: none */
    } rows[] = {
        {"", NULL},
        {"a", NULL},
        {"ab", NULL},
        {"aa", "a"},
        {"abcda", "a"},
        {"abcdefghijklmnopqrstuvwxyz", NULL},
        {"abcdefghijklmnopqrstuvwxyzq", "q"},
        {"zyxwvutsrqponmlkjihgfedcbaz", "z"},
        {"zyxwvutsrqponmlkjihgfedcbaZ", NULL},
        {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "a"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct json_names n = {NULL, 0, 0};
        struct bytes name = BYTES_NULL;

        for (const char *p = rows[i].names; *p != '\0'; p++)
            json_names_add(&n, (struct bytes){p, 1});
        assert_row(json_names_any_twice(&n, 0, &name) == (rows[i].twice != NULL), rows[i].names);
        if (rows[i].twice != NULL)
            assert_text(name.p, name.n, rows[i].twice);
        json_names_done(&n);
    }
}

static void names_before_the_first_are_of_another_object(void **state)
{
    struct json_names n = {NULL, 0, 0};
    struct bytes name;

    (void)state;
    for (const char *p = "abcab"; *p != '\0'; p++)
        json_names_add(&n, (struct bytes){p, 1});
    assert_false(json_names_any_twice(&n, 2, &name));
    assert_true(json_names_any_twice(&n, 1, &name));
    json_names_done(&n);
}

/* Names of all lengths; the pair lies anywhere among any number of others. */
static void one_pair_among_many_is_found_wherever_it_lies(void **state)
{
    enum { MOST = 300 };
    static char texts[MOST][24];

    (void)state;
    for (size_t count = 2; count < MOST; count = count * 3 / 2 + 1) {
        for (size_t second = 1; second < count; second += 1 + count / 20) {
            struct json_names n = {NULL, 0, 0};
            struct bytes name;

            for (size_t i = 0; i < count; i++) {
                int length = snprintf(texts[i], sizeof(texts[i]), "%zu%.*s", i * 7919 % 1009,
                                      (int)(i % 9), "abcdefgh");
                json_names_add(&n, (struct bytes){texts[i], (size_t)length});
            }
            assert_false(json_names_any_twice(&n, 0, &name));
            n.count = 0;
            for (size_t i = 0; i < count; i++)
                json_names_add(&n, bytes_of(texts[i == second ? second / 2 : i]));
            assert_true(json_names_any_twice(&n, 0, &name));
            assert_text(name.p, name.n, texts[second / 2]);
            json_names_done(&n);
        }
    }
}

static void an_empty_name_is_a_name(void **state)
{
    struct json_names n = {NULL, 0, 0};
    struct bytes name;

    (void)state;
    for (int i = 0; i < 20; i++) {
        json_names_add(&n, BYTES_LIT("abcdefghijklmnopqrstuvwxyz"));
        n.items[i].n = (size_t)i;
    }
    assert_false(json_names_any_twice(&n, 0, &name));
    json_names_add(&n, BYTES_LIT(""));
    assert_true(json_names_any_twice(&n, 0, &name));
    assert_int_equal(name.n, 0);
    json_names_done(&n);
}

static void memory_is_given_back_after_a_record_with_very_many(void **state)
{
    struct json_names n = {NULL, 0, 0};

    (void)state;
    for (int i = 0; i < 100; i++)
        json_names_add(&n, BYTES_LIT("a"));
    json_names_clear(&n);
    assert_true(n.capacity >= 100 && n.count == 0);
    for (int i = 0; i < 100000; i++)
        json_names_add(&n, BYTES_LIT("a"));
    json_names_clear(&n);
    assert_true(n.capacity == 0 && n.count == 0);
    json_names_done(&n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_that_is_there_twice_is_found),
        cmocka_unit_test(names_before_the_first_are_of_another_object),
        cmocka_unit_test(one_pair_among_many_is_found_wherever_it_lies),
        cmocka_unit_test(an_empty_name_is_a_name),
        cmocka_unit_test(memory_is_given_back_after_a_record_with_very_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
