/*
 * codec/walk: many lines of CSV, cut into fields in one walk over the marks of codec/scan.
 *
 * Lines with quotes go the same way, what lies within them masked; but those with doubled
 * quotes, with line ends in quotes, and all that is odd or bad are left to codec/rows.
 */
#ifndef CODEC_WALK_H
#define CODEC_WALK_H

#include <stddef.h>

#include "base/bytes.h"
#include "codec/columns.h"
#include "codec/input_format.h"
#include "codec/scan.h"
#include "model/batch.h"

/* Adds whole lines of bytes[at ..] to the batch, whose fields have no types yet, up to the first
 * one that is left, or that is not finished, or until the batch is full. Returns where that is. */
size_t walk_lines(const struct columns *c, const struct input_format *f, enum scan_way way,
                  struct batch *b, struct bytes bytes, size_t at);

#endif
