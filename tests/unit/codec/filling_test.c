#include "unit.h"

#include "codec/filling.h"

static void rows_have_their_fields_one_behind_the_other(void **state)
{
    struct batch b;

    (void)state;
    batch_init(&b, 3);
    for (size_t i = 0; i < BATCH_ROWS; i++) {
        struct bytes *fields = filling_fields(&b);
        struct row *r = filling_add(&b, BYTES_LIT("line"), 10 * i, BATCH_NO_TIME);

        assert_ptr_equal(batch_row_fields(&b, r), fields);
        assert_ptr_equal(fields, b.fields + 3 * i);
        assert_int_equal(r->consumed, 10 * i);
        assert_int_equal(b.times[i], BATCH_NO_TIME);
        assert_text(r->line.p, r->line.n, "line");
        assert_true(r->reject == REJECT_NONE && r->verdict == VERDICT_TAKE_PACKED && !r->late);
        assert_string_equal(batch_detail(&b, r), "");
    }
    assert_int_equal(b.count, BATCH_ROWS);
    batch_done(&b);
}

static void the_scratch_moves_only_while_it_is_empty(void **state)
{
    struct batch b;
    const char *data;

    (void)state;
    batch_init(&b, 1);
    assert_true(filling_has_room(&b, 0));
    data = b.scratch.data;
    assert_non_null(data);
    buf_append_text(&b.scratch, "text");
    assert_true(filling_has_room(&b, b.scratch.capacity - 4));
    assert_false(filling_has_room(&b, b.scratch.capacity - 3));
    assert_ptr_equal(b.scratch.data, data);
    batch_clear(&b);
    assert_true(filling_has_room(&b, SCRATCH_MIN * 10));
    assert_true(b.scratch.capacity - b.scratch.tail >= SCRATCH_MIN * 10);
    batch_done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_have_their_fields_one_behind_the_other),
        cmocka_unit_test(the_scratch_moves_only_while_it_is_empty),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
