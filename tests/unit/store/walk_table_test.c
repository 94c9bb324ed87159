#include "join_fixture.h"
#include "store/walk_table.h"

#define ANY_ROOM UINT64_MAX

struct table_fixture {
    struct slab_pool *pool;
    struct window_log logs[SIDES];
    struct log_chunk *const *chunks[SIDES];
    uint64_t numbers[SIDES];
    struct walk_table table;
};

static struct table_fixture open_table(void)
{
    struct table_fixture f = {.pool = slab_pool_new()};

    for (int s = 0; s < SIDES; s++)
        window_log_init(&f.logs[s], 0);
    walk_table_begin(&f.table);
    return f;
}

static void close_table(struct table_fixture *f)
{
    walk_table_done(&f->table);
    assert_int_equal(walk_table_bytes(&f->table), 0);
    for (int s = 0; s < SIDES; s++)
        window_log_done(&f->logs[s], f->pool);
    slab_pool_free(f->pool);
}

/* Appended, with a NULL key if `key` is NULL; returns where. */
static uint32_t put(struct table_fixture *f, enum side side, const char *key, uint32_t hash)
{
    struct record_parts parts = {.hash = hash, .body = bytes_of(key), .key = bytes_of(key)};
    parts.flags = key == NULL ? RECORD_NULL_KEY : 0;
    struct log_part *p = &f->logs[side].parts[0];
    uint32_t chunks = p->count, used = p->used;

    assert_true(window_log_append(&f->logs[side], f->pool, &parts, f->numbers[side]++, ANY_ROOM));
    f->chunks[side] = p->chunks;
    return reference_make(p->count - 1, p->count == chunks ? used : 0);
}

/* As a walk would; returns the entry. */
static uint32_t chain(struct table_fixture *f, enum side side, const char *key, uint32_t hash)
{
    uint32_t ref = put(f, side, key, hash), slot;
    struct record *r = reference_record(f->chunks[side], ref);

    slot = walk_table_slot(&f->table, hash, record_key(r));
    if (f->table.slots[slot] == 0)
        walk_table_add(&f->table, slot, side, r, ref);
    else
        walk_entry_chain(&f->table.entries[f->table.slots[slot]], side, r, ref);
    return f->table.slots[walk_table_slot(&f->table, hash, record_key(r))];
}

static void records_of_a_key_are_chained_in_order(void **state)
{
    struct table_fixture f = open_table();
    uint32_t k = chain(&f, SIDE_LEFT, "k", 7), at;

    (void)state;
    assert_int_not_equal(k, WALK_NULL_KEY);
    assert_int_equal(chain(&f, SIDE_LEFT, "k", 7), k);
    assert_int_equal(chain(&f, SIDE_RIGHT, "k", 7), k);
    assert_int_not_equal(chain(&f, SIDE_LEFT, "m", 7), k); /* of the same hash */
    assert_int_equal(chain(&f, SIDE_LEFT, "k", 7), k);
    assert_int_equal(f.table.entries[k].hash, 7);
    at = walk_entry_open(&f.table.entries[k], SIDE_LEFT);
    for (uint64_t n = 0; n < 4; n += n == 1 ? 2 : 1) {
        assert_int_equal(reference_number(f.chunks[SIDE_LEFT], at), n);
        at = reference_record(f.chunks[SIDE_LEFT], at)->hash;
    }
    assert_int_equal(at, REFERENCE_NONE);
    at = walk_entry_open(&f.table.entries[k], SIDE_RIGHT); /* one record is a chain, too */
    assert_int_equal(reference_number(f.chunks[SIDE_RIGHT], at), 0);
    assert_int_equal(reference_record(f.chunks[SIDE_RIGHT], at)->hash, REFERENCE_NONE);
    assert_int_equal(walk_entry_open(&f.table.entries[WALK_NULL_KEY], SIDE_LEFT), REFERENCE_NONE);
    close_table(&f);
}

