#include "unit.h"

#include <errno.h>
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
    const char *lent_rows; /* what the borrower has written of them, and not told yet */
    ssize_t said;
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

/* A reader who is behind for a moment again and again costs no memory anew each time. */
static void memory_is_kept_until_nothing_has_waited_for_a_while(void **state)
{
    struct pair p;

    (void)state;
    pair_init(&p);
    fill(&p);
    while (buf_length(&p.sink->pending) > 0) {
        assert_true(take(&p));
        turn(&p);
    }
    assert_true(p.sink->pending.capacity >= 2 * ROW_BYTES);
    sink_trim(p.sink);
    assert_true(p.sink->pending.capacity >= 2 * ROW_BYTES);
    sink_trim(p.sink);
    assert_int_equal(p.sink->pending.capacity, 0);
    pair_done(&p);
}

/* Until it has settled; some rows are put meanwhile. */
static void settle(struct pair *p)
{
    sink_settle(p->sink);
    sink_put(p->sink, BYTES_LIT("head\n1,a\n"), 5);
    sink_put(p->sink, BYTES_LIT("2,a\n"), 0);
}

static void wait_settled(struct pair *p)
{
    while (p->sink != NULL && p->sink->settling)
        event_base_loop(p->base, EVLOOP_ONCE);
}

static void nothing_is_written_before_a_new_one_has_settled(void **state)
{
    struct pair p;

    (void)state;
    pair_init(&p);
    settle(&p);
    turn(&p);
    assert_true(take(&p));
    assert_int_equal(buf_length(&p.taken), 0);
    wait_settled(&p);
    assert_true(take(&p));
    assert_text(buf_data(&p.taken), buf_length(&p.taken), "head\n1,a\n2,a\n");
    assert_int_equal(p.bytes_written, 13);
    pair_done(&p);
}

static void who_closes_while_it_settles_leaves_all_rows_to_the_next(void **state)
{
    struct pair p;

    (void)state;
    pair_init(&p);
    settle(&p);
    close(p.reader);
    p.reader = -1;
    turn(&p);
    assert_int_equal(p.gone, 1);
    assert_text(buf_data(&p.kept), buf_length(&p.kept), "1,a\n2,a\n");
    assert_int_equal(p.bytes_written, 0);
    pair_done(&p);
}

static void a_fin_while_it_settles_ends_nothing(void **state)
{
    struct pair p;

    (void)state;
    pair_init(&p);
    p.sink->fin_ends = true;
    settle(&p);
    shutdown(p.reader, SHUT_WR);
    turn(&p);
    assert_int_equal(p.gone, 0);
    wait_settled(&p);
    sink_put(p.sink, BYTES_LIT("3,a\n"), 0);
    assert_int_equal(p.gone, 0);
    assert_true(take(&p));
    assert_text(buf_data(&p.taken), buf_length(&p.taken), "head\n1,a\n2,a\n3,a\n");
    pair_done(&p);
}

static void what_precedes_comes_behind_the_header(void **state)
{
    struct pair p;

    (void)state;
    pair_init(&p);
    settle(&p);
    sink_precede(p.sink, BYTES_LIT("0,a\n"));
    wait_settled(&p);
    assert_true(take(&p));
    assert_text(buf_data(&p.taken), buf_length(&p.taken), "head\n0,a\n1,a\n2,a\n");
    pair_done(&p);
}

/* --- lent --- */

static void tell_written(struct pair *p)
{
    const char *rows = p->lent_rows;

    p->lent_rows = NULL;
    if (rows != NULL)
        sink_put_written(p->sink, bytes_of(rows), p->said);
}

static void on_returned(void *borrower)
{
    tell_written(borrower);
}

/* The borrower writes some bytes of these rows; 0: there was no room. */
static void lend(struct pair *p, const char *rows, ssize_t written)
{
    sink_lend(p->sink, on_returned, p);
    p->lent_rows = rows;
    p->said = written;
    if (written > 0)
        assert_int_equal(write(p->sink->link.fd, rows, (size_t)written), written);
}

static void what_a_borrower_wrote_counts_when_he_gives_it_back(void **state)
{
    struct pair p;

    (void)state;
    pair_init(&p);
    lend(&p, "1,a\n", 4);
    assert_int_equal(p.bytes_written, 0);
    sink_take_back(p.sink);
    assert_int_equal(p.bytes_written, 4);
    sink_put(p.sink, BYTES_LIT("2,a\n"), 0);
    take(&p);
    assert_text(buf_data(&p.taken), buf_length(&p.taken), "1,a\n2,a\n");
    assert_true(sink_is_idle(p.sink));
    pair_done(&p);
}

static void what_a_borrower_could_not_write_comes_first(void **state)
{
    static const ssize_t said[] = {0, 3, 4, 5};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(said); i++) {
        struct pair p;
        pair_init(&p);
        lend(&p, "1,a\n2,a\n", said[i]);
        tell_written(&p);
        assert_null(p.sink->lent); /* by itself */
        assert_false(sink_is_idle(p.sink));
        assert_int_equal(sink_rows(p.sink), said[i] < 4 ? 2 : 1);
        sink_put(p.sink, BYTES_LIT("3,a\n"), 0);
        turn(&p);
        take(&p);
        assert_text(buf_data(&p.taken), buf_length(&p.taken), "1,a\n2,a\n3,a\n");
        assert_int_equal(p.bytes_written, 12);
        assert_true(sink_is_idle(p.sink));
        pair_done(&p);
    }
}

