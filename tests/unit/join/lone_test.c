#include "join/lone.h"
#include "join_fixture.h"

#define ANY_ROOM    UINT64_MAX
#define RESULTS_MAX 64

struct lone_fixture {
    struct plan *plan;
    struct books books;
    struct lone_records lone;
    uint64_t number;
    struct buf told;
};

static struct lone_fixture *open_lone(enum join_type type)
{
    struct lone_fixture *f = mem_alloc_zeroed(1, sizeof(*f));

    f->plan = PLAN(.type = type, .size_ms = 1, .slide_ms = 100);
    lone_init(&f->lone);
    return f;
}

static void close_lone(struct lone_fixture *f)
{
    lone_done(&f->lone);
    plan_free(f->plan);
    buf_done(&f->told);
    mem_free(f);
}

static bool put_within(struct lone_fixture *f, enum side side, int64_t t, const char *line,
                       uint64_t room)
{
    struct record_parts parts = {.body = bytes_of(line), .key = {line, 1}, .time = t};

    return lone_push(&f->lone, side, &parts, f->number++, room);
}

static void put(struct lone_fixture *f, enum side side, int64_t t, const char *line)
{
    assert_true(put_within(f, side, t, line, ANY_ROOM));
}

static uint64_t size_of(const struct lone_record *r)
{
    return offsetof(struct lone_record, record) + record_stride(&r->record);
}

static uint64_t bytes_by_hand(const struct lone_records *l)
{
    uint64_t bytes = heap_bytes(&l->due);

    for (uint64_t i = 0; i < l->due.count; i++)
        bytes +=
            size_of(((struct lone_due *)pages_at(&l->due.items, sizeof(struct lone_due), i))->lone);
    for (const struct lone_record *r = l->given; r != NULL; r = r->next)
        bytes += size_of(r);
    return bytes;
}

static uint64_t recount(const struct lone_fixture *f, enum side side)
{
    uint64_t undecided = 0;

    lone_list(&f->lone, side, &(struct held_listener){held_count, &undecided});
    return undecided;
}

static const char *pull(struct lone_fixture *f, int64_t until, size_t max, int64_t fuel)
{
    struct result results[RESULTS_MAX];
    size_t n;

    lone_give_back(&f->lone);
    n = lone_pull(&f->lone, f->plan, &f->books, NULL, until, results, max, &fuel);
    buf_clear(&f->told);
    for (size_t i = 0; i < n; i++) {
        assert_true(results[i].window_start == RESULT_NO_WINDOW);
        assert_true(results[i].window_end == RESULT_NO_WINDOW);
        append_result(f->plan, &results[i], &f->told);
    }
    assert_int_equal(lone_bytes(&f->lone), bytes_by_hand(&f->lone));
    for (int s = 0; s < SIDES; s++)
        assert_int_equal(recount(f, s), f->lone.held[s]);
    return buf_text(&f->told);
}

static void they_come_in_order_of_time_then_of_arrival(void **state)
{
    struct lone_fixture *f = open_lone(JOIN_FULL);

    (void)state;
    assert_int_equal(lone_first(&f->lone), INT64_MAX);
    put(f, SIDE_LEFT, 30, "k,a,");
    put(f, SIDE_RIGHT, 10, "k,x,");
    put(f, SIDE_LEFT, 10, "k,b,");
    put(f, SIDE_RIGHT, -20, "k,y,");
    put(f, SIDE_RIGHT, 10, "k,z,");
    assert_int_equal(lone_first(&f->lone), -20);
    assert_string_equal(pull(f, -21, RESULTS_MAX, 1000), "");
    assert_string_equal(pull(f, 10, RESULTS_MAX, 1000), "(null,y)(null,x)(b,null)(null,z)");
    assert_int_equal(lone_first(&f->lone), 30);
    assert_string_equal(pull(f, INT64_MAX, RESULTS_MAX, 1000), "(a,null)");
    assert_int_equal(f->books.side[SIDE_LEFT].unmatched, 2);
    assert_int_equal(f->books.side[SIDE_RIGHT].unmatched, 3);
    assert_string_equal(pull(f, INT64_MAX, RESULTS_MAX, 1000), "");
    assert_int_equal(lone_bytes(&f->lone), 0);
    close_lone(f);
}

