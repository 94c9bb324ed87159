#include "fixture.h"

#include "core/session.h"

#define SEED  UINT64_C(0x5eed)
#define COUNT 5000

struct pool_fixture {
    struct slab_pool *slab;
    struct session_pool pool;
    uint32_t root;
};

static struct pool_fixture *open_pool(void)
{
    struct pool_fixture *f = mem_alloc_zeroed(1, sizeof(*f));

    f->slab = slab_pool_new();
    f->root = SESSION_NONE;
    session_pool_init(&f->pool, f->slab, SEED, NULL, NULL); /* nobody is looked for by key */
    return f;
}

static void close_pool(struct pool_fixture *f)
{
    session_pool_done(&f->pool);
    slab_pool_free(f->slab);
    mem_free(f);
}

/* --- the pool --- */

static void assert_bytes(const struct pool_fixture *f)
{
    assert_int_equal(session_pool_bytes(&f->pool),
                     slab_used(f->slab) + slots_bytes(&f->pool.table.entries.slots));
}

static void sessions_stay_where_they_are_and_their_memory_is_told_before(void **state)
{
    struct pool_fixture *f = open_pool();
    static uint32_t sessions[COUNT];

    (void)state;
    for (uint32_t i = 0; i < COUNT; i++) {
        uint64_t before = session_pool_bytes(&f->pool), need = session_pool_need(&f->pool);
        sessions[i] = session_open(&f->pool, i, -(int64_t)i);
        assert_int_equal(session_pool_bytes(&f->pool), before + need);
        assert_bytes(f);
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        const struct session *s = session_at(&f->pool, sessions[i]);
        assert_int_equal(s->entry.hash, i);
        assert_int_equal(s->first, -(int64_t)i);
        assert_int_equal(s->last, -(int64_t)i);
        assert_int_equal(s->opened, i);
        assert_int_equal(s->next, sessions[i]);
    }
    close_pool(f);
}

static void memory_goes_with_the_last_session_of_a_piece(void **state)
{
    struct pool_fixture *f = open_pool();
    static uint32_t sessions[COUNT];
    uint64_t chance = 1;

    (void)state;
    for (int round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < COUNT; i++)
            sessions[i] = session_open(&f->pool, 0, 0);
        assert_true(session_pool_bytes(&f->pool) < COUNT * 64);
        for (uint32_t left = COUNT; left > 0; left--) {
            uint32_t i = dice(&chance, left);
            session_close(&f->pool, sessions[i]);
            sessions[i] = sessions[left - 1];
            assert_bytes(f);
        }
        assert_int_equal(session_pool_bytes(&f->pool), 0);
        assert_int_equal(f->pool.count, 0);
    }
    close_pool(f);
}

static void places_of_pieces_that_went_are_used_again(void **state)
{
    struct pool_fixture *f = open_pool();
    static uint32_t sessions[COUNT];
    uint32_t kept, capacity;

    (void)state;
    kept = session_open(&f->pool, 7, 7);
    for (uint32_t i = 0; i < COUNT; i++)
        sessions[i] = session_open(&f->pool, 0, 0);
    capacity = f->pool.table.entries.slots.capacity;
    for (int round = 0; round < 20; round++) {
        for (uint32_t i = 0; i < COUNT; i++)
            session_close(&f->pool, sessions[i]);
        for (uint32_t i = 0; i < COUNT; i++)
            sessions[i] = session_open(&f->pool, 0, 0);
    }
    assert_int_equal(f->pool.table.entries.slots.capacity, capacity);
    assert_int_equal(session_at(&f->pool, kept)->entry.hash, 7);
    close_pool(f);
}

/* --- the sessions of a key --- */

static uint32_t put(struct pool_fixture *f, int64_t first, int64_t last)
{
    uint32_t s = session_open(&f->pool, 0, first);

    session_at(&f->pool, s)->last = last;
    f->root = session_tree_put(&f->pool, f->root, s);
    return s;
}

static void a_session_takes_what_is_at_most_the_gap_away(void **state)
{
    static const struct {
        int64_t t;
        const char *found; /* a is [100,200], b is [311,400] */
    } rows[] = {
        {-1000, ""}, {-1, ""},    {0, "a"},    {99, "a"},  {100, "a"}, {150, "a"}, {200, "a"},
        {210, "a"},  {211, "ab"}, {300, "ab"}, {301, "b"}, {310, "b"}, {311, "b"}, {350, "b"},
        {400, "b"},  {499, "b"},  {500, "b"},  {501, ""},  {9000, ""},
    };
    struct pool_fixture *f = open_pool();
    uint32_t a = put(f, 100, 200), b = put(f, 311, 400);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint32_t found[2];
        char told[3] = "", name[32];
        size_t n = session_tree_find(&f->pool, f->root, rows[i].t, 100, found);
        for (size_t j = 0; j < n; j++)
            told[j] = found[j] == a ? 'a' : found[j] == b ? 'b' : '?';
        snprintf(name, sizeof(name), "%" PRId64 ": %s", rows[i].t, told);
        assert_row(strcmp(told, rows[i].found) == 0, name);
    }
    close_pool(f);
}

