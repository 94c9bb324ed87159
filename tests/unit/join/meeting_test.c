#include "join/meeting.h"
#include "join_fixture.h"
#include "recount.h"

struct meeting_fixture {
    struct plan *plan; /* owned */
    struct books books;
    struct slab_pool *pool;
    uint64_t state_bytes_max;
    struct meeting meeting;
    struct result result;
    struct buf told;
    uint64_t number;
};

static struct meeting_fixture *open_meeting(enum join_type type, const char *on)
{
    struct meeting_fixture *f = mem_alloc_zeroed(1, sizeof(*f));

    f->plan = PLAN(.match = MATCH_LATEST, .type = type, .on = on);
    f->pool = slab_pool_new();
    f->state_bytes_max = UINT64_MAX;
    meeting_init(&f->meeting,
                 &(struct operator_context){
                     .plan = f->plan,
                     .books = &f->books,
                     .pool = f->pool,
                     .state_bytes_max = &f->state_bytes_max,
                 },
                 8);
    buf_init(&f->told);
    return f;
}

static void close_meeting(struct meeting_fixture *f)
{
    meeting_done(&f->meeting);
    slab_pool_free(f->pool);
    plan_free(f->plan);
    buf_done(&f->told);
    mem_free(f);
}

static uint32_t stored(struct meeting_fixture *f, enum side side, const char *line)
{
    struct record_parts parts = {
        .body = bytes_of(line),
        .key = {line, 1},
        .flags = RECORD_TIMED,
        .time = 1000 + (int64_t)f->number,
    };
    uint32_t ref;

    assert_true(arena_add(&f->meeting.side[side], f->pool, &parts, f->number++, UINT64_MAX, &ref));
    return ref;
}

/* What it tells; *ret_over as meeting_tell() has it. */
static const char *met(struct meeting_fixture *f, uint32_t left, uint32_t right, bool *ret_over)
{
    int64_t fuel = 1000;
    size_t n = meeting_tell(&f->meeting, left, right, &f->result, &fuel, ret_over);

    assert_true(n <= 1 && fuel < 1000);
    buf_clear(&f->told);
    if (n == 1)
        append_result(f->plan, &f->result, &f->told);
    return buf_text(&f->told);
}

static void give_back(struct meeting_fixture *f)
{
    int64_t fuel = 1000;

    meeting_give_back(&f->meeting, &fuel);
    assert_false(meeting_has_spent(&f->meeting));
}

static void assert_fates(const struct meeting_fixture *f, enum side side, uint64_t matched,
                         uint64_t unmatched)
{
    assert_int_equal(f->books.side[side].matched, matched);
    assert_int_equal(f->books.side[side].unmatched, unmatched);
    assert_int_equal(f->meeting.side[side].undecided, arena_recount(&f->meeting.side[side]));
}

