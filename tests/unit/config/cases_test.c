/*
 * Whole configurations: each cases/NAME.ini goes with NAME.ok, what --check prints
 * of it, or NAME.err, all that is wrong with it.
 *
 * Lines `; --set SECTION.KEY=VALUE` at the top of a case are given as on the command
 * line. The file is read as if it were /etc/joind/NAME.ini, named NAME.ini from there.
 *
 * With JOIND_UPDATE=1 what comes out is written instead of being compared: read it!
 */
#include "unit.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "config/key_table.h"
#include "config/keys.h"
#include "config/print.h"
#include "config/reader.h"

#define CASES_MAX     400
#define OVERRIDES_MAX 20

static char *names[CASES_MAX]; /* without .ini */
static size_t name_count;

/* --- files --- */

static bool read_text(const char *folder, const char *name, const char *suffix, struct buf *to)
{
    char path[512];
    char piece[4096];
    size_t n;
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s%s", folder, name, suffix);
    file = fopen(path, "rb");
    if (file == NULL)
        return false;
    while ((n = fread(piece, 1, sizeof(piece), file)) > 0)
        buf_append(to, piece, n);
    fclose(file);
    return true;
}

static void write_text(const char *name, const char *suffix, const struct buf *text)
{
    char path[512];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s%s", CASES, name, suffix);
    file = fopen(path, "wb");
    assert_non_null(file);
    fwrite(buf_data(text), 1, buf_length(text), file);
    fclose(file);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int find_cases(void **state)
{
    DIR *folder = opendir(CASES);
    struct dirent *entry;

    (void)state;
    if (folder == NULL)
        return -1;
    while ((entry = readdir(folder)) != NULL) {
        size_t n = strlen(entry->d_name);
        if (n > 4 && strcmp(entry->d_name + n - 4, ".ini") == 0 && name_count < CASES_MAX)
            names[name_count++] = mem_strndup(entry->d_name, n - 4);
    }
    closedir(folder);
    qsort(names, name_count, sizeof(names[0]), by_name);
    return 0;
}

static int forget_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < name_count; i++)
        mem_free(names[i]);
    return 0;
}

/* --- a case --- */

struct given {
    char path[300];
    struct buf text;
    struct config_override overrides[OVERRIDES_MAX];
    size_t override_count;
};

/* Each is cut out of a copy of the lines at the top. */
static void take_overrides(struct given *g, char *text)
{
    static const char mark[] = "; --set ";

    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        if (strncmp(line, mark, sizeof(mark) - 1) != 0)
            return;
        assert_true(g->override_count < OVERRIDES_MAX);
        g->overrides[g->override_count++].text = mem_strdup(line + sizeof(mark) - 1);
    }
}

static void open_case(const char *name, struct given *g)
{
    char *copy;

    *g = (struct given){.text = BUF_EMPTY};
    snprintf(g->path, sizeof(g->path), "%s.ini", name);
    assert_true(read_text(CASES, name, ".ini", &g->text));
    copy = mem_strdup(buf_text(&g->text));
    take_overrides(g, copy);
    mem_free(copy);
}

static void close_case(struct given *g)
{
    for (size_t i = 0; i < g->override_count; i++)
        mem_free((char *)g->overrides[i].text);
    buf_done(&g->text);
}

/* What joind --check says. True: the configuration is right. */
static bool check(const struct given *g, struct buf *said)
{
    struct config_source source = {
        .path = g->path,
        .text = buf_bytes(&g->text),
        .current_directory = "/etc/joind",
        .overrides = g->overrides,
        .override_count = g->override_count,
    };
    struct config *config;
    struct diag diag;
    bool right;

    diag_init(&diag);
    config = config_read(&source, &diag);
    right = config != NULL;
    assert_int_equal(right, !diag_any(&diag));
    if (right)
        config_print(config, said);
    for (size_t i = 0; i < diag.count; i++)
        buf_printf(said, "%s\n", diag.messages[i].text);
    config_free(config);
    diag_done(&diag);
    return right;
}

/* --- tests --- */

static bool same_text(const struct buf *a, const struct buf *b)
{
    return bytes_equal(buf_bytes(a), buf_bytes(b));
}

static bool compare(const char *name, bool right, struct buf *said)
{
    struct buf expected = BUF_EMPTY, other = BUF_EMPTY;
    const char *suffix = right ? ".ok" : ".err";
    bool alike;

    if (getenv("JOIND_UPDATE") != NULL)
        write_text(name, suffix, said);
    alike = read_text(CASES, name, suffix, &expected) && same_text(&expected, said) &&
            !read_text(CASES, name, right ? ".err" : ".ok", &other);
    if (!alike)
        print_error("--- %s%s expected\n%s--- but it says\n%s---\n", name, suffix,
                    buf_text(&expected), buf_text(said));
    buf_done(&expected);
    buf_done(&other);
    return alike;
}

static void every_case_says_what_is_expected(void **state)
{
    size_t right_count = 0, wrong_count = 0, failed = 0;

    (void)state;
    for (size_t i = 0; i < name_count; i++) {
        struct given g;
        struct buf said = BUF_EMPTY;
        bool right;

        open_case(names[i], &g);
        right = check(&g, &said);
        right ? right_count++ : wrong_count++;
        failed += !compare(names[i], right, &said);
        buf_done(&said);
        close_case(&g);
    }
    assert_int_equal(failed, 0);
    assert_true(right_count >= 15);
    assert_true(wrong_count >= 45);
}

