/*
 * Counted frames: tables, any cut of them, and a reference that is shown all bytes at once and
 * keeps nothing in mind.
 */
#include "unit.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "codec/octets.h"
#include "transcript.h"

#define MAX_LINE 12

static const char *const kind_words[] = {
    [FRAME_NONE] = "none",         [FRAME_RECORD] = "record",     [FRAME_TOO_LONG] = "long",
    [FRAME_UNFINISHED] = "broken", [FRAME_BAD_QUOTES] = "quotes", [FRAME_BAD_COUNT] = "bad",
};

struct reading {
    struct octets octets;
    struct bytes input;
    size_t done;    /* bytes of the input */
    struct buf *to; /* `kind{line} ` for each frame */
};

static void write_frame(struct buf *to, enum frame_kind kind, struct bytes line)
{
    buf_printf(to, "%s{", kind_words[kind]);
    buf_append_bytes(to, line);
    buf_append_text(to, "} ");
}

/* Shows the bytes up to `n`, in memory that ends with them. */
static void show(struct reading *r, size_t n, enum input_end end)
{
    struct input in = {.n = n - r->done, .end = end};
    struct frame f = {.next = 0};
    char *bytes = mem_alloc(in.n);

    if (in.n > 0)
        memcpy(bytes, r->input.p + r->done, in.n);
    in.bytes = bytes;
    for (;;) {
        f = octets_next(&r->octets, &in, f.next);
        assert_true(f.next <= in.n);
        if (f.kind == FRAME_NONE)
            break;
        assert_true(f.line.n > 0);
        write_frame(r->to, f.kind, f.line);
    }
    r->done += f.next;
    if (end != INPUT_GOES_ON)
        assert_int_equal(r->done, n);
    mem_free(bytes);
}

/* All frames of an input that comes in pieces of `step` bytes; 0: of random ones. */
static const char *frames(struct bytes input, size_t max_line, bool lines_too, enum input_end end,
                          size_t step, uint64_t *random, struct buf *to)
{
    struct reading r = {.input = input, .to = to};

    buf_clear(to);
    octets_init(&r.octets, max_line, lines_too, false, ',');
    for (size_t n = 0; n < input.n;) {
        n += step > 0 ? step : 1 + transcript_random(random) % 40;
        if (n < input.n)
            show(&r, n, INPUT_GOES_ON);
    }
    show(&r, input.n, end);
    return buf_text(to);
}

/* --- tables --- */

struct example {
    const char *text;
    enum input_end end;
    const char *frames;
};

static void check(const struct example *examples, size_t count, bool lines_too)
{
    struct buf to = BUF_EMPTY;

    for (size_t i = 0; i < count; i++) {
        struct bytes input = bytes_of(examples[i].text);

        for (size_t step = 1; step <= input.n + 1; step++)
            assert_string_equal(
                frames(input, MAX_LINE, lines_too, examples[i].end, step, NULL, &to),
                examples[i].frames);
    }
    buf_done(&to);
}

static void counts_say_where_records_end(void **state)
{
    static const struct example examples[] = {
        {"", INPUT_ENDED, ""},
        {"1 a", INPUT_GOES_ON, "record{a} "},
        {"3 a,b3 c,d", INPUT_GOES_ON, "record{a,b} record{c,d} "},
        {"2 5 1 x", INPUT_GOES_ON, "record{5 } record{x} "},
        {"007 abcdefg1 h", INPUT_GOES_ON, "record{abcdefg} record{h} "},
        {"0000000001 a", INPUT_GOES_ON, "record{a} "},
        {"3  a 1 b", INPUT_GOES_ON, "record{ a } record{b} "},
        {"7 {\"a\":1}", INPUT_GOES_ON, "record{{\"a\":1}} "},
        {"12 123456789012", INPUT_GOES_ON, "record{123456789012} "},
    };

    (void)state;
    check(examples, COUNT_OF(examples), false);
}

