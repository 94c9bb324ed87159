/*
 * keys_page: puts the reference of all keys into joind.ini(5), while joind is built.
 *
 *     keys_page joind.ini.5.in >joind.ini.5
 *
 * A line `@keys left right` of the template gives way to the keys of these sections, each with its
 * help, its words, its default, its range and what uses it. They are those of the table
 * that the parser reads (config/keys.h), so the page can neither lack a key nor know one more.
 * All other lines are copied. The language is mdoc(7).
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/time.h"
#include "config/key_table.h"
#include "config/keys.h"

#define MARK        "@keys "
#define FILL_COLUMN 72 /* lines of the source, for whoever reads that */

/* --- text as mdoc --- */

static bool is_letter_at(struct bytes text, size_t i)
{
    return i < text.n && isalpha((unsigned char)text.p[i]);
}

/* What formatters would change is protected: literal text has to be copied as it is. */
static void append_character(struct buf *to, struct bytes word, size_t i, bool *quoted)
{
    switch (word.p[i]) {
    case '\\':
        buf_append_text(to, "\\e");
        break;
    case '-':
        buf_append_text(
            to, i > 0 && is_letter_at(word, i - 1) && is_letter_at(word, i + 1) ? "-" : "\\-");
        break;
    case '\'':
        buf_append_text(to, "\\(aq");
        break;
    case '`':
        *quoted = !*quoted;
        buf_append_text(to, *quoted ? "\\(oq" : "\\(cq");
        break;
    case '^':
        buf_append_text(to, "\\(ha");
        break;
    case '~':
        buf_append_text(to, "\\(ti");
        break;
    default:
        buf_append_char(to, word.p[i]);
    }
}

static bool ends_sentence(struct bytes word)
{
    if (word.n > 0 && word.p[word.n - 1] == ')')
        word.n--;
    return word.n > 0 && word.p[word.n - 1] == '.';
}

/* Lines of text, each sentence on lines of its own. */
static void fill(struct buf *to, struct bytes text)
{
    size_t column = 0;
    bool quoted = false, sentence_over = false;

    while (text.n > 0) {
        const char *blank = memchr(text.p, ' ', text.n);
        struct bytes word = {text.p, blank == NULL ? text.n : (size_t)(blank - text.p)};

        if (column > 0 && (sentence_over || column + 1 + word.n > FILL_COLUMN)) {
            buf_append_char(to, '\n');
            column = 0;
        } else if (column > 0) {
            buf_append_char(to, ' ');
            column++;
        }
        if (column == 0 && word.n > 0 && word.p[0] == '.')
            buf_append_text(to, "\\&"); /* or it would be a command */
        for (size_t i = 0; i < word.n; i++)
            append_character(to, word, i, &quoted);
        column += word.n;
        sentence_over = ends_sentence(word);
        text.p += word.n + (blank != NULL);
        text.n -= word.n + (blank != NULL);
    }
    buf_append_char(to, '\n');
}

/* --- one key --- */

/* What stands for a value behind `name =`. */
static const char *const type_words[] = {
    [KEY_WORD] = "word",
    [KEY_SWITCH] = "yes | no",
    [KEY_DURATION] = "duration",
    [KEY_SIZE] = "size",
    [KEY_NUMBER] = "number",
    [KEY_SEED] = "number",
    [KEY_MODE] = "mode",
    [KEY_DELIMITER] = "character",
    [KEY_NULL] = "text",
    [KEY_NETWORKS] = "network , ...",
    [KEY_ADDRESS] = "address",
    [KEY_PATH] = "path",
    [KEY_NAME] = "name",
    [KEY_FIELDS] = "field , ...",
    [KEY_EXPRESSION] = "expression",
    [KEY_EXPRESSIONS] = "expression , ...",
    [KEY_COLUMNS] = "column , ...",
    [KEY_TEXT] = "text",
};

static void append_sections(struct buf *to, unsigned sections)
{
    const char *joint = "";

    for (int s = 0; s < SECTIONS; s++) {
        if ((sections & (1u << s)) == 0)
            continue;
        buf_printf(to, "%s[%s]", joint, section_name((enum section)s));
        sections &= ~(1u << s);
        joint = (sections & (sections - 1)) == 0 ? " and " : ", ";
    }
}

static void append_words(struct buf *to, const struct key_word *words, bool later)
{
    bool any = false;

    for (const struct key_word *w = words; w != NULL && w->text != NULL; w++) {
        if (w->later != later)
            continue;
        buf_printf(to, "%s%s", any ? ", " : later ? " Not in this version: " : " One of ", w->text);
        any = true;
    }
    if (any)
        buf_append_char(to, '.');
}

/* As it would be written, or in words where that would not be seen. */
static const char *preset_word(const struct key *k)
{
    if (k->type == KEY_DELIMITER)
        return "comma";
    return k->preset[0] == '\0' ? "nothing" : k->preset;
}

