#include "unit.h"

#include "base/mem.h"
#include "lang/expr.h"
#include "lang/expr_lexer.h"

static struct buf scratch; /* what the functions below return; good until the next call */

/* --- parsing --- */

/* The list as it would be written again; of a fault `!OFFSET message`. */
static const char *parse(const char *text, bool names_ok)
{
    struct expr_list list = {(struct expr_item *)&scratch, 99}; /* must not be touched by a fault */
    struct expr_fault fault = {99, NULL};
    size_t n = strlen(text);
    char *exact = memcpy(mem_alloc(n), text, n); /* a byte too far is seen */
    bool ok = expr_parse_list((struct bytes){exact, n}, names_ok, &list, &fault);

    mem_free(exact);
    buf_clear(&scratch);
    if (!ok) {
        assert_int_equal(list.count, 99);
        buf_printf(&scratch, "!%zu %s", fault.offset, fault.message);
        mem_free(fault.message);
        return buf_text(&scratch);
    }
    assert_null(fault.message);
    for (size_t i = 0; i < list.count; i++) {
        if (i > 0)
            buf_append_text(&scratch, ", ");
        expr_write(list.items[i].expr, &scratch);
        if (list.items[i].name != NULL) {
            buf_append_text(&scratch, " as ");
            expr_write_name(bytes_of(list.items[i].name), &scratch);
        }
    }
    expr_list_done(&list);
    return buf_text(&scratch);
}

