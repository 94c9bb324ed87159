#include "window_join_fixture.h"

/* --- when windows fire --- */

static void nothing_is_due_where_nothing_is(void **state)
{
    struct join_fixture *f = open_join(PLAN());

    (void)state;
    assert_sound(f);
    assert_int_equal(due(f), INT64_MAX);
    assert_false(op->has_work(f->join));
    assert_string_equal(drain(f), "");
    advance(f, 5);
    assert_string_equal(end(f), "");
    assert_int_equal(due(f), INT64_MAX);
    close_join(f);
}

/* W2 of semantics.md. */
static void a_window_fires_when_time_reaches_its_end(void **state)
{
    struct join_fixture *f = open_join(PLAN());

    (void)state;
    push(f, SIDE_LEFT, 1000, "k,a,");
    push(f, SIDE_RIGHT, 2000, "k,x,");
    push(f, SIDE_LEFT, 9999, "y,b,");
    push(f, SIDE_RIGHT, 9999, "z,c,");
    advance(f, 9999);
    assert_int_equal(due(f), 10000);
    assert_string_equal(drain(f), "");
    advance(f, 10000);
    push(f, SIDE_LEFT, 10000, "y,d,");
    push(f, SIDE_RIGHT, 10000, "z,e,");
    assert_true(op->has_work(f->join));
    assert_string_equal(drain(f), "[0,10000)(a,x)");
    assert_int_equal(due(f), 20000);
    assert_string_equal(end(f), "");
    close_join(f);
}

static void windows_part_records_and_each_is_padded_alone(void **state)
{
    struct join_fixture *f = open_join(PLAN(.type = JOIN_FULL));

    (void)state;
    push(f, SIDE_LEFT, 9999, "k,a,");
    push(f, SIDE_RIGHT, 10000, "k,x,");
    assert_string_equal(end(f), "[0,10000)(a,null)[10000,20000)(null,x)");
    close_join(f);
}

/* W6 and W6o of semantics.md. */
static void windows_may_be_negative_and_shifted(void **state)
{
    struct join_fixture *f = open_join(PLAN(.type = JOIN_FULL));
    struct join_fixture *shifted = open_join(PLAN(.type = JOIN_FULL, .offset_ms = 3000));

    (void)state;
    push(f, SIDE_LEFT, -1, "k,a,");
    push(f, SIDE_RIGHT, -10000, "k,x,");
    push(f, SIDE_RIGHT, 0, "k,y,");
    assert_string_equal(end(f), "[-10000,0)(a,x)[0,10000)(null,y)");
    close_join(f);

    push(shifted, SIDE_LEFT, 2999, "k,a,");
    push(shifted, SIDE_RIGHT, 3000, "k,x,");
    push(shifted, SIDE_RIGHT, -6999, "k,y,");
    push(shifted, SIDE_RIGHT, -7000, "k,z,");
    assert_string_equal(end(shifted), "[-7000,3000)(a,y)(a,z)[3000,13000)(null,x)");
    close_join(shifted);
}

static void windows_come_in_order_of_end_however_they_were_opened(void **state)
{
    struct join_fixture *f = open_join(PLAN(.type = JOIN_LEFT, .size_ms = 10));

    (void)state;
    push(f, SIDE_LEFT, 35, "k,d,");
    push(f, SIDE_LEFT, 15, "k,b,");
    push(f, SIDE_LEFT, 55, "k,f,");
    push(f, SIDE_LEFT, 5, "k,a,");
    push(f, SIDE_LEFT, 25, "k,c,");
    push(f, SIDE_LEFT, 45, "k,e,");
    push(f, SIDE_LEFT, 30, "k,d2,");
    assert_int_equal(f->join->open.panes.count, 6);
    assert_int_equal(due(f), 10);
    assert_string_equal(end(f),
                        "[0,10)(a,null)[10,20)(b,null)[20,30)(c,null)[30,40)(d,null)(d2,null)"
                        "[40,50)(e,null)[50,60)(f,null)");
    close_join(f);
}

static void time_may_reach_many_windows_at_once(void **state)
{
    struct join_fixture *f = open_join(PLAN(.type = JOIN_LEFT, .size_ms = 10));

    (void)state;
    push(f, SIDE_LEFT, 5, "k,a,");
    push(f, SIDE_LEFT, 15, "k,b,");
    push(f, SIDE_LEFT, 25, "k,c,");
    advance(f, 20);
    assert_int_equal(due(f), 30); /* the others are due already */
    assert_string_equal(drain(f), "[0,10)(a,null)[10,20)(b,null)");
    assert_int_equal(due(f), 30);
    advance(f, 29);
    assert_false(op->has_work(f->join));
    advance(f, 30);
    assert_true(op->has_work(f->join));
    assert_int_equal(due(f), INT64_MAX);
    assert_string_equal(drain(f), "[20,30)(c,null)");
    assert_false(op->has_work(f->join));
    close_join(f);
}

