#include "lang/expr_lexer.h"

#include <assert.h>
#include <stdarg.h>

#include "base/mem.h"
#include "lang/word.h"

static const char *const keywords[KEYWORDS] = {
    [KEYWORD_NONE] = "",           [KEYWORD_AND] = "and",     [KEYWORD_AS] = "as",
    [KEYWORD_BETWEEN] = "between", [KEYWORD_CASE] = "case",   [KEYWORD_ELSE] = "else",
    [KEYWORD_END] = "end",         [KEYWORD_FALSE] = "false", [KEYWORD_IN] = "in",
    [KEYWORD_IS] = "is",           [KEYWORD_LIKE] = "like",   [KEYWORD_NOT] = "not",
    [KEYWORD_NULL] = "null",       [KEYWORD_OR] = "or",       [KEYWORD_THEN] = "then",
    [KEYWORD_TRUE] = "true",       [KEYWORD_WHEN] = "when",
};

/* Where one begins like another, the longer comes first. */
static const struct {
    const char *text;
    enum token_kind kind;
    enum operator_sign sign;
} symbols[] = {
    {"||", TOKEN_OPERATOR, SIGN_CONCAT},
    {"<>", TOKEN_OPERATOR, SIGN_UNEQUAL},
    {"!=", TOKEN_OPERATOR, SIGN_UNEQUAL},
    {"<=", TOKEN_OPERATOR, SIGN_LESS_EQUAL},
    {">=", TOKEN_OPERATOR, SIGN_GREATER_EQUAL},
    {"<", TOKEN_OPERATOR, SIGN_LESS},
    {">", TOKEN_OPERATOR, SIGN_GREATER},
    {"=", TOKEN_OPERATOR, SIGN_EQUAL},
    {"+", TOKEN_OPERATOR, SIGN_PLUS},
    {"-", TOKEN_OPERATOR, SIGN_MINUS},
    {"*", TOKEN_OPERATOR, SIGN_TIMES},
    {"/", TOKEN_OPERATOR, SIGN_DIVIDE},
    {"%", TOKEN_OPERATOR, SIGN_MODULO},
    {"(", TOKEN_OPEN, SIGN_NONE},
    {")", TOKEN_CLOSE, SIGN_NONE},
    {",", TOKEN_COMMA, SIGN_NONE},
    {".", TOKEN_DOT, SIGN_NONE},
};
#define SYMBOLS (sizeof(symbols) / sizeof(symbols[0]))

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool begins_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool continues_name(char c)
{
    return begins_name(c) || is_digit(c);
}

/* The byte `ahead` of where the lexer stands; NUL behind the end. */
static char peek(const struct lexer *l, size_t ahead)
{
    return ahead < l->text.n - l->at ? l->text.p[l->at + ahead] : '\0';
}

static void skip(struct lexer *l, bool (*of_kind)(char))
{
    while (l->at < l->text.n && of_kind(l->text.p[l->at]))
        l->at++;
}

const char *keyword_text(enum keyword k)
{
    assert((unsigned)k < KEYWORDS);
    return keywords[k];
}

/* The first of two spellings, <> and !=, is the standard's. */
const char *sign_text(enum operator_sign sign)
{
    for (size_t i = 0; i < SYMBOLS; i++)
        if (symbols[i].sign == sign && sign != SIGN_NONE)
            return symbols[i].text;
    return "";
}

/* KEYWORD_NONE: not reserved. */
static enum keyword keyword_of(struct bytes word)
{
    for (int k = KEYWORD_NONE + 1; k < KEYWORDS; k++)
        if (word_is(word, keywords[k]))
            return (enum keyword)k;
    return KEYWORD_NONE;
}

static void read_word(struct lexer *l, struct token *t)
{
    skip(l, continues_name);
    t->keyword = keyword_of((struct bytes){l->text.p + t->offset, l->at - t->offset});
    t->kind = t->keyword == KEYWORD_NONE ? TOKEN_NAME : TOKEN_KEYWORD;
}

static bool is_number_rest(char c)
{
    return continues_name(c) || c == '.';
}

static bool read_number(struct lexer *l, struct token *t, struct expr_fault *ret_fault)
{
    t->kind = TOKEN_NUMBER;
    skip(l, is_digit);
    if (peek(l, 0) == '.' && is_digit(peek(l, 1))) {
        l->at++;
        skip(l, is_digit);
    }
    if (peek(l, 0) == 'e' || peek(l, 0) == 'E') {
        size_t sign = peek(l, 1) == '-' || peek(l, 1) == '+';
        if (is_digit(peek(l, 1 + sign))) {
            l->at += 1 + sign;
            skip(l, is_digit);
        }
    }
    if (!is_number_rest(peek(l, 0)))
        return true;
    skip(l, is_number_rest);
    return expr_fault_at(ret_fault, t->offset,
                         "\"%.*s\" is no number (a name that begins with a digit needs double "
                         "quotes)",
                         (int)(l->at - t->offset), l->text.p + t->offset);
}

/* `quoted`: with its quotes. */
static bool check_name(struct bytes quoted, size_t offset, struct expr_fault *ret_fault)
{
    if (quoted.n == 2)
        return expr_fault_at(ret_fault, offset, "a name cannot be empty");
    if (memchr(quoted.p, '\0', quoted.n) != NULL)
        return expr_fault_at(ret_fault, offset, "a name cannot hold a byte 0x00");
    return true;
}

