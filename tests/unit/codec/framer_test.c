#include "unit.h"

#include "base/buf.h"
#include "base/mem.h"
#include "codec/framer.h"

#define MAX_LINE 12

static const char *const kind_words[] = {"none", "record", "too long", "unfinished", "quotes"};

/* All frames of `text`, read at once: `kind{line}`, and behind them what waits. */
static const char *frames(struct framer *f, const char *text, enum input_end end, struct buf *to)
{
    size_t n = strlen(text);
    char *bytes = mem_alloc(n);
    const struct input in = {bytes, n, end};
    struct frame frame = {.next = 0};

    memcpy(bytes, text, n);
    buf_clear(to);
    for (;;) {
        frame = framer_next(f, &in, frame.next);
        if (frame.kind == FRAME_NONE)
            break;
        buf_printf(to, "%s{%.*s} ", kind_words[frame.kind], (int)frame.line.n, frame.line.p);
    }
    buf_append(to, text + frame.next, n - frame.next);
    mem_free(bytes);
    return buf_text(to);
}

struct line_row {
    const char *text;
    enum input_end end;
    const char *frames;
};

static void check_rows(const struct line_row *rows, size_t count, bool multiline)
{
    struct buf to = BUF_EMPTY;

    for (size_t i = 0; i < count; i++) {
        struct framer f;

        framer_init(&f, MAX_LINE, multiline, ',');
        assert_string_equal(frames(&f, rows[i].text, rows[i].end, &to), rows[i].frames);
    }
    buf_done(&to);
}

static void cuts_at_lf_and_drops_one_cr(void **state)
{
    static const struct line_row rows[] = {
        {"", INPUT_GOES_ON, ""},
        {"a\n", INPUT_GOES_ON, "record{a} "},
        {"a\r\n", INPUT_GOES_ON, "record{a} "},
        {"a\r\r\n", INPUT_GOES_ON, "record{a\r} "},
        {"a\rb\n", INPUT_GOES_ON, "record{a\rb} "},
        {"a\nb\r\nc\n", INPUT_GOES_ON, "record{a} record{b} record{c} "},
        {"a\nb", INPUT_GOES_ON, "record{a} b"},
        {"a\nb\r", INPUT_GOES_ON, "record{a} b\r"},
        {"\"a\nb\"\n", INPUT_GOES_ON, "record{\"a} record{b\"} "},
    };

    (void)state;
    check_rows(rows, COUNT_OF(rows), false);
}

static void empty_lines_are_nothing(void **state)
{
    static const struct line_row rows[] = {
        {"\n", INPUT_GOES_ON, ""},
        {"\n\r\n\n\r\n", INPUT_GOES_ON, ""},
        {"\n\na\n\r\n", INPUT_GOES_ON, "record{a} "},
        {"\na", INPUT_GOES_ON, "a"},
        {"\r", INPUT_GOES_ON, "\r"},
        {"\r", INPUT_ENDED, ""},
        {"\r", INPUT_BROKEN, ""},
        {"\n\r", INPUT_ENDED, ""},
    };

    (void)state;
    check_rows(rows, COUNT_OF(rows), false);
    check_rows(rows, COUNT_OF(rows), true);
}

static void an_end_in_order_ends_the_last_line(void **state)
{
    static const struct line_row rows[] = {
        {"", INPUT_ENDED, ""},
        {"a\n", INPUT_ENDED, "record{a} "},
        {"a\nb", INPUT_ENDED, "record{a} record{b} "},
        {"a\nb\r", INPUT_ENDED, "record{a} record{b} "},
        {"b\r\r", INPUT_ENDED, "record{b\r} "},
        {"", INPUT_BROKEN, ""},
        {"a\n", INPUT_BROKEN, "record{a} "},
        {"a\nb", INPUT_BROKEN, "record{a} unfinished{b} "},
        {"a\nb\r", INPUT_BROKEN, "record{a} unfinished{b} "},
    };

    (void)state;
    check_rows(rows, COUNT_OF(rows), false);
    check_rows(rows, COUNT_OF(rows), true);
}

static void what_is_left_ends_with_its_last_whole_record(void **state)
{
    static const struct line_row lines[] = {
        {"", INPUT_LEFT, ""},
        {"a\n", INPUT_LEFT, "record{a} "},
        {"a\nb", INPUT_LEFT, "record{a} "},
        {"b\r", INPUT_LEFT, ""},
        {"1234567890123", INPUT_LEFT, ""},
    };
    static const struct line_row records[] = {
        {"a\n\"b\nc", INPUT_LEFT, "record{a} "},
        {"\"b\nc\"", INPUT_LEFT, ""},
        {"\"b\nc\"\nd", INPUT_LEFT, "record{\"b\nc\"} "},
        {"\"b\nc\"d\ne", INPUT_LEFT, "quotes{\"b} quotes{c\"d} "},
    };

    (void)state;
    check_rows(lines, COUNT_OF(lines), false);
    check_rows(lines, COUNT_OF(lines), true);
    check_rows(records, COUNT_OF(records), true);
}

