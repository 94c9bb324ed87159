#include "unit.h"

#include "base/hash.h"

/* Every length up to the ones where the hash changes its method (16, 128, 240 bytes). */
#define LENGTH_MAX 600

static void fill(unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        p[i] = (unsigned char)(i * 31 + 7);
}

static void is_repeatable_and_the_published_one(void **state)
{
    (void)state;
    /* From the tables of XXH3's own authors: the empty string, seed 0. A change
     * of it would change the order of results from one version to the next. */
    assert_true(hash_bytes("", 0, 0) == 0x2d06800538d394c2);
    assert_true(hash_bytes(NULL, 0, 0) == hash_bytes("", 0, 0));
    assert_true(hash_bytes("key", 3, 42) == hash_bytes("key", 3, 42));
}

static void depends_on_the_seed_at_every_length(void **state)
{
    unsigned char text[LENGTH_MAX];

    (void)state;
    fill(text, sizeof(text));
    for (size_t n = 0; n <= LENGTH_MAX; n++) {
        assert_true(hash_bytes(text, n, 1) != hash_bytes(text, n, 2));
        assert_true(hash_bytes(text, n, 0) != hash_bytes(text, n, UINT64_C(1) << 63));
    }
}

static void depends_on_the_length(void **state)
{
    static const unsigned char zeros[LENGTH_MAX];

    (void)state;
    for (size_t n = 1; n <= LENGTH_MAX; n++)
        assert_true(hash_bytes(zeros, n, 5) != hash_bytes(zeros, n - 1, 5));
}

static void depends_on_every_byte(void **state)
{
    static const size_t lengths[] = {1, 2, 3, 4, 8, 9, 16, 17, 128, 129, 240, 241, 600};
    unsigned char text[LENGTH_MAX];

    (void)state;
    fill(text, sizeof(text));
    for (size_t i = 0; i < COUNT_OF(lengths); i++) {
        uint64_t whole = hash_bytes(text, lengths[i], 9);

        for (size_t j = 0; j < lengths[i]; j++) {
            text[j] ^= 1;
            assert_true(hash_bytes(text, lengths[i], 9) != whole);
            text[j] ^= 1;
        }
    }
}

static void does_not_depend_on_the_address(void **state)
{
    unsigned char text[LENGTH_MAX], moved[LENGTH_MAX + 8];

    (void)state;
    fill(text, sizeof(text));
    for (size_t shift = 1; shift < 8; shift++) {
        memcpy(moved + shift, text, sizeof(text));
        for (size_t n = 0; n <= LENGTH_MAX; n += 13)
            assert_true(hash_bytes(moved + shift, n, 3) == hash_bytes(text, n, 3));
    }
}

/* Partitions take some bits of a number's hash: the upper or the lower ones. */
static void numbers_in_a_row_spread_over_all_places(void **state)
{
    enum { PLACES = 64, EACH = 256 };
    int lower[PLACES] = {0}, upper[PLACES] = {0};

    (void)state;
    for (uint64_t x = 0; x < PLACES * EACH; x++) {
        lower[hash_number(x) % PLACES]++;
        upper[hash_number(x) >> 58]++;
    }
    for (size_t i = 0; i < PLACES; i++) {
        assert_in_range(lower[i], EACH / 2, EACH * 3 / 2);
        assert_in_range(upper[i], EACH / 2, EACH * 3 / 2);
    }
}

static void one_bit_of_a_number_changes_about_half_of_the_hash(void **state)
{
    (void)state;
    for (unsigned bit = 0; bit < 64; bit++) {
        int changed = 0;

        for (uint64_t x = 0; x < 64; x++)
            changed += __builtin_popcountll(hash_number(x) ^ hash_number(x ^ UINT64_C(1) << bit));
        assert_in_range(changed / 64, 26, 38);
    }
    assert_true(hash_number(0) != 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_repeatable_and_the_published_one),
        cmocka_unit_test(depends_on_the_seed_at_every_length),
        cmocka_unit_test(depends_on_the_length),
        cmocka_unit_test(depends_on_every_byte),
        cmocka_unit_test(does_not_depend_on_the_address),
        cmocka_unit_test(numbers_in_a_row_spread_over_all_places),
        cmocka_unit_test(one_bit_of_a_number_changes_about_half_of_the_hash),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
