#include "engine/append.h"
#include "join_fixture.h"
#include "recount.h"

#define LINE_MAX 320
#define BEGIN_MS INT64_C(1700000000000)

/* Two logs: one is filled by runs as far as they go, the other row by row. */
struct append_fixture {
    struct plan *plan; /* owned */
    struct judge judge;
    struct slab_pool *pool;
    struct window_log by_runs, row_by_row;
    struct batch batch;
    char lines[BATCH_ROWS][LINE_MAX];
    uint64_t number; /* of the next record */
    uint64_t chance;
};

static struct append_fixture *open_append(struct plan *plan, unsigned bits, uint64_t number)
{
    struct append_fixture *f = mem_alloc_zeroed(1, sizeof(*f));

    f->plan = plan;
    f->pool = slab_pool_new();
    f->number = number;
    judge_init(&f->judge, plan);
    window_log_init(&f->by_runs, bits);
    window_log_init(&f->row_by_row, bits);
    batch_init(&f->batch, plan->side[SIDE_LEFT].form.field_count);
    return f;
}

static void close_append(struct append_fixture *f)
{
    window_log_done(&f->by_runs, f->pool);
    window_log_done(&f->row_by_row, f->pool);
    slab_pool_free(f->pool);
    batch_done(&f->batch);
    judge_done(&f->judge);
    plan_free(f->plan);
    mem_free(f);
}

static uint32_t random_below(struct append_fixture *f, uint32_t bound)
{
    return (uint32_t)(hash_number(f->chance++) >> 32) % bound;
}

/* A verbatim line `key,id,true,time`; the key as long as is said. */
static struct row *add(struct append_fixture *f, size_t key_size, size_t id_size, int64_t t)
{
    struct batch *b = &f->batch;
    struct row *row = &b->rows[b->count];
    char *line = f->lines[b->count], *at = line;
    struct bytes *fields = b->fields + b->count * b->field_count;
    char words[2][LINE_MAX], stamp[24];

    for (size_t i = 0; i < key_size; i++)
        words[0][i] = (char)('a' + random_below(f, 26));
    memset(words[1], 'i', id_size);
    words[0][key_size] = words[1][id_size] = '\0';
    snprintf(stamp, sizeof(stamp), "%" PRId64, t);
    assert_true(key_size + id_size + 30 < LINE_MAX);
    for (size_t i = 0; i < b->field_count; i++) {
        const char *const texts[] = {words[0], words[1], "true", stamp};
        size_t n = strlen(texts[i]);
        memcpy(at, texts[i], n);
        fields[i] = n == 0 ? BYTES_NULL : (struct bytes){at, n};
        at += n;
        *at++ = ',';
    }
    *row = (struct row){
        .line = {line, (size_t)(at - line - 1)},
        .verdict = VERDICT_TAKE,
        .detail = -1,
    };
    b->timed = f->plan->time == TIME_EVENT; /* as a decoder tells it */
    b->times[b->count] = t;
    b->count++;
    return row;
}

static void judge_all(struct append_fixture *f)
{
    judge_rows(&f->judge, SIDE_LEFT, &f->batch, BEGIN_MS);
}

static struct append_run run_of(struct append_fixture *f, int64_t from, int64_t below)
{
    return (struct append_run){
        .log = &f->by_runs,
        .number = f->number,
        .timed = f->plan->time == TIME_EVENT,
        .time = BEGIN_MS,
        .from = from,
        .below = below,
        .highest = BATCH_NO_TIME,
    };
}

static size_t append(struct append_fixture *f, size_t from)
{
    struct append_run run = run_of(f, BEGIN_MS, BEGIN_MS + 1000);

    return append_rows(&f->judge, &f->batch, from, &run);
}

/* The general way. */
static void push(struct append_fixture *f, struct window_log *log, size_t i, uint64_t number)
{
    int64_t t = f->plan->time == TIME_EVENT ? f->batch.times[i] : BEGIN_MS;
    struct record_parts parts = judge_parts(&f->judge, &f->batch, i, number, t);

    assert_true(window_log_append(log, f->pool, &parts, number, UINT64_MAX));
}

