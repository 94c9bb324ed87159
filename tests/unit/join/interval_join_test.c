#include "interval_join_fixture.h"

/* A script, and what comes of it, however it is pulled; late(id) stands where the record
 * came. In the end nothing is left. */
static void assert_script(struct plan *(*plan)(void), const char *name, const char *script,
                          const char *expected)
{
    static const struct pulling patterns[] = {
        {RESULTS_MAX, ALL_FUEL, false}, {RESULTS_MAX, ALL_FUEL, true},
        {1, ALL_FUEL, false},           {1, ALL_FUEL, true},
        {RESULTS_MAX, 1, true},         {3, 25, true},
    };

    for (size_t i = 0; i < COUNT_OF(patterns); i++) {
        struct interval_fixture *f = open_interval(plan());
        f->pulling = patterns[i];
        run(f, script);
        if (strcmp(buf_text(&f->told), expected) != 0)
            fail_msg("%s, pulled in way %zu: \"%s\" is not \"%s\"", name, i, buf_text(&f->told),
                     expected);
        advance(f, INT64_MAX);
        drain(f);
        assert_empty(f);
        assert_sound(f);
        close_interval(f);
    }
}

/* A join in words (`left -5..10 grace 5 nokey on right.ok`), a script, and what comes. */
struct script_row {
    const char *name, *join, *script, *expected;
};

static enum time_kind row_time;
static const char *row_join;

static enum join_type type_of(const char *word)
{
    enum join_type t = 0;

    while (strcmp(join_type_word(t), word) != 0)
        t++;
    return t;
}

static struct plan *plan_of_row(void)
{
    const char *grace = strstr(row_join, " grace "), *on = strstr(row_join, " on ");
    const char *key = strstr(row_join, " nokey") != NULL ? "" : NULL;
    int64_t lower, upper;
    char type[16];

    assert_int_equal(sscanf(row_join, "%15s %" SCNd64 "..%" SCNd64, type, &lower, &upper), 3);
    return INTERVAL_PLAN(.time = row_time, .type = type_of(type), .lower_ms = lower,
                         .upper_ms = upper,
                         .grace_ms = grace == NULL ? 0 : strtoll(grace + 7, NULL, 10),
                         .on = on == NULL ? NULL : on + 4, .key = {key, key});
}

static void assert_rows(enum time_kind time, const struct script_row *rows, size_t n)
{
    row_time = time;
    for (size_t i = 0; i < n; i++) {
        row_join = rows[i].join;
        assert_script(plan_of_row, rows[i].name, rows[i].script, rows[i].expected);
    }
}

/* --- the vectors of semantics.md section 8 --- */

static void the_vectors_hold(void **state)
{
    static const struct script_row rows[] = {
        {"I1", "full -1000..2000",
         "R 10000 k x; L 7999 k a; L 8000 k b; L 11000 k c; L 11001 k d; EOI",
         "(b,x)(c,x)(a,null)(d,null)"},
        {"I2", "left -1000..2000", "L 10000 k a; wm 12000; R 12000 k x", "(a,x)"},
        {"I2, one later", "left -1000..2000", "L 10000 k a; wm 12001; R 12000 k x", "(a,null)"},
        {"I3", "left -5000..5000", "R 10000 k x; wm 14000; L 9000 k a", "(a,x)"},
        {"I5, at 6001", "left 0..1000", "L 9000 k a; L 5000 k b; wm 6001", "(b,null)"},
        {"I5, at 10000", "left 0..1000", "L 9000 k a; L 5000 k b; wm 6001; wm 10000", "(b,null)"},
        {"I5, at 10001", "left 0..1000", "L 9000 k a; L 5000 k b; wm 6001; wm 10001",
         "(b,null)(a,null)"},
        {"I6, at 500", "left 0..1000", "L -500 k z; L 0 k a; wm 500", ""},
        {"I6, at 600", "left 0..1000", "L -500 k z; L 0 k a; wm 600", "(z,null)"},
        {"I6", "left 0..1000", "L -500 k z; L 0 k a; wm 600; wm 99999", "(z,null)(a,null)"},
        {"I8", "left 0..100", "L 1000 k a; R 999 k x; R 1000 k y; EOI", "(a,y)"},
        {"I9", "left -5000..0", "L 1000 k a; L 100000 k b; R 100000 k x; EOI", "(a,null)(b,x)"},
        {"D2", "inner -1000..1000", "L 1000 k a; wm 1400; R 1500 k x", "(a,x)"},
    };

    (void)state;
    assert_rows(TIME_EVENT, rows, COUNT_OF(rows));
}