/* Up to the next quote of the same kind; a doubled one is part of what is quoted. */
static bool read_quoted(struct lexer *l, struct token *t, struct expr_fault *ret_fault)
{
    char quote = peek(l, 0);
    bool name = quote == '"';

    t->kind = name ? TOKEN_QUOTED_NAME : TOKEN_STRING;
    for (l->at++; l->at < l->text.n; l->at++) {
        if (peek(l, 0) != quote)
            continue;
        if (peek(l, 1) == quote) {
            l->at++;
            continue;
        }
        l->at++;
        return !name || check_name((struct bytes){l->text.p + t->offset, l->at - t->offset},
                                   t->offset, ret_fault);
    }
    return expr_fault_at(ret_fault, t->offset,
                         "the %s that begins here has no end (a %c is missing)",
                         name ? "name" : "string", quote);
}

static bool unknown_character(struct lexer *l, struct expr_fault *ret_fault)
{
    unsigned char c = (unsigned char)peek(l, 0);

    if (c == '`')
        return expr_fault_at(ret_fault, l->at, "names are quoted by \" and not by `");
    if (c >= 0x80)
        return expr_fault_at(ret_fault, l->at,
                             "a name with other letters than a to z needs double quotes");
    if (c < 0x20 || c == 0x7f)
        return expr_fault_at(ret_fault, l->at, "a byte 0x%02x has no place in an expression", c);
    return expr_fault_at(ret_fault, l->at, "\"%c\" has no place in an expression", c);
}

static bool read_symbol(struct lexer *l, struct token *t, struct expr_fault *ret_fault)
{
    for (size_t i = 0; i < SYMBOLS; i++) {
        size_t n = strlen(symbols[i].text);
        if (n > l->text.n - l->at || memcmp(l->text.p + l->at, symbols[i].text, n) != 0)
            continue;
        t->kind = symbols[i].kind;
        t->sign = symbols[i].sign;
        l->at += n;
        return true;
    }
    return unknown_character(l, ret_fault);
}

bool lexer_next(struct lexer *l, struct token *ret, struct expr_fault *ret_fault)
{
    struct token t = {.kind = TOKEN_END};
    bool ok = true;

    assert(l->at <= l->text.n);
    skip(l, is_space);
    t.offset = l->at;
    if (l->at < l->text.n) {
        char c = peek(l, 0);
        if (begins_name(c))
            read_word(l, &t);
        else if (is_digit(c))
            ok = read_number(l, &t, ret_fault);
        else if (c == '"' || c == '\'')
            ok = read_quoted(l, &t, ret_fault);
        else
            ok = read_symbol(l, &t, ret_fault);
    }
    if (!ok)
        return false;
    t.text = (struct bytes){l->text.p + t.offset, l->at - t.offset};
    assert(t.text.n > 0 || t.kind == TOKEN_END);
    *ret = t;
    return true;
}

void token_append_name(const struct token *t, struct buf *to)
{
    assert(t->kind == TOKEN_NAME || t->kind == TOKEN_QUOTED_NAME);
    if (t->kind != TOKEN_QUOTED_NAME) {
        buf_append_bytes(to, t->text);
        return;
    }
    for (size_t i = 1; i < t->text.n - 1; i++) {
        buf_append_char(to, t->text.p[i]);
        if (t->text.p[i] == '"')
            i++; /* it is doubled */
    }
}

/* --- spelling --- */

static bool is_plain(struct bytes name)
{
    if (name.n == 0 || !begins_name(name.p[0]))
        return false;
    for (size_t i = 1; i < name.n; i++)
        if (!continues_name(name.p[i]))
            return false;
    return keyword_of(name) == KEYWORD_NONE;
}

void expr_write_name(struct bytes name, struct buf *to)
{
    if (is_plain(name)) {
        buf_append_bytes(to, name);
        return;
    }
    buf_append_char(to, '"');
    for (size_t i = 0; i < name.n; i++) {
        if (name.p[i] == '"')
            buf_append_char(to, '"');
        buf_append_char(to, name.p[i]);
    }
    buf_append_char(to, '"');
}

/* Dots between plain names: `address.city`. */
static bool is_plain_path(struct bytes path)
{
    for (;;) {
        const char *dot = path.n > 0 ? memchr(path.p, '.', path.n) : NULL;
        struct bytes part = {path.p, dot != NULL ? (size_t)(dot - path.p) : path.n};
        if (!is_plain(part))
            return false;
        if (dot == NULL)
            return true;
        path = (struct bytes){dot + 1, path.n - part.n - 1};
    }
}

/* Only behind a qualifier can a path stand without quotes: alone, its first part
 * could be a side's name. */
void expr_write_field(const char *qualifier, const char *name, struct buf *to)
{
    struct bytes path = bytes_of(name);

    if (qualifier == NULL) {
        expr_write_name(path, to);
        return;
    }
    expr_write_name(bytes_of(qualifier), to);
    buf_append_char(to, '.');
    if (is_plain_path(path))
        buf_append_bytes(to, path);
    else
        expr_write_name(path, to);
}

bool expr_fault_at(struct expr_fault *ret, size_t offset, const char *format, ...)
{
    struct buf text = BUF_EMPTY;
    va_list args;

    va_start(args, format);
    buf_vprintf(&text, format, args);
    va_end(args);
    *ret = (struct expr_fault){offset, mem_strdup(buf_text(&text))};
    buf_done(&text);
    return false;
}
