/*
 * codec/envelope: the syslog header round a record, taken off.
 *
 *     <13>1 2026-11-29T17:41:27Z host app 123 id [sd x="y"] record    RFC 5424
 *     <13>Nov 29 17:41:27 host tag[123]: record                      RFC 3164
 *     <13>2026-11-29T17:41:27Z host tag: record                      rsyslog's forward format
 *     <13>Nov 29 17:41:27 tag: record                                logger, which knows no host
 *
 * Of the first form the header is fixed, so it is read strictly; a byte order mark
 * before the record belongs to it. Of the others only the priority and the time are
 * fixed. There, what looks like a host or like a tag is one, and one space behind a
 * tag is passed over; a record that has neither before it is found too, unless it
 * starts with words of its own.
 *
 * Rules: interface.md section 4, shippers.md.
 */
#ifndef CODEC_ENVELOPE_H
#define CODEC_ENVELOPE_H

#include <stdbool.h>

#include "base/bytes.h"

/* The message part of one line or frame; it points into `line`, and may be empty. Returns
 * NULL, or what the header lacks: a few static words. */
const char *envelope_open(struct bytes line, struct bytes *ret_message);

/* Does it start as a header does: with a priority, and a version or a time? */
bool envelope_begins(struct bytes line);

#endif
