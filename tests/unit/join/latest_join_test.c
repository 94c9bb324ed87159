#include "latest_join_fixture.h"

#define ASSERT_ROWS(rows) assert_rows(TIME_PROCESSING, rows, COUNT_OF(rows))

static void a_constant_is_combined_with_every_record(void **state)
{
    static const struct script_row rows[] = {
        {"C1", "inner nokey", "L 1 k a; R 2 j x; L 3 i b; R 4 h y; L 5 g c", "(b,x)(c,y)"},
        {"C1, all wait", "inner forever nokey", "L 1 k a; R 2 j x; L 3 i b; R 4 h y; L 5 g c",
         "(a,x)(b,x)(c,y)"},
        {"C1, at one instant", "inner forever nokey", "L 1 k a; R 1 j x; L 1 i b; R 1 h y; L 1 g c",
         "(a,x)(b,x)(c,y)"},
        {"an empty key is no NULL", "left nokey", "R 1 null x; L 1 null a", "(a,x)"},
    };

    (void)state;
    ASSERT_ROWS(rows);
}

static void the_newest_value_of_its_key_is_the_one_that_counts(void **state)
{
    static const struct script_row rows[] = {
        {"once each", "inner", "R 1 k x; R 2 k y; L 3 k a; L 3 k b; R 4 k z; L 5 k c",
         "(a,y)(b,y)(c,z)"},
        {"of one time the last to arrive", "inner", "R 1 k x; R 1 k y; L 1 k a", "(a,y)"},
        {"keys are apart", "left", "R 1 k x; R 1 j y; L 1 j a; L 1 k b; L 1 i c",
         "(a,y)(b,x)(c,null)"},
        {"a value is not used up", "semi", "R 1 k x; L 1 k a; L 2 k b", "(a)(b)"},
        {"left records between values", "inner", "R 1 k x; L 1 k a; R 1 k y; L 1 k b; R 1 k z",
         "(a,x)(b,y)"},
    };

    (void)state;
    ASSERT_ROWS(rows);
}

static void types_say_what_comes(void **state)
{
    static const struct script_row rows[] = {
        {"inner", "inner", "L 1 k a; R 2 k x; L 3 k b; L 4 null c", "(b,x)"},
        {"left", "left", "L 1 k a; R 2 k x; L 3 k b; L 4 null c", "(a,null)(b,x)(c,null)"},
        {"semi", "semi", "L 1 k a; R 2 k x; L 3 k b; L 4 null c", "(b)"},
        {"anti", "anti", "L 1 k a; R 2 k x; L 3 k b; L 4 null c", "(a)(c)"},
        {"a NULL key on the right is nothing", "left forever", "L 1 k a; R 2 null x; EOI",
         "(a,null)"},
    };

    (void)state;
    ASSERT_ROWS(rows);
}

static void a_left_record_waits_for_its_first_partner(void **state)
{
    static const struct script_row rows[] = {
        {"it comes", "left wait 10", "L 1 k a; R 10 k x", "(a,x)"},
        {"it comes when the wait is over", "left wait 10", "L 1 k a; R 11 k x", "(a,null)"},
        {"the wait is over by itself", "left wait 10", "L 1 k a; at 10; L 10 j b; at 11",
         "(a,null)"},
        {"anti", "anti wait 10", "L 1 k a; L 1 j b; R 5 j x; at 11", "(a)"},
        {"semi", "semi wait 10", "L 1 k a; L 1 j b; R 5 j x; at 11", "(b)"},
        {"inner", "inner wait 10", "L 1 k a; L 1 j b; R 5 j x; at 11; R 12 k y", "(b,x)"},
        {"in order of arrival", "left forever", "L 1 k a; L 1 j b; L 2 k c; L 2 k d; R 3 k x",
         "(a,x)(c,x)(d,x)"},
        {"waits are over in order of arrival", "left wait 5",
         "L 1 k a; L 1 j b; L 2 k c; L 3 i d; R 4 j x; at 100", "(b,x)(a,null)(c,null)(d,null)"},
        {"one of a key is over, one is not", "left wait 10", "L 1 k a; L 5 k b; R 12 k x; L 12 k c",
         "(a,null)(b,x)(c,x)"},
        {"with a value there nothing waits", "left wait 10", "R 1 k x; L 2 k a; R 3 k y", "(a,x)"},
        {"a NULL key does not", "left forever", "L 1 null a; L 1 k b; R 1 k x", "(a,null)(b,x)"},
        {"only for the first", "inner forever", "L 1 k a; R 2 k x; R 3 k y", "(a,x)"},
        {"forever ends with the inputs", "left forever", "L 1 k a; at 999999999999; EOI",
         "(a,null)"},
    };

    (void)state;
    ASSERT_ROWS(rows);
}

