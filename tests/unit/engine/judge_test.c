#include "join_fixture.h"

#include "base/time.h"
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
    *f->row = (struct row){.detail = -1, .verdict = VERDICT_TAKE_PACKED};
    f->row->line = BYTES_LIT("the line");
    b->count++;
    for (size_t i = 0; i < b->field_count; i++)
        batch_row_fields(b, f->row)[i] = fields[i] == NULL ? BYTES_NULL : bytes_of(fields[i]);
}
#define ADD(f, ...) add_row(f, (const char *const[]){__VA_ARGS__})

static void judge_all(struct judge_fixture *f, int64_t clock_ms)
{
    judge_rows(&f->judge, SIDE_LEFT, &f->batch, clock_ms);
    assert_true(f->batch.judged);
}

/* Of the row that was added last; the parts are set if it is to be stored. */
static enum verdict verdict_of(struct judge_fixture *f, struct record_parts *ret)
{
    size_t i = f->batch.count - 1;

    judge_all(f, 0);
    if (batch_takes(&f->batch, i))
        *ret = judge_parts(&f->judge, &f->batch, i, 7, 0);
    else
        *ret = (struct record_parts){0};
    return f->row->verdict;
}

/* Of that row; BATCH_NO_TIME: it was rejected. */
static int64_t time_of(struct judge_fixture *f, int64_t clock_ms)
{
    judge_all(f, clock_ms);
    assert_int_equal(f->row->reject != REJECT_NONE, f->row->verdict == VERDICT_REJECTED);
    assert_int_equal(f->row->reject != REJECT_NONE,
                     f->batch.times[f->batch.count - 1] == BATCH_NO_TIME);
    return f->batch.times[f->batch.count - 1];
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
        snprintf(fields, sizeof(fields), "k, t %s", rows[i].type);
        f = open_judge(PLAN(.time = TIME_EVENT, .fields = {fields, fields}));
        ADD(f, "k", rows[i].text);
        assert_row(time_of(f, INT64_C(1) << 50) == rows[i].ms, rows[i].text);
        close_judge(f);
    }
}

static void a_row_without_a_time_is_rejected(void **state)
{
    struct judge_fixture *f = open_judge(PLAN(.time = TIME_EVENT));

    (void)state;
    ADD(f, "k", "a", "true", NULL);
    assert_int_equal(time_of(f, 0), BATCH_NO_TIME);
    assert_int_equal(f->row->reject, REJECT_TIMESTAMP);
    assert_string_equal(batch_detail(&f->batch, f->row), "timestamp: it is NULL");
    assert_int_equal(f->batch.rejected, 1);
    close_judge(f);
}

/* The decoder tells times here. A clock before 1970 is odd, but no reason to take such a row. */
static void a_row_without_a_time_is_rejected_whatever_the_clock(void **state)
{
    static const int64_t clocks[] = {0, -5000000, INT64_C(1) << 50, INT64_MAX, TIME_MS_MIN};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(clocks); i++) {
        struct judge_fixture *f = open_judge(PLAN(.time = TIME_EVENT, .max_ahead_ms = {1000, 0}));
        ADD(f, "k", "a", "true", "-70000000000000");
        ADD(f, "k", "a", "true", NULL);
        f->batch.timed = true;
        f->batch.times[0] = TIME_MS_MIN;
        f->batch.times[1] = BATCH_NO_TIME;
        assert_int_equal(time_of(f, clocks[i] == INT64_MAX ? INT64_MAX + TIME_MS_MIN : clocks[i]),
                         BATCH_NO_TIME);
        assert_int_equal(f->row->reject, REJECT_TIMESTAMP);
        assert_int_equal(f->batch.rows[0].reject, REJECT_NONE);
        close_judge(f);
    }
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
        ADD(f, "k", "a", "true", "100000");
        assert_int_equal(time_of(f, rows[i].now_ms), rows[i].ok ? 100000 : BATCH_NO_TIME);
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
    assert_int_equal(verdict_of(f, &parts), VERDICT_TAKE_PACKED);
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
    assert_int_equal(verdict_of(f, &parts), VERDICT_TAKE_PACKED);
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
    assert_int_equal(verdict_of(f, &parts), VERDICT_TAKE_PACKED);
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
    assert_int_equal(verdict_of(f, &parts), VERDICT_TAKE_PACKED);
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

