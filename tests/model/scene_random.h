/*
 * model/scene_random: how a scene is made from a seed. Keys are few and windows short, so
 * that records meet.
 *
 *     scene_random.c   the configuration
 *     scene_exprs.c    its expressions
 *     scene_events.c   what happens
 */
#ifndef MODEL_SCENE_RANDOM_H
#define MODEL_SCENE_RANDOM_H

#include "dice.h"
#include "scene.h"

/* Of both sides' keys; they have their fields. `computed`: more than plain fields. */
void random_keys(struct dice *d, struct scene *s, const bool computed[REF_KEYS_MAX]);
void random_conditions(struct dice *d, struct scene *s); /* where, on */
void random_select(struct dice *d, struct scene *s);

/* What is long and what is short in this plan: a window, a gap, ... */
int64_t scene_span(const struct scene *s);

/* `size`: how many times more events than usual. */
void random_events(struct dice *d, struct scene *s, int size);

#endif
