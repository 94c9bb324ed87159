#include "session_fixture.h"

#define COUNT 5000

/* --- the pool --- */

static void sessions_stay_where_they_are_and_their_memory_is_told_before(void **state)
{
    static uint32_t sessions[COUNT];
    struct pool_fixture f;

    (void)state;
    open_pool(&f);
    for (uint32_t i = 0; i < COUNT; i++) {
        enum side side = (enum side)(i % 2);
        uint32_t ref = record_at(&f, side, -(int64_t)i);
        uint64_t before = session_pool_bytes(&f.pool), need = session_pool_need(&f.pool, 1, 0);
        sessions[i] = session_open(&f.pool, i, side, ref);
        assert_int_equal(session_pool_bytes(&f.pool), before + need);
        assert_int_equal(session_pool_bytes(&f.pool), pool_bytes_by_hand(&f));
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        const struct session *s = session_at(&f.pool, sessions[i]);
        assert_int_equal(s->entry.hash, i);
        assert_int_equal(session_first(&f.pool, sessions[i]), -(int64_t)i);
        assert_int_equal(session_last(&f.pool, sessions[i]), -(int64_t)i);
        assert_int_equal(s->opened, i);
        assert_false(session_is_part(&f.pool, sessions[i]));
    }
    close_pool(&f);
}

static void a_plain_session_costs_28_bytes(void **state)
{
    struct pool_fixture f;

    (void)state;
    open_pool(&f);
    for (uint32_t i = 0; i < 10 * COUNT; i++)
        add_at(&f, open_at(&f, SIDE_LEFT, i), SIDE_RIGHT, i);
    assert_in_range(session_pool_bytes(&f.pool), 280 * COUNT, 285 * COUNT + SLAB_CHUNK_MAX);
    close_pool(&f);
}

static void memory_goes_with_the_last_session_of_a_piece(void **state)
{
    static uint32_t sessions[COUNT];
    struct pool_fixture f;
    uint64_t chance = 1;

    (void)state;
    open_pool(&f);
    for (int round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < COUNT; i++) {
            sessions[i] = open_at(&f, SIDE_LEFT, 0);
            add_at(&f, sessions[i], SIDE_LEFT, round - 1); /* in the first one no longer plain */
        }
        assert_true(session_pool_bytes(&f.pool) < COUNT * (round == 0 ? 64 : 32));
        for (uint32_t left = COUNT; left > 0; left--) {
            uint32_t i = dice(&chance, left);
            session_close(&f.pool, sessions[i]);
            sessions[i] = sessions[left - 1];
            assert_int_equal(session_pool_bytes(&f.pool), pool_bytes_by_hand(&f));
        }
        assert_int_equal(session_pool_bytes(&f.pool), 0);
        assert_int_equal(f.pool.count, 0);
    }
    close_pool(&f);
}

/* --- its records --- */

/* The times that a session has to say, and how many records it has. */
struct truth {
    int64_t first, last;
    size_t count[SIDES];
};

/* By its last records and its first ones alone. */
static bool rule_tells(const struct pool_fixture *f, uint32_t session, const struct truth *t)
{
    const struct session *s = session_at(&f->pool, session);
    int64_t first = INT64_MAX, last = INT64_MIN;

    for (int side = 0; side < SIDES; side++) {
        if (s->run[side] != REFERENCE_NONE) {
            const struct record *end = arena_record(&f->records[side], s->run[side]);
            int64_t begin = record_time(arena_record(&f->records[side], end->hash));
            first = begin < first ? begin : first;
            last = record_time(end) > last ? record_time(end) : last;
        }
    }
    return first == t->first && last == t->last;
}

/* In order of arrival, in a ring. */
static void assert_ring(const struct pool_fixture *f, uint32_t session, enum side side, size_t n)
{
    uint32_t last = session_at(&f->pool, session)->run[side], ref = last;
    uint64_t before = 0;

    assert_int_equal(last == REFERENCE_NONE, n == 0);
    for (size_t i = 0; i < n; i++) {
        ref = arena_record(&f->records[side], ref)->hash;
        assert_true(i == 0 || reference_number(arena_chunks(&f->records[side]), ref) > before);
        before = reference_number(arena_chunks(&f->records[side]), ref);
    }
    assert_int_equal(ref, last);
}

static void add_and_compare(struct pool_fixture *f, uint32_t session, enum side side, int64_t t,
                            struct truth *truth)
{
    const struct session *s = session_at(&f->pool, session);
    bool was_plain = session_is_plain(s), needs = session_needs_more(&f->pool, session, side, t);

