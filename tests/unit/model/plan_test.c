#include "unit.h"

#include "base/mem.h"
#include "join_fixture.h"
#include "model/plan.h"

static void every_type_has_its_word(void **state)
{
    static const char *const words[] = {"inner", "left", "right", "full", "semi", "anti"};

    (void)state;
    assert_int_equal(COUNT_OF(words), JOIN_TYPES);
    for (int t = 0; t < JOIN_TYPES; t++)
        assert_string_equal(join_type_word((enum join_type)t), words[t]);
}

static void a_new_plan_is_an_inner_tumbling_join_in_processing_time(void **state)
{
    struct plan *p = plan_new();

    (void)state;
    assert_int_equal(p->type, JOIN_INNER);
    assert_int_equal(p->match, MATCH_TUMBLING);
    assert_int_equal(p->time, TIME_PROCESSING);
    assert_string_equal(p->side[SIDE_LEFT].schema.name, "left");
    assert_string_equal(p->side[SIDE_RIGHT].schema.name, "right");
    assert_null(p->on);
    for (int s = 0; s < SIDES; s++) {
        assert_int_equal(p->side[s].schema.count, 0);
        assert_int_equal(p->side[s].key.count, 0);
        assert_null(p->side[s].where);
        assert_null(p->side[s].timestamp);
    }
    plan_free(p);
    plan_free(NULL);
}

/* The leak checker is the judge of this one. */
static void a_plan_owns_all_that_it_points_at(void **state)
{
    struct plan *p = PLAN(.key = {"k, id", "k, id"}, .where = {"ok", "right.ok"}, .on = "left.ok");

    (void)state;
    assert_int_equal(p->side[SIDE_LEFT].key.count, 2);
    p->side[SIDE_LEFT].timestamp = bound_condition(p, SIDE_LEFT, "ok");
    p->side[SIDE_RIGHT].timestamp = bound_condition(p, SIDE_RIGHT, "ok");
    plan_free(p);
}

static void outer_joins_and_anti_pad(void **state)
{
    static const struct {
        enum join_type type;
        bool left, right;
    } rows[] = {
        {JOIN_INNER, false, false}, {JOIN_LEFT, true, false},  {JOIN_RIGHT, false, true},
        {JOIN_FULL, true, true},    {JOIN_SEMI, false, false}, {JOIN_ANTI, true, false},
    };
    struct plan *p = plan_new();

    (void)state;
    assert_int_equal(COUNT_OF(rows), JOIN_TYPES);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        p->type = rows[i].type;
        assert_row(plan_pads(p, SIDE_LEFT) == rows[i].left, join_type_word(p->type));
        assert_row(plan_pads(p, SIDE_RIGHT) == rows[i].right, join_type_word(p->type));
        assert_int_equal(plan_is_one_sided(p), p->type == JOIN_SEMI || p->type == JOIN_ANTI);
    }
    plan_free(p);
}

static void traits_of_kinds_go_together(void **state)
{
    static const char *const words[] = {"tumbling", "sliding", "session", "interval",
                                        "latest",   "lookup",  "batch"};

    (void)state;
    assert_int_equal(COUNT_OF(words), MATCH_KINDS);
    for (int m = 0; m < MATCH_KINDS; m++) {
        const struct match_traits *t = &match_traits[m];
        assert_string_equal(t->word, words[m]);
        assert_row(!t->replays || t->by_time, t->word);
        assert_row(!t->has_windows || t->by_time, t->word);
        assert_row(!t->aligned || t->has_windows, t->word);
        assert_row(!t->detaches || t->aligned, t->word);
        assert_row(!t->right_file || t->right_asked, t->word);
        assert_row(!t->bounded || !t->by_time, t->word);
    }
}

#define DAY INT64_C(86400000)

static void windows_are_aligned_to_the_epoch(void **state)
{
    static const struct {
        const char *name;
        int64_t slide, offset, time, start; /* slide: of windows that do not overlap, the size */
    } rows[] = {
        {"the epoch", 10000, 0, 0, 0},
        {"the last of a window", 10000, 0, 9999, 0},
        {"the end is the next one's start", 10000, 0, 10000, 10000},
        {"just before the epoch", 10000, 0, -1, -10000},
        {"a negative start", 10000, 0, -10000, -10000},
        {"before a negative start", 10000, 0, -10001, -20000},
        {"offset, its first", 10000, 3000, 3000, 3000},
        {"offset, before its first", 10000, 3000, 2999, -7000},
        {"offset, negative time", 10000, 3000, -7000, -7000},
        {"offset, more negative", 10000, 3000, -7001, -17000},
        {"a negative offset", 10000, -3000, 0, -3000},
        {"a negative offset, its end", 10000, -3000, 7000, 7000},
        {"an offset above the size", 10000, 23000, 0, -7000},
        {"an offset below minus the size", 10000, -23000, 0, -3000},
        {"of one millisecond", 1, 0, 1234567890123, 1234567890123},
        {"a day", DAY, 0, 1767312000000 + 3600000, 1767312000000},
        {"a day elsewhere", DAY, -2 * 3600000, 1767312000000, 1767312000000 - 2 * 3600000},
        {"sliding, the last that holds it", 5000, 0, 9999, 5000},
        {"sliding, negative", 5000, 0, -1, -5000},
        {"sliding, offset", 3000, 1000, 9999, 7000},
        {"the longest", 36500 * DAY, 0, 1767312000000, 0},
        {"the longest, negative", 36500 * DAY, 0, -1, -36500 * DAY},
    };
    struct plan *p = plan_new();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        p->slide_ms = rows[i].slide;
        p->offset_ms = rows[i].offset;
        assert_row(plan_window_start(p, rows[i].time) == rows[i].start, rows[i].name);
    }
    plan_free(p);
}

/* Windows of any size: the last one that starts at or before a time. */
static void no_window_starts_between_a_time_and_its_window(void **state)
{
    static const int64_t slides[] = {1, 2, 7, 1000}, offsets[] = {-1001, -3, 0, 1, 5, 999};
    struct plan *p = plan_new();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(slides); i++)
        for (size_t j = 0; j < COUNT_OF(offsets); j++)
            for (int64_t t = -2500; t <= 2500; t++) {
                int64_t start;
                p->slide_ms = slides[i];
                p->size_ms = 3; /* it does not matter */
                p->offset_ms = offsets[j];
                start = plan_window_start(p, t);
                assert_true(start <= t && t < start + slides[i]);
                assert_int_equal((start - offsets[j]) % slides[i], 0);
            }
    plan_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_has_its_word),
        cmocka_unit_test(a_new_plan_is_an_inner_tumbling_join_in_processing_time),
        cmocka_unit_test(a_plan_owns_all_that_it_points_at),
        cmocka_unit_test(outer_joins_and_anti_pad),
        cmocka_unit_test(traits_of_kinds_go_together),
        cmocka_unit_test(windows_are_aligned_to_the_epoch),
        cmocka_unit_test(no_window_starts_between_a_time_and_its_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
