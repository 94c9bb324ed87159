#include "unit.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "recount.h"
#include "store/arena.h"

#define ANY_ROOM UINT64_MAX
#define OWN      8 /* bytes before each record, where a test wants some */

/* A record that ought to be there, and a copy of its body elsewhere. */
struct shadow {
    uint32_t ref;
    uint64_t number;
    struct bytes body; /* owned */
    int64_t time;
    bool decided;
};

struct arena_fixture {
    struct slab_pool *pool;
    struct arena arena;
    struct shadow *shadows; /* owned */
    size_t count, capacity;
    uint64_t bytes; /* of the shadows' records */
    uint64_t next_number;
    uint64_t seed;
};

static struct arena_fixture *open_arena(uint32_t prefix)
{
    struct arena_fixture *f = mem_alloc_zeroed(1, sizeof(*f));

    f->pool = slab_pool_new();
    f->seed = 1;
    arena_init(&f->arena, prefix);
    return f;
}

static void close_arena(struct arena_fixture *f)
{
    arena_done(&f->arena, f->pool);
    assert_int_equal(slab_used(f->pool), 0);
    slab_pool_free(f->pool);
    for (size_t i = 0; i < f->count; i++)
        mem_free((char *)f->shadows[i].body.p);
    mem_free(f->shadows);
    mem_free(f);
}

static uint32_t dice(struct arena_fixture *f, uint32_t sides)
{
    return (uint32_t)(hash_number(f->seed++) >> 32) % sides;
}

static struct shadow *shadow_add(struct arena_fixture *f)
{
    if (f->count == f->capacity) {
        f->capacity = f->capacity == 0 ? 16 : 2 * f->capacity;
        f->shadows = mem_realloc(f->shadows, f->capacity * sizeof(*f->shadows));
    }
    return &f->shadows[f->count++];
}

static struct record_parts parts_of(struct bytes body, int64_t time)
{
    return (struct record_parts){
        .hash = (uint32_t)time,
        .body = body,
        .key = {body.p, body.n > 3 ? 3 : body.n},
        .flags = RECORD_TIMED,
        .time = time,
    };
}

static bool add_within(struct arena_fixture *f, size_t size, uint64_t room)
{
    uint64_t number = f->next_number;
    char *body = mem_alloc(size);
    struct record_parts parts;
    uint32_t ref;

    for (size_t i = 0; i < size; i++)
        body[i] = (char)('a' + (number * 7 + i) % 26);
    parts = parts_of((struct bytes){body, size}, (int64_t)number * 3);
    if (!arena_add(&f->arena, f->pool, &parts, number, room, &ref)) {
        mem_free(body);
        return false;
    }
    memset(arena_prefix(&f->arena, ref), (int)(number & 0x7f), f->arena.prefix);
    *shadow_add(f) = (struct shadow){ref, number, parts.body, parts.time, false};
    f->bytes += f->arena.prefix + record_size(&parts);
    f->next_number++;
    return true;
}

static void add(struct arena_fixture *f, size_t size)
{
    assert_true(add_within(f, size, ANY_ROOM));
}

static void assert_intact(const struct arena_fixture *f, const struct shadow *s)
{
    const struct record *r = arena_record(&f->arena, s->ref);
    const char *own = arena_prefix(&f->arena, s->ref);

    assert_int_equal(reference_number(arena_chunks(&f->arena), s->ref), s->number);
    assert_int_equal(record_time(r), s->time);
    assert_int_equal(r->hash, (uint32_t)s->time);
    assert_true(bytes_equal(record_body(r), s->body));
    assert_int_equal(record_has(r, RECORD_DECIDED), s->decided);
    for (uint32_t i = 0; i < f->arena.prefix; i++)
        assert_int_equal(own[i], s->number & 0x7f);
}

static void decide(struct arena_fixture *f, struct shadow *s)
{
    if (s->decided)
        return;
    arena_record(&f->arena, s->ref)->size_flags |= RECORD_DECIDED;
    f->arena.undecided--;
    s->decided = true;
}

/* Keeps the others in order. */
static void drop(struct arena_fixture *f, size_t i)
{
    struct shadow *s = &f->shadows[i];

    assert_intact(f, s);
    decide(f, s);
    f->bytes -= f->arena.prefix + record_stride(arena_record(&f->arena, s->ref));
    arena_free(&f->arena, f->pool, s->ref);
    mem_free((char *)s->body.p);
    memmove(s, s + 1, (--f->count - i) * sizeof(*s));
}

/* All of it, counted anew. */
static void assert_sound(const struct arena_fixture *f)
{
    const struct arena *a = &f->arena;
    uint64_t undecided = 0, walked = 0;

    for (size_t i = 0; i < f->count; i++) {
        assert_intact(f, &f->shadows[i]);
        undecided += !f->shadows[i].decided;
    }
    for (uint32_t ref = arena_next(a, REFERENCE_NONE); ref != REFERENCE_NONE;
         ref = arena_next(a, ref))
        walked++;
    assert_int_equal(walked, f->count);
    assert_int_equal(a->records, f->count);
    assert_int_equal(a->undecided, undecided);
    assert_int_equal(arena_recount(a), undecided);
    assert_int_equal(a->live_bytes, f->bytes);
    assert_int_equal(a->chunk_bytes, slab_used(f->pool));
    assert_int_equal(arena_bytes(a), slab_used(f->pool) + a->chunks.capacity * sizeof(void *));
}

