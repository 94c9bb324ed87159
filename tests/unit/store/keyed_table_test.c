#include "unit.h"

#include <stdio.h>

#include "base/hash.h"
#include "base/mem.h"
#include "store/keyed_table.h"

#define KEYS 60000

/* An entry that says itself which key it is of. */
struct counted {
    struct keyed_entry entry;
    uint64_t key;
    uint32_t payload;
    uint32_t zero; /* never written */
};

/* What ought to be there: numbers by key, KEYED_NONE where there is none. */
struct table_fixture {
    struct slab_pool *pool;
    struct keyed_table table;
    uint32_t numbers[KEYS];
    uint32_t payloads[KEYS];
    uint32_t count;
    unsigned hash_bits; /* how many differ */
    uint64_t seed;
};

static const char names[] = "key";

static struct bytes key_of(const void *self, const void *entry)
{
    const struct counted *c = entry;

    assert_ptr_equal(self, names);
    return (struct bytes){(const char *)&c->key, sizeof(c->key)};
}

static struct table_fixture *open_table(void)
{
    struct table_fixture *f = mem_alloc_zeroed(1, sizeof(*f));

    f->pool = slab_pool_new();
    f->hash_bits = 32;
    f->seed = 1;
    for (size_t i = 0; i < KEYS; i++)
        f->numbers[i] = KEYED_NONE;
    keyed_table_init(&f->table, sizeof(struct counted), key_of, names);
    return f;
}

static void close_table(struct table_fixture *f)
{
    keyed_table_done(&f->table, f->pool);
    assert_int_equal(slab_used(f->pool), 0);
    slab_pool_free(f->pool);
    mem_free(f);
}

static uint32_t dice(struct table_fixture *f, uint32_t sides)
{
    return (uint32_t)(hash_number(f->seed++) >> 32) % sides;
}

static uint32_t hash_of(const struct table_fixture *f, uint64_t key)
{
    return (uint32_t)(hash_number(key) >> 32) & (uint32_t)((UINT64_C(1) << f->hash_bits) - 1);
}

static uint32_t find(const struct table_fixture *f, uint64_t key)
{
    return keyed_table_find(&f->table, hash_of(f, key),
                            (struct bytes){(const char *)&key, sizeof(key)});
}

static void add(struct table_fixture *f, uint64_t key)
{
    uint64_t bytes = keyed_table_bytes(&f->table), growth = keyed_table_growth(&f->table);
    uint32_t number = keyed_table_add(&f->table, f->pool, hash_of(f, key));
    struct counted *c = keyed_table_entry(&f->table, number);

    assert_int_equal(keyed_table_bytes(&f->table), bytes + growth);
    assert_int_equal(c->entry.hash, hash_of(f, key));
    assert_int_equal(c->key | c->payload | c->zero, 0);
    c->key = key;
    c->payload = f->payloads[key] = dice(f, UINT32_MAX);
    f->numbers[key] = number;
    f->count++;
}

static void take(struct table_fixture *f, uint64_t key)
{
    keyed_table_remove(&f->table, f->pool, f->numbers[key]);
    f->numbers[key] = KEYED_NONE;
    f->count--;
}

static void toggle(struct table_fixture *f, uint64_t key)
{
    if (f->numbers[key] == KEYED_NONE)
        add(f, key);
    else
        take(f, key);
}

static void assert_key(const struct table_fixture *f, uint64_t key)
{
    const struct counted *c;

    assert_int_equal(find(f, key), f->numbers[key]);
    if (f->numbers[key] == KEYED_NONE)
        return;
    c = keyed_table_entry(&f->table, f->numbers[key]);
    assert_int_equal(c->key, key);
    assert_int_equal(c->payload, f->payloads[key]);
    assert_int_equal(c->zero, 0);
}

