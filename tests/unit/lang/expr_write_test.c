/* What is parsed and how it is written again: precedence, parentheses, literals. */
#include "unit.h"

#include "base/mem.h"
#include "lang/expr.h"

static struct buf scratch; /* what parse() returned last */

/* The expression as it is written; of a fault `!OFFSET message`. */
static const char *parse(struct bytes text)
{
    struct expr_list list;
    struct expr_fault fault = {99, NULL};

    buf_clear(&scratch);
    if (!expr_parse_list(text, true, &list, &fault)) {
        buf_printf(&scratch, "!%zu %s", fault.offset, fault.message);
        mem_free(fault.message);
        return buf_text(&scratch);
    }
    for (size_t i = 0; i < list.count; i++) {
        buf_append_text(&scratch, i > 0 ? ", " : "");
        expr_write(list.items[i].expr, &scratch);
    }
    expr_list_done(&list);
    return buf_text(&scratch);
}

/* The tree in prefix form, which needs no precedence. */
static void append_tree(const struct expr *e, struct buf *to)
{
    static const char *const kinds[] = {
        [EXPR_FIELD] = "field",   [EXPR_LITERAL] = "literal", [EXPR_TIME] = "time",
        [EXPR_WINDOW] = "window", [EXPR_NEGATE] = "neg",      [EXPR_ARITHMETIC] = "math",
        [EXPR_CONCAT] = "concat", [EXPR_COMPARE] = "compare", [EXPR_AND] = "and",
        [EXPR_OR] = "or",         [EXPR_NOT] = "not",         [EXPR_IS_NULL] = "null",
        [EXPR_IN] = "in",         [EXPR_BETWEEN] = "between", [EXPR_LIKE] = "like",
        [EXPR_CASE] = "case",     [EXPR_CAST] = "cast",       [EXPR_CALL] = "call",
    };

    if (e->part_count == 0) {
        expr_write(e, to);
        return;
    }
    buf_printf(to, "%s%s(", e->negated ? "!" : "", kinds[e->kind]);
    for (size_t i = 0; i < e->part_count; i++) {
        buf_append_text(to, i > 0 ? " " : "");
        append_tree(e->parts[i], to);
    }
    buf_append_char(to, ')');
}

static const char *tree(const char *text)
{
    struct expr_list list;
    struct expr_fault fault;

    if (!expr_parse_list(bytes_of(text), false, &list, &fault))
        fail_msg("%s: %s", text, fault.message);
    buf_clear(&scratch);
    append_tree(list.items[0].expr, &scratch);
    expr_list_done(&list);
    return buf_text(&scratch);
}

