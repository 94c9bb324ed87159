/*
 * Expressions over two records of all types, and what they give, as text:
 *
 *     bigint 7    string 'abc'    double null     the type, and the value
 *     !division by zero                           what fails over the records
 *     ?4 a string cannot ...                      what is refused, and where
 *
 * Each one is also written, parsed again and has to give the same, twice.
 */
#ifndef UNIT_LANG_EXPR_FIXTURE_H
#define UNIT_LANG_EXPR_FIXTURE_H

#include "unit.h"

#include "base/buf.h"
#include "base/mem.h"
#include "lang/expr.h"

#define EXPR_FIELDS_MAX 24

struct expr_fixture {
    struct schema schema[SIDES];
    struct bytes fields[SIDES][EXPR_FIELDS_MAX];
    struct expr_scope scope;
    struct expr_input in;
    struct buf answer; /* what give() returned last */
};

static struct expr_fixture fixture;

static inline void add_field(enum side side, const char *name, enum value_type type,
                             struct bytes text)
{
    struct schema *s = &fixture.schema[side];

    assert_true(s->count < EXPR_FIELDS_MAX);
    fixture.fields[side][s->count] = text;
    schema_add(s, bytes_of(name), type);
}

static inline int open_fixture(void **state)
{
    (void)state;
    fixture = (struct expr_fixture){.answer = BUF_EMPTY};
    for (int s = 0; s < SIDES; s++) {
        schema_init(&fixture.schema[s], side_word((enum side)s));
        fixture.scope.schemas[s] = &fixture.schema[s];
        fixture.in.fields[s] = fixture.fields[s];
    }
    fixture.scope.times = fixture.scope.windows = true;
    fixture.in.window_start = -10000;
    fixture.in.window_end = 0;
    fixture.in.time[SIDE_LEFT] = 1234;
    fixture.in.memory = expr_memory_new();

    add_field(SIDE_LEFT, "n", TYPE_BIGINT, BYTES_LIT("7"));
    add_field(SIDE_LEFT, "most", TYPE_BIGINT, BYTES_LIT("9223372036854775807"));
    add_field(SIDE_LEFT, "least_", TYPE_BIGINT, BYTES_LIT("-9223372036854775808"));
    add_field(SIDE_LEFT, "nn", TYPE_BIGINT, BYTES_NULL);
    add_field(SIDE_LEFT, "x", TYPE_DOUBLE, BYTES_LIT("2.5"));
    add_field(SIDE_LEFT, "xn", TYPE_DOUBLE, BYTES_NULL);
    add_field(SIDE_LEFT, "s", TYPE_STRING, BYTES_LIT("abc"));
    add_field(SIDE_LEFT, "e", TYPE_STRING, BYTES_LIT(""));
    add_field(SIDE_LEFT, "sn", TYPE_STRING, BYTES_NULL);
    add_field(SIDE_LEFT, "utf", TYPE_STRING, BYTES_LIT("\xc5\xbdlu\xc5\xa5")); /* 4 characters */
    add_field(SIDE_LEFT, "bad", TYPE_STRING, BYTES_LIT("a\xff\xc3\xc3\xa9z")); /* 5 */
    add_field(SIDE_LEFT, "t", TYPE_BOOLEAN, BYTES_LIT("true"));
    add_field(SIDE_LEFT, "f", TYPE_BOOLEAN, BYTES_LIT("false"));
    add_field(SIDE_LEFT, "bn", TYPE_BOOLEAN, BYTES_NULL);
    add_field(SIDE_LEFT, "at", TYPE_TIMESTAMP, BYTES_LIT("2026-01-02T03:04:05.678Z"));
    add_field(SIDE_LEFT, "atn", TYPE_TIMESTAMP, BYTES_NULL);
    add_field(SIDE_LEFT, "sec", TYPE_TIMESTAMP_S, BYTES_LIT("1700000000.50"));
    add_field(SIDE_LEFT, "ms", TYPE_TIMESTAMP_MS, BYTES_LIT("1700000000123"));
    add_field(SIDE_LEFT, "us", TYPE_TIMESTAMP_US, BYTES_LIT("-1"));
    add_field(SIDE_LEFT, "ns", TYPE_TIMESTAMP_NS, BYTES_LIT("1700000000123456789"));
    add_field(SIDE_LEFT, "msn", TYPE_TIMESTAMP_MS, BYTES_NULL);
    add_field(SIDE_LEFT, "user.id", TYPE_STRING, BYTES_LIT("ann"));

    add_field(SIDE_RIGHT, "id", TYPE_BIGINT, BYTES_LIT("5"));
    add_field(SIDE_RIGHT, "s", TYPE_STRING, BYTES_LIT("xyz"));
    add_field(SIDE_RIGHT, "z", TYPE_DOUBLE, BYTES_LIT("-0"));
    add_field(SIDE_RIGHT, "ms2", TYPE_TIMESTAMP_MS, BYTES_LIT("1700000000000"));
    return 0;
}

