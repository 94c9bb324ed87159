#include "unit.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/asan.h"
#include "base/mem.h"
#include "base/slab.h"

#define SLAB_SIZE ((size_t)4 << 20)
#define PAGES     255 /* of a slab, beside the one for its head */

static void sizes_are_rounded_up(void **state)
{
    static const struct {
        size_t size, rounded;
    } rows[] = {
        {0, 256},       {1, 256},       {255, 256},     {256, 256},         {257, 512},
        {512, 512},     {513, 1024},    {1024, 1024},   {1025, 2048},       {2049, 4096},
        {4097, 8192},   {8192, 8192},   {8193, 16384},  {16383, 16384},     {16384, 16384},
        {16385, 20480}, {20480, 20480}, {20481, 24576}, {1000000, 1003520},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_int_equal(slab_round(rows[i].size), rows[i].rounded);
}

static void nothing_is_mapped_before_the_first_piece(void **state)
{
    struct slab_pool *p = slab_pool_new();

    (void)state;
    assert_int_equal(slab_mapped(p), 0);
    assert_int_equal(slab_used(p), 0);
    assert_int_equal(slab_trim(p, 0), 0);
    slab_pool_free(p);
    slab_pool_free(NULL);
}

static void all_that_is_handed_out_is_counted(void **state)
{
    struct slab_pool *p = slab_pool_new();
    void *small = slab_take(p, 300);
    void *large;

    (void)state;
    assert_int_equal(slab_used(p), 512);
    assert_int_equal(slab_mapped(p), SLAB_SIZE);
    large = slab_take(p, 100000);
    assert_int_equal(slab_used(p), 512 + 102400);
    assert_int_equal(slab_mapped(p), SLAB_SIZE + 102400);
    slab_give(p, small, 300);
    slab_give(p, large, 100000);
    assert_int_equal(slab_used(p), 0);
    assert_int_equal(slab_mapped(p), SLAB_SIZE);
    slab_pool_free(p);
}

static void pieces_of_every_size_are_whole_and_aligned(void **state)
{
    struct slab_pool *p = slab_pool_new();

    (void)state;
    for (size_t size = 1; size <= 40000; size += 111) {
        char *piece = slab_take(p, size);

        assert_int_equal((uintptr_t)piece % 16, 0);
        memset(piece, 'x', slab_round(size));
        slab_give(p, piece, size);
    }
    assert_int_equal(slab_used(p), 0);
    slab_pool_free(p);
}

/* Filled to the last byte: no more slabs than the sizes need. */
static void a_slab_is_used_up_before_the_next_is_opened(void **state)
{
    struct slab_pool *p = slab_pool_new();

    (void)state;
    for (size_t size = SLAB_CHUNK_MIN; size <= SLAB_CHUNK_MAX; size *= 2) {
        size_t count = PAGES * (SLAB_CHUNK_MAX / size);
        void **pieces = mem_alloc((count + 1) * sizeof(*pieces));

        for (size_t i = 0; i < count; i++)
            pieces[i] = slab_take(p, size);
        assert_int_equal(slab_mapped(p), SLAB_SIZE);
        pieces[count] = slab_take(p, size);
        assert_int_equal(slab_mapped(p), 2 * SLAB_SIZE);
        for (size_t i = 0; i <= count; i++)
            slab_give(p, pieces[i], size);
        assert_int_equal(slab_trim(p, SLAB_SIZE), SLAB_SIZE);
        mem_free(pieces);
    }
    slab_pool_free(p);
}

static void a_piece_given_back_is_taken_again(void **state)
{
    struct slab_pool *p = slab_pool_new();
    void *kept = slab_take(p, 256);
    void *first = slab_take(p, 256);

    (void)state;
    for (int i = 0; i < 1000; i++) {
        slab_give(p, first, 256);
        assert_ptr_equal(slab_take(p, 256), first);
    }
    slab_give(p, first, 256);
    slab_give(p, kept, 256);
    slab_pool_free(p);
}

/* A page without a free piece is in no list; it must come back into one. */
static void a_piece_of_a_full_page_is_taken_again(void **state)
{
    struct slab_pool *p = slab_pool_new();
    void *pieces[PAGES * 64];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(pieces); i++)
        pieces[i] = slab_take(p, 256);
    for (size_t i = 0; i < COUNT_OF(pieces); i += 7)
        slab_give(p, pieces[i], 256);
    for (size_t i = 0; i < COUNT_OF(pieces); i += 7)
        pieces[i] = slab_take(p, 256);
    assert_int_equal(slab_mapped(p), SLAB_SIZE);
    for (size_t i = 0; i < COUNT_OF(pieces); i++)
        slab_give(p, pieces[i], 256);
    slab_pool_free(p);
}

