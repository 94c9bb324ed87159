#include "session_fixture.h"

#include "join/session_queue.h"

#define COUNT 300

struct queue_fixture {
    struct pool_fixture p;
    struct session_queue queue;
};

static struct queue_fixture *open_queue(void)
{
    struct queue_fixture *f = mem_alloc_zeroed(1, sizeof(*f));

    open_pool(&f->p);
    session_queue_init(&f->queue);
    return f;
}

static void close_queue(struct queue_fixture *f)
{
    session_queue_done(&f->queue, &f->p.pool);
    close_pool(&f->p);
    mem_free(f);
}

static uint32_t put(struct queue_fixture *f, int64_t t)
{
    uint32_t s = open_at(&f->p, SIDE_LEFT, t);

    session_queue_put(&f->queue, &f->p.pool, s, t);
    return s;
}

/* The next one, as whoever fires finds it. */
static uint32_t next(struct queue_fixture *f)
{
    uint32_t s;

    while (session_queue_refresh(&f->queue, &f->p.pool))
        ;
    s = f->queue.head.session;
    session_queue_drop(&f->queue, &f->p.pool);
    return s;
}

static void those_that_end_together_come_in_order_of_opening(void **state)
{
    static const int64_t times[] = {5, 1, 5, 3, 1, 5, 3, 1, -7};
    static const uint64_t opened[] = {8, 1, 4, 7, 3, 6, 0, 2, 5};
    struct queue_fixture *f = open_queue();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(times); i++)
        put(f, times[i]);
    for (size_t i = 0; i < COUNT_OF(times); i++)
        assert_int_equal(session_at(&f->p.pool, next(f))->opened, opened[i]);
    assert_int_equal(f->queue.count, 0);
    close_queue(f);
}

static void a_session_that_went_on_waits_for_its_new_end(void **state)
{
    struct queue_fixture *f = open_queue();
    uint32_t a = put(f, 10), b = put(f, 20), c = put(f, 30);

    (void)state;
    add_at(&f->p, a, SIDE_LEFT, 25);
    assert_int_equal(next(f), b);
    add_at(&f->p, a, SIDE_RIGHT, 30);
    assert_int_equal(next(f), a);
    assert_int_equal(next(f), c);
    close_queue(f);
}

/* Sessions; SESSION_NONE: it has gone. */
struct crowd {
    uint32_t sessions[COUNT];
};

static bool is_there(const struct queue_fixture *f, const struct crowd *c, uint32_t i)
{
    return c->sessions[i] != SESSION_NONE && !session_is_part(&f->p.pool, c->sessions[i]);
}

static bool ends_before(const struct session_pool *p, uint32_t a, uint32_t b)
{
    return session_last(p, a) != session_last(p, b)
               ? session_last(p, a) < session_last(p, b)
               : session_at(p, a)->opened < session_at(p, b)->opened;
}

/* The least of those that are there and no part, by its real end; COUNT: none is left. */
static uint32_t least(const struct queue_fixture *f, const struct crowd *c)
{
    uint32_t best = COUNT;

    for (uint32_t i = 0; i < COUNT; i++)
        if (is_there(f, c, i) &&
            (best == COUNT || ends_before(&f->p.pool, c->sessions[i], c->sessions[best])))
            best = i;
    return best;
}

static void move_some(struct queue_fixture *f, const struct crowd *c, uint64_t *chance)
{
    uint32_t i = dice(chance, COUNT);

    if (!is_there(f, c, i))
        return;
    add_at(&f->p, c->sessions[i], (enum side)dice(chance, 2),
           session_last(&f->p.pool, c->sessions[i]) + dice(chance, 5));
    add_at(&f->p, c->sessions[i], (enum side)dice(chance, 2),
           session_first(&f->p.pool, c->sessions[i]) - dice(chance, 5));
}

static void absorb_some(struct queue_fixture *f, const struct crowd *c, uint64_t *chance)
{
    uint32_t a = dice(chance, COUNT), b = dice(chance, COUNT);

    if (a == b || !is_there(f, c, a) || !is_there(f, c, b))
        return;
    if (a < b)
        absorb_at(&f->p, c->sessions[b], c->sessions[a]);
    else
        absorb_at(&f->p, c->sessions[a], c->sessions[b]);
}

