/* What a log gives back. */
#include "window_log_fixture.h"

static void dropped_partitions_lead_back_to_the_empty_log(void **state)
{
    static const unsigned bits[] = {0, 4, 8};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(bits); i++) {
        struct log_fixture f = open_log();
        struct slab_pile pile = {NULL};
        fill(&f, 2000);
        if (bits[i] > 0)
            window_log_split(&f.log, f.pool, bits[i]);
        for (uint32_t part = 0; part < 1u << bits[i]; part++) {
            uint64_t before = f.log.bytes, held = f.log.parts[part].bytes;
            window_log_drop_part(&f.log, &pile, part);
            slab_give_pile(f.pool, &pile);
            assert_true(f.log.bytes <= before - held);
            assert_int_equal(f.log.parts[part].count, 0);
            assert_accounts(&f);
        }
        assert_int_equal(f.log.bytes, EMPTY_BYTES << bits[i]);
        assert_int_equal(slab_used(f.pool), 0);
        close_log(&f);
    }
}

/* Millions of records in one log must not stop anything. */
static void a_log_goes_a_few_chunks_at_a_time(void **state)
{
    static const unsigned bits[] = {0, 4, 8};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(bits); i++) {
        struct log_fixture f = open_log();
        uint32_t chunks;
        int steps = 0;
        fill(&f, 20000);
        if (bits[i] > 0)
            window_log_split(&f.log, f.pool, bits[i]);
        chunks = f.log.chunks;
        for (bool done = false; !done; steps++) {
            int64_t fuel = 40;
            uint32_t before = f.log.chunks;
            done = window_log_drop_some(&f.log, f.pool, &fuel);
            assert_true(before - f.log.chunks <= 20);
            assert_accounts(&f);
        }
        assert_true(steps >= (int)chunks / 20);
        assert_int_equal(slab_used(f.pool), 0);
        assert_int_equal(f.log.bytes, EMPTY_BYTES << bits[i]);
        close_log(&f);
    }
}

static void an_empty_partition_can_be_dropped(void **state)
{
    struct log_fixture f = open_log();
    struct slab_pile pile = {NULL};

    (void)state;
    window_log_drop_part(&f.log, &pile, 0);
    window_log_drop_part(&f.log, &pile, 0);
    assert_null(pile.first);
    assert_int_equal(f.log.bytes, EMPTY_BYTES);
    append(&f, 0, 8, 0);
    assert_log(&f, 1);
    close_log(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dropped_partitions_lead_back_to_the_empty_log),
        cmocka_unit_test(a_log_goes_a_few_chunks_at_a_time),
        cmocka_unit_test(an_empty_partition_can_be_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
