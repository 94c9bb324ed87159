/* Windows in event time, sliding ones, grace: stories, told step by step. */
#include "window_join_fixture.h"

/* `L1000 k a`: a record, of time 1000, key k (`null`: NULL) and id a; `wm 9999`: time is set;
 * `end`: it ends. Steps are parted by `;`. After each, all that is due is told. */
static void story_step(struct join_fixture *f, const char *step, struct buf *told)
{
    char key[16], id[16], line[48];
    int64_t t;

    if (strcmp(step, "end") == 0) {
        advance(f, INT64_MAX);
    } else if (sscanf(step, "wm %" SCNd64, &t) == 1) {
        advance(f, t);
    } else {
        enum push_stop stop;
        assert_int_equal(sscanf(step + 1, "%" SCNd64 " %15s %15s", &t, key, id), 3);
        snprintf(line, sizeof(line), "%s,%s,", strcmp(key, "null") == 0 ? "" : key, id);
        stop = push_stop_of(f, step[0] == 'L' ? SIDE_LEFT : SIDE_RIGHT, t, bytes_of(line));
        assert_true(stop == PUSH_ALL || stop == PUSH_LATE);
        if (stop == PUSH_LATE)
            buf_printf(told, "late:%s", id);
    }
    assert_sound(f);
    buf_append_text(told, drain(f));
}

static void assert_story_of(struct join_fixture *f, const char *steps, const char *expected)
{
    char *copy = mem_strdup(steps), *rest = copy, *step;
    struct buf told = BUF_EMPTY;

    while ((step = strsep(&rest, ";")) != NULL) {
        size_t length = strlen(buf_text(&told));
        if (length > 0 && buf_text(&told)[length - 1] != ' ')
            buf_append_char(&told, ' ');
        story_step(f, step + (*step == ' '), &told);
    }
    if (strcmp(buf_text(&told), expected) != 0)
        fail_msg("%s: \"%s\" instead of \"%s\"", steps, buf_text(&told), expected);
    buf_done(&told);
    mem_free(copy);
}

static void assert_story(struct plan *plan, const char *steps, const char *expected)
{
    struct join_fixture *f = open_join(plan);

    assert_story_of(f, steps, expected);
    close_join(f);
}

#define EVENT(...) PLAN(.time = TIME_EVENT, __VA_ARGS__)

/* --- semantics.md section 8 --- */

static void w1_windows_part_records(void **state)
{
    (void)state;
    assert_story(EVENT(.type = JOIN_FULL), "L9999 k a; R10000 k x; end",
                 "[0,10000)(a,null)[10000,20000)(null,x)");
}

static void w2_a_window_fires_when_time_reaches_its_end(void **state)
{
    (void)state;
    assert_story(EVENT(),
                 "L1000 k a; R2000 k x; L9999 y b; R9999 z c; wm 9998; wm 9999; "
                 "L10000 y d; R10000 z e; end",
                 "[0,10000)(a,x) ");
}

static void w4_a_record_is_late_from_the_end_on(void **state)
{
    struct join_fixture *f = open_join(EVENT());

    (void)state;
    assert_story_of(f, "wm 9998; L5 k a; R6 k x; wm 9999; L7 k c; end", "[0,10000)(a,x) late:c ");
    assert_int_equal(f->books.side[SIDE_LEFT].late, 1);
    assert_int_equal(f->books.side[SIDE_LEFT].late_windows, 1);
    assert_int_equal(f->books.side[SIDE_RIGHT].late_windows, 0);
    close_join(f);
}

static void w5_late_for_one_window_is_not_late_for_the_next(void **state)
{
    struct join_fixture *f = open_join(EVENT(.slide_ms = 5000));

    (void)state;
    assert_story_of(f, "R7000 k x; wm 9999; L8000 k a; end", "[5000,15000)(a,x)");
    assert_int_equal(f->books.side[SIDE_LEFT].late, 0);
    assert_int_equal(f->books.side[SIDE_LEFT].late_windows, 1);
    close_join(f);
}

static void w6_times_may_be_negative_and_windows_shifted(void **state)
{
    (void)state;
    assert_story(EVENT(.type = JOIN_FULL), "L-1 k a; R-10000 k x; R0 k y; end",
                 "[-10000,0)(a,x)[0,10000)(null,y)");
    assert_story(EVENT(.type = JOIN_FULL, .offset_ms = 3000),
                 "L2999 k a; R3000 k x; R-6999 k y; R-7000 k z; end",
                 "[-7000,3000)(a,y)(a,z)[3000,13000)(null,x)");
}

