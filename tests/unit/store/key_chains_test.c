#include "unit.h"

#include <stdio.h>

#include "base/hash.h"
#include "base/mem.h"
#include "store/key_chains.h"

#define KEYS  50
#define CHAIN 400
#define SEED  77

/* What ought to be there. */
struct chains_fixture {
    struct slab_pool *pool;
    struct key_chains chains;
    uint32_t refs[KEYS][SIDES][CHAIN];
    size_t counts[KEYS][SIDES];
    size_t count;
    uint64_t number;
    uint64_t seed;
};

static struct chains_fixture *open_chains(void)
{
    struct chains_fixture *f = mem_alloc_zeroed(1, sizeof(*f));

    f->pool = slab_pool_new();
    f->seed = 1;
    key_chains_init(&f->chains, SEED);
    return f;
}

static void close_chains(struct chains_fixture *f)
{
    key_chains_done(&f->chains, f->pool);
    assert_int_equal(slab_used(f->pool), 0);
    slab_pool_free(f->pool);
    mem_free(f);
}

static uint32_t dice(struct chains_fixture *f, uint32_t sides)
{
    return (uint32_t)(hash_number(f->seed++) >> 32) % sides;
}

static struct bytes name_of(uint32_t key, char *to)
{
    return (struct bytes){to, (size_t)snprintf(to, 16, "key %u", (unsigned)key)};
}

static void add(struct chains_fixture *f, uint32_t key, enum side side)
{
    char name[16];
    struct record_parts parts = {.body = name_of(key, name)};
    size_t *count = &f->counts[key][side];
    uint32_t ref;

    if (*count == CHAIN)
        return;
    parts.key = parts.body;
    parts.hash = keyed_hash(parts.key, SEED);
    assert_true(arena_add(&f->chains.side[side], f->pool, &parts, f->number++, UINT64_MAX, &ref));
    key_chains_link(&f->chains, f->pool, key_chains_find(&f->chains, parts.hash, parts.key),
                    parts.hash, side, ref);
    f->refs[key][side][(*count)++] = ref;
    f->count++;
}

static void take(struct chains_fixture *f, uint32_t key, enum side side, size_t at)
{
    uint32_t *refs = f->refs[key][side], ref = refs[at];
    size_t *count = &f->counts[key][side];

    key_chains_unlink(&f->chains, f->pool, side, ref);
    key_chains_record(&f->chains, side, ref)->size_flags |= RECORD_DECIDED;
    f->chains.side[side].undecided--;
    arena_free(&f->chains.side[side], f->pool, ref);
    --*count;
    memmove(refs + at, refs + at + 1, (*count - at) * sizeof(*refs));
    f->count--;
}

static void assert_chain(const struct chains_fixture *f, uint32_t key, enum side side)
{
    char name[16];
    struct bytes text = name_of(key, name);
    uint32_t entry = key_chains_find(&f->chains, keyed_hash(text, SEED), text);
    uint32_t ref = key_chains_head(&f->chains, entry, side);

    assert_int_equal(entry == KEYED_NONE, f->counts[key][0] + f->counts[key][1] == 0);
    for (size_t i = 0; i < f->counts[key][side]; i++) {
        assert_int_equal(ref, f->refs[key][side][i]);
        ref = key_chains_next(&f->chains, side, ref);
    }
    assert_int_equal(ref, REFERENCE_NONE);
}

static void assert_sound(const struct chains_fixture *f)
{
    const struct key_chains *c = &f->chains;

    for (uint32_t key = 0; key < KEYS; key++) {
        assert_chain(f, key, SIDE_LEFT);
        assert_chain(f, key, SIDE_RIGHT);
    }
    assert_int_equal(key_chains_bytes(c), slab_used(f->pool) +
                                              slots_bytes(&c->side[SIDE_LEFT].chunks) +
                                              slots_bytes(&c->side[SIDE_RIGHT].chunks) +
                                              slots_bytes(&c->keys.entries.slots) +
                                              c->keys.buckets.capacity * sizeof(void *));
}

