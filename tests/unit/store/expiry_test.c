#include "unit.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "store/expiry.h"

#define REACH 100

struct waiting {
    int64_t instant;
    uint64_t number;
    uint32_t ref;
};

struct expiry_fixture {
    struct slab_pool *pool;
    struct arena arena;
    struct expiry expiry;
    struct waiting *model; /* owned */
    size_t count;
    uint64_t number;
    uint64_t seed;
    char text[2 * SLAB_CHUNK_MAX]; /* of bodies, */
    size_t body_size;              /* as much of it */
};

static struct expiry_fixture *open_expiry(int64_t reach)
{
    struct expiry_fixture *f = mem_alloc_zeroed(1, sizeof(*f));

    f->pool = slab_pool_new();
    f->seed = 1;
    f->body_size = 3;
    memset(f->text, 'k', sizeof(f->text));
    f->model = mem_alloc(100000 * sizeof(*f->model));
    arena_init(&f->arena, 0);
    expiry_init(&f->expiry, &f->arena, reach);
    return f;
}

static void close_expiry(struct expiry_fixture *f)
{
    expiry_done(&f->expiry, f->pool);
    arena_done(&f->arena, f->pool);
    assert_int_equal(slab_used(f->pool), 0);
    slab_pool_free(f->pool);
    mem_free(f->model);
    mem_free(f);
}

static uint32_t dice(struct expiry_fixture *f, uint32_t sides)
{
    return (uint32_t)(hash_number(f->seed++) >> 32) % sides;
}

/* In the arena alone. */
static uint32_t store(struct expiry_fixture *f, int64_t t)
{
    struct record_parts parts = {.body = {f->text, f->body_size}, .flags = RECORD_TIMED, .time = t};
    uint32_t ref;

    parts.key = (struct bytes){f->text, 1};
    assert_true(arena_add(&f->arena, f->pool, &parts, f->number++, UINT64_MAX, &ref));
    return ref;
}

static void add(struct expiry_fixture *f, int64_t t)
{
    struct waiting *w = &f->model[f->count++];
    uint64_t most;

    w->number = f->number;
    w->ref = store(f, t);
    w->instant = expiry_instant(&f->expiry, t);
    most = expiry_bytes(&f->expiry) + expiry_growth(&f->expiry);
    expiry_add(&f->expiry, f->pool, w->ref);
    assert_true(expiry_bytes(&f->expiry) <= most);
}

static int compare(const void *a, const void *b)
{
    const struct waiting *l = a, *r = b;

    if (l->instant != r->instant)
        return l->instant < r->instant ? -1 : 1;
    return l->number < r->number ? -1 : l->number > r->number;
}

static void assert_first(const struct expiry_fixture *f, const struct waiting *w)
{
    const struct due *first = expiry_first(&f->expiry);

    assert_non_null(first);
    assert_int_equal(first->instant, w->instant);
    assert_int_equal(reference_number(arena_chunks(&f->arena), first->ref), w->number);
    assert_int_equal(first->ref, w->ref);
    assert_false(expiry_is_due(&f->expiry, w->instant - 1));
    assert_true(expiry_is_due(&f->expiry, w->instant));
}

/* The first `n` of the model leave, in its order. */
static void leave(struct expiry_fixture *f, size_t n)
{
    qsort(f->model, f->count, sizeof(*f->model), compare);
    for (size_t i = 0; i < n; i++) {
        assert_first(f, &f->model[i]);
        expiry_pop(&f->expiry, f->pool);
        arena_record(&f->arena, f->model[i].ref)->size_flags |= RECORD_DECIDED;
        f->arena.undecided--;
        arena_free(&f->arena, f->pool, f->model[i].ref);
    }
    f->count -= n;
    memmove(f->model, f->model + n, f->count * sizeof(*f->model));
    assert_int_equal(expiry_bytes(&f->expiry), slab_used(f->pool) - f->arena.chunk_bytes +
                                                   f->expiry.heap.items.capacity * sizeof(void *));
}

/* Who is told of all: in order of the numbers that he hears, records came in that order. */
struct told {
    struct told_one {
        uint64_t number, heard;
    } * at; /* owned */
    size_t count;
    const struct expiry_fixture *f;
};

