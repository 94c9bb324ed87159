#include "unit.h"

#include <stdio.h>

#include "base/mem.h"
#include "core/expr.h"
#include "core/expr_lexer.h"

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

static void what_comes_later_is_refused_as_not_in_this_version(void **state)
{
    static const struct {
        const char *text;
        size_t offset;
        const char *what;
    } rows[] = {
        {"1", 0, "numbers"},
        {"id, 2.5", 4, "numbers"},
        {"'it''s'", 0, "strings"},
        {"(a)", 0, "parentheses"},
        {"upper(name)", 0, "functions"},
        {"id, coalesce(name, 'x')", 4, "functions"},
        {"cast(a as bigint)", 0, "functions"},
        {"a + b", 2, "\"+\""},
        {"a+b", 1, "\"+\""},
        {"a || b", 2, "\"||\""},
        {"a.b = c.d", 4, "\"=\""},
        {"a <> b", 2, "\"<>\""},
        {"a != b", 2, "\"!=\""},
        {"a >= 1", 2, "\">=\""},
        {"a % 2", 2, "\"%\""},
        {"-a", 0, "\"-\""},
        {"+a", 0, "\"+\""},
        {"a and b", 2, "\"and\""},
        {"a OR b", 2, "\"OR\""},
        {"not a", 0, "\"not\""},
        {"a is not null", 2, "\"is\""},
        {"a not in (1)", 2, "\"not\""},
        {"a in (1)", 2, "\"in\""},
        {"a between 1 and 2", 2, "\"between\""},
        {"a like '%x'", 2, "\"like\""},
        {"case when a then b end", 0, "\"case\""},
        {"true", 0, "\"true\""},
        {"False", 0, "\"False\""},
        {"null", 0, "\"null\""},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char expected[128];
        snprintf(expected, sizeof(expected),
                 "!%zu not in this version: %s (only fields are built yet)", rows[i].offset,
                 rows[i].what);
        assert_string_equal(parse(rows[i].text, true), expected);
        assert_string_equal(parse(rows[i].text, false), expected);
    }
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

/* --- binding --- */

struct pair_fixture {
    struct schema orders, shipments;
    struct expr_scope both, left;
};

static void pair_init(struct pair_fixture *f)
{
    schema_init(&f->orders, "orders");
    schema_add(&f->orders, BYTES_LIT("id"), TYPE_BIGINT);
    schema_add(&f->orders, BYTES_LIT("user"), TYPE_STRING);
    schema_add(&f->orders, BYTES_LIT("at"), TYPE_TIMESTAMP_MS);
    schema_init(&f->shipments, "shipments");
    schema_add(&f->shipments, BYTES_LIT("parcel"), TYPE_STRING);
    schema_add(&f->shipments, BYTES_LIT("id"), TYPE_DOUBLE);
    schema_add(&f->shipments, BYTES_LIT("odd name"), TYPE_BOOLEAN);
    f->both = (struct expr_scope){{&f->orders, &f->shipments}};
    f->left = (struct expr_scope){{&f->orders, NULL}};
}

static void pair_done(struct pair_fixture *f)
{
    schema_done(&f->orders);
    schema_done(&f->shipments);
}

/* `SIDE FIELD TYPE`, or of a fault `!OFFSET message`. */
static const char *bind(const char *text, const struct expr_scope *scope)
{
    struct expr_list list;
    struct expr_fault fault = {99, NULL};
    struct expr *e;

    assert_true(expr_parse_list(bytes_of(text), false, &list, &fault));
    assert_int_equal(list.count, 1);
    e = list.items[0].expr;
    buf_clear(&scratch);
    if (expr_bind(e, scope, &fault)) {
        assert_null(fault.message);
        buf_printf(&scratch, "%s %zu %s", side_word(e->side), e->field, value_type_name(e->type));
    } else {
        buf_printf(&scratch, "!%zu %s", fault.offset, fault.message);
        mem_free(fault.message);
    }
    expr_list_done(&list);
    return buf_text(&scratch);
}

static void names_are_bound_to_fields_of_their_side(void **state)
{
    struct pair_fixture f;

    (void)state;
    pair_init(&f);
    assert_string_equal(bind("user", &f.both), "left 1 string");
    assert_string_equal(bind("at", &f.both), "left 2 timestamp_ms");
    assert_string_equal(bind("parcel", &f.both), "right 0 string");
    assert_string_equal(bind("\"odd name\"", &f.both), "right 2 boolean");
    assert_string_equal(bind("orders.id", &f.both), "left 0 bigint");
    assert_string_equal(bind("shipments.id", &f.both), "right 1 double");
    assert_string_equal(bind("shipments.\"odd name\"", &f.both), "right 2 boolean");
    assert_string_equal(bind("\"orders\".\"id\"", &f.both), "left 0 bigint");
    assert_string_equal(bind("id", &f.left), "left 0 bigint");
    assert_string_equal(bind("orders.id", &f.left), "left 0 bigint");
    pair_done(&f);
}

static void the_right_side_alone_is_a_scope_too(void **state)
{
    struct pair_fixture f;
    struct expr_scope right;

    (void)state;
    pair_init(&f);
    right = (struct expr_scope){{NULL, &f.shipments}};
    assert_string_equal(bind("id", &right), "right 1 double");
    assert_string_equal(bind("shipments.id", &right), "right 1 double");
    assert_string_equal(bind("user", &right),
                        "!0 no field \"user\" (fields: parcel, id, \"odd name\")");
    assert_string_equal(bind("orders.id", &right), "!0 no side \"orders\" here (only shipments)");
    pair_done(&f);
}

static void faults_of_names_say_what_there_is(void **state)
{
    static const struct {
        const char *text;
        bool one_side;
        const char *fault;
    } rows[] = {
        {"usr", true, "!0 no field \"usr\" (fields: id, user, at)"},
        {"  USER", true, "!2 no field \"USER\" (fields: id, user, at)"},
        {"orders.usr", true, "!0 no field \"usr\" (fields: id, user, at)"},
        {"shipments.id", true, "!0 no side \"shipments\" here (only orders)"},
        {"x.id", true, "!0 no side \"x\" here (only orders)"},
        {"usr", false,
         "!0 no field \"usr\" (fields: orders.id, orders.user, orders.at, shipments.parcel, "
         "shipments.id, shipments.\"odd name\")"},
        {"orders.parcel", false, "!0 no field \"parcel\" (fields of orders: id, user, at)"},
        {"id", false, "!0 \"id\" is in both sides: write orders.id or shipments.id"},
        {"x.id", false, "!0 no side \"x\" (sides: orders, shipments)"},
        {"Orders.id", false, "!0 no side \"Orders\" (sides: orders, shipments)"},
        {"\"orders.id\"", false,
         "!0 no field \"orders.id\" (fields: orders.id, orders.user, orders.at, "
         "shipments.parcel, shipments.id, shipments.\"odd name\")"},
        {"window_start", false,
         "!0 not in this version: \"window_start\" (only fields are built yet)"},
        {"result_id", true, "!0 not in this version: \"result_id\" (only fields are built yet)"},
    };
    struct pair_fixture f;

    (void)state;
    pair_init(&f);
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_string_equal(bind(rows[i].text, rows[i].one_side ? &f.left : &f.both),
                            rows[i].fault);
    pair_done(&f);
}

static void a_field_may_have_a_name_that_the_language_will_use(void **state)
{
    struct pair_fixture f;

    (void)state;
    pair_init(&f);
    schema_add(&f.orders, BYTES_LIT("window_start"), TYPE_STRING);
    assert_string_equal(bind("window_start", &f.both), "left 3 string");
    pair_done(&f);
}

/* A path into a JSON object needs no quotes. */
static void a_dotted_name_is_a_field_where_no_side_is_called_so(void **state)
{
    struct pair_fixture f;

    (void)state;
    pair_init(&f);
    schema_add(&f.orders, BYTES_LIT("address.city"), TYPE_STRING);
    schema_add(&f.orders, BYTES_LIT("a.b.c"), TYPE_BIGINT);
    assert_string_equal(bind("address.city", &f.both), "left 3 string");
    assert_string_equal(bind("\"address.city\"", &f.both), "left 3 string");
    assert_string_equal(bind("orders.address.city", &f.both), "left 3 string");
    assert_string_equal(bind("orders.\"address.city\"", &f.both), "left 3 string");
    assert_string_equal(bind("a.b.c", &f.both), "left 4 bigint");
    assert_string_equal(bind("orders.a.b.c", &f.both), "left 4 bigint");
    assert_string_equal(bind("a.b", &f.both), "!0 no side \"a\" (sides: orders, shipments)");
    assert_string_equal(bind("shipments.address.city", &f.both),
                        "!0 no field \"address.city\" (fields of shipments: parcel, id, "
                        "\"odd name\")");

    schema_add(&f.shipments, BYTES_LIT("address.city"), TYPE_STRING);
    assert_string_equal(bind("address.city", &f.both),
                        "!0 \"address.city\" is in both sides: write orders.address.city or "
                        "shipments.address.city");
    assert_string_equal(bind("shipments.address.city", &f.both), "right 3 string");
    pair_done(&f);
}

static void between_a_side_and_a_dotted_field_the_side_wins(void **state)
{
    struct pair_fixture f;

    (void)state;
    pair_init(&f);
    schema_add(&f.shipments, BYTES_LIT("orders.id"), TYPE_STRING);
    schema_add(&f.shipments, BYTES_LIT("orders.total"), TYPE_DOUBLE);
    assert_string_equal(bind("orders.id", &f.both), "left 0 bigint");
    assert_string_equal(bind("\"orders.id\"", &f.both), "right 3 string");
    assert_string_equal(bind("shipments.orders.id", &f.both), "right 3 string");
    /* The side has no such field: it can only be the path. */
    assert_string_equal(bind("orders.total", &f.both), "right 4 double");
    pair_done(&f);
}

static void long_lists_of_fields_are_cut_in_messages(void **state)
{
    struct schema s;
    struct expr_scope scope = {{&s, NULL}};
    const char *message;

    (void)state;
    schema_init(&s, "wide");
    for (int i = 0; i < 30; i++) {
        char name[16];
        snprintf(name, sizeof(name), "f%d", i);
        schema_add(&s, bytes_of(name), TYPE_STRING);
    }
    message = bind("x", &scope);
    assert_non_null(strstr(message, "(fields: f0, f1, "));
    assert_non_null(strstr(message, "f28, f29)"));
    schema_add(&s, BYTES_LIT("f30"), TYPE_STRING);
    schema_add(&s, BYTES_LIT("f31"), TYPE_STRING);
    message = bind("x", &scope);
    assert_non_null(strstr(message, "f28, f29, ...)"));
    schema_done(&s);
}

/* --- evaluating --- */

static void fields_of_both_sides_are_read(void **state)
{
    const struct bytes left[] = {BYTES_LIT("1002"), BYTES_LIT("ann"), BYTES_NULL};
    const struct bytes right[] = {BYTES_LIT(""), BYTES_LIT("2.5"), BYTES_LIT("true")};
    struct expr_input pair = {{left, right}}, padded = {{left, NULL}};
    struct expr_list list;
    struct expr_fault fault;
    struct pair_fixture f;
    struct value v;

    (void)state;
    pair_init(&f);
    assert_true(expr_parse_list(BYTES_LIT("orders.id, user, at, parcel, shipments.id, "
                                          "\"odd name\""),
                                false, &list, &fault));
    for (size_t i = 0; i < list.count; i++)
        assert_true(expr_bind(list.items[i].expr, &f.both, &fault));

    assert_int_equal(expr_evaluate(list.items[0].expr, &pair, &v), EXPR_OK);
    assert_int_equal(v.type, TYPE_BIGINT);
    assert_true(!v.null && v.bigint == 1002);
    assert_int_equal(expr_evaluate(list.items[1].expr, &pair, &v), EXPR_OK);
    assert_text(v.text.p, v.text.n, "ann");
    assert_int_equal(expr_evaluate(list.items[2].expr, &pair, &v), EXPR_OK);
    assert_true(v.null && v.type == TYPE_BIGINT);
    assert_int_equal(expr_evaluate(list.items[3].expr, &pair, &v), EXPR_OK);
    assert_true(!v.null && v.text.n == 0);
    assert_int_equal(expr_evaluate(list.items[4].expr, &pair, &v), EXPR_OK);
    assert_true(v.type == TYPE_DOUBLE && v.real == 2.5);
    assert_int_equal(expr_evaluate(list.items[5].expr, &pair, &v), EXPR_OK);
    assert_true(v.type == TYPE_BOOLEAN && v.boolean);

    assert_int_equal(expr_evaluate(list.items[5].expr, &padded, &v), EXPR_OK);
    assert_true(v.null && v.type == TYPE_BOOLEAN);
    assert_int_equal(expr_evaluate(list.items[0].expr, &padded, &v), EXPR_OK);
    assert_false(v.null);
    expr_list_done(&list);
    pair_done(&f);
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
        cmocka_unit_test(what_comes_later_is_refused_as_not_in_this_version),
        cmocka_unit_test(long_texts_are_parsed_whole),
        cmocka_unit_test(names_are_bound_to_fields_of_their_side),
        cmocka_unit_test(the_right_side_alone_is_a_scope_too),
        cmocka_unit_test(faults_of_names_say_what_there_is),
        cmocka_unit_test(a_field_may_have_a_name_that_the_language_will_use),
        cmocka_unit_test(a_dotted_name_is_a_field_where_no_side_is_called_so),
        cmocka_unit_test(between_a_side_and_a_dotted_field_the_side_wins),
        cmocka_unit_test(long_lists_of_fields_are_cut_in_messages),
        cmocka_unit_test(fields_of_both_sides_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, give_back);
}
