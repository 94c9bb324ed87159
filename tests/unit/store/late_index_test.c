#include "join_fixture.h"
#include "store/late_index.h"

#define ANY_ROOM UINT64_MAX
#define ALL_FUEL (INT64_C(1) << 40)

struct index_fixture {
    struct slab_pool *pool;
    struct window_log log;
    struct late_index *index;
    uint64_t records;
};

static struct index_fixture open_index(unsigned bits)
{
    struct index_fixture f = {.pool = slab_pool_new(), .index = late_index_new(bits)};

    window_log_init(&f.log, bits);
    return f;
}

static void close_index(struct index_fixture *f)
{
    late_index_free(f->index);
    window_log_done(&f->log, f->pool);
    slab_pool_free(f->pool);
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
    assert_true(window_log_append(&f->log, f->pool, &parts, f->records++, ANY_ROOM));
}

static uint32_t part_of(const struct index_fixture *f, int key)
{
    return log_part_of(hash_of(key), f->log.bits);
}

static void catch_up(struct index_fixture *f, int key)
{
    int64_t fuel = ALL_FUEL;
    assert_true(late_index_catch_up(f->index, SIDE_RIGHT, &f->log, part_of(f, key), &fuel));
}

/* How many there are of it; they come in order of arrival, and are its own. */
static size_t count_of(struct index_fixture *f, int key)
{
    uint32_t part = part_of(f, key);
    const struct late_part *p = late_index_part(f->index, SIDE_RIGHT, part);
    struct log_chunk *const *chunks = f->log.parts[part].chunks;
    uint64_t last = 0;
    size_t count = 0;
    char text[16];

    for (uint32_t e = late_index_find(p, &f->log, part, hash_of(key), key_text(key, text));
         e != LATE_NONE; e = p->entries[e].next, count++) {
        uint64_t number = reference_number(chunks, p->entries[e].reference);
        assert_true(count == 0 || number > last);
        assert_true(bytes_equal(record_key(reference_record(chunks, p->entries[e].reference)),
                                key_text(key, text)));
        last = number;
    }
    return count;
}

static uint64_t bytes_by_hand(const struct late_index *x)
{
    uint64_t bytes = sizeof(*x);

    for (uint32_t i = 0; i < (uint32_t)SIDES << x->bits; i++) {
        bytes += sizeof(x->parts[i]) + x->parts[i].capacity * sizeof(struct late_entry);
        if (x->parts[i].slots != NULL)
            bytes += (x->parts[i].slot_mask + 1) * sizeof(struct late_slot);
    }
    return bytes;
}

static void all_records_of_a_key_are_found_in_order(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits <= 8; bits += 4) {
        struct index_fixture f = open_index(bits);
        size_t counts[200] = {0};
        uint64_t seed = bits;
        for (int i = 0; i < 5000; i++) {
            int key = (int)dice(&seed, 200);
            put(&f, key);
            counts[key]++;
            if (i % 500 == 499) /* appended to, and caught up with, again and again */
                for (int k = 1; k < 200; k++) {
                    catch_up(&f, k);
                    assert_int_equal(count_of(&f, k), counts[k]);
                }
        }
        assert_int_equal(late_index_bytes(f.index), bytes_by_hand(f.index));
        close_index(&f);
    }
}

static void a_key_that_is_not_there_is_not_found(void **state)
{
    struct index_fixture f = open_index(0);

    (void)state;
    put(&f, 2);
    put(&f, 0);
    catch_up(&f, 2);
    assert_int_equal(count_of(&f, 2), 1);
    assert_int_equal(count_of(&f, 3), 0); /* of the same hash */
    assert_int_equal(count_of(&f, 8), 0);
    assert_int_equal(late_index_part(f.index, SIDE_RIGHT, 0)->keys, 1); /* a NULL key is none */
    close_index(&f);
}

static void only_what_is_asked_for_is_indexed(void **state)
{
    struct index_fixture f = open_index(8);

    (void)state;
    for (int i = 1; i < 2000; i++)
        put(&f, i);
    catch_up(&f, 5);
    for (uint32_t i = 0; i < 256; i++)
        assert_true((late_index_part(f.index, SIDE_RIGHT, i)->count > 0) == (i == part_of(&f, 5)));
    assert_int_equal(late_index_part(f.index, SIDE_LEFT, part_of(&f, 5))->count, 0);
    close_index(&f);
}

static void it_is_made_little_by_little(void **state)
{
    struct index_fixture f = open_index(0);
    int pulls = 0;

    (void)state;
    for (int i = 0; i < 1000; i++)
        put(&f, 1 + i % 7);
    for (bool done = false; !done; pulls++) {
        int64_t fuel = 60;
        done = late_index_catch_up(f.index, SIDE_RIGHT, &f.log, 0, &fuel);
        assert_true(fuel > -60);
    }
    assert_true(pulls >= 50);
    for (int key = 1; key <= 7; key++)
        assert_in_range(count_of(&f, key), 142, 143);
    close_index(&f);
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
