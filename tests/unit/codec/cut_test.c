/*
 * Any cut of the bytes into reads gives the same rows, also where the engine
 * refuses some and is shown them again. Small inputs are cut at every place and at
 * every two; byte by byte a line goes another way through the decoder than at once.
 * All this for every way of scanning that the machine has, against the rows that the
 * plain one gives.
 */
#include "unit.h"

#include <stdio.h>

#include "base/mem.h"
#include "codec/rows.h"
#include "fixture.h"
#include "transcript.h"

#define INPUT_MAX (64 * 1024)

static const char *const inputs[] = {
    "",
    "k,1\n",
    "k,1",
    "k,1\r\nl,2\r\n",
    "\n\r\n\nk,1\n\r\n\r\n",
    "\xEF\xBB\xBFk,1\nl,2\n",
    "\xEF\xBB\xBF\n\nk,1",
    "\xEF\xBBk,1\n",
    "\xEF\xBB\xBF",
    "key,n\nk,1\nl,2\n",
    "n,x,key\r\n1,a,k\r\n,,\r\n",
    "\xEF\xBB\xBF\"n\",\"key\"\n1,k\n",
    "key,m\nk,1\nl,2\n",
    "key,n,key\n\nk,1",
    "\"k\",1\n\"l\"\"\",2\n",
    "k,01\nl,+2\nm,\"3\"\n",
    "\"a\nb\",1\nl,2\n",
    "\"a\r\nb\r\",1\r\nl,2\r\n",
    "\"a\nl,2\n\"b\",3\nm,4",
    "\"a\n\"b\n\"c\n\"d\n\"",
    "\"a\"x\nl,2\n\"\n\n\",3\n",
    "a\"\"\nl,2\n\"\"\"\n\"\"\",1\n",
    "k,\r1\nl\r,2\r\r\nm,3\r",
    "k\xFF,1\nl,2\n\xFF\"\n\"",
    "0123456789abcdefgh,1\nl,2\n",
    "0123456789abcdefghi,1\r\nl,2\r\n",
    "0123456789abcdefghijklmnopqrst",
    "\"0123456789\nab\ncd\nef\ngh\nij\"\nl,2\n",
    "k,1700000000000\r\nl,\n0,0999999999999\n",
    "k,17000000000000\nl,\"1700000000000\"\n",
    "k,1,\nl\nm,3\n\\N,\\N\n\"\\N\",\n",
    "3 k,14 l,2\n\r\n3 m,3",
    "\357\273\2775 key,n3 k,1\n6 l,\"2\n\"",
    "3 k,1x\n12345678901 y\n3 l,2\r3 m,3\n3",
    "30 0123456789abcdefghijklmnopqrst3 k,14 l,",
    "4000 k,1\n3 l,2",
    "21 <13>1 - - - - - - k,1<13>Nov 29 17:41:27 h t: l,2\n5 <13>x",
    "<13>1 - - - - - - \n<13>1 - - - - - - key,n\n<13>Nov  9 17:41:27 t: l,2\r\nm,3\n",
    "<13>1 - - - - - [a b=\"\\\"]\"] k,1",
};

static const char *const shapes[] = {"plain",        "header", "multiline",   "both",   "short",
                                     "null",         "octet",  "auto",        "syslog", "mixed",
                                     "octet header", "timed",  "timed header"};

static void open_shape(struct fixture *f, size_t shape)
{
    bool timed = shape >= 11;

    fixture_open(f, timed ? "key, n timestamp_ms" : "key, n bigint");
    f->format.timed = timed;
    f->format.time_field = 1;
    f->format.header = shape == 1 || shape == 3 || shape == 10 || shape == 12;
    f->format.multiline = shape >= 2 && shape < 8;
    if (timed)
        return;
    if (shape == 4 || shape >= 9)
        f->format.max_line = 20;
    if (shape == 5)
        f->format.null_text = BYTES_LIT("\\N");
    if (shape >= 6)
        f->format.framing = shape == 8       ? FRAMING_LINE
                            : shape % 2 == 0 ? FRAMING_OCTET
                                             : FRAMING_AUTO;
    if (shape == 8 || shape == 9)
        f->format.envelope = ENVELOPE_SYSLOG;
}

static void write_expected(const struct input_format *format, struct bytes input,
                           enum input_end end, struct buf *to)
{
    const struct showing at_once = {.end = end, .with_lines = true};

    rows_scan_at_best(SCAN_PLAIN);
    transcript_write(format, input, &at_once, to);
}

struct check {
    const struct fixture *f;
    struct bytes input;
    const char *input_name;
    size_t shape;
    enum input_end end;
    const char *expected;
    struct buf rows;
};

static void check_cuts_by(enum scan_way way, struct check *c, const size_t *cuts, size_t count,
                          uint64_t refusals)
{
    const struct showing how = {
        .cuts = cuts,
        .cut_count = count,
        .end = c->end,
        .end_comes_later = refusals % 2 == 1,
        .refusals = refusals,
        .with_lines = true,
    };

    buf_clear(&c->rows);
    rows_scan_at_best(way);
    transcript_write(&c->f->format, c->input, &how, &c->rows);
    if (strcmp(buf_text(&c->rows), c->expected) == 0)
        return;
    fail_msg("%s, %s, way %d, end %d, %zu cuts (%zu %zu ...), refusals %llu:\n%s-- is not --\n%s",
             c->input_name, shapes[c->shape], way, c->end, count, count > 0 ? cuts[0] : 0,
             count > 1 ? cuts[1] : 0, (unsigned long long)refusals, buf_text(&c->rows),
             c->expected);
}