static void a_free_page_serves_another_size(void **state)
{
    struct slab_pool *p = slab_pool_new();
    void *small[PAGES * 64];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(small); i++)
        small[i] = slab_take(p, 256);
    for (size_t i = 0; i < COUNT_OF(small); i++)
        slab_give(p, small[i], 256);
    for (size_t i = 0; i < PAGES; i++)
        small[i] = slab_take(p, 16384);
    assert_int_equal(slab_mapped(p), SLAB_SIZE);
    for (size_t i = 0; i < PAGES; i++)
        slab_give(p, small[i], 16384);
    slab_pool_free(p);
}

static void one_piece_in_use_holds_its_page_only(void **state)
{
    struct slab_pool *p = slab_pool_new();
    void *small[PAGES * 64], *large[PAGES];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(small); i++)
        small[i] = slab_take(p, 256);
    for (size_t i = 1; i < COUNT_OF(small); i++)
        slab_give(p, small[i], 256);
    for (size_t i = 0; i < PAGES - 1; i++)
        large[i] = slab_take(p, 16384);
    assert_int_equal(slab_mapped(p), SLAB_SIZE);
    large[PAGES - 1] = slab_take(p, 16384);
    assert_int_equal(slab_mapped(p), 2 * SLAB_SIZE);
    for (size_t i = 0; i < PAGES; i++)
        slab_give(p, large[i], 16384);
    slab_give(p, small[0], 256);
    slab_pool_free(p);
}

/* Else many slabs would stay open with little in each. */
static void slabs_in_use_come_before_free_ones(void **state)
{
    struct slab_pool *p = slab_pool_new();
    void *pieces[3 * PAGES];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(pieces); i++)
        pieces[i] = slab_take(p, 16384);
    for (size_t i = 1; i < COUNT_OF(pieces); i++)
        slab_give(p, pieces[i], 16384);
    for (size_t i = 1; i < PAGES; i++)
        pieces[i] = slab_take(p, 16384);
    assert_int_equal(slab_trim(p, 0), 2 * SLAB_SIZE);
    for (size_t i = 0; i < PAGES; i++)
        slab_give(p, pieces[i], 16384);
    slab_pool_free(p);
}

static uintptr_t slab_of(const char *piece)
{
    return (uintptr_t)piece & ~(uintptr_t)(SLAB_SIZE - 1);
}

/* Two slabs and a few pages are in use, then one of these pages only: the rest of that slab has
 * never been touched, and comes behind the two that are free. */
static void pages_that_were_in_use_come_before_new_ones(void **state)
{
    enum { FEW = 5, USED = 2 * PAGES + FEW };
    struct slab_pool *p = slab_pool_new();
    char *pieces[USED], *newest;

    (void)state;
    for (size_t i = 0; i < USED; i++)
        pieces[i] = slab_take(p, 16384);
    newest = pieces[USED - 1];
    for (size_t i = 0; i < USED - 1; i++)
        slab_give(p, pieces[i], 16384);
    for (size_t i = 0; i < USED - 1; i++) {
        pieces[i] = slab_take(p, 16384);
        assert_false(pieces[i] > newest && slab_of(pieces[i]) == slab_of(newest));
    }
    assert_int_equal(slab_mapped(p), 3 * SLAB_SIZE);
    for (size_t i = 0; i < USED; i++)
        slab_give(p, pieces[i], 16384);
    slab_pool_free(p);
}