static void what_is_printed_reads_as_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < name_count; i++) {
        struct given g, again = {.path = "/somewhere/else.ini", .text = BUF_EMPTY};
        struct buf said = BUF_EMPTY;

        open_case(names[i], &g);
        if (check(&g, &again.text)) {
            assert_row(check(&again, &said), names[i]);
            assert_row(same_text(&again.text, &said), names[i]);
        }
        buf_done(&said);
        close_case(&again);
        close_case(&g);
    }
}

static void the_same_is_said_every_time(void **state)
{
    (void)state;
    for (size_t i = 0; i < name_count; i++) {
        struct buf first = BUF_EMPTY, second = BUF_EMPTY;
        struct given g;

        open_case(names[i], &g);
        assert_row(check(&g, &first) == check(&g, &second), names[i]);
        assert_row(same_text(&first, &second), names[i]);
        buf_done(&first);
        buf_done(&second);
        close_case(&g);
    }
}

/* --- mangled files --- */

static uint32_t draw(uint32_t *seed, size_t below)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (uint32_t)((*seed >> 8) % below);
}

/* Bytes that mean something to one of the readers. */
static const char bytes_of_meaning[] = "=;#[]\"',.:-/ \t\n\r\\09az_%\0\x7f\xff\xc3";

/* Changes, takes out, doubles or moves a few bytes. */
static void mangle(struct buf *text, uint32_t *seed)
{
    size_t n = buf_length(text);
    char *p = text->data + text->head;

    for (uint32_t changes = 1 + draw(seed, 4); changes > 0 && n > 8; changes--) {
        size_t at = draw(seed, n - 8), from = draw(seed, n - 8), length = 1 + draw(seed, 8);

        if (draw(seed, 2) == 0)
            p[at] = bytes_of_meaning[draw(seed, sizeof(bytes_of_meaning))];
        else
            memmove(p + at, p + from, length);
    }
}

#define MANGLED_PER_CASE 60

/* Whatever is written there: it is right, and what is printed reads as the same, or
 * there is a message. */
static void no_text_confuses_the_reader(void **state)
{
    uint32_t seed = 1;

    (void)state;
    for (size_t i = 0; i < name_count * MANGLED_PER_CASE; i++) {
        struct given g, again = {.path = "/again.ini", .text = BUF_EMPTY};
        struct buf said = BUF_EMPTY;

        open_case(names[i % name_count], &g);
        mangle(&g.text, &seed);
        if (check(&g, &again.text)) {
            assert_row(check(&again, &said), buf_text(&g.text));
            assert_row(same_text(&again.text, &said), buf_text(&g.text));
        }
        buf_done(&said);
        close_case(&again);
        close_case(&g);
    }
}

/* --- the corpus --- */

static void every_shipped_example_is_right(void **state)
{
    DIR *folder = opendir(EXAMPLES);
    size_t count = 0;
    struct dirent *entry;

    (void)state;
    assert_non_null(folder);
    while ((entry = readdir(folder)) != NULL) {
        struct given g = {.path = "/etc/joind/example.ini", .text = BUF_EMPTY};
        struct buf said = BUF_EMPTY;
        size_t n = strlen(entry->d_name);

        if (n <= 4 || strcmp(entry->d_name + n - 4, ".ini") != 0)
            continue;
        assert_true(read_text(EXAMPLES, entry->d_name, "", &g.text));
        if (!check(&g, &said))
            fail_msg("%s is wrong:\n%s", entry->d_name, buf_text(&said));
        count++;
        buf_done(&said);
        close_case(&g);
    }
    closedir(folder);
    assert_true(count > 0);
}

/* Does a line `key =` stand in the section? */
static bool gives_key(const char *text, enum section section, const char *key)
{
    char header[40], line[80];
    const char *at, *end;

    snprintf(header, sizeof(header), "[%s]\n", section_name(section));
    snprintf(line, sizeof(line), "\n%s =", key);
    at = strstr(text, header);
    if (at == NULL)
        return false;
    end = strstr(at + 1, "\n[");
    at = strstr(at, line);
    return at != NULL && (end == NULL || at < end);
}

static bool is_given_somewhere(enum section section, const char *key)
{
    bool found = false;

    for (size_t i = 0; i < name_count && !found; i++) {
        struct buf text = BUF_EMPTY;
        read_text(CASES, names[i], ".ini", &text);
        found = gives_key(buf_text(&text), section, key);
        buf_done(&text);
    }
    return found;
}

static void every_key_is_in_a_case(void **state)
{
    (void)state;
    for (size_t i = 0; i < key_count; i++) {
        bool found = false;
        for (int s = 0; s < SECTIONS && !found; s++)
            found = key_in(&keys[i], (enum section)s) &&
                    is_given_somewhere((enum section)s, keys[i].name);
        assert_row(found, keys[i].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_case_says_what_is_expected),
        cmocka_unit_test(what_is_printed_reads_as_the_same),
        cmocka_unit_test(the_same_is_said_every_time),
        cmocka_unit_test(no_text_confuses_the_reader),
        cmocka_unit_test(every_key_is_in_a_case),
        cmocka_unit_test(every_shipped_example_is_right),
    };
    return cmocka_run_group_tests(tests, find_cases, forget_cases);
}
