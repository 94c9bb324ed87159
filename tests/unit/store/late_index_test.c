#include "join_fixture.h"
#include "store/late_index.h"

#define ANY_ROOM UINT64_MAX
#define ALL_FUEL (INT64_C(1) << 40)

struct index_fixture {
    struct slab_pool *pool;
    struct window_log logs[SIDES];
    struct late_index *index;
    uint64_t records;
};

static struct index_fixture *open_index(unsigned bits)
{
    struct index_fixture *f = mem_alloc_zeroed(1, sizeof(*f));

    f->pool = slab_pool_new();
    for (int side = 0; side < SIDES; side++)
        window_log_init(&f->logs[side], bits);
    f->index = late_index_new(f->logs, f->pool);
    return f;
}

static void close_index(struct index_fixture *f)
{
    late_index_free(f->index);
    for (int side = 0; side < SIDES; side++)
        window_log_done(&f->logs[side], f->pool);
    assert_int_equal(slab_used(f->pool), 0);
    slab_pool_free(f->pool);
    mem_free(f);
}

/* Hashes are few, so that keys collide. */
static uint32_t hash_of(int key)
{
    return (uint32_t)(hash_number((uint64_t)(key / 2)) >> 32);
}

static struct bytes key_text(int key, char text[16])
{
    return (struct bytes){text, (size_t)snprintf(text, 16, "key%d", key)};
}

/* Key 0: NULL. */
static void put(struct index_fixture *f, int key)
{
    char text[16];
    struct record_parts parts = {.hash = hash_of(key), .key = key_text(key, text)};

    parts.body = parts.key;
    if (key == 0) {
        parts.key = BYTES_NULL;
        parts.flags = RECORD_NULL_KEY;
    }
    assert_true(window_log_append(&f->logs[SIDE_RIGHT], f->pool, &parts, f->records++, ANY_ROOM));
}

static void catch_up(struct index_fixture *f, int key)
{
    int64_t fuel = ALL_FUEL;
    assert_true(late_index_catch_up(f->index, SIDE_RIGHT, hash_of(key), &fuel));
}

/* How many there are of it; they come in order of arrival, and are its own. */
static size_t count_of(struct index_fixture *f, int key)
{
    const struct window_log *l = &f->logs[SIDE_RIGHT];
    const struct late_side *s = &f->index->side[SIDE_RIGHT];
    struct log_chunk *const *chunks = l->parts[log_part_of(hash_of(key), l->bits)].chunks;
    uint64_t last = 0;
    size_t count = 0;
    char text[16];

    for (uint32_t e = late_index_find(f->index, SIDE_RIGHT, hash_of(key), key_text(key, text));
         e != LATE_NONE; e = late_index_entry(s, e)->next, count++) {
        uint32_t ref = late_index_entry(s, e)->reference;
        uint64_t number = reference_number(chunks, ref);
        assert_true(count == 0 || number > last);
        assert_true(bytes_equal(record_key(reference_record(chunks, ref)), key_text(key, text)));
        last = number;
    }
    return count;
}

/* Chunks and pages are the pool's, as the log's chunks; beside them there are directories. */
static uint64_t bytes_by_hand(const struct index_fixture *f)
{
    uint64_t bytes = sizeof(*f->index) + slab_used(f->pool);

    for (int i = 0; i < SIDES; i++) {
        const struct late_side *s = &f->index->side[i];
        for (uint32_t p = 0; p < 1u << s->log->bits; p++)
            bytes -= s->log->parts[p].bytes;
        bytes += (sizeof(*s->places) << s->log->bits) + s->entries.capacity * sizeof(void *) +
                 s->keys.buckets.capacity * sizeof(void *) + slots_bytes(&s->keys.entries.slots);
    }
    return bytes;
}

static void all_records_of_a_key_are_found_in_order(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits <= 8; bits += 4) {
        struct index_fixture *f = open_index(bits);
        size_t counts[200] = {0};
        uint64_t seed = bits;
        for (int i = 0; i < 5000; i++) {
            int key = (int)dice(&seed, 200);
            put(f, key);
            counts[key]++;
            if (i % 500 == 499) /* appended to, and caught up with, again and again */
                for (int k = 1; k < 200; k++) {
                    catch_up(f, k);
                    assert_int_equal(count_of(f, k), counts[k]);
                }
        }
        assert_int_equal(late_index_bytes(f->index), bytes_by_hand(f));
        close_index(f);
    }
}

static void a_key_that_is_not_there_is_not_found(void **state)
{
    struct index_fixture *f = open_index(0);

    (void)state;
    put(f, 2);
    put(f, 0);
    catch_up(f, 2);
    assert_int_equal(count_of(f, 2), 1);
    assert_int_equal(count_of(f, 3), 0); /* of the same hash */
    assert_int_equal(count_of(f, 8), 0);
    assert_int_equal(f->index->side[SIDE_RIGHT].keys.count, 1); /* a NULL key is none */
    close_index(f);
}

static void only_what_is_asked_for_is_indexed(void **state)
{
    struct index_fixture *f = open_index(8);

    (void)state;
    for (int i = 1; i < 2000; i++)
        put(f, i);
    catch_up(f, 5);
    for (int i = 1; i < 2000; i++)
        if (hash_of(i) >> 24 != hash_of(5) >> 24)
            assert_int_equal(count_of(f, i), 0);
    assert_int_equal(count_of(f, 5), 1);
    assert_int_equal(f->index->side[SIDE_LEFT].count, 0);
    close_index(f);
}

static void it_is_made_little_by_little(void **state)
{
    struct index_fixture *f = open_index(0);
    int pulls = 0;

    (void)state;
    for (int i = 0; i < 1000; i++)
        put(f, 1 + i % 7);
    for (bool done = false; !done; pulls++) {
        int64_t fuel = 60;
        done = late_index_catch_up(f->index, SIDE_RIGHT, 0, &fuel);
        assert_true(fuel > -60);
    }
    assert_true(pulls >= 50);
    for (int key = 1; key <= 7; key++)
        assert_in_range(count_of(f, key), 142, 143);
    close_index(f);
}

static void none_costs_nothing(void **state)
{
    (void)state;
    late_index_free(NULL);
    assert_int_equal(late_index_bytes(NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_records_of_a_key_are_found_in_order),
        cmocka_unit_test(a_key_that_is_not_there_is_not_found),
        cmocka_unit_test(only_what_is_asked_for_is_indexed),
        cmocka_unit_test(it_is_made_little_by_little),
        cmocka_unit_test(none_costs_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
