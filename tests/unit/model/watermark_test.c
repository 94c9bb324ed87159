#include "unit.h"

#include <limits.h>

#include "model/watermark.h"

#define NONE INT64_MIN

/* A watermark whose ready line was written at 0 of the monotonic clock. */
static void begin(struct watermark *w, int64_t delay_ms, int64_t idle_ms)
{
    watermark_init(w, (int64_t[SIDES]){delay_ms, delay_ms}, (int64_t[SIDES]){idle_ms, idle_ms});
    watermark_count_anew(w, (struct mono_time){0});
    watermark_clock(w, (struct mono_time){0});
}

static void clock_at(struct watermark *w, int64_t ms)
{
    watermark_clock(w, (struct mono_time){ms});
}

static int64_t calm(const struct watermark *w, const struct feed *f, int64_t until)
{
    return watermark_calm(w, f, (struct stream_time){until}).ms;
}

/* --- records --- */

static void time_is_the_lower_sides_highest_less_delay_less_one(void **state)
{
    struct watermark w;
    struct feed l = {0}, r = {0};

    (void)state;
    begin(&w, 100, WATERMARK_NEVER);
    watermark_open(&w, &l, SIDE_LEFT);
    watermark_open(&w, &r, SIDE_RIGHT);
    assert_int_equal(w.reached.ms, NONE);
    watermark_record(&w, &l, (struct stream_time){1000});
    assert_int_equal(w.side[SIDE_LEFT].own.ms, 899);
    assert_int_equal(w.reached.ms, NONE);
    watermark_record(&w, &r, (struct stream_time){700});
    assert_int_equal(w.reached.ms, 599);
    watermark_record(&w, &r, (struct stream_time){5000});
    assert_int_equal(w.reached.ms, 899);
    watermark_record(&w, &l, (struct stream_time){20}); /* out of order: nothing goes back */
    assert_int_equal(w.side[SIDE_LEFT].own.ms, 899);
    assert_int_equal(w.reached.ms, 899);
}

static void delays_are_a_sides_own_and_times_may_be_negative(void **state)
{
    struct watermark w;
    struct feed l = {0}, r = {0};

    (void)state;
    watermark_init(&w, (int64_t[SIDES]){0, 5000}, (int64_t[SIDES]){-1, -1});
    watermark_open(&w, &l, SIDE_LEFT);
    watermark_open(&w, &r, SIDE_RIGHT);
    watermark_record(&w, &l, (struct stream_time){-1});
    watermark_record(&w, &r, (struct stream_time){-1});
    assert_int_equal(w.side[SIDE_LEFT].own.ms, -2);
    assert_int_equal(w.side[SIDE_RIGHT].own.ms, -5002);
    assert_int_equal(w.reached.ms, -5002);
}

static void a_side_is_as_far_as_its_slowest_connection(void **state)
{
    struct watermark w;
    struct feed a = {0}, b = {0}, silent = {0};

    (void)state;
    begin(&w, 0, WATERMARK_NEVER);
    watermark_open(&w, &a, SIDE_LEFT);
    watermark_open(&w, &b, SIDE_LEFT);
    watermark_open(&w, &silent, SIDE_LEFT); /* does not count before its first record */
    watermark_record(&w, &a, (struct stream_time){1000});
    assert_int_equal(w.side[SIDE_LEFT].own.ms, 999);
    watermark_record(&w, &b, (struct stream_time){400});
    assert_int_equal(w.side[SIDE_LEFT].own.ms, 999); /* never back */
    watermark_record(&w, &a, (struct stream_time){2000});
    assert_int_equal(w.side[SIDE_LEFT].own.ms, 999); /* b is at 400 */
    watermark_record(&w, &b, (struct stream_time){1500});
    assert_int_equal(w.side[SIDE_LEFT].own.ms, 1499);
    watermark_record(&w, &b, (struct stream_time){3000});
    assert_int_equal(w.side[SIDE_LEFT].own.ms, 1999); /* now a is the slower one */
}