/* --- */

static void an_empty_arena_takes_nothing(void **state)
{
    struct arena_fixture *f = open_arena(0);

    (void)state;
    assert_int_equal(arena_bytes(&f->arena), 0);
    assert_int_equal(arena_next(&f->arena, REFERENCE_NONE), REFERENCE_NONE);
    add(f, 40);
    assert_in_range(arena_bytes(&f->arena), 1, 512);
    drop(f, 0);
    assert_int_equal(arena_bytes(&f->arena), 0);
    assert_sound(f);
    close_arena(f);
}

static void records_lie_as_they_were_given(void **state)
{
    static const size_t sizes[] = {0, 1, 3, 40, 250, 511, 512, 9000, 16250, 16383, 16384, 100000};

    (void)state;
    for (uint32_t own = 0; own <= OWN; own += OWN) {
        struct arena_fixture *f = open_arena(own);
        for (size_t i = 0; i < COUNT_OF(sizes); i++) {
            add(f, sizes[i]);
            add(f, 10);
            assert_sound(f);
        }
        while (f->count > 0) {
            drop(f, f->count / 2);
            assert_sound(f);
        }
        assert_int_equal(arena_bytes(&f->arena), 0);
        close_arena(f);
    }
}

static void records_that_leave_as_they_came_are_never_in_more_than_they_need(void **state)
{
    struct arena_fixture *f = open_arena(0);

    (void)state;
    for (int i = 0; i < 30000; i++) {
        add(f, 30 + dice(f, 60));
        if (f->count > 3000)
            drop(f, 0);
        if (f->count > 1000)
            assert_true(arena_bytes(&f->arena) < f->bytes * 5 / 4);
    }
    assert_sound(f);
    close_arena(f);
}

/* Each leaves at random: chunks never become empty by themselves. */
static void random_lives_do_not_spread_records_over_ever_more_chunks(void **state)
{
    struct arena_fixture *f = open_arena(OWN);
    uint64_t worst = 0;

    (void)state;
    for (int i = 0; i < 30000; i++) {
        add(f, 20 + dice(f, 100));
        if (f->count > 1500)
            drop(f, dice(f, (uint32_t)f->count));
        if (i > 10000 && arena_bytes(&f->arena) * 100 / f->bytes > worst)
            worst = arena_bytes(&f->arena) * 100 / f->bytes;
    }
    assert_sound(f);
    assert_in_range(worst, 100, 160);
    close_arena(f);
}

static void sizes_may_change_over_time(void **state)
{
    struct arena_fixture *f = open_arena(0);

    (void)state;
    for (int i = 0; i < 20000; i++) {
        size_t size = (size_t)(i / 5000 % 2 == 0 ? 30 : 300);
        add(f, size + dice(f, 20));
        while (f->bytes > 300000)
            drop(f, dice(f, (uint32_t)f->count));
        assert_true(arena_bytes(&f->arena) < 660000);
    }
    assert_sound(f);
    close_arena(f);
}

/* One of a chunk stays for ever, chunk after chunk: its other places are filled anew. */
static void survivors_do_not_hold_whole_chunks(void **state)
{
    struct arena_fixture *f = open_arena(0);

    (void)state;
    for (int i = 0; i < 50000; i++) {
        add(f, 50);
        if (f->count > 500 + (size_t)i / 100)
            drop(f, (size_t)i / 100);
    }
    assert_sound(f);
    assert_int_equal(f->count, 1000 - 1);
    assert_true(arena_bytes(&f->arena) < 2 * f->bytes);
    close_arena(f);
}

/* A peak leaves one record in each chunk: what comes then goes beside them. */
static void after_a_peak_its_chunks_are_filled_anew(void **state)
{
    struct arena_fixture *f = open_arena(0);
    uint64_t bottom;

    (void)state;
    for (int i = 0; i < 40000; i++)
        add(f, 60);
    for (size_t i = f->count; i-- > 0;)
        if (i % 200 != 0)
            drop(f, i);
    assert_sound(f);
    bottom = arena_bytes(&f->arena);
    assert_true(bottom > 20 * f->bytes);
    while (f->bytes * 10 < bottom * 7)
        add(f, 60);
    assert_true(arena_bytes(&f->arena) < bottom * 101 / 100);
    assert_sound(f);
    close_arena(f);
}

