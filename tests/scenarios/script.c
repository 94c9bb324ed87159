#include "script.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* What stories need not say. Nothing of it is opened. */
static const char defaults[] = "left.listen = 127.0.0.1:1\n"
                               "right.listen = 127.0.0.1:2\n"
                               "output.file = -";

struct reader {
    struct script *script;
    struct story *story; /* that lines belong to */
    char *next;          /* of the text; NULL at its end */
    int line;
    struct buf *why;
    struct step *expect; /* the step that rows belong to; NULL: none */
    size_t section, group;
    bool windowed;
    int64_t window_start, window_end;
};

static bool complain(struct reader *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static bool complain(struct reader *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    buf_printf(r->why, "%s:%d: ", r->script->path, r->line);
    buf_vprintf(r->why, format, args);
    va_end(args);
    return false;
}

/* --- words --- */

static char *skip_blanks(char *at)
{
    return at + strspn(at, " ");
}

/* Cuts the next word off; "" at the end. */
static char *word(char **at)
{
    char *start = skip_blanks(*at), *end = start + strcspn(start, " ");
    *at = *end == '\0' ? end : end + 1;
    *end = '\0';
    return start;
}

/* Takes `wanted` off the front, if it stands there. */
static bool take_word(char **at, const char *wanted)
{
    char *start = skip_blanks(*at);
    size_t n = strlen(wanted);
    if (strncmp(start, wanted, n) != 0 || (start[n] != ' ' && start[n] != '\0'))
        return false;
    *at = skip_blanks(start + n);
    return true;
}

static bool read_number(const char *text, int64_t *ret)
{
    char *end;
    *ret = strtoll(text, &end, 10);
    return end != text && *end == '\0';
}

static bool read_side(const char *text, enum side *ret)
{
    for (int s = 0; s < SIDES; s++)
        if (strcmp(text, side_word(s)) == 0) {
            *ret = s;
            return true;
        }
    return false;
}

static bool read_kind(const char *text, enum result_kind *ret)
{
    for (int k = 0; k < RESULT_KINDS; k++)
        if (strcmp(text, result_kind_word(k)) == 0) {
            *ret = k;
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

/* --- lists that grow --- */

static void *grow(void *list, size_t count, size_t size)
{
    return (count & (count - 1)) == 0 ? mem_realloc(list, (count == 0 ? 1 : 2 * count) * size)
                                      : list;
}

static struct step *add_step(struct reader *r, enum step_kind kind)
{
    struct story *story = r->story;
    story->steps = grow(story->steps, story->step_count, sizeof(*story->steps));
    struct step *step = &story->steps[story->step_count++];
    *step = (struct step){.kind = kind, .line = r->line};
    r->expect = kind == STEP_EXPECT ? step : NULL;
    return step;
}

/* --- steps --- */

static bool read_lines(struct reader *r, int64_t at_ms, char *rest)
{
    bool fill = take_word(&rest, "fill");
    enum side side;
    if (!read_side(word(&rest), &side))
        return complain(r, "expected left or right");
    struct step *step = add_step(r, fill ? STEP_FILL : STEP_LINES);
    step->number = at_ms;
    step->sides[side] = true;
    step->count = 1;
    rest = skip_blanks(rest);

    char *times = strstr(rest, " times ");
    if (times != NULL && strspn(rest, "0123456789") == (size_t)(times - rest)) {
        step->count = strtoul(rest, NULL, 10);
        rest = skip_blanks(times + strlen(" times "));
    }
    step->text = unescape(rest, &step->text_length);
    return true;
}

static bool read_at(struct reader *r, char *rest)
{
    int64_t at_ms;
    if (!read_number(word(&rest), &at_ms))
        return complain(r, "expected a time in ms");
    if (*skip_blanks(rest) != '\0')
        return read_lines(r, at_ms, rest);
    add_step(r, STEP_TICK)->number = at_ms;
    return true;
}

static bool read_sides(struct reader *r, struct step *step, char *rest, const char *nobody)
{
    enum side side;
    if (nobody != NULL && take_word(&rest, nobody))
        return true;
    if (*skip_blanks(rest) == '\0') {
        step->sides[SIDE_LEFT] = step->sides[SIDE_RIGHT] = true;
        return true;
    }
    if (!read_side(word(&rest), &side))
        return complain(r, "expected left or right");
    step->sides[side] = true;
    return true;
}

static bool read_expect(struct reader *r, char *rest)
{
    bool filled = take_word(&rest, "filled");
    bool rows = *rest == '\0' || take_word(&rest, "nothing");
    struct step *step = add_step(r, filled ? STEP_EXPECT_FILLED
                                    : rows ? STEP_EXPECT
                                           : STEP_EXPECT_COUNT);
    r->section = r->group = 0;
    r->windowed = false;
    if (rows)
        return true;
    if (!filled && !read_number(word(&rest), &step->number))
        return complain(r, "expected nothing, filled, or a number of rows");
    if (!read_kind(word(&rest), &step->result))
        return complain(r, "expected pair, left, right, semi or anti");
    step->text = unescape(skip_blanks(rest), &step->text_length);
    return true;
}

static bool read_rejected(struct reader *r, char *rest)
{
    struct step *step = add_step(r, STEP_REJECTED);
    enum side side;
    if (!read_side(word(&rest), &side))
        return complain(r, "expected left or right");
    step->sides[side] = true;
    step->text = mem_strdup(word(&rest));
    return true;
}

static bool read_books(struct reader *r, char *rest)
{
    struct step *step = add_step(r, STEP_BOOKS);
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
    };
    enum side side;
    if (!read_side(word(&rest), &side))
        return complain(r, "expected left or right");
    step->sides[side] = true;
    for (char *item = word(&rest); *item != '\0'; item = word(&rest)) {
        char *sign = strchr(item, '=');
        size_t i = 0, n = sizeof(columns) / sizeof(columns[0]);
        int64_t value;
        if (sign == NULL || !read_number(sign + 1, &value))
            return complain(r, "expected NAME=NUMBER, not %s", item);
        *sign = '\0';
        while (i < n && strcmp(columns[i].name, item) != 0)
            i++;
        if (i == n)
            return complain(r, "the books have no %s", item);
        *columns[i].value = (uint64_t)value;
    }
    return true;
}

static bool read_due(struct reader *r, char *rest)
{
    struct step *step = add_step(r, STEP_DUE);
    step->number = INT64_MAX;
    if (take_word(&rest, "never"))
        return true;
    return read_number(word(&rest), &step->number) || complain(r, "expected a time or never");
}

static bool read_pull(struct reader *r, char *rest)
{
    struct step *step = add_step(r, STEP_PULL);
    int64_t count;
    if (!take_word(&rest, "all")) {
        if (!read_number(word(&rest), &count) || count <= 0)
            return complain(r, "expected all, or a number of results");
        step->count = (size_t)count;
    }
    if (!take_word(&rest, "fuel"))
        return true;
    return read_number(word(&rest), &step->fuel) || complain(r, "expected an amount of fuel");
}

static bool read_step(struct reader *r, char *rest)
{
    if (take_word(&rest, "at"))
        return read_at(r, rest);
    if (take_word(&rest, "end"))
        return read_sides(r, add_step(r, STEP_END), rest, NULL);
    if (take_word(&rest, "waiting"))
        return read_sides(r, add_step(r, STEP_WAITING), rest, "nobody");
    if (take_word(&rest, "expect"))
        return read_expect(r, rest);
    if (take_word(&rest, "rejected"))
        return read_rejected(r, rest);
    if (take_word(&rest, "books"))
        return read_books(r, rest);
    if (take_word(&rest, "due"))
        return read_due(r, rest);
    if (take_word(&rest, "pull"))
        return read_pull(r, rest);
    if (!take_word(&rest, "by") || !take_word(&rest, "hand"))
        return complain(r, "not a step: %s", rest);
    r->story->by_hand = true;
    return true;
}

/* --- the rows of an expect --- */

/* `[0,10000)`: rows from here on are of this window. */
static bool read_window(struct reader *r, const char *text)
{
    int end = 0;
    if (sscanf(text, "[%" SCNd64 ",%" SCNd64 ")%n", &r->window_start, &r->window_end, &end) != 2 ||
        end == 0 || text[end] != '\0')
        return complain(r, "expected [START,END)");
    r->windowed = true;
    r->section++;
    return true;
}

/* False: it is none, and `expect` is over. */
static bool read_row(struct reader *r, char *text)
{
    char *rest = text;
    for (int k = 0; k < RESULT_KINDS; k++) {
        if (!take_word(&rest, result_kind_word(k)))
            continue;
        struct step *step = r->expect;
        size_t length;
        step->rows = grow(step->rows, step->row_count, sizeof(*step->rows));
        step->rows[step->row_count++] = (struct expected_row){
            .kind = k,
            .section = r->section,
            .group = r->group,
            .windowed = r->windowed,
            .window_start = r->window_start,
            .window_end = r->window_end,
            .text = unescape(rest, &length),
        };
        return true;
    }
    return false;
}

/* --- the whole --- */

static struct setting *add_setting(struct story *story)
{
    story->settings = grow(story->settings, story->setting_count, sizeof(*story->settings));
    return &story->settings[story->setting_count++];
}

static bool read_setting(struct reader *r, char *line, char *equals)
{
    char *dot = strchr(line, '.'), *end = equals;
    while (end > line && end[-1] == ' ')
        end--;
    *end = '\0';
    *dot = '\0';
    *add_setting(r->story) = (struct setting){
        .section = mem_strdup(line),
        .key = mem_strdup(dot + 1),
        .value = mem_strdup(skip_blanks(equals + 1)),
    };
    return true;
}

static void start_story(struct reader *r, const char *name)
{
    struct script *s = r->script;
    s->stories = grow(s->stories, s->story_count, sizeof(*s->stories));
    s->stories[s->story_count] = (struct story){.name = mem_strdup(name), .line = r->line};
    r->story = &s->stories[s->story_count++];
    r->expect = NULL;
}

static bool read_line(struct reader *r, char *line)
{
    char *equals = strchr(line, '='), *dot = strchr(line, '.');
    if (*line == '\0' || *line == '#')
        return true;
    if (r->expect != NULL && *line == '[')
        return read_window(r, line);
    if (r->expect != NULL && strcmp(line, "and") == 0) {
        r->group++;
        return true;
    }
    if (r->expect != NULL && read_row(r, line))
        return true;
    if (take_word(&line, "story")) {
        start_story(r, line);
        return true;
    }
    if (equals != NULL && dot != NULL && dot < equals && strcspn(line, " ") > (size_t)(dot - line))
        return read_setting(r, line, equals);
    if (r->story == &r->script->common)
        return complain(r, "a step before the first story");
    return read_step(r, line);
}

static bool read_text(struct reader *r, char *text)
{
    r->next = text;
    r->line = 0;
    for (char *line = strsep(&r->next, "\n"); line != NULL; line = strsep(&r->next, "\n")) {
        r->line++;
        if (!read_line(r, skip_blanks(line)))
            return false;
    }
    return true;
}

bool script_read(const char *path, char *text, struct script *ret, struct buf *ret_why)
{
    *ret = (struct script){.path = path};
    struct reader r = {.script = ret, .story = &ret->common, .why = ret_why};
    char *first = mem_strdup(defaults);
    bool fine = read_text(&r, first) && read_text(&r, text);
    mem_free(first);
    return fine && (ret->story_count > 0 || complain(&r, "no story"));
}

static void story_done(struct story *s)
{
    for (size_t i = 0; i < s->setting_count; i++) {
        mem_free(s->settings[i].section);
        mem_free(s->settings[i].key);
        mem_free(s->settings[i].value);
    }
    for (size_t i = 0; i < s->step_count; i++) {
        for (size_t j = 0; j < s->steps[i].row_count; j++)
            mem_free(s->steps[i].rows[j].text);
        mem_free(s->steps[i].rows);
        mem_free(s->steps[i].text);
    }
    mem_free(s->settings);
    mem_free(s->steps);
    mem_free(s->name);
}

void script_done(struct script *s)
{
    story_done(&s->common);
    for (size_t i = 0; i < s->story_count; i++)
        story_done(&s->stories[i]);
    mem_free(s->stories);
}

/* --- the INI text --- */

#define LISTS 2

struct setting_list {
    const struct story *of[LISTS];
};

/* A later setting of the same key takes its place. */
static bool counts(const struct setting_list *l, size_t list, size_t at)
{
    const struct setting *s = &l->of[list]->settings[at];
    for (size_t i = list; i < LISTS; i++)
        for (size_t j = i == list ? at + 1 : 0; j < l->of[i]->setting_count; j++)
            if (strcmp(l->of[i]->settings[j].section, s->section) == 0 &&
                strcmp(l->of[i]->settings[j].key, s->key) == 0)
                return false;
    return *s->value != '\0';
}

static void append_section(const struct setting_list *l, const char *section, struct buf *to)
{
    buf_printf(to, "[%s]\n", section);
    for (size_t i = 0; i < LISTS; i++)
        for (size_t j = 0; j < l->of[i]->setting_count; j++)
            if (strcmp(l->of[i]->settings[j].section, section) == 0 && counts(l, i, j))
                buf_printf(to, "%s = %s\n", l->of[i]->settings[j].key, l->of[i]->settings[j].value);
}

/* Is this the first setting of its section? */
static bool opens_section(const struct setting_list *l, size_t list, size_t at)
{
    for (size_t i = 0; i <= list; i++)
        for (size_t j = 0; j < (i == list ? at : l->of[i]->setting_count); j++)
            if (strcmp(l->of[i]->settings[j].section, l->of[list]->settings[at].section) == 0)
                return false;
    return true;
}

void script_ini(const struct script *s, const struct story *story, struct buf *to)
{
    struct setting_list l = {{&s->common, story}};
    for (size_t i = 0; i < LISTS; i++)
        for (size_t j = 0; j < l.of[i]->setting_count; j++)
            if (opens_section(&l, i, j))
                append_section(&l, l.of[i]->settings[j].section, to);
}
