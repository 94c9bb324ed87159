/*
 * The second thread, with a real loop beside it: rows must be those of one thread, whenever
 * the first one comes by.
 */
#include "flow/second.h"

#include <sys/socket.h>
#include <unistd.h>

#include "../engine/engine_fixture.h"

#define SIZE_MS 1000
#define SELECT  "left.k, left.id, right.id, window_start"
/* Fails where the left id ends with 7. */
#define SELECT_FAILING "left.id, 10 / (cast(left.id as bigint) % 10 - 7) as x, right.id"
#define ON_FAILING     "10 / (cast(right.id as bigint) % 10 - 3) < 100"
#define PIECE          4096

struct bench {
    struct engine_fixture *f;
    struct output_format format;
    struct event_base *base;
    struct second *second; /* NULL: the engine fires all itself */
    struct encoder *encoder;
    struct buf rows, rejected;
    uint64_t row_count;
    struct link line;              /* to ... */
    int reader;                    /* ... this socket; -1: rows are taken, not written */
    bool lent;                     /* as far as this side knows */
    struct buf unwritten;          /* it took so much that this side has to write */
    unsigned written, torn, taken; /* deliveries */
    uint64_t chance;
    int64_t now;
    int id;
};

static void bind_select(struct bench *b, const char *text)
{
    struct expr_scope scope = {.windows = true, .times = true};
    struct expr_fault fault;
    struct expr_list *l = &b->format.select;

    for (int s = 0; s < SIDES; s++)
        scope.schemas[s] = &b->f->plan->side[s].schema;
    assert_true(expr_parse_list(bytes_of(text), true, l, &fault));
    for (size_t i = 0; i < l->count; i++) {
        assert_true(expr_bind(l->items[i].expr, &scope, &fault));
        if (l->items[i].name == NULL)
            l->items[i].name = mem_strdup("c");
    }
}

static struct bench *open_bench(struct plan *plan, const char *select, bool threads, size_t piece)
{
    struct bench *b = mem_alloc_zeroed(1, sizeof(*b));

    b->f = open_engine(plan);
    b->format =
        (struct output_format){.kind = OUTPUT_CSV, .delimiter = ',', .null_text = BYTES_LIT("")};
    bind_select(b, select);
    b->encoder = encoder_new(&b->format, plan);
    b->base = event_base_new();
    b->reader = -1;
    b->chance = 17;
    if (!threads)
        return b;
    engine_leave(b->f->engine, SECOND_LEAST_BYTES);
    b->second = second_start(b->base, &b->format, plan, piece);
    assert_non_null(b->second);
    return b;
}

static void close_bench(struct bench *b)
{
    second_free(b->second, b->f->engine);
    assert_true(engine_books_balance(b->f->engine));
    encoder_free(b->encoder);
    close_engine(b->f);
    if (b->reader >= 0) {
        link_done(&b->line);
        close(b->reader);
    }
    event_base_free(b->base);
    expr_list_done(&b->format.select);
    buf_done(&b->rows);
    buf_done(&b->rejected);
    buf_done(&b->unwritten);
    mem_free(b);
}

static void assert_balance_now(const struct bench *b)
{
    const struct books *books = engine_books(b->f->engine);

    for (int s = 0; s < SIDES; s++)
        assert_true(books_balance(&books->side[s], engine_held(b->f->engine, s)));
}

/* --- in --- */

static void push_one(struct bench *b, enum side side, uint32_t keys)
{
    struct batch *batch = &b->f->batch[side];
    char line[64];

    snprintf(line, sizeof(line), "%u,%d,true", dice(&b->chance, keys), ++b->id);
    add_line(b->f, side, bytes_of(line));
    assert_int_equal(engine_push(b->f->engine, side, batch, 0, at(b->now)), 1);
    batch_clear(batch);
}

static void push_many(struct bench *b, size_t n, uint32_t keys)
{
    for (size_t i = 0; i < n; i++)
        push_one(b, (enum side)(i % 2), keys);
}

/* --- the line --- */

static const struct link_owner nobody;

static void open_line(struct bench *b, bool narrow)
{
    int fds[2], little = 1;

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
    link_init(&b->line, b->base, fds[0], &nobody);
    b->reader = fds[1];
    if (narrow)
        setsockopt(fds[0], SOL_SOCKET, SO_SNDBUF, &little, sizeof(little));
}

