#include "table_join_fixture.h"

/* A join, a script, and what comes of it, however it is pulled. */
struct script_row {
    const char *name;
    struct join_words words;
    const char *script, *expected;
};

static const struct pulling patterns[] = {
    {RESULTS_MAX, ALL_FUEL, false}, {RESULTS_MAX, ALL_FUEL, true},
    {1, ALL_FUEL, false},           {1, ALL_FUEL, true},
    {RESULTS_MAX, 1, true},         {3, 25, true},
};

static void assert_rows(enum match_kind match, const struct script_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct join_words words = rows[i].words;
        words.match = match;
        for (size_t p = 0; p < COUNT_OF(patterns); p++) {
            struct driven_join *j = open_join(plan_of(&words), patterns[p]);
            const char *told = run(j, rows[i].script);
            if (strcmp(told, rows[i].expected) != 0)
                fail_msg("%s, pulled in way %zu: \"%s\" is not \"%s\"", rows[i].name, p, told,
                         rows[i].expected);
            close_join(j);
        }
    }
}

/* --- batch --- */

#define FOUR "R k,x j,y k,z i,w; EOR; L k,a h,b j,c ; L k,d; END"

static void each_type_of_batch_gives_its_rows(void **state)
{
    static const struct script_row rows[] = {
        {"inner", {.type = JOIN_INNER}, FOUR, "(a,x)(a,z)(c,y)(d,x)(d,z)"},
        {"left", {.type = JOIN_LEFT}, FOUR, "(a,x)(a,z)(b,null)(c,y)(d,x)(d,z)"},
        {"right", {.type = JOIN_RIGHT}, FOUR, "(a,x)(a,z)(c,y)(d,x)(d,z)(null,w)"},
        {"full", {.type = JOIN_FULL}, FOUR, "(a,x)(a,z)(b,null)(c,y)(d,x)(d,z)(null,w)"},
        {"semi", {.type = JOIN_SEMI}, FOUR, "(a)(c)(d)"},
        {"anti", {.type = JOIN_ANTI}, FOUR, "(b)"},
    };

    (void)state;
    assert_rows(MATCH_BATCH, rows, COUNT_OF(rows));
}

/* shippers.md 7: empty keys do not match each other; 22: of several partners all are joined. */
static void null_keys_match_nothing_and_outer_joins_pad_them(void **state)
{
#define NULLS "R ,x k,y; EOR; L ,a k,b; END"
    static const struct script_row rows[] = {
        {"inner", {.type = JOIN_INNER}, NULLS, "(b,y)"},
        {"left", {.type = JOIN_LEFT}, NULLS, "(a,null)(b,y)"},
        {"right", {.type = JOIN_RIGHT}, NULLS, "(b,y)(null,x)"},
        {"full", {.type = JOIN_FULL}, NULLS, "(a,null)(b,y)(null,x)"},
        {"semi", {.type = JOIN_SEMI}, NULLS, "(b)"},
        {"anti", {.type = JOIN_ANTI}, NULLS, "(a)"},
    };

    (void)state;
    assert_rows(MATCH_BATCH, rows, COUNT_OF(rows));
}

static void right_rows_are_padded_in_order_of_arrival(void **state)
{
    static const struct script_row rows[] = {
        {"all",
         {.type = JOIN_RIGHT},
         "R c,1 a,2 ,3 b,4 a,5; R ,6 c,7; EOR; L b,x; END",
         "(x,4)(null,1)(null,2)(null,3)(null,5)(null,6)(null,7)"},
        {"without a left row", {.type = JOIN_FULL}, "R c,1 a,2; END", "(null,1)(null,2)"},
        {"none", {.type = JOIN_FULL}, "END", ""},
        {"without a right row", {.type = JOIN_FULL}, "EOR; L k,a; END", "(a,null)"},
    };

    (void)state;
    assert_rows(MATCH_BATCH, rows, COUNT_OF(rows));
}

