#include "engine_fixture.h"
#include "join/window_join.h"

/* --- full state --- */

#define LIMIT (UINT64_C(1) << 20)

/* Pushes rows at `t` until state has `bytes`, or is full. */
static void fill_to(struct engine_fixture *f, int64_t t, uint64_t bytes)
{
    char line[200];

    memset(line, 'a', sizeof(line));
    memcpy(line, "k,b,", 4);
    while (engine_takes(f->engine) && engine_state_bytes(f->engine) < bytes) {
        for (int i = 0; i < 10; i++)
            add_line(f, SIDE_LEFT, (struct bytes){line, sizeof(line)});
        push_added(f, SIDE_LEFT, t);
    }
    assert_true(engine_state_bytes(f->engine) <= LIMIT);
}

static void fill(struct engine_fixture *f, int64_t t)
{
    fill_to(f, t, UINT64_MAX);
    assert_false(engine_takes(f->engine));
    assert_true(engine_state_bytes(f->engine) > LIMIT - LIMIT / 32);
}

static void rows_are_taken_in_order_until_state_is_full(void **state)
{
    struct engine_fixture *f = open_engine(PLAN(.type = JOIN_LEFT, .state_bytes_max = 16384));
    struct batch *b = &f->batch[SIDE_LEFT];
    size_t taken, more;

    (void)state;
    add_rejected(f, SIDE_LEFT);
    while (b->count < BATCH_ROWS)
        add_line(f, SIDE_LEFT,
                 BYTES_LIT("k,a,a record that is long enough to fill the state soon, if it "
                           "comes some hundreds of times"));
    taken = engine_push(f->engine, SIDE_LEFT, b, 0, at(1));
    assert_true(taken > 50 && taken < b->count);
    assert_false(engine_takes(f->engine));
    assert_int_equal(books_of(f, SIDE_LEFT).received, taken);
    assert_int_equal(engine_held(f->engine, SIDE_LEFT), taken - 1);
    assert_int_equal(b->rows[taken].reject, REJECT_NONE);
    assert_balance(f);

    assert_int_equal(engine_push(f->engine, SIDE_LEFT, b, taken, at(2)), 0);
    assert_int_equal(books_of(f, SIDE_LEFT).received, taken);
    advance(f, 10000);
    drain(f);
    assert_true(engine_takes(f->engine));
    more = engine_push(f->engine, SIDE_LEFT, b, taken, at(10001));
    assert_true(more > 50);
    assert_int_equal(books_of(f, SIDE_LEFT).received, taken + more);
    assert_int_equal(books_of(f, SIDE_LEFT).rejected, 1);
    assert_balance(f);
    close_engine(f);
}

/* Else each chunk that is freed would wake the inputs for a handful of records. */
static void state_stays_full_until_a_sixteenth_is_free(void **state)
{
    struct engine_fixture *f =
        open_engine(PLAN(.type = JOIN_LEFT, .size_ms = 10, .state_bytes_max = LIMIT));
    int waits = 0;
    struct result r[RESULTS_MAX];

    (void)state;
    for (int64_t i = 1; i <= 10; i++) /* ten windows of a fiftieth each, and a large one */
        fill_to(f, 10 * i, (uint64_t)i * LIMIT / 50);
    fill(f, 110);
    assert_true(engine_has_work(f->engine));
    while (!engine_takes(f->engine)) {
        uint64_t before = engine_state_bytes(f->engine);
        assert_true(pull(f, r, RESULTS_MAX, ALL_FUEL) > 0 || engine_has_work(f->engine));
        waits += engine_state_bytes(f->engine) < before && !engine_takes(f->engine);
    }
    assert_true(waits >= 2);
    assert_true(engine_has_work(f->engine));
    assert_in_range(engine_state_bytes(f->engine), LIMIT - LIMIT / 8, LIMIT - LIMIT / 16);
    fill(f, 115);
    close_engine(f);
}

static void state_is_not_full_any_more_when_all_that_was_due_has_gone(void **state)
{
    struct engine_fixture *f =
        open_engine(PLAN(.type = JOIN_LEFT, .size_ms = 10, .state_bytes_max = LIMIT));

    (void)state;
    fill_to(f, 1, LIMIT / 100);
    fill(f, 11);
    drain(f);
    assert_true(engine_state_bytes(f->engine) > LIMIT - LIMIT / 16);
    assert_true(engine_takes(f->engine));
    fill(f, 12);
    close_engine(f);
}

