#include "join_fixture.h"

#include "recount.h"
#include "store/keyed_table.h"
#include "store/table.h"

#define SEED 7

struct table_fixture {
    struct table table;
    struct slab_pool *pool;
    uint64_t number;    /* of the next row */
    unsigned hash_bits; /* of the key's hash that are kept: few make keys collide */
};

static struct table_fixture *open_table(bool ordered)
{
    struct table_fixture *f = mem_alloc_zeroed(1, sizeof(*f));

    f->pool = slab_pool_new();
    f->hash_bits = 32;
    table_init(&f->table, ordered);
    return f;
}

static void close_table(struct table_fixture *f)
{
    table_done(&f->table, f->pool);
    assert_int_equal(table_bytes(&f->table), 0);
    slab_pool_free(f->pool); /* all is back */
    mem_free(f);
}

static uint32_t hash_of(const struct table_fixture *f, const char *key)
{
    uint32_t hash = keyed_hash(bytes_of(key), SEED);

    return f->hash_bits == 32 ? hash : hash & ((UINT32_C(1) << f->hash_bits) - 1);
}

/* `key,id`; without a key it is NULL. */
static struct record_parts parts_of(const struct table_fixture *f, const char *line)
{
    const char *comma = strchr(line, ',');
    char key[64] = "";
    struct record_parts p = {.body = bytes_of(line), .key = {line, (size_t)(comma - line)}};

    memcpy(key, line, p.key.n);
    p.hash = hash_of(f, key);
    if (p.key.n == 0) {
        p.key = BYTES_NULL;
        p.flags = RECORD_NULL_KEY;
    }
    return p;
}

static bool add_within(struct table_fixture *f, const char *line, uint64_t room)
{
    struct record_parts p = parts_of(f, line);

    if (!table_add(&f->table, f->pool, &p, f->number, room))
        return false;
    f->number++;
    return true;
}

static void add(struct table_fixture *f, const char *line)
{
    assert_true(add_within(f, line, UINT64_MAX));
}

static void add_row(struct table_fixture *f, unsigned key, unsigned id)
{
    char line[64];

    snprintf(line, sizeof(line), "%u,%u", key, id);
    add(f, line);
}

static bool replace(struct table_fixture *f, const char *line)
{
    struct record_parts p = parts_of(f, line);
    bool replaced;

    assert_true(table_replace(&f->table, f->pool, &p, f->number++, UINT64_MAX, &replaced));
    return replaced;
}

static void append_row_id(const struct record *r, struct buf *to)
{
    struct bytes body = record_body(r);
    const char *comma = memchr(body.p, ',', body.n);

    if (buf_length(to) > 0)
        buf_append_char(to, ' ');
    buf_append(to, comma + 1, (size_t)(body.p + body.n - comma - 1));
}

/* The ids of a key's rows, in the order in which they are met. */
static void assert_rows(const struct table_fixture *f, const char *key, const char *expected)
{
    uint32_t first = table_find(&f->table, hash_of(f, key), bytes_of(key));
    struct buf ids = BUF_EMPTY;

    table_fetch_slot(&f->table, hash_of(f, key));
    table_fetch_row(&f->table, hash_of(f, key));
    for (uint32_t ref = first; ref != REFERENCE_NONE; ref = table_next(&f->table, first, ref))
        append_row_id(table_row(&f->table, ref), &ids);
    assert_string_equal(buf_text(&ids), expected);
    buf_done(&ids);
}

/* Chunks and segments are the pool's; beside them there are directories. */
static void assert_bytes(const struct table_fixture *f)
{
    const struct table *t = &f->table;
    uint64_t directory = t->directory == NULL ? 0 : sizeof(void *) << t->bits;

    assert_int_equal(table_bytes(t), slab_used(f->pool) + slots_bytes(&t->rows.chunks) + directory);
}

static void an_empty_table_finds_nothing_and_takes_no_memory(void **state)
{
    struct table_fixture *f = open_table(false);
    int64_t fuel = 1;

    (void)state;
    assert_rows(f, "k", "");
    assert_int_equal(table_bytes(&f->table), 0);
    assert_true(table_drop_some(&f->table, f->pool, &fuel));
    close_table(f);
}

static void all_rows_of_a_key_are_met_in_order_of_arrival(void **state)
{
    struct table_fixture *f = open_table(false);

    (void)state;
    add(f, "k,a");
    add(f, "j,b");
    add(f, "k,c");
    add(f, "k,d");
    assert_rows(f, "k", "a c d");
    assert_rows(f, "j", "b");
    assert_rows(f, "i", "");
    assert_int_equal(f->table.keys, 2);
    close_table(f);
}

