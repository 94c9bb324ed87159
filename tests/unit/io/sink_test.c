#include "unit.h"

#include <event2/event.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/sink.h"

#define ROW_BYTES 300001 /* more than a socket takes: writing always ends within a row */

/* A sink and its reader, over a pair of sockets that hold a few hundred KB. */
struct pair {
    struct event_base *base;
    struct sink *sink;
    int reader;
    unsigned gone;
    const char *dead;
    struct buf kept, given, taken;
    uint64_t bytes_written;
};

static void on_gone(void *owner, struct sink *s)
{
    struct pair *p = owner;

    p->gone++;
    p->dead = s->dead;
    sink_keep(s, &p->kept);
    sink_free(s);
    p->sink = NULL;
}

static void pair_init(struct pair *p)
{
    int fds[2];

    *p = (struct pair){.base = event_base_new()};
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
    p->reader = fds[1];
    p->sink = sink_new(p->base, fds[0], "the reader", &p->bytes_written, on_gone, p);
    p->sink->quoted = true;
}

static void pair_done(struct pair *p)
{
    sink_free(p->sink);
    if (p->reader >= 0)
        close(p->reader);
    event_base_free(p->base);
    buf_done(&p->kept);
    buf_done(&p->given);
    buf_done(&p->taken);
}

static void put(struct pair *p, unsigned number)
{
    static char row[ROW_BYTES];
    int n = snprintf(row, sizeof(row), "%u,\"a\n", number); /* a line end that ends no row */

    memset(row + n, 'x', sizeof(row) - (size_t)n);
    memcpy(row + sizeof(row) - 2, "\"\n", 2);
    buf_append(&p->given, row, ROW_BYTES);
    sink_put(p->sink, (struct bytes){row, ROW_BYTES}, 0);
}

/* Puts rows until some wait for the reader. */
static void fill(struct pair *p)
{
    unsigned number = 0;

    while (sink_unwritten(p->sink) < 2 * ROW_BYTES)
        put(p, number++);
    assert_true(p->sink->sent > 0);
}

/* Reads what is there; returns false at the end. */
static bool take(struct pair *p)
{
    ssize_t n;

    while ((n = read(p->reader, buf_reserve(&p->taken, 1 << 16), 1 << 16)) > 0)
        buf_advance(&p->taken, (size_t)n);
    return n != 0;
}

static void turn(struct pair *p)
{
    event_base_loop(p->base, EVLOOP_NONBLOCK);
}

/* What the one took and what is kept for the next is what was given, in whole rows. */
static void assert_parted_at_a_row(struct pair *p)
{
    size_t taken = buf_length(&p->taken);

    assert_int_equal(taken % ROW_BYTES, 0);
    assert_int_equal(taken + buf_length(&p->kept), buf_length(&p->given));
    assert_memory_equal(buf_data(&p->taken), buf_data(&p->given), taken);
    assert_memory_equal(buf_data(&p->kept), buf_data(&p->given) + taken, buf_length(&p->kept));
}

static void who_says_fin_still_gets_everything(void **state)
{
    struct pair p;

    (void)state;
    pair_init(&p);
    fill(&p);
    shutdown(p.reader, SHUT_WR);
    turn(&p);
    put(&p, 1);
    for (int i = 0; i < 100 && buf_length(&p.taken) < buf_length(&p.given); i++) {
        take(&p);
        turn(&p);
    }
    assert_int_equal(p.gone, 0);
    assert_int_equal(buf_length(&p.taken), buf_length(&p.given));
    assert_memory_equal(buf_data(&p.taken), buf_data(&p.given), buf_length(&p.given));
    pair_done(&p);
}

