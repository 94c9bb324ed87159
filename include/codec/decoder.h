/*
 * codec/decoder: bytes of one connection or file -> rows.
 *
 * A decoder remembers where its connection stands (inside an over-long line,
 * before or after the header, how far the bytes at hand were searched for a line
 * end), never the bytes themselves: what it did not consume, it is shown again,
 * with more behind it. So any cut of the input into pieces gives the same rows.
 *
 * Rules: interface.md section 4. A bad line costs only itself.
 */
#ifndef CODEC_DECODER_H
#define CODEC_DECODER_H

#include <stddef.h>

#include "codec/input_format.h"
#include "model/batch.h"

struct decoder;

/* The format must outlive the decoder. */
struct decoder *decoder_new(const struct input_format *f);
void decoder_free(struct decoder *d);

/* Fills `b`, which is cleared first, with rows from the start of `bytes`, and
 * returns how many bytes are done with; each row's `consumed` says where it ends.
 * Stops when the batch is full, so call again while it consumes or gives rows.
 * If the engine did not take all rows, show the bytes after the last taken row's
 * `consumed` again, after decoder_rewind(). */
size_t decoder_read(struct decoder *d, const char *bytes, size_t n, enum input_end end,
                    struct batch *b);

/* Says that of the bytes that the last decoder_read() consumed only those up to
 * the end of row `taken` - 1 are done with (`taken` == 0: none). Returns that many. */
size_t decoder_rewind(struct decoder *d, const struct batch *b, size_t taken);

/* A header that lacks or repeats a field makes every line of this connection be
 * rejected; a file ends the start with it. NULL: the header is fine, or none came yet. */
const char *decoder_header_fault(const struct decoder *d);

#endif
