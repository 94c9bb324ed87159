#include "unit.h"

#include "base/mem.h"
#include "codec/scan.h"
#include "transcript.h"

static const char interesting[] = {'\n',   '\r',   '"',    ',',  ';', '\0', '\xFF', '\x01',
                                   '\xFE', '\x0B', '\x0C', '\t', '!', '#',  '+',    'a'};

static bool has(uint64_t mark, unsigned i)
{
    return (mark >> i & 1) != 0;
}

static void marks_each_byte_as_what_it_is(void **state)
{
    (void)state;
    for (unsigned c = 0; c < 256; c++) {
        for (unsigned at = 0; at < SCAN_BLOCK; at++) {
            char block[SCAN_BLOCK + 1];
            struct scan_marks m;

            memset(block, 'x', sizeof(block));
            block[at] = (char)c;
            m = scan_block(block, ';');
            assert_int_equal(m.line_end, (uint64_t)(c == '\n') << at);
            assert_int_equal(m.delimiter, (uint64_t)(c == ';') << at);
            assert_int_equal(m.odd, (uint64_t)(c == '"' || c == 0 || c == 0xff || c == '\r') << at);
        }
    }
}

static void a_cr_is_odd_unless_a_lf_follows(void **state)
{
    char block[SCAN_BLOCK + 1];

    (void)state;
    for (unsigned at = 0; at < SCAN_BLOCK; at++) {
        memset(block, 'x', sizeof(block));
        block[at] = '\r';
        assert_true(has(scan(block, sizeof(block), ',').odd, at));
        block[at + 1] = '\n';
        assert_false(has(scan(block, sizeof(block), ',').odd, at));
        block[at + 1] = '\r';
        assert_true(has(scan(block, sizeof(block), ',').odd, at));
    }
}

static void any_byte_can_be_the_delimiter(void **state)
{
    char block[SCAN_BLOCK + 1];

    (void)state;
    for (unsigned i = 0; i <= SCAN_BLOCK; i++)
        block[i] = (char)(i * 4);
    for (unsigned i = 0; i < SCAN_BLOCK; i++)
        assert_int_equal(scan_block(block, (char)(i * 4)).delimiter, (uint64_t)1 << i);
}

static void marks_the_bytes_that_are_there_and_touches_no_others(void **state)
{
    (void)state;
    for (size_t n = 1; n <= SCAN_BLOCK; n++) {
        char *p = mem_alloc(n);
        uint64_t all = UINT64_MAX >> (SCAN_BLOCK - n);
        struct scan_marks m;

        memset(p, '\0', n);
        m = scan(p, n, ',');
        assert_int_equal(m.odd, all);
        assert_int_equal(m.delimiter | m.line_end, 0);
        memset(p, '\n', n);
        assert_int_equal(scan(p, n, ',').line_end, all);
        memset(p, '\xFF', n);
        assert_int_equal(scan(p, n, '\0').odd, all);
        assert_int_equal(scan(p, n, '\0').delimiter, 0);
        mem_free(p);
    }
}

static void both_ways_mark_the_same(void **state)
{
    uint64_t random = 1;
    char bytes[SCAN_BLOCK * 2 + 1];

    (void)state;
    for (int round = 0; round < 20000; round++) {
        const char *p = bytes + round % SCAN_BLOCK;
        char delimiter = interesting[round % sizeof(interesting)];
        struct scan_marks a, b;

        for (size_t i = 0; i < sizeof(bytes); i++) {
            uint64_t x = transcript_random(&random);
            bytes[i] = round % 2 == 0 ? interesting[x % sizeof(interesting)] : (char)x;
        }
        a = scan_block(p, delimiter);
        b = scan_block_plain(p, delimiter);
        assert_int_equal(a.line_end, b.line_end);
        assert_int_equal(a.delimiter, b.delimiter);
        assert_int_equal(a.odd, b.odd);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marks_each_byte_as_what_it_is),
        cmocka_unit_test(a_cr_is_odd_unless_a_lf_follows),
        cmocka_unit_test(any_byte_can_be_the_delimiter),
        cmocka_unit_test(marks_the_bytes_that_are_there_and_touches_no_others),
        cmocka_unit_test(both_ways_mark_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
