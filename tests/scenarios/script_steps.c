#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"
#include "script_parts.h"

bool script_complain(struct reader *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    buf_printf(r->why, "%s:%d: ", r->script->path, r->line);
    buf_vprintf(r->why, format, args);
    va_end(args);
    return false;
}

/* --- words --- */

/* Cuts the next word off; "" at the end. */
static char *word(char **at)
{
    char *start = script_skip_blanks(*at), *end = start + strcspn(start, " ");
    *at = *end == '\0' ? end : end + 1;
    *end = '\0';
    return start;
}

bool script_take_word(char **at, const char *wanted)
{
    char *start = script_skip_blanks(*at);
    size_t n = strlen(wanted);
    if (strncmp(start, wanted, n) != 0 || (start[n] != ' ' && start[n] != '\0'))
        return false;
    *at = script_skip_blanks(start + n);
    return true;
}

static bool read_number(const char *text, int64_t *ret)
{
    char *end;
    *ret = strtoll(text, &end, 10);
    return end != text && *end == '\0';
}

/* `left`, `left/2` */
static bool read_connection(const char *text, enum side *ret, size_t *ret_connection)
{
    for (int s = 0; s < SIDES; s++) {
        const char *name = side_word((enum side)s);
        size_t n = strlen(name);
        int64_t number = 1;
        if (strncmp(text, name, n) != 0 || (text[n] != '\0' && text[n] != '/') ||
            (text[n] == '/' && !read_number(text + n + 1, &number)))
            continue;
        *ret = (enum side)s;
        *ret_connection = (size_t)(number - 1);
        return number >= 1 && number <= MACHINE_CONNECTIONS;
    }
    return false;
}

static bool read_side(const char *text, enum side *ret)
{
    size_t connection;
    return strchr(text, '/') == NULL && read_connection(text, ret, &connection);
}

static bool read_kind(const char *text, enum result_kind *ret)
{
    for (int k = 0; k <= RESULT_FAILED; k++)
        if (strcmp(text, machine_kind_word((enum result_kind)k)) == 0) {
            *ret = (enum result_kind)k;
            return true;
        }
    return false;
}

static int hex_digit(char c)
{
    const char *digits = "0123456789abcdef", *at = c == '\0' ? NULL : strchr(digits, c | 0x20);
    return at == NULL ? -1 : (int)(at - digits);
}

/* Appends what the escape at `p`, behind its backslash, stands for. Returns its length; 0: none. */
static size_t append_escape(const char *p, struct buf *to)
{
    static const char letters[] = "nrt\\0", bytes[] = "\n\r\t\\\0";
    const char *letter = *p == '\0' ? NULL : strchr(letters, *p);
    if (letter != NULL) {
        buf_append_char(to, bytes[letter - letters]);
        return 1;
    }
    if (p[0] == 'x' && hex_digit(p[1]) >= 0 && hex_digit(p[2]) >= 0) {
        buf_append_char(to, (char)(hex_digit(p[1]) * 16 + hex_digit(p[2])));
        return 3;
    }
    char *end = NULL;
    unsigned long times = p[0] == '{' ? strtoul(p + 1, &end, 10) : 0;
    if (times == 0 || end[0] == '\0' || end[1] != '}')
        return 0;
    while (times-- > 0)
        buf_append_char(to, *end);
    return (size_t)(end + 2 - p);
}

/* With a NUL behind it that does not count; the caller owns it. */
static char *unescape(const char *text, size_t *ret_length)
{
    struct buf out = BUF_EMPTY;
    while (*text != '\0') {
        size_t n = *text == '\\' ? append_escape(text + 1, &out) : 0;
        if (n == 0)
            buf_append_char(&out, *text);
        text += n + 1;
    }
    *ret_length = buf_length(&out);
    char *copy = mem_alloc(*ret_length + 1);
    memcpy(copy, buf_text(&out), *ret_length + 1);
    buf_done(&out);
    return copy;
}

/* --- steps: what happens --- */

