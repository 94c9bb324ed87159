#include "unit.h"

#include "base/hash.h"
#include "base/mem.h"
#include "store/pieces.h"

#define COUNT 20000
#define ITEM  28

/* What is written into an item; `number` stands for all of it. */
struct item {
    uint32_t number;
    uint32_t rest[ITEM / sizeof(uint32_t) - 1];
};

struct pieces_fixture {
    struct slab_pool *pool;
    struct pieces pieces;
    uint32_t numbers[COUNT]; /* of those that are there */
    uint32_t count;
    uint64_t seed;
};

static struct pieces_fixture *open_pieces(void)
{
    struct pieces_fixture *f = mem_alloc_zeroed(1, sizeof(*f));

    f->pool = slab_pool_new();
    pieces_init(&f->pieces, sizeof(struct item));
    return f;
}

static void close_pieces(struct pieces_fixture *f)
{
    pieces_done(&f->pieces, f->pool);
    assert_int_equal(slab_used(f->pool), 0);
    slab_pool_free(f->pool);
    mem_free(f);
}

static uint32_t dice(struct pieces_fixture *f, uint32_t sides)
{
    return (uint32_t)(hash_number(f->seed++) >> 32) % sides;
}

static void take(struct pieces_fixture *f)
{
    uint64_t bytes = pieces_bytes(&f->pieces), growth = pieces_growth(&f->pieces, 1);
    uint32_t number = pieces_take(&f->pieces, f->pool);
    struct item *item = pieces_at(&f->pieces, number);

    assert_true(number < PIECES_NONE);
    assert_int_equal(pieces_bytes(&f->pieces), bytes + growth);
    assert_int_equal(item->number, 0);
    for (size_t i = 0; i < COUNT_OF(item->rest); i++) {
        assert_int_equal(item->rest[i], 0);
        item->rest[i] = UINT32_MAX;
    }
    item->number = number;
    f->numbers[f->count++] = number;
}

static void give(struct pieces_fixture *f, uint32_t which)
{
    const struct item *item = pieces_at(&f->pieces, f->numbers[which]);

    assert_int_equal(item->number, f->numbers[which]);
    pieces_give(&f->pieces, f->pool, f->numbers[which]);
    f->numbers[which] = f->numbers[--f->count];
}

static void assert_sound(const struct pieces_fixture *f)
{
    uint32_t walked = 0;

    for (uint32_t n = pieces_next(&f->pieces, PIECES_NONE); n != PIECES_NONE;
         n = pieces_next(&f->pieces, n)) {
        assert_int_equal(((const struct item *)pieces_at(&f->pieces, n))->number, n);
        walked++;
    }
    assert_int_equal(walked, f->count);
    assert_int_equal(pieces_bytes(&f->pieces),
                     slab_used(f->pool) + f->pieces.slots.capacity * sizeof(void *));
}

static void without_items_it_takes_nothing(void **state)
{
    struct pieces_fixture *f = open_pieces();

    (void)state;
    for (int round = 0; round < 3; round++) {
        assert_int_equal(pieces_bytes(&f->pieces), 0);
        assert_int_equal(pieces_next(&f->pieces, PIECES_NONE), PIECES_NONE);
        take(f);
        assert_in_range(pieces_bytes(&f->pieces), 1, 300);
        assert_sound(f);
        give(f, 0);
    }
    close_pieces(f);
}

static void items_stay_what_they_are_whatever_comes_and_goes(void **state)
{
    struct pieces_fixture *f = open_pieces();

    (void)state;
    for (int phase = 0; phase < 10; phase++) {
        for (uint32_t i = 0; i < COUNT; i++) {
            bool takes = dice(f, 10) < (phase % 2 == 0 ? 7u : 3u);
            if (takes && f->count < COUNT)
                take(f);
            else if (!takes && f->count > 0)
                give(f, dice(f, f->count));
        }
        assert_sound(f);
    }
    while (f->count > 0)
        give(f, dice(f, f->count));
    assert_sound(f);
    assert_int_equal(pieces_bytes(&f->pieces), 0);
    close_pieces(f);
}

static void an_item_costs_little_more_than_its_size(void **state)
{
    struct pieces_fixture *f = open_pieces();

    (void)state;
    while (f->count < COUNT)
        take(f);
    assert_true(pieces_bytes(&f->pieces) < COUNT * ITEM * 102 / 100 + SLAB_CHUNK_MAX);
    close_pieces(f);
}

/* Two need no more than one that has no room, wherever the first one comes to lie. */
static void growth_of_two_is_told_before(void **state)
{
    struct pieces_fixture *f = open_pieces();

    (void)state;
    for (uint32_t i = 0; f->count + 2 <= COUNT; i++) {
        uint64_t bytes = pieces_bytes(&f->pieces), growth = pieces_growth(&f->pieces, 2);
        take(f);
        take(f);
        assert_int_equal(pieces_bytes(&f->pieces), bytes + growth);
        if (i % 3 == 0)
            give(f, dice(f, f->count));
    }
    close_pieces(f);
}

static void places_are_used_again_before_memory_is_taken(void **state)
{
    struct pieces_fixture *f = open_pieces();
    uint64_t bytes;

    (void)state;
    while (f->count < COUNT / 2)
        take(f);
    bytes = pieces_bytes(&f->pieces);
    for (int i = 0; i < 5 * COUNT; i++) {
        give(f, dice(f, f->count));
        take(f);
        assert_true(pieces_bytes(&f->pieces) <= bytes);
    }
    assert_sound(f);
    close_pieces(f);
}

/* While it was walked to them. */
static void the_item_at_hand_may_be_given_back(void **state)
{
    struct pieces_fixture *f = open_pieces();
    uint32_t n, next, left = 0;

    (void)state;
    while (f->count < COUNT)
        take(f);
    for (n = pieces_next(&f->pieces, PIECES_NONE); n != PIECES_NONE; n = next) {
        if (n % 5 != 0)
            pieces_give(&f->pieces, f->pool, n);
        next = pieces_next(&f->pieces, n);
    }
    for (n = pieces_next(&f->pieces, PIECES_NONE); n != PIECES_NONE;
         n = pieces_next(&f->pieces, n), left++)
        assert_int_equal(n % 5, 0);
    assert_in_range(left, COUNT / 6, COUNT / 4);
    close_pieces(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_items_it_takes_nothing),
        cmocka_unit_test(items_stay_what_they_are_whatever_comes_and_goes),
        cmocka_unit_test(an_item_costs_little_more_than_its_size),
        cmocka_unit_test(growth_of_two_is_told_before),
        cmocka_unit_test(places_are_used_again_before_memory_is_taken),
        cmocka_unit_test(the_item_at_hand_may_be_given_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