static bool is_last(const struct key *k)
{
    return k + 1 == keys + key_count;
}

/* The same key of two sections, which differ in its default alone: told once. */
static bool is_twin(const struct key *k, const struct key *next)
{
    return k->preset != NULL && next->preset != NULL && strcmp(k->name, next->name) == 0 &&
           strcmp(k->help, next->help) == 0;
}

static void append_preset(struct buf *to, const struct key *k)
{
    if (k->preset == NULL)
        return;
    buf_printf(to, " Default: %s", preset_word(k));
    if (!is_last(k) && is_twin(k, k + 1)) {
        buf_append_text(to, " in ");
        append_sections(to, k->sections);
        buf_printf(to, ", %s in ", preset_word(k + 1));
        append_sections(to, k[1].sections);
    }
    if (k->preset_file != NULL)
        buf_printf(to, ", for a file %s", k->preset_file);
    buf_append_char(to, '.');
}

static void append_number(int64_t value, struct buf *to)
{
    buf_printf(to, "%lld", (long long)value);
}

static void append_range(struct buf *to, const struct key *k)
{
    void (*write)(int64_t, struct buf *) = k->type == KEY_DURATION ? duration_write
                                           : k->type == KEY_SIZE   ? size_write
                                           : k->type == KEY_NUMBER ? append_number
                                                                   : NULL;
    if (write == NULL || k->later != NULL)
        return;
    buf_append_text(to, " From ");
    write(k->low, to);
    buf_append_text(to, " to ");
    write(k->high, to);
    if (k->off != NULL)
        buf_printf(to, ", or %s", k->off);
    buf_append_char(to, '.');
}

static void append_use(struct buf *to, const struct key *k)
{
    struct buf use = BUF_EMPTY;

    key_use_words(k, &use);
    if (buf_length(&use) > 0)
        buf_printf(to, " Used%s.", buf_text(&use));
    buf_done(&use);
}

static void append_key(struct buf *to, const struct key *k, unsigned group)
{
    struct buf text = BUF_EMPTY;

    buf_printf(to, ".It Ic %s No = Ar %s\n", k->name, type_words[k->type]);
    buf_append_text(&text, k->help);
    append_words(&text, k->words, false);
    append_words(&text, k->words, true);
    if ((group & ~k->sections) != 0 && (is_last(k) || !is_twin(k, k + 1))) {
        buf_append_text(&text, " In ");
        append_sections(&text, k->sections & group);
        buf_append_text(&text, " only.");
    }
    if (k->example != NULL)
        buf_printf(&text, " It has to be given (such as %s = %s).", k->name, k->example);
    append_preset(&text, k);
    append_range(&text, k);
    append_use(&text, k);
    if (k->later != NULL)
        buf_append_text(&text, " Not in this version.");
    fill(to, buf_bytes(&text));
    buf_done(&text);
}

/* --- the page --- */

static unsigned read_group(char *names)
{
    unsigned group = 0;

    for (char *name = strtok(names, " \n"); name != NULL; name = strtok(NULL, " \n")) {
        enum section s;
        if (!section_find(bytes_of(name), &s)) {
            fprintf(stderr, "keys_page: no section %s\n", name);
            exit(1);
        }
        group |= 1u << s;
    }
    return group;
}

/* Returns which sections these were. */
static unsigned append_group(struct buf *to, char *names)
{
    unsigned group = read_group(names);

    buf_append_text(to, ".Bl -tag -width Ds\n");
    for (size_t i = 0; i < key_count; i++)
        if ((keys[i].sections & group) != 0 && (i == 0 || !is_twin(&keys[i - 1], &keys[i])))
            append_key(to, &keys[i], group);
    buf_append_text(to, ".El\n");
    return group;
}

static unsigned fill_template(FILE *template, struct buf *to)
{
    unsigned done = 0;
    char *line = NULL;
    size_t capacity = 0;

    while (getline(&line, &capacity, template) > 0) {
        if (strncmp(line, MARK, strlen(MARK)) == 0)
            done |= append_group(to, line + strlen(MARK));
        else
            buf_append_text(to, line);
    }
    free(line);
    return done;
}

int main(int argc, char **argv)
{
    struct buf page = BUF_EMPTY;
    FILE *template = argc == 2 ? fopen(argv[1], "re") : NULL;
    bool whole;

    if (template == NULL) {
        fprintf(stderr, "usage: keys_page TEMPLATE\n");
        return 64;
    }
    whole = fill_template(template, &page) == (1u << SECTIONS) - 1;
    fclose(template);
    if (whole)
        fwrite(buf_data(&page), 1, buf_length(&page), stdout);
    else
        fprintf(stderr, "keys_page: the template leaves sections out\n");
    buf_done(&page);
    return whole && fflush(stdout) == 0 ? 0 : 1;
}
