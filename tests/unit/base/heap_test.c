#include "unit.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/heap.h"
#include "base/mem.h"

struct item {
    int64_t rank, value;
};

static bool comes_before(const void *x, const void *y)
{
    const struct item *a = x, *b = y;
    return a->rank != b->rank ? a->rank < b->rank : a->value < b->value;
}

static const struct heap_order order = {sizeof(struct item), comes_before};

struct heap_fixture {
    struct slab_pool *pool;
    struct heap heap;
    struct item *model; /* owned */
    size_t count, capacity;
    uint64_t seed;
};

static struct heap_fixture *open_heap(void)
{
    struct heap_fixture *f = mem_alloc_zeroed(1, sizeof(*f));

    f->pool = slab_pool_new();
    f->seed = 1;
    f->capacity = 200000;
    f->model = mem_alloc(f->capacity * sizeof(*f->model));
    heap_init(&f->heap, &order);
    return f;
}

static void close_heap(struct heap_fixture *f)
{
    heap_done(&f->heap, f->pool);
    assert_int_equal(slab_used(f->pool), 0);
    slab_pool_free(f->pool);
    mem_free(f->model);
    mem_free(f);
}

static uint32_t dice(struct heap_fixture *f, uint32_t sides)
{
    return (uint32_t)(hash_number(f->seed++) >> 32) % sides;
}

static void assert_bytes(const struct heap_fixture *f)
{
    assert_int_equal(heap_bytes(&f->heap),
                     slab_used(f->pool) + f->heap.items.capacity * sizeof(void *));
}

static void add(struct heap_fixture *f, int64_t rank)
{
    struct item item = {rank, dice(f, UINT32_MAX)};
    uint64_t expected = heap_bytes(&f->heap) + heap_growth(&f->heap);

    assert_true(f->count < f->capacity);
    f->model[f->count++] = item;
    heap_add(&f->heap, &order, f->pool, &item);
    assert_int_equal(heap_bytes(&f->heap), expected);
}

static int compare(const void *a, const void *b)
{
    return comes_before(a, b) ? -1 : comes_before(b, a);
}

static void pop_as(struct heap_fixture *f, const struct item *expected)
{
    const struct item *first = heap_first(&f->heap, &order);

    assert_non_null(first);
    assert_int_equal(first->rank, expected->rank);
    assert_int_equal(first->value, expected->value);
    heap_pop(&f->heap, &order, f->pool);
}

/* The first `n` of the model come, in its order. */
static void pop_sorted(struct heap_fixture *f, size_t n)
{
    qsort(f->model, f->count, sizeof(*f->model), compare);
    for (size_t i = 0; i < n; i++)
        pop_as(f, &f->model[i]);
    f->count -= n;
    memmove(f->model, f->model + n, f->count * sizeof(*f->model));
    assert_int_equal(f->heap.count, f->count);
    assert_bytes(f);
}

/* --- */

static void an_empty_heap_takes_nothing(void **state)
{
    struct heap_fixture *f = open_heap();

    (void)state;
    assert_null(heap_first(&f->heap, &order));
    assert_int_equal(heap_bytes(&f->heap), 0);
    add(f, 5);
    assert_true(heap_bytes(&f->heap) < 512);
    pop_sorted(f, 1);
    assert_null(heap_first(&f->heap, &order));
    assert_int_equal(heap_bytes(&f->heap), 0);
    close_heap(f);
}

static void what_comes_before_all_others_is_the_first(void **state)
{
    struct heap_fixture *f = open_heap();

    (void)state;
    add(f, 3);
    add(f, INT64_MAX);
    add(f, -1);
    add(f, INT64_MIN);
    add(f, 0);
    pop_sorted(f, 5);
    close_heap(f);
}

static void it_costs_the_items_and_no_more(void **state)
{
    struct heap_fixture *f = open_heap();

    (void)state;
    for (int i = 0; i < 100000; i++) {
        add(f, dice(f, 1000000));
        if (i > 5000)
            assert_true(heap_bytes(&f->heap) <=
                        (uint64_t)(i + 1) * sizeof(struct item) * 101 / 100 + SLAB_CHUNK_MAX);
    }
    pop_sorted(f, 99000);
    assert_true(heap_bytes(&f->heap) <= 1000 * sizeof(struct item) + 3 * SLAB_CHUNK_MAX);
    pop_sorted(f, 1000);
    close_heap(f);
}

/* As the model's first, which is replaced. */
static void renew(struct heap_fixture *f, int64_t rank)
{
    struct item item = {rank, dice(f, UINT32_MAX)};
    uint64_t rest = heap_renew(&f->heap, &order, &item);

    assert_int_equal(((struct item *)heap_at(&f->heap, &order, rest))->value, item.value);
    f->model[0] = item;
    qsort(f->model, f->count, sizeof(*f->model), compare);
}

static void the_first_may_become_another(void **state)
{
    struct heap_fixture *f = open_heap();

    (void)state;
    for (int i = 0; i < 300; i++)
        add(f, dice(f, 1000));
    qsort(f->model, f->count, sizeof(*f->model), compare);
    for (int i = 0; i < 1000; i++)
        renew(f, f->model[0].rank + dice(f, i % 2 == 0 ? 3 : 2000));
    pop_sorted(f, 300);
    close_heap(f);
}

/* All that lay between the first place and where the last item comes to rest. */
static void it_says_what_has_come_up(void **state)
{
    struct heap_fixture *f = open_heap();

    (void)state;
    for (int i = 0; i < 1000; i++)
        add(f, dice(f, 1000));
    while (f->heap.count > 1) {
        uint64_t rest;
        for (uint64_t i = 0; i < f->heap.count; i++)
            f->model[i] = *(struct item *)heap_at(&f->heap, &order, i);
        for (rest = heap_pop(&f->heap, &order, f->pool); rest > 0; rest = heap_above(rest))
            assert_memory_equal(heap_at(&f->heap, &order, heap_above(rest)), &f->model[rest],
                                sizeof(struct item));
    }
    close_heap(f);
}

static void anything_may_happen_in_any_order(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct heap_fixture *f = open_heap();
        f->seed = seed << 32;
        for (int phase = 0; phase < 30; phase++) {
            uint32_t ranks = 1 + dice(f, phase % 2 == 0 ? 10 : 100000);
            for (uint32_t n = dice(f, 4000); n > 0; n--)
                add(f, (int64_t)dice(f, ranks) - 50);
            pop_sorted(f, dice(f, (uint32_t)f->count + 1));
        }
        pop_sorted(f, f->count);
        assert_int_equal(heap_bytes(&f->heap), 0);
        close_heap(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_heap_takes_nothing),
        cmocka_unit_test(what_comes_before_all_others_is_the_first),
        cmocka_unit_test(it_costs_the_items_and_no_more),
        cmocka_unit_test(the_first_may_become_another),
        cmocka_unit_test(it_says_what_has_come_up),
        cmocka_unit_test(anything_may_happen_in_any_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
