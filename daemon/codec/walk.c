#include "codec/walk.h"

#include <assert.h>
#include <string.h>

#include "codec/filling.h"

/* One walk over the marks. What does not change is kept here, apart from what is
 * written through pointers, so that it can stay in registers. Two ways to place
 * fields: if the columns are the fields, each goes behind the one before; else they
 * are mapped. And two ways to walk a block: one knows quotes. */
struct walk {
    const char *bytes; /* all of them */
    const char *line;  /* where the current one starts */
    const char *field; /* and its current field */
    struct row *row;
    struct bytes *next;     /* not mapped: where the field goes, */
    size_t missing;         /* and how many of the line's have not come */
    struct placing placing; /* mapped */
    struct bytes null_text;
    size_t columns, field_count, max_line;
    bool inside;       /* of quotes, where the block begins */
    bool line_quoted;  /* the current line has a quote in a field, or a block, before */
    unsigned in_field; /* quotes of the current field in blocks before */
    uint64_t quotes;   /* of the block, in fields that have not ended */
};

static inline struct walk walk_start(const struct columns *c, const struct input_format *f,
                                     struct batch *b, const char *bytes, size_t at)
{
    struct bytes *fields = filling_fields(b);

    return (struct walk){
        .bytes = bytes,
        .line = bytes + at,
        .field = bytes + at,
        .row = b->rows + b->count,
        .next = fields,
        .missing = c->count,
        .placing = placing_start(c, fields),
        .null_text = f->null_text,
        .columns = c->count,
        .field_count = b->field_count,
        .max_line = f->max_line,
    };
}

/* Of few bits: not every x86-64 can count them at once. */
static inline unsigned count_bits(uint64_t x)
{
    unsigned count = 0;

    for (; x != 0; x &= x - 1)
        count++;
    return count;
}

/* The field ends at bit `at` of the block. What most quoted fields are: two quotes, round it.
 * False: it is another one, or broken. */
SCAN_INLINE bool take_quotes(struct walk *w, unsigned at, struct bytes *text, bool *ret_quoted)
{
    uint64_t before = w->quotes & ((UINT64_C(1) << at) - 1);
    unsigned count = w->in_field + count_bits(before);

    w->quotes ^= before;
    w->in_field = 0;
    *ret_quoted = count > 0;
    if (count == 0)
        return true;
    if (count != 2 || text->p[0] != '"' || text->p[text->n - 1] != '"')
        return false;
    text->p++;
    text->n -= 2;
    w->line_quoted = true;
    return true;
}

/* False: the line has more fields than it may have (a mapped one says so at its end), or quotes
 * that want a closer look. */
SCAN_INLINE bool end_field(struct walk *w, const char *stop, unsigned at, bool mapped,
                           bool with_quotes)
{
    struct bytes text = {w->field, (size_t)(stop - w->field)};
    bool quoted = false;

    if (with_quotes && !take_quotes(w, at, &text, &quoted))
        return false;
    if (!quoted && columns_null_text(&w->null_text, text))
        text = BYTES_NULL;
    w->field = stop + 1;
    if (mapped) {
        placing_put(&w->placing, text);
        return true;
    }
    if (w->missing == 0)
        return false;
    w->missing--;
    w->next->p = text.p;
    w->next->n = text.n;
    w->next++;
    return true;
}

SCAN_INLINE bool has_all_fields(const struct walk *w, bool mapped)
{
    return mapped ? w->placing.column == w->columns : w->missing == 0;
}

SCAN_INLINE void next_row(struct walk *w, const struct columns *c, bool mapped)
{
    w->row++;
    w->missing = w->columns;
    if (mapped)
        w->placing = placing_start(c, w->placing.fields + w->field_count);
}

/* The line's last field ends at `stop`, the line at `end`, which is bit `at` of the block. False:
 * it is no good row, or has no room. */
SCAN_INLINE bool end_line(struct walk *w, const struct columns *c, const char *stop,
                          const char *end, unsigned at, bool mapped, bool with_quotes)
{
    size_t n = (size_t)(stop - w->line);

    if (!end_field(w, stop, at, mapped, with_quotes) || !has_all_fields(w, mapped) ||
        n > w->max_line)
        return false;
    /* Member by member: a whole row would be made elsewhere and copied. */
    w->row->line.p = w->line;
    w->row->line.n = n;
    w->row->consumed = (size_t)(end + 1 - w->bytes);
    w->row->verdict =
        mapped || (with_quotes && w->line_quoted) ? VERDICT_TAKE_PACKED : VERDICT_TAKE;
    w->row->reject = REJECT_NONE;
    w->row->late = false;
    w->row->detail = -1;
    next_row(w, c, mapped);
    return true;
}