static void records_of_a_key_are_chained_in_order_of_arrival(void **state)
{
    struct chains_fixture *f = open_chains();

    (void)state;
    assert_sound(f);
    for (int i = 0; i < 5; i++) {
        add(f, 1, SIDE_LEFT);
        add(f, 1, SIDE_RIGHT);
        add(f, 2, SIDE_RIGHT);
    }
    assert_sound(f);
    close_chains(f);
}

static void any_record_of_a_chain_may_be_taken_out(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 5; n++) {
        for (size_t first = 0; first < n; first++) {
            struct chains_fixture *f = open_chains();
            for (size_t i = 0; i < n; i++)
                add(f, 1, SIDE_LEFT);
            take(f, 1, SIDE_LEFT, first);
            assert_sound(f);
            add(f, 1, SIDE_LEFT);
            assert_sound(f);
            while (f->count > 0) {
                take(f, 1, SIDE_LEFT, f->count - 1);
                assert_sound(f);
            }
            assert_int_equal(key_chains_bytes(&f->chains), 0);
            close_chains(f);
        }
    }
}

static void an_entry_goes_with_its_last_record_of_either_side(void **state)
{
    struct chains_fixture *f = open_chains();

    (void)state;
    add(f, 1, SIDE_LEFT);
    add(f, 1, SIDE_RIGHT);
    add(f, 2, SIDE_RIGHT);
    take(f, 1, SIDE_LEFT, 0);
    assert_int_equal(f->chains.keys.count, 2);
    assert_sound(f);
    take(f, 1, SIDE_RIGHT, 0);
    assert_int_equal(f->chains.keys.count, 1);
    assert_sound(f);
    close_chains(f);
}

static void anything_may_happen_in_any_order(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        struct chains_fixture *f = open_chains();
        f->seed = seed << 32;
        for (int phase = 0; phase < 20; phase++) {
            uint32_t adds = dice(f, 100), keys = 1 + dice(f, KEYS);
            for (int i = 0; i < 600; i++) {
                uint32_t key = dice(f, keys);
                enum side side = dice(f, 2);
                size_t n = f->counts[key][side];
                if (dice(f, 100) < adds)
                    add(f, key, side);
                else if (n > 0)
                    take(f, key, side, dice(f, 3) == 0 ? dice(f, (uint32_t)n) : 0);
            }
            assert_sound(f);
        }
        close_chains(f);
    }
}

/* Some are expected to go, as they came; others go between them. */
static void what_is_expected_goes_like_any_other(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct chains_fixture *f = open_chains();
        enum side side = seed % 2;
        uint32_t refs[CHAINS_EXPECTED], keys[CHAINS_EXPECTED];
        f->seed = seed << 32;
        for (int i = 0; i < 600; i++)
            add(f, dice(f, KEYS), (enum side)dice(f, 2));
        for (uint32_t i = 0; i < CHAINS_EXPECTED; i++) { /* the first two of eight keys */
            keys[i] = i % (CHAINS_EXPECTED / 2);
            if (f->counts[keys[i]][side] < 3)
                add(f, keys[i], side);
        }
        for (uint32_t i = 0; i < CHAINS_EXPECTED; i++)
            refs[i] = f->refs[keys[i]][side][i / (CHAINS_EXPECTED / 2)];
        key_chains_expect(&f->chains, side, refs, CHAINS_EXPECTED);
        for (uint32_t i = 0; i < CHAINS_EXPECTED; i++) {
            uint32_t other = CHAINS_EXPECTED / 2 + dice(f, KEYS - CHAINS_EXPECTED / 2);
            if (f->counts[other][side] > 0 && dice(f, 2) == 0)
                take(f, other, side, 0);
            assert_true(key_chains_expects(&f->chains, side, refs[i]));
            take(f, keys[i], side, 0);
            assert_sound(f);
        }
        assert_false(key_chains_expects(&f->chains, side, refs[0]));
        close_chains(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_of_a_key_are_chained_in_order_of_arrival),
        cmocka_unit_test(any_record_of_a_chain_may_be_taken_out),
        cmocka_unit_test(an_entry_goes_with_its_last_record_of_either_side),
        cmocka_unit_test(what_is_expected_goes_like_any_other),
        cmocka_unit_test(anything_may_happen_in_any_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