/* A walk's own tables may take more than the records that it frees, and its results
 * may be none: whatever is refused must be taken some time. */
static void full_state_never_stays_full_for_ever(void **state)
{
    static const enum join_type types[] = {JOIN_INNER, JOIN_FULL};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(types); i++)
        for (uint64_t limit = 4096; limit <= 256 << 10; limit *= 2) {
            struct engine_fixture *f =
                open_engine(PLAN(.type = types[i], .size_ms = 10, .state_bytes_max = limit));
            char line[64];
            int n = 0;
            do {
                snprintf(line, sizeof(line), "%d,a,", n++);
                add_line(f, SIDE_LEFT, bytes_of(line));
            } while (push_added(f, SIDE_LEFT, 1) == 1);
            advance(f, 10);
            drain(f);
            assert_true(engine_takes(f->engine));
            push(f, SIDE_LEFT, 10, "k,a,true");
            close_engine(f);
        }
}

static void without_its_limit_state_grows_as_it_must(void **state)
{
    struct engine_fixture *f = open_engine(PLAN(.size_ms = 10, .state_bytes_max = LIMIT));

    (void)state;
    fill(f, 1);
    engine_lift_limit(f->engine);
    assert_true(engine_takes(f->engine));
    for (int i = 0; i < 100; i++) {
        while (f->batch[SIDE_LEFT].count < BATCH_ROWS)
            add_line(f, SIDE_LEFT, BYTES_LIT("k,a,some bytes"));
        assert_int_equal(push_added(f, SIDE_LEFT, 2), BATCH_ROWS);
    }
    assert_true(engine_state_bytes(f->engine) > LIMIT + LIMIT / 4);
    assert_true(engine_takes(f->engine));
    close_engine(f);
}

static void what_is_not_held_needs_no_room(void **state)
{
    struct engine_fixture *f = open_engine(PLAN(.state_bytes_max = LIMIT, .where = {NULL, "ok"}));

    (void)state;
    fill(f, 1);
    add_line(f, SIDE_RIGHT, BYTES_LIT("k,x,false"));
    add_line(f, SIDE_RIGHT, BYTES_LIT(",y,true"));
    add_rejected(f, SIDE_RIGHT);
    assert_false(engine_takes(f->engine));
    assert_int_equal(engine_push(f->engine, SIDE_RIGHT, &f->batch[SIDE_RIGHT], 0, at(1)), 3);
    assert_fates(f, SIDE_RIGHT,
                 (struct books_side){.received = 3, .rejected = 1, .filtered = 1, .unmatched = 1});
    close_engine(f);
}

static void memory_is_kept_until_a_trim(void **state)
{
    struct engine_fixture *f = open_engine(PLAN(.type = JOIN_LEFT, .size_ms = 10));
    char *line = mem_alloc(10000);

    (void)state;
    memset(line, 'a', 10000);
    memcpy(line, "k,b,", 4);
    for (int i = 0; i < 2000; i++) {
        add_line(f, SIDE_LEFT, (struct bytes){line, 10000});
        engine_push(f->engine, SIDE_LEFT, &f->batch[SIDE_LEFT], 0, at(1));
        batch_clear(&f->batch[SIDE_LEFT]);
    }
    engine_trim(f->engine);
    assert_true(engine_mapped_bytes(f->engine) >= engine_state_bytes(f->engine) / 2);
    advance(f, 10);
    drain(f);
    assert_true(engine_mapped_bytes(f->engine) > 2 * ENGINE_TRIM_KEEP);
    engine_trim(f->engine);
    assert_true(engine_mapped_bytes(f->engine) <= ENGINE_TRIM_KEEP);
    push(f, SIDE_LEFT, 11, "k,a,true");
    assert_string_equal(end(f), "(a,null)");
    mem_free(line);
    close_engine(f);
}

/* --- the books --- */

#define RANDOM_STATE 16384 /* often full */

static void random_row(struct engine_fixture *f, enum side side, uint64_t *seed, struct buf *text)
{
    static const char *const oks[] = {"true", "true", "false", NULL};
    uint32_t key = dice(seed, 8);
    const char *ok = oks[dice(seed, COUNT_OF(oks))];

    buf_clear(text);
    if (key > 0)
        buf_printf(text, "key%u", key);
    if (dice(seed, 10) == 0) {
        add_rejected(f, side);
    } else if (dice(seed, 3) == 0) {
        add_packed(f, side, key == 0 ? NULL : buf_text(text), "packed", ok);
    } else {
        buf_printf(text, ",id,%s", ok == NULL ? "" : ok);
        add_line(f, side, (struct bytes){buf_text(text), buf_length(text)});
    }
}

