#include "unit.h"

#include "base/mem.h"
#include "store/heap_pages.h"

/* Three words: a page of full size is not filled by them. */
struct place {
    uint64_t a, b, c;
};

#define PLACES (HEAP_PAGE_PLACES(struct place) * 5 + 7)

static struct place *place_at(const struct heap_pages *p, uint64_t i)
{
    return (struct place *)p->at[i / HEAP_PAGE_PLACES(struct place)] +
           i % HEAP_PAGE_PLACES(struct place);
}

static void assert_bytes(const struct heap_pages *p, const struct slab_pool *pool)
{
    assert_int_equal(heap_pages_bytes(p), slab_used(pool) + p->capacity * sizeof(void *));
}

static void fill(struct heap_pages *p, struct slab_pool *pool)
{
    for (uint64_t i = 0; i < PLACES; i++) {
        uint64_t growth = heap_pages_growth(p, i), before = heap_pages_bytes(p);
        heap_pages_widen(p, pool, i);
        assert_int_equal(heap_pages_bytes(p), before + growth);
        *place_at(p, i) = (struct place){i, i + 1, i + 2};
    }
}

static void places_keep_what_they_hold_while_there_come_to_be_more(void **state)
{
    struct slab_pool *pool = slab_pool_new();
    struct heap_pages p;

    (void)state;
    heap_pages_init(&p, sizeof(struct place));
    assert_int_equal(heap_pages_bytes(&p), 0);
    fill(&p, pool);
    assert_bytes(&p, pool);
    assert_int_equal(p.count, 6);
    for (uint64_t i = 0; i < PLACES; i++)
        assert_true(place_at(&p, i)->a == i && place_at(&p, i)->c == i + 2);
    heap_pages_done(&p, pool);
    assert_int_equal(slab_used(pool), 0);
    slab_pool_free(pool);
}

static void a_few_places_take_little_memory(void **state)
{
    struct slab_pool *pool = slab_pool_new();
    struct heap_pages p;

    (void)state;
    heap_pages_init(&p, sizeof(struct place));
    heap_pages_widen(&p, pool, 0);
    assert_int_equal(slab_used(pool), SLAB_CHUNK_MIN);
    heap_pages_shrink(&p, pool, 0);
    assert_int_equal(heap_pages_bytes(&p), 0);
    slab_pool_free(pool);
}

static void pages_go_when_nothing_is_in_them(void **state)
{
    struct slab_pool *pool = slab_pool_new();
    struct heap_pages p;

    (void)state;
    heap_pages_init(&p, sizeof(struct place));
    fill(&p, pool);
    for (uint64_t left = PLACES; left-- > 0;) {
        heap_pages_shrink(&p, pool, left);
        assert_bytes(&p, pool);
        assert_int_equal(p.count, (left + HEAP_PAGE_PLACES(struct place) - 1) /
                                      HEAP_PAGE_PLACES(struct place));
        if (left > 0)
            assert_int_equal(place_at(&p, left - 1)->b, left);
    }
    assert_int_equal(slab_used(pool), 0);
    slab_pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_keep_what_they_hold_while_there_come_to_be_more),
        cmocka_unit_test(a_few_places_take_little_memory),
        cmocka_unit_test(pages_go_when_nothing_is_in_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
