#include "join_fixture.h"

#include "join/pairing.h"

/* A record of the fixture's fields, as it would lie in a store; the caller's. */
static struct record *record_of(const char *line)
{
    struct record_parts parts = {.hash = 1, .body = bytes_of(line), .key = {line, 1}};
    struct record *r = mem_alloc(record_size(&parts));

    record_write_parts(&parts, 0, r);
    return r;
}

static void without_a_condition_two_records_of_a_key_are_a_pair(void **state)
{
    struct plan *plan = PLAN();
    struct books books = {0};
    struct pairing p;
    struct record *l = record_of("k,a,true");

    (void)state;
    pairing_init(&p, plan, &books);
    assert_int_equal(pairing_on(&p, l, l), PAIRING_YES);
    pairing_done(&p);
    plan_free(plan);
    mem_free(l);
}

static void only_true_is_a_match(void **state)
{
    static const struct {
        const char *left, *right;
        enum pairing_answer answer;
    } rows[] = {
        {"k,a,true", "k,x,true", PAIRING_YES},
        {"k,a,false", "k,x,true", PAIRING_NO},
        {"k,a,", "k,x,true", PAIRING_NO},
    };
    struct plan *plan = PLAN(.on = "left.ok");
    struct books books = {0};
    struct pairing p;

    (void)state;
    pairing_init(&p, plan, &books);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct record *l = record_of(rows[i].left), *r = record_of(rows[i].right);
        assert_row(pairing_on(&p, l, r) == rows[i].answer, rows[i].left);
        assert_row(pairing_on(&p, l, r) == rows[i].answer, rows[i].left); /* asked again */
        pairing_forget(&p); /* the next one may lie where this one lay */
        mem_free(l);
        mem_free(r);
    }
    pairing_done(&p);
    plan_free(plan);
}

static void a_fate_is_decided_once(void **state)
{
    struct books books = {0};
    uint64_t held = 2;
    struct record *a = record_of("k,a,true"), *b = record_of("k,b,true");

    (void)state;
    pairing_matched(&books, SIDE_LEFT, a, &held);
    pairing_matched(&books, SIDE_LEFT, a, &held);
    assert_int_equal(books.side[SIDE_LEFT].matched, 1);
    assert_int_equal(held, 1);
    assert_true(record_has(a, RECORD_DECIDED) && record_has(a, RECORD_MATCHED));
    pairing_unmatched(&books, SIDE_LEFT, b, &held);
    assert_int_equal(books.side[SIDE_LEFT].unmatched, 1);
    assert_int_equal(held, 0);
    assert_true(record_has(b, RECORD_DECIDED) && !record_has(b, RECORD_MATCHED));
    mem_free(a);
    mem_free(b);
}

static void padded_rows_are_called_by_their_join(void **state)
{
    struct plan plan = {.type = JOIN_FULL};

    (void)state;
    assert_int_equal(pairing_padded_kind(&plan, SIDE_LEFT), RESULT_LEFT);
    assert_int_equal(pairing_padded_kind(&plan, SIDE_RIGHT), RESULT_RIGHT);
    plan.type = JOIN_ANTI;
    assert_int_equal(pairing_padded_kind(&plan, SIDE_LEFT), RESULT_ANTI);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_condition_two_records_of_a_key_are_a_pair),
        cmocka_unit_test(only_true_is_a_match),
        cmocka_unit_test(a_fate_is_decided_once),
        cmocka_unit_test(padded_rows_are_called_by_their_join),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