/* 1 / 0 in `on`: semantics.md, interface.md section 3 (Errors). */
static void a_further_condition_decides(void **state)
{
#define ON   "R k,x,true k,y,false k,z k,w,true; EOR; L k,a k,b; END"
#define FAIL "1 / cast(right.id as bigint) > 0"
    static const struct script_row rows[] = {
        {"inner", {.type = JOIN_INNER, .on = "right.ok"}, ON, "(a,x)(a,w)(b,x)(b,w)"},
        {"right",
         {.type = JOIN_RIGHT, .on = "right.ok"},
         ON,
         "(a,x)(a,w)(b,x)(b,w)(null,y)(null,z)"},
        {"semi", {.type = JOIN_SEMI, .on = "not right.ok"}, ON, "(a)(b)"},
        {"anti", {.type = JOIN_ANTI, .on = "right.id = 'w'"}, ON, ""},
        {"anti, nobody", {.type = JOIN_ANTI, .on = "right.id = left.id"}, ON, "(a)(b)"},
        /* The second left row lies where the first one did, with its fields elsewhere. */
        {"of each left row anew",
         {.type = JOIN_INNER, .on = "left.id = right.id"},
         "R k,x kk,y; EOR; L k,x; L kk,y; END",
         "(x,x)(y,y)"},
        {"a pair that fails",
         {.type = JOIN_LEFT, .on = FAIL},
         "R k,0 j,1 j,0; EOR; L k,7 j,8; END",
         "!(7,0)(7,null)(8,1)!(8,0)"},
    };

    (void)state;
    assert_rows(MATCH_BATCH, rows, COUNT_OF(rows));
}

static void without_a_key_every_row_meets_every_other(void **state)
{
    static const struct script_row rows[] = {
        {"full",
         {.type = JOIN_FULL, .key = {"", ""}},
         "R k,x ,y; EOR; L ,a j,b; END",
         "(a,x)(a,y)(b,x)(b,y)"},
    };

    (void)state;
    assert_rows(MATCH_BATCH, rows, COUNT_OF(rows));
}

/* The vectors of semantics.md section 8, as far as they are the engine's. */
static void the_vectors_hold(void **state)
{
    static const struct script_row rows[] = {
        {"B1",
         {.type = JOIN_LEFT,
          .fields = {"id bigint, name", "company_id bigint, name"},
          .key = {"coalesce(id, -9999999)", "company_id"}},
         "R 1,Ann -9999999,None; EOR; L 1,a ,b 3,c; END",
         "(a,Ann)(b,None)(c,null)"},
        {"B2",
         {.type = JOIN_INNER, .fields = {"k bigint, id", "k double, id"}},
         "R 9007199254740992,x; EOR; L 9007199254740993,a; END",
         "(a,x)"},
    };

    (void)state;
    assert_rows(MATCH_BATCH, rows, COUNT_OF(rows));
}

/* shippers.md 8. */
static void keys_are_strings_unless_they_are_typed(void **state)
{
    static const struct script_row rows[] = {
        {"strings", {.type = JOIN_LEFT}, "R 7,x; EOR; L 007,a 7,b; END", "(a,null)(b,x)"},
    };

    (void)state;
    assert_rows(MATCH_BATCH, rows, COUNT_OF(rows));
}

static void the_left_side_waits_until_the_right_one_has_ended(void **state)
{
    struct driven_join *j = open_join(BATCH_PLAN(), patterns[0]);
    struct engine *e = j->f->engine;

    (void)state;
    run(j, "R k,x");
    assert_int_equal(engine_holds(e, SIDE_LEFT, NULL), ENGINE_OTHER);
    assert_int_equal(engine_holds(e, SIDE_RIGHT, NULL), ENGINE_TAKES);
    add_line(j->f, SIDE_LEFT, BYTES_LIT("k,a,"));
    assert_int_equal(engine_push(e, SIDE_LEFT, &j->f->batch[SIDE_LEFT], 0, at(2000)), 0);
    engine_end(e, SIDE_RIGHT);
    assert_int_equal(engine_holds(e, SIDE_LEFT, NULL), ENGINE_TAKES);
    push_batch(j, SIDE_LEFT);
    assert_string_equal(buf_text(&j->told), "(a,x)");
    close_join(j);
}

static void a_right_row_is_matched_when_it_decided_a_left_one(void **state)
{
    static const struct {
        enum join_type type;
        const char *on;
        uint64_t matched[SIDES], unmatched[SIDES];
    } rows[] = {
        {JOIN_INNER, NULL, {2, 3}, {1, 1}},
        {JOIN_SEMI, NULL, {2, 1}, {1, 3}},
        {JOIN_ANTI, NULL, {2, 1}, {1, 3}},
        {JOIN_SEMI, "right.id = 'y'", {2, 1}, {1, 3}},
        {JOIN_ANTI, "right.id = 'y'", {2, 1}, {1, 3}},
        {JOIN_FULL, NULL, {2, 3}, {1, 1}},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct driven_join *j =
            open_join(BATCH_PLAN(.type = rows[i].type, .on = rows[i].on), patterns[0]);
        run(j, "R k,x k,y k,z i,w; EOR; L k,a j,b k,c; END");
        for (int s = 0; s < SIDES; s++) {
            assert_int_equal(books_of(j->f, s).matched, rows[i].matched[s]);
            assert_int_equal(books_of(j->f, s).unmatched, rows[i].unmatched[s]);
        }
        close_join(j);
    }
}

