/* Slips of the hand are seen through; other words are not taken for slips. */
#include "unit.h"

#include "base/nearest.h"

static void a_name_that_was_meant_is_found(void **state)
{
    static const char *const names[] = {"listen", "tumbling", "inner", "bigint", "id"};
    static const struct {
        const char *wanted, *name;
    } rows[] = {
        {"lisen", "listen"},   /* left out */
        {"listten", "listen"}, /* put in */
        {"lisden", "listen"},  /* changed */
        {"lisetn", "listen"},  /* swapped */
        {"lsitne", "listen"},  /* two of them, in a long name */
        {"listen", "listen"},  /* there */
        {"lsnitxen", NULL},    /* too many */
        {"Listen", "listen"},  /* a letter like others */
        {"tumblng", "tumbling"},
        {"outer", NULL}, /* not inner */
        {"iner", "inner"},
        {"bigitn", "bigint"},
        {"int", NULL},
        {"ib", "id"},
        {"xy", NULL}, /* all of it changed is another name */
        {"", NULL},
        {"a_name_that_is_much_longer_than_any_slip_of_a_hand_could_ever_make_it", NULL},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct nearest n = {.wanted = bytes_of(rows[i].wanted)};

        for (size_t j = 0; j < COUNT_OF(names); j++)
            nearest_consider(&n, names[j]);
        if (rows[i].name == NULL)
            assert_row(n.name == NULL, rows[i].wanted);
        else
            assert_row(n.name != NULL && strcmp(n.name, rows[i].name) == 0, rows[i].wanted);
    }
}

static void of_equally_near_ones_the_first_is_kept(void **state)
{
    struct nearest n = {.wanted = BYTES_LIT("time")};

    (void)state;
    nearest_consider(&n, "dime");
    nearest_consider(&n, "lime");
    assert_string_equal(n.name, "dime");
    nearest_consider(&n, "time");
    assert_string_equal(n.name, "time");
}

static void names_of_any_length_are_considered(void **state)
{
    char longest[NEAREST_NAME_MAX + 2];
    struct nearest n = {.wanted = {longest, NEAREST_NAME_MAX}};

    (void)state;
    memset(longest, 'x', sizeof(longest));
    longest[NEAREST_NAME_MAX + 1] = '\0';
    nearest_consider(&n, longest); /* a byte too long */
    assert_null(n.name);
    longest[NEAREST_NAME_MAX] = '\0';
    nearest_consider(&n, longest);
    assert_ptr_equal(n.name, longest);
    nearest_consider(&n, "");
    assert_ptr_equal(n.name, longest);
}

static void a_hint_is_a_question_or_nothing(void **state)
{
    struct nearest n = {.wanted = BYTES_LIT("fiel")};
    struct buf text = BUF_EMPTY;

    (void)state;
    nearest_consider(&n, "listen");
    nearest_hint(&n, &text);
    assert_int_equal(buf_length(&text), 0);
    nearest_consider(&n, "file");
    nearest_hint(&n, &text);
    assert_string_equal(buf_text(&text), "; did you mean \"file\"?");
    buf_done(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_that_was_meant_is_found),
        cmocka_unit_test(of_equally_near_ones_the_first_is_kept),
        cmocka_unit_test(names_of_any_length_are_considered),
        cmocka_unit_test(a_hint_is_a_question_or_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
