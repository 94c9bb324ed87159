#include "session_fixture.h"

#include "join/session_order.h"

#define RECORDS 400
#define PARTS   40

struct order_fixture {
    struct pool_fixture p;
    uint32_t part[PARTS];
    size_t parts;
    size_t records[SIDES]; /* that are in some part */
    struct session_order order;
};

/* Parts of no records but one each on the left, the first ones to come, as a session has to have
 * one. */
static struct order_fixture *open_order(size_t parts)
{
    struct order_fixture *f = mem_alloc_zeroed(1, sizeof(*f));

    open_pool(&f->p);
    f->parts = parts;
    for (size_t i = 0; i < parts; i++)
        f->part[i] = open_at(&f->p, SIDE_LEFT, 0);
    f->records[SIDE_LEFT] = parts;
    return f;
}

static void close_order(struct order_fixture *f)
{
    close_pool(&f->p);
    mem_free(f);
}

/* The next one to come on that side. */
static void give_to(struct order_fixture *f, size_t part, enum side side)
{
    add_at(&f->p, f->part[part], side, 0);
    f->records[side]++;
}

/* Goes through, with so much fuel at a time; returns how often it was called. */
static size_t put_in_order(struct order_fixture *f, uint64_t *chance, uint32_t fuel_max)
{
    size_t calls = 0;
    int64_t fuel;

    for (size_t i = 1; i < f->parts; i++)
        absorb_at(&f->p, f->part[i], f->part[i - 1]);
    session_order_begin(&f->order, f->part[f->parts - 1]);
    do {
        fuel = 1 + dice(chance, fuel_max);
        calls++;
    } while (!session_order_go(&f->order, &f->p.pool, &fuel));
    return calls;
}

static void assert_ordered(const struct order_fixture *f)
{
    assert_int_equal(f->p.pool.count, 1);
    for (int s = 0; s < SIDES; s++) {
        const struct arena *records = &f->p.records[s];
        uint32_t last = session_at(&f->p.pool, f->order.at)->run[s], ref = last;
        uint64_t before = 0;
        for (size_t i = 0; i < f->records[s]; i++) {
            ref = arena_record(records, ref)->hash;
            assert_true(i == 0 || reference_number(arena_chunks(records), ref) > before);
            before = reference_number(arena_chunks(records), ref);
        }
        assert_int_equal(ref, f->records[s] == 0 ? REFERENCE_NONE : last);
    }
}

static void a_session_of_one_part_is_in_order(void **state)
{
    struct order_fixture *f = open_order(1);
    uint64_t chance = 1;

    (void)state;
    give_to(f, 0, SIDE_RIGHT);
    assert_int_equal(put_in_order(f, &chance, 1), 1);
    assert_ordered(f);
    close_order(f);
}

static void parts_of_all_shapes_come_in_order_with_any_fuel(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 120; seed++) {
        uint64_t chance = seed * 1000003;
        struct order_fixture *f = open_order(1 + dice(&chance, PARTS));
        bool one_sided = dice(&chance, 4) == 0, blocks = dice(&chance, 2) == 0;
        size_t part = 0;
        for (size_t i = 0; i < RECORDS; i++) {
            if (!blocks || dice(&chance, 10) == 0)
                part = dice(&chance, (uint32_t)f->parts);
            give_to(f, part, SIDE_RIGHT);
            if (!one_sided)
                give_to(f, dice(&chance, (uint32_t)f->parts), SIDE_LEFT);
        }
        put_in_order(f, &chance, seed % 3 == 0 ? 1 : 200);
        assert_ordered(f);
        close_order(f);
    }
}

/* What one sender gives in time order is in order, whatever was merged. */
static void parts_that_came_one_after_the_other_cost_next_to_nothing(void **state)
{
    uint64_t chance = 1;

    (void)state;
    for (int backwards = 0; backwards < 2; backwards++) {
        struct order_fixture *f = open_order(2);
        for (size_t i = 0; i < RECORDS; i++)
            give_to(f, (size_t)((i < RECORDS / 2) != backwards), SIDE_RIGHT);
        assert_in_range(put_in_order(f, &chance, 1), 1, 4);
        assert_ordered(f);
        close_order(f);
    }
}

/* Any number of merges costs a logarithm, not a square. */
static void many_parts_cost_a_logarithm_a_record(void **state)
{
    struct order_fixture *f = open_order(PARTS);
    uint64_t chance = 1;

    (void)state;
    for (size_t i = 0; i < RECORDS; i++)
        give_to(f, i % 2 == 0 ? 0 : i / 2 % PARTS, SIDE_LEFT);
    assert_in_range(put_in_order(f, &chance, 1), RECORDS / 2, 7 * RECORDS);
    assert_ordered(f);
    close_order(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_session_of_one_part_is_in_order),
        cmocka_unit_test(parts_of_all_shapes_come_in_order_with_any_fuel),
        cmocka_unit_test(parts_that_came_one_after_the_other_cost_next_to_nothing),
        cmocka_unit_test(many_parts_cost_a_logarithm_a_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
