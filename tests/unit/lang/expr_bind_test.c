/* Names: fields of sides, of paths, those that are no fields; and fields as they are read. */
#include "unit.h"

#include <stdio.h>

#include "base/mem.h"
#include "lang/expr.h"

static struct buf scratch; /* what the functions below return; good until the next call */

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
    f->both = (struct expr_scope){.schemas = {&f->orders, &f->shipments}};
    f->left = (struct expr_scope){.schemas = {&f->orders, NULL}};
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
    right = (struct expr_scope){.schemas = {NULL, &f.shipments}};
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
         "!0 \"window_start\" can be used only in the select of window joins (match = tumbling, "
         "sliding or session)"},
        {"left_time", true, "!0 \"left_time\" can be used in select only"},
        {"result_id", true, "!0 not in this version: \"result_id\""},
    };
    struct pair_fixture f;

    (void)state;
    pair_init(&f);
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_string_equal(bind(rows[i].text, rows[i].one_side ? &f.left : &f.both),
                            rows[i].fault);
    pair_done(&f);
}

static void names_of_times_and_windows_are_for_select(void **state)
{
    static const struct {
        const char *text;
        bool times, windows, right;
        const char *bound;
    } rows[] = {
        {"left_time", true, false, true, "left 0 timestamp"},
        {"right_time", true, false, true, "right 0 timestamp"},
        {"window_start", true, true, true, "left 0 timestamp"},
        {"\"window_end\"", true, true, false, "left 0 timestamp"},
        {"left_time", true, false, false, "left 0 timestamp"},
        {"right_time", true, false, false,
         "!0 \"right_time\": results have no record of the right side here"},
        {"right_time", false, false, true, "!0 \"right_time\" can be used in select only"},
        {"window_end", true, false, true,
         "!0 \"window_end\" can be used only in the select of window joins (match = tumbling, "
         "sliding or session)"},
        {"result_id", true, true, true, "!0 not in this version: \"result_id\""},
        {"orders.left_time", true, true, false, "!0 no field \"left_time\" (fields: id, user, at)"},
        {"Left_Time", true, true, false, "!0 no field \"Left_Time\" (fields: id, user, at)"},
    };
    struct pair_fixture f;

    (void)state;
    pair_init(&f);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct expr_scope scope = {
            .schemas = {&f.orders, rows[i].right ? &f.shipments : NULL},
            .times = rows[i].times,
            .windows = rows[i].windows,
        };
        assert_string_equal(bind(rows[i].text, &scope), rows[i].bound);
    }
    pair_done(&f);
}

static void a_field_of_such_a_name_is_the_field(void **state)
{
    struct pair_fixture f;

    (void)state;
    pair_init(&f);
    f.both.times = f.both.windows = true;
    schema_add(&f.orders, BYTES_LIT("window_start"), TYPE_STRING);
    schema_add(&f.shipments, BYTES_LIT("left_time"), TYPE_BIGINT);
    assert_string_equal(bind("window_start", &f.both), "left 3 string");
    assert_string_equal(bind("left_time", &f.both), "right 3 bigint");
    assert_string_equal(bind("window_end", &f.both), "left 0 timestamp");
    pair_done(&f);
}

/* What an expression asks for, at any depth: `times left right`. */
static const char *uses(const char *text, const struct expr_scope *scope)
{
    struct expr_list list;
    struct expr_fault fault;
    const struct expr *e;

    if (!expr_parse_list(bytes_of(text), false, &list, &fault) ||
        !expr_bind(list.items[0].expr, scope, &fault))
        fail_msg("%s: %s", text, fault.message);
    e = list.items[0].expr;
    buf_clear(&scratch);
    buf_printf(&scratch, "%s%s%s", expr_uses_times(e) ? "times " : "",
               expr_uses_side(e, SIDE_LEFT) ? "left " : "",
               expr_uses_side(e, SIDE_RIGHT) ? "right " : "");
    expr_list_done(&list);
    return buf_text(&scratch);
}

