#include "join/window_runs.h"
#include "join_fixture.h"

#define ANY_ROOM UINT64_MAX
#define LOGS     6

/* Logs that are parted each in its own way, and records by chance among them. */
struct runs_fixture {
    struct slab_pool *pool;
    struct window_log logs[LOGS];
    struct window_runs runs;
    uint64_t records;
};

static struct runs_fixture open_runs(const unsigned bits[LOGS])
{
    struct runs_fixture f = {.pool = slab_pool_new()};

    for (int i = 0; i < LOGS; i++)
        window_log_init(&f.logs[i], bits[i]);
    return f;
}

static void close_runs(struct runs_fixture *f)
{
    window_runs_done(&f->runs);
    assert_int_equal(window_runs_bytes(&f->runs), 0);
    for (int i = 0; i < LOGS; i++)
        window_log_done(&f->logs[i], f->pool);
    slab_pool_free(f->pool);
}

static void put(struct runs_fixture *f, int log)
{
    char body[32];
    int n = snprintf(body, sizeof(body), "%" PRIu64, f->records);
    struct record_parts parts = {.hash = (uint32_t)hash_number(f->records),
                                 .body = {body, (size_t)n}};

    assert_true(window_log_append(&f->logs[log], f->pool, &parts, f->records++, ANY_ROOM));
}

/* Takes all of a partition: in order, each where its reference says, and counted in its log. */
static void take_part(struct runs_fixture *f, unsigned bits, uint32_t part, bool *ret_taken)
{
    uint64_t last = 0;
    uint32_t ref;

    window_runs_begin(&f->runs);
    for (int i = 0; i < LOGS; i++)
        window_runs_add(&f->runs, &f->logs[i], bits, part);
    for (window_runs_start(&f->runs); !window_runs_are_over(&f->runs); window_runs_turn(&f->runs)) {
        struct record *r;
        while ((r = window_runs_peek(&f->runs, &ref)) != NULL) {
            uint64_t number = reference_number(f->runs.chunks, ref);
            assert_true(reference_record(f->runs.chunks, ref) == r);
            assert_true(last == 0 || number > last);
            last = number;
            if (log_part_of(r->hash, bits) == part) {
                assert_false(ret_taken[number]);
                ret_taken[number] = true;
            }
            window_runs_at(&f->runs)->offset += (uint32_t)record_stride(r);
        }
    }
}

static void each_record_belongs_to_one_partition_and_comes_in_order(void **state)
{
    static const unsigned bits[][LOGS] = {
        {0, 0, 0, 0, 0, 0}, {0, 4, 8, 4, 0, 8}, {8, 8, 8, 8, 8, 8}, {1, 2, 3, 4, 5, 6}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(bits); i++)
        for (unsigned walk = 0; walk <= 8; walk += 2) {
            struct runs_fixture f = open_runs(bits[i]);
            bool *taken = mem_alloc_zeroed(3000, sizeof(bool));
            uint64_t seed = i + walk;
            int log = 0;
            while (f.records < 3000) {
                log = dice(&seed, 5) == 0 ? (int)dice(&seed, LOGS - 1) : log; /* one is empty */
                put(&f, log);
            }
            for (uint32_t part = 0; part < 1u << walk; part++)
                take_part(&f, walk, part, taken);
            for (size_t n = 0; n < 3000; n++)
                assert_true(taken[n]);
            mem_free(taken);
            close_runs(&f);
        }
}

static void the_undecided_are_counted_where_the_record_lies(void **state)
{
    static const unsigned bits[LOGS] = {0, 4, 0, 0, 0, 0};
    struct runs_fixture f = open_runs(bits);
    struct cross c = {0};

    (void)state;
    for (int i = 0; i < 2000; i++)
        put(&f, i % 3);
    window_runs_begin(&f.runs);
    for (int i = 0; i < LOGS; i++)
        window_runs_add(&f.runs, &f.logs[i], 0, 0);
    assert_int_equal(f.runs.count, 1 + 16 + 1);
    c.counts[SIDE_LEFT] = f.runs.counts;
    c.count_count[SIDE_LEFT] = f.runs.count;
    for (uint32_t i = 0; i < f.runs.count; i++) {
        uint32_t end = i + 1 < f.runs.count ? f.runs.runs[i + 1].first_chunk : f.runs.chunk_count;
        int log = i == 0 ? 0 : i <= 16 ? 1 : 2;
        for (uint32_t chunk = f.runs.runs[i].first_chunk; chunk < end; chunk++)
            assert_true(cross_held(&c, SIDE_LEFT, reference_make(chunk, 0)) ==
                        &f.logs[log].undecided);
    }
    close_runs(&f);
}

static void nothing_is_over_at_once(void **state)
{
    static const unsigned bits[LOGS] = {0};
    struct runs_fixture f = open_runs(bits);
    bool none[1];

    (void)state;
    take_part(&f, 0, 0, none);
    assert_int_equal(f.runs.count, 0);
    close_runs(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_record_belongs_to_one_partition_and_comes_in_order),
        cmocka_unit_test(the_undecided_are_counted_where_the_record_lies),
        cmocka_unit_test(nothing_is_over_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