static void a_line_end_at_a_frames_end_is_not_its_records(void **state)
{
    static const struct example examples[] = {
        {"4 a,b\n1 c", INPUT_GOES_ON, "record{a,b} record{c} "},
        {"5 a,b\r\n", INPUT_GOES_ON, "record{a,b} "},
        {"3 a\n\n", INPUT_GOES_ON, "record{a\n} "},
        {"2 a\r", INPUT_GOES_ON, "record{a\r} "},
        {"3 a\nb", INPUT_GOES_ON, "record{a\nb} "},
        {"13 123456789012\n", INPUT_GOES_ON, "record{123456789012} "},
        {"14 123456789012\r\n", INPUT_GOES_ON, "record{123456789012} "},
        {"13 1234567890123", INPUT_GOES_ON, "long{1234567890123} "},
        {"14 1234567890123\n", INPUT_GOES_ON, "long{1234567890123} "},
        {"14 123456789012\n\n", INPUT_GOES_ON, "long{123456789012\n} "},
        {"15 1234567890123\r\n1 a", INPUT_GOES_ON, "long{1234567890123} record{a} "},
    };

    (void)state;
    check(examples, COUNT_OF(examples), false);
}

static void what_is_empty_is_nothing(void **state)
{
    static const struct example examples[] = {
        {"0 ", INPUT_GOES_ON, ""},
        {"0 1 a0 0 ", INPUT_GOES_ON, "record{a} "},
        {"1 \n2 \r\n1 a", INPUT_GOES_ON, "record{a} "},
        {"2 \n\n", INPUT_GOES_ON, "record{\n} "},
        {"\n\n\r\n1 a\n\r\n1 b\r\n", INPUT_GOES_ON, "record{a} record{b} "},
        {"1 a\n", INPUT_ENDED, "record{a} "},
        {"1 a\r", INPUT_ENDED, "record{a} "},
        {"1 a\r", INPUT_BROKEN, "record{a} "},
        {"1 a\r1 b\n", INPUT_BROKEN, "record{a} bad{\r1 b} "},
    };

    (void)state;
    check(examples, COUNT_OF(examples), false);
}

static void what_has_no_count_is_bad_up_to_its_line_end(void **state)
{
    static const struct example examples[] = {
        {"a,b\n1 c", INPUT_GOES_ON, "bad{a,b} record{c} "},
        {"a,b\r\n1 c", INPUT_GOES_ON, "bad{a,b} record{c} "},
        {" 1 a\n1 c", INPUT_GOES_ON, "bad{ 1 a} record{c} "},
        {"-1 a\n1 c", INPUT_GOES_ON, "bad{-1 a} record{c} "},
        {"+1 a\n", INPUT_GOES_ON, "bad{+1 a} "},
        {"1\ta\n", INPUT_GOES_ON, "bad{1\ta} "},
        {"1,a\n1 c", INPUT_GOES_ON, "bad{1,a} record{c} "},
        {"5\n1 c", INPUT_GOES_ON, "bad{5} record{c} "},
        {"12345678901 a\n1 c", INPUT_GOES_ON, "bad{12345678901 a} record{c} "},
        {"1 ab\n1 c", INPUT_GOES_ON, "record{a} bad{b} record{c} "},
        {"a", INPUT_GOES_ON, ""},
        {"a", INPUT_ENDED, "bad{a} "},
        {"a", INPUT_BROKEN, "bad{a} "},
        {"a", INPUT_LEFT, ""},
        {"12345678901", INPUT_ENDED, "bad{12345678901} "},
        {"too long for a line\n1 c", INPUT_GOES_ON, "bad{too long for a line} record{c} "},
    };

    (void)state;
    check(examples, COUNT_OF(examples), false);
}

static void what_ends_within_a_frame_is_unfinished_whatever_the_end(void **state)
{
    static const struct example examples[] = {
        {"5 abc", INPUT_GOES_ON, ""},
        {"5 abc", INPUT_ENDED, "broken{abc} "},
        {"5 abc", INPUT_BROKEN, "broken{abc} "},
        {"5 abc", INPUT_LEFT, ""},
        {"5 abcd\n", INPUT_BROKEN, "record{abcd} "},
        {"6 abcd\n", INPUT_ENDED, "broken{abcd\n} "},
        {"1 a5 ", INPUT_ENDED, "record{a} broken{5 } "},
        {"1 a5", INPUT_ENDED, "record{a} broken{5} "},
        {"1 a5", INPUT_BROKEN, "record{a} broken{5} "},
        {"1 a5", INPUT_LEFT, "record{a} "},
        {"1 a5 ", INPUT_LEFT, "record{a} "},
        {"500 abc", INPUT_ENDED, "long{abc} "},
        {"500 ", INPUT_ENDED, "long{500 } "},
        {"9999999999 a", INPUT_BROKEN, "long{a} "},
    };

    (void)state;
    check(examples, COUNT_OF(examples), false);
}