static void assert_sound(const struct table_fixture *f)
{
    const struct keyed_table *t = &f->table;
    uint32_t walked = 0;
    uint64_t last = 0;

    for (uint64_t key = 0; key < KEYS; key++)
        assert_key(f, key);
    for (uint32_t n = keyed_table_next(t, KEYED_NONE); n != KEYED_NONE;
         n = keyed_table_next(t, n)) {
        const struct counted *c = keyed_table_entry(t, n);
        assert_int_equal(f->numbers[c->key], n);
        assert_true(walked == 0 || n > last);
        last = n;
        walked++;
    }
    assert_int_equal(walked, f->count);
    assert_int_equal(t->count, f->count);
    assert_int_equal(keyed_table_bytes(t), slab_used(f->pool) +
                                               t->entries.slots.capacity * sizeof(void *) +
                                               t->buckets.capacity * sizeof(void *));
}

/* --- */

static void an_empty_table_takes_nothing(void **state)
{
    struct table_fixture *f = open_table();

    (void)state;
    assert_int_equal(keyed_table_bytes(&f->table), 0);
    assert_sound(f);
    add(f, 7);
    assert_in_range(keyed_table_bytes(&f->table), 1, 600);
    assert_sound(f);
    take(f, 7);
    assert_int_equal(keyed_table_bytes(&f->table), 0);
    assert_sound(f);
    close_table(f);
}

static void keys_are_found_while_it_grows_and_shrinks(void **state)
{
    struct table_fixture *f = open_table();

    (void)state;
    for (uint64_t key = 0; key < KEYS; key++) {
        add(f, key);
        assert_key(f, hash_number(key) % KEYS);
        if (key % 20000 == 0)
            assert_sound(f);
    }
    assert_sound(f);
    for (uint64_t key = 0; key < KEYS; key++) {
        take(f, key);
        assert_key(f, hash_number(key) % KEYS);
        if (key % 20000 == 0)
            assert_sound(f);
    }
    assert_int_equal(keyed_table_bytes(&f->table), 0);
    close_table(f);
}

/* About a bucket and an entry a key, and little more. */
static void a_key_costs_its_entry_and_4_bytes(void **state)
{
    struct table_fixture *f = open_table();

    (void)state;
    for (uint64_t key = 0; key < KEYS; key++) {
        add(f, key);
        if (key > 1000)
            assert_true(keyed_table_bytes(&f->table) <
                        (key + 1) * (sizeof(struct counted) + 4) * 5 / 4 + SLAB_CHUNK_MAX);
    }
    close_table(f);
}

static void no_bucket_is_long(void **state)
{
    struct table_fixture *f = open_table();
    uint32_t longest = 0;

    (void)state;
    for (uint64_t key = 0; key < KEYS; key++)
        add(f, key);
    for (uint32_t i = 0; i < f->table.bucket_count; i++) {
        uint32_t n = 0, number = *(uint32_t *)pages_at(&f->table.buckets, 4, i);
        for (; number != KEYED_NONE; n++)
            number = ((struct keyed_entry *)keyed_table_entry(&f->table, number))->next;
        longest = n > longest ? n : longest;
    }
    assert_in_range(longest, 2, 12);
    assert_in_range(f->table.bucket_count, KEYS - 1, KEYS + 64);
    close_table(f);
}

static void equal_hashes_do_not_mix_keys_up(void **state)
{
    struct table_fixture *f = open_table();

    (void)state;
    f->hash_bits = 3;
    for (uint64_t key = 0; key < 400; key++)
        add(f, key);
    assert_sound(f);
    for (uint64_t key = 0; key < 400; key += 3)
        take(f, key);
    assert_sound(f);
    close_table(f);
}

/* Keys that move on for ever: places of old ones are used again, and memory stays flat. */
static void memory_stays_flat_over_moving_keys(void **state)
{
    struct table_fixture *f = open_table();
    uint64_t most = 0;

    (void)state;
    for (uint64_t i = 0; i < 6 * KEYS; i++) {
        add(f, i % KEYS);
        if (i >= 5000)
            take(f, (i - 5000) % KEYS);
        if (i == 20000)
            most = keyed_table_bytes(&f->table);
        if (i > 20000)
            assert_true(keyed_table_bytes(&f->table) <= most + 3 * SLAB_CHUNK_MAX);
    }
    assert_sound(f);
    close_table(f);
}

