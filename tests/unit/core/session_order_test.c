#include "fixture.h"

#include "core/session_order.h"
#include "core/window_log.h"

#define RECORDS 400
#define PARTS   40

struct order_fixture {
    struct slab_pool *slab;
    struct session_pool pool;
    struct window_log log[SIDES];
    uint32_t ref[SIDES][RECORDS];
    uint32_t part[PARTS];
    size_t parts;
    size_t records[SIDES]; /* that are in some part */
    struct session_order order;
};

static struct log_chunk *const *chunks_of(const struct order_fixture *f, enum side side)
{
    return f->log[side].parts[0].chunks;
}

static void append_records(struct order_fixture *f, enum side side)
{
    const struct log_part *p = &f->log[side].parts[0];
    size_t n = 0;

    for (uint64_t i = 0; i < RECORDS; i++) {
        struct record_parts parts = {.body = BYTES_LIT("k,a,"), .key = BYTES_LIT("k")};
        assert_true(window_log_append(&f->log[side], f->slab, &parts, 7 + i, UINT64_MAX));
    }
    for (uint32_t c = 0; c < p->count; c++)
        for (uint32_t at = 0; at < p->chunks[c]->used;
             at += (uint32_t)record_stride(log_chunk_record(p->chunks[c], at)))
            f->ref[side][n++] = reference_make(c, at);
    assert_int_equal(n, RECORDS);
}

static struct order_fixture *open_order(size_t parts)
{
    struct order_fixture *f = mem_alloc_zeroed(1, sizeof(*f));

    f->slab = slab_pool_new();
    f->parts = parts;
    session_pool_init(&f->pool, f->slab, 1, NULL, NULL); /* nobody is looked for by key */
    for (int s = 0; s < SIDES; s++) {
        window_log_init(&f->log[s], 0);
        append_records(f, (enum side)s);
    }
    for (size_t i = 0; i < parts; i++)
        f->part[i] = session_open(&f->pool, 0, 0);
    return f;
}

static void close_order(struct order_fixture *f)
{
    for (int s = 0; s < SIDES; s++)
        window_log_done(&f->log[s], f->slab);
    session_pool_done(&f->pool);
    slab_pool_free(f->slab);
    mem_free(f);
}

/* Behind what the part has on that side. */
static void give_to(struct order_fixture *f, size_t part, enum side side, size_t record)
{
    struct session_run *run = &session_at(&f->pool, f->part[part])->run[side];
    uint32_t ref = f->ref[side][record];

    if (run->head == REFERENCE_NONE)
        run->head = ref;
    else
        reference_record(chunks_of(f, side), run->tail)->hash = ref;
    run->tail = ref;
    reference_record(chunks_of(f, side), ref)->hash = REFERENCE_NONE;
    f->records[side]++;
}

/* Goes through, with so much fuel at a time; returns how often it was called. */
static size_t put_in_order(struct order_fixture *f, uint64_t *chance, uint32_t fuel_max)
{
    size_t calls = 0;
    int64_t fuel;

    for (size_t i = 1; i < f->parts; i++)
        session_absorb(&f->pool, f->part[i], f->part[i - 1]);
    session_order_begin(&f->order, f->part[f->parts - 1]);
    do {
        for (int s = 0; s < SIDES; s++)
            f->order.chunks[s] = chunks_of(f, (enum side)s);
        fuel = 1 + dice(chance, fuel_max);
        calls++;
    } while (!session_order_go(&f->order, &f->pool, &fuel));
    return calls;
}

static void assert_ordered(const struct order_fixture *f)
{
    assert_int_equal(f->pool.count, 1);
    for (int s = 0; s < SIDES; s++) {
        struct session_run run = session_at(&f->pool, f->order.at)->run[s];
        uint64_t before = 0;
        uint32_t last = REFERENCE_NONE;
        size_t n = 0;
        for (uint32_t ref = run.head; ref != REFERENCE_NONE; n++) {
            assert_true(reference_number(chunks_of(f, s), ref) > before);
            before = reference_number(chunks_of(f, s), ref);
            last = ref;
            ref = reference_record(chunks_of(f, s), ref)->hash;
        }
        assert_int_equal(n, f->records[s]);
        assert_int_equal(last, run.tail);
    }
}

static void a_session_of_one_part_is_in_order(void **state)
{
    struct order_fixture *f = open_order(1);
    uint64_t chance = 1;

    (void)state;
    give_to(f, 0, SIDE_RIGHT, 3);
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
            give_to(f, part, SIDE_RIGHT, i);
            if (!one_sided)
                give_to(f, dice(&chance, (uint32_t)f->parts), SIDE_LEFT, i);
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
            give_to(f, (size_t)((i < RECORDS / 2) != backwards), SIDE_LEFT, i);
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
        give_to(f, i % 2 == 0 ? 0 : i / 2 % PARTS, SIDE_LEFT, i);
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