static void a_null_key_is_nobodys_and_an_empty_one_is_a_key(void **state)
{
    struct table_fixture *f = open_table(true);
    struct record_parts empty = {.body = BYTES_LIT("\"\",e"), .key = {"", 0}};

    (void)state;
    empty.hash = hash_of(f, "");
    add(f, ",a");
    assert_true(table_add(&f->table, f->pool, &empty, f->number++, UINT64_MAX));
    add(f, ",b");
    assert_rows(f, "", "e");
    assert_int_equal(f->table.rows.records, 3);
    close_table(f);
}

static void keys_of_one_hash_are_told_apart(void **state)
{
    struct table_fixture *f = open_table(false);

    (void)state;
    f->hash_bits = 0;
    for (unsigned i = 0; i < 200; i++)
        add_row(f, i % 100, i);
    assert_rows(f, "0", "0 100");
    assert_rows(f, "99", "99 199");
    assert_rows(f, "100", "");
    close_table(f);
}

/* No table can be parted by bits that its keys share. */
static void too_many_keys_of_one_hash_are_refused(void **state)
{
    struct table_fixture *f = open_table(false);
    char line[32];
    unsigned taken = 0;

    (void)state;
    f->hash_bits = 0;
    do
        snprintf(line, sizeof(line), "%u,x", taken);
    while (add_within(f, line, UINT64_C(1) << 30) && ++taken < 5000);
    assert_in_range(taken, 1000, 2048);
    assert_rows(f, "0", "x");
    assert_rows(f, "999", "x");
    assert_bytes(f);
    close_table(f);
}

static void order_of_arrival_is_kept_over_chunks_and_large_rows(void **state)
{
    struct table_fixture *f = open_table(true);
    char large[40000];
    uint64_t number = 0;

    (void)state;
    memset(large, 'x', sizeof(large));
    memcpy(large, "k,", 2);
    for (unsigned i = 0; i < 3000; i++) {
        large[i % 7 == 0 ? 39000 - i : 20] = '\0';
        if (i % 50 == 0)
            add(f, large);
        else
            add_row(f, i % 10, i);
        large[i % 7 == 0 ? 39000 - i : 20] = 'x';
    }
    for (uint32_t ref = f->table.first; ref != REFERENCE_NONE;
         ref = table_following(&f->table, ref))
        assert_int_equal(reference_number(arena_chunks(&f->table.rows), ref), number++);
    assert_int_equal(number, 3000);
    close_table(f);
}

static void the_last_row_of_a_key_replaces_the_one_before(void **state)
{
    struct table_fixture *f = open_table(false);

    (void)state;
    assert_false(replace(f, "k,a"));
    assert_false(replace(f, "j,b"));
    assert_true(replace(f, "k,c"));
    assert_true(replace(f, "k,d"));
    assert_rows(f, "k", "d");
    assert_rows(f, "j", "b");
    assert_int_equal(f->table.rows.records, 2);
    assert_int_equal(f->table.rows.undecided, 2);
    close_table(f);
}

static void rows_that_are_replaced_leave_their_memory(void **state)
{
    struct table_fixture *f = open_table(false);
    char line[64];
    uint64_t bytes;

    (void)state;
    for (unsigned i = 0; i < 1000; i++) {
        snprintf(line, sizeof(line), "%u,%u", i, 0);
        replace(f, line);
    }
    bytes = table_bytes(&f->table);
    for (unsigned i = 0; i < 100000; i++) {
        snprintf(line, sizeof(line), "%u,%u", i * 7 % 1000, i);
        replace(f, line);
    }
    assert_true(table_bytes(&f->table) < 2 * bytes);
    assert_bytes(f);
    close_table(f);
}

static void it_says_when_it_would_take_more_than_there_is_room(void **state)
{
    (void)state;
    for (uint64_t limit = 0; limit < 200000; limit += 1777) {
        struct table_fixture *f = open_table(false);
        char line[64];
        unsigned rows = 0;
        for (;; rows++) {
            uint64_t bytes = table_bytes(&f->table);
            snprintf(line, sizeof(line), "%u,%u", rows, rows);
            if (!add_within(f, line, limit - bytes))
                break;
            assert_true(table_bytes(&f->table) <= limit);
        }
        assert_true(table_bytes(&f->table) <= limit);
        assert_true(limit < 4096 || rows * 150 > limit / 4);
        for (unsigned i = 0; i < rows; i += 13) {
            char id[16];
            snprintf(id, sizeof(id), "%u", i);
            assert_rows(f, id, id);
        }
        close_table(f);
    }
}

