/*
 * model/story: a scene, written down as a scenario script (scenarios/script.h).
 */
#ifndef MODEL_STORY_H
#define MODEL_STORY_H

#include "base/buf.h"
#include "scene.h"

void story_write(const struct scene *scene, struct buf *to);

#endif