static void operators_bind_as_in_sql(void **state)
{
    static const struct {
        const char *text, *tree;
    } rows[] = {
        {"a or b and c", "or(a and(b c))"},
        {"a and b or c", "or(and(a b) c)"},
        {"a or b or c", "or(a b c)"},
        {"(a or b) or c", "or(or(a b) c)"},
        {"a or (b or c)", "or(a or(b c))"},
        {"not a and b", "and(not(a) b)"},
        {"not a = b", "not(compare(a b))"},
        {"not not a", "not(not(a))"},
        {"not a is null", "not(null(a))"},
        {"a = b or c = d", "or(compare(a b) compare(c d))"},
        {"a + b = c * d", "compare(math(a b) math(c d))"},
        {"a || b = c || d", "compare(concat(a b) concat(c d))"},
        {"a || b || c", "concat(a b c)"},
        {"a || (b || c)", "concat(a concat(b c))"},
        {"a || b + c", "concat(a math(b c))"},
        {"a - b - c", "math(math(a b) c)"},
        {"a - (b - c)", "math(a math(b c))"},
        {"a + b * c", "math(a math(b c))"},
        {"(a + b) * c", "math(math(a b) c)"},
        {"a / b * c % d", "math(math(math(a b) c) d)"},
        {"-a * b", "math(neg(a) b)"},
        {"a * -b", "math(a neg(b))"},
        {"a - -b", "math(a neg(b))"},
        {"a - -5", "math(a -5)"},
        {"a -5", "math(a 5)"},
        {"- -a", "neg(neg(a))"},
        {"a is null and b", "and(null(a) b)"},
        {"a + b is not null", "!null(math(a b))"},
        {"a = b is null", "null(compare(a b))"},
        {"a between b and c and d", "and(between(a b c) d)"},
        {"a between b + 1 and c || d", "between(a math(b 1) concat(c d))"},
        {"a not between b and c", "!between(a b c)"},
        {"a in (b, c or d)", "in(a b or(c d))"},
        {"a not in (b)", "!in(a b)"},
        {"a like b || c", "like(a concat(b c))"},
        {"not a not like b", "not(!like(a b))"},
        {"case when a then b else c end + 1", "math(case(a b c) 1)"},
        {"case when a or b then c when d then e end", "case(or(a b) c d e)"},
        {"coalesce(a, b = c, (d))", "call(a compare(b c) d)"},
        {"cast(a + b as double)", "cast(math(a b))"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_string_equal(tree(rows[i].text), rows[i].tree);
        /* What is written is the same tree. */
        char *written = mem_strdup(parse(bytes_of(rows[i].text)));
        assert_string_equal(tree(written), rows[i].tree);
        mem_free(written);
    }
}

static void parentheses_are_written_where_they_are_needed_or_help(void **state)
{
    static const struct {
        const char *text, *written;
    } rows[] = {
        {"((a))", "a"},
        {"(a)+(b)", "a + b"},
        {"a+b*c", "a + b * c"},
        {"(a+b)*c", "(a + b) * c"},
        {"a-(b-c)", "a - (b - c)"},
        {"a-b-c", "a - b - c"},
        {"a/(b*c)", "a / (b * c)"},
        {"a and b or c", "(a and b) or c"},
        {"a and(b or c)", "a and (b or c)"},
        {"not a", "not a"},
        {"not(a=b)", "not (a = b)"},
        {"not a is null", "not (a is null)"},
        {"not a and b", "not a and b"},
        {"a=b is null", "(a = b) is null"},
        {"(a=b)=c", "(a = b) = c"},
        {"a!=b", "a <> b"},
        {"a<>b", "a <> b"},
        {"(a or b)is null", "(a or b) is null"},
        {"a||b||c", "a || b || c"},
        {"a||(b||c)", "a || (b || c)"},
        {"(a||b)like c", "a || b like c"},
        {"a not like b", "a not like b"},
        {"a not in(b,c)", "a not in (b, c)"},
        {"a not between b and c", "a not between b and c"},
        {"-a", "-a"},
        {"-(-a)", "-(-a)"},
        {"-(a+b)", "-(a + b)"},
        {"-(5)", "-(5)"},
        {"- 5", "-5"},
        {"a--5", "a - -5"},
        {"(-5)*a", "-5 * a"},
        {"CASE WHEN a THEN b ELSE c END", "case when a then b else c end"},
        {"case when a then b end", "case when a then b end"},
        {"UPPER( a )", "upper(a)"},
        {"Cast(a AS BigInt)", "cast(a as bigint)"},
        {"a IS NOT NULL", "a is not null"},
        {"TRUE, False, NULL", "true, false, null"},
        {"case when(a)then(b)end", "case when a then b end"},
        {"case, end", "!4 \"case\" goes on with \"when\": case when ... then ... else ... end"},
        {"\"case\" + \"upper\"", "\"case\" + upper"},
        {"upper", "upper"},
        {"left.\"or\" or a", "left.\"or\" or a"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_string_equal(parse(bytes_of(rows[i].text)), rows[i].written);
        if (rows[i].written[0] != '!')
            assert_string_equal(parse(bytes_of(rows[i].written)), rows[i].written);
    }
}

static void literals_are_written_as_what_they_are(void **state)
{
    static const struct {
        const char *text, *written;
    } rows[] = {
        {"1", "1"},
        {"007", "7"},
        {"-1", "-1"},
        {"-0", "0"},
        {"1.0", "1.0"},
        {"1.50", "1.5"},
        {"-1.0", "-1.0"},
        {"-0.0", "-0.0"},
        {"0.0", "0.0"},
        {"2e3", "2000.0"},
        {"1e21", "1e+21"},
        {"1e-7", "1e-7"},
        {"123456789012345678901.0", "123456789012345680000.0"},
        {"9223372036854775807", "9223372036854775807"},
        {"-9223372036854775808", "-9223372036854775808"},
        {"''", "''"},
        {"'it''s'", "'it''s'"},
        {"'\"'", "'\"'"},
        {"'a, b'", "'a, b'"},
        {"'\xff'", "'\xff'"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_string_equal(parse(bytes_of(rows[i].text)), rows[i].written);
        assert_string_equal(parse(bytes_of(rows[i].written)), rows[i].written);
    }
    parse(BYTES_LIT("'a\0b'"));
    assert_int_equal(buf_length(&scratch), 5);
    assert_memory_equal(buf_data(&scratch), "'a\0b'", 5);
}

static void faults_of_grammar_are_told_with_their_place(void **state)
{
    static const struct {
        const char *text, *fault;
    } rows[] = {
        {"a +", "!3 an expression is missing"},
        {"a + , b", "!4 an expression is missing before \",\""},
        {"a + * b", "!4 \"*\" is no expression (all fields are the default)"},
        {"+ a", "!0 an expression is missing before \"+\""},
        {"a = = b", "!4 an expression is missing before \"=\""},
        {"(a", "!0 the \"(\" here has no \")\""},
        {"((a)", "!0 the \"(\" here has no \")\""},
        {"(a b)", "!3 \"b\" is not expected here"},
        {"(a, b)", "!2 \",\" is not expected here"},
        {"()", "!1 an expression is missing before \")\""},
        {"a or", "!4 an expression is missing"},
        {"a and or b", "!6 an expression is missing before \"or\" (a field of that name needs "
                       "double quotes)"},
        {"a < b < c", "!6 \"<\" cannot follow a condition: it needs \"and\" or parentheses"},
        {"a = b = c", "!6 \"=\" cannot follow a condition: it needs \"and\" or parentheses"},
        {"a is null = b", "!10 \"=\" cannot follow a condition: it needs \"and\" or parentheses"},
        {"a in (b) like c",
         "!9 \"like\" cannot follow a condition: it needs \"and\" or parentheses"},
        {"a = not b", "!4 \"not\" needs parentheses here: (not ...)"},
        {"a is", "!4 \"is\" goes on with \"null\" or \"not null\""},
        {"a is true", "!5 \"is\" goes on with \"null\" or \"not null\""},
        {"a is not b", "!9 \"is\" goes on with \"null\" or \"not null\""},
        {"a not b", "!6 \"not\" behind an operand goes on with \"in\", \"between\" or \"like\""},
        {"a not is null",
         "!6 \"not\" behind an operand goes on with \"in\", \"between\" or \"like\""},
        {"a in b", "!5 \"in\" needs a list in parentheses: in (1, 2)"},
        {"a in ()", "!6 an expression is missing before \")\""},
        {"a in (1,)", "!8 an expression is missing before \")\""},
        {"a in (1", "!5 the \"(\" here has no \")\""},
        {"a between 1", "!11 \"and\" is missing"},
        {"a between 1 or 2", "!12 \"and\" is missing before \"or\""},
        {"case a when 1 then 2 end",
         "!5 \"case\" goes on with \"when\": case when ... then ... else ... end"},
        {"case when a", "!11 \"then\" is missing"},
        {"case when a else b end", "!12 \"then\" is missing before \"else\""},
        {"case when a then b", "!18 \"end\" is missing"},
        {"case when a then b else c", "!25 \"end\" is missing"},
        {"case when a then b else c when d", "!26 \"end\" is missing before \"when\""},
        {"case end", "!5 \"case\" goes on with \"when\": case when ... then ... else ... end"},
        {"foo(a)", "!0 no function \"foo\" (functions: abs, ceil, char_length, coalesce, concat, "
                   "floor, greatest, least, lower, mod, nullif, round, substring, trim, upper, "
                   "cast)"},
        {"\"upper\"(a)", "!7 \"(\" is not expected here"},
        {"upper(a", "!5 the \"(\" here has no \")\""},
        {"upper(a,", "!8 an expression is missing"},
        {"upper a", "!6 \"a\" is not expected here (to name a column: as a)"},
        {"upper(a as b)", "!8 \"as\" is not expected here"},
        {"a like 'x' escape '!'",
         "!11 \"escape\" is not expected here (to name a column: as escape)"},
        {"'a' 'b'", "!4 \"'b'\" is not expected here"},
        {"1 2", "!2 \"2\" is not expected here"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_string_equal(parse(bytes_of(rows[i].text)), rows[i].fault);
}

/* --- deep and long texts --- */

static void repeat(struct buf *to, const char *text, int times)
{
    for (int i = 0; i < times; i++)
        buf_append_text(to, text);
}

static const char *parse_deep(const char *open, const char *inner, const char *close, int times)
{
    struct buf text = BUF_EMPTY;
    const char *answer;

    repeat(&text, open, times);
    buf_append_text(&text, inner);
    repeat(&text, close, times);
    answer = parse(buf_bytes(&text));
    buf_done(&text);
    return answer;
}

static void deep_expressions_are_refused(void **state)
{
    static const struct {
        const char *open, *close;
    } rows[] = {
        {"(", ")"},
        {"-", ""},
        {"not ", ""},
        {"-(", ")"},
        {"not (", ")"},
        {"upper(", ")"},
        {"a+(", ")"},
        {"a in (", ")"},
        {"cast(", " as bigint)"},
        {"case when a then ", " end"},
        {"case when ", " then b end"},
        {"", "+a"},
        {"", " is null"},
        {"", "/b"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char *written = mem_strdup(parse_deep(rows[i].open, "a", rows[i].close, 100));
        assert_row(written[0] != '!', rows[i].open);
        assert_string_equal(parse(bytes_of(written)), written); /* with more parentheses */
        mem_free(written);
        assert_row(strstr(parse_deep(rows[i].open, "a", rows[i].close, 250),
                          " too deep: at most 100 expressions within each other") != NULL,
                   rows[i].open);
        assert_row(parse_deep(rows[i].open, "a", rows[i].close, 20000)[0] == '!', rows[i].open);
    }
}

static void long_chains_are_not_deep(void **state)
{
    static const char *const links[] = {" or a", " and a", " || a"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(links); i++)
        assert_row(strlen(parse_deep("", "a", links[i], 3000)) == 3000 * strlen(links[i]) + 1,
                   links[i]);
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
        cmocka_unit_test(operators_bind_as_in_sql),
        cmocka_unit_test(parentheses_are_written_where_they_are_needed_or_help),
        cmocka_unit_test(literals_are_written_as_what_they_are),
        cmocka_unit_test(faults_of_grammar_are_told_with_their_place),
        cmocka_unit_test(deep_expressions_are_refused),
        cmocka_unit_test(long_chains_are_not_deep),
    };
    return cmocka_run_group_tests(tests, NULL, give_back);
}
