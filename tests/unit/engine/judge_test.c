#include "join_fixture.h"

#include "engine/judge.h"

struct judge_fixture {
    struct plan *plan; /* owned */
    struct judge judge;
    struct batch batch;
    struct row *row;
};

static struct judge_fixture *open_judge(struct plan *plan)
{
    struct judge_fixture *f = mem_alloc_zeroed(1, sizeof(*f));

    f->plan = plan;
    judge_init(&f->judge, plan);
    batch_init(&f->batch, plan->side[SIDE_LEFT].form.field_count);
    return f;
}

static void close_judge(struct judge_fixture *f)
{
    batch_done(&f->batch);
    judge_done(&f->judge);
    plan_free(f->plan);
    mem_free(f);
}

/* A row of these fields, NULL for NULL, at the batch's end. */
static void add_row(struct judge_fixture *f, const char *const fields[])
{
    struct batch *b = &f->batch;

    f->row = &b->rows[b->count];
    *f->row = (struct row){.detail = -1};
    f->row->line = BYTES_LIT("the line");
    b->count++;
    for (size_t i = 0; i < b->field_count; i++)
        batch_row_fields(b, f->row)[i] = fields[i] == NULL ? BYTES_NULL : bytes_of(fields[i]);
}
#define ADD(f, ...) add_row(f, (const char *const[]){__VA_ARGS__})

static enum verdict verdict_of(struct judge_fixture *f, struct record_parts *ret)
{
    return judge_row(&f->judge, SIDE_LEFT, &f->batch, f->row, 7, ret);
}

/* --- time --- */

static void times_of_every_type_are_milliseconds_cut_towards_the_past(void **state)
{
    static const struct {
        const char *type, *text;
        int64_t ms;
    } rows[] = {
        {"timestamp", "1970-01-01T00:00:01.234Z", 1234},
        {"timestamp", "0001-01-01T00:00:00.000Z", -62135596800000},
        {"timestamp_s", "1", 1000},
        {"timestamp_s", "1.001", 1001},
        {"timestamp_s", "1.0019", 1001},
        {"timestamp_s", "1.9999999999", 1999},
        {"timestamp_s", "-1", -1000},
        {"timestamp_s", "-0.5", -500},
        {"timestamp_s", "-0.0001", -1},
        {"timestamp_s", "-1.0010", -1001},
        {"timestamp_s", "4102444800.001", 4102444800001},
        {"timestamp_ms", "1234", 1234},
        {"timestamp_ms", "1700000000123", 1700000000123},
        {"timestamp_ms", "9876543210987", 9876543210987},
        {"timestamp_ms", "9999999999999", 9999999999999},
        {"timestamp_ms", "1000000000000", 1000000000000},
        {"timestamp_ms", "-170000000012", -170000000012},
        {"timestamp_ms", "999999999999", 999999999999},
        {"timestamp_ms", "10000000000000", 10000000000000},
        {"timestamp_ms", "-1", -1},
        {"timestamp_us", "1999", 1},
        {"timestamp_us", "-1", -1},
        {"timestamp_us", "-1000", -1},
        {"timestamp_us", "-1001", -2},
        {"timestamp_ns", "1999999", 1},
        {"timestamp_ns", "-1", -1},
        {"timestamp_ns", "9223372036854775807", 9223372036854},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char fields[64];
        struct judge_fixture *f;
        int64_t ms = 0;
        snprintf(fields, sizeof(fields), "k, t %s", rows[i].type);
        f = open_judge(PLAN(.time = TIME_EVENT, .fields = {fields, fields}));
        ADD(f, "k", rows[i].text);
        assert_row(judge_time(&f->judge, SIDE_LEFT, &f->batch, f->row, 0, &ms), rows[i].text);
        assert_row(ms == rows[i].ms, rows[i].text);
        close_judge(f);
    }
}

static void a_row_without_a_time_is_rejected(void **state)
{
    struct judge_fixture *f = open_judge(PLAN(.time = TIME_EVENT));
    int64_t ms;

    (void)state;
    ADD(f, "k", "a", "true", NULL);
    assert_false(judge_time(&f->judge, SIDE_LEFT, &f->batch, f->row, 0, &ms));
    assert_int_equal(f->row->reject, REJECT_TIMESTAMP);
    assert_string_equal(batch_detail(&f->batch, f->row), "timestamp: it is NULL");
    assert_int_equal(f->batch.rejected, 1);
    close_judge(f);
}