/* --- both ends, both sides --- */

static void both_ends_are_included(void **state)
{
    static const struct script_row rows[] = {
        {"left first", "inner -10..20", "L 100 k a; R 89 k w; R 90 k x; R 120 k y; R 121 k z",
         "(a,x)(a,y)"},
        {"right first", "inner -10..20", "R 100 k x; L 79 k a; L 80 k b; L 110 k c; L 111 k d",
         "(b,x)(c,x)"},
        {"a point", "inner 5..5", "L 100 k a; R 104 k x; R 105 k y; R 106 k z", "(a,y)"},
        {"only after", "inner 5..8", "R 107 k x; L 98 k a; L 99 k b; L 102 k c; L 103 k d",
         "(b,x)(c,x)"},
        {"only before", "inner -8..-5", "L 107 k a; R 98 k w; R 99 k x; R 102 k y; R 103 k z",
         "(a,x)(a,y)"},
    };

    (void)state;
    assert_rows(TIME_EVENT, rows, COUNT_OF(rows));
}

static void pairs_come_with_the_second_record_in_order_of_arrival(void **state)
{
    static const struct script_row rows[] = {
        {"by arrival, not by time", "inner -50..50", "R 120 k x; R 90 k y; R 100 k z; L 100 k a",
         "(a,x)(a,y)(a,z)"},
        {"either side", "inner -50..50", "R 100 k x; L 100 k a; L 101 k b; R 101 k y",
         "(a,x)(b,x)(a,y)(b,y)"},
        {"of equal keys", "inner -50..50", "R 100 k x; R 100 j y; L 100 j a; L 100 k b; L 100 i c",
         "(a,y)(b,x)"},
        {"without a key all are equal", "inner -50..50 nokey", "R 100 k x; R 100 null y; L 100 j a",
         "(a,x)(a,y)"},
        {"the same record twice", "inner 0..0", "L 1 k a; L 1 k a; R 1 k x", "(a,x)(a,x)"},
    };

    (void)state;
    assert_rows(TIME_EVENT, rows, COUNT_OF(rows));
}

/* --- leaving --- */

static void padding_comes_in_order_of_instant_then_left_then_arrival(void **state)
{
    static const struct script_row rows[] = {
        /* left leaves at t + 11, right at t + 6 */
        {"by instant", "full -5..10", "L 100 k a; R 50 i w; R 104 j x; R 105 j y; L 99 j b; EOI",
         "(null,w)(b,x)(b,y)(a,null)"},
        {"left before right", "full -5..10", "R 105 j x; L 100 k a; R 105 i y; L 100 h b; EOI",
         "(a,null)(b,null)(null,x)(null,y)"},
        {"a jump of time", "full 0..0", "L 30 k a; R 20 k x; L 10 k b; R 40 k y; wm 35",
         "(b,null)(null,x)(a,null)"},
        {"before the pairs of the record that brought it", "left -5..5",
         "L 100 k a; L 200 k b; R 200 k x; EOI", "(a,null)(b,x)"},
        {"right joins pad right rows", "right 0..5", "L 100 k a; R 99 k x; R 105 k y; EOI",
         "(a,y)(null,x)"},
        {"inner joins pad nothing", "inner 0..5", "L 100 k a; R 99 k x; EOI", ""},
    };

    (void)state;
    assert_rows(TIME_EVENT, rows, COUNT_OF(rows));
}

static void grace_keeps_records_for_longer(void **state)
{
    static const struct script_row rows[] = {
        {"left within", "left 0..10 grace 5", "L 100 k a; wm 115; R 110 k x", "(a,x)"},
        {"left beyond", "left 0..10 grace 5", "L 100 k a; wm 116; R 110 k x", "(a,null)late(x)"},
        {"right within", "right -10..0 grace 5", "R 100 k x; wm 115; L 110 k a", "(a,x)"},
        {"right beyond", "right -10..0 grace 5", "R 100 k x; wm 116; L 110 k a", "(null,x)late(a)"},
    };

    (void)state;
    assert_rows(TIME_EVENT, rows, COUNT_OF(rows));
}

