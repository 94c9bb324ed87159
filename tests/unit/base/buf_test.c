#include "unit.h"

#include "base/buf.h"
#include "base/mem.h"

static void assert_holds(const struct buf *b, const char *expected)
{
    assert_text(buf_data(b), buf_length(b), expected);
}

static void an_empty_buffer_is_the_empty_string(void **state)
{
    struct buf b = BUF_EMPTY;

    (void)state;
    assert_int_equal(buf_length(&b), 0);
    assert_non_null(buf_bytes(&b).p); /* NULL would be SQL's NULL */
    assert_int_equal(buf_bytes(&b).n, 0);
    assert_string_equal(buf_text(&b), "");
    buf_done(&b);
}

static void what_is_appended_comes_in_order(void **state)
{
    struct buf b;

    (void)state;
    buf_init(&b);
    buf_append(&b, "one", 3);
    buf_append_char(&b, ',');
    buf_append_text(&b, "two");
    buf_append_bytes(&b, BYTES_LIT(",three"));
    buf_append_bytes(&b, BYTES_NULL);
    buf_append(&b, NULL, 0);
    buf_printf(&b, ",%d%s", 4, "!");
    assert_holds(&b, "one,two,three,4!");
    assert_string_equal(buf_text(&b), "one,two,three,4!");
    assert_int_equal(buf_length(&b), 16); /* the NUL does not count */
    buf_done(&b);
}

static void a_text_goes_on_after_it_was_looked_at(void **state)
{
    struct buf b = BUF_EMPTY;

    (void)state;
    buf_append_text(&b, "ab");
    assert_string_equal(buf_text(&b), "ab");
    buf_append_text(&b, "cd");
    assert_string_equal(buf_text(&b), "abcd");
    buf_eat(&b, 3);
    assert_string_equal(buf_text(&b), "d");
    buf_done(&b);
}

static void room_may_be_filled_in_part(void **state)
{
    struct buf b = BUF_EMPTY;
    char *to = buf_reserve(&b, 1000);

    (void)state;
    memset(to, 'x', 1000);
    buf_advance(&b, 3);
    assert_holds(&b, "xxx");
    assert_non_null(buf_reserve(&b, 0));
    buf_done(&b);
    assert_non_null(buf_reserve(&b, 0)); /* never NULL, also when there is nothing */
    buf_done(&b);
}

static void printf_of_every_length_around_the_capacity(void **state)
{
    char text[300];

    (void)state;
    memset(text, 'a', sizeof(text));
    for (int n = 0; n < 300; n++) {
        struct buf b = BUF_EMPTY;

        buf_printf(&b, "%.*s", n, text);
        assert_int_equal(buf_length(&b), n);
        assert_memory_equal(buf_data(&b), text, (size_t)n);
        buf_printf(&b, "%.*s|", n, text);
        assert_int_equal(buf_length(&b), 2 * n + 1);
        assert_int_equal(buf_data(&b)[2 * n], '|');
        buf_done(&b);
    }
}

static void eating_all_makes_the_whole_room_free(void **state)
{
    struct buf b = BUF_EMPTY;
    size_t capacity;

    (void)state;
    buf_append_text(&b, "0123456789");
    capacity = b.capacity;
    buf_eat(&b, 4);
    assert_holds(&b, "456789");
    buf_eat(&b, 0);
    buf_eat(&b, 6);
    assert_int_equal(buf_length(&b), 0);
    buf_reserve(&b, capacity);
    assert_int_equal(b.capacity, capacity);
    buf_done(&b);
}

/* A queue that is never empty must neither grow without end nor move all its
 * bytes for each one that is appended. */
static void a_queue_that_never_runs_dry_stays_small(void **state)
{
    struct buf b = BUF_EMPTY;
    unsigned char next_in = 0, next_out = 0;
    size_t moved = 0; /* bytes */

    (void)state;
    for (int i = 0; i < 1000; i++)
        buf_append_char(&b, (char)next_in++);
    for (int i = 0; i < 1000000; i++) {
        size_t head = b.head;

        buf_append_char(&b, (char)next_in++);
        if (head > 0 && b.head == 0)
            moved += buf_length(&b);
        assert_int_equal((unsigned char)buf_data(&b)[0], next_out);
        next_out++;
        buf_eat(&b, 1);
    }
    assert_int_equal(buf_length(&b), 1000);
    assert_true(b.capacity <= 4096);
    assert_true(moved <= 2000000);
    buf_done(&b);
}

static void clear_keeps_the_memory_and_trim_gives_it_back(void **state)
{
    struct buf b = BUF_EMPTY;

    (void)state;
    buf_reserve(&b, 10000);
    buf_append_text(&b, "abc");
    buf_trim(&b, 0); /* not empty: nothing happens */
    assert_holds(&b, "abc");
    buf_clear(&b);
    assert_int_equal(buf_length(&b), 0);
    assert_true(b.capacity >= 10000);
    buf_trim(&b, b.capacity);
    assert_true(b.capacity >= 10000);
    buf_trim(&b, 9999);
    assert_int_equal(b.capacity, 0);
    buf_append_text(&b, "again");
    assert_holds(&b, "again");
    buf_done(&b);
    buf_done(&b);
}

static uint32_t random_next(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

/* Against a plain array that is only ever appended to. */
static void random_use_gives_back_what_was_put_in(void **state)
{
    enum { TOTAL = 400000 };
    char *all = mem_alloc(TOTAL);
    size_t in = 0, out = 0;
    uint32_t seed = 7;
    struct buf b = BUF_EMPTY;

    (void)state;
    for (size_t i = 0; i < TOTAL; i++)
        all[i] = (char)random_next(&seed);
    while (out < TOTAL) {
        size_t most = random_next(&seed) % 10 == 0 ? 5000 : 50;
        size_t n = random_next(&seed) % most;

        if (n > TOTAL - in)
            n = TOTAL - in;
        buf_append(&b, all + in, n);
        in += n;
        assert_int_equal(buf_length(&b), in - out);
        if (in > out)
            assert_memory_equal(buf_data(&b), all + out, in - out);
        n = random_next(&seed) % (most + 10);
        if (n > in - out)
            n = in - out;
        buf_eat(&b, n);
        out += n;
    }
    buf_done(&b);
    mem_free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_buffer_is_the_empty_string),
        cmocka_unit_test(what_is_appended_comes_in_order),
        cmocka_unit_test(a_text_goes_on_after_it_was_looked_at),
        cmocka_unit_test(room_may_be_filled_in_part),
        cmocka_unit_test(printf_of_every_length_around_the_capacity),
        cmocka_unit_test(eating_all_makes_the_whole_room_free),
        cmocka_unit_test(a_queue_that_never_runs_dry_stays_small),
        cmocka_unit_test(clear_keeps_the_memory_and_trim_gives_it_back),
        cmocka_unit_test(random_use_gives_back_what_was_put_in),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