static void auto_takes_a_count_only_before_a_header_or_an_object(void **state)
{
    static const struct example examples[] = {
        {"5 <13>x7 {\"a\":1}a,b\n", INPUT_GOES_ON, "record{<13>x} record{{\"a\":1}} record{a,b} "},
        {"5 <13>x\na\n\n2 {}b\n", INPUT_GOES_ON, "record{<13>x} record{a} record{{}} record{b} "},
        {"3 a,b\n", INPUT_GOES_ON, "record{3 a,b} "},
        {"5 x\n", INPUT_GOES_ON, "record{5 x} "},
        {"5,<13>\n", INPUT_GOES_ON, "record{5,<13>} "},
        {"5  <1>\n", INPUT_GOES_ON, "record{5  <1>} "},
        {"12345678901 <\n", INPUT_GOES_ON, "long{12345678901 <} "},
        {"5", INPUT_GOES_ON, ""},
        {"5", INPUT_ENDED, "record{5} "},
        {"5 ", INPUT_ENDED, "record{5 } "},
        {"5", INPUT_BROKEN, "broken{5} "},
        {"5 <", INPUT_ENDED, "broken{<} "},
        {"5 <", INPUT_BROKEN, "broken{<} "},
        {"5 <", INPUT_LEFT, ""},
        {"5", INPUT_LEFT, ""},
        {"\r\n5 <13>x\r\na\r\n", INPUT_GOES_ON, "record{<13>x} record{a} "},
        {"a line that is long\n2 {}", INPUT_GOES_ON, "long{a line that is long} record{{}} "},
    };

    (void)state;
    check(examples, COUNT_OF(examples), true);
}

/* Where there are only counts, what has none is a single line. */
static void lines_of_auto_may_hold_quoted_line_ends(void **state)
{
    static const char text[] = "\"a\n3 {x\",b\n2 {}\"c\nd\n";
    static const char *const expected[] = {
        "bad{\"a} record{{x\"} bad{,b} record{{}} bad{\"c} bad{d} ",
        "record{\"a\n3 {x\",b} record{{}} quotes{\"c} record{d} ",
    };
    struct buf to = BUF_EMPTY;

    (void)state;
    for (size_t step = 2; step <= 2 * sizeof(text); step++) {
        struct reading r = {.input = {text, sizeof(text) - 1}, .to = &to};
        bool lines_too = step % 2 == 1;

        buf_clear(&to);
        octets_init(&r.octets, MAX_LINE, lines_too, true, ',');
        for (size_t n = step / 2; n < r.input.n; n += step / 2)
            show(&r, n, INPUT_GOES_ON);
        show(&r, r.input.n, INPUT_ENDED);
        assert_string_equal(buf_text(&to), expected[lines_too]);
    }
    buf_done(&to);
}

/* --- long ones --- */

