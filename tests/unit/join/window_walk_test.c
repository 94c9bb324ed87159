#include "window_walk_fixture.h"

/* --- what comes --- */

static void an_empty_window_gives_nothing(void **state)
{
    struct walk_fixture *f = open_walk(PLAN(.type = JOIN_FULL));

    (void)state;
    assert_int_equal(pull(f, 1, ALL_FUEL), 0); /* no walk is under way */
    assert_string_equal(walk(f), "");
    assert_int_equal(pull(f, 1, ALL_FUEL), 0);
    close_walk(f);
}

/* One key with several records on both sides, one for each side alone, NULLs; the key
 * of each comes in an order of its own, so the keys are walked one by one. */
static void all_types_with_and_without_a_condition(void **state)
{
    static const struct {
        const char *left, *right;
    } keys[] = {
        {"k,a,true k,b,false k,c,true", "k,x,false k,y,true"},
        {"m,a,true", NULL},
        {NULL, "m,x,true"},
        {",a,true ,b,true", ",x,true ,y,true"},
    };
    static const struct {
        enum join_type type;
        const char *on;
        const char *results[COUNT_OF(keys)];
    } rows[] = {
        {JOIN_INNER, NULL, {"(a,x)(a,y)(b,x)(b,y)(c,x)(c,y)", "", "", ""}},
        {JOIN_LEFT, NULL, {"(a,x)(a,y)(b,x)(b,y)(c,x)(c,y)", "(a,null)", "", "(a,null)(b,null)"}},
        {JOIN_RIGHT, NULL, {"(a,x)(a,y)(b,x)(b,y)(c,x)(c,y)", "", "(null,x)", "(null,x)(null,y)"}},
        {JOIN_FULL,
         NULL,
         {"(a,x)(a,y)(b,x)(b,y)(c,x)(c,y)", "(a,null)", "(null,x)",
          "(a,null)(b,null)(null,x)(null,y)"}},
        {JOIN_SEMI, NULL, {"(a)(b)(c)", "", "", ""}},
        {JOIN_ANTI, NULL, {"", "(a)", "", "(a)(b)"}},

        {JOIN_INNER, "left.ok", {"(a,x)(a,y)(c,x)(c,y)", "", "", ""}},
        {JOIN_LEFT,
         "left.ok",
         {"(a,x)(a,y)(b,null)(c,x)(c,y)", "(a,null)", "", "(a,null)(b,null)"}},
        {JOIN_RIGHT, "left.ok", {"(a,x)(a,y)(c,x)(c,y)", "", "(null,x)", "(null,x)(null,y)"}},
        {JOIN_FULL,
         "left.ok",
         {"(a,x)(a,y)(b,null)(c,x)(c,y)", "(a,null)", "(null,x)",
          "(a,null)(b,null)(null,x)(null,y)"}},
        {JOIN_SEMI, "left.ok", {"(a)(c)", "", "", ""}},
        {JOIN_ANTI, "left.ok", {"(b)", "(a)", "", "(a)(b)"}},

        {JOIN_INNER, "right.ok", {"(a,y)(b,y)(c,y)", "", "", ""}},
        {JOIN_LEFT, "right.ok", {"(a,y)(b,y)(c,y)", "(a,null)", "", "(a,null)(b,null)"}},
        {JOIN_RIGHT, "right.ok", {"(a,y)(b,y)(c,y)(null,x)", "", "(null,x)", "(null,x)(null,y)"}},
        {JOIN_FULL,
         "right.ok",
         {"(a,y)(b,y)(c,y)(null,x)", "(a,null)", "(null,x)", "(a,null)(b,null)(null,x)(null,y)"}},
        {JOIN_SEMI, "right.ok", {"(a)(b)(c)", "", "", ""}},
        {JOIN_ANTI, "right.ok", {"", "(a)", "", "(a)(b)"}},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        for (size_t k = 0; k < COUNT_OF(keys); k++) {
            struct walk_fixture *f = open_walk(PLAN(.type = rows[i].type, .on = rows[i].on));
            const char *told;
            if (keys[k].left != NULL)
                put_all(f, SIDE_LEFT, keys[k].left);
            if (keys[k].right != NULL)
                put_all(f, SIDE_RIGHT, keys[k].right);
            told = walk(f);
            if (strcmp(told, rows[i].results[k]) != 0)
                fail_msg("%s on %s, keys %zu: %s", join_type_word(rows[i].type),
                         rows[i].on == NULL ? "true" : rows[i].on, k, told);
            close_walk(f);
        }
}

static void a_condition_that_is_null_or_fails_is_no_match(void **state)
{
    struct walk_fixture *f = open_walk(PLAN(.type = JOIN_FULL, .on = "right.ok"));
    struct walk_fixture *failing = open_walk(PLAN(.type = JOIN_FULL, .on = "1 / 0 = 1"));

    (void)state;
    put_all(f, SIDE_LEFT, "k,a,true");
    put_all(f, SIDE_RIGHT, "k,x, k,y,true k,z,");
    assert_string_equal(walk(f), "(a,y)(null,x)(null,z)");
    close_walk(f);

    put_all(failing, SIDE_LEFT, "k,a,true");
    put_all(failing, SIDE_RIGHT, "k,x,true");
    assert_string_equal(walk(failing), "!(a,x)(a,null)(null,x)");
    assert_side(failing, SIDE_LEFT, 0, 1);
    close_walk(failing);
}

static void records_of_the_right_are_padded_after_their_keys_lefts(void **state)
{
    struct walk_fixture *f = open_walk(PLAN(.type = JOIN_FULL, .on = "right.ok"));

    (void)state;
    put_all(f, SIDE_RIGHT, "k,x,false k,y,true k,z,false");
    put_all(f, SIDE_LEFT, "k,a,true k,b,true");
    assert_string_equal(walk(f), "(a,y)(b,y)(null,x)(null,z)");
    close_walk(f);
}

/* --- fates --- */

struct fates {
    uint64_t matched[SIDES], unmatched[SIDES];
};

static void fates_are_in_the_books_with_each_result(void **state)
{
    static const struct fates steps[] = {
        {{1, 1}, {0, 0}}, /* (a,y) */
        {{1, 1}, {1, 0}}, /* (b,null) */
        {{2, 1}, {1, 0}}, /* (c,y) */
        {{2, 1}, {1, 1}}, /* (null,x) */
        {{2, 1}, {1, 2}}, /* (null,z) */
    };
    struct walk_fixture *f = open_walk(PLAN(.type = JOIN_FULL, .on = "left.ok"));

    (void)state;
    /* In one partition keys come as they appeared, and those of the left first. */
    put_all(f, SIDE_LEFT, "k,a,true k,b,false k,c,true");
    put_all(f, SIDE_RIGHT, "m,x,true k,y,true m,z,true");
    begin(f);
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        assert_int_equal(pull(f, 1, ALL_FUEL), 1);
        for (int s = 0; s < SIDES; s++)
            assert_side(f, s, steps[i].matched[s], steps[i].unmatched[s]);
    }
    assert_int_equal(pull(f, 1, ALL_FUEL), 0);
    close_walk(f);
}

