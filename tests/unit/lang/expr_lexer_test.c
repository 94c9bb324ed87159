#include "unit.h"

#include "base/mem.h"
#include "lang/expr_lexer.h"

static struct buf scratch; /* what tokens_of() returns; good until its next call */

/* Each token as `kind:text`, one behind the other; of a fault its place. */
static const char *tokens_of(const char *text)
{
    static const char kinds[] = {
        [TOKEN_END] = '.',      [TOKEN_NAME] = 'n',   [TOKEN_QUOTED_NAME] = 'q',
        [TOKEN_NUMBER] = '1',   [TOKEN_STRING] = 's', [TOKEN_KEYWORD] = 'k',
        [TOKEN_OPERATOR] = 'o', [TOKEN_COMMA] = 'c',  [TOKEN_DOT] = 'd',
        [TOKEN_OPEN] = 'p',     [TOKEN_CLOSE] = 'p',
    };
    struct lexer l = {bytes_of(text), 0};
    struct expr_fault fault;
    struct token t;

    buf_clear(&scratch);
    while (lexer_next(&l, &t, &fault)) {
        assert_true(t.text.p == text + t.offset);
        assert_int_equal(t.kind == TOKEN_KEYWORD, t.keyword != KEYWORD_NONE);
        assert_int_equal(t.kind == TOKEN_OPERATOR, t.sign != SIGN_NONE);
        if (t.kind == TOKEN_END)
            return buf_text(&scratch);
        buf_printf(&scratch, "%s%c:%.*s", buf_length(&scratch) > 0 ? " " : "", kinds[t.kind],
                   (int)t.text.n, t.text.p);
    }
    buf_printf(&scratch, "%s!%zu", buf_length(&scratch) > 0 ? " " : "", fault.offset);
    mem_free(fault.message);
    return buf_text(&scratch);
}

static void the_whole_language_is_cut_into_words(void **state)
{
    static const struct {
        const char *text;
        const char *tokens;
    } rows[] = {
        {"", ""},
        {" \t\r\n ", ""},
        {"amount", "n:amount"},
        {"_a1", "n:_a1"},
        {"a.b", "n:a d:. n:b"},
        {"a . \"b\"", "n:a d:. q:\"b\""},
        {"\"say \"\"hi\"\"\"", "q:\"say \"\"hi\"\"\""},
        {"\"a\"b", "q:\"a\" n:b"},
        {"'it''s'", "s:'it''s'"},
        {"''", "s:''"},
        {"'a\"b'", "s:'a\"b'"},
        {"\"a'b\"", "q:\"a'b\""},
        {"1 2.5 007 1e3 1E+3 2.5e-10", "1:1 1:2.5 1:007 1:1e3 1:1E+3 1:2.5e-10"},
        {"1-2", "1:1 o:- 1:2"},
        {"1e3-2", "1:1e3 o:- 1:2"},
        {"a+-*/%b", "n:a o:+ o:- o:* o:/ o:% n:b"},
        {"a||b", "n:a o:|| n:b"},
        {"= <> != < <= > >=", "o:= o:<> o:!= o:< o:<= o:> o:>="},
        {"a<=b>=c<>d", "n:a o:<= n:b o:>= n:c o:<> n:d"},
        {"a=-1", "n:a o:= o:- 1:1"},
        {"(a,b)", "p:( n:a c:, n:b p:)"},
        {"and OR Not", "k:and k:OR k:Not"},
        {"order android nots inn", "n:order n:android n:nots n:inn"},
        {"\"and\"", "q:\"and\""},
        {"as between case else end false in is like null then true when",
         "k:as k:between k:case k:else k:end k:false k:in k:is k:like k:null k:then k:true "
         "k:when"},
        {"\"gr\xc3\xb6\xc3\x9f"
         "e\"",
         "q:\"gr\xc3\xb6\xc3\x9f"
         "e\""},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const char *tokens = tokens_of(rows[i].text);
        assert_string_equal(tokens, rows[i].tokens);
    }
}