static void the_longest_frame_is_skipped_without_being_kept(void **state)
{
    enum { PIECE = 1 << 20 };
    char *piece = mem_alloc_zeroed(PIECE, 1);
    uint64_t left = 9999999999 - 100;
    struct octets o;
    struct frame f;

    (void)state;
    octets_init(&o, 65536, false, false, ',');
    memcpy(piece, "9999999999 ", 11);
    f = octets_next(&o, &(struct input){piece, 111, INPUT_GOES_ON}, 0);
    assert_int_equal(f.kind, FRAME_NONE); /* until all is there that is shown */
    assert_int_equal(f.next, 0);
    f = octets_next(&o, &(struct input){piece, 11 + FRAME_SHOWN_MAX, INPUT_GOES_ON}, 0);
    assert_int_equal(f.kind, FRAME_TOO_LONG);
    assert_ptr_equal(f.line.p, piece + 11);
    assert_int_equal(f.line.n, FRAME_SHOWN_MAX);
    assert_int_equal(f.next, 11 + FRAME_SHOWN_MAX);

    for (left -= FRAME_SHOWN_MAX - 100; left > PIECE; left -= PIECE) {
        f = octets_next(&o, &(struct input){piece, PIECE, INPUT_GOES_ON}, 0);
        assert_int_equal(f.kind, FRAME_NONE);
        assert_int_equal(f.next, PIECE);
    }
    memcpy(piece + left, "1 a", 3);
    f = octets_next(&o, &(struct input){piece, (size_t)left + 3, INPUT_GOES_ON}, 0);
    assert_int_equal(f.kind, FRAME_RECORD);
    assert_text(f.line.p, f.line.n, "a");
    mem_free(piece);
}

static void what_was_given_and_not_taken_is_given_again(void **state)
{
    char bytes[2000] = "5000 ";
    struct octets o, before;
    struct frame f;

    (void)state;
    octets_init(&o, 100, false, false, ',');
    before = o;
    f = octets_next(&o, &(struct input){bytes, sizeof(bytes), INPUT_GOES_ON}, 0);
    assert_int_equal(f.kind, FRAME_TOO_LONG);
    assert_int_equal(o.skip, 5000 + 5 - sizeof(bytes));
    octets_forget(&o);
    assert_memory_equal(&o, &before, sizeof(o));
    f = octets_next(&o, &(struct input){bytes, sizeof(bytes), INPUT_GOES_ON}, 0);
    assert_int_equal(f.kind, FRAME_TOO_LONG);
}

/* --- a reference --- */

struct naive {
    const char *text;
    size_t n, at, max_line;
    bool lines_too;
    enum input_end end;
    struct buf *to;
};

static void naive_write(struct naive *x, enum frame_kind kind, size_t from, size_t to)
{
    bool cut = kind == FRAME_TOO_LONG || (kind == FRAME_BAD_COUNT && to - from > x->max_line);

    if (cut && to - from > 1024)
        to = from + 1024;
    write_frame(x->to, kind, (struct bytes){x->text + from, to - from});
}

static void naive_line(struct naive *x)
{
    const char *lf = memchr(x->text + x->at, '\n', x->n - x->at);
    size_t from = x->at, to = lf != NULL ? (size_t)(lf - x->text) : x->n;
    enum frame_kind kind = FRAME_RECORD;

    x->at = lf != NULL ? to + 1 : x->n;
    if (x->text[to - 1] == '\r')
        to--;
    if (!x->lines_too)
        kind = FRAME_BAD_COUNT;
    else if (to - from > x->max_line)
        kind = FRAME_TOO_LONG;
    else if (lf == NULL && x->end == INPUT_BROKEN)
        kind = FRAME_UNFINISHED;
    if (to > from)
        naive_write(x, kind, from, to);
}

static void naive_counted(struct naive *x, size_t body)
{
    uint64_t count = strtoull(x->text + x->at, NULL, 10);
    bool whole = count <= x->n - body;
    size_t from = body, to = whole ? body + (size_t)count : x->n;

    if (from == to && !whole)
        from = x->at; /* its count is all that is there */
    x->at = to;
    if (whole && (count <= 1024 || count <= x->max_line + 2) && to > from &&
        x->text[to - 1] == '\n') {
        to--;
        if (to > from && x->text[to - 1] == '\r')
            to--;
    }
    if ((whole && to - from > x->max_line) || count > x->max_line + 2)
        naive_write(x, FRAME_TOO_LONG, from, to);
    else if (!whole)
        naive_write(x, FRAME_UNFINISHED, from, to);
    else if (to > from)
        naive_write(x, FRAME_RECORD, from, to);
}