static void what_comes_depends_on_the_join(void **state)
{
    static const struct {
        enum join_type type;
        const char *seen, *alone;
    } rows[] = {
        {JOIN_INNER, "(a,x)", ""},
        {JOIN_LEFT, "(a,x)", "(a,null)"},
        {JOIN_SEMI, "(a)", ""},
        {JOIN_ANTI, "", "(a)"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct meeting_fixture *f = open_meeting(rows[i].type, NULL);
        uint32_t right = stored(f, SIDE_RIGHT, "k,x,");
        bool over;
        assert_string_equal(met(f, stored(f, SIDE_LEFT, "k,a,"), right, &over), rows[i].seen);
        assert_true(over);
        assert_fates(f, SIDE_LEFT, 1, 0);
        assert_fates(f, SIDE_RIGHT, 1, 0);
        assert_string_equal(met(f, stored(f, SIDE_LEFT, "k,a,"), REFERENCE_NONE, &over),
                            rows[i].alone);
        assert_true(over);
        assert_fates(f, SIDE_LEFT, 1, 1);
        close_meeting(f);
    }
}

static void a_failed_condition_is_told_and_then_it_met_nobody(void **state)
{
    struct meeting_fixture *f = open_meeting(JOIN_LEFT, "1 / (char_length(right.id) - 1) = 9");
    uint32_t left = stored(f, SIDE_LEFT, "k,a,"), right = stored(f, SIDE_RIGHT, "k,x,");
    bool over;

    (void)state;
    assert_string_equal(met(f, left, right, &over), "!(a,x)");
    assert_false(over);
    assert_fates(f, SIDE_LEFT, 0, 0);
    assert_string_equal(met(f, left, REFERENCE_NONE, &over), "(a,null)");
    assert_true(over);
    assert_fates(f, SIDE_LEFT, 0, 1);
    assert_fates(f, SIDE_RIGHT, 0, 0);
    close_meeting(f);
}

static void results_tell_the_times_of_their_records(void **state)
{
    struct meeting_fixture *f = open_meeting(JOIN_LEFT, NULL);
    uint32_t left = stored(f, SIDE_LEFT, "k,a,"), right = stored(f, SIDE_RIGHT, "k,x,");
    bool over;

    (void)state;
    met(f, left, right, &over);
    assert_int_equal(f->result.time[SIDE_LEFT], 1000);
    assert_int_equal(f->result.time[SIDE_RIGHT], 1001);
    met(f, stored(f, SIDE_LEFT, "k,b,"), REFERENCE_NONE, &over);
    assert_int_equal(f->result.time[SIDE_LEFT], 1002);
    close_meeting(f);
}

static void what_results_point_at_goes_at_the_next_pull(void **state)
{
    struct meeting_fixture *f = open_meeting(JOIN_INNER, NULL);
    uint32_t right = stored(f, SIDE_RIGHT, "k,x,");
    bool over;

    (void)state;
    give_back(f);
    met(f, stored(f, SIDE_LEFT, "k,a,"), right, &over);
    meeting_forget(&f->meeting, right);
    assert_true(meeting_has_spent(&f->meeting));
    buf_clear(&f->told);
    append_result(f->plan, &f->result, &f->told);
    assert_string_equal(buf_text(&f->told), "(a,x)");
    assert_fates(f, SIDE_RIGHT, 1, 0);
    give_back(f);
    assert_int_equal(meeting_bytes(&f->meeting), 0);
    meeting_forget(&f->meeting, stored(f, SIDE_RIGHT, "k,y,")); /* in no result */
    assert_int_equal(meeting_bytes(&f->meeting), 0);
    close_meeting(f);
}

static void what_no_result_points_at_goes_at_once(void **state)
{
    struct meeting_fixture *f = open_meeting(JOIN_INNER, NULL);
    bool over;

    (void)state;
    met(f, stored(f, SIDE_LEFT, "k,a,"), REFERENCE_NONE, &over);
    meeting_forget(&f->meeting, stored(f, SIDE_RIGHT, "k,x,"));
    assert_int_equal(meeting_bytes(&f->meeting), 0);
    assert_fates(f, SIDE_LEFT, 0, 1);
    assert_fates(f, SIDE_RIGHT, 0, 1);
    close_meeting(f);
}

static void many_that_are_spent_go_by_fuel(void **state)
{
    struct meeting_fixture *f = open_meeting(JOIN_LEFT, NULL);
    int64_t fuel = 1;
    size_t turns = 0;
    bool over;

    (void)state;
    for (int i = 0; i < 1000; i++)
        met(f, stored(f, SIDE_LEFT, "k,a,"), REFERENCE_NONE, &over);
    for (; meeting_has_spent(&f->meeting); turns++, fuel = 100)
        meeting_give_back(&f->meeting, &fuel);
    assert_in_range(turns, 10, 100);
    assert_int_equal(meeting_bytes(&f->meeting), 0);
    close_meeting(f);
}

static void room_is_what_the_limit_leaves(void **state)
{
    struct meeting_fixture *f = open_meeting(JOIN_INNER, NULL);
    uint64_t bytes;

    (void)state;
    f->state_bytes_max = 10000;
    assert_true(meeting_room(&f->meeting, 9999999) == UINT64_MAX); /* it holds nothing */
    stored(f, SIDE_LEFT, "k,a,");
    bytes = meeting_bytes(&f->meeting);
    assert_in_range(bytes, 256, 1000);
    assert_int_equal(meeting_room(&f->meeting, 500), 10000 - 500 - bytes);
    assert_int_equal(meeting_room(&f->meeting, 10000), 0);
    close_meeting(f);
}

static void times_beyond_all_are_the_end(void **state)
{
    (void)state;
    assert_int_equal(meeting_time_after(5, 10), 15);
    assert_int_equal(meeting_time_after(-5, 0), -5);
    assert_int_equal(meeting_time_after(5, PLAN_FOREVER), INT64_MAX);
    assert_int_equal(meeting_time_after(INT64_MAX - 1, 1), INT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_comes_depends_on_the_join),
        cmocka_unit_test(a_failed_condition_is_told_and_then_it_met_nobody),
        cmocka_unit_test(results_tell_the_times_of_their_records),
        cmocka_unit_test(what_results_point_at_goes_at_the_next_pull),
        cmocka_unit_test(what_no_result_points_at_goes_at_once),
        cmocka_unit_test(many_that_are_spent_go_by_fuel),
        cmocka_unit_test(room_is_what_the_limit_leaves),
        cmocka_unit_test(times_beyond_all_are_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