static void a_connection_that_closes_counts_no_longer(void **state)
{
    struct watermark w;
    struct feed a = {0}, b = {0}, again = {0};

    (void)state;
    begin(&w, 0, WATERMARK_NEVER);
    watermark_open(&w, &a, SIDE_LEFT);
    watermark_open(&w, &b, SIDE_LEFT);
    watermark_record(&w, &a, (struct stream_time){1000});
    watermark_record(&w, &b, (struct stream_time){5000});
    assert_int_equal(w.side[SIDE_LEFT].own.ms, 999);
    watermark_close(&w, &a);
    assert_int_equal(w.side[SIDE_LEFT].own.ms, 4999);
    watermark_close(&w, &b);
    assert_int_equal(w.side[SIDE_LEFT].own.ms, 4999); /* the side keeps what it had */
    watermark_open(&w, &again, SIDE_LEFT);
    watermark_record(&w, &again, (struct stream_time){1200});
    assert_int_equal(w.side[SIDE_LEFT].own.ms, 4999);
}

/* --- ends --- */

static void an_ended_side_is_at_the_end_of_time(void **state)
{
    struct watermark w;
    struct feed l = {0}, r = {0};

    (void)state;
    begin(&w, 0, WATERMARK_NEVER);
    watermark_open(&w, &l, SIDE_LEFT);
    watermark_open(&w, &r, SIDE_RIGHT);
    watermark_record(&w, &r, (struct stream_time){1000});
    assert_int_equal(w.reached.ms, NONE);
    watermark_end(&w, SIDE_LEFT);
    assert_int_equal(w.reached.ms, 999);
    watermark_record(&w, &r, (struct stream_time){7000});
    assert_int_equal(w.reached.ms, 6999);
    watermark_end(&w, SIDE_RIGHT);
    assert_int_equal(w.reached.ms, INT64_MAX);
}

static void ended_and_idle_together_never_make_the_end(void **state)
{
    struct watermark w;
    struct feed l = {0};

    (void)state;
    begin(&w, 0, 1000);
    watermark_open(&w, &l, SIDE_LEFT);
    watermark_record(&w, &l, (struct stream_time){1000});
    watermark_end(&w, SIDE_LEFT);
    clock_at(&w, 999);
    assert_int_equal(w.reached.ms, NONE); /* the right side has not come, and is not idle yet */
    clock_at(&w, 1000);
    assert_int_equal(w.reached.ms, 999);
    clock_at(&w, 1500);
    assert_int_equal(w.reached.ms, 1499);
}

/* --- idleness --- */

static void an_idle_side_holds_nothing_back_until_its_next_record(void **state)
{
    struct watermark w;
    struct feed l = {0}, r = {0};

    (void)state;
    begin(&w, 0, 1000);
    watermark_open(&w, &l, SIDE_LEFT);
    watermark_open(&w, &r, SIDE_RIGHT);
    watermark_record(&w, &r, (struct stream_time){2000});
    clock_at(&w, 500);
    watermark_record(&w, &l, (struct stream_time){900000});
    assert_int_equal(w.reached.ms, 1999);
    assert_int_equal(watermark_wake(&w, STREAM_TIME_MAX).ms, 1000);
    clock_at(&w, 999);
    assert_false(w.side[SIDE_RIGHT].idle);
    clock_at(&w, 1000);
    assert_true(w.side[SIDE_RIGHT].idle);
    assert_int_equal(w.reached.ms, 899999);
    watermark_record(&w, &r,
                     (struct stream_time){3000}); /* it counts again; time does not go back */
    assert_false(w.side[SIDE_RIGHT].idle);
    assert_int_equal(w.reached.ms, 899999);
    watermark_record(&w, &l, (struct stream_time){999999});
    assert_int_equal(w.reached.ms, 899999);
}

static void one_idle_connection_of_several_counts_no_longer(void **state)
{
    struct watermark w;
    struct feed a = {0}, b = {0};

    (void)state;
    begin(&w, 0, 1000);
    watermark_open(&w, &a, SIDE_LEFT);
    watermark_open(&w, &b, SIDE_LEFT);
    watermark_record(&w, &a, (struct stream_time){100});
    clock_at(&w, 600);
    watermark_record(&w, &b, (struct stream_time){5000});
    assert_int_equal(w.side[SIDE_LEFT].own.ms, 99);
    clock_at(&w, 1000);
    assert_true(a.idle);
    assert_false(w.side[SIDE_LEFT].idle);
    assert_int_equal(w.side[SIDE_LEFT].own.ms, 4999);
}

static void connections_that_became_idle_did_so_one_after_the_other(void **state)
{
    struct watermark w;
    struct feed slow = {0}, fast = {0};

    (void)state;
    begin(&w, 0, 1000);
    watermark_open(&w, &slow, SIDE_LEFT);
    watermark_open(&w, &fast, SIDE_LEFT);
    watermark_record(&w, &slow, (struct stream_time){100});
    clock_at(&w, 600);
    watermark_record(&w, &fast, (struct stream_time){5000});
    clock_at(&w, 100000); /* found out long after both */
    assert_true(w.side[SIDE_LEFT].idle);
    assert_int_equal(w.side[SIDE_LEFT].own.ms, 4999);
    assert_int_equal(w.reached.ms, 4999 + 100000 - 1600);
}