static void a_lone_null_key_is_never_found(void **state)
{
    struct table_fixture f = open_table();
    uint32_t ref = put(&f, SIDE_LEFT, NULL, 9), entry, lone;
    char key[16];

    (void)state;
    walk_table_add_lone(&f.table, SIDE_LEFT, reference_record(f.chunks[SIDE_LEFT], ref), ref);
    lone = f.table.count - 1;
    assert_int_equal(f.table.entries[lone].hash, 9);
    for (int i = 0; i < 500; i++) { /* nor when the table has grown */
        snprintf(key, sizeof(key), "%d", i);
        chain(&f, SIDE_RIGHT, key, (uint32_t)i);
    }
    entry = chain(&f, SIDE_RIGHT, "", 9);
    assert_int_not_equal(entry, lone);
    assert_null(f.table.entries[entry].tail[SIDE_LEFT]);
    assert_int_equal(walk_entry_open(&f.table.entries[lone], SIDE_LEFT), ref);
    close_table(&f);
}

static void a_table_grows_and_is_used_again(void **state)
{
    struct table_fixture f = open_table();
    uint64_t bytes;
    char key[16];

    (void)state;
    for (int round = 0; round < 3; round++) {
        for (int n = 0; n < 2; n++)
            for (int i = 0; i < 3000; i++) {
                snprintf(key, sizeof(key), "%d", i);
                assert_int_equal(chain(&f, (enum side)n, key, (uint32_t)hash_number((uint64_t)i)),
                                 i + 1);
            }
        if (round > 0)
            assert_int_equal(walk_table_bytes(&f.table), bytes);
        bytes = walk_table_bytes(&f.table);
        walk_table_begin(&f.table);
        assert_int_equal(f.table.count, 1);
    }
    close_table(&f);
}

static void entries_of_one_record_a_side_are_told_from_others(void **state)
{
    static const struct {
        const char *lefts, *rights; /* a record for each letter */
        bool pair, alone;
        enum side side;
    } rows[] = {
        {"", "", false, false, SIDE_RIGHT},    {"k", "", false, true, SIDE_LEFT},
        {"", "k", false, true, SIDE_RIGHT},    {"k", "k", true, false, SIDE_LEFT},
        {"kk", "", false, false, SIDE_LEFT},   {"", "kk", false, false, SIDE_RIGHT},
        {"kk", "k", false, false, SIDE_LEFT},  {"k", "kk", false, false, SIDE_LEFT},
        {"kk", "kk", false, false, SIDE_LEFT},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct table_fixture f = open_table();
        uint32_t entry = WALK_NULL_KEY;
        enum side side;
        for (const char *k = rows[i].lefts; *k != '\0'; k++)
            entry = chain(&f, SIDE_LEFT, "k", 7);
        for (const char *k = rows[i].rights; *k != '\0'; k++)
            entry = chain(&f, SIDE_RIGHT, "k", 7);
        assert_int_equal(walk_entry_is_pair(&f.table.entries[entry]), rows[i].pair);
        assert_int_equal(walk_entry_is_alone(&f.table.entries[entry], &side), rows[i].alone);
        if (rows[i].alone)
            assert_int_equal(side, rows[i].side);
        close_table(&f);
    }
}

static void memory_is_told_of_when_it_is_touched_first(void **state)
{
    struct table_fixture f = open_table();
    uint64_t pages = walk_table_new_pages(&f.table), used;
    char key[16];

    (void)state;
    assert_int_equal(pages, 0); /* not a whole one yet */
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 5000; i++) {
            snprintf(key, sizeof(key), "%d", i);
            chain(&f, SIDE_LEFT, key, (uint32_t)hash_number((uint64_t)i));
            pages += walk_table_new_pages(&f.table);
        }
        used = f.table.count * sizeof(struct walk_entry) + f.table.slot_capacity * sizeof(uint32_t);
        assert_int_equal(pages, used / WALK_PAGE); /* once */
        walk_table_begin(&f.table);
    }
    close_table(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_of_a_key_are_chained_in_order),
        cmocka_unit_test(a_lone_null_key_is_never_found),
        cmocka_unit_test(a_table_grows_and_is_used_again),
        cmocka_unit_test(entries_of_one_record_a_side_are_told_from_others),
        cmocka_unit_test(memory_is_told_of_when_it_is_touched_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
