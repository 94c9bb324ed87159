#include "engine/plain.h"
#include "join_fixture.h"

#define LINE_MAX 320
#define BEGIN_MS INT64_C(1700000000000)

/* Two logs: one is filled the short way where that is one, the other is not. */
struct plain_fixture {
    struct plan *plan; /* owned */
    struct judge judge;
    struct slab_pool *pool;
    struct window_log short_way, long_way;
    struct batch batch;
    char lines[BATCH_ROWS][LINE_MAX];
    uint64_t number; /* of the next record */
    uint64_t chance;
};

static struct plain_fixture *open_plain(struct plan *plan, unsigned bits, uint64_t number)
{
    struct plain_fixture *f = mem_alloc_zeroed(1, sizeof(*f));

    f->plan = plan;
    f->pool = slab_pool_new();
    f->number = number;
    judge_init(&f->judge, plan);
    window_log_init(&f->short_way, bits);
    window_log_init(&f->long_way, bits);
    batch_init(&f->batch, plan->side[SIDE_LEFT].form.field_count);
    return f;
}

static void close_plain(struct plain_fixture *f)
{
    window_log_done(&f->short_way, f->pool);
    window_log_done(&f->long_way, f->pool);
    slab_pool_free(f->pool);
    batch_done(&f->batch);
    judge_done(&f->judge);
    plan_free(f->plan);
    mem_free(f);
}

static uint32_t random_below(struct plain_fixture *f, uint32_t bound)
{
    return (uint32_t)(hash_number(f->chance++) >> 32) % bound;
}

/* A verbatim line `key,id,true,time`; the key as long as is said. */
static struct row *add(struct plain_fixture *f, size_t key_size, size_t id_size, int64_t t)
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
        .verbatim = true,
        .detail = -1,
    };
    b->timed = f->plan->time == TIME_EVENT; /* as a decoder tells it */
    b->times[b->count] = t;
    b->count++;
    return row;
}

static void hash_all(struct plain_fixture *f)
{
    judge_hash(&f->judge, SIDE_LEFT, &f->batch, 0, BATCH_ROWS);
}

static size_t append(struct plain_fixture *f, size_t from)
{
    return plain_append(&f->judge, SIDE_LEFT, &f->batch, from, BEGIN_MS, &f->short_way, f->number);
}

static size_t append_timed(struct plain_fixture *f, size_t from, int64_t time_from,
                           int64_t time_below, int64_t *ret_highest)
{
    return plain_append_timed(&f->judge, SIDE_LEFT, &f->batch, from, time_from, time_below,
                              &f->short_way, f->number, ret_highest);
}

/* The general way. */
static void push(struct plain_fixture *f, struct window_log *log, size_t i, uint64_t number)
{
    struct record_parts parts = {.time = BEGIN_MS};
    struct row *row = &f->batch.rows[i];

    if (f->plan->time == TIME_EVENT)
        assert_true(judge_time(&f->judge, SIDE_LEFT, &f->batch, row, BEGIN_MS, &parts.time));
    assert_int_equal(judge_row(&f->judge, SIDE_LEFT, &f->batch, row, 7, &parts), VERDICT_HOLD);
    assert_true(window_log_append(log, f->pool, &parts, number, UINT64_MAX));
}

/* All rows into both logs. Returns how many went the short way. */
static size_t fill_both(struct plain_fixture *f)
{
    size_t by_short_way = 0;
    int64_t highest;

    hash_all(f);
    for (size_t i = 0; i < f->batch.count; i++)
        push(f, &f->long_way, i, f->number + i);
    for (size_t i = 0; i < f->batch.count;) {
        size_t n = f->plan->time == TIME_EVENT
                       ? append_timed(f, i, BEGIN_MS, BEGIN_MS + 1000, &highest)
                       : append(f, i);
        if (n == 0)
            push(f, &f->short_way, i, f->number);
        else
            by_short_way += n;
        f->number += n + (n == 0);
        i += n + (n == 0);
    }
    batch_clear(&f->batch);
    return by_short_way;
}