static void hear(void *self, const struct held_record *h)
{
    struct told *t = self;

    assert_true(t->count < t->f->count);
    t->at[t->count++].heard = h->number;
    for (size_t i = 0; i < t->f->count; i++) {
        const struct waiting *w = &t->f->model[i];
        if (arena_record(&t->f->arena, w->ref) != h->record)
            continue;
        assert_int_equal(h->time, w->instant - t->f->expiry.reach);
        t->at[t->count - 1].number = w->number;
        return;
    }
    fail_msg("nobody waits there");
}

static int by_heard(const void *a, const void *b)
{
    const struct told_one *l = a, *r = b;

    return l->heard < r->heard ? -1 : l->heard > r->heard;
}

static void assert_listed(const struct expiry_fixture *f)
{
    struct told told = {.at = mem_alloc((f->count + 1) * sizeof(*told.at)), .f = f};

    expiry_list(&f->expiry, &(struct held_listener){hear, &told});
    assert_int_equal(told.count, f->count);
    qsort(told.at, told.count, sizeof(*told.at), by_heard);
    for (size_t i = 1; i < told.count; i++)
        assert_true(told.at[i - 1].number < told.at[i].number);
    mem_free(told.at);
}

static void assert_empty(struct expiry_fixture *f)
{
    assert_null(expiry_first(&f->expiry));
    assert_false(expiry_is_due(&f->expiry, INT64_MAX));
    assert_int_equal(expiry_bytes(&f->expiry), 0);
}

/* --- */

static void records_in_order_of_time_cost_next_to_nothing(void **state)
{
    struct expiry_fixture *f = open_expiry(REACH);

    (void)state;
    assert_empty(f);
    for (int i = 0; i < 60000; i++)
        add(f, i / 3);
    assert_int_equal(f->expiry.heap.count, 0);
    assert_true(expiry_bytes(&f->expiry) < 60000 / 10);
    leave(f, 59000);
    leave(f, 1000);
    assert_empty(f);
    close_expiry(f);
}

/* As where places of others that have gone are taken. */
static void records_that_do_not_lie_in_a_row_cost_12_bytes(void **state)
{
    struct expiry_fixture *f = open_expiry(REACH);

    (void)state;
    for (int i = 0; i < 60000; i++) {
        add(f, i);
        store(f, i);
    }
    assert_true(expiry_bytes(&f->expiry) < 60000 * 12 * 101 / 100 + SLAB_CHUNK_MAX);
    leave(f, 59000);
    assert_true(expiry_bytes(&f->expiry) < 1000 * 12 + 2 * SLAB_CHUNK_MAX);
    leave(f, 1000);
    assert_empty(f);
    close_expiry(f);
}

/* Chunks of their own, behind which no reference leads. */
static void large_records_leave_like_all_others(void **state)
{
    struct expiry_fixture *f = open_expiry(REACH);

    (void)state;
    for (int i = 0; i < 300; i++) {
        f->body_size = i % 3 == 0 ? SLAB_CHUNK_MAX - 64 + (size_t)i : 3;
        add(f, i / 7);
    }
    leave(f, 300);
    assert_empty(f);
    close_expiry(f);
}

static void one_far_ahead_does_not_push_the_others_out_of_the_queue(void **state)
{
    struct expiry_fixture *f = open_expiry(REACH);

    (void)state;
    for (int i = 0; i < 1000; i++)
        add(f, i % 100 == 50 ? 1000000 - i : i);
    assert_int_equal(f->expiry.heap.count, 10);
    leave(f, 1000);
    assert_empty(f);
    close_expiry(f);
}

static void the_first_may_be_far_ahead(void **state)
{
    struct expiry_fixture *f = open_expiry(REACH);

    (void)state;
    add(f, 1000000);
    for (int i = 0; i < 100; i++)
        add(f, i);
    assert_int_equal(f->expiry.heap.count, 1);
    leave(f, 101);
    assert_empty(f);
    close_expiry(f);
}

