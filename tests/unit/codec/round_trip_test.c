/*
 * What the encoder writes, the decoder reads: fields of any bytes go through both,
 * and come out the same, whatever the delimiter and the null text.
 */
#include "unit.h"

#include <jansson.h>

#include "base/mem.h"
#include "pair.h"
#include "transcript.h"

#define FIELDS_MAX 4
#define ROUNDS     4000

/* A random text: often one that is special in CSV or JSON. */
static void append_random_text(struct buf *to, uint64_t *random)
{
    static const char *const parts[] = {
        "a",   "bc",  "0123456789abcdef", ",",    ";", "\"", "\n", "\r", "\r\n", " ",
        "\\N", "nil", "\xC3\xA4",         "\xE2", "{", "\t"};
    size_t count = transcript_random(random) % 5;

    for (size_t i = 0; i < count; i++)
        buf_append_text(to, parts[transcript_random(random) % COUNT_OF(parts)]);
}

struct row_of_fields {
    struct buf texts[FIELDS_MAX];
    struct bytes fields[FIELDS_MAX]; /* NULL, or texts */
};

static void fill_row(struct row_of_fields *r, uint64_t *random)
{
    for (int i = 0; i < FIELDS_MAX; i++) {
        bool null = transcript_random(random) % 4 == 0;

        buf_clear(&r->texts[i]);
        append_random_text(&r->texts[i], random);
        r->fields[i] = null ? BYTES_NULL : buf_bytes(&r->texts[i]);
    }
    if (r->fields[0].n == 0) /* or the line might be empty, which is nothing */
        r->fields[0] = BYTES_LIT("k");
}

static void row_done(struct row_of_fields *r)
{
    for (int i = 0; i < FIELDS_MAX; i++)
        buf_done(&r->texts[i]);
}

struct style {
    char delimiter;
    const char *null_text;
};

static const struct style styles[] = {{',', ""}, {';', "\\N"}, {'\t', "nil"}, {' ', "a"}};

/* The row as a record, packed, in memory of its own. */
static struct record *pack(const struct row_of_fields *r)
{
    struct buf packed = BUF_EMPTY;
    struct record_parts parts = {.flags = RECORD_PACKED};
    struct record *record;
    char *at;

    at = buf_reserve(&packed, record_packed_room(r->fields, FIELDS_MAX));
    buf_advance(&packed, (size_t)(record_pack(r->fields, FIELDS_MAX, at) - at));
    parts.body = buf_bytes(&packed);
    parts.key = (struct bytes){parts.body.p, 0};
    record = mem_alloc(record_size(&parts));
    record_write_parts(&parts, 0, record);
    buf_done(&packed);
    return record;
}

static void encode(struct pair *p, const struct row_of_fields *r, struct buf *to)
{
    struct record *record = pack(r);
    const struct result result = {.kind = RESULT_LEFT, .record = {record, NULL}};
    struct encoder *e;

    p->plan->side[SIDE_LEFT].form = (struct record_form){.field_count = FIELDS_MAX};
    e = encoder_new(&p->output, p->plan);
    buf_clear(to);
    assert_int_equal(encoder_results(e, &result, 1, SIZE_MAX, to), 1);
    encoder_free(e);
    mem_free(record);
}

static void check_same(const struct bytes *got, const struct bytes *expected, const char *line)
{
    for (int i = 0; i < FIELDS_MAX; i++) {
        assert_row((got[i].p == NULL) == (expected[i].p == NULL), line);
        assert_row(bytes_equal(got[i], expected[i]), line);
    }
}

static void csv_reads_back_as_it_was_written(void **state)
{
    struct row_of_fields r = {.fields = {BYTES_NULL}};
    struct buf line = BUF_EMPTY;
    uint64_t random = 42;
    struct batch b;

    (void)state;
    batch_init(&b, FIELDS_MAX);
    for (int round = 0; round < ROUNDS; round++) {
        const struct style *style = &styles[round % COUNT_OF(styles)];
        struct pair p;
        struct decoder *d;

        pair_open(&p, "a, b, c, d", "x");
        pair_select(&p, "a, b, c, d");
        p.input[SIDE_LEFT].delimiter = p.output.delimiter = style->delimiter;
        p.input[SIDE_LEFT].null_text = p.output.null_text = bytes_of(style->null_text);
        fill_row(&r, &random);
        encode(&p, &r, &line);
        d = decoder_new(&p.input[SIDE_LEFT]);
        assert_int_equal(decoder_read(d, buf_data(&line), buf_length(&line), INPUT_GOES_ON, &b),
                         buf_length(&line));
        assert_row(b.count == 1 && b.rejected == 0, buf_text(&line));
        check_same(batch_row_fields(&b, &b.rows[0]), r.fields, buf_text(&line));
        decoder_free(d);
        pair_close(&p);
    }
    batch_done(&b);
    row_done(&r);
    buf_done(&line);
}

/* A verbatim line that is read back and written again is the same line. */
static void what_was_written_is_written_again_the_same(void **state)
{
    struct row_of_fields r = {.fields = {BYTES_NULL}};
    struct buf line = BUF_EMPTY, again = BUF_EMPTY;
    uint64_t random = 43;

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        const struct style *style = &styles[round % COUNT_OF(styles)];
        struct bytes lines[SIDES] = {BYTES_NULL, BYTES_NULL};
        struct pair p;

        pair_open(&p, "a, b, c, d", "x");
        pair_select(&p, "a, b, c, d");
        p.input[SIDE_LEFT].delimiter = p.output.delimiter = style->delimiter;
        p.input[SIDE_LEFT].null_text = p.output.null_text = bytes_of(style->null_text);
        fill_row(&r, &random);
        encode(&p, &r, &line);
        lines[SIDE_LEFT] = buf_bytes(&line);
        buf_clear(&again);
        pair_encode_bytes(&p, lines, &again);
        assert_string_equal(buf_text(&again), buf_text(&line));
        pair_close(&p);
    }
    row_done(&r);
    buf_done(&line);
    buf_done(&again);
}

static void jansson_reads_the_same_fields(void **state)
{
    static const char *const names[FIELDS_MAX] = {"a", "b", "c", "d"};
    struct row_of_fields r = {.fields = {BYTES_NULL}};
    struct buf line = BUF_EMPTY;
    uint64_t random = 44;

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct pair p;
        json_t *object;

        pair_open(&p, "a, b, c, d", "x");
        pair_select(&p, "a, b, c, d");
        p.output.kind = OUTPUT_JSON;
        fill_row(&r, &random);
        encode(&p, &r, &line);
        object = json_loadb(buf_data(&line), buf_length(&line), JSON_REJECT_DUPLICATES, NULL);
        assert_row(object != NULL, buf_text(&line));
        assert_int_equal(json_object_size(object), FIELDS_MAX);
        for (int i = 0; i < FIELDS_MAX; i++) {
            json_t *member = json_object_get(object, names[i]);

            assert_row(json_is_null(member) == (r.fields[i].p == NULL), buf_text(&line));
            if (r.fields[i].p != NULL && memchr(r.fields[i].p, '\xE2', r.fields[i].n) == NULL)
                assert_row(bytes_equal(r.fields[i], (struct bytes){json_string_value(member),
                                                                   json_string_length(member)}),
                           buf_text(&line));
        }
        json_decref(object);
        pair_close(&p);
    }
    row_done(&r);
    buf_done(&line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv_reads_back_as_it_was_written),
        cmocka_unit_test(what_was_written_is_written_again_the_same),
        cmocka_unit_test(jansson_reads_the_same_fields),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
