/*
 * model/shrink: the smallest scene found that still fails.
 */
#ifndef MODEL_SHRINK_H
#define MODEL_SHRINK_H

#include <stdbool.h>

#include "scene.h"

/* Changes `scene`, which fails, to one that is smaller and fails too. */
void shrink(struct scene *scene, bool (*fails)(const struct scene *scene));

#endif