static void w7_null_keys_match_nothing(void **state)
{
    static const struct {
        enum join_type type;
        const char *told;
    } rows[] = {
        {JOIN_FULL, "[0,10000)(a,null)(null,x)"},
        {JOIN_ANTI, "[0,10000)(a)"},
        {JOIN_SEMI, ""},
        {JOIN_INNER, ""},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_story(EVENT(.type = rows[i].type), "L1 null a; R2 null x; end", rows[i].told);
}

static void w8_a_semi_join_tells_each_left_record_once_a_window(void **state)
{
    (void)state;
    assert_story(EVENT(.type = JOIN_SEMI), "L1 k a; R2 k x; R3 k y; L1 k b; end",
                 "[0,10000)(a)(b)");
    assert_story(EVENT(.type = JOIN_SEMI, .slide_ms = 5000), "L6000 k a; R7000 k x; R8000 k y; end",
                 "[0,10000)(a)[5000,15000)(a)");
}

/* Time passes the window's end first. */
static void w10_a_record_between_windows_has_no_window(void **state)
{
    static const char expected[] = "[0,5000)(null,x)[-9223372036854775808,-9223372036854775808)"
                                   "(a,null)";

    (void)state;
    assert_story(EVENT(.type = JOIN_FULL, .size_ms = 5000, .slide_ms = 10000),
                 "L6000 k a; R4999 k x; end", expected);
    assert_story(PLAN(.type = JOIN_FULL, .size_ms = 5000, .slide_ms = 10000),
                 "R4999 k x; L6000 k a; end", expected);
}

static void g1_padding_waits_until_nothing_can_contradict_it(void **state)
{
    (void)state;
    assert_story(EVENT(.type = JOIN_LEFT, .grace_ms = 5000),
                 "L1000 k a; wm 9999; R3000 k x; wm 14999; end", "[0,10000)(a,x) ");
    assert_story(EVENT(.type = JOIN_LEFT, .grace_ms = 5000),
                 "L1000 k a; wm 9999; wm 14998; wm 14999", "[0,10000)(a,null)");
}

static void g2_within_grace_only_new_pairs_come(void **state)
{
    struct join_fixture *f = open_join(EVENT(.grace_ms = 5000));

    (void)state;
    assert_story_of(f, "L1000 k a; R2000 k x; wm 9999; R3000 k y; wm 14999; R4000 k q",
                    "[0,10000)(a,x) [0,10000)(a,y) late:q");
    assert_int_equal(f->books.side[SIDE_RIGHT].late, 1);
    close_join(f);
}

/* --- between windows --- */

static void records_between_windows_come_when_time_has_passed_them(void **state)
{
    struct join_fixture *f = open_join(EVENT(.type = JOIN_LEFT, .size_ms = 2, .slide_ms = 10));
    struct join_fixture *clock = open_join(PLAN(.type = JOIN_LEFT, .size_ms = 2, .slide_ms = 10));

    (void)state;
    push(f, SIDE_LEFT, 7, "k,c,");
    push(f, SIDE_LEFT, 5, "k,a,");
    push(f, SIDE_RIGHT, 5, "k,x,");
    push(f, SIDE_LEFT, 5, "k,b,");
    assert_int_equal(due(f), 5);
    advance(f, 4);
    assert_string_equal(drain(f), "");
    assert_int_equal(op->held(f->join, SIDE_RIGHT), 1);
    advance(f, 5);
    assert_non_null(strstr(drain(f), "(a,null)(b,null)"));
    assert_int_equal(f->books.side[SIDE_RIGHT].unmatched, 1);
    assert_int_equal(due(f), 7);
    advance(f, 50);
    assert_non_null(strstr(drain(f), "(c,null)"));
    /* not late: it is told at once */
    push(f, SIDE_LEFT, 9, "k,d,");
    assert_true(op->has_work(f->join));
    assert_int_equal(push_stop_of(f, SIDE_LEFT, 9, BYTES_LIT("k,e,")), PUSH_WORK_FIRST);
    assert_non_null(strstr(drain(f), "(d,null)"));
    close_join(f);

    push(clock, SIDE_LEFT, 5, "k,a,");
    advance(clock, 5);
    assert_false(op->has_work(clock->join));
    assert_int_equal(due(clock), 6);
    advance(clock, 6);
    assert_non_null(strstr(drain(clock), "(a,null)"));
    close_join(clock);
}

static void results_of_records_between_windows_stay_until_the_next_pull(void **state)
{
    struct join_fixture *f = open_join(EVENT(.type = JOIN_FULL, .size_ms = 1, .slide_ms = 100));
    char line[32];
    struct result r;

    (void)state;
    for (int i = 0; i < 50; i++) {
        snprintf(line, sizeof(line), "k,%d,", i);
        push(f, (enum side)(i % 2), 10 + i, line);
    }
    advance(f, 90);
    for (int i = 0; i < 50; i++) {
        enum side side = (enum side)(i % 2);
        assert_int_equal(pull(f, &r, 1, ALL_FUEL), 1);
        push(f, side_other(side), 95 - i % 3, "k,other,"); /* into the heap meanwhile */
        assert_int_equal(number_of(f->plan, side, r.record[side], 1), i);
        assert_null(r.record[side_other(side)]);
        assert_sound(f);
    }
    end(f);
    assert_int_equal(f->books.results[RESULT_LEFT] + f->books.results[RESULT_RIGHT], 100);
    close_join(f);
}

/* --- sliding --- */

static void a_pair_comes_once_for_each_window_that_holds_both(void **state)
{
    static const char a_and_x[] = "[0,10)(a,x)[4,14)(a,x)[8,18)(a,null)";

    (void)state;
    assert_story(EVENT(.type = JOIN_LEFT, .size_ms = 10, .slide_ms = 4), "L8 k a; R7 k x; end",
                 a_and_x);
    assert_story(PLAN(.type = JOIN_LEFT, .size_ms = 10, .slide_ms = 4), "R7 k x; L8 k a; end",
                 a_and_x);
}

/* Matched in one window is matched, though it was padded in another before, and after. */
static void a_fate_is_over_all_windows(void **state)
{
    struct join_fixture *f = open_join(EVENT(.type = JOIN_FULL, .size_ms = 10, .slide_ms = 5));

    (void)state;
    assert_story_of(f, "L7 k a; R11 k x; L7 m b; wm 9", "[0,10)(a,null)(b,null)");
    assert_int_equal(f->books.side[SIDE_LEFT].unmatched, 0);
    assert_story_of(f, "wm 14", "[5,15)(a,x)(b,null)");
    assert_int_equal(f->books.side[SIDE_LEFT].matched, 1);
    assert_int_equal(f->books.side[SIDE_LEFT].unmatched, 1);
    assert_int_equal(f->books.side[SIDE_RIGHT].matched, 1);
    assert_story_of(f, "end", "[10,20)(null,x)");
    assert_int_equal(f->books.side[SIDE_RIGHT].unmatched, 0);
    close_join(f);
}

/* The records' times are in disorder: in each window they come as they came. */
static void records_come_in_order_of_arrival_over_all_panes(void **state)
{
    (void)state;
    assert_story(
        EVENT(.size_ms = 10, .slide_ms = 5),
        "L9 k a; L2 k b; L8 k c; L4 k d; R6 k x; R1 k y; R7 k z; wm 9",
        "[-5,5)(b,y)(d,y)[0,10)(a,x)(a,y)(a,z)(b,x)(b,y)(b,z)(c,x)(c,y)(c,z)(d,x)(d,y)(d,z)");
}

static void a_flush_ends_sliding_windows_for_what_is_held(void **state)
{
    struct join_fixture *f =
        open_join(EVENT(.type = JOIN_FULL, .size_ms = 10, .slide_ms = 5, .grace_ms = 3));

    (void)state;
    push(f, SIDE_LEFT, 7, "k,a,");
    op->flush(f->join);
    op->flush(f->join); /* nothing more to flush */
    push(f, SIDE_RIGHT, 7, "k,x,");
    op->flush(f->join);
    push(f, SIDE_LEFT, 8, "k,b,");
    assert_sound(f);
    assert_int_equal(op->held(f->join, SIDE_LEFT), 2);
    assert_string_equal(drain(f), "[0,10)(a,null)[5,15)(a,null)[0,10)(null,x)[5,15)(null,x)");
    assert_int_equal(due(f), 9);
    assert_string_equal(end(f), "[0,10)(b,null)[5,15)(b,null)");
    close_join(f);
}

/* --- grace --- */

static void what_is_late_comes_at_once_in_each_fired_window(void **state)
{
    (void)state;
    /* [0,10), [5,15) have fired, [10,20) has not. */
    assert_story(EVENT(.size_ms = 20, .slide_ms = 10, .grace_ms = 100),
                 "L11 k a; R12 k x; wm 29; L13 k b; R14 k y; end",
                 "[0,20)(a,x)[10,30)(a,x) [0,20)(b,x)[10,30)(b,x) "
                 "[0,20)(a,y)(b,y)[10,30)(a,y)(b,y) ");
    assert_story(EVENT(.size_ms = 20, .slide_ms = 10, .grace_ms = 100),
                 "L11 k a; wm 19; R12 k x; end", "[0,20)(a,x) [10,30)(a,x)");
}

static void a_semi_row_comes_at_the_first_match_of_each_window(void **state)
{
    (void)state;
    assert_story(EVENT(.type = JOIN_SEMI, .grace_ms = 5000),
                 "L1 k a; wm 9999; R2 k x; R3 k y; L4 k b; end", "[0,10000)(a) [0,10000)(b) ");
    /* y is new to [10,30) only, for a; and x is not in it */
    assert_story(EVENT(.type = JOIN_SEMI, .size_ms = 20, .slide_ms = 10, .grace_ms = 100),
                 "L11 k a; R2 k x; wm 29; R12 k y; R13 k z; end", "[0,20)(a) [10,30)(a) ");
}

static void an_anti_row_comes_when_its_window_closes(void **state)
{
    (void)state;
    assert_story(EVENT(.type = JOIN_ANTI, .grace_ms = 5000),
                 "L1 k a; L2 m b; wm 9999; R3 k x; wm 14998; wm 14999", "[0,10000)(b)");
    assert_story(EVENT(.type = JOIN_ANTI, .size_ms = 20, .slide_ms = 10, .grace_ms = 5),
                 "L11 k a; R2 k x; wm 19; wm 24; wm 29; wm 34", "[10,30)(a)");
}

static void fires_and_closes_come_in_order_of_the_instants_at_which_they_were_due(void **state)
{
    (void)state;
    /* [0,10) closes at 14, [10,20) fires at 19 and closes at 24, [20,30) fires at 29 */
    assert_story(EVENT(.type = JOIN_LEFT, .size_ms = 10, .grace_ms = 5),
                 "L1 k a; L11 k b; R12 k x; L21 k c; R22 k y; L13 m d; end",
                 "[0,10)(a,null)[10,20)(b,x)(d,null)[20,30)(c,y)");
    /* grace 15: [0,10) closes at 24, after [10,20) has fired, at 19; of what is due at one
     * instant, [0,10) closes before [20,30) fires when grace is 20 */
    assert_story(EVENT(.type = JOIN_LEFT, .size_ms = 10, .grace_ms = 15),
                 "L1 k a; L11 k b; R12 k x; L21 k c; R22 k y; end",
                 "[10,20)(b,x)[0,10)(a,null)[20,30)(c,y)");
    assert_story(EVENT(.type = JOIN_LEFT, .size_ms = 10, .grace_ms = 20),
                 "L1 k a; L11 k b; R12 k x; L21 k c; R22 k y; end",
                 "[10,20)(b,x)[0,10)(a,null)[20,30)(c,y)");
}

/* Its pairs come after those of the walk; what it does not touch goes on. */
static void a_late_record_waits_for_the_walk(void **state)
{
    struct join_fixture *f = open_join(EVENT(.size_ms = 10, .grace_ms = 5));
    struct result r;

    (void)state;
    push(f, SIDE_LEFT, 1, "k,a,");
    push(f, SIDE_LEFT, 2, "k,b,");
    push(f, SIDE_RIGHT, 3, "k,x,");
    advance(f, 9);
    assert_int_equal(push_stop_of(f, SIDE_RIGHT, 4, BYTES_LIT("k,y,")), PUSH_WORK_FIRST);
    assert_int_equal(pull(f, &r, 1, ALL_FUEL), 1);
    assert_int_equal(push_stop_of(f, SIDE_RIGHT, 4, BYTES_LIT("k,y,")), PUSH_WORK_FIRST);
    push(f, SIDE_RIGHT, 14, "k,z,");
    assert_int_equal(f->books.side[SIDE_RIGHT].received, 2); /* the refused one left no trace */
    assert_string_equal(drain(f), "[0,10)(b,x)");
    push(f, SIDE_RIGHT, 4, "k,y,");
    assert_true(op->has_work(f->join));
    assert_int_equal(push_stop_of(f, SIDE_LEFT, 4, BYTES_LIT("k,c,")), PUSH_WORK_FIRST);
    advance(f, 14); /* and the window closes after it */
    assert_int_equal(push_stop_of(f, SIDE_LEFT, 4, BYTES_LIT("k,c,")), PUSH_LATE);
    assert_string_equal(drain(f), "[0,10)(a,y)(b,y)");
    close_join(f);
}

/* A window that fired with nothing in it takes late records as any other. */
static void a_window_may_begin_after_its_firing(void **state)
{
    (void)state;
    assert_story(EVENT(.type = JOIN_FULL, .size_ms = 10, .grace_ms = 5),
                 "wm 12; L1 k a; R2 k x; L3 m b; wm 14", "[0,10)(a,x) [0,10)(b,null)");
}

static void a_condition_that_fails_is_told_when_a_pair_is_asked_and_never_again(void **state)
{
    (void)state;
    assert_story(EVENT(.type = JOIN_FULL, .size_ms = 10, .grace_ms = 5,
                       .on = "cast(right.id as bigint) = 1"),
                 "L1 k a; R2 k x; wm 9; R3 k y; L4 k b; R5 k 1; wm 14",
                 "[0,10)!(a,x) [0,10)!(a,y) [0,10)!(b,x)!(b,y) [0,10)(a,1)(b,1) "
                 "[0,10)(null,x)(null,y)");
    assert_story(
        EVENT(.type = JOIN_FULL, .size_ms = 20, .slide_ms = 10, .grace_ms = 5,
              .on = "cast(right.id as bigint) = 1"),
        "L11 k a; R2 k x; wm 19; R12 k y; end",
        "[-10,10)(null,x)[0,20)!(a,x) [0,20)!(a,y) [0,20)(a,null)(null,x)(null,y)[10,30)!(a,y)"
        "(a,null)(null,y)");
}

static void results_have_the_times_of_their_records(void **state)
{
    struct join_fixture *f = open_join(EVENT(.type = JOIN_FULL, .size_ms = 20, .slide_ms = 10));
    struct result r;

    (void)state;
    push(f, SIDE_LEFT, 12, "k,a,");
    push(f, SIDE_RIGHT, 17, "k,x,");
    advance(f, 19);
    assert_int_equal(pull(f, &r, 1, ALL_FUEL), 1);
    assert_int_equal(r.time[SIDE_LEFT], 12);
    assert_int_equal(r.time[SIDE_RIGHT], 17);
    drain(f);
    close_join(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(w1_windows_part_records),
        cmocka_unit_test(w2_a_window_fires_when_time_reaches_its_end),
        cmocka_unit_test(w4_a_record_is_late_from_the_end_on),
        cmocka_unit_test(w5_late_for_one_window_is_not_late_for_the_next),
        cmocka_unit_test(w6_times_may_be_negative_and_windows_shifted),
        cmocka_unit_test(w7_null_keys_match_nothing),
        cmocka_unit_test(w8_a_semi_join_tells_each_left_record_once_a_window),
        cmocka_unit_test(w10_a_record_between_windows_has_no_window),
        cmocka_unit_test(g1_padding_waits_until_nothing_can_contradict_it),
        cmocka_unit_test(g2_within_grace_only_new_pairs_come),
        cmocka_unit_test(records_between_windows_come_when_time_has_passed_them),
        cmocka_unit_test(results_of_records_between_windows_stay_until_the_next_pull),
        cmocka_unit_test(a_pair_comes_once_for_each_window_that_holds_both),
        cmocka_unit_test(a_fate_is_over_all_windows),
        cmocka_unit_test(records_come_in_order_of_arrival_over_all_panes),
        cmocka_unit_test(a_flush_ends_sliding_windows_for_what_is_held),
        cmocka_unit_test(what_is_late_comes_at_once_in_each_fired_window),
        cmocka_unit_test(a_semi_row_comes_at_the_first_match_of_each_window),
        cmocka_unit_test(an_anti_row_comes_when_its_window_closes),
        cmocka_unit_test(fires_and_closes_come_in_order_of_the_instants_at_which_they_were_due),
        cmocka_unit_test(a_late_record_waits_for_the_walk),
        cmocka_unit_test(a_window_may_begin_after_its_firing),
        cmocka_unit_test(a_condition_that_fails_is_told_when_a_pair_is_asked_and_never_again),
        cmocka_unit_test(results_have_the_times_of_their_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
