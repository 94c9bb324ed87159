#include "window_log_fixture.h"

/* --- appending --- */

static void a_new_log_is_one_empty_partition(void **state)
{
    struct log_fixture f = open_log();

    (void)state;
    assert_int_equal(f.log.bits, 0);
    assert_int_equal(f.log.bytes, EMPTY_BYTES);
    assert_int_equal(slab_used(f.pool), 0);
    assert_log(&f, 0);
    close_log(&f);
}

static void a_log_of_two_records_costs_a_few_hundred_bytes(void **state)
{
    struct log_fixture f = open_log();

    (void)state;
    append(&f, 1, 40, 0);
    append(&f, 2, 40, 1);
    assert_log(&f, 2);
    assert_true(f.log.bytes <= 400);
    close_log(&f);
}

static void records_stay_in_order_of_arrival_over_many_chunks(void **state)
{
    struct log_fixture f = open_log();

    (void)state;
    for (uint64_t n = 0; n < 5000; n++)
        append(&f, (uint32_t)hash_number(n), n % 97, 3 * n);
    assert_log(&f, 5000);
    assert_true(f.log.parts[0].count > 20);
    close_log(&f);
}

/* A sixteenth to an eighth of what is there is free at most. */
static void chunks_grow_with_the_partition_so_that_little_is_wasted(void **state)
{
    struct log_fixture f = open_log();
    uint64_t payload = 0;

    (void)state;
    for (uint64_t n = 0; n < 20000; n++) {
        append(&f, 0, 28, n);
        payload += STRIDE_MIN + 28;
        assert_true(f.log.bytes <= payload + payload / 4 + 512);
    }
    for (uint32_t i = 0; i < f.log.parts[0].count; i++)
        assert_true(f.log.parts[0].chunks[i]->size <= SLAB_CHUNK_MAX);
    assert_true(f.log.parts[0].count < 150);
    assert_log(&f, 20000);
    close_log(&f);
}

static void a_log_that_is_to_be_large_begins_with_large_chunks(void **state)
{
    struct log_fixture f = open_log();

    (void)state;
    f.log.chunk_least = 3000;
    for (uint64_t n = 0; n < 20000; n++)
        append(&f, 0, 28, n);
    assert_int_equal(f.log.parts[0].chunks[0]->size, 4096);
    assert_int_equal(f.log.parts[0].chunks[f.log.parts[0].count - 1]->size, SLAB_CHUNK_MAX);
    assert_true(f.log.parts[0].count < 75);
    window_log_split(&f.log, f.pool, 1);
    assert_int_equal(f.log.parts[0].chunks[0]->size, 4096);
    assert_log(&f, 20000);
    close_log(&f);
}

static void a_chunk_takes_records_up_to_its_last_byte(void **state)
{
    size_t first = SLAB_CHUNK_MIN - HEADER - 2 * STRIDE_MIN;
    struct log_fixture f = open_log();

    (void)state;
    append(&f, 0, first, 0);
    assert_true(append_within(&f, 0, 0, 1, 0));
    assert_int_equal(f.log.parts[0].count, 1);
    assert_int_equal(log_chunk_used(&f.log.parts[0], 0), SLAB_CHUNK_MIN - HEADER);
    append(&f, 0, 0, 2);
    assert_int_equal(f.log.parts[0].count, 2);
    assert_log(&f, 3);
    close_log(&f);
}

static void a_record_may_be_larger_than_any_chunk_of_the_pool(void **state)
{
    static const size_t sizes[] = {
        SLAB_CHUNK_MAX - 64,
        SLAB_CHUNK_MAX - 41,
        SLAB_CHUNK_MAX - 40,
        SLAB_CHUNK_MAX - 39,
        SLAB_CHUNK_MAX - 16,
        SLAB_CHUNK_MAX - 12,
        SLAB_CHUNK_MAX,
        SLAB_CHUNK_MAX + 1,
        17000,
        20480,
        65536,
        1 << 20,
    };
    struct log_fixture f = open_log();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        append(&f, 0, sizes[i], i);
    assert_log(&f, COUNT_OF(sizes));
    close_log(&f);
}

/* They must lie where a walk can refer to them, though a large chunk has room behind. */
static void small_records_follow_large_ones(void **state)
{
    struct log_fixture f = open_log();
    uint64_t n = 0;

    (void)state;
    for (size_t large = SLAB_CHUNK_MAX - 200; large < 21000; large += 97) {
        append(&f, 0, large, n++);
        for (int i = 0; i < 20; i++)
            append(&f, 0, 8, n++);
    }
    assert_log(&f, n);
    close_log(&f);
}

/* --- numbers --- */

