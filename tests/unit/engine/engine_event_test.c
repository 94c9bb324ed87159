/* The engine in event time, over tumbling windows; model/watermark has its own tests. */
#include "engine_fixture.h"

#define EVENT(...) PLAN(.time = TIME_EVENT, __VA_ARGS__)

static void watch(struct engine_fixture *f, int64_t mono_ms)
{
    engine_watch(f->engine, (struct mono_time){mono_ms});
    assert_balance(f);
}

static void time_is_the_records_and_not_the_clocks(void **state)
{
    struct engine_fixture *f = open_engine(EVENT(.type = JOIN_INNER));

    (void)state;
    push(f, SIDE_LEFT, 5000000, "k,a,,1000");
    push(f, SIDE_RIGHT, 5000000, "k,x,,2000");
    advance(f, 9000000);
    assert_string_equal(drain(f), "");
    assert_int_equal(engine_due(f->engine).ms, INT64_MAX);
    push(f, SIDE_LEFT, 9000000, "k,b,,10000");
    assert_string_equal(drain(f), "");
    push(f, SIDE_RIGHT, 9000000, "k,y,,10000");
    assert_string_equal(drain(f), "(a,x)");
    assert_int_equal(engine_time(f->engine).ms, 9999);
    assert_int_equal(engine_watermark(f->engine, SIDE_LEFT).ms, 9999);
    assert_string_equal(end(f), "(b,y)");
    close_engine(f);
}

static void a_late_row_is_marked_counted_and_measured(void **state)
{
    struct engine_fixture *f = open_engine(EVENT(.type = JOIN_FULL));
    struct batch *b = &f->batch[SIDE_LEFT];
    const struct books_side *books = &engine_books(f->engine)->side[SIDE_LEFT];

    (void)state;
    push(f, SIDE_LEFT, 0, "k,a,,25000");
    push(f, SIDE_RIGHT, 0, "k,x,,25000");
    assert_string_equal(drain(f), "");
    add_line(f, SIDE_LEFT, BYTES_LIT("k,late,,9999"));
    add_line(f, SIDE_LEFT, BYTES_LIT("k,good,,20000"));
    assert_int_equal(engine_push(f->engine, SIDE_LEFT, b, 0, at(0)), 2);
    assert_true(b->rows[0].late);
    assert_false(b->rows[1].late);
    assert_int_equal(b->late, 1);
    assert_string_equal(batch_detail(b, &b->rows[0]),
                        "its time 1970-01-01T00:00:09.999Z is 15s behind the watermark");
    assert_int_equal(books->late, 1);
    assert_int_equal(books->late_windows, 1);
    assert_int_equal(books->lateness.count, 1);
    assert_int_equal(books->lateness.sum_ms, 15000);
    assert_balance(f);
    batch_clear(b);
    assert_string_equal(end(f), "(a,x)(good,x)");
    close_engine(f);
}

static void filtered_rows_let_time_go_on_and_rejected_ones_do_not(void **state)
{
    struct engine_fixture *f =
        open_engine(EVENT(.type = JOIN_INNER, .where = {"ok", "ok"}, .max_ahead_ms = {1000, 1000}));

    (void)state;
    push(f, SIDE_LEFT, 0, "k,a,true,1");
    push(f, SIDE_RIGHT, 0, "k,x,true,1");
    push(f, SIDE_LEFT, 0, "k,b,true,30000 k,c,true,");
    push(f, SIDE_RIGHT, 0, "k,y,true,30000");
    assert_string_equal(drain(f), "");
    assert_int_equal(books_of(f, SIDE_LEFT).rejected, 2);
    push(f, SIDE_LEFT, 30000, "k,b,false,30000");
    push(f, SIDE_RIGHT, 30000, "k,y,,30000");
    assert_int_equal(books_of(f, SIDE_LEFT).filtered, 1);
    assert_string_equal(drain(f), "(a,x)");
    close_engine(f);
}

static void a_row_with_a_null_key_lets_time_go_on(void **state)
{
    struct engine_fixture *f = open_engine(EVENT(.type = JOIN_INNER));

    (void)state;
    push(f, SIDE_LEFT, 0, "k,a,,1 ,b,,10000");
    push(f, SIDE_RIGHT, 0, "k,x,,1 ,y,,10000");
    assert_string_equal(drain(f), "(a,x)");
    assert_int_equal(books_of(f, SIDE_LEFT).unmatched, 1);
    close_engine(f);
}