/* In semi and anti joins the first that satisfied a left record is the one that
 * decided it; interface.md section 5. */
static void a_right_record_is_matched_when_it_decided_a_left_one(void **state)
{
    static const enum join_type types[] = {JOIN_SEMI, JOIN_ANTI};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        struct walk_fixture *f = open_walk(PLAN(.type = types[i], .on = "right.ok"));
        put_all(f, SIDE_LEFT, "k,a,true k,b,true m,c,true");
        put_all(f, SIDE_RIGHT, "k,x,false k,y,true k,z,true n,w,true");
        walk(f);
        assert_side(f, SIDE_LEFT, 2, 1);
        assert_side(f, SIDE_RIGHT, 1, 3);
        close_walk(f);
    }
}

static void a_right_record_that_can_meet_none_is_decided_while_chains_are_built(void **state)
{
    struct walk_fixture *f = open_walk(PLAN(.type = JOIN_LEFT));

    (void)state;
    put_all(f, SIDE_RIGHT, "m,x,true n,y,true");
    begin(f);
    while (f->walk.step == WALK_BUILD)
        assert_int_equal(pull(f, 1, 1), 0);
    assert_int_equal(f->walk.step, WALK_EMIT);
    assert_side(f, SIDE_RIGHT, 0, 2);
    while (f->walk.under_way)
        assert_int_equal(pull(f, 1, 1), 0);
    close_walk(f);
}

/* --- keys --- */