static void null_keys_match_nothing(void **state)
{
    static const struct script_row rows[] = {
        {"full", "full -5..5", "L 1 null a; R 1 null x; L 1 k b; R 2 k y; EOI",
         "(b,y)(a,null)(null,x)"},
        {"anti", "anti -5..5", "L 1 null a; R 1 k x; L 1 k b; EOI", "(a)"},
        {"left", "left -5..5", "L 1 null a; R 1 k x; EOI", "(a,null)"},
        {"late", "left -5..5", "wm 100; L 1 null a", "(a,null)"},
        {"not late, but the last", "right 5..9", "wm 100; R 101 null x", "(null,x)"},
    };

    (void)state;
    assert_rows(TIME_EVENT, rows, COUNT_OF(rows));
}

/* --- late records --- */

static void late_records_find_the_partners_that_are_there(void **state)
{
    static const struct script_row rows[] = {
        {"and are kept while more may come", "left -50..50",
         "R 100 k x; wm 140; L 100 k a; R 141 k y; EOI", "(a,x)(a,y)"},
        {"kept without a partner", "left -50..50", "wm 140; L 100 k a; R 141 k y; EOI", "(a,y)"},
        {"the last instant at which it is kept", "left -50..50", "wm 150; L 100 k a; R 150 k x",
         "(a,x)"},
        {"one later it is padded at once", "left -50..50", "wm 151; L 100 k a; R 150 k x; EOI",
         "(a,null)"},
        {"or is late", "inner -50..50", "wm 151; L 100 k a; R 150 k x; EOI", "late(a)"},
        {"not kept, but matched", "inner -50..10",
         "R 105 k x; R 106 k y; wm 111; L 100 k a; R 107 k z; EOI", "(a,x)(a,y)"},
        {"not kept, matched, padded side", "full -50..10", "R 105 k x; wm 111; L 100 k a; EOI",
         "(a,x)"},
        {"a partner out of its bounds is none", "inner -50..10", "R 111 k x; wm 111; L 100 k a",
         "late(a)"},
        {"a partner of another key is none", "inner -50..10", "R 105 j x; wm 111; L 100 k a",
         "late(a)"},
        {"right too", "inner -10..50", "L 100 k a; wm 111; R 100 k x; R 99 j y; R 151 k z",
         "(a,x)late(y)"},
        {"right padded at once", "right -10..50", "L 100 k a; wm 111; R 100 k x; R 99 j y",
         "(a,x)(null,y)"},
        {"of left joins right ones are late", "left -10..50", "wm 111; R 99 j y", "late(y)"},
    };

    (void)state;
    assert_rows(TIME_EVENT, rows, COUNT_OF(rows));
}

/* It is not late, t being ahead of time, and yet its partners would all be late. */
static void a_record_in_time_may_be_one_that_no_partner_can_follow(void **state)
{
    static const struct script_row rows[] = {
        {"unmatched", "inner 50..90", "wm 100; R 101 k x; EOI", ""},
        {"padded at once", "right 50..90", "wm 100; R 101 k x", "(null,x)"},
        {"matched", "full 50..90", "L 51 k a; wm 101; R 102 k x; R 101 k y; EOI", "(a,x)(a,y)"},
        {"none in its bounds", "inner 50..90", "L 53 k a; wm 101; R 102 k x; EOI", ""},
        {"left too", "left -90..-50", "R 51 k x; wm 101; L 102 k a; L 100 k b; L 160 k c; EOI",
         "(a,x)(b,null)(c,null)"},
    };

    (void)state;
    assert_rows(TIME_EVENT, rows, COUNT_OF(rows));
}

/* --- semi and anti --- */

static void semi_passes_a_left_row_once_at_its_first_match(void **state)
{
    static const struct script_row rows[] = {
        {"right first", "semi -5..5", "R 1 k x; R 2 k y; L 3 k a; L 3 j b; EOI", "(a)"},
        {"left first", "semi -5..5", "L 1 k a; L 2 k b; L 3 j c; R 4 k x; R 5 k y; EOI", "(a)(b)"},
        {"late", "semi -50..10", "R 105 k x; wm 111; L 100 k a; L 100 j b", "(a)late(b)"},
        {"a late right one that decides", "semi -10..50",
         "L 100 k a; L 100 k b; wm 111; R 100 k x; R 100 k y", "(a)(b)late(y)"},
    };

    (void)state;
    assert_rows(TIME_EVENT, rows, COUNT_OF(rows));
}