static void a_line_end_does_not_count_as_length(void **state)
{
    static const struct line_row rows[] = {
        {"123456789012\n", INPUT_GOES_ON, "record{123456789012} "},
        {"123456789012\r\n", INPUT_GOES_ON, "record{123456789012} "},
        {"123456789012\r", INPUT_ENDED, "record{123456789012} "},
        {"123456789012", INPUT_BROKEN, "unfinished{123456789012} "},
        {"123456789012\r", INPUT_BROKEN, "unfinished{123456789012} "},
        {"1234567890123\nb\n", INPUT_GOES_ON, "too long{1234567890123} record{b} "},
        {"1234567890123\r\nb\n", INPUT_GOES_ON, "too long{1234567890123} record{b} "},
        {"1234567890123", INPUT_ENDED, "too long{1234567890123} "},
        {"1234567890123", INPUT_BROKEN, "too long{1234567890123} "},
        {"1234567890123", INPUT_GOES_ON, "1234567890123"}, /* up to 1 KiB would be shown */
    };

    (void)state;
    check_rows(rows, COUNT_OF(rows), false);
    check_rows(rows, COUNT_OF(rows), true);
}

static void quoted_fields_go_on_at_the_next_line(void **state)
{
    static const struct line_row rows[] = {
        {"\"a\nb\"\nc\n", INPUT_GOES_ON, "record{\"a\nb\"} record{c} "},
        {"\"a\r\nb\"\r\nc\n", INPUT_GOES_ON, "record{\"a\r\nb\"} record{c} "},
        {"\"\n\n\n\"\n", INPUT_GOES_ON, "record{\"\n\n\n\"} "},
        {"x,\"\n\",\"\n\"\n", INPUT_GOES_ON, "record{x,\"\n\",\"\n\"} "},
        {"\"\"\"\n\"\"\"\n", INPUT_GOES_ON, "record{\"\"\"\n\"\"\"} "},
        {"\"a\n", INPUT_GOES_ON, "\"a\n"},
        {"\"a\nb\"", INPUT_GOES_ON, "\"a\nb\""},
        {"\"a\nb\"", INPUT_ENDED, "record{\"a\nb\"} "},
        {"\"a\nb\"\r", INPUT_ENDED, "record{\"a\nb\"} "},
        {"\"a\"\"b\"\n", INPUT_GOES_ON, "record{\"a\"\"b\"} "},
    };

    (void)state;
    check_rows(rows, COUNT_OF(rows), true);
}

static void where_that_fails_the_first_line_is_alone(void **state)
{
    static const struct line_row rows[] = {
        /* bad quoting, at once or behind the closing quote */
        {"a\"b\nc\n", INPUT_GOES_ON, "quotes{a\"b} record{c} "},
        {"\"a\"b\nc\n", INPUT_GOES_ON, "quotes{\"a\"b} record{c} "},
        {"\"a\nb\"c\nd\n", INPUT_GOES_ON, "quotes{\"a} quotes{b\"c} record{d} "},
        {"\"a\n\"b\nc\n\"\n", INPUT_GOES_ON, "quotes{\"a} record{\"b\nc\n\"} "},
        /* longer than max_line */
        {"\"a\n45678\n01\"\nb\n", INPUT_GOES_ON, "record{\"a\n45678\n01\"} record{b} "},
        {"\"a\n45678\n012\"\n", INPUT_GOES_ON, "quotes{\"a} record{45678} quotes{012\"} "},
        {"\"a\n45678\n012", INPUT_GOES_ON, "\"a\n45678\n012"},
        {"\"a\n45678\n012\r", INPUT_GOES_ON, "\"a\n45678\n012\r"},
        {"\"a\n45678\n0123", INPUT_GOES_ON, "\"a\n45678\n0123"},
        {"\"a\n45678\n01234", INPUT_GOES_ON, "quotes{\"a} record{45678} 01234"},
        /* the end of input */
        {"\"a\nb\n", INPUT_ENDED, "quotes{\"a} record{b} "},
        {"\"a\nb", INPUT_ENDED, "quotes{\"a} record{b} "},
        {"\"a", INPUT_ENDED, "quotes{\"a} "},
        {"\"a\nb", INPUT_BROKEN, "quotes{\"a} unfinished{b} "},
        {"\"a\nb\"", INPUT_BROKEN, "quotes{\"a} unfinished{b\"} "},
        {"\"a\n\"b\n\"\"", INPUT_ENDED, "quotes{\"a} quotes{\"b} record{\"\"} "},
        /* an over-long first line is only that */
        {"\"234567890123\n\"\n", INPUT_ENDED, "too long{\"234567890123} quotes{\"} "},
    };

    (void)state;
    check_rows(rows, COUNT_OF(rows), true);
}

/* --- bytes that come piece by piece --- */

