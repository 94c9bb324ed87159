/*
 * model/check: does joind do in a scene what the reference does?
 */
#ifndef MODEL_CHECK_H
#define MODEL_CHECK_H

#include <stdbool.h>

#include "base/buf.h"
#include "scene.h"

/* False: ret_why says how they differ, and at which event. `sabotage`: the rule that the
 * reference breaks on purpose, enum ref_sabotage; 0: none. */
bool check_scene(const struct scene *scene, int sabotage, struct buf *ret_why);

#endif
