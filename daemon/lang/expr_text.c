#include <assert.h>

#include "base/letters.h"
#include "base/utf8.h"
#include "lang/expr_inner.h"

static enum expr_outcome give_text(struct bytes text, struct value *ret)
{
    ret->text = text;
    return EXPR_OK;
}

/* --- characters --- */

/* ASCII needs no call. */
static inline size_t character_size(struct bytes text, size_t at)
{
    return (unsigned char)text.p[at] < 0x80 ? 1 : utf8_character_length(text.p + at, text.n - at);
}

/* Where the text goes on behind `count` characters from `at`; at most its end. */
static size_t skip_characters(struct bytes text, size_t at, int64_t count)
{
    for (; count > 0 && at < text.n; count--)
        at += character_size(text, at);
    return at;
}

enum expr_outcome expr_char_length(const struct value *args, size_t count, struct expr_memory *m,
                                   struct value *ret)
{
    assert(count == 1 && args[0].type == TYPE_STRING);
    (void)count, (void)m;
    ret->bigint = (int64_t)utf8_length(args[0].text);
    return EXPR_OK;
}

/* --- pieces --- */

/* Where the character `position` begins: from 1 on, 0 is 1, -1 the last. The end of the
 * text where there is none. */
static size_t find_position(struct bytes text, int64_t position)
{
    int64_t length;

    if (position > 0)
        return skip_characters(text, 0, position - 1);
    if (position == 0)
        return 0;
    length = (int64_t)utf8_length(text);
    return length + position < 0 ? text.n : skip_characters(text, 0, length + position);
}

enum expr_outcome expr_substring(const struct value *args, size_t count, struct expr_memory *m,
                                 struct value *ret)
{
    struct bytes text = args[0].text;
    size_t from = find_position(text, args[1].bigint), to = text.n;

    assert(count == 2 || count == 3);
    (void)m;
    if (count > 2 && args[2].bigint < 0) {
        ret->null = true;
        return EXPR_OK;
    }
    if (count > 2)
        to = skip_characters(text, from, args[2].bigint);
    return give_text((struct bytes){text.p + from, to - from}, ret);
}

enum expr_outcome expr_trim(const struct value *args, size_t count, struct expr_memory *m,
                            struct value *ret)
{
    struct bytes text = args[0].text;

    assert(count == 1 && args[0].type == TYPE_STRING);
    (void)count, (void)m;
    while (text.n > 0 && text.p[text.n - 1] == ' ')
        text.n--;
    while (text.n > 0 && text.p[0] == ' ') {
        text.p++;
        text.n--;
    }
    return give_text(text, ret);
}

/* --- texts that are made --- */

enum expr_outcome expr_concat(const struct value *args, size_t count, struct expr_memory *m,
                              struct value *ret)
{
    size_t n = 0;
    char *made;

    for (size_t i = 0; i < count; i++)
        n += args[i].text.n;
    made = expr_memory_room(m, n);
    n = 0;
    for (size_t i = 0; i < count; i++) {
        memcpy(made + n, args[i].text.p, args[i].text.n);
        n += args[i].text.n;
    }
    expr_memory_keep(m, n);
    return give_text((struct bytes){made, n}, ret);
}

enum expr_outcome expr_upper(const struct value *args, size_t count, struct expr_memory *m,
                             struct value *ret)
{
    char *made = expr_memory_room(m, letters_room(args[0].text.n));
    size_t n = letters_upper(args[0].text, made);

    (void)count;
    expr_memory_keep(m, n);
    return give_text((struct bytes){made, n}, ret);
}

enum expr_outcome expr_lower(const struct value *args, size_t count, struct expr_memory *m,
                             struct value *ret)
{
    char *made = expr_memory_room(m, letters_room(args[0].text.n));
    size_t n = letters_lower(args[0].text, made);

    (void)count;
    expr_memory_keep(m, n);
    return give_text((struct bytes){made, n}, ret);
}

/* --- like --- */

/* Does the one character of the pattern (no %) match the one of the text? */
static bool same_character(struct bytes text, size_t at, size_t size, struct bytes pattern,
                           size_t from, size_t pattern_size)
{
    if (pattern.p[from] == '_')
        return true;
    return size == pattern_size && memcmp(text.p + at, pattern.p + from, size) == 0;
}

/* Where a part of the pattern does not match, only the last % can take more: what the
 * ones before it took is as good as anything. */
bool expr_like(struct bytes text, struct bytes pattern)
{
    size_t at = 0, from = 0;
    size_t retry_at = 0, retry_from = 0; /* behind the last %; 0: there is none yet */

    while (at < text.n) {
        if (from < pattern.n && pattern.p[from] == '%') {
            retry_from = ++from;
            retry_at = at;
            continue;
        }
        if (from < pattern.n) {
            size_t size = character_size(text, at);
            size_t pattern_size = character_size(pattern, from);
            if (same_character(text, at, size, pattern, from, pattern_size)) {
                at += size;
                from += pattern_size;
                continue;
            }
        }
        if (retry_from == 0)
            return false;
        retry_at += character_size(text, retry_at);
        at = retry_at;
        from = retry_from;
    }
    while (from < pattern.n && pattern.p[from] == '%')
        from++;
    return from == pattern.n;
}