static inline int close_fixture(void **state)
{
    (void)state;
    for (int s = 0; s < SIDES; s++)
        schema_done(&fixture.schema[s]);
    expr_memory_free(fixture.in.memory);
    buf_done(&fixture.answer);
    return 0;
}

static inline void append_value(const struct expr *e, const struct value *v, struct buf *to)
{
    assert_int_equal(v->type, value_type_class(e->type));
    buf_printf(to, "%s ", value_type_name(e->type));
    if (v->null) {
        buf_append_text(to, "null");
    } else if (v->type == TYPE_STRING) {
        buf_append_char(to, '\'');
        buf_append_bytes(to, v->text);
        buf_append_char(to, '\'');
    } else {
        value_append(v, to);
    }
}

/* What `e`, bound anew, gives. */
static inline void append_result(struct expr *e, struct buf *to)
{
    struct expr_fault fault = {0, NULL};
    enum expr_outcome o;
    struct value v;

    if (!expr_bind(e, &fixture.scope, &fault)) {
        buf_printf(to, "?%zu %s", fault.offset, fault.message);
        mem_free(fault.message);
        return;
    }
    expr_memory_reset(fixture.in.memory);
    o = expr_evaluate(e, &fixture.in, &v);
    if (o != EXPR_OK)
        buf_printf(to, "!%s", expr_outcome_text(o));
    else
        append_value(e, &v, to);
}

static inline bool parse_one(struct bytes text, struct expr_list *ret, struct buf *ret_fault)
{
    struct expr_fault fault = {0, NULL};

    if (expr_parse_list(text, true, ret, &fault)) {
        assert_int_equal(ret->count, 1);
        return true;
    }
    buf_printf(ret_fault, "?%zu %s", fault.offset, fault.message);
    mem_free(fault.message);
    return false;
}

/* Written and parsed again it gives the same (but the place of a fault), twice. */
static inline void check_written(const struct expr *e, struct buf *expected)
{
    struct buf first = BUF_EMPTY, second = BUF_EMPTY, answer = BUF_EMPTY;
    struct expr_list list;

    expr_write(e, &first);
    if (!parse_one(buf_bytes(&first), &list, &answer))
        fail_msg("\"%s\" is refused: %s", buf_text(&first), buf_text(&answer));
    expr_write(list.items[0].expr, &second);
    assert_string_equal(buf_text(&second), buf_text(&first));
    for (int i = 0; i < 2 && buf_text(expected)[0] != '?'; i++) {
        buf_clear(&answer);
        append_result(list.items[0].expr, &answer);
        assert_string_equal(buf_text(&answer), buf_text(expected));
    }
    expr_list_done(&list);
    buf_done(&first);
    buf_done(&second);
    buf_done(&answer);
}

static inline const char *give(const char *text)
{
    size_t n = strlen(text);
    char *exact = memcpy(mem_alloc(n), text, n); /* a byte too far is seen */
    struct expr_list list;
    bool ok;

    buf_clear(&fixture.answer);
    ok = parse_one((struct bytes){exact, n}, &list, &fixture.answer);
    mem_free(exact);
    if (ok) {
        append_result(list.items[0].expr, &fixture.answer);
        check_written(list.items[0].expr, &fixture.answer);
        expr_list_done(&list);
    }
    return buf_text(&fixture.answer);
}

struct expr_row {
    const char *text;
    const char *answer;
};

static inline void check_rows(const struct expr_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *answer = give(rows[i].text);
        if (strcmp(answer, rows[i].answer) != 0)
            fail_msg("%s: \"%s\" is not \"%s\"", rows[i].text, answer, rows[i].answer);
    }
}

#define CHECK_ROWS(...)                                                                            \
    do {                                                                                           \
        static const struct expr_row check_these[] = {__VA_ARGS__};                                \
        (void)state;                                                                               \
        check_rows(check_these, COUNT_OF(check_these));                                            \
    } while (0)

#endif