static struct step *add_step(struct reader *r, enum step_kind kind)
{
    struct story *story = r->story;
    story->steps = script_grow(story->steps, story->step_count, sizeof(*story->steps));
    struct step *step = &story->steps[story->step_count++];
    *step = (struct step){.kind = kind, .line = r->line};
    r->expect = kind == STEP_EXPECT ? step : NULL;
    r->table = kind == STEP_TABLE || kind == STEP_LOAD ? step : NULL;
    r->expect_indent = r->indent;
    return step;
}

/* The side, or the connection, that the step is about. */
static bool read_whom(struct reader *r, struct step *step, const char *text)
{
    enum side side;
    if (!read_connection(text, &side, &step->connection))
        return script_complain(r, "expected left or right, or left/N, not '%s'", text);
    step->sides[side] = true;
    return true;
}

/* `fill left LINE`, `left/2 3 times LINE` */
static bool read_lines(struct reader *r, char *rest, int64_t at_ms, bool timed)
{
    bool fill = script_take_word(&rest, "fill");
    struct step *step = add_step(r, fill ? STEP_FILL : STEP_LINES);
    if (!read_whom(r, step, word(&rest)))
        return false;
    step->number = at_ms;
    step->timed = timed;
    step->count = 1;
    rest = script_skip_blanks(rest);

    char *times = strstr(rest, " times ");
    if (times != NULL && strspn(rest, "0123456789") == (size_t)(times - rest)) {
        step->count = strtoul(rest, NULL, 10);
        rest = script_skip_blanks(times + strlen(" times "));
    }
    step->text = unescape(rest, &step->text_length);
    return true;
}

static bool read_at(struct reader *r, enum step_kind kind, char *rest)
{
    int64_t at_ms;
    if (!read_number(word(&rest), &at_ms))
        return script_complain(r, "expected a time in ms");
    if (*script_skip_blanks(rest) != '\0')
        return read_lines(r, rest, at_ms, true);
    add_step(r, kind)->number = at_ms;
    return true;
}

static bool read_time_or(struct reader *r, enum step_kind kind, char *rest, const char *no_time,
                         int64_t no_time_is)
{
    struct step *step = add_step(r, kind);
    step->number = no_time_is;
    if (script_take_word(&rest, no_time))
        return true;
    return read_number(word(&rest), &step->number) ||
           script_complain(r, "expected a time in ms, or %s", no_time);
}

static bool read_time(struct reader *r, enum step_kind kind, char *rest)
{
    return read_number(word(&rest), &add_step(r, kind)->number) ||
           script_complain(r, "expected a time in ms");
}

/* Nothing means both. */
static bool read_sides(struct reader *r, enum step_kind kind, char *rest)
{
    struct step *step = add_step(r, kind);
    enum side side;
    if (script_take_word(&rest, "nobody"))
        return true;
    if (*script_skip_blanks(rest) == '\0') {
        step->sides[SIDE_LEFT] = step->sides[SIDE_RIGHT] = true;
        return true;
    }
    if (!read_side(word(&rest), &side))
        return script_complain(r, "expected left, right, nobody, or nothing for both");
    step->sides[side] = true;
    return true;
}

/* Whom, and whatever follows: a line, a reason, nothing. */
static bool read_whom_and_text(struct reader *r, enum step_kind kind, char *rest)
{
    struct step *step = add_step(r, kind);
    if (!read_whom(r, step, word(&rest)))
        return false;
    step->text = unescape(script_skip_blanks(rest), &step->text_length);
    return true;
}

static bool read_pull(struct reader *r, enum step_kind kind, char *rest)
{
    struct step *step = add_step(r, kind);
    int64_t count;
    if (!script_take_word(&rest, "all")) {
        if (!read_number(word(&rest), &count) || count <= 0)
            return script_complain(r, "expected all, or a number of results");
        step->count = (size_t)count;
    }
    if (!script_take_word(&rest, "fuel"))
        return true;
    return read_number(word(&rest), &step->fuel) ||
           script_complain(r, "expected an amount of fuel");
}

