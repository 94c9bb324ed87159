#include "latest_join_fixture.h"

#define ASSERT_ROWS(rows) assert_rows(TIME_EVENT, rows, COUNT_OF(rows))

static void the_vectors_hold(void **state)
{
    static const struct script_row rows[] = {
        {"T1", "left", "R 100 k v1; R 200 k v2; L 99 k a; L 100 k b; L 199 k c; L 200 k d; EOI",
         "(a,null)(b,v1)(c,v1)(d,v2)"},
        {"T2", "inner", "R 100 k v1; R 100 k v2; L 150 k a; EOI", "(a,v2)"},
        {"T3", "inner", "R 100 k v1; L 150 k a; L 99999 k b", ""},
        {"T3, right goes on", "inner", "R 100 k v1; L 150 k a; L 99999 k b; R 151 j v2", "(a,v1)"},
        {"T3, right ends", "inner", "R 100 k v1; L 150 k a; L 99999 k b; wm 99998; EOI",
         "(a,v1)(b,v1)"},
        {"T5", "inner", "R 100 k v1; L 180 k a; wm 200; R 150 k v15; L 210 k b; EOI",
         "(a,v1)(b,v15)"},
    };

    (void)state;
    ASSERT_ROWS(rows);
}

static void a_left_record_meets_the_version_of_its_time(void **state)
{
    static const struct script_row rows[] = {
        {"out of order on the right", "left",
         "R 300 k z; R 100 k x; R 200 k y; L 50 k d; L 150 k a; L 250 k b; L 350 k c; EOI",
         "(d,null)(a,x)(b,y)(c,z)"},
        {"equal is visible, whichever came first", "left", "L 100 k a; R 100 k x; L 100 k b; EOI",
         "(a,x)(b,x)"},
        {"of equal times the last to arrive", "left",
         "R 100 k x; L 100 k a; R 100 k y; L 101 k b; EOI", "(a,y)(b,y)"},
        {"in order of time, then of arrival", "left",
         "L 30 k a; L 10 j b; L 20 k c; L 10 k d; L 30 i e; EOI",
         "(b,null)(d,null)(c,null)(a,null)(e,null)"},
        {"keys are apart", "left", "R 10 k x; R 20 j y; L 15 j c; L 30 k a; L 30 j b; EOI",
         "(c,null)(a,x)(b,y)"},
        {"no key: one row", "inner nokey", "R 10 k x; L 20 j a; R 30 i y; L 40 h b; EOI",
         "(a,x)(b,y)"},
        {"around zero", "left", "R -100 k x; R 0 k y; L -101 k a; L -1 k b; L 0 k c; EOI",
         "(a,null)(b,x)(c,y)"},
    };

    (void)state;
    ASSERT_ROWS(rows);
}

static void it_meets_when_time_has_come_to_it(void **state)
{
    static const struct script_row rows[] = {
        {"before", "left", "R 100 k x; L 150 k a; wm 149", ""},
        {"then", "left", "R 100 k x; L 150 k a; wm 150", "(a,x)"},
        {"a version may still come", "left", "R 100 k x; L 150 k a; wm 149; R 150 k y; wm 150",
         "(a,y)"},
        {"a later one may be there long before", "left",
         "R 500 k z; R 100 k x; L 150 k a; L 600 k b; wm 150; wm 700", "(a,x)(b,z)"},
        {"one step over several versions", "left",
         "R 10 k x; R 20 k y; R 30 k z; L 15 k a; L 25 k b; L 35 k c; wm 1000", "(a,x)(b,y)(c,z)"},
    };

    (void)state;
    ASSERT_ROWS(rows);
}

static void what_comes_too_late_is_late(void **state)
{
    static const struct script_row rows[] = {
        {"left, at time", "left", "wm 100; L 100 k a; L 101 k b; EOI", "late(a)(b,null)"},
        {"left, with a version there", "inner", "R 50 k x; wm 100; L 99 k a", "late(a)"},
        {"left, NULL key", "left", "wm 100; L 100 null a", "late(a)"},
        {"right, older than the newest", "left", "R 50 k x; wm 100; R 49 k y; L 120 k a; EOI",
         "late(y)(a,x)"},
        {"right, as old: the last to arrive", "left", "R 50 k x; wm 100; R 50 k y; L 120 k a; EOI",
         "(a,y)"},
        {"right, newer", "left", "R 50 k x; wm 100; R 51 k y; R 50 k z; L 120 k a; EOI",
         "late(z)(a,y)"},
        {"right, the first of its key", "left", "R 50 j x; wm 100; R 1 k y; L 120 k a; EOI",
         "(a,y)"},
        {"right, only a later one is there", "left",
         "R 150 k z; wm 100; R 1 k y; L 120 k a; L 160 k b; EOI", "(a,y)(b,z)"},
        {"right, not late though older than one to come", "left",
         "R 150 k z; wm 100; R 120 k y; L 130 k a; L 160 k b; EOI", "(a,y)(b,z)"},
    };

    (void)state;
    ASSERT_ROWS(rows);
}

