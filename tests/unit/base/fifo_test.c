#include "unit.h"

#include "base/fifo.h"

struct item {
    uint64_t a;
    uint32_t b;
};

#define SIZE  sizeof(struct item)
#define COUNT 20000

static void add(struct fifo *f, struct slab_pool *pool, uint64_t n)
{
    uint64_t expected = f->bytes + fifo_growth(f);
    struct item *item = fifo_add(f, pool, SIZE);

    *item = (struct item){n, 7};
    assert_int_equal(f->bytes, expected);
    assert_int_equal(f->bytes, slab_used(pool));
    assert_ptr_equal(fifo_last(f, SIZE), item);
}

static void take(struct fifo *f, struct slab_pool *pool, uint64_t n)
{
    const struct item *item = fifo_first(f, SIZE);

    assert_int_equal(item->a, n);
    assert_int_equal(item->b, 7);
    fifo_drop(f, pool);
    assert_int_equal(f->bytes, slab_used(pool));
}

static void what_came_first_leaves_first(void **state)
{
    struct slab_pool *pool = slab_pool_new();
    struct fifo f = {0};
    uint64_t out = 0;

    (void)state;
    for (uint64_t in = 0; in < COUNT; in++) {
        add(&f, pool, in);
        if (in % 3 != 0)
            take(&f, pool, out++);
    }
    while (!fifo_is_empty(&f))
        take(&f, pool, out++);
    assert_int_equal(out, COUNT);
    assert_int_equal(f.bytes, 0);
    slab_pool_free(pool);
}

static void little_is_wasted(void **state)
{
    struct slab_pool *pool = slab_pool_new();
    struct fifo f = {0};

    (void)state;
    add(&f, pool, 0);
    assert_int_equal(f.bytes, SLAB_CHUNK_MIN);
    for (uint64_t i = 1; i < COUNT; i++) {
        add(&f, pool, i);
        assert_true(f.bytes <= 2 * SLAB_CHUNK_MIN + (i + 1) * SIZE * 13 / 10);
    }
    fifo_done(&f, pool);
    assert_int_equal(slab_used(pool), 0);
    slab_pool_free(pool);
}

static void each_is_come_to_in_order(void **state)
{
    struct slab_pool *pool = slab_pool_new();
    struct fifo f = {0};

    (void)state;
    for (uint64_t in = 0, out = 0; in < 2000; in++) {
        struct fifo_place at = FIFO_START;
        uint64_t next = out;
        while (fifo_next_place(&f, &at))
            assert_int_equal(((const struct item *)fifo_at(at, SIZE))->a, next++);
        assert_int_equal(next, in);
        add(&f, pool, in);
        if (in % 3 == 0)
            take(&f, pool, out++);
    }
    fifo_done(&f, pool);
    slab_pool_free(pool);
}

static void a_row_ends_where_the_chunk_does(void **state)
{
    struct slab_pool *pool = slab_pool_new();
    struct fifo f = {0};
    uint64_t out = 0;

    (void)state;
    for (uint64_t i = 0; i < COUNT; i++)
        add(&f, pool, i);
    while (!fifo_is_empty(&f)) {
        const struct item *row = fifo_first(&f, SIZE);
        uint32_t n = fifo_row(&f);
        for (uint32_t i = 0; i < n; i++)
            assert_int_equal(row[i].a, out + i);
        for (uint32_t i = 0; i < n; i++)
            take(&f, pool, out++);
    }
    assert_int_equal(out, COUNT);
    slab_pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_came_first_leaves_first),
        cmocka_unit_test(little_is_wasted),
        cmocka_unit_test(each_is_come_to_in_order),
        cmocka_unit_test(a_row_ends_where_the_chunk_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
