#include "engine_fixture.h"

/* --- books --- */

static void every_kind_of_result_has_its_word(void **state)
{
    static const char *const names[] = {"pair", "left", "right", "semi", "anti"};

    (void)state;
    assert_int_equal(COUNT_OF(names), RESULT_KINDS);
    for (int k = 0; k < RESULT_KINDS; k++)
        assert_string_equal(result_kind_word((enum result_kind)k), names[k]);
}

static void books_balance_when_every_record_has_one_fate(void **state)
{
    struct books_side b = {
        .received = 21, .rejected = 1, .filtered = 2, .late = 3, .matched = 4, .unmatched = 5};

    (void)state;
    assert_true(books_balance(&b, 6));
    assert_false(books_balance(&b, 5));
    assert_false(books_balance(&b, 7));
}

static void a_new_engine_has_nothing_and_knows_no_time(void **state)
{
    struct engine_fixture *f = open_engine(PLAN());

    (void)state;
    assert_balance(f);
    assert_true(engine_takes(f->engine));
    assert_false(engine_has_work(f->engine));
    assert_int_equal(engine_time(f->engine).ms, INT64_MIN);
    assert_int_equal(engine_due(f->engine).ms, INT64_MAX);
    assert_int_equal(engine_state_bytes(f->engine), 0);
    assert_string_equal(drain(f), "");
    close_engine(f);
    engine_free(NULL);
}

/* --- fates --- */

static void rejected_rows_are_counted_and_nothing_else(void **state)
{
    struct engine_fixture *f = open_engine(PLAN(.type = JOIN_FULL, .where = {"ok", NULL}));

    (void)state;
    add_rejected(f, SIDE_LEFT);
    add_line(f, SIDE_LEFT, BYTES_LIT("k,a,true"));
    add_rejected(f, SIDE_LEFT);
    assert_int_equal(push_added(f, SIDE_LEFT, 1), 3);
    assert_fates(f, SIDE_LEFT, (struct books_side){.received = 3, .rejected = 2});
    assert_int_equal(engine_held(f->engine, SIDE_LEFT), 1);
    assert_string_equal(end(f), "(a,null)");
    assert_fates(f, SIDE_LEFT, (struct books_side){.received = 3, .rejected = 2, .unmatched = 1});
    close_engine(f);
}

static void only_records_for_which_where_is_true_take_part(void **state)
{
    struct engine_fixture *f = open_engine(PLAN(.type = JOIN_FULL, .where = {"ok", NULL}));

    (void)state;
    push(f, SIDE_LEFT, 1, "k,a,true k,b,false k,c, ,d,false ,e,true");
    push(f, SIDE_RIGHT, 1, "m,x,false");
    assert_fates(f, SIDE_LEFT, (struct books_side){.received = 5, .filtered = 3});
    assert_fates(f, SIDE_RIGHT, (struct books_side){.received = 1});
    assert_string_equal(end(f), "(e,null)(a,null)(null,x)");
    close_engine(f);
}

static void a_null_key_is_held_only_where_it_will_be_padded(void **state)
{
    (void)state;
    for (int type = 0; type < JOIN_TYPES; type++)
        for (int s = 0; s < SIDES; s++) {
            struct engine_fixture *f = open_engine(PLAN(.type = (enum join_type)type));
            bool held = plan_pads(f->plan, s);
            push(f, s, 1, ",a,true ,b,true");
            assert_int_equal(engine_held(f->engine, s), held ? 2 : 0);
            assert_int_equal(books_of(f, s).unmatched, held ? 0 : 2);
            assert_int_equal(engine_state_bytes(f->engine) > 0, held);
            push(f, side_other(s), 1, ",x,true"); /* NULL is not equal to NULL */
            end(f);
            assert_fates(f, s, (struct books_side){.received = 2, .unmatched = 2});
            assert_fates(f, side_other(s), (struct books_side){.received = 1, .unmatched = 1});
            close_engine(f);
        }
}

