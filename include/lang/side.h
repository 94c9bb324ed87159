/*
 * lang/side: the two inputs of a join.
 *
 * Whatever is done for both is written once, with store[side] and
 * store[side_other(side)].
 */
#ifndef LANG_SIDE_H
#define LANG_SIDE_H

enum side { SIDE_LEFT, SIDE_RIGHT };
#define SIDES 2

static inline enum side side_other(enum side s)
{
    return s == SIDE_LEFT ? SIDE_RIGHT : SIDE_LEFT;
}

/* As metrics, log lines and the rows of [rejects] call it: "left" or "right". */
static inline const char *side_word(enum side s)
{
    return s == SIDE_LEFT ? "left" : "right";
}

#endif
