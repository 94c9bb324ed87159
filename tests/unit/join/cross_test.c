#include "join/cross.h"
#include "join_fixture.h"
#include "recount.h"

#define ANY_ROOM    UINT64_MAX
#define ALL_FUEL    (INT64_C(1) << 40)
#define RESULTS_MAX 64

/* Two chains of records, one after the other in a log each. */
struct cross_fixture {
    struct plan *plan;
    struct books books;
    struct slab_pool *pool;
    struct window_log logs[SIDES];
    struct cross cross;
    uint32_t head[SIDES], tail[SIDES];
    struct buf told;
};

static struct cross_fixture *open_cross(struct plan *plan)
{
    struct cross_fixture *f = mem_alloc_zeroed(1, sizeof(*f));

    f->plan = plan;
    f->pool = slab_pool_new();
    cross_init(&f->cross, plan, &f->books);
    f->cross.window_start = 10;
    f->cross.window_end = 20;
    for (int s = 0; s < SIDES; s++) {
        window_log_init(&f->logs[s], 0);
        f->cross.held[s] = &f->logs[s].undecided;
        f->head[s] = f->tail[s] = REFERENCE_NONE;
    }
    assert_true(cross_is_over(&f->cross));
    return f;
}

static void close_cross(struct cross_fixture *f)
{
    cross_done(&f->cross);
    for (int s = 0; s < SIDES; s++)
        window_log_done(&f->logs[s], f->pool);
    slab_pool_free(f->pool);
    plan_free(f->plan);
    buf_done(&f->told);
    mem_free(f);
}

static struct record *record_of(const struct cross_fixture *f, enum side side, uint32_t ref)
{
    return reference_record(f->logs[side].parts[0].chunks, ref);
}

/* Each in a chunk of its own: the first is in chunk 0, the second in chunk 1, ... */
static void put(struct cross_fixture *f, enum side side, const char *line)
{
    struct record_parts parts = {.body = bytes_of(line), .key = {line, 1}, .flags = RECORD_TIME32};
    struct log_part *p = &f->logs[side].parts[0];
    uint32_t ref = reference_make(p->count, 0);
    struct log_chunk *before = p->tail;
    uint32_t size = before == NULL ? 0 : before->size;

    if (before != NULL)
        p->room = p->used; /* as if it were full */
    assert_true(window_log_append(&f->logs[side], f->pool, &parts, f->books.side[side].received++,
                                  ANY_ROOM));
    if (before != NULL)
        before->size = size;
    record_of(f, side, ref)->hash = REFERENCE_NONE;
    if (f->tail[side] == REFERENCE_NONE)
        f->head[side] = ref;
    else
        record_of(f, side, f->tail[side])->hash = ref;
    f->tail[side] = ref;
}

static void put_all(struct cross_fixture *f, enum side side, const char *lines)
{
    char *copy = mem_strdup(lines), *rest = copy, *line;

    while ((line = strsep(&rest, " ")) != NULL)
        put(f, side, line);
    mem_free(copy);
}

static const char *run_by(struct cross_fixture *f, bool alone, size_t max, int64_t fuel)
{
    struct result results[RESULTS_MAX];

    for (int s = 0; s < SIDES; s++)
        f->cross.chunks[s] = f->logs[s].parts[0].chunks;
    cross_begin(&f->cross, f->head, alone);
    buf_clear(&f->told);
    while (!cross_is_over(&f->cross)) {
        int64_t left = fuel;
        size_t n = cross_pull(&f->cross, results, max, &left);
        assert_true(n <= max && left >= 0);
        for (size_t i = 0; i < n; i++) {
            assert_true(results[i].window_start == 10 && results[i].window_end == 20);
            append_result(f->plan, &results[i], &f->told);
        }
    }
    for (int s = 0; s < SIDES; s++) {
        assert_true(books_balance(&f->books.side[s], f->logs[s].undecided));
        assert_int_equal(log_recount(&f->logs[s]), f->logs[s].undecided);
    }
    return buf_text(&f->told);
}

static const char *run(struct cross_fixture *f, unsigned tasks)
{
    f->cross.tasks = tasks;
    return run_by(f, false, RESULTS_MAX, ALL_FUEL);
}