static bool naive_step(struct naive *x)
{
    size_t digits, behind;
    char next;

    while (x->at < x->n &&
           (x->text[x->at] == '\n' || (x->text[x->at] == '\r' && x->text[x->at + 1] == '\n')))
        x->at++;
    if (x->at == x->n)
        return false;
    digits = strspn(x->text + x->at, "0123456789");
    behind = x->at + digits + 1;
    next = behind < x->n ? x->text[behind] : '\0';
    if (digits > 0 && digits <= 10 && x->at + digits == x->n && !x->lines_too) {
        naive_write(x, FRAME_UNFINISHED, x->at, x->n);
        return false;
    }
    if (digits > 0 && digits <= 10 && x->text[x->at + digits] == ' ' &&
        (!x->lines_too || next == '<' || next == '{'))
        naive_counted(x, behind);
    else
        naive_line(x);
    return true;
}

/* --- random inputs --- */

static void append_random(struct buf *to, uint64_t *random)
{
    static const char *const pieces[] = {
        "\n",     "\r\n", "\r",   "a,b\n", "<13>",         "{",          " ", "5", "12 ", "0 ",
        "3 {}\n", "x",    "\n\n", "2 <\n", "99999999999 ", "9999999999 "};
    uint64_t x = transcript_random(random);
    size_t count = (x >> 50) % 64 == 0 ? 1020 + (x >> 8) % 10 : (x >> 8) % 20;

    if (x % 4 == 0) {
        size_t which = (x >> 16) % (COUNT_OF(pieces) * 8);
        buf_append_text(to, pieces[which % (which < 8 ? COUNT_OF(pieces) : COUNT_OF(pieces) - 2)]);
        return;
    }
    buf_printf(to, "%zu ", count);
    for (size_t i = 0; i < count; i++)
        buf_append_char(to,
                        i == 0 ? "<{a5"[x >> 32 & 3] : "ab,\n\r1 <"[transcript_random(random) % 8]);
    if ((x >> 40) % 3 == 0)
        buf_append_text(to, (x >> 42) % 2 == 0 ? "\n" : "\r\n");
}

static void random_inputs_give_what_a_naive_reader_finds(void **state)
{
    static const size_t max_lines[] = {1, 5, 12, 1023, 1024, 1025, 2000};
    struct buf text = BUF_EMPTY, expected = BUF_EMPTY, to = BUF_EMPTY;
    uint64_t random = 20261129;
    size_t records = 0;

    (void)state;
    for (int round = 0; round < 20000; round++) {
        uint64_t x = transcript_random(&random);
        struct naive naive = {
            .max_line = max_lines[x % COUNT_OF(max_lines)],
            .lines_too = (x >> 8) % 2 == 0,
            .end = (x >> 9) % 2 == 0 ? INPUT_ENDED : INPUT_BROKEN,
            .to = &expected,
        };
        struct bytes input;

        buf_clear(&text);
        buf_clear(&expected);
        for (size_t i = (x >> 16) % 12; i > 0; i--)
            append_random(&text, &random);
        naive.text = buf_text(&text);
        naive.n = buf_length(&text) - ((x >> 24) % 4 == 0 && buf_length(&text) > 0);
        ((char *)naive.text)[naive.n] = '\0';
        while (naive_step(&naive))
            records++;
        input = (struct bytes){naive.text, naive.n};
        for (size_t step = 0; step <= 3; step++)
            assert_string_equal(frames(input, naive.max_line, naive.lines_too, naive.end,
                                       step == 3 ? SIZE_MAX / 2 : step, &random, &to),
                                buf_text(&expected));
    }
    assert_true(records > 20000);
    buf_done(&text);
    buf_done(&expected);
    buf_done(&to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_say_where_records_end),
        cmocka_unit_test(a_line_end_at_a_frames_end_is_not_its_records),
        cmocka_unit_test(what_is_empty_is_nothing),
        cmocka_unit_test(what_has_no_count_is_bad_up_to_its_line_end),
        cmocka_unit_test(what_ends_within_a_frame_is_unfinished_whatever_the_end),
        cmocka_unit_test(auto_takes_a_count_only_before_a_header_or_an_object),
        cmocka_unit_test(lines_of_auto_may_hold_quoted_line_ends),
        cmocka_unit_test(the_longest_frame_is_skipped_without_being_kept),
        cmocka_unit_test(what_was_given_and_not_taken_is_given_again),
        cmocka_unit_test(random_inputs_give_what_a_naive_reader_finds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