/* --- steps: what has to be --- */

static bool read_expect(struct reader *r, enum step_kind kind, char *rest)
{
    bool waited = script_take_word(&rest, "waited");
    bool filled = waited || script_take_word(&rest, "filled");
    bool rows = *rest == '\0' || script_take_word(&rest, "nothing");
    struct step *step = add_step(r, rows ? kind : STEP_EXPECT_COUNT);
    r->section = r->group = 0;
    r->windowed = false;
    if (rows)
        return true;
    if (filled)
        step->kind = waited ? STEP_EXPECT_WAITED : STEP_EXPECT_FILLED;
    if (!filled && !read_number(word(&rest), &step->number))
        return script_complain(r, "expected nothing, filled, waited, or a number of rows");
    if (!read_kind(word(&rest), &step->result))
        return script_complain(r, "expected pair, left, right, semi, anti or failed");
    step->text = unescape(script_skip_blanks(rest), &step->text_length);
    return true;
}

static bool read_never(struct reader *r, enum step_kind kind, char *rest)
{
    return read_time_or(r, kind, rest, "never", SCRIPT_NEVER);
}

static bool read_watermark(struct reader *r, enum step_kind kind, char *rest)
{
    bool left = script_take_word(&rest, "left"), right = !left && script_take_word(&rest, "right");
    bool fine = read_time_or(r, kind, rest, "none", SCRIPT_NONE);
    struct step *step = &r->story->steps[r->story->step_count - 1];
    step->sides[SIDE_LEFT] = left;
    step->sides[SIDE_RIGHT] = right;
    return fine;
}

static bool read_books(struct reader *r, enum step_kind kind, char *rest)
{
    struct step *step = add_step(r, kind);
    struct {
        const char *name;
        uint64_t *value;
    } const columns[] = {
        {"received", &step->books.received},
        {"rejected", &step->books.rejected},
        {"filtered", &step->books.filtered},
        {"late", &step->books.late},
        {"matched", &step->books.matched},
        {"unmatched", &step->books.unmatched},
        {"held", &step->held},
        {"late_windows", &step->books.late_windows},
    };
    if (!read_whom(r, step, word(&rest)))
        return false;
    for (char *item = word(&rest); *item != '\0'; item = word(&rest)) {
        char *sign = strchr(item, '=');
        size_t i = 0, n = sizeof(columns) / sizeof(columns[0]);
        int64_t value;
        if (sign == NULL || !read_number(sign + 1, &value))
            return script_complain(r, "expected NAME=NUMBER, not %s", item);
        *sign = '\0';
        while (i < n && strcmp(columns[i].name, item) != 0)
            i++;
        if (i == n)
            return script_complain(r, "the books have no %s", item);
        *columns[i].value = (uint64_t)value;
    }
    return true;
}

/* --- the lines of a table --- */

static bool read_table(struct reader *r, enum step_kind kind, char *rest)
{
    add_step(r, kind)->text = mem_strdup("");
    return *rest == '\0' || script_complain(r, "the lines of a table stand below it");
}

static bool read_table_line(struct reader *r, const char *text)
{
    struct step *step = r->table;
    struct buf lines = BUF_EMPTY;
    size_t length;
    char *line = unescape(text, &length);
    buf_append(&lines, step->text, step->text_length);
    buf_append(&lines, line, length);
    buf_append_char(&lines, '\n');
    mem_free(line);
    mem_free(step->text);
    step->text_length = buf_length(&lines);
    step->text = mem_strndup(buf_data(&lines), step->text_length);
    buf_done(&lines);
    return true;
}

static bool read_nothing(struct reader *r, enum step_kind kind, char *rest)
{
    add_step(r, kind);
    return *rest == '\0' || script_complain(r, "nothing can follow here");
}

static bool read_fault(struct reader *r, enum step_kind kind, char *rest)
{
    struct step *step = add_step(r, kind);
    step->text = unescape(rest, &step->text_length);
    return step->text_length > 0 || script_complain(r, "expected words of the fault");
}

