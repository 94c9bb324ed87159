#include "unit.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "store/due_heap.h"

struct heap_fixture {
    struct slab_pool *pool;
    struct due_heap heap;
    struct due *model; /* owned */
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
    due_heap_init(&f->heap);
    return f;
}

static void close_heap(struct heap_fixture *f)
{
    due_heap_done(&f->heap, f->pool);
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
    assert_int_equal(due_heap_bytes(&f->heap),
                     slab_used(f->pool) + f->heap.pages.capacity * sizeof(void *));
}

static void add(struct heap_fixture *f, int64_t instant, uint32_t tie)
{
    struct due due = {instant, tie, dice(f, UINT32_MAX)};
    uint64_t expected = due_heap_bytes(&f->heap) + due_heap_growth(&f->heap);

    assert_true(f->count < f->capacity);
    f->model[f->count++] = due;
    due_heap_add(&f->heap, f->pool, due);
    assert_int_equal(due_heap_bytes(&f->heap), expected);
}

static int compare(const void *a, const void *b)
{
    return due_before(a, b) ? -1 : due_before(b, a);
}

static void pop_as(struct heap_fixture *f, const struct due *expected)
{
    const struct due *first = due_heap_first(&f->heap);

    assert_non_null(first);
    assert_int_equal(first->instant, expected->instant);
    assert_int_equal(first->tie, expected->tie);
    assert_int_equal(first->ref, expected->ref);
    due_heap_pop(&f->heap, f->pool);
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
    assert_null(due_heap_first(&f->heap));
    assert_int_equal(due_heap_bytes(&f->heap), 0);
    add(f, 5, 0);
    assert_true(due_heap_bytes(&f->heap) < 512);
    pop_sorted(f, 1);
    assert_null(due_heap_first(&f->heap));
    assert_int_equal(due_heap_bytes(&f->heap), 0);
    close_heap(f);
}

static void what_is_due_first_comes_first(void **state)
{
    struct heap_fixture *f = open_heap();

    (void)state;
    add(f, 3, 0);
    add(f, INT64_MAX, 1);
    add(f, -1, 2);
    add(f, INT64_MIN, 3);
    add(f, 0, 4);
    pop_sorted(f, 5);
    close_heap(f);
}

static void of_one_instant_the_lower_tie_comes_first_also_beyond_32_bits(void **state)
{
    struct heap_fixture *f = open_heap();
    uint32_t start = UINT32_MAX - 500;

    (void)state;
    for (uint32_t i = 0; i < 1000; i++)
        add(f, 7, start + (i * 377) % 1000);
    for (uint32_t i = 0; i < 1000; i++) {
        assert_int_equal(due_heap_first(&f->heap)->tie, start + i);
        due_heap_pop(&f->heap, f->pool);
    }
    close_heap(f);
}

static void it_costs_16_bytes_each(void **state)
{
    struct heap_fixture *f = open_heap();

    (void)state;
    for (int i = 0; i < 100000; i++) {
        add(f, dice(f, 1000000), (uint32_t)i);
        if (i > 5000)
            assert_true(due_heap_bytes(&f->heap) <=
                        (uint64_t)(i + 1) * 16 * 101 / 100 + SLAB_CHUNK_MAX);
    }
    pop_sorted(f, 99000);
    assert_true(due_heap_bytes(&f->heap) <= 1000 * 16 + 3 * SLAB_CHUNK_MAX);
    pop_sorted(f, 1000);
    close_heap(f);
}

static void anything_may_happen_in_any_order(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct heap_fixture *f = open_heap();
        uint32_t tie = 0;
        f->seed = seed << 32;
        for (int phase = 0; phase < 30; phase++) {
            uint32_t instants = 1 + dice(f, phase % 2 == 0 ? 10 : 100000);
            for (uint32_t n = dice(f, 4000); n > 0; n--)
                add(f, (int64_t)dice(f, instants) - 50, tie++);
            pop_sorted(f, dice(f, (uint32_t)f->count + 1));
        }
        pop_sorted(f, f->count);
        assert_int_equal(due_heap_bytes(&f->heap), 0);
        close_heap(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_heap_takes_nothing),
        cmocka_unit_test(what_is_due_first_comes_first),
        cmocka_unit_test(of_one_instant_the_lower_tie_comes_first_also_beyond_32_bits),
        cmocka_unit_test(it_costs_16_bytes_each),
        cmocka_unit_test(anything_may_happen_in_any_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