/* The lines that end in a block. False: the walk is over, at w->line. */
SCAN_INLINE bool walk_block(struct walk *w, const struct columns *c, struct batch *b,
                            const char *block, struct scan_marks m, bool mapped, bool with_quotes)
{
    for (uint64_t stops = m.line_end | m.delimiter; stops != 0; stops &= stops - 1) {
        unsigned at = (unsigned)__builtin_ctzll(stops);
        const char *end = block + at;
        const char *stop = end;

        if ((m.delimiter >> at & 1) != 0) {
            if (!end_field(w, end, at, mapped, with_quotes))
                return false;
            continue;
        }
        /* The lines before this one in the block had no odd byte. */
        if (m.odd != 0 && (m.odd & (stops ^ (stops - 1))) != 0)
            return false;
        if (end > w->line && end[-1] == '\r')
            stop--;
        if (stop > w->line && !end_line(w, c, stop, end, at, mapped, with_quotes))
            return false;
        w->line = w->field = end + 1;
        if (with_quotes)
            w->line_quoted = false;
        if (w->row == b->rows + BATCH_ROWS)
            return false;
    }
    if (with_quotes) {
        w->in_field += count_bits(w->quotes);
        w->quotes = 0;
        w->line_quoted |= w->in_field > 0;
    }
    return true;
}

/* Each bit becomes whether there is an odd number of bits up to it. */
static inline uint64_t parity_up_to(uint64_t x)
{
    for (unsigned shift = 1; shift < 64; shift *= 2)
        x ^= x << shift;
    return x;
}

/* Takes the marks that lie within quotes away. A line that ends there wants a closer look. */
static inline void heed_quotes(struct walk *w, struct scan_marks *m, uint64_t quotes)
{
    uint64_t inside = parity_up_to(quotes) ^ (w->inside ? UINT64_MAX : 0);

    m->odd = (m->odd & ~quotes) | (m->line_end & inside);
    m->delimiter &= ~inside;
    w->inside = inside >> 63 != 0;
    w->quotes = quotes;
}

/* *ret_stopped: at a line that this way does not take. */
SCAN_INLINE size_t walk_marks(const struct columns *c, const struct input_format *f,
                              struct batch *b, struct bytes bytes, size_t at,
                              scan_block_fn *scan_block, bool mapped, bool with_quotes,
                              bool *ret_stopped)
{
    const char delimiter = f->delimiter;
    struct walk w = walk_start(c, f, b, bytes.p, at);
    uint64_t odd_before = 0; /* 1: the current line has an odd byte in a block before */

    *ret_stopped = false;
    for (size_t base = at; base < bytes.n; base += SCAN_BLOCK) {
        const char *block = bytes.p + base;
        struct scan_marks m = scan(block, bytes.n - base, delimiter, scan_block);

        if (with_quotes && (m.odd != 0 || w.line_quoted))
            heed_quotes(&w, &m, scan(block, bytes.n - base, '"', scan_block).delimiter);
        m.odd |= odd_before; /* as if it were the first byte of this one */
        if (!walk_block(&w, c, b, block, m, mapped, with_quotes)) {
            *ret_stopped = w.row < b->rows + BATCH_ROWS;
            break;
        }
        odd_before = m.odd != 0;
    }
    b->count = (size_t)(w.row - b->rows);
    return (size_t)(w.line - bytes.p);
}

typedef size_t walk_fn(const struct columns *c, const struct input_format *f, struct batch *b,
                       struct bytes bytes, size_t at, bool *ret_stopped);

#define WALK(name, target, way, mapped, with_quotes)                                               \
    static target size_t name(const struct columns *c, const struct input_format *f,               \
                              struct batch *b, struct bytes bytes, size_t at, bool *ret_stopped)   \
    {                                                                                              \
        return walk_marks(c, f, b, bytes, at, scan_block_##way, mapped, with_quotes, ret_stopped); \
    }
#define WALKS(way, target)                                                                         \
    WALK(walk_##way, target, way, false, false)                                                    \
    WALK(walk_##way##_mapped, target, way, true, false)                                            \
    WALK(walk_##way##_quotes, target, way, false, true)                                            \
    WALK(walk_##way##_mapped_quotes, target, way, true, true)
#define WALKS_OF(way)                                                                              \
    {                                                                                              \
        {walk_##way, walk_##way##_mapped}, {walk_##way##_quotes, walk_##way##_mapped_quotes},      \
    }

/* clang-format off */
WALKS(plain, )
#ifdef __x86_64__
WALKS(sse2, )
WALKS(avx2, SCAN_TARGET_AVX2)
#endif
/* clang-format on */

/* By the way of scanning, whether quotes are known, and whether the columns are mapped. */
static walk_fn *const walks[SCAN_WAYS][2][2] = {
    [SCAN_PLAIN] = WALKS_OF(plain),
#ifdef __x86_64__
    [SCAN_SSE2] = WALKS_OF(sse2),
    [SCAN_AVX2] = WALKS_OF(avx2),
#endif
};

/* Where a line has quotes, more will: the rest of the batch goes the way that knows them. */
size_t walk_lines(const struct columns *c, const struct input_format *f, enum scan_way way,
                  struct batch *b, struct bytes bytes, size_t at)
{
    const bool mapped = !c->identity;
    bool stopped;

    assert(at <= bytes.n && b->count < BATCH_ROWS);
    at = walks[way][false][mapped](c, f, b, bytes, at, &stopped);
    if (stopped)
        at = walks[way][true][mapped](c, f, b, bytes, at, &stopped);
    return at;
}