static void a_right_side_that_does_not_fit_is_full_and_stays_so(void **state)
{
    struct driven_join *j = open_join(BATCH_PLAN(.state_bytes_max = 65536), patterns[0]);
    struct engine *e = j->f->engine;
    char line[64];

    (void)state;
    while (engine_takes(e)) {
        for (int i = 0; i < 100; i++) {
            snprintf(line, sizeof(line), "key %d,id,", i);
            add_line(j->f, SIDE_RIGHT, bytes_of(line));
            engine_push(e, SIDE_RIGHT, &j->f->batch[SIDE_RIGHT], 0, at(2000));
            batch_clear(&j->f->batch[SIDE_RIGHT]);
        }
    }
    assert_true(engine_state_bytes(e) <= 65536);
    assert_true(books_of(j->f, SIDE_RIGHT).received > 500);
    pull_all(j);
    engine_flush(e);
    assert_false(engine_takes(e));
    close_join(j);
}

/* --- lookup --- */

static void each_type_of_lookup_gives_its_rows(void **state)
{
#define LOOK "T k,x j,y k,z; L k,a h,b ,c j,d; END"
    static const struct script_row rows[] = {
        {"inner", {.type = JOIN_INNER}, LOOK, "(a,x)(a,z)(d,y)"},
        {"left", {.type = JOIN_LEFT}, LOOK, "(a,x)(a,z)(b,null)(c,null)(d,y)"},
        {"semi", {.type = JOIN_SEMI}, LOOK, "(a)(d)"},
        {"anti", {.type = JOIN_ANTI}, LOOK, "(b)(c)"},
    };

    (void)state;
    assert_rows(MATCH_LOOKUP, rows, COUNT_OF(rows));
}

static void a_new_table_answers_what_comes_after_it(void **state)
{
    static const struct script_row rows[] = {
        {"swapped",
         {.type = JOIN_LEFT},
         "T k,x; L k,a; T k,y; L k,b; T; L k,c; T k,z; L k,d; END",
         "(a,x)(b,y)(c,null)(d,z)"},
        {"twice at once",
         {.type = JOIN_LEFT},
         "T k,x; L k,a; T k,y; T k,z; L k,b; END",
         "(a,x)(b,z)"},
        {"semi", {.type = JOIN_SEMI}, "T k,x; L k,a j,b; T j,y; L k,c j,d; END", "(a)(d)"},
        {"anti", {.type = JOIN_ANTI}, "T k,x; L k,a j,b; T j,y; L k,c j,d; END", "(b)(c)"},
    };

    (void)state;
    assert_rows(MATCH_LOOKUP, rows, COUNT_OF(rows));
}

static void of_a_keys_rows_all_or_the_last_match(void **state)
{
    struct driven_join *j;

    (void)state;
    for (int last = 0; last < 2; last++) {
        struct plan *plan = TABLE_PLAN(.type = JOIN_INNER);
        plan->duplicates = last ? DUPLICATES_LAST : DUPLICATES_KEEP;
        j = open_join(plan, patterns[0]);
        run(j, "T k,x j,y k,z ,v k,w; L k,a j,b; END");
        assert_string_equal(buf_text(&j->told), last ? "(a,w)(b,y)" : "(a,x)(a,z)(a,w)(b,y)");
        assert_fates(
            j->f, SIDE_RIGHT,
            (struct books_side){.received = 5, .matched = last ? 2 : 4, .unmatched = last ? 3 : 1});
        close_join(j);
    }
}

/* What is wrong with the row at `at_row` of a table of all rows that were added. */
static void assert_fault(struct driven_join *j, size_t at_row, const char *expected)
{
    struct batch *b = &j->f->batch[SIDE_RIGHT];
    struct lookup_table *t = engine_table_new(j->f->engine);
    struct buf fault = BUF_EMPTY;
    int64_t fuel = ALL_FUEL;

    assert_int_equal(engine_table_add(j->f->engine, t, b, 0, &fuel, &fault), at_row);
    assert_string_equal(buf_text(&fault), expected);
    engine_table_drop(j->f->engine, t);
    buf_done(&fault);
    batch_clear(b);
    pull_all(j);
    assert_int_equal(books_of(j->f, SIDE_RIGHT).received, 0);
    assert_int_equal(engine_held(j->f->engine, SIDE_RIGHT), 0);
}

