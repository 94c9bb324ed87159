#include "config/wrap.h"

#include <string.h>

#include "config/lines.h"

#define VALUE_INDENT "    "

struct wrap {
    struct buf *to;
    size_t column;
    const char *start; /* of the next lines */
    bool begun;        /* with the text */
};

static void append_piece(struct wrap *w, struct bytes piece)
{
    buf_append_bytes(w->to, piece);
    w->column += piece.n;
    w->begun = true;
}

/* In place of the blank that was appended last. */
static void break_line(struct wrap *w)
{
    w->to->tail--;
    buf_append_char(w->to, '\n');
    buf_append_text(w->to, w->start);
    w->column = strlen(w->start);
}

/* Can the line be broken here? Not before the text, nor where a line begins. */
static bool at_blank(const struct wrap *w)
{
    return w->begun && w->column > strlen(w->start) && w->to->data[w->to->tail - 1] == ' ';
}

static struct bytes rest(struct bytes text, size_t n)
{
    return (struct bytes){text.p + n, text.n - n};
}

/* --- words --- */

static size_t word_length(struct bytes text)
{
    const char *blank = memchr(text.p, ' ', text.n);

    return blank != NULL ? (size_t)(blank - text.p) + 1 : text.n;
}

void wrap_words(struct buf *to, struct bytes text, size_t column, const char *start)
{
    struct wrap w = {.to = to, .column = column, .start = start};

    while (text.n > 0) {
        size_t n = word_length(text);

        if (w.column + n > WRAP_WIDTH && at_blank(&w))
            break_line(&w);
        append_piece(&w, (struct bytes){text.p, n});
        text = rest(text, n);
    }
}

/* --- values --- */

/* The length of the piece that `text` begins with, the blank behind it included. Items
 * of a list end at commas outside of parentheses, words at any blank. */
static size_t piece_length(struct bytes text, bool item)
{
    char quote = '\0';
    int depth = 0;

    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (quote != '\0')
            quote = c == quote ? '\0' : quote;
        else if (c == '"' || c == '\'')
            quote = c;
        else if (c == '(' || c == ')')
            depth += c == '(' ? 1 : -1;
        else if (c == ' ' && (!item || (depth == 0 && i > 0 && text.p[i - 1] == ',')))
            return i + 1;
    }
    return text.n;
}

static bool fits(const struct wrap *w, size_t n)
{
    return w->column + n <= WRAP_WIDTH;
}

/* The first `n` bytes of `text`, word by word; what follows may be taken for a key, too. */
static void append_words(struct wrap *w, struct bytes text, size_t n, enum section section)
{
    size_t at = 0;

    while (at < n) {
        size_t word = piece_length((struct bytes){text.p + at, n - at}, false);

        if (!fits(w, word) && at_blank(w) && !ini_begins_with_key(section, rest(text, at)))
            break_line(w);
        append_piece(w, (struct bytes){text.p + at, word});
        at += word;
    }
}

void wrap_value(struct buf *to, struct bytes text, size_t column, enum section section)
{
    struct wrap w = {.to = to, .column = column, .start = VALUE_INDENT};

    while (text.n > 0) {
        size_t n = piece_length(text, true);
        bool fits_alone = strlen(w.start) + n <= WRAP_WIDTH;

        if (!fits(&w, n) && fits_alone && at_blank(&w) && !ini_begins_with_key(section, text))
            break_line(&w);
        if (fits(&w, n))
            append_piece(&w, (struct bytes){text.p, n});
        else
            append_words(&w, text, n, section);
        text = rest(text, n);
    }
}
