#include "unit.h"

#include <stdbool.h>
#include <sys/mman.h>

#include "base/asan.h"
#include "base/mem.h"

static void nothing_is_a_piece_of_its_own(void **state)
{
    char *a = mem_alloc(0);
    char *b = mem_alloc_zeroed(0, 8);
    char *c = mem_realloc(NULL, 0);

    (void)state;
    assert_non_null(a);
    assert_non_null(b);
    assert_non_null(c);
    assert_ptr_not_equal(a, b);
    mem_free(a);
    mem_free(b);
    mem_free(c);
    mem_free(NULL);
}

static void zeroed_memory_is_zero(void **state)
{
    unsigned char *p = mem_alloc_zeroed(100, 3);

    (void)state;
    for (size_t i = 0; i < 300; i++)
        assert_int_equal(p[i], 0);
    mem_free(p);
}

static void realloc_keeps_what_was_there(void **state)
{
    char *p = mem_alloc(4);

    (void)state;
    memcpy(p, "abc", 4);
    p = mem_realloc(p, 100000);
    assert_string_equal(p, "abc");
    mem_free(p);
}

static void strndup_stops_at_the_length_or_a_nul(void **state)
{
    static const struct {
        const char *text;
        size_t length;
        const char *expected;
    } rows[] = {
        {"abc", 3, "abc"}, {"abc", 2, "ab"}, {"abc", 0, ""}, {"abc", 99, "abc"}, {"", 5, ""},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char *copy = mem_strndup(rows[i].text, rows[i].length);

        assert_string_equal(copy, rows[i].expected);
        mem_free(copy);
    }
}

static void strndup_needs_no_nul(void **state)
{
    char *three = mem_alloc(3); /* the sanitizer sees a read of a fourth byte */
    char *copy;

    (void)state;
    memcpy(three, "abc", 3);
    copy = mem_strndup(three, 3);
    assert_string_equal(copy, "abc");
    mem_free(copy);
    mem_free(three);
}

static void strdup_copies(void **state)
{
    const char *text = "left";
    char *copy = mem_strdup(text);

    (void)state;
    assert_string_equal(copy, text);
    assert_ptr_not_equal(copy, text);
    mem_free(copy);
}

static void a_map_is_aligned_to_its_size_and_writable(void **state)
{
    static const size_t sizes[] = {4096, 65536, 4 << 20};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        char *maps[5];

        for (size_t j = 0; j < COUNT_OF(maps); j++) {
            maps[j] = mem_map(sizes[i]);
            assert_int_equal((uintptr_t)maps[j] % sizes[i], 0);
            maps[j][0] = 'a';
            maps[j][sizes[i] - 1] = 'z';
        }
        for (size_t j = 0; j < COUNT_OF(maps); j++)
            mem_unmap(maps[j], sizes[i]);
    }
}

/* So much of it is there, no more, and what was there is as it was. */
static void memory_can_be_asked_for_before_it_is_touched(void **state)
{
    enum { SIZE = 1 << 20, PAGE = 4096, ASKED = 4 };
    char *map = mem_map(SIZE);
    unsigned char resident[SIZE / PAGE];
    size_t count = 0;
    bool can = false;

    (void)state;
    map[PAGE] = 'x';
    mem_touch(map, ASKED * PAGE);
    assert_int_equal(map[PAGE], 'x');
    assert_int_equal(mincore(map, SIZE, resident), 0);
    for (size_t i = 0; i < COUNT_OF(resident); i++)
        count += resident[i] & 1;
#if !defined(ASAN) && defined(MADV_POPULATE_WRITE)
    can = madvise(map, PAGE, MADV_POPULATE_WRITE) == 0;
#endif
    mem_unmap(map, SIZE);
    if (!can)
        skip(); /* the system, or its allocator with sanitizers, does as it pleases */
    assert_int_equal(count, ASKED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_a_piece_of_its_own),
        cmocka_unit_test(zeroed_memory_is_zero),
        cmocka_unit_test(realloc_keeps_what_was_there),
        cmocka_unit_test(strndup_stops_at_the_length_or_a_nul),
        cmocka_unit_test(strndup_needs_no_nul),
        cmocka_unit_test(strdup_copies),
        cmocka_unit_test(a_map_is_aligned_to_its_size_and_writable),
        cmocka_unit_test(memory_can_be_asked_for_before_it_is_touched),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