static void read_line(struct bench *b, size_t max)
{
    ssize_t n = read(b->reader, buf_reserve(&b->rows, max), max);

    if (n > 0)
        buf_advance(&b->rows, (size_t)n);
}

static uint64_t count_lines(const struct buf *rows)
{
    uint64_t lines = 0;

    for (size_t i = 0; i < buf_length(rows); i++)
        lines += buf_data(rows)[i] == '\n';
    return lines;
}

static void write_line(struct bench *b)
{
    size_t left = buf_length(&b->unwritten);
    ssize_t n = left == 0 ? 0 : link_write(&b->line, buf_data(&b->unwritten), left);

    if (n > 0)
        buf_eat(&b->unwritten, (size_t)n);
}

/* What was not written waits for the reader, in order. */
static void take_rows(struct bench *b, const struct delivery *d)
{
    size_t sent = d->written && d->said > 0 ? (size_t)d->said : 0;

    b->written += d->written;
    b->torn += d->written && sent < buf_length(&d->rows);
    b->taken += !d->written;
    if (d->written)
        assert_true(b->lent && buf_length(&b->unwritten) == 0);
    if (sent < buf_length(&d->rows))
        b->lent = false;
    buf_append(&b->unwritten, buf_data(&d->rows) + sent, buf_length(&d->rows) - sent);
    write_line(b);
}

static void lend(struct bench *b)
{
    if (b->lent || buf_length(&b->unwritten) > 0)
        return;
    b->lent = second_lend(b->second, &b->line);
}

/* --- out --- */

static void take(struct bench *b, struct delivery *d)
{
    struct bytes detail, line;

    while (delivery_next_rejected(d, &detail, &line)) {
        buf_append_bytes(&b->rejected, detail);
        buf_append_char(&b->rejected, '|');
        buf_append_bytes(&b->rejected, line);
        buf_append_char(&b->rejected, '\n');
    }
    if (b->reader >= 0)
        take_rows(b, d);
    else
        buf_append_bytes(&b->rows, buf_bytes(&d->rows));
    b->row_count += d->row_count;
    second_release(b->second, b->f->engine);
    assert_balance_now(b);
}

static void take_what_is_there(struct bench *b)
{
    struct delivery *d;

    while ((d = second_first(b->second)) != NULL)
        take(b, d);
}

static void recall(struct bench *b)
{
    struct delivery *d;

    second_recall(b->second);
    while ((d = second_first(b->second)) != NULL && d->written)
        take(b, d);
    b->lent = false;
}

static void hand_over(struct bench *b)
{
    struct firing *f;
    bool out = second_out(b->second) > 0;

    while (second_takes(b->second) &&
           (f = engine_detach(b->f->engine, out ? 0 : SECOND_LEAST_BYTES)) != NULL)
        second_give(b->second, f);
}

static void reject(struct bench *b, const struct result *r)
{
    buf_append_text(&b->rejected, r->kind == RESULT_FAILED ? "on" : "select");
    buf_append_char(&b->rejected, '\n');
}

/* What the engine fires itself. */
static void pull_all(struct bench *b)
{
    struct buf *rows = b->reader >= 0 ? &b->unwritten : &b->rows;
    struct result results[RESULTS_MAX];
    int64_t fuel = ALL_FUEL;
    size_t n;

    while ((n = engine_pull(b->f->engine, results, RESULTS_MAX, &fuel)) > 0)
        for (size_t i = 0; i < n; i++)
            if (results[i].kind == RESULT_FAILED) {
                reject(b, &results[i]);
            } else if (encoder_results(b->encoder, &results[i], 1, SIZE_MAX, rows) == 1) {
                b->row_count++;
            } else {
                engine_reject_result(b->f->engine, &results[i]);
                reject(b, &results[i]);
            }
}

static void turn(struct bench *b)
{
    if (b->second == NULL) {
        pull_all(b);
        return;
    }
    take_what_is_there(b);
    if (second_out(b->second) == 0) {
        recall(b);
        pull_all(b);
    }
    if (b->reader >= 0) {
        write_line(b);
        lend(b);
    }
    hand_over(b);
}

/* Until all is given, as the loop does it: asleep while there is nothing to do. */
static void finish(struct bench *b)
{
    engine_end(b->f->engine, SIDE_LEFT);
    engine_end(b->f->engine, SIDE_RIGHT);
    while (turn(b), engine_has_work(b->f->engine))
        if (second_may_sleep(b->second))
            event_base_loop(b->base, EVLOOP_ONCE);
}