static void results_come_in_order_of_their_causes(void **state)
{
    static const struct script_row rows[] = {
        {"what a value frees comes before what is read after it", "left forever",
         "L 1 k a; L 1 k b; R 2 k x; L 2 k c; L 2 null d; R 2 k y; L 2 k e",
         "(a,x)(b,x)(c,x)(d,null)(e,y)"},
        {"a wait that is over comes before what is read after it", "left wait 10",
         "L 1 k a; R 1 j x; L 11 j b; L 12 null c", "(a,null)(b,x)(c,null)"},
        {"and after what was read before it", "left wait 10",
         "L 1 k a; R 2 j x; L 10 j b; L 10 j c; at 11", "(b,x)(c,x)(a,null)"},
    };

    (void)state;
    ASSERT_ROWS(rows);
}

static void on_is_asked_of_the_one_value(void **state)
{
    static const struct script_row rows[] = {
        {"no: older ones are not tried", "left on right.ok",
         "R 1 k x true; L 1 k a; R 2 k y false; L 3 k b", "(a,x)(b,null)"},
        {"no ends the wait", "left forever on right.ok",
         "L 1 k a; R 2 k x false; R 3 k y true; L 4 k b", "(a,null)(b,y)"},
        {"of each that waits", "left forever on left.ok",
         "L 1 k a true; L 1 k b false; L 1 k c true; R 2 k x", "(a,x)(b,null)(c,x)"},
        {"anti", "anti forever on left.ok", "L 1 k a true; L 1 k b false; R 2 k x", "(b)"},
        {"semi", "semi forever on left.ok", "L 1 k a true; L 1 k b false; R 2 k x", "(a)"},
        {"unknown is no", "left on right.ok", "R 1 k x; L 1 k a", "(a,null)"},
        {"it fails: told, and no match", "left on 1 / right.n = 1",
         "R 1 k x true 0; L 1 k a; R 2 k y true 1; L 3 k b", "!(a,x)(a,null)(b,y)"},
        {"it fails, inner", "inner on 1 / right.n = 1", "R 1 k x true 0; L 1 k a; L 2 k b",
         "!(a,x)!(b,x)"},
        {"it fails, anti", "anti on 1 / right.n = 1", "R 1 k x true 0; L 1 k a", "!(a,x)(a)"},
        {"it fails for those that wait", "left forever on 1 / right.n = 1",
         "L 1 k a; L 1 k b; R 2 k x true 0; L 2 k c", "!(a,x)(a,null)!(b,x)(b,null)!(c,x)(c,null)"},
    };

    (void)state;
    ASSERT_ROWS(rows);
}

static void a_value_that_is_not_renewed_is_forgotten(void **state)
{
    static const struct script_row rows[] = {
        {"until ttl", "left ttl 10", "R 1 k x; L 10 k a", "(a,x)"},
        {"at ttl", "left ttl 10", "R 1 k x; L 11 k a", "(a,null)"},
        {"renewed", "left ttl 10", "R 1 k x; R 8 k y; L 11 k a; L 17 k b; L 18 k c",
         "(a,y)(b,y)(c,null)"},
        {"asking does not renew", "left ttl 10", "R 1 k x; L 10 k a; L 11 k b", "(a,x)(b,null)"},
        {"then they wait again", "left wait 5 ttl 10",
         "L 1 k a; R 2 k x; L 11 k b; L 12 k c; R 13 k y; L 14 k d", "(a,x)(b,x)(c,y)(d,y)"},
        {"many at once", "left ttl 10",
         "R 1 a x; R 1 b x; R 1 c x; R 1 d x; R 1 e x; R 1 f x; R 1 g x; R 1 h x; R 1 i x;"
         "R 1 j x; R 1 k x; R 1 l x; R 1 m x; R 1 n x; R 1 o x; R 1 p x; R 1 q x; R 1 r x;"
         "R 1 s x; L 11 s a; L 11 a b; R 11 s y; L 11 s c",
         "(a,null)(b,null)(c,y)"},
        {"wait and ttl at one instant", "left wait 10 ttl 10", "R 1 k x; L 1 j a; L 11 k b",
         "(a,null)"},
    };

    (void)state;
    ASSERT_ROWS(rows);
}

