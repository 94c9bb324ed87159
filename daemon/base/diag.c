#include "base/diag.h"

#include <limits.h>

#include "base/mem.h"

void diag_init(struct diag *d)
{
    *d = (struct diag){NULL, 0, 0};
}

void diag_done(struct diag *d)
{
    for (size_t i = 0; i < d->count; i++)
        mem_free(d->messages[i].text);
    mem_free(d->messages);
    diag_init(d);
}

static void add(struct diag *d, int line, int column, const char *format, va_list args)
{
    struct buf text = BUF_EMPTY;
    size_t length;

    buf_vprintf(&text, format, args);
    length = buf_length(&text);
    if (length > 0 && buf_data(&text)[length - 1] == '\n')
        length--;
    if (d->count == d->capacity) {
        d->capacity = d->capacity > 0 ? d->capacity * 2 : 8;
        d->messages = mem_realloc(d->messages, d->capacity * sizeof(*d->messages));
    }
    d->messages[d->count++] = (struct diag_message){
        .text = mem_strndup(buf_data(&text), length),
        .line = line,
        .column = column,
    };
    buf_done(&text);
}

void diag_add(struct diag *d, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    add(d, 0, 0, format, args);
    va_end(args);
}

void diag_add_at(struct diag *d, int line, int column, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    add(d, line, column, format, args);
    va_end(args);
}

static bool comes_before(const struct diag_message *a, const struct diag_message *b)
{
    int line_a = a->line > 0 ? a->line : INT_MAX;
    int line_b = b->line > 0 ? b->line : INT_MAX;

    if (line_a != line_b)
        return line_a < line_b;
    return a->line > 0 && a->column < b->column;
}

/* Insertion: it keeps the order of equals, and messages come nearly sorted. */
void diag_sort(struct diag *d)
{
    for (size_t i = 1; i < d->count; i++) {
        struct diag_message moving = d->messages[i];
        size_t at = i;

        while (at > 0 && comes_before(&moving, &d->messages[at - 1])) {
            d->messages[at] = d->messages[at - 1];
            at--;
        }
        d->messages[at] = moving;
    }
}