static void anti_passes_left_rows_that_leave_without_a_match(void **state)
{
    static const struct script_row rows[] = {
        {"at its instant", "anti -5..5", "L 10 k a; L 10 j b; R 12 k x; wm 16", "(b)"},
        {"not before", "anti -5..5", "L 10 j b; wm 15", ""},
        {"late, at once", "anti -5..5", "wm 100; L 10 k a", "(a)"},
        {"late and matched", "anti -50..10", "R 105 k x; wm 111; L 100 k a; EOI", ""},
        {"late right ones", "anti -10..50", "L 100 k a; wm 111; R 100 k x; R 100 k y; EOI",
         "late(y)"},
    };

    (void)state;
    assert_rows(TIME_EVENT, rows, COUNT_OF(rows));
}

static void assert_fates(const struct interval_fixture *f, enum side side, uint64_t matched,
                         uint64_t unmatched, uint64_t late, uint64_t held)
{
    assert_int_equal(f->books.side[side].matched, matched);
    assert_int_equal(f->books.side[side].unmatched, unmatched);
    assert_int_equal(f->books.side[side].late, late);
    assert_int_equal(op->held(f->join, side), held);
}

/* interface.md section 5: the first in order of arrival that satisfied it. */
static void of_semi_and_anti_a_right_record_matches_what_it_decided(void **state)
{
    static const enum join_type types[] = {JOIN_SEMI, JOIN_ANTI};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        struct interval_fixture *f =
            open_interval(EVENT_PLAN(.type = types[i], .lower_ms = -5, .upper_ms = 5));
        run(f, "R 1 k x; R 2 k y; L 3 k a");
        assert_fates(f, SIDE_LEFT, 1, 0, 0, 0);
        assert_fates(f, SIDE_RIGHT, 1, 0, 0, 1);
        run(f, "R 3 k z; L 4 k b");
        assert_fates(f, SIDE_LEFT, 2, 0, 0, 0);
        assert_fates(f, SIDE_RIGHT, 1, 0, 0, 2);
        run(f, "L 4 j c; R 4 j v; R 4 j w; EOI");
        assert_fates(f, SIDE_LEFT, 3, 0, 0, 0);
        assert_fates(f, SIDE_RIGHT, 2, 3, 0, 0);
        close_interval(f);
    }
}

static void fates_are_told_once_and_when_they_are_known(void **state)
{
    struct interval_fixture *f =
        open_interval(EVENT_PLAN(.type = JOIN_LEFT, .lower_ms = -5, .upper_ms = 5));

    (void)state;
    run(f, "L 100 k a; R 100 j x");
    assert_fates(f, SIDE_LEFT, 0, 0, 0, 1);
    assert_fates(f, SIDE_RIGHT, 0, 0, 0, 1);
    run(f, "L 100 j b; L 101 j c");
    assert_fates(f, SIDE_LEFT, 2, 0, 0, 1);
    assert_fates(f, SIDE_RIGHT, 1, 0, 0, 0);
    run(f, "R 101 i y; wm 106");
    assert_fates(f, SIDE_LEFT, 2, 1, 0, 0);
    assert_fates(f, SIDE_RIGHT, 1, 0, 0, 1);
    run(f, "wm 107; R 80 i z; L 80 i d");
    assert_fates(f, SIDE_LEFT, 2, 2, 0, 0);
    assert_fates(f, SIDE_RIGHT, 1, 1, 1, 0);
    close_interval(f);
}

/* --- on --- */