static void types_say_what_comes(void **state)
{
    static const struct script_row rows[] = {
        {"inner", "inner", "R 10 k x; L 5 k a; L 15 k b; EOI", "(b,x)"},
        {"left", "left", "R 10 k x; L 5 k a; L 7 null c; L 15 k b; EOI", "(a,null)(c,null)(b,x)"},
        {"semi", "semi", "R 10 k x; L 5 k a; L 15 k b; EOI", "(b)"},
        {"anti", "anti", "R 10 k x; L 5 k a; L 15 k b; L 20 null c; EOI", "(a)(c)"},
        {"a NULL key on the right is nothing", "left", "R 10 null x; L 15 k a; EOI", "(a,null)"},
    };

    (void)state;
    ASSERT_ROWS(rows);
}

static void on_is_asked_of_the_one_version(void **state)
{
    static const struct script_row rows[] = {
        {"no: older ones are not tried", "left on right.ok",
         "R 10 k x true; R 20 k y false; L 15 k a; L 25 k b; EOI", "(a,x)(b,null)"},
        {"anti", "anti on right.ok", "R 10 k x true; R 20 k y false; L 15 k a; L 25 k b; EOI",
         "(b)"},
        {"it fails: told, and no match", "left on 1 / right.n = 1",
         "R 10 k x true 0; L 15 k a; L 15 k b; R 20 k y true 1; L 25 k c; EOI",
         "!(a,x)(a,null)!(b,x)(b,null)(c,y)"},
        {"it fails, inner", "inner on 1 / right.n = 1", "R 10 k x true 0; L 15 k a; L 15 k b; EOI",
         "!(a,x)!(b,x)"},
        {"it fails, anti", "anti on 1 / right.n = 1", "R 10 k x true 0; L 15 k a; EOI",
         "!(a,x)(a)"},
    };

    (void)state;
    ASSERT_ROWS(rows);
}

static void a_flush_lets_all_left_records_meet_what_is_there(void **state)
{
    static const struct script_row rows[] = {
        {"left", "left", "R 10 k x; L 5 k a; L 15 k b; flush", "(a,null)(b,x)"},
        {"versions of later times are not seen", "left",
         "R 10 k x; R 20 k y; L 15 k a; flush; L 25 k b; EOI", "(a,x)(b,y)"},
        {"nobody waits", "left", "R 10 k x; flush; L 25 k b; EOI", "(b,x)"},
        {"then time goes on as it was", "left",
         "R 10 k x; L 15 k a; flush; R 12 k y; L 13 k b; EOI", "(a,x)(b,y)"},
        {"what is older than a version that was needed finds none", "left",
         "delay 100; R 10 k x; R 20 k y; L 25 k a; flush; L 15 k b; R 14 k z; L 26 k c; EOI",
         "(a,y)(b,null)(c,y)"},
    };

    (void)state;
    ASSERT_ROWS(rows);
}

static void a_null_key_is_not_the_empty_string(void **state)
{
    struct latest_fixture *f = open_row(TIME_EVENT, "left");

    (void)state;
    assert_null_is_not_empty(f);
    close_latest(f);
}

/* --- fates --- */

static void a_version_is_held_until_its_first_match_or_forgotten(void **state)
{
    struct latest_fixture *f = open_row(TIME_EVENT, "inner");

    (void)state;
    run(f, "delay 100; R 10 k x; R 20 k y; R 30 k z; L 25 k a; L 5 k b");
    assert_held(f, 2, 3);
    run(f, "wm 9");
    assert_held(f, 1, 3);
    assert_fates(f, SIDE_LEFT, 0, 1);
    run(f, "wm 19");
    assert_held(f, 1, 3);
    run(f, "wm 20"); /* x will never be seen */
    assert_held(f, 1, 2);
    assert_fates(f, SIDE_RIGHT, 0, 1);
    run(f, "wm 25");
    assert_held(f, 0, 1);
    assert_fates(f, SIDE_RIGHT, 1, 1);
    assert_fates(f, SIDE_LEFT, 1, 1);
    run(f, "wm 1000"); /* z keeps its place */
    assert_held(f, 0, 1);
    run(f, "R 500 k w");
    assert_fates(f, SIDE_RIGHT, 1, 2);
    run(f, "EOI");
    assert_empty(f);
    assert_fates(f, SIDE_RIGHT, 1, 3);
    close_latest(f);
}

static void a_version_that_decides_a_row_of_semi_or_anti_is_matched(void **state)
{
    static const char *const joins[] = {"semi", "anti"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(joins); i++) {
        struct latest_fixture *f = open_row(TIME_EVENT, joins[i]);
        run(f, "R 1 k x; R 3 k y; L 2 k a; L 2 k b; EOI");
        assert_fates(f, SIDE_LEFT, 2, 0);
        assert_fates(f, SIDE_RIGHT, 1, 1);
        close_latest(f);
    }
}

