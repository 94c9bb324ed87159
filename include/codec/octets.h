/*
 * codec/octets: bytes of one connection -> records that are counted (RFC 6587, 3.4.1).
 *
 *     96 <13>1 2026-11-29T17:41:27Z ...    a count of 1 to 10 digits, a space, so many bytes
 *
 * The same frames as codec/framer's, in the same way: any cut of the bytes gives the
 * same ones. One line end at the end of a frame's bytes is not part of the record
 * (syslog-ng counts it in); line ends between frames are passed over; an empty frame
 * is nothing. A frame longer than max_line is given as FRAME_TOO_LONG as soon as what
 * is shown of it is there, then the rest is skipped as it comes.
 *
 * What has no count goes to its line end: as FRAME_BAD_COUNT, or, where framing =
 * auto, as a line like any other. There a count is one only before `<` or `{`.
 *
 * A frame that the end of input cuts off is unfinished, in whatever way it ended.
 * Rules: interface.md sections 2 and 4.
 */
#ifndef CODEC_OCTETS_H
#define CODEC_OCTETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/framer.h"

/* The longest count, a space, and the byte that tells it from a line. */
#define OCTETS_COUNT_DIGITS 10
#define OCTETS_START_MAX    (OCTETS_COUNT_DIGITS + 2)

struct octets {
    size_t max_line;
    bool lines_too; /* framing = auto */

    struct framer lines; /* cuts what has no count */
    uint64_t skip;       /* bytes of an over-long frame that was given already, still to come */
};

/* `multiline` and `delimiter` are for lines: see codec/framer.h. */
void octets_init(struct octets *o, size_t max_line, bool lines_too, bool multiline, char delimiter);

/* As framer_next(). */
struct frame octets_next(struct octets *o, const struct input *in, size_t at);

/* As framer_forget(). */
void octets_forget(struct octets *o);

#endif
