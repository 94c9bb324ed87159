/*
 * Lines that are cut many at once give the rows that each gives alone, where libcsv cuts those that
 * hold a quote: random lines, most of them good, with quotes in all places, of all ways of
 * scanning.
 */
#include "unit.h"

#include <stdlib.h>

#include "base/mem.h"
#include "codec/rows.h"
#include "fixture.h"
#include "transcript.h"

#define INPUTS 4000

/* Longer than any block of codec/scan. */
#define LONG_QUOTED "\"a, field, in, quotes, that, has, more, than, sixty, four, bytes, x\""

struct walk_fixture {
    struct fixture format;
    struct rows rows;
    struct batch many, alone;
    uint64_t chance;
    size_t quoted; /* rows with quotes that were cut with the others */
};

static const char *pick(struct walk_fixture *f, const char *const *from, size_t n)
{
    return from[transcript_random(&f->chance) % n];
}

static bool once_in(struct walk_fixture *f, unsigned n)
{
    return transcript_random(&f->chance) % n == 0;
}

/* One line of three fields, mostly. Lengths vary, so that quotes come to lie round the blocks. */
static void append_line(struct walk_fixture *f, struct buf *to)
{
    static const char *const good[] = {"k",         "",      "\"\"",    "\"a,b\"", "12",    "\"k\"",
                                       LONG_QUOTED, "x y z", "\"\\N\"", "\\N",     "\" \"", "007"};
    static const char *const odd[] = {"\"a\"\"b\"", "a\"b",     "\"a\"b", "\"a",
                                      "\"a\r\"",    "\"a\nb\"", "\"",     "a\r",
                                      "\xFF",       "\"\"\"\"", "a,b,c"};
    size_t fields = once_in(f, 40) ? 1 + transcript_random(&f->chance) % 5 : 3;

    for (size_t i = 0; i < fields; i++) {
        if (i > 0)
            buf_append_char(to, ',');
        buf_append_text(to, once_in(f, 30) ? pick(f, odd, COUNT_OF(odd))
                                           : pick(f, good, COUNT_OF(good)));
    }
    buf_append_text(to, once_in(f, 5) ? "\r\n" : "\n");
}

static bool row_is(const struct batch *b, size_t i, const struct batch *c, size_t j)
{
    const struct row *p = &b->rows[i], *q = &c->rows[j];

    if (!bytes_equal(p->line, q->line) || p->reject != q->reject || p->verdict != q->verdict ||
        strcmp(batch_detail(b, p), batch_detail(c, q)) != 0)
        return false;
    for (size_t k = 0; p->reject == REJECT_NONE && k < b->field_count; k++) {
        struct bytes x = batch_row_fields(b, p)[k], y = batch_row_fields(c, q)[k];
        if ((x.p == NULL) != (y.p == NULL) || !bytes_equal(x, y))
            return false;
    }
    return true;
}

/* The row that is last in the batch `many` is what its line gives alone. */
static void assert_alone(struct walk_fixture *f, size_t i)
{
    const struct row *row = &f->many.rows[i];

    batch_clear(&f->alone);
    assert_true(rows_take_record(&f->rows, &f->alone, row->line, 0));
    if (!row_is(&f->many, i, &f->alone, 0))
        fail_msg("%.*s", (int)row->line.n, row->line.p);
}

/* Lines that the walk leaves are passed over. */
static void check_input(struct walk_fixture *f, struct bytes input)
{
    for (size_t at = 0; at < input.n;) {
        const char *lf;

        batch_clear(&f->many);
        at = rows_take_plain(&f->rows, &f->many, input.p, input.n, at);
        for (size_t i = 0; i < f->many.count; i++) {
            struct bytes line = f->many.rows[i].line;
            f->quoted += line.n > 0 && memchr(line.p, '"', line.n) != NULL;
            assert_alone(f, i);
        }
        if (at == input.n || f->many.count == BATCH_ROWS)
            continue;
        lf = memchr(input.p + at, '\n', input.n - at);
        assert_non_null(lf);
        at = (size_t)(lf + 1 - input.p);
    }
}

static void check_way(enum scan_way way, const char *fields, const char *null_text, bool mapped)
{
    struct walk_fixture f = {.chance = 1};

    fixture_open(&f.format, fields);
    f.format.format.null_text = bytes_of(null_text);
    rows_scan_at_best(way);
    rows_init(&f.rows, &f.format.format);
    if (mapped) { /* as a header would that names them the other way round */
        struct buf fault = BUF_EMPTY;
        columns_clear(&f.rows.columns);
        for (size_t i = f.format.schema.count; i-- > 0;)
            columns_name(&f.rows.columns, bytes_of(f.format.schema.fields[i].name), &fault);
        assert_true(columns_complete(&f.rows.columns, &fault));
        buf_done(&fault);
    }
    batch_init(&f.many, f.format.schema.count);
    batch_init(&f.alone, f.format.schema.count);
    for (int i = 0; i < INPUTS; i++) {
        struct buf input = BUF_EMPTY;
        char *alone; /* nothing behind it may be touched */
        size_t n = transcript_random(&f.chance) % 30;
        while (n-- > 0)
            append_line(&f, &input);
        alone = mem_alloc(buf_length(&input));
        memcpy(alone, buf_data(&input), buf_length(&input));
        check_input(&f, (struct bytes){alone, buf_length(&input)});
        mem_free(alone);
        buf_done(&input);
    }
    assert_true(f.quoted > INPUTS);
    batch_done(&f.many);
    batch_done(&f.alone);
    rows_done(&f.rows);
    fixture_close(&f.format);
}

static void lines_that_are_cut_together_give_the_rows_of_each_alone(void **state)
{
    (void)state;
    for (enum scan_way way = SCAN_PLAIN; way < SCAN_WAYS; way++) {
        if (!scan_has(way))
            continue;
        check_way(way, "a, b, c", "", false);
        check_way(way, "a, b, c", "\\N", true);
        check_way(way, "a, b bigint, c double", "", false);
    }
    rows_scan_at_best(SCAN_WAYS - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_that_are_cut_together_give_the_rows_of_each_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