static void a_fault_of_a_row_is_one_of_the_table_and_touches_no_book(void **state)
{
    struct plan *plan = TABLE_PLAN(.type = JOIN_LEFT, .where = {NULL, "1 / char_length(id) >= 0"});
    struct driven_join *j;

    (void)state;
    plan->duplicates = DUPLICATES_ERROR;
    j = open_join(plan, patterns[0]);
    push(j->f, SIDE_LEFT, 1000, "k,a,");
    pull_all(j);

    add_line(j->f, SIDE_RIGHT, BYTES_LIT("k,x,"));
    add_rejected(j->f, SIDE_RIGHT);
    assert_fault(j, 1, "broken");
    add_line(j->f, SIDE_RIGHT, BYTES_LIT("k,x,"));
    add_line(j->f, SIDE_RIGHT, BYTES_LIT("j,y,"));
    add_line(j->f, SIDE_RIGHT, BYTES_LIT("k,z,"));
    assert_fault(j, 2, "a row with this key is there already");
    add_packed(j->f, SIDE_RIGHT, "k", "", NULL);
    assert_fault(j, 0, "where: division by zero");

    run(j, "T k,x; L k,b; END");
    assert_string_equal(buf_text(&j->told), "(a,null)(b,x)");
    close_join(j);
}

static void null_keys_may_come_twice_where_keys_may_not(void **state)
{
    struct plan *plan = TABLE_PLAN(.type = JOIN_LEFT);
    struct driven_join *j;

    (void)state;
    plan->duplicates = DUPLICATES_ERROR;
    j = open_join(plan, patterns[0]);
    run(j, "T ,x ,y k,z; L k,a ,b; END");
    assert_string_equal(buf_text(&j->told), "(a,z)(b,null)");
    close_join(j);
}

static void a_table_that_does_not_fit_beside_the_old_one_is_refused(void **state)
{
    struct driven_join *j =
        open_join(TABLE_PLAN(.type = JOIN_LEFT, .state_bytes_max = 100000), patterns[0]);
    struct lookup_table *t = engine_table_new(j->f->engine);
    struct buf fault = BUF_EMPTY;
    int64_t fuel = ALL_FUEL;
    char line[64];

    (void)state;
    for (unsigned i = 0; buf_length(&fault) == 0; i++) {
        snprintf(line, sizeof(line), "%u,%u,", i, i);
        add_line(j->f, SIDE_RIGHT, bytes_of(line));
        engine_table_add(j->f->engine, t, &j->f->batch[SIDE_RIGHT], 0, &fuel, &fault);
        assert_int_equal(j->f->batch[SIDE_RIGHT].rows[0].reject, REJECT_NONE);
        batch_clear(&j->f->batch[SIDE_RIGHT]);
    }
    assert_string_equal(buf_text(&fault),
                        "the table does not fit into state.memory (100000 bytes)");
    assert_true(engine_state_bytes(j->f->engine) <= 100000);
    engine_table_drop(j->f->engine, t);
    pull_all(j);
    assert_true(engine_state_bytes(j->f->engine) < 20000);
    assert_true(engine_takes(j->f->engine));
    buf_done(&fault);
    close_join(j);
}

static void rows_of_a_table_are_in_the_books_from_its_swap_to_the_next(void **state)
{
    struct plan *plan = TABLE_PLAN(.type = JOIN_LEFT, .where = {NULL, "id <> 'no'"});
    struct driven_join *j = open_join(plan, patterns[0]);

    (void)state;
    run(j, "T k,x j,y ,z i,no k,w; L k,a");
    assert_fates(j->f, SIDE_RIGHT,
                 (struct books_side){.received = 5, .filtered = 1, .matched = 2, .unmatched = 1});
    assert_int_equal(engine_held(j->f->engine, SIDE_RIGHT), 1);
    run(j, "T k,v");
    assert_fates(j->f, SIDE_RIGHT,
                 (struct books_side){.received = 6, .filtered = 1, .matched = 2, .unmatched = 2});
    assert_int_equal(engine_held(j->f->engine, SIDE_RIGHT), 1);
    run(j, "END");
    assert_fates(j->f, SIDE_RIGHT,
                 (struct books_side){.received = 6, .filtered = 1, .matched = 2, .unmatched = 3});
    close_join(j);
}