static void feeds_have_watermarks_of_their_own(void **state)
{
    struct engine_fixture *f = open_engine(EVENT(.type = JOIN_INNER));
    struct feed slow = {0}, fast = {0};

    (void)state;
    engine_feed_open(f->engine, &slow, SIDE_LEFT);
    engine_feed_open(f->engine, &fast, SIDE_LEFT);
    f->batch[SIDE_LEFT].feed = &slow;
    push(f, SIDE_LEFT, 0, "k,a,,1000");
    f->batch[SIDE_LEFT].feed = &fast;
    push(f, SIDE_LEFT, 0, "k,b,,50000");
    push(f, SIDE_RIGHT, 0, "k,x,,1000 k,y,,50000");
    assert_int_equal(engine_time(f->engine).ms, 999);
    assert_true(engine_awaits(f->engine, SIDE_LEFT, &slow));
    assert_false(engine_awaits(f->engine, SIDE_LEFT, &fast));
    assert_false(engine_awaits(f->engine, SIDE_RIGHT, NULL));
    engine_feed_close(f->engine, &slow);
    assert_true(engine_awaits(f->engine, SIDE_LEFT, &fast));
    assert_int_equal(engine_time(f->engine).ms, 49999);
    assert_string_equal(drain(f), "(a,x)");
    engine_feed_close(f->engine, &fast);
    close_engine(f);
}

static void an_idle_side_is_passed_over_and_then_time_goes_with_the_clock(void **state)
{
    struct engine_fixture *f = open_engine(EVENT(.type = JOIN_LEFT, .idle_ms = {2000, 1000}));

    (void)state;
    engine_count_idle_anew(f->engine, (struct mono_time){100});
    watch(f, 100);
    push(f, SIDE_LEFT, 0, "k,a,,1000");
    push(f, SIDE_RIGHT, 0, "k,x,,2000");
    push(f, SIDE_LEFT, 0, "k,b,,15000");
    assert_int_equal(engine_wake(f->engine).ms, 1100);
    watch(f, 1099);
    assert_string_equal(drain(f), "");
    watch(f, 1100);
    assert_true(engine_side_idle(f->engine, SIDE_RIGHT));
    assert_string_equal(drain(f), "(a,x)");
    watch(f, 2100); /* both are idle */
    assert_string_equal(drain(f), "");
    assert_int_equal(engine_wake(f->engine).ms, 2100 + 19999 - 14999);
    watch(f, 7100);
    assert_string_equal(drain(f), "(b,null)");
    close_engine(f);
}

static void one_ended_side_leaves_time_to_the_other(void **state)
{
    struct engine_fixture *f = open_engine(EVENT(.type = JOIN_RIGHT));

    (void)state;
    push(f, SIDE_RIGHT, 0, "k,x,,1000");
    engine_end(f->engine, SIDE_LEFT);
    push(f, SIDE_RIGHT, 0, "k,y,,10000");
    assert_string_equal(drain(f), "(null,x)");
    engine_end(f->engine, SIDE_RIGHT);
    assert_string_equal(drain(f), "(null,y)");
    close_engine(f);
}