static void trim_gives_back_free_slabs_down_to_what_is_kept(void **state)
{
    struct slab_pool *p = slab_pool_new();
    void *pieces[4 * PAGES];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(pieces); i++)
        pieces[i] = slab_take(p, 16384);
    assert_int_equal(slab_trim(p, 0), 0);
    for (size_t i = 1; i < COUNT_OF(pieces); i++)
        slab_give(p, pieces[i], 16384);
    assert_int_equal(slab_trim(p, 4 * SLAB_SIZE), 0);
    assert_int_equal(slab_trim(p, 4 * SLAB_SIZE - 1), 0);
    assert_int_equal(slab_trim(p, 3 * SLAB_SIZE), SLAB_SIZE);
    assert_int_equal(slab_trim(p, 1), 2 * SLAB_SIZE);
    assert_int_equal(slab_mapped(p), SLAB_SIZE);
    assert_int_equal(slab_trim(p, 0), 0); /* one page of it is in use */
    slab_give(p, pieces[0], 16384);
    assert_int_equal(slab_trim(p, 0), SLAB_SIZE);
    slab_pool_free(p);
}

/* Its chunks are told by bits outside: so the memory itself stays untouched. */
static void a_page_is_not_touched_before_it_is_handed_out(void **state)
{
    struct slab_pool *p = slab_pool_new();
    char *piece = slab_take(p, 16384);
    char *slab = (char *)((uintptr_t)piece & ~(uintptr_t)(SLAB_SIZE - 1));
    unsigned char resident[SLAB_SIZE / 4096];
    size_t count = 0;

    (void)state;
    /* The second half, because the first may be one huge page. */
    assert_int_equal(mincore(slab + SLAB_SIZE / 2, SLAB_SIZE / 2, resident), 0);
    for (size_t i = 0; i < SLAB_SIZE / 2 / 4096; i++)
        count += resident[i] & 1;
    slab_give(p, piece, 16384);
    slab_pool_free(p);
#ifdef ASAN
    skip(); /* its allocator writes to what it hands out */
#endif
    assert_int_equal(count, 0);
}

static void a_free_piece_must_not_be_touched(void **state)
{
#ifdef ASAN
    struct slab_pool *p = slab_pool_new();
    char *kept = slab_take(p, 512);
    char *piece = slab_take(p, 512);

    (void)state;
    assert_false(__asan_address_is_poisoned(piece));
    assert_false(__asan_address_is_poisoned(piece + 511));
    assert_true(__asan_address_is_poisoned(piece + 512));
    slab_give(p, piece, 512);
    assert_true(__asan_address_is_poisoned(piece));
    assert_true(__asan_address_is_poisoned(piece + 511));
    assert_false(__asan_address_is_poisoned(kept + 511));
    slab_give(p, kept, 512);
    slab_pool_free(p);
#else
    (void)state;
    skip(); /* needs the address sanitizer */
#endif
}

static void give_twice(struct slab_pool *p, char *piece)
{
    slab_give(p, piece, 512);
    slab_give(p, piece, 512);
}

static void give_with_another_size(struct slab_pool *p, char *piece)
{
    slab_give(p, piece, 1024);
}

static void give_a_part(struct slab_pool *p, char *piece)
{
    slab_give(p, piece + 16, 512);
}

static void give_to_another_pool(struct slab_pool *p, char *piece)
{
    struct slab_pool *other = slab_pool_new();

    slab_give(p, slab_take(p, 512), 512);
    slab_give(other, piece, 512);
}

static void a_wrong_give_ends_the_process(void **state)
{
    static void (*const wrong[])(struct slab_pool * p, char *piece) = {
        give_twice, give_with_another_size, give_a_part, give_to_another_pool};
    struct slab_pool *p = slab_pool_new();
    char *kept = slab_take(p, 512); /* its page stays in use */
    char *piece = slab_take(p, 512);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        pid_t child = fork();
        int status = 0;

        assert_true(child >= 0);
        if (child == 0) {
            close(STDERR_FILENO);
            wrong[i](p, piece);
            _exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    }
    slab_give(p, piece, 512);
    slab_give(p, kept, 512);
    slab_pool_free(p);
}

/* The stress test's own books: every piece in use and what was written into it. */
struct held {
    char *piece;
    size_t size;
    unsigned char mark;
};

struct model {
    struct slab_pool *pool;
    struct held held[4000];
    size_t count, used;
    uint32_t seed;
};

static uint32_t random_below(struct model *m, uint32_t n)
{
    m->seed = m->seed * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)m->seed * n >> 32);
}