static void random_pushes(struct engine_fixture *f, uint64_t *seed, int64_t *t)
{
    struct buf texts[20] = {0};
    enum side side = (enum side)dice(seed, 2);
    size_t rows = dice(seed, COUNT_OF(texts)), taken;

    for (size_t i = 0; i < rows; i++)
        random_row(f, side, seed, &texts[i]);
    taken = push_added(f, side, *t);
    assert_true(taken == rows || engine_state_bytes(f->engine) > RANDOM_STATE / 2);
    for (size_t i = 0; i < rows; i++)
        buf_done(&texts[i]);
}

static void books_balance_at_every_step(void **state)
{
    static const char *const ons[] = {NULL, "left.ok", "right.ok"};

    (void)state;
    for (uint64_t run = 0; run < 60; run++) {
        struct engine_fixture *f =
            open_engine(PLAN(.type = (enum join_type)(run % JOIN_TYPES), .on = ons[run / 7 % 3],
                             .where = {run % 5 == 0 ? "ok" : NULL, run % 4 == 0 ? "ok" : NULL},
                             .size_ms = 10, .state_bytes_max = RANDOM_STATE));
        struct result r[RESULTS_MAX];
        uint64_t seed = run << 32;
        int64_t t = 0;

        for (int step = 0; step < 200; step++) {
            if (engine_takes(f->engine) && dice(&seed, 2) == 0)
                random_pushes(f, &seed, &t);
            else if (dice(&seed, 3) == 0)
                advance(f, t += dice(&seed, 8));
            else
                pull(f, r, 1 + dice(&seed, RESULTS_MAX), 1 + dice(&seed, 60));
        }
        end(f);
        assert_true(books_of(f, SIDE_LEFT).received > 100);
        assert_int_equal(engine_held(f->engine, SIDE_LEFT), 0);
        assert_int_equal(engine_held(f->engine, SIDE_RIGHT), 0);
        close_engine(f);
    }
}

/* What is used of a chunk is shortened by its last record: the record is there no more. */
static void lose_last_record(struct window_log *l)
{
    struct log_part *part = &l->parts[0];
    struct log_chunk *tail = part->chunks[part->count - 1];
    size_t stride = 0;

    for (uint32_t place = 0; place < part->used; place += (uint32_t)stride)
        stride = record_stride(log_chunk_record(tail, place));
    part->used -= (uint32_t)stride;
}

/* The bug that the books are there for: one is made, and must show at once, and
 * for ever. */
static void books_show_a_record_that_the_store_has_lost(void **state)
{
    (void)state;
    for (int s = 0; s < SIDES; s++) {
        struct engine_fixture *f = open_engine(PLAN(.type = JOIN_FULL));
        const struct window_join *join = engine_operator_state(f->engine);
        struct result r[RESULTS_MAX];
        int64_t fuel = ALL_FUEL;

        push(f, s, 1, "k,a,true m,b,true k,c,true");
        push(f, side_other(s), 2, "k,x,true");
        assert_true(engine_books_balance(f->engine));
        lose_last_record(&pane_list_at(&join->open.panes, 0)->side[s]);
        assert_false(engine_books_balance(f->engine));

        engine_advance(f->engine, at(10000));
        while (engine_has_work(f->engine))
            engine_pull(f->engine, r, RESULTS_MAX, &fuel);
        assert_int_equal(engine_held(f->engine, s), 0);
        assert_false(books_balance(&engine_books(f->engine)->side[s], engine_held(f->engine, s)));
        assert_false(engine_books_balance(f->engine));
        assert_true(books_balance(&engine_books(f->engine)->side[side_other(s)],
                                  engine_held(f->engine, side_other(s))));
        close_engine(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_taken_in_order_until_state_is_full),
        cmocka_unit_test(state_stays_full_until_a_sixteenth_is_free),
        cmocka_unit_test(state_is_not_full_any_more_when_all_that_was_due_has_gone),
        cmocka_unit_test(full_state_never_stays_full_for_ever),
        cmocka_unit_test(without_its_limit_state_grows_as_it_must),
        cmocka_unit_test(what_is_not_held_needs_no_room),
        cmocka_unit_test(memory_is_kept_until_a_trim),
        cmocka_unit_test(books_balance_at_every_step),
        cmocka_unit_test(books_show_a_record_that_the_store_has_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