static void records_go_into_open_windows_while_another_is_walked(void **state)
{
    struct join_fixture *f = open_join(PLAN(.type = JOIN_FULL, .size_ms = 10));
    struct result r;

    (void)state;
    for (int i = 0; i < 3; i++)
        push(f, SIDE_LEFT, 5, "k,a,");
    push(f, SIDE_LEFT, 25, "k,c,");
    advance(f, 10);
    for (int64_t t = 10; t < 13; t++) {
        assert_int_equal(pull(f, &r, 1, ALL_FUEL), 1);
        assert_int_equal(r.window_start, 0);
        push(f, SIDE_RIGHT, t, "k,x,");
        push(f, SIDE_RIGHT, t + 10, "k,y,");
    }
    assert_true(op->has_work(f->join)); /* to give back what the last one points at */
    assert_string_equal(drain(f), "");
    assert_string_equal(end(f), "[10,20)(null,x)(null,x)(null,x)[20,30)(c,y)(c,y)(c,y)");
    close_join(f);
}

/* The directory is a queue: what leaves in front makes room behind. */
static void windows_open_and_close_for_a_long_time_in_little_memory(void **state)
{
    struct join_fixture *f = open_join(PLAN(.type = JOIN_LEFT, .size_ms = 10));
    uint64_t results = 0;

    (void)state;
    for (int64_t t = 0; t < 5000; t++) {
        advance(f, t);
        /* up to eight windows are open, opened in any order */
        push(f, SIDE_LEFT, t + 37 * t % 71, "k,a,");
        results += strlen(drain(f)) > 0;
        assert_true(f->join->open.panes.count <= 9);
        assert_true(f->join->open.panes.capacity <= 32);
    }
    assert_true(results >= 450);
    end(f);
    assert_int_equal(f->books.side[SIDE_LEFT].unmatched, 5000);
    assert_int_equal(f->books.results[RESULT_LEFT], 5000);
    close_join(f);
}

static void a_thousand_windows_opened_in_any_order(void **state)
{
    struct join_fixture *f = open_join(PLAN(.size_ms = 7, .offset_ms = 3));
    uint64_t seed = 1;

    (void)state;
    for (int i = 0; i < 4000; i++) {
        int64_t t = (int64_t)dice(&seed, 7000) - 3500;
        assert_true(push_line(f, i % 2 == 0 ? SIDE_LEFT : SIDE_RIGHT, t, BYTES_LIT("k,a,")));
    }
    assert_sound(f);
    assert_true(f->join->open.panes.count > 900);
    advance(f, 0);
    drain(f);
    assert_true(f->join->open.panes.count < 600 && pane_at(f, 0)->end > 0);
    assert_int_equal(due(f), pane_at(f, 0)->end);
    end(f);
    assert_int_equal(f->join->open.panes.count, 0);
    close_join(f);
}

static void a_pull_may_end_anywhere(void **state)
{
    static const size_t maxes[] = {1, 2, 64};
    static const int64_t fuels[] = {1, 3, 50};
    char *expected = NULL;

    (void)state;
    for (size_t i = 0; i <= COUNT_OF(maxes) * COUNT_OF(fuels); i++) {
        struct join_fixture *f = open_join(PLAN(.type = JOIN_FULL, .size_ms = 10));
        for (int t = 0; t < 40; t++) {
            push(f, SIDE_LEFT, t, t % 3 == 0 ? "k,a," : "m,b,");
            push(f, SIDE_RIGHT, t + 2, t % 4 == 0 ? ",x," : "m,y,");
        }
        if (i == 0)
            expected = mem_strdup(end(f));
        advance(f, INT64_MAX);
        if (i > 0)
            assert_string_equal(
                drain_by(f, maxes[(i - 1) % COUNT_OF(maxes)], fuels[(i - 1) / COUNT_OF(maxes)]),
                expected);
        close_join(f);
    }
    mem_free(expected);
}

static void nothing_is_done_without_fuel(void **state)
{
    struct join_fixture *f = open_join(PLAN(.type = JOIN_LEFT));
    struct result r;

    (void)state;
    push(f, SIDE_LEFT, 1, "k,a,");
    advance(f, 10000);
    assert_int_equal(pull(f, &r, 1, 0), 0);
    assert_int_equal(op->held(f->join, SIDE_LEFT), 1);
    assert_string_equal(drain(f), "[0,10000)(a,null)");
    close_join(f);
}

/* --- what is held --- */

