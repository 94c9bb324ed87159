/* model/scene_text: expressions as the configuration spells them. */
#ifndef MODEL_SCENE_TEXT_H
#define MODEL_SCENE_TEXT_H

#include "scene.h"

void scene_expr_text(const struct scene *s, int expr, struct buf *to);

#endif