static void the_old_table_answers_rows_that_came_before_the_new_one(void **state)
{
    struct driven_join *j =
        open_join(TABLE_PLAN(.type = JOIN_LEFT), (struct pulling){1, 100, true});
    struct engine *e = j->f->engine;

    (void)state;
    run(j, "T k,x k,y; L k,a k,b; T k,z");
    assert_string_equal(buf_text(&j->told), "");
    assert_int_equal(books_of(j->f, SIDE_RIGHT).received, 2);
    add_line(j->f, SIDE_LEFT, BYTES_LIT("k,c,"));
    assert_int_equal(engine_push(e, SIDE_LEFT, &j->f->batch[SIDE_LEFT], 0, at(5000)), 0);
    assert_int_equal(engine_holds(e, SIDE_LEFT, NULL), ENGINE_RESULTS);
    push_batch(j, SIDE_LEFT);
    pull_all(j);
    assert_string_equal(buf_text(&j->told), "(a,x)(a,y)(b,x)(b,y)(c,z)");
    assert_int_equal(books_of(j->f, SIDE_RIGHT).received, 3);
    close_join(j);
}

/* left_time is the arrival, right_time that of the swap; in batch both are arrivals. */
static void results_say_when_their_records_came(void **state)
{
    struct driven_join *j =
        open_join(TABLE_PLAN(.type = JOIN_LEFT, .keep_times = true), patterns[0]);

    (void)state;
    run(j, "T k,x; L k,a"); /* at 1010, 1020 */
    assert_int_equal(j->last_count, 0);
    close_join(j);

    j = open_join(TABLE_PLAN(.type = JOIN_LEFT, .keep_times = true), patterns[1]);
    run(j, "T k,x; L k,a");
    assert_int_equal(pull_some(j), 1);
    assert_int_equal(j->last[0].time[SIDE_LEFT], 1020);
    assert_int_equal(j->last[0].time[SIDE_RIGHT], 1010);
    close_join(j);

    j = open_join(BATCH_PLAN(.type = JOIN_FULL, .keep_times = true), patterns[1]);
    run(j, "R k,x; R k,y; EOR; L k,a"); /* at 1010, 1020, 1040 */
    assert_int_equal(pull_some(j), 2);
    assert_int_equal(j->last[0].time[SIDE_LEFT], 1040);
    assert_int_equal(j->last[0].time[SIDE_RIGHT], 1010);
    assert_int_equal(j->last[1].time[SIDE_RIGHT], 1020);
    close_join(j);
}

/* --- what a join at work takes --- */

/* A million pairs, and not one byte for them. */
static void a_hot_key_takes_no_memory_for_its_pairs(void **state)
{
    struct driven_join *j = open_join(BATCH_PLAN(), (struct pulling){RESULTS_MAX, 1000, true});
    struct result results[RESULTS_MAX];
    struct product *x = mem_alloc_zeroed(1, sizeof(*x));
    char line[64];
    uint64_t bytes;
    int64_t fuel;
    size_t n;

    (void)state;
    for (int s = SIDES; s-- > 0;) {
        for (unsigned id = 1; id <= 200; id++) {
            snprintf(line, sizeof(line), "1,%u,", id);
            add_line(j->f, s, bytes_of(line));
            assert_int_equal(engine_push(j->f->engine, s, &j->f->batch[s], 0, at(2000)), 1);
            batch_clear(&j->f->batch[s]);
            product_in(x, s, 1);
        }
        if (s == SIDE_RIGHT)
            engine_end(j->f->engine, s);
    }
    bytes = engine_state_bytes(j->f->engine);
    do {
        fuel = 1000;
        n = engine_pull(j->f->engine, results, RESULTS_MAX, &fuel);
        for (size_t i = 0; i < n; i++)
            product_out(x, j->f->plan, &results[i]);
        assert_int_equal(engine_state_bytes(j->f->engine), bytes);
        assert_true(fuel > -100);
    } while (engine_has_work(j->f->engine));
    assert_product(x);
    mem_free(x);
    close_join(j);
}