    add_at(f, session, side, t);
    truth->first = t < truth->first ? t : truth->first;
    truth->last = t > truth->last ? t : truth->last;
    truth->count[side]++;
    assert_int_equal(needs, was_plain && !rule_tells(f, session, truth));
    assert_int_equal(session_is_plain(s), was_plain && !needs);
    assert_int_equal(session_first(&f->pool, session), truth->first);
    assert_int_equal(session_last(&f->pool, session), truth->last);
}

/* All that five records on two sides, of four times, can be to each other. */
static void a_session_is_plain_as_long_as_its_ends_tell_its_times(void **state)
{
    enum { RECORDS = 5, WAYS = 8 };
    struct pool_fixture f;

    (void)state;
    open_pool(&f);
    for (uint32_t code = 0; code < WAYS * WAYS * WAYS * WAYS * WAYS; code++) {
        uint32_t rest = code, session;
        struct truth truth = {.first = rest % 4, .last = rest % 4};
        session = open_at(&f, rest % WAYS / 4, rest % 4);
        truth.count[rest % WAYS / 4] = 1;
        for (int i = 1; i < RECORDS; i++) {
            rest /= WAYS;
            add_and_compare(&f, session, rest % WAYS / 4, rest % 4, &truth);
        }
        for (int side = 0; side < SIDES; side++)
            assert_ring(&f, session, side, truth.count[side]);
        session_close(&f.pool, session);
    }
    assert_int_equal(session_pool_bytes(&f.pool), 0);
    close_pool(&f);
}

static void times_of_a_plain_session_may_be_the_first_and_the_last_of_all(void **state)
{
    struct pool_fixture f;
    uint32_t s;

    (void)state;
    open_pool(&f);
    s = open_at(&f, SIDE_RIGHT, INT64_MIN);
    assert_int_equal(session_last(&f.pool, s), INT64_MIN);
    add_at(&f, s, SIDE_RIGHT, INT64_MAX);
    assert_true(session_is_plain(session_at(&f.pool, s)));
    assert_int_equal(session_first(&f.pool, s), INT64_MIN);
    assert_int_equal(session_last(&f.pool, s), INT64_MAX);
    add_at(&f, s, SIDE_LEFT, 0);
    assert_true(session_is_plain(session_at(&f.pool, s)));
    add_at(&f, s, SIDE_LEFT, -1);
    assert_true(session_is_plain(session_at(&f.pool, s)));
    add_at(&f, s, SIDE_RIGHT, INT64_MAX - 1);
    assert_false(session_is_plain(session_at(&f.pool, s)));
    assert_int_equal(session_first(&f.pool, s), INT64_MIN);
    assert_int_equal(session_last(&f.pool, s), INT64_MAX);
    close_pool(&f);
}

static void a_cut_session_goes_from_its_first_records_to_its_last(void **state)
{
    struct pool_fixture f;
    uint32_t s, refs[3];

    (void)state;
    open_pool(&f);
    for (int i = 0; i < 3; i++)
        refs[i] = record_at(&f, SIDE_RIGHT, i);
    s = session_open(&f.pool, 0, SIDE_RIGHT, refs[0]);
    session_add(&f.pool, s, SIDE_RIGHT, refs[1]);
    session_add(&f.pool, s, SIDE_RIGHT, refs[2]);
    session_cut(&f.pool, s);
    assert_int_equal(session_at(&f.pool, s)->run[SIDE_LEFT], REFERENCE_NONE);
    assert_int_equal(session_at(&f.pool, s)->run[SIDE_RIGHT], refs[0]);
    assert_int_equal(arena_record(&f.records[SIDE_RIGHT], refs[0])->hash, refs[1]);
    assert_int_equal(arena_record(&f.records[SIDE_RIGHT], refs[1])->hash, refs[2]);
    assert_int_equal(arena_record(&f.records[SIDE_RIGHT], refs[2])->hash, REFERENCE_NONE);
    close_pool(&f);
}

/* --- the sessions of a key --- */

static uint32_t put(struct pool_fixture *f, uint32_t *root, int64_t first, int64_t last)
{
    uint32_t s = open_at(f, SIDE_LEFT, first);
    uint64_t before, need;

    add_at(f, s, SIDE_LEFT, last);
    before = session_pool_bytes(&f->pool);
    need = session_pool_need(&f->pool, 0, session_tree_put_mores(&f->pool, *root));
    *root = session_tree_put(&f->pool, *root, s);
    assert_int_equal(session_pool_bytes(&f->pool), before + need);
    return s;
}

