#include "unit.h"

#include "base/buf.h"
#include "base/mem.h"
#include "codec/quoted.h"
#include "transcript.h"

/* --- walking --- */

static void walks_to_where_the_quoting_stands(void **state)
{
    static const struct {
        const char *text;
        enum quoting end;
        size_t bad_at;
    } rows[] = {
        {"", QUOTING_START, 0},       {"a", QUOTING_BARE, 0},
        {"a,", QUOTING_START, 0},     {"\"", QUOTING_OPEN, 0},
        {"\"a,\n", QUOTING_OPEN, 0},  {"\"\"", QUOTING_CLOSED, 0},
        {"\"\"\"", QUOTING_OPEN, 0},  {"\"a\",\"b\"", QUOTING_CLOSED, 0},
        {"\"a\",b", QUOTING_BARE, 0}, {"a\"", QUOTING_BAD, 1},
        {"x,a\"b", QUOTING_BAD, 3},   {"\"a\"b", QUOTING_BAD, 3},
        {"\"a\" ,b", QUOTING_BAD, 3}, {" \"a\"", QUOTING_BAD, 1},
        {"\"a\"\rb", QUOTING_BAD, 3}, {"a;b\"", QUOTING_BAD, 3},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        size_t at = 0;

        assert_row(quoted_walk(QUOTING_START, bytes_of(rows[i].text), ',', &at) == rows[i].end,
                   rows[i].text);
        assert_row(at == rows[i].bad_at, rows[i].text);
    }
}

static void a_walk_can_be_made_in_pieces(void **state)
{
    static const char text[] = "a,\"b\"\"c\",d,\"\",\"x";
    size_t n = strlen(text), at;

    (void)state;
    for (size_t cut = 0; cut <= n; cut++) {
        enum quoting half = quoted_walk(QUOTING_START, (struct bytes){text, cut}, ',', &at);
        struct bytes rest = {text + cut, n - cut};

        assert_int_equal(quoted_walk(half, rest, ',', &at), QUOTING_OPEN);
    }
}

static void a_line_end_is_found_outside_quotes_only(void **state)
{
    static const struct {
        const char *text;
        int at; /* -1: there is none */
    } rows[] = {
        {"", -1},
        {"a,b", -1},
        {"\n", 0},
        {"a\nb", 1},
        {"\"a\nb\"", -1},
        {"\"a\nb\"\nc", 5},
        {"\"a\"\n", 3},
        {"\"a\"\"\n\"", -1},
        {"x,\"\n\n\"", -1},
        {"x,\"\n\n\",\n", 7},
        {"\"a\nb", -1},
        {"a\"b\nc", -1},
        {"\"a\nb\"c\nd", -1},
        {"a,\nb", 2},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        size_t at = 99;
        bool found = quoted_bare_line_end(bytes_of(rows[i].text), ',', &at);

        assert_row(found == (rows[i].at >= 0), rows[i].text);
        assert_row(!found || at == (size_t)rows[i].at, rows[i].text);
    }
}

/* --- cutting --- */

struct fields {
    struct buf text; /* quoted ones in <>, others in [] */
    struct bytes record;
    size_t outside; /* fields that are not within the record */
};

static void put(void *context, struct bytes field, bool quoted)
{
    struct fields *f = context;

    buf_append_char(&f->text, quoted ? '<' : '[');
    buf_append_bytes(&f->text, field);
    buf_append_char(&f->text, quoted ? '>' : ']');
    f->outside += field.p < f->record.p || field.p + field.n > f->record.p + f->record.n;
}

/* Cuts a record that stands at the end of its memory; NULL if it is bad. */
static const char *cut(struct fields *f, const char *text, size_t n, char delimiter)
{
    char *record = mem_alloc(n);
    struct buf scratch = BUF_EMPTY;
    const struct quoted_sink sink = {put, f};
    const char *place = buf_reserve(&scratch, n);
    bool ok;

    memcpy(record, text, n);
    buf_clear(&f->text);
    f->record = (struct bytes){record, n};
    f->outside = 0;
    ok = quoted_cut(f->record, delimiter, &scratch, &sink);
    assert_ptr_equal(scratch.data, place);
    buf_done(&scratch);
    mem_free(record);
    return ok ? buf_text(&f->text) : NULL;
}

static void a_walk_that_is_bad_stays_bad(void **state)
{
    size_t at = 7;

    (void)state;
    assert_int_equal(quoted_walk(QUOTING_BAD, BYTES_LIT(",a"), ',', &at), QUOTING_BAD);
    assert_int_equal(at, 0);
}

