#include "config/lines.h"

#include <assert.h>
#include <ini.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "config/keys.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static struct bytes from(struct bytes text, size_t offset)
{
    assert(offset <= text.n);
    return (struct bytes){text.p + offset, text.n - offset};
}

static size_t blanks_before(struct bytes text)
{
    size_t n = 0;

    while (n < text.n && is_blank(text.p[n]))
        n++;
    return n;
}

static struct bytes without_blanks_behind(struct bytes text)
{
    while (text.n > 0 && is_blank(text.p[text.n - 1]))
        text.n--;
    return text;
}

static bool is_comment(struct bytes text)
{
    return text.n > 0 && (text.p[0] == ';' || text.p[0] == '#');
}

/* --- values and their places --- */

void ini_value_done(struct ini_value *v)
{
    buf_done(&v->text);
    mem_free(v->pieces);
    *v = (struct ini_value){.text = BUF_EMPTY};
}

static void value_add(struct ini_value *v, struct bytes text, struct place place)
{
    if (v->piece_count > 0 && text.n > 0 && buf_length(&v->text) > 0)
        buf_append_char(&v->text, ' ');
    v->pieces = mem_realloc(v->pieces, (v->piece_count + 1) * sizeof(*v->pieces));
    v->pieces[v->piece_count++] = (struct value_piece){buf_length(&v->text), place};
    buf_append_bytes(&v->text, text);
}

struct place ini_value_place(const struct ini_value *v, size_t offset)
{
    const char *text = buf_data(&v->text);
    const struct value_piece *piece = NULL;

    assert(offset <= buf_length(&v->text));
    for (size_t i = 0; i < v->piece_count && v->pieces[i].start <= offset; i++)
        piece = &v->pieces[i];
    if (piece == NULL)
        return NO_PLACE;
    return (struct place){
        piece->place.line,
        piece->place.column +
            (int)utf8_length((struct bytes){text + piece->start, offset - piece->start}),
    };
}

/* The length of a value without the comment behind it. */
static size_t length_without_comment(struct bytes text)
{
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (c == ';' && i > 0 && is_blank(text.p[i - 1]))
            return i;
        if (c == '"' || c == '\'') {
            const char *end = memchr(text.p + i + 1, c, text.n - i - 1);
            if (end != NULL)
                i = (size_t)(end - text.p);
        }
    }
    return text.n;
}

static struct bytes without_comment(struct bytes text)
{
    text.n = length_without_comment(text);
    return without_blanks_behind(text);
}

/* --- lines --- */

/* What inih gets lines from, and calls back with keys and values. */
struct reader {
    const struct report *report;
    struct ini_lines *lines;
    struct bytes rest; /* of the file */
    struct bytes line; /* the one that inih has */
    struct bytes text; /* of it: from its first character on */
    int number;        /* its */
    bool indented;
    bool awaited; /* inih has not called back with it yet */
    enum { SECTION_NONE, SECTION_BROKEN, SECTION_GOOD } state; /* what keys belong to */
    enum section section;                                      /* which, if it is a known one */
    bool section_known;
    enum { VALUE_NONE, VALUE_OPEN, VALUE_SKIPPED } above; /* what an indented line goes on with */
};

static struct place place_of(const struct reader *r, struct bytes rest)
{
    struct bytes before = {r->line.p, (size_t)(rest.p - r->line.p)};

    assert(before.n <= r->line.n);
    return (struct place){r->number, 1 + (int)utf8_length(before)};
}

/* `rest` is a part of the line at hand. The line is left out, and what goes on with it. */
static void __attribute__((format(printf, 3, 4)))
refuse(struct reader *r, struct bytes rest, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    report_vat(r->report, place_of(r, rest), "", format, args);
    va_end(args);
    r->above = VALUE_SKIPPED;
}

static struct ini_line *add_line(struct reader *r, struct bytes name)
{
    struct ini_lines *l = r->lines;

    l->items = mem_realloc(l->items, (l->count + 1) * sizeof(*l->items));
    l->items[l->count] = (struct ini_line){
        .name = mem_strndup(name.p, name.n),
        .place = place_of(r, r->text),
        .value = {.text = BUF_EMPTY},
    };
    return &l->items[l->count++];
}

