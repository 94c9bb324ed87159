/*
 * scenarios/run: one run of one story.
 *
 *     run.c    what happens in it
 *     look.c   what has to be
 */
#ifndef SCENARIOS_RUN_H
#define SCENARIOS_RUN_H

#include "machine.h"
#include "script.h"

/* How it is run: that may make no difference. */
struct run_pattern {
    const char *name;
    bool eager;    /* pull all after each step, not only when something is expected */
    bool nibble;   /* one result after each step */
    size_t max;    /* results a pull */
    int64_t fuel;  /* a pull */
    size_t cut;    /* bytes a read; 0: a line */
    bool gathered; /* lines of the same side and time come in one read */
    bool aside;    /* windows are fired outside the engine */
    uint64_t hash_seed;
};

struct run {
    const char *path;
    const struct story *story;
    const struct run_pattern *pattern;
    struct machine *machine;
    struct buf unread; /* lines that are gathered */
    enum side unread_side;
    size_t unread_connection;
    size_t filled; /* lines that the last fill brought in: all but the one that waits */
    struct buf why;
};

/* The text with its counter in place of each `#`. */
void run_template(const char *text, size_t length, size_t counter, bool count, struct buf *to);

/* Steps from STEP_EXPECT on. False: r->why says what is not as the story says. */
bool run_look(struct run *r, const struct step *step);

/* A table that was wrong has to be named as such before anything else happens. */
bool run_look_at_table(struct run *r);

/* Whatever a story did not look at must not be there. */
bool run_look_at_rest(struct run *r);

static inline enum side step_side(const struct step *step)
{
    return step->sides[SIDE_LEFT] ? SIDE_LEFT : SIDE_RIGHT;
}

#endif
