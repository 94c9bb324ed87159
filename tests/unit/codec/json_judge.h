/*
 * Judges codec/json by jansson: what the one refuses the other refuses, and values agree.
 *
 * What joind means otherwise: numbers that jansson cannot hold are digits here (not
 * judged); a record is an object; 64 levels are enough; members that are there twice are
 * refused only in objects that paths go through; and paths.
 */
#ifndef JSON_JUDGE_H
#define JSON_JUDGE_H

#include <stdbool.h>

#include "base/bytes.h"
#include "fixture.h"

/* All fields are strings. False: they disagree; the record and why are on stderr. */
bool json_judge(const struct fixture *f, struct bytes record);

#endif