/* One of the heap, one of the queue: the one that came first. */
static void of_one_instant_they_leave_in_order_of_arrival(void **state)
{
    struct expiry_fixture *f = open_expiry(REACH);

    (void)state;
    add(f, 5);
    add(f, 9);
    add(f, 7); /* 9 goes to the heap */
    add(f, 9);
    add(f, 7); /* and this one */
    add(f, 9);
    add(f, 5);
    assert_true(f->expiry.heap.count > 1);
    leave(f, 7);
    assert_empty(f);
    close_expiry(f);
}

static void instants_stay_within_64_bits(void **state)
{
    static const struct {
        int64_t reach, t, instant;
    } rows[] = {
        {5, 10, 15},
        {-5, 10, 5},
        {0, INT64_MIN, INT64_MIN},
        {5, INT64_MAX - 4, INT64_MAX},
        {5, INT64_MAX, INT64_MAX},
        {-5, INT64_MIN + 4, INT64_MIN},
        {INT64_MAX, 1, INT64_MAX},
        {INT64_MAX, -1, INT64_MAX - 1},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct expiry e = {.reach = rows[i].reach};
        assert_int_equal(expiry_instant(&e, rows[i].t), rows[i].instant);
    }
}

static void anything_may_happen_in_any_order(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct expiry_fixture *f = open_expiry((int64_t)seed - 6);
        int64_t time = -500;
        f->seed = seed << 32;
        for (int phase = 0; phase < 20; phase++) {
            uint32_t disorder = dice(f, 3) == 0 ? 1 : 1 + dice(f, 200);
            for (uint32_t n = dice(f, 2000); n > 0; n--) {
                add(f, time - dice(f, disorder) + (dice(f, 50) == 0 ? 10000 : 0));
                time += dice(f, 3);
            }
            leave(f, dice(f, (uint32_t)f->count + 1));
        }
        leave(f, f->count);
        assert_empty(f);
        close_expiry(f);
    }
}

static void all_are_listed_by_arrival(void **state)
{
    struct expiry_fixture *f = open_expiry(REACH);

    (void)state;
    f->expiry.added = UINT32_MAX - 50; /* numbers go on beyond 32 bits */
    assert_listed(f);
    for (int phase = 0; phase < 10; phase++) {
        for (uint32_t n = dice(f, 60); n > 0; n--)
            add(f, dice(f, 3) == 0 ? dice(f, 1000) : phase * 100 + n);
        assert_listed(f);
        leave(f, dice(f, (uint32_t)f->count + 1));
        assert_listed(f);
    }
    leave(f, f->count);
    close_expiry(f);
}

/* Of those that leave, the ones seen ahead come in that order, all of them. */
static void those_ahead_leave_in_that_order_whatever_comes(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct expiry_fixture *f = open_expiry(REACH);
        uint32_t ahead[16];
        size_t n, seen = 0;
        f->seed = seed << 32;
        assert_int_equal(expiry_ahead(&f->expiry, ahead, 16), 0);
        for (int i = 0; i < 200; i++)
            add(f, i / 2 + (dice(f, 8) == 0 ? dice(f, 500) : 0));
        leave(f, dice(f, 150));
        n = expiry_ahead(&f->expiry, ahead, 1 + dice(f, 16));
        for (int i = 0; i < 20; i++)
            add(f, dice(f, 400));
        for (size_t i = 0; f->count > 0; i++) {
            const struct due *first = expiry_first(&f->expiry);
            assert_non_null(first);
            seen += seen < n && ahead[seen] == first->ref;
            leave(f, 1);
        }
        assert_int_equal(seen, n);
        close_expiry(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_in_order_of_time_cost_next_to_nothing),
        cmocka_unit_test(records_that_do_not_lie_in_a_row_cost_12_bytes),
        cmocka_unit_test(large_records_leave_like_all_others),
        cmocka_unit_test(one_far_ahead_does_not_push_the_others_out_of_the_queue),
        cmocka_unit_test(the_first_may_be_far_ahead),
        cmocka_unit_test(of_one_instant_they_leave_in_order_of_arrival),
        cmocka_unit_test(instants_stay_within_64_bits),
        cmocka_unit_test(those_ahead_leave_in_that_order_whatever_comes),
        cmocka_unit_test(anything_may_happen_in_any_order),
        cmocka_unit_test(all_are_listed_by_arrival),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