/* With b, or with a alone, which then is plain, or, with an elder record at 150, is not. */
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

    (void)state;
    for (int shape = 0; shape < 3; shape++) {
        struct pool_fixture f;
        uint32_t root = SESSION_NONE, a, b = SESSION_NONE;
        open_pool(&f);
        a = put(&f, &root, 100, 200);
        if (shape == 1)
            add_at(&f, a, SIDE_LEFT, 150);
        if (shape == 2)
            b = put(&f, &root, 311, 400);
        assert_int_equal(session_is_plain(session_at(&f.pool, a)), shape == 0);
        for (size_t i = 0; i < COUNT_OF(rows); i++) {
            uint32_t found[2];
            char told[3] = "", name[32];
            size_t n = session_tree_find(&f.pool, root, rows[i].t, 100, found);
            size_t expected = shape == 2 ? strlen(rows[i].found) : strchr(rows[i].found, 'a') != 0;
            for (size_t j = 0; j < n; j++)
                told[j] = found[j] == a ? 'a' : found[j] == b ? 'b' : '?';
            snprintf(name, sizeof(name), "%d, %" PRId64 ": %s", shape, rows[i].t, told);
            assert_row(n == expected && strncmp(told, rows[i].found, n) == 0, name);
        }
        close_pool(&f);
    }
}

static void a_plain_session_takes_nothing_round_the_ends_of_time(void **state)
{
    struct pool_fixture f;
    uint32_t s, found[2];

    (void)state;
    open_pool(&f);
    s = open_at(&f, SIDE_LEFT, INT64_MIN);
    assert_int_equal(session_tree_find(&f.pool, s, INT64_MAX, INT64_MAX, found), 0);
    assert_int_equal(session_tree_find(&f.pool, s, -1, INT64_MAX, found), 1);
    assert_int_equal(session_tree_find(&f.pool, s, 0, INT64_MAX, found), 0);
    add_at(&f, s, SIDE_LEFT, INT64_MAX);
    for (int64_t t = 0; t < 10; t++)
        assert_int_equal(session_tree_find(&f.pool, s, t, 1, found), 1);
    close_pool(&f);
}

/* They know their places in the tree by then. */
static void a_second_session_of_a_key_makes_both_more_than_plain(void **state)
{
    struct pool_fixture f;
    uint32_t root = SESSION_NONE, a, b, c;

    (void)state;
    open_pool(&f);
    a = put(&f, &root, 1000, 1001);
    assert_int_equal(root, a);
    assert_int_equal(pieces_bytes(&f.pool.mores), 0);
    b = put(&f, &root, 2000, 2001);
    c = put(&f, &root, 0, 1);
    assert_int_equal(session_more_at(&f.pool, a)->first, 1000);
    assert_int_equal(session_more_at(&f.pool, a)->last, 1001);
    assert_int_equal(session_more_at(&f.pool, b)->first, 2000);
    assert_int_equal(session_more_at(&f.pool, c)->last, 1);
    root = session_tree_later(&f.pool, root, 1001);
    assert_int_equal(root, b);
    add_at(&f, b, SIDE_LEFT, 2050);
    assert_int_equal(session_last(&f.pool, b), 2050);
    session_close(&f.pool, a);
    session_close(&f.pool, b);
    session_close(&f.pool, c);
    assert_int_equal(session_pool_bytes(&f.pool), 0);
    close_pool(&f);
}

static size_t depth(const struct pool_fixture *f, uint32_t root)
{
    size_t before, after;

    if (root == SESSION_NONE)
        return 0;
    before = depth(f, session_more_at(&f->pool, root)->before);
    after = depth(f, session_more_at(&f->pool, root)->after);
    return 1 + (before > after ? before : after);
}

static void no_order_of_times_makes_the_tree_a_list(void **state)
{
    (void)state;
    for (int order = 0; order < 3; order++) {
        struct pool_fixture f;
        uint32_t root = SESSION_NONE;
        open_pool(&f);
        for (int64_t i = 0; i < COUNT; i++) {
            int64_t t = order == 0 ? i : order == 1 ? -i : (i % 2 == 0 ? i : -i);
            put(&f, &root, 10 * t, 10 * t);
        }
        assert_in_range(depth(&f, root), 12, 60);
        close_pool(&f);
    }
}

/* Moments of even numbers times ten, against a list of which are there. */
#define MOMENTS 40

static void assert_there(const struct pool_fixture *f, uint32_t root, const uint32_t *there)
{
    for (int64_t t = 0; t < 10 * MOMENTS; t++) {
        uint32_t found[2], expected[2];
        size_t n = 0;
        for (int i = 0; i < MOMENTS; i++)
            if (there[i] != SESSION_NONE && llabs(10 * i - t) <= 9)
                expected[n++] = there[i];
        assert_int_equal(session_tree_find(&f->pool, root, t, 9, found), n);
        assert_memory_equal(found, expected, n * sizeof(*found));
    }
}

static bool any_other(const uint32_t *there, uint32_t at)
{
    for (uint32_t i = 0; i < MOMENTS; i++)
        if (i != at && there[i] != SESSION_NONE)
            return true;
    return false;
}