/* All rows into both logs. Returns how many went by runs. */
static size_t fill_both(struct append_fixture *f)
{
    size_t by_runs = 0;

    judge_all(f);
    for (size_t i = 0; i < f->batch.count; i++)
        push(f, &f->row_by_row, i, f->number + i);
    for (size_t i = 0; i < f->batch.count;) {
        size_t n = append(f, i);
        if (n == 0)
            push(f, &f->by_runs, i, f->number);
        else
            by_runs += n;
        f->number += n + (n == 0);
        i += n + (n == 0);
    }
    batch_clear(&f->batch);
    return by_runs;
}

static void assert_alike(const struct append_fixture *f)
{
    const struct window_log *a = &f->by_runs, *b = &f->row_by_row;

    assert_int_equal(a->chunks, b->chunks);
    assert_int_equal(a->undecided, b->undecided);
    assert_int_equal(a->undecided, log_recount(a));
    for (uint32_t i = 0; i < 1u << a->bits; i++) {
        assert_int_equal(a->parts[i].count, b->parts[i].count);
        for (uint32_t j = 0; j < a->parts[i].count; j++) {
            const struct log_chunk *p = a->parts[i].chunks[j], *q = b->parts[i].chunks[j];
            const uint32_t used = log_chunk_used(&a->parts[i], j);
            assert_int_equal(used, log_chunk_used(&b->parts[i], j));
            assert_int_equal(p->first_number, q->first_number);
            for (uint32_t at = 0; at < used;) {
                const struct record *r = log_chunk_record(p, at);
                size_t size = sizeof(*r) + record_extra(r->size_flags) + record_body(r).n;
                assert_memory_equal(r, log_chunk_record(q, at), size);
                at += (uint32_t)record_stride(r);
            }
        }
    }
}

static void runs_and_single_rows_store_the_same(void **state)
{
    static const struct {
        enum time_kind time;
        int64_t size_ms;
        unsigned bits;
    } rows[] = {
        {TIME_PROCESSING, 1000, 0},
        {TIME_PROCESSING, 1000, 4},
        {TIME_PROCESSING, INT64_C(1) << 40, 4},
        {TIME_EVENT, 1000, 0},
        {TIME_EVENT, 1000, 8},
        {TIME_EVENT, INT64_C(1) << 40, 4},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct plan *plan = PLAN(.time = rows[i].time, .size_ms = rows[i].size_ms);
        struct append_fixture *f = open_append(plan, rows[i].bits, 1000);
        size_t by_runs = 0;
        for (int n = 0; n < 40; n++) {
            for (int k = 0; k < BATCH_ROWS; k++) {
                bool odd = random_below(f, 20) == 0;
                size_t key_size = 1 + random_below(f, odd ? 280 : 30), left = 280 - key_size;
                struct row *row = add(f, key_size, odd ? left : random_below(f, 70) % (left + 1),
                                      BEGIN_MS + random_below(f, 1000));
                if (random_below(f, 50) == 0)
                    row->verdict = VERDICT_TAKE_PACKED;
            }
            by_runs += fill_both(f);
            assert_alike(f);
            if (n == 20 && rows[i].bits < 8) {
                window_log_split(&f->by_runs, f->pool, rows[i].bits + 4);
                window_log_split(&f->row_by_row, f->pool, rows[i].bits + 4);
            }
        }
        assert_true(by_runs > 40 * BATCH_ROWS / 2);
        close_append(f);
    }
}

