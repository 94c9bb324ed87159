#include "unit.h"

#include "base/mem.h"
#include "base/pages.h"

/* Three words: a page of full size is not filled by them. */
struct place {
    uint64_t a, b, c;
};

#define PLACES (PAGE_ITEMS(sizeof(struct place)) * 5 + 7)

static struct place *place_at(const struct pages *p, uint64_t i)
{
    return pages_at(p, sizeof(struct place), i);
}

static void assert_bytes(const struct pages *p, const struct slab_pool *pool)
{
    assert_int_equal(pages_bytes(p), slab_used(pool) + p->capacity * sizeof(void *));
}

static void fill(struct pages *p, struct slab_pool *pool)
{
    for (uint64_t i = 0; i < PLACES; i++) {
        uint64_t growth = pages_growth(p, i), before = pages_bytes(p);
        pages_widen(p, pool, i);
        assert_int_equal(pages_bytes(p), before + growth);
        *place_at(p, i) = (struct place){i, i + 1, i + 2};
    }
}

static void places_keep_what_they_hold_while_there_come_to_be_more(void **state)
{
    struct slab_pool *pool = slab_pool_new();
    struct pages p;

    (void)state;
    pages_init(&p, sizeof(struct place));
    assert_int_equal(pages_bytes(&p), 0);
    fill(&p, pool);
    assert_bytes(&p, pool);
    assert_int_equal(p.count, 6);
    for (uint64_t i = 0; i < PLACES; i++)
        assert_true(place_at(&p, i)->a == i && place_at(&p, i)->c == i + 2);
    pages_done(&p, pool);
    assert_int_equal(slab_used(pool), 0);
    slab_pool_free(pool);
}

static void a_few_places_take_little_memory(void **state)
{
    struct slab_pool *pool = slab_pool_new();
    struct pages p;

    (void)state;
    pages_init(&p, sizeof(struct place));
    pages_widen(&p, pool, 0);
    assert_int_equal(slab_used(pool), SLAB_CHUNK_MIN);
    pages_shrink(&p, pool, 0);
    assert_int_equal(pages_bytes(&p), 0);
    slab_pool_free(pool);
}

static void pages_go_when_nothing_is_in_them(void **state)
{
    struct slab_pool *pool = slab_pool_new();
    struct pages p;

    (void)state;
    pages_init(&p, sizeof(struct place));
    fill(&p, pool);
    for (uint64_t left = PLACES; left-- > 0;) {
        pages_shrink(&p, pool, left);
        assert_bytes(&p, pool);
        assert_int_equal(p.count, (left + PAGE_ITEMS(sizeof(struct place)) - 1) /
                                      PAGE_ITEMS(sizeof(struct place)));
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