static void where_a_fin_ends_the_line_under_way_is_finished(void **state)
{
    struct pair p;

    (void)state;
    pair_init(&p);
    p.sink->fin_ends = true;
    fill(&p);
    shutdown(p.reader, SHUT_WR);
    turn(&p);
    put(&p, 1);
    assert_int_equal(p.gone, 0); /* there is no room for the line's end yet */
    for (int i = 0; i < 100 && take(&p); i++)
        turn(&p);
    assert_int_equal(p.gone, 1);
    assert_string_equal(p.dead, "it asked us to end");
    assert_true(buf_length(&p.kept) > 0);
    assert_parted_at_a_row(&p);
    pair_done(&p);
}

static void where_a_fin_ends_and_no_line_is_under_way_that_is_all(void **state)
{
    struct pair p;

    (void)state;
    pair_init(&p);
    p.sink->fin_ends = true;
    sink_put(p.sink, BYTES_LIT("1,a\n"), 0);
    shutdown(p.reader, SHUT_WR);
    turn(&p);
    assert_int_equal(p.gone, 1);
    assert_false(take(&p));
    assert_text(buf_data(&p.taken), buf_length(&p.taken), "1,a\n");
    assert_int_equal(buf_length(&p.kept), 0);
    pair_done(&p);
}

static void who_closes_leaves_the_line_under_way_to_the_next(void **state)
{
    struct pair p;
    size_t rest;

    (void)state;
    pair_init(&p);
    fill(&p);
    rest = buf_length(&p.given) - p.bytes_written / ROW_BYTES * ROW_BYTES;
    assert_true(rest > 2 * ROW_BYTES);
    close(p.reader);
    p.reader = -1;
    turn(&p);
    assert_int_equal(p.gone, 1);
    assert_int_equal(buf_length(&p.kept), rest);
    assert_memory_equal(buf_data(&p.kept), buf_data(&p.given) + buf_length(&p.given) - rest, rest);
    pair_done(&p);
}

static void that_a_reader_reads_shows_before_there_is_room(void **state)
{
    struct pair p;
    char some[100000];

    (void)state;
    pair_init(&p);
    fill(&p);
    sink_tick(p.sink, 1000, 0);
    sink_tick(p.sink, 2000, 0);
    assert_int_equal(p.sink->stalled_since_ms, 1000);
    assert_true(read(p.reader, some, sizeof(some)) > 0);
    sink_tick(p.sink, 3000, 0);
    assert_int_equal(p.sink->stalled_since_ms, 3000);
    sink_tick(p.sink, 4000, 0);
    assert_int_equal(p.sink->stalled_since_ms, 3000);
    pair_done(&p);
}

static void who_takes_nothing_of_what_waits_is_dead_after_a_time(void **state)
{
    struct pair p;
    char some[100000];

    (void)state;
    pair_init(&p);
    fill(&p);
    sink_tick(p.sink, 1000, 5000);
    assert_true(read(p.reader, some, sizeof(some)) > 0);
    sink_tick(p.sink, 3000, 5000);
    sink_tick(p.sink, 7999, 5000);
    assert_null(p.sink->dead);
    sink_tick(p.sink, 8000, 5000);
    assert_non_null(p.sink->dead);
    pair_done(&p);
}

static void who_has_all_is_never_dead(void **state)
{
    struct pair p;

    (void)state;
    pair_init(&p);
    sink_tick(p.sink, 1000, 5000);
    sink_put(p.sink, BYTES_LIT("1,a\n"), 0);
    assert_true(take(&p));
    sink_tick(p.sink, 20000, 5000);
    sink_tick(p.sink, 30000, 5000);
    assert_null(p.sink->dead);
    pair_done(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_says_fin_still_gets_everything),
        cmocka_unit_test(where_a_fin_ends_the_line_under_way_is_finished),
        cmocka_unit_test(where_a_fin_ends_and_no_line_is_under_way_that_is_all),
        cmocka_unit_test(who_closes_leaves_the_line_under_way_to_the_next),
        cmocka_unit_test(that_a_reader_reads_shows_before_there_is_room),
        cmocka_unit_test(who_takes_nothing_of_what_waits_is_dead_after_a_time),
        cmocka_unit_test(who_has_all_is_never_dead),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