static void check_cuts(struct check *c, const size_t *cuts, size_t count, uint64_t refusals)
{
    for (enum scan_way way = SCAN_PLAIN; way < SCAN_WAYS; way++) {
        if (scan_has(way))
            check_cuts_by(way, c, cuts, count, refusals);
    }
}

static void check_small(struct check *c)
{
    size_t n = c->input.n;
    size_t cuts[INPUT_MAX];

    for (size_t a = 0; a <= n; a++) {
        check_cuts(c, &a, 1, 0);
        check_cuts(c, &a, 1, a + 1);
        for (size_t b = a + 1; b <= n; b++) {
            const size_t two[] = {a, b};
            check_cuts(c, two, 2, (a + b) % 4 == 0 ? a * 64 + b + 1 : 0);
        }
        cuts[a] = a;
    }
    check_cuts(c, cuts, n, 0);
    check_cuts(c, cuts, n, 7);
}

static void any_cut_of_a_small_input_gives_the_same_rows(void **state)
{
    (void)state;
    for (size_t shape = 0; shape < COUNT_OF(shapes); shape++) {
        struct fixture f;

        open_shape(&f, shape);
        for (size_t i = 0; i < COUNT_OF(inputs) * 2; i++) {
            enum input_end end = i % 2 == 0 ? INPUT_ENDED : INPUT_BROKEN;
            struct check c = {
                .f = &f,
                .input = bytes_of(inputs[i / 2]),
                .input_name = inputs[i / 2],
                .shape = shape,
                .end = end,
                .rows = BUF_EMPTY,
            };
            struct buf expected = BUF_EMPTY;

            write_expected(&f.format, c.input, end, &expected);
            c.expected = buf_text(&expected);
            check_small(&c);
            buf_done(&c.rows);
            buf_done(&expected);
        }
        fixture_close(&f);
    }
}

/* --- larger ones --- */

static void append_random_line(struct buf *to, uint64_t *random)
{
    static const char *const lines[] = {
        "key%d,%d", /* the first two come most */
        "k%d,1700000000%03d",
        "\"quoted %d\",%d",
        "\"d\"\"q%d\",%d",
        "cr\r%d,%d",
        "%d;%d",
        "a%d\"b,%d",
        "\"open%d,%d",
        "close%d\",%d",
        "%d,0%d",
        "\"l%d\n\",%d",
        "\xFF%d,%d",
        "%d,%d,",
        "%d,%dx",
        ",",
        "long-0123456789-0123456789-0123456789-0123456789-0123456789-0123456789-%d,%d",
        "",
        "3 k,13 l,2%d,%d",
        "20 %d,%d",
        "5 <13>%d,%d",
        "<13>1 - - - - - - %d,%d",
        "25 <13>Nov 29 17:41:27 t: %d,%d",
        "3000 %d,%d",
        "%d,17%d",
        "%d,-1700000000%03d",
    };
    uint64_t x = transcript_random(random);
    size_t which = x % 3 == 0 ? (x >> 8) % COUNT_OF(lines) : (x >> 8) % 2;

    buf_printf(to, lines[which], (int)(x >> 40) % 1000, (int)(x >> 50) % 1000);
    for (size_t i = (x >> 20) % 256 == 0 ? 1500 : 0; i > 0; i--) /* far too long for some */
        buf_append_char(to, 'x');
    buf_append_text(to, (x >> 16) % 8 == 0 ? "\r\n" : "\n");
}

static size_t random_cuts(size_t *cuts, size_t n, uint64_t *random)
{
    size_t longest = (size_t)1 << transcript_random(random) % 14;
    size_t count = 0;

    for (size_t at = 0; at < n; count++) {
        at += 1 + transcript_random(random) % longest;
        cuts[count] = at < n ? at : n;
    }
    return count;
}

static void check_large(size_t shape, uint64_t *random)
{
    struct buf text = BUF_EMPTY, expected = BUF_EMPTY;
    enum input_end end = transcript_random(random) % 2 == 0 ? INPUT_ENDED : INPUT_BROKEN;
    size_t size = transcript_random(random) % (INPUT_MAX / 2);
    size_t *cuts = mem_alloc_zeroed(INPUT_MAX, sizeof(*cuts));
    struct fixture f;
    struct check c = {
        .f = &f, .input_name = "a random input", .shape = shape, .end = end, .rows = BUF_EMPTY};

    open_shape(&f, shape);
    if (f.format.header)
        buf_append_text(&text, transcript_random(random) % 2 == 0 ? "n,key\n" : "key,n,x\r\n");
    while (buf_length(&text) < size)
        append_random_line(&text, random);
    size = buf_length(&text) - (size > 0 ? transcript_random(random) % 3 : 0);
    c.input = (struct bytes){buf_data(&text), size};
    write_expected(&f.format, c.input, end, &expected);
    c.expected = buf_text(&expected);
    for (int i = 0; i < 4; i++) {
        size_t count = random_cuts(cuts, size, random);
        uint64_t refusals = i % 2 == 0 ? 0 : transcript_random(random);

        check_cuts(&c, cuts, count, refusals);
        check_cuts(&c, NULL, 0, refusals);
    }
    buf_done(&text);
    buf_done(&expected);
    buf_done(&c.rows);
    mem_free(cuts);
    fixture_close(&f);
}

static void random_cuts_of_a_large_input_give_the_same_rows(void **state)
{
    uint64_t random = 20260102;

    (void)state;
    for (int round = 0; round < 60; round++)
        check_large((size_t)round % COUNT_OF(shapes), &random);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_cut_of_a_small_input_gives_the_same_rows),
        cmocka_unit_test(random_cuts_of_a_large_input_give_the_same_rows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