static void a_row_larger_than_all_others_is_taken_and_leaves_no_trace(void **state)
{
    struct driven_join *j =
        open_join(TABLE_PLAN(.type = JOIN_LEFT, .state_bytes_max = 65536), patterns[1]);
    char *large = mem_alloc(100001);
    uint64_t bytes;

    (void)state;
    memset(large, 'x', 100000);
    memcpy(large, "k,", 2);
    memcpy(large + 99999, ",", 2);
    run(j, "T k,x; L k,a");
    bytes = engine_state_bytes(j->f->engine);
    add_line(j->f, SIDE_LEFT, bytes_of(large));
    push_batch(j, SIDE_LEFT);
    run(j, "L k,b");
    pull_all(j);
    assert_int_equal(engine_state_bytes(j->f->engine), bytes);
    assert_int_equal(engine_books(j->f->engine)->results[RESULT_PAIR], 3);
    mem_free(large);
    close_join(j);
}

static void an_old_table_is_freed_in_bounded_steps_while_rows_go_by(void **state)
{
    struct driven_join *j =
        open_join(TABLE_PLAN(.type = JOIN_LEFT), (struct pulling){RESULTS_MAX, 400, true});
    struct lookup_table *t = engine_table_new(j->f->engine);
    struct buf fault = BUF_EMPTY;
    int64_t fuel = ALL_FUEL;
    char line[64];
    unsigned pulls = 0;

    (void)state;
    for (unsigned i = 0; i < 50000; i++) {
        snprintf(line, sizeof(line), "%u,%u,", i, i);
        add_line(j->f, SIDE_RIGHT, bytes_of(line));
        engine_table_add(j->f->engine, t, &j->f->batch[SIDE_RIGHT], 0, &fuel, &fault);
        batch_clear(&j->f->batch[SIDE_RIGHT]);
    }
    engine_table_swap(j->f->engine, t, at(j->now));
    run(j, "T k,x; L k,a");
    for (; operator_of(j)->leaving != NULL; pulls++) {
        int64_t before = (int64_t)engine_state_bytes(j->f->engine);
        add_line(j->f, SIDE_LEFT, BYTES_LIT("k,b,")); /* there is always something to tell */
        engine_push(j->f->engine, SIDE_LEFT, &j->f->batch[SIDE_LEFT], 0, at(2000));
        batch_clear(&j->f->batch[SIDE_LEFT]);
        fuel = 400;
        engine_pull(j->f->engine, j->last, RESULTS_MAX, &fuel);
        assert_true(fuel > -100);
        assert_true(before - (int64_t)engine_state_bytes(j->f->engine) < 400000);
    }
    assert_in_range(pulls, 50, 50000);
    assert_true(engine_state_bytes(j->f->engine) < 20000);
    buf_done(&fault);
    close_join(j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_type_of_batch_gives_its_rows),
        cmocka_unit_test(null_keys_match_nothing_and_outer_joins_pad_them),
        cmocka_unit_test(right_rows_are_padded_in_order_of_arrival),
        cmocka_unit_test(a_further_condition_decides),
        cmocka_unit_test(without_a_key_every_row_meets_every_other),
        cmocka_unit_test(the_vectors_hold),
        cmocka_unit_test(keys_are_strings_unless_they_are_typed),
        cmocka_unit_test(the_left_side_waits_until_the_right_one_has_ended),
        cmocka_unit_test(a_right_row_is_matched_when_it_decided_a_left_one),
        cmocka_unit_test(a_right_side_that_does_not_fit_is_full_and_stays_so),
        cmocka_unit_test(each_type_of_lookup_gives_its_rows),
        cmocka_unit_test(a_new_table_answers_what_comes_after_it),
        cmocka_unit_test(of_a_keys_rows_all_or_the_last_match),
        cmocka_unit_test(a_fault_of_a_row_is_one_of_the_table_and_touches_no_book),
        cmocka_unit_test(null_keys_may_come_twice_where_keys_may_not),
        cmocka_unit_test(a_table_that_does_not_fit_beside_the_old_one_is_refused),
        cmocka_unit_test(rows_of_a_table_are_in_the_books_from_its_swap_to_the_next),
        cmocka_unit_test(the_old_table_answers_rows_that_came_before_the_new_one),
        cmocka_unit_test(results_say_when_their_records_came),
        cmocka_unit_test(a_hot_key_takes_no_memory_for_its_pairs),
        cmocka_unit_test(a_row_larger_than_all_others_is_taken_and_leaves_no_trace),
        cmocka_unit_test(an_old_table_is_freed_in_bounded_steps_while_rows_go_by),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