static void order_is_kept_whatever_moves_and_whatever_becomes_a_part(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct queue_fixture *f = open_queue();
        uint64_t chance = seed * 1000003;
        struct crowd c;
        for (uint32_t i = 0; i < COUNT; i++)
            c.sessions[i] = put(f, seed % 2 == 0 ? dice(&chance, 50) : i / 8 + dice(&chance, 2));
        for (uint32_t i; (i = least(f, &c)) < COUNT;) {
            for (int n = 0; n < 10; n++) {
                move_some(f, &c, &chance);
                absorb_some(f, &c, &chance);
            }
            i = least(f, &c);
            assert_int_equal(next(f), c.sessions[i]);
            c.sessions[i] = SESSION_NONE;
        }
        while (f->queue.count > 0) /* parts alone */
            assert_true(session_queue_refresh(&f->queue, &f->p.pool));
        close_queue(f);
    }
}

/* When it fires, none of its parts is waiting any more: they may go with it. */
static void parts_come_before_the_session_that_they_are_of(void **state)
{
    struct queue_fixture *f = open_queue();
    uint32_t a = put(f, 10), b = put(f, 10), c = put(f, 10);

    (void)state;
    absorb_at(&f->p, b, a);
    absorb_at(&f->p, c, b);
    assert_int_equal(next(f), c);
    assert_int_equal(f->queue.count, 0);
    close_queue(f);
}

/* One after the other in time, each side a little apart: nobody has to be searched. */
static void sessions_of_two_sides_wait_in_two_lines(void **state)
{
    struct queue_fixture *f = open_queue();
    int64_t before = INT64_MIN;

    (void)state;
    for (int i = 0; i < 20 * COUNT; i++)
        put(f, i / 3 * 3 - (i / 100 % 2 == 0 ? 0 : 150));
    assert_int_equal(f->queue.heap.count, 0);
    for (int i = 0; i < 20 * COUNT; i++) {
        int64_t last = session_last(&f->p.pool, next(f));
        assert_true(last >= before);
        before = last;
    }
    assert_int_equal(session_queue_bytes(&f->queue), 0);
    close_queue(f);
}

/* A run: however many they are. */
static void sessions_that_open_in_order_of_time_cost_next_to_nothing(void **state)
{
    struct queue_fixture *f = open_queue();

    (void)state;
    for (int i = 0; i < 100 * COUNT; i++)
        put(f, i / 3);
    assert_in_range(session_queue_bytes(&f->queue), 1, 100 * COUNT);
    for (int i = 0; i < 100 * COUNT; i++)
        assert_int_equal(session_at(&f->p.pool, next(f))->opened, i);
    assert_int_equal(session_queue_bytes(&f->queue), 0);
    close_queue(f);
}

static void memory_is_told_before_and_goes_again(void **state)
{
    struct queue_fixture *f = open_queue();

    (void)state;
    assert_int_equal(session_queue_bytes(&f->queue), 0);
    for (int i = 0; i < COUNT; i++) {
        uint64_t before = session_queue_bytes(&f->queue), need = session_queue_need(&f->queue);
        put(f, i);
        assert_in_range(session_queue_bytes(&f->queue), before, before + need);
    }
    while (f->queue.count > 0) {
        next(f);
        assert_true(session_queue_bytes(&f->queue) <=
                    f->queue.count * sizeof(struct session_queued) + 2 * 1024);
    }
    assert_int_equal(session_queue_bytes(&f->queue), 0);
    close_queue(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(those_that_end_together_come_in_order_of_opening),
        cmocka_unit_test(a_session_that_went_on_waits_for_its_new_end),
        cmocka_unit_test(order_is_kept_whatever_moves_and_whatever_becomes_a_part),
        cmocka_unit_test(parts_come_before_the_session_that_they_are_of),
        cmocka_unit_test(sessions_of_two_sides_wait_in_two_lines),
        cmocka_unit_test(sessions_that_open_in_order_of_time_cost_next_to_nothing),
        cmocka_unit_test(memory_is_told_before_and_goes_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