static void a_refused_record_changes_nothing(void **state)
{
    struct arena_fixture *f = open_arena(OWN);

    (void)state;
    for (int i = 0; i < 2000; i++) {
        uint64_t bytes = arena_bytes(&f->arena), room = dice(f, 3000);
        size_t count = f->count;
        if (!add_within(f, 20 + dice(f, 200), room)) {
            assert_int_equal(arena_bytes(&f->arena), bytes);
            assert_int_equal(f->count, count);
        }
        assert_true(arena_bytes(&f->arena) <= bytes + room);
        if (dice(f, 3) == 0 && f->count > 0)
            drop(f, dice(f, (uint32_t)f->count));
    }
    assert_true(f->count > 100);
    assert_sound(f);
    close_arena(f);
}

static void without_room_free_places_are_used(void **state)
{
    struct arena_fixture *f = open_arena(0);

    (void)state;
    for (int i = 0; i < 3000; i++)
        add(f, 60);
    while (add_within(f, 60, 0))
        ;
    for (size_t i = 0; i < f->count; i += 20) /* far less than a quarter */
        drop(f, i);
    for (int i = 0; i < 20; i++)
        assert_true(add_within(f, 60, 0));
    assert_sound(f);
    close_arena(f);
}

/* Not all chunks are asked at a time; but each call goes on where the last one stopped. */
static void the_one_free_place_is_found_sooner_or_later(void **state)
{
    struct arena_fixture *f = open_arena(0);
    uint64_t bytes;
    int looks;

    (void)state;
    while (f->arena.chunks.count < 100)
        add(f, 60);
    while (add_within(f, 60, 0))
        ;
    bytes = f->arena.chunk_bytes;
    for (size_t i = 0; i < f->count; i += f->count / 50) {
        drop(f, i);
        for (looks = 1; looks < 10 && !add_within(f, 60, 0); looks++)
            ;
        assert_in_range(looks, 1, 9);
    }
    assert_int_equal(f->arena.chunk_bytes, bytes);
    assert_sound(f);
    close_arena(f);
}

/* Numbers in a chunk are counted by 32 bits from its first. */
static void places_are_not_reused_for_numbers_that_are_too_far_away(void **state)
{
    struct arena_fixture *f = open_arena(0);

    (void)state;
    for (int i = 0; i < 3000; i++)
        add(f, 60);
    for (size_t i = 0; i < f->count; i++)
        drop(f, i);
    f->next_number += UINT32_MAX;
    for (int i = 0; i < 3000; i++)
        add(f, 60);
    assert_sound(f);
    f->next_number += UINT64_C(1) << 40;
    add(f, 60);
    assert_sound(f);
    close_arena(f);
}

static void the_last_record_gives_its_place_to_the_next(void **state)
{
    struct arena_fixture *f = open_arena(0);
    uint32_t ref;

    (void)state;
    add(f, 40);
    add(f, 40);
    ref = f->shadows[1].ref;
    for (int i = 0; i < 1000; i++) {
        drop(f, 1);
        add(f, 40);
        assert_int_equal(f->shadows[1].ref, ref);
    }
    assert_sound(f);
    close_arena(f);
}

static size_t any_size(struct arena_fixture *f)
{
    switch (dice(f, 20)) {
    case 0:
        return dice(f, 40000);
    case 1:
    case 2:
        return dice(f, 4000);
    default:
        return dice(f, 120);
    }
}

static void anything_may_happen_in_any_order(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct arena_fixture *f = open_arena(seed % 2 == 0 ? OWN : 0);
        f->seed = seed << 32;
        for (int phase = 0; phase < 12; phase++) {
            uint32_t adds = dice(f, 100);
            for (int i = 0; i < 400; i++) {
                if (dice(f, 100) < adds || f->count == 0)
                    add(f, any_size(f));
                else
                    drop(f, dice(f, 4) == 0 ? 0 : dice(f, (uint32_t)f->count));
                if (f->count > 0 && dice(f, 3) == 0)
                    decide(f, &f->shadows[dice(f, (uint32_t)f->count)]);
                f->next_number += dice(f, 3);
            }
            assert_sound(f);
        }
        while (f->count > 0)
            drop(f, dice(f, (uint32_t)f->count));
        assert_int_equal(arena_bytes(&f->arena), 0);
        close_arena(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_arena_takes_nothing),
        cmocka_unit_test(records_lie_as_they_were_given),
        cmocka_unit_test(records_that_leave_as_they_came_are_never_in_more_than_they_need),
        cmocka_unit_test(random_lives_do_not_spread_records_over_ever_more_chunks),
        cmocka_unit_test(sizes_may_change_over_time),
        cmocka_unit_test(survivors_do_not_hold_whole_chunks),
        cmocka_unit_test(after_a_peak_its_chunks_are_filled_anew),
        cmocka_unit_test(a_refused_record_changes_nothing),
        cmocka_unit_test(without_room_free_places_are_used),
        cmocka_unit_test(the_one_free_place_is_found_sooner_or_later),
        cmocka_unit_test(places_are_not_reused_for_numbers_that_are_too_far_away),
        cmocka_unit_test(the_last_record_gives_its_place_to_the_next),
        cmocka_unit_test(anything_may_happen_in_any_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