static void numbers_are_counted_from_the_first_record(void **state)
{
    static const struct {
        const char *name;
        uint64_t first, second;
        uint32_t chunks;
    } rows[] = {
        {"next to each other", 0, 1, 1},
        {"as far as 32 bits go", 5, 5 + (uint64_t)UINT32_MAX, 1},
        {"one further", 5, 6 + (uint64_t)UINT32_MAX, 2},
        {"large ones", UINT64_C(1) << 63, (UINT64_C(1) << 63) + 9, 1},
        {"the largest", 0, UINT64_MAX, 2},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct log_fixture f = open_log();
        append(&f, 0, 4, rows[i].first);
        append(&f, 0, 4, rows[i].second);
        assert_row(f.log.parts[0].count == rows[i].chunks, rows[i].name);
        assert_log(&f, 2);
        close_log(&f);
    }
}

/* --- room --- */

static void assert_unchanged(const struct log_fixture *f, struct window_log log,
                             struct log_part part, size_t used)
{
    assert_int_equal(f->log.bits, log.bits);
    assert_int_equal(f->log.bytes, log.bytes);
    assert_int_equal(f->log.undecided, log.undecided);
    assert_int_equal(f->log.parts[0].count, part.count);
    assert_int_equal(f->log.parts[0].capacity, part.capacity);
    assert_int_equal(f->log.parts[0].bytes, part.bytes);
    assert_int_equal(slab_used(f->pool), used);
}

static void what_does_not_fit_into_the_room_changes_nothing(void **state)
{
    static const struct {
        const char *name;
        size_t before, body; /* records that are there, and the new one's bytes */
        uint64_t needs;
    } rows[] = {
        {"the first: a chunk and a directory", 0, 8, SLAB_CHUNK_MIN + 4 * POINTER},
        {"a second chunk", 1, 200, SLAB_CHUNK_MIN},
        {"the fifth: the directory doubles", 4, 200, SLAB_CHUNK_MIN + 4 * POINTER},
        {"a larger one", 1, 1000, 2048},
        {"one that the pool has no size for", 1, 17000, 20480},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct log_fixture f = open_log();
        struct window_log log;
        struct log_part part;
        size_t used;

        for (size_t n = 0; n < rows[i].before; n++)
            append(&f, 0, 200, n);
        assert_row(f.log.parts[0].count == rows[i].before, rows[i].name);
        log = f.log;
        part = f.log.parts[0];
        used = slab_used(f.pool);
        assert_row(!append_within(&f, 0, rows[i].body, 99, rows[i].needs - 1), rows[i].name);
        assert_row(!append_within(&f, 0, rows[i].body, 99, 0), rows[i].name);
        assert_unchanged(&f, log, part, used);
        assert_log(&f, rows[i].before);

        assert_row(append_within(&f, 0, rows[i].body, 99, rows[i].needs), rows[i].name);
        assert_row(f.log.bytes == log.bytes + rows[i].needs, rows[i].name);
        assert_log(&f, rows[i].before + 1);
        close_log(&f);
    }
}

static void free_space_in_a_chunk_needs_no_room(void **state)
{
    struct log_fixture f = open_log();

    (void)state;
    append(&f, 0, 8, 0);
    assert_true(append_within(&f, 0, 8, 1, 0));
    assert_log(&f, 2);
    close_log(&f);
}

/* So many chunks would be 4 GiB and more: only the count is made to look so. */
static void a_partition_of_as_many_chunks_as_can_be_referred_to_is_full(void **state)
{
    struct log_fixture f = open_log();
    struct log_part *p = &f.log.parts[0];
    uint32_t capacity;

    (void)state;
    append(&f, 0, 200, 0);
    capacity = p->capacity;
    p->chunks = mem_realloc(p->chunks, LOG_CHUNKS_MAX * POINTER);
    p->chunks[LOG_CHUNKS_MAX - 1] = p->chunks[0];
    p->count = p->capacity = LOG_CHUNKS_MAX;
    assert_false(append_within(&f, 0, 200, 1, ANY_ROOM));
    assert_int_equal(f.log.undecided, 1);

    p->count = 1;
    p->capacity = capacity;
    assert_log(&f, 1);
    close_log(&f);
}

/* --- partitions --- */