static void on_is_part_of_the_match(void **state)
{
    static const struct script_row rows[] = {
        {"left", "left -5..5 on right.ok",
         "R 1 k x true; R 1 k y false; R 1 k z; L 1 k a; R 2 k w true; EOI", "(a,x)(a,w)"},
        {"padded", "full -5..5 on right.ok", "R 1 k y false; L 1 k a; EOI", "(a,null)(null,y)"},
        {"semi", "semi -5..5 on right.ok",
         "R 1 k y false; L 1 k a; R 2 k x true; R 2 k w true; EOI", "(a)"},
        {"anti", "anti -5..5 on left.ok", "R 1 k y; L 1 k a true; L 1 k b false; EOI", "(b)"},
        {"late", "inner -50..10 on right.ok",
         "R 105 k x true; R 105 j y false; wm 111; L 100 k a; L 100 j b", "(a,x)late(b)"},
        {"late, and only the last is one", "inner -50..10 on right.ok",
         "R 105 k x false; R 105 k y true; wm 111; L 100 k a", "(a,y)"},
    };

    (void)state;
    assert_rows(TIME_EVENT, rows, COUNT_OF(rows));
}

static void pairs_of_which_on_fails_are_told_and_do_not_match(void **state)
{
    static const struct script_row rows[] = {
        {"left", "left -5..5 on 10 / right.n > 1",
         "R 1 k x true 0; R 1 k y true 1; L 1 k a; L 3 j b; R 2 j z true 0; EOI",
         "!(a,x)(a,y)!(b,z)(b,null)"},
        {"late, with a match", "inner -50..10 on 10 / right.n > 1",
         "R 105 k x true 0; R 105 k y true 1; wm 111; L 100 k a; L 100 j b", "!(a,x)(a,y)late(b)"},
        {"semi: none after the match", "semi -5..5 on 10 / right.n > 1",
         "R 1 k x true 0; R 1 k y true 1; R 1 k z true 0; L 1 k a; R 2 k w true 0", "!(a,x)(a)"},
    };

    (void)state;
    assert_rows(TIME_EVENT, rows, COUNT_OF(rows));
}

/* The record is the engine's to count, but the pair is told. */
static void a_late_record_whose_pairs_fail_is_late_and_they_are_told(void **state)
{
    struct interval_fixture *f =
        open_interval(EVENT_PLAN(.lower_ms = -50, .upper_ms = 10, .on = "10 / right.n > 1"));

    (void)state;
    run(f, "R 105 k x true 0; R 105 k y true 100; wm 111");
    assert_string_equal(run(f, "L 100 k a"), "!(a,x)late(a)");
    assert_fates(f, SIDE_LEFT, 0, 0, 1, 0);
    assert_fates(f, SIDE_RIGHT, 0, 0, 0, 2);
    assert_string_equal(run(f, "L 100 k b; EOI"), "!(b,x)late(b)");
    assert_fates(f, SIDE_LEFT, 0, 0, 2, 0);
    assert_fates(f, SIDE_RIGHT, 0, 2, 0, 0);
    assert_empty(f);
    close_interval(f);
}

/* --- processing time --- */

static void in_processing_time_nothing_is_late(void **state)
{
    static const struct script_row rows[] = {
        {"both ends", "full -10..20",
         "L 100 k a; R 120 k x; R 121 k y; L 130 k b; L 132 k c; wm 152; wm 153",
         "(a,x)(b,x)(b,y)(c,null)"},
        {"only after", "full 10..20", "L 100 k a; R 109 k w; R 110 k x; R 120 k y; R 121 k z",
         "(null,w)(a,x)(a,y)(null,z)"},
        {"only before", "full -20..-10", "R 100 k x; L 109 k a; L 110 k b; L 120 k c; L 121 k d",
         "(a,null)(b,x)(c,x)(d,null)"},
        {"at once", "full 0..0", "L 100 k a; R 100 k x; R 101 k y; L 101 j b; wm 102",
         "(a,x)(b,null)(null,y)"},
        {"semi", "semi 10..20", "L 100 k a; R 109 k w; R 110 k x; R 120 k y", "(a)"},
    };

    (void)state;
    assert_rows(TIME_PROCESSING, rows, COUNT_OF(rows));
}

static int64_t due(const struct interval_fixture *f)
{
    return op->due(f->join).ms;
}

static void due_is_when_the_next_record_leaves(void **state)
{
    struct interval_fixture *f =
        open_interval(INTERVAL_PLAN(.type = JOIN_LEFT, .lower_ms = -10, .upper_ms = 20));

    (void)state;
    assert_int_equal(due(f), INT64_MAX);
    run(f, "L 100 k a");
    assert_int_equal(due(f), 121);
    run(f, "R 105 j x"); /* it gives no row, but has to go */
    assert_int_equal(due(f), 116);
    assert_string_equal(run(f, "wm 116"), "");
    assert_int_equal(due(f), 121);
    assert_string_equal(run(f, "wm 120"), "");
    assert_string_equal(run(f, "wm 121"), "(a,null)");
    assert_empty(f);
    close_interval(f);
}