static void a_flush_ends_the_waits_of_those_that_are_held(void **state)
{
    static const struct script_row rows[] = {
        {"left", "left forever", "L 1 k a; L 1 j b; flush; L 2 k c; R 3 k x",
         "(a,null)(b,null)(c,x)"},
        {"inner", "inner forever", "L 1 k a; flush; R 3 k x; L 4 k b", "(b,x)"},
        {"values stay", "left forever", "R 1 k x; L 1 j a; flush; L 2 k b", "(a,null)(b,x)"},
        {"nobody waits", "left forever", "R 1 k x; flush; L 1 j a; R 2 j y", "(a,y)"},
        {"while results wait", "left forever", "R 1 k x; L 1 k a; flush; L 1 j b; R 2 j y",
         "(a,x)(b,y)"},
        {"while those that waited leave", "left forever",
         "L 1 k a; L 1 k b; R 1 k x; flush; L 1 j c; R 2 j y", "(a,x)(b,x)(c,y)"},
    };

    (void)state;
    ASSERT_ROWS(rows);
}

static void a_null_key_is_not_the_empty_string(void **state)
{
    struct latest_fixture *f = open_row(TIME_PROCESSING, "left");

    (void)state;
    assert_null_is_not_empty(f);
    close_latest(f);
}

/* --- fates --- */

static struct latest_fixture *ran(const char *join, const char *script)
{
    struct latest_fixture *f = open_row(TIME_PROCESSING, join);

    run(f, script);
    return f;
}

static void a_value_is_held_until_its_first_match(void **state)
{
    struct latest_fixture *f = ran("inner", "R 1 k x");

    (void)state;
    assert_held(f, 0, 1);
    run(f, "L 2 k a");
    assert_held(f, 0, 0);
    assert_fates(f, SIDE_RIGHT, 1, 0);
    assert_fates(f, SIDE_LEFT, 1, 0);
    run(f, "R 3 k y");
    assert_held(f, 0, 1);
    assert_fates(f, SIDE_RIGHT, 1, 0);
    run(f, "R 4 k z");
    assert_held(f, 0, 1);
    assert_fates(f, SIDE_RIGHT, 1, 1);
    run(f, "EOI");
    assert_held(f, 0, 0);
    assert_fates(f, SIDE_RIGHT, 1, 2);
    close_latest(f);
}

static void a_value_that_decides_a_row_of_semi_or_anti_is_matched(void **state)
{
    static const char *const joins[] = {"semi", "anti", "semi forever", "anti forever"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(joins); i++) {
        struct latest_fixture *f = ran(joins[i], "R 1 k x; L 1 k a; R 2 k y; R 3 null z");
        assert_held(f, 0, 1);
        assert_fates(f, SIDE_LEFT, 1, 0);
        assert_fates(f, SIDE_RIGHT, 1, 1);
        run(f, "EOI");
        assert_fates(f, SIDE_RIGHT, 1, 2);
        close_latest(f);
    }
}

static void a_match_that_on_forbids_is_none(void **state)
{
    struct latest_fixture *f =
        ran("left on 1 / right.n = 1", "R 1 k x true 0; L 1 k a; R 2 k y true 2; L 2 k b; EOI");

    (void)state;
    assert_fates(f, SIDE_LEFT, 0, 2);
    assert_fates(f, SIDE_RIGHT, 0, 2);
    assert_int_equal(f->books.results_rejected, 1);
    close_latest(f);
}

static void a_value_that_is_too_old_leaves_with_its_fate(void **state)
{
    struct latest_fixture *f = ran("inner ttl 10", "R 1 k x; R 1 j y; L 2 k a; at 10");

    (void)state;
    assert_held(f, 0, 1);
    assert_fates(f, SIDE_RIGHT, 1, 0);
    run(f, "at 11");
    assert_empty(f);
    assert_fates(f, SIDE_RIGHT, 1, 1);
    close_latest(f);
}

static void what_gives_no_row_takes_no_pull(void **state)
{
    struct latest_fixture *f = open_row(TIME_PROCESSING, "inner wait 10 ttl 10");

    (void)state;
    f->pulling.lazy = true;
    for (int64_t t = 1; t < 100; t++) {
        assert_int_equal(push_numbered(f, SIDE_LEFT, t, 2, 20), PUSH_ALL);
        assert_int_equal(push_numbered(f, SIDE_RIGHT, t, 1, 20), PUSH_ALL);
        advance(f, t);
        assert_false(f->op->has_work(f->join));
    }
    assert_sound(f);
    close_latest(f);
}

/* --- time --- */

static void due_is_the_first_wait_or_value_to_end(void **state)
{
    struct latest_fixture *f = open_row(TIME_PROCESSING, "left wait 10 ttl 25");

    (void)state;
    assert_int_equal(f->op->due(f->join).ms, INT64_MAX);
    run(f, "R 1 k x");
    assert_int_equal(f->op->due(f->join).ms, 26);
    run(f, "L 3 j a");
    assert_int_equal(f->op->due(f->join).ms, 13);
    run(f, "L 4 k b; R 5 j y");
    assert_int_equal(f->op->due(f->join).ms, 26);
    run(f, "R 6 k z");
    assert_int_equal(f->op->due(f->join).ms, 30);
    close_latest(f);
}

