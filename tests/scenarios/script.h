/*
 * scenarios/script: the text of a scenario, read.
 *
 *     # Comment lines start with a hash.
 *     left.fields = k, id                    a setting: SECTION.KEY = VALUE, as in --set
 *
 *     story a window fires at its end        settings, then steps; those before the first
 *     join.type = inner                      story hold for all stories
 *         at 1000  left   k,a                a line is read from the left input at 1000 ms
 *         left     k,a,1000                  the same, at the time that it is
 *         left/2   k,a,1000                  from the left side's second connection
 *         at 2000  right  3 times k,x#       three lines: k,x0 k,x1 k,x2
 *         at 2000  fill left  k,a#           k,a0 k,a1 ..., until one has to wait
 *         at 10000                           a tick of the timer
 *         end left                           the side has ended; `end`: both
 *
 *     A lookup. The right side is a table, which has to be there before left lines come:
 *
 *         table                              the file holds these lines: read, and swapped in
 *             k,x
 *             m,y
 *         load                               the same, but it is not swapped in, until ...
 *             k,z
 *         swap | drop                        ... it takes the old one's place, or is given up
 *         fault two rows                     the last table was wrong, and why has these words in
 * it
 *
 *     Event time. Both clocks of the machine start at 0; `at` moves both:
 *
 *         clock 5000 | mono 5000             the wall clock alone, the monotonic clock alone
 *         wm 9999                            time is set to 9999, without a record (see below)
 *         open left/2 | close left           a connection; the first line opens it, too
 *         hold left | release left           nothing is read from the side, until it is released
 *         watermark 999 | none               the time that the join has reached, and ...
 *         watermark left 999                 ... how far the side is by its own records
 *         idle left | idle | idle nobody     exactly these sides are idle
 *         wake 5000 | wake never             engine_wake()
 *         late left k,c,7                    the next late record; all have to be named
 *
 *         expect nothing                     what came since the last expect is exactly this
 *         expect
 *             [0,10000)                      a window; without it bounds are not looked at
 *             pair   k,a,k,x                 pair left right semi anti: a row as it is written
 *             and                            another key: its rows come before or after
 *             left   m,c,,
 *             and [0,9000)                   the same, of another window
 *             failed k|b & k|y               no row, because `on` or `select` failed: the records
 *             no window                      rows from here on have no bounds
 *         expect 5000 pair                   so many rows, all of this kind
 *         expect filled pair k,a#,k,x        a row for each line that the last `fill` brought in
 *         expect waited pair k,a#,k,x        the same, and one for the line that had to wait
 *
 *         rejected left type                 the next bad record (or `any`); all have to be named
 *         books left received=1 matched=1    what is not named is 0
 *         due 10000 | due never              engine_due()
 *         waiting left | waiting | waiting nobody     whose lines have to wait
 *         by hand                            (first step) no pulls but those that are written:
 *         pull 5 | pull all                  so many results
 *         pull 5 fuel 10                     one call, up to 5 results, for 10 units of fuel
 *
 * In lines and rows \n \r \t \\ \0 and \xHH are bytes, \{500a} is 500 times `a`. Times are in ms
 * and may be negative. Rows stand further to the right than their `expect`, `table` or `load`.
 * Before `expect`, `books`, `due`, `wake`, `watermark` and `idle` all that there is is pulled,
 * unless the story pulls by hand.
 *
 * `wm N` sends one line on the first connection of each side that has not ended: all its fields
 * are NULL, but that which is its timestamp; that one brings the side's watermark to N. The
 * story's `where` has to filter it out (`where = id is not null`); `books` shows it as filtered.
 */
#ifndef SCENARIOS_SCRIPT_H
#define SCENARIOS_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "expect.h"
#include "lang/side.h"
#include "model/books.h"

enum step_kind {
    STEP_LINES,
    STEP_FILL,
    STEP_TICK,
    STEP_CLOCK,
    STEP_MONO,
    STEP_WM,
    STEP_OPEN,
    STEP_CLOSE,
    STEP_HOLD,
    STEP_RELEASE,
    STEP_END,
    STEP_TABLE,
    STEP_LOAD,
    STEP_SWAP,
    STEP_DROP,
    STEP_PULL,
    STEP_EXPECT,
    STEP_EXPECT_COUNT,
    STEP_EXPECT_FILLED,
    STEP_EXPECT_WAITED,
    STEP_REJECTED,
    STEP_LATE,
    STEP_FAULT,
    STEP_BOOKS,
    STEP_DUE,
    STEP_WAKE,
    STEP_WATERMARK,
    STEP_IDLE,
    STEP_WAITING,
};

#define SCRIPT_NEVER INT64_MAX /* due, wake */
#define SCRIPT_NONE  INT64_MIN /* watermark */

struct step {
    enum step_kind kind;
    int line;
    int64_t number;     /* a time; STEP_EXPECT_COUNT: rows */
    bool timed;         /* STEP_LINES, STEP_FILL: at that time; else at the time that it is */
    int64_t fuel;       /* STEP_PULL; 0: as much as it takes */
    size_t count;       /* STEP_LINES: copies; STEP_PULL: results; 0: no limit */
    bool sides[SIDES];  /* whom it is about; STEP_WATERMARK: none is the join */
    size_t connection;  /* from 0 on */
    char *text;         /* owned; a line, lines, a row's text, or a word of why */
    size_t text_length; /* a line may hold a NUL */
    enum result_kind result;
    struct expected_row *rows; /* owned, and so are their texts; STEP_EXPECT */
    size_t row_count;
    struct books_side books; /* STEP_BOOKS, and */
    uint64_t held;
};

struct setting {
    char *section, *key, *value; /* owned */
};

struct story {
    char *name; /* owned */
    int line;
    bool by_hand;
    struct setting *settings; /* owned, and so are their texts */
    size_t setting_count;
    struct step *steps; /* owned */
    size_t step_count;
};

struct script {
    const char *path;
    struct story common;   /* its settings only */
    struct story *stories; /* owned */
    size_t story_count;
};

/* False: ret_why says why, with the line. `path` must outlive the script; `text` is changed. */
bool script_read(const char *path, char *text, struct script *ret, struct buf *ret_why);
void script_done(struct script *s);

/* The INI text of a story: the later of two settings counts, an empty value unsets. */
void script_ini(const struct script *s, const struct story *story, struct buf *to);

#endif