static void sides_that_are_not_padded_go_without_a_word(void **state)
{
    struct lone_fixture *f = open_lone(JOIN_ANTI);

    (void)state;
    put(f, SIDE_RIGHT, 1, "k,x,");
    put(f, SIDE_LEFT, 2, "k,a,");
    put(f, SIDE_RIGHT, 3, "k,y,");
    assert_int_equal(f->lone.held[SIDE_RIGHT], 2);
    assert_string_equal(pull(f, 2, RESULTS_MAX, 1000), "(a)");
    assert_string_equal(pull(f, 3, RESULTS_MAX, 1000), "");
    assert_int_equal(f->lone.held[SIDE_RIGHT], 0);
    assert_int_equal(lone_bytes(&f->lone), 0);
    close_lone(f);
}

static void the_first_of_those_that_are_not_due_is_found(void **state)
{
    struct lone_fixture *f = open_lone(JOIN_FULL);

    (void)state;
    assert_int_equal(lone_first_from(&f->lone, 0), INT64_MAX);
    for (int i = 0; i < 100; i++)
        put(f, SIDE_LEFT, i * 37 % 100 * 2, "k,a,");
    for (int64_t from = -5; from < 210; from++)
        assert_int_equal(lone_first_from(&f->lone, from), from < 0     ? 0
                                                          : from > 198 ? INT64_MAX
                                                                       : from + from % 2);
    for (int i = 0; i < 1000; i++)
        put(f, SIDE_LEFT, i * 37 % 1000 * 2, "k,a,");
    assert_int_equal(lone_first_from(&f->lone, 101), 102);
    assert_int_equal(lone_first_from(&f->lone, 1999), 1999); /* too many are below */
    close_lone(f);
}

static void fuel_and_max_bound_a_pull(void **state)
{
    struct lone_fixture *f = open_lone(JOIN_FULL);

    (void)state;
    for (int i = 0; i < 100; i++)
        put(f, (enum side)(i % 2), i * 37 % 100, "k,a,");
    pull(f, 1000, 3, 1000);
    assert_int_equal(f->lone.due.count, 97);
    pull(f, 1000, RESULTS_MAX, 1);
    assert_int_equal(f->lone.due.count, 96);
    pull(f, 1000, RESULTS_MAX, 0);
    assert_int_equal(f->lone.due.count, 96);
    assert_null(f->lone.given);
    close_lone(f);
}

static void what_does_not_fit_changes_nothing(void **state)
{
    struct lone_fixture *f = open_lone(JOIN_FULL);
    uint64_t bytes;

    (void)state;
    assert_false(put_within(f, SIDE_LEFT, 1, "k,a,", 0));
    assert_int_equal(lone_bytes(&f->lone), 0);
    put(f, SIDE_LEFT, 1, "k,a,");
    bytes = lone_bytes(&f->lone);
    assert_false(put_within(f, SIDE_LEFT, 1, "k,a,", 35));
    assert_int_equal(lone_bytes(&f->lone), bytes);
    assert_int_equal(f->lone.held[SIDE_LEFT], 1);
    assert_true(put_within(f, SIDE_LEFT, 1, "k,a,", 36));
    assert_int_equal(lone_bytes(&f->lone), bytes + 36);
    close_lone(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_come_in_order_of_time_then_of_arrival),
        cmocka_unit_test(sides_that_are_not_padded_go_without_a_word),
        cmocka_unit_test(the_first_of_those_that_are_not_due_is_found),
        cmocka_unit_test(fuel_and_max_bound_a_pull),
        cmocka_unit_test(what_does_not_fit_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
