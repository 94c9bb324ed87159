#include "session_join_fixture.h"

/* --- what belongs together --- */

/* S1 and S2 of semantics.md. */
static void records_at_most_the_gap_apart_are_a_session(void **state)
{
    static const struct {
        int64_t gap;
        const char *records; /* side, time, id */
        const char *told;
    } rows[] = {
        {1000, "L1000a R2000x", "[1000,3000)(a,x)"},
        {1000, "L1000a R2001x", "[1000,2000)(a,null)[2001,3001)(null,x)"},
        {1500, "L1000a L4000b R2500x", "[1000,5500)(a,x)(b,x)"},
        {1, "L0a R0x R1y L2b", "[0,3)(a,x)(a,y)(b,x)(b,y)"},
        {1, "L0a R2x", "[0,1)(a,null)[2,3)(null,x)"},
        {10, "L-5a R5x R-16y", "[-16,-6)(null,y)[-5,15)(a,x)"},
        {10, "R5x L-5a R-15y", "[-15,15)(a,x)(a,y)"},
        {10, "L0a R0x L0b R0y", "[0,10)(a,x)(a,y)(b,x)(b,y)"},
        {10, "L0a L9b R30x", "[0,19)(a,null)(b,null)[30,40)(null,x)"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct session_fixture *f =
            open_session(PLAN(.match = MATCH_SESSION, .time = TIME_EVENT, .gap_ms = rows[i].gap,
                              .type = JOIN_FULL, .fields = {SESSION_FIELDS, SESSION_FIELDS}));
        for (const char *at = rows[i].records; at != NULL; at = strchr(at, ' ')) {
            char line[16], id, side;
            int64_t t;
            assert_int_equal(sscanf(at, " %c%" SCNd64 "%c", &side, &t, &id), 3);
            snprintf(line, sizeof(line), "k,%c,,", id);
            push(f, side == 'L' ? SIDE_LEFT : SIDE_RIGHT, t, line);
            at++;
        }
        assert_row(strcmp(end(f), rows[i].told) == 0, rows[i].records);
        assert_empty(f);
        close_session(f);
    }
}

static void each_key_has_sessions_of_its_own(void **state)
{
    struct session_fixture *f = open_session(EVENT_PLAN(.type = JOIN_FULL));

    (void)state;
    push(f, SIDE_LEFT, 1000, "k,a,,");
    push(f, SIDE_RIGHT, 1010, "l,x,,");
    push(f, SIDE_LEFT, 1050, "l,b,,");
    push(f, SIDE_RIGHT, 1200, "k,y,,");
    assert_string_equal(end(f), "[1000,1100)(a,null)[1010,1150)(b,x)[1200,1300)(null,y)");
    close_session(f);
}

static void without_a_key_all_records_are_of_one(void **state)
{
    struct session_fixture *f = open_session(EVENT_PLAN(.type = JOIN_FULL, .key = {"", ""}));

    (void)state;
    push(f, SIDE_LEFT, 1000, "k,a,,");
    push(f, SIDE_RIGHT, 1010, "l,x,,");
    push(f, SIDE_RIGHT, 1110, "m,y,,");
    push(f, SIDE_LEFT, 1211, "n,b,,");
    assert_string_equal(end(f), "[1000,1210)(a,x)(a,y)[1211,1311)(b,null)");
    assert_empty(f);
    close_session(f);
}

/* They match nothing, not even each other; each is a session, with its bounds. */
static void a_null_key_is_a_session_of_its_own(void **state)
{
    static const struct {
        enum join_type type;
        const char *told;
    } rows[] = {
        {JOIN_FULL, "[1,101)(a,null)[2,102)(null,x)[3,103)(b,null)"},
        {JOIN_LEFT, "[1,101)(a,null)[3,103)(b,null)"},
        {JOIN_ANTI, "[1,101)(a)[3,103)(b)"},
        {JOIN_SEMI, ""},
        {JOIN_INNER, ""},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct session_fixture *f = open_session(EVENT_PLAN(.type = rows[i].type));
        push(f, SIDE_LEFT, 1, ",a,,");
        push(f, SIDE_RIGHT, 2, ",x,,");
        push(f, SIDE_LEFT, 3, ",b,,");
        assert_row(strcmp(end(f), rows[i].told) == 0, rows[i].told);
        assert_int_equal(f->books.side[SIDE_LEFT].unmatched, 2);
        assert_int_equal(f->books.side[SIDE_RIGHT].unmatched, 1);
        assert_empty(f);
        close_session(f);
    }
}

/* --- merges --- */

/* Three sessions, and the two records that make them one, in every order. What comes out
 * goes by the order of arrival. */
static void sessions_become_one_in_whatever_order_records_come(void **state)
{
    static const int64_t times[] = {0, 100, 200, 300, 400};
    int order[COUNT_OF(times)];

    (void)state;
    for (int code = 0; code < 5 * 5 * 5 * 5 * 5; code++) {
        struct session_fixture *f;
        unsigned seen = 0;
        char line[16], told[256] = "[0,500)";
        for (int i = 0, rest = code; i < 5; i++, rest /= 5)
            seen |= 1u << (order[i] = rest % 5);
        if (seen != 0x1f)
            continue;
        f = open_session(EVENT_PLAN());
        for (int i = 0; i < 5; i++) {
            snprintf(line, sizeof(line), "k,%d,,", order[i]);
            push(f, SIDE_LEFT, times[order[i]], line);
            push(f, SIDE_RIGHT, times[order[i]], line);
            for (int r = 0; r < 5; r++)
                snprintf(told + strlen(told), sizeof(told) - strlen(told), "(%d,%d)", order[i],
                         order[r]);
        }
        assert_int_equal(f->join->pool.table.count, 1);
        assert_string_equal(drain(f), "");
        assert_string_equal(end(f), told);
        assert_int_equal(f->books.side[SIDE_LEFT].matched, 5);
        assert_empty(f);
        close_session(f);
    }
}

static void a_record_between_joins_what_lies_exactly_the_gap_away(void **state)
{
    static const struct {
        int64_t first, between, second;
        const char *told;
    } rows[] = {
        {0, 100, 200, "[0,300)(a,x)(a,y)(b,x)(b,y)"},
        {0, 50, 101, "[0,201)(a,x)(a,y)(b,x)(b,y)"},
        {0, 101, 201, "[0,100)(a,null)[101,301)(b,x)(b,y)"},
        {0, 99, 200, "[0,199)(a,x)(b,x)[200,300)(null,y)"},
        {-200, -100, 0, "[-200,100)(a,x)(a,y)(b,x)(b,y)"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        for (int order = 0; order < 2; order++) {
            struct session_fixture *f = open_session(EVENT_PLAN(.type = JOIN_FULL));
            push(f, SIDE_LEFT, rows[i].first, "k,a,,");
            if (order == 1)
                push(f, SIDE_RIGHT, rows[i].between, "k,x,,");
            push(f, SIDE_LEFT, rows[i].between, "k,b,,");
            if (order == 0)
                push(f, SIDE_RIGHT, rows[i].between, "k,x,,");
            push(f, SIDE_RIGHT, rows[i].second, "k,y,,");
            assert_row(strcmp(end(f), rows[i].told) == 0, rows[i].told);
            close_session(f);
        }
    }
}

/* --- when sessions are due --- */

static void by_the_clock_a_session_fires_when_time_is_past_its_end(void **state)
{
    struct session_fixture *f = open_session(SESSION_PLAN());

    (void)state;
    advance(f, 1000);
    push(f, SIDE_LEFT, 1000, "k,a,,");
    assert_int_equal(due(f), 1101);
    advance(f, 1050);
    push(f, SIDE_RIGHT, 1050, "k,x,,");
    assert_int_equal(due(f), 1151);
    advance(f, 1150);
    assert_false(op->has_work(f->join));
    push(f, SIDE_RIGHT, 1150, "k,y,,");
    advance(f, 1251);
    assert_true(op->has_work(f->join));
    push(f, SIDE_RIGHT, 1251, "k,z,,");
    assert_string_equal(drain(f), "[1000,1250)(a,x)(a,y)");
    assert_int_equal(due(f), 1352);
    close_session(f);
}

static void in_event_time_a_session_fires_at_its_end(void **state)
{
    struct session_fixture *f = open_session(EVENT_PLAN());

    (void)state;
    push(f, SIDE_LEFT, 1000, "k,a,,");
    push(f, SIDE_RIGHT, 1010, "k,x,,");
    assert_int_equal(due(f), 1110);
    advance(f, 1109);
    assert_string_equal(drain(f), "");
    advance(f, 1110);
    assert_string_equal(drain(f), "[1000,1110)(a,x)");
    assert_empty(f);
    close_session(f);
}

/* Sessions fire once, at end + grace. */
static void grace_only_puts_off_the_moment(void **state)
{
    struct session_fixture *f = open_session(EVENT_PLAN(.type = JOIN_LEFT, .grace_ms = 50));

    (void)state;
    push(f, SIDE_LEFT, 1000, "k,a,,");
    assert_int_equal(due(f), 1150);
    advance(f, 1149);
    assert_string_equal(drain(f), "");
    push(f, SIDE_RIGHT, 900, "k,x,,"); /* the session is open still */
    push(f, SIDE_LEFT, 1000, "l,b,,");
    push_late(f, SIDE_LEFT, 999, "m,c,,");
    advance(f, 1150);
    assert_string_equal(drain(f), "[900,1100)(a,x)[1000,1100)(b,null)");
    close_session(f);
}

static void sessions_come_in_order_of_end_then_of_opening(void **state)
{
    struct session_fixture *f = open_session(EVENT_PLAN(.type = JOIN_LEFT));

    (void)state;
    push(f, SIDE_LEFT, 500, "p,a,,");
    push(f, SIDE_LEFT, 300, "q,b,,");
    push(f, SIDE_LEFT, 500, "r,c,,");
    push(f, SIDE_LEFT, 400, "s,d,,");
    push(f, SIDE_LEFT, 500, "t,e,,");
    push(f, SIDE_LEFT, 350, "q,f,,");
    push(f, SIDE_LEFT, 400, "p,g,,");
    push(f, SIDE_LEFT, 500, "s,h,,");
    assert_string_equal(end(f), "[300,450)(b,null)(f,null)[400,600)(a,null)(g,null)"
                                "[500,600)(c,null)[400,600)(d,null)(h,null)[500,600)(e,null)");
    close_session(f);
}

/* A queue's head may stand there by an old end. */
static void a_session_that_went_on_fires_later_than_others_that_began_after_it(void **state)
{
    struct session_fixture *f = open_session(EVENT_PLAN(.type = JOIN_LEFT));

    (void)state;
    push(f, SIDE_LEFT, 0, "p,a,,");
    push(f, SIDE_LEFT, 10, "q,b,,");
    push(f, SIDE_LEFT, 20, "r,c,,");
    push(f, SIDE_LEFT, 100, "p,d,,");
    push(f, SIDE_LEFT, 110, "q,e,,");
    advance(f, 120);
    assert_string_equal(drain(f), "[20,120)(c,null)");
    assert_int_equal(due(f), 200);
    push(f, SIDE_LEFT, 150, "q,f,,");
    advance(f, 200);
    assert_string_equal(drain(f), "[0,200)(a,null)(d,null)");
    assert_in_range(due(f), 201, 250); /* it may be told too early, and found out then */
    advance(f, 249);
    assert_string_equal(drain(f), "");
    assert_int_equal(due(f), 250);
    close_session(f);
}

/* --- late --- */

static void a_record_is_late_when_no_session_takes_it_and_its_own_would_be_over(void **state)
{
    struct session_fixture *f = open_session(EVENT_PLAN(.type = JOIN_FULL));

    (void)state;
    push(f, SIDE_LEFT, 1000, "k,a,,");
    advance(f, 1099);
    push(f, SIDE_RIGHT, 1000, "l,x,,"); /* t <= wm, and not late */
    push_late(f, SIDE_RIGHT, 999, "l2,y,,");
    push(f, SIDE_RIGHT, 950, "k,z,,"); /* its session is open, although it is older */
    push(f, SIDE_RIGHT, 850, "k,w,,");
    push_late(f, SIDE_RIGHT, 749, "k,v,,"); /* 101 before the session */
    assert_int_equal(f->books.side[SIDE_RIGHT].late_windows, 2);
    assert_int_equal(f->books.side[SIDE_LEFT].late_windows, 0);
    assert_string_equal(end(f), "[850,1100)(a,z)(a,w)[1000,1100)(null,x)");
    close_session(f);
}

/* Exactly `gap` after the last one always joins, whatever time it is. */
static void what_is_exactly_the_gap_behind_time_opens_a_session_no_more(void **state)
{
    struct session_fixture *f = open_session(EVENT_PLAN(.type = JOIN_FULL));

    (void)state;
    advance(f, 1100);
    push_late(f, SIDE_LEFT, 1000, "k,a,,");
    push(f, SIDE_LEFT, 1001, "k,b,,");
    assert_int_equal(due(f), 1101);
    push(f, SIDE_LEFT, 901, "k,c,,");
    push_late(f, SIDE_RIGHT, 1000, ",x,,");
    assert_string_equal(end(f), "[901,1101)(b,null)(c,null)");
    close_session(f);
}

/* Whether it was walked plays no part: else the output would depend on how fast it is read. */
static void a_session_that_is_due_takes_no_more_though_nobody_walked_it(void **state)
{
    struct session_fixture *f = open_session(EVENT_PLAN(.type = JOIN_FULL));

    (void)state;
    push(f, SIDE_LEFT, 1000, "k,a,,");
    push(f, SIDE_LEFT, 1200, "k,b,,");
    advance(f, 1100);
    push_late(f, SIDE_RIGHT, 1000, "k,x,,");
    push(f, SIDE_RIGHT, 1050, "k,y,,"); /* within the gap of both, and one is due */
    push(f, SIDE_RIGHT, 1100, "k,z,,"); /* makes two open ones one */
    push(f, SIDE_RIGHT, 960, "k,w,,");  /* before the due one, and so they overlap */
    assert_string_equal(drain(f), "[1000,1100)(a,null)");
    push(f, SIDE_RIGHT, 860, "k,v,,");
    assert_string_equal(end(f), "[860,1300)(b,y)(b,z)(b,w)(b,v)");
    assert_empty(f);
    close_session(f);
}

static void a_key_may_come_again_while_its_due_session_is_walked(void **state)
{
    struct session_fixture *f = open_session(SESSION_PLAN(.type = JOIN_FULL));
    struct result r;

    (void)state;
    push(f, SIDE_LEFT, 0, "k,a,,");
    push(f, SIDE_RIGHT, 0, "k,x,,");
    push(f, SIDE_RIGHT, 0, "k,y,,");
    advance(f, 101);
    assert_int_equal(pull(f, &r, 1, ALL_FUEL), 1);
    push(f, SIDE_LEFT, 101, "k,b,,");
    assert_int_equal(pull(f, &r, 1, ALL_FUEL), 1);
    push(f, SIDE_RIGHT, 101, "k,z,,");
    assert_string_equal(drain(f), "");
    assert_string_equal(end(f), "[101,201)(b,z)");
    assert_empty(f);
    close_session(f);
}

/* --- flush --- */

static void a_flush_makes_all_due_and_what_comes_after_is_apart(void **state)
{
    struct session_fixture *f = open_session(EVENT_PLAN(.type = JOIN_FULL));

    (void)state;
    push(f, SIDE_LEFT, 1000, "k,a,,");
    push(f, SIDE_LEFT, 2000, "l,b,,");
    op->flush(f->join);
    push(f, SIDE_RIGHT, 1010, "k,x,,");
    push(f, SIDE_RIGHT, 10, "m,y,,");
    assert_true(op->has_work(f->join));
    op->flush(f->join); /* once more, with the first one not walked yet */
    push(f, SIDE_LEFT, 1020, "k,c,,");
    assert_string_equal(drain(f), "[10,110)(null,y)[1000,1100)(a,null)[1010,1110)(null,x)"
                                  "[2000,2100)(b,null)");
    assert_string_equal(end(f), "[1020,1120)(c,null)");
    assert_empty(f);
    close_session(f);
}

/* --- types and `on` --- */

static void every_type_of_join_gives_its_rows(void **state)
{
    static const struct {
        enum join_type type;
        const char *on, *told;
        uint64_t matched[SIDES];
    } rows[] = {
        {JOIN_INNER, NULL, "[0,130)(a,x)(a,y)(b,x)(b,y)", {2, 2}},
        {JOIN_LEFT, NULL, "[0,130)(a,x)(a,y)(b,x)(b,y)[50,150)(c,null)", {2, 2}},
        {JOIN_RIGHT, NULL, "[0,130)(a,x)(a,y)(b,x)(b,y)[60,160)(null,z)", {2, 2}},
        {JOIN_FULL, NULL, "[0,130)(a,x)(a,y)(b,x)(b,y)[50,150)(c,null)[60,160)(null,z)", {2, 2}},
        {JOIN_SEMI, NULL, "[0,130)(a)(b)", {2, 1}},
        {JOIN_ANTI, NULL, "[50,150)(c)", {2, 1}},
        {JOIN_INNER, "right.ok", "[0,130)(a,y)(b,y)", {2, 1}},
        {JOIN_FULL,
         "right.ok",
         "[0,130)(a,y)(b,y)(null,x)[50,150)(c,null)[60,160)(null,z)",
         {2, 1}},
        {JOIN_FULL, "left.ok", "[0,130)(a,null)(b,x)(b,y)[50,150)(c,null)[60,160)(null,z)", {1, 2}},
        {JOIN_SEMI, "left.ok", "[0,130)(b)", {1, 1}},
        {JOIN_ANTI, "left.ok", "[0,130)(a)[50,150)(c)", {1, 1}},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct session_fixture *f =
            open_session(EVENT_PLAN(.type = rows[i].type, .on = rows[i].on));
        push(f, SIDE_RIGHT, 30, "k,x,false,");
        push(f, SIDE_LEFT, 0, "k,a,false,");
        push(f, SIDE_LEFT, 10, "k,b,true,");
        push(f, SIDE_RIGHT, 20, "k,y,true,");
        push(f, SIDE_LEFT, 50, "l,c,true,");
        push(f, SIDE_RIGHT, 60, "m,z,true,");
        assert_row(strcmp(end(f), rows[i].told) == 0, rows[i].told);
        for (int s = 0; s < SIDES; s++) {
            assert_row(f->books.side[s].matched == rows[i].matched[s], rows[i].told);
            assert_row(f->books.side[s].unmatched == 3 - rows[i].matched[s], rows[i].told);
        }
        close_session(f);
    }
}

/* The pair does not match, and is told of. */
static void a_condition_that_fails_is_told_and_no_match(void **state)
{
    struct session_fixture *f =
        open_session(EVENT_PLAN(.type = JOIN_FULL, .on = "cast(left.id as bigint) + 0 = 7"));

    (void)state;
    push(f, SIDE_LEFT, 0, "k,a,,");
    push(f, SIDE_LEFT, 0, "k,7,,");
    push(f, SIDE_RIGHT, 0, "k,x,,");
    assert_string_equal(end(f), "[0,100)!(a,x)(a,null)(7,x)");
    assert_int_equal(f->books.results_rejected, 1);
    assert_empty(f);
    close_session(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_at_most_the_gap_apart_are_a_session),
        cmocka_unit_test(each_key_has_sessions_of_its_own),
        cmocka_unit_test(without_a_key_all_records_are_of_one),
        cmocka_unit_test(a_null_key_is_a_session_of_its_own),
        cmocka_unit_test(sessions_become_one_in_whatever_order_records_come),
        cmocka_unit_test(a_record_between_joins_what_lies_exactly_the_gap_away),
        cmocka_unit_test(by_the_clock_a_session_fires_when_time_is_past_its_end),
        cmocka_unit_test(in_event_time_a_session_fires_at_its_end),
        cmocka_unit_test(grace_only_puts_off_the_moment),
        cmocka_unit_test(sessions_come_in_order_of_end_then_of_opening),
        cmocka_unit_test(a_session_that_went_on_fires_later_than_others_that_began_after_it),
        cmocka_unit_test(a_record_is_late_when_no_session_takes_it_and_its_own_would_be_over),
        cmocka_unit_test(what_is_exactly_the_gap_behind_time_opens_a_session_no_more),
        cmocka_unit_test(a_session_that_is_due_takes_no_more_though_nobody_walked_it),
        cmocka_unit_test(a_key_may_come_again_while_its_due_session_is_walked),
        cmocka_unit_test(a_flush_makes_all_due_and_what_comes_after_is_apart),
        cmocka_unit_test(every_type_of_join_gives_its_rows),
        cmocka_unit_test(a_condition_that_fails_is_told_and_no_match),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