static void a_null_key_is_not_an_empty_one(void **state)
{
    struct walk_fixture *f = open_walk(PLAN(.type = JOIN_FULL));
    struct record_parts empty = {
        .body = BYTES_LIT("\1\2a\0"), .key = BYTES_LIT(""), .flags = RECORD_PACKED};

    (void)state;
    put_parts(f, SIDE_LEFT, empty);
    empty.body = BYTES_LIT("\1\2x\0");
    put_parts(f, SIDE_RIGHT, empty);
    put_hashed(f, SIDE_LEFT, ",b,true", 0);
    put_hashed(f, SIDE_RIGHT, ",y,true", 0);
    assert_string_equal(walk(f), "(b,null)(null,y)(a,x)");
    close_walk(f);
}

/* The whole hash is the same: keys are compared all the same. */
static void keys_of_one_hash_do_not_match(void **state)
{
    struct walk_fixture *f = open_walk(PLAN(.type = JOIN_FULL));
    const char *lefts[] = {"k,a,true", "kk,b,true", "m,c,true", "k,d,true"};
    const char *rights[] = {"m,x,true", "k,y,true", "n,z,true", "kk,w,true"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(lefts); i++) {
        put_hashed(f, SIDE_LEFT, lefts[i], 0x12345678);
        put_hashed(f, SIDE_RIGHT, rights[i], 0x12345678);
    }
    assert_string_equal(walk(f), "(a,y)(d,y)(b,w)(c,x)(null,z)");
    close_walk(f);
}

static void a_key_in_the_line_equals_one_behind_the_body(void **state)
{
    struct walk_fixture *f = open_walk(PLAN());
    struct record_parts packed = {
        .hash = 7,
        .body = BYTES_LIT("\2k\2x\0"),
        .key = BYTES_LIT("k"),
        .flags = RECORD_PACKED,
    };

    (void)state;
    put_hashed(f, SIDE_LEFT, "k,a,true", 7);
    put_parts(f, SIDE_RIGHT, packed);
    assert_string_equal(walk(f), "(a,x)");
    close_walk(f);
}

static void the_keys_of_a_partition_may_be_many(void **state)
{
    struct walk_fixture *f = open_walk(PLAN(.type = JOIN_FULL));
    struct product *x = mem_alloc_zeroed(1, sizeof(*x));
    char line[64];

    (void)state;
    for (int i = 0; i < 2000; i++) {
        snprintf(line, sizeof(line), "%d,%d,true", i % 1000, 1 + i);
        put(f, SIDE_LEFT, line);
        product_in(x, SIDE_LEFT, (uint64_t)i % 1000);
    }
    for (int i = 0; i < 3000; i++) {
        snprintf(line, sizeof(line), "%d,%d,true", i % 1000, 1 + i);
        put(f, SIDE_RIGHT, line);
        product_in(x, SIDE_RIGHT, (uint64_t)i % 1000);
    }
    begin(f);
    while (pull(f, RESULTS_MAX, ALL_FUEL) > 0)
        for (size_t i = 0; i < f->count; i++)
            product_out(x, f->plan, &f->results[i]);
    assert_product(x);
    assert_false(f->walk.under_way);
    assert_side(f, SIDE_LEFT, 2000, 0);
    assert_side(f, SIDE_RIGHT, 3000, 0);
    mem_free(x);
    close_walk(f);
}

/* A small record behind a large one lies further from the chunk's start than any other. */
static void records_of_any_size_are_found(void **state)
{
    struct walk_fixture *f = open_walk(PLAN());
    struct product *x = mem_alloc_zeroed(1, sizeof(*x));
    char *line = mem_alloc(70000);

    (void)state;
    for (int i = 0; i < 400; i++) {
        size_t large = i % 5 == 0 ? 16000 + 131 * (size_t)i : 10;
        int n = snprintf(line, 70000, "%d,%d,", i % 3, 1 + i);
        memset(line + n, 'a', large);
        line[(size_t)n + large] = '\0';
        put(f, (enum side)(i / 7 % 2), line);
        product_in(x, (enum side)(i / 7 % 2), (uint64_t)i % 3);
    }
    begin(f);
    while (pull(f, RESULTS_MAX, ALL_FUEL) > 0)
        for (size_t i = 0; i < f->count; i++)
            product_out(x, f->plan, &f->results[i]);
    assert_product(x);
    mem_free(x);
    mem_free(line);
    close_walk(f);
}

/* --- little by little --- */

static void put_many(struct walk_fixture *f, uint64_t seed, int records)
{
    char line[64];

    for (int i = 0; i < records; i++) {
        uint32_t key = dice(&seed, 12);
        int n = key == 0 ? 0 : snprintf(line, sizeof(line), "k%u", key);
        snprintf(line + n, sizeof(line) - (size_t)n, ",r%d,%s", i,
                 dice(&seed, 3) > 0 ? "true" : "false");
        put(f, (enum side)dice(&seed, 2), line);
    }
}