static void what_lasts_for_ever_is_never_due(void **state)
{
    struct latest_fixture *f = open_row(TIME_PROCESSING, "left forever");

    (void)state;
    run(f, "R 1 k x; L 1 j a; L -5 null b");
    assert_int_equal(f->op->due(f->join).ms, INT64_MAX);
    close_latest(f);
}

/* --- order, and what results point at --- */

/* A new value takes effect for what is read after it; what was read before has to be told. */
static void the_old_value_stays_for_the_results_at_hand(void **state)
{
    struct latest_fixture *f = open_row(TIME_PROCESSING, "inner");

    (void)state;
    f->pulling = (struct pulling){RESULTS_MAX, ALL_FUEL, true};
    run_record(f, "R 1 k x");
    run_record(f, "L 1 k a");
    assert_int_equal(push_line(f, SIDE_RIGHT, 1, BYTES_LIT("k,y,,,")), PUSH_WORK_FIRST);
    pull(f);
    assert_string_equal(buf_text(&f->last_told), "(a,x)");
    for (int i = 0; i < 100; i++)
        assert_int_equal(push_line(f, SIDE_RIGHT, 2, BYTES_LIT("k,y,,,")), PUSH_ALL);
    assert_last_is_good(f);
    assert_int_equal(push_line(f, SIDE_LEFT, 2, BYTES_LIT("k,b,,,")), PUSH_ALL);
    assert_last_is_good(f);
    pull(f);
    assert_string_equal(buf_text(&f->last_told), "(b,y)");
    close_latest(f);
}

static void a_value_that_grows_old_stays_for_the_results_at_hand(void **state)
{
    struct latest_fixture *f = open_row(TIME_PROCESSING, "left wait 100 ttl 10");

    (void)state;
    f->pulling = (struct pulling){RESULTS_MAX, ALL_FUEL, true};
    run_record(f, "L 0 k a");
    run_record(f, "R 1 k x");
    advance(f, 50); /* it is told of x all the same */
    pull(f);
    assert_string_equal(buf_text(&f->last_told), "(a,x)");
    assert_int_equal(push_line(f, SIDE_LEFT, 50, BYTES_LIT("k,b,,,")), PUSH_ALL);
    assert_last_is_good(f);
    assert_held(f, 1, 0);
    assert_fates(f, SIDE_RIGHT, 1, 0);
    close_latest(f);
}

/* Left records change nothing for one another. */
static void left_records_are_taken_before_results_are_pulled(void **state)
{
    struct latest_fixture *f = open_row(TIME_PROCESSING, "inner");
    enum push_stop stop;
    uint64_t n = 0;

    (void)state;
    run(f, "R 1 1 x");
    while ((stop = push_numbered(f, SIDE_LEFT, 1, 1, 20)) == PUSH_ALL)
        n++;
    assert_int_equal(stop, PUSH_WORK_FIRST);
    assert_in_range(n, 16, 4096);
    assert_int_equal(pull_all(f), n);
    assert_sound(f);
    close_latest(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_constant_is_combined_with_every_record),
        cmocka_unit_test(the_newest_value_of_its_key_is_the_one_that_counts),
        cmocka_unit_test(types_say_what_comes),
        cmocka_unit_test(a_null_key_is_not_the_empty_string),
        cmocka_unit_test(a_left_record_waits_for_its_first_partner),
        cmocka_unit_test(results_come_in_order_of_their_causes),
        cmocka_unit_test(on_is_asked_of_the_one_value),
        cmocka_unit_test(a_value_that_is_not_renewed_is_forgotten),
        cmocka_unit_test(a_flush_ends_the_waits_of_those_that_are_held),
        cmocka_unit_test(a_value_is_held_until_its_first_match),
        cmocka_unit_test(a_value_that_decides_a_row_of_semi_or_anti_is_matched),
        cmocka_unit_test(a_match_that_on_forbids_is_none),
        cmocka_unit_test(a_value_that_is_too_old_leaves_with_its_fate),
        cmocka_unit_test(what_gives_no_row_takes_no_pull),
        cmocka_unit_test(due_is_the_first_wait_or_value_to_end),
        cmocka_unit_test(what_lasts_for_ever_is_never_due),
        cmocka_unit_test(the_old_value_stays_for_the_results_at_hand),
        cmocka_unit_test(a_value_that_grows_old_stays_for_the_results_at_hand),
        cmocka_unit_test(left_records_are_taken_before_results_are_pulled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