static void whose_writes_fail_leaves_all_rows_to_the_next(void **state)
{
    struct pair p;

    (void)state;
    pair_init(&p);
    p.sink->link.error = EPIPE;
    lend(&p, "1,a\n2,a\n", LINK_BROKEN);
    sink_take_back(p.sink);
    assert_string_equal(p.sink->dead, "Broken pipe");
    sink_keep(p.sink, &p.kept);
    assert_text(buf_data(&p.kept), buf_length(&p.kept), "1,a\n2,a\n");
    assert_int_equal(p.gone, 0); /* that is for who took it back to see */
    pair_done(&p);
}

/* Of the row under way no one else would know. */
static void a_loan_ends_before_a_fin_is_looked_at(void **state)
{
    struct pair p;

    (void)state;
    pair_init(&p);
    p.sink->fin_ends = true;
    lend(&p, "1,a\n2,a\n3,a\n", 5);
    shutdown(p.reader, SHUT_WR);
    turn(&p);
    assert_null(p.lent_rows);
    for (int i = 0; i < 100 && take(&p); i++)
        turn(&p);
    assert_int_equal(p.gone, 1);
    assert_text(buf_data(&p.taken), buf_length(&p.taken), "1,a\n2,a\n");
    assert_text(buf_data(&p.kept), buf_length(&p.kept), "3,a\n");
    pair_done(&p);
}

static void a_loan_ends_before_a_reader_is_looked_at(void **state)
{
    struct pair p;

    (void)state;
    pair_init(&p);
    lend(&p, "1,a\n", 4);
    sink_tick(p.sink, 1000, 5000);
    assert_null(p.lent_rows);
    assert_int_equal(p.sink->taken, 4);
    pair_done(&p);
}

static void who_does_not_take_rows_at_once_is_not_lent(void **state)
{
    struct pair p;

    (void)state;
    pair_init(&p);
    assert_true(sink_is_idle(p.sink));
    shutdown(p.reader, SHUT_WR);
    turn(&p);
    assert_false(sink_is_idle(p.sink)); /* may be gone */
    pair_done(&p);

    pair_init(&p);
    sink_settle(p.sink);
    assert_false(sink_is_idle(p.sink));
    wait_settled(&p);
    assert_true(sink_is_idle(p.sink));
    p.sink->discarding = true;
    assert_false(sink_is_idle(p.sink));
    p.sink->discarding = false;
    fill(&p);
    assert_false(sink_is_idle(p.sink));
    pair_done(&p);
}

static void only_results_that_are_not_wholly_written_count(void **state)
{
    static const struct {
        const char *pending;
        size_t header_left, sent;
        uint64_t rows;
    } rows[] = {
        {"", 0, 0, 0},
        {"1,a\n2,a\n", 0, 0, 2},
        {"1,a\n2,a\n", 0, 3, 2},
        {"1,a\n2,a\n", 0, 4, 1},
        {"1,a\n2,a\n", 0, 7, 1},
        {"1,a\n2,a\n", 0, 8, 0},
        {"head\n1,a\n2,a\n", 5, 0, 2},
        {"head\n1,a\n2,a\n", 5, 3, 2},
        {"head\n1,a\n2,a\n", 5, 9, 1},
        {"1,\"a\n\"\n2,a\n", 0, 5, 2},
        {"1,\"a\n\"\n2,a\n", 0, 7, 1},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct sink s = {.header_left = rows[i].header_left, .sent = rows[i].sent, .quoted = true};
        buf_append_text(&s.pending, rows[i].pending);
        assert_int_equal(sink_rows(&s), rows[i].rows);
        buf_done(&s.pending);
    }
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
        cmocka_unit_test(memory_is_kept_until_nothing_has_waited_for_a_while),
        cmocka_unit_test(nothing_is_written_before_a_new_one_has_settled),
        cmocka_unit_test(who_closes_while_it_settles_leaves_all_rows_to_the_next),
        cmocka_unit_test(a_fin_while_it_settles_ends_nothing),
        cmocka_unit_test(what_precedes_comes_behind_the_header),
        cmocka_unit_test(what_a_borrower_wrote_counts_when_he_gives_it_back),
        cmocka_unit_test(what_a_borrower_could_not_write_comes_first),
        cmocka_unit_test(whose_writes_fail_leaves_all_rows_to_the_next),
        cmocka_unit_test(a_loan_ends_before_a_fin_is_looked_at),
        cmocka_unit_test(a_loan_ends_before_a_reader_is_looked_at),
        cmocka_unit_test(who_does_not_take_rows_at_once_is_not_lent),
        cmocka_unit_test(only_results_that_are_not_wholly_written_count),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