static void a_connection_with_something_unread_is_not_idle(void **state)
{
    struct watermark w;
    struct feed l = {0}, r = {0};

    (void)state;
    begin(&w, 0, 1000);
    watermark_open(&w, &l, SIDE_LEFT);
    watermark_open(&w, &r, SIDE_RIGHT);
    watermark_record(&w, &l, (struct stream_time){5000});
    watermark_unread(&w, &r);
    clock_at(&w, 100000); /* as after a long suspension: what came was not read yet */
    assert_false(w.side[SIDE_RIGHT].idle);
    assert_true(w.side[SIDE_LEFT].idle);
    assert_int_equal(watermark_wake(&w, STREAM_TIME_MAX).ms, INT64_MAX); /* no use */
    watermark_read(&w, &r, false); /* and there was no record in it */
    clock_at(&w, 100001);
    assert_true(w.side[SIDE_RIGHT].idle);
}

static void a_connection_that_closes_unread_hinders_its_side_no_longer(void **state)
{
    struct watermark w;
    struct feed l = {0}, r = {0};

    (void)state;
    begin(&w, 0, 1000);
    watermark_open(&w, &l, SIDE_LEFT);
    watermark_open(&w, &r, SIDE_RIGHT);
    watermark_record(&w, &l, (struct stream_time){5000});
    watermark_record(&w, &r, (struct stream_time){9000});
    watermark_unread(&w, &l);
    clock_at(&w, 1500);
    watermark_close(&w, &l); /* without a connection, a side counts from its last record */
    clock_at(&w, 1500);
    assert_true(w.side[SIDE_LEFT].idle);
}

static void after_a_hold_idle_time_counts_anew(void **state)
{
    struct watermark w;
    struct feed l = {0};

    (void)state;
    begin(&w, 0, 1000);
    watermark_open(&w, &l, SIDE_LEFT);
    watermark_record(&w, &l, (struct stream_time){5000});
    watermark_unread(&w, &l);
    clock_at(&w, 5000);
    watermark_read(&w, &l, true);
    clock_at(&w, 5999);
    assert_false(w.side[SIDE_LEFT].idle);
    assert_int_equal(watermark_wake(&w, STREAM_TIME_MAX).ms, 6000);
    clock_at(&w, 6000);
    assert_true(w.side[SIDE_LEFT].idle);
    assert_true(w.side[SIDE_RIGHT].idle); /* nobody held that side back */
}

static void a_side_without_connections_stays_until_idle_passes(void **state)
{
    struct watermark w;
    struct feed l = {0}, r = {0};

    (void)state;
    begin(&w, 0, 1000);
    watermark_open(&w, &l, SIDE_LEFT);
    watermark_open(&w, &r, SIDE_RIGHT);
    clock_at(&w, 200);
    watermark_record(&w, &l, (struct stream_time){1000});
    watermark_close(&w, &l);
    clock_at(&w, 900);
    watermark_record(&w, &r, (struct stream_time){70000});
    assert_int_equal(w.reached.ms, 999);
    clock_at(&w, 1199);
    assert_int_equal(w.reached.ms, 999);
    clock_at(&w, 1200); /* since its last record */
    assert_int_equal(w.reached.ms, 69999);
}

static void nobody_is_idle_before_the_ready_line_or_with_idle_off(void **state)
{
    struct watermark w, off;

    (void)state;
    watermark_init(&w, (int64_t[SIDES]){0, 0}, (int64_t[SIDES]){0, 0});
    clock_at(&w, 1000000);
    assert_false(w.side[SIDE_LEFT].idle);
    watermark_count_anew(&w, (struct mono_time){1000000});
    clock_at(&w, 1000000);
    assert_true(w.side[SIDE_LEFT].idle);
    begin(&off, 0, WATERMARK_NEVER);
    clock_at(&off, 1000000);
    assert_false(off.side[SIDE_LEFT].idle);
    assert_int_equal(watermark_wake(&off, STREAM_TIME_MAX).ms, INT64_MAX);
    begin(&off, 0, 1000);
    watermark_never_idle(&off, SIDE_LEFT);
    clock_at(&off, 1000000);
    assert_false(off.side[SIDE_LEFT].idle);
    assert_true(off.side[SIDE_RIGHT].idle);
}