#define ON "cast(right.id as bigint) > cast(left.id as bigint)"

static struct cross_fixture *open_numbers(enum join_type type)
{
    struct cross_fixture *f = open_cross(PLAN(.type = type, .on = ON));

    put_all(f, SIDE_LEFT, "k,1, k,9, k,3,");
    put_all(f, SIDE_RIGHT, "k,0, k,2, k,5,");
    return f;
}

static void results_come_left_major_and_the_rights_without_a_match_at_the_end(void **state)
{
    static const char *const told[JOIN_TYPES] = {
        [JOIN_INNER] = "(1,2)(1,5)(3,5)",
        [JOIN_LEFT] = "(1,2)(1,5)(9,null)(3,5)",
        [JOIN_RIGHT] = "(1,2)(1,5)(3,5)(null,0)",
        [JOIN_FULL] = "(1,2)(1,5)(9,null)(3,5)(null,0)",
        [JOIN_SEMI] = "(1)(3)",
        [JOIN_ANTI] = "(9)",
    };

    (void)state;
    for (int type = 0; type < JOIN_TYPES; type++)
        for (size_t max = 1; max <= 3; max++)
            for (int64_t fuel = 1; fuel < 20; fuel += 3) {
                struct cross_fixture *f = open_numbers((enum join_type)type);
                assert_string_equal(run_by(f, false, max, fuel), told[type]);
                assert_int_equal(f->books.side[SIDE_LEFT].matched, 2);
                assert_int_equal(f->books.side[SIDE_LEFT].unmatched, 1);
                close_cross(f);
            }
}

static void records_that_are_alone_do_not_match(void **state)
{
    struct cross_fixture *f = open_cross(PLAN(.type = JOIN_FULL));

    (void)state;
    put_all(f, SIDE_LEFT, "k,a, k,b,");
    put_all(f, SIDE_RIGHT, "k,x,");
    assert_string_equal(run_by(f, true, RESULTS_MAX, ALL_FUEL), "(a,null)(b,null)(null,x)");
    close_cross(f);
}

static void a_side_may_be_empty(void **state)
{
    struct cross_fixture *f = open_cross(PLAN(.type = JOIN_FULL));

    (void)state;
    assert_string_equal(run_by(f, false, RESULTS_MAX, ALL_FUEL), "");
    put_all(f, SIDE_RIGHT, "k,x,");
    assert_string_equal(run_by(f, false, RESULTS_MAX, ALL_FUEL), "(null,x)");
    close_cross(f);
}

