#include "join/window_shape.h"
#include "join_fixture.h"

#define PANES_MAX 40
#define KIB       UINT64_C(1024)
#define MIB       (1024 * KIB)

/* All that is looked at: bytes of the larger side, and how it is parted. */
struct panes_fixture {
    struct pane pane[PANES_MAX], *panes[PANES_MAX];
};

static void make_panes(struct panes_fixture *f, size_t count, uint64_t bytes, unsigned bits)
{
    *f = (struct panes_fixture){0};
    for (size_t i = 0; i < count; i++) {
        f->panes[i] = &f->pane[i];
        for (int s = 0; s < SIDES; s++)
            f->pane[i].side[s].bits = bits;
        f->pane[i].side[i % SIDES].bytes = bytes;
        f->pane[i].side[(i + 1) % SIDES].bytes = bytes / 3;
    }
}

static void large_windows_are_parted_finely(void **state)
{
    static const struct {
        uint64_t bytes;
        unsigned bits;
    } rows[] = {{0, 0},       {PANE_PART_FROM - 1, 0}, {PANE_PART_FROM, 4}, {4 * MIB - 1, 4},
                {4 * MIB, 5}, {16 * MIB, 7},           {64 * MIB - 1, 7},   {64 * MIB, 8}};
    struct panes_fixture f;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        make_panes(&f, 1, rows[i].bytes, 0);
        assert_int_equal(window_shape_like(f.panes[0]).bits, rows[i].bits);
        assert_int_equal(window_shape_of_panes(f.panes, 1).bits, rows[i].bits);
    }
}

static void new_panes_are_parted_by_what_windows_and_panes_come_to(void **state)
{
    static const struct {
        const char *name;
        size_t panes;
        uint64_t bytes; /* of each */
        unsigned bits;
    } rows[] = {
        {"a small window", 4, PANE_PART_FROM / 4 - 1, 0},
        {"a large one, of large panes", 4, PANE_PART_FROM / 4 + 16 * KIB, 4},
        {"a large one, of small panes", 40, 16 * KIB - 1, 0},
        {"a larger one", 4, 16 * MIB, 8},
    };
    struct panes_fixture f;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        make_panes(&f, rows[i].panes, rows[i].bytes, 0);
        assert_row(window_shape_of_panes(f.panes, rows[i].panes).bits == rows[i].bits,
                   rows[i].name);
    }
}

/* Each side by its own bytes; a chunk is a sixteenth of a partition, and no larger than may be. */
static void new_panes_begin_with_the_chunks_that_others_ended_with(void **state)
{
    static const struct {
        uint64_t bytes[SIDES];
        unsigned chunk_least[SIDES];
    } rows[] = {
        {{0, 0}, {0, 0}},
        {{32 * KIB, 8 * KIB}, {2048, 512}},
        {{PANE_PART_FROM, KIB}, {256, 4}},
        {{MIB, 2 * MIB}, {4 * KIB, 8 * KIB}},
        {{3 * MIB, 0}, {12 * KIB, 0}},
        {{400 * MIB, 100 * MIB}, {SLAB_CHUNK_MAX, SLAB_CHUNK_MAX}},
    };
    struct panes_fixture f;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        make_panes(&f, 1, 0, 0);
        for (int s = 0; s < SIDES; s++)
            f.pane[0].side[s].bytes = rows[i].bytes[s];
        for (int s = 0; s < SIDES; s++) {
            assert_int_equal(window_shape_like(f.panes[0]).chunk_least[s], rows[i].chunk_least[s]);
            assert_int_equal(window_shape_of_panes(f.panes, 1).chunk_least[s],
                             rows[i].chunk_least[s]);
        }
    }
}

static void a_walk_passes_over_records_a_few_times_at_most(void **state)
{
    static const struct {
        const char *name;
        uint64_t bytes;
        unsigned bits, walk;
    } rows[] = {
        {"small", 1 * KIB, 8, 0},
        {"not parted", MIB, 0, 1},
        {"parted as the walk", MIB / 2, 4, 4},
        {"more finely", MIB / 2, 8, 4},
        {"a large one, less finely", 16 * MIB, 4, 5},
    };
    struct panes_fixture f;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        make_panes(&f, 4, rows[i].bytes, rows[i].bits);
        assert_row(window_shape_to_walk(f.panes, 4) == rows[i].walk, rows[i].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_windows_are_parted_finely),
        cmocka_unit_test(new_panes_are_parted_by_what_windows_and_panes_come_to),
        cmocka_unit_test(new_panes_begin_with_the_chunks_that_others_ended_with),
        cmocka_unit_test(a_walk_passes_over_records_a_few_times_at_most),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