static size_t depth(const struct pool_fixture *f, uint32_t root)
{
    size_t before, after;

    if (root == SESSION_NONE)
        return 0;
    before = depth(f, session_at(&f->pool, root)->before);
    after = depth(f, session_at(&f->pool, root)->after);
    return 1 + (before > after ? before : after);
}

static void no_order_of_times_makes_the_tree_a_list(void **state)
{
    (void)state;
    for (int order = 0; order < 3; order++) {
        struct pool_fixture *f = open_pool();
        for (int64_t i = 0; i < COUNT; i++) {
            int64_t t = order == 0 ? i : order == 1 ? -i : (i % 2 == 0 ? i : -i);
            put(f, 10 * t, 10 * t);
        }
        assert_in_range(depth(f, f->root), 12, 60);
        close_pool(f);
    }
}

/* Moments of even numbers times ten, against a list of which are there. */
#define MOMENTS 40

static void assert_there(const struct pool_fixture *f, const uint32_t *there)
{
    for (int64_t t = 0; t < 10 * MOMENTS; t++) {
        uint32_t found[2], expected[2];
        size_t n = 0;
        for (int i = 0; i < MOMENTS; i++)
            if (there[i] != SESSION_NONE && llabs(10 * i - t) <= 9)
                expected[n++] = there[i];
        assert_int_equal(session_tree_find(&f->pool, f->root, t, 9, found), n);
        assert_memory_equal(found, expected, n * sizeof(*found));
    }
}

static void trees_say_what_lists_say(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 30; seed++) {
        struct pool_fixture *f = open_pool();
        uint32_t there[MOMENTS];
        uint64_t chance = seed * 1000003;
        for (int i = 0; i < MOMENTS; i++)
            there[i] = SESSION_NONE;
        for (int i = 0; i < 200; i++) {
            uint32_t at = dice(&chance, MOMENTS);
            if (dice(&chance, 40) == 0) {
                f->root = session_tree_later(&f->pool, f->root, 10 * at);
                for (uint32_t j = 0; j <= at; j++)
                    there[j] = SESSION_NONE;
            } else if (there[at] == SESSION_NONE) {
                there[at] = put(f, 10 * at, 10 * at);
            } else {
                f->root = session_tree_take(&f->pool, f->root, there[at]);
                there[at] = SESSION_NONE;
            }
            assert_there(f, there);
        }
        close_pool(f);
    }
}

/* --- the one that is found --- */

static void the_root_is_found_and_nobody_else(void **state)
{
    struct pool_fixture *f = open_pool();
    uint32_t a = session_open(&f->pool, 7, 0), b = session_open(&f->pool, 7, 0);

    (void)state;
    assert_int_equal(keyed_table_first(&f->pool.table, 7), KEYED_NONE);
    keyed_table_enter(&f->pool.table, f->slab, a);
    assert_int_equal(keyed_table_first(&f->pool.table, 7), a);
    session_root(&f->pool, a, a);
    assert_int_equal(keyed_table_first(&f->pool.table, 7), a);
    session_root(&f->pool, a, b);
    assert_int_equal(keyed_table_first(&f->pool.table, 7), b);
    assert_int_equal(keyed_table_again(&f->pool.table, b), KEYED_NONE);
    session_root(&f->pool, b, SESSION_NONE);
    assert_int_equal(keyed_table_first(&f->pool.table, 7), KEYED_NONE);
    session_close(&f->pool, a);
    session_close(&f->pool, b);
    assert_int_equal(session_pool_bytes(&f->pool), 0);
    close_pool(f);
}

/* --- merges --- */

static size_t ring_size(const struct pool_fixture *f, uint32_t session)
{
    size_t n = 1;

    for (uint32_t s = session_at(&f->pool, session)->next; s != session; n++)
        s = session_at(&f->pool, s)->next;
    return n;
}

static void the_elder_becomes_a_part_of_the_younger(void **state)
{
    struct pool_fixture *f = open_pool();
    uint32_t a = session_open(&f->pool, 0, 50), b = session_open(&f->pool, 0, 10);
    uint32_t c = session_open(&f->pool, 0, 90), d = session_open(&f->pool, 0, 70);
    const struct session *at_d = session_at(&f->pool, d);

    (void)state;
    session_absorb(&f->pool, b, a);
    assert_true(session_is_part(session_at(&f->pool, a)));
    assert_false(session_is_part(session_at(&f->pool, b)));
    assert_int_equal(ring_size(f, b), 2);
    session_absorb(&f->pool, d, c);
    session_absorb(&f->pool, d, b);
    assert_int_equal(ring_size(f, d), 4);
    assert_int_equal(at_d->first, 10);
    assert_int_equal(at_d->last, 90);
    assert_int_equal(at_d->opened, 3);
    close_pool(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sessions_stay_where_they_are_and_their_memory_is_told_before),
        cmocka_unit_test(memory_goes_with_the_last_session_of_a_piece),
        cmocka_unit_test(places_of_pieces_that_went_are_used_again),
        cmocka_unit_test(a_session_takes_what_is_at_most_the_gap_away),
        cmocka_unit_test(no_order_of_times_makes_the_tree_a_list),
        cmocka_unit_test(trees_say_what_lists_say),
        cmocka_unit_test(the_root_is_found_and_nobody_else),
        cmocka_unit_test(the_elder_becomes_a_part_of_the_younger),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