static void assert_alike(const struct plain_fixture *f)
{
    const struct window_log *a = &f->short_way, *b = &f->long_way;

    assert_int_equal(a->chunks, b->chunks);
    assert_int_equal(a->undecided, b->undecided);
    assert_int_equal(a->undecided, window_log_recount(a));
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

static void the_short_way_and_the_long_one_store_the_same(void **state)
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
        struct plain_fixture *f = open_plain(plan, rows[i].bits, 1000);
        size_t by_short_way = 0;
        for (int n = 0; n < 40; n++) {
            for (int k = 0; k < BATCH_ROWS; k++) {
                bool odd = random_below(f, 20) == 0;
                size_t key_size = 1 + random_below(f, odd ? 280 : 30), left = 280 - key_size;
                struct row *row = add(f, key_size, odd ? left : random_below(f, 70) % (left + 1),
                                      BEGIN_MS + random_below(f, 1000));
                row->verbatim = random_below(f, 50) > 0;
            }
            by_short_way += fill_both(f);
            assert_alike(f);
            if (n == 20 && rows[i].bits < 8) {
                window_log_split(&f->short_way, f->pool, rows[i].bits + 4);
                window_log_split(&f->long_way, f->pool, rows[i].bits + 4);
            }
        }
        assert_true(by_short_way > 40 * BATCH_ROWS / 2);
        close_plain(f);
    }
}

static void rows_are_appended_up_to_the_first_that_is_not_plain(void **state)
{
    struct plain_fixture *f = open_plain(PLAN(), 0, 0);

    (void)state;
    for (int i = 0; i < 6; i++)
        add(f, i == 5 ? 0 : 4, 3, 0); /* the last one has no key */
    f->batch.rows[3].verbatim = false;
    assert_int_equal(append(f, 0), 0); /* nothing is hashed */
    hash_all(f);
    assert_int_equal(append(f, 0), 0); /* there is no chunk */
    push(f, &f->short_way, 0, f->number++);
    assert_int_equal(append(f, 1), 2);
    assert_int_equal(f->short_way.undecided, 3);
    assert_int_equal(append(f, 3), 0);
    assert_int_equal(append(f, 4), 1);
    assert_int_equal(append(f, 5), 0);
    batch_reject(&f->batch, &f->batch.rows[1], REJECT_TYPE, "no");
    assert_int_equal(append(f, 1), 0);
    close_plain(f);
}

/* A log of more than 2^32 records: those beyond go the long way. */
static void a_number_that_the_log_does_not_count_to_is_not_appended(void **state)
{
    struct plain_fixture *f = open_plain(PLAN(), 0, 10);

    (void)state;
    add(f, 4, 3, 0);
    hash_all(f);
    push(f, &f->short_way, 0, 10);
    f->number = 10 + (uint64_t)UINT32_MAX - BATCH_ROWS;
    assert_int_equal(append(f, 0), 1);
    f->number++;
    assert_int_equal(append(f, 0), 0);
    close_plain(f);
}

static void rows_of_other_times_are_not_appended(void **state)
{
    static const int64_t times[] = {5, 9, 7, 10, 4};
    struct plain_fixture *f = open_plain(PLAN(.time = TIME_EVENT), 0, 0);
    int64_t highest;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(times); i++)
        add(f, 4, 3, BEGIN_MS + times[i]);
    hash_all(f);
    push(f, &f->short_way, 0, f->number++);
    assert_int_equal(append_timed(f, 0, BEGIN_MS + 5, BEGIN_MS + 10, &highest), 3);
    assert_int_equal(highest, BEGIN_MS + 9);
    assert_int_equal(append_timed(f, 3, BEGIN_MS + 5, BEGIN_MS + 10, &highest), 0);
    assert_int_equal(append_timed(f, 4, BEGIN_MS + 5, BEGIN_MS + 10, &highest), 0);
    f->batch.times[2] = BATCH_NO_TIME;
    assert_int_equal(append_timed(f, 1, BEGIN_MS + 5, BEGIN_MS + 10, &highest), 1);
    assert_int_equal(append_timed(f, 2, INT64_MIN + 1, INT64_MAX, &highest), 0);
    close_plain(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_short_way_and_the_long_one_store_the_same),
        cmocka_unit_test(rows_are_appended_up_to_the_first_that_is_not_plain),
        cmocka_unit_test(a_number_that_the_log_does_not_count_to_is_not_appended),
        cmocka_unit_test(rows_of_other_times_are_not_appended),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