static void trees_say_what_lists_say(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 30; seed++) {
        struct pool_fixture f;
        uint32_t root = SESSION_NONE, there[MOMENTS];
        uint64_t chance = seed * 1000003;
        open_pool(&f);
        for (int i = 0; i < MOMENTS; i++)
            there[i] = SESSION_NONE;
        for (int i = 0; i < 200; i++) {
            uint32_t at = dice(&chance, MOMENTS);
            if (dice(&chance, 40) == 0) {
                root = session_tree_later(&f.pool, root, 10 * at);
                for (uint32_t j = 0; j <= at; j++)
                    there[j] = SESSION_NONE;
            } else if (there[at] == SESSION_NONE) {
                there[at] = put(&f, &root, 10 * at, 10 * at);
            } else if (any_other(there, at)) {
                root = session_tree_take(&f.pool, root, there[at]);
                there[at] = SESSION_NONE;
            }
            assert_there(&f, root, there);
        }
        close_pool(&f);
    }
}

/* --- the one that is found --- */

static void the_root_is_found_and_nobody_else(void **state)
{
    struct pool_fixture f;
    uint32_t a, b;

    (void)state;
    open_pool(&f);
    a = open_at(&f, SIDE_LEFT, 0);
    b = open_at(&f, SIDE_RIGHT, 0);
    assert_int_equal(keyed_table_find(&f.pool.table, 0, BYTES_LIT("k")), KEYED_NONE);
    keyed_table_enter(&f.pool.table, f.slab, a);
    assert_int_equal(keyed_table_find(&f.pool.table, 0, BYTES_LIT("k")), a);
    assert_int_equal(keyed_table_find(&f.pool.table, 0, BYTES_LIT("a")), KEYED_NONE);
    session_root(&f.pool, a, a);
    assert_int_equal(keyed_table_first(&f.pool.table, 0), a);
    session_root(&f.pool, a, b);
    assert_int_equal(keyed_table_find(&f.pool.table, 0, BYTES_LIT("k")), b);
    assert_int_equal(keyed_table_again(&f.pool.table, b), KEYED_NONE);
    session_root(&f.pool, b, SESSION_NONE);
    assert_int_equal(keyed_table_first(&f.pool.table, 0), KEYED_NONE);
    session_close(&f.pool, a);
    session_close(&f.pool, b);
    assert_int_equal(session_pool_bytes(&f.pool), 0);
    close_pool(&f);
}

/* --- merges --- */

static size_t ring_size(const struct pool_fixture *f, uint32_t session)
{
    size_t n = 1;

    for (uint32_t s = session_more_at(&f->pool, session)->next; s != session; n++)
        s = session_more_at(&f->pool, s)->next;
    return n;
}

static void the_elder_becomes_a_part_of_the_younger(void **state)
{
    struct pool_fixture f;
    uint32_t a, b, c, d;

    (void)state;
    open_pool(&f);
    a = open_at(&f, SIDE_LEFT, 50);
    b = open_at(&f, SIDE_LEFT, 10);
    c = open_at(&f, SIDE_LEFT, 90);
    d = open_at(&f, SIDE_LEFT, 70);
    absorb_at(&f, b, a);
    assert_true(session_is_part(&f.pool, a));
    assert_false(session_is_part(&f.pool, b));
    assert_int_equal(ring_size(&f, b), 2);
    absorb_at(&f, d, c);
    absorb_at(&f, d, b);
    assert_int_equal(ring_size(&f, d), 4);
    assert_int_equal(session_first(&f.pool, d), 10);
    assert_int_equal(session_last(&f.pool, d), 90);
    assert_int_equal(session_at(&f.pool, d)->opened, 3);
    close_pool(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sessions_stay_where_they_are_and_their_memory_is_told_before),
        cmocka_unit_test(a_plain_session_costs_28_bytes),
        cmocka_unit_test(memory_goes_with_the_last_session_of_a_piece),
        cmocka_unit_test(a_session_is_plain_as_long_as_its_ends_tell_its_times),
        cmocka_unit_test(times_of_a_plain_session_may_be_the_first_and_the_last_of_all),
        cmocka_unit_test(a_cut_session_goes_from_its_first_records_to_its_last),
        cmocka_unit_test(a_session_takes_what_is_at_most_the_gap_away),
        cmocka_unit_test(a_plain_session_takes_nothing_round_the_ends_of_time),
        cmocka_unit_test(a_second_session_of_a_key_makes_both_more_than_plain),
        cmocka_unit_test(no_order_of_times_makes_the_tree_a_list),
        cmocka_unit_test(trees_say_what_lists_say),
        cmocka_unit_test(the_root_is_found_and_nobody_else),
        cmocka_unit_test(the_elder_becomes_a_part_of_the_younger),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
