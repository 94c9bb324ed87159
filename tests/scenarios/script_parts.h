/*
 * scenarios/script_parts: what the files that read scripts are to each other.
 *
 *     script.c         settings and stories, and the INI text that they make
 *     script_steps.c   the steps of a story, and the rows of an `expect`
 */
#ifndef SCENARIOS_SCRIPT_PARTS_H
#define SCENARIOS_SCRIPT_PARTS_H

#include "base/mem.h"
#include "script.h"

struct reader {
    struct script *script;
    struct story *story; /* that lines belong to */
    char *next;          /* of the text; NULL at its end */
    int line;
    size_t indent; /* of the line */
    struct buf *why;
    struct step *expect; /* the step that rows belong to; NULL: none */
    size_t expect_indent;
    struct step *table;    /* the one that lines of a table belong to; NULL: none */
    size_t section, group; /* of the next row */
    bool windowed;
    int64_t window_start, window_end;
};

/* Says what is wrong with the line at hand, and returns false. */
bool script_complain(struct reader *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Takes `wanted` off the front, if it stands there as a word. */
bool script_take_word(char **at, const char *wanted);

/* A line of a story that is no setting. */
bool script_read_step(struct reader *r, char *line);

/* Room in a list whose capacity is a power of two. */
static inline void *script_grow(void *list, size_t count, size_t size)
{
    return (count & (count - 1)) == 0 ? mem_realloc(list, (count == 0 ? 1 : 2 * count) * size)
                                      : list;
}

static inline char *script_skip_blanks(char *at)
{
    while (*at == ' ')
        at++;
    return at;
}

#endif