static void it_goes_in_bounded_steps(void **state)
{
    struct table_fixture *f = open_table(false);
    unsigned steps = 0;
    int64_t fuel;
    bool gone;

    (void)state;
    for (unsigned i = 0; i < 20000; i++)
        add_row(f, i, i);
    do {
        uint64_t bytes = slab_used(f->pool);
        fuel = 500;
        gone = table_drop_some(&f->table, f->pool, &fuel);
        steps++;
        assert_true(fuel > -100);
        assert_true(bytes - slab_used(f->pool) <= 500000);
    } while (!gone);
    assert_in_range(steps, 20000 / 500, 20000);
    assert_int_equal(table_bytes(&f->table), 0);
    close_table(f);
}

static void it_can_be_closed_in_the_middle_of_that(void **state)
{
    (void)state;
    for (int64_t budget = 1; budget < 30000; budget += 2111) {
        struct table_fixture *f = open_table(false);
        int64_t fuel = budget;
        for (unsigned i = 0; i < 10000; i++)
            add_row(f, i, i);
        table_drop_some(&f->table, f->pool, &fuel);
        close_table(f);
    }
}

/* 12 bytes of header, and what a key costs: performance.md, P4. */
static void a_row_costs_little_more_than_its_bytes(void **state)
{
    struct table_fixture *f = open_table(false);
    uint64_t payload = 0;
    char line[64];

    (void)state;
    for (unsigned i = 0; i < 200000; i++) {
        int n = snprintf(line, sizeof(line), "%09u,%028u", i, i);
        payload += (uint64_t)n + 1;
        add(f, line);
        if (i > 20000 && i % 997 == 0)
            assert_true(table_bytes(&f->table) * 10 < payload * 20);
    }
    close_table(f);
}

/* --- against a model --- */

#define MODEL_KEYS 3000

static void random_tables_are_as_a_list_of_rows_says(void **state)
{
    (void)state;
    for (uint64_t round = 0; round < 20; round++) {
        uint64_t seed = 1000 + round;
        struct table_fixture *f = open_table(dice(&seed, 2) == 0);
        unsigned keys = 1 + dice(&seed, MODEL_KEYS), rows = dice(&seed, 8000);
        struct buf *ids = mem_alloc_zeroed(keys, sizeof(*ids));
        f->hash_bits = dice(&seed, 3) == 0 ? 8 : 32;
        for (unsigned i = 0; i < rows; i++) {
            unsigned key = dice(&seed, keys);
            add_row(f, key, i);
            buf_printf(&ids[key], "%s%u", buf_length(&ids[key]) > 0 ? " " : "", i);
        }
        for (unsigned key = 0; key < keys; key++) {
            char text[16];
            snprintf(text, sizeof(text), "%u", key);
            assert_rows(f, text, buf_text(&ids[key]));
            buf_done(&ids[key]);
        }
        assert_int_equal(f->table.rows.records, rows);
        assert_int_equal(arena_recount(&f->table.rows), rows);
        assert_bytes(f);
        mem_free(ids);
        close_table(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_table_finds_nothing_and_takes_no_memory),
        cmocka_unit_test(all_rows_of_a_key_are_met_in_order_of_arrival),
        cmocka_unit_test(a_null_key_is_nobodys_and_an_empty_one_is_a_key),
        cmocka_unit_test(keys_of_one_hash_are_told_apart),
        cmocka_unit_test(too_many_keys_of_one_hash_are_refused),
        cmocka_unit_test(order_of_arrival_is_kept_over_chunks_and_large_rows),
        cmocka_unit_test(the_last_row_of_a_key_replaces_the_one_before),
        cmocka_unit_test(rows_that_are_replaced_leave_their_memory),
        cmocka_unit_test(it_says_when_it_would_take_more_than_there_is_room),
        cmocka_unit_test(it_goes_in_bounded_steps),
        cmocka_unit_test(it_can_be_closed_in_the_middle_of_that),
        cmocka_unit_test(a_row_costs_little_more_than_its_bytes),
        cmocka_unit_test(random_tables_are_as_a_list_of_rows_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