static void a_replay_takes_rows_in_order_of_the_sides_watermarks(void **state)
{
    struct engine_fixture *f = open_engine(EVENT(.type = JOIN_INNER, .replay = true));
    struct batch *left = &f->batch[SIDE_LEFT], *right = &f->batch[SIDE_RIGHT];

    (void)state;
    add_line(f, SIDE_LEFT, BYTES_LIT("k,a,,1000"));
    add_line(f, SIDE_LEFT, BYTES_LIT("k,b,,3000"));
    add_line(f, SIDE_LEFT, BYTES_LIT("k,c,,4000"));
    add_line(f, SIDE_RIGHT, BYTES_LIT("k,x,,3000"));
    add_line(f, SIDE_RIGHT, BYTES_LIT("k,y,,9000"));
    assert_int_equal(engine_holds(f->engine, SIDE_RIGHT, NULL), ENGINE_OTHER);
    assert_int_equal(engine_push(f->engine, SIDE_RIGHT, right, 0, at(0)), 0);
    assert_int_equal(engine_holds(f->engine, SIDE_LEFT, NULL), ENGINE_TAKES);
    assert_int_equal(engine_push(f->engine, SIDE_LEFT, left, 0, at(0)), 1);
    assert_int_equal(engine_holds(f->engine, SIDE_LEFT, NULL), ENGINE_OTHER);
    assert_int_equal(engine_push(f->engine, SIDE_RIGHT, right, 0, at(0)), 1);
    assert_int_equal(engine_push(f->engine, SIDE_LEFT, left, 1, at(0)), 2);
    assert_int_equal(engine_push(f->engine, SIDE_RIGHT, right, 1, at(0)), 1);
    assert_int_equal(engine_holds(f->engine, SIDE_LEFT, NULL), ENGINE_TAKES);
    engine_end(f->engine, SIDE_LEFT); /* the right side has no one to wait for */
    assert_int_equal(engine_holds(f->engine, SIDE_RIGHT, NULL), ENGINE_TAKES);
    close_engine(f);
}

static size_t push_until_full(struct engine_fixture *f, enum side side, const char *time)
{
    size_t total = 0, taken;

    do {
        char line[64];
        snprintf(line, sizeof(line), "k,%0*d,,%s", 30, (int)total, time);
        add_line(f, side, bytes_of(line));
        taken = engine_push(f->engine, side, &f->batch[side], 0, at(0));
        batch_clear(&f->batch[side]);
        total += taken;
    } while (taken == 1);
    return total;
}

static void what_holds_time_back_is_taken_a_quarter_beyond_the_limit(void **state)
{
    uint64_t limit = 64 << 10;
    struct engine_fixture *f = open_engine(EVENT(.type = JOIN_FULL, .state_bytes_max = limit));

    (void)state;
    push(f, SIDE_LEFT, 0, "k,a,,5000");
    push(f, SIDE_RIGHT, 0, "k,x,,1000");
    assert_true(push_until_full(f, SIDE_LEFT, "6000") > 100); /* left is ahead */
    assert_int_equal(engine_holds(f->engine, SIDE_LEFT, NULL), ENGINE_FULL);
    assert_int_equal(engine_holds(f->engine, SIDE_RIGHT, NULL), ENGINE_TAKES);
    assert_false(engine_takes(f->engine));
    assert_true(engine_state_bytes(f->engine) <= limit);
    assert_true(push_until_full(f, SIDE_RIGHT, "1000") > 20); /* right is behind */
    assert_int_equal(engine_holds(f->engine, SIDE_RIGHT, NULL), ENGINE_FULL);
    assert_true(engine_state_bytes(f->engine) > limit);
    assert_true(engine_state_bytes(f->engine) <= limit + limit / 4 + 512);
    close_engine(f);
}

static void lateness_goes_to_the_bucket_that_holds_it(void **state)
{
    struct lateness l = {0};

    (void)state;
    lateness_add(&l, 0);
    lateness_add(&l, 100); /* at most 0.1 s */
    lateness_add(&l, 101);
    lateness_add(&l, 86400000);
    lateness_add(&l, 86400001); /* beyond the last */
    assert_int_equal(l.bucket[0], 2);
    assert_int_equal(l.bucket[1], 1);
    assert_int_equal(l.bucket[LATENESS_BUCKETS - 1], 1);
    assert_int_equal(l.count, 5);
    assert_int_equal(l.sum_ms, 2 * 86400000 + 202);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_is_the_records_and_not_the_clocks),
        cmocka_unit_test(a_late_row_is_marked_counted_and_measured),
        cmocka_unit_test(filtered_rows_let_time_go_on_and_rejected_ones_do_not),
        cmocka_unit_test(a_row_with_a_null_key_lets_time_go_on),
        cmocka_unit_test(feeds_have_watermarks_of_their_own),
        cmocka_unit_test(an_idle_side_is_passed_over_and_then_time_goes_with_the_clock),
        cmocka_unit_test(one_ended_side_leaves_time_to_the_other),
        cmocka_unit_test(a_replay_takes_rows_in_order_of_the_sides_watermarks),
        cmocka_unit_test(what_holds_time_back_is_taken_a_quarter_beyond_the_limit),
        cmocka_unit_test(lateness_goes_to_the_bucket_that_holds_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