static void places_of_keys_that_go_at_random_are_used_again(void **state)
{
    struct table_fixture *f = open_table();
    uint64_t bytes;

    (void)state;
    for (uint64_t key = 0; key < 5000; key++)
        add(f, key);
    bytes = keyed_table_bytes(&f->table);
    for (int i = 0; i < 100000;) {
        uint32_t old = dice(f, 20000), new = dice(f, 20000);
        if (f->numbers[old] == KEYED_NONE || f->numbers[new] != KEYED_NONE)
            continue;
        take(f, old);
        add(f, new);
        assert_true(keyed_table_bytes(&f->table) <= bytes + 2 * SLAB_CHUNK_MAX);
        i++;
    }
    assert_sound(f);
    close_table(f);
}

static void memory_is_given_back_after_a_peak(void **state)
{
    struct table_fixture *f = open_table();
    uint64_t peak;

    (void)state;
    for (uint64_t key = 0; key < KEYS; key++)
        add(f, key);
    peak = keyed_table_bytes(&f->table);
    for (uint64_t key = 0; key < KEYS - 100; key++)
        take(f, key);
    assert_true(keyed_table_bytes(&f->table) < peak / 20);
    assert_sound(f);
    close_table(f);
}

static void the_entry_at_hand_may_be_removed(void **state)
{
    struct table_fixture *f = open_table();
    uint32_t n, next;

    (void)state;
    for (uint64_t key = 0; key < 3000; key++)
        add(f, key);
    for (n = keyed_table_next(&f->table, KEYED_NONE); n != KEYED_NONE; n = next) {
        const struct counted *c = keyed_table_entry(&f->table, n);
        if (c->key % 5 != 0)
            take(f, c->key);
        next = keyed_table_next(&f->table, n);
    }
    assert_int_equal(f->count, 600);
    assert_sound(f);
    close_table(f);
}

static void anything_may_happen_in_any_order(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct table_fixture *f = open_table();
        f->seed = seed << 32;
        f->hash_bits = seed % 2 == 0 ? 32 : 8;
        for (int phase = 0; phase < 12; phase++) {
            uint32_t keys = 1 + dice(f, seed % 2 == 0 ? KEYS : 2000);
            for (int i = 0; i < 10000; i++)
                toggle(f, dice(f, keys));
            assert_sound(f);
        }
        close_table(f);
    }
}

/* The same steps, elsewhere in memory: the same order. */
static void order_does_not_depend_on_addresses(void **state)
{
    struct table_fixture *a = open_table(), *b;
    uint32_t n = KEYED_NONE;

    (void)state;
    for (int i = 0; i < 5000; i++)
        toggle(a, dice(a, 3000));
    b = open_table(); /* other addresses: a is still there */
    for (int i = 0; i < 5000; i++)
        toggle(b, dice(b, 3000));
    do {
        assert_int_equal(keyed_table_next(&a->table, n), keyed_table_next(&b->table, n));
        n = keyed_table_next(&a->table, n);
    } while (n != KEYED_NONE);
    assert_memory_equal(a->numbers, b->numbers, sizeof(a->numbers));
    close_table(a);
    close_table(b);
}

static void hashes_are_the_upper_half_of_the_seeded_hash(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 5; seed++)
        assert_int_equal(keyed_hash(BYTES_LIT("k1"), seed), hash_bytes("k1", 2, seed) >> 32);
}

/* A hint sets what a look-up finds, or nothing; never another key's entry by its hash. */
static void assert_fetched(const struct table_fixture *f, uint64_t from)
{
    uint32_t hashes[64], numbers[64], unset = 0;

    for (uint32_t i = 0; i < 64; i++)
        hashes[i] = hash_of(f, from + i);
    assert_true(keyed_table_fetch(&f->table, hashes, 64, numbers));
    for (uint32_t i = 0; i < 64; i++) {
        if (numbers[i] == KEYED_NONE)
            unset += f->numbers[from + i] != KEYED_NONE;
        else
            assert_int_equal(numbers[i], keyed_table_first(&f->table, hashes[i]));
    }
    assert_true(unset < 16); /* the fourth entry of a bucket, or one behind it */
}