static void what_is_held_is_counted_by_side_over_all_windows(void **state)
{
    struct join_fixture *f = open_join(PLAN(.type = JOIN_FULL, .size_ms = 10));

    (void)state;
    push(f, SIDE_LEFT, 1, "k,a,");
    push(f, SIDE_LEFT, 11, "k,b,");
    push(f, SIDE_RIGHT, 21, "k,x,");
    assert_int_equal(op->held(f->join, SIDE_LEFT), 2);
    assert_int_equal(op->held(f->join, SIDE_RIGHT), 1);
    advance(f, 10);
    drain(f);
    assert_int_equal(op->held(f->join, SIDE_LEFT), 1);
    assert_int_equal(op->held(f->join, SIDE_RIGHT), 1);
    end(f);
    assert_int_equal(op->held(f->join, SIDE_LEFT), 0);
    assert_int_equal(op->held(f->join, SIDE_RIGHT), 0);
    close_join(f);
}

/* What is used of a chunk is shortened by its last record: the record is there no more. */
static void lose_last_record(struct window_log *l)
{
    struct log_part *part = &l->parts[0];
    struct log_chunk *tail = part->chunks[part->count - 1];
    size_t stride = 0;

    for (uint32_t at = 0; at < part->used; at += (uint32_t)stride)
        stride = record_stride(log_chunk_record(tail, at));
    part->used -= (uint32_t)stride;
}

static void a_record_that_the_store_lost_is_missed(void **state)
{
    struct join_fixture *f = open_join(PLAN(.type = JOIN_FULL));

    (void)state;
    push(f, SIDE_LEFT, 1, "k,a,");
    push(f, SIDE_RIGHT, 2, "k,x,");
    push(f, SIDE_LEFT, 3, "k,b,");
    lose_last_record(&pane_at(f, 0)->side[SIDE_LEFT]);
    assert_int_equal(op->held(f->join, SIDE_LEFT), 2);
    assert_int_equal(operator_recount(op, f->join, SIDE_LEFT), 1);
    assert_int_equal(operator_recount(op, f->join, SIDE_RIGHT), 1);

    advance(f, 10000);
    while (op->has_work(f->join)) {
        struct result r;
        pull(f, &r, 1, ALL_FUEL);
    }
    assert_int_equal(op->held(f->join, SIDE_LEFT), 0);
    assert_false(books_balance(&f->books.side[SIDE_LEFT], op->held(f->join, SIDE_LEFT)));
    assert_true(books_balance(&f->books.side[SIDE_RIGHT], op->held(f->join, SIDE_RIGHT)));
    assert_int_equal(f->books.results[RESULT_PAIR], 1);
    close_join(f);
}

/* What comes later opens the same window anew: it meets only what also came later. */
static void what_is_flushed_is_due_whatever_the_time(void **state)
{
    struct join_fixture *f = open_join(PLAN(.type = JOIN_FULL));

    (void)state;
    push(f, SIDE_LEFT, 1, "k,a,");
    op->flush(f->join);
    assert_int_equal(due(f), INT64_MAX);
    push(f, SIDE_RIGHT, 2, "k,x,");
    push(f, SIDE_LEFT, 3, "k,b,");
    assert_sound(f);
    assert_int_equal(due(f), 10000);
    assert_string_equal(drain(f), "[0,10000)(a,null)");
    assert_string_equal(end(f), "[0,10000)(b,x)");
    close_join(f);
}

/* Else the order of results would depend on when somebody reads them. */
static void a_window_is_parted_as_the_one_before_walked_or_not(void **state)
{
    char line[64];

    (void)state;
    for (int walked = 0; walked < 2; walked++) {
        struct join_fixture *f = open_join(PLAN(.size_ms = 10));
        for (int i = 0; i < 4000; i++) {
            snprintf(line, sizeof(line), "%d,a,", i);
            assert_true(push_line(f, SIDE_LEFT, 0, bytes_of(line)));
        }
        advance(f, 10);
        if (walked)
            drain(f);
        push(f, SIDE_LEFT, 10, "k,a,");
        assert_int_equal(pane_at(f, walked ? 0 : 1)->side[SIDE_LEFT].bits, 4);
        end(f);
        close_join(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_due_where_nothing_is),
        cmocka_unit_test(a_window_fires_when_time_reaches_its_end),
        cmocka_unit_test(windows_part_records_and_each_is_padded_alone),
        cmocka_unit_test(windows_may_be_negative_and_shifted),
        cmocka_unit_test(windows_come_in_order_of_end_however_they_were_opened),
        cmocka_unit_test(time_may_reach_many_windows_at_once),
        cmocka_unit_test(records_go_into_open_windows_while_another_is_walked),
        cmocka_unit_test(windows_open_and_close_for_a_long_time_in_little_memory),
        cmocka_unit_test(a_thousand_windows_opened_in_any_order),
        cmocka_unit_test(a_pull_may_end_anywhere),
        cmocka_unit_test(nothing_is_done_without_fuel),
        cmocka_unit_test(what_is_held_is_counted_by_side_over_all_windows),
        cmocka_unit_test(a_record_that_the_store_lost_is_missed),
        cmocka_unit_test(a_window_is_parted_as_the_one_before_walked_or_not),
        cmocka_unit_test(what_is_flushed_is_due_whatever_the_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