static void results_and_their_order_do_not_depend_on_the_pulls(void **state)
{
    static const struct {
        size_t max;
        int64_t fuel;
    } pulls[] = {{1, 1}, {64, 1}, {1, ALL_FUEL}, {3, 2}, {64, 7}, {7, 64}, {2, 1000}};
    static const char *const ons[] = {NULL, "left.ok", "right.ok"};

    (void)state;
    for (int type = 0; type < JOIN_TYPES; type++)
        for (size_t on = 0; on < COUNT_OF(ons); on++)
            for (unsigned bits = 0; bits <= 8; bits += 4) {
                struct plan *plan = PLAN(.type = (enum join_type)type, .on = ons[on]);
                struct walk_fixture *f = open_walk(plan);
                char *expected = NULL;
                for (size_t i = 0; i <= COUNT_OF(pulls); i++) {
                    put_many(f, 1000 * on + bits, 150);
                    if (bits > 0)
                        split(f, bits);
                    if (i == 0)
                        expected = mem_strdup(walk(f));
                    else
                        assert_string_equal(walk_by(f, pulls[i - 1].max, pulls[i - 1].fuel),
                                            expected);
                    close_window(f);
                    open_window(f);
                }
                assert_true(strlen(expected) > 0);
                mem_free(expected);
                close_walk(f);
            }
}

static void a_hot_key_costs_two_positions_and_no_memory(void **state)
{
    struct walk_fixture *f = open_walk(PLAN());
    struct product *x = mem_alloc_zeroed(1, sizeof(*x));
    uint64_t used, bytes, pulls = 0;
    char line[64];

    (void)state;
    for (int i = 0; i < 400; i++) {
        snprintf(line, sizeof(line), "1,%d,true", 1 + i);
        put(f, SIDE_LEFT, line);
        put(f, SIDE_RIGHT, line);
        product_in(x, SIDE_LEFT, 1);
        product_in(x, SIDE_RIGHT, 1);
    }
    used = slab_used(f->pool);
    begin(f);
    bytes = window_walk_bytes(&f->walk);
    for (; x->pairs < 160000; pulls++) {
        pull(f, RESULTS_MAX, 1 + (int64_t)(pulls % 100));
        for (size_t i = 0; i < f->count; i++)
            product_out(x, f->plan, &f->results[i]);
        assert_int_equal(slab_used(f->pool), used);
        assert_int_equal(window_walk_bytes(&f->walk), bytes);
    }
    assert_product(x);
    assert_true(bytes <= 4096);
    assert_int_equal(pull(f, 1, ALL_FUEL), 0);
    mem_free(x);
    close_walk(f);
}

/* A unit for each pair or record that is looked at, a few for each that has to be
 * fetched to be chained, and a few for each partition. */
static void fuel_is_what_was_looked_at(void **state)
{
    struct walk_fixture *f = open_walk(PLAN(.on = "left.ok"));
    int64_t fuel = ALL_FUEL, spent;
    char line[64];

    (void)state;
    for (int i = 0; i < 100; i++) {
        snprintf(line, sizeof(line), "k,%d,false", i);
        put(f, SIDE_LEFT, line);
        put(f, SIDE_RIGHT, line);
    }
    begin(f);
    assert_int_equal(window_walk_pull(&f->walk, f->results, RESULTS_MAX, &fuel), 0);
    spent = ALL_FUEL - fuel;
    assert_in_range(spent, 200 + 100 * 100, 6 * 200 + 100 * 100 + 200);
    pull(f, 1, ALL_FUEL);
    close_walk(f);
}

/* --- memory --- */

static void put_keys(struct walk_fixture *f, enum side side, int keys)
{
    char line[64];

    for (int i = 0; i < keys; i++) {
        snprintf(line, sizeof(line), "%d,%d,true", i, i);
        put(f, side, line);
    }
}