static void what_is_fetched_is_what_is_found(void **state)
{
    struct table_fixture *f = open_table();
    uint32_t hash = 0, number;

    (void)state;
    add(f, 0);
    assert_false(keyed_table_fetch(&f->table, &hash, 1, &number)); /* it is small */
    for (uint64_t key = 1; key < KEYS; key += 1 + (key < KEYS / 2))
        add(f, key);
    for (uint64_t from = 0; from + 64 <= KEYS; from += 64)
        assert_fetched(f, from);
    assert_true(keyed_table_fetch(&f->table, &hash, 0, &number));
    for (uint64_t key = KEYS / 2 + 1; key < KEYS; key++)
        if (f->numbers[key] != KEYED_NONE)
            take(f, key);
    assert_sound(f);
    close_table(f);
}

static void entries_of_one_hash_come_one_after_the_other(void **state)
{
    struct table_fixture *f = open_table();

    (void)state;
    f->hash_bits = 5;
    assert_int_equal(keyed_table_first(&f->table, 0), KEYED_NONE);
    for (uint64_t key = 0; key < 2000; key++)
        add(f, key);
    for (uint32_t hash = 0; hash < 32; hash++) {
        uint32_t found = 0, there = 0;
        for (uint64_t key = 0; key < 2000; key++)
            there += hash_of(f, key) == hash;
        for (uint32_t n = keyed_table_first(&f->table, hash); n != KEYED_NONE;
             n = keyed_table_again(&f->table, n), found++)
            assert_int_equal(
                hash_of(f, ((const struct counted *)keyed_table_entry(&f->table, n))->key), hash);
        assert_int_equal(found, there);
    }
    close_table(f);
}

/* Who has left is there, but not found; another one of its key may be. */
static void an_entry_may_be_there_for_longer_than_it_is_found(void **state)
{
    struct table_fixture *f = open_table();
    uint32_t first, second;

    (void)state;
    for (uint64_t key = 0; key < 100; key++)
        add(f, key);
    first = f->numbers[7];
    assert_int_equal(keyed_table_take_growth(&f->table), 0);
    second = keyed_table_take(&f->table, f->pool, hash_of(f, 7));
    ((struct counted *)keyed_table_entry(&f->table, second))->key = 7;
    assert_int_equal(find(f, 7), first);
    keyed_table_replace(&f->table, first, second);
    assert_int_equal(find(f, 7), second);
    keyed_table_leave(&f->table, f->pool, second);
    assert_int_equal(find(f, 7), KEYED_NONE);
    assert_int_equal(f->table.count, 99);
    keyed_table_enter(&f->table, f->pool, first);
    assert_int_equal(find(f, 7), first);
    assert_int_equal(((const struct counted *)keyed_table_entry(&f->table, second))->key, 7);
    keyed_table_give(&f->table, f->pool, second);
    for (uint64_t key = 0; key < 100; key++)
        take(f, key);
    assert_int_equal(keyed_table_bytes(&f->table), 0);
    close_table(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_table_takes_nothing),
        cmocka_unit_test(keys_are_found_while_it_grows_and_shrinks),
        cmocka_unit_test(a_key_costs_its_entry_and_4_bytes),
        cmocka_unit_test(no_bucket_is_long),
        cmocka_unit_test(equal_hashes_do_not_mix_keys_up),
        cmocka_unit_test(memory_stays_flat_over_moving_keys),
        cmocka_unit_test(places_of_keys_that_go_at_random_are_used_again),
        cmocka_unit_test(memory_is_given_back_after_a_peak),
        cmocka_unit_test(the_entry_at_hand_may_be_removed),
        cmocka_unit_test(anything_may_happen_in_any_order),
        cmocka_unit_test(order_does_not_depend_on_addresses),
        cmocka_unit_test(what_is_fetched_is_what_is_found),
        cmocka_unit_test(entries_of_one_hash_come_one_after_the_other),
        cmocka_unit_test(an_entry_may_be_there_for_longer_than_it_is_found),
        cmocka_unit_test(hashes_are_the_upper_half_of_the_seeded_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