/* --- flush --- */

static void a_flush_decides_what_is_held_whatever_the_time(void **state)
{
    static const struct pulling patterns[] = {PULL_AT_ONCE, {1, 1, true}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(patterns); i++) {
        struct interval_fixture *f =
            open_interval(EVENT_PLAN(.type = JOIN_FULL, .lower_ms = -1000, .upper_ms = 1000));
        f->pulling = patterns[i];
        run(f, "L 100 k a; R 90 j x; L 80 i b; R 100 i y");
        assert_string_equal(run(f, "flush"), "(null,x)(a,null)");
        assert_empty(f);
        assert_string_equal(run(f, "L 200 k c; R 250 j z"), "");
        assert_int_equal(op->held(f->join, SIDE_LEFT), 1);
        assert_string_equal(run(f, "flush; flush"), "(c,null)(null,z)");
        assert_string_equal(run(f, "L 200 k d; R 250 k w; EOI"), "(d,w)");
        close_interval(f);
    }
}

static void a_flush_of_what_gives_no_rows_does_not_touch_what_comes_after(void **state)
{
    struct interval_fixture *f = open_interval(EVENT_PLAN(.lower_ms = -1000, .upper_ms = 1000));

    (void)state;
    f->pulling.lazy = true;
    op->flush(f->join);
    assert_int_equal(push(f, SIDE_LEFT, 1, BYTES_LIT("k,a,,,")), PUSH_ALL);
    assert_int_equal(push(f, SIDE_RIGHT, 1, BYTES_LIT("j,x,,,")), PUSH_ALL);
    op->flush(f->join);
    assert_int_equal(push(f, SIDE_RIGHT, 1, BYTES_LIT("k,y,,,")), PUSH_ALL);
    assert_int_equal(push(f, SIDE_LEFT, 1, BYTES_LIT("k,b,,,")), PUSH_ALL);
    drain(f);
    assert_string_equal(buf_text(&f->told), "(b,y)");
    assert_fates(f, SIDE_LEFT, 1, 1, 0, 0);
    close_interval(f);
}

/* --- what has to be pulled first --- */

static void a_record_waits_for_the_results_of_the_one_before(void **state)
{
    struct interval_fixture *f =
        open_interval(EVENT_PLAN(.type = JOIN_LEFT, .lower_ms = -5, .upper_ms = 5));

    (void)state;
    f->pulling = (struct pulling){1, ALL_FUEL, true};
    assert_int_equal(push_line(f, SIDE_LEFT, 1, BYTES_LIT("k,a,,,")), PUSH_ALL);
    assert_int_equal(push_line(f, SIDE_LEFT, 1, BYTES_LIT("k,b,,,")), PUSH_ALL);
    assert_false(op->has_work(f->join));
    assert_int_equal(push_line(f, SIDE_RIGHT, 2, BYTES_LIT("k,x,,,")), PUSH_ALL);
    assert_true(op->has_work(f->join));
    assert_int_equal(push_line(f, SIDE_RIGHT, 2, BYTES_LIT("j,y,,,")), PUSH_WORK_FIRST);
    pull(f);
    assert_int_equal(push_line(f, SIDE_RIGHT, 2, BYTES_LIT("j,y,,,")), PUSH_WORK_FIRST);
    pull(f);
    assert_string_equal(buf_text(&f->told), "(a,x)(b,x)");
    drain(f);
    assert_int_equal(push_line(f, SIDE_RIGHT, 2, BYTES_LIT("j,y,,,")), PUSH_ALL);
    close_interval(f);
}

