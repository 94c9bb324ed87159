#include "unit.h"

#include "base/mem.h"
#include "store/spent.h"

#define RECORDS 10

struct spent_fixture {
    struct slab_pool *pool;
    struct arena arenas[SIDES];
    struct spent spent;
    uint32_t refs[SIDES][RECORDS];
};

/* With records whose fates are known. */
static struct spent_fixture *open_spent(void)
{
    struct record_parts parts = {.body = BYTES_LIT("k,a"), .flags = RECORD_DECIDED};
    struct spent_fixture *f = mem_alloc_zeroed(1, sizeof(*f));

    f->pool = slab_pool_new();
    spent_init(&f->spent);
    parts.key = (struct bytes){parts.body.p, 1};
    for (int s = 0; s < SIDES; s++) {
        arena_init(&f->arenas[s], 0);
        for (uint64_t i = 0; i < RECORDS; i++)
            assert_true(arena_add(&f->arenas[s], f->pool, &parts, i, UINT64_MAX, &f->refs[s][i]));
    }
    return f;
}

static void close_spent(struct spent_fixture *f)
{
    for (int s = 0; s < SIDES; s++)
        arena_done(&f->arenas[s], f->pool);
    assert_int_equal(slab_used(f->pool), 0);
    slab_pool_free(f->pool);
    mem_free(f);
}

static void release(struct spent_fixture *f, enum side side, int i)
{
    spent_release(&f->spent, f->arenas, f->pool, side, f->refs[side][i]);
}

static void a_record_goes_at_once_when_nothing_is_lent(void **state)
{
    struct spent_fixture *f = open_spent();

    (void)state;
    release(f, SIDE_RIGHT, 3);
    assert_int_equal(f->arenas[SIDE_RIGHT].records, RECORDS - 1);
    assert_int_equal(f->arenas[SIDE_LEFT].records, RECORDS);
    assert_false(spent_any(&f->spent));
    close_spent(f);
}

static void what_is_lent_stays_until_it_is_given_back_as_far_as_fuel_goes(void **state)
{
    struct spent_fixture *f = open_spent();
    int64_t fuel = 1000;
    int turns = 0;

    (void)state;
    f->spent.lent = true;
    for (int i = 0; i < RECORDS; i++) {
        release(f, SIDE_LEFT, i);
        release(f, SIDE_RIGHT, RECORDS - 1 - i);
    }
    assert_int_equal(f->arenas[SIDE_LEFT].records + f->arenas[SIDE_RIGHT].records, 2 * RECORDS);
    for (; spent_any(&f->spent); turns++) {
        fuel = 1;
        spent_give_back(&f->spent, f->arenas, f->pool, &fuel);
        assert_true(fuel <= 0);
    }
    assert_int_equal(turns, 2 * RECORDS);
    assert_false(f->spent.lent);
    assert_int_equal(slab_used(f->pool), 0);
    close_spent(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_goes_at_once_when_nothing_is_lent),
        cmocka_unit_test(what_is_lent_stays_until_it_is_given_back_as_far_as_fuel_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