static void cuts_records_into_fields(void **state)
{
    static const struct {
        const char *record;
        const char *fields;
        size_t outside;
    } rows[] = {
        {"\"a\"", "<a>", 0},
        {"\"a\",b", "<a>[b]", 0},
        {"a,\"b,c\",d", "[a]<b,c>[d]", 0},
        {"\"\"", "<>", 0},
        {"\"\",", "<>[]", 0},
        {",\"\"", "[]<>", 0},
        {",\"\",,", "[]<>[][]", 0},
        {"\"a\"\"b\"", "<a\"b>", 1},
        {"\"\"\"\"", "<\">", 1},
        {"\"\"\"\"\"\",\"\"\"x\"\"\"", "<\"\"><\"x\">", 2},
        {"\" a \", b ,\t\"", NULL, 0},
        {"\" a \", b ,\t", "< a >[ b ][\t]", 0},
        {"\"a\rb\",c\rd", "<a\rb>[c\rd]", 0},
        {"\"a\nb\",\"c\r\nd\"", "<a\nb><c\r\nd>", 0},
        {"\"\xC3\xA4\",\xC3", "<\xC3\xA4>[\xC3]", 0},
        /* bad */
        {"\"", NULL, 0},
        {"\"a", NULL, 0},
        {"a\"", NULL, 0},
        {"a\"b\"", NULL, 0},
        {"\"a\"b", NULL, 0},
        {"\"a\" ", NULL, 0},
        {" \"a\"", NULL, 0},
        {"\"a\" \"b\"", NULL, 0},
        {"\"a\",\"b", NULL, 0},
        {"\"a\"\r", NULL, 0},
        {"\"a\"\n\"b\"", NULL, 0}, /* two records */
    };
    struct fields f = {.text = BUF_EMPTY};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const char *fields = cut(&f, rows[i].record, strlen(rows[i].record), ',');

        if (rows[i].fields == NULL) {
            assert_row(fields == NULL, rows[i].record);
            continue;
        }
        assert_row(fields != NULL, rows[i].record);
        assert_string_equal(fields, rows[i].fields);
        assert_row(f.outside == rows[i].outside, rows[i].record);
    }
    buf_done(&f.text);
}

static void the_delimiter_may_be_a_space_or_a_tab(void **state)
{
    struct fields f = {.text = BUF_EMPTY};

    (void)state;
    assert_string_equal(cut(&f, "a \"b c\"  ", 9, ' '), "[a]<b c>[][]");
    assert_string_equal(cut(&f, "\t\"\t\"\ta ", 7, '\t'), "[]<\t>[a ]");
    buf_done(&f.text);
}

/* After a fault libcsv would give the bytes before it to the next record. */
static void a_bad_record_leaves_nothing_behind(void **state)
{
    struct fields f = {.text = BUF_EMPTY};

    (void)state;
    assert_null(cut(&f, "stale\"", 6, ','));
    assert_string_equal(cut(&f, "\"k\",1", 5, ','), "<k>[1]");
    assert_null(cut(&f, "\"open", 5, ','));
    assert_string_equal(cut(&f, "\"k\",1", 5, ','), "<k>[1]");
    buf_done(&f.text);
}

static void long_fields_are_whole(void **state)
{
    enum { SIZE = 100000 };
    struct fields f = {.text = BUF_EMPTY};
    char *record = mem_alloc(SIZE);
    const char *fields;

    (void)state;
    memset(record, 'x', SIZE);
    record[0] = record[SIZE - 1] = '"';
    memset(record + 1000, '"', 1000);
    fields = cut(&f, record, SIZE, ',');
    assert_non_null(fields);
    assert_int_equal(strlen(fields), SIZE - 500);
    assert_int_equal(strspn(fields + 1, "x"), 999);
    assert_int_equal(strspn(fields + 1000, "\""), 500);
    mem_free(record);
    buf_done(&f.text);
}

static void walking_and_cutting_agree(void **state)
{
    static const char alphabet[] = "\",a\r \"";
    struct fields f = {.text = BUF_EMPTY};
    uint64_t random = 1;
    size_t good = 0;

    (void)state;
    for (int round = 0; round < 50000; round++) {
        char record[12];
        size_t n = 1 + transcript_random(&random) % sizeof(record);
        size_t at;
        enum quoting end;

        for (size_t i = 0; i < n; i++)
            record[i] = alphabet[transcript_random(&random) % strlen(alphabet)];
        end = quoted_walk(QUOTING_START, (struct bytes){record, n}, ',', &at);
        assert_int_equal(cut(&f, record, n, ',') != NULL,
                         end != QUOTING_BAD && end != QUOTING_OPEN);
        good += end != QUOTING_BAD && end != QUOTING_OPEN;
    }
    assert_in_range(good, 1000, 49000);
    buf_done(&f.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(walks_to_where_the_quoting_stands),
        cmocka_unit_test(a_walk_can_be_made_in_pieces),
        cmocka_unit_test(a_line_end_is_found_outside_quotes_only),
        cmocka_unit_test(a_walk_that_is_bad_stays_bad),
        cmocka_unit_test(cuts_records_into_fields),
        cmocka_unit_test(the_delimiter_may_be_a_space_or_a_tab),
        cmocka_unit_test(a_bad_record_leaves_nothing_behind),
        cmocka_unit_test(long_fields_are_whole),
        cmocka_unit_test(walking_and_cutting_agree),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