static void large_tables_are_not_kept_between_walks(void **state)
{
    struct walk_fixture *f = open_walk(PLAN());

    (void)state;
    put_keys(f, SIDE_LEFT, 10000);
    begin(f);
    pull(f, 1, ALL_FUEL);
    assert_true(window_walk_bytes(&f->walk) > 10000 * sizeof(struct walk_entry));
    pull(f, 1, ALL_FUEL);
    assert_false(f->walk.under_way);
    assert_int_equal(window_walk_bytes(&f->walk), 0);

    close_window(f);
    open_window(f);
    put_keys(f, SIDE_LEFT, 10);
    assert_string_equal(walk(f), "");
    assert_true(window_walk_bytes(&f->walk) <= 4096);
    close_walk(f);
}

static void a_partitions_memory_is_given_back_once_it_is_walked(void **state)
{
    struct walk_fixture *f = open_walk(PLAN(.type = JOIN_LEFT));
    size_t used;
    int falls = 0;

    (void)state;
    put_keys(f, SIDE_LEFT, 3000);
    put_keys(f, SIDE_RIGHT, 1000);
    split(f, 4);
    used = slab_used(f->pool);
    begin(f);
    while (f->walk.under_way) {
        uint64_t logs;
        pull(f, RESULTS_MAX, ALL_FUEL);
        assert_true(slab_used(f->pool) <= used);
        falls += slab_used(f->pool) < used;
        used = slab_used(f->pool);
        logs = f->window.side[SIDE_LEFT].bytes + f->window.side[SIDE_RIGHT].bytes;
        assert_true(logs >= used);
    }
    assert_int_equal(used, 0);
    assert_true(falls >= 8);
    assert_side(f, SIDE_LEFT, 1000, 2000);
    close_walk(f);
}

/* Others take memory from the same pool meanwhile. */
static void what_results_point_at_stays_until_the_next_pull(void **state)
{
    struct walk_fixture *f = open_walk(PLAN(.type = JOIN_FULL));
    struct record_parts other = {.body = BYTES_LIT("something else, of another window")};
    struct window_log log;
    uint64_t others = 0;

    (void)state;
    put_many(f, 5, 600);
    split(f, 8);
    window_log_init(&log, 0);
    begin(f);
    while (f->walk.under_way) {
        struct buf again = BUF_EMPTY;
        pull(f, 1 + others % RESULTS_MAX, 1 + (int64_t)(others % 333));
        buf_clear(&f->told);
        for (size_t i = 0; i < f->count; i++)
            append_result(f->plan, &f->results[i], &f->told);
        for (int i = 0; i < 50; i++)
            assert_true(window_log_append(&log, f->pool, &other, others++, ANY_ROOM));
        for (size_t i = 0; i < f->count; i++)
            append_result(f->plan, &f->results[i], &again);
        assert_string_equal(buf_text(&again), buf_text(&f->told));
        buf_done(&again);
    }
    window_log_done(&log, f->pool);
    close_walk(f);
}

static void a_walk_may_be_given_up(void **state)
{
    (void)state;
    for (int64_t fuel = 1; fuel < 400; fuel += 13) {
        struct walk_fixture *f = open_walk(PLAN(.type = JOIN_FULL));
        put_many(f, 77, 100);
        split(f, 4);
        begin(f);
        pull(f, RESULTS_MAX, fuel);
        close_walk(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_window_gives_nothing),
        cmocka_unit_test(all_types_with_and_without_a_condition),
        cmocka_unit_test(a_condition_that_is_null_or_fails_is_no_match),
        cmocka_unit_test(records_of_the_right_are_padded_after_their_keys_lefts),
        cmocka_unit_test(fates_are_in_the_books_with_each_result),
        cmocka_unit_test(a_right_record_is_matched_when_it_decided_a_left_one),
        cmocka_unit_test(a_right_record_that_can_meet_none_is_decided_while_chains_are_built),
        cmocka_unit_test(a_null_key_is_not_an_empty_one),
        cmocka_unit_test(keys_of_one_hash_do_not_match),
        cmocka_unit_test(a_key_in_the_line_equals_one_behind_the_body),
        cmocka_unit_test(the_keys_of_a_partition_may_be_many),
        cmocka_unit_test(records_of_any_size_are_found),
        cmocka_unit_test(results_and_their_order_do_not_depend_on_the_pulls),
        cmocka_unit_test(a_hot_key_costs_two_positions_and_no_memory),
        cmocka_unit_test(fuel_is_what_was_looked_at),
        cmocka_unit_test(large_tables_are_not_kept_between_walks),
        cmocka_unit_test(a_partitions_memory_is_given_back_once_it_is_walked),
        cmocka_unit_test(what_results_point_at_stays_until_the_next_pull),
        cmocka_unit_test(a_walk_may_be_given_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