/* Windows large and small, one after the other, fired while the next ones fill. */
static void run(struct bench *b)
{
    for (int window = 0; window < 12; window++) {
        for (int i = 0; i < 10; i++) {
            push_many(b, window % 3 == 2 ? 5 : 400, 1000);
            turn(b);
        }
        b->now += SIZE_MS;
        engine_advance(b->f->engine, at(b->now));
        assert_balance_now(b);
    }
    finish(b);
}

/* --- tests --- */

static void assert_same(struct plan *(*plan)(void), const char *select, size_t piece)
{
    struct bench *one = open_bench(plan(), select, false, 0);
    struct bench *two = open_bench(plan(), select, true, piece);
    struct engine *a = one->f->engine, *b = two->f->engine;

    run(one);
    run(two);
    assert_true(one->row_count > 1000);
    assert_int_equal(two->row_count, one->row_count);
    assert_string_equal(buf_text(&two->rows), buf_text(&one->rows));
    assert_memory_equal(engine_books(b), engine_books(a), sizeof(struct books));
    assert_memory_equal(engine_lag(b), engine_lag(a), sizeof(struct lag));
    close_bench(one);
    close_bench(two);
}

static struct plan *full(void)
{
    return PLAN(.type = JOIN_FULL, .size_ms = SIZE_MS);
}

static struct plan *anti(void)
{
    return PLAN(.type = JOIN_ANTI, .size_ms = SIZE_MS);
}

static struct plan *failing(void)
{
    return PLAN(.type = JOIN_LEFT, .size_ms = SIZE_MS, .on = ON_FAILING);
}

static void rows_are_those_of_one_thread(void **state)
{
    static const size_t pieces[] = {1, PIECE, 256 << 10};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(pieces); i++) {
        assert_same(full, SELECT, pieces[i]);
        assert_same(anti, "left.k, left.id, window_end", pieces[i]);
        assert_same(failing, SELECT, pieces[i]);
        assert_same(full, SELECT_FAILING, pieces[i]);
    }
}

/* Has a window of 4,000 records fired, and nobody takes what it gives. */
static struct bench *with_a_full_ring(const char *select)
{
    struct bench *b = open_bench(PLAN(.size_ms = SIZE_MS), select, true, PIECE);

    push_many(b, 4000, 1000);
    b->now += SIZE_MS;
    engine_advance(b->f->engine, at(b->now));
    hand_over(b);
    assert_int_equal(second_out(b->second), 1);
    return b;
}

static void what_nobody_takes_stays_in_the_records(void **state)
{
    struct bench *b = with_a_full_ring(SELECT);
    const struct books *books = engine_books(b->f->engine);
    uint64_t pairs;

    (void)state;
    while (second_may_sleep(b->second))
        event_base_loop(b->base, EVLOOP_ONCE);
    assert_int_equal(engine_held(b->f->engine, SIDE_LEFT), 2000); /* nothing is settled */
    take(b, second_first(b->second));
    assert_true(books->results[RESULT_PAIR] > 0 && engine_held(b->f->engine, SIDE_LEFT) > 0);
    assert_true(b->row_count <= books->results[RESULT_PAIR]);
    assert_true(buf_length(&b->rows) < PIECE + 100);
    finish(b);
    pairs = books->results[RESULT_PAIR];
    assert_int_equal(b->row_count, pairs);
    assert_int_equal(engine_held(b->f->engine, SIDE_LEFT), 0);
    close_bench(b);
}

/* A reader that takes now much, now little; and who is asked for back now and then. */
static void run_with_a_line(struct bench *b)
{
    uint64_t luck = 3;

    for (int window = 0; window < 12; window++) {
        for (int i = 0; i < 10; i++) {
            push_many(b, window % 3 == 2 ? 5 : 400, 1000);
            turn(b);
            if (dice(&luck, 4) == 0)
                recall(b);
            read_line(b, dice(&luck, window % 2 == 0 ? 1 << 20 : 3000));
        }
        b->now += SIZE_MS;
        engine_advance(b->f->engine, at(b->now));
        assert_balance_now(b);
    }
    engine_end(b->f->engine, SIDE_LEFT);
    engine_end(b->f->engine, SIDE_RIGHT);
    while (turn(b), engine_has_work(b->f->engine) || buf_length(&b->unwritten) > 0)
        read_line(b, 1 << 20);
    read_line(b, 1 << 20);
}