/* First the pairs, and what had none later. */
static void telling_and_closing_may_be_two_walks(void **state)
{
    static const struct {
        enum join_type type;
        const char *told, *closed;
    } rows[] = {
        {JOIN_FULL, "(1,2)(1,5)(3,5)", "(9,null)(null,0)"},
        {JOIN_SEMI, "(1)(3)", ""},
        {JOIN_ANTI, "", "(9)"},
        {JOIN_RIGHT, "(1,2)(1,5)(3,5)", "(null,0)"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cross_fixture *f = open_numbers(rows[i].type);
        assert_string_equal(run(f, CROSS_TELL), rows[i].told);
        assert_int_equal(f->books.side[SIDE_LEFT].unmatched, 0);
        assert_string_equal(run(f, CROSS_CLOSE), rows[i].closed);
        assert_int_equal(f->books.side[SIDE_LEFT].unmatched, 1);
        close_cross(f);
    }
}

/* As if the matches had been in other groups. */
static const char *tell_and_forget(struct cross_fixture *f)
{
    const char *told;

    f->cross.matched_flag = RECORD_PAIRED;
    told = run(f, CROSS_TELL);
    for (int s = 0; s < SIDES; s++)
        for (uint32_t c = 0; c < f->logs[s].parts[0].count; c++)
            record_of(f, s, reference_make(c, 0))->size_flags &= (uint16_t)~RECORD_PAIRED;
    return told;
}

/* The match was in another group: here it has to be found out. */
static void what_matched_in_a_group_can_be_derived(void **state)
{
    static const struct {
        enum join_type type;
        const char *closed;
    } rows[] = {
        {JOIN_INNER, ""},         {JOIN_LEFT, "(9,null)"},
        {JOIN_RIGHT, "(null,0)"}, {JOIN_FULL, "(9,null)(null,0)"},
        {JOIN_SEMI, ""},          {JOIN_ANTI, "(9)"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cross_fixture *f = open_numbers(rows[i].type);
        tell_and_forget(f);
        assert_string_equal(run(f, CROSS_CLOSE | CROSS_DERIVE), rows[i].closed);
        close_cross(f);
    }
}

static void records_of_other_chunks_are_passed_over(void **state)
{
    struct cross_fixture *f = open_cross(PLAN(.type = JOIN_FULL));

    (void)state;
    put_all(f, SIDE_LEFT, "k,a, k,b, k,c,");
    put_all(f, SIDE_RIGHT, "k,x, k,y, k,z,");
    f->cross.members[SIDE_LEFT] = (struct cross_range){1, 1};
    f->cross.members[SIDE_RIGHT] = (struct cross_range){1, 2};
    assert_string_equal(run(f, CROSS_TELL | CROSS_CLOSE), "(b,y)(b,z)");
    assert_int_equal(f->logs[SIDE_LEFT].undecided, 2);
    f->cross.members[SIDE_RIGHT] = (struct cross_range){3, 0};
    f->cross.members[SIDE_LEFT] = (struct cross_range){0, 1};
    assert_string_equal(run(f, CROSS_TELL | CROSS_CLOSE), "(a,null)");
    close_cross(f);
}

/* Those that stay may match in another window yet. */
static void only_the_leaving_are_unmatched(void **state)
{
    struct cross_fixture *f = open_cross(PLAN(.type = JOIN_LEFT));

    (void)state;
    put_all(f, SIDE_LEFT, "k,a, k,b, k,c,");
    f->cross.matched_flag = RECORD_PAIRED;
    f->cross.leaving[SIDE_LEFT] = (struct cross_range){0, 2};
    assert_string_equal(run(f, CROSS_TELL | CROSS_CLOSE), "(a,null)(b,null)(c,null)");
    assert_int_equal(f->books.side[SIDE_LEFT].unmatched, 2);
    assert_int_equal(f->logs[SIDE_LEFT].undecided, 1);
    close_cross(f);
}

static void a_failed_condition_is_told_and_is_no_match(void **state)
{
    struct cross_fixture *f = open_cross(PLAN(.type = JOIN_LEFT, .on = ON));

    (void)state;
    put_all(f, SIDE_LEFT, "k,1, k,2,");
    put_all(f, SIDE_RIGHT, "k,x, k,2,");
    assert_string_equal(tell_and_forget(f), "!(1,x)(1,2)!(2,x)");
    assert_string_equal(run(f, CROSS_CLOSE | CROSS_DERIVE), "(2,null)");
    close_cross(f);
}

/* To derive who matched must not cost the product of a hot key. */
static void without_a_condition_deriving_is_cheap(void **state)
{
    struct cross_fixture *f = open_cross(PLAN(.type = JOIN_FULL));
    int64_t fuel = ALL_FUEL;
    struct result r;

    (void)state;
    for (int i = 0; i < 200; i++) {
        put(f, SIDE_LEFT, "k,a,");
        put(f, SIDE_RIGHT, "k,x,");
    }
    tell_and_forget(f);
    f->cross.tasks = CROSS_CLOSE | CROSS_DERIVE;
    cross_begin(&f->cross, f->head, false);
    assert_int_equal(cross_pull(&f->cross, &r, 1, &fuel), 0);
    assert_true(cross_is_over(&f->cross));
    assert_true(ALL_FUEL - fuel < 5 * 400);
    close_cross(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_come_left_major_and_the_rights_without_a_match_at_the_end),
        cmocka_unit_test(records_that_are_alone_do_not_match),
        cmocka_unit_test(a_side_may_be_empty),
        cmocka_unit_test(telling_and_closing_may_be_two_walks),
        cmocka_unit_test(what_matched_in_a_group_can_be_derived),
        cmocka_unit_test(records_of_other_chunks_are_passed_over),
        cmocka_unit_test(only_the_leaving_are_unmatched),
        cmocka_unit_test(a_failed_condition_is_told_and_is_no_match),
        cmocka_unit_test(without_a_condition_deriving_is_cheap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