static void what_is_no_word_is_told_with_its_place(void **state)
{
    static const struct {
        const char *text;
        const char *tokens;
    } rows[] = {
        {"a 'b", "n:a !2"},
        {"a 'b''", "n:a !2"},
        {"a \"b", "n:a !2"},
        {"'", "!0"},
        {"\"", "!0"},
        {"a, \"\"", "n:a c:, !3"},
        {"1abc", "!0"},
        {"1.", "!0"},
        {"1.5.2", "!0"},
        {"1.x", "!0"},
        {"1e", "!0"},
        {"1e+", "!0"},
        {"0x1f", "!0"},
        {"a ; b", "n:a !2"},
        {"a | b", "n:a !2"},
        {"a ! b", "n:a !2"},
        {"`a`", "!0"},
        {"a # b", "n:a !2"},
        {"gr\xc3\xb6", "n:gr !2"},
        {"a\x01", "n:a !1"},
        {"a\x7f", "n:a !1"},
        {"a::bigint", "n:a !1"},
        {"$1", "!0"},
        {"[a]", "!0"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_string_equal(tokens_of(rows[i].text), rows[i].tokens);
}

static void a_nul_byte_is_no_end_but_a_fault(void **state)
{
    struct lexer l = {BYTES_LIT("\0a"), 0};
    struct expr_fault fault;
    struct token t;

    (void)state;
    assert_false(lexer_next(&l, &t, &fault));
    assert_string_equal(fault.message, "a byte 0x00 has no place in an expression");
    mem_free(fault.message);

    l = (struct lexer){BYTES_LIT("\"a\0b\""), 0};
    assert_false(lexer_next(&l, &t, &fault));
    assert_string_equal(fault.message, "a name cannot hold a byte 0x00");
    mem_free(fault.message);

    l = (struct lexer){BYTES_LIT("'a\0b'"), 0};
    assert_true(lexer_next(&l, &t, &fault));
    assert_int_equal(t.text.n, 5);
}

/* --- spelling --- */

static void names_are_quoted_only_where_they_must_be(void **state)
{
    static const struct {
        const char *name;
        const char *written;
    } rows[] = {
        {"amount", "amount"},
        {"_a1", "_a1"},
        {"A", "A"},
        {"order", "order"},
        {"and", "\"and\""},
        {"And", "\"And\""},
        {"1st", "\"1st\""},
        {"a b", "\"a b\""},
        {"a.b", "\"a.b\""},
        {"a-b", "\"a-b\""},
        {"a\"b", "\"a\"\"b\""},
        {"\"", "\"\"\"\""},
        {" ", "\" \""},
        {"\xc3\xa4", "\"\xc3\xa4\""},
        {"", "\"\""},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf to = BUF_EMPTY;
        expr_write_name(bytes_of(rows[i].name), &to);
        assert_text(buf_data(&to), buf_length(&to), rows[i].written);
        buf_done(&to);
    }
}

static void a_written_name_is_read_as_the_same_name(void **state)
{
    const char *names[] = {"a", "a b", "a\"b", "\"\"", "end", "1", "'", "a.b", "\xff"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct buf to = BUF_EMPTY, back = BUF_EMPTY;
        struct expr_fault fault;
        struct lexer l;
        struct token t;

        expr_write_name(bytes_of(names[i]), &to);
        l = (struct lexer){buf_bytes(&to), 0};
        assert_true(lexer_next(&l, &t, &fault));
        token_append_name(&t, &back);
        assert_text(buf_data(&back), buf_length(&back), names[i]);
        assert_true(lexer_next(&l, &t, &fault));
        assert_int_equal(t.kind, TOKEN_END);
        buf_done(&to);
        buf_done(&back);
    }
}

static enum keyword keyword_of(struct bytes word)
{
    struct lexer l = {word, 0};
    struct token t;
    struct expr_fault fault;

    assert_true(lexer_next(&l, &t, &fault));
    return t.keyword;
}

static void only_the_words_of_the_language_are_reserved(void **state)
{
    const char *free_words[] = {"",      "a",    "an",    "ands",  "cast", "upper", "left",
                                "right", "user", "order", "count", "date", "time",  "window_start"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(free_words); i++)
        assert_row(keyword_of(bytes_of(free_words[i])) == KEYWORD_NONE, free_words[i]);
    assert_int_equal(keyword_of(BYTES_LIT("bEtWeEn")), KEYWORD_BETWEEN);
    assert_int_equal(keyword_of((struct bytes){"andy", 3}), KEYWORD_AND);
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
        cmocka_unit_test(the_whole_language_is_cut_into_words),
        cmocka_unit_test(what_is_no_word_is_told_with_its_place),
        cmocka_unit_test(a_nul_byte_is_no_end_but_a_fault),
        cmocka_unit_test(names_are_quoted_only_where_they_must_be),
        cmocka_unit_test(a_written_name_is_read_as_the_same_name),
        cmocka_unit_test(only_the_words_of_the_language_are_reserved),
    };
    return cmocka_run_group_tests(tests, NULL, give_back);
}