static void a_late_record_is_not_in_the_operators_books(void **state)
{
    struct latest_fixture *f = open_row(TIME_EVENT, "left");

    (void)state;
    run(f, "R 50 k x; wm 100; L 10 k a; R 10 k y");
    assert_int_equal(f->books.side[SIDE_LEFT].late, 1);
    assert_int_equal(f->books.side[SIDE_RIGHT].late, 1);
    assert_held(f, 0, 1);
    assert_fates(f, SIDE_LEFT, 0, 0);
    close_latest(f);
}

/* --- time, order, and what results point at --- */

static void due_is_the_first_time_to_come(void **state)
{
    struct latest_fixture *f = open_row(TIME_EVENT, "left");

    (void)state;
    assert_int_equal(f->op->due(f->join).ms, INT64_MAX);
    run(f, "L 30 k a");
    assert_int_equal(f->op->due(f->join).ms, 30);
    run(f, "R 20 k x");
    assert_int_equal(f->op->due(f->join).ms, 20);
    run(f, "wm 20");
    assert_int_equal(f->op->due(f->join).ms, 30);
    run(f, "wm 30");
    assert_int_equal(f->op->due(f->join).ms, INT64_MAX);
    close_latest(f);
}

static void records_to_come_are_taken_while_results_wait(void **state)
{
    struct latest_fixture *f = open_row(TIME_EVENT, "left");

    (void)state;
    f->pulling = (struct pulling){RESULTS_MAX, ALL_FUEL, true};
    run_record(f, "R 10 k x");
    run_record(f, "L 20 k a");
    run_record(f, "L 22 k b");
    advance(f, 30);
    assert_true(f->op->has_work(f->join));
    assert_int_equal(push_line(f, SIDE_LEFT, 31, BYTES_LIT("k,c,,,")), PUSH_ALL);
    assert_int_equal(push_line(f, SIDE_RIGHT, 31, BYTES_LIT("k,y,,,")), PUSH_ALL);
    assert_int_equal(push_line(f, SIDE_LEFT, 30, BYTES_LIT("k,d,,,")), PUSH_LATE);
    /* This one would be seen by a and b. */
    assert_int_equal(push_line(f, SIDE_RIGHT, 15, BYTES_LIT("k,z,,,")), PUSH_WORK_FIRST);
    advance(f, 31);
    drain(f);
    assert_string_equal(buf_text(&f->told), "(a,x)(b,x)(c,y)");
    assert_sound(f);
    close_latest(f);
}

static void a_version_that_is_replaced_stays_for_the_results_at_hand(void **state)
{
    struct latest_fixture *f = open_row(TIME_EVENT, "inner");

    (void)state;
    f->pulling = (struct pulling){1, ALL_FUEL, true};
    run_record(f, "R 10 k x");
    run_record(f, "L 20 k a");
    run_record(f, "L 40 k b");
    advance(f, 20);
    pull(f);
    assert_string_equal(buf_text(&f->last_told), "(a,x)");
    assert_int_equal(push_line(f, SIDE_RIGHT, 15, BYTES_LIT("k,y,,,")), PUSH_ALL);
    assert_int_equal(push_line(f, SIDE_RIGHT, 16, BYTES_LIT("k,z,,,")), PUSH_ALL);
    assert_last_is_good(f);
    assert_fates(f, SIDE_RIGHT, 1, 1);
    advance(f, 40);
    pull(f);
    assert_string_equal(buf_text(&f->last_told), "(b,z)");
    assert_sound(f);
    close_latest(f);
}

static void what_gives_no_row_takes_no_pull(void **state)
{
    struct latest_fixture *f = open_row(TIME_EVENT, "inner");

    (void)state;
    f->pulling.lazy = true;
    for (int64_t t = 1; t < 100; t++) {
        assert_int_equal(push_numbered(f, SIDE_LEFT, t, 2, 20), PUSH_ALL);
        assert_int_equal(push_numbered(f, SIDE_RIGHT, t, 1, 20), PUSH_ALL);
        advance(f, t);
        assert_false(f->op->has_work(f->join));
    }
    assert_held(f, 0, 1);
    assert_fates(f, SIDE_RIGHT, 0, 98);
    assert_sound(f);
    close_latest(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_vectors_hold),
        cmocka_unit_test(a_left_record_meets_the_version_of_its_time),
        cmocka_unit_test(it_meets_when_time_has_come_to_it),
        cmocka_unit_test(what_comes_too_late_is_late),
        cmocka_unit_test(types_say_what_comes),
        cmocka_unit_test(a_null_key_is_not_the_empty_string),
        cmocka_unit_test(on_is_asked_of_the_one_version),
        cmocka_unit_test(a_flush_lets_all_left_records_meet_what_is_there),
        cmocka_unit_test(a_version_is_held_until_its_first_match_or_forgotten),
        cmocka_unit_test(a_version_that_decides_a_row_of_semi_or_anti_is_matched),
        cmocka_unit_test(a_late_record_is_not_in_the_operators_books),
        cmocka_unit_test(due_is_the_first_time_to_come),
        cmocka_unit_test(records_to_come_are_taken_while_results_wait),
        cmocka_unit_test(a_version_that_is_replaced_stays_for_the_results_at_hand),
        cmocka_unit_test(what_gives_no_row_takes_no_pull),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