static void a_time_far_ahead_of_the_clock_is_rejected(void **state)
{
    static const struct {
        int64_t max_ahead_ms, now_ms;
        bool ok;
    } rows[] = {
        {1000, 99000, true}, /* exactly as far as allowed */
        {1000, 98999, false},
        {1000, 5000000, true}, /* behind the clock */
        {0, -5000000, true},   /* off */
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct judge_fixture *f =
            open_judge(PLAN(.time = TIME_EVENT, .max_ahead_ms = {rows[i].max_ahead_ms, 0}));
        int64_t ms;
        ADD(f, "k", "a", "true", "100000");
        assert_int_equal(judge_time(&f->judge, SIDE_LEFT, &f->batch, f->row, rows[i].now_ms, &ms),
                         rows[i].ok);
        assert_int_equal(f->row->reject, rows[i].ok ? REJECT_NONE : REJECT_TIMESTAMP);
        close_judge(f);
    }
}

/* --- where and key --- */

static void a_row_is_held_filtered_or_of_no_use(void **state)
{
    struct judge_fixture *f = open_judge(PLAN(.where = {"ok", NULL}));
    struct record_parts parts;

    (void)state;
    ADD(f, "k", "a", "true");
    assert_int_equal(verdict_of(f, &parts), VERDICT_HOLD);
    assert_text(parts.key.p, parts.key.n, "k");
    assert_int_equal(parts.flags, RECORD_PACKED | RECORD_TIME32);
    ADD(f, "k", "a", "false");
    assert_int_equal(verdict_of(f, &parts), VERDICT_FILTERED);
    ADD(f, "k", "a", NULL);
    assert_int_equal(verdict_of(f, &parts), VERDICT_FILTERED);
    ADD(f, NULL, "a", "true");
    assert_int_equal(verdict_of(f, &parts), VERDICT_UNMATCHED);
    close_judge(f);
}

static void a_null_key_is_held_where_it_will_be_padded(void **state)
{
    struct judge_fixture *f = open_judge(PLAN(.type = JOIN_LEFT, .key = {"k, id", "k, id"}));
    struct record_parts parts;

    (void)state;
    ADD(f, "k", NULL, "true");
    assert_int_equal(verdict_of(f, &parts), VERDICT_HOLD);
    assert_null(parts.key.p);
    assert_int_equal(parts.flags, RECORD_PACKED | RECORD_NULL_KEY | RECORD_TIME32);
    close_judge(f);
}

static void a_part_that_fails_rejects_wherever_a_null_stands(void **state)
{
    static const char *const keys[] = {"k, 1 / n", "1 / n, k"};
    struct record_parts parts;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        struct judge_fixture *f =
            open_judge(PLAN(.fields = {"k, n bigint", "k, n bigint"}, .key = {keys[i], keys[i]}));
        ADD(f, NULL, "0");
        assert_int_equal(verdict_of(f, &parts), VERDICT_REJECTED);
        ADD(f, NULL, "1");
        assert_int_equal(verdict_of(f, &parts), VERDICT_UNMATCHED);
        close_judge(f);
    }
}

static void parts_of_a_key_stay_apart(void **state)
{
    struct judge_fixture *f = open_judge(PLAN(.key = {"k, id", "k, id"}));
    struct record_parts parts;

    (void)state;
    ADD(f, "ab", "c", "true");
    assert_int_equal(verdict_of(f, &parts), VERDICT_HOLD);
    assert_int_equal(parts.key.n, 4);
    assert_memory_equal(parts.key.p, "ab\0c", 4);
    close_judge(f);
}

static void keys_compared_as_doubles_are_equal_bytes(void **state)
{
    struct judge_fixture *f = open_judge(PLAN(.fields = {"k bigint, id", "k double, id"}));
    struct record_parts parts;

    (void)state;
    ADD(f, "9007199254740993", "a");
    assert_int_equal(verdict_of(f, &parts), VERDICT_HOLD);
    assert_text(parts.key.p, parts.key.n, "9007199254740992");
    close_judge(f);
}