static void what_was_searched_is_not_searched_again(void **state)
{
    static const char text[] = "a,\"b\n\"\",c\nd";
    struct framer f;
    struct frame frame;

    (void)state;
    framer_init(&f, 100, true, ',');
    for (size_t n = 1; n <= strlen(text); n++) {
        frame = framer_next(&f, &(struct input){text, n, INPUT_GOES_ON}, 0);
        assert_int_equal(frame.kind, FRAME_NONE);
        assert_int_equal(frame.next, 0);
        assert_int_equal(f.searched, n);
        assert_int_equal(f.open, n < 5 ? 0 : n < 10 ? 5 : 10);
        assert_true(framer_within_record(&f));
    }
    framer_forget(&f);
    assert_false(framer_within_record(&f));
}

static void an_over_long_line_is_shown_once_and_thrown_away_as_it_comes(void **state)
{
    char piece[1000];
    struct framer f;
    struct frame frame;

    (void)state;
    memset(piece, 'x', sizeof(piece));
    framer_init(&f, 100, false, ',');
    frame = framer_next(&f, &(struct input){piece, sizeof(piece), INPUT_GOES_ON}, 0);
    assert_int_equal(frame.kind, FRAME_NONE);
    assert_int_equal(frame.next, 0);
    {
        char more[1025]; /* one more than what is shown of such a line */

        memset(more, 'x', sizeof(more));
        frame = framer_next(&f, &(struct input){more, sizeof(more), INPUT_GOES_ON}, 0);
        assert_int_equal(frame.kind, FRAME_TOO_LONG);
        assert_int_equal(frame.line.n, 1024);
        assert_int_equal(frame.next, sizeof(more));
    }
    for (int i = 0; i < 10; i++) {
        frame = framer_next(&f, &(struct input){piece, sizeof(piece), INPUT_GOES_ON}, 0);
        assert_int_equal(frame.kind, FRAME_NONE);
        assert_int_equal(frame.next, sizeof(piece));
    }
    memcpy(piece, "x\ny\n", 4);
    frame = framer_next(&f, &(struct input){piece, 4, INPUT_GOES_ON}, 0);
    assert_int_equal(frame.kind, FRAME_RECORD);
    assert_text(frame.line.p, frame.line.n, "y");
    assert_false(framer_within_record(&f));
}

static void a_cr_behind_the_longest_line_may_be_its_end(void **state)
{
    static const size_t lengths[] = {1, 1023, 1024, 1025, 2000};
    char bytes[2003];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(lengths); i++) {
        size_t n = lengths[i];
        struct framer f;

        memset(bytes, 'x', sizeof(bytes));
        memcpy(bytes + n, "\r\n", 2);
        framer_init(&f, n, false, ',');
        for (size_t come = 1; come < n + 2; come++)
            assert_int_equal(framer_next(&f, &(struct input){bytes, come, INPUT_GOES_ON}, 0).kind,
                             FRAME_NONE);
        assert_int_equal(framer_next(&f, &(struct input){bytes, n + 2, INPUT_GOES_ON}, 0).kind,
                         FRAME_RECORD);
    }
}

static void an_end_within_an_over_long_line_gives_nothing_more(void **state)
{
    static const enum input_end ends[] = {INPUT_ENDED, INPUT_BROKEN};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(ends); i++) {
        struct framer f;
        struct frame frame;

        framer_init(&f, 100, false, ',');
        f.discarding = true;
        frame = framer_next(&f, &(struct input){"xyz", 3, ends[i]}, 0);
        assert_int_equal(frame.kind, FRAME_NONE);
        assert_int_equal(frame.next, 3);
    }
}

/* Each line opens a quote: looking for its end from each anew, as far as max_line
 * allows, would take hours here. */
static void hostile_quotes_cost_time_in_proportion(void **state)
{
    enum { LINES = 400000 };
    static const char *const lines[] = {"\"a\n", "a\"\n", "\"\"\"\n", "\",\n", "\"x\ny\n"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        struct buf text = BUF_EMPTY;
        struct frame frame = {.next = 0};
        struct input in;
        struct framer f;

        for (int j = 0; j < LINES; j++)
            buf_append_text(&text, lines[i]);
        in = (struct input){buf_data(&text), buf_length(&text), INPUT_ENDED};
        framer_init(&f, buf_length(&text), true, ',');
        do
            frame = framer_next(&f, &in, frame.next);
        while (frame.kind != FRAME_NONE);
        assert_int_equal(frame.next, in.n);
        buf_done(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cuts_at_lf_and_drops_one_cr),
        cmocka_unit_test(empty_lines_are_nothing),
        cmocka_unit_test(an_end_in_order_ends_the_last_line),
        cmocka_unit_test(what_is_left_ends_with_its_last_whole_record),
        cmocka_unit_test(a_line_end_does_not_count_as_length),
        cmocka_unit_test(quoted_fields_go_on_at_the_next_line),
        cmocka_unit_test(where_that_fails_the_first_line_is_alone),
        cmocka_unit_test(what_was_searched_is_not_searched_again),
        cmocka_unit_test(an_over_long_line_is_shown_once_and_thrown_away_as_it_comes),
        cmocka_unit_test(a_cr_behind_the_longest_line_may_be_its_end),
        cmocka_unit_test(an_end_within_an_over_long_line_gives_nothing_more),
        cmocka_unit_test(hostile_quotes_cost_time_in_proportion),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
