#include "unit.h"

#include "base/mem.h"
#include "codec/scan.h"
#include "transcript.h"

static const char interesting[] = {'\n',   '\r',   '"',    ',',  ';', '\0', '\xFF', '\x01',
                                   '\xFE', '\x0B', '\x0C', '\t', '!', '#',  '+',    'a'};

static struct scan_marks block_plain(const char *p, char delimiter)
{
    return scan_block_plain(p, delimiter);
}

#ifdef __x86_64__
static struct scan_marks block_sse2(const char *p, char delimiter)
{
    return scan_block_sse2(p, delimiter);
}

static SCAN_TARGET_AVX2 struct scan_marks block_avx2(const char *p, char delimiter)
{
    return scan_block_avx2(p, delimiter);
}
#endif

static scan_block_fn *const blocks[SCAN_WAYS] = {
    [SCAN_PLAIN] = block_plain,
#ifdef __x86_64__
    [SCAN_SSE2] = block_sse2,
    [SCAN_AVX2] = block_avx2,
#endif
};

/* Each test is run once for every way that this machine has. */
static int for_each_way(void (*check)(scan_block_fn *block))
{
    int ways = 0;

    for (enum scan_way way = SCAN_PLAIN; way < SCAN_WAYS; way++) {
        if (!scan_has(way))
            continue;
        check(blocks[way]);
        ways++;
    }
    return ways;
}

static bool has(uint64_t mark, unsigned i)
{
    return (mark >> i & 1) != 0;
}

static void check_each_byte(scan_block_fn *block_of)
{
    for (unsigned c = 0; c < 256; c++) {
        for (unsigned at = 0; at < SCAN_BLOCK; at++) {
            char block[SCAN_BLOCK + 1];
            struct scan_marks m;

            memset(block, 'x', sizeof(block));
            block[at] = (char)c;
            m = block_of(block, ';');
            assert_int_equal(m.line_end, (uint64_t)(c == '\n') << at);
            assert_int_equal(m.delimiter, (uint64_t)(c == ';') << at);
            assert_int_equal(m.odd, (uint64_t)(c == '"' || c == 0 || c == 0xff || c == '\r') << at);
        }
    }
}

static void marks_each_byte_as_what_it_is(void **state)
{
    (void)state;
    assert_true(for_each_way(check_each_byte) > 0);
}

static void check_cr(scan_block_fn *block_of)
{
    char block[SCAN_BLOCK + 1];

    for (unsigned at = 0; at < SCAN_BLOCK; at++) {
        memset(block, 'x', sizeof(block));
        block[at] = '\r';
        assert_true(has(scan(block, sizeof(block), ',', block_of).odd, at));
        block[at + 1] = '\n';
        assert_false(has(scan(block, sizeof(block), ',', block_of).odd, at));
        block[at + 1] = '\r';
        assert_true(has(scan(block, sizeof(block), ',', block_of).odd, at));
    }
}

static void a_cr_is_odd_unless_a_lf_follows(void **state)
{
    (void)state;
    assert_true(for_each_way(check_cr) > 0);
}

static void check_delimiters(scan_block_fn *block_of)
{
    char block[SCAN_BLOCK + 1];

    for (unsigned i = 0; i <= SCAN_BLOCK; i++)
        block[i] = (char)(i * 4);
    for (unsigned i = 0; i < SCAN_BLOCK; i++)
        assert_int_equal(block_of(block, (char)(i * 4)).delimiter, (uint64_t)1 << i);
}

static void any_byte_can_be_the_delimiter(void **state)
{
    (void)state;
    assert_true(for_each_way(check_delimiters) > 0);
}

static void check_bounds(scan_block_fn *block_of)
{
    for (size_t n = 1; n <= SCAN_BLOCK; n++) {
        char *p = mem_alloc(n);
        uint64_t all = UINT64_MAX >> (SCAN_BLOCK - n);
        struct scan_marks m;

        memset(p, '\0', n);
        m = scan(p, n, ',', block_of);
        assert_int_equal(m.odd, all);
        assert_int_equal(m.delimiter | m.line_end, 0);
        memset(p, '\n', n);
        assert_int_equal(scan(p, n, ',', block_of).line_end, all);
        memset(p, '\xFF', n);
        assert_int_equal(scan(p, n, '\0', block_of).odd, all);
        assert_int_equal(scan(p, n, '\0', block_of).delimiter, 0);
        mem_free(p);
    }
}

static void marks_the_bytes_that_are_there_and_touches_no_others(void **state)
{
    (void)state;
    assert_true(for_each_way(check_bounds) > 0);
}

static void check_random_blocks(scan_block_fn *block_of)
{
    uint64_t random = 1;
    char bytes[SCAN_BLOCK * 2 + 1];

    for (int round = 0; round < 20000; round++) {
        const char *p = bytes + round % SCAN_BLOCK;
        char delimiter = interesting[round % sizeof(interesting)];
        struct scan_marks a, b;

        for (size_t i = 0; i < sizeof(bytes); i++) {
            uint64_t x = transcript_random(&random);
            bytes[i] = round % 2 == 0 ? interesting[x % sizeof(interesting)] : (char)x;
        }
        a = block_of(p, delimiter);
        b = scan_block_plain(p, delimiter);
        assert_int_equal(a.line_end, b.line_end);
        assert_int_equal(a.delimiter, b.delimiter);
        assert_int_equal(a.odd, b.odd);
    }
}

static void all_ways_mark_the_same(void **state)
{
    (void)state;
#ifdef __x86_64__
    assert_true(for_each_way(check_random_blocks) >= 2);
#else
    assert_int_equal(for_each_way(check_random_blocks), 1);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marks_each_byte_as_what_it_is),
        cmocka_unit_test(a_cr_is_odd_unless_a_lf_follows),
        cmocka_unit_test(any_byte_can_be_the_delimiter),
        cmocka_unit_test(marks_the_bytes_that_are_there_and_touches_no_others),
        cmocka_unit_test(all_ways_mark_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
