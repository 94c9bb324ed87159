/*
 * codec/foreign: what plainly is another protocol, told by its first bytes.
 *
 * Its lines are rejected one by one like any others; this only finds the words for
 * one log line that names the mistake and the setting that would mend it.
 * interface.md section 4, shippers.md.
 */
#ifndef CODEC_FOREIGN_H
#define CODEC_FOREIGN_H

#include "base/bytes.h"
#include "codec/input_format.h"

/* `start`: the first bytes of a connection, as many as there are; `format`: what should
 * come. A sentence, or NULL where nothing speaks against records. */
const char *foreign_name(struct bytes start, const struct input_format *format);

#endif