static void records_are_rejected_when_where_or_key_fails(void **state)
{
    struct engine_fixture *f =
        open_engine(PLAN(.fields = {"k, n bigint", "k, n bigint"}, .where = {"1 / n > 0", NULL},
                         .key = {"k, n", "k, 10 / n"}));
    static const char *const details[SIDES] = {"where: division by zero", "key: division by zero"};

    (void)state;
    for (int s = 0; s < SIDES; s++) {
        struct batch *b = &f->batch[s];
        add_line(f, s, BYTES_LIT("k,0"));
        add_rejected(f, s);
        assert_int_equal(engine_push(f->engine, s, b, 0, at(1)), 2);
        assert_int_equal(b->rows[0].reject, REJECT_EXPRESSION);
        assert_string_equal(batch_detail(b, &b->rows[0]), details[s]);
        assert_int_equal(b->rows[1].reject, REJECT_QUOTE);
        assert_int_equal(b->rejected, 2);
        assert_fates(f, s, (struct books_side){.received = 2, .rejected = 2});
        assert_balance(f);
    }
    close_engine(f);
}

/* --- keys --- */

static void keys_are_compared_after_the_usual_promotion(void **state)
{
    static const struct {
        const char *left_type, *right_type;
        const char *left, *right;
        bool equal;
    } rows[] = {
        {"string", "string", "abc", "abc", true},
        {"string", "string", "abc", "abd", false},
        {"string", "string", "1", "1.0", false},
        {"string", "string", "-0", "0", false},
        {"bigint", "bigint", "17", "17", true},
        {"bigint", "bigint", "9007199254740993", "9007199254740992", false},
        {"bigint", "double", "9007199254740993", "9007199254740992", true},
        {"double", "bigint", "9007199254740992", "9007199254740993", true},
        {"double", "bigint", "1.5", "1", false},
        {"double", "bigint", "1e+21", "1", false},
        {"double", "double", "1e+21", "1e+21", true},
        {"double", "double", "0", "-0", true},
        {"double", "bigint", "-0", "0", true},
        {"double", "double", "-1", "1", false},
        {"boolean", "boolean", "true", "true", true},
        {"boolean", "boolean", "true", "false", false},
        {"timestamp", "timestamp", "2026-01-02T03:04:05.678Z", "2026-01-02T03:04:05.678Z", true},
        {"timestamp", "timestamp", "2026-01-02T03:04:05.678Z", "2026-01-02T03:04:05.679Z", false},
        {"timestamp_ms", "bigint", "1700000000000", "1700000000000", true},
        {"timestamp_s", "timestamp_s", "1700000000", "1700000000.0", true},
        {"timestamp_s", "double", "1700000000.50", "1700000000.5", true},
        {"timestamp_s", "bigint", "1700000000.0", "1700000000", true},
        {"timestamp_s", "timestamp_ms", "1700000000", "1700000000000", false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char fields[SIDES][64], lines[SIDES][64];
        struct engine_fixture *f;
        snprintf(fields[SIDE_LEFT], 64, "k %s, id", rows[i].left_type);
        snprintf(fields[SIDE_RIGHT], 64, "k %s, id", rows[i].right_type);
        snprintf(lines[SIDE_LEFT], 64, "%s,a", rows[i].left);
        snprintf(lines[SIDE_RIGHT], 64, "%s,x", rows[i].right);
        f = open_engine(PLAN(.fields = {fields[SIDE_LEFT], fields[SIDE_RIGHT]}));
        push(f, SIDE_LEFT, 1, lines[SIDE_LEFT]);
        push(f, SIDE_RIGHT, 1, lines[SIDE_RIGHT]);
        assert_row((strlen(end(f)) > 0) == rows[i].equal, lines[SIDE_LEFT]);
        close_engine(f);
    }
}

/* NULL is written here as NULL, the empty string as "". */
static void keys_of_several_parts_are_equal_in_every_part(void **state)
{
    static const struct {
        const char *name;
        const char *left[2], *right[2];
        bool equal;
    } rows[] = {
        {"equal", {"a", "b"}, {"a", "b"}, true},
        {"the first differs", {"a", "b"}, {"c", "b"}, false},
        {"the second differs", {"a", "b"}, {"a", "c"}, false},
        {"the same bytes, cut elsewhere", {"ab", "c"}, {"a", "bc"}, false},
        {"an empty part", {"a", ""}, {"a", ""}, true},
        {"an empty part here and there", {"a", ""}, {"", "a"}, false},
        {"both empty", {"", ""}, {"", ""}, true},
        {"the first is NULL", {NULL, "b"}, {NULL, "b"}, false},
        {"the second is NULL", {"a", NULL}, {"a", NULL}, false},
        {"NULL and empty", {"a", NULL}, {"a", ""}, false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct engine_fixture *f =
            open_engine(PLAN(.fields = {"k, id, j", "k, id, j"}, .key = {"k, j", "k, j"}));
        add_packed(f, SIDE_LEFT, rows[i].left[0], "a", rows[i].left[1]);
        add_packed(f, SIDE_RIGHT, rows[i].right[0], "x", rows[i].right[1]);
        push_added(f, SIDE_LEFT, 1);
        push_added(f, SIDE_RIGHT, 1);
        assert_row((strlen(end(f)) > 0) == rows[i].equal, rows[i].name);
        close_engine(f);
    }
}

static void parts_may_be_of_any_types_and_from_different_places(void **state)
{
    struct engine_fixture *f =
        open_engine(PLAN(.fields = {"k bigint, id, j double, s", "s, id, k double, j bigint"},
                         .key = {"k, s, j", "k, s, j"}));

    (void)state;
    push(f, SIDE_LEFT, 1, "7,a,0,s 7,b,1.5,s 8,c,0,s");
    push(f, SIDE_RIGHT, 1, "s,x,7,0 s,y,7,1 t,z,7,0");
    assert_string_equal(end(f), "(a,x)");
    close_engine(f);
}

static void the_empty_string_is_a_key_like_any_other(void **state)
{
    struct engine_fixture *f = open_engine(PLAN(.type = JOIN_FULL));

    (void)state;
    add_packed(f, SIDE_LEFT, "", "a", "true");
    push_added(f, SIDE_LEFT, 1);
    push(f, SIDE_LEFT, 1, ",b,true");
    add_packed(f, SIDE_RIGHT, "", "x", "true");
    push_added(f, SIDE_RIGHT, 1);
    push(f, SIDE_RIGHT, 1, ",y,true");
    assert_string_equal(end(f), "(b,null)(null,y)(a,x)");
    close_engine(f);
}

static void without_a_key_every_record_has_the_same(void **state)
{
    struct engine_fixture *f = open_engine(PLAN(.type = JOIN_FULL, .key = {"", ""}));

    (void)state;
    push(f, SIDE_LEFT, 1, "k,a, ,b,");
    push(f, SIDE_RIGHT, 1, "m,x, ,y,");
    assert_string_equal(end(f), "(a,x)(a,y)(b,x)(b,y)");
    close_engine(f);
}

/* Then it is not stored twice: header, time and the line are all. */
static void a_key_that_is_one_field_stays_in_the_line(void **state)
{
    struct engine_fixture *f = open_engine(PLAN());
    struct result r;

    (void)state;
    push(f, SIDE_LEFT, 1, "keyed,a,true");
    push(f, SIDE_RIGHT, 1, "keyed,x,true");
    advance(f, 10000);
    assert_int_equal(pull(f, &r, 1, ALL_FUEL), 1);
    assert_int_equal(record_stride(r.record[SIDE_LEFT]), 12 + 4 + 12); /* 4: its time */
    assert_text(record_body(r.record[SIDE_LEFT]).p, 12, "keyed,a,true");
    assert_true(record_key(r.record[SIDE_LEFT]).p == record_body(r.record[SIDE_LEFT]).p);
    assert_string_equal(drain(f), "");
    close_engine(f);
}

static void packed_rows_meet_verbatim_ones_and_keep_their_fields(void **state)
{
    struct engine_fixture *f = open_engine(PLAN());
    struct result r;

    (void)state;
    add_packed(f, SIDE_LEFT, "k", "a, \"quoted\" one", "");
    add_packed(f, SIDE_LEFT, "k", NULL, "true");
    push_added(f, SIDE_LEFT, 1);
    push(f, SIDE_RIGHT, 1, "k,x,");
    advance(f, 10000);

    assert_int_equal(pull(f, &r, 1, ALL_FUEL), 1);
    assert_true(record_has(r.record[SIDE_LEFT], RECORD_PACKED));
    assert_false(record_has(r.record[SIDE_RIGHT], RECORD_PACKED));
    assert_true(bytes_equal(field_of(f->plan, SIDE_LEFT, r.record[SIDE_LEFT], 1),
                            BYTES_LIT("a, \"quoted\" one")));
    assert_non_null(field_of(f->plan, SIDE_LEFT, r.record[SIDE_LEFT], 2).p);
    assert_null(field_of(f->plan, SIDE_RIGHT, r.record[SIDE_RIGHT], 2).p);

    assert_int_equal(pull(f, &r, 1, ALL_FUEL), 1);
    assert_null(field_of(f->plan, SIDE_LEFT, r.record[SIDE_LEFT], 1).p);
    assert_int_equal(pull(f, &r, 1, ALL_FUEL), 0);
    close_engine(f);
}

/* --- time --- */

static void windows_fire_as_time_is_told(void **state)
{
    struct engine_fixture *f = open_engine(PLAN());

    (void)state;
    push(f, SIDE_LEFT, 1000, "k,a,true");
    assert_int_equal(engine_time(f->engine).ms, 1000);
    assert_int_equal(engine_due(f->engine).ms, 10000);
    advance(f, 9999);
    push(f, SIDE_RIGHT, 9999, "k,x,true");
    assert_false(engine_has_work(f->engine));
    push(f, SIDE_RIGHT, 10000, "k,y,true"); /* time comes with records too */
    assert_true(engine_has_work(f->engine));
    assert_int_equal(engine_due(f->engine).ms, 20000);
    assert_string_equal(drain(f), "(a,x)");
    close_engine(f);
}

static void time_never_goes_back(void **state)
{
    struct engine_fixture *f = open_engine(PLAN());

    (void)state;
    push(f, SIDE_LEFT, 25000, "k,a,true");
    advance(f, 5000);
    assert_int_equal(engine_time(f->engine).ms, 25000);
    push(f, SIDE_RIGHT, 5000, "k,x,true"); /* taken for 25000 */
    assert_int_equal(engine_time(f->engine).ms, 25000);
    assert_int_equal(engine_due(f->engine).ms, 30000);
    advance(f, 29999);
    assert_string_equal(drain(f), "");
    advance(f, 30000);
    assert_string_equal(drain(f), "(a,x)");
    close_engine(f);
}

static void time_goes_on_though_no_row_is_taken(void **state)
{
    struct engine_fixture *f = open_engine(PLAN(.type = JOIN_LEFT));

    (void)state;
    push(f, SIDE_LEFT, 1, "k,a,true");
    assert_int_equal(push_added(f, SIDE_LEFT, 10000), 0);
    assert_string_equal(drain(f), "(a,null)");
    close_engine(f);
}

static void when_both_sides_have_ended_all_windows_fire(void **state)
{
    struct engine_fixture *f = open_engine(PLAN(.type = JOIN_FULL));

    (void)state;
    push(f, SIDE_LEFT, 1, "k,a,true");
    push(f, SIDE_RIGHT, 2, "k,x,true");
    engine_end(f->engine, SIDE_RIGHT);
    assert_string_equal(drain(f), "");
    push(f, SIDE_LEFT, 3, "k,b,true"); /* the other side goes on */
    push(f, SIDE_LEFT, 10001, "k,c,true");
    assert_string_equal(drain(f), "(a,x)(b,x)");
    engine_end(f->engine, SIDE_LEFT);
    assert_int_equal(engine_due(f->engine).ms, INT64_MAX);
    assert_string_equal(drain(f), "(c,null)");
    assert_int_equal(engine_held(f->engine, SIDE_LEFT), 0);
    advance(f, 20000); /* the clock goes on, but nothing comes of it */
    assert_int_equal(engine_time(f->engine).ms, INT64_MAX);
    close_engine(f);
}

/* --- results --- */

static void results_are_counted_by_kind_and_may_be_rejected(void **state)
{
    struct engine_fixture *f = open_engine(PLAN(.type = JOIN_FULL));
    struct result results[8];

    (void)state;
    push(f, SIDE_LEFT, 1, "k,a,true k,b,true m,c,true");
    push(f, SIDE_RIGHT, 1, "k,x,true n,y,true o,z,true");
    advance(f, 10000);
    assert_int_equal(pull(f, results, 8, ALL_FUEL), 5);
    assert_int_equal(f->results[RESULT_PAIR], 2);
    assert_int_equal(f->results[RESULT_LEFT], 1);
    assert_int_equal(f->results[RESULT_RIGHT], 2);

    engine_reject_result(f->engine, &results[0]);
    f->results[results[0].kind]--;
    assert_balance(f);
    assert_int_equal(engine_books(f->engine)->results_rejected, 1);
    assert_int_equal(books_of(f, SIDE_LEFT).matched, 2); /* fates stand */
    close_engine(f);
}

static void semi_and_anti_are_kinds_of_their_own(void **state)
{
    static const enum join_type types[] = {JOIN_SEMI, JOIN_ANTI};
    static const enum result_kind kinds[] = {RESULT_SEMI, RESULT_ANTI};
    static const char *const told[] = {"(a)(a)", "(b)"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        struct engine_fixture *f = open_engine(PLAN(.type = types[i]));
        push(f, SIDE_LEFT, 1, "k,a,true m,b,true k,a,true");
        push(f, SIDE_RIGHT, 1, "k,x,true k,y,true");
        assert_string_equal(end(f), told[i]);
        assert_int_equal(f->results[kinds[i]], strlen(told[i]) / 3);
        assert_fates(f, SIDE_LEFT,
                     (struct books_side){.received = 3, .matched = 2, .unmatched = 1});
        assert_fates(f, SIDE_RIGHT,
                     (struct books_side){.received = 2, .matched = 1, .unmatched = 1});
        close_engine(f);
    }
}

/* Keys of a large window may come in any order; the seed says in which. */
static void the_seed_decides_the_order_of_keys_and_nothing_else(void **state)
{
    static const uint64_t seeds[] = {1, 1, 2};
    char *told[COUNT_OF(seeds)], line[128];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(seeds); i++) {
        struct engine_fixture *f = open_engine(PLAN(.type = JOIN_LEFT, .hash_seed = seeds[i]));
        for (int n = 0; n < 2000; n++) {
            snprintf(line, sizeof(line), "a_key_that_is_rather_long_%d,%04d,true", n, n);
            push(f, SIDE_LEFT, 1, line);
        }
        told[i] = mem_strdup(end(f));
        close_engine(f);
    }
    assert_string_equal(told[0], told[1]);
    assert_string_not_equal(told[0], told[2]);
    for (int n = 0; n < 2000; n++) {
        snprintf(line, sizeof(line), "(%04d,null)", n);
        assert_non_null(strstr(told[2], line));
    }
    assert_int_equal(strlen(told[2]), 2000 * strlen(line));
    for (size_t i = 0; i < COUNT_OF(seeds); i++)
        mem_free(told[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_result_has_its_word),
        cmocka_unit_test(books_balance_when_every_record_has_one_fate),
        cmocka_unit_test(a_new_engine_has_nothing_and_knows_no_time),
        cmocka_unit_test(rejected_rows_are_counted_and_nothing_else),
        cmocka_unit_test(only_records_for_which_where_is_true_take_part),
        cmocka_unit_test(a_null_key_is_held_only_where_it_will_be_padded),
        cmocka_unit_test(records_are_rejected_when_where_or_key_fails),
        cmocka_unit_test(keys_are_compared_after_the_usual_promotion),
        cmocka_unit_test(keys_of_several_parts_are_equal_in_every_part),
        cmocka_unit_test(parts_may_be_of_any_types_and_from_different_places),
        cmocka_unit_test(the_empty_string_is_a_key_like_any_other),
        cmocka_unit_test(without_a_key_every_record_has_the_same),
        cmocka_unit_test(a_key_that_is_one_field_stays_in_the_line),
        cmocka_unit_test(packed_rows_meet_verbatim_ones_and_keep_their_fields),
        cmocka_unit_test(windows_fire_as_time_is_told),
        cmocka_unit_test(time_never_goes_back),
        cmocka_unit_test(time_goes_on_though_no_row_is_taken),
        cmocka_unit_test(when_both_sides_have_ended_all_windows_fire),
        cmocka_unit_test(results_are_counted_by_kind_and_may_be_rejected),
        cmocka_unit_test(semi_and_anti_are_kinds_of_their_own),
        cmocka_unit_test(the_seed_decides_the_order_of_keys_and_nothing_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