/* A window tells the upper bits of a time, unless it is longer than 32 bits of them. */
static void records_carry_their_time_as_their_join_needs_it(void **state)
{
    const int64_t longest = UINT32_MAX;
    const struct {
        struct plan *plan;
        uint16_t flags;
    } rows[] = {
        {PLAN(.size_ms = 1), RECORD_TIME32},
        {PLAN(.size_ms = longest), RECORD_TIME32},
        {PLAN(.size_ms = longest + 1), RECORD_TIMED},
        {PLAN(.match = MATCH_SLIDING, .size_ms = longest, .slide_ms = 10), RECORD_TIME32},
        {PLAN(.match = MATCH_SLIDING, .size_ms = longest + 1, .slide_ms = 10), RECORD_TIMED},
        {PLAN(.match = MATCH_SESSION), RECORD_TIMED},
        {PLAN(.match = MATCH_INTERVAL), RECORD_TIMED},
        {PLAN(.match = MATCH_LATEST), RECORD_TIMED},
        {PLAN(.match = MATCH_BATCH), 0},
        {PLAN(.match = MATCH_BATCH, .keep_times = true), RECORD_TIMED},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct judge_fixture *f = open_judge(rows[i].plan);
        assert_int_equal(f->judge.flags, rows[i].flags);
        close_judge(f);
    }
}

static void plain_rows_are_gathered_up_to_the_first_that_is_not(void **state)
{
    struct judge_fixture *f = open_judge(PLAN());
    struct record_parts parts[8];

    (void)state;
    assert_true(f->judge.plain[SIDE_LEFT]);
    for (int i = 0; i < 5; i++) {
        ADD(f, "k", "a", "true");
        f->row->verbatim = true;
    }
    f->batch.rows[3].verbatim = false;
    assert_int_equal(judge_plain(&f->judge, SIDE_LEFT, &f->batch, 0, 8, parts), 3);
    assert_int_equal(judge_plain(&f->judge, SIDE_LEFT, &f->batch, 0, 2, parts), 2);
    assert_int_equal(judge_plain(&f->judge, SIDE_LEFT, &f->batch, 3, 8, parts), 0);
    assert_int_equal(judge_plain(&f->judge, SIDE_LEFT, &f->batch, 4, 8, parts), 1);
    batch_reject(&f->batch, &f->batch.rows[1], REJECT_TYPE, "no");
    assert_int_equal(judge_plain(&f->judge, SIDE_LEFT, &f->batch, 0, 8, parts), 1);
    close_judge(f);
}

static void hashes_that_were_noted_are_those_of_the_keys(void **state)
{
    static const char *const keys[] = {"a", NULL, "b", "c", "", "d"};
    struct judge_fixture *f = open_judge(PLAN(.hash_seed = 5));
    struct record_parts parts;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(keys); i++)
        ADD(f, keys[i], "x", "true");
    batch_reject(&f->batch, &f->batch.rows[2], REJECT_TYPE, "no");
    assert_int_equal(judge_hash(&f->judge, SIDE_LEFT, &f->batch, 0, 5), 5);
    assert_int_equal(f->batch.hashed, 5);
    assert_int_equal(f->batch.hashes[1], 0);
    assert_int_equal(f->batch.hashes[2], 0);
    assert_int_equal(f->batch.hashes[3], hash_bytes("c", 1, 5) >> 32);
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        if (keys[i] == NULL || i == 2)
            continue;
        f->row = &f->batch.rows[i];
        assert_int_equal(verdict_of(f, &parts), VERDICT_HOLD);
        assert_int_equal(parts.hash, hash_bytes(keys[i], strlen(keys[i]), 5) >> 32);
    }
    assert_int_equal(judge_hash(&f->judge, SIDE_LEFT, &f->batch, 5, 8), 1);
    assert_int_equal(f->batch.hashes[5], hash_bytes("d", 1, 5) >> 32);
    batch_clear(&f->batch);
    assert_int_equal(f->batch.hashed, 0);
    close_judge(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_of_every_type_are_milliseconds_cut_towards_the_past),
        cmocka_unit_test(a_row_without_a_time_is_rejected),
        cmocka_unit_test(a_time_far_ahead_of_the_clock_is_rejected),
        cmocka_unit_test(a_row_is_held_filtered_or_of_no_use),
        cmocka_unit_test(a_null_key_is_held_where_it_will_be_padded),
        cmocka_unit_test(a_part_that_fails_rejects_wherever_a_null_stands),
        cmocka_unit_test(parts_of_a_key_stay_apart),
        cmocka_unit_test(keys_compared_as_doubles_are_equal_bytes),
        cmocka_unit_test(records_carry_their_time_as_their_join_needs_it),
        cmocka_unit_test(hashes_that_were_noted_are_those_of_the_keys),
        cmocka_unit_test(plain_rows_are_gathered_up_to_the_first_that_is_not),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