static bool name_fits(struct reader *r, struct bytes name)
{
    if (name.n <= NAME_MAX_BYTES)
        return true;
    refuse(r, name, "no section or key has such a long name");
    return false;
}

/* --- sections: inih says nothing of one that is broken, or has no keys --- */

/* `text` begins with `[`. Whatever is wrong with it, a section ends here. */
static void read_section(struct reader *r, struct bytes text)
{
    const char *close = memchr(text.p, ']', text.n);
    struct bytes name, behind;

    r->state = SECTION_BROKEN;
    r->section_known = false;
    r->above = VALUE_NONE;
    if (close == NULL) {
        refuse(r, text, "\"]\" is missing: write [section]");
        return;
    }
    name = (struct bytes){text.p + 1, (size_t)(close - text.p) - 1};
    behind = from(text, name.n + 2);
    name = without_blanks_behind(from(name, blanks_before(name)));
    behind = from(behind, blanks_before(behind));
    if (behind.n > 0 && !is_comment(behind))
        refuse(r, behind, "nothing but a comment can stand behind [section]");
    if (name.n == 0) {
        refuse(r, text, "a section needs a name");
        return;
    }
    if (!name_fits(r, name))
        return;
    add_line(r, name)->is_section = true;
    r->state = SECTION_GOOD;
    r->section_known = section_find(name, &r->section);
}

/* --- keys --- */

static void no_equals_sign(struct reader *r)
{
    if (memchr(r->text.p, ':', r->text.n) != NULL)
        refuse(r, r->text, "\"=\" is missing: write key = value (\":\" does not part them)");
    else
        refuse(r, r->text,
               "\"=\" is missing: write key = value (a line that goes on with the value above is "
               "indented)");
}

static bool is_name(struct bytes text)
{
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
            c != '_' && c != '-' && c != '.')
            return false;
    }
    return text.n > 0;
}

/* Told once; keys of a broken section are passed over, for its line was reported. */
static void outside_of_section(struct reader *r)
{
    if (r->state == SECTION_NONE)
        refuse(r, r->text, "a key has to stand in a [section]");
    r->state = SECTION_BROKEN;
    r->above = VALUE_SKIPPED;
}

/* inih, which takes a `:` for a `=`, found the value at `value_at` of the text. */
static void read_key(struct reader *r, const char *value, size_t value_at)
{
    const char *sign = memchr(r->text.p, '=', r->text.n);
    size_t n = sign != NULL ? (size_t)(sign - r->text.p) : 0;
    struct bytes name = without_blanks_behind((struct bytes){r->text.p, n});
    struct ini_line *line;

    if (sign == NULL)
        no_equals_sign(r);
    else if (!is_name(name))
        refuse(r, name, "\"%.*s\" is no key: write key = value", (int)name.n, name.p);
    else if (r->state != SECTION_GOOD)
        outside_of_section(r);
    else if (name_fits(r, name)) {
        line = add_line(r, name);
        value_add(&line->value, without_comment(bytes_of(value)),
                  place_of(r, from(r->text, value_at)));
        r->above = VALUE_OPEN;
    }
}

static void read_indented(struct reader *r, const char *value)
{
    if (r->above == VALUE_NONE)
        refuse(r, r->text, "an indented line goes on with the value above, but there is none");
    else if (r->above == VALUE_OPEN)
        value_add(&r->lines->items[r->lines->count - 1].value, without_comment(bytes_of(value)),
                  place_of(r, r->text));
}

static int take_value(void *user, const char *section, const char *name, const char *value)
{
    struct reader *r = user;

    (void)section; /* cut, and perhaps the one before a broken one */
    assert(r->awaited);
    r->awaited = false;
    if (r->indented)
        read_indented(r, value);
    else
        read_key(r, value, (size_t)(value - name)); /* pieces of the line that it has */
    return 1;
}

bool ini_begins_with_key(enum section section, struct bytes text)
{
    size_t n = 0;

    while (n < text.n && !is_blank(text.p[n]) && text.p[n] != '=')
        n++;
    if (key_find(section, (struct bytes){text.p, n}) == NULL)
        return false;
    n += blanks_before(from(text, n));
    return n < text.n && text.p[n] == '=';
}

