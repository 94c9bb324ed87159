#include "config/wrap.h"

#include <string.h>

/* The length of the piece that `text` begins with, `behind` included. */
static size_t piece_length(struct bytes text, const char *behind)
{
    size_t n = strlen(behind);
    bool quoted = false;

    for (size_t i = 0; i + n <= text.n; i++) {
        if (text.p[i] == '"')
            quoted = !quoted;
        if (!quoted && memcmp(text.p + i, behind, n) == 0)
            return i + n;
    }
    return text.n;
}

void wrap_append(struct buf *to, struct bytes text, size_t column, const char *behind,
                 const char *start)
{
    size_t indent = strlen(start);

    while (text.n > 0) {
        size_t n = piece_length(text, behind);

        if (column + n > WRAP_WIDTH && column > indent && to->tail > to->head &&
            to->data[to->tail - 1] == ' ') {
            to->tail--;
            buf_append_char(to, '\n');
            buf_append_text(to, start);
            column = indent;
        }
        buf_append(to, text.p, n);
        column += n;
        text = (struct bytes){text.p + n, text.n - n};
    }
}
