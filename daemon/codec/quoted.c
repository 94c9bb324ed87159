#include "codec/quoted.h"

#include <csv.h>
#include <string.h>

#include "base/mem.h"

static enum quoting walk_byte(enum quoting state, char c, char delimiter)
{
    switch (state) {
    case QUOTING_START:
        if (c == '"')
            return QUOTING_OPEN;
        return c == delimiter ? QUOTING_START : QUOTING_BARE;
    case QUOTING_BARE:
        if (c == '"')
            return QUOTING_BAD;
        return c == delimiter ? QUOTING_START : QUOTING_BARE;
    case QUOTING_OPEN:
        return c == '"' ? QUOTING_CLOSED : QUOTING_OPEN;
    case QUOTING_CLOSED:
        if (c == '"')
            return QUOTING_OPEN;
        return c == delimiter ? QUOTING_START : QUOTING_BAD;
    case QUOTING_BAD:
        break;
    }
    return QUOTING_BAD;
}

enum quoting quoted_walk(enum quoting state, struct bytes text, char delimiter, size_t *ret_at)
{
    for (size_t i = 0; i < text.n; i++) {
        state = walk_byte(state, text.p[i], delimiter);
        if (state == QUOTING_BAD) {
            *ret_at = i;
            break;
        }
    }
    return state;
}

bool quoted_bare_line_end(struct bytes record, char delimiter, size_t *ret_at)
{
    const char *at = record.p, *end = record.p + record.n, *lf;
    enum quoting state = QUOTING_START;
    size_t bad;

    while ((lf = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        state = quoted_walk(state, (struct bytes){at, (size_t)(lf - at)}, delimiter, &bad);
        if (state == QUOTING_BAD)
            return false;
        if (state != QUOTING_OPEN) {
            *ret_at = (size_t)(lf - record.p);
            return true;
        }
        at = lf + 1;
    }
    return false;
}

/* --- cutting, by libcsv --- */

/* libcsv does not say whether a field was quoted; but what has been read so far
 * tells where the next field starts, and so its first byte. */
struct cut {
    struct bytes record;
    size_t at; /* where the next field starts */
    size_t rows;
    bool lost; /* the fields do not add up to the record */
    struct buf *scratch;
    const struct quoted_sink *sink;
};

static size_t count_quotes(const char *p, size_t n)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        count += p[i] == '"';
    return count;
}

static struct bytes keep(struct buf *scratch, const char *p, size_t n)
{
    char *copy = buf_reserve(scratch, n);

    memcpy(copy, p, n);
    buf_advance(scratch, n);
    return (struct bytes){copy, n};
}

static void on_field(void *text, size_t n, void *context)
{
    struct cut *c = context;
    const char *from = c->record.p + c->at;
    bool quoted = c->at < c->record.n && *from == '"';
    size_t doubled = quoted ? count_quotes(text, n) : 0;
    size_t taken = n + doubled + (quoted ? 2 : 0);

    if (c->at > c->record.n || taken > c->record.n - c->at) {
        c->lost = true;
        return;
    }
    c->at += taken + 1;
    if (doubled > 0)
        c->sink->put(c->sink->context, keep(c->scratch, text, n), true);
    else
        c->sink->put(c->sink->context, (struct bytes){from + quoted, n}, quoted);
}

static void on_row(int end, void *context)
{
    struct cut *c = context;

    (void)end;
    c->rows++;
}

static int is_never(unsigned char c)
{
    (void)c;
    return 0;
}

static int is_lf(unsigned char c)
{
    return c == '\n';
}

/* A parser a record: after a fault libcsv would glue stale bytes to the next one,
 * and its buffer never shrinks. One allocation is enough for any field of it. */
static void open_parser(struct csv_parser *parser, char delimiter, size_t record_size)
{
    csv_init(parser, CSV_STRICT | CSV_STRICT_FINI);
    csv_set_delim(parser, (unsigned char)delimiter);
    csv_set_space_func(parser, is_never);
    csv_set_term_func(parser, is_lf); /* by default a lone CR ends a row, too */
    csv_set_realloc_func(parser, mem_realloc);
    csv_set_free_func(parser, mem_free);
    csv_set_blk_size(parser, record_size + 1);
}

bool quoted_cut(struct bytes record, char delimiter, struct buf *scratch,
                const struct quoted_sink *sink)
{
    struct cut c = {.record = record, .scratch = scratch, .sink = sink};
    struct csv_parser parser;
    bool ok;

    open_parser(&parser, delimiter, record.n);
    ok = csv_parse(&parser, record.p, record.n, on_field, on_row, &c) == record.n && c.rows == 0 &&
         csv_fini(&parser, on_field, on_row, &c) == 0 && c.rows == 1 && !c.lost;
    csv_free(&parser);
    return ok;
}