static void the_top_bits_of_the_hash_choose_the_partition(void **state)
{
    static const struct {
        uint32_t hash;
        unsigned bits;
        uint32_t part;
    } rows[] = {
        {0, 0, 0},
        {UINT32_MAX, 0, 0},
        {0, 4, 0},
        {0x0fffffff, 4, 0},
        {0x10000000, 4, 1},
        {UINT32_MAX, 4, 15},
        {0x00ffffff, 8, 0},
        {0x01000000, 8, 1},
        {0xab123456, 4, 10},
        {0xab123456, 8, 0xab},
        {UINT32_MAX, 8, 255},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_int_equal(log_part_of(rows[i].hash, rows[i].bits), rows[i].part);
}

static void a_split_keeps_records_order_numbers_and_count(void **state)
{
    static const unsigned steps[][2] = {{4, 8}, {8, 0}, {1, 4}, {4, 0}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        struct log_fixture f = open_log();
        fill(&f, 4000);
        for (size_t j = 0; j < 2 && steps[i][j] > 0; j++) {
            window_log_split(&f.log, f.pool, steps[i][j]);
            assert_int_equal(f.log.bits, steps[i][j]);
            assert_log(&f, 4000);
        }
        append(&f, 0, 10, 100000);
        append(&f, UINT32_MAX, 10, 100001);
        assert_log(&f, 4002);
        close_log(&f);
    }
}

/* The hash and the flags of a record, its key: all but its number are as before. */
static void a_split_copies_records_whole(void **state)
{
    struct log_fixture f = open_log();
    struct record_parts parts = {
        .hash = 0xabcdef01,
        .body = BYTES_LIT("body"),
        .key = BYTES_LIT("key"),
        .flags = RECORD_PACKED,
    };
    struct look at;
    uint64_t number = 0;
    struct record *r;

    (void)state;
    append(&f, 0, 8, 10);
    assert_true(window_log_append(&f.log, f.pool, &parts, 17, ANY_ROOM));
    window_log_split(&f.log, f.pool, 8);
    at = (struct look){.part = &f.log.parts[0xab]};
    r = look_next(&at, &number);
    assert_non_null(r);
    assert_int_equal(number, 17);
    assert_int_equal(r->hash, parts.hash);
    assert_true(bytes_equal(record_key(r), parts.key));
    assert_true(bytes_equal(record_body(r), parts.body));
    assert_true(record_has(r, RECORD_PACKED));
    assert_false(record_has(r, RECORD_NULL_KEY));
    assert_null(look_next(&at, &number));
    close_log(&f);
}

static void an_empty_log_can_be_split(void **state)
{
    struct log_fixture f = open_log();

    (void)state;
    window_log_split(&f.log, f.pool, 4);
    assert_int_equal(f.log.bytes, 16 * EMPTY_BYTES);
    assert_log(&f, 0);
    close_log(&f);
}

static void a_split_parts_numbers_that_are_far_from_each_other(void **state)
{
    struct log_fixture f = open_log();

    (void)state;
    append(&f, 0, 8, 1);
    append(&f, 1, 8, 2);
    append(&f, 2, 8, UINT64_C(3) << 32);
    append(&f, 3, 8, UINT64_C(9) << 32);
    window_log_split(&f.log, f.pool, 4);
    assert_int_equal(f.log.parts[0].count, 3);
    assert_log(&f, 4);
    close_log(&f);
}

static void large_records_can_be_split_too(void **state)
{
    struct log_fixture f = open_log();
    uint64_t n = 0;

    (void)state;
    for (int i = 0; i < 40; i++) {
        append(&f, (uint32_t)hash_number(n), 16000 + 100 * (size_t)i, n);
        n++;
        append(&f, (uint32_t)hash_number(n), 8, n);
        n++;
    }
    window_log_split(&f.log, f.pool, 4);
    assert_log(&f, n);
    close_log(&f);
}

/* --- what is held --- */

static void a_recount_counts_the_records_that_are_not_decided(void **state)
{
    struct log_fixture f = open_log();
    uint64_t undecided = 0, number = 0;

    (void)state;
    fill(&f, 3000);
    window_log_split(&f.log, f.pool, 4);
    for (uint32_t i = 0; i < 16; i++) {
        struct look at = {.part = &f.log.parts[i]};
        struct record *r;
        while ((r = look_next(&at, &number)) != NULL) {
            if (number % 3 == 0)
                r->size_flags |= RECORD_DECIDED;
            else if (number % 3 == 1)
                r->size_flags |= RECORD_MATCHED; /* says nothing by itself */
            undecided += number % 3 != 0;
        }
    }
    assert_true(undecided > 0 && undecided < 3000);
    assert_int_equal(log_recount(&f.log), undecided);
    assert_int_equal(assert_in_order(&f.log), 3000);
    close_log(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_log_is_one_empty_partition),
        cmocka_unit_test(a_log_of_two_records_costs_a_few_hundred_bytes),
        cmocka_unit_test(records_stay_in_order_of_arrival_over_many_chunks),
        cmocka_unit_test(chunks_grow_with_the_partition_so_that_little_is_wasted),
        cmocka_unit_test(a_log_that_is_to_be_large_begins_with_large_chunks),
        cmocka_unit_test(a_chunk_takes_records_up_to_its_last_byte),
        cmocka_unit_test(a_record_may_be_larger_than_any_chunk_of_the_pool),
        cmocka_unit_test(small_records_follow_large_ones),
        cmocka_unit_test(numbers_are_counted_from_the_first_record),
        cmocka_unit_test(what_does_not_fit_into_the_room_changes_nothing),
        cmocka_unit_test(free_space_in_a_chunk_needs_no_room),
        cmocka_unit_test(a_partition_of_as_many_chunks_as_can_be_referred_to_is_full),
        cmocka_unit_test(the_top_bits_of_the_hash_choose_the_partition),
        cmocka_unit_test(a_split_keeps_records_order_numbers_and_count),
        cmocka_unit_test(a_split_copies_records_whole),
        cmocka_unit_test(an_empty_log_can_be_split),
        cmocka_unit_test(a_split_parts_numbers_that_are_far_from_each_other),
        cmocka_unit_test(large_records_can_be_split_too),
        cmocka_unit_test(a_recount_counts_the_records_that_are_not_decided),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