static void take_one(struct model *m)
{
    struct held *h = &m->held[m->count++];

    h->size = random_below(m, 50) == 0 ? random_below(m, 100000)
                                       : random_below(m, 257u << random_below(m, 7));
    h->mark = (unsigned char)random_below(m, 256);
    h->piece = slab_take(m->pool, h->size);
    assert_int_equal((uintptr_t)h->piece % 16, 0);
    memset(h->piece, h->mark, slab_round(h->size));
    m->used += slab_round(h->size);
}

/* Had another piece lain over it, it would hold other marks now. */
static void give_one(struct model *m)
{
    size_t i = random_below(m, (uint32_t)m->count);
    struct held h = m->held[i];

    for (size_t at = 0; at < slab_round(h.size); at++) {
        if ((unsigned char)h.piece[at] != h.mark)
            fail_msg("a piece of %zu bytes was written over at %zu", h.size, at);
    }
    slab_give(m->pool, h.piece, h.size);
    m->used -= slab_round(h.size);
    m->held[i] = m->held[--m->count];
}

static int by_address(const void *a, const void *b)
{
    const struct held *x = a, *y = b;

    return (x->piece > y->piece) - (x->piece < y->piece);
}

static void assert_model(struct model *m)
{
    assert_int_equal(slab_used(m->pool), m->used);
    assert_true(slab_mapped(m->pool) >= m->used);
    qsort(m->held, m->count, sizeof(m->held[0]), by_address);
    for (size_t i = 1; i < m->count; i++)
        assert_true(m->held[i - 1].piece + slab_round(m->held[i - 1].size) <= m->held[i].piece);
}

static void a_pile_is_given_back_piece_by_piece(void **state)
{
    static const size_t sizes[] = {256, 300, 16384, 100000, 256, 16385};
    struct slab_pool *p = slab_pool_new();
    struct slab_pile pile = {NULL};

    (void)state;
    slab_give_pile(p, &pile);
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        void *piece = slab_take(p, sizes[i]);
        memset(piece, 0xff, sizes[i]);
        slab_pile_put(&pile, piece, sizes[i]);
    }
    assert_true(slab_used(p) > 16384 + 100000); /* as long as nobody gives it */
    slab_give_pile(p, &pile);
    assert_null(pile.first);
    assert_int_equal(slab_used(p), 0);
    slab_pool_free(p);
}

static void random_use_keeps_all_pieces_apart(void **state)
{
    struct model *m = mem_alloc_zeroed(1, sizeof(*m));

    (void)state;
    m->pool = slab_pool_new();
    m->seed = 1;
    for (int phase = 0; phase < 40; phase++) {
        uint32_t takes = phase % 2 == 0 ? 7 : 3; /* of ten: it grows, then shrinks */

        for (int i = 0; i < 4000; i++) {
            bool take = random_below(m, 10) < takes ? m->count < COUNT_OF(m->held) : m->count == 0;

            if (take)
                take_one(m);
            else
                give_one(m);
        }
        assert_model(m);
        slab_trim(m->pool, random_below(m, 8) * SLAB_SIZE);
        assert_model(m);
    }
    while (m->count > 0)
        give_one(m);
    assert_model(m);
    slab_pool_free(m->pool);
    mem_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_rounded_up),
        cmocka_unit_test(nothing_is_mapped_before_the_first_piece),
        cmocka_unit_test(all_that_is_handed_out_is_counted),
        cmocka_unit_test(pieces_of_every_size_are_whole_and_aligned),
        cmocka_unit_test(a_slab_is_used_up_before_the_next_is_opened),
        cmocka_unit_test(a_piece_given_back_is_taken_again),
        cmocka_unit_test(a_piece_of_a_full_page_is_taken_again),
        cmocka_unit_test(a_free_page_serves_another_size),
        cmocka_unit_test(one_piece_in_use_holds_its_page_only),
        cmocka_unit_test(slabs_in_use_come_before_free_ones),
        cmocka_unit_test(pages_that_were_in_use_come_before_new_ones),
        cmocka_unit_test(trim_gives_back_free_slabs_down_to_what_is_kept),
        cmocka_unit_test(a_page_is_not_touched_before_it_is_handed_out),
        cmocka_unit_test(a_free_piece_must_not_be_touched),
        cmocka_unit_test(a_wrong_give_ends_the_process),
        cmocka_unit_test(a_pile_is_given_back_piece_by_piece),
        cmocka_unit_test(random_use_keeps_all_pieces_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