static void records_of_one_push_are_taken_until_one_has_results(void **state)
{
    struct interval_fixture *f = open_interval(EVENT_PLAN(.lower_ms = -5, .upper_ms = 5));
    struct record_parts parts[4];
    size_t taken;

    (void)state;
    run(f, "L 1 k a");
    parts[0] = parts_of(f, SIDE_RIGHT, 1, BYTES_LIT("j,w,,,"));
    parts[1] = parts_of(f, SIDE_RIGHT, 1, BYTES_LIT("k,x,,,"));
    parts[2] = parts_of(f, SIDE_RIGHT, 1, BYTES_LIT("j,y,,,"));
    parts[3] = parts_of(f, SIDE_RIGHT, 7, BYTES_LIT("k,z,,,")); /* beyond a's bounds */
    assert_int_equal(op->push(f->join, SIDE_RIGHT, parts, 4, 0, &taken), PUSH_WORK_FIRST);
    assert_int_equal(taken, 2);
    f->books.side[SIDE_RIGHT].received += taken;
    drain(f);
    assert_int_equal(op->push(f->join, SIDE_RIGHT, parts + 2, 2, 2, &taken), PUSH_ALL);
    assert_int_equal(taken, 2);
    f->books.side[SIDE_RIGHT].received += taken;
    assert_false(op->has_work(f->join));
    assert_sound(f);
    close_interval(f);
}

/* Time that goes on record by record must not take a pull each time. */
static void what_leaves_without_a_row_takes_no_pull(void **state)
{
    struct interval_fixture *f = open_interval(INTERVAL_PLAN(.lower_ms = -10, .upper_ms = 10));
    char line[32];

    (void)state;
    f->pulling.lazy = true;
    for (int64_t t = 0; t < 20000; t++) {
        int n = snprintf(line, sizeof(line), "%" PRId64 ",a,,,", t);
        f->time = t;
        op->advance(f->join, (struct stream_time){t});
        assert_int_equal(push_line(f, (enum side)(t % 2), t, (struct bytes){line, (size_t)n}),
                         PUSH_ALL);
        assert_false(op->has_work(f->join));
    }
    assert_sound(f);
    assert_true(op->state_bytes(f->join) < 4096);
    close_interval(f);
}

static void an_operator_may_go_at_any_moment(void **state)
{
    (void)state;
    for (int64_t fuel = 0; fuel < 60; fuel++) {
        struct interval_fixture *f =
            open_interval(EVENT_PLAN(.type = JOIN_FULL, .lower_ms = -5, .upper_ms = 5));
        struct result results[4];
        int64_t left = fuel;
        run(f, "L 1 k a; R 1 k x; L 2 j b; L 3 k c; R 3 j y; L 4 null d");
        f->pulling.lazy = true;
        push(f, SIDE_RIGHT, 4, BYTES_LIT("k,z,,,"));
        advance(f, 9);
        op->pull(f->join, results, 4, &left);
        close_interval(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_vectors_hold),
        cmocka_unit_test(both_ends_are_included),
        cmocka_unit_test(pairs_come_with_the_second_record_in_order_of_arrival),
        cmocka_unit_test(padding_comes_in_order_of_instant_then_left_then_arrival),
        cmocka_unit_test(grace_keeps_records_for_longer),
        cmocka_unit_test(null_keys_match_nothing),
        cmocka_unit_test(late_records_find_the_partners_that_are_there),
        cmocka_unit_test(a_record_in_time_may_be_one_that_no_partner_can_follow),
        cmocka_unit_test(semi_passes_a_left_row_once_at_its_first_match),
        cmocka_unit_test(anti_passes_left_rows_that_leave_without_a_match),
        cmocka_unit_test(of_semi_and_anti_a_right_record_matches_what_it_decided),
        cmocka_unit_test(fates_are_told_once_and_when_they_are_known),
        cmocka_unit_test(on_is_part_of_the_match),
        cmocka_unit_test(pairs_of_which_on_fails_are_told_and_do_not_match),
        cmocka_unit_test(a_late_record_whose_pairs_fail_is_late_and_they_are_told),
        cmocka_unit_test(in_processing_time_nothing_is_late),
        cmocka_unit_test(due_is_when_the_next_record_leaves),
        cmocka_unit_test(a_flush_decides_what_is_held_whatever_the_time),
        cmocka_unit_test(a_flush_of_what_gives_no_rows_does_not_touch_what_comes_after),
        cmocka_unit_test(a_record_waits_for_the_results_of_the_one_before),
        cmocka_unit_test(records_of_one_push_are_taken_until_one_has_results),
        cmocka_unit_test(what_leaves_without_a_row_takes_no_pull),
        cmocka_unit_test(an_operator_may_go_at_any_moment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
