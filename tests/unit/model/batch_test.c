#include "unit.h"

#include <stdlib.h>

#include "model/batch.h"

static struct row *add_row(struct batch *b)
{
    struct row *r = &b->rows[b->count];

    assert_true(b->count < BATCH_ROWS);
    *r = (struct row){.detail = -1};
    b->count++;
    return r;
}

static void every_reason_has_its_word(void **state)
{
    static const struct {
        enum reject why;
        const char *word;
    } rows[] = {
        {REJECT_FIELDS, "fields"},
        {REJECT_QUOTE, "quote"},
        {REJECT_TYPE, "type"},
        {REJECT_NUL, "nul"},
        {REJECT_TELNET, "telnet"},
        {REJECT_TOO_LONG, "too_long"},
        {REJECT_UNFINISHED, "unfinished"},
        {REJECT_HEADER, "header"},
        {REJECT_EXPRESSION, "expression"},
        {REJECT_TIMESTAMP, "timestamp"},
        {REJECT_JSON, "json"},
        {REJECT_UTF8, "utf8"},
        {REJECT_DUPLICATE, "duplicate"},
        {REJECT_PATH, "path"},
        {REJECT_FRAMING, "framing"},
        {REJECT_ENVELOPE, "envelope"},
    };

    (void)state;
    assert_int_equal(COUNT_OF(rows), REJECTS - 1);
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_string_equal(reject_word(rows[i].why), rows[i].word);
    assert_non_null(reject_word(REJECT_NONE));
}

static void a_batch_begins_empty(void **state)
{
    struct batch b;

    (void)state;
    batch_init(&b, 3);
    assert_int_equal(b.count, 0);
    assert_int_equal(b.rejected, 0);
    assert_int_equal(b.field_count, 3);
    assert_int_equal(buf_length(&b.scratch), 0);
    assert_int_equal(buf_length(&b.details), 0);
    batch_done(&b);
}

static void there_is_room_for_the_fields_of_all_rows(void **state)
{
    struct batch b;

    (void)state;
    batch_init(&b, 5);
    for (size_t i = 0; i < BATCH_ROWS; i++) {
        struct bytes *fields = batch_row_fields(&b, add_row(&b));
        for (size_t j = 0; j < 5; j++)
            fields[j] = (struct bytes){"x", i * 5 + j};
    }
    for (size_t i = 0; i < BATCH_ROWS; i++)
        for (size_t j = 0; j < 5; j++)
            assert_int_equal(batch_row_fields(&b, &b.rows[i])[j].n, i * 5 + j);
    batch_done(&b);
}

static void rejected_rows_say_why(void **state)
{
    struct row *good, *first, *second;
    struct batch b;

    (void)state;
    batch_init(&b, 1);
    first = add_row(&b);
    good = add_row(&b);
    second = add_row(&b);
    batch_reject(&b, first, REJECT_TYPE, "%s: \"%.*s\" is no %s", "id", 3, "abcdef", "bigint");
    batch_reject(&b, second, REJECT_FIELDS, "%d fields, not %d", 2, 3);

    assert_int_equal(first->reject, REJECT_TYPE);
    assert_int_equal(second->reject, REJECT_FIELDS);
    assert_int_equal(good->reject, REJECT_NONE);
    assert_int_equal(b.rejected, 2);
    assert_int_equal(b.count, 3);
    assert_string_equal(batch_detail(&b, first), "id: \"abc\" is no bigint");
    assert_string_equal(batch_detail(&b, second), "2 fields, not 3");
    assert_string_equal(batch_detail(&b, good), "");
    batch_done(&b);
}

static void a_reason_may_have_no_words(void **state)
{
    struct row *first, *second;
    struct batch b;

    (void)state;
    batch_init(&b, 1);
    first = add_row(&b);
    second = add_row(&b);
    batch_reject(&b, first, REJECT_NUL, "%s", "");
    batch_reject(&b, second, REJECT_NUL, "words");
    assert_string_equal(batch_detail(&b, first), "");
    assert_string_equal(batch_detail(&b, second), "words");
    batch_done(&b);
}

/* Details grow and move while rows are rejected: rows keep theirs all the same. */
static void all_rows_may_be_rejected_with_long_reasons(void **state)
{
    char word[301];
    struct batch b;

    (void)state;
    batch_init(&b, 2);
    for (size_t i = 0; i < BATCH_ROWS; i++) {
        memset(word, 'a' + (int)(i % 26), sizeof(word) - 1);
        word[sizeof(word) - 1] = '\0';
        batch_reject(&b, add_row(&b), REJECT_QUOTE, "%zu %s", i, word);
    }
    assert_int_equal(b.rejected, BATCH_ROWS);
    for (size_t i = 0; i < BATCH_ROWS; i++) {
        const char *detail = batch_detail(&b, &b.rows[i]);
        assert_int_equal(strtoul(detail, NULL, 10), i);
        assert_int_equal(detail[strlen(detail) - 1], 'a' + (int)(i % 26));
    }
    batch_done(&b);
}

static void a_cleared_batch_is_as_new(void **state)
{
    struct batch b;
    struct row *r;

    (void)state;
    batch_init(&b, 2);
    batch_reject(&b, add_row(&b), REJECT_TYPE, "old");
    add_row(&b);
    buf_append_text(&b.scratch, "text");
    b.timed = true;
    batch_clear(&b);
    assert_false(b.timed);
    assert_int_equal(b.count, 0);
    assert_int_equal(b.rejected, 0);
    assert_int_equal(b.field_count, 2);
    assert_int_equal(buf_length(&b.scratch), 0);
    assert_int_equal(buf_length(&b.details), 0);

    r = add_row(&b);
    batch_reject(&b, r, REJECT_HEADER, "new");
    assert_string_equal(batch_detail(&b, r), "new");
    assert_int_equal(b.rejected, 1);
    batch_done(&b);
}

static void a_batch_of_no_fields_is_fine(void **state)
{
    struct batch b;

    (void)state;
    batch_init(&b, 0);
    assert_non_null(batch_row_fields(&b, add_row(&b)));
    batch_reject(&b, add_row(&b), REJECT_FIELDS, "1 field, not 0");
    assert_int_equal(b.rejected, 1);
    batch_done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_reason_has_its_word),
        cmocka_unit_test(a_batch_begins_empty),
        cmocka_unit_test(there_is_room_for_the_fields_of_all_rows),
        cmocka_unit_test(rejected_rows_say_why),
        cmocka_unit_test(a_reason_may_have_no_words),
        cmocka_unit_test(all_rows_may_be_rejected_with_long_reasons),
        cmocka_unit_test(a_cleared_batch_is_as_new),
        cmocka_unit_test(a_batch_of_no_fields_is_fine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