static void rows_are_in_order_whoever_writes_them(void **state)
{
    static const size_t pieces[] = {1, PIECE, 256 << 10};
    struct bench *one = open_bench(full(), SELECT, false, 0);
    unsigned written = 0, torn = 0, taken = 0;

    (void)state;
    run(one);
    for (size_t i = 0; i < COUNT_OF(pieces); i++) {
        struct bench *two = open_bench(full(), SELECT, true, pieces[i]);
        open_line(two, true);
        run_with_a_line(two);
        assert_string_equal(buf_text(&two->rows), buf_text(&one->rows));
        assert_int_equal(two->row_count, one->row_count);
        written += two->written;
        torn += two->torn;
        taken += two->taken;
        close_bench(two);
    }
    assert_true(written > torn && torn > 0 && taken > 0);
    close_bench(one);
}

static void news_of_written_rows_come_several_at_once(void **state)
{
    struct bench *b = open_bench(PLAN(.size_ms = SIZE_MS), SELECT, true, PIECE);
    unsigned wakes = 0;

    (void)state;
    open_line(b, false);
    lend(b);
    push_many(b, 4000, 1000);
    b->now += SIZE_MS;
    engine_advance(b->f->engine, at(b->now));
    hand_over(b);
    while (second_out(b->second) > 0) {
        if (second_may_sleep(b->second)) {
            event_base_loop(b->base, EVLOOP_ONCE);
            wakes++;
        }
        take_what_is_there(b);
    }
    assert_true(b->written > 3 && b->torn + b->taken == 0);
    assert_true(b->written + 2 >= 3 * wakes); /* but for the last ones */
    read_line(b, 1 << 20);
    assert_int_equal(count_lines(&b->rows), b->row_count);
    close_bench(b);
}

static void it_may_end_at_any_moment(void **state)
{
    (void)state;
    for (int i = 0; i < 50; i++) {
        struct bench *b = with_a_full_ring(SELECT);
        for (int j = 0; j < i; j++)
            take_what_is_there(b);
        close_bench(b);
    }
}

static void what_is_forgotten_is_counted(void **state)
{
    struct bench *all = with_a_full_ring(SELECT), *b = with_a_full_ring(SELECT);
    int64_t fuel = ALL_FUEL;

    (void)state;
    finish(all);
    assert_int_equal(second_forget(b->second, b->f->engine, &fuel), all->row_count);
    assert_int_equal(second_out(b->second), 0);
    assert_false(engine_has_work(b->f->engine));
    close_bench(all);
    close_bench(b);
}

static void forgetting_ends_with_its_fuel(void **state)
{
    struct bench *b = open_bench(PLAN(.size_ms = SIZE_MS), SELECT, true, PIECE);
    int64_t fuel = 1;

    (void)state;
    push_many(b, 4000, 1); /* four million pairs */
    b->now += SIZE_MS;
    engine_advance(b->f->engine, at(b->now));
    hand_over(b);
    second_forget(b->second, b->f->engine, &fuel);
    assert_int_equal(second_out(b->second), 1);
    assert_true(engine_has_work(b->f->engine));
    close_bench(b);
}

static void pairs_without_a_row_come_with_their_words(void **state)
{
    struct bench *b = with_a_full_ring(SELECT_FAILING);
    const char *text;

    (void)state;
    finish(b);
    text = buf_text(&b->rejected);
    assert_non_null(strstr(text, "select, column 2 x: division by zero; right: "));
    assert_non_null(strstr(text, "7,true\n"));
    assert_true(engine_books(b->f->engine)->results_rejected > 0);
    close_bench(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_those_of_one_thread),
        cmocka_unit_test(what_nobody_takes_stays_in_the_records),
        cmocka_unit_test(rows_are_in_order_whoever_writes_them),
        cmocka_unit_test(news_of_written_rows_come_several_at_once),
        cmocka_unit_test(it_may_end_at_any_moment),
        cmocka_unit_test(what_is_forgotten_is_counted),
        cmocka_unit_test(forgetting_ends_with_its_fuel),
        cmocka_unit_test(pairs_without_a_row_come_with_their_words),
    };
    return cmocka_run_group_tests_name("flow/second", tests, NULL, NULL);
}