/* --- time that moves with the clock --- */

static void when_all_are_idle_time_goes_to_the_highest_and_on_with_the_clock(void **state)
{
    struct watermark w;
    struct feed l = {0}, r = {0};

    (void)state;
    begin(&w, 0, 1000);
    watermark_open(&w, &l, SIDE_LEFT);
    watermark_open(&w, &r, SIDE_RIGHT);
    watermark_record(&w, &l, (struct stream_time){15000});
    watermark_record(&w, &r, (struct stream_time){2000});
    clock_at(&w, 1000);
    assert_int_equal(w.reached.ms, 14999);
    assert_int_equal(watermark_wake(&w, (struct stream_time){19999}).ms, 6000);
    assert_int_equal(watermark_wake(&w, (struct stream_time){10}).ms, 1000);
    clock_at(&w, 6000);
    assert_int_equal(w.reached.ms, 19999);
    watermark_record(
        &w, &r,
        (struct stream_time){16000}); /* right counts, left does not: its word alone counts */
    assert_int_equal(w.reached.ms, 19999);
    clock_at(&w, 6900);
    assert_int_equal(w.reached.ms, 19999);
    watermark_record(&w, &r, (struct stream_time){30000});
    assert_int_equal(w.reached.ms, 29999);
}

static void without_any_record_there_is_no_time(void **state)
{
    struct watermark w;

    (void)state;
    begin(&w, 0, 1000);
    clock_at(&w, 50000);
    assert_true(w.side[SIDE_LEFT].idle && w.side[SIDE_RIGHT].idle);
    assert_int_equal(w.reached.ms, NONE);
}

static void a_monotonic_clock_told_backward_changes_nothing(void **state)
{
    struct watermark w;
    struct feed l = {0};

    (void)state;
    begin(&w, 0, 1000);
    watermark_open(&w, &l, SIDE_LEFT);
    watermark_record(&w, &l, (struct stream_time){5000});
    clock_at(&w, 3000); /* both were idle at 1000, whenever that is found out */
    assert_int_equal(w.reached.ms, 6999);
    clock_at(&w, 2000);
    assert_int_equal(w.reached.ms, 6999);
}

/* --- who comes next --- */

static void the_side_that_is_behind_has_the_turn(void **state)
{
    struct watermark w;
    struct feed l = {0}, r = {0};

    (void)state;
    begin(&w, 0, WATERMARK_NEVER);
    watermark_open(&w, &l, SIDE_LEFT);
    watermark_open(&w, &r, SIDE_RIGHT);
    assert_true(watermark_has_turn(&w, SIDE_LEFT)); /* none yet: left */
    assert_false(watermark_has_turn(&w, SIDE_RIGHT));
    watermark_record(&w, &l, (struct stream_time){1000});
    assert_false(watermark_has_turn(&w, SIDE_LEFT));
    assert_true(watermark_has_turn(&w, SIDE_RIGHT));
    watermark_record(&w, &r, (struct stream_time){1000}); /* equal: left */
    assert_true(watermark_has_turn(&w, SIDE_LEFT));
    assert_false(watermark_has_turn(&w, SIDE_RIGHT));
    watermark_end(&w, SIDE_LEFT);
    assert_true(watermark_has_turn(&w, SIDE_RIGHT));
}

static void time_waits_for_the_feeds_that_are_behind(void **state)
{
    struct watermark w;
    struct feed l = {0}, slow = {0}, fast = {0};

    (void)state;
    begin(&w, 0, WATERMARK_NEVER);
    watermark_open(&w, &l, SIDE_LEFT);
    watermark_open(&w, &slow, SIDE_RIGHT);
    watermark_open(&w, &fast, SIDE_RIGHT);
    watermark_record(&w, &l, (struct stream_time){9000});
    watermark_record(&w, &slow, (struct stream_time){1000});
    watermark_record(&w, &fast, (struct stream_time){5000});
    assert_false(watermark_holds_back(&w, SIDE_LEFT, &l));
    assert_true(watermark_holds_back(&w, SIDE_RIGHT, &slow));
    assert_false(watermark_holds_back(&w, SIDE_RIGHT, &fast));
    assert_true(watermark_holds_back(&w, SIDE_RIGHT, NULL));
    watermark_end(&w, SIDE_RIGHT);
    assert_true(watermark_holds_back(&w, SIDE_LEFT, &l));
}