/* What one row's fate is does not depend on the rows round it. */
static void every_row_of_a_batch_is_judged(void **state)
{
    static const struct {
        const char *key, *ok;
        bool reject, verbatim;
        enum verdict verdict;
    } rows[] = {
        {"a", "true", false, true, VERDICT_TAKE},
        {"b", "false", false, true, VERDICT_FILTERED},
        {"c", "true", true, false, VERDICT_REJECTED},
        {"d", "true", false, false, VERDICT_TAKE_PACKED},
        {NULL, "true", false, true, VERDICT_UNMATCHED},
        {NULL, "false", false, true, VERDICT_FILTERED},
        {"", "true", false, false, VERDICT_TAKE_PACKED},
        {"g", "true", false, true, VERDICT_TAKE},
    };
    struct judge_fixture *f = open_judge(PLAN(.where = {"ok", NULL}, .hash_seed = 5));

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ADD(f, rows[i].key, "x", rows[i].ok);
        if (rows[i].verbatim)
            f->row->verdict = VERDICT_TAKE;
        if (rows[i].reject)
            batch_reject(&f->batch, f->row, REJECT_TYPE, "no");
    }
    judge_all(f, 0);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct record_parts parts;
        assert_int_equal(f->batch.rows[i].verdict, rows[i].verdict);
        if (!batch_takes(&f->batch, i))
            continue;
        parts = judge_parts(&f->judge, &f->batch, i, i, 0);
        assert_text(parts.key.p, parts.key.n, rows[i].key);
        assert_int_equal(parts.hash, hash_bytes(rows[i].key, strlen(rows[i].key), 5) >> 32);
        assert_int_equal((parts.flags & RECORD_PACKED) != 0, !rows[i].verbatim);
    }
    batch_clear(&f->batch);
    assert_false(f->batch.judged);
    close_judge(f);
}

/* A field that is the key is stored once: it is in the body. A computed one is not. */
static void the_key_of_a_packed_row_lies_in_its_body(void **state)
{
    static const char *const keys[] = {"id", "upper(id)"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        struct judge_fixture *f = open_judge(PLAN(.key = {keys[i], keys[i]}));
        struct record_parts parts;
        ADD(f, "k", "one", "true");
        ADD(f, NULL, "two", "true");
        assert_int_equal(verdict_of(f, &parts), VERDICT_TAKE_PACKED);
        assert_text(parts.key.p, parts.key.n, i == 0 ? "two" : "TWO");
        assert_int_equal(record_plain_stride(&parts, false) > 0, i == 0);
        parts = judge_parts(&f->judge, &f->batch, 0, 0, 0);
        assert_text(parts.key.p, parts.key.n, i == 0 ? "one" : "ONE");
        close_judge(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_of_every_type_are_milliseconds_cut_towards_the_past),
        cmocka_unit_test(a_row_without_a_time_is_rejected),
        cmocka_unit_test(a_row_without_a_time_is_rejected_whatever_the_clock),
        cmocka_unit_test(a_time_far_ahead_of_the_clock_is_rejected),
        cmocka_unit_test(a_row_is_held_filtered_or_of_no_use),
        cmocka_unit_test(a_null_key_is_held_where_it_will_be_padded),
        cmocka_unit_test(a_part_that_fails_rejects_wherever_a_null_stands),
        cmocka_unit_test(parts_of_a_key_stay_apart),
        cmocka_unit_test(keys_compared_as_doubles_are_equal_bytes),
        cmocka_unit_test(records_carry_their_time_as_their_join_needs_it),
        cmocka_unit_test(every_row_of_a_batch_is_judged),
        cmocka_unit_test(the_key_of_a_packed_row_lies_in_its_body),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