static void what_an_expression_asks_for_can_be_told(void **state)
{
    struct pair_fixture f;

    (void)state;
    pair_init(&f);
    f.both.times = f.both.windows = true;
    assert_string_equal(uses("1 + 2", &f.both), "");
    assert_string_equal(uses("window_start", &f.both), "");
    assert_string_equal(uses("user", &f.both), "left ");
    assert_string_equal(uses("upper(trim(parcel)) || '-'", &f.both), "right ");
    assert_string_equal(uses("orders.id = shipments.id", &f.both), "left right ");
    assert_string_equal(uses("cast(left_time as string)", &f.both), "times left ");
    assert_string_equal(uses("case when 1 in (2, orders.id) then right_time end", &f.both),
                        "times left right ");
    pair_done(&f);
}

static void an_expression_may_be_bound_again(void **state)
{
    struct pair_fixture f;
    struct expr_list list;
    struct expr_fault fault;
    struct expr *e;

    (void)state;
    pair_init(&f);
    assert_true(expr_parse_list(BYTES_LIT("coalesce(null, parcel, cast(window_end as string))"),
                                false, &list, &fault));
    e = list.items[0].expr;
    for (int i = 0; i < 2; i++) {
        f.both.windows = false;
        assert_false(expr_bind(e, &f.left, &fault));
        mem_free(fault.message);
        assert_false(expr_bind(e, &f.both, &fault));
        mem_free(fault.message);
        f.both.windows = true;
        assert_true(expr_bind(e, &f.both, &fault));
        assert_int_equal(e->type, TYPE_STRING);
        assert_int_equal(e->parts[0]->type, TYPE_STRING);
        assert_int_equal(e->parts[2]->parts[0]->kind, EXPR_WINDOW);
    }
    expr_list_done(&list);
    pair_done(&f);
}

/* The type of a null is what the scope of the day asks for. */
static void a_null_takes_its_type_anew(void **state)
{
    struct schema one, other;
    const struct expr_scope scopes[] = {{.schemas = {&one, NULL}}, {.schemas = {&other, NULL}}};
    struct expr_list list;
    struct expr_fault fault;
    struct expr *e;

    (void)state;
    schema_init(&one, "s");
    schema_add(&one, BYTES_LIT("a"), TYPE_BIGINT);
    schema_init(&other, "s");
    schema_add(&other, BYTES_LIT("a"), TYPE_TIMESTAMP_S);
    assert_true(
        expr_parse_list(BYTES_LIT("coalesce(nullif(null, null), a)"), false, &list, &fault));
    e = list.items[0].expr;
    for (int i = 0; i < 4; i++) {
        enum value_type type = i % 2 == 0 ? TYPE_BIGINT : TYPE_TIMESTAMP_S;
        assert_true(expr_bind(e, &scopes[i % 2], &fault));
        assert_int_equal(e->type, type);
        assert_int_equal(e->parts[0]->type, type);
        assert_int_equal(e->parts[0]->parts[1]->type, type);
        assert_int_equal(e->parts[0]->parts[1]->value.type, value_type_class(type));
    }
    expr_list_done(&list);
    schema_done(&one);
    schema_done(&other);
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
    struct expr_scope scope = {.schemas = {&s, NULL}};
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
    struct expr_input pair = {.fields = {left, right}}, padded = {.fields = {left, NULL}};
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
        cmocka_unit_test(names_are_bound_to_fields_of_their_side),
        cmocka_unit_test(the_right_side_alone_is_a_scope_too),
        cmocka_unit_test(faults_of_names_say_what_there_is),
        cmocka_unit_test(names_of_times_and_windows_are_for_select),
        cmocka_unit_test(a_field_of_such_a_name_is_the_field),
        cmocka_unit_test(what_an_expression_asks_for_can_be_told),
        cmocka_unit_test(an_expression_may_be_bound_again),
        cmocka_unit_test(a_null_takes_its_type_anew),
        cmocka_unit_test(a_dotted_name_is_a_field_where_no_side_is_called_so),
        cmocka_unit_test(between_a_side_and_a_dotted_field_the_side_wins),
        cmocka_unit_test(long_lists_of_fields_are_cut_in_messages),
        cmocka_unit_test(fields_of_both_sides_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, give_back);
}