/* --- records that need not be told one by one --- */

static void a_feed_alone_is_calm_until_its_side_would_come_there(void **state)
{
    struct watermark w;
    struct feed l = {0}, r = {0};

    (void)state;
    begin(&w, 100, WATERMARK_NEVER);
    watermark_open(&w, &l, SIDE_LEFT);
    watermark_open(&w, &r, SIDE_RIGHT);
    assert_int_equal(calm(&w, &l, 2000), NONE); /* its first record is one to tell */
    watermark_record(&w, &l, (struct stream_time){1000});
    assert_int_equal(calm(&w, &l, 2000), INT64_MAX); /* the right side holds time */
    watermark_record(&w, &r, (struct stream_time){1500});
    assert_int_equal(calm(&w, &r, 2000), INT64_MAX);
    assert_int_equal(calm(&w, &l, 2000), 1500); /* then it comes up to the right one */
    watermark_record(&w, &l, (struct stream_time){1500});
    assert_int_equal(calm(&w, &l, 2000), 1501); /* then it is ahead */
    watermark_record(&w, &l, (struct stream_time){1501});
    assert_int_equal(calm(&w, &l, 2000), INT64_MAX);
    watermark_end(&w, SIDE_RIGHT);
    assert_int_equal(calm(&w, &l, 2000), 2101);
    watermark_record(&w, &l, (struct stream_time){2100});
    assert_int_equal(w.reached.ms, 1999);
    watermark_record(&w, &l, (struct stream_time){2101});
    assert_int_equal(w.reached.ms, 2000);
}

static void a_feed_behind_others_is_calm_until_it_is_past_the_next(void **state)
{
    struct watermark w;
    struct feed a = {0}, b = {0};

    (void)state;
    begin(&w, 0, WATERMARK_NEVER);
    watermark_end(&w, SIDE_RIGHT);
    watermark_open(&w, &a, SIDE_LEFT);
    watermark_open(&w, &b, SIDE_LEFT);
    watermark_record(&w, &a, (struct stream_time){200});
    watermark_record(&w, &b, (struct stream_time){500});
    assert_int_equal(calm(&w, &a, 2000), NONE); /* another feed pushes */
    watermark_record(&w, &a, (struct stream_time){200});
    assert_int_equal(calm(&w, &a, 2000), 501);
    watermark_record(&w, &a, (struct stream_time){500});
    assert_true(watermark_holds_back(&w, SIDE_LEFT, &a));
    watermark_record(&w, &a, (struct stream_time){501});
    assert_false(watermark_holds_back(&w, SIDE_LEFT, &a));
    assert_int_equal(calm(&w, &a, 2000), INT64_MAX); /* time waits for the other */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_is_the_lower_sides_highest_less_delay_less_one),
        cmocka_unit_test(delays_are_a_sides_own_and_times_may_be_negative),
        cmocka_unit_test(a_side_is_as_far_as_its_slowest_connection),
        cmocka_unit_test(a_connection_that_closes_counts_no_longer),
        cmocka_unit_test(an_ended_side_is_at_the_end_of_time),
        cmocka_unit_test(ended_and_idle_together_never_make_the_end),
        cmocka_unit_test(an_idle_side_holds_nothing_back_until_its_next_record),
        cmocka_unit_test(one_idle_connection_of_several_counts_no_longer),
        cmocka_unit_test(connections_that_became_idle_did_so_one_after_the_other),
        cmocka_unit_test(a_connection_with_something_unread_is_not_idle),
        cmocka_unit_test(a_connection_that_closes_unread_hinders_its_side_no_longer),
        cmocka_unit_test(after_a_hold_idle_time_counts_anew),
        cmocka_unit_test(a_side_without_connections_stays_until_idle_passes),
        cmocka_unit_test(nobody_is_idle_before_the_ready_line_or_with_idle_off),
        cmocka_unit_test(when_all_are_idle_time_goes_to_the_highest_and_on_with_the_clock),
        cmocka_unit_test(without_any_record_there_is_no_time),
        cmocka_unit_test(a_monotonic_clock_told_backward_changes_nothing),
        cmocka_unit_test(the_side_that_is_behind_has_the_turn),
        cmocka_unit_test(time_waits_for_the_feeds_that_are_behind),
        cmocka_unit_test(a_feed_alone_is_calm_until_its_side_would_come_there),
        cmocka_unit_test(a_feed_behind_others_is_calm_until_it_is_past_the_next),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