static bool is_known_section(struct bytes text)
{
    const char *close = text.n > 0 && text.p[0] == '[' ? memchr(text.p, ']', text.n) : NULL;
    enum section section;

    return close != NULL &&
           section_find((struct bytes){text.p + 1, (size_t)(close - text.p) - 1}, &section);
}

/* --- what inih must not see as it is --- */

static bool has_bad_byte(struct reader *r)
{
    for (size_t i = 0; i < r->line.n; i++) {
        unsigned char c = (unsigned char)r->line.p[i];
        if ((c >= 0x20 && c != 0x7f) || c == '\t')
            continue;
        refuse(r, from(r->line, i), "a byte 0x%02x (%s) has no place in a configuration", c,
               c == 0      ? "NUL"
               : c == '\r' ? "a CR that ends no line"
                           : "a control character");
        return true;
    }
    return false;
}

static bool can_be_handed(struct reader *r)
{
    if (r->line.n <= LINE_MAX_BYTES)
        return !has_bad_byte(r);
    refuse(r, r->line, "a line of more than %d bytes: break it, and indent what goes on",
           LINE_MAX_BYTES);
    return false;
}

/* What was indented by mistake is reported, and read as if it were not. */
static bool is_misplaced(struct reader *r)
{
    if (is_known_section(r->text))
        refuse(r, r->text, "a section cannot be indented");
    else if (r->section_known && ini_begins_with_key(r->section, r->text))
        refuse(r, r->text, "a key cannot be indented: this line would go on with the value above");
    else
        return false;
    return true;
}

/* Takes the next line off `text`, without its end. */
static struct bytes take_line(struct bytes *text)
{
    const char *end = memchr(text->p, '\n', text->n);
    struct bytes line = {text->p, end != NULL ? (size_t)(end - text->p) : text->n};

    *text = from(*text, end != NULL ? line.n + 1 : line.n);
    if (line.n > 0 && line.p[line.n - 1] == '\r')
        line.n--;
    return line;
}

/* What inih has of the line at hand: nothing, if it is refused. */
static struct bytes line_for_inih(struct reader *r)
{
    size_t blanks = blanks_before(r->line);

    r->text = from(r->line, blanks);
    r->awaited = false;
    if (!can_be_handed(r))
        return from(r->line, r->line.n);
    if (r->text.n == 0 || is_comment(r->text))
        return r->line;
    r->indented = blanks > 0 && !is_misplaced(r);
    if (r->indented || r->text.p[0] != '[')
        r->awaited = true;
    else
        read_section(r, r->text);
    return r->indented ? r->line : r->text;
}

static char *hand_line(char *to, int room, void *stream)
{
    struct reader *r = stream;
    struct bytes line;

    if (r->awaited && r->indented)
        read_indented(r, "");
    else if (r->awaited)
        no_equals_sign(r);
    if (r->rest.n == 0)
        return NULL;
    r->line = take_line(&r->rest);
    r->number++;
    line = line_for_inih(r);
    assert(line.n < (size_t)room);
    memcpy(to, line.p, line.n);
    to[line.n] = '\0';
    return to;
}

/* Debian's inih takes its options from globals, so they are set each time. */
static void configure_inih(void)
{
    ini_allow_multiline = true;
    ini_allow_inline_comments = false;
    ini_allow_bom = false;
    ini_allow_no_value = false;
    ini_stop_on_first_error = false;
    ini_use_stack = false;
    ini_allow_realloc = false;
    ini_max_line = ini_initial_alloc = LINE_MAX_BYTES + 3; /* what ends it */
}

void ini_lines_read(struct bytes text, const struct report *report, struct ini_lines *ret)
{
    struct reader r = {.report = report, .lines = ret, .rest = text};
    int wrong_line;

    *ret = (struct ini_lines){NULL, 0};
    if (text.n >= 3 && memcmp(text.p, "\xef\xbb\xbf", 3) == 0)
        r.rest = from(text, 3);
    configure_inih();
    wrong_line = ini_parse_stream(hand_line, &r, take_value, &r);
    assert(wrong_line >= 0); /* no memory: the end, as everywhere. What is wrong is told already */
}

void ini_lines_done(struct ini_lines *l)
{
    for (size_t i = 0; i < l->count; i++) {
        mem_free(l->items[i].name);
        ini_value_done(&l->items[i].value);
    }
    mem_free(l->items);
    *l = (struct ini_lines){NULL, 0};
}