/* --- the rows of an expect --- */

/* `[0,10000)`, `no window`: rows from here on are of this window. False: it is none. */
static bool read_bounds(struct reader *r, const char *text)
{
    int end = 0;
    if (strcmp(text, "no window") == 0) {
        r->window_start = r->window_end = RESULT_NO_WINDOW;
    } else if (sscanf(text, "[%" SCNd64 ",%" SCNd64 ")%n", &r->window_start, &r->window_end,
                      &end) != 2 ||
               end == 0 || text[end] != '\0') {
        return false;
    }
    r->windowed = true;
    return true;
}

static bool read_result(struct reader *r, char *text)
{
    struct step *step = r->expect;
    struct expected_row row = {
        .section = r->section,
        .group = r->group,
        .windowed = r->windowed,
        .window_start = r->window_start,
        .window_end = r->window_end,
    };
    size_t length;
    if (!read_kind(word(&text), &row.kind))
        return script_complain(r, "no row of an expect");
    row.text = unescape(script_skip_blanks(text), &length);
    step->rows = script_grow(step->rows, step->row_count, sizeof(*step->rows));
    step->rows[step->row_count++] = row;
    return true;
}

static bool read_row(struct reader *r, char *text)
{
    if (script_take_word(&text, "and")) {
        r->group++;
        return *text == '\0' || read_bounds(r, text) ||
               script_complain(r, "expected [START,END), no window, or nothing");
    }
    if (read_bounds(r, text)) {
        r->section++;
        return true;
    }
    return read_result(r, text);
}

/* --- any of them --- */

static bool read_by_hand(struct reader *r, enum step_kind kind, char *rest)
{
    (void)kind;
    r->story->by_hand = true;
    return script_take_word(&rest, "hand") || script_complain(r, "expected by hand");
}

bool script_read_step(struct reader *r, char *line)
{
    static const struct {
        const char *word;
        enum step_kind kind;
        bool (*read)(struct reader *r, enum step_kind kind, char *rest);
    } steps[] = {
        {"at", STEP_TICK, read_at},
        {"by", STEP_PULL, read_by_hand},
        {"books", STEP_BOOKS, read_books},
        {"clock", STEP_CLOCK, read_time},
        {"close", STEP_CLOSE, read_whom_and_text},
        {"drop", STEP_DROP, read_nothing},
        {"due", STEP_DUE, read_never},
        {"end", STEP_END, read_sides},
        {"expect", STEP_EXPECT, read_expect},
        {"fault", STEP_FAULT, read_fault},
        {"hold", STEP_HOLD, read_whom_and_text},
        {"idle", STEP_IDLE, read_sides},
        {"late", STEP_LATE, read_whom_and_text},
        {"load", STEP_LOAD, read_table},
        {"mono", STEP_MONO, read_time},
        {"open", STEP_OPEN, read_whom_and_text},
        {"pull", STEP_PULL, read_pull},
        {"rejected", STEP_REJECTED, read_whom_and_text},
        {"release", STEP_RELEASE, read_whom_and_text},
        {"swap", STEP_SWAP, read_nothing},
        {"table", STEP_TABLE, read_table},
        {"waiting", STEP_WAITING, read_sides},
        {"wake", STEP_WAKE, read_never},
        {"watermark", STEP_WATERMARK, read_watermark},
        {"wm", STEP_WM, read_time},
    };
    if (r->expect != NULL && r->indent > r->expect_indent)
        return read_row(r, line);
    if (r->table != NULL && r->indent > r->expect_indent)
        return read_table_line(r, line);
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
        if (script_take_word(&line, steps[i].word))
            return steps[i].read(r, steps[i].kind, line);
    if (strncmp(line, "left", 4) != 0 && strncmp(line, "right", 5) != 0 &&
        strncmp(line, "fill ", 5) != 0)
        return script_complain(r, "not a step: %s", line);
    return read_lines(r, line, 0, false);
}