static void lists_of_fields_are_parsed_and_written_again(void **state)
{
    static const struct {
        const char *text;
        const char *written;
    } rows[] = {
        {"amount", "amount"},
        {"  amount\t", "amount"},
        {"orders.amount", "orders.amount"},
        {"orders . amount", "orders.amount"},
        {"a,b , c", "a, b, c"},
        {"a,\n  b", "a, b"},
        {"\"amount\"", "amount"},
        {"\"odd name\"", "\"odd name\""},
        {"\"say \"\"hi\"\"\"", "\"say \"\"hi\"\"\""},
        {"\"\"\"\"", "\"\"\"\""},
        {"\"my orders\".\"odd name\"", "\"my orders\".\"odd name\""},
        {"\"end\"", "\"end\""},
        {"\"End\"", "\"End\""},
        {"\"1st\"", "\"1st\""},
        {"\"a.b\"", "\"a.b\""},
        {"a.b.c", "a.b.c"},
        {"a.\"b.c\"", "a.b.c"},
        {"a.\"b.end\"", "a.\"b.end\""},
        {"a.\"b..c\"", "a.\"b..c\""},
        {"a.\"b.\"", "a.\"b.\""},
        {"a.\"b c\".d", "a.\"b c.d\""},
        {"Amount, AMOUNT", "Amount, AMOUNT"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_string_equal(parse(rows[i].text, false), rows[i].written);
        assert_string_equal(parse(rows[i].text, true), rows[i].written);
        assert_string_equal(parse(rows[i].written, false), rows[i].written);
    }
}

static void names_are_given_by_as(void **state)
{
    (void)state;
    assert_string_equal(parse("a as b", true), "a as b");
    assert_string_equal(parse("t.sensor AS sensor, celsius, x As \"end\"", true),
                        "t.sensor as sensor, celsius, x as \"end\"");
    assert_string_equal(parse("a as \"odd name\"", true), "a as \"odd name\"");
    assert_string_equal(parse("\"as\" as \"as\"", true), "\"as\" as \"as\"");
}

static void the_place_of_expressions_and_names_is_kept(void **state)
{
    struct expr_list list;
    struct expr_fault fault;

    (void)state;
    assert_true(expr_parse_list(BYTES_LIT(" a , orders.b as  \"c\""), true, &list, &fault));
    assert_int_equal(list.count, 2);
    assert_int_equal(list.items[0].expr->offset, 1);
    assert_null(list.items[0].name);
    assert_int_equal(list.items[1].expr->offset, 5);
    assert_int_equal(list.items[1].name_offset, 18);
    assert_string_equal(list.items[1].name, "c");
    assert_string_equal(list.items[1].expr->qualifier, "orders");
    assert_string_equal(list.items[1].expr->name, "b");
    expr_list_done(&list);
    assert_null(list.items);
    expr_free(NULL);
}

static void faults_of_grammar_are_told_with_their_place(void **state)
{
    static const struct {
        const char *text;
        const char *fault;
    } rows[] = {
        {"", "!0 an expression is missing"},
        {"   ", "!3 an expression is missing"},
        {",", "!0 an expression is missing before \",\""},
        {",a", "!0 an expression is missing before \",\""},
        {"a,,b", "!2 an expression is missing before \",\""},
        {"a, ", "!1 an expression is missing after \",\""},
        {"a b", "!2 \"b\" is not expected here (to name a column: as b)"},
        {"a \"b\"", "!2 \"b\" is not expected here (to name a column: as \"b\")"},
        {"a 1", "!2 \"1\" is not expected here"},
        {"a 'x'", "!2 \"'x'\" is not expected here"},
        {"a)", "!1 \")\" without \"(\""},
        {")", "!0 an expression is missing before \")\""},
        {"a.", "!2 a name is missing after \".\""},
        {"a.,b", "!2 a name is missing after \".\""},
        {".a", "!0 an expression is missing before \".\""},
        {"a..b", "!2 a name is missing after \".\""},
        {"a.*", "!2 a name is missing after \".\""},
        {"a.'b'", "!2 a name is missing after \".\""},
        {"a.end", "!2 \"end\" is a reserved word: as a name it needs double quotes"},
        {"a.b(", "!3 \"(\" is not expected here"},
        {"\"a\"(b)", "!3 \"(\" is not expected here"},
        {"end", "!0 an expression is missing before \"end\" (a field of that name needs double "
                "quotes)"},
        {"a, Like", "!3 an expression is missing before \"Like\" (a field of that name needs "
                    "double quotes)"},
        {"a then b", "!2 \"then\" is not expected here"},
        {"a true", "!2 \"true\" is not expected here"},
        {"as b", "!0 an expression is missing before \"as\" (a field of that name needs double "
                 "quotes)"},
        {"a as", "!4 a name is missing after \"as\""},
        {"a as , b", "!5 a name is missing after \"as\""},
        {"a as 1", "!5 a name is missing after \"as\""},
        {"a as end", "!5 \"end\" is a reserved word: as a name it needs double quotes"},
        {"a as b c", "!7 \"c\" is not expected here (to name a column: as c)"},
        {"a as b as c", "!7 \"as\" is not expected here"},
        {"a as b.c", "!6 \".\" is not expected here"},
        {"= a", "!0 an expression is missing before \"=\""},
        {"*", "!0 \"*\" is no expression (all fields are the default)"},
        {"a, 'b", "!3 the string that begins here has no end (a ' is missing)"},
        {"a, \"b", "!3 the name that begins here has no end (a \" is missing)"},
        {"\"\"", "!0 a name cannot be empty"},
        {"a as \"\"", "!5 a name cannot be empty"},
        {"a.\"\"", "!2 a name cannot be empty"},
        {"a, 2nd", "!3 \"2nd\" is no number (a name that begins with a digit needs double quotes)"},
        {"`a`", "!0 names are quoted by \" and not by `"},
        {"a; b", "!1 \";\" has no place in an expression"},
        {"\xc3\xa4", "!0 a name with other letters than a to z needs double quotes"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_string_equal(parse(rows[i].text, true), rows[i].fault);
}

static void where_nothing_is_named_as_is_refused(void **state)
{
    (void)state;
    assert_string_equal(parse("a as b", false), "!2 \"as\": nothing is named here");
    assert_string_equal(parse("a b", false), "!2 \"b\" is not expected here");
    assert_string_equal(parse("*", false), "!0 an expression is missing before \"*\"");
}

static void long_texts_are_parsed_whole(void **state)
{
    struct buf text = BUF_EMPTY;
    struct expr_list list;
    struct expr_fault fault;

    (void)state;
    for (int i = 0; i < 2000; i++)
        buf_printf(&text, "%sf%d", i > 0 ? "," : "", i);
    assert_true(expr_parse_list(buf_bytes(&text), false, &list, &fault));
    assert_int_equal(list.count, 2000);
    assert_string_equal(list.items[1999].expr->name, "f1999");
    expr_list_done(&list);
    buf_done(&text);
}

static void every_outcome_and_function_has_its_word(void **state)
{
    (void)state;
    for (int o = 0; o < EXPR_OUTCOMES; o++)
        assert_true(expr_outcome_text((enum expr_outcome)o)[0] != '\0');
    assert_string_equal(expr_outcome_text(EXPR_DIVISION_BY_ZERO), "division by zero");
    for (int f = 0; f < EXPR_FUNCTIONS; f++)
        assert_true(expr_function_name((enum expr_function)f)[0] != '\0');
    assert_string_equal(expr_function_name(FUNCTION_UPPER), "upper");
}

static int give_back(void **state)
{
    (void)state;
    buf_done(&scratch);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_of_fields_are_parsed_and_written_again),
        cmocka_unit_test(names_are_given_by_as),
        cmocka_unit_test(the_place_of_expressions_and_names_is_kept),
        cmocka_unit_test(faults_of_grammar_are_told_with_their_place),
        cmocka_unit_test(where_nothing_is_named_as_is_refused),
        cmocka_unit_test(long_texts_are_parsed_whole),
        cmocka_unit_test(every_outcome_and_function_has_its_word),
    };
    return cmocka_run_group_tests(tests, NULL, give_back);
}