static void a_run_stores_and_counts_up_to_where_a_chunk_is_full(void **state)
{
    struct append_fixture *f = open_append(PLAN(.where = {"id <> 'iiiii'", NULL}), 0, 0);
    struct append_run run = run_of(f, 0, 0);

    (void)state;
    for (int i = 0; i < 7; i++)
        add(f, i == 5 ? 0 : 4, i == 4 ? 5 : 3, 0); /* a NULL key, and one that is filtered */
    f->batch.rows[3].verdict = VERDICT_TAKE_PACKED;
    batch_reject(&f->batch, &f->batch.rows[2], REJECT_TYPE, "no");
    judge_all(f);
    assert_int_equal(append(f, 0), 0); /* there is no chunk */
    push(f, &f->by_runs, 0, f->number++);
    run.number = f->number;
    assert_int_equal(append_rows(&f->judge, &f->batch, 1, &run), 6);
    assert_int_equal(f->by_runs.undecided, 4);
    assert_int_equal(run.passed[VERDICT_REJECTED], 1);
    assert_int_equal(run.passed[VERDICT_FILTERED], 1);
    assert_int_equal(run.passed[VERDICT_UNMATCHED], 1);
    close_append(f);
}

/* A NULL key that is padded is a record like another. */
static void null_keys_go_into_a_run(void **state)
{
    struct append_fixture *f = open_append(PLAN(.type = JOIN_FULL), 0, 0);

    (void)state;
    for (int i = 0; i < 5; i++)
        add(f, i == 2 ? 0 : 4, 3, 0);
    judge_all(f);
    push(f, &f->by_runs, 0, f->number++);
    assert_int_equal(append(f, 1), 4);
    assert_int_equal(f->by_runs.undecided, log_recount(&f->by_runs));
    close_append(f);
}

/* A log of more than 2^32 records: those beyond go the long way. */
static void a_number_that_the_log_does_not_count_to_is_not_appended(void **state)
{
    struct append_fixture *f = open_append(PLAN(), 0, 10);

    (void)state;
    add(f, 4, 3, 0);
    judge_all(f);
    push(f, &f->by_runs, 0, 10);
    f->number = 10 + (uint64_t)UINT32_MAX - BATCH_ROWS;
    assert_int_equal(append(f, 0), 1);
    f->number++;
    assert_int_equal(append(f, 0), 0);
    close_append(f);
}

static void rows_of_other_times_end_a_run(void **state)
{
    static const int64_t times[] = {5, 9, 7, 10, 4};
    struct append_fixture *f = open_append(PLAN(.time = TIME_EVENT), 0, 0);
    struct append_run run;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(times); i++)
        add(f, 4, 3, BEGIN_MS + times[i]);
    judge_all(f);
    push(f, &f->by_runs, 0, f->number++);
    run = run_of(f, BEGIN_MS + 5, BEGIN_MS + 10);
    assert_int_equal(append_rows(&f->judge, &f->batch, 0, &run), 3);
    assert_int_equal(run.highest, BEGIN_MS + 9);
    assert_int_equal(append_rows(&f->judge, &f->batch, 3, &run), 0);
    assert_int_equal(append_rows(&f->judge, &f->batch, 4, &run), 0);
    run = run_of(f, BEGIN_MS + 10, BEGIN_MS + 5);
    assert_int_equal(append_rows(&f->judge, &f->batch, 3, &run), 0);
    close_append(f);
}

/* One without a time has none to end a run by. */
static void a_row_without_a_time_is_passed(void **state)
{
    struct append_fixture *f = open_append(PLAN(.time = TIME_EVENT), 0, 0);
    struct append_run run;

    (void)state;
    for (int i = 0; i < 3; i++)
        add(f, 4, 3, BEGIN_MS + 5);
    f->batch.times[1] = BATCH_NO_TIME;
    judge_all(f);
    push(f, &f->by_runs, 0, f->number++);
    run = run_of(f, BEGIN_MS + 5, BEGIN_MS + 10);
    assert_int_equal(append_rows(&f->judge, &f->batch, 1, &run), 2);
    assert_int_equal(run.passed[VERDICT_REJECTED], 1);
    assert_int_equal(run.highest, BEGIN_MS + 5);
    close_append(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_and_single_rows_store_the_same),
        cmocka_unit_test(a_run_stores_and_counts_up_to_where_a_chunk_is_full),
        cmocka_unit_test(null_keys_go_into_a_run),
        cmocka_unit_test(a_number_that_the_log_does_not_count_to_is_not_appended),
        cmocka_unit_test(rows_of_other_times_end_a_run),
        cmocka_unit_test(a_row_without_a_time_is_passed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
